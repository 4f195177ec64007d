"""Model files that were written before: each loads, answers as it did when it was saved, and goes on learning.

`python tests/test_model_files.py NAME …` writes new ones, for a kind of model that has none yet.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ingenuo as ing
from ingenuo import store

FOLDER = Path(__file__).parent / "model_files"
ANSWERS = FOLDER / "answers.json"

TEXTS = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull", "not so fine", "never dull"]
OPINIONS = ["good", "good", "bad", "bad", "bad", "good"]


def numbers() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 40)
    return (rng.normal(size=(40, 3)) + y[:, np.newaxis]).round(2), y


def counts() -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    return rng.integers(0, 4, (40, 4)), np.array(["ja", "nein"])[rng.integers(0, 2, 40)]


def mixed() -> tuple[Any, Any]:
    import pyarrow as pa

    X, y = numbers()
    colours = np.array(["red", "green", None], object)[np.arange(40) % 3]
    return pa.table({"size": X[:, 0], "weight": X[:, 1], "colour": colours.tolist()}), ["abc"[k] for k in y]


def texts() -> tuple[Any, Any]:
    return TEXTS * 3, OPINIONS * 3


def prices() -> tuple[Any, Any]:
    X, _ = numbers()
    return X, (X.sum(axis=1) * 10).round(1)


def rain() -> Any:
    tables = {"rain": {"yes": 0.2, "no": 0.8}, "wet": {"yes": {"yes": 0.9, "no": 0.1}, "no": {"yes": 0.1, "no": 0.9}}}
    return ing.Network.from_arcs([("rain", "wet")], tables=tables)


MODELS: dict[str, tuple[str, Any]] = {
    "mixed": ("NaiveBayes()", mixed),
    "declared": (
        "NaiveBayes({'colour': ['red', 'green', 'blue'], 'weight': 'ignore'}, prior=MEstimate(2), class_prior="
        "{'a': 0.5, 'b': 0.25, 'c': 0.25}, numbers='gaussian-unbiased')",
        mixed,
    ),
    "densities": ("NaiveBayes(numbers={'size': 'kernel', 'weight': 'histogram'})", mixed),
    "tuned": ("NaiveBayes(tune=True, calibration='temperature')", mixed),
    "automatic": ("NaiveBayes(calibration='auto')", mixed),
    "texts": ("NaiveBayes(text=Words(ngrams=(1, 2)))", texts),
    "tf-idf": ("NaiveBayes(text=Words(weighting='tfidf', norm='l2', stop_words='english'))", texts),
    "counts": ("NaiveBayes({0: 'count', 1: 'count'}, prior=Lidstone(0.5), counts='bernoulli')", counts),
    "together": ("NaiveBayes(numbers='gaussian-shared')", numbers),
    "discriminant": ("GaussianDiscriminant()", numbers),
    "quadratic": ("GaussianDiscriminant('full', shrinkage='auto')", numbers),
    "least-squares": ("LeastSquaresClassifier(0.1)", numbers),
    "softmax": ("SoftmaxRegression()", mixed),
    "gaussian-nb": ("GaussianNB()", numbers),
    "multinomial-nb": ("MultinomialNB(alpha=[0.1, 0.2, 0.3, 0.4])", counts),
    "complement-nb": ("ComplementNB(norm=True)", counts),
    "bernoulli-nb": ("BernoulliNB(binarize=1.5)", counts),
    "categorical-nb": ("CategoricalNB(min_categories=5)", counts),
    "language": ("LanguageModelClassifier()", texts),
    "language-model": ("LanguageModel(2)", texts),
    "regressor": ("NaiveBayesRegressor(bins=4)", prices),
    "tan": ("NetworkClassifier('tan')", mixed),
    "aode": ("NetworkClassifier('aode')", mixed),
    "given-structure": (
        "NetworkClassifier(Network.from_arcs([('class', 'size'), ('class', 'colour'), ('class', 'weight')]))",
        mixed,
    ),
    "network": ("Network.learn(mixed()[0].select(['colour', 'size']), 'chow-liu')", None),
    "network-by-hand": ("rain()", None),
}


def make(name: str) -> Any:
    """The model of a name, as it is made now."""
    given, data = MODELS[name]
    model = eval(given, {**{each: getattr(ing, each) for each in ing.__all__}, "mixed": mixed, "rain": rain})
    if data is None:
        return model
    X, y = data()
    if name == "language-model":
        return model.fit(X)
    return model.fit(X, y) if name != "counts" else model.partial_fit(X, y, classes=["ja", "nein", "jein"])


def answers_of(name: str, model: Any) -> list[Any]:
    """What a model answers to the rows that it was made of."""
    if isinstance(model, ing.Network):
        return [list(model.posterior(node).values()) for node in model.nodes]
    X, _ = MODELS[name][1]()
    if isinstance(model, ing.LanguageModel):
        return [model.score(X[:6]).tolist()]
    if isinstance(model, ing.NaiveBayesRegressor):
        return [model.predict(X[:6]).tolist()]
    return np.asarray(model.predict_proba(X[:6])).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_a_file_of_before_answers_as_it_did(name: str) -> None:
    loaded = ing.load(FOLDER / f"{name}.ingenuo")
    wanted = json.loads(ANSWERS.read_text())[name]
    again = store.from_bytes(store.to_bytes(loaded))
    for model in (loaded, again):
        for mine, its in zip(answers_of(name, model), wanted, strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", [name for name, (given, data) in MODELS.items() if data and "Softmax" not in given])
@pytest.mark.filterwarnings("ignore")
def test_a_file_of_before_goes_on_learning(name: str) -> None:
    model = ing.load(FOLDER / f"{name}.ingenuo")
    X, y = MODELS[name][1]()
    more = (X[:5],) if name == "language-model" else (X[:5], y[:5])
    before = model.tally_
    assert model.partial_fit(*more).tally_ != before
    assert model.forget(*more).tally_ == before


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    known = json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}
    for chosen in sys.argv[1:] or MODELS:
        made = make(chosen)
        ing.save(made, FOLDER / f"{chosen}.ingenuo")
        known[chosen] = answers_of(chosen, made)
    ANSWERS.write_text(json.dumps(known, indent=None, sort_keys=True).replace('], "', '],\n"') + "\n")
