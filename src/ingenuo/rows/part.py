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
from ingenuo.kernels.threads import over
from ingenuo.rows.schema import Reference, column_name
from ingenuo.tally.exact import Exact
from ingenuo.tally.fingerprints import NAME as FINGERPRINTS
from ingenuo.tally.fingerprints import Fingerprints, Hasher
from ingenuo.tally.labels import Labels, encode, is_missing, objects
from ingenuo.tally.tally import Table, Tally
from ingenuo.text.tokens import cut
from ingenuo.text.words import Words

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Column = Callable[[int, int], NDArray[Any]]  # which gives rows lo..hi

_PIECE = 1 << 17  # numbers converted at a time
_HASHED = 1 << 11  # rows whose numbers are hashed at a time


@dataclass(frozen=True)
class _Columns:
    """Columns of one sort, by name."""

    names: Labels
    n_rows: int

    def take(self, rows: Places) -> Any:
        """Some rows, in any order: a copy."""
        return self._at(rows, len(rows))

    def part(self, lo: int, hi: int) -> Any:
        """Rows lo..hi: a view, but of a CSR matrix."""
        return self._at(slice(lo, hi), hi - lo)

    def _at(self, rows: Any, n_rows: int) -> Any:
        raise NotImplementedError

    def hash_rows(self, hasher: Hasher) -> NDArray[np.uint64]:
        """Two words for each row, which are added to those of its other columns."""
        raise NotImplementedError


@dataclass(frozen=True)
class Numbers(_Columns):
    """Columns of numbers, NaN = missing: one matrix, or a function per column that gives rows lo..hi."""

    matrix: NDArray[Any] | None = None
    columns: Sequence[Column] = ()

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
        """All the values of one column, of which the others need not be read."""
        if self.matrix is not None:
            return np.array(self.matrix[:, at], np.float64)
        if self.columns:
            return np.array(self.columns[at](0, self.n_rows), np.float64)
        pieces = [self.rows(lo, min(lo + self.step, self.n_rows))[:, at] for lo in range(0, self.n_rows, self.step)]
        return np.concatenate(pieces) if pieces else np.zeros(0)

    def coded(self, at: int) -> tuple[NDArray[Any], Labels]:
        """One column as codes, -1 = missing, and the numbers that they stand for: whole ones as integers."""
        codes, numbers = encode(self.column(at))
        return codes, objects([int(x) if x.is_integer() else x for x in numbers.tolist()])

    def only(self, lo: int, hi: int) -> Numbers:
        """Columns lo..hi: a view."""
        matrix = None if self.matrix is None else self.matrix[:, lo:hi]
        return Numbers(self.names[lo:hi], self.n_rows, matrix, self.columns[lo:hi])

    def place(self, row: int, column: int) -> str:
        """How a cell is called in a message."""
        return f"column {column_name(self.names[column])!r}, row {row}"

    def _at(self, rows: Any, n_rows: int) -> Numbers:
        matrix = None if self.matrix is None else self.matrix[rows]
        if isinstance(rows, slice):
            columns: list[Column] = [partial(_shift, column, rows.start) for column in self.columns]
        else:
            columns = [partial(_slice, np.asarray(column(0, self.n_rows))[rows]) for column in self.columns]
        return Numbers(self.names, n_rows, matrix, columns)

    def hash_rows(self, hasher: Hasher) -> NDArray[np.uint64]:
        """Of the numbers as doubles."""
        return _hash_numbers(self.rows, self.n_rows, partial(hasher.numbers, factors=hasher.factors(self.names)))


def _hash_numbers(
    rows: Callable[[int, int], Floats], n: int, hash_block: Callable[[Floats], NDArray[np.uint64]]
) -> NDArray[np.uint64]:
    found = np.empty((n, 2), np.uint64)

    def work(lo: int, hi: int) -> None:
        for at in range(lo, hi, _HASHED):
            end = min(at + _HASHED, hi)
            found[at:end] = hash_block(rows(at, end))

    over(n, work, 16 * _HASHED)
    return found


