"""Venn–Abers: two probabilities for each answer, one of which is calibrated whatever the scores are.

For log odds s isotonic regression is fitted twice: with the row (s, 0) among the rows, which gives p0, and with (s, 1),
which gives p1. They merge to p = p1 / (1 - p0 + p1), the answer that loses least in the worse of both cases.

Both fits are known beforehand for each s. Let P_i = (Σ w, Σ w y) over the i lowest scores (the cumulative sum diagram).
A positive row of weight 1 at the j-th score moves the points before it by (-1, -1), and the fit there is the slope of
the line under both parts:

    p1_j = max_{a < j} min_{b ≥ j}  slope from P_a - (1, 1) to P_b

and both ends of it are corners of convex chains that are built once. p0 is the same with the classes and the order
turned. Vovk, Petej, Fedorova: Large-scale probabilistic predictors with and without guarantees of validity, 2015.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.calibrate.isotonic import curves_of, first_stage, grouped, joined, pieces
from ingenuo.calibrate.platt import Platt
from ingenuo.calibrate.scores import Codes, Floats, checked_training, log_odds
from ingenuo.errors import InputError, RefusedError

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
        return cls(tuple(_curve(odds[:, k], truth == k, w) for k in curves_of(z.shape[1])), platt)

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


def _curve(odds: Floats, positive: NDArray[np.bool_], weights: Floats) -> _Curve:
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
