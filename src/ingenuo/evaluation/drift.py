"""Whether the rows that a model answers are still like those that it learned: drift, by counts that add.

Counted are the answers by class, the missing and the unseen values by column, and the evidence of each row

    log p(x) = log Σ_k P(k) p(x | k)

in a histogram whose edges are the same everywhere, so that the counts of files, servers and days add exactly. Two sets
of rows are compared item by item: by the total variation ½ Σ |p - q|, by the population stability index
Σ (q - p) log(q / p), and by a χ² test of whether both can have been drawn alike.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, KindError
from ingenuo.evaluation.intervals import check_share
from ingenuo.evaluation.significance import holm
from ingenuo.models.classifier import Classifier
from ingenuo.models.left_out import without
from ingenuo.models.model import CLASS, check_is_fitted
from ingenuo.rows import checks
from ingenuo.rows.rows import OURS, Part, rows_of, take_rows
from ingenuo.rows.schema import FAMILIES, Schema, category_table, column_name
from ingenuo.rows.source import blocks, match
from ingenuo.rows.typed import known_categories
from ingenuo.show.format import percent, plain, shortened
from ingenuo.show.plots import drift as draw_drift
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find, labels_of, public, recognise
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROWS, ANSWERS, MISSING, UNSEEN, EVIDENCE = "rows", "answers", "missing", "unseen", "evidence"
FINE = 128  # cells of an octave of |log p(x)|, and of what lies between -1 and 0, or 0 and 1
TENTHS = 10  # groups of about as many rows of the reference, by which the evidence is compared
PARTS = 4  # of the rows that were learned, each of which is left out once
LEVEL = 0.01  # of the tests, all of one comparison together
_SLIGHT = 0.1  # stability index up to which a change is called slight
_LEAST = 5.0  # rows that are expected in each cell of a χ² test
_LISTED = 30  # items that are printed


# Where log p(x) lies: cells at fixed places, fine near 0 and one part in 128 far from it.


def cells_of(values: Floats) -> Integers:
    """The cell of each number.

    >>> cells_of(np.array([0.0, -0.001, 1.0, -300.5, -300.6])).tolist()
    [0, -1, 128, -1175, -1175]
    """
    size = np.abs(values)
    mantissa, exponent = np.frexp(size)
    far = FINE * exponent + np.floor((2 * mantissa - 1) * FINE)
    found: Integers = np.where(size < 1, np.floor(size * FINE), far).astype(np.int64)
    return np.where(values < 0, -1 - found, found)


def cell_of(value: float) -> int:
    """The cell of one number."""
    size = -value if value < 0 else value
    if size < 1:
        found = int(size * FINE)
    else:
        mantissa, exponent = math.frexp(size)
        found = FINE * exponent + int((2 * mantissa - 1) * FINE)
    return -1 - found if value < 0 else found


def starts_of(cells: Integers) -> Floats:
    """Where cells begin; each ends where the next begins."""
    size = np.abs(cells)
    octave = size // FINE
    found = np.where(octave == 0, size / FINE, np.ldexp(1 + size % FINE / FINE, octave - 1))
    return np.where(cells < 0, -found, found)


# Whose log p(x) it is.


class Evidence(NamedTuple):
    """The part of a model that is a distribution of the rows."""

    name: str  # what it is of the model: "" is the model itself
    model: Any
    sentence: str


def evidence_of(model: Any) -> Evidence | None:
    """What gives the log p(x) of a row: the model, the member of a vote that reads most columns, or a twin; else None.

    >>> import ingenuo as ing
    >>> rows = [["a", 1], ["b", 2], ["b", 3]]
    >>> evidence_of(ing.SoftmaxRegression().fit(rows, ["no", "yes", "yes"])).name
    'generative twin'
    """
    if hasattr(model, "predict_joint_log_proba"):
        return Evidence("", model, "The evidence log p(x) is that of the model.")
    parts: list[tuple[str, Any]] = []
    for name, each in [("", model), *zip(getattr(model, "weights_", ()), getattr(model, "estimators_", ()))]:
        twin = getattr(each, "twin_", None)  # first, for it sees how far a number lies from the others
        parts += [(f"generative twin of {name}" if name else "generative twin", twin)] if twin is not None else []
        parts += [(name, each)] if hasattr(each, "predict_joint_log_proba") else []
    if not parts:
        return None
    name, found = max(parts, key=lambda each: (_columns_read(each[1]), "twin" in each[0]))
    read, every = _columns_read(found), _columns_read(model)
    some = f", which reads {read} of {every} columns" if read < every else ""
    own = f"a {type(model).__name__} has none of its own"
    return Evidence(name, found, f"The evidence log p(x) is that of the {name}{some}; {own}.")


def _columns_read(model: Any) -> int:
    schema: Schema = model.schema_
    return sum(FAMILIES[schema.family(name)] != "ignore" for name in schema.names.tolist())


_CUT = "It was not compared: cut points follow the rows that were learned; rows of their own as a reference allow it."
_NONE = "A {} is no distribution of the rows, so there is no evidence log p(x); answers and values are compared."


# Counting.


def count_drift(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """The sums of some rows: rows, answers, missing and unseen values, and the histogram of the evidence.

    With `learned`, the rows are those that the model learned: a value that no other row has then counts as unseen. The
    `posterior` and the `joint` of the rows may be given, and the `cells` of the model.
    """
    schema: Schema | None = getattr(model, "schema_", None)
    X = part.X if schema is None else checks.without_target(part.X, getattr(model, "_target", None), schema)
    n_rows = checks.count_rows(X)
    tables = {}
    if "posterior" in options:
        answers = np.asarray(options["posterior"]).argmax(axis=1)
        tables[ANSWERS] = _count_labels(answers, labels_of(model.classes_))
    elif hasattr(model, "classes_"):
        tables[ANSWERS] = _count_labels(*checks.labels(None, np.asarray(model.predict(X)), n_rows))
    cells = options.get("cells")
    if cells is None and schema is not None:
        cells = Cells(model, bool(options.get("learned")))
    for name, found in zip((MISSING, UNSEEN), ({}, {}) if cells is None else cells.count(X)):
        if found:
            tables[name] = Table.of({"column": list(found)}, Exact.counts(np.array(list(found.values()))))
    evidence, joint = evidence_of(model), options.get("joint")
    if evidence is not None and joint is None:
        joint = np.asarray(evidence.model.predict_joint_log_proba(X), np.float64)
    return Tally(tables) + count_evidence(n_rows, joint)


def _count_labels(codes: NDArray[Any], labels: Labels) -> Table:
    return Table.of({"class": labels}, Exact.counts(np.bincount(codes, minlength=len(labels))))


def count_evidence(n_rows: int, joint: Floats | None) -> Tally:
    """How many rows there are, how many of them have an evidence and where it lies."""
    rows, tables = {"rows": n_rows}, {}
    if joint is not None:
        log_p = np.logaddexp.reduce(joint, axis=1)
        there = np.isfinite(log_p)
        rows |= {"with evidence": n_rows, "impossible": int(n_rows - there.sum())}
        cells, counts = np.unique(cells_of(log_p[there]), return_counts=True)
        tables[EVIDENCE] = Table.of({"cell": cells}, Exact.counts(counts))
    return Tally({ROWS: Table.of({"what": list(rows)}, Exact.counts(np.array(list(rows.values())))), **tables})


class Cells:
    """Which columns may have values that are missing, or categories that a model does not know."""

    def __init__(self, model: Any, learned: bool = False) -> None:
        self._model, self._schema = model, model.schema_
        self.columns: dict[Any, Labels | None] = {}  # with the categories that are known, where they are categories
        for _, kind, names, _ in self._schema.by_family:
            if kind != "count":
                known = partial(known_values, model, schema=self._schema, learned=learned)
                self.columns |= {name: known(name) if kind == "category" else None for name in names.tolist()}

    def count(self, X: Any) -> tuple[dict[str, int], dict[str, int]]:
        """By column, the rows in which its value is missing, and those in which it is a category never seen."""
        missing: dict[str, int] = {}
        unseen: dict[str, int] = {}
        if not self.columns:  # of texts that are no column
            return missing, unseen
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns that are ignored the answers have warned
            source = checks.table(self._model, X, reset=False)
            found = blocks(source, self._schema, match(self._schema, source))
        for family, kind, names, _ in self._schema.by_family:
            block: Any = found[family]
            for at, name in enumerate(names.tolist() if kind != "count" else ()):
                column, known = column_name(name), self.columns[name]
                if kind == "number":
                    missing[column] = int(np.isnan(block.column(at)).sum())
                elif kind == "text":
                    missing[column] = int(block.columns[at].missing(block.settings[at].errors).sum())
                else:
                    codes, labels = block.coded(at)
                    missing[column] = int((codes < 0).sum())
                    if known is not None:
                        unseen[column] = int(np.append(recognise(known, labels) < 0, False)[codes].sum())
        return missing, unseen


def known_values(model: Any, name: Any, *, schema: Schema, learned: bool) -> Labels | None:
    """The categories that a model knows of a column, or those that it would know without any one of its rows."""
    known = known_categories(model, name, schema)
    if known is None or not learned:
        return known
    table = category_table(name)
    for each in [model, *getattr(model, "estimators_", [])]:
        tally = getattr(each, "tally_", Tally())
        if table in tally:
            times = tally.over(table, tally.labels(CLASS, 0), known).floats().sum(axis=0)
            return np.asarray(known[(times > 1) | (find(schema.known(name), known) >= 0)])
    return known


# What the model learned, to compare with.


@dataclass(frozen=True)
class Reference:
    """The counts of the rows that others are compared with, and where they come from."""

    tally: Tally
    how: str  # what rows they are, in words: "rows of training"
    n_learned: int | None = None  # how many rows there were, where these were drawn from them

    @property
    def is_whole(self) -> bool:
        """Whether all the rows were counted, and not only some that were drawn."""
        return self.n_learned in (None, rows_in(self.tally))

    def __add__(self, other: Reference) -> Reference:
        """Of the rows of both, each of which must have counted all of its own."""
        if not isinstance(other, Reference):
            return NotImplemented
        if not (self.is_whole and other.is_whole):
            raise KindError("counts of rows that were drawn from others do not add; count all the rows again")
        return Reference(self.tally + other.tally, self.how)

    def to_plain(self) -> dict[str, Any]:
        """Plain data, as a model file has it."""
        found: dict[str, Any] = {"how": self.how, "of": self.n_learned}
        for name, table in self.tally.items():
            assert isinstance(table, Table)
            labels = table.axes[0].tolist()
            found[name] = [[plain(label), int(n)] for label, n in zip(labels, table.sums.floats().tolist()) if n]
        return found

    @staticmethod
    def from_plain(given: Any, classes: Any = None) -> Reference:
        """What `to_plain` gave; classes say of what type the labels are."""
        axes = {ROWS: "what", ANSWERS: "class", MISSING: "column", UNSEEN: "column", EVIDENCE: "cell"}
        tables = {}
        try:
            for name, axis in axes.items():
                pairs = [(label, n) for label, n in given.get(name, ())]
                counts = np.array([n for _, n in pairs], np.int64)
                labels = [int(label) if name == EVIDENCE else label for label, _ in pairs]
                if (counts < 0).any() or len(set(labels)) < len(labels):
                    raise ValueError(name)
                if name == ANSWERS and classes is not None:
                    spelled = {plain(each): each for each in np.asarray(classes).tolist()}
                    labels = [spelled.get(label, label) for label in labels]
                if labels:
                    tables[name] = Table.of({axis: labels}, Exact.counts(counts))
            of = given.get("of")
            return Reference(Tally(tables), str(given["how"]), None if of is None else int(of))
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
            raise InputError(
                f"what the model file says of its training rows is no count of rows ({error}); give rows to compare "
                "with, or train the model again"
            ) from None

    def without_rare(self, minimum: int) -> Reference:
        """Without what fewer rows have than a minimum."""
        tables = {name: table.without_rare(minimum, np.zeros(0, np.int64)) for name, table in self.tally.items()}
        return Reference(Tally(tables), self.how, self.n_learned)


def reference(model: Any, X: Any, y: Any = None, sample_weight: Any = None, *, learned: bool = False) -> Reference:
    """The counts of rows that others will be compared with; `learned` says that they are all that the model learned.

    The evidence of a row that was learned is the higher for it. So each quarter of the rows is judged by the sums of
    the others, as in cross-validation; rows on an engine by all the sums. Where a network has cut numbers by these rows
    there is no evidence: cut points suit the rows that they were found by.

    >>> import ingenuo as ing
    >>> model = ing.NaiveBayes().fit([["a", 1], ["b", 2], ["b", 3]], ["no", "yes", "yes"])
    >>> reference(model, [["a", 1], ["b", 2], ["b", 3]], ["no", "yes", "yes"], learned=True).how
    'rows of training, left out a quarter at a time'
    """
    check_is_fitted(model)
    found = rows_of(X, y, sample_weight, labelled=False, model=model)
    tally = found.reduce(count_drift, model, learned=learned)
    how = "rows of training" if learned else "rows of the reference"
    evidence = evidence_of(model) if learned else None
    if evidence is not None and getattr(
        evidence.model, "cuts_", {}
    ):  # of as many rows each: without a row it has fewer
        return Reference(Tally({name: table for name, table in tally.items() if name != EVIDENCE}), how)
    joint = None if evidence is None or not found.is_here else _left_out(evidence.model, found)
    if joint is not None:
        others = Tally({name: table for name, table in tally.items() if name not in (ROWS, EVIDENCE)})
        tally, how = others + count_evidence(len(joint), joint), f"{how}, left out a quarter at a time"
    return Reference(tally, how)


def _left_out(model: Any, rows: Any) -> Floats | None:
    """The log joint of each row by the sums of three quarters of the rows, which it is not among."""
    if not isinstance(model, Classifier) or rows.y is None:
        return None
    X = checks.without_target(rows.X, getattr(model, "_target", None), model.schema_)
    n_rows, classes = checks.count_rows(X), labels_of(model.classes_)
    with suppress(IngenuoError), warnings.catch_warnings():  # of rows that are not among the sums, or are all of them
        warnings.simplefilter("ignore")
        codes, labels = checks.labels(None, rows.y, n_rows)
        y, weights = public(labels)[codes], checks.weights(rows.weights, n_rows)
        fold = np.arange(n_rows) % PARTS
        np.random.default_rng(OURS).shuffle(fold)
        joint = np.full((n_rows, len(classes)), -np.inf)

        for each in range(min(PARTS, n_rows)):
            held = np.flatnonzero(fold == each)
            part = Part(take_rows(X, held), y[held], None if weights is None else weights[held])
            rest = without(model, model.schema_, model.tally_ - model._tally_of(part))
            joint[np.ix_(held, find(classes, labels_of(rest.classes_)))] = rest.predict_joint_log_proba(part.X)
        return joint
    return None


# Comparing.


class Change(NamedTuple):
    """How an item differs between two sets of rows."""

    what: str  # "evidence", "impossible", "answers", "missing" or "unseen"
    column: str | None
    before: str  # in words
    now: str
    variation: float  # ½ Σ |p - q|: the share of rows that are elsewhere
    stability_index: float
    p_value: float  # by Holm's correction for all the items
    said: str

    @property
    def name(self) -> str:
        """The item, in words."""
        called = {"evidence": "evidence log p(x)", "impossible": "impossible for every class"}
        return called.get(self.what, self.what) if self.column is None else f"{self.what}: {self.column}"


class _Item(NamedTuple):
    what: str
    column: str | None
    said: Sequence[str]  # of either, in words
    cells: Floats  # (2, cells)


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Shown):
    """Some rows beside those of a reference, item by item; prints as a table, that which changed most first."""

    now: Tally
    reference: Reference
    level: float = LEVEL
    note: str = ""  # on whose evidence it is

    @property
    def n_rows(self) -> int:
        """How many rows were compared."""
        return rows_in(self.now)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Every item that can have changed, that which changed most first."""
        items = [item for item in self._items() if (item.cells.sum(axis=0) > 0).sum() > 1 and item.cells.any(1).all()]
        found = [(item, *_measure(item.cells)) for item in items]
        adjusted = holm([p for *_, p in found]).tolist() if found else []
        changes = [
            Change(item.what, item.column, item.said[0], item.said[1], tv, psi, p, self._say(p, psi))
            for (item, tv, psi, _), p in zip(found, adjusted)
        ]
        return tuple(sorted(changes, key=lambda each: (each.p_value >= self.level, -each.stability_index)))

    @property
    def changed(self) -> tuple[Change, ...]:
        """Those that are not as they were."""
        return tuple(each for each in self.changes if each.p_value < self.level)

    def _say(self, p_value: float, index: float) -> str:
        if p_value >= self.level:
            return "as in training" if "training" in self.reference.how else "as in the reference"
        return "slightly changed" if index < _SLIGHT else "changed"

    def _items(self) -> list[_Item]:
        before, now = self.reference.tally, self.now
        rows = np.array([rows_in(before), rows_in(now)], np.float64)
        found = []
        if EVIDENCE in before and EVIDENCE in now:
            cells, counts = self._cells()
            medians = [f"median {_middle(cells, each):.4g}" for each in counts]
            found.append(_Item(EVIDENCE, None, medians, _grouped(counts)))
            impossible, every = (_counts(before, now, ROWS, what) for what in ("impossible", "with evidence"))
            found.append(_two("impossible", None, impossible, every))
        if ANSWERS in before or ANSWERS in now:
            labels, counts = _aligned(before, now, ANSWERS)
            shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
            most = int(np.argmax(np.abs(shares[1] - shares[0])))
            said = [f"{shortened(labels[most], 18)} {percent(share)}" for share in shares[:, most].tolist()]
            found.append(_Item(ANSWERS, None, said, counts))
        for what in (MISSING, UNSEEN):
            labels, counts = _aligned(before, now, what)
            found += [_two(what, str(label), own, rows) for label, own in zip(labels, counts.T)]
        return found

    def _cells(self) -> tuple[Integers, Floats]:
        labels, counts = _aligned(self.reference.tally, self.now, EVIDENCE)
        return np.asarray(labels, np.int64), counts

    def __add__(self, other: Drift) -> Drift:
        """Of the rows of both, beside the same reference."""
        if type(other) is not type(self):
            return NotImplemented
        if self.reference.tally != other.reference.tally:
            raise KindError("two drifts add where both are beside the same reference; compare them one by one")
        return Drift(self.now + other.now, self.reference, self.level, self.note)

    def _blocks(self) -> Sequence[str | Block]:
        note = self.note
        if EVIDENCE in self.now and EVIDENCE not in self.reference.tally:
            note = f"{note} {_CUT}"
        n, of = rows_in(self.reference.tally), self.reference.n_learned
        drawn = f", drawn from {of:,}" if of is not None and of > n else ""
        changes, changed = self.changes, self.changed
        heads = ["", "before", "now", "moved", "stability index", "p", ""]
        lines = [
            [each.name, each.before, each.now, percent(each.variation), f"{each.stability_index:.3f}",
             "< 0.0001" if each.p_value < 1e-4 else f"{each.p_value:.4f}", each.said]
            for each in changes[: max(_LISTED, len(changed[:100]))]
        ]  # fmt: skip
        left = len(changes) - len(lines)
        items = f"{len(changes)} item{'s' if len(changes) != 1 else ''}"
        most = "" if not changed else f", most of all {changed[0].name} ({changed[0].before} → {changed[0].now})"
        verdict = f"{len(changed)} of {items} changed{most}." if changed else f"None of {items} changed."
        return [
            f"{self.n_rows:,} rows beside {n:,} {self.reference.how}{drawn}.",
            *([PrintedTable(heads, lines, ["", "", "", "", "", "", ""])] if lines else []),
            *([f"… and {left} more that have not changed."] if left > 0 else []),
            verdict,
            note,
        ]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, as JSON holds it."""
        found: dict[str, Any] = {
            "rows": self.n_rows,
            "reference": {"rows": rows_in(self.reference.tally), "how": self.reference.how},
            "note": self.note,
            "level": self.level,
            "changed": len(self.changed),
            "items": [each._asdict() for each in self.changes],
        }
        if EVIDENCE in self.reference.tally and EVIDENCE in self.now:
            cells, counts = self._cells()
            columns = {"from": starts_of(cells), "to": starts_of(cells + 1), "before": counts[0], "now": counts[1]}
            found["evidence"] = {name: values.tolist() for name, values in columns.items()}
        return plain(found)  # type: ignore[no-any-return]

    def plot(self, axes: Any = None) -> Any:
        """Draw the evidence of both and how much each item moved; the two axes are returned."""
        evidence = None
        if EVIDENCE in self.reference.tally and EVIDENCE in self.now:
            cells, counts = self._cells()
            evidence = starts_of(cells), starts_of(cells + 1), counts
        moved = [(each.name, each.variation, each.p_value < self.level) for each in self.changes]
        moved.sort(key=lambda each: (not each[2], -each[1]))
        return draw_drift(evidence, moved, self.reference.how, axes)


def rows_in(tally: Tally) -> int:
    """How many rows were counted."""
    return count_in(tally, ROWS, "rows")


def count_in(tally: Tally, name: str, label: Any) -> int:
    """A cell of a table."""
    found = tally.over(name, labels_of([label])).floats()
    return int(found[0])


def _counts(before: Tally, now: Tally, name: str, label: str) -> Floats:
    return np.array([count_in(each, name, label) for each in (before, now)], np.float64)


def _aligned(before: Tally, now: Tally, name: str) -> tuple[list[Any], Floats]:
    """The labels of a table in either, and the counts of both."""
    both = before + now
    labels = both.labels(name, 0)
    return labels.tolist(), np.array([each.over(name, labels).floats() for each in (before, now)])


def _two(what: str, column: str | None, counts: Floats, rows: Floats) -> _Item:
    """An item that a row has or has not."""
    said = [percent(share) for share in (counts / np.maximum(rows, 1)).tolist()]
    return _Item(what, column, said, np.column_stack([counts, rows - counts]))


def _middle(cells: Integers, counts: Floats) -> float:
    """The median, as the middle of its cell."""
    at = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2))
    ends = starts_of(cells[at] + np.arange(2))
    return float(ends.mean())


def tenths(counts: Floats) -> Integers:
    """Where groups of about a tenth of the rows begin among ascending cells."""
    mass = np.cumsum(counts)
    cuts = np.searchsorted(mass, np.arange(1, TENTHS) / TENTHS * mass[-1], side="left") + 1
    return np.unique(np.concatenate([[0], cuts[cuts < len(counts)]]))


def _grouped(counts: Floats) -> Floats:
    """Counts of cells as those of tenths of the reference, which is the first, and of what lies beyond all of it."""
    there = np.flatnonzero(counts[0])
    ends = np.array([0, *there[:1], *(there[-1:] + 1)])
    starts = np.unique(np.concatenate([ends, tenths(counts[0])])) if len(there) else ends
    return np.add.reduceat(counts, starts[starts < counts.shape[1]], axis=1)


def _measure(cells: Floats) -> tuple[float, float, float]:
    """The total variation of two lines of counts, the stability index, and the p-value of the test."""
    n = cells.sum(axis=1, keepdims=True)
    p, q = cells / n
    smooth = (cells + 0.5) / (n + 0.5 * cells.shape[1])
    index = float(((smooth[1] - smooth[0]) * np.log(smooth[1] / smooth[0])).sum())
    return float(np.abs(p - q).sum() / 2), index, _p_value(cells)


def _p_value(cells: Floats) -> float:
    """Pearson's χ² test that two lines of counts are drawn alike.

    The smallest cells are put together until each expects 5 rows of either; Fisher's exact test where two are left
    that do not.
    """
    from scipy.special import chdtrc

    least = cells.sum(axis=1).min() / cells.sum()
    table = cells[:, np.argsort(cells.sum(axis=0), kind="stable")]
    table = table[:, table.any(axis=0)]
    while table.shape[1] > 2 and table[:, 0].sum() * least < _LEAST:
        table = np.column_stack([table[:, 0] + table[:, 1], table[:, 2:]])
        table = table[:, np.argsort(table.sum(axis=0), kind="stable")]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if table.shape[1] == 2 and expected.min() < _LEAST:
        from scipy.stats import fisher_exact  # a second to import

        return min(1.0, float(fisher_exact(table.astype(np.int64)).pvalue))
    return float(chdtrc(table.shape[1] - 1, ((table - expected) ** 2 / expected).sum()))


def drift(model: Any, X: Any, reference: Any, *, level: float = LEVEL) -> Drift:
    """Compare rows with those that a model learned, or with others: have they changed, and where?

    Parameters
    ----------
    model : classifier
        A fitted model, that answers both.
    X : rows
        Rows in memory, a scan or path of files, an Arrow stream, a frame of an engine; a column of classes is not
        needed, and not used.
    reference : rows or Reference
        Rows to compare with, as X; or what the `reference` of this module gives of them, such as `ingenuo train` keeps
        in the model file: `Reference.from_plain(ingenuo.store.about(path)["drift"])`.
    level : float
        Of the tests: the probability that any item is called changed where none is, all items together.

    Examples
    --------
    >>> import ingenuo as ing
    >>> learned, new = [["a", 1.0], ["b", 2.0]] * 50, [["a", 1.0], ["c", 2.5]] * 50
    >>> model = ing.NaiveBayes().fit(learned, ["no", "yes"] * 50)
    >>> for each in drift(model, new, learned).changed:
    ...     print(each.name, each.said)
    evidence log p(x) changed
    unseen: x0 changed
    """
    check_is_fitted(model)
    sure = check_share("level", level)
    before = reference if isinstance(reference, Reference) else _reference(model, reference)
    now = rows_of(X, labelled=False, model=model).reduce(count_drift, model)
    if not rows_in(now):
        raise InputError("there are no rows to compare; give one at least")
    return Drift(now, before, sure, note_of(model))


def _reference(model: Any, X: Any) -> Reference:
    if X is None:
        raise InputError("reference is missing: the rows that these are compared with; give those of training")
    return reference(model, X)


def note_of(model: Any) -> str:
    """Whose evidence is compared, or why there is none."""
    found = evidence_of(model)
    return _NONE.format(type(model).__name__) if found is None else found.sentence
