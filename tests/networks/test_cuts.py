"""Numbers in intervals: the cuts of Fayyad and Irani, written out once more, slowly, to compare with."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from ingenuo.errors import IngenuoError, InputError
from ingenuo.families import discretise
from ingenuo.families.discretise import ByValue, Cuts, mdl_cuts
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.networks.network import Network

Rows = list[tuple[float, int, float]]  # value, class, weight

CLOSE = 1e-9  # within this of a tie, or of the threshold, roundings decide


def supervised(values: Any, labels: Any, n_classes: int, weights: Any = None) -> Cuts:
    """The cuts that tell the classes apart."""
    return mdl_cuts(ByValue.of(values, labels, n_classes, weights))


def equal_shares(values: Any, parts: int = 5, weights: Any = None) -> Cuts:
    """Cuts into parts of as many rows each."""
    return discretise.equal_shares(ByValue.of(values, np.zeros(len(values), int), 1, weights), parts)


def entropy(rows: Rows) -> float:
    total = sum(weight for *_, weight in rows)
    shares = [sum(w for _, c, w in rows if c == k) / total for k in {c for _, c, _ in rows}]
    return -sum(share * math.log2(share) for share in shares if share > 0)


def by_recursion(rows: Rows) -> tuple[list[float], bool]:
    """The cut points, and whether any decision on the way was a close one."""
    values = sorted({value for value, *_ in rows})
    if len(values) < 2:
        return [], False
    N = sum(weight for *_, weight in rows)
    trials = []
    for low, high in pairwise(values):
        left, right = [row for row in rows if row[0] <= low], [row for row in rows if row[0] > low]
        mixed = sum(sum(w for *_, w in part) / N * entropy(part) for part in (left, right))
        trials.append((mixed, (low + high) / 2, left, right))
    least = min(trial[0] for trial in trials)
    tied = [trial for trial in trials if trial[0] - least < CLOSE]
    worths = [_worth(rows, N, *trial) for trial in tied]
    if max(worths) <= 0:
        return [], max(worths) > -CLOSE
    _, point, left, right = tied[0]
    (below, one), (above, two) = by_recursion(left), by_recursion(right)
    return [*below, point, *above], one or two or len(tied) > 1 or worths[0] < CLOSE


def _worth(rows: Rows, N: float, mixed: float, _: float, left: Rows, right: Rows) -> float:
    k, k_left, k_right = (len({c for _, c, _ in part}) for part in (rows, left, right))
    delta = math.log2(3**k - 2) - (k * entropy(rows) - k_left * entropy(left) - k_right * entropy(right))
    return entropy(rows) - mixed - (math.log2(N - 1) + delta) / N


some = st.lists(
    st.tuples(st.integers(-6, 6).map(lambda n: n / 2), st.integers(0, 2), st.integers(1, 4)), min_size=2, max_size=40
)


@settings(deadline=None, max_examples=150)
@given(some, st.sampled_from([0.0, 1.0, 3.0]), st.booleans())
def test_cuts_are_those_of_the_recursion(rows: Rows, apart: float, weighted: bool) -> None:
    values = np.array([value + apart * label for value, label, _ in rows])
    labels = np.array([label for _, label, _ in rows])
    weights = np.array([float(weight) for *_, weight in rows])
    plain = [(v, c, w if weighted else 1.0) for v, c, w in zip(values.tolist(), labels.tolist(), weights.tolist())]
    wanted, close = by_recursion(plain)
    found = supervised(values, labels, 3, weights if weighted else None).points
    if not close:
        assert found == pytest.approx(wanted)


def test_cuts_of_clearly_separate_classes_in_noise() -> None:
    rng = np.random.default_rng(0)
    decided = 0
    for _ in range(25):
        labels = rng.integers(0, 3, 60)
        values = rng.normal(size=60) + labels * rng.choice([0, 2, 4])
        wanted, close = by_recursion([(v, c, 1.0) for v, c in zip(values.tolist(), labels.tolist())])
        if not close:
            decided += len(wanted) > 0
            assert supervised(values, labels, 3).points == pytest.approx(wanted)
    assert decided > 8


def test_cuts_of_iris() -> None:
    X, y = load_iris(return_X_y=True)
    for j in range(4):
        wanted, close = by_recursion([(v, c, 1.0) for v, c in zip(X[:, j].tolist(), y.tolist())])
        assert not close
        assert supervised(X[:, j], y, 3).points == pytest.approx(wanted)
    model = NetworkClassifier("naive").fit(X, y)
    assert [len(cuts.points) for cuts in model.cuts_.values()] == [2, 2, 2, 2]
    assert "numbers cut at 2.45, 4.75" in str(model.schema_)


@settings(deadline=None, max_examples=60)
@given(some, st.randoms(use_true_random=False))
def test_a_whole_weight_is_so_many_rows_and_order_and_holes_do_not_matter(rows: Rows, random: object) -> None:
    values, labels = np.array([v + c for v, c, _ in rows]), np.array([c for _, c, _ in rows])
    weights = np.array([w for *_, w in rows])
    again = np.random.default_rng(len(rows)).permutation(int(weights.sum()))
    repeated, twice = np.repeat(values, weights)[again], np.repeat(labels, weights)[again]
    assert supervised(values, labels, 3, weights.astype(float)) == supervised(repeated, twice, 3)
    holed, extra = np.append(values, [np.nan] * 5), np.append(labels, [0, 1, 2, 2, 2])
    assert supervised(holed, extra, 3) == supervised(values, labels, 3)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-1.7976931348623157e308, 1.7976931348623157e308),
        (1.7976931348623155e308, 1.7976931348623157e308),
        (0.0, 5e-324),
        (-5e-324, 0.0),
        (1.0, 1.0000000000000002),
        (-1e-323, -5e-324),
    ],
)
def test_neighbours_among_the_doubles_are_told_apart(low: float, high: float) -> None:
    cuts = supervised(np.repeat([low, high], 10), np.repeat([0, 1], 10), 2)
    assert cuts.codes(np.array([low, high, np.nan])).tolist() == [0, 1, -1]


def test_minus_zero_is_zero() -> None:
    assert supervised(np.repeat([-0.0, 0.0], 10), np.repeat([0, 1], 10), 2) == Cuts(())


def test_no_value_and_one_value_have_one_interval() -> None:
    assert supervised(np.full(3, np.nan), np.array([0, 1, 0]), 2) == Cuts(())
    assert supervised(np.full(20, 7.0), np.repeat([0, 1], 10), 2) == Cuts(())
    assert equal_shares(np.full(20, 7.0)) == Cuts(())
    assert Cuts(()).names == ("any number",)


@pytest.mark.parametrize("endless", [np.inf, -np.inf])
def test_infinite_numbers_are_refused_with_their_row(endless: float) -> None:
    frame = pd.DataFrame({"x": [*np.arange(30) + 0.5, endless], "c": ["u", "v", "w"] * 10 + ["u"]})
    with pytest.raises(InputError, match=r"column 'x', row 30: -?inf has no interval"):
        Network.learn(frame, target="c")
    with pytest.raises(InputError, match=r"column 'x', row 30: -?inf has no interval"):
        NetworkClassifier("naive").fit(frame, "c")
    few = pd.DataFrame({"x": [1.0, 2.0, endless, 2.0], "c": list("uvuv")})  # few whole numbers are states, these none
    with pytest.raises(InputError, match="inf"):
        Network.learn(few)


def test_more_classes_than_a_power_of_three_can_hold() -> None:
    values = np.repeat(np.arange(700.0), 2)
    assert len(supervised(values, values.astype(int), 700).points) == 699


def test_names_tell_intervals_apart() -> None:
    close = Cuts((1.0000001, 1.0000002, 3.0))
    assert len(set(close.names)) == 4
    assert close.names[1] == "(1.0000001, 1.0000002]"


@pytest.mark.parametrize("points", [(2.0, 1.0), (1.0, 1.0), (np.nan,), (np.inf,)])
def test_points_that_do_not_ascend_are_refused(points: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="cut points must be finite and ascend"):
        Cuts(points)


def test_equal_shares_are_as_equal_as_ties_allow() -> None:
    assert equal_shares(np.r_[np.zeros(90), np.arange(1.0, 11)], 5).points == (0.5,)
    assert equal_shares(np.r_[np.arange(-10.0, 0), np.zeros(90)], 5).points == (-0.5,)
    assert equal_shares(np.arange(3.0), 5).points == (0.5, 1.5)
    heavy = np.repeat([1.0, 3.0], 5)
    assert (
        equal_shares(np.arange(10.0), 2, heavy).points
        == equal_shares(np.repeat(np.arange(10.0), heavy.astype(int)), 2).points
    )


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 20), min_size=2, max_size=60), st.integers(2, 6))
def test_no_share_is_larger_than_its_part_and_one_value(values: list[int], parts: int) -> None:
    numbers = np.array(values, float)
    cuts = equal_shares(numbers, parts)
    sizes = np.bincount(cuts.codes(numbers), minlength=len(cuts.points) + 1)
    largest = max(values.count(value) for value in values)
    assert len(sizes) <= parts
    assert sizes.min() > 0
    assert sizes.max() <= math.ceil(len(values) / parts) + largest


@pytest.mark.parametrize("bins", [0, -1, 1.5, "3", True])
def test_a_number_of_intervals_that_makes_no_sense_is_refused(bins: object) -> None:
    with pytest.raises(IngenuoError, match="bins"):
        Network.learn(pd.DataFrame({"a": np.arange(40) + 0.5}), bins=bins)  # type: ignore[arg-type]


def test_a_row_of_weight_zero_has_no_say_in_the_cuts() -> None:
    frame = pd.DataFrame({"x": [*np.arange(20) + 0.5, 9.9, 1000.5], "c": [*"uuuuuuuuuuvvvvvvvvvv", "u", "u"]})
    weights = np.append(np.ones(20), [0, 0])
    for target in ("c", None):
        with_it = Network.learn(frame, target=target, sample_weight=weights)
        assert with_it.cuts == Network.learn(frame[:20], target=target).cuts
    model = NetworkClassifier("naive").fit(frame, "c", sample_weight=weights)
    assert model.cuts_ == NetworkClassifier("naive").fit(frame[:20], "c").cuts_
    assert model.cuts_["x"].points == (10.0,)
