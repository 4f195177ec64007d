"""The report: the page on which a model is asked, with what it is and how good it is inside.

What the sections show is gathered here; how it looks is in `show/templates/report.html`. They are plain HTML that is
printed as well as read; the same rows and the same seed give the same page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, KindError
from ingenuo.evaluation.evaluation import Evaluation, EvaluationDisplay, evaluate
from ingenuo.evaluation.predictions import Predictions
from ingenuo.evaluation.reliability import Reliability
from ingenuo.explanation.explain import describe_columns, explain
from ingenuo.explanation.nomogram import nomogram
from ingenuo.explanation.strongest import strongest
from ingenuo.language import check_language, say
from ingenuo.page import page, unasked
from ingenuo.rows import checks
from ingenuo.rows.rows import OURS, is_stream, take_rows
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import Source, open_source
from ingenuo.rows.streams import draw_rows, target_and_weight
from ingenuo.show import plots
from ingenuo.show.format import count, listed, percent, sentence, shortened
from ingenuo.show.page import drawing, svg, template
from ingenuo.show.table import STYLE
from ingenuo.tally.labels import find, labels_of

Floats = NDArray[np.float64]
Data = dict[str, Any]  # what a section of the template is given

SIZE = 1_900_000  # bytes that the sections do not exceed together
ANSWERS = 2_000  # by which the page judges
ROWS = 100_000
COLUMNS = 60  # described one by one
_VALUES = 5  # of a category
_NUMBERS = 12  # different numbers from which on a column of categories is described as one of numbers
_TEXTS = 2_000  # whose words are counted
_BARS = "▁▂▃▄▅▆▇█"
_EMPTY = "\u2007"  # as wide as a digit
_SMALL = 10  # rows of a class of which no measure says much
_MATRIX = 20  # classes whose confusion matrix can be read
_CLASSES = 20  # whose shares are drawn
_DENSITIES, _CURVES, _POINTS = 6, 8, 400  # columns, classes in one picture, and rows that are drawn
_NODES, _LARGE = 80, 400_000  # nodes of a network, and letters of a picture, that the page can carry
_EXAMPLES = 3  # right, and wrong
_PARAMETER = 300  # letters
# What is printed is the report, all of it: what is folded too, and not what can only be asked.
_PRINTED = """@media print{.console,.view{display:none!important}.given details{border:0;padding:0}
.given details::details-content{content-visibility:visible;display:block}.given .ingenuo{font-size:7.5pt}
.given .ingenuo td,.given .ingenuo th{white-space:normal;overflow-wrap:anywhere}}"""


def report(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    about: Mapping[str, Any] | None = None,
    title: str | None = None,
    audit: Any = None,
    seed: int = 0,
    max_rows: int = ROWS,
    notes: Sequence[str] = (),
    files: Sequence[str] = (),
    date: str | None = None,
    language: str = "en",
) -> str:
    """The page of a fitted classifier, with the data, the evaluation, examples, and how to have it again inside.

    It is the page that `ingenuo export` writes. The rows are not in it, but for some as examples: their classes and
    answers are. A model that has no sheet cannot be asked on it; all else is there.

    Parameters
    ----------
    model : classifier
        Fitted.
    X, y : rows and their classes
        Rows that it has not learned from; y is by default the column that the model learned.
    about : mapping, optional
        Where the model comes from, as `ingenuo.store.about` gives it.
    title : str, optional
        The page's heading.
    audit : audit, or list of these, optional
        What `ingenuo.audit` found.
    seed, max_rows : int
        Of the bootstrap, and of which rows are drawn; of more rows so many are drawn at random.
    notes, files : list of str
        Sentences that a reader should see first, and the files that the rows come from.
    date : str, optional
        When it was made. Without it, the same rows and the same seed give the same page.
    language : {"en", "it", "es"}
        Of the part that is asked; what is written about the model and its evaluation is English.
    """
    check_language(language)
    name = type(model).__name__
    if isinstance(model, type) or not hasattr(model, "predict"):
        called = f"the class {model.__name__}" if isinstance(model, type) else f"{name} {shortened(model)!r}"
        raise KindError(f"a report is on a fitted classifier, got {called}; give one that was fitted")
    if hasattr(model, "predict_quantiles"):
        raise KindError(
            f"a {name} answers with numbers, and a report is on classes; cut the target into classes and fit a "
            "NaiveBayes, or look at one answer with model.explain(row)"
        )
    if about is not None and not isinstance(about, Mapping):
        raise KindError(f"about must be a mapping, got {type(about).__name__}; give ingenuo.store.about(path)")
    audits, known = audits_of(audit), dict(about or {})
    target = known.get("target") or getattr(model, "_target", None) or (y if isinstance(y, str) else None)
    judged = [f"judged on {listed([shortened(file) for file in files], 3)}"] if files else []
    facts = ", ".join([name + (f" of {shortened(target)}" if target else ""), *judged, *([date] if date else [])])
    title = title or known.get("title")
    rows = _rows_of(model, X, y, max_rows, seed)
    found = evaluate(model, rows.X, rows.y, random_state=seed)
    with drawing():
        panels = _panels(found)
        sections: dict[str, tuple[str, Data | None]] = {
            "summary": ("In short", _summary(found, rows.given, notes) | {"facts": facts if title else ""}),
            "table": ("What the data is", _data(model, rows)),
            "schema": ("Schema", _schema(model)),
            "balance": ("Class balance", _balance(model, found)),
            "evaluation": ("Evaluation", _evaluation(found, panels)),
            "confusion": ("Confusions", _confusion(found, panels[0])),
            "reliability": ("Can the probabilities be believed?", _reliability(found)),
            "evidence": ("Strongest evidence", _evidence(model)),
            "model": _picture(model),
            "densities": _densities(model, rows),
            "examples": ("Examples, right and wrong", _examples(model, rows, found.predictions)),
            "audit": ("Audit for harms", {"audits": [_audit(each, k) for k, each in enumerate(audits, 1)]}),
            "reproduce": ("How to reproduce it", _reproduction(model, known, files, seed)),
        }
    macros = template("report.html").module
    parts = [(at, head, str(getattr(macros, at)(**data))) for at, (head, data) in sections.items() if data is not None]
    (first, head, body), *others = limited(parts)
    parts, heading = [(first, head, f"<style>{STYLE}{_PRINTED}</style>{body}"), *others], shortened(title or facts, 200)
    try:
        if hasattr(model, "schema_") and schema_of(model) is None:
            raise InputError(f"a {name} reads sequences of words, and a page asks by columns")
        about = {"rows": known.get("rows")}
        return page(
            model,
            title=heading,
            about=about,
            evaluation=_answers(model, found, seed),
            sections=parts,
            language=language,
        )
    except (InputError, KindError) as error:  # it has no sheet, or too large a one
        return unasked(heading, f"The model cannot be asked on this page. {sentence(error)}", parts)


def limited(sections: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The sections, each with its name, heading and body, without the largest should they be too large together."""
    parts = list(sections)
    while sum(len(body.encode()) for _, _, body in parts) > SIZE:
        worst = max(range(len(parts)), key=lambda k: len(parts[k][2].encode()))
        at, head, _ = parts[worst]
        parts[worst] = at, head, f"<p>{head} would make this page larger than {SIZE / 1e6:g} MB, and is left out.</p>"
    return parts


