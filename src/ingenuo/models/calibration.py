"""Calibration: what log posteriors are worth, learned from rows that the model had not learned.

"temperature" is a z, "platt" a z + b_k, of log posteriors z (of texts divided by (length / typical length)^exponent);
"isotonic" a rising curve of each class's log odds, after that. Classes of fewer than five rows are calibrated together,
as one class; what one of them has of that stays as it was. `choose` takes the one with the least log loss on other
rows: over 21 public tables that needs the curves (0.38 nats on average against 0.48), over 7 of texts the lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.families.family import stratify
from ingenuo.kernels import portable
from ingenuo.kernels.threads import single_blas
from ingenuo.language import say
from ingenuo.models.tuning import Problem, minimise

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Curve = tuple[Floats, Floats]  # log odds, rising, and probabilities

KINDS = ("none", "temperature", "platt", "isotonic")  # from the simplest on: that is how a tie is broken
_ARRAYS = {  # what a file has of each
    "none": (),
    "temperature": ("slope", "lengths"),
    "platt": ("slope", "lengths", "shifts"),
    "isotonic": ("slope", "lengths", "shifts", "sizes", "knots", "values"),
}
FOLDS = 5
_LARGEST = 2.0  # exponent of a length: more than 1 is evidence that falls with every word; the search looks further
_ROWS = 4_000  # one exponent is learned well enough from so many rows
# No probability counts as smaller, as in scikit-learn's log_loss: one row that was thought impossible says no more.
_LEAST = float(np.log(np.finfo(np.float64).eps))
_FOR_CURVES = (30, 5)  # rows that curves need: in all, and of each class


@dataclass(frozen=True)
class LengthScale:
    """What scores are divided by: (length / typical) ** exponent. Words of a text are not independent."""

    typical: float
    exponent: float
    prior: tuple[float, ...] = ()  # log prior of each class, which is no evidence; none: it counts as evidence

    def divide(self, d: Floats, lengths: Floats) -> Floats:
        """Log scores divided, less their row's largest."""
        prior = np.array(self.prior) if self.prior else np.zeros(d.shape[1])
        divided = (d - prior) / portable.power((1 + lengths) / self.typical, self.exponent)[:, np.newaxis] + prior
        return np.asarray(divided - divided.max(axis=1, keepdims=True))

    def figures(self) -> dict[str, str]:
        """What is shown of it."""
        return {"typical": f"{self.typical - 1:.4g}", "exponent": f"{self.exponent:.2f}"}


