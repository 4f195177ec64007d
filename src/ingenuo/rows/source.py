"""Tables in memory, column by column: arrays, CSR matrices and texts as sources, without copying them; and how a
fitted model finds its columns in one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, RefusedError, did_you_mean
from ingenuo.kernels.codes import NUMBERED_UP_TO
from ingenuo.rows.part import Block, Codes, Counts, Numbers, Places, Texts, is_arrow, text_columns
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.tally.labels import Labels, encode, find, is_missing, labels_of, objects

if TYPE_CHECKING:
    from ingenuo.rows.engines import EngineFrame

_FIRST = 100  # rows that rule out most columns of floats as empty


class Source:
    """Rows of a table, column by column."""

    n_rows: int
    names: Labels  # strings, or positions where the columns have no names
    anonymous = False  # whether it is a list of texts, which has no column to name
    is_whole = False  # whether no rows will follow, so that a column of numbers without any is of no use

    def uniform(self) -> tuple[str, str] | None:
        """The one kind that all the columns have, and why, when that is known without looking."""
        return None

    def guess(self, place: int) -> tuple[str, str]:
        """The kind of a column, and why."""
        found = self.uniform()
        assert found is not None
        return found

    def numbers(self, places: Places, names: Labels) -> Numbers:
        """The columns at the places as numbers."""
        raise NotImplementedError

    def codes(self, places: Places, names: Labels) -> Codes:
        """The columns at the places as categories."""
        raise NotImplementedError

    def counts(self, places: Places, names: Labels) -> Counts:
        """The columns at the places as counts."""
        raise NotImplementedError

    def texts(self, places: Places, names: Labels) -> Texts:
        """The columns at the places as text."""
        raise NotImplementedError


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
        return TextSource(X)
    if isinstance(X, np.ndarray):
        return ArraySource(X)
    if hasattr(X, "tocsr"):
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


def rows_on_engine(X: Any) -> EngineFrame | None:
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


# Arrays and CSR matrices.


def _select(matrix: Any, places: Places) -> Any:
    """The columns at the places: a view when they are all, or stand side by side."""
    n = matrix.shape[1]
    if len(places) == n and np.array_equal(places, np.arange(n)):
        return matrix
    if len(places) and np.array_equal(places, np.arange(places[0], places[0] + len(places))):
        return matrix[:, places[0] : places[0] + len(places)]
    return matrix[:, places]


class ArraySource(Source):
    """A two-dimensional array of numbers, booleans, strings or objects."""

    def __init__(self, array: NDArray[Any]) -> None:
        if array.ndim != 2:
            raise InputError(
                f"a table has rows and columns: expected a 2-dimensional array, got {array.ndim} dimensions; "
                "reshape your data with X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row"
            )
        self.array = array
        self.n_rows = array.shape[0]
        self.names: Labels = np.arange(array.shape[1])

    def uniform(self) -> tuple[str, str] | None:
        """One kind for all, by the type of the array."""
        kind = self.array.dtype.kind
        if kind in "iu" or (kind == "f" and not self._empty().any()):
            return "number", f"{self.array.dtype} values"
        if kind == "b":
            return "category", "true or false"
        if kind not in "fUSTO":
            raise KindError(
                f"an array of {self.array.dtype} is no table of numbers, booleans or strings; convert it first"
            )
        return None

    def guess(self, place: int) -> tuple[str, str]:
        """The kind of a column by its first values."""
        if self.array.dtype.kind == "f":
            return ("ignore", "no value") if self._empty()[place] else ("number", f"{self.array.dtype} values")
        values = self.array[:, place]
        found = kind_of_objects(values[:SAMPLE].tolist())
        if found == ("ignore", "no value") and len(values) > SAMPLE:
            found = kind_of_objects([value for value in values.tolist() if not is_missing(value)][:SAMPLE])
        return found

    def _empty(self) -> NDArray[np.bool_]:
        """Of each column of floats, whether it has no value: the first rows rule most of them out."""
        if not self.is_whole:
            return np.zeros(self.array.shape[1], np.bool_)
        empty: NDArray[np.bool_] = np.isnan(self.array[:_FIRST]).all(axis=0)
        if len(self.array) > _FIRST:
            for place in np.flatnonzero(empty):
                empty[place] = np.isnan(self.array[:, place]).all()
        return empty

    def numbers(self, places: Places, names: Labels) -> Numbers:
        """The columns as numbers."""
        if self.array.dtype.kind in "fiub":
            return Numbers(names, self.n_rows, matrix=_select(self.array, places))
        columns = [as_number(self.array[:, p].tolist(), name) for p, name in zip(places, names)]
        return Numbers(names, self.n_rows, matrix=np.column_stack(columns))

    def codes(self, places: Places, names: Labels) -> Codes:
        """The columns as categories; small integers serve as their own codes."""
        matrix = _select(self.array, places)
        if matrix.dtype.kind in "iu" and matrix.size and int(matrix.min()) >= 0 and int(matrix.max()) < NUMBERED_UP_TO:
            top = matrix.max(axis=0)
            return Codes(names, self.n_rows, matrix, [np.arange(int(t) + 1) for t in top])
        columns, labels = [], []
        for j, name in enumerate(names):
            try:
                codes, found = encode(np.ascontiguousarray(matrix[:, j]))
            except KindError as error:
                raise KindError(f"column {column_name(name)!r}, {error}") from None
            columns.append(codes)
            labels.append(found)
        return Codes(names, self.n_rows, columns, labels)

    def counts(self, places: Places, names: Labels) -> Counts:
        """The columns as counts."""
        if self.array.dtype.kind not in "fiub":
            return Counts(names, self.n_rows, self.numbers(places, names).matrix)
        return Counts(names, self.n_rows, _select(self.array, places))

    def texts(self, places: Places, names: Labels) -> Texts:
        """The columns as text."""
        return Texts(names, self.n_rows, text_columns(names, [self.array[:, place] for place in places]))


def _dense_column(matrix: Any, j: int, lo: int, hi: int) -> NDArray[Any]:
    return np.asarray(matrix[lo:hi, [j]].toarray()[:, 0])


class SparseSource(Source):
    """A CSR matrix: every column is a count unless it is declared to be something else."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.n_rows = matrix.shape[0]
        self.names: Labels = np.arange(matrix.shape[1])

    def uniform(self) -> tuple[str, str]:
        """Counts."""
        return "count", "a sparse matrix"

    def numbers(self, places: Places, names: Labels) -> Numbers:
        """The columns as numbers, made dense a piece at a time."""
        selected = _select(self.matrix, places)
        return Numbers(
            names,
            self.n_rows,
            columns=[partial(_dense_column, selected, j) for j in range(len(names))],
        )

    def codes(self, places: Places, names: Labels) -> Codes:
        """The columns as categories, zero being one of them."""
        return ArraySource(_select(self.matrix, places).toarray()).codes(np.arange(len(names)), names)

    def counts(self, places: Places, names: Labels) -> Counts:
        """The columns as counts."""
        return Counts(names, self.n_rows, _select(self.matrix, places))

    def texts(self, places: Places, names: Labels) -> Texts:
        """A sparse matrix has none."""
        raise KindError(f"column {column_name(names[0])!r} of a sparse matrix holds numbers where text is expected")


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


