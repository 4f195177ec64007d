"""JSON lines: an object in each line, read in blocks by Arrow; and a JSON list of objects, which is read whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import json as arrow_json

from ingenuo.errors import FileError
from ingenuo.rows.files.bytes import File, Text, bad_byte, decode, detect
from ingenuo.rows.files.contents import LONGEST, Block, Content, Options, Part, ahead, cut
from ingenuo.rows.kinds import as_types, mixed

_NO_OBJECT = re.compile(rb"^[ \t]*null", re.MULTILINE)


class JsonLines(Content):
    """The fields of the objects are the columns; a field that an object lacks is missing."""

    may_lack_columns = True

    def __init__(self, file: File, options: Options) -> None:
        super().__init__(file)
        self.options = options
        self._held: Any = None  # the rows of a list
        head = file.head(options.block_size)
        self.encoding = detect(head, file.name, options.encoding)
        start = decode(head, self.encoding).lstrip()
        if not start:
            raise FileError(f"{file.name}: the file is empty; give one with a JSON object in each line")
        self.notes = [self.encoding.note] if self.encoding.note else []
        self.is_list = start[:1] == b"["
        self.names = list(self.first().column_names)
        if not self.names:
            raise FileError(f"{file.name}: the objects have no fields; give some with a field for each column")

    def first(self) -> Any:
        """The first rows (of a list: all)."""
        if self.is_list:
            return self._all()
        size = self.options.look
        while True:  # until there is a whole line
            head = self.file.head(size)
            data = decode(head, self.encoding)
            end = len(data) if len(head) < size or size > LONGEST else data.rfind(b"\n") + 1
            if end:
                return self._table(Block(data[:end], 0, 1))
            size *= 4

    def _all(self) -> Any:
        """The rows of a list, as if each object had a line."""
        if self._held is None:
            with self.file.open() as stream:
                text = Text(stream, self.encoding, self.options.errors).read_all()
            try:
                rows = json.loads(self._mended(text))
            except UnicodeDecodeError:
                raise bad_byte(text, self.encoding.mark, 1, self.file.name) or AssertionError from None
            except json.JSONDecodeError as error:
                where = f"{self.file.name}, line {error.lineno}, column {error.colno}"
                raise FileError(f"{where}: this is no JSON ({error.msg}); mend it") from None
            self._held = self._table(Block(b"\n".join(json.dumps(row).encode() for row in rows), 0, 1))
        return self._held

    def _table(self, block: Block) -> Any:
        try:
            return _parse(block.data, {})
        except pa.ArrowInvalid as error:
            return self._again(block, {}, None, error)

    def parts(self, types: dict[str, Any], fixed: str | None) -> Iterator[Part]:
        """The rows, a block at a time."""
        if self.is_list:
            rows = self._complete(self._all(), Block(b"", 0, 1))
            yield Part(as_types(rows, types, self.file.name), self.file.n_bytes or 0)
            return
        with self.file.open() as stream:
            text = Text(stream, self.encoding, self.options.errors)
            blocks = cut(text, self.file.name, size=self.options.block_size)
            filled = ((block, stream.consumed()) for block in blocks if block.data.strip())
            for (block, consumed), future in ahead(filled, lambda item: _parse(item[0].data, dict(types))):
                try:
                    table = future.result()
                except pa.ArrowInvalid as error:
                    table = self._again(block, types, fixed, error)
                table = self._complete(table, block)
                yield Part(as_types(table, types, self.file.name), consumed)

    def _complete(self, table: Any, block: Block) -> Any:
        """The columns of the first rows, where the block lacks one; an error where it has another."""
        known, found = set(self.names), set(table.column_names)
        strange = [name for name in table.column_names if name not in known]
        if strange:
            lines = enumerate(bytes(block.data).split(b"\n"), block.line)
            line = next((n for n, text in lines if text.strip() and strange[0] in json.loads(text)), block.line)
            raise FileError(
                f"{self.file.name}, line {line}: there is a field {strange[0]!r} that the first rows lack; give it to "
                "the first row too (null where it is not known), or take it out"
            )
        for name in self.names:
            if name not in found:
                table = table.append_column(name, pa.nulls(table.num_rows))
        return table.select(self.names)

    def _mended(self, data: bytes | bytearray) -> bytes | bytearray:
        return data.decode("utf-8", "replace").encode() if self.options.errors == "replace" else data

    def _again(self, block: Block, types: dict[str, Any], fixed: str | None, error: Exception) -> Any:
        """A block that was refused: with bytes replaced, or doubles for whole numbers; else what is wrong with it."""
        data = self._mended(block.data)
        wider = {n: pa.float64() if pa.types.is_integer(t) and n != fixed else t for n, t in types.items()}
        for attempt in (types, wider):
            try:
                table = _parse(data, attempt)
            except pa.ArrowInvalid:
                continue
            types.update(attempt)
            return table
        bad = bad_byte(data, block.offset + self.encoding.mark, block.line, self.file.name)
        found = bad or self._diagnose(data, block.line, wider)
        told = FileError(f"{self.file.name}, after line {block.line}: {str(error).splitlines()[0]}")
        raise (found or told) from None

    def _diagnose(self, data: bytes | bytearray, line: int, types: dict[str, Any]) -> FileError | None:
        """The first line that is no object, or whose value is of another type than before."""
        seen: dict[str, Any] = {}
        for number, text in enumerate(bytes(data).split(b"\n"), line):
            if not text.strip():
                continue
            where = f"{self.file.name}, {'element' if self.is_list else 'line'} {number}"
            try:
                row = json.loads(text)
            except json.JSONDecodeError as error:
                return FileError(f"{where}, column {error.colno}: this is no JSON ({error.msg}); mend the line")
            if not isinstance(row, dict):
                return FileError(f'{where}: {str(row)[:40]!r} is no object; each line must be one, such as {{"a": 1}}')
            for name, value in row.items():
                if value is None:
                    continue
                expected = types.get(name)
                if expected is not None and pa.types.is_floating(expected) and _sort(value) != "number":
                    return mixed(self.file.name, number, name, str(value))
                if _sort(seen.setdefault(name, value)) != _sort(value):
                    return FileError(
                        f"{where}: the field {name!r} is {value!r} here and {seen[name]!r} before; give it one type"
                    )
                if isinstance(value, int) and expected is not None and not -(2**63) <= value < 2**63:
                    return FileError(f"{where}: the field {name!r} is {value}, out of the range of whole numbers")
        return None


def _sort(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _parse(data: bytes | bytearray, types: dict[str, Any]) -> Any:
    if not data.isascii():
        try:
            data.decode()  # which Arrow does not check
        except UnicodeDecodeError:
            raise pa.ArrowInvalid("not UTF-8") from None
    if b"null" in data and _NO_OBJECT.search(data):  # Arrow takes it for a row, and dies where there is no other
        raise pa.ArrowInvalid("null is no object")
    plain = {name: t.value_type if pa.types.is_dictionary(t) else t for name, t in types.items()}
    return arrow_json.read_json(
        pa.BufferReader(data),
        read_options=arrow_json.ReadOptions(block_size=len(data) + 1, use_threads=False),
        parse_options=arrow_json.ParseOptions(explicit_schema=pa.schema(list(plain.items())) if plain else None),
    )
