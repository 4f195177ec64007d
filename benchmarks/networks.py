"""Bayesian networks: learning, asking and classifying, against pyAgrum (in C++) and pgmpy (in Python).

Searches start from tables in memory. pyAgrum's learner has taken the table in before its clock starts, and finds the
arcs alone; we and pgmpy start from pandas, and we learn the tables of the network too. pyAgrum has one thread and all
of them in turns, and its best counts: where two of its threads share a processor it is forty times as slow as with one
(hill-climbing alarm 20.8 s, one thread 0.46 s, two on two processors 0.27 s). Peers classify with the very
tables we have, fewer rows than we do where they would take minutes: those cases are in microseconds a row. How good
the found structures are is said in nats a row of the BDeu score, counted by us for both sides; see also
`networks_tables` for how right the classifiers are.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import networks_tables
from benchmarks.cases import Case, Duel, Race
from benchmarks.public_data import public_data
from benchmarks.report import Absent, Bar, Result, farthest
from benchmarks.timing import alternate
from ingenuo.kernels.threads import width
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.networks.network import Network

Floats = NDArray[np.float64]

ROWS = 1_000_000  # of the table that TAN learns; a tenth of them is classified; of samples, at most so many
DRAWN = 20_000  # rows of the samples, and those drawn from networks
DRAWS = (0, 1, 2)  # seeds
COLUMNS, CLASSES = 30, 3  # of the table that TAN learns
HOLES = 0.1  # of the cells are missing
TARGET = "VALV"  # the class of alarm's rows: four states, and eight nodes in its Markov blanket
AGRUM_ROWS, PGMPY_ROWS = 2_000, 50  # rows that a peer classifies
ESS = 1.0  # the equivalent sample size of BDeu, which pyAgrum has fixed
SHORTFALL = 1e-3  # the share by which the score of a quick search may be below the peer's


# What is there.


def _peer(name: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # pgmpy is moving its modules
            return importlib.import_module(name)
    except ImportError as missing:
        raise Absent(f"{name} is not installed") from missing


def with_threads(call: Callable[[], Any]) -> Callable[[], Any]:
    """The call of pyAgrum with all threads and with one, in turns."""
    gum = _peer("pyagrum")
    numbers = cycle((width(), 1))

    def turn() -> Any:
        gum.setNumberOfThreads(next(numbers))
        return call()

    return turn


def _file(name: str) -> Path:
    path = public_data(name)
    if path is None:
        raise Absent(f"the file {Path(name).name} is not there; set INGENUO_DATA to the folder that has {name}")
    return path


def sample(rows: int) -> pd.DataFrame:
    """Rows drawn from alarm, by others, as categories."""
    table = pd.read_csv(_file("network-samples/alarm.csv.gz"), dtype=str, keep_default_na=False, nrows=rows)
    return table.astype("category")


def drawn(name: str, rows: int, seed: int) -> tuple[Network, pd.DataFrame]:
    """A network, and rows that we draw from it."""
    truth = Network.read(_file(f"networks/{name}.bif.gz"))
    return truth, truth.sample(min(rows, DRAWN), random_state=seed).to_pandas().astype("category")


def chained(rows: int) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Thirty columns of 5 to 10 categories, each of which follows the class and the column before it at times."""
    rng = np.random.default_rng(8)
    y = rng.integers(0, CLASSES, rows)
    columns, before = {}, y
    for j in range(COLUMNS):
        states = 5 + j % 6
        follows = rng.integers(0, states, (CLASSES, 10))
        before = np.where(rng.random(rows) < 0.4, follows[y, before], rng.integers(0, states, rows))
        columns[f"c{j}"] = pd.Categorical.from_codes(before.astype(np.int8), [f"v{i}" for i in range(states)])
    return pd.DataFrame(columns), y


# The same network, as the peers have it.


def of_agrum(network: Network) -> Any:
    """The network as pyAgrum's."""
    gum = _peer("pyagrum")
    result = gum.BayesNet(network.name)
    for node, states in network.states.items():
        result.add(gum.LabelizedVariable(node, node, [str(state) for state in states]))
    for arc in network.arcs:
        result.addArc(*arc)
    for node, table in network.tables.items():
        axes = [*network.parents[node], node]
        # The axes of pyAgrum's arrays are its names backwards.
        order = [axes.index(name) for name in reversed(result.cpt(node).names)]
        result.cpt(node)[:] = np.ascontiguousarray(table.transpose(order))
    return result


