"""Log posteriors as calibrators take them: checked, normalised, and as log odds of one class against the rest."""

from __future__ import annotations

from typing import Any

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
