"""The tables of a network from rows: how often each state of a node meets each configuration of its parents.

    θ_{x|u} = (count of x with u + a_x) / (rows with u + Σ a)

A row is counted for a node where the node and all its parents have values. The counts are a tally, so that they add,
subtract and compare like all others. Missing values may be filled instead, by expectation and maximisation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, KindError, NetworkError, TooWideError, did_you_mean
from ingenuo.families.categorical import column_codes, frequencies
from ingenuo.families.discretise import PARTS, Cuts
from ingenuo.kernels import codes as loops
from ingenuo.kernels import moments, portable
from ingenuo.kernels.networks import Flat
from ingenuo.networks.columns import Columns, Labelled, column_codes_of, plan_columns
from ingenuo.networks.evidence import written_alike
from ingenuo.networks.graph import Parents
from ingenuo.networks.inference import expected_counts
from ingenuo.rows.checks import weights as row_weights
from ingenuo.rows.part import Codes
from ingenuo.rows.schema import column_name
from ingenuo.rows.source import Source, open_source
from ingenuo.show.format import Line
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find, labels_of, objects, recode, unite
from ingenuo.tally.prior import Laplace, Prior
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]
States = Mapping[str, Sequence[Any]]

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


# The rows of a table as codes of the nodes' states.


def source_of(table: Any) -> Source:
    """The rows of a table; there must be some."""
    if isinstance(table, list | tuple):
        table = np.array(table, object)
    source = open_source(table)
    if source.n_rows == 0 or len(source.names) == 0:
        raise InputError(f"the table is empty: {source.n_rows} rows and {len(source.names)} columns")
    return source


def node_names(source: Source, places: Sequence[int]) -> list[str]:
    """What the nodes of a table's columns are called."""
    return [column_name(source.names.tolist()[place]) for place in places]


def encode_rows(
    nodes: Sequence[str],
    table: Any,
    sample_weight: Any,
    cuts: Mapping[str, Cuts],
    declared: States,
    categories: frozenset[str],
    *,
    hidden: bool = False,
    columns: Mapping[str, str] | None = None,
) -> tuple[Codes, Floats | None, dict[str, Cuts]]:
    """The rows for learning: codes of each node, weights, and the cut points of numbers.

    A node without a column is hidden where that is allowed, and an error else. Values that are none of a node's
    declared states are an error; nodes among the categories have states, whatever their columns look like.
    """
    source = source_of(table)
    weights = row_weights(sample_weight, source.n_rows)
    at = _places(nodes, source)
    absent = [node for node, place in zip(nodes, at) if place < 0]
    if absent and not hidden:
        names = node_names(source, range(len(source.names)))
        raise NetworkError(
            f"the table has no column for node {absent[0]!r}{did_you_mean(absent[0], names)}"
            " (a node that is never seen can be learned with missing='em', if its states are declared)"
        )
    names, given, cuts = source.names.tolist(), columns or {}, dict(cuts)
    new = {
        names[place]: node
        for node, place in zip(nodes, at)
        if place >= 0 and node not in cuts and node not in declared and node not in categories
    }
    if new:
        kinds = {name: "ignore" for name in names if name not in new}
        kinds |= {name: given[node] for name, node in new.items() if node in given}
        cuts |= {new[name]: each for name, each in plan_in_memory(source, kinds, None, weights).cuts.items()}
    found, labels = [], []
    for node, place in zip(nodes, at):
        codes, own = column_of(source, place, node, cuts)
        if node in declared and node not in cuts:
            codes, own = _declared_codes(node, declared[node], codes, own)
        found.append(codes)
        labels.append(own)
    return Codes(objects(list(nodes)), source.n_rows, found, labels), weights, cuts


def _places(nodes: Sequence[str], source: Source) -> list[int]:
    """Where the column of each node stands in a table; -1 where there is none."""
    known = {column_name(name): place for place, name in enumerate(source.names.tolist())}
    return [known.get(node, -1) for node in nodes]


def plan_in_memory(
    source: Source,
    declared: Mapping[Any, Any] | None,
    classes: tuple[NDArray[Any], Labels] | None,
    weights: Floats | None,
    parts: int = PARTS,
) -> Columns:
    """What the columns of a table are, its numbers cut by the classes, or else into parts of as many rows each."""
    labels, own = classes or (np.zeros(source.n_rows, np.int32), np.zeros(1, np.int64))
    rows = Labelled(source, labels, own, weights)
    cut_into = parts if classes is None else None
    reduce = lambda sums, **options: sums(rows, options)  # noqa: E731
    return plan_columns(source, declared, reduce, parts=cut_into, at_once=rows)


