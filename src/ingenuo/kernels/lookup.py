"""Documents against a known vocabulary: the node of every word and n-gram, and what they add to the log joint.

What a node says of the classes is a short list: the classes that have it, with what each adds to the joint beyond
what a class without it adds. That part is the same for all words of one weight, so it is added once for a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

from ingenuo.kernels import grams as loops
from ingenuo.kernels import vocabulary
from ingenuo.kernels.codes import readable
from ingenuo.kernels.grams import BYTE, FOUND, PARTS, carry, hash_level, read, translate
from ingenuo.kernels.text import Style, by_part, cuts_by_bytes, scratch_for
from ingenuo.kernels.threads import run, width
from ingenuo.kernels.tokens import TOUCH, find_known, home_shift

Array = NDArray[Any]
Floats = NDArray[np.float64]

_TOKENS = 1 << 14
_MOST = 1 << 20  # classes a node can have
_NEAR = 1 << 18  # nodes whose numbers a cache holds
_NONE: Floats = np.zeros(0)
_NO_INTS: NDArray[np.int32] = np.zeros(0, np.int32)


class Table(NamedTuple):
    """What each node adds to the log joint, laid out so that a rare node takes one load.

    A node of one class has its value beside its number; one of several has cells (class, value), one of many a full
    line, a value for every class. The number says which, and where: (place · 2 + 1 for a line) · 2^20 + how many
    classes, the place of a single one being the class; -1 for a node that is not used.
    """

    info: NDArray[np.int64]  # (nodes, 2): numbers, and the values of single classes in the same memory as doubles
    single: Floats  # the same memory as doubles
    cells: Floats  # (cells, 2)
    lines: Floats  # (lines, classes)
    weights: Floats  # what one occurrence of a node counts; empty: 1
    base: Floats  # what it adds for every class; empty: nothing
    constant: Floats  # (classes,): what a class adds for an occurrence, times its weight

    def values(self, node: int) -> Floats:
        """What an occurrence of a node adds for each class, beyond the constant and the base."""
        info = int(self.info[node, 0])
        result = np.zeros(len(self.constant))
        if info >= 0:
            place, n = info >> 21, info & (_MOST - 1)
            if n == 1:
                result[place] = self.single[node, 1]
                return result
            if info >> 20 & 1:
                return np.asarray(self.lines[place].copy())
            result[self.cells[place : place + n, 0].astype(np.intp)] = self.cells[place : place + n, 1]
        return result


def pack(
    starts: Array, codes: Array, values: Floats, used: Array, constant: Floats, weights: Floats = _NONE,
    base: Floats = _NONE,
) -> Table:  # fmt: skip
    """A table from the cells of each node: their classes and values."""
    info = np.empty((len(starts) - 1, 2), np.int64)
    single = info.view(np.float64)
    given = readable(starts), readable(codes), readable(values), readable(used)
    n_cells, n_lines = _lay_out(*given, len(constant), info, single)
    cells, lines = np.empty((n_cells, 2)), np.zeros((n_lines, len(constant)))
    _fill(*given[:3], info, cells, lines)
    return Table(info, single, cells, lines, weights, base, constant)


@njit(cache=True, nogil=True)
def _lay_out(starts, codes, values, used, classes, info, single):  # type: ignore[no-untyped-def]
    cells = lines = 0
    for f in range(info.shape[0]):
        first, n = starts[f], starts[f + 1] - starts[f]
        if not used[f]:
            info[f, 0] = -1
        elif n == 1:
            info[f, 0] = (np.int64(codes[first]) << 21) | 1
            single[f, 1] = values[first]
        elif 2 * n >= classes and n > 1:
            info[f, 0] = (((lines << 1) | 1) << 20) | n
            lines += 1
        else:
            info[f, 0] = (cells << 21) | n
            cells += n
    return cells, lines


@njit(cache=True, nogil=True)
def _fill(starts, codes, values, info, cells, lines):  # type: ignore[no-untyped-def]
    for f in range(info.shape[0]):
        if info[f, 0] < 0 or starts[f + 1] - starts[f] < 2:
            continue
        place, line = info[f, 0] >> 21, (info[f, 0] >> 20) & 1
        for c in range(starts[f], starts[f + 1]):
            if line:
                lines[place, codes[c]] = values[c]
            else:
                cells[place + c - starts[f], 0] = codes[c]
                cells[place + c - starts[f], 1] = values[c]


class Raw(NamedTuple):
    """Words as they stand in texts, and what they are taken for."""

    vocabulary: Any
    into: NDArray[np.int32]  # the word each is taken for, in this same vocabulary; -1: it is dropped
    besides: NDArray[np.int32]  # what it counts for as well; -1: nothing
    nodes: NDArray[np.int64]  # the node of each in the vocabulary of the model; -1: it has none


@njit(cache=True, nogil=True)
def _find_grams(level, part_end, parts, firsts, lead, start, level_hash, level_node, slots):  # type: ignore[no-untyped-def]
    """The places of a level's n-grams among those of that level, -1 where there is none."""
    mask, shift = uint64(slots.shape[0] - 1), home_shift(slots)
    touched, ahead, last, begin = uint64(0), 0, part_end[parts - 1], 0
    for part in range(parts):
        for t in range(begin, firsts[part]):
            level_node[level, t] = -1
        for t in range(firsts[part], part_end[part]):
            if t >= ahead:
                ahead = min(t + TOUCH, last)
                for near in range(t, ahead):
                    touched |= slots[level_hash[level, near] >> shift, 1]
            before = start[level - 1] if part else lead[level - 1]
            prefix = level_node[level - 1, t - 1] if t > begin else before
            word = level_node[1, t]
            if prefix < 0 or word < 0:
                level_node[level, t] = -1
                continue
            pair = (uint64(prefix) << uint64(32)) | uint64(word)
            s = level_hash[level, t] >> shift
            while slots[s, 1] != 0 and slots[s, 0] != pair:
                s = (s + uint64(1)) & mask
            level_node[level, t] = np.int64(slots[s, 1]) - 1
        begin = part_end[part]
    return touched