def of_pgmpy(network: Network) -> Any:
    """The network as pgmpy's."""
    models, factors = _peer("pgmpy.models"), _peer("pgmpy.factors.discrete")
    _peer("pgmpy.global_vars").config.set_show_progress(False)
    result = models.DiscreteBayesianNetwork(network.arcs)
    result.add_nodes_from(network.nodes)
    for node, table in network.tables.items():
        above, own = list(network.parents[node]), table.shape[-1]
        named = {each: network.states[each] for each in (node, *above)}
        sizes = list(table.shape[:-1])
        result.add_cpds(
            factors.TabularCPD(node, own, table.reshape(-1, own).T, above or None, sizes or None, state_names=named)
        )
    return result


# Structures.


def learner(table: pd.DataFrame, score: str) -> Any:
    """pyAgrum's greedy hill-climbing of the table."""
    result = _peer("pyagrum").BNLearner(table.astype(str), ["?"], False)
    {"bic": result.useScoreBIC, "bdeu": result.useScoreBDeu}[score]()
    result.useGreedyHillClimbing()
    return result


def by_agrum(learner: Any, table: pd.DataFrame) -> Network:
    """The structure that pyAgrum finds."""
    found = learner.learnDAG()
    arcs = [(learner.nameFromId(up), learner.nameFromId(down)) for up, down in found.arcs()]
    return Network.from_arcs(arcs, nodes=list(table.columns))


def by_pgmpy(table: pd.DataFrame, score: str) -> Network:
    """The structure that pgmpy finds."""
    search, scores = _peer("pgmpy.causal_discovery"), _peer("pgmpy.structure_score")
    measure = scores.BIC(table) if score == "bic" else scores.BDeu(table, equivalent_sample_size=ESS)
    found = search.HillClimbSearch(scoring_method=measure, return_type="dag", show_progress=False).fit(table)
    return Network.from_arcs(list(found.causal_graph_.edges()), nodes=list(table.columns))


def climbing(peer: str, score: str, rows: int) -> Duel:
    """Hill-climbing on the rows of alarm; how far our score is below the peer's, if it is."""
    table = sample(rows)
    if peer == "pyAgrum":
        ready = learner(table, score)
        find: Callable[[], Network] = with_threads(partial(by_agrum, ready, table))
    else:
        _peer("pgmpy.causal_discovery")
        find = partial(by_pgmpy, table, score)

    def scores(theirs: Network, own: Network) -> tuple[float, float]:
        return theirs.score(table, score, ESS), own.score(table, score, ESS)

    def shortfall(theirs: Network, own: Network) -> float:
        peers, ours = scores(theirs, own)
        return max(0.0, (peers - ours) / abs(peers))

    def remark(theirs: Network, own: Network) -> str:
        peers, ours = scores(theirs, own)
        return f"{len(table):,} rows, score {peers:,.1f} / {ours:,.1f}, arcs {len(theirs.arcs)} / {len(own.arcs)}"

    return Duel(
        find,
        lambda: Network.learn(table, "hill-climb", score=score, ess=ESS, verbose=False),
        shortfall,
        int(table.memory_usage(index=False, deep=True).sum()),
        remark=remark,
    )


