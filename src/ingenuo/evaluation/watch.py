"""Drift while a server answers: each row is counted in a few microseconds, and the counts of servers and days add.

The counts are those of `drift`, which compares them; `prometheus` writes them as a scraper reads them.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any

import numpy as np

from ingenuo.errors import InputError
from ingenuo.evaluation.drift import (
    ANSWERS,
    EVIDENCE,
    MISSING,
    ROWS,
    UNSEEN,
    Cells,
    Drift,
    Reference,
    cell_of,
    count_drift,
    count_in,
    evidence_of,
    note_of,
    rows_in,
    starts_of,
    tenths,
)
from ingenuo.rows.rows import Part
from ingenuo.rows.schema import column_name
from ingenuo.rows.streams import concatenate
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import labels_of, objects, public
from ingenuo.tally.tally import Table, Tally

_TOGETHER = 4096  # rows of tables that are counted at a time
_FAR = (-1000.0, -300.0, -100.0, -30.0, -10.0, -3.0, 0.0, 10.0, 100.0)  # log p(x), where there is no reference


class Watch:
    """The counts of the rows that one model answers.

    Parameters
    ----------
    model : classifier
        A fitted model, which does not change.
    about : mapping, optional
        What `ingenuo.store.about` gives of the model file: "drift" is what its training rows were like.
    score : callable, optional
        What answers one row by `evidence_of(model).model`: its log joint, and the posterior. It is for models whose
        own joint is no evidence, such as a vote.

    Examples
    --------
    >>> import ingenuo as ing, pyarrow as pa
    >>> rows = pa.table({"town": ["a", "b", "b"], "age": [31.0, 42.0, 54.0]})
    >>> model = ing.NaiveBayes().fit(rows, ["no", "yes", "yes"])
    >>> watch = Watch(model)
    >>> watch.add([{"town": "c", "age": None}], [[0.25, 0.75]])
    >>> print(watch.tally())
    answers: yes 1
    missing: age 1
    rows: rows 1
    unseen: town 1
    """

    def __init__(
        self, model: Any, about: Mapping[str, Any] | None = None, score: Callable[[Any], tuple[Any, Any]] | None = None
    ) -> None:
        self._model, self._lock = model, threading.Lock()
        self._classes = labels_of(model.classes_)
        given = (about or {}).get("drift")
        self.reference = None if given is None else Reference.from_plain(given, public(self._classes))
        found = evidence_of(model)
        self.evidence_of = None if found is None else found.name
        self._cells_of, self._score = Cells(model), score
        self._columns = [
            (column_name(name), None if known is None else frozenset(known.tolist()))
            for name, known in self._cells_of.columns.items()
        ]
        self._counting = threading.Lock()
        self._forget_all()
        self._kind: Any = None  # of the tables that wait
        self._waiting: list[Any] = []
        self._n_waiting = 0

    def _forget_all(self) -> None:
        self._rows = self._judged = self._impossible = 0
        self._answers = [0] * len(self._classes)
        self._missing = [0] * len(self._columns)
        self._unseen = [0] * len(self._columns)
        self._cells: Counter[int] = Counter()
        self._batches = Tally()

    def add(self, rows: Any, posterior: Any, joints: Any = None) -> None:
        """Count some rows and the answers to them.

        Parameters
        ----------
        rows : list of mappings or texts, or table
            Values by column, of the model's types; None, NaN and what is left out are missing.
        posterior : rows × classes
            The probabilities that were answered.
        joints : rows × classes, optional
            The model's log joints, where they are at hand. Otherwise those of a table are worked out, and the evidence
            of a list of rows is counted by the `score`, or not at all.
        """
        if self.evidence_of != "":  # a pooled joint is none of rows
            joints = None
        if isinstance(rows, list) and isinstance(posterior, list):
            if joints is None and self._score is not None and self.evidence_of is not None:
                joints = [self._score(row)[0] for row in rows]
            self._add_each(rows, posterior, joints)
        else:
            self._add_table(rows, np.asarray(posterior), joints)

    def _add_each(self, rows: list[Any], posterior: Sequence[Any], joints: Sequence[Any] | None) -> None:
        with self._lock:
            self._rows += len(rows)
            missing, unseen, answers = self._missing, self._unseen, self._answers
            for row in rows:
                single = None if isinstance(row, dict) else row
                for at, (name, known) in enumerate(self._columns):
                    value = row.get(name) if single is None else single
                    if value is None or value != value:  # NaN
                        missing[at] += 1
                    elif known is not None and value not in known:
                        unseen[at] += 1
            for shares in posterior:
                own = shares if isinstance(shares, list) else list(shares)
                answers[own.index(max(own))] += 1
            for joint in joints or ():
                self._judged += 1
                top = max(joint)
                if math.isfinite(top):
                    self._cells[cell_of(top + math.log(sum([math.exp(each - top) for each in joint])))] += 1
                else:
                    self._impossible += 1

    def _add_table(self, rows: Any, posterior: Any, joint: Any) -> None:
        """Count a table, together with those before: to look at its columns costs as much as a thousand rows."""
        kind = (getattr(rows, "schema", type(rows)), joint is None)
        with self._lock:
            before, self._kind = self._kind, kind
            if before == kind:
                ready: list[Any] = []
            else:
                ready, self._waiting, self._n_waiting = self._waiting, [], 0
            self._waiting.append((rows, posterior, joint))
            self._n_waiting += len(posterior)
            if self._n_waiting >= _TOGETHER:
                ready, self._waiting, self._n_waiting = [*ready, *self._waiting], [], 0
        self._count(ready)

    def _count(self, ready: list[Any]) -> None:
        """Count tables, those of one kind together."""
        with self._counting:
            for _, group in groupby(ready, key=lambda each: (getattr(each[0], "schema", None), each[2] is None)):
                tables, posteriors, joints = zip(*group)
                joint = None if joints[0] is None else np.concatenate(joints)
                options = {"posterior": np.concatenate(posteriors), "joint": joint, "cells": self._cells_of}
                found = count_drift(self._model, Part(_joined(tables)), options)
                with self._lock:
                    self._batches = self._batches + found

    def tally(self) -> Tally:
        """All that was counted; those of several add."""
        return self._tally(keep=True)

    def take(self) -> Tally:
        """All that was counted, which then counts here no more: what is counted later is taken by the next call."""
        return self._tally(keep=False)

    def _tally(self, *, keep: bool) -> Tally:
        with self._lock:
            ready, self._waiting, self._n_waiting = self._waiting, [], 0
        self._count(ready)
        with self._lock:
            columns = objects([name for name, _ in self._columns])
            rows = {"rows": self._rows, "with evidence": self._judged, "impossible": self._impossible}
            tables = {
                ROWS: Table.of({"what": list(rows)}, _exact(rows.values())),
                ANSWERS: Table.of({"class": self._classes}, _exact(self._answers)),
            }
            if len(columns):
                tables[MISSING] = Table.of({"column": columns}, _exact(self._missing))
                may = [at for at, (_, known) in enumerate(self._columns) if known is not None]
                tables[UNSEEN] = Table.of({"column": columns[may]}, _exact(self._unseen[at] for at in may))
            if self._cells:
                cells = np.array(list(self._cells), np.int64)
                tables[EVIDENCE] = Table.of({"cell": cells}, _exact(self._cells.values()))
            found = Tally(tables) + self._batches
            if not keep:
                self._forget_all()
            return found

    def drift(self, reference: Reference | None = None) -> Drift:
        """The rows so far beside those of training, or beside others."""
        before = self.reference if reference is None else reference
        if before is None:
            raise InputError("the model file has no counts of its training rows; give a reference")
        return Drift(self.tally(), before, note=note_of(self._model))


def _joined(tables: Sequence[Any]) -> Any:
    """Tables, arrays or lists of texts as one."""
    first = tables[0]
    if len(tables) == 1:
        return first
    if isinstance(first, list):
        return [each for table in tables for each in table]
    return np.concatenate(tables) if isinstance(first, np.ndarray) else concatenate(tables)


def _exact(counts: Any) -> Exact:
    return Exact.counts(np.array(list(counts), np.int64))


# For a scraper.

Watched = tuple[Mapping[str, str], Tally, Reference | None]  # the labels of a model, its counts, and those of training


def prometheus(models: Sequence[Watched]) -> list[str]:
    """The counts of some models as lines of Prometheus' text format, beside the shares of their rows of training.

    >>> counts = Tally({"answers": Table.of({"class": ["no", "yes"]}, [3, 1])})
    >>> prometheus([({"model": "mail"}, counts, None)])[1:3]
    ['# TYPE ingenuo_answers_total counter', 'ingenuo_answers_total{model="mail",class="no"} 3']
    """
    lines: list[str] = []
    for name, axis, what in (
        (ANSWERS, "class", "Answers, by class."),
        (MISSING, "column", "Rows in which the value of a column is missing."),
        (UNSEEN, "column", "Rows with a category that the model has not learned."),
    ):
        own = [
            f"ingenuo_{name}_total{write_labels({**labels, axis: label})} {n}"
            for labels, tally, _ in models
            for label, n in _pairs(tally, name)
        ]
        lines += _family(f"ingenuo_{name}_total", "counter", what, own)
    buckets = [line for each in models for line in _histogram(*each)]
    lines += _family("ingenuo_evidence", "histogram", "The evidence log p(x) of the rows.", buckets)
    shares = [line for labels, _, before in models if before is not None for line in _training(before.tally, labels)]
    what = "The shares of the rows of training, to compare with."
    return lines + _family("ingenuo_training_share", "gauge", what, shares)


def _family(name: str, kind: str, what: str, lines: list[str]) -> list[str]:
    """The lines of a metric under what it is; nothing where there are none."""
    return [f"# HELP {name} {what}", f"# TYPE {name} {kind}", *lines] if lines else []


def _training(before: Tally, known: Mapping[str, str]) -> list[str]:
    rows, found = max(rows_in(before), 1), []
    for name, axis in ((ANSWERS, "class"), (MISSING, "column"), (UNSEEN, "column")):
        found += [({"what": name, axis: label}, n / rows) for label, n in _pairs(before, name)]
    if EVIDENCE in before:
        counts = _upto(before, _edges(before))
        judged = max(count_in(before, ROWS, "with evidence"), 1)
        found += [({"what": EVIDENCE, "le": edge}, n / judged) for edge, n in counts]
    return [f"ingenuo_training_share{write_labels({**known, **own})} {share:.6g}" for own, share in found]


def _edges(before: Tally) -> np.ndarray[Any, Any]:
    """Where tenths of the rows of training end; where these are not known, a few edges far apart."""
    if EVIDENCE not in before:
        return np.array(_FAR)
    cells = before.labels(EVIDENCE, 0)
    counts = before.over(EVIDENCE, cells).floats()
    return starts_of(cells[tenths(counts)[1:]])


def _upto(tally: Tally, edges: np.ndarray[Any, Any]) -> list[tuple[str, int]]:
    """How many rows have an evidence of at most each edge; those that no class allows have -inf."""
    cells = tally.labels(EVIDENCE, 0)
    counts = tally.over(EVIDENCE, cells).floats() if len(cells) else np.zeros(0)
    # A cell counts where it begins below the edge: edges of tenths are starts of cells, and divide none.
    below = np.searchsorted(starts_of(cells), edges, side="left") if len(cells) else np.zeros(len(edges), np.int64)
    sums = [0, *accumulate(int(n) for n in counts.tolist())]
    first = count_in(tally, ROWS, "impossible")
    return [(f"{edge:.9g}", first + sums[at]) for edge, at in zip(edges.tolist(), below.tolist())]


def _histogram(known: Mapping[str, str], tally: Tally, reference: Reference | None) -> list[str]:
    every = count_in(tally, ROWS, "with evidence")
    if EVIDENCE not in tally and not every:
        return []
    edges = _edges(Tally() if reference is None else reference.tally)
    lines = [
        f"ingenuo_evidence_bucket{write_labels({**known, 'le': edge})} {n}"
        for edge, n in [*_upto(tally, edges), ("+Inf", every)]
    ]
    return [*lines, f"ingenuo_evidence_count{write_labels(known)} {every}"]


def _pairs(tally: Tally, name: str) -> list[tuple[str, int]]:
    labels = tally.labels(name, 0)
    counts = tally.over(name, labels).floats().tolist() if len(labels) else []
    return [(str(label), int(n)) for label, n in zip(labels.tolist(), counts)]


_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def write_labels(given: Mapping[str, str]) -> str:
    """The labels of a line, each value in one line; half a character is a question mark."""
    if not given:
        return ""
    plain = {name: value.encode("utf-8", "replace").decode().translate(_ESCAPED) for name, value in given.items()}
    return "{" + ",".join(f'{name}="{value}"' for name, value in plain.items()) + "}"
