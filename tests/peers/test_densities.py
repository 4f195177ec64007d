"""Densities against scikit-learn's, within the stated error of the bins; and against its GaussianNB on real tables."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from benchmarks.public_data import public_data
from scipy.stats import norm
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity

import ingenuo as ing
from ingenuo.families.curves import STRAIGHTNESS, Column
from ingenuo.families.density import kernel, mixture
from ingenuo.tally.histogram import bins_name
from ingenuo.tally.labels import labels_of

N = 2000
RNG = np.random.default_rng(0)
SAMPLES = {
    "normal": RNG.normal(10, 3, N),
    "bimodal": np.concatenate([RNG.normal(-5, 1, N // 2), RNG.normal(5, 2, N // 2)]),
    "skewed": RNG.gamma(2, 1, N),
    "far from zero": 1e6 + RNG.normal(0, 1, N),
}


def column(x, prior=None):
    """The histogram of a sample, as a model keeps it; with nothing imagined, so that the estimates are bare."""
    model = ing.NaiveBayes(numbers="kernel").fit(x[:, np.newaxis], np.zeros(len(x), int))
    bins = model.tally_.bins(bins_name(0))
    return Column.of(0, bins, labels_of([0]), prior or ing.MaximumLikelihood())


@pytest.mark.parametrize("multiple", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("name", SAMPLES)
def test_the_kernel_estimate_is_scikit_learns_within_the_error_of_the_bins(name, multiple):
    x = SAMPLES[name]
    found = column(x)
    width = 2.0**found.exponent
    h = multiple * 0.9 * x.std() * N**-0.2
    ours = kernel(found, [np.array([h / width])])
    at = np.linspace(x.min() - h, x.max() + h, 1001)
    theirs = np.exp(KernelDensity(bandwidth=h).fit(x[:, np.newaxis]).score_samples(at[:, np.newaxis]))
    mine = np.exp(ours.log_density(at)[:, 0])
    # |f - f'| <= (w/2) max|φ_h'| = w / (2 h² √(2πe)), and straight lines: 1/1024 + a twentieth of the standard error.
    stated = width / (2 * h * h * math.sqrt(2 * math.pi * math.e))
    error = np.sqrt(1 / (2 * math.sqrt(math.pi) * N * h * np.maximum(theirs, 1e-12))).clip(0, 1)
    assert (np.abs(mine - theirs) <= stated + mine * (2 * STRAIGHTNESS + error / 20)).all()
    # And where there are values it is far less than that bound.
    dense = theirs > 0.05 * theirs.max()
    assert np.abs(mine / theirs - 1)[dense].mean() < 0.005


@pytest.mark.parametrize("name", SAMPLES)
def test_leaving_out_is_what_scikit_learn_says_of_the_others(name):
    x = SAMPLES[name][:300]
    found = column(x)
    best = kernel(found)
    h = float(np.ldexp(best.bandwidths[0], found.exponent))
    by_hand = sum(
        KernelDensity(bandwidth=h).fit(np.delete(x, i)[:, np.newaxis]).score_samples(x[i : i + 1, np.newaxis])[0]
        for i in range(len(x))
    )
    assert best.score - best.offset == pytest.approx(by_hand, abs=0.5)


@pytest.mark.parametrize(("name", "components"), [("normal", 1), ("bimodal", 2), ("far from zero", 1)])
def test_the_mixture_is_scikit_learns_within_the_error_of_the_bins(name, components):
    x = SAMPLES[name]
    found = column(x)
    ours = mixture(found)
    own = ours.components[0]
    assert len(own.means) == components
    start = np.quantile(x, (np.arange(components) + 0.5) / components)[:, np.newaxis]
    peer = GaussianMixture(components, means_init=start, tol=1e-9, max_iter=5000, reg_covar=1e-12).fit(x[:, np.newaxis])
    order = np.argsort(peer.means_[:, 0])
    mine = np.argsort(own.means)
    # Bins are coarsened to 256 points at most for the search: by so much is a value moved.
    points = (x.max() - x.min()) / 128
    np.testing.assert_allclose(found.values(own.means[mine]), peer.means_[order, 0], atol=points)
    deviations = np.sqrt(peer.covariances_[order, 0, 0])
    np.testing.assert_allclose(np.ldexp(own.deviations[mine], found.exponent), deviations, atol=points)
    np.testing.assert_allclose(own.shares[mine], peer.weights_[order], atol=0.01)
    at = np.linspace(x.min(), x.max(), 501)
    np.testing.assert_allclose(ours.log_density(at)[:, 0], peer.score_samples(at[:, np.newaxis]), atol=0.05)


def test_the_number_of_components_is_the_one_of_least_bic():
    x = SAMPLES["bimodal"]
    bic = [
        GaussianMixture(m, n_init=3, random_state=0).fit(x[:, np.newaxis]).bic(x[:, np.newaxis]) for m in (1, 2, 3, 4)
    ]
    assert 1 + int(np.argmin(bic)) == len(mixture(column(x)).components[0].means) == 2


@pytest.mark.parametrize("kind", ["histogram", "kernel", "mixture", "auto"])
def test_estimates_come_close_to_the_truth(kind):
    """The mean distance of the logarithms of a normal density and its estimate, where the values are."""
    x = np.random.default_rng(5).normal(0, 1, 20_000)
    model = ing.NaiveBayes(numbers=kind).fit(x[:, np.newaxis], np.zeros(len(x), int))
    at = np.random.default_rng(6).normal(0, 1, 2000)
    found = model.predict_joint_log_proba(at[:, np.newaxis])[:, 0]
    assert np.mean(norm.logpdf(at) - found) < 0.01


TABLES = ["tables/glass.arff", "tables/iris.arff", "tables/diabetes.arff"]


def _numbers(path):
    """The rows of an ARFF file whose columns are all numbers but the last, the class."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().lower() == "@data")
    rows = [row for row in csv.reader(lines[start + 1 :], quotechar="'") if len(row) > 1 and row[0][:1] != "%"]
    return np.array([row[:-1] for row in rows], float), np.array([row[-1].strip() for row in rows])


def test_auto_is_more_often_right_than_gaussians_on_real_tables():
    """Mean accuracy of ten folds; classes of fewer than ten rows are set aside."""
    accuracy: dict[str, list[float]] = {"auto": [], "gaussian": [], "scikit-learn": []}
    for name in TABLES:
        path = public_data(name)
        if path is None:
            pytest.skip(f"the public file {name} is not at hand; set INGENUO_DATA to the folder that has it")
        X, y = _numbers(path)
        labels, counts = np.unique(y, return_counts=True)
        kept = np.isin(y, labels[counts >= 10])
        X, y = X[kept], y[kept]
        right = dict.fromkeys(accuracy, 0)
        for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
            for model in accuracy:
                made = GaussianNB() if model == "scikit-learn" else ing.NaiveBayes(numbers=model)
                right[model] += int((made.fit(X[train], y[train]).predict(X[test]) == y[test]).sum())
        for model, many in right.items():
            accuracy[model].append(many / len(y))
    assert np.mean(accuracy["auto"]) > np.mean(accuracy["gaussian"]) + 0.05
    assert np.mean(accuracy["auto"]) > np.mean(accuracy["scikit-learn"]) + 0.05
