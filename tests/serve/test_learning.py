"""Rows are learned and forgotten over HTTP while others ask: exactly, once, and safely before it is answered."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

import ingenuo as ing
from ingenuo import store
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.errors import InputError
from ingenuo.serve import process
from ingenuo.serve.app import Service
from ingenuo.serve.bodies import ARROW, CSV, NDJSON
from ingenuo.serve.http import Guard
from ingenuo.serve.journal import SNAPSHOT
from ingenuo.serve.live import LiveModel
from ingenuo.serve.logs import Log
from ingenuo.serve.models import Served
from ingenuo.serve.process import Learning, Settings, open_live
from ingenuo.serve.publish import Numbers, Published

from .asker import Asker, error
from .counters import counters
from .disks import MemoryFolder

DAYS = play_tennis()
SUNNY = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Weak"}
Start = Callable[..., Asker]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Begins a server of a model that learns."""
    begun: list[Learning] = []

    def make(model: Any, disk: MemoryFolder | None = None, **how: Any) -> Asker:
        path = tmp_path / "M.ingenuo"
        store.save(model, path)
        served = Served("M", str(path))
        if disk is None:
            open_live(served, Settings((), journal=str(tmp_path)), Log(None))
        else:
            served.open()
            now = served.now
            served.live = LiveModel(
                now.model, now.about, "", name="M", version=now.version, disk=disk, table=now.columns.table
            )
        begun.append(Learning({"M": served}))
        return Asker(Service([served], Guard(), changes=begun[-1], **how))

    yield make
    for each in begun:
        each.close()


def model_of(ask: Asker) -> Any:
    return ask.app.first.live.model


def tennis(n: int = 14, **settings: Any) -> Any:
    return ing.NaiveBayes(**settings).fit(DAYS.slice(0, n), "Play")


# What is learned.


def test_what_is_learned_is_answered_at_once_and_equals_the_batch(start: Start) -> None:
    ask = start(tennis(9))
    rows = DAYS.slice(9).to_pylist()
    before = ask.post("/v1/predict", {"rows": [SUNNY]}).json()
    said = ask.post("/v1/learn", {"rows": rows}).json()
    assert said == {"model": "M", "seq": 1, "rows": 14, "version": f"{before['version']}-1", "behind": 0}
    found = ask.post("/v1/models/M/predict", {"rows": [SUNNY]}).json()
    assert found["version"] == said["version"]
    assert found["posterior"] == tennis().predict_proba([SUNNY]).tolist()
    assert model_of(ask).tally_ == tennis().tally_
    said = ask.post("/v1/forget", {"rows": rows}).json()
    assert (said["seq"], said["rows"]) == (2, 9)
    assert ask.post("/v1/predict", {"rows": [SUNNY]}).json()["posterior"] == before["posterior"]
    assert model_of(ask).tally_ == tennis(9).tally_