def column_of(source: Source, place: int, node: str, cuts: Mapping[str, Cuts]) -> tuple[NDArray[Any], Labels]:
    """The codes of a node's column, and what they stand for."""
    if place < 0:
        return np.full(source.n_rows, -1, np.int32), labels_of([])
    return column_codes_of(source, place, source.names.tolist()[place], cuts.get(node))


def _declared_codes(
    node: str, states: Sequence[Any], codes: NDArray[Any], labels: Labels
) -> tuple[NDArray[Any], Labels]:
    """Codes of the declared states; a value that is none of them is an error."""
    same = written_alike(states, labels.tolist())
    table = np.full(len(labels) + 1, -1, np.int32)
    for at, place in same.items():
        table[at] = place
    found = table[codes]
    strange = (found < 0) & (codes >= 0)
    if strange.any():
        row = int(strange.argmax())
        value = labels.tolist()[int(codes[row])]
        raise NetworkError(
            f"column {node!r}, row {row}: {value!r} is none of the declared states{did_you_mean(value, states)}; "
            "declare it, or make it missing"
        )
    return found, objects(list(states))


def listed(values: Sequence[Any], most: int = 6) -> str:
    """The first of some values, as text."""
    return ", ".join(map(str, values[:most])) + (", …" if len(values) > most else "")


