"""Many rows with holes: what a network says of each, by the kernel; rows too wide for it by a junction tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ImpossibleEvidenceError
from ingenuo.kernels import elimination
from ingenuo.kernels.elimination import Flat
from ingenuo.networks.inference.queries import joint, log_probability, posteriors

Floats = NDArray[np.float64]


def log_joint(flat: Flat, codes: NDArray[np.integer], target: int) -> Floats:
    """The logarithm of P(target = k, the known cells of row i), rows × states of the target.

    Parameters
    ----------
    flat
        The network, `Flat.of(parents, tables)`.
    codes
        Rows × nodes, the place of each state; below zero is missing. The target's column is not looked at.
    target
        The place of the target.

    >>> flat = Flat.of([(), (0,)], [np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])])
    >>> np.exp(log_joint(flat, np.array([[-1, 1]]), target=0))
    array([[0.05, 0.4 ]])
    """
    out = np.empty((len(codes), int(flat.cards[target])))
    wide = elimination.joint_by_class(flat, codes, target, out)
    if len(wide):
        parents, tables = _whole(flat)
        for row in wide:
            known = _known(flat, codes[row])
            known.pop(target, None)
            try:
                (posterior,), log_evidence = posteriors(parents, tables, known, nodes=[target])
            except ImpossibleEvidenceError:
                out[row] = -np.inf
                continue
            with np.errstate(divide="ignore"):
                out[row] = np.log(posterior) + log_evidence
    return out


def expected_counts(
    flat: Flat, codes: NDArray[np.integer], weights: Floats | None = None
) -> tuple[list[Floats], float]:
    """How often each cell of each table is expected, given the rows' known cells, and these cells' log likelihood.

    Parameters
    ----------
    flat
        The network, `Flat.of(parents, tables)`.
    codes
        Rows × nodes, the place of each state; below zero is missing.
    weights
        How much each row counts; 1 by default.

    >>> flat = Flat.of([()], [np.array([0.25, 0.75])])
    >>> counts, log_likelihood = expected_counts(flat, np.array([[0], [-1]]))
    >>> counts, round(log_likelihood, 4)
    ([array([1.25, 0.75])], -1.3863)
    """
    cells, logs, wide = elimination.expected_counts(flat, codes, weights)
    counts = flat.shaped(cells)
    weighing = np.ones(len(codes)) if weights is None else np.asarray(weights, np.float64)
    if len(wide):
        parents, tables = _whole(flat)
        for row in wide:
            known = _known(flat, codes[row])
            logs[row] = log_probability(parents, tables, known)
            if logs[row] > -np.inf:
                for node, above in enumerate(parents):
                    counts[node] += weighing[row] * joint(parents, tables, known, (*above, node))
    impossible = (logs == -np.inf) & (weighing > 0)
    if impossible.any():
        raise ImpossibleEvidenceError(
            f"row {int(impossible.argmax())} has probability 0 under the network; "
            "give its tables a prior, such as Laplace(), or leave the row out"
        )
    return counts, float(weighing @ np.where(weighing > 0, logs, 0.0))


def _whole(flat: Flat) -> tuple[list[tuple[int, ...]], list[Floats]]:
    """The network as the junction tree reads it."""
    families: Sequence[NDArray[np.int64]] = np.split(flat.family, flat.starts[1:-1])
    return [tuple(family[:-1].tolist()) for family in families], flat.shaped(np.exp(flat.tables))


def _known(flat: Flat, row: NDArray[np.integer]) -> dict[int, Floats]:
    return {node: np.eye(1, int(flat.cards[node]), int(code))[0] for node, code in enumerate(row) if code >= 0}
