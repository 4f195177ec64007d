"""Tables from rows with holes, by expectation and maximisation.

What a hole may have held is shared out by what the tables say of it, the tables are estimated again from those
expected counts and the prior, and so on until the likelihood of what was seen, times the prior, grows no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.categorical import frequencies
from ingenuo.kernels.elimination import Flat
from ingenuo.networks.graph import Parents
from ingenuo.networks.inference.rows import expected_counts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Expectation:
    """The tables that were found, and how the search for them went."""

    tables: list[Floats]
    log_likelihoods: tuple[float, ...]  # of the observed cells, before each round
    log_posteriors: tuple[float, ...]  # the same and the prior's part, which never falls
    converged: bool


def expectation_maximisation(
    codes: NDArray[np.int32],
    parents: Parents,
    start: Sequence[Floats],
    imagined: Sequence[Floats],
    weights: Floats | None,
    *,
    iterations: int,
    tolerance: float,
    say: Callable[[str], None],
) -> Expectation:
    """Rows × nodes codes, -1 where there is a hole; `imagined` are each node's pseudo-counts."""
    tables, trace, grown = list(start), list[float](), [-np.inf]
    rows = len(codes) if weights is None else float(weights.sum())
    for iteration in range(iterations):
        counts, log_likelihood = expected_counts(Flat.of(parents, tables), codes, weights)
        trace.append(log_likelihood)
        # The prior's part of what grows: Σ a log θ, of the cells that have an a.
        objective = log_likelihood + sum(
            float((a * np.log(np.maximum(table, np.finfo(float).tiny))).sum()) for a, table in zip(imagined, tables)
        )
        say(f"iteration {iteration + 1}: log likelihood {log_likelihood:,.4f}")
        grown.append(objective)
        if objective - grown[-2] <= tolerance * max(rows, 1):
            return Expectation(tables, tuple(trace), tuple(grown[1:]), True)
        tables = [
            frequencies(counted.reshape(-1, counted.shape[-1]), a).reshape(counted.shape)
            for counted, a in zip(counts, imagined)
        ]
    return Expectation(tables, tuple(trace), tuple(grown[1:]), False)


def broken_evenness(tables: Sequence[Floats], parents: Parents, hidden: Sequence[bool], seed: int) -> list[Floats]:
    """Tables to begin with, uneven for nodes that were never seen and for their children: even ones would stay so."""
    rng = np.random.default_rng(seed)
    begun = []
    for table, above, unseen in zip(tables, parents, hidden):
        if unseen:
            table = rng.dirichlet(np.full(table.shape[-1], 5.0), table.shape[:-1])
        elif any(hidden[up] for up in above):
            drawn = rng.gamma(5.0 * table * table.shape[-1] + 0.1)
            table = drawn / drawn.sum(axis=-1, keepdims=True)
        begun.append(table)
    return begun
