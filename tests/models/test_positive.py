"""Numbers that are not negative: densities, sums that add and subtract, rows left out, files, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scipy import stats
from scipy.special import gammaln

import ingenuo as ing
from ingenuo import store
from ingenuo.cli import main
from ingenuo.errors import InputError, ModelFileError
from ingenuo.explanation.evidence import reasons
from ingenuo.families.positive import DISTRIBUTIONS, log_gamma, shape_of
from ingenuo.tally import container

PLAIN = [of.name for of in DISTRIBUTIONS]
ALL = [f"{name}{zero}" for name in PLAIN for zero in ("", "-or-zero")]
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 240)
VALUES = {
    "log-normal": RNG.lognormal(1 + 0.4 * Y, 0.6),
    "gamma": RNG.gamma(2.0 + Y, 1.5),
    "exponential": RNG.exponential(2.0 + Y),
    "poisson": RNG.poisson(2.0 + 2 * Y).astype(float),
    "negative-binomial": RNG.negative_binomial(3, 0.3 + 0.2 * Y).astype(float),
}
PEERS = {
    "log-normal": lambda x, m, s: stats.lognorm.logpdf(x, s, scale=np.exp(m)),
    "gamma": lambda x, k, t: stats.gamma.logpdf(x, k, scale=t),
    "exponential": lambda x, t: stats.expon.logpdf(x, scale=t),
    "poisson": stats.poisson.logpmf,
    "negative-binomial": lambda x, m, r: stats.nbinom.logpmf(x, r, r / (r + m)),
}


def rows(family: str) -> np.ndarray:
    x = VALUES[family.removesuffix("-or-zero")].copy()
    if family.endswith("-or-zero"):
        x[::3] = 0.0
    x[7] = np.nan
    return x[:, np.newaxis]


def test_the_gamma_function_and_its_inverse_problem():
    x = np.concatenate([np.geomspace(1e-6, 1e12, 200), np.arange(1.0, 30)])
    np.testing.assert_allclose(log_gamma(x), gammaln(x), rtol=1e-13, atol=1e-12)
    k = np.geomspace(1e-3, 1e4, 50)
    from scipy.special import digamma

    np.testing.assert_allclose(shape_of(np.log(k) - digamma(k)), k, rtol=1e-6)


@pytest.mark.parametrize("family", PLAIN)
def test_parameters_are_those_of_scipy_and_so_are_the_densities(family):
    X = rows(family)
    model = ing.NaiveBayes(numbers=family, prior=ing.MaximumLikelihood()).fit(X, Y)
    own = model._parameters().of(0).own
    kept = ~np.isnan(X[:, 0])
    found = own.log_density(0, X[kept, 0])
    for k in range(3):
        figures = [each[k] for each in own.figures(0)]
        np.testing.assert_allclose(found[:, k], PEERS[family](X[kept, 0], *figures), rtol=1e-9, atol=1e-9)
        mine = X[kept & (k == Y), 0]
        assert own.moments(0)[0][k] == pytest.approx(mine.mean(), rel=1e-9 if family != "log-normal" else 0.1)
        if family == "gamma":
            shape, _, scale = stats.gamma.fit(mine, floc=0)
            assert figures == pytest.approx([shape, scale], rel=1e-5)
        if family == "log-normal":
            assert figures == pytest.approx([np.log(mine).mean(), np.log(mine).std()], rel=1e-12)
        if family == "negative-binomial":
            assert figures[1] == pytest.approx(mine.mean() ** 2 / (mine.var() - mine.mean()), rel=1e-9)


def test_imaginary_rows_are_like_all_rows_together():
    x = VALUES["gamma"]
    model = ing.NaiveBayes(numbers="gamma", prior=ing.Laplace(variance_rows=5)).fit(x[:, np.newaxis], Y)
    k, scale = (each[1] for each in model._parameters().of(0).own.figures(0))
    n = (Y == 1).sum()
    mean = (x[Y == 1].sum() + 5 * x.mean()) / (n + 5)
    log_mean = (np.log(x[Y == 1]).sum() + 5 * np.log(x).mean()) / (n + 5)
    assert k * scale == pytest.approx(mean, rel=1e-12)
    assert k == pytest.approx(float(shape_of(np.array(math.log(mean) - log_mean))), rel=1e-9)


@pytest.mark.parametrize("family", ALL)
def test_tallies_add_and_subtract_in_any_parts(family):
    X, w = rows(family), RNG.choice([0.5, 1.0, 3.0], len(Y))
    for weights in (None, w):
        given = [(X[s], Y[s], None if weights is None else weights[s]) for s in (slice(90), slice(90, None))]
        whole = ing.NaiveBayes(numbers=family).fit(X, Y, weights)
        one, two = (ing.NaiveBayes(numbers=family).fit(*each) for each in given)
        assert (one + two).tally_ == whole.tally_
        assert ing.NaiveBayes(numbers=family).fit(X[::-1], Y[::-1], None if weights is None else w[::-1]).tally_ == (
            whole.tally_
        )
        np.testing.assert_array_equal((one + two).predict_proba(X), whole.predict_proba(X))
        assert whole.forget(*given[1]).tally_ == one.tally_


@pytest.mark.parametrize("family", ALL)
@pytest.mark.parametrize("prior", [ing.Laplace(), ing.MaximumLikelihood()])
def test_a_row_left_out_is_answered_by_a_model_of_the_others(family, prior):
    from ingenuo.families.family import LearnedRows
    from ingenuo.rows.rows import Part

    X = rows(family)
    w = np.where(np.arange(len(Y)) % 5, 1.0, 2.0)
    model = ing.NaiveBayes(numbers=family, prior=prior).fit(X, Y, w)
    chunk = model._chunk_of(Part(X, Y, w))
    (attribute,) = model.attributes_
    found = attribute.left_out(LearnedRows(model.schema_, model.tally_, chunk, exact=True))
    for row in (0, 7, 8, 100, int(np.nanargmax(X))):
        rest = np.delete(np.arange(len(Y)), row)
        other = ing.NaiveBayes({0: family}, prior=prior).fit(X[rest], Y[rest], w[rest])
        wanted = other.predict_joint_log_proba(X[row : row + 1])[0] - other.class_log_prior_
        np.testing.assert_allclose(found[row], wanted, rtol=1e-9, atol=1e-9)


def test_the_only_zero_and_the_only_value_of_a_class_can_be_left_out():
    X = np.array([[0.0], [1.5], [2.0], [4.0], [3.0], [np.nan]])
    y = np.array(["a", "a", "a", "b", "c", "c"])
    model = ing.NaiveBayes(numbers="gamma-or-zero").fit(X, y)
    found = ing.cross_validate(model, X, y, folds="leave-one-out", verbose=False)
    assert np.isfinite(found.probabilities).all()
    ing.NaiveBayes(numbers="gamma-or-zero", calibration="temperature").fit(
        *(np.repeat(each, 9, axis=0) for each in (X, y))
    )


@pytest.mark.parametrize("family", ALL)
def test_the_arithmetic_shown_is_the_arithmetic_done(family):
    X = rows(family)
    model = ing.NaiveBayes(numbers=family).fit(X, Y)
    joint = model.predict_joint_log_proba(X)
    for row in (0, 1, 2, 7, 9):
        shown = model.explain(X[row])
        total = np.array([term.log for term in shown.prior.terms])
        for factor in shown.factors:
            total = total + np.array([term.log for term in factor.terms]) if factor.terms else total
        assert total.tobytes() == joint[row].tobytes()
        assert model.predict_proba(X[row : row + 1]).tobytes() == model.predict_proba(X)[row : row + 1].tobytes()
    name = family.removesuffix("-or-zero")
    assert f"{name}({X[1, 0]:.6g} " in str(model.explain(X[1]))
    counted = family.endswith("-or-zero") and name in ("poisson", "negative-binomial")
    assert (f"{name}({X[1, 0]:.6g} - 1 |" in str(model.explain(X[1]))) == counted
    for found, own in zip(reasons(model, X[:20], 1), X):
        assert dict(found) == pytest.approx(dict(model.explain(own).reasons(1)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("family", ALL)
def test_masses_sum_to_one_and_draws_are_like_the_rows(family):
    X = rows(family)
    model = ing.NaiveBayes(numbers=family).fit(X, Y)
    own = model._parameters().of(0).own
    name = family.removesuffix("-or-zero")
    if name in ("poisson", "negative-binomial"):
        assert np.exp(own.log_density(0, np.arange(3000.0))).sum(axis=0) == pytest.approx([1, 1, 1], abs=1e-9)
    else:
        x = np.geomspace(1e-9, 1e5, 400_001)
        mass = np.trapezoid(np.exp(own.log_density(0, x)), x, axis=0)
        mass += np.exp(own.log_density(0, np.zeros(1)))[0] if family.endswith("-or-zero") else 0
        assert mass == pytest.approx([1, 1, 1], abs=1e-3)
    drawn, _ = model.sample(6000, class_=2, random_state=1)
    mine = X[(Y == 2) & ~np.isnan(X[:, 0]), 0]
    assert (np.asarray(drawn)[:, 0] == 0).mean() == pytest.approx((mine == 0).mean(), abs=0.06)
    assert np.asarray(drawn).mean() == pytest.approx(mine.mean(), rel=0.2)
    ax = model.plot(0)
    assert max(line.get_ydata().max() for line in ax.lines) > 0.01
    ing.evaluate(model, X, Y)


@pytest.mark.parametrize("family", [each for each in ALL if "binomial" not in each and "poisson" not in each])
def test_the_log_likelihood_follows_from_the_sums(family):
    X = rows(family)
    model = ing.NaiveBayes(numbers=family).fit(X, Y)
    found = model.predict_joint_log_proba(X)[np.arange(len(Y)), Y].sum()
    assert model.log_likelihood_ == pytest.approx(found, rel=1e-9)
    per_class = {"exponential": 1}.get(family.removesuffix("-or-zero"), 2) + family.endswith("-or-zero")
    assert model.n_parameters_ == 2 + 3 * per_class


@pytest.mark.parametrize(
    ("family", "value", "said"),
    [
        ("gamma", -2.0, "-2.0 is no value of the gamma distribution, which has numbers above 0; take another, "
         "columns={'x': 'gaussian'}"),
        ("log-normal", 0.0, "0.0 is no value .* columns={'x': 'log-normal-or-zero'}, or make it missing"),
        ("poisson", 1.5, "1.5 is no value .* whole numbers from 0 on; take another, columns={'x': 'gamma'}"),
        ("negative-binomial-or-zero", -1.0, "-1.0 is no value"),
        ("exponential", math.inf, "inf is infinite"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_is_refused_and_nothing_is_learned(family, value, said):
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0]})
    model = ing.NaiveBayes(numbers=family).fit(table, [0, 0, 1, 1])
    before = model.tally_
    with pytest.raises(InputError, match=f"column 'x', row 1: {said}"):
        model.partial_fit(pa.table({"x": [1.0, value]}), [0, 1])
    assert model.tally_ == before


def test_an_impossible_value_leaves_the_answer_to_the_other_columns():
    X = np.column_stack([VALUES["poisson"], VALUES["gamma"]])
    model = ing.NaiveBayes(numbers={0: "poisson", 1: "gamma"}).fit(X, Y)
    odd = model.predict_proba([[1.5, 2.0], [-1.0, 2.0]])
    alone = ing.NaiveBayes(numbers="gamma").fit(X[:, 1:], Y).predict_proba([[2.0]])[0]
    np.testing.assert_allclose(odd, [alone, alone], rtol=1e-6)
    assert np.isneginf(model.predict_joint_log_proba([[1.5, 2.0]])).all()


def test_extremes_stay_finite():
    for family in ("log-normal", "gamma", "exponential"):
        for scale in (1e-300, 1e300):
            x = VALUES["gamma"][:, np.newaxis] * scale
            model = ing.NaiveBayes(numbers=family).fit(x, Y)
            assert np.isfinite(model.predict_joint_log_proba(x)).all()
        constant = ing.NaiveBayes(numbers=family).fit(np.full((30, 1), 7.0), np.arange(30) % 2)
        np.testing.assert_allclose(constant.predict_proba([[7.0], [8.0]]), 0.5, atol=1e-6)
    counts = np.array([[0.0], [0.0], [3.0], [2.0**53]])
    for family in ("poisson", "negative-binomial"):
        model = ing.NaiveBayes(numbers=family).fit(counts, [0, 0, 1, 1])
        assert np.isfinite(model.predict_joint_log_proba(counts)).all()
        bare = ing.NaiveBayes(numbers=family, prior=ing.MaximumLikelihood()).fit(counts[:3], [0, 0, 1])
        assert bare.predict([[0.0], [3.0]]).tolist() == [0, 1]


def test_files_and_forged_sums(tmp_path):
    X = rows("gamma-or-zero")
    model = ing.NaiveBayes(numbers="gamma-or-zero").fit(X, Y)
    ing.save(model, tmp_path / "model.ingenuo")
    loaded = ing.load(tmp_path / "model.ingenuo")
    assert loaded.tally_ == model.tally_
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    for name, factor in (("log:sum", 1 << 20), ("log:count", 2), ("zero:count", 9), ("number:sum", -1)):
        manifest, tensors = model.state()
        at = next(place for place, each in enumerate(manifest["tally"]) if each["name"] == name)
        changed = {key: each * factor if _is_sum(key, at, each) else each for key, each in tensors.items()}
        with pytest.raises(ModelFileError):
            store.from_bytes(container.to_bytes(manifest, changed))


def _is_sum(key: str, at: int, tensor: np.ndarray) -> bool:
    return key.startswith(f"tally/{at}/") and tensor.dtype == np.int64 and tensor.ndim > 1


def test_the_command_names_them(tmp_path):
    lines = "\n".join(f"{x:.4f},{'abc'[k]}" for x, k in zip(rows("gamma-or-zero")[8:, 0], Y[8:]))
    (tmp_path / "rows.csv").write_text(f"amount,kind\n{lines}\n")
    given = ["train", str(tmp_path / "rows.csv"), "--target", "kind", "-o", str(tmp_path / "model.ingenuo")]
    found = CliRunner().invoke(main, [*given, "--model", "naive-bayes", "--column", "amount=gamma-or-zero"])
    assert found.exit_code == 0, found.output
    assert ing.load(tmp_path / "model.ingenuo").densities_["amount"].density == "gamma and states"
    found = CliRunner().invoke(main, [*given, "--model", "naive-bayes", "--column", "amount=gamma"])
    assert found.exit_code != 0
    assert "--column amount=gamma-or-zero" in found.stderr
