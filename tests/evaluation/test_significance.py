"""Tests between classifiers: what they conclude, how large they say it is, and what they refuse."""

from __future__ import annotations

import dataclasses
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from ingenuo.errors import InputError, KindError, RefusedError
from ingenuo.evaluation import significance
from ingenuo.evaluation.significance import (
    corrected_t,
    friedman,
    holm,
    mcnemar,
    nemenyi,
    paired_bootstrap,
    permutation,
    tango,
    wilcoxon,
)

COUNTS = st.integers(0, 12)


def answers(both: int, b: int, c: int, neither: int) -> tuple[list[str], list[str], list[str]]:
    first = ["yes"] * (both + b) + ["no"] * (c + neither)
    second = ["yes"] * both + ["no"] * b + ["yes"] * c + ["no"] * neither
    return ["yes"] * len(first), first, second


def probabilities(rows: int, seed: int, classes: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(classes), rows)


Y = np.random.default_rng(0).integers(2, size=40)
FIRST, SECOND = probabilities(40, 1), probabilities(40, 2)


# Two classifiers on the same rows.


def test_mcnemar_tells_all_of_itself():
    found = mcnemar(*answers(150, 10, 21, 19))
    assert found.p_value == pytest.approx(2 * sum(math.comb(31, k) for k in range(11)) / 2**31)
    assert found.details == {"b": 10, "c": 21, "both_right": 150, "both_wrong": 19}
    assert (found.n, found.effect, found.size.name) == (200, -0.055, "difference in accuracy")
    assert not found.significant
    assert found.sentence == (
        "Of 200 rows one classifier alone is right on 31; only the first is right on 10, only the second on 21: the "
        "difference is not significant at the 5 % level (p = 0.0708)."
    )
    lines = str(found).splitlines()
    assert lines[0] == "McNemar's test, exact"
    assert lines[1].split(maxsplit=1) == ["H0", "both classifiers are right equally often"]
    assert lines[2].endswith("b = 10")
    assert lines[3].split() == ["p", "0.07076"]
    assert "difference in accuracy -0.055, 95 % interval -0.1" in lines[4]
    assert lines[5].split(maxsplit=1)[1].startswith("odds ratio b/c 0.4762, 95 % interval 0.2")
    assert lines[6] == found.sentence


def test_a_verdict_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        mcnemar(*answers(3, 1, 2, 1)).p_value = 0.0


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_exchanging_the_classifiers_turns_the_effect_round(both, b, c, neither):
    if both + b + c + neither < 2:
        return
    y, first, second = answers(both, b, c, neither)
    for test in (mcnemar, permutation):
        one, other = test(y, first, second), test(y, second, first)
        assert one.p_value == other.p_value
        assert one.effect == -other.effect
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)
        assert -1 <= one.low <= one.effect <= one.high <= 1


@given(COUNTS, COUNTS)
def test_mid_p_is_smaller_than_the_exact_p_unless_they_tie(b, c):
    y, first, second = answers(2, b, c, 0)
    exact, mid = (mcnemar(y, first, second, method).p_value for method in ("exact", "mid-p"))
    assert (mid == exact == 1) if b == c else 0 < mid < exact


def test_probabilities_count_as_their_likeliest_class():
    named = np.array(["no", "yes"])
    by_label = mcnemar(named[Y], named[FIRST.argmax(1)], named[SECOND.argmax(1)])
    by_probability = mcnemar(named[Y], FIRST[:, ::-1], SECOND[:, ::-1], classes=["yes", "no"])
    assert by_label.details == by_probability.details
    assert by_label.p_value == by_probability.p_value


def test_the_permutation_test_of_accuracy_is_mcnemars():
    y, first, second = answers(100, 30, 14, 5)
    assert permutation(y, first, second).p_value == mcnemar(y, first, second).p_value


