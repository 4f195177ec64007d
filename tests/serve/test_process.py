"""`ingenuo serve` as it runs: it begins, follows its files, survives deaths, and ends without losing a request."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.test_deploy import health_command

import ingenuo as ing
from ingenuo import store
from ingenuo.cli import main
from ingenuo.datasets import play_tennis
from ingenuo.serve.live import LiveModel

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither TERM nor HUP, which are sent here")

DAYS = play_tennis()
ROW = DAYS.slice(0, 1).to_pylist()[0]
PLAIN = {name: value for name, value in ROW.items() if name != "Play"}


class Running:
    """A server in a process of its own, and what it writes."""

    def __init__(self, *words: str, **environment: str) -> None:
        command = [sys.executable, "-c", "from ingenuo.cli import main; main()", "serve", *words, "--port", "0"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.port = int(self.address.rpartition(":")[2] or 0)

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.lines.extend(self.process.stderr)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(
        self, method: str, path: str, body: Any = None, to: http.client.HTTPConnection | None = None, **headers: str
    ) -> Any:
        """The status and the answer, on a new connection or one that is given."""
        connection = to or self.connect()
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, {"content-type": "application/json", **headers})
        answer = connection.getresponse()
        text = answer.read().decode()
        self.last = answer
        return answer.status, json.loads(text) if answer.headers["content-type"] == "application/json" else text

    def events(self, event: str) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [each for each in found if each.get("event") == event]

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(60)
        self._reader.join(10)
        return code


@pytest.fixture
def run() -> Iterator[Callable[..., Running]]:
    begun: list[Running] = []

    def begin(*words: Any, **environment: str) -> Running:
        begun.append(Running(*map(str, words), **environment))
        return begun[-1]

    yield begin
    for each in begun:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


@pytest.fixture(autouse=True)
def _keep_signals() -> Iterator[None]:
    """A server that ran in this process has ignored TERM since then, for it ends in its own time."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def until(true: Callable[[], Any], said: Callable[[], Any] = str) -> None:
    """Wait for what must come, for a minute at most."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, said()
        time.sleep(0.02)


def end_under_load(server: Running) -> int:
    """End a server of which eight callers ask all that they can; how often it has learned. No request may be lost."""
    learned, lost, statuses = Counter[str](), list[BaseException](), Counter[int]()

    def ask() -> None:
        connection = server.connect()
        for turn in range(100_000):
            try:
                if connection.sock is None:
                    connection.connect()
            except OSError:  # nobody listens any more
                return
            verb = "learn" if turn % 2 else "predict"
            body = {"rows": [ROW], "classes": ["Yes"]} if turn % 2 else {"rows": [ROW]}
            try:
                status, _ = server.ask("POST", f"/v1/{verb}", body, connection)
            except BaseException as error:
                lost.append(error)
                return
            statuses[status] += 1
            learned[verb] += status == 200

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    until(lambda: learned["learn"] > 50)
    assert server.end() == 0
    for thread in threads:
        thread.join()
    assert lost == []
    assert set(statuses) <= {200, 503}
    return learned["learn"]


def test_the_end_loses_no_request_and_the_journal_has_one_owner(run: Callable[..., Running], tmp_path: Path) -> None:
    path = tmp_path / "days.ingenuo"
    store.save(ing.NaiveBayes().fit(DAYS, "Play"), path)
    server = run(path, "--learn", "--drain", "0.4")
    second = CliRunner().invoke(main, ["serve", str(path), "--learn", "--port", "0"])
    assert second.exit_code == 1
    assert f"another process ({server.process.pid}) has this journal" in second.output
    learned = end_under_load(server)
    assert [each.get("event") for each in map(json.loads, server.lines[-1:])] == ["ended"]
    journal = tmp_path / "days.ingenuo.journal"
    assert (journal / "journal").stat().st_size == 0  # what was learned is in the snapshot
    again = LiveModel(store.load(path), {}, journal, name="days", version=store_version(path))
    assert again.state["rows"] == 14 + learned
    again.close()


def store_version(path: Path) -> str:
    """The version of a file, which is of its contents."""
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def test_another_file_is_loaded_when_it_answers_its_check_rows_and_else_the_one_before_goes_on(
    run: Callable[..., Running], tmp_path: Path
) -> None:
    path, new = tmp_path / "days.ingenuo", tmp_path / "new"
    models = [ing.NaiveBayes(prior=f"lidstone:{k}").fit(DAYS, "Play") for k in (1, 2, 3)]
    store.save(models[0], path)
    store.save(models[0], tmp_path / "other.ingenuo")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        server = run(path, tmp_path / "other.ingenuo", "--drain", "0", NOTIFY_SOCKET=str(tmp_path / "notify"))
        assert systemd.recv(100) == b"READY=1"
    assert server.ask("GET", "/v2/health/ready") == (200, {"live": True})
    assert subprocess.run(health_command(server.port)).returncode == 0

    def version() -> str:
        return str(server.ask("POST", "/v1/predict", {"rows": [ROW]})[1]["version"])

    def replace(data: bytes) -> None:
        new.write_bytes(data)
        os.replace(new, path)

    assert version() == store_version(path)
    replace(store.to_bytes(models[1]))
    until(lambda: version() == store_version(path))  # it was looked at
    good = version()
    said = server.ask("POST", "/v1/predict", {"rows": [ROW]})[1]
    assert said["posterior"] == models[1].predict_proba([ROW]).tolist()
    empty = ing.NaiveBayes().fit(DAYS, "Play").forget(DAYS.drop_columns(["Play"]), DAYS["Play"])
    damaged = store.to_bytes(models[2])[:-200]
    language = store.to_bytes(ing.LanguageModel().fit(["one text", "two texts"]))
    for number, bad in enumerate((store.to_bytes(empty), damaged, language, b"", b"no model"), 1):
        replace(bad)
        server.process.send_signal(signal.SIGHUP)
        failed = f'ingenuo_reload_failures_total{{model="days"}} {number}'
        until(lambda failed=failed: failed in server.ask("GET", "/metrics")[1], lambda: server.lines)
        assert version() == good
        assert server.ask("GET", "/v2/health/ready")[0] == 200
    path.unlink()
    server.process.send_signal(signal.SIGHUP)
    time.sleep(0.1)
    assert version() == good
    replace(store.to_bytes(models[2]))
    until(lambda: version() == store_version(path))
    other = server.ask("POST", "/v1/models/other/predict", {"rows": [ROW]})[1]
    assert other["version"] == store_version(tmp_path / "other.ingenuo")
    assert server.end(signal.SIGINT) == 0
    reloads = server.events("reload")
    assert [each["model"] for each in reloads] == ["days"] * len(reloads)
    assert len([each for each in reloads if "error" in each]) >= 5


def test_one_learns_and_others_answer_what_it_has_learned_whoever_dies(
    run: Callable[..., Running], tmp_path: Path
) -> None:
    path = tmp_path / "days.ingenuo"
    model = ing.NaiveBayes().fit(DAYS, "Play")
    store.save(model, path)
    server = run(path, "--learn", "--workers", "2", "--drain", "0.2")
    body = {"rows": [ROW], "classes": ["Yes"]}

    def answers() -> dict[int, Any]:
        """What each process answers."""
        found: dict[int, Any] = {}
        for _ in range(400):
            status, said = server.ask("POST", "/v1/predict", {"rows": [ROW]})
            assert status == 200, said
            found[int(server.last.headers["x-request-id"].partition("-")[0], 16)] = said
            if len(found) == 2:
                break
        return found

    before = answers()
    assert len(before) == 2
    status, said = server.ask("POST", "/v1/learn", body, **{"idempotency-key": "first"})
    assert (status, said["rows"]) == (200, 15)
    model.partial_fit([PLAIN], ["Yes"])
    after = answers()
    assert {each["version"] for each in after.values()} == {said["version"]}
    assert all(each["posterior"] == model.predict_proba([ROW]).tolist() for each in after.values())
    assert server.ask("POST", "/v1/learn", body, **{"idempotency-key": "first"}) == (200, said)
    assert server.ask("POST", "/v1/forget", {"rows": [{"Outlook": "Snow"}], "classes": ["No"]})[0] == 409
    until(lambda: 'ingenuo_rows_total{op="learn",model="days"} 2' in server.ask("GET", "/metrics")[1])  # both count

    children = _children(server.process.pid)
    assert len(children) == 3
    for pid in children[:2]:  # the one that learns, and one that answers
        os.kill(pid, signal.SIGKILL)
    until(lambda: len(server.events("died")) == 2, lambda: server.lines)

    def learns() -> bool:
        try:
            return bool(server.ask("POST", "/v1/learn", body, **{"idempotency-key": "second"})[0] == 200)
        except OSError:  # that connection was of the dead
            return False

    until(learns, lambda: server.lines)
    model.partial_fit([PLAIN], ["Yes"])
    found = answers()
    assert len(found.keys() & before.keys()) == 1
    assert all(each["posterior"] == model.predict_proba([ROW]).tolist() for each in found.values())
    learned = end_under_load(server)
    model.partial_fit([PLAIN] * learned, ["Yes"] * learned)
    assert store.load(tmp_path / "days.ingenuo.journal" / "snapshot.ingenuo").tally_ == model.tally_
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


def _children(pid: int) -> list[int]:
    """The processes that answer or learn for a server, in the order in which they began."""
    call = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(pid)]  # whole lines, however long the path of Python is
    found = subprocess.run(call, capture_output=True, text=True, check=True)
    return sorted(int(line.split()[0]) for line in found.stdout.splitlines() if "spawn_main" in line)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing.ingenuo"], "missing.ingenuo"), (["-"], "comes from a file"), ([], "MODEL"),
        (["bad.ingenuo"], "bad.ingenuo"), (["days.ingenuo", "--journal", "x"], "--journal is of --learn"),
        (["days.ingenuo", "days.ingenuo"], "two models are called"),
        (["days.ingenuo", "--name", "a b"], "'a b' is no name"), (["words.ingenuo"], "serve a classifier"),
        (["days.ingenuo", "--name", "a", "--name", "b"], "1 models and 2 names"),
        (["words.ingenuo", "--workers", "2"], "serve a classifier"), (["days.ingenuo", "--rate", "0"], "rate"),
        (["days.ingenuo", "--token-file", "none"], "none"),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_said_in_one_sentence(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store.save(ing.NaiveBayes().fit(DAYS, "Play"), "days.ingenuo")
    store.save(ing.LanguageModel().fit(["one text", "two texts"]), "words.ingenuo")
    Path("bad.ingenuo").write_bytes(b"no model")
    result = CliRunner().invoke(main, ["serve", *words, "--port", "0"])
    assert result.exit_code in (1, 2)
    assert said in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert "ending" not in result.output  # for it never began
