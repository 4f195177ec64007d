"""Tables, sections and pictures as pieces of text, HTML and Markdown."""

from __future__ import annotations

import html
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

from ingenuo.show.format import plain as plain_data
from ingenuo.show.svg import Picture

# How tables look in a notebook, in its own colours.
STYLE = (
    ".ingenuo{display:inline-table;border-collapse:collapse;margin:0 2em 1em 0;vertical-align:top}"
    ".ingenuo th{text-align:left;border-bottom:1px solid currentColor}"
    ".ingenuo caption{text-align:left;font-weight:bold}"
    ".ingenuo th,.ingenuo td{padding:.1em .8em .1em 0;text-align:left;white-space:nowrap}.ingenuo .n{text-align:right}"
    ".ingenuo em{white-space:normal}"
    ".ingenuo .rule td{border-top:1px solid currentColor}"
)


@dataclass(frozen=True)
class PrintedTable:
    """Rows of values under heads; the last cell of a row that is shorter than the others runs across the rest.

    Parameters
    ----------
    heads : sequence of str
        What stands above each column; empty for a table without heads.
    rows : sequence of sequences
        Values as they are: None is an empty cell, NaN a dash.
    formats : sequence of str
        How the values of each column are written, as in `format(value, ",.3f")`; text is written as it is.
    title : str
        Stands above the table, which is then indented in text.
    rule : bool
        Whether there is a rule under the heads in text.
    totals : int
        So many of the last rows stand under a rule.

    Examples
    --------
    >>> print(PrintedTable(["class", "share"], [["no", 5 / 14], ["all", 1.0]], ["", ".3f"], rule=True, totals=1).text())
    class  share
    ────────────
    no     0.357
    ────────────
    all    1.000
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Any]]
    formats: Sequence[str] = ()
    title: str = ""
    rule: bool = False
    totals: int = 0

    def cells(self) -> list[list[str]]:
        """The rows as they are written, without the heads."""
        return [[_write(value, self._format(k)) for k, value in enumerate(row)] for row in self.rows]

    def _format(self, column: int) -> str:
        return self.formats[column] if column < len(self.formats) else ""

    def text(self, *, colour: bool = False) -> str:
        """The table in a terminal: each column as wide as its longest cell."""
        lines = [[*map(str, self.heads)], *self.cells()] if self.heads else self.cells()
        columns = max(map(len, lines), default=0)
        widths = [
            max((len(cells[k]) for cells in lines if _fills(k, cells, columns)), default=0) for k in range(columns)
        ]
        written = ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip() for cells in lines]
        across = "─" * max(map(len, written), default=0)
        if self.totals:
            written.insert(len(written) - self.totals, across)
        if self.rule:
            written.insert(1, across)
        return "\n  ".join([self.title, *written]) if self.title else "\n".join(written)

    def html(self) -> str:
        """The table for notebooks and pages."""
        columns = max([len(self.heads), *map(len, self.rows)])
        above = len(self.rows) - self.totals if self.totals else -1
        body = ""
        for number, cells in enumerate(self.cells()):
            body += "<tr class='rule'>" if number == above else "<tr>"
            for k, cell in enumerate(cells):
                across = f" colspan='{columns - k}'" if not _fills(k, cells, columns) else ""
                body += f"<td{self._side(k)}{across}>{f'<em>{escape(cell)}</em>' if across else escape(cell)}</td>"
            body += "</tr>"
        heads = "".join(f"<th{self._side(k)}>{escape(str(head))}</th>" for k, head in enumerate(self.heads))
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        return f"<table class='ingenuo'>{caption}{f'<tr>{heads}</tr>' if heads else ''}{body}</table>"

    def _side(self, column: int) -> str:
        return " class='n'" if self._format(column) else ""

    def markdown(self) -> str:
        """The table in Markdown."""
        columns = max([len(self.heads), *map(len, self.rows)])
        heads = [plain(head) for head in self.heads] or [""] * columns
        lines = markdown_table(heads, [[*cells, *[""] * (columns - len(cells))] for cells in self.cells()])
        return f"**{plain(self.title)}**\n\n{lines}" if self.title else lines

    def to_dict(self) -> dict[str, Any]:
        """The values under their heads."""
        rows = [dict(zip(self.heads, row)) for row in self.rows] if self.heads else [list(row) for row in self.rows]
        return {**({"title": self.title} if self.title else {}), "rows": rows}


def _write(value: Any, how: str) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return "–" if value != value else format(value, how) if how else str(value)


def _fills(column: int, cells: Sequence[str], columns: int) -> bool:
    """Whether a cell fills its own column, and does not run across those that follow."""
    return column < len(cells) and (column < len(cells) - 1 or len(cells) == columns)


class Block(Protocol):
    """A part of what is shown that is more than a sentence: a table, a text whose words are coloured, a picture."""

    def text(self, *, colour: bool = False) -> str:
        """In a terminal."""

    def html(self) -> str:
        """In a notebook or on a page."""

    def markdown(self) -> str:
        """In Markdown."""

    def to_dict(self) -> Any:
        """As plain data."""


class Shown:
    """A thing that shows itself: from one description of it follow text, HTML, Markdown and data.

    A subclass defines `_blocks` and, for the title of its page, `_title`. A dataclass takes `repr=False`.

    Examples
    --------
    >>> class Shares(Shown):
    ...     def _blocks(self):
    ...         return ["14 days:", PrintedTable(["class", "share"], [["no", 5 / 14], ["yes", 9 / 14]], ["", ".3f"])]
    >>> Shares()
    14 days:
    class  share
    no     0.357
    yes    0.643
    >>> print(Shares().to_markdown())
    14 days:
    <BLANKLINE>
    | class | share |
    | --- | --- |
    | no | 0.357 |
    | yes | 0.643 |
    """

    def _blocks(self) -> Sequence[str | Block]:
        """Sentences, tables and pictures; an empty sentence is an empty line in text, one with an arrow the answer."""
        raise NotImplementedError

    def _title(self) -> str:
        """The title of its page."""
        return type(self).__name__

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return str(self)

    def to_text(self, *, colour: bool = False) -> str:
        """What is printed; the words of a text are coloured for a terminal, if asked for."""
        blocks = [block for block in self._blocks() if not isinstance(block, Picture)]
        return "\n".join(block if isinstance(block, str) else block.text(colour=colour) for block in blocks)

    def show(self, file: Any = None) -> None:
        """Print it; with colours where the output is a terminal that wants them (NO_COLOR says it does not)."""
        out = sys.stdout if file is None else file
        colour = bool(getattr(out, "isatty", lambda: False)()) and not os.environ.get("NO_COLOR")
        print(self.to_text(colour=colour), file=out)

    def body_html(self) -> str:
        """What a page or a notebook shows, without a style sheet."""
        return "".join(
            block.html() if isinstance(block, Picture) or not isinstance(block, str) else _paragraph(block)
            for block in self._blocks()
        )

    def _repr_html_(self) -> str:
        return f"<div style='overflow-x:auto'><style>{STYLE}</style>{self.body_html()}</div>"

    def to_html(self, title: str | None = None) -> str:
        """A whole page, to be written to a file: no scripts, and nothing that is fetched from elsewhere."""
        from ingenuo.show.page import page

        return page(self._title() if title is None else title, self._repr_html_())

    def to_markdown(self) -> str:
        """Paragraphs and tables for a README, an issue or a model card."""
        blocks = [block for block in self._blocks() if block != "" and not isinstance(block, Picture)]
        return "\n\n".join(plain(block) if isinstance(block, str) else block.markdown() for block in blocks)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, as JSON holds it."""
        blocks = [block for block in self._blocks() if block != "" and not isinstance(block, Picture)]
        return {
            "sentences": [block for block in blocks if isinstance(block, str)],
            "tables": plain_data([block.to_dict() for block in blocks if not isinstance(block, str)]),
        }


