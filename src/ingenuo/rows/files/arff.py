"""ARFF, the format of Weka: a header that declares the columns, then rows, full or sparse.

Rows without quotes, braces and comments are parsed by Arrow, like delimited text; the others one by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ingenuo.errors import FileError, did_you_mean
from ingenuo.rows.files.bytes import File, Text, bad_byte, decode, detect
from ingenuo.rows.files.contents import Block, Content, Options, Part, after, cut
from ingenuo.rows.files.delimited import parse
from ingenuo.rows.files.sniff import Dialect
from ingenuo.rows.kinds import CATEGORY, TEXT, Kind, mixed

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_DATA = re.compile(r"^[ \t]*@data\b[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE | re.DOTALL)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(,|\Z)", re.DOTALL)
_SPARSE = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,]*?)\s*(,|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_SPECIAL = re.compile(rb"""['"{\\]""")  # what Arrow would not read as it is meant
_COMMENT = re.compile(rb"^[ \t]*%[^\n]*", re.MULTILINE)
_LONGEST = 1 << 28  # bytes of a header


@dataclass(frozen=True)
class Attribute:
    """A column as it is declared."""

    name: str
    kind: str  # number, category, text or date
    values: tuple[str, ...] = ()  # of a category, as declared


class Arff(Content):
    """The rows of an ARFF file; the class is the attribute of that name, else the last one if it is nominal."""

    written = True

    def __init__(self, file: File, options: Options) -> None:
        super().__init__(file)
        self.options = options
        self._look()
        self.names = [attribute.name for attribute in self.attributes]
        doubled = next((name for name, count in Counter(self.names).items() if count > 1), None)
        if doubled is not None:
            raise FileError(f"{file.name}: two attributes are called {doubled!r}; rename one")
        last = self.attributes[-1]
        named = next((name for name in self.names if name.lower() == "class"), None)
        self.target = named or (last.name if last.kind == "category" else None)
        self.notes = [self.encoding.note] if self.encoding.note else []
        self.kinds = {attribute.name: _kind(attribute) for attribute in self.attributes}
        self.categories = {a.name: list(a.values) for a in self.attributes if a.kind == "category"}
        self.dialect = Dialect(quote=None, padded=True, names=tuple(self.names))

    def _look(self) -> None:
        """Read the header."""
        file, size = self.file, self.options.block_size
        while True:
            head = file.head(size)
            self.encoding = detect(head, file.name, self.options.encoding)
            text = decode(head, self.encoding).decode("utf-8", "surrogateescape")
            found = _DATA.search(text)
            if found or len(head) < size or size >= _LONGEST:
                break
            size *= 4
        self.attributes = _header(text[: found.start()] if found else text, file.name)
        if found is None:
            raise FileError(f"{file.name}: there is no line '@data'; put it before the rows")
        if not self.attributes:
            raise FileError(f"{file.name}: no column is declared before @data; add lines '@attribute name type'")
        self.body = len(text[: found.end()].encode("utf-8", "surrogateescape"))

    def first(self) -> Any:
        """The first rows, all of strings."""
        types = dict.fromkeys(self.names, pa.string())
        head = decode(self.file.head(self.body + self.options.look), self.encoding)
        data = head[self.body :]
        whole = data[: data.rfind(b"\n") + 1] or data
        return self._table(Block(whole, self.body, 1 + head.count(b"\n", 0, self.body)), types)

    def parts(self, types: dict[str, Any], fixed: str | None) -> Iterator[Part]:
        """The rows, a block at a time."""
        with self.file.open() as stream:
            text = Text(stream, self.encoding, self.options.errors)
            for block in after(cut(text, self.file.name, size=self.options.block_size), self.body):
                if block.data.strip():
                    yield Part(self._table(block, types), stream.consumed())

    def _table(self, block: Block, types: dict[str, Any]) -> Any:
        data = block.data
        if (error := bad_byte(data, block.offset + self.encoding.mark, block.line, self.file.name)) is not None:
            if self.options.errors == "strict":
                raise error
            data = data.decode("utf-8", "replace").encode()
        if b"%" in data:
            data = _COMMENT.sub(b"", data)
        if not _SPECIAL.search(data):
            try:
                spaced = data.replace(b"\t", b" ")
                return self._checked(parse(spaced, self.dialect, types, ["?"]), block, data)
            except pa.ArrowInvalid:
                pass
        return self._checked(self._slowly(data.decode(), block.line, types), block, data)

    def _checked(self, table: Any, block: Block, data: bytes | bytearray) -> Any:
        """The table, if its categories are all declared."""
        for name, declared in self.categories.items():
            if name not in table.column_names or not pa.types.is_dictionary(table.schema.field(name).type):
                continue
            known = set(declared)
            for value in pc.unique(table.column(name).cast(pa.string())).to_pylist():
                if value is not None and value not in known:
                    place = self.names.index(name)
                    found = (line for line, row in self._rows(data.decode(), block.line) if row[place] == value)
                    hint = did_you_mean(value, declared)
                    raise FileError(
                        f"{self.file.name}, line {next(found, block.line)}: {value!r} is no declared value of {name!r}"
                        f"{hint or '; declare it'}"
                    )
        return table

    def _slowly(self, text: str, line: int, types: dict[str, Any]) -> Any:
        """The rows, one by one."""
        numbered = list(self._rows(text, line))
        columns = []
        for name, type in types.items():
            place = self.names.index(name)
            cells = [row[place] for _, row in numbered]
            if pa.types.is_floating(type) or pa.types.is_integer(type):
                numbers = [self._number(cell, name, at) for cell, (at, _) in zip(cells, numbered)]
                columns.append(pa.array(numbers, pa.float64()).cast(type))
            elif pa.types.is_dictionary(type):
                columns.append(pa.array(cells, pa.string()).dictionary_encode())
            else:
                columns.append(pa.array(cells, type))
        return pa.table(columns, schema=pa.schema(list(types.items())))

    def _number(self, cell: Any, name: str, line: int) -> float | None:
        try:
            return None if cell is None else float(cell)
        except ValueError:
            raise mixed(self.file.name, line, name, cell) from None

    def _rows(self, text: str, line: int) -> Iterator[tuple[int, list[str | None]]]:
        """The cells of each row, with its line; None for a missing one."""
        n = len(self.names)
        for number, row in enumerate(text.split("\n"), line):
            row = row.strip()
            if not row:
                continue
            if row.startswith("{"):
                yield number, self._sparse(row, number)
                continue
            cells = _cells(row)
            if len(cells) == 1 and n > 1 and "," not in row:  # parted by spaces or tabs
                cells = [_plain(cell) for cell in re.findall(rf"{_QUOTED}|\S+", row)]
            if len(cells) != n:
                shown = row if len(row) <= 60 else row[:57] + "…"
                weight = re.search(r"\{[^{}]*\}\s*$", row)
                remedy = (
                    "take the weight at its end off" if weight else "quote values that hold commas, or mend the row"
                )
                raise FileError(
                    f"{self.file.name}, line {number}: the row has {len(cells)} values and {n} attributes are declared "
                    f"({shown!r}); {remedy}"
                )
            yield number, cells

    def _sparse(self, row: str, line: int) -> list[str | None]:
        """A row that gives only some cells: the others are 0, or the first declared value."""
        first = {"number": "0", "category": None, "text": "", "date": None}
        result = [a.values[0] if a.values else first[a.kind] for a in self.attributes]
        inside = row[1 : row.rfind("}")] if "}" in row else None
        if inside is None:
            raise FileError(f"{self.file.name}, line {line}: the brace of the sparse row is never closed; close it")
        at = 0
        inside = inside.strip()
        while at < len(inside):
            found = _SPARSE.match(inside, at)
            if found is None or int(found[1]) >= len(result):
                what = f"the column {found[1]}" if found else repr(inside[at : at + 30])
                raise FileError(
                    f"{self.file.name}, line {line}: {what} in the sparse row is none; write '{{place value, …}}' with "
                    f"places from 0 to {len(result) - 1}"
                )
            result[int(found[1])] = _plain(found[2])
            at = found.end()
        return result


def _kind(attribute: Attribute) -> Kind:
    if attribute.kind == "number":
        return Kind("number", "declared in the file", pa.float64())
    if attribute.kind == "category":
        return Kind("category", f"declared in the file, {len(attribute.values)} values", CATEGORY)
    if attribute.kind == "text":
        return Kind("text", "declared in the file as strings", TEXT)
    return Kind("ignore", "dates are neither numbers nor categories", TEXT)


def _header(text: str, name: str) -> list[Attribute]:
    """The attributes that the header declares."""
    attributes = []
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line, started = lines[number].strip(), number + 1
        number += 1
        if not line.lower().startswith("@attribute"):
            if line and line[0] not in "%@":
                raise FileError(
                    f"{name}, line {started}: {line[:40]!r} is before @data and declares nothing; comments begin with %"
                )
            continue
        while "{" in line and "}" not in line and number < len(lines):  # a list of values over several lines
            line += " " + lines[number].strip()
            number += 1
        found = _ATTRIBUTE.match(line)
        if found is None or not found[2]:
            raise FileError(f"{name}, line {started}: {line[:60]!r} declares no column; write '@attribute name type'")
        attributes.append(_attribute(_name(found[1]), found[2].strip(), f"{name}, line {started}"))
    return attributes


def _attribute(name: str, type: str, where: str) -> Attribute:
    word = re.split(r"[\s\[]", type.lower(), maxsplit=1)[0]
    if type.startswith("{"):
        end = type.rfind("}")
        if end < 0:
            raise FileError(f"{where}: the list of values of {name!r} is never closed; close it with a brace")
        values = [value or "" for value in _cells(type[1:end], missing=False)]
        return Attribute(name, "category", tuple(dict.fromkeys(values)))
    if word in ("numeric", "real", "integer"):
        return Attribute(name, "number")
    if word in ("string", "date"):
        return Attribute(name, "text" if word == "string" else "date")
    known = ["numeric", "real", "integer", "string", "date", "{a, b, …}"]
    raise FileError(f"{where}: {name!r} is of the type {type[:30]!r}, which cannot be read{did_you_mean(word, known)}")


def _cells(row: str, missing: bool = True) -> list[str | None]:
    """The values of a row; None for a bare question mark, where that means missing."""
    if missing and "'" not in row and '"' not in row and "\\" not in row:
        return [None if cell in ("?", "") else cell for cell in map(str.strip, row.split(","))]
    cells: list[str | None] = []
    for value, end in _VALUE.findall(row):
        cells.append(_plain(value) if missing else _name(value))
        if not end:
            break
    return cells


def _plain(value: str) -> str | None:
    return None if value in ("?", "") else _name(value)


def _name(value: str) -> str:
    """A value without its quotes, its escapes undone."""
    if len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]:
        value = value[1:-1]
    return _ESCAPE.sub(_unescaped, value) if "\\" in value else value


def _unescaped(found: re.Match[str]) -> str:
    sign = found[1]
    return chr(int(sign[1:], 16)) if len(sign) > 1 else _ESCAPES.get(sign, sign)
