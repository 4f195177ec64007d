"""Priors are imaginary data: each says how many observations of each value it imagines."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from ingenuo.errors import IngenuoError, InputError, KindError
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.tally.labels import labels_of
from ingenuo.tally.prior import PRIORS, Dirichlet, Laplace, Lidstone, MaximumLikelihood, MEstimate

ABC = labels_of(["a", "b", "c"])
ALL = [MaximumLikelihood(), Laplace(), Lidstone(0.5), MEstimate(2), Dirichlet(3)]


@pytest.mark.parametrize(
    ("prior", "imagined"),
    [
        (MaximumLikelihood(), [0, 0, 0]),
        (Laplace(), [1, 1, 1]),
        (Lidstone(0.25), [0.25, 0.25, 0.25]),
        (Lidstone(0), [0, 0, 0]),
        (MEstimate(6), [2, 2, 2]),
        (MEstimate(4, {"a": 0.5, "b": 0.25, "c": 0.25}), [2, 1, 1]),
        (MEstimate(4, [0.5, 0.25, 0.25]), [2, 1, 1]),
        (MEstimate(4, {"b": 1.0}), [0, 4, 0]),
        (Dirichlet(), [1, 1, 1]),
        (Dirichlet(1), [0, 0, 0]),
        (Dirichlet({"a": 3, "b": 1.5}), [2, 0.5, 0]),
        (Dirichlet([2, 3, 4]), [1, 2, 3]),
    ],
)
def test_a_prior_imagines_so_many_of_each_value(prior, imagined):
    assert prior.pseudo_counts(ABC).tolist() == imagined


def test_weights_and_alphas_can_differ_by_column():
    estimate = MEstimate(4, {"outlook": {"a": 0.75, "b": 0.25}, "wind": [0.5, 0.25, 0.25]})
    assert estimate.pseudo_counts(ABC, "outlook").tolist() == [3, 1, 0]
    assert estimate.pseudo_counts(ABC, "wind").tolist() == [2, 1, 1]
    assert estimate.pseudo_counts(ABC, "another") == pytest.approx([4 / 3] * 3)
    dirichlet = Dirichlet({"outlook": {"a": 2}})
    assert dirichlet.pseudo_counts(ABC, "outlook").tolist() == [1, 0, 0]
    assert dirichlet.pseudo_counts(ABC, "another").tolist() == [0, 0, 0]


def test_a_prior_knows_the_values_it_was_told_of():
    seen = labels_of(["a", "b"])
    assert MEstimate(1, {"z": 0.5, "a": 0.5}).known(seen).tolist() == ["a", "z"]
    assert Dirichlet({"outlook": {"rain": 2}}).known(seen, "outlook").tolist() == ["rain"]
    assert all(len(prior.known(seen)) == 0 for prior in ALL)


def test_weights_by_value_leave_columns_of_other_values_alone():
    weights = MEstimate(3, {"sunny": 0.5, "rain": 0.5})
    assert weights.known(labels_of(["strong", "weak", "none"])).tolist() == []
    assert weights.pseudo_counts(labels_of(["strong", "weak", "none"])).tolist() == [1, 1, 1]
    assert weights.pseudo_counts(labels_of(["overcast", "rain", "sunny"])).tolist() == [0, 1.5, 1.5]


def test_the_floor_of_the_variance_is_given_by_name():
    assert Laplace(variance_floor=0.5).floor == 0.5
    with pytest.raises(TypeError):
        Laplace(3)


def test_a_prior_for_a_column_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="has a column 'outlok' that the table has not; did you mean"):
        NaiveBayes(prior=MEstimate(1, {"outlok": {"a": 1.0}})).fit(pd.DataFrame({"outlook": ["a", "b"]}), [0, 1])


def test_no_labels_means_nothing_imagined():
    assert all(len(prior.pseudo_counts(labels_of([]))) == 0 for prior in ALL)


def test_a_value_that_only_the_prior_knows_has_its_share():
    prior = MEstimate(2, {0: {"seen": 0.5, "imagined": 0.5}})
    model = NaiveBayes(prior=prior).fit(np.array([["seen"], ["seen"]], object), ["a", "b"])
    term = model.explain(["imagined"]).to_dict()["factors"][0]["terms"][0]
    assert term["value"] == pytest.approx((0 + 1) / (1 + 2))


def test_priors_of_the_same_kind_and_values_are_equal_and_cannot_be_changed():
    assert Lidstone(0.5) == Lidstone(0.5) != Lidstone(0.6)
    assert Laplace() != Lidstone(1)
    assert hash(Laplace()) == hash(Laplace())
    with pytest.raises(AttributeError):
        Lidstone(0.5).alpha = 1


def test_parameters_rebuild_the_prior():
    for prior in [*ALL, MEstimate(2, {"a": 1.0}), Laplace(variance_floor=0.5)]:
        assert PRIORS[type(prior).__name__](**prior.parameters()) == prior


def test_imaginary_rows_have_the_variance_of_the_column():
    """σ² = (n s² + a S²) / (n + a), with n, or n - 1, below s²; a class of one value takes S² as it is."""
    x, y = np.array([1.25, 2.5, 4.75, 9.5, 10.25, 3.5]), list("aaabbc")
    for rows in (0.0, 1.0, 2.5):
        for numbers, less in (("gaussian", 0), ("gaussian-unbiased", 1)):
            model = NaiveBayes(prior=Laplace(variance_rows=rows), numbers=numbers).fit(x[:, np.newaxis], y)
            found = model._parameters().of(0).own.deviations[:, 0] ** 2
            own = [np.var(x[:3], ddof=less), np.var(x[3:5], ddof=less)]
            wanted = [(n * s + rows * np.var(x)) / (n + rows) for n, s in zip((3, 2), own)]
            np.testing.assert_allclose(found, [*wanted, np.var(x)], rtol=1e-12)


def test_the_variance_floor_is_a_share_of_the_column_s_own_variance():
    """One class never varies: its deviation is the floor's, in each column by its own measure."""
    X = np.array([[1.0, 1e9], [1.0, 1e9], [3.0, 3e9], [7.0, 7e9]])
    model = NaiveBayes(prior=Laplace(variance_floor=0.01, variance_rows=0), numbers="gaussian")
    model.fit(X, ["a", "a", "b", "b"])
    for j in range(2):
        values = X[:, j]
        wanted = math.sqrt(0.01 * np.var(values))
        how = model.explain([1.0, 1e9]).to_dict()["factors"][j]["terms"][0]
        density = 1 / (wanted * math.sqrt(2 * math.pi))
        assert how["value"] == pytest.approx(density, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Lidstone(-1), "alpha must be finite and not negative, got -1"),
        (lambda: Lidstone(math.nan), "alpha must be finite and not negative, got nan"),
        (lambda: Lidstone(math.inf), "alpha must be finite and not negative, got inf"),
        (lambda: MEstimate(-0.1), "m must be finite and not negative, got -0.1"),
        (lambda: MEstimate(1, {"a": 0.5, "b": 0.6}), "the weights of an MEstimate sum to 1.1; they must sum to 1"),
        (lambda: MEstimate(1, [0.5]), "the weights of an MEstimate sum to 0.5; they must sum to 1"),
        (
            lambda: MEstimate(1, {"wind": {"weak": 0.2}}),
            "the weights of column 'wind' of an MEstimate sum to 0.2; they must sum to 1",
        ),
        (lambda: MEstimate(1, {"a": 1.5, "b": -0.5}), "weights must be finite and not negative, got -0.5"),
        (lambda: Dirichlet(0.5), "alphas must be at least 1 for the mode to exist, got 0.5; Lidstone takes any"),
        (lambda: Dirichlet({"a": 0.9}), "alphas must be at least 1 for the mode to exist, got 0.9"),
        (lambda: Dirichlet({"wind": {"a": 0}}), "alphas must be at least 1 for the mode to exist, got 0"),
        (lambda: Dirichlet(None), "a Dirichlet prior needs alphas"),
        (lambda: Laplace(variance_floor=-1), "variance_floor must be finite and not negative, got -1"),
        (lambda: MEstimate(1, [0.5, 0.5]).pseudo_counts(ABC), "2 weights were given for 3 values: ['a', 'b', 'c']"),
        (lambda: Dirichlet([2, 2]).pseudo_counts(ABC), "2 alphas were given for 3 values: ['a', 'b', 'c']"),
    ],
)
def test_values_that_make_no_sense_are_refused(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Lidstone("1"), "alpha must be a number, got str '1'"),
        (lambda: Lidstone(None), "alpha must be a number, got NoneType None"),
        (lambda: Lidstone(True), "alpha must be a number, got bool True"),
        (lambda: MEstimate([1]), "m must be a number, got list [1]"),
        (lambda: MEstimate(1, {"a": None}), "weights must be a number, got NoneType None"),
        (lambda: Dirichlet(True), "alphas must be a number, got bool True"),
        (lambda: Laplace(variance_floor="x"), "variance_floor must be a number, got str 'x'"),
    ],
)
def test_values_of_the_wrong_type_are_refused(make, message):
    with pytest.raises(KindError) as caught:
        make()
    assert message in str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, IngenuoError)


def test_priors_given_as_arrays_compare_like_lists() -> None:
    assert MEstimate(1, np.array([0.5, 0.5])) == MEstimate(1, [0.5, 0.5])
    assert MEstimate(1, np.array([0.5, 0.5])) != MEstimate(1, np.array([0.25, 0.75]))
    assert Dirichlet({"a": np.array([1.0, 2.0])}) == Dirichlet({"a": [1.0, 2.0]})
