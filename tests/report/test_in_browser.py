"""Pages in a real browser: they ask for nothing, run nothing, fit a phone, are read in the dark and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt
from tests.browsers import chromium

import ingenuo as ing
from ingenuo import evaluate, explain, load
from ingenuo.cli import main
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.explanation.explain import inspect
from ingenuo.report.page import report

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
    with chromium() as running:
        yield running


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
        page.wait_for_selector("html[data-ready]")
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
    page.wait_for_selector("html[data-ready]")
    named = page.evaluate("[...document.querySelectorAll('nav.contents a')].map(each => each.getAttribute('href'))")
    sections = page.evaluate("[...document.querySelectorAll('section.given, section.view')].map(each => '#' + each.id)")
    assert named == sections
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(e => Number(e.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    nameless = page.evaluate(
        "[...document.querySelectorAll('svg, img, [role=img], [role=region]')].filter(e => !e.closest('[aria-hidden]')"
        " && !(e.tagName === 'svg' && e.closest('figure[aria-label]'))"
        " && !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby') && !e.querySelector(':scope > title'))"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert nameless == []
    assert page.evaluate("document.querySelectorAll('svg').length") >= 3
    page.close()


def test_what_is_printed_is_the_report_and_what_is_folded_too(browser: Any, path: Path) -> None:
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.emulate_media(media="print")
    assert page.evaluate("[...document.querySelectorAll('.view, .console')].filter(e => e.offsetParent)") == []
    assert page.evaluate("document.querySelectorAll('section.given').length") >= 12
    folded = page.evaluate(
        "[...document.querySelectorAll('.given details:not([open]) > :not(summary)')]"
        ".map(e => e.getBoundingClientRect().height)"
    )
    assert folded
    assert min(folded) > 10
    page.close()


def test_the_keyboard_reaches_the_skip_link_and_all_that_scrolls(browser: Any, path: Path) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 800})
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    left, outline = page.evaluate(
        "[document.activeElement.getBoundingClientRect().left, getComputedStyle(document.activeElement).outlineStyle]"
    )
    assert left >= 0
    assert outline != "none"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "views"
    hidden = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0 &&"
        " !e.querySelector('[tabindex=\"0\"], a[href], button, input, select') && "
        "['auto', 'scroll'].includes(getComputedStyle(e).overflowX)).map(e => e.outerHTML.slice(0, 80))"
    )
    assert hidden == []
    page.focus("[aria-label='columns and their values']")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "schema"
    page.close()


# Names, values and texts that would run as scripts, were they written as they are; each says its own number.
TAGS = (
    "<img src=x onerror=alert({})>",
    "</title><script>alert({})</script>",
    "'\"><svg/onload=alert({})>",
    "`<b id=x{}>`",
)


# What a page must not have made of them; scikit-learn's own scripts, in a notebook, have nothing of them.
MADE = """
() => [...document.querySelectorAll('script, [onerror], [onload], b[id], img, a[href^=java]')]
  .filter(e => e.tagName !== 'SCRIPT' || e.textContent.includes('alert(')).map(e => e.outerHTML.slice(0, 200))
"""


def _hostile() -> pd.DataFrame:
    numbers = count(1)

    def tag() -> str:
        number = next(numbers)
        return f"{number} {TAGS[number % len(TAGS)].format(number)} [a](javascript:alert({number})) | &lt;i&gt;"

    values, classes, rng = [tag() for _ in range(4)], [tag() for _ in range(3)], np.random.default_rng(0)
    columns = {
        tag(): rng.choice(values, 60),
        tag(): rng.normal(size=60),
        tag(): [" ".join([tag(), *rng.choice(["fine", "dull"], 3)]) for _ in range(60)],
    }
    return pd.DataFrame({**columns, tag(): rng.choice(classes, 60)})


def test_names_values_and_texts_are_never_run(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = _hostile()
    *columns, target = rows.columns
    rows.to_csv("<img src=x onerror=alert(0)>.csv", index=False)
    file = "<img src=x onerror=alert(0)>.csv"

    def run(*arguments: str) -> None:
        done = CliRunner().invoke(main, [*arguments, "-q"])
        assert done.exit_code == 0, done.output

    run(
        "train",
        file,
        "--model",
        "naive-bayes",
        "--target",
        target,
        "--column",
        f"{columns[2]}=text",
        "-o",
        "m.ingenuo",
        "--folds",
        "3",
    )
    for ending in ("html", "md", "json", "txt", "tex", "csv"):
        run("explain", "m.ingenuo", file, "--rows", "1-3", "-o", f"explain.{ending}")
    run("card", "m.ingenuo", file, "--title", columns[0], "--intended-use", columns[1], "-o", "card.md")
    run("card", "m.ingenuo", file, "--title", columns[0], "--limits", columns[1], "-o", "card.html")
    run("report", "m.ingenuo", file, "--title", columns[0], "-o", "report.html")
    run("inspect", "m.ingenuo", "--nomogram", "nomogram.svg")
    model = load("m.ingenuo")
    notebook = [model._repr_html_(), explain(model, rows, rows=[0])._repr_html_(), inspect(model)._repr_html_()]
    notebook.append(evaluate(model, rows, target)._repr_html_())
    Path("notebook.html").write_text("".join(notebook), encoding="utf-8")
    for name in ("card", "explain"):
        text = Path(f"{name}.md").read_text()
        Path(f"{name}.md.html").write_text(MarkdownIt("commonmark").enable("table").render(text), encoding="utf-8")
        Path(f"{name}.md.raw.html").write_text(text, encoding="utf-8")  # what opens it may take it for HTML
    pages = [*tmp_path.glob("*.html"), tmp_path / "nomogram.svg"]
    assert len(pages) == 9
    page = browser.new_page()
    said: list[str] = []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: said.append(request.url) if request.url.endswith("/x") else None)
    for each in pages:
        page.goto(each.as_uri())
        page.wait_for_timeout(150)
        made = page.evaluate(MADE)
        assert (each.name, said, made) == (each.name, [], [])
        # What a reader sees has the names as they are.
        assert "onerror=alert" in page.evaluate("document.documentElement.textContent")
    Path("bad.html").write_text(columns[0], encoding="utf-8")  # the browser would run them
    page.goto((tmp_path / "bad.html").as_uri())
    page.wait_for_timeout(150)
    assert said
    page.close()
