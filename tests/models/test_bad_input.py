"""Bad input gets one clear error that names the place and the remedy, and the model stays as it was."""

from __future__ import annotations

import copy
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

import ingenuo as ing
from ingenuo.errors import ForgetError, IngenuoError, InputError, KindError, MergeError
from ingenuo.models.discriminant import GaussianDiscriminant
from ingenuo.models.language import LanguageModelClassifier
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.tally.prior import Laplace

TABLE = pd.DataFrame(
    {
        "outlook": ["sunny", "rain", "rain", "overcast"],
        "temperature": [30.0, 12.0, 15.0, 20.0],
        "windy": [True, False, True, False],
    }
)
PLAY = ["no", "yes", "no", "yes"]
X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
Y = [0, 1, 1]


@pytest.fixture
def named():
    return NaiveBayes().fit(TABLE, PLAY)


@pytest.fixture
def unnamed():
    return NaiveBayes().fit(X, Y)


@pytest.fixture
def counting():
    return NaiveBayes({0: "count", 1: "count"}).fit(np.array([[1, 0], [0, 2], [2, 2]]), Y)


def refused(model, act, kind, *words):
    """Acting on the model raises this kind of error with these words, and leaves no trace in the model."""
    rows = TABLE if model.schema_.named else (X if "number:count" in model.tally_ else np.array([[1, 0], [0, 2]]))
    tally, said = model.tally_, model.predict_proba(rows).tobytes()
    noted = [getattr(model, name, None) for name in ("n_features_in_", "feature_names_in_", "schema_")]
    classes = model.classes_.tolist()
    with pytest.raises(kind) as caught:
        act(model)
    message = str(caught.value)
    for word in words:
        assert word in message, message
    assert isinstance(caught.value, IngenuoError)
    assert isinstance(caught.value, ValueError | TypeError)
    assert model.tally_ == tally
    assert model.predict_proba(rows).tobytes() == said
    assert model.classes_.tolist() == classes
    assert model.n_features_in_ == noted[0]
    assert np.array_equal(getattr(model, "feature_names_in_", None), noted[1])
    assert model.schema_ == noted[2]


LEARNING = ["fit", "partial_fit", "forget"]


@pytest.mark.parametrize("method", LEARNING)
@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 1, 0], []])
def test_rows_and_labels_of_different_length(unnamed, method, labels):
    refused(
        unnamed,
        lambda m: getattr(m, method)(X, labels),
        InputError,
        f"X has 3 rows and y has {len(labels)} labels",
        "give one label for each row",
    )


@pytest.mark.parametrize("method", LEARNING)
def test_no_labels(unnamed, method):
    refused(unnamed, lambda m: getattr(m, method)(X), InputError, "requires y to be passed")


@pytest.mark.parametrize("method", LEARNING)
@pytest.mark.parametrize("missing", [None, math.nan, pd.NA])
def test_a_label_that_is_missing(unnamed, method, missing):
    labels = np.array([0, missing, 1], object)
    refused(unnamed, lambda m: getattr(m, method)(X, labels), InputError, "row 1 has no label", "drop rows")


@pytest.mark.parametrize("method", LEARNING)
def test_labels_that_are_measurements(unnamed, method):
    refused(
        unnamed, lambda m: getattr(m, method)(X, [0.5, 1.0, 2.0]), InputError, "0.5", "use strings or whole numbers"
    )


@pytest.mark.parametrize("method", LEARNING)
@pytest.mark.parametrize(
    ("labels", "kind", "words"),
    [
        ([[0, 1], [1, 0], [1, 1]], InputError, ["1d array", "(3, 2)"]),
        (5, KindError, ["Expected sequence or array-like", "int"]),
        ("play", KindError, ["y must hold a label for each row, got the string 'play'"]),
        ([["a"], ["b"], {"c"}], KindError, ["got list ['a']"]),
    ],
)
def test_labels_of_a_shape_or_type_that_names_no_class(unnamed, method, labels, kind, words):
    refused(unnamed, lambda m: getattr(m, method)(X, labels), kind, *words)


def test_a_label_column_that_is_not_in_the_table(named):
    table = TABLE.assign(play=PLAY)
    refused(named, lambda m: m.fit(table, "plai"), InputError, "no column 'plai' to learn; did you mean 'play'?")


