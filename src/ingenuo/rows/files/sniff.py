"""The form of delimited text, told from its first rows: separator, quotes, padding, decimal commas, header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from ingenuo.errors import FileError, InputError

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".psv": "|"}
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_ROWS = 200  # rows that are looked at
_BYTES = 1 << 20  # at most, but for three lines
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """The form of a delimited text."""

    separator: str = ","
    quote: str | None = '"'
    padded: bool = False  # whether cells have spaces around them that do not belong to them
    decimal: str = "."
    names: tuple[str, ...] = ()
    body: int = 0  # where the rows begin, in bytes of UTF-8
    header_line: int = 0  # the line of the header; 0 where there is none
    line_end: bytes = b"\n"
    notes: tuple[str, ...] = ()


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is a number."""
    cell = cell.strip()
    if decimal == ",":
        cell = cell.replace(",", ".", 1)
    return _NUMBER.fullmatch(cell) is not None


def sniff(
    head: bytes,
    name: str,
    suffix: str,
    *,
    separator: str | None = None,
    quote: str | None = None,
    header: bool | None = None,
    known: Sequence[str] = (),
    missing: Sequence[str] = MISSING,
    complete: bool = True,
) -> Dialect:
    """The form of a text whose first bytes are given; `known` names columns that a header would have.

    >>> sniff(b"a;b" + bytes([10]) + b"3,5;x" + bytes([10]), "prices.csv", ".csv").notes
    ("separated by ';', numbers with decimal commas",)
    """
    enough = max(_BYTES, _lines_end(head, 3))
    complete = complete and len(head) <= enough
    text = head[:enough].decode("utf-8", "surrogateescape")
    skipped = 0
    if told := re.match(r"sep=(.)\r?\n", text):  # as Excel writes it
        separator, skipped = separator or told[1], told.end()
    usual = SEPARATORS.get(suffix, ",")
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1 or separator in "\r\n"):
        raise InputError(f"separator must be one character, such as ',' or ';', got {separator!r}")
    if quote is not None and (not isinstance(quote, str) or len(quote) > 1):
        raise InputError(f"quote must be one character, or '' for none, got {quote!r}")
    text = text[skipped:]
    found = separator or _separator(text, usual, quote, complete)
    mark = _quote(text, found) if quote is None else quote or None
    if mark == found:
        raise InputError(f"separator and quote must differ, got {found!r} for both")
    spaced = mark is not None and _spaced(text, found, mark)
    first = _first(text, found, mark, complete, spaced)
    if not first:
        raise FileError(f"{name}: the file is empty; give one with a header and rows")
    padded = spaced or _padded([row.cells for row in first])
    if padded:
        first = [Row(row.line, [cell.strip(" \t") for cell in row.cells], row.start, row.end) for row in first]
    decimal = "," if found != "," and _decimal_commas([row.cells for row in first[1:]], missing) else "."
    titled = header if header is not None else _has_header([row.cells for row in first], decimal, known, missing)
    notes = []
    if found != usual:
        notes.append(f"separated by {found!r}" if found != "\t" else "separated by tabs")
    if mark not in (None, '"') and quote is None:
        notes.append(f"quoted by {mark}")
    if decimal == ",":
        notes.append("numbers with decimal commas")
    if padded:
        notes.append("cells trimmed of the spaces around them")
    n_columns = len(first[0].cells) if titled else Counter(len(row.cells) for row in first).most_common(1)[0][0]
    if not titled:
        last = f" to x{n_columns - 1}" if n_columns > 1 else ""
        notes.append("no header" + (", columns called x0" + last))
        names = [f"x{i}" for i in range(n_columns)]
    else:
        names = [_mended(cell).strip() for cell in first[0].cells]
        if nameless := [i for i, title in enumerate(names) if not title]:
            if (
                len(nameless) == 1
                and nameless[0] == len(names) - 1
                and all(len(r.cells) < len(names) for r in first[1:])
            ):
                names.pop()  # a separator too many at the end of the header alone
                nameless = []
            for i in nameless:
                names[i] = f"x{i}"
                notes.append(f"column {i + 1} has no name and is called x{i}")
    doubled = [title for title, count in Counter(names).items() if count > 1]
    if doubled:
        where = [i + 1 for i, title in enumerate(names) if title == doubled[0]]
        raise FileError(
            f"{name}, line {first[0].line}: two columns are called {doubled[0]!r} (columns {where[0]} and {where[1]}); "
            "rename one"
        )
    body = text[: first[0].end if titled else 0]
    return Dialect(
        found, mark, padded, decimal, tuple(names),
        len(body.encode("utf-8", "surrogateescape")) + skipped, first[0].line if titled else 0,
        b"\r" if "\n" not in text and "\r" in text else b"\n",
        (", ".join(notes),) if notes else (),
    )  # fmt: skip


