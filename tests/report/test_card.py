"""A model card says what is known, says what is not, and its lines run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest
import yaml

import ingenuo as ing
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.errors import KindError
from ingenuo.evaluation.audit import audit
from ingenuo.report.card import card
from ingenuo.show.format import code, markdown

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ABOUT = {
    "title": "Diabetes, a year on",
    "target": "progression",
    "sources": [{"path": "data/patients.csv", "bytes": 12345, "sha256": "ab" * 32}],
    "command": "ingenuo train data/patients.csv --target progression",
    "created": "2026-01-31",
    "version": "0.1.0",
}


@pytest.fixture(scope="module")
def patients() -> tuple[Any, Any]:
    table = diabetes()
    return ing.NaiveBayes().fit(table.slice(0, 300), "progression"), table


def _metadata(text: str) -> Any:
    assert text.startswith("---\n")
    return yaml.safe_load(text.split("---\n")[1])


def test_the_metadata_is_what_hubs_read(patients: tuple[Any, Any]) -> None:
    model, table = patients
    found = ing.evaluate(model, table.slice(300), "progression")
    text = card(model, ABOUT, found, license="cc-by-4.0", language="en", tags=["health"])
    data = _metadata(text)
    assert data["license"] == "cc-by-4.0"
    assert data["language"] == ["en"]
    assert data["library_name"] == "ingenuo"
    assert data["pipeline_tag"] == "tabular-classification"
    assert {"naive-bayes", "health"} <= set(data["tags"])
    (entry,) = data["model-index"]
    (result,) = entry["results"]
    assert result["task"]["type"] == "tabular-classification"
    assert result["dataset"] == {"type": "patients.csv", "name": "patients.csv"}
    values = {metric["type"]: metric for metric in result["metrics"]}
    assert values["accuracy"]["value"] == pytest.approx(found["accuracy"].value, abs=1e-6)
    assert values["accuracy"]["args"]["low"] == pytest.approx(found["accuracy"].low, abs=1e-6)
    assert set(data["metrics"]) == set(values)


def test_measures_stand_with_their_intervals(patients: tuple[Any, Any]) -> None:
    model, table = patients
    found = ing.evaluate(model, table.slice(300), "progression")
    text = card(model, ABOUT, found)
    accuracy = found["accuracy"]
    assert f"| accuracy | {accuracy.value:.3f} | \\[{accuracy.low:.3f}, {accuracy.high:.3f}\\] |" in text
    assert f"differ by {found['ece'].value:.1%} on average" in text


def test_what_was_noted_of_an_evaluation_is_enough(patients: tuple[Any, Any]) -> None:
    noted = {"accuracy": {"value": 0.75, "low": 0.7, "high": 0.8}, "log_loss": 0.5, "rows": 142}
    text = card(patients[0], {**ABOUT, "evaluation": noted})
    assert "It is right for 75.0% (interval 70.0% to 80.0%) of the 142 rows" in text
    assert "| log loss (nats) | 0.500 | – |" in text


def test_rows_classes_and_missing_values_are_those_of_the_table(patients: tuple[Any, Any]) -> None:
    model, table = patients
    text = card(model)
    learned = table.slice(0, 300)
    slow = sum(value == "slow" for value in learned["progression"].to_pylist())
    assert f"| slow | {slow} | {slow / 300:.1%} |" in text
    for name in ("age", "bmi"):
        assert re.search(rf"\| {name} \|.*\| {learned[name].null_count / 300:.1%} \|", text)
    assert "Rows learned from: 300." in text


def test_what_nobody_said_is_marked(patients: tuple[Any, Any]) -> None:
    model, _ = patients
    text = card(model)
    for heading in ("Intended use", "Out of scope", "Evaluation", "Audit and known harms"):
        assert re.search(rf"## {heading}\n\n\*Not stated\.\*", text)
    assert "How good it is was not measured." in text
    told = card(model, intended_use="For a *lesson*.", out_of_scope="Patients.", limits=["Few rows."])
    assert "For a \\*lesson\\*." in told
    assert "\n- Few rows.\n" in told


def test_an_audit_is_given_in_plain_words() -> None:
    days = play_tennis()
    model = ing.NaiveBayes().fit(days, "Play")
    found = audit(model, days, "Play", protected="Wind")
    text = card(model, audit=found)
    for said in [*found.plain, *found.warnings]:
        assert f"- {markdown(said)}\n" in text
    assert "How it treats groups of people was not looked at." not in text


def test_names_cannot_break_the_tables() -> None:
    bad = "a|b\n---\n`<b>` *x* [y](z)"
    model = ing.NaiveBayes().fit(pyarrow.table({bad: [bad, "c"] * 4, "class": [bad, "d"] * 4}), "class")
    about = {"title": bad, "command": bad, "target": bad, "sources": [{"path": bad}], "history": [{"what": bad}]}
    text = card(model, about, {"accuracy": 0.5}, tags=[bad], datasets=[bad])
    assert _metadata(text)["datasets"] == [" ".join(bad.split())]
    body = text[text.index("\n# ") :]
    tables = re.findall(r"(?:^\|.*\|$\n?)+", body, re.MULTILINE)
    assert len(tables) >= 5
    for lines in map(str.splitlines, tables):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert "<b>" not in re.sub(r"(`+).*?\1", "", body)


def test_text_is_shown_as_it_is() -> None:
    assert markdown("1. first - last") == "1\\. first - last"
    assert markdown("- first") == "\\- first"
    assert code("a ` b") == "`` a ` b ``"


@pytest.mark.parametrize("kind", ["table", "text"])
def test_the_python_lines_run(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if kind == "table":
        days = play_tennis()
        pyarrow.csv.write_csv(days.drop_columns(["Play"]), "rows.csv")
    else:
        days = pyarrow.table({"text": ["a good film", "a bad film"] * 4, "Play": ["+", "-"] * 4})
    pyarrow.csv.write_csv(days.slice(0, 4), "more.csv")
    pyarrow.csv.write_csv(days.slice(0, 2), "gone.csv")
    columns = {"text": "text"} if kind == "text" else None
    model = ing.NaiveBayes(columns).fit(days, "Play")
    ing.save(model, "model.ingenuo")
    ing.save(model, "other.ingenuo")
    for language, lines in FENCE.findall(card(model)):
        if language == "python":
            exec(compile(lines, "card", "exec"), {})
    assert ing.load("model.ingenuo").tally_ == _expected(model, days)


def _expected(model: Any, days: Any) -> Any:
    """What was learned, twice, with four rows more and two rows less."""
    columns = model.columns
    more, gone = (ing.NaiveBayes(columns).fit(days.slice(0, n), "Play").tally_ for n in (4, 2))
    return model.tally_ + more - gone + model.tally_


def test_what_cannot_be_unlearned_says_why() -> None:
    model = ing.SoftmaxRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    text = card(model)
    assert "cannot forget" in text
    assert "ingenuo forget" not in text
    exact, rounded = (
        card(made.fit([[0.0, 1.0], [1.0, 0.5], [2.0, 3.0], [3.0, 1.0]], ["a", "a", "b", "b"]))
        for made in (ing.GaussianDiscriminant(), ing.MultinomialNB())
    )
    assert "to the last bit" in exact
    assert "to the last bit" not in rounded


def test_texts_and_numbers_are_other_tasks() -> None:
    texts = card(ing.LanguageModelClassifier(1).fit(["a b", "b c"], ["x", "y"]))
    assert _metadata(texts)["pipeline_tag"] == "text-classification"
    numbers = card(ing.NaiveBayesRegressor(bins=2).fit([[1], [2], [3], [4]], [1.0, 2.0, 3.0, 4.0]))
    assert _metadata(numbers)["pipeline_tag"] == "tabular-regression"


def test_no_card_of_what_is_no_model(patients: tuple[Any, Any]) -> None:
    with pytest.raises(KindError, match="card is of a fitted model"):
        card(ing.NaiveBayes)
    with pytest.raises(KindError, match="about must be a mapping"):
        card(patients[0], "patients.csv")  # type: ignore[arg-type]
    with pytest.raises(KindError, match="evaluation must be"):
        card(patients[0], evaluation=0.9)
    with pytest.raises(KindError, match=r"ingenuo\.audit"):
        card(patients[0], audit={"fair": True})
