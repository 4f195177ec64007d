"""Networks whose tables back off: the arithmetic by hand, leave-one-out by refits, and the laws of learning."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingenuo import store
from ingenuo.datasets import play_tennis
from ingenuo.errors import InputError, MergeError, RefusedError
from ingenuo.models import network_classifier
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.networks import back_off
from ingenuo.networks.back_off import GRID, Node
from ingenuo.networks.network import Network

COLUMNS = ["c0", "c1", "c2", "x"]


def table(n: int = 150, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A chain of columns below the class, with missing values, and a column of numbers."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    state, columns = y, {}
    for name in COLUMNS[:-1]:
        state = np.where(rng.random(n) < 0.6, (state + rng.integers(0, 2, n)) % 3, rng.integers(0, 3, n))
        values = np.array(list("abc"), object)[state]
        values[rng.random(n) < 0.1] = None
        columns[name] = values
    numbers = y + rng.normal(size=n)
    numbers[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame({**columns, "x": numbers}), np.array(["p", "q", "r"])[y]


X, Y = table()


def model_of(structure: Any = "kdb", weighting: str | None = "levels", **parameters: Any) -> NetworkClassifier:
    return NetworkClassifier(structure, smoothing="back-off", weighting=weighting, **parameters)


def left_out_shares(counts: np.ndarray, ms: Any) -> np.ndarray:
    """For each cell of the deepest level the share of its value, one row of the cell taken off all counts."""
    found = np.full(counts.shape, np.nan)
    for cell in product(*map(range, counts.shape)):
        if counts[cell] > 0:
            rest = counts.copy()
            rest[cell] -= 1
            column = rest.sum(axis=tuple(range(rest.ndim - 1)))
            share = (column[cell[-1]] + 1) / (column.sum() + len(column))
            for j, m in enumerate(ms):
                level = rest.sum(axis=tuple(range(j + 1, rest.ndim - 1)))[cell[: j + 1]]
                share = (level[cell[-1]] + m * share) / (level.sum() + m)
            found[cell] = share
    return found


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32), shape=st.sampled_from([(2, 3), (2, 2, 3), (3, 2, 2, 2)]))
def test_m_is_the_best_of_the_grid_by_rows_left_out_one_by_one(seed, shape):
    counts = np.random.default_rng(seed).poisson(2.0, shape).astype(float)
    counts.flat[0] += 2
    node, ms = Node.of(counts), list[float]()
    for j in range(len(shape) - 1):
        level = counts.sum(axis=tuple(range(j + 1, counts.ndim - 1)))
        losses = []
        for m in GRID:
            shares = left_out_shares(level, [*ms, m])
            losses.append(-float((level[level > 0] * np.log(shares[level > 0])).sum()))
        assert losses[GRID.tolist().index(node.m[j])] == pytest.approx(min(losses), rel=1e-12)
        ms.append(float(node.m[j]))
        np.testing.assert_allclose(node.shares[j].sum(axis=-1), 1.0, rtol=1e-12)


def test_the_left_out_logs_are_those_of_a_refit_without_the_row():
    model = model_of(weighting=None).fit(X, Y)
    tables, block = model._tables(), model._rows(X)[0]["categorical"]
    codes, labels = model._matrix(block), np.searchsorted(["p", "q", "r"], Y).astype(np.int32)
    logs, base = tables.left_out(codes, labels, np.ones(len(Y)))
    for row in (0, 7, 31, 149):
        rest = np.arange(len(Y)) != row
        place = 0
        for node, (own, above) in enumerate(zip(tables.columns, tables.parents[1:], strict=True), 1):
            counts = np.zeros(own.counts[-1].shape)
            columns = [labels[rest], *(codes[rest, up - 1] for up in above[1:]), codes[rest, node - 1]]
            np.add.at(counts, tuple(columns), 1)
            column = counts.sum(axis=tuple(range(counts.ndim - 1)))
            value = codes[row, node - 1]
            for k in range(3):
                share, at = (column[value] + 1) / (column.sum() + len(column)), (k,)
                for j, m in enumerate(own.m):
                    at = (*at, codes[row, above[j] - 1]) if j else at
                    level = counts.sum(axis=tuple(range(j + 1, counts.ndim - 1)))[at]
                    share = (level[value] + m * share) / (level.sum() + m)
                    assert logs[place + j, row, k] == pytest.approx(np.log(share), rel=1e-12)
            place += len(own.m)
        rows = np.bincount(labels[rest], minlength=3) + 0.5
        np.testing.assert_allclose(base[row], np.log(rows / rows.sum()), rtol=1e-12)


def test_answers_are_the_shares_to_the_power_of_their_weights():
    model = model_of().fit(X, Y)
    tables, weights = model._tables(), model.level_weights_
    codes = model._matrix(model._rows(X)[0]["categorical"])
    expected = np.tile(np.log(tables.shares) + weights.shifts, (len(X), 1))
    for node, (own, above) in enumerate(zip(tables.columns, tables.parents[1:], strict=True), 1):
        for j, weight in enumerate(weights.weights[node - 1]):
            at = [codes[:, up - 1] for up in above[1 : j + 1]]
            expected += weight * np.log(own.shares[j][(slice(None), *at, codes[:, node - 1])]).T
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-12)


def test_what_was_never_seen_says_nothing_and_a_strange_parent_stops_at_the_level_before():
    whole, classes = X.dropna(), Y[X.notna().all(axis=1)]
    given = Network.from_arcs([("y", "c0"), ("y", "c1"), ("c0", "c1"), ("y", "c2"), ("y", "x")])
    model = model_of(given).fit(whole, classes)
    row = whole.iloc[:1].copy()
    strange, missing = row.assign(c0="z"), row.assign(c0=None)
    np.testing.assert_array_equal(model.predict_proba(strange), model.predict_proba(missing))
    tables, weights = model._tables(), model.level_weights_.weights
    codes = model._matrix(model._rows(strange)[0]["categorical"])[0]
    assert codes[0] == -1
    entry = tables.entry(2, codes[np.newaxis], np.array([1]))[0]
    assert entry == pytest.approx(sum(weights[1]) * np.log(tables.columns[1].shares[0][1, codes[1]]), rel=1e-12)
    notes = {factor.column: factor.note for factor in model.explain(strange.iloc[0].to_dict()).factors}
    assert notes["c0"] == "never seen: it says nothing"
    notes = {factor.column: factor.note for factor in model.explain(missing.iloc[0].to_dict()).factors}
    assert notes["c0"] == "never missing in the rows that were learned: it says nothing"


@pytest.mark.parametrize("structure", ["naive", "tan", "kdb"])
@pytest.mark.parametrize("weighting", [None, "levels"])
def test_an_explanation_adds_up(structure, weighting):
    model = model_of(structure, weighting).fit(X, Y)
    for place in (0, 3, 20):
        row = {name: None if pd.isna(value) else value for name, value in X.iloc[place].to_dict().items()}
        found = model.explain(row)
        terms = [found.prior, *found.factors]
        assert len(terms) == 5
        total = np.array([sum(term.terms[k].log for term in terms if term.terms) for k in range(3)])
        np.testing.assert_allclose(total, model.predict_joint_log_proba(X.iloc[[place]])[0], rtol=1e-12)
        for factor in terms:
            for term in factor.terms:  # what is written is the arithmetic
                written = (
                    term.how.replace("^", "**")
                    .replace("·", "*")
                    .replace("×", "*")
                    .replace("e**", "2.718281828459045**")
                )
                assert eval(written) == pytest.approx(term.value, rel=2e-3)


@pytest.mark.parametrize("structure", ["naive", "tan", "kdb"])
def test_rows_are_learned_forgotten_and_merged_exactly(structure):
    first, rest = slice(0, 100), slice(100, None)
    model = model_of(structure).fit(X[first], Y[first])
    before, weights = model.predict_proba(X), model.level_weights_
    whole = model_of(model.network_).fit(X, Y)  # the arcs and the cuts of the first rows
    model.partial_fit(X[rest], Y[rest])
    assert model.level_weights_ is weights
    assert model.tally_ == whole.tally_
    np.testing.assert_array_equal(model._tables().columns[0].m, whole._tables().columns[0].m)
    np.testing.assert_array_equal(model._tables().columns[-1].shares[-1], whole._tables().columns[-1].shares[-1])
    model.forget(X[rest], Y[rest])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    other = model_of(model.network_).fit(X[rest], Y[rest])
    joined = model_of(model.network_).fit(X[first], Y[first]) + other
    assert joined.tally_ == whole.tally_


def test_networks_with_other_cuts_do_not_merge():
    with pytest.raises(MergeError, match=r"structure is the same|cut alike"):
        model_of().fit(X[:70], Y[:70]).merge(model_of().fit(X[70:], Y[70:]))


def test_a_weight_counts_as_rows():
    times = np.random.default_rng(1).integers(0, 3, len(Y))
    weighted, repeated = model_of().fit(X, Y, times), model_of().fit(X.loc[X.index.repeat(times)], np.repeat(Y, times))
    assert weighted.tally_ == repeated.tally_
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_a_file_has_the_weights_too(tmp_path):
    model = model_of().fit(X, Y)
    store.save(model, tmp_path / "m.ingenuo")
    again = store.load(tmp_path / "m.ingenuo")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert dict(again.level_weights_) == dict(model.level_weights_)
    assert again.partial_fit(X, Y).tally_ == model.partial_fit(X, Y).tally_


def test_rows_in_a_file_give_the_same_model(tmp_path):
    data = X.assign(y=Y)
    data.to_csv(tmp_path / "rows.csv", index=False)
    here, there = model_of().fit(data, "y"), model_of().fit(tmp_path / "rows.csv", "y")
    assert here.tally_ == there.tally_
    assert dict(here.level_weights_) == dict(there.level_weights_)


def test_many_rows_are_weighted_by_some_of_them(monkeypatch, tmp_path):
    big, classes = table(4000, seed=3)
    data = big.assign(y=classes)
    full = model_of().fit(data, "y")
    monkeypatch.setattr(network_classifier, "_CELLS", 1)
    some = model_of().fit(data, "y")
    assert some.tally_ == full.tally_
    assert dict(some.level_weights_) != dict(full.level_weights_)
    assert np.abs(some.predict_proba(big) - full.predict_proba(big)).mean() < 0.03
    data.to_csv(tmp_path / "rows.csv", index=False)
    there = model_of().fit(tmp_path / "rows.csv", "y")
    assert there.tally_ == full.tally_
    assert np.abs(there.predict_proba(big) - full.predict_proba(big)).mean() < 0.03


def test_a_row_never_changes_what_is_said_of_it_where_it_was_left_out():
    folds = np.arange(len(Y)) % 3
    found = model_of()._fit_with_folds(X, Y, None, folds)
    changed, classes = X.copy(), Y.copy()
    changed.loc[4, ["c0", "c2"]], classes[4] = ["a", "b"], "q" if Y[4] == "p" else "p"
    again = model_of()._fit_with_folds(X, classes, None, folds)
    np.testing.assert_array_equal(found[4], again[4])
    values = model_of()._fit_with_folds(changed, Y, None, folds)
    same = (folds == folds[4]) & (np.arange(len(Y)) != 4)
    np.testing.assert_array_equal(found[same], values[same])
    assert found.shape == (len(Y), 3)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0, rtol=1e-9)


def test_counted_again_the_weights_stay():
    from ingenuo.rows.rows import rows_of

    model = model_of().fit(X[:60], Y[:60])
    weights, cuts = model.level_weights_, model.cuts_
    model._count_again(rows_of(X, Y))
    assert model.level_weights_ is weights
    assert model.cuts_ == cuts
    assert model.tally_["class"].sums.floats().sum() == len(Y)
    assert model._is_tally


def test_the_network_has_the_smoothed_tables_without_what_is_missing():
    model = model_of().fit(X, Y)
    network = model.network_
    assert set(network.states["c0"]) == {"a", "b", "c"}
    for name, own in network.tables.items():
        np.testing.assert_allclose(np.asarray(own).sum(axis=-1), 1.0, rtol=1e-12, err_msg=name)
    drawn, classes = model.sample(20, random_state=0)
    assert drawn.num_rows == 20
    assert set(classes) <= {"p", "q", "r"}


def test_parents_that_make_large_tables_are_passed_over(monkeypatch):
    monkeypatch.setattr(back_off, "CELLS", 100)
    small = model_of().fit(X, Y)
    assert max(table.sums.floats().size for name, table in small.tally_.items() if name.startswith("node:")) <= 100
    assert len(small.predict(X)) == len(Y)


def test_numbers_are_cut_into_tenths_and_few_values_each_for_itself():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"many": rng.normal(size=500), "few": rng.choice([1.0, 2.5, 7.0], 500, p=[0.9, 0.05, 0.05])})
    model = model_of("naive", None).fit(data, rng.integers(0, 2, 500))
    assert [len(cuts.points) for cuts in model.cuts_.values()] == [9, 2]
    counts = model.tally_["node:many"].sums.floats().sum(axis=0)
    assert counts.min() == counts.max() == 50


def test_small_and_odd_tables_are_learned():
    days = play_tennis()
    assert model_of().fit(days, "Play").predict(days)[0] in ("Yes", "No")
    one = pd.DataFrame({"a": ["u", "v"] * 5, "none": [np.nan] * 10, "one": ["k"] * 10})
    model = model_of(columns={"none": "number"}).fit(one, [0, 1] * 5)
    assert model.predict(one).tolist() == [0, 1] * 5
    names = pd.DataFrame({"id": [f"r{i}" for i in range(200)], "a": ["u", "v"] * 100})
    with pytest.warns(UserWarning, match="names the"):
        wide = model_of(columns={"id": "category"}).fit(names, [0, 1] * 100)
    assert wide.predict(names).tolist() == [0, 1] * 100


def test_weights_show_themselves():
    model = model_of().fit(X, Y)
    assert list(model.level_weights_) == COLUMNS
    assert all(weight >= 0 for of in model.level_weights_.values() for weight in of.values())
    assert str(model.level_weights_).splitlines()[0].split() == ["column", "given", "weight"]
    with pytest.raises(RefusedError, match="weighs no levels"):
        _ = model_of(weighting=None).fit(X, Y).level_weights_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"smoothing": "backoff"}, "smoothing"),
        ({"smoothing": "back-off", "weighting": "level"}, "weighting"),
        ({"weighting": "levels"}, "smoothing='back-off'"),
        ({"structure": "aode", "smoothing": "back-off"}, "take 'kdb', 'tan' or 'naive'"),
        ({"structure": "hill-climb", "smoothing": "back-off"}, "take 'kdb', 'tan' or 'naive'"),
        ({"structure": "chow-liu", "smoothing": "back-off"}, "take 'kdb', 'tan' or 'naive'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        NetworkClassifier(**parameters).fit(X, Y)


def test_a_network_whose_class_is_not_above_all_is_refused():
    given = Network.from_arcs([("class", "c0"), ("c0", "c1"), ("class", "c2"), ("class", "x")])
    with pytest.raises(InputError, match="look at 'c1': the class is not a parent of it"):
        model_of(given).fit(X, Y)