def score_interval(b: int, c: int, n: int) -> tuple[float, float]:
    """Tango's interval by brute force: for each δ the likeliest share of c-rows is searched on a grid."""
    inside = []
    for d in np.linspace(-0.999, 0.999, 1999):
        q = np.linspace(max(0, -d), (1 - d) / 2, 4001)[1:-1]  # P(only second); P(only first) = q + δ
        log_likelihood = b * np.log(q + d) + c * np.log(q) + (n - b - c) * np.log(1 - 2 * q - d)
        q = q[log_likelihood.argmax()]
        if abs(b - c - n * d) <= 1.959964 * np.sqrt(n * (2 * q + d - d * d)):
            inside.append(d)
    return inside[0], inside[-1]


@pytest.mark.parametrize(("b", "c", "n"), [(8, 1, 20), (12, 2, 50), (3, 3, 10), (1, 9, 12)])
def test_the_interval_of_accuracy_is_tangos(b, c, n):
    assert tango(b, c, n) == pytest.approx(score_interval(b, c, n), abs=2e-3)


@pytest.mark.parametrize(("n", "only_first", "only_second"), [(30, 0.1, 0.1), (50, 0.2, 0.05), (100, 0.02, 0.06)])
def test_the_interval_of_accuracy_covers_the_truth_as_often_as_it_says(n, only_first, only_second):
    truth = only_first - only_second
    covered = 0.0
    for b, c in product(range(n + 1), repeat=2):  # not by chance: every outcome with its probability
        if b + c <= n:
            logs = math.lgamma(n + 1) - math.lgamma(b + 1) - math.lgamma(c + 1) - math.lgamma(n - b - c + 1)
            rest = 1 - only_first - only_second
            chance = math.exp(
                logs + b * math.log(only_first) + c * math.log(only_second) + (n - b - c) * math.log(rest)
            )
            if chance > 1e-7:
                low, high = tango(b, c, n)
                covered += chance * (low <= truth <= high)
    assert 0.93 < covered < 0.985


def test_permuting_tries_all_ways_where_few_rows_differ():
    second = SECOND.copy()
    second[10:] = FIRST[10:]
    found = permutation(Y, FIRST, second, "log_loss", classes=[0, 1])
    d = -np.log(FIRST[np.arange(40), Y]) + np.log(second[np.arange(40), Y])
    sums = np.array([np.dot(signs, d[:10]) for signs in product([1, -1], repeat=10)])
    assert found.details["ways"] == 1024
    assert found.p_value == (np.abs(sums) >= abs(d.sum()) - 1e-12).mean()


def test_drawn_swaps_come_close_to_all_swaps():
    rows = slice(0, 20)
    exact = permutation(Y[rows], FIRST[rows], SECOND[rows], "log_loss", classes=[0, 1])
    # Another row that hardly differs makes it 21, too many to try all.
    y, first, second = (np.concatenate([a[rows], a[:1]]) for a in (Y, FIRST, SECOND))
    second[-1] = first[-1] + [1e-9, -1e-9]
    drawn = permutation(y, first, second, "log_loss", 19_999, classes=[0, 1])
    assert drawn.details["ways"] is None
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.02)
    assert drawn.p_value * 20_000 == pytest.approx(round(drawn.p_value * 20_000))  # (r + 1)/(m + 1)


@pytest.mark.parametrize("large", [[7, 15, 23], [0, 8, 16], [21, 22, 23]])
def test_every_row_is_swapped_half_of_the_time(large):
    # Three rows matter, and all three must be swapped alike for a difference as large: 2 of 8 ways.
    first = np.full((24, 2), 0.5)
    second = first + np.linspace(1e-9, 2e-9, 24)[:, np.newaxis] * [1, -1]
    second[large] = [0.1, 0.9]
    found = permutation(np.zeros(24, int), first, second, "log_loss", classes=[0, 1])
    assert found.details["ways"] is None
    # The tiny rows decide which of the two ways that come near are as large: about half of each.
    assert 0.02 < found.p_value < 0.26


