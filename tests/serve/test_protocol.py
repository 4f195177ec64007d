"""The Open Inference Protocol, version 2: every address of it, tensors of each form, and failures of one form."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import ingenuo as ing
from ingenuo.serve.models import Served
from ingenuo.serve.protocol import DATATYPES

from .asker import Asker, error

PATH = "/v2/models/patients/infer"


def tensor(name: str, data: list[Any], kind: str = "FP64", shape: list[int] | None = None) -> dict[str, Any]:
    return {"name": name, "shape": shape or [len(data), 1], "datatype": kind, "data": data}


def infer(ask: Asker, name: str, *inputs: dict[str, Any], **more: Any) -> Any:
    answer = ask.post(f"/v2/models/{name}/infer", {"inputs": list(inputs), **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def posterior(answer: dict[str, Any]) -> list[list[float]]:
    """The probabilities of an answer, by row."""
    (found,) = [each for each in answer["outputs"] if each["name"] == "predict_proba"]
    n, k = found["shape"]
    return [found["data"][k * row : k * (row + 1)] for row in range(n)]


def test_the_server_says_what_it_is(ask: Asker) -> None:
    found = ask("GET", "/v2").json()
    assert (found["name"], found["version"]) == ("ingenuo", ing.__version__)
    assert found["extensions"] == ["ingenuo-null", "ingenuo-explain", "ingenuo-learn"]
    for path in ("/v2/health/live", "/v2/health/ready", "/ping"):
        assert ask("GET", path).json() == {"live": True}
    assert ask("HEAD", "/v2/health/ready").status_code == 200


@pytest.mark.parametrize("name", ["patients", "texts", "counts"])
def test_the_metadata_names_every_tensor(ask: Asker, loaded: dict[str, Served], name: str) -> None:
    found = ask("GET", f"/v2/models/{name}").json()
    version = loaded[name].now.version
    assert len(version) == 12
    assert (found["name"], found["versions"], found["platform"]) == (name, [version], "ingenuo")
    kinds = {"number": "FP64", "count": "INT64", "category": "BYTES", "text": "BYTES"}
    columns = ask("GET", f"/v1/models/{name}/model").json()["columns"]
    assert found["inputs"] == [
        {"name": each["name"], "datatype": kinds[each["kind"]], "shape": [-1, 1]} for each in columns
    ]
    assert [(each["name"], each["datatype"], each["shape"]) for each in found["outputs"]] == [
        ("predict", "BYTES", [-1]), ("probability", "FP64", [-1]), ("predict_proba", "FP64", [-1, 2]),
    ]  # fmt: skip
    assert ask("GET", f"/v2/models/{name}/versions/{version}").json() == found


def test_a_model_is_ready_and_its_version_has_addresses_too(ask: Asker, loaded: dict[str, Served]) -> None:
    own = f"/v2/models/numbers/versions/{loaded['numbers'].now.version}"
    for path in ("/v2/models/numbers", own):
        assert ask("GET", f"{path}/ready").json() == {"name": "numbers", "ready": True}
    body = {"inputs": [tensor("x0", [1.0])]}
    assert ask.post(f"{own}/infer", body).json() == ask.post("/v2/models/numbers/infer", body).json()
    said = error(ask.post("/v2/models/numbers/versions/000000000000/infer", body), 404)
    assert said == f"this version of numbers does not answer; {loaded['numbers'].now.version} does"
    assert "there are tennis, codes" in error(ask("GET", "/v2/models/nobody"), 404)


def test_a_tensor_of_each_column_is_answered_as_rows_are(ask: Asker) -> None:
    rows = [{"age": "50s", "bmi": 32.125, "bp": 101}, {"age": None, "bmi": 20.0, "bp": None}]
    plain = ask.post("/v1/models/patients/predict", {"rows": rows}).json()
    inputs = [tensor("age", ["50s", None], "BYTES"), tensor("bmi", [32.125, 20.0]), tensor("bp", [101, None], "INT64")]
    found = infer(ask, "patients", *inputs, id="a-1", parameters={"anything": 1})
    assert (found["id"], found["model_name"], found["model_version"]) == ("a-1", "patients", plain["version"])
    assert [each["name"] for each in found["outputs"]] == ["predict", "probability", "predict_proba"]
    best, share, every = found["outputs"]
    assert (best["datatype"], best["shape"], best["data"]) == ("BYTES", [2], plain["predicted"])
    assert (share["datatype"], share["shape"], share["data"]) == ("FP64", [2], plain["probability"])
    assert (every["datatype"], every["shape"], every["parameters"]) == ("FP64", [2, 2], {"classes": plain["classes"]})
    assert posterior(found) == plain["posterior"]
    assert "id" not in infer(ask, "patients", *inputs)


def test_shapes_and_nesting_say_the_same(ask: Asker) -> None:
    ways = [([3, 1], [1.0, 2.0, 3.0]), ([3], [1.0, 2.0, 3.0]), ([3, 1], [[1.0], [2.0], [3.0]])]
    found = [infer(ask, "numbers", tensor("x1", data, shape=shape)) for shape, data in ways]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("n", [2, 100])
def test_one_tensor_of_all_columns_is_answered_where_all_are_numbers(
    ask: Asker, loaded: dict[str, Served], n: int
) -> None:
    X = np.random.default_rng(1).normal(size=(n, 3))
    expected = loaded["numbers"].now.model.predict_proba(X).tolist()
    for data in (X.ravel().tolist(), X.tolist()):
        assert posterior(infer(ask, "numbers", tensor("input-0", data, shape=[n, 3]))) == expected
    missing = [[None, *row[1:]] for row in X.tolist()]
    without = [tensor(f"x{k}", X[:, k].tolist()) for k in (1, 2)]
    assert infer(ask, "numbers", tensor("input-0", missing, shape=[n, 3])) == infer(ask, "numbers", *without)
    for wrong, said in ("1e400", "give a finite one"), ("1" * 310, "give a finite one"), ('"1"', "which is no FP64"):
        body = json.dumps({"inputs": [tensor("input-0", [*X.ravel().tolist()[1:], "X"], shape=[n, 3])]})
        refused = ask.send("/v2/models/numbers/infer", body.replace('"X"', wrong).encode(), "application/json")
        assert said in error(refused, 400)
    mixed = ask.post("/v2/models/patients/infer", {"inputs": [tensor("rows", [0.0] * 10, shape=[1, 10])]})
    assert "numbers alone" in error(mixed, 400)


def test_null_and_what_is_left_out_are_missing(ask: Asker) -> None:
    nothing = infer(ask, "patients")
    assert nothing == infer(ask, "patients", tensor("bmi", [None]))
    prior = ask.post("/v1/models/patients/predict", {"rows": [{}]}).json()["posterior"]
    assert posterior(nothing) == prior
    assert posterior(ask.post(PATH, {}).json()) == prior


def test_only_the_outputs_that_are_asked_for_come_and_in_their_order(ask: Asker) -> None:
    names = ["predict_proba", "predict"]
    found = infer(ask, "patients", tensor("bmi", [20]), outputs=[{"name": name} for name in names])
    assert [each["name"] for each in found["outputs"]] == names


NUMBERS = [each for each in DATATYPES if each not in ("BOOL", "BYTES")]


@pytest.mark.parametrize("kind", NUMBERS)
def test_every_datatype_of_numbers_is_taken_and_its_limits_are_its_own(ask: Asker, kind: str) -> None:
    assert infer(ask, "patients", tensor("bmi", [20], kind)) == infer(ask, "patients", tensor("bmi", [20.0]))
    if "INT" in kind:
        low = 0 if kind[0] == "U" else -(2 ** (int(kind[3:]) - 1))
        for wrong in (low - 1, 2**64, 20.0, "20", True):
            said = error(ask.post(PATH, {"inputs": [tensor("bmi", [wrong], kind)]}), 400)
            assert "element 0" in said
            assert kind in said


def test_bool_and_bytes_are_those_of_categories(ask: Asker) -> None:
    flags = ask.post("/v1/models/codes/predict", {"rows": [{"flag": True}]}).json()["posterior"]
    assert posterior(infer(ask, "codes", tensor("flag", [True], "BOOL"))) == flags
    texts = ask.post("/v1/models/texts/predict", {"rows": ["a warm story"]}).json()["posterior"]
    assert posterior(infer(ask, "texts", tensor("text", ["a warm story"], "BYTES"))) == texts


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"datatype": "FP8"}, "datatype"), ({"datatype": "FLOAT64"}, "datatype"), ({"datatype": None}, "datatype"),
        ({"datatype": [1]}, "datatype"), ({"shape": [2, 1]}, "2 elements, and the data has 1"),
        ({"shape": [1, 1, 1]}, "3 axes"), ({"shape": [-1, 1]}, "whole numbers"), ({"shape": []}, "whole numbers"),
        ({"shape": [True]}, "whole numbers"), ({"shape": [0, 1], "data": []}, "no rows"),
        ({"shape": [1, 2], "data": [1, 2]}, "[n, 1] or [n]"), ({"data": 20.0}, "a list"), ({"data": None}, "a list"),
        ({"data": [[1.0, 2.0]]}, "shape"), ({"data": [[[1.0]]]}, "element 0"), ({"data": ["20"]}, "no FP64"),
        ({"data": [1e308 * 10]}, "no JSON"), ({"name": 3}, "no name"), ({"name": "bmj"}, "did you mean 'bmi'"),
        ({"data": None, "parameters": {"binary_data_size": 8}}, "binary"),
    ],
)  # fmt: skip
def test_tensors_that_are_none_are_refused_in_one_sentence(ask: Asker, change: dict[str, Any], said: str) -> None:
    body = json.dumps({"inputs": [tensor("bmi", [20.0]) | change]}).encode()
    found = ask.send(PATH, body, "application/json")
    assert said in error(found, 400)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], "object of JSON"), ({"inputs": {}}, "a list of tensors"), ({"inputs": [3]}, "input 0 must be an object"),
        ({"id": 7}, "id must be a text"), ({"outputs": [{"name": "prediction"}]}, "did you mean 'predict'"),
        ({"outputs": [{"name": "predict"}] * 2}, "asked for twice"), ({"outputs": "predict"}, "a list of objects"),
        ({"outputs": [{"name": ["predict"]}]}, "there is no output"), ({"outputs": [7]}, "there is no output"),
        ({"outputs": [{"name": "predict", "parameters": {"binary_data": True}}]}, "binary"),
        ({"parameters": {"binary_data_output": True}}, "binary"),
        ({"inputs": [tensor("bmi", [1]), tensor("bmi", [2])]}, "two inputs 'bmi'"),
        ({"inputs": [tensor("bmi", [1]), tensor("bp", [2, 3])]}, "2 rows"),
    ],
)  # fmt: skip
def test_requests_that_are_none_are_refused_in_one_sentence(ask: Asker, body: Any, said: str) -> None:
    assert said in error(ask.post(PATH, body), 400)


def test_every_failure_is_one_sentence_whatever_its_code(ask: Asker) -> None:
    assert error(ask("GET", "/v2/modles/patients"), 404)
    wrong = ask("GET", PATH)
    assert error(wrong, 405)
    assert wrong.headers["allow"] == "POST"
    assert error(ask.send(PATH, b"<xml/>", "text/xml"), 415)
    assert "binary" in error(ask.send(PATH, b"{}", "application/json", **{"inference-header-content-length": "2"}), 400)
    shape = [200_000, 1]
    assert "100,000" in error(ask.post(PATH, {"inputs": [tensor("bmi", [], shape=shape)]}), 413)
    assert ask.send(PATH, b"{}", "").status_code == 200  # KServe's callers may leave it out
