"""Temperature and Platt scaling of log posteriors, scales of length, and what all calibrators check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.kernels import portable

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def checked(log_scores: Any, n_classes: int | None = None) -> Floats:
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
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"row {row} of the log scores is {z[row].tolist()}; give log probabilities, of which one at least is finite"
        )
    return z


def checked_training(log_scores: Any, codes: Any, weights: Any) -> tuple[Floats, Codes, Floats]:
    """What a calibrator learns from: the log posteriors, the true classes as codes, and the rows' weights."""
    z = checked(log_scores)
    truth = np.asarray(codes)
    if truth.shape != (len(z),) or truth.dtype.kind not in "iu":
        raise InputError(f"codes must be {len(z)} whole numbers, got {truth.dtype} of shape {truth.shape}")
    if len(z) == 0:
        raise InputError("there is no row to fit a calibrator on; give one at least")
    if truth.min() < 0 or truth.max() >= z.shape[1]:
        row = int(((truth < 0) | (truth >= z.shape[1])).argmax())
        raise InputError(f"the code of row {row} is {truth[row]}, and the classes are 0 to {z.shape[1] - 1}")
    if weights is None:
        return z, truth.astype(np.int64), np.ones(len(z))
    w = np.asarray(weights, np.float64)
    if w.shape != (len(z),):
        raise InputError(f"weights must be one for each of {len(z)} rows, got shape {w.shape}")
    if not (np.isfinite(w) & (w >= 0)).all():
        row = int((~(np.isfinite(w) & (w >= 0))).argmax())
        raise InputError(f"the weight of row {row} is {w[row]}; weights are finite and not negative")
    if not w.sum() > 0:
        raise InputError("all weights are zero; give one row at least some weight")
    return z, truth.astype(np.int64), w


def normalised(z: Floats) -> Floats:
    """Log scores less their log sum, so that each row's probabilities add to 1."""
    d = below_top(z)
    d -= portable.log(portable.exp(d).sum(axis=1, keepdims=True))
    return d


def below_top(z: Floats) -> Floats:
    """Log scores less the row's largest."""
    return np.asarray(z - z.max(axis=1, keepdims=True))


def log_odds(z: Floats) -> Floats:
    """log p_k - log Σ_{l ≠ k} p_l, for each class; exact where a probability is 1 in doubles."""
    if z.shape[1] == 2:
        with np.errstate(invalid="ignore"):
            second = z[:, 1] - z[:, 0]
        return np.column_stack([-second, second])
    rows = np.arange(len(z))
    top = z.argmax(axis=1)
    d = below_top(z)
    e = portable.exp(d)
    with np.errstate(divide="ignore"):
        odds = d - portable.log(e.sum(axis=1, keepdims=True) - e)
        # The rest of the top class is added up by itself: as 1 - p it would be rounded away.
        others = d.copy()
        others[rows, top] = -np.inf
        runner = others.max(axis=1, initial=-np.inf)
        safe = np.where(np.isfinite(runner), runner, 0.0)
        rest = safe + portable.log(portable.exp(others - safe[:, np.newaxis]).sum(axis=1))
    odds[rows, top] = -rest
    return np.asarray(odds)


# How far scores are worn down by length: a text of n words has n pieces of evidence, but they are not independent.


_LARGEST = 2.0  # more than 1 would be evidence that falls with every word; the search looks a little further
_ROWS = 4_000  # one number is learned well enough from so many rows


@dataclass(frozen=True)
class LengthScale:
    """What scores are divided by: (L / typical) ** exponent."""

    typical: float
    exponent: float
    prior: tuple[float, ...] = ()  # log prior of each class, which is no evidence; none: it counts as evidence

    def divided(self, d: Floats, lengths: Floats) -> Floats:
        """Log scores less their row's largest, worn down."""
        prior = np.array(self.prior) if self.prior else np.zeros(d.shape[1])
        worn = (d - prior) / relative(lengths, self.typical)[:, np.newaxis] ** self.exponent + prior
        return np.asarray(worn - worn.max(axis=1, keepdims=True))