@dataclass(frozen=True, eq=False)
class Calibrator:
    """A function from log posteriors to calibrated ones, learned once and never changed."""

    kind: str
    slope: float
    shifts: Floats
    scale: LengthScale | None = None
    curves: tuple[Curve, ...] = ()  # log odds, rising, and probabilities; of two classes the second's
    groups: tuple[int, ...] = ()  # of each class, the place of those that it is calibrated with; none: each by itself

    @property
    def n_classes(self) -> int:
        """How many classes it is for."""
        return len(self.groups or self.shifts)

    @property
    def temperature(self) -> float:
        """What log posteriors are divided by."""
        return 1 / self.slope

    def apply(self, log_scores: Any, lengths: Any = None) -> Floats:
        """Calibrated log posteriors, rows × classes; each row's probabilities add to 1."""
        z = _check_scores(log_scores, self.n_classes)
        words = None if lengths is None else _check_not_negative("length", lengths, len(z))
        if self.scale is None and words is not None and self.kind != "none":
            raise InputError("the calibrator was fitted without lengths, so give none")
        if self.scale is not None and words is None:
            raise InputError(
                "the calibrator was fitted with the lengths of the texts; give those of these rows as well"
            )
        if self.groups:
            pooled = _pool(z, self.groups)
            found = replace(self, groups=()).apply(pooled, lengths)
            sizes = np.bincount(self.groups)[list(self.groups)]
            all_of_it = pooled[:, self.groups]
            with np.errstate(invalid="ignore"):  # classes that are all impossible have even shares
                within = np.where(np.isneginf(all_of_it), -portable.log(sizes), z - all_of_it)
            return np.asarray(found[:, self.groups] + within)
        d = _below_top(z)
        d = d if self.scale is None or words is None else self.scale.divide(d, words)
        # 0 · -inf: what is impossible stays so.
        d = np.where(np.isfinite(d), 0.0, d) if self.slope == 0 else d * self.slope
        d = _below_top(d + self.shifts)
        d -= portable.log(portable.total(portable.exp(d)))[:, np.newaxis]
        if not self.curves:
            return d
        odds = log_odds(d)
        curves = [
            _interpolate(odds[:, k], *curve) for k, curve in zip(_classes_with_a_curve(self.n_classes), self.curves)
        ]
        p = np.column_stack([1 - curves[0], curves[0]] if self.n_classes == 2 else curves)
        return np.asarray(portable.log(p) - portable.log(portable.total(p))[:, np.newaxis])

    def over(self, places: Codes, prior: Floats) -> Calibrator:
        """The same for other classes: of each, its place among those that this one is for, or -1 of a new one.

        Slope and lengths are of all classes; shifts and curves are kept. New classes have the mean shift and a curve
        that changes nothing, and are not calibrated together with others; `prior` is the log prior of each class.
        """
        if self.groups:
            groups, first, inverse = np.unique(
                [self.groups[place] if place >= 0 else len(self.groups) + k for k, place in enumerate(places.tolist())],
                return_index=True,
                return_inverse=True,
            )
            own = np.where(groups < len(self.groups), groups, -1)
            return replace(replace(self, groups=()).over(own, prior[first]), groups=tuple(inverse.tolist()))
        known = places >= 0
        shifts = np.where(known, self.shifts[places], self.shifts.mean())
        scale = self.scale
        if scale is not None and scale.prior:
            scale = replace(scale, prior=tuple(np.where(known, np.array(scale.prior)[places], prior).tolist()))
        curves: tuple[Curve, ...] = ()
        if self.kind == "isotonic" and len(places) > 1:
            every = (_mirrored(self.curves[0]), *self.curves) if self.n_classes == 2 else self.curves or (_neutral(),)
            kept = tuple(every[place] if place >= 0 else _neutral() for place in places.tolist())
            curves = (_one_curve(*kept),) if len(kept) == 2 else kept
        return replace(self, shifts=shifts, scale=scale, curves=curves)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is learned, for a file."""
        every = self._every_array()
        return {name: every[name] for name in [*_ARRAYS[self.kind], *(["groups"] if self.groups else [])]}

    def _every_array(self) -> dict[str, NDArray[Any]]:
        scale = self.scale
        return {
            "slope": np.array([self.slope]),
            "shifts": self.shifts,
            "lengths": np.array([] if scale is None else [scale.typical, scale.exponent, *scale.prior]),
            "sizes": np.array([len(knots) for knots, _ in self.curves], np.int64),
            "knots": np.concatenate([[], *(knots for knots, _ in self.curves)]),
            "values": np.concatenate([[], *(values for _, values in self.curves)]),
            "groups": np.array(self.groups, np.int64),
        }

    def sheet(self) -> dict[str, Any]:
        """What a sheet has of it."""
        scale = None
        if self.scale is not None:
            scale = {"typical": self.scale.typical, "exponent": self.scale.exponent, "prior": list(self.scale.prior)}
        curves, groups = [list(each) for each in self.curves], list(self.groups)
        own = {"kind": self.kind, "slope": self.slope, "shifts": self.shifts}
        return {**own, "scale": scale, "curves": curves, "groups": groups}

    def describe(self) -> str:
        """What is done, in a sentence."""
        if self.groups:
            alone = replace(self, groups=()).describe()
            return say("{how}; rare classes are calibrated together, as one", how=alone)
        two = self.n_classes == 2
        if self.kind == "none":
            return say("log posteriors are left as they are")
        if self.kind == "isotonic":
            n = sum(len(knots) for knots, _ in self.curves)
            if two:
                return say("log odds of the second class are read from rising curves through {n} points", n=n)
            return say("log odds of each class against the rest are read from rising curves through {n} points", n=n)
        length = self.scale.figures() if self.scale is not None and self.scale.exponent else {}
        if self.kind == "platt" and two:
            shift = self.shifts[1] - self.shifts[0]
            line = f"{self.slope:.4g} s {'-' if shift < 0 else '+'} {abs(shift):.4g}"
            how = say("log odds s become {line}", line=line)
            by_length = say(
                "{how}, the s of a text of n words divided by (n / {typical})^{exponent} as well", how=how, **length
            )
            return by_length if length else how
        how = say("log posteriors are left out")
        if self.slope > 0:
            how = say("log posteriors are divided by {temperature}", temperature=f"{self.temperature:.4g}")
        if length:
            how = say("{how}, those of a text of n words by (n / {typical})^{exponent} as well", how=how, **length)
        if self.kind == "temperature":
            return how
        ends = {"low": f"{self.shifts.min():.3g}", "high": f"{self.shifts.max():.3g}"}
        return say("{how}; then each class is shifted, by {low} to {high}", how=how, **ends)


def _logistic(odds: Floats) -> Floats:
    return np.asarray(1 / (1 + portable.exp(-odds)))


@cache
def _neutral() -> Curve:
    """A curve that changes nothing: straight lines along the logistic function, within 0.0002 of it."""
    odds = np.linspace(-34.0, 34.0, 681)  # beyond, 1 - p is no more than the rounding of 1
    return odds, _logistic(odds)


def _mirrored(curve: Curve) -> Curve:
    """The curve of the one of two classes, from that of the other."""
    odds, p = curve
    return -odds[::-1], 1 - p[::-1]


def _one_curve(first: Curve, second: Curve) -> Curve:
    """The curve of the second of two classes, from one of each; exact at the points of both."""
    mirrored = _mirrored(first)
    if np.array_equal(mirrored[0], second[0]) and np.array_equal(mirrored[1], second[1]):
        return second
    odds = np.unique(np.concatenate([mirrored[0], second[0]]))
    one, two = 1 - _interpolate(odds, *mirrored), _interpolate(odds, *second)
    p = (two / (one + two)).clip(np.finfo(float).tiny, 1 - np.finfo(float).epsneg)
    return odds, np.maximum.accumulate(p)


def from_arrays(kind: str, arrays: Mapping[str, NDArray[Any]], n_classes: int) -> Calibrator:
    """The calibrator that gave these arrays; arrays that no calibrator could have given are refused."""
    _check_kind(kind)
    given = {name: np.asarray(array) for name, array in arrays.items()}
    if "temperature" in given and given["temperature"].all():  # a file from before it was a slope
        given["slope"] = 1 / given.pop("temperature")
    groups = given.pop("groups", np.zeros(0, np.int64))
    if groups.size:
        known = np.arange(groups.max() + 1) if groups.dtype.kind in "iu" and groups.max() < n_classes else None
        if groups.shape != (n_classes,) or known is None or not np.array_equal(np.unique(groups), known):
            raise InputError(f"each of {n_classes} classes is in one of the groups from 0 on, got {groups.tolist()}")
        return replace(from_arrays(kind, given, len(known)), groups=tuple(groups.tolist()))
    if set(given) != set(_ARRAYS[kind]):
        wanted = ", ".join(_ARRAYS[kind]) or "none"
        raise InputError(
            f"a calibrator of kind {kind!r} has the arrays {wanted}, got {', '.join(sorted(arrays)) or 'none'}"
        )
    given = {**Calibrator("none", 1.0, np.zeros(n_classes))._every_array(), **given}
    slope, lengths, shifts, sizes, knots, values = (given[name] for name in _ARRAYS["isotonic"])

    def refuse(bad: Any, what: str) -> None:
        if bad:
            raise InputError(what)

    def is_odd(array: NDArray[Any], *shapes: tuple[int, ...]) -> bool:
        return array.shape not in shapes or array.dtype.kind != "f" or not bool(np.isfinite(array).all())

    refuse(is_odd(slope, (1,)) or slope[0] < 0, f"a slope is one number that is not negative, got {slope.tolist()}")
    finite = f"there must be a finite shift for each of {n_classes} classes, got {shifts.tolist()}"
    refuse(is_odd(shifts, (n_classes,)), finite)
    scale = None
    if lengths.shape != (0,):
        odd = is_odd(lengths, (2,), (2 + n_classes,)) or lengths[0] < 1 or not 0 <= lengths[1] <= _LARGEST
        refuse(odd, f"a scale of lengths is a length of 1 or more and an exponent of 0 to 2, got {lengths.tolist()}")
        scale = LengthScale(float(lengths[0]), float(lengths[1]), tuple(lengths[2:].tolist()))
    n_curves = len(_classes_with_a_curve(n_classes)) if kind == "isotonic" else 0
    odd = sizes.shape != (n_curves,) or sizes.dtype.kind not in "iu" or (sizes < 1).any()
    refuse(odd, f"there must be {n_curves} curves of one point or more, got sizes {sizes.tolist()}")
    total = sum(sizes.tolist())
    refuse(is_odd(knots, (total,)) or is_odd(values, (total,)), f"curves must have {total} finite points each")
    cuts = np.cumsum(sizes)[:-1]
    curves = tuple(zip(np.split(knots, cuts), np.split(values, cuts))) if n_curves else ()
    for at, p in curves:
        refuse(not (np.diff(at) > 0).all(), "the knots of an isotonic curve must be finite and rise")
        between = ((p > 0) & (p < 1)).all() and (np.diff(p) >= 0).all()
        refuse(not between, "the values of an isotonic curve must lie between 0 and 1 and not fall")
    return Calibrator(kind, float(slope[0]), shifts.astype(np.float64), scale, curves)


def fit(
    kind: str, log_scores: Any, codes: Any, weights: Any = None, lengths: Any = None, prior: Any = None
) -> Calibrator:
    """The calibrator of a kind with the least log loss on these rows, which the model must not have learned from.

    `log_scores` are rows × classes, `codes` the places of the true classes, `lengths` the words of each row (needed to
    apply it, too), `prior` the log prior of each class, which does not grow with the length.
    """
    _check_kind(kind)
    rows, groups = _pool_rare(_check_training(log_scores, codes, weights, lengths, prior))
    with single_blas():
        return replace(_fit([kind], rows)[kind], groups=groups)


@dataclass(frozen=True)
class _Rows:
    """What calibrators learn from, checked."""

    z: Floats
    codes: Codes
    weights: Floats
    lengths: Floats | None
    prior: tuple[float, ...]

    def take(self, rows: NDArray[np.bool_]) -> _Rows:
        lengths = None if self.lengths is None else self.lengths[rows]
        return _Rows(self.z[rows], self.codes[rows], self.weights[rows], lengths, self.prior)


def _pool(z: Floats, groups: Sequence[int]) -> Floats:
    """The log of the probability of each group of classes."""
    columns = [np.flatnonzero(np.asarray(groups) == group) for group in range(max(groups) + 1)]
    return np.column_stack(
        [z[:, own[0]] if len(own) == 1 else portable.log_total(np.ascontiguousarray(z[:, own]), 1) for own in columns]
    )


def _pool_rare(rows: _Rows) -> tuple[_Rows, tuple[int, ...]]:
    """Rows whose rare classes are one, and the group of each class; as they are where fewer than two would be left."""
    counts = np.bincount(rows.codes[rows.weights > 0], minlength=rows.z.shape[1])
    order = np.argsort(counts, kind="stable")
    # The rarest together, until they have as many rows as a class must have.
    n = int(np.searchsorted(np.cumsum(counts[order]), _FOR_CURVES[1])) + 1
    if counts.min() >= _FOR_CURVES[1] or len(counts) - n < 1 or counts[order[n:]].min() < _FOR_CURVES[1]:
        return rows, ()
    together = np.isin(np.arange(len(counts)), order[:n])
    first = int(together.argmax())
    groups = np.cumsum(~together | (np.arange(len(counts)) == first)) - 1
    groups[together] = groups[first]
    mapped = tuple(groups.tolist())
    prior = tuple(_pool(np.array([rows.prior]), mapped)[0].tolist()) if rows.prior else ()
    return replace(rows, z=_pool(rows.z, mapped), codes=groups[rows.codes], prior=prior), mapped


def _fit(kinds: Iterable[str], rows: _Rows) -> dict[str, Calibrator]:
    """Calibrators fitted to the same rows; curves come after Platt's method, which is shared."""
    n_classes = rows.z.shape[1]
    plain, d = np.zeros(n_classes), _below_top(rows.z)
    found: dict[str, Calibrator] = {}
    for kind in kinds:
        if kind == "none":
            found[kind] = Calibrator(kind, 1.0, plain)
        elif kind == "isotonic":
            found[kind] = _fit_curves(rows, found.get("platt"))
        else:
            learn = _temperature if kind == "temperature" else _platt
            scale, start = _learn_scale(learn, d, rows)
            scaled = d if scale is None or rows.lengths is None else scale.divide(d, rows.lengths)
            slope, shifts, _ = learn(scaled, rows.codes, rows.weights, start)
            found[kind] = Calibrator(kind, slope, shifts, scale)
    return found


