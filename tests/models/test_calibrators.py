"""What calibrators promise: probabilities that are probabilities, the best fit of their kind, and no surprises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

from ingenuo.errors import InputError, KindError
from ingenuo.models.calibration import KINDS, choose, fit, from_arrays, log_odds


def overconfident(n: int = 2000, k: int = 3, times: float = 4.0, seed: int = 0) -> tuple[Any, Any]:
    """Log posteriors whose evidence was counted so many times, and the truth."""
    rng = np.random.default_rng(seed)
    honest = log_softmax(rng.normal(0, 1.5, (n, k)), axis=1)
    codes = (honest + rng.gumbel(size=honest.shape)).argmax(axis=1)
    return log_softmax(times * honest, axis=1), codes


def loss(logs: Any, codes: Any) -> float:
    return float(-logs[np.arange(len(codes)), codes].mean())


@st.composite
def harsh_scores(draw: Any) -> tuple[Any, Any, Any]:
    n, k = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    cell = st.one_of(st.floats(-1e5, 0), st.just(0.0), st.just(-np.inf), st.floats(-3, 0), st.just(-1e9))
    z = np.array([[draw(cell) for _ in range(k)] for _ in range(n)])
    z[np.arange(n), draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))] = draw(st.floats(-5, 0))
    codes = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    lengths = np.array(draw(st.lists(st.sampled_from([0, 1, 7, 10**9]), min_size=n, max_size=n)), float)
    return z, codes, draw(st.sampled_from([None, lengths]))


@pytest.mark.parametrize("kind", KINDS)
@given(harsh_scores())
@settings(max_examples=40, deadline=None)
def test_answers_are_probabilities_whatever_the_scores(kind: str, rows: tuple[Any, Any, Any]) -> None:
    z, codes, lengths = rows
    found = fit(kind, z, codes, None, lengths)
    p = np.exp(found.apply(z, lengths))
    assert p.shape == z.shape
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_arrays_bring_back_the_same_calibrator(kind: str, k: int) -> None:
    z, codes = overconfident(200, k)
    lengths = np.arange(200.0)
    for words in (None, lengths):
        found = fit(kind, z, codes, None, words)
        again = from_arrays(kind, found.arrays(), k)
        np.testing.assert_array_equal(found.apply(z, words), again.apply(z, words))
        assert found.describe() == again.describe()


@pytest.mark.parametrize("k", [2, 5])
def test_temperature_finds_how_often_evidence_was_counted(k: int) -> None:
    z, codes = overconfident(20_000, k, times=4.0)
    assert fit("temperature", z, codes).temperature == pytest.approx(4.0, rel=0.05)


def test_temperature_is_where_the_loss_is_least() -> None:
    z, codes = overconfident()
    found = fit("temperature", z, codes)
    best = minimize_scalar(lambda t: loss(log_softmax(z / np.exp(t), axis=1), codes), bounds=(-5, 5), method="bounded")
    assert found.temperature == pytest.approx(np.exp(best.x), rel=0.01)  # the imaginary row weighs 1 in 2000


def test_temperature_of_scores_of_a_hundred_thousand_nats_is_found() -> None:
    z, codes = overconfident(5000, 4, times=1e5)
    assert fit("temperature", z, codes).temperature == pytest.approx(1e5, rel=0.05)


def test_temperature_keeps_the_order_of_the_classes() -> None:
    z, codes = overconfident()
    np.testing.assert_array_equal(fit("temperature", z, codes).apply(z).argmax(axis=1), z.argmax(axis=1))


def test_scores_that_are_always_right_do_not_become_certain() -> None:
    z = np.log(np.array([[0.9, 0.1], [0.1, 0.9]] * 10))
    found = fit("temperature", z, np.array([0, 1] * 10))
    assert 0.5 < np.exp(found.apply(z)).max() < 1 - 1e-3


def test_platt_of_two_classes_is_the_minimum_over_his_targets() -> None:
    z, codes = overconfident(500, 2)
    found = fit("platt", z, codes)
    s, positive = z[:, 1] - z[:, 0], int(codes.sum())
    t = np.where(codes == 1, (positive + 1) / (positive + 2), 1 / (len(codes) - positive + 2))
    best = minimize(lambda at: np.sum(np.logaddexp(0, at[0] * s + at[1]) - t * (at[0] * s + at[1])), [0.1, 0.0])
    assert [found.slope, found.shifts[1] - found.shifts[0]] == pytest.approx(best.x, abs=1e-4)


def test_platt_never_turns_scores_round() -> None:
    z, codes = overconfident(500, 2)
    found = fit("platt", z, 1 - codes)
    assert found.slope == 0
    assert np.ptp(found.apply(z)[:, 0]) == 0


def test_platt_of_many_classes_gives_each_class_its_share() -> None:
    z, codes = overconfident(5000, 4)
    shifted = log_softmax(z + np.array([9.0, 0.0, 0.0, -9.0]), axis=1)
    p = np.exp(fit("platt", shifted, codes).apply(shifted))
    np.testing.assert_allclose(p.mean(axis=0), np.bincount(codes) / len(codes), atol=0.002)


@pytest.mark.parametrize("kind", ["temperature", "platt"])
@pytest.mark.parametrize("k", [2, 4])
def test_length_is_learned_where_evidence_repeats_itself(kind: str, k: int) -> None:
    rng = np.random.default_rng(1)
    honest = log_softmax(rng.normal(0, 1.5, (6000, k)), axis=1)
    codes = (honest + rng.gumbel(size=honest.shape)).argmax(axis=1)
    words = np.exp(rng.normal(4, 1, 6000)).round()
    z = honest * (1 + words[:, np.newaxis]) ** 0.8
    found = fit(kind, z, codes, None, words)
    assert found.scale.exponent == pytest.approx(0.8, abs=0.05)
    assert loss(found.apply(z, words), codes) < loss(fit(kind, z, codes).apply(z), codes) - 0.02
    assert "a text of n words" in found.describe()


@pytest.mark.parametrize("kind", ["temperature", "platt", "isotonic"])
def test_lengths_are_given_both_times_or_never(kind: str) -> None:
    z, codes = overconfident(100)
    with pytest.raises(InputError, match="without lengths"):
        fit(kind, z, codes).apply(z, np.ones(100))
    with pytest.raises(InputError, match="give those of these rows"):
        fit(kind, z, codes, None, np.arange(100.0)).apply(z)


def test_isotonic_rises_and_is_never_certain() -> None:
    z, codes = overconfident(1000, 2)
    found = fit("isotonic", z, codes)
    order = np.argsort(z[:, 1] - z[:, 0])
    p = np.exp(found.apply(z[order]))[:, 1]
    assert (np.diff(p) >= -1e-15).all()
    assert p.min() > 0
    assert p.max() < 1


def test_a_block_of_few_rows_is_less_sure_than_one_of_many() -> None:
    z = np.array([[0.0, -3.0]] * 4 + [[0.0, 3.0]] * 400)
    p = np.exp(fit("isotonic", z, np.array([0] * 4 + [1] * 400)).apply(z[[0, -1]]))
    np.testing.assert_allclose(p[:, 1], [1 / 6, 401 / 402])


@pytest.mark.parametrize("kind", KINDS)
def test_doubled_rows_are_doubled_weights(kind: str) -> None:
    z, codes = overconfident(300, 3)
    twice = np.arange(300) < 100
    weighted = fit(kind, z, codes, 1.0 + twice).apply(z)
    repeated = fit(kind, np.vstack([z, z[twice]]), np.append(codes, codes[twice])).apply(z)
    np.testing.assert_allclose(weighted, repeated, atol=0.01 if kind in ("temperature", "platt") else 0.05)


@pytest.mark.parametrize("kind", ["temperature", "platt", "isotonic"])
@pytest.mark.parametrize("k", [2, 4])
def test_every_calibrator_helps_scores_that_are_too_sure(kind: str, k: int) -> None:
    z, codes = overconfident(4000, k)
    learned, asked = slice(0, 2000), slice(2000, None)
    found = fit(kind, z[learned], codes[learned])
    honest = loss(log_softmax(z[asked] / 4, axis=1), codes[asked])
    assert honest - 0.001 < loss(found.apply(z[asked]), codes[asked]) < honest + 0.03 < loss(z[asked], codes[asked])


def test_log_odds_are_exact_beyond_the_doubles() -> None:
    z = np.array([[0.0, -1000.0, -1001.0]])
    assert log_odds(z)[0, 0] == pytest.approx(1000 - np.log1p(np.exp(-1.0)))
    assert log_odds(np.array([[0.0, -np.inf, -np.inf]])).tolist() == [[np.inf, -np.inf, -np.inf]]


def test_what_is_held_impossible_stays_so_in_straight_methods() -> None:
    z = np.array([[0.0, -np.inf, -3.0], [-1.0, -0.5, -2.0]] * 20)
    for kind in ("none", "temperature", "platt"):
        found = fit(kind, z, np.array([0, 1] * 20)).apply(z)
        assert (found[::2, 1] == -np.inf).all()
        assert np.isfinite(found[1::2]).all()


def test_choice_takes_the_least_loss_by_cross_validation() -> None:
    z, codes = overconfident(3000, 3)
    calibrator, report = choose(z, codes)
    assert calibrator.kind == report.chosen
    assert report.log_loss[report.chosen] == min(report.log_loss.values())
    assert report.gained == pytest.approx(report.log_loss["none"] - report.log_loss[report.chosen])
    assert set(report.log_loss) == set(KINDS)


def test_choice_is_never_worse_than_leaving_scores_alone() -> None:
    for seed in range(8):
        z, codes = overconfident(60, 2, times=1.0 + seed % 3, seed=seed)
        report = choose(z, codes)[1]
        assert report.chosen == "none" or report.gained > 0


def test_choice_finds_a_curve_that_no_line_can_follow() -> None:
    rng = np.random.default_rng(0)
    s = rng.normal(0, 3, 5000)
    codes = (rng.random(5000) < np.where(np.abs(s) < 2, 0.5, np.where(s > 0, 0.8, 0.2))).astype(int)
    assert choose(np.column_stack([0 * s, s]), codes)[1].chosen == "isotonic"


def test_choice_tries_only_what_the_rows_allow_and_says_so() -> None:
    z, codes = overconfident(20, 2)
    report = choose(z, codes)[1]
    assert set(report.left_out) == {"isotonic"}
    assert "needs 30 rows" in str(report)
    one = choose(z[:1], codes[:1])
    assert one[1].chosen == "none"


def test_choice_is_the_same_every_time() -> None:
    z, codes = overconfident(400)
    assert choose(z, codes, random_state=3)[1] == choose(z, codes, random_state=3)[1]


FORGED: list[tuple[str, dict[str, Any]]] = [
    ("temperature", {"slope": np.array([-1.0])}),
    ("temperature", {"slope": np.array([np.nan])}),
    ("temperature", {"slope": np.array([1.0, 2.0])}),
    ("temperature", {"lengths": np.array([100.0, -1.0])}),
    ("temperature", {"lengths": np.array([np.nan, 0.5])}),
    ("platt", {"slope": np.array([-1.0])}),
    ("platt", {"shifts": np.zeros(3)}),
    ("platt", {"shifts": np.array([0.0, np.inf])}),
    ("isotonic", {"values": "falling"}),
    ("isotonic", {"knots": "falling"}),
    ("isotonic", {"sizes": np.array([10**9])}),
    ("isotonic", {"sizes": np.array([-1])}),
]


@pytest.mark.parametrize(("kind", "change"), FORGED)
def test_forged_arrays_are_refused(kind: str, change: dict[str, Any]) -> None:
    z, codes = overconfident(300, 2)
    arrays = fit(kind, z, codes).arrays()
    for name, value in change.items():
        turned = {"falling": lambda a: a[::-1], "zero": lambda a: 0 * a}
        arrays[name] = turned[value](arrays[name]) if isinstance(value, str) else value
    with pytest.raises(InputError):
        from_arrays(kind, arrays, 2)


def test_a_file_that_has_a_temperature_is_read() -> None:
    z, _ = overconfident(20)
    found = from_arrays("temperature", {"temperature": np.array([4.0]), "lengths": np.zeros(0)}, 3)
    np.testing.assert_allclose(found.apply(z), log_softmax(z / 4, axis=1))


def test_arrays_of_another_kind_are_refused() -> None:
    with pytest.raises(InputError, match="has the arrays slope, lengths"):
        from_arrays("temperature", {"slope": np.ones(1)}, 2)
    with pytest.raises(InputError, match="did you mean 'platt'"):
        from_arrays("plat", {}, 2)


def test_bad_scores_are_refused_with_the_row() -> None:
    good = np.zeros((2, 2))
    cases: list[tuple[Any, Any, Any, str]] = [
        ([[0.0, np.nan], [0, 0]], [0, 1], None, "row 0"),
        ([[0.0, 0.0], [-np.inf, -np.inf]], [0, 1], None, "row 1"),
        (good, [0, 2], None, "the code of row 1 is 2"),
        (good, [0], None, "codes must be 2"),
        (good, [0, 1], [1.0, -1.0], "weight of row 1"),
        (good, [0, 1], [0.0, 0.0], "all weights are zero"),
        (np.zeros((0, 2)), np.zeros(0, int), None, "no row"),
        (np.zeros(3), [0], None, "shape"),
    ]
    for z, codes, weights, said in cases:
        with pytest.raises(InputError, match=said):
            fit("temperature", z, np.array(codes), weights)
    with pytest.raises(KindError):
        fit("temperature", [["a", "b"]], np.array([0]))
    with pytest.raises(InputError, match="have 3 classes"):
        fit("temperature", good, np.array([0, 1])).apply(np.zeros((1, 3)))
    with pytest.raises(InputError, match="length of row 1"):
        fit("temperature", good, np.array([0, 1]), None, np.array([1.0, np.nan]))
