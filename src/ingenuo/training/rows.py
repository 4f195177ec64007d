"""A model by its name, and what its columns are to be read as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingenuo.errors import InputError, did_you_mean
from ingenuo.estimators.by_name import build, parse
from ingenuo.schema import FAMILIES, KINDS


def model_and_kinds(
    spec: str, kinds: Mapping[str, str], target: str | None = None, **settings: Any
) -> tuple[Any, dict[str, str]]:
    """A model by its name and settings, and what its columns are to be read as.

    A column may be declared as a family of the model ("histogram") instead of a kind ("number").
    """
    name, own = parse(spec)
    twice = sorted(set(own) & set(settings))
    if twice:
        raise InputError(f"the setting {twice[0]!r} is given twice: {own[twice[0]]!r} and {settings[twice[0]]!r}")
    if target is not None and target in kinds:
        raise InputError(f"column {target!r} is the target, and cannot be declared {kinds[target]!r} as well")
    families = {column: kind for column, kind in kinds.items() if kind not in KINDS and kind in FAMILIES}
    for column, kind in kinds.items():
        if kind not in KINDS and kind not in FAMILIES:
            raise InputError(f"column {column!r} cannot be {kind!r}{did_you_mean(kind, (*KINDS, *FAMILIES))}")
    if families:
        settings["columns"] = families
    return build(name, own | settings), {column: FAMILIES.get(kind, kind) for column, kind in kinds.items()}
