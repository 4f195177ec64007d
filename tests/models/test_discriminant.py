"""Gaussian discriminant analysis: Bayes' rule with Gaussians, said in many ways that must agree."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import ingenuo as ing
from ingenuo.errors import EmptyModelError, ForgetError, InputError, KindError, MergeError, ModelFileError, RefusedError
from ingenuo.families.covariance import POOLED
from ingenuo.models.discriminant import GaussianDiscriminant
from ingenuo.store import from_bytes, to_bytes

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
KINDS = ["shared", "full", "diagonal"]


def covariances(model):
    found = model.covariance_
    if model.covariance == "diagonal":
        return [np.diag(each) for each in found]
    return [found] * len(model.classes_) if model.covariance == "shared" else list(found)


def bayes(model, rows, columns=slice(None)):
    """Bayes' rule, written out with scipy's densities."""
    return np.stack(
        [
            np.log(prior) + multivariate_normal(mean[columns], own[columns][:, columns]).logpdf(rows[:, columns])
            for prior, mean, own in zip(model.priors_, model.means_, covariances(model))
        ],
        axis=1,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_bayes_rule(kind):
    model = GaussianDiscriminant(kind).fit(X, Y)
    joint = bayes(model, X)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-9)
    posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), posterior, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), posterior, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), joint.argmax(axis=1))
    assert model.score(X, Y) >= 0.95


def test_only_the_corrected_softmax_reproduces_bayes_rule():
    """Some notes print w = ½Σ⁻¹μ and b = +½ μᵀΣ⁻¹μ + log π; with these the posterior is another."""
    model = GaussianDiscriminant(class_prior={0: 0.5, 1: 0.2, 2: 0.3}).fit(X, Y)
    precision, means, log_prior = np.linalg.inv(model.covariance_), model.means_, np.log(model.priors_)
    quadratic = np.einsum("ki,ij,kj->k", means, precision, means)

    def softmax(weights, constants):
        scores = X @ weights.T + constants
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    joint = bayes(model, X)
    posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    corrected = means @ precision, -0.5 * quadratic + log_prior
    np.testing.assert_allclose(softmax(*corrected), posterior, atol=1e-12)
    np.testing.assert_allclose(model.coef_, corrected[0], rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, corrected[1], rtol=1e-10)
    for misprint in (
        (0.5 * means @ precision, corrected[1]),
        (corrected[0], 0.5 * quadratic + log_prior),
        (0.5 * means @ precision, 0.5 * quadratic + log_prior),
    ):
        assert np.abs(softmax(*misprint) - posterior).max() > 0.1


def test_of_two_classes_the_posterior_is_a_sigmoid_of_one_line():
    rows, labels = X[50:], NAMES[50:]
    model = GaussianDiscriminant().fit(rows, labels)
    m1, m2 = model.means_[1], model.means_[0]  # the sigmoid is that of the second class
    precision = np.linalg.inv(model.covariance_)
    w = precision @ (m1 - m2)
    b = 0.5 * (m2 @ precision @ m2 - m1 @ precision @ m1) + np.log(model.priors_[1] / model.priors_[0])
    np.testing.assert_allclose(model.coef_, [w], rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, [b], rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], 1 / (1 + np.exp(-(rows @ w + b))), atol=1e-12)
    np.testing.assert_allclose(model.decision_function(rows), rows @ w + b, atol=1e-9)
    assert (model.predict(rows) == np.where(rows @ w + b > 0, "virginica", "versicolor")).all()


def test_the_line_is_reported():
    text = GaussianDiscriminant().fit(X[50:, 2:], NAMES[50:]).discriminant(digits=3)
    assert text.splitlines()[0].startswith("log P(virginica | x) / P(versicolor | x) = -2")
    assert "·x0 + " in text
    assert text.endswith("virginica where it is positive, versicolor where it is negative")
    three = GaussianDiscriminant().fit(X, NAMES).discriminant()
    assert [line.split(":")[0] for line in three.splitlines()] == [
        "setosa",
        "versicolor",
        "virginica",
        "the largest wins",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_value_is_integrated_out(kind):
    model = GaussianDiscriminant(kind).fit(X, Y)
    rows = X[::7].copy()
    rows[:, 1] = np.nan
    rows[:, 3] = np.nan
    joint = bayes(model, rows, [0, 2])
    np.testing.assert_allclose(model.predict_joint_log_proba(rows), joint, rtol=1e-9)
    both = np.vstack([rows, X[:3]])  # rows of several patterns together answer as they do apart
    np.testing.assert_allclose(model.predict_proba(both)[: len(rows)], model.predict_proba(rows), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(both)[len(rows) :], model.predict_proba(X[:3]), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(np.full((1, 4), np.nan)), [model.priors_], rtol=1e-12)
    assert model.decision_function(both).shape == (len(both), 3)


@pytest.mark.parametrize("kind", ["shared", "full"])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_incomplete_row_counts_for_its_class_and_for_nothing_else(kind, weighted):
    holes = X.copy()
    holes[[3, 60, 61], [0, 1, 3]] = np.nan
    weights = np.random.default_rng(0).uniform(0.5, 2, 150) if weighted else np.ones(150)
    given = weights if weighted else None
    model = GaussianDiscriminant(kind).fit(holes, Y, sample_weight=given)
    whole = ~np.isnan(holes).any(axis=1)
    kept = GaussianDiscriminant(kind).fit(X[whole], Y[whole], sample_weight=weights[whole])
    np.testing.assert_allclose(model.covariance_, kept.covariance_, rtol=1e-12)
    np.testing.assert_allclose(model.means_, kept.means_, rtol=1e-14)
    np.testing.assert_allclose(model.priors_, np.bincount(Y, weights) / weights.sum(), rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row", [[5.1, 3.5, 1.4, 0.2], [np.nan, 3.0, np.nan, 1.5], [6.0, np.nan, 4.0, 1.0]])
def test_an_explanation_multiplies_to_the_joint(kind, row):
    model = GaussianDiscriminant(kind).fit(X, NAMES)
    said = model.explain(row)
    for k in range(3):
        total = said.prior.terms[k].log + sum(f.terms[k].log for f in said.factors if f.terms)
        assert total == pytest.approx(said.joint[k], rel=1e-10)
    assert said.prediction == model.predict([row])[0]
    assert ("missing" in str(said)) == bool(np.isnan(row).any())


def test_an_explanation_shows_what_the_columns_above_foretell():
    model = GaussianDiscriminant().fit(X[:, 2:], NAMES)
    factor = model.explain(X[75, 2:]).factors[1]
    mean, own = model.means_[1], model.covariance_
    expected = mean[1] + own[0, 1] / own[0, 0] * (X[75, 2] - mean[0])
    deviation = np.sqrt(own[1, 1] - own[0, 1] ** 2 / own[0, 0])
    assert factor.terms[1].how == f"f({X[75, 3]:.6g} | above: μ {expected:.6g}, σ {deviation:.6g})"


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_are_drawn_have_the_models_means_and_covariances(kind):
    model = GaussianDiscriminant(kind).fit(X, Y)
    rows, labels = model.sample(60_000, random_state=0)
    for k in range(3):
        mine = rows[labels == k]
        np.testing.assert_allclose(mine.mean(axis=0), model.means_[k], atol=0.02)
        np.testing.assert_allclose(np.cov(mine.T), covariances(model)[k], atol=0.015)
    assert GaussianDiscriminant().fit(pd.DataFrame(X, columns=list("abcd")), Y).sample(3)[0].column_names == list(
        "abcd"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_learning_in_parts_and_merging_is_learning_all(kind):
    order = np.random.default_rng(1).permutation(150)
    rows, labels = X[order], NAMES[order]
    whole = GaussianDiscriminant(kind).fit(rows, labels)
    stream = GaussianDiscriminant(kind)
    for lo in range(0, 150, 13):
        stream.partial_fit(rows[lo : lo + 13], labels[lo : lo + 13])
    halves = GaussianDiscriminant(kind).fit(rows[:70], labels[:70]) + GaussianDiscriminant(kind).fit(
        rows[70:], labels[70:]
    )
    for model in (stream, halves):
        assert model.tally_ == whole.tally_
        np.testing.assert_array_equal(model.covariance_, whole.covariance_)
        np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_one_row_at_a_time_is_learning_all():
    model = GaussianDiscriminant()
    for row, label in zip(X, NAMES):
        model.partial_fit([row], [label])
    np.testing.assert_array_equal(model.coef_, GaussianDiscriminant().fit(X, NAMES).coef_)


def test_shrinkage_can_be_changed_without_learning_again():
    model = GaussianDiscriminant().fit(X, Y)
    plain = model.covariance_
    model.set_params(shrinkage=1.0)
    np.testing.assert_allclose(model.covariance_, np.eye(4) * np.trace(plain) / 4, rtol=1e-12, atol=1e-15)
    model.set_params(shrinkage="auto", unbiased=True)
    assert 0 < model.shrinkage_ < 0.1
    model.set_params(covariance="full")
    with pytest.raises(InputError, match="fit it again"):
        model.predict(X)


def test_variances_of_few_rows_shrink_towards_their_mean():
    rng = np.random.default_rng(2)
    true = np.array([1.0, 1.0, 4.0, 0.25])
    error = {None: 0.0, "auto": 0.0}
    for _ in range(200):
        rows = rng.normal(size=(8, 4)) * np.sqrt(true)
        for amount in error:
            model = GaussianDiscriminant("diagonal", shrinkage=amount, unbiased=True).partial_fit(rows, [0] * 8)
            error[amount] += ((model.covariance_[0] - true) ** 2).sum()
    assert error["auto"] < 0.95 * error[None]


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_file_holds_all_that_was_learned(kind, tmp_path):
    weights = np.random.default_rng(3).uniform(0.1, 5, 150)
    model = GaussianDiscriminant(kind, shrinkage=0.1).fit(
        pd.DataFrame(X, columns=list("dbca")), NAMES, sample_weight=weights
    )
    ing.save(model, tmp_path / "model.ingenuo")
    again = ing.load(tmp_path / "model.ingenuo")
    assert again.tally_ == model.tally_
    assert again.schema_ == model.schema_
    frame = pd.DataFrame(X[:, ::-1], columns=list("acbd"))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    again.forget(pd.DataFrame(X[:9], columns=list("dbca")), NAMES[:9], sample_weight=weights[:9])
    rest = pd.DataFrame(X[9:], columns=list("dbca"))
    assert again.tally_ == GaussianDiscriminant(kind).fit(rest, NAMES[9:], sample_weight=weights[9:]).tally_


def test_a_forged_file_is_refused():
    from ingenuo.tally import container

    manifest, tensors = container.from_bytes(to_bytes(GaussianDiscriminant().fit(X, Y)))
    number = [entry["name"] for entry in manifest["tally"]].index(POOLED)
    table = GaussianDiscriminant().fit(X, Y).tally_[POOLED]
    assert table.products.shape == (10,)
    for part, forged in (
        ("products", -table.products.limbs),  # negative variances
        ("products", np.zeros_like(table.products.limbs)),
        ("products", table.products.limbs[:, :6]),
        ("products", np.zeros((1, 3, 6), np.int64)),
        ("products", table.products.limbs.astype(float)),
        ("rows", np.zeros((1, 3), np.int64)),
        ("rows", np.ones((1, 2), np.int64)),
        ("rows", np.full((1, 3), 51, np.int64)),  # more complete rows than rows
        ("sums", np.zeros((1, 3, 5), np.int64)),
    ):
        changed = {**tensors, f"tally/{number}/{part}": forged}
        with pytest.raises(ModelFileError):
            from_bytes(container.to_bytes(manifest, changed))
    for low in (1000, 30, 0.5, None):  # no such limbs, squares beyond the doubles
        manifest["tally"][number]["products"] = low
        with pytest.raises(ModelFileError):
            from_bytes(container.to_bytes(manifest, tensors))


def test_a_file_with_products_in_doubles_is_refused():
    from ingenuo.tally import container

    manifest, tensors = container.from_bytes(to_bytes(GaussianDiscriminant().fit(X, Y)))
    number = [entry["name"] for entry in manifest["tally"]].index(POOLED)
    del manifest["tally"][number]["products"]
    changed = {**tensors, f"tally/{number}/products": np.eye(4), f"tally/{number}/noise": np.zeros(4)}
    with pytest.raises(ModelFileError, match="has its products in doubles, as an earlier file had"):
        from_bytes(container.to_bytes(manifest, changed))


@pytest.mark.parametrize(
    "form", [pd.DataFrame, pl.DataFrame, csr_matrix, lambda X: X.astype(object), lambda X: X.tolist()]
)
def test_tables_of_every_kind_are_read(form):
    wanted = GaussianDiscriminant().fit(X, Y).predict_proba(X)
    rows = form(X) if form is not pl.DataFrame else pl.DataFrame(X, schema=list("abcd"))
    rows = rows.rename(columns=str) if isinstance(rows, pd.DataFrame) else rows
    np.testing.assert_allclose(GaussianDiscriminant().fit(rows, Y).predict_proba(rows), wanted, atol=1e-12)


def test_the_target_may_be_a_column_of_the_table():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=NAMES)
    assert GaussianDiscriminant().fit(frame, "kind").score(frame, "kind") == 0.98


def test_booleans_are_numbers_and_strings_are_not():
    frame = pd.DataFrame({"a": X[:, 0], "big": X[:, 2] > 3})
    assert GaussianDiscriminant("full").fit(frame, Y).predict(frame).shape == (150,)
    with pytest.raises(InputError, match=r"column 'colour' is no number .* GaussianDiscriminant needs numbers"):
        GaussianDiscriminant().fit(frame.assign(colour="red"), Y)
    with pytest.raises(InputError, match="take NaiveBayes"):
        GaussianDiscriminant().fit([[1.0, "red"], [2.0, "blue"]], [0, 1])
    with pytest.warns(UserWarning, match=r"ignored: 'x1' \(dict"):
        GaussianDiscriminant().fit(np.array([[1.0, {}], [2.0, {}], [2.5, {}]], object), [0, 1, 1])


def test_infinite_numbers_are_refused_by_name():
    bad = X.copy()
    bad[17, 2] = np.inf
    with pytest.raises(InputError, match="column 'x2', row 17"):
        GaussianDiscriminant().fit(bad, Y)
    for kind in KINDS:
        model = GaussianDiscriminant(kind).fit(X, Y)
        with pytest.raises(InputError, match="column 'x2', row 17"):
            model.predict(bad)
    bad[17, 2], bad[9, 1], bad[9, 3] = np.nan, np.nan, -np.inf
    with pytest.raises(InputError, match="column 'x3', row 9"):
        GaussianDiscriminant("full").fit(bad, Y)


def test_rows_beyond_all_reason_are_still_answered():
    for kind in KINDS:
        model = GaussianDiscriminant(kind).fit(X, Y)
        found = model.predict_proba([[1e300, -1e300, 1e300, 0], [1e150, 0, 0, 0]])
        np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_one_class_alone_is_refused(kind):
    model = GaussianDiscriminant(kind)
    with pytest.raises(InputError, match=r"every row is of the one class 7.*two classes at least"):
        model.fit(X, [7] * 150)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("kind", KINDS)
def test_until_a_second_class_comes_the_first_is_always_the_answer(kind):
    model = GaussianDiscriminant(kind).partial_fit(X, [7] * 150)
    assert model.predict(X).tolist() == [7] * 150
    np.testing.assert_allclose(model.predict_proba(X), 1)
    assert model.decision_function(X).shape == (150, 1)


def test_a_class_that_is_announced_and_never_seen_is_never_the_answer():
    for kind in KINDS:
        model = GaussianDiscriminant(kind).partial_fit(X, Y, classes=[0, 1, 2, 3])
        assert model.classes_.tolist() == [0, 1, 2, 3]
        assert model.predict_proba(X)[:, 3].max() == 0
        assert set(model.predict(X)) == {0, 1, 2}
    model = GaussianDiscriminant("full", class_prior=ing.Laplace()).partial_fit(X, Y, classes=[0, 1, 2, 3])
    assert np.isfinite(model.predict_joint_log_proba(X)).all()


# Singular covariances.


def test_a_constant_column_is_left_out_and_named():
    rows = np.column_stack([X, np.full(150, 0.1)])
    plain = GaussianDiscriminant().fit(X, Y)
    for kind in ("shared", "full"):
        model = GaussianDiscriminant(kind).fit(rows, Y)
        with pytest.warns(UserWarning, match="column 'x4': the same value in every row, left out"):
            found = model.predict_proba(rows)
        np.testing.assert_allclose(found, GaussianDiscriminant(kind).fit(X, Y).predict_proba(X), atol=1e-10)
    with pytest.warns(UserWarning, match="left out"):
        np.testing.assert_allclose(GaussianDiscriminant().fit(rows, Y).coef_[:, :4], plain.coef_, rtol=1e-9)


@pytest.mark.parametrize("kind", ["shared", "full"])
def test_a_constant_column_is_constant_under_weights_too(kind):
    weights = np.random.default_rng(6).uniform(0.01, 3, 150)
    rows = np.column_stack([X, np.full(150, 0.1), np.full(150, -1234.567)])
    model = GaussianDiscriminant(kind).fit(rows, Y, sample_weight=weights)
    with pytest.warns(UserWarning, match="columns 'x4', 'x5': the same value in every row"):
        found = model.predict_proba(rows)
    plain = GaussianDiscriminant(kind).fit(X, Y, sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(found, plain, atol=1e-9)


def test_a_class_of_one_row_beside_shrinkage_and_a_constant_column_is_answered():
    rows = np.column_stack([X[:101], np.ones(101)])
    model = GaussianDiscriminant("full", shrinkage=0.2).fit(rows, Y[:101])
    with pytest.warns(UserWarning, match="class 2 has 1 complete rows"):
        assert np.isfinite(model.predict_joint_log_proba(rows)).all()


@pytest.mark.parametrize("kind", ["shared", "full"])
def test_a_column_that_varies_only_between_the_classes_decides_alone(kind):
    rows = np.column_stack([np.random.default_rng(4).normal(size=(150, 2)), Y])
    model = GaussianDiscriminant(kind).fit(rows, Y)
    with pytest.warns(UserWarning, match="column 'x2': no variance within the classes"):
        assert model.score(rows, Y) == 1.0


def test_collinear_columns_change_nothing_and_are_named():
    rows = np.column_stack([X, 1000 * X[:, 1], X @ [1.0, -2.0, 0.5, 3.0]])
    for kind, words in (("shared", "columns 'x4', 'x5' follow"), ("full", "columns 'x4', 'x5'")):
        model = GaussianDiscriminant(kind).fit(rows, Y)
        with pytest.warns(UserWarning, match=words):
            found = model.predict_proba(rows)
        np.testing.assert_allclose(found, GaussianDiscriminant(kind).fit(X, Y).predict_proba(X), atol=1e-5)
        said = model.explain(rows[3])
        total = said.prior.terms[1].log + sum(f.terms[1].log for f in said.factors if f.terms)
        assert total == pytest.approx(said.joint[1], rel=1e-6)
    assert "follows from the columns above" in str(GaussianDiscriminant().fit(rows, Y).explain(rows[3]))


def test_automatic_shrinkage_makes_singular_covariances_regular():
    rng = np.random.default_rng(5)
    X_few, y = rng.normal(size=(30, 50)) + 0.8 * (np.arange(30) % 2)[:, np.newaxis], np.arange(30) % 2
    new = rng.normal(size=(400, 50)) + 0.8 * (np.arange(400) % 2)[:, np.newaxis]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shrunk = GaussianDiscriminant(shrinkage="auto").fit(X_few, y)
        assert shrunk.score(new, np.arange(400) % 2) > 0.95
    plain = GaussianDiscriminant().fit(X_few, y)
    with pytest.warns(UserWarning, match=r"there are 30 complete rows for 50 columns.*shrinkage='auto'"):
        plain.predict(new)
    said = plain.explain(new[0])
    for k in range(2):
        total = said.prior.terms[k].log + sum(f.terms[k].log for f in said.factors if f.terms)
        assert total == pytest.approx(said.joint[k], rel=1e-9)
    assert "off the range of Σ" in str(said)


def test_a_class_of_few_rows_borrows_from_the_others_and_is_named():
    rows, labels = np.vstack([X[:100], X[100:103]]), np.concatenate([NAMES[:100], ["few"] * 3])
    model = GaussianDiscriminant("full").fit(rows, labels)
    with pytest.warns(UserWarning, match="class 'few' has 3 complete rows, too few for the covariance of 4 columns"):
        assert model.score(X[:100], NAMES[:100]) > 0.95
    assert (model.predict(X[103:]) == "few").mean() > 0.6  # which a spike on three rows would not find
    one = GaussianDiscriminant("full").fit(np.vstack([X[:100], X[140:141]]), [*NAMES[:100], "one"])
    with pytest.warns(UserWarning, match="class 'one' has 1 complete rows"):
        assert np.isfinite(one.predict_joint_log_proba(X)).all()


# Bad input.


@pytest.mark.parametrize(
    ("settings", "kind", "words"),
    [
        ({"covariance": "share"}, InputError, "did you mean 'shared'"),
        ({"covariance": 3}, KindError, "covariance must be one of"),
        ({"shrinkage": "automatic"}, InputError, "take None, 'auto', or a number"),
        ({"shrinkage": 1.5}, InputError, "shrinkage is .* at most 1"),
        ({"shrinkage": True}, KindError, "shrinkage must be"),
        ({"shrinkage": [1]}, KindError, "shrinkage must be"),
        ({"unbiased": "yes"}, KindError, "unbiased must be True or False"),
        ({"class_prior": {"a": 0.5}}, InputError, "sum to 0.5"),
        ({"class_prior": 3}, KindError, "class_prior must be a Prior"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, kind, words):
    model = GaussianDiscriminant(**settings)
    with pytest.raises(kind, match=words):
        model.fit(X, Y)
    assert not hasattr(model, "tally_")


def test_no_complete_row_is_refused_and_changes_nothing():
    holes = np.array([[1.0, np.nan], [np.nan, 2.0]])
    for kind in ("shared", "full"):
        model = GaussianDiscriminant(kind).fit(X[:, :2], Y)
        before = model.tally_
        with pytest.raises(InputError, match="no row has a value in every column"):
            model.fit(holes, [0, 1])
        assert model.tally_ == before
        model.partial_fit(holes, [0, 1])  # among others they are welcome
        assert model.priors_ == pytest.approx(np.array([51, 51, 50]) / 152)


def test_what_a_quadratic_model_has_not_is_said():
    model = GaussianDiscriminant("full").fit(X, Y)
    assert not hasattr(model, "coef_")
    with pytest.raises(RefusedError, match="the boundary is no line"):
        _ = model.intercept_
    with pytest.raises(RefusedError, match="covariance='shared'"):
        model.discriminant()


def test_asking_before_learning_and_after_forgetting_all():
    with pytest.raises(NotFittedError):
        GaussianDiscriminant().predict(X)
    model = GaussianDiscriminant().fit(X, Y).forget(X, Y)
    assert len(model.tally_) == 0
    with pytest.raises(EmptyModelError, match="forgotten every row"):
        model.predict(X)
    model.partial_fit(X, Y)
    np.testing.assert_array_equal(model.coef_, GaussianDiscriminant().fit(X, Y).coef_)


def test_models_of_other_columns_do_not_merge():
    one = GaussianDiscriminant().fit(pd.DataFrame(X, columns=list("abcd")), Y)
    two = GaussianDiscriminant().fit(pd.DataFrame(X[:, :3], columns=list("abe")), Y)
    before = one.tally_
    with pytest.raises(MergeError, match="column 'c' is in one of the models only"):
        one.merge(two)
    with pytest.raises(MergeError):
        one.merge(ing.LeastSquaresClassifier().fit(pd.DataFrame(X, columns=list("abcd")), Y))
    assert one.tally_ == before


def test_forgetting_a_row_of_another_model_is_refused():
    model = GaussianDiscriminant().fit(X, Y)
    with pytest.raises(ForgetError):
        model.forget(X[:1] + 1e3, Y[:1])


def test_naive_bayes_takes_numbers_that_vary_together_beside_categories():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(size=np.where(X[:, 0] > 5.8, "large", "small"))
    model = ing.NaiveBayes(numbers="gaussian-shared").fit(frame, NAMES)
    joint = GaussianDiscriminant().fit(X, NAMES).predict_joint_log_proba(X)
    sizes = ing.NaiveBayes().fit(frame[["size"]], NAMES).predict_joint_log_proba(frame[["size"]])
    np.testing.assert_allclose(model.predict_joint_log_proba(frame), joint + sizes - np.log(1 / 3), rtol=1e-10)
    twice = ing.NaiveBayes(numbers="gaussian-shared").fit(frame.assign(again=frame["a"]), NAMES)
    with pytest.warns(UserWarning, match="column 'again' follows from the columns before"):
        twice.predict(frame.assign(again=frame["a"]))


# Pictures.


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_has_the_rows_the_means_and_the_boundary(kind):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = GaussianDiscriminant(kind).fit(frame, NAMES)
    ax = model.plot(frame, NAMES, columns=("c", "d"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "d")
    assert (
        sum(
            len(each.get_offsets())
            for each in ax.collections
            if hasattr(each, "get_sizes") and len(each.get_offsets()) > 1
        )
        == 150
    )
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["setosa", "versicolor", "virginica"]
    assert len(ax.patches) == 3
    ax.figure.canvas.draw()


def test_the_drawn_line_is_the_line():
    """Where the picture of two classes changes colour, the discriminant is zero."""
    model = GaussianDiscriminant().fit(X[50:, 2:], NAMES[50:])
    ax = model.plot(X[50:, 2:], NAMES[50:])
    (line,) = [
        each for each in ax.collections if hasattr(each, "get_array") and each.__class__.__name__.endswith("ContourSet")
    ]
    on_it = np.vstack([path.vertices for path in line.get_paths()])
    reach = np.abs(model.decision_function(X[50:, 2:])).max()
    assert np.abs(model.decision_function(on_it)).max() < 0.02 * reach


def test_pictures_without_rows_with_one_column_and_on_given_axes():
    model = GaussianDiscriminant().fit(X, Y)
    assert model.plot().get_xlabel() == "x0"
    given = GaussianDiscriminant().fit(X[:, :1], Y).plot(X[:, :1], Y)
    assert given.get_xlabel() == "x0"
    assert GaussianDiscriminant().fit(X[:, :1], NAMES).plot().get_ylabel() == "P(class | x)"
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert model.plot(X, Y, columns=(3, "x1"), ax=ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x3", "x1")


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"X": X}, InputError, "but not y"),
        ({"columns": ("x0", "x9")}, InputError, "no column 'x9'"),
        ({"columns": ("x0", "x0")}, InputError, "two different columns"),
        ({"columns": ("x0",)}, InputError, "two different columns"),
        ({"columns": "x0"}, KindError, "columns must be two columns"),
    ],
)
def test_pictures_that_cannot_be_drawn(given, kind, words):
    with pytest.raises(kind, match=words):
        GaussianDiscriminant().fit(X, Y).plot(**given)


def test_it_is_cloned_with_its_settings():
    assert clone(GaussianDiscriminant("full", shrinkage=0.5)).get_params()["shrinkage"] == 0.5


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_a_row_of_which_nothing_is_known_has_the_prior(covariance: str) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    found = ing.GaussianDiscriminant(covariance).fit(X, np.arange(40) % 2).explain({})
    assert [factor.note for factor in found.factors] == ["integrated out"] * 3
    np.testing.assert_allclose(found.posterior, 0.5)


# By parameters.

MEANS = np.array([[0.0, 1.0, 4.0], [2.0, -1.0, 4.5], [5.0, 0.5, 3.0]])
ROOT = np.array([[2.0, 0.0, 0.0], [0.5, 1.0, 0.0], [-0.3, 0.2, 0.7]])
SIGMA = ROOT @ ROOT.T
PRIORS = np.array([0.2, 0.5, 0.3])


@pytest.mark.parametrize("each", [False, True], ids=["one covariance", "one for each class"])
def test_a_model_by_its_parameters_has_them(each: bool) -> None:
    covariance = SIGMA * np.array([1.0, 2.0, 0.5])[:, np.newaxis, np.newaxis] if each else SIGMA
    model = GaussianDiscriminant.from_parameters(
        MEANS, covariance, PRIORS, classes=["a", "b", "c"], columns=["x", "y", "z"]
    )
    np.testing.assert_allclose(model.means_, MEANS, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(model.covariance_, covariance, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(model.priors_, PRIORS, rtol=1e-14)
    row = np.array([1.0, 0.3, 4.1])
    sigmas = covariance if each else [SIGMA] * 3
    joint = [p * multivariate_normal(m, s).pdf(row) for p, m, s in zip(PRIORS, MEANS, sigmas)]
    found = model.predict_proba(pd.DataFrame([row], columns=["x", "y", "z"]))[0]
    np.testing.assert_allclose(found, np.array(joint) / sum(joint), rtol=1e-10)
    assert from_bytes(to_bytes(model)).tally_ == model.tally_


def test_parameters_count_as_rows_beside_those_that_come_later() -> None:
    model = GaussianDiscriminant.from_parameters([[0.0], [4.0]], [[1.0]], rows=2.0)
    model.partial_fit([[2.0]], [0])
    np.testing.assert_allclose(model.means_, [[1.0], [4.0]])
    np.testing.assert_allclose(model.priors_, [2 / 3, 1 / 3])


def test_the_line_between_two_classes_is_that_of_the_notes() -> None:
    """w = Σ⁻¹(μ₁ - μ₂), b = ½(μ₂ᵀΣ⁻¹μ₂ - μ₁ᵀΣ⁻¹μ₁) + log(π₁/π₂)."""
    model = GaussianDiscriminant.from_parameters(MEANS, SIGMA, PRIORS, classes=["a", "b", "c"])
    inverse = np.linalg.inv(SIGMA)
    w = inverse @ (MEANS[0] - MEANS[2])
    b = (MEANS[2] @ inverse @ MEANS[2] - MEANS[0] @ inverse @ MEANS[0]) / 2 + np.log(PRIORS[0] / PRIORS[2])
    first, second = model.discriminant("a", "c", digits=9).splitlines()
    assert first.startswith(f"log P(a | x) / P(c | x) = {b:.9g} {'-' if w[0] < 0 else '+'} {abs(w[0]):.9g}·x0")
    assert second == "a where it is positive, c where it is negative"
    assert model.discriminant("a", "c", most=1).splitlines()[0].endswith("+ 2 terms of smaller weight")
    assert model.discriminant().splitlines()[-1] == "the largest wins"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([[0.0], [1.0]], [[1.0, 0.0], [0.0, 1.0]]), "do not fit"),
        (([[0.0]], [[1.0]]), "two classes at least"),
        (([[0.0], [1.0]], [[-1.0]]), "negative variance"),
        (([[0.0, 0.0], [1.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]]), "symmetric"),
        (([[0.0], [np.nan]], [[1.0]]), "finite"),
        (([[0.0], [1.0]], [[1.0]], [0.5, 0.6]), "the priors are"),
        (([[0.0], [1.0]], [[1.0]], [1.0, 0.0]), "the priors are"),
    ],
)
def test_parameters_of_no_gaussians_are_refused(given: tuple, said: str) -> None:
    with pytest.raises(InputError, match=said):
        GaussianDiscriminant.from_parameters(*given)
    with pytest.raises(InputError, match="need as many names"):
        GaussianDiscriminant.from_parameters(MEANS, SIGMA, classes=["a", "b"])
    with pytest.raises(InputError, match="not all different"):
        GaussianDiscriminant.from_parameters(MEANS, SIGMA, classes=["a", "b", "b"])


def test_a_line_lies_between_two_classes_that_there_are() -> None:
    model = GaussianDiscriminant.from_parameters(MEANS, SIGMA, classes=["ant", "bee", "cat"])
    with pytest.raises(InputError, match="did you mean 'bee'"):
        model.discriminant("ant", "bees")
    with pytest.raises(InputError, match="given twice"):
        model.discriminant("ant", "ant")
