"""The tables of a network from rows: how often each state of a node meets each configuration of its parents.

    θ_{x|u} = (count of x with u + a_x) / (rows with u + Σ a)

A row is counted for a node where the node and all its parents have values. The counts are a tally, so that they add,
subtract and compare like all others. Missing values may be filled instead, by expectation and maximisation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, NetworkError, TooWideError
from ingenuo.families.categorical import column_codes, frequencies
from ingenuo.families.discretise import Cuts
from ingenuo.kernels import codes as loops
from ingenuo.kernels import moments, portable
from ingenuo.kernels.codes import Flat
from ingenuo.language import say
from ingenuo.networks.graph import Parents, children, order
from ingenuo.networks.inference import expected_counts, log_joint
from ingenuo.networks.sheet import TINY, describe_scorer
from ingenuo.rows.checks import check_number, check_whole, seeded_generator
from ingenuo.rows.part import Codes
from ingenuo.show.arithmetic import Factor, Term, exponential, fraction, logs, term
from ingenuo.show.format import Line
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find, labels_of, objects, recode, unite
from ingenuo.tally.prior import Laplace, Prior
from ingenuo.tally.tally import Table, Tally

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
    """The tally of rows, of which the codes have a column for each node: its states by the states of its parents."""
    labels = codes.labels
    assert labels is not None
    sizes = [len(each) for each in labels]
    columns = [column_codes(codes, j) for j in range(len(nodes))]
    tables = {ROWS: Table.of({"all": [0]}, count_rows(codes.n_rows, weights))}
    for node, above in enumerate(parents):
        refuse_large(nodes, node, above, sizes)
        shape = [sizes[each] for each in (*above, node)]
        where = configurations([columns[parent] for parent in above], shape, codes.n_rows)
        axes = {f"{nodes[each]}:": labels[each] for each in (*above, node)}
        tables[table_name(nodes[node])] = Table.of(axes, count_states(where, columns[node], shape, weights))
        if above:  # its states are those of all rows, also of rows without a parent
            anyway = count_states(np.zeros(codes.n_rows, np.int64), columns[node], shape[-1:], weights)
            tables[states_name(nodes[node])] = Table.of({f"{nodes[node]}:": labels[node]}, anyway)
    return Tally(tables)


def count_rows(n_rows: int, weights: Floats | None) -> Exact:
    """How many rows there are, by weight."""
    if weights is None:
        return Exact.counts(np.array([n_rows]))
    return moments.weights_by_cell(weights, np.zeros(n_rows, np.int64), 1)


def count_states(where: NDArray[np.int64], states: NDArray[Any], shape: Sequence[int], weights: Floats | None) -> Exact:
    """How often each state, on the last axis, meets each configuration."""
    *above, n_states = shape
    if weights is None:
        return Exact.counts(loops.tally([states], where, math.prod(above), [n_states])[0].reshape(shape))
    cells = np.where((where >= 0) & (states >= 0), where * n_states + states, -1)
    exact = moments.weights_by_cell(weights, cells, math.prod(shape))
    return Exact(exact.limbs.reshape(exact.limbs.shape[0], *shape), exact.low)


def configurations(columns: Sequence[NDArray[Any]], sizes: Sequence[int], n_rows: int) -> NDArray[np.int64]:
    """The place of each row's states among all their combinations, the last column fastest; -1 where one is missing."""
    found, missing = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.bool_)
    for column, size in zip(columns, sizes):
        found *= size
        found += column
        missing |= column < 0
    found[missing] = -1
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
    for node, above in zip(nodes, parents):
        for axis, each in enumerate([*(nodes[up] for up in above), node]):
            found[each] = unite(found[each], tally.labels(table_name(node), axis))
        found[node] = unite(found[node], tally.labels(states_name(node), 0))
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
    imagined = [prior.pseudo_counts(own, node) for node, own in zip(nodes, labels)]
    for node, counted in zip(nodes, counts):
        refuse_large([node], 0, (), [counted.size])
    return [estimate(counted, pseudo) for counted, pseudo in zip(counts, imagined)], imagined


def estimate(counts: Floats, imagined: Floats) -> Floats:
    """The table that counts and imaginary counts give."""
    return frequencies(counts.reshape(-1, counts.shape[-1]), imagined).reshape(counts.shape)