@pytest.mark.parametrize("method", LEARNING)
@pytest.mark.parametrize("table", [np.zeros((0, 2)), np.zeros((3, 0)), [], [[]]])
def test_an_empty_array(unnamed, method, table):
    refused(unnamed, lambda m: getattr(m, method)(table, Y[: len(table)]), InputError, "minimum of 1 is required")


@pytest.mark.parametrize("method", LEARNING)
@pytest.mark.parametrize(
    "table",
    [TABLE[:0], TABLE[[]], pl.DataFrame(), pa.table({"a": pa.array([], pa.float64())})],
    ids=lambda t: str(t.shape),
)
def test_an_empty_table(named, method, table):
    refused(named, lambda m: getattr(m, method)(table, PLAY[: len(table)]), InputError, "the table is empty")


def test_one_class_only_is_allowed():
    assert NaiveBayes().fit(X, [7, 7, 7]).predict(X).tolist() == [7, 7, 7]


@pytest.mark.parametrize("method", ["fit", "partial_fit", "forget", "predict", "predict_proba"])
@pytest.mark.parametrize(
    ("table", "kind", "words"),
    [
        (np.zeros(3), InputError, ["2D", "1D"]),
        (np.zeros((3, 2, 2)), InputError, ["dim 3"]),
        (np.array([[1j, 2], [3, 4], [5, 6]]), InputError, ["Complex"]),
        ("a table", KindError, ["there is no such file", "a list of strings"]),
        (None, KindError, ["a table was expected, got NoneType"]),
        ({"a": [1, 2, 3]}, KindError, ["a table was expected, got dict"]),
        ([[1.0, 2.0], [3.0], [5.0, 7.0]], InputError, ["row 0 has 2 values and row 1 has 1"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_table(unnamed, method, table, kind, words):
    arguments = (table,) if "predict" in method else (table, Y)
    refused(unnamed, lambda m: getattr(m, method)(*arguments), kind, *words)


def test_an_array_of_dates(unnamed):
    dates = np.array([["2020-01-01"] * 2] * 3, "M8[D]")
    refused(unnamed, lambda m: m.fit(dates, Y), KindError, "datetime64[D]", "convert it first")
    refused(unnamed, lambda m: m.predict(dates), InputError, "column 'x0' has a date in row 0")


@pytest.mark.parametrize("method", LEARNING)
def test_text_in_a_column_of_numbers(named, method):
    table = TABLE.assign(temperature=["30", "n/a", "15", "20"])
    act = {
        "fit": lambda m: NaiveBayes(columns={"temperature": "number"}).fit(table, PLAY),
    }.get(method, lambda m: getattr(m, method)(table, PLAY))
    refused(
        named,
        act,
        InputError,
        "column 'temperature' has text in row 1 ('n/a')",
        "declare it with columns={'temperature': 'category'} or clean it",
    )


def test_text_in_a_column_of_numbers_at_prediction(named):
    table = TABLE.assign(temperature="hot")
    refused(named, lambda m: m.predict(table), InputError, "column 'temperature' has text in row 0 ('hot')")


def test_a_column_of_dates(named):
    table = TABLE.assign(day=pd.to_datetime(["2020-01-01"] * 4))
    with pytest.warns(UserWarning, match=r"ignored: 'day' \(dates .* columns={'day': 'category'}"):
        NaiveBayes().fit(table, PLAY)


def test_a_column_of_lists(named):
    table = TABLE.assign(words=[["a"], ["b"], ["c"], ["d"]])
    with pytest.warns(UserWarning, match=r"ignored: 'words' \(list"):
        NaiveBayes().fit(table, PLAY)


def test_two_columns_of_one_name(named):
    table = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    refused(named, lambda m: m.fit(table, [0, 1]), InputError, "'a'", "rename one")


def test_column_names_of_two_types(named):
    table = pd.DataFrame([[1, 2], [3, 4]], columns=["a", 1])
    refused(named, lambda m: m.fit(table, [0, 1]), KindError, "string names")


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pandas])
def test_an_unknown_column_at_prediction(named, method, make):
    table = make(TABLE.rename(columns={"outlook": "outlok"}))
    refused(
        named,
        lambda m: getattr(m, method)(table),
        InputError,
        "lacks the column 'outlook' that the model was trained on",
        "a column 'outlok' that the model does not know; did you mean 'outlook'?",
    )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pandas])
