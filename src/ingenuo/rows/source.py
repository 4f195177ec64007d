"""Tables in memory, column by column: arrays, CSR matrices, texts, pandas, polars and Arrow tables, without copying
them where they allow; and how a fitted model finds its columns in one.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
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
from ingenuo.tally.labels import Labels, encode, find, from_dictionary, is_missing, labels_of, objects

if TYPE_CHECKING:
    from ingenuo.rows.engines import EngineFrame

_FIRST = 100  # rows that rule out most columns of floats as empty
_TABLES = ("pandas", "polars", "pyarrow", "narwhals", "modin", "cudf")


class Source:
    """Rows of a table, column by column: each is an array of NumPy or Arrow."""

    n_rows: int
    names: Labels  # strings, or positions where the columns have no names
    anonymous = False  # whether it is a list of texts, which has no column to name
    is_whole = False  # whether no rows will follow, so that a column of numbers without any is of no use

    def uniform(self) -> tuple[str, str] | None:
        """The one kind that all the columns have, and why, when that is known without looking."""
        return None

    def column(self, place: int) -> Any:
        """The values of a column."""
        raise NotImplementedError

    def values(self, name: Any) -> NDArray[Any]:
        """The values of a column by its name."""
        column = self.column(self.names.tolist().index(name))
        return column if isinstance(column, np.ndarray) else objects(column.to_pylist())

    def cell(self, place: int, row: int) -> Any:
        """One value."""
        value = self.column(place)[row]
        return value.as_py() if is_arrow(value) else value.item() if isinstance(value, np.generic) else value

    def guess(self, place: int) -> tuple[str, str]:
        """The kind of a column, and why."""
        found = self.uniform()
        assert found is not None
        return found

    def numbers(self, places: Places, names: Labels) -> Numbers:
        """The columns at the places as numbers, a piece at a time."""
        columns = [_floats(self.column(place), name) for place, name in zip(places.tolist(), names)]
        return Numbers(names, self.n_rows, columns=columns)

    def codes(self, places: Places, names: Labels) -> Codes:
        """The columns at the places as categories."""
        found = [codes_of(self.column(place), name) for place, name in zip(places.tolist(), names)]
        return Codes(names, self.n_rows, [codes for codes, _ in found], [labels for _, labels in found])

    def counts(self, places: Places, names: Labels) -> Counts:
        """The columns at the places as counts."""
        return Counts(names, self.n_rows, self.numbers(places, names).rows(0, self.n_rows))

    def texts(self, places: Places, names: Labels) -> Texts:
        """The columns at the places as text."""
        return Texts(names, self.n_rows, text_columns(names, [self.column(place) for place in places.tolist()]))


def is_texts(X: Any) -> bool:
    """Whether X is one column of texts: a list, an array or a series of strings (or bytes)."""
    if isinstance(X, list | tuple):
        first = next((value for value in X if not is_missing(value)), None)
        if isinstance(first, int | float):  # a number among texts, which will be refused
            first = next((value for value in X[:1000] if isinstance(value, str | bytes)), first)
        return isinstance(first, str | bytes)
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and (X.dtype.kind in "UST" or (X.dtype == object and is_texts(X[:1000].tolist())))
    if hasattr(X, "columns") or hasattr(X, "column_names") or hasattr(X, "tocsr") or X is None:
        return False
    kind = str(getattr(X, "type", getattr(X, "dtype", ""))).lower()  # of an Arrow array, or of a series
    if kind == "object" and hasattr(X, "tolist"):
        return is_texts(X[:1000].tolist())
    return kind.removeprefix("dictionary<values=").startswith(
        ("str", "large_str", "utf8", "binary", "large_binary", "cat", "enum")
    )


def is_frame(X: Any) -> bool:
    """Whether X is a table with columns of their own: pandas, polars or Arrow."""
    if isinstance(X, np.ndarray | list | tuple):
        return False
    if type(X).__name__ == "DataFrame" and _library(X) in _TABLES:
        return True
    if hasattr(X, "tocsr") or is_arrow_stream(X):
        return False
    return hasattr(X, "__dataframe__") or hasattr(X, "columns") or hasattr(X, "column_names")


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


def as_table(X: Any, model: Any = None) -> Any:
    """Rows that are mappings as an Arrow table, in which what one leaves out is missing; a lazy frame, collected.

    Of a fitted model the table has all the columns. Anything else is as it is.
    """
    if type(X).__name__ == "LazyFrame" and _library(X) == "polars":
        return X.collect()
    if not isinstance(X, list | tuple) or not X or not isinstance(X[0], Mapping):
        return X
    import pyarrow as pa

    odd = next((place for place, row in enumerate(X) if not isinstance(row, Mapping)), None)
    if odd is not None:
        raise KindError(
            f"row {odd} is {type(X[odd]).__name__} {X[odd]!r}, and those before it are mappings; give all alike"
        )
    schema = getattr(model, "schema_", None)
    known = schema.names.tolist() if schema is not None and schema.named else []
    names = [*dict.fromkeys(name for row in X for name in row)]
    columns = {}
    for name in [*names, *(name for name in known if name not in names)]:
        values = [row.get(name) for row in X]
        try:
            columns[str(name)] = pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several types
            columns[str(name)] = pa.array([None if is_missing(value) else str(value) for value in values])
    return pa.table(columns)


def is_arrow_stream(X: Any) -> bool:
    """Whether X hands out its rows by Arrow's stream interface and is no table in memory, which does so too."""
    if not hasattr(X, "__arrow_c_stream__"):
        return False
    return _library(X) not in _TABLES or hasattr(X, "read_next_batch")