@dataclass(frozen=True)
class Tables:
    """The tables of a network whose node 0 is the class."""

    parents: Parents
    labels: tuple[Labels, ...]  # of each node
    counts: Sequence[Floats]
    imagined: Sequence[Floats]
    tables: Sequence[Floats]
    flat: Flat

    @property
    def n_parameters(self) -> int:
        """The share of each state given those of the parents, of which one follows from the others."""
        return sum(table.size - table.size // max(len(own), 1) for table, own in zip(self.tables, self.labels))

    @property
    def states(self) -> tuple[Labels, ...]:
        """The labels of each node: all of them are states."""
        return self.labels

    def joint(self, codes: NDArray[np.int32], floor: float | None = None) -> Floats:
        """The log joint of each row and class."""
        flat = self.flat
        if floor is not None:
            flat = Flat.of(self.parents, [np.maximum(table, TINY) for table in self.tables])
        return log_joint(flat, np.insert(codes, 0, -1, axis=1), 0)

    def sheet_scorer(self, nodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """How rows are answered, as a sheet has it."""
        return describe_scorer(nodes, self.parents, self.tables, 0, "labels")

    def entry(self, node: int, codes: NDArray[np.int32], classes: NDArray[np.intp]) -> Floats:
        """What a node adds to the log joint of a class of each row, in which nothing is missing."""
        above = [codes[:, up - 1] if up else classes for up in self.parents[node]]
        return logs(self.tables[node][(*above, codes[:, node - 1])])

    def factors(
        self,
        nodes: Sequence[str],
        states: Sequence[Sequence[str]],
        codes: Sequence[int],
        shown: Sequence[str],
        joint: Floats,
    ) -> list[Factor]:
        """A factor for the class, and for each other node; those that a missing value joins are summed together.

        They multiply to the row's joint.
        """
        parents, row, shown = self.parents, [-1, *codes], ["", *shown]
        idle = _find_idle(parents, row)
        hidden = {node for node in range(1, len(nodes)) if row[node] < 0 and node not in idle}
        groups = _join_hidden(parents, hidden, idle)
        factors, sums = [], []
        for node, name in enumerate(nodes):
            called, value = name if node else say("prior"), shown[node] or (say("missing") if node else "")
            group = next((each for each in groups if node in each), None)
            if node in idle:
                note = say("summed out: what it could be sums to 1")
                note = say("{note} (never seen)", note=note) if shown[node] else note
                factors.append(Factor(called, value, note=note))
            elif group is not None:
                others = ", ".join(nodes[each] for each in sorted(group & hidden))
                factors.append(Factor(called, value, note=say("summed over {others}, below", others=others)))
            else:
                given = ", ".join(f"{nodes[up]} {states[up][row[up]]}" for up in parents[node] if up != 0)
                state = states[node][row[node]] if node else ""
                value = f"{state} | {given}".strip() if given else state
                factors.append(Factor(called, value, _entries(node, self, row)))
        for group in groups:
            # The other tables count as ones, and their nodes as known, so that the product is that of the group alone.
            tables = [table if node in group else np.ones_like(table) for node, table in enumerate(self.tables)]
            codes = [code if node == 0 or node in group else max(code, 0) for node, code in enumerate(row)]
            joint = log_joint(Flat.of(parents, tables), np.array([codes], np.int32), 0)[0]
            over = ", ".join(nodes[each] for each in sorted(group & hidden))
            terms = tuple(Term(say("Σ over {nodes}", nodes=over), exponential(log), log) for log in joint.tolist())
            inside = ", ".join(nodes[each] if each else "prior" for each in sorted(group))
            sums.append(Factor(inside, say("together"), terms))
        return factors + sums


def _find_idle(parents: Parents, row: Sequence[int]) -> set[int]:
    """Missing nodes below which nothing is known: what they could be sums to 1."""
    below, found = children(parents), set()
    for node in reversed(order(parents)):
        if node != 0 and row[node] < 0 and all(child in found for child in below[node]):
            found.add(node)
    return found


def _join_hidden(parents: Parents, hidden: set[int], idle: set[int]) -> list[set[int]]:
    """The nodes whose tables a missing value joins, each group by itself."""
    groups: list[tuple[set[int], set[int]]] = []  # the tables, and the missing nodes in them
    for node, above in enumerate(parents):
        touched = {node, *above} & hidden
        if node not in idle and touched:
            joined = [group for group in groups if group[1] & touched]
            groups = [group for group in groups if not group[1] & touched]
            groups.append(({node}.union(*(g[0] for g in joined)), touched.union(*(g[1] for g in joined))))
    return [group[0] for group in groups]


def _entries(node: int, own: Tables, row: Sequence[int]) -> tuple[Term, ...]:
    """The entry of a node's table for each class, and the counts that it comes from."""
    terms, given = [], np.allclose(own.counts[node], own.tables[node], rtol=0.0, atol=1e-12)  # not counted
    for k in range(own.tables[0].shape[-1]):
        above = tuple(k if up == 0 else row[up] for up in own.parents[node])
        state = k if node == 0 else row[node]
        counted, pseudo = own.counts[node][above], own.imagined[node]
        total, imagined = counted.sum(), pseudo.sum()
        how = (
            fraction(counted[state], pseudo[state], total, imagined)
            if total + imagined
            else say("as in the whole column")
        )
        how = "" if given else how
        terms.append(term(how, own.tables[node][above][state]))
    return tuple(terms)


def check_axes(tally: Tally, nodes: Sequence[str], parents: Parents, cuts: Mapping[str, Cuts]) -> None:
    """Raise where a table is of other nodes than the structure has it, or of intervals that its cuts do not make."""
    for table in tally.values():
        for axis, labels in zip(table.names, table.axes):
            own = cuts.get(axis.removesuffix(":"))
            known = [label for label in labels.tolist() if label is not None]  # which stands for what is missing
            if own is not None and (find(np.arange(len(own.points) + 1), labels_of(known)) < 0).any():
                raise InputError(f"a table has values of {axis} that are none of its {len(own.points) + 1} intervals")
    for node, above in enumerate(parents):
        axes = tuple(f"{nodes[each]}:" for each in (*above, node))
        for name, wanted in ((table_name(nodes[node]), axes), (states_name(nodes[node]), axes[-1:])):
            if name in tally and tally[name].names != wanted:
                found = " × ".join(tally[name].names)
                raise InputError(f"'{name}' is a table over {found}, not over {' × '.join(wanted)}")


def check(tally: Tally) -> None:
    """No table has more rows than were learned."""
    if ROWS not in tally and len(tally):
        raise ForgetError("more rows were taken away than were learned; only rows that were learned can be forgotten")
    total = float(tally.over(ROWS, np.array([0])).floats()[0]) if ROWS in tally else 0.0
    for name, table in tally.items():
        here = float(table.sums.floats().sum()) if name.startswith((table_name(""), states_name(""))) else 0.0
        if here > total * (1 + 1e-12):
            raise ForgetError(
                f"'{name}' would have {here:g} rows of {total:g}; only rows that were learned can be forgotten"
            )


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
    declared: Mapping[str, Sequence[Any]],
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
    check_whole("iterations", iterations, 1)
    check_number("tolerance", tolerance)
    rng = seeded_generator("random_state", random_state)
    nodes = [str(name) for name in codes.names.tolist()]
    assert codes.labels is not None
    columns, labels = [], list[Labels]()
    for node, column, own in zip(nodes, codes.columns, codes.labels):
        labels.append(objects(list(declared[node])) if node in declared else labels_of(own))
        columns.append(
            np.asarray(column if node in declared else recode(np.asarray(column), own, labels[-1]), np.int32)
        )
        if not len(labels[-1]):
            raise NetworkError(
                f"node {node!r} is never seen; declare its states: from_arcs(…, states={{{node!r}: […]}})"
            )
    # The tables of the rows that are whole are where it begins.
    whole = count(Codes(codes.names, codes.n_rows, columns, labels), nodes, parents, weights)
    counts = counts_over(whole, nodes, parents, labels)
    _, imagined = tables_of(nodes, counts, labels, prior)
    hidden = [bool((column < 0).all()) for column in columns]
    tables = _break_evenness(tables_of(nodes, counts, labels, Laplace())[0], parents, hidden, rng)
    rows, line = np.column_stack(columns), Line(verbose)
    least_gain = tolerance * max(len(rows) if weights is None else float(weights.sum()), 1)
    trace, grown = list[float](), list[float]()
    try:
        for iteration in range(int(iterations)):
            counts, log_likelihood = expected_counts(Flat.of(parents, tables), rows, weights)
            trace.append(log_likelihood)
            line.say(f"iteration {iteration + 1}: log likelihood {log_likelihood:,.4f}")
            # The prior's part of what grows: Σ a log θ, of the cells that have an a.
            of_prior = (a * portable.log(np.maximum(table, np.finfo(float).tiny)) for a, table in zip(imagined, tables))
            grown.append(log_likelihood + sum(float(each.sum()) for each in of_prior))
            if len(grown) > 1 and grown[-1] - grown[-2] <= least_gain:
                return Expectation(tables, tuple(trace), tuple(grown), True), labels
            tables = [estimate(counted, a) for counted, a in zip(counts, imagined)]
    finally:
        line.close()
    return Expectation(tables, tuple(trace), tuple(grown), False), labels


def _break_evenness(
    tables: Sequence[Floats], parents: Parents, hidden: Sequence[bool], rng: np.random.Generator
) -> list[Floats]:
    """Tables to begin with, uneven for nodes that were never seen and for their children: even ones would stay so."""
    begun = []
    for table, above, unseen in zip(tables, parents, hidden):
        if unseen:
            table = rng.dirichlet(np.full(table.shape[-1], 5.0), table.shape[:-1])
        elif any(hidden[up] for up in above):
            drawn = rng.gamma(5.0 * table * table.shape[-1] + 0.1)
            table = drawn / drawn.sum(axis=-1, keepdims=True)
        begun.append(table)
    return begun
