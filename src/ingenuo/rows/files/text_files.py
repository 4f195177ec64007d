"""Texts with a label: lines (fastText's `__label__good a fine film`, or the label first), or a sub-folder per class."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingenuo.errors import FileError
from ingenuo.rows.files.bytes import File, Text, bad_byte, decode, detect, readable
from ingenuo.rows.files.contents import Block, Content, Options, Part, cut
from ingenuo.rows.kinds import CATEGORY, TEXT, Kind, as_types

MARK = b"__label__"


class LabelledLines(Content):
    """The columns text and label; the label is what is to be learned."""

    def __init__(self, file: File, options: Options, format: str) -> None:
        super().__init__(file)
        self.options = options
        self.marked = format == "fasttext"
        head = file.head(options.look)
        self.encoding = detect(head, file.name, options.encoding)
        if not head.strip():
            raise FileError(f"{file.name}: the file is empty; give one with a label and a text in each line")
        self.names, self.target = ["text", "label"], "label"
        self.kinds = {
            "text": Kind("text", "the rest of each line", TEXT),
            "label": Kind("target", "the first word of each line", CATEGORY),
        }
        usual = "fastText's lines: a label and a text" if self.marked else "lines that begin with their label"
        self.notes = [note for note in (self.encoding.note, usual) if note]

    def first(self) -> Any:
        """The first lines."""
        head = decode(self.file.head(self.options.look), self.encoding)
        whole = head[: head.rfind(b"\n") + 1] or head
        return self._table(Block(whole, self.encoding.mark, 1))

    def line_of(self, row: int) -> int | None:
        """A row is a line, but for empty ones."""
        lines = decode(self.file.head(self.options.look), self.encoding).split(b"\n")
        filled = [number for number, line in enumerate(lines, 1) if line.strip()]
        return filled[row] if row < len(filled) else None

    def parts(self, types: dict[str, Any], fixed: str | None) -> Iterator[Part]:
        """The lines, a block at a time."""
        with self.file.open() as stream:
            text = Text(stream, self.encoding, self.options.errors)
            for block in cut(text, self.file.name, size=self.options.block_size):
                table = self._table(block)
                yield Part(as_types(table, types, self.file.name), stream.consumed())

    def _table(self, block: Block) -> Any:
        data = bytes(block.data)
        error = bad_byte(data, block.offset + self.encoding.mark, block.line, self.file.name)
        if error is not None:
            if self.options.errors == "strict":
                raise error
            data = data.decode("utf-8", "replace").encode()
        labels, texts = [], []
        for number, line in enumerate(data.split(b"\n"), block.line):
            words = line.strip().split(None, 1)
            if not words:
                continue
            label, text = words[0], words[1] if len(words) > 1 else b""
            if self.marked:
                self._check(label, text, number)
                label = label[len(MARK) :]
            labels.append(label)
            texts.append(text)
        text_column = pa.array(texts, pa.large_binary()).cast(TEXT)
        return pa.table({"text": text_column, "label": pa.array(labels, pa.binary()).cast(pa.string())})

    def _check(self, label: bytes, text: bytes, line: int) -> None:
        where = f"{self.file.name}, line {line}"
        if not label.startswith(MARK) or label == MARK:
            raise FileError(
                f"{where}: the line begins with {label.decode()!r} and not with a label (__label__…); put one "
                "there, or take the line out"
            )
        if text.startswith(MARK):
            both = f"{label.decode()} and {text.split(None, 1)[0].decode()}"
            raise FileError(f"{where}: the line has several labels ({both}), and a row has one class; keep one")


class Folder(Content):
    """The columns text and label; the label is what is to be learned."""

    format = "texts"

    def __init__(self, path: Path, options: Options) -> None:
        self.options = options
        self.entries = _entries(path)  # the label and the place of each text
        labels = sorted({label for label, _ in self.entries})
        if not labels:
            raise FileError(f"{path}: the sub-folders are empty; give each class a folder with its texts")
        super().__init__(_FolderOf(path, sum(entry.stat().st_size for _, entry in self.entries)))
        self.names, self.target = ["text", "label"], "label"
        self.kinds = {
            "text": Kind("text", "a file each", TEXT),
            "label": Kind("target", "the sub-folder of each file", CATEGORY),
        }
        shown = ", ".join(labels[:6]) + (", …" if len(labels) > 6 else "")
        self.notes = [f"{len(self.entries):,} texts in {len(labels)} sub-folders, one per class: {shown}"]

    def first(self) -> Any:
        """Some texts of the first classes."""
        return next(self._tables())[0]

    def parts(self, types: dict[str, Any], fixed: str | None) -> Iterator[Part]:
        """The texts, some at a time."""
        for table, done in self._tables():
            yield Part(as_types(table, types, self.file.name), done)

    def _tables(self) -> Iterator[tuple[Any, int]]:
        labels: list[str] = []
        texts: list[bytes] = []
        size = done = 0
        for label, path in self.entries:
            text = self._text(path)
            labels.append(label)
            texts.append(text)
            size += len(text)
            if size >= self.options.block_size:
                done += size
                yield _table(texts, labels), done
                labels, texts, size = [], [], 0
        if texts:
            yield _table(texts, labels), self.file.n_bytes or 0

    def _text(self, path: Path) -> bytes:
        """A text as UTF-8."""
        with readable(str(path)):
            data = path.read_bytes()
        encoding = detect(data, str(path), self.options.encoding)
        if encoding.name != "utf-8":
            return decode(data, encoding)
        data = data[encoding.mark :]
        if data.isascii() or (error := bad_byte(data, encoding.mark, 1, str(path))) is None:
            return data
        if self.options.errors == "strict":
            raise error
        return data.decode("utf-8", "replace").encode()


def _entries(path: Path) -> list[tuple[str, Path]]:
    """The label and the place of each text."""
    entries: list[tuple[str, Path]] = []
    for folder in sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith(".")):
        inside = (e for e in folder.rglob("*") if e.is_file() and not e.name.startswith("."))
        entries += [(folder.name, entry) for entry in sorted(inside)]
    return entries


class _FolderOf(File):
    """A folder in the place of a file."""

    def __init__(self, path: Path, n_bytes: int) -> None:
        super().__init__(os.fspath(path))
        self.n_bytes = n_bytes


def _table(texts: list[bytes], labels: list[str]) -> Any:
    return pa.table({"text": pa.array(texts, pa.large_binary()).cast(TEXT), "label": pa.array(labels, pa.string())})
