"""Leave-one-out: what a naive Bayes model would say of each row had it learned all the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Chunk
from ingenuo.estimators import class_prior
from ingenuo.estimators.base import CLASS, tally_chunk
from ingenuo.estimators.out_of_fold import over_classes, without
from ingenuo.families.family import logs
from ingenuo.families.left_out.scores import left_out
from ingenuo.kernels import densities
from ingenuo.labels import Labels, labels_of
from ingenuo.schema import Schema
from ingenuo.tally import Tally

Floats = NDArray[np.float64]


def leave_one_out(model: Any, schema: Schema, chunk: Chunk, tally: Tally) -> Floats:
    """The log posterior of each row by the tally without it (rows × classes of the chunk)."""
    classes = tally.labels(CLASS, 0)
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
    return over_classes(joint, classes, chunk.classes)


def log_priors(given: Any, tally: Tally, classes: Labels, chunk: Chunk) -> Floats:
    """The log prior of each class without the row; -inf for a class that has no other row."""
    rows = tally.over(CLASS, classes).floats()
    y, w = chunk.coded, chunk.weights
    distinct, same = (np.ones(1), 0) if w is None else np.unique(w, return_inverse=True)
    cells = np.empty((len(distinct), len(classes), len(classes)))
    for at, weight in enumerate(distinct.tolist()):
        for k in range(len(classes)):
            left = rows.copy()
            left[k] = max(left[k] - weight, 0.0)
            there = left > 0
            cells[at, k] = -np.inf
            if there.any():
                cells[at, k, there] = logs(class_prior.shares(given, left[there], classes[there])[0])
    return np.asarray(cells[same, y])
