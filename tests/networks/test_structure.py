"""Structures from data: scores are what their definitions say, searches end at tops and keep to what was asked."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from benchmarks.public_data import public_data
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from ingenuo.errors import CycleError, InputError, NetworkError
from ingenuo.networks import search, trees
from ingenuo.networks.graph import find_cycle
from ingenuo.networks.search import SCORES, Constraints, Sample, Scorer
from ingenuo.networks.trees import PairCounts, naive

# The arcs of the Asia network, in the order of the columns below.
ASIA = ((), (0,), (), (2,), (2,), (1, 3), (5,), (4, 5))


def hill_climb(sample, score="bic", *, ess=1.0, required=(), forbidden=(), max_parents=None, names=None, **options):
    bounds = Constraints(sample.cards, required, forbidden, max_parents, names)
    return search.hill_climb(Scorer(sample, score, ess=ess), bounds, **options)


def k2(sample, order, score="k2", **limits):
    return search.k2(Scorer(sample, score), Constraints(sample.cards, **limits), list(order))


def chow_liu(sample, root=0):
    return trees.chow_liu(PairCounts.of(sample.codes, sample.cards, sample.weights), root)


def with_class(tree, sample, target, *options):
    """A tree over columns of which the target is the class, wherever it stands."""
    places = [target, *(place for place in range(sample.n_columns) if place != target)]
    pairs = PairCounts.of(sample.codes[places], [sample.cards[place] for place in places], sample.weights)
    return tree(pairs, *options).move(places)


def tan(sample, target, root=None):
    return with_class(trees.tan, sample, target, root)


def kdb(sample, target, k):
    return with_class(trees.kdb, sample, target, k)


def asia(n, seed=0):
    """Rows of the Asia network; the visit is commoner than in the textbook, so that a sample can show its arc."""
    rng = np.random.default_rng(seed)
    visit = rng.random(n) < 0.3
    tuberculosis = rng.random(n) < np.where(visit, 0.25, 0.05)
    smoking = rng.random(n) < 0.5
    cancer = rng.random(n) < np.where(smoking, 0.3, 0.05)
    bronchitis = rng.random(n) < np.where(smoking, 0.6, 0.3)
    either = tuberculosis | cancer
    ray = rng.random(n) < np.where(either, 0.98, 0.05)
    breath = rng.random(n) < np.where(bronchitis, np.where(either, 0.9, 0.8), np.where(either, 0.7, 0.1))
    columns = [visit, tuberculosis, smoking, cancer, bronchitis, either, ray, breath]
    return Sample([column.astype(np.int32) for column in columns], [2] * 8)


def chained(n_nodes, n_rows, seed=0, holes=0.0, card=3):
    """Columns of which each depends on one or two before it."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, card, n_rows)]
    for j in range(1, n_nodes):
        mixed = columns[j - 1] + columns[rng.integers(0, j)]
        columns.append(np.where(rng.random(n_rows) < 0.3, rng.integers(0, card, n_rows), mixed) % card)
    columns = [np.where(rng.random(n_rows) < holes, -1, column) for column in columns]
    return Sample(columns, [card] * n_nodes)


def by_definition(sample, score, node, parents, ess=1.0):
    """The local score in plain numpy."""
    members = [*sorted(parents), node]
    codes, cards = sample.codes[members], [sample.cards[member] for member in members]
    weights = np.ones(sample.n_rows) if sample.weights is None else sample.weights
    known = (codes >= 0).all(axis=0)
    table = np.zeros(cards)
    np.add.at(table, tuple(codes[:, known]), weights[known])
    table = table.reshape(-1, cards[-1])
    q, r = table.shape
    if score in ("bdeu", "k2"):
        alpha = ess / (q * r) if score == "bdeu" else 1.0
        term = (gammaln(alpha + table) - gammaln(alpha)).sum()
        term -= (gammaln(alpha * r + table.sum(axis=1)) - gammaln(alpha * r)).sum()
    else:
        share = table / np.where(table.sum(axis=1, keepdims=True) > 0, table.sum(axis=1, keepdims=True), 1)
        term = (table * np.log(np.where(table > 0, share, 1))).sum()
    if table.sum() > 0:
        term *= weights.sum() / table.sum()
    elif parents:
        return -math.inf
    return term - q * (r - 1) * {"bic": math.log(weights.sum()) / 2, "aic": 1.0}.get(score, 0.0)


