"""From UTF-8 bytes to words: the loop that finds the next words of a document, and the table that knows them.

A word is a run of letters, digits and underscores, in lower case if so asked. A word of up to eight bytes is one
64-bit integer, and its hash is a mixing of that integer that can be undone: two short words have one hash only if
they are one word. Longer words are compared byte by byte where their hashes agree. So words are told apart for
certain, and most of them without a look at their bytes.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint8, uint32, uint64

from ingenuo.kernels.letters import BEYOND, DOTTED_I, SIGMA

# Words whose places in a table are loaded before the first of them is looked at.
TOUCH = 1 << 8
_NEAR = 1 << 18  # unless the table has no more slots than this: then a cache holds it

_ONE, _TWO = uint64(0xFF51AFD7ED558CCD), uint64(0xC4CEB9FE1A85EC53)
START = uint64(0x9E3779B97F4A7C15)
# b"not_": what marks a word in the scope of a negation.
_MARK = uint64(0x6E6F745F)
# A size with this bit is that of a word whose hash is known already.
_SPELLED = uint64(1 << 63)
# A packed word above this has eight bytes at least.
_EIGHT = uint64(0xFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def mix(h):  # type: ignore[no-untyped-def]
    """Spread every bit of h over all of them; one to one."""
    h ^= h >> uint64(33)
    h *= _ONE
    h ^= h >> uint64(33)
    h *= _TWO
    return h ^ (h >> uint64(33))


@njit(cache=True, nogil=True)
def fold(h, pack):  # type: ignore[no-untyped-def]
    """Take eight more bytes of a long word into its hash."""
    h = (h ^ pack) * _ONE
    return h ^ (h >> uint64(32))


@njit(cache=True, nogil=True)
def finish(h, pack, n):  # type: ignore[no-untyped-def]
    """The hash of a word of n bytes, from its last ones and the hash of those before them."""
    return mix(pack) if n <= 8 else mix(h ^ pack ^ (n << uint64(32)))


@njit(cache=True, nogil=True)
def follow(prefix, word):  # type: ignore[no-untyped-def]
    """The hash of an n-gram, from those of what precedes its last word and of that word."""
    return mix(prefix * uint64(0x9FB21C651E98DF25) + (word ^ START))


@njit(cache=True, nogil=True)
def decode(data, i, end):  # type: ignore[no-untyped-def]
    """The character that begins at a byte beyond ASCII, and its length; (0, 1) where the bytes are none."""
    b = uint32(data[i])
    if b >= 0xC2 and b < 0xE0 and i + uint64(1) < end:
        return ((b & uint32(0x1F)) << uint32(6)) | uint32(data[i + uint64(1)] & 0x3F), uint64(2)
    if b >= 0xE0 and b < 0xF0 and i + uint64(2) < end:
        high = ((b & uint32(0xF)) << uint32(12)) | (uint32(data[i + uint64(1)] & 0x3F) << uint32(6))
        return high | uint32(data[i + uint64(2)] & 0x3F), uint64(3)
    if b >= 0xF0 and b < 0xF5 and i + uint64(3) < end:
        high = ((b & uint32(0x7)) << uint32(18)) | (uint32(data[i + uint64(1)] & 0x3F) << uint32(12))
        return min(
            high | (uint32(data[i + uint64(2)] & 0x3F) << uint32(6)) | uint32(data[i + uint64(3)] & 0x3F),
            uint32(0x10FFFF),
        ), uint64(4)
    return uint32(0), uint64(1)


@njit(cache=True, nogil=True)
def _final(data, begin, i, end, cases):  # type: ignore[no-untyped-def]
    """Whether a capital sigma at i ends its word: a cased character before it and none after it, each the next that
    is not looked through.
    """
    p, before = i, False
    while p > begin:
        p -= uint64(1)
        while p > begin and data[p] & 0xC0 == 0x80:
            p -= uint64(1)
        cp = uint32(data[p]) if data[p] < 128 else decode(data, p, end)[0]
        if cases[cp] != 2:
            before = cases[cp] == 1
            break
    if not before:
        return False
    p = i + uint64(2)
    while p < end:
        cp, size = (uint32(data[p]), uint64(1)) if data[p] < 128 else decode(data, p, end)
        if cases[cp] != 2:
            return cases[cp] != 1
        p += size
    return True


@njit(cache=True, nogil=True)
def _ends_clause(cp):  # type: ignore[no-untyped-def]
    """. , : ; ! ? … ¿ ¡"""
    return (
        cp == 0x2E
        or cp == 0x2C
        or cp == 0x3A
        or cp == 0x3B
        or cp == 0x21
        or cp == 0x3F
        or cp == 0x2026
        or cp == 0xBF
        or cp == 0xA1
    )


@njit(cache=True, nogil=True)
def _contracted(data, i, end, kinds, letters):  # type: ignore[no-untyped-def]
    """Whether 't, the rest of a negation such as didn't, stands at i: with an apostrophe of either kind."""
    if i < end and data[i] == 0x27:
        i += uint64(1)
    elif i + uint64(2) < end and data[i] == 0xE2 and data[i + uint64(1)] == 0x80 and data[i + uint64(2)] == 0x99:
        i += uint64(3)
    else:
        return False
    if i >= end or (data[i] | 0x20) != 0x74:
        return False
    i += uint64(1)
    if i >= end:
        return True
    kind = kinds[data[i]]
    return kind == 0 or (kind == BEYOND and letters[decode(data, i, end)[0]] == 0)


@njit(cache=True, nogil=True)
def _spell(data, begin, i, end, kinds, letters, cases, scope, scratch, used):  # type: ignore[no-untyped-def]
    """Write the word at byte i to scratch, letter by letter: for words beyond ASCII, long ones and marked ones.

    Returns its hash, its bytes, how many characters of the text it has, its last byte, its packed bytes (where
    they are eight at most), and the byte after it. Where the character at i is no letter, nothing is written.
    """
    n, hidden = uint64(0), uint64(0)  # bytes, and how many of them are no characters of the text
    pack, h, last = uint64(0), START, uint64(0)
    if scope == 1:
        pack, n, hidden = _MARK, uint64(4), uint64(4)
        for shift in range(4):
            scratch[used + uint64(shift)] = np.uint8(_MARK >> uint64(24 - 8 * shift))
    while i < end:
        kind = kinds[data[i]]
        if kind == 0:
            break
        ends, size = False, uint64(1)
        letter = uint32(kind)
        if kind == BEYOND:
            cp, size = decode(data, i, end)
            letter = letters[cp]
            if letter == 0:
                break
            if letter == SIGMA:
                letter = uint32(0xCF82) if _final(data, begin, i, end, cases) else uint32(0xCF83)
            elif letter == DOTTED_I:
                letter, ends = uint32(0x69), True
        i += size
        shift = 24 if letter > 0xFFFFFF else 16 if letter > 0xFFFF else 8 if letter > 0xFF else 0
        hidden += uint64(shift >> 3)
        while shift >= 0:
            if n & uint64(7) == 0 and n > 0:
                h = fold(h, pack)
                pack = uint64(0)
            last = uint64((letter >> uint32(shift)) & uint32(0xFF))
            pack = (pack << uint64(8)) | last
            scratch[used + n] = np.uint8(last)
            n += uint64(1)
            shift -= 8
        if ends:
            break
    return finish(h, pack, n), n, n - hidden, last, pack, i


@njit(cache=True, nogil=True)
def _start(data, begin, i, kinds):  # type: ignore[no-untyped-def]
    """Where the ASCII letters that end before byte i begin."""
    while i > begin and uint8(kinds[data[i - uint64(1)]] - 1) < 127:
        i -= uint64(1)
    return i


@njit(cache=True, nogil=True)
def tokenise(data, begin, i, end, room, kinds, letters, cases, shortest, scratch, used, hashes, packs, sizes, found):  # type: ignore[no-untyped-def]
    """The next words of the document begin..end from byte i on: those of so many bytes as there is room for.

    Of each word come its hash and its bytes: packed into an integer where they are eight at most (its size is then
    0), else the place where they lie in `scratch`, and their number. `found` words and `used` bytes are there
    already. Returns how many there are then, and the byte to go on from.

    Where a word ends is what a processor guesses worst, so the loop over ASCII has no branch for it: the word so
    far is always written, and the place to write to moves on only at its end. (Half as long again as fast, on
    English news, as a loop that asks.)
    """
    least = uint64(0) if shortest == 1 else uint64(0xFF)  # a word of enough bytes is above this
    first, stop, start, pack = i, min(end, i + room), found, uint64(0)
    while i < stop:
        kind = uint64(kinds[data[i]])
        if kind == BEYOND:
            cp, size = decode(data, i, end)
            if letters[cp] == 0:
                packs[found], sizes[found] = pack, i
                found += uint64(pack > least)
                i += size
            else:
                i = _start(data, first, i, kinds)
                h, n, characters, _, pack, i = _spell(data, begin, i, end, kinds, letters, cases, 0, scratch, used)
                if characters >= shortest:
                    hashes[found], sizes[found] = h, _SPELLED | n
                    packs[found] = pack if n <= 8 else used
                    used += n if n > 8 else uint64(0)
                    found += uint64(1)
            pack = uint64(0)
            continue
        packs[found], sizes[found] = pack, i
        found += uint64((kind == 0) & (pack > least))
        pack = ((pack << uint64(8)) | kind) & (uint64(0) - uint64(kind != 0))
        i += uint64(1)
    if pack != 0 and stop < end:  # within a word: the next block begins with it, unless it alone fills this one
        i = _start(data, first, i, kinds)
        if i == first:
            h, n, characters, _, pack, i = _spell(data, begin, i, end, kinds, letters, cases, 0, scratch, used)
            hashes[found], packs[found], sizes[found] = h, used, _SPELLED | n
            used += n
            found += uint64(1)
    elif pack > least:
        packs[found], sizes[found] = pack, i
        found += uint64(1)
    for t in range(start, found):
        place, pack = sizes[t], packs[t]
        if place & _SPELLED:
            n = place ^ _SPELLED
            sizes[t] = n if n > 8 else uint64(0)
            continue
        if pack > _EIGHT and place - begin > 8 and uint8(kinds[data[place - uint64(9)]] - 1) < 127:
            at = _start(data, begin, place, kinds)
            n, h, last = place - at, START, uint64(0)
            for j in range(n):
                byte = kinds[data[at + j]]
                if j & uint64(7) == 0 and j > 0:
                    h = fold(h, last)
                    last = uint64(0)
                last = (last << uint64(8)) | uint64(byte)
                scratch[used + j] = byte
            hashes[t], packs[t], sizes[t] = finish(h, last, n), used, n
            used += n
        else:
            hashes[t] = mix(pack)
            sizes[t] = uint64(0)
    return found, used, i


@njit(cache=True, nogil=True)
def _opens(cues, short, pack, last, data, i, end, kinds, letters):  # type: ignore[no-untyped-def]
    """The scope after a word outside one: 1 after a cue, 2 before the t of n't, else 0."""
    if short:
        for c in range(1, cues.size):
            if cues[c] == pack:
                return 1
    if cues[0] == 1 and (last | uint64(0x20)) == 0x6E and _contracted(data, i, end, kinds, letters):
        return 2
    return 0


