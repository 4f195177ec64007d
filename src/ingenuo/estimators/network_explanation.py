"""The entries of a network's tables that one row's answer is the product of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.family import Factor, Term, exponential, fraction, term
from ingenuo.labels import Labels
from ingenuo.networks.averaged import Averaged
from ingenuo.networks.graph import Parents, children, order

Floats = NDArray[np.float64]

_AT_ONCE = 30  # factors that are multiplied in one call
AS_WHOLE = "as in the whole column"


def of_tables(
    nodes: Sequence[str],
    parents: Parents,
    states: Sequence[Sequence[str]],
    counts: Sequence[Floats],
    imagined: Sequence[Floats],
    tables: Sequence[Floats],
    codes: NDArray[np.int32],
    shown: Sequence[str],
) -> list[Factor]:
    """A factor for the class, and for each other node; those that a missing value joins are summed together.

    Node 0 is the class; codes and shown values are of the others. The factors multiply to the row's joint.
    """
    row = [-1, *codes.tolist()]
    idle = _idle(parents, row)
    hidden = {node for node in range(1, len(nodes)) if row[node] < 0 and node not in idle}
    groups = _groups(parents, hidden, idle)
    summed = {node for group in groups for node in group}
    factors = []
    for node in range(len(nodes)):
        called = "prior" if node == 0 else nodes[node]
        missing = "missing" if node and not shown[node - 1] else shown[node - 1] if node else ""
        if node in idle:
            note = "summed out: what it could be sums to 1" + ("" if not shown[node - 1] else " (never seen)")
            factors.append(Factor(called, missing, note=note))
        elif node in summed:
            with_ = next(group for group in groups if node in group)
            others = ", ".join(nodes[each] for each in sorted(with_) if each in hidden)
            factors.append(Factor(called, missing, note=f"summed over {others}, below"))
        else:
            given = ", ".join(f"{nodes[up]} {states[up][row[up]]}" for up in parents[node] if up != 0)
            value = (states[node][row[node]] if node else "") + (f" | {given}" if given else "")
            factors.append(Factor(called, value.strip(), _terms(node, parents, counts, imagined, tables, row)))
    for group in groups:
        over = ", ".join(nodes[each] for each in sorted(group) if each in hidden)
        values = _summed(group, hidden, parents, tables, row)
        terms = tuple(Term(f"Σ over {over}", float(value), _log(float(value))) for value in values)
        inside = ", ".join("prior" if each == 0 else nodes[each] for each in sorted(group))
        factors.append(Factor(inside, "together", terms))
    return factors


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _idle(parents: Parents, row: Sequence[int]) -> set[int]:
    """Missing nodes below which nothing is known: what they could be sums to 1."""
    below, found = children(parents), set()
    for node in reversed(order(parents)):
        if node != 0 and row[node] < 0 and all(child in found for child in below[node]):
            found.add(node)
    return found


def _groups(parents: Parents, hidden: set[int], idle: set[int]) -> list[set[int]]:
    """The nodes whose tables a missing value joins, each group by itself."""
    groups: list[tuple[set[int], set[int]]] = []  # the tables, and the missing nodes in them
    for node, above in enumerate(parents):
        touched = {each for each in (node, *above) if each in hidden}
        if node in idle or not touched:
            continue
        joined = [group for group in groups if group[1] & touched]
        groups = [group for group in groups if group not in joined]
        tables = {node}.union(*(group[0] for group in joined))
        groups.append((tables, touched.union(*(group[1] for group in joined))))
    return [group[0] for group in groups]


def _terms(
    node: int,
    parents: Parents,
    counts: Sequence[Floats],
    imagined: Sequence[Floats],
    tables: Sequence[Floats],
    row: Sequence[int],
) -> tuple[Term, ...]:
    """The entry of each class."""
    n_classes = tables[0].shape[-1]
    terms = []
    for k in range(n_classes):
        above = tuple(k if up == 0 else row[up] for up in parents[node])
        own = k if node == 0 else row[node]
        counted, pseudo = counts[node][above], imagined[node]
        total, all_imagined = counted.sum(), pseudo.sum()
        how = fraction(counted[own], pseudo[own], total, all_imagined) if total + all_imagined else AS_WHOLE
        terms.append(term(how, tables[node][above][own]))
    return tuple(terms)


def _summed(
    group: set[int], hidden: set[int], parents: Parents, tables: Sequence[Floats], row: Sequence[int]
) -> Floats:
    """Of each class, the product of the group's tables summed over what is missing."""
    factors: list[tuple[list[int], Floats]] = []
    for node in sorted(group):
        scope = [*parents[node], node]
        at = tuple(slice(None) if each == 0 or each in hidden else row[each] for each in scope)
        factors.append(([each for each in scope if each == 0 or each in hidden], tables[node][at]))
    waiting = sorted({each for scope, _ in factors for each in scope if each != 0})
    while waiting:
        sizes = {each: len({v for scope, _ in factors if each in scope for v in scope}) for each in waiting}
        out = min(waiting, key=lambda each: sizes[each])
        waiting.remove(out)
        touched = [factor for factor in factors if out in factor[0]]
        kept = sorted({each for scope, _ in touched for each in scope} - {out})
        factors = [factor for factor in factors if out not in factor[0]]
        factors.append((kept, _contracted(touched, kept)))
    return np.broadcast_to(_contracted(factors, [0]), (tables[0].shape[-1],))


def _contracted(factors: Sequence[tuple[list[int], Floats]], kept: list[int]) -> Floats:
    """The product of factors, summed over all but what is kept."""
    while len(factors) > _AT_ONCE:
        some = sorted({each for scope, _ in factors[:_AT_ONCE] for each in scope})
        factors = [(some, _contracted(factors[:_AT_ONCE], some)), *factors[_AT_ONCE:]]
    every = sorted({each for scope, _ in factors for each in scope} | set(kept))
    letter = {each: i for i, each in enumerate(every)}
    operands: list[Any] = []
    for scope, table in factors:
        operands += [table, [letter[each] for each in scope]]
    present = {each for scope, _ in factors for each in scope}
    result: Floats = np.einsum(*operands, [letter[each] for each in kept if each in present])
    return result


def of_average(
    average: Averaged, codes: NDArray[np.int32], shown: Sequence[str], joint: Floats, classes: Labels
) -> list[Factor]:
    """The product with each attribute as the parent, and their mean."""
    factors = [Factor("prior", "", note="in each of the products below")]
    models = dict(average.models(codes))
    for j, name in enumerate(average.names):
        if j in models:
            each = ", ".join(
                f"{label} {exponential(float(log)):.6g}" for label, log in zip(classes.tolist(), models[j])
            )
            factors.append(Factor(name, shown[j], note=f"as parent of the others: {each}"))
        else:
            why = "missing" if not shown[j] else "never seen" if codes[j] < 0 else "too rare to be a parent"
            factors.append(Factor(name, shown[j] or "missing", note=f"{why}: no parent"))
    how = f"mean of {len(models)}" if models else "naive product"
    terms = tuple(Term(how, exponential(float(log)), float(log)) for log in joint)
    factors.append(Factor("all", "averaged" if models else "no value can be a parent", terms))
    return factors
