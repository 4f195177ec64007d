"""Markdown: text that is shown as it is, tables, lists and code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any


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


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""A table; every cell is text.

    >>> print(table(["class", "rows"], [["no|yes", 5]]))
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
