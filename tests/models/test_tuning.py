"""`tune=True`: what it says is what happened; copies of a column and noise do no harm; the settings stay."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV

import ingenuo as ing
from ingenuo import store
from ingenuo.errors import InputError, KindError, ModelFileError
from ingenuo.models.tuning import DENSITIES
from ingenuo.tally import container

FLOWERS, SPECIES = load_iris(return_X_y=True)


def _rows(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A number, a category, a text and two counts that know something of the class; some cells are missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + y),
            "colour": pd.Series(np.array(["red", "green", "blue"])[(y + (rng.random(n) < 0.4)) % 3]).where(
                rng.random(n) > 0.1
            ),
            "noise": rng.choice(["heads", "tails"], n),
            "text": [" ".join(rng.choice([f"w{k}", "a1", "b2", "c3"], rng.integers(1, 6))) for k in y],
            "n1": rng.poisson(1 + y),
            "n2": rng.poisson(3 - y),
        }
    )
    return table, np.array(["a", "b", "c"])[y]


TABLE, LABELS = _rows()
KINDS = {"x": "number", "colour": "category", "noise": "category", "text": "text", "n1": "count", "n2": "count"}
GAUSSIAN = {"x": "gaussian"}  # named, so that no other density is tried


def copies(n: int, times: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One column that knows the class fairly well, so often."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.repeat((rng.normal(size=n) + y)[:, np.newaxis], times, axis=1), y


def by_hand(model: Any, table: pd.DataFrame, y: np.ndarray, weights: Any = None) -> float:
    """The log loss of every row by models refitted, one for each attribute, with the settings that were chosen."""
    n, classes = len(y), model.classes_
    rows = np.ones(n) if weights is None else weights
    losses = np.empty(n)
    for row in range(n):
        rest = np.delete(np.arange(n), row)
        left = np.array([rows[rest][y[rest] == label].sum() for label in classes])
        joint = np.log(left / left.sum()) + model.tuning_.shifts
        for attribute in model.tuning_.attributes:
            if not attribute.weight:
                continue
            names = attribute.columns.tolist()
            alone = ing.NaiveBayes(
                {name: KINDS[name] for name in names}, prior=attribute.prior, numbers="gaussian",
                class_prior=dict.fromkeys(classes, 1 / len(classes)),
            ).fit(table[names].iloc[rest], y[rest], None if weights is None else weights[rest])  # fmt: skip
            own = alone.predict_joint_log_proba(table[names].iloc[[row]])[0]
            weight = attribute.weight
            if attribute.exponent:
                known = (
                    {word for text in table["text"].iloc[rest] for word in text.split()} if names == ["text"] else ()
                )
                length = (
                    sum(word in known for word in table["text"].iloc[row].split())
                    if names == ["text"]
                    else table[names].iloc[row].sum()
                )
                weight *= ((1 + length) / attribute.typical) ** -attribute.exponent
            joint = joint + weight * own
        losses[row] = np.log(np.exp(joint - joint.max()).sum()) + joint.max() - joint[classes.tolist().index(y[row])]
    return float(rows @ losses / rows.sum())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("names", [["x"], ["colour", "noise"], ["text"], ["n1", "n2"], list(KINDS)], ids="-".join)
def test_the_log_loss_it_states_is_that_of_models_fitted_anew(names: list[str], weighted: bool) -> None:
    table, y = TABLE[names].iloc[:50], LABELS[:50]
    weights = np.random.default_rng(1).integers(1, 4, 50).astype(float) if weighted else None
    columns = {name: KINDS[name] for name in names}
    model = ing.NaiveBayes(columns, tune=True, numbers=GAUSSIAN if "x" in names else "gaussian").fit(table, y, weights)
    assert model.tuning_.after == pytest.approx(by_hand(model, table, y, weights), rel=1e-9)
    assert model.tuning_.rows == 50


def test_what_there_was_before_is_the_leave_one_out_of_the_plain_model() -> None:
    table, y = TABLE.iloc[:80], LABELS[:80]
    model = ing.NaiveBayes(KINDS, tune=True).fit(table, y)
    found = ing.cross_validate(ing.NaiveBayes(KINDS), table, y, "leave-one-out").probabilities
    assert model.tuning_.before == pytest.approx(log_loss(y, found), rel=1e-9)
    assert model.tuning_.gained == model.tuning_.before - model.tuning_.after
    assert model.tuning_.gained > 0


def test_what_each_attribute_says_alone_is_its_leave_one_out() -> None:
    table, y = TABLE[["colour", "noise"]].iloc[:60], LABELS[:60]
    model = ing.NaiveBayes({"colour": "category", "noise": "category"}, tune=True).fit(table, y)
    for attribute, loss in zip(model.tuning_.attributes, model.tuning_.alone, strict=True):
        names = attribute.columns.tolist()
        plain = ing.NaiveBayes({names[0]: "category"}, prior=attribute.prior)
        found = ing.cross_validate(plain, table[names], y, "leave-one-out").probabilities
        assert loss == pytest.approx(log_loss(y, found), rel=1e-9)
        for alpha in (0.1, 0.5, 1.0, 3.0):  # and no other smoothing does better
            other = clone(plain).set_params(prior=ing.Lidstone(alpha))
            found = ing.cross_validate(other, table[names], y, "leave-one-out").probabilities
            assert loss <= log_loss(y, found) + 1e-8


def test_ten_copies_of_a_column_ruin_plain_naive_bayes_and_not_the_tuned_one() -> None:
    X, y = copies(400, 10, 0)
    fresh, truth = copies(4000, 10, 1)
    once = log_loss(truth, ing.NaiveBayes().fit(X[:, :1], y).predict_proba(fresh[:, :1]))
    plain = log_loss(truth, ing.NaiveBayes().fit(X, y).predict_proba(fresh))
    tuned = ing.NaiveBayes(tune=True).fit(X, y)
    assert plain > 2 * once
    assert log_loss(truth, tuned.predict_proba(fresh)) < once + 0.02
    assert sum(tuned.tuning_.weights.values()) < 2


def test_columns_that_know_nothing_have_little_weight() -> None:
    X, y = copies(1000, 1, 0)
    noise = np.random.default_rng(7).normal(size=(1000, 8))
    weights = ing.NaiveBayes(tune=True).fit(np.hstack([X, noise]), y).tuning_.weights
    assert weights[0] > 0.8
    assert np.mean([weights[j] for j in range(1, 9)]) < 0.5 * weights[0]


def test_it_does_no_worse_on_rows_never_seen() -> None:
    fresh, truth = _rows(2000, 1)
    plain = ing.NaiveBayes(KINDS).fit(TABLE, LABELS)
    tuned = ing.NaiveBayes(KINDS, tune=True).fit(TABLE, LABELS)
    assert log_loss(truth, tuned.predict_proba(fresh)) < log_loss(truth, plain.predict_proba(fresh)) + 0.01


def test_a_density_that_fits_is_found() -> None:
    """Two humps beside one: a Gaussian with a large variance cannot tell them as a histogram can."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    x = np.where(y == 0, rng.normal(0, 0.5, 600), rng.choice([-3.0, 3.0], 600) + rng.normal(0, 0.5, 600))
    model = ing.NaiveBayes(tune=True).fit(x[:, np.newaxis], y)
    assert model.tuning_.attributes[0].family in DENSITIES
    assert model.tuning_.attributes[0].family != "gaussian"
    assert model.tuning_.after < model.tuning_.before / 2


