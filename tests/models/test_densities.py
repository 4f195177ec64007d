"""Densities of numbers in naive Bayes: they are densities, they are shown, drawn from, saved, and never absurd."""

from __future__ import annotations

import copy
import math
import re
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import kstest
from sklearn.datasets import load_iris

import ingenuo as ing
from ingenuo import store
from ingenuo.errors import ForgetError, InputError, ModelFileError
from ingenuo.families.curves import Column
from ingenuo.tally import container
from ingenuo.tally.histogram import Histogram

KINDS = ["histogram", "kernel", "mixture", "auto"]
RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b"], 150)
COLUMNS = {
    "normal": np.concatenate([RNG.normal(0, 1, 150), RNG.normal(2, 0.5, 150)]),
    "bimodal": np.concatenate([RNG.choice([-4, 4], 150) + RNG.normal(0, 1, 150), RNG.normal(0, 1, 150)]),
    "skewed": RNG.lognormal(0, 1, 300),
    "whole": RNG.poisson(4, 300).astype(float),
    "tenths": np.round(RNG.normal(5, 1, 300), 1),
    "mostly zero": np.where(RNG.random(300) < 0.8, 0.0, RNG.exponential(100, 300)),
    "one class constant": np.concatenate([np.full(150, 7.0), RNG.normal(7, 1, 150)]),
    "huge": RNG.normal(size=300) * 1e300,
    "tiny": RNG.normal(size=300) * 1e-300,
    "far": 1e9 + RNG.normal(size=300),
}


def fitted(kind: str, name: str = "normal", **settings: Any) -> Any:
    return ing.NaiveBayes(numbers=kind, **settings).fit(COLUMNS[name][:, np.newaxis], Y)


def curve(model: Any) -> Any:
    if model.densities_[0].density not in ("gaussian", "constant", *KINDS):
        pytest.skip("states and formulas have tests of their own: test_states, test_positive")
    parameters = model._parameters().own
    return getattr(parameters, "plain", parameters).curves[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COLUMNS)
def test_every_density_has_the_mass_one(kind, name):
    found = curve(fitted(kind, name))
    if found.kind == "gaussian":
        pytest.skip("by formula")
    # Positions from far below to far above: the tails in steps of at most 1/5,000 of the column.
    column = found.column
    middle, scale = column.size / 2, max(column.size / 2, 1.0)
    inner = np.linspace(middle - 40 * scale, middle + 40 * scale, 200_001)
    values = found.table.T  # exact within the table, where it is straight or level
    if found.kind == "histogram":
        inside = np.exp(values[:, :-1]).sum(axis=1) * found.step
    else:
        ends = np.exp(values)
        inside = (ends[:, 1:] + ends[:, :-1]).sum(axis=1) / 2 * found.step
    last = found.origin + found.step * (len(found.table) - 1)
    outer = inner[(inner < found.origin) | (inner > last)]
    outside = np.exp(found.beyond(outer)).sum(axis=0) * (inner[1] - inner[0])
    np.testing.assert_allclose(inside + outside, 1, atol=0.01)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COLUMNS)
def test_draws_have_the_distribution_they_are_drawn_from(kind, name):
    model = fitted(kind, name)
    X, y = model.sample(4000, class_="b", random_state=1)
    assert set(y) == {"b"}
    assert np.isfinite(X).all()
    found = curve(model)
    x = np.sort(X[:, 0])
    if found.kind == "gaussian":
        assert kstest(x, "norm", (found.means[1], found.deviations[1])).pvalue > 1e-4
        return
    t = found.column.positions(x)
    grid = np.linspace(-20 * found.column.size, 21 * found.column.size, 400_001)
    density = np.exp(found.log_density(found.column.values(grid))[:, 1] + found.column.unit)
    upto = np.append(0, np.cumsum((density[1:] + density[:-1]) / 2)) * (grid[1] - grid[0])
    upto += (1 - upto[-1]) / 2  # the tails beyond, half on each side
    distance = np.abs(np.interp(t, grid, upto) - (np.arange(len(t)) + 0.5) / len(t)).max()
    assert distance < 2.2 / math.sqrt(len(t)) + 0.005  # p < 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_the_arithmetic_shown_is_the_arithmetic_done(kind):
    rows = np.column_stack([COLUMNS["bimodal"], COLUMNS["whole"]])
    model = ing.NaiveBayes(numbers=kind).fit(rows, Y)
    for row in ([0.3, 4.0], [-4.0, 900.0], [1e6, -1e300], [float("nan"), 2.0]):
        shown = model.explain(row)
        logs = [sum(factor.terms[k].log for factor in (shown.prior, *shown.factors) if factor.terms) for k in range(2)]
        np.testing.assert_allclose(logs, model.predict_joint_log_proba([row])[0], rtol=1e-9)
    assert "left out" in str(model.explain([float("nan"), 2.0]))


