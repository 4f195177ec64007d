"""`compare`: several models on the same rows and folds, one table, and which of the differences are real; or their
learning curves: what they measure on held-out rows over growing numbers of rows learned from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, check_choice
from ingenuo.evaluation import significance
from ingenuo.evaluation.cross_validation import CrossValidation, cross_validate, splits_of
from ingenuo.evaluation.evaluation import Evaluation
from ingenuo.evaluation.intervals import Measure, check_share
from ingenuo.evaluation.measures import LEAST
from ingenuo.evaluation.significance import Answers, Verdict, holm, level, number, p_text, percent
from ingenuo.models.model import clone, is_regressor
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.rows import checks
from ingenuo.rows.checks import check_whole, seeded_generator
from ingenuo.rows.rows import rows_of, take_rows
from ingenuo.rows.schema import FAMILIES
from ingenuo.rows.source import is_texts, open_source
from ingenuo.show import plots
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.labels import Labels, public

Floats = NDArray[np.float64]

MEASURES = {"accuracy": "accuracy", "f1_macro": "macro F1", "log_loss": "log loss", "ece": "ECE"}
TESTED = {"accuracy": "McNemar's test, mid-p", "log_loss": "permutation test"}
CURVES = {measure: MEASURES[measure] for measure in TESTED}
LOWER_IS_BETTER = ("log_loss", "ece")
_SWAPS = 9999
_SHOWN = 10  # pairs that are named in the text


@dataclass(frozen=True)
class Pair:
    """A test between two models; `p_adjusted` is corrected (Holm) for all pairs of the same measure."""

    first: str
    second: str
    measure: str
    verdict: Verdict
    p_adjusted: float

    @property
    def significant(self) -> bool:
        """Whether they differ, at the level, after the correction."""
        return self.p_adjusted <= self.verdict.alpha

    @property
    def effect(self) -> float:
        """How far the first is above the second."""
        return self.verdict.effect or 0.0

    @property
    def sentence(self) -> str:
        """Who is ahead, by how much, and whether chance explains it."""
        sure = "significantly" if self.significant else "not significantly"
        above, below = (self.first, self.second) if self.effect >= 0 else (self.second, self.first)
        how = f"{MEASURES[self.measure]} of {above} is {number(abs(self.effect))} above that of {below}"
        return f"The {how}, {sure} at the {percent(self.verdict.alpha)} level ({p_text(self.p_adjusted)}, corrected)."


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Several models on the same rows; prints as a table with the differences that are significant."""

    evaluations: Mapping[str, Evaluation]  # what was measured of each model
    cross_validations: Mapping[str, CrossValidation]  # each model's answers out of fold; none of models as they are
    pairs: tuple[Pair, ...]  # a test of accuracy and one of log loss for each two models
    confidence: float  # of the intervals
    alpha: float  # the level of the tests

    @property
    def names(self) -> tuple[str, ...]:
        """The models."""
        return tuple(self.evaluations)

    @property
    def best(self) -> str:
        """The model of the highest accuracy; of those that tie, the one of the lowest log loss."""
        found = self.evaluations
        order = {
            name: (-float(e["accuracy"]), np.nan_to_num(float(e["log_loss"]), nan=np.inf)) for name, e in found.items()
        }
        return min(self.names, key=order.__getitem__)

    def values(self, measure: str = "accuracy") -> list[Measure]:
        """What each model has of a measure, with intervals."""
        check_choice("measure", measure, MEASURES)
        return [found[measure] for found in self.evaluations.values()]

    def table(self) -> Any:
        """An Arrow table with a line for each model: measures, the ends of their intervals, and times in seconds."""
        import pyarrow as pa

        columns: dict[str, Any] = {"model": list(self.names)}
        for measure in MEASURES:
            for end, name in (("", "value"), ("_low", "low"), ("_high", "high")):
                columns[measure + end] = pa.array([getattr(each, name) for each in self.values(measure)], pa.float64())
        for time in ("fit_time", "predict_time") if self.cross_validations else ():
            columns[time] = [float(getattr(found, time)) for found in self.cross_validations.values()]
        return pa.table(columns)

    def conclude(self, measure: str = "accuracy") -> str:
        """Which models differ significantly in accuracy or log loss, in one sentence."""
        check_choice("measure", measure, TESTED)
        tested = [pair for pair in self.pairs if pair.measure == measure]
        name = MEASURES[measure]
        begin = f"{name[0].upper()}{name[1:]} ({TESTED[measure]})"
        if not tested:
            return f"{begin}: not tested, for it needs probabilities of both models."
        apart = [pair for pair in tested if pair.significant]
        if not apart:
            every = "the two do not differ" if len(tested) == 1 else f"none of the {len(tested)} pairs differs"
            least = ("" if len(tested) == 1 else "least ") + p_text(min(pair.p_adjusted for pair in tested))
            return f"{begin}: {every} significantly at the {percent(self.alpha)} level ({least})."
        apart.sort(key=lambda pair: (pair.p_adjusted, -abs(pair.effect)))
        found = []
        for pair in apart[:_SHOWN]:
            first_leads = (pair.effect > 0) != (measure in LOWER_IS_BETTER)
            ahead, behind = (pair.first, pair.second) if first_leads else (pair.second, pair.first)
            found.append(f"{ahead} is better than {behind} by {number(abs(pair.effect))} ({p_text(pair.p_adjusted)})")
        rest = len(tested) - len(apart)
        if len(apart) > _SHOWN:
            found.append(f"{len(apart) - _SHOWN} more differ")
        if rest:
            others = "pair does" if rest == 1 else f"{rest} pairs do"
            found.append(f"the other {others} not differ significantly")
        return f"{begin}: {'; '.join(found)}."

    def _blocks(self, times: bool = True) -> Sequence[str | Block]:
        lines, times = [], times and bool(self.cross_validations)
        for name, found in self.evaluations.items():
            taken = self.cross_validations.get(name)
            spent = [_seconds(taken.fit_time), _seconds(taken.predict_time)] if times and taken is not None else []
            lines.append([name, *(str(found[measure]) for measure in MEASURES), *spent])
        heads = ["model", *MEASURES.values(), *(["fit", "predict"] if times else [])]
        rows = next(iter(self.evaluations.values())).n_rows
        how = (
            "each answered out of fold, the same folds for all" if self.cross_validations else "the same for all models"
        )
        return [
            PrintedTable(heads, lines, rule=True),
            f"{rows:,} rows, {how}; {percent(self.confidence)} intervals.",
            *dict.fromkeys(each for found in self.evaluations.values() for each in found.unseen),
            *(self.conclude(measure) for measure in TESTED),
            *(["p-values are corrected for the number of pairs (Holm)."] if len(self.names) > 2 else []),
            *dict.fromkeys(remark for found in self.cross_validations.values() for remark in found.remarks),
        ]

    def text(self, times: bool = True) -> str:
        """The table and its conclusions; without times it is the same at every run."""
        return "\n".join(block if isinstance(block, str) else block.text() for block in self._blocks(times))

    def plot(self, measure: str = "accuracy", ax: Any = None) -> Any:
        """Draw what each model has of a measure, with its interval; the axes are returned."""
        found = self.values(measure)
        missing = [name for name, value in zip(self.names, found) if value.value is None]
        if missing:
            raise InputError(
                f"{missing[0]} gives labels only, and has no {MEASURES[measure]} to draw; draw accuracy or f1_macro"
            )
        return plots.intervals(self.names, found, MEASURES[measure], ax)


