"""pandas, polars and Arrow tables as sources, through narwhals and Arrow, without copying where they allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.rows.kinds import infer_kind
from ingenuo.rows.part import Codes, Counts, Numbers, Places, Texts, text_columns
from ingenuo.rows.schema import column_name
from ingenuo.rows.source import SAMPLE, Source, as_number, kind_of_objects
from ingenuo.tally.labels import Labels, encode, from_dictionary, is_missing, objects

# What a column is, and why, as a table from a file says it of its fields.
KIND, WHY = b"ingenuo.kind", b"ingenuo.why"


def described(table: pa.Table, kinds: Mapping[str, tuple[str, str]]) -> pa.Table:
    """The table, whose fields say what each column is and why."""
    fields = [
        field.with_metadata({KIND: kinds[field.name][0].encode(), WHY: kinds[field.name][1].encode()})
        if field.name in kinds
        else field
        for field in table.schema
    ]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields, table.schema.metadata))


class FrameSource(Source):
    """A table whose columns have names and types of their own."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.n_rows = len(frame)
        self.names: Labels = objects(_column_names(frame))
        self._columns = list(frame.iter_columns())  # once: asking for one by its place looks through all the names

    @staticmethod
    def of(X: Any) -> FrameSource | None:
        """The source for any table that narwhals knows; None for anything else."""
        if isinstance(X, pa.RecordBatch):
            X = pa.Table.from_batches([X])
        try:
            frame = nw.from_native(X, eager_only=True)
        except TypeError:
            return None
        except DuplicateError as error:
            raise InputError(
                f"two columns of the table have one name ({' '.join(str(error).split())}); rename one"
            ) from None
        return FrameSource(frame)

    def guess(self, place: int) -> tuple[str, str]:
        """The kind of a column as the table says it, or by its type."""
        if (said := self._said(place)) is not None:
            return said
        name, series = str(column_name(self.names[place])), self._columns[place]
        some = series.head(SAMPLE)
        if some.null_count() == len(some):
            some = series.drop_nulls().head(SAMPLE)
            if not len(some) and some.dtype.is_numeric() and not self.is_whole:
                return "number", "numbers"
        if isinstance(some.dtype, nw.Object | nw.Unknown):
            return kind_of_objects(some.to_list())
        found = infer_kind(name, some.to_arrow())
        return found.kind, found.why

    def _said(self, place: int) -> tuple[str, str] | None:
        """What an Arrow table says of a column, should it say anything."""
        native = nw.to_native(self.frame)
        said = (native.schema.field(place).metadata or {}) if isinstance(native, pa.Table) else {}
        return (said[KIND].decode(), said.get(WHY, b"").decode()) if KIND in said else None

    def numbers(self, places: Places, names: Labels) -> Numbers:
        """The columns as numbers, a piece at a time."""
        columns = [_floats(self._columns[p], name) for p, name in zip(places, names)]
        return Numbers(names, self.n_rows, columns=columns)

    def codes(self, places: Places, names: Labels) -> Codes:
        """The columns as categories."""
        found = [codes_of(self._columns[p], name) for p, name in zip(places, names)]
        return Codes(names, self.n_rows, [codes for codes, _ in found], [labels for _, labels in found])

    def counts(self, places: Places, names: Labels) -> Counts:
        """The columns as counts."""
        return Counts(names, self.n_rows, self.numbers(places, names).rows(0, self.n_rows))

    def texts(self, places: Places, names: Labels) -> Texts:
        """The columns as text: Arrow's as they are, and those of pandas that are Arrow's."""
        return Texts(names, self.n_rows, text_columns(names, [_strings(self._columns[p]) for p in places]))


def _strings(series: nw.Series[Any]) -> Any:
    """A column as Arrow's array, or as a list where pandas holds Python's objects."""
    return series.to_list() if isinstance(series.dtype, nw.Object | nw.Unknown) else series.to_arrow()


def _column_names(frame: nw.DataFrame[Any]) -> list[Any]:
    native = nw.to_native(frame)
    return list(native.columns) if hasattr(native, "iloc") else list(frame.columns)  # pandas' may be numbers


def _floats(series: nw.Series[Any], name: object) -> Callable[[int, int], NDArray[Any]]:
    """Rows lo..hi of a column as doubles, NaN = missing."""
    if series.dtype.is_numeric() or isinstance(series.dtype, nw.Boolean):
        native = nw.to_native(series)
        values = getattr(native, "values", None)
        if isinstance(values, np.ndarray):  # pandas on NumPy: a view
            return lambda lo, hi: values[lo:hi]
        # In the chunks that it has: to put them together first would copy the column, and hold it twice.
        arrow = native if isinstance(native, pa.ChunkedArray) else series.to_arrow()
        whole = arrow if not isinstance(series.dtype, nw.Decimal) else arrow.cast(pa.float64())
        return lambda lo, hi: _doubles(whole.slice(lo, hi - lo))
    numbers = as_number(series.to_list(), name)
    return lambda lo, hi: numbers[lo:hi]


def _doubles(values: Any) -> NDArray[Any]:
    """An Arrow array of numbers as doubles, NaN = missing: a view where it is that."""
    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    if not pa.types.is_float64(values.type):  # to ask for a cast costs 40 µs, even where there is none
        values = values.cast(pa.float64(), safe=False)
    return np.asarray(values.to_numpy(zero_copy_only=False))


def codes_of(series: nw.Series[Any], name: object) -> tuple[NDArray[Any], Labels]:
    """Codes and labels of a column."""
    dtype = series.dtype
    native = nw.to_native(series)
    if isinstance(dtype, nw.Categorical | nw.Enum) and hasattr(native, "cat") and hasattr(native.cat, "categories"):
        return _own_order(native.array.codes, native.cat.categories.to_list())
    holes = dtype.is_integer() and series.null_count() > 0  # as doubles, large integers would lose digits
    if isinstance(dtype, nw.Categorical | nw.Enum | nw.String) or holes:
        return _from_arrow(series.to_arrow())
    values = series.to_numpy() if dtype.is_numeric() or isinstance(dtype, nw.Boolean) else objects(series.to_list())
    try:
        return encode(values)
    except KindError as error:
        raise KindError(f"column {column_name(name)!r}, {error}") from None


def _from_arrow(arrow: Any) -> tuple[NDArray[Any], Labels]:
    """Codes and labels of an Arrow array, by its own dictionary where it has one."""
    if isinstance(arrow, pa.ChunkedArray):
        arrow = arrow.unify_dictionaries().combine_chunks() if arrow.num_chunks != 1 else arrow.chunk(0)
    if not pa.types.is_dictionary(arrow.type):
        arrow = arrow.dictionary_encode()
    indices = arrow.indices
    if pa.types.is_unsigned_integer(indices.type):
        indices = indices.cast(pa.int64())
    if indices.null_count:
        indices = indices.fill_null(-1)
    return _own_order(indices.to_numpy(zero_copy_only=False), arrow.dictionary.to_pylist())


def _own_order(codes: NDArray[Any], values: list[Any]) -> tuple[NDArray[Any], Labels]:
    """Codes as they are, with the dictionary in its own order, unless it has doubles or missing values."""
    labels = objects(values)
    if len(set(values)) == len(values) and not any(map(is_missing, values)):
        return codes, labels
    return from_dictionary(codes, values)
