"""The prior of the classes: imaginary rows of each, or probabilities that are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.families.family import Term, fraction, term
from ingenuo.labels import Labels, find, labels_of
from ingenuo.prior import Prior

Floats = NDArray[np.float64]


def check(given: Any) -> None:
    """Raise if this can be no prior of any classes."""
    if not isinstance(given, Prior | Mapping):
        raise KindError(
            "class_prior must be a Prior such as MaximumLikelihood(), or a mapping from class to probability, "
            f"got {type(given).__name__} {given!r}"
        )
    if isinstance(given, Prior):
        return
    for name, share in given.items():
        if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 <= share <= 1:
            raise InputError(f"class_prior gives class {name!r} the probability {share!r}; it must lie between 0 and 1")
    total = float(sum(given.values()))
    if abs(total - 1) > 1e-9:
        raise InputError(f"the probabilities of class_prior sum to {total:g}; they must sum to 1")


def shares(given: Prior | Mapping[Any, float], rows: Floats, classes: Labels) -> tuple[Floats, tuple[Term, ...]]:
    """The probability of each class, and how it comes about.

    >>> from ingenuo.prior import Laplace
    >>> found, written = shares(Laplace(), np.array([2.0, 1.0]), labels_of(["a", "b"]))
    >>> found.tolist(), written[0].how
    ([0.6, 0.4], '(2 + 1)/(3 + 2)')
    """
    if isinstance(given, Prior):
        pseudo = given.pseudo_counts(classes)
        found = (rows + pseudo) / (rows + pseudo).sum()
        total, imagined = rows.sum(), pseudo.sum()
        return found, tuple(term(fraction(n, a, total, imagined), share) for n, a, share in zip(rows, pseudo, found))
    absent = classes[find(labels_of(given), classes) < 0].tolist()
    if absent:
        raise InputError(f"class_prior has no probability for class {absent[0]!r}; give one for every class")
    found = np.array([given[name] for name in classes.tolist()], np.float64)
    if found.sum() == 0:
        raise InputError("class_prior gives probability 0 to every class that was seen; give one of them more")
    found = found / found.sum()
    return found, tuple(term("given", share) for share in found)


def draw(log_prior: Floats, classes: Labels, n: int, class_: Any, rng: np.random.Generator) -> NDArray[np.intp]:
    """The places of n classes, drawn by their prior; or of the one that is given, n times."""
    if class_ is None:
        odds = np.exp(log_prior - log_prior.max())
        return np.asarray(rng.choice(len(classes), size=n, p=odds / odds.sum()), np.intp)
    place = int(find(classes, labels_of([class_]))[0])
    if place < 0:
        raise InputError(f"there is no class {class_!r}{did_you_mean(class_, classes)}")
    return np.full(n, place, np.intp)