# Texts.


class TextSource(Source):
    """A list, an array or a series of texts: a table of one column."""

    anonymous = True

    def __init__(self, values: Any) -> None:
        self.names: Labels = objects(["text"])
        if hasattr(values, "to_arrow"):  # polars
            values = values.to_arrow()
        elif not isinstance(values, list | tuple | np.ndarray) and not is_arrow(values):  # pandas
            values = _from_pandas(values)
        self.values = values
        self.n_rows = len(values)

    def uniform(self) -> tuple[str, str]:
        """Text."""
        return "text", "a list of texts"

    def texts(self, places: Any, names: Labels) -> Texts:
        """The one column."""
        return Texts(names, self.n_rows, text_columns(names, [self.values]))

    def _refuse(self, places: Any, names: Labels) -> Any:
        raise InputError(
            f"a list of texts is one column of kind 'text', and {column_name(names[0])!r} was declared as another "
            "kind; give a table with that column"
        )

    numbers = codes = counts = _refuse


def _from_pandas(series: Any) -> Any:
    if str(series.dtype) == "object":
        return series.tolist()
    import pyarrow as pa

    return pa.array(series, from_pandas=True)


# The kind of a column of Python's objects, and of strings, by its first values; Arrow is not needed for it.

_DATE = re.compile(
    r"^(\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{4})"
    r"([ T]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?)? ?(Z|[+-]\d{2}:?\d{2}|[AP]M)?$"
)
_GROUPED = re.compile(r"^[+-]?\d{1,3}([.]\d{3})*(,\d+)?$|^[+-]?\d{1,3}(,\d{3})*([.]\d+)?$")
_DIGITS = re.compile(r"^\d+$")
KEY_ROWS, KEY_SHARE = 50, 0.9  # strings of so many rows, more of them different: names or keys
SAMPLE = 10_000  # rows of a column that are looked at
_SAMPLE = 200  # strings that are looked at to tell texts from categories
_NUMBERS = (int, float, Decimal, np.number)
_DATES = (date, time, timedelta, np.datetime64, np.timedelta64)