def _answers(model: Any, found: Evaluation, seed: int) -> Data | None:
    """What was answered and what is true, without the rows, for the page to judge by; None without probabilities."""
    given = found.predictions
    if given.probabilities is None:
        return None
    n = len(given)
    at = np.sort(np.random.default_rng([OURS, seed]).choice(n, min(n, ANSWERS), replace=False))
    places = find(labels_of(model.classes_), given.classes)  # -1: a class that the model does not know
    known = np.flatnonzero(places >= 0)
    shares = np.zeros((len(at), len(model.classes_)))
    shares[:, places[known]] = given.probabilities[np.ix_(at, known)]
    some = say("{n} of {m} rows, drawn by seed {seed}", n=f"{ANSWERS:,}", m=f"{n:,}", seed=seed)
    whole = say("1 row") if n == 1 else say("{n} rows", n=f"{n:,}")
    note = whole if n <= ANSWERS else some
    return {"labels": places[given.codes[at]].tolist(), "posteriors": shares.round(7).tolist(), "note": note}


# The rows that a report judges: as they were given, or as many of them as a report can take.


@dataclass(frozen=True)
class _Rows:
    """Rows and what is true of them."""

    X: Any
    y: NDArray[Any]
    codes: NDArray[np.int32]  # of y
    given: int  # rows there were
    numbers: NDArray[np.int64]  # which of them these are, from 0

    def source(self) -> Source | None:
        """The rows column by column; None where they have no columns that could be named."""
        nested = (
            isinstance(self.X, list | tuple) and len(self.X) > 0 and isinstance(self.X[0], list | tuple | np.ndarray)
        )
        try:
            return open_source(checks.array_of(self.X) if nested else self.X)
        except IngenuoError:
            return None