def _seconds(time: float) -> str:
    return f"{time:.1f} s" if time >= 1 else f"{1000 * time:.3g} ms"


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurves(Shown):
    """What models measured (accuracy, log_loss: repeats × sizes × models); prints as a table and a sentence."""

    names: tuple[str, ...]
    sizes: NDArray[np.int64]
    accuracy: Floats
    log_loss: Floats
    test_rows: int

    def values(self, measure: str = "accuracy") -> Floats:
        """What each model measured on the held-out rows: repeats × sizes × models; NaN without probabilities."""
        check_choice("measure", measure, CURVES)
        return self.accuracy if measure == "accuracy" else self.log_loss

    def leaders(self, measure: str = "accuracy") -> list[str | None]:
        """Who is ahead at each size: by more than two standard errors of the lead over the next best, else None.

        A few repeats may agree by chance, so in each of them a lead is uncertain by one held-out row at least.
        """
        found = self.values(measure) if measure == "accuracy" else -self.values(measure)
        repeats, ahead = len(found), list[str | None]()
        for at, means in enumerate(found.mean(axis=0)):
            second, best = np.argsort(means)[-2:].tolist()
            lead = found[:, at, best] - found[:, at, second]
            row = (1.0 if measure == "accuracy" else float(-means.min())) / self.test_rows
            error = max(float(lead.std(ddof=1)), row) / np.sqrt(repeats) if repeats > 2 else np.inf
            ahead.append(self.names[best] if lead.mean() > 2 * error else None)
        return ahead

    def crossings(self, measure: str = "accuracy") -> tuple[float, ...]:
        """Where the mean curves of two models cross, in rows, on a logarithmic scale."""
        means, logs = self.values(measure).mean(axis=0), np.log(self.sizes)
        lead = means[:, 0] - means[:, 1]
        turns = np.flatnonzero(lead[:-1] * lead[1:] < 0) if len(self.names) == 2 else np.zeros(0, np.intp)
        share = lead[turns] / (lead[turns] - lead[turns + 1])
        return tuple(np.exp(logs[turns] + share * (logs[turns + 1] - logs[turns])).tolist())

    def conclude(self, measure: str = "accuracy") -> str:
        """Who is ahead with how many rows, in one sentence."""
        pairs = zip(self.leaders(measure), self.sizes.tolist())
        runs = [(who, [f"{size:,}" for _, size in run]) for who, run in groupby(pairs, lambda pair: pair[0])]
        spans = [(who, " to ".join(dict.fromkeys((run[0], run[-1])))) for who, run in runs if who]
        crossed = " and ".join(f"{rows:,.0f}" for rows in self.crossings(measure))
        parts = [f"{who} is ahead with {span} rows" for who, span in spans]
        parts += [f"the curves cross near {crossed} rows"] if crossed and parts else []
        return (
            f"By {MEASURES[measure]}, {'; '.join(parts) or f'nobody is clearly ahead in {len(self.accuracy)} repeats'}."
        )

    def table(self) -> Any:
        """An Arrow table with a line for each size and model: means, and standard deviations over the repeats."""
        import pyarrow as pa

        n = len(self.names)
        columns: dict[str, Any] = {"rows": np.repeat(self.sizes, n), "model": list(self.names) * len(self.sizes)}
        for measure in CURVES:
            means, spreads = self._means(measure)
            columns |= {measure: means.ravel(), f"{measure}_spread": spreads.ravel()}
        return pa.table(columns)

    def _means(self, measure: str) -> tuple[Floats, Floats]:
        found = self.values(measure)
        return found.mean(axis=0), found.std(axis=0, ddof=1) if len(found) > 1 else np.zeros(found.shape[1:])

    def _blocks(self) -> Sequence[str | Block]:
        heads = [f"{name}, {what}" for name in self.names for what in CURVES.values()]
        lines = []
        for at, (leader, size) in enumerate(zip(self.leaders(), self.sizes.tolist())):
            both = [(mean[at], spread[at]) for mean, spread in map(self._means, CURVES)]
            cells = [f"{mean[k]:.3f} ± {spread[k]:.3f}" for k in range(len(self.names)) for mean, spread in both]
            lines.append([f"{size:,}", *cells, leader or "–"])
        held = f"{self.test_rows:,} rows were held out, the same for all"
        means = f"Means over {len(self.accuracy)} repeats ± their standard deviation; {held}."
        table = PrintedTable(["rows", *heads, "ahead in accuracy"], lines, rule=True)
        return [table, *(self.conclude(m) for m in CURVES if not np.isnan(self.values(m)).any()), means]

    def plot(self, measure: str = "accuracy", ax: Any = None) -> Any:
        """Draw a curve for each model over the rows, with bands of one standard deviation; the axes are returned."""
        name = f"{CURVES.get(measure)} on held-out rows"
        return plots.draw_learning_curves(
            self.sizes, *self._means(measure), self.names, name, self.crossings(measure), ax
        )


