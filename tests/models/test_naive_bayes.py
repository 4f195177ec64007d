"""What `NaiveBayes` says of the world: any table, any classes, learned in any order, taken back, merged, explained."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.stats import norm
from sklearn.base import clone
from tests.laws import harsh

from ingenuo.errors import InputError, KindError
from ingenuo.kernels import threads
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.store import load, save
from ingenuo.tally.prior import Dirichlet, Laplace, Lidstone, MaximumLikelihood, MEstimate

DATA = {
    "age": [31.5, 20.0, None, 44.0, 50.25, 61.0, 17.0, 28.0],
    "children": [1, 0, 3, 2, 0, 4, 0, 1],
    "job": ["cook", "smith", None, "cook", "tailor", "cook", "smith", "smith"],
    "owner": [True, False, None, True, True, False, False, True],
}
LABELS = ["well", "ill", "well", "ill", "well", "ill", "well", "well"]


def dictionary(values):
    return pa.array(values).dictionary_encode()


def chunked(columns):
    return pa.concat_tables([pa.table(columns).slice(0, 3), pa.table(columns).slice(3)])


def two_dictionaries():
    """Chunks whose dictionaries differ: the codes of one mean other values in the next."""
    parts = [{name: values[cut] for name, values in DATA.items()} for cut in (slice(0, 3), slice(3, None))]
    return pa.concat_tables([pa.table({**part, "job": dictionary(part["job"])}) for part in parts])


NAMED = {
    "pandas": lambda: pd.DataFrame(DATA),
    "pandas categorical": lambda: pd.DataFrame(DATA).astype({"job": "category"}),
    "pandas categorical in another order": lambda: pd.DataFrame(DATA).assign(
        job=pd.Categorical(DATA["job"], ["tailor", "never", "smith", "cook"])
    ),
    "pandas nullable": lambda: pd.DataFrame(DATA).convert_dtypes(),
    "pandas on Arrow": lambda: pd.DataFrame(DATA).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.DataFrame(DATA),
    "polars categorical": lambda: pl.DataFrame(DATA).with_columns(pl.col("job").cast(pl.Categorical)),
    "polars enum": lambda: pl.DataFrame(DATA).with_columns(pl.col("job").cast(pl.Enum(["tailor", "smith", "cook"]))),
    "Arrow table": lambda: pa.table(DATA),
    "Arrow table in chunks": lambda: chunked(DATA),
    "Arrow record batch": lambda: pa.table(DATA).to_batches()[0],
    "Arrow dictionary": lambda: pa.table({**DATA, "job": dictionary(DATA["job"])}),
    "Arrow dictionaries that differ": two_dictionaries,
}


@pytest.fixture(scope="module")
def model():
    return NaiveBayes().fit(pd.DataFrame(DATA), LABELS)


def terms(model, row, column):
    """The values of one column's terms, by class."""
    factor = next(f for f in model.explain(row).to_dict()["factors"] if f["column"] == column)
    return {t["class"]: t["value"] for t in factor["terms"]}


# Any table.


@pytest.mark.parametrize("name", sorted(NAMED))
def test_every_kind_of_table_gives_the_same_model(model, name):
    table = NAMED[name]()
    other = NaiveBayes().fit(table, LABELS)
    assert other.tally_ == model.tally_
    assert other.predict_proba(table).tobytes() == model.predict_proba(pd.DataFrame(DATA)).tobytes()
    assert model.predict(table).tolist() == other.predict(pl.DataFrame(DATA)).tolist()


def test_columns_in_another_order_give_the_same_tally_and_terms_that_are_added_in_that_order(model):
    table = pd.DataFrame(DATA)[["owner", "job", "age", "children"]]
    assert model.predict_proba(table).tobytes() == model.predict_proba(pd.DataFrame(DATA)).tobytes()
    other = NaiveBayes().fit(table, LABELS)
    assert other.tally_ == model.tally_
    np.testing.assert_allclose(other.predict_proba(table), model.predict_proba(table), rtol=1e-14)


def test_lists_and_arrays_of_objects_give_the_same_model_by_position(model):
    rows = [list(row) for row in zip(*DATA.values())]
    by_list, by_array = NaiveBayes().fit(rows, LABELS), NaiveBayes().fit(np.array(rows, object), LABELS)
    assert by_list.tally_ == by_array.tally_
    assert by_list.predict_proba(rows).tobytes() == model.predict_proba(pd.DataFrame(DATA)).tobytes()


def test_sparse_and_dense_counts_give_the_same_model():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.4, (50, 6)), rng.integers(0, 3, 50)
    dense = NaiveBayes(dict.fromkeys(range(6), "count")).fit(X, y)
    for sparse in (csr_matrix(X), csr_matrix(X.astype(float)), csr_matrix(X).tocsc()):
        other = NaiveBayes().fit(sparse, y)
        assert other.tally_ == dense.tally_
        assert other.predict_proba(sparse) == pytest.approx(dense.predict_proba(X), abs=1e-14)


