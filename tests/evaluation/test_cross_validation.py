"""Cross-validation by subtraction says what models refitted say, to the last digits; other input is refused."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from tests.real_texts import labelled

import ingenuo as ing
from ingenuo.errors import InputError, KindError
from ingenuo.evaluation import cross_validation
from ingenuo.models.folds import over_classes
from ingenuo.rows.rows import take_rows
from ingenuo.tally.labels import labels_of

RNG = np.random.default_rng(5)
N = 60
LABELS = np.array(["a", "b", "c"], "U4")[RNG.integers(0, 3, N)]
LABELS[7] = "lone"  # a class with one row


def _table() -> pd.DataFrame:
    """Every kind of column, each with something that goes wrong easily."""
    shift = np.array([ord(label[0]) - ord("a") for label in LABELS]) % 7
    table = pd.DataFrame(
        {
            "plain": RNG.normal(size=N) + shift,
            "far": RNG.normal(1e6, 1e-2, N),
            "steps": RNG.integers(0, 3, N).astype(float),
            "outlier": np.where(np.arange(N) == 5, 1e30, RNG.normal(size=N)),
            "huge": RNG.normal(size=N) * 1e150,
            "zeros": np.zeros(N),
            "in a class": np.where(LABELS == "a", 4.0, RNG.normal(size=N)),  # one value in a class
            "rare": np.where(np.arange(N) == 9, 1.0, np.nan),  # nearly always missing
            "alone in a class": np.where((LABELS != "b") | (np.arange(N) % 20 == 0), RNG.normal(size=N), np.nan),
            "colour": RNG.choice(list("xyz"), N),
            "coded": pd.Categorical(RNG.choice(list("pqr"), N), categories=list("pqrs")),
            "same": ["one"] * N,
            "heads": RNG.poisson(1 + shift),
            "tails": RNG.poisson(2, N),
        }
    )
    table.loc[RNG.random(N) < 0.1, "plain"] = np.nan
    table.loc[11, "rare"] = 2.0
    table.loc[RNG.random(N) < 0.1, "colour"] = None
    table.loc[3, "colour"] = "only here"
    return table


TABLE = _table()
COLUMNS: dict[str, Any] = {
    **dict.fromkeys(TABLE.columns[:9], "number"),
    **dict.fromkeys(["colour", "coded", "same"], "category"),
    **dict.fromkeys(["heads", "tails"], "count"),
}
WORDS = np.array([f"word{i}" for i in range(40)] + ["loving", "loved", "loves", "però"])
TEXTS = [
    " ".join(RNG.choice(WORDS[: 20 + 5 * (i % 4)], RNG.integers(0, 12)).tolist() + [f"own{i}"] * (i % 3))
    for i in range(N)
]
TEXTS[4] = ""
MATRIX = np.abs(np.rint(RNG.normal(size=(N, 5)) * 2 + (np.unique(LABELS, return_inverse=True)[1] % 3)[:, np.newaxis]))
POINTS = RNG.normal(size=(N, 3)) * [1, 10, 0.1] + (np.unique(LABELS, return_inverse=True)[1] % 3)[:, np.newaxis]
TWO = np.where(POINTS[:, 0] + RNG.normal(size=N) > 1, "high", "low")
WHOLE, PARTS = RNG.integers(0, 4, N).astype(float), RNG.random(N)
WHOLE[[9, 11]] = 2.0  # the rows that have a value of "rare"
SOME = np.where((np.arange(N) % 4 == 0) & (LABELS != "lone"), 0.0, PARTS)
REFITTED = {3, 4, 5, 7, 9, 11, 17, 26, 35, 44, 53}
GROUPS = RNG.integers(0, 8, N)
GIVEN = {"a": 0.2, "b": 0.3, "c": 0.4, "lone": 0.1}


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The log probabilities that `cross_validate` collects, fold by fold."""
    found: list[Any] = []
    subtract = cross_validation._subtract

    def kept(*given: Any) -> Iterator[Any]:
        for answer in subtract(*given):
            found.append(answer)
            yield answer

    monkeypatch.setattr(cross_validation, "_subtract", kept)
    return found


def refitted(model: Any, X: Any, y: Any, splits: Any, weights: Any = None) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """Log probabilities by models that are refitted: fold by fold, of all the classes; with the labels they say."""
    classes = labels_of(np.unique(y))
    logs, said = [], []
    for train, test in splits:
        given = {} if weights is None else {"sample_weight": weights[train]}
        fitted = clone(model).fit(take_rows(X, train), y[train], **given)
        own = fitted.predict_log_proba(take_rows(X, test))
        logs.append(over_classes(own, labels_of(fitted.classes_), classes))
        said.append(fitted.predict(take_rows(X, test)))
    return logs, said


def assert_same_logs(found: Any, wanted: Any, tolerance: float = 1e-12) -> None:
    assert np.array_equal(np.isneginf(found), np.isneginf(wanted))
    finite = ~np.isneginf(wanted)
    off = np.abs(found[finite] - wanted[finite]) / np.maximum(1, np.abs(wanted[finite]))
    assert off.max(initial=0) <= tolerance, f"off by {off.max()}"


