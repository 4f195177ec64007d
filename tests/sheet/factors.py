"""The lines of an answer: what node says of each column, beside what `explain` says of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ingenuo.sheet import sheet

from .node import PAGE, bits

SCRIPT = """
import { open } from "SHEET";
let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => (text += piece));
process.stdin.on("end", () => {
  const { document, rows } = JSON.parse(text), model = open(document);
  const plain = (numbers) => numbers === null ? null : Array.from(numbers, String);
  process.stdout.write(JSON.stringify(rows.map((row) => {
    const { factors, joint, order } = model.explain(row);
    const shown = factors.map((each) => ({ ...each, logs: plain(each.logs), shares: (each.shares || []).map(plain) }));
    return { factors: shown, joint: plain(joint), passages: model.passages(row, order[0], order[1]) };
  })));
});
"""


def explained(model: Any, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What node explains of rows; logarithms as arrays, columns by name."""
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    document = sheet(model).document()
    given = json.dumps({"document": document, "rows": list(rows)})
    call = ["node", "--input-type=module", "-e", SCRIPT.replace("SHEET", (PAGE / "sheet.mjs").as_uri())]
    done = subprocess.run(call, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[dict[str, Any]] = json.loads(done.stdout)
    names = [column["name"] for column in document["columns"]]
    for each in found:
        each["joint"] = _numbers(each["joint"])
        for factor in each["factors"]:
            factor["logs"] = _numbers(factor["logs"])
            factor["of"] = None if factor["of"] is None else names[factor["of"]]
            if factor["column"] is not None and factor["of"] is None:
                assert factor["name"] == names[factor["column"]]
    return found


def _numbers(texts: list[str] | None) -> Any:
    return None if texts is None else np.array([float(each.replace("Infinity", "inf")) for each in texts])


def assert_same_lines(model: Any, rows: Sequence[Mapping[str, Any]], *, total: bool = True) -> None:
    """Node's lines have the names and the logarithms of those of `explain`; with `total`, they add up to the joint.

    What is of no column is added up: a sheet has what trees say before any test in a line of its own.
    """
    names = {str(each) for each in model.schema_.names.tolist()}
    for row, found in zip(rows, explained(model, rows), strict=True):
        own = model.explain({name: value for name, value in row.items() if value is not None})
        K = len(own.classes)
        lines: dict[Any, Any] = {}
        for each in (own.prior, *own.factors):
            if each.terms:
                key = (each.part_of or None, each.column) if each.part_of or each.column in names else None
                key = key or (each.column if " × " in each.column or each.column.endswith("²") else "others")
                lines[key] = lines.get(key, np.zeros(K)) + [term.log for term in each.terms]
        its: dict[Any, Any] = {}
        for factor in found["factors"]:
            if factor["logs"] is not None:
                own_column = factor["column"] is not None
                products = " × " in factor["name"] or factor["name"].endswith("²")
                key = (factor["of"], factor["name"]) if own_column else factor["name"] if products else "others"
                its[key] = its.get(key, np.zeros(K)) + factor["logs"]
        assert lines.keys() == its.keys(), (row, sorted(map(str, lines)), sorted(map(str, its)))
        for key, logs in lines.items():
            np.testing.assert_allclose(its[key], logs, rtol=1e-6, atol=1e-8, err_msg=f"{key} of {row}")
        if total:
            rest = found["joint"] - sum(its.values())
            assert np.ptp(rest) <= 1e-6 * max(1.0, float(np.abs(found["joint"]).max())), (row, rest)


def assert_alone_as_among_others(model: Any, rows: Sequence[Mapping[str, Any]], like: pd.DataFrame) -> None:
    """A table of rows is answered as each row is, to the last bit."""
    frame = pd.DataFrame({name: [row.get(name) for row in rows] for name in like.columns})
    frame = frame.astype({name: "float64" for name in like.columns if like[name].dtype.kind in "fi"})
    together = model.predict_proba(frame)
    for row, shares in zip(frame.to_dict("records"), together, strict=True):
        given = {name: value for name, value in row.items() if not (value is None or value != value)}
        assert bits(model.answer_row(given)[1]) == bits(shares), row
