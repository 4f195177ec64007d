"""Two models: the second is read from what was exported of it; where they part is what Python says it is."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ingenuo as ing
from ingenuo import store
from ingenuo.datasets import play_tennis
from ingenuo.page import page
from ingenuo.sheet import sheet

PAGE = Path(__file__).parents[2] / "src" / "ingenuo" / "page"
VIEW = "views/two.mjs"
SUNNY = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Weak"}
Run = Callable[..., Any]
Visits = Callable[..., Any]


def read(in_node: Run, data: bytes) -> Any:
    """The sheet in a file, or the message of the error."""
    script = 'await sheet_of(new Uint8Array(Buffer.from(given, "base64"))).catch(({ message }) => ({ message }))'
    return in_node(VIEW, "sheet_of", script, base64.b64encode(data).decode())


def apart(in_node: Run, models: Sequence[Any], row: Any) -> Any:
    script = "await import(given.engine).then(({ open }) => given.sheets.map((each) => open(each).explain(given.row)))"
    script = f"differences(...({script}), [[0, 1], [0, 1]])"
    given = {"engine": (PAGE / "sheet.mjs").as_uri(), "sheets": [sheet(each).document() for each in models], "row": row}
    return in_node(VIEW, "differences", script, given)


def page_with(data: bytes, attributes: str = 'type="application/octet-stream" id="data"') -> bytes:
    return b"<!doctype html><p>" + f"<script {attributes}>{base64.b64encode(data).decode()}</script>".encode()


@pytest.fixture(scope="module")
def models() -> tuple[Any, Any]:
    rows = play_tennis()
    return ing.NaiveBayes().fit(rows, "Play"), ing.NaiveBayes().fit(rows.slice(3), "Play")


def test_a_sheet_and_a_page_are_read(in_node: Run, models: tuple[Any, Any]) -> None:
    document = sheet(models[1]).document()
    assert read(in_node, sheet(models[1]).to_json().encode()) == document
    packed = gzip.compress(json.dumps({"sheet": document, "rows": None}).encode())
    assert read(in_node, page_with(packed)) == document
    assert read(in_node, page_with(packed, "id=data type=x")) == document


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
def test_what_is_no_page_is_refused(in_node: Run, data: bytes, said: str) -> None:
    assert said in read(in_node, data)["message"]


def test_where_two_models_part_is_the_difference_of_their_log_odds(in_node: Run, models: tuple[Any, Any]) -> None:
    found = apart(in_node, models, SUNNY)
    sides = [model.explain(SUNNY) for model in models]
    expected = {}
    for first, second in zip(*((each.prior, *each.factors) for each in sides)):
        expected[first.column] = [factor.terms[0].log - factor.terms[1].log for factor in (first, second)]
    assert {line["name"] for line in found} == set(expected)
    for line in found:
        assert line["odds"] == pytest.approx(expected[line["name"]], abs=1e-12)
        assert line["difference"] == pytest.approx(expected[line["name"]][1] - expected[line["name"]][0], abs=1e-12)
    sizes = [abs(line["difference"]) for line in found]
    assert sizes == sorted(sizes, reverse=True)
    whole = [math.fsum(line["odds"][side] for line in found) for side in (0, 1)]
    assert whole == pytest.approx([each.joint[0] - each.joint[1] for each in sides], abs=1e-12)


def test_a_column_of_one_model_alone_counts_as_nothing_in_the_other(in_node: Run, models: tuple[Any, Any]) -> None:
    other = ing.NaiveBayes().fit(play_tennis().drop_columns(["Wind"]), "Play")
    (line,) = [each for each in apart(in_node, [models[0], other], SUNNY) if each["name"] == "Wind"]
    assert line["odds"][1] is None
    assert line["difference"] == -line["odds"][0]


# In Chromium.


def drop(found: Any, name: str, data: bytes) -> Any:
    """Give the page another model; the view, when it has read it."""
    for _ in range(3):
        found.page.evaluate("() => document.getElementById('two').scrollIntoView()")
        found.page.wait_for_timeout(120)
    file = {"name": name, "mimeType": "text/plain", "buffer": data}
    found.page.set_input_files("#two input[type=file]", files=[file])
    found.page.wait_for_selector("#two .sides, #two .warning")
    return found.page.locator("#two")


def test_a_page_that_is_dropped_is_asked_the_same(visit: Visits, models: tuple[Any, Any]) -> None:
    found = visit(page(models[0], question=SUNNY))
    view = drop(found, "other.html", page(models[1], title="Other").encode())
    shares = [model.predict_proba([SUNNY])[0] for model in models]
    no = [each.strip() for each in view.locator(".sides tbody tr").first.locator("td.n").all_inner_texts()]
    assert no[:2] == [f"{share[0]:.1%}" for share in shares]
    assert "32 of 32 check rows" in view.inner_text()
    lines = view.locator("table").last.locator("tbody tr")
    assert lines.count() == 5
    found.page.locator("#main label:has-text('Overcast')").first.click()  # the question goes on, for both
    asked = SUNNY | {"Outlook": "Overcast"}
    share = f"{models[1].predict_proba([asked])[0][0]:.1%}"
    found.until(f"() => document.querySelector('#two .sides').innerText.includes('{share}')")


def test_a_sheet_that_was_changed_is_not_believed(visit: Visits, models: tuple[Any, Any]) -> None:
    document = sheet(models[1]).document()
    document = json.loads(json.dumps(document))
    document["scorer"]["start"] = [0, -1]
    view = drop(visit(page(models[0])), "changed.json", json.dumps(document).encode())
    assert "Its sheet was changed" in view.inner_text()


@pytest.mark.parametrize("data", [b"", b"<p>nothing", b'{"format": "ingenuo-sheet", "version": 1}', b"\x00" * 100])
def test_what_is_no_model_is_said_in_one_sentence(visit: Visits, models: tuple[Any, Any], data: bytes) -> None:
    view = drop(visit(page(models[0])), "x.html", data)
    assert view.locator(".warning").count() == 1
    assert view.locator(".sides").count() == 0


def test_names_of_another_model_are_never_run(visit: Visits) -> None:
    bad = "<img src=x onerror=alert(1)>"
    rows = pa.table({bad: [bad, "b"] * 9, "class": [bad, "c"] * 9})
    own, other = ing.NaiveBayes().fit(rows, "class"), ing.NaiveBayes().fit(rows.slice(2), "class")
    view = drop(visit(page(own, question={bad: bad})), f"{bad}.json", sheet(other).to_json().encode())
    assert bad in view.inner_text()


def test_a_model_file_needs_the_server(visit: Visits, models: tuple[Any, Any]) -> None:
    view = drop(visit(page(models[0])), "m.ingenuo", store.to_bytes(models[1]))
    assert "use ingenuo open" in view.locator(".warning").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_two_models_fit_a_phone(visit: Visits, models: tuple[Any, Any], scheme: str) -> None:
    found = visit(page(models[0], question=SUNNY), width=360, height=800, scheme=scheme)
    drop(found, "a file with a name that is much too long for a phone.json", sheet(models[1]).to_json().encode())
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 360
