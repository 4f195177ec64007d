"""A model that learns and forgets while it answers, and loses nothing that it has said to have learned.

Changes go one after the other through one thread, to the disk, and only then to whoever answers. Changes that wait
together are counted together and made safe at once. What is kept of rows is their sums, never the rows; after a
`forget` the sums of before are gone from the disk as well.

A model that was published is never changed: the next one is a copy, and its parameters are estimated when it is first
asked.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import struct
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ingenuo import store
from ingenuo.errors import ForgetError, IngenuoError, InputError, JournalError, RefusedError
from ingenuo.models.model import check_is_fitted
from ingenuo.models.packing import check_sums
from ingenuo.models.sums import CLASS, LearnsSums
from ingenuo.serve.journal import SNAPSHOT, Disk, Folder, Journal
from ingenuo.tally import container
from ingenuo.tally.tally import Tally

LEARN, FORGET, RECALIBRATE = "learn", "forget", "recalibrate"

WAIT = 0.005  # seconds between two writes where several callers learn at once
MOST_RECORDS, MOST_BYTES = 10_000, 64 * 2**20  # of a journal; then a snapshot takes its place
KEYS = 10_000  # changes whose Idempotency-Keys are remembered
_TOGETHER = 1_000  # rows of a request that is counted together with others; more are worth a pass of their own
_AT_ONCE = 50_000  # rows that are taken from the queue at once
_AGAIN = 1_000  # records until a snapshot is tried again that could not be written


class Answer(NamedTuple):
    """What a change came to."""

    op: str
    seq: int
    rows: int | float | None
    behind: int


@dataclass(eq=False)
class _Change:
    """A change that somebody waits for."""

    op: str
    rows: Any
    labels: Any
    weights: Any
    key: str | None
    learned: bool = True
    done: Future[dict[str, Any]] = field(default_factory=Future)

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class _Now:
    """A model, and what is said of it: published together."""

    model: Any
    seq: int
    version: str

    @cached_property
    def answer(self) -> dict[str, Any]:
        """As callers see it."""
        behind = self.model.calibration_behind_
        return {"seq": self.seq, "rows": count_rows(self.model), "version": self.version, "behind": behind}


class LiveModel:
    """A model that learns, forgets and is calibrated again while it answers. Every method may be called by any thread.

    Parameters
    ----------
    model : classifier
        The model to begin with; of one that learned here before, the one that the journal was begun with.
    about : mapping
        Where it comes from; kept in the snapshot.
    folder : path
        Where the journal is; made if it is not there, and used by one process at a time.
    name : str
        What the model is called in messages.
    version : str, optional
        What the model's file is called by its contents; by default worked out from the model.
    disk : Folder, optional
        What stands for the folder.
    table : callable, optional
        Makes a list of mappings a table that the model takes; by default the model takes the list.

    Attributes
    ----------
    notes : list of str
        What was found when the journal was opened, in sentences.

    Notes
    -----
    `snapshot.ingenuo` in the folder is a model file. The keys of the last 10,000 changes that had one are remembered,
    as hashes, over restarts too.

    Examples
    --------
    >>> import tempfile
    >>> from ingenuo import NaiveBayes
    >>> model = NaiveBayes().fit([{"sky": "red"}, {"sky": "grey"}], ["dry", "wet"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     live = LiveModel(model, {}, folder, name="weather")
    ...     answer = live.learn([{"sky": "red"}], ["dry"])
    ...     rows = answer["rows"], live.forget([{"sky": "grey"}], ["wet"])["rows"]
    ...     live.close()
    >>> rows
    (3, 2)
    """

    def __init__(
        self,
        model: Any,
        about: Mapping[str, Any],
        folder: str | os.PathLike[str],
        *,
        name: str,
        version: str | None = None,
        disk: Folder | None = None,
        table: Callable[[list[Any]], Any] | None = None,
    ) -> None:
        _refuse_what_cannot_learn(model, name)
        self.name, self.notes, self._table = name, list[str](), table
        self.about = {key: value for key, value in about.items() if key != "journal"}  # of a snapshot that was moved
        self._base = version or hashlib.sha256(store.to_bytes(model)).hexdigest()[:12]
        self._keys: OrderedDict[str, Answer] = OrderedDict()
        self._journal = Journal(Disk(folder) if disk is None else disk)
        self._records = self._next_try = 0
        try:
            self._now = self._begin(model) if self._journal.snapshot is None else self._go_on()
        except BaseException:
            self._journal.close()
            raise
        self._waiting: deque[_Change] = deque()
        self._changed, self._closing = threading.Condition(), False
        self._thread = threading.Thread(target=self._work, name=f"learning of {name}", daemon=True)
        self._thread.start()

    # What everybody may ask.

    @property
    def model(self) -> Any:
        """The model that answers now."""
        return self._now.model

    @property
    def state(self) -> dict[str, Any]:
        """The number of the last change, the rows learned, the version, and the rows its calibration is behind."""
        return dict(self._now.answer)

    @property
    def journal_bytes(self) -> int:
        """The size of the journal."""
        return self._journal.size

    def learn(self, rows: Any, labels: Any, weights: Any = None, *, key: str | None = None) -> dict[str, Any]:
        """Learn rows: a table, a list of mappings or of texts. What is answered is safe on the disk."""
        return self.submit(LEARN, rows, labels, weights, key=key).result()

    def forget(self, rows: Any, labels: Any, weights: Any = None, *, key: str | None = None) -> dict[str, Any]:
        """Forget rows that were learned; the sums of before are gone from the disk when this returns."""
        return self.submit(FORGET, rows, labels, weights, key=key).result()

    def recalibrate(
        self, rows: Any, labels: Any, weights: Any = None, *, learned: bool = True, key: str | None = None
    ) -> dict[str, Any]:
        """Calibrate by rows that the model has learned, or has not."""
        return self.submit(RECALIBRATE, rows, labels, weights, key=key, learned=learned).result()

    def submit(
        self, op: str, rows: Any, labels: Any, weights: Any = None, *, key: str | None = None, learned: bool = True
    ) -> Future[dict[str, Any]]:
        """A change ("learn", "forget" or "recalibrate") that is not waited for: its answer, or error, is to come."""
        change = _Change(op, rows, labels, weights, _hash(key), learned)
        with self._changed:
            if self._closing:
                raise JournalError(f"{self.name} is being closed and learns no more; send it again")
            self._waiting.append(change)
            self._changed.notify()
        return change.done

    def close(self) -> None:
        """Finish what waits, keep it as a snapshot, and let others have the journal."""
        with self._changed:
            if self._closing:
                return
            self._closing = True
            self._changed.notify()
        self._thread.join()
        try:
            self._journal.settle()
            if self._records:
                self._keep(self._now)
        except JournalError:  # the records are safe
            pass
        finally:
            self._journal.close()

    # Beginning, and going on where it was left.

    def _begin(self, model: Any) -> _Now:
        if self._journal.records:
            raise JournalError(
                f"{self._journal.name}: the journal has records, and {SNAPSHOT} is missing; restore the folder from a "
                "copy, or move it away and begin again"
            )
        now = _Now(model, 0, self._base)
        self._keep(now)
        return now

    def _go_on(self) -> _Now:
        assert self._journal.snapshot is not None
        data = self._journal.snapshot
        try:
            model, (manifest, _) = store.from_bytes(data), container.from_bytes(data)
            about = dict(manifest["about"])
            own = about.pop("journal")
            seq, base = int(own["seq"]), str(own["base"])
            self._keys.update((key, Answer(*answer)) for key, *answer in own["keys"])
        except (IngenuoError, LookupError, TypeError, ValueError) as error:
            raise JournalError(
                f"{self._journal.name}: {SNAPSHOT} cannot be read ({error}); restore the folder from a copy, or move "
                "it away and begin again"
            ) from error
        moved = base != self._base and hashlib.sha256(data).hexdigest()[:12] == self._base
        if base != self._base and not moved:
            raise JournalError(
                f"{self._journal.name}: this journal was begun with another model file (version {base}; that of "
                f"{self.name} is {self._base}); give that file, or another --journal, or serve {SNAPSHOT} of the "
                "folder, which has learned it all"
            )
        self.about = about
        now = _Now(model, seq, _version(self._base, seq))
        stale = 0
        for body in self._journal.records:
            try:
                number, head, sums = _open_record(body)
                stale += number <= seq
                if number > seq:
                    now = self._replay(now, number, head, sums)
            except (IngenuoError, LookupError, TypeError, ValueError, struct.error) as error:
                raise JournalError(
                    f"{self._journal.name}: the record after change {now.seq:,} does not fit what was learned before "
                    f"({error}); restore the folder from a copy, or move it away and begin again"
                ) from error
        self._records = len(self._journal.records)
        if self._journal.cut:
            self.notes.append(f"{self._journal.cut:,} bytes of a change that was never answered were cut off")
        if self._records:
            self.notes.append(f"{now.seq - seq:,} changes since the last snapshot were learned again")
        if stale or moved:  # what is stale is of before the snapshot, and may be of rows that are forgotten
            self._keep(now)
        self._journal.snapshot, self._journal.records = None, []
        return now

    def _replay(self, now: _Now, number: int, head: Mapping[str, Any], sums: bytes) -> _Now:
        if number != now.seq + 1:
            raise InputError(f"it is change {number:,}")
        model = copy.copy(now.model).add_sums(store.from_bytes(sums))
        after = _Now(model, number, _version(self._base, number))
        self._remember(head["keys"], LEARN, after)
        return after

    # The one thread that changes anything.

    def _work(self) -> None:
        last, several = 0.0, False
        while True:
            with self._changed:
                while not self._waiting and not self._closing:
                    self._changed.wait()
                if not self._waiting:
                    return
                # Where callers come in numbers, a little waiting lets them share a write; one alone does not wait.
                rest = last + WAIT - time.monotonic() if several and not self._closing else 0.0
            if rest > 0:
                time.sleep(rest)
            group = self._take()
            several = len(group) > 1
            try:
                self._change(group)
            except BaseException as error:  # nobody waits for ever
                _fail(group, error)
            last = time.monotonic()

    def _take(self) -> list[_Change]:
        """Changes that wait, as many as are made at once."""
        group, n_rows = list[_Change](), 0
        with self._changed:
            while self._waiting and (not group or n_rows + self._waiting[0].n_rows <= _AT_ONCE):
                change = self._waiting.popleft()
                if change.done.set_running_or_notify_cancel():  # else nobody waits for it any more
                    group.append(change)
                    n_rows += change.n_rows
        return group

    def _change(self, group: Sequence[_Change]) -> None:
        """Make changes: first what is learned, then what is forgotten, then what is calibrated."""
        todo, later = self._without_repeats(group)
        step = _Step(self._now, self._base, self._table)
        for op in (LEARN, FORGET, RECALIBRATE):
            step.make([change for change in todo if change.op == op])
        try:
            self._publish(step)
        except JournalError as error:
            _fail([change for changes, _ in step.made for change in changes], error)
        if later:
            self._change(later)

    def _publish(self, step: _Step) -> None:
        """To the disk, to those who ask, to those who wait; in this order."""
        if not step.made:
            return
        if step.bodies is None:
            before = self._keys.copy()
            self._remember_step(step)
            if any(changes[0].op == FORGET for changes, _ in step.made):
                self.about.pop("drift", None)  # in which what is forgotten was counted
            try:
                self._write_snapshot(step.now)
            except JournalError:
                self._keys = before
                raise
            self._now = step.now
            self._journal.settle()
        else:
            self._journal.append(step.bodies)
            self._records += len(step.bodies)
            self._remember_step(step)
            self._now = step.now
        for changes, now in step.made:
            for change in changes:
                change.done.set_result(dict(now.answer))
        if self._records >= max(MOST_RECORDS, self._next_try) or self._journal.size >= MOST_BYTES:
            try:
                self._keep(self._now)
            except JournalError:  # the records are safe, and go on
                self._next_try = self._records + _AGAIN

    def _keep(self, now: _Now) -> None:
        """Let a snapshot take the place of the journal."""
        self._write_snapshot(now)
        self._journal.settle()

    def _write_snapshot(self, now: _Now) -> None:
        keys = [[key, *answer] for key, answer in self._keys.items()]
        own = {"seq": now.seq, "base": self._base, "keys": keys}
        if now.seq:
            self.about.pop("evaluation", None)  # which was of another model
            self.about["rows"] = now.answer["rows"]
        self._journal.replace(store.to_bytes(now.model, {**self.about, "journal": own}))
        self._records = self._next_try = 0

    # Keys.

    def _remember_step(self, step: _Step) -> None:
        for changes, now in step.made:
            self._remember([change.key for change in changes if change.key is not None], changes[0].op, now)

    def _remember(self, keys: Sequence[str], op: str, now: _Now) -> None:
        said = now.answer
        for key in keys:
            self._keys[key] = Answer(op, said["seq"], said["rows"], said["behind"])
        while len(self._keys) > KEYS:
            self._keys.popitem(last=False)

    def _without_repeats(self, group: Sequence[_Change]) -> tuple[list[_Change], list[_Change]]:
        """The changes that are new; and those whose key another one of them has, which come after it."""
        todo, later, own = list[_Change](), list[_Change](), set[str]()
        for change in group:
            first = None if change.key is None else self._keys.get(change.key)
            if first is not None:
                self._repeat(change, first)
            elif change.key is not None and change.key in own:
                later.append(change)
            else:
                todo.append(change)
                own.add(change.key or "")
        return todo, later

    def _repeat(self, change: _Change, first: Answer) -> None:
        """Answer as the first time."""
        try:
            self._journal.settle()
            if first.op != change.op:
                raise InputError(
                    f"the Idempotency-Key was given before, with a {first.op}, and is now with a {change.op}; a key is "
                    "for one request and its repetitions"
                )
            version = _version(self._base, first.seq)
            answer = {"seq": first.seq, "rows": first.rows, "version": version, "behind": first.behind}
        except IngenuoError as error:
            change.done.set_exception(error)
        else:
            change.done.set_result(answer)


class _Step:
    """Changes of a model, one after the other, of which nobody knows yet."""

    def __init__(self, now: _Now, base: str, table: Callable[[list[Any]], Any] | None) -> None:
        self.now, self._base, self._table = now, base, table
        self.made: list[tuple[list[_Change], _Now]] = []
        self.bodies: list[bytes] | None = []  # of records; none where records do not say it

    def make(self, changes: Sequence[_Change]) -> None:
        """Make changes of one kind; those that cannot be made are answered so."""
        for some in _batches(changes):
            try:
                self._make(some)
            except Exception as error:
                if len(some) == 1:
                    some[0].done.set_exception(error)
                    continue
                for one in some:  # a bad one fails alone
                    self.make([one])

    def _make(self, some: list[_Change]) -> None:
        model, op, seq = copy.copy(self.now.model), some[0].op, self.now.seq + 1
        rows, labels, weights = _join(some)
        if self._table is not None and type(rows) is list and rows and type(rows[0]) is dict:
            rows = self._table(rows)
        body = b""
        if op == LEARN:
            sums = model.sums_of(rows, labels, weights)
            model.add_sums(sums)
            body = _record(seq, {"keys": [change.key for change in some if change.key is not None]}, sums)
        elif op == FORGET:
            try:
                model.subtract_sums(model.sums_of(rows, labels, weights))
            except ForgetError as error:
                if len(some) > 1:
                    raise
                raise model.name_unlearned(error, rows, labels, weights) from error
        else:
            model.calibrate_again(rows, labels, weights, learned=some[0].learned)
        for name, table in model.tally_.items():
            check_sums(name, table.sums)  # else the next snapshot could not be read
        if op != LEARN:
            self.bodies = None
        elif self.bodies is not None:
            self.bodies.append(body)
        self.now = _Now(model, seq, _version(self._base, seq))
        self.made.append((some, self.now))


def _batches(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """Changes whose rows may stand in one table, so that they are read as each by itself would be."""
    batch: list[_Change] = []
    types: dict[Any, Any] = {}
    for change in changes:
        own = _types(change)
        if batch and (own is None or any(types.get(name, each) != each for name, each in own.items())):
            yield batch
            batch, types = [], {}
        if own is None:
            yield [change]
            continue
        batch.append(change)
        types |= own
    if batch:
        yield batch


def _types(change: _Change) -> dict[Any, Any] | None:
    """Of what types its values are; None where it is to be counted by itself."""
    rows, labels = change.rows, change.labels
    if change.op == RECALIBRATE or not 0 < change.n_rows <= _TOGETHER or not isinstance(labels, list):
        return None
    if len(labels) != change.n_rows or not isinstance(change.weights, list | None):
        return None
    if change.weights is not None and len(change.weights) != change.n_rows:
        return None
    of_labels = {type(label) for label in labels}
    found: dict[Any, Any] = {"labels": of_labels, "weights": change.weights is None}
    if len(of_labels) > 1:
        return None
    if hasattr(rows, "schema"):
        return found | {"table": rows.schema}
    if isinstance(rows, np.ndarray):
        found["array"] = (rows.dtype, rows.shape[1:])
        rows = [dict(enumerate(row)) for row in rows.tolist()] if rows.dtype == object and rows.ndim == 2 else [{}]
    if not isinstance(rows, list):
        return None
    found["texts"] = isinstance(rows[0], str)
    if found["texts"] and all(isinstance(row, str) for row in rows):
        return found
    if not all(isinstance(row, dict) for row in rows):
        return None
    for row in rows:
        for name, value in row.items():
            there = value is not None and value == value
            if there and found.setdefault(("column", name), type(value)) is not type(value):
                return None
    return found


def _join(changes: Sequence[_Change]) -> tuple[Any, Any, Any]:
    """The rows of several changes in one table, with their labels and weights."""
    first = changes[0]
    if len(changes) == 1:
        return first.rows, first.labels, first.weights
    labels = [label for change in changes for label in change.labels]
    weights = None if first.weights is None else [weight for change in changes for weight in change.weights]
    if isinstance(first.rows, list):
        return [row for change in changes for row in change.rows], labels, weights
    if isinstance(first.rows, np.ndarray):
        return np.concatenate([change.rows for change in changes]), labels, weights
    import pyarrow as pa

    return pa.concat_tables([change.rows for change in changes]), labels, weights


def _record(seq: int, head: Mapping[str, Any], sums: Tally) -> bytes:
    """The body of a record: the number of a change, what is known of it, and its sums."""
    known = json.dumps(head, separators=(",", ":")).encode()
    return struct.pack("<QI", seq, len(known)) + known + store.to_bytes(sums)


def _open_record(body: bytes) -> tuple[int, dict[str, Any], bytes]:
    seq, length = struct.unpack_from("<QI", body)
    return seq, json.loads(body[12 : 12 + length]), body[12 + length :]


def _fail(changes: Sequence[_Change], error: BaseException) -> None:
    for change in changes:
        if not change.done.done():
            change.done.set_exception(error)


def _version(base: str, seq: int) -> str:
    return f"{base}-{seq}" if seq else base


def _hash(key: str | None) -> str | None:
    """A key as it is remembered: of one length, and nothing that a person could read."""
    return None if key is None else hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def count_rows(model: Any) -> int | float:
    """How many rows (or how much weight) a model has learned."""
    tally: Tally = model.tally_
    total = float(tally.over(CLASS, tally.labels(CLASS, 0)).floats().sum())
    return int(total) if total.is_integer() else total


def _refuse_what_cannot_learn(model: Any, name: str) -> None:
    """Raise, in one sentence, for a model to which no rows can be added."""
    try:
        _ = model.partial_fit  # which raises with the reason
    except AttributeError as error:
        said = error.in_command() if isinstance(error, RefusedError) else f"a {type(model).__name__} has no partial_fit"
        raise RefusedError(f"{name} can only be served without --learn: {said}") from None
    if not isinstance(model, LearnsSums):
        raise RefusedError(f"{name} can only be served without --learn: a {type(model).__name__} has no sums by class")
    check_is_fitted(model)