def _rows_of(model: Any, X: Any, y: Any, max_rows: int, seed: int) -> _Rows:
    """The rows to judge a model on; of more than so many, that many drawn at random."""
    checks.check_whole("max_rows", max_rows, 1)
    checks.check_whole("seed", seed)
    y = getattr(model, "_target", None) if y is None else y
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
    n = len(codes)
    if hasattr(X, "to_list") and not checks.is_frame(X):  # a series of texts
        X = X.to_list()
    if n > max_rows:
        numbers, given = np.sort(np.random.default_rng(seed).choice(n, int(max_rows), replace=False)), n
        X, codes = take_rows(X, numbers), codes[numbers]
    numbers = np.arange(n) if numbers is None else numbers
    return _Rows(X, np.asarray(classes[codes]), codes, n if given is None else given, numbers)


# The data: what the rows hold, what the model takes the columns for, how many rows a class has.


def schema_of(model: Any) -> Schema | None:
    """What the model takes each column for, if it has a schema."""
    found = getattr(model, "schema_", None)
    return found if isinstance(found, Schema) and len(found) else None


def rows_by_class(model: Any) -> dict[Any, float]:
    """How many rows of each class were learned, if the model's sums say so."""
    tally = getattr(model, "tally_", None)
    if tally is None or "class" not in tally or not hasattr(model, "classes_"):
        return {}
    labels = tally.labels("class", 0)
    return dict(zip(labels.tolist(), tally.over("class", labels).floats().tolist()))


def _data(model: Any, rows: _Rows) -> Data:
    source, schema = rows.source(), schema_of(model)
    if source is None:
        return {"rows": rows, "columns": None, "n": 0, "unlisted": ""}
    if schema is None:
        n = len(source.names)
        kinds = [(column_name(source.names[k]), k, source.guess(k)[0]) for k in range(min(n, COLUMNS))]
        unlisted = f"The first {COLUMNS} are listed." if n > COLUMNS else ""
    else:
        n, unlisted = len(schema), _unlisted(schema)
        listed = zip(schema.rows(COLUMNS), _places(source, schema))
        kinds = [(name, place, kind) for (name, kind, _, _), place in listed]
    return {"rows": rows, "columns": [_column(source, *each) for each in kinds], "n": n, "unlisted": unlisted}


def _places(source: Source, schema: Schema) -> list[Any]:
    """Where the columns of a schema are in a table; None for those that are not there."""
    if not schema.named or source.names.dtype != object or source.anonymous:
        return list(range(len(schema)))
    own = {name: place for place, name in enumerate(source.names.tolist())}
    return [own.get(name) for name in schema.names.tolist()]