Learned = tuple[float, Floats, float]  # the slope, the shifts of the classes, and the loss


def _learn_scale(learn: Any, d: Floats, rows: _Rows) -> tuple[LengthScale | None, Learned | None]:
    """The exponent for which the least loss to be had from scaled scores is least; plus γ²/2, as a prior.

    Also what was last learned, from which the next search is short.
    """
    if rows.lengths is None:
        return None, None
    from scipy.optimize import minimize_scalar

    typical = float(np.exp(np.average(np.log1p(rows.lengths), weights=rows.weights)))
    if np.ptp(rows.lengths) == 0:
        return LengthScale(typical, 0.0, rows.prior), None
    every = slice(None, None, -(-len(d) // _ROWS))
    d, codes, weights, lengths = d[every], rows.codes[every], rows.weights[every], rows.lengths[every]

    last: Learned | None = None

    def loss(exponent: float) -> float:
        nonlocal last
        scaled = LengthScale(typical, exponent, rows.prior).divide(d, lengths)
        last = learn(scaled, codes, weights, last)
        return float(last[2]) + exponent**2 / 2

    plain = loss(0.0)
    found = minimize_scalar(loss, bounds=(0.0, _LARGEST), method="bounded", options={"xatol": 0.01})
    return LengthScale(typical, float(found.x) if found.fun < plain else 0.0, rows.prior), last


def _temperature(d: Floats, codes: Codes, weights: Floats, start: Learned | None = None) -> Learned:
    """A slope alone."""
    return _fit_softmax(d, codes, weights, start, shifted=False)


def _imaginary_drop(d: Floats) -> float:
    """Half the median distance from the best class to the second, in nats, where there is a second."""
    if d.shape[1] < 2:
        return 1.0
    second = -np.partition(d, -2, axis=1)[:, -2]
    second = second[np.isfinite(second) & (second > 0)]
    return float(np.median(second)) / 2 if len(second) else 1.0


def _platt(d: Floats, codes: Codes, weights: Floats, start: Learned | None = None) -> Learned:
    """Platt's method: a slope and a shift of each class."""
    if d.shape[1] == 1:
        return 1.0, np.zeros(1), 0.0
    return _fit_sigmoid(d, codes, weights) if d.shape[1] == 2 else _fit_softmax(d, codes, weights, start, shifted=True)


def _fit_sigmoid(d: Floats, codes: Codes, weights: Floats) -> Learned:
    """Of two classes, with Platt's targets, by Newton's steps on log odds of one size whatever their scale."""
    from scipy.special import expit

    with np.errstate(invalid="ignore"):
        odds = d[:, 1] - d[:, 0]
    positive, negative = float(weights[codes == 1].sum()), float(weights[codes == 0].sum())
    high, low = (positive + 1) / (positive + 2), 1 / (negative + 2)
    possible = np.isfinite(odds)  # where they are infinite no slope and no shift can move them
    s, w = odds[possible], weights[possible]
    t = np.where(codes[possible] == 1, high, low)
    share = (positive * high + negative * low) / (positive + negative)
    size = float(np.abs(s).max(initial=0.0))
    table = np.column_stack([s / (size or 1.0), np.ones(len(s))])

    def loss(at: Floats) -> float:
        m = table @ at
        return float(w @ (np.logaddexp(0, m) - t * m))

    def derivatives(at: Floats) -> tuple[Floats, Floats]:
        p = expit(table @ at)
        return table.T @ (w * (p - t)), table.T @ (table * (w * p * (1 - p))[:, np.newaxis])

    flat = np.array([0.0, np.log(share / (1 - share))])
    at, total = minimise(loss, derivatives, flat) if size > 0 else (flat, loss(flat))
    if at[0] <= 0:  # scores that point the wrong way are not turned round, but left out
        at, total = flat, loss(flat)
    return float(at[0] / (size or 1.0)), np.array([0.0, at[1]]), total


def _fit_softmax(d: Floats, codes: Codes, weights: Floats, start: Learned | None = None, *, shifted: bool) -> Learned:
    """A slope, and perhaps a shift of each class; one imaginary row is as likely of the second-best class."""
    # A row whose true class is held impossible has an infinite loss whatever the slope, and says nothing of it.
    rows = np.isfinite(d[np.arange(len(d)), codes])
    d, y, w = d[rows], codes[rows], weights[rows]
    k, g = d.shape[1], _imaginary_drop(d)
    problem = Problem(np.maximum(d, -1e150)[:, :, np.newaxis], np.zeros_like(d), y, w)
    size = 1 + k * shifted  # the slope, and the shifts

    def split(at: Floats) -> tuple[Floats, Floats]:
        return at[:1], at[1:] if shifted else np.zeros(k)

    def loss(at: Floats) -> float:
        (slope,), b = split(at)
        if not slope > 0:
            return float("inf")
        return float(w @ problem.losses(at[:1], b, np.inf) + slope * g - np.log(slope) + b @ b / 2)

    def derivatives(at: Floats) -> tuple[Floats, Floats]:
        gradient, bend = problem.derivatives(*split(at), shifted)
        gradient += np.append(g - 1 / at[0], at[1:])
        bend += np.diag(np.append(1 / at[0] ** 2, np.ones(size - 1)))
        return gradient, bend

    if start is not None:
        first = np.append(start[0], start[1] if shifted else [])
    else:
        first = np.append(_temperature(d, y, w)[0], np.zeros(k)) if shifted else np.array([1 / max(g, 1e-300)])
    at, total = minimise(loss, derivatives, first)
    shifts = split(at)[1]
    return float(at[0]), np.asarray(shifts - shifts.mean()), total


def _classes_with_a_curve(n_classes: int) -> range:
    """Of two classes the second, of more all, of one none."""
    return range(1, 2) if n_classes == 2 else range(n_classes if n_classes > 2 else 0)


def _fit_curves(rows: _Rows, platt: Calibrator | None) -> Calibrator:
    """Isotonic regression of each class's log odds, after Platt's method where that can change anything."""
    first = Calibrator("isotonic", 1.0, np.zeros(rows.z.shape[1]))
    if rows.z.shape[1] != 2 or rows.lengths is not None:
        platt = platt or _fit(["platt"], rows)["platt"]
        # Where Platt's method leaves the scores out, a curve may still tell something of them.
        first = replace(platt if platt.slope > 0 else first, kind="isotonic", scale=platt.scale)
    odds = log_odds(first.apply(rows.z, rows.lengths))
    classes = _classes_with_a_curve(rows.z.shape[1])
    return replace(first, curves=tuple(_curve(odds[:, k], rows.codes == k, rows.weights) for k in classes))


def _curve(odds: Floats, positive: NDArray[np.bool_], weights: Floats) -> tuple[Floats, Floats]:
    """The pooled blocks as steps, with straight lines between them; in each, a row of either class is imagined."""
    from scipy.optimize import isotonic_regression

    # Infinite log odds stand just outside the finite ones: so has their block a place, and a probability of its own.
    reach = float(np.abs(odds[np.isfinite(odds)]).max(initial=0.0)) + 1.0
    used = weights > 0
    at, place = np.unique(odds[used].clip(-reach, reach), return_inverse=True)
    total = np.bincount(place, weights[used], len(at))
    hits = np.bincount(place, weights[used] * positive[used], len(at))
    starts = isotonic_regression(hits / total, weights=total).blocks[:-1]
    rows, own = np.add.reduceat(total, starts), np.add.reduceat(hits, starts)
    p = isotonic_regression((own + 1) / (rows + 2), weights=rows + 2).x
    ends = np.append(starts[1:], len(at)) - 1
    knots = np.column_stack([at[starts], at[ends]]).ravel()
    kept = np.append(True, np.diff(knots) > 0)  # a block of one score has one knot
    return knots[kept], np.maximum.accumulate(np.repeat(p, 2)[kept])


def log_odds(z: Floats) -> Floats:
    """log p_k - log Σ_{l ≠ k} p_l, for each class; exact where a probability is 1 in doubles."""
    if z.shape[1] == 2:
        with np.errstate(invalid="ignore"):
            second = z[:, 1] - z[:, 0]
        return np.column_stack([-second, second])
    rows = np.arange(len(z))
    top = z.argmax(axis=1)
    d = _below_top(z)
    e = portable.exp(d)
    with np.errstate(divide="ignore"):
        odds = d - portable.log(portable.total(e)[:, np.newaxis] - e)
        # The rest of the top class is added up by itself: as 1 - p it would be rounded away.
        others = d.copy()
        others[rows, top] = -np.inf
        runner = others.max(axis=1, initial=-np.inf)
        safe = np.where(np.isfinite(runner), runner, 0.0)
        rest = safe + portable.log(portable.total(portable.exp(others - safe[:, np.newaxis])))
    odds[rows, top] = -rest
    return np.asarray(odds)


def _interpolate(x: Floats, knots: Floats, values: Floats) -> Floats:
    """Straight lines between rising knots, level beyond them."""
    at = (np.searchsorted(knots, x, "right") - 1).clip(0, max(len(knots) - 2, 0))
    after = np.minimum(at + 1, len(knots) - 1)
    run = np.where(after > at, knots[after] - knots[at], 1.0)
    inside = x.clip(knots[0], knots[-1])
    found = (values[after] - values[at]) / run * (inside - knots[at]) + values[at]
    return np.asarray(np.where(x >= knots[-1], values[-1], found))


def _below_top(z: Floats) -> Floats:
    return np.asarray(z - z.max(axis=1, keepdims=True))


def sum_lengths(lengths: Iterable[Floats | None]) -> Floats | None:
    """The lengths of all attributes that have one; None where none has."""
    found = [each for each in lengths if each is not None]
    return np.asarray(sum(found)) if found else None


@dataclass(frozen=True)
class Choice:
    """What was tried and what it gained."""

    chosen: str
    log_loss: dict[str, float]  # by cross-validation
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
    log_scores: Any, codes: Any, weights: Any = None, lengths: Any = None, prior: Any = None, random_state: int = 0
) -> tuple[Calibrator, Choice]:
    """The calibrator with the least log loss by cross-validation, fitted on all the rows, and what was tried.

    The rows are given as for `fit`; `random_state` is the seed of the folds.
    """
    rows, groups = _pool_rare(_check_training(log_scores, codes, weights, lengths, prior))
    counts = np.bincount(rows.codes[rows.weights > 0], minlength=rows.z.shape[1])
    left_out = {}
    if counts.sum() < 2 * FOLDS:
        left_out = dict.fromkeys(KINDS[1:], f"there are fewer than {2 * FOLDS} rows")
    elif counts.sum() < _FOR_CURVES[0] or counts.min() < _FOR_CURVES[1]:
        left_out["isotonic"] = f"it needs {_FOR_CURVES[0]} rows, and {_FOR_CURVES[1]} of each class"
    tried = [kind for kind in KINDS if kind not in left_out]
    with single_blas():
        means = _cross_validate(tried, rows, stratify(rows.codes, FOLDS, random_state))
        chosen = min(tried, key=lambda kind: means[kind])
        return replace(_fit([chosen], rows)[chosen], groups=groups), Choice(chosen, means, left_out)


def _cross_validate(kinds: list[str], rows: _Rows, folds: NDArray[np.int64]) -> dict[str, float]:
    """The mean loss of rows under calibrators fitted without their fold, and of a median row of one of two classes."""
    losses, of_two = ({kind: np.empty(len(rows.z)) for kind in kinds} for _ in range(2))
    for fold in np.unique(folds):
        held, rest = folds == fold, folds != fold
        learned = rows.take(rest) if rows.weights[rest].any() else rows
        asked = rows.take(held)
        for kind, fitted in _fit(kinds, learned).items():
            logs = -np.maximum(fitted.apply(asked.z, asked.lengths), _LEAST)
            losses[kind][held] = logs[np.arange(len(logs)), asked.codes]
            of_two[kind][held] = np.partition(logs, min(1, logs.shape[1] - 1), axis=1)[:, :2].mean(axis=1)
    total = float(rows.weights.sum()) + 1
    return {kind: float((rows.weights @ losses[kind] + np.median(of_two[kind])) / total) for kind in kinds}


def _check_kind(kind: Any) -> None:
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"calibration={kind!r} is not known{did_you_mean(kind, KINDS)}")


