"""Answers of exported ONNX models in onnxruntime, and how far they are from those of Python."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from ingenuo.sheet import sheet
from ingenuo.sheet.onnx import OUTPUTS, cut, onnx
from ingenuo.text.reader import reader_of

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
Row = Mapping[str, Any]


def settings(model: Any) -> list[Any]:
    """How the model, or a member of a vote, cuts each column of texts."""
    every = [model, *getattr(model, "estimators_", [])]
    return [words for each in every for words in getattr(each, "schema_", model.schema_).texts.values()]


def feed(model: Any, session: Any, rows: Sequence[Row]) -> dict[str, Any]:
    """Rows as the inputs of a session."""
    readings = json.loads(session.get_modelmeta().custom_metadata_map.get("words", "{}"))
    found = {}
    for given in session.get_inputs():
        reading = readings.get(given.name)
        cells = [row.get(given.name if reading is None else reading["column"]) for row in rows]
        if reading is not None:
            how = {key: value for key, value in reading.items() if key not in ("column", "once")}
            words = next(each for each in settings(model) if json.loads(json.dumps(reader_of(each))) == how)
            found[given.name] = cut(cells, words, once=reading["once"])
        elif given.type == "tensor(double)":
            numbers = [np.nan if cell is None else float(cell) for cell in cells]
            found[given.name] = np.array(numbers, np.float64).reshape(-1, 1)
        else:
            texts = ["" if cell is None else str(cell) for cell in cells]
            found[given.name] = np.array(texts, object).reshape(-1, 1)
    return found


def answers(model: Any, rows: Sequence[Row]) -> dict[str, Any]:
    """What onnxruntime answers to rows."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(onnx(sheet(model)), options, providers=["CPUExecutionProvider"])
    return dict(zip(OUTPUTS, session.run(None, feed(model, session, rows))))


def apart(found: Any, expected: Any) -> float:
    """By how many units in the last place two arrays differ at most; what is below 1e-300 is 0."""
    found, expected = (np.asarray(each, np.float64) for each in (found, expected))
    same = (found == expected) | ((np.abs(found) < 1e-300) & (np.abs(expected) < 1e-300))
    with np.errstate(invalid="ignore"):
        steps = np.abs(found - expected) / np.spacing(np.maximum(np.abs(found), np.abs(expected)))
    return float(np.where(same, 0.0, steps).max(initial=0.0))


def assert_alike(name: str, model: Any, rows: Sequence[Row], *, exact: bool = True) -> None:
    """The answers are Python's: joints by bits and posteriors by their last two, or both but for 1e-12; labels all."""
    given = [{key: value for key, value in row.items() if value is not None} for row in rows]
    expected = [model.answer_row(row) for row in given]
    found = answers(model, rows)
    shares, posterior = np.array([posterior for _, posterior in expected]), found["predict_proba"]
    if exact:
        assert apart(posterior, shares) <= 4, (name, apart(posterior, shares))
    else:
        size = np.array([1.0 if joint is None else max(1.0, float(np.abs(joint).max())) for joint, _ in expected])
        far = np.where(np.isfinite(size), np.abs(posterior - shares).max(axis=1) / size, 0.0)
        assert far.max() <= 1e-12, (name, far)
    if "joint" in found and expected[0][0] is not None:
        joint, own = found["joint"], np.array([joint for joint, _ in expected])
        same = (joint == own) | (np.isnan(joint) & np.isnan(own))
        with np.errstate(invalid="ignore"):
            far = np.where(same, 0.0, np.abs(joint - own) / (1 + np.abs(own)))
        assert same.all() if exact else far.max() <= 1e-12, (name, far.max(), joint[~same], own[~same])
    labels = [str(each) for each in np.asarray(model.classes_)[shares.argmax(axis=1)].tolist()]
    assert [str(each) for each in found["predict"].tolist()] == labels, name
