"""The engine of this machine: chunks one after the other, each on all the threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ingenuo.chunk import Chunk
from ingenuo.tally import Tally


class Total:
    """A sum of many tallies: equals are added to equals, so that large tables are not aligned anew for each batch.

    >>> total = Total()
    >>> total.add(Tally())
    >>> total.sum() == Tally()
    True
    """

    def __init__(self, waiting: tuple[tuple[int, Tally], ...] = ()) -> None:
        self._waiting = waiting  # of how many tallies each is the sum, the largest first

    def add(self, tally: Tally) -> None:
        """One tally more."""
        n, waiting = 1, self._waiting
        while waiting and waiting[-1][0] == n:
            n, tally, waiting = 2 * n, waiting[-1][1] + tally, waiting[:-1]
        self._waiting = (*waiting, (n, tally))  # at once, so that an interruption leaves all or nothing of it

    def now(self) -> Total:
        """The sum as it is now, whatever is added later."""
        return Total(self._waiting)

    def sum(self) -> Tally:
        """What all that was added comes to."""
        total = Tally()
        for _, tally in reversed(self._waiting):
            total = tally + total
        return total


def reduce(chunks: Iterable[Chunk], tally: Callable[[Chunk], Tally]) -> Tally:
    """The sum of the chunks' tallies; because sums are exact, neither order nor cutting matters."""
    total = Total()
    for chunk in chunks:
        total.add(tally(chunk))
    return total.sum()
