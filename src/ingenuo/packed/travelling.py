"""Tallies on their way from machine to machine: the bytes of a model file, and never an object of ours pickled.

What a part of the rows comes to is a tally, or the one sentence that says why it could not be had.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo import container, errors
from ingenuo.errors import EngineError, IngenuoError
from ingenuo.packed.tallies import pack_tally, unpack_tally
from ingenuo.tally import Tally

Tensors = dict[str, NDArray[Any]]

_REFUSAL = "refusal"


def to_bytes(tally: Tally) -> bytes:
    """A tally, as `save` writes it.

    >>> from_bytes(to_bytes(Tally())) == Tally()
    True
    """
    tensors: Tensors = {}
    return container.to_bytes({"kind": "tally", "tally": pack_tally(tally, tensors)}, tensors)


def refused(error: IngenuoError) -> bytes:
    """An error, by the name of its class and what it says."""
    return container.to_bytes({"kind": _REFUSAL, "error": type(error).__name__, "says": str(error)}, {})


def from_bytes(data: bytes) -> Tally:
    """The tally; raises the error, should there be one instead."""
    manifest, tensors = container.from_bytes(data)
    if manifest["kind"] == _REFUSAL:
        raise _error(manifest)
    return unpack_tally(manifest["tally"], tensors)


def merged(parts: Sequence[bytes]) -> bytes:
    """The sum of tallies; of errors the first."""
    tallies: list[Tally] = []
    for part in parts:
        manifest, tensors = container.from_bytes(part)
        if manifest["kind"] == _REFUSAL:
            return part
        tallies.append(unpack_tally(manifest["tally"], tensors))
    if len(tallies) == 1:
        return parts[0]
    try:
        return to_bytes(_sum(tallies))
    except IngenuoError as error:
        return refused(error)


def _sum(tallies: list[Tally]) -> Tally:
    while len(tallies) > 1:  # in pairs, so that large tables are not aligned anew for each
        tallies = [
            tallies[at] + tallies[at + 1] if at + 1 < len(tallies) else tallies[at] for at in range(0, len(tallies), 2)
        ]
    return tallies[0] if tallies else Tally()


def _error(manifest: dict[str, Any]) -> IngenuoError:
    kind = getattr(errors, str(manifest["error"]), EngineError)
    if not (isinstance(kind, type) and issubclass(kind, IngenuoError)):
        kind = EngineError
    return kind(str(manifest["says"]))


def as_tensor(data: bytes) -> NDArray[np.uint8]:
    """Bytes among the tensors."""
    return np.frombuffer(data, np.uint8)