def relative(lengths: Floats, typical: float) -> Floats:
    """L / L̄ for numbers of words."""
    return np.asarray((1 + lengths) / typical)


def typical_length(lengths: Floats, weights: Floats) -> float:
    """L̄."""
    return float(np.exp(np.average(np.log1p(lengths), weights=weights)))


def learned_scale(
    d: Floats, codes: Codes, weights: Floats, lengths: Floats | None, loss: Callable[[Floats, Codes, Floats], float],
    prior: Any = None,
) -> LengthScale | None:  # fmt: skip
    """The exponent for which `loss`, the least one to be had from scaled scores, is least; plus γ²/2, as a prior."""
    if lengths is None:
        return None
    from scipy.optimize import minimize_scalar

    typical = typical_length(lengths, weights)
    known = checked_prior(prior, d.shape[1])
    if np.ptp(lengths) == 0:
        return LengthScale(typical, 0.0, known)
    every = slice(None, None, -(-len(d) // _ROWS))
    d, codes, weights, lengths = d[every], codes[every], weights[every], lengths[every]

    def at(exponent: float) -> float:
        return loss(LengthScale(typical, exponent, known).divided(d, lengths), codes, weights) + exponent**2 / 2

    found = minimize_scalar(at, bounds=(0.0, _LARGEST), method="bounded", options={"xatol": 0.01})
    return LengthScale(typical, float(found.x) if found.fun < at(0.0) else 0.0, known)


def checked_lengths(lengths: Any, n_rows: int) -> Floats | None:
    """Numbers of words, one a row, or None."""
    if lengths is None:
        return None
    found = np.asarray(lengths, np.float64)
    if found.shape != (n_rows,):
        raise InputError(f"lengths must be one for each of {n_rows} rows, got shape {found.shape}")
    bad = ~(np.isfinite(found) & (found >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"the length of row {row} is {found[row]}; lengths are finite and not negative")
    return found


def checked_prior(prior: Any, n_classes: int) -> tuple[float, ...]:
    """The log prior of each class, or none."""
    if prior is None:
        return ()
    found = np.asarray(prior, np.float64)
    if found.shape != (n_classes,) or not np.isfinite(found).all():
        raise InputError(f"prior must be a finite logarithm for each of {n_classes} classes, got {found.tolist()}")
    return tuple(found.tolist())


def rescaled(scale: LengthScale | None, d: Floats, lengths: Any) -> Floats:
    """Scores worn down as they were when the calibrator was fitted."""
    found = checked_lengths(lengths, len(d))
    if (scale is None) != (found is None):
        raise InputError(
            "the calibrator was fitted without lengths, so give none"
            if scale is None
            else "the calibrator was fitted with the lengths of the texts; give those of these rows as well"
        )
    return d if scale is None or found is None else scale.divided(d, found)


def scale_array(scale: LengthScale | None) -> NDArray[Any]:
    """For a file: typical length, exponent and prior, or nothing."""
    return np.array([] if scale is None else [scale.typical, scale.exponent, *scale.prior])


def scale_of(given: Any, n_classes: int) -> LengthScale | None:
    """From a file."""
    found = np.asarray(given)
    if found.ndim == 1 and len(found) == 0:
        return None
    good = found.shape in ((2,), (2 + n_classes,)) and found.dtype.kind == "f" and bool(np.isfinite(found).all())
    if not good or found[0] < 1 or not 0 <= found[1] <= _LARGEST:
        raise InputError(f"a scale of lengths is a length of 1 or more and an exponent of 0 to 2, got {found.tolist()}")
    return LengthScale(float(found[0]), float(found[1]), tuple(found[2:].tolist()))


def said(scale: LengthScale | None) -> str:
    """The end of a sentence."""
    if scale is None or scale.exponent == 0:
        return ""
    return f", those of a text of n words by (n / {scale.typical - 1:.4g})^{scale.exponent:.2f} besides"


# Temperature: log posteriors divided by one number, T; T > 1 takes back what was counted twice.


_STEPS = 200


@dataclass(frozen=True)
class Temperature:
    """Log posteriors divided by a temperature; the order of the classes stays.

    >>> import numpy as np
    >>> sure = np.log([[0.99, 0.01], [0.99, 0.01], [0.99, 0.01], [0.01, 0.99]])
    >>> found = Temperature.fit(sure, np.array([0, 0, 1, 1]))
    >>> np.exp(found.apply(sure[:1])).round(3).tolist()
    [[0.803, 0.197]]
    """

    kind: ClassVar[str] = "temperature"
    temperature: float
    n_classes: int
    scale: LengthScale | None = None

    @classmethod
    def fit(
        cls, log_scores: Any, codes: Any, weights: Any = None, lengths: Any = None, prior: Any = None
    ) -> Temperature:
        """The temperature with the least log loss on these rows, which the model must not have learned from.

        Parameters
        ----------
        log_scores : array (rows, classes)
            Log posteriors; -inf is a class that was held impossible.
        codes : array (rows,)
            The true classes, as places among the classes.
        weights : array (rows,), optional
            How much each row counts.
        lengths : array (rows,), optional
            How many words each row has; they are then needed to apply it, too.
        prior : array (classes,), optional
            The log prior of each class, which does not grow with the length.
        """
        z, truth, w = checked_training(log_scores, codes, weights)
        words = checked_lengths(lengths, len(z))
        d = below_top(z)
        scale = learned_scale(d, truth, w, words, lambda *rows: inverse_temperature(*rows)[1], prior)
        beta, _ = inverse_temperature(rescaled(scale, d, words), truth, w)
        return cls(1.0 / beta, z.shape[1], scale)

    def apply(self, log_scores: Any, lengths: Any = None) -> Floats:
        """Calibrated log posteriors."""
        d = below_top(checked(log_scores, self.n_classes))
        return normalised(rescaled(self.scale, d, lengths) / self.temperature)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is learned."""
        return {"temperature": np.array([self.temperature]), "lengths": scale_array(self.scale)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_classes: int) -> Temperature:
        """The calibrator that gave these arrays."""
        given = np.asarray(arrays["temperature"])
        if given.shape != (1,) or given.dtype.kind != "f" or not np.isfinite(given[0]) or given[0] <= 0:
            raise InputError(f"a temperature is one positive number, got {given.tolist()}")
        return cls(float(given[0]), n_classes, scale_of(arrays["lengths"], n_classes))

    def describe(self) -> str:
        """What is done, in a sentence."""
        return f"log posteriors are divided by {self.temperature:.4g}{said(self.scale)}"


def inverse_temperature(d: Floats, codes: Codes, weights: Floats) -> tuple[float, float]:
    """β, by Newton's steps between bounds, and what is minimised there; d are log scores less their row's largest."""
    # A row whose true class is held impossible has an infinite loss at any temperature, and says nothing of it.
    possible = np.isfinite(d[np.arange(len(d)), codes])
    d, w = d[possible], weights[possible]
    truth = d[np.arange(len(d)), codes[possible]]
    finite = np.where(np.isfinite(d), d, 0.0)  # to be multiplied with a probability of 0
    g = imaginary_drop(d)
    low, high, beta = 0.0, np.inf, 1.0
    for _ in range(_STEPS):
        p = np.exp(beta * d)
        total = p.sum(axis=1)
        p *= finite
        mean = p.sum(axis=1) / total
        p *= finite
        loss = float(w @ (np.log(total) - beta * truth)) + beta * g - np.log(beta)
        slope = float(w @ (mean - truth)) + g - 1 / beta
        bend = float(w @ (p.sum(axis=1) / total - mean * mean).clip(0)) + 1 / beta**2
        low, high = (beta, high) if slope < 0 else (low, beta)
        following = beta - slope / bend
        if not low < following < high:
            following = beta * 8 if high == np.inf else (beta / 8 if low == 0 else float(np.sqrt(low * high)))
        if abs(following - beta) <= 1e-10 * beta:
            break
        beta = following
    return beta, loss


def imaginary_drop(d: Floats) -> float:
    """Half the median distance from the best class to the second, in nats, where there is a second."""
    if d.shape[1] < 2:
        return 1.0
    second = -np.partition(d, -2, axis=1)[:, -2]
    second = second[np.isfinite(second) & (second > 0)]
    return float(np.median(second)) / 2 if len(second) else 1.0


# Platt's method: a temperature and, for each class, a shift.


_PLATT_STEPS = 100


@dataclass(frozen=True, eq=False)
class Platt:
    """Log posteriors times a slope, plus a shift for each class.

    >>> import numpy as np
    >>> scores = np.log([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])
    >>> found = Platt.fit(scores, np.array([0, 0, 1, 1]))
    >>> np.exp(found.apply(scores))[:, 1].round(2).tolist()
    [0.18, 0.43, 0.63, 0.76]
    """

    kind: ClassVar[str] = "platt"
    slope: float
    shifts: Floats
    scale: LengthScale | None = None

    @property
    def n_classes(self) -> int:
        """How many classes it is for."""
        return len(self.shifts)

    @classmethod
    def fit(cls, log_scores: Any, codes: Any, weights: Any = None, lengths: Any = None, prior: Any = None) -> Platt:
        """The slope and shifts with the least log loss on these rows, which the model must not have learned from.

        The parameters are those of `Temperature.fit`.
        """
        z, truth, w = checked_training(log_scores, codes, weights)
        words = checked_lengths(lengths, len(z))
        d = below_top(z)
        if z.shape[1] == 1:
            return cls(1.0, np.zeros(1), learned_scale(d, truth, w, words, lambda *rows: 0.0, prior))
        fitted = _sigmoid if z.shape[1] == 2 else _softmax
        scale = learned_scale(d, truth, w, words, lambda *rows: fitted(*rows)[2], prior)
        slope, shifts, _ = fitted(rescaled(scale, d, words), truth, w)
        return cls(slope, shifts, scale)

    def apply(self, log_scores: Any, lengths: Any = None) -> Floats:
        """Calibrated log posteriors."""
        d = rescaled(self.scale, below_top(checked(log_scores, self.n_classes)), lengths)
        # 0 · -inf: what is impossible stays so.
        d = np.where(np.isfinite(d), 0.0, d) if self.slope == 0 else d * self.slope
        return normalised(d + self.shifts)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is learned."""
        return {"slope": np.array([self.slope]), "shifts": self.shifts, "lengths": scale_array(self.scale)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_classes: int) -> Platt:
        """The calibrator that gave these arrays."""
        slope, shifts = np.asarray(arrays["slope"]), np.asarray(arrays["shifts"])
        if slope.shape != (1,) or slope.dtype.kind != "f" or not np.isfinite(slope[0]) or slope[0] < 0:
            raise InputError(f"a slope is one number that is not negative, got {slope.tolist()}")
        if shifts.shape != (n_classes,) or shifts.dtype.kind != "f" or not np.isfinite(shifts).all():
            raise InputError(f"there must be a finite shift for each of {n_classes} classes, got {shifts.tolist()}")
        return cls(float(slope[0]), shifts.astype(np.float64), scale_of(arrays["lengths"], n_classes))

    def describe(self) -> str:
        """What is done, in a sentence."""
        if self.n_classes == 2:
            shift = self.shifts[1] - self.shifts[0]
            sign = "-" if shift < 0 else "+"
            what = f"log odds s become {self.slope:.4g} s {sign} {abs(shift):.4g}"
            return what + said(self.scale).replace("those of", "the s of").replace(" by ", " divided by ")
        inverse = f"divided by {1 / self.slope:.4g}" if self.slope > 0 else "left out"
        shifts = f"then each class is shifted, by {self.shifts.min():.3g} to {self.shifts.max():.3g}"
        return f"log posteriors are {inverse}{said(self.scale)}; {shifts}"


def _sigmoid(d: Floats, codes: Codes, weights: Floats) -> tuple[float, Floats, float]:
    """a, the shifts and the loss, by Newton's steps, on log odds of one size whatever their scale."""
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

    flat = np.array([0.0, np.log(share / (1 - share))])
    at, total = flat, loss(flat)
    for _ in range(_PLATT_STEPS if size > 0 else 0):
        p = expit(table @ at)
        gradient = table.T @ (w * (p - t))
        bend = table.T @ (table * (w * p * (1 - p))[:, np.newaxis])
        at, total, moved = _along(loss, at, -_solve(bend, gradient), total, gradient)
        if not moved:
            break
    if at[0] <= 0:  # scores that point the wrong way are not turned round, but left out
        at, total = flat, loss(flat)
    return float(at[0] / (size or 1.0)), np.array([0.0, at[1]]), total


def _softmax(d: Floats, codes: Codes, weights: Floats) -> tuple[float, Floats, float]:
    """a and b of softmax(a z + b), and the loss, by Newton's steps from the best temperature."""
    rows = np.isfinite(d[np.arange(len(d)), codes])
    d, y, w = d[rows], codes[rows], weights[rows]
    n, k = d.shape
    truth = d[np.arange(n), y]
    finite = np.where(np.isfinite(d), d, 0.0)
    seen = np.bincount(y, w, k)
    g = imaginary_drop(d)

    def loss(at: Floats) -> float:
        if not at[0] > 0:
            return float("inf")
        m = at[0] * d + at[1:]
        top = m.max(axis=1)
        total = top + np.log(np.exp(m - top[:, np.newaxis]).sum(axis=1)) - at[0] * truth
        return float(w @ total - seen @ at[1:] + at[0] * g - np.log(at[0]) + at[1:] @ at[1:] / 2)

    at = np.concatenate([[inverse_temperature(d, y, w)[0]], np.zeros(k)])
    total = loss(at)
    for _ in range(_PLATT_STEPS):
        m = at[0] * d + at[1:]
        p = np.exp(m - m.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        pd, wp = p * finite, p * w[:, np.newaxis]
        mean = pd.sum(axis=1)
        gradient = np.concatenate([[w @ (mean - truth) + g - 1 / at[0]], wp.sum(axis=0) - seen + at[1:]])
        bend = np.empty((k + 1, k + 1))
        bend[0, 0] = w @ ((pd * finite).sum(axis=1) - mean * mean).clip(0) + 1 / at[0] ** 2
        bend[0, 1:] = bend[1:, 0] = w @ pd - mean @ wp
        bend[1:, 1:] = np.diag(wp.sum(axis=0) + 1) - p.T @ wp
        at, total, moved = _along(loss, at, -_solve(bend, gradient), total, gradient)
        if not moved:
            break
    return float(at[0]), np.asarray(at[1:] - at[1:].mean()), total


def _solve(bend: Floats, gradient: Floats) -> Floats:
    """curvature⁻¹ gradient, with the parameters first brought to one size."""
    size = np.sqrt(np.maximum(np.diag(bend), 1e-300))
    even = bend / np.outer(size, size) + 1e-12 * np.eye(len(bend))
    return np.asarray(np.linalg.solve(even, gradient / size) / size)


def _along(loss: Any, at: Floats, step: Floats, total: float, gradient: Floats) -> tuple[Floats, float, bool]:
    """Go along the step as far as the loss falls; whether it was worth it."""
    promised = float(gradient @ step)
    length = 1.0
    while length > 1e-10:
        reached = loss(at + length * step)
        if reached <= total + 1e-4 * length * promised:
            return at + length * step, reached, total - reached > 1e-12 * abs(total)
        length /= 2
    return at, total, False
