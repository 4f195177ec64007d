"""Averaged one-dependence, losses and information: the loops find what plain Python finds."""

import math

import numpy as np
import pytest

from ingenuo.kernels.codes import average_parents as average
from ingenuo.kernels.codes import left_out_information
from ingenuo.kernels.counts import losses
from ingenuo.kernels.threads import limited


def example(n, d, n_classes, seed=0, zeros=0.1):
    """Codes with some missing, and the tables of logarithms that the loop reads."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, d).astype(np.int64)
    root_at = np.cumsum(sizes) - sizes
    pair_at = np.zeros((d, d), np.int64)
    cells = 0
    for p in range(d):
        for j in range(d):
            pair_at[p, j], cells = cells, cells + int(sizes[p] * sizes[j])

    def logs(rows):
        with np.errstate(divide="ignore"):
            return np.log(rng.random((rows, n_classes)) * (rng.random((rows, n_classes)) >= zeros))

    codes = np.column_stack([rng.integers(-1, size, n) for size in sizes] or [np.empty((n, 0))]).astype(np.int32)
    total = int(sizes.sum())
    usable = rng.random(total) < 0.7
    return codes, logs(total), root_at, logs(cells), pair_at, sizes, usable, logs(total + 1), n_classes


def averaged_by_hand(codes, roots, root_at, pairs, pair_at, sizes, usable, naive, n_classes):
    out = []
    for row in codes.tolist():
        known = [j for j, x in enumerate(row) if x >= 0]
        parents = [p for p in known if usable[root_at[p] + row[p]]]
        for k in range(n_classes):
            if not parents:
                out.append(naive[-1, k] + sum(naive[root_at[j] + row[j], k] for j in known))
                continue
            terms = [
                roots[root_at[p] + row[p], k]
                + sum(pairs[pair_at[p, j] + row[p] * sizes[j] + row[j], k] for j in known if j != p)
                for p in parents
            ]
            total = sum(math.exp(term) for term in terms) / len(terms)
            out.append(math.log(total) if total else -math.inf)
    return np.array(out).reshape(len(codes), n_classes)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize(("n", "d"), [(0, 3), (1, 1), (40, 0), (60, 2), (60, 7)])
def test_the_average_is_that_of_the_products(n, d, n_classes):
    given = example(n, d, n_classes)
    np.testing.assert_allclose(average(*given), averaged_by_hand(*given), rtol=1e-12)


def test_products_that_underflow_are_averaged():
    codes, roots, root_at, pairs, pair_at, sizes, usable, naive, K = example(20, 6, 3, zeros=0)
    found = average(codes, roots, root_at, pairs, pair_at, sizes, usable, naive, K)
    lower = average(codes, roots - 2000, root_at, pairs, pair_at, sizes, usable, naive - 2000, K)
    np.testing.assert_allclose(lower, found - 2000, rtol=1e-12)


def test_a_row_alone_is_what_it_is_among_others():
    codes, *tables = example(700, 5, 3)
    whole = average(codes, *tables)
    alone = np.vstack([average(row[np.newaxis], *tables) for row in codes])
    with limited(3):
        in_threads = average(np.asfortranarray(codes), *tables)
    assert whole.tobytes() == alone.tobytes() == in_threads.tobytes()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 7, 300])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 255, 256, 257, 600])
def test_losses_are_those_of_the_log_odds(n, n_classes, weighted):
    rng = np.random.default_rng(n)
    joint, scores = 5 * rng.normal(size=(n, n_classes)), 5 * rng.normal(size=(3, n, n_classes))
    joint[0] += 1e4 * np.arange(n_classes)  # a loss beyond the most
    codes = rng.integers(0, n_classes, n).astype(np.int32)
    codes[0] = 0
    rows = rng.random(n) if weighted else np.ones(n)
    for j, loss in zip([2, 0], losses(joint, scores, [2, 0], codes, rows)):
        total = joint + scores[j]
        each = np.logaddexp.reduce(total, axis=1) - total[np.arange(n), codes]
        assert loss == pytest.approx((rows * np.minimum(each, 700)).sum() / rows.sum(), rel=1e-12)


def told_by_others(counts):
    """Of b by a, by the definition."""
    half = 0.5 * int((counts.sum(axis=(0, 1)) > 0).sum())
    total = 0.0
    for (c, a, b), n in np.ndenumerate(counts):
        if n > 0:
            q = (max(counts[c, :, b].sum() - 1, 0) + 0.5) / (max(counts[c].sum() - 1, 0) + half)
            alike = max(counts[c, a].sum() - 1, 0) + half
            total += n * math.log((max(n - 1, 0) + half * q) / (alike * q))
    return total


def test_what_the_other_rows_tell_is_the_sum_over_the_cells():
    shapes = [(1, 1, 1), (1, 2, 3), (3, 4, 2), (2, 5, 5), (2, 1, 4), (2, 2, 2)]
    tables = [np.random.default_rng(1).integers(0, 6, shape).astype(float) for shape in shapes]
    tables[-1][:] = 0.0
    found = left_out_information(np.concatenate([each.ravel() for each in tables]), np.array(shapes))
    both_ways = [min(told_by_others(t), told_by_others(t.transpose(0, 2, 1))) / max(t.sum(), 1) for t in tables]
    expected = [0.0 if 1 in shape[1:] else each for shape, each in zip(shapes, both_ways)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
