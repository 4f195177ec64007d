"""The words and n-grams of a text in plain Python, counted in the order of page/words.mjs."""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from ingenuo.sheet.score.terms import Cells, Node, NotPlain, Term
from ingenuo.text.words import find_words

# Where a text takes 0.5 ms here, as much as `answer_row` of any text: 300 words of 2 classes, 120 of 20.
_CHARACTERS, _PER_WORD, _PER_CLASS = 3000, 1.1, 0.16

_RUNS = {1: r"\w+", 2: r"\w\w+"}
_BETWEEN_SPACES = r"[^\s\0]+"


def _unpack_words(packed: Mapping[str, str]) -> list[str]:
    """Words of which each is written as how many letters it has in common with the one before it, and the others."""
    found, before = [], ""
    for each in packed["text"].split(packed["between"]) if packed["text"] else ():
        units = ord(each[0]) - 48
        same = before[:units]
        if not same.isascii():  # of those, JavaScript counts some twice
            same = before.encode("utf-16-le")[: 2 * units].decode("utf-16-le")
        before = same + each[1:]
        found.append(before)
    return found


def _starts(sizes: Sequence[float]) -> array[int]:
    return array("q", accumulate(map(int, sizes), initial=0))


class _Vocabulary:
    """The number of each word, and of the n-grams that end with it."""

    def __init__(self, node: Node) -> None:
        words = _unpack_words(node["words"])
        self.places = {word: place for place, word in enumerate(words)}
        self.levels = []
        first = size = len(words)
        for level in node["levels"]:
            starts, lasts = _starts(level["sizes"]), array("q", map(int, level["lasts"]))
            for above in range(size):
                for j in range(starts[above] + 1, starts[above + 1]):
                    lasts[j] += lasts[j - 1]
            self.levels.append((starts, lasts, first, first - size))
            size = len(lasts)
            first += size

    def follow(self, level: int, node: int, last: int) -> int:
        """The n-gram that this one and the word behind it are; -1 where there is none."""
        if node < 0 or last < 0:
            return -1
        starts, lasts, first, above = self.levels[level]
        end = starts[node - above + 1]
        at = bisect_left(lasts, last, starts[node - above], end)
        return first + at if at < end and lasts[at] == last else -1


def _reader(read: Mapping[str, Any]) -> Callable[[str], list[str]]:
    """Cuts texts into words, in lower case and marked where they are negated, if so set."""
    lowercase, negation = read["lowercase"], read.get("negation")
    token = _BETWEEN_SPACES if read.get("characters") else read.get("token") or _RUNS[read["shortest"]]
    pattern = re.compile(token)

    def cut(text: str) -> list[str]:
        shown = text.lower() if lowercase else text
        if negation or pattern.groups:
            return [word for _, _, word in find_words(shown, token, negation and negation["language"])]
        return pattern.findall(shown)

    return cut


def _features(node: Node) -> Callable[[str], list[int]]:
    """The numbers of the words and n-grams of a text, in the order of page/words.mjs; -1 for what is not known."""
    read, vocabulary = node["read"], _Vocabulary(node)
    cut, places = _reader(read), vocabulary.places
    if read.get("characters"):
        fewest, most = (int(each) for each in read["characters"])
        return lambda text: [places.get(gram, -1) for word in cut(text) for gram in _grams(word, fewest, most)]
    stops = frozenset(read.get("stops", ()))
    prefix = read["negation"]["prefix"] if read.get("negation") else ""
    affect = {word: name for name, words in read.get("lexicon", {}).items() for word in words}
    opposite, (fewest, most) = read.get("opposite", {}), (int(each) for each in read["ngrams"])

    def also(words: Sequence[str]) -> list[int]:
        """What words count for besides, by a lexicon."""
        found = []
        for word in words:
            bare = word.removeprefix(prefix)
            name = affect.get(bare)
            if name is not None and bare != word:
                name = opposite.get(name)
            if name is not None:
                found.append(places.get(name, -1))
        return found

    def features(text: str) -> list[int]:
        words = cut(text)
        found = also(words) if affect else []
        if stops:
            words = [word for word in words if word.removeprefix(prefix) not in stops]
        lasts = [places.get(word, -1) for word in words]
        nodes = lasts
        if fewest == 1:
            found += nodes
        for n in range(2, most + 1):
            nodes = [vocabulary.follow(n - 2, above, last) for above, last in zip(nodes, lasts[n - 1 :])]
            if n >= fewest:
                found += nodes
        return found

    return features


def _grams(word: str, fewest: int, most: int) -> list[str]:
    """So many characters in a row of a word between spaces; a shorter one is there as it is."""
    padded = f" {word} "
    if len(padded) < fewest:
        return [padded]
    return [padded[end - size : end] for end in range(1, len(padded) + 1) for size in range(fewest, min(most, end) + 1)]


def _words(node: Node, n_classes: int) -> Term:
    if node["buckets"] or node["strict"] is not None or node["certain"] is not None:
        raise NotPlain
    column, norm, once = node["column"], node["norm"], node["once"]
    features, starts = _features(node), _starts(node["counts"])
    codes, values = array("q", map(int, node["codes"])), node["values"]
    longest = _CHARACTERS / (_PER_WORD + _PER_CLASS * n_classes)
    used, weights, base, constant, absent = (node[name] for name in ("used", "weights", "base", "constant", "absent"))

    def count(text: str) -> dict[int, int]:
        """How often each feature is there, in the order of first occurrence."""
        if len(text) > longest:
            raise NotPlain
        found: dict[int, int] = {}
        for each in features(text):
            if each >= 0 and (used is None or used[each]):
                found[each] = 1 if once else found.get(each, 0) + 1
        return found

    def add(cells: Cells, out: list[float]) -> None:
        text = cells[column]
        if text is None:
            return
        own = out if norm is None else [0.0] * len(out)
        total = level = squares = 0.0
        for each, times in count(text).items():
            weight = times if weights is None else weights[each] * times
            total += weight
            squares += weight * weight
            if base is not None:
                level += times * base[each]
            for cell in range(starts[each], starts[each + 1]):
                own[codes[cell]] += times * values[cell]
        for k, each_constant in enumerate(constant):
            own[k] += total * each_constant + level
        if norm is not None:
            size = math.sqrt(squares if squares > 0 else 1.0)
            for k, share in enumerate(own):
                out[k] += share / size
        if absent is not None:
            for k, log in enumerate(absent):
                out[k] += log

    def length(cells: Cells) -> float:
        return 0.0 if cells[column] is None else float(sum(count(cells[column]).values()))

    return Term(add, length)


TERMS: dict[str, Callable[[Node, int], Term]] = {"words": _words}