def test_columns_too_many_are_ignored_with_a_warning(named, make):
    more = make(TABLE.assign(humidity=1, day=pd.to_datetime("2024-02-29"))[["humidity", *TABLE, "day"]])
    with pytest.warns(UserWarning, match="ignored: 'humidity', 'day', which the model does not know") as said:
        assert named.predict_proba(more).tolist() == named.predict_proba(TABLE).tolist()
    assert len(said) == 1
    assert said[0].filename == __file__
    expected = copy.deepcopy(named).partial_fit(TABLE, PLAY)
    with pytest.warns(UserWarning, match="ignored: 'humidity', 'day'"):
        named.partial_fit(more, PLAY)
    assert named.tally_ == expected.tally_
    with pytest.warns(UserWarning, match="ignored: 'humidity', 'day'"):
        assert str(named.explain(more[:1] if make is not pa.Table.from_pandas else more.slice(0, 1)))


@pytest.mark.parametrize("kind", ["time stamps", "strings", "days"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pandas])
def test_dates_are_ignored_with_a_warning_when_they_are_learned(kind, make):
    stamps = pd.date_range("2024-02-27", periods=len(TABLE))
    days = {"time stamps": stamps, "strings": stamps.strftime("%Y-%m-%d"), "days": stamps.date}[kind]
    table = make(TABLE.assign(day=days))
    for model in (NaiveBayes(), NetworkClassifier("naive")):
        with pytest.warns(UserWarning, match=r"ignored: 'day' \(dates are neither numbers nor categories\)"):
            model.fit(table, PLAY)
        assert model.predict(table).tolist() == type(model)().fit(TABLE, PLAY).predict(TABLE).tolist()
        assert model.predict(TABLE).tolist() == model.predict(table).tolist()  # it need not be there


@pytest.mark.parametrize("method", ["predict", "partial_fit", "forget"])
def test_a_missing_column(named, method):
    arguments = (TABLE.drop(columns="windy"),) + (() if method == "predict" else (PLAY,))
    refused(
        named,
        lambda m: getattr(m, method)(*arguments),
        InputError,
        "the table lacks the column 'windy' that the model was trained on",
        "add it, filled with missing values",
    )


@pytest.mark.parametrize("method", ["predict", "partial_fit", "forget"])
@pytest.mark.parametrize("width", [1, 3])
def test_an_array_of_another_width(unnamed, method, width):
    arguments = (np.ones((3, width)),) + (() if method == "predict" else (Y,))
    refused(unnamed, lambda m: getattr(m, method)(*arguments), InputError, f"{width} feature", "2 features")


