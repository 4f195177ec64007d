"""One column of a fitted model: how often each class had each value, and what the model makes of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ingenuo.errors import InputError, RefusedError, did_you_mean
from ingenuo.explanation.beliefs import aligned
from ingenuo.explanation.evidence import Bags, Measure, Part, Values, WordTable, evidence
from ingenuo.explanation.pictures import axes
from ingenuo.explanation.strongest import values_of_node
from ingenuo.families.family import Floats
from ingenuo.families.word_features import totals
from ingenuo.labels import Labels, labels_of
from ingenuo.schema import column_name

FIGURES = "figures of each class"
_CLASSES = 8  # are printed side by side, and drawn


@dataclass(frozen=True, eq=False)
class ColumnView:
    """A table of one column, a line for each value (word, figure); prints as such."""

    column: str
    kind: str
    classes: Labels
    values: tuple[str, ...]
    numbers: Floats  # (values, classes): probabilities, or what `kind` says
    counts: Floats | None = None  # (values, classes): how often it was seen
    remark: str = ""
    counted: str = "rows"  # or times, for a row has many words
    density: Callable[..., Any] | None = None  # what draws a column of numbers, where the model has its density

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        names = list(map(str, self.classes.tolist()))
        lines = []
        for place, value in enumerate(self.values):
            line: dict[str, Any] = {"value": value, "numbers": dict(zip(names, self.numbers[place].tolist()))}
            if self.counts is not None:
                line[self.counted] = dict(zip(names, self.counts[place].tolist()))
            lines.append(line)
        return {"column": self.column, "kind": self.kind, "lines": lines, "remark": self.remark}

    def __str__(self) -> str:
        shown = self.classes.tolist()[:_CLASSES]
        lines = [["", *(str(label) for label in shown)]]
        for place, value in enumerate(self.values):
            cells = []
            for k in range(len(shown)):
                count = "" if self.counts is None else f"{self.counts[place, k]:,.10g}  "
                cells.append(f"{count}{self.numbers[place, k]:.6g}")
            lines.append([value, *cells])
        hidden = len(self.classes) - len(shown)
        more = [f"({hidden} more classes are not shown)"] if hidden > 0 else []
        title = f"{self.column}: {f'{self.counted}, and ' if self.counts is not None else ''}{self.kind}"
        return "\n".join([title, *aligned(lines), *more, *([self.remark] if self.remark else [])])

    def __repr__(self) -> str:
        return str(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw bars for each value, or the densities of numbers; the axes are returned."""
        if self.density is not None:
            return self.density(self.column, ax)
        if self.kind == FIGURES:
            raise InputError(f"the column {self.column!r} has no density by itself, so that there is nothing to draw")
        n, k = len(self.values), min(len(self.classes), _CLASSES)
        ax = axes(ax, (6.4, max(2.4, 0.8 + 0.18 * n * (k + 1))))
        height = 0.8 / k
        for place in range(k):
            middle = np.arange(n) + (place - (k - 1) / 2) * height
            ax.barh(middle, self.numbers[:, place], height, label=str(self.classes[place]))
        ax.set_yticks(np.arange(n), [value if len(value) <= 30 else value[:29] + "…" for value in self.values])
        ax.invert_yaxis()
        ax.set_xlabel(self.kind)
        ax.set_title(self.column, fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(title="class", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return ax


def column_view(model: Any, column: str, n: int = 20) -> ColumnView:
    """What a model knows of one column.

    Parameters
    ----------
    model : fitted classifier
        Naive Bayes of any kind, a discriminant, a softmax regression or a network.
    column : str
        Its name ('x0', 'x1', … where columns have none).
    n : int
        Of many values or words, how many are shown: the most frequent.

    Examples
    --------
    >>> import ingenuo as ing, ingenuo.data
    >>> print(column_view(ing.NaiveBayes().fit(ingenuo.data.play_tennis(), "Play"), "Wind"))
    Wind: rows, and P(value | class)
            No           Yes
    Strong  3  0.571429  3  0.363636
    Weak    2  0.428571  6  0.636364
    """
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise InputError(f"a {type(model).__name__} has no classes, so there is nothing to show of a column in each")
    known = {column_name(name): name for name in model.schema_.names.tolist()}
    if column not in known:
        raise InputError(f"there is no column {column!r}{did_you_mean(column, known)}")
    classes, parts = _parts(model, column)
    part = next((part for part in parts if column in _names(part)), None)
    if part is None:
        raise InputError(f"the column {column!r} was ignored when the model was trained, so there is nothing to show")
    if isinstance(part, Values):
        return _values(part, column, classes, n)
    if isinstance(part, Measure):
        return _measure(part, column, classes, model.plot if hasattr(model, "densities_") else None)
    return _words(part, column, classes, n) if isinstance(part, WordTable) else _count(part, column, classes)


def _names(part: Part) -> list[str]:
    return [column_name(name) for name in (part.columns.tolist() if isinstance(part, Bags) else [part.column])]


def _parts(model: Any, column: str) -> tuple[Labels, Iterable[Part]]:
    if type(model).__name__ != "NetworkClassifier":
        found = evidence(model, "view of its columns", added=False)
        return found.classes, found.parts
    classes = labels_of(model.classes_)
    try:
        network = model.network_
    except RefusedError as refused:
        raise InputError(f"the column {column!r} cannot be shown by itself: {refused}") from None
    if column not in network.nodes:
        return classes, ()
    return classes, (values_of_node(network, column, classes),)


def _values(part: Values, column: str, classes: Labels, n: int) -> ColumnView:
    places = np.arange(len(part.values))
    if len(places) > n:
        weight = part.counts if part.counts is not None else part.shares
        assert weight is not None
        places = np.argsort(-weight.sum(axis=0), kind="stable")[:n]
    rest = len(part.values) - len(places)
    return ColumnView(
        column,
        "P(value | class)" if part.shares is not None else "weights",
        classes,
        tuple(str(part.values[place]) for place in places.tolist()),
        part.shares.T[places] if part.shares is not None else part.logs[places],
        None if part.counts is None else part.counts.T[places],
        f"({rest:,} rarer values are not shown)" if rest else "",
    )


def _measure(part: Measure, column: str, classes: Labels, density: Callable[..., Any] | None) -> ColumnView:
    lines = {"mean": part.means, "standard deviation": part.deviations}
    if part.slopes is not None:
        lines["weight of one more"] = part.slopes
    remark = "(it has one value only, and is left out of the product)" if part.silent else ""
    figures = np.array(list(lines.values()))
    return ColumnView(column, FIGURES, classes, tuple(lines), figures, remark=remark, density=density)


def _count(part: Bags, column: str, classes: Labels) -> ColumnView:
    """A column of counts, or of a thing that is there or not."""
    j = _names(part).index(column)
    lines: dict[str, Floats] = {}
    if part.counts is not None:
        lines["sum" if part.absent is None else "rows that have it"] = part.counts[:, j]
    lines["weight of one more" if part.absent is None else "weight where it is there"] = part.each[j]
    if part.absent is not None:
        lines["weight where it is not"] = part.absent[j]
    if part.shares is not None:
        lines["share of all that is counted" if part.absent is None else "share of the rows"] = part.shares[:, j]
    return ColumnView(column, FIGURES, classes, tuple(lines), np.array(list(lines.values())))


def _words(part: WordTable, column: str, classes: Labels, n: int) -> ColumnView:
    """The most frequent words; what the model makes of them is in `each`."""
    most = np.where(part.used, np.asarray(totals(part.bag), np.float64), -1.0)
    places = np.argsort(-most, kind="stable")[: min(n, int(part.used.sum()))]
    counts = np.stack([np.asarray(part.bag.column(k), np.float64)[places] for k in range(len(classes))], axis=1)
    each = np.stack([part.each(k)[places] for k in range(len(classes))], axis=1)
    linear = part.model == "linear"
    rest = int(part.used.sum()) - len(places)
    return ColumnView(
        column,
        "weights" if linear else ("P(word | class)" if part.model == "multinomial" else "log evidence"),
        classes,
        tuple(part.bag.vocabulary.texts(places.tolist())),
        np.exp(each / part.weight) if part.model == "multinomial" and part.weight else each,
        counts,
        f"({rest:,} rarer words are not shown)" if rest else "",
        "rows" if part.model == "bernoulli" else "times",
    )
