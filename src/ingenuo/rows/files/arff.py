"""ARFF, the format of Weka: a header that declares the columns, then rows, full or sparse.

Rows without quotes, braces and comments are parsed by Arrow, like delimited text; the others one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ingenuo.errors import FileError, did_you_mean
from ingenuo.rows.files.bytes import File
from ingenuo.rows.files.contents import Data, Dialect, Options, TextContent, Types, require_utf8
from ingenuo.rows.files.delimited import parse
from ingenuo.rows.kinds import CATEGORY, TEXT, Kind, not_a_number

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_DATA = re.compile(r"^[ \t]*@data\b[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE | re.DOTALL)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(,|\Z)", re.DOTALL)
_SPARSE = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,]*?)\s*(?:,|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_SPECIAL = re.compile(rb"""['"{\\]""")  # what Arrow would not read as it is meant
_COMMENT = re.compile(rb"^[ \t]*%[^\n]*", re.MULTILINE)
_KINDS = {
    **dict.fromkeys(("numeric", "real", "integer"), Kind("number", "declared in the file", pa.float64())),
    "string": Kind("text", "declared in the file as strings", TEXT),
    "date": Kind("ignore", "dates are neither numbers nor categories", TEXT),
}
_ABSENT = {"number": "0", "text": ""}  # what a sparse row leaves out


class Attribute(NamedTuple):
    """A column as it is declared."""

    name: str
    kind: Kind
    values: tuple[str, ...] = ()  # of a category, as declared


class Arff(TextContent):
    """The rows of an ARFF file; the class is the attribute of that name, else the last one if it is nominal."""

    written = True

    def __init__(self, file: File, options: Options) -> None:
        self._header = ""
        self._has_data = False
        super().__init__(file, options)
        self.attributes = _attributes(self._header, file.name)
        if not self._has_data:
            raise FileError(f"{file.name}: there is no line '@data'; put it before the rows")
        if not self.attributes:
            raise FileError(f"{file.name}: no column is declared before @data; add lines '@attribute name type'")
        self.names = [attribute.name for attribute in self.attributes]
        self.refuse_doubled("attributes")
        self.kinds = {attribute.name: attribute.kind for attribute in self.attributes}
        self.categories = {a.name: list(a.values) for a in self.attributes if a.kind.kind == "category"}
        named = next((name for name in self.names if name.lower() == "class"), None)
        self.target = named or (self.names[-1] if self.names[-1] in self.categories else None)
        self._cells = Dialect(quote=None, padded=True, names=tuple(self.names))

    def _begin(self, text: bytes, complete: bool) -> None:
        header = text.decode("utf-8", "surrogateescape")
        found = _DATA.search(header)
        self._header, self._has_data = header[: found.start()] if found else header, found is not None
        self.body = len(header[: found.end()].encode("utf-8", "surrogateescape")) if found else len(text)

    def _parse(self, data: Data, types: Mapping[str, Any]) -> Any:
        require_utf8(data)
        data = _COMMENT.sub(b"", data) if b"%" in data else data
        try:
            if _SPECIAL.search(data):
                raise pa.ArrowInvalid("rows that are read one by one")
            table = parse(data.replace(b"\t", b" "), self._cells, types, ["?"])
        except pa.ArrowInvalid:
            table = self._parse_slowly(data.decode(), types)
        for name in set(self.categories) & set(table.column_names):
            if pa.types.is_dictionary(table.schema.field(name).type):
                seen = pc.unique(table.column(name).cast(pa.string())).drop_null().to_pylist()
                if not set(seen) <= set(self.categories[name]):
                    raise pa.ArrowInvalid("a value that is not declared")
        return table

    def _parse_slowly(self, text: str, types: Mapping[str, Any]) -> Any:
        """The rows, one by one."""
        try:
            rows = [row for _, row in self._rows(text, 1)]
        except FileError as error:
            raise pa.ArrowInvalid(str(error)) from None
        columns = []
        for name, type in types.items():
            cells = [row[self.names.index(name)] for row in rows]
            if pa.types.is_floating(type) or pa.types.is_integer(type):
                try:
                    columns.append(pa.array([None if c is None else float(c) for c in cells], pa.float64()).cast(type))
                except ValueError as error:
                    raise pa.ArrowInvalid(str(error)) from None
            elif pa.types.is_dictionary(type):
                columns.append(pa.array(cells, pa.string()).dictionary_encode())
            else:
                columns.append(pa.array(cells, type))
        return pa.table(columns, schema=pa.schema(list(types.items())))

    def _diagnose(self, data: Data, line: int, types: Types) -> FileError | None:
        """The first value that is no number, or not declared; a row that cannot be read at all raises."""
        for number, row in self._rows(_COMMENT.sub(b"", data).decode(), line):
            for name, cell in zip(self.names, row):
                type = types.get(name)
                if type is None or cell is None:
                    continue
                if pa.types.is_floating(type):
                    try:
                        float(cell)
                    except ValueError:
                        return not_a_number(self.file.name, number, name, cell)
                elif pa.types.is_dictionary(type) and cell not in self.categories.get(name, (cell,)):
                    hint = did_you_mean(cell, self.categories[name]) or "; declare it"
                    return FileError(
                        f"{self.file.name}, line {number}: {cell!r} is no declared value of {name!r}{hint}"
                    )
        return None

    def _rows(self, text: str, line: int) -> Iterator[tuple[int, list[str | None]]]:
        """The cells of each row, with its line; None for a missing one."""
        n = len(self.names)
        for number, row in enumerate(map(str.strip, text.split("\n")), line):
            if not row:
                continue
            if row.startswith("{"):
                yield number, self._sparse_row(row, f"{self.file.name}, line {number}")
                continue
            cells = _split(row)
            if len(cells) == 1 and n > 1 and "," not in row:  # parted by spaces or tabs
                cells = [_value(cell) for cell in re.findall(rf"{_QUOTED}|\S+", row)]
            if len(cells) != n:
                shown = row if len(row) <= 60 else row[:57] + "…"
                remedy = "quote values that hold commas, or mend the row"
                if re.search(r"\{[^{}]*\}\s*$", row):
                    remedy = "take the weight at its end off"
                raise FileError(
                    f"{self.file.name}, line {number}: the row has {len(cells)} values and {n} attributes are declared "
                    f"({shown!r}); {remedy}"
                )
            yield number, cells

    def _sparse_row(self, row: str, where: str) -> list[str | None]:
        """A row that gives only some cells: the others are 0, or the first declared value."""
        result = [a.values[0] if a.values else _ABSENT.get(a.kind.kind) for a in self.attributes]
        if "}" not in row:
            raise FileError(f"{where}: the brace of the sparse row is never closed; close it")
        inside, at = row[1 : row.rfind("}")].strip(), 0
        while at < len(inside):
            found = _SPARSE.match(inside, at)
            if found is None or int(found[1]) >= len(result):
                what = f"the column {found[1]}" if found else repr(inside[at : at + 30])
                raise FileError(
                    f"{where}: {what} in the sparse row is none; write '{{place value, …}}' with places from 0 to "
                    f"{len(result) - 1}"
                )
            result[int(found[1])] = _value(found[2])
            at = found.end()
        return result


def _attributes(header: str, name: str) -> list[Attribute]:
    """The columns that the header declares."""
    attributes = []
    lines = enumerate(map(str.strip, header.split("\n")), 1)
    for number, line in lines:
        where = f"{name}, line {number}"
        if not line.lower().startswith("@attribute"):
            if line and line[0] not in "%@":
                raise FileError(f"{where}: {line[:40]!r} is before @data and declares nothing; comments begin with %")
            continue
        while "{" in line and "}" not in line and (more := next(lines, None)):  # values over several lines
            line += " " + more[1]
        found = _ATTRIBUTE.match(line)
        if found is None or not found[2]:
            raise FileError(f"{where}: {line[:60]!r} declares no column; write '@attribute name type'")
        attributes.append(_attribute(_unquote(found[1]), found[2].strip(), where))
    return attributes


def _attribute(name: str, type: str, where: str) -> Attribute:
    word = re.split(r"[\s\[]", type.lower(), maxsplit=1)[0]
    if type.startswith("{"):
        end = type.rfind("}")
        if end < 0:
            raise FileError(f"{where}: the list of values of {name!r} is never closed; close it with a brace")
        values = tuple(dict.fromkeys(_unquote(value) for value in _raw_values(type[1:end])))
        return Attribute(name, Kind("category", f"declared in the file, {len(values)} values", CATEGORY), values)
    if word in _KINDS:
        return Attribute(name, _KINDS[word])
    known = [*_KINDS, "{a, b, …}"]
    raise FileError(f"{where}: {name!r} is of the type {type[:30]!r}, which cannot be read{did_you_mean(word, known)}")


def _raw_values(row: str) -> Iterator[str]:
    """The values of a row as they are written."""
    for value, end in _VALUE.findall(row):
        yield value
        if not end:
            return


def _split(row: str) -> list[str | None]:
    """The values of a row; None for a bare question mark, which means missing."""
    plain = not any(sign in row for sign in "'\"\\")
    return [_value(cell) for cell in (map(str.strip, row.split(",")) if plain else _raw_values(row))]


def _value(value: str) -> str | None:
    return None if value in ("?", "") else _unquote(value)


def _unquote(value: str) -> str:
    """A value without its quotes, its escapes undone."""
    if len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]:
        value = value[1:-1]
    return _ESCAPE.sub(lambda e: chr(int(e[1][1:], 16)) if len(e[1]) > 1 else _ESCAPES.get(e[1], e[1]), value)
