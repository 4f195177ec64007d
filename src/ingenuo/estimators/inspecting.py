"""What a saved thing is and what it has learned: model, network or tally, in tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ingenuo.errors import KindError
from ingenuo.estimators.language import LanguageModel
from ingenuo.explanation.beliefs import aligned
from ingenuo.explanation.strongest import Strongest, strongest
from ingenuo.families.ngrams import END, START, UNKNOWN
from ingenuo.networks.network import Network
from ingenuo.tally import Tally

_CLASSES = 50  # are printed
_WORDS = 12  # that a language model begins with
_NO_WORDS = {START, END, UNKNOWN}
_MEASURES = {"accuracy": "accuracy", "majority_rate": "majority rate", "log_loss": "log loss", "ece": "ECE"}


@dataclass(frozen=True, eq=False)
class Inspection:
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

    def __str__(self) -> str:
        parts = [self.what, "\n".join(about_lines(self.about)), self._classes(), self._schema(), self.text]
        if self.strongest is not None:
            parts.append(f"What speaks most, by how much it says of a row of the class on average\n{self.strongest}")
        return "\n\n".join(part for part in parts if part)

    def __repr__(self) -> str:
        return str(self)

    def _classes(self) -> str:
        if not self.classes:
            return ""
        rows = sum(count for _, count in self.classes)
        lines = [["class", "rows", "share"]]
        lines += [[name, f"{n:,.10g}", f"{_share(n, rows):.4f}"] for name, n in self.classes[:_CLASSES]]
        more = len(self.classes) - _CLASSES
        return "\n".join([*aligned(lines), *([f"… and {more:,} more"] if more > 0 else [])])

    def _schema(self) -> str:
        if not self.schema:
            return ""
        shown = [list(row) for row in self.schema[:_CLASSES]]
        more = len(self.schema) - _CLASSES
        table = aligned([["column", "kind", "family", "why"], *shown])
        return "\n".join([*table, *([f"… and {more:,} more"] if more > 0 else [])])


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
    >>> from ingenuo.data import play_tennis
    >>> print(inspect(NaiveBayes().fit(play_tennis(), "Play"), top=0))
    NaiveBayes(): 14 rows, 2 classes, 4 columns; the class is 'Play'
    <BLANKLINE>
    class  rows  share
    No     5     0.3571
    Yes    9     0.6429
    <BLANKLINE>
    column       kind      family       why
    Outlook      category  categorical  strings
    Temperature  category  categorical  strings
    Humidity     category  categorical  strings
    Wind         category  categorical  strings
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


def about_lines(about: Mapping[str, Any]) -> list[str]:
    """What is kept beside a model of where it comes from, in a line for each fact."""
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
    return aligned(found) if found else []


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