def test_each_density_is_written_in_its_own_words():
    rows = np.array([[1.0], [2.0], [2.5], [3.5], [7.0], [8.0]])
    y = ["a", "a", "a", "b", "b", "b"]
    text = {kind: str(ing.NaiveBayes(numbers=kind).fit(rows, y).explain([2.2])) for kind in KINDS}
    assert "(2 + 1)/(3 + 10) ÷ 1" in text["histogram"]
    assert "f(2.2 | 3 + 1 values, h " in text["kernel"]
    assert "f(2.2 | one Gaussian, 3 + 1 values)" in text["mixture"]
    beyond = ing.NaiveBayes(numbers="histogram").fit(rows, y).explain([11.5])
    assert "(0 + 1)/(3 + 10) ÷ 1 ÷ 3.5²" in str(beyond)
    assert beyond.factors[0].terms[0].value == pytest.approx(1 / 13 / 3.5**2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COLUMNS)
def test_no_value_is_impossible_and_none_decides_alone_under_a_prior(kind, name):
    """Far beyond every value a smoothed density has no opinion: what is left of it are imaginary values, alike."""
    model = fitted(kind, name)
    far = np.array([[1.7e308], [-1.7e308], [1e155], [0.0], [-5e-324]])
    assert np.isfinite(model.predict_joint_log_proba(far)).all()
    np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1)
    if curve(model).kind != "gaussian" and name not in ("huge",):
        np.testing.assert_allclose(model.predict_proba([[1.7e308]])[0], 0.5, atol=0.02)


