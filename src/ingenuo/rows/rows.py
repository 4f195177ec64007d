"""The one door for rows: wherever they lie, they are reduced to a tally, or answered, part by part.

    rows_of(X, y)  →  rows.reduce(statistic, model)  →  Tally
                      rows.answer(model, "predict")  →  an array, or a lazy frame of the engine

A statistic is a function of a model and some rows that gives a tally. Sums are exact, so the total is the same however
the rows are cut: in memory one part, of a file a part for some batches, on Dask and Spark one for each partition.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.rows import checks
from ingenuo.rows.source import Source, as_table, is_arrow_stream, is_frame, lies_elsewhere
from ingenuo.tally.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa


# Before every seed: a user's data may have been drawn by the same generator with the same small seed.
OURS = 0x1A6E
_OF_A_CLASS = 20  # rows that a draw has of every class, where there are as many


class Part(NamedTuple):
    """Some rows, without their class and their weight, which stand beside them."""

    X: Any  # a table, an array, texts; or a source, where it is open already
    y: Any = None
    weights: Any = None
    number: int = 0  # of the part of all rows
    before: int = 0  # rows that come before these in that part


class _Everything:
    def __contains__(self, name: object) -> bool:
        return True


EVERYTHING: Any = _Everything()  # columns that are declared: all

Statistic = Callable[[Any, Part, Mapping[str, Any]], Tally]


class Total:
    """A sum of many tallies: equals are added to equals, so that large tables are not aligned again for each batch."""

    def __init__(self, waiting: tuple[tuple[int, Tally], ...] = ()) -> None:
        self._waiting = waiting  # of how many tallies each is the sum, the largest first

    def add(self, tally: Tally) -> None:
        """One tally more."""
        n, waiting = 1, self._waiting
        while waiting and waiting[-1][0] == n:
            n, tally, waiting = 2 * n, waiting[-1][1] + tally, waiting[:-1]
        self._waiting = (*waiting, (n, tally))  # at once, so that an interruption leaves all or nothing of it

    def now(self) -> Total:
        """The sum as it is now, whatever is added later."""
        return Total(self._waiting)

    def sum(self) -> Tally:
        """What all that was added comes to."""
        total = Tally()
        for _, tally in reversed(self._waiting):
            total = tally + total
        return total


class Rows(Protocol):
    """Rows, wherever they lie."""

    target: str | None  # the name of the column of classes, where it has one
    is_here: bool  # whether they are in memory
    names: list[str]  # of the columns; none where they are in memory, which may have no names

    @property
    def name(self) -> str:
        """What messages call them."""

    def columns(self, model: Any, *, whole: bool = False) -> Source:
        """What the columns are, for a model that has not learned; whether these are all the rows that it will learn."""

    def reduce(self, statistic: Statistic, model: Any = None, **options: Any) -> Tally:
        """The sum of what a statistic gives for every part."""

    def parts(self) -> Iterator[Part]:
        """The parts, one after the other, here."""

    def answer(self, model: Any, method: str) -> Any:
        """What a method of a model answers to every row."""

    def in_memory(self, instead: str = "") -> MemoryRows:
        """All the rows here, at once; an error for rows on an engine, which says what to do instead."""

    def sample(self, n: int, most: int, seed: int) -> tuple[MemoryRows, int]:
        """Some rows here, and how many there are: all, where at most `most` are here or in files; else n or a few more.

        They are drawn at random, and some are of every class, however rare.
        """


def rows_of(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    declared: Collection[Any] = (),
    *,
    labelled: bool = True,
    model: Any = None,
) -> Rows:
    """The rows of anything that has rows: a table, an array, texts, a scan, a path, an Arrow stream, an engine's frame.

    y and sample_weight may name columns. Columns that are `declared` are not looked at; a mapping says what those of
    files are. With `labelled` there must be a class. A fitted `model` says as what the columns of files are read.
    """
    X = as_table(X, model)
    if type(X) is np.ndarray or (is_frame(X) and not lies_elsewhere(X)):
        return MemoryRows(X, y, sample_weight)
    if lies_elsewhere(X):
        from ingenuo.models.remote import remote_rows

        return remote_rows(X, y, sample_weight, declared, labelled=labelled)
    if is_stream(X) or is_path(X) or is_arrow_stream(X):
        from ingenuo.rows.streams import file_rows

        return file_rows(X, y, sample_weight, declared, labelled=labelled, model=model)
    return MemoryRows(X, y, sample_weight)


def is_stream(X: Any) -> bool:
    """Whether X hands out its rows in batches, as what `scan` gives does."""
    return hasattr(X, "batches") and hasattr(X, "table")


def is_path(X: Any) -> bool:
    """Whether X is the path of a file."""
    return isinstance(X, os.PathLike) or (isinstance(X, str) and os.path.exists(X))


class MemoryRows:
    """Rows in memory: one part, nothing copied."""

    name, is_here = "X", True

    def __init__(self, X: Any, y: Any = None, weights: Any = None) -> None:
        self.target = y if isinstance(y, str) and is_frame(X) else None
        self.X, self.y = checks.target_column(X, y)
        self.weights = weights
        self.names: list[str] = []

    def columns(self, model: Any, *, whole: bool = False) -> Source:
        """What the columns are; the model notes their names, as scikit-learn's do. The table is opened once."""
        self.X = model._source(self.X, reset=True)
        self.X.is_whole = whole
        found: Source = self.X
        return found

    def reduce(self, statistic: Statistic, model: Any = None, **options: Any) -> Tally:
        """What the statistic gives."""
        return statistic(model, Part(self.X, self.y, self.weights), options)

    def parts(self) -> Iterator[Part]:
        """The one."""
        yield Part(self.X, self.y, self.weights)

    def answer(self, model: Any, method: str) -> Any:
        """The answers, as an array."""
        return getattr(model, f"_{method}")(self.X)

    def in_memory(self, instead: str = "") -> MemoryRows:
        """They are."""
        return self

    def sample(self, n: int, most: int, seed: int) -> tuple[MemoryRows, int]:
        """Some of them, or all."""
        n_rows = checks.count_rows(self.X)
        if n_rows <= most or self.y is None or isinstance(self.y, str):  # of which the model will say what is lacking
            return self, n_rows
        keys = np.random.default_rng([OURS, seed]).random(n_rows)
        codes, classes = checks.labels(None, self.y, n_rows)
        drawn = draw(keys, n, codes)
        weights = checks.weights(self.weights, n_rows)
        some = MemoryRows(take_rows(self.X, drawn), classes[codes[drawn]], None if weights is None else weights[drawn])
        some.target = self.target
        return some, n_rows