def test_a_sparse_matrix_can_hold_numbers_if_it_is_declared_so():
    rng = np.random.default_rng(1)
    X, y = rng.poisson(0.4, (50, 3)).astype(float), rng.integers(0, 2, 50)
    sparse = NaiveBayes(dict.fromkeys(range(3), "number")).fit(csr_matrix(X), y)
    assert sparse.tally_ == NaiveBayes().fit(X, y).tally_


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(LABELS),
        pd.Series(LABELS, dtype="category"),
        pl.Series(LABELS),
        pa.array(LABELS),
        pa.chunked_array([LABELS[:2], LABELS[2:]]),
        np.array(LABELS),
        np.array(LABELS, object),
        tuple(LABELS),
        pd.Index(LABELS),
    ],
    ids=lambda y: f"{type(y).__module__}.{type(y).__name__}",
)
def test_every_kind_of_label_column_gives_the_same_model(model, labels):
    assert NaiveBayes().fit(pd.DataFrame(DATA), labels).tally_ == model.tally_


@pytest.mark.parametrize("name", ["pandas", "polars", "Arrow table"])
def test_the_labels_can_be_a_column_of_the_table(model, name):
    table = NAMED[name]()
    whole = pl.DataFrame({**DATA, "state": LABELS})
    whole = {"pandas": whole.to_pandas(), "polars": whole, "Arrow table": whole.to_arrow()}[name]
    assert NaiveBayes().fit(whole, "state").tally_ == model.tally_
    assert len(NaiveBayes().fit(whole, "state").forget(whole, "state").tally_) == 0
    assert NaiveBayes().fit(whole, "state").predict(table).tolist() == model.predict(table).tolist()


def test_numbers_and_categories_are_told_by_their_type(model):
    assert [model.schema_.family(name) for name in DATA] == [*["gaussian-or-states"] * 2, *["categorical"] * 2]
    assert [row[3] for row in model.schema_.rows()][1] == "numbers"
    assert model.feature_names_in_.tolist() == list(DATA)
    assert model.n_features_in_ == 4


def test_declared_kinds_overrule_what_is_inferred():
    columns = {"age": "ignore", "children": "category", "job": "category", "owner": "count"}
    table = pd.DataFrame(DATA).assign(owner=[1, 0, 0, 2, 1, 0, 0, 1])
    model = NaiveBayes(columns).fit(table, LABELS)
    assert [model.schema_.family(name) for name in DATA] == ["ignore", "categorical", "categorical", "multinomial"]
    assert model.tally_.labels("category:children", 1).tolist() == [0, 1, 2, 3, 4]
    assert "number:count" not in model.tally_


def test_a_column_that_is_set_aside_changes_no_answer(model):
    table = pd.DataFrame(DATA)
    without = NaiveBayes().fit(table.drop(columns="age"), LABELS)
    ignoring = NaiveBayes({"age": "ignore"}).fit(table, LABELS)
    assert ignoring.tally_ == without.tally_
    assert ignoring.predict_proba(table).tobytes() == without.predict_proba(table.drop(columns="age")).tobytes()
    assert ignoring.predict_proba(table.drop(columns="age")).tobytes() == ignoring.predict_proba(table).tobytes()
    assert [f["column"] for f in ignoring.explain(table[:1]).to_dict()["factors"]] == ["children", "job", "owner"]


def test_columns_without_names_are_declared_by_position_or_by_their_shown_name():
    X, y = np.array([[1, 2], [2, 2], [1, 3]]), [0, 1, 1]
    assert NaiveBayes({1: "category"}).fit(X, y).tally_ == NaiveBayes({"x1": "category"}).fit(X, y).tally_


def test_declared_categories_count_in_the_smoothing_though_never_seen():
    model = NaiveBayes({"job": ["cook", "smith", "tailor", "king"]}).fit(pd.DataFrame(DATA), LABELS)
    # ill: cook 2, smith 1 of 3; well: cook 1, smith 2, tailor 1 of 4 (one job is missing)
    assert terms(model, {"job": "king"}, "job") == {"ill": pytest.approx(1 / 7), "well": pytest.approx(1 / 8)}
    assert terms(model, {"job": "cook"}, "job") == {"ill": pytest.approx(3 / 7), "well": pytest.approx(2 / 8)}


def test_integers_booleans_and_strings_as_categories_are_found_again():
    for values in ([0, 7, 7, 300], [-1, 5, 5, -1], [True, False, False, True], ["a", "b", "b", "a"], [0.5, 2, 2, 0.5]):
        X, y = np.array(values)[:, np.newaxis], ["p", "q", "q", "p"]
        model = NaiveBayes({0: "category"}, prior=MaximumLikelihood()).fit(X, y)
        assert model.predict(X).tolist() == y
        assert model.explain([values[0]]).prediction == "p"


def test_missing_values_are_not_counted_and_left_out_of_the_product(model):
    assert model.tally_.over("number:count", model.classes_.astype(object), np.array(["age"], object)).floats()[
        :, 0
    ].tolist() == [3, 4]
    row = {"age": None, "children": 2, "job": None, "owner": True}
    without = NaiveBayes().fit(pd.DataFrame(DATA)[["children", "owner"]], LABELS)
    only = {"children": 2, "owner": True}
    assert model.explain(row).posterior == pytest.approx(without.explain(only).posterior, rel=1e-12)


