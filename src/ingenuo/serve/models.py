"""A served model: a file, what it holds as it answers now, and how another version takes its place.

A version is never changed. Another one is loaded aside and must answer its check rows before it is asked; where it
cannot, the old one goes on.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo import store
from ingenuo.errors import InputError, KindError
from ingenuo.evaluation.drift import evidence_of
from ingenuo.evaluation.watch import Watch
from ingenuo.networks.files import is_network_file
from ingenuo.serve.bodies import Columns, Rows
from ingenuo.sheet import Sheet, sheet
from ingenuo.sheet.effects import Asked, asked
from ingenuo.sheet.score import Score, scorer
from ingenuo.show.format import plain

VALUES = 1_000  # of a column of categories, that are listed
Stamp = tuple[int, int, int]  # of a file: inode, time of change, size


class Version:
    """A model as it answers."""

    def __init__(self, model: Any, version: str, about: Mapping[str, Any] | None = None) -> None:
        self.model, self.version, self.about = model, version, dict(about or {})
        self.since = time.monotonic()
        self.seconds = math.inf  # that a row of a table took, the last time
        self.columns = Columns(model)
        self.labels: list[Any] = np.asarray(model.classes_).tolist()
        self.classes: list[Any] = plain(self.labels)
        self.names = [str(label) for label in self.labels]

    @cached_property
    def score(self) -> Score:
        """What answers one row."""
        return scorer(self.model)

    @cached_property
    def _score_evidence(self) -> Score | None:
        """What answers one row by the part of the model that knows rows, where the model itself does not."""
        found = evidence_of(self.model)
        return scorer(found.model) if found is not None and found.name else None

    def watch(self) -> Watch:
        """What counts the rows that are answered."""
        return Watch(self.model, self.about, self._score_evidence)

    @property
    def answers_rows(self) -> bool:
        """Whether one row is answered by itself; a model of sequences has no columns."""
        return len(self.model.schema_) > 0

    def answer(self, rows: Rows) -> tuple[Any, list[list[float] | None] | None]:
        """The posterior of each row, and of few rows the log joints too."""
        if rows.few is None:
            began = time.perf_counter()
            found = np.asarray(self.model.predict_proba(rows.table), np.float64)
            self.seconds = (time.perf_counter() - began) / rows.n
            return found, None
        if not self.answers_rows:
            return np.asarray(self.model.predict_proba(self.table(rows)), np.float64).tolist(), None
        score, joints, posterior = self.score, [], []
        for row in rows.few:
            joint, own = score(row)
            joints.append(joint)
            posterior.append(own)
        return posterior, joints

    def table(self, rows: Rows) -> Any:
        """Rows as `predict_proba` takes them."""
        return rows.table if rows.few is None else self.columns.table(rows.few)

    def asked(self, row: Mapping[str, Any]) -> Any:
        """A row as `explain` takes it: of what reads texts the text."""
        return row.get(self.columns.names[0], row if self.answers_rows else "") if self.columns.texts else row

    @cached_property
    def sheet(self) -> Sheet:
        """The sheet; raises where there is none."""
        return sheet(self.model)

    @cached_property
    def asked_by(self) -> Asked:
        """The model as what would change its answers is looked for."""
        return asked(self.model, self.sheet, self.score)

    @cached_property
    def page(self) -> bytes:
        """The page on which the model is asked."""
        from ingenuo.page import page

        return page(self.model, about={"rows": count_rows(self.model)}, title=self.about.get("title")).encode()

    def check(self) -> None:
        """Raise unless the check rows are answered alike, one by one and all at once, by finite numbers."""
        self.watch()  # which reads the counts of the training rows
        try:
            names = [column["name"] for column in self.sheet.columns]
            given = [dict(zip(names, each["row"])) for each in self.sheet.check]
        except (KindError, InputError):  # it has no sheet
            given = [{}]
        rows = [self.columns.row(plain(each), place) for place, each in enumerate(given)]
        one_by_one = np.asarray(self.answer(Rows(len(rows), rows))[0], np.float64)
        together = np.asarray(self.model.predict_proba(self.columns.table(rows)), np.float64)
        if not np.isfinite(one_by_one).all() or not np.array_equal(one_by_one, together):
            raise InputError("the model does not answer its check rows as it should; save it again from its rows")

    def describe(self) -> dict[str, Any]:
        """What a caller should know of the model."""
        columns = []
        for name in self.columns.names:
            own: dict[str, Any] = {"name": name, "kind": self.columns.kinds[name]}
            known = self.columns.known.get(name)
            if known is not None:
                own["values"] = plain(known[:VALUES])
            columns.append(own)
        return {
            "kind": type(self.model).__name__, "version": self.version, "target": self.columns.target,
            "classes": self.classes, "columns": columns, "rows": count_rows(self.model),
            "calibration": plain(getattr(self.model, "calibration", None)),
        }  # fmt: skip


class Served:
    """A model under a name: the version that answers now, and its file."""

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.failures = 0  # versions that could not be loaded
        self.live: Any = None  # what learns and forgets, where that is allowed
        self._now: Version | None = None
        self._stamp: Stamp | None = None

    @property
    def learns(self) -> bool:
        """Whether versions follow each other as rows are learned."""
        return self.live is not None

    @property
    def is_behind(self) -> bool:
        """Whether a later version is there that was not loaded yet."""
        return False

    async def catch_up(self) -> None:
        """Let the last version answer."""

    @property
    def is_ready(self) -> bool:
        """Whether there is a version that answers."""
        return self._now is not None

    @property
    def now(self) -> Version:
        """The version that answers now."""
        assert self._now is not None
        if self.live is not None and self.live.model is not self._now.model:
            self._now = Version(self.live.model, self.live.state["version"], self._now.about)
        return self._now

    @property
    def last(self) -> Version:
        """The version that was asked last, whose columns are those of all."""
        assert self._now is not None
        return self._now

    def open(self) -> None:
        """Load the file, which must be a model that answers."""
        self.publish(*self.read())

    def publish(self, version: Version, stamp: Stamp | None) -> None:
        """Let a version answer from now on."""
        self._now, self._stamp = version, stamp

    def has_changed(self) -> bool:
        """Whether the file is another than the one that was loaded, or tried."""
        try:
            return stamp_of(self.path) != self._stamp
        except OSError:
            return False  # it is being replaced, or gone; the version that answers goes on

    def read(self) -> tuple[Version, Stamp]:
        """The version of the file, checked; if there is none, it is not tried again until the file changes."""
        stamp = self._stamp = stamp_of(self.path)
        model, version, about = read_model(self.path)
        found = Version(model, version, about)
        found.check()
        return found, stamp

    def state(self) -> dict[str, Any]:
        """How many changes were learned, and how far the calibration is behind."""
        return {} if self.live is None else {**self.live.state, "bytes": self.live.journal_bytes}


def stamp_of(path: str) -> Stamp:
    """What is another once a file has changed."""
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns, found.st_size


def read_model(path: str) -> tuple[Any, str, dict[str, Any]]:
    """The classifier of a file, its version (which is of its contents), and where it comes from."""
    with open(path, "rb") as file:
        data = file.read()
    version = hashlib.sha256(data).hexdigest()[:12]
    if is_network_file(path):
        return read_network(path), version, {}
    model, about = store.from_bytes(data, path), store.about(path)
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        raise InputError(f"{path} holds a {type(model).__name__}, which answers no rows by classes; serve a classifier")
    return model, version, about


def read_network(path: str) -> Any:
    """The classifier of a network that says which node is the class."""
    from ingenuo.models.network_classifier import NetworkClassifier
    from ingenuo.networks.network import Network

    network = Network.read(path)
    if network.target is None:
        raise InputError(f"{path} does not say which of its nodes is the class; add the line `target: NODE` to it")
    return NetworkClassifier.from_network(network)


def count_rows(model: Any) -> float | None:
    """How many rows a model has learned; None where that is not known."""
    tally = getattr(model, "tally_", None)
    if tally is None or "class" not in tally:
        return None
    rows: NDArray[np.float64] = tally.over("class", tally.labels("class", 0)).floats()
    total = float(rows.sum())
    return int(total) if total.is_integer() else total
