"""Leave-one-out: what a naive Bayes model would say of each row had it learned all the others."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Chunk
from ingenuo.errors import InputError
from ingenuo.estimators import class_prior
from ingenuo.estimators.base import CLASS, tally_chunk
from ingenuo.estimators.out_of_fold import over_classes, without
from ingenuo.exact import Exact
from ingenuo.families.family import logs
from ingenuo.families.left_out.scores import left_out
from ingenuo.kernels import densities
from ingenuo.labels import Labels, find, labels_of
from ingenuo.prior import Prior
from ingenuo.schema import Schema
from ingenuo.tally import Tally

Floats = NDArray[np.float64]


def leave_one_out(model: Any, schema: Schema, chunk: Chunk, tally: Tally) -> Floats:
    """The log posterior of each row by the tally without it (rows × classes of the chunk)."""
    classes, wanted = tally.labels(CLASS, 0), chunk.classes
    refuse_alone(tally, chunk)
    # A class that the tally has not has rows of no weight only: leaving those out takes nothing from any class.
    places = np.maximum(find(classes, wanted), 0).astype(np.int32)
    chunk = replace(chunk, labels=places[chunk.coded], classes=classes)
    joint = log_priors(model.class_prior, tally, classes, chunk)
    for name, block in chunk.blocks.items():
        for part in left_out(name, tally, model.prior, schema, classes, chunk, block):
            joint += part
    odd = densities.posterior(joint, log=True)
    for row in odd.tolist():  # no class allows it: the one that does so least often wins, as in every answer
        single = chunk.part(row, row + 1)
        trained = without(model, schema, tally - tally_chunk(single))
        own = trained._posterior(dict(single.blocks), 1, log=True)
        joint[row] = over_classes(own, labels_of(trained.classes_), classes)[0]
    return over_classes(joint, classes, wanted)


def refuse_alone(tally: Tally, chunk: Chunk) -> None:
    """Raise where one row is all that was learned."""
    rows = tally.over(CLASS, tally.labels(CLASS, 0))
    most = 1.0 if chunk.weights is None else float(chunk.weights.max())
    if (sum(rows.fractions()) if isinstance(rows, Exact) else rows.floats().sum()) <= Fraction(most):
        raise InputError(
            "1 sample has all the weight, and with that row left out there is nothing to learn from; give two rows at "
            "least"
        )


def log_priors(given: Any, tally: Tally, classes: Labels, chunk: Chunk) -> Floats:
    """The log prior of each class without the row; -inf for a class that has no other row."""
    sums = tally.over(CLASS, classes)
    exact, rows = (sums.fractions() if isinstance(sums, Exact) else None), sums.floats()
    weights = np.ones(1) if chunk.weights is None else np.unique(chunk.weights)
    at = 0 if chunk.weights is None else np.searchsorted(weights, chunk.weights)
    left = np.empty((len(weights), len(classes)))  # of each class, without a row of such a weight
    for place, weight in enumerate(weights.tolist()):
        taken = rows - weight if exact is None else [float(n - Fraction(weight)) for n in exact]
        left[place] = np.maximum(taken, 0.0)
    found = np.empty((len(weights), len(classes), len(classes)))
    whole = class_prior.shares(given, rows, classes)[0]
    pseudo = given.pseudo_counts(classes) if isinstance(given, Prior) else None
    for k in range(len(classes)):
        many = np.repeat(rows[np.newaxis], len(weights), axis=0)
        many[:, k] = left[:, k]
        if pseudo is None:
            found[:, k] = logs(whole)
        else:
            found[:, k] = logs((many + pseudo) / (many + pseudo).sum(axis=1, keepdims=True))
        for place in np.flatnonzero(left[:, k] <= 0).tolist():  # the class is gone, and the others share its prior
            there = np.arange(len(classes)) != k
            found[place, k] = -np.inf
            if there.any():
                found[place, k, there] = logs(class_prior.shares(given, rows[there], classes[there])[0])
    return np.asarray(found[at, chunk.coded])