def test_the_drawn_p_counts_what_was_seen_itself():
    y, first, second = np.zeros(60, int), np.tile([0.9, 0.1], (60, 1)), np.tile([0.6, 0.4], (60, 1))
    assert permutation(y, first, second, "log_loss", 99, classes=[0, 1]).p_value == 0.01


def test_the_same_seed_draws_the_same_and_another_does_not():
    for test in (permutation, paired_bootstrap):
        asked = {"measure": "log_loss", "classes": [0, 1]}
        one, same, other = (test(Y, FIRST, SECOND, random_state=seed, **asked) for seed in (3, 3, 4))
        assert (one.p_value, one.low) == (same.p_value, same.low)
        assert (one.p_value, one.low) != (other.p_value, other.low)


def test_under_h0_few_are_significant():
    rng = np.random.default_rng(0)
    found = {"mcnemar": 0, "permutation": 0, "bootstrap": 0}
    for _ in range(300):
        y = rng.integers(2, size=100)
        first, second = rng.dirichlet([1, 1], 100), rng.dirichlet([1, 1], 100)
        asked = {"measure": "log_loss", "classes": [0, 1]}
        found["mcnemar"] += mcnemar(y, first, second, "mid-p", classes=[0, 1]).significant
        found["permutation"] += permutation(y, first, second, replicates=499, **asked).significant
        found["bootstrap"] += paired_bootstrap(y, first, second, replicates=499, **asked).significant
    assert all(0.01 * 300 <= times <= 0.09 * 300 for times in found.values()), found


def test_a_measure_of_ones_own():
    def macro_f1(y, predicted):
        return f1_score(y, predicted, average="macro")

    one, other = FIRST.argmax(1), SECOND.argmax(1)
    effect = macro_f1(Y, one) - macro_f1(Y, other)
    swapped = permutation(Y, one, other, macro_f1, 99)
    assert swapped.effect == effect
    assert swapped.low is None
    assert "paired_bootstrap" in swapped.size.reason
    assert "no interval: a permutation test gives none" in str(swapped)
    drawn = paired_bootstrap(Y, one, other, macro_f1, 99)
    assert drawn.low < effect < drawn.high
    assert drawn.seen.startswith("On 40 rows the first has macro f1 0.")


def test_a_measure_of_ones_own_that_is_accuracy_is_accuracy():
    y, first, second = answers(5, 7, 2, 1)

    def accuracy(y, predicted):
        return np.mean(y == predicted)

    assert permutation(y, first, second, accuracy).p_value == pytest.approx(permutation(y, first, second).p_value)


def test_longer_names_are_swapped_whole():
    seen = set()

    def noting(y, predicted):
        seen.update(predicted.tolist())
        return np.mean(y == predicted)

    permutation(["a", "a", "b"], ["a", "b", "b"], ["a longer name", "a", "b"], noting)
    assert seen == {"a", "b", "a longer name"}


@pytest.mark.parametrize("measure", ["accuracy", "log_loss"])
def test_classifiers_that_answer_the_same_do_not_differ(measure):
    for test in (permutation, paired_bootstrap):
        found = test(Y, FIRST, FIRST, measure, classes=[0, 1])
        assert (found.p_value, found.effect) == (1.0, 0.0)
        assert "not significant at the 5 % level (p = 1)" in found.sentence


def test_classifiers_that_answer_the_same_have_no_odds():
    found = mcnemar(*answers(10, 0, 0, 5))
    assert found.p_value == 1
    assert (found.low, found.high) == pytest.approx((-0.2039, 0.2039), abs=1e-4)  # ±z²/(n + z²)
    assert found.others[0].value is None
    assert "both are right on the same rows: the difference is not significant at the 5 % level (p = 1)" in str(found)


def test_certain_and_wrong_is_no_infinity():
    found = permutation([0, 1, 0], [[0.0, 1.0]] * 3, [[1.0, 0.0]] * 3, "log_loss", classes=[0, 1])
    assert np.isfinite([found.effect, found.low, found.high]).all()


