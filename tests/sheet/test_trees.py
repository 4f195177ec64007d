"""Boosted trees answer in JavaScript with Python's bits: cuts, values, what is missing and what was never seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.kernels.trees import Trees
from ingenuo.models import boosted_trees
from ingenuo.sheet import sheet

from .factors import assert_alone_as_among_others, assert_same_lines
from .node import assert_same_bits
from .test_linear import quietly
from .test_sheet import NUMBERS, harsh_rows, table


@pytest.mark.parametrize("classes", [2, 5])
def test_trees_have_the_same_bits(classes: int) -> None:
    frame, y = table(200, classes)
    whole = frame.assign(bell=frame["bell"].fillna(0.0))  # where what is missing was never seen
    cases = []
    for own in (frame, whole):
        for more in ({}, {"depth": 1, "bins": 3}, {"depth": 6, "max_trees": 30, "min_rows": 1.0}):
            model = quietly(ing.BoostedTrees({"code": "category"}, **more), own, y)
            cases.append((str(model), model, harsh_rows(own, 40)))
    assert_same_bits(cases)


def test_numbers_at_the_cuts_have_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    x = rng.choice([*NUMBERS, *np.nextafter(1.0, [0.0, 2.0]), *rng.normal(size=30)], 400)
    frame = pd.DataFrame({"x": x, "z": np.where(rng.random(400) < 0.1, np.nan, np.sign(x))})
    model = quietly(ing.BoostedTrees(min_rows=1.0), frame, np.where(x > rng.normal(size=400) * 0.1, "up", "down"))
    points = model._coding.columns[0].points
    assert points is not None
    assert len(points) > 20
    near = np.unique([*points, *np.nextafter(points, np.inf), *np.nextafter(points, -np.inf), *NUMBERS])
    rows = [{"x": float(each)} for each in near if np.isfinite(each)]
    assert_same_bits([("cuts", model, rows)])


def test_rare_values_of_a_category_of_many_have_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boosted_trees, "_MOST_VALUES", 6)  # those beyond count as missing
    rng = np.random.default_rng(0)
    codes = np.concatenate([rng.integers(0, 6, 300), [6, 7, 8, 9]])
    frame = pd.DataFrame({"who": [f"n° {code}" for code in codes], "x": rng.normal(size=len(codes))})
    frame.loc[:20, "who"] = None
    model = quietly(ing.BoostedTrees(max_trees=20), frame, np.where(codes % 2, "odd", "even"))
    assert len(model._coding.columns[0].values) == 6
    rows = [{"who": f"n° {code}", "x": 0.5} for code in (0, 5, 6, 9, 5000)] + [{}, {"x": 1.0}]
    assert_same_bits([("many", model, rows)])


def test_a_table_of_which_nothing_follows_has_a_tree_of_roots() -> None:
    frame = pd.DataFrame({"same": np.ones(60), "one": ["a"] * 60})
    model = quietly(ing.BoostedTrees(), frame, ["u", "v"] * 30)
    assert_same_bits([("nothing", model, [{}, {"same": 1.0, "one": "a"}, {"same": 2.0, "one": "b"}])])


def test_compact_trees_keep_what_rows_can_come_to() -> None:
    frame, y = table(150, 3)
    trees: Trees = quietly(ing.BoostedTrees({"code": "category"}), frame, y)._trees
    found = trees.compact()
    assert found["nodes"].sum() == len(found["splits"]) == len(found["values"])
    assert (found["nodes"] == 1 + 2 * (trees.splits >= 0).sum(axis=1)).all()
    for splits, values, size, whole, every in zip(
        *(np.split(found[name], found["nodes"].cumsum()[:-1]) for name in ("splits", "values")),
        found["nodes"].tolist(), trees.splits, trees.values, strict=True,
    ):  # fmt: skip
        places, below = {0: 0}, 1
        for x in range(size):  # its place in a full tree
            assert splits[x] == whole[places[x]]
            np.testing.assert_array_equal(values[x], every[places[x]])
            if splits[x] >= 0:
                places |= {below: 2 * places[x] + 1, below + 1: 2 * places[x] + 2}
                below += 2


@pytest.mark.parametrize("classes", [2, 5])
def test_lines_of_trees_are_those_of_explain(classes: int) -> None:
    frame, y = table(150, classes)
    model = quietly(ing.BoostedTrees({"code": "category"}), frame, y)
    assert_same_lines(model, harsh_rows(frame, 20))


def test_a_table_is_answered_as_its_rows_are() -> None:
    frame, y = table(150, 3)
    bells = frame[["bell", "skew", "flag"]]
    assert_alone_as_among_others(quietly(ing.BoostedTrees(), bells, y), harsh_rows(bells, 30), bells)


def test_a_sheet_says_between_what_numbers_lie() -> None:
    frame, y = table(150, 2)
    bell = frame["bell"].dropna()
    for model in (
        ing.BoostedTrees({"code": "category"}), ing.SoftmaxRegression({"code": "category"}, l2="auto"),
        ing.GaussianDiscriminant("regularised", columns={"code": "category"}),
    ):  # fmt: skip
        columns = {each["name"]: each for each in sheet(quietly(model, frame, y)).document()["columns"]}
        low, high = columns["bell"]["low"], columns["bell"]["high"]
        assert low < bell.median() < high
        assert bell.max() - bell.min() > (high - low) / 3
        assert columns["code"]["values"] == [1, 2, 30]
