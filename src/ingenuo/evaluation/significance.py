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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, RefusedError, check_choice
from ingenuo.evaluation.intervals import check_share, exact
from ingenuo.evaluation.measures import row_measures
from ingenuo.evaluation.predictions import Predictions, predictions_of
from ingenuo.rows.checks import check_flag, check_number, check_whole, seeded_generator
from ingenuo.show.plots import colour, new_axes, short
from ingenuo.show.table import PrintedTable, Shown, aligned
from ingenuo.tally.labels import public, unite

__all__ = ["Effect", "Nemenyi", "Verdict"]
__all__ += ["corrected_t", "friedman", "holm", "mcnemar", "nemenyi", "paired_bootstrap", "permutation", "wilcoxon"]

Floats = NDArray[np.float64]
Measure = str | Callable[[Any, Any], float]

MEASURES = {"accuracy": "accuracy", "log_loss": "log loss"}
_LARGEST = 1e300  # sums of larger numbers may be beyond the doubles
_ENUMERATED = 20  # 2^20 sums of signed differences take 10 ms; beyond that they are sampled
_BLOCK = 1 << 20  # rows drawn at a time
_STEP, _BAR = 0.22, 0.14  # between two names and between two bars of the diagram, in inches


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
    statistic_name: str
    statistic: float
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
            *([name, self._line(size)] for name, size in zip(("effect", "also"), (self.size, *self.others))),
        ]
        return "\n".join([self.test, *("  " + line for line in aligned(lines)), self.sentence])

    __repr__ = __str__

    def _line(self, size: Effect) -> str:
        if size.value is None:
            return f"{size.name}: none, {size.reason}"
        interval = f"no interval: {size.reason}"
        if size.low is not None and size.high is not None:
            interval = f"{percent(1 - self.alpha)} interval {number(size.low)} to {number(size.high)}"
        return f"{size.name} {number(size.value)}, {interval}"


