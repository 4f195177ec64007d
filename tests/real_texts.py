"""Texts that people wrote, for the tests that want them: labelled sets, in files that do not come with the code."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Callable
from functools import cache

import pytest
from benchmarks.public_data import public_data

Labelled = tuple[list[str], list[str]]


def _lines(name: str) -> list[str]:
    found = public_data(f"text/{name}")
    if found is None:
        pytest.skip(f"the file {name} is not there; set INGENUO_DATA to the folder that has text/{name}")
    with gzip.open(found) as file:
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
