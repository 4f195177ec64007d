"""Which classes an audit asks about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, did_you_mean
from ingenuo.labels import Labels, find, objects

MOST = 5  # that are asked about where none is named


def judged(known: Labels, class_: Any, ranks: Callable[[], NDArray[Any]], most: str) -> tuple[Labels, list[str]]:
    """The class that is named; else the second of two, or each; of many the five of the highest rank, and that is said.

    >>> judged(np.array([0, 1]), None, lambda: np.zeros(2), "most frequent")
    (array([1]), [])
    """
    if class_ is not None:
        at = int(find(known, objects([class_]))[0])
        if at < 0:
            alike = [label for label in known.tolist() if str(label) == str(class_)]
            if alike:
                raise InputError(
                    f"class_={class_!r} is no class; did you mean {alike[0]!r}, of type {type(alike[0]).__name__}?"
                )
            raise InputError(f"class_={class_!r} is no class{did_you_mean(class_, known.tolist())}")
        return known[[at]], []
    if len(known) <= MOST:
        return known[-1:] if len(known) <= 2 else known, []
    chosen = np.sort(np.argsort(-ranks(), kind="stable")[:MOST])
    return known[chosen], [f"Of {len(known)} classes the {MOST} {most} were asked about; name one by class_."]
