"""Boosted trees: the kernels against plain Python, honest folds, explanations that add up, files, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.errors import InputError, RefusedError
from ingenuo.kernels.trees import UNSEEN, Growth, Trees, boost
from ingenuo.models.boosted_trees import BoostedTrees
from ingenuo.models.folds import stratified_folds

WIDTHS = [1, 3]


def xor(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.choice(["u", "v", "w"], n)})
    y = np.where((X.a > 0.3) ^ (X.c == "v"), "yes", "no")
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    X.loc[rng.random(n) < 0.1, "c"] = None
    return X, y


def walk(trees, t, codes, i):
    """The nodes on a row's way through a tree."""
    way, split = [0], trees.splits[t]
    while split[way[-1]] >= 0:
        own = split[way[-1]]
        code = codes[own >> 17, i]
        if code == UNSEEN:
            break
        test = code == (own & 65535) if own >> 16 & 1 else code <= (own & 65535)
        way.append(2 * way[-1] + (1 if test else 2))
    return way


def some_trees(width, rounds=7, depth=3, n=300, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, (4, n)).astype(np.uint16)
    labels = ((codes[0] > 2) * 1 + (codes[1] == 3)).astype(np.int32) % max(width, 2)
    cards, kinds = np.full(4, 6), np.array([0, 1, 0, 1], np.uint8)
    scores = np.zeros((n, width))
    growth = Growth(depth, 0.3, 1.0, 0.8, 0.7, 2.0, 5)
    return boost(codes, cards, kinds, labels, None, growth, 0, rounds, scores), codes, labels, scores


@pytest.mark.parametrize("width", WIDTHS)
def test_trees_answer_as_a_walk_through_them(width):
    trees, codes, _, scores = some_trees(width)
    codes = codes.copy()
    codes[1, ::7] = UNSEEN
    found = np.zeros_like(scores)
    trees.add(codes, found)
    base, moves = trees.trace(codes)
    for i in range(40):
        ways = [walk(trees, t, codes, i) for t in range(len(trees))]
        wanted = sum(trees.values[t, way[-1]] for t, way in enumerate(ways))
        np.testing.assert_allclose(found[i], wanted, atol=1e-12)
        np.testing.assert_allclose(base + moves[i].sum(axis=0), wanted, atol=1e-12)


@pytest.mark.parametrize("width", WIDTHS)
def test_growing_goes_on_where_it_was_and_adds_to_the_scores(width):
    trees, codes, labels, scores = some_trees(width)
    again = np.zeros_like(scores)
    trees.add(codes, again)
    np.testing.assert_allclose(scores, again, atol=1e-12)
    losses = trees.losses(codes, labels, None, np.zeros_like(scores))
    full = np.hstack([np.zeros_like(scores), scores]) if width == 1 else scores
    logs = full - np.log(np.exp(full).sum(axis=1, keepdims=True))
    assert losses[-1] == pytest.approx(-logs[np.arange(len(labels)), labels].sum())
    assert (np.diff(losses) < 0).all()  # each tree fits the rows better


def test_a_leafs_value_is_its_gradient_by_its_curvature():
    codes = np.array([[1, 1, 1, 2, 2, 2, 2]], np.uint16)
    labels = np.array([1, 1, 0, 0, 0, 0, 1], np.int32)
    growth = Growth(1, 0.5, 2.0, 1.0, 1.0, 1.0, 0)
    trees = boost(codes, np.array([3]), np.zeros(1, np.uint8), labels, None, growth, 0, 1, np.zeros((7, 1)))
    assert trees.splits[0].tolist() == [1, -1, -1]  # column 0, at most 1
    left, right = (-0.5 * (n * 0.5 - yes) / (n * 0.25 + 2.0) for n, yes in ((3, 2), (4, 1)))
    np.testing.assert_allclose(trees.values[0, 1:, 0], [left, right], rtol=1e-12)


def test_weights_count_as_repeated_rows_in_a_tree():
    _, codes, labels, _ = some_trees(3)
    weights = np.random.default_rng(1).integers(1, 4, codes.shape[1]).astype(float)
    again = np.repeat(np.arange(codes.shape[1]), weights.astype(int))
    growth = Growth(3, 0.3, 1.0, 1.0, 1.0, 2.0, 5)
    cards, kinds = np.full(4, 6), np.array([0, 1, 0, 1], np.uint8)
    one = boost(codes, cards, kinds, labels, weights, growth, 0, 4, np.zeros((len(labels), 3)))
    many = boost(codes[:, again], cards, kinds, labels[again], None, growth, 0, 4, np.zeros((len(again), 3)))
    assert (one.splits == many.splits).all()
    np.testing.assert_allclose(one.values, many.values, atol=1e-12)


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
