"""Categorical codes: their counts by class, what they add to a log joint, contingency tables, rows of networks.

A code is a small integer, its category's place; below zero means missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels import TYPES, call, check_codes, check_shape, record
from ingenuo.kernels.portable import log
from ingenuo.kernels.threads import over, run, split, width

Codes = NDArray[Any]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
T = TypeVar("T")

# A thread is worth its start (some 30 µs) from about this many codes.
_CODES_PER_THREAD = 1 << 16
# Tables are counted in 32 bits, in so many rows at a time at most.
_ROWS_AT_ONCE = 1 << 31
# Small tables are kept in this many copies, used in turn, while they fit the first-level cache: else a frequent cell
# waits for its own last store (4 to 5 cycles) at almost every row.
_LANES, _LANES_UP_TO = 4, 512
_WIDTH = 8  # numbers that the loop may read from the start of any row of a table

NUMBERED_UP_TO = 1 << 16  # codes up to here serve as their own labels, without a dictionary

_COLUMNS = record("addresses types strides offsets tops", "n_rows n_columns rowwise")


class _Columns(NamedTuple):
    """Columns of any integer types as the loops read them, where they lie; `kept` are the arrays."""

    addresses: Counts
    types: Counts
    strides: Counts
    rowwise: bool  # of a matrix whose rows lie in one piece each
    kept: Any

    @staticmethod
    def of(columns: Codes | Sequence[Codes], n: int, m: int) -> _Columns:
        """Of a matrix (rows × columns), or of separate columns."""
        if isinstance(columns, np.ndarray):
            check_shape((n, m), columns)
            codes = _as_integers(columns)
            each, (down, along) = np.ones(codes.shape[1], np.int64), codes.strides
            addresses = codes.__array_interface__["data"][0] + along * np.arange(len(each))
            rowwise = along == codes.itemsize and len(each) > 1
            return _Columns(addresses, TYPES[codes.dtype] * each, down * each, rowwise, codes)
        kept = [_as_integers(column) for _, column in zip(range(m), columns, strict=True)]
        check_shape((n,), *kept)
        read = [(c.__array_interface__["data"][0], TYPES[c.dtype], c.strides[0]) for c in kept]
        addresses, types, strides = np.array(read, np.int64).reshape(-1, 3).T.copy()
        return _Columns(addresses, types, strides, False, kept)

    def part(self, rows: tuple[int, int], first: int, offsets: Codes, tops: Codes) -> Any:
        """Some of the rows, of as many columns as there are slots."""
        cut = slice(first, first + len(tops))
        addresses = self.addresses[cut] + rows[0] * self.strides[cut]
        sizes = rows[1] - rows[0], len(tops), self.rowwise
        return _COLUMNS(addresses, self.types[cut], self.strides[cut], offsets, tops, *sizes)


def _as_integers(codes: Codes) -> Codes:
    if codes.dtype == np.bool_:
        return codes.view(np.uint8)
    if codes.dtype.kind not in "iu":
        raise InputError(f"codes are of type {codes.dtype}; they must be integers")
    return codes if codes.dtype.isnative else codes.astype(codes.dtype.newbyteorder("="))


def _slots(sizes: Sequence[int]) -> tuple[Codes, Codes, int]:
    """Each column's first slot and its last from there, one slot more at either end than categories; and the sum."""
    tops = np.array(sizes, np.int64) + 1
    ends = np.cumsum(tops + 1)
    total = int(ends[-1]) if len(ends) else 0
    if total >= 1 << 32:
        raise MemoryError(f"{total:,} categories in all are too many to be counted together")
    return (ends - tops - 1).astype(np.uint32), tops.astype(np.uint32), total


def tally(columns: Codes | Sequence[Codes], labels: Codes, n_classes: int, sizes: Sequence[int]) -> list[Counts]:
    """Count the rows of each class and category: n_classes × size of each column, without rows below class 0."""
    return _tally(columns, labels, n_classes, sizes)[0]


