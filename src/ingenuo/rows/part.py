"""Some rows, encoded by a schema: one block of data for each family, the labels and the weights.

Blocks are views of what came in wherever that is possible; numbers become C-ordered doubles a small piece at
a time, when the loops ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.kernels.codes import count_codes
from ingenuo.kernels.moments import weights_by_cell
from ingenuo.kernels.text import cut_by_bytes, gather_rows
from ingenuo.rows.schema import Reference, column_name
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, is_missing
from ingenuo.tally.tally import Table, Tally
from ingenuo.text.words import Words

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


_PIECE = 1 << 17  # numbers converted at a time


@dataclass(frozen=True)
class Numbers:
    """Columns of numbers, NaN = missing: one matrix, or a function per column that gives rows lo..hi."""

    names: Labels
    n_rows: int
    matrix: NDArray[Any] | None = None
    columns: Sequence[Callable[[int, int], NDArray[Any]]] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.names)

    @property
    def step(self) -> int:
        """How many rows to ask for at a time: all where that costs no copy, else a mebibyte of them."""
        m = self.matrix
        if m is not None and m.dtype == np.float64 and m.flags.c_contiguous:
            return max(self.n_rows, 1)
        return max(512, _PIECE // max(len(self.names), 1) & ~511)

    def rows(self, lo: int, hi: int) -> Floats:
        """Rows lo..hi as C-ordered doubles: a view where the matrix already is that."""
        if self.matrix is not None:
            return np.ascontiguousarray(self.matrix[lo:hi], np.float64)
        block = np.empty((hi - lo, len(self.names)))
        for j, column in enumerate(self.columns):
            block[:, j] = column(lo, hi)
        return block

    def column(self, at: int) -> Floats:
        """All the values of one column."""
        pieces = [self.rows(lo, min(lo + self.step, self.n_rows))[:, at] for lo in range(0, self.n_rows, self.step)]
        return np.concatenate(pieces) if pieces else np.zeros(0)

    def only(self, lo: int, hi: int) -> Numbers:
        """Columns lo..hi: a view."""
        if self.matrix is not None:
            return Numbers(self.names[lo:hi], self.n_rows, self.matrix[:, lo:hi])
        return Numbers(self.names[lo:hi], self.n_rows, columns=self.columns[lo:hi])

    def place(self, row: int, column: int) -> str:
        """How a cell is called in a message."""
        return f"column {column_name(self.names[column])!r}, row {row}"

    def take(self, rows: Places) -> Numbers:
        """Some rows, in any order: a copy."""
        if self.matrix is not None:
            return replace(self, n_rows=len(rows), matrix=self.matrix[rows])
        taken = [np.asarray(column(0, self.n_rows))[rows] for column in self.columns]
        return Numbers(self.names, len(rows), columns=[partial(_between, column) for column in taken])

    def part(self, lo: int, hi: int) -> Numbers:
        """Rows lo..hi: a view."""
        if self.matrix is not None:
            return replace(self, n_rows=hi - lo, matrix=self.matrix[lo:hi])
        return Numbers(self.names, hi - lo, columns=[partial(_shifted, column, lo) for column in self.columns])


def _between(column: NDArray[Any], lo: int, hi: int) -> NDArray[Any]:
    return column[lo:hi]


def _shifted(column: Callable[[int, int], NDArray[Any]], by: int, lo: int, hi: int) -> NDArray[Any]:
    return column(lo + by, hi + by)


@dataclass(frozen=True)
class Codes:
    """Columns of categories as small integers, -1 = missing, and the labels that the codes stand for."""

    names: Labels
    n_rows: int
    columns: Sequence[NDArray[Any]] | NDArray[Any]  # one array a column, or a matrix (rows × columns)
    labels: Sequence[Labels] | None  # unique, in any order; None: codes are their own labels, from 0 on
    holes: bool = True  # whether codes may be missing; where not, one below zero is an error

    def only(self, lo: int, hi: int) -> Codes:
        """Columns lo..hi: a view."""
        own = self.columns
        columns = own[:, lo:hi] if isinstance(own, np.ndarray) else own[lo:hi]
        labels = None if self.labels is None else self.labels[lo:hi]
        return replace(self, names=self.names[lo:hi], columns=columns, labels=labels)

    def take(self, rows: Places) -> Codes:
        """Some rows, in any order: a copy."""
        return self._at(rows, len(rows))

    def part(self, lo: int, hi: int) -> Codes:
        """Rows lo..hi: a view."""
        return self._at(slice(lo, hi), hi - lo)

    def _at(self, rows: Any, n_rows: int) -> Codes:
        own = self.columns
        return replace(
            self, n_rows=n_rows, columns=own[rows] if isinstance(own, np.ndarray) else [each[rows] for each in own]
        )


@dataclass(frozen=True)
class Counts:
    """Columns of counts: a matrix, dense or CSR (data, indices, indptr)."""

    names: Labels
    n_rows: int
    matrix: Any

    def only(self, lo: int, hi: int) -> Counts:
        """Columns lo..hi of a dense matrix: a view."""
        return Counts(self.names[lo:hi], self.n_rows, self.matrix[:, lo:hi])

    @property
    def sparse(self) -> bool:
        """Whether the matrix is CSR."""
        return not isinstance(self.matrix, np.ndarray)

    def take(self, rows: Places) -> Counts:
        """Some rows, in any order: a copy."""
        return replace(self, n_rows=len(rows), matrix=self.matrix[rows])

    def part(self, lo: int, hi: int) -> Counts:
        """Rows lo..hi: a view, where the matrix is no CSR."""
        return replace(self, n_rows=hi - lo, matrix=self.matrix[lo:hi])


class Piece(NamedTuple):
    """Some rows of a text column: row i of them is data[offsets[i]:offsets[i + 1]]."""

    first: int  # its first row
    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    missing: NDArray[np.bool_] | None  # None: no row is

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.offsets) - 1


class Share(NamedTuple):
    """Some rows of a piece, for one thread to read."""

    piece: Piece
    rows: Places | range  # of the piece; those that are missing may be among a range only
    places: slice | Places  # where all the rows of the piece are in the column


Shares = list[Callable[[], Share]]  # which are made when they are asked for, by the thread that reads them


class Text:
    """A column of text, a piece at a time."""

    def __init__(self, name: object, n_rows: int) -> None:
        self.name, self.n_rows = name, n_rows
        self._holes: NDArray[np.bool_] | None = None

    def pieces(self, errors: str = "strict") -> Iterator[Piece]:
        """The rows as UTF-8; bytes that are none raise, or are replaced."""
        holes = np.zeros(self.n_rows, np.bool_)
        for piece in self._read(errors):
            if piece.missing is not None:
                holes[piece.first : piece.first + piece.n_rows] = piece.missing
            yield piece
        self._holes = holes

    def _read(self, errors: str) -> Iterator[Piece]:
        raise NotImplementedError

    def shares(self, errors: str = "strict", labels: NDArray[np.int32] | None = None) -> Iterator[Shares]:
        """The rows in shares of some hundred thousand bytes, a piece after the other.

        With labels, the rows of a piece that are not missing come in the order of their labels.
        """
        for piece in self.pieces(errors):
            places = slice(piece.first, piece.first + piece.n_rows)
            lengths = np.diff(piece.offsets)
            if labels is None:
                ranges = [range(lo, hi) for lo, hi in pairwise(cut_by_bytes(lengths))]
                yield [partial(Share, piece, rows, places) for rows in ranges]
                continue
            order = _by_label(labels[places])
            order = order if piece.missing is None else order[~piece.missing[order]]
            cuts = pairwise(cut_by_bytes(lengths[order]))
            yield [partial(Share, piece, order[lo:hi], places) for lo, hi in cuts]

    def missing(self, errors: str = "strict") -> NDArray[np.bool_]:
        """Which rows have no text at all; known once the column was read."""
        if self._holes is None:
            for _ in self.pieces(errors):
                pass
        assert self._holes is not None
        return self._holes


def _by_label(labels: NDArray[np.int32]) -> Places:
    """The rows in the order of their labels."""
    narrow = labels.astype(np.int16) if labels.max(initial=0) < 1 << 15 else labels  # a radix sort
    return np.argsort(narrow, kind="stable")


class GatheredText(Text):
    """Rows of a column of text that was read already: one piece."""

    def __init__(self, name: object, piece: Piece, holes: NDArray[np.bool_]) -> None:
        super().__init__(name, piece.n_rows)
        self._piece, self._holes = piece, holes

    def _read(self, errors: str) -> Iterator[Piece]:
        yield self._piece

    def part(self, lo: int, hi: int) -> GatheredText:
        """Rows lo..hi: a view."""
        piece = self._piece
        missing = None if piece.missing is None else piece.missing[lo:hi]
        assert self._holes is not None
        return GatheredText(self.name, Piece(0, piece.data, piece.offsets[lo : hi + 1], missing), self._holes[lo:hi])


def _gathered(text: Text, rows: Places, errors: str) -> GatheredText:
    """Some rows of a column of text, in any order: a copy."""
    pieces = list(text.pieces(errors))
    firsts = np.array([piece.first for piece in pieces], np.int64)
    data, offsets = gather_rows([(piece.data, piece.offsets) for piece in pieces], firsts, rows)
    holes = text.missing(errors)[rows]
    return GatheredText(text.name, Piece(0, data, offsets, holes if holes.any() else None), holes)


# Columns of text as UTF-8 bytes and offsets: Arrow's arrays as they are, Python's strings a piece at a time.


# Pieces that are converted, or put together from smaller ones, have about so many bytes.
_TEXT_PIECE = 1 << 25


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
        order = None if labels is None else _by_label(labels)
        self._holes = np.zeros(self.n_rows, np.bool_)  # which the shares fill
        cuts = pairwise(cut_by_bytes(lengths if order is None else lengths[order]))
        yield [partial(self._share, lo, hi, order, errors) for lo, hi in cuts]

    def _share(self, lo: int, hi: int, order: Places | None, errors: str) -> Share:
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

    def _some(self, places: slice | Places) -> Any:
        """A list of these rows."""
        if isinstance(self._values, np.ndarray):
            return self._values[places].tolist()
        return self._values[places] if isinstance(places, slice) else [self._values[row] for row in places.tolist()]

    def _read(self, errors: str) -> Iterator[Piece]:
        """Some rows at a time, by the mean length of the first."""
        first = [len(value) for value in self._values[:100] if isinstance(value, str | bytes)]
        step = max(1, _TEXT_PIECE // (max(sum(first), 1) // max(len(first), 1) + 16))
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
            rows.append(_utf8(value, errors, name, at + row))
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


def _utf8(value: bytes, errors: str, name: object, row: int) -> bytes:
    """Bytes that are UTF-8, with what is none replaced if so asked; else the error says where that is."""
    try:
        return value.decode("utf-8", errors).encode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"column {column_name(name)!r}, row {row}: the byte {value[error.start]:#04x} at offset {error.start} is "
            "not UTF-8; decode the text with its own encoding first, or take Words(errors='replace')"
        ) from None


def _grouped(chunks: list[Any]) -> Iterator[Any]:
    """Chunks of at least a piece's size, as far as putting small ones together goes."""
    import pyarrow as pa

    waiting: list[Any] = []
    size = 0
    for chunk in chunks:
        if chunk.nbytes >= _TEXT_PIECE and not waiting:
            yield chunk
            continue
        waiting.append(chunk)
        size += chunk.nbytes
        if size >= _TEXT_PIECE:
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
        values = enumerate(array.to_pylist(), at)
        return pa.array([None if v is None else _utf8(v, errors, name, row) for row, v in values], pa.large_string())


