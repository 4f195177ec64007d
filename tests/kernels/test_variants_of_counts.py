"""Counts, products, scores and the solver's loops give the same bits on every instruction set."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from ingenuo.kernels import counts, native, products, scatter, softmax
from ingenuo.kernels.softmax import Columns
from ingenuo.rows.part import Numbers


def results():
    """One array, or several, of each loop."""
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(300, 13)) * 10.0 ** rng.integers(-5, 6, 13)
    X[::40, 3] = np.nan
    table = Numbers(np.arange(13), 300, matrix=X)
    labels = rng.integers(0, 3, 300).astype(np.int32)
    for pooled in (True, False):
        for exact in products.sums(table, labels, 3, pooled=pooled):
            yield exact.limbs
    out = rng.normal(size=(300, 3))
    scatter.add_lines(table, X[1], rng.normal(size=(3, 13)), np.arange(3.0), out)
    scatter.add_distances(table, X[1], np.triu(rng.normal(size=(3, 13, 13))), np.ones((3, 13)), np.arange(3.0), out)
    yield out
    matrix = sparse.random_array((200, 70), density=0.3, format="csr", rng=rng)
    for classes in (1, 2, 5, 19):
        logs, sums = np.log(rng.random((70, classes))), np.zeros((200, classes))
        counts.add_log_likelihood_csr(matrix.data, matrix.indices, matrix.indptr, logs, sums)
        counts.add_log_likelihood_dense(matrix.toarray(), logs, sums)
        yield sums
    tally = counts.tally_dense(matrix.toarray(), labels[:200], 3, rng.random(200))
    yield tally
    yield counts.log_counts(tally, 0.3, tally.sum(axis=1))
    yield from counts.log_odds(rng.integers(0, 2000, (3, 200)), 0.5, [2000, 2001, 5000])
    rows, columns = (each.astype(np.int32) for each in np.nonzero(matrix.toarray()))
    by_column = Columns.of(200, 70, rows, columns, matrix.data)
    for width in (1, 3):
        G, S = rng.normal(size=(200, width)), rng.random((70, width))
        yield from (by_column.gathered(G), by_column.times(S), by_column.gram(G, S), by_column.squared_times(S, width))
    for logits in (rng.normal(size=(200, 1)), rng.normal(size=(200, 5))):
        gradient, ways = np.empty_like(logits), rng.normal(size=(2, *logits.shape))
        binary = labels[:200] % 2 if logits.shape[1] == 1 else labels[:200]
        yield np.array([softmax.residuals(logits, binary, np.zeros(0), gradient)])
        loss, slope, bend = softmax.within(logits, ways, np.array([0.3, -0.2]), binary, np.ones(200))
        yield from (gradient, np.array([loss]), slope, bend)


def digest():
    """A hash of all results."""
    found = hashlib.sha256()
    for array in results():
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("variant", native.VARIANTS)
def test_every_instruction_set_gives_the_same_bits(variant):
    environment = os.environ | {"INGENUO_VARIANT": variant}
    done = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest()


if __name__ == "__main__":
    print(digest())