@njit(cache=True, nogil=True)
def _score(  # type: ignore[no-untyped-def]
    nodes,
    part_row,
    ends,
    parts,
    completed,
    info,
    single,
    cells,
    lines,
    weights,
    base,
    constant,
    once,
    stamps,
    times,
    squares,
    out,
):
    """Add what the nodes of each part say to its row; with `once`, each node once for a document.

    `stamps` and `times` (the last document of each node, and how often it was in it) are of this thread alone, and
    empty where nothing asks for them; `squares`, unless it is empty, gathers the squares of weight × count.
    """
    t, ahead, last, touched = 0, 0, ends[parts - 1], 0.0
    weighted, based, stamped = weights.size > 0, base.size > 0, stamps.size > 0
    far = info.shape[0] > _NEAR
    full, classes = lines.reshape(-1), uint64(out.shape[1])
    found = np.empty(nodes.size, np.uint64)  # where the lines of a part's nodes begin
    for part in range(parts):
        row, stamp = part_row[part], completed + part + 1
        total, level, square, n = 0.0, 0.0, 0.0, uint64(0)
        line = out[row]
        while t < ends[part]:
            if far and t >= ahead:  # so that the loads of several nodes are under way at once
                ahead = min(t + TOUCH, last)
                seen = np.int64(0)
                for near in range(t, ahead):
                    if nodes[near] >= 0:
                        seen |= info[nodes[near], 0]
                for near in range(t, ahead):
                    number = info[nodes[near], 0] if nodes[near] >= 0 else -1
                    if number >= 0 and number & (_MOST - 1) > 1:
                        place = uint64(number >> 21)
                        touched += lines[place, 0] if (number >> 20) & 1 else cells[place, 0]
                touched += np.float64(seen)
            node = nodes[t]
            t += 1
            if node < 0:
                continue
            number = info[uint64(node), 0]
            if number < 0:
                continue
            weight = weights[node] if weighted else 1.0
            if stamped:
                if stamps[node] != stamp:
                    stamps[node] = stamp
                    times[node] = 0
                elif once:
                    continue
                square += weight * weight * (2.0 * times[node] + 1.0)
                times[node] += 1
            total += weight
            if based:
                level += base[node]
            place = uint64(number >> 21)
            if number & (_MOST - 1) == 1:
                line[place] += single[uint64(node), 1]
            elif (number >> 20) & 1:
                found[n] = place * classes
                n += uint64(1)
            else:
                for c in range(place, place + uint64(number & (_MOST - 1))):
                    line[uint64(cells[c, 0])] += cells[c, 1]
        # Four classes at a time stay in registers, over all of the part's lines.
        k = uint64(0)
        while k + uint64(4) <= classes and n > 0:
            one = two = three = four = 0.0
            for i in range(n):
                at = found[i] + k
                one += full[at]
                two += full[at + uint64(1)]
                three += full[at + uint64(2)]
                four += full[at + uint64(3)]
            line[k] += one
            line[k + uint64(1)] += two
            line[k + uint64(2)] += three
            line[k + uint64(3)] += four
            k += uint64(4)
        while k < classes and n > 0:
            one = 0.0
            for i in range(n):
                one += full[found[i] + k]
            line[k] += one
            k += uint64(1)
        for c in range(constant.size):
            line[c] += total * constant[c] + level
        if squares.size:
            squares[row] += square
    return touched