def _refuse_first(bad: NDArray[np.bool_], values: Any, what: str, why: str) -> None:
    """Raise for the first row that is bad: what it is there, and what it should be."""
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"{what.format(row)} is {values[row].tolist()}{why}")


def _check_scores(log_scores: Any, n_classes: int | None = None) -> Floats:
    """Log posteriors (rows × classes) as doubles; -inf is a class that is held impossible."""
    try:
        z = np.asarray(log_scores, np.float64)
    except (TypeError, ValueError):
        raise KindError(f"log scores must be numbers, rows × classes, got {type(log_scores).__name__}") from None
    if z.ndim != 2 or z.shape[1] == 0:
        raise InputError(f"log scores must have a row for each row and a column for each class, got shape {z.shape}")
    if n_classes is not None and z.shape[1] != n_classes:
        raise InputError(f"the log scores have {z.shape[1]} classes, and the calibrator was fitted for {n_classes}")
    bad = ~(z < np.inf).all(axis=1) | (z == -np.inf).all(axis=1)
    _refuse_first(bad, z, "row {} of the log scores", "; give log probabilities, of which one at least is finite")
    return z


def _check_not_negative(name: str, given: Any, n_rows: int) -> Floats:
    """One finite number a row, none negative."""
    found = np.asarray(given, np.float64)
    if found.shape != (n_rows,):
        raise InputError(f"{name}s must be one for each of {n_rows} rows, got shape {found.shape}")
    bad = ~(np.isfinite(found) & (found >= 0))
    _refuse_first(bad, found, f"the {name} of row {{}}", f"; {name}s are finite and not negative")
    return found


