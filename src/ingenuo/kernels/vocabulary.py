"""Vocabularies as arrays: words and n-grams in canonical order, united, looked up, and cut down.

The order of words is that of their hashes, and of equal hashes that of their bytes; the order of n-grams is that of
their hashes, and of equal ones that of their parts. It depends on nothing but what the words are, so two sets of
them are united in one pass over both, and it is nearly the order in which a hash table holds them.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from ingenuo.kernels.tokens import START, finish, fold, follow, home_shift

# Rings of cells whose first is loaded before the first of them is walked.
_NEAR = 1 << 6


@njit(cache=True, nogil=True)
def compare(one, a, b, two, c, d):  # type: ignore[no-untyped-def]
    """Below, at or above zero as the bytes one[a:b] come before, are, or come after two[c:d]."""
    for j in range(min(b - a, d - c)):
        if one[a + j] != two[c + j]:
            return np.int64(one[a + j]) - np.int64(two[c + j])
    return (b - a) - (d - c)


@njit(cache=True, nogil=True)
def _round(slots):  # type: ignore[no-untyped-def]
    """How many slots from the first on can hold what had to go round the table's end: up to the first empty one."""
    last = slots.shape[1] - 1
    for s in range(slots.shape[0]):
        if slots[s, last] == 0:
            return s
    return slots.shape[0]


@njit(cache=True, nogil=True)
def order_words(slots, text, ends, order, hashes, place):  # type: ignore[no-untyped-def]
    """The words' numbers in the order of their hashes (of equal ones, of their bytes), and where each word went."""
    shift, late = home_shift(slots), _round(slots)
    n = 0
    for s in range(slots.shape[0] + late):
        again = s >= slots.shape[0]
        s = s - slots.shape[0] if again else s
        h = slots[s, 0]
        if slots[s, 1] == 0 or (s < late and (h >> shift > uint64(s)) != again):
            continue
        word = np.int64(slots[s, 1] >> uint64(1)) - 1
        at = n
        while at > 0 and hashes[at - 1] >= h:
            other = order[at - 1]
            if hashes[at - 1] == h and (
                compare(text, ends[other], ends[other + 1], text, ends[word], ends[word + 1]) < 0
            ):
                break
            order[at], hashes[at] = other, hashes[at - 1]
            at -= 1
        order[at], hashes[at] = word, h
        n += 1
    for position in range(n):
        place[order[position]] = position


@njit(cache=True, nogil=True)
def order_grams(slots, above, words, hashes, parents, lasts, order, heads, place):  # type: ignore[no-untyped-def]
    """The same for a level of n-grams (equal hashes: in the order of their parts); above and words say where those
    went.
    """
    shift, late = home_shift(slots), _round(slots)
    n = 0
    for s in range(slots.shape[0] + late):
        again = s >= slots.shape[0]
        s = s - slots.shape[0] if again else s
        h = slots[s, 0]
        if slots[s, 2] == 0 or (s < late and (h >> shift > uint64(s)) != again):
            continue
        parent, last = above[slots[s, 1] >> uint64(32)], words[slots[s, 1] & uint64(0xFFFFFFFF)]
        at = n
        while at > 0 and hashes[at - 1] >= h:
            if hashes[at - 1] == h and (
                parents[at - 1] < parent or (parents[at - 1] == parent and lasts[at - 1] < last)
            ):
                break
            hashes[at], parents[at], lasts[at] = hashes[at - 1], parents[at - 1], lasts[at - 1]
            order[at], heads[at] = order[at - 1], heads[at - 1]
            at -= 1
        hashes[at], parents[at], lasts[at] = h, parent, last
        order[at] = np.int64(slots[s, 2] >> uint64(32)) - 1
        heads[at] = np.int64(slots[s, 2] & uint64(0xFFFFFFFF)) - 1
        n += 1
    for position in range(n):
        place[order[position]] = position


@njit(cache=True, nogil=True)
def gather(heads, links, sums, starts, codes, values):  # type: ignore[no-untyped-def]
    """The cells of each ring, in the order of their classes; heads are those of the nodes in their order, or -1."""
    n, touched = 0, np.int64(0)
    for f in range(heads.size):
        if f % _NEAR == 0:  # so that the loads of several rings are under way at once
            for near in range(f, min(f + _NEAR, heads.size)):
                e = max(heads[near], 0)
                touched |= links[e] ^ np.int64(sums[e, 0])
        e, first = np.int64(heads[f]), n
        at = e
        while at >= 0:
            to, code = n, np.int32(links[at] & 0xFFFFFFFF)
            while to > first and codes[to - 1] > code:
                codes[to] = codes[to - 1]
                values[to] = values[to - 1]
                to -= 1
            codes[to] = code
            for c in range(values.shape[1]):
                values[to, c] = sums[at, c]
            n += 1
            at = links[at] >> 32
            if at == e:
                break
        starts[f + 1] = n
    return touched


