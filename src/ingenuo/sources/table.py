"""The one face that every source shows, and the door that picks the right one for an input."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Block, Codes, Counts, Numbers
from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.labels import Labels, find, is_missing, labels_of
from ingenuo.schema import FAMILIES, Schema, column_name

Places = NDArray[np.intp]


class Source(Protocol):
    """Rows of a table, column by column."""

    n_rows: int
    names: Labels  # strings, or positions where the columns have no names

    def guess(self, place: int) -> tuple[str, str]:
        """The kind of a column, and why."""
        ...

    def uniform(self) -> tuple[str, str] | None:
        """The one kind that all the columns have, and why, when that is known without looking."""
        ...

    def numbers(self, places: Places, names: Labels) -> Numbers:
        """The columns at the places as numbers."""
        ...

    def codes(self, places: Places, names: Labels) -> Codes:
        """The columns at the places as categories."""
        ...

    def counts(self, places: Places, names: Labels) -> Counts:
        """The columns at the places as counts."""
        ...


def open_source(X: Any) -> Source:
    """The source for an array, a sparse matrix, or a pandas, polars or Arrow table."""
    if isinstance(X, np.ndarray):
        from ingenuo.sources.arrays import ArraySource

        return ArraySource(X)
    if hasattr(X, "tocsr"):
        from ingenuo.sources.arrays import SparseSource

        return SparseSource(X.tocsr())
    from ingenuo.sources.frames import FrameSource

    frame = FrameSource.of(X)
    if frame is None:
        raise KindError(
            f"a table was expected, got {type(X).__name__}; give a NumPy array, a SciPy sparse matrix, "
            "or a pandas, polars or Arrow table"
        )
    return frame


def blocks(source: Source, schema: Schema, places: Places) -> dict[str, Block]:
    """A block for each family of the schema; places say where the schema's columns stand in the source."""
    result: dict[str, Block] = {}
    for family in schema.families_used():
        chosen = schema.families == list(FAMILIES).index(family)
        names, at = schema.names[chosen], places[chosen]
        kind = FAMILIES[family]
        if kind == "number":
            result[family] = source.numbers(at, names)
        elif kind == "category":
            result[family] = source.codes(at, names)
        else:
            result[family] = source.counts(at, names)
    return result


def kind_of(values: Iterable[Any]) -> tuple[str, str]:
    """The kind of a column of objects, and why: a number if all its values are, else a category."""
    kinds = {type(value) for value in values if not is_missing(value)}
    if kinds and all(issubclass(k, int | float | Decimal | np.number) and k is not bool for k in kinds):
        return "number", "numbers"
    return "category", ", ".join(sorted(k.__name__ for k in kinds)) + " values" if kinds else "no values"


def as_number(values: list[Any], name: object, start: int = 0) -> NDArray[np.float64]:
    """Values of a declared number column as doubles; an error that names the first that is none."""
    result = np.empty(len(values))
    for i, value in enumerate(values):
        try:
            result[i] = np.nan if value is None else float(value)
        except OverflowError:
            result[i] = np.inf if value > 0 else -np.inf
        except (TypeError, ValueError):
            if type(value).__name__ in ("NAType", "NaTType"):
                result[i] = np.nan
                continue
            what = "text" if isinstance(value, str) else f"a {type(value).__name__}"
            raise InputError(
                f"column {column_name(name)!r} has {what} in row {start + i} ({value!r}); "
                f"declare it with columns={{{column_name(name)!r}: 'category'}} or clean it"
            ) from None
    return result


def match(schema: Schema, source: Source) -> Places:
    """Where each column of the schema stands in the source: by name, or by position where there are none."""
    if not schema.named or source.names.dtype != object:
        if len(source.names) != len(schema):
            raise InputError(
                f"the model was trained on {len(schema)} columns and this table has {len(source.names)}; "
                "give the same columns in the same order, or tables with column names"
            )
        return np.arange(len(schema))
    own = labels_of(source.names)
    if len(own) < len(source.names):
        doubled = [name for name in own if (source.names == name).sum() > 1]
        raise InputError(f"the table has two columns called {doubled[0]!r}; rename one")
    places = np.append(np.argsort(find(own, source.names)), -1)[find(own, schema.names)]
    unknown = find(labels_of(schema.names), source.names) < 0
    used = schema.families != list(FAMILIES).index("ignore")
    if unknown.any():
        name = source.names[unknown][0]
        absent = schema.names[(places < 0) & used]
        raise InputError(
            f"the table has a column {name!r} that the model does not know"
            f"{did_you_mean(name, absent if len(absent) else schema.names)}; rename it or drop it"
        )
    if (absent := schema.names[(places < 0) & used]).size:
        raise InputError(
            f"the table lacks the column {absent[0]!r} that the model was trained on; "
            "add it, filled with missing values if it is not known"
        )
    return places
