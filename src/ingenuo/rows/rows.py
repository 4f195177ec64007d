"""The one door for rows: wherever they lie, they are reduced to a tally, or answered, part by part.

    rows_of(X, y)  →  rows.reduce(statistic, model)  →  Tally
                      rows.answer(model, "predict")  →  an array, or a lazy frame of the engine

A statistic is a function of a model and some rows that gives a tally. Because sums are exact, the total is the same
however the rows are cut: in memory they are one part, of a file a part for some batches, on Dask and Spark a part for
each partition.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.rows import checks
from ingenuo.rows.source import Source, is_arrow_stream, is_frame, lies_elsewhere, open_source
from ingenuo.tally.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa


_TOGETHER = 4  # batches that are summed at a time
_LARGE = 1 << 26  # bytes, unless they are large


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
    """A sum of many tallies: equals are added to equals, so that large tables are not aligned again for each batch.

    >>> total = Total()
    >>> total.add(Tally())
    >>> total.sum() == Tally()
    True
    """

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


After = Callable[[int, Total], None]


class Rows(Protocol):
    """Rows, wherever they lie."""

    target: str | None  # the name of the column of classes, where it has one
    is_here: bool  # whether they are in memory
    names: list[str]  # of the columns; none where they are in memory, which may have no names

    @property
    def name(self) -> str:
        """What messages call them."""
        ...

    def columns(self, model: Any, *, whole: bool = False) -> Source:
        """What the columns are, for a model that has not learned; whether these are all the rows that it will learn."""
        ...

    def reduce(self, statistic: Statistic, model: Any = None, **options: Any) -> Tally:
        """The sum of what a statistic gives for every part."""
        ...

    def parts(self) -> Iterator[Part]:
        """The parts, one after the other, here."""
        ...

    def answer(self, model: Any, method: str) -> Any:
        """What a method of a model answers to every row."""
        ...

    def in_memory(self, instead: str = "") -> MemoryRows:
        """All the rows here, at once; what to do instead is said where they lie elsewhere."""
        ...


def rows_of(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    declared: Collection[Any] = (),
    *,
    labelled: bool = True,
    model: Any = None,
) -> Rows:
    """The rows of anything that has rows.

    Parameters
    ----------
    X
        An array, a sparse matrix, a table, texts; what `scan` gives, or a path; anything with `__arrow_c_stream__`; a
        Dask or Spark frame.
    y, sample_weight
        The class and the weight of each row; or the names of their columns.
    declared
        Columns of which it is known what they are, so that an engine need not look at them; a mapping says it of files.
    labelled
        Whether there must be a class.
    model
        A fitted model, as whose columns files are read.
    """
    if type(X) is np.ndarray or (is_frame(X) and not lies_elsewhere(X)):
        return MemoryRows(X, y, sample_weight)
    if lies_elsewhere(X):
        from ingenuo.models.remote import remote_rows

        return remote_rows(X, y, sample_weight, declared, labelled=labelled)
    stream = stream_of(X)
    if stream is not None:
        target, weight = target_and_weight(stream, y, sample_weight, labelled=labelled)
        if model is not None:
            from ingenuo.rows.streams import match_stream

            stream = match_stream(model, stream, target, weight)
        elif isinstance(declared, Mapping) and declared and hasattr(stream, "with_kinds"):
            stream = stream.with_kinds(declared, target)
        return FileRows(stream, target, weight)
    return MemoryRows(X, y, sample_weight)


# In memory.


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
        found: Source = self.X
        found.is_whole = whole
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


# In files, and whatever else comes in batches.


class FileRows:
    """Rows that come in batches, such as those of a file that no memory holds."""

    is_here = False

    def __init__(self, stream: Any, target: str | None, weight: str | None) -> None:
        self.stream, self.target, self.weight = stream, target, weight
        self.names = [name for name in stream.names if name not in (target, weight)]

    @property
    def name(self) -> str:
        """The files."""
        return str(self.stream.name)

    def columns(self, model: Any, *, whole: bool = False) -> Source:
        """What the columns are, as the stream has inferred them, or by its first rows."""
        import pyarrow as pa

        from ingenuo.rows.kinds import describe
        from ingenuo.rows.source import SAMPLE
        from ingenuo.rows.streams import concatenate, describe_columns

        names = self.names
        kinds = {name: self.stream.kinds[name] for name in names if name in self.stream.kinds}
        if len(kinds) == len(names) and any(kind != "ignore" for kind, _ in kinds.values()):
            return open_source(describe(pa.schema([(name, pa.null()) for name in names]).empty_table(), kinds))
        first: list[pa.Table] = []
        for batch in describe_columns(self.stream).batches():
            if batch.num_rows:
                first.append(batch.select(names))
            if sum(each.num_rows for each in first) >= SAMPLE:
                break
        if not first:
            raise InputError(f"{self.name}: there are no rows to learn from")
        return open_source(concatenate(first))

    def reduce(
        self, statistic: Statistic, model: Any = None, *, done: int = 0, after: After | None = None, **options: Any
    ) -> Tally:
        """The sum over the batches: `done` of them are passed over, `after` is told of each, with the sum so far."""
        total = Total()
        for n, part in self._numbered(done):
            total.add(statistic(model, part, options))
            if after is not None:
                after(n, total.now())
        return total.sum()

    def parts(self) -> Iterator[Part]:
        """Some batches at a time, but for those that have no weight."""
        return (part for _, part in self._numbered())

    def _numbered(self, done: int = 0) -> Iterator[tuple[int, Part]]:
        from ingenuo.rows.streams import describe_columns

        before = 0
        for n, batch in _gathered(describe_columns(self.stream).batches(), done):
            part = part_of(batch, self.target, self.weight, before=before)
            _check_weights(self, part)
            before += batch.num_rows
            if not weightless(part.weights):
                yield n, part

    def answer(self, model: Any, method: str) -> Any:
        """The answers, as an array; the rows themselves are not kept."""
        found = [getattr(model, f"_{method}")(part.X) for part in self.parts()]
        if not found:
            raise InputError(f"{self.name}: there are no rows to answer")
        return np.concatenate(found)

    def in_memory(self, instead: str = "") -> MemoryRows:
        """All the rows, read at once."""
        from ingenuo.rows.streams import describe_columns

        rows, weights = with_positive_weight(describe_columns(self.stream).table(), self.weight)
        return MemoryRows(rows, self.target, weights)


def stream_of(X: Any) -> Any:
    """What hands out its rows in batches: what `scan` gives, a path, or an Arrow stream; None for anything else."""
    if is_stream(X):
        return X
    if isinstance(X, os.PathLike) or (isinstance(X, str) and os.path.exists(X)):
        from ingenuo.rows.files.scan import scan

        return scan(X)
    if is_arrow_stream(X):
        from ingenuo.rows.streams import ArrowStream

        return ArrowStream(X)
    return None


def is_stream(X: Any) -> bool:
    """Whether X hands out its rows in batches, as what `scan` gives does."""
    return hasattr(X, "batches") and hasattr(X, "table")


def target_and_weight(X: Any, y: Any, sample_weight: Any, *, labelled: bool = True) -> tuple[str | None, str | None]:
    """The columns of a stream that hold the class and the weights."""
    y = X.target if y is None else y
    if y is None and labelled:
        raise InputError(f"{X.name}: name the column to learn (--target COLUMN){did_you_mean('', X.names)}")
    for what, name in (("y", y), ("sample_weight", sample_weight)):
        if name is None:
            continue
        if not isinstance(name, str):
            raise KindError(
                f"rows that come in batches have their {what} in a column; name it, instead of giving {name!r}"
            )
        if name not in X.names:
            raise InputError(f"{X.name}: there is no column {name!r}{did_you_mean(name, X.names)}")
    if y is not None and y == sample_weight:
        raise InputError(f"column {y!r} cannot be both the class and the weight; name another")
    return y, sample_weight


def part_of(table: pa.Table, target: str | None, weight: str | None, *, number: int = 0, before: int = 0) -> Part:
    """Rows of a table as a part; class and weight are columns of it."""
    rows, weights = with_positive_weight(table, weight)
    if target is None:
        return Part(rows, None, weights, number, before)
    # Taken out here: to look for a column by its name costs a look at every column.
    return Part(rows.drop_columns([target]), rows.column(target), weights, number, before)


def weightless(weights: Any) -> bool:
    """Whether some rows count for nothing: all their weights are zero."""
    return weights is not None and weights.dtype.kind in "fiu" and not weights.any()


def with_positive_weight(rows: Any, weight: str | None) -> tuple[Any, Any]:
    """Rows without their column of weights, and the weights."""
    if weight is None:
        return rows, None
    return rows.drop_columns([weight]), rows.column(weight).to_numpy()


def _gathered(batches: Iterator[pa.Table], done: int) -> Iterator[tuple[int, pa.Table]]:
    """Some batches together, with the number of the last, for each look at the columns of a table has its cost."""
    from ingenuo.rows.streams import concatenate

    waiting: list[pa.Table] = []
    n = 0
    for n, batch in enumerate(batches, start=1):
        if n > done and batch.num_rows:
            waiting.append(batch)
        if waiting and (len(waiting) == _TOGETHER or sum(each.nbytes for each in waiting) > _LARGE):
            yield n, concatenate(waiting)
            waiting = []
    if waiting:
        yield n, concatenate(waiting)


def _check_weights(rows: FileRows, part: Part) -> None:
    """Raise where a weight is none, saying which row of the files has it."""
    if part.weights is None or part.weights.dtype.kind not in "fiu":
        return
    bad = ~(np.isfinite(part.weights) & (part.weights >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(
            f"{rows.name}, row {part.before + at + 1:,}: the weight in column {rows.weight!r} is "
            f"{float(part.weights[at])!r}; weights are finite and not negative"
        )
