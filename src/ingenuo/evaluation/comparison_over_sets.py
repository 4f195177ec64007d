"""`compare_over_sets`: several models over many data sets, with ranks, tests and the critical-difference diagram."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.evaluation.comparison import LOWER_IS_BETTER, MEASURES, Comparison
from ingenuo.evaluation.over_sets import Nemenyi, friedman, names_of, nemenyi
from ingenuo.evaluation.practical_equivalence import Practical, bayesian_signed_rank
from ingenuo.evaluation.verdict import Verdict, numbers_of, share_of
from ingenuo.explanation import STYLE
from ingenuo.explanation.beliefs import aligned, html_table

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SetComparison:
    """Several models over many sets; prints as a table of scores and ranks, with what the tests say.

    Attributes
    ----------
    names, sets : tuple of str
        The models and the data sets.
    scores : array (sets, models)
        What was measured.
    measure : str
        Of what.
    friedman : Verdict
        Whether the models differ at all.
    nemenyi : Nemenyi
        Which pairs do; has the average ranks and the critical difference.
    best_two : Practical
        The Bayesian signed-rank test of the two models with the best average ranks.
    """

    names: tuple[str, ...]
    sets: tuple[str, ...]
    scores: Floats
    measure: str
    friedman: Verdict
    nemenyi: Nemenyi
    best_two: Practical

    @property
    def best(self) -> str:
        """The model with the best average rank."""
        return self.names[int(self.nemenyi.ranks.argmin())]

    def table(self) -> Any:
        """An Arrow table with a line for each set and a column for each model."""
        import pyarrow as pa

        return pa.table({"set": list(self.sets), **dict(zip(self.names, self.scores.T))})

    def _lines(self) -> list[list[str]]:
        rows = [[name, *(f"{score:.3f}" for score in row)] for name, row in zip(self.sets, self.scores.tolist())]
        mean = ["mean", *(f"{score:.3f}" for score in self.scores.mean(axis=0).tolist())]
        rank = ["average rank", *(f"{rank:.3f}" for rank in self.nemenyi.ranks.tolist())]
        return [[MEASURES.get(self.measure, self.measure), *self.names], *rows, mean, rank]

    def _said(self) -> list[str]:
        first, second = (self.names[k] for k in np.argsort(self.nemenyi.ranks, kind="stable")[:2])
        sentence = self.best_two.sentence.replace("the first is", f"{first} is").replace(
            "the second with", f"{second} with"
        )
        return [self.friedman.sentence, self.nemenyi.sentence, sentence]

    def __str__(self) -> str:
        lines = aligned(self._lines())
        rule = "─" * max(map(len, lines))
        return "\n".join([lines[0], rule, *lines[1:-2], rule, *lines[-2:], *self._said()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{html.escape(line)}</p>" for line in self._said())
        table = html_table(self._lines(), len(self.sets) + 1)
        return f"<div style='overflow-x:auto'><style>{STYLE}</style>{table}{said}</div>"

    def plot(self, ax: Any = None) -> Any:
        """Draw the critical-difference diagram; the axes are returned."""
        return self.nemenyi.plot(ax)


def compare_over_sets(
    scores: Any,
    names: Sequence[str] | None = None,
    *,
    sets: Sequence[str] | None = None,
    measure: str = "accuracy",
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    rope: float = 0.01,
    random_state: Any = 0,
) -> SetComparison:
    """Compare several models over many data sets: Friedman's and Nemenyi's tests, and a Bayesian one of the best two.

    Parameters
    ----------
    scores : array (sets, models), or mapping of a set's name to a `Comparison`
        What was measured of each model on each set.
    names, sets : list, optional
        The models and the sets; with a mapping they are known.
    measure : str
        What the scores are; of a mapping, which measure is taken.
    higher_is_better : bool, optional
        Which scores are better; by default the lower ones of "log_loss" and "ece", else the higher ones.
    alpha : float
        The level of the tests.
    rope : float
        Differences up to this count as none in the Bayesian test.
    random_state : int, optional
        Seed for the Bayesian test.

    Examples
    --------
    >>> scores = [[0.91, 0.88, 0.80], [0.85, 0.86, 0.79], [0.78, 0.75, 0.74], [0.95, 0.93, 0.90]]
    >>> found = compare_over_sets(scores, ["A", "B", "C"])
    >>> found.best, found.nemenyi.ranks.tolist()
    ('A', [1.25, 1.75, 3.0])
    """
    share_of("alpha", alpha)
    if isinstance(scores, Mapping):
        if names is not None or sets is not None:
            raise InputError("names and sets are known from the comparisons; leave them out")
        table, names, sets = _gathered(scores, measure)
    else:
        table = numbers_of("scores", scores, (2,))
    lower = measure in LOWER_IS_BETTER
    better = not lower if higher_is_better is None else higher_is_better
    tested = friedman(table, names=names, higher_is_better=better, confidence=1 - alpha)
    pairs = nemenyi(table, alpha, names=names, higher_is_better=better)
    called = tuple(f"set {i + 1}" for i in range(len(table))) if sets is None else tuple(map(str, sets))
    if len(called) != len(table):
        raise InputError(f"there are {len(table)} sets of scores and {len(called)} names of sets; give one for each")
    first, second = np.argsort(pairs.ranks, kind="stable")[:2]
    practical = bayesian_signed_rank(
        table[:, first],
        table[:, second],
        rope,
        higher_is_better=better,
        confidence=1 - alpha,
        random_state=random_state,
    )
    return SetComparison(names_of(names, table.shape[1]), called, table, measure, tested, pairs, practical)


def _gathered(comparisons: Mapping[Any, Any], measure: str) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """The scores of comparisons of the same models, with the names of models and sets."""
    if not comparisons:
        raise InputError("there are no comparisons; give those of 2 sets at least")
    for name, found in comparisons.items():
        if not isinstance(found, Comparison):
            raise InputError(f"set {name!r} has no Comparison, but {type(found).__name__}; give what compare returns")
    models = next(iter(comparisons.values())).names
    for name, found in comparisons.items():
        if set(found.names) != set(models):
            raise InputError(
                f"set {name!r} has the models {list(found.names)}, others {list(models)}; compare the same"
            )
        for value, model in zip(found.values(measure), found.names):
            if value.value is None or not np.isfinite(value.value):
                raise InputError(f"{model} has no {MEASURES[measure]} on set {name!r}; take another measure")
    rows = [[float(found.evaluations[model][measure]) for model in models] for found in comparisons.values()]
    return np.array(rows), models, tuple(map(str, comparisons))
