"""Fingerprints of rows: a bag of salted 128-bit hashes, by which a tally knows the rows that were added to it.

Each cell of a row has two words of 64 bits, made of the salt, the name of its column and its value. The words of a
row's cells and of its class are added up, so the order of the columns does not matter, and what is missing adds
nothing. SipHash-2-4, keyed by the salt, makes the fingerprint of the two sums. It depends on the encoded row alone:
an array, a frame, a file and a partition of an engine give the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, MergeError
from ingenuo.kernels.moments import weights_by_cell
from ingenuo.kernels.threads import over
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, spelled_value
from ingenuo.tally.tally import AnyTable, Sums

NAME = "fingerprints"  # of the table in a tally

Words = NDArray[np.uint64]  # pairs: (n, 2)
_MISSING = np.array(np.nan).view(np.uint64)
_ROWS = 1 << 13  # hashed at a time, so that they stay in the cache
_ROWS_PER_THREAD = 1 << 15
_MOST = 1000  # rows that cannot be taken away, among which the first is looked for


def salt_of(given: bool | str) -> bytes:
    """The key of 128 bits that a salt stands for; `True` is the salt that all share who give none."""
    return blake2b(b"" if given is True else str(given).encode(), digest_size=16, person=b"ingenuo salt").digest()


def canonical_bytes(value: Any) -> bytes:
    """A label as bytes: the same for labels that are equal, such as 1, 1.0 and True, and for what spells them."""
    if isinstance(value, np.generic):
        value = value.item()
    value = spelled_value(value) if isinstance(value, str) else value
    value = spelled_value(value) if isinstance(value, str) else value  # "True" meets True
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, int | float):
        return b"n" + (str(int(value)) if value == value // 1 else repr(value)).encode()
    if isinstance(value, tuple | frozenset):
        parts = [canonical_bytes(each) for each in value]
        kind, parts = (b"f", sorted(parts)) if isinstance(value, frozenset) else (b"t", parts)
        return kind + b"".join(len(each).to_bytes(8, "little") + each for each in parts)
    return f"{type(value).__name__} {value!r}".encode("utf-8", "surrogatepass")


class Hasher:
    """What turns the cells of rows into words, by a salt."""

    def __init__(self, salt: bytes) -> None:
        self.salt = salt

    def column(self, name: object) -> Callable[[bytes], bytes]:
        """What gives the two words of a value, as bytes, of a column."""
        begun = blake2b(key=self.salt, digest_size=16)
        own = canonical_bytes(name)
        begun.update(len(own).to_bytes(8, "little") + own)

        def digest(value: bytes) -> bytes:
            hashed = begun.copy()
            hashed.update(value)
            return hashed.digest()

        return digest

    def labels(self, name: object, labels: Labels) -> Words:
        """The words of each label of a column, and behind them nothing, for code -1."""
        digest = self.column(name)
        return _words([*(digest(canonical_bytes(label)) for label in labels.tolist()), bytes(16)])

    def texts(self, name: object, texts: Iterable[Any]) -> Words:
        """The words of each text of a column, given as bytes."""
        return _words(list(map(self.column(name), texts)))

    def factors(self, names: Labels) -> Words:
        """By what the numbers of each column are multiplied: odd, so that no number is lost."""
        return _words([self.column(name)(b"number") for name in names.tolist()]) | np.uint64(1)

    def numbers(self, block: NDArray[np.float64], factors: Words, *, zero: bool = False) -> Words:
        """The sums of the words of numbers, rows × columns; what adds nothing is NaN, or, if so wanted, zero."""
        bits = (block + 0.0).view(np.uint64)  # without the sign of zero
        if not zero:
            bits[np.isnan(block)] = _MISSING
            bits ^= _MISSING
        return _stir(bits) @ factors

    def entries(self, values: NDArray[Any], factors: Words) -> Words:
        """The words of numbers one by one, each with the factors of its column; zero adds nothing."""
        return _stir((values.astype(np.float64) + 0.0).view(np.uint64))[:, np.newaxis] * factors

    def finish(self, sums: Words) -> Words:
        """The fingerprints of rows whose words were added up."""
        found = np.empty_like(sums)

        def work(lo: int, hi: int) -> None:
            for at in range(lo, hi, _ROWS):
                part = slice(at, min(at + _ROWS, hi))
                found[part, 0], found[part, 1] = _siphash(self.salt, sums[part, 0], sums[part, 1])

        over(len(sums), work, _ROWS_PER_THREAD)
        return found


@lru_cache(maxsize=16)
def hasher(given: bool | str) -> Hasher:
    """The hasher of a salt."""
    return Hasher(salt_of(given))


def _words(digests: list[bytes]) -> Words:
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64).reshape(-1, 2)


def _stir(bits: Words) -> Words:
    """Bits spread downwards, in place: a product with an odd factor then depends on all of them."""
    bits ^= bits >> np.uint64(32)
    bits ^= bits >> np.uint64(16)
    return bits


def _siphash(key: bytes, *message: Words) -> tuple[Words, Words]:
    """SipHash-2-4 with 128 bits, of many messages of the same length in words."""
    k0, k1 = (np.uint64(each) for each in np.frombuffer(key, "<u8"))
    start = (0x736F6D6570736575, 0x646F72616E646F6D ^ 0xEE, 0x6C7967656E657261, 0x7465646279746573)
    v0, v1, v2, v3 = (np.full(len(message[0]), np.uint64(c) ^ k) for c, k in zip(start, (k0, k1, k0, k1)))

    def turn(v: Words, by: int, other: Words | None = None) -> None:
        v[:] = (v << np.uint64(by)) | (v >> np.uint64(64 - by))
        if other is not None:
            v ^= other

    def rounds(n: int) -> None:
        for _ in range(n):
            np.add(v0, v1, out=v0)
            np.add(v2, v3, out=v2)
            turn(v1, 13, v0)
            turn(v3, 16, v2)
            turn(v0, 32)
            np.add(v2, v1, out=v2)
            np.add(v0, v3, out=v0)
            turn(v1, 17, v2)
            turn(v3, 21, v0)
            turn(v2, 32)

    words: list[Any] = [*message, np.uint64((8 * len(message) & 255) << 56)]
    for word in words:
        np.bitwise_xor(v3, word, out=v3)
        rounds(2)
        np.bitwise_xor(v0, word, out=v0)
    np.bitwise_xor(v2, np.uint64(0xEE), out=v2)
    rounds(4)
    first = v0 ^ v1 ^ v2 ^ v3
    np.bitwise_xor(v1, np.uint64(0xDD), out=v1)
    rounds(4)
    return first, v0 ^ v1 ^ v2 ^ v3


@dataclass(frozen=True, eq=False)
class Fingerprints(AnyTable):
    """How often each row was added, or with how much weight, by its fingerprint."""

    salt: bytes
    rows: NDArray[np.int64]  # the first words, ascending
    seconds: NDArray[np.int64]  # ascending among equal first ones
    sums: Sums

    names = ("row",)
    signed = False

    @staticmethod
    def of(salt: bytes, found: Words, weights: NDArray[np.float64] | None = None) -> Fingerprints:
        """The bag of some rows."""
        rows, seconds, places = _distinct(*found.view(np.int64).T)
        if weights is None:
            sums = Exact.counts(np.bincount(places, minlength=len(rows)))
        else:
            sums = weights_by_cell(weights, places, len(rows))
        return Fingerprints(salt, rows, seconds, sums).trimmed()

    @property
    def axes(self) -> tuple[Labels, ...]:
        """The first words."""
        return (self.rows,)

    def trimmed(self) -> Fingerprints:
        """Without the rows of which nothing is left."""
        used = self.sums.used(0)
        if used.all():
            return self
        return Fingerprints(self.salt, self.rows[used], self.seconds[used], self.sums.pick(0, np.flatnonzero(used)))

    def without_rare(self, minimum: float, classes: Labels, rows: Any = None) -> Fingerprints:
        """Only the rows that were added as often."""
        return replace(self, sums=self.sums.where(self.sums.floats() >= minimum)).trimmed()

    def _is_like(self, other: Fingerprints) -> bool:
        return self.salt == other.salt and super()._is_like(other) and np.array_equal(self.seconds, other.seconds)

    def align(self, name: str, other: Any) -> tuple[Fingerprints, Fingerprints]:
        """Both over the rows of either."""
        if not isinstance(other, Fingerprints) or self.salt != other.salt:
            raise MergeError(
                "the fingerprints of rows were made with different salts, so they cannot be compared; learn both "
                "models with the same salt: fingerprints=True, or the same text"
            )
        ends = [(each.rows, each.seconds) for each in (self, other)]
        rows, seconds, places = _distinct(*map(np.concatenate, zip(*ends)))
        found = []
        for each, own in ((self, places[: len(self.rows)]), (other, places[len(self.rows) :])):
            at = np.full(len(rows), -1)
            at[own] = np.arange(len(own))
            found.append(Fingerprints(self.salt, rows, seconds, each.sums.pick(0, at)))
        return found[0], found[1]

    def _refuse_unlearned(self, name: str, one: Any, two: Any) -> None:
        negative = np.flatnonzero(self.sums.signs() < 0)
        if len(negative):
            raise UnlearnedRows(self, negative, one.sums.floats()[negative], two.sums.floats()[negative])

    def labels_of_cell(self, cell: Any) -> list[Any]:
        """The fingerprint, as 32 digits."""
        words = (np.array([each[cell[0]]]).view(np.uint64)[0] for each in (self.rows, self.seconds))
        return ["".join(f"{int(word):016x}" for word in words)]

    def check(self) -> None:
        """Raise if this is no bag that rows can have made."""
        rows, _, places = _distinct(self.rows, self.seconds)
        if len(self.salt) != 16 or self.sums.shape != (len(rows),) or not np.array_equal(places, np.arange(len(rows))):
            raise InputError("the fingerprints of rows are not in their order, or do not match their counts")


class UnlearnedRows(ForgetError):
    """Taking away rows that were not added, or not so often: `rows` has the two words of some, and how often."""

    def __init__(self, bag: Fingerprints, places: NDArray[np.intp], had: Any, taken: Any) -> None:
        words = np.stack([bag.rows, bag.seconds], axis=1)[places[:_MOST]].view(np.uint64)
        self.rows = [[*pair, *times] for pair, *times in zip(words.tolist(), had.tolist(), taken.tolist())]
        self.n_rows = len(places)
        super().__init__(unlearned("a row", self.rows[0][2:], self.n_rows))


def unlearned(row: str, times: Sequence[float], n_rows: int) -> str:
    """The message on the first of some rows that cannot be taken away, with how often it was added and would be."""
    had, taken = times
    often = "was never learned" if not had else f"was learned {had:g} times and would be forgotten {taken:g} times"
    more = f", and so it is with {n_rows - 1:,} more" if n_rows > 1 else ""
    return f"{row} {often}{more}; only rows that were learned can be forgotten, and the model stays as it was"


def _distinct(
    rows: NDArray[np.int64], seconds: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
    """The different pairs in ascending order, and which of them each pair is."""
    order = np.argsort(rows, kind="stable")
    one, two = rows[order], seconds[order]
    if ((one[1:] == one[:-1]) & (two[1:] < two[:-1])).any():
        order = np.lexsort((seconds, rows))
        one, two = rows[order], seconds[order]
    first = np.ones(len(one), np.bool_)
    first[1:] = (one[1:] != one[:-1]) | (two[1:] != two[:-1])
    places = np.empty(len(one), np.intp)
    places[order] = np.cumsum(first) - 1
    return one[first], two[first], places