@st.composite
def samples(draw, holes=True):
    n_nodes, n_rows = draw(st.integers(1, 4)), draw(st.integers(1, 30))
    cards = draw(st.lists(st.integers(1, 4), min_size=n_nodes, max_size=n_nodes))
    lowest = -1 if holes else 0
    columns = [np.array(draw(st.lists(st.integers(lowest, c - 1), min_size=n_rows, max_size=n_rows))) for c in cards]
    weights = draw(st.none() | st.lists(st.floats(0.1, 10), min_size=n_rows, max_size=n_rows))
    return Sample(columns, cards, None if weights is None else np.array(weights))


@settings(max_examples=60, deadline=None)
@given(samples(), st.sampled_from(SCORES), st.floats(0.5, 20), st.data())
def test_a_local_score_is_its_definition(sample, score, ess, data):
    node = data.draw(st.integers(0, sample.n_columns - 1))
    others = [other for other in range(sample.n_columns) if other != node]
    parents = data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    found = Scorer(sample, score, ess=ess).local(node, parents)
    assert found == pytest.approx(by_definition(sample, score, node, parents, ess), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("score", SCORES)
def test_rows_joined_numbered_or_counted_plainly_score_the_same(score, monkeypatch):
    sample = chained(5, 60, holes=0.1, card=6)  # 6⁴ configurations of four parents are far more than rows
    repeated = Sample(np.tile(sample.codes, 3), sample.cards)
    weighted = Sample(sample.codes, sample.cards, np.full(60, 3.0))
    assert repeated.distinct().n_rows < repeated.n_rows
    families = [(node, set(range(5)) - {node}) for node in range(5)] + [(0, {1, 2}), (3, ())]
    for node, parents in families:
        expected = by_definition(repeated, score, node, parents)
        assert Scorer(repeated, score).local(node, parents) == pytest.approx(expected, rel=1e-10)
        assert Scorer(weighted, score).local(node, parents) == pytest.approx(expected, rel=1e-10)
    monkeypatch.setattr(search, "_KEPT_UP_TO", 0)
    scorer = Scorer(repeated, score)
    for node, parents in families:
        assert scorer.local(node, parents) == pytest.approx(by_definition(repeated, score, node, parents), rel=1e-10)


def test_what_is_known_is_not_counted_again(monkeypatch):
    scorer = Scorer(chained(4, 50), "bic")
    (first,) = scorer.extend([(0, [1], [2, 3])])
    monkeypatch.setattr(search, "data_terms", None)
    assert [scorer.local(0, [2, 1]), scorer.local(0, [1, 3])] == first


def test_a_family_without_a_complete_row_scores_least():
    sample = Sample([np.array([0, 1, -1, -1]), np.array([-1, -1, 0, 1])], [2, 2])
    assert Scorer(sample, "bic").local(0, [1]) == -math.inf
    assert hill_climb(sample, "bic").parents == ((), ())
    assert hill_climb(sample, "bic", required=[(0, 1)]).parents == ((), (0,))
    assert hill_climb(sample, "bic", start=[(), (0,)]).parents == ((), ())
    twice = Sample(np.concatenate([sample.codes, sample.codes]), [2] * 4)
    assert hill_climb(twice, "bdeu", tabu=0, start=[(), (0,), (), (2,)]).score > -math.inf


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "k2"])
def test_scores_are_those_of_pyagrum_and_pgmpy(score):
    gum = pytest.importorskip("pyagrum")
    estimators = pytest.importorskip("pgmpy.estimators")
    sample = chained(5, 400, seed=3)
    names = [f"v{node}" for node in range(5)]
    frame = pd.DataFrame({name: [f"s{code}" for code in column] for name, column in zip(names, sample.codes)})
    ours = Scorer(sample, score)
    learner = gum.BNLearner(frame)
    getattr(learner, {"bic": "useScoreBIC", "aic": "useScoreAIC", "bdeu": "useScoreBDeu", "k2": "useScoreK2"}[score])()
    peer = {"bic": "BIC", "aic": "AIC", "bdeu": "BDeu", "k2": "K2"}[score]
    theirs = getattr(estimators, peer)(frame, **({"equivalent_sample_size": 1} if score == "bdeu" else {}))
    for node, parents in [(0, ()), (1, (0,)), (2, (0, 1)), (4, (1, 2, 3))]:
        found, above = ours.local(node, parents), [names[parent] for parent in parents]
        # pyAgrum's scores are in bits; its AIC takes 1 bit for a parameter where the others take 1 nat, and its BDeu
        # rests on an approximation of log Γ that is off by some nats for arguments far below 1.
        if score == "aic":
            parameters = 2 * 3 ** len(parents)
            assert learner.score(names[node], above) * math.log(2) == pytest.approx(
                found + parameters * (1 - math.log(2)), rel=1e-9
            )
        elif score != "bdeu":
            assert learner.score(names[node], above) * math.log(2) == pytest.approx(found, rel=1e-7)
        # pgmpy's K2 is off by log Γ(states) for each configuration that does not occur; the last family has some.
        if score != "k2" or len(parents) < 3:
            assert theirs.local_score(names[node], above) == pytest.approx(found, rel=1e-10)


