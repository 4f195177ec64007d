"""Arrays, CSR matrices and lists of texts as sources, without copying them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.kernels.codes import NUMBERED_UP_TO
from ingenuo.kernels.text import cuts_by_bytes
from ingenuo.rows.objects import SAMPLE, kind_of_objects
from ingenuo.rows.part import Codes, Counts, Numbers, Piece, Share, Shares, Text, Texts, by_label
from ingenuo.rows.schema import column_name
from ingenuo.rows.source import Places, as_number
from ingenuo.tally.labels import Labels, encode, is_missing, objects

_FIRST = 100


def _select(matrix: Any, places: Places) -> Any:
    """The columns at the places: a view when they are all, or stand side by side."""
    n = matrix.shape[1]
    if len(places) == n and np.array_equal(places, np.arange(n)):
        return matrix
    if len(places) and np.array_equal(places, np.arange(places[0], places[0] + len(places))):
        return matrix[:, places[0] : places[0] + len(places)]
    return matrix[:, places]


class ArraySource:
    """A two-dimensional array of numbers, booleans, strings or objects."""

    anonymous = is_whole = False

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
        return Texts(names, self.n_rows, columns(names, [self.array[:, place] for place in places]))


def _dense_column(matrix: Any, j: int, lo: int, hi: int) -> NDArray[Any]:
    return np.asarray(matrix[lo:hi, [j]].toarray()[:, 0])


class SparseSource:
    """A CSR matrix: every column is a count unless it is declared to be something else."""

    anonymous = is_whole = False

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.n_rows = matrix.shape[0]
        self.names: Labels = np.arange(matrix.shape[1])

    def uniform(self) -> tuple[str, str]:
        """Counts."""
        return "count", "a sparse matrix"

    def guess(self, place: int) -> tuple[str, str]:
        """Counts."""
        return self.uniform()

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


# Columns of text as UTF-8 bytes and offsets: Arrow's arrays as they are, Python's strings a piece at a time.


# Pieces that are converted, or put together from smaller ones, have about so many bytes.
_PIECE = 1 << 25

_REMEDY = "decode the text with its own encoding first, or take Words(errors='replace')"


class ArrowText(Text):
    """A column of Arrow's, which is not copied unless it comes in many small chunks."""

    def __init__(self, name: object, column: Any) -> None:
        chunks = getattr(column, "chunks", None)
        chunks = [column] if chunks is None else chunks
        super().__init__(name, sum(len(chunk) for chunk in chunks))
        self._chunks = [chunk for chunk in chunks if len(chunk)]

    def _read(self, errors: str) -> Iterator[Piece]:
        """The chunks, small ones put together."""
        at = 0
        for chunk in _grouped(self._chunks):
            yield _piece(chunk, at, self.name, errors)
            at += len(chunk)


class ListText(Text):
    """A list, or an array, of Python strings (or bytes)."""

    def __init__(self, name: object, values: Any) -> None:
        super().__init__(name, len(values))
        self._values = values

    def shares(self, errors: str = "strict", labels: NDArray[np.int32] | None = None) -> Iterator[Shares]:
        """The rows in shares, each of which is encoded by the thread that reads it."""
        try:
            lengths = np.fromiter(map(len, self._values), np.int64, self.n_rows)
        except TypeError:  # what is missing has no length
            lengths = np.array([len(value) if isinstance(value, str | bytes) else 0 for value in self._values])
        order = None if labels is None else by_label(labels)
        self._holes = np.zeros(self.n_rows, np.bool_)  # which the shares fill
        cuts = pairwise(cuts_by_bytes(lengths if order is None else lengths[order]))
        yield [partial(self._share, lo, hi, order, errors) for lo, hi in cuts]

    def _share(self, lo: int, hi: int, order: NDArray[np.intp] | None, errors: str) -> Share:
        places = slice(lo, hi) if order is None else order[lo:hi]
        try:
            piece = _encoded(self._some(places), lo, self.name, errors)
        except (InputError, KindError):
            for _ in self._read(errors):  # the first row that is no text is the one to name
                pass
            raise
        if piece.missing is None:
            return Share(piece, range(hi - lo) if order is None else np.arange(hi - lo), places)
        assert self._holes is not None
        self._holes[places] = piece.missing
        return Share(piece, range(hi - lo) if order is None else np.flatnonzero(~piece.missing), places)

    def _some(self, places: slice | NDArray[np.intp]) -> Any:
        """A list of these rows."""
        if isinstance(self._values, np.ndarray):
            return self._values[places].tolist()
        return self._values[places] if isinstance(places, slice) else [self._values[row] for row in places.tolist()]

    def _read(self, errors: str) -> Iterator[Piece]:
        """Some rows at a time, by the mean length of the first."""
        first = [len(value) for value in self._values[:100] if isinstance(value, str | bytes)]
        step = max(1, _PIECE // (max(sum(first), 1) // max(len(first), 1) + 16))
        for at in range(0, self.n_rows, step):
            yield _encoded(self._some(slice(at, at + step)), at, self.name, errors)


def _encoded(values: Any, at: int, name: object, errors: str) -> Piece:
    """Strings (or bytes) as UTF-8; what is neither is an error that names it."""
    if set(map(type, values)) == {str}:
        joined = "".join(values)
        if joined.isascii():
            return _joined(at, joined.encode(), map(len, values), len(values))
        with suppress(UnicodeEncodeError):
            encoded = [value.encode() for value in values]
            return _joined(at, b"".join(encoded), map(len, encoded), len(encoded))
    rows: list[bytes | None] = []
    for row, value in enumerate(values):
        if isinstance(value, str):
            try:
                rows.append(value.encode())
            except UnicodeEncodeError as error:
                if errors == "strict":
                    raise InputError(
                        f"column {column_name(name)!r}, row {at + row}: character {error.start} is half of a pair "
                        f"({value[error.start]!r}), which no text has; mend it, or take Words(errors='replace')"
                    ) from None
                rows.append(value.encode("utf-8", "replace"))
        elif isinstance(value, bytes):
            rows.append(_utf8(value, errors, f"column {column_name(name)!r}, row {at + row}", _REMEDY))
        elif is_missing(value):
            rows.append(None)
        else:
            raise KindError(
                f"column {column_name(name)!r} has a {type(value).__name__} in row {at + row} ({value!r}) where text "
                "is expected; turn it into a string, or declare the column as something else"
            )
    missing = np.fromiter((row is None for row in rows), np.bool_, len(rows))
    known = [row or b"" for row in rows]
    return _joined(at, b"".join(known), map(len, known), len(known), missing if missing.any() else None)


def _joined(at: int, data: bytes, lengths: Iterable[int], n: int, missing: NDArray[np.bool_] | None = None) -> Piece:
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, n), out=offsets[1:])
    return Piece(at, np.frombuffer(data or b"\0", np.uint8), offsets, missing)