def p_text(p: float) -> str:
    """A p-value in a sentence; the digits of a very small one rest on the far tail."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.3g}"


def number(value: float) -> str:
    """A number with four digits (a whole one with all of them), and no sign of nothing."""
    if np.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    return f"{int(value):,}" if value == int(value) and abs(value) < 1e15 else f"{value:.4g}"


def percent(share: float) -> str:
    """A share as a percentage."""
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
        place = tuple(np.argwhere(bad)[0].tolist())
        at = place[0] if len(place) == 1 else place
        raise InputError(f"{name} holds {float(array[place])!r} at {at}; each must be a number, up to {_LARGEST:g}")
    return array


# Two classifiers on the same rows. b rows are right by the first only, c by the second only; rows on which both are
# right, or both wrong, say nothing of the difference in accuracy.


class Difference(NamedTuple):
    """Two classifiers by a measure on the same rows."""

    name: str
    first: float
    second: float
    n: int
    rows: Floats | None  # first less second, row by row; None where the measure is no mean over rows
    again: Any  # a function: the difference of such a measure at some places, after some rows were swapped

    @property
    def effect(self) -> float:
        """First less second."""
        return self.first - self.second

    def size(self, low: float | None = None, high: float | None = None, reason: str = "") -> Effect:
        """How large it is."""
        return Effect(f"difference in {self.name}", self.effect, low, high, reason)

    def judge(self, test: str, h0: str, p: float, size: Effect, alpha: float, **details: Any) -> Verdict:
        """The verdict of a test."""
        seen = f"On {self.n:,} rows the first has {self.name} {number(self.first)} and the second {number(self.second)}"
        return Verdict(test, h0, size.name, self.effect, p, size, self.n, seen, alpha, details=details)


class Answers(NamedTuple):
    """What two classifiers answered to the same rows."""

    first: Predictions
    second: Predictions

    def on_all_classes(self) -> Answers:
        """The same among the classes of both."""
        united = unite(self.first.classes, self.second.classes)
        return Answers(self.first.on(united), self.second.on(united))

    def by_row(self, measure: str) -> list[Floats]:
        """Of each classifier and row: whether the answer is correct, or the log loss, -log P(true class | row)."""
        if measure == "accuracy":
            return [np.asarray(each.predicted == each.codes, np.float64) for each in self]
        if any(each.probabilities is None for each in self):
            raise InputError(
                "log loss needs probabilities, rows × classes, and labels were given; give predict_proba's output"
            )
        return [row_measures(each).numbers[:, 0] for each in self]

    def compare(self, measure: Measure) -> Difference:
        """What both have of a measure: its name, or a function of the truth and of probabilities, or else labels."""
        n, labels = len(self.first), public(self.first.classes)
        if isinstance(measure, str):
            check_choice("measure", measure, MEASURES)
            one, other = self.by_row(measure)
            return Difference(MEASURES[measure], float(one.mean()), float(other.mean()), n, one - other, None)
        if not callable(measure):
            raise KindError(f"measure must be a name or a function of y and predictions, got {measure!r}")
        if (self.first.probabilities is None) != (self.second.probabilities is None):
            raise InputError(
                "one classifier has labels and the other has probabilities, which one function cannot measure alike; "
                "give the same of both"
            )
        truth = labels[self.first.codes]
        first, second = (labels[p.predicted] if p.probabilities is None else p.probabilities for p in self)

        def apply(at: Any = slice(None), swapped: Any = ()) -> tuple[float, float]:
            pair, places = [first.copy(), second.copy()], np.asarray(swapped, np.intp)
            pair[0][places], pair[1][places] = second[places], first[places]
            one, other = (float(measure(truth[at], answers[at])) for answers in pair)
            if not np.isfinite(one - other):
                bad = other if np.isfinite(one) else one
                raise InputError(
                    f"the measure is {bad!r} on some of the rows; give one that is a finite number on any rows"
                )
            return one, other

        name = str(getattr(measure, "__name__", "the measure")).replace("_", " ")
        return Difference(name, *apply(), n, None, lambda *given: -float(np.diff(apply(*given))[0]))


def read_answers(y: Any, first: Any, second: Any, classes: Any = None) -> Answers:
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
    return Answers(one, other).on_all_classes()


def mcnemar(
    y: Any, first: Any, second: Any, method: str = "exact", *, classes: Any = None, confidence: float = 0.95
) -> Verdict:
    """Test whether two classifiers are right equally often, by the rows on which only one is right.

    Under H0 each of the b + c rows on which only one is right is a fair coin: b ~ Binomial(b + c, ½). The interval of
    the difference in accuracy is Tango's (1998), that of the odds ratio b/c is exact.

    Parameters
    ----------
    y, first, second : array-like
        The true class of each row, and what each answered: labels, or probabilities (then the likeliest class counts).
    method : {"exact", "mid-p"}
        Mid-p counts half of the probability of what was seen, and comes closer to the level (Fagerland et al., 2013).
    classes, confidence
        The classes of the columns of probabilities, by default the sorted labels of y; how sure the intervals are: the
        difference is called significant at 1 - confidence.

    >>> found = mcnemar([1] * 20, [1] * 18 + [0] * 2, [1] * 10 + [0] * 8 + [1, 0])
    >>> found.details["b"], found.details["c"], found.p_value
    (8, 1, 0.0390625)
    """
    check_choice("method", method, ("exact", "mid-p"))
    alpha = level(confidence)
    return judge_accuracy(read_answers(y, first, second, classes), method, alpha)


def judge_accuracy(answers: Answers, method: str, alpha: float) -> Verdict:
    """McNemar's test of answers that were checked."""
    one, other = (values > 0 for values in answers.by_row("accuracy"))
    n, b, c = len(one), int((one & ~other).sum()), int((other & ~one).sum())
    odds = Effect("odds ratio b/c", None, reason="no row is right by one only")
    seen = "both are right on the same rows"
    if b + c:
        low, high = (
            float(end / (1 - end)) if end < 1 else np.inf for end in exact(b, b + c, 1 - alpha)[:2] if end is not None
        )
        odds = Effect("odds ratio b/c", b / c if c else np.inf, low, high)
        seen = f"only the first is right on {b:,}, only the second on {c:,}"
    details = {"b": b, "c": c, "both_right": int((one & other).sum()), "both_wrong": int((~one & ~other).sum())}
    test, h0 = f"McNemar's test, {method}", "both classifiers are right equally often"
    name, p = f"rows of {b + c:,} that only the first has right: b", binomial_p(b, c, method)
    size = Effect("difference in accuracy", (b - c) / n, *tango(b, c, n, alpha))
    seen = f"Of {n:,} rows one classifier alone is right on {b + c:,}; {seen}"
    return Verdict(test, h0, name, float(b), p, size, n, seen, alpha, (odds,), details)