def _column(source: Source, name: str, place: int | None, kind: str) -> list[str]:
    """A column in words: its name, kind, missing values, values, and a histogram of numbers."""
    if kind == "ignore":
        return [shortened(name), "ignored", "", "set aside: the model does not look at it", ""]
    if place is None:
        return [shortened(name), kind, "all", "not in this table", ""]
    try:
        missing, values, bars = _describe(source, np.array([place]), kind)
    except IngenuoError as error:
        missing, values, bars = None, str(error), ""
    share = "" if missing is None else {0.0: "none", 1.0: "all"}.get(missing) or percent(missing)
    return [shortened(name), kind, share, values, bars]


def _describe(source: Source, at: NDArray[Any], kind: str) -> tuple[float | None, str, str]:
    """The share of missing values, the values in words, and their histogram."""
    names = source.names[at]
    if kind == "text":
        return _describe_texts(source.texts(at, names).columns[0])  # type: ignore[attr-defined]
    if kind == "number":
        return _describe_numbers(source.numbers(at, names).column(0))
    if kind == "count":
        matrix: Any = source.counts(at, names).matrix
        values = np.asarray(matrix.todense() if hasattr(matrix, "todense") else matrix, np.float64).ravel()
        some = values[values > 0]
        if not len(some):
            return 0.0, "0 in every row", ""
        return 0.0, f"in {len(some) / len(values):.1%} of the rows; {some.mean():.3g} there, on average", ""
    block = source.codes(at, names)
    codes = np.asarray(block.columns[:, 0] if isinstance(block.columns, np.ndarray) else block.columns[0])
    there = codes[codes >= 0].astype(np.int64)
    missing, counts = 1 - len(there) / max(len(codes), 1), np.bincount(there)
    labels = np.arange(len(counts)) if block.labels is None else block.labels[0][: len(counts)]
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    shown = labels[order].tolist()
    if len(shown) > _NUMBERS and all(isinstance(x, int | float) and not isinstance(x, bool) for x in shown):
        return missing, *_describe_numbers(np.asarray(labels.tolist(), np.float64)[there])[1:]
    shares = [f"{shortened(x, 30)} {n / len(there):.0%}" for x, n in zip(shown, counts[order].tolist())]
    return missing, listed(shares, _VALUES) or "no value", ""


def _describe_numbers(values: Floats) -> tuple[float, str, str]:
    """Least, quarters and most, and a histogram in a line, between the outermost hundredths."""
    there = values[np.isfinite(values)]
    missing = 1 - len(there) / max(len(values), 1)
    if not len(there):
        return missing, "no value", ""
    quarters = np.quantile(there, [0, 0.25, 0.5, 0.75, 1]).tolist()
    low, first, middle, third, high = (
        f"{q:,.0f}" if q.is_integer() or abs(q) >= 10_000 else f"{q:.4g}" for q in quarters
    )
    text = f"{low} to {high}; half between {first} and {third}, median {middle}" if low != high else f"always {low}"
    least, most = np.quantile(there, [0.01, 0.99])
    if not least < most:
        return missing, text, ""
    counts = np.histogram(there.clip(least, most), len(_BARS), (least, most))[0]
    heights = np.ceil(counts / counts.max() * len(_BARS)).astype(int) - 1
    return missing, text, "".join(_BARS[height] if height >= 0 else _EMPTY for height in heights)


def _describe_texts(text: Any) -> tuple[float, str, str]:
    """How long the texts are, by the first of them."""
    lengths: list[int] = []
    missing = n_rows = 0
    for piece in text.pieces("replace"):
        n_rows += piece.n_rows
        there = np.ones(piece.n_rows, bool) if piece.missing is None else ~piece.missing
        missing += int(np.count_nonzero(~there))
        for row in np.flatnonzero(there)[: _TEXTS - len(lengths)].tolist():
            lengths.append(len(bytes(piece.data[piece.offsets[row] : piece.offsets[row + 1]]).split()))
    if not lengths:
        return 1.0, "no text", ""
    low, middle, high = np.quantile(lengths, [0, 0.5, 1])
    of = "" if len(lengths) + missing == n_rows else f", of the first {len(lengths):,}"
    return missing / n_rows, f"{low:.0f} to {high:.0f} words, median {middle:.0f}{of}", ""