@overload
def compare(
    models: Any, X: Any = None, y: Any = None, folds: Any = 10, *, groups: Any = None, confidence: float = 0.95,
    alpha: float = 0.05, sizes: None = None, repeats: int = 10, test_size: float = 0.3, random_state: int = 0,
) -> Comparison: ...  # fmt: skip


@overload
def compare(
    models: Any, X: Any = None, y: Any = None, folds: Any = 10, *, groups: Any = None, confidence: float = 0.95,
    alpha: float = 0.05, sizes: Any, repeats: int = 10, test_size: float = 0.3, random_state: int = 0,
) -> LearningCurves: ...  # fmt: skip


def compare(
    models: Any,
    X: Any = None,
    y: Any = None,
    folds: Any = 10,
    *,
    groups: Any = None,
    confidence: float = 0.95,
    alpha: float = 0.05,
    sizes: Any = None,
    repeats: int = 10,
    test_size: float = 0.3,
    random_state: int = 0,
) -> Comparison | LearningCurves:
    """Cross-validate several models on the same folds, and test which differences are significant.

    Parameters
    ----------
    models : mapping of name to classifier, or list of classifiers; or mapping of name to evaluation
        Two at least; a list is named after its classes. What `evaluate` found of several fitted models on the same rows
        is compared as it is: nothing is refitted, and only alpha and random_state count beside it.
    X, y, folds, groups
        As in `cross_validate`: anything that all models take; the splits are made once, for all models.
    confidence, alpha : float
        How sure the intervals are, and the level of the tests.
    sizes : int or list of int, optional
        Compare learning curves and not folds: fit each model on so many rows, in nested samples that are the same for
        all, and measure it on held-out rows. An integer takes so many sizes, up to all rows that are not held out.
    repeats, test_size
        With sizes: how often rows are drawn, and the share, or the number, of rows that are held out.
    random_state : int
        Seed for the folds, the intervals and the tests, or the rows that are drawn.

    Notes
    -----
    On the rows that were answered out of fold, accuracy is tested by McNemar's test (mid-p) and log loss by swapping
    answers (`permutation`), for all pairs, each measure's p-values corrected by Holm. The answers come from models that
    share training rows, so this is a statement on these fitted models; `corrected_t` asks about the folds.

    Examples
    --------
    >>> from ingenuo import GaussianDiscriminant, NaiveBayes, evaluate
    >>> from sklearn.datasets import load_iris
    >>> found = compare([NaiveBayes(), GaussianDiscriminant()], *load_iris(return_X_y=True))
    >>> found.best, len(found.pairs)
    ('GaussianDiscriminant', 2)
    >>> compare([NaiveBayes(), GaussianDiscriminant()], *load_iris(return_X_y=True), sizes=[9, 100]).leaders()
    [None, 'GaussianDiscriminant']
    >>> X, y = load_iris(return_X_y=True)
    >>> fitted = {"Bayes": NaiveBayes().fit(X[::2], y[::2]), "Gauss": GaussianDiscriminant().fit(X[::2], y[::2])}
    >>> compare({name: evaluate(model, X[1::2], y[1::2]) for name, model in fitted.items()}).best
    'Gauss'
    """
    level(confidence)
    alpha = check_share("alpha", alpha)
    check_whole("random_state", random_state, 0)
    if isinstance(models, Mapping) and any(isinstance(each, Evaluation) for each in models.values()):
        if not all(each is None for each in (X, y, groups, sizes)):
            raise InputError("evaluations have their rows already; leave X, y, groups and sizes out")
        return _compare_evaluations(models, alpha, random_state)
    named = _name_models(models)
    here = rows_of(X, y).in_memory()
    X, y = here.X, here.y
    if y is None:
        raise InputError("y is missing: nothing can be judged without what is true of each row; give y")
    if sizes is not None:
        if groups is not None:
            raise InputError("groups were given, and learning curves over sizes draw rows one by one; leave groups out")
        return _learn_curves(named, X, y, sizes, repeats, test_size, random_state)
    if not isinstance(folds, int | np.integer | str):  # a splitter may draw them again each time
        folds = splits_of(folds, *checks.labels(None, y, len(y)), groups, random_state)[0]
    found = {
        name: cross_validate(model, X, y, folds, groups=groups, confidence=confidence, random_state=random_state)
        for name, model in named.items()
    }
    evaluations = {name: one.evaluation for name, one in found.items()}
    pairs = _test_pairs(evaluations, alpha, np.random.default_rng(random_state))
    return Comparison(evaluations, found, pairs, float(confidence), alpha)