def test_a_row_of_nothing_has_the_prior(model):
    nothing = pd.DataFrame({name: [None] for name in DATA})
    assert model.predict_proba(nothing)[0] == pytest.approx([3 / 8, 5 / 8], abs=1e-15)
    assert model.explain({}).posterior == pytest.approx([3 / 8, 5 / 8], abs=1e-15)


def test_an_unseen_category_is_left_out_of_the_product(model):
    table = pd.DataFrame(DATA)[:2]
    unseen, missing = table.assign(job=["astronaut", "cook"]), table.assign(job=[None, "cook"])
    assert model.predict_proba(unseen).tobytes() == model.predict_proba(missing).tobytes()
    assert "never seen: left out" in str(model.explain(unseen[:1]))


# Weights.


def test_whole_weights_are_repeated_rows(model):
    times = [3, 1, 0, 2, 1, 5, 1, 1]
    table = pd.DataFrame(DATA)
    repeated = table.loc[np.repeat(table.index, times)].reset_index(drop=True)
    weighted = NaiveBayes().fit(table, LABELS, sample_weight=times)
    plain = NaiveBayes().fit(repeated, np.repeat(LABELS, times))
    assert weighted.tally_ == plain.tally_
    assert weighted.predict_proba(table).tobytes() == plain.predict_proba(table).tobytes()


def test_weights_that_are_not_whole_give_weighted_means_and_shares():
    X, y, w = np.array([[1.0], [3.0], [4.0]]), ["a", "a", "b"], np.array([0.25, 0.5, 0.125])
    model = NaiveBayes(prior=MaximumLikelihood()).fit(X, y, sample_weight=w)
    assert np.exp(model.class_log_prior_) == pytest.approx([0.75 / 0.875, 0.125 / 0.875], rel=1e-14)
    mean = np.average([1.0, 3.0], weights=w[:2])
    deviation = math.sqrt(np.average((np.array([1.0, 3.0]) - mean) ** 2, weights=w[:2]))
    assert terms(model, [2.0], "x0")["a"] == pytest.approx(norm.pdf(2.0, mean, deviation), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1e5, 1e300])