def binomial_p(b: int, c: int, method: str) -> float:
    """Both tails of Binomial(b + c, ½); mid-p counts what was seen half: P(X ≤ m) + P(X < m)."""
    from scipy.special import bdtr

    if b == c:
        return 1.0
    upto, below = np.nan_to_num(bdtr([min(b, c), min(b, c) - 1], b + c, 0.5)).tolist()  # of -1 it is NaN
    return float(min(1.0, 2 * upto if method == "exact" else upto + below))


def tango(b: int, c: int, n: int, alpha: float = 0.05) -> tuple[float, float]:
    """The score interval of the difference of two paired shares, b/n - c/n.

    All δ with (b - c - nδ)² ≤ z² n (2q + δ(1 - δ)), where q is the likeliest share of c-rows if δ is true.
    """
    from scipy.special import ndtri

    z2 = float(ndtri(1 - alpha / 2)) ** 2

    def inside(d: float) -> bool:
        B = -b - c + (2 * n - b + c) * d
        q = (np.sqrt(max(B * B + 8 * n * c * d * (1 - d), 0.0)) - B) / (4 * n)
        return bool((b - c - n * d) ** 2 <= z2 * n * (2 * q + d * (1 - d)))

    ends = []
    for without in (-1.0, 1.0):
        within = (b - c) / n
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

    The interval is between percentiles of the replicates; p = 2 (r + 1)/(replicates + 1), where r replicates have a
    difference of 0 or of the other sign. With few rows both are too sure: take `permutation` or `mcnemar`.

    Parameters
    ----------
    y, first, second, classes, confidence
        As in `mcnemar`.
    measure, replicates, random_state
        "accuracy", "log_loss" or a function of the true labels and the labels (or probabilities, if these were given);
        how often rows are drawn, and the seed.

    >>> found = paired_bootstrap([1] * 40, [1] * 36 + [0] * 4, [1] * 20 + [0] * 16 + [1] * 4, replicates=999)
    >>> round(found.effect, 6), found.low > 0, found.significant
    (0.3, True, True)
    """
    from scipy import stats

    check_whole("replicates", replicates, 1)
    alpha, rng = level(confidence), seeded_generator("random_state", random_state)
    found = read_answers(y, first, second, classes).compare(measure)
    by_function, effect = found.rows is None, found.effect
    drawn = stats.bootstrap(
        (np.arange(found.n) if found.rows is None else found.rows,),
        found.again if by_function else np.mean,
        n_resamples=replicates,
        batch=max(1, _BLOCK // found.n),
        vectorized=not by_function,
        confidence_level=1 - alpha,
        method="percentile",
        random_state=rng,
    )
    values, (low, high) = drawn.bootstrap_distribution, drawn.confidence_interval
    size = found.size(float(low), float(high))
    if np.ptp(values) <= 1e-12 * abs(effect):
        if effect != 0:
            raise RefusedError(
                f"every replicate differs by the same {number(effect)}, so the bootstrap sees no spread in these "
                f"{found.n} rows; judge them with permutation"
            )
        size = found.size(reason="no replicate differs")
    p = min(1.0, 2 * (int(min((values <= 0).sum(), (values >= 0).sum())) + 1) / (replicates + 1))
    h0 = f"both classifiers have the same {found.name}"
    return found.judge(f"paired bootstrap, {replicates:,} replicates", h0, p, size, alpha)


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
    """Test whether two classifiers differ by swapping their answers, row by row, at random; parameters as above.

    If neither is better, it does not matter which gave which answer. Of accuracy the test is exact, and the same as
    McNemar's, with Tango's interval. Of log loss all 2^m ways to swap the m rows that differ are tried where m ≤ 20,
    and the interval is Student's; of a function of one's own they are tried where they are no more than `replicates`,
    and there is no interval. Else ways are drawn, and p = (r + 1)/(replicates + 1), where r of them differ as much.

    >>> second = [[0.6, 0.4], [0.7, 0.3], [0.5, 0.5], [0.8, 0.2], [0.6, 0.4]]
    >>> found = permutation([0] * 5, [[0.9, 0.1]] * 5, second, "log_loss", classes=[0, 1])
    >>> found.p_value, found.details["ways"]
    (0.0625, 32)
    """
    check_whole("replicates", replicates, 1)
    alpha, rng = level(confidence), seeded_generator("random_state", random_state)
    return judge_swaps(read_answers(y, first, second, classes), measure, replicates, alpha, rng)


def judge_swaps(answers: Answers, measure: Measure, replicates: int, alpha: float, rng: np.random.Generator) -> Verdict:
    """The permutation test of answers that were checked."""
    found = answers.compare(measure)
    if found.rows is None:
        p, ways = _swap_rows(answers, found, replicates, rng)
        size = found.size(reason="a permutation test gives none for such a measure; ask paired_bootstrap")
    elif measure == "accuracy":
        b, c = int((found.rows > 0).sum()), int((found.rows < 0).sum())
        p, ways = binomial_p(b, c, "exact"), 2 ** (b + c)
        size = found.size(*tango(b, c, found.n, alpha))
    else:
        p, ways = flip_signs(found.rows, replicates, rng)
        size = student(found.size().name, found.rows, alpha)
    test = f"permutation test, {f'all {ways:,} ways to swap' if ways else f'{replicates:,} ways to swap drawn'}"
    h0 = f"it does not matter to the {found.name} which classifier gave which answer"
    return found.judge(test, h0, p, size, alpha, ways=ways or None)


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
    # Eight rows at a time: a byte says which are flipped, and a table of 256 what that adds (9,999 times a million
    # rows take 10 s).
    signs = 1.0 - 2.0 * ((np.arange(256)[:, np.newaxis] >> np.arange(8)) & 1)
    sums = np.zeros(replicates)
    for low in range(0, len(d), 8):
        part = d[low : low + 8]
        sums += (signs[:, : len(part)] @ part)[rng.integers(256, size=replicates, dtype=np.uint8)]
    return (int((np.abs(sums) >= least).sum()) + 1) / (replicates + 1), 0


def _swap_rows(answers: Answers, found: Difference, replicates: int, rng: np.random.Generator) -> tuple[float, int]:
    """The same for any function of the answers: the rows that differ are swapped, and both are measured again."""
    one, other = (p.predicted[:, np.newaxis] if p.probabilities is None else p.probabilities for p in answers)
    differ = np.flatnonzero((one != other).any(axis=1))
    m = len(differ)
    every = m < 63 and 2**m <= replicates
    least = abs(found.effect) - 1e-12 * max(1.0, abs(found.effect))
    far = 0
    for way in range(2**m if every else replicates):
        swapped = differ[((way >> np.arange(m)) & 1 if every else rng.integers(2, size=m)) == 1]
        far += abs(found.again(slice(None), swapped)) >= least
    return (far / 2**m, 2**m) if every else ((far + 1) / (replicates + 1), 0)


def student(named: str, rows: Floats, alpha: float, inflation: float = 0.0) -> Effect:
    """The mean with Student's interval; its variance is (1/n + inflation) s²."""
    from scipy.special import stdtrit

    n, mean = len(rows), float(rows.mean())
    if rows.max() == rows.min():
        return Effect(named, mean, reason=f"all {n} differ by the same, and show no spread")
    reach = float(stdtrit(n - 1, 1 - alpha / 2)) * _standard_error(rows, inflation)
    return Effect(named, mean, mean - reach, mean + reach)


