"""Choosing a calibrator by what it gains on rows it was not fitted on.

Each is fitted on four fifths of the rows and judged by its log loss on the fifth that is left, five times. The simplest
of those within one standard error of the best wins: first what leaves the scores alone, then what keeps the order of
the classes, then what may change it.

One imaginary row is judged besides, as one was fitted on: with scores like the others, and of the second class as
likely as of the first. So scores that were right in all of few rows, and have no doubt, do not pass for perfect.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.calibrate.calibrator import CALIBRATORS, Calibrator, kind_of
from ingenuo.calibrate.isotonic import first_stage
from ingenuo.calibrate.lengths import checked_lengths
from ingenuo.calibrate.platt import Platt
from ingenuo.calibrate.scores import Codes, Floats, checked_training
from ingenuo.errors import InputError
from ingenuo.families.left_out import stratified
from ingenuo.kernels.threads import single_blas

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