def _unlisted(schema: Schema) -> str:
    """How many columns of each kind are not described, in words; "" where all are."""
    kinds = [kind for _, kind, _, _ in schema.rows(len(schema))[COLUMNS:]]
    if not kinds:
        return ""
    counted = ", ".join(f"{kinds.count(kind):,} {kind}" for kind in sorted(set(kinds)))
    return f"{len(kinds):,} more column{'s are' if len(kinds) > 1 else ' is'} not listed: {counted}."


def _schema(model: Any) -> Data:
    found = schema_of(model)
    if found is None:
        return {"columns": None, "unlisted": "", "texts": hasattr(model, "order")}
    described = describe_columns(model, COLUMNS)
    rows = [[shortened(name), kind, family, shortened(why, 200)] for name, kind, family, why in described]
    return {"columns": rows, "unlisted": _unlisted(found), "texts": False}


def _balance(model: Any, found: Evaluation) -> Data:
    """The classes' shares of the rows learned from and of the rows judged."""
    by_class, labels = rows_by_class(model), found.labels
    both = {"judged on": found.support}
    if by_class:
        both = {"learned from": np.array([by_class.get(label, 0.0) for label in labels]), **both}
    order, n = np.arange(len(labels)), len(labels)
    if n > _CLASSES:
        order = np.argsort(-next(iter(both.values())), kind="stable")[: 3 * _CLASSES]
    rows = [
        [shortened(labels[k])]
        + [text for all_ in both.values() for text in (count(float(all_[k])), percent(all_[k] / max(all_.sum(), 1)))]
        for k in order.tolist()
    ]
    drawn = order[:_CLASSES]
    shares = {name: counts[drawn] / max(float(counts.sum()), 1.0) for name, counts in both.items()}
    ax = plots.balance([plots.short(labels[k]) for k in drawn.tolist()], shares)
    picture = svg(ax, "share of each class; the table has its numbers", "balance")
    heads = ["class", *(head for name in both for head in (name, "share"))]
    return {"picture": picture, "heads": heads, "rows": rows, "n": n, "drawn": len(drawn)}


# How good the model is: in a few sentences, in measures, in confusions, in reliability.


def _summary(found: Evaluation, given: int, notes: Sequence[str]) -> Data:
    """What the sentences need, and what makes the numbers less sure than they look."""
    shares = found.support[found.support > 0] / found.support.sum()
    small = [shortened(found.labels[k], 30) for k in np.flatnonzero((found.support > 0) & (found.support < _SMALL))]
    chance = float(-(shares * np.log(shares)).sum())
    return {"found": found, "given": given, "chance": chance, "notes": notes, "small": small}


def _panels(found: Evaluation) -> list[Any]:
    """The axes of the confusion matrix and, where there are probabilities, of the ROC and precision-recall curves."""
    large = len(found.classes) > 8
    axes = [
        plots.new_axes(None, (6.4, 5.6) if large and k == 0 else (4.6, 4.0)) for k in range(4 if found.probable else 1)
    ]
    EvaluationDisplay(found).plot(axes)
    axes[0].set_title("")  # the caption says it
    return axes


def _evaluation(found: Evaluation, panels: list[Any]) -> Data:
    names = ("ROC curves: of each class, what is found against what is wrongly taken for it", "Precision and recall")
    curves = [(svg(ax, name, f"c{k}"), f"{name}.") for k, (ax, name) in enumerate(zip(panels[1:3], names))]
    return {"found": found, "measures": found.measure_table(), "classes": found.class_table(), "curves": curves}


