"""Rows that are lines: JSON objects, or texts with a label; and a folder with a sub-folder of texts per class."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from ingenuo.errors import FileError
from ingenuo.rows.files.bytes import File, detect_encoding, explain_refusal, find_bad_byte
from ingenuo.rows.files.contents import Block, Content, Data, Options, TextContent, Types, cut, require_utf8, too_long
from ingenuo.rows.kinds import CATEGORY, TEXT, Kind, as_types, not_a_number
from ingenuo.rows.typed import MAX_DEPTH, JsonSigns, too_deep

_NO_OBJECT = re.compile(rb"^[ \t]*null", re.MULTILINE)
_NOTHING = re.compile(rb"(?:\A|\n)[ \t\r]*\n")  # an element of a list that is nothing
_MARK = "__label__"
_LIST = 1 << 24  # bytes of a list by which its fields are inferred: later objects may have some that the first lack
_START = 256
NEW_LINE = b"\n"


class JsonLines(TextContent):
    """The fields of the objects are the columns; a field that an object lacks is missing.

    A list of objects is read as if each had a line.
    """

    may_lack_columns = True
    _is_list = False

    def __init__(self, file: File, options: Options) -> None:
        if file.head(_START).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[":
            self.least = _LIST
        super().__init__(file, options)
        self.names = list(self.first().column_names)
        if not self.names:
            raise FileError(f"{file.name}: the objects have no fields; give some with a field for each column")

    def _text(self, head: bytes) -> bytes:
        text = super()._text(head)
        self._is_list = text.lstrip()[:1] == b"["
        return bytes(_Listed(self.file.name).change(text)) if self._is_list else text

    def _begin(self, text: bytes, complete: bool) -> None:
        if not text.strip():
            raise FileError(f"{self.file.name}: the file is empty; give one with a JSON object in each line")

    def _blocks(self) -> Iterator[Block]:
        if not self._is_list:
            yield from super()._blocks()
            return
        with self.file.open_text(self.encoding, self.options.errors) as text:
            lines = io.BufferedReader(_Listed(self.file.name, text))
            yield from cut(lines, self.file.name, self.dialect, self.options.block_size, self.options.max_line)

    def _parse(self, data: Data, types: Mapping[str, Any]) -> Any:
        require_utf8(data)
        if b"null" in data and _NO_OBJECT.search(data):  # Arrow takes it for a row, and dies where there is no other
            raise pa.ArrowInvalid("null is no object")
        if too_deep(data) >= 0 or (self._is_list and _NOTHING.search(data)):
            raise pa.ArrowInvalid("too deep, or an element that is nothing")
        plain = [(name, t.value_type if pa.types.is_dictionary(t) else t) for name, t in types.items()]
        table = arrow_json.read_json(
            pa.BufferReader(data),
            read_options=arrow_json.ReadOptions(block_size=len(data) + 1, use_threads=False),
            parse_options=arrow_json.ParseOptions(explicit_schema=pa.schema(plain) if plain else None),
        )
        if self.names and not set(table.column_names) <= set(self.names):
            raise pa.ArrowInvalid("a field that the first rows lack")
        return table

    def _diagnose(self, data: Data, line: int, types: Types) -> FileError | None:
        """The first line that is no object, or whose value is of another type than before."""
        seen: dict[str, Any] = {}
        called = f"{self.file.name}, {'element' if self._is_list else 'line'}"
        if (deep := too_deep(data)) >= 0:
            return FileError(
                f"{called} {line + data.count(NEW_LINE, 0, deep)}: there are more than {MAX_DEPTH} brackets within "
                "brackets; give each field one value"
            )
        for number, text in enumerate(bytes(data).split(b"\n"), line):
            where = f"{called} {number}"
            if not text.strip():
                if self._is_list and _NOTHING.search(data):
                    return FileError(f"{where}: there is nothing between two commas; take one out")
                continue
            try:
                row = json.loads(text)
            except json.JSONDecodeError as error:
                return FileError(f"{where}, column {error.colno}: this is no JSON ({error.msg}); mend the line")
            if not isinstance(row, dict):
                return FileError(f'{where}: {str(row)[:40]!r} is no object; each line must be one, such as {{"a": 1}}')
            for name, value in row.items():
                if self.names and name not in self.names:
                    return FileError(
                        f"{where}: there is a field {name!r} that the first rows lack; give it to the first row too "
                        "(null where it is not known), or take it out"
                    )
                if value is None:
                    continue
                expected = types.get(name)
                if expected is not None and pa.types.is_floating(expected) and _sort(value) != "number":
                    return not_a_number(self.file.name, number, name, str(value))
                if _sort(seen.setdefault(name, value)) != _sort(value):
                    return FileError(
                        f"{where}: the field {name!r} is {value!r} here and {seen[name]!r} before; give it one type"
                    )
                if isinstance(value, int) and expected is not None and not -(2**63) <= value < 2**63:
                    return FileError(f"{where}: the field {name!r} is {value}, out of the range of whole numbers")
        return None


class _Listed(io.RawIOBase):
    """A JSON list as lines: its commas become line ends, its own brackets and line ends spaces; all else stays."""

    def __init__(self, name: str, stream: Any = None) -> None:
        self._name, self._stream, self._signs, self._waiting = name, stream, JsonSigns(), b""
        self._last, self._began = b"", False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._waiting:
            data = self._stream.read(len(buffer))
            if not data and self._signs.depth:
                raise FileError(f"{self._name}: the list is never closed; the file may be cut short: fetch it again")
            self._waiting = bytes(self.change(data))
        n = min(len(buffer), len(self._waiting))
        buffer[:n] = self._waiting[:n]
        self._waiting = self._waiting[n:]
        return n

    def change(self, data: bytes) -> bytearray:
        """The next bytes, of which there are as many as before."""
        found = bytearray(data)
        before = self._signs.depth
        places, depths = self._signs.find(data)
        signs = np.frombuffer(data, np.uint8)[places]
        out = np.frombuffer(found, np.uint8)
        out[places[(signs == 10) | (signs == 13)]] = 32
        out[places[(signs == ord(",")) & (depths == 1)]] = 10
        steps = np.diff(depths, prepend=before)
        outer = np.flatnonzero(((steps == 1) & (depths == 1)) | ((steps == -1) & (depths == 0)))
        out[places[outer]] = 32
        for place in places[outer[depths[outer] == 0]][:1].tolist():
            last = data[:place].rstrip()[-1:] or self._last
            if last == b"," or data[place + 1 :].strip():
                what = "a comma before the end of the list" if last == b"," else "something after the end of the list"
                raise FileError(f"{self._name}: this is no JSON ({what}); mend it")
        self._last = data.rstrip()[-1:] or self._last
        return found


def _sort(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _declare_texts(content: Content, text: str, label: str) -> None:
    """The columns text and label, and what each is; the label is what is to be learned."""
    content.names, content.target = ["text", "label"], "label"
    content.kinds = {"text": Kind("text", text, TEXT), "label": Kind("target", label, CATEGORY)}


def _table(texts: list[Any], labels: list[Any]) -> Any:
    return pa.table({"text": pa.array(texts, pa.large_binary()).cast(TEXT), "label": pa.array(labels, pa.string())})


class Lines(TextContent):
    """A text in each line."""

    def __init__(self, file: File, options: Options) -> None:
        super().__init__(file, options)
        self.names = [options.texts[0] if options.texts else "text"]
        self.kinds = {self.names[0]: Kind("text", "a line each", TEXT)}
        self.notes.append("a text in each line")

    def _parse(self, data: Data, types: Mapping[str, Any]) -> Any:
        require_utf8(data)
        lines = [text for line in bytes(data).split(b"\n") if (text := line.strip())]
        return pa.table({self.names[0]: pa.array(lines, pa.large_binary()).cast(TEXT)})


class LabelledLines(TextContent):
    """A label and a text in each line."""

    mark = ""  # before the label
    note = "lines that begin with their label"

    def __init__(self, file: File, options: Options) -> None:
        super().__init__(file, options)
        if not self._head().strip():
            raise FileError(f"{file.name}: the file is empty; give one with a label and a text in each line")
        _declare_texts(self, "the rest of each line", "the first word of each line")
        self.notes.append(self.note)

    def _parse(self, data: Data, types: Mapping[str, Any]) -> Any:
        require_utf8(data)
        rows = [words for line in bytes(data).split(b"\n") if (words := line.split(None, 1))]
        labels = [words[0].decode() for words in rows]
        texts = [words[1].rstrip() if len(words) > 1 else b"" for words in rows]
        if self.mark:
            marked = all(label.startswith(_MARK) and len(label) > len(_MARK) for label in labels)
            if not marked or any(text.startswith(_MARK.encode()) for text in texts):
                raise pa.ArrowInvalid("a label is missing, or there are several")
        return _table(texts, [label[len(self.mark) :] for label in labels])

    def _diagnose(self, data: Data, line: int, types: Types) -> FileError | None:
        for number, words in enumerate(map(str.split, data.decode().split("\n")), line):
            where = f"{self.file.name}, line {number}"
            if words and (not words[0].startswith(_MARK) or words[0] == _MARK):
                return FileError(
                    f"{where}: the line begins with {words[0]!r} and not with a label (__label__…); put one there, or "
                    "take the line out"
                )
            if len(words) > 1 and words[1].startswith(_MARK):
                both = f"{words[0]} and {words[1]}"
                return FileError(f"{where}: the line has several labels ({both}), and a row has one class; keep one")
        return None


class FastText(LabelledLines):
    """Lines whose label is marked: `__label__good a fine film`."""

    mark = _MARK
    note = "fastText's lines: a label and a text"


class Folder(Content):
    """A folder that has a sub-folder of texts for each class."""

    format = "texts"

    def __init__(self, path: Path, options: Options) -> None:
        folders = sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith("."))
        self._entries = [
            (folder.name, entry)
            for folder in folders
            for entry in sorted(folder.rglob("*"))
            if entry.is_file() and not entry.name.startswith(".")
        ]
        labels = sorted({label for label, _ in self._entries})
        if not labels:
            raise FileError(f"{path}: the sub-folders are empty; give each class a folder with its texts")
        super().__init__(File(str(path), sum(entry.stat().st_size for _, entry in self._entries)), options)
        _declare_texts(self, "a file each", "the sub-folder of each file")
        shown = ", ".join(labels[:6]) + (", …" if len(labels) > 6 else "")
        self.notes = [f"{len(self._entries):,} texts in {len(labels)} sub-folders, one per class: {shown}"]

    def first(self) -> Any:
        """Some texts of the first classes."""
        return next(self.parts({"text": TEXT, "label": CATEGORY}, None))[0]

    def parts(self, types: Types, fixed: str | None) -> Iterator[tuple[Any, int]]:
        """The texts, some at a time."""
        labels: list[str] = []
        texts: list[bytes] = []
        size = done = 0
        for number, (label, path) in enumerate(self._entries, 1):
            text = self._text(path)
            labels.append(label)
            texts.append(text)
            size += len(text)
            if size >= self.options.block_size or number == len(self._entries):
                done += size
                yield as_types(_table(texts, labels), types, self.file.name), done
                labels, texts, size = [], [], 0

    def _text(self, path: Path) -> bytes:
        """A text as UTF-8."""
        with explain_refusal(str(path)):
            if path.stat().st_size > self.options.max_line:
                raise too_long(str(path), 1, self.options.max_line)
            data = path.read_bytes()
        encoding = detect_encoding(data, str(path), self.options.encoding)
        data = encoding.decode(data)
        error = find_bad_byte(data, encoding.mark, 1, str(path))
        if error is None:
            return data
        if self.options.errors == "strict":
            raise error
        return data.decode("utf-8", "replace").encode()
