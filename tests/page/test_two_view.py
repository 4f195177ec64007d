"""Two models: the second is read from what was exported of it; where they part is what Python says it is."""

from __future__ import annotations

import base64
import gzip
import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ingenuo as ing
from ingenuo.datasets import play_tennis
from ingenuo.sheet import sheet

PAGE = Path(__file__).parents[2] / "src" / "ingenuo" / "page"
SUNNY = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Weak"}


def in_node(lines: str, given: Any) -> Any:
    """What the body of an asynchronous function returns in node, or the message of its error."""
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    script = f"""
import * as view from {json.dumps((PAGE / "views" / "two.mjs").as_uri())};
import {{ open }} from {json.dumps((PAGE / "sheet.mjs").as_uri())};
let text = "";
process.stdin.on("data", (piece) => (text += piece));
process.stdin.on("end", async () => {{
  const answer = async (given) => {{ {lines} }};
  const found = await answer(JSON.parse(text)).catch((error) => ({{ error: error.message }}));
  process.stdout.write(JSON.stringify(found));
}});"""
    call = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(call, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


READ = 'return view.sheet_of(new Uint8Array(Buffer.from(given, "base64")));'


def read(data: bytes) -> Any:
    return in_node(READ, base64.b64encode(data).decode())


def page_with(data: bytes, attributes: str = 'type="application/octet-stream" id="data"') -> bytes:
    return b"<!doctype html><p>" + f"<script {attributes}>{base64.b64encode(data).decode()}</script>".encode()


@pytest.fixture(scope="module")
def models() -> tuple[Any, Any]:
    rows = play_tennis()
    return ing.NaiveBayes().fit(rows, "Play"), ing.NaiveBayes().fit(rows.slice(3), "Play")


def test_a_sheet_and_a_page_are_read(models: tuple[Any, Any]) -> None:
    document = sheet(models[1]).document()
    assert read(sheet(models[1]).to_json().encode()) == document
    packed = gzip.compress(json.dumps({"sheet": document, "rows": None}).encode())
    assert read(page_with(packed)) == document
    assert read(page_with(packed, "id=data type=x")) == document


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no page of a model"),
        (b"<html><script id=other>eA==</script>", "no page of a model"),
        (b"{", "JSON"),
        (page_with(b"not packed"), ""),
        (page_with(gzip.compress(b"[]")), "no sheet"),
        (page_with(gzip.compress(b'{"rows": 1}')), "no sheet"),
        (page_with(gzip.compress(b" " * 210_000_000, 1)), "too large"),
    ],
)
def test_what_is_no_page_is_refused(data: bytes, said: str) -> None:
    assert said in read(data)["error"]


def test_where_two_models_part_is_the_difference_of_their_log_odds(models: tuple[Any, Any]) -> None:
    lines = """
    const [one, two] = given.sheets.map((each) => open(each).explain(given.row));
    return view.differences(one, two, [[0, 1], [0, 1]]);"""
    found = in_node(lines, {"sheets": [sheet(each).document() for each in models], "row": SUNNY})
    sides = [model.explain(SUNNY) for model in models]
    expected = {}
    for first, second in zip(*((each.prior, *each.factors) for each in sides)):
        odds = [factor.terms[0].log - factor.terms[1].log for factor in (first, second)]
        expected[first.column] = odds
    assert {line["name"] for line in found} == set(expected)
    for line in found:
        assert line["odds"] == pytest.approx(expected[line["name"]], abs=1e-12)
        assert line["difference"] == pytest.approx(expected[line["name"]][1] - expected[line["name"]][0], abs=1e-12)
    sizes = [abs(line["difference"]) for line in found]
    assert sizes == sorted(sizes, reverse=True)
    whole = [math.fsum(line["odds"][side] for line in found) for side in (0, 1)]
    assert whole == pytest.approx([each.joint[0] - each.joint[1] for each in sides], abs=1e-12)


def test_a_column_of_one_model_alone_counts_as_nothing_in_the_other(models: tuple[Any, Any]) -> None:
    rows = play_tennis().drop_columns(["Wind"])
    other = ing.NaiveBayes().fit(rows, "Play")
    lines = """
    const [one, two] = given.sheets.map((each) => open(each).explain(given.row));
    return view.differences(one, two, [[0, 1], [0, 1]]).find((line) => line.name === "Wind");"""
    line = in_node(lines, {"sheets": [sheet(models[0]).document(), sheet(other).document()], "row": SUNNY})
    assert line["odds"][1] is None
    assert line["difference"] == -line["odds"][0]