def draw(keys: NDArray[np.float64], n: int, codes: NDArray[Any] | None = None) -> NDArray[np.intp]:
    """The places of the n rows with the least keys, a fair draw; by the codes of their classes, of each class some.

    What is drawn of all rows is drawn of what was drawn of their parts.
    """
    kept = np.zeros(len(keys), np.bool_)
    kept[np.argpartition(keys, n)[:n] if n < len(keys) else slice(None)] = True
    if codes is not None and not kept.all():
        order = np.lexsort((keys, codes))
        _, first, sizes = np.unique(codes[order], return_index=True, return_counts=True)
        kept[order[np.arange(len(order)) - np.repeat(first, sizes) < _OF_A_CLASS]] = True
    return np.flatnonzero(kept)


def take_rows(X: Any, places: NDArray[np.intp]) -> Any:
    """Some rows of anything that has rows."""
    if hasattr(X, "iloc"):  # pandas
        return X.iloc[places]
    if isinstance(X, list):
        return [X[place] for place in places.tolist()]
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr") or hasattr(X, "get_columns"):  # of polars
        return X[places]
    if is_frame(X):
        return X.take(places)
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, places)


def part_of(table: pa.Table, target: str | None, weight: str | None, *, number: int = 0, before: int = 0) -> Part:
    """Rows of a table as a part; class and weight are columns of it."""
    y = None if target is None else table.column(target)
    weights = None if weight is None else table.column(weight).to_numpy()
    # Taken out here: to look for a column by its name costs a look at every column.
    own = [name for name in (target, weight) if name is not None]
    return Part(table.drop_columns(own) if own else table, y, weights, number, before)


def weightless(weights: Any) -> bool:
    """Whether some rows count for nothing: all their weights are zero."""
    return weights is not None and weights.dtype.kind in "fiu" and not weights.any()
