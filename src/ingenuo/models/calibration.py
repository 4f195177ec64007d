"""Calibrators by name and the choice among them; isotonic regression and Venn–Abers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, RefusedError, did_you_mean
from ingenuo.families.left_out import stratified
from ingenuo.kernels import portable
from ingenuo.kernels.threads import single_blas
from ingenuo.models.calibrators import (
    Codes,
    Floats,
    Platt,
    Temperature,
    checked,
    checked_lengths,
    checked_prior,
    checked_training,
    log_odds,
    normalised,
)

# Isotonic regression: probabilities that rise with the log odds and are otherwise free.


@dataclass(frozen=True, eq=False)
class Isotonic:
    """For each class a curve from its log odds to a probability: straight lines between the pooled blocks.

    >>> import numpy as np
    >>> scores = np.log([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])
    >>> found = Isotonic.fit(scores, np.array([0, 1, 0, 1]))
    >>> np.exp(found.apply(scores))[:, 1].round(2).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """

    kind: ClassVar[str] = "isotonic"
    curves: tuple[tuple[Floats, Floats], ...]  # log odds, rising, and probabilities; of two classes, the second's alone
    platt: Platt

    @property
    def n_classes(self) -> int:
        """How many classes it is for."""
        return self.platt.n_classes

    @classmethod
    def fit(cls, log_scores: Any, codes: Any, weights: Any = None, lengths: Any = None, prior: Any = None) -> Isotonic:
        """The rising curves with the least log loss on these rows, which the model must not have learned from.

        The parameters are those of `Temperature.fit`.
        """
        z, truth, w = checked_training(log_scores, codes, weights)
        return cls.after(first_stage(z, truth, w, lengths, prior), z, truth, w, lengths)

    @classmethod
    def after(cls, platt: Platt, z: Floats, truth: Codes, w: Floats, lengths: Floats | None) -> Isotonic:
        """The same, where the first stage is known."""
        odds = log_odds(platt.apply(z, lengths))
        return cls(tuple(_curve(odds[:, k], truth == k, w) for k in curves_of(z.shape[1])), platt)

    def apply(self, log_scores: Any, lengths: Any = None) -> Floats:
        """Calibrated log posteriors."""
        odds = log_odds(self.platt.apply(log_scores, lengths))
        classes = curves_of(self.n_classes)
        return joined(
            [np.interp(odds[:, k], *curve) for k, curve in zip(classes, self.curves)], self.n_classes, len(odds)
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is learned."""
        sizes = np.array([len(knots) for knots, _ in self.curves], np.int64)
        return {
            **self.platt.arrays(),
            "sizes": sizes,
            "knots": np.concatenate([[], *(knots for knots, _ in self.curves)]),
            "values": np.concatenate([[], *(values for _, values in self.curves)]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_classes: int) -> Isotonic:
        """The calibrator that gave these arrays."""
        knots, values = pieces(arrays, ("knots", "values"), n_classes)
        for at, p in zip(knots, values):
            if not np.isfinite(at).all() or not (np.diff(at) > 0).all():
                raise InputError("the knots of an isotonic curve must be finite and rise")
            if not ((p > 0) & (p < 1)).all() or not (np.diff(p) >= 0).all():
                raise InputError("the values of an isotonic curve must lie between 0 and 1 and not fall")
        return cls(tuple(zip(knots, values)), Platt.from_arrays(arrays, n_classes))

    def describe(self) -> str:
        """What is done, in a sentence."""
        blocks = sum(len(knots) for knots, _ in self.curves)
        how = "of the second class" if self.n_classes == 2 else "of each class against the rest"
        return f"log odds {how} are read from rising curves through {blocks} points"


def first_stage(
    z: Floats, codes: Codes, weights: Floats, lengths: Any, prior: Any, known: Platt | None = None
) -> Platt:
    """What comes before the curves: of two classes without lengths nothing, for a rising line would change nothing."""
    as_they_are = Platt(1.0, np.zeros(z.shape[1]))
    if z.shape[1] == 2 and lengths is None:
        return as_they_are
    found = known or Platt.fit(z, codes, weights, lengths, prior)
    # Where Platt's method leaves the scores out, a curve may still tell something of them.
    return found if found.slope > 0 else replace(as_they_are, scale=found.scale)


def curves_of(n_classes: int) -> range:
    """Which classes have a curve: of two the second, of more all, of one none."""
    return range(1, 2) if n_classes == 2 else range(n_classes if n_classes > 2 else 0)


def joined(found: list[Floats], n_classes: int, n_rows: int) -> Floats:
    """Log posteriors from the classes' own probabilities."""
    if n_classes == 1:
        return np.zeros((n_rows, 1))
    p = np.column_stack([1 - found[0], found[0]] if n_classes == 2 else found)
    return np.asarray(portable.log(p) - portable.log(p.sum(axis=1, keepdims=True)))


def pieces(arrays: Mapping[str, NDArray[Any]], names: tuple[str, ...], n_classes: int) -> list[list[Floats]]:
    """Arrays of a file, cut into one for each curve."""
    sizes = np.asarray(arrays["sizes"])
    n_curves = len(curves_of(n_classes))
    if sizes.shape != (n_curves,) or sizes.dtype.kind not in "iu" or (sizes < 1).any():
        raise InputError(f"there must be {n_curves} curves of one point or more, got sizes {sizes.tolist()}")
    found = []
    for name in names:
        given = np.asarray(arrays[name])
        if given.ndim != 1 or given.dtype.kind != "f" or len(given) != sum(sizes.tolist()) or np.isnan(given).any():
            raise InputError(f"the array {name!r} must have {sum(sizes.tolist())} numbers, a number for each point")
        found.append(np.split(given.astype(np.float64), np.cumsum(sizes)[:-1]))
    return found


def grouped(odds: Floats, positive: NDArray[np.bool_], weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct log odds, rising; the rows' weight at each, and the weight of those that are positive."""
    used = weights > 0
    at, place = np.unique(odds[used], return_inverse=True)
    w = weights[used]
    total, hits = (np.bincount(place, part, len(at)).astype(np.float64) for part in (w, w * positive[used]))
    return at, total, hits


def _curve(odds: Floats, positive: NDArray[np.bool_], weights: Floats) -> tuple[Floats, Floats]:
    from scipy.optimize import isotonic_regression

    finite = np.isfinite(odds)
    # Infinite log odds stand just outside the finite ones: so has their block a place, and a probability of its own.
    reach = float(np.abs(odds[finite]).max(initial=0.0)) + 1.0
    at, total, hits = grouped(odds.clip(-reach, reach), positive, weights)
    mass = np.concatenate([[1.0], total, [1.0]])
    share = np.concatenate([[1.0], hits / total, [0.0]])
    found = isotonic_regression(share, weights=mass)
    starts = found.blocks[:-1]
    mass[[0, -1]] = 0.0  # the imaginary rows have no place
    inside = np.add.reduceat(mass, starts)
    real = inside > 0
    middles = np.add.reduceat(mass * np.concatenate([[0.0], at, [0.0]]), starts)[real] / inside[real]
    knots, first = np.unique(middles, return_index=True)
    return knots, np.maximum.accumulate(found.x[starts][real][first])


# Venn–Abers: two probabilities for each answer, one of which is calibrated whatever the scores are.


# More distinct scores are pooled with their neighbours into so many groups: 4096 shares of the rows are finer than what
# the rows can tell, and the two fits of each are kept.
_GROUPS = 4096


class _Curve(NamedTuple):
    low: Floats  # of each group of scores the lowest and the highest
    high: Floats
    p0: Floats
    p1: Floats


@dataclass(frozen=True, eq=False)
class VennAbers:
    """For each class two rising step functions of its log odds, and what they merge to.

    >>> import numpy as np
    >>> scores = np.log([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])
    >>> found = VennAbers.fit(scores, np.array([0, 0, 1, 1]))
    >>> p0, p1 = found.intervals(scores)
    >>> p0.round(2).tolist(), p1.round(2).tolist()
    ([0.0, 0.0, 0.5, 0.67], [0.33, 0.5, 1.0, 1.0])
    """

    kind: ClassVar[str] = "venn-abers"
    curves: tuple[_Curve, ...]
    platt: Platt  # comes first, as in isotonic regression

    @property
    def n_classes(self) -> int:
        """How many classes it is for."""
        return self.platt.n_classes

    @classmethod
    def fit(cls, log_scores: Any, codes: Any, weights: Any = None, lengths: Any = None, prior: Any = None) -> VennAbers:
        """The two fits at each score of these rows, which the model must not have learned from.

        The parameters are those of `Temperature.fit`.
        """
        z, truth, w = checked_training(log_scores, codes, weights)
        return cls.after(first_stage(z, truth, w, lengths, prior), z, truth, w, lengths)

    @classmethod
    def after(cls, platt: Platt, z: Floats, truth: Codes, w: Floats, lengths: Floats | None) -> VennAbers:
        """The same, where the first stage is known."""
        odds = log_odds(platt.apply(z, lengths))
        return cls(tuple(_venn_abers_curve(odds[:, k], truth == k, w) for k in curves_of(z.shape[1])), platt)

    def apply(self, log_scores: Any, lengths: Any = None) -> Floats:
        """Calibrated log posteriors."""
        odds = log_odds(self.platt.apply(log_scores, lengths))
        found = []
        for k, curve in zip(curves_of(self.n_classes), self.curves):
            p0, p1 = _read(curve, odds[:, k])
            found.append(p1 / (1 - p0 + p1))
        return joined(found, self.n_classes, len(odds))

    def intervals(self, log_scores: Any, lengths: Any = None) -> tuple[Floats, Floats]:
        """p0 and p1 of the second of two classes, for each row; the wider apart, the fewer rows were like it."""
        if self.n_classes != 2:
            raise RefusedError(f"Venn–Abers intervals are of two classes, and here are {self.n_classes}; use apply")
        return _read(self.curves[0], log_odds(self.platt.apply(log_scores, lengths))[:, 1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is learned."""
        columns = {name: np.concatenate([[], *(getattr(c, name) for c in self.curves)]) for name in _Curve._fields}
        return {
            "sizes": np.array([len(curve.low) for curve in self.curves], np.int64),
            **columns,
            **self.platt.arrays(),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_classes: int) -> VennAbers:
        """The calibrator that gave these arrays."""
        curves = [_Curve(*cut) for cut in zip(*pieces(arrays, _Curve._fields, n_classes))]
        for low, high, p0, p1 in curves:
            if not ((low <= high).all() and (high[:-1] < low[1:]).all()):
                raise InputError("the scores of a Venn–Abers curve must rise")
            if not ((p0 >= 0).all() and (p0 <= p1).all() and (p1 <= 1).all() and (p0 < 1).all() and (p1 > 0).all()):
                raise InputError("the probabilities of a Venn–Abers curve must lie between 0 and 1, p0 not above p1")
            if not ((np.diff(p0) >= 0).all() and (np.diff(p1) >= 0).all()):
                raise InputError("the probabilities of a Venn–Abers curve must not fall")
        return cls(tuple(curves), Platt.from_arrays(arrays, n_classes))

    def describe(self) -> str:
        """What is done, in a sentence."""
        steps = sum(len(curve.low) for curve in self.curves)
        how = "of the second class" if self.n_classes == 2 else "of each class against the rest"
        return f"log odds {how} are looked up in two isotonic fits at {steps} scores, and the two answers merged"


def _read(curve: _Curve, odds: Floats) -> tuple[Floats, Floats]:
    """Between two scores a positive row is pooled with the next, a negative one with the one before."""
    after = np.searchsorted(curve.high, odds, side="left")
    before = np.searchsorted(curve.low, odds, side="right")
    return np.concatenate([[0.0], curve.p0])[before], np.concatenate([curve.p1, [1.0]])[after]


def _venn_abers_curve(odds: Floats, positive: NDArray[np.bool_], weights: Floats) -> _Curve:
    at, total, hits = grouped(odds, positive, weights)
    mass = np.cumsum(total)
    groups = np.minimum((mass - total) * _GROUPS // mass[-1], _GROUPS - 1) if len(at) > _GROUPS else np.arange(len(at))
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    low, high = at[starts], at[np.append(starts[1:], len(at)) - 1]
    total, hits = np.add.reduceat(total, starts), np.add.reduceat(hits, starts)
    p1 = _with_a_positive(total, hits)
    p0 = 1 - _with_a_positive(total[::-1], (total - hits)[::-1])[::-1]
    # They rise and p0 ≤ p1; sums in another order may differ in the last bit.
    p1 = np.maximum.accumulate(p1.clip(0, 1))
    return _Curve(low, high, np.minimum(np.maximum.accumulate(p0.clip(0, 1)), p1), p1)


def _with_a_positive(total: Floats, hits: Floats) -> Floats:
    """The isotonic fit at each score after a positive row of weight 1 was added there."""
    x, y = (np.concatenate([[0.0], np.cumsum(part)]) for part in (total, hits))
    k = len(total)
    before, after = _chain(x, y), k - _chain(x[-1] - x[::-1], y[::-1])[::-1]
    j = np.arange(1, k + 1)
    a, b = j - 1, j.copy()

    def slope(a: NDArray[np.intp], b: NDArray[np.intp]) -> Floats:
        return np.asarray((y[b] - y[a] + 1) / (x[b] - x[a] + 1))

    # Walk the lower chain on the right down to its tangent, then the one on the left up to its, until neither moves.
    moved = True
    while moved:
        moved = False
        for ahead in (True, False):
            chain = after if ahead else before
            while True:
                here = b if ahead else a
                following = chain[here]
                now = slope(a, b)
                then = slope(a, following) if ahead else slope(following, b)
                better = (following != here) & ((then < now) if ahead else (then > now))
                if not better.any():
                    break
                moved = True
                if ahead:
                    b = np.where(better, following, b)
                else:
                    a = np.where(better, following, a)
    return slope(a, b)


def _chain(x: Floats, y: Floats) -> NDArray[np.intp]:
    """Of each point the corner before it in the lower convex chain of the points up to it; the first has itself."""
    previous = [0] * len(x)
    xs, ys = x.tolist(), y.tolist()
    for i in range(1, len(xs)):
        p = i - 1
        while p > 0:
            q = previous[p]
            if (ys[p] - ys[q]) * (xs[i] - xs[p]) < (ys[i] - ys[p]) * (xs[p] - xs[q]):
                break
            p = q
        previous[i] = p
    return np.array(previous, np.intp)


class Calibrator(Protocol):
    """A function from log posteriors to calibrated ones, learned once and never changed."""

    kind: ClassVar[str]

    @property
    def n_classes(self) -> int:
        """How many classes it is for."""

    def apply(self, log_scores: Any, lengths: Any = None) -> Floats:
        """Calibrated log posteriors, rows × classes; each row's probabilities add to 1."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is learned, for a file."""

    def describe(self) -> str:
        """What is done, in a sentence."""


@dataclass(frozen=True)
class Uncalibrated:
    """Log posteriors as they are.

    >>> import numpy as np
    >>> Uncalibrated(2).apply(np.log([[0.9, 0.1]])).round(4).tolist()
    [[-0.1054, -2.3026]]
    """

    kind: ClassVar[str] = "none"
    n_classes: int

    @classmethod
    def fit(
        cls, log_scores: Any, codes: Any, weights: Any = None, lengths: Any = None, prior: Any = None
    ) -> Uncalibrated:
        """There is nothing to learn but the number of classes."""
        z, _, _ = checked_training(log_scores, codes, weights)
        checked_lengths(lengths, len(z))
        checked_prior(prior, z.shape[1])
        return cls(z.shape[1])

    def apply(self, log_scores: Any, lengths: Any = None) -> Floats:
        """The log posteriors, normalised; lengths change nothing."""
        z = checked(log_scores, self.n_classes)
        checked_lengths(lengths, len(z))
        return normalised(z)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Nothing is learned."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_classes: int) -> Uncalibrated:
        """The same again."""
        return cls(n_classes)

    def describe(self) -> str:
        """What is done, in a sentence."""
        return "log posteriors are left as they are"


# From the simplest on: that is the order in which a tie is broken.
CALIBRATORS: dict[str, Any] = {kind.kind: kind for kind in (Uncalibrated, Temperature, Platt, Isotonic, VennAbers)}
_PLATT = ("slope", "shifts", "lengths")
_ARRAYS: dict[str, tuple[str, ...]] = {
    "none": (),
    "temperature": ("temperature", "lengths"),
    "platt": _PLATT,
    "isotonic": (*_PLATT, "sizes", "knots", "values"),
    "venn-abers": (*_PLATT, "sizes", "low", "high", "p0", "p1"),
}


def kind_of(name: Any) -> Any:
    """The calibrator of this name."""
    if not isinstance(name, str) or name not in CALIBRATORS:
        raise InputError(f"calibration={name!r} is not known{did_you_mean(name, CALIBRATORS)}")
    return CALIBRATORS[name]


def from_arrays(kind: str, arrays: Mapping[str, NDArray[Any]], n_classes: int) -> Calibrator:
    """The calibrator that gave these arrays; arrays that no calibrator could have given are refused.

    >>> import numpy as np
    >>> from_arrays("temperature", {"temperature": np.array([3.2]), "lengths": np.array([])}, 2).describe()
    'log posteriors are divided by 3.2'
    """
    chosen = kind_of(kind)
    if isinstance(n_classes, bool) or not isinstance(n_classes, int | np.integer) or n_classes < 1:
        raise InputError(f"a calibrator is for one class or more, got {n_classes!r}")
    if set(arrays) != set(_ARRAYS[kind]):
        wanted = ", ".join(_ARRAYS[kind]) or "none"
        raise InputError(
            f"a calibrator of kind {kind!r} has the arrays {wanted}, got {', '.join(sorted(arrays)) or 'none'}"
        )
    found: Calibrator = chosen.from_arrays(arrays, int(n_classes))
    return found


# Choosing a calibrator by what it gains on rows it was not fitted on.


FOLDS = 5
# No probability counts as smaller, as in scikit-learn's log_loss: one row that was thought impossible says no more.
_LEAST = float(np.log(np.finfo(np.float64).eps))
# What needs so many rows in all, and of each class. Over 20 public tables Venn–Abers has the lowest mean log loss, from
# 57 rows on; isotonic regression comes behind Platt's method where classes have fewer than 20 rows.
_NEEDED = {"isotonic": (100, 20), "venn-abers": (30, 5)}
# In nats a row: so much is given away for simplicity at most, for a few rows with scores far off make the error wide.
_GIVEN_AWAY = 0.02


@dataclass(frozen=True)
class Choice:
    """What was tried and what it gained."""

    chosen: str
    log_loss: dict[str, float]  # by cross-validation
    error: dict[str, float]  # one standard error of the difference from the best
    left_out: dict[str, str]  # what was not tried, and why

    @property
    def gained(self) -> float:
        """How much log loss, in nats a row, the chosen takes away."""
        return self.log_loss["none"] - self.log_loss[self.chosen]

    def __str__(self) -> str:
        tried = ", ".join(f"{name} {loss:.4f}" for name, loss in self.log_loss.items())
        why = "".join(f"; {name} was not tried, for {reason}" for name, reason in self.left_out.items())
        return f"{self.chosen} was chosen (log loss by cross-validation: {tried}){why}"


def choose(
    log_scores: Any,
    codes: Any,
    weights: Any = None,
    lengths: Any = None,
    prior: Any = None,
    names: Iterable[str] = tuple(CALIBRATORS),
    random_state: int = 0,
) -> tuple[Calibrator, Choice]:
    """The calibrator that is worth it, fitted on all the rows, and what was tried.

    Parameters
    ----------
    log_scores, codes, weights, lengths, prior
        As for `Temperature.fit`: log posteriors of rows that the model had not learned from, and what is true of them.
    names : list of str
        Which calibrators to try, of "none", "temperature", "platt", "isotonic" and "venn-abers"; "none" always is.
    random_state : int
        Seed for the folds.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(0, 4, 500)
    >>> codes = (rng.random(500) < 1 / (1 + np.exp(-odds))).astype(int)
    >>> sure = np.column_stack([np.zeros(500), 5 * odds])  # as if each piece of evidence had been counted five times
    >>> calibrator, choice = choose(sure, codes)
    >>> calibrator.describe()
    'log posteriors are divided by 4.675'
    """
    z, truth, w = checked_training(log_scores, codes, weights)
    words = checked_lengths(lengths, len(z))
    wanted = {"none", *(kind_of(name).kind for name in names)}
    rows_of = np.bincount(truth[w > 0], minlength=z.shape[1])
    left_out = {}
    for name, (in_all, of_each) in _NEEDED.items():
        if name in wanted and (rows_of.sum() < in_all or rows_of.min() < of_each):
            left_out[name] = f"it needs {in_all} rows, and {of_each} of each class"
    if rows_of.sum() < 2 * FOLDS:
        left_out |= dict.fromkeys(wanted - {"none"}, f"there are fewer than {2 * FOLDS} rows")
    tried = [name for name in CALIBRATORS if name in wanted and name not in left_out]
    with single_blas():
        losses, of_two = _losses(tried, z, truth, w, words, prior, _folds(truth, random_state))
    total = float(w.sum())
    mean = {name: float((w @ losses[name] + np.median(of_two[name])) / (total + 1)) for name in tried}
    best = min(tried, key=lambda name: mean[name])
    error = {name: _standard_error(losses[name] - losses[best], w) for name in tried}
    chosen = next(name for name in tried if mean[name] - mean[best] <= min(error[name], _GIVEN_AWAY))
    with single_blas():
        fitted = _fitted([chosen], z, truth, w, words, prior)[chosen]
    return fitted, Choice(chosen, mean, error, left_out)


def _folds(codes: Codes, random_state: int) -> NDArray[np.int64]:
    """The fold of each row; every class is spread over the folds as evenly as it goes."""
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer) or random_state < 0:
        raise InputError(f"random_state must be a whole number from 0 on, got {random_state!r}")
    return stratified(codes, FOLDS, int(random_state))


def _losses(
    tried: list[str],
    z: Floats,
    codes: Codes,
    weights: Floats,
    lengths: Floats | None,
    prior: Any,
    folds: NDArray[np.int64],
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Each row's loss under calibrators fitted without its fold, and the loss were it of one of its best two."""
    found, of_two = ({name: np.empty(len(z)) for name in tried} for _ in range(2))
    for fold in np.unique(folds):
        held, rest = folds == fold, folds != fold
        if not weights[rest].sum() > 0:
            rest = np.ones(len(z), bool)
        kept, asked = (None, None) if lengths is None else (lengths[rest], lengths[held])
        for name, fitted in _fitted(tried, z[rest], codes[rest], weights[rest], kept, prior).items():
            logs = -np.maximum(fitted.apply(z[held], asked), _LEAST)
            found[name][held] = logs[np.arange(len(logs)), codes[held]]
            of_two[name][held] = np.partition(logs, min(1, logs.shape[1] - 1), axis=1)[:, :2].mean(axis=1)
    return found, of_two


def _fitted(
    names: list[str], z: Floats, codes: Codes, weights: Floats, lengths: Floats | None, prior: Any
) -> dict[str, Calibrator]:
    """Calibrators fitted on the same rows; what begins with Platt's method shares it."""
    found: dict[str, Calibrator] = {}
    platt: Platt | None = None
    for name in names:
        kind = CALIBRATORS[name]
        if not hasattr(kind, "after"):
            fitted = found[name] = kind.fit(z, codes, weights, lengths, prior)
            platt = fitted if isinstance(fitted, Platt) else platt
        else:
            first = first_stage(z, codes, weights, lengths, prior, platt)
            found[name] = kind.after(first, z, codes, weights, lengths)
    return found


def _standard_error(differences: Floats, weights: Floats) -> float:
    """√(Σ w² (d - d̄)²) / Σ w."""
    off = differences - np.average(differences, weights=weights)
    return float(np.sqrt(np.sum((weights * off) ** 2)) / weights.sum())
