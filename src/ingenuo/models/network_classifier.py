"""A Bayesian network as a classifier: the product of its tables' entries, normalised over the classes.

    P(y | x)  ∝  Π over nodes v of P(v | parents of v)

The structure is learned once, or given; the tables are a tally. What is missing in a row is summed out.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, MergeError, NetworkError, RefusedError, did_you_mean
from ingenuo.families.categorical import column_codes
from ingenuo.families.discretise import Cuts
from ingenuo.kernels import moments
from ingenuo.kernels.networks import Flat
from ingenuo.models.classifier import Classifier, Parameters
from ingenuo.models.model import CLASS, Plan, check_is_fitted
from ingenuo.networks import averaged, graph, inference, learn
from ingenuo.networks.averaged import Averaged
from ingenuo.networks.columns import COLUMN_SUMS, Labelled, encode_columns, plan_columns, used_columns
from ingenuo.networks.graph import Parents, children, order
from ingenuo.networks.learn import listed
from ingenuo.networks.network import Network
from ingenuo.networks.structure.learn import AODE, GIVEN, SEARCHED, STRUCTURES, Options, search, search_tree
from ingenuo.networks.structure.search import Search, Step
from ingenuo.networks.structure.trees import Job, PairCounts, count_pairs, naive
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Codes
from ingenuo.rows.rows import MemoryRows, Part, Rows
from ingenuo.rows.schema import Schema, column_name
from ingenuo.rows.source import Source, match, open_source
from ingenuo.show.arithmetic import Factor, Term, exponential, fraction, logs, term
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find, labels_of, objects
from ingenuo.tally.prior import Lidstone, Prior
from ingenuo.tally.tally import Table, Tally

# The structure of a network classifier: its nodes, the class first, its arcs, and where numbers are cut.


@dataclass(frozen=True)
class Structure:
    """The nodes, the class first, the arcs between them, and where numbers are cut."""

    nodes: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    cuts: Mapping[Any, Cuts]  # by column
    search: Search | None

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """(parent, child) for every arc."""
        return [(self.nodes[up], self.nodes[down]) for down, above in enumerate(self.parents) for up in above]

    def refuse_other(self, theirs: Structure) -> None:
        """Raise where the tables of another structure do not add to those of this one."""
        if self.nodes != theirs.nodes or self.parents != theirs.parents:
            odd = sorted(set(self.arcs) ^ set(theirs.arcs))
            what = f"{odd[0][0]} → {odd[0][1]} is in one of them only" if odd else "their columns differ"
            raise MergeError(
                f"networks merge where their structure is the same: {what}; learn both with the structure of one: "
                "structure=model.network_"
            )
        for name, each in self.cuts.items():
            if theirs.cuts.get(name) != each:
                raise MergeError(
                    f"networks merge where numbers are cut alike, and column {column_name(name)!r} is not; learn both "
                    "with the structure of one: structure=model.network_"
                )

    def packed(self) -> dict[str, Any]:
        """The structure as plain values, for a file."""
        found = self.search
        steps = [] if found is None else [[s.change, list(s.arc or ()), s.gain, s.score] for s in found.path]
        return {
            "nodes": list(self.nodes),
            "parents": [list(above) for above in self.parents],
            "cuts": {name: list(each.points) for name, each in self.cuts.items()},
            "search": None if found is None else [found.measure, found.score, steps, found.evaluations, found.hits],
        }

    @staticmethod
    def unpacked(plain: Mapping[str, Any]) -> Structure:
        """What `packed` gave; raises for what is no structure."""
        nodes, parents = tuple(map(str, plain["nodes"])), tuple(tuple(map(int, each)) for each in plain["parents"])
        graph.check(nodes, parents)
        cuts = {name: Cuts(tuple(float(point) for point in points)) for name, points in plain["cuts"].items()}
        if plain["search"] is None:
            return Structure(nodes, parents, cuts, None)
        measure, score, steps, evaluations, hits = plain["search"]
        path = tuple(
            Step(change, (str(arc[0]), str(arc[1])) if arc else None, float(gain), float(total))
            for change, arc, gain, total in steps
        )
        found = Search(parents, float(score), str(measure), path, int(evaluations), int(hits))
        return Structure(nodes, parents, cuts, found)


def with_class(block: Codes, labels: NDArray[np.int32], classes: Labels) -> Codes:
    """The columns with the class before them."""
    assert block.labels is not None
    columns = [labels, *(column_codes(block, j) for j in range(len(block.labels)))]
    return Codes(objects(["", *block.names.tolist()]), block.n_rows, columns, [classes, *block.labels])


def declared_by(network: Network, declared: dict[Any, Any], names: list[Any]) -> dict[Any, Any]:
    """What the columns are, as it was declared and as a given network says: those that are no node are set aside."""
    nodes, columns = set(network.nodes), [column_name(name) for name in names]
    if not nodes.intersection(columns):
        raise InputError(
            f"the table has no column that is a node of the network; its columns are {listed(columns)}, and the nodes "
            f"{listed(network.nodes)}"
        )
    found = dict(declared)
    for name, called in zip(names, columns):
        if called not in nodes:
            if found.get(name, "ignore") != "ignore":
                raise InputError(f"columns speaks of {called!r}, which is no node of the network; leave it out")
            found[name] = "ignore"
        elif called in network.cuts:
            found.setdefault(name, "number")
    return found


def class_of(network: Network, columns: list[str], target: str | None) -> str:
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


def given_structure(network: Network, nodes: tuple[str, ...], cuts: Mapping[Any, Cuts]) -> Structure:
    """The arcs of a given network between these nodes."""
    parents = tuple(tuple(nodes.index(up) for up in network.parents[node]) for node in nodes)
    return Structure(nodes, parents, cuts, None)


Floats = NDArray[np.float64]

FAMILY = "categorical"  # what every column is to a network
_AT_ONCE = 30  # factors of an explanation that are multiplied in one call
AS_WHOLE = "as in the whole column"
_TINY = 1e-300  # stands for an entry of 0 where a row is impossible for every class


@dataclass(frozen=True)
class Tables:
    """The tables of a network whose node 0 is the class."""

    labels: tuple[Labels, ...]  # of each node
    counts: tuple[Floats, ...]
    imagined: tuple[Floats, ...]
    tables: tuple[Floats, ...]
    flat: Flat


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
        Of "kdb", the most parents besides the class.
    order, root
        Of "k2" the order in which parents come before children; of trees the root.
    max_parents, tabu, restarts, required, forbidden, random_state
        Limits of the search: see `Network.learn`.
    frequency : int
        Of "aode", how often a value must have been seen to be a parent.
    verbose : bool, optional
        Whether progress is shown; by default in a terminal, once it takes long.

    Attributes
    ----------
    network_ : Network
        The network, to be asked and drawn; not of "aode".
    cuts_ : dict
        The cut points of each column of numbers.
    search_ : Search
        How the structure was found.
    tally_, schema_, classes_
        As of every model.

    Examples
    --------
    >>> from ingenuo.datasets import diabetes
    >>> model = NetworkClassifier("tan").fit(diabetes(), "progression")
    >>> model.network_.parents["s2"], model.network_.states["s2"]
    (('progression', 's4'), ['≤ 126.5', '> 126.5'])
    """

    _fixed = (
        "structure", "columns", "criterion", "ess", "k", "order", "root", "max_parents", "tabu", "restarts", "required",
        "forbidden",
    )  # fmt: skip
    _free = ("prior", "frequency")

    def __init__(
        self,
        structure: str | Network = "tan",
        prior: Prior = Lidstone(0.5),  # noqa: B008 (immutable)
        columns: Mapping[Any, Any] | None = None,
        criterion: str | None = None,
        ess: float = 1.0,
        k: int = 2,
        order: Sequence[str] | None = None,
        root: str | None = None,
        max_parents: int | None = None,
        tabu: int = 20,
        restarts: int = 0,
        required: Sequence[tuple[str, str]] = (),
        forbidden: Sequence[tuple[str, str]] = (),
        frequency: int = 1,
        random_state: Any = 0,
        verbose: bool | None = None,
    ) -> None:
        self.structure = structure
        self.prior = prior
        self.columns = columns
        self.criterion = criterion
        self.ess = ess
        self.k = k
        self.order = order
        self.root = root
        self.max_parents = max_parents
        self.tabu = tabu
        self.restarts = restarts
        self.required = required
        self.forbidden = forbidden
        self.frequency = frequency
        self.random_state = random_state
        self.verbose = verbose

    # What it is.

    @property
    def _is_additive(self) -> bool:
        return False  # the structure and the cut points were chosen by the rows

    def _options(self) -> Options:
        return Options(
            GIVEN if isinstance(self.structure, Network) else self.structure,
            self.criterion if self.criterion is not None else "k2" if self.structure == "k2" else "bic",
            self.ess,
            self.k,
            self.order,
            self.root,
            self.max_parents,
            self.tabu,
            self.restarts,
            tuple(self.required),
            tuple(self.forbidden),
            self.random_state,
            self.verbose,
        )

    def _check_settings(self) -> None:
        super()._check_settings()
        if not isinstance(self.prior, Prior):
            raise KindError(f"prior must be a Prior such as Laplace(), got {type(self.prior).__name__} {self.prior!r}")
        if not isinstance(self.structure, str | Network):
            known = ", ".join(repr(name) for name in (*STRUCTURES, AODE))
            raise KindError(f"structure must be one of {known}, or a Network, got {self.structure!r}")
        self._options().check()
        if self.columns is not None and not isinstance(self.columns, Mapping):
            raise KindError(f"columns must be a mapping from column to kind, got {type(self.columns).__name__}")
        if isinstance(self.frequency, bool) or not isinstance(self.frequency, int | float | np.number):
            raise KindError(f"frequency must be a number, got {type(self.frequency).__name__} {self.frequency!r}")
        if not 0 <= self.frequency < np.inf:
            raise InputError(f"frequency must be finite and not negative, got {self.frequency!r}")
        if self.frequency != 1 and not self._averages:
            raise InputError(f"frequency={self.frequency!r} is for structure='aode' only, and has no meaning here")

    def _fixed_settings(self) -> Any:
        return tuple(
            (each.nodes, each.arcs) if isinstance(each, Network) else each for each in super()._fixed_settings()
        )

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
        """The network, with its tables."""
        check_is_fitted(self)
        if self._averages:
            raise RefusedError("AODE is an average of networks, and no single one; take another structure to see one")
        found = self._found
        tables = self._tables()
        network = Network(
            found.nodes, found.parents, cuts={column_name(name): each for name, each in found.cuts.items()},
            target=found.nodes[0], search=found.search,
        )  # fmt: skip
        network._take(tables.tables, tables.labels, network.cuts)
        network.tally = Tally({name: table for name, table in self.tally_.items() if name != CLASS})
        network.prior = self.prior
        return network

    @property
    def _averages(self) -> bool:
        return bool(self.structure == AODE)

    # Learning.

    def _learn_first(self, rows: Rows, *, whole: bool = False) -> None:
        if self.structure in SEARCHED:
            rows = rows.in_memory(
                "take 'tan' or 'kdb', or learn the structure from a sample and give what it finds: "
                "structure=model.network_"
            )
        super()._learn_first(rows, whole=whole)

    def _plan(self, rows: Rows, *, whole: bool = False) -> Plan:
        """What the columns are, where numbers are cut and which arcs there are, each from sums over the rows."""
        source = rows.columns(self, whole=True)
        columns = plan_columns(
            source,
            self._kinds_of_columns(source),
            lambda sums, **options: rows.reduce(column_sums, sums=sums.__name__, **options),
            self._given_cuts(source),
            at_once=labelled(self, Part(rows.X, rows.y, rows.weights)) if isinstance(rows, MemoryRows) else None,
        )
        columns.refuse_empty()
        columns.warn_of_names()
        nodes = self._nodes_of(used_columns(columns.schema), rows.target)
        labels = [columns.classes, *columns.states.values()]
        sizes = [len(each) for each in labels]
        bare = copy.copy(self)
        bare._found = Structure(nodes, tuple(() for _ in nodes), columns.cuts, None)
        bare = bare._make_empty(columns.schema)

        def count(jobs: list[Job]) -> Tally:
            return rows.reduce(pairs, bare, labels=labels, jobs=jobs)

        def search_rows() -> Search:
            if isinstance(rows, MemoryRows) and self.structure in SEARCHED:
                opened, codes, classes, weights = bare._open_part(Part(rows.X, rows.y, rows.weights))
                block = with_class(bare._codes(opened), codes, classes)
                return search(block, nodes, self._options(), 0, weights)
            return search_tree(PairCounts(nodes, sizes, count), self._options())

        found = self._structure_by(nodes, columns.cuts, search_rows)
        if self._averages:
            averaged.refuse_large(sizes[1:], sizes[0])
        for node, above in enumerate(found.parents):
            learn.refuse_large(nodes, node, above, sizes)
        return Plan(columns.schema, {"_found": found})

    def _check_whole(self, schema: Schema, classes: Labels, tally: Tally) -> None:
        """The plan has refused what cannot be all the rows of a model."""

    def _known_columns(self) -> Collection[Any]:
        return set(super()._known_columns()).difference(self.cuts_)  # numbers are cut as they are

    def _declared_columns(self) -> Collection[Any]:
        return [name for name, kind in (self.columns or {}).items() if not (isinstance(kind, str) and kind == "number")]

    def _tally_of(self, part: Part) -> Tally:
        source, labels, classes, weights = self._open_part(part)
        return self._count(self._found, self._codes(source), labels, classes, weights)

    def _count(
        self, found: Structure, block: Codes, labels: NDArray[np.int32], classes: Labels, weights: Floats | None
    ) -> Tally:
        """The sums over some rows."""
        if weights is None:
            rows = Exact.counts(np.bincount(labels, minlength=len(classes)))
        else:
            rows = moments.weights_by_cell(weights, labels.astype(np.int64), len(classes))
        total = Tally({CLASS: Table.of({"class": classes}, rows)})
        if self._averages:
            named = Codes(objects(list(found.nodes[1:])), block.n_rows, block.columns, block.labels)
            return total + averaged.count(named, labels, classes, weights)
        return total + learn.count(with_class(block, labels, classes), found.nodes, found.parents, weights)

    def _check_tally(self, schema: Schema, tally: Tally) -> None:
        learn.check(tally)

    def _check_other(self, other: Self) -> None:
        self._found.refuse_other(other._found)

    def _kinds_of_columns(self, source: Source) -> dict[Any, Any]:
        """What the columns are, as far as it was said, here or by a given network."""
        declared, names = dict(self.columns or {}), source.names.tolist()
        return declared_by(self.structure, declared, names) if isinstance(self.structure, Network) else declared

    def _given_cuts(self, source: Source) -> dict[Any, Cuts]:
        given = self.structure.cuts if isinstance(self.structure, Network) else {}
        return {name: given[column_name(name)] for name in source.names.tolist() if column_name(name) in given}

    def _nodes_of(self, names: list[Any], target: str | None) -> tuple[str, ...]:
        """What the nodes are called, the class first."""
        columns = [column_name(name) for name in names]
        if isinstance(self.structure, Network):
            return class_of(self.structure, columns, target), *columns
        name = target if target is not None else "class"
        while name in columns:
            name += "_"
        return name, *columns

    def _structure_by(self, nodes: tuple[str, ...], cuts: dict[Any, Cuts], search: Callable[[], Search]) -> Structure:
        """The arcs, found or given; the class is node 0."""
        if isinstance(self.structure, Network):
            return given_structure(self.structure, nodes, cuts)
        if self._averages:
            return Structure(nodes, tuple(() for _ in nodes), cuts, None)
        if self.structure == "naive":
            return Structure(nodes, naive(len(nodes)).parents, cuts, None)
        found = search()
        return Structure(nodes, found.parents, cuts, found.named(nodes))

    # Answering.

    def _codes(self, source: Source) -> Codes:
        return encode_columns(source, self.schema_, self._found.cuts, match(self.schema_, source))

    def _blocks(self, source: Source, schema: Schema) -> dict[str, Block]:
        return {FAMILY: self._codes(source)}

    def _estimate(self) -> Parameters:
        classes = labels_of(self.classes_)
        found = self._found
        declared = {column_name(name): labels for name, labels in self.schema_.categories.items()}
        declared |= {column_name(name): np.arange(len(each.points) + 1) for name, each in found.cuts.items()}
        if self._averages:
            named = list(found.nodes[1:])
            average = averaged.estimate(self.tally_, named, declared, classes, self.prior, float(self.frequency))
            return Parameters(classes, logs(average.shares), {FAMILY: average}, ())
        declared[found.nodes[0]] = classes
        labels = learn.labels_known(self.tally_, found.nodes, found.parents, declared, self.prior)
        labels = [own if len(own) else objects([None]) for own in labels]  # all of a column's values were forgotten
        counts = learn.counts_over(self.tally_, found.nodes, found.parents, labels)
        tables, imagined = learn.tables_of(found.nodes, counts, labels, self.prior)
        flat = Flat.of(found.parents, tables)
        all_of_it = Tables(tuple(labels), tuple(counts), tuple(imagined), tuple(tables), flat)
        shares = inference.posteriors(found.parents, tables, {}, [0])[0][0]
        return Parameters(classes, logs(shares), {FAMILY: all_of_it}, ())

    def _tables(self) -> Tables:
        tables: Tables = self._parameters().families[FAMILY]
        return tables

    def _matrix(self, block: Codes) -> NDArray[np.int32]:
        """Rows × columns codes of the labels that are known; -1 where a value is missing, or never seen."""
        parameters = self._parameters().families[FAMILY]
        known = parameters.labels if isinstance(parameters, Averaged) else parameters.labels[1:]
        assert block.labels is not None
        result = np.empty((block.n_rows, len(known)), np.int32)
        for j, (own, given) in enumerate(zip(known, block.labels)):
            places = np.append(find(own, given), -1).astype(np.int32)
            result[:, j] = places[column_codes(block, j)]
        return result

    def _joint(self, found: dict[str, Block], n_rows: int, floor: float | None = None) -> Floats:
        block = found[FAMILY]
        assert isinstance(block, Codes)
        codes = self._matrix(block)
        parameters = self._parameters().families[FAMILY]
        if isinstance(parameters, Averaged):
            return parameters.joint(codes, floor)
        flat = parameters.flat
        if floor is not None:
            flat = Flat.of(self._found.parents, [np.maximum(table, _TINY) for table in parameters.tables])
        nodes = np.concatenate([np.full((n_rows, 1), -1, np.int32), codes], axis=1)
        return inference.log_joint(flat, nodes, 0)

    def _prior_factor(self, found: dict[str, Block]) -> Factor:
        return self._explained(found)[0]

    def _factors(self, found: dict[str, Block]) -> list[Factor]:
        return self._explained(found)[1:]

    def _explained(self, found: dict[str, Block]) -> list[Factor]:
        block = found[FAMILY]
        assert isinstance(block, Codes)
        codes = self._matrix(block)[0]
        parameters = self._parameters().families[FAMILY]
        shown = [self._shown(name, block, j) for j, name in enumerate(block.names.tolist())]
        if isinstance(parameters, Averaged):
            joint = parameters.joint(codes[np.newaxis])[0]
            return _explain_average(parameters, codes, shown, joint, labels_of(self.classes_))
        names = [self._called(j) for j in range(len(parameters.labels))]
        return _explain_tables(
            self._found.nodes, self._found.parents, names, parameters.counts, parameters.imagined, parameters.tables,
            codes, shown,
        )  # fmt: skip

    def _called(self, node: int) -> list[str]:
        """What the states of a node are called."""
        if node == 0:
            return [str(label) for label in self.classes_.tolist()]
        name = used_columns(self.schema_)[node - 1]
        if name in self._found.cuts:
            return list(self._found.cuts[name].names)
        return [str(label) for label in self._tables().labels[node].tolist()]

    def _shown(self, name: object, block: Codes, j: int) -> str:
        """The value of a row's column, as it is shown; "" where it is missing."""
        code = int(column_codes(block, j)[0])
        if code < 0:
            return ""
        assert block.labels is not None
        return self._found.cuts[name].names[code] if name in self._found.cuts else str(block.labels[j].tolist()[code])

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
            states = found.cuts[name].names if name in found.cuts else parameters.labels[j]
            values[name] = np.asarray(objects(list(states)) if name in found.cuts else states)[rows[:, j]]
        return values

    # Files.

    def _extra(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What is not in the tally: the structure and the cut points."""
        return self._found.packed(), {}

    def _restore(self, schema: Schema, tally: Tally, plain: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Set what `_extra` gave."""
        found = Structure.unpacked(plain)
        if list(found.nodes[1:]) != [column_name(name) for name in used_columns(schema)]:
            raise InputError("the nodes of the network are not the columns of the table")
        learn.check(tally)
        if not self._averages:
            learn.check_axes(tally, found.nodes, found.parents)
            for node, above in enumerate(found.parents):
                for axis, each in enumerate((*above, node)):
                    seen = tally.labels(learn.table_name(found.nodes[node]), axis)
                    if each == 0 and (find(tally.labels(CLASS, 0), seen) < 0).any():
                        raise InputError(f"the table of {found.nodes[node]!r} has a class that no row has")
        self._found = found
        self._set_tally(schema, tally)
        if CLASS in tally:
            self._parameters()


# The sums by which it is planned.


def labelled(model: Any, part: Part) -> Labelled:
    """Some rows and their classes, checked."""
    source = part.X if hasattr(part.X, "anonymous") else open_source(part.X)
    labels, classes = checks.labels(model, part.y, source.n_rows)
    return Labelled(source, labels, classes, checks.weights(part.weights, source.n_rows))


def column_sums(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """What some rows tell of the columns."""
    return COLUMN_SUMS[options["sums"]](labelled(model, part), options)


def pairs(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """How often two columns have their values together; the model knows its columns and cut points."""
    source, labels, classes, weights = model._open_part(part)
    block = with_class(model._codes(source), labels, classes)
    assert block.labels is not None
    known: list[Labels] = options["labels"]
    columns = [
        np.append(find(all_of_it, here), -1)[column_codes(block, j)]
        for j, (all_of_it, here) in enumerate(zip(known, block.labels))
    ]
    return count_pairs(columns, [len(each) for each in known], options["jobs"], weights)


# The entries of the tables that one row's answer is the product of.


def _explain_tables(
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


def _explain_average(
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
