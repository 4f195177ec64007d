"""The sections on what the model has learned: its strongest evidence, its picture, its densities."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from ingenuo.errors import IngenuoError
from ingenuo.explanation import pictures
from ingenuo.explanation.nomogram import nomogram
from ingenuo.explanation.strongest import strongest
from ingenuo.report import charts
from ingenuo.report.columns import telling
from ingenuo.report.markup import Section, details, figure, paragraphs, region, sentence, shortened, table
from ingenuo.report.rows import Rows, schema_of
from ingenuo.schema import column_name

_SIDE = 4  # classes whose evidence is not folded away
_LISTED = 30  # and whose evidence is there at all
_DENSITIES = 6  # columns that are drawn
_CURVES = 8  # classes in one picture
_POINTS = 400  # rows that are drawn
_NODES = 80  # of a network that can still be read
_LARGE = 400_000  # letters of a picture that the page can carry


def evidence(model: Any, n: int = 10) -> Section:
    """What speaks most for each class."""
    how = (
        "What speaks most for each class: values that are much more likely within it than in the others, and frequent "
        "enough to matter."
    )
    lines = (
        "What speaks most for each class: the columns that change its odds most, by what one standard deviation "
        "multiplies them by."
    )
    try:
        found = strongest(model, n)
    except IngenuoError as error:
        return Section("evidence", "Strongest evidence", "", paragraphs([sentence(error)]))
    spoken = [k for k in range(len(found.classes)) if found.signs[k]]
    if not spoken and found.remark:
        return Section("evidence", "Strongest evidence", "", paragraphs([sentence(found.remark.strip("()"))]))
    body = ""
    for k in spoken[:_LISTED]:
        label = shortened(found.classes.tolist()[k])
        heads, *rows = found.lines(k)
        cells = [["column", *heads[1:]], *([shortened(cell, 120) for cell in row] for row in rows)]
        listed = table(cells, f"what speaks for {label}", [2] if found.linear else [2, 3, 4])
        body += f"<h3>For {escape(label)}</h3>{listed}" if len(spoken) <= _SIDE else details(f"For {label}", listed)
    said = [f"{len(spoken) - _LISTED} more classes are not listed."] if len(spoken) > _LISTED else []
    silent = [shortened(found.classes.tolist()[k], 30) for k in range(len(found.classes)) if not found.signs[k]]
    if silent:
        more = f" and {len(silent) - 8} more" if len(silent) > 8 else ""
        said.append(f"Nothing speaks for {', '.join(silent[:8])}{more}.")
    how = lines if found.linear else how
    return Section("evidence", "Strongest evidence", how, body + paragraphs([*said, *filter(None, [found.remark])]))


def picture(model: Any) -> Section:
    """The whole model in one picture: its network, or its nomogram."""
    network = getattr(model, "network_", None) if hasattr(model, "structure") else None
    return _nomogram(model) if network is None else _network(network)


def _network(network: Any) -> Section:
    how = (
        "An arrow says that the table of the node at its head is given for every state of the node at its tail. Thick "
        "arrows tell much, thin ones little."
    )
    n = len(network.nodes)
    drawn = ""
    if n <= _NODES:
        try:
            drawn = str(network.draw(title="the network of the model"))
        except IngenuoError:  # too wide to ask for beliefs
            drawn = str(network.draw(beliefs=False, strengths=False, title="the network of the model"))
    if not drawn or len(drawn) > _LARGE:
        arcs = [f"{up} → {down}" for up, down in network.arcs[:200]]
        said = f"{n} nodes and {len(network.arcs)} arcs are too many for a picture on this page. The first arcs: "
        return Section("model", "The network", how, paragraphs([said + "; ".join(arcs) + "."]))
    return Section(
        "model", "The network", how, region(f'<div class="island">{drawn}</div>', "the network", picture=True)
    )


def _nomogram(model: Any) -> Section:
    how = (
        "Read off the points of each value on the scale at the top, add them, and find the sum on the scale of total "
        "points: beneath it stands the probability. This is the model itself, not an approximation."
    )
    try:
        drawn = nomogram(model).svg()
    except IngenuoError as error:
        return Section("model", "Nomogram", "", paragraphs([sentence(error)]))
    if len(drawn) > _LARGE:
        return Section("model", "Nomogram", "", paragraphs(["The nomogram is too large for this page."]))
    return Section("model", "Nomogram", how, region(drawn, "nomogram", picture=True))


def densities(model: Any, rows: Rows) -> Section | None:
    """The columns of numbers that tell the classes apart best; None where the model has none."""
    schema, source = schema_of(model), rows.source()
    if schema is None or source is None or not hasattr(model, "plot"):
        return None
    chosen = telling(source, schema, rows.codes, _DENSITIES)
    if not chosen:
        return None
    with charts.drawing():
        return _curves(model, rows, chosen) if hasattr(model, "numbers") else _regions(model, rows, chosen)


def _curves(model: Any, rows: Rows, chosen: list[Any]) -> Section | None:
    """A picture for each column, the classes of most rows in it."""
    largest = np.argsort(-np.bincount(rows.codes), kind="stable")[:_CURVES]
    labels = [str(rows.y[rows.codes == k][0]) for k in largest.tolist()]
    shown = []
    for at, name in enumerate(chosen):
        ax = model.plot(name, ax=pictures.axes(None, (4.4, 3.0)))
        ax.set_ylabel("density")
        if len(model.classes_) > _CURVES:
            _keep(ax, set(labels))
        called = f"densities of {column_name(name)}"
        shown.append(figure(charts.svg(ax, called, f"density{at}"), f"{column_name(name)}, within each class."))
    how = (
        "The columns of numbers whose values differ most between the classes. A value speaks for the class whose curve "
        "is highest there, by as much as it is higher."
    )
    if len(model.classes_) > _CURVES:
        how += f" Of {len(model.classes_)} classes the {len(labels)} with most rows are drawn."
    return Section("densities", "Densities", how, f'<div class="several">{"".join(shown)}</div>')


def _keep(ax: Any, labels: set[str]) -> None:
    """Leave out the curves of other classes and their histograms, and give the colours to those that stay."""
    gone = [k for k, line in enumerate(ax.lines) if line.get_label() not in labels]
    bars = list(ax.patches)
    for drawn in (list(ax.lines), bars if len(bars) == len(ax.lines) else []):
        for place, artist in enumerate(drawn):
            if place in gone:
                artist.remove()
    for artists in (ax.lines, ax.patches):
        for at, artist in enumerate(artists):
            artist.set(color=f"C{at}", linestyle="-")
    ax.legend(title="class", fontsize="small")


def _regions(model: Any, rows: Rows, chosen: list[Any]) -> Section | None:
    """Where each class is answered, in the two columns that tell most."""
    some = np.linspace(0, len(rows) - 1, min(len(rows), _POINTS)).round().astype(np.intp)
    taken = rows.taken(some)
    pair = chosen[:2]
    try:
        ax = model.plot(taken.X, taken.y, columns=pair if len(pair) == 2 else None, ax=pictures.axes(None, (5.6, 4.6)))
    except IngenuoError:
        return None
    names = " and ".join(column_name(name) for name in pair)
    how = (
        "Where each class is answered, in the columns of numbers whose values differ most between the classes; other "
        "columns count as unknown, or as their means. The points are rows."
    )
    body = figure(
        charts.svg(ax, f"regions of the classes in {names}", "regions", own_colours=True),
        f"Regions of the classes: {names}.",
    )
    return Section("densities", "Regions", how, body)
