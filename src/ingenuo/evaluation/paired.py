"""Two classifiers on the same rows: what they answered, and McNemar's test.

Each row is answered by both, so what counts is the difference row by row. b rows are right by the first only, c by the
second only; rows on which both are right, or both wrong, say nothing of the difference.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.evaluation import intervals
from ingenuo.evaluation.predictions import Predictions, predictions_of
from ingenuo.evaluation.verdict import Effect, Verdict, level
from ingenuo.labels import unite

Floats = NDArray[np.float64]

METHODS = ("exact", "mid-p")
# No probability counts as smaller, as in scikit-learn's log_loss.
_LEAST = float(np.finfo(np.float64).eps)


class Judged(NamedTuple):
    """What two classifiers answered to the same rows."""

    first: Predictions
    second: Predictions

    @property
    def n(self) -> int:
        """How many rows."""
        return len(self.first)

    def differences(self, measure: str) -> Floats:
        """First minus second, row by row."""
        if measure == "accuracy":
            return np.asarray(right(self.first) - right(self.second))
        return np.asarray(losses(self.first) - losses(self.second))


def right(answers: Predictions) -> Floats:
    """1 where the answer is the true class, else 0."""
    return np.asarray(answers.predicted == answers.codes, np.float64)


def losses(answers: Predictions) -> Floats:
    """-log P(true class | row)."""
    if answers.probabilities is None:
        raise InputError(
            "log loss needs probabilities, rows × classes, and labels were given; give predict_proba's output"
        )
    return np.asarray(-np.log(np.maximum(answers.probabilities[np.arange(len(answers)), answers.codes], _LEAST)))


def judged(y: Any, first: Any, second: Any, classes: Any = None) -> Judged:
    """Both classifiers' answers, checked, and on the same rows."""
    if y is None:
        raise InputError("y is missing: without what is true of each row no answer is right or wrong; give y")
    for name, values in (("y", y), ("first", first), ("second", second)):
        if isinstance(values, str | bytes) or not (hasattr(values, "__len__") or hasattr(values, "__array__")):
            raise KindError(f"{name} must hold a value for each row, got {type(values).__name__} {values!r}")
    rows = [values.shape[0] if hasattr(values, "shape") else len(values) for values in (y, first, second)]
    if len(set(rows)) > 1:
        raise InputError(
            f"y has {rows[0]} rows, first has {rows[1]} and second has {rows[2]}; two classifiers are compared on the "
            "same rows, so give one answer of each for every row of y"
        )
    if rows[0] < 2:
        raise InputError(f"{rows[0]} rows cannot show a difference; judge both classifiers on 2 rows at least")
    one, other = (predictions_of(answers, y=y, classes=classes) for answers in (first, second))
    united = unite(one.classes, other.classes)
    return Judged(one.on(united), other.on(united))


def mcnemar(
    y: Any, first: Any, second: Any, method: str = "exact", *, classes: Any = None, confidence: float = 0.95
) -> Verdict:
    """Test whether two classifiers are right equally often, by the rows on which only one is right.

    Under H0 each of the b + c rows on which only one is right is a fair coin: b ~ Binomial(b + c, ½).

    Parameters
    ----------
    y : array-like
        The true class of each row.
    first, second : array-like
        What each answered: labels, or probabilities (rows × classes; then the likeliest class counts).
    method : {"exact", "mid-p"}
        The exact test never rejects a true H0 too often, and seldom often enough; mid-p counts half of the probability
        of what was seen, and comes closer to the level (Fagerland, Lydersen and Laake, 2013).
    classes : list, optional
        The classes of the columns of probabilities; by default the sorted labels of y.
    confidence : float
        How sure the intervals are; the difference is called significant at 1 - confidence.

    Notes
    -----
    The interval of the difference in accuracy is Tango's (1998): all δ with
    (b - c - nδ)² ≤ z² n (2q + δ(1 - δ)), where q is the likeliest share of c-rows if δ is true. That of the odds ratio
    b/c is exact (Clopper and Pearson's of b/(b + c)).

    Examples
    --------
    >>> y = [1] * 20
    >>> first, second = [1] * 18 + [0] * 2, [1] * 10 + [0] * 8 + [1, 0]
    >>> found = mcnemar(y, first, second)
    >>> found.details["b"], found.details["c"], found.p_value
    (8, 1, 0.0390625)
    """
    if method not in METHODS:
        raise InputError(f"method={method!r} is not known{did_you_mean(method, METHODS)}")
    alpha = level(confidence)
    return mcnemar_of(judged(y, first, second, classes), method, alpha)


def mcnemar_of(answers: Judged, method: str, alpha: float) -> Verdict:
    """McNemar's test of answers that were checked."""
    one, other, n = right(answers.first) > 0, right(answers.second) > 0, answers.n
    b, c = int((one & ~other).sum()), int((other & ~one).sum())
    p = binomial(b, c, method)
    if b + c:
        share = intervals.exact(b, b + c, 1 - alpha)
        low, high = (float(end / (1 - end)) if end < 1 else np.inf for end in (share.low or 0.0, share.high or 0.0))
        odds = Effect("odds ratio b/c", b / c if c else np.inf, low, high)
        found = f"only the first is right on {b:,}, only the second on {c:,}"
    else:
        odds = Effect("odds ratio b/c", None, reason="no row is right by one only")
        found = "both are right on the same rows"
    return Verdict(
        test=f"McNemar's test, {method}",
        h0="both classifiers are right equally often",
        statistic=float(b),
        statistic_name=f"rows of {b + c:,} that only the first has right: b",
        p_value=p,
        size=Effect("difference in accuracy", (b - c) / n, *tango(b, c, n, alpha)),
        n=n,
        said=f"Of {n:,} rows one classifier alone is right on {b + c:,}; {found}",
        alpha=alpha,
        others=(odds,),
        details={"b": b, "c": c, "both_right": int((one & other).sum()), "both_wrong": int((~one & ~other).sum())},
    )


def binomial(b: int, c: int, method: str) -> float:
    """Both tails of Binomial(b + c, ½); mid-p counts what was seen half: P(X ≤ m) + P(X < m)."""
    from scipy.special import bdtr

    fewer, n = min(b, c), b + c
    if b == c:
        return 1.0
    upto = float(bdtr(fewer, n, 0.5))
    below = float(bdtr(fewer - 1, n, 0.5)) if fewer else 0.0
    return min(1.0, 2 * upto if method == "exact" else upto + below)


def tango(b: int, c: int, n: int, alpha: float = 0.05) -> tuple[float, float]:
    """The score interval of the difference of two paired shares, b/n - c/n.

    >>> [round(end, 4) for end in tango(8, 1, 20)]
    [0.066, 0.5845]
    """
    from scipy.special import ndtri

    z2, middle = float(ndtri(1 - alpha / 2)) ** 2, (b - c) / n

    def inside(d: float) -> bool:
        B = -b - c + (2 * n - b + c) * d
        q = (np.sqrt(max(B * B + 8 * n * c * d * (1 - d), 0.0)) - B) / (4 * n)
        return bool((b - c - n * d) ** 2 <= z2 * n * (2 * q + d * (1 - d)))

    ends = []
    for end in (-1.0, 1.0):
        within, without = middle, end
        for _ in range(60):
            half = (within + without) / 2
            within, without = (half, without) if inside(half) else (within, half)
        ends.append(within)
    return ends[0], ends[1]