@njit(cache=True, nogil=True)
def _list(nodes, part_row, ends, parts, completed, info, stamps, places, rows, found, counts, n):  # type: ignore[no-untyped-def]
    """Append each part's nodes that are used, each once for a document, with how often it is there; n are there."""
    t = 0
    for part in range(parts):
        stamp = completed + part + 1
        while t < ends[part]:
            node = nodes[t]
            t += 1
            if node < 0 or info[node, 0] < 0:
                continue
            if stamps[node] == stamp:
                counts[places[node]] += 1
                continue
            stamps[node] = stamp
            places[node] = n
            rows[n] = part_row[part]
            found[n] = node
            counts[n] = 1
            n += 1
    return n


@njit(cache=True, nogil=True)
def _score_rows(  # type: ignore[no-untyped-def]
    data,
    offsets,
    rows,
    kinds,
    letters,
    cases,
    shortest,
    cues,
    separated,
    scratch,
    spare,
    hashes,
    packs,
    sizes,
    ids,
    extras,
    part_row,
    part_end,
    extra_end,
    firsts,
    level_hash,
    level_node,
    lowest,
    highest,
    slots,
    text,
    ends,
    own,
    mapped,
    into,
    besides,
    named,
    level_slots,
    level_first,
    info,
    single,
    cells,
    lines,
    weights,
    base,
    constant,
    once,
    stamps,
    times,
    squares,
    out,
    listed,
    listed_nodes,
    listed_counts,
):
    """Read rows, look their words and n-grams up, and add what they say: in one call, for a thread that comes back to
    Python waits there for the others. With room to list them (rows, nodes, counts), they are listed instead; returns
    how many there are.
    """  # fmt: skip
    listing, n_listed = listed.size > 0, np.int64(0)
    state = np.array([0, -1, 0, 0, 0, 0])
    completed, have = np.int64(0), np.int64(0)
    start_hash, start_node = np.zeros(highest + 1, np.uint64), np.full(highest + 1, -1)
    lead_hash, lead_node = start_hash.copy(), start_node.copy()
    while True:
        read(data, offsets, rows, kinds, letters, cases, shortest, cues, separated, uint64(0), scratch, spare,
                   hashes, packs, sizes, part_row, part_end, state)  # fmt: skip
        found, parts = state[FOUND], state[PARTS]
        if parts == 0:
            return n_listed
        find_known(uint64(found), hashes, packs, sizes, scratch, slots, text, ends, ids)
        if mapped:
            translate(ids, hashes, own, into, besides, part_end, parts, extras, extra_end)
            for t in range(extra_end[parts - 1]):
                extras[t] = named[extras[t]]
            if extra_end[parts - 1] and listing:
                n_listed = _list(extras, part_row, extra_end, parts, completed, info, stamps, times, listed,
                                 listed_nodes, listed_counts, n_listed)  # fmt: skip
            elif extra_end[parts - 1]:
                _score(extras, part_row, extra_end, parts, completed, info, single, cells, lines, weights, base,
                       constant, once, stamps, times, squares, out)  # fmt: skip
            for t in range(part_end[parts - 1]):
                ids[t] = named[ids[t]] if ids[t] >= 0 else -1
        n = part_end[parts - 1]
        if highest > 1:
            level_hash[1, :n], level_node[1, :n] = hashes[:n], ids[:n]
        if lowest == 1 and listing:
            n_listed = _list(ids, part_row, part_end, parts, completed, info, stamps, times, listed, listed_nodes,
                             listed_counts, n_listed)  # fmt: skip
        elif lowest == 1:
            _score(ids, part_row, part_end, parts, completed, info, single, cells, lines, weights, base, constant,
                   once, stamps, times, squares, out)  # fmt: skip
        for level in range(2, highest + 1):
            hash_level(level, part_end, parts, have, 0, lead_hash, start_hash, level_hash, firsts)
            _find_grams(level, part_end, parts, firsts, lead_node, start_node, level_hash, level_node,
                        level_slots[level - 2])  # fmt: skip
            if level >= lowest:
                for t in range(n):
                    ids[t] = level_node[level, t] + level_first[level - 1] if level_node[level, t] >= 0 else -1
                if listing:
                    n_listed = _list(ids, part_row, part_end, parts, completed, info, stamps, times, listed,
                                     listed_nodes, listed_counts, n_listed)  # fmt: skip
                    continue
                _score(ids, part_row, part_end, parts, completed, info, single, cells, lines, weights, base, constant,
                       once, stamps, times, squares, out)  # fmt: skip
        inside = state[BYTE] >= 0
        completed += parts - inside
        if highest > 1:
            have = carry(parts, inside, have, 0, part_end, level_hash, level_node, start_hash, start_node,
                               lead_hash, lead_node)  # fmt: skip