def test_the_bootstrap_refuses_rows_without_spread():
    with pytest.raises(RefusedError, match=r"every replicate differs by the same 1, .* judge them with permutation"):
        paired_bootstrap([0, 1, 0], [0, 1, 0], [1, 0, 1])


@pytest.mark.parametrize("test", [mcnemar, paired_bootstrap, permutation])
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"first": [0] * 39}, InputError, "y has 40 rows, first has 39 and second has 40; .* the same rows"),
        ({"y": None}, InputError, "y is missing"),
        ({"y": Y[:1], "first": FIRST[:1], "second": SECOND[:1]}, InputError, "1 rows cannot show a difference"),
        ({"first": "yes"}, KindError, "first must hold a value for each row, got str 'yes'"),
        ({"first": FIRST * 2}, InputError, "probabilities of row 0 sum to"),
        ({"first": np.where(FIRST > 0.9, np.nan, FIRST)}, InputError, "has the probability nan"),
        ({"y": [None, *Y[1:]]}, InputError, "row 0 has no label"),
        ({"classes": [0, 1, 2]}, InputError, "2 columns of probabilities and 3 classes"),
        ({"confidence": 95}, InputError, "confidence=95 must lie between 0 and 1"),
        ({"confidence": "high"}, KindError, "confidence must be a number"),
    ],
)
def test_bad_rows_get_one_clear_sentence(test, given, error, message):
    with pytest.raises(error, match=message):
        test(**{"y": Y, "first": FIRST, "second": SECOND, "classes": [0, 1], **given})


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: mcnemar(Y, Y, Y, "midp"), InputError, "method='midp' is not known; did you mean 'mid-p'"),
        (
            lambda: permutation(Y, Y, Y, "logloss"),
            InputError,
            "measure='logloss' is not known; did you mean 'log_loss'",
        ),
        (lambda: permutation(Y, Y, Y, 3), KindError, "measure must be a name or a function"),
        (lambda: permutation(Y, Y, Y, "log_loss"), InputError, "log loss needs probabilities"),
        (lambda: permutation(Y, Y, FIRST, f1_score, classes=[0, 1]), InputError, "labels and the other has prob"),
        (lambda: permutation(Y, Y, 1 - Y, lambda y, p: np.nan), InputError, "the measure is nan"),
        (lambda: permutation(Y, Y, Y, replicates=0), InputError, "replicates is 0"),
        (lambda: paired_bootstrap(Y, Y, Y, random_state="x"), KindError, "random_state must be a whole number"),
    ],
)
def test_bad_settings_get_one_clear_sentence(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_scores_of_any_size_are_judged_alike(scale):
    d = np.array([0.3, -0.1, 0.25, 0.4, 0.05, 0.2, 0.15])
    for test in (
        lambda d: corrected_t(d, 0.1),
        lambda d: wilcoxon(d, -d),
        lambda d: friedman(np.column_stack([d, -d])),
    ):
        assert test(d * scale).p_value == pytest.approx(test(d).p_value)


# Over folds.


def test_the_corrected_t_is_nadeau_and_bengios():
    d = np.array([[0.02, 0.01], [0.03, 0.00], [0.04, -0.01]])
    found = corrected_t(d, 1 / 2)
    error = np.sqrt((1 / 6 + 1 / 2) * d.var(ddof=1))
    assert found.statistic == pytest.approx(d.mean() / error)
    assert (found.n, found.effect) == (6, pytest.approx(0.015))
    assert found.high - found.effect == pytest.approx(2.570582 * error)
    assert found.low < 0 < found.p_value - 0.05


def test_the_correction_finds_less():
    d = [0.02, 0.01, 0.03, 0.02, 0.04]
    assert corrected_t(d, 1 / 4).p_value > corrected_t(d, 1e-9).p_value


def test_folds_that_are_all_equal_do_not_differ():
    found = corrected_t(np.zeros(10), 1 / 9)
    assert (found.p_value, found.statistic, found.low, found.high) == (1.0, 0.0, None, None)
    assert "show no spread" in str(found)


@pytest.mark.parametrize(
    ("differences", "share", "error", "message"),
    [
        ([0.1], 0.1, InputError, "differences has 1 folds, .* 2 at least"),
        ([], 0.1, InputError, "differences has 0 folds"),
        ([0.1] * 5, 0.1, RefusedError, "all 5 differences are 0.1, so there is no spread"),
        ([0.1, np.nan], 0.1, InputError, "differences holds nan at 1"),
        ([0.1, np.inf], 0.1, InputError, "differences holds inf at 1"),
        ([0.1, 1e301], 0.1, InputError, r"differences holds 1e\+301 at 1; each must be a number, up to 1e\+300"),
        (["a", "b"], 0.1, KindError, "differences must hold numbers"),
        (None, 0.1, InputError, "differences is None"),
        (np.zeros((2, 2, 2)), 0.1, InputError, "has 3 dimensions"),
        ([0.1, 0.2], 0, InputError, r"test_share \(n_test / n_train.*\) is 0; it must be above 0"),
        ([0.1, 0.2], np.nan, InputError, r"test_share .* is nan"),
        ([0.1, 0.2], "1/9", KindError, r"test_share .* must be a number"),
    ],
)
def test_bad_folds_get_one_clear_sentence(differences, share, error, message):
    with pytest.raises(error, match=message):
        corrected_t(differences, share)


# Over many sets.


def test_the_interval_of_the_median_holds_what_the_test_does_not_reject():
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.2, 1, 12), np.zeros(12)
    found = wilcoxon(first, second)
    for shift, inside in ((found.low + 1e-6, True), (found.high - 1e-6, True), (found.low - 1e-6, False)):
        assert (wilcoxon(first - shift, second).p_value > 0.05) == inside
    assert wilcoxon(first - found.high - 1e-6, second).p_value <= 0.05
    assert found.effect == pytest.approx(np.median([(a + b) / 2 for i, a in enumerate(first) for b in first[i:]]))


