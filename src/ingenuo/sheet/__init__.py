"""The sheet: one document of a fitted model, from which the page, JavaScript, SQL and ONNX are made.

It holds the numbers that answers are made of, and the order in which they are added: what `predict_proba` does, a plain
loop in any language does too, with the same bits. 32 rows with Python's own answers let a reader check that, and a
checksum shows what these rows do not meet: the weight of a rare word that was changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError
from ingenuo.explanation.evidence import evidence
from ingenuo.models.model import check_is_fitted
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.typed import known_categories
from ingenuo.sheet.packing import plain, seal
from ingenuo.store import to_bytes

FORMAT, VERSION = "ingenuo-sheet", 1
CHECKED = 32  # rows
_WORDS = 200  # of a text column, from which texts to check are made


@dataclass(frozen=True, eq=False)
class Sheet:
    """What a fitted model answers by: nodes of plain values and arrays, in the order in which they are added up."""

    kind: str
    digest: str  # SHA-256 of the model file
    target: str | None
    classes: list[Any]
    priors: Any
    columns: list[dict[str, Any]]
    scorer: dict[str, Any]
    reader: dict[str, Any]  # what texts are cut by; empty where there are none
    check: list[dict[str, Any]]
    network: dict[str, Any] | None = None  # what a page draws, where there is a network
    sums: dict[str, Any] | None = None  # what rows are forgotten from, where that was asked for

    @cached_property
    def _document(self) -> dict[str, Any]:
        found: dict[str, Any] = plain(
            {
                "format": FORMAT, "version": VERSION, "model": self.digest, "kind": self.kind, "target": self.target,
                "classes": self.classes, "priors": self.priors, "columns": self.columns, "reader": self.reader,
                "scorer": self.scorer, "check": self.check, "network": self.network,
                **({} if self.sums is None else {"sums": self.sums}),
            }
        )  # fmt: skip
        return {**found, "seal": seal(found)}

    def document(self) -> dict[str, Any]:
        """The sheet as JSON has it."""
        return self._document

    def to_json(self) -> str:
        """The sheet as text; numbers are the shortest decimals that are read back to the same bits.

        >>> import ingenuo as ing
        >>> model = ing.NaiveBayes().fit([["a", 1], ["b", 2]], ["no", "yes"])
        >>> sheet(model).to_json()[:44]
        '{"format":"ingenuo-sheet","version":1,"model'
        """
        return json.dumps(self._document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def sheet(model: Any, *, sums: bool = False) -> Sheet:
    """The sheet of a fitted classifier, or of a network; with the sums, rows can be forgotten from it.

    >>> import ingenuo as ing
    >>> found = sheet(ing.NaiveBayes().fit([["a", 1], ["b", 2]], ["no", "yes"]))
    >>> [term["op"] for term in found.scorer["terms"]], found.classes
    (['category', 'gaussian'], ['no', 'yes'])
    """
    if isinstance(model, type) or not hasattr(model, "sheet_scorer"):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise KindError(f"a {name} has no sheet, from which pages and exports are made; take a fitted classifier")
    if hasattr(model, "get_params"):  # a network has its tables, or says what it lacks
        check_is_fitted(model)
    if sums and not hasattr(model, "sheet_sums"):
        raise KindError(
            f"a {type(model).__name__} has no sums that a page could take rows away from; only NaiveBayes has. Forget "
            "with ingenuo open instead"
        )
    schema, classes, priors = model.sheet_schema()
    names = [name for name in schema.names.tolist() if FAMILIES[schema.family(name)] != "ignore"]
    places = {name: place for place, name in enumerate(names)}
    scorer = place_columns(model.sheet_scorer(), places)
    columns = _columns(model, schema, names)
    found = {
        "kind": type(model).__name__, "digest": hashlib.sha256(to_bytes(model)).hexdigest(),
        "target": getattr(model, "_target", None), "classes": classes, "priors": priors,
        "columns": [{key: value for key, value in each.items() if key != "words"} for each in columns],
        "scorer": scorer, "reader": _reader(scorer),
        "network": model.sheet_network() if hasattr(model, "sheet_network") else None,
        "sums": place_columns(model.sheet_sums(), places) if sums else None,
    }  # fmt: skip
    return Sheet(**found, check=[_checked(model, columns, cells) for cells in _rows_to_check(columns)])


def place_columns(node: Any, places: Mapping[Any, int]) -> Any:
    """A node of a sheet with the places of columns for their names."""
    if isinstance(node, list | tuple):
        return [place_columns(each, places) for each in node]
    if not isinstance(node, Mapping):
        return node
    found = {name: place_columns(each, places) for name, each in node.items()}
    if "op" in node and "column" in node:
        found["column"] = places[node["column"]]
    if "op" in node and node.get("columns") is not None:
        found["columns"] = [places[each] for each in node["columns"]]
    return found


def _nodes(node: Any) -> Iterable[Mapping[str, Any]]:
    """All nodes within a node."""
    if isinstance(node, list):
        for each in node:
            yield from _nodes(each)
    elif isinstance(node, Mapping):
        if "op" in node:
            yield node
        yield from _nodes(list(node.values()))


def _reader(scorer: Mapping[str, Any]) -> dict[str, Any]:
    """The tables by which texts are cut, where some term reads them."""
    if not any(node["op"] == "words" for node in _nodes(scorer)):
        return {}
    from ingenuo.text.tokens import reader_tables

    found: dict[str, Any] = reader_tables()
    return found


# What a page shows of each column.


def _columns(model: Any, schema: Schema, names: list[Any]) -> list[dict[str, Any]]:
    shown = {name: part for each in reversed(_members(model)) for name, part in _parts(each).items()}
    cuts = {name: each for part in reversed(_members(model)) for name, each in getattr(part, "cuts_", {}).items()}
    found = []
    for name in names:
        kind = FAMILIES[schema.family(name)]
        own: dict[str, Any] = {"name": column_name(name), "kind": kind}
        part = shown.get(name)
        if kind == "category":
            known = known_categories(model, name, schema)
            own["values"] = [] if known is None else [each for each in known.tolist() if each is not None]
            if not own["values"] and part is not None:
                own |= part
        elif part is not None:
            own |= part
        if kind == "number" and "low" not in own and name in cuts and cuts[name].points:
            first, last = cuts[name].points[0], cuts[name].points[-1]
            room = (last - first) / 4 or max(abs(first), 1.0) / 4
            own |= {"low": first - room, "high": last + room}
        found.append(own)
    return found


def _members(model: Any) -> list[Any]:
    """The model, those that it asks, and the generative twins of these, which know more of the columns."""
    asked = [model, *getattr(model, "estimators_", [])]
    return [*asked, *(each.twin_ for each in asked if getattr(each, "twin_", None) is not None)]


def _parts(model: Any) -> dict[Any, dict[str, Any]]:
    """What the columns of a model look like, where they add up."""
    try:
        every = evidence(model, "sheet", added=False).parts
    except (InputError, KindError):
        return dict(getattr(model, "sheet_columns", dict)())
    found: dict[Any, dict[str, Any]] = {}
    for part in every:
        if part.kind == "number":
            finite = np.isfinite([part.low, part.high]).all()
            low, high = (part.low, part.high) if finite else (0.0, 0.0)
            found[part.column] = {"low": low, "high": high, "means": part.means} if high > low else {}
        elif part.kind == "category":  # the states of a column of numbers
            values = np.asarray(part.values, np.float64) if part.values.dtype.kind in "if" else np.zeros(0)
            if len(values):
                found[part.column] = {"values": values, "low": float(values.min()), "high": float(values.max())}
        elif part.kind == "count":
            for column, most in zip(part.columns.tolist(), part.most.tolist()):
                found[column] = {"high": most}
        else:
            nodes = np.flatnonzero(part.used)[:_WORDS]
            found[part.column] = {"words": part.bag.vocabulary.texts(nodes.tolist())}
    return found


# Rows with Python's own answers.


def _rows_to_check(columns: list[dict[str, Any]]) -> list[list[Any]]:
    """Rows of ordinary, rare, unknown and missing values; the first is empty."""
    rng = np.random.default_rng(0)
    rows: list[list[Any]] = [[None] * len(columns)]
    while len(rows) < CHECKED:
        rows.append([_cell(column, rng, len(rows)) for column in columns])
    return rows


def _cell(column: Mapping[str, Any], rng: np.random.Generator, row: int) -> Any:
    draw, kind = rng.random(), column["kind"]
    if kind == "count":
        return float(rng.poisson(column.get("high", 3.0) / 3)) if draw > 0.3 else 0.0
    if draw < 0.12 and row > 1:
        return None
    if kind == "number":
        low, high = column.get("low", -3.0), column.get("high", 3.0)
        values = column.get("values", ())
        if len(values) and draw < 0.8:
            return float(values[int(rng.integers(len(values)))])
        x = low + (high - low) * float(rng.normal(0.5, 0.3 if draw < 0.9 else 3.0))
        return x if draw < 0.6 else float(f"{x:.3g}")
    if kind == "category":
        values = column["values"]
        return "never seen" if not values or draw > 0.95 else values[int(rng.integers(len(values)))]
    words = column.get("words") or ["word"]
    some = [words[int(at)] for at in rng.integers(len(words), size=int(rng.integers(0, 30)))]
    return " ".join([*some, "neverseen"])


def _checked(model: Any, columns: list[dict[str, Any]], cells: list[Any]) -> dict[str, Any]:
    given = {column["name"]: value for column, value in zip(columns, cells) if value is not None}
    joint, posterior = model.answer_row(given)
    return {"row": cells, "joint": joint, "posterior": posterior}