def _compare_evaluations(found: Mapping[str, Any], alpha: float, random_state: int) -> Comparison:
    """Compare what was measured of models, which are not known here, on the same rows."""
    names, every = list(map(str, found)), list(found.values())
    if len(every) < 2 or not all(isinstance(each, Evaluation) for each in every):
        raise InputError("evaluations are compared with evaluations of other models; give two at least")
    first = every[0]
    for name, each in zip(names[1:], every[1:]):
        one, other = (public(of.predictions.classes)[of.predictions.codes] for of in (first, each))
        if len(one) != len(other) or not (one == other).all():
            raise InputError(
                f"{names[0]} and {name} were judged by other rows; evaluate both by the same, in one order"
            )
        if each.confidence != first.confidence:
            raise InputError(f"the intervals of {names[0]} and {name} have different confidence; evaluate both alike")
    evaluations = dict(zip(names, every))
    pairs = _test_pairs(evaluations, alpha, np.random.default_rng(random_state))
    return Comparison(evaluations, {}, pairs, first.confidence, alpha)


def _name_models(models: Any) -> dict[str, Any]:
    """Models by name, none of them a class."""
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    elif isinstance(models, str | bytes) or not isinstance(models, Iterable) or hasattr(models, "fit"):
        raise KindError(f"models must be a mapping of names to classifiers, or a list, got {type(models).__name__}")
    else:
        given = list(models)
        # A pipeline is called after its last step.
        last = [model.steps[-1][1] if isinstance(getattr(model, "steps", None), list) else model for model in given]
        called = [type(model).__name__ for model in last]
        called = [" ".join(repr(m).split()) if called.count(name) > 1 else name for name, m in zip(called, last)]
        before = [called[:place].count(name) for place, name in enumerate(called)]
        named = {f"{name} ({copies + 1})" if copies else name: m for name, copies, m in zip(called, before, given)}
    if len(named) < 2:
        raise InputError(f"there are {len(named)} models to compare; give two at least")
    for name, model in named.items():
        if isinstance(model, type) or not all(hasattr(model, method) for method in ("fit", "predict", "get_params")):
            raise KindError(f"model {name!r} must be a classifier such as NaiveBayes(), got {model!r}")
        if is_regressor(model):
            raise KindError(
                f"model {name!r} answers with numbers; classifiers are compared, and cross_validate judges it"
            )
    return named