def _lines_end(head: bytes, n: int) -> int:
    """Where the first lines end, however long they are."""
    at = 0
    for _ in range(n):
        at = head.find(b"\n", at) + 1
        if at == 0:
            return len(head)
    return at


def _mended(cell: str) -> str:
    """A cell with what was no UTF-8 replaced."""
    return cell.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _spaced(text: str, separator: str, quote: str) -> bool:
    """Whether spaces stand between separators and opening quotes."""
    return re.search(re.escape(separator) + " +" + re.escape(quote), text[: 1 << 16]) is not None


def _first(text: str, separator: str, quote: str | None, complete: bool, padded: bool = False) -> list[Row]:
    """The first rows that are whole."""
    found = list(islice(rows(text, separator, quote, padded=padded), _ROWS + 1))
    return found[:-1] if not complete and len(found) > 1 and len(found) <= _ROWS else found[:_ROWS]


def _separator(text: str, usual: str, quote: str | None, complete: bool) -> str:
    """The separator whose number is the same in most rows; the usual one where that does nearly as well."""
    scores: dict[str, float] = {}
    for candidate in (usual, *(s for s in _NAMES if s != usual)):
        mark = (None if candidate == "\t" else '"') if quote is None else quote or None
        spaced = mark is not None and _spaced(text, candidate, mark)
        found = [row.cells for row in _first(text, candidate, mark, complete, spaced)]
        if not found:
            continue
        n_cells, same = Counter(len(cells) for cells in found).most_common(1)[0]
        scores[candidate] = same / len(found) if n_cells > 1 else 0.0
        if len(found[0]) != n_cells:  # a header has as many cells as the rows
            scores[candidate] /= 2
        if candidate == usual and scores[usual] >= 0.9 and not _better(text, found, usual, complete):
            return usual
    if scores.get(";", 0.0) == 1.0 and usual == ",":  # 3,14;2,71 has as many commas in every row
        return ";"
    best = max(scores, key=lambda candidate: scores[candidate], default=usual)
    return best if scores.get(best, 0.0) >= 0.7 else usual


def _better(text: str, found: list[list[str]], usual: str, complete: bool) -> bool:
    """Whether semicolons part numbers with decimal commas."""
    if usual != "," or not all(";" in "".join(cells) for cells in found):
        return False
    parted = [row.cells for row in _first(text, ";", '"', complete)]
    if len({len(cells) for cells in parted}) != 1:
        return False
    return any(all(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in column) for column in zip(*parted[1:] or parted))


def _quote(text: str, separator: str) -> str | None:
    """Double quotes; single ones where cells begin and end with them and none with double ones."""
    if separator == "\t":  # tabs need no quotes, and a stray one would join lines
        return None
    s = re.escape(separator)
    some = text[: 1 << 16]
    if '"' not in some and len(re.findall(rf"(?:^|{s})'[^'\n]*'(?={s}|\r?$)", some, re.MULTILINE)) >= 2:
        return "'"
    return '"'


def _columns(cells: list[list[str]]) -> list[tuple[str, ...]]:
    """The cells by column, of the rows that have as many as most."""
    if not cells:
        return []
    usual = Counter(len(row) for row in cells).most_common(1)[0][0]
    return list(zip(*(row for row in cells if len(row) == usual)))


def _padded(cells: list[list[str]]) -> bool:
    """Whether some column has a space before (or after) every cell."""
    if len(cells) < 2:
        return False
    for column in _columns(cells[1:]):
        filled = [cell for cell in column if cell]
        if len(filled) == len(column) and (
            all(cell[0] == " " for cell in filled) or all(cell[-1] == " " for cell in filled)
        ):
            return True
    return False


def _decimal_commas(cells: list[list[str]], missing: Sequence[str]) -> bool:
    """Whether some column has only numbers, some with a decimal comma, and none has decimal points."""
    found = False
    for column in _columns(cells):
        filled = [cell.strip() for cell in column if cell.strip() not in missing]
        if not filled or not all(is_number(cell, ",") for cell in filled):
            continue
        if any("." in cell for cell in filled):
            return False
        found |= any("," in cell for cell in filled)
    return found


def _has_header(cells: list[list[str]], decimal: str, known: Sequence[str], missing: Sequence[str]) -> bool:
    """Whether the first row names the columns: it does not look like the rows below."""
    first, below = cells[0], cells[1:]
    titles = [cell.strip() for cell in first]
    if any(name in titles for name in known):
        return True
    if not below:
        return not any(is_number(cell, decimal) for cell in titles)
    alike = False
    for title, column in zip(titles, _columns(below)):
        filled = [cell.strip() for cell in column if cell.strip() not in missing]
        numbers = sum(is_number(cell, decimal) for cell in filled)
        if filled and numbers >= 0.9 * len(filled):
            if title and title not in missing and not is_number(title, decimal):
                return True
            alike |= is_number(title, decimal)
        elif title in filled:
            alike = True
    return not alike


# Cell by cell, slowly: for the first rows, and for rows that are wrong.


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
