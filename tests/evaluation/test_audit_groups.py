"""Audits of rows: rates by hand, intervals and tests by peers, sums that add, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from benchmarks.public_data import public_data
from scipy.stats import chi2_contingency, fisher_exact
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

import ingenuo as ing
from ingenuo.errors import InputError, KindError, MergeError
from ingenuo.evaluation.audit import audit
from ingenuo.evaluation.audit.groups import GroupAudit, contrast, share
from ingenuo.evaluation.evaluation import evaluate

# Eight rows of "a" and four of "b": answers, truths, groups.
ANSWERS = list("yyyyynnn") + list("ynnn")
TRUTHS = list("yyynnynn") + list("yyyn")
GROUPS = ["a"] * 8 + ["b"] * 4


def found(*given: Any, **named: Any) -> GroupAudit:
    result = audit(*given, **named)
    assert isinstance(result, GroupAudit)
    return result


def people(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """People of two sexes; what they do tells their sex, and both tell the class."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n, p=[0.4, 0.6])
    job = np.where(rng.random(n) < 0.9, np.where(sex == "f", "nurse", "guard"), rng.choice(["nurse", "guard"], n))
    rich = np.where(rng.random(n) < np.where(sex == "m", 0.6, 0.2), "yes", "no")
    return pd.DataFrame(
        {"sex": sex, "job": job, "age": rng.integers(18, 80, n), "coin": rng.integers(0, 2, n), "y": rich}
    )


def test_rates_of_each_group_are_those_counted_by_hand() -> None:
    a, b = (found(ANSWERS, y=TRUTHS, protected=GROUPS, class_="y").rate(group) for group in "ab")
    assert (a.selection.count, a.selection.n, a.base.count) == (5, 8, 4)
    assert (a.false_positive.count, a.false_positive.n) == (2, 4)  # of four that are not, two are taken for it
    assert (a.false_negative.count, a.false_negative.n) == (1, 4)
    assert (a.accuracy.count, b.accuracy.count) == (5, 2)
    assert (b.false_negative.value, b.false_positive.value) == (2 / 3, 0.0)


def test_a_difference_below_what_is_printed_is_no_finding() -> None:
    n = 300_000  # so many rows tell .0010 from .0014
    answers = np.repeat(["y", "n", "y", "n"], [300, n - 300, 420, n - 420])
    whole = found(answers, y=np.repeat("n", 2 * n), protected=np.repeat(["a", "b"], n), class_="y")
    (selection,) = [d for d in whole.differences if d.measure == "selection"]
    assert selection.adjusted < 0.001
    assert not selection.significant
    assert "0.000*" not in str(whole)


def test_differences_are_against_the_largest_group_or_the_one_that_is_named() -> None:
    whole = found(ANSWERS, y=TRUTHS, protected=GROUPS)
    assert whole.reference == "a"
    (selection,) = [d for d in whole.differences if d.measure == "selection"]
    assert selection.group == "b"
    assert selection.difference == pytest.approx(1 / 4 - 5 / 8)
    assert selection.ratio == pytest.approx(0.4)
    other = found(ANSWERS, y=TRUTHS, protected=GROUPS, reference="b")
    assert {d.group for d in other.differences} == {"a"}


@pytest.mark.parametrize(("a", "n", "b", "m"), [(56, 70, 48, 80), (9, 10, 3, 10), (0, 20, 5, 30), (700, 900, 20, 400)])
def test_intervals_and_tests_of_shares_are_those_of_peers(a: int, n: int, b: int, m: int) -> None:
    one, other = share(a, n, 0.95), share(b, m, 0.95)
    assert (one.low, one.high) == pytest.approx(proportion_confint(a, n, method="beta"), abs=1e-9)
    got = contrast(one, other, 0.95)
    assert got is not None
    theirs = confint_proportions_2indep(a, n, b, m, method="newcomb", compare="diff")
    assert (got.low, got.high) == pytest.approx(theirs, abs=1e-9)
    table = [[a, n - a], [b, m - b]]
    expected = chi2_contingency(table, correction=False)
    if expected.expected_freq.min() >= 5:
        assert got.test == "χ²"
        assert got.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    else:
        assert got.test == "Fisher's exact"
        assert got.p_value == pytest.approx(fisher_exact(table).pvalue, rel=1e-9)


def test_newcombes_own_example() -> None:
    got = contrast(share(56, 70, 0.95), share(48, 80, 0.95), 0.95)  # his 1998 paper, method 10
    assert got is not None
    assert (round(got.low, 4), round(got.high, 4)) == (0.0524, 0.3339)