def _test_pairs(evaluations: Mapping[str, Evaluation], alpha: float, rng: np.random.Generator) -> tuple[Pair, ...]:
    """Tests of all pairs, corrected for each measure."""
    found: list[Pair] = []
    for measure in TESTED:
        verdicts = {}
        for names in combinations(evaluations, 2):
            one, other = (evaluations[name].predictions for name in names)  # in the order of the rows
            answers = Answers(one, other).on_all_classes()
            if measure == "accuracy":
                verdicts[names] = significance.judge_accuracy(answers, "mid-p", alpha)
            elif all(each.probabilities is not None for each in answers):
                verdicts[names] = significance.judge_swaps(answers, measure, _SWAPS, alpha, rng)
        adjusted = holm([verdict.p_value for verdict in verdicts.values()]).tolist()
        found += [Pair(*names, measure, verdict, p) for (names, verdict), p in zip(verdicts.items(), adjusted)]
    return tuple(found)


# Learning curves.


def _learn_curves(
    models: Mapping[str, Any], X: Any, y: Any, sizes: Any, repeats: int, test_size: Any, random_state: Any
) -> LearningCurves:
    """Fit models on nested, stratified samples of growing size, the same for all, and measure them on held-out rows."""
    from ingenuo.models.bayes_optimal import log_probabilities  # which imports scikit-learn

    check_whole("repeats", repeats, 1)
    rng, n_rows = seeded_generator("random_state", random_state), checks.count_rows(X)
    codes, classes = checks.labels(next(iter(models.values())), y, n_rows)
    if isinstance(test_size, bool) or not isinstance(test_size, float | int) or not 0 < test_size < n_rows:
        raise InputError(f"test_size={test_size!r} must be a share of the rows, or a number below {n_rows}")
    n_test = int(test_size) if test_size >= 1 else min(max(round(test_size * n_rows), 1), n_rows - 1)
    wanted = _sizes(sizes, np.bincount(codes, minlength=len(classes)), classes, n_rows - n_test)
    truth, declared = public(classes)[codes], {name: _declared(model, X) for name, model in models.items()}
    found = np.full((2, repeats, len(wanted), len(models)), np.nan)
    for repeat in range(repeats):
        rows = order(codes, rng)
        test = rows[n_rows - n_test :]
        asked = take_rows(X, test)
        for (at, size), (k, (name, model)) in ((s, m) for s in enumerate(wanted) for m in enumerate(declared.items())):
            try:
                fitted = clone(model).fit(take_rows(X, rows[:size]), truth[rows[:size]])
                found[0, repeat, at, k] = np.mean(np.asarray(fitted.predict(asked)) == truth[test])
                if hasattr(fitted, "predict_proba"):
                    logs = log_probabilities(fitted, asked, classes, codes[test], name)
                    found[1, repeat, at, k] = -np.maximum(logs, np.log(LEAST)).mean()
            except ValueError as error:
                raise InputError(f"with {size} rows {name} cannot be fitted: {error}; try larger sizes") from error
    return LearningCurves(tuple(models), np.array(wanted), found[0], found[1], n_test)