@pytest.mark.parametrize(("sets", "refused"), [(5, True), (6, False)])
def test_five_sets_give_no_interval(sets, refused):
    found = wilcoxon(np.arange(sets) ** 1.5 + 1, np.zeros(sets))
    assert (found.low is None) == refused
    assert (found.size.reason == "5 sets cannot give one of 95 %, 6 can") == refused


def test_sets_that_all_tie_do_not_differ():
    found = wilcoxon(np.full(8, 0.7), np.full(8, 0.7))
    assert (found.p_value, found.effect, found.low) == (1.0, 0.0, None)
    ranked = friedman(np.full((6, 3), 0.5))
    assert (ranked.p_value, ranked.statistic, ranked.effect) == (1.0, 0.0, 0.0)
    assert "all rank the same" in ranked.sentence
    assert nemenyi(np.full((6, 3), 0.5)).groups == [("model 1", "model 2", "model 3")]


def test_where_all_sets_agree_friedmans_p_is_exact():
    found = friedman(np.array([[3.0, 2.0, 1.0]] * 4))
    assert (found.statistic, found.effect) == (np.inf, 1.0)
    assert found.p_value == pytest.approx((1 / 6) ** 3)


def test_lower_may_be_better_and_what_differs_by_rounding_ties():
    losses = np.array([[0.1, 0.2, 0.3], [0.2, 0.3, 0.1], [0.1, 0.4, 0.5]])
    assert nemenyi(losses, higher_is_better=False).ranks.tolist() == pytest.approx([4 / 3, 7 / 3, 7 / 3])
    assert nemenyi([[0.1 + 0.2, 0.3], [0.5, 0.4]]).ranks.tolist() == [1.25, 1.75]
    assert "equal on 1" in wilcoxon([0.1 + 0.2, 0.5, 0.9], [0.3, 0.4, 0.6]).seen
    # 0.3 - 0.2 and 0.2 - 0.1 are the same difference, though not in doubles: their ranks are 1.5 each.
    assert wilcoxon([0.3, 0.1, 0.9], [0.2, 0.2, 0.4]).statistic == 1.5


