"""Audits of rows that lie in parts: the same groups, sums and words as in memory, for any cutting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.evaluate.cut_rows import Cut
from tests.evaluate.test_audit_groups import people

import ingenuo as ing
from ingenuo.errors import InputError, KindError
from ingenuo.evaluation.audit import audit
from ingenuo.evaluation.audit_groups import GroupAudit
from ingenuo.evaluation.audit_parts import rounded


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


@pytest.mark.parametrize(
    ("protected", "groups"),
    [("sex", None), ("age", None), ("age", [30, 50]), (["sex", "age"], None), (["job", "coin"], None)],
)
@pytest.mark.parametrize("y", ["y", None])
def test_rows_in_parts_are_audited_as_in_memory_to_the_last_bit(model, protected, groups, y) -> None:
    rows = asked().drop(columns="height")
    here, there = both(model, rows, y, [1, 200, 201], protected=protected, groups=groups)
    assert there.sums.tally == here.sums.tally
    assert there.groups == here.groups
    assert there.to_dict() == here.to_dict()
    assert str(there) == str(here)


def test_two_halves_add_to_the_whole_to_the_last_bit(model) -> None:
    rows = asked()
    whole = audit(model, rows, "y", protected="sex")
    halves = [audit(model, part, "y", protected="sex") for part in (rows[:100], rows[100:])]
    assert isinstance(whole, GroupAudit)
    assert (halves[0] + halves[1]).sums.tally == (halves[1] + halves[0]).sums.tally == whole.sums.tally


def test_an_audit_in_parts_adds_to_one_in_memory(model) -> None:
    rows = asked()
    first = audit(model, Cut(rows[:250], [90]), "y", protected="sex")
    total = first + audit(model, rows[250:], "y", protected="sex")
    assert total.sums.tally == audit(model, rows, "y", protected="sex").sums.tally


def test_numbers_of_many_digits_tell_of_the_group_what_they_tell_in_memory(model) -> None:
    here, there = both(model, asked(2000), "y", [500, 900], protected="sex")
    ours, theirs = ({proxy.column: proxy.told for proxy in found.proxies} for found in (there, here))
    assert ours.keys() == theirs.keys() >= {"height", "job", "age"}
    assert ours == pytest.approx(theirs, abs=0.01)
    assert theirs["height"] > 0.2
    assert there.proxies.left_out == here.proxies.left_out == {"story": "a column of text is not looked at"}


def test_numbers_are_rounded_down_and_by_less_than_half_a_percent() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(0, 1e6, 999), 10 ** rng.uniform(-300, 300, 999), [0.0, -0.0, 511.0, -511.0]])
    found = rounded(values)
    assert (found <= values).all()
    assert (values - found <= 0.004 * np.abs(values)).all()
    assert found[-4:].tolist() == [0.0, 0.0, 511.0, -511.0]
    whole = np.arange(-512.0, 513.0)
    assert np.array_equal(rounded(whole), whole)


def test_of_many_classes_the_most_frequent_are_asked_about_with_truths_and_without() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(list("abcdefg"), 700, p=[0.3, 0.2, 0.05, 0.05, 0.2, 0.1, 0.1])
    rows = pd.DataFrame({"x": rng.normal(size=700) + (y < "d"), "team": rng.choice(["one", "two"], 700), "y": y})
    model = ing.NaiveBayes().fit(rows[["x", "y"]], "y")
    for target in ("y", None):
        here, there = both(model, rows, target, [100, 350], protected="team")
        assert there.classes == here.classes
        assert there.sums.tally == here.sums.tally
        assert there.notes == here.notes


def test_a_class_that_the_model_does_not_know_counts_as_in_memory(model) -> None:
    rows = asked().drop(columns="height")
    rows.loc[590, "y"] = "perhaps"
    here, there = both(model, rows, "y", [300], protected="sex", class_="perhaps")
    assert there.sums.tally == here.sums.tally
    assert there.to_dict() == here.to_dict()


def test_a_model_of_texts_is_not_given_the_column_of_groups() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["good", "poor"], 80)
    texts = [f"a {word} film, {rng.choice(['dull', 'bright'])}" for word in y]
    model = ing.LanguageModelClassifier().fit(texts, y)
    rows = pd.DataFrame({"text": texts, "who": rng.choice(["one", "two"], 80), "y": y})
    found = audit(model, Cut(rows, [30]), "y", protected="who")
    assert isinstance(found, GroupAudit)
    assert found.sums.tally == audit(model, texts, y, protected=rows["who"].to_numpy()).sums.tally
    assert found.notes == ("The model does not know 'who': taken off before it was asked.",)


def test_what_travels_does_not_grow_with_the_rows(model) -> None:
    sizes = []
    for n in (1_000, 8_000):
        parts = Cut(asked(n).drop(columns=["story", "height"]), [])
        audit(model, parts, "y", protected="sex")
        sizes.append(max(parts.travelled))
    assert sizes[1] < 1.2 * sizes[0]


def test_columns_of_too_many_values_are_no_proxies_and_no_groups(model) -> None:
    rows = asked(2500)
    rows["story"] = [f"id{k}" for k in range(2500)]
    parts = Cut(rows, [1200])
    found = audit(model, parts, "y", protected="sex")
    assert found.proxies.left_out == {"story": "it has more than 2,000 different values"}
    with pytest.raises(InputError, match="'story' has more than 2,000 different values, which makes no groups"):
        audit(model, parts, "y", protected="story")
    bands = audit(model, parts, "y", protected="height", groups=[160, 170])
    assert sum(bands.rows.values()) == 2500


def test_what_cannot_be_audited_in_parts_is_refused(model) -> None:
    rows = asked(60)
    parts = Cut(rows, [20])
    with pytest.raises(KindError, match="have their groups in a column"):
        audit(model, parts, "y", protected=rows["sex"])
    with pytest.raises(InputError, match=r"there is no column 'sec' to protect.*'sex'"):
        audit(model, parts, "y", protected="sec")
    with pytest.raises(InputError, match="both y and protected"):
        audit(model, parts, "y", protected="y")
    with pytest.raises(InputError, match="give the fitted classifier itself"):
        audit(["yes"] * 60, parts, "y", protected="sex")
    with pytest.raises(KindError, match="cannot be sent"):
        audit(GaussianNB().fit(np.eye(2), [0, 1]), parts, "y", protected="sex")
    with pytest.raises(InputError, match="cut points for numbers"):
        audit(model, parts, "y", protected="job", groups=[1, 2])
    rows["one"] = "same"
    with pytest.raises(InputError, match="'same' in every row"):
        audit(model, Cut(rows, [20]), "y", protected="one")
