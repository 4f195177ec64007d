"""Numbers as they come: a Gaussian, but states where whole numbers hold many of the rows."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import ingenuo as ing
from ingenuo.cli import main
from ingenuo.datasets import weather
from ingenuo.explanation.evidence import reasons
from ingenuo.explanation.explain import column_view
from ingenuo.families.states import whole_name
from ingenuo.tally.labels import labels_of


def flags(n: int = 400, seed: int = 0):
    """One real column, eight flags that are nearly always 0, an amount that is mostly 0, and a small count."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    amount = np.where(rng.random(n) < 0.9 - 0.2 * y, 0.0, np.exp(rng.normal(6 + y, 1, n)))
    seldom = (rng.random((n, 8)) < 0.01 + 0.03 * y[:, np.newaxis]).astype(float)
    return np.column_stack([rng.normal(2 * y, 1.0), seldom, amount, rng.poisson(2 + y)]), y


def test_flags_and_amounts_do_not_ruin_the_model():
    X, y = flags()
    rows, others = (X[:200], y[:200]), (X[200:], y[200:])
    model = ing.NaiveBayes().fit(*rows)
    kinds = [each.density for each in model.densities_.values()]
    assert kinds == ["gaussian", *["states"] * 8, "gaussian and states", "states"]
    found = ing.evaluate(model, *others)
    bell = ing.evaluate(ing.NaiveBayes(prior=ing.Laplace(variance_rows=0), numbers="gaussian").fit(*rows), *others)
    assert float(found["accuracy"]) > float(bell["accuracy"])
    assert float(found["log_loss"]) < 0.4 < float(bell["log_loss"])


def test_the_schema_says_what_a_column_was_given_and_why():
    X, y = flags()
    said = {name: why for name, _, _, why in ing.NaiveBayes().fit(X, y).schema_.rows()}
    assert said["x0"] == "float64 values"
    assert said["x1"] == "float64 values; states: 2 different values, 0 to 1"
    share = 100 * np.mean(X[:, 9] == 0)
    assert said["x9"] == (
        f"float64 values; gaussian and states: 0 holds {share:.3g} % of the rows, the others have a Gaussian"
    )
    forgotten = ing.NaiveBayes().fit(X, y).forget(X[X[:, 9] == 0], y[X[:, 9] == 0])
    forgotten.predict(X[:1])
    assert {name: why for name, _, _, why in forgotten.schema_.rows()}["x9"] == "float64 values"


def test_the_arithmetic_of_a_state_and_of_the_others():
    X, y = flags()
    model = ing.NaiveBayes().fit(X, y)
    zero, other = X[np.argmax(X[:, 9] == 0)], X[np.argmax(X[:, 9] > 0)]
    for k in (0, 1):
        own = X[y == k, 9]
        some = own[own > 0]
        shown = model.explain(zero).to_dict()["factors"][9]["terms"][k]
        assert shown["how"] == f"({len(own) - len(some)} + 1)/({len(own)} + 2)"
        assert shown["value"] == pytest.approx((len(own) - len(some) + 1) / (len(own) + 2), rel=1e-12)
        all_some = X[X[:, 9] > 0, 9]
        deviation = math.sqrt((len(some) * some.var() + all_some.var()) / (len(some) + 1))
        density = math.exp(-0.5 * ((other[9] - some.mean()) / deviation) ** 2) / (deviation * math.sqrt(2 * math.pi))
        shown = model.explain(other).to_dict()["factors"][9]["terms"][k]
        assert shown["how"].startswith(f"({len(some)} + 1)/({len(own)} + 2) · f({other[9]:.6g} | μ ")
        assert shown["value"] == pytest.approx((len(some) + 1) / (len(own) + 2) * density, rel=1e-9)
        assert model.explain(zero).to_dict()["factors"][1]["terms"][k]["how"].endswith(f"/({len(own)} + 2)")
    never = zero.copy()
    never[10] = 999
    assert model.explain(never).to_dict()["factors"][10]["note"] == "never seen: left out"


def test_what_is_explained_is_what_is_answered():
    X, y = flags()
    X[3, 9] = X[4, 1] = np.nan
    model = ing.NaiveBayes().fit(X, y)
    for row in (0, 1, 3, 4, int(np.argmax(X[:, 9] > 0))):
        shown = model.explain(X[row]).to_dict()["product"]
        total = sum(shown.values())
        np.testing.assert_allclose(
            model.predict_proba(X[row : row + 1])[0], [p / total for p in shown.values()], rtol=1e-9
        )


def test_the_reasons_of_states_are_those_of_the_explanation():
    X, y = flags()
    X[3, 9] = X[4, 1] = np.nan
    X[5, 10], X[6, 10], X[7, 9] = 40.0, 3.5, 512.25
    model = ing.NaiveBayes().fit(np.delete(X, [5, 6], axis=0), np.delete(y, [5, 6]))
    for row, found in enumerate(reasons(model, X[:60], 11)):
        wanted = dict(model.explain(X[row]).reasons(11))
        assert dict(found) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert {"x1 = 0", "x9 = 0"} <= {name for name, _ in reasons(model, X[:1], 11)[0]}