def test_the_scale_of_the_weights_changes_no_answer(scale):
    """Of the data; an imaginary row has the weight of one row."""
    rng = np.random.default_rng(3)
    X, y, w = rng.normal(size=(40, 2)), rng.integers(0, 2, 40), rng.random(40)
    model = NaiveBayes(prior=MaximumLikelihood())
    plain = model.fit(X, y, sample_weight=w).predict_proba(X)
    scaled = model.fit(X, y, sample_weight=w * scale).predict_proba(X)
    assert scaled == pytest.approx(plain, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("weight", [0.1, 0.3, 0.7, 1e-300, 1e300])
def test_a_constant_column_says_nothing_whatever_the_weights(weight):
    for x in (0.3, 0.11, 1.3, 1e12 + 0.1):
        model = NaiveBayes().fit([[x], [x], [x]], ["a", "b", "b"], sample_weight=[weight, weight, 0.5 * weight])
        assert model.predict_proba([[x]])[0] == pytest.approx([1 / 2.5, 1.5 / 2.5], rel=1e-9)


# Classes of any type.


@pytest.mark.parametrize(
    "classes",
    [
        [True, False],
        [2, 1],
        [1.0, 2.0],
        ["b", "a"],
        [(1, "x"), (0, "y")],
        [b"b", b"a"],
        [1, "one"],
        [("mixed", 1), ("mixed", "one")],
        [frozenset({2}), frozenset({1})],
        [2**70, 1],
    ],
    ids=repr,
)
def test_classes_of_any_type_are_learned_answered_and_forgotten(classes):
    X = [[1.0, "x"], [5.0, "y"], [1.1, "x"], [5.1, "y"], [0.9, "x"], [4.9, "y"]]
    y = classes * 3
    model = NaiveBayes().fit(X, y)
    assert set(model.classes_.tolist()) == set(classes)
    assert model.predict(X).tolist() == y
    assert all(type(p) is type(c) for p, c in zip(model.predict(X).tolist(), y))
    assert model.explain(X[0]).prediction == classes[0]
    answer = model.explain(X[0]).to_dict()["prediction"]  # as JSON has it
    assert answer in (classes[0], str(classes[0]), list(classes[0]) if isinstance(classes[0], tuple) else None)
    assert model.forget(X[4:], y[4:]).tally_ == NaiveBayes().fit(X[:4], y[:4]).tally_
    assert set(model.sample(3, class_=classes[1], random_state=0)[1].tolist()) == {classes[1]}


def test_one_class_only_is_the_answer_to_everything():
    model = NaiveBayes().fit([[1.0, "a"], [2.0, "b"]], ["only", "only"])
    assert model.predict([[1e9, "z"], [None, None]]).tolist() == ["only", "only"]
    assert model.predict_proba([[1e9, "z"]]).tolist() == [[1.0]]


# More rows, fewer rows, other models.


def test_new_classes_and_categories_may_come_later(model):
    table = pd.DataFrame(DATA)
    later = NaiveBayes().partial_fit(table[:2], LABELS[:2])
    assert later.tally_.labels("category:job", 1).tolist() == ["cook", "smith"]
    later.partial_fit(table[2:], LABELS[2:])
    assert later.tally_ == model.tally_
    newcomer = table[:1].assign(job="astronaut")
    later.partial_fit(newcomer, ["dead"])
    assert later.classes_.tolist() == ["dead", "ill", "well"]
    assert later.predict_proba(table).shape == (8, 3)
    assert "astronaut" in later.tally_.labels("category:job", 1)


def test_classes_that_are_announced_are_there_from_the_start():
    model = NaiveBayes(class_prior=Laplace()).partial_fit([[1.0], [2.0]], ["b", "b"], classes=["a", "b", "c"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba([[None]])[0] == pytest.approx([1 / 5, 3 / 5, 1 / 5])
    assert model.fit([[1.0]], ["z"]).classes_.tolist() == ["z"]


def test_forgetting_a_class_forgets_its_name(model):
    table, y = pd.DataFrame(DATA), np.array(LABELS)
    rest = NaiveBayes().fit(table, y).forget(table[y == "ill"], y[y == "ill"])
    assert rest.classes_.tolist() == ["well"]
    assert rest.tally_ == NaiveBayes().fit(table[y == "well"], y[y == "well"]).tally_


def test_models_merge_over_different_classes_categories_and_orders_of_columns(model):
    table = pd.DataFrame(DATA)
    a = NaiveBayes().fit(table[:3], LABELS[:3])
    b = NaiveBayes().fit(table[3:][["job", "owner", "children", "age"]], LABELS[3:])
    both = a + b
    assert both.tally_ == model.tally_
    assert (b + a).tally_ == model.tally_
    assert both.predict_proba(table).tobytes() == model.predict_proba(table).tobytes()
    assert a.tally_ != model.tally_, "adding leaves its parts alone"
    assert a.merge(b) is a
    assert a.tally_ == model.tally_


def test_models_of_different_columns_merge_to_one_of_all_the_columns():
    a = NaiveBayes().fit(pd.DataFrame({"x": [1.0, 2.0], "c": ["u", "v"]}), ["p", "q"])
    b = NaiveBayes().fit(pd.DataFrame({"z": [5.0, 9.0], "c": ["w", "u"]}), ["q", "r"])
    both = a + b
    assert both.classes_.tolist() == ["p", "q", "r"]
    assert both.feature_names_in_.tolist() == ["x", "c", "z"]
    assert both.n_features_in_ == 3
    assert both.tally_.labels("category:c", 1).tolist() == ["u", "v", "w"]
    probabilities = both.predict_proba(pd.DataFrame({"z": [5.0], "x": [1.0], "c": ["u"]}))
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)


# Answers.


def test_the_log_joint_is_the_log_prior_plus_a_sum_of_terms(model):
    for row in pd.DataFrame(DATA).to_dict("records"):
        explanation = model.explain(row).to_dict()
        factors = [explanation["prior"], *explanation["factors"]]
        frame = pd.DataFrame([row]).astype({"job": object, "owner": object})
        joint = model.predict_joint_log_proba(frame)[0]
        for k, name in enumerate(model.classes_):
            logs = [t["log"] for f in factors for t in f["terms"] if t["class"] == name]
            assert joint[k] == pytest.approx(math.fsum(logs), rel=1e-12)


def test_the_gaussian_terms_are_the_normal_densities():
    rng = np.random.default_rng(5)
    X, y = rng.normal(3, 2, size=(60, 2)), rng.integers(0, 2, 60)
    joint = NaiveBayes(prior=MaximumLikelihood()).fit(X, y).predict_joint_log_proba(X)
    for k in range(2):
        own = X[y == k]
        wanted = np.log(len(own) / 60) + norm.logpdf(X, own.mean(axis=0), own.std(axis=0)).sum(axis=1)
        assert joint[:, k] == pytest.approx(wanted, rel=1e-12)


def test_probabilities_are_the_normalised_joint(model):
    table = pd.DataFrame(DATA)
    joint = model.predict_joint_log_proba(table)
    wanted = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    assert model.predict_proba(table) == pytest.approx(wanted, rel=1e-12)
    assert model.predict_log_proba(table) == pytest.approx(np.log(wanted), rel=1e-11, abs=1e-14)
    assert model.predict(table).tolist() == model.classes_[wanted.argmax(axis=1)].tolist()


def test_log_probabilities_do_not_underflow():
    """Four hundred columns that each speak for one class by a factor of e^-50: e^-20000 is no double."""
    X = np.zeros((4, 400))
    X[2:] = 10.0
    X[1], X[3] = 1.0, 11.0
    model = NaiveBayes(prior=MaximumLikelihood(), numbers="gaussian").fit(X, ["a", "a", "b", "b"])
    log = model.predict_log_proba(np.full((1, 400), 0.5))[0]
    assert log[0] == 0
    assert log[1] == pytest.approx(-400 * 0.5 * (10 / 0.5) ** 2, rel=1e-12)
    assert model.predict_proba(np.full((1, 400), 0.5)).tolist() == [[1.0, 0.0]]


def test_changing_the_prior_estimates_anew_without_learning_again():
    table = pd.DataFrame(DATA)
    model = NaiveBayes(prior=MaximumLikelihood()).fit(table, LABELS)
    before, tally = model.predict_proba(table), model.tally_
    for prior in (Laplace(), Lidstone(5), MEstimate(2), Dirichlet(1.5), Laplace(variance_floor=0.5)):
        model.set_params(prior=prior)
        assert (
            model.predict_proba(table).tobytes()
            == NaiveBayes(prior=prior).fit(table, LABELS).predict_proba(table).tobytes()
        )
        assert model.tally_ is tally
    model.set_params(prior=MaximumLikelihood(), class_prior={"ill": 0.5, "well": 0.5})
    assert np.exp(model.class_log_prior_).tolist() == [0.5, 0.5]
    model.set_params(class_prior=MaximumLikelihood())
    assert model.predict_proba(table).tobytes() == before.tobytes()


def test_given_class_probabilities_are_used_as_they_are():
    model = NaiveBayes(class_prior={"ill": 0.9, "well": 0.1}).fit(pd.DataFrame(DATA), LABELS)
    assert model.explain({}).posterior == pytest.approx([0.9, 0.1], rel=1e-14)
    assert "given" in str(model.explain({}))


def test_cloning_gives_an_unfitted_model_with_the_same_parameters():
    model = NaiveBayes({"age": "number"}, prior=Lidstone(0.5)).fit(pd.DataFrame(DATA), LABELS)
    copy = clone(model)
    assert not hasattr(copy, "tally_")
    assert copy.get_params() == model.get_params()


# Whatever comes in.

ROWS = st.lists(
    st.tuples(
        harsh.number,
        harsh.number,
        st.one_of(st.none(), st.text(max_size=2), st.sampled_from(["cook", "smith", "tailor"])),
        st.sampled_from([True, False, None]),
    ),
    min_size=1,
    max_size=6,
)
PRIORS = st.sampled_from([MaximumLikelihood(), Laplace(), Lidstone(0), MEstimate(1e-300), Laplace(variance_floor=0)])


@settings(deadline=None, max_examples=30)
@given(ROWS, PRIORS, st.sampled_from(["gaussian", "gaussian-unbiased"]))
def test_probabilities_are_finite_and_sum_to_one_whatever_is_asked(rows, prior, numbers):
    model = NaiveBayes(prior=prior, numbers=numbers).fit([list(row) for row in zip(*DATA.values())], LABELS)
    X = np.empty((len(rows), 4), object)
    for i, row in enumerate(rows):
        X[i] = row
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all()
    assert (probabilities >= 0).all()
    assert np.abs(probabilities.sum(axis=1) - 1).max() <= 1e-12
    assert not np.isnan(model.predict_log_proba(X)).any()
    assert set(model.predict(X)) <= {"ill", "well"}


def test_a_row_that_no_class_allows_goes_to_the_class_with_the_fewest_impossible_values():
    """Under maximum likelihood p is impossible with a class-b colour and q with a class-a one."""
    X = np.array([["a1", "a2", "a3"], ["b1", "b2", "b3"]], object)
    model = NaiveBayes(prior=MaximumLikelihood()).fit(X, ["a", "b"])
    row = np.array([["a1", "a2", "b3"]], object)
    assert np.isneginf(model.predict_joint_log_proba(row)).all()
    assert model.predict(row).tolist() == ["a"]
    assert model.predict_proba(row)[0] == pytest.approx([1, 0])
    weakly = NaiveBayes(prior=Lidstone(1e-100)).fit(X, ["a", "b"])
    assert model.predict_proba(row) == pytest.approx(weakly.predict_proba(row), abs=1e-12)


@pytest.mark.parametrize("counts", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("prior", [MaximumLikelihood(), Laplace()])
@pytest.mark.parametrize("row", [[0, 0, 0], [5, 0, 0], [0, 3, 0], [1, 1, 1], [1e300, 1e308, 0], [1e-320, 0, 2]])
def test_rows_of_counts_have_finite_probabilities_too(counts, prior, row):
    X = np.array([[1, 0, 0], [0, 2, 0], [3, 1, 0]])
    model = NaiveBayes(dict.fromkeys(range(3), "count"), prior=prior, counts=counts).fit(X, ["a", "b", "b"])
    for given_row in (np.array([row], float), csr_matrix(np.array([row], float))):
        probabilities = model.predict_proba(given_row)
        assert np.isfinite(probabilities).all()
        assert probabilities.sum() == pytest.approx(1, abs=1e-12)


# Numbers that would break others.


def test_a_constant_column_changes_no_answer():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(30, 1)), rng.integers(0, 2, 30)
    wanted = NaiveBayes().fit(X, y).predict_proba(X)
    for constant in (0.0, 7.0, 1e300, 5e-324, 0.1):
        wide = np.column_stack([X, np.full(30, constant)])
        assert NaiveBayes().fit(wide, y).predict_proba(wide) == pytest.approx(wanted, rel=1e-12)


def test_a_class_of_one_row_takes_the_spread_of_the_column():
    X = np.array([[1.0], [2.0], [3.0], [10.0]])
    model = NaiveBayes().fit(X, ["a", "a", "a", "alone"])
    assert terms(model, [9.0], "x0")["alone"] == pytest.approx(norm.pdf(9, 10, X.std()), rel=1e-12)
    assert model.predict(X).tolist() == ["a", "a", "a", "alone"]


def test_a_class_without_any_value_in_a_column_takes_the_column_s():
    X = np.array([[1.0, "u"], [3.0, "v"], [None, None], [None, None]], object)
    model = NaiveBayes(prior=MaximumLikelihood()).fit(X, ["a", "a", "b", "b"])
    row = [2.5, "u"]
    assert terms(model, row, "x0")["b"] == pytest.approx(norm.pdf(2.5, 2.0, 1.0), rel=1e-12)
    assert terms(model, row, "x1")["b"] == pytest.approx(0.5)
    assert model.explain(row).posterior == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("scale", [1e-150, 1e150, 1e-300, 1e300, 2.0**-1000])
def test_scaling_a_column_changes_no_answer(scale):
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(50, 3)) + [[0, 1, 2]], rng.integers(0, 3, 50)
    scaled = X.copy()
    scaled[:, 1] *= scale
    plain = NaiveBayes().fit(X, y).predict_proba(X)
    assert NaiveBayes().fit(scaled, y).predict_proba(scaled) == pytest.approx(plain, rel=1e-9, abs=1e-12)


def test_an_offset_of_a_million_million_costs_no_digit_of_the_variance():
    rng = np.random.default_rng(10)
    X, y = np.round(rng.normal(size=(500, 1)) * 64) / 64, rng.integers(0, 2, 500)
    shifted = X + 1e12  # exact: 1e12 has room for 1/64
    plain = NaiveBayes().fit(X, y)
    model = NaiveBayes().fit(shifted, y)
    assert model.var_ == pytest.approx(plain.var_, rel=2e-15)
    assert model.predict_proba(shifted) == pytest.approx(plain.predict_proba(X), abs=1e-4)


def test_probabilities_down_to_1e_300_are_right():
    """Two Gaussians of deviation 1 around 0 and m: at 0, P(second) = e^(-m²/2) to a good approximation."""
    half = np.array([[-1.0], [1.0]])
    for m in (5.0, 20.0, 37.0):
        model = NaiveBayes(prior=MaximumLikelihood(), numbers="gaussian")
        model.fit(np.r_[half, half + m], ["a", "a", "b", "b"])
        assert model.predict_proba([[0.0]])[0, 1] == pytest.approx(
            math.exp(-m * m / 2) / (1 + math.exp(-m * m / 2)), rel=1e-10
        )
    # m = 37: e^-684.5, that is 5e-298
    assert 0 < model.predict_proba([[0.0]])[0, 1] < 1e-297


def test_values_at_the_edges_of_the_doubles_are_learned():
    M = harsh.LARGEST
    for values in ([M, -M, 0.0, M], [5e-324, 0.0, 0.0, 5e-324], [M, 5e-324, 1.0, -M], [1e-320, 2e-320, 3e-320, 9e-320]):
        X = np.array(values)[:, np.newaxis]
        for numbers in ("gaussian", "gaussian-unbiased"):
            model = NaiveBayes(numbers=numbers).fit(X, ["a", "a", "b", "b"])
            probabilities = model.predict_proba(np.r_[X, [[0.0], [1.0], [M], [-M]]])
            assert np.isfinite(probabilities).all()
            assert np.abs(probabilities.sum(axis=1) - 1).max() <= 1e-12


def test_a_million_categories():
    n = 1_000_000
    X, y = np.arange(n)[:, np.newaxis], np.arange(n) % 2
    model = NaiveBayes({0: "category"}, prior=MaximumLikelihood()).fit(X, y)
    assert len(model.tally_.labels("category:0", 1)) == n
    assert model.predict_proba([[0], [1], [n - 1], [n]]).tolist() == [[1, 0], [0, 1], [0, 1], [0.5, 0.5]]
    model.set_params(prior=Laplace())
    assert model.predict_proba([[0]])[0] == pytest.approx([2 / 3, 1 / 3], rel=1e-9)


# Drawing and explaining.


def test_drawn_rows_have_the_parameters_of_the_model(model):
    n = 20_000
    table, y = model.sample(n, random_state=0)
    assert table.column_names == list(DATA)
    assert np.mean(y == "well") == pytest.approx(5 / 8, abs=0.02)
    well = table.to_pandas()[y == "well"]
    ages = [31.5, 50.25, 17.0, 28.0]
    assert well["age"].mean() == pytest.approx(np.mean(ages), abs=5 * np.std(ages) / math.sqrt(len(well)))
    every = np.var([age for age in DATA["age"] if age is not None])  # of one imaginary row
    assert well["age"].std() == pytest.approx(math.sqrt((4 * np.var(ages) + every) / 5), rel=0.05)
    # Laplace: cook (1+1)/7, smith (2+1)/7, tailor (1+1)/7
    assert (well["job"] == "smith").mean() == pytest.approx(3 / 7, abs=0.03)
    again = NaiveBayes().fit(table, y)
    assert np.exp(again.class_log_prior_) == pytest.approx(np.exp(model.class_log_prior_), abs=0.02)


def test_drawing_is_repeatable_and_can_be_of_one_class(model):
    first, second = model.sample(5, random_state=3), model.sample(5, random_state=3)
    assert first[0].equals(second[0])
    assert first[1].tolist() == second[1].tolist()
    assert model.sample(4, class_="ill", random_state=0)[1].tolist() == ["ill"] * 4
    assert model.sample(0, random_state=0)[0].num_rows == 0


def test_drawn_counts_have_the_shares_of_the_model():
    X = np.array([[8, 2, 0], [7, 3, 0], [0, 1, 9], [0, 2, 8]])
    model = NaiveBayes(dict.fromkeys(range(3), "count"), prior=MaximumLikelihood()).fit(X, ["a", "a", "b", "b"])
    drawn, _ = model.sample(4000, class_="a", random_state=0)
    assert drawn.sum(axis=0) / drawn.sum() == pytest.approx([0.75, 0.25, 0], abs=0.01)
    assert drawn.sum() / 4000 == pytest.approx(10, abs=0.3)
    bernoulli = NaiveBayes(dict.fromkeys(range(3), "count"), counts="bernoulli").fit(X, ["a", "a", "b", "b"])
    drawn, _ = bernoulli.sample(4000, class_="a", random_state=0)
    assert drawn.mean(axis=0) == pytest.approx([3 / 4, 3 / 4, 1 / 4], abs=0.03)


def test_there_is_nothing_to_draw_from_complement_weights():
    model = NaiveBayes({0: "count"}, counts="complement").fit(np.array([[1], [2]]), ["a", "b"])
    with pytest.raises(InputError, match="complement weights are no distribution"):
        model.sample(1)


def test_a_row_to_explain_may_come_in_any_form(model):
    row = {"age": 31.5, "children": 1, "job": "cook", "owner": True}
    wanted = model.explain(row).to_dict()
    frame = pd.DataFrame([row])
    for same in (
        list(row.values()),
        tuple(row.values()),
        [list(row.values())],
        np.array(list(row.values()), object),
        frame,
        frame.iloc[0],
        pl.DataFrame([row]),
        pl.DataFrame([row]).row(0, named=True),
        pa.Table.from_pylist([row]),
        dict(reversed(row.items())),
    ):
        assert model.explain(same).to_dict() == wanted
    assert wanted["prediction"] == model.predict(frame)[0]
    assert list(wanted["posterior"].values()) == pytest.approx(model.predict_proba(frame)[0].tolist(), rel=1e-12)


def test_the_explanation_names_each_column_its_value_and_why_it_was_left_out(model):
    found = model.explain({"age": 40, "job": "astronaut"}).to_dict()
    assert [(f["column"], f["value"], f.get("note")) for f in found["factors"]] == [
        ("age", "40", None),
        ("children", "missing", "left out"),
        ("job", "astronaut", "never seen: left out"),
        ("owner", "missing", "left out"),
    ]
    assert found["prior"]["terms"][0]["how"] == "3/8"
    html = model.explain({"age": 40})._repr_html_()
    assert "<table class='ingenuo'>" in html
    assert "3/8" in html


def test_counts_are_explained_as_powers_and_presence_as_presence():
    X = np.array([[2, 1], [1, 3]])
    bag = NaiveBayes({0: "count", 1: "count"}).fit(X, ["a", "b"])
    found = bag.explain([2, 0]).to_dict()
    assert [f["column"] for f in found["factors"]] == ["x0"], "a count of zero has no term"
    assert found["factors"][0]["terms"][0]["how"] == "[(2 + 1)/(3 + 2)]^2"
    assert found["factors"][0]["terms"][0]["value"] == pytest.approx(0.6**2)
    presence = NaiveBayes({0: "count", 1: "count"}, counts="bernoulli").fit(np.array([[1, 0], [0, 1]]), ["a", "b"])
    found = presence.explain([0, 1]).to_dict()["factors"]
    assert [(f["value"], f["terms"][0]["how"]) for f in found] == [
        ("absent", "(0 + 1)/(1 + 2)"),
        ("1", "(0 + 1)/(1 + 2)"),
    ]


def test_a_notebook_shows_what_was_learned(model):
    html = model._repr_html_()
    assert "Learned from 8 rows: 2 classes, 4 columns." in html
    assert "<td>well</td><td class='n'>5</td><td class='n'>0.6250</td>" in html
    assert "<td>job</td><td>category</td>" in html


@pytest.mark.parametrize("family", ["gaussian-unbiased", "gaussian"])
def test_the_family_of_numbers_can_be_chosen_by_column(family):
    table = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1.0, 2.0, 4.0]})
    model = NaiveBayes(prior=MaximumLikelihood(), numbers={"b": family}).fit(table, ["x", "x", "x"])
    below = 2 if family == "gaussian-unbiased" else 3
    deviation = math.sqrt(((np.array([1, 2, 4]) - 7 / 3) ** 2).sum() / below)
    assert terms(model, {"b": 2.0}, "b")["x"] == pytest.approx(norm.pdf(2, 7 / 3, deviation), rel=1e-12)
    assert terms(model, {"a": 2.0}, "a")["x"] == pytest.approx(norm.pdf(2, 7 / 3, np.std([1, 2, 4])), rel=1e-12)


