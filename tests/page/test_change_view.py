"""What would change the answer, in Chromium: a click asks a suggestion, columns are locked, and Undo goes back."""

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
ITEM = "#change .change-item"


@pytest.fixture(scope="module")
def tennis() -> Any:
    return ing.NaiveBayes().fit(play_tennis(), "Play")


def near(found: Any) -> None:
    for _ in range(3):  # what lies above grows as it comes near
        found.page.evaluate("() => document.getElementById('change').scrollIntoView()")
        found.page.wait_for_timeout(120)
    found.page.wait_for_selector("#change .change-sentence")
    found.until("() => document.querySelector('#change .change-found').ariaBusy === 'false'")


def best(found: Any) -> str:
    return str(found.page.inner_text(".verdict .best")).strip()


def names(found: Any) -> list[str]:
    return [each.strip() for each in found.page.locator(f"{ITEM} .change-name").all_inner_texts()]


def test_each_suggestion_gives_the_answer_that_it_promises(visit: Visits, tennis: Any) -> None:
    row = {"Outlook": "Sunny", "Wind": "Strong"}
    found = visit(page(tennis, question=row))
    near(found)
    assert best(found) == "No"
    assert found.text("#change .change-sentence") == "Each of these alone is enough:"
    promised = found.texts(f"{ITEM} .change-answer .n")
    for at in range(len(promised)):
        found.page.locator(f"{ITEM} .change-ask").nth(at).click()
        found.until("() => document.querySelector('.verdict .best').innerText.trim() === 'Yes'")
        assert found.page.inner_text(".verdict .chance") == promised[at]
        found.page.keyboard.press("Control+z")
        found.until("() => document.querySelector('.verdict .best').innerText.trim() === 'No'")
        near(found)
    # By brute force: these columns, and these alone, have a value that is enough.
    enough, whole = [], {**dict.fromkeys(("Outlook", "Temperature", "Humidity", "Wind")), **row}
    for column in whole:
        values = set(play_tennis()[column].to_pylist()) - {row.get(column)}
        if any(tennis.predict_proba(pd.DataFrame([{**whole, column: v}]))[0, 1] > 0.5 for v in values):
            enough.append(column)
    assert sorted(names(found)) == sorted(enough)


def test_a_locked_column_is_left_alone(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis, question={"Outlook": "Sunny", "Wind": "Strong"}))
    near(found)
    first = names(found)[0]
    found.page.get_by_role("button", name=f"Leave {first} as it is").click()
    found.until(f"() => ![...document.querySelectorAll('{ITEM} .change-name')].some(e => e.innerText === '{first}')")
    found.page.locator("#change .change-lock summary").click()
    assert found.page.get_by_role("checkbox", name=first).is_checked()
    found.page.get_by_role("button", name="unlock all").click()
    found.until(f"() => [...document.querySelectorAll('{ITEM} .change-name')].some(e => e.innerText === '{first}')")


def test_by_keyboard_a_suggestion_is_seen_before_it_is_asked(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis, question={"Outlook": "Sunny", "Wind": "Strong"}))
    near(found)
    ask = found.page.locator(f"{ITEM} .change-ask").first
    assert "Outlook: Sunny to Overcast" in (ask.get_attribute("aria-label") or "")
    ask.focus()
    found.page.wait_for_selector(".verdict.previewed")
    assert "Outlook = Overcast" in found.text(".verdict-note")
    assert best(found) == "No"
    found.page.keyboard.press("Enter")
    found.until("() => document.querySelector('.verdict .best').innerText.trim() === 'Yes'")


def test_numbers_are_the_nearest_and_sets_are_minimal(visit: Visits) -> None:
    model = ing.NaiveBayes().fit(diabetes(), "progression")
    row = {"bmi": 36.0, "bp": 115.0, "s3": 35.0, "s5": 5.4, "s6": 105.0, "s4": 5.0}
    found = visit(page(model, question=row))
    near(found)
    assert best(found) == "fast"
    assert "are enough. These" in found.text("#change .change-sentence") or "together" in found.text(
        "#change .change-sentence"
    )
    found.page.locator(f"{ITEM} .change-ask").first.click()
    found.until("() => document.querySelector('.verdict .best').innerText.trim() === 'slow'")
    chance = float(found.page.inner_text(".verdict .chance").rstrip("%"))
    assert 50.0 <= chance < 55.0  # numbers go no farther than they must


def test_of_several_classes_the_nearest_comes_first(visit: Visits) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(9), 30)
    frame = pd.DataFrame({"a": rng.normal(y, 1.0), "b": rng.normal(-y, 2.0)})
    model = ing.NaiveBayes().fit(frame, np.array([f"class {k}" for k in range(9)])[y])
    row = {"a": 4.1, "b": -4.0}
    found = visit(page(model, question=row))
    near(found)
    p = model.predict_proba(pd.DataFrame([row]))[0]
    order = [f"class {k}" for k in np.argsort(-p)[1:6]]
    chips = [each.split(" (")[0] for each in found.texts("#change .change-head .chip")]
    assert chips == order
    found.page.locator("#change .change-head .chip").nth(2).click()
    near(found)
    found.page.locator(f"{ITEM} .change-ask").first.click()
    found.until(f"() => document.querySelector('.verdict .best').innerText.trim() === '{order[2]}'")


def test_words_are_taken_out_of_a_text(visit: Visits) -> None:
    good, bad = "a lovely warm story that moves and delights", "a dull cold story that drags and bores"
    model = ing.NaiveBayes().fit([good, bad] * 10, ["good", "bad"] * 10)
    found = visit(page(model, question="Dull, cold and lovely."))
    near(found)
    assert best(found) == "bad"
    words = [each.lower() for each in found.texts(f"{ITEM} del")]
    assert set(words) <= {"dull", "cold"}
    found.page.locator(f"{ITEM} .change-ask").first.click()
    found.until("() => document.querySelector('.verdict .best').innerText.trim() === 'good'")


def test_where_columns_do_not_add_up_values_are_tried(visit: Visits) -> None:
    model = ing.NetworkClassifier("tan").fit(play_tennis(), "Play")
    row = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Strong"}
    found = visit(page(model, question=row))
    near(found)
    was = best(found)
    assert "do not add up" in found.text("#change .caption")
    other = "Yes" if was == "No" else "No"
    enough = []
    for column in row:
        values = set(play_tennis()[column].to_pylist()) - {row[column]}
        shares = [model.predict_proba(pd.DataFrame([{**row, column: v}]))[0] for v in sorted(values)]
        if any(model.classes_[p.argmax()] == other for p in shares):
            enough.append(column)
    if enough:
        assert sorted(names(found)) == sorted(enough)
    found.page.locator(f"{ITEM} .change-ask").first.click()
    found.until(f"() => document.querySelector('.verdict .best').innerText.trim() === '{other}'")


@pytest.mark.parametrize("width", [360, 768, 1600])
def test_it_fits_every_screen(visit: Visits, width: int) -> None:
    names = [f"{name} with quite a long name" for name in diabetes().column_names]
    model = ing.NaiveBayes().fit(diabetes().rename_columns(names), names[-1])
    row = {names[2]: 36.0, names[3]: 115.0, names[8]: 5.4}
    found = visit(page(model, question=row), width=width)
    near(found)
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