def refuse_elsewhere(X: Any) -> None:
    """Raise for rows on an engine, where all of them are needed at once."""
    if lies_elsewhere(X):
        raise RefusedError(
            "rows of Dask or Spark stay where they are, and this needs them all at once; bring what fits the memory to "
            "this machine (frame.compute(), frame.toPandas()), or give the DataFrame to fit or predict of a model that "
            "is a sum, such as NaiveBayes, or to evaluate(model, frame, y)"
        )


def lies_elsewhere(X: Any) -> bool:
    """Whether X is a Dask or Spark frame, or files on an engine."""
    library = _library(X)
    return library in ("dask", "dask_expr", "pyspark") or (
        library not in _TABLES and getattr(X, "lies_in_parts", False) is True
    )


def open_source(X: Any) -> Source:
    """The source for an array, a sparse matrix, or a pandas, polars or Arrow table."""
    refuse_elsewhere(X)
    if is_frame(X):
        return FrameSource(X)
    if is_texts(X):
        return TextSource(X)
    if isinstance(X, np.ndarray):
        return ArraySource(X)
    if hasattr(X, "tocsr"):
        return SparseSource(X.tocsr())
    raise _no_table(X)


def rows_on_engine(X: Any) -> EngineFrame | None:
    """The rows of a Dask or Spark frame, or of files on an engine; None for anything else."""
    if not lies_elsewhere(X):
        return None
    if getattr(X, "lies_in_parts", False) is True:
        return X  # type: ignore[no-any-return]
    if _library(X) == "pyspark":
        from ingenuo.rows.spark import SparkFrame

        return SparkFrame.of(X)
    from ingenuo.rows.dask import DaskFrame

    return DaskFrame.of(X)


def blocks(source: Source, schema: Schema, places: Places) -> dict[str, Block]:
    """A block for each family of the schema; places say where the schema's columns stand in the source."""
    result: dict[str, Block] = {}
    for family, kind, names, chosen in schema.by_family:
        at = places[chosen]
        if kind == "text":
            settings = [schema.texts[name] for name in names.tolist()]
            references = [schema.references.get(name) for name in names.tolist()]
            result[family] = replace(source.texts(at, names), settings=settings, references=references)
        else:
            read: dict[str, Callable[[Places, Labels], Block]]
            read = {"number": source.numbers, "category": source.codes, "count": source.counts}
            result[family] = read[kind](at, names)
    return result


