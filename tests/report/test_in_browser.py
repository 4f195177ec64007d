"""The report in a real browser: it asks for nothing, fits a phone, is read in the dark and by keyboard."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ingenuo as ing
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.report.page import report

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# Of every piece of text that is shown, its contrast with the first ground beneath it that is not transparent.
CONTRASTS = """
() => {
  const parts = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, a = 1] = parts(getComputedStyle(e).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("h1,h2,h3,p,li a,th,td,dt,dd,small,summary,figcaption,code,footer p")]
    .filter(e => e.innerText && e.offsetParent)
    .map(e => {
      const [a, b] = [light(parts(getComputedStyle(e).color)), light(ground(e))];
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.tagName, e.innerText.slice(0, 40)];
    });
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed, so no browser can be driven")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with sync.sync_playwright() as driver:
        # Chromium refuses its sandbox to the user root.
        open_to = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        running = driver.chromium.launch(executable_path=path, args=open_to)
        yield running
        running.close()


def _patients() -> str:
    table = diabetes()
    return report(ing.NaiveBayes().fit(table.slice(0, 300), "progression"), table.slice(300))


def _films() -> str:
    good, bad = "a lovely warm story that moves and delights", "a dull cold story that drags and bores"
    texts = [f"{text} {k % 7} times over" for k in range(20) for text in (good, bad)]
    labels = ["+" if k % 9 else "-" if k % 2 == 0 else "+" for k in range(40)]
    return report(ing.NaiveBayes().fit(texts[:30], labels[:30]), texts[30:], labels[30:], title="Films")


def _days() -> str:
    return report(ing.NetworkClassifier("tan").fit(play_tennis(), "Play"), play_tennis())


MAKERS = {"patients": _patients, "films": _films, "days": _days}


@pytest.fixture(scope="module", params=list(MAKERS))
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reports") / f"{request.param}.html"
    made.write_text(MAKERS[request.param](), encoding="utf-8")
    return made


def test_the_page_is_whole_quiet_and_readable_everywhere(browser: Any, path: Path) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("pageerror", lambda error, said=said: said.append(str(error)))
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
        assert said == []
        for width in (1280, 768, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        low = [found for found in page.evaluate(CONTRASTS) if found[0] < 4.5]
        assert low == []
        context.close()
    assert grounds[0] != grounds[1]


def test_headings_are_in_order_and_pictures_have_names(browser: Any, path: Path) -> None:
    page = browser.new_page()
    page.goto(path.as_uri())
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(e => Number(e.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    nameless = page.evaluate(
        "[...document.querySelectorAll('svg, img, [role=img], [role=region]')].filter(e => !e.closest('[aria-hidden]')"
        " && !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby') && !e.querySelector(':scope > title'))"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert nameless == []
    assert page.evaluate("document.querySelectorAll('svg').length") >= 3
    page.close()


def test_the_keyboard_reaches_the_skip_link_and_all_that_scrolls(browser: Any, path: Path) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 800})
    page.goto(path.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    left, outline = page.evaluate(
        "[document.activeElement.getBoundingClientRect().left, getComputedStyle(document.activeElement).outlineStyle]"
    )
    assert left >= 0
    assert outline != "none"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"
    hidden = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0 &&"
        " ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)).map(e => e.outerHTML.slice(0, 80))"
    )
    assert hidden == []
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert {"columns and their values", "schema"} <= reached
    page.close()
