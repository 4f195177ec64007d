"""What was fitted, in the names of the field: against scikit-learn, against counting by hand, against the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from tests.laws.test_doors import COUNTS, FRAME, MIXED

import ingenuo as ing
from ingenuo.datasets import play_tennis

DAYS = play_tennis()
X, Y = load_iris(return_X_y=True)
TEXTS, LABELS = FRAME["note"].tolist(), FRAME["paid"].to_numpy()
ROWS = FRAME[[*MIXED, "paid"]]
BAGS = COUNTS.drop(columns="paid").to_numpy()
PRESENT = np.minimum(BAGS, 1)
TENNIS = DAYS.drop_columns("Play"), DAYS.column("Play").to_numpy()
KINDS = dict.fromkeys(range(3), "count")


def test_means_and_variances_of_gaussians() -> None:
    model, other = ing.NaiveBayes(prior="maximum-likelihood").fit(X, Y), theirs.GaussianNB(var_smoothing=0).fit(X, Y)
    assert np.allclose(model.theta_, other.theta_, rtol=1e-12)
    assert np.allclose(model.var_, other.var_, rtol=1e-9)
    assert np.allclose(np.exp(model.class_log_prior_), other.class_prior_)
    mixed = ing.NaiveBayes(numbers="gaussian").fit(ROWS, "paid")
    assert mixed.theta_.shape == mixed.var_.shape == (2, 2)  # of its columns of numbers
    assert mixed.theta_[1].tolist() == pytest.approx(FRAME.loc[FRAME["paid"] == "yes", ["size", "age"]].mean().tolist())


@pytest.mark.parametrize(
    ("counts", "peer", "rows"),
    [
        ("multinomial", theirs.MultinomialNB(), BAGS),
        ("complement", theirs.ComplementNB(), BAGS),
        ("bernoulli", theirs.BernoulliNB(), PRESENT),
    ],
)
def test_feature_log_prob_of_counts(counts: str, peer: Any, rows: Any) -> None:
    model = ing.NaiveBayes(KINDS, counts=counts).fit(rows, LABELS)
    assert np.allclose(model.feature_log_prob_, peer.fit(rows, LABELS).feature_log_prob_, rtol=1e-12)


def test_feature_log_prob_of_categories() -> None:
    codes = np.column_stack([np.rint(column).astype(int) for column in X.T])
    peer = theirs.CategoricalNB(min_categories=8).fit(codes, Y)
    model = ing.NaiveBayes({j: list(range(8)) for j in range(4)}).fit(codes, Y)
    declared = ing.NaiveBayes(dict.fromkeys(range(4), "category"), prior=1.0).fit(codes, Y)
    assert all(np.allclose(np.exp(one).sum(axis=1), 1) for one in declared.feature_log_prob_)
    assert [each.shape for each in declared.feature_log_prob_] == [(3, len(set(column))) for column in codes.T.tolist()]
    for own, other in zip(model.feature_log_prob_, peer.feature_log_prob_):
        assert np.allclose(own, other[:, : own.shape[1]], rtol=1e-12)


@pytest.mark.parametrize("counts", ["multinomial", "bernoulli"])
def test_vocabulary_and_feature_log_prob_of_texts(counts: str) -> None:
    words = CountVectorizer(binary=counts == "bernoulli").fit(TEXTS)
    peer: Any = {"multinomial": theirs.MultinomialNB(), "bernoulli": theirs.BernoulliNB()}[counts]
    peer.fit(words.transform(TEXTS), LABELS)
    model = ing.NaiveBayes(counts=counts).fit(TEXTS, LABELS)
    assert model.vocabulary_ == words.vocabulary_
    assert list(model.vocabulary_) == sorted(model.vocabulary_)
    assert np.allclose(model.feature_log_prob_, peer.feature_log_prob_, rtol=1e-9)
    few = ing.NaiveBayes(text=ing.Words(max_words=5, weighting="tfidf")).fit(TEXTS, LABELS)
    assert few.feature_log_prob_.shape == (2, 5)
    assert np.allclose(np.exp(few.feature_log_prob_).sum(axis=1), 1)


def test_what_a_model_has_not_is_no_attribute_of_it() -> None:
    days, texts, flowers = (
        ing.NaiveBayes().fit(DAYS, "Play"),
        ing.NaiveBayes().fit(TEXTS, LABELS),
        ing.NaiveBayes(numbers="gaussian").fit(X, Y),
    )
    names = ("theta_", "var_", "feature_log_prob_", "vocabulary_")
    assert [name for name in names if hasattr(days, name)] == ["feature_log_prob_"]
    assert [name for name in names if hasattr(texts, name)] == ["feature_log_prob_", "vocabulary_"]
    assert [name for name in names if hasattr(flowers, name)] == ["theta_", "var_"]
    mixed = ing.NaiveBayes(numbers="gaussian").fit(ROWS, "paid")
    assert [name for name in names if hasattr(mixed, name)] == ["theta_", "var_"]
    with pytest.raises(AttributeError, match="not all of kind 'text'; `inspect` shows what it knows"):
        _ = mixed.vocabulary_
    with pytest.raises(AttributeError, match="column 'x0' has no Gaussian of its own"):
        _ = ing.NaiveBayes(numbers="kernel").fit(X, Y).theta_
    assert not any(hasattr(ing.NaiveBayes(), name) for name in (*names, "n_parameters_", "log_likelihood_"))


# Parameters.


def test_free_parameters_are_counted() -> None:
    # 2 classes: 1 share; Outlook 3, Temperature 3, Humidity 2, Wind 2 values: 2 + 2 + 1 + 1 of each class
    assert ing.NaiveBayes().fit(DAYS, "Play").n_parameters_ == 1 + 2 * 6
    assert ing.NaiveBayes(class_prior="uniform").fit(DAYS, "Play").n_parameters_ == 2 * 6
    assert ing.NaiveBayes(numbers="gaussian").fit(X, Y).n_parameters_ == 2 + 3 * 4 * 2
    assert ing.NaiveBayes(numbers="equal-mass-5").fit(X, Y).n_parameters_ == 2 + sum(
        3 * (int(each.detail.split()[0]) - 1)
        for each in ing.NaiveBayes(numbers="equal-mass-5").fit(X, Y).densities_.values()
    )
    assert ing.NaiveBayes(numbers="kernel").fit(X, Y).n_parameters_ == 2 + 3 * 4
    assert ing.NaiveBayes(KINDS).fit(BAGS, LABELS).n_parameters_ == 1 + 2 * 2
    assert ing.NaiveBayes(KINDS, counts="bernoulli").fit(PRESENT, LABELS).n_parameters_ == 1 + 2 * 3
    words = ing.NaiveBayes().fit(TEXTS, LABELS)
    assert words.n_parameters_ == 1 + 2 * (len(words.vocabulary_) - 1)
    tuned = ing.NaiveBayes(tune=True).fit(X, Y)
    assert tuned.n_parameters_ == tuned._parameters().n_parameters + 2 + 4 + 2
    # Means of 4 columns and 3 classes; 10 cells of a triangle.
    assert ing.GaussianDiscriminant().fit(X, Y).n_parameters_ == 2 + 12 + 10
    assert ing.GaussianDiscriminant("full").fit(X, Y).n_parameters_ == 2 + 12 + 30
    assert ing.GaussianNB().fit(X, Y).n_parameters_ == 2 + 24
    assert ing.GaussianNB(priors=[0.2, 0.3, 0.5]).fit(X, Y).n_parameters_ == 24
    assert ing.MultinomialNB().fit(BAGS, LABELS).n_parameters_ == 1 + 2 * 2
    assert ing.MultinomialNB(fit_prior=False).fit(BAGS, LABELS).n_parameters_ == 2 * 2
    for linear in (ing.SoftmaxRegression(), ing.LeastSquaresClassifier()):
        assert linear.fit(X, Y).n_parameters_ == 2 * 5
    assert ing.SoftmaxRegression().fit(X[:100], Y[:100]).n_parameters_ == 5


def test_free_parameters_of_networks_languages_regressors_and_votes() -> None:
    network = ing.NetworkClassifier("naive").fit(DAYS, "Play")
    assert network.n_parameters_ == ing.NaiveBayes().fit(DAYS, "Play").n_parameters_
    tan = ing.NetworkClassifier("tan").fit(DAYS, "Play")
    states = {"Play": 2, "Outlook": 3, "Temperature": 3, "Humidity": 2, "Wind": 2}
    parents = {node: [up for up, down in tan.network_.arcs if down == node] for node in states}
    wanted = sum((n - 1) * int(np.prod([states[up] for up in parents[node]])) for node, n in states.items())
    assert tan.n_parameters_ == wanted
    # AODE of two columns of 2 and 3 values: P(class, value), then the other column given both.
    two = DAYS.select(["Wind", "Outlook", "Play"])
    assert ing.NetworkClassifier("aode").fit(two, "Play").n_parameters_ == (4 - 1 + 4 * 2) + (6 - 1 + 6 * 1)
    model = ing.LanguageModel(1).fit(["a b a", "b c"])
    assert model.n_parameters_ == len(model.vocabulary_) - 1
    pairs = ing.LanguageModelClassifier(2).fit(["a b a", "b c"], ["x", "y"])
    contexts = len({"<s>", "a", "b", "c", "</s>"} & {*pairs._reading().vocabulary.words()})
    assert pairs.n_parameters_ == 2 * contexts * (len(pairs.vocabulary_) - 1) + 1
    rows = FRAME[["size", "town", "price"]]
    regressor = ing.NaiveBayesRegressor(bins=4).fit(rows, "price")
    assert regressor.n_parameters_ == regressor._bayes.n_parameters_
    vote = ing.BayesOptimalClassifier([("a", ing.NaiveBayes()), ("b", ing.GaussianDiscriminant())]).fit(X, Y)
    assert vote.n_parameters_ == sum(each.n_parameters_ for each in vote.estimators_) + 1


# The log likelihood of the rows.


def by_rows(model: Any, rows: Any, labels: Any, weights: Any = None) -> float:
    joint = model.predict_joint_log_proba(rows)
    own = joint[np.arange(len(joint)), np.searchsorted(model.classes_, labels)]
    return float((own if weights is None else own * weights).sum())


CASES: dict[str, tuple[Any, Any, Any]] = {
    "categories": (ing.NaiveBayes(), *TENNIS),
    "without smoothing": (ing.NaiveBayes(prior="maximum-likelihood"), *TENNIS),
    "Gaussians": (ing.NaiveBayes(numbers="gaussian"), X, Y),
    "far away": (ing.NaiveBayes(numbers="gaussian"), X + 1e5, Y),
    "unbiased": (ing.NaiveBayes(numbers="gaussian-unbiased"), X, Y),
    "a floor": (ing.NaiveBayes(numbers="gaussian", prior="laplace,variance_floor=.5"), X, Y),
    "counts": (ing.NaiveBayes(KINDS), BAGS, LABELS),
    "things": (ing.NaiveBayes(KINDS, counts="bernoulli"), PRESENT, LABELS),
    "texts": (ing.NaiveBayes(), TEXTS, LABELS),
    "TF-IDF": (ing.NaiveBayes(text=ing.Words(weighting="tfidf")), TEXTS, LABELS),
    "few words": (ing.NaiveBayes(text=ing.Words(max_words=5, binary=True, ngrams=(1, 2))), TEXTS, LABELS),
    "sets": (ing.NaiveBayes(counts="bernoulli"), TEXTS, LABELS),
    "mixed": (ing.NaiveBayes(numbers="gaussian"), ROWS.drop(columns="paid"), LABELS),
    "weights of classes": (ing.NaiveBayes(class_weight="balanced"), ROWS[["town", "note"]], LABELS),
    "MultinomialNB": (ing.MultinomialNB(), BAGS, LABELS),
    "GaussianNB": (ing.GaussianNB(), X, Y),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_log_likelihood_follows_from_the_sums(name: str) -> None:
    model, rows, labels = CASES[name]
    model.fit(rows, labels)
    assert model.log_likelihood_ == pytest.approx(by_rows(model, rows, labels), rel=1e-9)


def test_missing_values_and_weights_count_as_they_do_in_learning() -> None:
    rows = ROWS.drop(columns=["paid", "note"]).copy()
    rows.loc[::7, "size"] = np.nan
    rows.loc[::5, "town"] = None
    weights = np.arange(len(rows)) % 4 + 0.5
    model = ing.NaiveBayes(numbers="gaussian").fit(rows, LABELS, sample_weight=weights)
    assert model.log_likelihood_ == pytest.approx(by_rows(model, rows, LABELS, weights), rel=1e-9)
    model.forget(rows[:50], LABELS[:50], sample_weight=weights[:50])
    assert model.log_likelihood_ == pytest.approx(by_rows(model, rows[50:], LABELS[50:], weights[50:]), rel=1e-9)


def test_what_the_sums_do_not_tell_is_no_attribute() -> None:
    for model in (
        ing.NaiveBayes(numbers="kernel").fit(X, Y),
        ing.NaiveBayes(tune=True).fit(X, Y),
        ing.NaiveBayes(KINDS, counts="complement").fit(BAGS, LABELS),
        ing.NetworkClassifier("tan").fit(DAYS, "Play"),
    ):
        assert not hasattr(model, "log_likelihood_")
        with pytest.raises(AttributeError, match="predict_joint_log_proba"):
            _ = model.log_likelihood_
