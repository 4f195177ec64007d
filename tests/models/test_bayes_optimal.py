"""Bayes-optimal classification: weights are posteriors, answers are weighted votes, on rows of every kind."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from pyarrow import csv
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ingenuo import store
from ingenuo.cli import main
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.errors import IngenuoError, InputError, KindError, ModelFileError, RefusedError
from ingenuo.models.bayes_optimal import BayesOptimalClassifier
from ingenuo.models.language import LanguageModelClassifier
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.models.scikit_learn import GaussianNB as OurGaussianNB
from ingenuo.tally import container

X, Y = load_iris(return_X_y=True)
PAIR = [("bayes", OurGaussianNB()), ("logistic", make_pipeline(StandardScaler(), LogisticRegression(C=0.01)))]


@pytest.fixture(scope="module")
def iris():
    return BayesOptimalClassifier(PAIR).fit(X, Y)


def refused(act, kind, *words):
    with pytest.raises(kind) as caught:
        act()
    assert isinstance(caught.value, IngenuoError)
    for word in words:
        assert word in str(caught.value), str(caught.value)


class Fixed(DummyClassifier):
    """A classifier that says the same of every row, whatever it is fitted on."""

    def __init__(self, classes=(0, 1), chances=(0.5, 0.5)):
        self.classes = classes
        self.chances = chances

    def fit(self, X, y=None):
        self.classes_ = np.array(self.classes)
        return self

    def predict_proba(self, X):
        return np.tile(self.chances, (len(X), 1))

    def predict_log_proba(self, X):
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


# What the weights and the answers are.


def test_weights_are_prior_times_out_of_fold_likelihood(iris):
    fold = np.empty(len(Y), int)
    fold[np.argsort(Y, kind="stable")] = np.arange(len(Y)) % 5
    logs = []
    for _, estimator in PAIR:
        p = np.empty((len(Y), 3))
        for part in range(5):
            p[fold == part] = clone(estimator).fit(X[fold != part], Y[fold != part]).predict_proba(X[fold == part])
        logs.append(-log_loss(Y, p, normalize=False))
    assert list(iris.log_likelihoods_.values()) == pytest.approx(logs, rel=1e-9)
    odds = np.exp(np.array(logs) - max(logs))
    assert list(iris.weights_.values()) == pytest.approx(odds / odds.sum(), rel=1e-7)
    priors = {"bayes": 0.001, "logistic": 0.999}
    odds *= list(priors.values())
    weighed = BayesOptimalClassifier(PAIR, priors=priors).fit(X, Y)
    assert list(weighed.weights_.values()) == pytest.approx(odds / odds.sum(), rel=1e-7)


def test_every_fold_has_its_share_of_every_class():
    y = np.array(["a"] * 7 + ["b"] * 5)
    seen = []

    class Watching(Fixed):
        def fit(self, X, y=None):
            seen.append(sorted(y))
            return super().fit(X, y)

    BayesOptimalClassifier([("w", Watching(("a", "b")))], folds=3).fit(np.zeros((12, 1)), y)
    assert [(part.count("a"), part.count("b")) for part in seen] == [(4, 4), (5, 3), (5, 3), (7, 5)]


def test_answers_are_the_weighted_sum_of_the_classifiers_answers(iris):
    weights = iris.weights_
    wanted = sum(weights[name] * clone(estimator).fit(X, Y).predict_proba(X) for name, estimator in PAIR)
    np.testing.assert_allclose(iris.predict_proba(X), wanted, rtol=1e-12)
    np.testing.assert_allclose(iris.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(iris.predict_log_proba(X)), wanted, rtol=1e-12)
    assert iris.predict(X).tolist() == wanted.argmax(axis=1).tolist()


def test_the_vote_overrules_the_best_classifier():
    # As many rows of either label leave the three opinions as probable as they were.
    voters = [("h1", Fixed(chances=(0.6, 0.4))), ("h2", Fixed(chances=(0.4, 0.6))), ("h3", Fixed(chances=(0.4, 0.6)))]
    beliefs = {"h1": 0.4, "h2": 0.3, "h3": 0.3}
    model = BayesOptimalClassifier(voters, priors=beliefs, folds=2).fit(np.zeros((20, 1)), [0, 1] * 10)
    assert model.weights_ == pytest.approx(beliefs)
    assert model.hypotheses_.map() == "h1"
    assert model.predict_proba([[0]])[0].tolist() == pytest.approx([0.48, 0.52])
    assert model.predict([[0]]).tolist() == [1]


def test_fitted_classifiers_are_weighed_by_held_out_rows():
    learn_X, held_X, learn_y, held_y = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
    fitted = [(name, clone(estimator).fit(learn_X, learn_y)) for name, estimator in PAIR]
    model = BayesOptimalClassifier(fitted, folds="prefit").fit(held_X, held_y)
    for name, estimator in fitted:
        wanted = -log_loss(held_y, estimator.predict_proba(held_X), normalize=False)
        assert model.log_likelihoods_[name] == pytest.approx(wanted, rel=1e-6)
    assert model.estimators_ == [estimator for _, estimator in fitted]


def test_a_classifier_that_calls_a_true_label_impossible_is_refuted():
    sure = ("sure", Fixed(chances=(1.0, 0.0)))
    model = BayesOptimalClassifier([sure, ("open", Fixed())], folds=2).fit(np.zeros((4, 1)), [0, 0, 1, 1])
    assert model.weights_ == {"sure": 0, "open": 1}
    assert model.log_likelihoods_["sure"] == -np.inf
    assert model.predict_proba([[0]]).tolist() == [[0.5, 0.5]]


def test_classes_are_those_of_all_classifiers_and_unknown_ones_have_probability_zero():
    some = [("ab", Fixed(("a", "b"), (0.25, 0.75))), ("bc", Fixed(("b", "c"), (0.5, 0.5)))]
    fitted = [(name, estimator.fit(None)) for name, estimator in some]
    model = BayesOptimalClassifier(fitted, folds="prefit").fit(np.zeros((3, 1)), ["b", "b", "b"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    first, second = 0.75**3, 0.5**3
    wanted = (first * np.array([0.25, 0.75, 0]) + second * np.array([0, 0.5, 0.5])) / (first + second)
    assert model.predict_proba([[0]])[0] == pytest.approx(wanted)


def test_the_only_row_of_a_class_is_learned_and_not_scored():
    rows, y = np.vstack([X[:100], X[100:101]]), np.append(Y[:100], 2)
    alone, without = BayesOptimalClassifier(PAIR).fit(rows, y), BayesOptimalClassifier(PAIR).fit(rows[:100], y[:100])
    assert alone.classes_.tolist() == [0, 1, 2]
    assert alone.hypotheses_.n_observations == without.hypotheses_.n_observations == 100


def test_belief_is_traced_row_by_row(iris):
    assert len(iris.hypotheses_.trace) == 151
    assert iris.hypotheses_.trace[0] == pytest.approx({"bayes": 0.5, "logistic": 0.5})
    assert iris.hypotheses_.trace[-1] == pytest.approx(iris.weights_)


def test_the_mixture_is_about_as_good_as_its_best_member_on_new_rows():
    learn_X, new_X, learn_y, new_y = train_test_split(*load_breast_cancer(return_X_y=True), random_state=1)
    model = BayesOptimalClassifier(PAIR).fit(learn_X, learn_y)
    each = [log_loss(new_y, estimator.predict_proba(new_X)) for estimator in model.estimators_]
    assert log_loss(new_y, model.predict_proba(new_X)) < min(each) + 0.01


# Rows of every kind.


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_tables_with_mixed_columns(kind):
    table = {"arrow": diabetes(), "pandas": diabetes().to_pandas(), "polars": pl.from_arrow(diabetes())}[kind]
    members = [("all", NaiveBayes()), ("some", NaiveBayes(dict.fromkeys(("age", "sex", "s1"), "ignore")))]
    model = BayesOptimalClassifier(members, folds=3).fit(table, "progression")
    assert model.score(table, "progression") > 0.7
    assert model.predict(table).shape == (442,)  # the label may stay in the table
    row = {"bmi": 40.0, "s5": 6.0}
    parts = [estimator.explain(row).posterior for estimator in model.estimators_]
    wanted = sum(weight * part for weight, part in zip(model.weights_.values(), parts))
    np.testing.assert_allclose(model.explain(row).posterior, wanted, rtol=1e-12)


def test_texts():
    texts = ["a fine film", "a dull film", "fine music here", "dull music here", "fine and good", "dull and bad"] * 3
    labels = ["good", "bad"] * 9
    members = [("words", NaiveBayes()), ("pairs", LanguageModelClassifier(2))]
    model = BayesOptimalClassifier(members, folds=3).fit(texts, labels)
    assert model.predict(["such a fine cast", "so dull"]).tolist() == ["good", "bad"]
    assert model.explain("so dull").prediction == "bad"


def test_sparse_rows():
    counts = csr_matrix(np.rint(X * 3))
    members = [("bayes", NaiveBayes()), ("logistic", LogisticRegression(C=0.1, max_iter=1000))]
    assert BayesOptimalClassifier(members).fit(counts, Y).score(counts, Y) > 0.9


def test_lists_of_rows_and_frames_of_scikit_learn():
    assert BayesOptimalClassifier(PAIR).fit(X.tolist(), Y.tolist()).weights_["bayes"] > 0
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = BayesOptimalClassifier(PAIR).fit(frame, Y)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.explain(dict(zip("abcd", X[0]))).prediction == 0


# At work.


def test_grid_search_reaches_into_the_members():
    grid = {"logistic__logisticregression__C": [1e-4, 1.0]}
    search = GridSearchCV(BayesOptimalClassifier(PAIR[1:]), grid, cv=2, scoring="neg_log_loss").fit(X, Y)
    assert search.best_params_["logistic__logisticregression__C"] == 1.0


def test_a_model_can_be_pickled_with_its_trace(iris):
    again = pickle.loads(pickle.dumps(iris))
    np.testing.assert_array_equal(again.predict_proba(X), iris.predict_proba(X))
    assert len(again.hypotheses_.trace) == 151


def test_explaining_shows_weights_votes_and_sums(iris):
    vote = iris.explain(X[75])
    np.testing.assert_allclose(vote.posterior, iris.predict_proba(X[75:76])[0], rtol=1e-12)
    shown = vote.to_dict()
    assert [each["name"] for each in shown["votes"]] == ["bayes", "logistic"]
    assert shown["prediction"] == vote.prediction == iris.predict(X[75:76])[0]
    lines = str(vote).splitlines()
    assert lines[2].split()[:2] == ["bayes", f"{iris.weights_['bayes']:.6f}"]
    assert lines[-2].split()[0] == "sum"
    assert lines[-1] == f"→ 1, with probability {vote.posterior.max():.6f}"
    assert "<strong>1, with" in vote._repr_html_()


def test_of_many_classes_the_probable_ones_are_shown():
    y = np.arange(160) % 8
    model = BayesOptimalClassifier([("dummy", DummyClassifier())]).fit(np.zeros((160, 1)), y)
    assert "(2 less probable classes are not shown; together 0.25)" in str(model.explain([0.0]))


# Bad input.


@pytest.mark.parametrize("name", ["partial_fit", "forget", "merge"])
def test_what_cannot_be_done_is_not_there_and_says_why(iris, name):
    assert not hasattr(iris, name)
    refused(lambda: getattr(iris, name)(X, Y), RefusedError, f"cannot {name}", "fit it on all the rows together")
    with pytest.raises(AttributeError, match="no attribute 'forgte'"):
        _ = iris.forgte


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"estimators": None}, KindError, ["estimators", "NoneType"]),
        ({"estimators": []}, InputError, ["estimators is empty"]),
        ({"estimators": [OurGaussianNB()]}, KindError, ["(name, classifier)", "GaussianNB"]),
        (
            {"estimators": [("a", OurGaussianNB()), ("a", OurGaussianNB())]},
            InputError,
            ["'a' in estimators is there twice"],
        ),
        ({"estimators": [("svm", LinearSVC())]}, KindError, ["'svm'", "LinearSVC", "CalibratedClassifierCV"]),
        ({"folds": 1}, InputError, ["folds", "is 1; it must be at least 2"]),
        ({"folds": None}, KindError, ["folds", "prefit"]),
        ({"folds": "five"}, KindError, ["folds", "'five'", "prefit"]),
        ({"folds": 151}, InputError, ["151 folds", "n_samples=150"]),
        ({"priors": [0.5, 0.5]}, KindError, ["priors", "list"]),
        ({"priors": {"bayes": 0.5, "logistic": 0.4}}, InputError, ["the priors sum to 0.9"]),
        ({"priors": {"bayes": 0.5, "logistics": 0.5}}, InputError, ["'logistics'", "did you mean 'logistic'?"]),
    ],
)
def test_bad_parameters_are_refused(parameters, kind, words):
    refused(lambda: BayesOptimalClassifier(**{"estimators": PAIR, **parameters}).fit(X, Y), kind, *words)


def test_if_every_classifier_is_refuted_the_rows_are_named():
    members = [("no", Fixed(chances=(1.0, 0.0))), ("yes", Fixed(chances=(0.0, 1.0)))]
    model = BayesOptimalClassifier(members, folds=2)
    refused(
        lambda: model.fit(np.zeros((4, 1)), [0, 0, 1, 1]), InputError, "'no' that of row 2 (1)", "'yes' that of row 0"
    )
    assert not hasattr(model, "weights_")


def test_a_label_that_no_fitted_classifier_knows_is_named():
    fitted = [("bayes", OurGaussianNB().fit(X, Y))]
    model = BayesOptimalClassifier(fitted, folds="prefit")
    refused(lambda: model.fit(X[:3], [0, 0, 7]), InputError, "row 2 (7)")


def test_bad_rows_leave_a_fitted_model_as_it_was():
    model = BayesOptimalClassifier(PAIR).fit(X, Y)
    before = model.predict_proba(X)
    for rows, y in ((X[:5], Y[:4]), (X[:3], [0, 1, 2]), (X, None), (np.where(X > 7, np.nan, X), Y)):
        with pytest.raises(ValueError, match=r".+"):
            model.fit(rows, y)
        np.testing.assert_array_equal(model.predict_proba(X), before)


def test_bad_questions_are_refused(iris):
    with pytest.raises(NotFittedError):
        BayesOptimalClassifier(PAIR).predict(X)
    with pytest.raises(NotFittedError):
        BayesOptimalClassifier([("a", OurGaussianNB())], folds="prefit").fit(X, Y)
    refused(lambda: iris.explain({"a": 1}), KindError, "mapping", "column names")
    named = BayesOptimalClassifier([("a", NaiveBayes())]).fit(play_tennis(), "Play")
    refused(lambda: named.explain({"Outlok": "Rain"}), InputError, "'Outlok'", "did you mean 'Outlook'?")


# Files, weights and the command.

OURS = [("all", NaiveBayes()), ("tree", NetworkClassifier("tan")), ("two", NaiveBayes({"bmi": "ignore"}))]


def test_a_vote_of_our_models_is_saved_with_its_weights(tmp_path):
    model = BayesOptimalClassifier(OURS, priors={"all": 0.5, "tree": 0.25, "two": 0.25}).fit(diabetes(), "progression")
    store.save(model, tmp_path / "vote.ingenuo")
    again = store.load(tmp_path / "vote.ingenuo")
    assert again.weights_ == pytest.approx(model.weights_, rel=1e-12)
    assert again.log_likelihoods_ == pytest.approx(model.log_likelihoods_)
    assert again.get_params(deep=False)["priors"] == model.priors
    np.testing.assert_allclose(again.predict_proba(diabetes()), model.predict_proba(diabetes()), rtol=1e-12)
    assert str(again.explain({"bmi": 27.0})) == str(model.explain({"bmi": 27.0}))
    assert len(again.hypotheses_.trace) == 2  # all the rows in one step
    store.save(again, tmp_path / "again.ingenuo")
    assert store.load(tmp_path / "again.ingenuo").weights_ == again.weights_
    refused(lambda: again.partial_fit(diabetes(), "progression"), RefusedError, "cannot partial_fit")
    refused(lambda: again.sample, RefusedError, "draw from one of its classifiers")


def test_a_vote_with_a_strange_classifier_cannot_be_saved(iris, tmp_path):
    refused(lambda: store.save(iris, tmp_path / "x.ingenuo"), KindError, "cannot be saved")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "value"),
    [("names", ["all", "tree"]), ("names", ["all", "all", "two"]), ("logs", [0.5, 0.0, 0.0]), ("logs", [-1.0]),
     ("voters", []), ("logs", [{"!": "float", "value": "-inf"}] * 3), ("settings", {"!": "mapping", "items": []})],
)  # fmt: skip
def test_a_forged_vote_is_refused(name, value, tmp_path):
    model = BayesOptimalClassifier(OURS).fit(diabetes(), "progression")
    manifest, tensors = model.state()
    container.write_file(tmp_path / "x.ingenuo", {**manifest, name: value}, tensors)
    refused(lambda: store.load(tmp_path / "x.ingenuo"), ModelFileError, "no model that this version can build")


def test_weights_are_how_often_a_row_counts():
    rows, times = diabetes().slice(0, 120), np.tile([0, 1, 2], 40)
    fitted = [(name, model.fit(diabetes().slice(120), "progression")) for name, model in (
        ("all", NaiveBayes()), ("two", NaiveBayes({"bmi": "ignore"})))]  # fmt: skip
    weighted = BayesOptimalClassifier(fitted, folds="prefit").fit(rows, "progression", times)
    repeated = BayesOptimalClassifier(fitted, folds="prefit").fit(
        rows.take(np.repeat(np.arange(120), times)), "progression"
    )
    assert weighted.log_likelihoods_ == pytest.approx(repeated.log_likelihoods_)
    assert weighted.tally_ == repeated.tally_
    both = BayesOptimalClassifier([("all", NaiveBayes()), ("two", NaiveBayes({"bmi": "ignore"}))], 3)
    assert both.fit(rows, "progression", times).log_likelihoods_ != both.fit(rows, "progression").log_likelihoods_


def test_the_vote_from_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(diabetes(), "ill.csv")
    spec = "bayes-optimal:estimators=naive-bayes+network:structure=kdb;k=1,folds=3"

    def run(*arguments):
        return CliRunner().invoke(main, list(arguments))

    assert run("train", "ill.csv", "--target", "progression", "--model", spec, "-o", "v.ingenuo").exit_code == 0
    wanted = BayesOptimalClassifier([("naive-bayes", NaiveBayes()), ("k", NetworkClassifier("kdb", k=1))], 3)
    wanted = wanted.fit(diabetes(), "progression")
    loaded = store.load("v.ingenuo")
    assert list(loaded.weights_) == ["naive-bayes", "network:structure=kdb;k=1"]
    assert list(loaded.weights_.values()) == pytest.approx(list(wanted.weights_.values()))
    explained = run("explain", "v.ingenuo", "--row", "bmi=27, s5=4.6").stdout
    assert explained.splitlines()[-1].startswith("→ ")
    assert "network:structure=kdb;k=1" in explained
    answers = run("predict", "v.ingenuo", "ill.csv", "--only").stdout.splitlines()[1:]
    assert [line.split(",")[0] for line in answers] == wanted.predict(diabetes()).tolist()
    assert run("evaluate", "v.ingenuo", "ill.csv").exit_code == 0
    assert "log-likelihood" in run("inspect", "v.ingenuo").stdout
    default = run("train", "ill.csv", "--target", "progression", "--model", "bayes-optimal", "-o", "d.ingenuo")
    assert default.exit_code == 0, default.output
    assert list(store.load("d.ingenuo").weights_) == ["naive-bayes", "network", "softmax"]
    for bad, said in (
        ("estimators=naive-bayes+naive-bayes", "named twice"),
        ("estimators=naive-bayse", "did you mean 'naive-bayes'"),
        ("estimators=language-model", "gives no probabilities"),
        ("folds=1", "folds"),
    ):
        failed = run(
            "train", "ill.csv", "--target", "progression", "--model", f"bayes-optimal:{bad}", "-o", "x.ingenuo"
        )
        assert failed.exit_code == 1
        assert said in failed.stderr
        assert not (tmp_path / "x.ingenuo").exists()
    drawn = run("generate", "v.ingenuo")
    assert drawn.exit_code == 1
    assert "draw from one of its classifiers" in drawn.stderr