def neighbours(parents):
    """All structures one change away."""
    n = len(parents)
    arcs = {(parent, child) for child, above in enumerate(parents) for parent in above}
    for parent, child in itertools.permutations(range(n), 2):
        if (parent, child) in arcs:
            yield arcs - {(parent, child)}
            yield arcs - {(parent, child)} | {(child, parent)}
        elif (child, parent) not in arcs:
            yield arcs | {(parent, child)}


def replay(start, path):
    """The structure to which the path leads."""
    arcs = {(parent, child) for child, above in enumerate(start) for parent in above}
    for step in path:
        if step.arc is not None:
            arcs ^= {step.arc} if step.change != "reverse" else {step.arc, step.arc[::-1]}
    return tuple(structure(len(start), arcs))


def structure(n, arcs):
    return [tuple(sorted(parent for parent, child in arcs if child == node)) for node in range(n)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "k2"])
def test_no_single_change_improves_what_is_found(score, seed):
    sample = chained(6, 150, seed, holes=0.05 * (seed % 2), card=2 + seed % 3)
    found = hill_climb(sample, score, ess=2.0, tabu=seed * 3, restarts=seed)
    scorer = Scorer(sample, score, ess=2.0)
    assert found.score == pytest.approx(scorer.total(found.parents), rel=1e-12)
    for arcs in neighbours(found.parents):
        other = structure(6, arcs)
        if find_cycle(other) is None:
            assert scorer.total(other) <= found.score + 1e-7


@pytest.mark.parametrize("restarts", [0, 4])
def test_the_path_leads_to_what_is_found(restarts):
    sample = chained(7, 200, 5)
    start = [(), (0,), (0,), (), (3,), (), ()]
    heard = []
    found = hill_climb(
        sample, "bdeu", restarts=restarts, start=start, required=[(3, 4)], progress=lambda *told: heard.append(told)
    )
    assert replay(start, found.path) == found.parents
    scorer, here = Scorer(sample, "bdeu"), start
    score = scorer.total(start)
    for k, step in enumerate(found.path):
        here = replay(start, found.path[: k + 1])
        assert find_cycle(here) is None
        assert step.score == pytest.approx(scorer.total(here), rel=1e-12)
        assert step.score == pytest.approx(score + step.gain, rel=1e-10)
        score = step.score
    assert found.score == found.path[-1].score
    assert [number for number, _ in heard] == list(range(1, len(heard) + 1))
    assert max(score for _, score in heard) == pytest.approx(found.score, rel=1e-12)


