"""One of a few names: the check that the settings of text share."""

from __future__ import annotations

from collections.abc import Iterable

from ingenuo.errors import InputError, KindError


def one_of(parameter: str, value: object, known: Iterable[str]) -> str:
    """The value, which must be one of the known names; the error lists them all.

    >>> one_of("weighting", "tfidf", ["count", "tfidf"])
    'tfidf'
    """
    names = list(known)
    listed = ", ".join(repr(name) for name in names)
    if not isinstance(value, str):
        raise KindError(f"{parameter} must be one of {listed}, got {type(value).__name__} {value!r}")
    if value not in names:
        raise InputError(f"{parameter} must be one of {listed}, got {value!r}")
    return str(value)