def _confusion(found: Evaluation, ax: Any) -> Data:
    n = len(found.classes)
    picture = svg(ax, "confusion matrix; the table has its numbers", "confusion", crowded=n > 8)
    return {"n": n, "many": n > _MATRIX, "table": found.confusion_table(), "picture": picture}


def _reliability(found: Evaluation) -> Data:
    if not found.probable:
        return {"judged": None, "picture": ""}
    judged = Reliability(found, 10, "width", None, found.confidence)
    picture = svg(judged.plot(), "reliability diagram; the table has its numbers", "reliability")
    return {"judged": judged, "picture": picture}


# The model: its strongest evidence, its picture, its densities.


def _evidence(model: Any, n: int = 10) -> Data:
    """What speaks most for each class."""
    try:
        found = strongest(model, n)
    except IngenuoError as error:
        return {"classes": [], "linear": False, "remarks": [sentence(error)]}
    classes, silent = [], []
    for k, label in enumerate(found.classes.tolist()):
        if not found.signs[k]:
            silent.append(shortened(label, 30))
            continue
        signs = found.table(k)
        cells = [[shortened(cell, 120) for cell in row] for row in signs.cells()]
        classes.append((shortened(label), ["column", *signs.heads[1:]], cells))
    remarks = [found.remark if classes else sentence(found.remark.strip("()"))] if found.remark else []
    if silent and (classes or not remarks):
        remarks.insert(0, f"Nothing speaks for {listed(silent, 8)}.")
    return {"classes": classes, "linear": found.linear, "remarks": remarks}


def _picture(model: Any) -> tuple[str, Data]:
    """The whole model in one picture: its network, or its nomogram."""
    network = getattr(model, "network_", None) if hasattr(model, "structure") else None
    if network is not None:
        drawn = ""
        if len(network.nodes) <= _NODES:
            try:
                drawn = str(network.draw(title="the network of the model"))
            except IngenuoError:  # too wide to ask for beliefs
                drawn = str(network.draw(beliefs=False, strengths=False, title="the network of the model"))
        return "The network", {"picture": drawn if len(drawn) <= _LARGE else "", "network": network}
    try:
        drawn = str(nomogram(model).svg())
    except IngenuoError as error:
        return "Nomogram", {"picture": "", "remark": str(error)}
    too_large = {"picture": "", "remark": "The nomogram is too large for this page."}
    return "Nomogram", {"picture": drawn} if len(drawn) <= _LARGE else too_large


def _densities(model: Any, rows: _Rows) -> tuple[str, Data | None]:
    """The columns of numbers that tell the classes apart best; nothing where the model has none."""
    schema, source = schema_of(model), rows.source()
    if hasattr(model, "members_"):
        drawn = svg(model.plot()[0], "weights and left-out log loss of the members of the vote", "vote")
        caption = "The members of the vote: their weights, and their log loss on rows that they had not learned."
        return "Vote", {"pictures": [(drawn, caption)], "n": 0, "drawn": 0, "regions": True}
    if schema is None or source is None or not hasattr(model, "plot"):
        return "Densities", None
    chosen = _telling_columns(source, schema, rows.codes)
    if not chosen:
        return "Densities", None
    n = len(model.classes_)
    if not hasattr(model, "numbers"):
        some = np.linspace(0, len(rows.y) - 1, min(len(rows.y), _POINTS)).round().astype(np.intp)
        pair = chosen[:2]
        try:
            ax = plots.new_axes(None, (5.6, 4.6))
            model.plot(take_rows(rows.X, some), rows.y[some], columns=pair if len(pair) == 2 else None, ax=ax)
        except IngenuoError:
            return "Regions", None
        names = " and ".join(column_name(name) for name in pair)
        drawn = svg(ax, f"regions of the classes in {names}", "regions", own_colours=True)
        return "Regions", {
            "pictures": [(drawn, f"Regions of the classes: {names}.")],
            "n": n,
            "drawn": n,
            "regions": True,
        }
    largest = np.argsort(-np.bincount(rows.codes), kind="stable")[:_CURVES]
    labels = [str(rows.y[rows.codes == k][0]) for k in largest.tolist()]
    pictures, places = [], dict(zip(schema.names.tolist(), _places(source, schema)))
    for at, name in enumerate(chosen):
        ax = model.plot(name, ax=plots.new_axes(None, (4.4, 3.0)))
        ax.set_ylabel("density")
        values = source.numbers(np.array([places[name]]), source.names[[places[name]]]).column(0)
        plots.draw_rows(ax, [values[(rows.y == label) & np.isfinite(values)] for label in model.classes_.tolist()])
        if n > _CURVES:
            plots.keep_curves(ax, set(labels))
        drawn = svg(ax, f"densities of {column_name(name)}", f"density{at}")
        pictures.append((drawn, f"{column_name(name)}: the densities of the model, over the rows of each class."))
    return "Densities", {"pictures": pictures, "n": n, "drawn": min(n, _CURVES), "regions": False}