def _standard_error(rows: Floats, inflation: float) -> float:
    """√((1/n + inflation) s²), in units of the largest, so that no square is beyond the doubles."""
    unit = float(np.abs(rows).max())
    return float(np.sqrt((1 / len(rows) + inflation) * np.var(rows / unit, ddof=1))) * unit


def corrected_t(differences: Any, test_share: float, *, confidence: float = 0.95) -> Verdict:
    """Test whether two models differ over folds, with the variance that overlapping training rows deserve.

    The folds share most of their training rows, so the plain t-test finds far too much. Nadeau and Bengio (2003):
    t = mean / √((1/k + n_test/n_train) s²), with k - 1 degrees of freedom, over all k differences.

    Parameters
    ----------
    differences : array (folds,) or (folds, repeats)
        First minus second, for each fold: of accuracy, say, or of log loss.
    test_share, confidence : float
        n_test / n_train, 1/9 for 10 folds; how sure the interval is.

    >>> found = corrected_t([0.02, 0.01, 0.03, 0.00, 0.04], test_share=1 / 4)
    >>> round(found.statistic, 4), round(found.p_value, 4)
    (1.8856, 0.1324)
    """
    from scipy.special import stdtr

    alpha = level(confidence)
    found = numbers_of("differences", differences, (1, 2)).ravel()
    check_number("test_share (n_test / n_train, as 1/9 for 10 folds)", test_share, above=True)
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
    t = mean / _standard_error(found, float(test_share)) if size.low is not None else 0.0
    lead = f"the first is {'higher' if mean > 0 else 'lower'} by {number(abs(mean))}" if mean else "neither is higher"
    test, h0 = "corrected resampled t-test (Nadeau and Bengio)", "the mean difference between the models is 0"
    name, p = f"t with {k - 1} degrees of freedom", float(2 * stdtr(k - 1, -abs(t)))
    details = {"test_share": float(test_share), "degrees_of_freedom": k - 1}
    return Verdict(test, h0, name, t, p, size, k, f"Over {k} differences {lead} on average", alpha, details=details)


