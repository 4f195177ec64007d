"""Softmax (logistic) regression: the discriminative twin of naive Bayes and of the discriminant, for the same tables.

    p(k | x) = softmax(W x + b)_k        minimise  Σ_i cross-entropy_i + l2/2 ‖W‖²

It takes what `NaiveBayes` takes, text included, and starts from what that has learned.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.kernels import densities, threads
from ingenuo.models.answers import Answering
from ingenuo.models.classifier import summary_html
from ingenuo.models.discriminant import plotted
from ingenuo.models.linear_features import NumberFeatures, TextFeatures, groups_of, solve
from ingenuo.models.model import ClassifierBase, Packed, Refusals, check_is_fitted
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.solver import Problem
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Texts
from ingenuo.rows.rows import rows_of
from ingenuo.rows.schema import Schema, column_name
from ingenuo.rows.source import blocks, match
from ingenuo.show.arithmetic import Explanation, Factor, Floats, Passage, Term, exponential, powers_of_e
from ingenuo.show.format import Progress
from ingenuo.tally.labels import labels_of, public, same
from ingenuo.tally.prior import Lidstone
from ingenuo.tally.tally import Tally
from ingenuo.text.words import Words

WEIGHTINGS = (None, "naive-bayes")
STARTS = ("twin", "zero")


@dataclass(frozen=True)
class Starts:
    """How many iterations each start needs; prints as a sentence."""

    twin: int
    zero: int

    @property
    def saved(self) -> int:
        """How many iterations the twin's weights save."""
        return self.zero - self.twin

    def __str__(self) -> str:
        return f"{self.twin} iterations from the generative twin, {self.zero} from zero: {self.saved} saved"


_WHY = "its weights are no sums over rows; fit it again on all the rows, or take its twin_, which can"