def test_it_is_the_same_every_time() -> None:
    first, second = (ing.NaiveBayes(KINDS, tune=True).fit(TABLE, LABELS) for _ in range(2))
    assert first.predict_proba(TABLE).tobytes() == second.predict_proba(TABLE).tobytes()
    assert str(first.tuning_) == str(second.tuning_)


def test_the_order_of_the_columns_is_no_matter() -> None:
    first = ing.NaiveBayes(tune=True).fit(FLOWERS, SPECIES)
    second = ing.NaiveBayes(tune=True).fit(FLOWERS[:, ::-1], SPECIES)
    np.testing.assert_allclose(first.predict_proba(FLOWERS), second.predict_proba(FLOWERS[:, ::-1]), atol=1e-3)
    assert [a.family for a in first.tuning_.attributes] == [a.family for a in second.tuning_.attributes][::-1]


def test_the_table_says_what_was_chosen() -> None:
    tuning = ing.NaiveBayes(KINDS, tune=True).fit(TABLE, LABELS).tuning_
    text = str(tuning)
    for attribute, loss in zip(tuning.attributes, tuning.alone, strict=True):
        (line,) = [line for line in text.splitlines() if line.startswith(f"{attribute.called} ")]
        assert attribute.family in line
        assert f"{loss:.4f}" in line
        assert ("left out" in line) == (attribute.weight == 0)
    assert f"{tuning.before:.4f} before, {tuning.after:.4f} tuned" in text
    assert repr(tuning) == text


