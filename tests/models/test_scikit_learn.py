"""The five drop-ins: what they learn can be taken back and added, parameters act when they are asked, errors leave no
trace, and an answer shows its arithmetic.
"""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris

from ingenuo import store
from ingenuo.errors import EmptyModelError, ForgetError, InputError, MergeError, ModelFileError
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.scikit_learn import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from ingenuo.tally import container

SHUFFLED = np.random.default_rng(0).permutation(150)
IRIS = load_iris().data[SHUFFLED]
Y = load_iris().target_names[load_iris().target[SHUFFLED]]
CLASSES = ["setosa", "versicolor", "virginica"]
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
TENTHS = np.rint(IRIS * 10).astype(np.int64)
HALF = slice(0, 75), slice(75, 150)

# Each model as it is made, and the flowers as it likes to see them.
MODELS = {
    "GaussianNB": (GaussianNB, IRIS),
    "MultinomialNB": (MultinomialNB, TENTHS),
    "ComplementNB": (ComplementNB, TENTHS),
    "BernoulliNB": (lambda **parameters: BernoulliNB(**{"binarize": 30, **parameters}), TENTHS),
    "CategoricalNB": (CategoricalNB, np.rint(IRIS).astype(np.int64)),
}
SPARSE = ["MultinomialNB", "ComplementNB", "BernoulliNB"]
DISCRETE = [*SPARSE, "CategoricalNB"]
HOLES_ALLOWED = ["GaussianNB", "CategoricalNB"]

every = pytest.mark.parametrize("name", MODELS)

ANSWERS = ("predict_joint_log_proba", "predict_log_proba", "predict_proba", "predict")
PARAMETERS = (
    "class_count_",
    "class_log_prior_",
    "class_prior_",
    "epsilon_",
    "var_",
    "theta_",
    "feature_count_",
    "feature_log_prob_",
    "category_count_",
    "n_categories_",
)


def new(name, **parameters):
    return MODELS[name][0](**parameters)


def rows_of(name):
    return MODELS[name][1]


def fitted(name, rows=slice(None), **parameters):
    return new(name, **parameters).fit(rows_of(name)[rows], Y[rows])


def frame_of(name):
    return pd.DataFrame(rows_of(name), columns=NAMES)


def in_one_line(value):
    """How a model's parameters are called in the name of a test."""
    return value if isinstance(value, str) else " ".join(repr(value).split())


def answers(model, X):
    """All that a model says, to compare bit by bit."""
    said = {method: np.asarray(getattr(model, method)(X)).tolist() for method in ANSWERS}
    for attribute in PARAMETERS:
        if hasattr(model, attribute):
            value = getattr(model, attribute)
            said[attribute] = [np.asarray(v).tolist() for v in value] if isinstance(value, list) else value
            if isinstance(value, np.ndarray):
                said[attribute] = value.tolist()
    return said


def assert_same_model(model, other, X):
    assert model.tally_ == other.tally_
    assert model.classes_.tolist() == other.classes_.tolist()
    assert answers(model, X) == answers(other, X)


def assert_refused(model, act, X, *words, kind=(ValueError, TypeError)):
    """Acting (in one way, or in each of several) raises an error with one of these words, and leaves no trace."""
    before, tally, said = dict(model.__dict__), model.tally_, answers(model, X)
    for one in act if isinstance(act, list) else [act]:
        with pytest.raises(kind) as caught:
            one(model)
        message = str(caught.value)
        assert not words or any(word in message for word in words), message
        assert message.strip()
    assert model.__dict__.keys() == before.keys()
    assert model.tally_ is tally or model.tally_ == tally
    assert model.schema_ == before["schema_"]
    assert answers(model, X) == said


def assert_refused_when_new(model, act):
    parameters = set(model.get_params())
    with pytest.raises((ValueError, TypeError)) as caught:
        act(model)
    assert str(caught.value).strip()
    assert set(vars(model)) == parameters


# Learning, forgetting, merging.


@every
def test_forgetting_equals_never_having_seen(name):
    X = rows_of(name)
    model = fitted(name).forget(X[100:], Y[100:])
    assert_same_model(model, fitted(name, slice(0, 100)), X)


@every
def test_forgetting_rows_one_by_one_equals_never_having_seen_them(name):
    X, model = rows_of(name), fitted(name)
    for i in range(140, 150):
        model.forget(X[i : i + 1], Y[i : i + 1])
    assert_same_model(model, fitted(name, slice(0, 140)), X)


@every
def test_forgetting_after_answering_changes_the_answer(name):
    X, model = rows_of(name), fitted(name)
    before = answers(model, X)
    model.forget(X[:60], Y[:60])
    assert answers(model, X) != before
    assert answers(model, X) == answers(fitted(name, slice(60, None)), X)


@every
def test_weighted_rows_are_forgotten_by_their_weights(name):
    X, weights = rows_of(name), np.random.default_rng(1).integers(1, 4, 150).astype(float)
    model = new(name).fit(X, Y, sample_weight=weights).forget(X[100:], Y[100:], sample_weight=weights[100:])
    assert_same_model(model, new(name).fit(X[:100], Y[:100], sample_weight=weights[:100]), X)


@every
def test_forgetting_rows_that_were_never_learned_is_refused(name):
    X = rows_of(name)
    assert_refused(fitted(name, slice(0, 50)), lambda m: m.forget(X, Y), X, "cannot take", kind=ForgetError)


