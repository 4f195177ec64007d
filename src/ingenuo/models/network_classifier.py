"""A Bayesian network as a classifier: the product of its tables' entries, normalised over the classes.

    P(y | x)  ∝  Π over nodes v of P(v | parents of v)

The structure is learned once, or given; the tables are a tally. What is missing in a row is summed out.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, MergeError, NetworkError, RefusedError, check_choice, did_you_mean
from ingenuo.families.categorical import column_codes
from ingenuo.families.discretise import Cuts, mdl_cuts, tenths
from ingenuo.kernels.codes import Flat
from ingenuo.language import say
from ingenuo.models.classifier import Classifier, Parameters, warn_of_ignored
from ingenuo.models.log_linear import fit_weights
from ingenuo.models.model import CLASS, NO_LABELS, Plan, check_is_fitted
from ingenuo.networks import averaged, back_off, graph, inference, learn
from ingenuo.networks.averaged import Averaged
from ingenuo.networks.back_off import BACK_OFF, LEVELS, LevelWeights
from ingenuo.networks.columns import COLUMN_SUMS, FEW, Labelled, encode_columns, no_column, plan_columns, used_columns
from ingenuo.networks.evidence import place_of
from ingenuo.networks.graph import Parents
from ingenuo.networks.learn import ROWS, Tables
from ingenuo.networks.network import Network
from ingenuo.networks.search import RESTARTS, TABU, Search, Step
from ingenuo.networks.sheet import describe_node, describe_picture
from ingenuo.networks.structure import AODE, GIVEN, SEARCHED, STRUCTURES, Options, search, search_tree
from ingenuo.networks.trees import PairCounts, count_pairs, naive
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Chunk, Codes
from ingenuo.rows.rows import OURS, MemoryRows, Part, Rows, draw
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import Source, match, open_source
from ingenuo.show.arithmetic import Factor, logs
from ingenuo.tally.labels import Labels, find, labels_of, objects, recognise, unite
from ingenuo.tally.prior import Lidstone, MaximumLikelihood, Prior, prior_of
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]

FAMILY = "categorical"  # what every column is to a network
_SEARCH = ("ess", "k", "order", "root", "max_parents", "tabu", "restarts", "required", "forbidden")
_CELLS, _ROWS = 1 << 22, 1000  # of the logs that give levels their weights; and of their rows at least
_REMEDY = "learn both with the structure of one: structure=model.network_"


@dataclass(frozen=True)
class Structure:
    """The nodes, the class first, the arcs between them, and where numbers are cut."""

    nodes: tuple[str, ...]
    parents: Parents
    cuts: Mapping[Any, Cuts]  # by column
    search: Search | None = None
    levels: LevelWeights | None = None  # of tables that back off

    @property
    def arcs(self) -> set[tuple[str, str]]:
        """(parent, child) for every arc."""
        return {(self.nodes[up], self.nodes[down]) for down, above in enumerate(self.parents) for up in above}

    def refuse_other(self, theirs: Structure) -> None:
        """Raise where the tables of another structure do not add to those of this one."""
        if self.nodes != theirs.nodes or self.parents != theirs.parents:
            odd = sorted(self.arcs ^ theirs.arcs)
            what = f"{odd[0][0]} → {odd[0][1]} is in one of them only" if odd else "their columns differ"
            raise MergeError(f"networks merge where their structure is the same: {what}; {_REMEDY}")
        for name, each in self.cuts.items():
            if theirs.cuts.get(name) != each:
                raise MergeError(
                    f"networks merge where numbers are cut alike, and column {column_name(name)!r} is not; {_REMEDY}"
                )

    def to_plain(self) -> dict[str, Any]:
        """The structure as plain values, for a file."""
        found = self.search
        steps = [] if found is None else [[s.change, list(s.arc or ()), s.gain, s.score] for s in found.path]
        return {
            "nodes": list(self.nodes),
            "parents": [list(above) for above in self.parents],
            "cuts": {name: list(each.points) for name, each in self.cuts.items()},
            "search": None if found is None else [found.measure, found.score, steps],
            **({} if self.levels is None else {"levels": self.levels.to_plain()}),
        }

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> Structure:
        """What `to_plain` gave; raises for what is no structure."""
        nodes, parents = tuple(map(str, plain["nodes"])), tuple(tuple(map(int, each)) for each in plain["parents"])
        graph.check(nodes, parents)
        cuts = {name: Cuts(tuple(map(float, points))) for name, points in plain["cuts"].items()}
        levels = LevelWeights.from_plain(nodes, parents, plain["levels"]) if "levels" in plain else None
        if plain["search"] is None:
            return Structure(nodes, parents, cuts, None, levels)
        measure, score, steps, *_ = plain["search"]
        path = tuple(
            Step(change, (str(arc[0]), str(arc[1])) if arc else None, float(gain), float(total))
            for change, arc, gain, total in steps
        )
        found = Search(parents, float(score), str(measure), path)
        return Structure(nodes, parents, cuts, found, levels)


def put_class_first(block: Codes, labels: NDArray[np.int32], classes: Labels) -> Codes:
    """The columns with the class before them."""
    assert block.labels is not None
    columns = [labels, *(column_codes(block, j) for j in range(len(block.labels)))]
    return Codes(objects(["", *block.names.tolist()]), block.n_rows, columns, [classes, *block.labels])


def declare_by(network: Network, declared: dict[Any, Any], names: list[Any]) -> dict[Any, Any]:
    """What the columns are, as declared and as a given network has them: those that are no node are ignored."""
    nodes, columns = set(network.nodes), [column_name(name) for name in names]
    if not nodes.intersection(columns):
        raise no_column(columns, network.nodes)
    found = dict(declared)
    for name, called in zip(names, columns):
        if called not in nodes and found.setdefault(name, "ignore") != "ignore":
            raise InputError(f"columns declares {called!r}, which is no node of the network; leave it out")
        if called in network.cuts:
            found.setdefault(name, "number")
    return found


def find_class(network: Network, columns: list[str], target: str | None) -> str:
    """The node of a given network that is the class; the others must be columns."""
    absent = [node for node in network.nodes if node not in columns]
    name = target if target in network.nodes else network.target if network.target in absent else None
    if name is None:
        if len(absent) != 1:
            what = f"the nodes {', '.join(map(repr, absent))} are no columns" if absent else "every node is a column"
            raise NetworkError(
                f"one node of the network must be the class, and {what}; name it: fit(table, 'column'), or leave it "
                "out of X"
            )
        name = absent[0]
    others = [node for node in absent if node != name]
    if others:
        raise NetworkError(
            f"the table has no column for node {others[0]!r}{did_you_mean(others[0], columns)}; a NetworkClassifier "
            "learns from rows that have all the nodes, so add it, or take it from the network"
        )
    return name


@dataclass(eq=False, repr=False)
class NetworkClassifier(Classifier):
    """A classifier whose attributes may depend on one another as well as on the class.

    The first rows give the structure and the cut points, which then stay: `partial_fit` adds to the tables.

    Parameters
    ----------
    structure : {"tan", "naive", "kdb", "aode", "hill-climb", "k2", "chow-liu"} or Network
        Which arcs there are. "tan": the class is the parent of all, and the attributes form the tree that tells most;
        "naive": the class alone; "kdb": up to k attributes more as parents; "aode": every attribute in turn is the
        parent of the others, averaged; "hill-climb", "k2" and "chow-liu": whatever network suits the rows; or the
        structure of a `Network`.
    prior : Prior
        Imaginary rows in each row of a table.
    columns : mapping, optional
        Column to "category", "number", "ignore", or a list of its states. Numbers are cut into intervals where that
        tells the classes apart; whole numbers of ten values at most are categories.
    criterion : {"bic", "bdeu", "k2", "aic"}, optional
        What "hill-climb" ("bic" by default) and "k2" ("k2") climb; `ess` is the equivalent sample size of "bdeu".
    k : int
        Of "kdb", the most parents in addition to the class.
    order, root
        Of "k2" the order in which parents come before children; of trees the root.
    max_parents, tabu, restarts, required, forbidden, random_state
        Limits of the search: see `Network.learn`.
    frequency : int
        Of "aode", how often a value must have been seen to be a parent.
    smoothing : {None, "back-off"}
        "back-off", of "naive", "tan", "kdb" and given networks in which the class is a parent of all: the shares of
        values given all parents lean on those given fewer, p = (n + m·p given fewer)/(N + m), with m by leave-one-out.
        Numbers are cut into ten parts of as many rows each, and what is missing is a value of its own. A parent that
        would make a table of more than 262,144 cells is passed over. The `prior` is then that of the classes alone.
    weighting : {None, "levels"}
        "levels", of back-off: a weight for each column and level, and a shift for each class, found by the first rows
        and kept (`level_weights_`).
    verbose : bool, optional
        Whether progress is shown; by default in a terminal, once it takes long.

    Examples
    --------
    >>> from ingenuo.datasets import diabetes
    >>> model = NetworkClassifier("tan").fit(diabetes(), "progression")
    >>> model.network_.parents["s2"], model.network_.states["s2"]
    (('progression', 's4'), ['≤ 126.5', '> 126.5'])
    >>> model = NetworkClassifier("kdb", smoothing="back-off", weighting="levels").fit(diabetes(), "progression")
    >>> {given: round(weight, 2) for given, weight in model.level_weights_["bmi"].items()}
    {'progression': 0.29, 'progression, s5': 0.28}
    """

    _fixed = ("structure", "columns", "criterion", "smoothing", "weighting", *_SEARCH)
    _free = ("prior", "frequency")

    structure: str | Network = "tan"
    prior: Prior | str | float = Lidstone(0.5)  # noqa: RUF009 (immutable)
    columns: Mapping[Any, Any] | None = None
    criterion: str | None = None
    ess: float = 1.0
    k: int = 2
    order: Sequence[str] | None = None
    root: str | None = None
    max_parents: int | None = None
    tabu: int = TABU
    restarts: int = RESTARTS
    required: Sequence[tuple[str, str]] = ()
    forbidden: Sequence[tuple[str, str]] = ()
    frequency: int = 1
    smoothing: str | None = None
    weighting: str | None = None
    random_state: Any = 0
    verbose: bool | None = None

    # What it is.

    @property
    def _is_additive(self) -> bool:
        return False  # the structure and the cut points were chosen by the rows

    def _options(self) -> Options:
        limits = {name: getattr(self, name) for name in _SEARCH}
        limits |= {"required": tuple(self.required), "forbidden": tuple(self.forbidden)}
        structure = GIVEN if isinstance(self.structure, Network) else self.structure
        return Options(structure, self.criterion, **limits, random_state=self.random_state, verbose=self.verbose)

    def _check_settings(self) -> None:
        super()._check_settings()
        prior_of(self.prior)
        if not isinstance(self.structure, str | Network):
            known = ", ".join(repr(name) for name in (*STRUCTURES, AODE))
            raise KindError(f"structure must be one of {known}, or a Network, got {self.structure!r}")
        self._options().check()
        if self.columns is not None and not isinstance(self.columns, Mapping):
            raise KindError(f"columns must be a mapping from column to kind, got {type(self.columns).__name__}")
        checks.check_number("frequency", self.frequency)
        if self.frequency != 1 and not self._averages:
            raise InputError(f"frequency={self.frequency!r} is for structure='aode' only, and has no meaning here")
        for name, known in (("smoothing", BACK_OFF), ("weighting", LEVELS)):
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), [known])
        if self.weighting and not self.smoothing:
            raise InputError("weighting='levels' weighs the levels of smoothing='back-off'; ask for that too")
        if self.smoothing and self.structure in (AODE, *SEARCHED, "chow-liu"):
            raise InputError(
                f"smoothing='back-off' is for networks in which the class is a parent of all, and "
                f"structure={self.structure!r} makes others; take 'kdb', 'tan' or 'naive'"
            )

    def _fixed_settings(self) -> Any:
        given = super()._fixed_settings()
        return tuple((each.nodes, each.arcs) if isinstance(each, Network) else each for each in given)

    @property
    def cuts_(self) -> dict[Any, Cuts]:
        """The cut points of each column of numbers."""
        check_is_fitted(self)
        return dict(self._found.cuts)

    @property
    def search_(self) -> Search | None:
        """How the structure was found; None where it was given, or there is nothing to find."""
        check_is_fitted(self)
        return self._found.search

    @property
    def network_(self) -> Network:
        """The network with its tables, to be asked and drawn; not of "aode". With back-off they are the smoothed shares
        given all parents, and what is missing is no state.
        """
        check_is_fitted(self)
        if self._averages:
            raise RefusedError("AODE is an average of networks, and no single one; take another structure to see one")
        found, tables = self._found, self._tables()
        cuts = {column_name(name): each for name, each in found.cuts.items()}
        network = Network(found.nodes, found.parents, cuts=cuts, target=found.nodes[0], search=found.search)
        network._set_tables(tables.tables, tables.states, network.cuts)
        if not self.smoothing:
            network.tally = Tally({name: table for name, table in self.tally_.items() if name != CLASS})
            network.prior = prior_of(self.prior)
        return network

    @property
    def level_weights_(self) -> LevelWeights:
        """Of weighting="levels", how much each level of each column counts, by what it is given."""
        check_is_fitted(self)
        if self._found.levels is None:
            raise RefusedError("this network weighs no levels; ask for smoothing='back-off', weighting='levels'")
        return self._found.levels

    @property
    def n_parameters_(self) -> int:
        """How many numbers were estimated: of each node the share of each state but one, given those of its parents; of
        AODE, those of every network that is averaged.
        """
        check_is_fitted(self)
        return int(self._tables().n_parameters)

    @property
    def _averages(self) -> bool:
        return bool(self.structure == AODE)

    @classmethod
    def from_network(cls, network: Network, target: str | None = None) -> Self:
        """The classifier that a network with tables is, an expert's or one that was learned; nothing is fitted.

        Parameters
        ----------
        network : Network
            Its counts and its prior are taken over, where it has learned; a table that was given counts as one row for
            each configuration of the parents, to which `partial_fit` adds.
        target : str, optional
            The node that is the class; by default the network's own target.

        Examples
        --------
        >>> wet = {"rain": {"wet": 0.9, "dry": 0.1}, "sun": {"wet": 0.05, "dry": 0.95}}
        >>> garden = Network.from_arcs([("sky", "grass")], tables={"sky": {"rain": 0.2, "sun": 0.8}, "grass": wet})
        >>> print(NetworkClassifier.from_network(garden, "sky").explain({"grass": "wet"}))
                          rain              sun
        ───────────────────────────────────────────────────
        prior                   = 0.2            = 0.8
        grass        wet        = 0.9            = 0.05
        ───────────────────────────────────────────────────
        product                 = 0.18           = 0.04
        their sum    P(x) = 0.22
        ÷ their sum             = 0.818182       = 0.181818
        → rain, with probability 0.818182
        """
        name = network.target if target is None else target
        if name is None:
            raise NetworkError(f"which node is the class? say target={network.nodes[0]!r}, or another")
        place_of(network.nodes, name)
        if network.evidence:
            raise NetworkError(f"a classifier is made of a network in which nothing is known ({network.evidence})")
        if name in network.cuts:
            raise NetworkError(f"the states of {name!r} are intervals of numbers, and no classes; take another node")
        nodes = (name, *(node for node in network.nodes if node != name))
        parents = tuple(tuple(map(nodes.index, network.parents[node])) for node in nodes)
        states = network.states | {node: list(range(len(each.points) + 1)) for node, each in network.cuts.items()}
        tally, prior = network.tally, network.prior
        if tally is None or prior is None:
            tables = {ROWS: Table.of({"all": [0]}, [float(max(table.size for table in network.tables.values()))])}
            for node, table in network.tables.items():
                axes = {f"{each}:": states[each] for each in (*network.parents[node], node)}
                tables[learn.table_name(node)] = Table.of(axes, table)
            tally, prior = Tally(tables), MaximumLikelihood()
            rows = Table.of({"class": states[name]}, list(network.posterior(name).values()))
        else:
            seen = tally[learn.states_name(name) if network.parents[name] else learn.table_name(name)]
            rows = Table.of({"class": seen.axes[0]}, seen.sums)
        known = {node: own for node, own in states.items() if node != name and node not in network.cuts}
        model = cls(network, prior=prior)
        model._found = Structure(nodes, parents, network.cuts, network.search)
        model._target, model._declared_classes = name, labels_of(states[name])
        model._set_tally(Schema.of(dict.fromkeys(nodes[1:], "category"), known), tally + Tally({CLASS: rows}))
        return model

    # Learning.

    def _learn_first(self, rows: Rows, *, whole: bool = False) -> None:
        if self.structure in SEARCHED:
            rows = rows.in_memory(
                "take 'tan' or 'kdb', or learn the structure from a sample and give what it finds: "
                "structure=model.network_"
            )
        super()._learn_first(rows, whole=whole)
        if self.weighting:
            self.__dict__["_found"] = replace(self._found, levels=self._weigh_levels(rows))
            self._set_tally(self.schema_, self.tally_)  # what was estimated without weights is dropped

    def _weigh_levels(self, rows: Rows) -> LevelWeights:
        """The weights of the levels and the shifts of the classes, by what the rows say that were left out."""
        parameters = self._tables()
        nodes, parents, classes = self._found.nodes, self._found.parents, parameters.labels[0]
        n_features, total = sum(map(len, parents)), float(parameters.rows.sum())
        most = max(_CELLS // (n_features * len(classes)), _ROWS)
        some = rows if isinstance(rows, MemoryRows) else rows.sample(most, most, 0)[0]
        codes, labels, weights = self._coded_rows(Part(some.X, some.y, some.weights), most)
        left, base = parameters.left_out(codes, labels, np.minimum(weights, 1.0))
        towards = np.concatenate([np.full(len(above), 1 / len(above)) for above in parents[1:]]) / np.sqrt(
            len(nodes) - 1
        )
        ridge = 10.0 if total > 1000 else 30.0
        found, shifts = fit_weights(left, labels, base, ridge, towards, weights)
        ends = np.cumsum([len(above) for above in parents[1:]])[:-1]
        of_columns = tuple(tuple(each.tolist()) for each in np.split(found, ends))
        return LevelWeights(nodes, parents, of_columns, classes, shifts)

    def _coded_rows(self, part: Part, most: int) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
        """Rows that count as codes of what is known, their classes and weights; of more than the most, some."""
        source, labels, classes, weights = self._open_part(part)
        weights = np.ones(source.n_rows) if weights is None else weights
        kept = np.flatnonzero(weights)
        if len(kept) > most:
            kept = kept[draw(np.random.default_rng(OURS).random(len(kept)), most)]
        labels = find(self._tables().labels[0], classes).astype(np.int32)[labels]
        return self._matrix(self._codes(source))[kept], labels[kept], weights[kept]

    def _plan(self, rows: Rows, *, whole: bool = False) -> Plan:
        """What the columns are, where numbers are cut and which arcs there are, each from sums over the rows."""
        source = rows.columns(self, whole=True)
        given = self.structure if isinstance(self.structure, Network) else None
        names, declared = source.names.tolist(), dict(self.columns or {})
        cuts = {} if given is None else given.cuts
        columns = plan_columns(
            source,
            declared if given is None else declare_by(given, declared, names),
            lambda sums, **options: rows.reduce(column_sums, sums=sums.__name__, **options),
            {name: cuts[column_name(name)] for name in names if column_name(name) in cuts},
            tenths if self.smoothing else mdl_cuts,
            at_once=open_labelled(self, Part(rows.X, rows.y, rows.weights)) if isinstance(rows, MemoryRows) else None,
            few=0 if self.smoothing else FEW,
        )
        if not self.smoothing:
            columns.refuse_empty()
        columns.warn_of_names()
        warn_of_ignored(columns.schema)
        nodes = self._name_nodes([column_name(name) for name in used_columns(columns.schema)], rows.target)
        labels = [columns.classes, *columns.states.values()]
        if self.smoothing:
            labels[1:] = [labels_of([*own.tolist(), None]) for own in labels[1:]]
        sizes = [len(each) for each in labels]
        empty = copy.copy(self)
        empty._found = Structure(nodes, tuple(() for _ in nodes), columns.cuts)
        empty = empty._make_empty(columns.schema)
        found: Search | None = None
        parents, path = empty._found.parents, []
        if given is not None:
            parents = tuple(tuple(nodes.index(up) for up in given.parents[node]) for node in nodes)
        elif self.structure == "naive":
            parents = naive(len(nodes)).parents
        elif self._averages:
            averaged.refuse_large(sizes[1:], sizes[0])
        elif isinstance(rows, MemoryRows) and self.structure in SEARCHED:
            opened, codes, classes, weights = empty._open_part(Part(rows.X, rows.y, rows.weights))
            block = put_class_first(empty._codes(opened), codes, classes)
            found = search(block, nodes, self._options(), 0, weights)
        else:
            if self.smoothing:  # columns of very many values share too few rows, and have no part in it
                labels[1:] = [own if sizes[0] * len(own) ** 2 <= back_off.CELLS else own[:1] for own in labels[1:]]
            cards = [len(own) for own in labels]
            counts = PairCounts(nodes, cards, lambda jobs: rows.reduce(pairs, empty, labels=labels, jobs=jobs))
            # Where tables back off, a parent that tells little by itself does no harm, and may tell more with another.
            found = search_tree(counts, self._options(), least=-np.inf if self.smoothing else 0.0)
        if found is not None:
            parents, path = found.parents, [step.arc for step in found.path]
            found = found.rename(nodes)
        if self.smoothing:
            parents = back_off.order_parents(nodes, parents, path, sizes)
        for node, above in enumerate(parents):
            learn.refuse_large(nodes, node, above, sizes)
        return Plan(columns.schema, {"_found": Structure(nodes, parents, columns.cuts, found)})

    def _check_whole(self, schema: Schema, classes: Labels, tally: Tally) -> None:
        """The plan has refused what cannot be all the rows of a model."""
        checks.warn_of_numbers(classes, tally.over(CLASS, classes).floats())

    def _known_columns(self) -> Collection[Any]:
        return set(super()._known_columns()).difference(self.cuts_)  # numbers are cut as they are

    def _declared_columns(self) -> Collection[Any]:
        return [name for name, kind in (self.columns or {}).items() if not (isinstance(kind, str) and kind == "number")]

    def _tally_of(self, part: Part) -> Tally:
        source, labels, classes, weights = self._open_part(part)
        block, found = self._codes(source), self._found
        total = Chunk(block.n_rows, {}, labels, classes, weights).count_classes()
        if self._averages:
            named = Codes(objects(list(found.nodes[1:])), block.n_rows, block.columns, block.labels)
            return total + averaged.count(named, labels, classes, weights)
        return total + learn.count(put_class_first(block, labels, classes), found.nodes, found.parents, weights)

    def _check_tally(self, schema: Schema, tally: Tally) -> None:
        learn.check(tally)

    def _check_other(self, other: Self) -> None:
        self._found.refuse_other(other._found)

    def _name_nodes(self, columns: list[str], target: str | None) -> tuple[str, ...]:
        """What the nodes are called, the class first."""
        if isinstance(self.structure, Network):
            return find_class(self.structure, columns, target), *columns
        name = target if target is not None else "class"
        while name in columns:
            name += "_"
        return name, *columns

    # Answering.

    def _codes(self, source: Source) -> Codes:
        block = encode_columns(source, self.schema_, self._found.cuts, match(self.schema_, source))
        return back_off.with_missing(block) if self.smoothing else block

    def _blocks(self, source: Source, schema: Schema) -> dict[str, Block]:
        return {FAMILY: self._codes(source)}

    def _estimate(self) -> Parameters:
        classes, found = labels_of(self.classes_), self._found
        declared = {column_name(name): labels for name, labels in self.schema_.categories.items()}
        declared |= {column_name(name): np.arange(len(each.points) + 1) for name, each in found.cuts.items()}
        if self._averages:
            named = list(found.nodes[1:])
            average = averaged.estimate(
                self.tally_, named, declared, classes, prior_of(self.prior), float(self.frequency)
            )
            return Parameters(classes, logs(average.shares), {FAMILY: average}, ())
        declared[found.nodes[0]] = classes
        if self.smoothing:
            of_cuts = {column_name(name) for name in found.cuts} | {found.nodes[0]}
            given = {node: labels for node, labels in declared.items() if node in of_cuts}
            own = back_off.estimate(self.tally_, found.nodes, found.parents, given, prior_of(self.prior), found.levels)
            return Parameters(classes, logs(own.shares), {FAMILY: own}, ())
        labels = learn.labels_known(self.tally_, found.nodes, found.parents, declared, prior_of(self.prior))
        labels = [own if len(own) else objects([None]) for own in labels]  # all of a column's values were forgotten
        counts = learn.counts_over(self.tally_, found.nodes, found.parents, labels)
        tables, imagined = learn.tables_of(found.nodes, counts, labels, prior_of(self.prior))
        shares = inference.posteriors(found.parents, tables, {}, [0])[0][0]
        whole = Tables(found.parents, tuple(labels), counts, imagined, tables, Flat.of(found.parents, tables))
        return Parameters(classes, logs(shares), {FAMILY: whole}, ())

    def _tables(self) -> Any:
        """`Tables`, `Averaged` ones, or those that `BackOff`."""
        return self._parameters().families[FAMILY]

    def _matrix(self, block: Codes) -> NDArray[np.int32]:
        """Rows × columns codes of the labels that are known; -1 where a value is missing, or never seen."""
        assert block.labels is not None
        result = np.empty((block.n_rows, len(block.labels)), np.int32)
        for j, (own, given) in enumerate(zip(self._tables().labels[-len(block.labels) :], block.labels)):
            result[:, j] = np.append(recognise(own, given), -1).astype(np.int32)[column_codes(block, j)]
        return result

    def _joint(self, found: dict[str, Block], n_rows: int, floor: float | None = None) -> Floats:
        block = found[FAMILY]
        assert isinstance(block, Codes)
        joint: Floats = self._tables().joint(self._matrix(block), floor)
        return joint

    def _factors(self, found: dict[str, Block]) -> list[Factor]:
        block = found[FAMILY]
        assert isinstance(block, Codes)
        assert block.labels is not None
        codes, classes = self._matrix(block)[0], self.classes_.tolist()
        names = [self._state_names(name, own) for name, own in zip(block.names.tolist(), block.labels)]
        values = [int(column_codes(block, j)[0]) for j in range(len(names))]
        shown = ["" if value < 0 else own[value] for own, value in zip(names, values)]  # "" is missing
        tables = self._tables()
        columns = zip(used_columns(self.schema_), tables.labels[-len(names) :])
        states = [list(map(str, classes)), *(self._state_names(name, own) for name, own in columns)]
        factors: list[Factor] = tables.factors(
            self._found.nodes, states, codes.tolist(), shown, self._joint(found, 1)[0]
        )
        return factors

    def _entries_of(
        self, rows: Any, pair: tuple[NDArray[np.intp], NDArray[np.intp]]
    ) -> tuple[NDArray[np.intp], list[tuple[Floats, Callable[[int], str]]]]:
        """The rows that lack nothing, and of each node the log odds of its entries for two classes, and their names."""
        tables = self._tables()
        found: list[tuple[Floats, Callable[[int], str]]] = []
        if isinstance(tables, Averaged):
            return np.zeros(0, np.intp), found
        codes = self._matrix(self._rows(rows)[0][FAMILY])  # type: ignore[arg-type]
        whole = np.flatnonzero((codes >= 0).all(axis=1))
        codes, nodes = codes[whole], self._found.nodes
        states = [self._state_names(*each) for each in zip(used_columns(self.schema_), tables.labels[1:])]

        def name(node: int, place: int) -> str:
            above = [up for up in tables.parents[node] if up]
            given = ", ".join(f"{nodes[up]} {states[up - 1][codes[place, up - 1]]}" for up in above)
            return f"{nodes[node]} = {states[node - 1][codes[place, node - 1]]}" + (f" | {given}" if given else "")

        for node in range(1, len(nodes)):
            one, two = (tables.entry(node, codes, k[whole]) for k in pair)
            with np.errstate(invalid="ignore"):
                found.append((one - two, partial(name, node)))
        return whole, found

    # The sheet.

    def sheet_schema(self) -> tuple[Schema, list[Any], Floats]:
        """What a sheet says of the columns, of which those that are cut are numbers, and of the classes."""
        schema, classes, shares = super().sheet_schema()
        numbers = [name in self._found.cuts for name in schema.names.tolist()]
        families = np.where(numbers, list(FAMILIES).index("gaussian"), schema.families).astype(np.int8)
        return replace(schema, families=families), classes, shares

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it."""
        tables = self._tables()
        found: dict[str, Any] = tables.sheet_scorer(self._sheet_nodes(tables.labels))
        return found

    def sheet_network(self) -> dict[str, Any] | None:
        """The network that a page draws and asks; None of "aode", which is no single one."""
        if self._averages:
            return None
        found, tables = self._found, self._tables()
        note = "levels" if self.weighting else self.smoothing
        nodes = self._sheet_nodes(tables.states)
        return describe_picture(
            nodes, found.parents, tables.tables, 0, name=str(found.nodes[0]), match="labels", note=note
        )

    def _sheet_nodes(self, labels: Sequence[Labels]) -> list[dict[str, Any]]:
        """Each node with its states; the labels may be without those of the class."""
        nodes, used = self._found.nodes, used_columns(self.schema_)
        classes = self.classes_.tolist()
        described = [describe_node(nodes[0], classes)]
        for node, name, own in zip(nodes[1:], used, labels[-len(used) :]):
            cuts = self._found.cuts.get(name)
            described.append(describe_node(node, own.tolist(), self._state_names(name, own), cuts, {"column": name}))
        return described

    def _state_names(self, name: object, labels: Labels) -> list[str]:
        """What the states of a column are called."""
        cuts = self._found.cuts.get(name)
        called = labels.tolist() if cuts is None else [None if at is None else cuts.names[at] for at in labels.tolist()]
        return [say("missing") if each is None else each if isinstance(each, str) else str(each) for each in called]

    def _sample_values(self, drawn: NDArray[np.intp], rng: np.random.Generator) -> dict[Any, NDArray[Any]]:
        if self._averages:
            raise RefusedError("AODE averages networks for each row, and draws none; take another structure to sample")
        parameters, found = self._tables(), self._found
        rows = np.zeros((len(drawn), len(found.nodes)), np.int64)
        for k in np.unique(drawn).tolist():
            which = drawn == k
            only = {0: (np.arange(len(self.classes_)) == k).astype(np.float64)}
            rows[which] = inference.sample(found.parents, parameters.tables, only, int(which.sum()), rng)
        values = {}
        for j, name in enumerate(used_columns(self.schema_), 1):
            states = objects(list(found.cuts[name].names)) if name in found.cuts else parameters.states[j]
            values[name] = np.asarray(states)[rows[:, j]]
        return values

    # Files.

    def _extra(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return self._found.to_plain(), {}

    def _restore(self, schema: Schema, tally: Tally, plain: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        found = Structure.from_plain(plain)
        if list(found.nodes[1:]) != [column_name(name) for name in used_columns(schema)]:
            raise InputError("the nodes of the network are not the columns of the table")
        learn.check(tally)
        if not self._averages:
            learn.check_axes(tally, found.nodes, found.parents, {column_name(n): c for n, c in found.cuts.items()})
            known = unite(self.__dict__.get("_declared_classes", NO_LABELS), tally.labels(CLASS, 0))
            for node, above in zip(found.nodes, found.parents):
                axes = [*above, found.nodes.index(node)]
                seen = tally.labels(learn.table_name(node), axes.index(0)) if 0 in axes else known
                if (find(known, seen) < 0).any():
                    raise InputError(f"the table of {node!r} has a class that no row has")
        self._found = found
        self._set_tally(schema, tally)
        if CLASS in tally:
            self._parameters()


# The sums by which it is planned.


def open_labelled(model: Any, part: Part) -> Labelled:
    """Some rows and their classes, checked."""
    source = part.X if hasattr(part.X, "anonymous") else open_source(part.X)
    labels, classes = checks.labels(model, part.y, source.n_rows)
    return Labelled(source, labels, classes, checks.weights(part.weights, source.n_rows))


def column_sums(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """What some rows tell of the columns."""
    return COLUMN_SUMS[options["sums"]](open_labelled(model, part), options)


def pairs(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """How often two columns have their values together; the model knows its columns and cut points."""
    source, labels, classes, weights = model._open_part(part)
    block = put_class_first(model._codes(source), labels, classes)
    assert block.labels is not None
    known: list[Labels] = options["labels"]
    columns = [
        np.append(find(own, here), -1)[column_codes(block, j)] for j, (own, here) in enumerate(zip(known, block.labels))
    ]
    return count_pairs(columns, [len(each) for each in known], options["jobs"], weights)
