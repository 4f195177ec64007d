"""Delimited text (CSV, TSV and their kin): its form is inferred from its first rows, and each block parsed by Arrow.

Arrow's own streaming reader parses in one thread and takes the types from its first block; here several blocks are
parsed at a time, in types fixed before, and what a block refuses is reported with its line.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from ingenuo.errors import FileError, InputError
from ingenuo.rows.files.bytes import File, find_bad_byte
from ingenuo.rows.files.contents import Data, Dialect, Form, Options, TextContent, Types, never_closed
from ingenuo.rows.kinds import not_a_number

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".psv": "|"}
_ROWS = 200  # rows by which the form is inferred
_BYTES = 1 << 20  # at most, but for three lines
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


class Delimited(TextContent):
    """The rows of a delimited text."""

    written = True
    least = 1 << 16

    def __init__(self, file: File, options: Options) -> None:
        super().__init__(file, options)
        if options.errors == "strict":
            error = find_bad_byte(self._head()[: self.body], self.encoding.mark, 1, file.name)
            if error is not None:
                raise error
        self.decimal, self.names = self.dialect.decimal, list(self.dialect.names)
        self.refuse_doubled()  # as names that are given may be
        self.notes += self.dialect.notes

    def _begin(self, text: bytes, complete: bool) -> None:
        self.dialect = infer_dialect(text, self.file, self.options, complete)
        self.body, self.titled = self.dialect.body, self.dialect.header_line > 0 or self.options.names is not None
        if self.options.names is not None:
            self.dialect = replace(self.dialect, names=tuple(self.given_names(len(self.dialect.names))))

    def form(self) -> Form:
        """How the text is written."""
        name, missing = self.encoding.name, tuple(self.options.missing)
        name = "utf-8-sig" if name == "utf-8" and self.encoding.mark else name
        skipped = self._head().count(self.dialect.line_end, 0, self.body)
        plain = replace(self.dialect, body=0, notes=())
        return Form(self.format, self.file.is_packed(), name, plain, skipped, missing, self.options.errors)

    def line_of(self, row: int) -> int | None:
        """The line of one of the first rows."""
        d = self.dialect
        text = self._head().decode("utf-8", "replace")
        rows = split_rows(text, d.separator, d.quote, padded=d.padded)
        found = next(islice(rows, row + (d.header_line > 0), None), None)
        return None if found is None else found.line

    def _parse(self, data: Data, types: Mapping[str, Any]) -> Any:
        return parse(data, self.dialect, types, self.options.missing)

    def _diagnose(self, data: Data, line: int, types: Types) -> FileError | None:
        """The first bad row, its line, cell and remedy."""
        d, name = self.dialect, self.file.name
        numbers = [(d.names.index(c), c, pa.types.is_integer(t)) for c, t in types.items() if pa.types.is_primitive(t)]
        for row in split_rows(data.decode(), d.separator, d.quote, line, d.padded):
            if row.unclosed:
                return never_closed(name, row.line, next(c for c in row.cells if c.startswith(d.quote or '"')))
            if len(row.cells) != len(d.names):
                return self._ragged(row)
            for place, column, is_whole in numbers:
                cell = row.cells[place].strip()
                if cell in self.options.missing:
                    continue
                if is_number(cell, d.decimal):
                    infinite = math.isinf(float(cell.replace(d.decimal, ".")))
                else:
                    infinite = cell.lower().lstrip("+-") in ("inf", "infinity")
                    if not infinite:
                        return not_a_number(name, row.line, column, cell)
                if infinite:
                    return FileError(
                        f"{name}, line {row.line}: column {column!r} has {cell!r}, which is out of the range of "
                        f"numbers; name it missing (missing=[{cell!r}]), or correct the file"
                    ).typed_as(f"missing=[{cell!r}]", f"--missing {cell!r}")
                if is_whole and not cell.lstrip("+-").isdecimal():
                    return FileError(
                        f"{name}, line {row.line}: column {column!r} held whole numbers as far as was looked, and "
                        f"{cell!r} is none; declare it: columns={{{column!r}: 'number'}} or "
                        f"columns={{{column!r}: 'category'}}"
                    ).declaring(column, "number", "category")
        return None

    def _ragged(self, row: Row) -> FileError:
        """The error for a row that has too many cells, or too few."""
        d, n = self.dialect, len(row.cells)
        shown = d.separator.join(row.cells)
        shown = shown if len(shown) <= 60 else shown[:57] + "…"
        remedy = "add what is missing, if only empty cells, or mend the row"
        if n > len(d.names):
            quoted = f"quote a cell that holds {d.separator!r}" if d.quote else "take the separator out of a cell"
            remedy = f"{quoted}, or mend the row"
        others = f"the header (line {d.header_line}) has" if d.header_line else "the other rows have"
        return FileError(
            f"{self.file.name}, line {row.line}: the row has {n} field{'s' * (n != 1)} and {others} {len(d.names)} "
            f"({shown!r}); {remedy}"
        )


def parse(data: Data, dialect: Dialect, types: Mapping[str, Any], missing: Sequence[str]) -> Any:
    """Some rows as a table with the columns that are wanted."""
    if not types:  # Arrow would read all the columns
        return parse(data, dialect, {dialect.names[0]: pa.string()}, missing).select([])
    if dialect.padded:
        data = _trim(data, dialect)
    if not data.strip(b" \r\n"):
        return pa.schema(list(types.items())).empty_table()
    table = csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(column_names=dialect.names, block_size=len(data) + 1, use_threads=False),
        parse_options=csv.ParseOptions(delimiter=dialect.separator, quote_char=dialect.quote or False),
        convert_options=csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=list(missing),
            strings_can_be_null=True,
            decimal_point=dialect.decimal,
        ),
    )
    for column in table.columns:
        if pa.types.is_floating(column.type) and pc.any(pc.is_inf(column)).as_py():
            raise pa.ArrowInvalid("a number is out of range")
    return table


def _trim(data: Data, dialect: Dialect) -> Data:
    """The data without spaces around its cells."""
    separator = dialect.separator.encode()
    if dialect.quote is None or dialect.quote.encode() not in data:
        for sign in (separator, b"\n", b"\r"):  # replacing twenty times as fast as a regular expression
            for padded in (b" " + sign, sign + b" "):
                while padded in data:
                    data = data.replace(padded, sign)
        return data.strip(b" ")
    s, q = re.escape(separator), re.escape(dialect.quote.encode())
    quoted = q + rb"[^" + q + rb"]*(?:" + q + q + rb"[^" + q + rb"]*)*" + q
    before = rb"([" + s + rb"\r\n]|\A) *(" + quoted + rb")?"  # what is within quotes is passed over
    after = rb" +(?=[" + s + rb"\r\n]|\Z)"
    return re.sub(before + rb"|" + after, lambda found: (found[1] or b"") + (found[2] or b""), data)


# The form of a text: separator, quotes, padding, decimal commas, header.


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is a number."""
    cell = cell.strip().replace(",", ".", 1) if decimal == "," else cell.strip()
    return _NUMBER.fullmatch(cell) is not None