def test_states_are_shown_as_whole_numbers_in_their_order():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    model = ing.NaiveBayes().fit(pa.table({"visits": rng.poisson(3 + 2 * y).astype(float)}), y)
    view = column_view(model, "visits", 6)
    assert list(view.values) == ["1", "2", "3", "4", "5", "6"]
    assert [str(each) for each in column_view(model, "visits").values] == sorted(
        column_view(model, "visits").values, key=int
    )


def test_a_state_beside_a_gaussian_is_shown_and_drawn():
    X, y = flags()
    model = ing.NaiveBayes().fit(X, y)
    view = column_view(model, "x9")
    assert view.values == ("share of 0", "mean of the others", "standard deviation of the others")
    own = X[y == 1, 9]
    np.testing.assert_allclose(view.numbers[0, 1], (np.sum(own == 0) + 1) / (len(own) + 2))
    np.testing.assert_allclose(view.numbers[1, 1], own[own > 0].mean())
    ax = model.plot("x9")
    (scale,) = [each for each in ax.figure.axes if each is not ax]
    assert [bar.get_height() for bar in scale.patches] == pytest.approx(view.numbers[0].tolist())
    drawn = np.array([line.get_ydata() for line in ax.lines])
    assert 0 < drawn.max() < 0.01  # the densities of the others: the mass at 0 is none
    bars = model.plot("x10")
    named = [label.get_text() for label in bars.get_yticklabels()]
    assert named == [str(value) for value in np.unique(X[:, 10]).astype(int).tolist()]
    assert len(bars.figure.axes) == 1


def test_numbers_that_are_no_state_are_counted_in_a_note(tmp_path):
    X, y = flags()
    rows = pa.table({"flag": X[:, 1], "amount": X[:, 9], "visits": X[:, 10]})
    ing.save(ing.NaiveBayes().fit(rows, y), tmp_path / "model.ingenuo")
    (tmp_path / "new.csv").write_text("flag,amount,visits\n0,7.5,40\n2,0,3.5\n,,40\n1,1,3\n")
    found = CliRunner().invoke(main, ["predict", str(tmp_path / "model.ingenuo"), str(tmp_path / "new.csv")])
    assert found.exit_code == 0
    assert found.stderr.splitlines() == [
        "note: column 'flag': 1 row has a value that the model never saw (2)",
        "note: column 'visits': 3 rows have a value that the model never saw (40.0, 3.5)",
    ]


def test_a_column_without_whole_numbers_is_counted_as_before():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 3, 300)
    found, bell = ing.NaiveBayes().fit(X, y), ing.NaiveBayes(numbers="gaussian").fit(X, y)
    assert found.tally_ == bell.tally_
    np.testing.assert_array_equal(found.predict_proba(X), bell.predict_proba(X))


def test_rounded_measurements_and_few_rows_stay_bells():
    days = ing.NaiveBayes().fit(weather(), "play")
    assert {each.density for each in days.densities_.values()} == {"gaussian"}
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    flowers = ing.NaiveBayes().fit(X, y)
    assert {each.density for each in flowers.densities_.values()} == {"gaussian"}
    assert "states" not in str(flowers.schema_).replace("gaussian-or-states", "")


def test_a_value_far_from_zero_may_hold_most_rows():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 1000)
    x = np.where(rng.random(1000) < 0.95, 999.0, rng.normal(6, 1, 1000))
    chosen = ing.NaiveBayes().fit(x[:, np.newaxis], y).densities_[0]
    assert chosen.density == "gaussian and states"
    assert chosen.detail.startswith("999 holds 9")
    assert chosen.scores["gaussian and 1 state"] > chosen.scores["gaussian"]


def test_one_value_in_all_rows_says_nothing():
    X = np.column_stack([np.full(30, 7.0), np.arange(30) * 1.37])
    model = ing.NaiveBayes().fit(X, np.arange(30) % 2)
    assert model.densities_[0].density == "gaussian"
    with_it, without = model.predict_proba(X), ing.NaiveBayes().fit(X[:, 1:], np.arange(30) % 2).predict_proba(X[:, 1:])
    np.testing.assert_allclose(with_it, without, rtol=1e-12)


values = st.sampled_from([0.0, -0.0, 1.0, 2.0, 1000.0, -1000.0, 1001.0, 0.5, 1e300, 5e-324, math.nan])
tables = st.lists(st.tuples(values, values, st.sampled_from("ab"), st.sampled_from([0.25, 1.0, 3.0])), min_size=4)


