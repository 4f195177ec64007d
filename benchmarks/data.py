"""The inputs, made from fixed seeds; classes overlap, so that posteriors are seldom 0 or 1.

Only the last input made is kept: cases that follow each other share it, and memory holds one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

P = ParamSpec("P")
T = TypeVar("T")

_last: tuple[Any, Any] = (None, None)


def kept(make: Callable[P, T]) -> Callable[P, T]:
    """Keep what was made last, until anything else is made."""

    @wraps(make)
    def remembered(*args: P.args, **kwargs: P.kwargs) -> T:
        global _last
        key = (make.__name__, args, tuple(sorted(kwargs.items())))
        if _last[0] != key:
            _last = (None, None)  # freed before the next is made
            _last = (key, make(*args, **kwargs))
        result: T = _last[1]
        return result

    return remembered


@dataclass(frozen=True)
class Labelled:
    """Rows, their classes, and weights for those who want them."""

    X: Any
    y: NDArray[Any]
    weights: NDArray[np.float64]

    @property
    def nbytes(self) -> int:
        """Bytes of the rows."""
        if sparse.issparse(self.X):
            return int(self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes)
        return int(self.X.nbytes)


def _labelled(X: Any, y: NDArray[Any], rng: np.random.Generator) -> Labelled:
    return Labelled(X, y, rng.uniform(0.5, 2.0, len(y)))


@kept
def numbers(kind: str, rows: int, columns: int = 50, classes: int = 5, order: str = "C") -> Labelled:
    """Doubles: "normal" or "lognormal" ones, "integers", or values that were "float32" before."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, classes, rows)
    X = np.empty((rows, columns), order=order)
    for lo in range(0, rows, 100_000):  # by pieces, so that making it needs no memory beside it
        part = X[lo : lo + 100_000]
        part[:] = rng.normal(size=part.shape) + 0.05 * y[lo : lo + 100_000, np.newaxis]
        if kind == "lognormal":
            np.exp(part, out=part)
        elif kind == "integers":
            np.rint(part * 200 + 500, out=part)
        elif kind == "float32":
            part[:] = part.astype(np.float32)
    return _labelled(X, y, rng)


@kept
def codes(rows: int, columns: int = 30, classes: int = 5) -> Labelled:
    """Codes of 2 to 40 categories, the first ones more frequent, a little more so in the first classes."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, classes, rows)
    sizes = rng.integers(2, 41, columns)
    X = np.empty((rows, columns), np.int64)
    for j, size in enumerate(sizes):
        X[:, j] = rng.random(rows) ** (1.2 - 0.05 * y) * size
    X[: sizes.max()] = np.minimum(np.arange(sizes.max())[:, np.newaxis], sizes - 1)[:rows]  # each one at least once
    return _labelled(X, y, rng)


@kept
def counts(kind: str, rows: int, dtype: str = "int64", classes: int = 20) -> Labelled:
    """Counts 1..5 as CSR, for a million `rows` 60k × 340k with 4M non-zeros; columns "uniform" or "zipf"."""
    rng = np.random.default_rng(3)
    n, columns, stored = rows * 6 // 100, rows * 34 // 100, rows * 4
    if kind == "zipf":
        shares = 1.0 / (np.arange(columns) + 2.7) ** 1.05
        steps = np.cumsum(rng.permutation(shares))  # the frequent ones lie anywhere, as in a sorted vocabulary
    else:
        steps = np.cumsum(np.ones(columns))
    lengths = np.cumsum(rng.lognormal(0.0, 0.7, n))
    places = np.zeros(0, np.int64)
    while len(places) < stored:
        draws = 2 * stored - len(places)
        document = np.searchsorted(lengths, rng.random(draws) * lengths[-1], side="right")
        word = np.searchsorted(steps, rng.random(draws) * steps[-1], side="right")
        places = np.unique(np.concatenate([places, document * columns + word]))
    places = np.sort(rng.choice(places, stored, replace=False))
    values = np.minimum(rng.geometric(0.6, stored), 5).astype(dtype)
    indptr = np.searchsorted(places, np.arange(n + 1) * columns).astype(np.int32)
    X = sparse.csr_matrix((values, (places % columns).astype(np.int32), indptr), (n, columns))
    return _labelled(X, rng.integers(0, classes, n), rng)


@dataclass(frozen=True)
class Mixed:
    """One table with missing cells, as pandas or Arrow, its categories as dictionaries or strings."""

    y: NDArray[np.int64]
    weights: NDArray[np.float64]
    values: NDArray[np.float64]  # rows × numbers, NaN = missing
    codes: NDArray[np.int64]  # rows × categories, -1 = missing
    labels: list[list[str]]

    def pandas(self, *, strings: bool = False) -> pd.DataFrame:
        """Columns n0.. of doubles, c0.. of categoricals or strings."""
        columns: dict[str, Any] = {f"n{j}": self.values[:, j] for j in range(self.values.shape[1])}
        for j, labels in enumerate(self.labels):
            column = pd.Categorical.from_codes(self.codes[:, j], categories=labels)
            columns[f"c{j}"] = pd.Series(column).astype("str") if strings else column
        return pd.DataFrame(columns, copy=False)

    def arrow(self, *, strings: bool = False) -> pa.Table:
        """The same as Arrow, missing cells as nulls."""
        columns: dict[str, Any] = {}
        for j in range(self.values.shape[1]):
            columns[f"n{j}"] = pa.array(self.values[:, j], from_pandas=True)
        for j, labels in enumerate(self.labels):
            places = pa.array(self.codes[:, j].astype(np.int32), mask=self.codes[:, j] < 0)
            column = pa.DictionaryArray.from_arrays(places, pa.array(labels))
            columns[f"c{j}"] = column.cast(pa.string()) if strings else column
        return pa.table(columns)


@kept
def mixed(rows: int, n_numbers: int = 10, classes: int = 5, missing: float = 0.05) -> Mixed:
    """Ten numbers and ten columns of 3 to 1,000 strings."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, classes, rows)
    values = rng.lognormal(size=(rows, n_numbers)) + 0.1 * y[:, np.newaxis]
    values[rng.random(values.shape) < missing] = np.nan
    sizes = [min(size, max(rows // 20, 2)) for size in (3, 5, 8, 12, 20, 40, 80, 200, 500, 1000)]
    coded = np.empty((rows, len(sizes)), np.int64)
    for j, size in enumerate(sizes):
        coded[:, j] = rng.random(rows) ** (1.2 - 0.05 * y) * size
    coded[rng.random(coded.shape) < missing] = -1
    coded[: max(sizes)] = np.minimum(np.arange(max(sizes))[:, np.newaxis], np.array(sizes) - 1)  # each one seen
    labels = [[f"{'abcdefghij'[j]}-{value:04d}" for value in range(size)] for j, size in enumerate(sizes)]
    return Mixed(y, rng.uniform(0.5, 2.0, rows), values, coded, labels)
