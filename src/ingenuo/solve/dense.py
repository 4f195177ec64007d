"""A dense table of numbers as the solvers see it: centred, holes at the mean, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ingenuo.kernels import threads
from ingenuo.kernels.moments import Rows
from ingenuo.solve.problem import Floats

_CELLS = 1 << 18  # of a block: 2 MiB


class Dense:
    """Rows of numbers minus their means; the intercepts take up what that changes.

    Blocks go to our own threads, and BLAS is expected to work in the one that calls it (`threads.single_blas`): its own
    threads wait for one another at every small product, which on a busy machine takes many times the product.
    """

    def __init__(self, rows: Rows, means: Floats) -> None:
        self.table, self.means = rows, means
        self.n_rows, self.n_columns = rows.shape

    def over(self, work: Callable[[int, int, Floats, Floats], None], shape: tuple[int, ...], wide: int = 1) -> Floats:
        """The sum of what work(first, last, block, out) adds to arrays of this shape, one for each thread.

        The wider what it makes of a block, the fewer rows a block should have.
        """
        step = max(256, _CELLS // max(self.n_columns * wide, 1))

        def part(lo: int, hi: int) -> Floats:
            out = np.zeros(shape)
            for first in range(lo, hi, step):
                last = min(first + step, hi)
                block = self.table.rows(first, last) - self.means
                np.copyto(block, 0.0, where=np.isnan(block))
                work(first, last, block, out)
            return out

        total, *others = threads.run(
            [partial(part, lo, hi) for lo, hi in threads.split(self.n_rows, threads.width(), 1 << 10)]
        )
        for other in others:
            total += other
        return total

    def times(self, V: Floats) -> Floats:
        """X V."""
        result = np.empty((self.n_rows, V.shape[1]))

        def work(lo: int, hi: int, block: Floats, out: Floats) -> None:
            np.matmul(block, V, out=result[lo:hi])

        self.over(work, (0,))
        return result

    def gathered(self, G: Floats) -> Floats:
        """Xᵀ G."""

        def work(lo: int, hi: int, block: Floats, out: Floats) -> None:
            out += block.T @ G[lo:hi]

        return self.over(work, (self.n_columns, G.shape[1]))

    def squares_gathered(self, G: Floats) -> Floats:
        """(X²)ᵀ G."""

        def work(lo: int, hi: int, block: Floats, out: Floats) -> None:
            out += (block * block).T @ G[lo:hi]

        return self.over(work, (self.n_columns, G.shape[1]))

    def gram(self, G: Floats, squares: Floats) -> Floats:
        """X S Xᵀ G with S diagonal for each vector of G: squares (columns × vectors); none are ones."""
        V = self.gathered(G)
        return self.times(V * squares if len(squares) else V)

    def squared_times(self, squares: Floats, width: int) -> Floats:
        """The diagonal of X S Xᵀ for each of `width` vectors: X² S."""
        result = np.empty((self.n_rows, width))

        def work(lo: int, hi: int, block: Floats, out: Floats) -> None:
            result[lo:hi] = (block * block) @ squares if len(squares) else (block * block).sum(axis=1, keepdims=True)

        self.over(work, (0,))
        return result