class SoftmaxRegression(Refusals, Packed, Answering, ClassifierBase):
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
    l2 : float
        The penalty: l2/2 times the sum of the squared weights. It is 1/C of scikit-learn's `LogisticRegression`.
    alpha : float
        What is added to each count before ratios are taken, for the weighting and for the start.
    start : "twin" or "zero"
        Where the search begins: at the weights of the generative twin, scaled to fit best, or at zero. The result is
        the same; `compare_starts` counts the iterations of either.
    tolerance : float
        The search stops where the sum that is minimised is known to be within this fraction of the least possible.
    max_iter : int
        Iterations after which it stops anyhow, with a warning.
    verbose : bool, optional
        Whether to print a line for each iteration to stderr. By default a line is kept up to date there once a fit has
        taken some seconds, if stderr is a terminal.

    Attributes
    ----------
    coef_, intercept_ : array
        The weights: one line for two classes, for more one for each class.
    twin_ : NaiveBayes or None
        The generative twin; None where there is none (a sparse table with negative numbers).
    n_iter_ : int
        Iterations done.
    loss_ : float
        What was minimised.
    excess_ : float
        A bound on how far that is from the least possible.

    Examples
    --------
    >>> reviews = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull"]
    >>> model = SoftmaxRegression(weighting="naive-bayes").fit(reviews, ["good", "good", "bad", "bad"])
    >>> model.predict(["such a fine cast"]).tolist()
    ['good']
    """

    schema_: Schema
    classes_: NDArray[Any]
    _refusals: ClassVar[Mapping[str, str]] = {
        "partial_fit": _WHY,
        "forget": _WHY,
        "merge": _WHY,
        "sample": "it models classes given rows, not rows; take its twin_, which can",
    }

    def __init__(
        self,
        columns: Mapping[Any, Any] | None = None,
        text: Words | Mapping[Any, Words] | None = None,
        weighting: str | None = None,
        l2: float = 1.0,
        alpha: float = 1.0,
        start: str = "twin",
        tolerance: float = 1e-6,
        max_iter: int = 1000,
        verbose: bool | None = None,
    ) -> None:
        self.columns = columns
        self.text = text
        self.weighting = weighting
        self.l2 = l2
        self.alpha = alpha
        self.start = start
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.verbose = verbose

    def _check_settings(self) -> None:
        for name, known in (("weighting", WEIGHTINGS), ("start", STARTS)):
            given = getattr(self, name)
            if given not in known:
                raise InputError(f"{name}={given!r} is not known{did_you_mean(given, known)}")
        for name, least in (("l2", 0.0), ("alpha", 0.0), ("tolerance", 0.0)):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int | float | np.integer | np.floating):
                raise KindError(f"{name} must be a number, got {type(given).__name__} {given!r}")
            if not least <= given < np.inf or (name != "l2" and given == 0):
                raise InputError(f"{name}={given!r} must be {'at least 0' if name == 'l2' else 'above 0'} and finite")
        if self.verbose not in (None, True, False):
            raise KindError(f"verbose must be True, False or None, got {type(self.verbose).__name__} {self.verbose!r}")
        if isinstance(self.max_iter, bool) or not isinstance(self.max_iter, int | np.integer) or self.max_iter < 1:
            raise InputError(f"max_iter={self.max_iter!r} must be a whole number of at least 1")

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
        before = dict(self.__dict__)
        try:
            learned = self._learn(X, y, sample_weight, self.start)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        self.__dict__.pop("_target", None)
        self.__dict__.update(learned)
        if not self.converged_:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(self._not_there(), ConvergenceWarning, stacklevel=2)
        return self

    def _not_there(self) -> str:
        if self.l2 == 0 and self.n_iter_ < self.max_iter:
            return (
                "the classes can be told apart without an error, so without a penalty the weights would grow for ever; "
                f"the fit stopped after {self.n_iter_} iterations: take l2 above 0"
            )
        return (
            f"the fit stopped after {self.n_iter_} iterations at a loss of {self.loss_:.6g}, at most "
            f"{self.excess_:.3g} above the least as far as is known; raise max_iter, or l2, which makes the minimum "
            "easier to reach"
        )

    def compare_starts(self, X: Any, y: Any = None, sample_weight: Any = None) -> Starts:
        """How many iterations the start from the generative twin saves on these rows; the model stays as it is."""
        self._check_settings()
        other = SoftmaxRegression(**self.get_params(deep=False))
        return Starts(*(int(other._learn(X, y, sample_weight, start)["n_iter_"]) for start in STARTS))

    def _learn(self, X: Any, y: Any, sample_weight: Any, start: str) -> dict[str, Any]:
        """What a fit sets."""
        rows = rows_of(X, y, sample_weight).in_memory()
        target, X, y, sample_weight = rows.target, rows.X, rows.y, rows.weights
        source = checks.table(self, X, reset=True)
        source.is_whole = True
        codes, classes = checks.labels(self, y, source.n_rows)
        weights = checks.weights(sample_weight, source.n_rows)
        checks.refuse_one_class(classes, type(self).__name__)
        twin = self._twin(X, y, sample_weight)
        schema = twin.schema_ if twin is not None else NaiveBayes(columns=self.columns)._schema_of(source)
        groups = groups_of(schema, Tally() if twin is None else twin.tally_, classes)
        found = blocks(source, schema, match(schema, source))
        shares = np.bincount(codes, weights, len(classes)).astype(np.float64) + 1e-300
        progress = Progress(self.verbose)
        problem = Problem(
            codes,
            np.zeros(0) if weights is None else weights,
            float(self.l2),
            float(self.tolerance),
            int(self.max_iter),
            progress,
        )
        with threads.single_blas():
            solution = solve(groups, found, problem, shares, self.weighting is not None, float(self.alpha), start)
        progress.close()
        return {
            "schema_": schema,
            "twin_": twin,
            "classes_": public(classes),
            "n_features_in_": len(schema),
            "_groups": groups,
            "_weights": solution.weights,
            "_intercepts": solution.intercepts,
            **({} if target is None else {"_target": target}),
            "n_iter_": solution.iterations,
            "loss_": solution.loss,
            "excess_": solution.excess,
            "converged_": solution.converged,
        }

    # What a model file holds: the twin's tally, and beside it what no tally gives.

    @property
    def tally_(self) -> Tally:
        """What the generative twin has learned; nothing where there is none."""
        check_is_fitted(self)
        return Tally() if self.twin_ is None else self.twin_.tally_

    def _extra(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What is not in the tally: plain values and arrays."""
        plain = {"classes": self.classes_.tolist(), "twin": self.twin_ is not None}
        found = {name: getattr(self, name) for name in ("n_iter_", "loss_", "excess_", "converged_")}
        return {**plain, **found}, {"weights": self._weights, "intercepts": self._intercepts}

    def _restore(self, schema: Schema, tally: Tally, plain: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Set what `_extra` gave."""
        classes = labels_of(plain["classes"])
        if len(classes) < 2 or len(classes) != len(plain["classes"]):
            raise InputError("a softmax regression has two classes at least, all different")
        twin = None
        if plain["twin"]:
            twin = NaiveBayes(self.columns, Lidstone(float(self.alpha)), text=_plain(self.text))
            twin._set_tally(schema, tally)
            if not same(labels_of(twin.classes_), classes):
                raise InputError("the classes are not those of the tally")
        groups = groups_of(schema, tally, classes)
        weights, intercepts = arrays["weights"], arrays["intercepts"]
        shape = sum(group.size for group in groups.values()), 1 if len(classes) == 2 else len(classes)
        if weights.shape != shape or intercepts.shape != shape[1:]:
            raise InputError(f"the weights are of shape {weights.shape}, for {shape[0]} features and {shape[1]} logits")
        if any(each.dtype != np.float64 or not np.isfinite(each).all() for each in (weights, intercepts)):
            raise InputError("the weights are no finite doubles")
        self.schema_, self.twin_, self._groups = schema, twin, groups
        self.classes_, self.n_features_in_ = public(classes), len(schema)
        self._weights, self._intercepts = np.ascontiguousarray(weights), intercepts
        self.n_iter_, self.converged_ = int(plain["n_iter_"]), bool(plain["converged_"])
        self.loss_, self.excess_ = float(plain["loss_"]), float(plain["excess_"])

    def _twin(self, X: Any, y: Any, sample_weight: Any) -> NaiveBayes | None:
        if hasattr(X, "tocsr") and X.nnz and not float(X.tocsr().data.min()) >= 0:
            if self.weighting is not None:
                raise InputError(
                    "the sparse table has negative numbers, which are no counts: naive Bayes has no ratios for them; "
                    "take weighting=None"
                )
            return None
        return NaiveBayes(self.columns, Lidstone(float(self.alpha)), text=_plain(self.text)).fit(X, y, sample_weight)

    # Answering.

    def _rows(self, X: Any) -> tuple[dict[str, Block], int]:
        check_is_fitted(self)
        X = checks.without_target(X, self.__dict__.get("_target"), self.schema_)
        source = checks.table(self, X, reset=False)
        return blocks(source, self.schema_, match(self.schema_, source)), source.n_rows

    def _joint(self, found: dict[str, Block], n_rows: int) -> Floats:
        """The logits, one for each class; of two classes the first has none."""
        b = self._intercepts
        joint = densities.repeated(np.concatenate([[0.0], b]) if len(b) == 1 else b, n_rows)
        for name, weights in self._by_group().items():
            self._groups[name].add(weights, found[name], joint)
        return np.clip(joint, -densities.FARTHEST, densities.FARTHEST, out=joint)

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

    def _predict_log_proba(self, X: Any) -> Floats:
        joint = self._joint(*self._rows(X))
        densities.posterior(joint, log=True)
        return joint

    def _predict_proba(self, X: Any) -> Floats:
        joint = self._joint(*self._rows(X))
        densities.posterior(joint)
        return joint

    def _predict(self, X: Any) -> NDArray[Any]:
        best, _ = densities.best(self._joint(*self._rows(X)))
        return np.asarray(self.classes_[best])

    def explain(self, row: Any) -> Explanation:
        """The arithmetic of one row's prediction: what each feature multiplies the odds of each class by.

        Parameters
        ----------
        row : mapping, sequence, or table of one row
            What a mapping leaves out is missing.
        """
        check_is_fitted(self)
        source = checks.row(checks.without_target(row, self.__dict__.get("_target"), self.schema_), self.schema_)
        found = blocks(source, self.schema_, match(self.schema_, source))
        joint = self._joint(found, 1)
        posterior = joint.copy()
        densities.posterior(posterior)
        best, second, *_ = np.argsort(-posterior[0], kind="stable").tolist()
        factors: list[Factor] = []
        passages: list[Passage] = []
        for name, weights in self._by_group().items():
            group = self._groups[name]
            block = found[name]
            factors += group.factors(weights, block)
            if isinstance(group, TextFeatures) and isinstance(block, Texts):
                passages += group.passages(weights, block, best, second)
        order = {column_name(name): place for place, name in enumerate(self.schema_.names.tolist())}
        factors.sort(key=lambda factor: order.get(factor.part_of or factor.column, len(order)))
        b = [0.0, *self._intercepts] if len(self._intercepts) == 1 else self._intercepts
        intercept = Factor("intercept", "", tuple(Term(powers_of_e(w, 1), exponential(w), w) for w in map(float, b)))
        return Explanation(labels_of(self.classes_), intercept, tuple(factors), joint[0], posterior[0], tuple(passages))

    _ellipses: ClassVar[bool] = False

    def _drawn(self) -> tuple[Floats, Floats]:
        """Where the rows of each class are, for the picture: means and covariances."""
        groups = list(self._groups.values())
        if len(groups) != 1 or not isinstance(groups[0], NumberFeatures):
            raise InputError("a picture has room for two columns of numbers, and this model reads other columns too")
        means = groups[0].by_class
        return means, np.repeat(np.diag(groups[0].variances)[np.newaxis], len(means), axis=0)

    def plot(self, X: Any = None, y: Any = None, columns: Any = None, ax: Any = None) -> Any:
        """The classes' regions in two columns of numbers, or their probabilities over the only one; returns the axes.

        Parameters
        ----------
        X, y : optional
            Rows to draw as points, and their classes.
        columns : pair of columns, optional
            Which two; by default the first two. The others count as their means.
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        """
        return plotted(self, X, y, columns, ax)

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

    def features(self) -> list[str]:
        """The names of the columns of `coef_`: columns, column=value, words."""
        check_is_fitted(self)
        return [name for group in self._groups.values() for name in group.names()]

    def _repr_html_inner(self) -> str:
        shell: str = super()._repr_html_inner()
        if not self.__sklearn_is_fitted__() or self.twin_ is None:
            return shell
        return summary_html(self.tally_, self.schema_, labels_of(self.classes_)) + shell

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _plain(text: Any) -> Any:
    """Words without a model of naive Bayes' own: here they are always counted, or there or not."""
    if isinstance(text, Mapping):
        return {name: _plain(words) for name, words in text.items()}
    return replace(text, model=None) if isinstance(text, Words) and text.model is not None else text
