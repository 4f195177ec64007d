"""Boosted trees: honest folds, explanations that add up, files, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.errors import InputError, RefusedError
from ingenuo.kernels.trees import UNSEEN, Trees
from ingenuo.models.boosted_trees import BoostedTrees
from ingenuo.models.folds import stratified_folds


def xor(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.choice(["u", "v", "w"], n)})
    y = np.where((X.a > 0.3) ^ (X.c == "v"), "yes", "no")
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    X.loc[rng.random(n) < 0.1, "c"] = None
    return X, y


def test_what_no_single_column_tells_is_learned_and_explained():
    X, y = xor()
    model = BoostedTrees().fit(X, y)
    assert model.score(*xor(seed=1)) > 0.9
    row = {"a": 1.0, "b": None, "c": "v"}
    shown = model.explain(row).to_dict()
    logs = np.array([np.log(shown["product"][name]) for name in ("no", "yes")])
    posterior = np.exp(logs - np.logaddexp(*logs))
    frame = pd.DataFrame({"a": [1.0], "b": [np.nan], "c": ["v"]})
    np.testing.assert_allclose(posterior, model.predict_proba(frame)[0], rtol=1e-9)
    assert {factor["column"] for factor in shown["factors"]} == {"a", "b", "c"}


def test_a_row_never_shapes_the_answer_to_itself():
    X, y = xor(150)
    folds = stratified_folds((y == "yes").astype(int), 3)
    before = BoostedTrees(max_trees=1)._fit_with_folds(X, y, None, folds)
    other = y.copy()  # with one tree, no number of trees is chosen by them
    held = np.flatnonzero(folds == 0)
    other[held] = np.where(other[held] == "yes", "no", "yes")
    after = BoostedTrees(max_trees=1)._fit_with_folds(X, other, None, folds)
    np.testing.assert_array_equal(before[held], after[held])
    np.testing.assert_allclose(np.exp(before).sum(axis=1), 1)


def test_values_never_seen_end_the_way():
    X, y = xor()
    model = BoostedTrees().fit(X[["a", "c"]], y)
    odd = pd.DataFrame({"a": [np.nan, 1.0], "c": ["v", "never"]})
    assert (model._coding.encode(model._rows(odd)[0], 2).diagonal() == UNSEEN).all()
    assert np.isfinite(model.predict_log_proba(odd)).all()


def test_the_same_rows_give_the_same_bits_on_any_number_of_threads():
    from ingenuo.kernels.threads import limited

    X, y = xor()
    with limited(1):
        one = BoostedTrees().fit(X, y).predict_proba(X)
    with limited(3):
        assert (BoostedTrees().fit(X, y).predict_proba(X) == one).all()


def test_files_keep_it_and_forged_ones_are_refused(tmp_path):
    X, y = xor()
    model = BoostedTrees(max_trees=12).fit(X, y)
    ing.save(model, tmp_path / "m.ingenuo")
    again = ing.load(tmp_path / "m.ingenuo")
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert again.n_trees_ == model.n_trees_ == len(model._trees)
    trees = model._trees
    for splits in (np.where(trees.splits >= 0, trees.splits + (9 << 17), -1), np.full_like(trees.splits, 1)):
        with pytest.raises(InputError, match="splits"):
            Trees(trees.depth, splits.astype(np.int32), trees.values).check(3)


def test_many_classes_numbers_alone_and_few_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] * 2).round().astype(int) % 7
    model = BoostedTrees(max_trees=20).fit(X, y)
    assert model.predict_proba(X).shape == (300, len(set(y.tolist())))
    few = BoostedTrees().fit(X[:6], [0, 1, 0, 1, 0, 1])
    assert np.isfinite(few.predict_log_proba(X[:6])).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"depth": 0}, "depth"),
        ({"depth": 40}, "depth"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"bins": 1}, "bins"),
        ({"rows": 1.5}, "rows"),
        ({"l2": 0}, "l2"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_bad_settings_are_named(settings, words):
    with pytest.raises((InputError, ing.errors.KindError), match=words):
        BoostedTrees(**settings).fit(*xor(60))


def test_bad_input_changes_nothing():
    X, y = xor()
    model = BoostedTrees(max_trees=10).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(InputError, match="class"):
        model.fit(X, np.full(len(y), "one"))
    texts = X.assign(words=[f"a text of several words {i}, and then some more" for i in range(len(X))])
    with pytest.raises(InputError, match="is text"):
        model.fit(texts, y)
    assert (model.predict_proba(X) == before).all()
    with pytest.raises(RefusedError, match="each tree depends"):
        model.partial_fit(X, y)


def test_a_category_of_very_many_values():
    rng = np.random.default_rng(0)
    names = [f"n{i}" for i in range(1500)]
    X = pd.DataFrame({"name": names, "x": rng.normal(size=1500)})
    model = BoostedTrees({"name": "category"}, max_trees=3).fit(X, X.x > 0)
    assert model.score(X, X.x > 0) == 1.0
    assert np.isfinite(model.predict_log_proba(X.assign(name="another"))).all()
