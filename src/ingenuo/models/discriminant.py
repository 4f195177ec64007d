"""Classifiers from sums of products of numbers: discriminants by a Gaussian for each class, and least squares.

With one covariance Σ for all classes the posterior of a discriminant is a softmax of lines,

    p(k | x) ∝ exp(w_k·x + b_k)        w_k = Σ⁻¹μ_k        b_k = -½ μ_kᵀΣ⁻¹μ_k + log π_k

A regularised discriminant reads categories and incomplete rows as well, by features that are made of the columns. How
far the covariances are shrunk is chosen by rows that were left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, RefusedError, check_choice, did_you_mean
from ingenuo.families.covariance import FULL, SHARED, Lines, ScatterFamily, moments_of, variances_towards_their_mean
from ingenuo.families.gaussian import Gaussian, GaussianParameters
from ingenuo.kernels import densities, portable
from ingenuo.language import say
from ingenuo.models.class_prior import class_prior_of, share_classes
from ingenuo.models.classifier import Classifier, Parameters, table_of
from ingenuo.models.model import CLASS, check_is_fitted
from ingenuo.models.regularised import FeatureClassifier, sheet_lines
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Numbers
from ingenuo.rows.schema import FAMILIES, Schema, column_name, family_of
from ingenuo.rows.source import Source, places_of
from ingenuo.show.arithmetic import Factor, SumExplanation, Term, difference, logs
from ingenuo.show.plots import curves, regions
from ingenuo.tally.labels import Labels, find, labels_of, objects
from ingenuo.tally.prior import MaximumLikelihood, Prior

Floats = NDArray[np.float64]

REGULARISED = "regularised"
_FAMILIES = {"shared": SHARED, "full": FULL, "diagonal": "gaussian", REGULARISED: FULL}


class RegionPlot:
    """Mix-in: the picture of the regions of a model of numbers."""

    _ellipses: ClassVar[bool] = False  # whether the Gaussians of the classes are drawn

    def _centres(self) -> tuple[Floats, Floats]:
        """Means and covariances of the classes, or of all rows: what a picture without rows shows."""
        raise NotImplementedError

    def plot(self, X: Any = None, y: Any = None, columns: Any = None, ax: Any = None) -> Any:
        """Draw the regions of the classes in two columns, or their probabilities over the only one.

        Parameters
        ----------
        X, y : optional
            Rows to draw as points, and their classes; y may be the name of a column of X.
        columns : pair, optional
            The two columns to draw; by default the first two. The others count as missing.
        ax : optional
            Axes of matplotlib; by default those of a new figure.

        Returns
        -------
        Axes, with the figure as `.figure`.
        """
        model: Any = self
        check_is_fitted(model)
        means, covariances = self._centres()
        schema: Schema = model.schema_
        classes, places = labels_of(model.classes_), _find_places(schema, columns)
        points = None
        if X is not None:
            if y is None:
                raise InputError("X was given to draw, but not y; give the class of each row, or neither")
            X, y = checks.target_column(X, y)
            block = next(iter(model._rows(X)[0].values()))
            rows = block.rows(0, block.n_rows)
            codes, own = checks.labels(model, y, len(rows))
            points = rows[:, places], np.asarray(find(classes, own)[codes], np.intp)
        means, covariances = means[:, places], covariances[:, places][:, :, places]
        ranges = _ranges(None if points is None else points[0], means, covariances)
        named = [column_name(name) for name in schema.names.tolist()]

        def values(some: Floats) -> Floats:
            grid: Any = np.full((len(some), len(schema)), np.nan)
            grid[:, places] = some
            if schema.named:
                import pyarrow as pa

                grid = pa.table(dict(zip(map(str, schema.names), grid.T)))
            return np.asarray(model.predict_proba(grid))

        names = [named[place] for place in places]
        if len(places) == 1:
            ticks, known = points or (ranges.T, np.full(2, -1))  # without rows, no tick at the foot
            shown = objects([classes.tolist()[k] if k >= 0 else None for k in known.tolist()])
            return curves({type(self).__name__: values}, ticks, shown, classes, names[0], axes=ax and [ax])[0]
        ellipses = list(zip(means, covariances)) if self._ellipses else None
        return regions(values, classes, (names[0], names[1]), ranges, points, ellipses, ax)


def _find_places(schema: Schema, columns: Any) -> list[int]:
    names = [column_name(name) for name in schema.names.tolist()]
    if columns is None:
        return list(range(min(2, len(names))))
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise KindError(f"columns must be two columns, as in columns=({names[0]!r}, {names[-1]!r}), got {columns!r}")
    if len(columns) != 2 or columns[0] == columns[1]:
        raise InputError(f"a picture has two different columns, got {list(columns)!r}")
    for column in columns:
        if column_name(column) not in names:
            raise InputError(f"there is no column {column!r} to draw{did_you_mean(column, names)}")
    return [names.index(column_name(column)) for column in columns]


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


class LinearModel:
    """Mix-in: a model whose classes are compared by lines, which it can write out."""

    _compares: ClassVar[str] = "log P({} | x) / P({} | x)"  # what the difference of two lines is

    def _line_names(self) -> list[str]:
        """The name of each feature."""
        return [column_name(name) for name in self.schema_.names.tolist()]  # type: ignore[attr-defined]

    def discriminant(self, a: Any = None, b: Any = None, digits: int = 4, most: int | None = None) -> str:
        """The lines as text: w·x + b, which is 0 where two classes are equally probable.

        Parameters
        ----------
        a, b : optional
            The two classes to tell apart. By default the second and the first of two; of more, the line of each class.
        digits : int
            How many digits of each number.
        most : int, optional
            How many features to show, those with the largest weights; by default all.
        """
        model: Any = self
        check_is_fitted(model)
        checks.check_whole("digits", digits, 1)
        if most is not None:
            checks.check_whole("most", most, 1)
        weights, constants = np.asarray(model.coef_), np.asarray(model.intercept_)
        classes, names = labels_of(model.classes_).tolist(), self._line_names()
        if a is None and b is None:
            if len(classes) > 2:
                lines = [_line(b, w, names, digits, most) for w, b in zip(weights, constants)]
                return "\n".join(f"{name}: {line}" for name, line in zip(classes, lines)) + "\nthe largest wins"
            b, a = classes
        for each in (a, b):
            if each not in classes:
                raise InputError(f"there is no class {each!r} to draw a line for{did_you_mean(each, classes)}")
        i, j = classes.index(a), classes.index(b)
        if i == j:
            raise InputError(f"a line lies between two classes, and {a!r} was given twice")
        if len(weights) == 1:
            w, constant = (weights[0], constants[0]) if i else (-weights[0], -constants[0])
        else:
            w, constant = weights[i] - weights[j], constants[i] - constants[j]
        line = _line(constant, w, names, digits, most)
        return f"{self._compares.format(a, b)} = {line}\n{a} where it is positive, {b} where it is negative"


class NumbersClassifier(RegionPlot, Classifier):
    """A classifier that reads numbers only, of two classes at least."""

    @property
    def _family(self) -> str:
        return SHARED

    def _check_classes(self, classes: Labels) -> None:
        checks.refuse_one_class(classes, type(self).__name__)

    def _schema_of(self, source: Source) -> Schema:
        """All columns are of the one family; one that holds no numbers is named."""
        model, uniform = type(self).__name__, source.uniform()
        declared = places_of(getattr(self, "columns", None) or {}, source)
        why: dict[Any, str] = {}
        families = np.full(len(source.names), list(FAMILIES).index(self._family), np.int8)
        for place, name in enumerate(source.names.tolist()):
            kind, reason = uniform or source.guess(place)
            if place in declared:
                given, reason = declared[place], "declared"
                kind = FAMILIES[family_of(given, name)] if isinstance(given, str) else "category"
            why[name], called = reason, f"column {column_name(name)!r}"
            if kind in ("category", "text") and reason != "true or false":
                if any(odd in reason for odd in ("dict", "list", "tuple", "set")):  # in words that scikit-learn expects
                    raise KindError(f"{called} has {reason}: the argument must be a string or a number")
                raise InputError(
                    f"{called} is no number ({reason}), and {model} needs numbers; set it aside, code it (a column of "
                    "0 and 1 for each value), or take NaiveBayes, which reads both"
                )
            if kind == "ignore":
                families[place] = list(FAMILIES).index("ignore")
        return Schema(source.names, families, why)


@dataclass(eq=False, repr=False)
class GaussianDiscriminant(LinearModel, FeatureClassifier, NumbersClassifier):
    """Linear and quadratic discriminant analysis that learns, forgets and merges.

    Parameters
    ----------
    covariance : {"shared", "full", "diagonal", "regularised"}
        One covariance for all classes (the boundaries are lines and planes), one for each class (they are
        quadrics), variances only, for each class (naive Bayes with Gaussians), or what left-out rows choose between
        these, which reads categories and incomplete rows as well.
    shrinkage : None, "auto" or float
        From 0 (the estimated covariance) to 1 (its mean variance for every column and no correlation):
        (1 - a) Σ + a tr(Σ)/d · I. "auto" is the oracle approximating shrinkage, which needs only the tally; of
        variances on their own ("diagonal") it is the one of least expected squared error. "regularised" chooses its
        own, and has neither.
    class_prior : Prior, mapping or "uniform"
        Imaginary rows of each class; or, as a mapping, the probability of each class.
    unbiased : bool
        Divide the scatter by N less the number of means, in place of N (maximum likelihood).
    columns : mapping, optional
        Column to "number" or "ignore"; of "regularised" to any kind but text, as in `NaiveBayes`.

    Attributes
    ----------
    shrinkage_
        How far the covariance (of each class) was shrunk; of "regularised" a `Shrinkage`, to all classes and to the
        diagonal.
    scores_, temperature_
        Of "regularised": whether numbers are "standardised" or "normal scores", and what log joints are multiplied by.

    Notes
    -----
    A row with a missing value counts for its class, and is left out of means and covariances; where a value is
    missing in a prediction it is integrated out. Of "regularised" it is in both, with a feature that says what is
    missing. Counts, sums and sums of products are exact, so that learning in parts, in any order, merging and
    forgetting give the model of one fit, to the last bit. The features, the shrinkage and the temperature of
    "regularised" are found by the first rows and then stay.

    Examples
    --------
    >>> X = [[1.0, 2.0], [2.0, 1.0], [2.0, 3.0], [6.0, 5.0], [7.0, 7.0], [8.0, 6.0]]
    >>> model = GaussianDiscriminant().fit(X, ["near", "near", "near", "far", "far", "far"])
    >>> model.predict([[3, 3], [6, 6]]).tolist()
    ['near', 'far']
    >>> print(model.discriminant())
    log P(near | x) / P(far | x) = 59.86 - 10.76·x0 - 3.31·x1
    near where it is positive, far where it is negative

    >>> from ingenuo.datasets import weather
    >>> model = GaussianDiscriminant("regularised").fit(weather(), "play")
    >>> model.predict([{"outlook": "overcast", "temperature": 70, "humidity": 65, "windy": False}]).tolist()
    ['yes']
    """

    _fixed = ("covariance", "columns")
    _free = ("shrinkage", "class_prior", "unbiased")

    covariance: str = "shared"
    shrinkage: str | float | None = None
    class_prior: Prior | Mapping[Any, float] | str = MaximumLikelihood()  # noqa: RUF009 (immutable)
    unbiased: bool = False
    columns: Mapping[Any, Any] | None = None

    @classmethod
    def from_parameters(
        cls,
        means: Any,
        covariance: Any,
        priors: Any = None,
        *,
        classes: Any = None,
        columns: Any = None,
        rows: float = 1.0,
    ) -> Self:
        """A model by its means, covariance and priors, as a book has them.

        Parameters
        ----------
        means : array of classes × columns
            The mean of each class.
        covariance : array of columns × columns, or classes × columns × columns
            One covariance for all classes, or one for each.
        priors : array of classes, optional
            The prior of each class; by default equal.
        classes, columns : optional
            The names of the classes and of the columns; by default they are counted from 0.
        rows : float
            How many rows the parameters count as, beside those that `partial_fit` adds later.

        Notes
        -----
        The model is that of imaginary rows: of d columns, two for each of the d axes of a class's covariance,
        μ ± √(dλ) v, which have just that mean and that covariance.

        Examples
        --------
        >>> model = GaussianDiscriminant.from_parameters([[0, 0], [2, 0]], [[1, 0], [0, 1]], [0.5, 0.5])
        >>> print(model.discriminant(1, 0))
        log P(1 | x) / P(0 | x) = -2 + 2·x0
        1 where it is positive, 0 where it is negative
        """
        mu, sigma = (np.asarray(each, np.float64) for each in (means, covariance))
        if mu.ndim != 2 or len(mu) < 2 or not mu.size or sigma.shape not in ((k := mu.shape[1], k), (len(mu), k, k)):
            raise InputError(
                f"means of shape {mu.shape} and a covariance of shape {sigma.shape} do not fit; give means of two "
                "classes at least × columns, and columns × columns (or classes × columns × columns)"
            )
        n_classes, d = mu.shape
        shares = np.full(n_classes, 1 / n_classes) if priors is None else np.asarray(priors, np.float64)
        if shares.shape != (n_classes,) or not (shares > 0).all() or abs(float(shares.sum()) - 1) > 1e-9:
            raise InputError(f"the priors are {priors!r}; give one above 0 for each of {n_classes} classes, 1 in all")
        checks.check_number("rows", rows, above=True)
        every = np.broadcast_to(sigma, (n_classes, d, d))
        finite = np.isfinite(mu).all() and np.isfinite(sigma).all()
        if not finite or not np.allclose(every, every.transpose(0, 2, 1), rtol=1e-9, atol=0):
            raise InputError("means and covariance must be finite, and the covariance symmetric")
        values, vectors = np.linalg.eigh(every)
        if (values < -1e-9 * np.abs(values).max(axis=1, keepdims=True)).any():
            raise InputError(f"the covariance has a negative variance ({values.min():.6g}) along an axis of its own")
        steps = vectors.transpose(0, 2, 1) * np.sqrt(d * np.maximum(values, 0))[:, :, np.newaxis]
        X = (mu[:, np.newaxis] + np.concatenate([steps, -steps], axis=1)).reshape(-1, d)
        names = list(range(n_classes)) if classes is None else list(classes)
        if len(names) != n_classes or (columns is not None and len(columns) != d):
            raise InputError(f"{n_classes} classes and {d} columns need as many names")
        if len(set(names)) < n_classes:
            raise InputError(f"the classes {names!r} are not all different")
        table = X if columns is None else table_of(dict(zip(columns, X.T)), list(columns), named=True)
        y = [name for name in names for _ in range(2 * d)]
        return cls("shared" if sigma.ndim == 2 else "full").fit(table, y, np.repeat(rows * shares / (2 * d), 2 * d))

    def _check_settings(self) -> None:
        check_choice("covariance", self.covariance, _FAMILIES)
        if isinstance(self.shrinkage, str) and self.shrinkage != "auto":
            raise InputError(f"shrinkage={self.shrinkage!r} is not known; take None, 'auto', or a number from 0 to 1")
        if self.shrinkage not in (None, "auto"):
            checks.check_number("shrinkage", self.shrinkage, most=1.0)
        if self.shrinkage is not None and self.covariance == REGULARISED:
            raise InputError(
                f"shrinkage={self.shrinkage!r} does not go with covariance='regularised', which chooses its own by "
                "left-out rows; take shrinkage=None"
            )
        if self.columns is not None and not isinstance(self.columns, Mapping):
            raise KindError(f"columns must be a mapping from column to kind, got {type(self.columns).__name__}")
        checks.check_flag("unbiased", self.unbiased)
        class_prior_of(self.class_prior)

    @property
    def _family(self) -> str:
        return _FAMILIES[self.covariance]

    @property
    def _makes_features(self) -> bool:
        return self.covariance == REGULARISED

    def _declared_columns(self) -> Collection[Any]:
        return self.columns or {}

    def _estimate(self) -> Parameters:
        classes = labels_of(self.classes_)
        rows = self.tally_.over(CLASS, classes).floats()
        shares, prior = share_classes(self.class_prior, rows, classes)
        columns = self.schema_.columns(self._family)
        own: Any
        amounts: Any
        given = self.tally_, MaximumLikelihood(), self.schema_, columns, classes
        if self._chosen is not None:
            own = self._chosen.estimate(self.tally_, classes, unbiased=bool(self.unbiased))
            columns, amounts = own.columns, self._chosen.shrinkage
        elif self.covariance == "diagonal":
            own, amounts = _shrink(Gaussian(bool(self.unbiased)).estimate(*given), self.shrinkage)
        else:
            family = ScatterFamily(pooled=self.covariance == "shared")
            own = family.estimate(*given, shrinkage=self.shrinkage, unbiased=bool(self.unbiased))
            amounts = own.shrinkage
            for remark in own.remarks:
                warnings.warn(remark, stacklevel=5)
        found = Parameters.of_one(classes, logs(shares), prior, columns, self._family, own)
        found.families["shrinkage"] = amounts
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
        """The covariance that is used: shrunk, and made regular where it was singular.

        (columns, columns) if shared, (classes, columns, columns) if full, (classes, columns) if diagonal.
        """
        return np.asarray(self._gaussians().covariance)

    @property
    def shrinkage_(self) -> Any:
        """How far the covariance (of each class) was shrunk."""
        check_is_fitted(self)
        amounts = self._parameters().families["shrinkage"]
        return float(amounts[0]) if self.covariance == "shared" else amounts

    @property
    def scores_(self) -> str:
        """Of a regularised one: what numbers are, "standardised" or "normal scores"."""
        return "normal scores" if self._features().design.has_scores else "standardised"

    @property
    def temperature_(self) -> float:
        """Of a regularised one: what the log joints are multiplied by, so that left-out rows are answered best."""
        return self._features().temperature

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
        weights, constants = found.lines
        root = found.roots[0]
        if len(weights) == 2:  # about the centre, so that a large offset costs no digits
            w = weights[1] - weights[0]
            with np.errstate(invalid="ignore"):
                b = constants[1] - constants[0] - w @ found.centre + (log_prior[1] - log_prior[0])
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
        own = self._parameters().own
        if self.covariance == "diagonal" or not own.additive:
            return self._joint(found, n_rows)
        if self._chosen is not None:
            return self._tempered(own.add_scores, found, n_rows)
        scores = densities.repeat_row(self._parameters().log_prior, n_rows)
        own.add_scores(found[self._family], scores)
        return scores

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it: of one covariance for all classes by lines."""
        found = super().sheet_scorer()
        if self.covariance != "shared":
            return found
        (term,) = found["terms"]
        lines = {"lines": sheet_lines(self._parameters().own), "design": None, "temperature": None}
        return {"op": "discriminant", "start": found["start"], "term": term, **lines}

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
        missing = densities.add_lines(block, np.zeros(len(weights.T)), weights, constants, lines)
        if len(missing):
            lines[missing] = self._scores(found, n_rows)[missing]
        return lines

    _ellipses = True

    def _centres(self) -> tuple[Floats, Floats]:
        found = self._gaussians()
        if self._makes_features:
            raise RefusedError(
                "a regularised discriminant has no picture of its regions: it reads features, which are "
                "no columns; take covariance='full'"
            )
        return found.means, found.class_covariances