def arrow(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def cells(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(table, sink)
    return bytes(sink.getvalue().to_pybytes())


@pytest.mark.parametrize("few", [True, False])
def test_rows_are_learned_from_every_kind_of_body(start: Start, few: bool) -> None:
    table = diabetes()
    rows = table.slice(0, 20 if few else 300)
    lines = "".join(json.dumps(row) + "\n" for row in rows.to_pylist()).encode()
    plain = rows.drop_columns(["progression"]).to_pylist()
    bodies = [
        (json.dumps({"rows": rows.to_pylist()}).encode(), "application/json"), (lines, NDJSON),
        (json.dumps({"rows": plain, "classes": rows["progression"].to_pylist()}).encode(), "application/json"),
        (cells(rows), CSV), (arrow(rows), ARROW),
        (arrow(rows.set_column(0, "age", rows["age"].dictionary_encode())), ARROW),
    ]  # fmt: skip
    model = ing.NaiveBayes().fit(table, "progression")
    ask = start(model)
    wanted = store.from_bytes(store.to_bytes(model))
    for data, kind in bodies:
        said = ask.send("/v1/learn", data, kind)
        assert said.status_code == 200, (kind, said.text)
        wanted.partial_fit(rows.drop_columns(["progression"]), rows["progression"].to_pylist())
        assert model_of(ask).tally_ == wanted.tally_, kind
    assert said.json()["rows"] == 442 + 6 * len(rows)
    assert ask.send("/v1/forget", *bodies[-1]).json()["rows"] == 442 + 5 * len(rows)


def test_weights_new_classes_and_new_categories_are_learned(start: Start) -> None:
    ask = start(tennis())
    body = {"rows": [{"Outlook": "Snow"}, SUNNY], "classes": ["Perhaps", "Yes"], "weights": [2, 0.5]}
    assert ask.post("/v1/learn", body).json()["rows"] == 16.5
    found = ask.post("/v1/predict", {"rows": [{"Outlook": "Snow"}]}).json()
    assert found["classes"] == ["No", "Perhaps", "Yes"]
    assert found["predicted"] == ["Perhaps"]
    assert ask("GET", "/v1/model").json()["columns"][0]["values"] == ["Overcast", "Rain", "Snow", "Sunny"]
    assert ask("GET", "/v2/models/M").json()["outputs"][2]["shape"] == [-1, 3]
    ask.post("/v1/forget", body)
    assert model_of(ask).tally_ == tennis().tally_


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"rows": []}, "classes"), ({"rows": [SUNNY]}, "or every row its 'Play'"),
        ({"rows": [SUNNY], "classes": []}, "1 rows and 0 classes"),
        ({"rows": [SUNNY], "classes": "Yes"}, "a list"), ({"rows": [SUNNY], "classes": [None]}, "row 0 has no class"),
        ({"rows": [SUNNY], "classes": [[]]}, "a list"), ({"rows": [SUNNY], "classes": ["No", "No"]}, "1 rows and 2"),
        ({"rows": [SUNNY], "classes": ["No"], "weights": [-1]}, "weight of row 0 is -1"),
        ({"rows": [SUNNY], "classes": ["No"], "weights": [True]}, "weight of row 0"),
        ({"rows": [SUNNY], "classes": ["No"], "weights": [1, 2]}, "1 numbers"),
        ({"rows": [SUNNY], "classes": ["No"], "learned": True}, "'learned' is not asked here"),
        ({"rows": [SUNNY | {"Wnd": 1}], "classes": ["No"]}, "did you mean 'Wind'"),
        ({"rows": [{"Outlook": [1]}], "classes": ["No"]}, "a list is no category"),
    ],
)  # fmt: skip
def test_what_cannot_be_learned_is_said_and_changes_nothing(start: Start, body: Any, said: str) -> None:
    ask = start(tennis())
    for verb in ("learn", "forget"):
        assert said in error(ask.post(f"/v1/{verb}", body), 400)
    assert ask.app.first.live.state["seq"] == 0


def test_what_was_never_learned_is_not_forgotten(start: Start) -> None:
    ask = start(tennis(fingerprints="salt"))
    snow = {"rows": [SUNNY, {"Outlook": "Snow"}], "classes": ["No", "Yes"]}
    said = error(ask.post("/v1/forget", snow), 409)
    assert "Snow" in said
    for _ in range(2):
        answer = ask.post("/v1/forget", {"rows": [SUNNY], "classes": ["No"]})
    assert error(answer, 409)
    assert model_of(ask).tally_ == ing.NaiveBayes(fingerprints="salt").fit(DAYS.slice(1), "Play").tally_
    assert ask.post("/v1/predict", {"rows": [SUNNY]}).status_code == 200


