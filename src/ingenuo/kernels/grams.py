"""Counting the words and n-grams of documents, class by class, straight from their UTF-8 bytes.

A thread has a table of words and a table of n-grams of its own. An n-gram is known by the pair (what precedes its
last word, that word), so it is told apart for certain without a look at any bytes. Every word or n-gram has a ring
of cells, one for each class it was seen in; documents come in the order of their classes, so the cell that was used
last is nearly always the one that is wanted next.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from ingenuo.kernels.tokens import TOUCH, add_new, cut, follow, home_shift, mark, mix, tokenise

# Places in the reader's state: the next row, the byte to go on from (-1: its first), a negation's scope, and how
# many words, bytes of long words, and parts the last call has found.
ROW, BYTE, SCOPE, FOUND, USED, PARTS = range(6)
# What a table lacks; or that longer n-grams are to be added.
DONE, MORE_WORDS, MORE_GRAMS, MORE_CELLS, LONGER = range(5)
# The longest n-grams that are counted within the loop over batches. It takes the tables of their levels as a tuple,
# always as many, for another number would have it compiled again.
DEEPEST = 4


@njit(cache=True, nogil=True)
def read(  # type: ignore[no-untyped-def]
    data,
    offsets,
    rows,
    kinds,
    letters,
    cases,
    shortest,
    cues,
    separated,
    closing,
    scratch,
    spare,
    hashes,
    packs,
    sizes,
    part_row,
    part_end,
    state,
):
    """The words of the next rows, as many as there is room for; a row's words, or those of them that came, are a part.

    `closing` is a word (packed) that ends every row, or 0. Only the last part can lack the rest of its row.
    """  # fmt: skip
    found, used, parts = uint64(0), uint64(0), 0
    position = state[ROW]
    i = uint64(max(state[BYTE], 0))
    inside, scope = state[BYTE] >= 0, state[SCOPE]
    full, limit = uint64(hashes.size), uint64(scratch.size - spare)
    while position < rows.size and parts < part_row.size and found + uint64(64) < full and used < limit:
        row = rows[position]
        begin, end = uint64(offsets[row]), uint64(offsets[row + 1])
        if not inside:
            i, scope = begin, 0
        room = full - found - uint64(8)  # a word takes a byte at least, and two closing words may be added
        if parts > 0 and end - begin > room:  # only a row that begins a batch is cut, so its cuts are its own
            break
        if separated:
            found, used, i = cut(data, i, end, room, scratch, used, hashes, packs, sizes, found)
        elif cues.size:
            found, used, i, scope = mark(
                data, begin, i, end, room, kinds, letters, cases, shortest, cues, scope,
                scratch, used, hashes, packs, sizes, found,
            )  # fmt: skip
        else:
            found, used, i = tokenise(
                data, begin, i, end, room, kinds, letters, cases, shortest, scratch, used, hashes, packs, sizes, found
            )
        inside = i < end
        if not inside:
            if closing:
                hashes[found], packs[found], sizes[found] = mix(closing), closing, uint64(0)
                found += uint64(1)
            position += 1
        part_row[parts], part_end[parts] = row, found
        parts += 1
        if inside:
            break
    state[ROW], state[BYTE], state[SCOPE] = position, np.int64(i) if inside else -1, scope
    state[FOUND], state[USED], state[PARTS] = found, used, parts


@njit(cache=True, nogil=True)
def _cell(links, sums, stamps, cells, e, label):  # type: ignore[no-untyped-def]
    """The cell of a class in the ring that e (or -1) is on, made if there is none; and the number of cells.

    A ring goes round by ascending class. Rows come in the order of their classes, so the search, which begins at
    the cell that was used last, is over after a step.
    """
    new = cells
    if e < 0:
        links[new] = (new << 32) | label
    else:
        at = e
        while True:
            own, after = links[at] & 0xFFFFFFFF, links[at] >> 32
            if own == label:
                return at, cells
            following = links[after] & 0xFFFFFFFF
            if own < label < following or (following <= own and (label > own or label < following)):
                break
            at = after
        links[new] = (links[at] >> 32 << 32) | label
        links[at] = (new << 32) | own
    sums[new, :] = 0
    if stamps.size > new:  # where documents are counted
        stamps[new] = -1
    return new, cells + 1


@njit(cache=True, nogil=True)
def translate(ids, hashes, own, act, extra, part_end, parts, extras, extra_end):  # type: ignore[no-untyped-def]
    """Leave out the words that `act` drops and change those it maps; what words count for besides goes to `extras`."""
    n = more = t = 0
    for part in range(parts):
        while t < part_end[part]:
            word, h = ids[t], hashes[t]
            t += 1
            if word >= 0:
                if extra[word] >= 0:
                    extras[more] = extra[word]
                    more += 1
                word = np.int64(act[word])
                if word < 0:
                    continue
                h = own[word]
            ids[n], hashes[n] = word, h
            n += 1
        part_end[part], extra_end[part] = n, more


@njit(cache=True, nogil=True)
def add_words(  # type: ignore[no-untyped-def]
    places,
    part_row,
    part_end,
    parts,
    completed,
    labels,
    weights,
    counts,
    documents,
    heads,
    links,
    sums,
    stamps,
    state,
):
    """Add the words (or buckets) of these parts to the cells of their rows' classes.

    The state is (cells, first cell of this run of one class, that class). So many documents were completed before
    the first part: that is the number of its document.
    """
    cells, run, previous = state[0], state[1], state[2]
    column = uint64(sums.shape[1] - 1)  # that of the documents, where they are counted
    t = 0
    for part in range(parts):
        row = part_row[part]
        label, weight, stamp = np.int64(labels[row]), weights[row], completed + part
        if label != previous:
            run, previous = cells, label
        end = part_end[part]
        while t < end:
            place = uint64(places[t])
            t += 1
            e = np.int64(heads[place])
            if e < run:  # made for another class, or in another run of this one, or not at all
                e, cells = _cell(links, sums, stamps, cells, e, label)
                heads[place] = e
            at = uint64(e)
            if counts:
                sums[at, 0] += weight
            if documents and stamps[at] != stamp:
                stamps[at] = stamp
                sums[at, column] += weight
    state[0], state[1], state[2] = cells, run, previous


@njit(cache=True, nogil=True)
def hash_level(level, part_end, parts, have, known, lead, start, level_hash, firsts):  # type: ignore[no-untyped-def]
    """The hashes of the n-grams of a level, each at the word that ends it.

    `have` words precede the first part (their n-grams' hashes are `lead`), and `known` the others (`start`): as
    many as a document begins with. `firsts` says where the first n-gram of each part ends.
    """
    t = 0
    for part in range(parts):
        first, end = t, part_end[part]
        t = min(first + max(level - 1 - (known if part else have), 0), end)
        firsts[part] = t
        if t == first and t < end:
            level_hash[level, t] = follow(start[level - 1] if part else lead[level - 1], level_hash[1, t])
            t += 1
        while t < end:
            level_hash[level, t] = follow(level_hash[level - 1, t - 1], level_hash[1, t])
            t += 1


@njit(cache=True, nogil=True)
def bucket_level(level, part_end, parts, firsts, level_hash, buckets, places, ends):  # type: ignore[no-untyped-def]
    """The buckets of a level's n-grams, part by part."""
    n = 0
    for part in range(parts):
        for t in range(firsts[part], part_end[part]):
            places[n] = np.int64(level_hash[level, t] >> uint64(64 - buckets))
            n += 1
        ends[part] = n


@njit(cache=True, nogil=True)
def add_grams(  # type: ignore[no-untyped-def]
    level,
    counted,
    part_row,
    part_end,
    parts,
    completed,
    firsts,
    lead,
    start,
    level_hash,
    level_node,
    slots,
    n_grams,
    labels,
    weights,
    counts,
    documents,
    links,
    sums,
    stamps,
    state,
):
    """Look up, or make, the n-grams of a level, and if they are counted add them to the cells of their rows' classes.

    A slot holds an n-gram's hash, the pair of what precedes its last word and that word, and its number + 1 with its
    last cell + 1. `lead` and `start` are the nodes that precede the first part, and the others. Returns how many
    n-grams there are.
    """  # fmt: skip
    mask, shift = uint64(slots.shape[0] - 1), home_shift(slots)
    cells, run, previous = state[0], state[1], state[2]
    column = uint64(sums.shape[1] - 1)
    touched, ahead, last = uint64(0), 0, part_end[parts - 1]
    begin = 0
    for part in range(parts):
        row = part_row[part]
        label, weight, stamp = np.int64(labels[row]), weights[row], completed + part
        if label != previous:
            run, previous = cells, label
        for t in range(firsts[part], part_end[part]):
            if t >= ahead:
                ahead = min(t + TOUCH, last)
                for near in range(t, ahead):
                    touched |= slots[level_hash[level, near] >> shift, 1]
            if t > begin:
                prefix = uint64(level_node[level - 1, t - 1])
            else:
                prefix = uint64(start[level - 1] if part else lead[level - 1])
            h, pair = level_hash[level, t], (prefix << uint64(32)) | uint64(level_node[1, t])
            s = h >> shift
            while slots[s, 2] != 0 and slots[s, 1] != pair:
                s = (s + uint64(1)) & mask
            value = slots[s, 2]
            if value == 0:
                n_grams += 1
                value = uint64(n_grams) << uint64(32)
                slots[s, 0], slots[s, 1], slots[s, 2] = h, pair, value
            node = np.int64(value >> uint64(32)) - 1
            level_node[level, t] = node
            if counted:
                e = np.int64(value & uint64(0xFFFFFFFF)) - 1
                if e < run:
                    e, cells = _cell(links, sums, stamps, cells, e, label)
                    slots[s, 2] = (value >> uint64(32) << uint64(32)) | uint64(e + 1)
                at = uint64(e)
                if counts:
                    sums[at, 0] += weight
                if documents and stamps[at] != stamp:
                    stamps[at] = stamp
                    sums[at, column] += weight
        begin = part_end[part]
    state[0], state[1], state[2] = cells, run, previous
    return n_grams, touched


@njit(cache=True, nogil=True)
def _needed(found, sizes):  # type: ignore[no-untyped-def]
    """Bytes that the words which were read take at most."""
    total = np.int64(found) * 8
    for t in range(found):
        total += np.int64(sizes[t])
    return total


@njit(cache=True, nogil=True)
def carry(parts, inside, have, known, part_end, level_hash, level_node, start_hash, start_node, lead_hash, lead_node):  # type: ignore[no-untyped-def]
    """What precedes the next batch: a document's beginning, or what one that was cut has come to.

    The n-grams that end there are written to `lead`; returns how many words there are.
    """
    highest = lead_hash.size - 1
    if not inside or parts > 1:
        have = known
        lead_hash[:], lead_node[:] = start_hash, start_node
    if inside:
        begin = part_end[parts - 2] if parts > 1 else 0
        n = part_end[parts - 1] - begin
        have = min(have + n, highest - 1)
        if n:
            for level in range(1, have + 1):
                lead_hash[level] = level_hash[level, begin + n - 1]
                lead_node[level] = level_node[level, begin + n - 1]
    return have


@njit(cache=True, nogil=True)
def _next_batch(  # type: ignore[no-untyped-def]
    highest, known, part_end, level_hash, level_node, start_hash, start_node, lead_hash, lead_node, state, progress
):
    """Note what the batch has come to."""
    parts, inside = state[PARTS], state[BYTE] >= 0
    progress[1] += parts - inside
    if highest > 1:
        progress[2] = carry(parts, inside, progress[2], known, part_end, level_hash, level_node, start_hash,
                            start_node, lead_hash, lead_node)  # fmt: skip
    progress[3] = 0


@njit(cache=True, nogil=True)
def count_rows(  # type: ignore[no-untyped-def]
    data,
    offsets,
    rows,
    labels,
    weights,
    kinds,
    letters,
    cases,
    shortest,
    cues,
    separated,
    closing,
    lowest,
    highest,
    counts,
    documents,
    mapped,
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
    slots,
    text,
    ends,
    own,
    heads,
    act,
    extra,
    links,
    sums,
    stamps,
    cells,
    level_slots,
    level_links,
    level_sums,
    level_stamps,
    level_cells,
    level_n,
    start_hash,
    start_node,
    lead_hash,
    lead_node,
    state,
    progress,
):
    """Read, look up and add, batch after batch, until all rows are done or a table is full; returns what is lacking.

    In one call, because a thread that comes back to Python waits there for the other threads. `progress` is (words,
    documents completed, words that precede the batch, whether a batch that was read waits: 1 for room, 2 for longer
    n-grams).
    """  # fmt: skip
    known = highest - 1 if closing else 0
    near = min(highest, DEEPEST)
    while True:
        if progress[3] == 2:  # the longer n-grams of the batch were added
            _next_batch(highest, known, part_end, level_hash, level_node, start_hash, start_node, lead_hash, lead_node,
                        state, progress)  # fmt: skip
        if not progress[3]:
            read(data, offsets, rows, kinds, letters, cases, shortest, cues, separated, closing, scratch, spare,
                 hashes, packs, sizes, part_row, part_end, state)  # fmt: skip
            progress[3] = 1
        found, parts = state[FOUND], state[PARTS]
        if parts == 0:
            progress[3] = 0
            return DONE
        if progress[0] + found > min(own.size, slots.shape[0] // 2) or (
            ends[progress[0]] + _needed(found, sizes) > text.size
        ):
            return MORE_WORDS
        if cells[0] + 2 * found > links.size:
            return MORE_CELLS
        for level in range(2, near + 1):
            if (level_n[level - 2] + found) * 8 > level_slots[level - 2].shape[0] * 5:
                return MORE_GRAMS
            if level_cells[level - 2][0] + found > level_links[level - 2].size:
                return MORE_GRAMS
        before = progress[0]
        words, _ = add_new(uint64(found), hashes, packs, sizes, scratch, slots, text, ends, own, uint64(before), ids)
        progress[0] = words
        for word in range(before, progress[0]):
            heads[word], act[word], extra[word] = -1, word, -1
        completed = progress[1]
        if mapped:
            translate(ids, hashes, own, act, extra, part_end, parts, extras, extra_end)
            add_words(extras, part_row, extra_end, parts, completed, labels, weights, counts, documents, heads, links,
                      sums, stamps, cells)  # fmt: skip
        n = part_end[parts - 1]
        if lowest == 1:
            add_words(ids, part_row, part_end, parts, completed, labels, weights, counts, documents, heads, links,
                      sums, stamps, cells)  # fmt: skip
        if highest > 1:
            level_hash[1, :n], level_node[1, :n] = hashes[:n], ids[:n]
        for level in range(2, near + 1):
            at = level - 2
            hash_level(level, part_end, parts, progress[2], known, lead_hash, start_hash, level_hash, firsts)
            level_n[at], _ = add_grams(
                level, level >= lowest, part_row, part_end, parts, completed, firsts, lead_node, start_node, level_hash,
                level_node, level_slots[at], level_n[at], labels, weights, counts, documents, level_links[at],
                level_sums[at], level_stamps[at], level_cells[at],
            )  # fmt: skip
        if highest > DEEPEST:
            progress[3] = 2
            return LONGER
        _next_batch(highest, known, part_end, level_hash, level_node, start_hash, start_node, lead_hash, lead_node,
                    state, progress)  # fmt: skip


@njit(cache=True, nogil=True)
def refill(old, slots):  # type: ignore[no-untyped-def]
    """Put what a table holds into a larger, empty one."""
    mask, shift, last = uint64(slots.shape[0] - 1), home_shift(slots), slots.shape[1] - 1
    for o in range(old.shape[0]):
        if old[o, last]:
            s = old[o, 0] >> shift
            while slots[s, last]:
                s = (s + uint64(1)) & mask
            slots[s] = old[o]
