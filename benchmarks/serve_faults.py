"""What goes wrong with a server that learns: deaths, full disks, bodies that are none, slow clients, ends, two owners.

Each fault happens to a real server on loopback, or to the journal on a real disk, and gives a line and whether it was
borne. What was answered is kept, and counted once: sums are compared by ==.
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ingenuo as ing
from benchmarks.processes import as_installed, command
from benchmarks.serving import Server, request, send, serving
from ingenuo.serve.journal import Disk, File
from ingenuo.serve.live import LiveModel

Outcome = tuple[str, bool]
Row = tuple[dict[str, Any], str]  # values, and the class
PATIENCE = 20.0  # seconds after which a request without an answer hangs: twice what a body may take


def some_rows(n: int, seed: int = 0) -> list[Row]:
    """Rows of categories and numbers, of which none is like another."""
    rng = random.Random(seed)
    return [
        (
            {"sky": rng.choice("abcd"), "town": rng.choice("uvwxyz"), "warm": rng.gauss(20, 5), "wet": rng.random()},
            rng.choice(["yes", "no"]),
        )
        for _ in range(n)
    ]


def fit(rows: Sequence[Row]) -> Any:
    """A model of rows."""
    return ing.NaiveBayes().fit([row for row, _ in rows], [label for _, label in rows])


@contextmanager
def learner(folder: Path, rows: Sequence[Row], *words: str, log: bool = True) -> Iterator[Server]:
    """A server that learns from where its journal ends, or from the model of these rows."""
    path = folder / "model.ingenuo"
    if not path.exists():
        ing.save(fit(rows), path)
    more = ("--learn", "--journal", str(folder / "journal"), *words)
    with serving(str(path), *more, log=folder / "log" if log else None) as server:
        yield server


def end(server: Server) -> int:
    """Ask a server for its end; what it answers then."""
    server.process.send_signal(signal.SIGTERM)
    return server.process.wait(60)


def snapshot(folder: Path) -> Any:
    """What was learned by the end."""
    return ing.load(folder / "journal" / "model" / "snapshot.ingenuo")


# A client that notes of each change whether it was answered.


@dataclass
class Change:
    """A row that is learned or forgotten, under a key of its own."""

    verb: str
    row: Row
    key: str
    said: dict[str, Any] | None = None  # what was answered
    status: int = 0

    def ask(self, connection: http.client.HTTPConnection) -> None:
        """Send it."""
        body = json.dumps({"rows": [self.row[0]], "classes": [self.row[1]]})
        headers = {"content-type": "application/json", "idempotency-key": self.key}
        connection.request("POST", f"/v1/{self.verb}", body, headers)
        answer = connection.getresponse()
        self.status, said = answer.status, json.loads(answer.read())
        self.said = said if answer.status == 200 else None


@dataclass
class Clients:
    """Some threads, each of which makes its changes one after the other until the connection breaks."""

    port: int
    work: Sequence[Sequence[Change]]
    begun: list[Change] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> Clients:
        """Begin."""
        self.threads = [threading.Thread(target=self._run, args=(each,)) for each in self.work]
        for thread in self.threads:
            thread.start()
        return self

    def _run(self, changes: Sequence[Change]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with suppress(OSError, http.client.HTTPException):
            for change in changes:
                self.begun.append(change)
                change.ask(connection)
        connection.close()

    def wait(self) -> None:
        """Return when all are done."""
        for thread in self.threads:
            thread.join()


def dealt(changes: Sequence[Change], n: int) -> list[list[Change]]:
    """Changes dealt to so many clients."""
    return [list(changes[at::n]) for at in range(n)]


def after(rows: Sequence[Row], changes: Sequence[Change]) -> Any:
    """The sums of rows and of changes, made without a server."""
    model = fit(rows)
    for verb, act in (("learn", model.partial_fit), ("forget", model.forget)):
        some = [change.row for change in changes if change.verb == verb]
        if some:
            act([row for row, _ in some], [label for _, label in some])
    return model


# Deaths.


def killed(folder: Path, share: float) -> Outcome:
    """kill -9 at random moments: what was answered is there, once; what was not is sent again by its key."""
    rng, rows, times = random.Random(1), some_rows(200), max(2, int(20 * share))
    ledger: list[Change] = []
    lost = twice = torn = 0
    exact = True
    forgettable = list(rows)
    for turn in range(times):
        with learner(folder, rows) as server:
            new = [Change("learn", row, f"{turn}-{at}") for at, row in enumerate(some_rows(4000, 100 + turn))]
            for at in range(30, len(new), 40):  # each of which is a snapshot at once
                if forgettable:
                    new[at] = Change("forget", forgettable.pop(), f"{turn}-{at}")
            clients = Clients(server.port, dealt(new, 8)).start()
            time.sleep(rng.uniform(0.05, 0.8))
            server.process.kill()
            clients.wait()
        answered = [change for change in clients.begun if change.said]
        torn += len(clients.begun) - len(answered)
        forgettable += [change.row for change in new if change.verb == "forget" and change not in clients.begun]
        copy = folder / f"copy-{turn}"
        shutil.copytree(folder / "journal" / "model", copy)
        with learner(folder, rows) as server:
            found = _state(server)
            again = [Change(change.verb, change.row, change.key) for change in clients.begun]
            Clients(server.port, dealt(again, 8)).start().wait()
            seqs = {change.key: change.said["seq"] for change in again if change.said}
            lost += sum(seqs.get(change.key, 1 << 62) > found["seq"] for change in answered)
            safe = [change for change in clients.begun if seqs.get(change.key, 1 << 62) <= found["seq"]]
            twice += found["rows"] != _rows_of(rows, [*ledger, *safe])
            replayed = LiveModel(ing.load(folder / "model.ingenuo"), {}, copy, name="copy", version=_version(folder))
            exact &= replayed.model.tally_ == after(rows, [*ledger, *safe]).tally_
            replayed.close()
            ledger += clients.begun
            twice += _state(server)["rows"] != _rows_of(rows, ledger)
            end(server)
        exact &= snapshot(folder).tally_ == after(rows, ledger).tally_
    line = (
        f"kill -9 at {times} random moments of learning and forgetting by 8 callers: {len(ledger):,} changes, {lost} "
        f"of those answered lost, {twice} times counted twice, {torn} not answered and sent again; sums "
        f"{'equal by ==' if exact else 'DIFFER'}"
    )
    return line, exact and not lost and not twice


def _state(server: Server) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/v1/model")
    found: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    return found


def _rows_of(rows: Sequence[Row], changes: Sequence[Change]) -> int:
    return len(rows) + sum(1 if change.verb == "learn" else -1 for change in changes)


def _version(folder: Path) -> str:
    return hashlib.sha256((folder / "model.ingenuo").read_bytes()).hexdigest()[:12]


class Deadly(Disk):
    """A folder of the system whose process is killed by the system after so many bytes and steps."""

    def __init__(self, path: Path, left: int) -> None:
        super().__init__(path)
        self.left = left

    def step(self, n: int = 1) -> int:
        """Spend points; how many bytes may be written."""
        if self.left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        n = min(n, self.left)
        self.left -= n
        return n

    def open(self, name: str) -> File:
        """A file that is killed in the midst of a write."""
        self.step()
        return _DeadlyFile(self, super().open(name))

    def rename(self, old: str, new: str) -> None:
        """One step."""
        self.step()
        super().rename(old, new)

    def remove(self, name: str) -> None:
        """One step."""
        self.step()
        super().remove(name)

    def sync(self) -> None:
        """One step."""
        self.step()
        super().sync()


class _DeadlyFile:
    def __init__(self, folder: Deadly, file: File) -> None:
        self._folder, self._file = folder, file

    def write(self, data: bytes) -> None:
        some = self._folder.step(len(data))
        self._file.write(data[:some])
        if some < len(data):
            os.kill(os.getpid(), signal.SIGKILL)

    def sync(self) -> None:
        self._folder.step()
        self._file.sync()

    def truncate(self, size: int) -> None:
        self._folder.step()
        self._file.truncate(size)

    def close(self) -> None:
        self._file.close()


STEPS = (("learn", 0, 1), ("learn", 1, 3), ("forget", 0, 1), ("learn", 3, 4), ("learn", 4, 6))
"""Verbs, and from which row to which."""


def play(folder: Path, left: int, points: Any, done: Any) -> None:
    """Make the steps in a process that dies; `done` counts those that were answered."""
    disk = Deadly(folder, left)
    new = some_rows(6, 9)
    live = LiveModel(fit(some_rows(20)), {}, folder, name="M", disk=disk)
    for verb, lo, hi in STEPS:
        getattr(live, verb)([row for row, _ in new[lo:hi]], [label for _, label in new[lo:hi]], key=f"{verb} {lo}")
        done.value += 1
    points.value = left - disk.left
    os._exit(0)


def died_at_bytes(folder: Path, share: float) -> Outcome:
    """A process that the system kills at byte n of what a journal writes, for each n."""
    context = multiprocessing.get_context("fork")
    base, new = some_rows(20), some_rows(6, 9)
    states = [fit(base).tally_]
    made: list[Change] = []
    for verb, lo, hi in STEPS:
        made += [Change(verb, row, "") for row in new[lo:hi]]
        states.append(after(base, made).tally_)

    def run(left: int) -> tuple[Path, int, int]:
        own = Path(tempfile.mkdtemp(dir=folder))
        points, done = context.Value("q", 0), context.Value("q", 0)
        child = context.Process(target=play, args=(own, left, points, done))
        child.start()
        child.join(60)
        if child.exitcode is None:
            child.kill()
            raise RuntimeError(f"the process that dies at byte {left} does not end")
        return own, done.value, points.value

    own, _, total = run(1 << 40)
    shutil.rmtree(own)
    n = min(total + 1, max(5, int(400 * share)))
    wrong = 0
    for place in range(n):
        own, done, _ = run(place * total // (n - 1))
        again = LiveModel(fit(base), {}, own, name="M")
        wrong += again.model.tally_ not in states[done : done + 2]
        again.close()
        shutil.rmtree(own)
    line = (
        f"killed by the system at {n} of the {total:,} bytes and steps of a journal that learns and forgets: "
        f"{wrong} times the sums are not, by ==, those of what was answered (or of that and the change on its way)"
    )
    return line, not wrong


# Bodies that are none.

KINDS = ("application/json", "application/x-ndjson", "text/csv", "application/vnd.apache.arrow.stream")
PATHS = (
    *(f"/v1/{verb}" for verb in ("predict", "explain", "change", "learn", "forget", "recalibrate")),
    "/v2/models/model/infer", "/invocations", "/v1/enter", "/v1/models/model/predict", "/nowhere",
)  # fmt: skip
ODD = ("1e999", "-0.0", "1" * 5000, "null", "[]", "{}", '""', '"\\ud800"', "true", "[" * 40, '"\\u0000"', "1e-400")


def body_of(rng: random.Random) -> tuple[str, bytes, dict[str, str]]:
    """A path, a body that is most likely none, and headers."""
    row, label = some_rows(1, rng.randrange(1 << 30))[0]
    tensor = [{"name": name, "shape": [1], "datatype": "FP64", "data": [row[name]]} for name in ("warm", "wet")]
    path = rng.choice(PATHS)
    valid: Any = {"rows": [row] * rng.choice((1, 1, 3, 70)), "classes": [label]}
    valid = {"inputs": tensor} if "infer" in path else valid
    valid = {"dataframe_records": [row]} if path == "/invocations" else valid
    text = json.dumps(valid)
    headers = {"content-type": KINDS[0]}
    way = rng.randrange(9)
    if way == 0:
        body = rng.randbytes(rng.randrange(2000))
        headers["content-type"] = rng.choice(KINDS)
    elif way <= 2:  # mutated JSON
        body = text.encode()
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(body))
            other = rng.choice((rng.randbytes(1), b",", b"]", b'"', b"9", b"{", b""))
            body = body[:at] + other + body[at + rng.randrange(3) :]
    elif way == 3:  # wrong shapes
        text = text.replace(rng.choice(("[", "{", "1", '"warm"', "rows", "0")), rng.choice(("[[", "5", '"rows"', "")))
        body = text.encode()
    elif way == 4:  # values that are odd
        one = rng.choice((json.dumps(row["warm"]), json.dumps(row["sky"]), json.dumps(label)))
        body = text.replace(one, rng.choice(ODD)).encode()
    elif way == 5:  # deep
        depth = rng.choice((50, 5000, 200_000))
        body = rng.choice((b"[" * depth, b'{"rows":' * depth, b"[" * depth + b"]" * depth))
    elif way == 6:  # no UTF-8, tables that are none
        body = text.encode("utf-16") if rng.random() < 0.5 else b'{"rows":[{"sky":"\xff\xfe"}]}'
        if rng.random() < 0.5:
            headers["content-type"] = rng.choice(KINDS)
            body = b"sky,town\n" + rng.randbytes(60) + b'\n"a' + b"," * rng.randrange(9)
    elif way == 7:  # packed, and bombs
        packing = rng.choice(("gzip", "deflate", "br", "identity"))
        plain = b" " * (1 << 25) if rng.random() < 0.05 else text.encode()
        body = gzip.compress(plain, 1, mtime=0) if rng.random() < 0.5 else zlib.compress(plain, 1)
        body = body[: rng.randrange(len(body))] if rng.random() < 0.3 else body
        headers["content-encoding"] = packing
    else:
        body = text.encode()
        headers["content-type"] = rng.choice((*KINDS, "text/html", "", "application/json; charset=utf-16", "\x80"))
        headers["accept"] = rng.choice((*KINDS, "image/png", "*/*", ""))
    return path, body, headers


def asked_by(port: int, rng: random.Random) -> tuple[bytes, bool]:
    """The bytes of a request, and whether more could follow; the length of one in ten is wrong."""
    path, body, headers = body_of(rng)
    kind = headers.pop("content-type")
    data = request(port, path, body, kind, headers=headers) if body else request(port, path, headers=headers)
    wrong = b""
    if rng.random() < 0.1:
        said = f"content-length: {len(body)}".encode()
        wrong = rng.choice((b"-1", b"999999999999", b"x", b"1", b"%d" % (len(body) + 5), b"0", b"7", b"9999999"))
        data = data.replace(said, b"content-length: " + wrong, 1)
    return data, not wrong or rng.random() < 0.02  # who waits for a body that does not come waits for ten seconds


def heard(port: int, data: bytes, open_: bool) -> str:
    """How a request on a connection of its own ended: its status, `closed`, or `hang`."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        found, patience = b"", time.monotonic() + PATIENCE
        try:
            connection.sendall(data)
            if not open_:
                connection.shutdown(socket.SHUT_WR)
            while b"\r\n\r\n" not in found and time.monotonic() < patience:
                piece = connection.recv(1 << 16)
                if not piece:
                    break
                found += piece
        except TimeoutError:
            return "hang"
        except OSError:  # it was refused before it was whole
            pass
    if found:
        return found[9:12].decode("latin-1")
    return "closed" if time.monotonic() < patience else "hang"


