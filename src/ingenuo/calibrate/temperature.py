"""Temperature: log posteriors divided by one number, T; T > 1 takes back what was counted twice.

    minimise over β = 1/T:   Σ_i w_i (log Σ_k exp(β z_ik) - β z_iy) + (β g - log β)

The sum is convex in β. The last term is a prior as imaginary data: one row with scores like the others, which is of the
second class as likely as of the first; g is half the usual (median) distance between the two. So T is not 0 where all
rows are right, and not infinite where the scores say nothing. Where the lengths of texts are given, the scores are
first divided by a power of these (see `lengths`).
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
from ingenuo.errors import InputError

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
