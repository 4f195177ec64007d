"""How far scores are worn down by length: a text of n words has n pieces of evidence, but they are not independent.

Log posteriors of a text, less the log prior where that is known, are divided by (L / L̄)^γ, where L is 1 + its number of
words and L̄ the geometric mean of the L learned from; the prior is the same whatever the length. γ = 0 is evidence that
adds up as naive Bayes thinks; at γ = 1 a text says as much as its mean word. Of 20 Newsgroups γ is about 0.9: without
it one temperature is too cold for long texts and too hot for short ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.calibrate.scores import Codes, Floats
from ingenuo.errors import InputError

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