def match(schema: Schema, source: Source) -> Places:
    """Where each column of the schema stands in the source: by name, or by position where there are none."""
    if not schema.named or source.names.dtype != object or source.anonymous:
        if source.anonymous and len(schema) != 1:  # one of another kind is refused when it is read
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
    if source.names.tolist() == schema.names.tolist():
        return np.arange(len(schema))
    own = labels_of(source.names)
    places = np.append(np.argsort(find(own, source.names)), -1)[find(own, schema.names)]
    unknown = find(labels_of(schema.names), source.names) < 0
    absent = schema.names[(places < 0) & (schema.families != list(FAMILIES).index("ignore"))]
    if unknown.any() and absent.size:
        name = source.names[unknown][0]
        raise InputError(
            f"the table lacks the column {absent[0]!r} that the model was trained on, and has a column {name!r} that "
            f"the model does not know{did_you_mean(name, absent)}; rename it, or add what is lacking, filled with "
            "missing values if it is not known"
        )
    if unknown.any():
        names = source.names[unknown].tolist()
        shown = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
        warnings.warn(f"ignored: {shown}, which the model does not know", stacklevel=8)
    if absent.size:
        raise InputError(
            f"the table lacks the column {absent[0]!r} that the model was trained on; "
            "add it, filled with missing values if it is not known"
        )
    return places


def places_of(given: Mapping[Any, Any], source: Source) -> dict[int, Any]:
    """Where the named columns stand; a column can be named, or counted."""
    result, names = {}, source.names
    order = {name: place for place, name in enumerate(names.tolist())} if given else {}
    for name, value in given.items():
        place = place_of(name, names, order)
        if place is None:
            known = names if names.dtype == object else objects([column_name(n) for n in names[:12].tolist()])
            raise InputError(
                f"column {name!r} was declared, but the table has none of that name{did_you_mean(name, known)}"
            )
        result[place] = value
    return result


def place_of(name: Any, names: Labels, order: Mapping[Any, int] | None = None) -> int | None:
    """Where a column stands: by its name, by the name it has in messages, or counted."""
    order = {each: place for place, each in enumerate(names.tolist())} if order is None else order
    place = order.get(name) if isinstance(name, Hashable) else None
    if place is None and names.dtype != object and isinstance(name, str):
        place = order.get(int(name[1:])) if name[:1] == "x" and name[1:].isdecimal() else None
    if place is None and isinstance(name, int | np.integer) and 0 <= name < len(names):
        place = int(name)
    return place


# Arrays and CSR matrices.


def _select(matrix: Any, places: Places) -> Any:
    """The columns at the places: a view when they are all, or stand side by side."""
    n = len(places)
    if n == matrix.shape[1] and np.array_equal(places, np.arange(n)):
        return matrix
    if n and np.array_equal(places, np.arange(places[0], places[0] + n)):
        return matrix[:, places[0] : places[0] + n]
    return matrix[:, places]


class ArraySource(Source):
    """A two-dimensional array of numbers, booleans, strings or objects."""

    def __init__(self, array: NDArray[Any], names: Labels | None = None) -> None:
        if array.ndim != 2:
            raise InputError(
                f"a table has rows and columns: expected a 2-dimensional array, got {array.ndim} dimensions; "
                "reshape your data with X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row"
            )
        self.array, self.n_rows = array, array.shape[0]
        self.names = np.arange(array.shape[1]) if names is None else names
        self._is_numeric = array.dtype.kind in "fiub"

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

    def column(self, place: int) -> Any:
        """The values of a column."""
        return self.array[:, place]

    def guess(self, place: int) -> tuple[str, str]:
        """The kind of a column by its first values."""
        if self.array.dtype.kind == "f":
            return (
                ("ignore", no_value(self.n_rows)) if self._empty()[place] else ("number", f"{self.array.dtype} values")
            )
        return _kind_of_array(self.array[:, place])

    def _empty(self) -> NDArray[np.bool_]:
        """Of each column of floats, whether it has no value: the first rows rule most of them out."""
        if not self.is_whole:
            return np.zeros(self.array.shape[1], np.bool_)
        empty: NDArray[np.bool_] = np.isnan(self.array[:_FIRST]).all(axis=0)
        if len(self.array) > _FIRST:
            for place in np.flatnonzero(empty):
                empty[place] = np.isnan(self.array[:SAMPLE, place]).all()
        return empty

    def numbers(self, places: Places, names: Labels) -> Numbers:
        """The columns as numbers."""
        if not self._is_numeric:
            return super().numbers(places, names)
        return Numbers(names, self.n_rows, matrix=_select(self.array, places))

    def codes(self, places: Places, names: Labels) -> Codes:
        """The columns as categories; small integers serve as their own codes."""
        if self.array.dtype.kind in "iu":
            matrix = _select(self.array, places)
            if matrix.size and int(matrix.min()) >= 0 and int(matrix.max()) < NUMBERED_UP_TO:
                return Codes(names, self.n_rows, matrix, [np.arange(int(top) + 1) for top in matrix.max(axis=0)])
        return super().codes(places, names)

    def counts(self, places: Places, names: Labels) -> Counts:
        """The columns as counts."""
        if not self._is_numeric:
            return super().counts(places, names)
        return Counts(names, self.n_rows, _select(self.array, places))


