"""``python -m benchmarks serve``: the server beside MLServer, MLflow and FastAPI, on the same numbers; faults; memory.

The peers serve scikit-learn's GaussianNB from an interpreter of their own (--peers PYTHON, or $INGENUO_PEERS), which
has mlserver-sklearn, mlflow and fastapi; what is not there is said. CPU is that of all processes of a server, the
system's share included, for each request: on a machine that others use too, clocks say little. The generator of
requests is a process beside it, and is not counted. All servers run at once and are asked in turns; the best counts.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from benchmarks.serve_faults import FAULTS, faults
from benchmarks.serving import Load, Server, cpu_of, free_port, memory_of, request, running, send, serving

ONE_ROW = 250.0  # microseconds of CPU
OVER_MLSERVER = {1: 8.0, 100: 20.0}  # requests for each second of CPU, by the rows of a request
LEARNED, LEARNED_IN_BODIES = 2e3, 2e5  # rows a second
CALLERS = 60  # who learn one row at a time, at once

_TRAIN = """
import sys, joblib
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
X, y = load_breast_cancer(return_X_y=True)
model = GaussianNB(var_smoothing=0.0).fit(X, y)
joblib.dump(model, sys.argv[1] + "/model.joblib")
try:
    import mlflow.sklearn
    how = {"serialization_format": "cloudpickle", "pyfunc_predict_fn": "predict_proba"}
    mlflow.sklearn.save_model(model, sys.argv[1] + "/mlflow", **how)
except ImportError:
    pass
"""
_VERSIONS = """
from importlib.metadata import distributions
peers = ("mlserver", "mlflow", "fastapi", "uvicorn", "uvloop", "scikit-learn", "numpy")
found = {each.metadata["Name"].lower(): each.version for each in distributions()}
print(", ".join(f"{name} {found[name]}" for name in peers if name in found))
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
        own = Path(tempfile.mkdtemp(dir=folder))
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
                           "params": {}}, lambda said: said["predictions"], "mlflow"),
        Peer("FastAPI + scikit-learn", fastapi, "/predict", lambda rows: {"rows": rows.tolist()},
             lambda said: said["probabilities"], "fastapi"),
    ]  # fmt: skip


def prepare(folder: Path, python: str | None) -> Any:
    """The models, learned from the same array (and one from a table, which learns on), and the rows."""
    X, y = load_breast_cancer(return_X_y=True)
    names = [f"x{place}" for place in range(30)]
    table = pa.table({**{name: X[:, place] for place, name in enumerate(names)}, "y": y})
    ing.save(ing.NaiveBayes(prior=ing.MaximumLikelihood()).fit(X, y), folder / "model.ingenuo")
    ing.save(ing.NaiveBayes(prior=ing.MaximumLikelihood()).fit(table, "y"), folder / "table.ingenuo")
    if python is not None:
        subprocess.run([python, "-c", _TRAIN, str(folder)], check=True, capture_output=True)
    return X


def versions(python: str) -> str:
    """The peers of an interpreter, with their versions."""
    found = subprocess.run([python, "-c", _VERSIONS], check=True, capture_output=True, text=True)
    return f"the peers: {found.stdout.strip()}"


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


def cost(server: Server, requests: Sequence[bytes], n: int, connections: int = 8) -> Cost:
    """What each of n requests costs."""
    before = cpu_of(server.pid)
    load = check(send(server.port, requests, n, connections))
    used = (cpu_of(server.pid) - before) / n * 1e6
    return Cost(used, n / load.seconds, sorted(load.latencies)[int(0.99 * n)] * 1e3)


def check(load: Load) -> Load:
    """Raise unless all was answered as it should be."""
    if set(load.statuses) != {200} or load.lost:
        raise RuntimeError(f"{load.statuses}, {load.lost} lost: {load.last[:300]!r}")
    return load


def speed(folder: Path, python: str | None, seconds: float, rounds: int = 3) -> Iterator[str]:
    """Lines of what one row, and a hundred, cost each server."""
    X = prepare(folder, python)
    expected: Any = None
    costs: dict[tuple[str, int], Cost] = {}
    ready: list[tuple[str, int, Server, list[bytes], int]] = []
    with ExitStack() as stack:
        for peer in peers(python):
            if peer.needs is not None and python is not None and not has(python, peer.needs):
                yield f"{peer.name}: {python} has no {peer.needs}"
                continue
            server = stack.enter_context(peer.start(folder))
            for n in (1, 100):
                bodies = [json.dumps(peer.body(X[at : at + n])).encode() for at in range(0, 400, max(n, 8))]
                requests = [request(server.port, peer.path, body) for body in bodies]
                last = check(send(server.port, [request(server.port, peer.path, bodies[0])], 1)).last
                found = np.array(peer.answers(json.loads(last)))
                expected = found if n == 1 and expected is None else expected
                if found.shape != (n, 2) or not np.allclose(found[0], expected[0], rtol=1e-6, atol=1e-9):
                    raise RuntimeError(f"{peer.name} answers {found[0]}, and not {expected[0]}")
                check(send(server.port, requests, 100))
                each = cost(server, requests, 200)
                times = max(100, int(seconds / rounds / max(each.cpu / 1e6, 1e-5)))
                ready.append((peer.name, n, server, requests, times))
        for _ in range(rounds):
            for name, n, server, requests, times in ready:
                found_ = cost(server, requests, times)
                costs[name, n] = min(costs.get((name, n), found_), found_, key=lambda each: each.cpu)
    if python is not None:
        yield versions(python)
    yield from shown(costs)


