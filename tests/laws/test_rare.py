"""Dropping what is rare: nothing is left that few rows have, and what is left is a whole model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ingenuo as ing
from ingenuo import store
from ingenuo.errors import ForgetError, InputError, KindError, RefusedError
from ingenuo.families import ngrams
from ingenuo.tally.bag import Bag
from ingenuo.tally.histogram import Histogram
from ingenuo.tally.labels import find
from ingenuo.tally.moments import Moments
from ingenuo.tally.tally import Table, Tally

MINIMUM = 5
COMMON = [f"word{i}" for i in range(30)]


def rows(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows in which one person is of a class, a town and a word of their own."""
    rng = np.random.default_rng(seed)
    said = [" ".join(rng.choice(COMMON, 6)) for _ in range(n)]
    said[0] = "rossi called rossi again rossi rossi rossi"
    town = rng.choice(["Bari", "Pisa", "Roma"], n, p=[0.5, 0.4, 0.1]).astype(object)
    town[0] = "Atlantis"
    frame = pd.DataFrame({"age": rng.normal(40, 9, n).round(), "town": town, "said": said})
    frame.loc[0, "age"] = 113.0
    label = rng.choice(["ill", "well"], n).astype(object)
    label[0] = "bitten"
    return frame, label


def mixed(**settings: object) -> ing.NaiveBayes:
    return ing.NaiveBayes(columns={"said": "text"}, text=ing.Words(min_documents=2), **settings)  # type: ignore[arg-type]


def few(tally: Tally) -> list[str]:
    """The tables with a cell that stands for fewer rows."""
    found = []
    for name, table in tally.items():
        if isinstance(table, Moments):
            rows = table.counts.floats()
        elif isinstance(table, Table) and name.startswith(("number:", "target:")):
            rows = tally.over(name.rpartition(":")[0] + ":count", *table.axes).floats()
            assert (rows > 0)[table.sums.signs() != 0].all()
        else:
            rows = table.sums.floats()
        if ((rows > 0) & (rows < MINIMUM)).any():
            found.append(name)
    return found


