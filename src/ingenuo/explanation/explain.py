"""The arithmetic behind an answer, and what a saved thing is and has learned: model, network, tally or one column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError, RefusedError, did_you_mean
from ingenuo.explanation.evidence import evidence
from ingenuo.explanation.strongest import Strongest, strongest, values_of_node
from ingenuo.families.family import Evidence as Part
from ingenuo.families.ngrams import END, START, UNKNOWN
from ingenuo.families.word_features import stopped_words, totals
from ingenuo.models.language import LanguageModel
from ingenuo.networks.network import Network
from ingenuo.rows.schema import column_name
from ingenuo.rows.typed import parse_row, reads_texts
from ingenuo.show.arithmetic import Explanations, Floats, RowsOf
from ingenuo.show.plots import VALUES, bars
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.labels import Labels, labels_of
from ingenuo.tally.tally import Tally

_CLASSES = 50  # are printed
_WORDS = 12  # that a language model begins with
_TERMS = 12  # of a line that is written out, at most
_NO_WORDS = {START, END, UNKNOWN}
_MEASURES = {"accuracy": "accuracy", "majority_rate": "majority rate", "log_loss": "log loss", "ece": "ECE"} | {
    "r2": "R²", "mean_absolute_error": "mean absolute error", "root_mean_squared_error": "root mean squared error"
}  # fmt: skip
_FIGURES = "figures of each class"
_VIEW_CLASSES = 8  # are printed side by side, and drawn


def explain(
    model: Any, row: Any, *, rows: Iterable[int] | None = None, form: str = "product", language: str = "en"
) -> Any:
    """The arithmetic of an answer: what a person would write to check it.

    Parameters
    ----------
    model : fitted model
        Any classifier of this package, or `NaiveBayesRegressor`.
    row : mapping, sequence, text, or table
        The row to explain; what a mapping leaves out is missing. A text is the row itself where the model reads one
        column of text, else it is read as "Outlook=Sunny, Wind=Strong", or as a JSON object. Of a table, or a list of
        rows, all are explained.
    rows : iterable of int, optional
        Which rows to explain, where the second argument is a table (or a list) of several; counted from 0.
    form : {"product", "log"}
        Whether the factors are multiplied, or their logarithms added.
    language : {"en", "it", "es"}
        Of what is printed; the names of columns, values and classes stay as they are, and so does all that is data.

    Returns
    -------
    Explanation, or another of its kind; of several rows a list of them that shows itself
        All print as tables and show themselves in notebooks; they have `to_text()`, `to_markdown()`, `to_latex()`,
        `to_csv()`, `to_html()`, `to_dict()` and `to_frame()`.

    Examples
    --------
    >>> import ingenuo as ing, ingenuo.datasets
    >>> from ingenuo.explanation.explain import explain
    >>> model = ing.NaiveBayes().fit(ingenuo.datasets.play_tennis(), "Play")
    >>> print(explain(model, "Outlook=Overcast, Wind=?"))
                           No                             Yes
    ──────────────────────────────────────────────────────────────────────────────────
    prior                  5/14             = 0.3571429   9/14             = 0.6428571
    Outlook      Overcast  (0 + 1)/(5 + 3)  = 0.125       (4 + 1)/(9 + 3)  = 0.4166667
    Temperature  missing   left out
    Humidity     missing   left out
    Wind         missing   left out
    ──────────────────────────────────────────────────────────────────────────────────
    product                                 = 0.04464286                   = 0.2678571
    their sum    P(x) = 0.3125
    ÷ their sum                             = 0.142857                     = 0.857143
    → Yes, with probability 0.857143
    >>> print(explain(model, {"Outlook": "Overcast"}, form="log").to_csv().splitlines()[2])
    Outlook,Overcast,(0 + 1)/(5 + 3),-2.0794415416798357,(4 + 1)/(9 + 3),-0.8754687373538999,
    """
    if not callable(getattr(model, "explain", None)) or not hasattr(model, "fit"):
        raise KindError(
            f"a {type(model).__name__} cannot explain an answer; give a fitted model of this package, as NaiveBayes"
        )
    if rows is not None:
        chosen = _check_rows(row, rows)
        found = Explanations(lambda each: model.explain(each, form=form), RowsOf(row, chosen), chosen)
        return found.translate(language)
    if isinstance(row, str) and not reads_texts(model):
        row = parse_row(row, model)
    return model.explain(row, form=form, language=language)


def _check_rows(table: Any, rows: Iterable[int]) -> list[int]:
    """Places of rows of a table, each of which it must have."""
    size = getattr(table, "shape", None) or (len(table) if hasattr(table, "__len__") else None,)
    if isinstance(table, str | bytes | Mapping) or size[0] is None:
        raise KindError(f"rows are taken of a table or of a list of texts, got {type(table).__name__}; leave out rows=")
    chosen = list(rows)
    for row in chosen:
        if isinstance(row, bool) or not isinstance(row, int | np.integer):
            raise KindError(f"rows must be whole numbers, got {type(row).__name__} {row!r}")
        if not 0 <= row < size[0]:
            raise InputError(f"there is no row {row}: the table has {size[0]} rows, counted from 0")
    return chosen


@dataclass(frozen=True, eq=False, repr=False)
class Inspection(Shown):
    """What there is to know of a model; prints as paragraphs and tables."""

    what: str  # in one line
    about: Mapping[str, Any] = field(default_factory=dict)  # where it comes from
    classes: tuple[tuple[str, float, float], ...] = ()  # with their rows and shares
    schema: tuple[tuple[str, str, str, str], ...] = ()  # column, kind, family, why
    strongest: Strongest | None = None
    text: str = ""  # what else a thing of its kind has to show
    data: Mapping[str, Any] = field(default_factory=dict)  # and the same as data

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        found = {
            "what": self.what,
            "about": dict(self.about),
            "classes": [dict(zip(("class", "rows", "share"), row)) for row in self.classes],
            "schema": [dict(zip(("column", "kind", "family", "why"), row)) for row in self.schema],
            "strongest": None if self.strongest is None else self.strongest.to_dict(),
        }
        return {**{key: value for key, value in found.items() if value}, **self.data}

    def _blocks(self) -> list[str | Block]:
        about = _describe_origin(self.about)
        parts: list[list[str | Block]] = [
            [self.what],
            [PrintedTable((), about)] if about else [],
            _first(["class", "rows", "share"], self.classes, ["", ",.10g", ".4f"]),
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
    """What a model, a network or a tally is, where it comes from, and its `top` strongest signs of each class."""
    about = {} if about is None else about
    if isinstance(model, Tally):
        tables = {name: type(table).__name__.lower() for name, table in model.items()}
        return Inspection(f"a tally: {len(tables)} tables of sums", about, text=str(model), data={"tables": tables})
    if isinstance(model, Network):
        nodes = {node: [str(state) for state in states] for node, states in model.states.items()}
        data: dict[str, Any] = {"nodes": nodes, "arcs": [list(arc) for arc in model.arcs]}
        return Inspection("a Bayesian network", about, text=str(model), data=data)
    if not hasattr(model, "tally_") or not hasattr(model, "schema_"):
        raise KindError(f"a {type(model).__name__} cannot be inspected; give a fitted model, a Network or a Tally")
    settings = " ".join(repr(model).split())
    counts = model.tally_.get("class")
    by_class = {} if counts is None else dict(zip(counts.axes[0].tolist(), counts.sums.floats().tolist()))
    rows = float(sum(by_class.values()))
    if isinstance(model, LanguageModel):
        known = set(model.vocabulary_) - _NO_WORDS
        asked: dict[str, tuple[str, list[str]]] = {"words": ("The most probable words", [])}
        if model.boundaries and model.order > 1:
            asked["first words"] = ("A text most probably begins with", [START] * (model.order - 1))
        data, lines = {"texts": rows, "vocabulary": len(known)}, []
        for key, (said, context) in asked.items():
            found = model.next(context, _WORDS + len(_NO_WORDS))
            data[key] = dict([(word, p) for word, p in found if word in known and p > 0][:_WORDS])
            lines.append(f"{said}: {', '.join(f'{word} {p:.4g}' for word, p in data[key].items())}")
        what = f"{settings}: {rows:,.10g} texts, {len(known):,} different words"
        return Inspection(what, about, text="\n".join(lines), data=data)
    columns = describe_columns(model, len(model.schema_))
    parts = [f"{rows:,.10g} rows"]
    classes: tuple[tuple[str, float, float], ...] = ()
    shown: Strongest | None = None
    if hasattr(model, "classes_"):
        seen = [(str(label), by_class.get(label, 0.0)) for label in model.classes_.tolist()]
        total = sum(n for _, n in seen)
        classes = tuple((name, n, n / total if total else 0.0) for name, n in seen)
        parts.append(f"{len(classes)} classes")
        shown = strongest(model, top) if top else None
    elif hasattr(model, "edges_"):
        edges = [float(edge) for edge in model.edges_]
        parts.append(f"{len(edges) - 1} bins of the target from {edges[0]:.6g} to {edges[-1]:.6g}")
    if columns:
        parts.append(f"{len(columns)} column{'s' if len(columns) > 1 else ''}")
    elif hasattr(model, "vocabulary_"):
        parts.append(f"{len(set(model.vocabulary_) - _NO_WORDS):,} different words")
    if behind := getattr(model, "calibration_behind_", 0):
        parts.append(f"its calibration {behind:,} row{'s' if behind > 1 else ''} behind")
    target = getattr(model, "_target", None)
    named = f"; the {'class' if classes else 'target'} is {target!r}" if target else ""
    data, text = {"rows": rows} | ({"calibration_behind": behind} if behind else {}), ""
    if stopped := stopped_words(model.tally_, model.schema_):
        data["stop words"] = stopped
    if hasattr(model, "network_"):  # an average of networks has none of its own
        text, data["arcs"] = str(model.network_), [list(arc) for arc in model.network_.arcs]
    elif hasattr(model, "members_"):  # of a weighted vote
        text, data["members"] = str(model.members_), model.members_.to_dict()
    elif hasattr(model, "weights_"):  # of a vote
        logs, data["weights"] = model.log_likelihoods_, model.weights_
        voters = [[name, logs[name], weight] for name, weight in model.weights_.items()]
        text = PrintedTable(["classifier", "log-likelihood", "weight"], voters, ["", ".2f", ".6f"]).text()
    elif hasattr(model, "coef_") and hasattr(model, "discriminant"):
        text = data["discriminant"] = model.discriminant(most=_TERMS)
    return Inspection(f"{settings}: {', '.join(parts)}{named}", about, classes, columns, shown, text, data)


def describe_columns(model: Any, most: int) -> tuple[tuple[str, str, str, str], ...]:
    """(column, kind, family, why) of a fitted model's first columns; of texts, the frequent words left out, too."""
    stopped = stopped_words(model.tally_, model.schema_) if hasattr(model, "tally_") else {}
    shown = {name: ", ".join(words[:_WORDS]) + ", …" * (len(words) > _WORDS) for name, words in stopped.items()}
    return tuple(
        (name, kind, family, f"{why}; left out, the most frequent: {shown[name]}" if name in shown else why)
        for name, kind, family, why in model.schema_.rows(most)
    )


