"""Numbers as features: themselves, less their means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ingenuo.chunk import Numbers
from ingenuo.errors import InputError
from ingenuo.estimators.linear.features import Entries, by_class
from ingenuo.families.family import Factor, Floats, Term, difference, exponential
from ingenuo.families.gaussian import spread
from ingenuo.kernels.counts import add_log_likelihood_dense
from ingenuo.labels import Labels
from ingenuo.schema import Schema, column_name
from ingenuo.tally import Tally

_LARGE = 1e100


def _less_mean(name: str, weights: Floats, x: float, mean: float) -> Factor:
    """A number, of which the mean is taken away."""
    written = ["1" if w == 0 else f"e^({w:.6g}·({difference(x, mean)}))" for w in weights.tolist()]
    logs = (weights * (x - mean)).tolist()
    return Factor(name, f"{x:.6g}", tuple(Term(how, exponential(log), log) for how, log in zip(written, logs)))


@dataclass
class NumberFeatures:
    """Numbers, less their means."""

    schema: Schema
    tally: Tally
    classes: Labels
    columns: Labels

    def __post_init__(self) -> None:
        self.size = len(self.columns)
        counts, means, variances, overall, exponents = spread(self.tally, self.columns, self.classes)
        with np.errstate(over="ignore", under="ignore"):
            scale = np.ldexp(1.0, 2 * exponents)
            share = counts / np.maximum(counts.sum(axis=0), 1e-300)
            self.means = np.asarray((share * means).sum(axis=0))
            self.by_class = means
            within = (share * variances).sum(axis=0)
            self.variances = np.where(within > 1e-9 * overall, within, overall) * scale
        deviations = np.sqrt(self.variances)
        odd = (np.abs(means).max(axis=0) + deviations > _LARGE) | ((deviations > 0) & (deviations < 1 / _LARGE))
        odd |= (self.variances == 0) & (overall > 0)
        if odd.any():
            raise InputError(
                f"column {column_name(self.columns[odd][0])!r} has numbers beyond {_LARGE:g}, or all within "
                f"{1 / _LARGE:g} of each other, whose products leave the doubles; correct them, or measure the column "
                "in another unit"
            )
        self.variances = np.where(self.variances > 0, self.variances, 1.0)
        self.shares = share

    def entries(self, block: Numbers) -> Entries:
        """Every number that is not missing."""
        rows, features, values = [], [], []
        for lo in range(0, block.n_rows, block.step):
            X = block.rows(lo, min(lo + block.step, block.n_rows))
            self.refuse_infinite(block, lo, X)
            there = ~np.isnan(X)
            row, feature = np.nonzero(there)
            rows.append((row + lo).astype(np.int32))
            features.append(feature.astype(np.int32))
            values.append((X - self.means)[there])
        return np.concatenate(rows), np.concatenate(features), np.concatenate(values)

    @staticmethod
    def refuse_infinite(block: Numbers, lo: int, X: Floats) -> None:
        """Raise for the first number that is infinite."""
        if np.isinf(X).any():
            row, column = np.argwhere(np.isinf(X))[0].tolist()
            raise InputError(
                f"Input X contains infinity: {block.place(lo + row, column)} is infinite; replace it by a finite "
                "number, or by NaN if it is missing"
            )

    def start(self, alpha: float) -> tuple[Floats, Floats]:
        """The linear discriminant of Gaussians with one variance for all classes."""
        moved = self.by_class - self.means
        weights, shift = (moved / self.variances).T, -0.5 * (moved / self.variances * moved).sum(axis=1)
        if len(self.classes) == 2:
            return weights[:, 1:] - weights[:, :1], shift[1:] - shift[:1]
        return weights.copy(), shift

    def stretch(self, start: Floats) -> Floats:
        """Numbers have no ratio of counts: each is measured in its standard deviations."""
        return np.repeat(1 / np.sqrt(self.variances)[:, np.newaxis], start.shape[1], axis=1)

    def add(self, weights: Floats, block: Numbers, out: Floats) -> None:
        """The numbers times their weights."""
        table = by_class(weights)
        for lo in range(0, block.n_rows, block.step):
            hi = min(lo + block.step, block.n_rows)
            X = block.rows(lo, hi)
            self.refuse_infinite(block, lo, X)
            X = X - self.means
            missing = np.isnan(X)
            if missing.any():
                X[missing] = 0.0
            add_log_likelihood_dense(X, table, out[lo:hi])

    def names(self) -> list[str]:
        """The columns' names."""
        return [column_name(name) for name in self.columns.tolist()]

    def factors(self, weights: Floats, block: Numbers) -> list[Factor]:
        """e to the weight times the number."""
        found = []
        table = by_class(weights)
        for j, x in enumerate(block.rows(0, 1)[0].tolist()):
            name = column_name(self.columns[j])
            if np.isnan(x):
                found.append(Factor(name, "missing", note="counts as the mean"))
            else:
                found.append(_less_mean(name, table[j], x, float(self.means[j])))
        return found