@every
def test_a_model_that_has_forgotten_every_row_says_so_and_learns_again(name):
    X = rows_of(name)
    model = fitted(name).forget(X, Y)
    for ask in (*(getattr(model, method) for method in ANSWERS), lambda rows: model.explain(rows[0])):
        with pytest.raises(EmptyModelError, match="forgotten every row"):
            ask(X)
    assert_same_model(model.partial_fit(X, Y), fitted(name), X)


@every
@pytest.mark.parametrize("cuts", [(0, 75, 150), (0, 1, 2, 3, 150), tuple(range(0, 151, 15))], ids=len)
def test_pieces_equal_the_whole(name, cuts):
    X, model = rows_of(name), new(name)
    for lo, hi in pairwise(cuts):
        model.partial_fit(X[lo:hi], Y[lo:hi], classes=CLASSES)
    assert_same_model(model, fitted(name), X)


@every
@settings(deadline=None, max_examples=10)
@given(order=st.permutations(range(6)), kept=st.integers(1, 5))
def test_neither_the_order_of_learning_nor_what_was_forgotten_can_be_told(name, order, kept):
    X, model = rows_of(name), new(name)
    pieces = [slice(25 * i, 25 * i + 25) for i in order]
    for piece in pieces:
        model.partial_fit(X[piece], Y[piece], classes=CLASSES)
    for piece in pieces[kept:]:
        model.forget(X[piece], Y[piece])
    known = np.concatenate([np.arange(150)[piece] for piece in pieces[:kept]])
    assert_same_model(model, new(name).partial_fit(X[known], Y[known], classes=CLASSES), X)


@every
def test_the_sum_of_two_models_is_the_model_of_the_whole_and_leaves_them_as_they_were(name):
    X = rows_of(name)
    a, b = (fitted(name, half) for half in HALF)
    before = a.tally_, b.tally_
    both = a + b
    assert_same_model(both, fitted(name), X)
    assert_same_model(b + a, both, X)
    assert (a.tally_, b.tally_) == before
    assert_same_model(a.merge(b), both, X)


@every
def test_models_of_different_classes_merge_and_go_on_learning(name):
    X, small = rows_of(name), Y == "setosa"
    both = new(name).fit(X[small], Y[small]) + new(name).fit(X[~small], Y[~small])
    assert_same_model(both, fitted(name), X)
    both.partial_fit(X, Y)
    assert both.tally_ == fitted(name).tally_.scale(2)


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_can_be_forgotten_and_merged_like_dense_ones(name):
    X, sparse = rows_of(name), csr_matrix(rows_of(name))
    model = new(name).fit(sparse[:75], Y[:75]).merge(fitted(name, HALF[1])).forget(sparse[100:], Y[100:])
    assert_same_model(model, fitted(name, slice(0, 100)), X)


@every
def test_models_of_tables_merge_by_the_names_of_the_columns(name):
    table = frame_of(name)
    turned = table[NAMES[::-1]]
    whole = new(name).fit(table, Y)
    merged = new(name).fit(table[:75], Y[:75]) + new(name).fit(turned[75:], Y[75:])
    assert merged.feature_names_in_.tolist() == NAMES
    for attribute in ("theta_", "var_", "feature_count_", "category_count_", "feature_log_prob_"):
        if hasattr(type(merged), attribute):
            for ours, theirs in zip(getattr(merged, attribute), getattr(whole, attribute)):
                assert ours.tolist() == theirs.tolist(), attribute
    assert_same_model(merged, whole, table)


@every
def test_names_of_columns_change_no_answer(name):
    assert answers(new(name).fit(frame_of(name), Y), frame_of(name)) == answers(fitted(name), rows_of(name))


@every
@pytest.mark.parametrize("width", [1, 3])
def test_models_of_different_numbers_of_columns_do_not_merge(name, width):
    X = rows_of(name)
    narrow = new(name).fit(X[:, :width], Y)
    assert_refused(fitted(name), lambda m: m.merge(narrow), X, "column", kind=MergeError)
    assert_refused(narrow, lambda m: m.merge(fitted(name)), X[:, :width], "column", kind=MergeError)
    assert_refused(fitted(name), lambda m: m + narrow, X, "column", kind=MergeError)


@every
def test_a_model_with_column_names_does_not_merge_with_one_without(name):
    X, table = rows_of(name), frame_of(name)
    named = new(name).fit(table, Y)
    assert_refused(fitted(name), lambda m: m.merge(named), X, "names", kind=MergeError)
    assert_refused(named, lambda m: m.merge(fitted(name)), table, "names", kind=MergeError)


@every
def test_models_of_different_kinds_do_not_merge(name):
    others = [fitted(other) for other in MODELS if other != name]
    for other in [*others, NaiveBayes().fit(IRIS, Y), None, "a model"]:
        assert_refused(fitted(name), lambda m, o=other: m.merge(o), rows_of(name), "can be merged", kind=MergeError)


@pytest.mark.parametrize("threshold", [None, 20, 30.5])
def test_what_counts_as_present_must_be_the_same_to_merge(threshold):
    ones = (TENTHS > 30).astype(int)
    other = BernoulliNB(binarize=threshold).fit(ones if threshold is None else TENTHS, Y)
    assert_refused(fitted("BernoulliNB"), lambda m: m.merge(other), TENTHS, "binarize", kind=MergeError)
    assert_refused(fitted("BernoulliNB"), lambda m: m + other, TENTHS, "binarize", kind=MergeError)