@settings(deadline=None, max_examples=30)
@given(tables, st.integers(1, 3), st.booleans())
def test_tallies_add_and_subtract_and_do_not_depend_on_the_way(rows, cut, weighted):
    X, y = np.array([row[:2] for row in rows]), np.array([row[2] for row in rows])
    w = np.array([row[3] for row in rows]) if weighted else np.ones(len(y))
    kinds = {0: "number", 1: "number"}
    whole = ing.NaiveBayes(kinds).fit(X, y, sample_weight=w if weighted else None)
    one, two = (ing.NaiveBayes(kinds).fit(X[s], y[s], sample_weight=w[s]) for s in (slice(cut), slice(cut, None)))
    assert (one + two).tally_ == whole.tally_
    assert whole.tally_ - two.tally_ == one.tally_
    assert ing.NaiveBayes(kinds).fit(X[::-1], y[::-1], sample_weight=w[::-1]).tally_ == whole.tally_
    for j in range(2):
        for value in (0, 1, 2, 1000, -1000):
            for label in set(y):
                wanted = w[(X[:, j] == value) & (y == label)].sum()
                cell = labels_of([label]), np.array([value])
                found = (
                    whole.tally_.over(whole_name(j), *cell).floats() if whole_name(j) in whole.tally_ else np.zeros(1)
                )
                assert found.sum() == wanted
        assert whole_name(j) not in whole.tally_ or 1001 not in whole.tally_.labels(whole_name(j), 1)


def test_every_door_gives_the_same_states(tmp_path):
    X, y = flags(3000)
    table = pa.table({**{f"c{j}": X[:, j] for j in range(X.shape[1])}, "y": [f"class {k}" for k in y]})
    here = ing.NaiveBayes().fit(table, "y")
    import pyarrow.parquet as pq

    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=700)
    read = ing.NaiveBayes().fit(ing.read(tmp_path / "rows.parquet"), "y")
    assert read.tally_ == here.tally_
    ing.save(here, tmp_path / "model.ingenuo")
    loaded = ing.load(tmp_path / "model.ingenuo")
    assert loaded.tally_ == here.tally_
    np.testing.assert_array_equal(loaded.predict_proba(table), here.predict_proba(table))


def test_rows_left_out_are_those_of_a_model_without_them():
    X, y = flags(60, seed=5)
    found = ing.cross_validate(ing.NaiveBayes(), X, y, folds="leave-one-out", verbose=False)
    for row in (0, 7, 31):
        rest = np.delete(np.arange(60), row)
        wanted = ing.NaiveBayes().fit(X[rest], y[rest]).predict_proba(X[row : row + 1])[0]
        np.testing.assert_allclose(found.probabilities[row], wanted, rtol=1e-9)


def test_values_that_are_drawn_are_states_or_others():
    X, y = flags()
    model = ing.NaiveBayes().fit(X, y)
    drawn, _ = model.sample(2000, random_state=0)
    drawn = np.asarray(drawn)
    assert set(np.unique(drawn[:, 1])) <= {0.0, 1.0}
    assert abs(np.mean(drawn[:, 9] == 0) - np.mean(X[:, 9] == 0)) < 0.05


def test_rows_that_were_never_learned_are_refused():
    X, y = flags(100)
    model = ing.NaiveBayes().fit(X, y)
    with pytest.raises(ing.errors.ForgetError, match="only rows that were learned"):
        model.forget([[0.1, *[1.0] * 8, 0.0, 5.0]] * 60, [0] * 60)


def test_the_likelihood_and_the_parameters_are_those_of_the_states():
    X, y = flags()
    model = ing.NaiveBayes().fit(X, y)
    found = model.predict_joint_log_proba(X)[np.arange(len(y)), y].sum()
    assert model.log_likelihood_ == pytest.approx(found, rel=1e-9)
    counts = len(np.unique(X[:, 10]))
    # The class; mean and variance; eight flags; a share beside mean and variance; the states of a count.
    assert model.n_parameters_ == 1 + 2 * (2 + 8 * 1 + 3 + counts - 1)


def test_one_class_and_many_have_the_same_states_in_any_width():
    rng = np.random.default_rng(4)
    for K in (1, 2, 3, 5, 9):
        y = np.arange(300) % K
        X = np.column_stack([rng.integers(0, 3, 300), np.where(rng.random(300) < 0.5, 7.0, rng.normal(0, 9, 300))])
        X[5, 0] = X[6, 1] = np.nan
        model = ing.NaiveBayes().fit(X, y)
        assert [each.density for each in model.densities_.values()] == ["states", "gaussian and states"]
        new = np.vstack([X, [[1e-30, 7 + 1e-12], [1.5, -0.0], [99, 7e300]]])
        joint = model.predict_joint_log_proba(new)
        for i in [*range(12), 300, 301, 302]:
            shown = model.explain(new[i])
            total = np.array([term.log for term in shown.prior.terms])
            for factor in shown.factors:
                total = total + np.array([term.log for term in factor.terms]) if factor.terms else total
            assert total.tobytes() == joint[i].tobytes()
        with pytest.raises(ing.errors.InputError, match="column 'x1', row 1: inf is infinite"):
            model.predict([[0.0, 1.0], [0.0, np.inf]])
