"""The Bayesian signed-rank test: is one of two models better over many sets, or are they practically equal?

After Benavoli, Corani, Demšar and Zaffalon (2017). A significance test can only fail to find a difference; this one can
find that there is none that matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError
from ingenuo.estimators.sequence_model import seeded, whole
from ingenuo.evaluation.over_sets import differences_of
from ingenuo.evaluation.verdict import Effect, Verdict, level, number


@dataclass(frozen=True)
class Practical(Verdict):
    """The Bayesian verdict: how probable it is that one is better, or that both are practically equal."""

    first_better: float = 0.0
    equal: float = 0.0
    second_better: float = 0.0


def bayesian_signed_rank(
    first: Any,
    second: Any,
    rope: float = 0.01,
    samples: int = 50_000,
    *,
    higher_is_better: bool = True,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Practical:
    """The probabilities that one model is better over sets like these, or that both are practically equal.

    The distribution of the differences z is a Dirichlet process, with a pseudo-observation z₀ = 0 of weight ½ before
    any set is seen. In each sample the sets get weights w ~ Dirichlet(½, 1, …, 1), and three outcomes shares:
    Σ wᵢwⱼ over the pairs whose mean (zᵢ + zⱼ)/2 is above the region of practical equivalence, within, or below. An
    outcome's probability is how often its share is the largest.

    Parameters
    ----------
    first, second : array-like
        The scores of both models on each set.
    rope : float
        Differences up to this count as none.
    samples : int
        How many weightings are drawn.
    higher_is_better : bool
        Which scores are better: False for log loss.
    confidence : float
        How much probability the interval of the mean difference has.
    random_state : int, optional
        Seed for NumPy's generator.

    Examples
    --------
    >>> first = [0.91, 0.85, 0.78, 0.95, 0.66, 0.88, 0.74]
    >>> found = bayesian_signed_rank(first, [0.87, 0.80, 0.73, 0.91, 0.62, 0.81, 0.70])
    >>> found.first_better > 0.99, found.second_better
    (True, 0.0)
    """
    alpha, rng = level(confidence), seeded("random_state", random_state)
    whole("samples", samples, 1)
    if isinstance(rope, bool) or not isinstance(rope, int | float | np.integer | np.floating):
        raise KindError(f"rope must be a number, got {type(rope).__name__} {rope!r}")
    if not (np.isfinite(rope) and rope >= 0):
        raise InputError(f"rope={rope!r} must be 0 or more: differences up to it count as none")
    if not isinstance(higher_is_better, bool | np.bool_):
        raise KindError(f"higher_is_better must be True or False, got {higher_is_better!r}")
    d = differences_of(first, second)
    z = np.append(0.0, d)
    means = (z[:, np.newaxis] + z) / 2
    edge = rope * (1 + 1e-9)  # 0.91 - 0.90 is a little more than 0.01 in doubles
    above, below = (means > edge).astype(np.float64), (means < -edge).astype(np.float64)
    wins, averages = np.zeros(3), np.empty(samples)
    block = max(1, (1 << 22) // len(z))
    for low in range(0, samples, block):
        w = rng.dirichlet(np.append(0.5, np.ones(len(d))), size=min(block, samples - low))
        up, down = ((w @ part * w).sum(axis=1) for part in (above, below))
        shares = np.column_stack([up, 1 - up - down, down])
        most = shares >= shares.max(axis=1, keepdims=True) - 1e-12
        wins += (most / most.sum(axis=1, keepdims=True)).sum(axis=0)  # a tie is shared
        averages[low : low + len(w)] = w @ z
    higher, equal, lower = (wins / samples).tolist()
    better, worse = (higher, lower) if higher_is_better else (lower, higher)
    ends = np.quantile(averages, [alpha / 2, 1 - alpha / 2]).tolist()
    size = (
        Effect("mean difference", float(d.mean()), *ends)
        if d.any()
        else Effect("mean difference", 0.0, reason="all differences are 0, and show no spread")
    )
    return Practical(
        test=f"Bayesian signed-rank test, region of practical equivalence ±{number(rope)}",
        h0="none: each outcome gets a probability",
        statistic=better,
        statistic_name="P(the first is better)",
        p_value=None,
        size=size,
        n=len(d),
        said=(
            f"Over sets such as these {len(d)} the first is better with probability {better:.3f}, the second with "
            f"{worse:.3f}, and they are practically equal (within {number(rope)}) with {equal:.3f}"
        ),
        alpha=alpha,
        first_better=better,
        equal=equal,
        second_better=worse,
    )