def kind_of_objects(values: Sequence[Any]) -> tuple[str, str]:
    """The kind of a column of objects, and why.

    >>> kind_of_objects([1, 2.5, None]), kind_of_objects([True, None]), kind_of_objects([None])
    (('number', 'numbers'), ('category', 'true or false'), ('ignore', 'no value'))
    """
    there = [value for value in values if not is_missing(value)]
    kinds = set(map(type, there))
    if not kinds:
        return "ignore", "no value"
    if all(issubclass(kind, str) for kind in kinds):
        return kind_of_strings(there)
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return "category", "true or false"
    if all(issubclass(kind, _NUMBERS) and kind is not bool for kind in kinds):
        return "number", "numbers"
    if all(issubclass(kind, bytes) for kind in kinds):
        return "text", "bytes"
    if all(issubclass(kind, _DATES) for kind in kinds):
        return "ignore", "dates are neither numbers nor categories"
    called = ", ".join(sorted(kind.__name__ for kind in kinds))
    if all(issubclass(kind, list | tuple | set | dict | np.ndarray) for kind in kinds):
        return "ignore", f"{called} values are neither numbers nor categories"
    return "category", f"{called} values"


def kind_of_strings(values: Sequence[str], is_target: bool = False) -> tuple[str, str]:
    """Categories, text, dates, or names and keys; and why."""
    n = len(values)
    if n == 0:
        return "ignore", "no value"
    if all(map(_DIGITS.match, values)):
        if any(len(value) > 1 and value[0] == "0" for value in values):
            return "category", "digits with zeros before them: codes"
    elif not is_target and all(map(_GROUPED.match, values)) and any("," in value for value in values):
        return "ignore", "numbers with signs between thousands, which are not read: write them without"
    if all(map(_DATE.match, values)):
        return "ignore", "dates are neither numbers nor categories"
    different = set(values)
    if why := reads_as_text(values):
        return "text", why
    if n >= KEY_ROWS and len(different) > KEY_SHARE * n:
        return "ignore", f"{len(different):,} different values in {n:,} rows: a name or key, no category"
    if len(different) <= 2 and {value.lower() for value in different} == {"true", "false"}:
        return "category", "true or false"
    return "category", f"strings, {len(different):,} different"


def reads_as_text(values: Sequence[Any]) -> str:
    """Why a column of strings is text and not categories, or "" if it is not: long, and nearly all different.

    >>> reads_as_text(["Sunny", "Overcast", "Rain", "Sunny"])
    ''
    >>> reads_as_text(["a film to see twice", "not one laugh in two hours", "it is all right, I suppose"])
    'strings of 6 words, 100% different'
    """
    step = max(1, len(values) // _SAMPLE)
    some = [value for value in values[::step][:_SAMPLE] if isinstance(value, str)]
    if len(some) < 3:
        return ""
    words, different = sum(len(value.split()) for value in some) / len(some), len(set(some)) / len(some)
    long = (words >= 4 and different > 0.5) or (words >= 10 and len(set(some)) > 20)
    return f"strings of {words:.0f} words, {different:.0%} different" if long else ""
