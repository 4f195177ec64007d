"""Softmax (logistic) regression: the discriminative twin of naive Bayes and of the discriminant, for the same tables.

    p(k | x) = softmax(W x + b)_k        minimise  Σ_i cross-entropy_i + l2/2 ‖W‖²

It takes what `NaiveBayes` takes, text included.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, check_choice
from ingenuo.kernels import densities, threads
from ingenuo.language import say
from ingenuo.models.classifier import JointAnswers
from ingenuo.models.discriminant import LinearModel, RegionPlot
from ingenuo.models.folds import Folds, n_folds_for, stratified_folds
from ingenuo.models.interactions import TABLE, Fitted, Learning, TableFeatures, fit_folds, in_table
from ingenuo.models.linear_features import Features, NumberFeatures, groups_of, solve
from ingenuo.models.model import Packed, Refusals, check_is_fitted
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.solver import Problem, Solution
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Chunk
from ingenuo.rows.rows import rows_of
from ingenuo.rows.schema import Schema
from ingenuo.rows.source import blocks, match
from ingenuo.show.arithmetic import Factor, Floats, Passage, Term, exponential, powers_of_e
from ingenuo.show.format import Progress
from ingenuo.show.plots import new_axes
from ingenuo.tally.labels import Labels, labels_of, public, same
from ingenuo.tally.prior import Lidstone
from ingenuo.tally.tally import Tally
from ingenuo.text.words import Words

NEWTON, DESCENT = "newton", "gradient-descent"
AUTO = "auto"
EXPONENTS = (0.5, 1.0, 0.0)

_WHY = "its weights are no sums over rows; fit it again on all the rows, or take its twin_, which can"


@dataclass(eq=False, repr=False)
class SoftmaxRegression(Refusals, Packed, LinearModel, RegionPlot, JointAnswers):
    r"""Softmax regression for numbers, categories, counts and text together.

    Parameters
    ----------
    columns : mapping, optional
        Column to kind, as in `NaiveBayes`.
    text : Words or mapping, optional
        Which words of text columns count, and how; a mapping chooses by column.
    weighting : None or "naive-bayes"
        Multiply each feature by its naive Bayes log ratio (Wang and Manning, 2012): what tells the classes apart is
        cheap to use, what does not is dear. For text, take `Words(ngrams=(1, 2), binary=True, token=r"\w+")` with it.
    exponent : float or "auto"
        Of the sizes of those log ratios, from 0 (no weighting) to 1 (all of it); "auto" takes that of 0, ½ and 1 with
        the least loss on rows that are left out, and needs l2="auto".
    l2 : float or "auto"
        The penalty: l2/2 times the sum of the squared weights. It is 1/C of scikit-learn's `LogisticRegression`. "auto"
        measures numbers in standard deviations (at most four of them), and takes the penalty, and then the temperature,
        with the least loss on rows that are left out.
    interactions : None or "auto"
        "auto" adds the products of two features (number × number, squares, pairs of values) that a score test puts
        first: at most 300, and 6,000 weights of all classes together. Numbers are measured as for l2="auto". Words and
        thousands of counts have no products.
    alpha : float
        What is added to each count before ratios are taken, for the weighting and for the start.
    solver : "newton" or "gradient-descent"
        How the minimum is found: by Newton's method, or by the textbook's steps against the gradient, which end at the
        same weights after many more of them.
    tolerance : float
        The search stops where the sum that is minimised is known to be within this fraction of the least possible.
    max_iter : int
        Iterations after which it stops anyhow, with a warning.
    learning_rate : float, optional
        Of gradient descent: the η of W ← W - η/n Σ (p - y) xᵀ. By default each step is as long as it gains.
    verbose : bool, optional
        Whether to print a line for each iteration to stderr. By default a line is kept up to date there once a fit has
        taken some seconds, if stderr is a terminal.

    Attributes
    ----------
    twin_ : NaiveBayes or None
        The generative twin; None where there is none (a sparse table with negative numbers).
    l2_, exponent_, temperature_ : float
        The penalty, the exponent of the weighting, and what the weights were multiplied by after the fit (1 where l2 is
        a number).
    n_iter_, loss_, excess_
        Iterations done, what was minimised, and a bound on how far that is from the least possible.
    losses_ : array
        What was minimised, at the beginning and after each step; `plot_losses` draws it.

    Examples
    --------
    >>> reviews = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull"]
    >>> model = SoftmaxRegression(weighting="naive-bayes").fit(reviews, ["good", "good", "bad", "bad"])
    >>> model.predict(["such a fine cast"]).tolist()
    ['good']
    """

    _refusals: ClassVar[Mapping[str, str]] = {
        "partial_fit": _WHY,
        "forget": _WHY,
        "merge": _WHY,
        "sample": "it models classes given rows, not rows; take its twin_, which can",
    }

    columns: Mapping[Any, Any] | None = None
    text: Words | Mapping[Any, Words] | None = None
    weighting: str | None = None
    l2: float | str = 1.0
    alpha: float = 1.0
    solver: str = NEWTON
    tolerance: float = 1e-6
    max_iter: int = 1000
    learning_rate: float | None = None
    verbose: bool | None = None
    interactions: str | None = None
    exponent: float | str = 1.0

    _dropped = ("start",)  # parameters that files of before have

    def _check_settings(self) -> None:
        if self.weighting is not None:
            check_choice("weighting", self.weighting, ["naive-bayes"])
        check_choice("solver", self.solver, [NEWTON, DESCENT])
        if self.learning_rate is not None:
            checks.check_number("learning_rate", self.learning_rate, above=True)
            if self.solver != DESCENT:
                raise InputError(f"learning_rate is of gradient descent, and solver={self.solver!r}; take {DESCENT!r}")
        for name in ("l2", "alpha", "tolerance"):
            if name != "l2" or self.l2 != AUTO:
                checks.check_number(name, getattr(self, name), above=name != "l2")
        if self.interactions is not None:
            check_choice("interactions", self.interactions, [AUTO])
        if self.exponent != AUTO:
            checks.check_number("exponent", self.exponent)
        if self.exponent != 1 and self.weighting is None:
            raise InputError(f"exponent={self.exponent!r} is of the ratios of weighting='naive-bayes'; take that")
        if self.exponent == AUTO and self.l2 != AUTO:
            raise InputError("exponent='auto' is found together with the penalty; take l2='auto'")
        if self._by_folds and self.solver != NEWTON:
            raise InputError(f"l2='auto' and interactions='auto' are found by Newton's method; take solver={NEWTON!r}")
        if self.verbose is not None:
            checks.check_flag("verbose", self.verbose)
        checks.check_whole("max_iter", self.max_iter, 1)

    # Learning.

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows and their labels, forgetting what was learned before.

        Parameters
        ----------
        X : array, sparse matrix, list of texts, or pandas, polars or Arrow table
            The rows; missing values are NaN or null.
        y : array-like, or the name of a column of X
            The class of each row.
        sample_weight : array-like, optional
            How often each row counts.
        """
        self._check_settings()
        self._become(self._fit_copies([self], X, y, sample_weight, None)[0][0])
        return self

    def _become(self, fitted: SoftmaxRegression) -> None:
        """Take over what a copy has learned, and warn where it did not converge."""
        for name in ("_target", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self.__dict__.update(fitted.__dict__)
        if not self.converged_:
            from sklearn.exceptions import ConvergenceWarning

            what = (
                f"the fit stopped after {self.n_iter_} iterations at a loss of {self.loss_:.6g}, at most "
                f"{self.excess_:.3g} above the least as far as is known; raise max_iter, or l2, which makes the "
                "minimum easier to reach"
            )
            if not self.losses_[-1] <= self.losses_[0]:
                what = (
                    f"the steps are too long: the loss went from {self.losses_[0]:.6g} to {self.loss_:.6g} in "
                    f"{self.n_iter_} of them; take a lower learning_rate, or none: then each is as long as it gains"
                )
            elif self.l2 == 0 and self.n_iter_ < self.max_iter:
                what = (
                    "the classes can be separated without an error, so without a penalty the weights would grow for "
                    f"ever; the fit stopped after {self.n_iter_} iterations: take l2 above 0"
                )
            warnings.warn(what, ConvergenceWarning, stacklevel=3)

    @property
    def _by_folds(self) -> bool:
        """Whether something is chosen by rows that are left out."""
        return self.l2 == AUTO or self.interactions is not None

    def _fit_with_folds(self, X: Any, y: NDArray[Any], sample_weight: Floats | None, folds: Folds) -> Floats:
        if not self._by_folds:
            return super()._fit_with_folds(X, y, sample_weight, folds)
        return self._fit_together([self], X, y, sample_weight, folds)[0]

    def _fit_both_with_folds(
        self, linear: SoftmaxRegression, X: Any, y: NDArray[Any], sample_weight: Floats | None, folds: Folds
    ) -> tuple[Floats, Floats]:
        """Fit this model, which has products, and a linear one that it begins with; the log probabilities of left-out
        rows by the linear one, and by this one. Their other parameters are the same.
        """
        return tuple(self._fit_together([linear, self], X, y, sample_weight, folds))  # type: ignore[return-value]

    def _fit_together(
        self, models: list[SoftmaxRegression], X: Any, y: Any, sample_weight: Any, folds: Folds
    ) -> list[Floats]:
        for model in models:
            model._check_settings()
        fitted = self._fit_copies(models, X, y, sample_weight, folds)
        for model, (copy, _) in zip(models, fitted):
            model._become(copy)
        return [logs for _, logs in fitted]

    def _fit_copies(
        self, models: list[SoftmaxRegression], X: Any, y: Any, sample_weight: Any, folds: Folds | None
    ) -> list[tuple[Self, Floats]]:
        """For each model one of its parameters that has learned these rows, and what it says of left-out rows."""
        copies = [type(self)(**model.get_params(deep=False)) for model in models]
        rows = rows_of(X, y, sample_weight).in_memory()
        if rows.target is not None:
            for copy in copies:
                copy._target = rows.target
        X, y, sample_weight = rows.X, rows.y, rows.weights
        for copy in copies:
            source = checks.table(copy, X, reset=True)
        source.is_whole = True
        codes, classes = checks.labels(self, y, source.n_rows)
        weights = checks.weights(sample_weight, source.n_rows)
        checks.refuse_one_class(classes, type(self).__name__)
        twin = self._make_twin()
        if not (hasattr(X, "tocsr") and X.nnz and not float(X.tocsr().data.min()) >= 0):
            twin.fit(X, y, sample_weight)
            schema = twin.schema_
        elif self.weighting is not None:
            raise InputError(
                "the sparse table has negative numbers, which are no counts: naive Bayes has no ratios for them; "
                "take weighting=None"
            )
        else:
            schema, twin = twin._schema_of(source), None
        found = blocks(source, schema, match(schema, source))
        tally = Tally() if twin is None else twin.tally_
        progress = Progress(self.verbose)
        limits = float(self.tolerance), int(self.max_iter)
        l2 = 1.0 if isinstance(self.l2, str) else float(self.l2)
        problem = Problem(codes, np.zeros(0) if weights is None else weights, l2, *limits, progress)
        weighted, alpha = self.weighting is not None, float(self.alpha)
        exponents = EXPONENTS if self.exponent == AUTO else (float(self.exponent),)
        results: list[Fitted]
        with threads.single_blas():
            if self._by_folds:
                if folds is None:
                    folds = stratified_folds(codes, n_folds_for(len(codes)))
                data = Learning(
                    schema,
                    Chunk(len(codes), found, codes, classes, weights),
                    tally,
                    problem,
                    exponents if weighted else (),
                    alpha,
                )
                asked = [each.interactions is not None for each in models]
                fixed = None if self.l2 == AUTO else l2
                results = fit_folds(data, fixed, folds, products=any(asked), linear=not all(asked))
            else:
                groups: dict[str, Any] = {**groups_of(schema, tally, classes)}
                shares = np.bincount(codes, weights, len(classes)).astype(np.float64) + 1e-300
                solution = solve(
                    groups,
                    found,
                    problem,
                    shares,
                    weighted,
                    alpha,
                    exponents[0],
                    self.solver == DESCENT,
                    self.learning_rate,
                )
                results = [Fitted(groups, solution, l2, exponents[0], 1.0, np.zeros((0, 0)))]
        progress.close()
        for copy, each in zip(copies, results):
            copy._set_solution(schema, twin, classes, each)
        return [(copy, each.left_out) for copy, each in zip(copies, results)]

    def _make_twin(self) -> Any:
        return NaiveBayes(self.columns, Lidstone(float(self.alpha)), text=_plain(self.text))

    def _set_solution(self, schema: Schema, twin: NaiveBayes | None, classes: Labels, fitted: Fitted) -> None:
        found = fitted.solution
        self.schema_, self.twin_, self._groups = schema, twin, fitted.groups
        self.classes_, self.n_features_in_ = public(classes), len(schema)
        self._weights, self._intercepts = found.weights, found.intercepts
        self.l2_, self.exponent_, self.temperature_ = fitted.l2, fitted.exponent, fitted.temperature
        self.n_iter_, self.converged_ = found.iterations, found.converged
        self.loss_, self.excess_, self.losses_ = found.loss, found.excess, found.losses

    @property
    def tally_(self) -> Tally:
        """What the generative twin has learned; nothing where there is none."""
        check_is_fitted(self)
        return Tally() if self.twin_ is None else self.twin_.tally_

    def _extra(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        plain: dict[str, Any] = {"classes": self.classes_.tolist(), "twin": self.twin_ is not None}
        names = ("n_iter_", "loss_", "excess_", "converged_", "l2_", "exponent_", "temperature_")
        plain.update({name: getattr(self, name) for name in names})
        arrays = {"weights": self._weights, "intercepts": self._intercepts, "losses": self.losses_}
        table = self._groups.get(TABLE)
        if isinstance(table, TableFeatures):
            plain["design"], own = table.to_plain()
            arrays.update({f"design/{name}": array for name, array in own.items()})
        return plain, arrays

    def _restore(self, schema: Schema, tally: Tally, plain: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        classes = labels_of(plain["classes"])
        if len(classes) < 2 or len(classes) != len(plain["classes"]):
            raise InputError("a softmax regression has two classes at least, all different")
        twin = None
        if plain["twin"]:
            twin = self._make_twin()
            twin._set_tally(schema, tally)
            if not same(labels_of(twin.classes_), classes):
                raise InputError("the classes are not those of the tally")
        groups: dict[str, Features] = {}
        if "design" in plain:
            own = {name.removeprefix("design/"): each for name, each in arrays.items() if name.startswith("design/")}
            groups[TABLE] = TableFeatures.from_plain(schema, plain["design"], own)
        inside = {name for name in schema.families_used() if self._by_folds and in_table(name, schema.columns(name))}
        groups.update(groups_of(schema, tally, classes, inside))
        weights, intercepts = arrays["weights"], arrays["intercepts"]
        shape = sum(group.size for group in groups.values()), 1 if len(classes) == 2 else len(classes)
        if weights.shape != shape or intercepts.shape != shape[1:]:
            raise InputError(f"the weights are of shape {weights.shape}, for {shape[0]} features and {shape[1]} logits")
        losses = arrays.get("losses", np.array([float(plain["loss_"])]))  # which files of before do not have
        if any(each.dtype != np.float64 or not np.isfinite(each).all() for each in (weights, intercepts, losses)):
            raise InputError("the weights are no finite doubles")
        limits = float(plain["loss_"]), float(plain["excess_"]), int(plain["n_iter_"]), bool(plain["converged_"])
        found = Solution(np.ascontiguousarray(weights), intercepts, *limits, losses.reshape(-1))
        l2, temperature = plain.get("l2_", self.l2), plain.get("temperature_", 1.0)  # nor these
        exponent = float(plain.get("exponent_", 1.0))
        self._set_solution(
            schema, twin, classes, Fitted(groups, found, float(l2), exponent, float(temperature), np.zeros((0, 0)))
        )

    # Answering.

    def _joint(self, found: dict[str, Block], n_rows: int, floor: float | None = None) -> Floats:
        """The logits, one for each class; of two classes the first has none."""
        b = self._intercepts
        joint = densities.repeat_row(np.concatenate([[0.0], b]) if len(b) == 1 else b, n_rows)
        for name, weights in self._by_group().items():
            self._groups[name].add(weights, self._groups[name].take(found), joint)
        np.fmax(joint, -densities.FARTHEST, out=joint)  # what is no number is as far as can be
        return np.fmin(joint, densities.FARTHEST, out=joint)

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it: the intercepts, and the terms of each group of features."""
        b = self._intercepts
        terms = [term for name, own in self._by_group().items() for term in self._groups[name].sheet_terms(own)]
        start = np.concatenate([[0.0], b]) if len(b) == 1 else b
        return {"op": "sum", "start": start, "terms": terms, "calibrate": None, "limit": True, "first": "intercept"}

    def _by_group(self) -> dict[str, Floats]:
        first, result = 0, {}
        for name, group in self._groups.items():
            result[name] = self._weights[first : first + group.size]
            first += group.size
        return result

    def __sklearn_is_fitted__(self) -> bool:
        return "_weights" in self.__dict__

    def decision_function(self, X: Any) -> Floats:
        """The logits: for two classes the log odds of the second, for more one for each class."""
        joint = self._joint(*self._rows(X))
        return np.asarray(joint[:, 1]) if joint.shape[1] == 2 else joint

    def _factors(self, found: dict[str, Block]) -> list[Factor]:
        """What each feature multiplies the odds of each class by."""
        b = [0.0, *self._intercepts] if len(self._intercepts) == 1 else self._intercepts
        intercept = Factor(
            say("intercept"), "", tuple(Term(powers_of_e(w, 1), exponential(w), w) for w in map(float, b))
        )
        of_groups = [(self._groups[name], w) for name, w in self._by_group().items()]
        return [intercept, *chain(*(group.factors(w, group.take(found)) for group, w in of_groups))]

    def _passages(self, found: dict[str, Block], best: int, second: int) -> list[Passage]:
        of_groups = [(self._groups[name], w) for name, w in self._by_group().items()]
        return list(chain(*(group.passages(w, group.take(found), best, second) for group, w in of_groups)))

    def _line_names(self) -> list[str]:
        return self.features()

    def _centres(self) -> tuple[Floats, Floats]:
        groups = list(groups_of(self.schema_, self.tally_, labels_of(self.classes_)).values())
        if len(groups) != 1 or not isinstance(groups[0], NumberFeatures):
            raise InputError("a picture has room for two columns of numbers, and this model reads other columns too")
        means = groups[0].by_class
        return means, np.repeat(np.diag(groups[0].variances)[np.newaxis], len(means), axis=0)

    @property
    def n_parameters_(self) -> int:
        """How many numbers were estimated: a line for each class but one, as only differences of lines count."""
        return (len(self.classes_) - 1) * (len(self.coef_[0]) + 1)

    @property
    def coef_(self) -> Floats:
        """The weights: one line for two classes, for more one for each class; `features` names their columns."""
        check_is_fitted(self)
        return np.asarray(self._weights.T)

    @property
    def intercept_(self) -> Floats:
        """The intercept of each line of `coef_`; of several, what they have in common says nothing, and is left out."""
        check_is_fitted(self)
        result = self._intercepts.copy()
        for name, weights in self._by_group().items():
            group = self._groups[name]
            if isinstance(group, NumberFeatures):
                result -= group.means @ weights
        return np.asarray(result if len(result) == 1 else result - result.mean())

    def plot_losses(self, ax: Any = None) -> Any:
        """Draw how what is minimised fell, step by step; the axes are returned."""
        check_is_fitted(self)
        ax = new_axes(ax, (6.4, 4.0))
        ax.plot(
            np.arange(len(self.losses_)), self.losses_, marker="o" if len(self.losses_) < 50 else None, markersize=3
        )
        if len(self.losses_) > 200:
            ax.set_xscale("symlog")
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("step")
        ax.set_ylabel("Σ cross-entropy + l2/2 ‖W‖²")
        ax.set_title(f"{self.solver}: {self.losses_[0]:.6g} to {self.loss_:.6g} in {len(self.losses_) - 1:,} steps")
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def features(self) -> list[str]:
        """The names of the columns of `coef_`: columns, column=value, words."""
        check_is_fitted(self)
        return [name for group in self._groups.values() for name in group.names()]


def _plain(text: Any) -> Any:
    """Words without a model of naive Bayes' own: here they are always counted, or there or not."""
    if isinstance(text, Mapping):
        return {name: _plain(words) for name, words in text.items()}
    return replace(text, model=None) if isinstance(text, Words) and text.model is not None else text