def infer_dialect(head: bytes, file: File, options: Options, complete: bool = True) -> Dialect:
    """The form of a text whose first bytes are given."""
    separator, quote, missing = options.separator, options.quote, options.missing
    lines = re.match(rb"(?:[^\n]*\n){3}", head)
    lined = len(head) if complete else max(head.rfind(b"\n"), head.rfind(b"\r")) + 1  # a line that is cut tells nothing
    enough = max(_BYTES, lines.end() if lines else lined)
    complete = complete and len(head) <= enough
    text = head[:enough].decode("utf-8", "surrogateescape")
    skipped = 0
    if named := re.match(r"sep=(.)\r?\n", text):  # as Excel writes it
        separator, skipped = separator or named[1], named.end()
    usual = _SEPARATORS.get(file.suffix(), ",")
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1 or separator in "\r\n"):
        raise InputError(f"separator must be one character, such as ',' or ';', got {separator!r}")
    if quote is not None and (not isinstance(quote, str) or len(quote) > 1):
        raise InputError(f"quote must be one character, or '' for none, got {quote!r}")
    text = text[skipped:]
    separator = separator or _infer_separator(text, usual, quote, complete)
    mark = _infer_quote(text, separator) if quote is None else quote or None
    if mark == separator:
        raise InputError(f"separator and quote must differ, got {mark!r} for both")
    first, padded = _first_rows(text, separator, mark, complete)
    if not first:
        raise FileError(f"{file.name}: the file is empty; give one with a header and rows")
    if padded := padded or _is_padded([row.cells for row in first]):
        first = [row._replace(cells=[cell.strip(" \t") for cell in row.cells]) for row in first]
    cells = [row.cells for row in first]
    decimal = "," if separator != "," and _has_decimal_commas(cells[1:], missing) else "."
    titled = options.header
    if titled is None:  # names that are given stand in for a header
        titled = options.names is None and _has_header(cells, decimal, options.known, missing)
    notes = []
    if separator != usual:
        notes.append(f"separated by {separator!r}" if separator != "\t" else "separated by tabs")
    if mark not in (None, '"') and quote is None:
        notes.append(f"quoted by {mark}")
    if decimal == ",":
        notes.append("numbers with decimal commas")
    if padded:
        notes.append("cells trimmed of the spaces around them")
    if titled:
        names = [cell.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip() for cell in cells[0]]
        if "" not in names[:-1] and names[-1:] == [""] and all(len(row) < len(names) for row in cells[1:]):
            names.pop()  # a separator too many at the end of the header alone
        notes += [f"column {i + 1} has no name and is called x{i}" for i, name in enumerate(names) if not name]
        names = [name or f"x{i}" for i, name in enumerate(names)]
    else:
        names = [f"x{i}" for i in range(Counter(map(len, cells)).most_common(1)[0][0])]
        if options.names is None:
            notes.append("no header, columns called x0" + (f" to {names[-1]}" if len(names) > 1 else ""))
    doubled = next((name for name, count in Counter(names).items() if count > 1), None)
    if doubled is not None:
        places = [i + 1 for i, name in enumerate(names) if name == doubled]
        raise FileError(
            f"{file.name}, line {first[0].line}: two columns are called {doubled!r} (columns {places[0]} and "
            f"{places[1]}); rename one"
        )
    body = text[: first[0].end if titled else 0].encode("utf-8", "surrogateescape")
    line_end = b"\r" if "\n" not in text and "\r" in text else b"\n"
    header_line, note = first[0].line if titled else 0, (", ".join(notes),) if notes else ()
    return Dialect(separator, mark, padded, decimal, tuple(names), len(body) + skipped, header_line, line_end, note)


