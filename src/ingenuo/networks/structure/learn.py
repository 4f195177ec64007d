"""The structure of a network from rows: one of the searches, asked for by name.

The searches themselves work on integers: nodes are columns of a :class:`Sample`, states are codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, NetworkError, did_you_mean
from ingenuo.families.categorical import column_codes, frequencies
from ingenuo.families.discretise import Cuts
from ingenuo.kernels import densities
from ingenuo.kernels.elimination import Flat
from ingenuo.networks.columns import compact, cut, encoded, inspect, warn_of_names
from ingenuo.networks.evidence import place_of
from ingenuo.networks.graph import Parents
from ingenuo.networks.inference import log_joint
from ingenuo.networks.learn import column_of, configurations, node_names, source_of
from ingenuo.networks.structure.hill_climbing import hill_climb, k2
from ingenuo.networks.structure.search import SCORES, Sample, Search, Step
from ingenuo.networks.structure.trees import Pairs, chow_liu, kdb, naive, tan
from ingenuo.rows.checks import weights as row_weights
from ingenuo.rows.part import Codes
from ingenuo.rows.schema import FAMILIES, column_name
from ingenuo.show.format import Line

Floats = NDArray[np.float64]

STRUCTURES = ("naive", "tan", "kdb", "hill-climb", "k2", "chow-liu")
NEED_TARGET = ("naive", "tan", "kdb")
BY_PAIRS = ("tan", "kdb", "chow-liu")  # found by the tables of every two columns alone
AODE, GIVEN = "aode", "a given network"  # of a classifier only: they have no structure to search for
SEARCHED = ("hill-climb", "k2")
# Which structures an option is for; it is an error to give it to another.
_FOR = {
    "score": SEARCHED,
    "ess": SEARCHED,
    "max_parents": SEARCHED,
    "required": SEARCHED,
    "forbidden": SEARCHED,
    "tabu": ("hill-climb",),
    "restarts": ("hill-climb",),
    "order": ("k2",),
    "root": ("tan", "chow-liu"),
    "k": ("kdb",),
}

ROUNDS = 2  # how often missing values are filled again by the network that was found

Arcs = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Options:
    """How to search for a structure."""

    structure: str = "hill-climb"
    score: str = "bic"
    ess: float = 1.0  # imaginary rows of the BDeu score
    k: int = 2  # parents besides the class, of k-dependence
    order: Sequence[str] | None = None  # of K2: parents come before their children
    root: str | None = None  # of trees
    max_parents: int | None = None
    tabu: int = 20
    restarts: int = 0
    required: Arcs = ()
    forbidden: Arcs = ()
    random_state: Any = 0
    verbose: bool | None = None

    def check(self) -> None:
        """Raise for what makes no sense whatever the data are."""
        if self.structure not in (*STRUCTURES, AODE, GIVEN):
            near = did_you_mean(str(self.structure).lower(), [*STRUCTURES, AODE])
            raise InputError(f"structure={self.structure!r} is not known{near}")
        if self.score not in SCORES or self.score == "log-likelihood":
            known = [each for each in SCORES if each != "log-likelihood"]
            raise InputError(f"score={self.score!r} is not known{did_you_mean(self.score, known)}")
        for name, least in (("k", 0), ("tabu", 0), ("restarts", 0), ("max_parents", 0)):
            value = getattr(self, name)
            if value is None and name == "max_parents":
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise KindError(f"{name} must be a whole number, got {type(value).__name__} {value!r}")
            if value < least:
                raise InputError(f"{name} must be {least} at least, got {value}")
        if isinstance(self.ess, bool) or not isinstance(self.ess, int | float | np.number):
            raise KindError(f"ess must be a number, got {type(self.ess).__name__} {self.ess!r}")
        if not 0 < self.ess < np.inf:
            raise InputError(f"ess, the imaginary rows of the BDeu score, must be finite and above 0, got {self.ess!r}")
        for name, structures in _FOR.items():
            given, default = getattr(self, name), Options.__dataclass_fields__[name].default
            if self.structure not in structures and given != default:
                one = " and ".join(repr(each) for each in structures)
                raise InputError(f"{name}={given!r} is for structure={one} only, and structure is {self.structure!r}")
        try:
            np.random.default_rng(self.random_state)
        except (TypeError, ValueError):
            raise KindError(f"random_state must be a whole number or None, got {self.random_state!r}") from None


def sample_of(codes: Codes, weights: NDArray[np.float64] | None) -> Sample:
    """The rows for a search: of each column the states that occur."""
    assert codes.labels is not None
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        codes, weights = codes.take(kept), weights[kept]
    assert codes.labels is not None
    found = [compact(column_codes(codes, j), labels) for j, labels in enumerate(codes.labels)]
    return Sample([each for each, _ in found], [max(len(labels), 1) for _, labels in found], weights)


def search(codes: Codes, nodes: Sequence[str], options: Options, target: int | None, weights: Any = None) -> Search:
    """The structure that the options ask for."""
    options.check()
    if target is None and options.structure in NEED_TARGET:
        raise InputError(
            f"structure={options.structure!r} hangs every node on the class; say which column that is: target='…'"
        )
    if options.structure == "naive":
        assert target is not None
        return naive(len(nodes), target)
    sample = sample_of(codes, weights)
    if options.structure in BY_PAIRS:
        return search_pairs(sample, nodes, options, target)
    required, forbidden = (_arcs(nodes, given) for given in (options.required, options.forbidden))
    line = Line(options.verbose)
    common: dict[str, Any] = {
        "ess": float(options.ess),
        "max_parents": None if options.max_parents is None else int(options.max_parents),
        "required": required,
        "forbidden": forbidden,
        "progress": lambda step, score: line.say(f"step {step:,}: score {score:,.4f}"),
        "names": list(nodes),
    }

    def climb(rows: Sample, start: Any = None) -> Search:
        if options.structure == "k2":
            return k2(rows, _order(nodes, options.order, target), options.score, **common)
        return hill_climb(
            rows,
            options.score,
            tabu=int(options.tabu),
            restarts=int(options.restarts),
            random_state=options.random_state,
            start=start,
            **common,
        )

    try:
        if not any(sample.holes):
            return climb(sample)
        rng = np.random.default_rng(options.random_state)
        found = climb(_filled(sample, rng))
        path = list(found.path)
        for _ in range(ROUNDS):
            found = climb(_filled(sample, rng, found.parents), found.parents)
            began = found.path[0].score - found.path[0].gain if found.path else found.score
            path += [Step("fill", None, 0.0, began), *found.path]
        return replace(found, measure=f"{found.measure}, missing values filled", path=tuple(path))
    finally:
        line.close()


def search_pairs(pairs: Pairs, nodes: Sequence[str], options: Options, target: int | None) -> Search:
    """The structure that the options ask for, by what every two columns share."""
    root = None if options.root is None else place_of(nodes, options.root)
    if options.structure == "chow-liu":
        return chow_liu(pairs, root if root is not None else target or 0)
    assert target is not None
    if options.structure == "kdb":
        return kdb(pairs, target, int(options.k))
    if root == target:
        raise InputError(f"root={options.root!r} is the class itself; the tree is of the other columns")
    return tan(pairs, target, root)


def _arcs(nodes: Sequence[str], given: Arcs) -> list[tuple[int, int]]:
    """Arcs by the places of their ends."""
    found = []
    for arc in given:
        if isinstance(arc, str) or len(tuple(arc)) != 2:
            raise KindError(f"an arc is a pair (from, to) of nodes, got {arc!r}")
        found.append((place_of(nodes, arc[0]), place_of(nodes, arc[1])))
    return found


def _order(nodes: Sequence[str], order: Sequence[str] | None, target: int | None) -> list[int]:
    if order is None:  # the class first, then as in the table
        places = list(range(len(nodes)))
        return places if target is None else [target, *(place for place in places if place != target)]
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
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer):
        raise KindError(f"bins must be a whole number, got {type(bins).__name__} {bins!r}")
    if bins < 2:
        raise InputError(f"bins must be 2 at least, got {bins}")
    if options.structure not in STRUCTURES:
        raise InputError("AODE averages networks, and is no single one; NetworkClassifier(structure='aode') has it")
    source = source_of(table)
    weights = row_weights(sample_weight, source.n_rows)
    inspected = inspect(source, columns, weights)
    schema = inspected.schema
    used = np.flatnonzero(schema.families != list(FAMILIES).index("ignore")).tolist()
    nodes = node_names(source, used)
    place, labels, n_classes = None, None, 0
    if target is not None:
        if target not in nodes:
            raise NetworkError(f"the table has no column {target!r} for the target{did_you_mean(target, nodes)}")
        place = nodes.index(target)
        name = schema.names.tolist()[used[place]]
        if name in inspected.numbers:
            raise InputError(
                f"the target {target!r} holds numbers of many values; cut it into classes first, or declare it: "
                f"columns={{{name!r}: 'category'}}"
            )
        labels, own = column_of(source, used[place], target, {})
        n_classes = len(own)
    cuts = cut(source, inspected, labels, n_classes, weights, bins)
    block = encoded(source, schema, cuts, np.arange(len(schema.names)))
    warn_of_names(block, weights)
    found = search(block, nodes, options, place, weights)
    named = {node: cuts[name] for node, name in zip(nodes, schema.names[used].tolist()) if name in cuts}
    declared = {column_name(column): labels.tolist() for column, labels in schema.categories.items()}
    return nodes, found, named, declared


def _filled(sample: Sample, rng: np.random.Generator, parents: Parents | None = None) -> Sample:
    """The sample with every missing value filled, for scores of structures are compared on the same rows.

    At first by chance, as often as the column has each state, which adds no dependence; then by what the network with
    these arcs says of them given the rest of their rows (the sampled form of Friedman's structural EM).
    """
    codes = sample.codes.copy()
    flat = None if parents is None else Flat.of(parents, _tables(sample, parents))
    for node, column in enumerate(sample.codes):
        holes = np.flatnonzero(column < 0)
        if not len(holes):
            continue
        if flat is None:
            shares = np.bincount(column[column >= 0], minlength=sample.cards[node]) + 1e-12
            codes[node, holes] = rng.choice(sample.cards[node], len(holes), p=shares / shares.sum())
        else:
            beliefs = log_joint(flat, np.ascontiguousarray(sample.codes[:, holes].T), node)
            densities.posterior(beliefs)
            steps = np.cumsum(beliefs, axis=1)
            drawn = (steps < rng.random((len(holes), 1)) * steps[:, -1:]).sum(axis=1)
            codes[node, holes] = np.minimum(drawn, sample.cards[node] - 1)
    return Sample(codes, sample.cards, sample.weights)


def _tables(sample: Sample, parents: Parents) -> list[Floats]:
    """Tables from the rows that are whole where it matters, smoothed so that nothing is impossible."""
    tables = []
    for node, above in enumerate(parents):
        shape = [sample.cards[up] for up in above]
        size = sample.cards[node]
        where = configurations([sample.codes[up] for up in above], shape, sample.n_rows)
        cells = where * size + sample.codes[node]
        known = (where >= 0) & (sample.codes[node] >= 0)
        weights = None if sample.weights is None else sample.weights[known]
        counts = np.bincount(cells[known], weights, int(np.prod(shape, dtype=np.int64)) * size).reshape(-1, size)
        tables.append(frequencies(counts.astype(np.float64), np.full(size, 0.5)).reshape(*shape, size))
    return tables