def test_a_sum_that_no_file_holds_is_refused_before_it_is_learned(start: Start) -> None:
    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 0}]
    model = ing.NaiveBayes(columns={"a": "count", "b": "count"}).fit(rows, ["x", "y"])
    ask = start(model)
    assert ask.post("/v1/learn", {"rows": [{"a": 0.5, "b": 6e149}], "classes": ["x"]}).status_code == 200
    for verb, size in (("learn", 1e300), ("learn", 6e149)):  # by itself, and with what was learned before
        body = {"rows": [{"a": 0.5, "b": size}], "classes": ["x"]}
        assert "beyond 1e+150" in error(ask.post(f"/v1/{verb}", body), 400)
    assert ask.post("/v1/forget", {"rows": rows[:1], "classes": ["x"]}).json()["rows"] == 2  # which writes a snapshot
    with pytest.raises(InputError, match="leave out the rows"):
        store.to_bytes(store.from_bytes(store.to_bytes(model)).partial_fit([{"a": 0.5, "b": 1e300}], ["x"]))
    ask.app.changes.close()
    again = start(model)
    assert again.post("/v1/predict", {"rows": [{"a": 1, "b": 1}]}).json()["version"].endswith("-2")


def test_a_model_that_has_forgotten_everything_says_so_and_learns_again(start: Start) -> None:
    ask = start(tennis())
    assert ask.post("/v1/forget", {"rows": DAYS.to_pylist()}).json()["rows"] == 0
    assert error(ask.post("/v1/predict", {"rows": [SUNNY]}), 400)
    for path in ("/v1/model", "/metrics", "/v2/health/ready", "/v1/openapi.json"):
        assert ask("GET", path).status_code == 200, path
    assert ask.post("/v1/learn", {"rows": DAYS.to_pylist()}).json()["rows"] == 14
    assert ask.post("/v1/predict", {"rows": [SUNNY]}).json()["posterior"] == tennis().predict_proba([SUNNY]).tolist()


def test_a_thousand_learns_and_forgets_at_once_come_to_the_batch(start: Start) -> None:
    table = diabetes()
    ask = start(ing.NaiveBayes(fingerprints="salt").fit(table, "progression"))
    rows, places = table.to_pylist(), random.Random(0).choices(range(442), k=800)
    todo = [("learn", place) for place in places] + [("forget", place) for place in range(200)]
    random.Random(1).shuffle(todo)
    asked = [
        ("POST", f"/v1/{verb}", {"json": {"rows": [rows[place]]}, "headers": {"idempotency-key": str(number)}})
        for number, (verb, place) in enumerate(todo)
    ]
    found = ask.together([(method, path, dict(given)) for method, path, given in asked])
    assert {each.status_code for each in found} == {200, 503}  # 64 at once
    for at in range(0, len(asked), 64):  # and all again, each with its key
        again = ask.together(asked[at : at + 64])
        assert {each.status_code for each in again} == {200}
        for first, second in zip(found[at : at + 64], again):
            assert first.status_code == 503 or first.json() == second.json()
    batch = ing.NaiveBayes(fingerprints="salt").fit(table.take([*range(200, 442), *places]), "progression")
    assert model_of(ask).tally_ == batch.tally_


# Keys.


def test_a_repeated_key_changes_nothing_and_has_the_first_answer(start: Start) -> None:
    ask = start(tennis())
    body, key = {"rows": [SUNNY], "classes": ["Yes"]}, {"idempotency-key": "order 66"}
    first = ask.post("/v1/learn", body, **key).json()
    ask.post("/v1/learn", body)
    assert ask.post("/v1/learn", body, **key).json() == first
    assert ask.post("/v1/predict", {"rows": [{}]}).json()["version"].endswith("-2")
    assert "given before, with a learn" in error(ask.post("/v1/forget", body, **key), 400)
    for odd in ("", "x" * 201):
        assert "1 to 200 letters" in error(ask.post("/v1/learn", body, **{"idempotency-key": odd}), 400)


def test_a_change_that_failed_has_not_used_its_key(start: Start) -> None:
    ask = start(tennis())
    key = {"idempotency-key": "a"}
    error(ask.post("/v1/forget", {"rows": [{"Outlook": "Snow"}], "classes": ["Yes"]}, **key), 409)
    assert ask.post("/v1/forget", {"rows": [SUNNY], "classes": ["No"]}, **key).json()["rows"] == 13


# Calibration.


