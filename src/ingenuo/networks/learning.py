"""The tables of a network from rows: how often each state of a node meets each configuration of its parents.

    θ_{x|u} = (count of x with u + a_x) / (rows with u + Σ a)

A row is counted for a node where the node and all its parents have values. The counts are a tally, so that they add,
subtract and compare like all others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Codes
from ingenuo.errors import ForgetError, InputError, TooWideError
from ingenuo.exact import Exact
from ingenuo.families.categorical import column_codes, frequencies
from ingenuo.kernels import codes as loops
from ingenuo.kernels import moments
from ingenuo.labels import Labels, labels_of, unite
from ingenuo.networks.graph import Parents
from ingenuo.prior import Prior
from ingenuo.tally import Table, Tally

Floats = NDArray[np.float64]

CELLS = 1 << 24  # the largest table that is learned
ROWS = "rows"  # the table of how many rows were learned in all


def table_name(node: object) -> str:
    """The name of a node's table in a tally."""
    return f"node:{node}"


def states_name(node: object) -> str:
    """The name of the table of a node's own values, for nodes that have parents."""
    return f"states:{node}"


def count(codes: Codes, nodes: Sequence[str], parents: Parents, weights: Floats | None = None) -> Tally:
    """The tally of rows: of each node its states by the states of its parents.

    The codes have a column for each node, in the nodes' order.
    """
    labels = codes.labels
    assert labels is not None
    sizes = [len(each) for each in labels]
    columns = [column_codes(codes, j) for j in range(len(nodes))]
    tables = {}
    for node, above in enumerate(parents):
        refuse_large(nodes, node, above, sizes)
        shape = [sizes[parent] for parent in above]
        where = configurations([columns[parent] for parent in above], shape, codes.n_rows)
        axes = {f"{nodes[each]}:": labels[each] for each in (*above, node)}
        sums = counted(where, columns[node], math.prod(shape), sizes[node], weights, (*shape, sizes[node]))
        tables[table_name(nodes[node])] = Table.of(axes, sums)
        if above:  # its states are those of all rows, also of rows without a parent
            anyway = counted(np.zeros(codes.n_rows, np.int64), columns[node], 1, sizes[node], weights, (sizes[node],))
            tables[states_name(nodes[node])] = Table.of({f"{nodes[node]}:": labels[node]}, anyway)
    return Tally({**tables, ROWS: Table.of({"all": [0]}, total_of(codes.n_rows, weights))})


def total_of(n_rows: int, weights: Floats | None) -> Exact:
    """How many rows there are, by weight."""
    if weights is None:
        return Exact.counts(np.array([n_rows]))
    return moments.weights_by_cell(weights, np.zeros(n_rows, np.int64), 1)


def counted(
    where: NDArray[np.int64],
    states: NDArray[Any],
    n_configurations: int,
    n_states: int,
    weights: Floats | None,
    shape: tuple[int, ...],
) -> Exact:
    """How often each state meets each configuration, as an array of this shape."""
    if weights is None:
        counts = loops.tally_columns([states], where, n_configurations, [n_states])[0]
        return Exact.counts(counts.reshape(shape))
    cells = np.where((where >= 0) & (states >= 0), where * n_states + states, -1)
    exact = moments.weights_by_cell(weights, cells, n_configurations * n_states)
    return Exact(exact.limbs.reshape(exact.limbs.shape[0], *shape), exact.low)


def configurations(columns: Sequence[NDArray[Any]], sizes: Sequence[int], n_rows: int) -> NDArray[np.int64]:
    """The place of each row's states among all their combinations, the last column fastest; -1 where one is missing.

    >>> configurations([np.array([0, 1, -1]), np.array([2, 0, 1])], [2, 3], 3).tolist()
    [2, 3, -1]
    """
    found = np.zeros(n_rows, np.int64)
    holes = np.zeros(n_rows, np.bool_)
    for column, size in zip(columns, sizes):
        found *= size
        found += column
        holes |= column < 0
    found[holes] = -1
    return found


def refuse_large(nodes: Sequence[str], node: int, above: Sequence[int], sizes: Sequence[int]) -> None:
    """Raise where a node's table would have too many cells."""
    cells = math.prod(sizes[each] for each in (node, *above))
    if cells > CELLS:
        among = ", ".join(f"{nodes[each]} {sizes[each]}" for each in (node, *above))
        raise TooWideError(
            f"the table of {nodes[node]!r} would have {cells:,} cells ({among} states), and {CELLS:,} are the most; "
            "give it fewer parents, or join states"
        )


def labels_known(
    tally: Tally, nodes: Sequence[str], parents: Parents, declared: Mapping[str, Labels], prior: Prior
) -> list[Labels]:
    """Of each node the labels that were seen in any table, declared, or brought by the prior."""
    found: dict[str, Labels] = {node: declared.get(node, labels_of([])) for node in nodes}
    for node, above in enumerate(parents):
        for axis, each in enumerate((*above, node)):
            seen = tally.labels(table_name(nodes[node]), axis)
            found[nodes[each]] = unite(found[nodes[each]], seen)
        found[nodes[node]] = unite(found[nodes[node]], tally.labels(states_name(nodes[node]), 0))
    return [unite(labels, prior.known(labels, node)) for node, labels in found.items()]


def counts_over(tally: Tally, nodes: Sequence[str], parents: Parents, labels: Sequence[Labels]) -> list[Floats]:
    """Of each node its counts, over these labels."""
    return [
        tally.over(table_name(nodes[node]), *(labels[each] for each in (*above, node))).floats()
        for node, above in enumerate(parents)
    ]


def tables_of(
    nodes: Sequence[str], counts: Sequence[Floats], labels: Sequence[Labels], prior: Prior
) -> tuple[list[Floats], list[Floats]]:
    """The table of each node, and its imaginary counts."""
    tables, imagined = [], []
    for node, counted, own in zip(nodes, counts, labels):
        pseudo = prior.pseudo_counts(own, node)
        flat = counted.reshape(-1, len(own))
        refuse_large([node], 0, (), [flat.size])
        tables.append(frequencies(flat, pseudo).reshape(counted.shape))
        imagined.append(pseudo)
    return tables, imagined


def check_axes(tally: Tally, nodes: Sequence[str], parents: Parents) -> None:
    """Raise where a table is of other nodes than the structure has it."""
    for node, above in enumerate(parents):
        name = table_name(nodes[node])
        axes = tuple(f"{nodes[each]}:" for each in (*above, node))
        if name in tally and tally[name].names != axes:
            raise InputError(f"'{name}' is a table over {' × '.join(tally[name].names)}, not over {' × '.join(axes)}")
        own = states_name(nodes[node])
        if own in tally and tally[own].names != axes[-1:]:
            raise InputError(f"'{own}' is a table over {' × '.join(tally[own].names)}, not over {axes[-1]}")


def check(tally: Tally) -> None:
    """No table has more rows than were learned."""
    if ROWS not in tally and len(tally):
        raise ForgetError("more rows were taken away than were learned; only rows that were learned can be forgotten")
    total = float(tally.over(ROWS, np.array([0])).floats()[0]) if ROWS in tally else 0.0
    for name, table in tally.items():
        if name.startswith((table_name(""), states_name(""))):
            here = float(table.sums.floats().sum())
            if here > total * (1 + 1e-12):
                raise ForgetError(
                    f"'{name}' would have {here:g} rows of {total:g}; only rows that were learned can be forgotten"
                )