def _line(constant: float, weights: Floats, names: list[str], digits: int, most: int | None) -> str:
    shown = np.flatnonzero(weights)
    if most is not None and len(shown) > most:
        shown = np.sort(shown[np.argsort(-np.abs(weights[shown]), kind="stable")[:most]])
    terms = [f"{constant:.{digits}g}"]
    terms += [f"{'-' if weights[j] < 0 else '+'} {abs(weights[j]):.{digits}g}·{names[j]}" for j in shown.tolist()]
    rest = np.count_nonzero(weights) - len(shown)
    return " ".join([*terms, *([f"+ {rest:,} terms of smaller weight"] if rest else [])])


def _shrink(found: GaussianParameters, shrinkage: Any) -> tuple[GaussianParameters, Floats]:
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


@dataclass(eq=False, repr=False)
class LeastSquaresClassifier(LinearModel, NumbersClassifier):
    """Linear regression on one-hot targets that learns, forgets and merges: its normal equations are sums.

    The answer is argmax_k f_k(x), with f_k the least-squares line through 1 on the rows of class k and 0 on the others.
    Of three classes in a row the middle one's line is nearly flat, and never the largest: it is masked by the outer
    two. `GaussianDiscriminant` learns from the same sums and does not fail there.

    Parameters
    ----------
    l2 : float
        The penalty λ of λ Σ w² on the weights, not on the constants.

    Notes
    -----
    The f_k of any x sum to 1, but may be below 0 or above 1. `predict_proba` sets what is below 0 to 0 and divides by
    the sum; these are no posteriors of any model. A row with a missing value is left out in learning, and answered by
    the least squares on the columns it has. Singular normal equations have the solution of least norm. Learning in
    parts, merging and forgetting give the model of one fit, to the last bit.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> model = LeastSquaresClassifier().fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.predict([[4], [6]]).tolist()
    ['low', 'high']
    >>> round(model.brier_, 4), round(model.brier_score(X, ["low"] * 3 + ["high"] * 3), 4)
    (0.0345, 0.0345)
    """

    _free = ("l2",)
    _compares = "f({}) - f({})"

    l2: float = 0.0

    def _check_settings(self) -> None:
        checks.check_number("l2", self.l2)

    def _estimate(self) -> Parameters:
        classes = labels_of(self.classes_)
        found = Lines.of(moments_of(self.tally_, self.schema_.columns(SHARED), classes), float(self.l2))
        if found.remark:
            warnings.warn(found.remark, stacklevel=5)
        rows = self.tally_.over(CLASS, classes).floats()
        return Parameters(classes, logs(rows / rows.sum()), {SHARED: found}, ())

    @property
    def n_parameters_(self) -> int:
        """How many numbers were estimated: the line of each class but one, which follows as they sum to 1."""
        return (len(self.classes_) - 1) * (len(self.coef_[0]) + 1)

    def _found(self) -> Lines:
        check_is_fitted(self)
        return self._parameters().families[SHARED]  # type: ignore[no-any-return]

    @property
    def coef_(self) -> Floats:
        """The weights of each class's line."""
        return self._found().weights

    @property
    def intercept_(self) -> Floats:
        """The constant of each class's line."""
        found = self._found()
        return np.asarray(found.shares - found.weights @ found.centre)

    @property
    def brier_(self) -> float:
        """The mean of Σ_k (f_k - y_k)² over the complete rows learned, from the tally alone."""
        return self._found().brier

    def _scores(self, found: dict[str, Block], n_rows: int) -> Floats:
        lines, block = self._found(), found[SHARED]
        assert isinstance(block, Numbers)
        scores = np.zeros((n_rows, len(lines.shares)))
        lines.add_to(block, scores)
        # Beyond the doubles a line is as far as it can be: its sign is what is left of it.
        return np.nan_to_num(scores, nan=0.0, posinf=1e300, neginf=-1e300)

    def _posterior(
        self, found: dict[str, Block], n_rows: int, *, log: bool = False, scores: Floats | None = None
    ) -> Floats:
        shares = np.maximum(self._scores(found, n_rows), 0.0)
        total = portable.total(shares)[:, np.newaxis]
        np.divide(shares, total, out=shares, where=total > 0)
        if not (total > 0).all():  # all are beyond the doubles
            shares[total[:, 0] == 0] = self._found().shares
        return logs(shares) if log else shares

    def answer_row(self, row: Any) -> tuple[Floats, Floats]:
        """The lines at one row, and what `predict_proba` makes of them."""
        found = self._open_row(row)
        return self._scores(found, 1)[0], self._posterior(found, 1)[0]

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it."""
        return self._found().sheet_node()

    def decision_function(self, X: Any) -> Floats:
        """f_k of each row and class; of two classes f_2 - f_1, which is 2 f_2 - 1."""
        scores = self._scores(*self._rows(X))
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def brier_score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The mean of Σ_k (f_k - y_k)² over some rows: 0 at best; of the lines as they are, not of `predict_proba`."""
        check_is_fitted(self)
        X, y = checks.target_column(X, y)
        scores = self._scores(*self._rows(X))
        codes, classes = checks.labels(self, y, len(scores))
        weights = checks.weights(sample_weight, len(scores))
        places = find(labels_of(self.classes_), classes)[codes]
        # A class that was never learned has no line; the others' targets are all 0 on its rows, and it misses its 1.
        scores[places >= 0, places[places >= 0]] -= 1.0
        return float(np.average((scores**2).sum(axis=1) + (places < 0), weights=weights))

    def _explain_row(self, row: Any) -> SumExplanation:
        """The sum behind one row's answer: the share of each class, and w·(x - mean) of each column."""
        found = self._open_row(row)
        block = found[SHARED]
        assert isinstance(block, Numbers)
        values = block.rows(0, 1)[0]
        there = ~np.isnan(values)
        lines = self._found() if there.all() else self._found().without(there)
        addends, position = [], 0
        for name, x in zip(self.schema_.names.tolist(), values):
            if np.isnan(x):
                addends.append(
                    Factor(column_name(name), say("missing"), note=say("left out, here and in the other weights"))
                )
                continue
            weights, mean = lines.weights[:, position], lines.centre[position]
            position += 1
            amounts = (weights * (x - mean)).tolist()
            terms = (Term(f"{w:.6g}·({difference(x, mean)})", amount, amount) for w, amount in zip(weights, amounts))
            addends.append(Factor(column_name(name), f"{x:.6g}", tuple(terms)))
        constant = Factor(say("share"), "", tuple(Term("", share, share) for share in lines.shares.tolist()))
        scores, probabilities = self._scores(found, 1)[0], self._posterior(found, 1)[0]
        return SumExplanation(labels_of(self.classes_), constant, tuple(addends), scores, probabilities)

    @property
    def sample(self) -> NoReturn:  # type: ignore[override]
        """Least squares knows no distribution of the rows."""
        raise RefusedError(
            "a LeastSquaresClassifier cannot sample, and has no joint probabilities: its lines are no distribution of "
            "the rows; GaussianDiscriminant learns from the same sums and can"
        )

    predict_joint_log_proba = sample  # type: ignore[assignment]

    def _centres(self) -> tuple[Floats, Floats]:
        found = self._found()
        return found.centre[np.newaxis], found.scatter[np.newaxis]
