"""Platt's method: a temperature and, for each class, a shift.

Two classes: P(1) = 1 / (1 + exp(-(a s + b))) for log odds s, fitted to Platt's targets, (n₊ + 1)/(n₊ + 2) and
1/(n₋ + 2) in place of 1 and 0. More classes: softmax(a z + b), with the prior of the temperature on a
and ½|b|² on b. Where the lengths of texts are given, the scores are first divided by a power of these (see `lengths`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.calibrate.lengths import (
    LengthScale,
    checked_lengths,
    learned_scale,
    rescaled,
    said,
    scale_array,
    scale_of,
)
from ingenuo.calibrate.scores import Codes, Floats, below_top, checked, checked_training, normalised
from ingenuo.calibrate.temperature import imaginary_drop, inverse_temperature
from ingenuo.errors import InputError

_STEPS = 100


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
    for _ in range(_STEPS if size > 0 else 0):
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
    for _ in range(_STEPS):
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
