"""Models over many data sets: Wilcoxon's test, and Friedman's with Nemenyi's.

Each set gives one score for each model. Sets differ in how hard they are, so scores are compared within a set: by their
differences (two models) or by their ranks (more). After Demšar (2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.evaluation.verdict import Effect, Verdict, level, number, numbers_of, p_text, percent, share_of
from ingenuo.explanation.beliefs import aligned
from ingenuo.explanation.critical_difference import draw, groups_of

Floats = NDArray[np.float64]

_EXACT = 100  # so many differences have their exact distribution: 10,100 possible sums
_MOST = 5000  # of so many differences all pairs are looked at
# An interval of Kendall's W by the noncentral F was tried: it covered 83 to 97 % in place of 95 % (2 to 8 models, 10 to
# 20 sets).
_NO_INTERVAL = "none that is known holds with few sets; nemenyi gives those of the pairs"
_PAIRS = "; over so many rows rather than sets, take permutation or paired_bootstrap"


def differences_of(first: Any, second: Any) -> Floats:
    """First minus second on each set, checked."""
    one, other = numbers_of("first", first), numbers_of("second", second)
    if len(one) != len(other):
        raise InputError(
            f"first has {len(one)} scores and second has {len(other)}; models are compared on the same sets, so give a "
            "score of each for every set"
        )
    if len(one) < 2:
        raise InputError(f"{len(one)} sets cannot show a difference over sets; give 2 sets at least")
    if len(one) > _MOST:
        raise InputError(f"there are {len(one):,} differences, and at most {_MOST:,} are compared in pairs{_PAIRS}")
    d = one - other
    d[np.abs(d) <= 1e-12 * np.maximum(np.abs(one), np.abs(other))] = 0.0  # 0.1 + 0.2 is 0.3
    return np.asarray(d)


def wilcoxon(first: Any, second: Any, *, confidence: float = 0.95) -> Verdict:
    """Wilcoxon's signed-rank test: whether one of two models is better over many sets.

    Differences that are 0 are left out, the others ranked by size; W+ is the sum of ranks of those in favour of the
    first. Up to 100 differences p is exact, with ties too; beyond that it is the normal approximation.

    Parameters
    ----------
    first, second : array-like
        The scores of both models on each set.
    confidence : float
        How sure the interval is; the difference is called significant at 1 - confidence.

    Notes
    -----
    The effect is the Hodges–Lehmann median difference: the median of all means of two differences. Its interval is
    between the k-th smallest and the k-th largest of these, with k from the distribution of W+.

    Examples
    --------
    >>> found = wilcoxon([0.91, 0.85, 0.78, 0.95, 0.66, 0.88], [0.90, 0.82, 0.73, 0.93, 0.62, 0.81])
    >>> found.statistic, found.p_value, round(found.effect, 4)
    (0.0, 0.03125, 0.035)
    """
    alpha = level(confidence)
    d = differences_of(first, second)
    kept = d[d != 0]
    plus, minus, p = 0.0, 0.0, 1.0
    if len(kept):
        ranks = _ranks(np.abs(kept))
        plus, minus = float(ranks[kept > 0].sum()), float(ranks[kept < 0].sum())
        p = _signed_rank_p(ranks, min(plus, minus))
    ahead, behind = int((d > 0).sum()), int((d < 0).sum())
    equal = len(d) - ahead - behind
    biserial = (plus - minus) / (plus + minus) if len(kept) else 0.0
    return Verdict(
        test="Wilcoxon's signed-rank test",
        h0="the differences between the models are spread evenly about 0",
        statistic=min(plus, minus),
        statistic_name="the smaller sum of ranks",
        p_value=p,
        size=_hodges_lehmann(d, alpha),
        n=len(d),
        said=f"On {len(d)} sets the first is higher on {ahead}, lower on {behind} and equal on {equal}",
        alpha=alpha,
        others=(Effect("matched rank-biserial correlation", biserial),),
        details={"plus": plus, "minus": minus, "zeros": equal},
    )


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, smallest first, the mean of them where values tie; along the last axis."""
    # What differs in the last digits only, as 0.3 - 0.2 and 0.2 - 0.1 do, ties.
    _, places, counts = np.unique(_rounded(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[places.ravel()])


def _rounded(values: Floats) -> Floats:
    """To twelve digits of the largest."""
    unit = float(np.abs(values).max()) or 1.0
    return np.asarray(np.round(values / unit, 12))


def _sums_of_signs(doubled: NDArray[np.int64]) -> Floats:
    """P(W+ = w/2) under H0, where each rank counts or not with probability ½; ranks are doubled, to be whole."""
    chances = np.ones(1)
    for rank in doubled.tolist():
        longer = np.zeros(len(chances) + rank)
        longer[: len(chances)] += chances / 2
        longer[rank:] += chances / 2
        chances = longer
    return chances


def _signed_rank_p(ranks: Floats, smaller: float) -> float:
    from scipy.special import ndtr

    n = len(ranks)
    if n <= _EXACT:
        doubled = np.rint(2 * ranks).astype(np.int64)
        return min(1.0, 2 * float(_sums_of_signs(doubled)[: round(2 * smaller) + 1].sum()))
    variance = float((ranks**2).sum()) / 4  # which counts ties as they are
    return float(min(1.0, 2 * ndtr((smaller - n * (n + 1) / 4) / np.sqrt(variance))))


def _hodges_lehmann(d: Floats, alpha: float) -> Effect:
    """The median of the means of all pairs (a difference with itself too), and the interval that W+ gives it."""
    from scipy.special import ndtri

    name, n = "median difference (Hodges–Lehmann)", len(d)
    row, column = np.triu_indices(n)
    means = np.sort((d[row] + d[column]) / 2)
    middle = float(np.median(means))
    if n <= _EXACT:
        below = np.cumsum(_sums_of_signs(2 * np.arange(1, n + 1)))[::2]
        k = int((below <= alpha / 2).sum())
    else:
        k = int(n * (n + 1) / 4 + ndtri(alpha / 2) * np.sqrt(n * (n + 1) * (2 * n + 1) / 24))
    if k < 1:
        needed = int(np.ceil(1 - np.log2(alpha)))
        return Effect(name, middle, reason=f"{n} sets cannot give one of {percent(1 - alpha)}, {needed} can")
    if means[0] == means[-1]:
        return Effect(name, middle, reason="all differences are the same, and show no spread")
    return Effect(name, middle, float(means[k - 1]), float(means[-k]))


def _table(scores: Any, higher_is_better: Any) -> tuple[Floats, Floats]:
    """The scores, sets × models, and the ranks within each set: 1 is the best."""
    table = numbers_of("scores", scores, (2,))
    if not isinstance(higher_is_better, bool | np.bool_):
        raise KindError(f"higher_is_better must be True or False, got {higher_is_better!r}")
    n, k = table.shape
    if n < 2 or k < 2:
        raise InputError(f"scores has {n} sets and {k} models, sets × models; give 2 of each at least")
    return table, np.array([_ranks(-row if higher_is_better else row) for row in table])


def friedman(
    scores: Any,
    *,
    names: Sequence[str] | None = None,
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> Verdict:
    """Friedman's test: whether the models' ranks differ over many sets at all.

    Parameters
    ----------
    scores : array (sets, models)
        The score of each model on each set.
    names : list, optional
        The models' names; by default "model 1" and so on.
    higher_is_better : bool
        Which scores get the rank 1: False for log loss.
    confidence : float
        The difference is called significant at 1 - confidence.

    Notes
    -----
    χ² = N(k - 1)W, where Kendall's W is 0 if the sets do not agree on the ranks and 1 if all do. p is that of Iman and
    Davenport's F = (N - 1)W / (1 - W), which is closer to the level than χ² with few sets. Where W = 1, F is infinite,
    and p is exact: (1/k!)^(N - 1).

    Examples
    --------
    >>> found = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.9, 0.85, 0.6], [0.7, 0.6, 0.65]])
    >>> found.details["average_ranks"], round(found.details["chi2"], 6), round(found.statistic, 6)
    ((1.0, 2.5, 2.5), 6.0, 9.0)
    """
    from scipy.special import chdtrc, fdtrc

    alpha = level(confidence)
    _, ranks = _table(scores, higher_is_better)
    n, k = ranks.shape
    average = ranks.mean(axis=0)
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())  # smaller where there are ties
    w = min(n * float(((average - (k + 1) / 2) ** 2).sum()) / spread, 1.0) if spread else 0.0
    w = 1.0 if w > 1 - 1e-12 else w
    chi2, f = n * (k - 1) * w, (n - 1) * w / (1 - w) if w < 1 else np.inf
    p = float(fdtrc(k - 1, (k - 1) * (n - 1), f)) if w < 1 else _all_agree(ranks)
    called = names_of(names, k)
    best = f"{called[int(average.argmin())]} has the best average rank, {number(float(average.min()))}"
    seen = best if w else "all rank the same"
    return Verdict(
        test="Friedman's test, with Iman and Davenport's F",
        h0="all models rank the same over sets of this kind",
        statistic=f,
        statistic_name=f"F with {k - 1} and {(k - 1) * (n - 1)} degrees of freedom",
        p_value=p,
        size=Effect("Kendall's W", w, reason=_NO_INTERVAL),
        n=n,
        said=f"Over {n} sets and {k} models {seen}",
        alpha=alpha,
        details={
            "average_ranks": tuple(average.tolist()),
            "chi2": chi2,
            "chi2_p_value": float(chdtrc(k - 1, chi2)),
        },
    )


def _all_agree(ranks: Floats) -> float:
    """The chance that all sets rank alike: the first may rank in any way, and the others as it did."""
    _, ties = np.unique(ranks[0], return_counts=True)
    ways = factorial(ranks.shape[1])
    for tied in ties.tolist():
        ways //= factorial(tied)
    return float(1 / ways) ** (len(ranks) - 1)


@dataclass(frozen=True, eq=False)
class Nemenyi:
    """Average ranks, and how far apart two must be: the critical difference.

    Attributes
    ----------
    names : tuple
        The models.
    ranks : array
        Their average ranks; 1 is the best.
    cd : float
        The critical difference.
    pairs : mapping
        A `Verdict` for each pair of names.
    n : int
        How many sets.
    alpha : float
        The level for all pairs together.
    """

    names: tuple[str, ...]
    ranks: Floats
    cd: float
    pairs: dict[tuple[str, str], Verdict]
    n: int
    alpha: float

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The largest groups of models that do not differ significantly, the best first."""
        return [tuple(self.names[k] for k in group) for group in groups_of(self.ranks, self.cd)]

    @property
    def sentence(self) -> str:
        """Which pairs differ."""
        apart = [(pair, verdict) for pair, verdict in self.pairs.items() if verdict.significant]
        said = f"Over {self.n} sets average ranks differ significantly at the {percent(self.alpha)} level from "
        if not apart:
            return f"{said}{self.cd:.3f} on, and no two models are so far apart."
        shown = []
        for (one, other), verdict in apart:
            better, worse = (one, other) if (verdict.effect or 0) < 0 else (other, one)
            shown.append(f"{better} ranks before {worse} ({p_text(verdict.p_value or 0.0)})")
        return f"{said}{self.cd:.3f} on: {'; '.join(shown)}."

    def __str__(self) -> str:
        order = np.argsort(self.ranks, kind="stable").tolist()
        lines = [["model", "average rank"], *([self.names[k], f"{self.ranks[k]:.3f}"] for k in order)]
        return "\n".join([*aligned(lines), self.sentence])

    def __repr__(self) -> str:
        return str(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the critical-difference diagram; the axes are returned."""
        return draw(self.ranks, self.names, self.cd, ax)


def nemenyi(
    scores: Any, alpha: float = 0.05, *, names: Sequence[str] | None = None, higher_is_better: bool = True
) -> Nemenyi:
    """Nemenyi's test: which pairs of models have different ranks over many sets.

    Two differ where their average ranks are CD = q √(k(k + 1) / 6N) apart; q is the studentized range of k models
    over √2.

    Parameters
    ----------
    scores : array (sets, models)
        The score of each model on each set.
    alpha : float
        The chance to find any difference where there is none.
    names : list, optional
        The models' names; by default "model 1" and so on.
    higher_is_better : bool
        Which scores get the rank 1: False for log loss.

    Examples
    --------
    >>> found = nemenyi([[0.9, 0.8, 0.7], [0.8, 0.75, 0.7], [0.9, 0.85, 0.6], [0.7, 0.65, 0.6]], names=["A", "B", "C"])
    >>> found.ranks.tolist(), round(found.cd, 3), found.groups
    ([1.0, 2.0, 3.0], 1.657, [('A', 'B'), ('B', 'C')])
    """
    from scipy.stats import studentized_range

    share_of("alpha", alpha)
    _, ranks = _table(scores, higher_is_better)
    n, k = ranks.shape
    called = names_of(names, k)
    average = ranks.mean(axis=0)
    error = float(np.sqrt(k * (k + 1) / (6 * n)))
    cd = float(studentized_range.ppf(1 - alpha, k, np.inf)) / np.sqrt(2) * error
    pairs = {}
    for i in range(k):
        for j in range(i + 1, k):
            apart = float(average[i] - average[j])
            p = float(studentized_range.sf(abs(apart) / error * np.sqrt(2), k, np.inf)) if apart else 1.0
            pairs[called[i], called[j]] = Verdict(
                test="Nemenyi's test",
                h0=f"{called[i]} and {called[j]} rank the same over sets of this kind",
                statistic=abs(apart) / error,
                statistic_name="difference of average ranks in standard errors",
                p_value=min(max(p, 0.0), 1.0),
                size=Effect("difference of average ranks", apart, apart - cd, apart + cd),
                n=n,
                said=f"Over {n} sets {called[i]} has average rank {average[i]:.3f} and {called[j]} {average[j]:.3f}",
                alpha=alpha,
            )
    return Nemenyi(called, average, float(cd), pairs, n, alpha)


def names_of(names: Any, k: int) -> tuple[str, ...]:
    """A name for each of k models, all different."""
    called = tuple(f"model {i + 1}" for i in range(k)) if names is None else tuple(map(str, names))
    if len(called) != k or len(set(called)) != k:
        raise InputError(f"names={list(called)!r} for {k} models; give each its own name")
    return called
