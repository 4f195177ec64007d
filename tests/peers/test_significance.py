"""Tests of significance against scipy and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ingenuo.evaluation import significance

RNG = np.random.default_rng(5)


def answers(both: int, b: int, c: int, neither: int) -> tuple[list[int], list[int], list[int]]:
    """Truth and two classifiers' labels with so many rows of each kind."""
    first = [1] * both + [1] * b + [0] * c + [0] * neither
    second = [1] * both + [0] * b + [1] * c + [0] * neither
    return [1] * len(first), first, second


@pytest.mark.parametrize(("b", "c"), [(8, 1), (1, 8), (5, 5), (0, 6), (30, 14), (400, 460), (0, 0), (1, 0)])
def test_mcnemar_is_statsmodels_exact_test(b, c):
    mcnemar = pytest.importorskip("statsmodels.stats.contingency_tables").mcnemar
    found = significance.mcnemar(*answers(20, b, c, 7))
    peer = mcnemar([[20, b], [c, 7]], exact=True)
    assert found.p_value == pytest.approx(peer.pvalue, rel=1e-10)
    assert min(found.details["b"], found.details["c"]) == peer.statistic


@pytest.mark.parametrize(("b", "c"), [(8, 1), (0, 6), (30, 14), (400, 460)])
def test_mid_p_takes_away_half_of_what_was_seen(b, c):
    exact = stats.binomtest(b, b + c).pvalue
    seen = stats.binom.pmf(b, b + c, 0.5)
    assert significance.mcnemar(*answers(9, b, c, 3), "mid-p").p_value == pytest.approx(exact - seen, rel=1e-9)


@pytest.mark.parametrize(("b", "c"), [(8, 1), (0, 6), (30, 14)])
def test_the_odds_ratio_has_the_interval_of_the_binomial_test(b, c):
    share = stats.binomtest(b, b + c).proportion_ci(0.95, "exact")
    (odds,) = significance.mcnemar(*answers(9, b, c, 3)).others
    assert odds.value == pytest.approx(b / c)
    assert (odds.low, odds.high) == pytest.approx((share.low / (1 - share.low), share.high / (1 - share.high)))


@pytest.mark.parametrize("rows", [3, 9, 14])
def test_the_permutation_test_of_log_loss_is_scipys(rows):
    y = RNG.integers(2, size=rows)
    first, second = RNG.dirichlet([1, 1], rows), RNG.dirichlet([1, 1], rows)
    found = significance.permutation(y, first, second, "log_loss", classes=[0, 1])
    d = -np.log(first[np.arange(rows), y]) + np.log(second[np.arange(rows), y])
    peer = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert found.p_value == pytest.approx(peer.pvalue, abs=1e-12)
    assert found.effect == pytest.approx(d.mean())
    interval = stats.ttest_1samp(d, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_the_paired_bootstrap_has_scipys_percentile_interval():
    y = RNG.integers(2, size=300)
    first, second = RNG.dirichlet([1, 1], 300), RNG.dirichlet([1, 1], 300)
    found = significance.paired_bootstrap(y, first, second, "log_loss", 9999, classes=[0, 1])
    d = -np.log(first[np.arange(300), y]) + np.log(second[np.arange(300), y])
    peer = stats.bootstrap((d,), np.mean, method="percentile", rng=np.random.default_rng(0)).confidence_interval
    assert (found.low, found.high) == pytest.approx((peer.low, peer.high), abs=0.02)


@pytest.mark.parametrize("shape", [(5, 3), (14, 4), (30, 12)])
@pytest.mark.parametrize("tied", [False, True])
def test_friedmans_chi_squared_is_scipys(shape, tied):
    scores = RNG.integers(4, size=shape).astype(float) if tied else RNG.normal(size=shape)
    found, peer = significance.friedman(scores), stats.friedmanchisquare(*scores.T)
    assert found.details["chi2"] == pytest.approx(peer.statistic)
    n, k = shape
    f = (n - 1) * peer.statistic / (n * (k - 1) - peer.statistic)
    assert found.statistic == pytest.approx(f)
    assert found.p_value == pytest.approx(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))


# Demšar (2006), table 5: critical values of the two-tailed Nemenyi test.
@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_has_demsars_values(k, q):
    found = significance.nemenyi(RNG.normal(size=(14, k)))
    assert found.cd == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 14)), abs=5e-4)


def test_two_ranks_a_critical_difference_apart_have_p_alpha():
    found = significance.nemenyi(RNG.normal(size=(12, 4)))
    rank = dict(zip(found.names, found.ranks))
    for (one, other), p in found.pairs.items():
        assert (p <= 0.05) == (abs(rank[one] - rank[other]) >= found.cd)


def test_holm_is_statsmodels():
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    for size in (1, 2, 7, 40):
        p = RNG.random(size) ** 3
        np.testing.assert_allclose(significance.holm(p), multipletests(p, method="holm")[1])


def test_the_corrected_t_without_correction_is_students():
    # (1/k + share) → 1/k as the share of test rows goes to 0.
    d = RNG.normal(0.2, 1, 30)
    found, peer = significance.corrected_t(d, 1e-13), stats.ttest_1samp(d, 0)
    assert found.statistic == pytest.approx(peer.statistic)
    assert found.p_value == pytest.approx(peer.pvalue)
    interval = peer.confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
