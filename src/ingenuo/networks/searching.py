"""From rows to a structure: one of the searches, asked for by name, with nodes called by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Codes
from ingenuo.errors import InputError, KindError, NetworkError, did_you_mean
from ingenuo.families.categorical import column_codes
from ingenuo.networks.columns import compact
from ingenuo.networks.evidence import place_of
from ingenuo.networks.holes import filled
from ingenuo.networks.structure import SCORES, Pairs, Sample, Search, Step, chow_liu, hill_climb, k2, kdb, naive, tan
from ingenuo.progress import Line

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

ROUNDS = 2  # how often holes are filled again by the network that was found

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
    required, forbidden = (arcs(nodes, given) for given in (options.required, options.forbidden))
    line = Line(options.verbose)
    common: dict[str, Any] = {
        "ess": float(options.ess),
        "max_parents": None if options.max_parents is None else int(options.max_parents),
        "required": required,
        "forbidden": forbidden,
        "progress": _progress(line),
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
        found = climb(filled(sample, rng))
        path = list(found.path)
        for _ in range(ROUNDS):
            found = climb(filled(sample, rng, found.parents), found.parents)
            began = found.path[0].score - found.path[0].gain if found.path else found.score
            path += [Step("fill", None, 0.0, began), *found.path]
        return replace(found, measure=f"{found.measure}, holes filled", path=tuple(path))
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


def _progress(line: Line) -> Callable[[int, float], None]:
    return lambda step, score: line.say(f"step {step:,}: score {score:,.4f}")


def arcs(nodes: Sequence[str], given: Arcs) -> list[tuple[int, int]]:
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
