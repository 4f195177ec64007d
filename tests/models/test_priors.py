"""Priors by name, parameters of parameters, weights of classes: from Python, scikit-learn's search and the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.class_weight import compute_class_weight
from tests.laws.test_doors import COUNTS, FRAME, MIXED

import ingenuo as ing
from ingenuo.cli.work.train import model_and_kinds
from ingenuo.datasets import play_tennis
from ingenuo.errors import InputError, KindError, RefusedError
from ingenuo.models.registry import build
from ingenuo.tally.prior import prior_of

DAYS = play_tennis()
ROWS = FRAME[[*MIXED, "paid"]]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("laplace", ing.Laplace()),
        ("laplace,variance_floor=.01", ing.Laplace(variance_floor=0.01)),
        ("maximum-likelihood", ing.MaximumLikelihood()),
        (0.5, ing.Lidstone(0.5)),
        (np.float64(2), ing.Lidstone(2.0)),
        ("lidstone:1/2", ing.Lidstone(0.5)),
        ("lidstone:.5,variance-floor=1e-3", ing.Lidstone(0.5, variance_floor=1e-3)),
        ("m-estimate:3", ing.MEstimate(3.0)),
        ("m-estimate:3,Sunny=.5,Rain=1/2", ing.MEstimate(3.0, {"Sunny": 0.5, "Rain": 0.5})),
        ("dirichlet:2", ing.Dirichlet(2.0)),
        ("dirichlet:Sunny=2,Rain=3", ing.Dirichlet({"Sunny": 2.0, "Rain": 3.0})),
        ("dirichlet:a=b=2", ing.Dirichlet({"a=b": 2.0})),
    ],
)
def test_a_prior_by_name_or_number_is_the_prior(given: Any, wanted: ing.Laplace) -> None:
    assert prior_of(given) == wanted
    by_name, by_hand = (ing.NaiveBayes(prior=each).fit(ROWS, "paid") for each in (given, wanted))
    assert by_name.predict_proba(ROWS).tolist() == by_hand.predict_proba(ROWS).tolist()
    assert by_name.prior is given  # as scikit-learn wants it


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("lapace", "did you mean 'laplace'"),
        ("lidstone", "is no prior"),
        ("lidstone:1,a=2", "is no prior"),
        ("laplace:2", "is no prior"),
        ("m-estimate:3,4", "is no prior"),
        ("m-estimate:x", "'x' in 'm-estimate:x' is no number"),
        ("m-estimate:3,Sunny=1/0", "'1/0' in 'm-estimate:3,Sunny=1/0' is no number"),
        ("m-estimate:3,Sunny=.2", "sum to 0.2; they must sum to 1"),
        ("dirichlet:.5", "at least 1"),
        (-1.0, "alpha must be finite and not negative"),
        (None, "prior must be a Prior such as Laplace\\(\\), its name, or a number"),
        (True, "prior must be a Prior"),
    ],
)
def test_what_is_no_prior_is_refused_before_any_work(given: Any, says: str) -> None:
    with pytest.raises((InputError, KindError), match=says):
        ing.NaiveBayes(prior=given).fit(ROWS, "paid")


@pytest.mark.parametrize("model", [ing.NaiveBayes, ing.NetworkClassifier, ing.NaiveBayesRegressor])
def test_every_model_with_a_prior_takes_its_name(model: Any) -> None:
    target = "price" if model is ing.NaiveBayesRegressor else "paid"
    rows = FRAME[["size", "town", target]]
    one, two = (model(prior=each).fit(rows, target) for each in ("lidstone:3", ing.Lidstone(3.0)))
    assert one.predict(rows).tolist() == two.predict(rows).tolist()


# The classes.


def test_given_shares_of_the_classes_by_text_mapping_or_all_the_same() -> None:
    row = {"Outlook": "Sunny"}

    def prior(given: Any) -> list[float]:
        found = ing.NaiveBayes(class_prior=given).fit(DAYS, "Play").explain(row)
        return [term.value for term in found.prior.terms]

    assert prior("No=.25,Yes=.75") == prior({"No": 0.25, "Yes": 0.75}) == [0.25, 0.75]
    assert prior("uniform") == [0.5, 0.5]
    assert prior("laplace") == prior(ing.Laplace()) == [6 / 16, 10 / 16]
    assert ing.NaiveBayes(class_prior="uniform").fit(DAYS, "Play").explain(row).prior.terms[0].how == "1/2"
    for model in (ing.GaussianDiscriminant, ing.LanguageModelClassifier):
        X: Any = [[0.0], [1.0], [1.5]] if model is ing.GaussianDiscriminant else ["a b", "a c", "b c"]
        same = [model(class_prior=each).fit(X, [0, 1, 1]).predict_proba(X) for each in ("uniform", {0: 0.5, 1: 0.5})]
        assert np.array_equal(*same)
    with pytest.raises(InputError, match=r"no probability for class 'Yes'.*did you mean 'yes'"):
        prior({"No": 0.25, "yes": 0.75})
    with pytest.raises(InputError, match=r"sum to 0\.5"):
        prior("No=.25,Yes=.25")
    with pytest.raises(KindError, match="class_prior must be a Prior"):
        prior(0.5)


def test_classes_that_are_numbers_may_be_given_as_text() -> None:
    model = ing.NaiveBayes(class_prior="0=.25,1=.75").fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert np.exp(model.class_log_prior_).round(12).tolist() == [0.25, 0.75]


def test_the_same_shares_serve_rows_that_are_left_out() -> None:
    for given in ("uniform", {"no": 0.3, "yes": 0.7}):
        quick = ing.cross_validate(ing.NaiveBayes(class_prior=given), ROWS[:40], "paid", folds="leave-one-out")
        model = ing.NaiveBayes(class_prior=given).fit(ROWS[1:40], "paid")
        assert np.allclose(quick.probabilities[0], model.predict_proba(ROWS[:1])[0], rtol=1e-12)


# scikit-learn's parameters of parameters.


def test_parameters_of_priors_and_words_are_reached_and_nothing_shared_is_changed() -> None:
    model = ing.NaiveBayes()
    assert model.get_params()["prior__alpha"] == 1.0
    assert model.set_params(prior__alpha=0.25, prior__variance_floor=0.1, text__binary=True) is model
    assert model.prior == ing.Lidstone(0.25, variance_floor=0.1)
    assert model.text == ing.Words(binary=True)
    assert ing.NaiveBayes().prior == ing.Laplace()
    model.set_params(prior="m-estimate:3", prior__m=5, text=ing.Words(ngrams=(1, 2)), text__stem="english")
    assert model.prior == ing.MEstimate(5)
    assert model.text == ing.Words(ngrams=(1, 2), stem="english")
    assert model.set_params(class_prior=ing.Lidstone(2.0), class_prior__alpha=3.0).class_prior == ing.Lidstone(3.0)
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    with pytest.raises(InputError, match=r"MEstimate has no parameter 'alpha'; known: m, weights"):
        model.set_params(prior__alpha=1)
    with pytest.raises(ValueError, match="nothing"):
        model.set_params(nothing__alpha=1)


def test_a_fitted_model_answers_by_the_prior_that_was_set_later() -> None:
    model = ing.NaiveBayes().fit(ROWS, "paid").set_params(prior__alpha=7.0)
    assert (
        model.predict_proba(ROWS).tolist() == ing.NaiveBayes(prior=7.0).fit(ROWS, "paid").predict_proba(ROWS).tolist()
    )


def test_grid_search_goes_over_parameters_of_priors_and_words() -> None:
    X, y = ROWS.drop(columns="paid"), ROWS["paid"]
    grid = {"prior__alpha": [0.01, 1.0, 50.0], "text__binary": [False, True]}
    found = GridSearchCV(ing.NaiveBayes(), grid, cv=3, scoring="neg_log_loss", error_score="raise").fit(X, y)
    scores = found.cv_results_["mean_test_score"]
    assert len(set(scores.round(9))) == 6
    best = found.best_estimator_
    assert (best.prior.alpha, best.text.binary) == (
        found.best_params_["prior__alpha"],
        found.best_params_["text__binary"],
    )
    piped = GridSearchCV(make_pipeline(ing.NaiveBayes()), {f"naivebayes__{k}": v for k, v in grid.items()}, cv=3,
                         scoring="neg_log_loss", error_score="raise").fit(X, y)  # fmt: skip
    assert piped.cv_results_["mean_test_score"].tolist() == scores.tolist()


# Weights of classes.


def weights_of(y: Any, given: Any) -> np.ndarray:
    """The weight of each row as scikit-learn means it."""
    classes = np.unique(y)
    return compute_class_weight(given, classes=classes, y=y)[np.searchsorted(classes, y)]


@pytest.mark.parametrize("given", ["balanced", {"no": 0.3, "yes": 4.0}, {"yes": 3}])
@pytest.mark.parametrize("numbers", ["gaussian", "histogram", "kernel", "gaussian-full"])
def test_a_class_weight_is_the_weight_of_its_rows(given: Any, numbers: str) -> None:
    rows = ROWS[(ROWS["paid"] == "yes") | (np.arange(len(ROWS)) % 3 == 0)]
    X, y = rows.drop(columns="paid"), rows["paid"].to_numpy()
    settings: dict[str, Any] = {"columns": {"note": "text"}, "numbers": numbers}
    model = ing.NaiveBayes(**settings, class_weight=given).fit(X, y)
    wanted = ing.NaiveBayes(**settings).fit(X, y, sample_weight=weights_of(y, given))
    assert np.allclose(model.predict_log_proba(X), wanted.predict_log_proba(X), rtol=1e-9, atol=1e-12)
    assert not np.allclose(model.predict_proba(X), ing.NaiveBayes(**settings).fit(X, y).predict_proba(X))
    assert model.class_count_.tolist() == ing.NaiveBayes(**settings).fit(X, y).class_count_.tolist()  # of rows
    model.set_params(class_weight=None)
    assert model.predict_proba(X).tolist() == ing.NaiveBayes(**settings).fit(X, y).predict_proba(X).tolist()


@pytest.mark.parametrize("counts", ["multinomial", "complement", "bernoulli"])
def test_class_weights_of_counts(counts: str) -> None:
    X, y = COUNTS.drop(columns="paid").to_numpy(), COUNTS["paid"].to_numpy()
    settings: dict[str, Any] = {"columns": dict.fromkeys(range(3), "count"), "counts": counts}
    if counts == "bernoulli":
        X = np.minimum(X, 1)
    given = {"no": 2, "yes": 5}
    model = ing.NaiveBayes(**settings, class_weight=given).fit(X, y)
    wanted = ing.NaiveBayes(**settings).fit(X, y, sample_weight=weights_of(y, given))
    assert np.allclose(model.predict_log_proba(X), wanted.predict_log_proba(X), rtol=1e-12)


def test_balanced_classes_have_the_same_prior_whatever_is_learned_later() -> None:
    model = ing.NaiveBayes(class_weight="balanced").fit(ROWS[:200], "paid").partial_fit(ROWS[200:], "paid")
    assert np.exp(model.class_log_prior_).round(12).tolist() == [0.5, 0.5]
    whole = ing.NaiveBayes(class_weight="balanced").fit(ROWS, "paid")
    assert model.predict_proba(ROWS).tolist() == whole.predict_proba(ROWS).tolist()
    model.forget(ROWS[200:], "paid")
    first = ing.NaiveBayes(class_weight="balanced").fit(ROWS[:200], "paid")
    assert model.predict_proba(ROWS).tolist() == first.predict_proba(ROWS).tolist()


def test_rows_that_are_left_out_are_answered_with_class_weights() -> None:
    rows = ROWS[:60]
    given = ing.NaiveBayes(class_weight="balanced")
    found = ing.cross_validate(given, rows, "paid", folds="leave-one-out").probabilities
    for row in (0, 17, 59):
        model = clone(given).fit(rows.drop(index=row), "paid")
        assert np.allclose(found[row], model.predict_proba(rows.loc[[row]])[0], rtol=1e-9)


def test_tuned_and_calibrated_models_have_class_weights() -> None:
    rows, given = ROWS.drop(columns="note"), {"no": 1, "yes": 5}
    settings: dict[str, Any] = {"tune": True, "calibration": "temperature"}
    model = ing.NaiveBayes(**settings, class_weight=given).fit(rows, "paid")
    X, y = rows.drop(columns="paid"), rows["paid"].to_numpy()
    wanted = ing.NaiveBayes(**settings).fit(X, y, sample_weight=weights_of(y, given))
    assert np.allclose(model.predict_proba(X), wanted.predict_proba(X), rtol=1e-6)


def test_bad_class_weights_are_refused() -> None:
    for given, says in (
        ("equal", "class_weight='equal' is not known"),
        (3.0, "class_weight must be one of balanced"),
        ({"no": -1}, "class_weight of 'no' is -1"),
        ({"maybe": 1.0}, "class_weight has a class 'maybe' that was not learned"),
    ):
        with pytest.raises((InputError, KindError), match=says):
            ing.NaiveBayes(class_weight=given).fit(ROWS, "paid").predict(ROWS)  # type: ignore[arg-type]
    shared = ing.NaiveBayes(numbers="gaussian-shared", class_weight="balanced").fit(
        FRAME[["size", "age", "paid"]], "paid"
    )
    with pytest.raises(RefusedError, match="sample_weight"):
        shared.predict(FRAME[["size", "age"]])


@pytest.mark.parametrize(
    "bad", [{"class_prior": "Yes=.5,Nope=.5"}, {"prior": "m-estimate:3,Suny=1"}, {"class_weight": {"Nope": 2}}]
)
def test_what_does_not_fit_the_rows_is_refused_when_they_are_learned(bad: dict[str, Any]) -> None:
    model = ing.NaiveBayes(**bad)
    with pytest.raises(InputError, match=r"Nope|Suny|'No'"):
        model.fit(DAYS, "Play")
    assert not hasattr(model, "tally_")  # so the command writes no model that nobody can load


# The command.


def test_the_command_reads_priors_as_they_are_typed_or_from_a_file(tmp_path: Path) -> None:
    def settings(**given: str) -> Any:
        return model_and_kinds("naive-bayes", {}, **given)[0]

    assert settings(prior="m-estimate:3,Sunny=.5,Rain=.5").prior == ing.MEstimate(3, {"Sunny": 0.5, "Rain": 0.5})
    assert settings(class_prior="Yes=.5,No=.5").class_prior == {"Yes": 0.5, "No": 0.5}
    assert settings(class_prior="uniform").class_prior == "uniform"
    path = tmp_path / "prior.yaml"
    path.write_text("name: m-estimate\nm: 3\nweights:\n  Outlook: {Sunny: 1/2, Rain: .5}\nvariance_floor: 0.01\n")
    wanted = ing.MEstimate(3, {"Outlook": {"Sunny": 0.5, "Rain": 0.5}}, variance_floor=0.01)
    assert settings(prior=str(path)).prior == wanted
    path.write_text("Yes: .25\nNo: 3/4\n")
    assert settings(class_prior=str(path)).class_prior == {"Yes": 0.25, "No": 0.75}
    path.write_text("name: lidstone\nalpha: 2\n")
    assert settings(class_prior=str(path)).class_prior == ing.Lidstone(2)
    for text, says in (
        ("name: lidston\n", "a prior has a name; did you mean 'lidstone'"),
        ("name: lidstone\nalfa: 2\n", "the prior lidstone has no 'alfa'; did you mean 'alpha'"),
        ("name: lidstone\nalpha: much\n", "'much' in 'alpha' is no number"),
        ("- 3\n", "prior must be a Prior"),
    ):
        path.write_text(text)
        with pytest.raises((InputError, KindError), match=says):
            settings(prior=str(path))
    with pytest.raises(FileNotFoundError, match="no such file"):
        settings(prior=str(tmp_path / "other.yaml"))
    assert build("network", {"prior": "dirichlet:2"}).prior == ing.Dirichlet(2)


def test_a_prior_on_values_that_no_column_has_is_refused() -> None:
    with pytest.raises(InputError, match=r"'Suny'.*no column has.*did you mean 'Sunny'"):
        ing.NaiveBayes(prior="m-estimate:3,Suny=1").fit(DAYS, "Play").predict(DAYS.drop_columns("Play"))
    model = ing.NaiveBayes(prior="m-estimate:3,Sunny=.5,Fog=.5").fit(DAYS, "Play")  # Fog may come
    assert "Fog" in str(ing.explain(model, {"Outlook": "Fog"}))


def test_an_array_is_answered_by_a_model_of_named_columns() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    model = ing.NaiveBayes().fit(frame, [0, 0, 1, 1])
    with pytest.warns(UserWarning, match="feature names"):
        assert model.predict(frame.to_numpy()).tolist() == model.predict(frame).tolist()