def is_arrow(values: Any) -> bool:
    """Whether some values are an array of Arrow's."""
    return type(values).__module__.startswith("pyarrow.")


def text_columns(names: Labels, values: list[Any]) -> list[Text]:
    """A text column for each of the values: Arrow arrays, lists or arrays of strings."""
    return [
        ArrowText(name, value) if is_arrow(value) else ListText(name, value)
        for name, value in zip(names.tolist(), values)
    ]


@dataclass(frozen=True)
class Texts:
    """Columns of text."""

    names: Labels
    n_rows: int
    columns: Sequence[Text]
    settings: Sequence[Words] = ()  # how the words of each are counted
    references: Sequence[Reference | None] = ()  # and measured, where that is fixed

    def only(self, lo: int, hi: int) -> Texts:
        """Columns lo..hi."""
        return Texts(self.names[lo:hi], self.n_rows, self.columns[lo:hi], self.settings[lo:hi], self.references[lo:hi])

    def take(self, rows: Places) -> Texts:
        """Some rows, in any order: a copy."""
        taken = [_gathered(text, rows, words.errors) for text, words in zip(self.columns, self.settings)]
        return replace(self, n_rows=len(rows), columns=taken)

    def part(self, lo: int, hi: int) -> Texts:
        """Rows lo..hi: a view, of rows that were taken."""
        columns = [
            text.part(lo, hi) if isinstance(text, GatheredText) else _gathered(text, np.arange(lo, hi), words.errors)
            for text, words in zip(self.columns, self.settings)
        ]
        return replace(self, n_rows=hi - lo, columns=columns)