def _paragraph(sentence: str) -> str:
    if sentence.startswith("→ "):
        return f"<p>→ <strong>{escape(sentence[2:])}</strong></p>"
    tag = "pre" if "\n" in sentence else "p"
    return f"<{tag}>{escape(sentence)}</{tag}>" if sentence else ""


def aligned(lines: list[list[str]]) -> list[str]:
    """Rows of cells as lines of text, each column as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip() for cells in lines]


def html_table(lines: list[list[str]], rule: int = -1) -> str:
    """Rows of cells, the first of them heads, as a table for notebooks; a rule may stand above one of them."""
    rows = []
    for number, cells in enumerate(lines):
        tag = "td" if number else "th"
        ruled = " class='rule'" if number == rule else ""
        rows.append(f"<tr{ruled}>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>")
    return f"<table class='ingenuo'>{''.join(rows)}</table>"


_LONG = 60  # letters of a cell that may break over several lines


@dataclass(frozen=True)
class Section:
    """A part of the page: what its anchor and heading are, how it is read, and what it shows."""

    anchor: str
    heading: str
    how: str
    body: str

    def html(self) -> str:
        """The section."""
        how = f'<p class="how">{escape(self.how)}</p>' if self.how else ""
        return (
            f'<section id="{self.anchor}" aria-labelledby="{self.anchor}-heading">'
            f'<h2 id="{self.anchor}-heading">{escape(self.heading)}</h2>{how}{self.body}</section>'
        )


def paragraphs(sentences: Iterable[str], kind: str = "") -> str:
    """A paragraph for each sentence.

    >>> paragraphs(["2 < 3"])
    '<p>2 &lt; 3</p>'
    """
    opening = f'<p class="{kind}">' if kind else "<p>"
    return "".join(f"{opening}{escape(sentence)}</p>" for sentence in sentences)


def sentence(said: object) -> str:
    """What an error or a remark says, as a sentence of its own.

    >>> sentence(ValueError("a vote has no nomogram"))
    'A vote has no nomogram.'
    """
    text = str(said)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def shortened(value: Any, most: int = _LONG) -> str:
    """A value in one line, without what is beyond a length.

    >>> shortened("a b" * 30, 10)
    'a ba ba b…'
    """
    text = " ".join(str(value).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def region(body: str, name: str, *, picture: bool = False) -> str:
    """A box that scrolls, and that the keyboard reaches; pictures are not cut off at the foot."""
    kind = "scroll picture" if picture else "scroll"
    return f'<div class="{kind}" role="region" tabindex="0" aria-label="{escape(name)}">{body}</div>'


def percent(share: float) -> str:
    """A share as it is said in a sentence; what is not quite all, or not quite nothing, is not said to be.

    >>> percent(0.7461), percent(0.99996), percent(1.0), percent(0.0001)
    ('74.6%', 'more than 99.9%', '100.0%', 'less than 0.1%')
    """
    if 0 < share < 0.0005:
        return "less than 0.1%"
    return "more than 99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def table(lines: Sequence[Sequence[str]], name: str, numbers: Sequence[int] = ()) -> str:
    """Rows of cells, the first of them heads and the first of each row its head, in a box that scrolls.

    Parameters
    ----------
    lines : sequences of str
        The cells.
    name : str
        What the table is, for those who do not see it.
    numbers : sequence of int
        The columns that stand flush right.

    Examples
    --------
    >>> '<td class="n">5</td>' in table([["class", "rows"], ["no", "5"]], "classes", [1])
    True
    """

    def cell(text: str, place: int, tag: str, scope: str = "") -> str:
        kind = ' class="n"' if place in numbers else ' class="long"' if len(text) > _LONG else ""
        return f"<{tag}{scope}{kind}>{escape(text)}</{tag}>"

    heads, *rows = lines
    top = "".join(cell(text, place, "th", ' scope="col"') for place, text in enumerate(heads))
    body = ""
    for head, *others in rows:
        cells = "".join(cell(text, place, "td") for place, text in enumerate(others, 1))
        body += "<tr>" + cell(head, 0, "th", ' scope="row"') + cells + "</tr>"
    return region(f'<table class="sheet"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>', name)


def figure(picture: str, caption: str) -> str:
    """A picture and what is said of it, in a box that scrolls where the picture is wider than the page."""
    return f"<figure>{region(picture, caption, picture=True)}<figcaption>{escape(caption)}</figcaption></figure>"


def details(summary: str, body: str, *, unfolded: bool = False) -> str:
    """What is folded away until it is asked for."""
    return f"<details{' open' if unfolded else ''}><summary>{escape(summary)}</summary>{body}</details>"


def listing(code: str, name: str) -> str:
    """Lines to be copied."""
    return f'<pre tabindex="0" role="region" aria-label="{escape(name)}"><code>{escape(code)}</code></pre>'


def embedded(html: str, name: str, level: int = 3) -> str:
    """What an object shows in a notebook, as a part of the page: its style, headings of a level, boxes to scroll.

    >>> embedded("<div style='overflow-x:auto'><style>p{}</style><p>x</p></div>", "arithmetic")
    '<div class="scroll" role="region" tabindex="0" aria-label="arithmetic"><p>x</p></div>'
    """
    bare = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    box = f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(name)}">'
    bare = re.sub(r"<(/?)h[1-6]", rf"<\1h{level}", bare)
    return re.sub(r"<div style=(['\"])overflow(?:-x)?:auto[^'\"]*\1>", lambda _: box, bare)


# Markdown: text that is shown as it is, tables, lists and code.


def plain(value: Any) -> str:
    r"""A value as text that Markdown shows as it is, in one line.

    >>> print(plain("a*b_c | <d>"))
    a\*b\_c \| &lt;d&gt;
    """
    text = re.sub(r"([\\`*_\[\]|~#])", r"\\\1", " ".join(str(value).split()))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"^(\d*)([-+=.)])(?=\s|$)", r"\1\\\2", text)  # at the beginning of a line it would be a list


def code(value: Any) -> str:
    """A value as code within a line, whatever it holds; of backticks it is fenced in by one more than it has.

    >>> code("a `b`")
    '`` a `b` ``'
    """
    text = " ".join(str(value).split())
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text or ' '}`"


def block(lines: Iterable[str], language: str = "") -> str:
    """Lines of code."""
    text = "\n".join(lines)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""A table; every cell is text.

    >>> print(markdown_table(["class", "rows"], [["no|yes", 5]]))
    | class | rows |
    | --- | --- |
    | no\|yes | 5 |
    """
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    lines += [f"| {' | '.join(plain(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def bullets(sentences: Iterable[str]) -> str:
    """A list; what is given is Markdown already."""
    return "\n".join(f"- {sentence}" for sentence in sentences)