def _slice(column: NDArray[Any], lo: int, hi: int) -> NDArray[Any]:
    return column[lo:hi]


def _shift(column: Column, by: int, lo: int, hi: int) -> NDArray[Any]:
    return column(lo + by, hi + by)


@dataclass(frozen=True)
class Codes(_Columns):
    """Columns of categories as small integers, -1 = missing, and the labels that the codes stand for."""

    columns: Sequence[NDArray[Any]] | NDArray[Any]  # one array a column, or a matrix (rows × columns)
    labels: Sequence[Labels] | None  # unique, in any order; None: codes are their own labels, from 0 on
    may_be_missing: bool = True  # where not, a code below zero is an error

    def coded(self, at: int) -> tuple[NDArray[Any], Labels]:
        """The codes of one column, and what they stand for."""
        codes = self.columns[:, at] if isinstance(self.columns, np.ndarray) else self.columns[at]
        return encode(np.ascontiguousarray(codes)) if self.labels is None else (codes, self.labels[at])

    def only(self, lo: int, hi: int) -> Codes:
        """Columns lo..hi: a view."""
        own = self.columns
        columns = own[:, lo:hi] if isinstance(own, np.ndarray) else own[lo:hi]
        labels = None if self.labels is None else self.labels[lo:hi]
        return replace(self, names=self.names[lo:hi], columns=columns, labels=labels)

    def _at(self, rows: Any, n_rows: int) -> Codes:
        own = self.columns
        columns = own[rows] if isinstance(own, np.ndarray) else [each[rows] for each in own]
        return replace(self, n_rows=n_rows, columns=columns)

    def hash_rows(self, hasher: Hasher) -> NDArray[np.uint64]:
        """Of the labels, whatever their codes are."""
        found = np.zeros((self.n_rows, 2), np.uint64)
        for at, name in enumerate(self.names.tolist()):
            codes = self.columns[:, at] if isinstance(self.columns, np.ndarray) else self.columns[at]
            labels = np.arange(int(codes.max(initial=-1)) + 1) if self.labels is None else self.labels[at]
            found += hasher.labels(name, labels)[np.maximum(np.asarray(codes, np.intp), -1)]
        return found


@dataclass(frozen=True)
class Counts(_Columns):
    """Columns of counts: a matrix, dense or CSR (data, indices, indptr)."""

    matrix: Any

    @property
    def sparse(self) -> bool:
        """Whether the matrix is CSR."""
        return not isinstance(self.matrix, np.ndarray)

    def only(self, lo: int, hi: int) -> Counts:
        """Columns lo..hi of a dense matrix: a view."""
        return Counts(self.names[lo:hi], self.n_rows, self.matrix[:, lo:hi])

    def _at(self, rows: Any, n_rows: int) -> Counts:
        return Counts(self.names, n_rows, self.matrix[rows])

    def hash_rows(self, hasher: Hasher) -> NDArray[np.uint64]:
        """Of the counts that are not zero, so that a sparse matrix is as a dense one."""
        factors = hasher.factors(self.names)
        if not self.sparse:
            hash_block = partial(hasher.numbers, factors=factors, zero=True)
            return _hash_numbers(lambda lo, hi: self.matrix[lo:hi].astype(np.float64), self.n_rows, hash_block)
        matrix = self.matrix
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        totals = np.zeros((len(matrix.data) + 1, 2), np.uint64)
        np.cumsum(hasher.entries(matrix.data, factors[matrix.indices]), axis=0, out=totals[1:])
        found: NDArray[np.uint64] = totals[matrix.indptr[1:]] - totals[matrix.indptr[:-1]]
        return found


# Columns of text as UTF-8 bytes and offsets: Arrow's arrays as they are, Python's strings a piece at a time.

_TEXT_PIECE = 1 << 25  # bytes of pieces that are converted, or put together from smaller ones


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


Shares = list[Callable[[], Share]]  # each is made by the thread that reads them


