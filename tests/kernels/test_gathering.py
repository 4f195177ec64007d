"""Rows of text in another order: the bytes of each are those it had."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ingenuo.kernels.text import gather_rows

texts = st.lists(st.one_of(st.just(b""), st.binary(max_size=9), st.text(max_size=5).map(str.encode)), max_size=12)


def pieces_of(rows, cuts):
    """The rows in pieces, cut at these places; each piece begins with bytes that are of no row."""
    bounds = sorted({0, *(cut % (len(rows) + 1) for cut in cuts)})
    found, firsts = [], []
    for lo, hi in zip(bounds, [*bounds[1:], len(rows)]):
        own = rows[lo:hi]
        data = np.frombuffer(b"??" + b"".join(own), np.uint8)
        found.append((data, 2 + np.append(0, np.cumsum([len(row) for row in own])).astype(np.int64)))
        firsts.append(lo)
    return found, np.array(firsts)


@settings(deadline=None, max_examples=60)
@given(texts, st.lists(st.integers(0, 12), max_size=3), st.data())
def test_every_row_has_the_bytes_it_had(rows, cuts, data):
    pieces, firsts = pieces_of(rows, cuts)
    wanted = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=15) if rows else st.just([]))
    found, offsets = gather_rows(pieces, firsts, np.array(wanted, np.intp))
    assert offsets[0] == 0
    assert len(offsets) == len(wanted) + 1
    assert [bytes(found[lo:hi]) for lo, hi in pairwise(offsets)] == [rows[row] for row in wanted]


def test_bytes_that_may_only_be_read_are_read():
    data = np.frombuffer(b"onetwo", np.uint8)
    assert not data.flags.writeable
    found, offsets = gather_rows([(data, np.array([0, 3, 6]))], np.array([0]), np.array([1, 1, 0]))
    assert bytes(found) == b"twotwoone"
    assert offsets.tolist() == [0, 3, 6, 9]
