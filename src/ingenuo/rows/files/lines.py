"""Rows that are lines: JSON objects, or texts with a label; and a folder with a sub-folder of texts per class."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import json as arrow_json

from ingenuo.errors import FileError
from ingenuo.rows.files.bytes import File, detect_encoding, explain_refusal, find_bad_byte
from ingenuo.rows.files.contents import Block, Content, Data, Options, TextContent, Types, require_utf8
from ingenuo.rows.kinds import CATEGORY, TEXT, Kind, as_types, not_a_number

_NO_OBJECT = re.compile(rb"^[ \t]*null", re.MULTILINE)
_MARK = "__label__"


class JsonLines(TextContent):
    """The fields of the objects are the columns; a field that an object lacks is missing. A list is read whole."""

    may_lack_columns = True

    def __init__(self, file: File, options: Options) -> None:
        self._list: bytes | None = None  # the objects of a list, as if each had a line
        super().__init__(file, options)
        self.names = list(self.first().column_names)
        if not self.names:
            raise FileError(f"{file.name}: the objects have no fields; give some with a field for each column")

    def _begin(self, text: bytes, complete: bool) -> None:
        start = text.lstrip()[:1]
        if not start:
            raise FileError(f"{self.file.name}: the file is empty; give one with a JSON object in each line")
        if start == b"[" and self._list is None:
            self._list = self._read_list()

    def _read_list(self) -> bytes:
        with self.file.open_text(self.encoding, self.options.errors) as stream:
            text = stream.read()
        bad = find_bad_byte(text, self.encoding.mark, 1, self.file.name)
        if bad is not None and self.options.errors == "strict":
            raise bad
        try:
            rows = json.loads(text.decode("utf-8", "replace"))
        except json.JSONDecodeError as error:
            where = f"{self.file.name}, line {error.lineno}, column {error.colno}"
            raise FileError(f"{where}: this is no JSON ({error.msg}); mend it") from None
        return b"\n".join(json.dumps(row).encode() for row in rows)

    def _head(self) -> bytes:
        return super()._head() if self._list is None else self._list

    def first(self) -> Any:
        """The first rows (of a list: all)."""
        if self._list is not None:
            self._whole = len(self._list)
        return super().first()

    def _blocks(self) -> Iterator[Block]:
        return super()._blocks() if self._list is None else iter([Block(self._list, 0, 1)])

    def _parse(self, data: Data, types: Mapping[str, Any]) -> Any:
        require_utf8(data)
        if b"null" in data and _NO_OBJECT.search(data):  # Arrow takes it for a row, and dies where there is no other
            raise pa.ArrowInvalid("null is no object")
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
        for number, text in enumerate(bytes(data).split(b"\n"), line):
            if not text.strip():
                continue
            where = f"{self.file.name}, {'line' if self._list is None else 'element'} {number}"
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
            data = path.read_bytes()
        encoding = detect_encoding(data, str(path), self.options.encoding)
        data = encoding.decode(data)
        error = find_bad_byte(data, encoding.mark, 1, str(path))
        if error is None:
            return data
        if self.options.errors == "strict":
            raise error
        return data.decode("utf-8", "replace").encode()
