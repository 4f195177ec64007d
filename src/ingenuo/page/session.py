"""The model that a page at home asks: changed on trial, changed, taken back, saved. It knows nothing of HTTP."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ingenuo import store
from ingenuo.errors import IngenuoError, InputError, MergeError, RefusedError
from ingenuo.networks.network import Network
from ingenuo.page import page
from ingenuo.rows.schema import column_name
from ingenuo.rows.typed import parse_row, reads_texts
from ingenuo.sheet import sheet
from ingenuo.show.format import plain, shortened
from ingenuo.tally.labels import labels_of, objects, recognise

Rows = Callable[[Any], dict[str, Any] | None]  # what a page of a model embeds of rows
Merge = Callable[[Any, Any], tuple[Any, list[str]]]  # the sum of two models, and what should be known of it

_ROWS = 100  # that are forgotten or learned at once
_FRACTIONS = 500  # that an answer lists
_UNDO = 50  # changes that can be taken back


class Session:
    """A model that is asked, changed on trial, changed and taken back.

    Parameters
    ----------
    model : classifier or Network
        Of which there is a sheet.
    rows : function, optional
        What the page of a model embeds of rows.
    merge : function, optional
        The sum of two models, with notes on it; by default what `merge` of the first says.
    about : mapping, optional
        Where the model comes from; changes are added to its history.
    save_to : path, optional
        The one file that the page may write.
    title, name : str, optional
        Of the page, and of the model's file.
    language : {"en", "it", "es"}
        What the page speaks.
    """

    def __init__(
        self,
        model: Any,
        rows: Rows | None = None,
        *,
        merge: Merge | None = None,
        about: Mapping[str, Any] | None = None,
        save_to: str | None = None,
        title: str | None = None,
        name: str | None = None,
        language: str = "en",
    ) -> None:
        self.model, self.rows, self.about, self.save_to = model, rows, dict(about or {}), save_to
        self.title, self.name, self.language = title, name, language
        self.second: Any = None
        self._merge = _add if merge is None else merge
        self._before: list[tuple[Any, dict[str, Any]]] = []
        self._page: str | None = None
        self.page()  # which raises where there is none

    @property
    def state(self) -> dict[str, Any]:
        """What the page should know of the model as it is now."""
        return {
            "learned": _count_rows(self.model),
            "changes": len(self._before),
            "fingerprints": bool(getattr(self.model, "fingerprints", False)),
            "save_to": None if self.save_to is None else os.path.basename(self.save_to),
            "cannot": {what: why for what in ("forget", "partial_fit", "merge") if (why := _why_not(self.model, what))},
        }

    def page(self) -> str:
        """The page of the model as it is now."""
        if self._page is None:
            rows = None if self.rows is None else self.rows(self.model)
            about = {"rows": _count_rows(self.model)} | ({} if self.name is None else {"file": self.name})
            title, server = self.title or self.about.get("title"), {"url": "", "state": self.state}
            self._page = page(self.model, rows, title=title, about=about, server=server, language=self.language)
        return self._page

    def change(self, what: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Forget ("forget") or learn ("partial_fit") rows, or say what would follow."""
        _check_keys(asked, "rows", "classes", "question", "apply")
        rows, labels = asked.get("rows"), asked.get("classes")
        if not isinstance(rows, list) or not isinstance(labels, list) or not 0 < len(rows) == len(labels) <= _ROWS:
            raise InputError(f"rows and classes must be lists of the same length, of 1 to {_ROWS} each")
        read = [read_row(self.model, row) for row in rows]
        known = [_label(self.model, label) for label in labels]
        if what == "forget" and (why := _why_not(self.model, "forget")) is not None:
            raise RefusedError(why)
        after = _copy(self.model)
        getattr(after, what)(_as_table(self.model, read), objects(known))
        found = self._compare(after, read, asked)
        if _flag(asked, "apply"):
            self._keep(after, "forget" if what == "forget" else "update", len(rows))
            found["state"] = self.state
        return found

    def add_second(self, data: bytes) -> dict[str, Any]:
        """Take another model, to be asked the same and perhaps to be added."""
        other = store.from_bytes(data)
        document = sheet(other).document()
        self.second = other
        return {"sheet": document, "state": self.state}

    def merge(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Add the second model, or say what would follow."""
        _check_keys(asked, "question", "apply")
        if self.second is None:
            raise InputError("there is no second model to add; give one first")
        after, notes = self._merge(_copy(self.model), _copy(self.second))
        found = self._compare(after, [], asked) | {"notes": notes}
        if _flag(asked, "apply"):
            self._keep(after, "merge", _count_rows(self.second))
            found["state"] = self.state
        return found

    def undo(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Take the last change back."""
        _check_keys(asked)
        if not self._before:
            raise InputError("nothing was changed, so there is nothing to undo")
        self.model, self.about = self._before.pop()
        self._page = None
        return {"state": self.state}

    def save(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Write the model to the file that was named when the server was started, and to no other."""
        _check_keys(asked)
        if self.save_to is None:
            raise InputError("no file to save to was named; start with ingenuo open MODEL -o FILE, or download it")
        store.save(self.model, self.save_to, self.about)
        return {"saved": os.path.basename(self.save_to), "bytes": os.path.getsize(self.save_to)}

    def network(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What every node of a network is, given evidence on some and what is done to others."""
        _check_keys(asked, "evidence", "do")
        network = self.model if isinstance(self.model, Network) else getattr(self.model, "network_", None)
        if network is None:
            raise InputError(f"a {type(self.model).__name__} has no network to ask")
        given, done = ({} if asked.get(key) is None else asked[key] for key in ("evidence", "do"))
        if not isinstance(given, dict) or not isinstance(done, dict):
            raise InputError("evidence and do must be mappings from node to state")
        network = network.intervene(done) if done else network
        beliefs = network.posteriors(given)
        log = network.log_probability(given)
        return plain(  # type: ignore[no-any-return]
            {
                "log_probability": log,
                "probability": network.probability(given),
                "states": {node: list(own) for node, own in network.states.items()},
                "beliefs": {node: list(own.values()) for node, own in beliefs.items()},
            }
        )

    def file(self) -> bytes:
        """The model as a file."""
        return store.to_bytes(self.model, self.about)

    def _keep(self, after: Any, what: str, n_rows: float | None) -> None:
        """Take a changed model as the one that is asked."""
        self._before = [*self._before[-_UNDO + 1 :], (self.model, self.about)]
        about = {key: value for key, value in self.about.items() if key != "evaluation"}  # which was of another model
        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        event = {"what": what, "source": "the page", "rows": n_rows, "when": when, "forced": what == "forget"}
        learned = _count_rows(after)
        about |= {"history": [*about.get("history", []), event]} | ({} if learned is None else {"rows": learned})
        self.model, self.about, self._page = after, about, None

    def _compare(self, after: Any, rows: Sequence[Any], asked: Mapping[str, Any]) -> dict[str, Any]:
        """The answers to the question and to the rows, and every fraction of these, before and after."""
        question = asked.get("question")
        asked_row = None if question is None else read_row(self.model, question)
        fractions = _fractions(self.model, after, rows or ([] if asked_row is None else [asked_row]))
        return {
            "learned": [_count_rows(self.model), _count_rows(after)],
            "question": None if asked_row is None else [_answer(each, asked_row) for each in (self.model, after)],
            "rows": [[_answer(each, row) for each in (self.model, after)] for row in rows],
            "fractions": fractions[:_FRACTIONS],
            "more": max(len(fractions) - _FRACTIONS, 0),
        }


def _add(model: Any, other: Any) -> tuple[Any, list[str]]:
    """The sum of two models."""
    if not hasattr(model, "merge"):
        raise MergeError(_why_not(model, "merge") or f"a {type(model).__name__} cannot be merged")
    return model.merge(other), []


def _copy(model: Any) -> Any:
    """A model that may be changed: as it would come from its file."""
    return store.from_bytes(store.to_bytes(model))


def _why_not(model: Any, what: str) -> str | None:
    """Why a model cannot do something; None where it can."""
    try:
        getattr(model, what)
    except AttributeError as error:
        return error.in_command() if isinstance(error, RefusedError) else f"a {type(model).__name__} cannot {what}"
    return None


def _count_rows(model: Any) -> float | None:
    """How many rows a model has learned; None where that is not known."""
    tally = getattr(model, "tally_", None)
    if tally is None or "class" not in tally:
        return None
    total = float(tally.over("class", tally.labels("class", 0)).floats().sum())
    return int(total) if total.is_integer() else total


def _check_keys(asked: Mapping[str, Any], *known: str) -> None:
    for key in asked:
        if key not in known:
            raise InputError(f"{shortened(key)!r} is not asked here; there may be {', '.join(known) or 'nothing'}")


def _flag(asked: Mapping[str, Any], key: str) -> bool:
    found = asked.get(key, False)
    if not isinstance(found, bool):
        raise InputError(f"{key} must be true or false")
    return found


def read_row(model: Any, row: Any) -> Any:
    """A row of the page as the model takes it: of what reads texts the text, else a mapping."""
    plain_values = isinstance(row, dict) and all(x is None or isinstance(x, str | float | int) for x in row.values())
    if not plain_values:
        raise InputError("a row must be a mapping from column to a number, a text, true, false or null")
    if reads_texts(model):
        names = [column_name(name) for name in model.schema_.names.tolist()]
        for name in row:
            if name not in names:
                raise InputError(f"the row has a column {shortened(name)!r} that the model does not know")
        text = row.get(names[0]) if names else None
        return "" if text is None else str(text)
    return parse_row(json.dumps(row), model)


def _as_table(model: Any, rows: Sequence[Any]) -> Any:
    """Some rows as they are learned."""
    if reads_texts(model) or model.schema_.named:
        return list(rows)
    names = [column_name(name) for name in model.schema_.names.tolist()]
    return [[row.get(name) for name in names] for row in rows]


def _label(model: Any, label: Any) -> Any:
    """A class of the model, as the page calls it."""
    if not isinstance(label, str | int | float):
        raise InputError("a class must be a text, a number, true or false")
    known = labels_of(model.classes_)
    (place,) = recognise(known, objects([label])).tolist()
    return known.tolist()[place] if place >= 0 else label


def _answer(model: Any, row: Any) -> dict[str, Any]:
    """The posterior of a row, or why there is none."""
    try:
        posterior = model.predict_proba(_as_table(model, [row]))[0]
    except IngenuoError as error:
        return {"error": error.in_command()}
    return {"classes": plain(model.classes_), "posterior": plain(posterior)}


def _fractions(before: Any, after: Any, rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Every factor of the answers to some rows that is another afterwards, in the order of the arithmetic."""
    found: dict[tuple[str, str, str], list[tuple[str, float] | None]] = {}
    for side, model in enumerate((before, after)):
        for row in rows:
            try:
                explained = model.explain(row)
            except IngenuoError:
                continue
            for factor in (explained.prior, *explained.factors):
                for label, term in zip(explained.classes.tolist(), factor.terms):
                    key = (factor.column, factor.value, str(label))
                    found.setdefault(key, [None, None])[side] = (term.how, term.value)
    return [
        {"column": column, "value": value, "class": label, "before": plain(first), "after": plain(then)}
        for (column, value, label), (first, then) in found.items()
        if first != then
    ]
