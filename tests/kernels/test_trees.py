"""The loops of boosted trees against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from ingenuo.kernels.trees import UNSEEN, Growth, boost

WIDTHS = [1, 3]


def walk(trees, t, codes, i):
    """The nodes on a row's way through a tree."""
    way, split = [0], trees.splits[t]
    while split[way[-1]] >= 0:
        own = split[way[-1]]
        code = codes[own >> 17, i]
        if code == UNSEEN:
            break
        test = code == (own & 65535) if own >> 16 & 1 else code <= (own & 65535)
        way.append(2 * way[-1] + (1 if test else 2))
    return way


def some_trees(width, rounds=7, depth=3, n=300, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, (4, n)).astype(np.uint16)
    labels = ((codes[0] > 2) * 1 + (codes[1] == 3)).astype(np.int32) % max(width, 2)
    cards, kinds = np.full(4, 6), np.array([0, 1, 0, 1], np.uint8)
    scores = np.zeros((n, width))
    growth = Growth(depth, 0.3, 1.0, 0.8, 0.7, 2.0, 5)
    return boost(codes, cards, kinds, labels, None, growth, 0, rounds, scores), codes, labels, scores


@pytest.mark.parametrize("width", WIDTHS)
def test_trees_answer_as_a_walk_through_them(width):
    trees, codes, _, scores = some_trees(width)
    codes = codes.copy()
    codes[1, ::7] = UNSEEN
    found = np.zeros_like(scores)
    trees.add(codes, found)
    base, moves = trees.trace(codes)
    for i in range(40):
        ways = [walk(trees, t, codes, i) for t in range(len(trees))]
        wanted = sum(trees.values[t, way[-1]] for t, way in enumerate(ways))
        np.testing.assert_allclose(found[i], wanted, atol=1e-12)
        np.testing.assert_allclose(base + moves[i].sum(axis=0), wanted, atol=1e-12)


@pytest.mark.parametrize("width", WIDTHS)
def test_growing_goes_on_where_it_was_and_adds_to_the_scores(width):
    trees, codes, labels, scores = some_trees(width)
    again = np.zeros_like(scores)
    trees.add(codes, again)
    np.testing.assert_allclose(scores, again, atol=1e-12)
    losses = trees.losses(codes, labels, None, np.zeros_like(scores))
    full = np.hstack([np.zeros_like(scores), scores]) if width == 1 else scores
    logs = full - np.log(np.exp(full).sum(axis=1, keepdims=True))
    assert losses[-1] == pytest.approx(-logs[np.arange(len(labels)), labels].sum())
    assert (np.diff(losses) < 0).all()  # each tree fits the rows better


def test_a_leafs_value_is_its_gradient_by_its_curvature():
    codes = np.array([[1, 1, 1, 2, 2, 2, 2]], np.uint16)
    labels = np.array([1, 1, 0, 0, 0, 0, 1], np.int32)
    growth = Growth(1, 0.5, 2.0, 1.0, 1.0, 1.0, 0)
    trees = boost(codes, np.array([3]), np.zeros(1, np.uint8), labels, None, growth, 0, 1, np.zeros((7, 1)))
    assert trees.splits[0].tolist() == [1, -1, -1]  # column 0, at most 1
    left, right = (-0.5 * (n * 0.5 - yes) / (n * 0.25 + 2.0) for n, yes in ((3, 2), (4, 1)))
    np.testing.assert_allclose(trees.values[0, 1:, 0], [left, right], rtol=1e-12)


def test_weights_count_as_repeated_rows_in_a_tree():
    _, codes, labels, _ = some_trees(3)
    weights = np.random.default_rng(1).integers(1, 4, codes.shape[1]).astype(float)
    again = np.repeat(np.arange(codes.shape[1]), weights.astype(int))
    growth = Growth(3, 0.3, 1.0, 1.0, 1.0, 2.0, 5)
    cards, kinds = np.full(4, 6), np.array([0, 1, 0, 1], np.uint8)
    one = boost(codes, cards, kinds, labels, weights, growth, 0, 4, np.zeros((len(labels), 3)))
    many = boost(codes[:, again], cards, kinds, labels[again], None, growth, 0, 4, np.zeros((len(again), 3)))
    assert (one.splits == many.splits).all()
    np.testing.assert_allclose(one.values, many.values, atol=1e-12)