def test_the_groups_of_nemenyi_are_the_largest_that_do_not_differ():
    rng = np.random.default_rng(1)
    found = nemenyi(rng.normal(size=(20, 6)) - 0.6 * np.arange(6), names=list("ABCDEF"))
    rank = dict(zip(found.names, found.ranks))
    for group in found.groups:
        assert max(rank[m] for m in group) - min(rank[m] for m in group) < found.cd
    together = {(a, b) for group in found.groups for a in group for b in group if a < b}
    assert together == {pair for pair, p in found.pairs.items() if p > found.alpha}
    assert "A ranks before F (p < 0.0001)" in found.sentence


def test_few_sets_show_no_pair():
    found = nemenyi([[0.9, 0.8], [0.8, 0.9], [0.7, 0.6]])
    assert found.sentence.endswith("on, and no two models are so far apart.")
    assert "model 1  1.333" in str(found)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: wilcoxon([1, 2, 3], [1, 2]), InputError, "first has 3 scores and second 2; .* the same"),
        (lambda: wilcoxon([1], [2]), InputError, "first has 1 scores"),
        (lambda: wilcoxon([1, np.nan], [2, 3]), InputError, "first holds nan at 1"),
        (lambda: friedman([[1, 2, 3]]), InputError, "scores has 1 sets and 3 models"),
        (lambda: friedman([[1], [2]]), InputError, "scores has 2 sets and 1 models"),
        (lambda: friedman([1, 2]), InputError, "scores has 1 dimensions, and 2 are wanted"),
        (lambda: friedman([[1, 2], [3]]), KindError, "scores must hold numbers in rows of one length"),
        (lambda: nemenyi([[1, np.inf], [3, 4]]), InputError, r"scores holds inf at \(0, 1\)"),
        (lambda: nemenyi([[1, 2], [3, 4]], names=["A", "A"]), InputError, "for 2 models; give each its own name"),
        (lambda: nemenyi([[1, 2], [3, 4]], 5), InputError, "alpha=5 must lie between 0 and 1"),
        (lambda: nemenyi([[1, 2], [3, 4]], higher_is_better="no"), KindError, "higher_is_better must be True or False"),
        (lambda: holm([0.1, 1.2]), InputError, "p_values holds 1.2 at 1; a p-value lies between 0 and 1"),
        (lambda: holm([0.1, np.nan]), InputError, "p_values holds nan at 1"),
    ],
)
def test_bad_scores_get_one_clear_sentence(call, error, message):
    with pytest.raises(error, match=message):
        call()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_the_order_and_never_makes_smaller(p):
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_no_test_is_no_correction():
    assert holm([]).tolist() == []


def test_everything_public_is_there():
    assert significance.__all__ == sorted(significance.__all__)
    assert all(hasattr(significance, name) for name in significance.__all__)


# Pictures.


@pytest.mark.parametrize("models", [2, 4, 12])
def test_the_diagram_names_every_model_with_its_rank(models):
    rng = np.random.default_rng(2)
    found = nemenyi(rng.normal(size=(15, models)) - 0.3 * np.arange(models))
    ax = found.plot()
    texts = [text.get_text() for text in ax.texts]
    for name, rank in zip(found.names, found.ranks):
        assert f"{name}  {rank:.2f}" in texts or f"{rank:.2f}  {name}" in texts
    assert f"critical difference {found.cd:.2f}" in texts
    bars = [line for line in ax.lines if line.get_linewidth() == 4]
    assert len(bars) == len(found.groups)


def test_a_critical_difference_wider_than_the_axis_says_so():
    ax = nemenyi([[1.0, 2.0], [2.0, 1.0]]).plot()
    assert any("beyond the axis" in text.get_text() for text in ax.texts)
