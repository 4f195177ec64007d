"""`compare`: several models on the same rows and folds, one table, and which of the differences are real."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, overload

import numpy as np

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.evaluation.cross_validation import CrossValidation, cross_validate, splits_of
from ingenuo.evaluation.evaluation import Evaluation, Measure
from ingenuo.evaluation.intervals import check_share
from ingenuo.evaluation.learning_curves import LearningCurves, curves_of
from ingenuo.evaluation.paired import (
    Pair as Answers,
)
from ingenuo.evaluation.paired import (
    Verdict,
    level,
    mcnemar_of,
    number,
    p_text,
    percent,
    permutation_of,
)
from ingenuo.evaluation.predictions import Predictions
from ingenuo.evaluation.significance import holm
from ingenuo.rows import checks
from ingenuo.rows.checks import check_whole
from ingenuo.rows.rows import rows_of
from ingenuo.show.plots import intervals
from ingenuo.show.table import Block, PrintedTable, Shown

MEASURES = {"accuracy": "accuracy", "f1_macro": "macro F1", "log_loss": "log loss", "ece": "ECE"}
LOWER_IS_BETTER = ("log_loss", "ece")
TESTED = {"accuracy": "McNemar's test, mid-p", "log_loss": "permutation test"}
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
    def sentence(self) -> str:
        """Who is ahead, by how much, and whether chance explains it."""
        effect = self.verdict.effect or 0.0
        sure = "significantly" if self.significant else "not significantly"
        above, below = (self.first, self.second) if effect >= 0 else (self.second, self.first)
        how = f"{MEASURES[self.measure]} of {above} is {number(abs(effect))} above that of {below}"
        return f"The {how}, {sure} at the {percent(self.verdict.alpha)} level ({p_text(self.p_adjusted)}, corrected)."


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Several models on the same rows, out of fold; prints as a table with the differences that are significant."""

    evaluations: Mapping[str, Evaluation]  # what was measured of each model
    cross_validations: Mapping[str, CrossValidation]  # each model's answers out of fold
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

        def order(name: str) -> tuple[float, float]:
            found = self.evaluations[name]
            loss = found["log_loss"].value
            return -float(found["accuracy"]), np.inf if loss is None else float(loss)

        return min(self.names, key=order)

    def values(self, measure: str = "accuracy") -> list[Measure]:
        """What each model has of a measure, with intervals."""
        if measure not in MEASURES:
            raise InputError(f"measure={measure!r} is not compared{did_you_mean(measure, MEASURES)}")
        return [found[measure] for found in self.evaluations.values()]

    def table(self) -> Any:
        """An Arrow table with a line for each model: measures, the ends of their intervals, and times in seconds."""
        import pyarrow as pa

        columns: dict[str, Any] = {"model": list(self.names)}
        for measure in MEASURES:
            found = self.values(measure)
            columns[measure] = pa.array([value.value for value in found], pa.float64())
            columns[f"{measure}_low"] = pa.array([value.low for value in found], pa.float64())
            columns[f"{measure}_high"] = pa.array([value.high for value in found], pa.float64())
        for time in ("fit_time", "predict_time"):
            columns[time] = [float(getattr(found, time)) for found in self.cross_validations.values()]
        return pa.table(columns)

    def conclude(self, measure: str = "accuracy") -> str:
        """Which models differ significantly in accuracy or log loss, in one sentence."""
        if measure not in TESTED:
            raise InputError(f"measure={measure!r} is not tested{did_you_mean(measure, TESTED)}")
        tested = [pair for pair in self.pairs if pair.measure == measure]
        name = MEASURES[measure]
        begin = f"{name[0].upper()}{name[1:]} ({TESTED[measure]})"
        if not tested:
            return f"{begin}: not tested, for it needs probabilities of both models."
        apart = [pair for pair in tested if pair.significant]
        if not apart:
            every = "the two do not differ" if len(tested) == 1 else f"none of the {len(tested)} pairs differs"
            least = p_text(min(pair.p_adjusted for pair in tested))
            shown = least if len(tested) == 1 else f"least {least}"
            return f"{begin}: {every} significantly at the {percent(self.alpha)} level ({shown})."
        apart.sort(key=lambda pair: (pair.p_adjusted, -abs(pair.verdict.effect or 0.0)))
        said = []
        for pair in apart[:_SHOWN]:
            effect = pair.verdict.effect or 0.0
            first_leads = (effect > 0) != (measure in LOWER_IS_BETTER)
            ahead, behind = (pair.first, pair.second) if first_leads else (pair.second, pair.first)
            said.append(f"{ahead} is better than {behind} by {number(abs(effect))} ({p_text(pair.p_adjusted)})")
        more = f"; {len(apart) - _SHOWN} more differ" if len(apart) > _SHOWN else ""
        rest = len(tested) - len(apart)
        others = {0: "", 1: "; the other pair does not differ significantly"}.get(
            rest, f"; the other {rest} pairs do not differ significantly"
        )
        return f"{begin}: {'; '.join(said)}{more}{others}."

    def _blocks(self, times: bool = True) -> Sequence[str | Block]:
        lines = []
        for name, found in self.evaluations.items():
            taken = self.cross_validations[name]
            spent = [_seconds(taken.fit_time), _seconds(taken.predict_time)] if times else []
            lines.append([name, *(_cell(found[measure]) for measure in MEASURES), *spent])
        heads = ["model", *MEASURES.values(), *(["fit", "predict"] if times else [])]
        rows = next(iter(self.evaluations.values())).n_rows
        return [
            PrintedTable(heads, lines, rule=True),
            f"{rows:,} rows, each answered out of fold, the same folds for all; {percent(self.confidence)} intervals.",
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
        return intervals(self.names, found, MEASURES[measure], ax)


@overload
def compare(
    models: Any, X: Any, y: Any, folds: Any = 10, *, groups: Any = None, confidence: float = 0.95, alpha: float = 0.05,
    sizes: None = None, repeats: int = 10, test_size: float = 0.3, random_state: int = 0,
) -> Comparison: ...  # fmt: skip


@overload
def compare(
    models: Any, X: Any, y: Any, folds: Any = 10, *, groups: Any = None, confidence: float = 0.95, alpha: float = 0.05,
    sizes: Any, repeats: int = 10, test_size: float = 0.3, random_state: int = 0,
) -> LearningCurves: ...  # fmt: skip


def compare(
    models: Any,
    X: Any,
    y: Any,
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
    models : mapping of name to classifier, or list of classifiers
        Two at least; a list is named after its classes.
    X : array, sparse matrix, list of texts, or pandas, polars or Arrow table
        The rows: anything that all models take.
    y : array-like, or the name of a column of X
        The class of each row.
    folds : int, "leave-one-out", scikit-learn splitter, or list of (train, test)
        As in `cross_validate`; the splits are made once, for all models.
    groups : array-like, optional
        Rows of one group stay together, as in `cross_validate`.
    confidence : float
        How sure the intervals are.
    alpha : float
        The level of the tests.
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
    >>> from ingenuo import GaussianDiscriminant, NaiveBayes
    >>> from sklearn.datasets import load_iris
    >>> found = compare([NaiveBayes(), GaussianDiscriminant()], *load_iris(return_X_y=True))
    >>> found.best, len(found.pairs)
    ('GaussianDiscriminant', 2)
    >>> compare([NaiveBayes(), GaussianDiscriminant()], *load_iris(return_X_y=True), sizes=[15, 100]).leaders()
    [None, 'GaussianDiscriminant']
    """
    named = _named(models)
    level(confidence)
    alpha = check_share("alpha", alpha)
    check_whole("random_state", random_state, 0)
    here = rows_of(X, y).in_memory()
    X, y = here.X, here.y
    if y is None:
        raise InputError("y is missing: nothing can be judged without what is true of each row; give y")
    if sizes is not None:
        if groups is not None:
            raise InputError("groups were given, and learning curves over sizes draw rows one by one; leave groups out")
        return curves_of(named, X, y, sizes, repeats, test_size, random_state)
    same = _same_folds(folds, y, groups, random_state)
    found = {
        name: cross_validate(model, X, y, same, groups=groups, confidence=confidence, random_state=random_state)
        for name, model in named.items()
    }
    _check_rows(found)
    evaluations = {name: one.evaluation for name, one in found.items()}
    answers = {name: one.predictions for name, one in evaluations.items()}  # in the order of the rows
    rng = np.random.default_rng(random_state)
    return Comparison(evaluations, found, _pairs(answers, alpha, rng), float(confidence), alpha)


def _named(models: Any) -> dict[str, Any]:
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
        twice = {name for name in called if called.count(name) > 1}
        called = [" ".join(repr(m).split()) if name in twice else name for name, m in zip(called, last)]
        named = {}
        for name, model in zip(called, given):
            copies = sum(key == name or key.startswith(f"{name} (") for key in named)
            named[f"{name} ({copies + 1})" if copies else name] = model
    if len(named) < 2:
        raise InputError(f"there are {len(named)} models to compare; give two at least")
    for name, model in named.items():
        if isinstance(model, type) or not all(hasattr(model, method) for method in ("fit", "predict", "get_params")):
            raise KindError(f"model {name!r} must be a classifier such as NaiveBayes(), got {model!r}")
    return named


def _same_folds(folds: Any, y: Any, groups: Any, random_state: int) -> Any:
    """Folds that are the same at every call: a splitter may draw them again each time."""
    if isinstance(folds, int | np.integer | str):
        return folds  # which cross_validate draws by the seed
    codes, classes = checks.labels(None, y, len(y))
    return splits_of(folds, codes, classes, groups, random_state)[0]


def _check_rows(found: Mapping[str, CrossValidation]) -> None:
    (first, one), *others = found.items()
    for name, other in others:
        if len(one.test) != len(other.test) or not all(map(np.array_equal, one.test, other.test)):
            raise InputError(
                f"{first} and {name} were judged on different rows, for the folds changed; give folds as pairs of rows"
            )


def _pairs(answers: Mapping[str, Predictions], alpha: float, rng: np.random.Generator) -> tuple[Pair, ...]:
    """Tests of all pairs, corrected for each measure."""
    found: list[Pair] = []
    for measure in TESTED:
        verdicts = []
        for first, second in combinations(answers, 2):
            judged = Answers(answers[first], answers[second])
            if measure == "accuracy":
                verdicts.append((first, second, mcnemar_of(judged, "mid-p", alpha)))
            elif judged.first.probabilities is not None and judged.second.probabilities is not None:
                verdicts.append((first, second, permutation_of(judged, measure, _SWAPS, alpha, rng)))
        adjusted = holm([verdict.p_value for _, _, verdict in verdicts]).tolist()
        found += [Pair(first, second, measure, v, p) for (first, second, v), p in zip(verdicts, adjusted)]
    return tuple(found)


def _cell(measure: Measure) -> str:
    if measure.value is None:
        return "–"
    if measure.low is None or measure.high is None:
        return f"{measure.value:.3f}"
    return f"{measure.value:.3f} ({measure.low:.3f} to {measure.high:.3f})"


def _seconds(time: float) -> str:
    return f"{time:.1f} s" if time >= 1 else f"{1000 * time:.3g} ms"