def _first_rows(text: str, separator: str, quote: str | None, complete: bool) -> tuple[list[Row], bool]:
    """The first rows that are whole, and whether spaces stand between separators and opening quotes."""
    spaced = quote is not None and bool(re.search(re.escape(separator) + " +" + re.escape(quote), text[: 1 << 16]))
    found = list(islice(split_rows(text, separator, quote, padded=spaced), _ROWS + 1))
    return found[:-1] if not complete and 1 < len(found) <= _ROWS else found[:_ROWS], spaced


def _infer_separator(text: str, usual: str, quote: str | None, complete: bool) -> str:
    """The separator whose number is the same in most rows; the usual one where that does nearly as well."""
    scores: dict[str, float] = {}
    for candidate in dict.fromkeys((usual, *",;\t|")):
        mark = (None if candidate == "\t" else '"') if quote is None else quote or None
        found = [row.cells for row in _first_rows(text, candidate, mark, complete)[0]]
        if not found:
            continue
        n_cells, same = Counter(map(len, found)).most_common(1)[0]
        scores[candidate] = same / len(found) if n_cells > 1 else 0.0
        if len(found[0]) != n_cells:  # a header has as many cells as the rows
            scores[candidate] /= 2
        if candidate == usual and scores[usual] >= 0.9 and not _parts_decimal_commas(text, found, usual, complete):
            return usual
    if scores.get(";", 0.0) == 1.0 and usual == ",":  # 3,14;2,71 has as many commas in every row
        return ";"
    best = max(scores, key=lambda candidate: scores[candidate], default=usual)
    return best if scores.get(best, 0.0) >= 0.7 else usual


def _parts_decimal_commas(text: str, found: list[list[str]], usual: str, complete: bool) -> bool:
    """Whether semicolons part numbers with decimal commas."""
    if usual != "," or not all(";" in "".join(cells) for cells in found):
        return False
    parted = [row.cells for row in _first_rows(text, ";", '"', complete)[0]]
    columns = zip(*parted[1:] or parted)
    return len(set(map(len, parted))) == 1 and any(
        all(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in column) for column in columns
    )


