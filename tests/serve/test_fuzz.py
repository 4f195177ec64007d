"""Whatever is sent, the answer is 2xx or 4xx with one sentence, and the server answers on as before.

The bodies are drawn by a seed; `python -m benchmarks serve --faults` sends more of them, over sockets.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ingenuo.serve.app import Service
from ingenuo.serve.bodies import ARROW, CSV, JSON, NDJSON
from ingenuo.serve.http import Guard, split_host
from ingenuo.serve.live import LiveModel
from ingenuo.serve.models import Served
from ingenuo.serve.process import Learning

from .disks import MemoryFolder

ROWS = ("tennis", "patients", "texts", "counts", "codes", "network", "sequences")
PATHS = [
    *(f"/v1/models/{name}/{verb}" for name in ROWS for verb in ("predict", "explain", "change")),
    *(f"/v2/models/{name}/infer" for name in ("patients", "numbers", "texts")),
    "/invocations", "/v1/learn", "/v1/enter",
]  # fmt: skip
ODD: list[Any] = [
    None, True, False, 0, -1, 1.5, 1e308, -1e-320, 2**63, 2**64, 10**300, "", "x", "Sunny", "\0", "\u202e", "é" * 300,
    [], {}, [[]], [{}], {"": {}}, [None], "NaN", "1e999", "rows", {"rows": []},
]  # fmt: skip
TENSOR = {"name": "bmi", "shape": [2, 1], "datatype": "FP64", "data": [20.0, None]}
TABLE = {"name": "all", "shape": [1, 3], "datatype": "FP32", "data": [[1.0, 2, 3]]}
GOOD: list[tuple[str, Any]] = [
    ("/v1/models/tennis/predict", {"rows": [{"Outlook": "Sunny", "Wind": None}, {}]}),
    ("/v1/models/patients/predict", {"rows": [{"bmi": 20.5, "age": "50s"}] * 70}),
    ("/v1/models/counts/predict", {"rows": [{"a": 3, "b": 0}]}),
    ("/v1/models/codes/predict", {"rows": [{"code": 3, "flag": True}] * 65}),
    ("/v1/models/texts/predict", {"rows": ["a film"]}),
    ("/v1/models/sequences/explain", {"rows": [{"text": "a warm film"}]}),
    ("/v1/models/network/explain", {"rows": [{"Outlook": "Rain"}], "form": "log"}),
    ("/v1/models/tennis/change", {"rows": [{"Outlook": "Rain"}], "target": "Yes", "locked": ["Wind"], "most": 2}),
    ("/v2/models/patients/infer", {"id": "7", "inputs": [TENSOR], "outputs": [{"name": "predict"}]}),
    ("/v2/models/numbers/infer", {"inputs": [TABLE], "parameters": {}}),
    ("/invocations", {"dataframe_split": {"columns": ["Outlook"], "data": [["Sunny"]]}}),
    ("/invocations", {"instances": [{"Wind": "Weak"}], "params": {"method": "predict_proba"}}),
    ("/invocations", {"inputs": {"Wind": ["Weak", None]}}),
    ("/v1/learn", {"rows": [{"Outlook": "Sunny"}], "classes": ["Yes"], "weights": [1.0]}),
    ("/v1/enter", {"token": "x"}),
]


def change(value: Any, rng: random.Random) -> Any:
    """The value with something else in some place."""
    if rng.random() < 0.2:
        return rng.choice(ODD)
    if isinstance(value, dict) and value:
        key = rng.choice(list(value))
        found = dict(value)
        if rng.random() < 0.2:
            found[str(rng.choice(ODD))[:50]] = found.pop(key)
        else:
            found[key] = change(value[key], rng)
        return found
    if isinstance(value, list) and value:
        place = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value[:place] + value[place + 1 :]
        return [*value[:place], change(value[place], rng), *value[place + 1 :]]
    return rng.choice(ODD)


def damage(data: bytes, rng: random.Random) -> bytes:
    """Bytes of which some are others, are gone, or stand twice."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(found) + 1)
        some = rng.choice(
            [b"", rng.randbytes(3), b"\xff", b"\xed\xa0\x80", b"{", b"]", b'"', b"\\ud800", b"e999", b"-"]
        )
        found[at : at + rng.choice([0, 1, 5])] = some
    return bytes(found)


