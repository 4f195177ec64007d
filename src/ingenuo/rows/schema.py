"""What each column of a table is: its name, its kind, the family that models it, and why.

Kinds are `number`, `category`, `count` and `text`; a column can also be set aside (`ignore`). Two schemas unite:
columns, like classes and categories, may come later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, MergeError, did_you_mean
from ingenuo.tally.bag import Vocabulary
from ingenuo.tally.labels import Labels, is_missing, labels_of, objects, same, unite
from ingenuo.tally.tally import html_table
from ingenuo.text.words import Words

EQUAL_MASS = (5, 10, 20)  # bins of equal mass
AS_IT_COMES = "gaussian-or-states"  # the family of numbers unless another is asked for
OR_ZERO = "-or-zero"  # how a family is called that has a share of zeros beside
POSITIVE = ("log-normal", "gamma", "exponential", "poisson", "negative-binomial")
_BY_KIND = {
    "gaussian gaussian-unbiased": "number",
    "categorical": "category",
    "multinomial complement bernoulli": "count",
    "ignore": "ignore",
    "words words-complement words-bernoulli": "text",
    "histogram kernel mixture auto gaussian-shared gaussian-full": "number",
    " ".join(f"equal-mass-{bins}" for bins in EQUAL_MASS): "number",
    AS_IT_COMES: "number",
    " ".join(f"{name}{zero}" for name in POSITIVE for zero in ("", OR_ZERO)): "number",
}
FAMILIES = {family: kind for families, kind in _BY_KIND.items() for family in families.split()}
# Families whose columns are modelled together: all the counts are one bag, and a Gaussian may be over all its columns.
_TOGETHER = {"multinomial", "complement", "bernoulli", "gaussian-shared", "gaussian-full"}
KINDS = ("number", "category", "count", "text", "ignore")
TEXT_FAMILIES = {"multinomial": "words", "complement": "words-complement", "bernoulli": "words-bernoulli"}
_FAMILY_NAMES = tuple(FAMILIES)


@dataclass(frozen=True, eq=False)
class Reference:
    """How frequent each word was in the documents by which all are measured (TF-IDF of unit length)."""

    vocabulary: Vocabulary
    counts: NDArray[np.float64]  # of each node: its occurrences
    documents: NDArray[np.float64]  # and the documents that have it
    rows: float

    def same(self, other: Reference) -> bool:
        """Whether both measure alike."""
        return self is other or (
            self.rows == other.rows
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.documents, other.documents)
            and self.vocabulary.same(other.vocabulary)
        )


@dataclass(frozen=True, eq=False)
class Schema:
    """The columns of a table.

    >>> schema = Schema.of({"outlook": "category", "temperature": "number"})
    >>> print(schema)
    column       kind      family       why
    outlook      category  categorical  declared
    temperature  number    gaussian     declared
    """

    names: Labels  # in the table's order; positions (integers) where columns have no names
    families: NDArray[np.int8]  # for each column, its place in FAMILIES
    why: Mapping[Any, str] = field(default_factory=dict)
    categories: Mapping[Any, Labels] = field(default_factory=dict)  # declared ones, seen or not
    texts: Mapping[Any, Words] = field(default_factory=dict)  # how the words of text columns are counted
    references: Mapping[Any, Reference] = field(default_factory=dict)  # and measured, where that is fixed

    @staticmethod
    def of(columns: Mapping[Any, str], categories: Mapping[Any, Iterable[Any]] | None = None) -> Schema:
        """A schema from a mapping of column to kind (or family)."""
        names = objects(list(columns))
        families = {name: family_of(kind, name) for name, kind in columns.items()}
        return Schema(
            names if not all(isinstance(n, int) for n in columns) else names.astype(np.int64),
            np.array([_FAMILY_NAMES.index(family) for family in families.values()], np.int8),
            dict.fromkeys(columns, "declared"),
            {n: labels_of(v for v in values if not is_missing(v)) for n, values in (categories or {}).items()},
            {name: Words() for name, family in families.items() if FAMILIES[family] == "text"},
        )

    @property
    def named(self) -> bool:
        """Whether the columns have names, and not only positions."""
        return self.names.dtype == object

    def columns(self, family: str) -> Labels:
        """The names of the columns of one family, in the table's order."""
        return np.asarray(self.names[self.families == _FAMILY_NAMES.index(family)])

    def families_used(self) -> list[str]:
        """The families that have a column, in the order of FAMILIES."""
        used = [_FAMILY_NAMES[code] for code in sorted(set(self.families.tolist()))]
        return [name for name in used if name != "ignore"]

    @cached_property
    def by_family(self) -> list[tuple[str, str, Labels, NDArray[np.bool_]]]:
        """Of each family that has a column: its name and kind, the names of its columns, and which of all they are."""
        found = []
        for family in self.families_used():
            chosen = self.families == _FAMILY_NAMES.index(family)
            found.append((family, FAMILIES[family], self.names[chosen], chosen))
        return found

    def runs(self) -> list[tuple[str, int, int]]:
        """The columns in the table's order, as runs of one family: its name, and the places lo..hi among its columns.

        This is the order of the terms in a log joint. Columns modelled together are one run, where the first stands.
        """
        used = self.families_used()
        if len(used) == 1:
            return [(used[0], 0, len(self.columns(used[0])))]
        result: list[tuple[str, int, int]] = []
        done = dict.fromkeys(_FAMILY_NAMES, 0)
        for family in (_FAMILY_NAMES[code] for code in self.families.tolist()):
            lo = done[family]
            if family == "ignore" or (family in _TOGETHER and lo):
                continue
            done[family] = len(self.columns(family)) if family in _TOGETHER else lo + 1
            if result and result[-1][0] == family:
                lo = result.pop()[1]
            result.append((family, lo, done[family]))
        return result

    @cached_property
    def _codes(self) -> dict[Any, int]:
        """The place of each column's family in FAMILIES."""
        return dict(zip(self.names.tolist(), self.families.tolist()))

    def family(self, name: object) -> str:
        """The family of one column."""
        if name not in self._codes:
            raise InputError(f"there is no column {name!r}{did_you_mean(name, self.names)}")
        return _FAMILY_NAMES[self._codes[name]]

    def known(self, column: object) -> Labels:
        """The declared categories of a column."""
        return self.categories.get(column, np.zeros(0, np.int64))

    def declared_labels(self) -> dict[str, Labels]:
        """The declared categories, by what their axes are called in a tally, and those of a network."""
        return {key: own for name, own in self.categories.items() for key in (category_table(name), f"{name}:")}

    def _fill_empty(self, other: Schema) -> Schema:
        """The same, where columns that are ignored because they had no value are what they are in another schema."""
        empty = {
            name
            for name in self._codes
            if self.why.get(name, "").startswith("no value") and self.family(name) == "ignore"
        }
        filled = [name for name in empty if name in other._codes and other.family(name) != "ignore"]
        if not filled:
            return self
        codes = {**self._codes, **{name: other._codes[name] for name in filled}}
        return replace(
            self,
            families=np.array(list(codes.values()), np.int8),
            why={**self.why, **{name: other.why.get(name, "") for name in filled}},
            texts={**self.texts, **{name: other.texts[name] for name in filled if name in other.texts}},
        )

    def unite(self, other: Schema) -> Schema:
        """All the columns of both; an error where one column is of two kinds."""
        if self.named != other.named:
            raise MergeError("one schema has column names and the other has none; give both names, or neither")
        if not self.named and len(self) != len(other):
            raise MergeError(
                f"one model has {len(self)} columns without names and the other {len(other)}; "
                "only the same columns merge"
            )
        mine, theirs = self._fill_empty(other), other._fill_empty(self)
        for name in mine._codes:
            if name not in theirs._codes:
                continue
            one, two = mine.family(name), theirs.family(name)
            if one != two:
                raise MergeError(
                    f"column {column_name(name)!r} is {one} in one model and {two} in the other; declare it the same "
                    "way in both"
                )
            if mine.texts.get(name) != theirs.texts.get(name):
                raise MergeError(
                    f"the words of column {column_name(name)!r} are counted in two ways: {mine.texts.get(name)} and "
                    f"{theirs.texts.get(name)}; give both models the same Words"
                )
            own, reference = mine.references.get(name), theirs.references.get(name)
            if own is not None and (reference is None or not own.same(reference)):
                raise MergeError(
                    f"the documents of column {column_name(name)!r} are of unit length by other document frequencies "
                    "in either model; let both begin with the same rows (copy the first, forget its rows, and go on), "
                    "or take norm=None, which needs no such thing"
                )
        new = np.array([name not in mine._codes for name in theirs.names.tolist()], np.bool_)
        return Schema(
            np.concatenate([mine.names, theirs.names[new]]),
            np.concatenate([mine.families, theirs.families[new]]),
            {**theirs.why, **mine.why},
            {name: unite(mine.known(name), theirs.known(name)) for name in {**mine.categories, **theirs.categories}},
            {**theirs.texts, **mine.texts},
            {**theirs.references, **mine.references},
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Schema)
            and same(self.names, other.names)
            and np.array_equal(self.families, other.families)
            and self.categories.keys() == other.categories.keys()
            and all(same(labels, other.known(name)) for name, labels in self.categories.items())
            and dict(self.texts) == dict(other.texts)
            and self.references.keys() == other.references.keys()
            and all(reference.same(other.references[name]) for name, reference in self.references.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return str(self)

    def rows(self, most: int = 50) -> list[tuple[str, str, str, str]]:
        """(column, kind, family, why) for the first columns."""
        return [
            (column_name(name), FAMILIES[_FAMILY_NAMES[code]], _FAMILY_NAMES[code], self.why.get(name, ""))
            for name, code in zip(self.names[:most].tolist(), self.families[:most])
        ]

    def __str__(self) -> str:
        table = [("column", "kind", "family", "why"), *self.rows()]
        widths = [max(len(row[i]) for row in table) for i in range(4)]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in table]
        if len(self) > 50:
            lines.append(f"… and {len(self) - 50:,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        more = f"<p>… and {len(self) - 50:,} more</p>" if len(self) > 50 else ""
        return html_table(("column", "kind", "family", "why"), self.rows()) + more


def column_name(name: object) -> str:
    """How a column is called in messages: its name, or x and its position."""
    return f"x{name}" if isinstance(name, int | np.integer) else str(name)


def family_of(kind: object, column: object, numbers: str = "gaussian", counts: str = "multinomial") -> str:
    """The family for a declared kind (or for the name of a family itself)."""
    if not isinstance(kind, str):
        raise KindError(
            f"column {column_name(column)!r} was declared as {kind!r}; a kind is a string: {', '.join(KINDS)}"
        )
    chosen = {"number": numbers, "category": "categorical", "count": counts, "text": TEXT_FAMILIES[counts]}.get(
        kind, kind
    )
    if chosen not in FAMILIES:
        known = [*KINDS, *(name for name in FAMILIES if name not in KINDS)]
        raise InputError(
            f"column {column_name(column)!r} was declared as {kind!r}, which is no kind of column"
            f"{did_you_mean(kind, known) or '; known: ' + ', '.join(known)}"
        )
    return chosen


def category_table(column: object) -> str:
    """The name of a column's table in a tally."""
    return f"category:{column}"
