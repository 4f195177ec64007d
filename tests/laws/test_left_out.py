"""Leaving a row out is never having learned it, whatever the numbers, the categories, the words and the weights are."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from tests.laws import harsh

from ingenuo.models.classifier import tally_chunk
from ingenuo.models.folds import over_classes
from ingenuo.models.left_out import ChunkRows, leave_one_out, out_of_fold
from ingenuo.models.model import CLASS
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows.rows import MemoryRows
from ingenuo.tally.labels import labels_of
from ingenuo.tally.prior import Laplace, Lidstone, MaximumLikelihood, MEstimate
from ingenuo.text.words import Words

ordinary = settings(deadline=None, max_examples=25)

priors = st.sampled_from(
    [Laplace(), Lidstone(0.01, variance_floor=1e-2), MEstimate(2), MaximumLikelihood(), Laplace(variance_floor=0.0)]
)
class_priors = st.sampled_from([MaximumLikelihood(), Laplace()])
weights_ = st.sampled_from(["none", "whole", "fractional"])


def left_out(model, X, y, weights=None):
    """The log posterior of each row by the tally without it, and the classes."""
    schema, chunk = model._encode_all(MemoryRows(X, y, weights))
    return leave_one_out(model, schema, chunk, tally_chunk(chunk)), chunk.classes


def fitted_anew(model, X, y, weights, row, classes):
    """What a model says that has learned the other rows only, and how large the sums were that it comes from."""
    others = np.delete(np.arange(len(y)), row)
    other = NaiveBayes(**model.get_params(deep=False))
    other.partial_fit(X[others], y[others], sample_weight=None if weights is None else weights[others])
    joint = other.predict_joint_log_proba(X[row : row + 1])
    large = np.abs(joint[np.isfinite(joint)]).max(initial=1.0)
    return over_classes(other.predict_log_proba(X[row : row + 1]), labels_of(other.classes_), classes)[0], large


def assert_never_learned(model, X, y, weights=None):
    assume(weights is None or np.count_nonzero(weights) > 1)  # one row alone is refused, and said
    found, classes = left_out(model, X, y, weights)
    for row in range(len(y)):
        kept = np.delete(np.ones(len(y)) if weights is None else weights, row)
        if not kept.any():
            continue  # there is nothing to answer by
        wanted, large = fitted_anew(model, X, y, weights, row, classes)
        assert np.array_equal(np.isneginf(found[row]), np.isneginf(wanted)), (row, found[row], wanted)
        finite = np.isfinite(wanted)
        # 1e-12 of the log probability, or where it is the small difference of large sums, the last digits of those.
        scale = np.maximum(np.maximum(1, np.abs(wanted[finite])), large * 1e-2)
        off = np.abs(found[row][finite] - wanted[finite]) / scale
        assert off.max(initial=0) <= 1e-12, (row, found[row], wanted)


def drawn(kind, y, seed):
    """Weights of rows, some of them 0, but not of the first row of each class."""
    rng, n = np.random.default_rng(seed), len(y)
    if kind == "none":
        return None
    found = rng.integers(0, 4, n).astype(float) if kind == "whole" else rng.random(n) * (rng.random(n) < 0.8)
    first = np.unique(y, return_index=True)[1]
    found[first] = np.maximum(found[first], 0.5)
    return found


@ordinary
@given(harsh.column_kinds, st.integers(3, 12), harsh.seeds, priors, class_priors, weights_)
def test_numbers_of_any_size_are_left_out(kinds, n, seed, prior, class_prior, weighted):
    X = harsh.matrix(kinds, n, seed)
    y = np.random.default_rng(seed).integers(0, 3, n)
    model = NaiveBayes(dict.fromkeys(range(len(kinds)), "number"), prior=prior, class_prior=class_prior)
    assert_never_learned(model, X, y, drawn(weighted, y, seed))


@ordinary
@given(harsh.rows(least=2, most=8), priors, st.booleans())
def test_rows_of_anything_are_left_out(rows, prior, unbiased):
    X = np.empty((len(rows), 3), object)
    y = np.empty(len(rows), object)
    for i, (numbers, category, label, _) in enumerate(rows):
        X[i] = [*numbers, category]
        y[i] = label
    numbers = "gaussian-unbiased" if unbiased else "gaussian"
    assert_never_learned(NaiveBayes({0: "number", 1: "number", 2: "category"}, prior=prior, numbers=numbers), X, y)


@ordinary
@given(
    harsh.rows(least=2, most=8, n_numbers=1),
    st.lists(st.one_of(st.just(0.0), st.floats(1, 1e3)), min_size=8, max_size=8),
    st.sampled_from([1.0, 0.1, 1e-300, 1e290]), priors,
)  # fmt: skip
def test_weights_of_any_size_are_left_out(rows, sizes, unit, prior):
    X = np.empty((len(rows), 1), object)
    y = np.empty(len(rows), object)
    for i, (_, category, label, _) in enumerate(rows):
        X[i], y[i] = [category], label
    weights = np.array(sizes[: len(rows)]) * unit
    assume(np.count_nonzero(weights) > 1)  # else there is nothing to answer by
    assert_never_learned(NaiveBayes({0: "category"}, prior=prior), X, y, weights)


@ordinary
@given(st.integers(3, 14), harsh.seeds, priors, class_priors, weights_, st.booleans())
def test_categories_are_left_out(n, seed, prior, class_prior, weighted, declared):
    rng = np.random.default_rng(seed)
    X = rng.choice(np.array(["x", "y", "z", f"own {seed}", None], object), (n, 2), p=[0.4, 0.2, 0.2, 0.1, 0.1])
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.4, 0.1])
    columns = {0: ["x", "y", "z", f"own {seed}", "never"] if declared else "category", 1: "category"}
    assert_never_learned(NaiveBayes(columns, prior=prior, class_prior=class_prior), X, y, drawn(weighted, y, seed))


@ordinary
@given(
    st.integers(3, 12), harsh.seeds, priors, weights_, st.booleans(),
    st.sampled_from(["multinomial", "complement", "bernoulli"]),
)  # fmt: skip
def test_counts_are_left_out(n, seed, prior, weighted, fractions, counts):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.7, (n, 4)) * (rng.random((n, 4)) if fractions and counts != "bernoulli" else 1.0)
    y = rng.integers(0, 3, n)
    model = NaiveBayes(dict.fromkeys(range(4), "count"), prior=prior, counts=counts)
    assert_never_learned(model, csr_matrix(X) if seed % 2 else X, y, drawn(weighted, y, seed))


words = st.sampled_from(["good", "bad", "good good", "film", "a", "né", "", "own", "the", "good bad film"])
settings_ = st.sampled_from(
    [Words(), Words(ngrams=(1, 2)), Words(binary=True), Words(hashed=8), Words(min_count=2), Words(token=r"\w+"),
     Words(weighting="tfidf"), Words(max_words=3), Words(stop_words=1), Words(max_documents=2)]
)  # fmt: skip


@ordinary
@given(
    st.lists(st.tuples(st.lists(words, max_size=4).map(" ".join), st.sampled_from("ab"), harsh.weight), min_size=2,
             max_size=8),
    settings_, st.sampled_from([Laplace(), Lidstone(0.01), MaximumLikelihood(), MEstimate(3)]), weights_,
)  # fmt: skip
def test_texts_are_left_out(rows, text, prior, weighted):
    X = np.array([text for text, _, _ in rows], object)[:, np.newaxis]
    y = np.array([label for _, label, _ in rows])
    assume(any(len(word) > 1 for text in X[:, 0] for word in text.split()))
    assert_never_learned(NaiveBayes({0: "text"}, prior=prior, text=text), X, y, drawn(weighted, y, len(rows)))


@settings(deadline=None, max_examples=15)
@given(
    st.sampled_from(["light", "doubles", "offset", "poisoned", "constant", "missing values", "huge", "tiny"]),
    st.integers(4, 10), harsh.seeds,
    st.sampled_from(["histogram", "kernel", "mixture", "auto", "equal-mass-5", "equal-mass-10", "equal-mass-20"]),
    weights_,
)  # fmt: skip
def test_values_are_left_out_of_every_density(kind, n, seed, numbers, weighted):
    X = harsh.matrix([kind], n, seed)
    y = np.arange(n) % 2
    weights = drawn(weighted, y, seed)
    if weights is not None:
        weights += 0.25
    assert_never_learned(NaiveBayes({0: "number"}, numbers=numbers), X, y, weights)


@ordinary
@given(harsh.column_kinds, st.integers(4, 15), harsh.seeds, priors, weights_, st.integers(2, 4))
def test_folds_are_left_out(kinds, n, seed, prior, weighted, folds):
    X = harsh.matrix(kinds, n, seed)
    rng = np.random.default_rng(seed)
    X[:2] = np.where(np.isnan(X[:2]), 1.0, X[:2])  # a column without a value is refused
    y, fold = rng.integers(0, 3, n), rng.permutation(n) % folds
    weights = drawn(weighted, y, seed)
    if weights is not None:
        weights[:2] += 1
    model = NaiveBayes(dict.fromkeys(range(len(kinds)), "number"), prior=prior)
    schema, chunk = model._encode_all(MemoryRows(X, y, weights))
    tests = [(None, np.flatnonzero(fold == f)) for f in range(folds)]
    if any(not (np.ones(n) if weights is None else weights)[fold != f].any() for f in range(folds)):
        return
    answered = np.zeros(n, bool)
    for answer in out_of_fold(ChunkRows(model, schema, chunk), tests):
        train = np.setdiff1d(np.arange(n), answer.rows)
        other = NaiveBayes(**model.get_params(deep=False))
        other.partial_fit(X[train], y[train], sample_weight=None if weights is None else weights[train])
        wanted = over_classes(other.predict_log_proba(X[answer.rows]), labels_of(other.classes_), chunk.classes)
        assert np.array_equal(answer.log_posterior, wanted)  # total less fold is the same tally, to the last bit
        answered[answer.rows] = True
    assert answered.all()


@ordinary
@given(harsh.column_kinds, st.integers(3, 10), harsh.seeds)
def test_the_order_of_the_rows_does_not_matter(kinds, n, seed):
    X = harsh.matrix(kinds, n, seed)
    y = np.random.default_rng(seed).integers(0, 2, n)
    model = NaiveBayes(dict.fromkeys(range(len(kinds)), "number"))
    order = np.random.default_rng(seed).permutation(n)
    first, classes = left_out(model, X, y)
    second, again = left_out(model, X[order], y[order])
    assert np.array_equal(classes, again)
    np.testing.assert_array_equal(first[order], second)


def test_the_tally_is_not_changed():
    X, y = harsh.matrix(["doubles", "missing values", "poisoned"], 30, 0), np.arange(30) % 3
    model = NaiveBayes(dict.fromkeys(range(3), "number"))
    schema, chunk = model._encode_all(MemoryRows(X, y, None))
    tally, again = tally_chunk(chunk), tally_chunk(chunk)
    leave_one_out(model, schema, chunk, tally)
    assert tally == again
    assert tally.labels(CLASS, 0).tolist() == [0, 1, 2]


def test_each_of_two_rows_is_answered_for_by_the_other():
    found, _ = left_out(NaiveBayes({0: "number"}), np.array([[1.0], [2.0]]), np.array(["a", "b"]))
    np.testing.assert_array_equal(found, [[-np.inf, 0.0], [0.0, -np.inf]])
