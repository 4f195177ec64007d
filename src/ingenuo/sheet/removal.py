"""The words of a text that must be taken out for another answer: the fewest that will do."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ingenuo.rows.typed import reads_texts
from ingenuo.sheet.effects import Asked, Row

_SINGLE, _PAIRED = 400, 30  # words of a text that are taken out one by one, and two by two


class Word(NamedTuple):
    """A word of a text."""

    word: str
    weight: float  # how much it speaks for the target against the answer
    at: list[int]  # its pieces


class Taken(NamedTuple):
    """A text without some words, and whether no fewer would do."""

    text: str
    words: list[str]
    sure: bool


class Texts:
    """The texts of a row, which should be of a class and is of another."""

    def __init__(self, whom: Asked, row: Row, target: int, best: int) -> None:
        self.whom, self.row, self.target, self.best = whom, row, target, best
        self._found: dict[int, list[Word]] = {}
        self._pieces: dict[int, list[str]] = {}

    def words(self, place: int) -> list[Word]:
        """The different words of a text, those that speak against the target most first."""
        if place in self._found:
            return self._found[place]
        text, name = self.whom.present(self.row, place), self.whom.columns[place]["name"]
        pieces: list[tuple[str, bool]] = []
        if text is not None:
            row = text if reads_texts(self.whom.model) else self.row
            passages = [each for each in self.whom.model.explain(row).passages if each.column == name]
            pieces = [(own, weight is not None) for each in passages for own, weight in each.pieces]
            pieces = pieces or [(own, bool(own.strip())) for own in re.split(r"(\s+)", str(text))]
        at: dict[str, list[int]] = {}
        for number, (piece, is_word) in enumerate(pieces):
            if is_word:
                at.setdefault(piece.lower(), []).append(number)
        self._pieces[place] = [piece for piece, _ in pieces]
        before = self._odds(self.row) if at else 0.0
        found = [Word(pieces[own[0]][0], before - self._odds(self._row(place, [own])), own) for own in at.values()]
        self._found[place] = sorted(found, key=lambda each: each.weight)
        return self._found[place]

    def without_hostile(self, place: int) -> str | None:
        """The text without all words that speak against the target; None where there are none."""
        taken = [word.at for word in self.words(place) if word.weight < 0]
        return self._without(place, taken) if taken else None

    def fewest(self, place: int) -> Taken | None:
        """The fewest words to take out of a text, where that is enough."""
        words = self.words(place)

        def passes(taken: Sequence[Word]) -> bool:
            return self._suffices(self._row(place, [word.at for word in taken]))

        if self._are_apart(place):
            for n, word in enumerate(words, 1):
                if word.weight >= 0:
                    return None
                if passes(words[:n]):
                    return self._take(place, words[:n], sure=True)
            return None
        # A word may count by its neighbours: each is taken out in turn, and pairs of the strongest.
        tried: list[tuple[float, Word]] = []
        for word in words[:_SINGLE]:
            row = self._row(place, [word.at])
            if self._suffices(row):
                return self._take(place, [word], sure=True)
            tried.append((self._odds(row), word))
        tried.sort(key=lambda each: -each[0])
        few = [word for _, word in tried[:_PAIRED]]
        for at, second in enumerate(few):
            for first in few[:at]:
                if passes([first, second]):
                    return self._take(place, [first, second], sure=len(words) <= _PAIRED)
        start, taken = self._odds(self.row), list[Word]()
        for odds, word in tried:
            if odds > start:
                taken.append(word)
                if passes(taken):
                    return self._take(place, _thinned(taken, passes), sure=False)
        return None

    def put_back(self, place: int, row: Row) -> Taken:
        """Of the words that were taken out, those that must be, in a row in which other columns were changed too."""
        taken, apart = [word for word in self.words(place) if word.weight < 0], self._are_apart(place)
        kept: Sequence[Word]

        def passes(kept: Sequence[Word]) -> bool:
            text = self._without(place, [word.at for word in kept])
            return self._suffices(self.whom.changed(row, [(place, text)]))

        if apart:
            kept = next((taken[:n] for n in range(1, len(taken)) if passes(taken[:n])), taken)
        else:
            kept = _thinned(taken[::-1], passes)
        return self._take(place, kept, sure=apart)

    def _are_apart(self, place: int) -> bool:
        """Whether each word counts by itself, so that the strongest are the fewest."""
        nodes = self.whom.nodes_of(place)
        if not self.whom.additive or len(self.whom.classes) > 2 or len(nodes) != 1 or nodes[0]["op"] != "words":
            return False
        terms, read = self.whom.node["terms"], nodes[0]["read"]
        weighted = any(each["op"] == "weighted" and each["exponent"] for each in terms)
        plain_words = not read.get("characters") and not read.get("negation") and read["ngrams"][1] == 1
        repair = self.whom.node.get("calibrate")
        return nodes[0]["norm"] is None and not weighted and plain_words and not (repair and repair["scale"])

    def _suffices(self, row: Row) -> bool:
        return self.whom.score(row)[2] == self.target

    def _odds(self, row: Row) -> float:
        """How far the target is before the answer."""
        joint, posterior, _ = self.whom.score(row)
        if joint is not None and all(math.isfinite(joint[k]) for k in (self.target, self.best)):
            return joint[self.target] - joint[self.best]
        return math.log(posterior[self.target] + 1e-300) - math.log(posterior[self.best] + 1e-300)

    def _without(self, place: int, taken: Iterable[Iterable[int]]) -> str:
        gone = {at for each in taken for at in each}
        kept = "".join(piece for at, piece in enumerate(self._pieces[place]) if at not in gone)
        return re.sub(" {2,}", " ", kept).strip()

    def _row(self, place: int, taken: Iterable[Iterable[int]]) -> Row:
        return self.whom.changed(self.row, [(place, self._without(place, taken))])

    def _take(self, place: int, words: Sequence[Word], *, sure: bool) -> Taken:
        return Taken(self._without(place, [word.at for word in words]), [word.word for word in words], sure)


def _thinned(taken: Sequence[Word], passes: Callable[[Sequence[Word]], bool]) -> Sequence[Word]:
    """Words of which none can be left out."""
    kept = list(taken)
    for word in taken:
        fewer = [each for each in kept if each is not word]
        if passes(fewer):
            kept = fewer
    return kept
