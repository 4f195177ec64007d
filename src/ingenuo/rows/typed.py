"""A row as a person types it, "Outlook=Sunny, Wind=Strong" or a JSON object, with values of the columns' types."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.rows.schema import FAMILIES, Schema, category_table, column_name
from ingenuo.tally.labels import Labels, meet, objects, spelled_value, unite

MISSING = ("", "?")
_QUOTES = ("'", '"')


MAX_DEPTH = 64  # brackets within brackets of JSON: parsers call themselves for each
_SIGNS = np.zeros(256, np.int8)  # what parts JSON: 1 opens, -1 closes, 2 is a comma or a line end
_SIGNS[list(b"[{")], _SIGNS[list(b"]}")], _SIGNS[list(b",\n\r")] = 1, -1, 2


class JsonSigns:
    """The brackets, commas and line ends of JSON that are in no string, block after block."""

    def __init__(self) -> None:
        self.depth, self._inside, self._escaped = 0, 0, False

    def find(self, data: bytes | bytearray) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Where they stand, and how deep it is after each."""
        signs = np.frombuffer(data, np.uint8)
        quotes = np.flatnonzero(signs == ord('"'))
        if self._escaped or b"\\" in data:
            quotes = quotes[~self._escapes(signs)[quotes]]
        places = np.flatnonzero(_SIGNS[signs])
        places = places[(np.searchsorted(quotes, places) + self._inside) % 2 == 0]
        self._inside = (self._inside + len(quotes)) % 2
        steps = _SIGNS[signs[places]]
        depths = self.depth + np.cumsum(np.where(steps == 2, 0, steps), dtype=np.int64)
        self.depth = int(depths[-1]) if len(depths) else self.depth
        return places, depths

    def _escapes(self, signs: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Of each byte, whether a backslash before it that is not itself escaped takes its meaning away."""
        slashes = np.flatnonzero(signs == ord("\\"))
        number = np.arange(len(slashes))
        begins = np.diff(slashes, prepend=-2) > 1  # a run of them, of which each second one is escaped
        nth = number - np.maximum.accumulate(np.where(begins, number, 0))
        if self._escaped and len(slashes) and slashes[0] == 0:
            nth[: len(nth) if begins[1:].sum() == 0 else int(np.argmax(begins[1:])) + 1] += 1
        escaped = np.zeros(len(signs) + 1, np.bool_)
        escaped[slashes[nth % 2 == 0] + 1] = True
        escaped[0] = self._escaped
        self._escaped = bool(escaped[-1])
        return escaped[:-1]


def too_deep(data: bytes | bytearray) -> int:
    """Where JSON is too deep for a parser; -1 where it is not."""
    places, depths = JsonSigns().find(data)
    deep = depths > MAX_DEPTH
    return int(places[np.argmax(deep)]) if deep.any() else -1


def reads_texts(model: Any) -> bool:
    """Whether the rows of a model are texts, and nothing else."""
    schema = _schema_of(model)
    if schema is None or len(schema) == 0:  # a model of sequences has no columns
        return schema is not None
    return len(schema) == 1 and len(schema.texts) == 1


def parse_row(text: str, model: Any) -> Any:
    """A row from text: "column=value, column=value", or a JSON object; the text itself where the model reads texts.

    Values with a comma stand in quotes; `?`, or nothing, is missing, and so is a column left out. Numbers become
    numbers, and categories what the model knows them as: booleans, whole numbers, text.
    """
    if not isinstance(text, str):
        raise KindError(f"a row is read from text, got {type(text).__name__} {text!r}")
    schema = _schema_of(model)
    if reads_texts(model):
        return text.removeprefix(f"{schema.names[0]}=") if schema is not None and len(schema) else text
    if schema is None:
        raise KindError(f"a {type(model).__name__} does not say what its columns are; give the row as a mapping")
    given = _from_json(text) if text.lstrip().startswith("{") else _from_pairs(text)
    columns = {column_name(name): name for name in schema.names.tolist()}
    target = model.__dict__.get("_target")
    row = {}
    for name, value in given.items():
        if name not in columns:
            if name == target:
                continue
            raise InputError(f"the row has a column {name!r} that the model does not know{did_you_mean(name, columns)}")
        row[columns[name] if schema.named else name] = _value(value, columns[name], schema, model)
    return row


def _schema_of(model: Any) -> Schema | None:
    """What the columns of a model are; of several models those of the first that says it."""
    found: Schema | None = getattr(model, "schema_", None)
    others = (_schema_of(each) for each in getattr(model, "estimators_", []))
    return found if found is not None else next((each for each in others if each is not None), None)


def _from_json(text: str) -> dict[str, Any]:
    if too_deep(text.encode("utf-8", "replace")) >= 0:
        raise InputError(f"the row has more than {MAX_DEPTH} brackets within brackets; give one value for each column")
    try:
        found: dict[str, Any] = json.loads(text)  # it begins with a brace
    except ValueError as error:
        raise InputError(f"the row looks like JSON and is none: {error}; write column=value, or mend it") from None
    for name, value in found.items():
        if isinstance(value, list | dict):
            raise InputError(f"column {name!r} has {json.dumps(value)[:60]}; give one value for each column")
    return found


def _from_pairs(text: str) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    at = 0
    while at < len(text):
        name, at, _ = _piece(text, at, "=,")
        if at >= len(text) or text[at] != "=":
            if not name and at >= len(text):
                break  # a comma at the end
            raise InputError(
                f"{name!r} has no value: write column=value, with commas between; values with a comma stand in quotes"
            )
        value, at, quoted = _piece(text, at + 1, ",")
        if not name:
            raise InputError(f"the value {value!r} has no column before its '='; write column=value")
        if name in found:
            raise InputError(f"column {name!r} has two values, {found[name]!r} and {value!r}; give one")
        found[name] = None if value in MISSING and not quoted else value
        at += 1
    if not found:
        raise InputError("the row is empty; write column=value, with commas between")
    return found


def _piece(text: str, at: int, ends: str) -> tuple[str, int, bool]:
    """What stands from a place on up to one of the ends, where that is, and whether it was quoted."""
    found = re.compile(rf"\s*(?:(['\"])((?:(?!\1).|\1\1)*)\1\s*|([^{ends}]*))", re.DOTALL).match(text, at)
    assert found is not None  # it may be empty
    quote, quoted, plain = found.groups()
    if quote is None:
        if plain[:1] in _QUOTES:
            raise InputError(
                f"the quote before {text[found.start(3) + 1 :][:29]!r} is not closed; add {plain[0]} at its end"
            )
        return plain.strip(), found.end(), False
    quoted, end = quoted.replace(quote + quote, quote), found.end()
    if end < len(text) and text[end] not in ends:
        raise InputError(f"there is {text[end : end + 20]!r} after the quoted {quoted!r}; put a comma between")
    return quoted, end, True


def _value(value: Any, name: Any, schema: Schema, model: Any) -> Any:
    """A value of the type of its column; None where it is missing."""
    kind = FAMILIES[schema.family(name)]
    if value is None or kind == "ignore":
        return value
    if kind == "text":
        return str(value)
    known = known_categories(model, name, schema)
    if kind in ("number", "count") or known is None:
        try:
            return None if value in MISSING else float("" if isinstance(value, bool) else value)
        except ValueError:
            written = json.dumps(value) if isinstance(value, bool) else repr(value)
            hint = " with a point" if re.fullmatch(r"[+-]?\d*,\d+", written.strip("'")) else ""
            raise InputError(
                f"column {column_name(name)!r} is a number, got {written}; give a number{hint}, or ? if it is missing"
            ) from None
    found = category(value, known)
    if found is not None and found not in known.tolist() and len(known):
        hint = did_you_mean(value, known.tolist())
        warnings.warn(f"{value!r} was never seen in column {column_name(name)!r}{hint}", stacklevel=5)
    return found


def known_categories(model: Any, name: Any, schema: Schema) -> Labels | None:
    """The categories that a model knows of a column; None where it is cut from numbers."""
    if name in getattr(model, "cuts_", {}):
        return None
    places = [each for each in schema.names.tolist() if FAMILIES[schema.family(each)] != "ignore"]
    for each in [model, *getattr(model, "estimators_", [])]:
        tally = getattr(each, "tally_", None)
        if tally is not None and category_table(name) in tally:
            return unite(tally.labels(category_table(name), 1), schema.known(name))
        if hasattr(each, "cuts_"):
            parameters = next(iter(each._parameters().families.values()))
            states = parameters.labels if len(parameters.labels) == len(places) else parameters.labels[1:]
            return np.asarray(states[places.index(name)])
    return schema.known(name)


def category(value: Any, known: Labels) -> Any:
    """The category that is meant: by its type, by how it is written, or new, in the type of the others."""
    (found,) = meet(objects([value]), known).tolist()
    if found in known.tolist():
        return found
    if value in MISSING:
        return None
    return spelled_value(value) if isinstance(value, str) and known.dtype.kind in "if" else value