@every
def test_a_merge_that_brings_more_classes_than_there_are_priors_is_refused(name):
    X, known = rows_of(name), Y != "virginica"
    parameter = "priors" if name == "GaussianNB" else "class_prior"
    model = new(name, **{parameter: [0.25, 0.75]}).fit(X[known], Y[known])
    assert_refused(model, lambda m: m.merge(fitted(name)), X, "prior")
    assert_refused(model, lambda m: m + fitted(name), X, "prior")
    assert_same_model(model, new(name, **{parameter: [0.25, 0.75]}).fit(X[known], Y[known]), X)


# Parameters that change after learning.

GIVEN = [0.2, 0.3, 0.5]
CHANGES = [
    ("GaussianNB", {"var_smoothing": 0.1}),
    ("GaussianNB", {"var_smoothing": 0}),
    ("GaussianNB", {"priors": GIVEN}),
    ("GaussianNB", {"priors": np.array(GIVEN), "var_smoothing": 1e-3}),
    *[(name, {"alpha": 0.01}) for name in DISCRETE],
    *[(name, {"class_prior": GIVEN}) for name in DISCRETE],
    *[(name, {"class_prior": np.array(GIVEN)}) for name in DISCRETE],
    *[(name, {"class_prior": pd.Series(GIVEN)}) for name in DISCRETE],
    ("GaussianNB", {"priors": pd.Series(GIVEN)}),
    *[(name, {"fit_prior": False}) for name in DISCRETE],
    *[(name, {"alpha": [0.1, 0.2, 3.0, 40.0]}) for name in SPARSE],
    *[(name, {"alpha": np.array([0.1, 0.2, 3.0, 40.0])}) for name in SPARSE],
    ("ComplementNB", {"norm": True}),
    ("CategoricalNB", {"min_categories": 20}),
    ("CategoricalNB", {"min_categories": [9, 20, 12, 30]}),
    ("CategoricalNB", {"min_categories": np.array([9, 20, 12, 30])}),
]


@pytest.mark.parametrize(("name", "change"), CHANGES, ids=in_one_line)
def test_a_parameter_that_changes_acts_in_the_next_answer(name, change):
    X = rows_of(name)
    # Unequal classes, or the share of each would be that of `fit_prior=False`.
    model = fitted(name, slice(0, 100))
    before = answers(model, X)
    for parameter, value in change.items():  # another array, list or series, of the values there were before
        if np.ndim(value):
            model.set_params(**{parameter: value[::-1]})
            assert answers(model, X) != before
    assert answers(model.set_params(**change), X) == answers(fitted(name, slice(0, 100), **change), X)
    assert answers(model, X) != before
    assert answers(model.set_params(**new(name).get_params()), X) == before


