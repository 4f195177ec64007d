"""What a network learns from rows, and what it says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Codes
from ingenuo.errors import InputError, KindError, NetworkError, did_you_mean
from ingenuo.kernels import densities
from ingenuo.kernels.elimination import Flat
from ingenuo.labels import labels_of, objects, recode
from ingenuo.networks import learning
from ingenuo.networks.columns import cut, encoded, inspect, warn_of_names
from ingenuo.networks.evidence import place_of
from ingenuo.networks.expectation import broken_evenness, expectation_maximisation
from ingenuo.networks.inference.rows import log_joint
from ingenuo.networks.learnable import Learning
from ingenuo.networks.named_search import NamedSearch
from ingenuo.networks.network import Network
from ingenuo.networks.rows import column_of, columns_of, matrix, node_names, source_of
from ingenuo.networks.searching import STRUCTURES, Options, sample_of, search
from ingenuo.networks.structure import SCORES, Scorer
from ingenuo.prior import Laplace, Prior
from ingenuo.progress import Line
from ingenuo.schema import FAMILIES, column_name
from ingenuo.sources.weights import weights as row_weights

Floats = NDArray[np.float64]

MISSING = ("leave-out", "em")


def learn(
    table: Any,
    options: Options,
    *,
    target: str | None,
    columns: Mapping[Any, Any] | None,
    prior: Prior,
    bins: int,
    missing: str,
    sample_weight: Any,
) -> Network:
    """A network whose structure and tables are learned from rows."""
    options.check()
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer):
        raise KindError(f"bins must be a whole number, got {type(bins).__name__} {bins!r}")
    if bins < 2:
        raise InputError(f"bins must be 2 at least, got {bins}")
    if options.structure not in STRUCTURES:
        raise InputError("AODE averages networks, and is no single one; NetworkClassifier(structure='aode') has it")
    _check(prior, missing)
    source = source_of(table)
    weights = row_weights(sample_weight, source.n_rows)
    inspected = inspect(source, columns, weights)
    schema = inspected.schema
    used = np.flatnonzero(schema.families != list(FAMILIES).index("ignore")).tolist()
    nodes = node_names(source, used)
    place = None
    labels, n_classes = None, 0
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
        codes, own = column_of(source, used[place], target, {})
        labels, n_classes = codes, len(own)
    cuts = cut(source, inspected, labels, n_classes, weights, bins)
    block = encoded(source, schema, cuts, np.arange(len(schema.names)))
    warn_of_names(block, weights)
    found = search(block, nodes, options, place, weights)
    named = {node: cuts[name] for node, name in zip(nodes, schema.names[used].tolist()) if name in cuts}
    declared = {column_name(column): labels.tolist() for column, labels in schema.categories.items()}
    network = Network(
        nodes,
        found.parents,
        declared,
        cuts=named,
        target=target,
        search=NamedSearch.of(found, nodes) if options.structure != "naive" else None,
    )
    network._categories = frozenset(node for node in nodes if node not in named)
    return network.fit(table, prior=prior, missing=missing, sample_weight=sample_weight, verbose=options.verbose)


def _check(prior: Prior, missing: str) -> None:
    if not isinstance(prior, Prior):
        raise KindError(f"prior must be a Prior such as Laplace(), got {type(prior).__name__} {prior!r}")
    if missing not in MISSING:
        raise InputError(f"missing={missing!r} is not known{did_you_mean(missing, MISSING)}")


def fit(
    network: Learning,
    table: Any,
    prior: Prior,
    missing: str,
    sample_weight: Any,
    columns: Mapping[str, str] | None,
    iterations: int,
    tolerance: float,
    random_state: int,
    verbose: bool | None,
) -> None:
    """Learn the tables of a network."""
    _check(prior, missing)
    for node in columns or {}:
        place_of(network.nodes, node)
    codes, weights, cuts = columns_of(network, table, sample_weight, hidden=missing == "em", columns=columns)
    if missing == "leave-out":
        network._learned(learning.count(codes, network.nodes, network._parents, weights), prior, cuts)
        return
    if isinstance(iterations, bool) or not isinstance(iterations, int | np.integer) or iterations < 1:
        raise InputError(f"iterations must be a whole number of at least 1, got {iterations!r}")
    if not isinstance(tolerance, int | float) or not 0 <= tolerance < np.inf:
        raise InputError(f"tolerance must be a number, finite and not negative, got {tolerance!r}")
    try:
        np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise KindError(f"random_state must be a whole number or None, got {random_state!r}") from None
    hidden = [bool((np.asarray(column) < 0).all()) for column in codes.columns]
    codes = _with_declared(network, codes)
    assert codes.labels is not None
    for node, unseen, own in zip(network.nodes, hidden, codes.labels):
        if unseen and len(own) < 1:
            raise NetworkError(
                f"node {node!r} is never seen; declare its states: from_arcs(…, states={{{node!r}: […]}})"
            )
    # The tables of the rows that are whole are where it begins.
    tally = learning.count(codes, network.nodes, network._parents, weights)
    labels = list(codes.labels)
    counts = learning.counts_over(tally, network.nodes, network._parents, labels)
    _, imagined = learning.tables_of(network.nodes, counts, labels, prior)
    smooth, _ = learning.tables_of(network.nodes, counts, labels, Laplace())
    line = Line(verbose)
    try:
        found = expectation_maximisation(
            np.column_stack([np.asarray(column, np.int32) for column in codes.columns]),
            network._parents,
            broken_evenness(smooth, network._parents, hidden, random_state),
            imagined,
            weights,
            iterations=int(iterations),
            tolerance=float(tolerance),
            say=line.say,
        )
    finally:
        line.close()
    network._take(found.tables, labels, cuts)
    network.tally, network.prior, network.expectation = None, prior, found


def _with_declared(network: Learning, codes: Codes) -> Codes:
    """The codes, with the labels of nodes that are never seen, and sorted ones for the others."""
    assert codes.labels is not None
    columns, labels = [], []
    for node, column, own in zip(network.nodes, codes.columns, codes.labels):
        if not len(own) and node in network._declared:
            own = objects(list(network._declared[node]))
        elif node not in network._declared:
            ordered = labels_of(own)
            if ordered.tolist() != own.tolist():
                column, own = recode(np.asarray(column), own, ordered), ordered
        columns.append(column)
        labels.append(own)
    return Codes(codes.names, codes.n_rows, columns, labels)


def posteriors_of_rows(network: Network, table: Any, node: int) -> Floats:
    """P(node | what each row says of the others)."""
    joint = log_joint(_flat(network), matrix(network, table, without=node), node)
    observed = network._likelihoods.get(node)
    if observed is not None:
        joint += np.log(np.maximum(observed, 0), where=observed > 0, out=np.full(len(observed), -np.inf))
    impossible = densities.posterior(joint)
    if len(impossible):
        row = int(impossible[0])
        raise NetworkError(
            f"row {row} is impossible under the tables, whatever {network.nodes[node]!r} is; learn them with a prior "
            "that leaves nothing impossible, such as Laplace()"
        )
    return joint


def log_likelihoods(network: Network, table: Any) -> Floats:
    """log P(row) of each row."""
    codes = matrix(network, table)
    joint = log_joint(_flat(network), codes, 0)
    first = codes[:, 0]
    known = first >= 0
    result = np.logaddexp.reduce(joint, axis=1)
    result[known] = joint[known, first[known]]
    return np.asarray(result)


def _flat(network: Network) -> Flat:
    if network._likelihoods:
        raise NetworkError("rows are asked of the network itself; ask it before observe(…), or put it in the table")
    return Flat.of(network._parents, network._known_tables())


def score_of(network: Network, table: Any, score: str, ess: float) -> float:
    """The score of the structure on rows."""
    if score not in SCORES:
        raise InputError(f"score={score!r} is not known{did_you_mean(score, SCORES)}")
    codes, weights, _ = columns_of(network, table)
    return Scorer(sample_of(codes, weights), score, ess=ess).total(network._parents)