def _describe_origin(about: Mapping[str, Any]) -> list[list[str]]:
    """What is kept beside a model of where it comes from, in a row for each fact."""
    found = [[key, str(about[key])] for key in ("title", "command", "created", "version") if about.get(key)]
    for source in about.get("sources") or []:
        size = f" ({source['bytes']:,} bytes)" if isinstance(source.get("bytes"), int) else ""
        found.append(["source", f"{source.get('path', '')}{size}"])
    judged = about.get("evaluation")
    if isinstance(judged, Mapping):
        measures = [f"{name} {_measure(judged[key])}" for key, name in _MEASURES.items() if key in judged]
        found.append(["evaluation", ", ".join([*measures, *([str(judged["how"])] if judged.get("how") else [])])])
    for event in about.get("history") or []:
        source, rows = event.get("source", ""), event.get("rows")
        names = ", ".join(map(str, source)) if isinstance(source, list | tuple) else str(source)
        of = "" if rows is None else f" {float(rows):,.10g} rows"
        found.append(["history", f"{event.get('when', '')} {event.get('what', '')}{of} {names}".strip()])
    return found


def _measure(found: Any) -> str:
    if not isinstance(found, Mapping):
        return f"{found:.4g}" if isinstance(found, float) else str(found)
    value, low, high = (found.get(key) for key in ("value", "low", "high"))
    shown = "–" if value is None else f"{value:.4g}"
    return shown if low is None or high is None else f"{shown} ({low:.4g} to {high:.4g})"


