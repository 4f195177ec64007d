"""From a table's features to the weights of its classes: which solver, where it starts, and in what order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ingenuo.chunk import Block, Numbers
from ingenuo.estimators.linear.categories import CategoryFeatures
from ingenuo.estimators.linear.counts import CountFeatures
from ingenuo.estimators.linear.features import Group, joined
from ingenuo.estimators.linear.numbers import NumberFeatures
from ingenuo.estimators.linear.words import TextFeatures
from ingenuo.families.family import Floats
from ingenuo.kernels import portable
from ingenuo.kernels.columns import Columns
from ingenuo.labels import Labels
from ingenuo.schema import FAMILIES, Schema
from ingenuo.solve import newton, subspace
from ingenuo.solve.dense import Dense
from ingenuo.solve.problem import Problem, Solution
from ingenuo.solve.spaces import Design, OverFeatures, OverRows, along_twin
from ingenuo.tally import Tally

_SMALL = 1000  # weights up to which Newton's method pays: its matrix is of that size
_FEATURES: dict[str, Any] = {
    "number": NumberFeatures,
    "category": CategoryFeatures,
    "count": CountFeatures,
    "text": TextFeatures,
}


def groups_of(schema: Schema, tally: Tally, classes: Labels) -> dict[str, Group]:
    """The features of each family, by its name."""
    return {
        name: _FEATURES[FAMILIES[name]](schema, tally, classes, schema.columns(name)) for name in schema.families_used()
    }


def solve(
    groups: dict[str, Group],
    found: dict[str, Block],
    problem: Problem,
    shares: Floats,
    weighted: bool,
    alpha: float,
    start: str,
) -> Solution:
    """The weights of all groups, one after the other, and the intercepts."""
    n_rows = len(problem.labels)
    logs = portable.log(shares / shares.sum())
    intercepts = logs[1:] - logs[:1] if len(logs) == 2 else logs
    begun = {name: group.start(alpha) for name, group in groups.items()}
    V0 = next(iter(begun.values()))[0] if len(begun) == 1 else np.concatenate([each for each, _ in begun.values()])
    shift = np.sum([each for _, each in begun.values()], axis=0)
    stretch = None
    if weighted:
        stretches = [groups[name].stretch(each) for name, (each, _) in begun.items()]
        stretch = stretches[0] if len(stretches) == 1 else np.concatenate(stretches)
    table = _dense(groups, found)
    if table is None:
        parts = [group.entries(found[name]) for name, group in groups.items()]
        rows, features, values = joined(parts, [group.size for group in groups.values()])
        # Rows of a class have features in common: side by side, they are in the cache together.
        order = np.argsort(problem.labels, kind="stable")
        place = np.empty(n_rows, np.int32)
        place[order] = np.arange(n_rows, dtype=np.int32)
        weights = problem.weights[order] if len(problem.weights) else problem.weights
        problem = replace(problem, labels=problem.labels[order], weights=weights)
        columns = Columns.of(n_rows, len(V0), place[rows], features, values)
        design = Design(columns, V0, stretch)
    else:
        design = Design(table, V0, stretch)
    space: OverRows | OverFeatures
    small = table is not None and stretch is None and (V0.shape[0] + 1) * V0.shape[1] <= _SMALL
    if n_rows < V0.shape[0] and not small and problem.l2 > 0:
        space = OverRows(design, problem.l2)
    else:
        space = OverFeatures(design, problem.l2)
    vector = along_twin(space, problem, intercepts, shift) if start == "twin" else space.point(0.0, intercepts)
    if small and table is not None:
        weights, b = space.weights(vector)
        weights, b, loss, excess, iterations, arrived = newton.minimise(table, problem, weights, b)
        return Solution(weights, b, loss, excess, iterations, arrived)
    vector, loss, excess, iterations, arrived = subspace.minimise(space, problem, vector)
    weights, b = space.weights(vector)
    return Solution(weights, b, loss, excess, iterations, arrived)


def _dense(groups: dict[str, Group], found: dict[str, Block]) -> Dense | None:
    """The one table of numbers, where there is nothing else."""
    if len(groups) != 1:
        return None
    ((name, group),) = groups.items()
    block = found[name]
    if not isinstance(group, NumberFeatures) or not isinstance(block, Numbers):
        return None
    return Dense(block, group.means)
