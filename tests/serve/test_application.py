"""What a server answers besides rows: explanations, changes, what the model is, documents, counters, the page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from ingenuo.serve.models import Served
from ingenuo.sheet import sheet
from ingenuo.show.format import plain

from .asker import Asker, error
from .counters import counters

SUNNY = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Weak"}
NAMES = ["tennis", "patients", "numbers", "counts", "codes", "texts", "network", "sequences"]


# Explanations, and what would change an answer.


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_is_explained_as_by_the_model(ask: Asker, loaded: dict[str, Served], name: str) -> None:
    path, model = f"/v1/models/{name}", loaded[name].now.model
    rows: list[Any] = [{}] if name != "texts" else ["a warm story"]
    if name in ("tennis", "network"):
        rows = [SUNNY]
    found = ask.post(f"{path}/explain", {"rows": rows}).json()
    posterior = ask.post(f"{path}/predict", {"rows": rows}).json()["posterior"]
    (one,) = found["explanations"]
    assert list(one["posterior"].values()) == posterior[0]
    if name in ("tennis", "network"):
        assert one == plain(model.explain(SUNNY).to_dict())
        in_logs = ask.post(f"{path}/explain", {"rows": rows, "form": "log"}).json()["explanations"]
        assert in_logs == [plain(model.explain(SUNNY, form="log").to_dict())]


def test_explanations_come_one_in_each_line_where_that_is_accepted(ask: Asker) -> None:
    plain = ask.post("/v1/explain", {"rows": [SUNNY, {}]}).json()["explanations"]
    lines = ask.send("/v1/explain", json.dumps(SUNNY).encode() + b"\n{}\n", "application/x-ndjson")
    assert [json.loads(line) for line in lines.text.splitlines()] == plain


@pytest.mark.parametrize(
    ("path", "body", "code", "said"),
    [
        ("explain", {"rows": [{}] * 101}, 413, "100 are explained"), ("explain", {"rows": []}, 400, "no rows"),
        ("explain", {"rows": [{}], "form": "sum"}, 400, '"product" or "log"'),
        ("explain", {"rows": [{}], "from": "log"}, 400, "'from' is not asked here"),
        ("change", {"rows": [{}] * 11}, 413, "10 are looked at"), ("change", {"rows": [{}], "locked": 1}, 400, "list"),
        ("change", {"rows": [{}], "locked": ["Wnd"]}, 400, "Wind"), ("change", {"rows": [{}], "most": -1}, 400, "most"),
        ("change", {"rows": [{}], "target": "Maybe"}, 400, "Maybe"),
        ("change", {"rows": [{}], "most": "x"}, 400, "most"),
        ("change", {"rows": [{}], "target": []}, 400, "list"),
        ("change", {"rows": [{}], "locked": [[]]}, 400, "locked"),
    ],
)  # fmt: skip
def test_what_is_asked_wrongly_is_said(ask: Asker, path: str, body: Any, code: int, said: str) -> None:
    assert said in error(ask.post(f"/v1/{path}", body), code)


@pytest.mark.parametrize("name", ["tennis", "patients", "network", "codes"])
def test_every_suggestion_gives_the_answer_that_it_promises(ask: Asker, name: str) -> None:
    path, row = f"/v1/models/{name}", {} if name == "codes" else {"bmi": 32.0} if name == "patients" else SUNNY
    (found,) = ask.post(f"{path}/change", {"rows": [row], "most": 3}).json()["changes"]
    assert found["suggestions"]
    for each in found["suggestions"]:
        answer = ask.post(f"{path}/predict", {"rows": [each["row"]]}).json()
        assert answer["predicted"] == [found["target"]]
        assert answer["posterior"] == [each["posterior"]]
        assert {move["column"] for move in each["moves"]} == {
            key for key in each["row"].keys() | row.keys() if each["row"].get(key) != row.get(key)
        }


def test_what_is_locked_is_not_changed_and_a_class_may_be_asked_for(ask: Asker) -> None:
    body = {"rows": [SUNNY], "target": "Yes", "locked": ["Outlook"]}
    (found,) = ask.post("/v1/change", body).json()["changes"]
    assert found["target"] == "Yes"
    assert found["suggestions"]
    assert all(move["column"] != "Outlook" for each in found["suggestions"] for move in each["moves"])


# What the model is.


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_described(ask: Asker, loaded: dict[str, Served], name: str) -> None:
    found, version = ask("GET", f"/v1/models/{name}/model").json(), loaded[name].now
    assert (found["name"], found["version"], found["kind"]) == (name, version.version, type(version.model).__name__)
    assert found["classes"] == plain(version.model.classes_)
    assert found["rows"] == {
        "tennis": 14,
        "network": 14,
        "patients": 442,
        "numbers": 60,
        "texts": 6,
        "sequences": 6,
    }.get(name, 40)
    assert [each["name"] for each in found["columns"]] == version.columns.names
    assert found["learns"] is False
    assert {"name": name, "version": version.version} in ask("GET", "/v1/models").json()["models"]


def test_the_sheet_is_the_models_and_what_has_none_says_so(ask: Asker, loaded: dict[str, Served]) -> None:
    assert ask("GET", "/v1/sheet").text == sheet(loaded["tennis"].now.model).to_json()
    for path in ("/v1/models/sequences/sheet", "/models/sequences"):
        assert "LanguageModelClassifier has no sheet" in error(ask("GET", path), 404)


def test_the_page_is_that_of_the_model(ask: Asker) -> None:
    for path in ("/", "/models/patients"):
        found = ask("GET", path)
        assert found.headers["content-type"] == "text/html; charset=utf-8"
        assert found.text.startswith("<!doctype html>")
        assert found.headers["x-content-type-options"] == "nosniff"


# OpenAPI.


@pytest.mark.parametrize("name", NAMES)
def test_the_openapi_document_holds_for_what_is_asked_and_answered(ask: Asker, name: str) -> None:
    document = ask("GET", f"/v1/models/{name}/openapi.json").json()
    OpenAPIV31SpecValidator(document).validate()

    def check(instance: Any, schema: Any) -> None:
        Draft202012Validator({**schema, "components": document["components"]}).validate(instance)

    own = f"/v1/models/{name}"
    row = {"tennis": SUNNY, "network": SUNNY, "patients": {"bmi": 20.0, "age": None}}.get(name, {})
    bodies: dict[str, Any] = {
        "predict": {"rows": [row]}, "explain": {"rows": [row], "form": "log"}, "change": {"rows": [row], "most": 1},
    }  # fmt: skip
    if name == "sequences":
        del bodies["change"]
    infer = {"id": "1", "inputs": [], "outputs": [{"name": "predict_proba"}]}
    asked = [("post", f"{own}/{verb}", body) for verb, body in bodies.items()]
    asked += [("post", f"/v2/models/{name}/infer", infer)]
    for path, shown in document["paths"].items():
        if "get" in shown and not path.endswith(("/sheet", "/metrics")):
            asked.append(("get", path, None))
    for method, path, body in asked:
        operation = document["paths"][path][method]
        if body is not None:
            check(body, operation["requestBody"]["content"]["application/json"]["schema"])
        answer = ask(method.upper(), path, json=body)
        content = operation["responses"]["200"]["content"]
        assert answer.status_code == 200, (path, answer.text)
        check(answer.json(), content["application/json"]["schema"])
    failure = ask.post(f"{own}/predict", {"rows": 3})
    check(failure.json(), document["paths"][f"{own}/predict"]["post"]["responses"]["default"]["content"]
          ["application/json"]["schema"])  # fmt: skip


def test_every_address_is_in_the_document_or_for_a_browser(ask: Asker) -> None:
    paths = set(ask("GET", "/v1/openapi.json").json()["paths"])
    others = {"/", "/enter", "/v1/enter", "/ping", "/invocations"}
    own = {path for path in ask.app.routes if "/models/" not in path or "/models/tennis" in path}
    short = {path for path in own if path.startswith("/v1/") and "/models/tennis" not in path and path != "/v1/models"}
    learning = {path for path in own if path.rpartition("/")[2] in ("learn", "forget", "recalibrate")}
    assert own - short - others - learning - {"/models/tennis"} == paths
    assert {f"/v1/models/tennis/{path.rpartition('/')[2]}" for path in short} - {"/v1/models/tennis/enter"} <= own


# Counters.


def test_what_was_answered_is_counted(ask: Asker) -> None:
    ask.post("/v1/predict", {"rows": [SUNNY, {"Outlook": "Snow"}]})
    ask.post("/v1/predict", {"rows": [{}] * 100})
    ask.post("/v1/predict", {"rows": 3})
    ask.post("/v2/models/patients/infer", {"inputs": []})
    ask("GET", "/etc/passwd")
    found = counters(ask("GET", "/metrics"))
    assert found["ingenuo_requests_total", 'route="/v1/predict",code="200"'] == 2
    assert found["ingenuo_requests_total", 'route="/v1/predict",code="400"'] == 1
    assert found["ingenuo_requests_total", 'route="unknown",code="404"'] == 1
    assert found["ingenuo_rows_total", 'op="predict",model="tennis"'] == 102
    assert found["ingenuo_rows_total", 'op="predict",model="patients"'] == 1
    assert found["ingenuo_request_seconds_count", 'route="/v1/predict"'] == 3
    assert found["ingenuo_request_seconds_bucket", 'route="/v1/predict",le="+Inf"'] == 3
    assert found["ingenuo_model_rows", 'model="tennis"'] == 14
    assert found["ingenuo_unseen_total", 'model="tennis",column="Outlook"'] == 1
    assert found["ingenuo_missing_total", 'model="tennis",column="Wind"'] == 101
    answers = {labels: n for (name, labels), n in found.items() if name == "ingenuo_answers_total"}
    assert sum(n for labels, n in answers.items() if 'model="tennis"' in labels) == 102
    assert found["ingenuo_in_flight", ""] == 0
    assert found["ingenuo_reload_failures_total", 'model="tennis"'] == 0
