"""A calibrated model: repaired by its own rows, each left out; kept when it learns; whole in a file."""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.arff import read as read_arff
from benchmarks.public_data import public_data
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold
from tests.real_texts import labelled

import ingenuo as ing
from ingenuo import store
from ingenuo.errors import InputError, KindError, ModelFileError, StaleCalibrationError, StaleCalibrationWarning
from ingenuo.models import calibration
from ingenuo.models.calibration import fit
from ingenuo.tally import container
from ingenuo.tally.labels import find, labels_of

KINDS = ("auto", *calibration.KINDS)
FLOWERS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
TUMOURS, MALIGNANT = load_breast_cancer(return_X_y=True)
ASKED = ("predict", "predict_proba", "predict_log_proba")


def redundant(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """One column, eight times: naive Bayes is much too sure."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=n) + y
    return np.column_stack([x + rng.normal(size=n) * 0.1 for _ in range(8)]), np.array(["no", "yes"])[y]


X, Y = redundant()
FRESH, TRUTH = redundant(3000, 1)


def ece(model: Any, rows: Any, y: Any) -> float:
    return float(ing.evaluate(model, rows, y)["ece"].value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_the_most_probable_class(kind: str) -> None:
    model = ing.NaiveBayes(calibration=kind).fit(FLOWERS, NAMES)
    p = model.predict_proba(FLOWERS)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert ((p >= 0) & (p <= 1)).all()
    assert np.array_equal(model.predict(FLOWERS), model.classes_[p.argmax(axis=1)])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba(FLOWERS), np.log(p), rtol=1e-9, atol=1e-12)
    assert model.score(FLOWERS, NAMES) == np.mean(model.predict(FLOWERS) == NAMES)


@pytest.fixture(scope="module")
def flowers_left_out() -> np.ndarray:
    """By hand: every row by a model of the others."""
    logs = np.empty((150, 3))
    for row in range(150):
        rest = np.delete(np.arange(150), row)
        logs[row] = ing.NaiveBayes().fit(FLOWERS[rest], NAMES[rest]).predict_log_proba(FLOWERS[row : row + 1])[0]
    return logs


@pytest.mark.parametrize("kind", KINDS)
def test_the_calibrator_is_fitted_to_rows_left_out(kind: str, flowers_left_out: np.ndarray) -> None:
    model = ing.NaiveBayes(calibration=kind).fit(FLOWERS, NAMES)
    chosen = model.calibrator_.kind
    assert kind in ("auto", chosen)
    by_hand = fit(chosen, flowers_left_out, SPECIES)
    plain = ing.NaiveBayes().fit(FLOWERS, NAMES).predict_log_proba(FLOWERS)
    np.testing.assert_allclose(model.predict_proba(FLOWERS), np.exp(by_hand.apply(plain)), rtol=1e-6, atol=1e-9)


def test_none_changes_nothing() -> None:
    model, plain = (ing.NaiveBayes(calibration=kind).fit(X, Y) for kind in ("none", None))
    np.testing.assert_allclose(model.predict_proba(FRESH), plain.predict_proba(FRESH), rtol=1e-12, atol=1e-300)
    assert not hasattr(plain, "calibrator_")


@pytest.mark.parametrize("kind", ["auto", "temperature", "platt", "isotonic"])
def test_what_is_too_sure_is_made_less_sure_of_rows_never_seen(kind: str) -> None:
    plain, model = ing.NaiveBayes().fit(X, Y), ing.NaiveBayes(calibration=kind).fit(X, Y)
    assert ece(plain, FRESH, TRUTH) > 0.1
    assert ece(model, FRESH, TRUTH) < ece(plain, FRESH, TRUTH) / 2
    assert model.score(FRESH, TRUTH) > plain.score(FRESH, TRUTH) - 0.02


def test_auto_says_what_was_tried() -> None:
    model = ing.NaiveBayes(calibration="auto").fit(X, Y)
    assert model.calibrator_.kind in calibration.KINDS
    assert model.calibrator_.kind in str(model.calibration_)
    assert not hasattr(ing.NaiveBayes(calibration="platt").fit(X, Y), "calibration_")


@pytest.mark.parametrize(("name", "most"), [("films", 2000), ("messages", 3000)])
def test_on_texts_that_people_wrote_the_calibration_error_falls(name: str, most: int) -> None:
    texts, labels = labelled(name, most)
    given = np.array(labels)
    train, test = next(StratifiedKFold(3, shuffle=True, random_state=0).split(given, given))
    rows = [[texts[i] for i in part] for part in (train, test)]
    plain = ing.NaiveBayes(prior=ing.Lidstone(0.1)).fit(rows[0], given[train])
    model = clone(plain).set_params(calibration="auto").fit(rows[0], given[train])
    before, after = ece(plain, rows[1], given[test]), ece(model, rows[1], given[test])
    losses = [ing.evaluate(each, rows[1], given[test])["log_loss"].value for each in (plain, model)]
    assert losses[1] < losses[0]
    if name == "films":
        assert before > 0.1
        assert after < before - 0.08
    assert model.score(rows[1], given[test]) >= plain.score(rows[1], given[test]) - 0.01


def test_the_length_of_a_text_matters() -> None:
    """Long texts are too sure by more than short ones, so what is learned of lengths changes an answer."""
    texts, labels = labelled("films", 600)
    model = ing.NaiveBayes(calibration="platt").fit(texts, labels)
    logs = ing.NaiveBayes().fit(texts, labels).predict_log_proba(texts)
    calibrator = model.calibrator_
    known = np.array([len(re.findall(r"\b\w\w+\b", text.lower())) for text in texts], float)  # all were learned
    np.testing.assert_allclose(model.predict_log_proba(texts), calibrator.apply(logs, known), rtol=1e-9, atol=1e-12)
    assert not np.allclose(calibrator.apply(logs, known), calibrator.apply(logs, known * 0 + 1))


# Staleness.

CHANGES: dict[str, Any] = {
    "partial_fit": lambda model: model.partial_fit(X[:10], Y[:10]),
    "partial_fit of a new class": lambda model: model.partial_fit(X[:2], ["new", "new"]),
    "forget": lambda model: model.forget(X[:10], Y[:10]),
    "merge": lambda model: model.merge(ing.NaiveBayes().fit(X[:20], Y[:20])),
    "merge with one calibrated": lambda model: model.merge(ing.NaiveBayes(calibration="platt").fit(X[:50], Y[:50])),
}
QUESTIONS: dict[str, Any] = {
    **{name: lambda model, name=name: getattr(model, name)(X[:3]) for name in ASKED},
    "score": lambda model: model.score(X, Y),
    "explain": lambda model: model.explain(X[0]),
    "evaluate": lambda model: ing.evaluate(model, X, Y),
}


BEHIND = {
    "partial_fit": 10,
    "partial_fit of a new class": 2,
    "forget": 10,
    "merge": 20,
    "merge with one calibrated": 50,
}


@pytest.mark.parametrize("kind", ["auto", "platt", "isotonic"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_model_that_learns_answers_on_and_says_how_far_its_calibration_is_behind(change: str, kind: str) -> None:
    model = ing.NaiveBayes(calibration=kind).fit(X, Y)
    before = model.calibrator_
    assert model.calibration_behind_ == 0
    with pytest.warns(StaleCalibrationWarning, match=f"{BEHIND[change]} rows behind .*recalibrate"):
        CHANGES[change](model)
    assert model.calibration_behind_ == BEHIND[change]
    for ask in QUESTIONS.values():
        ask(model)
    assert f"{BEHIND[change]} rows were learned, forgotten or merged since" in str(model.explain(X[0]))
    if "new class" not in change:
        assert model.calibrator_ is before
    plain = copy.copy(model).set_params(calibration=None)
    np.testing.assert_array_equal(model.predict_log_proba(X), model.calibrator_.apply(plain.predict_log_proba(X)))


def test_it_warns_once() -> None:
    model = ing.NaiveBayes(calibration="platt").fit(X, Y)
    with pytest.warns(StaleCalibrationWarning):
        model.partial_fit(X[:1], Y[:1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[:3], Y[:3]).forget(X[:1], Y[:1])
        assert model.calibration_behind_ == 5
        assert model.recalibrate(X, Y).calibration_behind_ == 0
        assert ing.NaiveBayes().fit(X, Y).partial_fit(X[:3], Y[:3]).calibration_behind_ == 0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["temperature", "platt", "isotonic"])
def test_what_is_known_of_a_class_is_kept_while_others_come_and_go(kind: str) -> None:
    model = ing.NaiveBayes(calibration=kind).fit(FLOWERS, NAMES)
    whole, before = model.predict_proba(FLOWERS), model.calibrator_
    model.partial_fit(FLOWERS[:4], ["new"] * 4)
    four = model.predict_proba(FLOWERS)
    assert four.shape == (150, 4)
    np.testing.assert_allclose(four.sum(axis=1), 1, rtol=1e-12)
    places = find(labels_of(model.classes_), labels_of(np.unique(NAMES)))
    shifts = model.calibrator_.shifts
    np.testing.assert_allclose(shifts[places], before.shifts)
    np.testing.assert_allclose(shifts.sum() - shifts[places].sum(), before.shifts.mean(), atol=1e-12)
    model.forget(FLOWERS[:4], ["new"] * 4)
    assert np.array_equal(model.predict_proba(FLOWERS), whole)
    virginica = NAMES == "virginica"
    model.forget(FLOWERS[virginica], NAMES[virginica])
    two = model.predict_proba(FLOWERS)
    assert two.shape == (150, 2)
    assert model.score(FLOWERS[~virginica], NAMES[~virginica]) > 0.95
    model.partial_fit(FLOWERS[virginica], NAMES[virginica])
    assert np.array_equal(model.predict_proba(FLOWERS), whole)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_new_class_keeps_its_probability_where_the_calibrator_changes_nothing() -> None:
    model = ing.NaiveBayes(calibration="none").fit(FLOWERS, NAMES).partial_fit(FLOWERS[:4], ["new"] * 4)
    plain = copy.copy(model).set_params(calibration=None)
    np.testing.assert_allclose(model.predict_proba(FLOWERS), plain.predict_proba(FLOWERS), rtol=1e-12, atol=1e-300)


def test_a_curve_of_a_new_class_changes_nothing() -> None:
    z = np.log(np.array([[0.2, 0.8], [0.7, 0.3], [1e-9, 1 - 1e-9]]))
    isotonic = calibration.Calibrator("isotonic", 1.0, np.zeros(1))
    found = np.exp(isotonic.over(np.array([-1, -1]), np.zeros(2)).apply(z))
    np.testing.assert_allclose(found, np.exp(z), rtol=2e-3)


def test_learning_again_with_recalibrate_is_fitting_all_at_once() -> None:
    model = ing.NaiveBayes(calibration="platt").fit(X[:200], Y[:200]).partial_fit(X[200:], Y[200:])
    assert model.recalibrate(X, Y) is model
    whole = ing.NaiveBayes(calibration="platt").fit(X, Y)
    assert np.array_equal(model.predict_proba(FRESH), whole.predict_proba(FRESH))


def test_some_of_the_rows_are_enough() -> None:
    model = ing.NaiveBayes(calibration="platt").fit(X[:150], Y[:150]).partial_fit(X[150:], Y[150:])
    model.recalibrate(X[150:], Y[150:])
    assert ece(model, FRESH, TRUTH) < 0.1


@pytest.mark.parametrize("change", ["partial_fit", "forget", "merge"])
def test_recalibrate_mends_it(change: str) -> None:
    model = ing.NaiveBayes(calibration="auto").fit(X, Y)
    changed = CHANGES[change](model)
    model = model if changed is None else changed
    model.recalibrate(X[20:], Y[20:])
    for ask in QUESTIONS.values():
        ask(model)
    assert ece(model, FRESH, TRUTH) < 0.1


def test_rows_that_were_never_learned_are_refused_with_the_remedy() -> None:
    model = ing.NaiveBayes(calibration="platt").fit(X, Y)
    before = model.predict_proba(FRESH)
    with pytest.raises(InputError, match=r"the model has not learned these rows .*learned=False"):
        model.recalibrate(FRESH[:500], TRUTH[:500])
    assert np.array_equal(model.predict_proba(FRESH), before)
    model.recalibrate(FRESH[:500], TRUTH[:500], learned=False)
    by_hand = fit(
        "platt", ing.NaiveBayes().fit(X, Y).predict_log_proba(FRESH[:500]), (TRUTH[:500] == "yes").astype(int)
    )
    plain = ing.NaiveBayes().fit(X, Y).predict_log_proba(FRESH)
    np.testing.assert_allclose(model.predict_log_proba(FRESH), by_hand.apply(plain), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("learned", [True, False])
def test_a_class_that_was_not_learned_cannot_be_calibrated_for(learned: bool) -> None:
    model = ing.NaiveBayes(calibration="platt").fit(X, Y)
    before = model.predict_proba(FRESH)
    with pytest.raises(InputError, match="other"):
        model.recalibrate(X[:4], ["other", "yes", "no", "yes"], learned=learned)
    assert np.array_equal(model.predict_proba(FRESH), before)


def test_a_category_that_was_not_learned_shows_that_the_row_was_not() -> None:
    colours = np.where(X[:, :1] > 0.5, "red", "blue").astype(object)
    model = ing.NaiveBayes(calibration="platt").fit(colours, Y)
    with pytest.raises(InputError, match=r"the model has not learned these rows .*green.*learned=False"):
        model.recalibrate(np.array([["green"], ["red"]], object), ["yes", "no"])


def test_without_calibration_it_answers_again() -> None:
    model = ing.NaiveBayes(calibration="auto").fit(X[:200], Y[:200]).partial_fit(X[200:], Y[200:])
    model.set_params(calibration=None)
    assert np.array_equal(model.predict_proba(FRESH), ing.NaiveBayes().fit(X, Y).predict_proba(FRESH))
    with pytest.raises(InputError, match=r"calibration=None.*set_params\(calibration='auto'\)"):
        model.recalibrate(X, Y)
    model.set_params(calibration="platt").recalibrate(X, Y)
    whole = ing.NaiveBayes(calibration="platt").fit(X, Y)
    assert np.array_equal(model.predict_proba(FRESH), whole.predict_proba(FRESH))


def test_another_kind_is_not_answered_with_the_old_calibrator() -> None:
    model = ing.NaiveBayes(calibration="temperature").fit(X, Y).set_params(calibration="isotonic")
    try:
        found = model.predict_proba(FRESH)
    except StaleCalibrationError:
        return
    np.testing.assert_allclose(found, ing.NaiveBayes(calibration="isotonic").fit(X, Y).predict_proba(FRESH))


def test_fitting_again_without_calibration_forgets_it() -> None:
    model = ing.NaiveBayes(calibration="auto").fit(X, Y).set_params(calibration=None).fit(X, Y)
    assert not hasattr(model, "calibrator_")
    assert not hasattr(model, "calibration_")


# Explanations.


@pytest.mark.parametrize("kind", KINDS)
def test_an_explanation_ends_at_what_is_predicted(kind: str) -> None:
    model = ing.NaiveBayes(calibration=kind).fit(X, Y)
    shown = model.explain(X[0])
    np.testing.assert_allclose(shown.posterior, model.predict_proba(X[:1])[0], rtol=1e-9)
    plain = ing.NaiveBayes().fit(X, Y)
    np.testing.assert_allclose(shown.uncalibrated, plain.predict_proba(X[:1])[0], rtol=1e-9)
    terms = sum(np.array([term.log for term in factor.terms]) for factor in (shown.prior, *shown.factors))
    np.testing.assert_allclose(terms, shown.joint, rtol=1e-9)
    assert shown.calibration == model.calibrator_.describe()
    assert shown.calibration in str(shown)


# Weights, missing values, tables of any kind.


@pytest.mark.parametrize("kind", ["platt", "temperature"])
def test_a_row_of_weight_three_is_three_rows_to_the_calibrator_that_leaves_none_out(kind: str) -> None:
    weights = np.random.default_rng(0).integers(1, 4, len(FRESH)).astype(float)
    weighted = ing.NaiveBayes(calibration=kind).fit(X, Y).recalibrate(FRESH, TRUTH, weights, learned=False)
    times = np.repeat(np.arange(len(FRESH)), weights.astype(int))
    repeated = ing.NaiveBayes(calibration=kind).fit(X, Y).recalibrate(FRESH[times], TRUTH[times], learned=False)
    np.testing.assert_allclose(weighted.predict_proba(FRESH), repeated.predict_proba(FRESH), rtol=1e-4)


def test_rows_without_weight_count_for_nothing() -> None:
    weights = (np.arange(len(X)) < 200).astype(float)
    model = ing.NaiveBayes(calibration="platt").fit(X, Y, weights)
    wanted = ing.NaiveBayes(calibration="platt").fit(X[:200], Y[:200])
    np.testing.assert_allclose(model.predict_proba(FRESH), wanted.predict_proba(FRESH), rtol=1e-6)


TABLES: dict[str, tuple[Any, Any]] = {
    "mixed": (
        pd.DataFrame(
            {
                "x": np.where(np.arange(300) % 7 == 0, np.nan, X[:, 0]),
                "colour": np.where(np.arange(300) % 5 == 0, None, np.where(X[:, 1] > 0.5, "red", "blue")),
            }
        ),
        {},
    ),
    "counts": (np.rint(np.abs(X) * 3), {"columns": dict.fromkeys(range(8), "count")}),
    "complement": (np.rint(np.abs(X) * 3), {"columns": dict.fromkeys(range(8), "count"), "counts": "complement"}),
    "kernel": (X, {"numbers": "kernel"}),
    "together": (X, {"numbers": "gaussian-shared"}),
    "text": ([("good film " if y == "yes" else "bad film ") * (1 + i % 3) + f"w{i % 9}" for i, y in enumerate(Y)], {}),
    "tf-idf": (
        [("good film " if y == "yes" else "bad film ") * (1 + i % 3) + f"w{i % 9}" for i, y in enumerate(Y)],
        {"text": ing.Words(weighting="tfidf", norm="l2")},
    ),
    "given priors": (X, {"class_prior": {"no": 0.9, "yes": 0.1}}),
    "tuned": (X, {"tune": True}),
}


@pytest.mark.parametrize("kind", ["auto", "isotonic"])
@pytest.mark.parametrize("name", TABLES)
def test_every_kind_of_table_is_calibrated_and_comes_back_from_a_file(name: str, kind: str, tmp_path: Path) -> None:
    rows, given = TABLES[name]
    model = ing.NaiveBayes(**given, calibration=kind).fit(rows, Y)
    p = model.predict_proba(rows)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    ing.save(model, tmp_path / "model")
    again = ing.load(tmp_path / "model")
    assert again.predict_proba(rows).tobytes() == p.tobytes()
    assert again.calibrator_.kind == model.calibrator_.kind
    assert repr(again) == repr(model)
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert copied.predict_proba(rows).tobytes() == p.tobytes()


def test_fitting_twice_gives_the_same() -> None:
    first, second = (ing.NaiveBayes(calibration="auto").fit(X, Y).predict_proba(FRESH) for _ in range(2))
    assert first.tobytes() == second.tobytes()


# Files.


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["temperature", "platt", "isotonic"])
def test_a_model_that_is_behind_comes_back_so_and_knows_the_classes_it_was_calibrated_for(
    kind: str, tmp_path: Path
) -> None:
    model = ing.NaiveBayes(calibration=kind).fit(FLOWERS, NAMES).partial_fit(FLOWERS[:4], ["new"] * 4)
    model.forget(FLOWERS[:50], NAMES[:50])
    ing.save(model, tmp_path / "model")
    again = ing.load(tmp_path / "model")
    assert again.calibration_behind_ == model.calibration_behind_ == 54
    assert np.array_equal(again.predict_proba(FLOWERS), model.predict_proba(FLOWERS))
    for each in (model, again):
        each.partial_fit(FLOWERS[:50], NAMES[:50])
    assert np.array_equal(again.predict_proba(FLOWERS), model.predict_proba(FLOWERS))


def test_a_model_that_was_never_calibrated_as_it_is_asked_to_says_so() -> None:
    model = ing.NaiveBayes().fit(X, Y).set_params(calibration="platt")
    with pytest.raises(StaleCalibrationError, match=r"never calibrated so; call recalibrate\(X, y\).*calibration=None"):
        model.predict(X)
    assert model.recalibrate(X, Y).calibration_behind_ == 0


def forged(model: Any, change: Any) -> bytes:
    manifest, tensors = container.from_bytes(store.to_bytes(model))
    manifest, tensors = copy.deepcopy(manifest), dict(tensors)
    change(manifest, tensors)
    return container.to_bytes(manifest, tensors)


@pytest.mark.parametrize("kind", ["temperature", "platt", "isotonic"])
def test_forged_calibrators_are_refused(kind: str) -> None:
    model = ing.NaiveBayes(calibration=kind).fit(X, Y)
    _, tensors = container.from_bytes(store.to_bytes(model))
    own = [name for name in tensors if "calibrator/" in name and tensors[name].size]
    assert own
    for name in own:
        for value in (
            tensors[name][:-1],
            tensors[name] * np.nan if tensors[name].dtype.kind == "f" else -tensors[name],
        ):

            def put(_: Any, parts: Any, name: str = name, value: Any = value) -> None:
                parts[name] = value

            with pytest.raises(ModelFileError):
                store.from_bytes(forged(model, put))

        def drop(_: Any, parts: Any, name: str = name) -> None:
            del parts[name]

        with pytest.raises(ModelFileError):
            store.from_bytes(forged(model, drop))


# Bad input.


@pytest.mark.parametrize(("kind", "error", "match"), [
    ("plat", InputError, "calibration='plat' is not known; did you mean 'platt'"),
    ("sigmoid", InputError, "calibration='sigmoid' is not known"),
    (True, KindError, "calibration must be one of .* got bool True"),
    (3, KindError, "calibration must be one of .* got int 3"),
])  # fmt: skip
def test_an_unknown_calibration_is_refused(kind: Any, error: type[Exception], match: str) -> None:
    model = ing.NaiveBayes().fit(X, Y)
    before = pickle.dumps(model.set_params(calibration=kind))
    for learn in (model.fit, model.recalibrate):
        with pytest.raises(error, match=match):
            learn(X, Y)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("kind", KINDS)
def test_one_class_and_few_rows_are_answered_or_refused_in_a_sentence(kind: str) -> None:
    for rows, y in ((X, np.full(len(X), "one")), (X[:1], Y[:1]), (X[:2], ["a", "b"]), (X[:3], ["a", "b", "b"])):
        model = ing.NaiveBayes(calibration=kind)
        try:
            p = model.fit(rows, y).predict_proba(rows)
        except InputError:
            assert not hasattr(model, "tally_")
            continue
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    model = ing.NaiveBayes(calibration="platt").fit(X, Y)
    before = model.predict_proba(FRESH)
    for rows, y in ((np.where(X > 2, np.inf, X), Y), (X, Y[:-1]), (X * np.nan, Y)):
        with pytest.raises(InputError):
            model.fit(rows, y)
        assert np.array_equal(model.predict_proba(FRESH), before)


def test_classes_that_are_announced_without_rows_are_refused() -> None:
    model = ing.NaiveBayes(calibration="platt")
    with pytest.raises(InputError, match="classes that have no row yet cannot be calibrated"):
        model.partial_fit(X, Y, classes=["no", "yes", "perhaps"])
    assert not hasattr(model, "tally_")
    model.partial_fit(X, Y, classes=["no", "yes"])
    assert np.array_equal(
        model.predict_proba(FRESH), ing.NaiveBayes(calibration="platt").fit(X, Y).predict_proba(FRESH)
    )


def test_the_label_may_be_a_column_and_what_was_tried_survives_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=200), "y": np.where(rng.random(200) < 0.5, "p", "q")})
    model = ing.NaiveBayes(calibration="auto").fit(table, "y")
    before = model.predict_proba(table)
    assert np.array_equal(model.recalibrate(table, "y").predict_proba(table), before)
    ing.save(model, tmp_path / "model")
    assert ing.load(tmp_path / "model").calibration_ == model.calibration_
    assert model.explain(table.iloc[0]).prediction == model.predict(table[:1])[0]
    assert model.explain({"a": 1.0, "y": "p"}).prediction == model.explain({"a": 1.0}).prediction


def test_a_text_without_a_known_word_has_about_the_prior() -> None:
    """What is scaled by length is the evidence, and not how frequent a class is."""
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(60)]
    y = np.where(rng.random(2000) < 0.1, "rare", "often")
    texts = [" ".join(rng.choice(words[:40] if label == "rare" else words[20:], rng.integers(30, 90))) for label in y]
    model = ing.NaiveBayes(calibration="temperature").fit(texts, y)
    assert 0.02 < model.predict_proba([""])[0, 1] < 0.5


def rare(n: int = 300):
    """Three classes, of which one has two rows."""
    rng = np.random.default_rng(0)
    y = np.array(["a", "b"], object)[rng.integers(0, 2, n)]
    X = np.repeat(rng.normal((y == "b") * 1.5, 1.0)[:, np.newaxis], 4, axis=1) + rng.normal(0, 0.3, (n, 4))
    y[:2] = "rare"
    return X, y


@pytest.mark.parametrize("tune", [False, True])
def test_rare_classes_are_calibrated_together_and_it_is_said(tune, tmp_path):
    X, y = rare()
    with pytest.warns(UserWarning, match="'b', 'rare' are calibrated together|'a', 'rare' are calibrated together"):
        model = ing.NaiveBayes(calibration="auto", tune=tune).fit(X, y)
    assert set(model.calibration_.log_loss) == {"none", "temperature", "platt", "isotonic"}
    assert not model.calibration_.left_out
    assert "rare classes are calibrated together" in model.calibrator_.describe()
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-9)
    plain = copy.copy(model).set_params(calibration=None).predict_proba(X)
    one, two = (
        place for place, group in enumerate(model.calibrator_.groups) if model.calibrator_.groups.count(group) > 1
    )
    kept = plain[:, two] > 1e-12
    np.testing.assert_allclose((p[:, one] / p[:, two])[kept], (plain[:, one] / plain[:, two])[kept], rtol=1e-6)
    ing.save(model, tmp_path / "model.ingenuo")
    np.testing.assert_array_equal(ing.load(tmp_path / "model.ingenuo").predict_proba(X), p)


def test_what_cannot_be_calibrated_is_a_warning():
    with pytest.warns(UserWarning, match="nothing was calibrated: none was chosen .*there are fewer than"):
        ing.NaiveBayes(calibration="auto").fit([[0.5], [1.25], [2.5], [3.75]], ["a", "a", "b", "b"])


def test_groups_of_a_file_are_checked():
    fitted = calibration.Calibrator("platt", 1.0, np.zeros(2), groups=(0, 1, 1))
    arrays = fitted.arrays()
    assert calibration.from_arrays("platt", arrays, 3).groups == (0, 1, 1)
    for odd in ([0, 2, 2], [0, 1], [-1, 0, 1], [0.0, 1.0, 1.0], [0, 9, 9]):
        with pytest.raises(ing.errors.InputError):
            calibration.from_arrays("platt", {**arrays, "groups": np.array(odd)}, 3)


def test_hypothyroid_as_it_comes_is_fitted_tuned_and_calibrated():
    path = public_data("tables/hypothyroid.arff")
    if path is None:
        pytest.skip("the public table hypothyroid.arff is not there; set INGENUO_DATA to the folder that has it")
    table = read_arff(path)
    assert min(np.unique(table.y, return_counts=True)[1]) == 2
    with pytest.warns(UserWarning, match="calibrated together"):
        model = ing.NaiveBayes(calibration="auto", tune=True).fit(table.frame, table.y)
    assert model.calibration_.chosen == "isotonic"
    assert model.score(table.frame, table.y) > 0.97