class Lookup:
    """The tables of a vocabulary, for any number of threads to read.

    `words` is a vocabulary; `raw` are words that stand for others there: their table (a vocabulary too), and for each
    of its words the place of the word it is taken for (-1: it is dropped) and of what it counts for besides (-1:
    nothing), both in the same table.
    """

    def __init__(self, words: Any, how: Style, ngrams: tuple[int, int], raw: Raw | None = None) -> None:
        self.how, self.lowest, self.highest = how, *ngrams
        self.buckets, self.offsets, self.raw = words.buckets, words.levels, raw
        known = words if raw is None else raw.vocabulary
        self.own = readable(known.hashes[0] if known.hashes else np.zeros(0, np.uint64))
        self.text, self.ends = readable(known.data), readable(np.append(0, known.ends))
        slots = np.zeros((_room(len(known.ends)), 2), np.uint64)
        vocabulary.fill_words(self.own, readable(known.ends), slots)
        self.slots = readable(slots)
        self.levels: list[Array] = []
        for n in range(2, 2 if self.buckets else self.highest + 1):
            slots = np.zeros((_room(len(words.hashes[n - 1])), 2), np.uint64)
            vocabulary.fill_grams(words.hashes[n - 1], words.parents[n - 2], words.lasts[n - 2], slots)
            self.levels.append(readable(slots))

    def score(
        self, pieces: Iterable[Any], table: Table, out: Floats, *, once: bool = False, squares: Floats = _NONE
    ) -> None:
        """Add what the words of each row say to its line; squares of weight × count are gathered, if asked for."""
        for piece in pieces:
            here = slice(piece.first, piece.first + piece.n_rows)
            run(
                [
                    partial(self._score, piece, lo, hi, table, out[here], once, squares[here])
                    for lo, hi in pairwise(cuts_by_bytes(np.diff(piece.offsets), 4 * width()))
                ]
            )

    def _score(self, piece: Any, lo: int, hi: int, table: Table, out: Floats, once: bool, squares: Floats) -> None:
        reader = Reader(self, piece, np.arange(lo, hi))
        size = len(table.info) if once or len(squares) else 0
        stamps, times = np.zeros(size, np.int64), np.zeros(size, np.int32)
        table = Table(*(readable(each) for each in table))
        if self._by_batches:
            for nodes, ends, parts, completed in reader:
                _score(nodes, reader.part_row, ends, parts, completed, *table, once, stamps, times, squares, out)
            return
        self._rows(reader, table, once, stamps, times, squares, out, (_NO_INTS, _NO_INTS, _NO_INTS))

    def entries(self, pieces: Iterable[Any], used: Array) -> tuple[Array, Array, Array]:
        """Rows, nodes and counts: each node of a row that is used once; for any one node, rows in their order."""
        parts: list[tuple[Array, Array, Array]] = []
        info = np.where(used, 0, -1)[:, np.newaxis]
        table = Table(*(readable(each) for each in (info, *(np.zeros((0, 1)),) * 3, _NONE, _NONE, _NONE)))
        for piece in pieces:
            cuts = cuts_by_bytes(np.diff(piece.offsets), width())
            parts += run([partial(self._entries, piece, lo, hi, table) for lo, hi in pairwise(cuts)])
        return tuple(np.concatenate(each) for each in zip(*parts)) if parts else (_NO_INTS,) * 3  # type: ignore[return-value]

    def _entries(self, piece: Any, lo: int, hi: int, table: Table) -> tuple[Array, Array, Array]:
        reader = Reader(self, piece, np.arange(lo, hi))
        size = len(table.info)
        stamps, places = np.zeros(size, np.int64), np.zeros(size, np.int32)
        # A word takes a byte, and another byte parts it from the next; of what is not written to no memory is taken.
        words = int(piece.offsets[hi] - piece.offsets[lo] + hi - lo) // 2 + 1
        found = tuple(np.empty(words * (self.highest - self.lowest + 2), np.int32) for _ in range(3))
        if self._by_batches:
            n = 0
            for nodes, ends, parts, completed in reader:
                n = _list(nodes, reader.part_row, ends, parts, completed, table.info, stamps, places, *found, n)
        else:
            n = self._rows(reader, table, True, stamps, places, _NONE, np.zeros((0, 0)), found)
        return tuple(each[:n] + (piece.first if i == 0 else 0) for i, each in enumerate(found))  # type: ignore[return-value]

    @property
    def _by_batches(self) -> bool:
        return bool(self.buckets) or self.highest > loops.DEEPEST

    def _rows(
        self, r: Reader, table: Table, once: bool, stamps: Array, times: Array, squares: Floats, out: Floats,
        listed: tuple[Array, ...],
    ) -> int:  # fmt: skip
        none = np.zeros(0, np.int32)
        into, besides, named = (none, none, np.zeros(0, np.int64)) if self.raw is None else self.raw[1:]
        # Always as many levels, for another number would have the loop compiled again.
        spare = readable(np.zeros((2, 2), np.uint64))
        # Copies of a model, and models from elsewhere, may have their tables anew, and writable.
        levels = tuple(map(readable, [*self.levels, *[spare] * loops.DEEPEST][: loops.DEEPEST - 1]))
        how, piece = self.how, r.piece
        kinds, letters, cases = readable(how.kinds), readable(how.letters), readable(how.cases)
        slots, text, ends, own = map(readable, (self.slots, self.text, self.ends, self.own))
        return int(
            _score_rows(
                readable(piece.data), readable(piece.offsets), readable(r.rows), kinds, letters, cases,
                np.uint64(how.shortest), how.cues, how.separated, r.scratch, r.spare, r.hashes, r.packs, r.sizes,
                r.ids, r.extras, r.part_row, r.part_end, r.extra_end, r.firsts, r.level_hash, r.level_node,
                self.lowest, self.highest, slots, text, ends, own, self.raw is not None,
                readable(into), readable(besides), readable(named), levels, readable(np.array(self.offsets)), *table,
                once, stamps, times, squares, out, *listed,
            )
        )  # fmt: skip

    def nodes(self, pieces: Iterable[Any], n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The node of every word and n-gram (-1: not known), row by row, and where each row's end.

        A row's words come first, then its pairs of words, and so on.
        """
        rows, found = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for piece in pieces:
            reader = Reader(self, piece, np.arange(piece.n_rows))
            for nodes, ends, parts, _ in reader:
                sizes = np.diff(ends[:parts], prepend=0)
                rows.append(np.repeat(reader.part_row[:parts], sizes) + piece.first)
                found.append(nodes[: int(ends[parts - 1])].copy())
        row = np.concatenate(rows)
        order = np.argsort(row, kind="stable")
        return np.concatenate(found)[order], np.cumsum(np.bincount(row, minlength=n_rows))


class Reader:
    """The nodes of some rows of a piece, a batch after the other."""

    def __init__(self, lookup: Lookup, piece: Any, rows: Array) -> None:
        self.lookup, self.piece = lookup, piece
        self.rows = rows if piece.missing is None else rows[~piece.missing[rows]]
        lengths = piece.offsets[self.rows + 1] - piece.offsets[self.rows] if len(self.rows) else np.zeros(1, np.int64)
        tokens = min(_TOKENS, max(1 << 8, int(lengths.sum())) + 128)
        self.hashes, self.packs, self.sizes = (np.zeros(tokens, np.uint64) for _ in range(3))
        self.ids, self.extras = np.zeros(tokens, np.int64), np.zeros(tokens, np.int64)
        self.part_row, self.part_end, self.extra_end, self.firsts = (np.zeros(tokens, np.int64) for _ in range(4))
        deep = tokens if lookup.highest > 1 else 0
        self.level_hash = np.zeros((lookup.highest + 1, deep), np.uint64)
        self.level_node = np.zeros((lookup.highest + 1, deep), np.int64)
        self.scratch, self.spare = scratch_for(int(lengths.max(initial=0)))

    def __iter__(self) -> Iterator[tuple[Array, Array, int, int]]:
        """Nodes, the ends of the parts among them, how many parts, and how many rows were completed before."""
        how, state, closing = self.lookup.how, np.array([0, -1, 0, 0, 0, 0]), np.uint64(0)
        kinds, letters, cases = readable(how.kinds), readable(how.letters), readable(how.cases)
        completed, have = 0, 0
        start = np.zeros(self.lookup.highest + 1, np.uint64), np.full(self.lookup.highest + 1, -1)
        lead = start[0].copy(), start[1].copy()
        while True:
            loops.read(
                readable(self.piece.data), readable(self.piece.offsets), readable(self.rows), kinds, letters,
                cases, np.uint64(how.shortest), how.cues, how.separated, closing, self.scratch, self.spare,
                self.hashes, self.packs, self.sizes, self.part_row, self.part_end, state,
            )  # fmt: skip
            found, _, parts = state[loops.FOUND :].tolist()
            if parts == 0:
                return
            yield from self._batch(found, parts, completed, have, *lead)
            inside = int(state[loops.BYTE] >= 0)
            completed += parts - inside
            if self.lookup.highest > 1:
                have = carry(
                    parts, bool(inside), have, 0, self.part_end, self.level_hash, self.level_node, *start, *lead
                )

    def _batch(
        self, found: int, parts: int, completed: int, have: int, hashes: Array, nodes: Array
    ) -> Iterator[tuple[Array, Array, int, int]]:
        levels = self._levels(found, parts, completed, have, hashes, nodes)
        if not self.lookup.buckets:
            yield from levels
            return
        # A word and a pair of one document may share a bucket: what counts once must come together.
        streams = [(places[: int(ends[parts - 1])].copy(), ends[:parts].copy()) for places, ends, _, _ in levels]
        yield (*by_part(streams, parts), parts, completed)

    def _levels(
        self, found: int, parts: int, completed: int, have: int, hashes: Array, nodes: Array
    ) -> Iterator[tuple[Array, Array, int, int]]:
        look, raw = self.lookup, self.lookup.raw
        if not look.buckets or raw is not None:
            find_known(
                np.uint64(found), self.hashes, self.packs, self.sizes, self.scratch, look.slots, look.text, look.ends,
                self.ids,
            )  # fmt: skip
        if raw is not None:
            loops.translate(
                self.ids,
                self.hashes,
                look.own,
                raw.into,
                raw.besides,
                self.part_end,
                parts,
                self.extras,
                self.extra_end,
            )
            more = int(self.extra_end[parts - 1])
            if more:
                self.extras[:more] = self._named(self.extras[:more], look.own[self.extras[:more]])
                yield self.extras, self.extra_end, parts, completed
        n = int(self.part_end[parts - 1])
        if not look.buckets and raw is not None:
            self.ids[:n] = self._named(self.ids[:n], self.hashes[:n])
        if look.highest > 1:
            self.level_hash[1, :n], self.level_node[1, :n] = self.hashes[:n], self.ids[:n]
        if look.lowest == 1:
            if look.buckets:
                self.ids[:n] = self._named(self.ids[:n], self.hashes[:n])
            yield self.ids, self.part_end, parts, completed
        for level in range(2, look.highest + 1):
            loops.hash_level(level, self.part_end, parts, have, 0, hashes, hashes, self.level_hash, self.firsts)
            if look.buckets:
                if level >= look.lowest:
                    loops.bucket_level(
                        level,
                        self.part_end,
                        parts,
                        self.firsts,
                        self.level_hash,
                        look.buckets,
                        self.ids,
                        self.extra_end,
                    )
                    yield self.ids, self.extra_end, parts, completed
                continue
            _find_grams(
                level, self.part_end, parts, self.firsts, nodes, nodes, self.level_hash, self.level_node,
                look.levels[level - 2],
            )  # fmt: skip
            if level >= look.lowest:
                found_here = self.level_node[level]
                shifted = np.where(found_here[:n] >= 0, found_here[:n] + look.offsets[level - 1], -1)
                yield shifted, self.part_end, parts, completed

    def _named(self, ids: Array, hashes: Array) -> Array:
        """The nodes of words by their numbers in the table of raw words, or the buckets of their hashes."""
        look = self.lookup
        if look.buckets:
            return (hashes >> np.uint64(64 - look.buckets)).astype(np.int64)
        assert look.raw is not None
        return np.where(ids >= 0, look.raw.nodes[ids], -1)


def _room(n: int) -> int:
    """Slots for n things, no more than five eighths of which are taken."""
    size = 2
    while size * 5 < n * 8:
        size *= 2
    return size