def changed_in_the_middle(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("in_place", [False, True])
def test_a_long_alpha_that_differs_only_in_the_middle_is_another_alpha(name, in_place):
    rng = np.random.default_rng(2)
    X, y = rng.poisson(1.0, (40, 2000)) * 20, rng.integers(0, 2, 40)
    alpha = np.ones(2000)
    model = new(name, alpha=alpha).fit(X, y)
    before = answers(model, X)
    other = changed_in_the_middle(alpha, 1000, 500.0)
    if in_place:
        model.alpha[1000] = 500.0
    else:
        model.set_params(alpha=other)
    assert answers(model, X) == answers(new(name, alpha=other).fit(X, y), X)
    assert answers(model, X) != before


@pytest.mark.parametrize(
    ("name", "parameter", "value", "place", "item"),
    [
        ("GaussianNB", "priors", GIVEN, slice(None), [0.6, 0.3, 0.1]),
        *[(name, "class_prior", GIVEN, slice(None), [0.6, 0.3, 0.1]) for name in DISCRETE],
        *[(name, "alpha", [1.0, 2.0, 3.0, 4.0], 2, 90.0) for name in SPARSE],
        ("CategoricalNB", "min_categories", [9, 9, 9, 9], 1, 40),
    ],
)
@pytest.mark.parametrize("make", [list, np.array, pd.Series])
def test_a_parameter_that_is_changed_in_place_acts_in_the_next_answer(name, parameter, value, place, item, make):
    X, given_value = rows_of(name), make(value)
    model = fitted(name, **{parameter: given_value})
    before = answers(model, X)
    given_value[place] = item
    wanted = make(value)
    wanted[place] = item
    assert answers(model, X) == answers(fitted(name, **{parameter: wanted}), X)
    assert answers(model, X) != before


def test_an_answer_cannot_be_spoiled_through_the_arrays_it_was_estimated_from():
    for name in MODELS:
        X, model = rows_of(name), fitted(name)
        before = answers(model, X)
        model.predict_proba(X)[:] = 0
        model.predict_joint_log_proba(X)[:] = 0
        assert answers(model, X) == before


SPOILED = [
    ("GaussianNB", {"priors": [0.5, 0.5]}),
    ("GaussianNB", {"priors": [0.25, 0.25, 0.25, 0.25]}),
    ("GaussianNB", {"priors": [0.5, 0.5, 0.5]}),
    ("GaussianNB", {"priors": [-0.5, 1.0, 0.5]}),
    ("GaussianNB", {"priors": [math.nan, 0.5, 0.5]}),
    ("GaussianNB", {"priors": np.full((3, 1), 1 / 3)}),
    ("GaussianNB", {"priors": 1.0}),
    ("GaussianNB", {"priors": "x"}),
    ("GaussianNB", {"priors": ["a", "b", "c"]}),
    ("GaussianNB", {"var_smoothing": "x"}),
    ("GaussianNB", {"var_smoothing": -1.0}),
    ("GaussianNB", {"var_smoothing": math.nan}),
    ("GaussianNB", {"var_smoothing": None}),
    *[(name, {"alpha": value}) for name in DISCRETE for value in (-3, "x", None, math.nan, [1.0, 1.0])],
    *[(name, {"alpha": value}) for name in SPARSE for value in ([1, 1, 1, -1], ["a"] * 4, np.ones((4, 1)))],
    *[(name, {"alpha": [1.0, 1.0, 1.0, math.nan]}) for name in SPARSE],
    ("CategoricalNB", {"alpha": [1.0, 1.0, 1.0, 1.0]}),
    *[
        (name, {"class_prior": value})
        for name in DISCRETE
        for value in ([0.5, 0.5], "x", 1.0, ["a", "b", "c"], [-0.5, 1.0, 0.5], [math.nan, 0.5, 0.5], np.ones((3, 1)))
    ],
    *[(name, {"fit_prior": "x"}) for name in DISCRETE],
    *[(name, {"force_alpha": "x"}) for name in DISCRETE],
    ("ComplementNB", {"norm": "x"}),
    ("BernoulliNB", {"binarize": "x"}),
    ("BernoulliNB", {"binarize": -1.0}),
    *[("CategoricalNB", {"min_categories": value}) for value in ("x", 0, -4, 2.5, [9, 9], [9, 9, 9, 2.5], [[9]] * 4)],
]


@pytest.mark.parametrize(("name", "change"), SPOILED, ids=in_one_line)
def test_a_parameter_that_makes_no_sense_is_refused_when_the_model_is_asked(name, change):
    X, model, asked_before = rows_of(name), fitted(name), fitted(name)
    asked_before.predict(X)
    for spoiled in (model.set_params(**change), asked_before.set_params(**change)):
        for ask in (*(getattr(spoiled, method) for method in ANSWERS), lambda rows, m=spoiled: m.explain(rows[0])):
            with pytest.raises((ValueError, TypeError)) as caught:
                ask(X)
            assert str(caught.value).strip()
    mended = asked_before.set_params(**{key: new(name).get_params()[key] for key in change})
    assert_same_model(mended, fitted(name), X)


@pytest.mark.parametrize(("name", "change"), SPOILED, ids=in_one_line)
def test_a_parameter_that_makes_no_sense_is_refused_when_rows_are_learned(name, change):
    X, model = rows_of(name), new(name).set_params(**change)
    assert_refused_when_new(model, lambda m: m.fit(X, Y))
    assert_refused_when_new(model, lambda m: m.partial_fit(X, Y, classes=CLASSES))


# Bad input.

LEARNING = ["fit", "partial_fit", "forget"]
ASKING = "ask"  # all four questions


def with_value(name, value):
    """The flowers with one odd value in the middle."""
    rows = rows_of(name).astype(float)
    rows[70, 2] = value
    return rows


def acts_on_learned(method, X):
    """The method called on rows X, or all four questions."""
    if method == ASKING:
        return [lambda m, ask=ask: getattr(m, ask)(X) for ask in ANSWERS]
    return lambda m: getattr(m, method)(X, Y)


def refused_by_old_and_new(name, methods, X, *words, y=Y, **more):
    """A model that has learned refuses X and is as it was; one that has not refuses it too, and stays so."""
    acts = []
    for method in [methods] if isinstance(methods, str) else methods:
        if method == ASKING:
            acts += acts_on_learned(ASKING, X)
            continue
        acts.append(lambda m, method=method: getattr(m, method)(X, y, **more))
        if method != "forget":
            announced = {"classes": CLASSES, **more} if method == "partial_fit" else more
            assert_refused_when_new(new(name), lambda m, n=method, rest=announced: getattr(m, n)(X, y, **rest))
    assert_refused(fitted(name), acts, rows_of(name), *words)


@pytest.mark.parametrize("value", [math.inf, -math.inf])
@every
def test_infinite_values_are_refused(name, value):
    refused_by_old_and_new(name, [*LEARNING, ASKING], with_value(name, value), "inf")


@pytest.mark.parametrize("name", SPARSE)
def test_missing_values_are_refused_where_they_have_no_meaning(name):
    refused_by_old_and_new(name, [*LEARNING, ASKING], with_value(name, math.nan), "NaN", "nan")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", SPARSE)
def test_values_that_are_not_finite_are_refused_in_sparse_rows(name, value):
    refused_by_old_and_new(name, [*LEARNING, ASKING], csr_matrix(with_value(name, value)), "NaN", "nan", "inf")


@pytest.mark.parametrize("name", HOLES_ALLOWED)
def test_missing_values_are_left_out_where_they_have_a_meaning(name):
    X = with_value(name, math.nan)
    model = new(name).fit(X, Y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert_same_model(model.forget(X[70:71], Y[70:71]), new(name).fit(np.delete(X, 70, 0), np.delete(Y, 70)), X)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "CategoricalNB"])
