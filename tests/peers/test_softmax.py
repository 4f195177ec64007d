"""The minimum is scikit-learn's: of numbers, counts and raw text, F = Σ loss + l2/2 ‖W‖² within 1e-6 of its own.

Where scikit-learn's solvers stop before the minimum (columns of 1e6 beside columns of 1e-6), SciPy finds it.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import logsumexp, softmax
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from tests import real_texts

from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.text.words import Words

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
CLOSE = 1e-6  # of F, relative
PENALTIES = [1e-3, 1.0, 100.0]


def objective(X, y, coef, intercept, l2, weights=None, penalised=None):
    """F by its definition; what is penalised are the coefficients, or what is given in their place."""
    Z = X @ coef.T + intercept
    Z = np.hstack([np.zeros_like(Z), Z]) if Z.shape[1] == 1 else Z
    codes = np.unique(y, return_inverse=True)[1]
    losses = logsumexp(Z, axis=1) - Z[np.arange(len(codes)), codes]
    return float((losses if weights is None else losses * weights).sum()) + l2 / 2 * float(
        np.square(coef if penalised is None else penalised).sum()
    )


def theirs(X, y, l2, weights=None):
    """scikit-learn at the minimum, as near as it gets."""
    small = X.shape[1] < 200
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says so where it cannot reach a tolerance this small
        solver = "newton-cholesky" if small else "lbfgs"
        return LogisticRegression(C=1 / l2, solver=solver, tol=1e-10, max_iter=3000).fit(X, y, weights)


def least(X, y, l2, weights=None):
    """The minimum by SciPy's exact trust region, in columns of one length so that it can."""
    X = X.toarray() if sparse.issparse(X) else X
    lengths = np.maximum(X.std(axis=0), 1e-300)
    U = (X - X.mean(axis=0)) / lengths
    codes = np.unique(y, return_inverse=True)[1]
    n, d, K = len(codes), X.shape[1], int(codes.max()) + 1
    w = np.ones(n) if weights is None else np.asarray(weights, float)
    rows = np.hstack([U, np.ones((n, 1))])
    penalty = np.append(l2 / lengths**2, 0.0)
    one, width = np.eye(K)[codes], 1 if K == 2 else K

    def logits(v):
        Z = rows @ v.reshape(d + 1, width)
        return np.hstack([np.zeros_like(Z), Z]) if width == 1 else Z

    def value(v):
        Z, V = logits(v), v.reshape(d + 1, width)
        return float(w @ (logsumexp(Z, axis=1) - Z[np.arange(n), codes]) + (penalty @ V**2).sum() / 2)

    def slope(v):
        R = w[:, np.newaxis] * (softmax(logits(v), axis=1) - one)
        return (rows.T @ R[:, -width:] + penalty[:, np.newaxis] * v.reshape(d + 1, width)).ravel()

    def bend(v):
        P = softmax(logits(v), axis=1)[:, -width:]
        H = np.zeros((d + 1, width, d + 1, width))
        for k in range(width):
            for m in range(width):
                H[:, k, :, m] = rows.T @ (rows * (w * P[:, k] * ((k == m) - P[:, m]))[:, np.newaxis])
            H[:, k, :, k] += np.diag(penalty)
        return H.reshape((d + 1) * width, -1)

    start = np.zeros((d + 1) * width)
    return optimize.minimize(value, start, jac=slope, hess=bend, method="trust-exact", options={"gtol": 1e-9}).fun


def some_weights(n):
    rng = np.random.default_rng(7)
    return np.where(np.arange(n) % 5 == 0, 0.0, rng.uniform(0.5, 3.0, n))