class SparseSource(Source):
    """A CSR matrix: every column is a count unless it is declared to be something else."""

    def __init__(self, matrix: Any) -> None:
        self.matrix, self.n_rows = matrix, matrix.shape[0]
        self.names = np.arange(matrix.shape[1])

    def uniform(self) -> tuple[str, str]:
        """Counts."""
        return "count", "a sparse matrix"

    def _dense(self, place: int, lo: int, hi: int) -> NDArray[Any]:
        return np.asarray(self.matrix[lo:hi, [place]].toarray()[:, 0])

    def column(self, place: int) -> Any:
        """The values of a column, zero being one of them."""
        return self._dense(place, 0, self.n_rows)

    def numbers(self, places: Places, names: Labels) -> Numbers:
        """The columns as numbers, made dense a piece at a time."""
        return Numbers(names, self.n_rows, columns=[partial(self._dense, place) for place in places.tolist()])

    def counts(self, places: Places, names: Labels) -> Counts:
        """The columns as counts."""
        return Counts(names, self.n_rows, _select(self.matrix, places))

    def texts(self, places: Places, names: Labels) -> Texts:
        """A sparse matrix has none."""
        raise KindError(f"column {column_name(names[0])!r} of a sparse matrix holds numbers where text is expected")


# Texts.


class TextSource(Source):
    """A list, an array or a series of texts: a table of one column."""

    anonymous = True

    def __init__(self, values: Any) -> None:
        self.names = objects(["text"])
        self._texts = values if isinstance(values, list | tuple | np.ndarray) else as_array(values)
        self.n_rows = len(values)

    def uniform(self) -> tuple[str, str]:
        """Text."""
        return "text", "a list of texts"

    def column(self, place: int) -> Any:
        """The one column."""
        return self._texts

    def _refuse(self, places: Any, names: Labels) -> Any:
        raise InputError(
            f"a list of texts is one column of kind 'text', and {column_name(names[0])!r} was declared as another "
            "kind; give a table with that column"
        )

    numbers = codes = counts = _refuse


# pandas, polars and Arrow tables.


class FrameSource(Source):
    """A table whose columns have names and types of their own."""

    def __init__(self, X: Any) -> None:
        X = X.to_native() if _library(X) == "narwhals" else X
        self._is_pandas = hasattr(X, "iloc")
        if self._is_pandas:  # whose names may be numbers
            names = X.columns.tolist()
        elif hasattr(X, "get_columns") or hasattr(X, "column_names"):  # polars, Arrow
            names = list(getattr(X, "column_names", X.columns))
        else:
            raise _no_table(X)
        self.table, self.n_rows, self.names = X, len(X), objects(names)
        if len(set(names)) < len(names):
            doubled = next(name for place, name in enumerate(names) if name in names[:place])
            raise InputError(f"two columns of the table have one name, {doubled!r}; rename one")
        self._columns: dict[int, Any] = {}

    def column(self, place: int) -> Any:
        """The values of a column."""
        if not self._columns and self._is_pandas and self.n_rows == 1:
            # A column of pandas costs as much to take as all the cells of one row.
            self._columns = dict(enumerate(self.table.to_numpy(object).T))
        if place not in self._columns:
            self._columns[place] = self._read(place)
        return self._columns[place]

    def _read(self, place: int) -> Any:
        if self._is_pandas or hasattr(self.table, "get_columns"):
            return as_array(self.table[self.names[place]])
        return self.table.column(place)

    def guess(self, place: int) -> tuple[str, str]:
        """The kind of a column as the table says it, or by its type."""
        from ingenuo.rows.kinds import described_kind, infer_kind, sort_of

        if hasattr(self.table, "column_names") and (found := described_kind(self.table.schema.field(place))):
            return found
        column = self.column(place) if self.n_rows > 1 else self._read(place)
        if isinstance(column, np.ndarray) and column.dtype == object:
            return _kind_of_array(column)
        some = _as_arrow(column[:SAMPLE])
        if some.null_count == len(some) and sort_of(some.type) == "number" and not self.is_whole:
            return "number", "numbers"
        kind = infer_kind(column_name(self.names[place]), some)
        return kind.kind, kind.why


