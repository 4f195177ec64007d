"""Audits of rows that lie in parts: the same groups, sums and words as in memory, for any cutting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.evaluation.cut_rows import Cut
from tests.evaluation.test_audit_groups import people

import ingenuo as ing
from ingenuo.errors import InputError, KindError
from ingenuo.evaluation.audit import audit
from ingenuo.evaluation.audit.groups import GroupAudit


@pytest.fixture(scope="module")
def model() -> Any:
    return ing.NaiveBayes().fit(people(500, seed=1).drop(columns="sex"), "y")


def asked(n: int = 600) -> pd.DataFrame:
    """People, some of whose sex is not known, with a height that no table could hold all values of."""
    rows = people(n)
    rows.loc[[3, 47], "sex"] = None
    rows["height"] = np.random.default_rng(5).normal(165, 8, n) + 12 * (rows["sex"] == "m")
    rows["story"] = [f"the long story of person number {k} who came here" for k in range(n)]
    return rows


def both(model: Any, rows: pd.DataFrame, y: str | None, cuts: list[int], **named: Any) -> tuple[GroupAudit, GroupAudit]:
    own = rows if y is not None else rows.drop(columns="y")
    here, there = audit(model, own, y, **named), audit(model, Cut(own, cuts), y, **named)
    assert isinstance(here, GroupAudit)
    assert isinstance(there, GroupAudit)
    return here, there


@pytest.mark.parametrize("protected", ["sex", "job", "coin"])
@pytest.mark.parametrize("y", ["y", None])
def test_rows_in_parts_and_of_files_are_audited_as_in_memory_to_the_last_bit(model, protected, y, tmp_path) -> None:
    rows = asked().drop(columns="story")
    here, there = both(model, rows, y, [1, 200, 201], protected=protected)
    (rows if y is not None else rows.drop(columns="y")).to_parquet(tmp_path / "rows.parquet")
    scanned = audit(model, ing.scan(tmp_path / "rows.parquet", target=y), protected=protected)
    for other in (there, scanned):
        assert other.tally == here.tally
        assert other.groups == here.groups
        assert other.to_dict() == here.to_dict()
        assert str(other) == str(here)


def test_two_halves_add_to_the_whole_to_the_last_bit(model) -> None:
    rows = asked()
    whole = audit(model, rows, "y", protected="sex")
    halves = [audit(model, part, "y", protected="sex") for part in (rows[:100], rows[100:])]
    assert isinstance(whole, GroupAudit)
    assert (halves[0] + halves[1]).tally == (halves[1] + halves[0]).tally == whole.tally


def test_an_audit_in_parts_adds_to_one_in_memory(model) -> None:
    rows = asked()
    first = audit(model, Cut(rows[:250], [90]), "y", protected="sex")
    total = first + audit(model, rows[250:], "y", protected="sex")
    assert total.tally == audit(model, rows, "y", protected="sex").tally


def test_of_many_classes_the_most_frequent_are_asked_about_with_truths_and_without() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(list("abcdefg"), 700, p=[0.3, 0.2, 0.05, 0.05, 0.2, 0.1, 0.1])
    rows = pd.DataFrame({"x": rng.normal(size=700) + (y < "d"), "team": rng.choice(["one", "two"], 700), "y": y})
    model = ing.NaiveBayes().fit(rows[["x", "y"]], "y")
    for target in ("y", None):
        here, there = both(model, rows, target, [100, 350], protected="team")
        assert there.classes == here.classes
        assert there.tally == here.tally
        assert there.notes == here.notes


def test_a_class_that_the_model_does_not_know_counts_as_in_memory(model) -> None:
    rows = asked().drop(columns="height")
    rows.loc[590, "y"] = "perhaps"
    here, there = both(model, rows, "y", [300], protected="sex", class_="perhaps")
    assert there.tally == here.tally
    assert there.to_dict() == here.to_dict()


def test_a_model_of_texts_is_not_given_the_column_of_groups() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["good", "poor"], 80)
    texts = [f"a {word} film, {rng.choice(['dull', 'bright'])}" for word in y]
    model = ing.LanguageModelClassifier().fit(texts, y)
    rows = pd.DataFrame({"text": texts, "who": rng.choice(["one", "two"], 80), "y": y})
    found = audit(model, Cut(rows, [30]), "y", protected="who")
    assert isinstance(found, GroupAudit)
    assert found.tally == audit(model, texts, y, protected=rows["who"].to_numpy()).tally
    assert found.notes == ("The model does not know 'who': taken off before it was asked.",)


def test_what_travels_does_not_grow_with_the_rows(model) -> None:
    sizes = []
    for n in (1_000, 8_000):
        parts = Cut(asked(n).drop(columns=["story", "height"]), [])
        audit(model, parts, "y", protected="sex")
        sizes.append(max(parts.travelled))
    assert sizes[1] < 1.2 * sizes[0]


def test_columns_of_too_many_values_are_no_groups(model) -> None:
    rows = asked(2500)
    rows["story"] = [f"id{k}" for k in range(2500)]
    with pytest.raises(InputError, match="'story' has too many different values to be groups"):
        audit(model, Cut(rows, [1200]), "y", protected="story")


def test_what_cannot_be_audited_in_parts_is_refused(model) -> None:
    rows = asked(60)
    parts = Cut(rows, [20])
    with pytest.raises(KindError, match="the groups are in a column"):
        audit(model, parts, "y", protected=rows["sex"])
    with pytest.raises(InputError, match=r"has no column 'sec' to protect.*'sex'"):
        audit(model, parts, "y", protected="sec")
    with pytest.raises(InputError, match="both y and protected"):
        audit(model, parts, "y", protected="y")
    with pytest.raises(InputError, match="give the fitted classifier itself"):
        audit(["yes"] * 60, parts, "y", protected="sex")
    with pytest.raises(KindError, match="cannot be sent"):
        audit(GaussianNB().fit(np.eye(2), [0, 1]), parts, "y", protected="sex")
    rows["one"] = "same"
    with pytest.raises(InputError, match="'same' in every row"):
        audit(model, Cut(rows, [20]), "y", protected="one")
