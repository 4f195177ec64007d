"""Believe it? What the view works out in the browser is what Python's evaluation says of the same answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ingenuo as ing
from ingenuo.datasets import diabetes
from ingenuo.evaluation.audit.groups import _wilson
from ingenuo.page import page
from ingenuo.page.rows import page_rows
from ingenuo.report.page import report

VIEW = "views/believe.mjs"
Run = Callable[..., Any]
Visits = Callable[..., Any]


@pytest.fixture(scope="module")
def answers() -> tuple[Any, Any]:
    """Probabilities of two classes that are too sure, and the truth; some stand on the ends of bins."""
    rng = np.random.default_rng(3)
    p = np.r_[np.round(rng.random(300), 2), rng.random(300)]
    truth = rng.random(600) < np.clip(0.5 + 0.6 * (p - 0.5), 0, 1)
    return p, truth


def test_intervals_of_shares_are_wilsons(in_node: Run) -> None:
    pairs = [[0, 1], [1, 1], [0, 10], [3, 10], [10, 10], [500, 1000], [1, 10_000]]
    found = in_node(VIEW, "wilson", "given.map(([k, n]) => wilson(k, n))", pairs)
    expected = [_wilson(k / n, n, 1.959963984540054) for k, n in pairs]
    np.testing.assert_allclose(found, np.clip(expected, 0, 1), rtol=1e-12, atol=1e-15)
    assert in_node(VIEW, "wilson", "wilson(0, 0)") == [0, 1]


def test_bins_are_those_of_pythons_reliability(in_node: Run, answers: tuple[Any, Any]) -> None:
    p, truth = answers
    judged = ing.reliability(np.c_[1 - p, p], y=truth.astype(int), class_=1)
    given = {"p": p.tolist(), "truth": truth.tolist()}
    found = in_node(VIEW, "reliability", "reliability(given.p, given.truth)", given)
    rows = [each["n"] for each in found["bins"]]
    assert rows == judged.rows.tolist()
    there = judged.rows > 0
    shares = np.array([np.nan if each["share"] is None else each["share"] for each in found["bins"]])
    np.testing.assert_allclose(shares[there], judged.share[there], rtol=1e-12)
    assert found["error"] == pytest.approx(judged.ece, rel=1e-12)


def judged_by_costs(in_node: Run, p: Any, truth: Any, costs: Any) -> Any:
    script = "(({ own, low, high, ...f }) => ({ ...f, own: [...own], low: [...low], high: [...high] }))"
    script += "(judge_costs(above(given.p, given.truth), given.costs))"
    given = {"p": p.tolist(), "truth": truth.tolist(), "costs": costs}
    return in_node(VIEW, "above, judge_costs", script, given)


@pytest.mark.parametrize("costs", [[[0, 1], [1, 0]], [[0, 5], [1, 0]], [[-1, 2], [10, -3]], [[0, 0], [0, 0]]])
def test_the_curve_of_costs_is_the_mean_over_the_rows(in_node: Run, answers: tuple[Any, Any], costs: Any) -> None:
    p, truth = answers
    found, table = judged_by_costs(in_node, p, truth, costs), np.asarray(costs)
    expected = [table[truth.astype(int), (p >= t / 100 - 1e-11).astype(int)].mean() for t in range(101)]
    np.testing.assert_allclose(found["own"], expected, rtol=1e-12, atol=1e-12)
    best = round(found["best"] * 100)
    assert expected[best] == pytest.approx(min(expected), rel=1e-12, abs=1e-12)
    assert found["from"] <= found["best"] <= found["to"] or np.ptp(expected) == 0
    assert np.all(np.array(found["low"]) <= np.array(found["own"]) + 1e-12)
    assert np.all(np.array(found["own"]) <= np.array(found["high"]) + 1e-12)


def test_intervals_of_costs_are_as_wide_as_those_of_a_mean(in_node: Run, answers: tuple[Any, Any]) -> None:
    p, truth = answers
    found = judged_by_costs(in_node, p, truth, [[0, 1], [1, 0]])
    wrong = (p >= 0.5) != truth
    width = 2 * 1.96 * wrong.std() / np.sqrt(len(p))
    assert found["high"][50] - found["low"][50] == pytest.approx(width, rel=0.25)
    assert judged_by_costs(in_node, p, truth, [[0, 1], [1, 0]]) == found  # the draws are those of a seed


def test_probabilities_that_are_right_have_the_threshold_of_the_costs(in_node: Run) -> None:
    rng = np.random.default_rng(0)
    p = rng.random(10_000)
    costs = [[0, 1], [4, 0]]
    found = judged_by_costs(in_node, p, rng.random(10_000) < p, costs)
    assert in_node(VIEW, "by_costs", "by_costs(given)", costs) == 0.2
    assert found["from"] <= 0.2 <= found["to"]
    assert found["best"] == pytest.approx(0.2, abs=0.06)
    assert in_node(VIEW, "by_costs", "[[[0, 0], [0, 0]], [[1, 0], [1, 0]]].map(by_costs)") == [None, None]


# In Chromium.


@pytest.fixture(scope="module")
def patients() -> tuple[Any, Any]:
    table = diabetes()
    return ing.NaiveBayes().fit(table.slice(0, 300), "progression"), table.slice(300)


def near(found: Any) -> Any:
    """The view, when it has its answers."""
    for _ in range(3):  # what lies above grows as it comes near
        found.page.evaluate("() => document.getElementById('believe').scrollIntoView()")
        found.page.wait_for_timeout(120)
    found.page.wait_for_selector("#believe .believe-matrix")
    return found.page.locator("#believe")


def counts(view: Any) -> list[int]:
    return [int(each.replace("·", "0")) for each in view.locator(".believe-cell").all_inner_texts()]


def test_confusions_are_pythons_and_lead_to_their_rows(visit: Visits, patients: tuple[Any, Any]) -> None:
    model, table = patients
    found = visit(page(model, page_rows(model, table)))
    view = near(found)
    evaluation = ing.evaluate(model, table, "progression")
    assert counts(view) == evaluation.confusion.ravel().tolist()
    assert f"differ by {evaluation['ece'].value:.1%} on average" in view.inner_text()
    view.locator(".believe-cell").nth(1).click()
    rows = view.locator(".believe-rows-of tbody tr")
    assert rows.count() == evaluation.confusion[0, 1]
    number = int(rows.first.locator("button").inner_text().split()[-1])
    assert model.predict(table)[number - 1] == "slow"
    assert table["progression"][number - 1].as_py() == "fast"
    rows.first.locator("button").click()
    expected = {name: value for name, value in table.slice(number - 1, 1).to_pylist()[0].items() if value is not None}
    found.until(f"() => decodeURIComponent(location.hash).includes('bmi={expected['bmi']}')")


def test_a_threshold_and_costs_change_what_is_answered(visit: Visits, patients: tuple[Any, Any]) -> None:
    model, table = patients
    found = visit(page(model, page_rows(model, table)))
    view = near(found)
    slow = model.predict_proba(table)[:, 1]
    truth = np.array(table["progression"].to_pylist())
    slider = view.locator("input[type=range]")
    slider.fill("20")
    kept = slow >= 0.2
    expected = [
        int(((truth == label) & (kept == answer)).sum()) for label in ("fast", "slow") for answer in (False, True)
    ]
    assert counts(view) == expected
    assert "slow is answered from 0.20 on" in view.inner_text()
    view.get_by_label("cost of slow answered fast").fill("9")
    view.get_by_label("cost of slow answered fast").press("Tab")
    assert "it would be 0.10 at these costs" in view.inner_text()
    cost = (expected[1] + 9 * expected[2]) / len(truth)
    assert f"At 0.20 a row costs {cost:.3f}" in view.inner_text()
    view.get_by_text("Take the cheapest").click()
    assert slider.input_value() != "20"


def test_a_report_is_judged_without_its_rows(visit: Visits, patients: tuple[Any, Any]) -> None:
    found = visit(report(*patients))
    view = near(found)
    assert counts(view) == ing.evaluate(*patients, "progression").confusion.ravel().tolist()
    assert "The rows themselves are not in this page." in view.inner_text()
    assert view.locator(".believe-cell:not([disabled])").count() == 0


def test_without_rows_it_says_how_to_have_them(visit: Visits, patients: tuple[Any, Any]) -> None:
    model, table = patients
    for rows, said in ((None, "--rows FILE"), (page_rows(model, table.drop_columns(["progression"])), "have no class")):
        found = visit(page(model, rows))
        assert found.page.locator("#believe").count() == 0
        found.page.evaluate("document.querySelector('.absent').open = true")
        assert said in found.text(".absent")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_many_classes_and_a_phone_are_readable(visit: Visits, scheme: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 12, 300)
    X = rng.normal(size=(300, 3)) + y[:, np.newaxis]
    names = np.array([f"class number {k} with a long name" for k in range(12)])[y]
    model = ing.NaiveBayes().fit(X, names)
    strange = np.where(np.arange(300) < 5, "never learned", names)
    found = visit(page(model, page_rows(model, X, strange)), width=360, height=800, scheme=scheme)
    view = near(found)
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 360
    table = np.array(counts(view)).reshape(13, 12)
    assert table[-1].sum() == 5
    assert table.sum() == 300
    assert "a class it does not know" in view.inner_text()
    view.locator("select").first.select_option(index=3)
    assert "probability of class number 0" in view.inner_text() or "probability of class number" in view.inner_text()
