"""Whole HTML pages without scripts or references, in light and dark, by templates; matplotlib's pictures on them."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html import escape, unescape
from typing import Any

from ingenuo.language import say, spoken, spoken_language
from ingenuo.rows import checks
from ingenuo.show import format
from ingenuo.show.plots import on_a_page
from ingenuo.show.table import STYLE, PrintedTable
from ingenuo.tally.container import replace_file


def page(title: str, body: str) -> str:
    """A whole page of HTML around what is to be shown."""
    import ingenuo

    made = spoken(say("Made with ingenuo {version}.", version=ingenuo.__version__))
    return str(
        template("page.html").render(title=title, body=body, tables=STYLE, made=made, language=spoken_language())
    )


class Frame:
    """A whole page within a notebook's cell: it is in the cell itself, and so is there offline and after a restart.

    >>> Frame("<!doctype html><p>So it is.</p>")
    a page of 31 bytes; a notebook shows it, and .save("page.html") writes it
    """

    def __init__(self, html: str, height: int = 640) -> None:
        checks.check_whole("height", height, 100)
        self.html, self.height = html, int(height)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        replace_file(os.path.realpath(path), [self.html.encode()])

    def __repr__(self) -> str:
        size = len(self.html.encode())
        return f'a page of {size:,} bytes; a notebook shows it, and .save("page.html") writes it'

    def _repr_html_(self) -> str:
        # What runs in the frame is not of the notebook's origin: it can read and change nothing there.
        shown = 'sandbox="allow-scripts allow-downloads" loading="lazy" title="a page of a model"'
        style = f"width:100%;height:{self.height}px;border:1px solid #8884;border-radius:6px"
        return f'<iframe srcdoc="{escape(self.html)}" {shown} style="{style}"></iframe>'


class OnAPage:
    """Mix-in: a model that can be asked on a page of its own."""

    def page(
        self,
        rows: Any = None,
        *,
        question: Any = None,
        title: str | None = None,
        height: int = 720,
        language: str = "en",
    ) -> Any:
        """The page on which the model can be asked, as a notebook shows it; `.save("page.html")` writes it to a file.

        Parameters
        ----------
        rows : table, array or texts, optional
            Rows to judge the model by; whoever has the page can read them. None by default.
        question : mapping or text, optional
            The row that is asked first.
        title : str, optional
            The heading.
        height : int
            Of the frame in the notebook, in pixels.
        language : {"en", "it", "es"}
            What the page speaks; names and values stay as they are.
        """
        from ingenuo.page.notebook import framed

        return framed(self, rows, question=question, title=title, height=height, language=language)


def page_of_markdown(text: str) -> str:
    """A page of Markdown that this package wrote, under its heading; the metadata at its head are left out."""
    from markdown_it import MarkdownIt  # which rich brings

    text = re.sub(r"\A---\n.*?^---\n", "", text, flags=re.DOTALL | re.MULTILINE)
    body = str(MarkdownIt("commonmark").enable("table").render(text))
    heading = re.match(r"<h1>(.*?)</h1>\n", body)
    assert heading is not None, "what is written for a page begins with its heading"
    return page(unescape(heading[1]), body[heading.end() :])


@cache
def template(name: str) -> Any:
    """A template of the package; values are escaped in HTML unless it says that they are markup."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("ingenuo.show"),
        autoescape=not name.endswith((".md", ".txt")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for each in ("code", "count", "listed", "markdown", "percent", "quoted", "sentence", "shortened"):
        templates.filters[each] = getattr(format, each)
    templates.filters |= {"number": lambda n: f"{n:,.10g}", "repr": repr}
    templates.globals |= {"span": format.span, "PrintedTable": PrintedTable}
    return templates.get_template(name)


# matplotlib's pictures as SVG inside a page: text that is text, ink of the page's colour, names that do not clash.

# The colours with which pictures are drawn, and the variables that stand for them on the page.
COLOURS = {
    "#0072b2": "var(--blue)",
    "#e69f00": "var(--orange)",
    "#009e73": "var(--green)",
    "#cc79a7": "var(--pink)",
    "#56b4e9": "var(--sky)",
    "#d55e00": "var(--red)",
}
_INK, _PAPER = "#010203", "#fdfcfb"  # drawn with these, which are then replaced by what the page has
_POINT = 4 / 3  # pixels
_NARROW, _WIDE = 300, 620  # pixels that a picture is not drawn smaller than: plain, and crowded


@contextmanager
def drawing() -> Iterator[None]:
    """Within, matplotlib draws as `svg` wants it; no setting of the caller's is changed."""
    from cycler import cycler
    from matplotlib import style

    inks = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK)
    settings: dict[str, Any] = {
        **inks,
        "axes.prop_cycle": cycler(color=[*COLOURS, "#7f7f7f", "#8c564b", "#bcbd22", "#9467bd"]),
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "legend.facecolor": _PAPER,
        "legend.edgecolor": "none",
        "svg.fonttype": "none",
        "svg.hashsalt": "ingenuo",
        "font.family": ["DejaVu Sans"],  # whose letters are as wide as any that a browser may take instead
    }
    before = on_a_page.set(True)
    try:
        with style.context(["default", settings]):
            yield
    finally:
        on_a_page.reset(before)


def svg(axes: Any, name: str, key: str, *, crowded: bool = False, own_colours: bool = False) -> str:
    """A picture as a part of a page; `name` is for those who do not see it, the names inside begin with `key`.

    A crowded one scrolls on a phone; one that stands on a ground of its own keeps its colours in the dark.
    """
    written = io.StringIO()
    axes.figure.savefig(written, format="svg", metadata={"Date": None}, transparent=True)
    text = written.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<defs>\s*</defs>", "", text, flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", _tidy, text)
    for drawn, shown in () if own_colours else COLOURS.items():
        text = text.replace(drawn, shown)
    text = re.sub(r">\s+<", "><", text)
    used = {*re.findall(r"url\(#([^)]+)\)", text), *re.findall(r'href="#([^"]+)"', text)}
    text = re.sub(r' id="([^"]+)"', lambda found: f' id="{key}-{found[1]}"' if found[1] in used else "", text)
    text = re.sub(r'(url\(#|href="#)', rf"\g<1>{key}-", text)
    end = text.index(">")
    box = re.search(r'viewBox="([^"]+)"', text[:end])
    assert box is not None, "matplotlib's pictures have a view box"
    width = float(box[1].split()[2]) * _POINT
    least = min(width, _WIDE if crowded else _NARROW)
    return (
        f'<svg class="chart" role="img" aria-label="{escape(name)}" viewBox="{box[1]}" '
        f'style="max-width:{width:.0f}px;min-width:{least:.0f}px" xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink">{text[end + 1 :]}'
    ).strip()


def _tidy(tag: re.Match[str]) -> str:
    """A tag with its numbers to a hundredth, the page's colours, and no font of its own."""
    text = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), tag[0])
    text = re.sub(r"font-family:[^;\"]*;? ?", "", re.sub(r"\s+", " ", text))
    return text.replace(_INK, "currentColor").replace(_PAPER, "var(--paper)")