def at_the_minimum(X, y, l2, weights=None, **settings):
    """Ours, theirs, and that ours is no worse and says truly what it has reached."""
    ours = SoftmaxRegression(l2=l2, **settings).fit(X, y, weights)
    peer = theirs(X, y, l2, weights)
    value = objective(X, y, ours.coef_, ours.intercept_, l2, weights)
    assert value <= objective(X, y, peer.coef_, peer.intercept_, l2, weights) * (1 + CLOSE)
    assert ours.loss_ == pytest.approx(value, rel=1e-9)
    assert ours.converged_
    return ours, peer


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("l2", PENALTIES)
@pytest.mark.parametrize("name", SETS)
def test_tables_of_numbers_reach_the_minimum(name, l2, weighted):
    X, y = SETS[name](return_X_y=True)
    X = X / X.std(axis=0)
    weights = some_weights(len(y)) if weighted else None
    at_the_minimum(X, y, l2, weights)
    ours, peer = at_the_minimum(X, y, l2, weights, tolerance=1e-13)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-3, atol=1e-4 * np.abs(peer.coef_).max())
    np.testing.assert_allclose(ours.predict_log_proba(X), np.log(ours.predict_proba(X)), atol=1e-9)
    shift = 0 if len(ours.intercept_) == 1 else peer.intercept_.mean()  # what all classes have in common says nothing
    np.testing.assert_allclose(
        ours.intercept_, peer.intercept_ - shift, rtol=1e-3, atol=1e-3 * np.abs(peer.intercept_).max()
    )


def test_pictures_of_digits():
    """Pixels at the edge are always 0: columns that say nothing get no weight."""
    X, y = load_digits(n_class=6, return_X_y=True)
    X, y = X[:400] / 16, y[:400]
    ours, peer = at_the_minimum(X, y, 1.0, tolerance=1e-10)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    assert not ours.coef_[:, X.std(axis=0) == 0].any()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("columns", [60, 1500])
@pytest.mark.parametrize("l2", PENALTIES)
def test_more_columns_than_rows(columns, classes, l2):
    """Few enough of them for Newton's matrix, and too many."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, columns)), rng.integers(0, classes, 40)
    ours, peer = at_the_minimum(X, y, l2, tolerance=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("l2", PENALTIES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("negative", [False, True], ids=["counts", "negative numbers"])
@pytest.mark.parametrize("columns", [50, 250])
def test_sparse_tables_reach_the_minimum(columns, negative, classes, l2, weighted):
    rng = np.random.default_rng(1)
    X = sparse.random(120, columns, 0.1, "csr", rng=rng)
    X.data = X.data - 0.5 if negative else np.ceil(4 * X.data)
    y = rng.integers(0, classes, 120)
    y[X[:, 0].toarray().ravel() > 0] = 0
    weights = some_weights(120) if weighted else None
    at_the_minimum(X, y, l2, weights)
    ours, peer = at_the_minimum(X, y, l2, weights, tolerance=1e-9, max_iter=10_000)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("l2", PENALTIES)
@pytest.mark.parametrize("name", SETS)
def test_columns_a_million_times_as_long_as_others(name, l2):
    X, y = SETS[name](return_X_y=True)
    X = X / X.std(axis=0) * np.where(np.arange(X.shape[1]) % 2, 1e6, 1e-6)
    ours = SoftmaxRegression(l2=l2).fit(X, y)
    assert ours.loss_ == pytest.approx(objective(X, y, ours.coef_, ours.intercept_, l2), rel=1e-6)
    assert ours.loss_ <= least(X, y, l2) * (1 + CLOSE)


@pytest.mark.parametrize("l2", PENALTIES)
@pytest.mark.parametrize("name", SETS)
def test_columns_far_from_zero(name, l2):
    """An intercept takes up whatever is added to a column, so the minimum is that of the column as it was."""
    X, y = SETS[name](return_X_y=True)
    X = X / X.std(axis=0)
    there = objective(X, y, *(getattr(theirs(X, y, l2), part) for part in ("coef_", "intercept_")), l2)
    ours = SoftmaxRegression(l2=l2).fit(X + 1e6, y)
    assert ours.loss_ <= there * (1 + CLOSE)
    np.testing.assert_allclose(
        ours.predict_proba(X + 1e6), SoftmaxRegression(l2=l2).fit(X, y).predict_proba(X), atol=1e-4
    )


def test_whole_weights_are_so_many_rows():
    X, y = load_iris(return_X_y=True)
    times = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = SoftmaxRegression(tolerance=1e-12).fit(X, y, times)
    repeated = SoftmaxRegression(tolerance=1e-12).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-9)


# Text.

TEXTS = {
    "counts": (Words(), CountVectorizer()),
    "binary": (Words(binary=True), CountVectorizer(binary=True)),
    "one letter": (Words(token=r"\w+"), CountVectorizer(token_pattern=r"(?u)\w+")),
    "pairs too": (Words(ngrams=(1, 2)), CountVectorizer(ngram_range=(1, 2))),
    "threes alone": (Words(ngrams=(3, 3)), CountVectorizer(ngram_range=(3, 3))),
    "tf-idf": (Words(weighting="tfidf"), TfidfVectorizer(norm=None)),
    "unit length": (Words(weighting="tfidf", norm="l2"), TfidfVectorizer()),
    "binary of unit length": (
        Words(weighting="tfidf", norm="l2", binary=True, ngrams=(1, 2)),
        TfidfVectorizer(binary=True, ngram_range=(1, 2)),
    ),
    "documents from a number to a share": (
        Words(min_documents=3, max_documents=0.3, ngrams=(1, 2)),
        CountVectorizer(min_df=3, max_df=0.3, ngram_range=(1, 2)),
    ),
}


def aligned(model, vectorizer):
    """Our coefficients in the order of the vectoriser's features; all others are zero."""
    places = {name: j for j, name in enumerate(model.features())}
    chosen = [places[name] for name in vectorizer.get_feature_names_out()]
    others = np.setdiff1d(np.arange(len(places)), chosen)
    assert not model.coef_[:, others].any()
    return model.coef_[:, chosen]