def test_negative_values_are_refused_where_rows_are_counted(name):
    X = with_value(name, -2)
    refused_by_old_and_new(name, LEARNING, X, "Negative values in data", "is -2")
    refused_by_old_and_new(name, LEARNING, X.astype(np.int64), "Negative values in data", "is -2")
    if name in SPARSE:
        refused_by_old_and_new(name, LEARNING, csr_matrix(X), "Negative values in data", "is -2")


def test_negative_categories_are_refused_at_prediction():
    for X in (with_value("CategoricalNB", -2), with_value("CategoricalNB", -2).astype(np.int64)):
        refused_by_old_and_new("CategoricalNB", ASKING, X, "Negative values in data")


@pytest.mark.parametrize("method", ["partial_fit", "forget", ASKING])
@pytest.mark.parametrize("width", [1, 3, 5])
@every
def test_a_table_of_another_width_is_refused(name, method, width):
    X = np.tile(rows_of(name), 2)[:, :width]
    assert_refused(fitted(name), acts_on_learned(method, X), rows_of(name), f"{width} feature", f"has {width}")
    if name in SPARSE:
        assert_refused(
            fitted(name), acts_on_learned(method, csr_matrix(X)), rows_of(name), f"{width} feature", f"has {width}"
        )


@pytest.mark.parametrize("method", ["partial_fit", "forget", ASKING])
@every
def test_other_names_of_columns_are_refused(name, method):
    table = frame_of(name)
    for other, named in (
        (table.rename(columns={"petal width": "petal depth"}), "petal depth"),
        (table.drop(columns="petal width"), "petal width"),
        (table.assign(colour=1), "colour"),
    ):
        assert_refused(new(name).fit(table, Y), acts_on_learned(method, other), table, named)


@every
def test_columns_in_another_order_are_set_right_or_refused_and_never_mixed_up(name):
    table = frame_of(name)
    model = new(name).fit(table, Y)
    try:
        said = answers(model, table[NAMES[::-1]])
    except ValueError as error:
        assert "order" in str(error)  # noqa: PT017
    else:
        assert said == answers(model, table)


@pytest.mark.parametrize(
    "labels", [Y[:-1], np.append(Y, "setosa"), [], None, "species"], ids=["short", "long", "empty", "None", "text"]
)
@every
def test_labels_of_another_length_or_none_are_refused(name, labels):
    refused_by_old_and_new(name, LEARNING, rows_of(name), "labels", "requires y", "the string 'species'", y=labels)


@pytest.mark.parametrize("label", [None, math.nan])
@every
def test_a_missing_label_is_refused(name, label):
    labels = np.array(Y, object)
    labels[7] = label
    refused_by_old_and_new(name, LEARNING, rows_of(name), "row 7 has no label", y=labels)


@every
def test_a_class_that_was_not_announced_is_refused(name):
    X = rows_of(name)
    assert_refused(fitted(name), lambda m: m.partial_fit(X, np.where(Y == "setosa", "rose", Y)), X, "rose")
    assert_refused_when_new(new(name), lambda m: m.partial_fit(X, Y, classes=CLASSES[:2]))
    assert_refused_when_new(new(name), lambda m: m.partial_fit(X, Y))
    assert_refused(fitted(name), lambda m: m.partial_fit(X, Y, classes=CLASSES[:2]), X, "classes")


@pytest.mark.parametrize(
    ("weights", "word"),
    [
        (changed_in_the_middle(np.ones(150), 70, -1), "the weight of row 70 is -1.0"),
        (changed_in_the_middle(np.ones(150), 70, math.nan), "the weight of row 70 is nan"),
        (changed_in_the_middle(np.ones(150), 70, math.inf), "the weight of row 70 is inf"),
        (np.zeros(150), "every weight is zero"),
        (np.ones(149), "149"),
        (np.ones((150, 1)), "1D"),
        (["heavy"] * 150, "numbers"),
    ],
    ids=["negative", "NaN", "infinite", "zero", "short", "2-D", "text"],
)
@every
def test_weights_that_cannot_weigh_are_refused(name, weights, word):
    refused_by_old_and_new(name, LEARNING, rows_of(name), word, sample_weight=weights)


def no_tables(X):
    """One dimension, three, no rows, no columns, complex numbers, rows of two lengths, and things that hold no rows."""
    ragged = [*X[:-1].tolist(), [1]]
    return [X[:, 0], X.reshape(75, 2, 4), X[:0], X[:, :0], X * 1j, ragged, None, "a table", 3.0, {"a": [1, 2]}]


@every
def test_what_is_no_table_is_refused(name):
    for X in no_tables(rows_of(name)):
        refused_by_old_and_new(name, [*LEARNING, ASKING], X, y=Y[: len(X)] if isinstance(X, np.ndarray) else Y)


@pytest.mark.parametrize("name", ["GaussianNB", *SPARSE])
def test_text_among_numbers_is_refused(name):
    X = rows_of(name).astype(object)
    X[70, 2] = "n/a"
    for table in (X, pd.DataFrame(X), X.tolist()):
        refused_by_old_and_new(name, [*LEARNING, ASKING], table, "n/a", "numeric", "text")


@pytest.mark.parametrize("name", HOLES_ALLOWED)
def test_sparse_rows_are_refused_where_zeros_are_values(name):
    refused_by_old_and_new(name, [*LEARNING, ASKING], csr_matrix(rows_of(name)), "parse")


