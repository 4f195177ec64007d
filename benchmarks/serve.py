"""``python -m benchmarks serve``: the server beside MLServer, MLflow and FastAPI, on the same numbers; faults; memory.

The peers serve scikit-learn's GaussianNB from an interpreter of their own (--peers PYTHON, or $INGENUO_PEERS), which
has mlserver-sklearn, mlflow and fastapi; what is not there is said. CPU is that of all processes of a server, the system's
share included, for each request: on a machine that others use too, clocks say little. The generator of requests is a
process beside it, and is not counted.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from sklearn.datasets import load_breast_cancer

import ingenuo as ing
from benchmarks.serving import Load, Server, cpu_of, free_port, memory_of, request, running, send, serving

BARS = {"one row": 250.0, "over MLServer": 8.0, "over MLServer, 100 rows": 20.0, "learn": 2e3, "learn in bodies": 2e5}

_TRAIN = """
import sys, joblib
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
X, y = load_breast_cancer(return_X_y=True)
model = GaussianNB().fit(X, y)
joblib.dump(model, sys.argv[1] + "/model.joblib")
try:
    import mlflow.sklearn
    mlflow.sklearn.save_model(model, sys.argv[1] + "/mlflow", serialization_format="cloudpickle")
except ImportError:
    pass
"""
_FASTAPI = """
import joblib, numpy as np
from fastapi import FastAPI
from pydantic import BaseModel

model = joblib.load("model.joblib")
app = FastAPI()

class Rows(BaseModel):
    rows: list[list[float]]

class Answers(BaseModel):
    probabilities: list[list[float]]

@app.get("/ready")
def ready():
    return {}

@app.post("/predict")
def predict(given: Rows) -> Answers:
    return Answers(probabilities=model.predict_proba(np.array(given.rows)).tolist())