@njit(cache=True, nogil=True)
def mark(  # type: ignore[no-untyped-def]
    data, begin, i, end, room, kinds, letters, cases, shortest, cues, scope, scratch, used, hashes, packs, sizes, found
):
    """As `tokenise`, with the words in the scope of a negation marked.

    `scope` is 0 outside a negation's scope, 1 inside, 2 before the t of n't; `cues` are the words that open one,
    packed, after a 1 if n't does so too. Returns the scope as well.
    """
    stop = min(end, i + room)
    while i < stop:
        kind = kinds[data[i]]
        characters = uint64(0)
        if kind != 0:
            h, n, characters, last, pack, after = _spell(
                data, begin, i, end, kinds, letters, cases, scope, scratch, used
            )
        if characters == 0:
            cp, size = (uint32(data[i]), uint64(1)) if kind == 0 else decode(data, i, end)
            if _ends_clause(cp):
                scope = 0
            i += size
            continue
        i = after
        if scope == 0:
            scope = _opens(cues, n <= 8, pack, last, data, i, end, kinds, letters)
        elif scope == 2:
            scope = 1
        if characters >= shortest:
            hashes[found] = h
            packs[found] = pack if n <= 8 else used
            sizes[found] = n if n > 8 else uint64(0)
            used += n if n > 8 else uint64(0)
            found += uint64(1)
    return found, used, i, scope