def shown(costs: Mapping[tuple[str, int], Cost]) -> Iterator[str]:
    """Lines of costs, of their ratios to ours, and of the bars."""
    own = {n: costs["ingenuo, /v2 infer", n].cpu for n in (1, 100)}
    for (name, n), each in costs.items():
        ratio = f"   {each.cpu / own[n]:5.1f} × ingenuo's" if not name.startswith("ingenuo") else ""
        yield (
            f"{name:<26} {n:>3} {'row ' if n == 1 else 'rows'}: {each.cpu:7,.0f} µs of CPU a request, "
            f"{each.rate:6,.0f} requests/s, 99 % within {each.p99:6.1f} ms{ratio}"
        )
    yield f"one row: {own[1]:.0f} µs of CPU ({bar(own[1] <= ONE_ROW, f'at most {ONE_ROW:g}')})"
    for name in ("MLServer", "MLServer, lean"):
        for n, wanted in OVER_MLSERVER.items():
            if (name, n) in costs:
                ratio_ = costs[name, n].cpu / own[n]
                rows = f"{n} row{'s' * (n > 1)}"
                yield f"over {name}, {rows} a request: {ratio_:.1f} × ({bar(ratio_ >= wanted, f'at least {wanted:g}')})"


def bar(met: bool, what: str) -> str:
    """A bar, and whether it is met."""
    return f"bar: {what}, {'met' if met else 'missed'}"


# Learning.


def learning(folder: Path, seconds: float, rounds: int = 3) -> Iterator[str]:
    """Lines of how fast rows are learned, one by one and in bodies of 10,000; each is kept before it is answered."""
    X = prepare(folder, None)
    names = [f"x{place}" for place in range(30)]
    words = ("--learn", "--journal", str(folder / "journal"), "-q")
    with serving(str(folder / "table.ingenuo"), *words, log=folder / "learn.log") as server:
        rows = [{"rows": [dict(zip(names, row))], "classes": [k % 2]} for k, row in enumerate(X[:300].tolist())]
        one = [request(server.port, "/v1/learn", json.dumps(row).encode()) for row in rows]
        check(send(server.port, one, 500, CALLERS))
        found = [cost(server, one, max(100, int(1000 * seconds / rounds)), CALLERS) for _ in range(rounds)]
        yield f"learning one row at a time, {CALLERS} callers: {rates(found, 1, LEARNED)}"
        many = X[np.arange(10_000) % len(X)]
        table = pa.table({**{name: many[:, place] for place, name in enumerate(names)}, "y": np.arange(10_000) % 2})
        sink, text = io.BytesIO(), io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        pyarrow.csv.write_csv(table, text)
        for kind, body in (("application/vnd.apache.arrow.stream", sink), ("text/csv", text)):
            big = [request(server.port, "/v1/learn", body.getvalue(), kind)]
            check(send(server.port, big, 4, 2))
            found = [cost(server, big, max(4, int(6 * seconds)), 2) for _ in range(rounds)]
            yield f"learning in bodies of 10,000 × 30, {kind}: {rates(found, 10_000, LEARNED_IN_BODIES)}"


def rates(costs: Sequence[Cost], rows: int, wanted: float) -> str:
    """The best of some costs of requests of so many rows, and whether the bar is met."""
    by_clock, by_cpu = max(each.rate for each in costs) * rows, 1e6 * rows / min(each.cpu for each in costs)
    what = f"at least {wanted:,.0f}"
    return (
        f"{by_clock:,.0f} rows/s by the clock ({bar(by_clock >= wanted, what)}), {by_cpu:,.0f} rows for each second of "
        f"CPU ({bar(by_cpu >= wanted, what)})"
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
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks serve", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", metavar="PYTHON", default=os.environ.get("INGENUO_PEERS"), help="their interpreter")
    parser.add_argument("--seconds", type=float, default=6.0, help="of CPU that each figure is measured over")
    parser.add_argument("--faults", action="store_true", help="what goes wrong, and what becomes of the model then")
    parser.add_argument("--only", action="append", default=[], choices=FAULTS, help="only this fault; may be repeated")
    parser.add_argument("--share", type=float, default=1.0, help="of the requests of a fault (0.01 is a glance)")
    parser.add_argument("--soak", type=int, metavar="N", help="the memory over N requests")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder, status = Path(name), 0
        if given.faults or given.only:
            for line, right in faults(folder, given.share, given.only):
                print(f"{'ok ' if right else 'BAD'} {line}", flush=True)
                status |= not right
        elif given.soak:
            for line in soak(folder, given.soak):
                print(line, flush=True)
        else:
            if given.peers is None:
                print("no peers: --peers PYTHON names an interpreter that has mlserver-sklearn, mlflow and fastapi")
            for part in (speed(folder, given.peers, given.seconds), learning(folder, given.seconds)):
                for line in part:
                    print(line, flush=True)
    return status
