"""The network: nodes with named states, arcs without cycles, a table for each node."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import (
    ImpossibleEvidenceError,
    InputError,
    KindError,
    MergeError,
    NetworkError,
    RefusedError,
    check_choice,
)
from ingenuo.families.discretise import PARTS, Cuts
from ingenuo.kernels import densities, portable
from ingenuo.kernels.codes import Flat
from ingenuo.language import speaking
from ingenuo.networks import evidence as known
from ingenuo.networks import graph, inference, learn
from ingenuo.networks.build import Definition, define
from ingenuo.networks.columns import encode_known, encode_rows
from ingenuo.networks.search import RESTARTS, TABU, Scorer, Search, check_score
from ingenuo.networks.sheet import NetworkSheet
from ingenuo.networks.structure import GIVEN, Options, find_structure, sample_of
from ingenuo.rows.checks import check_whole
from ingenuo.rows.part import Codes
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.labels import Labels, labels_of, objects
from ingenuo.tally.prior import Laplace, Prior
from ingenuo.tally.tally import Tally

if TYPE_CHECKING:
    from ingenuo.show.svg import Picture


Floats = NDArray[np.float64]
Evidence = Mapping[str, Any] | None

MISSING = ("leave-out", "em")
NODES = 100  # more are not listed one by one
BARS = 60  # and with more nodes than this a notebook's picture has names only


class MostProbable(NamedTuple):
    """The most probable states of all nodes together."""

    states: dict[str, Any]
    probability: float  # of these states, given the evidence
    log_probability: float


@dataclass(frozen=True, eq=False, repr=False)
class NodeTables(Shown):
    """The tables of some nodes, as `Network.shown` gives them: they print, and are data, Markdown or HTML."""

    tables: tuple[PrintedTable, ...]

    def _blocks(self) -> list[str | Block]:
        return list(self.tables)


class Network(NetworkSheet, Shown):
    """A Bayesian network: made by an expert (`from_arcs`, `read`), or learned from rows (`learn`, `fit`).

    >>> wet = {"rain": {"wet": 0.9, "dry": 0.1}, "no rain": {"wet": 0.05, "dry": 0.95}}
    >>> network = Network.from_arcs([("sky", "grass")], tables={"sky": {"rain": 0.2, "no rain": 0.8}, "grass": wet})
    >>> {state: round(p, 4) for state, p in network.posterior("sky", {"grass": "wet"}).items()}
    {'rain': 0.8182, 'no rain': 0.1818}
    """

    def __init__(
        self,
        nodes: Sequence[str],
        parents: graph.Parents,
        states: Mapping[str, Sequence[Any]] | None = None,
        tables: Sequence[Floats] | None = None,
        *,
        name: str = "network",
        cuts: Mapping[str, Cuts] | None = None,
        target: str | None = None,
        search: Search | None = None,
    ) -> None:
        self.nodes = tuple(nodes)
        self._parents = tuple(tuple(above) for above in parents)
        graph.refuse_cycle(self.nodes, self._parents)
        self.name, self.target, self.search = name, target, search
        self.cuts: dict[str, Cuts] = dict(cuts or {})
        given = {node: tuple(own) for node, own in (states or {}).items()}
        self._states = None if tables is None else tuple(given[node] for node in self.nodes)
        # Of these nodes no other states are learned; those of numbers in intervals follow from the cuts.
        self._declared = {node: own for node, own in given.items() if node not in self.cuts}
        self._categories: frozenset[str] = frozenset()  # nodes whose columns are states, whatever they look like
        self._tables = None if tables is None else tuple(_freeze(table) for table in tables)
        self.tally: Tally | None = None
        self.prior: Prior | None = None
        self.expectation: learn.Expectation | None = None  # how missing values were filled, if they were
        self._likelihoods: dict[int, Floats] = {}
        self._set: frozenset[int] = frozenset()  # nodes that were intervened on

    # Where networks come from.

    @staticmethod
    def from_arcs(
        arcs: Iterable[tuple[str, str]],
        *,
        states: Mapping[str, Sequence[Any]] | None = None,
        tables: Mapping[str, Any] | None = None,
        nodes: Iterable[str] = (),
        name: str = "network",
    ) -> Network:
        """A network from its arcs, and perhaps its states and tables; else `fit` learns those from rows.

        Parameters
        ----------
        arcs : pairs (from, to)
            The order of a node's parents is that of its arcs.
        states : mapping, optional
            Node to the list of its states. Those of a table that is a mapping need not be given.
        tables : mapping, optional
            Node to its table: a list of probabilities, or a mapping from state to probability (a state that is left
            out has 0), where it has no parents; else a mapping from a state of the parent, or a tuple of the parents'
            states, to such a list; or an array with an axis for each parent and the node's own last.
        nodes : optional
            Nodes that no arc names, or the order of all.
        name : str
            What the network is called, in files.
        """
        names, parents, found = define(arcs, nodes, states or {}, tables, name)
        return Network(names, parents, states, name=name) if found is None else Network.of(found)

    @staticmethod
    def of(definition: Definition) -> Network:
        """The network that a definition defines."""
        cuts = {node: Cuts(tuple(points)) for node, points in definition.cuts.items()}
        states = {node: own for node, own in zip(definition.nodes, definition.states) if len(own)}
        about: Any = {"name": definition.name, "cuts": cuts, "target": definition.target}
        return Network(definition.nodes, definition.parents, states, definition.tables or None, **about)

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Network:
        """A network from a file: .bif, .xml (XMLBIF), .yaml or .json, each perhaps with .gz behind."""
        from ingenuo.networks import files

        return Network.of(files.read(path))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file, whole or not at all: .bif, .xml or .yaml, each perhaps with .gz behind.

        Arcs without tables are written to .yaml, and `read` gives them back, to be fitted to rows.
        """
        from ingenuo.networks import files

        if self._likelihoods:
            raise NetworkError(f"a network is written as it is, not with what was observed ({self.evidence})")
        files.write(self._definition(), path)

    def _definition(self) -> Definition:
        """The network as plain data; without tables, its arcs and the states that are declared."""
        cuts = {node: each.points for node, each in self.cuts.items()}
        states = self._states or [self._declared.get(node, ()) for node in self.nodes]
        return Definition(self.nodes, states, self._parents, self._tables or (), self.name, cuts, self.target)

    @staticmethod
    def learn(
        table: Any,
        structure: str | Network = "hill-climb",
        *,
        target: str | None = None,
        columns: Mapping[Any, Any] | None = None,
        prior: Prior = Laplace(),  # noqa: B008 (immutable)
        score: str | None = None,
        ess: float = 1.0,
        max_parents: int | None = None,
        tabu: int = TABU,
        restarts: int = RESTARTS,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        order: Sequence[str] | None = None,
        root: str | None = None,
        k: int = 2,
        missing: str = "leave-out",
        sample_weight: Any = None,
        bins: int = PARTS,
        random_state: Any = 0,
        verbose: bool | None = None,
    ) -> Network:
        """Learn the structure and the tables from rows.

        Parameters
        ----------
        table : pandas, polars or Arrow table, or array
            A column for each node. Numbers are cut into intervals (by the target, where there is one), whole numbers
            of ten values at most are states, text is refused.
        structure : {"hill-climb", "k2", "chow-liu", "tan", "kdb", "naive"} or Network
            How to search; or the network whose arcs, declared states and cut points are taken.
        target : str, optional
            The class; "tan", "kdb" and "naive" hang all on it.
        columns : mapping, optional
            Column to "category", "number", "ignore", or a list of states.
        prior : Prior
            Imaginary rows in each row of a table; `Laplace()` by default.
        score : {"bic", "bdeu", "k2", "aic"}, optional
            What hill-climbing ("bic" by default) and K2 ("k2") climb; `ess` is the equivalent sample size of "bdeu".
        ess, max_parents, tabu, restarts, required, forbidden, random_state
            Limits of the search: the most parents, how many steps downhill are tried, how often it begins again,
            arcs that must or must not be.
        order, root, k
            Of "k2" the order of the nodes; of trees the root; of "kdb" how many parents besides the class.
        missing, sample_weight, bins, verbose
            As in `fit`; the number of intervals without a target; whether progress is shown.
        """
        limits = max_parents, tabu, restarts, tuple(required), tuple(forbidden), random_state, verbose
        named = GIVEN if isinstance(structure, Network) else structure
        options = Options(named, score, ess, k, order, root, *limits)
        _check_prior(prior, missing)
        fitted: Any = {"prior": prior, "missing": missing, "sample_weight": sample_weight, "verbose": verbose}
        if isinstance(structure, Network):
            options.check()
            target = structure.target if target is None else structure.nodes[known.place_of(structure.nodes, target)]
            about: Any = {"cuts": structure.cuts, "target": target}
            network = Network(structure.nodes, structure._parents, structure._declared, **about)
            return network.fit(table, columns=columns, **fitted)
        nodes, found, cuts, declared = find_structure(table, options, target, columns, bins, sample_weight)
        search = None if named == "naive" else found.rename(nodes)
        network = Network(nodes, found.parents, declared, cuts=cuts, target=target, search=search)
        network._categories = frozenset(node for node in nodes if node not in cuts)
        return network.fit(table, **fitted)

    # Its parts.

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """(parent, child) for every arc."""
        return [(self.nodes[up], self.nodes[down]) for down, above in enumerate(self._parents) for up in above]

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The parents of each node."""
        return {node: tuple(self.nodes[up] for up in above) for node, above in zip(self.nodes, self._parents)}

    @property
    def states(self) -> dict[str, list[Any]]:
        """The states of each node."""
        return {node: list(own) for node, own in zip(self.nodes, self._known_states())}

    @property
    def tables(self) -> dict[str, Floats]:
        """P(node | parents) of each node: an axis for each parent, the node's own last."""
        return dict(zip(self.nodes, self._known_tables()))

    @property
    def evidence(self) -> str:
        """What was observed, and what was set, as a person writes it."""
        done = {place: self._known_tables()[place] for place in sorted(self._set)}
        doing = f"do({known.describe(self.nodes, self._known_states(), done, likely=False)})" if done else ""
        observed = known.describe(self.nodes, self._known_states(), self._likelihoods) if self._likelihoods else ""
        return ", ".join(part for part in (doing, observed) if part)

    def table(self, node: str) -> Any:
        """The table of a node as an Arrow table: a row for each configuration of its parents."""
        import pyarrow as pa

        place = known.place_of(self.nodes, node)
        table, states = self._known_tables()[place], self._known_states()
        columns: dict[str, Any] = {}
        places = np.indices(table.shape[:-1]).reshape(table.ndim - 1, -1)
        for parent, at in zip(self._parents[place], places):
            columns[self.nodes[parent]] = pa.array([str(states[parent][i]) for i in at])
        for k, state in enumerate(states[place]):
            columns[f"P({node} = {state})"] = pa.array(table[..., k].reshape(-1))
        return pa.table(columns)

    def shown(self, *nodes: str) -> NodeTables:
        """The tables of nodes as a reader wants them, a row for each configuration of the parents.

        >>> coin = {"fair": {"heads": 0.5, "tails": 0.5}, "bent": {"heads": 0.6, "tails": 0.4}}
        >>> network = Network.from_arcs([("coin", "toss")], tables={"coin": {"fair": 0.75, "bent": 0.25}, "toss": coin})
        >>> print(network.shown("toss"))
        P(toss | coin)
          coin  P(toss = heads)  P(toss = tails)
          fair  0.5000           0.5000
          bent  0.6000           0.4000
        """
        found = []
        for node in nodes:
            table, above = self.table(node), self.parents[node]
            title = f"P({node} | {', '.join(above)})" if above else f"P({node})"
            formats = [*[""] * len(above), *[".4f"] * (table.num_columns - len(above))]
            rows = list(zip(*(column.to_pylist() for column in table.columns)))
            found.append(PrintedTable(table.column_names, rows, formats, title))
        return NodeTables(tuple(found))

    def _known_tables(self) -> tuple[Floats, ...]:
        if self._tables is None:
            raise NetworkError(
                "the network has arcs and no tables yet: every node needs a value in some row, or declared states; "
                "learn them with fit(table), or give tables"
            )
        return self._tables

    def _known_states(self) -> tuple[tuple[Any, ...], ...]:
        self._known_tables()
        assert self._states is not None
        return self._states

    # Learning the tables: they add, subtract and merge, the structure staying as it is.

    def fit(
        self,
        table: Any,
        *,
        prior: Prior = Laplace(),  # noqa: B008 (immutable)
        missing: str = "leave-out",
        sample_weight: Any = None,
        columns: Mapping[str, str] | None = None,
        iterations: int = 200,
        tolerance: float = 1e-6,
        random_state: int = 0,
        verbose: bool | None = None,
    ) -> Self:
        """Learn the tables from rows, forgetting those there were; the structure stays. Returns the network itself.

        Parameters
        ----------
        table : pandas, polars or Arrow table, or array
            A column for each node, by name; others are not looked at.
        prior : Prior
            Imaginary rows in each row of a table.
        missing : {"leave-out", "em"}
            A row with a missing value is left out of the tables that need it; or missing values are filled by
            expectation and maximisation, which can learn nodes without a column too, but then rows cannot be added or
            forgotten.
        sample_weight : array-like, optional
            How often each row counts.
        columns : mapping, optional
            Node to "category" or "number", where what the column looks like is not what it is. Numbers are cut into
            five parts of as many rows each; what a column was taken for, and the cuts, stay.
        iterations, tolerance, random_state, verbose
            Of "em": the most rounds, the gain per row below which it ends, the seed for hidden nodes, and whether to
            show it.
        """
        self._refuse_to_learn()
        _check_prior(prior, missing)
        for node in columns or {}:
            known.place_of(self.nodes, node)
        codes, weights, cuts = self._encode(table, sample_weight, hidden=missing == "em", columns=columns)
        if missing == "leave-out":
            self._set_tally(learn.count(codes, self.nodes, self._parents, weights), prior, cuts)
            return self
        found, labels = learn.fit_by_expectation(
            codes, self._parents, self._declared, prior, weights, iterations, tolerance, random_state, verbose
        )
        self._set_tables(found.tables, labels, cuts)
        self.tally, self.prior, self.expectation = None, prior, found
        return self

    def partial_fit(self, table: Any, sample_weight: Any = None) -> Self:
        """Learn from more rows; states never seen join, unless the states were declared."""
        self._refuse_to_learn("add rows to" if self._tables is not None else "")
        return self._change(Tally.__add__, table, sample_weight)

    def forget(self, table: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: the tables are then what they would be had the rows never been seen."""
        self._refuse_to_learn("take rows from")
        return self._change(Tally.__sub__, table, sample_weight)

    def _change(self, change: Callable[[Tally, Tally], Tally], table: Any, sample_weight: Any) -> Self:
        codes, weights, cuts = self._encode(table, sample_weight)
        tally = change(self.tally or Tally(), learn.count(codes, self.nodes, self._parents, weights))
        learn.check(tally)
        self._set_tally(tally, self.prior or Laplace(), cuts, whole=False)
        return self

    def merge(self, other: Self) -> Self:
        """Add the rows that another network of the same arcs has learned."""
        if not isinstance(other, Network):
            raise KindError(f"a network can be merged with another, not with {type(other).__name__}")
        self._refuse_to_learn("merge")
        other._refuse_to_learn("merge")
        assert self.tally is not None
        assert other.tally is not None
        if self.parents != other.parents:
            odd = sorted(set(self.arcs) ^ set(other.arcs))
            what = "their nodes differ" if set(self.nodes) != set(other.nodes) else "the order of parents differs"
            what = f"{odd[0][0]} → {odd[0][1]} is in one of them only" if odd else what
            raise MergeError(f"networks merge where their structure is the same: {what}")
        for node in self.nodes:
            if self.cuts.get(node) != other.cuts.get(node):
                raise MergeError(
                    f"networks merge where numbers are cut alike, and {node!r} is not; learn both from one network "
                    "with its cuts: fit a copy of it to each table"
                )
        for node, own in self._declared.items():
            strange = [state for state in other.states.get(node, []) if state not in own]
            if strange:
                raise MergeError(
                    f"the other network has a state {strange[0]!r} of {node!r}, which is none of the states that are "
                    "declared here"
                )
        self._set_tally(self.tally + other.tally, self.prior or Laplace(), self.cuts)
        return self

    def __add__(self, other: Self) -> Self:
        return copy(self).merge(other)

    def _encode(
        self, table: Any, sample_weight: Any, hidden: bool = False, columns: Mapping[str, str] | None = None
    ) -> tuple[Codes, Floats | None, dict[str, Cuts]]:
        """The rows for learning: codes, weights, and the cut points of numbers."""
        about = self.cuts, self._declared, self._categories
        return encode_rows(self.nodes, table, sample_weight, *about, hidden=hidden, columns=columns)

    def _refuse_to_learn(self, what: str = "") -> None:
        """Raise where something is known, or where there are no counts that could be changed."""
        if self._likelihoods or self._set:
            raise RefusedError(
                f"this is a network in which something is known ({self.evidence}), and it does not learn; let the "
                "network itself learn, and observe or intervene again"
            )
        if what and self.tally is None:
            raise RefusedError(
                f"there are no counts to {what}: the tables were given, or learned by EM; learn them with fit(table) "
                "first"
            )

    def _set_tally(self, tally: Tally, prior: Prior, cuts: Mapping[str, Cuts], *, whole: bool = True) -> None:
        """Take these counts, and the tables that follow from them.

        If they are not the whole, a node may have no value yet, or no more; then there are no tables till it has one.
        """
        declared: dict[str, Labels] = {node: labels_of(own) for node, own in self._declared.items()}
        declared.update({node: np.arange(len(each.points) + 1) for node, each in cuts.items()})
        labels = learn.labels_known(tally, self.nodes, self._parents, declared, prior)
        labels = [
            objects(list(self._declared[node])) if node in self._declared else own
            for node, own in zip(self.nodes, labels)
        ]
        empty = [node for node, own in zip(self.nodes, labels) if not len(own)]
        if empty and whole:
            raise InputError(
                f"node {empty[0]!r} has no value in any row, so it has no states; drop it, or declare them"
            )
        if empty:
            self.cuts, self._tables, self._states = dict(cuts), None, None
        else:
            counts = learn.counts_over(tally, self.nodes, self._parents, labels)
            self._set_tables(learn.tables_of(self.nodes, counts, labels, prior)[0], labels, cuts)
        self.tally, self.prior, self.expectation = tally, prior, None

    def _set_tables(self, tables: Sequence[Floats], labels: Sequence[Labels], cuts: Mapping[str, Cuts]) -> None:
        self.cuts = dict(cuts)
        self._states = tuple(
            cuts[node].names
            if node in cuts  # whole numbers that came as doubles are whole again
            else tuple(int(v) if isinstance(v, float) and v.is_integer() else v for v in own.tolist())
            for node, own in zip(self.nodes, labels)
        )
        self._categories = frozenset(node for node in self.nodes if node not in cuts)
        self._tables = tuple(_freeze(table) for table in tables)

    # Questions: what follows from what is known, and what would follow from what is done.

    def posterior(self, node: str | Sequence[str], evidence: Evidence = None) -> dict[Any, float]:
        """P(node | evidence): state to probability; of several nodes together, a tuple of states to probability.

        Parameters
        ----------
        node : str, or list of them
            What is asked.
        evidence : mapping, optional
            Node to what is known of it: a state; a list of states (one of these); a mapping from state to likelihood
            (soft evidence), or to 0 only (not these). Of numbers in intervals, a number.
        """
        states = self._known_states()
        if isinstance(node, str):
            place = known.place_of(self.nodes, node)
            return dict(zip(states[place], self._ask(inference.posteriors, evidence, [place])[0][0].tolist()))
        if not isinstance(node, list | tuple):
            raise KindError(f"ask for a node by its name, or for a list of them, got {type(node).__name__} {node!r}")
        places = [known.place_of(self.nodes, each) for each in node]
        if not places or len(set(places)) != len(places):
            raise NetworkError(f"ask for one node or several different ones, got {list(node)!r}")
        together = self._ask(inference.joint, evidence, places)
        return {
            tuple(states[place][i] for place, i in zip(places, cell)): float(together[cell])
            for cell in np.ndindex(together.shape)
        }

    def posteriors(self, evidence: Evidence = None) -> dict[str, dict[Any, float]]:
        """The posterior of every node."""
        found = self._ask(inference.posteriors, evidence)[0]
        return {node: dict(zip(own, p.tolist())) for node, own, p in zip(self.nodes, self._known_states(), found)}

    def probability(self, evidence: Evidence = None) -> float:
        """P(evidence); with soft evidence, the mean of its likelihoods."""
        return float(portable.exp(self.log_probability(evidence)))

    def log_probability(self, evidence: Evidence = None) -> float:
        """log P(evidence), which may be -inf."""
        return float(self._ask(inference.log_probability, evidence))

    def most_probable(self, evidence: Evidence = None) -> MostProbable:
        """The most probable states of all nodes together, and their probability given the evidence."""
        places, log_joint = self._ask(inference.most_probable, evidence)
        log = log_joint - self.log_probability(evidence)
        found = {node: own[i] for node, own, i in zip(self.nodes, self._known_states(), places)}
        return MostProbable(found, float(portable.exp(log)), float(log))

    def sample(self, n: int = 1, evidence: Evidence = None, random_state: Any = None) -> Any:
        """Draw rows given the evidence, exactly: an Arrow table with a column for each node."""
        import pyarrow as pa

        check_whole("n", n, 0)
        drawn = self._ask(inference.sample, evidence, int(n), np.random.default_rng(random_state))
        columns = {}
        for j, (node, own) in enumerate(zip(self.nodes, self._known_states())):
            try:
                values = pa.array(list(own))
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                values = pa.array([str(state) for state in own])
            columns[node] = values.take(pa.array(drawn[:, j]))
        return pa.table(columns)

    def _evidence(self, evidence: Evidence) -> dict[int, Floats]:
        result = dict(self._likelihoods)
        for place, found in known.likelihoods(self.nodes, self._known_states(), evidence, self.cuts).items():
            node = self.nodes[place]
            if place in self._set and not (self._known_tables()[place] * found).any():
                raise ImpossibleEvidenceError(f"{node!r} was set, and is nothing else; leave it out of the evidence")
            result[place] = result.get(place, 1.0) * found
            if not result[place].any():
                raise ImpossibleEvidenceError(
                    f"the evidence on {node!r} contradicts what was observed of it before; observe one of the two"
                )
        return result

    def _ask(self, question: Callable[..., Any], evidence: Evidence, *options: Any) -> Any:
        """What inference answers; impossible evidence is reported by the names of nodes and states."""
        tables, likelihoods = self._known_tables(), self._evidence(evidence)
        try:
            return question(self._parents, tables, likelihoods, *options)
        except ImpossibleEvidenceError:
            shown = known.describe(self.nodes, self._known_states(), likelihoods)
            raise ImpossibleEvidenceError(
                f"the evidence has probability 0: {shown}; the tables rule it out, so change it, or learn the tables "
                "with a prior that leaves nothing impossible, such as Laplace()"
            ) from None

    def observe(self, evidence: Mapping[str, Any] | None = None, /, **nodes: Any) -> Self:
        """The network in which this is known; every question to it takes it into account."""
        result = copy(self)
        result._likelihoods = self._evidence({**(evidence or {}), **nodes})
        return result

    def intervene(self, values: Mapping[str, Any] | None = None, /, **nodes: Any) -> Self:
        """The network in which nodes are *set*, whatever would have made them so: do(node = state).

        Arcs into such a node are cut, so that it tells nothing of its causes, and its effects follow. A mapping from
        every state to its probability sets it at random.
        """
        chosen = {}
        for node, given in {**(values or {}), **nodes}.items():
            place = known.place_of(self.nodes, node)
            chosen[place] = known.probabilities(node, self._known_states()[place], given, self.cuts.get(node))
        parents, tables = list(self._parents), list(self._known_tables())
        for place, shares in chosen.items():
            if place in self._likelihoods:
                raise NetworkError(
                    f"{self.nodes[place]!r} was observed, and cannot be set as well; intervene before observing others"
                )
            parents[place] = ()
            tables[place] = _freeze(shares)
        result = copy(self)
        result._parents, result._tables = tuple(parents), tuple(tables)
        result._set = self._set | frozenset(chosen)
        result.tally = None
        return result

    def strengths(self) -> dict[tuple[str, str], float]:
        """Of each arc the bits that parent and child tell of one another, given the child's other parents."""
        found = inference.arc_strengths(self._parents, self._known_tables())
        return {(self.nodes[up], self.nodes[down]): bits for (up, down), bits in found.items()}

    # Rows.

    def predict_proba(self, table: Any, node: str) -> Floats:
        """P(node | the other columns) for each row: rows × states. Missing and unseen values are summed out."""
        place = known.place_of(self.nodes, node)
        joint = inference.log_joint(self._flat(), self._matrix(table, place), place)
        impossible = densities.posterior(joint)
        if len(impossible):
            raise NetworkError(
                f"row {int(impossible[0])} is impossible under the tables, whatever {node!r} is; learn them with a "
                "prior that leaves nothing impossible, such as Laplace()"
            )
        return joint

    def predict(self, table: Any, node: str) -> NDArray[Any]:
        """The most probable state of the node, for each row."""
        best = self.predict_proba(table, node).argmax(axis=1)
        return np.asarray(objects(list(self._known_states()[known.place_of(self.nodes, node)]))[best])

    def log_likelihood(self, table: Any) -> Floats:
        """log P(row) of each row; missing values are summed out."""
        codes = self._matrix(table)
        joint = inference.log_joint(self._flat(), codes, 0)
        first = codes[:, 0]
        return np.where(first >= 0, joint[np.arange(len(codes)), first], portable.log_total(joint, 1))

    def score(self, table: Any, score: str = "bic", ess: float = 1.0) -> float:
        """How well the structure suits the rows: "bic", "bdeu", "k2", "aic" (higher is better) or "log-likelihood"."""
        check_score(score, ess)
        codes, weights, _ = self._encode(table, None)
        return Scorer(sample_of(codes, weights), score, ess=ess).total(self._parents)

    def _matrix(self, table: Any, without: int = -1) -> NDArray[np.int32]:
        return encode_known(self.nodes, self._known_states(), table, self.cuts, without)

    def _flat(self) -> Flat:
        if self._likelihoods:
            raise NetworkError("rows are asked of the network itself; ask it before observe(…), or put it in the table")
        return Flat.of(self._parents, self._known_tables())

    # Seeing it.

    def draw(
        self,
        path: str | os.PathLike[str] | None = None,
        evidence: Evidence = None,
        *,
        beliefs: bool = True,
        tables: bool = False,
        strengths: bool = True,
        title: str | None = None,
        language: str = "en",
    ) -> Picture:
        """Draw it as SVG: boxes with belief bars, or tables, in layers; arcs as thick as they are strong.

        Parameters
        ----------
        path : path, optional
            Where to write it: .svg, .html, .png or .pdf.
        evidence : mapping, optional
            Beliefs are given this; as in `posterior`. A stroke on each bar marks what was believed before.
        beliefs, strengths : bool
            Whether to draw the bars, and the strengths.
        tables : bool
            Whether each box has its table in place of the bars: the parents' states at the left, a column for each
            state; with evidence, the beliefs before and after stand below it.
        title : str, optional
            What to write above it.
        language : {"en", "it", "es"}
            Of the legend.

        Returns a `Picture`, SVG that a notebook shows; `str` of it is its text.
        """
        from ingenuo.networks.drawing import picture
        from ingenuo.show.svg import check_ending

        if path is not None:
            check_ending(path)
        there = self._tables is not None or tables
        known = self._evidence(evidence) if there else {}
        before = inference.posteriors(self._parents, self._known_tables(), {})[0] if known and beliefs else None
        with speaking(language):
            drawn = picture(
                self.nodes,
                self._known_states() if there else [()] * len(self.nodes),
                self._parents,
                beliefs=self._ask(inference.posteriors, evidence)[0] if there and beliefs else None,
                before=before,
                tables=self._known_tables() if tables else None,
                strengths=inference.arc_strengths(self._parents, self._known_tables()) if there and strengths else None,
                marks=dict.fromkeys(known, "observed") | dict.fromkeys(self._set, "set"),
                target=None if self.target is None else self.nodes.index(self.target),
                title=title,
            )
        if path is not None:
            drawn.write(path, title or self.name)
        return drawn

    def _blocks(self) -> list[str | Block]:
        """How much of it there is, a row for each node, and what is known."""
        from ingenuo.show.svg import clean

        rows = []
        for node, own, table in zip(self.nodes[:NODES], self._definition().states, self._tables or repeat(None)):
            shown = ", ".join(map(str, own[:6])) + (f", … {len(own) - 6} more" if len(own) > 6 else "")
            cells = "" if table is None else f"{table.size:,}"
            rows.append([clean(cell) for cell in (node, shown, ", ".join(self.parents[node]), cells)])
        size = ", no tables yet"
        if self._tables is not None:
            free = sum(table.size - table.size // table.shape[-1] for table in self._tables)
            total = sum(table.size for table in self._tables)
            size = f", {total:,} cells ({free:,} free parameter{'' if free == 1 else 's'})"
        evidence = self.evidence if self._tables is not None else ""
        return [
            f"{self._summarise()}{size}",
            PrintedTable(["node", "states", "parents", "cells"], rows),
            *([f"… and {len(self.nodes) - NODES:,} more"] if len(self.nodes) > NODES else []),
            *([f"given: {evidence}"] if evidence else []),
        ]

    def body_html(self) -> str:
        """The picture, and a row for each node."""
        bars = len(self.nodes) <= BARS
        try:
            drawn = self.draw(beliefs=bars, strengths=bars)
        except InputError:  # too wide to ask
            drawn = self.draw(beliefs=False, strengths=False)
        return f"{drawn.html()}{super().body_html()}"

    def to_dict(self) -> dict[str, Any]:
        """The network as plain data: of each node its states, parents and table, as a YAML file has them."""
        from ingenuo.networks.files import document

        return document(self._definition())

    def __repr__(self) -> str:
        return f"<Network {self._summarise()}>"

    def _summarise(self) -> str:
        """Its name, and how much of it there is."""
        nodes, arcs = len(self.nodes), len(self.arcs)
        return f"{self.name}: {nodes} node{'' if nodes == 1 else 's'}, {arcs} arc{'' if arcs == 1 else 's'}"


def _check_prior(prior: Prior, missing: str) -> None:
    if not isinstance(prior, Prior):
        raise KindError(f"prior must be a Prior such as Laplace(), got {type(prior).__name__} {prior!r}")
    check_choice("missing", missing, MISSING)


def _freeze(table: Floats) -> Floats:
    """A copy that nobody can change."""
    table = np.array(table, np.float64)
    table.flags.writeable = False
    return table
