"""Drift: what is counted adds exactly, shifts are found and chance is not, and a watched server counts the same."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, fisher_exact

import ingenuo as ing
from ingenuo import store
from ingenuo.cli import main
from ingenuo.errors import InputError, KindError
from ingenuo.evaluation import drift as module
from ingenuo.evaluation.drift import Drift, Reference, cell_of, cells_of, count_drift, drift, reference, starts_of
from ingenuo.evaluation.watch import Watch, prometheus
from ingenuo.models.boosted_trees import BoostedTrees
from ingenuo.rows.rows import Part, rows_of
from ingenuo.tally.tally import Tally


def people(n: int, seed: int, *, shift: float = 0.0, absent: float = 0.05, towns: str = "abc") -> pa.Table:
    """Rows of two classes; the numbers may be shifted, missing or from other towns."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    age = rng.normal(40, 8, n) + 9 * ill + shift
    town = rng.choice(list(towns), n)
    gone = rng.random(n) < absent
    return pa.table(
        {
            "age": pa.array([None if out else x for x, out in zip(age.tolist(), gone)]),
            "pulse": rng.normal(70, 5, n) + 4 * ill,
            "town": town,
            "outcome": np.where(ill, "ill", "well"),
        }
    )


LEARNED = people(800, 0)
MODEL = ing.NaiveBayes().fit(LEARNED, "outcome")
REFERENCE = reference(MODEL, LEARNED, "outcome", learned=True)


def named(found: Drift) -> dict[str, str]:
    return {each.name: each.said for each in found.changes}


# The cells.


@given(st.floats(-1e300, 1e300))
@settings(max_examples=300, deadline=None)
def test_a_number_lies_in_its_cell(x: float) -> None:
    cell = cell_of(x)
    assert cells_of(np.array([x])).tolist() == [cell]
    start, end = starts_of(np.array([cell, cell + 1])).tolist()
    assert (start <= x < end) if x >= 0 else (start < x <= end)
    assert end - start <= max(1 / 128, abs(x) / 100)


def test_cells_ascend_without_gaps() -> None:
    assert (np.diff(starts_of(np.arange(-3000, 3000))) > 0).all()


# Counting.


@pytest.mark.parametrize("cuts", [[0, 800], [0, 1, 300, 800], list(range(0, 801, 100))])
def test_counts_of_parts_add_to_those_of_the_whole(cuts: list[int]) -> None:
    whole = count_drift(MODEL, Part(LEARNED), {})
    parts = [LEARNED.slice(lo, hi - lo) for lo, hi in pairwise(cuts)]
    assert sum((count_drift(MODEL, Part(part), {}) for part in parts), Tally()) == whole


def test_what_is_counted_is_what_can_be_counted_by_hand() -> None:
    rows = pa.table({"age": [None, 41.0, 43.0], "pulse": [70.0, 71.0, None], "town": ["a", "nowhere", None]})
    found = count_drift(MODEL, Part(rows), {})
    assert dict(zip(found.labels("missing", 0), found.over("missing", found.labels("missing", 0)).floats())) == {
        "age": 1, "pulse": 1, "town": 1,
    }  # fmt: skip
    assert dict(zip(found.labels("unseen", 0), found.over("unseen", found.labels("unseen", 0)).floats())) == {"town": 1}
    log_p = np.logaddexp.reduce(MODEL.predict_joint_log_proba(rows), axis=1)
    assert sorted(found.labels("evidence", 0).tolist()) == sorted(set(cells_of(log_p).tolist()))


def test_a_row_that_no_class_allows_is_counted_apart() -> None:
    model = ing.NaiveBayes(prior=ing.MaximumLikelihood()).fit([["a"], ["b"]] * 5, ["no", "yes"] * 5)
    found = count_drift(model, Part(np.array([["a"], ["b"]], object)), {})
    assert found.over("rows", np.array(["impossible"], object)).floats().tolist() == [0]
    both = ing.NaiveBayes(prior=ing.MaximumLikelihood()).fit([["a", "c"], ["b", "d"]] * 5, ["no", "yes"] * 5)
    found = count_drift(both, Part(np.array([["a", "d"]], object)), {})
    assert found.over("rows", np.array(["impossible"], object)).floats().tolist() == [1]