def order(codes: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """The rows in a random order, each beginning of which has its share of every class, up to rounding.

    The i-th of the n_k rows of class k, in a random order of its own, stands at (i + ½)/n_k of the way.

    >>> codes = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1])
    >>> codes[order(codes, np.random.default_rng(0))].tolist()
    [0, 1, 0, 0, 1, 0, 0, 1, 0]
    """
    shuffled, counts = rng.permutation(len(codes)), np.bincount(codes)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    at = np.empty(len(codes))
    nth = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    at[by_class] = (nth + 0.5) / np.repeat(counts, counts)
    return np.asarray(shuffled[np.argsort(at[shuffled], kind="stable")])


def _sizes(sizes: Any, counts: NDArray[Any], classes: Labels, most: int) -> list[int]:
    """The sizes that are given, or so many geometric ones; each sample surely has a row of every class."""
    if len(counts) < 2 or counts.min() < 2:
        raise InputError(f"class {classes[counts.argmin()]!r} has too few rows, or is the only one; give more rows")
    # All rows that stand no farther than the few-th of the rarest class: (2i + 1)/2n_k ≤ (2 few - 1)/2n_min.
    least, first = (int((((2 * few - 1) * counts // counts.min() + 1) // 2).sum()) for few in (1, 3))
    if isinstance(sizes, int) and sizes > 0:
        return list(np.unique(np.rint(np.geomspace(min(first, most), most, sizes)).astype(int)).tolist())
    if not isinstance(sizes, list | tuple | np.ndarray) or not len(sizes):
        raise KindError(f"sizes must be a list of numbers of rows, or how many sizes to take, got {sizes!r}")
    for size in sizes:
        check_whole("a size", size, 1)
        if not least <= size <= most:
            raise InputError(f"a size is {size}; with these classes and held-out rows take from {least} to {most} rows")
    return sorted({int(size) for size in sizes})


def _declared(model: Any, X: Any) -> Any:
    """The model with the kind of every column declared as it is inferred from all rows: a few might look different."""
    if not isinstance(model, NaiveBayes | SoftmaxRegression) or is_texts(X) or open_source(X).uniform() is not None:
        return model
    settings = {k: v for k, v in model.get_params(deep=False).items() if k in ("columns", "numbers", "counts", "text")}
    schema = NaiveBayes(**settings)._schema_of(open_source(X))
    kinds = zip(schema.names.tolist(), (FAMILIES[list(FAMILIES)[code]] for code in schema.families.tolist()))
    return clone(model).set_params(columns={**dict(kinds), **(model.columns or {})})
