"""Growing samples: an order of the rows in which every beginning has its share of every class.

The i-th of the n_k rows of class k, in a random order of its own, stands at (i + ½)/n_k of the way. So the first m rows
have m·n_k/N rows of the class, up to rounding; beginnings are nested, and the end can be held out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.estimators.sequence_model import whole
from ingenuo.labels import Labels

Places = NDArray[np.intp]

_FEW = 3  # rows of the rarest class in the smallest sample
_SIZES = 8


def order(codes: NDArray[Any], rng: np.random.Generator) -> Places:
    """The rows in a random order, each beginning of which has its share of every class.

    >>> codes = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1])
    >>> codes[order(codes, np.random.default_rng(0))].tolist()
    [0, 1, 0, 0, 1, 0, 0, 1, 0]
    """
    shuffled = rng.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    counts = np.bincount(codes)
    nth = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = np.empty(len(codes))
    at[by_class] = (nth + 0.5) / np.repeat(counts, counts)
    # Classes with as many rows stand at the same places: chance says which comes first.
    return np.asarray(shuffled[np.argsort(at[shuffled], kind="stable")])


def least(counts: NDArray[Any], few: int) -> int:
    """The shortest beginning that surely has so many rows of every class.

    It holds all that stand no farther than the few-th row of the rarest class: (2i + 1)/2n_k ≤ (2 few - 1)/2n_min.

    >>> least(np.array([6, 3]), 1), least(np.array([6, 3]), 2)
    (2, 5)
    """
    farthest = (2 * few - 1) * counts.astype(np.int64) // int(counts.min())
    return int(((farthest + 1) // 2).sum())


def held_out(test_size: Any, n_rows: int) -> int:
    """How many rows are held out: so many, or such a share."""
    if isinstance(test_size, bool) or not isinstance(test_size, int | float | np.integer | np.floating):
        raise KindError(
            f"test_size must be a share between 0 and 1, or a number of rows, got {type(test_size).__name__} "
            f"{test_size!r}"
        )
    if isinstance(test_size, int | np.integer):
        if not 1 <= test_size < n_rows:
            raise InputError(f"test_size={test_size} of {n_rows} rows cannot be held out; take 1 to {n_rows - 1}")
        return int(test_size)
    if not 0 < test_size < 1:
        raise InputError(f"test_size={test_size!r} is no share of the rows; take one between 0 and 1")
    return min(max(round(float(test_size) * n_rows), 1), n_rows - 1)


def sizes_of(sizes: Any, counts: NDArray[Any], classes: Labels, n_test: int) -> list[int]:
    """The sizes of the samples, ascending: those that were asked for, or geometric ones up to all the training rows."""
    names = classes.tolist()
    n_train = int(counts.sum()) - n_test
    if len(counts) < 2:
        raise InputError(
            f"every row is of the one class {names[0]!r}, and there is nothing to tell apart; give rows of two classes "
            "at least"
        )
    rarest = int(counts.argmin())
    if counts[rarest] < 2:
        raise InputError(
            f"class {names[rarest]!r} has one row only, which cannot be both learned from and held out; give more rows "
            "of it, or leave it out"
        )
    shortest = least(counts, 1)
    if shortest > n_train:
        raise InputError(
            f"class {names[rarest]!r} has {counts[rarest]} of {counts.sum()} rows, and {n_train} training rows are too "
            f"few to have one of them each time; give more rows of it, or take a test_size of at most "
            f"{int(counts.sum()) - shortest}"
        )
    if sizes is None:
        first = max(size for few in range(1, _FEW + 1) if (size := least(counts, few)) <= n_train)
        return np.unique(np.rint(np.geomspace(first, n_train, _SIZES)).astype(int)).tolist()  # type: ignore[no-any-return]
    if isinstance(sizes, str | bytes) or not isinstance(sizes, Iterable):
        raise KindError(f"sizes must be a list of numbers of rows, got {type(sizes).__name__} {sizes!r}")
    given = list(sizes)
    if not given:
        raise InputError("sizes is empty; give one number of rows at least")
    for size in given:
        whole("a size", size, 1)
        if size > n_train:
            raise InputError(
                f"a size is {size}, and of {counts.sum()} rows {n_train} are left to learn from when {n_test} are held "
                f"out; take sizes of at most {n_train}, or a smaller test_size"
            )
        if size < shortest:
            raise InputError(
                f"a size is {size}, and so few rows may have none of class {names[rarest]!r}, of which there are "
                f"{counts[rarest]} in {counts.sum()}; take sizes of at least {shortest}"
            )
    return sorted({int(size) for size in given})
