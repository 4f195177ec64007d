"""The engine of this machine: chunks one after the other, each on all the threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ingenuo.chunk import Chunk
from ingenuo.tally import Tally


def reduce(chunks: Iterable[Chunk], tally: Callable[[Chunk], Tally]) -> Tally:
    """The sum of the chunks' tallies; because sums are exact, neither order nor cutting matters."""
    total = Tally()
    for chunk in chunks:
        total = total + tally(chunk)
    return total