@njit(cache=True, nogil=True)
def write_words(text, ends, order, data, new_ends):  # type: ignore[no-untyped-def]
    """Write the bytes of the words in a new order; `ends` has a zero first, `new_ends` has not."""
    at = 0
    for position in range(order.size):
        word = order[position]
        for p in range(ends[word], ends[word + 1]):
            data[at] = text[p]
            at += 1
        new_ends[position] = at


@njit(cache=True, nogil=True)
def hash_words(data, ends, hashes):  # type: ignore[no-untyped-def]
    """The hashes of words given by their bytes."""
    at = 0
    for w in range(ends.size):
        pack, h, n = uint64(0), START, uint64(0)
        for p in range(at, ends[w]):
            if n & uint64(7) == 0 and n > 0:
                h = fold(h, pack)
                pack = uint64(0)
            pack = (pack << uint64(8)) | uint64(data[p])
            n += uint64(1)
        hashes[w] = finish(h, pack, n)
        at = ends[w]


@njit(cache=True, nogil=True)
def hash_level(above, words, parents, lasts, hashes):  # type: ignore[no-untyped-def]
    """The hashes of n-grams given by their parts."""
    for g in range(parents.size):
        hashes[g] = follow(above[parents[g]], words[lasts[g]])


@njit(cache=True, nogil=True)
def unite_words(hash_a, data_a, ends_a, hash_b, data_b, ends_b, map_a, map_b):  # type: ignore[no-untyped-def]
    """Where the words of either stand among those of both; returns how many those are."""
    i = j = n = 0
    while i < hash_a.size or j < hash_b.size:
        if j >= hash_b.size:
            sign = np.int64(-1)
        elif i >= hash_a.size:
            sign = np.int64(1)
        elif hash_a[i] != hash_b[j]:
            sign = np.int64(-1) if hash_a[i] < hash_b[j] else np.int64(1)
        else:
            sign = compare(data_a, ends_a[i - 1] if i else 0, ends_a[i], data_b, ends_b[j - 1] if j else 0, ends_b[j])
        if sign <= 0:
            map_a[i] = n
            i += 1
        if sign >= 0:
            map_b[j] = n
            j += 1
        n += 1
    return n


@njit(cache=True, nogil=True)
def unite_level(  # type: ignore[no-untyped-def]
    hash_a,
    parents_a,
    lasts_a,
    hash_b,
    parents_b,
    lasts_b,
    above_a,
    above_b,
    words_a,
    words_b,
    map_a,
    map_b,
    hashes,
    parents,
    lasts,
):
    """The same for n-grams, given where their parts went; and the united level itself."""  # fmt: skip
    i = j = n = 0
    while i < hash_a.size or j < hash_b.size:
        if j >= hash_b.size:
            sign = np.int64(-1)
        elif i >= hash_a.size:
            sign = np.int64(1)
        elif hash_a[i] != hash_b[j]:
            sign = np.int64(-1) if hash_a[i] < hash_b[j] else np.int64(1)
        else:
            sign = np.int64(above_a[parents_a[i]]) - np.int64(above_b[parents_b[j]])
            if sign == 0:
                sign = np.int64(words_a[lasts_a[i]]) - np.int64(words_b[lasts_b[j]])
        if sign <= 0:
            hashes[n], parents[n], lasts[n] = hash_a[i], above_a[parents_a[i]], words_a[lasts_a[i]]
            map_a[i] = n
            i += 1
        if sign > 0:
            hashes[n], parents[n], lasts[n] = hash_b[j], above_b[parents_b[j]], words_b[lasts_b[j]]
        if sign >= 0:
            map_b[j] = n
            j += 1
        n += 1
    return n


@njit(cache=True, nogil=True)
def join_words(data_a, ends_a, map_a, data_b, ends_b, map_b, data, ends):  # type: ignore[no-untyped-def]
    """The bytes of the united words; returns how many there are."""
    i = j = at = 0
    for n in range(ends.size):
        if i < map_a.size and map_a[i] == n:
            for p in range(ends_a[i - 1] if i else 0, ends_a[i]):
                data[at] = data_a[p]
                at += 1
            i += 1
            if j < map_b.size and map_b[j] == n:
                j += 1
        else:
            for p in range(ends_b[j - 1] if j else 0, ends_b[j]):
                data[at] = data_b[p]
                at += 1
            j += 1
        ends[n] = at
    return at