def _utf8(value: bytes, errors: str, place: str, remedy: str) -> bytes:
    """Bytes that are UTF-8, mended if so asked; else the error says where they are none."""
    try:
        return value.decode("utf-8", errors).encode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{place}: the byte {value[error.start]:#04x} at offset {error.start} is not UTF-8; {remedy}"
        ) from None


def _grouped(chunks: list[Any]) -> Iterator[Any]:
    """Chunks of at least a piece's size, as far as putting small ones together goes."""
    import pyarrow as pa

    waiting: list[Any] = []
    size = 0
    for chunk in chunks:
        if chunk.nbytes >= _PIECE and not waiting:
            yield chunk
            continue
        waiting.append(chunk)
        size += chunk.nbytes
        if size >= _PIECE:
            yield pa.concat_arrays(waiting)
            waiting, size = [], 0
    if waiting:
        yield pa.concat_arrays(waiting) if len(waiting) > 1 else waiting[0]


def _piece(array: Any, at: int, name: object, errors: str) -> Piece:
    """The bytes, offsets and missing rows of an Arrow array."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    if pa.types.is_null(kind):
        array, kind = array.cast(pa.large_string()), pa.large_string()
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        array = _decoded(array, at, name, errors)
    elif not pa.types.is_large_string(kind) and not pa.types.is_string(kind):
        if str(kind) != "string_view":
            value = next((v for v in array if v.is_valid), None)
            raise KindError(
                f"column {column_name(name)!r} holds {kind} values (such as {value}) where text is expected; turn them "
                "into strings, or declare the column as something else"
            )
        array = array.cast(pa.large_string())
    wide = pa.types.is_large_string(array.type)
    _, offsets, data = array.buffers()
    n = len(array)
    bounds: NDArray[Any]
    if n == 0 or offsets is None:
        bounds = np.zeros(n + 1, np.int64)
    else:
        bounds = np.frombuffer(offsets, np.int64 if wide else np.int32)[array.offset : array.offset + n + 1]
    buffer = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    missing: NDArray[np.bool_] | None = None
    if array.null_count:
        missing = array.is_null().to_numpy(zero_copy_only=False)
    return Piece(at, buffer, bounds.astype(np.int64, copy=False), missing)


def _decoded(array: Any, at: int, name: object, errors: str) -> Any:
    """Bytes as text; the first that are none are an error, or replaced."""
    import pyarrow as pa

    try:
        return array.cast(pa.large_string())
    except pa.ArrowInvalid:
        return decode(array, errors, lambda row: f"column {column_name(name)!r}, row {at + row}", _REMEDY)


def decode(values: Any, errors: str, place: Callable[[int], str], remedy: str) -> Any:
    """Bytes as text, one by one; the error says where those are that are no text."""
    import pyarrow as pa

    rows = [
        None if value is None else _utf8(value, errors, place(row), remedy)
        for row, value in enumerate(values.to_pylist())
    ]
    return pa.array(rows, pa.large_string())


class TextSource:
    """A list, an array or a series of texts: a table of one column."""

    anonymous, is_whole = True, False

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

    def guess(self, place: int) -> tuple[str, str]:
        """Text."""
        return self.uniform()

    def texts(self, places: Any, names: Labels) -> Texts:
        """The one column."""
        return Texts(names, self.n_rows, columns(names, [self.values]))

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


def is_arrow(values: Any) -> bool:
    """Whether some values are an array of Arrow's."""
    return type(values).__module__.startswith("pyarrow.")


def columns(names: Labels, values: list[Any]) -> list[Text]:
    """A text column for each of the values: Arrow arrays, lists or arrays of strings."""
    return [
        ArrowText(name, value) if is_arrow(value) else ListText(name, value)
        for name, value in zip(names.tolist(), values)
    ]
