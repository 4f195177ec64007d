"""Evaluations of which only sums are kept: the same numbers as of the rows, for any cutting, in a size of their own."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from tests.evaluation.cut_rows import Cut
from tests.evaluation.test_evaluation import judged_rows

import ingenuo as ing
from ingenuo.datasets import diabetes, weather
from ingenuo.errors import InputError, KindError, MergeError, RefusedError
from ingenuo.evaluation.evaluation import Evaluation, evaluate
from ingenuo.evaluation.measures import AREAS
from ingenuo.evaluation.reliability import reliability
from ingenuo.evaluation.sums import bits_of, cells_of, grid
from ingenuo.models.remote import from_bytes, to_bytes


def made(n: int, seed: int = 0, classes: str = "no yes") -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Probabilities that are right on average, and what came true."""
    rng = np.random.default_rng(seed)
    names = classes.split()
    p = rng.dirichlet(np.full(len(names), 0.5), n)
    return p, np.array(names)[(rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1)], names


def mixed(n: int = 400, seed: int = 0) -> pa.Table:
    """Numbers, categories, missing values, weights (some of them 0) and a class."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["high", "low", "middle"], n)
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(0, 1, n) + (y == "high") - (y == "low"))
    colour = np.where(rng.random(n) < 0.6, np.where(y == "low", "red", "blue"), "green")
    return pa.table({"size": size, "colour": colour, "weight": rng.choice([0.0, 0.5, 1.0, 3.0], n), "y": y})


def agree(counted: Evaluation, kept: Evaluation) -> None:
    """What was counted says what the rows say."""
    assert list(counted) == list(kept)
    for key in kept:
        ours, theirs = counted[key].value, kept[key].value
        if theirs is None or math.isnan(theirs):
            assert ours is theirs or math.isnan(ours), key
        elif (key if isinstance(key, str) else key[0]).startswith(AREAS):
            low, high = counted.resolution[key]
            assert low - 1e-9 <= theirs <= high + 1e-9, (key, low, theirs, high)
            assert low - 1e-9 <= ours <= high + 1e-9
        else:
            assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12), key
    np.testing.assert_allclose(counted.confusion, kept.confusion, rtol=1e-12)
    assert counted.n_rows == kept.n_rows
    assert counted.classes.tolist() == kept.classes.tolist()


@settings(max_examples=25, deadline=None)
@given(judged_rows(), st.data())
def test_counts_of_parts_add_to_those_of_the_whole_and_say_what_the_rows_say(rows, data):
    p, y, classes, w, order = rows
    cut = data.draw(st.integers(1, len(y) - 1))
    assume(w is None or (w[order[:cut]].any() and w[order[cut:]].any()))

    def judged(places, keep_rows=False):
        weights = None if w is None else w[places]
        return evaluate(p[places], y=y[places], classes=classes, sample_weight=weights, keep_rows=keep_rows)

    whole, first, second = judged(np.arange(len(y))), judged(order[:cut]), judged(order[cut:])
    assert first + second == second + first == whole
    assert from_bytes(to_bytes(whole.tally)) == whole.tally
    kept = judged(np.arange(len(y)), keep_rows=True)
    if set(whole.labels) == set(kept.labels):  # an unknown class of rows of weight 0 is not counted at all
        agree(whole, kept)


def test_what_the_confusion_matrix_measures_has_the_same_intervals_as_of_the_rows():
    p, y, names = made(300, classes="a b c")
    counted, kept = (evaluate(p, y=y, classes=names, keep_rows=each) for each in (False, True))
    for key in ["accuracy", "majority_rate", "mcc", "f1_macro", "balanced_accuracy", ("recall", "a"), ("f1", "b")]:
        assert counted[key].interval == kept[key].interval, key


def test_means_have_the_normal_interval_of_their_rows():
    p, y, names = made(500)
    found = evaluate(p, y=y, classes=names, keep_rows=False)["log_loss"]
    losses = -np.log(p[np.arange(500), (y == "yes").astype(int)])
    reach = 1.959963984540054 * losses.std(ddof=1) / math.sqrt(500)
    assert (found.low, found.high) == pytest.approx((losses.mean() - reach, losses.mean() + reach), rel=1e-9)
    assert "normal approximation" in found.how


def test_a_row_of_weight_three_widens_the_interval_where_three_rows_do_not():
    p, y, names = made(200)
    once = evaluate(p, y=y, classes=names, sample_weight=np.full(200, 3.0), keep_rows=False)["brier"]
    thrice = evaluate(np.repeat(p, 3, axis=0), y=np.repeat(y, 3), classes=names, keep_rows=False)["brier"]
    plain = evaluate(p, y=y, classes=names, keep_rows=False)["brier"]
    assert (once.low, once.high) == pytest.approx((plain.low, plain.high))
    assert thrice.high - thrice.low < 0.6 * (once.high - once.low)


def test_areas_are_close_to_those_of_the_rows_and_so_are_their_intervals():
    p, y, names = made(3_000)
    counted, kept = (evaluate(p, y=y, classes=names, keep_rows=each) for each in (False, True))
    for name in AREAS:
        low, high = counted.resolution[name]
        assert low <= kept[name].value <= high
        assert high - low < 1e-3
        assert counted[name].low == pytest.approx(kept[name].low, abs=0.003)
        assert counted[name].high == pytest.approx(kept[name].high, abs=0.003)
        assert "grid" in counted[name].how


def test_areas_of_few_different_probabilities_are_exactly_those_of_the_rows():
    rows = weather()
    model = ing.NaiveBayes().fit(rows, "play")
    counted, kept = (evaluate(model, rows, "play", keep_rows=each) for each in (False, True))
    assert [counted[name].value for name in AREAS] == pytest.approx([kept[name].value for name in AREAS], abs=1e-15)


def test_rows_that_are_certain_are_ties_and_leave_nothing_open():
    p = np.repeat([[0.0, 1.0], [1.0, 0.0]], [40, 60], axis=0)
    y = np.array(["no", "yes"])[np.arange(100) % 3 // 2]
    found = evaluate(p, y=y, classes=["no", "yes"], keep_rows=False)
    assert found.resolution["roc_area"] == pytest.approx((found["roc_area"].value,) * 2)
    assert found["roc_area"].value == evaluate(p, y=y, classes=["no", "yes"])["roc_area"].value


@pytest.mark.parametrize("bits", [9, 6, 3])
def test_a_higher_probability_is_in_a_higher_cell_or_in_the_same(bits):
    rng = np.random.default_rng(0)
    edges = [0.0, 5e-324, 1e-310, 2.0**-1022, 2.0**-53, 0.5 - 2.0**-54, 0.5, 1 - 2.0**-53, 1.0]
    p = np.sort(
        np.concatenate([rng.random(2000), 10 ** -rng.uniform(0, 320, 2000), 1 - 10 ** -rng.uniform(0, 16, 2000), edges])
    )
    found = cells_of(p, bits)
    assert (np.diff(found) >= 0).all()
    assert 0 <= found.min() <= found.max() < len(grid(bits))
    assert len({*cells_of(np.array([0.0, 5e-324, 0.3, 0.5, 0.7, 1 - 2.0**-53, 1.0]), bits).tolist()}) == 7


def test_what_is_kept_does_not_grow_with_the_rows():
    p, y, names = made(100_000, classes="a b c")
    small, large = (
        len(to_bytes(evaluate(p[:n], y=y[:n], classes=names, keep_rows=False).tally)) for n in (30_000, 100_000)
    )
    assert large < 1.15 * small
    assert max(k * len(grid(bits_of(k))) for k in (2, 16, 100, 5_000)) < 1_000_000


@pytest.mark.parametrize("cuts", [[], [1], [50, 51, 300], [0, 200, 200, 400]])
def test_rows_in_parts_are_judged_as_in_memory_to_the_last_bit(cuts):
    rows = mixed()
    model = ing.NaiveBayes().fit(mixed(300, seed=1).drop_columns(["weight"]), "y")
    for weight in (None, "weight"):
        own = rows if weight else rows.drop_columns(["weight"])
        found = evaluate(model, Cut(own, cuts), "y", sample_weight=weight)
        bare = own.drop_columns(["weight"]) if weight else own
        weights = own.column("weight").to_numpy() if weight else None
        assert found.rows is None
        assert found == evaluate(model, bare, "y", sample_weight=weights, keep_rows=False)
        agree(found, evaluate(model, bare, "y", sample_weight=weights))


def test_a_class_that_one_part_alone_has_is_united_and_said():
    rows = mixed(60).drop_columns(["weight"])
    model = ing.NaiveBayes().fit(rows.filter(pc.not_equal(rows["y"], "middle")), "y")
    found = evaluate(model, Cut(rows.take(pa.array(np.argsort(rows["y"].to_numpy(False)))), [20, 58]), "y")
    kept = evaluate(model, rows, "y")
    agree(found, kept)
    assert found.remarks[: len(kept.remarks)] == kept.remarks
    assert "does not know ('middle')" in found.remarks[0]


def test_a_part_whose_every_weight_is_zero_says_nothing():
    rows = mixed(90)
    zeros = np.where(np.arange(90) < 30, 0.0, 1.0)
    rows = rows.set_column(2, "weight", pa.array(zeros))
    model = ing.NaiveBayes().fit(rows.drop_columns(["weight"]), "y")
    found = evaluate(model, Cut(rows, [30]), "y", sample_weight="weight")
    assert found == evaluate(model, rows.slice(30).drop_columns(["weight"]), "y", keep_rows=False)
    with pytest.raises(InputError, match="no rows to judge"):
        evaluate(model, Cut(rows.slice(0, 30), [10]), "y", sample_weight="weight")


def test_a_scan_is_counted_batch_by_batch(tmp_path: Path):
    rows = diabetes()
    path = tmp_path / "rows.parquet"
    parquet.write_table(rows, path, row_group_size=50)
    model = ing.NaiveBayes().fit(rows, "progression")
    found = evaluate(model, ing.scan(path), "progression", keep_rows=False)
    assert found == evaluate(model, rows, "progression", keep_rows=False)


def test_labels_have_counts_and_no_probabilities():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.choice(["a", "b", "c"], 90)
    model = RidgeClassifier().fit(X, y)
    counted, kept = (evaluate(model, X, y, keep_rows=each) for each in (False, True))
    agree(counted, kept)
    assert str(counted) == str(kept)
    with pytest.raises(RefusedError, match="labels only"):
        reliability(counted)


@pytest.mark.parametrize("weighted", [False, True])
def test_reliability_is_read_from_the_counts(weighted):
    p, y, names = made(400, classes="a b c")
    weights = np.random.default_rng(1).choice([0.5, 1.0, 2.0], 400) if weighted else None
    ours, theirs = (
        reliability(evaluate(p, y=y, classes=names, sample_weight=weights, keep_rows=each)) for each in (False, True)
    )
    for a, b in [(ours, theirs), (ours.per_class()["b"], theirs.per_class()["b"])]:
        assert a.rows.tolist() == b.rows.tolist()
        for name in ("forecast", "share", "intervals"):
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-12)
        assert (a.ece, a.mce, a.class_wise_ece) == pytest.approx((b.ece, b.mce, b.class_wise_ece), abs=1e-12)
        assert vars(a.brier) == pytest.approx(vars(b.brier), abs=1e-12)
    assert str(ours).startswith("\n".join(str(theirs).splitlines()[:-1]))
    assert (ours + ours).rows.tolist() == (2 * theirs.rows).tolist()


def test_it_prints_as_tables_and_says_how_exact_the_areas_are():
    p, y, names = made(300, classes="a b c")
    found = evaluate(p, y=y, classes=names, keep_rows=False)
    said = str(found)
    assert "areas are of a fixed grid of probabilities (see resolution)" in said
    assert "No interval for macro ROC area" in said
    assert "grid of probabilities" in found._repr_html_()
    assert found.table()["value"].null_count == 0
    assert len(found.plot().axes_) == 4


def test_of_rows_with_weights_the_cells_are_drawn_anew():
    p, y, names = made(400, classes="a b c")
    weights = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 400)
    counted, kept = (evaluate(p, y=y, classes=names, sample_weight=weights, keep_rows=each) for each in (False, True))
    for key in ["accuracy", "mcc", "f1_macro", ("recall", "a"), ("precision", "b")]:
        assert (counted[key].low, counted[key].high) == pytest.approx((kept[key].low, kept[key].high), abs=0.015), key
    assert counted["accuracy"].how.startswith("bootstrap of cells")
    for key in ("ece", ("roc_area", "a")):
        assert counted[key].low is None
        assert "weights" in counted[key].reason


def test_what_cannot_be_is_refused():
    p, y, names = made(20)
    rows, model = mixed(30).drop_columns(["weight"]), GaussianNB()
    found = evaluate(p, y=y, classes=names, keep_rows=False)
    with pytest.raises(MergeError, match=r"confidence=0\.95 and the other 0\.9"):
        found + evaluate(p, y=y, classes=names, confidence=0.9, keep_rows=False)
    with pytest.raises(MergeError, match="labels only"):
        found + evaluate(list(y), y=y, keep_rows=False)
    many, more, named = made(60, classes=" ".join(f"c{i:02}" for i in range(40)))
    with pytest.raises(MergeError, match="2 classes and the other of 40"):
        found + evaluate(many, y=more, classes=named, keep_rows=False)
    with pytest.raises(KindError, match="keep_rows must be True or False"):
        evaluate(p, y=y, classes=names, keep_rows="yes")
    with pytest.raises(InputError, match="give the fitted classifier itself"):
        evaluate(p, Cut(rows, [3]), "y")
    with pytest.raises(KindError, match="GaussianNB cannot be sent"):
        evaluate(model.fit(np.eye(3), [0, 1, 0]), Cut(rows, [3]), "y")
    with pytest.raises(InputError, match="10 bins of equal width"):
        reliability(found, bins=5)
    with pytest.raises(InputError, match="were not kept"):
        found.predictions  # noqa: B018


def test_rows_that_were_kept_and_sums_add_to_sums():
    p, y, names = made(50)
    kept, summed = (evaluate(p, y=y, classes=names, keep_rows=each) for each in (True, False))
    assert kept.tally == summed.tally
    assert kept + summed == summed + kept == summed + summed
    assert (kept + kept).rows is not None