@njit(cache=True, nogil=True)
def join_cells(  # type: ignore[no-untyped-def]
    map_a, starts_a, codes_a, class_a, map_b, starts_b, codes_b, class_b, starts, codes, from_a, from_b
):
    """The cells of two bags over united nodes (where each node went: ascending) and classes; returns how many.

    from_a and from_b say which cell of either each one comes from, or -1.
    """
    n = a = b = 0
    for f in range(starts.size - 1):
        i = i_end = j = j_end = 0
        if a < map_a.size and map_a[a] == f:
            i, i_end = starts_a[a], starts_a[a + 1]
            a += 1
        if b < map_b.size and map_b[b] == f:
            j, j_end = starts_b[b], starts_b[b + 1]
            b += 1
        while i < i_end or j < j_end:
            one = class_a[codes_a[i]] if i < i_end else 1 << 40
            two = class_b[codes_b[j]] if j < j_end else 1 << 40
            from_a[n] = i if one <= two else -1
            from_b[n] = j if two <= one else -1
            codes[n] = min(one, two)
            i += one <= two
            j += two <= one
            n += 1
        starts[f + 1] = n
    return n


@njit(cache=True, nogil=True)
def add_cells(  # type: ignore[no-untyped-def]
    map_a, starts_a, codes_a, values_a, map_b, starts_b, codes_b, values_b, starts, codes, values
):
    """The same for what two threads have counted, over the same classes, with the sums of both."""
    n = a = b = 0
    columns = values.shape[1]
    for f in range(starts.size - 1):
        i = i_end = j = j_end = 0
        if a < map_a.size and map_a[a] == f:
            i, i_end = starts_a[a], starts_a[a + 1]
            a += 1
        if b < map_b.size and map_b[b] == f:
            j, j_end = starts_b[b], starts_b[b + 1]
            b += 1
        while i < i_end or j < j_end:
            if j >= j_end or (i < i_end and codes_a[i] < codes_b[j]):
                codes[n] = codes_a[i]
                for c in range(columns):
                    values[n, c] = values_a[i, c]
                i += 1
            elif i >= i_end or codes_b[j] < codes_a[i]:
                codes[n] = codes_b[j]
                for c in range(columns):
                    values[n, c] = values_b[j, c]
                j += 1
            else:
                codes[n] = codes_a[i]
                for c in range(columns):
                    values[n, c] = values_a[i, c] + values_b[j, c]
                i += 1
                j += 1
            n += 1
        starts[f + 1] = n
    return n


@njit(cache=True, nogil=True)
def fill_words(hashes, ends, slots):  # type: ignore[no-untyped-def]
    """A table for looking words up, from words in canonical order."""
    mask, shift = uint64(slots.shape[0] - 1), home_shift(slots)
    begin = 0
    for w in range(hashes.size):
        s = hashes[w] >> shift
        while slots[s, 1]:
            s = (s + uint64(1)) & mask
        slots[s, 0] = hashes[w]
        slots[s, 1] = (uint64(w + 1) << uint64(1)) | uint64(ends[w] - begin > 8)
        begin = ends[w]


@njit(cache=True, nogil=True)
def fill_grams(hashes, parents, lasts, slots):  # type: ignore[no-untyped-def]
    """The same for a level of n-grams."""
    mask, shift = uint64(slots.shape[0] - 1), home_shift(slots)
    for g in range(hashes.size):
        s = hashes[g] >> shift
        while slots[s, 1]:
            s = (s + uint64(1)) & mask
        slots[s, 0] = (uint64(parents[g]) << uint64(32)) | uint64(lasts[g])
        slots[s, 1] = uint64(g + 1)


@njit(cache=True, nogil=True)
def in_order(data, ends, hashes):  # type: ignore[no-untyped-def]
    """Whether words stand in canonical order, each once."""
    for w in range(1, ends.size):
        if hashes[w - 1] > hashes[w]:
            return False
        begin = ends[w - 2] if w > 1 else 0
        if hashes[w - 1] == hashes[w] and compare(data, begin, ends[w - 1], data, ends[w - 1], ends[w]) >= 0:
            return False
    return True


@njit(cache=True, nogil=True)
def level_in_order(hashes, parents, lasts):  # type: ignore[no-untyped-def]
    """Whether n-grams stand in canonical order, each once."""
    for g in range(1, hashes.size):
        if hashes[g - 1] > hashes[g]:
            return False
        if hashes[g - 1] == hashes[g] and (
            parents[g - 1] > parents[g] or (parents[g - 1] == parents[g] and lasts[g - 1] >= lasts[g])
        ):
            return False
    return True
