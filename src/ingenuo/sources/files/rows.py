"""Delimited text cell by cell, slowly: for the first rows, from which its form is told, and for rows that are wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Row:
    """The cells of a row, and the number of the line where it begins."""

    line: int
    cells: list[str]
    start: int  # where it stands in the text
    end: int
    unclosed: bool = False  # whether a quote opens that is never closed


@lru_cache(maxsize=16)
def _cell(separator: str, quote: str | None, padded: bool) -> re.Pattern[str]:
    s = re.escape(separator)
    if quote is None:
        return re.compile(rf"(?P<plain>[^{s}\r\n]*)(?P<end>{s}|\r\n|\n|\r|\Z)")
    q = re.escape(quote)
    spaces = " *" if padded else ""
    return re.compile(
        rf"(?:{spaces}{q}(?P<quoted>[^{q}]*(?:{q}{q}[^{q}]*)*){q})?(?P<plain>[^{s}\r\n]*)(?P<end>{s}|\r\n|\n|\r|\Z)"
    )


def rows(text: str, separator: str, quote: str | None, line: int = 1, padded: bool = False) -> Iterator[Row]:
    r"""The rows of a text; empty lines are none. In a padded one, spaces may stand before quotes.

    >>> [(row.line, row.cells) for row in rows("a,'b\n''c'' d'\n\n1,2\n", ",", "'")]
    [(1, ['a', "b\n'c' d"]), (4, ['1', '2'])]
    """
    cell = _cell(separator, quote, padded)
    at, n = 0, len(text)
    while at < n:
        start, cells, first, unclosed = at, [], line, False
        while True:
            found = cell.match(text, at)
            if found is None:  # cannot be: a cell may be empty, and the text's end ends it
                raise AssertionError(text[at : at + 50])
            quoted = found["quoted"] if quote is not None else None
            if quote is not None and quoted is None and found["plain"].startswith(quote):
                unclosed = True
            elif quoted is not None and quote is not None:
                line += quoted.count("\n")
                quoted = quoted.replace(quote + quote, quote)
            cells.append((quoted or "") + found["plain"])
            at = found.end()
            if found["end"] != separator:
                break
        end = at
        line += 1
        if len(cells) > 1 or cells[0] != "" or start != found.start() or quoted is not None:
            yield Row(first, cells, start, end, unclosed)