def test_rows_that_were_learned_are_judged_by_sums_without_them() -> None:
    joint = module._left_out(MODEL, rows_of(LEARNED, "outcome"))
    assert joint is not None
    plain = np.logaddexp.reduce(MODEL.predict_joint_log_proba(LEARNED), axis=1)
    left = np.logaddexp.reduce(joint, axis=1)
    assert left.mean() < plain.mean()
    fold = np.arange(800) % module.PARTS
    np.random.default_rng(module.OURS).shuffle(fold)
    rest = ing.NaiveBayes().fit(LEARNED.take(np.flatnonzero(fold != 2)), "outcome")
    held = np.flatnonzero(fold == 2)
    assert joint[held].tolist() == rest.predict_joint_log_proba(LEARNED.take(held)).tolist()


def test_a_value_that_one_row_alone_had_counts_as_unseen_among_the_learned() -> None:
    rows = pa.table({"town": ["a"] * 9 + ["b"] * 9 + ["once"], "age": np.arange(19.0)})
    model = ing.NaiveBayes().fit(rows, ["no", "yes"] * 9 + ["no"])
    found = reference(model, rows, ["no", "yes"] * 9 + ["no"], learned=True).tally
    assert found.over("unseen", np.array(["town"], object)).floats().tolist() == [1]


# Comparing.


def test_rows_like_the_learned_are_as_in_training() -> None:
    for seed in range(1, 11):
        assert drift(MODEL, people(700, seed), REFERENCE).changed == ()


@pytest.mark.parametrize(
    ("rows", "item"),
    [
        (people(400, 3, shift=25), "evidence log p(x)"),
        (people(400, 3, absent=0.3), "missing: age"),
        (people(400, 3, towns="abx"), "unseen: town"),
        (people(400, 3).filter(pa.compute.equal(people(400, 3).column("outcome"), "ill")), "answers"),
    ],
)
def test_each_kind_of_shift_is_found(rows: pa.Table, item: str) -> None:
    assert named(drift(MODEL, rows, REFERENCE))[item] == "changed"


def test_the_measures_are_those_of_their_definitions() -> None:
    cells = np.array([[50.0, 30, 20], [20, 30, 50]])
    variation, index, p = module._measure(cells)
    assert variation == pytest.approx(0.3)
    assert index == pytest.approx((0.2 - 0.5) * math.log(20 / 50) + (0.5 - 0.2) * math.log(50 / 20), rel=0.05)
    assert p == pytest.approx(chi2_contingency(cells).pvalue)


def test_small_cells_are_put_together_and_the_last_two_tested_exactly() -> None:
    assert module._p_value(np.array([[3.0, 97], [0, 60]])) == pytest.approx(fisher_exact([[3, 97], [0, 60]]).pvalue)
    merged = chi2_contingency(np.array([[4, 90], [9, 85]]), correction=False).pvalue
    assert module._p_value(np.array([[1.0, 2, 1, 90], [3, 3, 3, 85]])) == pytest.approx(merged)
    assert module._p_value(np.array([[1.0, 1, 1, 90], [1, 1, 1, 90]])) == 1.0


def test_drifts_beside_the_same_reference_add() -> None:
    one, two = (drift(MODEL, people(100, seed), REFERENCE) for seed in (1, 2))
    both = pa.concat_tables([people(100, 1), people(100, 2)])
    assert (one + two).to_dict() == drift(MODEL, both, REFERENCE).to_dict()


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (ing.NaiveBayes(), "that of the model"),
        (ing.SoftmaxRegression(), "that of the generative twin"),
        (ing.BayesClassifier([("one", ing.NaiveBayes()), ("two", ing.NaiveBayes())]), "that of the one"),
        (BoostedTrees(), "no distribution of the rows"),
    ],
)
def test_it_is_said_whose_evidence_it_is(model: Any, says: str) -> None:
    rows = LEARNED.slice(0, 200)
    model.fit(rows, "outcome")
    found = drift(model, people(100, 1), reference(model, rows, "outcome", learned=True))
    assert says in str(found)
    assert {"answers", "missing: age"} <= set(named(found))


def test_the_evidence_of_a_network_with_cuts_is_compared_with_a_reference_only() -> None:
    model = ing.NetworkClassifier("naive").fit(LEARNED, "outcome")
    found = drift(model, people(300, 1), reference(model, LEARNED, "outcome", learned=True))
    assert "evidence log p(x)" not in named(found)
    assert "cut points follow the rows" in str(found)
    assert named(drift(model, people(300, 1, shift=30), people(300, 2)))["evidence log p(x)"] == "changed"


