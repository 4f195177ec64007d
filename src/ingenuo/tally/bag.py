"""A table of a tally over classes and words: only the cells that are not zero, in the vocabulary's order.

It adds, subtracts and compares like any table of a tally; vocabularies unite before they add, and a word that was
taken away altogether leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import MergeError
from ingenuo.kernels import text as loops
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find, same, unite
from ingenuo.tally.tally import AnyTable, Sums
from ingenuo.tally.vocabulary import Vocabulary

Integers = NDArray[np.int64]

_SOME = 1 << 14  # cells


@dataclass(frozen=True, eq=False)
class Bag(AnyTable):
    """How often each class has each word or n-gram."""

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

    def _is_like(self, other: Bag) -> bool:
        return (
            super()._is_like(other)
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.codes, other.codes)
            and self.vocabulary.same(other.vocabulary)
        )

    def align(self, name: str, other: Any) -> tuple[Bag, Bag]:
        """The cells of both bags side by side."""
        if not isinstance(other, Bag):
            raise MergeError(f"'{name}' is a bag of words here and a table there; only tallies of the same kind add")
        classes = unite(self.classes, other.classes)
        try:
            vocabulary, a, b = self.vocabulary.unite(other.vocabulary)
        except MergeError as error:
            raise MergeError(f"'{name}': {error}") from None
        starts, codes, *cells = loops.join_cells(
            (a, self.starts, self.codes, find(classes, self.classes)),
            (b, other.starts, other.codes, find(classes, other.classes)),
            len(vocabulary),
        )
        sums = (each.sums.pick(0, at) for each, at in zip((self, other), cells))
        one, two = (Bag(vocabulary, classes, starts, codes, each) for each in sums)
        return one, two

    def labels_of_cell(self, cell: Any) -> list[Any]:
        """The class and the word of a cell."""
        node = int(np.searchsorted(self.starts, cell[0], "right")) - 1
        return [self.classes.tolist()[self.codes[cell[0]]], self.vocabulary.texts([node])[0]]

    def describe(self, cell: Any, name: str) -> str:
        """What an error says of a cell of a table of that name."""
        label, word = self.labels_of_cell(cell)
        return f"of {word!r} from '{name}' at class {label!r}"

    def without_rare(self, minimum: float, classes: Labels, rows: Any = None) -> Bag:
        """Only the cells of these classes whose sum, or whose documents where they are given, are not below a minimum.

        An n-gram is no more frequent in a class than its words, and than the n-gram without its first or last: so of
        what stays, all parts stay too.
        """
        bag, documents = self.align("words", self if rows is None else rows)
        kept = (documents.sums.floats() >= minimum) & (find(classes, bag.classes) >= 0)[bag.codes]
        return replace(bag, sums=bag.sums.where(kept)).trimmed()