def test_a_calibrated_model_answers_on_and_says_how_far_it_is_behind(start: Start) -> None:
    table = diabetes()
    first, more = table.slice(0, 300), table.slice(300).to_pylist()
    ask = start(ing.NaiveBayes(calibration="platt").fit(first, "progression"))
    assert ask("GET", "/v1/model").json()["behind"] == 0
    assert ask.post("/v1/learn", {"rows": more}).json()["behind"] == 142
    assert ask.post("/v1/predict", {"rows": [{"bmi": 20.0}]}).status_code == 200
    shown = ask("GET", "/v1/model").json()
    assert (shown["calibration"], shown["behind"], shown["learns"]) == ("platt", 142, True)
    assert counters(ask("GET", "/metrics"))["ingenuo_calibration_behind_rows", 'model="M"'] == 142
    said = ask.post("/v1/recalibrate", {"rows": table.to_pylist()}).json()
    assert (said["seq"], said["behind"], said["rows"]) == (2, 0, 442)
    wanted = ing.NaiveBayes(calibration="platt").fit(table, "progression")
    rows = [{"bmi": 20.0}, {"bmi": 33.0, "age": "50s"}]
    assert ask.post("/v1/predict", {"rows": rows}).json()["posterior"] == wanted.predict_proba(rows).tolist()
    assert '"learned" must be' in error(ask.post("/v1/recalibrate", {"rows": more, "learned": 1}), 400)
    new = [{**more[0], "age": "150s"}]
    assert '"learned": false for rows' in error(ask.post("/v1/recalibrate", {"rows": new}), 400)
    weighted = {"rows": more[:1], "weights": [1]}
    assert "no weights" in error(ask.post("/v1/recalibrate", weighted), 400)


def test_what_has_nothing_to_calibrate_says_so(start: Start) -> None:
    assert "calibration=None" in error(start(tennis()).post("/v1/recalibrate", {"rows": DAYS.to_pylist()}), 400)


# What is kept.


def test_after_a_forget_nothing_of_the_rows_is_on_the_disk(start: Start, tmp_path: Path) -> None:
    ask = start(tennis())
    secret = {"rows": [{"Outlook": "Zanzibar"}], "classes": ["Yes"]}
    ask.post("/v1/learn", secret)

    def kept() -> bytes:
        return b"".join(path.read_bytes() for path in sorted((tmp_path / "M").iterdir()))

    assert b"Zanzibar" in kept()
    assert ask.post("/v1/forget", secret).status_code == 200
    assert b"Zanzibar" not in kept()
    assert (tmp_path / "M" / "journal").stat().st_size == 0
    assert store.load(tmp_path / "M" / SNAPSHOT).tally_ == tennis().tally_


def test_a_server_that_is_started_again_goes_on_where_it_was(start: Start) -> None:
    ask = start(tennis(9))
    said = ask.post("/v1/learn", {"rows": DAYS.slice(9).to_pylist()}, **{"idempotency-key": "once"}).json()
    ask.app.changes.close()
    again = start(tennis(9))
    assert again.post("/v1/predict", {"rows": [SUNNY]}).json()["version"] == said["version"]
    assert model_of(again).tally_ == tennis().tally_
    assert again.post("/v1/learn", {"rows": DAYS.slice(9).to_pylist()}, **{"idempotency-key": "once"}).json() == said


def test_on_a_full_disk_learning_waits_and_reading_goes_on(start: Start) -> None:
    disk = MemoryFolder()
    disk.name = "/var/lib/secret"
    lines: list[str] = []
    ask = start(tennis(), disk, log=Log(lines.append))
    body = {"rows": [SUNNY], "classes": ["Yes"]}
    disk.room = disk.used() + 10
    for verb in ("learn", "forget"):
        full = ask.post(f"/v1/{verb}", body | {"classes": ["No"]})
        assert error(full, 503).startswith("the change could not be made safe on the disk (No space left on device)")
        assert full.headers["retry-after"] == "1"
    assert [json.loads(line)["error"] for line in lines] == ["JournalError"] * 2
    found = ask.post("/v1/predict", {"rows": [SUNNY]}).json()
    assert found["posterior"] == tennis().predict_proba([SUNNY]).tolist()
    disk.room = None
    assert ask.post("/v1/learn", body).json()["rows"] == 15


