"""The kind of a column of Python's objects, and of strings, by its first values; Arrow is not needed for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from ingenuo.tally.labels import is_missing

_DATE = re.compile(
    r"^(\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{4})"
    r"([ T]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?)? ?(Z|[+-]\d{2}:?\d{2}|[AP]M)?$"
)
_GROUPED = re.compile(r"^[+-]?\d{1,3}([.]\d{3})*(,\d+)?$|^[+-]?\d{1,3}(,\d{3})*([.]\d+)?$")
_DIGITS = re.compile(r"^\d+$")
KEY_ROWS, KEY_SHARE = 50, 0.9  # strings of so many rows, more of them different: names or keys
SAMPLE = 10_000  # rows of a column that are looked at
_SAMPLE = 200  # strings that are looked at to tell texts from categories
_NUMBERS = (int, float, Decimal, np.number)
_DATES = (date, time, timedelta, np.datetime64, np.timedelta64)


def kind_of_objects(values: Sequence[Any]) -> tuple[str, str]:
    """The kind of a column of objects, and why.

    >>> kind_of_objects([1, 2.5, None]), kind_of_objects([True, None]), kind_of_objects([None])
    (('number', 'numbers'), ('category', 'true or false'), ('ignore', 'no value'))
    """
    there = [value for value in values if not is_missing(value)]
    kinds = set(map(type, there))
    if not kinds:
        return "ignore", "no value"
    if all(issubclass(kind, str) for kind in kinds):
        return kind_of_strings(there)
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return "category", "true or false"
    if all(issubclass(kind, _NUMBERS) and kind is not bool for kind in kinds):
        return "number", "numbers"
    if all(issubclass(kind, bytes) for kind in kinds):
        return "text", "bytes"
    if all(issubclass(kind, _DATES) for kind in kinds):
        return "ignore", "dates are neither numbers nor categories"
    called = ", ".join(sorted(kind.__name__ for kind in kinds))
    if all(issubclass(kind, list | tuple | set | dict | np.ndarray) for kind in kinds):
        return "ignore", f"{called} values are neither numbers nor categories"
    return "category", f"{called} values"


def kind_of_strings(values: Sequence[str], is_target: bool = False) -> tuple[str, str]:
    """Categories, text, dates, or names and keys; and why."""
    n = len(values)
    if n == 0:
        return "ignore", "no value"
    if all(map(_DIGITS.match, values)):
        if any(len(value) > 1 and value[0] == "0" for value in values):
            return "category", "digits with zeros before them: codes"
    elif not is_target and all(map(_GROUPED.match, values)) and any("," in value for value in values):
        return "ignore", "numbers with signs between thousands, which are not read: write them without"
    if all(map(_DATE.match, values)):
        return "ignore", "dates are neither numbers nor categories"
    different = set(values)
    if why := reads_as_text(values):
        return "text", why
    if n >= KEY_ROWS and len(different) > KEY_SHARE * n:
        return "ignore", f"{len(different):,} different values in {n:,} rows: a name or key, no category"
    if len(different) <= 2 and {value.lower() for value in different} == {"true", "false"}:
        return "category", "true or false"
    return "category", f"strings, {len(different):,} different"


def reads_as_text(values: Sequence[Any]) -> str:
    """Why a column of strings is text and not categories, or "" if it is not: long, and nearly all different.

    >>> reads_as_text(["Sunny", "Overcast", "Rain", "Sunny"])
    ''
    >>> reads_as_text(["a film to see twice", "not one laugh in two hours", "it is all right, I suppose"])
    'strings of 6 words, 100% different'
    """
    step = max(1, len(values) // _SAMPLE)
    some = [value for value in values[::step][:_SAMPLE] if isinstance(value, str)]
    if len(some) < 3:
        return ""
    words, different = sum(len(value.split()) for value in some) / len(some), len(set(some)) / len(some)
    long = (words >= 4 and different > 0.5) or (words >= 10 and len(set(some)) > 20)
    return f"strings of {words:.0f} words, {different:.0%} different" if long else ""
