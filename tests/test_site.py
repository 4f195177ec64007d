"""The site is built strictly, by its one command; every link leads somewhere, and nothing comes from another host."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from click import Context, Group

import ingenuo
from ingenuo.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

pytest.importorskip("mkdocs", reason="the site is built by MkDocs, of the extra [docs]")

# What a browser fetches by itself, and what a reader follows.
ASSETS = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data"), ("embed", "src")}
LINKS = {("a", "href")}
FETCHED = {"icon", "stylesheet", "preload", "prefetch", "preconnect", "modulepreload", "manifest"}


@dataclass
class Found(HTMLParser):
    """What a page has: names to be led to, links, what it loads, and its text."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        for name, value in given.items():
            if (tag, name) in ASSETS or (tag == "link" and name == "href" and FETCHED & set(given["rel"].split())):
                self.assets.append(value)
            elif (tag, name) in LINKS:
                self.links.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("site")
    call = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(home)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return home


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Found]:
    """The pages of the site; those of the models themselves, which are of one file each, have tests of their own."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        if path.parent.name != "live":
            found[path] = Found()
            found[path].feed(path.read_text(encoding="utf-8"))
    return found


def inner(pages: dict[Path, Found], what: str) -> Iterator[tuple[Path, str]]:
    """What pages lead to, or load, within the site."""
    for path, found in pages.items():
        for address in getattr(found, what):
            if not urlsplit(address).scheme and not address.startswith("//"):
                yield path, address


def test_every_link_and_anchor_leads_somewhere(site: Path, pages: dict[Path, Found]) -> None:
    lost = []
    for path, address in inner(pages, "links"):
        parts = urlsplit(address)
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            lost.append(f"{path.relative_to(site)}: {address}")
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
            lost.append(f"{path.relative_to(site)}: {address}, an anchor that is not there")
    links = [address for path, address in inner(pages, "links")]
    assert len(links) > 1000
    assert not [each for each in lost if not each.startswith("404.html")]


def test_nothing_is_loaded_from_another_host(site: Path, pages: dict[Path, Found]) -> None:
    outside = {
        f"{path.name}: {address}"
        for path, found in pages.items()
        for address in found.assets
        if urlsplit(address).netloc or urlsplit(address).scheme not in ("", "data")
    }
    assert not outside
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    outer = re.compile(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)]*")
    assert not [found for text in styles for found in outer.findall(text)]


def test_everything_that_is_loaded_is_there(site: Path, pages: dict[Path, Found]) -> None:
    lost = [
        f"{path.relative_to(site)}: {address}"
        for path, address in inner(pages, "assets")
        if path.name != "404.html" and not (path.parent / unquote(urlsplit(address).path)).is_file()
    ]
    assert not lost


def test_every_public_name_has_a_page_that_says_what_it_is(site: Path, pages: dict[Path, Found]) -> None:
    names = [name for name in ingenuo.__all__ if not name.startswith("_")]
    lost = [name for name in names if f"ingenuo.{name}" not in pages.get(site / "api" / f"{name}.html", Found()).ids]
    assert not lost
    text = (site / "api" / "NaiveBayes.html").read_text(encoding="utf-8")
    assert 'id="ingenuo.NaiveBayes.partial_fit"' in text
    assert "Naive Bayes for numbers, categories, counts and text together." in text
    assert "&gt;&gt;&gt;" in text  # its example


@pytest.mark.parametrize(
    ("page", "names"),
    {
        "datasets": ("datasets.play_tennis", "datasets.diabetes"),
        "errors": ("errors.InputError", "errors.ModelFileError"),
        "significance": ("evaluation.significance.mcnemar", "evaluation.significance.nemenyi"),
        "page": ("page.page", "report.page.report", "report.card.card"),
        "sheet": ("sheet.sheet", "sheet.onnx.onnx", "sheet.sql.sql"),
        "mlflow": ("mlflow.log_model",),
    }.items(),
)
def test_the_public_modules_have_pages(page: str, names: tuple[str, ...], pages: dict[Path, Found], site: Path) -> None:
    assert {f"ingenuo.{name}" for name in names} <= pages[site / "api" / f"{page}.html"].ids


def every_command(group: Group, context: Context) -> Iterator[tuple[str, list[str]]]:
    """Each command as it is typed, with its options."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        here = Context(command, info_name=name, parent=context)
        yield here.command_path, [each for one in command.params for each in one.opts if each.startswith("--")]
        if isinstance(command, Group):
            yield from every_command(command, here)