def nest(rng: random.Random) -> bytes:
    depth = rng.choice([10, 900, 5_000, 50_000])
    begin, end = rng.choice([(b"[", b"]"), (b'{"rows":', b"}"), (b'{"rows":[', b"]}")])
    return begin * depth + b"1" + end * rng.choice([depth, 0, depth - 1])


def stream(rng: random.Random) -> bytes:
    columns = {name: [rng.choice(["a", None, "Sunny"])] * 3 for name in rng.sample(["Outlook", "age", "Wind", "x"], 2)}
    sink = pa.BufferOutputStream()
    table = pa.table({**columns, "bmi": [1.0, None, float("inf")]})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def cells(rng: random.Random) -> bytes:
    return b"Outlook,bmi,Wind\n" + b"".join(
        b",".join(
            rng.choice([b"Sunny", b"", b'"', b'"a,b"', b"1e999", b"\r", b"NA"]) for _ in range(rng.choice([3, 3, 2]))
        )
        + b"\n"
        for _ in range(3)
    )


def numbers(rng: random.Random) -> bytes:
    number = rng.choice(
        [b"1" * 5000, b"1e400", b"-0", b"1" + b"0" * 308, b"0." + b"0" * 400 + b"1", b"NaN", b"-Infinity"]
    )
    return b'{"rows": [{"bmi": %s, "a": %s}]}' % (number, number)


def table_path(rng: random.Random) -> str:
    return rng.choice(["/v1/models/tennis/predict", "/v1/models/patients/predict", "/invocations"])


def mutated(rng: random.Random) -> tuple[str, bytes]:
    path, body = rng.choice(GOOD)
    for _ in range(rng.randrange(3)):
        body = change(body, rng)
    return path, json.dumps(body).encode()


def damaged(rng: random.Random) -> tuple[str, bytes]:
    path, body = rng.choice(GOOD)
    return path, damage(json.dumps(body).encode(), rng)


MAKERS: list[tuple[int, str, Callable[[random.Random], tuple[str, bytes]]]] = [
    (8, JSON, mutated),
    (3, JSON, damaged),
    (1, JSON, lambda rng: (rng.choice(PATHS), rng.randbytes(rng.randrange(60)))),
    (1, JSON, lambda rng: (rng.choice(PATHS), json.dumps(rng.choice(GOOD)[1]).encode(rng.choice(CODES)))),
    (1, JSON, lambda rng: (f"/v1/models/{rng.choice(['patients', 'counts'])}/predict", numbers(rng))),
    (1, JSON, lambda rng: (rng.choice(PATHS), nest(rng))),
    (1, NDJSON, lambda rng: ("/v1/predict", damage(b'{"Outlook": "Sunny"}\n{"Wind": null}\n' * 3, rng))),
    (2, CSV, lambda rng: (table_path(rng), damage(cells(rng), rng) if rng.random() < 0.5 else cells(rng))),
    (3, ARROW, lambda rng: (table_path(rng), damage(stream(rng), rng) if rng.random() < 0.8 else stream(rng))),
]
CODES = ["utf-16", "utf-32", "utf-8-sig"]
KINDS = [JSON, NDJSON, CSV, ARROW, "", "text/plain", "application/json; charset=utf-8", "multipart/form-data"]


def draw(rng: random.Random) -> tuple[str, dict[str, str], bytes]:
    """The path, headers and body of a request."""
    _, kind, make = rng.choices(MAKERS, [weight for weight, *_ in MAKERS])[0]
    path, data = make(rng)
    if rng.random() < 0.1:
        path = rng.choice(PATHS)
    headers = {"content-type": kind if rng.random() < 0.95 else rng.choice(KINDS)}
    if rng.random() < 0.1:
        pack = rng.choice([gzip.compress, zlib.compress, lambda data: gzip.compress(data)[:-3], damage_packed])
        headers["content-encoding"], data = rng.choice(["gzip", "deflate", "br"]), pack(data)
    if rng.random() < 0.05:
        headers["content-length"] = str(rng.choice([0, 1, len(data) + 100, 2**31, 2**70]))
    if rng.random() < 0.05:
        headers[rng.choice(["accept", "idempotency-key", "inference-header-content-length", "authorization"])] = (
            rng.choice(["", "x" * 500, "text/csv", ARROW, "3", "\x00", "Bearer \xff"])
        )
    return path, headers, data


