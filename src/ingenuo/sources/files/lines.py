"""A label and a text in each line: fastText's (`__label__good a fine film`), or just the label first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ingenuo.errors import FileError
from ingenuo.sources.files import streams as encodings
from ingenuo.sources.files.blocks import Block, cut
from ingenuo.sources.files.contents import Content, Options, Part
from ingenuo.sources.files.kinds import CATEGORY, TEXT, Kind, as_types
from ingenuo.sources.files.streams import File

MARK = b"__label__"


class LabelledLines(Content):
    """The columns text and label; the label is what is to be learned."""

    def __init__(self, file: File, options: Options, format: str) -> None:
        super().__init__(file)
        self.options = options
        self.marked = format == "fasttext"
        head = file.head(options.look)
        self.encoding = encodings.detect(head, file.name, options.encoding)
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
        head = encodings.decode(self.file.head(self.options.look), self.encoding)
        whole = head[: head.rfind(b"\n") + 1] or head
        return self._table(Block(whole, self.encoding.mark, 1))

    def line_of(self, row: int) -> int | None:
        """A row is a line, but for empty ones."""
        lines = encodings.decode(self.file.head(self.options.look), self.encoding).split(b"\n")
        filled = [number for number, line in enumerate(lines, 1) if line.strip()]
        return filled[row] if row < len(filled) else None

    def parts(self, types: dict[str, Any], fixed: str | None) -> Iterator[Part]:
        """The lines, a block at a time."""
        with self.file.open() as stream:
            text = encodings.Text(stream, self.encoding, self.options.errors)
            for block in cut(text, self.file.name, size=self.options.block_size):
                table = self._table(block)
                yield Part(as_types(table, types, self.file.name), stream.consumed())

    def _table(self, block: Block) -> Any:
        data = bytes(block.data)
        error = encodings.bad_byte(data, block.offset + self.encoding.mark, block.line, self.file.name)
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
