"""Pages within a notebook's cell: all of them is in the cell, they run there, and cannot reach the notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ingenuo as ing
from ingenuo.datasets import play_tennis
from ingenuo.errors import InputError
from ingenuo.page import page as whole_page
from ingenuo.page.notebook import framed
from ingenuo.show.page import Frame

SUNNY = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Weak"}


@pytest.fixture(scope="module")
def tennis() -> Any:
    return ing.NaiveBayes().fit(play_tennis(), "Play")


def open_cell(browser: Any, shown: Frame, path: Path) -> tuple[Any, Any, list[str]]:
    """A notebook that is open, the frame in its cell, and what was asked of the network."""
    path.write_text(f"<!doctype html><meta charset='utf-8'><p>a cell</p>{shown._repr_html_()}", encoding="utf-8")
    page, asked = browser.new_page(), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    return page, page.frame_locator("iframe"), asked


def test_a_model_is_asked_within_a_cell_and_offline(browser: Any, tennis: Any, tmp_path: Path) -> None:
    _, cell, asked = open_cell(browser, framed(tennis, question=SUNNY), tmp_path / "cell.html")
    cell.locator(".badge.good").wait_for()
    share = tennis.predict_proba([SUNNY])[0][0]
    assert f"{share:.1%}" in cell.locator(".verdict").inner_text()
    cell.locator("label:has-text('Overcast')").first.click()
    other = tennis.predict_proba([SUNNY | {"Outlook": "Overcast"}])[0][1]
    cell.locator(f".verdict :text('{other:.1%}')").first.wait_for()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))] == []


def test_the_cell_cannot_reach_the_notebook(browser: Any, tmp_path: Path) -> None:
    hostile = Frame(
        "<!doctype html><p id=p>x</p><script>try{parent.document.title='taken'}catch{p.textContent='tried'}</script>"
    )
    page, cell, _ = open_cell(browser, hostile, tmp_path / "cell.html")
    cell.locator("#p:text('tried')").wait_for()
    assert page.title() != "taken"


def test_an_answer_is_a_page_of_its_own(browser: Any, tennis: Any, tmp_path: Path) -> None:
    explained = tennis.explain(SUNNY)
    _, cell, _ = open_cell(browser, explained.page(height=300), tmp_path / "cell.html")
    text = cell.locator("body").inner_text()
    assert "(3 + 1)/(5 + 3)" in text
    assert f"{explained.posterior[0]:.6f}" in text
    assert "script" not in explained.page().html


def test_a_page_is_saved_whole(tennis: Any, tmp_path: Path) -> None:
    shown = framed(tennis)
    shown.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == shown.html
    assert repr(shown).startswith("a page of ")
    assert "<script" not in shown._repr_html_()  # it stands within an attribute, escaped
    with pytest.raises(InputError, match="height"):
        framed(tennis, height=0)


def test_models_and_networks_show_their_own_page() -> None:
    days = play_tennis()
    model = ing.NaiveBayes().fit(days, "Play")
    assert model.page(days, question={"Outlook": "Rain"}, title="Tennis").html == whole_page(
        model, days, question={"Outlook": "Rain"}, title="Tennis"
    )
    wet = {"rain": {"wet": 0.9, "dry": 0.1}, "sun": {"wet": 0.05, "dry": 0.95}}
    garden = ing.Network.from_arcs([("sky", "grass")], tables={"sky": {"rain": 0.2, "sun": 0.8}, "grass": wet})
    assert garden.page(height=300).height == 300
