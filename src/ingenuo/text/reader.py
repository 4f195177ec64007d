"""How the texts of a column are read, as plain data for another language: its settings, pattern and words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.tally.bag import Vocabulary
from ingenuo.text.tokens import feature
from ingenuo.text.words import CLOSING, PREFIX, Words

_LONGEST = 40  # letters that a word can have in common with the one before it, and one character says how many


def reader_of(words: Words) -> dict[str, Any]:
    """The settings of a column, by which page/tokens.mjs finds the same words and n-grams."""
    if words.stem is not None:
        raise InputError(f"stem={words.stem!r} needs a stemmer, which only Python has; fit without it")
    found: dict[str, Any] = {"lowercase": words.lowercase, "errors": words.errors, "ngrams": list(words.ngrams)}
    if words.characters:
        return {**found, "characters": list(words.characters)}
    if words.shortest:
        found["shortest"] = words.shortest
    else:
        found["pattern"], found["group"] = _pattern(words)
        found["token"] = words.token  # as Python writes it
    if words.negation is not None:
        cues = {"cues": list(words.cues), "contractions": words.contractions, "closing": CLOSING, "prefix": PREFIX}
        cues["language"] = words.negation
        found["negation"] = cues
    if words.stops:
        found["stops"] = sorted(words.stops)
    if words.polarity:
        classes = sorted(set(words.polarity.values()))
        found["lexicon"] = {
            feature(name): [word for word, own in words.polarity.items() if own == name] for name in classes
        }
        found["opposite"] = {feature(one): feature(other) for one, other in words.opposite.items()}
    return found


# Regular expressions. Python parses them; what it has understood is written for JavaScript, with the classes of
# characters by name: what \w is, the tables say.

_NAMES = {"WORD": "letters", "DIGIT": "digits", "SPACE": "spaces"}
_GROUP = re.compile(r"(?:^|[^\\])(?:\\\\)*\((?!\?)")  # a bracket that is neither escaped nor of another kind
_SYNTAX = frozenset("^$\\.*+?()[]{}|/-")


def _pattern(words: Words) -> tuple[list[str], int]:
    """An expression in pieces, of which every second is the name of a class of characters; and its group, 0 or 1."""
    token = words.token
    if not isinstance(token, str):
        what = getattr(token, "__qualname__", repr(token))
        raise InputError(f"token={what} is a Python function; fit with a regular expression")
    pattern = re.compile(token)
    try:
        if pattern.flags != re.UNICODE:
            raise _Unlike("flags")
        tree = re._parser.parse(token)  # type: ignore[attr-defined]
        if tree.getwidth()[0] == 0:
            raise _Unlike("a match of nothing")
        pieces = "".join(_write(each) for each in tree).split(_MARK)
    except _Unlike as error:
        raise InputError(
            f"token={token!r} has {error}, by which JavaScript may cut otherwise; fit with a plainer expression"
        ) from None
    return pieces, pattern.groups


class _Unlike(Exception):
    """What the two languages do not do alike."""


_MARK = "\0"  # around the name of a class; in an expression it is written as an escape


def _write(node: tuple[Any, Any]) -> str:
    """One node of the parsed expression."""
    kind, value = str(node[0]), node[1]
    if kind == "LITERAL":
        return _letter(value)
    if kind == "NOT_LITERAL":
        return f"[^{_letter(value)}]"
    if kind == "ANY":
        return r"[^\n]"
    if kind == "IN":
        negated = str(value[0][0]) == "NEGATE"
        return f"[{'^' if negated else ''}{''.join(map(_member, value[negated:]))}]"
    if kind == "BRANCH":
        return f"(?:{'|'.join(_write_all(each) for each in value[1])})"
    if kind in ("MAX_REPEAT", "MIN_REPEAT"):
        return _repeat(*value) + ("?" if kind == "MIN_REPEAT" else "")
    if kind == "SUBPATTERN":
        group, added, removed, inner = value
        if added or removed:
            raise _Unlike("flags")
        return f"({'' if group else '?:'}{_write_all(inner)})"
    if kind in ("ASSERT", "ASSERT_NOT"):
        direction, inner = value
        written, sign = _write_all(inner), "=" if kind == "ASSERT" else "!"
        if _GROUP.search(written):
            raise _Unlike("a group that is looked at from afar")
        return f"(?{'<' if direction < 0 else ''}{sign}{written})"
    if kind == "AT":
        return _place(str(value))
    raise _Unlike(kind.lower().replace("_", " "))


def _write_all(nodes: Iterable[tuple[Any, Any]]) -> str:
    return "".join(map(_write, nodes))


def _letter(code: int) -> str:
    letter = chr(code)
    if letter in _SYNTAX:
        return "\\" + letter
    return letter if letter.isprintable() else f"\\u{{{code:x}}}"


def _member(item: tuple[Any, Any]) -> str:
    """What a class in brackets has."""
    kind, value = str(item[0]), item[1]
    if kind == "RANGE":
        return "-".join(map(_letter, value))
    if kind == "LITERAL":
        return _letter(value)
    _, negated, name = str(value).rpartition("NOT_")
    return f"{_MARK}{'not ' if negated else ''}{_NAMES[name.removeprefix('CATEGORY_')]}{_MARK}"


def _repeat(fewest: int, most: Any, inner: Any) -> str:
    """So many in a row."""
    if inner.getwidth()[0] == 0:
        raise _Unlike("a repeated match of nothing")
    written = _write_all(inner)
    if _GROUP.search(written) and (fewest, most) != (0, 1):
        raise _Unlike("a group that is repeated")
    return f"(?:{written}){{{fewest},{'' if str(most) == 'MAXREPEAT' else most}}}"


def _place(name: str) -> str:
    """A place between characters."""
    letters = f"[{_MARK}letters{_MARK}]"
    places = {
        "AT_BEGINNING": "^",
        "AT_BEGINNING_STRING": "^",
        "AT_END": "(?=\\n?$)",
        "AT_END_STRING": "$",
        "AT_BOUNDARY": f"(?:(?<={letters})(?!{letters})|(?<!{letters})(?={letters}))",
        "AT_NON_BOUNDARY": f"(?:(?<={letters})(?={letters})|(?<!{letters})(?!{letters}))",
    }
    if name not in places:
        raise _Unlike("a place of its own kind")
    return places[name]


# The words that a model knows.


def pack_vocabulary(vocabulary: Vocabulary, used: NDArray[np.bool_]) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """The nodes that are used, with those that they are made of, sorted; and which they are among all.

    An n-gram is in the group of the one without its last word, by how far that word is behind the one of the n-gram
    before it: of 200,000 of newsgroups these take 2 bytes each, compressed.
    """
    known, kept = vocabulary.restrict(used)
    words = known.words()
    order = np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)
    places = ranks = _inverse(order)
    nodes, first, levels = [kept[order]], len(words), []
    for parents, lasts in zip(known.parents, known.lasts):
        above, last = places[parents], ranks[lasts]
        order_here = np.lexsort((last, above))
        sizes = np.bincount(above, minlength=len(places))
        levels.append({"sizes": sizes, "lasts": _gaps(last[order_here], sizes)})
        nodes.append(kept[first + order_here])
        places, first = _inverse(order_here), first + len(order_here)
    found = {"buckets": 0, "words": _pack_words([words[at] for at in order.tolist()]), "levels": levels}
    return found, np.concatenate(nodes)


def pack_buckets(
    vocabulary: Vocabulary, empty: NDArray[np.bool_], like: NDArray[np.float64]
) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """The buckets that are not like most of the empty ones (what they say, by row), and behind them one that is."""
    listed, others = ~empty, np.zeros(0, np.int64)
    if empty.any():
        _, first, which, counts = np.unique(
            like[empty], axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        most = int(counts.argmax())
        listed[np.flatnonzero(empty)[which.ravel() != most]] = True
        others = np.flatnonzero(empty)[first[most : most + 1]]
    nodes = np.flatnonzero(listed)
    found = {"buckets": vocabulary.buckets, "listed": np.diff(nodes, prepend=0).tolist()}
    return found, np.concatenate([nodes, others])


def _inverse(order: NDArray[np.int64]) -> NDArray[np.int64]:
    result = np.empty(len(order), np.int64)
    result[order] = np.arange(len(order))
    return result


def _pack_words(words: list[str]) -> dict[str, str]:
    """Sorted words as one text: of each how many letters it has in common with the one before it, and the others.

    50,000 words of newsgroups are 371 kB as they are and 144 kB compressed; so they are 218 and 99.
    """
    before, found = "", []
    for word in words:
        most = same = min(len(before), len(word), _LONGEST)
        if before[:most] != word[:most]:
            same = next(i for i, (a, b) in enumerate(zip(before, word)) if a != b)
        while (units := _units(word[:same])) > _LONGEST:
            same -= 1
        found.append(chr(ord("0") + units) + word[same:])
        before = word
    between = "\n" if not any("\n" in word for word in words) else "\x1f"  # which no word can have
    return {"text": between.join(found), "between": between}


def _units(text: str) -> int:
    """How long JavaScript takes a text to be: a character beyond the first plane counts as two."""
    return len(text) + (0 if text.isascii() else sum(letter > "\uffff" for letter in text))


def _gaps(places: NDArray[Any], sizes: NDArray[Any]) -> list[int]:
    """Rising places of so many groups, the first of each as it is, the others as how far they are behind the last."""
    found = np.diff(places, prepend=0)
    begins = (np.cumsum(sizes) - sizes)[sizes > 0]
    found[begins] = places[begins]
    return found.tolist()  # type: ignore[no-any-return]