def _no_table(X: Any) -> KindError:
    if isinstance(X, str):
        shown = X if len(X) <= 60 else f"{X[:60]}…"
        return KindError(f"{shown!r}: there is no such file; check the path, or give texts as a list of strings")
    return KindError(
        f"a table was expected, got {type(X).__name__}; give a NumPy array, a SciPy sparse matrix, a pandas, polars, "
        "Arrow or Dask table, a list of texts, or the path of a file"
    )


# Columns: arrays of NumPy or Arrow.


def as_array(series: Any) -> Any:
    """A column of pandas, polars or Arrow: NumPy's array of numbers or of objects that are no strings, else Arrow's."""
    if is_arrow(series):
        return series
    if _library(series) == "polars":
        return objects(series.to_list()) if str(series.dtype) == "Object" else series.to_arrow()
    values = series.values
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        return values
    import pyarrow as pa

    try:
        found = pa.array(series, from_pandas=True)
    except (ValueError, TypeError, NotImplementedError, OverflowError):  # values of several kinds
        return objects(series.tolist())
    return values if isinstance(values, np.ndarray) and values.dtype == object and not _is_string(found) else found


def _is_string(column: Any) -> bool:
    return str(column.type) in ("string", "large_string", "string_view")


def _as_arrow(column: Any) -> Any:
    import pyarrow as pa

    return pa.array(column, from_pandas=True) if isinstance(column, np.ndarray) else column


def _floats(column: Any, name: object) -> Callable[[int, int], NDArray[Any]]:
    """Rows lo..hi of a column as doubles, NaN = missing."""
    if isinstance(column, np.ndarray):
        values = column if column.dtype.kind in "fiub" else as_number(column.tolist(), name)
        return lambda lo, hi: values[lo:hi]
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_primitive(column.type) and not pa.types.is_temporal(column.type):
        # In the chunks that it has: to put them together first would copy the column, and hold it twice.
        return lambda lo, hi: _doubles(column.slice(lo, hi - lo))
    numbers = as_number(column.to_pylist(), name)
    return lambda lo, hi: numbers[lo:hi]


def _doubles(values: Any) -> NDArray[Any]:
    """An Arrow array of numbers as doubles, NaN = missing: a view where it is that."""
    if hasattr(values, "num_chunks"):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    if str(values.type) != "double":  # to ask for a cast costs 40 µs, even where there is none
        values = values.cast("double", safe=False)
    return np.asarray(values)


def codes_of(column: Any, name: object) -> tuple[NDArray[Any], Labels]:
    """Codes and labels of a column."""
    if not isinstance(column, np.ndarray):
        kind = str(column.type)
        is_whole = kind.startswith(("int", "uint"))
        if kind.startswith("dictionary") or _is_string(column) or (is_whole and column.null_count):
            return _arrow_codes(column)  # as doubles, large integers would lose digits
        holds_numbers = is_whole or kind in ("bool", "double", "float", "halffloat")
        column = np.asarray(column) if holds_numbers else objects(column.to_pylist())
    try:
        return encode(np.ascontiguousarray(column))
    except KindError as error:
        raise KindError(f"column {column_name(name)!r}, {error}") from None


def _arrow_codes(column: Any) -> tuple[NDArray[Any], Labels]:
    """Codes and labels of an Arrow array, by its own dictionary where it has one."""
    if hasattr(column, "num_chunks"):
        column = column.unify_dictionaries().combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if not hasattr(column, "indices"):
        column = column.dictionary_encode()
    codes = column.indices.cast("int64") if str(column.indices.type).startswith("uint") else column.indices
    codes = codes.fill_null(-1).to_numpy(zero_copy_only=False)
    values = column.dictionary.to_pylist()
    if len(set(values)) == len(values) and not any(map(is_missing, values)):
        return codes, objects(values)  # in the dictionary's own order
    return from_dictionary(codes, values)