def test_the_densities_are_those_that_were_chosen() -> None:
    model = ing.NaiveBayes(tune=True).fit(FLOWERS, SPECIES)
    for attribute in model.tuning_.attributes:
        (name,) = attribute.columns.tolist()
        assert model.densities_[name].density == attribute.family


def test_pictures_and_samples_are_of_the_tuned_model() -> None:
    model = ing.NaiveBayes(tune=True).fit(FLOWERS, SPECIES)
    assert model.plot(2).figure is not None
    rows, drawn = model.sample(2000, random_state=0)
    values = np.asarray(rows, float).reshape(2000, -1)
    assert values.shape == (2000, 4)
    for k in range(3):
        np.testing.assert_allclose(
            np.median(values[drawn == k], axis=0), np.median(FLOWERS[k == SPECIES], axis=0), atol=0.35
        )


# Explanations.


@pytest.mark.parametrize("row", [0, 7, 33])
def test_the_terms_shown_multiply_to_the_joint_and_end_at_the_prediction(row: int) -> None:
    model = ing.NaiveBayes(KINDS, tune=True).fit(TABLE, LABELS)
    asked = TABLE.iloc[[row]]
    shown = model.explain(asked)
    terms = sum(
        np.array([term.log for term in factor.terms]) for factor in (shown.prior, *shown.factors) if factor.terms
    )
    np.testing.assert_allclose(terms, shown.joint, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(shown.posterior, model.predict_proba(asked)[0], rtol=1e-9)
    np.testing.assert_allclose(shown.joint, model.predict_joint_log_proba(asked)[0], rtol=1e-9)


def test_an_attribute_that_is_left_out_says_so_and_is_no_matter() -> None:
    X, y = copies(300, 8, 0)
    X = X + np.random.default_rng(3).normal(size=X.shape) * np.linspace(0, 2, 8)
    model = ing.NaiveBayes(tune=True).fit(X, y)
    out = [each.columns[0] for each in model.tuning_.attributes if not each.weight]
    assert 0 < len(out) < 8
    notes = {factor.column: factor.note for factor in model.explain(X[:1]).factors if factor.note}
    assert notes == {f"x{name}": "left out: weight 0" for name in out}
    changed = X.copy()
    changed[:, out] = 77.0
    assert np.array_equal(model.predict_proba(changed), model.predict_proba(X))


# Settings stay.


def settings(model: Any) -> Any:
    return [
        (a.columns.tolist(), a.family, a.prior, a.weight) for a in model.tuning_.attributes
    ], model.tuning_.shifts.tolist()


def test_what_was_tuned_stays_when_more_is_learned() -> None:
    model = ing.NaiveBayes(KINDS, tune=True).fit(TABLE[:120], LABELS[:120])
    before = settings(model)
    whole = ing.NaiveBayes(KINDS, tune=True).fit(TABLE, LABELS)
    model.partial_fit(TABLE[120:], LABELS[120:])
    assert settings(model) == before
    assert model.tally_ == whole.tally_
    more = model.predict_proba(TABLE)
    model.forget(TABLE[120:], LABELS[120:])
    assert settings(model) == before
    again = ing.NaiveBayes(KINDS, tune=True).fit(TABLE[:120], LABELS[:120])
    assert model.predict_proba(TABLE).tobytes() == again.predict_proba(TABLE).tobytes()
    merged = again.merge(ing.NaiveBayes(KINDS, tune=True).fit(TABLE[120:], LABELS[120:]))
    assert settings(merged) == before
    assert merged.predict_proba(TABLE).tobytes() == more.tobytes()


def test_a_class_that_comes_later_is_not_shifted() -> None:
    model = ing.NaiveBayes(tune=True).fit(FLOWERS[:100], SPECIES[:100]).partial_fit(FLOWERS[100:], SPECIES[100:])
    assert model.classes_.tolist() == [0, 1, 2]
    p = model.predict_proba(FLOWERS)
    assert np.isfinite(p).all()
    assert np.mean(p.argmax(axis=1) == SPECIES) > 0.9


def test_fitting_again_without_tune_forgets_what_was_tuned() -> None:
    model = ing.NaiveBayes(tune=True).fit(FLOWERS, SPECIES).set_params(tune=False).fit(FLOWERS, SPECIES)
    assert not hasattr(model, "tuning_")
    assert np.array_equal(model.predict_proba(FLOWERS), ing.NaiveBayes().fit(FLOWERS, SPECIES).predict_proba(FLOWERS))


# Priors and weights.


def test_priors_that_are_given_are_not_shifted() -> None:
    given = {"a": 0.5, "b": 0.3, "c": 0.2}
    model = ing.NaiveBayes(KINDS, class_prior=given, tune=True).fit(TABLE, LABELS)
    assert not model.tuning_.shifts.any()
    shown = model.explain(TABLE.iloc[[0]])
    assert [term.value for term in shown.prior.terms] == pytest.approx([0.5, 0.3, 0.2])
    assert ing.NaiveBayes(KINDS, tune=True).fit(TABLE, LABELS).tuning_.shifts.any()


def test_rows_without_weight_count_for_nothing() -> None:
    weights = (np.arange(240) < 150).astype(float)
    model = ing.NaiveBayes(KINDS, tune=True, numbers=GAUSSIAN).fit(TABLE, LABELS, weights)
    wanted = ing.NaiveBayes(KINDS, tune=True, numbers=GAUSSIAN).fit(TABLE[:150], LABELS[:150])
    assert model.tuning_.before == pytest.approx(wanted.tuning_.before, rel=1e-9)
    assert [a.prior for a in model.tuning_.attributes] == [a.prior for a in wanted.tuning_.attributes]
    # The folds by which the penalty is chosen are others, so the weights are alike and not the same.
    assert model.tuning_.after == pytest.approx(wanted.tuning_.after, abs=0.02)


@pytest.mark.parametrize(
    "numbers", ["histogram", "kernel", "gaussian-shared", "gaussian-full", "equal-mass-5", "mixture"]
)
def test_a_density_that_is_named_is_kept(numbers: str) -> None:
    model = ing.NaiveBayes(numbers=numbers, tune=True).fit(FLOWERS, SPECIES)
    assert {attribute.family for attribute in model.tuning_.attributes} == {numbers}
    assert model.score(FLOWERS, SPECIES) > 0.9


@pytest.mark.parametrize("counts", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize(
    "text",
    [ing.Words(), ing.Words(weighting="tfidf"), ing.Words(min_count=2, ngrams=(1, 2))],
    ids=["words", "tfidf", "pairs"],
)
def test_every_reading_of_texts_can_be_tuned(counts: str, text: ing.Words) -> None:
    if counts == "bernoulli":  # whether a word is there has no weight
        text = ing.Words(ngrams=text.ngrams, min_count=text.min_count)
    texts = TABLE["text"].tolist()
    model = ing.NaiveBayes(counts=counts, text=text, tune=True).fit(texts, LABELS)
    plain = ing.NaiveBayes(counts=counts, text=text).fit(texts, LABELS)
    assert model.tuning_.after <= model.tuning_.before + 1e-9
    assert model.score(texts, LABELS) >= plain.score(texts, LABELS) - 0.05


# scikit-learn's habits, and files.


def test_parameters_copies_and_searches() -> None:
    model = ing.NaiveBayes(tune=True, calibration="auto")
    assert clone(model).get_params()["tune"] is True
    model.fit(FLOWERS, SPECIES)
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert copied.predict_proba(FLOWERS).tobytes() == model.predict_proba(FLOWERS).tobytes()
    wine, made = load_wine(return_X_y=True)
    search = GridSearchCV(ing.NaiveBayes(), {"tune": [False, True]}, cv=3, scoring="neg_log_loss").fit(wine, made)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert len(set(search.cv_results_["mean_test_score"])) == 2


MODELS: dict[str, tuple[Any, Any, Any]] = {
    "mixed": (ing.NaiveBayes(KINDS, tune=True), TABLE, LABELS),
    "numbers": (ing.NaiveBayes(tune=True), FLOWERS, SPECIES),
    "with calibration": (ing.NaiveBayes(KINDS, tune=True, calibration="auto"), TABLE, LABELS),
    "together": (ing.NaiveBayes(numbers="gaussian-shared", tune=True), FLOWERS, SPECIES),
}


@pytest.mark.parametrize("name", MODELS)
def test_it_comes_back_from_a_file_to_the_last_bit(name: str, tmp_path: Path) -> None:
    model, X, y = MODELS[name]
    model = clone(model).fit(X, y)
    ing.save(model, tmp_path / "model")
    again = ing.load(tmp_path / "model")
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert str(again.tuning_) == str(model.tuning_)
    assert settings(again) == settings(model)
    assert again.tuning_.held_out == model.tuning_.held_out
    if model.calibration is None:
        first, second = (each.partial_fit(X, y).predict_proba(X) for each in (model, again))
        assert first.tobytes() == second.tobytes()


def _tuning(manifest: Any) -> Any:
    return dict(manifest["besides"]["items"])["tuning"]["items"]


def _attribute(manifest: Any, at: int = 0) -> Any:
    return dict(_tuning(manifest))["attributes"][at]["items"]


def _set(at: int, value: Any) -> Any:
    def change(manifest: Any, tensors: Any) -> None:
        _attribute(manifest)[at] = value

    return change


def _tensor(value: Any) -> Any:
    def change(manifest: Any, tensors: Any) -> None:
        tensors["besides/shifts"] = value

    return change


def _losses(manifest: Any, tensors: Any) -> None:
    next(each for each in _tuning(manifest) if each[0] == "losses")[1]["items"][3] = [0.5]


def _without_attributes(manifest: Any, tensors: Any) -> None:
    dict(_tuning(manifest))["attributes"].clear()


FORGERIES: dict[str, Any] = {
    "negative weight": _set(4, -0.5),
    "enormous weight": _set(4, 10**400),
    "weight that is a word": _set(4, "much"),
    "unknown family": _set(2, "poisson"),
    "family of another kind": _set(2, "categorical"),
    "unknown home": _set(1, "nowhere"),
    "home of another kind": _set(1, "words"),
    "wrong column": _set(0, ["no such column"]),
    "column that is none": _set(0, []),
    "prior that is none": _set(3, 1.0),
    "negative length": _set(5, -1.0),
    "negative exponent": _set(6, -1.0),
    "shifts that are none": _tensor(np.array([np.nan, 0.0, 0.0])),
    "infinite shifts": _tensor(np.array([np.inf, 0.0, 0.0])),
    "too few shifts": _tensor(np.zeros(2)),
    "shifts of whole numbers": _tensor(np.zeros(3, np.int64)),
    "too few losses": _losses,
    "no attributes": _without_attributes,
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_settings_are_refused(name: str) -> None:
    model = ing.NaiveBayes(KINDS, tune=True).fit(TABLE, LABELS)
    manifest, tensors = container.from_bytes(store.to_bytes(model))
    manifest, tensors = copy.deepcopy(manifest), dict(tensors)
    FORGERIES[name](manifest, tensors)
    with pytest.raises(ModelFileError):
        store.from_bytes(container.to_bytes(manifest, tensors))


# Bad input.


@pytest.mark.parametrize("tune", [1, "yes", None, 0.5])
def test_tune_is_a_truth_value(tune: Any) -> None:
    model = ing.NaiveBayes(tune=tune)
    with pytest.raises(KindError, match="tune must be True or False"):
        model.fit(FLOWERS, SPECIES)
    assert not hasattr(model, "tally_")


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    model = ing.NaiveBayes(tune=True).fit(FLOWERS, SPECIES)
    before, answers = settings(model), model.predict_proba(FLOWERS)
    for rows, y in (
        (np.where(FLOWERS > 5, np.inf, FLOWERS), SPECIES),
        (FLOWERS, SPECIES[:-1]),
        (FLOWERS * np.nan, SPECIES),
    ):
        with pytest.raises(InputError):
            model.fit(rows, y)
        assert settings(model) == before
        assert np.array_equal(model.predict_proba(FLOWERS), answers)


@pytest.mark.parametrize(("X", "y"), [
    (FLOWERS[:1], ["a"]),
    (FLOWERS[:5], ["a"] * 5),
    (FLOWERS[:2], ["a", "b"]),
    (FLOWERS[[0, 60, 120]], ["a", "b", "b"]),
    (np.zeros((6, 2)), list("ababab")),
    (FLOWERS * 1e150, SPECIES),
    (np.where(np.arange(600).reshape(150, 4) == 8, 1e30, FLOWERS), SPECIES),
], ids=["one row", "one class", "two rows", "three rows", "constant", "huge", "outlier"])  # fmt: skip
def test_odd_tables_are_tuned_or_refused(X: Any, y: Any) -> None:
    model = ing.NaiveBayes(tune=True)
    try:
        p = model.fit(X, y).predict_proba(X)
    except InputError:
        assert not hasattr(model, "tally_")
        return
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_a_table_of_noise_leaves_the_priors() -> None:
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(300, 1)), (np.arange(300) % 3 == 0).astype(int)
    model = ing.NaiveBayes(tune=True).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), np.tile([2 / 3, 1 / 3], (300, 1)), atol=0.12)