@pytest.mark.parametrize("method", LEARNING)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("counts", ["multinomial", "complement"])
def test_negative_counts(method, sparse, counts):
    rows = np.array([[1, 0], [0, 2], [2, 2]])
    model = NaiveBayes({0: "count", 1: "count"}, counts=counts).fit(rows, Y)
    bad = np.array([[1, 0], [0, -2], [2, 2]])
    refused(
        model,
        lambda m: getattr(m, method)(csr_matrix(bad) if sparse else bad, Y),
        InputError,
        "row 1, column 'x1' is -2",
        "counts must be finite and 0 or more",
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("method", [*LEARNING, "predict", "predict_proba"])
def test_counts_that_are_not_finite(counting, method, value):
    bad = np.array([[1, 0], [0, 2], [value, 2]])
    arguments = (bad,) + (() if "predict" in method else (Y,))
    refused(counting, lambda m: getattr(m, method)(*arguments), InputError, f"row 2, column 'x0' is {value!r}")


@pytest.mark.parametrize("method", LEARNING)
@pytest.mark.parametrize(
    ("weights", "kind", "words"),
    [
        ([1, -1, 1], InputError, ["the weight of row 1 is -1.0; weights are finite and not negative"]),
        ([1, 1, math.nan], InputError, ["the weight of row 2 is nan"]),
        ([math.inf, 1, 1], InputError, ["the weight of row 0 is inf"]),
        ([0, 0, 0], InputError, ["every weight is zero", "give some row a positive weight"]),
        ([1, 2], InputError, ["(2,)", "(3,)"]),
        ([[1, 2, 3]], InputError, ["1D array"]),
        (["a", "b", "c"], KindError, ["sample_weight must hold numbers"]),
        (-2.0, InputError, ["the weight of row 0 is -2.0"]),
    ],
    ids=str,
)
def test_weights_that_cannot_weigh(unnamed, method, weights, kind, words):
    refused(unnamed, lambda m: getattr(m, method)(X, Y, sample_weight=weights), kind, *words)


@pytest.mark.parametrize(
    ("rows", "labels", "words"),
    [
        (np.r_[X, X], [*Y, *Y], ["cannot take away"]),
        (X[:1], [1], ["cannot take"]),
        (X[:1], ["new"], ["class 'new'", "only 0 was added"]),
        (X[:1] + 100, [0], ["cannot take away"]),
    ],
)
def test_forgetting_more_than_was_seen(unnamed, rows, labels, words):
    refused(
        unnamed, lambda m: m.forget(rows, labels), ForgetError, *words, "only rows that were learned can be forgotten"
    )


def test_forgetting_with_a_greater_weight_than_was_learned(unnamed):
    refused(unnamed, lambda m: m.forget(X[:1], Y[:1], sample_weight=[1.5]), ForgetError, "1.5", "only 1 was added")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda: NaiveBayes().fit(X, Y), ["one schema has column names and the other has none"]),
        (
            lambda: NaiveBayes({"temperature": "category"}).fit(TABLE, PLAY),
            [
                "column 'temperature' is gaussian-or-states in one model and categorical in the other",
                "declare it the same way",
            ],
        ),
        (
            lambda: NaiveBayes(numbers="gaussian-unbiased").fit(TABLE, PLAY),
            ["column 'temperature' is gaussian-or-states in one model and gaussian-unbiased in the other"],
        ),
        (lambda: "a model", ["a NaiveBayes can be merged with another NaiveBayes, not with str"]),
        (lambda: None, ["not with NoneType"]),
        (Laplace, ["not with Laplace"]),
    ],
)
def test_merging_what_is_of_another_kind(named, other, words):
    refused(named, lambda m: m.merge(other()), MergeError, *words)


def test_adding_what_is_of_another_kind(named):
    refused(named, lambda m: m + NaiveBayes().fit(X, Y), MergeError, "column names")
    with pytest.raises(TypeError):
        named + 3


def test_infinite_numbers_are_refused_with_their_place(named):
    for value in (math.inf, -math.inf):
        table = TABLE.assign(temperature=[1.0, 2.0, value, 3.0])
        for method in LEARNING:
            refused(
                named,
                lambda m, t=table, method=method: getattr(m, method)(t, PLAY),
                InputError,
                f"column 'temperature', row 2: {value!r} is infinite",
                "replace it by a finite number, or by NaN if it is missing",
            )
            refused(
                named,
                lambda m, t=table, method=method: getattr(m, method)(t, PLAY, sample_weight=[1, 2, 3, 4]),
                InputError,
                f"column 'temperature', row 2: {value!r} is infinite",
            )


def test_a_whole_number_too_large_for_a_double_is_refused(unnamed):
    rows = np.array([[10**400, 1], [2, 3], [4, 5]], object)
    refused(unnamed, lambda m: m.fit(rows, Y), InputError, "column 'x0', row 0", "infinite")