# What is shown of it.


def test_changes_are_counted_and_the_document_has_them(start: Start) -> None:
    ask = start(tennis())
    rows = DAYS.to_pylist()
    asked = [("learn", {"rows": rows}), ("learn", {"rows": rows[:1]}), ("forget", {"rows": rows})]
    document = ask("GET", "/v1/openapi.json").json()
    OpenAPIV31SpecValidator(document).validate()
    for verb, body in asked:
        operation = document["paths"][f"/v1/models/M/{verb}"]["post"]
        answer = ask.post(f"/v1/{verb}", body).json()
        for instance, content in (
            (body, operation["requestBody"]["content"]),
            (answer, operation["responses"]["200"]["content"]),
        ):
            schema = {**content["application/json"]["schema"], "components": document["components"]}
            Draft202012Validator(schema).validate(instance)
    found = counters(ask("GET", "/metrics"))
    assert found["ingenuo_rows_total", 'op="learn",model="M"'] == 15
    assert found["ingenuo_rows_total", 'op="forget",model="M"'] == 14
    assert found["ingenuo_journal_seq", 'model="M"'] == 3
    assert found["ingenuo_journal_bytes", 'model="M"'] == 0
    assert found["ingenuo_model_rows", 'model="M"'] == 15


def test_what_is_answered_while_rows_are_learned_is_of_one_version(start: Start) -> None:
    ask = start(tennis())
    known: dict[str, list[list[float]]] = {}
    rows = DAYS.to_pylist() * 4
    asked: list[tuple[str, str, dict[str, Any]]] = []
    for row in rows:
        asked += [
            ("POST", "/v1/learn", {"json": {"rows": [row]}}),
            ("POST", "/v1/predict", {"json": {"rows": [SUNNY]}}),
        ]
    found = [each.json() for each in ask.together(asked)]
    for each in found[1::2]:
        assert known.setdefault(each["version"], each["posterior"]) == each["posterior"]
    assert ask.post("/v1/predict", {"rows": [SUNNY]}).json()["posterior"] == (
        ing.NaiveBayes().fit(pa.concat_tables([DAYS] * 5), "Play").predict_proba([SUNNY]).tolist()
    )
    assert np.isfinite([each["posterior"] for each in found[1::2]]).all()


def test_a_model_is_not_ready_before_it_has_learned_what_its_journal_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(ing.NaiveBayes().fit(play_tennis(), "Play"), tmp_path / "M.ingenuo")
    served, ready = Served("M", str(tmp_path / "M.ingenuo")), list[bool]()

    def begin(*args: Any, **how: Any) -> LiveModel:
        ready.append(served.is_ready)
        return LiveModel(*args, **how)

    monkeypatch.setattr(process, "LiveModel", begin)
    open_live(served, Settings((), journal=str(tmp_path)), Log(None))
    assert [*ready, served.is_ready] == [False, True]
    served.live.close()


# Versions that another process publishes.


def test_an_answer_waits_for_the_versions_of_before_it_and_not_for_all_to_come(tmp_path: Path) -> None:
    owner = Numbers(tmp_path, 1, owner=True)
    seqs = iter(range(100))

    class Learned(Published):
        """A model of which there is another version whenever one was loaded."""

        def open(self) -> None:
            about = {"published": {"seq": next(seqs), "version": "v", "behind": 0, "bytes": 0}}
            store.save(tennis(), self.path, about)
            super().open()
            owner.count(0)

    served = Learned("M", tmp_path, 0, Numbers(tmp_path, 1, owner=False))
    for seq in (0, 1):
        owner.count(0)
        assert served.is_behind
        asyncio.run(asyncio.wait_for(served.catch_up(), 20))
        assert served.state()["seq"] == seq
    assert served.is_behind