@pytest.mark.parametrize("value", [math.inf, -math.inf])
@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_infinite_numbers_are_refused_at_prediction_by_the_mixed_model_too(make, value):
    model = NaiveBayes().fit(make(IRIS), Y)
    assert_refused(model, acts_on_learned(ASKING, make(with_value("GaussianNB", value))), make(IRIS), "inf")


@pytest.mark.parametrize("value", [math.inf, -math.inf])
@pytest.mark.parametrize("make", [NaiveBayes, GaussianNB])
def test_infinite_numbers_are_refused_when_a_row_is_explained(make, value):
    assert_refused(make().fit(IRIS, Y), lambda m: m.explain([5.0, value, 1.0, 0.2]), IRIS, "inf")


# Explaining.


def worth(how):
    """The value of a term as it is written, powers binding to the right: (2 + 1)/(9 + 3), 1/[2/9]^4, [e^0.25]^4."""
    return eval(how.replace("[", "(").replace("]", ")").replace("^", "**"), {"__builtins__": {}, "e": math.e})


def assert_arithmetic(model, row, asked):
    shown = model.explain(row).to_dict()
    posterior = model.predict_proba(asked)[0]
    joint = np.zeros(len(model.classes_))
    product = np.ones(len(model.classes_))
    for factor in (shown["prior"], *shown["factors"]):
        if factor["terms"]:
            joint += [term["log"] for term in factor["terms"]]
            product *= [term["value"] for term in factor["terms"]]
    np.testing.assert_allclose(joint, list(shown["log_joint"].values()), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(product, list(shown["product"].values()), rtol=1e-10)
    np.testing.assert_allclose(product / product.sum(), list(shown["posterior"].values()), rtol=1e-9, atol=1e-300)
    assert list(shown["posterior"].values()) == pytest.approx(posterior.tolist(), rel=1e-12, abs=1e-300)
    assert sum(shown["posterior"].values()) == pytest.approx(1)
    assert list(shown["posterior"]) == model.classes_.tolist()
    assert shown["prediction"] == model.predict(asked)[0]
    return shown


EXPLAINED = [
    *[(name, {}) for name in MODELS],
    ("GaussianNB", {"priors": GIVEN, "var_smoothing": 0.01}),
    *[(name, {"alpha": 0.5, "class_prior": GIVEN}) for name in DISCRETE],
    *[(name, {"alpha": [0.5, 1.5, 2.5, 3.5], "fit_prior": False}) for name in SPARSE],
    ("ComplementNB", {"norm": True}),
    ("CategoricalNB", {"min_categories": 12}),
]


@pytest.mark.parametrize(("name", "parameters"), EXPLAINED, ids=in_one_line)
def test_the_numbers_shown_multiply_to_the_product_and_normalise_to_the_posterior(name, parameters):
    X, model = rows_of(name), fitted(name, **parameters)
    for i in range(5):
        shown = assert_arithmetic(model, X[i], X[i : i + 1])
        assert [factor["column"] for factor in shown["factors"]] == [f"x{j}" for j in range(4)]


@pytest.mark.parametrize(("name", "parameters"), [e for e in EXPLAINED if e[0] != "GaussianNB"], ids=in_one_line)
def test_a_term_is_worth_what_is_written(name, parameters):
    shown = fitted(name, **parameters).explain(rows_of(name)[0]).to_dict()
    for factor in (shown["prior"], *shown["factors"]):
        for term in factor["terms"]:
            if any(digit in term["how"] for digit in "0123456789"):
                digits = 1e-5 if "e^" in term["how"] else 1e-9  # a weight is written with seven, and has its power
                assert worth(term["how"]) == pytest.approx(term["value"], rel=digits), term["how"]


def test_a_density_is_written_with_the_mean_and_the_deviation_of_the_class():
    model = fitted("GaussianNB")
    terms = model.explain(IRIS[0]).to_dict()["factors"][2]["terms"]
    for k, term in enumerate(terms):
        mean, deviation = model.theta_[k, 2], math.sqrt(model.var_[k, 2])
        assert term["how"] == f"f({IRIS[0, 2]:.6g} | μ {mean:.6g}, σ {deviation:.6g})"


@every
def test_a_row_is_explained_by_the_names_of_its_columns(name):
    table = frame_of(name)
    model = new(name).fit(table, Y)
    row = table.iloc[3].to_dict()
    shown = assert_arithmetic(model, row, table[3:4])
    assert [factor["column"] for factor in shown["factors"]] == NAMES
    assert model.explain(dict(reversed(row.items()))).to_dict() == shown
    assert model.explain(table[3:4]).to_dict() == shown
    assert model.explain(table.iloc[3]).to_dict() == shown
    assert model.explain(list(row.values())).to_dict() == shown
    for column in NAMES:
        assert column in str(model.explain(row))
        assert column in model.explain(row)._repr_html_()
    with pytest.raises(InputError, match=r"'petal widht'.*did you mean 'petal width'"):
        model.explain({"petal widht": 1})


@pytest.mark.parametrize("name", HOLES_ALLOWED)
def test_what_a_mapping_leaves_out_is_left_out_of_the_product(name):
    table = frame_of(name)
    model = new(name).fit(table, Y)
    holed = table[:1].astype(object)
    holed[["sepal length", "petal length"]] = None
    row = {"petal width": table.iloc[0, 3], "sepal width": table.iloc[0, 1]}
    shown = assert_arithmetic(model, row, holed if name == "CategoricalNB" else holed.astype(float))
    assert [factor.get("note") for factor in shown["factors"]] == ["left out", None, "left out", None]


@every
def test_rows_that_cannot_be_explained_are_refused(name):
    X = rows_of(name)
    for row, words in (([1, 2], ["2 values", "2 columns"]), (X[:2, :3], ["3 values", "3 columns"]), (3, ["one row"])):
        assert_refused(fitted(name), lambda m, r=row: list(m.explain(r)), X, *words)


@every
def test_each_of_many_rows_is_explained_as_by_itself(name):
    model, X = fitted(name), rows_of(name)
    assert [str(each) for each in model.explain(X[:3])] == [str(model.explain(row)) for row in X[:3]]


# Drawing.


@pytest.mark.parametrize("name", [name for name in MODELS if name != "ComplementNB"])
def test_drawn_rows_are_of_the_shape_and_the_kind_of_those_learned(name):
    model = fitted(name)
    X, y = model.sample(200, random_state=0)
    assert X.shape == (200, 4)
    assert y.shape == (200,)
    assert set(y) == set(CLASSES)
    assert X.dtype.kind == ("f" if name == "GaussianNB" else "i")
    if name == "BernoulliNB":
        assert set(X.ravel().tolist()) == {0, 1}
    elif name == "CategoricalNB":
        assert (X >= 0).all()
        assert (model.n_categories_ > X).all()
    elif name == "MultinomialNB":
        assert (X >= 0).all()
    again, labels = model.sample(200, random_state=0)
    assert again.tolist() == X.tolist()
    assert labels.tolist() == y.tolist()
    assert model.sample(0)[0].shape == (0, 4)
    one, label = model.sample(class_="virginica", random_state=1)
    assert one.shape == (1, 4)
    assert label.tolist() == ["virginica"]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "ComplementNB"])
