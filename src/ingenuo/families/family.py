"""What every family does, and the terms with which it shows its working."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError
from ingenuo.families.left_out import LearnedRows, estimate_again
from ingenuo.rows.part import Chunk
from ingenuo.rows.schema import Schema
from ingenuo.show.arithmetic import Factor, Floats, Passage
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Tally

# Stands in for log 0 only where every class of a row has probability zero: then the class with the fewest
# impossible factors wins, as it would under ever weaker smoothing. Large against any ordinary log term, small
# enough to leave those terms seven digits.
IMPOSSIBLE = -float(1 << 30)


class Family(ABC):
    """Columns of one kind within a class. Pure: nothing here is ever changed."""

    together = False  # whether its columns are modelled together, as one attribute

    @abstractmethod
    def tally(self, chunk: Chunk, block: Any) -> Tally:
        """The sums over a chunk's rows."""

    @abstractmethod
    def estimate(self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels) -> Any:
        """The parameters, from the sums and the prior."""

    @abstractmethod
    def log_likelihood(self, parameters: Any, block: Any, out: Floats, floor: float | None = None) -> None:
        """Add log p(x | class) to out (rows × classes); floor stands in for log 0 when it is given."""

    @abstractmethod
    def factors(self, parameters: Any, block: Any) -> list[Factor]:
        """The terms of a block of one row, column by column."""

    @abstractmethod
    def sample(self, parameters: Any, drawn: NDArray[np.intp], rng: np.random.Generator) -> dict[Any, NDArray[Any]]:
        """One value of every column for each of the drawn classes."""

    def check(self, tally: Tally) -> None:  # noqa: B027 (nothing to check is a check)
        """Raise ForgetError if the sums cannot be those of any rows."""

    def left_out(self, rows: LearnedRows, prior: Prior, block: Any) -> Floats:
        """log p(x | class) of rows that were learned, each by the tally without it (rows × classes)."""
        return estimate_again(self, rows, prior, block)

    def lengths(self, parameters: Any, block: Any) -> Floats | None:
        """How many known words, or things counted, each row has; None of columns that have no length."""
        return None

    def left_out_lengths(self, rows: LearnedRows, prior: Prior, block: Any) -> Floats | None:
        """The same of rows that were learned; where a short way tells, of what is known without the row."""
        return None

    def passages(self, parameters: Any, block: Any, best: int, second: int) -> list[Passage]:
        """Texts, each word with how much it speaks for the one class and against the other."""
        return []


def refuse_more_than_rows(tally: Tally, name: str) -> None:
    """Raise ForgetError where a table (class × column, or class × value) counts more than the class has rows."""
    if name not in tally or not isinstance(counts := tally[name].sums, Exact):
        return
    classes = tally[name].axes[0]
    if tally[name].names[1] in ("value", "bin"):  # a row has one value at most
        counts = Exact.canonical(counts.limbs.sum(axis=2, keepdims=True), counts.low)
    rows = tally.over("class", classes)
    assert isinstance(rows, Exact)
    spread = Exact(np.repeat(rows.limbs[..., np.newaxis], counts.shape[1], axis=-1), rows.low)
    exceeding = np.argwhere((spread - counts).signs() < 0)
    if len(exceeding):
        k, j = exceeding[0]
        raise ForgetError(
            f"cannot take these rows away: class {classes.tolist()[k]!r} would have {rows.floats()[k]:g} rows left and "
            f"{counts.floats()[k, j]:g} values in '{name}'; only rows that were learned can be forgotten"
        )