class Text:
    """A column of text, a piece at a time."""

    def __init__(self, name: object, n_rows: int) -> None:
        self.name, self.n_rows = name, n_rows
        self._missing: NDArray[np.bool_] | None = None

    def _read(self, errors: str) -> Iterator[Piece]:
        raise NotImplementedError

    def pieces(self, errors: str = "strict") -> Iterator[Piece]:
        """The rows as UTF-8; bytes that are none raise, or are replaced."""
        missing = np.zeros(self.n_rows, np.bool_)
        for piece in self._read(errors):
            if piece.missing is not None:
                missing[piece.first : piece.first + piece.n_rows] = piece.missing
            yield piece
        self._missing = missing

    def cut(self, words: Words) -> Iterator[Piece]:
        """The rows as the loops read them: as they are or, where these cannot find such words, cut into them."""
        return (_cut(piece, words, self.name) for piece in self.pieces(words.errors))

    def shares(self, words: Words, labels: NDArray[np.int32] | None = None) -> Iterator[Shares]:
        """The rows as the loops read them, in shares of some hundred thousand bytes, a piece after the other.

        With labels, the rows of a piece that are not missing come in the order of their labels.
        """
        for piece in self.cut(words):
            places, lengths = slice(piece.first, piece.first + piece.n_rows), np.diff(piece.offsets)
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
        if self._missing is None:
            for _ in self.pieces(errors):
                pass
        assert self._missing is not None
        return self._missing

    def take(self, rows: Places, errors: str) -> Text:
        """Some rows, in any order: a copy."""
        pieces = list(self.pieces(errors))
        firsts = np.array([piece.first for piece in pieces], np.int64)
        data, offsets = gather_rows([(piece.data, piece.offsets) for piece in pieces], firsts, rows)
        missing = self.missing(errors)[rows]
        return _PieceText(self.name, Piece(0, data, offsets, missing if missing.any() else None))

    def part(self, lo: int, hi: int, errors: str) -> Text:
        """Rows lo..hi."""
        return self.take(np.arange(lo, hi), errors)


def _by_label(labels: NDArray[np.int32]) -> Places:
    """The rows in the order of their labels."""
    narrow = labels.astype(np.int16) if labels.max(initial=0) < 1 << 15 else labels  # a radix sort
    return np.argsort(narrow, kind="stable")


class _PieceText(Text):
    """Rows of a column of text that was read already: one piece."""

    def __init__(self, name: object, piece: Piece) -> None:
        super().__init__(name, piece.n_rows)
        self._piece = piece

    def _read(self, errors: str) -> Iterator[Piece]:
        yield self._piece

    def part(self, lo: int, hi: int, errors: str) -> Text:
        """Rows lo..hi: a view."""
        _, data, offsets, missing = self._piece
        return _PieceText(self.name, Piece(0, data, offsets[lo : hi + 1], None if missing is None else missing[lo:hi]))


class ArrowText(Text):
    """A column of Arrow's, which is not copied unless it comes in many small chunks."""

    def __init__(self, name: object, column: Any) -> None:
        chunks = getattr(column, "chunks", [column])
        super().__init__(name, sum(len(chunk) for chunk in chunks))
        self._chunks = [chunk for chunk in chunks if len(chunk)]

    def _read(self, errors: str) -> Iterator[Piece]:
        """The chunks, small ones put together."""
        import pyarrow as pa

        at, waiting = 0, list[Any]()
        for number, chunk in enumerate(self._chunks, 1):
            waiting.append(chunk)
            if sum(each.nbytes for each in waiting) >= _TEXT_PIECE or number == len(self._chunks):
                joined = pa.concat_arrays(waiting) if len(waiting) > 1 else chunk
                yield _arrow_piece(joined, at, self.name, errors)
                at, waiting = at + len(joined), []