@pytest.mark.parametrize("features", TEXTS)
@pytest.mark.parametrize("name", ["customers", "questions"])
def test_raw_text_is_the_vectorisers_matrix(name, features):
    """Two classes and six."""
    texts, labels = real_texts.labelled(name, 400 if name == "customers" else 200)
    words, vectorizer = TEXTS[features]
    X = vectorizer.fit_transform(texts)
    peer = theirs(X, labels, 1.0)
    there = objective(X, labels, peer.coef_, peer.intercept_, 1.0)
    for tolerance in (1e-6, 1e-11):
        ours = SoftmaxRegression(text=words, tolerance=tolerance).fit(texts, labels)
        value = objective(X, labels, aligned(ours, vectorizer), ours.intercept_, 1.0)
        assert value <= there * (1 + CLOSE)
        assert ours.loss_ == pytest.approx(value, rel=1e-9)
    asked = real_texts.labelled(name, 600)[0][1::3]
    np.testing.assert_allclose(
        ours.predict_proba(asked), peer.predict_proba(vectorizer.transform(asked)), atol=2e-3
    )  # theirs is a little off the minimum


def ratios(X, y, alpha):
    """Wang and Manning's log-count ratio of the second of two classes to the first; of more, of each to the rest.

    Of more, what is imagined is divided between a class and the rest as the real is.
    """
    _, codes = np.unique(y, return_inverse=True)
    sums = np.array([np.asarray(X[codes == k].sum(axis=0)).ravel() for k in range(codes.max() + 1)])
    found = []
    for k in range(1, 2) if len(sums) == 2 else range(len(sums)):
        share = 0.5 if len(sums) == 2 else sums[k].sum() / sums.sum()
        own, rest = sums[k] + 2 * alpha * share, sums.sum(axis=0) - sums[k] + 2 * alpha * (1 - share)
        found.append(np.log(own / own.sum()) - np.log(rest / rest.sum()))
    return np.array(found)


