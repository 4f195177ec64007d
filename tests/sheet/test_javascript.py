"""The exported module of JavaScript, imported by itself in node and in a browser, answers as Python does."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.browsers import chromium
from tests.sheet.test_sheet import fitted, harsh_rows, table

import ingenuo as ing
from ingenuo.cli import main
from ingenuo.datasets import play_tennis
from ingenuo.errors import KindError
from ingenuo.page.javascript import javascript
from ingenuo.sheet import sheet

SCRIPT = """
import * as model from "MODULE";
const rows = JSON.parse(ROWS);
const tried = (ask) => { try { return ask(); } catch (error) { return String(error); } };
const found = {
  names: Object.keys(model).sort(), check: model.check(), classes: model.classes,
  predicted: rows.map((row) => tried(() => model.predict(row))),
  explained: rows.map((row) => tried(() => model.explain(row))),
};
"""


def ask(text: str, rows: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """What the module says of rows, in node."""
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    path = folder / "model.mjs"
    path.write_text(text, encoding="utf-8")
    script = SCRIPT.replace("MODULE", path.as_uri()).replace("ROWS", json.dumps(json.dumps(rows)))
    call = ["node", "--input-type=module", "-e", f"{script}; console.log(JSON.stringify(found));"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout, parse_int=float))


def assert_same(model: Any, found: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    assert found["check"] == {"passed": 32, "of": 32, "failed": []}
    classes = [str(label) for label in model.classes_]
    for row, answer, explained in zip(rows, found["predicted"], found["explained"], strict=True):
        joint, posterior = model.answer_row(row)
        assert answer["posterior"] == dict(zip(classes, posterior.tolist())), row
        assert answer["probability"] == posterior.max()
        assert str(answer["class"]) == classes[int(np.argmax(posterior))]
        assert {name: explained[name] for name in answer} == answer
        if joint is not None and np.isfinite(joint).all():
            assert explained["joint"] == dict(zip(classes, joint.tolist()))


def _texts() -> Any:
    good, bad = "a lovely warm story, not bad", "a dull cold story, not at all good"
    texts = [f"{text} {k % 7} times over" for k in range(20) for text in (good, bad)]
    return ing.NaiveBayes(text=ing.Words(ngrams=(1, 2), negation="english")).fit(texts, ["+", "-"] * 20)


def _vote() -> Any:
    return ing.BayesClassifier(members="additive").fit(play_tennis(), "Play")


def _network() -> Any:
    return ing.NetworkClassifier("tan").fit(play_tennis(), "Play")


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("calibration", [None, "isotonic"])
def test_a_module_answers_as_the_model_does(tmp_path: Path, classes: int, calibration: str | None) -> None:
    frame, y = table(150, classes)
    model, rows = fitted(frame, y, calibration=calibration), harsh_rows(frame)
    found = ask(javascript(sheet(model)), rows, tmp_path)
    assert found["names"] == ["check", "classes", "columns", "explain", "predict"]
    assert_same(model, found, rows)
    factors = found["explained"][0]["factors"]
    assert [each["column"] for each in factors] == [None, *frame.columns]
    assert factors[1]["note"] == "left out"


@pytest.mark.parametrize("make", [_texts, _vote, _network])
def test_texts_votes_and_networks_answer_too(tmp_path: Path, make: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make()
    rows: list[dict[str, Any]] = (
        [{"text": each} for each in ("a warm story", "not good at all", "", "ÉTÉ\u202e</script>")]
        if make is _texts
        else [{"Outlook": "Sunny", "Wind": "Strong"}, {"Humidity": "never seen"}, {}]
    )
    name = str(model.schema_.names[0])
    rows = [{name: row["text"]} if "text" in row else row for row in rows]
    assert_same(model, ask(javascript(sheet(model)), rows, tmp_path), rows)


def test_hostile_names_are_names(tmp_path: Path) -> None:
    labels = ["__proto__", "constructor", "</script><script>alert(1)</script>", "\u2028`${1}`"]
    frame = pd.DataFrame({"__proto__": labels * 4, "toString": range(16), "*/ '\"\\": list("ab") * 8})
    model = ing.NaiveBayes().fit(frame, labels * 4)
    rows = [{name: frame[name].iloc[k].item() if k % 2 and name == "toString" else str(frame["__proto__"].iloc[k])
             for name in ("__proto__", "toString") if name != "toString" or k % 2} for k in range(8)]  # fmt: skip
    text = javascript(sheet(model))
    assert "</script" not in text
    assert_same(model, ask(text, rows, tmp_path), rows)


def test_a_row_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    texts = pd.DataFrame({"bell": [1.0, 2.0], "note": ["a film", "dull"]})
    model = fitted_with_text(texts)
    rows: list[Any] = [{"bell": "tall"}, {"note": 5}, None, ["a"], "a"]
    found = ask(javascript(sheet(model)), rows, tmp_path)
    assert found["predicted"] == found["explained"]
    assert found["predicted"] == [
        'TypeError: bell is a number, and "tall" is none', "TypeError: note is a text, and 5 is none",
        "TypeError: a row is an object of columns and values, and null is none",
        'TypeError: a row is an object of columns and values, and ["a"] is none',
        'TypeError: a row is an object of columns and values, and "a" is none',
    ]  # fmt: skip


def fitted_with_text(frame: pd.DataFrame) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ing.NaiveBayes({"note": "text"}).fit(frame, ["u", "v"])


def test_a_module_is_made_of_a_sheet() -> None:
    with pytest.raises(KindError, match="JavaScript is written from a sheet, got NaiveBayes"):
        javascript(ing.NaiveBayes())


def test_the_command_writes_the_module(tmp_path: Path) -> None:
    model = ing.NaiveBayes().fit(play_tennis(), "Play")
    ing.save(model, tmp_path / "m.ingenuo")
    result = CliRunner().invoke(main, ["export", str(tmp_path / "m.ingenuo"), "-o", str(tmp_path / "m.mjs")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "m.mjs").read_text(encoding="utf-8") == javascript(sheet(model))


def test_a_module_runs_in_a_browser(tmp_path: Path) -> None:
    frame, y = table(100, 3)
    model, rows = fitted(frame, y, calibration="platt"), harsh_rows(frame, 8)
    # Modules of their own files are not read from the disk: the module stands in the page itself.
    asked = json.dumps(rows).replace("</", "<\\/")
    script = javascript(sheet(model)).replace("export const ", "const ") + (
        f"const rows = {asked}; "
        "window.found = { check: check(), predicted: rows.map(predict), explained: rows.map(explain) };"
    )
    page_path = tmp_path / "page.html"
    page_path.write_text(f"<!doctype html><meta charset=utf-8><script type=module>{script}</script>", encoding="utf-8")
    with chromium() as running:
        page = running.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(page_path.as_uri())
        page.wait_for_function("window.found || document.readyState === 'complete'")
        assert errors == []
        found = json.loads(page.evaluate("JSON.stringify(window.found)"), parse_int=float)
    assert_same(model, found, rows)