class ListText(Text):
    """A list, or an array, of Python strings (or bytes)."""

    def __init__(self, name: object, values: Any) -> None:
        super().__init__(name, len(values))
        self._values = values

    def shares(self, words: Words, labels: NDArray[np.int32] | None = None) -> Iterator[Shares]:
        """The rows in shares, each of which is encoded by the thread that reads it."""
        try:
            lengths = np.fromiter(map(len, self._values), np.int64, self.n_rows)
        except TypeError:  # what is missing has no length
            lengths = np.array([len(value) if isinstance(value, str | bytes) else 0 for value in self._values])
        order = None if labels is None else _by_label(labels)
        self._missing = np.zeros(self.n_rows, np.bool_)  # which the shares fill
        cuts = pairwise(cut_by_bytes(lengths if order is None else lengths[order]))
        yield [partial(self._share, lo, hi, order, words) for lo, hi in cuts]

    def _share(self, lo: int, hi: int, order: Places | None, words: Words) -> Share:
        places = slice(lo, hi) if order is None else order[lo:hi]
        try:
            piece = _cut(_encode(self._some(places), lo, self.name, words.errors), words, self.name)
        except (InputError, KindError):
            for _ in self.cut(words):  # the first row that is no text is the one to name
                pass
            raise
        if piece.missing is not None:
            assert self._missing is not None
            self._missing[places] = piece.missing
        if order is None:
            return Share(piece, range(hi - lo), places)
        return Share(piece, np.arange(hi - lo) if piece.missing is None else np.flatnonzero(~piece.missing), places)

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
            yield _encode(self._some(slice(at, at + step)), at, self.name, errors)


def _encode(values: Any, at: int, name: object, errors: str) -> Piece:
    """Strings (or bytes) as UTF-8; what is neither is an error that names it."""
    if set(map(type, values)) == {str}:
        joined = "".join(values)
        if joined.isascii():
            return _join(at, joined.encode(), map(len, values), len(values))
        with suppress(UnicodeEncodeError):
            encoded = [value.encode() for value in values]
            return _join(at, b"".join(encoded), map(len, encoded), len(encoded))
    rows = [_encode_row(value, f"column {column_name(name)!r}", at + i, errors) for i, value in enumerate(values)]
    missing = np.array([row is None for row in rows], np.bool_)
    known = [row or b"" for row in rows]
    return _join(at, b"".join(known), map(len, known), len(known), missing if missing.any() else None)


def _cut(piece: Piece, words: Words, name: object) -> Piece:
    """A piece with its words cut, unless the loops themselves find such words."""
    if words.shortest:
        return piece
    data, bounds, rows = bytes(piece.data), piece.offsets.tolist(), list[bytes]()
    for row, (a, b) in enumerate(pairwise(bounds), piece.first):
        try:
            rows.append(cut(data[a:b].decode(), words).encode())
        except InputError as error:
            raise InputError(f"column {column_name(name)!r}, row {row}: {error}") from None
    return _join(piece.first, b"".join(rows), map(len, rows), len(rows), piece.missing)


def _encode_row(value: Any, column: str, row: int, errors: str) -> bytes | None:
    """A text as UTF-8, with what is none replaced if that is wanted; None where it is missing."""
    try:
        if isinstance(value, str):
            return value.encode("utf-8", errors)
        if isinstance(value, bytes):
            return value.decode("utf-8", errors).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{column}, row {row}: character {error.start} is half of a pair ({value[error.start]!r}), which no text "
            "has; mend it, or take Words(errors='replace')"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{column}, row {row}: the byte {value[error.start]:#04x} at offset {error.start} is not UTF-8; decode the "
            "text with its own encoding first, or take Words(errors='replace')"
        ) from None
    if is_missing(value):
        return None
    raise KindError(
        f"{column} has a {type(value).__name__} in row {row} ({value!r}) where text is expected; turn it into a "
        "string, or declare the column as something else"
    )


def _join(at: int, data: bytes, lengths: Iterable[int], n: int, missing: NDArray[np.bool_] | None = None) -> Piece:
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, n), out=offsets[1:])
    return Piece(at, np.frombuffer(data or b"\0", np.uint8), offsets, missing)