def test_texts_are_compared_too() -> None:
    texts, labels = ["a fine film"] * 40 + ["a dull play"] * 40, ["good"] * 40 + ["bad"] * 40
    model = ing.NaiveBayes().fit(texts, labels)
    found = drift(model, ["fine fine fine fine film and play, " * 9] * 50, texts)
    assert named(found)["evidence log p(x)"] == "changed"


def test_a_reference_survives_json() -> None:
    plain = json.loads(json.dumps(REFERENCE.to_plain()))
    again = Reference.from_plain(plain, MODEL.classes_)
    assert (again.tally, again.how) == (REFERENCE.tally, REFERENCE.how)
    with pytest.raises(InputError, match="no count of rows"):
        Reference.from_plain({**plain, "missing": [["age", -1]]})


def test_the_order_and_the_cut_of_the_rows_do_not_matter() -> None:
    rows = people(300, 4)
    shuffled = rows.take(np.random.default_rng(0).permutation(300))
    assert drift(MODEL, rows, REFERENCE).to_dict() == drift(MODEL, shuffled, REFERENCE).to_dict()


def test_a_picture_has_a_bar_for_each_item() -> None:
    found = drift(MODEL, people(300, 1, shift=20), REFERENCE)
    left, right = found.plot()
    assert len(right.patches) == len(found.changes)
    assert left.get_xlabel().startswith("evidence")


# A server's counts.


def test_a_watch_counts_single_rows_as_a_table() -> None:
    rows = people(60, 5, absent=0.3, towns="abxy").drop_columns(["outcome"])
    posterior, joint = MODEL.predict_proba(rows), MODEL.predict_joint_log_proba(rows)
    one, two = Watch(MODEL), Watch(MODEL)
    for lo in range(0, 60, 20):
        one.add(rows.slice(lo, 20), posterior[lo : lo + 20])
    for place, row in enumerate(rows.to_pylist()):
        two.add([row], posterior[place : place + 1].tolist(), joint[place : place + 1].tolist())
    assert one.tally() == two.tally() == count_drift(MODEL, Part(rows), {})


def test_a_vote_is_watched_by_the_part_of_it_that_knows_rows() -> None:
    vote = ing.BayesClassifier([("one", ing.NaiveBayes()), ("two", BoostedTrees())]).fit(LEARNED, "outcome")
    part, rows = module.evidence_of(vote), people(50, 7).drop_columns(["outcome"])
    assert part is not None
    watch, posterior = Watch(vote, score=part.model.answer_row), vote.predict_proba(rows)
    watch.add(rows.to_pylist(), posterior.tolist(), [[0.0, 0.0]] * 50)  # what a vote compares is no evidence
    assert watch.tally() == count_drift(vote, Part(rows), {})


def test_watches_add_and_are_compared_with_training() -> None:
    watches = [Watch(MODEL, {"drift": REFERENCE.to_plain()}) for _ in range(2)]
    parts = [people(200, 1, absent=0.4), people(200, 2, absent=0.4)]
    for watch, rows in zip(watches, parts):
        watch.add(rows.drop_columns(["outcome"]), MODEL.predict_proba(rows))
    whole = Drift(watches[0].tally() + watches[1].tally(), REFERENCE)
    assert whole.to_dict()["items"] == drift(MODEL, pa.concat_tables(parts), REFERENCE).to_dict()["items"]
    assert watches[0].drift().changed[0].name == "missing: age"


