"""Files and pictures of softmax regression, and what its generative twin refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

import ingenuo as ing
from ingenuo import store
from ingenuo.datasets import diabetes
from ingenuo.errors import InputError, ModelFileError
from ingenuo.tally import container

IRIS, KIND = load_iris(return_X_y=True)
REVIEWS = ["a fine film", "fine music", "a dull film", "dull, and not funny"] * 3
OPINIONS = ["good", "good", "bad", "bad"] * 3
PATIENTS = diabetes()

MODELS: dict[str, tuple[Any, Any, Any]] = {
    "array": (ing.SoftmaxRegression(), IRIS, KIND),
    "two classes": (ing.SoftmaxRegression(l2=2.0), IRIS[KIND > 0], KIND[KIND > 0]),
    "text": (ing.SoftmaxRegression(text=ing.Words(ngrams=(1, 2)), weighting="naive-bayes"), REVIEWS, OPINIONS),
    "mixed": (ing.SoftmaxRegression(), PATIENTS, "progression"),
    "sparse": (ing.SoftmaxRegression(), csr_matrix(np.where(IRIS > 3, -IRIS, 0)), KIND),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_whole(name: str, tmp_path: Path) -> None:
    model, X, y = MODELS[name]
    model.fit(X, y)
    ing.save(model, tmp_path / "model")
    again = ing.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert repr(again) == repr(model)
    assert (again.n_iter_, again.loss_, again.converged_) == (model.n_iter_, model.loss_, model.converged_)
    if name in ("array", "mixed"):
        row = X[:1] if name == "array" else X.slice(0, 1)
        assert str(again.explain(row)) == str(model.explain(row))


@pytest.mark.parametrize("name", ["array", "text"])
def test_forged_weights_are_refused(name: str) -> None:
    model, X, y = MODELS[name]
    manifest, tensors = container.from_bytes(store.to_bytes(model.fit(X, y)), "it")
    weights = np.array(tensors["besides/weights"])
    for forged in (weights[:-1], np.where(np.arange(weights.size).reshape(weights.shape) == 0, np.nan, weights)):
        with pytest.raises(ModelFileError):
            store.from_bytes(container.to_bytes(manifest, {**tensors, "besides/weights": np.ascontiguousarray(forged)}))


def test_regions_of_softmax_regression_are_drawn(tmp_path: Path) -> None:
    model = ing.SoftmaxRegression().fit(IRIS[:, 2:], KIND)
    axes = model.plot(IRIS[:, 2:], KIND)
    axes.figure.savefig(tmp_path / "regions.png")
    assert (tmp_path / "regions.png").stat().st_size > 5_000


def test_least_squares_of_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="the one class"):
        ing.LeastSquaresClassifier().fit(IRIS, np.zeros(150))