def _arrow_piece(array: Any, at: int, name: object, errors: str) -> Piece:
    """The bytes, offsets and missing rows of an Arrow array."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if not pa.types.is_large_string(kind) and not pa.types.is_string(kind):
        if "binary" not in str(kind) and str(kind) not in ("null", "string_view"):
            value = next((v for v in array if v.is_valid), None)
            raise KindError(
                f"column {column_name(name)!r} holds {kind} values (such as {value}) where text is expected; turn them "
                "into strings, or declare the column as something else"
            )
        try:
            array = array.cast(pa.large_string())
        except pa.ArrowInvalid:  # bytes that are not UTF-8
            column = f"column {column_name(name)!r}"
            rows = [_encode_row(value, column, row, errors) for row, value in enumerate(array.to_pylist(), at)]
            array = pa.array(rows, pa.large_binary()).cast(pa.large_string())
    _, offsets, data = array.buffers()
    n, width = len(array), np.int64 if pa.types.is_large_string(array.type) else np.int32
    bounds: NDArray[Any] = np.zeros(n + 1, np.int64)
    if n and offsets is not None:
        bounds = np.frombuffer(offsets, width)[array.offset : array.offset + n + 1].astype(np.int64, copy=False)
    buffer = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    if len(bounds) != n + 1 or bounds[0] < 0 or bounds[-1] > len(buffer) or np.any(bounds[1:] < bounds[:-1]):
        raise InputError(f"column {column_name(name)!r}: the Arrow array is damaged: its offsets do not fit its bytes")
    return Piece(at, buffer, bounds, np.asarray(array.is_null()) if array.null_count else None)


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
class Texts(_Columns):
    """Columns of text."""

    columns: Sequence[Text]
    settings: Sequence[Words] = ()  # how the words of each are counted
    references: Sequence[Reference | None] = ()  # and measured, where that is fixed

    def only(self, lo: int, hi: int) -> Texts:
        """Columns lo..hi."""
        return Texts(self.names[lo:hi], self.n_rows, self.columns[lo:hi], self.settings[lo:hi], self.references[lo:hi])

    def _at(self, rows: Any, n_rows: int) -> Texts:
        columns = [
            text.part(rows.start, rows.stop, words.errors) if isinstance(rows, slice) else text.take(rows, words.errors)
            for text, words in zip(self.columns, self.settings)
        ]
        return replace(self, n_rows=n_rows, columns=columns)

    def hash_rows(self, hasher: Hasher) -> NDArray[np.uint64]:
        """Of the texts as they are, whichever words count."""
        found = np.zeros((self.n_rows, 2), np.uint64)
        for text, words in zip(self.columns, self.settings):
            for piece in text.pieces(words.errors):
                data, bounds = piece.data.data, pairwise(piece.offsets.tolist())
                own = hasher.texts(text.name, (data[lo:hi] for lo, hi in bounds))
                if piece.missing is not None:
                    own[piece.missing] = 0
                found[piece.first : piece.first + piece.n_rows] += own
        return found


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

    def hash_rows(self, hasher: Hasher) -> NDArray[np.uint64]:
        """The fingerprint of each row with its class."""
        words = hasher.labels(None, self.classes)[self.coded]  # no column has this name
        for block in self.blocks.values():
            words += block.hash_rows(hasher)
        return hasher.finish(words)

    def count_rows(self, hasher: Hasher) -> Tally:
        """The bag of the rows' fingerprints."""
        return Tally({FINGERPRINTS: Fingerprints.of(hasher.salt, self.hash_rows(hasher), self.weights)})

    def take(self, rows: Places) -> Chunk:
        """Some rows, in any order: a copy; all the classes stay known."""
        return self._at(rows, len(rows), {name: block.take(rows) for name, block in self.blocks.items()})

    def part(self, lo: int, hi: int) -> Chunk:
        """Rows lo..hi: views."""
        return self._at(slice(lo, hi), hi - lo, {name: block.part(lo, hi) for name, block in self.blocks.items()})

    def _at(self, rows: Any, n_rows: int, blocks: Mapping[str, Block]) -> Chunk:
        labels, weights = (None if own is None else own[rows] for own in (self.labels, self.weights))
        return replace(self, n_rows=n_rows, blocks=blocks, labels=labels, weights=weights)