def test_rows_drawn_from_one_class_are_all_of_it_and_others_are_refused(name):
    model = fitted(name)
    for label in CLASSES:
        X, y = model.sample(50, class_=label, random_state=0)
        assert set(y) == {label}
        assert X.shape == (50, 4)
    for arguments, word in (
        ({"class_": "virginika"}, "did you mean 'virginica'"),
        ({"n": -1}, "n is -1; it must be at least 0"),
    ):
        assert_refused(model, lambda m, a=arguments: m.sample(**a), rows_of(name), word, kind=InputError)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "ComplementNB"])
def test_rows_drawn_from_a_model_of_a_table_have_its_columns(name):
    model = new(name).fit(frame_of(name), Y)
    X, _ = model.sample(20, random_state=0)
    assert list(X.column_names) == NAMES
    assert np.column_stack(X.columns).tolist() == fitted(name).sample(20, random_state=0)[0].tolist()


def test_there_is_nothing_to_draw_from_complement_weights():
    assert_refused(fitted("ComplementNB"), lambda m: m.sample(1), TENTHS, "no distribution of rows", kind=InputError)


def test_drawn_numbers_have_the_shares_means_and_deviations_of_the_model():
    model = fitted("GaussianNB", priors=GIVEN)
    X, y = model.sample(30_000, random_state=0)
    for k, label in enumerate(CLASSES):
        rows = X[y == label]
        share, n = GIVEN[k], len(rows)
        assert abs(n / 30_000 - share) < 5 * math.sqrt(share * (1 - share) / 30_000)
        deviations = np.sqrt(model.var_[k])
        assert (np.abs(rows.mean(axis=0) - model.theta_[k]) < 5 * deviations / math.sqrt(n)).all()
        assert (np.abs(rows.std(axis=0) / deviations - 1) < 5 / math.sqrt(2 * n)).all()


def test_drawn_things_and_categories_have_the_frequencies_of_the_model():
    X, _ = fitted("BernoulliNB").sample(20_000, class_="versicolor", random_state=0)
    np.testing.assert_allclose(X.mean(axis=0), np.exp(fitted("BernoulliNB").feature_log_prob_[1]), atol=0.02)
    X, _ = fitted("CategoricalNB").sample(20_000, class_="versicolor", random_state=0)
    for j, log_shares in enumerate(fitted("CategoricalNB").feature_log_prob_):
        shares = np.bincount(X[:, j], minlength=log_shares.shape[1]) / 20_000
        np.testing.assert_allclose(shares, np.exp(log_shares[1]), atol=0.02)
    X, _ = fitted("MultinomialNB").sample(2_000, class_="versicolor", random_state=0)
    np.testing.assert_allclose(X.sum(axis=0) / X.sum(), np.exp(fitted("MultinomialNB").feature_log_prob_[1]), atol=0.01)


# Scales.


@pytest.mark.parametrize("scale", [1e200, 1e-170, 1e300, 1e-290])
@pytest.mark.parametrize("smoothing", [1e-9, 0.0, 0.1])
def test_the_scale_of_the_numbers_changes_no_answer(scale, smoothing):
    plain = fitted("GaussianNB", var_smoothing=smoothing)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = GaussianNB(var_smoothing=smoothing).fit(IRIS * scale, Y)
        assert model.predict(IRIS * scale).tolist() == plain.predict(IRIS).tolist()
        found = model.predict_proba(IRIS * scale)
        assert np.isfinite(model.predict_joint_log_proba(IRIS * scale)).all()
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, plain.predict_proba(IRIS), rtol=1e-6, atol=1e-100)