Block = Numbers | Codes | Counts | Texts


@dataclass(frozen=True)
class Chunk:
    """Some rows: a block for each family, with labels and weights when they are for learning."""

    n_rows: int
    blocks: Mapping[str, Block]
    labels: NDArray[np.int32] | None = None  # places in classes
    classes: Labels = field(default_factory=lambda: np.zeros(0, np.int64))
    weights: Floats | None = None

    @property
    def coded(self) -> NDArray[np.int32]:
        """The labels of rows that are for learning."""
        assert self.labels is not None, "this chunk has no labels"
        return self.labels

    @cached_property
    def rows_by_class(self) -> NDArray[np.int64]:
        """How many rows each class has."""
        return count_codes(self.coded, len(self.classes))

    def count_classes(self) -> Tally:
        """How many rows (or how much weight) each class has."""
        if self.weights is None:
            counts = Exact.counts(self.rows_by_class)
        else:
            counts = weights_by_cell(self.weights, self.coded.astype(np.int64), len(self.classes))
        return Tally({"class": Table.of({"class": self.classes}, counts)})

    def take(self, rows: Places) -> Chunk:
        """Some rows, in any order: a copy; all the classes stay known."""
        return Chunk(
            len(rows),
            {name: block.take(rows) for name, block in self.blocks.items()},
            None if self.labels is None else self.labels[rows],
            self.classes,
            None if self.weights is None else self.weights[rows],
        )

    def part(self, lo: int, hi: int) -> Chunk:
        """Rows lo..hi: views."""
        return Chunk(
            hi - lo,
            {name: block.part(lo, hi) for name, block in self.blocks.items()},
            None if self.labels is None else self.labels[lo:hi],
            self.classes,
            None if self.weights is None else self.weights[lo:hi],
        )