def fuzzed(folder: Path, share: float) -> Outcome:
    """Bodies that are none, over sockets."""
    n, threads = max(100, int(10_000 * share)), 8
    with learner(folder, some_rows(200)) as server:
        probe = [request(server.port, "/v1/predict", json.dumps({"rows": [some_rows(1)[0][0]]}).encode())]
        found: Counter[str] = Counter()

        def work(seed: int) -> None:
            rng = random.Random(seed)
            for _ in range(n // threads):
                found[heard(server.port, *asked_by(server.port, rng))] += 1

        every = [threading.Thread(target=work, args=(seed,)) for seed in range(threads)]
        for thread in every:
            thread.start()
        for thread in every:
            thread.join()
        alive = send(server.port, probe, 20, 2).statuses == {200: 20} and server.process.poll() is None
        clean = end(server) == 0
    bad = sum(times for status, times in found.items() if status.startswith("5"))
    shown = ", ".join(f"{times:,} × {status}" for status, times in sorted(found.items()))
    line = f"{sum(found.values()):,} fuzzed bodies over sockets: {bad} × 5xx, {found['hang']} × hang ({shown})"
    return line, not bad and not found["hang"] and alive and clean


# Slow clients.


def slowed(folder: Path, share: float) -> Outcome:
    """200 clients that send a byte at a time, or nothing; the others keep their latency."""
    n = max(200, int(4000 * share))
    with learner(folder, some_rows(200)) as server:
        asked = [request(server.port, "/v1/predict", json.dumps({"rows": [row]}).encode()) for row, _ in some_rows(50)]

        def p99() -> float:
            loads = [send(server.port, asked, n, 4) for _ in range(3)]
            if any(load.statuses != {200: n} for load in loads):
                raise RuntimeError(f"not all were answered: {[load.statuses for load in loads]}")
            return min(sorted(load.latencies)[int(0.99 * n)] for load in loads) * 1e3

        p99()
        before = p99()
        slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
        ended = threading.Event()

        def drip() -> None:
            data = request(server.port, "/v1/predict", b" " * 10_000)
            for at in range(100, len(data)):
                piece = data[:at] if at == 100 else data[at - 1 : at]
                for each in slow[: len(slow) * 3 // 4]:  # the others say nothing at all
                    with suppress(OSError):
                        each.send(piece)
                if ended.wait(0.2):
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            time.sleep(0.5)
            during = p99()
        finally:
            ended.set()
            dripping.join()
            for each in slow:
                each.close()
        after_all = p99()
    right = during <= 2 * max(before, after_all) + 10
    line = (
        f"200 slow clients: 99 % of the others' answers within {before:.1f} ms before, {during:.1f} ms beside them, "
        f"{after_all:.1f} ms after"
    )
    return line, right


# A disk that is full.


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A disk of a megabyte, where the system lets us have one."""
    place = folder / "disk"
    place.mkdir()
    call = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(call, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False, capture_output=True)


@contextmanager
def no_room(server: Server, disk: Path | None, journal: Path) -> Iterator[None]:
    """A disk that is full; where we have none of our own, files that may not grow."""
    if disk is None:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (journal.stat().st_size, resource.RLIM_INFINITY))
        yield
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return
    filler = disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    yield
    filler.unlink()


def filled(folder: Path, share: float) -> Outcome:
    """A full disk: learning is refused, reading goes on; once there is room, learning does too."""
    rows = some_rows(200)
    with small_disk(folder) as disk:
        place = disk or folder
        with learner(place, rows, log=False) as server:
            asked = [request(server.port, "/v1/predict", json.dumps({"rows": [row]}).encode()) for row, _ in rows[:20]]
            kept = [Change("learn", row, f"before {at}") for at, row in enumerate(some_rows(40, 1))]
            Clients(server.port, dealt(kept, 4)).start().wait()
            full = [Change("learn", row, f"full {at}") for at, row in enumerate(some_rows(400, 2))]
            full[200:204] = [Change("forget", row, f"full, forget {at}") for at, row in enumerate(rows[:4])]
            with no_room(server, disk, place / "journal" / "model" / "journal"):
                Clients(server.port, dealt(full, 4)).start().wait()
                read = send(server.port, asked, 200, 4).statuses
            again = [Change(change.verb, change.row, change.key) for change in full]
            Clients(server.port, dealt(again, 4)).start().wait()
            clean = end(server) == 0
        exact = snapshot(place).tally_ == after(rows, [*kept, *full]).tally_
    statuses = Counter(change.status for change in full)
    how = "full disk" if disk else "files that may not grow"
    shown = ", ".join(f"{times} × {status}" for status, times in statuses.items())
    line = (
        f"{how}: {shown} to {len(full)} changes, {read.get(200, 0)} of 200 rows answered meanwhile; with room again "
        f"{sum(change.status == 200 for change in again)} of {len(again)} are learned; sums "
        f"{'equal by ==' if exact else 'DIFFER'}"
    )
    right = statuses[503] > 0 and set(statuses) <= {200, 503} and read == {200: 200} and clean and exact
    return line, right and all(change.status == 200 for change in again)


# The end.


def ended(folder: Path, share: float) -> Outcome:
    """SIGTERM under load: whoever sent a request has an answer, and what was learned is there."""
    rows = some_rows(200)
    found: Counter[str] = Counter()
    learned: list[Change] = []
    with learner(folder, rows, "--drain", "1") as server:

        def work(number: int) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            for at, row in enumerate(some_rows(100_000, number)):
                change = Change("learn", row, f"{number}-{at}")
                try:
                    if connection.sock is None:
                        connection.connect()
                except OSError:  # nobody listens any more
                    return
                try:
                    if at % 2:
                        connection.request(
                            "POST", "/v1/predict", json.dumps({"rows": [row[0]]}), {"content-type": KINDS[0]}
                        )
                        answer = connection.getresponse()
                        answer.read()
                        found[str(answer.status)] += 1
                    else:
                        change.ask(connection)
                        found[str(change.status)] += 1
                        learned.extend([change] if change.said else [])
                except (OSError, http.client.HTTPException):
                    found["lost"] += 1
                    connection.close()

        every = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in every:
            thread.start()
        time.sleep(1.0 + 2 * share)
        code = end(server)
        for thread in every:
            thread.join()
    exact = snapshot(folder).tally_ == after(rows, learned).tally_
    shown = ", ".join(f"{times:,} × {status}" for status, times in sorted(found.items()))
    line = (
        f"SIGTERM under the load of 16 callers: {found['lost']} requests lost ({shown}), it ended with {code}; sums of "
        f"the {len(learned):,} learned rows {'equal by ==' if exact else 'DIFFER'}"
    )
    return line, not found["lost"] and code == 0 and exact and set(found) <= {"200", "503", "lost"}


def two_owners(folder: Path, share: float) -> Outcome:
    """Two servers on one journal: the second refuses to start, and the first goes on."""
    with learner(folder, some_rows(200)) as server:
        words = [str(folder / "model.ingenuo"), "--learn", "--journal", str(folder / "journal"), "--port", "0"]
        second = subprocess.run(
            [*command(), "serve", *words], capture_output=True, text=True, timeout=120, env=as_installed()
        )
        change = Change("learn", some_rows(1)[0], "after")
        change.ask(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60))
    said = next((line for line in second.stderr.splitlines() if "journal" in line), second.stderr[-200:])
    named = f"another process ({server.pid})" in said
    return f"two servers on one journal: the second ends with {second.returncode}", (
        second.returncode != 0 and named and change.status == 200
    )


# An order that is none.


def shuffled(folder: Path, share: float) -> Outcome:
    """Learns and forgets of many callers in random order: the sums are those of the batch."""
    n = max(20, int(1000 * share))
    old, new = some_rows(n // 2, 3), some_rows(n - n // 2, 4)
    changes = [Change("forget", row, f"forget {at}") for at, row in enumerate(old)]
    changes += [Change("learn", row, f"learn {at}") for at, row in enumerate(new)]
    random.Random(5).shuffle(changes)
    stay = some_rows(20, 6)  # so that no class is ever without rows
    with learner(folder, [*stay, *old]) as server:
        Clients(server.port, dealt(changes, 32)).start().wait()
        end(server)
    answered = sum(change.status == 200 for change in changes)
    exact = snapshot(folder).tally_ == fit([*stay, *new]).tally_
    line = (
        f"{n:,} learns and forgets of 32 callers in random order: {answered:,} answered, the tally "
        f"{'equals the batch’s by ==' if exact else 'DIFFERS from the batch’s'}"
    )
    return line, exact and answered == n


FAULTS: dict[str, Callable[[Path, float], Outcome]] = {
    "kill": killed,
    "bytes": died_at_bytes,
    "fuzz": fuzzed,
    "slow": slowed,
    "disk": filled,
    "end": ended,
    "owners": two_owners,
    "order": shuffled,
}


def faults(folder: Path, share: float = 1.0, only: Sequence[str] = ()) -> Iterator[Outcome]:
    """What becomes of each fault: a line, and whether it was borne; with a share of the requests."""
    for name in only or FAULTS:
        own = folder / name
        own.mkdir()
        yield FAULTS[name](own, share)