@pytest.mark.parametrize("scales", [[1e200, 1, 1e-170, 1], [1e-170, 1e200, 1e200, 1e-170], [1, 1, 1e-170, 1e200]])
def test_columns_of_very_different_scales_all_have_their_say(scales):
    """Without the floor, that is: it is a share of the largest variance, beside which the others vanish."""
    X = IRIS * scales
    plain = fitted("GaussianNB", var_smoothing=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = GaussianNB(var_smoothing=0.0).fit(X, Y)
        assert model.predict(X).tolist() == plain.predict(IRIS).tolist()
        found = model.predict_proba(X)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, plain.predict_proba(IRIS), rtol=1e-6, atol=1e-100)


@pytest.mark.parametrize("scales", [[1e200, 1, 1e-170, 1], [1e200] * 4, [1e-170] * 4, [1e300] * 4])
def test_parameters_of_any_scale_are_numbers_and_are_said_quietly(scales):
    X = IRIS * scales
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = GaussianNB().fit(X, Y)
        probabilities = model.predict_proba(X)
        parameters = model.theta_, model.var_, model.epsilon_
        shown = model.explain(X[0]).to_dict()
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    for parameter in parameters:
        assert not np.isnan(parameter).any()
    np.testing.assert_allclose(parameters[0] / scales, fitted("GaussianNB").theta_, rtol=1e-12)
    assert list(shown["posterior"].values()) == pytest.approx(probabilities[0].tolist())


# Sharing and keeping.


@every
def test_eight_threads_at_once_get_the_same_answer(name):
    X, wanted = np.tile(rows_of(name), (20, 1)), fitted(name).predict_proba(np.tile(rows_of(name), (20, 1)))
    for _ in range(3):
        model, start = fitted(name), Barrier(8)

        def ask(_, model=model, start=start):
            start.wait()  # all ask a model that has estimated nothing yet
            return model.predict_proba(X), model.predict(X)

        with ThreadPoolExecutor(8) as pool:
            for probabilities, labels in pool.map(ask, range(8)):
                assert probabilities.tobytes() == wanted.tobytes()
                assert labels.tolist() == model.classes_[wanted.argmax(axis=1)].tolist()


@every
@pytest.mark.parametrize("asked", [False, True], ids=["not asked before", "asked before"])
@pytest.mark.parametrize("again", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_a_copy_is_the_same_model_and_learns_for_itself(name, again, asked):
    X, model = frame_of(name), new(name).fit(frame_of(name), Y)
    if asked:
        answers(model, X)
    other = again(model)
    assert type(other) is type(model)
    assert other.get_params() == model.get_params()
    assert other.feature_names_in_.tolist() == NAMES
    assert_same_model(other, model, X)
    other.partial_fit(X, Y).set_params(**{"var_smoothing" if name == "GaussianNB" else "alpha": 5.0})
    assert_same_model(model, new(name).fit(X, Y), X)
    assert other.tally_ == model.tally_.scale(2)
    assert not hasattr(clone(model), "tally_")


def forged(model, parameter, value):
    """The bytes of a signed file in which one parameter is another."""
    manifest, tensors = container.from_bytes(store.to_bytes(model))
    manifest = copy.deepcopy(manifest)
    items = manifest["parameters"]["items"]
    assert parameter in [key for key, _ in items]
    manifest["parameters"]["items"] = [[key, value if key == parameter else item] for key, item in items]
    return container.to_bytes(manifest, tensors)


@pytest.mark.parametrize(
    ("name", "parameter", "good", "bad"),
    [
        ("GaussianNB", "priors", GIVEN, [0.5, 0.5]),
        ("GaussianNB", "priors", GIVEN, [0.25, 0.25, 0.25, 0.25]),
        ("GaussianNB", "priors", GIVEN, [0.5, 0.5, 0.5]),
        ("GaussianNB", "priors", None, []),
        ("GaussianNB", "var_smoothing", 1e-9, -1.0),
        *[(name, "class_prior", GIVEN, bad) for name in DISCRETE for bad in ([0.5, 0.5], [0.25] * 4)],
        *[(name, "alpha", [1.0, 2.0, 3.0, 4.0], bad) for name in SPARSE for bad in ([1.0], [1.0, 2.0, 3.0, -4.0])],
        ("CategoricalNB", "min_categories", [9, 9, 9, 9], [9, 9, 9]),
    ],
)
def test_a_signed_file_whose_parameters_do_not_fit_its_tally_is_refused(name, parameter, good, bad):
    model = fitted(name, **{parameter: good})
    assert_same_model(store.from_bytes(forged(model, parameter, good)), model, rows_of(name))
    with pytest.raises(ModelFileError, match="signed correctly"):
        store.from_bytes(forged(model, parameter, bad))


def test_counts_of_two_thresholds_never_mix():
    X, y = np.array([[1.0, 3.0], [3.0, 1.0]]), [0, 1]
    model = BernoulliNB(binarize=2.0).fit(X, y).set_params(binarize=0.0)
    for act in (lambda: model.partial_fit(X, y), lambda: model.predict(X), lambda: model + BernoulliNB().fit(X, y)):
        with pytest.raises(InputError, match="changed after the model had learned"):
            act()
    assert model.set_params(binarize=2.0).predict(X).tolist() == [0, 1]
