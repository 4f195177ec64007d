"""What every family does, and the terms with which it shows its working."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Chunk
from ingenuo.labels import Labels
from ingenuo.prior import Prior
from ingenuo.schema import Schema
from ingenuo.tally import Tally

Floats = NDArray[np.float64]

# Stands in for log 0 only where every class of a row has probability zero: then the class with the fewest
# impossible factors wins, which is the limit of ever weaker smoothing. Large against any ordinary log term,
# small enough to leave those terms seven digits.
IMPOSSIBLE = -float(1 << 30)


@dataclass(frozen=True)
class Term:
    """One factor of one class: how a person would write it, its value and its logarithm."""

    how: str
    value: float
    log: float


@dataclass(frozen=True)
class Factor:
    """What one column says of every class; no terms where it was left out, with the reason."""

    column: str
    value: str
    terms: tuple[Term, ...] = ()
    note: str = ""


class Family(Protocol):
    """Columns of one kind within a class. Pure: nothing here is ever changed."""

    def tally(self, chunk: Chunk, block: Any) -> Tally:
        """The sums over a chunk's rows."""
        ...

    def estimate(self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels) -> Any:
        """The parameters, from the sums and the prior."""
        ...

    def log_likelihood(self, parameters: Any, block: Any, out: Floats, floor: float | None = None) -> None:
        """Add log p(x | class) to out (rows × classes); floor stands in for log 0 when it is given."""
        ...

    def factors(self, parameters: Any, block: Any) -> list[Factor]:
        """The terms of a block of one row, column by column."""
        ...

    def sample(self, parameters: Any, drawn: NDArray[np.intp], rng: np.random.Generator) -> dict[Any, NDArray[Any]]:
        """One value of every column for each of the drawn classes."""
        ...

    def check(self, tally: Tally) -> None:
        """Raise ForgetError if the sums cannot be those of any rows."""
        ...


def fraction(count: float, pseudo: float, total: float, all_pseudo: float) -> str:
    """(count + pseudo) / (total + all pseudo), as a person writes it.

    >>> fraction(2, 1, 9, 3), fraction(2, 0, 9, 0)
    ('(2 + 1)/(9 + 3)', '2/9')
    """
    if all_pseudo == 0:
        return f"{count:.12g}/{total:.12g}"
    return f"({count:.12g} + {pseudo:.6g})/({total:.12g} + {all_pseudo:.6g})"


def logs(values: Floats) -> Floats:
    """Logarithms with log 0 = -inf, quietly."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def term(how: str, value: float) -> Term:
    """A term from its value."""
    return Term(how, float(value), float(logs(np.array(value))))
