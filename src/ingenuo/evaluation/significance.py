"""Is the difference real? Tests between classifiers, each with H0, p, an effect with its interval, and one sentence.

================================  ==============================================================
two classifiers, the same rows    `mcnemar`, `paired_bootstrap`, `permutation`
two models, over folds            `corrected_t`
two models, over many sets        `wilcoxon`
several models, over many sets    `friedman`, `nemenyi`
several tests at once             `holm`
================================  ==============================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.evaluation.intervals import check_share
from ingenuo.evaluation.paired import (
    Effect,
    Verdict,
    corrected_t,
    level,
    mcnemar,
    number,
    numbers_of,
    p_text,
    paired_bootstrap,
    percent,
    permutation,
)
from ingenuo.show.plots import colour, new_axes, short
from ingenuo.show.table import aligned

__all__ = [
    "Effect",
    "Nemenyi",
    "Verdict",
    "corrected_t",
    "friedman",
    "holm",
    "mcnemar",
    "nemenyi",
    "paired_bootstrap",
    "permutation",
    "wilcoxon",
]


Floats = NDArray[np.float64]

_STEP, _BAR = 0.22, 0.14  # between two names and between two bars of the diagram, in inches


# Models over many data sets: Wilcoxon's test, and Friedman's with Nemenyi's (Demšar, 2006).


def _rounded(values: Floats) -> Floats:
    """To twelve digits of the largest, so that 0.1 + 0.2 ties with 0.3."""
    return np.asarray(np.round(values / (float(np.abs(values).max()) or 1.0), 12))


def wilcoxon(first: Any, second: Any, *, confidence: float = 0.95) -> Verdict:
    """Wilcoxon's signed-rank test: whether one of two models is better, by the scores of both on each of many sets.

    p is that of `scipy.stats.wilcoxon`: exact up to 50 differences, or 13 if some of them tie; sets on which both have
    the same score are left out.

    >>> found = wilcoxon([0.91, 0.85, 0.78, 0.95, 0.66, 0.88], [0.90, 0.82, 0.73, 0.93, 0.62, 0.81])
    >>> found.statistic, found.p_value, round(found.effect, 4)
    (0.0, 0.03125, 0.035)
    """
    from scipy import stats

    alpha = level(confidence)
    one, other = numbers_of("first", first), numbers_of("second", second)
    if len(one) != len(other) or not 2 <= len(one) <= 1000:
        raise InputError(f"first has {len(one)} scores and second {len(other)}; give both on the same 2 to 1,000 sets")
    d = one - other
    d[np.abs(d) <= 1e-12 * np.maximum(np.abs(one), np.abs(other))] = 0.0
    signs = _rounded(d)
    statistic, p = stats.wilcoxon(signs[signs != 0]) if signs.any() else (0.0, 1.0)
    ahead, behind, equal = (int(where.sum()) for where in (d > 0, d < 0, d == 0))
    return Verdict(
        test="Wilcoxon's signed-rank test",
        h0="the differences between the models are spread evenly about 0",
        statistic=float(statistic),
        statistic_name="the smaller sum of ranks",
        p_value=float(p),
        size=_median_difference(d, alpha),
        n=len(d),
        seen=f"On {len(d)} sets the first is higher on {ahead}, lower on {behind} and equal on {equal}",
        alpha=alpha,
    )


def _median_difference(d: Floats, alpha: float) -> Effect:
    """The median of all means of two differences, and the interval that the distribution of the rank sum gives it."""
    name, n = "median difference (Hodges–Lehmann)", len(d)
    means = np.sort(((d[:, np.newaxis] + d) / 2)[np.triu_indices(n)])
    middle = float(np.median(means))
    if means[0] == means[-1]:
        return Effect(name, middle, reason="all differences are the same, and show no spread")
    ways = np.ones(1)  # P(rank sum = 0, 1, …) if each of the ranks 1, …, n counts or not with probability ½
    for rank in range(1, n + 1):
        ways = (np.append(ways, np.zeros(rank)) + np.append(np.zeros(rank), ways)) / 2
    k = int((np.cumsum(ways) <= alpha / 2).sum())
    if k < 1:
        needed = int(np.ceil(1 - np.log2(alpha)))
        return Effect(name, middle, reason=f"{n} sets cannot give one of {percent(1 - alpha)}, {needed} can")
    return Effect(name, middle, float(means[k - 1]), float(means[-k]))


def _ranked(scores: Any, names: Any, higher_is_better: Any) -> tuple[Floats, tuple[str, ...]]:
    """The ranks within each set, 1 the best, and a name for each model."""
    from scipy.stats import rankdata

    table = numbers_of("scores", scores, (2,))
    if not isinstance(higher_is_better, bool | np.bool_):
        raise KindError(f"higher_is_better must be True or False, got {higher_is_better!r}")
    n, k = table.shape
    if n < 2 or k < 2:
        raise InputError(f"scores has {n} sets and {k} models, sets × models; give 2 of each at least")
    called = tuple(f"model {i + 1}" for i in range(k)) if names is None else tuple(map(str, names))
    if len(called) != k or len(set(called)) != k:
        raise InputError(f"names={list(called)!r} for {k} models; give each its own name")
    return np.array([rankdata(-row if higher_is_better else row) for row in map(_rounded, table)]), called


def friedman(
    scores: Any, *, names: Sequence[str] | None = None, higher_is_better: bool = True, confidence: float = 0.95
) -> Verdict:
    """Friedman's test: whether the models' ranks differ over many sets at all; scores are sets × models.

    Kendall's W is 0 if the sets do not agree on the ranks and 1 if all do. p is that of Iman and Davenport's
    F = (N - 1)W / (1 - W), which is closer to the level than χ² = N(k - 1)W with few sets; where W = 1 it is exact.
    Lower scores, such as log losses, get the rank 1 with higher_is_better=False.

    >>> found = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.9, 0.85, 0.6], [0.7, 0.6, 0.65]])
    >>> found.details["average_ranks"], round(found.details["chi2"], 6), round(found.statistic, 6)
    ((1.0, 2.5, 2.5), 6.0, 9.0)
    """
    from scipy.special import fdtrc

    alpha = level(confidence)
    ranks, called = _ranked(scores, names, higher_is_better)
    n, k = ranks.shape
    average = ranks.mean(axis=0)
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())  # smaller where there are ties
    w = round(n * float(((average - (k + 1) / 2) ** 2).sum()) / spread, 12) if spread else 0.0
    f = (n - 1) * w / (1 - w) if w < 1 else np.inf
    p = float(fdtrc(k - 1, (k - 1) * (n - 1), f))
    if w == 1:  # the first set may rank in any way, and the others as it did
        ties = np.unique(ranks[0], return_counts=True)[1].tolist()
        p = float(np.prod([float(factorial(tied)) for tied in ties]) / factorial(k)) ** (n - 1)
    best = f"{called[int(average.argmin())]} has the best average rank, {number(float(average.min()))}"
    return Verdict(
        test="Friedman's test, with Iman and Davenport's F",
        h0="all models rank the same over sets of this kind",
        statistic=f,
        statistic_name=f"F with {k - 1} and {(k - 1) * (n - 1)} degrees of freedom",
        p_value=p,
        size=Effect("Kendall's W", w, reason="none holds with few sets; nemenyi gives those of the pairs"),
        n=n,
        seen=f"Over {n} sets and {k} models {best if w else 'all rank the same'}",
        alpha=alpha,
        details={"average_ranks": tuple(average.tolist()), "chi2": n * (k - 1) * w},
    )


@dataclass(frozen=True, eq=False)
class Nemenyi:
    """Average ranks of the models (1 is the best), the critical difference, and the p-value of each pair of names."""

    names: tuple[str, ...]
    ranks: Floats
    cd: float
    pairs: dict[tuple[str, str], float]
    n: int
    alpha: float

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The largest groups of models that do not differ significantly, the best first."""
        order = np.argsort(self.ranks, kind="stable")
        ends = np.searchsorted(self.ranks[order], self.ranks[order] + self.cd, side="left").tolist()
        spans = [(at, end) for at, (end, past) in enumerate(zip(ends, [0, *ends])) if end > past and end - at > 1]
        return [tuple(self.names[k] for k in order[at:end]) for at, end in spans]

    @property
    def sentence(self) -> str:
        """Which pairs differ."""
        rank = dict(zip(self.names, self.ranks.tolist()))
        apart = [(sorted(pair, key=rank.__getitem__), p) for pair, p in self.pairs.items() if p <= self.alpha]
        shown = "; ".join(f"{better} ranks before {worse} ({p_text(p)})" for (better, worse), p in apart)
        said = f"Over {self.n} sets average ranks differ significantly at the {percent(self.alpha)} level from "
        return f"{said}{self.cd:.3f} on{': ' + shown if shown else ', and no two models are so far apart'}."

    def __str__(self) -> str:
        order = np.argsort(self.ranks, kind="stable").tolist()
        lines = [["model", "average rank"], *([self.names[k], f"{self.ranks[k]:.3f}"] for k in order)]
        return "\n".join([*aligned(lines), self.sentence])

    __repr__ = __str__

    def plot(self, ax: Any = None) -> Any:
        """Draw Demšar's critical-difference diagram; the axes are returned.

        Models hang from an axis of ranks, and a bar joins those that do not differ.
        """
        rank, k = dict(zip(self.names, self.ranks.tolist())), len(self.names)
        half = (k + 1) // 2
        start = 0.34 + _BAR * len(self.groups)  # of the names, below the axis
        depth = start + _STEP * (half - 1) + 0.15
        beside = 0.75 + 0.078 * max(len(short(name, 40)) for name in self.names)  # room for the longest, in inches
        width = max(7.2 - 2 * beside, 3.4)
        ax = new_axes(ax, (width + 2 * beside, depth + 0.82))
        room, unit = beside / width * (k - 1), k - 1
        ax.set(xlim=(1 - room, k + room), ylim=(-depth, 0.62))
        ax.axis("off")
        ax.plot([1, k], [0, 0], color="black", lw=1.2, clip_on=False)
        for place in range(1, k + 1):
            ax.plot([place, place], [0, 0.07], color="black", lw=1.2)
            ax.text(place, 0.1, str(place), ha="center", va="bottom", fontsize=9)
        shown = min(self.cd, k - 1.0)
        ax.errorbar([1 + shown / 2], [0.42], xerr=shown / 2, color="0.35", lw=1.2, capsize=3)
        title = f"critical difference {self.cd:.2f}{'' if self.cd <= k - 1 else ', beyond the axis'}"
        ax.text(1 + shown / 2, 0.46, title, ha="center", va="bottom", fontsize=9)
        for place, name in enumerate(sorted(rank, key=rank.__getitem__)):
            left = place < half
            # On the right the worst is nearest to the axis, so that no lines cross.
            y = -start - _STEP * (place if left else k - 1 - place)
            edge, side = (1 - 0.06 * unit, -1) if left else (k + 0.06 * unit, 1)
            ax.plot([rank[name], rank[name], edge], [0, y, y], color="0.25", lw=0.9)
            text = "  ".join([short(name, 40), f"{rank[name]:.2f}"][::-side])
            ax.text(edge + side * 0.015 * unit, y, text, ha="right" if left else "left", va="center", fontsize=9)
        for place, group in enumerate(self.groups):
            ends = rank[group[0]] - 0.012 * unit, rank[group[-1]] + 0.012 * unit
            y = -0.16 - _BAR * place
            ax.plot(ends, [y, y], color=colour(0), lw=4, solid_capstyle="butt", zorder=3)
        return ax