# One column of a fitted model: how often each class had each value, and what the model makes of that.


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
        lines: list[dict[str, Any]] = [
            {"value": value, "numbers": dict(zip(names, numbers))}
            for value, numbers in zip(self.values, self.numbers.tolist())
        ]
        for line, counts in zip(lines, [] if self.counts is None else self.counts.tolist()):
            line[self.counted] = dict(zip(names, counts))
        return {"column": self.column, "kind": self.kind, "lines": lines, "remark": self.remark}

    def _blocks(self) -> list[str | Block]:
        shown = [str(label) for label in self.classes.tolist()[:_VIEW_CLASSES]]
        counts = np.full(self.numbers.shape, "", object)
        if self.counts is not None:
            counts = np.array([[f"{n:,.10g}  " for n in line] for line in self.counts.tolist()], object)
        cells = [[c + f"{x:.6g}" for c, x in zip(*line)] for line in zip(counts, self.numbers.tolist())]
        rows = [[value, *line[: len(shown)]] for value, line in zip(self.values, cells)]
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
        if self.kind == _FIGURES:
            raise InputError(f"the column {self.column!r} has no density by itself, so that there is nothing to draw")
        return bars(self.values, self.numbers, self.classes, self.kind, self.column, ax)


def column_view(model: Any, column: str, n: int = VALUES) -> ColumnView:
    """What a classifier knows of one column; of many values or words, the n most frequent."""
    if not hasattr(model, "classes_"):
        raise InputError(f"a {type(model).__name__} has no classes, so there is nothing to show of a column in each")
    known = {column_name(name): name for name in model.schema_.names.tolist()}
    if column not in known:
        raise InputError(f"there is no column {column!r}{did_you_mean(column, known)}")
    classes = labels_of(model.classes_)
    for part in _parts_of(model, column, classes):
        names = part.columns.tolist() if part.kind == "count" else [part.column]
        if known[column] in names:
            density = model.plot if hasattr(model, "densities_") else None
            return _view(part, column, classes, n, names.index(known[column]), density)
    raise InputError(f"the column {column!r} was ignored when the model was trained, so there is nothing to show")


