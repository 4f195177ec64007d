"""Hypotheses and observations as a person writes them: "fair 3/4: Head=1/2 Tail=1/2", "70*Head", or a small file.

Numbers are read as fractions, decimals too, so that what is worked out from them is exact.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from ingenuo.errors import InputError, did_you_mean
from ingenuo.estimators.hypotheses import Hypotheses

Observed = tuple[str, int]  # a value, and how often in a row
_FORM = "'fair 3/4: Head=1/2 Tail=1/2'"
_TIMES = re.compile(r"([0-9]+)[*×](.+)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d[\d_]*(/\d[\d_]*)?|\d*\.?\d+(e[+-]?\d{1,3})?|\d+\.(e[+-]?\d{1,3})?)", re.IGNORECASE)
_KEYS = ("priors", "likelihoods", "normalise", "observations")
_SHORT = 15  # longer fractions are not shown
_YES = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True)
class Written:
    """What is written of some hypotheses; `hypotheses` is them.

    >>> coin = Written.of(["fair 3/4: Head=1/2 Tail=1/2", "biased 1/4: Head=0.6 Tail=0.4"])
    >>> coin.hypotheses().update({"Head": 1}).posterior
    {'fair': Fraction(5, 7), 'biased': Fraction(2, 7)}
    """

    priors: Mapping[str, Fraction] | list[str]  # names alone have equal priors
    likelihoods: Mapping[str, Mapping[str, Fraction]]
    normalise: bool = False
    observations: list[Observed] = field(default_factory=list)

    @staticmethod
    def of(lines: Iterable[str], normalise: bool = False) -> Written:
        """Of a line for each hypothesis: "name prior: value=probability value=probability …"."""
        found = [_hypothesis(line) for line in lines]
        names = [name for name, _, _ in found]
        twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None:
            raise InputError(f"the hypothesis {twice!r} is given twice; give each another name")
        bare = [name for name, prior, _ in found if prior is None]
        if bare and len(bare) < len(found):
            raise InputError(f"the hypothesis {bare[0]!r} has no prior, and others have; give one to all, or to none")
        priors = {name: prior for name, prior, _ in found if prior is not None}
        return Written(priors or names, {name: table for name, _, table in found}, normalise)

    @staticmethod
    def read(path: str | os.PathLike[str], normalise: bool = False) -> Written:
        """Of a file, .yaml or .json, that has `priors`, `likelihoods`, and perhaps `observations` and `normalise`."""
        name = os.fspath(path)
        document = _document(name)
        if not isinstance(document, dict) or not document:
            raise InputError(f"{name}: found no mapping, expected {', '.join(_KEYS)}")
        for key in document:
            if key not in _KEYS:
                raise InputError(f"{name}: found {key!r}{did_you_mean(key, _KEYS)}; there may be {', '.join(_KEYS)}")
        likelihoods = document.get("likelihoods")
        if not isinstance(likelihoods, dict):
            raise InputError(f"{name}: 'likelihoods' must be a mapping from hypothesis to a table of probabilities")
        tables = {each: _table(table, f"{name}: the table of {each!r}") for each, table in likelihoods.items()}
        priors = document.get("priors", list(tables))
        if isinstance(priors, dict):
            priors = _table(priors, f"{name}: priors")
        elif not isinstance(priors, list) or not all(isinstance(each, str) for each in priors):
            raise InputError(f"{name}: 'priors' must be a mapping from hypothesis to probability, or a list of names")
        said = str(document.get("normalise", normalise)).lower()
        if said not in _YES:
            raise InputError(f"{name}: 'normalise' is {document['normalise']!r}; it must be true or false")
        observations = document.get("observations", [])
        return Written(priors, tables, normalise or _YES[said], list(_listed(observations, name)))

    def hypotheses(self) -> Hypotheses:
        """The hypotheses, which have seen nothing yet."""
        return Hypotheses(self.priors, self.likelihoods, self.normalise)


def seen(hypotheses: Hypotheses, observations: Iterable[Observed]) -> Hypotheses:
    """The hypotheses after some observations, each a step of the trace.

    >>> coin = Hypotheses(["fair", "biased"], {"fair": {"H": 0.5, "T": 0.5}, "biased": {"H": 0.6, "T": 0.4}})
    >>> seen(coin, [("H", 70), ("T", 30)])
    <Hypotheses after 100 observations: biased 0.99769, fair 0.00230998>
    """
    for value, times in observations:
        hypotheses = hypotheses.update({value: times})
    return hypotheses


def column_values(rows: Any, column: str | None = None) -> Iterator[list[str]]:
    """The observations in a column of files that were scanned, as they are written, some at a time; holes are none."""
    if column is None:
        if len(rows.names) != 1:
            raise InputError(
                f"{', '.join(map(str, rows.paths))}: there are {len(rows.names)} columns; name the one that holds the "
                f"observations{did_you_mean('', rows.names)}"
            )
        column = rows.names[0]
    elif column not in rows.names:
        raise InputError(
            f"{', '.join(map(str, rows.paths))}: there is no column {column!r}{did_you_mean(column, rows.names)}"
        )
    for batch in rows.declared({column: "category"}).batches():
        yield [str(value) for value in batch.column(column).to_pylist() if value is not None]


def observed(text: str, known: Iterable[str] = ()) -> Observed:
    """One observation, or how often it was made; a value that is known as it stands is meant as it stands.

    >>> observed("Head"), observed("70*Head"), observed("2*x", known=["2*x"])
    (('Head', 1), ('Head', 70), ('2*x', 1))
    """
    found = _TIMES.fullmatch(text)
    if found is None or text in known:
        return text, 1
    if len(found[1]) > 15:
        raise InputError(f"{text!r}: {found[1]} is too often; give a number from 0 to 2^53")
    return found[2].strip(), int(found[1])


def fraction(text: Any, what: str) -> Fraction:
    """A number as it is written, exactly: "3/4", "0.6", "1e-3".

    >>> fraction("0.6", "the prior")
    Fraction(3, 5)
    """
    shown = str(text).strip()
    if len(shown) <= 100 and _NUMBER.fullmatch(shown):
        try:
            return Fraction(shown)
        except ZeroDivisionError:
            pass
    raise InputError(f"{what} is {shown[:60]!r}, which is no number; write 3/4 or 0.75")


def _hypothesis(line: str) -> tuple[str, Fraction | None, dict[str, Fraction]]:
    """Name, prior and table of one line."""
    before, colon, after = line.partition(":")
    if not colon or not before.strip() or not after.strip():
        raise InputError(f"{line!r} is no hypothesis; write its name, its prior and what it says, such as {_FORM}")
    name, _, last = before.strip().rpartition(" ")
    prior: Fraction | None = None
    if name and _NUMBER.fullmatch(last):
        prior = fraction(last, f"the prior of {name.strip()!r}")
    else:
        name = before
    table: dict[str, Fraction] = {}
    for part in after.split(",") if "," in after else after.split():
        value, equals, number = part.strip().rpartition("=")
        if not equals or not value:
            raise InputError(f"{part.strip()!r} in {line!r} is no VALUE=PROBABILITY; write it such as {_FORM}")
        if value in table:
            raise InputError(f"{value!r} stands twice in {line!r}; give each value once")
        table[value] = fraction(number, f"the probability of {value!r} under {name.strip()!r}")
    return name.strip(), prior, table


def _table(given: Any, what: str) -> dict[str, Fraction]:
    if not isinstance(given, dict):
        raise InputError(f"{what} must be a mapping from value to probability, got {given!r}")
    return {value: fraction(number, f"{what}: that of {value!r}") for value, number in given.items()}


def _listed(given: Any, name: str) -> Iterator[Observed]:
    """Observations of a file: a list, whose parts may be "70*Head", or a mapping from value to how often."""
    if isinstance(given, dict):
        for value, times in given.items():
            if not (isinstance(times, str) and times.isdecimal() and len(times) <= 15):
                raise InputError(f"{name}: {value!r} was observed {times!r} times; give a whole number")
            yield value, int(times)
    elif isinstance(given, list):
        for each in given:
            if isinstance(each, dict):
                yield from _listed(each, name)
            elif isinstance(each, str):
                yield observed(each)
            else:
                raise InputError(f"{name}: {each!r} among the observations is no value")
    else:
        raise InputError(f"{name}: 'observations' must be a list of values, or a mapping from value to how often")


def _document(name: str) -> Any:
    """What a file holds; all its scalars are text, so that 0.1 is one tenth, and yes is "yes"."""
    suffix = Path(name).suffix.lower()
    if suffix not in (".yaml", ".yml", ".json"):
        raise InputError(f"{name}: hypotheses are in a .yaml or a .json file")
    with open(name, "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: byte {error.start + 1} is no UTF-8; save the file as UTF-8") from None
    try:
        return _json(text, name) if suffix == ".json" else _yaml(text, name)
    except RecursionError:
        raise InputError(f"{name}: lists stand in lists too many times to be hypotheses") from None


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=lambda pairs: _once(pairs, name))
    except json.JSONDecodeError as error:
        raise InputError(f"{name}, line {error.lineno}: this is no sound JSON ({error.msg}); mend it there") from None


def _yaml(text: str, name: str) -> Any:
    import yaml

    class Loader(yaml.BaseLoader):
        """All scalars are text, and no name may stand twice."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            pairs = [
                (self.construct_object(key, True), self.construct_object(value, True)) for key, value in node.value
            ]
            if not all(isinstance(key, str) for key, _ in pairs):
                raise InputError(f"{name}, line {node.start_mark.line + 1}: a list or mapping is no name")
            return _once(pairs, name)

    Loader.add_constructor("tag:yaml.org,2002:map", Loader.construct_mapping)
    try:
        return yaml.load(text, Loader)
    except yaml.MarkedYAMLError as error:
        where = "" if error.problem_mark is None else f", line {error.problem_mark.line + 1}"
        what = error.problem or error.context
        raise InputError(f"{name}{where}: this is no sound YAML ({what}); mend it there") from None
    except yaml.YAMLError:
        raise InputError(f"{name}: this is no sound YAML; mend it") from None


def _once(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f"{name}: the name {key!r} stands twice; name each thing once")
        found[key] = value
    return found


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


def shown(number: Fraction | float) -> str:
    """A probability for a reader: with its fraction, where that is short.

    >>> shown(Fraction(5, 7)), shown(0.25)
    ('5/7 = 0.714286', '0.25')
    """
    decimal = f"{float(number):.6g}"
    return f"{number} = {decimal}" if is_short(number) else decimal


def is_short(number: Fraction | float) -> bool:
    """Whether a number is a fraction that a reader takes in at a glance."""
    return isinstance(number, Fraction) and number.denominator > 1 and len(str(number)) <= _SHORT
