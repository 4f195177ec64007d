"""The texts: public collections read from a folder of files, whole or in part, or repeated with new words.

A case whose file is not there is skipped.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase

import numpy as np

from benchmarks.public_data import public_data
from benchmarks.report import Absent

_WORD = r"\b\w\w+\b"


@dataclass(frozen=True)
class Texts:
    """Documents, their classes, and the official fold of each where there is one."""

    texts: list[str]
    labels: list[str]
    folds: list[int] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the documents in UTF-8."""
        return sum(len(text.encode()) for text in self.texts)

    def at_most(self, rows: int) -> Texts:
        """So many documents, evenly spread, because the files are sorted by class."""
        n = len(self.texts)
        if rows >= n:
            return self
        places = (np.arange(rows) * n // rows).tolist()
        folds = None if self.folds is None else [self.folds[i] for i in places]
        return Texts([self.texts[i] for i in places], [self.labels[i] for i in places], folds)

    def repeated(self, rows: int) -> Texts:
        """So many documents; every copy after the first turns the alphabet on by one letter.

        So its words are others, of the same lengths, and the vocabulary grows as fast as the text: the worst case.
        After 26 copies the words come again.
        """
        n = len(self.texts)
        texts, labels = [], []
        for copy in range(-(-rows // n)):
            part = self.at_most(rows - copy * n)
            texts += [text.translate(_turned(copy)) for text in part.texts] if copy else part.texts
            labels += part.labels
        return Texts(texts, labels)


@cache
def _turned(places: int) -> dict[int, int]:
    by = places % 26
    return {
        code: ord(letters[(at + by) % 26])
        for letters in (ascii_lowercase, ascii_uppercase)
        for at, code in enumerate(letters.encode())
    }


def news(part: str, rows: int) -> Texts:
    """20 Newsgroups by date, its "train" or "test" part; the first has 11,314 documents, and is repeated for more."""
    found = table(f"20news-{part}.csv.gz")
    return found.repeated(rows) if part == "train" else found.at_most(rows)


def table(name: str) -> Texts:
    """A CSV file with the columns `label` and `text`, and perhaps `fold`."""
    return _table(_path(name))


def sentences(name: str, encoding: str = "utf-8") -> Texts:
    """A file of lines, each the class, a space and a sentence."""
    return _sentences(_path(name), encoding)


@cache
def _table(path: Path) -> Texts:
    csv.field_size_limit(1 << 27)  # bytes; the default of 128 kB is less than the longest post
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    folds = [int(row["fold"]) for row in rows] if "fold" in rows[0] else None
    return Texts([row["text"] for row in rows], [row["label"] for row in rows], folds)


@cache
def _sentences(path: Path, encoding: str) -> Texts:
    with gzip.open(path, "rt", encoding=encoding) as file:
        pairs = [line.rstrip("\n").split(" ", 1) for line in file]
    return Texts([text for _, text in pairs], [label for label, _ in pairs])


def on_disk(given: Texts) -> str:
    """The path of a CSV file with the columns `label` and `text`."""
    path = _new_file(".csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "text"])
        writer.writerows(zip(given.labels, given.texts))
    return str(path)


def for_fasttext(given: Texts, token: str = _WORD) -> str:
    """The path of a file as fastText reads it: a document a line, its words as ours, lower case, divided by spaces."""
    path = _new_file(".txt")
    with path.open("w", encoding="utf-8") as file:
        for text, label in zip(given.texts, given.labels):
            file.write(f"__label__{label} {' '.join(re.findall(token, text.lower()))}\n")
    return str(path)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="benchmarks-")  # gone when the process ends


def _new_file(suffix: str) -> Path:
    handle, path = tempfile.mkstemp(suffix, dir=_folder().name)
    os.close(handle)
    return Path(path)


def _path(name: str) -> Path:
    found = public_data(f"text/{name}")
    if found is not None:
        return found
    raise Absent(f"the file {name} is not there; set INGENUO_DATA to the folder that has text/{name}")
