"""Texts that people wrote, for the tests that want them: a few labelled sets, in files that do not come with the code.

They are looked for in the folder that INGENUO_TEXTS names, else in a folder data/text beside the project's own.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

Labelled = tuple[list[str], list[str]]


def folder() -> Path | None:
    """Where the files lie, if they are there at all."""
    if named := os.environ.get("INGENUO_TEXTS"):
        return Path(named)
    root = Path(__file__).resolve().parents[1]
    return next((found for found in sorted(root.parent.glob("*/data/text")) if found.is_dir()), None)


def _lines(name: str) -> list[str]:
    where = folder()
    if where is None or not (where / name).is_file():
        pytest.skip(f"the file {name} is not there; set INGENUO_TEXTS to the folder that has it")
    with gzip.open(where / name) as file:
        return io.TextIOWrapper(file, "utf-8", "replace", newline="").read().split("\n")


def _table(*text: str) -> Callable[[str], Labelled]:
    def read(name: str) -> Labelled:
        csv.field_size_limit(sys.maxsize)
        rows = list(csv.DictReader(line + "\n" for line in _lines(name)))
        return [" ".join(row[column] for column in text) for row in rows], [row["label"] for row in rows]

    return read


def _prefixed(name: str) -> Labelled:
    rows = [line.split(" ", 1) for line in _lines(name) if line]
    return [text for _, text in rows], [label for label, _ in rows]


def _tabbed(label: int, text: int) -> Callable[[str], Labelled]:
    def read(name: str) -> Labelled:
        rows = [line.split("\t") for line in _lines(name) if line]
        return [row[text] for row in rows], [row[label] for row in rows]

    return read


def _paired(name: str) -> Labelled:
    texts, labels = _lines(name), _lines(name.replace("_text", "_labels"))
    return texts[: len(labels) - 1], labels[:-1]


_READERS: dict[str, tuple[str, Callable[[str], Labelled]]] = {
    "newsgroups": ("20news-train.csv.gz", _table("text")),
    "news": ("ag-news-test.csv.gz", _table("title", "description")),
    "customers": ("custrev.all.gz", _prefixed),
    "encyclopedia": ("dbpedia-italian.tsv.gz", _tabbed(2, 0)),
    "films": ("polarity.csv.gz", _table("text")),
    "snippets": ("rt-polarity.all.gz", _prefixed),
    "messages": ("sms-spam.tsv.gz", _tabbed(0, 1)),
    "questions": ("trec-train.all.gz", _prefixed),
    "english tweets": ("tweets-english-train_text.txt.gz", _paired),
    "italian tweets": ("tweets-italian-train_text.txt.gz", _paired),
    "spanish tweets": ("tweets-spanish-train_text.txt.gz", _paired),
}
SETS = tuple(_READERS)


@cache
def _read(name: str) -> Labelled:
    file, read = _READERS[name]
    return read(file)


def labelled(name: str, most: int) -> Labelled:
    """So many texts of a set with their labels, taken evenly; the test is skipped where the set is not there."""
    texts, labels = _read(name)
    step = max(1, -(-len(texts) // most))
    return texts[::step], labels[::step]
