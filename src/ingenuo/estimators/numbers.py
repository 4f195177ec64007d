"""Tables of which every column is a number, for the models that need all of them together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError
from ingenuo.schema import FAMILIES, Schema, column_name
from ingenuo.sources import Source


def schema_of_numbers(source: Source, family: str, model: str) -> Schema:
    """A schema of this family for every column; a column that holds no numbers is named."""
    uniform = source.uniform()
    why: dict[Any, str] = {}
    families = np.full(len(source.names), list(FAMILIES).index(family), np.int8)
    for place, name in enumerate(source.names.tolist()):
        kind, reason = uniform or source.guess(place)
        if kind in ("category", "text") and reason != "true or false":
            if any(odd in reason for odd in ("dict", "list", "tuple", "set")):
                raise KindError(
                    f"column {column_name(name)!r} has {reason}: the argument must be a string or a number, and for "
                    f"{model} a number"
                )
            raise InputError(
                f"column {column_name(name)!r} is no number ({reason}), and {model} needs numbers; set it aside, code "
                "it (a column of 0 and 1 for each value), or take NaiveBayes, which reads both"
            )
        if kind == "ignore":
            families[place] = list(FAMILIES).index("ignore")
        why[name] = reason
    return Schema(source.names, families, why)