# Parameters.


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"columns": {"outlok": "category"}}, InputError, ["'outlok' was declared", "did you mean 'outlook'?"]),
        ({"columns": {"outlook": "categry"}}, InputError, ["'categry'", "did you mean 'category'"]),
        ({"columns": {"outlook": 3}}, KindError, ["column 'outlook' was declared as 3", "a kind is a string"]),
        ({"columns": ["outlook"]}, KindError, ["columns must be a mapping from column to kind, got list"]),
        ({"columns": dict.fromkeys(TABLE.columns, "ignore")}, InputError, ["every column is ignored"]),
        ({"prior": -1.0}, InputError, ["alpha must be finite and not negative, got -1.0"]),
        ({"prior": [1.0]}, KindError, ["prior must be a Prior such as Laplace(), its name, or a number, got list"]),
        ({"prior": Laplace}, KindError, ["prior must be a Prior"]),
        ({"class_prior": [0.5, 0.5]}, KindError, ["class_prior must be a Prior", "got list"]),
        ({"class_prior": {"no": 0.5, "yes": 0.6}}, InputError, ["sum to 1.1; they must sum to 1"]),
        ({"class_prior": {"no": -0.5, "yes": 1.5}}, InputError, ["class 'no' the probability -0.5"]),
        ({"numbers": "gausian"}, InputError, ["numbers='gausian' is not known; did you mean 'gaussian'"]),
        ({"numbers": 3}, KindError, ["numbers must be one of gaussian, gaussian-unbiased,", "got int 3"]),
        ({"numbers": {"temprature": "gaussian"}}, InputError, ["'temprature'", "did you mean 'temperature'?"]),
        ({"counts": "poisson"}, InputError, ["counts='poisson' is not known", "multinomial"]),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(parameters, kind, words):
    model = NaiveBayes(**parameters)
    with pytest.raises(kind) as caught:
        model.fit(TABLE, PLAY)
    for word in words:
        assert word in str(caught.value)
    assert not hasattr(model, "tally_")
    assert not hasattr(model, "n_features_in_")


def test_a_class_without_a_given_probability_is_named():
    with pytest.raises(InputError, match="no probability for class 'no'; give one for every class"):
        NaiveBayes(class_prior={"yes": 1.0}).fit(TABLE, PLAY)
    with pytest.raises(InputError, match="no probability for class 2; give one for every class"):
        NaiveBayes(class_prior={0: 0.2, 1: 0.8}).fit([[1.0], [2.0], [3.0]], [0, 1, 2])
    early = NaiveBayes(class_prior={0: 0.2, 1: 0.8}).partial_fit([[1.0]], [0])  # the other may come
    assert early.partial_fit([[2.0]], [1]).predict([[2.0]]).tolist() == [1]
    for parameters in ({"class_weight": {0: 1, 1: 2}}, {"class_prior": {0: 0.0, 1: 1.0}}):
        early = NaiveBayes(**parameters).partial_fit([[1.0], [2.0]], [0, 0])
        assert early.partial_fit([[7.0], [8.0]], [1, 1]).predict([[7.5]]).tolist() == [1]


@pytest.mark.parametrize(
    ("new", "rows", "row"),
    [
        (NaiveBayes, [[1.0], [2.0], [4.0], [5.0]], [[3.0]]),
        (GaussianDiscriminant, [[1.0], [2.0], [4.0], [5.0]], [[3.0]]),
        (LanguageModelClassifier, ["a b", "a", "c b", "c"], ["d"]),
    ],
)
def test_a_class_prior_that_does_not_fit_is_refused_by_whatever_learns(new, rows, row):
    y, given = ["no", "no", "yes", "yes"], {"no": 0.25, "yes": 0.75}
    for other, words in (
        ({"Ja": 0.5, "Nein": 0.5}, "no probability for class 'no'"),
        ({"no": 0.0, "yes": 0.0, "so": 1.0}, "probability 0 to every class"),
        ("Ja=.5,Nein=.5", "no probability for class 'no'"),
    ):
        model = new(class_prior=other)
        with pytest.raises(InputError, match=words):
            model.fit(rows, y)
        assert not hasattr(model, "tally_")
    model = new(class_prior=given).fit(rows, y)
    before, said = model.tally_, model.predict_proba(rows).tobytes()
    for act in (
        lambda: model.partial_fit(row, ["perhaps"]),
        lambda: model.partial_fit(row, ["no"], classes=["no", "yes", "perhaps"]),
        lambda: model.merge(new().fit([*rows, *row, *row], [*y, "perhaps", "perhaps"])),
    ):
        with pytest.raises(InputError, match="no probability for class 'perhaps'; give one for every class"):
            act()
        assert model.tally_ is before
        assert model.classes_.tolist() == ["no", "yes"]
        assert model.predict_proba(rows).tobytes() == said


