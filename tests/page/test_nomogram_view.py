"""The nomogram of the page: dragged, moved by keys and downloaded, it is the answer of the model to the last digit."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.explanation.nomogram import nomogram
from ingenuo.page import page

Visits = Callable[..., Any]
SLIDER = "#nomogram [role=slider]"


@pytest.fixture(scope="module")
def tennis() -> Any:
    return ing.NaiveBayes().fit(play_tennis(), "Play")


@pytest.fixture(scope="module")
def patients() -> Any:
    return ing.NaiveBayes().fit(diabetes(), "progression")


def slider(found: Any, name: str) -> Any:
    return found.page.locator(f'{SLIDER}[aria-label="{name}"]')


def total(found: Any) -> float:
    """The points that are written above the scales."""
    words = str(found.page.inner_text("#nomogram .nomogram-now b")).replace("−", "-").split()
    return float(words[0].replace("∞", "inf"))


def probability(found: Any) -> str:
    return str(found.page.inner_text("#nomogram .nomogram-now .n"))


def shown(found: Any, label: str) -> str:
    """The probability of a class in the answer."""
    return str(found.page.inner_text(f'.class-row:has(.class-name:text-is("{label}")) .n'))


def near(found: Any) -> None:
    for _ in range(3):  # what lies above grows as it comes near
        found.page.evaluate("() => document.getElementById('nomogram').scrollIntoView()")
        found.page.wait_for_timeout(120)
    found.page.wait_for_selector(f"{SLIDER}, #nomogram .sum")


def test_points_and_probability_are_those_of_python(visit: Visits, tennis: Any) -> None:
    by_python = nomogram(tennis, positive="Yes")
    for row in ({"Outlook": "Sunny", "Wind": "Strong"}, {"Outlook": "Overcast", "Humidity": "High"}, {}):
        found = visit(page(tennis, question=row or None))
        near(found)
        read = by_python.points(row)
        assert total(found) == pytest.approx(read.total, abs=0.5)
        assert probability(found) == f"{100 * read.probability:.1f}%" == shown(found, "Yes")
        for name, points in read.points.items():
            assert slider(found, name).get_attribute("aria-valuenow") == str(round(points))


def test_keys_walk_from_tick_to_tick(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis, question={"Outlook": "Sunny", "Wind": "Strong"}))
    near(found)
    outlook = slider(found, "Outlook")
    outlook.focus()
    said = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "Home", "End", "Delete"):
        found.page.keyboard.press(key)
        found.page.wait_for_timeout(60)
        said.append((outlook.get_attribute("aria-valuetext") or "").split(",")[0])
    assert said == ["Rain", "Overcast", "Rain", "Sunny", "Overcast", "unknown"]
    assert shown(found, "Yes") == probability(found)
    found.page.keyboard.press("Home")
    found.until("() => location.hash.includes('Outlook=Sunny')")


def test_a_value_is_dragged_and_one_undo_takes_it_back(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis, question={"Outlook": "Sunny", "Wind": "Strong"}))
    near(found)
    before = probability(found)
    box = slider(found, "Outlook").locator(".knob").bounding_box()
    axis = found.page.locator("#nomogram .axis").first.bounding_box()
    y = box["y"] + box["height"] / 2
    found.page.mouse.move(box["x"] + box["width"] / 2, y)
    found.page.mouse.down()
    for share in (0.2, 0.5, 0.8, 1.0):
        found.page.mouse.move(axis["x"] + axis["width"] * share, y)
    found.page.mouse.up()
    found.until("() => document.querySelector('#nomogram [aria-label=Outlook]').ariaValueText.startsWith('Overcast')")
    assert probability(found) == shown(found, "Yes") != before
    found.page.keyboard.press("Control+z")
    found.until("() => document.querySelector('#nomogram [aria-label=Outlook]').ariaValueText.startsWith('Sunny')")
    assert probability(found) == before


def test_a_number_is_dragged_along_a_curve_that_turns(visit: Visits, patients: Any) -> None:
    found = visit(page(patients, question={"bmi": 30.0, "s3": 40.0}), width=1400)
    near(found)
    s3 = slider(found, "s3")
    s3.scroll_into_view_if_needed()
    values = []
    for key in ("Home", "End"):
        s3.focus()
        found.page.keyboard.press(key)
        found.page.wait_for_timeout(60)
        box = s3.locator(".knob").bounding_box()
        values.append((float((s3.get_attribute("aria-valuetext") or "").split(",")[0]), box))
    (low, below), (high, above) = values
    assert low < high
    assert below["y"] > above["y"]  # a curve goes upwards by value
    found.page.mouse.move(above["x"] + 8, above["y"] + 8)
    found.page.mouse.down()
    found.page.mouse.move(below["x"] + 8, below["y"] + 8, steps=4)
    found.page.mouse.up()
    found.page.wait_for_timeout(80)
    assert float((s3.get_attribute("aria-valuetext") or "").split(",")[0]) == pytest.approx(low, abs=3)
    read = nomogram(patients, positive="slow").points({"bmi": 30.0, "s3": _now(found, "s3")})
    assert total(found) == pytest.approx(read.total, abs=0.51)
    assert probability(found) == f"{100 * read.probability:.1f}%"


def _now(found: Any, name: str) -> float:
    found.until("() => location.hash.length > 3")
    found.page.wait_for_timeout(400)
    return float(found.page.evaluate("n => new URLSearchParams(location.hash.slice(1)).get(n)", name))


def test_values_survive_another_size_and_another_pair(visit: Visits, patients: Any) -> None:
    found = visit(page(patients, question={"bmi": 30.0, "bp": 90.0}))
    near(found)
    before = probability(found)
    for width in (360, 700, 1920):
        found.page.set_viewport_size({"width": width, "height": 900})
        found.page.wait_for_timeout(150)
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        assert probability(found) == before
        assert (slider(found, "bmi").get_attribute("aria-valuetext") or "").startswith("30,")
    found.page.get_by_role("button", name="Swap").click()
    assert probability(found) == shown(found, "fast") != before
    assert (slider(found, "bmi").get_attribute("aria-valuetext") or "").startswith("30,")


def test_the_picture_is_downloaded_as_svg(visit: Visits, tennis: Any, tmp_path: Path) -> None:
    found = visit(page(tennis, question={"Outlook": "Sunny"}), accept_downloads=True)
    near(found)
    with found.page.expect_download() as waiting:
        found.page.get_by_role("button", name="Download SVG").click()
    path = tmp_path / "picture.svg"
    waiting.value.save_as(path)
    assert waiting.value.suggested_filename == "nomogram.svg"
    root = ET.parse(path).getroot()
    text = "".join(root.itertext())
    assert all(name in text for name in ("Outlook", "Overcast", "Total points", "P(Yes)"))
    assert not [each for each in root.iter() if "class" in each.attrib or "tabindex" in each.attrib]
    assert float(root.attrib["width"]) > 300


def test_of_many_classes_two_are_compared_and_the_share_among_all_is_said(visit: Visits) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=200)
    frame = pd.DataFrame({"a": rng.normal(y, 1.0), "b": rng.choice(["x", "y", "z"], 200)})
    model = ing.NaiveBayes(calibration="temperature").fit(frame, np.array(["p", "q", "r", "s"])[y])
    row = {"a": 1.4, "b": "x"}
    found = visit(page(model, question=row))
    near(found)
    p = model.predict_proba(pd.DataFrame([row]))[0]
    first, second = np.argsort(-p)[:2]
    assert probability(found) == f"{100 * p[first] / (p[first] + p[second]):.1f}%"
    assert f"{100 * p[first]:.1f}% among all 4 classes" in found.text("#nomogram .nomogram-now")
    assert f"P({model.classes_[first]})" in str(found.page.text_content("#nomogram svg"))


def test_what_is_impossible_stands_at_the_end(visit: Visits) -> None:
    model = ing.NaiveBayes(prior="maximum-likelihood").fit(play_tennis(), "Play")
    found = visit(page(model, question={"Outlook": "Overcast"}))
    near(found)
    assert math.isinf(total(found))
    assert probability(found) == "100.0%" == shown(found, "Yes")


def test_a_text_shows_its_words_and_those_of_the_model(visit: Visits) -> None:
    good, bad = "a lovely warm story that moves and delights", "a dull cold story that drags and bores"
    model = ing.NaiveBayes().fit([good, bad] * 10, ["+", "-"] * 10)
    found = visit(page(model, question="lovely lovely cold"))
    near(found)
    svg = str(found.page.text_content("#nomogram svg"))
    assert "lovely ×2" in svg
    assert "bores" in svg
    assert probability(found) == shown(found, "-") or probability(found) == shown(found, "+")


def test_hostile_names_run_nothing_and_long_ones_fit(visit: Visits) -> None:
    hostile = '</script><img src=x onerror="alert(1)">'
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    frame = pd.DataFrame({
        hostile: rng.choice([hostile, "\u202eabc", "\x00", "x" * 3000], 80), "n" * 3000: rng.normal(y, 1.0),
    })  # fmt: skip
    model = ing.NaiveBayes().fit(frame, np.array([hostile, "z" * 2000])[y])
    for width in (360, 1280):
        found = visit(page(model, question={hostile: hostile}), width=width)
        near(found)
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        assert found.page.locator("#nomogram img").count() == 0


def test_columns_that_do_not_add_up_have_none(visit: Visits) -> None:
    model = ing.NetworkClassifier("tan").fit(play_tennis(), "Play")
    found = visit(page(model))
    assert found.page.locator("section#nomogram").count() == 0
    assert "depend on one another" in found.page.locator(".absent").text_content()
