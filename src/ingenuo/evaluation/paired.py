"""Two classifiers compared: on the same rows, over folds, and the verdict that a test gives.

Each row is answered by both, so what counts is the difference row by row. b rows are right by the first only, c by the
second only; rows on which both are right, or both wrong, say nothing of the difference in accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, RefusedError, did_you_mean
from ingenuo.evaluation import intervals
from ingenuo.evaluation.measures import LEAST
from ingenuo.evaluation.predictions import Predictions, predictions_of
from ingenuo.models.language import seeded, whole
from ingenuo.show.table import aligned
from ingenuo.tally.labels import public, unite

# The verdict of a test: what it asked, what it found, how large the difference is, and one plain sentence.


_LARGEST = 1e300  # sums of larger numbers may be beyond the doubles
_SMALLEST = 1e-4  # a smaller p is said to be below it: its digits rest on the far tail


@dataclass(frozen=True)
class Effect:
    """How large a difference is, with its interval; where there is none, `reason` says why."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """What a test found."""

    test: str
    h0: str  # the null hypothesis
    statistic: float
    statistic_name: str
    p_value: float | None  # the probability of a statistic at least as extreme if H0 holds
    size: Effect  # how large the difference is
    n: int  # how many rows, differences or sets were judged
    said: str  # what was seen, as the beginning of the sentence
    alpha: float = 0.05  # the level at which it is called significant; intervals hold with 1 - alpha
    others: tuple[Effect, ...] = ()  # further effect sizes
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))  # what else was counted

    @property
    def effect(self) -> float | None:
        """How large the difference is."""
        return self.size.value

    @property
    def effect_name(self) -> str:
        """What the effect measures."""
        return self.size.name

    @property
    def low(self) -> float | None:
        """The lower end of the effect's interval, or None."""
        return self.size.low

    @property
    def high(self) -> float | None:
        """The upper end of the effect's interval, or None."""
        return self.size.high

    @property
    def significant(self) -> bool:
        """Whether H0 is rejected at the level alpha."""
        return self.p_value is not None and self.p_value <= self.alpha

    @property
    def sentence(self) -> str:
        """What was seen, and whether chance explains it."""
        if self.p_value is None:
            return self.said + "."
        sure, at = "is" if self.significant else "is not", percent(self.alpha)
        return f"{self.said}: the difference {sure} significant at the {at} level ({p_text(self.p_value)})."

    def __str__(self) -> str:
        lines = [["H0", self.h0], ["statistic", f"{self.statistic_name} = {number(self.statistic)}"]]
        if self.p_value is not None:
            lines.append(["p", f"{self.p_value:.4g}"])
        lines.append(["effect", self._line(self.size)])
        lines += [["also", self._line(size)] for size in self.others]
        return "\n".join([self.test, *("  " + line for line in aligned(lines)), self.sentence])

    __repr__ = __str__

    def _line(self, size: Effect) -> str:
        if size.value is None:
            return f"{size.name}: none, {size.reason}"
        if size.low is not None and size.high is not None:
            sure = percent(1 - self.alpha)
            return f"{size.name} {number(size.value)}, {sure} interval {number(size.low)} to {number(size.high)}"
        return f"{size.name} {number(size.value)}" + (f", no interval: {size.reason}" if size.reason else "")


def p_text(p: float) -> str:
    """A p-value in a sentence.

    >>> p_text(0.0412345), p_text(1e-9), p_text(1.0)
    ('p = 0.0412', 'p < 0.0001', 'p = 1')
    """
    return "p < 0.0001" if p < _SMALLEST else f"p = {p:.3g}"


def number(value: float) -> str:
    """A number with four digits (a whole one with all of them), and no sign of nothing.

    >>> number(-0.055), number(250339.0), number(-0.0), number(float("inf"))
    ('-0.055', '250,339', '0', 'infinite')
    """
    if np.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value + 0.0:.4g}"


def percent(share: float) -> str:
    """A share as a percentage.

    >>> percent(0.05), percent(1 - 0.9)
    ('5 %', '10 %')
    """
    return f"{round(100 * share, 6):g} %"


