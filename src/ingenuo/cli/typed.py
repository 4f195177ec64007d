"""Hypotheses and observations in a small YAML file, of which JSON is a part.

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

_KEYS = ("priors", "likelihoods", "normalise", "observations")
_LONGEST = 100  # letters of a number
_SHORT = 15  # longer fractions are not shown


def read(path: str | os.PathLike[str]) -> Hypotheses:
    """The hypotheses of a file that has `likelihoods` and perhaps `priors`, `observations` and `normalise`.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
    ...     _ = file.write("{likelihoods: {fair: {H: 1/2, T: 1/2}, biased: {H: 0.6, T: 0.4}}, observations: [H]}")
    ...     file.flush()
    ...     read(file.name).posterior
    {'fair': Fraction(5, 11), 'biased': Fraction(6, 11)}
    """
    name = os.fspath(path)
    given = _yaml(name)
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
        hypotheses = Hypotheses(priors, tables, normalise)
        if isinstance(observations, dict):
            made = {value: int(n) if str(n).isdecimal() else n for value, n in observations.items()}
            for value, times in made.items():  # each a step of the trace
                hypotheses = hypotheses.update({value: times})
            return hypotheses
        return hypotheses.update(list(observations))
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


def _yaml(name: str) -> Any:
    """What a file holds; all its scalars are text, so that 0.1 is one tenth, and yes is "yes"."""
    import yaml

    class Loader(yaml.BaseLoader):  # type: ignore[misc]
        """All scalars are text, and no name may stand twice."""

    def mapping(loader: Any, node: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            text = str(loader.construct_object(key, True))
            if text in found:
                raise InputError(f"{name}, line {key.start_mark.line + 1}: the name {text!r} stands twice")
            found[text] = loader.construct_object(value, True)
        return found

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    try:
        with open(name, encoding="utf-8-sig") as file:
            return yaml.load(file, Loader)
    except yaml.MarkedYAMLError as error:
        where = "" if error.problem_mark is None else f", line {error.problem_mark.line + 1}"
        raise InputError(f"{name}{where}: this is no sound YAML ({error.problem or error.context})") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        raise InputError(f"{name}: this is no sound YAML in UTF-8") from None


def column_values(rows: Any, column: str | None = None) -> Iterator[list[str]]:
    """The observations in a column of files that were scanned, as text, some at a time; missing ones are none."""
    files = ", ".join(map(str, rows.paths))
    if column is None and len(rows.names) != 1:
        raise InputError(f"{files}: name the column that holds the observations{did_you_mean('', rows.names)}")
    column = rows.names[0] if column is None else column
    if column not in rows.names:
        raise InputError(f"{files}: there is no column {column!r}{did_you_mean(column, rows.names)}")
    for batch in rows.declared({column: "category"}).batches():
        yield [str(value) for value in batch.column(column).to_pylist() if value is not None]


def to_dict(hypotheses: Hypotheses, trace: bool = False) -> dict[str, Any]:
    """All that is believed, as data that JSON has; fractions as doubles and, where they are exact, as text."""
    exact = hypotheses.exact
    likelihoods, posterior, logs = hypotheses.likelihoods, hypotheses.posterior, hypotheses.log_likelihoods
    found: list[dict[str, Any]] = []
    for name, prior in hypotheses.priors.items():
        numbers = {"prior": prior, "likelihood": likelihoods[name], "posterior": posterior[name]}
        found.append(
            {
                "name": name,
                **{key: float(number) for key, number in numbers.items()},
                "log_likelihood": logs[name] if logs[name] > -math.inf else None,
                **({"exact": {key: str(number) for key, number in numbers.items()}} if exact else {}),
            }
        )
    votes = hypotheses.predict()
    result = {
        "observations": hypotheses.n_observations,
        "hypotheses": found,
        "evidence": float(hypotheses.evidence),
        "log_evidence": hypotheses.log_evidence,
        "map": hypotheses.map(),
        "ml": hypotheses.ml() if hypotheses.n_observations else None,
        "next": {value: float(p) for value, p in votes.items()},
        **({"next_exact": {value: str(p) for value, p in votes.items()}} if exact else {}),
        "bayes_optimal": hypotheses.classify(),
    }
    return result | ({"trace": hypotheses.trace_table().to_pylist()} if trace else {})


def with_fraction(number: Fraction | float) -> str:
    """A probability for a reader: with its fraction, where that is short.

    >>> with_fraction(Fraction(5, 7)), with_fraction(0.25)
    ('5/7 = 0.714286', '0.25')
    """
    decimal = f"{float(number):.6g}"
    return f"{number} = {decimal}" if is_short(number) else decimal


def is_short(number: Fraction | float) -> bool:
    """Whether a number is a fraction that a reader takes in at a glance."""
    return isinstance(number, Fraction) and number.denominator > 1 and len(str(number)) <= _SHORT


def written_class(model: Any, text: str) -> Any:
    """The class of a model that is written so.

    >>> from ingenuo import NaiveBayes
    >>> written_class(NaiveBayes().fit([[1], [2]], [0, 1]), "1")
    1
    """
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise InputError(f"a {type(model).__name__} has no classes, and so none called {text!r}")
    known = classes.tolist()
    for same in (lambda label: label == text, lambda label: str(label) == text):
        for label in known:
            if same(label):
                return label
    raise InputError(f"there is no class {text!r}{did_you_mean(text, known)}")