@njit(cache=True, nogil=True)
def cut(data, i, end, room, scratch, used, hashes, packs, sizes, found):  # type: ignore[no-untyped-def]
    """As `tokenise`, for words that were found elsewhere and stand apart by the byte 0x1F."""
    stop = min(end, i + room)
    while i < stop:
        pack, h, n = uint64(0), START, uint64(0)
        while i < end and data[i] != 0x1F:
            if n & uint64(7) == 0 and n > 0:
                h = fold(h, pack)
                pack = uint64(0)
            pack = (pack << uint64(8)) | uint64(data[i])
            scratch[used + n] = data[i]
            n += uint64(1)
            i += uint64(1)
        i += uint64(1)
        if n:
            hashes[found] = finish(h, pack, n)
            packs[found] = pack if n <= 8 else used
            sizes[found] = n if n > 8 else uint64(0)
            used += n if n > 8 else uint64(0)
            found += uint64(1)
    return found, used, min(i, end)


@njit(cache=True, nogil=True)
def _same(text, at, scratch, begin, n):  # type: ignore[no-untyped-def]
    for j in range(n):  # noqa: SIM110 (numba compiles no generators well)
        if text[at + j] != scratch[begin + j]:
            return False
    return True


@njit(cache=True, nogil=True)
def _write(text, at, scratch, pack, n):  # type: ignore[no-untyped-def]
    """Write a word to the table's text; returns where it ends."""
    if n > 0:
        for j in range(n):
            text[at + j] = scratch[pack + j]
        return at + n
    shift = uint64(64)
    while shift > 0:
        shift -= uint64(8)
        byte = (pack >> shift) & uint64(0xFF)
        if byte:  # none of a word's bytes is zero
            text[at] = np.uint8(byte)
            at += uint64(1)
    return at