"""


@dataclass(frozen=True)
class Peer:
    """A server, and how it is asked for some rows."""

    name: str
    start: Callable[[Path], AbstractContextManager[Server]]
    path: str
    body: Callable[[Any], Any]
    answers: Callable[[Any], Any]  # the probabilities of a body
    needs: str | None = None  # a module of the peers' interpreter


def _tensor(rows: Any) -> dict[str, Any]:
    tensor = {"name": "x", "shape": list(rows.shape), "datatype": "FP64", "data": rows.ravel().tolist()}
    return {"inputs": [tensor], "outputs": [{"name": "predict_proba"}]}


def _of_tensor(said: Any) -> Any:
    (found,) = said["outputs"]
    return np.reshape(found["data"], found["shape"])


def peers(python: str | None) -> list[Peer]:
    """Ours, and those of the other interpreter."""
    names = [f"x{place}" for place in range(30)]

    def ours(folder: Path) -> AbstractContextManager[Server]:
        return serving(str(folder / "model.ingenuo"), "--name", "nb", log=folder / "ours.log")

    def quiet(folder: Path) -> AbstractContextManager[Server]:
        return serving(str(folder / "model.ingenuo"), "--name", "nb", "-q", log=folder / "ours.log")

    found = [
        Peer("ingenuo, /v1/predict", ours, "/v1/predict",
             lambda rows: {"rows": [dict(zip(names, row)) for row in rows.tolist()]},
             lambda said: said["posterior"]),
        Peer("ingenuo, /v2 infer", ours, "/v2/models/nb/infer", _tensor, _of_tensor),
        Peer("ingenuo, /v2 infer, no log", quiet, "/v2/models/nb/infer", _tensor, _of_tensor),
    ]  # fmt: skip
    if python is None:
        return found
    beside = str(Path(python).parent)
    env = {"PATH": f"{beside}:{os.environ['PATH']}", "MLFLOW_DISABLE_TELEMETRY": "true"}

    def mlserver(folder: Path, **more: Any) -> AbstractContextManager[Server]:
        http, grpc, metrics = free_port(), free_port(), free_port()
        own = folder / "mlserver"
        own.mkdir(exist_ok=True)
        settings = {"host": "127.0.0.1", "http_port": http, "grpc_port": grpc, "metrics_port": metrics, **more}
        own.joinpath("settings.json").write_text(json.dumps(settings))
        model = {"name": "nb", "implementation": "mlserver_sklearn.SKLearnModel",
                 "parameters": {"uri": str(folder / "model.joblib")}}  # fmt: skip
        own.joinpath("model-settings.json").write_text(json.dumps(model))
        return running(
            [f"{beside}/mlserver", "start", str(own)], http, "/v2/models/nb/ready", env=env, log=folder / "mlserver.log"
        )

    def mlflow(folder: Path) -> AbstractContextManager[Server]:
        port = free_port()
        call = [f"{beside}/mlflow", "models", "serve", "-m", str(folder / "mlflow"), "-p", str(port), "-h", "127.0.0.1",
                "--env-manager", "local", "-w", "1"]  # fmt: skip
        return running(call, port, "/ping", env=env, log=folder / "mlflow.log")

    def fastapi(folder: Path) -> AbstractContextManager[Server]:
        port = free_port()
        folder.joinpath("app.py").write_text(_FASTAPI)
        call = [python, "-m", "uvicorn", "app:app", "--port", str(port)]
        return running(call, port, "/ready", env=env, log=folder / "fastapi.log", cwd=folder)

    return [
        *found,
        Peer("MLServer", mlserver, "/v2/models/nb/infer", _tensor, _of_tensor, "mlserver_sklearn"),
        Peer("MLServer, lean", partial(mlserver, parallel_workers=0, debug=False), "/v2/models/nb/infer", _tensor,
             _of_tensor, "mlserver_sklearn"),
        Peer("MLflow", mlflow, "/invocations",
             lambda rows: {"dataframe_split": {"columns": names, "data": rows.tolist()},
                           "params": {}}, lambda said: None, "mlflow"),
        Peer("FastAPI + scikit-learn", fastapi, "/predict", lambda rows: {"rows": rows.tolist()},
             lambda said: said["probabilities"], "fastapi"),
    ]  # fmt: skip


def prepare(folder: Path, python: str | None) -> Any:
    """The models, and the rows that they are asked for."""
    X, y = load_breast_cancer(return_X_y=True)
    names = [f"x{place}" for place in range(30)]
    table = pa.table({**{name: X[:, place] for place, name in enumerate(names)}, "y": y})
    ing.save(ing.NaiveBayes(prior=ing.MaximumLikelihood()).fit(table, "y"), folder / "model.ingenuo")
    if python is not None:
        subprocess.run([python, "-c", _TRAIN, str(folder)], check=True, capture_output=True)
    return X


def has(python: str, module: str) -> bool:
    """Whether an interpreter has a module."""
    found = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", found], check=False, capture_output=True).returncode == 0


@dataclass(frozen=True)
class Cost:
    """What a request took: microseconds of CPU, requests by the clock, and the slowest of a hundred."""

    cpu: float
    rate: float
    p99: float


def cost(server: Server, requests: Sequence[bytes], seconds: float, connections: int = 8) -> Cost:
    """What requests cost, over about so many seconds of CPU; the best of three parts."""
    check(send(server.port, requests, 200, connections))
    before = cpu_of(server.pid)
    check(send(server.port, requests, 400, connections))
    each = max((cpu_of(server.pid) - before) / 400, 1e-5)
    n = max(200, int(seconds / 3 / each))
    found = []
    for _ in range(3):
        before = cpu_of(server.pid)
        load = check(send(server.port, requests, n, connections))
        used = (cpu_of(server.pid) - before) / n * 1e6
        found.append(Cost(used, n / load.seconds, sorted(load.latencies)[int(0.99 * n)] * 1e3))
    return min(found, key=lambda each: each.cpu)


def check(load: Load) -> Load:
    """Raise unless all was answered as it should be."""
    if set(load.statuses) != {200} or load.lost:
        raise RuntimeError(f"{load.statuses}, {load.lost} lost: {load.last[:300]!r}")
    return load


def speed(folder: Path, python: str | None, seconds: float) -> Iterator[str]:
    """Lines of what one row, and a hundred, cost each server."""
    X = prepare(folder, python)
    expected: Any = None
    costs: dict[tuple[str, int], Cost] = {}
    for peer in peers(python):
        if peer.needs is not None and python is not None and not has(python, peer.needs):
            yield f"{peer.name}: {python} has no {peer.needs}"
            continue
        with peer.start(folder) as server:
            for n in (1, 100):
                bodies = [json.dumps(peer.body(X[at : at + n])).encode() for at in range(0, 400, max(n, 8))]
                requests = [request(server.port, peer.path, body) for body in bodies]
                first = check(send(server.port, requests[:1], 1))
                found = peer.answers(json.loads(first.last)) if first.last.startswith(b"{") else None
                if found is not None:
                    expected = found if n == 1 and expected is None else expected
                    agree = np.allclose(found[0], np.ravel(expected)[: len(found[0])], atol=1e-3)
                    if not agree:
                        yield f"{peer.name} answers otherwise: {found[0]} and not {expected}"
                costs[peer.name, n] = cost(server, requests, seconds)
                one = costs[peer.name, n]
                yield (
                    f"{peer.name:<28} {n:>3} row{'s' * (n > 1)} a request: {one.cpu:8,.0f} µs of CPU, "
                    f"{one.rate:7,.0f} requests/s, 99 % within {one.p99:6.1f} ms"
                )
    own = {n: costs["ingenuo, /v2 infer", n].cpu for n in (1, 100)}
    for (name, n), each in costs.items():
        if not name.startswith("ingenuo"):
            yield f"{name:<28} {n:>3} row{'s' * (n > 1)}: {each.cpu / own[n]:5.1f} × the CPU of ingenuo"
    how = "met" if own[1] <= BARS["one row"] else "missed"
    yield f"one row: {own[1]:.0f} µs of CPU, the same body as MLServer's (bar {BARS['one row']:g}: {how})"
    for n, bar in ((1, BARS["over MLServer"]), (100, BARS["over MLServer, 100 rows"])):
        if ("MLServer", n) in costs:
            ratio = costs["MLServer", n].cpu / own[n]
            yield f"over MLServer, {n} rows: {ratio:.1f} × (bar {bar:g}: {'met' if ratio >= bar else 'missed'})"


# Learning.


def learning(folder: Path, seconds: float) -> Iterator[str]:
    """Lines of how fast rows are learned, one by one and in bodies of 10,000."""
    X = prepare(folder, None)
    names = [f"x{place}" for place in range(30)]
    journal = folder / "journal"
    with serving(
        str(folder / "model.ingenuo"), "--learn", "--journal", str(journal), log=folder / "learn.log"
    ) as server:
        one = [
            request(
                server.port, "/v1/learn", json.dumps({"rows": [dict(zip(names, row))], "classes": [k % 2]}).encode()
            )
            for k, row in enumerate(X[:300].tolist())
        ]
        check(send(server.port, one, 500, 32))
        before, n = cpu_of(server.pid), int(1000 * seconds)
        load = check(send(server.port, one, n, 32))
        used = cpu_of(server.pid) - before
        rate = n / load.seconds
        how = "met" if rate >= BARS["learn"] else "missed"
        yield (
            f"learning one row at a time, 32 at once, each kept before it is answered: {rate:,.0f} rows/s, "
            f"{used / n * 1e6:,.0f} µs of CPU a row (bar {BARS['learn']:,.0f}: {how})"
        )
        many = X[np.arange(10_000) % len(X)]
        table = pa.table({**{name: many[:, place] for place, name in enumerate(names)}, "y": np.arange(10_000) % 2})
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        kinds = {"application/vnd.apache.arrow.stream": sink.getvalue()}
        text = io.BytesIO()
        pa.csv.write_csv(table, text)
        kinds["text/csv"] = text.getvalue()
        for kind, body in kinds.items():
            big = [request(server.port, "/v1/learn", body, kind)]
            check(send(server.port, big, 4, 2))
            before, n = cpu_of(server.pid), max(8, int(6 * seconds))
            load = check(send(server.port, big, n, 2))
            used = cpu_of(server.pid) - before
            rate = n * 10_000 / load.seconds
            how = "met" if rate >= BARS["learn in bodies"] else "missed"
            yield (
                f"learning in bodies of 10,000 × 30 ({kind}, {len(body) / 1e6:.1f} MB): {rate:,.0f} rows/s, "
                f"{n * 10_000 / used:,.0f} rows a second of CPU (bar {BARS['learn in bodies']:,.0f}: {how})"
            )


# Memory.


def soak(folder: Path, n: int) -> Iterator[str]:
    """Lines of the memory of a server over many requests."""
    X = prepare(folder, None)
    with serving(str(folder / "model.ingenuo"), "--name", "nb", "-q", log=folder / "soak.log") as server:
        bodies = [json.dumps(_tensor(X[at : at + 1])).encode() for at in range(400)]
        requests = [request(server.port, "/v2/models/nb/infer", body) for body in bodies]
        check(send(server.port, requests, 2_000))
        sizes = [memory_of(server.pid)]
        for part in range(10):
            check(send(server.port, requests, n // 10, patience=3600))
            sizes.append(memory_of(server.pid))
            yield f"after {(part + 1) * (n // 10):>9,} requests: {sizes[-1] / 1e6:7.1f} MB"
        grown = (sizes[-1] - sizes[1]) / 1e6
        yield f"from the first tenth to the last of {n:,} requests it grew by {grown:+.1f} MB"


def main(arguments: Sequence[str]) -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks serve", description=__doc__)
    parser.add_argument("--peers", metavar="PYTHON", default=os.environ.get("INGENUO_PEERS"), help="their interpreter")
    parser.add_argument("--seconds", type=float, default=6.0, help="of CPU that each figure is measured over")
    parser.add_argument("--faults", action="store_true", help="what goes wrong, and what becomes of the model then")
    parser.add_argument("--soak", type=int, metavar="N", help="the memory over N requests")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name, ExitStack():
        folder, status = Path(name), 0
        if given.faults:
            from benchmarks.serve_faults import faults

            for line, right in faults(folder):
                print(f"{'ok ' if right else 'BAD'} {line}", flush=True)
                status |= not right
            return status
        if given.soak:
            parts = [soak(folder, given.soak)]
        else:
            if given.peers is None:
                print("no peers: --peers PYTHON names an interpreter that has mlserver-sklearn, mlflow and fastapi")
            parts = [speed(folder, given.peers, given.seconds), learning(folder, given.seconds)]
        for part in parts:
            for line in part:
                print(line, flush=True)
    return 0