def test_without_a_prior_a_class_may_be_impossible_and_rows_that_all_are_get_an_answer():
    model = ing.NaiveBayes(numbers="histogram", prior=ing.MaximumLikelihood()).fit(
        [[0.0], [0.1], [9.0], [9.1], [0.0], [9.0]], ["a", "a", "b", "b", "a", "b"]
    )
    joint = model.predict_joint_log_proba([[0.05], [9.05], [50.0]])
    assert np.isneginf(joint[0, 1])
    assert np.isneginf(joint[1, 0])
    assert np.isneginf(joint[2]).all()
    np.testing.assert_allclose(model.predict_proba([[0.05], [50.0]]), [[1, 0], [0.5, 0.5]])
    rows = [[0.0], [1.0], [9.0], [9.5]]
    kernel = ing.NaiveBayes(numbers="kernel", prior=ing.MaximumLikelihood()).fit(rows, [0, 0, 1, 1])
    assert kernel.predict([[-2.0], [10.0]]).tolist() == [0, 1]
    assert np.isfinite(kernel.predict_joint_log_proba([[-1e6], [1e6], [4.0]])).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_just_outside_its_class_is_no_surprise(kind):
    model = fitted(kind, "normal")
    x = COLUMNS["normal"][:150].max()
    logs = model.predict_joint_log_proba([[x], [x + 0.5], [x + 3]])[:, 0]
    assert (np.diff(logs) < 0).all()
    assert logs[-1] > -15


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_one_value_says_nothing(kind):
    y = ["a"] * 3 + ["b"] * 7
    model = ing.NaiveBayes(numbers=kind).fit(np.full((10, 1), 0.1), y)
    np.testing.assert_allclose(model.predict_proba([[0.1], [5.0], [-1e300]]), [[0.3, 0.7]] * 3)
    assert "left out: no two values were seen" in str(model.explain([0.1]))
    assert model.densities_[0].density == "constant"
    assert model.sample(3, random_state=0)[0].ravel().tolist() == pytest.approx([0.1] * 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_without_a_value_takes_the_whole_columns_density(kind):
    X = np.array([[1.0, 1.0], [2.0, 2.0], [np.nan, 1.5], [np.nan, 2.5]])
    model = ing.NaiveBayes(numbers=kind).fit(X, ["a", "a", "b", "b"])
    joint = model.predict_joint_log_proba([[1.5, np.nan], [40.0, np.nan]])
    np.testing.assert_allclose(joint[:, 0], joint[:, 1])
    declared = ing.NaiveBayes(numbers=kind).partial_fit([[1.0], [2.0]], ["a", "a"], classes=["a", "z"])
    assert np.isneginf(declared.predict_joint_log_proba([[1.5]])[0, 1])  # it has no prior probability


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_value_is_left_out_and_an_empty_column_ignored(kind):
    X = np.column_stack([COLUMNS["normal"], COLUMNS["skewed"]])
    holes = X.copy()
    holes[::3, 1] = np.nan
    model = ing.NaiveBayes(numbers=kind).fit(holes, Y)
    alone = ing.NaiveBayes(numbers=kind).fit(X[:, :1], Y)
    np.testing.assert_allclose(
        model.predict_proba(np.column_stack([X[:, 0], np.full(300, np.nan)])), alone.predict_proba(X[:, :1])
    )
    with pytest.warns(UserWarning, match="no value"):
        empty = ing.NaiveBayes(numbers=kind).fit(np.column_stack([X[:, 0], np.full(300, np.nan)]), Y)
    np.testing.assert_allclose(empty.predict_proba(X), alone.predict_proba(X[:, :1]))


@pytest.mark.parametrize("kind", KINDS)
def test_infinity_is_refused_with_its_place(kind):
    model = fitted(kind)
    with pytest.raises(InputError, match="column 'x0', row 1: -inf is infinite"):
        ing.NaiveBayes(numbers=kind).fit([[1.0], [-np.inf]], ["a", "b"])
    with pytest.raises(InputError, match=r"column 'x0', row 2: -?inf is infinite"):
        model.predict([[1.0], [2.0], [np.inf]])


@pytest.mark.parametrize("kind", KINDS)
def test_twice_the_weight_is_the_row_twice(kind):
    X = COLUMNS["bimodal"][:, np.newaxis]
    twice = ing.NaiveBayes(numbers=kind).fit(np.repeat(X, 2, axis=0), np.repeat(Y, 2))
    weighted = ing.NaiveBayes(numbers=kind).fit(X, Y, sample_weight=np.full(300, 2.0))
    assert twice.tally_ == weighted.tally_
    assert twice.predict_proba(X).tobytes() == weighted.predict_proba(X).tobytes()


@pytest.mark.parametrize("weight", [1e-300, 1e-5, 0.3, 1e300])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_any_size_give_sound_answers(kind, weight):
    weights = np.where(np.arange(300) % 2, weight, 1.0)
    model = ing.NaiveBayes(numbers=kind).fit(COLUMNS["bimodal"][:, np.newaxis], Y, sample_weight=weights)
    found = model.predict_proba(np.array([[0.0], [4.0], [100.0], [1e300]]))
    assert np.isfinite(found).all()
    assert np.isfinite(list(model.densities_[0].scores.values())).all()


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_are_enough(kind, n):
    model = ing.NaiveBayes(numbers=kind).fit(np.arange(2 * n, dtype=float)[:, np.newaxis], np.repeat([0, 1], n))
    assert model.predict([[-0.5], [2 * n - 0.5]]).tolist() == [0, 1]
    one_class = ing.NaiveBayes(numbers=kind).fit(np.arange(n, dtype=float)[:, np.newaxis], [5] * n)
    assert one_class.predict([[3.0]]).tolist() == [5]


def test_columns_choose_their_densities():
    table = pa.table({"age": COLUMNS["normal"], "pay": COLUMNS["skewed"], "children": COLUMNS["whole"]})
    model = ing.NaiveBayes(numbers={"age": "kernel", "pay": "mixture"}, columns={"children": "histogram"}).fit(table, Y)
    assert [model.schema_.family(name) for name in table.column_names] == ["kernel", "mixture", "histogram"]
    assert {name: each.density for name, each in model.densities_.items()} == {
        "age": "kernel",
        "pay": "mixture",
        "children": "histogram",
    }
    assert set(model.resolution_) == {"age", "pay", "children"}
    assert model.predict_proba(table).shape == (300, 2)
    mixed = ing.NaiveBayes(numbers={"pay": "auto"}).fit(table, Y)
    assert set(mixed.resolution_) == {"pay"}
    assert mixed.densities_["age"].density == "gaussian"


def test_a_density_that_is_not_known_is_named_with_the_nearest():
    with pytest.raises(InputError, match=r"numbers='kernal' is not known; did you mean 'kernel'\?"):
        ing.NaiveBayes(numbers="kernal").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(InputError, match="was declared as 'kernal'"):
        ing.NaiveBayes(columns={0: "kernal"}).fit([[1.0], [2.0]], [0, 1])


def test_the_resolution_is_the_finest_power_of_two_that_the_range_allows():
    model = fitted("kernel")
    width = model.resolution_[0]
    x = COLUMNS["normal"]
    assert math.frexp(width)[0] == 0.5
    assert np.floor(x.max() / width) - np.floor(x.min() / width) < 2048
    assert np.floor(2 * x.max() / width) - np.floor(2 * x.min() / width) >= 2048


# "auto"


def test_auto_knows_a_gaussian_from_what_is_none():
    rng = np.random.default_rng(1)
    columns = {
        "gaussian": rng.normal(3, 2, 4000),
        "two peaks": rng.choice([-5, 5], 4000) + rng.normal(size=4000),
        "uniform": rng.uniform(0, 1, 4000),
        "exponential": rng.exponential(1, 4000),
    }
    model = ing.NaiveBayes(numbers="auto").fit(pa.table(columns), rng.integers(0, 2, 4000))
    for name, each in model.densities_.items():
        assert set(each.scores) >= {"gaussian", "histogram", "kernel", "mixture"}
        assert each.scores[each.density] > max(each.scores.values()) - 45  # 10 nats, or 1½ log n for each Gaussian more
        assert (each.scores["gaussian"] > max(each.scores.values()) - 8) == (name == "gaussian")
    assert model.densities_["two peaks"].density in ("mixture", "kernel")


def test_the_gaussians_score_is_the_likelihood_of_each_value_left_out():
    """By the definition: forget the row, and ask what is left for its density."""
    rng = np.random.default_rng(2)
    x, y = np.round(rng.normal(size=40), 2), np.repeat([0, 1], 20)
    score = ing.NaiveBayes(numbers="auto").fit(x[:, np.newaxis], y).densities_[0].scores["gaussian"]
    plain, total = ing.NaiveBayes(numbers="gaussian").fit(x[:, np.newaxis], y), 0.0
    for i in range(40):
        row, label = x[i : i + 1, np.newaxis], y[i : i + 1]
        rest = copy.deepcopy(plain).forget(row, label)
        total += rest.predict_joint_log_proba(row)[0, y[i]] - rest.class_log_prior_[y[i]]
    assert score == pytest.approx(total, abs=0.2)  # by bins, and the variance of the imaginary row is held


@pytest.mark.parametrize("alpha", [1.0, 0.25])
def test_the_histograms_score_is_the_likelihood_of_each_value_left_out(alpha):
    x, y = np.array([0.5, 1.5, 1.6, 2.5, 6.5, 7.5, 7.6]), np.array([0, 0, 0, 0, 1, 1, 1])
    model = ing.NaiveBayes(numbers="histogram", prior=ing.Lidstone(alpha)).fit(x[:, np.newaxis], y)
    found = curve(model)
    total, J, width = 0.0, found.counts.shape[1], model.resolution_[0] * found.step
    for own in found.counts:
        below = own.sum() - 1 + alpha * (J + 2)
        total += sum(n * math.log((n - 1 + alpha) / below / width) for n in own if n)
    every = found.counts.sum(axis=0)
    used = np.flatnonzero(every)
    for at, other in ((used[0], used[1]), (used[-1], used[-2])):  # alone at an end: without it, it lies beyond
        total -= 2 * math.log(abs(other - at) + 0.5) if every[at] == 1 else 0.0
    assert model.densities_[0].scores["histogram"] == pytest.approx(total)


def test_the_gaussian_that_auto_chooses_is_the_gaussian():
    X = np.random.default_rng(3).normal(size=(2000, 1))
    y = np.arange(2000) % 2
    auto, plain = ing.NaiveBayes(numbers="auto").fit(X, y), ing.NaiveBayes().fit(X, y)
    assert auto.densities_[0].density == "gaussian"
    np.testing.assert_allclose(auto.predict_joint_log_proba(X), plain.predict_joint_log_proba(X), rtol=1e-12)


# Files and pictures


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_comes_back_from_its_file_and_goes_on_learning(kind, tmp_path):
    X = np.column_stack([COLUMNS["normal"], COLUMNS["huge"], COLUMNS["tiny"]])
    model = ing.NaiveBayes(numbers=kind).fit(X, Y, sample_weight=np.linspace(0.1, 2, 300))
    ing.save(model, tmp_path / "model")
    again = ing.load(tmp_path / "model")
    assert again.tally_ == model.tally_
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert store.to_bytes(again) == store.to_bytes(model)
    assert again.partial_fit(X, Y).forget(X, Y).tally_ == model.tally_


def _forged(change) -> bytes:
    model = ing.NaiveBayes(numbers="kernel").fit([[0.5], [1.5], [2.5]], ["a", "a", "b"])
    manifest, tensors = model.state()
    tensors = {name: tensor.copy() for name, tensor in tensors.items()}
    entry = next(each for each in manifest["tally"] if each["name"] == "bins:0")
    change(entry, tensors, f"tally/{manifest['tally'].index(entry)}")
    return container.to_bytes(manifest, tensors)


FORGERIES = {
    "no exponent": lambda e, t, p: e.pop("exponent"),
    "exponent of another type": lambda e, t, p: e.update(exponent=1.5),
    "exponent beyond the doubles": lambda e, t, p: e.update(exponent=4000),
    "truth value": lambda e, t, p: e.update(exponent=True),
    "another name": lambda e, t, p: e.update(name="number:count"),
    "bins out of order": lambda e, t, p: t.update({f"{p}/bin": t[f"{p}/bin"][::-1].copy()}),
    "bins far apart": lambda e, t, p: t.update({f"{p}/bin": t[f"{p}/bin"] * 10_000}),
    "bins that are no integers": lambda e, t, p: t.update({f"{p}/bin": t[f"{p}/bin"].astype(float)}),
    "too few bins": lambda e, t, p: t.update({f"{p}/bin": t[f"{p}/bin"][:-1].copy()}),
    "negative counts": lambda e, t, p: t.update({f"{p}/sums": -t[f"{p}/sums"]}),
    "more values than rows": lambda e, t, p: t.update({f"{p}/sums": 5 * t[f"{p}/sums"]}),
    "counts beyond the doubles": lambda e, t, p: e.update(low=500),
    "an axis of another name": lambda e, t, p: e["axes"][1].update(name="value"),
    "an empty bin": lambda e, t, p: t.update({f"{p}/sums": t[f"{p}/sums"] * np.array([1, 0, 1])}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_histogram_is_refused(name):
    with pytest.raises(ModelFileError):
        store.from_bytes(_forged(FORGERIES[name]))


def test_the_unforged_file_is_not_refused():
    assert isinstance(store.from_bytes(_forged(lambda *_: None)).tally_["bins:0"], Histogram)


def test_forgetting_more_values_than_rows_is_refused():
    model = ing.NaiveBayes(numbers="auto").fit([[1.0], [1.0], [2.0]], ["a", "a", "a"])
    with pytest.raises(ForgetError):
        model.forget([[1.0], [1.0], [1.0]], ["a", "a", "a"])


@pytest.mark.parametrize("kind", ["gaussian", *KINDS])
def test_the_densities_are_drawn_over_the_values(kind, tmp_path):
    X, y = load_iris(return_X_y=True)
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    model = ing.NaiveBayes(numbers=kind).fit(pa.table(dict(zip(names, X.T))), y)
    ax = model.plot("petal length")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    assert ax.get_xlabel() == "petal length"
    low, high = ax.get_xlim()
    assert low < 1.0
    assert high > 6.9
    line = ax.get_lines()[2]
    x, density = line.get_xdata(), line.get_ydata()
    assert ((density[1:] + density[:-1]) / 2 * np.diff(x)).sum() == pytest.approx(1, abs=0.1)
    ax.figure.savefig(tmp_path / "density.png")
    assert model.plot("sepal width", ax) is ax


def test_categories_are_drawn_as_bars():
    rows = pa.table({"wind": ["weak", "strong", "weak", "none"], "age": [1.0, 2.0, 2.5, 3.0], "said": ["aa bb"] * 4})
    model = ing.NaiveBayes(columns={"said": "text"}).fit(rows, ["a", "b", "b", "a"])
    ax = model.plot("wind")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["weak", "none", "strong"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert ax.get_xlabel() == "P(value | class)"
    assert [bar.get_width() for bar in ax.containers[0]] == pytest.approx([2 / 5, 2 / 5, 1 / 5])
    assert model.plot("wind", ax) is ax
    assert model.plot().get_xlabel() == "age"
    with pytest.raises(InputError, match=r"column 'said' is words, and has nothing of its own to draw"):
        model.plot("said")
    with pytest.raises(InputError, match=r"column 'agee' is not there; did you mean 'age'\?"):
        model.plot("agee")
    many = ing.NaiveBayes(columns={"x": "category"}).fit(pa.table({"x": [k % 40 for k in range(80)]}), ["a", "b"] * 40)
    assert len(many.plot().containers[0]) == 20
    with pytest.raises(InputError, match=r"there are 2 columns; say which to draw: 'x', 'y'"):
        ing.NaiveBayes().fit(pa.table({"x": ["a", "b"], "y": ["c", "d"]}), [0, 1]).plot()


# Values very far out


TWO_PEAKS = np.concatenate([RNG.normal(-3, 1, 500), RNG.normal(3, 0.5, 500), RNG.normal(0, 1, 1000)])[:, np.newaxis]
HALVES = np.repeat([0, 1], 1000)


def remarks(model: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert model.densities_.keys() == model.densities_.keys()  # asked for twice
    assert {each.category for each in caught} <= {UserWarning}
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("far", [1e4, -1e5, 1e9, 1e30])
@pytest.mark.parametrize("shift", [0, 50])
@pytest.mark.parametrize("kind", KINDS)
def test_a_value_far_out_that_leaves_too_little_of_the_others_is_said_once(kind, shift, far):
    """The values lie in one bin or in two, with the far value and when it is forgotten."""
    model = ing.NaiveBayes(numbers=kind).fit(np.vstack([[[far]], TWO_PEAKS + shift]), np.append(0, HALVES))
    (said,) = remarks(model)
    width = f"{model.resolution_[0]:.6g}"
    assert re.fullmatch(
        rf"the bins of column 'x0' \({re.escape(width)} wide, 99.95 % of the values in [12] of them\) are too wide to "
        r"tell these values apart, because of a value very far from the others; make it missing \(NaN\), or fit again "
        r"without it",
        said,
    )
    (said,) = remarks(model.forget([[far]], [0]))
    assert "100 % of the values in" in said
    without = ing.NaiveBayes(numbers=kind).fit(np.vstack([[[np.nan]], TWO_PEAKS + shift]), np.append(0, HALVES))
    assert remarks(without) == []
    assert without.score(TWO_PEAKS + shift, HALVES) > 0.9


def test_one_sentence_names_all_the_columns():
    far = np.vstack([[[1e4] * 8], np.hstack([TWO_PEAKS] * 8)])
    (said,) = remarks(ing.NaiveBayes(numbers="histogram").fit(far, np.append(0, HALVES)))
    assert said.startswith("the bins of columns 'x0' (8 wide, 99.95 % of the values in 2 of them), 'x1' (")
    assert "'x4' (8 wide, 99.95 % of the values in 2 of them) and 3 more are too wide" in said
    some = np.column_stack([COLUMNS["normal"], np.append(1e5, COLUMNS["normal"][1:])])
    (said,) = remarks(ing.NaiveBayes(numbers="kernel").fit(pa.table({"a": some[:, 0], "b": some[:, 1]}), Y))
    assert said.startswith("the bins of column 'b' (64 wide, ")


@pytest.mark.parametrize("kind", KINDS)
def test_columns_whose_bins_do_are_not_remarked_on(kind):
    rng = np.random.default_rng(5)
    n = 2000
    rare = np.arange(n) == 7
    columns = {
        "constant": np.full(n, 3.7),
        "truth value": rng.integers(0, 2, n),
        "rarely true": rare,
        "few values": rng.choice([0.1, 0.7, 12.5], n),
        "two values far apart": rng.choice([2.0, 1e6], n),
        "ages": rng.integers(0, 100, n),
        "ages, and 999": np.where(rare, 999, rng.integers(0, 100, n)),
        "small counts, and 2000": np.where(rare, 2000, rng.poisson(1, n)),
        "years, and 0": np.where(rare, 0, rng.integers(1990, 2020, n)),
        "mostly zero": np.where(rng.random(n) < 0.97, 0.0, rng.exponential(1000, n)),
        "lognormal": rng.lognormal(0, 1.5, n),
        "student": rng.standard_t(3, n),
        "as large as doubles tell apart": 1e17 + 16 * rng.integers(0, 4, n),
        "tiny": 5e-324 * rng.integers(0, 4, n),
        "normal, and 30 deviations": np.where(rare, 30, rng.normal(size=n)),
    }
    y = np.arange(n) % 2
    for name, x in columns.items():
        assert (name, remarks(ing.NaiveBayes(numbers=kind).fit(x[:, np.newaxis].astype(float), y))) == (name, [])


def test_exact_sums_tell_one_value_from_values_in_one_bin():
    """Most values in one bin, one far out: only "auto" knows whether they are all the same."""
    y = np.append(0, HALVES)
    same = np.append(1e6 + 0.3, np.full(2000, 0.5))[:, np.newaxis]
    differ = np.append(1e6 + 0.3, np.random.default_rng(6).uniform(0.2, 0.8, 2000))[:, np.newaxis]
    assert remarks(ing.NaiveBayes(numbers="auto").fit(same, y)) == []
    assert len(remarks(ing.NaiveBayes(numbers="auto").fit(differ, y))) == 1
    assert len(remarks(ing.NaiveBayes(numbers="kernel").fit(differ, y))) == 1


@pytest.mark.parametrize("far", [1e4, -1e5, 1e9, 1e30, 1e300])
@pytest.mark.parametrize("shift", [0, 50])
@pytest.mark.filterwarnings("ignore:the bins of column")
def test_auto_needs_no_resolution_for_its_gaussian(shift, far):
    """Once the far value is forgotten the Gaussian is as good as if it had never been there, and is chosen."""
    X = TWO_PEAKS + shift
    model = ing.NaiveBayes(numbers="auto").fit(np.vstack([[[far]], X]), np.append(0, HALVES))
    if abs(far) < 1e100:  # beyond, a deviation of 1 is no double beside that of the whole column
        assert model.densities_[0].density == "gaussian"  # class 1, which has no value far out, is within a bin or two
    model.forget([[far]], [0])
    plain = ing.NaiveBayes().fit(X, HALVES)
    chosen = model.densities_[0]
    assert chosen.density == "gaussian"
    assert f"bins of {model.resolution_[0]:.6g} are too wide for another density" in chosen.detail
    np.testing.assert_allclose(model.predict_joint_log_proba(X), plain.predict_joint_log_proba(X), rtol=1e-12)
    fine = ing.NaiveBayes(numbers="auto").fit(X, HALVES).densities_[0].scores
    assert chosen.scores == {"gaussian": pytest.approx(fine["gaussian"], abs=3)}
    assert "f(1 | μ " in str(model.explain([1.0]))
    assert np.isfinite(model.sample(10, random_state=0)[0]).all()
    ax = model.plot()
    assert -20 < ax.get_xlim()[0] - shift < ax.get_xlim()[1] - shift < 20
    assert ax.get_ylim()[1] > 0.3


def test_bins_of_half_a_deviation_are_left_to_the_scores():
    model = ing.NaiveBayes(numbers="auto").fit(np.vstack([[[1e3]], TWO_PEAKS]), np.append(0, HALVES))
    assert model.resolution_[0] == 0.5
    assert model.densities_[0].density == "mixture"
    assert model.score(TWO_PEAKS, HALVES) > 0.92
    assert set(model.densities_[0].scores) == {"gaussian", "histogram", "kernel", "mixture"}


@pytest.mark.filterwarnings("ignore:the bins of column")
@pytest.mark.parametrize("n", [1, 2, 30])
def test_the_gaussians_score_by_its_sums_is_the_likelihood_of_each_value_left_out(n):
    """By the definition, in bins so wide that every value is in one of two."""
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=40 + n), np.repeat([0, 1], [40, n])
    rows = x[:, np.newaxis]
    model = ing.NaiveBayes(numbers="auto").fit(np.vstack([[[1e12]], rows]), np.append(0, y)).forget([[1e12]], [0])
    total = 0.0
    for i in range(len(x)):
        rest = np.arange(len(x)) != i
        own = x[rest & (y == y[i])] if n > 1 or y[i] == 0 else x  # one value alone has the column's mean,
        deviation = np.std(own) if len(own) > 1 else np.std(x)  # and what is left of two its deviation
        total += -np.log(deviation) - 0.5 * np.log(2 * np.pi) - 0.5 * ((x[i] - own.mean()) / deviation) ** 2
    assert model.densities_[0].scores["gaussian"] == pytest.approx(total, abs=1)


@pytest.mark.parametrize("kind", ["kernel", "mixture"])
def test_symmetric_values_give_symmetric_answers(kind):
    for rows, y in (([1.0, 2.0], [0, 1]), ([1.0, 2.0, 5.0, 6.0], [0, 0, 1, 1]), ([0.0, 3.0, 4.0, 7.0], [0, 1, 0, 1])):
        x = np.array(rows)[:, np.newaxis]
        found = ing.NaiveBayes(numbers=kind).fit(x, y).predict_proba(x)
        np.testing.assert_allclose(found, found[::-1, ::-1], atol=0.005)


def test_the_quantiles_of_bins_are_symmetric_and_lie_between_the_values():
    column = Column("x", 0, 0, np.ones(1), np.zeros((1, 10)), ing.Laplace())
    for counts, shares, expected in (
        ([1, 0, 0, 0, 0, 0, 0, 0, 0, 1], (0.5,), [5.0]),
        ([0, 0, 1, 0, 0, 0, 0, 0, 0, 0], (0.25, 0.5, 0.75), [2.25, 2.5, 2.75]),
        ([0, 4, 0, 0, 0, 0, 0, 0, 4, 0], (0.5,), [5.0]),
        ([1] * 10, (0.1, 0.25, 0.9), [1.0, 2.5, 9.0]),
    ):
        found = column.quantiles(np.array([counts], float), shares)[0]
        np.testing.assert_allclose(found, expected)
        mirrored = column.quantiles(np.array([counts[::-1]], float), tuple(1 - share for share in shares))[0]
        np.testing.assert_allclose(10 - mirrored, found)


# Which column to draw


def test_a_column_is_drawn_by_its_name_its_place_or_what_messages_call_it():
    X = np.column_stack([COLUMNS["normal"], COLUMNS["skewed"]])
    array = ing.NaiveBayes(numbers="kernel").fit(X, Y)
    assert {array.plot(column).get_xlabel() for column in (1, np.int64(1), "x1")} == {"x1"}
    named = ing.NaiveBayes(numbers="kernel").fit(pa.table({"age": X[:, 0], "pay": X[:, 1]}), Y)
    assert {named.plot(column).get_xlabel() for column in (1, "pay")} == {"pay"}
    with pytest.raises(InputError, match=r"column '1' is not there; did you mean 'x1'\?"):
        array.plot("1")
    for column in ("x2", 2, -1, [1], 1.5):
        with pytest.raises(InputError, match=rf"column {re.escape(repr(column))} is not there; known: x0"):
            array.plot(column)
    with pytest.raises(InputError, match="column 'x1' is not there"):
        named.plot("x1")


def test_the_only_column_of_numbers_need_not_be_named():
    one = ing.NaiveBayes(numbers="kernel").fit(
        pa.table({"wind": np.where(Y == "a", "x", "y"), "age": np.arange(300.0)}), Y
    )
    assert one.plot().get_xlabel() == "age"
    X = np.column_stack([COLUMNS["normal"], COLUMNS["skewed"]])
    with pytest.raises(InputError, match=r"^there are 2 columns; say which to draw: 'x0', 'x1'$"):
        ing.NaiveBayes().fit(X, Y).plot()
    with pytest.raises(InputError, match=r"^there is no column of numbers or of categories to draw$"):
        ing.NaiveBayes().fit(["fine wine", "dull day"], [0, 1]).plot()


def test_columns_that_go_together_have_no_density_of_their_own():
    X = np.column_stack([COLUMNS["normal"], COLUMNS["skewed"], COLUMNS["whole"]])
    model = ing.NaiveBayes(numbers={0: "gaussian-full", 1: "gaussian-full", 2: "kernel"}).fit(X, Y)
    assert set(model.densities_) == {2}
    assert model.plot().get_xlabel() == "x2"
    with pytest.raises(InputError, match="column 'x0' is gaussian-full, together with others, and has nothing of its"):
        model.plot(0)


@pytest.mark.parametrize("kind", ["normal", "even", "whole"])
@pytest.mark.parametrize("rows", [10, 15, 30])
def test_auto_is_no_worse_than_a_gaussian_on_few_rows(kind, rows):
    from benchmarks.few_rows import losses

    gaussian, auto = losses(kind, rows, 12, ("gaussian", "auto"))
    assert auto <= 1.03 * gaussian


def test_auto_sees_two_peaks_in_thirty_rows():
    from benchmarks.few_rows import losses

    gaussian, auto = losses("two peaks", 30, 6, ("gaussian", "auto"))
    assert auto < 0.8 * gaussian


def test_fourteen_rows_are_given_gaussians():
    from ingenuo.datasets import weather

    chosen = ing.NaiveBayes(numbers="auto").fit(weather(), "play").densities_
    assert {name: each.density for name, each in chosen.items()} == {"temperature": "gaussian", "humidity": "gaussian"}


@pytest.mark.parametrize("n", [5, 20, 100])
def test_a_mixture_has_as_many_components_as_there_are_peaks_and_one_where_rows_are_few(n):
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = np.concatenate([rng.normal(size=n), np.where(np.arange(n) % 2, 5, -5) + rng.normal(size=n)])
        model = ing.NaiveBayes(numbers="mixture").fit(x[:, np.newaxis], np.repeat([0, 1], n))
        found.append(tuple(len(each.means) for each in curve(model).components))
    assert found.count((1, 1) if n == 5 else (1, 2)) >= 9, found
