"""The engine of the page in node: the answers of sheets to rows, as bits."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingenuo.sheet import Sheet, sheet
from ingenuo.sheet.score import scorer

PAGE = Path(__file__).parents[2] / "src" / "ingenuo" / "page"

# Each line has sheets with rows to answer; bits are written as hexadecimal digits.
SCRIPT = """
import readline from "node:readline";
import { open } from "SHEET";
const bits = (numbers) => numbers === null ? null : Buffer.from(Float64Array.from(numbers).buffer).toString("hex");
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const found = JSON.parse(line).map(({ sheet, rows }) => {
    const model = open(sheet);
    const answers = rows.map((row) => {
      const { joint, posterior } = model.score(row);
      return { joint: bits(joint), posterior: bits(posterior), explained: bits(model.explain(row).posterior) };
    });
    return { answers, check: model.check() };
  });
  process.stdout.write(JSON.stringify(found) + "\\n");
});
"""


@functools.cache
def _node() -> subprocess.Popen[str]:
    """One process for all tests, which ends with them: its input is closed."""
    script = SCRIPT.replace("SHEET", (PAGE / "sheet.mjs").as_uri())
    call = ["node", "--input-type=module", "-e", script]
    pipe = subprocess.PIPE
    return subprocess.Popen(call, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True, encoding="utf-8")


def in_node(jobs: Sequence[tuple[Any, Sequence[dict[str, Any]]]]) -> list[dict[str, Any]]:
    """What node answers to each (sheet or document, rows)."""
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    documents = [(each if isinstance(each, dict) else each.document(), rows) for each, rows in jobs]
    given = json.dumps([{"sheet": document, "rows": list(rows)} for document, rows in documents])
    process = _node()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(given + "\n")
    process.stdin.flush()
    found = process.stdout.readline()
    if not found.startswith("["):
        _node.cache_clear()  # it ended with an error, and the next test has another
        raise AssertionError(found + process.stdout.read()[-2000:])
    return list(json.loads(found))


def bits(numbers: Any) -> str | None:
    """As node writes them; -0 is 0."""
    return None if numbers is None else (np.asarray(numbers, np.float64) + 0.0).tobytes().hex()


def assert_same_bits(models: Sequence[tuple[str, Any, Sequence[dict[str, Any]]]]) -> list[Sheet]:
    """Each (name, model, rows) is answered by node as by Python, to the last bit; and so are the rows of its check.

    What answers single rows in a server does so too. Gives the sheets.
    """
    sheets = [sheet(model) for _, model, _ in models]
    found = in_node([(own, rows) for own, (_, _, rows) in zip(sheets, models)])
    for (name, model, rows), answers in zip(models, found, strict=True):
        assert answers["check"] == {"passed": 32, "of": 32, "failed": []}, name
        score = scorer(model)
        for row, answer in zip(rows, answers["answers"], strict=True):
            given = {key: value for key, value in row.items() if value is not None}
            joint, posterior = model.answer_row(given)
            assert [bits(each) for each in score(given)] == [bits(joint), bits(posterior)], (name, row)
            shown = [answer["posterior"], answer["explained"]]
            assert shown == [bits(posterior)] * 2, (name, row, posterior, _numbers(answer["posterior"]))
            if joint is not None:
                assert answer["joint"] == bits(joint), (name, row, joint, _numbers(answer["joint"]))
    return sheets


def _numbers(hexadecimal: str) -> list[float]:
    return np.frombuffer(bytes.fromhex(hexadecimal)).tolist()