def damage_packed(data: bytes) -> bytes:
    return damage(gzip.compress(data), random.Random(len(data)))


async def send(app: Service, path: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
    """One request, without a client that would refuse to send it."""
    sent: list[Any] = []
    pieces = [body[: len(body) // 2], body[len(body) // 2 :]]

    async def receive() -> Any:
        if not pieces:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def note(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8000"), *((k.encode(), v.encode("latin-1")) for k, v in headers.items())],
        "server": ("127.0.0.1", 8000), "scheme": "http", "http_version": "1.1", "root_path": "",
    }  # fmt: skip
    await asyncio.wait_for(app(scope, receive, note), 30)
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


async def pelt(app: Service, drawn: Iterable[tuple[str, dict[str, str], bytes]]) -> Counter[int]:
    """Send requests; how often each status was answered."""
    statuses = Counter[int]()
    for path, headers, body in drawn:
        status, said, answer = await send(app, path, headers, body)
        statuses[status] += 1
        asked = (path, headers, body[:300], answer[:300])
        assert 200 <= status < 500, asked
        if status >= 400:
            found = json.loads(answer)
            assert list(found) == ["error"], asked
            assert found["error"] == " ".join(found["error"].split()) != "", asked
            assert len(found["error"]) < 1000, asked
            assert "Traceback" not in found["error"], asked
        elif said[b"content-type"] == b"application/json":
            json.loads(answer, parse_constant=pytest.fail)
    assert app.in_flight == app.bodies.held == 0
    return statuses


@pytest.mark.parametrize("seed", range(2))
def test_no_body_is_answered_by_a_failure_of_ours(loaded: dict[str, Served], seed: int) -> None:
    rng, app = random.Random(seed), Service(list(loaded.values()), Guard())
    plain = ("/v1/predict", {"content-type": JSON}, json.dumps({"rows": [{"Outlook": "Sunny"}]}).encode())

    async def run() -> Counter[int]:
        before = await send(app, *plain)
        statuses = await pelt(app, (draw(rng) for _ in range(2000)))
        assert before[2] == (await send(app, *plain))[2]
        return statuses

    statuses = asyncio.run(run())
    assert statuses[200] > 200  # else the requests are all too wrong to try anything
    assert {400, 403, 409, 415} <= set(statuses)


LEARNED: list[tuple[str, Any]] = [
    ("tennis", {"rows": [{"Outlook": "Sunny", "Play": "Yes"}, {"Wind": None, "Play": "No"}]}),
    ("tennis", {"rows": [{"Outlook": "Snow"}], "classes": ["Perhaps"], "weights": [0.5]}),
    ("patients", {"rows": [{"bmi": 20.5, "age": "50s", "progression": "fast"}] * 3}),
    ("patients", {"rows": [{"bmi": -1e300, "bp": 1e-300}], "classes": ["slow"]}),
    ("counts", {"rows": [{"a": 3, "b": 10}], "classes": [True]}),
    ("texts", {"rows": ["a film", {"text": "no film"}], "classes": ["+", "-"]}),
    ("network", {"rows": [{"Outlook": "Rain", "Play": "Yes"}]}),
    ("numbers", {"rows": [{"x0": 1.5, "x2": -2}], "classes": [1]}),
    ("codes", {"rows": [{"code": 3, "flag": True}], "classes": [0]}),
]


def draw_change(rng: random.Random) -> tuple[str, dict[str, str], bytes]:
    """The path, headers and body of a request that learns, forgets, calibrates, or asks what was learned."""
    name, body = rng.choice(LEARNED)
    verb = rng.choice(["learn", "learn", "forget", "recalibrate", "predict"])
    for _ in range(rng.randrange(3)):
        body = change(body, rng)
    data = json.dumps(body).encode()
    headers = {"content-type": JSON} | ({"idempotency-key": str(rng.randrange(20))} if rng.random() < 0.2 else {})
    return f"/v1/models/{name}/{verb}", headers, damage(data, rng) if rng.random() < 0.1 else data


@pytest.mark.filterwarnings("ignore::UserWarning")  # of calibrations that are behind
def test_no_change_is_answered_by_a_failure_of_ours_and_all_are_kept(files: Path) -> None:
    rng, models, folders = random.Random(0), dict[str, Served](), dict[str, MemoryFolder]()
    for name in dict.fromkeys(name for name, _ in LEARNED):
        served = models[name] = Served(name, str(files / f"{name}.ingenuo"))
        served.open()
        folders[name] = MemoryFolder()
        served.live = LiveModel(
            served.now.model, {}, "", name=name, version="base", disk=folders[name], table=served.now.columns.table
        )
    learning = Learning(models)
    app = Service(list(models.values()), Guard(), changes=learning)
    statuses = asyncio.run(pelt(app, (draw_change(rng) for _ in range(1000))))
    assert statuses[200] > 200
    assert {400, 409} <= set(statuses)
    learning.close()
    for name, served in models.items():
        again = LiveModel(served.live.model, {}, "", name=name, version="base", disk=folders[name].after_kill())
        assert again.state == served.live.state
        assert again.state["seq"] > 10
        assert again.model.tally_ == served.live.model.tally_
        again.close()


def test_any_host_is_split() -> None:
    rng = random.Random(0)
    for _ in range(2000):
        host = "".join(rng.choice("[]:.a1é²\0 ") for _ in range(rng.randrange(8)))
        name, port = split_host(host)
        assert host.lower().startswith(name)
        assert port is None or 0 <= port < 100_000


def wide_stream(n: int) -> bytes:
    sink = pa.BufferOutputStream()
    names = [*(f"c{number}" for number in range(n)), f"c{n - 1}"]
    schema = pa.schema([pa.field(name, pa.null()) for name in names])
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.record_batch([pa.nulls(1)] * len(names), schema=schema))
    return bytes(sink.getvalue().to_pybytes())


KEYS = ",".join(f'"{number:x}":1' for number in range(200_000))
NAMES = ",".join(f"c{number}" for number in range(200_000))
LONG: list[tuple[str, str, bytes, int, str]] = [
    ("/v1/predict", JSON, f'{{"rows": [{{{KEYS},"1":2}}]}}'.encode(), 400, "has the key '1' twice"),
    ("/v1/predict", JSON, f'{{"rows": [{{"{"Outlook" * 300_000}": 1}}]}}'.encode(), 400, "does not know"),
    ("/v1/predict", CSV, f"{NAMES}\n{NAMES}\n".encode(), 413, "200,000 columns, and 10,000 are taken"),
    ("/v1/predict", CSV, f'"\n",{NAMES}\n'.encode(), 413, "200,001 columns"),
    ("/v1/predict", ARROW, wide_stream(9_000), 400, "two columns 'c8999'"),
    ("/v1/predict", NDJSON, b"\n" * 1_000_000, 400, "no rows"),
    ("/v1/predict", JSON, b'{"rows": [' + b"{}," * 200_000 + b"{}]}", 413, "200,001 rows"),
    ("/v1/models/texts/explain", JSON, json.dumps({"rows": ["warm " * 110_000]}).encode(), 413, "524,288"),
    ("/v1/models/texts/change", JSON, json.dumps({"rows": ["warm " * 100_000]}).encode(), 400, "too long to look for"),
]


@pytest.mark.parametrize(("path", "kind", "body", "status", "said"), LONG, ids=[said for *_, said in LONG])
def test_bodies_that_are_made_to_take_long_do_not(
    loaded: dict[str, Served], path: str, kind: str, body: bytes, status: int, said: str
) -> None:
    app = Service(list(loaded.values()), Guard())
    found, _, answer = asyncio.run(send(app, path, {"content-type": kind}, body))  # which waits for half a minute
    assert found == status
    assert said in json.loads(answer)["error"]
