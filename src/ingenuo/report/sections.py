"""The sections on the model and its data: what it has learned, its columns, its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, KindError
from ingenuo.evaluation.evaluation import Evaluation
from ingenuo.explanation.nomogram import nomogram
from ingenuo.explanation.strongest import strongest
from ingenuo.rows import checks
from ingenuo.rows.part import Codes
from ingenuo.rows.rows import is_stream, take_rows, target_and_weight
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import Source, open_source
from ingenuo.rows.streams import draw_rows
from ingenuo.show import page, plots
from ingenuo.show.format import count
from ingenuo.show.table import Section, details, figure, paragraphs, percent, region, sentence, shortened, table
from ingenuo.tally.labels import find, labels_of, objects


def short_names(found: Evaluation) -> list[str]:
    """The classes, as they stand in pictures."""
    return [plots.short(label) for label in found.labels]


# What a table holds, column by column: what is missing, and where the values lie.


Floats = NDArray[np.float64]

COLUMNS = 60  # described one by one
_VALUES = 5  # of a category
_NUMBERS = 12  # different numbers from which on a column of categories is described as one of numbers
_TEXTS = 2_000  # whose words are counted
_BARS = "▁▂▃▄▅▆▇█"
_EMPTY = "\u2007"  # as wide as a digit


@dataclass(frozen=True)
class Column:
    """A column of a table, in words."""

    name: str
    kind: str
    missing: float  # share of the rows
    values: str
    bars: str = ""  # the histogram of numbers


def columns_of(source: Source, schema: Schema | None, most: int = COLUMNS) -> list[Column]:
    """The first columns of a table, as the schema reads them; without a schema, as they seem."""
    if schema is None or len(schema) == 0:
        places = list(range(min(len(source.names), most)))
        return [_column(source, place, source.names[place], source.guess(place)[0]) for place in places]
    by_place = not schema.named or source.names.dtype != object or source.anonymous
    own = {name: place for place, name in enumerate(source.names.tolist())}
    families, found = list(FAMILIES), []
    for at, (name, family) in enumerate(zip(schema.names[:most].tolist(), schema.families)):
        place = at if by_place else own.get(name)
        kind = FAMILIES[families[family]]
        if place is None:
            found.append(Column(column_name(name), kind, 1.0, "not in this table"))
        else:
            found.append(_column(source, place, name, kind))
    return found


def _column(source: Source, place: int, name: Any, kind: str) -> Column:
    called = column_name(name)
    at, names = np.array([place]), source.names[[place]]
    if kind == "ignore":
        return Column(called, "ignored", float("nan"), "set aside: the model does not look at it")
    try:
        if kind == "text":
            return _text(source, at, names, called)
        if kind == "number":
            return _numbers(source.numbers(at, names).column(0), called, kind)
        if kind == "count":
            return _counts(source.counts(at, names).matrix, called)
        return _categories(source.codes(at, names), called)
    except IngenuoError as error:
        return Column(called, kind, float("nan"), str(error))


def _numbers(values: Floats, called: str, kind: str) -> Column:
    """Least, quarters and most."""
    there = values[np.isfinite(values)]
    missing = 1 - len(there) / max(len(values), 1)
    if not len(there):
        return Column(called, kind, missing, "no value")
    quarters = np.quantile(there, [0, 0.25, 0.5, 0.75, 1])
    low, first, middle, third, high = map(_figure, quarters.tolist())
    said = f"{low} to {high}; half between {first} and {third}, median {middle}"
    return Column(called, kind, missing, said if low != high else f"always {low}", _histogram(there))


def _figure(value: float) -> str:
    """A number as a person would write it.

    >>> _figure(1490400.0), _figure(0.12345)
    ('1,490,400', '0.1235')
    """
    return f"{value:,.0f}" if value.is_integer() or abs(value) >= 10_000 else f"{value:.4g}"


def _histogram(values: Floats) -> str:
    """The values' histogram in a line, between the outermost hundredths.

    >>> _histogram(np.array([1.0, 1, 1, 2, 2, 3])).split()
    ['█', '▆', '▃']
    """
    low, high = np.quantile(values, [0.01, 0.99])
    if not low < high:
        return ""
    counts = np.histogram(values.clip(low, high), len(_BARS), (low, high))[0]
    heights = np.ceil(counts / counts.max() * len(_BARS)).astype(int) - 1
    return "".join(_BARS[height] if height >= 0 else _EMPTY for height in heights)


def _counts(matrix: Any, called: str) -> Column:
    """How many rows have any, and how much."""
    values = np.asarray(matrix.todense() if hasattr(matrix, "todense") else matrix, np.float64).ravel()
    some = values > 0
    if not some.any():
        return Column(called, "count", 0.0, "0 in every row")
    return Column(
        called, "count", 0.0, f"in {some.mean():.1%} of the rows; {values[some].mean():.3g} there, on average"
    )


def _categories(block: Codes, called: str) -> Column:
    """The most frequent values and their shares."""
    codes = np.asarray(block.columns[:, 0] if isinstance(block.columns, np.ndarray) else block.columns[0])
    there = codes[codes >= 0].astype(np.int64)
    missing = 1 - len(there) / max(len(codes), 1)
    counts = np.bincount(there)
    labels = np.arange(len(counts)) if block.labels is None else block.labels[0][: len(counts)]
    used = np.flatnonzero(counts)
    if len(used) > _NUMBERS and _are_numbers(labels[used].tolist()):
        return _numbers(np.asarray(labels.tolist(), np.float64)[there], called, "category")
    order = used[np.argsort(-counts[used], kind="stable")]
    shown = [
        f"{shortened(label, 30)} {counts[k] / max(len(there), 1):.0%}"
        for k, label in zip(order[:_VALUES].tolist(), labels[order[:_VALUES]].tolist())
    ]
    more = len(order) - _VALUES
    said = ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
    return Column(called, "category", missing, said or "no value")


def _are_numbers(labels: Sequence[Any]) -> bool:
    return all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)


def _text(source: Source, at: Any, names: Any, called: str) -> Column:
    """How long the texts are, by the first of them."""
    text = source.texts(at, names).columns[0]  # type: ignore[attr-defined]
    lengths: list[int] = []
    missing = n_rows = 0
    for piece in text.pieces("replace"):
        n_rows += piece.n_rows
        holes = np.zeros(piece.n_rows, bool) if piece.missing is None else piece.missing
        missing += int(holes.sum())
        for row in np.flatnonzero(~holes)[: _TEXTS - len(lengths)].tolist():
            lengths.append(len(bytes(piece.data[piece.offsets[row] : piece.offsets[row + 1]]).split()))
    if not lengths:
        return Column(called, "text", 1.0, "no text")
    low, middle, high = np.quantile(lengths, [0, 0.5, 1])
    of = "" if len(lengths) + missing == n_rows else f", of the first {len(lengths):,}"
    return Column(called, "text", missing / n_rows, f"{low:.0f} to {high:.0f} words, median {middle:.0f}{of}")


def kinds_beyond(schema: Schema, most: int = COLUMNS) -> str:
    """How many columns of each kind are not described, in words; "" where all are.

    >>> kinds_beyond(Schema.of({"a": "number", "b": "category", "c": "number"}), 1)
    '2 more columns are not listed: 1 category, 1 number.'
    """
    kinds = [kind for _, kind, _, _ in schema.rows(len(schema))[most:]]
    if not kinds:
        return ""
    counted = ", ".join(f"{kinds.count(kind):,} {kind}" for kind in sorted(set(kinds)))
    return f"{len(kinds):,} more column{'s are' if len(kinds) > 1 else ' is'} not listed: {counted}."


def telling(source: Source, schema: Schema, codes: NDArray[Any], most: int) -> list[Any]:
    """The columns of numbers that differ most between the classes of the rows, the most telling first.

    What is compared is the share of a column's variance that lies between the classes' means (η²).
    """
    chosen = [
        name for name, (_, kind, _, _) in zip(schema.names.tolist(), schema.rows(len(schema))) if kind == "number"
    ]
    if not chosen:
        return []
    own = labels_of(source.names)
    places = np.argsort(find(own, source.names))[find(own, objects(chosen) if schema.named else np.array(chosen))]
    strength: list[tuple[float, int, Any]] = []
    for name, place in zip(chosen, places.tolist()):
        values = source.numbers(np.array([place]), source.names[[place]]).column(0)
        strength.append((-_between(values, codes), len(strength), name))
    return [name for _, _, name in sorted(strength)[:most]]


def _between(values: Floats, codes: NDArray[Any]) -> float:
    there = np.isfinite(values)
    x, y = values[there], codes[there].astype(np.int64)
    if len(x) < 2 or x.min() == x.max():
        return 0.0
    x = (x - x.mean()) / np.abs(x).max()
    counts, sums = np.bincount(y), np.bincount(y, x)
    some = counts > 0
    whole = float(((x - x.mean()) ** 2).sum())
    return float((sums[some] ** 2 / counts[some]).sum() - x.sum() ** 2 / len(x)) / whole if whole > 0 else 0.0


# The rows that a report judges: as they were given, or as many of them as a report can take.


@dataclass(frozen=True)
class Rows:
    """Rows and what is true of them."""

    X: Any
    y: NDArray[Any]
    codes: NDArray[np.int32]  # of y
    given: int  # rows there were
    numbers: NDArray[np.int64]  # which of them these are, from 0

    def __len__(self) -> int:
        return len(self.y)

    def row(self, place: int) -> Any:
        """One row, as a model explains it."""
        if checks.is_frame(self.X):
            return take_rows(self.X, np.array([place]))
        value = self.X[place]
        return value.as_py() if hasattr(value, "as_py") else value

    def taken(self, places: NDArray[np.intp]) -> Rows:
        """Some of the rows."""
        return Rows(take_rows(self.X, places), self.y[places], self.codes[places], self.given, self.numbers[places])

    def source(self) -> Source | None:
        """The rows column by column; None where they have no columns that could be named."""
        try:
            return open_source(checks.array_of(self.X) if _nested(self.X) else self.X)
        except IngenuoError:
            return None


def _nested(X: Any) -> bool:
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], list | tuple | np.ndarray)


def rows_of(model: Any, X: Any, y: Any, max_rows: int, seed: int) -> Rows:
    """The rows to judge a model on; of more than so many, that many drawn at random."""
    for name, value in (("max_rows", max_rows), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise KindError(f"{name} must be a whole number, got {type(value).__name__} {value!r}")
    if max_rows < 1 or seed < 0:
        raise InputError(f"max_rows must be 1 at least and seed 0 at least, got {max_rows} and {seed}")
    if y is None:
        y = getattr(model, "_target", None)
        if y is None:
            raise InputError("y is missing: give the name of the column of classes, or the class of each row")
    if isinstance(y, str) and not checks.is_frame(X) and not is_stream(X):
        raise InputError(f"y={y!r} names a column, and X is no table with names; give the class of each row")
    numbers, given = None, None
    if is_stream(X):
        y = target_and_weight(X, y, None)[0]
        X, numbers, given = draw_rows(X, int(max_rows), int(seed))
    X, y = checks.target_column(X, y)
    codes, classes = checks.labels(None, y, len(y))
    labels = np.asarray(classes[codes])
    n = len(labels)
    if hasattr(X, "to_list") and not checks.is_frame(X):  # a series of texts
        X = X.to_list()
    if n <= max_rows:
        return Rows(X, labels, codes, n if given is None else given, np.arange(n) if numbers is None else numbers)
    some = np.sort(np.random.default_rng(seed).choice(n, int(max_rows), replace=False))
    return Rows(take_rows(X, some), labels[some], codes[some], n, some)


def schema_of(model: Any) -> Schema | None:
    """What the model takes each column for, if it says."""
    found = getattr(model, "schema_", None)
    return found if isinstance(found, Schema) and len(found) else None


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
        signs = found.table(k)
        cells = [["column", *signs.heads[1:]], *([shortened(cell, 120) for cell in row] for row in signs.cells())]
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
    with page.drawing():
        return _curves(model, rows, chosen) if hasattr(model, "numbers") else _regions(model, rows, chosen)


def _curves(model: Any, rows: Rows, chosen: list[Any]) -> Section | None:
    """A picture for each column, the classes of most rows in it."""
    largest = np.argsort(-np.bincount(rows.codes), kind="stable")[:_CURVES]
    labels = [str(rows.y[rows.codes == k][0]) for k in largest.tolist()]
    shown = []
    for at, name in enumerate(chosen):
        ax = model.plot(name, ax=plots.new_axes(None, (4.4, 3.0)))
        ax.set_ylabel("density")
        if len(model.classes_) > _CURVES:
            _keep(ax, set(labels))
        called = f"densities of {column_name(name)}"
        shown.append(figure(page.svg(ax, called, f"density{at}"), f"{column_name(name)}, within each class."))
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
        ax = model.plot(taken.X, taken.y, columns=pair if len(pair) == 2 else None, ax=plots.new_axes(None, (5.6, 4.6)))
    except IngenuoError:
        return None
    names = " and ".join(column_name(name) for name in pair)
    how = (
        "Where each class is answered, in the columns of numbers whose values differ most between the classes; other "
        "columns count as unknown, or as their means. The points are rows."
    )
    body = figure(
        page.svg(ax, f"regions of the classes in {names}", "regions", own_colours=True),
        f"Regions of the classes: {names}.",
    )
    return Section("densities", "Regions", how, body)


# The sections on the data: what the rows hold, what the model takes the columns for, how many rows a class has.


_CLASSES = 20  # whose shares are drawn


def data(model: Any, rows: Rows) -> Section:
    """The rows that were judged, column by column."""
    source, schema = rows.source(), schema_of(model)
    how = "These are the rows that the model was judged on; they should be rows that it has not learned from."
    if source is None:
        return Section("data", "What the data is", how, paragraphs([f"{len(rows):,} texts, each a list of words."]))
    found = columns_of(source, schema)
    n = len(source.names) if schema is None else len(schema)
    said = [f"{len(rows):,} rows, {n:,} column{'' if n == 1 else 's'} besides the class."]
    if len(rows) < rows.given:
        said[0] = f"{rows.given:,} rows, of which {len(rows):,} were drawn at random for this report; " + said[0]
    if schema is not None and kinds_beyond(schema):
        said.append(kinds_beyond(schema))
    elif schema is None and n > COLUMNS:
        said.append(f"The first {COLUMNS} are listed.")
    return Section("data", "What the data is", how, paragraphs([" ".join(said)]) + _listed(found))


def _listed(found: list[Column]) -> str:
    """The table of the columns; the histograms are for the eye only."""
    body = ""
    for each in found:
        missing = "" if np.isnan(each.missing) else missing_share(each.missing)
        body += (
            f'<tr><th scope="row">{escape(shortened(each.name))}</th><td>{each.kind}</td><td class="n">{missing}</td>'
            f'<td class="long">{escape(each.values)}</td><td class="bars" aria-hidden="true">{each.bars}</td></tr>'
        )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("column", "kind", "missing", "values", ""))
    sheet = f'<table class="sheet"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
    return region(sheet, "columns and their values")


def missing_share(share: float) -> str:
    """A share of missing values: none and all are said exactly.

    >>> missing_share(0.0), missing_share(0.0001), missing_share(0.25)
    ('none', 'less than 0.1%', '25.0%')
    """
    if share == 0:
        return "none"
    return "all" if share == 1 else percent(share)


def schema(model: Any) -> Section:
    """What each column is to the model, and why."""
    found = schema_of(model)
    how = "What the model takes each column for, how it models it, and why: inferred from the values, or declared."
    if found is None:
        what = (
            "The model reads texts as sequences of words" if hasattr(model, "order") else "The model names no columns"
        )
        return Section("schema", "Schema", how, paragraphs([f"{what}: it has no schema."]))
    lines = [[shortened(name), kind, family, shortened(why, 200)] for name, kind, family, why in found.rows(COLUMNS)]
    body = table([["column", "kind", "family", "why"], *lines], "schema")
    return Section("schema", "Schema", how, body + paragraphs([s for s in [kinds_beyond(found)] if s]))


def learned_rows(model: Any, classes: Any) -> Floats | None:
    """How many rows of each class the model has learned from, if its sums say so."""
    tally = getattr(model, "tally_", None)
    if tally is None or "class" not in tally:
        return None
    known = labels_of(tally.labels("class", 0))
    counts = tally.over("class", known).floats()
    places = find(known, classes)
    return np.where(places >= 0, np.append(counts, 0.0)[places], 0.0)


def balance(model: Any, found: Evaluation) -> Section:
    """The classes' shares of the rows learned from and of the rows judged."""
    classes = labels_of(found.classes)
    learned, judged = learned_rows(model, classes), found.support
    names = [shortened(label) for label in classes.tolist()]
    order = np.argsort(-(judged if learned is None else learned), kind="stable")
    shown = order[:_CLASSES] if len(order) > _CLASSES else np.arange(len(order))
    heads = ["class", *(["learned from", "share"] if learned is not None else []), "judged on", "share"]
    lines = []
    for k in order[: 3 * _CLASSES] if len(order) > _CLASSES else range(len(order)):
        cells = [names[k]]
        for counts in [learned, judged] if learned is not None else [judged]:
            cells += [count(float(counts[k])), percent(counts[k] / max(counts.sum(), 1))]
        lines.append(cells)
    body = table([heads, *lines], "rows of each class", range(1, len(heads)))
    said = []
    if len(order) > _CLASSES:
        said.append(f"Of {len(order)} classes the {len(shown)} largest are drawn and the {len(lines)} largest listed.")
    with page.drawing():
        shares = None if learned is None else learned[shown] / max(float(learned.sum()), 1.0)
        names = short_names(found)
        ax = page.balance([names[k] for k in shown.tolist()], shares, judged[shown] / judged.sum())
        picture = page.svg(ax, "share of each class; the table has its numbers", "balance")
    how = (
        "A model that learned from other shares than it meets will expect the wrong ones: its prior is the shares it "
        "learned from, unless it was told otherwise."
    )
    body = figure(picture, "Share of each class among the rows.") + body + paragraphs(said)
    return Section("balance", "Class balance", how, body)