def test_every_command_has_a_page_with_every_option(site: Path) -> None:
    commands = dict(every_command(main, Context(main, info_name="ingenuo")))
    assert len(commands) > 20
    for typed, options in commands.items():
        text = (site / "cli" / f"{'_'.join(typed.split()[1:])}.html").read_text(encoding="utf-8")
        assert [option for option in options if option not in text] == [], typed


def test_every_page_of_the_docs_is_in_the_navigation(site: Path, pages: dict[Path, Found]) -> None:
    sources = [path for path in DOCS.rglob("*.md") if "site" not in path.relative_to(DOCS).parts[:1]]
    sources += [path for path in DOCS.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts]
    built = {site / path.relative_to(DOCS).with_suffix(".html") for path in sources}
    assert built <= pages.keys()
    # What no page leads to cannot be found.
    reached = {(path.parent / urlsplit(address).path).resolve() for path, address in inner(pages, "links")}
    assert {path.resolve() for path in built} <= reached


def test_each_chapter_has_a_model_to_ask(site: Path) -> None:
    chapters = sorted(path.stem for path in DOCS.glob("tutorial_*.md"))
    assert len(chapters) == 9
    for chapter in [*chapters, "index", "start_terminal", "start_python", "models"]:
        assert f'<iframe src="live/{chapter}.html"' in (site / f"{chapter}.html").read_text(encoding="utf-8"), chapter
        live = (site / "live" / f"{chapter}.html").read_text(encoding="utf-8")
        assert 'id="data"' in live
        assert "default-src 'none'" in live


def test_each_notebook_has_its_model_to_ask_in_its_language(site: Path) -> None:
    books = sorted(path.relative_to(DOCS).with_suffix("") for path in DOCS.glob("notebooks/*/*.ipynb"))
    assert len(books) == 21
    for book in books:
        name = "_".join(book.parts)
        assert f'<iframe src="../../live/{name}.html"' in (site / book).with_suffix(".html").read_text(encoding="utf-8")
        live = (site / "live" / f"{name}.html").read_text(encoding="utf-8")
        assert f'<html lang="{book.parts[1]}"' in live
        assert 'id="data"' in live


def test_a_chapter_shows_its_own_model(site: Path) -> None:
    """The numbers in the page are those of the chapter's snippets."""
    import base64
    import gzip
    import json

    text = (site / "live" / "tutorial_3_tennis.html").read_text(encoding="utf-8")
    packed = re.search(r'id="data">([^<]*)<', text)
    assert packed is not None
    data = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    assert data["title"] == "Will there be tennis?"
    assert data["question"]["Outlook"] == "Overcast"
    assert sorted(data["sheet"]["classes"]) == ["No", "Yes"]


def test_what_is_not_for_readers_is_not_in_the_site(site: Path) -> None:
    assert not list(site.rglob("*.py"))


def test_formulas_and_solutions_are_shown_and_not_their_source(site: Path, pages: dict[Path, Found]) -> None:
    code = re.compile(r"<(pre|code|script)\b.*?</\1>", re.DOTALL)
    left = {}
    for path in pages:
        text = code.sub("", path.read_text(encoding="utf-8"))
        if found := re.findall(r"\\[()\[\]].{0,40}|\$\$.{0,40}|^\d\. .{0,40}|^```.*", text, re.MULTILINE):
            left[path.relative_to(site)] = found
    assert not left
    shown = (site / "notebooks" / "it" / "1_coin_and_boxes.html").read_text(encoding="utf-8")
    solutions = re.search(r"<details>.*</details>", shown, re.DOTALL)
    assert solutions is not None
    assert "<li><math " in solutions[0]
    assert "6/11" in solutions[0].partition("<pre>")[2]  # what the code that checks them prints
