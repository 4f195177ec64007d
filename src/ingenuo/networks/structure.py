"""The structure of a network from rows: one of the searches, asked for by name.

The searches themselves work on integers: nodes are columns of a `Sample`, states are codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, NetworkError, check_choice, did_you_mean
from ingenuo.families.categorical import column_codes
from ingenuo.families.discretise import Cuts
from ingenuo.kernels import densities
from ingenuo.kernels.codes import Flat
from ingenuo.networks.columns import (
    compact,
    encode_columns,
    inspect,
    plan_in_memory,
    read_column,
    source_of,
    used_columns,
)
from ingenuo.networks.evidence import place_of
from ingenuo.networks.graph import Parents
from ingenuo.networks.inference import log_joint
from ingenuo.networks.learn import configurations, count_states, estimate
from ingenuo.networks.search import (
    RESTARTS,
    SCORES,
    TABU,
    Constraints,
    Sample,
    Scorer,
    Search,
    Step,
    check_score,
    hill_climb,
    k2,
)
from ingenuo.networks.trees import PairCounts, chow_liu, kdb, naive, tan
from ingenuo.rows.checks import check_whole, seeded_generator
from ingenuo.rows.checks import weights as row_weights
from ingenuo.rows.part import Codes
from ingenuo.rows.schema import column_name
from ingenuo.show.format import Line

Floats = NDArray[np.float64]
Arcs = Iterable[tuple[str, str]]

STRUCTURES = ("naive", "tan", "kdb", "hill-climb", "k2", "chow-liu")
NEED_CLASS = ("naive", "tan", "kdb")
AODE, GIVEN = "aode", "a given network"  # of a classifier only: they have no structure to search for
SEARCHED = ("hill-climb", "k2")  # by the rows; the others by the tables of every two columns
ROUNDS = 2  # how often missing values are filled again by the network that was found
# Which structures an option is for; it is an error to give it to another.
_FOR = {
    **dict.fromkeys(("score", "ess", "max_parents", "required", "forbidden"), SEARCHED),
    **dict.fromkeys(("tabu", "restarts"), ("hill-climb",)),
    "order": ("k2",),
    "root": ("tan", "chow-liu"),
    "k": ("kdb",),
}


_FORMER = {"tabu": 20, "restarts": 0}  # defaults of old, which model files of any structure have


@dataclass(frozen=True)
class Options:
    """How to search for a structure."""

    structure: str = "hill-climb"
    score: str | None = None  # K2's own for "k2", else "bic"
    ess: float = 1.0  # imaginary rows of the BDeu score
    k: int = 2  # parents besides the class, of k-dependence
    order: Sequence[str] | None = None  # of K2: parents come before their children
    root: str | None = None  # of trees
    max_parents: int | None = None
    tabu: int = TABU
    restarts: int = RESTARTS
    required: Arcs = ()
    forbidden: Arcs = ()
    random_state: Any = 0
    verbose: bool | None = None

    @property
    def measure(self) -> str:
        """The score that is climbed."""
        return self.score if self.score is not None else "k2" if self.structure == "k2" else "bic"

    def check(self) -> None:
        """Raise for what makes no sense whatever the data are."""
        if self.structure != GIVEN:
            check_choice("structure", self.structure, [*STRUCTURES, AODE])
        check_score(self.measure, self.ess, SCORES[:-1])
        for name in ("k", "tabu", "restarts", "max_parents"):
            if not (name == "max_parents" and self.max_parents is None):
                check_whole(name, getattr(self, name), 0)
        for name, structures in _FOR.items():
            given, default = getattr(self, name), Options.__dataclass_fields__[name].default
            if self.structure not in structures and given not in (default, _FORMER.get(name, default)):
                one = " and ".join(repr(each) for each in structures)
                raise InputError(f"{name}={given!r} is for structure={one} only, and structure is {self.structure!r}")
        seeded_generator("random_state", self.random_state)


def sample_of(codes: Codes, weights: Floats | None) -> Sample:
    """The rows for a search: of each column the states that occur."""
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        codes, weights = codes.take(kept), weights[kept]
    assert codes.labels is not None
    found = [compact(column_codes(codes, j), labels) for j, labels in enumerate(codes.labels)]
    return Sample([each for each, _ in found], [max(len(labels), 1) for _, labels in found], weights)


def search(codes: Codes, nodes: Sequence[str], options: Options, target: int | None, weights: Any = None) -> Search:
    """The structure that the options ask for, of rows in memory."""
    sample = sample_of(codes, weights)
    if options.structure not in SEARCHED:
        first = target or 0 if options.structure in NEED_CLASS else 0
        places = [first, *(place for place in range(len(nodes)) if place != first)]
        cards, names = [sample.cards[place] for place in places], [nodes[place] for place in places]
        pairs = PairCounts.of(list(sample.codes[places]), cards, sample.weights, names)
        return search_tree(pairs, options, places.index(target or 0)).move(places)
    arcs = [list[tuple[int, int]](), list[tuple[int, int]]()]
    for by_place, by_name in zip(arcs, (options.required, options.forbidden)):
        for arc in by_name:
            if isinstance(arc, str) or len(tuple(arc)) != 2:
                raise KindError(f"an arc is a pair (from, to) of nodes, got {arc!r}")
            by_place.append((place_of(nodes, arc[0]), place_of(nodes, arc[1])))
    bounds = Constraints(sample.cards, arcs[0], arcs[1], options.max_parents, nodes)
    line = Line(options.verbose)

    def progress(step: int, score: float) -> None:
        line.say(f"step {step:,}: score {score:,.4f}")

    def climb(rows: Sample, start: Any = None) -> Search:
        scorer = Scorer(rows, options.measure, ess=float(options.ess))
        if options.structure == "k2":
            return k2(scorer, bounds, _order(nodes, options.order, target), progress)
        limits = {"tabu": int(options.tabu), "restarts": int(options.restarts)}
        return hill_climb(scorer, bounds, **limits, start=start, random_state=options.random_state, progress=progress)

    try:
        if sample.codes.min() >= 0:
            return climb(sample)
        rng = np.random.default_rng(options.random_state)
        found = climb(_fill(sample, rng))
        path = list(found.path)
        for _ in range(ROUNDS):
            found = climb(_fill(sample, rng, found.parents), found.parents)
            began = found.path[0].score - found.path[0].gain if found.path else found.score
            path += [Step("fill", None, 0.0, began), *found.path]
        return replace(found, measure=f"{found.measure}, missing values filled", path=tuple(path))
    finally:
        line.close()


def search_tree(pairs: PairCounts, options: Options, target: int = 0, *, least: float = 0.0) -> Search:
    """The structure that the options ask for, by what every two columns share; its class, if it has one, is node 0.

    For k-dependence two columns must share more than the `least`.
    """
    root = None if options.root is None else place_of(pairs.names, options.root)
    if options.structure == "naive":
        return naive(len(pairs.cards))
    if options.structure == "chow-liu":
        return chow_liu(pairs, target if root is None else root)
    if options.structure == "kdb":
        return kdb(pairs, int(options.k), least)
    if root == target:
        raise InputError(f"root={options.root!r} is the class itself; the tree is of the other columns")
    return tan(pairs, root)


def _order(nodes: Sequence[str], order: Sequence[str] | None, target: int | None) -> list[int]:
    if order is None:  # the class first, then as in the table
        return sorted(range(len(nodes)), key=lambda place: place != target)
    found = [place_of(nodes, node) for node in order]
    absent = [node for place, node in enumerate(nodes) if place not in found]
    if absent or len(found) != len(set(found)):
        what = f"{absent[0]!r} is not in it" if absent else "a node is in it twice"
        raise NetworkError(f"order must name every node once: {what}")
    return found


def find_structure(
    table: Any, options: Options, target: str | None, columns: Mapping[Any, Any] | None, bins: int, sample_weight: Any
) -> tuple[list[str], Search, dict[str, Cuts], dict[str, list[Any]]]:
    """The nodes of a table, the structure that is found, the cut points of numbers, and the declared states."""
    options.check()
    check_whole("bins", bins, 2)
    if options.structure not in STRUCTURES:
        raise InputError("AODE averages networks, and is no single one; NetworkClassifier(structure='aode') has it")
    if target is None and options.structure in NEED_CLASS:
        raise InputError(
            f"structure={options.structure!r} hangs every node on the class; say which column that is: target='…'"
        )
    source = source_of(table)
    weights = row_weights(sample_weight, source.n_rows)
    names = used_columns(inspect(source, columns)[0])
    nodes = [column_name(name) for name in names]
    classes = None
    if target is not None:
        if target not in nodes:
            raise NetworkError(f"the table has no column {target!r} for the target{did_you_mean(target, nodes)}")
        name = names[nodes.index(target)]
        others = {other: "ignore" for other in source.names.tolist() if other != name}
        if name in plan_in_memory(source, {**dict(columns or {}), **others}, None, weights).cuts:
            raise InputError(
                f"the target {target!r} holds numbers of many values; cut it into classes first, or declare it: "
                f"columns={{{name!r}: 'category'}}"
            ).declaring(name, "category")
        classes = read_column(source, source.names.tolist().index(name), None)
    plan = plan_in_memory(source, columns, classes, weights, bins)
    plan.warn_of_names()
    block = encode_columns(source, plan.schema, plan.cuts, np.arange(len(plan.schema)))
    found = search(block, nodes, options, None if target is None else nodes.index(target), weights)
    cuts = {column_name(name): each for name, each in plan.cuts.items()}
    declared = {column_name(name): labels.tolist() for name, labels in plan.schema.categories.items()}
    return nodes, found, cuts, declared


def _fill(sample: Sample, rng: np.random.Generator, parents: Parents | None = None) -> Sample:
    """The sample with every missing value filled, for scores of structures are compared on the same rows.

    At first by chance, as often as the column has each state, which adds no dependence; then by what the network with
    these arcs says of them given the rest of their rows (the sampled form of Friedman's structural EM).
    """
    codes = sample.codes.copy()
    tables = []
    for child, above in enumerate(parents or ()):  # from the rows that are whole where it matters, smoothed
        shape = [sample.cards[each] for each in (*above, child)]
        where = configurations([sample.codes[up] for up in above], shape, sample.n_rows)
        counts = count_states(where, sample.codes[child], shape, sample.weights).floats()
        tables.append(estimate(counts, np.full(shape[-1], 0.5)))
    flat = None if parents is None else Flat.of(parents, tables)
    for node, column in enumerate(sample.codes):
        missing = np.flatnonzero(column < 0)
        if not len(missing):
            continue
        if flat is None:
            shares = np.bincount(column[column >= 0], minlength=sample.cards[node]) + 1e-12
            codes[node, missing] = rng.choice(sample.cards[node], len(missing), p=shares / shares.sum())
        else:
            beliefs = log_joint(flat, np.ascontiguousarray(sample.codes[:, missing].T), node)
            densities.posterior(beliefs)
            steps = np.cumsum(beliefs, axis=1)
            drawn = (steps < rng.random((len(missing), 1)) * steps[:, -1:]).sum(axis=1)
            codes[node, missing] = np.minimum(drawn, sample.cards[node] - 1)
    return Sample(codes, sample.cards, sample.weights)