def _infer_quote(text: str, separator: str) -> str | None:
    """Double quotes; single ones where cells begin and end with them and none with double ones."""
    if separator == "\t":  # tabs need no quotes, and a stray one would join lines
        return None
    s, some = re.escape(separator), text[: 1 << 16]
    single = '"' not in some and len(re.findall(rf"(?:^|{s})'[^'\n]*'(?={s}|\r?$)", some, re.MULTILINE)) >= 2
    return "'" if single else '"'


def _columns(cells: list[list[str]]) -> list[tuple[str, ...]]:
    """The cells by column, of the rows that have as many as most."""
    usual = Counter(map(len, cells)).most_common(1)[0][0] if cells else 0
    return list(zip(*(row for row in cells if len(row) == usual)))


def _is_padded(cells: list[list[str]]) -> bool:
    """Whether some column has a space before (or after) every cell."""
    columns = [column for column in _columns(cells[1:]) if all(column)]
    return any(all(cell[end] == " " for cell in column) for column in columns for end in (0, -1))


def _has_decimal_commas(cells: list[list[str]], missing: Sequence[str]) -> bool:
    """Whether some column has only numbers, some with a decimal comma, and none has decimal points."""
    filled = [[cell.strip() for cell in column if cell.strip() not in missing] for column in _columns(cells)]
    numbers = [cell for column in filled if all(is_number(cell, ",") for cell in column) for cell in column]
    return any("," in cell for cell in numbers) and not any("." in cell for cell in numbers)


def _has_header(cells: list[list[str]], decimal: str, known: Sequence[str], missing: Sequence[str]) -> bool:
    """Whether the first row names the columns: it does not look like the rows below."""
    titles, below = [cell.strip() for cell in cells[0]], cells[1:]
    if any(name in titles for name in known):
        return True
    if not below:
        return not any(is_number(cell, decimal) for cell in titles)
    alike = False
    for title, column in zip(titles, _columns(below)):
        filled = [cell.strip() for cell in column if cell.strip() not in missing]
        if filled and sum(is_number(cell, decimal) for cell in filled) >= 0.9 * len(filled):
            if title and title not in missing and not is_number(title, decimal):
                return True
            alike |= is_number(title, decimal)
        elif title in filled:
            alike = True
    return not alike


# Cell by cell, slowly: for the first rows, and for rows that are wrong.


class Row(NamedTuple):
    """The cells of a row, and the number of the line where it begins."""

    line: int
    cells: list[str]
    end: int  # where it ends in the text
    unclosed: bool = False  # whether a quote opens that is never closed


@lru_cache(maxsize=16)
def _cell(separator: str, quote: str | None, padded: bool) -> re.Pattern[str]:
    s, q = re.escape(separator), re.escape(quote or "")
    opened = rf"(?:{' *' if padded else ''}{q}(?P<quoted>[^{q}]*(?:{q}{q}[^{q}]*)*){q})?" if quote else "(?P<quoted>)??"
    return re.compile(rf"{opened}(?P<plain>[^{s}\r\n]*)(?P<end>{s}|\r\n|\n|\r|\Z)")


def split_rows(text: str, separator: str, quote: str | None, line: int = 1, padded: bool = False) -> Iterator[Row]:
    """The rows of a text; empty lines are none. In a padded one, spaces may stand before quotes."""
    cell = _cell(separator, quote, padded)
    at, n = 0, len(text)
    while at < n:
        cells: list[str] = []
        first, unclosed, end = line, False, separator
        while end == separator:
            found = cell.match(text, at)
            assert found is not None  # a cell may be empty, and the text's end ends it
            quoted, plain, end = found.groups()
            if quoted is not None and quote is not None:
                line += quoted.count("\n")
                plain = quoted.replace(quote + quote, quote) + plain
            elif quote is not None and plain.startswith(quote):
                unclosed = True
            cells.append(plain)
            at = found.end()
        line += 1
        if len(cells) > 1 or cells[0] != "" or quoted is not None:
            yield Row(first, cells, at, unclosed)
