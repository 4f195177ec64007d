"""A table of a tally over classes and words: only the cells that are not zero, in the vocabulary's order.

It adds, subtracts and compares like any table of a tally; vocabularies unite before they add, and a word that was
taken away altogether leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, MergeError
from ingenuo.kernels import vocabulary as loops
from ingenuo.tally.exact import Exact, Real
from ingenuo.tally.labels import Labels, find, same, unite
from ingenuo.tally.vocabulary import Vocabulary

Sums = Exact | Real
Integers = NDArray[np.int64]

_SOME = 1 << 14  # cells


@dataclass(frozen=True, eq=False)
class Bag:
    """How often each class has each word or n-gram.

    >>> words = Vocabulary.of(["spam", "ham"])
    >>> one = Bag(words, np.array(["no"], object), np.array([0, 1, 2]), np.array([0, 0], np.int32), Exact.of([1, 2]))
    >>> one.minus("words", one).sums.shape
    (0,)
    """

    vocabulary: Vocabulary
    classes: Labels  # sorted
    starts: Integers  # where the cells of each node begin, and where the last ends
    codes: NDArray[np.int32]  # the cells' classes, ascending within a node
    sums: Sums  # (cells,)

    names = ("class", "word")
    signed = False

    @property
    def axes(self) -> tuple[Labels, ...]:
        """The labels of the first axis: the classes."""
        return (self.classes,)

    def column(self, label: int) -> NDArray[Any]:
        """The sums of one class (by its place), one for each node."""
        values = self.numbers()
        result = np.zeros(len(self.vocabulary), values.dtype)
        mine = self.codes == label
        result[self.owners()[mine]] = values[mine]
        return result

    def numbers(self) -> NDArray[Any]:
        """The cells as an ordinary array: of integers where they are whole, else of doubles."""
        if isinstance(self.sums, Exact) and self.sums.whole and len(self.sums.limbs):
            return np.asarray(self.sums.limbs[0])
        return self.sums.floats()

    def owners(self) -> Integers:
        """The node of each cell."""
        return np.repeat(np.arange(len(self.vocabulary)), np.diff(self.starts))

    def over(self, classes: Labels) -> Bag:
        """The same with the codes of other classes, all of which it has among them."""
        if same(self.classes, classes):
            return self
        places = find(classes, self.classes).astype(np.int32)
        return Bag(self.vocabulary, classes, self.starts, places[self.codes], self.sums)

    def trimmed(self) -> Bag:
        """Without the cells that are zero, the classes that have none, and the words that no class has."""
        used = self.sums.used(0)
        if not used.all():
            at = np.flatnonzero(used)
            starts = np.append(0, np.cumsum(used))[self.starts]
            return Bag(self.vocabulary, self.classes, starts, self.codes[at], self.sums.pick(0, at)).trimmed()
        classes, codes = self.classes, self.codes
        some = np.bincount(codes[:_SOME], minlength=len(classes))  # mostly they have all the classes already
        seen = (some if some.all() else np.bincount(codes, minlength=len(classes))) > 0
        if not seen.all():
            codes = (np.cumsum(seen) - 1).astype(np.int32)[codes]
            classes = classes[seen]
        counts = np.diff(self.starts)
        vocabulary, starts = self.vocabulary, self.starts
        if not vocabulary.buckets and not counts.all():
            vocabulary, kept = vocabulary.restrict(counts > 0)
            if vocabulary is not self.vocabulary:
                starts = np.append(0, np.cumsum(counts[kept]))
        if vocabulary is self.vocabulary and classes is self.classes:
            return self
        return Bag(vocabulary, classes, starts, codes, self.sums)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bag):
            return False
        one, two = self.trimmed(), other.trimmed()
        return (
            same(one.classes, two.classes)
            and np.array_equal(one.starts, two.starts)
            and np.array_equal(one.codes, two.codes)
            and one.sums == two.sums
            and one.vocabulary.same(two.vocabulary)
        )

    __hash__ = None  # type: ignore[assignment]

    def _together(self, name: str, other: Any) -> tuple[Bag, Any, Any]:
        """Cells of both bags side by side: a bag without sums, and the sums of either in it."""
        if not isinstance(other, Bag):
            raise MergeError(f"'{name}' is a bag of words here and a table there; only tallies of the same kind add")
        classes = unite(self.classes, other.classes)
        try:
            vocabulary, starts, codes, from_a, from_b = joined(
                (self.vocabulary, self.starts, self.codes, find(classes, self.classes)),
                (other.vocabulary, other.starts, other.codes, find(classes, other.classes)),
            )
        except MergeError as error:
            raise MergeError(f"'{name}': {error}") from None
        left, right = self.sums.pick(0, from_a), other.sums.pick(0, from_b)
        if type(left) is not type(right):
            left, right = Real(left.floats()), Real(right.floats())
        return Bag(vocabulary, classes, starts, codes, left), left, right

    def plus(self, name: str, other: Any) -> Bag:
        """The sum with another bag."""
        both, left, right = self._together(name, other)
        return Bag(both.vocabulary, both.classes, both.starts, both.codes, left + right)

    def minus(self, name: str, other: Any) -> Bag:
        """What is left when the other is taken away; an error where that was never added."""
        both, left, right = self._together(name, other)
        rest = left - right
        negative = np.flatnonzero(rest.signs() < 0)
        if len(negative):
            cell = int(negative[0])
            node = int(np.searchsorted(both.starts, cell, "right")) - 1
            label = both.classes.tolist()[both.codes[cell]]
            raise ForgetError(
                f"cannot take away {float(right.floats()[cell]):g} of {both.vocabulary.texts([node])[0]!r} from "
                f"'{name}' at class {label!r}, where only {float(left.floats()[cell]):g} was added; only rows "
                "that were learned can be forgotten"
            )
        return Bag(both.vocabulary, both.classes, both.starts, both.codes, rest).trimmed()

    def scale(self, factor: float | int | Fraction) -> Bag:
        """Every sum times the factor."""
        return Bag(self.vocabulary, self.classes, self.starts, self.codes, self.sums.scale(factor)).trimmed()

    def without_rare(self, minimum: float, classes: Labels, documents: Bag | None = None) -> Bag:
        """Only the cells of these classes whose sum, or whose documents where they are given, are not below a minimum.

        An n-gram is no more frequent in a class than its words, and than the n-gram without its first or last: so of
        what stays, all parts stay too.
        """
        bag, _, rows = self._together("words", self if documents is None else documents)
        kept = (rows.floats() >= minimum) & (find(classes, bag.classes) >= 0)[bag.codes]
        starts, at = np.append(0, np.cumsum(kept))[bag.starts], np.flatnonzero(kept)
        return Bag(bag.vocabulary, bag.classes, starts, bag.codes[at], bag.sums.pick(0, at)).trimmed()

    def nothing(self) -> Bag:
        """A bag like this one with nothing in it."""
        empty: Sums = Exact.zeros((0,)) if isinstance(self.sums, Exact) else Real(np.zeros(0))
        starts = np.zeros(len(self.vocabulary) + 1, np.int64)
        return Bag(self.vocabulary, self.classes[:0], starts, np.zeros(0, np.int32), empty)

    def listing(self, most: int) -> str:
        """The first cells as text."""
        nodes, values = self.owners()[: most + 1].tolist(), self.sums.floats()
        cells = [
            f"{self.classes[self.codes[i]]} {self.vocabulary.texts([node])[0]} {values[i]:g}"
            for i, node in enumerate(nodes)
        ]
        return ", ".join(cells[:most]) + (", …" if len(cells) > most else "")


Side = tuple[Vocabulary, Integers, NDArray[np.int32], NDArray[Any] | None]


def joined(one: Side, two: Side) -> tuple[Vocabulary, Integers, NDArray[np.int32], Integers, Integers]:
    """The cells of two sides together: a vocabulary, starts and codes; and for each cell, that of either it comes
    from (-1: none). A side is a vocabulary, starts, codes, and the new code of each class (None: as it was).
    """
    vocabulary, a, b = one[0].unite(two[0])
    sides = [(places, *side[1:]) for side, places in ((one, a), (two, b))]
    return vocabulary, *loops.join_cells(sides[0], sides[1], len(vocabulary))
