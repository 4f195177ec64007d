"""Tables, sections and pictures as pieces of text, HTML and Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any


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