def assert_exact(
    answers: list[Any], model: Any, X: Any, y: Any, folds: Any, weights: Any = None, groups: Any = None,
    tolerance: float = 1e-12,
) -> None:  # fmt: skip
    """`cross_validate` by subtraction gives the log probabilities and the labels of models refitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes that a fold has not: said elsewhere
        found = ing.cross_validate(model, X, y, folds, sample_weight=weights, groups=groups)
        assert found.exact
        if folds == "leave-one-out":  # of all rows those that something is the matter with, and some others
            splits = [split for row, split in enumerate(LeaveOneOut().split(y)) if row in REFITTED or row + 1 == len(y)]
        elif isinstance(folds, int):
            splits = [(np.setdiff1d(np.arange(len(y)), test), test) for test in found.test]
        else:
            splits = list(folds.split(np.zeros((len(y), 1)), y, groups))
        logs, said = refitted(model, X, y, splits, weights)
    if len(answers) == 1 and len(splits) > 1:  # all the rows at once
        answers[:] = [
            answers[0]._replace(rows=test, log_posterior=answers[0].log_posterior[test]) for _, test in splits
        ]
    elif folds == "leave-one-out":
        answers[:] = [answers[int(test[0])] for _, test in splits]
    assert len(answers) == len(splits)
    classes = np.unique(y)
    for answer, (_, test), own, labels in zip(answers, splits, logs, said):
        order = np.argsort(test)
        assert np.array_equal(answer.rows, test[order])
        assert_same_logs(answer.log_posterior, own[order], tolerance)
        assert np.array_equal(classes[answer.log_posterior.argmax(axis=1)], labels[order])
    tested = np.unique(np.concatenate([test for _, test in splits]))
    sums, times = np.zeros((len(y), len(classes))), np.zeros(len(y))
    for (_, test), own in zip(splits, logs):
        sums[test] += np.exp(own)
        times[test] += 1
    np.testing.assert_allclose(
        found.probabilities[tested], sums[tested] / times[tested, np.newaxis], rtol=1e-9, atol=1e-12
    )
    if times.max() == 1:
        wanted = np.empty(len(y), classes.dtype)
        for (_, test), labels in zip(splits, said):
            wanted[test] = labels
        assert np.array_equal(found.predicted[tested], wanted[tested])


FOLDED = StratifiedKFold(10, shuffle=True, random_state=1)
DENSITIES = (
    "gaussian-unbiased", "histogram", "kernel", "mixture", "auto", "equal-mass-5", "equal-mass-10", "equal-mass-20",
)  # fmt: skip
PRIORS = {
    "laplace": ing.Laplace(),
    "lidstone": ing.Lidstone(0.1, variance_floor=1e-2),
    "m-estimate": ing.MEstimate(2),
    "dirichlet": ing.Dirichlet({"colour": {"x": 3.0, "y": 2.0, "never": 1.5}, "coded": {"p": 1.5}}),
    "maximum likelihood": ing.MaximumLikelihood(),
}


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("folds", [FOLDED, "leave-one-out"], ids=["ten folds", "leave-one-out"])
class TestNaiveBayesOfTables:
    @pytest.mark.parametrize(
        ("prior", "class_prior"),
        [
            *((prior, ing.MaximumLikelihood()) for prior in PRIORS),
            *(("laplace", of_classes) for of_classes in (ing.Laplace(), GIVEN)),
        ],
        ids=[*PRIORS, "imaginary rows of classes", "given shares of classes"],
    )
    def test_every_prior_is_exact(self, answers: list[Any], prior: str, class_prior: Any, folds: Any) -> None:
        model = ing.NaiveBayes(COLUMNS, prior=PRIORS[prior], class_prior=class_prior)
        assert_exact(answers, model, TABLE, LABELS, folds)

    @pytest.mark.parametrize("weights", [WHOLE, PARTS, SOME], ids=["whole", "fractional", "zero"])
    @pytest.mark.parametrize("prior", ["laplace", "lidstone", "maximum likelihood"])
    def test_weights_are_taken_away_with_their_rows(
        self, answers: list[Any], weights: Any, prior: str, folds: Any
    ) -> None:
        assert_exact(answers, ing.NaiveBayes(COLUMNS, prior=PRIORS[prior]), TABLE, LABELS, folds, weights)

    @pytest.mark.parametrize("weights", [None, PARTS], ids=["no weights", "fractional"])
    @pytest.mark.parametrize("numbers", DENSITIES)
    def test_every_density_is_exact(self, answers: list[Any], numbers: str, weights: Any, folds: Any) -> None:
        names = ["plain", "steps", "in a class", "rare", "colour"]
        model = ing.NaiveBayes({name: COLUMNS[name] for name in names}, numbers=numbers)
        kept = np.flatnonzero((np.arange(N) < 20) & (LABELS != "lone"))
        folds = folds if isinstance(folds, str) else StratifiedKFold(3)
        weights = None if weights is None else weights[kept] + (kept == 9) + (kept == 11)
        assert_exact(answers, model, TABLE[names].iloc[kept], LABELS[kept], folds, weights)

    @pytest.mark.parametrize("numbers", DENSITIES)
    def test_densities_without_the_only_row_of_a_class_are_exact(
        self, answers: list[Any], numbers: str, folds: Any
    ) -> None:
        rng = np.random.default_rng(0)
        X = np.append(rng.integers(0, 3, 39), 1.0)[:, np.newaxis]
        y = np.append(np.array(["a", "b", "c"], "U4")[rng.integers(0, 3, 39)], "lone")
        folds = folds if isinstance(folds, str) else KFold(4)
        assert_exact(answers, ing.NaiveBayes({0: "number"}, numbers=numbers), X, y, folds)

    @pytest.mark.parametrize("numbers", ["gaussian-shared", "gaussian-full"])
    def test_columns_taken_together_are_exact(self, answers: list[Any], numbers: str, folds: Any) -> None:
        y = np.where(LABELS == "lone", "a", LABELS)
        assert_exact(answers, ing.NaiveBayes(numbers=numbers), POINTS, y, folds)

    @pytest.mark.parametrize("counts", ["multinomial", "complement", "bernoulli"])
    @pytest.mark.parametrize("prior", ["laplace", "lidstone", "m-estimate", "maximum likelihood"])
    @pytest.mark.parametrize("shape", [np.asarray, csr_matrix], ids=["dense", "sparse"])
    def test_every_model_of_counts_is_exact(
        self, answers: list[Any], counts: str, prior: str, shape: Any, folds: Any
    ) -> None:
        model = ing.NaiveBayes(dict.fromkeys(range(5), "count"), counts=counts, prior=PRIORS[prior])
        assert_exact(answers, model, shape(MATRIX), LABELS, folds)

    @pytest.mark.parametrize("counts", ["multinomial", "complement", "bernoulli"])
    @pytest.mark.parametrize("prior", ["laplace", "lidstone", "maximum likelihood"])
    def test_every_model_of_weighted_counts_is_exact(
        self, answers: list[Any], counts: str, prior: str, folds: Any, request: pytest.FixtureRequest
    ) -> None:
        if (counts, prior) == ("bernoulli", "maximum likelihood") and not isinstance(folds, str):
            reason = "what is left of the rows without a thing is rounding, and should be 0"
            request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
        model = ing.NaiveBayes(dict.fromkeys(range(5), "count"), counts=counts, prior=PRIORS[prior])
        assert_exact(answers, model, MATRIX, LABELS, folds, PARTS)

    def test_declared_categories_stay_known_without_their_row(self, answers: list[Any], folds: Any) -> None:
        declared = {**COLUMNS, "colour": ["x", "y", "z", "only here", "never"]}
        assert_exact(answers, ing.NaiveBayes(declared), TABLE, LABELS, folds)

    @pytest.mark.parametrize("floor", [0.0, 1e-4, 1e-2, 0.3])
    @pytest.mark.parametrize("weights", [None, PARTS], ids=["no weights", "weights"])
    def test_classes_that_hardly_vary_are_exact(
        self, answers: list[Any], floor: float, weights: Any, folds: Any
    ) -> None:
        """A row can be what holds the variance of its class above the floor, or below it."""
        rng = np.random.default_rng(2)
        spread = np.select([LABELS == "a", LABELS == "b"], [0.01, 0.1], 1.0)[:, np.newaxis]
        X = rng.normal(size=(N, 4)) * spread * [1, 3, 10, 1]
        X[np.flatnonzero(LABELS == "a")[0]] += 0.5
        model = ing.NaiveBayes(prior=ing.Laplace(variance_floor=floor))
        assert_exact(answers, model, X, LABELS, folds, weights)

    def test_columns_without_a_value_in_a_fold_are_exact(self, answers: list[Any], folds: Any) -> None:
        names = ["rare", "alone in a class"]
        assert_exact(answers, ing.NaiveBayes(dict.fromkeys(names, "number")), TABLE[names], LABELS, folds)

    @pytest.mark.parametrize(
        "frame", [pl.from_pandas, lambda table: table.convert_dtypes()], ids=["polars", "nullable"]
    )
    def test_every_table_is_exact(self, answers: list[Any], frame: Any, folds: Any) -> None:
        names = ["plain", "colour", "coded", "heads"]
        model = ing.NaiveBayes({name: COLUMNS[name] for name in names})
        assert_exact(answers, model, frame(TABLE[names]), LABELS, folds)


TEXT_MODELS: dict[str, Any] = {
    "words": ing.NaiveBayes(),
    "little smoothing": ing.NaiveBayes(prior=ing.Lidstone(0.01)),
    "no smoothing": ing.NaiveBayes(prior=ing.MaximumLikelihood()),
    "m-estimate": ing.NaiveBayes(prior=ing.MEstimate(5)),
    "words of the prior": ing.NaiveBayes(prior=ing.Dirichlet({"word1": 3.0, "unheard": 2.0})),
    "pairs": ing.NaiveBayes(text=ing.Words(ngrams=(1, 2))),
    "threes once": ing.NaiveBayes(text=ing.Words(ngrams=(2, 3), binary=True)),
    "binary": ing.NaiveBayes(text=ing.Words(binary=True)),
    "tfidf": ing.NaiveBayes(text=ing.Words(weighting="tfidf")),
    "tfidf of length one": ing.NaiveBayes(text=ing.Words(weighting="tfidf", norm="l2")),
    "at least twice": ing.NaiveBayes(text=ing.Words(min_count=2)),
    "documents": ing.NaiveBayes(text=ing.Words(min_documents=2, max_documents=0.5)),
    "most frequent": ing.NaiveBayes(text=ing.Words(max_words=10)),
    "stop words found": ing.NaiveBayes(text=ing.Words(stop_words=3)),
    "stems": ing.NaiveBayes(text=ing.Words(stem="english", stop_words="english")),
    "hashed": ing.NaiveBayes(text=ing.Words(hashed=64)),
    "complement": ing.NaiveBayes(counts="complement"),
    "bernoulli": ing.NaiveBayes(counts="bernoulli"),
    "given": ing.NaiveBayes(class_prior=GIVEN),
}


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("weights", [None, PARTS], ids=["no weights", "weights"])
@pytest.mark.parametrize("folds", [StratifiedKFold(5), "leave-one-out"], ids=["five folds", "leave-one-out"])
@pytest.mark.parametrize("name", TEXT_MODELS)
def test_every_reading_of_texts_is_exact(answers: list[Any], name: str, folds: Any, weights: Any) -> None:
    most = 40 if isinstance(folds, str) else N
    weights = None if weights is None else weights[:most]
    assert_exact(answers, TEXT_MODELS[name], TEXTS[:most], LABELS[:most], folds, weights)


@pytest.mark.parametrize("name", ["films", "messages", "italian tweets"])
@pytest.mark.parametrize("folds", [5, "leave-one-out"])
def test_texts_that_people_wrote_are_exact(answers: list[Any], name: str, folds: Any) -> None:
    texts, labels = labelled(name, 70)
    # The sum of a film review is about -10,000, whose last binary digit is 1.8e-12.
    tolerance = 4e-12 if name == "films" else 1e-12
    assert_exact(
        answers, ing.NaiveBayes(text=ing.Words(ngrams=(1, 2))), texts, np.array(labels), folds, tolerance=tolerance
    )


FLOWERS, SPECIES = load_iris(return_X_y=True)
FLOWERS, SPECIES = FLOWERS[::3], SPECIES[::3]
DROP_INS: dict[str, tuple[Any, Any]] = {
    "gaussian": (ing.GaussianNB(), FLOWERS),
    "gaussian with priors": (ing.GaussianNB(priors=[0.2, 0.3, 0.5], var_smoothing=1e-3), FLOWERS),
    "multinomial": (ing.MultinomialNB(), np.rint(FLOWERS)),
    "multinomial sparse": (ing.MultinomialNB(alpha=0.1, fit_prior=False), csr_matrix(np.rint(FLOWERS))),
    "multinomial of fractions": (ing.MultinomialNB(), FLOWERS),
    "complement": (ing.ComplementNB(), np.rint(FLOWERS)),
    "complement scaled": (ing.ComplementNB(norm=True), np.rint(FLOWERS)),
    "bernoulli": (ing.BernoulliNB(binarize=2.5), FLOWERS),
    "categorical": (ing.CategoricalNB(min_categories=9), np.rint(FLOWERS).astype(int)),
}
DISCRIMINANTS: dict[str, Any] = {
    **{name: ing.GaussianDiscriminant(name) for name in ("shared", "full", "diagonal")},
    "shrunk": ing.GaussianDiscriminant("shared", shrinkage="auto"),
    "shrunk by half": ing.GaussianDiscriminant("full", shrinkage=0.5),
    "unbiased": ing.GaussianDiscriminant("full", unbiased=True, class_prior={0: 0.5, 1: 0.25, 2: 0.25}),
    "least squares": ing.LeastSquaresClassifier(),
    "least squares, ridge": ing.LeastSquaresClassifier(l2=0.1),
}


@pytest.mark.parametrize("folds", [5, "leave-one-out"])
@pytest.mark.parametrize("weights", [None, PARTS[:50]], ids=["no weights", "fractional"])
@pytest.mark.parametrize("name", DROP_INS)
def test_drop_ins_are_exact(answers: list[Any], name: str, folds: Any, weights: Any) -> None:
    model, X = DROP_INS[name]
    assert_exact(answers, model, X, SPECIES, folds, weights)


@pytest.mark.parametrize(
    ("folds", "weights"), [(5, PARTS[:50]), ("leave-one-out", None)], ids=["weighted folds", "rows"]
)
@pytest.mark.parametrize("name", DISCRIMINANTS)
def test_discriminants_are_exact(answers: list[Any], name: str, folds: Any, weights: Any) -> None:
    assert_exact(answers, DISCRIMINANTS[name], FLOWERS, SPECIES, folds, weights)


@pytest.mark.parametrize(
    ("folds", "weights"), [(5, WHOLE[:40] + 1), ("leave-one-out", None)], ids=["weighted folds", "rows"]
)
@pytest.mark.parametrize("smoothing", [None, ing.Lidstone(0.1), "kneser-ney"], ids=str)
def test_language_models_are_exact(answers: list[Any], smoothing: Any, folds: Any, weights: Any) -> None:
    y = np.where(POINTS[:40, 0] > 1, "high", "low")
    assert_exact(answers, ing.LanguageModelClassifier(2, smoothing), TEXTS[:40], y, folds, weights)


SPLITTERS: dict[str, Any] = {
    "KFold": KFold(7),
    "KFold shuffled": KFold(7, shuffle=True, random_state=3),
    "GroupKFold": GroupKFold(4),
    "LeaveOneGroupOut": LeaveOneGroupOut(),
    "RepeatedStratifiedKFold": RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0),
    "ShuffleSplit": ShuffleSplit(6, test_size=0.3, random_state=0),
    "TimeSeriesSplit": TimeSeriesSplit(4),
    "PredefinedSplit": PredefinedSplit(np.arange(N) % 5 - 1),
}


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("kind", ["table", "text"])
def test_every_splitter_of_scikit_learn_is_exact(answers: list[Any], splitter: str, kind: str) -> None:
    groups = GROUPS if "Group" in splitter else None
    names = ["plain", "far", "outlier", "colour", "coded", "heads"]
    model = ing.NaiveBayes({name: COLUMNS[name] for name in names}) if kind == "table" else ing.NaiveBayes()
    X = TABLE[names] if kind == "table" else TEXTS
    assert_exact(answers, model, X, LABELS, SPLITTERS[splitter], PARTS, groups)


def test_pairs_and_masks_are_folds() -> None:
    model = ing.NaiveBayes()
    pairs = list(KFold(5).split(FLOWERS))
    wanted = ing.cross_validate(model, FLOWERS, SPECIES, KFold(5)).probabilities
    masks = [(~np.isin(np.arange(50), test), np.isin(np.arange(50), test)) for _, test in pairs]
    for given in (pairs, iter(pairs), [(train.tolist(), test.tolist()) for train, test in pairs], masks):
        assert np.array_equal(ing.cross_validate(model, FLOWERS, SPECIES, given).probabilities, wanted)


def test_folds_by_number_are_stratified_and_drawn_by_the_seed() -> None:
    found = ing.cross_validate(ing.NaiveBayes(), FLOWERS, SPECIES, 5, random_state=3)
    wanted = [test for _, test in StratifiedKFold(5, shuffle=True, random_state=3).split(FLOWERS, SPECIES)]
    assert all(np.array_equal(a, b) for a, b in zip(found.test, wanted, strict=True))
    other = ing.cross_validate(ing.NaiveBayes(), FLOWERS, SPECIES, 5, random_state=4)
    assert not all(np.array_equal(a, b) for a, b in zip(found.test, other.test, strict=True))


def test_groups_are_never_parted() -> None:
    found = ing.cross_validate(ing.NaiveBayes(), POINTS, TWO, 4, groups=GROUPS)
    for test in found.test:
        assert not set(GROUPS[test]) & set(np.delete(GROUPS, test))


def test_rows_that_were_never_tested_are_not_judged() -> None:
    found = ing.cross_validate(ing.NaiveBayes(), POINTS, TWO, TimeSeriesSplit(4))
    never = np.setdiff1d(np.arange(N), np.concatenate(found.test))
    assert len(never)
    assert np.isnan(found.probabilities[never]).all()
    assert np.isfinite(np.delete(found.probabilities, never, axis=0)).all()
    tested = np.concatenate(found.test)
    assert found.evaluation["accuracy"].value == np.mean(found.predicted[tested] == TWO[tested])
    assert f"{len(never)} of {N} rows were never tested" in str(found)


@pytest.mark.parametrize(("folds", "seed"), [(2, 0), (3, 1), (10, 7)])
def test_folds_by_number_are_those_of_scikit_learn(folds: int, seed: int) -> None:
    y = np.random.default_rng(seed).choice(["b", "a", "c"], 200, p=[0.2, 0.5, 0.3])
    classes, codes = np.unique(y, return_inverse=True)
    found = cross_validation.splits_of(folds, codes.astype(np.int32), classes, None, seed)[0]
    wanted = StratifiedKFold(folds, shuffle=True, random_state=seed).split(y, y)
    for (_, own), (_, its) in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(own, its)


def test_measures_by_fold_are_those_of_the_fold() -> None:
    found = ing.cross_validate(ing.NaiveBayes(), POINTS, TWO, 5)
    wanted = [np.mean(found.predicted[test] == TWO[test]) for test in found.test]
    np.testing.assert_allclose(found.by_fold("accuracy"), wanted)
    assert found.evaluation["accuracy"].value == pytest.approx(np.mean(found.predicted == TWO))


def test_weights_count_in_judging() -> None:
    found = ing.cross_validate(ing.NaiveBayes(), POINTS, TWO, 5, sample_weight=PARTS)
    assert found.evaluation["accuracy"].value == pytest.approx(np.average(found.predicted == TWO, weights=PARTS))


class ByHand(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Says the first class it has seen, and has no probabilities; its classes are in another order."""

    def fit(self, X: Any, y: Any) -> ByHand:
        self.classes_ = np.unique(y)[::-1]
        return self

    def predict(self, X: Any) -> Any:
        return np.where(np.asarray(X)[:, 0] > 1, "high", "low")