MODELS = {
    "mixed columns": (mixed, ["age", "town", "said"]),
    "histograms": (lambda: mixed(numbers="auto"), ["age", "town", "said"]),
    "n-grams": (lambda: ing.NaiveBayes(columns={"said": "text"}, text=ing.Words(ngrams=(1, 3))), ["said"]),
    "a network": (lambda: ing.NetworkClassifier("tan", columns={"age": "category"}), ["age", "town"]),
    "averaged networks": (lambda: ing.NetworkClassifier("aode", columns={"age": "category"}), ["age", "town"]),
    "full covariances": (lambda: ing.GaussianDiscriminant("full"), ["age", "other"]),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_cell_stands_for_fewer_rows_and_the_model_is_whole(kind: str) -> None:
    make, columns = MODELS[kind]
    X, y = rows()
    X["other"] = np.random.default_rng(1).normal(size=len(X))
    X = X[columns]
    model = make().fit(X, y)
    assert few(model.tally_)
    assert model.drop_rare(MINIMUM) is model
    assert few(model.tally_) == []
    assert model.classes_.tolist() == ["ill", "well"]
    data = store.to_bytes(model)
    for secret in (b"bitten", b"Atlantis", b"rossi"):
        assert secret not in data
    again = store.from_bytes(data)
    assert again.tally_ == model.tally_
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert str(model.explain(X.iloc[0].to_dict()))
    assert (again + model).tally_ == model.tally_.scale(2)
    assert model.partial_fit(X, y).tally_ == again.tally_ + make().fit(X, y).tally_


def test_sums_of_numbers_stay_by_how_many_there_are_and_not_by_what_they_are() -> None:
    y = np.array(["ill"] * 20 + ["well"] * 20, object)
    small, large = np.tile([-1e-3, 1e-3, 0.0, -2e-3], 10), np.full(40, np.nan)
    large[:3] = 1e6
    large[20:] = np.arange(20)
    tally = ing.GaussianNB().fit(np.nan_to_num(small)[:, None], y).drop_rare(MINIMUM).tally_
    assert tally == ing.GaussianNB().fit(np.nan_to_num(small)[:, None], y).tally_
    model = ing.NaiveBayes().fit(np.column_stack([small, large]), y).drop_rare(MINIMUM)
    for name in ("number:count", "number:sum", "number:square"):
        assert (model.tally_[name].sums.signs()[0, 1], model.tally_[name].sums.signs()[1, 1]) == (0, 1)
    assert np.isfinite(model.predict_proba([[0.0, 1e6]])).all()


def test_classes_that_were_dropped_are_not_announced_any_more_and_others_are() -> None:
    X, y = rows()
    told = ing.NaiveBayes().partial_fit(X[["age"]], y, classes=["bitten", "ill", "unseen", "well"])
    assert told.drop_rare(MINIMUM).classes_.tolist() == ["ill", "unseen", "well"]
    alike = ing.GaussianNB().fit(X[["age"]], y).drop_rare(MINIMUM)
    assert alike.classes_.tolist() == ["ill", "well"]
    assert b"bitten" not in store.to_bytes(alike)


def test_weights_count_as_so_many_rows() -> None:
    X, y = rows()
    weights = np.ones(len(y))
    weights[0] = MINIMUM
    assert "bitten" in mixed().fit(X, y, weights).drop_rare(MINIMUM).classes_
    halves = mixed().fit(X, y, weights / 2).drop_rare(MINIMUM)
    assert "bitten" not in halves.classes_
    assert few(halves.tally_) == []


def test_dropping_less_first_changes_nothing() -> None:
    X, y = rows()
    tally = mixed().fit(X, y).tally_
    assert tally.without_rare(1) == tally
    assert tally.without_rare(2).without_rare(MINIMUM) == tally.without_rare(MINIMUM)
    assert tally.without_rare(MINIMUM).without_rare(MINIMUM) == tally.without_rare(MINIMUM)


def test_what_was_dropped_cannot_be_forgotten_and_the_rest_can() -> None:
    X, y = rows()
    model = mixed().fit(X, y).drop_rare(MINIMUM)
    before, answers = model.tally_, model.predict_proba(X)
    with pytest.raises(ForgetError):
        model.forget(X[:1], y[:1])
    assert model.tally_ is before
    assert np.array_equal(model.predict_proba(X), answers)
    town = X[["town"]]
    common = np.flatnonzero((town["town"] == "Bari") & (y == "ill"))[:1]
    towns = ing.NaiveBayes().fit(town, y).drop_rare(MINIMUM)
    kept = towns.tally_
    assert towns.forget(town.iloc[common], y[common]).partial_fit(town.iloc[common], y[common]).tally_ == kept


def test_texts_are_counted_where_documents_are_and_else_words() -> None:
    X, y = rows()
    y[0] = "ill"
    counted = ing.NaiveBayes(columns={"said": "text"}).fit(X[["said"]], y).drop_rare(MINIMUM)
    documents = mixed().fit(X[["said"]], y).drop_rare(MINIMUM)
    known = [model.tally_.bag("text:said:count").vocabulary.words() for model in (counted, documents)]
    assert "rossi" in known[0]
    assert "rossi" not in known[1]
    binary = ing.NaiveBayes(columns={"said": "text"}, text=ing.Words(binary=True)).fit(X[["said"]], y)
    assert "rossi" not in binary.drop_rare(MINIMUM).tally_.bag("text:said:documents").vocabulary.words()


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(-900, 900), st.sampled_from([0.5, 1.0, 3.0])), min_size=1),
    st.integers(1, 6),
)
def test_bins_are_made_wider_before_numbers_are_lost(seen: list[tuple[str, int, float]], minimum: int) -> None:
    classes, places = sorted({k for k, _, _ in seen}), sorted({place for _, place, _ in seen})
    counts = np.zeros((len(classes), len(places)))
    for k, place, weight in seen:
        counts[classes.index(k), places.index(place)] += weight
    whole = Histogram.of(classes, places, counts, exponent=0)
    left = whole.without_rare(minimum, whole.classes)
    assert (left.sums.floats()[left.sums.signs() != 0] >= minimum).all()
    wider = whole.coarsened(left.exponent)
    same = wider.over(left.classes).pick(1, find(wider.places, left.places)).floats()
    assert ((left.sums.floats() == same) | (left.sums.floats() == 0)).all()
    widest = whole.coarsened(12).sums.floats()
    assert left.sums.floats().sum() >= 0.9 * widest[widest >= minimum].sum()


