"""How a structure was found, told by the names of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ingenuo.networks.structure import Search


class NamedStep(NamedTuple):
    """One change of the structure."""

    change: str  # "add", "delete", "reverse", "restart", or "fill": holes were filled anew, by the network so far
    arc: tuple[str, str] | None
    gain: float
    score: float


@dataclass(frozen=True)
class NamedSearch:
    """The path of a search, and where it ended."""

    measure: str  # what was climbed
    score: float
    path: tuple[NamedStep, ...]
    evaluations: int  # families that were scored
    hits: int  # and how often a score was known already

    @staticmethod
    def of(search: Search, nodes: Sequence[str]) -> NamedSearch:
        """The same, by name."""
        path = tuple(
            NamedStep(
                step.change,
                None if step.arc is None else (nodes[step.arc[0]], nodes[step.arc[1]]),
                step.gain,
                step.score,
            )
            for step in search.path
        )
        return NamedSearch(search.measure, search.score, path, search.evaluations, search.hits)

    def __str__(self) -> str:
        steps = sum(step.arc is not None for step in self.path)
        lines = [f"{self.measure}: {self.score:.6g} after {steps} step{'' if steps == 1 else 's'}"]
        for number, step in enumerate(self.path, 1):
            what = step.change if step.arc is None else f"{step.change} {step.arc[0]} → {step.arc[1]}"
            lines.append(f"{number:4}  {what}  {step.gain:+.6g}  {step.score:.8g}")
        return "\n".join(lines)