def test_a_prior_spoiled_after_learning_is_refused_when_asked(named):
    named.set_params(prior="Laplace")
    with pytest.raises(InputError, match="'Laplace' is no prior; did you mean 'laplace'"):
        named.predict(TABLE)
    assert (
        named.set_params(prior=Laplace()).predict(TABLE).tolist()
        == NaiveBayes().fit(TABLE, PLAY).predict(TABLE).tolist()
    )


# Explaining and drawing.


@pytest.mark.parametrize(
    ("row", "kind", "words"),
    [
        ({"outlok": "rain"}, InputError, ["'outlok'", "did you mean 'outlook'?"]),
        (["rain"], InputError, ["the row has 1 values and the model has 3 columns"]),
        (3, KindError, ["one row was expected, got int 3"]),
        ("rain", KindError, ["one row was expected, got str 'rain'"]),
        ({"temperature": "hot"}, InputError, ["column 'temperature' has text in row 0 ('hot')"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_rows_that_cannot_be_explained(named, row, kind, words):
    refused(named, lambda m: m.explain(row), kind, *words)


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"n": -1}, InputError, ["n is -1; it must be at least 0"]),
        ({"n": 1.5}, KindError, ["n must be a whole number, got float 1.5"]),
        ({"n": True}, KindError, ["n must be a whole number, got bool True"]),
        ({"n": 1, "class_": "ye"}, InputError, ["there is no class 'ye'; did you mean 'yes'?"]),
    ],
    ids=str,
)
def test_what_cannot_be_drawn(named, arguments, kind, words):
    refused(named, lambda m: m.sample(**arguments), kind, *words)


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.predict(X),
        lambda m: m.predict_proba(X),
        lambda m: m.forget(X, Y),
        lambda m: m.explain([1.0, 2.0]),
        lambda m: m.sample(1),
        lambda m: m.merge(NaiveBayes().fit(X, Y)),
        lambda m: NaiveBayes().fit(X, Y).merge(m),
    ],
)
def test_a_model_that_has_learned_nothing_says_so(ask):
    with pytest.raises(NotFittedError):
        ask(NaiveBayes())


def test_a_model_that_has_forgotten_everything_says_so():
    for model in (NaiveBayes().fit(X, Y), NaiveBayes().partial_fit(X, Y, classes=[0, 1, 2])):
        model.forget(X, Y)
        for ask in (model.predict, model.predict_proba, lambda rows, m=model: m.explain(rows[0])):
            with pytest.raises(InputError, match="forgotten every row it knew; fit it again"):
                ask(X)
        assert "Learned" not in model._repr_html_()


@pytest.mark.parametrize("model", [ing.NaiveBayes(), ing.NetworkClassifier("naive"), ing.GaussianDiscriminant()])
def test_labels_that_look_like_amounts_get_a_hint(model):
    rng = np.random.default_rng(0)
    X, ages = rng.integers(0, 5, (3000, 2)) + 0.5, rng.integers(18, 80, 3000)
    with pytest.warns(UserWarning, match="62 different whole numbers.*--model regressor"):
        model.fit(X, ages)


def test_few_rows_with_a_number_of_their_own_each_get_a_hint():
    with pytest.warns(UserWarning, match="8 different whole numbers.*--model regressor"):
        ing.NaiveBayes().fit(np.arange(8.0)[:, np.newaxis], [120, 95, 310, 87, 140, 205, 99, 180])


def test_labels_that_count_up_and_names_get_no_hint():
    rng = np.random.default_rng(0)
    X, codes = rng.integers(0, 5, (3000, 2)) + 0.5, rng.integers(0, 60, 3000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ing.NaiveBayes().fit(X, codes)
        ing.NaiveBayes().fit(X, (codes + 18).astype(str))
        ing.NaiveBayes().fit(X, codes % 20 * 7)
        ing.NaiveBayesRegressor().fit(X, codes + 18)
    with pytest.warns(UserWarning, match="60 different whole numbers"):
        ing.NaiveBayes().fit(X[:120], np.arange(120) % 60)  # two rows of each
