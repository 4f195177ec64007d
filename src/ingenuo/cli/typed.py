"""Hypotheses and observations in a small YAML file, of which JSON is a part; classes as they are typed.

Numbers are read as fractions, decimals too, so that what is worked out from them is exact.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ingenuo.errors import IngenuoError, InputError, did_you_mean
from ingenuo.models.hypotheses import Hypotheses
from ingenuo.networks.files import read_yaml

_KEYS = ("priors", "likelihoods", "normalise", "observations")
_LONGEST = 100  # letters of a number
_SHORT = 15  # longer fractions are not shown


def read(path: str | os.PathLike[str]) -> Hypotheses:
    """The hypotheses of a file that has `likelihoods` and perhaps `priors`, `observations` and `normalise`."""
    name = os.fspath(path)
    given = read_yaml(name)
    if not isinstance(given, dict) or not given:
        raise InputError(f"{name}: found no mapping, expected {', '.join(_KEYS)}")
    for key in given:
        if key not in _KEYS:
            raise InputError(f"{name}: found {key!r}{did_you_mean(key, _KEYS)}; there may be {', '.join(_KEYS)}")
    likelihoods = given.get("likelihoods")
    if not isinstance(likelihoods, dict):
        raise InputError(f"{name}: 'likelihoods' must be a mapping from hypothesis to a table of probabilities")
    tables = {each: _table(table, f"{name}: the table of {each!r}") for each, table in likelihoods.items()}
    priors = given.get("priors", list(tables))
    priors = _table(priors, f"{name}: priors") if isinstance(priors, dict) else priors
    normalise = {"true": True, "false": False}.get(str(given.get("normalise", "false")).lower())
    if normalise is None:
        raise InputError(f"{name}: 'normalise' is {given['normalise']!r}; it must be true or false")
    observations = given.get("observations", [])
    try:
        if isinstance(observations, dict):
            observations = {value: int(n) if str(n).isdecimal() else n for value, n in observations.items()}
        return Hypotheses(priors, tables, normalise).update(observations)
    except IngenuoError as error:
        raise type(error)(f"{name}: {error}") from None


def _table(given: Any, what: str) -> dict[str, Fraction]:
    if not isinstance(given, dict):
        raise InputError(f"{what} must be a mapping from value to probability, got {given!r}")
    return {value: _fraction(number, f"{what}: that of {value!r}") for value, number in given.items()}


def _fraction(text: Any, what: str) -> Fraction:
    """A number as it is written, exactly: "3/4", "0.6", "1e-3"."""
    try:
        if len(str(text)) <= _LONGEST and abs(int(str(text).lower().partition("e")[2] or 0)) < 1000:
            return Fraction(str(text))
    except (ValueError, ZeroDivisionError):
        pass
    raise InputError(f"{what} is {str(text)[:60]!r}, which is no number; write 3/4 or 0.75")


def column_values(rows: Any, column: str | None = None) -> Iterator[list[str]]:
    """The observations in a column of files that were scanned, as text, some at a time; missing ones are none."""
    files = ", ".join(map(str, rows.paths))
    if column is None and len(rows.names) != 1:
        raise InputError(f"{files}: name the column that holds the observations{did_you_mean('', rows.names)}")
    column = rows.names[0] if column is None else column
    if column not in rows.names:
        raise InputError(f"{files}: there is no column {column!r}{did_you_mean(column, rows.names)}")
    for batch in rows.declare({column: "category"}).batches():
        yield [str(value) for value in batch.column(column).to_pylist() if value is not None]


def to_dict(hypotheses: Hypotheses, trace: bool = False) -> dict[str, Any]:
    """All that is believed, as data that JSON has; fractions as doubles and, where they are exact, as text."""
    exact, logs, votes = hypotheses.exact, hypotheses.log_likelihoods, hypotheses.predict()
    columns = {"prior": hypotheses.priors, "likelihood": hypotheses.likelihoods, "posterior": hypotheses.posterior}
    found = []
    for name in hypotheses.priors:
        numbers = {key: column[name] for key, column in columns.items()}
        line = {"name": name, **{key: float(number) for key, number in numbers.items()}}
        line["log_likelihood"] = logs[name] if logs[name] > -math.inf else None
        found.append(line | ({"exact": {key: str(number) for key, number in numbers.items()}} if exact else {}))
    return {
        "observations": hypotheses.n_observations,
        "hypotheses": found,
        "evidence": float(hypotheses.evidence),
        "log_evidence": hypotheses.log_evidence,
        "map": hypotheses.map(),
        "ml": hypotheses.ml() if hypotheses.n_observations else None,
        "next": {value: float(p) for value, p in votes.items()},
        **({"next_exact": {value: str(p) for value, p in votes.items()}} if exact else {}),
        "bayes_optimal": hypotheses.classify(),
        **({"trace": hypotheses.trace_table().to_pylist()} if trace else {}),
    }


def with_fraction(number: Fraction | float) -> str:
    """A probability for a reader: with its fraction, where that is short, as 5/7 = 0.714286."""
    return f"{number} = {float(number):.6g}" if is_short(number) else f"{float(number):.6g}"


def is_short(number: Fraction | float) -> bool:
    """Whether a number is a fraction that a reader takes in at once."""
    return isinstance(number, Fraction) and number.denominator > 1 and len(str(number)) <= _SHORT


def written_class(model: Any, text: str) -> Any:
    """The class of a model that is written so: "1" may be the number 1."""
    if not hasattr(model, "classes_"):
        raise InputError(f"a {type(model).__name__} has no classes, and so none called {text!r}")
    known = model.classes_.tolist()
    for label in sorted(known, key=lambda label: label != text):
        if str(label) == text:
            return label
    raise InputError(f"there is no class {text!r}{did_you_mean(text, known)}")
