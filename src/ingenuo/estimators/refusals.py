"""Methods that a model cannot have, and why: asked for, they answer with a sentence; to `hasattr` they are not there.

scikit-learn looks at which methods an estimator has (one with `partial_fit` is taken to learn in batches), so what
cannot be done must not be a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ingenuo.errors import RefusedError


class Refusals:
    """Mix-in: the class says in `_refusals` which methods it cannot have, and why, with the remedy.

    >>> class Model(Refusals):
    ...     _refusals = {"forget": "it keeps no sums; fit it again without the rows"}
    >>> hasattr(Model(), "forget")
    False
    >>> Model().forget
    Traceback (most recent call last):
    ...
    ingenuo.errors.RefusedError: a Model cannot forget: it keeps no sums; fit it again without the rows
    """

    _refusals: ClassVar[Mapping[str, str]] = {}

    def __getattr__(self, name: str) -> Any:
        why = type(self)._refusals.get(name)
        if why is not None:
            raise RefusedError(f"a {type(self).__name__} cannot {name}: {why}")
        further = getattr(super(), "__getattr__", None)
        if further is not None:
            return further(name)
        return object.__getattribute__(self, name)  # raises as it did before, with the reason of a property