def test_the_family_of_counts_can_be_chosen_by_column():
    X = np.array([[1, 2], [0, 1], [3, 0]])
    model = NaiveBayes({0: "count", 1: "count"}, counts={1: "bernoulli"}).fit(X, ["a", "a", "b"])
    assert [model.schema_.family(j) for j in range(2)] == ["multinomial", "bernoulli"]


# What users do.


def test_frames_whose_columns_are_called_by_numbers_are_matched_by_them():
    frame = pd.DataFrame({0: [0.0, 0.1, 10, 10.1], 1: [5.0, 5, 5, 5.1]})
    model = NaiveBayes().fit(frame, [0, 0, 1, 1])
    assert model.predict(frame[[1, 0]]).tolist() == [0, 0, 1, 1]


def test_infinity_is_refused_in_answering_as_in_learning():
    model = NaiveBayes().fit([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]], [0, 1, 1])
    with pytest.raises(InputError, match="column 'x1', row 1: inf is infinite"):
        model.predict_proba([[0.0, 1.0], [1.0, np.inf]])


def test_what_columns_are_cannot_change_after_learning():
    model = NaiveBayes().fit(pd.DataFrame(DATA), LABELS)
    model.set_params(numbers="gaussian-unbiased")
    with pytest.raises(InputError, match="changed after the model had learned"):
        model.predict(pd.DataFrame(DATA))