def _check_training(log_scores: Any, codes: Any, weights: Any, lengths: Any, prior: Any) -> _Rows:
    """What a calibrator learns from."""
    z = _check_scores(log_scores)
    truth, n_classes = np.asarray(codes), z.shape[1]
    if truth.shape != (len(z),) or truth.dtype.kind not in "iu":
        raise InputError(f"codes must be {len(z)} whole numbers, got {truth.dtype} of shape {truth.shape}")
    if len(z) == 0:
        raise InputError("there is no row to fit a calibrator on; give one at least")
    outside = (truth < 0) | (truth >= n_classes)
    _refuse_first(outside, truth, "the code of row {}", f", and the classes are 0 to {n_classes - 1}")
    w = np.ones(len(z)) if weights is None else _check_not_negative("weight", weights, len(z))
    if not w.sum() > 0:
        raise InputError("all weights are zero; give one row at least some weight")
    known = np.zeros(0) if prior is None else np.asarray(prior, np.float64)
    if prior is not None and (known.shape != (n_classes,) or not np.isfinite(known).all()):
        raise InputError(f"prior must be a finite logarithm for each of {n_classes} classes, got {known.tolist()}")
    words = None if lengths is None else _check_not_negative("length", lengths, len(z))
    return _Rows(z, truth.astype(np.int64), w, words, tuple(known.tolist()))