def test_models_without_a_tally_are_fitted_anew() -> None:
    model = LogisticRegression()
    found = ing.cross_validate(model, POINTS, TWO, KFold(5))
    assert not found.exact
    wanted = cross_val_predict(model, POINTS, TWO, cv=KFold(5), method="predict_proba")
    np.testing.assert_allclose(found.probabilities, wanted, rtol=1e-12)
    assert "by refitting for each fold" in str(found)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("model", [RidgeClassifier(), ByHand()], ids=["ridge", "by hand"])
def test_classifiers_without_probabilities_are_judged_by_their_labels(model: Any) -> None:
    found = ing.cross_validate(model, POINTS, TWO, KFold(5))
    assert found.probabilities is None
    assert np.array_equal(found.predicted, cross_val_predict(model, POINTS, TWO, cv=KFold(5)))


MIXED = ["plain", "steps", "outlier", "in a class", "colour", "coded", "heads", "tails"]
SETTINGS_FOUND: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "numbers": ({}, POINTS, None),
    "histograms": ({"numbers": "histogram"}, POINTS, None),
    "mixtures": ({"numbers": "mixture"}, POINTS[:, :2], None),
    "mixed": ({"columns": {name: COLUMNS[name] for name in MIXED}}, TABLE[MIXED], None),
    "weighted": ({"columns": {name: COLUMNS[name] for name in MIXED}}, TABLE[MIXED], SOME),
    "complement": ({"columns": dict.fromkeys(range(5), "count"), "counts": "complement"}, MATRIX, None),
    "texts": ({}, TEXTS, None),
    "texts of unit length": ({"text": ing.Words(weighting="tfidf", norm="l2")}, TEXTS, None),
}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        *((name, {"tune": True, "calibration": "auto"}) for name in SETTINGS_FOUND),
        *((name, found) for name in ("weighted", "texts") for found in ({"tune": True}, {"calibration": "platt"})),
    ],
)
def test_settings_are_found_again_in_each_fold(answers: list[Any], name: str, found: dict[str, Any]) -> None:
    given, X, weights = SETTINGS_FOUND[name]
    folds = StratifiedKFold(2, shuffle=True, random_state=2)
    assert_exact(answers, ing.NaiveBayes(**given, **found), X, TWO, folds, weights, tolerance=1e-9)


