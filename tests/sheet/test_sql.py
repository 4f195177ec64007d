"""Databases answer as the model does: log joints by bits where they are sums and products, and posteriors within 2 ulp."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.sheet import sheet
from ingenuo.sheet.sql import sql

from .databases import NAMES, Database, arrow_of, by_id, database
from .test_sheet import CALIBRATORS, COUNTS, FAMILIES, fitted, harsh_rows, table

BY_BITS = ["gaussian", "gaussian-unbiased", "gaussian-or-states"]
LEAST = 1e-300  # below, posteriors are this near in all


@pytest.fixture(scope="module", params=NAMES)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with database(request.param, Path(tmp_path_factory.mktemp("warehouse"))) as found:
        yield found


def answers(engine: Database, model: Any, rows: list[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    """What the database says of rows."""
    found = sheet(model)
    numbers = [each["name"] for each in found.columns if each["kind"] in ("number", "count")]
    others = [each["name"] for each in found.columns if each["kind"] not in ("number", "count")]
    engine.put("rows", arrow_of(rows, numbers, others))
    return by_id(engine.ask(sql(found, dialect=engine.name, key="id", **settings)))


def assert_same_answers(
    engine: Database, model: Any, rows: list[dict[str, Any]], *, bits: bool = True, near: float = 0.0, what: Any = ""
) -> None:
    """The database answers as the model: joints by bits, or within `near` of their size, and posteriors within 2 ulp."""
    given = [{name: value for name, value in row.items() if value is not None} for row in rows]
    joints, posteriors = (np.array(each) for each in zip(*(model.answer_row(row) for row in given)))
    found = answers(engine, model, rows, joint=True)
    labels = [str(label) for label in model.classes_]
    own = np.column_stack([found[f"joint({label})"] for label in labels])
    shares = np.column_stack([found[f"P({label})"] for label in labels])
    if bits:
        assert np.array_equal(own + 0.0, joints + 0.0), (what, own - joints)
    else:
        size = np.maximum(np.abs(np.where(np.isfinite(joints), joints, 0.0)).max(axis=1, keepdims=True), 1.0)
        with np.errstate(invalid="ignore"):
            same = (own == joints) | (np.abs(own - joints) <= near * size)
        assert same.all(), (what, rows[int(np.argmin(same.all(axis=1)))], own[~same], joints[~same])
    off = np.abs(shares - posteriors)
    # Where exp differs by an ulp, shares and their sum do: so a quotient may by 2 ulp, and a sum of five by more.
    close = (off <= (2 if len(labels) == 2 else 4) * np.spacing(posteriors)) | (off <= LEAST)
    if not bits:
        scale = np.abs(joints).clip(1, 1e300).max(axis=1, keepdims=True)
        close |= off <= 4 * near * scale * posteriors
    assert close.all(), (what, rows[int(np.argmin(close.all(axis=1)))], shares[~close], posteriors[~close])
    best = posteriors.argmax(axis=1)
    clear = np.sort(posteriors, axis=1)[:, -1] - np.sort(posteriors, axis=1)[:, -2] > 1e-9
    assert (found["predicted"].astype(str)[clear] == np.array(labels)[best][clear]).all(), what
    assert np.allclose(found["probability"], shares.max(axis=1), rtol=1e-15), what


@pytest.mark.parametrize("classes", [2, 5])
def test_numbers_and_categories_have_the_same_bits(engine: Database, classes: int) -> None:
    frame, y = table(150, classes)
    for family in BY_BITS:
        assert_same_answers(engine, fitted(frame, y, numbers=family), harsh_rows(frame), what=family)


@pytest.mark.parametrize("classes", [2, 5])
def test_tables_of_densities_have_the_same_bits_within_them(engine: Database, classes: int) -> None:
    frame, y = table(150, classes)
    for family in ["histogram", "kernel", "mixture", "equal-mass-10", "auto"]:
        model = fitted(frame, y, numbers=family)
        rows = [{k: None if v != v else v for k, v in row.items()} for row in frame.head(40).to_dict("records")]
        if family != "auto":
            assert_same_answers(engine, model, rows, what=family)
        assert_same_answers(engine, model, harsh_rows(frame), bits=False, near=1e-12, what=family)


@pytest.mark.parametrize("classes", [2, 5])
def test_formulas_are_as_near_as_the_logarithms(engine: Database, classes: int) -> None:
    frame, y = table(150, classes)
    positive = frame.assign(bell=frame["bell"].abs())
    for family in [each for each in FAMILIES if each.startswith(("log", "gamma", "exp"))]:
        rows = harsh_rows(positive, least=0.0)
        assert_same_answers(engine, fitted(positive, y, numbers=family), rows, bits=False, near=1e-12, what=family)
    whole = frame.assign(bell=frame["bell"].round().abs(), skew=frame["skew"].round(), **{"often 0": frame["many"]})
    for family in COUNTS:
        rows = harsh_rows(whole, least=0.0)
        assert_same_answers(engine, fitted(whole, y, numbers=family), rows, bits=False, near=1e-12, what=family)


@pytest.mark.parametrize("classes", [2, 5])
def test_tuned_and_calibrated_models_answer_alike(engine: Database, classes: int) -> None:
    frame, y = table(200, classes)
    numbers = ["gaussian", "histogram", "kernel", "auto"] * 2
    for kind, own, tune in zip([*CALIBRATORS, *CALIBRATORS], numbers, [False] * 3 + [True] * 5):
        model = fitted(frame, y, numbers=own, calibration=kind, tune=tune)
        assert_same_answers(engine, model, harsh_rows(frame, 12), bits=False, near=1e-12, what=(kind, own))


def test_rare_classes_are_calibrated_together(engine: Database) -> None:
    frame, y = table(200, 5)
    y[:] = np.where(y == "class 4", "class 3", y)
    y[:2], y[2:5] = "class 4", "rare"
    for kind in CALIBRATORS[1:]:
        model = fitted(frame, y, calibration=kind)
        assert model.calibrator_.groups
        assert_same_answers(engine, model, harsh_rows(frame, 12), bits=False, near=1e-12, what=kind)


@pytest.mark.parametrize("classes", [2, 5])
def test_counts_have_the_same_bits(engine: Database, classes: int) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(classes, size=120)
    y[:classes] = np.arange(classes)
    frame = pd.DataFrame(rng.poisson(0.5 + 0.2 * y[:, None], (120, 9)), columns=[f"n{j}" for j in range(9)])
    frame["n8"] = 0
    frame["x"] = rng.normal(size=120)
    rows = [{name: float(rng.integers(0, 4)) for name in frame.columns if rng.random() < 0.8} for _ in range(20)]
    rows.append({"n0": 1e18, "n1": 1e300})
    for counts in ["multinomial", "complement", "bernoulli"]:
        columns = {f"n{j}": counts for j in range(9)}
        for settings in ({}, {"tune": True}, {"calibration": "temperature"}, {"prior": ing.MaximumLikelihood()}):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = ing.NaiveBayes(columns, **settings).fit(frame, y)
            plain = not settings or "prior" in settings
            assert_same_answers(engine, model, rows, bits=plain, near=1e-12, what=(counts, settings))


def test_rows_that_every_class_forbids_are_answered(engine: Database) -> None:
    X = pd.DataFrame({"a": ["x", "y", "z", "x"], "b": ["p", "q", "q", "p"], "n": [1.0, 2.0, 3.0, 1.0]})
    model = ing.NaiveBayes(prior=ing.MaximumLikelihood()).fit(X, ["u", "v", "w", "u"])
    rows = [{"a": a, "b": b, "n": n} for a in ("x", "y", "z") for b in ("p", "q") for n in (1.0, 1e300, None)]
    assert_same_answers(engine, model, rows)
