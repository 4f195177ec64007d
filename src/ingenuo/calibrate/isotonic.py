"""Isotonic regression: probabilities that rise with the log odds and are otherwise free.

Rows are sorted by log odds, and neighbours whose shares would fall are pooled (pool-adjacent-violators). One imaginary
positive row below all the others and one imaginary negative row above them keep every probability between 0 and 1.
More than two classes: each against the rest, then normalised.

More than two classes, or texts with their lengths, go through Platt's method first: it puts the classes, and texts of
all lengths, on one scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.calibrate.platt import Platt
from ingenuo.calibrate.scores import Codes, Floats, checked_training, log_odds
from ingenuo.errors import InputError
from ingenuo.kernels import portable


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
