"""One comparison of an audit by sentences: which groups, how their sentences are weighed, and what is found.

A comparison is a weight for each sentence. In a frame the sentences of one group share a weight of 1 and those of the
other side -1, so the weighted sum of the scores is the frame's difference of means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

OTHERS = "the others"
_PAIRS = 4  # groups of a kind: of more, each is compared with all others together and not with each


class Pair(NamedTuple):
    """Two sentences of one frame, the score of each, and the terms they are about."""

    sentence: str
    score: float
    other: str
    other_score: float
    terms: tuple[str, str]

    @property
    def difference(self) -> float:
        """The first score less the other."""
        return self.score - self.other_score


@dataclass(frozen=True)
class Comparison:
    """How the scores of one group's sentences differ from another's.

    Attributes
    ----------
    class_ : Any
        The class whose probability is the score.
    kind, group, against : str
        What the groups are of, and which two are compared; `against` is "the others" where a kind has many groups.
    frames : int
        How many frames have sentences of both.
    difference, low, high : float
        The mean difference over the frames, with Student's interval (None where all frames differ by the same).
    p_value : float
        Of the permutation test: signs of the frames' differences flipped at random.
    p_student : float or None
        Of the paired t test.
    p_terms : float or None
        Of Welch's t test between the terms' means: could other terms of these groups have shown it by chance? None
        where a group has one term.
    adjusted : float
        `p_value` by Holm's correction, for as many comparisons as the audit makes.
    significant : bool
        Whether that is at most 1 - confidence.
    log_odds : float
        The mean difference of the log-odds.
    unused : bool
        Whether the model uses no term of the group, so that the difference is all the other side's.
    words : tuple of (str, float)
        What each word that differs adds to that, the strongest first.
    worst : tuple of Pair
        The sentences of one frame that differ most.
    """

    class_: Any
    kind: str
    group: str
    against: str
    frames: int
    difference: float
    low: float | None
    high: float | None
    p_value: float
    p_student: float | None
    p_terms: float | None
    log_odds: float
    unused: bool = False
    words: tuple[tuple[str, float], ...] = ()
    worst: tuple[Pair, ...] = ()
    adjusted: float = 1.0
    significant: bool = False


def contrasts(groups: int) -> list[tuple[int, int | None]]:
    """Which groups are compared: each two of a few, each with all others of many."""
    if groups <= _PAIRS:
        return [(a, b) for a in range(groups) for b in range(a + 1, groups)]
    return [(a, None) for a in range(groups)]


def weights_of(frames: NDArray[np.int64], codes: NDArray[np.int64], group: int, against: int | None) -> Floats | None:
    """The weight of each sentence in its frame's difference; None where no frame has both sides.

    The group's sentences share a weight of 1, the other group's of -1; of several others each group has an equal part.
    """
    n_frames, n_groups = int(frames.max()) + 1, int(codes.max()) + 1
    there = codes >= 0
    cells = np.bincount(frames[there] * n_groups + codes[there], minlength=n_frames * n_groups).reshape(n_frames, -1)
    sides = np.zeros((n_frames, n_groups))
    others = [against] if against is not None else [g for g in range(n_groups) if g != group]
    present = cells > 0
    both = present[:, group] & present[:, others].any(axis=1)
    if not both.any():
        return None
    sides[both, group] = 1.0
    many = present[:, others].sum(axis=1)
    for g in others:
        rows = both & present[:, g]
        sides[rows, g] = -1.0 / many[rows]
    weights = np.zeros(len(frames))
    weights[there] = (sides / np.maximum(cells, 1))[frames[there], codes[there]]
    return weights


def welch(one: Floats, other: Floats) -> float | None:
    """The p-value of Welch's t test; None where a side has one term, or nothing varies."""
    from scipy.special import stdtr

    if min(len(one), len(other)) < 2:
        return None
    a, b = one.var(ddof=1) / len(one), other.var(ddof=1) / len(other)
    if a + b <= 1e-30:
        return None
    t = (one.mean() - other.mean()) / math.sqrt(a + b)
    freedom = (a + b) ** 2 / (a * a / (len(one) - 1) + b * b / (len(other) - 1))
    return float(2 * stdtr(freedom, -abs(t)))


def different(pairs: list[Pair], most: int) -> list[Pair]:
    """The pairs that differ most; of two terms, and of what is said of them, one pair is enough."""
    kept: list[Pair] = []
    seen: set[Any] = set()
    for pair in sorted(pairs, key=lambda pair: -abs(pair.difference)):
        said = pair.sentence.replace(pair.terms[0], "…") if pair.terms[0] else pair.sentence
        if len(kept) < most and not {frozenset(pair.terms), said} & seen:
            seen |= {frozenset(pair.terms), said} if any(pair.terms) else {said}
            kept.append(pair)
    return kept
