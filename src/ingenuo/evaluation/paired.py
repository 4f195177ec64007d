"""Two classifiers compared: on the same rows, over folds, and the verdict that a test gives.

Each row is answered by both, so what counts is the difference row by row. b rows are right by the first only, c by the
second only; rows on which both are right, or both wrong, say nothing of the difference in accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, RefusedError, did_you_mean
from ingenuo.evaluation.intervals import check_share, exact
from ingenuo.evaluation.measures import LEAST
from ingenuo.evaluation.predictions import Predictions, predictions_of
from ingenuo.rows.checks import check_whole, seeded_generator
from ingenuo.show.table import aligned
from ingenuo.tally.labels import public, unite

Floats = NDArray[np.float64]
Measure = str | Callable[[Any, Any], float]

METHODS = ("exact", "mid-p")
MEASURES = {"accuracy": "accuracy", "log_loss": "log loss"}
_LARGEST = 1e300  # sums of larger numbers may be beyond the doubles
_SMALLEST = 1e-4  # a smaller p is said to be below it: its digits rest on the far tail
_ENUMERATED = 20  # 2^20 sums of signed differences take 10 ms; beyond that they are sampled
_BLOCK = 1 << 20  # rows drawn at a time


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
    """What a test asked and found, how large the difference is, and one plain sentence."""

    test: str
    h0: str  # the null hypothesis
    statistic: float
    statistic_name: str
    p_value: float  # the probability of a statistic at least as extreme if H0 holds
    size: Effect  # how large the difference is
    n: int  # how many rows, differences or sets were judged
    seen: str  # what was seen, as the beginning of the sentence
    alpha: float = 0.05  # the level at which it is called significant; intervals hold with 1 - alpha
    others: tuple[Effect, ...] = ()  # further effect sizes
    details: Mapping[str, Any] = field(default_factory=dict)  # what else was counted

    @property
    def effect(self) -> float | None:
        """How large the difference is."""
        return self.size.value

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
        return self.p_value <= self.alpha

    @property
    def sentence(self) -> str:
        """What was seen, and whether chance explains it."""
        sure, at = "is" if self.significant else "is not", percent(self.alpha)
        return f"{self.seen}: the difference {sure} significant at the {at} level ({p_text(self.p_value)})."

    def __str__(self) -> str:
        lines = [
            ["H0", self.h0],
            ["statistic", f"{self.statistic_name} = {number(self.statistic)}"],
            ["p", f"{self.p_value:.4g}"],
            ["effect", self._line(self.size)],
            *(["also", self._line(size)] for size in self.others),
        ]
        return "\n".join([self.test, *("  " + line for line in aligned(lines)), self.sentence])

    __repr__ = __str__

    def _line(self, size: Effect) -> str:
        if size.value is None:
            return f"{size.name}: none, {size.reason}"
        if size.low is not None and size.high is not None:
            sure = percent(1 - self.alpha)
            return f"{size.name} {number(size.value)}, {sure} interval {number(size.low)} to {number(size.high)}"
        return f"{size.name} {number(size.value)}, no interval: {size.reason}"


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
    return f"{value:.4g}"


def percent(share: float) -> str:
    """A share as a percentage.

    >>> percent(0.05), percent(1 - 0.9)
    ('5 %', '10 %')
    """
    return f"{round(100 * share, 6):g} %"


def level(confidence: Any) -> float:
    """1 - confidence, the share of intervals that may miss."""
    return round(1 - check_share("confidence", confidence), 12)


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


class Pair(NamedTuple):
    """What two classifiers answered to the same rows."""

    first: Predictions
    second: Predictions

    def differences(self, measure: str) -> Floats:
        """First minus second, row by row."""
        return np.asarray(row_values(self.first, measure) - row_values(self.second, measure))

    def compare(self, measure: Measure) -> tuple[str, float, float, Callable[[Any, Any], float] | None]:
        """The measure's name, what both classifiers have, and the measure itself where it is no mean over rows."""
        if isinstance(measure, str):
            if measure not in MEASURES:
                raise InputError(f"measure={measure!r} is not known{did_you_mean(measure, MEASURES)}")
            one, other = (float(row_values(answers, measure).mean()) for answers in self)
            return MEASURES[measure], one, other, None
        if not callable(measure):
            raise KindError(f"measure must be a name or a function of y and predictions, got {measure!r}")
        if (self.first.probabilities is None) != (self.second.probabilities is None):
            raise InputError(
                "one classifier has labels and the other has probabilities, which one function cannot measure alike; "
                "give the same of both"
            )

        def measured(truth: Any, given: Any) -> float:
            value = float(measure(truth, given))
            if not np.isfinite(value):
                raise InputError(
                    f"the measure is {value!r} on some of the rows; give one that is a finite number on any rows"
                )
            return value

        truth, first, second = self.arrays()
        name = str(getattr(measure, "__name__", "the measure")).replace("_", " ")
        return name, measured(truth, first), measured(truth, second), measured

    def arrays(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The truth and both answers as a function of one's own sees them: probabilities, or else labels."""
        labels = public(self.first.classes)
        first, second = (labels[p.predicted] if p.probabilities is None else p.probabilities for p in self)
        return labels[self.first.codes], first, second


def row_values(answers: Predictions, measure: str) -> Floats:
    """Of each row: whether the answer is correct, or the log loss, -log P(true class | row)."""
    if measure == "accuracy":
        return np.asarray(answers.predicted == answers.codes, np.float64)
    if answers.probabilities is None:
        raise InputError(
            "log loss needs probabilities, rows × classes, and labels were given; give predict_proba's output"
        )
    return np.asarray(-np.log(np.maximum(answers.probabilities[np.arange(len(answers)), answers.codes], LEAST)))


def pair_of(y: Any, first: Any, second: Any, classes: Any = None) -> Pair:
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
    return Pair(one.on(united), other.on(united))


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
    return mcnemar_of(pair_of(y, first, second, classes), method, alpha)


def mcnemar_of(answers: Pair, method: str, alpha: float) -> Verdict:
    """McNemar's test of answers that were checked."""
    one, other = (row_values(each, "accuracy") > 0 for each in answers)
    n, b, c = len(one), int((one & ~other).sum()), int((other & ~one).sum())
    if b + c:
        share = exact(b, b + c, 1 - alpha)
        low, high = (float(end / (1 - end)) if end < 1 else np.inf for end in (share.low or 0.0, share.high or 0.0))
        odds = Effect("odds ratio b/c", b / c if c else np.inf, low, high)
        seen = f"only the first is right on {b:,}, only the second on {c:,}"
    else:
        odds = Effect("odds ratio b/c", None, reason="no row is right by one only")
        seen = "both are right on the same rows"
    return Verdict(
        test=f"McNemar's test, {method}",
        h0="both classifiers are right equally often",
        statistic=float(b),
        statistic_name=f"rows of {b + c:,} that only the first has right: b",
        p_value=binomial_p(b, c, method),
        size=Effect("difference in accuracy", (b - c) / n, *tango(b, c, n, alpha)),
        n=n,
        seen=f"Of {n:,} rows one classifier alone is right on {b + c:,}; {seen}",
        alpha=alpha,
        others=(odds,),
        details={"b": b, "c": c, "both_right": int((one & other).sum()), "both_wrong": int((~one & ~other).sum())},
    )


def binomial_p(b: int, c: int, method: str) -> float:
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
    The interval is between percentiles of the replicates (`scipy.stats.bootstrap`); p = 2 (r + 1)/(replicates + 1),
    where r replicates have a difference of 0 or of the other sign. With few rows both are too sure: of log loss, where
    H0 is true, it is rejected in 10 % of cases with 10 rows and 8 % with 30 in place of 5 %. There, take `permutation`
    or `mcnemar`.

    Examples
    --------
    >>> y = [1] * 40
    >>> found = paired_bootstrap(y, [1] * 36 + [0] * 4, [1] * 20 + [0] * 16 + [1] * 4, replicates=999)
    >>> round(found.effect, 6), found.low > 0, found.significant
    (0.3, True, True)
    """
    from scipy import stats

    check_whole("replicates", replicates, 1)
    alpha, rng = level(confidence), seeded_generator("random_state", random_state)
    answers = pair_of(y, first, second, classes)
    name, one, other, own = answers.compare(measure)
    n, effect, named = len(answers.first), one - other, f"difference in {name}"
    data: NDArray[Any] = np.arange(n) if own is not None else answers.differences(str(measure))
    truth, a, b = answers.arrays()

    def difference(at: NDArray[Any]) -> float:
        assert own is not None
        return own(truth[at], a[at]) - own(truth[at], b[at])

    drawn = stats.bootstrap(
        (data,),
        np.mean if own is None else difference,
        n_resamples=replicates,
        batch=max(1, _BLOCK // n),
        vectorized=own is None,
        confidence_level=1 - alpha,
        method="percentile",
        random_state=rng,
    )
    values = drawn.bootstrap_distribution
    alike = np.ptp(values) <= 1e-12 * abs(effect)
    if alike and effect != 0:
        raise RefusedError(
            f"every replicate differs by the same {number(effect)}, so the bootstrap sees no spread in these {n} rows; "
            "judge them with permutation"
        )
    low, high = drawn.confidence_interval
    size = Effect(named, effect, float(low), float(high))
    if alike:
        size = Effect(named, effect, reason="no replicate differs")
    return Verdict(
        test=f"paired bootstrap, {replicates:,} replicates",
        h0=f"both classifiers have the same {name}",
        statistic=effect,
        statistic_name=named,
        p_value=min(1.0, 2 * (int(min((values <= 0).sum(), (values >= 0).sum())) + 1) / (replicates + 1)),
        size=size,
        n=n,
        seen=f"On {n:,} rows the first has {name} {number(one)} and the second {number(other)}",
        alpha=alpha,
    )


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
    check_whole("replicates", replicates, 1)
    alpha, rng = level(confidence), seeded_generator("random_state", random_state)
    return permutation_of(pair_of(y, first, second, classes), measure, replicates, alpha, rng)


def permutation_of(answers: Pair, measure: Measure, replicates: int, alpha: float, rng: np.random.Generator) -> Verdict:
    """The permutation test of answers that were checked."""
    name, one, other, own = answers.compare(measure)
    n, effect, named = len(answers.first), one - other, f"difference in {name}"
    if own is not None:
        p, ways = _swap_answers(answers, own, effect, replicates, rng)
        size = Effect(named, effect, reason="a permutation test gives none for such a measure; ask paired_bootstrap")
    else:
        rows = answers.differences(str(measure))
        if measure == "accuracy":
            b, c = int((rows > 0).sum()), int((rows < 0).sum())
            p, ways = binomial_p(b, c, "exact"), 2 ** (b + c)
            size = Effect(named, effect, *tango(b, c, n, alpha))
        else:
            p, ways = flip_signs(rows, replicates, rng)
            size = student(named, rows, alpha)
    tried = f"all {ways:,} ways to swap" if ways else f"{replicates:,} ways to swap drawn"
    return Verdict(
        test=f"permutation test, {tried}",
        h0=f"it does not matter to the {name} which classifier gave which answer",
        statistic=effect,
        statistic_name=named,
        p_value=p,
        size=size,
        n=n,
        seen=f"On {n:,} rows the first has {name} {number(one)} and the second {number(other)}",
        alpha=alpha,
        details={"ways": ways or None},
    )


def flip_signs(rows: Floats, replicates: int, rng: np.random.Generator) -> tuple[float, int]:
    """The share of sign flips with a sum as far from 0 as was seen, and how many there are where all were tried."""
    d = np.abs(rows[rows != 0])
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


def _swap_answers(
    answers: Pair, measure: Callable[[Any, Any], float], effect: float, replicates: int, rng: np.random.Generator
) -> tuple[float, int]:
    """The same for any function of the answers: the rows that differ are swapped, and both are measured again."""
    truth, first, second = answers.arrays()
    differ = np.flatnonzero((first != second) if first.ndim == 1 else (first != second).any(axis=1))
    m = len(differ)
    every = m < 63 and 2**m <= replicates
    far = 0
    for way in range(2**m if every else replicates):
        flips = (way >> np.arange(m)) & 1 if every else rng.integers(2, size=m)
        one, other = first.copy(), second.copy()
        rows = differ[flips == 1]
        one[rows], other[rows] = second[rows], first[rows]
        far += abs(measure(truth, one) - measure(truth, other)) >= abs(effect) - 1e-12 * max(1.0, abs(effect))
    return (far / 2**m, 2**m) if every else ((far + 1) / (replicates + 1), 0)


def student(named: str, rows: Floats, alpha: float, inflation: float = 0.0) -> Effect:
    """The mean with Student's interval; its variance is (1/n + inflation) s²."""
    from scipy.special import stdtrit

    n, mean = len(rows), float(rows.mean())
    if rows.max() == rows.min():
        return Effect(named, mean, reason=f"all {n} differ by the same, and show no spread")
    reach = float(stdtrit(n - 1, 1 - alpha / 2)) * standard_error(rows, inflation)
    return Effect(named, mean, mean - reach, mean + reach)


def standard_error(rows: Floats, inflation: float = 0.0) -> float:
    """√((1/n + inflation) s²), in units of the largest, so that no square is beyond the doubles."""
    unit = float(np.abs(rows).max())
    return float(np.sqrt((1 / len(rows) + inflation) * np.var(rows / unit, ddof=1))) * unit


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
    >>> found.seen
    'Over 5 differences the first is higher by 0.02 on average'
    """
    from scipy.special import stdtr

    alpha = level(confidence)
    found = numbers_of("differences", differences, (1, 2)).ravel()
    if isinstance(test_share, bool) or not isinstance(test_share, int | float | np.integer | np.floating):
        raise KindError(f"test_share must be a number, got {type(test_share).__name__} {test_share!r}")
    if not (np.isfinite(test_share) and test_share > 0):
        raise InputError(f"test_share={test_share!r} must be n_test / n_train, as 1/9 for 10 folds")
    k = len(found)
    if k < 2:
        raise InputError(f"differences has {k} folds, and the spread over folds needs 2 at least; take more folds")
    size = student("mean difference", found, alpha, float(test_share))
    if size.low is None and found[0] != 0:
        raise RefusedError(
            f"all {k} differences are {number(float(found[0]))}, so there is no spread to divide by; take more "
            "folds or repeats, or judge the rows with mcnemar or permutation"
        )
    mean = size.value or 0.0
    t = mean / standard_error(found, float(test_share)) if size.low is not None else 0.0
    lead = f"the first is {'higher' if mean > 0 else 'lower'} by {number(abs(mean))}" if mean else "neither is higher"
    return Verdict(
        test="corrected resampled t-test (Nadeau and Bengio)",
        h0="the mean difference between the models is 0",
        statistic=t,
        statistic_name=f"t with {k - 1} degrees of freedom",
        p_value=float(2 * stdtr(k - 1, -abs(t))),
        size=size,
        n=k,
        seen=f"Over {k} differences {lead} on average",
        alpha=alpha,
        details={"test_share": float(test_share), "degrees_of_freedom": k - 1},
    )