def _numbers(values: Sequence[Any]) -> bool:
    """Whether all of these are numbers, or some of them are written as numbers."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return True
    return any(str(value).replace(".", "", 1).lstrip("+-").isdecimal() for value in values)


def encode_known(
    nodes: Sequence[str],
    states: Sequence[Sequence[Any]],
    table: Any,
    cuts: Mapping[str, Cuts],
    declared: States,
    without: int = -1,
) -> NDArray[np.int32]:
    """Rows × nodes codes of the states, for questions: -1 where a value is missing, or no state that is known.

    The column of one node may be left out: it is what is asked for.
    """
    source = source_of(table)
    result = np.full((source.n_rows, len(nodes)), -1, np.int32)
    at = _places(nodes, source)
    if all(place < 0 for i, place in enumerate(at) if i != without) and len(at) > 1:
        names = node_names(source, range(len(source.names)))
        raise NetworkError(
            f"the table has no column that is a node of the network; its columns are {listed(names)}, and the nodes "
            f"{listed(nodes)}"
        )
    for i, (node, place) in enumerate(zip(nodes, at)):
        if place < 0 or i == without:
            continue
        codes, labels = column_of(source, place, node, cuts)
        if node in cuts:
            result[:, i] = codes
            continue
        own = np.full(len(labels) + 1, -1, np.int32)
        if node not in declared:
            own[:-1] = find(labels_of(states[i]), labels)
        strange = np.flatnonzero(own[:-1] < 0)
        for here, there in written_alike(states[i], labels[strange].tolist()).items():
            own[strange[here]] = there
        if len(labels) and (own < 0).all() and _numbers(labels.tolist()) and not _numbers(states[i]):
            raise NetworkError(
                f"column {node!r} holds numbers, as {labels.tolist()[0]!r}, and the node has the states "
                f"{listed(states[i], 3)}; give states, or read the network from a file that has the "
                "cut points (.yaml, .json, .ingenuo; .bif and .xml have none)"
            )
        result[:, i] = own[codes]
    return result


# Missing values filled by expectation and maximisation.


@dataclass(frozen=True)
class Expectation:
    """The tables that were found, and how the search for them went."""

    tables: list[Floats]
    log_likelihoods: tuple[float, ...]  # of the observed cells, before each round
    log_posteriors: tuple[float, ...]  # the same and the prior's part, which never falls
    converged: bool


def fit_by_expectation(
    codes: Codes,
    parents: Parents,
    declared: States,
    prior: Prior,
    weights: Floats | None,
    iterations: int,
    tolerance: float,
    random_state: int,
    verbose: bool | None,
) -> tuple[Expectation, list[Labels]]:
    """The tables of rows with missing values, and the labels of each node.

    What a missing value may have been is shared out by what the tables say of it, the tables are estimated again from
    those expected counts and the prior, until the likelihood of what was seen, times the prior, grows no more.
    """
    if isinstance(iterations, bool) or not isinstance(iterations, int | np.integer) or iterations < 1:
        raise InputError(f"iterations must be a whole number of at least 1, got {iterations!r}")
    if not isinstance(tolerance, int | float) or not 0 <= tolerance < np.inf:
        raise InputError(f"tolerance must be a number, finite and not negative, got {tolerance!r}")
    try:
        np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise KindError(f"random_state must be a whole number or None, got {random_state!r}") from None
    nodes = [str(name) for name in codes.names.tolist()]
    hidden = [bool((np.asarray(column) < 0).all()) for column in codes.columns]
    codes = _with_declared(codes, declared)
    assert codes.labels is not None
    labels = list(codes.labels)
    for node, unseen, own in zip(nodes, hidden, labels):
        if unseen and len(own) < 1:
            raise NetworkError(
                f"node {node!r} is never seen; declare its states: from_arcs(…, states={{{node!r}: […]}})"
            )
    # The tables of the rows that are whole are where it begins.
    counts = counts_over(count(codes, nodes, parents, weights), nodes, parents, labels)
    _, imagined = tables_of(nodes, counts, labels, prior)
    smooth, _ = tables_of(nodes, counts, labels, Laplace())
    rows = np.column_stack([np.asarray(column, np.int32) for column in codes.columns])
    start = _broken_evenness(smooth, parents, hidden, random_state)
    line = Line(verbose)
    try:
        found = _maximise(rows, parents, start, imagined, weights, int(iterations), float(tolerance), line.say)
    finally:
        line.close()
    return found, labels


def _maximise(
    codes: NDArray[np.int32],
    parents: Parents,
    tables: list[Floats],
    imagined: Sequence[Floats],
    weights: Floats | None,
    iterations: int,
    tolerance: float,
    say: Callable[[str], None],
) -> Expectation:
    trace, grown = list[float](), [-np.inf]
    rows = len(codes) if weights is None else float(weights.sum())
    for iteration in range(iterations):
        counts, log_likelihood = expected_counts(Flat.of(parents, tables), codes, weights)
        trace.append(log_likelihood)
        # The prior's part of what grows: Σ a log θ, of the cells that have an a.
        objective = log_likelihood + sum(
            float((a * portable.log(np.maximum(table, np.finfo(float).tiny))).sum())
            for a, table in zip(imagined, tables)
        )
        say(f"iteration {iteration + 1}: log likelihood {log_likelihood:,.4f}")
        grown.append(objective)
        if objective - grown[-2] <= tolerance * max(rows, 1):
            return Expectation(tables, tuple(trace), tuple(grown[1:]), True)
        tables = [
            frequencies(counted.reshape(-1, counted.shape[-1]), a).reshape(counted.shape)
            for counted, a in zip(counts, imagined)
        ]
    return Expectation(tables, tuple(trace), tuple(grown[1:]), False)


def _broken_evenness(tables: Sequence[Floats], parents: Parents, hidden: Sequence[bool], seed: int) -> list[Floats]:
    """Tables to begin with, uneven for nodes that were never seen and for their children: even ones would stay so."""
    rng = np.random.default_rng(seed)
    begun = []
    for table, above, unseen in zip(tables, parents, hidden):
        if unseen:
            table = rng.dirichlet(np.full(table.shape[-1], 5.0), table.shape[:-1])
        elif any(hidden[up] for up in above):
            drawn = rng.gamma(5.0 * table * table.shape[-1] + 0.1)
            table = drawn / drawn.sum(axis=-1, keepdims=True)
        begun.append(table)
    return begun


def _with_declared(codes: Codes, declared: States) -> Codes:
    """The codes, with the labels of nodes that are never seen, and sorted ones for the others."""
    assert codes.labels is not None
    columns, labels = [], []
    for node, column, own in zip(codes.names.tolist(), codes.columns, codes.labels):
        if not len(own) and node in declared:
            own = objects(list(declared[node]))
        elif node not in declared:
            ordered = labels_of(own)
            if ordered.tolist() != own.tolist():
                column, own = recode(np.asarray(column), own, ordered), ordered
        columns.append(column)
        labels.append(own)
    return Codes(codes.names, codes.n_rows, columns, labels)
