"""Gaussian discriminant analysis: one Gaussian over all columns for each class, and Bayes' rule.

With one covariance Σ for all classes the posterior is a softmax of lines, and of two classes a sigmoid of one,

    p(k | x) ∝ exp(w_k·x + b_k)        w_k = Σ⁻¹μ_k        b_k = -½ μ_kᵀΣ⁻¹μ_k + log π_k

with a covariance for each class the boundaries are quadrics.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, RefusedError, did_you_mean
from ingenuo.families.covariance import FULL, SHARED, ScatterFamily, variances_towards_their_mean
from ingenuo.families.gaussian import Gaussian, GaussianParameters
from ingenuo.kernels import densities
from ingenuo.kernels.scatter import add_lines
from ingenuo.models import model
from ingenuo.models.classifier import Classifier, Parameters
from ingenuo.models.model import CLASS, check_is_fitted
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Numbers
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import Source
from ingenuo.show.arithmetic import logs
from ingenuo.show.plots import curves, regions
from ingenuo.tally.labels import Labels, find, labels_of, objects
from ingenuo.tally.prior import MaximumLikelihood, Prior


def schema_of_numbers(source: Source, family: str, model: str) -> Schema:
    """A schema of this family for every column; a column that holds no numbers is named."""
    uniform = source.uniform()
    why: dict[Any, str] = {}
    families = np.full(len(source.names), list(FAMILIES).index(family), np.int8)
    for place, name in enumerate(source.names.tolist()):
        kind, reason = uniform or source.guess(place)
        if kind in ("category", "text") and reason != "true or false":
            if any(odd in reason for odd in ("dict", "list", "tuple", "set")):
                raise KindError(
                    f"column {column_name(name)!r} has {reason}: the argument must be a string or a number, and for "
                    f"{model} a number"
                )
            raise InputError(
                f"column {column_name(name)!r} is no number ({reason}), and {model} needs numbers; set it aside, code "
                "it (a column of 0 and 1 for each value), or take NaiveBayes, which reads both"
            )
        if kind == "ignore":
            families[place] = list(FAMILIES).index("ignore")
        why[name] = reason
    return Schema(source.names, families, why)


Floats = NDArray[np.float64]

_FAMILIES = {"shared": SHARED, "full": FULL, "diagonal": "gaussian"}


class _Estimated(Parameters):
    """The parameters, and how far the covariances were shrunk."""

    shrinkage: Floats


class GaussianDiscriminant(Classifier):
    """Linear and quadratic discriminant analysis that learns, forgets and merges.

    Parameters
    ----------
    covariance : {"shared", "full", "diagonal"}
        One covariance for all classes (the boundaries are lines and planes), one for each class (they are
        quadrics), or variances only, for each class (naive Bayes with Gaussians).
    shrinkage : None, "auto" or float
        From 0 (the estimated covariance) to 1 (its mean variance for every column and no correlation):
        (1 - a) Σ + a tr(Σ)/d · I. "auto" is the oracle approximating shrinkage, which needs only the tally; of
        variances on their own ("diagonal") it is the one of least expected squared error.
    class_prior : Prior or mapping
        Imaginary rows of each class; or, as a mapping, the probability of each class.
    unbiased : bool
        Divide the scatter by N less the number of means, in place of N (maximum likelihood).

    Attributes
    ----------
    means_ : array (classes, columns)
    covariance_ : array
        (columns, columns) if shared, (classes, columns, columns) if full, (classes, columns) if diagonal.
    shrinkage_ : float, or array (classes,)
        How far the covariance was shrunk.
    priors_ : array (classes,)
    coef_, intercept_ : arrays
        The lines; of two classes the one line of the sigmoid, as in scikit-learn. With one covariance for all.
    tally_, schema_, classes_
        As in `NaiveBayes`.

    Notes
    -----
    A row with a missing value counts for its class, and is left out of means and covariances; where a value is
    missing in a prediction it is integrated out. Counts, sums and sums of products are exact, so that learning in
    parts, in any order, merging and forgetting give the model of one fit, to the last bit.

    Examples
    --------
    >>> X = [[1.0, 2.0], [2.0, 1.0], [2.0, 3.0], [6.0, 5.0], [7.0, 7.0], [8.0, 6.0]]
    >>> model = GaussianDiscriminant().fit(X, ["near", "near", "near", "far", "far", "far"])
    >>> model.predict([[3, 3], [6, 6]]).tolist()
    ['near', 'far']
    >>> print(model.discriminant())
    log P(near | x) / P(far | x) = 59.86 - 10.76·x0 - 3.31·x1
    near where it is positive, far where it is negative
    """

    _fixed = ("covariance",)
    _free = ("shrinkage", "class_prior", "unbiased")

    def __init__(
        self,
        covariance: str = "shared",
        shrinkage: str | float | None = None,
        class_prior: Prior | Mapping[Any, float] = MaximumLikelihood(),  # noqa: B008 (immutable)
        unbiased: bool = False,
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.class_prior = class_prior
        self.unbiased = unbiased

    def _check_classes(self, classes: Labels) -> None:
        checks.refuse_one_class(classes, type(self).__name__)

    def _check_settings(self) -> None:
        if not isinstance(self.covariance, str):
            raise KindError(f"covariance must be one of {', '.join(_FAMILIES)}, got {self.covariance!r}")
        if self.covariance not in _FAMILIES:
            raise InputError(f"covariance={self.covariance!r} is not known{did_you_mean(self.covariance, _FAMILIES)}")
        amount = self.shrinkage
        if isinstance(amount, str):
            if amount != "auto":
                raise InputError(f"shrinkage={amount!r} is not known; take None, 'auto', or a number from 0 to 1")
        elif amount is not None:
            if isinstance(amount, bool) or not isinstance(amount, int | float | np.number):
                raise KindError(f"shrinkage must be None, 'auto' or a number, got {type(amount).__name__} {amount!r}")
            if not 0 <= amount <= 1:
                raise InputError(f"shrinkage is {amount!r}; it goes from 0 (none) to 1 (no covariance is left)")
        if not isinstance(self.unbiased, bool | np.bool_):
            raise KindError(f"unbiased must be True or False, got {self.unbiased!r}")
        model.check_class_prior(self.class_prior)

    def _schema_of(self, source: Source) -> Schema:
        return schema_of_numbers(source, _FAMILIES[self.covariance], type(self).__name__)

    @property
    def _family(self) -> str:
        return _FAMILIES[self.covariance]

    def _estimate(self) -> Parameters:
        classes = labels_of(self.classes_)
        rows = self.tally_.over(CLASS, classes).floats()
        shares, prior = model.share_classes(self.class_prior, rows, classes)
        columns = self.schema_.columns(self._family)
        own: Any
        given = self.tally_, MaximumLikelihood(), self.schema_, columns, classes
        if self.covariance == "diagonal":
            own, amounts = _shrunk(Gaussian(bool(self.unbiased)).estimate(*given), self.shrinkage)
        else:
            family = ScatterFamily(pooled=self.covariance == "shared")
            own = family.estimate(*given, shrinkage=self.shrinkage, unbiased=bool(self.unbiased))
            amounts = own.shrinkage
            for remark in own.remarks:
                warnings.warn(remark, stacklevel=5)
        found = _Estimated.of_one(classes, logs(shares), prior, columns, self._family, own)
        found.shrinkage = amounts
        return found

    def _gaussians(self) -> Any:
        check_is_fitted(self)
        return self._parameters().own

    @property
    def means_(self) -> Floats:
        """The mean of each class and column."""
        return np.asarray(self._gaussians().means)

    @property
    def covariance_(self) -> Floats:
        """The covariance that is used: shrunk, and mended where it was singular."""
        found = self._gaussians()
        if isinstance(found, GaussianParameters):
            return np.asarray(found.deviations**2)
        return np.asarray(found.covariances[0] if self.covariance == "shared" else found.covariances)

    @property
    def shrinkage_(self) -> Any:
        """How far the covariance (of each class) was shrunk."""
        check_is_fitted(self)
        parameters = self._parameters()
        assert isinstance(parameters, _Estimated)
        return float(parameters.shrinkage[0]) if self.covariance == "shared" else parameters.shrinkage

    @property
    def priors_(self) -> Floats:
        """The prior of each class."""
        check_is_fitted(self)
        return np.asarray(np.exp(self._parameters().log_prior))

    def _lines(self) -> tuple[Floats, Floats]:
        """w_k = Σ⁻¹μ_k and b_k = -½ μ_kᵀΣ⁻¹μ_k + log π_k; of two classes, the second less the first."""
        if self.covariance != "shared":
            raise RefusedError(
                f"with covariance={self.covariance!r} the boundary is no line and has no coef_ or intercept_; take "
                "covariance='shared', or decision_function"
            )
        found = self._gaussians()
        log_prior = self._parameters().log_prior
        weights, constants = found.lines()
        root = found.roots[0]
        if len(weights) == 2:  # about the centre, so that a large offset costs no digits
            w = weights[1] - weights[0]
            b = constants[1] - constants[0] - w @ found.centre + _difference(log_prior)
            return w[np.newaxis], np.array([b])
        placed = found.means @ root
        return placed @ root.T, -0.5 * (placed**2).sum(axis=1) + log_prior

    @property
    def coef_(self) -> Floats:
        """The weights of the lines: (1, columns) for two classes, else (classes, columns)."""
        return self._lines()[0]

    @property
    def intercept_(self) -> Floats:
        """The constants of the lines."""
        return self._lines()[1]

    def _scores(self, found: dict[str, Block], n_rows: int) -> Floats:
        parameters = self._parameters()
        if self.covariance != "shared":
            return self._joint(found, n_rows)
        scores = densities.repeated(parameters.log_prior, n_rows)
        block = found[self._family]
        assert isinstance(block, Numbers)
        ScatterFamily().scores(parameters.own, block, scores)
        return scores

    def decision_function(self, X: Any) -> Floats:
        """For two classes the log odds of the second, else a value for each class: the largest wins.

        With one covariance for all, the values are those of the lines; else the log joints.
        """
        found, n_rows = self._rows(X)
        if len(self.classes_) == 2 or self.covariance != "shared":
            scores = self._scores(found, n_rows)
            return np.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores
        block = found[self._family]
        assert isinstance(block, Numbers)
        weights, constants = self._lines()
        lines = np.zeros((n_rows, len(constants)))
        holes, infinite = add_lines(block, np.zeros(len(weights.T)), weights, constants, lines)
        block.refuse_infinite(infinite)
        if len(holes):
            lines[holes] = self._scores(found, n_rows)[holes]
        return lines

    def discriminant(self, digits: int = 4) -> str:
        """The lines as text: where two classes are equally probable, the value shown is zero."""
        weights, constants = self._lines()
        names = [column_name(name) for name in self.schema_.names.tolist()]
        lines = [_line(b, w, names, digits) for w, b in zip(weights, constants)]
        classes = labels_of(self.classes_).tolist()
        if len(classes) == 2:
            a, b = classes
            return f"log P({b} | x) / P({a} | x) = {lines[0]}\n{b} where it is positive, {a} where it is negative"
        return "\n".join(f"{name}: {line}" for name, line in zip(classes, lines)) + "\nthe largest wins"

    _ellipses = True

    def _drawn(self) -> tuple[Floats, Floats]:
        """The mean and the covariance of each class."""
        found = self._gaussians()
        if isinstance(found, GaussianParameters):
            return found.means, found.deviations[:, np.newaxis] ** 2 * np.eye(len(found.columns))
        return found.means, np.resize(found.covariances, (len(found.means), *found.covariances.shape[1:]))

    def plot(self, X: Any = None, y: Any = None, columns: Any = None, ax: Any = None) -> Any:
        """Draw the regions of the classes in two columns, their boundary, and the rows that are given.

        Parameters
        ----------
        X, y : optional
            Rows to draw as points, and their classes; y may be the name of a column of X.
        columns : pair, optional
            The two columns to draw; by default the first two. The others are integrated out.
        ax : optional
            Axes of matplotlib; by default those of a new figure.

        Returns
        -------
        Axes, with the figure as `.figure`.
        """
        return plotted(self, X, y, columns, ax)


def _difference(log_prior: Floats) -> float:
    with np.errstate(invalid="ignore"):
        return float(log_prior[1] - log_prior[0])


def _line(constant: float, weights: Floats, names: list[str], digits: int) -> str:
    terms = [f"{constant:.{digits}g}"]
    terms += [f"{'-' if w < 0 else '+'} {abs(w):.{digits}g}·{name}" for w, name in zip(weights, names) if w]
    return " ".join(terms)


def _shrunk(found: GaussianParameters, shrinkage: Any) -> tuple[GaussianParameters, Floats]:
    """Variances of their own, shrunk towards their mean in each class."""
    amounts = np.zeros(len(found.means))
    if shrinkage is None:
        return found, amounts
    variances = found.deviations**2
    for k, (each, n) in enumerate(zip(variances, found.counts)):
        amounts[k] = (
            variances_towards_their_mean(each, max(float(n.mean()), 1.0)) if shrinkage == "auto" else float(shrinkage)
        )
        variances[k] = (1 - amounts[k]) * each + amounts[k] * each.mean()
    return replace(found, deviations=np.sqrt(variances)), amounts


# From a fitted model of numbers to the picture of its regions.


def plotted(model: Any, X: Any, y: Any, columns: Any, ax: Any) -> Any:
    """The regions in two columns (the others are left out of the answers), or the curves over the only one."""
    check_is_fitted(model)
    means, covariances = model._drawn()
    schema: Schema = model.schema_
    classes = labels_of(model.classes_)
    places = _places(schema, columns)
    points = None
    if X is not None:
        if y is None:
            raise InputError("X was given to draw, but not y; give the class of each row, or neither")
        X, y = checks.target_column(X, y)
        block = next(iter(model._rows(X)[0].values()))
        rows = block.rows(0, block.n_rows)
        codes, own = checks.labels(model, y, len(rows))
        points = rows[:, places], np.asarray(find(classes, own)[codes], np.intp)
    ranges = _ranges(None if points is None else points[0], means[:, places], covariances[:, places][:, :, places])

    def values(some: Floats) -> Floats:
        grid = np.full((len(some), len(schema)), np.nan)
        grid[:, places] = some
        return np.asarray(model.predict_proba(_table(grid, schema)))

    names = [column_name(name) for name in schema.names[places].tolist()]
    if len(places) == 1:
        ticks, known = points or (ranges.T, np.full(2, -1))  # without rows, no tick at the foot
        shown = objects([classes.tolist()[k] if k >= 0 else None for k in known.tolist()])
        return curves({type(model).__name__: values}, ticks, shown, classes, names[0], axes=ax and [ax])[0]
    square = np.ix_(places, places)
    ellipses = [(mean[places], own[square]) for mean, own in zip(means, covariances)] if model._ellipses else None
    return regions(values, classes, (names[0], names[1]), ranges, points, ellipses, ax)


def _places(schema: Schema, columns: Any) -> NDArray[np.intp]:
    names = [column_name(name) for name in schema.names.tolist()]
    if columns is None:
        return np.arange(min(2, len(names)))
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise KindError(f"columns must be two columns, as in columns=({names[0]!r}, {names[-1]!r}), got {columns!r}")
    if len(columns) != 2 or columns[0] == columns[1]:
        raise InputError(f"a picture has two different columns, got {list(columns)!r}")
    found = []
    for column in columns:
        place = column_name(column)
        if place not in names:
            raise InputError(f"there is no column {column!r} to draw{did_you_mean(column, names)}")
        found.append(names.index(place))
    return np.array(found, np.intp)


def _ranges(points: Floats | None, means: Floats, covariances: Floats) -> Floats:
    """From where to where each column is drawn: over all points, else three deviations about the means."""
    if points is not None and np.isfinite(points).any(axis=0).all():
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
        margin = 0.06 * np.where(high > low, high - low, 1.0)
    else:
        deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
        low, high = (means - 3 * deviations).min(axis=0), (means + 3 * deviations).max(axis=0)
        margin = np.where(high > low, 0.0, 1.0)
    return np.stack([low - margin, high + margin], axis=1)


def _table(grid: Floats, schema: Schema) -> Any:
    if not schema.named:
        return grid
    import pyarrow as pa

    return pa.table({str(name): grid[:, j] for j, name in enumerate(schema.names.tolist())})