def test_the_same_seed_finds_the_same():
    sample = chained(8, 150, 2)
    assert hill_climb(sample, restarts=3, random_state=7) == hill_climb(sample, restarts=3, random_state=7)


def test_on_four_nodes_the_best_of_all_structures_is_found():
    every = []
    for chosen in itertools.product([0, 1, 2], repeat=6):
        pairs = itertools.combinations(range(4), 2)
        every.append(structure(4, {pair[:: 3 - 2 * turn] for pair, turn in zip(pairs, chosen) if turn}))
    every = [parents for parents in every if find_cycle(parents) is None]
    assert len(every) == 543
    hits = 0
    for seed in range(6):
        sample = chained(4, 120, seed)
        scorer = Scorer(sample, "bdeu")
        best = max(scorer.total(parents) for parents in every)
        hits += hill_climb(sample, "bdeu", restarts=5).score == pytest.approx(best, rel=1e-12)
    assert hits == 6


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_required_forbidden_and_most_parents_are_kept_to(data):
    sample = chained(5, 80, data.draw(st.integers(0, 3)))
    pairs = list(itertools.permutations(range(5), 2))
    drawn = data.draw(st.lists(st.sampled_from(pairs), unique=True, max_size=8))
    required = [pair for pair in drawn[:3] if pair[0] < pair[1]]
    forbidden = [pair for pair in drawn if pair not in required]
    most = data.draw(st.integers(0, 3))
    arguments = {"required": required, "forbidden": forbidden, "max_parents": most}
    if max([0, *(sum(child == node for _, child in required) for node in range(5))]) > most:
        with pytest.raises(NetworkError, match="raise max_parents"):
            hill_climb(sample, "aic", **arguments)
        return
    for found in (hill_climb(sample, "aic", restarts=1, **arguments), k2(sample, range(5), "aic", **arguments)):
        assert set(required) <= set(found.arcs)
        assert not set(forbidden) & set(found.arcs)
        assert max(map(len, found.parents)) <= most
        assert find_cycle(found.parents) is None


def test_what_cannot_be_kept_to_is_named():
    sample, names = chained(3, 20), ["rain", "sprinkler", "grass"]
    with pytest.raises(NetworkError, match="the arc rain → grass is both required and forbidden"):
        hill_climb(sample, required=[(0, 2)], forbidden=[(0, 2)], names=names)
    with pytest.raises(CycleError, match="rain → grass → rain"):
        hill_climb(sample, required=[(0, 2), (2, 0)], names=names)
    with pytest.raises(NetworkError, match="grass has 2 required parents, but at most 1"):
        hill_climb(sample, required=[(0, 2), (1, 2)], max_parents=1, names=names)
    with pytest.raises(CycleError, match="1 → 1"):
        hill_climb(sample, required=[(1, 1)])
    with pytest.raises(NetworkError, match="goes against the order"):
        k2(sample, [0, 1, 2], required=[(2, 0)])


def test_a_table_too_large_is_never_proposed(monkeypatch):
    sample = asia(2000)
    assert max(map(len, hill_climb(sample, "aic").parents)) >= 2
    monkeypatch.setattr(search, "MOST_CELLS", 4)
    assert max(map(len, hill_climb(sample, "aic").parents)) == 1
    with pytest.raises(NetworkError, match="table of 2 has 8 cells, more than 4"):
        hill_climb(sample, "aic", required=[(0, 2), (1, 2)])


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_asia_is_recovered_from_many_rows(score):
    found = hill_climb(asia(50_000), score, restarts=3)
    edges = (
        {frozenset((up, down)) for down, above in enumerate(each) for up in above} for each in (found.parents, ASIA)
    )
    assert next(edges) == next(edges)
    # Structures of one equivalence class, and as a rule no others, have the same score.
    assert found.score == pytest.approx(Scorer(asia(50_000), score).total(ASIA), rel=1e-12)