def test_a_class_with_one_row_is_said() -> None:
    found = ing.cross_validate(ing.NaiveBayes(), POINTS, LABELS, "leave-one-out")
    assert found.probabilities[7, found.classes.tolist().index("lone")] == 0
    assert "Class 'lone' has one row only" in str(found)


def test_a_fold_without_a_class_is_said() -> None:
    with pytest.warns(UserWarning, match="The training rows of 1 of 3 folds have no row of class 'lone'"):
        found = ing.cross_validate(ing.NaiveBayes(), POINTS, LABELS, KFold(3))
    assert "The training rows of 1 of 3 folds have no row of class 'lone'" in str(found)


ONE = np.zeros((1, 2))
REFUSED: dict[str, tuple[Any, Any, dict[str, Any], type[Exception], str]] = {
    "one fold": (POINTS, TWO, {"folds": 1}, InputError, "folds=1 leaves nothing to learn from .* take 2 at least"),
    "no folds": (POINTS, TWO, {"folds": 0}, InputError, "folds=0 leaves nothing to learn from"),
    "negative": (POINTS, TWO, {"folds": -3}, InputError, "folds=-3 leaves nothing to learn from"),
    "more than rows": (POINTS, TWO, {"folds": N + 1}, InputError, f"fewer than the {N + 1} folds"),
    "rare class": (POINTS, LABELS, {"folds": 5}, InputError, "class 'lone' has 1 row, fewer than the 5 folds"),
    "one row": (POINTS[:1], TWO[:1], {}, InputError, "there is one row only, .* give two at least"),
    "one row left out": (POINTS[:1], TWO[:1], {"folds": "leave-one-out"}, InputError, "there is one row only"),
    "unknown word": (POINTS, TWO, {"folds": "leave-one"}, InputError, "folds='leave-one' is not known; did you mean"),
    "loo": (POINTS, TWO, {"folds": "loo"}, InputError, "folds='loo' is not known; .*leave-one-out"),
    "a truth value": (POINTS, TWO, {"folds": True}, KindError, "folds must be a whole number, .* got True"),
    "a fraction": (POINTS, TWO, {"folds": 2.5}, KindError, "folds must be a whole number, .* got 2.5"),
    "nothing": (POINTS, TWO, {"folds": None}, KindError, "folds must be a whole number, .* got None"),
    "an object": (POINTS, TWO, {"folds": object()}, KindError, "folds must be a whole number, .* got <object"),
    "no pairs": (POINTS, TWO, {"folds": []}, InputError, "there are no folds; give pairs"),
    "no pair": (
        POINTS,
        TWO,
        {"folds": [[1, 2, 3]]},
        KindError,
        "fold 0 must be a pair of training and test rows, got list",
    ),
    "numbers": (POINTS, TWO, {"folds": [1, 2]}, KindError, "fold 0 must be a pair of training and test rows, got int"),
    "fractions": (
        POINTS,
        TWO,
        {"folds": [([0.5], [1])]},
        KindError,
        "the training rows of fold 0 must be a list of places",
    ),
    "no test rows": (POINTS, TWO, {"folds": [([0, 1], [])]}, InputError, "fold 0 has no test rows"),
    "no training rows": (POINTS, TWO, {"folds": [([0], [1]), ([], [1])]}, InputError, "fold 1 has no training rows"),
    "outside": (POINTS, TWO, {"folds": [([0, 1], [N])]}, InputError, f"fold 0 names row {N} of {N}; rows count from 0"),
    "below zero": (POINTS, TWO, {"folds": [([0, -1], [1])]}, InputError, "fold 0 names row -1"),
    "both": (POINTS, TWO, {"folds": [([0, 1], [1, 2])]}, InputError, "row 1 is both learned from and tested in fold 0"),
    "twice": (POINTS, TWO, {"folds": [([0, 1], [2, 2])]}, InputError, "fold 0 names one of its test rows twice"),
    "a splitter that cannot": (POINTS, TWO, {"folds": KFold(N + 1)}, InputError, "KFold cannot split these rows: "),
    "a splitter without groups": (
        POINTS,
        TWO,
        {"folds": GroupKFold(3)},
        InputError,
        "GroupKFold cannot split these rows: .*groups",
    ),
    "few groups": (
        POINTS,
        TWO,
        {"folds": 5, "groups": GROUPS % 2},
        InputError,
        "2 groups cannot be parted into 5 folds; take 2",
    ),
    "short groups": (POINTS, TWO, {"groups": GROUPS[:5]}, InputError, f"there are 5 groups for {N} rows"),
    "missing group": (POINTS, TWO, {"groups": [None, *GROUPS[1:]]}, InputError, "row 0 has no group"),
    "groups of single rows": (
        POINTS,
        TWO,
        {"folds": "leave-one-out", "groups": GROUPS},
        InputError,
        "leaving one row out would part them",
    ),
    "short weights": (POINTS, TWO, {"sample_weight": [1.0]}, InputError, "sample_weight"),
    "negative weights": (POINTS, TWO, {"sample_weight": -PARTS}, InputError, "weight"),
    "short labels": (POINTS, TWO[:-1], {}, InputError, str(N - 1)),
    "a bad seed": (POINTS, TWO, {"random_state": -1}, InputError, "random_state"),
    "infinite": (np.where(POINTS > 1, np.inf, POINTS), TWO, {}, InputError, "inf"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_cross_validated_is_refused_in_a_sentence(name: str) -> None:
    X, y, given, error, match = REFUSED[name]
    model = ing.NaiveBayes().fit(FLOWERS, SPECIES)
    before = pickle.dumps(model)
    with pytest.raises(error, match=match) as raised:
        ing.cross_validate(model, X, y, **given)
    assert "\n" not in str(raised.value)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(("model", "match"), [
    (ing.NaiveBayes, r"got the class NaiveBayes; give NaiveBayes\(\)"),
    (KMeans(), "KMeans is neither a classifier nor a regressor"),
    ("bayes", "a classifier was expected, with fit and predict, got str 'bayes'"),
    (None, "a classifier was expected, with fit and predict, got NoneType"),
])  # fmt: skip
def test_only_classifiers_and_regressors_are_cross_validated(model: Any, match: str) -> None:
    with pytest.raises(KindError, match=match):
        ing.cross_validate(model, POINTS, TWO)


@pytest.mark.parametrize("folds", [2, "leave-one-out"])
def test_what_fit_refuses_is_refused(folds: Any) -> None:
    model = ing.NaiveBayes({0: "text"})
    for learn in (
        lambda: model.fit(["", "?"] * 20, [0, 1] * 20),
        lambda: ing.cross_validate(model, ["", "?"] * 20, [0, 1] * 20, folds),
    ):
        with pytest.raises(InputError, match="no word in any row"):
            learn()


@pytest.mark.parametrize("folds", [StratifiedKFold(2), "leave-one-out"], ids=["two folds", "leave-one-out"])
def test_a_class_whose_rows_have_no_weight_was_never_learned(answers: list[Any], folds: Any) -> None:
    X, y = np.array([[1.0], [2.5], [3.0], [4.0], [5.5], [7.0]]), np.array(list("aabbcc"))
    assert_exact(answers, ing.NaiveBayes({0: "number"}), X, y, folds, np.array([1, 2, 0, 0, 1, 2.0]))


@pytest.mark.parametrize("numbers", ["gaussian", "histogram", "kernel", "equal-mass-5", "mixture", "auto"])
def test_the_only_value_of_a_column_can_be_left_out(numbers: str) -> None:
    X, y = np.array([[1.0], [np.nan], [np.nan], [np.nan]]), np.array(list("aabb"))
    for weights in (None, np.array([1, 2.0, 1, 3.0])):
        model = ing.NaiveBayes({0: "number"}, numbers=numbers)
        found = ing.cross_validate(model, X, y, "leave-one-out", sample_weight=weights).probabilities
        w = np.ones(4) if weights is None else weights
        # nothing is known of the column: what is left are the rows of each class
        np.testing.assert_allclose(found[0], np.array([w[1], w[2] + w[3]]) / w[1:].sum())


@pytest.mark.xfail(strict=True, reason="the weight of a row is taken from that of its class in doubles")
@pytest.mark.parametrize("weights", [[1, 1e-300, 1], [1e17, 1, 1], [2.0**53, 1, 3]], ids=str)
def test_what_is_left_of_a_class_is_not_lost_beside_a_heavy_row(answers: list[Any], weights: Any) -> None:
    X, y = np.array([["x"], ["x"], ["y"]], object), np.array(["a", "a", "b"])
    model = ing.NaiveBayes({0: "category"})
    assert_exact(answers, model, X, y, "leave-one-out", np.array(weights))


def test_a_fold_that_has_all_the_weight_is_refused() -> None:
    X, y = np.array([[1.0], [2], [3], [4]]), np.array(list("aabb"))
    for folds in (2, "leave-one-out"):
        with pytest.raises(InputError, match="weight"):
            ing.cross_validate(ing.NaiveBayes({0: "number"}), X, y, folds, sample_weight=[1, 0, 0, 0])


@pytest.mark.parametrize("confidence", [2, -0.5, 0, 1, float("nan"), "much"])
def test_a_confidence_that_is_none_is_refused(confidence: Any) -> None:
    with pytest.raises((InputError, KindError), match="confidence"):
        ing.cross_validate(ing.NaiveBayes(), POINTS, TWO, 3, confidence=confidence)


def test_no_rows_are_not_one_row() -> None:
    with pytest.raises(InputError) as raised:
        ing.cross_validate(ing.NaiveBayes(), np.zeros((0, 2)), [])
    assert "one row only" not in str(raised.value)


def test_the_remedy_can_be_followed() -> None:
    X, y = POINTS[:4], list("aabb")
    with pytest.raises(InputError, match=r"take (folds=)?2 at most"):
        ing.cross_validate(ing.NaiveBayes(), X, y, 10)
    assert len(ing.cross_validate(ing.NaiveBayes(), X, y, 2).test) == 2


def test_the_model_is_not_changed() -> None:
    for model in (ing.NaiveBayes(), ing.NaiveBayes().fit(FLOWERS, SPECIES)):
        before = copy.deepcopy(model)
        for folds in (3, "leave-one-out", KFold(3), ShuffleSplit(2, random_state=0)):
            ing.cross_validate(model, POINTS, TWO, folds)
        assert model.__dict__.keys() == before.__dict__.keys()
        if hasattr(before, "tally_"):
            assert model.tally_ == before.tally_
            assert np.array_equal(model.predict_proba(FLOWERS), before.predict_proba(FLOWERS))


def test_leaving_one_out_by_scikit_learns_splitter_is_the_quick_way() -> None:
    y = np.array(list("ab") * 20)
    X = np.random.default_rng(0).normal(size=(40, 2))
    one, two = (ing.cross_validate(ing.NaiveBayes(), X, y, folds) for folds in ("leave-one-out", LeaveOneOut()))
    assert np.array_equal(one.probabilities, two.probabilities)


def test_groups_may_be_a_column_which_is_then_no_attribute() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.normal(size=60), "house": rng.integers(0, 12, 60), "y": list("pq") * 30})
    named = ing.cross_validate(ing.NaiveBayes(), table, "y", 3, groups="house")
    given = ing.cross_validate(ing.NaiveBayes(), table[["a", "y"]], "y", 3, groups=table["house"])
    assert np.array_equal(named.probabilities, given.probabilities)


def test_a_model_that_cannot_be_fitted_is_named() -> None:
    with pytest.raises(InputError, match="LogisticRegression cannot be fitted to these rows: could not convert"):
        ing.cross_validate(LogisticRegression(), pd.DataFrame({"a": list("xyxyxyxy")}), list("aabbaabb"), 2)