def test_calibration_of_a_group_is_that_of_its_rows_alone() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(400)
    y = (rng.random(400) < p**2).astype(int)
    groups = rng.choice(["u", "v"], 400)
    whole = found(np.column_stack([1 - p, p]), y=y, protected=groups, classes=[0, 1])
    for group in "uv":
        rows = groups == group
        rates = whole.rate(group)
        assert rates.probability == pytest.approx(p[rows].mean())
        assert rates.gap.value == pytest.approx((p[rows] - y[rows]).mean())
        assert rates.gap.low is not None
        assert rates.gap.low > 0  # p² is below p
        bins = np.ceil(p[rows] * 10).astype(int)
        ece = sum(abs((y[rows] - p[rows])[bins == m].sum()) for m in range(1, 11)) / rows.sum()
        assert rates.ece.value == pytest.approx(ece)
        assert rates.ece.low <= ece <= rates.ece.high  # type: ignore[operator]


def test_audits_of_parts_add_to_the_audit_of_all_rows() -> None:
    rows = people()
    model = ing.NaiveBayes().fit(rows.drop(columns="sex"), "y")
    parts = [found(model, part, "y", protected="sex") for part in (rows[:200], rows[200:350], rows[350:])]
    total, whole = sum(parts), found(model, rows, "y", protected="sex")
    assert isinstance(total, GroupAudit)
    assert total.n_rows == whole.n_rows == 600
    for one, other in zip(total.rates, whole.rates):
        assert (one.false_positive, one.false_negative, one.selection) == (
            other.false_positive,
            other.false_negative,
            other.selection,
        )
        assert one.ece.value == pytest.approx(other.ece.value, abs=1e-12)
        assert one.gap.low == pytest.approx(other.gap.low, abs=1e-12)
    assert [d.adjusted for d in total.differences] == [d.adjusted for d in whole.differences]


def test_audits_that_were_made_otherwise_do_not_add() -> None:
    one = found(ANSWERS, y=TRUTHS, protected=GROUPS)
    with pytest.raises(MergeError, match=r"confidence=0\.95 and the other 0\.9"):
        one + found(ANSWERS, y=TRUTHS, protected=GROUPS, confidence=0.9)
    with pytest.raises(MergeError, match="truths=True and the other False"):
        one + found(ANSWERS, protected=GROUPS)
    with pytest.raises(MergeError, match=r"classes=\[\'y\'\] and the other \[\'n\'\]"):
        one + found(ANSWERS, y=TRUTHS, protected=GROUPS, class_="n")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_column_the_model_does_not_know_is_taken_off(kind: str) -> None:
    rows = people()
    model = ing.NaiveBayes().fit(rows.drop(columns="sex"), "y")
    table: Any = {"pandas": rows, "polars": pl.from_pandas(rows), "arrow": pl.from_pandas(rows).to_arrow()}[kind]
    got = found(model, table, "y", protected="sex")
    assert got.used is False
    rates = evaluate(model, rows[rows.sex == "f"].drop(columns=["sex", "y"]), rows.y[rows.sex == "f"])
    assert got.rate("f").accuracy.value == rates["accuracy"].value
    assert any("taken off" in note for note in got.notes)
    assert found(model, table, "y", protected="coin").rate(1).rows == (rows.coin == 1).sum()


def test_a_column_the_model_uses_stays_and_that_is_said() -> None:
    rows = people()
    got = found(ing.NaiveBayes().fit(rows, "y"), rows, "y", protected="sex")
    assert got.used is True
    assert "The model uses sex." in got.plain


def test_what_is_missing_is_a_group_of_its_own() -> None:
    assert found(ANSWERS, y=TRUTHS, protected=[1, 2, 3, None] * 3).rows == {1: 3, 2: 3, 3: 3, "(missing)": 3}


def test_few_numbers_are_groups_as_they_are() -> None:
    assert found(ANSWERS, y=TRUTHS, protected=[0, 1] * 6).groups == [0, 1]


def test_rows_of_a_file_are_audited_as_they_are_scanned(tmp_path: Path) -> None:
    rows = people()
    rows.to_csv(tmp_path / "people.csv", index=False)
    model = ing.NaiveBayes().fit(rows.drop(columns="sex"), "y")
    got = found(model, ing.scan(tmp_path / "people.csv", target="y"), protected="sex")
    assert got.rates == found(model, rows, "y", protected="sex").rates


def test_each_of_a_few_classes_is_asked_about_and_holm_counts_them_all() -> None:
    rng = np.random.default_rng(0)
    y, answers, groups = (rng.choice(list(letters), 90) for letters in ("abc", "abc", "uv"))
    got = found(answers, y=y, protected=groups)
    assert got.classes == ["a", "b", "c"]
    assert len(got.differences) == 3 * 5
    assert all(d.adjusted >= d.p_value for d in got.differences)