def test_k2_with_a_right_order_recovers_asia():
    found = k2(asia(50_000), [0, 2, 1, 3, 4, 5, 6, 7], max_parents=3)
    assert found.parents == ASIA
    assert found.score == pytest.approx(Scorer(asia(50_000), "k2").total(ASIA), rel=1e-12)


def test_hill_climbing_is_no_worse_than_pyagrums_on_alarm():
    gum = pytest.importorskip("pyagrum")
    path = public_data("network-samples/alarm.csv.gz")
    if path is None:
        pytest.skip("the sample of the alarm network is not here")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    names = list(frame.columns)
    columns = [pd.factorize(frame[name], sort=True) for name in names]
    sample = Sample([codes for codes, _ in columns], [len(states) for _, states in columns])
    learner = gum.BNLearner(frame)
    learner.setNumberOfThreads(1)
    learner.useScoreBDeu()
    learner.useGreedyHillClimbing()
    graph = learner.learnDAG()
    theirs = [
        tuple(names.index(learner.nameFromId(parent)) for parent in graph.parents(learner.idFromName(name)))
        for name in names
    ]
    assert hill_climb(sample, "bdeu").score >= Scorer(sample, "bdeu").total(theirs)


# Trees


def mutual(a, b, given_=None):
    """Mutual information by its definition, over the rows where all are known."""
    given_ = np.zeros_like(a) if given_ is None else given_
    known = (a >= 0) & (b >= 0) & (given_ >= 0)
    a, b, given_ = a[known], b[known], given_[known]
    total = 0.0
    for x, y, z in set(zip(a.tolist(), b.tolist(), given_.tolist())):
        here = given_ == z
        both = ((a == x) & (b == y) & here).sum()
        total += both / len(a) * math.log(both * here.sum() / (((a == x) & here).sum() * ((b == y) & here).sum()))
    return total


def test_naive_is_a_star():
    assert naive(4).parents == ((), (0,), (0,), (0,))


def told(a, b, given_=None):
    """What the other rows tell of each row's b by its a, or of its a by its b: row by row, the lesser of the two."""
    known = (a >= 0) & (b >= 0) & (True if given_ is None else given_ >= 0)
    rows = list(zip(a[known], b[known], np.zeros(known.sum(), int) if given_ is None else given_[known]))

    def one_way(rows):
        values = len({b for _, b, _ in rows})
        gains = 0.0
        for i, (a, b, c) in enumerate(rows):
            others = [row for j, row in enumerate(rows) if j != i and row[2] == c]
            alike = [row for row in others if row[0] == a]
            anyway = (sum(row[1] == b for row in others) + 0.5) / (len(others) + values / 2)
            gains += math.log((sum(row[1] == b for row in alike) + anyway * values / 2) / (len(alike) + values / 2))
            gains -= math.log(anyway)
        return gains / len(rows)

    return min(one_way(rows), one_way([(b, a, c) for a, b, c in rows]))


def test_a_column_of_names_is_nobodys_parent():
    rng = np.random.default_rng(0)
    y, a = rng.integers(0, 2, 500), rng.integers(0, 3, 500)
    b = np.where(rng.random(500) < 0.8, a, rng.integers(0, 3, 500))
    names = np.arange(500)
    found = tan(Sample([y, a, b, names], [2, 3, 3, 500]), 0)
    assert not any(3 in above for above in found.parents)
    assert {frozenset(step.arc) for step in found.path if 0 not in step.arc} == {frozenset((1, 2))}
    assert not any(3 in above for above in kdb(Sample([y, a, b, names], [2, 3, 3, 500]), 0, 2).parents)


