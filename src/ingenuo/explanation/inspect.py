"""What a saved thing is and what it has learned: model, network or tally, in tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError, RefusedError, did_you_mean
from ingenuo.explanation.evidence import evidence
from ingenuo.explanation.strongest import Strongest, strongest, values_of_node
from ingenuo.families.family import Bags, Categories, Measure, WordTable
from ingenuo.families.family import Evidence as Part
from ingenuo.families.ngrams import END, START, UNKNOWN
from ingenuo.families.word_features import totals
from ingenuo.models.language import LanguageModel
from ingenuo.networks.network import Network
from ingenuo.rows.schema import column_name
from ingenuo.show.arithmetic import Floats
from ingenuo.show.plots import new_axes
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.labels import Labels, labels_of
from ingenuo.tally.tally import Tally

_CLASSES = 50  # are printed
_WORDS = 12  # that a language model begins with
_NO_WORDS = {START, END, UNKNOWN}
_MEASURES = {"accuracy": "accuracy", "majority_rate": "majority rate", "log_loss": "log loss", "ece": "ECE"}


@dataclass(frozen=True, eq=False, repr=False)
class Inspection(Shown):
    """What there is to know of a model; prints as paragraphs and tables."""

    what: str  # in one line
    about: Mapping[str, Any] = field(default_factory=dict)  # where it comes from
    classes: tuple[tuple[str, float], ...] = ()  # with their rows
    schema: tuple[tuple[str, str, str, str], ...] = ()  # column, kind, family, why
    strongest: Strongest | None = None
    text: str = ""  # what else a thing of its kind has to show
    data: Mapping[str, Any] = field(default_factory=dict)  # and the same as data

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        found: dict[str, Any] = {"what": self.what}
        if self.about:
            found["about"] = dict(self.about)
        if self.classes:
            rows = sum(count for _, count in self.classes)
            found["classes"] = [{"class": name, "rows": n, "share": _share(n, rows)} for name, n in self.classes]
        if self.schema:
            found["schema"] = [dict(zip(("column", "kind", "family", "why"), row)) for row in self.schema]
        if self.strongest is not None:
            found["strongest"] = self.strongest.to_dict()
        return {**found, **self.data}

    def _blocks(self) -> list[str | Block]:
        rows = sum(count for _, count in self.classes)
        shares = [(name, n, _share(n, rows)) for name, n in self.classes]
        about = _describe_origin(self.about)
        parts: list[list[str | Block]] = [
            [self.what],
            [PrintedTable((), about)] if about else [],
            _first(["class", "rows", "share"], shares, ["", ",.10g", ".4f"]),
            _first(["column", "kind", "family", "why"], self.schema),
            [self.text] if self.text else [],
        ]
        if self.strongest is not None:
            what = "What speaks most, by how much it says of a row of the class on average"
            parts.append([what, *self.strongest._blocks()])
        return [block for part in parts if part for block in ("", *part)][1:]

    def _title(self) -> str:
        return "What the model has learned"


def _first(heads: list[str], rows: Sequence[Sequence[Any]], formats: Sequence[str] = ()) -> list[str | Block]:
    """A table of the first rows, and how many more there are; nothing where there are none."""
    more = len(rows) - _CLASSES
    table = PrintedTable(heads, rows[:_CLASSES], formats)
    return [table, *([f"… and {more:,} more"] if more > 0 else [])] if rows else []


def inspect(model: Any, about: Mapping[str, Any] | None = None, top: int = 10) -> Inspection:
    """What a model, a network or a tally is, and what it has learned.

    Parameters
    ----------
    model : fitted model, Network or Tally
        What `ingenuo.load` gives.
    about : mapping, optional
        What `ingenuo.store.about` says of it.
    top : int
        How many of the strongest signs of each class to show; none for 0.

    Examples
    --------
    >>> from ingenuo import NaiveBayes
    >>> from ingenuo.datasets import play_tennis
    >>> print(inspect(NaiveBayes().fit(play_tennis(), "Play"), top=0))
    NaiveBayes(): 14 rows, 2 classes, 4 columns; the class is 'Play'
    <BLANKLINE>
    class  rows  share
    No     5     0.3571
    Yes    9     0.6429
    <BLANKLINE>
    column       kind      family       why
    Outlook      category  categorical  strings, 3 different
    Temperature  category  categorical  strings, 3 different
    Humidity     category  categorical  strings, 2 different
    Wind         category  categorical  strings, 2 different
    """
    about = {} if about is None else about
    if isinstance(model, Tally):
        tables = {name: type(table).__name__.lower() for name, table in model.items()}
        return Inspection(f"a tally: {len(tables)} tables of sums", about, text=str(model), data={"tables": tables})
    if isinstance(model, Network):
        return _network(model, about)
    if not hasattr(model, "tally_") or not hasattr(model, "schema_"):
        raise KindError(f"a {type(model).__name__} cannot be inspected; give a fitted model, a Network or a Tally")
    settings = " ".join(repr(model).split())
    counts = model.tally_.get("class")
    rows = 0.0 if counts is None else float(model.tally_.over("class", *counts.axes).floats().sum())
    if isinstance(model, LanguageModel):
        known = set(model.vocabulary_) - _NO_WORDS
        words = [(word, p) for word, p in model.next(n=_WORDS + len(_NO_WORDS)) if word in known and p > 0][:_WORDS]
        begins = ", ".join(f"{word} {p:.4g}" for word, p in words)
        size = len(known)
        return Inspection(
            f"{settings}: {_figure(rows)} texts, {size:,} different words",
            about,
            text=f"A text most probably begins with: {begins}",
            data={"texts": rows, "vocabulary": size, "first words": dict(words)},
        )
    columns = tuple(model.schema_.rows(len(model.schema_)))
    parts = [f"{_figure(rows)} rows"]
    classes: tuple[tuple[str, float], ...] = ()
    shown: Strongest | None = None
    if hasattr(model, "classes_"):
        by_class = model.tally_.over("class", *counts.axes).floats().tolist() if counts is not None else []
        seen = {} if counts is None else dict(zip(counts.axes[0].tolist(), by_class))
        classes = tuple((str(label), seen.get(label, 0.0)) for label in model.classes_.tolist())
        parts.append(f"{len(classes)} classes")
        shown = strongest(model, top) if top else None
    elif hasattr(model, "edges_"):
        edges = [float(edge) for edge in model.edges_]
        parts.append(f"{len(edges) - 1} bins of the target from {edges[0]:.6g} to {edges[-1]:.6g}")
    if columns:
        parts.append(f"{len(columns)} column{'s' if len(columns) > 1 else ''}")
    if hasattr(model, "vocabulary_") and not columns:
        parts.append(f"{len(set(model.vocabulary_) - _NO_WORDS):,} different words")
    target = getattr(model, "_target", None)
    named = f"; the class is {target!r}" if target else ""
    data: dict[str, Any] = {"rows": rows}
    text = ""
    if hasattr(model, "network_"):  # an average of networks has none of its own
        text, data["arcs"] = str(model.network_), [list(arc) for arc in model.network_.arcs]
    return Inspection(f"{settings}: {', '.join(parts)}{named}", about, classes, columns, shown, text, data)


def _describe_origin(about: Mapping[str, Any]) -> list[list[str]]:
    """What is kept beside a model of where it comes from, in a row for each fact."""
    found = []
    for key in ("title", "command", "created", "version"):
        if about.get(key):
            found.append([key, str(about[key])])
    for source in about.get("sources") or []:
        size = f" ({source['bytes']:,} bytes)" if isinstance(source.get("bytes"), int) else ""
        found.append(["source", f"{source.get('path', '')}{size}"])
    judged = about.get("evaluation")
    if isinstance(judged, Mapping):
        said = [f"{name} {_measure(judged[key])}" for key, name in _MEASURES.items() if key in judged]
        found.append(["evaluation", ", ".join([*said, *([str(judged["how"])] if judged.get("how") else [])])])
    for event in about.get("history") or []:
        source = event.get("source", "")
        names = ", ".join(map(str, source)) if isinstance(source, list | tuple) else str(source)
        rows = event.get("rows")
        of = "" if rows is None else f" {_figure(float(rows))} rows"
        found.append(["history", f"{event.get('when', '')} {event.get('what', '')}{of} {names}".strip()])
    return found


def _measure(found: Any) -> str:
    if not isinstance(found, Mapping):
        return f"{found:.4g}" if isinstance(found, float) else str(found)
    value, low, high = (found.get(key) for key in ("value", "low", "high"))
    shown = "–" if value is None else f"{value:.4g}"
    return shown if low is None or high is None else f"{shown} ({low:.4g} to {high:.4g})"


def _network(network: Network, about: Mapping[str, Any]) -> Inspection:
    return Inspection(
        "a Bayesian network",
        about,
        text=str(network),
        data={
            "nodes": {node: [str(state) for state in states] for node, states in network.states.items()},
            "arcs": [list(arc) for arc in network.arcs],
        },
    )


def _share(count: float, of: float) -> float:
    return count / of if of else 0.0


def _figure(number: float) -> str:
    return f"{number:,.10g}"


# One column of a fitted model: how often each class had each value, and what the model makes of that.


FIGURES = "figures of each class"
_VIEW_CLASSES = 8  # are printed side by side, and drawn


@dataclass(frozen=True, eq=False, repr=False)
class ColumnView(Shown):
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

    def _blocks(self) -> list[str | Block]:
        shown = [str(label) for label in self.classes.tolist()[:_VIEW_CLASSES]]
        rows = []
        for place, value in enumerate(self.values):
            counts = [""] * len(shown) if self.counts is None else [f"{n:,.10g}  " for n in self.counts[place].tolist()]
            numbers = [f"{number:.6g}" for number in self.numbers[place].tolist()]
            rows.append([value, *(count + number for _, count, number in zip(shown, counts, numbers))])
        hidden = len(self.classes) - len(shown)
        return [
            f"{self.column}: {f'{self.counted}, and ' if self.counts is not None else ''}{self.kind}",
            PrintedTable(["", *shown], rows),
            *([f"({hidden} more classes are not shown)"] if hidden > 0 else []),
            *([self.remark] if self.remark else []),
        ]

    def _title(self) -> str:
        return self.column

    def plot(self, ax: Any = None) -> Any:
        """Draw bars for each value, or the densities of numbers; the axes are returned."""
        if self.density is not None:
            return self.density(self.column, ax)
        if self.kind == FIGURES:
            raise InputError(f"the column {self.column!r} has no density by itself, so that there is nothing to draw")
        n, k = len(self.values), min(len(self.classes), _VIEW_CLASSES)
        ax = new_axes(ax, (6.4, max(2.4, 0.8 + 0.18 * n * (k + 1))))
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
    >>> import ingenuo as ing, ingenuo.datasets
    >>> print(column_view(ing.NaiveBayes().fit(ingenuo.datasets.play_tennis(), "Play"), "Wind"))
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
    if part.kind == "category":
        return _values(part, column, classes, n)
    if part.kind == "number":
        return _view_measure(part, column, classes, model.plot if hasattr(model, "densities_") else None)
    return _words(part, column, classes, n) if part.kind == "text" else _count(part, column, classes)


def _names(part: Part) -> list[str]:
    return [column_name(name) for name in (part.columns.tolist() if part.kind == "count" else [part.column])]


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


def _values(part: Categories, column: str, classes: Labels, n: int) -> ColumnView:
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


def _view_measure(part: Measure, column: str, classes: Labels, density: Callable[..., Any] | None) -> ColumnView:
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
