"""Affect lexicons: which words are positive and which negative, or of which class; a help where labels are few.

A lexicon comes from a mapping or from a file, one term a line. Scores count by their sign alone. Terms
are lower-cased and stripped; those of several words or with punctuation can never equal a word of a text, so they
are kept out, and counted.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from numbers import Real
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ingenuo.errors import InputError, KindError, did_you_mean

FilePath = str | os.PathLike[str]
Given = Mapping[str, float] | Mapping[str, str] | FilePath | tuple[FilePath, str, str] | tuple[FilePath, int, int]
Value = float | str | None  # None: a score of zero is of no class
Entry = tuple[str, str, Value]  # where it stands, the term, its score or class

_WORD = re.compile(r"\w+")
_OPPOSITES = (("positive", "negative"), ("pos", "neg"))


@dataclass(frozen=True, repr=False)
class Lexicon:
    """Words and the class of each."""

    classes: Mapping[str, str]
    scored: bool = False
    unusable: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.classes, Mapping):
            raise KindError(f"the classes of a lexicon are a mapping, got {type(self.classes).__name__}")
        for word, name in self.classes.items():
            if not isinstance(word, str) or not isinstance(name, str):
                raise KindError(f"a lexicon maps words to names of classes, got {word!r}: {name!r}")
            if not _WORD.fullmatch(word) or word != word.lower():
                raise InputError(f"{word!r} is no single word in lower case; Lexicon.of takes any terms")
            if not name:
                raise InputError(f"the word {word!r} has an empty class; name one or leave the word out")
        if self.scored and not {"positive", "negative"}.issuperset(self.classes.values()):
            raise InputError("a lexicon of scores has the classes 'positive' and 'negative' alone; set scored=False")
        # Sorted: what is built from a lexicon must not depend on the order of the file.
        object.__setattr__(self, "classes", MappingProxyType(dict(sorted(self.classes.items()))))

    def __hash__(self) -> int:
        return hash((frozenset(self.classes.items()), self.scored))

    def __reduce__(self) -> tuple[Any, ...]:  # the view of a mapping cannot be pickled, a dict can
        return Lexicon, (dict(self.classes), self.scored, self.unusable)

    def __repr__(self) -> str:
        names = list(self.classes.values())
        counts = ", ".join(f"{name} {names.count(name)}" for name in sorted(set(names)))
        return f"Lexicon({len(names)} words: {counts})"

    @property
    def opposite(self) -> Mapping[str, str]:
        """The class that a negated word counts for; empty where classes have no opposites."""
        for one, other in _OPPOSITES:
            if set(self.classes.values()) == {one, other} or (self.scored and one == "positive"):
                return MappingProxyType({one: other, other: one})
        return MappingProxyType({})

    def plain(self) -> dict[str, int] | dict[str, str]:
        """A mapping that `Lexicon.of` turns into the same lexicon: classes, or the signs of scores."""
        if self.scored:
            return {word: 1 if name == "positive" else -1 for word, name in self.classes.items()}
        return dict(self.classes)

    @classmethod
    def of(cls, given: Lexicon | Given) -> Lexicon:
        """A lexicon from a mapping, a file, or a file and the names of two of its columns."""
        if isinstance(given, Lexicon):
            return given
        if isinstance(given, Mapping):
            return _gather("the lexicon", *_from_mapping(given))
        if isinstance(given, str | os.PathLike):
            return _gather(f"the lexicon {str(given)!r}", *_from_file(given, "word", None))
        if isinstance(given, tuple):
            if len(given) != 3 or not isinstance(given[0], str | os.PathLike):
                raise InputError(f"a lexicon as a tuple is (path, word column, value column), got {given!r}")
            path, word, value = given
            if type(word) is not type(value) or type(word) not in (str, int):
                raise KindError(
                    "the columns of a lexicon are named by strings, or counted from 0 where there is no header, got "
                    f"{word!r} and {value!r}"
                )
            return _gather(f"the lexicon {str(path)!r}", *_from_file(path, word, value))
        raise KindError(
            "a lexicon is a mapping from word to score or class, a path, or (path, word column, value column), "
            f"got {type(given).__name__} {given!r}"
        )


def _gather(source: str, entries: Iterable[Entry], scored: bool) -> Lexicon:
    """The lexicon of the entries: single words, each of one class."""
    first: dict[str, tuple[str, str, Value]] = {}
    classes: dict[str, str] = {}
    terms = unusable = 0
    for where, term, value in entries:
        terms += 1
        word = term.lower()
        if not _WORD.fullmatch(word):
            unusable += 1
            continue
        name = _sign(value) if scored else value
        spelled, place, before = first.setdefault(word, (term, where, value))
        # "lol" 2.9 beside "LOL" 1.8 is no quarrel, as both are positive.
        if name != (_sign(before) if scored else before):
            raise InputError(
                f"{source} has {spelled!r} as {before!r} in {place} and {term!r} as {value!r} in {where}; keep one"
            )
        if name is not None:
            classes[word] = str(name)
    if not classes:
        raise InputError(
            f"{source} has no word that could be found in a text ({terms} terms, {unusable} of them not single words); "
            "give words with scores other than 0, or with classes"
        )
    if 2 * unusable > terms:
        message = f"{source}: {unusable} of {terms} terms are not single words and can never match; they are left out"
        warnings.warn(message, UserWarning, stacklevel=3)
    return Lexicon(classes, scored, unusable)


def _sign(score: Value) -> str | None:
    if not isinstance(score, float) or score == 0:
        return None
    return "positive" if score > 0 else "negative"


def _from_mapping(given: Mapping[Any, Any]) -> tuple[list[Entry], bool]:
    entries: list[Entry] = []
    kinds: dict[type, str] = {}
    for word, value in given.items():
        if not isinstance(word, str):
            raise KindError(f"the words of a lexicon must be strings, got {type(word).__name__} {word!r}")
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number and not isinstance(value, str):
            raise KindError(
                f"the word {word!r} of the lexicon has {type(value).__name__} {value!r}; "
                "give a number (its sign counts) or the name of a class"
            )
        plain = _number(value) if number else str(value).strip()
        if plain is None or plain == "" or not word.strip():
            raise InputError(f"the word {word!r} of the lexicon has {value!r}; give a word a finite score or a class")
        kinds.setdefault(type(plain), word)
        entries.append((f"the entry {word!r}", word.strip(), plain))
    if len(kinds) == 2:
        raise InputError(
            f"the lexicon gives the word {kinds[float]!r} a score and {kinds[str]!r} a class; give all of them one kind"
        )
    return entries, float in kinds


def _from_file(path: FilePath, word: str | int, value: str | int | None) -> tuple[list[Entry], bool]:
    source = f"the lexicon {str(path)!r}"
    rows = _rows(source, read_text(source, path), Path(path).suffix.lower())
    first = next(rows, (0, []))
    names: list[Any] = [name.strip() for name in first[1]]
    if isinstance(word, int):  # no header
        rows, names = chain([first] if first[1] else [], rows), list(range(len(names)))
    if value is None:
        if {"score", "class"} <= set(names):
            raise InputError(
                f"{source} has both a column 'score' and a column 'class'; say which: (path, 'word', 'score')"
            )
        value = "class" if "class" in names else "score"
    i, j = (_place(source, names, name) for name in (word, value))
    found: list[tuple[str, str, str]] = []
    for line, row in rows:
        where = f"line {line}"
        if len(row) < len(names) or any(row[len(names) :]):
            raise InputError(
                f"{source} has {len(row)} columns in {where}, but its header has {len(names)}; mend the line"
            )
        term, written = row[i].strip(), row[j].strip()
        if not term or not written:
            missing = word if not term else value
            raise InputError(f"{source} has nothing in column {missing!r} in {where}; fill it or take the line out")
        found.append((where, term, written))
    scores = [_number(written) for _, _, written in found]
    if value == "class" or (value != "score" and all(score is None for score in scores)):
        return list(found), False
    for (where, _, written), score in zip(found, scores):
        if score is None:
            raise InputError(f"{source} has {written!r} in column {value!r} in {where}; a score is a finite number")
    return [(where, term, score) for (where, term, _), score in zip(found, scores)], True


def read_text(source: str, path: FilePath) -> str:
    """The whole file, which must be UTF-8; a mark at its beginning is left out."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{source} was not found; give the path of a CSV file, or a mapping") from error
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        raise InputError(f"{source} cannot be read ({error}); give the path of a CSV file, or a mapping") from error
    begin = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    try:
        return data[begin:].decode("utf-8")
    except UnicodeDecodeError as error:
        offset = begin + error.start
        line = len((data[:offset] + b"?").splitlines())
        raise InputError(
            f"{source} is not UTF-8: line {line} has the byte 0x{data[offset]:02x} at offset {offset} of the file; "
            "save it as UTF-8"
        ) from error