@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("l2", [0.1, 1.0])
def test_naive_bayes_weighted_words_are_the_matrix_times_the_log_ratios(l2, binary, alpha):
    texts, labels = real_texts.labelled("customers", 500)
    vectorizer = CountVectorizer(ngram_range=(1, 2), binary=binary, token_pattern=r"(?u)\w+")
    X = vectorizer.fit_transform(texts)
    r = ratios(X, labels, alpha)
    weighted = X.multiply(r).tocsr()
    peer = theirs(weighted, labels, l2)
    there = objective(weighted, labels, peer.coef_, peer.intercept_, l2)
    words = Words(ngrams=(1, 2), binary=binary, token=r"\w+")
    for tolerance in (1e-6, 1e-11):
        ours = SoftmaxRegression(text=words, weighting="naive-bayes", l2=l2, alpha=alpha, tolerance=tolerance)
        ours.fit(texts, labels)
        V = aligned(ours, vectorizer)
        assert (V[r == 0] == 0).all()
        value = objective(X, labels, V, ours.intercept_, l2, penalised=np.divide(V, r, where=r != 0, out=0 * V))
        assert value <= there * (1 + CLOSE)
        assert ours.loss_ == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(V, peer.coef_ * r, atol=2e-3)


def test_naive_bayes_weighted_counts_are_the_same_from_a_matrix():
    texts, labels = real_texts.labelled("customers", 500)
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(texts)
    settings = {"weighting": "naive-bayes", "tolerance": 1e-11}
    from_text = SoftmaxRegression(**settings).fit(texts, labels)
    from_matrix = SoftmaxRegression(**settings).fit(X, labels)
    assert from_text.loss_ == pytest.approx(from_matrix.loss_, rel=1e-9)
    np.testing.assert_allclose(aligned(from_text, vectorizer), from_matrix.coef_, atol=1e-5)


@pytest.mark.parametrize("rows", [12, 60], ids=["more words than rows", "more rows than words"])
def test_no_step_from_the_weighted_minimum_of_several_classes_leads_down(rows):
    """Each class has ratios of its own, which no matrix of scikit-learn's can say: so F is taken by its definition."""
    rng = np.random.default_rng(3)
    y = np.arange(rows) % 3
    X = rng.poisson(0.4 + 0.8 * (np.arange(20) % 3 == y[:, np.newaxis]), (rows, 20)).astype(float)
    r, l2, alpha = ratios(sparse.csr_matrix(X), y, 0.5), 0.7, 0.5
    model = SoftmaxRegression(weighting="naive-bayes", l2=l2, alpha=alpha, tolerance=1e-13)
    model.fit(sparse.csr_matrix(X), y)

    def F(point):
        W, b = point[:-3].reshape(3, 20), point[-3:]
        return objective(X, y, r * W, b, l2, penalised=W)

    here = np.append((model.coef_ / r).ravel(), model.intercept_)
    assert F(here) == pytest.approx(model.loss_, rel=1e-10)
    step = 1e-5
    slopes = [(F(here + step * e) - F(here - step * e)) / (2 * step) for e in np.eye(len(here))]
    np.testing.assert_allclose(slopes, 0, atol=2e-5 * model.loss_)
    found = optimize.minimize(F, np.zeros(len(here)), method="BFGS", options={"gtol": 1e-4})
    assert model.loss_ <= found.fun * (1 + 1e-9)


def test_weighted_numbers_are_measured_in_deviations_within_classes():
    X, y = load_wine(return_X_y=True)
    within = np.sqrt(sum(((X[y == k] - X[y == k].mean(axis=0)) ** 2).sum(axis=0) for k in range(3)) / len(y))
    ours = SoftmaxRegression(weighting="naive-bayes", tolerance=1e-11).fit(X, y)
    peer = theirs(X / within, y, 1.0)
    np.testing.assert_allclose(ours.coef_ * within, peer.coef_, atol=1e-4)


def test_news_from_raw_text_beats_naive_bayes():
    """20 Newsgroups, four groups that are hard to tell apart: the discriminative twin has the smaller loss."""
    texts, labels = real_texts.labelled("newsgroups", 2400)
    chosen = [i for i, label in enumerate(labels) if label.startswith(("comp.", "talk.religion", "soc.religion"))]
    texts, labels = [texts[i] for i in chosen], np.array([labels[i] for i in chosen])
    assert len(np.unique(labels)) >= 5
    model = SoftmaxRegression(text=Words(ngrams=(1, 2), binary=True, token=r"\w+"), weighting="naive-bayes")
    model.fit(texts[::2], labels[::2])
    assert model.score(texts[1::2], labels[1::2]) > model.twin_.score(texts[1::2], labels[1::2])