def test_tan_is_the_tree_worked_by_hand():
    # Within each class b repeats a, and c is free of both: a and b must be joined, and c stays by itself. Of the eight
    # rows of a class, the seven others tell b with 3.5 of 8; the three that have the same a with 3 + 3.5/8 of 4.
    y = np.repeat([0, 1], 8)
    a = np.tile([0, 0, 0, 0, 1, 1, 1, 1], 2)
    c = np.tile([0, 1], 8)
    sample = Sample([y, a, a, c], [2, 2, 2, 2])
    found = tan(sample, 0, root=2)
    assert found.parents == ((), (0, 2), (0,), (0,))
    gains = {step.arc: step.gain for step in found.path}
    assert gains[2, 1] == pytest.approx(math.log((3 + 3.5 / 8) / 4 / (3.5 / 8)))
    # Of the class by a: all others tell it with 7.5 of 16, the seven of the same a with 3 + 7.5/16 of 8.
    assert gains[0, 1] == pytest.approx(math.log((3 + 7.5 / 16) / 8 / (7.5 / 16)))
    assert found.score == pytest.approx(sum(gains.values()))
    assert found.measure == "information from the other rows"


@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_trees_have_the_most_information_of_all_trees(holes):
    sample = chained(5, 120, 4, holes)
    columns = sample.codes

    def best(nodes, given_, measure):
        pairs = list(itertools.combinations(nodes, 2))
        worth = {pair: measure(columns[pair[0]], columns[pair[1]], given_) for pair in pairs}
        totals = []
        for tree in itertools.combinations(pairs, len(nodes) - 1):
            reached = {nodes[0]}
            for _ in nodes:
                reached |= {node for pair in tree if reached & set(pair) for node in pair}
            if reached == set(nodes):
                totals.append(sum(worth[pair] for pair in tree if measure is mutual or worth[pair] > 0))
        return max(totals)

    assert chow_liu(sample, root=3).score == pytest.approx(best(range(5), None, mutual), rel=1e-9)
    found = tan(sample, 4)
    tree = [step for step in found.path if step.arc[0] != 4]
    assert sum(step.gain for step in tree) == pytest.approx(best(range(4), columns[4], told), rel=1e-9)
    star = {step.arc[1]: step.gain for step in found.path if step.arc[0] == 4}
    assert star == pytest.approx({node: told(columns[node], columns[4]) for node in range(4)}, rel=1e-9)
    assert found.parents[max(star, key=star.get)] == (4,)


def test_kdb_takes_the_k_nearest_of_those_that_say_more_of_the_target():
    sample = chained(6, 150, 6)
    columns, target = sample.codes, 2
    said = {node: told(columns[node], columns[target]) for node in range(6) if node != target}
    order = sorted(said, key=lambda node: -said[node])
    for k in range(4):
        found = kdb(sample, target, k)
        for place, node in enumerate(order):
            shared = {other: told(columns[node], columns[other], columns[target]) for other in order[:place]}
            near = sorted((other for other in shared if shared[other] > 0), key=lambda other: -shared[other])[:k]
            assert found.parents[node] == tuple(sorted([target, *near]))
    assert kdb(sample, target, 0).parents == naive(6).move([2, 0, 1, 3, 4, 5]).parents


def test_weights_count_as_rows_in_trees():
    sample = chained(5, 80, 3)
    weights = np.random.default_rng(0).integers(0, 4, 80)
    repeated = Sample(np.repeat(sample.codes, weights, axis=1), sample.cards)
    weighted = Sample(sample.codes, sample.cards, weights)
    assert tan(repeated, 1).parents == tan(weighted, 1).parents
    assert tan(repeated, 1).score == pytest.approx(tan(weighted, 1).score, rel=1e-10)


# Samples


def test_a_sample_needs_rows():
    with pytest.raises(InputError, match="no rows"):
        Sample([np.zeros(0, int)], [2])


@settings(max_examples=50, deadline=None)
@given(samples())
def test_joining_equal_rows_keeps_every_count(sample):
    joined = sample.distinct()
    assert joined.n_rows <= sample.n_rows
    assert joined.total == pytest.approx(sample.total)
    weights = [np.ones(s.n_rows) if s.weights is None else s.weights for s in (sample, joined)]
    counts = [dict.fromkeys(map(tuple, sample.codes.T.tolist()), 0.0) for _ in range(2)]
    for count, s, w in zip(counts, (sample, joined), weights):
        for row, weight in zip(map(tuple, s.codes.T.tolist()), w):
            count[row] += weight
    assert counts[0] == pytest.approx(counts[1])