def level(confidence: Any) -> float:
    """1 - confidence, the share of intervals that may miss."""
    return round(1 - share_of("confidence", confidence), 12)


def share_of(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise KindError(f"{name} must be a number between 0 and 1, got {type(value).__name__} {value!r}")
    if not 0 < value < 1:
        raise InputError(f"{name}={value!r} must lie between 0 and 1, as 0.95 does")
    return float(value)


def numbers_of(name: str, values: Any, dimensions: Iterable[int] = (1,)) -> Floats:
    """Finite numbers in an array of so many dimensions."""
    if values is None:
        raise InputError(f"{name} is None; give its numbers")
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise KindError(f"{name} must hold numbers in rows of one length, got {values!r:.60}") from None
    if array.ndim not in dimensions:
        wanted = " or ".join(map(str, dimensions))
        raise InputError(f"{name} has {array.ndim} dimensions, and {wanted} are wanted; reshape it")
    bad = ~(np.abs(array) <= _LARGEST)
    if bad.any():
        place = tuple(int(at) for at in np.argwhere(bad)[0])
        at = place[0] if len(place) == 1 else place
        raise InputError(f"{name} holds {float(array[place])!r} at {at}; each must be a number, up to {_LARGEST:g}")
    return array


Floats = NDArray[np.float64]
Measure = str | Callable[[Any, Any], float]

METHODS = ("exact", "mid-p")
MEASURES = {"accuracy": "accuracy", "log_loss": "log loss"}
_ENUMERATED = 20  # 2^20 sums of signed differences take 10 ms; beyond that they are sampled
_BLOCK = 1 << 20  # rows drawn at a time


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
    return np.asarray(-np.log(np.maximum(answers.probabilities[np.arange(len(answers)), answers.codes], LEAST)))


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


def _measured(answers: Judged, measure: Measure) -> tuple[str, str | None, tuple[float, float]]:
    """The measure's name, its key where it is a mean over rows, and what both classifiers have."""
    if isinstance(measure, str):
        if measure not in MEASURES:
            raise InputError(f"measure={measure!r} is not known{did_you_mean(measure, MEASURES)}")
        rows = right if measure == "accuracy" else losses
        return MEASURES[measure], measure, (float(rows(answers.first).mean()), float(rows(answers.second).mean()))
    if not callable(measure):
        raise KindError(f"measure must be a name or a function of y and predictions, got {measure!r}")
    if (answers.first.probabilities is None) != (answers.second.probabilities is None):
        raise InputError(
            "one classifier has labels and the other has probabilities, which one function cannot measure alike; give "
            "the same of both"
        )
    name = str(getattr(measure, "__name__", "the measure")).replace("_", " ")
    truth = _truth(answers)
    return name, None, (_value(measure, truth, _answers(answers[0])), _value(measure, truth, _answers(answers[1])))


def _answers(answers: Predictions) -> NDArray[Any]:
    """As a function of one's own sees them: probabilities where there are any, else labels."""
    return public(answers.classes)[answers.predicted] if answers.probabilities is None else answers.probabilities


def _truth(answers: Judged) -> NDArray[Any]:
    return public(answers.first.classes)[answers.first.codes]


def _value(measure: Callable[[Any, Any], float], truth: Any, given: Any) -> float:
    value = float(measure(truth, given))
    if not np.isfinite(value):
        raise InputError(f"the measure is {value!r} on some of the rows; give one that is a finite number on any rows")
    return value


def paired_bootstrap(
    y: Any,
    first: Any,
    second: Any,
    measure: Measure = "accuracy",
    replicates: int = 2000,
    *,
    classes: Any = None,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Verdict:
    """Resample the rows, with replacement, and see how the difference between two classifiers varies.

    Parameters
    ----------
    y, first, second, classes, confidence
        As in `mcnemar`.
    measure : {"accuracy", "log_loss"} or callable
        What is compared; a function of the true labels and the labels (or probabilities, if these were given).
    replicates : int
        How often rows are drawn.
    random_state : int, optional
        Seed for NumPy's generator.

    Notes
    -----
    The interval is between percentiles of the replicates; p = 2 (r + 1)/(replicates + 1), where r replicates have a
    difference of 0 or of the other sign. With few rows both are too sure: of log loss, where H0 is true, it is rejected
    in 10 % of cases with 10 rows and 8 % with 30 in place of 5 %. There, take `permutation` or `mcnemar`.

    Examples
    --------
    >>> y = [1] * 40
    >>> found = paired_bootstrap(y, [1] * 36 + [0] * 4, [1] * 20 + [0] * 16 + [1] * 4, replicates=999)
    >>> round(found.effect, 6), found.low > 0, found.significant
    (0.3, True, True)
    """
    whole("replicates", replicates, 1)
    alpha, rng = level(confidence), seeded("random_state", random_state)
    answers = judged(y, first, second, classes)
    name, key, (one, other) = _measured(answers, measure)
    n = answers.n
    if key is not None:
        rows = answers.differences(key)
        effect, drawn = float(rows.mean()), _means(rows, key, replicates, rng)
    else:
        assert callable(measure)
        effect, drawn = one - other, np.empty(replicates)
        truth, first, second = _truth(answers), _answers(answers.first), _answers(answers.second)
        for replicate in range(replicates):
            at = rng.integers(n, size=n)
            drawn[replicate] = _value(measure, truth[at], first[at]) - _value(measure, truth[at], second[at])
    named = f"difference in {name}"
    if drawn.max() == drawn.min() == effect != 0:
        raise RefusedError(
            f"every replicate differs by the same {number(effect)}, so the bootstrap sees no spread in these {n} rows; "
            "judge them with permutation"
        )
    p = min(1.0, 2 * (int(min((drawn <= 0).sum(), (drawn >= 0).sum())) + 1) / (replicates + 1))
    if drawn.max() == drawn.min():
        size = Effect(named, effect, reason="no replicate differs")
    else:
        low, high = np.quantile(drawn, [alpha / 2, 1 - alpha / 2])
        size = Effect(named, effect, float(low), float(high))
    return Verdict(
        test=f"paired bootstrap, {replicates:,} replicates",
        h0=f"both classifiers have the same {name}",
        statistic=effect,
        statistic_name=named,
        p_value=p,
        size=size,
        n=n,
        said=f"On {n:,} rows the first has {name} {number(one)} and the second {number(other)}",
        alpha=alpha,
    )


def _means(rows: Floats, key: str, replicates: int, rng: np.random.Generator) -> Floats:
    """Means of rows that are resampled."""
    n = len(rows)
    if key == "accuracy":  # rows of three kinds: to draw rows is to draw how many of each
        shares = np.array([(rows > 0).mean(), (rows < 0).mean()])
        drawn = rng.multinomial(n, [*shares, max(0.0, 1 - shares.sum())], size=replicates)
        return np.asarray((drawn[:, 0] - drawn[:, 1]) / n)
    block = max(1, _BLOCK // n)
    found = [
        rows[rng.integers(n, size=(min(block, replicates - low), n))].mean(axis=1)
        for low in range(0, replicates, block)
    ]
    return np.concatenate(found)


def permutation(
    y: Any,
    first: Any,
    second: Any,
    measure: Measure = "accuracy",
    replicates: int = 9999,
    *,
    classes: Any = None,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Verdict:
    """Test whether two classifiers differ by swapping their answers, row by row, at random.

    If neither is better, it does not matter which gave which answer. Of accuracy the test is exact, and the same as
    McNemar's. Of log loss all 2^m ways to swap the m rows that differ are tried where m ≤ 20; of a function of one's
    own where they are no more than `replicates`. Else ways are drawn, and p = (r + 1)/(replicates + 1), where r of them
    differ as much as was seen.

    Parameters
    ----------
    y, first, second, measure, classes, confidence, random_state
        As in `paired_bootstrap`.
    replicates : int
        How many ways to swap are drawn where there are too many to try all.

    Notes
    -----
    The interval of accuracy is Tango's, that of log loss Student's of the rows' mean difference; a function of one's
    own has none here.

    Examples
    --------
    >>> y, first = [0, 0, 0, 0, 0], [[0.9, 0.1]] * 5
    >>> second = [[0.6, 0.4], [0.7, 0.3], [0.5, 0.5], [0.8, 0.2], [0.6, 0.4]]
    >>> found = permutation(y, first, second, "log_loss", classes=[0, 1])
    >>> found.p_value, found.details["ways"]
    (0.0625, 32)
    """
    whole("replicates", replicates, 1)
    alpha, rng = level(confidence), seeded("random_state", random_state)
    answers = judged(y, first, second, classes)
    return permutation_of(answers, measure, replicates, alpha, rng)


def permutation_of(
    answers: Judged, measure: Measure, replicates: int, alpha: float, rng: np.random.Generator
) -> Verdict:
    """The permutation test of answers that were checked."""
    name, key, (one, other) = _measured(answers, measure)
    n, named = answers.n, f"difference in {name}"
    if key is not None:
        rows = answers.differences(key)
        effect = float(rows.mean())
        p, ways = flipped(rows, key, replicates, rng)
        if key == "accuracy":
            size = Effect(named, effect, *tango(int((rows > 0).sum()), int((rows < 0).sum()), n, alpha))
        else:
            size = student(named, rows, alpha)
    else:
        assert callable(measure)
        effect = one - other
        p, ways = _swapped(answers, measure, effect, replicates, rng)
        size = Effect(named, effect, reason="a permutation test gives none for such a measure; ask paired_bootstrap")
    tried = f"all {ways:,} ways to swap" if ways else f"{replicates:,} ways to swap drawn"
    return Verdict(
        test=f"permutation test, {tried}",
        h0=f"it does not matter to the {name} which classifier gave which answer",
        statistic=effect,
        statistic_name=named,
        p_value=p,
        size=size,
        n=n,
        said=f"On {n:,} rows the first has {name} {number(one)} and the second {number(other)}",
        alpha=alpha,
        details={"ways": ways or None},
    )


def flipped(rows: Floats, key: str, replicates: int, rng: np.random.Generator) -> tuple[float, int]:
    """The share of sign flips with a sum as far from 0 as was seen, and how many there are where all were tried."""
    d = np.abs(rows[rows != 0])
    if len(d) == 0:
        return 1.0, 1
    if key == "accuracy":
        return binomial(int((rows > 0).sum()), int((rows < 0).sum()), "exact"), 2 ** len(d)
    # Sums in another order are rounded otherwise: what is as far up to 1e-12 is as far.
    least = abs(float(rows.sum())) - 1e-12 * float(d.sum())
    if len(d) <= _ENUMERATED:
        sums = np.zeros(1)
        for value in d:
            sums = np.concatenate([sums + value, sums - value])
        return float((np.abs(sums) >= least).mean()), len(sums)
    # Eight rows at a time: a byte says which are flipped, and a table of 256 what that adds. A million rows, 9,999
    # times: 10 s.
    signs = 1.0 - 2.0 * ((np.arange(256)[:, np.newaxis] >> np.arange(8)) & 1)
    sums = np.zeros(replicates)
    for low in range(0, len(d), 8):
        part = d[low : low + 8]
        sums += (signs[:, : len(part)] @ part)[rng.integers(256, size=replicates, dtype=np.uint8)]
    return (int((np.abs(sums) >= least).sum()) + 1) / (replicates + 1), 0


def _swapped(
    answers: Judged, measure: Callable[[Any, Any], float], effect: float, replicates: int, rng: np.random.Generator
) -> tuple[float, int]:
    """The same for any function of the answers: the rows that differ are swapped, and both are measured again."""
    first, second = (_answers(part) for part in answers)
    truth = _truth(answers)
    differ = np.flatnonzero((first != second) if first.ndim == 1 else (first != second).any(axis=1))
    m = len(differ)
    every = m < 63 and 2**m <= replicates
    far = 0
    for way in range(2**m if every else replicates):
        flips = (way >> np.arange(m)) & 1 if every else rng.integers(2, size=m)
        one, other = first.copy(), second.copy()
        rows = differ[flips == 1]
        one[rows], other[rows] = second[rows], first[rows]
        found = _value(measure, truth, one) - _value(measure, truth, other)
        far += abs(found) >= abs(effect) - 1e-12 * max(1.0, abs(effect))
    return (far / 2**m, 2**m) if every else ((far + 1) / (replicates + 1), 0)


def student(named: str, rows: Floats, alpha: float) -> Effect:
    """The mean with Student's interval."""
    from scipy.special import stdtrit

    n, mean, spread = len(rows), float(rows.mean()), float(rows.std(ddof=1))
    if rows.max() == rows.min():
        return Effect(named, mean, reason=f"all rows differ by the same, and show no spread for {percent(1 - alpha)}")
    reach = float(stdtrit(n - 1, 1 - alpha / 2)) * spread / np.sqrt(n)
    return Effect(named, mean, mean - reach, mean + reach)


def corrected_t(differences: Any, test_share: float, *, confidence: float = 0.95) -> Verdict:
    """Test whether two models differ over folds, with the variance that overlapping training rows deserve.

    The folds share most of their training rows, so their differences are not independent, and the plain t-test finds
    far too much. Nadeau and Bengio (2003) enlarge the variance:
    t = mean / √((1/k + n_test/n_train) s²), with k - 1 degrees of freedom, over all k differences.

    Parameters
    ----------
    differences : array (folds,) or (folds, repeats)
        First minus second, for each fold: of accuracy, say, or of log loss.
    test_share : float
        n_test / n_train: 1/9 for 10 folds.
    confidence : float
        How sure the interval is; the difference is called significant at 1 - confidence.

    Examples
    --------
    >>> found = corrected_t([0.02, 0.01, 0.03, 0.00, 0.04], test_share=1 / 4)
    >>> round(found.statistic, 4), round(found.p_value, 4)
    (1.8856, 0.1324)
    >>> found.said
    'Over 5 differences the first is higher by 0.02 on average'
    """
    from scipy.special import stdtr, stdtrit

    alpha = level(confidence)
    found = numbers_of("differences", differences, (1, 2)).ravel()
    if isinstance(test_share, bool) or not isinstance(test_share, int | float | np.integer | np.floating):
        raise KindError(f"test_share must be a number, got {type(test_share).__name__} {test_share!r}")
    if not (np.isfinite(test_share) and test_share > 0):
        raise InputError(f"test_share={test_share!r} must be n_test / n_train, as 1/9 for 10 folds")
    k = len(found)
    if k < 2:
        raise InputError(f"differences has {k} folds, and the spread over folds needs 2 at least; take more folds")
    mean = float(found.mean())
    # Compared with the differences themselves: their mean may be rounded.
    alike = bool(found.max() == found.min())
    if alike and found[0] != 0:
        raise RefusedError(
            f"all {k} differences are {number(float(found[0]))}, so there is no spread to divide by; take more "
            "folds or repeats, or judge the rows with mcnemar or permutation"
        )
    name = "mean difference"
    if alike:
        t, p = 0.0, 1.0
        size = Effect(name, 0.0, reason="all differences are 0, and show no spread")
    else:
        # In units of the largest, so that no square is beyond the doubles.
        unit = float(np.abs(found).max())
        error = float(np.sqrt((1 / k + test_share) * np.var(found / unit, ddof=1))) * unit
        t = mean / error
        p = float(2 * stdtr(k - 1, -abs(t)))
        reach = float(stdtrit(k - 1, 1 - alpha / 2)) * error
        size = Effect(name, mean, mean - reach, mean + reach)
    lead = (
        "neither is higher" if mean == 0 else f"the first is {'higher' if mean > 0 else 'lower'} by {number(abs(mean))}"
    )
    return Verdict(
        test="corrected resampled t-test (Nadeau and Bengio)",
        h0="the mean difference between the models is 0",
        statistic=t,
        statistic_name=f"t with {k - 1} degrees of freedom",
        p_value=p,
        size=size,
        n=k,
        said=f"Over {k} differences {lead} on average",
        alpha=alpha,
        details={"test_share": float(test_share), "degrees_of_freedom": k - 1},
    )