def nemenyi(
    scores: Any, alpha: float = 0.05, *, names: Sequence[str] | None = None, higher_is_better: bool = True
) -> Nemenyi:
    """Nemenyi's test: which pairs of models have different ranks over many sets; scores and names as in `friedman`.

    Two differ where their average ranks are CD = q √(k(k + 1) / 6N) apart; q is the studentized range of k models
    over √2, and alpha the chance to find any difference where there is none.

    >>> found = nemenyi([[0.9, 0.8, 0.7], [0.8, 0.75, 0.7], [0.9, 0.85, 0.6], [0.7, 0.65, 0.6]], names=["A", "B", "C"])
    >>> found.ranks.tolist(), round(found.cd, 3), found.groups
    ([1.0, 2.0, 3.0], 1.657, [('A', 'B'), ('B', 'C')])
    """
    from scipy.stats import studentized_range

    check_share("alpha", alpha)
    ranks, called = _ranked(scores, names, higher_is_better)
    n, k = ranks.shape
    average, error = ranks.mean(axis=0), float(np.sqrt(k * (k + 1) / (12 * n)))
    cd = float(studentized_range.ppf(1 - alpha, k, np.inf)) * error
    apart = [(i, j, abs(average[i] - average[j]) / error) for i, j in combinations(range(k), 2)]
    pairs = {(called[i], called[j]): float(studentized_range.sf(q, k, np.inf)) if q else 1.0 for i, j, q in apart}
    return Nemenyi(called, average, cd, pairs, n, alpha)


def holm(p_values: Any) -> NDArray[np.float64]:
    """Holm's correction: p-values that may be compared with the level although several tests were made.

    The smallest of m is multiplied by m, the next by m - 1 and so on; none becomes smaller than the one before.

    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    p = numbers_of("p_values", p_values)
    bad = (p < 0) | (p > 1)
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"p_values holds {float(p[at])!r} at {at}; a p-value lies between 0 and 1")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return adjusted