def test_large_integers_with_holes_stay_apart_as_categories():
    table = pl.DataFrame({"id": [2**53, 2**53 + 1, None, 2**53]})
    model = NaiveBayes(columns={"id": "category"}).fit(table, [0, 1, 1, 0])
    assert model.tally_["category:id"].axes[1].tolist() == [2**53, 2**53 + 1]


def test_a_wide_table_costs_time_in_its_columns_and_not_in_their_square():
    wide = pl.DataFrame({f"c{i}": np.arange(4.0) * i for i in range(3000)})
    assert NaiveBayes().fit(wide.to_arrow(), [0, 0, 1, 1]).predict(wide).tolist() == [0, 0, 1, 1]


def test_a_row_that_leaves_out_a_count_has_none():
    model = NaiveBayes(columns={"a": "count", "b": "count"}).fit(pd.DataFrame({"a": [2, 0], "b": [0, 3]}), ["x", "y"])
    assert model.explain({"a": 1}).prediction == "x"


def test_an_entry_stored_twice_is_there_once():
    twice = csr_matrix((np.ones(3), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    once = csr_matrix(np.array([[2.0, 0.0], [0.0, 1.0]]))
    models = [NaiveBayes(counts="bernoulli").fit(rows, [0, 1]) for rows in (twice, once)]
    assert models[0].tally_ == models[1].tally_
    assert models[0].predict_proba(twice).tolist() == models[1].predict_proba(once).tolist()


def test_times_are_labels_that_can_be_saved(tmp_path):
    frame = pd.DataFrame({"day": pd.to_datetime(["2024-01-01", "2024-01-02", None])})
    model = NaiveBayes(columns={"day": "category"}).fit(frame, pd.Series(pd.to_datetime(["2020-01-01"] * 3)))
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").tally_ == model.tally_


def test_many_pieces_of_extreme_values_overflow_nothing():
    value, n = math.ldexp(2 - 2.0**-30, 500), 9_500_000
    frame = pd.DataFrame({"a": np.full(n, value)})  # a column is read in pieces
    with threads.limited(1):
        tally = NaiveBayes().fit(frame, np.zeros(n, int)).tally_
    assert tally["number:sum"].sums.fractions()[0, 0] == n * Fraction(value)
    assert tally["number:square"].sums.fractions()[0, 0] == n * Fraction(value) ** 2


@pytest.mark.parametrize("name", ["pandas", "polars", "Arrow table"])
def test_the_column_that_was_learned_may_stay_in_the_table(name, tmp_path):
    whole = pl.DataFrame({**DATA, "state": LABELS})
    whole = {"pandas": whole.to_pandas(), "polars": whole, "Arrow table": whole.to_arrow()}[name]
    model = NaiveBayes().fit(whole, "state")
    save(model, tmp_path / "model")
    for each in (model, load(tmp_path / "model")):
        assert each.predict(whole).tolist() == model.predict(NAMED[name]()).tolist()
        assert each.score(whole, "state") == np.mean(each.predict(whole) == np.array(LABELS))
        assert each.explain(whole[:1]).prediction == model.predict(whole)[0]


def test_labels_of_another_type_are_refused_and_not_scored_as_wrong() -> None:
    model = NaiveBayes().fit([[0.0], [1.0], [2.0], [3.0]], ["1", "1", "2", "2"])
    with pytest.raises(InputError, match="of different types, so nothing can be right"):
        model.score([[0.0], [3.0]], [1, 2])
    assert model.score([[0.0], [3.0]], ["1", "3"]) == 0.5


def test_a_path_that_is_not_there_is_named() -> None:
    with pytest.raises(KindError, match=r"'nowhere\.csv': there is no such file; check the path"):
        NaiveBayes().fit("nowhere.csv", "y")