# Models over many data sets: Wilcoxon's test, and Friedman's with Nemenyi's (Demšar, 2006).


def _round(values: Floats) -> Floats:
    """To twelve digits of the largest, so that 0.1 + 0.2 ties with 0.3."""
    return np.asarray(np.round(values / (float(np.abs(values).max()) or 1.0), 12))


def wilcoxon(first: Any, second: Any, *, confidence: float = 0.95) -> Verdict:
    """Wilcoxon's signed-rank test: whether one of two models is better, by the scores of both on each of many sets.

    p is that of `scipy.stats.wilcoxon`; sets on which both have the same score are left out.

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
    signs = _round(d)
    statistic, p = stats.wilcoxon(signs[signs != 0]) if signs.any() else (0.0, 1.0)
    ahead, behind, equal = (int(where.sum()) for where in (d > 0, d < 0, d == 0))
    test, h0 = "Wilcoxon's signed-rank test", "the differences between the models are spread evenly about 0"
    name, size = "the smaller sum of ranks", _median_difference(d, alpha)
    seen = f"On {len(d)} sets the first is higher on {ahead}, lower on {behind} and equal on {equal}"
    return Verdict(test, h0, name, float(statistic), float(p), size, len(d), seen, alpha)


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


def _rank(scores: Any, names: Any, higher_is_better: Any) -> tuple[Floats, tuple[str, ...]]:
    """The ranks within each set, 1 the best, and a name for each model."""
    from scipy.stats import rankdata

    table = numbers_of("scores", scores, (2,))
    check_flag("higher_is_better", higher_is_better)
    n, k = table.shape
    if n < 2 or k < 2:
        raise InputError(f"scores has {n} sets and {k} models, sets × models; give 2 of each at least")
    called = tuple(f"model {i + 1}" for i in range(k)) if names is None else tuple(map(str, names))
    if len(called) != k or len(set(called)) != k:
        raise InputError(f"names={list(called)!r} for {k} models; give each its own name")
    return np.array([rankdata(-row if higher_is_better else row) for row in map(_round, table)]), called


def friedman(
    scores: Any, *, names: Sequence[str] | None = None, higher_is_better: bool = True, confidence: float = 0.95
) -> Verdict:
    """Friedman's test: whether the models' ranks differ over many sets at all; scores are sets × models.

    Kendall's W is 0 if the sets do not agree on the ranks and 1 if all do. p is that of Iman and Davenport's
    F = (N - 1)W / (1 - W); where W = 1 it is exact. Of losses, higher_is_better=False.

    >>> found = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.9, 0.85, 0.6], [0.7, 0.6, 0.65]])
    >>> found.details["average_ranks"], round(found.details["chi2"], 6), round(found.statistic, 6)
    ((1.0, 2.5, 2.5), 6.0, 9.0)
    """
    from scipy.special import fdtrc

    alpha = level(confidence)
    ranks, called = _rank(scores, names, higher_is_better)
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
    test, h0 = "Friedman's test, with Iman and Davenport's F", "all models rank the same over sets of this kind"
    name = f"F with {k - 1} and {(k - 1) * (n - 1)} degrees of freedom"
    size = Effect("Kendall's W", w, reason="none holds with few sets; nemenyi gives those of the pairs")
    seen = f"Over {n} sets and {k} models {best if w else 'all rank the same'}"
    details = {"average_ranks": tuple(average.tolist()), "chi2": n * (k - 1) * w}
    return Verdict(test, h0, name, f, p, size, n, seen, alpha, details=details)


@dataclass(frozen=True, eq=False, repr=False)
class Nemenyi(Shown):
    """Average ranks of the models (1 is the best), the critical difference, and the p-value of each pair of names."""

    names: tuple[str, ...]
    ranks: Floats
    cd: float
    pairs: dict[tuple[str, str], float]
    n: int
    alpha: float

    @property
    def _ranked(self) -> dict[str, float]:
        """The models and their ranks, the best first."""
        return {self.names[k]: float(self.ranks[k]) for k in np.argsort(self.ranks, kind="stable").tolist()}

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The largest groups of models that do not differ significantly, the best first."""
        names, ranks = list(self._ranked), np.array(list(self._ranked.values()))
        ends = np.searchsorted(ranks, ranks + self.cd, side="left").tolist()
        spans = [(at, end) for at, (end, past) in enumerate(zip(ends, [0, *ends])) if end > past and end - at > 1]
        return [tuple(names[at:end]) for at, end in spans]

    @property
    def sentence(self) -> str:
        """Which pairs differ."""
        apart = [(sorted(pair, key=self._ranked.__getitem__), p) for pair, p in self.pairs.items() if p <= self.alpha]
        shown = "; ".join(f"{better} ranks before {worse} ({p_text(p)})" for (better, worse), p in apart)
        first = f"Over {self.n} sets average ranks differ significantly at the {percent(self.alpha)} level from "
        return f"{first}{self.cd:.3f} on{': ' + shown if shown else ', and no two models are so far apart'}."

    def _blocks(self) -> Sequence[Any]:
        return [PrintedTable(["model", "average rank"], list(self._ranked.items()), ["", ".3f"]), self.sentence]

    def plot(self, ax: Any = None) -> Any:
        """Draw Demšar's critical-difference diagram; the axes are returned.

        Models hang from an axis of ranks, and a bar joins those that do not differ.
        """
        rank, k = self._ranked, len(self.names)
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
        for place, (name, at) in enumerate(rank.items()):
            left = place < half
            # On the right the worst is nearest to the axis, so that no lines cross.
            y = -start - _STEP * (place if left else k - 1 - place)
            edge, side = (1 - 0.06 * unit, -1) if left else (k + 0.06 * unit, 1)
            ax.plot([at, at, edge], [0, y, y], color="0.25", lw=0.9)
            text = "  ".join([short(name, 40), f"{at:.2f}"][::-side])
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
    ranks, called = _rank(scores, names, higher_is_better)
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