def tan(rows: int) -> Duel:
    """TAN on all rows; pyAgrum's on one in a hundred (it is linear: 126 s a million), whose trees agree."""
    X, y = chained(rows)
    processor, skbn = _peer("pyagrum.lib.discreteTypeProcessor"), _peer("pyagrum.skbn")
    few = X.iloc[: max(rows // 100, 1000)]
    labels = y[: len(few)]

    def theirs() -> Any:
        made = skbn.BNClassifier(type_processor=processor.DiscreteTypeProcessor(), learningMethod="TAN")
        return made.fit(few.astype(str), labels.astype(str))

    def different(theirs: Any, _: Any) -> float:
        own = _edges(NetworkClassifier("tan", verbose=False).fit(few, labels).network_.arcs)
        found = theirs.bn_
        return float(len(own ^ _edges((found.variable(a).name(), found.variable(b).name()) for a, b in found.arcs())))

    return Duel(
        with_threads(theirs),
        lambda: NetworkClassifier("tan", verbose=False).fit(X, y),
        different,
        int(X.memory_usage(index=False).sum()),
        (float(len(few)), float(rows)),
        lambda *_: "differs: edges of the trees on the peer's rows",
    )


def _edges(arcs: Any) -> set[frozenset[str]]:
    """Without directions, and without the class, which goes by another name."""
    return {frozenset(arc) for arc in arcs if not {"class", "y"} & set(arc)}


# Answers.


@dataclass(frozen=True)
class PerRow:
    """Microseconds a row, of the two sides' own numbers of rows."""

    name: str
    bar: Bar
    prepare: Callable[[int], Duel]
    tolerance: float = 1e-6

    def measure(self, rows: int, repeat: int) -> Result:
        """Both in turns."""
        duel = self.prepare(rows)
        theirs, own, their_result, our_result = alternate(duel.peer, duel.ours, repeat)
        difference, remark = duel.outcome(their_result, our_result)
        peer, ours = (1e6 * side.best / amount for side, amount in zip((theirs, own), duel.amounts))
        note = f"{duel.amounts[0]:,.0f} / {duel.amounts[1]:,.0f} rows in {theirs.best:.3g} / {own.best:.3g} s" + remark
        return Result(self.name, "µs/row", peer, ours, self.bar, difference, self.tolerance, note)


@cache
def learned(rows: int) -> NetworkClassifier:
    """Hill-climbing on the rows of alarm, and a classifier with that structure."""
    table = sample(rows)
    network = Network.learn(table, "hill-climb", verbose=False)
    return NetworkClassifier(network, verbose=False).fit(table, TARGET)


def asked(model: NetworkClassifier, rows: int, holes: float) -> pd.DataFrame:
    """New rows from the network without the class, some of their cells missing."""
    table = model.network_.sample(rows, random_state=1).to_pandas().drop(columns=TARGET).astype("category")
    return table.mask(np.random.default_rng(2).random(table.shape) < holes) if holes else table


def classifying(peer: str, holes: float, rows: int) -> Duel:
    """The same tables on both sides; the posteriors of the peer's rows are compared, off the clock."""
    model = learned(rows)
    table = asked(model, max(rows // 10, 100), holes)
    few = table.iloc[: AGRUM_ROWS if peer == "pyAgrum" else PGMPY_ROWS]
    of_peer = (by_rows_of_agrum if peer == "pyAgrum" else by_rows_of_pgmpy)(model.network_, few, holes > 0)

    def difference(theirs: Any, own: Any) -> float:
        known = model.predict_proba(few)
        best = known.max(axis=1)
        at = {label: place for place, label in enumerate(model.classes_.tolist())}
        chosen = known[np.arange(len(few)), [at[label] for label in theirs]]
        # A label is right where it is as probable as the best, to rounding.
        return max(farthest(of_peer.posteriors(), known), float((best - chosen).max()))

    return Duel(
        of_peer.labels,
        lambda: model.predict(table),
        difference,
        int(table.memory_usage(index=False).sum()),
        (float(len(few)), float(len(table))),
        lambda theirs, own: f"{np.mean(np.asarray(theirs) == own[: len(few)]):.2%} of the labels the same",
    )


@dataclass(frozen=True)
class Answers:
    """What a peer says of some rows."""

    labels: Callable[[], Any]
    posteriors: Callable[[], Floats]


def _known_of(table: pd.DataFrame) -> list[dict[str, str]]:
    return [
        {name: value for name, value in row.items() if isinstance(value, str)}
        for row in table.astype(object).to_dict("records")
    ]


def by_rows_of_agrum(network: Network, table: pd.DataFrame, holes: bool) -> Answers:
    """pyAgrum's classifier; with missing values, which it does not take, its inference row by row."""
    made = of_agrum(network)
    if not holes:
        processor, skbn = _peer("pyagrum.lib.discreteTypeProcessor"), _peer("pyagrum.skbn")
        classifier = skbn.BNClassifier(type_processor=processor.DiscreteTypeProcessor())
        classifier.fromTrainedModel(made, TARGET, variableList=list(table.columns))
        given = table.astype(str)
        return Answers(with_threads(lambda: classifier.predict(given)), lambda: classifier.predict_proba(given))
    inference = _peer("pyagrum").LazyPropagation(made)
    inference.setTargets({TARGET})
    known, states = _known_of(table), np.array(network.states[TARGET])

    def posteriors() -> Floats:
        found = []
        for row in known:
            inference.setEvidence(row)
            inference.makeInference()
            found.append(inference.posterior(TARGET).toarray())
        return np.array(found)

    return Answers(with_threads(lambda: states[posteriors().argmax(axis=1)]), posteriors)


def by_rows_of_pgmpy(network: Network, table: pd.DataFrame, holes: bool) -> Answers:
    """pgmpy's prediction; with missing values, which it does not take, variable elimination row by row."""
    made = of_pgmpy(network)
    states = network.states[TARGET]
    query = _peer("pgmpy.inference").VariableElimination(made).query
    known = _known_of(table)

    def posteriors() -> Floats:
        factors = [query([TARGET], row, show_progress=False) for row in known]
        return np.array([[each.get_value(**{TARGET: state}) for state in states] for each in factors])

    if holes:
        return Answers(lambda: np.array(states)[posteriors().argmax(axis=1)], posteriors)
    given = table.astype(str)

    def labels() -> Any:
        with contextlib.redirect_stderr(io.StringIO()):  # it shows its progress, asked or not
            return made.predict(given, n_jobs=1)[TARGET].to_numpy()

    return Answers(labels, posteriors)


def believing(rows: int) -> Duel:
    """Every posterior of alarm after evidence on one node, whose states take turns so that nothing can be kept."""
    network = Network.read(_file("networks/alarm.bif.gz"))
    inference = _peer("pyagrum").LazyPropagation(of_agrum(network))
    above = {up for up, _ in network.arcs}
    node = next(node for node in network.nodes if node not in above)
    turns: list[Iterator[Any]] = [cycle(network.states[node]) for _ in range(2)]

    def theirs() -> list[Any]:
        inference.setEvidence({node: str(next(turns[0]))})
        inference.makeInference()
        return [inference.posterior(each).toarray() for each in network.nodes]

    def difference(theirs: Any, own: Any) -> float:
        return max(farthest(a, list(b.values())) for a, b in zip(theirs, own.values()))

    return Duel(
        with_threads(theirs),
        lambda: network.posteriors({node: next(turns[1])}),
        difference,
        sum(table.nbytes for table in network.tables.values()),
        remark=lambda *_: f"{len(network.nodes)} nodes, evidence on {node}",
    )


# How good the structures are.


@dataclass(frozen=True)
class Quality:
    """BDeu of what hill-climbing finds in rows drawn from a network: less nats a row, better; the worst draw counts."""

    network: str

    @property
    def name(self) -> str:
        return f"score of hill-climbing, {self.network}"

    def measure(self, rows: int, repeat: int) -> Result:
        """Each draw once."""
        losses, distances = [], []
        _peer("pyagrum").setNumberOfThreads(1)
        for seed in DRAWS:
            truth, table = drawn(self.network, rows, seed)
            found = (
                by_agrum(learner(table, "bdeu"), table),
                Network.learn(table, "hill-climb", score="bdeu", ess=ESS, verbose=False),
            )
            losses.append([-each.score(table, "bdeu", ESS) / len(table) for each in found])
            distances.append([len(edges(truth) ^ edges(each)) for each in found])
        peer, ours = max(losses, key=lambda each: each[1] - each[0])
        shown = "; ".join(f"{-a * len(table):,.1f} / {-b * len(table):,.1f}" for a, b in losses)
        apart = "; ".join(f"{a} / {b}" for a, b in distances)
        note = f"{len(table):,} rows, BDeu {shown}; edges that differ from the truth's {apart}"
        # Equal structures have equal scores, to rounding.
        return Result(self.name, "nats", peer, ours, Bar(limit=peer * (1 + 1e-12), why="(pyAgrum's)"), note=note)


def edges(network: Network) -> set[frozenset[str]]:
    """The arcs without their directions, some of which no rows can tell."""
    return set(map(frozenset, network.arcs))


def _within(times: float, limit: float | None = None) -> Bar:
    """So many times as long as the peer at most."""
    return Bar(1 / times, limit, f"(within {times:g}×)")


def cases() -> list[Case]:
    """Every case of this suite."""
    found: list[Case] = [
        Race(f"hill-climbing alarm, {name}, {peer}", bar, partial(climbing, peer, score), SHORTFALL)
        for peer, bar in (("pyAgrum", _within(1.5)), ("pgmpy", Bar(20)))
        for name, score in (("BIC", "bic"), ("BDeu", "bdeu"))
    ]
    found.append(PerRow("TAN, pyAgrum", Bar(limit=10.0, why="(10 s a million)"), tan, 0.0))
    found += [
        PerRow(f"classify{what}, {peer}", Bar(least), partial(classifying, peer, holes))
        for what, holes, least in (("", 0.0, 20.0), (" with 10 % missing", HOLES, 10.0))
        for peer in ("pyAgrum", "pgmpy")
    ]
    found.append(Race("all posteriors of alarm, pyAgrum", _within(5, 0.02), believing))
    found += [Quality(name) for name in ("asia", "child", "insurance", "alarm")]
    return [*found, *networks_tables.cases()]
