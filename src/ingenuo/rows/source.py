"""The one face that every table in memory shows, and which one an input has; rows that lie on an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, RefusedError, did_you_mean
from ingenuo.rows.part import Block, Chunk, Codes, Counts, Numbers, Texts
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.tally.labels import Labels, find, is_missing, labels_of
from ingenuo.tally.tally import Tally

if TYPE_CHECKING:
    from ingenuo.rows.streams import Spread


Places = NDArray[np.intp]


class Source(Protocol):
    """Rows of a table, column by column."""

    n_rows: int
    names: Labels  # strings, or positions where the columns have no names
    anonymous: bool  # whether it is a list of texts, which has no column to name
    is_whole: bool  # whether no rows will follow, so that a column of numbers without any is of no use

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

    def texts(self, places: Places, names: Labels) -> Texts:
        """The columns at the places as text."""
        ...


def is_texts(X: Any) -> bool:
    """Whether X is one column of texts: a list, an array or a series of strings (or bytes)."""
    if isinstance(X, list | tuple):
        first = next((value for value in X if not is_missing(value)), None)
        if isinstance(first, int | float):  # a number among texts, which will be told
            first = next((value for value in X[:1000] if isinstance(value, str | bytes)), first)
        return isinstance(first, str | bytes)
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and (X.dtype.kind in "UST" or (X.dtype == object and is_texts(X[:1000].tolist())))
    if hasattr(X, "columns") or hasattr(X, "column_names") or hasattr(X, "tocsr") or X is None:
        return False
    kind = str(getattr(X, "type", getattr(X, "dtype", ""))).lower()  # of an Arrow array, or of a series
    if kind == "object" and hasattr(X, "tolist"):
        return is_texts(X[:1000].tolist())
    kind = kind.removeprefix("dictionary<values=")
    return any(kind.startswith(name) for name in ("str", "large_str", "utf8", "binary", "large_binary", "cat", "enum"))


def is_arrow_stream(X: Any) -> bool:
    """Whether X hands out its rows by Arrow's stream interface and is no table in memory, which does so too."""
    if not hasattr(X, "__arrow_c_stream__"):
        return False
    return type(X).__module__.partition(".")[0] not in _TABLES or hasattr(X, "read_next_batch")


_TABLES = ("pandas", "polars", "pyarrow", "narwhals", "modin", "cudf")


def refuse_elsewhere(X: Any) -> None:
    """Raise for rows that lie elsewhere, where all of them are needed at once."""
    if getattr(X, "lies_in_parts", False) or type(X).__module__.startswith(("dask.", "pyspark.")):
        raise RefusedError(
            "rows of Dask or Spark stay where they are, and what was asked for needs them all at once; bring what fits "
            "the memory to this machine (frame.compute(), frame.toPandas()), or give the DataFrame to fit or predict "
            "of a model that is a sum, such as NaiveBayes, or to evaluate(model, frame, y)"
        )


def open_source(X: Any) -> Source:
    """The source for an array, a sparse matrix, or a pandas, polars or Arrow table."""
    if is_texts(X):
        from ingenuo.rows.memory import TextSource

        return TextSource(X)
    if isinstance(X, np.ndarray):
        from ingenuo.rows.memory import ArraySource

        return ArraySource(X)
    if hasattr(X, "tocsr"):
        from ingenuo.rows.memory import SparseSource

        return SparseSource(X.tocsr())
    from ingenuo.rows.frames import FrameSource

    refuse_elsewhere(X)
    frame = FrameSource.of(X)
    if frame is None:
        raise KindError(
            f"a table was expected, got {type(X).__name__}; give a NumPy array, a SciPy sparse matrix, "
            "a pandas, polars or Arrow table, or a list of texts"
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
        elif kind == "text":
            result[family] = replace(
                source.texts(at, names),
                settings=[schema.texts[name] for name in names.tolist()],
                references=[schema.references.get(name) for name in names.tolist()],
            )
        else:
            result[family] = source.counts(at, names)
    return result


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
    if not schema.named or source.names.dtype != object or source.anonymous:
        if source.anonymous and len(schema) != 1:  # one of another kind is refused when it is asked for
            raise InputError(
                f"the model was trained on {len(schema)} columns and got a list of texts; give a table with the same "
                "columns"
            )
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


def is_spread(X: Any) -> bool:
    """Whether the rows of X lie on an engine: a Dask or Spark frame, or files."""
    return rows_on_engine(X) is not None


def rows_on_engine(X: Any) -> Spread | None:
    """The rows of a Dask or Spark frame, or of files on an engine; None for anything else."""
    if getattr(X, "lies_in_parts", False):
        return X  # type: ignore[no-any-return]
    home = type(X).__module__
    if home.startswith(("dask.dataframe", "dask_expr")):
        from ingenuo.rows.dask import DaskFrame

        return DaskFrame.of(X)
    if home.startswith("pyspark.sql"):
        from ingenuo.rows.spark import SparkFrame

        return SparkFrame.of(X)
    return None


# The engine of this machine: chunks one after the other, each on all the threads.


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


def reduce(chunks: Iterable[Chunk], tally: Callable[[Chunk], Tally]) -> Tally:
    """The sum of the chunks' tallies; because sums are exact, neither order nor cutting matters."""
    total = Total()
    for chunk in chunks:
        total.add(tally(chunk))
    return total.sum()