def _telling_columns(source: Source, schema: Schema, codes: NDArray[Any]) -> list[Any]:
    """The columns of numbers that differ most between the classes of the rows, the most telling first.

    What is compared is the share of a column's variance that lies between the classes' means (η²).
    """
    strength: list[tuple[float, int, Any]] = []
    kinds = [FAMILIES[list(FAMILIES)[family]] for family in schema.families]
    for name, kind, place in zip(schema.names.tolist(), kinds, _places(source, schema)):
        if kind == "number" and place is not None:
            values = source.numbers(np.array([place]), source.names[[place]]).column(0)
            there = np.isfinite(values)
            x, y = values[there], codes[there].astype(np.int64)
            between = 0.0
            if len(x) > 1 and x.min() < x.max():
                x = (x - x.mean()) / np.abs(x).max()
                means = np.bincount(y, x) / np.maximum(np.bincount(y), 1)
                between = float(np.var(means[y]) / max(np.var(x), 1e-300))
            strength.append((-between, len(strength), name))
    return [name for _, _, name in sorted(strength)[:_DENSITIES]]


# Examples: rows predicted correctly and wrongly, each with its arithmetic.


def choose_examples(predictions: Predictions) -> list[tuple[str, int]]:
    """Rows to show, each with what it is an example of: right ones sure, typical and unsure; the surest wrong ones."""
    right = predictions.codes == predictions.predicted
    good, bad = (np.flatnonzero(each) for each in (right, ~right))
    if predictions.probabilities is None:
        chosen = {"right": good, "wrong": bad}
        return [(what, row) for what, rows in chosen.items() for row in rows[:_EXAMPLES].tolist()]
    sure = predictions.probabilities[np.arange(len(predictions)), predictions.predicted]
    good, bad = (rows[np.argsort(-sure[rows], kind="stable")] for rows in (good, bad))
    places = {0: "right, and most sure", len(good) // 2: "right, and as sure as usual"}
    places.setdefault(len(good) - 1, "right, but least sure")
    found = [(what, int(good[place])) for place, what in places.items() if 0 <= place < len(good)]
    names = ("wrong, and most sure", "wrong, and second most sure", "wrong, and third most sure")
    return found + list(zip(names, bad[:_EXAMPLES].tolist()))


def _examples(model: Any, rows: _Rows, predictions: Predictions) -> Data:
    """The arithmetic behind some answers."""
    labels, p, shown = predictions.classes.tolist(), predictions.probabilities, []
    chosen = choose_examples(predictions)
    for what, row in chosen:
        remark, explanation = f"a {type(model).__name__} does not show its working", None
        try:
            if hasattr(model, "explain"):
                explanation = explain(model, rows.X, rows=[row])[0]
                explanation = explanation.abridge() if hasattr(explanation, "abridge") else explanation
        except IngenuoError as error:
            remark = str(error)
        shown.append(
            {
                "number": int(rows.numbers[row]) + 1,
                "what": what,
                "right": what.startswith("right"),
                "open": what == chosen[0][0] or what.startswith("wrong, and most"),
                "true": labels[predictions.codes[row]],
                "answered": labels[predictions.predicted[row]],
                "sure": None if p is None else float(p[row, predictions.predicted[row]]),
                "explanation": explanation,
                "remark": remark,
            }
        )
    return {"rows": shown}


# Audits: how the model treats groups of people, in plain words first, then in a picture and tables.


def audits_of(given: Any) -> list[Any]:
    """One audit or several, as a list; an error where something else was given."""
    found = [] if given is None else list(given) if isinstance(given, list | tuple) else [given]
    for each in found:
        if isinstance(each, type) or not (hasattr(each, "protected") or hasattr(each, "comparisons")):
            raise KindError(f"audit must be what ingenuo.audit gives, or a list of it, got {type(each).__name__}")
    return found


def _audit(audit: Any, number: int) -> tuple[Any, str, str, str, dict[str, list[list[str]]]]:
    """An audit with its heading, its picture and caption, and its tables."""
    heading = "Sentences that differ in a name or a term only"
    caption = "Mean differences between groups in the same sentences, with intervals."
    if hasattr(audit, "protected"):
        heading = f"Groups by {shortened(audit.protected)}"
        caption = "Rates of each group, with intervals; dotted is the group that the others are compared with."
    tables = {
        name: [[shortened(cell, 200) for cell in line] for line in (table.heads, *table.cells())]
        for name, table in audit.tables().items()
    }
    drawn = svg(np.ravel(audit.plot())[0], caption, f"audit{number}", crowded=True)
    return audit, heading, drawn, caption, tables


# How to have the same again: where the model comes from, its parameters, the lines to run.


def version() -> str:
    """The version of this package."""
    import ingenuo

    return str(ingenuo.__version__)


def parameters_of(model: Any) -> dict[str, str]:
    """The parameters of the model's constructor, as they are written."""
    given = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    return {name: shortened(repr(value), _PARAMETER) for name, value in given.items()}


def sources_of(about: Mapping[str, Any]) -> list[list[str]]:
    """The files that were learned from: name, bytes, SHA-256."""
    sources = [each if isinstance(each, Mapping) else {"path": each} for each in about.get("sources") or ()]
    sizes = ["" if each.get("bytes") is None else f"{each['bytes']:,}" for each in sources]
    return [[str(s.get("path", "not stated")), size, str(s.get("sha256") or "")] for s, size in zip(sources, sizes)]


def history_of(about: Mapping[str, Any]) -> list[list[str]]:
    """What was done to the model: what, rows, source, when."""
    keys = ("what", "rows", "source", "when")
    steps = about.get("history") or ()
    return [[shortened("" if step.get(key) is None else step[key], 200) for key in keys] for step in steps]


_FACTS = {
    "title": "title",
    "target": "class column",
    "rows": "rows learned from",
    "created": "made on",
    "version": "made with ingenuo",
}


def _reproduction(model: Any, about: Mapping[str, Any], judged: Sequence[str], seed: int) -> Data:
    name = type(model).__name__
    declared = {column: kind for column, kind, why in about.get("schema") or () if why == "declared"}
    facts = [
        [called, shortened(f"{value:,}" if type(value) is int else value, 1000)]
        for key, called in _FACTS.items()
        if (value := about.get(key)) is not None
    ]
    ours = type(model).__module__.startswith("ingenuo")
    return {
        "facts": [["model", name], *facts, ["this page made with ingenuo", version()]],
        "about": about,
        "files": sources_of(about),
        "judged": judged[0] if judged else "judged.csv",
        "declared": shortened(declared, 2000) if declared else "",
        "steps": history_of(about),
        "parameters": parameters_of(model),
        "name": name,
        "target": str(about.get("target") or getattr(model, "_target", None) or "class"),
        "maker": shortened(repr(model), 2000) if ours else f"{name}(…)",
        "seed": seed,
    }
