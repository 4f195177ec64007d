"""Ask and Answer in Chromium: every control by keyboard, the answer as Python gives it, the question that survives."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import ingenuo as ing
from ingenuo.cli import main
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.page import page
from ingenuo.store import save

Visits = Callable[..., Any]


@pytest.fixture(scope="module")
def tennis() -> Any:
    return ing.NaiveBayes().fit(play_tennis(), "Play")


@pytest.fixture(scope="module")
def patients() -> Any:
    return ing.NaiveBayes(calibration="temperature").fit(diabetes().slice(0, 300), "progression")


@pytest.fixture(scope="module")
def parcels() -> Any:
    """A number, whole numbers, few values, and many."""
    rng = np.random.default_rng(1)
    heavy = rng.integers(0, 2, 300)
    rows = {
        "weight": (rng.normal(3, 1, 300) + heavy).round(2),
        "stamps": rng.integers(1, 9, 300) + heavy,
        "colour": rng.choice(["brown", "white"], 300),
        "town": rng.choice([f"town {k:02d}" for k in range(40)], 300),
    }
    return ing.NaiveBayes().fit(pd.DataFrame(rows), np.where(heavy, "late", "in time"))


def percent(p: float) -> str:
    return "< 0.1%" if 0 < p < 0.0005 else "> 99.9%" if 0.9995 <= p < 1 else f"{p:.1%}"


def shown(found: Any) -> dict[str, str]:
    """The bars of the answer."""
    return dict(zip(found.texts(".class-name"), found.texts(".class-row .n")))


def asked(found: Any) -> Any:
    """The part of the page in which the question is asked."""
    return found.page.locator(".ask")


def named(found: Any) -> list[str]:
    """The columns that are asked for, also where they are not drawn because they are off the screen."""
    return [str(each) for each in found.page.locator(".field-name").all_text_contents()]


def choose(found: Any, column: str, value: str) -> None:
    asked(found).get_by_role("radiogroup", name=column).get_by_role("radio", name=value, exact=True).click()


def expected(model: Any, row: dict[str, Any]) -> dict[str, str]:
    _, posterior = model.answer_row(row)
    return {str(label): percent(p) for label, p in zip(model.classes_.tolist(), posterior)}


def exact(found: Any) -> list[float]:
    """The probabilities as they are, to the last digit."""
    return [float(each) for each in found.page.locator(".class-row .n").evaluate_all("all => all.map(e => e.title)")]


# The answer.


def test_the_answer_is_that_of_python(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis, title="Tennis"))
    assert found.text("h1") == "Tennis"
    assert shown(found) == expected(tennis, {})
    assert "Nothing is known yet" in found.text(".verdict-note")
    row: dict[str, Any] = {}
    for column, value in (("Outlook", "Sunny"), ("Wind", "Strong"), ("Humidity", "High")):
        choose(found, column, value)
        row[column] = value
        assert shown(found) == expected(tennis, row)
        assert exact(found) == tennis.answer_row(row)[1].tolist()
    found.until("document.querySelector('.badge.good')")
    assert found.text(".badge") == "equal to Python, 32 of 32 check rows"


def test_the_lines_add_up_to_the_answer(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis, question="Outlook=Sunny, Wind=Strong"))
    lines = [[cell.strip() for cell in row.split("\t")] for row in found.texts(".sums tbody tr")]
    assert [(line[0], line[1]) for line in lines] == [("prior", ""), ("Outlook", "Sunny"), ("Wind", "Strong")]
    numbers = [float(line[-1].replace("−", "-")) for line in lines]
    total = float(found.texts(".sums .total td")[-1].replace("−", "-"))
    assert sum(numbers) == pytest.approx(total, abs=0.02)
    joint, _ = tennis.answer_row({"Outlook": "Sunny", "Wind": "Strong"})
    assert total == pytest.approx(joint[0] - joint[1], abs=0.005)
    assert found.text(".arithmetic").count("Unknown, and left out: Temperature, Humidity.") == 1
    found.page.click("text=In numbers, for each class")
    assert str(tennis.answer_row({"Outlook": "Sunny", "Wind": "Strong"})[1][0]) in found.text("section#answer .sheet")


def test_pointing_at_a_line_shows_the_answer_without_it(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis, question="Outlook=Sunny, Wind=Strong"))
    found.page.hover(".sums tbody tr:has-text('Outlook')")
    without = expected(tennis, {"Wind": "Strong"})
    assert found.text(".verdict-note") == f"without Outlook: No {without['No']}"
    assert shown(found) == without
    assert found.page.locator(".ghost").count() == 2
    found.page.hover("h1")
    assert shown(found) == expected(tennis, {"Outlook": "Sunny", "Wind": "Strong"})


def test_before_and_after_calibration(visit: Visits, patients: Any) -> None:
    found = visit(page(patients, question={"bmi": 33.0, "bp": 110.0}))
    assert "before calibration" in found.text(".verdict-note")
    assert found.page.locator(".bar > .before").count() == 2
    assert found.texts(".sums .total th") == ["sum", "after calibration"]
    assert shown(found) == expected(patients, {"bmi": 33.0, "bp": 110.0})


def test_of_many_classes_the_most_probable_are_shown(visit: Visits) -> None:
    rng = np.random.default_rng(0)
    labels = [f"class {k % 20:02d}" for k in range(400)]
    letters = [[f"{'abcdefgh'[(k % 20) // 3]}", *rng.choice(["x", "y"], 2)] for k in range(400)]
    model = ing.NaiveBayes().fit(letters, labels)
    found = visit(page(model, question={"x0": "c", "x1": "x"}))
    assert len(shown(found)) == 6
    assert found.text(".verdict-rest").startswith("14 other classes: ")
    found.page.click("text=show all")
    assert sorted(shown(found).items()) == sorted(expected(model, {"x0": "c", "x1": "x"}).items())
    best = found.texts(".sums .sides span")
    found.page.locator(".pair select").first.select_option(label="class 19")
    assert found.texts(".sums .sides span") == [best[1], "class 19"] or "class 19" in found.text(".sums thead")
    found.page.click("text=the best and the next")
    assert found.texts(".sums .sides span") == best
    stripes = found.page.locator(".class-row .paint-1").first.evaluate("e => getComputedStyle(e).backgroundImage")
    assert "repeating-linear-gradient" in stripes


def test_what_is_said_for_those_who_hear_the_page_waits_until_it_stays(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis))
    choose(found, "Outlook", "Overcast")
    best = max(tennis.answer_row({"Outlook": "Overcast"})[1])
    found.until(f"document.querySelector('[aria-live=polite]').textContent === 'Answer: Yes, {best:.1%}'")


# The question.


def test_a_walk_by_keyboard_alone(visit: Visits, parcels: Any) -> None:
    found = visit(page(parcels))
    press = found.page.keyboard.press

    def tab_to(name: str) -> None:
        for _ in range(40):
            press("Tab")
            if found.focused == name:
                return
        raise AssertionError(f"{name} is not reached")

    def on_to(selector: str) -> None:
        found.until(f"document.querySelector('{selector}') !== null")
        for _ in range(60):
            press("Tab")
            if found.page.evaluate(f"document.activeElement.matches('{selector}')"):
                return
        raise AssertionError(f"{selector} is not reached")

    press("Tab")
    assert found.focused == "Skip to what the answer is made of"
    tab_to("weight, slider")
    press("ArrowRight")
    value = float(asked(found).get_by_role("textbox", name="weight").input_value())
    assert shown(found) == expected(parcels, {"weight": value})
    press("Tab")
    assert found.focused == "weight"
    press("Control+A")
    found.page.keyboard.type("4.25")
    assert shown(found) == expected(parcels, {"weight": 4.25})
    press("Shift+Tab")
    press("Delete")
    assert shown(found) == expected(parcels, {})
    assert found.page.get_attribute("[aria-label='weight, slider']", "aria-valuetext") == "unknown"
    tab_to("unknown")
    press("ArrowRight")
    assert shown(found) == expected(parcels, {"colour": "brown"})
    tab_to("town")
    found.page.keyboard.type("n 17")
    press("ArrowDown")
    press("Enter")
    assert found.page.input_value("[aria-label='town'][role=combobox]") == "town 17"
    assert shown(found) == expected(parcels, {"colour": "brown", "town": "town 17"})
    press("Control+A")
    found.page.keyboard.type("Atlantis")
    press("Enter")
    assert "never seen: left out" in found.text(".fields")
    assert shown(found) == expected(parcels, {"colour": "brown", "town": "Atlantis"})
    press("Control+A")
    press("Delete")
    press("Enter")
    assert shown(found) == expected(parcels, {"colour": "brown"})
    on_to(".sums tbody tr")
    assert found.text(".verdict-note").startswith("without prior:")
    press("ArrowDown")
    assert found.text(".verdict-note") == f"without colour: {max_of(shown(found))}"
    on_to("#nomogram [role=slider]")
    assert found.focused == "weight"
    press("Home")
    found.until("location.hash.includes('weight=')")
    lowest = float(found.page.evaluate("new URLSearchParams(location.hash.slice(1)).get('weight')"))
    assert shown(found) == expected(parcels, {"colour": "brown", "weight": lowest})
    found.until("document.querySelector('#change [aria-busy=false]') !== null")
    found.page.wait_for_timeout(600)  # what is off the screen follows later
    on_to("#change .change-ask")
    best = found.text(".verdict .best")
    press("Enter")
    found.until(f"document.querySelector('.verdict .best').innerText.trim() !== '{best}'")
    assert found.page.evaluate("document.activeElement.id") == "change"  # the suggestion is gone, its place is not


def max_of(bars: dict[str, str]) -> str:
    """The class that is answered, with its bar."""
    name = max(bars, key=lambda each: float(bars[each].strip("%<> ")))
    return f"{name} {bars[name]}"


def test_undo_redo_and_reset(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis))
    undo, redo = asked(found).get_by_label("Undo"), asked(found).get_by_label("Redo")
    assert undo.is_disabled()
    for column, value in (("Outlook", "Rain"), ("Outlook", "Sunny"), ("Wind", "Weak")):
        choose(found, column, value)
    undo.click()
    assert shown(found) == expected(tennis, {"Outlook": "Sunny"})
    found.page.keyboard.press("Control+z")
    assert shown(found) == expected(tennis, {"Outlook": "Rain"})
    redo.click()
    found.page.keyboard.press("Control+Shift+Z")
    assert shown(found) == expected(tennis, {"Outlook": "Sunny", "Wind": "Weak"})
    assert redo.is_disabled()
    asked(found).get_by_label("Reset: everything unknown").click()
    assert shown(found) == expected(tennis, {})
    undo.click()
    assert shown(found) == expected(tennis, {"Outlook": "Sunny", "Wind": "Weak"})


def test_the_question_survives_reload_resize_leaving_and_coming_back(visit: Visits, parcels: Any) -> None:
    found = visit(page(parcels), quiet=False)
    asked(found).get_by_role("textbox", name="weight").fill("2.5")
    choose(found, "colour", "white")
    row = {"weight": 2.5, "colour": "white"}
    found.until("location.hash.includes('white')")
    for leave in (
        found.page.reload,
        lambda: found.page.set_viewport_size({"width": 400, "height": 700}),
        lambda: (found.page.goto("about:blank"), found.page.go_back()),
    ):
        leave()
        found.page.wait_for_selector("html[data-ready]")
        assert shown(found) == expected(parcels, row)
    assert found.page.url.endswith("#weight=2.5&colour=white")
    found.page.evaluate("location.hash = '#weight=3&colour=brown&nothing=1&half=%'")
    found.until("document.querySelector('.ask input.number').value === '3'")
    assert shown(found) == expected(parcels, {"weight": 3.0, "colour": "brown"})
    asked(found).get_by_label("Undo").click()
    assert shown(found) == expected(parcels, row)


def test_a_question_that_python_gave_comes_first_and_can_be_taken_away_for_good(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis, question={"Outlook": "Rain"}), quiet=False)
    assert shown(found) == expected(tennis, {"Outlook": "Rain"})
    asked(found).get_by_label("Reset: everything unknown").click()
    found.until("location.hash === '#='")
    found.page.reload()
    found.page.wait_for_selector("html[data-ready]")
    assert shown(found) == expected(tennis, {})


def test_what_is_no_number_is_said_and_changes_nothing(visit: Visits, parcels: Any) -> None:
    found = visit(page(parcels))
    weight = asked(found).get_by_role("textbox", name="weight")
    weight.fill("3")
    for text in ("3,5", "abc", "1e999", "-", "0x10"):
        weight.fill(text)
        assert weight.get_attribute("aria-invalid") == "true"
        assert shown(found) == expected(parcels, {"weight": 3.0})
    weight.fill("1e3")
    assert weight.get_attribute("aria-invalid") is None
    assert shown(found) == expected(parcels, {"weight": 1000.0})


def test_marks_stand_at_the_means_of_the_classes(visit: Visits, parcels: Any) -> None:
    found = visit(page(parcels))
    titles = found.page.locator(".field.number:has([aria-label='weight']) .marks i").evaluate_all(
        "all => all.map(e => e.title)"
    )
    assert [title.rpartition(":")[0] for title in titles] == ["mean of in time", "mean of late"]


def test_the_question_can_be_copied_as_a_command_and_as_python(visit: Visits, tennis: Any) -> None:
    html = page(tennis, question="Outlook=Sunny, Wind=Weak", about={"file": "my tennis.ingenuo"})
    found = visit(html)
    found.page.click("[aria-label='Copy the question']")
    assert found.texts(".form code") == [
        "ingenuo explain 'my tennis.ingenuo' --row 'Outlook=Sunny, Wind=Weak'",
        'model.explain({"Outlook": "Sunny", "Wind": "Weak"})',
    ]
    found.page.keyboard.press("Escape")
    assert not found.page.is_visible(".form")


def test_what_is_copied_runs(visit: Visits, parcels: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"weight": 2.5, "stamps": 4.0, "colour": "white", "town": "town 07"}
    file = str(tmp_path / "the parcels' model.ingenuo")
    save(parcels, file)
    found = visit(page(parcels, question=row, about={"file": file}), permissions=["clipboard-read", "clipboard-write"])
    found.page.click("[aria-label='Copy the question']")
    copied = []
    for form in found.page.locator(".form button").all()[:2]:
        form.click()
        found.until("document.querySelector('.form button[aria-pressed], .form .icon') !== null")
        copied.append(found.page.evaluate("navigator.clipboard.readText()"))
    assert copied == found.texts(".form code")
    _, *arguments = shlex.split(copied[0])
    done = CliRunner().invoke(main, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    best = max(expected(parcels, row).items(), key=lambda each: float(each[1].strip("%<> ")))[0]
    assert best in done.output
    explained = eval(copied[1], {"model": parcels})
    assert explained.posterior.tolist() == exact(found)


def test_lines_that_add_nothing_are_behind_one_line(visit: Visits) -> None:
    rows = [[label, *each] for label in "ab" for each in ("pq", "pr", "sq", "sr") for _ in range(3)]
    frame = pd.DataFrame(rows, columns=["telling", "one", "two"]).assign(three="x", four=["u", "v"] * 12)
    model = ing.NaiveBayes(columns=dict.fromkeys(frame, "category")).fit(frame, frame["telling"])
    found = visit(page(model, question={"telling": "a", "one": "p", "two": "q", "three": "x", "four": "u"}))
    assert found.texts("#answer .sums tbody th") == ["prior", "telling"]
    assert found.text("#answer .rest th").startswith("4 weaker lines")
    found.page.click("#answer .rest button")
    assert found.texts("#answer .sums tbody th") == ["prior", "telling", "one", "two", "three", "four"]


def test_bars_slide_unless_motion_is_unwanted(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis))
    moves = "getComputedStyle(document.querySelector('.bar > i')).transitionDuration"
    assert found.page.evaluate(moves) == "0s"
    found.page.emulate_media(reduced_motion="no-preference")
    assert found.page.evaluate(moves) != "0s"


def test_words_are_highlighted_beneath_the_text(visit: Visits) -> None:
    good, bad = "a lovely warm story that moves", "a dull cold story that bores"
    model = ing.NaiveBayes().fit([good, bad] * 10, ["+", "-"] * 10)
    found = visit(page(model))
    found.page.fill("textarea", "A lovely, cold story of nothing")
    found.until("document.querySelectorAll('.behind mark').length === 2")
    marks = found.page.locator(".behind mark").evaluate_all(
        "all => all.map(e => [e.textContent, e.style.getPropertyValue('--c')])"
    )
    assert [text for text, _ in marks] == ["lovely", "cold"]
    assert marks[0][1] != marks[1][1]
    assert (
        found.page.evaluate("document.querySelector('.behind').textContent.trimEnd()")
        == "A lovely, cold story of nothing"
    )
    _, posterior = model.answer_row({str(model.schema_.names[0]): "A lovely, cold story of nothing"})
    assert exact(found) == posterior.tolist()
    asked(found).get_by_label("Undo").click()
    assert found.page.input_value("textarea") == ""
    found.page.fill("textarea", "A lovely line\n" * 60)  # the cursor is at its end, before the words are coloured
    found.page.press("textarea", "Control+End")
    found.until("document.querySelectorAll('.behind mark').length === 60")
    down = "[...document.querySelectorAll('textarea, .behind')].map(e => e.scrollTop)"
    behind, text = found.page.evaluate(down)
    assert behind == text > 0


def test_of_200_columns_those_with_the_largest_effect_come_first(visit: Visits) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    table = {f"gene {k:03d}": rng.normal(size=300) + (y * 3 if k == 150 else 0) for k in range(200)}
    found = visit(page(ing.NaiveBayes().fit(pd.DataFrame(table), np.where(y, "ill", "healthy"))))
    assert named(found)[0] == "gene 150"
    assert len(named(found)) == 100
    found.page.click("text=Show more of 200 columns")
    assert len(named(found)) == 200
    asked(found).get_by_label("Order of the columns").select_option(label="as in the table")
    assert named(found)[:2] == ["gene 000", "gene 001"]
    found.page.fill("[aria-label='Find a column']", "GENE 04")
    assert named(found) == [f"gene 04{k}" for k in range(10)]
    asked(found).get_by_role("textbox", name="gene 042").fill("1.5")
    found.page.fill("[aria-label='Find a column']", "")
    asked(found).get_by_label("Order of the columns").select_option(label="those that are known")
    assert named(found) == ["gene 042"]


def test_an_example_is_one_of_the_rows_or_one_that_the_model_imagines(visit: Visits, tennis: Any, parcels: Any) -> None:
    found = visit(page(tennis, play_tennis()))
    asked(found).get_by_label("Take one of the rows").click()
    assert len(found.texts(".chip:has(input:checked):not(.unknown)")) == 4
    found = visit(page(parcels))
    asked(found).get_by_label("Imagine a row").click()
    assert found.texts(".field.unset .field-name") == []


def test_counts_are_stepped(visit: Visits) -> None:
    rng = np.random.default_rng(0)
    words = rng.poisson(1.0, (60, 3))
    words[:30, 0] += 2
    frame = pd.DataFrame(words, columns=["win", "the", "meeting"])
    model = ing.NaiveBayes(columns=dict.fromkeys(frame, "count")).fit(frame, ["spam"] * 30 + ["ham"] * 30)
    found = visit(page(model))
    win = found.page.get_by_role("group", name="win", exact=True).first
    for _ in range(3):
        win.get_by_label("one more").click()
    assert shown(found) == expected(model, {"win": 3})
    win.get_by_label("one less").click()
    assert shown(found) == expected(model, {"win": 2})
