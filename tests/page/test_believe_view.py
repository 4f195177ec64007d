"""Believe it? What the view works out in the browser is what Python's evaluation says of the same answers."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ingenuo as ing
from ingenuo.evaluation.audit.groups import _wilson

VIEW = Path(__file__).parents[2] / "src" / "ingenuo" / "page" / "views" / "believe.mjs"


def in_node(lines: str, given: Any) -> Any:
    """What a function body returns in node, with the functions of the view and `given`."""
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    script = f"""
import * as view from {json.dumps(VIEW.as_uri())};
let text = "";
process.stdin.on("data", (piece) => (text += piece));
process.stdin.on("end", () => {{
  const answer = (given) => {{ {lines} }};
  process.stdout.write(JSON.stringify(answer(JSON.parse(text))));
}});"""
    call = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(call, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answers() -> tuple[Any, Any]:
    """Probabilities of two classes that are too sure, and the truth; some stand on the ends of bins."""
    rng = np.random.default_rng(3)
    p = np.r_[np.round(rng.random(300), 2), rng.random(300)]
    truth = rng.random(600) < np.clip(0.5 + 0.6 * (p - 0.5), 0, 1)
    return p, truth


def test_intervals_of_shares_are_wilsons() -> None:
    pairs = [[0, 1], [1, 1], [0, 10], [3, 10], [10, 10], [500, 1000], [1, 10_000]]
    found = in_node("return given.map(([k, n]) => view.wilson(k, n));", pairs)
    expected = [_wilson(k / n, n, 1.959963984540054) for k, n in pairs]
    np.testing.assert_allclose(found, np.clip(expected, 0, 1), rtol=1e-12, atol=1e-15)
    assert in_node("return view.wilson(0, 0);", None) == [0, 1]


def test_bins_are_those_of_pythons_reliability(answers: tuple[Any, Any]) -> None:
    p, truth = answers
    judged = ing.reliability(np.c_[1 - p, p], y=truth.astype(int), class_=1)
    found = in_node("return view.reliability(given.p, given.truth);", {"p": p.tolist(), "truth": truth.tolist()})
    rows = [each["n"] for each in found["bins"]]
    assert rows == judged.rows.tolist()
    there = judged.rows > 0
    shares = np.array([np.nan if each["share"] is None else each["share"] for each in found["bins"]])
    np.testing.assert_allclose(shares[there], judged.share[there], rtol=1e-12)
    assert found["error"] == pytest.approx(judged.ece, rel=1e-12)


@pytest.mark.parametrize("costs", [[[0, 1], [1, 0]], [[0, 5], [1, 0]], [[-1, 2], [10, -3]], [[0, 0], [0, 0]]])
def test_the_curve_of_costs_is_the_mean_over_the_rows(answers: tuple[Any, Any], costs: Any) -> None:
    p, truth = answers
    given = {"p": p.tolist(), "truth": truth.tolist(), "costs": costs}
    found = in_node(
        "const f = view.judge_costs(view.above(given.p, given.truth), given.costs);"
        "return {...f, own: [...f.own], low: [...f.low], high: [...f.high]};",
        given,
    )
    table = np.asarray(costs)
    expected = [table[truth.astype(int), (p >= t / 100 - 1e-11).astype(int)].mean() for t in range(101)]
    np.testing.assert_allclose(found["own"], expected, rtol=1e-12, atol=1e-12)
    best = round(found["best"] * 100)
    assert expected[best] == pytest.approx(min(expected), rel=1e-12, abs=1e-12)
    assert found["from"] <= found["best"] <= found["to"] or np.ptp(expected) == 0
    assert np.all(np.array(found["low"]) <= np.array(found["own"]) + 1e-12)
    assert np.all(np.array(found["own"]) <= np.array(found["high"]) + 1e-12)


def test_intervals_of_costs_are_as_wide_as_those_of_a_mean(answers: tuple[Any, Any]) -> None:
    p, truth = answers
    given = {"p": p.tolist(), "truth": truth.tolist()}
    lines = "const f = view.judge_costs(view.above(given.p, given.truth), [[0, 1], [1, 0]]);"
    lines += "return [f.low[50], f.high[50]];"
    low, high = in_node(lines, given)
    wrong = (p >= 0.5) != truth
    width = 2 * 1.96 * wrong.std() / np.sqrt(len(p))
    assert high - low == pytest.approx(width, rel=0.25)
    assert in_node(lines, given) == [low, high]  # the draws are those of a seed


def test_probabilities_that_are_right_have_the_threshold_of_the_costs() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(10_000)
    given = {"p": p.tolist(), "truth": (rng.random(10_000) < p).tolist(), "costs": [[0, 1], [4, 0]]}
    lines = "const f = view.judge_costs(view.above(given.p, given.truth), given.costs);"
    lines += "return [f.best, f.from, f.to, view.by_costs(given.costs)];"
    best, low, high, ideal = in_node(lines, given)
    assert ideal == 0.2
    assert low <= 0.2 <= high
    assert best == pytest.approx(0.2, abs=0.06)
    assert in_node("return [view.by_costs([[0, 0], [0, 0]]), view.by_costs([[1, 0], [1, 0]])];", None) == [None, None]