@njit(cache=True, nogil=True)
def home_shift(slots):  # type: ignore[no-untyped-def]
    """By how many bits a hash is shifted to give its place in a table: places follow the hashes' order."""
    shift, size = uint64(64), slots.shape[0]
    while size > 1:
        size >>= 1
        shift -= uint64(1)
    return shift


@njit(cache=True, nogil=True)
def add_new(found, hashes, packs, sizes, scratch, slots, text, ends, own, n_words, ids):  # type: ignore[no-untyped-def]
    """The numbers of words in a table, into which new ones are put; returns how many it has.

    A slot holds a hash and (number + 1) · 2, plus 1 for a word of more than eight bytes. `ends` has a zero before
    the first word's end.
    """
    mask, shift = uint64(slots.shape[0] - 1), home_shift(slots)
    far, touched = slots.shape[0] > _NEAR, uint64(0)
    for t in range(found):
        if far and t % TOUCH == 0:  # so that the loads of several words are under way at once
            for ahead in range(t, min(t + TOUCH, found)):
                touched |= slots[hashes[ahead] >> shift, 0]
        h, n = hashes[t], sizes[t]
        long = uint64(n > 0)
        s = h >> shift
        while True:
            value = slots[s, 1]
            if slots[s, 0] == h and value != 0 and (value & uint64(1)) == long:
                number = (value >> uint64(1)) - uint64(1)
                if long == 0:
                    ids[t] = number
                    break
                at = uint64(ends[number])
                if uint64(ends[number + uint64(1)]) - at == n and _same(text, at, scratch, packs[t], n):
                    ids[t] = number
                    break
            if value == 0:
                ends[n_words + uint64(1)] = _write(text, uint64(ends[n_words]), scratch, packs[t], n)
                own[n_words] = h
                slots[s, 0] = h
                slots[s, 1] = ((n_words + uint64(1)) << uint64(1)) | long
                ids[t] = n_words
                n_words += uint64(1)
                break
            s = (s + uint64(1)) & mask
    return n_words, touched


@njit(cache=True, nogil=True)
def find_known(found, hashes, packs, sizes, scratch, slots, text, ends, ids):  # type: ignore[no-untyped-def]
    """The numbers of words in a table, -1 for those that it has not."""
    mask, shift = uint64(slots.shape[0] - 1), home_shift(slots)
    far, touched = slots.shape[0] > _NEAR, uint64(0)
    for t in range(found):
        if far and t % TOUCH == 0:
            for ahead in range(t, min(t + TOUCH, found)):
                touched |= slots[hashes[ahead] >> shift, 0]
        h, n = hashes[t], sizes[t]
        long = uint64(n > 0)
        s = h >> shift
        while True:
            value = slots[s, 1]
            if value == 0:
                ids[t] = -1
                break
            if slots[s, 0] == h and (value & uint64(1)) == long:
                number = (value >> uint64(1)) - uint64(1)
                if long == 0:
                    ids[t] = number
                    break
                at = uint64(ends[number])
                if uint64(ends[number + uint64(1)]) - at == n and _same(text, at, scratch, packs[t], n):
                    ids[t] = number
                    break
            s = (s + uint64(1)) & mask
    return touched
