"""`Shown`, the one renderer: from tables, sentences and pictures follow text, HTML, Markdown, LaTeX, CSV and data."""

from __future__ import annotations

import csv
import io
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from typing import Any, Protocol, Self

from ingenuo.errors import InputError, visible
from ingenuo.errors import wants_colours as wants_colours
from ingenuo.language import check_language, speaking, spoken
from ingenuo.show.format import latex, markdown, plain
from ingenuo.show.svg import Picture

WIDTH = 100  # letters of a line, where a table can be divided
_NARROW = 12  # and of a cell that is folded, at least

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

    >>> print(PrintedTable(["class", "share"], [["no", 5 / 14], ["all", 1.0]], ["", ".3f"], rule=True, totals=1).text())
    class  share
    ────────────
    no     0.357
    ────────────
    all    1.000
    """

    heads: Sequence[str]  # may be empty
    rows: Sequence[Sequence[Any]]  # None is an empty cell, NaN a dash
    formats: Sequence[str] = ()  # of each column, as in `format(value, ",.3f")`; text is written as it is
    title: str = ""  # stands above the table, which is then indented in text
    rule: bool = False  # whether there is a rule under the heads in text
    totals: int = 0  # so many of the last rows stand under a rule
    # (a, b): in text, a table that is too wide is divided; each part has the first a columns, and some of the others,
    # of which b belong together. What is too wide even then is folded.
    divided: tuple[int, int] | None = None

    def cells(self) -> list[list[str]]:
        """The rows as they are written, without the heads."""
        return [[_write(value, self._format(k)) for k, value in enumerate(row)] for row in self.rows]

    def _format(self, column: int) -> str:
        return self.formats[column] if column < len(self.formats) else ""

    def _columns(self) -> int:
        return max([len(self.heads), *map(len, self.rows)])

    def text(self, *, colour: bool = False) -> str:
        """The table in a terminal: each column as wide as its longest cell."""
        lines = [[_write(head, "") for head in self.heads], *self.cells()] if self.heads else self.cells()
        parts = [self._lines(each) for each in self._divide(lines)]
        if colour:
            parts = [[_paint(line, k == 0 and bool(self.heads)) for k, line in enumerate(part)] for part in parts]
        written = [line for part in parts for line in ["", *part]][1:]
        return "\n  ".join([_write(self.title, ""), *written]) if self.title else "\n".join(written)

    def _divide(self, lines: list[list[str]]) -> list[list[list[str]]]:
        """The lines, or of a table that is too wide, those of its parts."""
        n = self._columns()
        if self.divided is None or sum(_widths(lines, n)) + 2 * (n - 1) <= WIDTH:
            return [lines]
        (first, each), parts = self.divided, []
        widths, taken = _widths(lines, n), list[int]()
        for at in range(first, n, each):
            bundle = range(at, min(at + each, n))
            if taken and sum(widths[k] + 2 for k in (*range(first), *taken, *bundle)) > WIDTH + 2:
                parts.append(taken)
                taken = []
            taken = [*taken, *bundle]
        shown = [[*range(first), *part] for part in (*parts, taken)]
        # What runs across stands in every part.
        return [[[cells[k] for k in part if k < len(cells)] if len(cells) == n else cells for cells in lines]
                for part in shown]  # fmt: skip

    def _lines(self, lines: list[list[str]]) -> list[str]:
        n = max(map(len, lines), default=0)
        widths = _widths(lines, n)
        if self.divided is not None:
            caps = range(max(widths), _NARROW, -1)
            widest = next((cap for cap in caps if sum(min(w, cap) for w in widths) + 2 * (n - 1) <= WIDTH), _NARROW)
            widths = [min(width, widest) for width in widths]
        written, ends = [], []
        for cells in lines:
            room = [w if _fills(k, cells, n) else sum(widths[k:]) + 2 * (n - k - 1) for k, w in enumerate(widths)]
            folded = [[cell] if self.divided is None else _fold(cell, w) for cell, w in zip(cells, room)]
            for line in zip_longest(*folded, fillvalue=""):
                written.append("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
            ends.append(len(written))
        across = "─" * max(map(len, written), default=0)
        if self.totals:
            written.insert(ends[-self.totals - 1], across)
        if self.rule:
            written.insert(ends[0], across)
        return written

    def html(self) -> str:
        """The table for notebooks and pages."""
        columns, above = self._columns(), len(self.rows) - self.totals if self.totals else -1
        sides = [" class='n'" if self._format(k) else "" for k in range(columns)]
        body = ""
        for number, cells in enumerate(self.cells()):
            body += "<tr class='rule'>" if number == above else "<tr>"
            for k, cell in enumerate(cells):
                across = f" colspan='{columns - k}'" if not _fills(k, cells, columns) else ""
                body += f"<td{sides[k]}{across}>{f'<em>{escape(cell)}</em>' if across else escape(cell)}</td>"
            body += "</tr>"
        heads = "".join(f"<th{side}>{escape(str(spoken(head)))}</th>" for side, head in zip(sides, self.heads))
        caption = f"<caption>{escape(spoken(self.title))}</caption>" if self.title else ""
        return f"<table class='ingenuo'>{caption}{f'<tr>{heads}</tr>' if heads else ''}{body}</table>"

    def markdown(self) -> str:
        """The table in Markdown; every cell is text."""
        n = self._columns()
        named = [spoken(head) for head in self.heads] or [""] * n
        lines = [named, *([*cells, *[""] * (n - len(cells))] for cells in self.cells())]
        heads, *rows = (f"| {' | '.join(map(markdown, line))} |" for line in lines)
        title = f"**{markdown(spoken(self.title))}**\n\n" if self.title else ""
        return title + "\n".join([heads, f"|{' --- |' * n}", *rows])

    def latex(self) -> str:
        """The table in LaTeX, without any package; every cell is text."""
        n = self._columns()
        lines = [[*map(latex, cells)] for cells in self.cells()]
        for cells in lines:
            if len(cells) < n:
                cells[-1] = rf"\multicolumn{{{n - len(cells) + 1}}}{{l}}{{{cells[-1]}}}"
        written = [" & ".join(cells) + r" \\" for cells in lines]
        if self.totals:
            written.insert(len(written) - self.totals, r"\hline")
        named = [latex(spoken(head)) for head in self.heads]
        heads = [" & ".join(named) + r" \\", r"\hline"] if named else []
        sides = "".join("r" if self._format(k) else "l" for k in range(n))
        title = [rf"\textbf{{{latex(spoken(self.title))}}}", ""] if self.title else []
        return "\n".join([*title, rf"\begin{{tabular}}{{{sides}}}", *heads, *written, r"\end{tabular}"])

    def records(self) -> list[dict[str, Any]]:
        """The rows, each as values by the heads of their columns, which are numbered where they have no head."""
        n, heads = self._columns(), [str(head) for head in self.heads]
        names = [heads[k] if k < len(heads) and heads[k] else f"column {k + 1}" for k in range(n)]
        names = [name if name not in names[:k] else f"{name} {k + 1}" for k, name in enumerate(names)]
        title = {"table": self.title} if self.title else {}
        return [{**title, **dict(zip(names, row))} for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """The values under their heads."""
        rows = [dict(zip(self.heads, row)) for row in self.rows] if self.heads else [list(row) for row in self.rows]
        return {**({"title": self.title} if self.title else {}), "rows": rows}


def _write(value: Any, how: str) -> str:
    if value is None or isinstance(value, str):
        return visible(spoken(value) or "", lines=False)
    return "–" if value != value else format(value, how) if how else visible(str(value), lines=False)


def _paint(line: str, stands_out: bool) -> str:
    """A line in a terminal: bold if it stands out, and rules dim."""
    code = "1" if stands_out else "2" if line and not line.strip("─") else ""
    return f"\x1b[{code}m{line}\x1b[0m" if code else line


def _widths(lines: list[list[str]], n: int) -> list[int]:
    """Of each column the longest cell that fills it alone."""
    return [max((len(cells[k]) for cells in lines if _fills(k, cells, n)), default=0) for k in range(n)]


def _fold(cell: str, width: int) -> list[str]:
    return [cell] if len(cell) <= width else textwrap.wrap(cell, max(width, _NARROW), subsequent_indent=" ")


def _fills(column: int, cells: Sequence[str], columns: int) -> bool:
    """Whether a cell fills its own column, and does not run across those that follow."""
    return column < len(cells) and (column < len(cells) - 1 or len(cells) == columns)


def aligned(lines: list[list[str]]) -> list[str]:
    """Rows of cells as lines of text, each column as wide as its longest cell."""
    return PrintedTable((), lines).text().split("\n")


class Block(Protocol):
    """A part of what is shown that is more than a sentence: a table, a text whose words are coloured, a picture."""

    def text(self, *, colour: bool = False) -> str:
        """In a terminal."""

    def html(self) -> str:
        """In a notebook or on a page."""

    def markdown(self) -> str:
        """In Markdown."""

    def latex(self) -> str:
        """In LaTeX."""

    def records(self) -> list[dict[str, Any]]:
        """As lines of a table, each of values by their columns; none where it is no table."""

    def to_dict(self) -> Any:
        """As plain data."""


class Shown:
    """A thing that shows itself: from one description of it follow text, HTML, Markdown, LaTeX, CSV and data.

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
    """

    def _blocks(self) -> Sequence[str | Block]:
        """Sentences, tables and pictures; an empty sentence is an empty line in text, one with an arrow the answer."""
        raise NotImplementedError

    def _title(self) -> str:
        return type(self).__name__

    def _without_pictures(self) -> list[str | Block]:
        return [block for block in self._blocks() if not isinstance(block, Picture)]

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return str(self)

    def to_text(self, *, colour: bool = False) -> str:
        """What is printed; with `colour`, heads, answers and the words of a text stand out in a terminal."""
        return "\n".join(
            (_paint(visible(spoken(block)), block.startswith("→")) if colour else visible(spoken(block)))
            if isinstance(block, str)
            else block.text(colour=colour)
            for block in self._without_pictures()
        )

    def show(self, file: Any = None) -> None:
        """Print it; with colours where the output is a terminal that wants them (NO_COLOR says it does not)."""
        out = sys.stdout if file is None else file
        print(self.to_text(colour=wants_colours(out)), file=out)

    def body_html(self) -> str:
        """What a page or a notebook shows, without a style sheet."""
        return "".join(
            block.html() if isinstance(block, Picture) or not isinstance(block, str) else _paragraph(spoken(block))
            for block in self._blocks()
        )

    def _repr_html_(self) -> str:
        return self._whole_html()

    def _whole_html(self) -> str:
        return f"<div style='overflow-x:auto'><style>{STYLE}</style>{self.body_html()}</div>"

    def to_html(self, title: str | None = None) -> str:
        """A whole page, to be written to a file: no scripts, and nothing that is fetched from elsewhere."""
        from ingenuo.show.page import page

        return page(spoken(self._title()) if title is None else title, self._whole_html())

    def to_markdown(self) -> str:
        """Paragraphs and tables for a README, an issue or a model card."""
        blocks = [block for block in self._without_pictures() if block != ""]
        return "\n\n".join(markdown(spoken(block)) if isinstance(block, str) else block.markdown() for block in blocks)

    def to_latex(self) -> str:
        """Paragraphs and tables for an article; no package is needed."""
        blocks = [block for block in self._without_pictures() if block != ""]
        return "\n\n".join(latex(spoken(block)) if isinstance(block, str) else block.latex() for block in blocks)

    def records(self) -> list[dict[str, Any]]:
        """The lines of its tables, each as values by their columns."""
        blocks = [block for block in self._without_pictures() if not isinstance(block, str)]
        return [record for block in blocks for record in block.records()]

    def to_csv(self) -> str:
        """The lines of its tables, with all digits."""
        return csv_of(self.records())

    def to_frame(self) -> Any:
        """The lines of its tables as a pandas DataFrame."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise InputError("to_frame needs pandas, which is not installed; to_csv and to_dict need nothing") from None
        return DataFrame(self.records())

    def to_json(self) -> str:
        """What `to_dict` gives, as text."""
        return json_text(self.to_dict())

    def pieces(self, form: str, *, colour: bool = False) -> Iterator[str]:
        """What a file of a form holds, in pieces; the forms are text, markdown, latex, csv, html and json."""
        yield self.to_text(colour=colour) if form == "text" else getattr(self, f"to_{form}")()

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, as JSON holds it."""
        blocks = self._without_pictures()
        return {
            "sentences": [block for block in blocks if isinstance(block, str) and block],
            "tables": plain([block.to_dict() for block in blocks if not isinstance(block, str)]),
        }


class Translated(Shown):
    """A thing that shows itself in other languages too; its data, as `to_dict` and `to_csv` give them, stay English."""

    _language = "en"

    def translate(self, language: str) -> Self:
        """The same, which shows itself in a language: "en", "it" or "es"; what users named is not translated."""
        found = copy(self)
        object.__setattr__(found, "_language", check_language(language))
        return found

    def to_text(self, *, colour: bool = False) -> str:
        """What is printed; with `colour`, heads, answers and the words of a text stand out in a terminal."""
        with speaking(self._language):
            return super().to_text(colour=colour)

    def body_html(self) -> str:
        """What a page or a notebook shows, without a style sheet."""
        with speaking(self._language):
            return super().body_html()

    def to_html(self, title: str | None = None) -> str:
        """A whole page, to be written to a file: no scripts, and nothing that is fetched from elsewhere."""
        with speaking(self._language):
            return super().to_html(title)

    def to_markdown(self) -> str:
        """Paragraphs and tables for a README, an issue or a model card."""
        with speaking(self._language):
            return super().to_markdown()

    def to_latex(self) -> str:
        """Paragraphs and tables for an article; no package is needed."""
        with speaking(self._language):
            return super().to_latex()


@dataclass(frozen=True)
class Heading:
    """The name of what follows."""

    name: str

    def text(self, *, colour: bool = False) -> str:
        """The name alone."""
        return str(spoken(self.name))

    def html(self) -> str:
        """A heading."""
        return f"<h2>{escape(spoken(self.name))}</h2>"

    def markdown(self) -> str:
        """A heading."""
        return f"## {markdown(spoken(self.name))}"

    def latex(self) -> str:
        """A heading."""
        return rf"\subsection*{{{latex(spoken(self.name))}}}"

    def records(self) -> list[dict[str, Any]]:
        """It is no table."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """The name."""
        return {"heading": self.name}


def json_text(data: Any) -> str:
    """Data as JSON; an infinite number is text there, and what is no number null."""
    return visible(json.dumps(plain(data), ensure_ascii=False, indent=2))


def csv_of(records: Iterable[dict[str, Any]], *, heads: bool = True) -> str:
    """Lines of CSV, under the names of all the columns that any of them has."""
    lines = list(records)
    out = io.StringIO()
    names = list(dict.fromkeys(name for line in lines for name in line))
    writer = csv.DictWriter(out, names, lineterminator="\n")
    if heads:
        writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def _paragraph(sentence: str) -> str:
    if sentence.startswith("→ "):
        return f"<p>→ <strong>{escape(sentence[2:])}</strong></p>"
    tag = "pre" if "\n" in sentence else "p"
    return f"<{tag}>{escape(sentence)}</{tag}>" if sentence else ""