def test_of_many_classes_the_most_frequent_are_asked_about_and_that_is_said() -> None:
    y = [str(k) for k in range(8) for _ in range(k + 1)]
    got = found(y, y=y, protected=["u", "v"] * (len(y) // 2))
    assert got.classes == ["3", "4", "5", "6", "7"]
    assert any("5 most frequent" in note for note in got.notes)


def test_without_truths_decisions_are_compared_and_no_errors() -> None:
    got = found(ANSWERS, protected=GROUPS)
    assert {d.measure for d in got.differences} == {"selection"}
    assert got.rate("a").false_positive.value is None
    assert "give y" in got.warnings[-1]
    assert "errors, for what is true was not given" in got.plain[-1]
    probable = found([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.7, 0.3]], protected=list("uuvv"), classes=["n", "y"])
    assert probable.rate("u").probability == pytest.approx(0.45)


def test_small_groups_are_warned_of() -> None:
    groups = ["big"] * 200 + ["small"] * 12
    y = ["yes", "no"] * 106
    assert "small (12)" in found(y, y=y, protected=groups).warnings[0]
    rare = ["no"] * 205 + ["yes"] * 7
    assert "(7 yes)" in " ".join(found(rare, y=rare, protected=["u"] * 100 + ["v"] * 112).warnings)


def test_where_nothing_is_significant_it_is_said_what_could_have_been_missed() -> None:
    got = found(ANSWERS, y=TRUTHS, protected=GROUPS)
    assert not any(d.significant for d in got.differences)
    reach = max(max(abs(d.low), abs(d.high)) for d in got.differences)
    assert f"No difference is significant; the intervals leave room for differences of up to {reach:.3f}." in got.plain


def test_all_that_was_found_is_plain_data_text_and_html() -> None:
    rows = people()
    got = found(ing.NaiveBayes().fit(rows.drop(columns="sex"), "y"), rows, "y", protected="sex")
    data = json.loads(json.dumps(got.to_dict(), allow_nan=False))
    assert data["rates"][0]["false_positive"]["n"] > 0
    assert data["plain"] == got.plain
    assert all(line in str(got) for line in got.plain)
    assert "<table" in got._repr_html_()


def test_rates_are_drawn() -> None:
    axes = found(ANSWERS, y=TRUTHS, protected=GROUPS).plot()
    assert [ax.get_title() for ax in axes] == [
        "answered (y)",
        "true (y)",
        "false positives (y)",
        "false negatives (y)",
    ]


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        ({"protected": ["a"] * 12}, InputError, "is 'a' in every row"),
        ({"protected": [f"p{i}" for i in range(12)]}, InputError, "too many different values to be groups"),
        ({"protected": ["a", "b"]}, InputError, "2 labels"),
        ({"protected": 7}, KindError, "got int 7"),
        ({"protected": GROUPS, "reference": "c"}, InputError, "reference='c' is no group.*known: a, b"),
        ({"protected": GROUPS, "class_": "maybe"}, InputError, "class_='maybe' is no class; known: n, y"),
        ({"protected": GROUPS, "groups": ["gender"]}, InputError, "groups was given, .* beside templates"),
        ({"protected": GROUPS, "templates": "english"}, InputError, "two audits"),
        ({"protected": GROUPS, "labels": {"a": "y"}}, InputError, "labels was given, .* beside templates"),
        ({"protected": GROUPS, "confidence": 2}, InputError, "confidence=2"),
    ],
)
def test_what_makes_no_groups_is_refused(named: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        audit(ANSWERS, y=TRUTHS, **named)


def test_columns_that_are_not_there_are_refused() -> None:
    rows = people(50)
    model = ing.NaiveBayes().fit(rows, "y")
    with pytest.raises(InputError, match="no column 'sexe' to protect; did you mean 'sex'"):
        audit(model, rows, "y", protected="sexe")
    with pytest.raises(InputError, match="without the groups of its rows"):
        audit(model, rows, "y")
    with pytest.raises(InputError, match="both y and protected"):
        audit(model, rows, "y", protected="y")
    with pytest.raises(InputError, match=r"reads no text.*protected"):
        audit(model)
    with pytest.raises(InputError, match="X is missing"):
        audit(model, protected="sex")


def test_of_real_incomes_more_men_are_taken_for_rich() -> None:
    path = public_data("tables/adult-train.csv.gz")
    if path is None:
        pytest.skip("the file adult-train.csv.gz is not there; set INGENUO_DATA to the folder that has tables/")
    names = ["age", "workclass", "weight", "education", "years", "marital", "occupation", "relationship", "race", "sex"]
    names += ["gain", "loss", "hours", "country", "income"]
    rows = pd.read_csv(path, names=names, skipinitialspace=True, na_values="?")
    model = ing.NaiveBayes().fit(rows[:20_000].drop(columns="sex"), "income")
    got = found(model, rows[20_000:], "income", protected="sex")
    assert {d.measure for d in got.differences if d.significant} >= {"selection", "base", "false_positive"}
    men, women = got.rate("Male"), got.rate("Female")
    assert (men.selection.value or 0) > 2 * (women.selection.value or 1)
    assert (men.false_positive.value or 0) > (women.false_positive.value or 1)