def as_number(values: list[Any], name: object) -> NDArray[np.float64]:
    """Values of a declared number column as doubles; an error that names the first that is none."""
    result = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        try:
            if value is not None and type(value).__name__ not in ("NAType", "NaTType"):
                result[i] = float(value)
        except OverflowError:
            result[i] = np.inf if value > 0 else -np.inf
        except (TypeError, ValueError):
            what = "text" if isinstance(value, str) else f"a {type(value).__name__}"
            raise InputError(
                f"column {column_name(name)!r} has {what} in row {i} ({value!r}); "
                f"declare it with columns={{{column_name(name)!r}: 'category'}} or clean it"
            ).declaring(column_name(name), "category") from None
    return result


# The kind of a column of Python's objects, and of strings, by its first values; Arrow is not needed for it.

_DATE = re.compile(
    r"^(\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{4})"
    r"([ T]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?)? ?(Z|[+-]\d{2}:?\d{2}|[AP]M)?$"
)
_SIGN = r"[,'’ \xa0\u202f]"  # what may stand between thousands
_GROUPED = re.compile(rf"^[+-]?\d{{1,3}}([.]\d{{3}})*(,\d+)?$|^[+-]?\d{{1,3}}({_SIGN}\d{{3}})*([.,]\d+)?$")
_THOUSANDS = re.compile(rf"\d({_SIGN}|[.])\d{{3}}(?!\d)")
_DIGITS = re.compile(r"^\d+$")
KEY_ROWS, KEY_SHARE = 50, 0.9  # strings of so many rows, more of them different: names or keys
SAMPLE = 10_000  # rows of a column that are looked at
NO_VALUE = "no value"
_SAMPLE = 200  # strings that are looked at to tell texts from categories
_SORTS: tuple[tuple[Any, tuple[str, str]], ...] = (  # of objects that are all of some types
    ((bool, np.bool_), ("category", "true or false")),
    ((int, float, Decimal, np.number), ("number", "numbers")),
    (bytes, ("text", "bytes")),
    ((date, time, timedelta, np.datetime64, np.timedelta64), ("ignore", "dates are neither numbers nor categories")),
)


def no_value(n_rows: int) -> str:
    """Why a column is of no use that has no value in the rows that are looked at."""
    return NO_VALUE if n_rows < SAMPLE else f"{NO_VALUE} in the first {SAMPLE:,} rows"


def _kind_of_array(values: NDArray[Any]) -> tuple[str, str]:
    """The kind of a column of objects or strings, by the first that are there."""
    kind, why = kind_of_objects(values[:SAMPLE].tolist())
    return kind, no_value(len(values)) if why == NO_VALUE else why


def kind_of_objects(values: Sequence[Any]) -> tuple[str, str]:
    """The kind of a column of objects, and why."""
    there = [value for value in values if not is_missing(value)]
    types = set(map(type, there))
    if not types or all(issubclass(type, str) for type in types):
        return kind_of_strings(there)
    for sort, found in _SORTS:
        if all(issubclass(type, sort) for type in types) and (bool not in types or len(types) == 1):
            return found
    called = ", ".join(sorted(type.__name__ for type in types))
    if all(issubclass(type, list | tuple | set | dict | np.ndarray) for type in types):
        return "ignore", f"{called} values are neither numbers nor categories"
    return "category", f"{called} values"


def has_thousands(value: str) -> bool:
    """Whether a string is a number with signs between thousands, as 1.718,84 is."""
    return bool(_GROUPED.match(value) and _THOUSANDS.search(value))


def kind_of_strings(values: Sequence[str], is_target: bool = False) -> tuple[str, str]:
    """Categories, text, dates, or names and keys; and why."""
    n = len(values)
    if n == 0:
        return "ignore", NO_VALUE
    if all(map(_DIGITS.match, values)):
        if any(len(value) > 1 and value[0] == "0" for value in values):
            return "category", "digits with zeros before them: codes"
    elif not is_target and all(map(_GROUPED.match, values)) and any(re.search(_SIGN, value) for value in values):
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
    """Why a column of strings is text and not categories, or "" if it is not: long, and nearly all different."""
    step = max(1, len(values) // _SAMPLE)
    some = [value for value in values[::step][:_SAMPLE] if isinstance(value, str)]
    if len(some) < 3:
        return ""
    words, different = sum(len(value.split()) for value in some) / len(some), len(set(some)) / len(some)
    long = (words >= 4 and different > 0.5) or (words >= 10 and len(set(some)) > 20)
    among = f" among {len(some)} of them" if len(some) < len(values) else ""
    return f"strings of {words:.0f} words, {different:.0%} different{among}" if long else ""
