"""The prior of the classes: imaginary rows of each, or probabilities that are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.language import say
from ingenuo.show.arithmetic import Term, fraction, term
from ingenuo.tally.labels import Labels, find, labels_of, objects, recognise
from ingenuo.tally.prior import Prior, number_of, prior_of

Floats = NDArray[np.float64]

UNIFORM = "uniform"


def class_prior_of(given: Any) -> Any:
    """The prior of the classes that is meant: a Prior, a mapping from class to probability, or "uniform"; else raise.

    >>> class_prior_of("Yes=1/4,No=3/4"), class_prior_of("laplace")
    ({'Yes': 0.25, 'No': 0.75}, Laplace(variance_floor=1e-09, variance_rows=1.0))
    """
    if isinstance(given, str) and "=" in given and ":" not in given:
        pairs = [part.rpartition("=") for part in given.split(",")]
        given = {name.strip(): number_of(share, given) for name, _, share in pairs}
    if isinstance(given, str) and given != UNIFORM:
        return prior_of(given)
    if isinstance(given, Prior) or given == UNIFORM:
        return given
    if not isinstance(given, Mapping):
        raise KindError(
            "class_prior must be a Prior such as MaximumLikelihood(), 'uniform', or a mapping from class to "
            f"probability, got {type(given).__name__} {given!r}"
        )
    for name, share in given.items():
        if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 <= share <= 1:
            raise InputError(f"class_prior gives class {name!r} the probability {share!r}; it must lie between 0 and 1")
    total = float(sum(given.values()))
    if abs(total - 1) > 1e-9:
        raise InputError(f"the probabilities of class_prior sum to {total:g}; they must sum to 1")
    return given


def share_classes(given: Any, rows: Floats, classes: Labels) -> tuple[Floats, tuple[Term, ...]]:
    """The probability of each class, and how it comes about."""
    given = class_prior_of(given)
    if isinstance(given, Prior):
        pseudo = given.pseudo_counts(classes)
        found = (rows + pseudo) / (rows + pseudo).sum()
        total, imagined = rows.sum(), pseudo.sum()
        return found, tuple(term(fraction(n, a, total, imagined), share) for n, a, share in zip(rows, pseudo, found))
    if given == UNIFORM:
        return np.full(len(classes), 1 / len(classes)), (term(f"1/{len(classes)}", 1 / len(classes)),) * len(classes)
    found = read_shares(given, classes)
    if found.sum() == 0:
        raise InputError("class_prior gives probability 0 to every class that was seen; give one of them more")
    found = found / found.sum()
    return found, tuple(term(say("given"), share) for share in found)


def sheet_class_prior(given: Any, classes: Labels) -> dict[str, Any]:
    """How the classes come by their probabilities, for a page that takes rows away."""
    given = class_prior_of(given)
    if isinstance(given, Prior):
        return {"op": "imagined", **given.sheet_pseudo(classes)}
    return {"op": "equal"} if given == UNIFORM else {"op": "given", "shares": read_shares(given, classes)}


def read_shares(given: Mapping[Any, float], classes: Labels) -> Floats:
    """The probability that is given to each class; of classes beside these, which may come, there may be some too."""
    places, found = recognise(classes, objects(list(given))), np.full(len(classes), np.nan)
    found[places[places >= 0]] = np.array(list(given.values()), np.float64)[places >= 0]
    if np.isnan(found).any():
        absent = classes.tolist()[int(np.argmax(np.isnan(found)))]
        raise InputError(
            f"class_prior has no probability for class {absent!r}; give one for every class, or leave its rows out"
            f"{did_you_mean(absent, given)}"
        )
    return found


def draw_classes(log_prior: Floats, classes: Labels, n: int, class_: Any, rng: np.random.Generator) -> NDArray[np.intp]:
    """The places of n classes, drawn by their prior; or of the one that is given, n times."""
    if class_ is None:
        odds = np.exp(log_prior - log_prior.max())
        return np.asarray(rng.choice(len(classes), size=n, p=odds / odds.sum()), np.intp)
    place = int(find(classes, labels_of([class_]))[0])
    if place < 0:
        raise InputError(f"there is no class {class_!r}{did_you_mean(class_, classes)}")
    return np.full(n, place, np.intp)
