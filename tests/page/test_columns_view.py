"""The columns of a model in Chromium: how each looks in every class, sorted by how much it says, and set by a click."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.page import page

Visits = Callable[..., Any]
CARD = "#columns .columns-card"


@pytest.fixture(scope="module")
def tennis() -> Any:
    return ing.NaiveBayes().fit(play_tennis(), "Play")


def near(found: Any) -> None:
    for _ in range(3):  # what lies above grows as it comes near
        found.page.evaluate("() => document.getElementById('columns').scrollIntoView()")
        found.page.wait_for_timeout(120)
    found.page.wait_for_selector(f"{CARD} .columns-bits, {CARD} .columns-words")


def card(found: Any, name: str) -> Any:
    return found.page.locator(f'{CARD}:has(h3:text-is("{name}"))')


def logs(model: Any, column: str, value: Any) -> list[float]:
    """What a value adds to the log joint of each class."""
    factors = model.explain({column: value}).factors
    return [term.log for term in next(each for each in factors if each.column == column).terms]


def table(found: Any, name: str) -> list[list[str]]:
    """The table below a picture."""
    own = card(found, name)
    own.scroll_into_view_if_needed()
    own.locator("summary").click()
    own.locator("table").wait_for()
    return [[cell.strip() for cell in row.locator("th,td").all_inner_texts()] for row in own.locator("tbody tr").all()]


def test_shares_are_those_of_the_model_and_the_most_telling_column_is_first(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis))
    near(found)
    explained = {}
    for column in ("Outlook", "Temperature", "Humidity", "Wind"):
        values = sorted(set(play_tennis()[column].to_pylist()))
        explained[column] = (values, np.exp([logs(tennis, column, value) for value in values]))
    prior = tennis.predict_proba(pd.DataFrame([dict.fromkeys(explained, None)]))[0]

    def bits(shares: Any) -> float:
        p = shares / shares.sum(axis=0)
        return float((prior * p * np.log2(p / (p @ prior)[:, np.newaxis])).sum())

    order = sorted(explained, key=lambda column: -bits(explained[column][1]))
    found.until(f"() => document.querySelector('{CARD} h3').innerText === '{order[0]}'")
    assert found.texts(f"{CARD} h3") == order
    values, shares = explained["Outlook"]
    assert table(found, "Outlook") == [
        [value, *(f"{100 * p:.1f}%" for p in own)] for value, own in zip(values, shares.tolist())
    ]


def test_true_and_false_are_written_as_python_writes_them(visit: Visits) -> None:
    rows = [{"vip": True}, {"vip": False}, {"vip": True}, {"vip": False}, {"vip": False}]
    found = visit(page(ing.NaiveBayes(columns={"vip": "category"}).fit(rows, [1, 0, 1, 0, 1])))
    near(found)
    assert [row[0] for row in table(found, "vip")] == ["False", "True"]
    drawn = found.page.locator("#nomogram svg text").all_text_contents()
    assert sorted(text for text in set(drawn) if text.lower() in ("false", "true")) == ["False", "True"]


def test_a_value_is_set_by_a_click_and_taken_back_by_another(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis))
    near(found)
    rain = card(found, "Outlook").get_by_role("button", name="Rain")
    rain.click()
    pressed = f"document.querySelectorAll('{CARD} [aria-pressed=true]').length"
    found.until(f"location.hash.includes('Outlook=Rain') && {pressed} === 1")
    assert rain.get_attribute("aria-pressed") == "true"
    others = dict.fromkeys(("Temperature", "Humidity", "Wind"))
    expected = tennis.predict_proba(pd.DataFrame([{**others, "Outlook": "Rain"}]))[0]
    assert found.page.inner_text(".verdict .chance") == f"{100 * expected.max():.1f}%"
    rain.click()
    found.until(f"!location.hash.includes('Outlook') && {pressed} === 0")
    assert rain.get_attribute("aria-pressed") == "false"


def test_densities_are_those_of_the_model(visit: Visits) -> None:
    model = ing.NaiveBayes(numbers="gaussian").fit(diabetes(), "progression")
    found = visit(page(model, question={"bmi": 30.0}))
    near(found)
    rows = table(found, "bmi")
    values = [float(row[0].replace("−", "-")) for row in rows]
    expected = np.exp([logs(model, "bmi", value) for value in values])
    shown = np.array([[float(cell.replace("−", "-")) for cell in row[1:]] for row in rows])
    np.testing.assert_allclose(shown, expected, rtol=0.08, atol=1e-4)  # values are shown with four figures


def test_a_number_is_set_by_keys_and_by_drawing(visit: Visits) -> None:
    model = ing.NaiveBayes().fit(diabetes(), "progression")
    found = visit(page(model, question={"bmi": 30.0}))
    near(found)
    curve = found.page.locator('#columns [role=slider][aria-label="bmi"]')
    curve.scroll_into_view_if_needed()
    curve.focus()
    found.page.keyboard.press("ArrowRight")
    found.until("() => Number(new URLSearchParams(location.hash.slice(1)).get('bmi')) > 30")
    found.page.keyboard.press("Delete")
    drawn = "document.querySelector('#columns [role=slider][aria-label=bmi]').getAttribute('aria-valuetext')"
    found.until(f"{drawn} === 'unknown' && !location.hash.includes('bmi')")
    box = curve.bounding_box()
    found.page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60)
    found.page.mouse.down()
    found.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=5)
    found.page.mouse.up()
    low, high = float(curve.get_attribute("aria-valuemin")), float(curve.get_attribute("aria-valuemax"))
    there = "document.querySelector('#columns [role=slider][aria-label=bmi]').getAttribute('aria-valuenow')"
    wanted = low + 0.6 * (high - low)  # once the last of the steps has arrived
    found.until(f"Math.abs(Number({there}) - {wanted}) < {0.05 * wanted} && location.hash.includes('bmi')")
    found.page.keyboard.press("Control+z")
    found.until("() => !location.hash.includes('bmi')")


def test_two_hundred_columns_are_laid_out_as_they_are_needed(visit: Visits) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    frame = pd.DataFrame({f"c{j}": rng.normal(0.01 * j * y, 1.0) for j in range(200)})
    model = ing.NaiveBayes().fit(frame, np.array(["no", "yes"])[y])
    found = visit(page(model))
    near(found)
    assert found.page.locator(CARD).count() == 24
    assert found.page.locator(f"{CARD} svg").count() < 24
    found.page.locator("#columns input[type=search]").fill("c77")
    found.until(f"() => document.querySelectorAll('{CARD}').length === 1")
    assert found.texts(f"{CARD} h3") == ["c77"]
    found.page.locator("#columns input[type=search]").fill("")
    found.page.get_by_role("button", name="Show 48 more of 200").click()
    found.until(f"() => document.querySelectorAll('{CARD}').length === 72")


@pytest.mark.parametrize("classes", [2, 3, 12])
@pytest.mark.parametrize("width", [360, 1440])
def test_few_and_many_classes_fit_every_screen(visit: Visits, classes: int, width: int) -> None:
    rng = np.random.default_rng(1)
    y = np.arange(360) % classes
    hostile = "</script><b>" + "w" * 300
    frame = pd.DataFrame({
        hostile: rng.choice([hostile, "b", "c"], 360), "number": rng.normal(y, 1.0),
        "often 0": np.where(rng.random(360) < 0.5, 0.0, rng.gamma(2.0, 1.0 + y)),
        "code": rng.choice(np.arange(20), 360),
    })  # fmt: skip
    model = ing.NaiveBayes(columns={"code": "category"}).fit(frame, np.array([f"class {k}" for k in range(classes)])[y])
    for scheme in ("light", "dark"):
        found = visit(page(model, question={"number": 1.0, "code": 3}), width=width, scheme=scheme)
        near(found)
        found.page.evaluate("document.querySelectorAll('#columns details').forEach(each => each.open = true)")
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        assert found.page.locator("#columns b").count() == 0


def test_of_a_network_the_answer_with_one_value_alone_is_shown(visit: Visits) -> None:
    model = ing.NetworkClassifier("tan").fit(play_tennis(), "Play")
    found = visit(page(model))
    near(found)
    rows = table(found, "Wind")
    others = dict.fromkeys(("Outlook", "Temperature", "Humidity"))
    expected, wind = 0.0, model.network_.posterior("Wind")
    prior = model.predict_proba(pd.DataFrame([{**others, "Wind": None}]))[0]
    for value, *shares in rows:
        p = model.predict_proba(pd.DataFrame([{**others, "Wind": value}]))[0]
        assert shares == [f"{100 * each:.1f}%" for each in p]
        expected += wind[value] * float((p * np.log2(p / prior)).sum())  # the mutual information of wind and class
    bits = card(found, "Wind").locator(".columns-bits").inner_text().split()[0]
    assert float(bits) == pytest.approx(expected, rel=0.06)
