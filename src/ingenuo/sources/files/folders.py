"""A folder with a sub-folder of texts for each class: the name of the sub-folder is the label."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingenuo.errors import FileError
from ingenuo.sources.files import streams as encodings
from ingenuo.sources.files.contents import Content, Options, Part
from ingenuo.sources.files.kinds import CATEGORY, TEXT, Kind, as_types
from ingenuo.sources.files.streams import File, readable


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
        encoding = encodings.detect(data, str(path), self.options.encoding)
        if encoding.name != "utf-8":
            return encodings.decode(data, encoding)
        data = data[encoding.mark :]
        if data.isascii() or (error := encodings.bad_byte(data, encoding.mark, 1, str(path))) is None:
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