def _parts_of(model: Any, column: str, classes: Labels) -> Iterable[Part]:
    if type(model).__name__ != "NetworkClassifier":
        return evidence(model, "view of its columns", added=False).parts
    try:
        network = model.network_
    except RefusedError as refused:
        raise InputError(f"the column {column!r} cannot be shown by itself: {refused}") from None
    return [values_of_node(network, column, classes)] if column in network.nodes else []


def _view(part: Part, column: str, classes: Labels, n: int, j: int, density: Callable[..., Any] | None) -> ColumnView:
    """What is known of a column, the j-th of the part."""
    lines: dict[str, Floats] = {}
    if part.kind == "category":
        places = np.arange(len(part.values))
        if len(places) > n:
            weight: Any = part.counts if part.counts is not None else part.shares
            places = np.argsort(-weight.sum(axis=0), kind="stable")[:n]
            places = np.sort(places) if part.values.dtype.kind in "if" else places
        rest = len(part.values) - len(places)
        kind, numbers = ("weights", part.logs) if part.shares is None else ("P(value | class)", part.shares.T)
        counts = None if part.counts is None else part.counts.T[places]
        values = tuple(str(part.values[place]) for place in places.tolist())
        remark = f"({rest:,} rarer values are not shown)" if rest else ""
        return ColumnView(column, kind, classes, values, numbers[places], counts, remark)
    if part.kind == "text":
        used, model = int(part.used.sum()), part.model
        most = np.where(part.used, np.asarray(totals(part.bag), np.float64), -1.0)
        places = np.argsort(-most, kind="stable")[: min(n, used)]
        counts, each = (
            np.stack([np.asarray(of(k), np.float64)[places] for k in range(len(classes))], axis=1)
            for of in (part.bag.column, part.each)
        )
        kind = {"linear": "weights", "multinomial": "P(word | class)"}.get(model, "log evidence")
        each = np.exp(each / part.weight) if model == "multinomial" and part.weight else each
        remark = f"({used - len(places):,} rarer words are not shown)" if used > len(places) else ""
        values = tuple(part.bag.vocabulary.shown(places.tolist()))
        counted = "rows" if model == "bernoulli" else "times"
        return ColumnView(column, kind, classes, values, each, counts, remark, counted)
    if part.kind == "number":
        lines = dict(part.figures) or {"mean": part.means, "standard deviation": part.deviations}
        if part.slopes is not None:
            lines["weight of one more"] = part.slopes
        remark = "(it has one value only, and is left out of the product)" if part.silent else ""
        figures = np.array(list(lines.values()))
        return ColumnView(column, _FIGURES, classes, tuple(lines), figures, remark=remark, density=density)
    counting = part.absent is None  # else a thing that is there or not
    if part.counts is not None:
        lines["sum" if counting else "rows that have it"] = part.counts[:, j]
    lines["weight of one more" if counting else "weight where it is there"] = part.each[j]
    if part.absent is not None:
        lines["weight where it is not"] = part.absent[j]
    if part.shares is not None:
        lines["share of all that is counted" if counting else "share of the rows"] = part.shares[:, j]
    return ColumnView(column, _FIGURES, classes, tuple(lines), np.array(list(lines.values())))
