"""What was seen, as sums: immutable named tables with labelled axes that add, subtract and compare.

A tally is a function that is zero nearly everywhere: a label that is on no axis counts zero, and a label whose
cells are all zero is dropped. So tallies over different classes, categories or columns align by their labels
before they add, and what was taken away leaves no trace. What all tables do is written once, in `AnyTable`; a kind of
table says how two of it align, and what it calls a cell.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from html import escape
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, KindError, MergeError
from ingenuo.tally.exact import Exact, Real
from ingenuo.tally.labels import Labels, find, labels_of, meet, same, unite

if TYPE_CHECKING:
    from ingenuo.tally.bag import Bag
    from ingenuo.tally.histogram import Histogram
    from ingenuo.tally.moments import Moments

Sums = Exact | Real


class AnyTable(ABC):
    """Sums over rows, with a name and sorted labels for each axis. A subclass is a frozen dataclass."""

    names: Any  # the axes' names, e.g. ("class", "value")
    axes: Any  # and labels
    sums: Any
    signed: Any = False  # sums of numbers may be negative; counts may not
    parts: ClassVar[tuple[str, ...]] = ("sums",)  # the fields that are sums

    @property
    def cells_per_class(self) -> int:
        """How many cells it has for a class."""
        return math.prod(len(labels) for name, labels in zip(self.names, self.axes) if name != "class")

    @abstractmethod
    def align(self, name: str, other: Any) -> tuple[Self, Self]:
        """Both over the same cells; an error where they are not of one kind."""

    @abstractmethod
    def trimmed(self) -> Self:
        """Without the labels whose cells are all zero."""

    @abstractmethod
    def without_rare(self, minimum: float, classes: Labels, rows: Any = None) -> Self:
        """Only the cells of these classes whose sum, or whose rows where they are given, are not below a minimum."""

    def renamed(self, axis: int, labels: Labels) -> Self:
        """The same with other labels on an axis, in the order of those that it has; classes keep their order."""
        return replace(self, classes=labels_of(labels))  # type: ignore[type-var]

    def labels_of_cell(self, cell: Any) -> list[Any]:
        """The label of a cell on each axis."""
        return [axis[i : i + 1].tolist()[0] for axis, i in zip(self.axes, cell)]

    def describe(self, cell: Any, name: str) -> str:
        """What an error says of a cell of a table of that name."""
        labels = zip(self.names, self.labels_of_cell(cell))
        return f"from '{name}' at {', '.join(f'{axis} {label!r}' for axis, label in labels)}"

    def _combine(self, how: Callable[..., Any], *others: Any) -> Self:
        changed = {}
        for part in self.parts:
            sums = [getattr(each, part) for each in (self, *others)]
            if len({type(each) for each in sums}) > 1:
                sums = [Real(each.floats()) for each in sums]
            changed[part] = how(*sums)
        return replace(self, **changed)  # type: ignore[type-var]

    def _settle(self) -> Self:
        """A sum as it is kept."""
        return self

    def plus(self, name: str, other: Any) -> Self:
        """The sum with another table of the same name."""
        one, two = self.align(name, other)
        return one._combine(lambda a, b: a + b, two)._settle()

    def minus(self, name: str, other: Any) -> Self:
        """What is left when the other is taken away; an error where that was never added."""
        one, two = self.align(name, other)
        rest = one._combine(lambda a, b: a - b, two)
        rest._refuse_unlearned(name, one, two)
        return rest.trimmed()

    def _refuse_unlearned(self, name: str, one: Any, two: Any) -> None:
        """Raise where less than nothing is left of what one had when two was taken away."""
        negative = np.argwhere(self.sums.signs() < 0)
        if len(negative) and not self.signed:
            cell = tuple(negative[0])
            raise ForgetError(
                f"cannot take away {two.sums.floats()[cell]:g} {self.describe(cell, name)}, where only "
                f"{one.sums.floats()[cell]:g} was added; only rows that were learned can be forgotten"
            )

    def scale(self, factor: float | int | Fraction) -> Self:
        """Every sum times the factor."""
        return self._combine(lambda a: a.scale(factor)).trimmed()

    def weigh(self, factors: NDArray[np.float64]) -> Self:
        """The sums of each class, the first axis, times its factor."""

        def each(sums: Any) -> Any:
            masks = [(factor, (factors == factor).reshape(-1, *(1,) * (len(sums.shape) - 1))) for factor in {*factors}]
            parts = [sums.where(mask & np.ones(sums.shape, np.bool_)).scale(float(factor)) for factor, mask in masks]
            return reduce(add, parts)

        return self._combine(each)

    def _is_like(self, other: Any) -> bool:
        """Whether both have the same labels."""
        return (
            self.names == other.names
            and self.signed == other.signed
            and all(same(a, b) for a, b in zip(self.axes, other.axes))
        )

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        one, two = self.trimmed(), other.trimmed()  # type: ignore[attr-defined]
        return one._is_like(two) and all(getattr(one, part) == getattr(two, part) for part in self.parts)

    __hash__ = None  # type: ignore[assignment]

    def listing(self, most: int) -> str:
        """The first cells that are not zero, as text."""
        values = self.sums.floats()
        cells = [tuple(cell) for cell in np.argwhere(values)[: most + 1]]
        texts = [" ".join([*map(str, self.labels_of_cell(cell)), f"{values[cell]:g}"]) for cell in cells[:most]]
        return ", ".join(texts) + (", …" if len(cells) > most else "")


@dataclass(frozen=True, eq=False)
class Table(AnyTable):
    """One named array of a tally, with a cell for all combinations of its labels."""

    names: tuple[str, ...]
    axes: tuple[Labels, ...]
    sums: Sums
    signed: bool = False

    @staticmethod
    def of(axes: Mapping[str, Iterable[Any]], values: Any, *, signed: bool = False) -> Table:
        """A table from plain numbers; labels in any order."""
        sums: Sums = values if isinstance(values, Exact | Real) else Exact.of(values)
        arrays = [
            given if isinstance(given, np.ndarray) else np.array([*given, None], object)[:-1] for given in axes.values()
        ]
        labels = [labels_of(array) for array in arrays]
        if sums.shape != tuple(len(array) for array in arrays) or any(len(a) != len(b) for a, b in zip(labels, arrays)):
            raise InputError(
                f"a table of shape {sums.shape} needs as many different labels on each axis, "
                f"got {[len(array) for array in arrays]}"
            )
        for axis, (wanted, given) in enumerate(zip(labels, arrays)):
            if not same(wanted, given):
                sums = sums.pick(axis, np.argsort(find(wanted, given)))
        return Table(tuple(axes), tuple(labels), sums, signed)._trim_values()

    def renamed(self, axis: int, labels: Labels) -> Self:
        """The same with other labels on an axis, in the order of those that it has."""
        wanted = labels_of(labels)
        axes = (*self.axes[:axis], wanted, *self.axes[axis + 1 :])
        return replace(self, axes=axes, sums=self.sums.pick(axis, np.argsort(find(wanted, labels))))

    def trimmed(self) -> Self:
        """Without the labels whose cells are all zero."""
        axes, sums = list(self.axes), self.sums
        for axis in range(len(axes)):
            used = sums.used(axis)
            if not used.all():
                sums = sums.pick(axis, np.flatnonzero(used))
                axes[axis] = axes[axis][used]
        return self if sums is self.sums else replace(self, axes=tuple(axes), sums=sums)

    def _trim_values(self) -> Self:
        """Trimmed, unless the last axis is of columns: those are known beforehand, and may be very many.

        (Which categories a column has is known by what was seen, so there nothing may stay.)
        """
        return self if self.names[-1] == "column" else self.trimmed()

    def _settle(self) -> Self:
        """Where no cell is negative, none that was not zero becomes zero."""
        return self._trim_values() if self.signed else self

    def over(self, *axes: Labels) -> Sums:
        """The sums at these labels, zero where a label is not there."""
        sums = self.sums
        for axis, (own, wanted) in enumerate(zip(self.axes, axes)):
            if not same(own, wanted):
                sums = sums.pick(axis, find(own, wanted))
        return sums

    def align(self, name: str, other: Any) -> tuple[Self, Self]:
        """Both over all the labels of either."""
        if type(other) is not type(self) or self.names != other.names or self.signed != other.signed:
            raise MergeError(
                f"'{name}' is a table over {' × '.join(self.names)} here and over {' × '.join(other.names)} there; "
                "only tallies of the same kind of model add"
            )
        axes = tuple(unite(a, b) for a, b in zip(self.axes, other.axes))
        return replace(self, axes=axes, sums=self.over(*axes)), replace(self, axes=axes, sums=other.over(*axes))

    def without_rare(self, minimum: float, classes: Labels | None = None, rows: Any = None) -> Self:
        """Only the cells of these classes (of all) whose sum, or whose rows where they are given, are not below it."""
        kept = (self.sums if rows is None else rows.over(*self.axes)).floats() >= minimum
        if classes is not None and self.names[0] == "class":
            kept &= (find(classes, self.axes[0]) >= 0).reshape(-1, *(1,) * (kept.ndim - 1))
        return replace(self, sums=self.sums.where(kept))._trim_values()


class Tally(Mapping[str, AnyTable]):
    """Named tables of sums over rows: all that a model has learned.

    >>> a = Tally({"class": Table.of({"class": ["no", "yes"]}, [5, 9])})
    >>> b = Tally({"class": Table.of({"class": ["maybe", "yes"]}, [1, 1])})
    >>> print(a + b)
    class: maybe 1, no 5, yes 10
    >>> (a + b) - b == a
    True
    >>> a - b
    Traceback (most recent call last):
    ...
    ingenuo.errors.ForgetError: cannot take away 1 from 'class' at class 'maybe', where only 0 was added; ...
    """

    def __init__(self, tables: Mapping[str, AnyTable] | Iterable[tuple[str, AnyTable]] = ()) -> None:
        kept = {name: table for name, table in dict(tables).items() if 0 not in table.sums.shape}
        self._tables = dict(sorted(kept.items()))

    def __getitem__(self, name: str) -> AnyTable:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def canonical(self) -> Tally:
        """The same sums without a label, or a table, that is all zero: the one form of a tally."""
        return Tally({name: table.trimmed() for name, table in self.items()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return False
        one, two = self.canonical(), other.canonical()
        return one._tables.keys() == two._tables.keys() and all(table == two[name] for name, table in one.items())

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        tables = dict(self._tables)
        for name, table in other.items():
            tables[name] = tables[name].plus(name, table) if name in tables else table
        return Tally(tables)

    def __sub__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        tables = dict(self._tables)
        for name, table in sorted(other.items(), key=lambda each: each[1].names != ("row",)):  # single rows say most
            own = tables[name] if name in tables else table.minus(name, table)  # nothing of that kind
            tables[name] = own.minus(name, table)
        return Tally(tables)

    def all_labels(self) -> dict[str, Labels]:
        """The labels of each sort of axis: by its name, and those of values by that of their table."""
        found: dict[str, Labels] = {}
        for name, table in self.items():
            for axis, own in zip(table.names, table.axes):
                key = name if axis == "value" else axis
                found[key] = unite(found[key], own) if key in found else own
        return found

    def named_as(self, known: Mapping[str, Labels]) -> Tally:
        """The same sums, whose labels are called as those that are known: "True" is True where that is one of them.

        >>> learned = Tally({"class": Table.of({"class": [False, True]}, [5, 9])})
        >>> written = Tally({"class": Table.of({"class": ["False", "True"]}, [1, 1])})
        >>> print(learned + written.named_as(learned.all_labels()))
        class: False 6, True 10
        """
        tables = dict(self._tables)
        for name, table in self.items():
            for place, (axis, own) in enumerate(zip(table.names, table.axes)):
                called = meet(own, known.get(name if axis == "value" else axis, own))
                if called is not own and (axis != "class" or same(labels_of(called), called)):
                    tables[name] = tables[name].renamed(place, called)
        return Tally(tables)

    def scale(self, factor: float | int | Fraction) -> Tally:
        """Every sum times the factor, as if each row had been seen so many times.

        >>> Tally({"class": Table.of({"class": ["a"]}, [3])}).scale(0.5)["class"].sums.floats().tolist()
        [1.5]
        """
        if isinstance(factor, bool) or not isinstance(factor, int | float | Fraction | np.number):
            raise KindError(f"a tally is scaled by a number, got {type(factor).__name__} {factor!r}")
        if not 0 <= factor < float("inf"):
            raise InputError(f"a tally cannot be scaled by {factor!r}; take a finite number that is not negative")
        if isinstance(factor, np.number):
            factor = factor.item()
        return Tally({name: table.scale(factor) for name, table in self.items()})

    def weigh(self, classes: Labels, factors: NDArray[np.float64]) -> Tally:
        """The sums of each class times its factor, as if its rows had that weight; of other classes, as they are.

        >>> tally = Tally({"class": Table.of({"class": ["a", "b"]}, [3, 1])})
        >>> print(tally.weigh(tally.labels("class", 0), np.array([1.0, 3.0])))
        class: a 3, b 3
        """
        found = dict(self._tables)
        for name, table in self.items():
            if table.names[0] == "class":
                found[name] = table.weigh(np.append(factors, 1.0)[find(classes, table.axes[0])])
        return Tally(found)

    def without_rare(self, minimum: int) -> Tally:
        """The sums without what is known of few rows, for others to see.

        Parameters
        ----------
        minimum : int
            How many rows (or how much weight) is not few. A class of fewer is dropped, and of the other classes every
            value, bin, word, n-gram and combination of values that fewer have; sums of numbers are dropped where a
            class has fewer numbers in the column. Bins are made wider where they are too narrow to have as many.

        Notes
        -----
        Words, n-grams and columns of counts are known by how often they were there. In how many rows that was is known
        where documents are counted too (`Words(min_documents=2)`, `binary=True`, "bernoulli") and holds there;
        elsewhere a word that one text repeats passes for frequent.

        This is no differential privacy. From Σx and Σx² two numbers can be found, and three or four guessed: take 5 at
        least, better 10. The totals stay: what was dropped of a class in a column can be found as a difference. Two
        releases can be subtracted, and what is left may be one row. Whoever knows all rows but one learns that one.

        Examples
        --------
        >>> tally = Tally({"class": Table.of({"class": ["ill", "well", "king"]}, [30, 40, 1])})
        >>> print(tally.without_rare(5))
        class: ill 30, well 40
        """
        if isinstance(minimum, bool) or not isinstance(minimum, int | np.integer):
            raise KindError(f"a minimum count is a whole number, got {type(minimum).__name__} {minimum!r}")
        if minimum < 1:
            raise InputError(f"a minimum count of {minimum} would drop nothing; take 1 or more")
        rest = Tally({name: self._without_rare(name, table, int(minimum)) for name, table in self.items()}).canonical()
        if "class" in self and "class" not in rest:
            raise InputError(f"no class has {minimum} rows, so nothing would be left; take a lower minimum count")
        return rest

    def _without_rare(self, name: str, table: AnyTable, minimum: int) -> AnyTable:
        stem, _, what = name.rpartition(":")
        classes, rows = self._frequent("class", minimum, table.axes[0]), None
        if table.names == ("class", "word"):
            classes = classes[find(self._frequent(f"{stem}:rows", minimum, classes), classes) >= 0]
            rows = self._tables.get(f"{stem}:documents")
        elif table.names == ("class", "column") and what in ("sum", "square"):
            rows = self._tables.get(f"{stem}:count")
        return table.without_rare(minimum, classes, rows)

    def _frequent(self, name: str, minimum: int, known: Labels | None = None) -> Any:
        """The labels of a table of rows by class that are not rare; those that are known where there is no such."""
        table = self._tables.get(name)
        if not isinstance(table, Table) or table.names != ("class",):
            return known
        return table.axes[0][table.sums.floats() >= minimum]

    def labels(self, name: str, axis: int) -> Labels:
        """The labels on an axis of a table; none where there is no such table."""
        labels: Labels = self._tables[name].axes[axis] if name in self._tables else np.zeros(0, np.int64)
        return labels

    def over(self, name: str, *axes: Labels) -> Sums:
        """The sums of a table at these labels, zero where nothing was added."""
        table = self._tables.get(name)
        if table is None:
            return Exact.zeros(tuple(len(labels) for labels in axes))
        assert isinstance(table, Table), f"{name!r} is a {type(table).__name__}"
        return table.over(*axes)

    def bag(self, name: str) -> Bag | None:
        """A bag of words, or None where nothing was added to it."""
        return self._tables.get(name)  # type: ignore[return-value]

    def bins(self, name: str) -> Histogram | None:
        """A histogram, or None where nothing was added to it."""
        return self._tables.get(name)  # type: ignore[return-value]

    def scatter(self, name: str) -> Moments | None:
        """A scatter, or None where nothing was added to it."""
        return self._tables.get(name)  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"<Tally of {len(self)} tables: {', '.join(self)}>"

    def __str__(self) -> str:
        return "\n".join(f"{name}: {table.listing(20)}" for name, table in self.items())

    def _repr_html_(self) -> str:
        return html_table(("table", "sums"), ((name, table.listing(20)) for name, table in self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Tally, (self._tables,)


def html_table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """What a notebook shows of rows of texts."""
    lines = [("th", heads), *(("td", row) for row in rows)]
    cells = ("".join(f"<{tag} style='text-align:left'>{escape(cell)}</{tag}>" for cell in line) for tag, line in lines)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in cells)}</table>"