def test_metrics_are_cumulative_and_names_are_escaped() -> None:
    watch = Watch(MODEL, {"drift": REFERENCE.to_plain()})
    rows = people(300, 6)
    watch.add(rows.drop_columns(["outcome"]), MODEL.predict_proba(rows))
    lines = prometheus([({"model": 'a"b\\c\n'}, watch.tally(), watch.reference)])
    assert all(line.startswith(("#", "ingenuo_")) for line in lines)
    buckets = [int(line.rpartition(" ")[2]) for line in lines if line.startswith("ingenuo_evidence_bucket")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 300
    assert 'model="a\\"b\\\\c\\n"' in lines[2]
    shares = [float(line.rpartition(" ")[2]) for line in lines if 'what="evidence"' in line]
    assert shares == pytest.approx([k / 10 for k in range(1, 10)], abs=0.05)


# The command.


def run(*words: str) -> str:
    found = CliRunner().invoke(main, list(words), catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drift")
    pa.csv.write_csv(LEARNED, folder / "learned.csv")
    pa.csv.write_csv(people(500, 1), folder / "same.csv")
    pa.csv.write_csv(people(500, 1, absent=0.4).drop_columns(["outcome"]), folder / "new.csv")
    run("train", str(folder / "learned.csv"), "--target", "outcome", "--model", "naive-bayes", "-q",
        "-o", str(folder / "model.ingenuo"))  # fmt: skip
    return folder


def test_train_counts_its_rows_and_drift_compares_with_them(folder: Path) -> None:
    model, new, same = (str(folder / name) for name in ("model.ingenuo", "new.csv", "same.csv"))
    assert store.about(model)["drift"] == {**REFERENCE.to_plain(), "of": 800}
    found = json.loads(run("drift", model, new, "--json"))
    assert (found["items"][0]["what"], found["items"][0]["column"]) == ("missing", "age")
    assert run("drift", model, same).splitlines()[-2] == "None of 3 items changed."
    assert json.loads(run("drift", model, new, "--reference", same, "--json"))["changed"] >= 1
    run("drift", model, new, "--plot", str(folder / "drift.svg"), "-q")
    assert (folder / "drift.svg").read_text().count("missing: age") == 1


def test_of_many_rows_a_sample_is_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ingenuo.cli.work import train

    monkeypatch.setattr(train, "_REMEMBERED", 100)
    run("train", str(folder / "learned.csv"), "--target", "outcome", "--model", "naive-bayes", "-q",
        "-o", str(folder / "some.ingenuo"))  # fmt: skip
    found = store.about(folder / "some.ingenuo")["drift"]
    assert (found["of"], dict(found["rows"])["rows"]) == (800, 100)
    assert "beside 100 rows of training, left out a quarter at a time, drawn from 800." in run(
        "drift", str(folder / "some.ingenuo"), str(folder / "same.csv")
    )


def test_a_model_without_counts_asks_for_a_reference(folder: Path) -> None:
    store.save(MODEL, folder / "bare.ingenuo")
    found = CliRunner().invoke(main, ["drift", str(folder / "bare.ingenuo"), str(folder / "new.csv")])
    assert found.exit_code == 1
    assert "--reference FILE" in found.stderr


def test_what_few_rows_have_is_not_counted_where_it_must_not_stay(folder: Path) -> None:
    run("train", str(folder / "learned.csv"), "--target", "outcome", "--model", "naive-bayes", "--minimum-count", "30",
        "-q", "-o", str(folder / "few.ingenuo"))  # fmt: skip
    counts = [n for name, pairs in store.about(folder / "few.ingenuo")["drift"].items() if isinstance(pairs, list)
              for _, n in pairs]  # fmt: skip
    assert min(counts) >= 30


def test_update_and_merge_count_the_rows_of_all(folder: Path) -> None:
    path, new = str(folder / "more.ingenuo"), str(folder / "same.csv")
    run("update", str(folder / "model.ingenuo"), new, "-o", path, "-q")
    before, found = store.about(folder / "model.ingenuo")["drift"], store.about(path)["drift"]
    assert dict(found["rows"])["rows"] == dict(found["rows"])["with evidence"] == 1300
    own = reference(store.load(path), pa.csv.read_csv(new), "outcome", learned=True)
    assert {"unseen": [], **found} == (REFERENCE + own).to_plain()
    run("merge", str(folder / "model.ingenuo"), str(folder / "model.ingenuo"), "-o", path, "-q")
    assert dict(store.about(path)["drift"]["missing"])["age"] == 2 * dict(before["missing"])["age"]
    run("merge", str(folder / "model.ingenuo"), "--minimum-count", "30", "-o", path, "-q")
    counts = [n for pairs in store.about(path)["drift"].values() if isinstance(pairs, list) for _, n in pairs]
    assert min(counts) >= 30


def test_what_was_forgotten_is_in_no_count(folder: Path) -> None:
    path = str(folder / "less.ingenuo")
    run("update", str(folder / "model.ingenuo"), str(folder / "same.csv"), "-o", path, "-q")
    run("forget", path, str(folder / "same.csv"), "-q")
    assert "drift" not in store.about(path)
    assert "--reference FILE" in CliRunner().invoke(main, ["drift", path, str(folder / "new.csv")]).stderr


def test_counts_of_drawn_rows_do_not_add() -> None:
    drawn = Reference(REFERENCE.tally, REFERENCE.how, 10_000)
    assert not drawn.is_whole
    with pytest.raises(KindError, match="do not add"):
        REFERENCE + drawn
