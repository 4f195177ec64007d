"""What MkDocs asks while it builds the site: the pages that are made, the navigation, the models that are embedded.

A page of the docs embeds a model by a comment that GitHub does not show, a call of `ingenuo.page.page`:

    <!-- page(model, title="Tennis", question=today) -->

The Python of that page, down to the comment, is run, so it is the page's own model that a reader pokes; a comment that
needs only `ing` and its `datasets` is not made to wait for it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from typing import Any

import notebooks
import reference
from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PIECE = re.compile(r"^```python\n(.*?)^```$|^<!-- (page\(.*?\)) -->$", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
# What is outside `docs` and has a place in the site.
OUTSIDE = {"../README.md": "index.md", "../CHANGELOG.md": "changelog.md"}

# In the place of the picture of a page, the home of the site has the page itself.
HOME = """<!-- page(ing.NaiveBayes(calibration="platt").fit(datasets.diabetes(), "progression"), \
title="Diabetes: fast or slow?", question={"bmi": 31, "bp": 101, "age": "60s", "sex": "sex 2", "s5": 4.9}) -->"""

# What is written beside a model.
BESIDE = {
    "en": 'The model itself, on <a href="{}">a page of its own</a>: change what is known, and see the answer and its '
    "arithmetic change.",
    "it": 'Il modello stesso, in <a href="{}">una pagina a sé</a>: cambiate ciò che si sa, e guardate cambiare la '
    "risposta e i suoi conti.",
    "es": 'El propio modelo, en <a href="{}">una página aparte</a>: cambia lo que se sabe, y mira cómo cambian la '
    "respuesta y sus cuentas.",
}

_embedded: dict[str, str] = {}  # the pages of models, by their place in the site


# The pages, and where they stand.


def title_of(path: Path) -> str:
    """The heading of a page, without marks."""
    found = HEADING.search(path.read_text(encoding="utf-8"))
    return re.sub(r"[`*]", "", found[1]) if found else path.stem.replace("_", " ")


def listed(nav: Any) -> Iterator[str]:
    """The files that a navigation names."""
    if isinstance(nav, str):
        yield nav
    for item in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else []:
        yield from listed(item)


def section(folder: str) -> list[Any]:
    """The pages of a folder, its index first; those of folders in it are sections of their own."""
    home = DOCS / folder
    pages = sorted(home.glob("*.md"), key=lambda path: (path.name != "index.md", path.name))
    found: list[Any] = [
        f"{folder}/{path.name}" if path.name == "index.md" else {title_of(path): f"{folder}/{path.name}"}
        for path in pages
    ]
    found += [{notebooks.title(path): f"{folder}/{path.stem}.md"} for path in sorted(home.glob("*.ipynb"))]
    for inner in sorted(path for path in home.glob("*/") if path.name != ".ipynb_checkpoints"):
        if inside := section(f"{folder}/{inner.name}"):
            found.append({notebooks.LANGUAGES.get(inner.name, inner.name): inside})
    return found


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Complete the navigation by what is made, and by pages that nobody has put anywhere yet."""
    nav: list[Any] = config["nav"]
    places = {next(iter(item)): item for item in nav}
    known = set(listed(nav))
    new = [path for path in sorted(DOCS.glob("*.md")) if path.name not in known]
    places["How-to"]["How-to"] += [{title_of(path): path.name} for path in new]
    places["Reference"]["Reference"] += reference.nav()
    at = nav.index(places["Benchmarks"])
    nav[at:at] = [
        {title: found} for title, folder in {"Gallery": "gallery", "Notebooks": "notebooks"}.items()
        if (found := section(folder))
    ]  # fmt: skip
    nav.append({"Changelog": "changelog.md"})
    _embedded.clear()
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made: the reference, the changelog, the notebooks."""
    made = reference.pages()
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    made["changelog.md"] = re.sub(r"\]\(docs/", "](", text)
    for path in DOCS.glob("notebooks/**/*.ipynb"):
        if ".ipynb_checkpoints" not in path.parts:
            place = path.relative_to(DOCS).with_suffix("").as_posix()
            pages = notebooks.to_markdown(path)
            made[f"{place}.md"] = pages.text
            for name, data in pages.pictures.items():
                files.append(File.generated(config, f"{Path(place).parent.as_posix()}/{name}", content=data))
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn what GitHub shows in its own way into what the site does, and embed the models."""
    for outside, inside in OUTSIDE.items():
        markdown = markdown.replace(f"]({outside})", f"]({inside})")
    if page.file.src_uri == "index.md":  # a line of nothing but links in bold is one of buttons
        buttons = re.compile(r"^\*\*\[.*\)\*\*$", re.MULTILINE)
        markdown = buttons.sub(
            lambda line: re.sub(r"\*\*(\[.*?\]\(.*?\))\*\*( ·)?", r"\1{ .md-button }", line[0]), markdown
        )
        markdown = re.sub(r"^!\[.*?\]\(pictures/page.png\)$", HOME, markdown, flags=re.MULTILINE)
        page.meta["hide"] = ["navigation", "toc"]
    return embed(markdown, page.file.src_uri) if "<!-- page(" in markdown else markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn formulas into MathML, which browsers show by themselves."""

    def formula(found: re.Match[str]) -> str:
        display = "block" if found[1] == "div" else "inline"
        made = str(convert(unescape(found[2]).strip(), display=display))
        return f'<div class="formula">{made}</div>' if display == "block" else made

    return FORMULA.sub(formula, html)


def on_post_build(config: MkDocsConfig) -> None:
    """Write the pages of models beside the others."""
    for name, content in _embedded.items():
        path = Path(config.site_dir) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


# The models.


def embed(markdown: str, place: str) -> str:
    """Run the Python of a page as far as is needed, and put a frame in the place of each comment."""
    import ingenuo as ing
    from ingenuo import datasets
    from ingenuo.page import page
    from ingenuo.page.rows import page_rows

    names: dict[str, Any] = {"page": page, "page_rows": page_rows, "ing": ing, "datasets": datasets}
    up = "../" * place.count("/")
    calls = [found[2] for found in PIECE.finditer(markdown) if found[2]]
    language = next((code for code in BESIDE if f"/{code}/" in place), "en")
    last = max((n for n, call in enumerate(calls, 1) if names_in(call) - names.keys()), default=0)
    number = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal number
        if found[1] is not None:
            if number < last:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(found[1], place, "exec"), names)
            return found[0]
        number += 1
        made = eval(found[2], names)
        name = f"live/{place.removesuffix('.md').replace('/', '_')}{'' if number == 1 else f'_{number}'}.html"
        _embedded[name] = made
        heading = re.search(r"<title>(.*?)</title>", made)
        return (
            f'<div class="live"><iframe src="{up}{name}" title="{heading[1] if heading else escape(place)}" '
            f'loading="lazy"></iframe><p>{BESIDE[language].format(f"{up}{name}")}</p></div>'
        )

    with working_folder(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PIECE.sub(replaced, markdown)


def names_in(call: str) -> set[str]:
    """The names that an expression needs."""
    found = [node for node in ast.walk(ast.parse(call, mode="eval")) if isinstance(node, ast.Name)]
    made = {name.id for name in found if isinstance(name.ctx, ast.Store)}
    return {name.id for name in found} - made


@contextlib.contextmanager
def working_folder() -> Iterator[None]:
    """A folder for what snippets write, and pictures without a screen."""
    before, backend = Path.cwd(), os.environ.get("MPLBACKEND")
    os.environ["MPLBACKEND"] = "Agg"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            if backend is None:
                del os.environ["MPLBACKEND"]
            else:
                os.environ["MPLBACKEND"] = backend
