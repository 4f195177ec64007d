"""The model file: every model comes back whole and goes on learning; nothing damaged or forged gets in."""

from __future__ import annotations

import copy
import datetime
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

import ingenuo as ing
from ingenuo import store
from ingenuo.datasets import diabetes
from ingenuo.errors import InputError, KindError, ModelFileError
from ingenuo.tally import container

RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 4, (60, 5))
Y = RNG.integers(0, 3, 60)
PATIENTS = diabetes()

MODELS: dict[str, tuple[Any, Any, Any]] = {
    "mixed": (ing.NaiveBayes(), PATIENTS.drop_columns("progression"), PATIENTS["progression"].to_pylist()),
    "declared": (
        ing.NaiveBayes(
            columns={0: "category", 1: [0, 1, 2, 3, 9], 4: "ignore"},
            prior=ing.MEstimate(2, {1: {0: 0.25, 9: 0.75}}),
            class_prior=ing.Dirichlet(3),
            numbers={2: "gaussian-unbiased"},
            counts="bernoulli",
        ),
        COUNTS,
        Y,
    ),
    "sparse": (ing.NaiveBayes(class_prior={0: 0.5, 1: 0.25, 2: 0.25}), csr_matrix(COUNTS), Y),
    "tf-idf": (ing.MultinomialNB(alpha=[0.1, 0.2, 0.3, 0.4, 0.5]), COUNTS / 7, Y),
    "gaussian": (ing.GaussianNB(priors=np.array([0.2, 0.3, 0.5])), COUNTS * 1e150, Y),
    "multinomial": (ing.MultinomialNB(), COUNTS, Y),
    "complement": (ing.ComplementNB(norm=True), COUNTS, Y),
    "bernoulli": (ing.BernoulliNB(binarize=1.5), COUNTS, Y),
    "categorical": (ing.CategoricalNB(min_categories=[4, 5, 6, 7, 8]), COUNTS, Y),
    "truth values": (ing.NaiveBayes(), COUNTS, Y == 0),
    "text": (ing.NaiveBayes(), COUNTS, np.array(["però", "niño", "\N{GRINNING FACE}"])[Y]),
    "mixed labels": (ing.NaiveBayes(), COUNTS, [[("a", 1), datetime.date(2026, 1, 2), "x"][y] for y in Y]),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_and_goes_on_learning(name: str, tmp_path: Path) -> None:
    model, X, y = MODELS[name]
    model = copy.deepcopy(model).fit(X, y)
    ing.save(model, tmp_path / "model")
    again = ing.load(tmp_path / "model")
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    assert again.tally_ == model.tally_
    assert again.schema_ == model.schema_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.classes_.tolist() == model.classes_.tolist()
    if name != "tf-idf":  # doubles: equal to rounding only
        assert again.partial_fit(X, y).forget(X, y).tally_ == model.tally_
    assert (again + model).tally_ == model.tally_ + model.tally_
    assert store.to_bytes(ing.load(tmp_path / "model")) == (tmp_path / "model").read_bytes()


def test_a_tally_travels_alone(tmp_path: Path) -> None:
    tally = ing.NaiveBayes().fit(COUNTS, Y).tally_
    ing.save(tally, tmp_path / "tally")
    assert ing.load(tmp_path / "tally") == tally


def test_names_and_announced_classes_come_back(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(COUNTS, columns=list("abcde"))
    model = ing.MultinomialNB().partial_fit(frame, Y, classes=[0, 1, 2, 7])
    ing.save(model, tmp_path / "model")
    again = ing.load(tmp_path / "model")
    assert again.feature_names_in_.tolist() == list("abcde")
    assert again.classes_.tolist() == [0, 1, 2, 7]
    again.partial_fit(frame, np.full(60, 7))


def test_only_fitted_models_of_ours_are_saved(tmp_path: Path) -> None:
    from sklearn.naive_bayes import GaussianNB

    with pytest.raises(NotFittedError):
        ing.save(ing.NaiveBayes(), tmp_path / "model")
    with pytest.raises(KindError, match=r"GaussianNB cannot be saved; what can: Tally, Network, .*NaiveBayes"):
        ing.save(GaussianNB().fit(COUNTS, Y), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_label_that_no_file_can_hold_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    ing.save(ing.NaiveBayes().fit(COUNTS, Y), path)
    before = path.read_bytes()
    odd = ing.NaiveBayes().fit(COUNTS, [[complex(1, 2), "b", "c"][y] for y in Y])
    with pytest.raises(KindError, match=r"complex \(1\+2j\) cannot be saved"):
        ing.save(odd, path)
    assert path.read_bytes() == before


def test_twenty_thousand_accidents_are_all_noticed() -> None:
    model = ing.NaiveBayes().fit(PATIENTS, "progression")
    data = store.to_bytes(model)
    rng = random.Random(0)
    for _ in range(20_000):
        damaged = bytearray(data)
        kind = rng.randrange(5)
        at = rng.randrange(len(data))
        if kind == 0:
            damaged[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del damaged[at:]
        elif kind == 2:
            damaged[at:at] = rng.randbytes(rng.randrange(1, 9))
        elif kind == 3:
            del damaged[at : at + rng.randrange(1, 9)]
        else:
            damaged[:8] = rng.choice([0, 1, len(data), 2**31, 2**63, 2**64 - 1]).to_bytes(8, "little")
        if bytes(damaged) == data:
            continue
        with pytest.raises(ModelFileError):
            store.from_bytes(bytes(damaged))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in children for place in _places(child, (*path, key)))]


@pytest.mark.parametrize("name", ["mixed", "declared", "categorical", "mixed labels"])
def test_a_signed_file_that_describes_no_model_is_refused_or_is_another_sound_model(name: str) -> None:
    """Whoever can sign can write anything: it may load as some other model, never as a broken one."""
    model, X, y = MODELS[name]
    manifest, tensors = container.from_bytes(store.to_bytes(copy.deepcopy(model).fit(X, y)))
    rng = random.Random(1)
    refused = 0
    for _ in range(1500):
        forged, parts = copy.deepcopy(manifest), dict(tensors)
        if rng.random() < 0.7:
            *way, last = rng.choice([place for place in _places(forged) if place])
            parent: Any = forged
            for step in way:
                parent = parent[step]
            value = rng.choice([None, True, -1, 10**30, 1.5, "x", [], {}, {"!": "prior", "name": "x", "of": {}}])
            if isinstance(parent, dict) and rng.random() < 0.3:
                del parent[last]
            else:
                parent[last] = value
        else:
            chosen = rng.choice(sorted(parts))
            tensor = parts[chosen]
            parts[chosen] = rng.choice(
                [
                    tensor[:-1],
                    np.concatenate([tensor, tensor]),
                    -tensor if tensor.dtype != bool else ~tensor,
                    tensor[::-1],
                ]
                if tensor.ndim and tensor.dtype != np.uint8
                else [tensor[:-1]]
            )
        try:
            loaded = store.from_bytes(container.to_bytes(forged, parts))
        except ModelFileError:
            refused += 1
            continue
        assert isinstance(loaded, ing.Tally | type(model))
        store.to_bytes(loaded)
        if isinstance(loaded, type(model)):
            try:
                answers = loaded.predict_proba(X)
            except (InputError, KindError):
                continue
            assert np.isfinite(answers).all()
    assert refused > 500
