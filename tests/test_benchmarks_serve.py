"""The benchmark of the server: figures of real servers, bars that say whether they are met, faults that are noticed."""

from __future__ import annotations

import os
import random
import socket
import sys
import threading
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks import serve, serve_faults, serving
from benchmarks.__main__ import main

linux = pytest.mark.skipif(sys.platform != "linux", reason="the CPU of processes is read from /proc, which Linux has")


@linux
def test_a_server_is_asked_its_cpu_counted_and_its_answers_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ours,) = [each for each in serve.peers(None) if each.name == "ingenuo, /v2 infer"]
    serve.prepare(tmp_path, None)
    with ours.start(tmp_path) as server:
        ours = replace(ours, start=lambda folder: nullcontext(server))
        monkeypatch.setattr(serve, "peers", lambda python: [ours])
        one, many, bar = serve.speed(tmp_path, None, 0.02, rounds=1)
        wrong = replace(ours, name="wrong", answers=lambda said: [[0.5, 0.5]])
        monkeypatch.setattr(serve, "peers", lambda python: [ours, wrong])
        with pytest.raises(RuntimeError, match=r"wrong answers \[0.5 0.5\], and not"):
            list(serve.speed(tmp_path, None, 0.02, rounds=1))
    assert one.startswith("ingenuo, /v2 infer           1 row :")
    assert "100 rows:" in many
    assert float(one.split(":")[1].split()[0]) > 10
    assert bar.startswith("one row: ")


def test_bars_say_whether_they_are_met() -> None:
    costs = {
        (name, n): serve.Cost(cpu, 10.0, 1.0)
        for name, cpu in (("ingenuo, /v2 infer", 100.0), ("MLServer", 900.0))
        for n in (1, 100)
    }
    lines = list(serve.shown(costs))
    assert lines[-3:] == [
        "one row: 100 µs of CPU (bar: at most 250, met)",
        "over MLServer, 1 row a request: 9.0 × (bar: at least 8, met)",
        "over MLServer, 100 rows a request: 9.0 × (bar: at least 20, missed)",
    ]
    assert "9.0 × ingenuo's" in lines[2]
    assert serve.rates([serve.Cost(500.0, 90.0, 1.0), serve.Cost(250.0, 80.0, 1.0)], 10, 2e3) == (
        "900 rows/s by the clock (bar: at least 2,000, missed), 40,000 rows for each second of CPU (bar: at least "
        "2,000, met)"
    )


@linux
def test_what_was_learned_in_no_order_is_the_batch(tmp_path: Path) -> None:
    ((line, right),) = serve_faults.faults(tmp_path, 0.0, ["order"])
    assert right
    assert "20 answered, the tally equals the batch" in line


@linux
def test_a_journal_whose_process_is_killed_is_whole(tmp_path: Path) -> None:
    ((line, right),) = serve_faults.faults(tmp_path, 0.0, ["bytes"])
    assert right
    assert line.startswith("killed by the system at 5 of the ")


def test_the_bodies_that_are_none_are_of_every_way_and_come_from_their_seed() -> None:
    every = [serve_faults.asked_by(80, random.Random(seed)) for seed in range(600)]
    assert every == [serve_faults.asked_by(80, random.Random(seed)) for seed in range(600)]
    assert len({data for data, _ in every}) > 500
    text = b"".join(data for data, _ in every)
    for part in (b"content-encoding: gzip", b"content-length: -1", b"[[[[", b"\xff\xfe", b"/recalibrate", b"text/csv"):
        assert part in text


@pytest.mark.parametrize(("said", "heard"), [(b"HTTP/1.1 418 x\r\n\r\n", "418"), (b"", "closed"), (None, "hang")])
def test_how_a_request_ended_is_noticed(said: bytes | None, heard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve_faults, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1 << 16)
                if said is None:
                    ended.wait(10)
                else:
                    connection.sendall(said)

        ended = threading.Event()
        thread = threading.Thread(target=answer)
        thread.start()
        assert serve_faults.heard(listening.getsockname()[1], b"GET / HTTP/1.1\r\n\r\n", True) == heard
        ended.set()
        thread.join()


@linux
def test_the_cpu_and_the_memory_of_a_process_grow_with_its_work() -> None:
    before = serving.cpu_of(os.getpid())
    assert sum(number * number for number in range(1_000_000)) > 0
    assert serving.cpu_of(os.getpid()) > before
    assert serving.memory_of(os.getpid()) > 1e7


def test_the_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    said = capsys.readouterr().out
    for word in ("--peers", "--seconds", "--faults", "--only", "--share", "--soak", *serve_faults.FAULTS):
        assert word in said