def _rows(source: str, text: str, suffix: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line it begins on."""
    tabs = suffix in (".tsv", ".tab") or (suffix == ".txt" and "\t" in text.lstrip().partition("\n")[0])
    # Tabs need no quotes, and a smiley that holds one would swallow the lines behind it.
    how: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if tabs else {"strict": True}
    reader = csv.reader(io.StringIO(text, newline=""), **how)
    line = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{source} cannot be read as a table from line {line} on ({error}); mend the line") from error


def _place(source: str, names: list[Any], name: str | int) -> int:
    if isinstance(name, int):
        if name not in names:
            raise InputError(f"{source} has {len(names)} columns in its first line, so none at place {name}")
        return name
    if names.count(name) > 1:
        raise InputError(f"{source} has {names.count(name)} columns called {name!r}; rename all but one")
    if name not in names:
        listed = ", ".join(repr(each) for each in names) or "none"
        hint = did_you_mean(name, names)
        near = hint if hint.startswith("; did you mean") else ""  # the columns are listed anyway
        if any(_number(each) is not None for each in names):
            remedy = "it seems to lack a header, so count its columns: (path, 0, 1)"
        else:
            remedy = "call them 'word' and 'score' or 'class', with commas between (tabs in .tsv), or give (path, word "
            remedy += "column, value column)"
        raise InputError(
            f"{source} has no column {name!r} in its first line, the header; its columns are {listed}{near}; {remedy}"
        )
    return names.index(name)


def _number(written: Any) -> float | None:
    """The finite number that is meant, if any."""
    try:
        number = float(written)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
