"""Rows with missing values: what the kernel sums out against the sum over every completion, and the junction tree."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingenuo.errors import ImpossibleEvidenceError
from ingenuo.kernels import codes as networks
from ingenuo.kernels.codes import Flat, expected_counts, joint_by_class
from ingenuo.kernels.threads import limited
from ingenuo.networks import inference
from ingenuo.networks.inference import log_probability, sample

Net = tuple[list[tuple[int, ...]], list[Any]]


def random_network(rng: np.random.Generator, n: int, zeros: float = 0.2, most: int = 4, least: int = 1) -> Net:
    cards, places = rng.integers(least, most, n), rng.permutation(n)
    parents: list[tuple[int, ...]] = [()] * n
    tables: list[Any] = [None] * n
    for at, node in enumerate(places):
        above = rng.permutation(places[:at])[: rng.integers(0, 4)]
        shape = (*cards[above], cards[node])
        table = rng.random(shape) * (rng.random(shape) >= zeros)
        table[..., 0] += table.sum(axis=-1) == 0
        parents[node], tables[node] = tuple(above.tolist()), table / table.sum(axis=-1, keepdims=True)
    return parents, tables


def random_rows(rng: np.random.Generator, tables: list[Any], n: int, holes: float) -> Any:
    codes = np.column_stack([rng.integers(0, table.shape[-1], n) for table in tables])
    return np.where(rng.random(codes.shape) < holes, -1, codes)


def completions(network: Net, row: Any) -> list[tuple[tuple[int, ...], float]]:
    parents, tables = network
    choices = [range(table.shape[-1]) if code < 0 else [code] for table, code in zip(tables, row)]
    found = []
    for states in product(*choices):
        cells = [table[(*(states[a] for a in above), state)] for table, above, state in zip(tables, parents, states)]
        found.append((states, float(np.prod(cells))))
    return found


quick = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(st.integers(0, 2**32), st.integers(1, 7), st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_the_joint_with_each_class_is_the_sum_over_all_completions(seed: int, n: int, holes: float) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n)
    flat, codes, target = Flat.of(*network), random_rows(rng, network[1], 4, holes), int(rng.integers(n))
    found, wide = joint_by_class(flat, codes, target)
    assert not len(wide)
    for row, joint in zip(codes, found):
        expected = np.zeros(len(joint))
        for states, probability in completions(network, np.where(np.arange(n) == target, -1, row)):
            expected[states[target]] += probability
        assert ((expected == 0) == (joint == -np.inf)).all()
        np.testing.assert_allclose(np.exp(joint), expected, rtol=1e-9)


@quick
@given(st.integers(0, 2**32), st.integers(1, 6), st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_expected_counts_are_the_posterior_of_every_completion(seed: int, n: int, holes: float) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n)
    flat, codes, weights = Flat.of(*network), random_rows(rng, network[1], 4, holes), rng.random(4)
    expected = [np.zeros_like(table) for table in network[1]]
    logs = []
    for row, weight in zip(codes, weights):
        all_states = completions(network, row)
        total = sum(probability for _, probability in all_states)
        logs.append(np.log(total) if total else -np.inf)
        for states, probability in all_states if total else []:
            for node, above in enumerate(network[0]):
                expected[node][(*(states[a] for a in above), states[node])] += weight * probability / total
    counts, log_probabilities, wide = expected_counts(flat, codes, weights)
    assert not len(wide)
    np.testing.assert_allclose(log_probabilities, logs, rtol=1e-9, atol=1e-12)
    for found, table in zip(flat.shaped(counts), expected, strict=True):
        np.testing.assert_allclose(found, table, rtol=1e-9, atol=1e-12)


def sparse_example(n_rows: int, holes: float = 0.3) -> tuple[Net, Any]:
    rng = np.random.default_rng(7)
    network = random_network(rng, 14, zeros=0.0, least=2)
    codes = sample(*network, {}, n_rows, rng)
    return network, np.where(rng.random(codes.shape) < holes, -1, codes)


def test_rows_too_wide_for_the_scratch_are_answered_by_a_junction_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    network, codes = sparse_example(40, holes=0.6)
    flat = Flat.of(*network)
    joint, (counts, log_likelihood) = inference.log_joint(flat, codes, 2), inference.expected_counts(flat, codes)
    monkeypatch.setattr(networks, "SCRATCH", 6)
    assert len(joint_by_class(flat, codes, 2)[1]) > 0
    np.testing.assert_allclose(inference.log_joint(flat, codes, 2), joint, rtol=1e-9)
    again, same = inference.expected_counts(flat, codes)
    assert same == pytest.approx(log_likelihood, rel=1e-9)
    for one, other in zip(counts, again, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_the_log_likelihood_is_that_of_the_junction_tree() -> None:
    network, codes = sparse_example(20)
    _, logs, _ = expected_counts(Flat.of(*network), codes)
    for row, found in zip(codes, logs):
        known = {node: np.eye(network[1][node].shape[-1])[code] for node, code in enumerate(row) if code >= 0}
        assert found == pytest.approx(log_probability(*network, known), rel=1e-9)


def test_the_number_of_threads_does_not_change_a_bit() -> None:
    network, codes = sparse_example(3000)
    flat = Flat.of(*network)
    results = []
    for threads in (1, 3):
        with limited(threads):
            results.append((joint_by_class(flat, codes, 0)[0], expected_counts(flat, codes)[0]))
    assert (results[0][0] == results[1][0]).all()
    assert (results[0][1] == results[1][1]).all()


def test_a_thousand_observed_children_do_not_underflow_a_hidden_cause() -> None:
    n = 1000
    tables = [np.array([0.5, 0.5])] + [np.array([[0.9, 0.1], [0.01, 0.99]])] * n
    codes = np.array([[-1] + [0] * (n // 2) + [1] * (n // 2)])
    _, logs, _ = expected_counts(Flat.of([(), *[(0,)] * n], tables), codes)
    one, other = (n / 2 * (np.log(table[0]) + np.log(table[1])) for table in tables[1])
    assert logs[0] == pytest.approx(np.logaddexp(one, other) + np.log(0.5), rel=1e-12)


def test_a_row_of_missing_cells_only_is_counted_as_the_network_is() -> None:
    network, _ = sparse_example(1)
    counts, log_likelihood = inference.expected_counts(Flat.of(*network), np.full((5, 14), -1), np.full(5, 2.0))
    assert log_likelihood == pytest.approx(0.0, abs=1e-9)
    assert counts[3].sum() == pytest.approx(10.0)


def test_an_impossible_row_is_named() -> None:
    flat = Flat.of([()], [np.array([1.0, 0.0])])
    with pytest.raises(ImpossibleEvidenceError, match="row 1 has probability 0"):
        inference.expected_counts(flat, np.array([[0], [1]]))
    assert inference.expected_counts(flat, np.array([[0], [1]]), np.array([1.0, 0.0]))[1] == 0.0


def test_no_rows_are_no_trouble() -> None:
    flat = Flat.of([(), (0,)], [np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])])
    assert inference.log_joint(flat, np.zeros((0, 2), int), 0).shape == (0, 2)
    assert inference.expected_counts(flat, np.zeros((0, 2), int))[1] == 0.0


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, ">i4"])
def test_codes_of_any_type_and_layout_are_read(dtype: Any) -> None:
    network, codes = sparse_example(50)
    flat = Flat.of(*network)
    joint, (counts, logs, _) = inference.log_joint(flat, codes, 3), expected_counts(flat, codes)
    given = codes.astype(dtype)
    for other in (given, np.asfortranarray(given), np.repeat(given, 2, axis=0)[::2]):
        assert joint_by_class(flat, other, 3)[0].tobytes() == joint.tobytes()
        again = expected_counts(flat, other, np.ones(100)[::2])
        assert (again[0].tobytes(), again[1].tobytes()) == (counts.tobytes(), logs.tobytes())


def test_a_row_alone_is_what_it_is_among_others() -> None:
    network, codes = sparse_example(300)
    flat = Flat.of(*network)
    joint = inference.log_joint(flat, codes, 5)
    assert np.vstack([inference.log_joint(flat, row[np.newaxis], 5) for row in codes]).tobytes() == joint.tobytes()


def test_sums_of_many_cells_are_those_of_few() -> None:
    """One missing node below six known to none: its table of 4^6 cells is summed in many pieces."""
    rng = np.random.default_rng(3)
    tables: list[Any] = [np.full(4, 0.25)] * 6 + [rng.dirichlet(np.ones(3), (4,) * 6), rng.dirichlet(np.ones(2), 3)]
    parents: list[tuple[int, ...]] = [()] * 6 + [tuple(range(6)), (6,)]
    counts, logs, _ = expected_counts(Flat.of(parents, tables), np.array([[-1] * 7 + [1]]))
    total = (tables[6] @ tables[7][:, 1]).mean()
    assert logs[0] == pytest.approx(np.log(total), rel=1e-12)
    expected = tables[6] * tables[7][:, 1] / 4**6 / total
    np.testing.assert_allclose(Flat.of(parents, tables).shaped(counts)[6], expected, rtol=1e-9)
