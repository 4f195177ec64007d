"""Forget, with the server at home in Chromium: before and after, on trial and for good; undone, saved, and merged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ingenuo as ing
from ingenuo import store
from ingenuo.cli.work.page import merge_with
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.page import page
from ingenuo.page.rows import page_rows
from ingenuo.page.session import Session
from ingenuo.serve.home import make_server
from ingenuo.serve.server import listen

SUNNY = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Weak"}  # the first of the days, No
QUESTION = "Outlook=Sunny&Temperature=Hot&Humidity=High&Wind=Weak"
Homes = Callable[..., Any]


@pytest.fixture
def home(browser: Any) -> Iterator[Homes]:
    """Serves a session and opens its page, as `ingenuo open` does; in the end nobody but the server was asked."""
    running: list[tuple[Any, threading.Thread]] = []
    asked: list[str] = []
    said: list[str] = []

    def go(
        session: Session, *, hash: str = QUESTION, width: int = 1280, scheme: str = "light", view: str = "forget"
    ) -> Any:
        bound, addresses, ready = listen(), list[str](), threading.Event()
        base = f"http://127.0.0.1:{bound.getsockname()[1]}"
        server = make_server(session, bound.getsockname()[1], lambda *found: (addresses.extend(found), ready.set()))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        running.append((server, thread))
        assert ready.wait(20)
        found = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        ).new_page()
        found.on("request", lambda request: asked.append(request.url.partition("#")[0].removeprefix(base)))
        found.on("pageerror", lambda error: said.append(str(error)))
        found.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        found.goto(addresses[1])  # which opens once
        found.wait_for_selector("html[data-ready]")
        assert found.url.removeprefix(base).startswith("/#") or found.url == f"{base}/"
        found.evaluate(f"location.hash = '{hash}'")
        near(found, view)
        return found

    yield go
    for server, thread in running:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
    assert said == []
    assert {url for url in asked if not url.startswith(("/", "data:"))} == set()


def near(found: Any, view: str = "forget") -> None:
    for _ in range(4):  # what lies above grows as it comes near
        found.evaluate(f"document.getElementById('{view}').scrollIntoView()")
        found.wait_for_timeout(120)
    found.wait_for_selector(f"#{view} .forget-state, #{view} .two-drop")


def table(found: Any, label: str) -> list[list[str]]:
    rows = found.locator(f"#forget [aria-label='{label}'] tbody tr")
    return [[cell.strip() for cell in row.locator("th,td").all_inner_texts()] for row in rows.all()]


@pytest.fixture
def tennis() -> Any:
    return ing.NaiveBayes().fit(play_tennis(), "Play")


def test_before_and_after_are_those_of_python(home: Homes, tennis: Any) -> None:
    session = Session(tennis)
    found = home(session)
    found.click("text=What would forgetting it change?")
    found.wait_for_selector("#forget .sides")
    without = ing.NaiveBayes().fit(play_tennis().slice(1), "Play")
    shares = [model.predict_proba([SUNNY])[0] for model in (tennis, without)]
    answers = {row[0]: [row[2], row[4]] for row in table(found, "before, after")}
    assert answers["No"] == [f"{share[0]:.1%}" for share in shares]
    fractions = {(row[0], row[2]): row[3:] for row in table(found, "fractions before and after")}
    assert fractions["Outlook", "No"] == ["(3 + 1)/(5 + 3) = 0.5", "(2 + 1)/(4 + 3) = 0.4285714"]
    assert ("Outlook", "Yes") not in fractions
    assert "14 before, 13 after" in found.inner_text("#forget")
    assert session.model is tennis


def test_a_row_is_forgotten_undone_learned_and_saved(home: Homes, tennis: Any, tmp_path: Path) -> None:
    session = Session(tennis, save_to=str(tmp_path / "new.ingenuo"))
    found = home(session)
    found.click("text=What would forgetting it change?")
    with found.expect_navigation():
        found.click("#forget button.primary")
    found.wait_for_selector("html[data-ready]")
    assert found.evaluate("location.hash") == f"#{QUESTION}"  # the question is as it was
    assert session.model.tally_ == ing.NaiveBayes().fit(play_tennis().slice(1), "Play").tally_
    found.wait_for_selector(".badge.good")
    assert "equal to Python, 32 of 32" in found.inner_text(".badge")
    near(found)
    assert "changed once" in found.inner_text("#forget")
    assert "It knows 13 rows." in found.inner_text("#forget")
    found.click("#forget button:has-text('Save to new.ingenuo')")
    found.wait_for_selector("#forget :text('Saved to new.ingenuo')")
    assert store.load(tmp_path / "new.ingenuo").tally_ == session.model.tally_
    with found.expect_download() as download:
        found.click("#forget >> text=Download the model")
    assert store.load(download.value.path()).tally_ == session.model.tally_
    found.click("#forget label:has-text('learn')")
    found.click("text=What would learning it change?")
    found.wait_for_selector("#forget .sides")
    assert "13 before, 14 after" in found.inner_text("#forget")
    with found.expect_navigation():
        found.click("#forget button:has-text('Undo the last')")
    found.wait_for_selector("html[data-ready]")
    assert session.model is tennis


def test_a_row_of_the_page_has_its_own_class(home: Homes, tennis: Any) -> None:
    found = home(Session(tennis, lambda model: page_rows(model, play_tennis())), hash="Outlook=Rain")
    found.fill("#forget input[type=number]", "2")
    assert found.locator("#forget .forget-cell").all_inner_texts()[3].split() == ["Wind", "Strong"]
    assert found.evaluate("document.querySelector('#forget select').selectedOptions[0].text") == "No"
    found.click("text=What would forgetting it change?")
    found.wait_for_selector("#forget .sides")
    assert found.locator("#forget .sides").count() == 2  # of the question and of the row


def test_what_cannot_be_forgotten_is_one_sentence(home: Homes) -> None:
    known = ing.NaiveBayes(fingerprints=True).fit(play_tennis(), "Play")
    found = home(Session(known), hash="Outlook=Overcast&Temperature=Hot&Humidity=High&Wind=Strong")
    found.click("text=What would forgetting it change?")
    found.wait_for_selector("#forget .warning")
    assert "was never learned" in found.inner_text("#forget .warning")
    assert "Traceback" not in found.inner_text("#forget .warning")


def test_a_model_that_is_no_sum_says_why_it_cannot_forget(home: Homes) -> None:
    model = ing.SoftmaxRegression().fit(diabetes(), "progression")
    found = home(Session(model), hash="bmi=30", view="two")
    assert found.locator("#forget").count() == 0
    found.evaluate("document.querySelector('.absent').open = true")
    assert "is no sum over" in found.inner_text(".absent") or "cannot forget" in found.inner_text(".absent")


def test_values_and_classes_that_are_hostile_run_nothing(home: Homes) -> None:
    bad = "</script><img src=x onerror=alert(1)>"
    days = play_tennis().to_pandas().replace({"Sunny": bad, "No": bad})
    session = Session(ing.NaiveBayes().fit(days, "Play"), lambda model: page_rows(model, days), title=bad)
    found = home(session, hash="")
    found.fill("#forget input[type=number]", "1")
    found.click("text=What would forgetting it change?")
    found.wait_for_selector("#forget .sides")
    assert bad in found.inner_text("#forget .sides")
    assert found.locator("#forget img").count() == 0


def test_two_models_are_added_on_the_page(home: Homes) -> None:
    rows = play_tennis()
    one, two = (ing.NaiveBayes().fit(part, "Play") for part in (rows.slice(0, 8), rows.slice(8)))
    session = Session(one, merge=merge_with("one", {}))
    found = home(session)
    near(found, "two")
    file = {"name": "two.ingenuo", "mimeType": "application/octet-stream", "buffer": store.to_bytes(two)}
    found.set_input_files("#two input[type=file]", files=[file])
    found.click("#two >> text=What would the sum answer?")
    found.wait_for_selector("#two >> text=2 models added up; 14 rows in all")
    with found.expect_navigation():
        found.click("#two button.primary")
    found.wait_for_selector("html[data-ready]")
    assert session.model.tally_ == ing.NaiveBayes().fit(rows, "Play").tally_


def test_a_file_that_is_no_model_is_one_sentence(home: Homes, tennis: Any) -> None:
    found = home(Session(tennis))
    near(found, "two")
    broken = store.to_bytes(tennis)[:-9] + b"x" * 9
    file = {"name": "two.ingenuo", "mimeType": "application/octet-stream", "buffer": broken}
    found.set_input_files("#two input[type=file]", files=[file])
    found.wait_for_selector("#two .warning")
    assert "the model file is damaged" in found.inner_text("#two .warning")


def test_a_page_alone_says_what_forgetting_needs(browser: Any, tennis: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page(tennis), encoding="utf-8")
    found = browser.new_page()
    found.goto((tmp_path / "page.html").as_uri())
    found.wait_for_selector("html[data-ready]")
    found.evaluate("document.querySelector('.absent').open = true")
    assert "use ingenuo open MODEL" in found.inner_text(".absent")
    found.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(home: Homes, tennis: Any, scheme: str) -> None:
    found = home(Session(tennis), width=360, scheme=scheme)
    found.click("text=What would forgetting it change?")
    found.wait_for_selector("#forget .sides")
    assert found.evaluate("document.documentElement.scrollWidth") <= 360


def forgetting(found: Any) -> None:
    """Wait for the view of a page that is alone."""
    near(found.page)
    found.until("document.querySelector('#forget .forget-state')")


def test_a_page_with_the_sums_forgets_without_a_server(visit: Any, tennis: Any) -> None:
    found = visit(page(tennis, play_tennis(), sums=True), hash=QUESTION)
    forgetting(found)
    assert "use ingenuo open MODEL -o FILE" in found.text("#forget")
    found.page.fill("#forget input[type=number]", "1")
    found.page.click("text=What would forgetting it change?")
    found.until("document.querySelector('#forget .sides')")
    without = ing.NaiveBayes().fit(play_tennis().slice(1), "Play")
    shares = [model.predict_proba([SUNNY])[0] for model in (tennis, without)]
    answers = {row[0]: [row[2], row[4]] for row in table(found.page, "before, after")[:2]}
    assert answers["No"] == [f"{share[0]:.1%}" for share in shares]
    fractions = {(row[0], row[2]): row[3:] for row in table(found.page, "fractions before and after")}
    assert fractions["Outlook", "No"] == ["(3 + 1)/(5 + 3) = 0.5", "(2 + 1)/(4 + 3) = 0.4285714"]
    assert fractions["prior", "Yes"] == ["9/14 = 0.6428571", "9/13 = 0.6923077"]
    assert ("Outlook", "Yes") not in fractions
    assert "14 before, 13 after" in found.text("#forget")
    assert "equal to Python, 32 of 32" in found.text(".badge")  # it was on trial
    found.page.click("#forget button.primary")
    found.until("document.querySelector('.badge').innerText.includes('1 row forgotten')")
    found.until("document.activeElement.id === 'forget'")
    found.until("Math.abs(document.getElementById('forget').getBoundingClientRect().top) < 300")
    assert "changed once" in found.text("#forget")
    assert "It knows 13 rows." in found.text("#forget")
    assert "13 rows" in found.text(".facts")
    assert found.page.locator(".alarm").count() == 0
    assert found.page.evaluate("location.hash") == f"#{QUESTION}"
    first = f"{without.predict_proba([SUNNY])[0].max():.1%}"
    assert first in found.text(".console")  # the whole page answers without the row
    found.page.click("#forget button:has-text('Undo the last')")
    found.until("document.querySelector('.badge').innerText.includes('equal to Python, 32 of 32')")
    forgetting(found)
    assert "as it was opened" in found.text("#forget")
    assert "It knows" not in found.text("#forget") or "It knows 14 rows." in found.text("#forget")
    assert f"{tennis.predict_proba([SUNNY])[0].max():.1%}" in found.text(".console")


def test_a_page_with_the_sums_refuses_what_was_never_learned(visit: Any, tennis: Any) -> None:
    found = visit(page(tennis, sums=True), hash="Outlook=Overcast&Temperature=Hot&Humidity=High&Wind=Strong")
    forgetting(found)
    found.page.select_option("#forget select", label="No")
    found.page.click("text=What would forgetting it change?")
    found.until("document.querySelector('#forget .warning')")
    said = "cannot take away 1 from 'category:Outlook' at class 'No', value 'Overcast', where only 0 was added"
    assert said in found.text("#forget .warning")
    found.page.select_option("#forget select", label="Yes")
    found.page.click("text=What would forgetting it change?")
    found.until("document.querySelector('#forget .sides')")


def test_the_last_row_of_a_class_takes_the_class_with_it(visit: Any) -> None:
    rows = [{"a": "x", "n": 1.5}, {"a": "y", "n": 2.5}, {"a": "y", "n": 4.0}, {"a": "x", "n": 8.0}]
    labels = ["u", "v", "v", "w"]
    frame = pd.DataFrame(rows).assign(kind=labels)
    model = ing.NaiveBayes().fit(frame, "kind")
    found = visit(page(model, frame, sums=True, language="it"), width=360)
    forgetting(found)
    found.page.fill("#forget input[type=number]", "1")
    found.page.click("#forget .forget-choice > button")
    found.until("document.querySelector('#forget .sides')")
    found.page.click("#forget button.primary")
    found.until("document.querySelector('.badge').innerText.includes('1 riga')")
    forgetting(found)
    assert found.texts("#forget select option") == ["v", "w"]
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 360