def tally_numbered(codes: Codes, labels: Codes, n_classes: int) -> tuple[list[Counts], bool] | None:
    """Count a matrix whose codes are their own labels in one pass, by sizes that are guessed from some of the rows.

    Returns the counts and whether there are codes below zero; None where the codes go too far to be their own labels.
    """
    n, m = codes.shape
    for step in (max(1, n // 2048), 1):
        tops = codes[::step].max(axis=0, initial=0)
        if int(tops.max(initial=0)) >= NUMBERED_UP_TO:
            return None
        counts, beyond = _tally(codes, labels, n_classes, [int(top) + 1 for top in tops])
        if not beyond or step == 1:
            break
    return counts, sum(int(table.sum()) for table in counts) < n * m


def count_codes(codes: Codes, size: int) -> Counts:
    """Count each of the codes 0..size - 1; what is below zero is left out."""
    counts: Counts = tally([codes], np.zeros(len(codes), np.int8), 1, [size])[0][0]
    return counts


def _tally(
    columns: Codes | Sequence[Codes], labels: Codes, n_classes: int, sizes: Sequence[int]
) -> tuple[list[Counts], bool]:
    """Count ranges of rows or of columns, one for each thread; and say whether a code has no category."""
    n, m = len(labels), len(sizes)
    given = _Columns.of(columns, n, m)
    labels = np.require(_as_integers(labels), None, ["C", "A"])
    threads = max(1, min(width(), n * m // _CODES_PER_THREAD))
    cuts = -(-n // _ROWS_AT_ONCE)
    if threads * (n_classes + 1) * (sum(sizes) + 2 * m) * 4 <= n * m:
        tasks = [(rows, (0, m)) for rows in split(n, max(threads, cuts))]
    else:  # tables this large are not worth one copy per thread: each thread counts columns of its own
        tasks = list(product(split(n, cuts), split(m, threads)))

    def count(rows: tuple[int, int], own: tuple[int, int]) -> Counts:
        offsets, tops, total = _slots(sizes[slice(*own)])
        # Columns are counted one after another, a matrix's side by side.
        together = total if given.rowwise else int(tops.max(initial=0)) + 1
        lanes = _LANES if (n_classes + 2) * together <= _LANES_UP_TO else 1
        if lanes * (n_classes + 2) * total >= 1 << 32:
            raise MemoryError(f"{n_classes:,} classes by {total:,} categories are too many to be counted together")
        table = np.zeros((lanes, n_classes + 2, total), np.uint32)
        part = given.part(rows, own[0], offsets, tops)
        call.tally_codes(part, labels[slice(*rows)], TYPES[labels.dtype], lanes, n_classes + 2, total, table)
        return np.asarray(table.sum(axis=0, dtype=np.int64))

    found, beyond = [np.zeros((n_classes, size), np.int64) for size in sizes], False
    for table, (_, (first, last)) in zip(run([partial(count, *task) for task in tasks]), tasks):
        offset = 0
        for j in range(first, last):
            found[j] += table[1:-1, offset + 1 : offset + 1 + sizes[j]]
            offset += sizes[j] + 2
            beyond |= bool(table[1:-1, offset - 1].any())
    return found, beyond


def add_log_likelihood(columns: Codes | Sequence[Codes], tables: Sequence[Floats], out: Floats) -> bool:
    """Add to each row of `out` what its codes say: out[i, :] += tables[j][codes[i, j], :] for every column j.

    A code below zero (missing) or without a row in its table (never seen) adds nothing. Returns whether there was
    one below zero.
    """
    (n, n_classes), m = out.shape, len(tables)
    given = _Columns.of(columns, n, m)
    if not n or not m or not n_classes:
        return False
    offsets, tops, total = _slots([len(table) for table in tables])
    joined = np.zeros(total * n_classes + _WIDTH)  # the slots of what is missing or unknown stay zeros
    rows = joined[: total * n_classes].reshape(total, n_classes)
    for offset, table in zip(offsets.tolist(), tables):
        rows[offset + 1 : offset + 1 + len(table)] = table
    own = np.ascontiguousarray(out, np.float64)

    def add(lo: int, hi: int) -> bool:
        return bool(call.add_codes(given.part((lo, hi), 0, offsets, tops), joined, n_classes, own[lo:hi]))

    negative = any(over(n, add, max(1, _CODES_PER_THREAD // (m * n_classes))))
    if own is not out:
        out[:] = own
    return negative


# Contingency tables of categorical columns. The columns on one side (a class and an attribute, or a node and its
# parents) are joined into a single *cell* per row, which the loop meets with one column after another. Codes are a
# matrix of int32, columns × rows; -1 is missing, and counted in a row and a column of each table that are left behind.

# Cells of the tables that are counted in one call; a larger one is counted alone.
_CELLS_AT_ONCE = 1 << 18
# Configurations are renumbered by a map of all combinations up to this many; beyond, by sorting.
_MAP_UP_TO = 1 << 22
_PAIR_UP_TO = 1 << 26  # cells of one pair's table: 512 MB


def configurations(above: Counts, n_above: int, codes: Codes, card: int) -> tuple[Counts, int]:
    """Join one more column to the configurations of some (-1 where a value is missing), numbered without gaps."""
    keys = np.where((above < 0) | (codes < 0), -1, above * card + codes)
    known = keys >= 0
    if n_above * card > _MAP_UP_TO:
        kept, keys[known] = np.unique(keys[known], return_inverse=True)
        return keys, len(kept)
    places = np.zeros(n_above * card + 1, np.int64)
    places[keys[known]] = 1
    places = np.cumsum(places) - 1
    n = int(places[-1]) + 1
    places[-1] = -1  # where a key of -1 leads
    return places[keys], n


def data_terms(
    above: Counts, n_above: int, codes: Codes, node: int, states: int, extra: Sequence[int], cards: Sequence[int],
    priors: Sequence[float], weights: Floats | None,
) -> tuple[Floats, Floats]:  # fmt: skip
    """The data terms of a node whose parents are some and, in turn, each of the extra columns.

    A prior is the imaginary count of a cell; 0 for the plain log likelihood. Also the weight of the rows in which no
    member of the family is missing.
    """
    size = n_above * states + 1
    each, prior = np.array(cards, np.int64), np.array(priors, np.float64)
    terms, counted = np.empty(len(extra)), np.empty(len(extra))
    for lo, hi in _together([(card + 1) * size for card in cards]):
        scored = prior[lo:hi], terms[lo:hi], counted[lo:hi]
        _tables(above, codes, node, states, extra[lo:hi], each[lo:hi], size, weights, *scored)
    return terms, counted


def each_pair(
    codes: Codes, cards: Sequence[int], labels: Codes, n_classes: int, weights: Floats | None,
    see: Callable[[NDArray[Any]], T], firsts: range | None = None,
) -> dict[tuple[int, int], T]:  # fmt: skip
    """Count every two columns within each class, and keep what `see` makes of each table, classes × first × second.

    Rows in which the class or either value is missing are left out. The table is only good until `see` returns. Where
    `firsts` are given, only pairs whose first column is among them are counted.
    """
    two = too_wide(cards, n_classes)
    if two is not None:
        raise InputError(
            f"columns {two[0]} and {two[1]} have {cards[two[0]]} and {cards[two[1]]} values, within {n_classes} "
            "classes too many for a table; leave one out or join its rare values"
        )
    check_codes(n_classes, labels)
    labels = labels.astype(np.int64, copy=False)

    def pairs_of(i: int) -> list[tuple[tuple[int, int], T]]:
        size, seen, others = n_classes * cards[i] + 1, [], range(i + 1, len(cards))
        for lo, hi in _together([(cards[j] + 1) * size for j in others]):
            columns = others[lo:hi]
            own = np.array([cards[j] for j in columns], np.int64)
            tables, offsets = _tables(labels, codes, i, cards[i], columns, own, size, weights)
            for j, start in zip(columns, offsets.tolist()):
                table = tables[start : start + (cards[j] + 1) * size].reshape(cards[j] + 1, size)[1:, :-1]
                seen.append(((i, j), see(table.reshape(cards[j], n_classes, cards[i]).transpose(1, 2, 0))))
        return seen

    tasks = [partial(pairs_of, i) for i in (range(len(cards) - 1) if firsts is None else firsts)]
    return dict(pair for pairs in run(tasks) for pair in pairs)


def too_wide(cards: Sequence[int], n_classes: int) -> tuple[int, int] | None:
    """The two columns of the most values, if their table would be too large; None where all tables can be counted."""
    two = sorted(range(len(cards)), key=lambda i: cards[i])[-2:]
    if len(two) == 2 and n_classes * (cards[two[0]] + 1) * (cards[two[1]] + 1) > _PAIR_UP_TO:
        return min(two), max(two)
    return None


def codes_matrix(columns: Sequence[Codes] | Codes, cards: Sequence[int]) -> NDArray[np.int32]:
    """The columns as the loops read them: int32, columns × rows, each below its card, -1 where a value is missing."""
    if not len(columns):
        return np.empty((0, 0), np.int32)
    matrix = np.ascontiguousarray(columns, np.int32)
    matrix = matrix if matrix.min(initial=0) >= -1 else np.maximum(matrix, -1)
    for column, card in zip(matrix, cards, strict=True):
        check_codes(card, column)
    return matrix


def _tables(
    above: Counts, codes: Codes, node: int, states: int, columns: Sequence[int], cards: Counts, size: int,
    weights: Floats | None, *scored: Floats,
) -> tuple[NDArray[Any], Counts]:  # fmt: skip
    """The tables of (above, node) with each of the columns, one after another, and where each begins.

    `scored` are priors, and terms and weights of the rows counted, which are filled in.
    """
    check_shape(codes.shape[1:], above, weights)
    sizes = (cards + 1) * size
    offsets = np.cumsum(sizes) - sizes
    tables = np.zeros(int(sizes.sum()), np.int64 if weights is None else np.float64)
    call.count_tables(
        above, codes, codes.shape[1], node, states, np.array(columns, np.int64), cards, len(columns), weights, size,
        offsets, tables, *(scored or (None,) * 3),
    )  # fmt: skip
    return tables, offsets


def _together(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Cut the tables into runs of a moderate size each; a large one is alone."""
    first, cells = 0, 0
    for k, size in enumerate(sizes):
        if k > first and cells + size > _CELLS_AT_ONCE:
            yield first, k
            first, cells = k, 0
        cells += size
    if len(sizes) > first:
        yield first, len(sizes)


def left_out_information(cells: Floats, shapes: Counts) -> Floats:
    """What the counts of the other rows tell of each row, for tables class × a × b that stand one after the other.

    Per row, and whichever way is less; of b by a that is, with q = (n_bc - 1/2) / (n_c - 1 + B/2) where B values occur,
    Σ n_abc log (n_abc - 1 + q B/2) / ((n_ac - 1 + B/2) q) over the cells.
    """
    check_shape((int(shapes.prod(axis=1).sum()),), cells)
    out = np.empty(len(shapes))
    call.left_out_information(cells, len(shapes), shapes, np.empty(int(shapes.max(initial=1))), out)
    return out


# Shares that back off from long contexts to shorter ones. A level's counts are contexts × values.


def smooth_level(counts: Floats, below: Floats, left_below: Floats, grid: Floats) -> tuple[float, Floats, Floats]:
    """Each context's shares by those of the contexts below, of which each has as many; and m, by leave-one-out.

    Also the share of each cell for a row of that cell which is left out.
    """
    contexts, values = counts.shape
    check_shape((len(below), values), below, left_below)
    if contexts % len(below):
        raise InputError(f"{contexts} contexts are not as many for each of {len(below)}")
    shares, left, room = np.empty(counts.shape), np.empty(counts.shape), np.empty(5 * counts.size)
    wide = contexts // len(below)
    m = call.smooth_level(counts, contexts, values, wide, below, left_below, grid, len(grid), shares, left, room)
    return float(m), shares, left


def left_out_levels(
    states: Codes, parents: Codes, labels: Codes, own: Floats, counts: Sequence[Floats], m: Floats, out: Floats
) -> None:
    """The logs of a node's values in rows that were learned, each without its own weight; levels × rows × classes.

    The counts of a level are classes × the parents so far × values.
    """
    levels, (n_classes, *_), values = len(counts), counts[0].shape, counts[0].shape[-1]
    sizes = np.array(counts[-1].shape[1:-1], np.int64)
    check_shape((levels - 1, len(states)), parents)
    check_shape((len(states),), labels, own)
    check_shape((levels, len(states), n_classes), out)
    check_codes(values, states, 0)
    check_codes(n_classes, labels, 0)
    for column, size in zip(parents, sizes.tolist()):
        check_codes(size, column, 0)
    totals, cells = [each.sum(axis=-1).ravel() for each in counts], _join([each.ravel() for each in counts], np.float64)
    starts = np.cumsum([0, *map(len, totals)])
    column = counts[0].sum(axis=0)
    call.left_out_levels(
        len(states), n_classes, levels, values, states, parents, sizes, labels, own, cells,
        _join(totals, np.float64), starts, column, float(column.sum()), m, out,
    )  # fmt: skip


# Rows of networks, each with its own missing cells: these are summed out exactly, row by row. All is in logarithms.
# Missing nodes are summed out one by one, the one that makes the smallest table next; going back over those sums gives
# the posterior of every table's cells.

SCRATCH = 1 << 22
_ROWS_PER_THREAD = 256
_PARTS = 16  # expected counts are added in as many parts at any number of threads, so that they are the same

_TABLES = record("cards offsets starts family strides cells", "n_nodes base size")


@dataclass(frozen=True, eq=False)
class Flat:
    """A network in a few arrays: all tables end to end, and of each family where its members are and their strides."""

    cards: Counts
    tables: Floats  # logarithms
    offsets: Counts  # of each node's table, and the end
    starts: Counts  # of each node's family in the two that follow, and the end
    family: Counts  # the parents in order, then the node
    strides: Counts
    child_starts: Counts
    children: Counts
    upwards: Counts  # every node before its parents
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, parents: Sequence[tuple[int, ...]], tables: Sequence[Floats]) -> Flat:
        """The flat form of a network without cycles; tables have the parents' axes in order and the node's last."""
        families = [(*above, node) for node, above in enumerate(parents)]
        below: list[list[int]] = [[] for _ in parents]
        for node, above in enumerate(parents):
            for parent in above:
                below[parent].append(node)
        waiting = [len(nodes) for nodes in below]
        upwards = [node for node, n in enumerate(waiting) if n == 0]
        for node in upwards:
            for parent in parents[node]:
                waiting[parent] -= 1
                if waiting[parent] == 0:
                    upwards.append(parent)
        assert len(upwards) == len(parents), "the parents of the nodes go round in a circle"
        cards = [table.shape[-1] for table in tables]
        for family, table in zip(families, tables, strict=True):
            check_shape(tuple(cards[node] for node in family), table)
        return cls(
            cards=np.array(cards, np.int64),
            tables=log(_join([np.ravel(table) for table in tables], np.float64)),
            offsets=np.cumsum([0, *(table.size for table in tables)]),
            starts=np.cumsum([0, *map(len, families)]),
            family=_join(families, np.int64),
            strides=_join([np.cumprod([1, *table.shape[:0:-1]])[::-1] for table in tables], np.int64),
            child_starts=np.cumsum([0, *map(len, below)]),
            children=_join(below, np.int64),
            upwards=np.array(upwards, np.int64),
            shapes=tuple(table.shape for table in tables),
        )

    def shaped(self, cells: Floats) -> list[Floats]:
        """Numbers that lie as the tables do, one array for each node."""
        cuts = np.split(cells, self.offsets[1:-1])
        return [part.reshape(shape) for part, shape in zip(cuts, self.shapes, strict=True)]

    def workspace(self) -> Any:
        """The network for one thread: its tables with scratch space behind, whose pages are touched only if needed."""
        cells = np.empty(len(self.tables) + SCRATCH)
        cells[: len(self.tables)] = self.tables
        arrays = self.cards, self.offsets, self.starts, self.family, self.strides, cells
        return _TABLES(*arrays, len(self.cards), len(self.tables), len(cells))

    def by_class(self, target: int) -> tuple[Floats, Counts]:
        """The tables with the target's axis last, and the strides of the others; the target's is 0."""
        tables, strides = [], self.strides.copy()
        n_classes = int(self.cards[target])
        for node, table in enumerate(self.shaped(self.tables)):
            members = slice(self.starts[node], self.starts[node + 1])
            at = np.flatnonzero(self.family[members] == target)
            if len(at):
                table = np.moveaxis(table, at[0], -1)
                others = np.cumprod([n_classes, *table.shape[-2:0:-1]])[::-1][: table.ndim - 1]
                strides[members] = np.insert(others, at[0], 0)
            tables.append(table.ravel())
        return _join(tables, np.float64), strides


def _join(parts: Sequence[Any], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype)


def _known_states(codes: Codes, cards: Counts, target: int = -1) -> NDArray[np.int32]:
    """Rows as the loops read them: each code below its column's card, but for the target's, which is not read."""
    check_shape((len(codes), len(cards)), codes)
    codes = np.ascontiguousarray(codes, np.int32)
    beyond = codes.max(axis=0, initial=-1) >= cards
    for column in np.flatnonzero(beyond).tolist():
        if column != target:
            check_codes(int(cards[column]), codes[:, column])
    return codes


def joint_by_class(flat: Flat, codes: Codes, target: int) -> tuple[Floats, Counts]:
    """log P(target = k, the known cells of row i) for each row i and state k; codes are rows × nodes.

    Also the rows that need more than the scratch space and are not done.
    """
    codes = _known_states(codes, flat.cards, target)
    out, wide = np.empty((len(codes), int(flat.cards[target]))), np.zeros(len(codes), np.int64)
    given = target, flat.child_starts, flat.children, flat.upwards, *flat.by_class(target)

    def fill(lo: int, hi: int) -> None:
        if not call.joint_rows(flat.workspace(), codes[lo:hi], hi - lo, *given, out[lo:hi], wide[lo:hi]):
            raise MemoryError

    over(len(codes), fill, _ROWS_PER_THREAD)
    return out, np.flatnonzero(wide)


def expected_counts(flat: Flat, codes: Codes, weights: Floats | None = None) -> tuple[Floats, Floats, Counts]:
    """How often each cell of each table is expected among the rows, given their known cells.

    Also the log probability of each row, -inf where it is impossible (and not counted), and the rows that need more
    than the scratch space and are not counted.
    """
    codes, n = _known_states(codes, flat.cards), len(codes)
    weights = np.ones(n) if weights is None else weights
    check_shape((n,), weights)
    logs, wide = np.zeros(n), np.zeros(n, np.int64)

    def count(lo: int, hi: int) -> Floats:
        counts = np.zeros(len(flat.tables) + SCRATCH)
        rows = codes[lo:hi], hi - lo, weights[lo:hi]
        if not call.count_expected(flat.workspace(), *rows, counts, logs[lo:hi], wide[lo:hi]):
            raise MemoryError
        return counts[: len(flat.tables)].copy()  # without the scratch space

    total = np.zeros(len(flat.tables))
    for part in over(n, count, _ROWS_PER_THREAD, _PARTS):
        total += part
    return total, logs, np.flatnonzero(wide)


def average_parents(
    codes: Codes, roots: Floats, root_at: Counts, pairs: Floats, pair_at: Counts, sizes: Counts, usable: Codes,
    naive: Floats, n_classes: int,
) -> Floats:  # fmt: skip
    """The log joint of each row and class where each attribute in turn is the parent of the others (AODE).

    Codes are rows × attributes, -1 where a value is missing or unknown.
    """
    codes, d = _known_states(codes, sizes), len(sizes)
    out = np.empty((len(codes), n_classes))
    given = roots, root_at, pairs, pair_at, sizes, usable, naive, len(naive), n_classes

    def fill(lo: int, hi: int) -> None:
        room = np.empty(d, np.int64), np.empty((d + 2) * n_classes)
        call.average_parents(codes[lo:hi], hi - lo, d, *given, *room, out[lo:hi])

    over(len(codes), fill, _ROWS_PER_THREAD)
    return out