def test_words_of_a_class_with_few_texts_are_dropped() -> None:
    X, y = rows()
    X.loc[y == "ill", "said"] = None
    X.loc[np.flatnonzero(y == "ill")[:2], "said"] = " ".join(["word1"] * 20)
    model = ing.NaiveBayes(columns={"said": "text"}).fit(X[["said"]], y).drop_rare(MINIMUM)
    assert model.tally_["text:said:count"].axes[0].tolist() == ["well"]
    assert model.tally_["text:said:rows"].axes[0].tolist() == ["well"]
    assert store.from_bytes(store.to_bytes(model)).tally_ == model.tally_


@pytest.mark.parametrize("smoothing", ["ml", "kneser-ney", ing.Laplace()])
def test_a_language_model_still_shares_out_all_probability(smoothing: object) -> None:
    texts = rows()[0]["said"].tolist()
    model = ing.LanguageModel(3, smoothing).fit(texts).drop_rare(3)  # type: ignore[arg-type]
    bag = model.tally_.bag("ngrams")
    assert isinstance(bag, Bag)
    assert bag.sums.floats().min() >= 3
    ngrams.check(model.tally_, 3)
    for context in (None, "word1", "word1 word2", "<s> <s>"):
        assert sum(model.prob(word, context) for word in model.vocabulary_) == pytest.approx(1)
    with pytest.raises(ForgetError):
        model.forget(texts[1:2])
    with pytest.raises(InputError, match="nothing would be left"):
        model.drop_rare(1000)


def test_a_column_or_a_class_left_with_nothing_says_nothing() -> None:
    X, y = rows()
    X["key"] = [f"p{i}" for i in range(len(X))]
    model = ing.NaiveBayes(columns={"key": "category", "said": "ignore"}).fit(X, y).drop_rare(MINIMUM)
    assert "category:key" not in model.tally_
    alone = ing.NaiveBayes(columns={"said": "ignore"}).fit(X.drop(columns="key"), y).drop_rare(MINIMUM)
    assert np.allclose(model.predict_proba(X), alone.predict_proba(X.drop(columns="key")))
    with pytest.raises(InputError, match="no class has 1000 rows"):
        model.drop_rare(1000)


def test_what_cannot_be_kept_from_others_is_refused_and_nothing_changes() -> None:
    X, y = rows()
    numbers, target = X[["age"]], X["age"].to_numpy()
    for model, label, said in (
        (ing.GaussianDiscriminant(), y, "for all classes in one"),
        (ing.LeastSquaresClassifier(), y, "for all classes in one"),
        (ing.NaiveBayes(calibration="temperature"), np.where(y == "bitten", "ill", y), "calibration"),
        (ing.NaiveBayesRegressor(5), target, "end at targets of single rows"),
    ):
        model.fit(numbers, label)
        before = model.tally_
        with pytest.raises(RefusedError, match=said):
            model.drop_rare(MINIMUM)
        assert model.tally_ is before
    normed = ing.NaiveBayes(text=ing.Words(norm="l2", weighting="tfidf")).fit(X["said"].tolist(), y)
    with pytest.raises(RefusedError, match="norm=None"):
        normed.drop_rare(MINIMUM)
    two = np.where(np.arange(len(y)) < 2, "few", "many")
    with pytest.raises(InputError, match="two classes at least"):
        ing.GaussianDiscriminant("full").fit(numbers, two).drop_rare(MINIMUM)
    edges = ing.NaiveBayesRegressor([0, 30, 40, 50, 100, 120]).fit(numbers, target).drop_rare(MINIMUM)
    assert few(edges.tally_) == []
    assert np.isfinite(edges.predict(numbers)).all()


@pytest.mark.parametrize(("minimum", "error"), [(0, InputError), (True, KindError), (2.5, KindError), ("5", KindError)])
def test_a_minimum_is_a_whole_number(minimum: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="minimum count"):
        Tally().without_rare(minimum)  # type: ignore[arg-type]
