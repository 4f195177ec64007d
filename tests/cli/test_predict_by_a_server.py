"""`ingenuo predict --server`: the same answers to the bit, tokens that stay at home, and failures in one sentence."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import ingenuo as ing
from ingenuo import store
from ingenuo.cli import main
from ingenuo.cli.work import client

from ..serving import serving

SECRET = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    rng = np.random.default_rng(0)
    ages = rng.normal(40, 9, 500).tolist()
    rows = pa.table(
        {
            "age": pa.array([None if out else x for x, out in zip(ages, rng.random(500) < 0.1)]),
            "town": rng.choice(["Roma", "Pisa", "Bari"], 500),
            "class": rng.choice(["ill", "well"], 500),
        }
    )  # fmt: skip
    store.save(ing.NaiveBayes().fit(rows, "class"), folder / "one.ingenuo")
    store.save(ing.NaiveBayes(prior="lidstone:3").fit(rows, "class"), folder / "two.ingenuo")
    strange = rows.append_column("note", pa.array(["x"] * 500)).set_column(1, "town", pa.array(["Oslo", "Pisa"] * 250))
    pa.csv.write_csv(strange, folder / "new.csv")
    (folder / "tokens").write_text(f"{SECRET} read\n")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(
        str(folder / "one.ingenuo"), str(folder / "two.ingenuo"), "--token-file", str(folder / "tokens"), "--rate", "3"
    ) as found:
        yield found


def run(*words: object, token: str | None = SECRET) -> Any:
    return CliRunner().invoke(main, ["predict", *map(str, words)], env={client.TOKEN: token})


@pytest.mark.parametrize(
    "options", [["--all"], ["--only", "--to", "jsonl", "--digits", "17"], ["--all", "--to", "arrow"], ["--to", "tsv"]]
)
def test_the_same_rows_come_back_to_the_bit(folder: Path, address: str, options: list[str]) -> None:
    here = run(folder / "one.ingenuo", folder / "new.csv", *options)
    there = run("--server", address, folder / "new.csv", *options)
    assert there.exit_code == 0, there.stderr
    assert there.stdout_bytes == here.stdout_bytes
    assert there.stderr == here.stderr
    assert "never saw ('Oslo')" in there.stderr


def test_another_model_is_asked_by_its_name(folder: Path, address: str) -> None:
    here, there = (
        run(folder / "two.ingenuo", folder / "new.csv"),
        run("--server", f"{address}/v1/models/two", folder / "new.csv"),
    )
    assert there.stdout == here.stdout != run("--server", address, folder / "new.csv").stdout


def test_one_row_is_answered(folder: Path, address: str) -> None:
    row = ["--row", "town=Pisa, age=?"]
    assert run("--server", address, *row).stdout == run(folder / "one.ingenuo", *row).stdout


def test_rows_are_sent_in_parts_and_again_where_they_are_too_many_at_once(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    wait = client.time.sleep
    monkeypatch.setattr(client.time, "sleep", lambda seconds: (waits.append(seconds), wait(seconds))[1])
    monkeypatch.setattr(client, "_ROWS", 100)
    here, there = run(folder / "one.ingenuo", folder / "new.csv"), run("--server", address, folder / "new.csv")
    assert there.stdout == here.stdout
    assert waits  # the server takes three requests a second
    assert all(0 < seconds <= 2 for seconds in waits)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--server", "http://127.0.0.1:1", "-"], "nothing answers at http://127.0.0.1:1; start the server"),
        (["--server", "ftp://example.org", "-"], "is no address of a server"),
        (["--server", "http://127.0.0.1/v2", "-"], "has the path '/v2'"),
        (["--server", "http://me:word@127.0.0.1", "-"], "the token comes from --token-file or $INGENUO_TOKEN"),
        (["--server", "http://example.org", "-"], "the token would be sent to example.org over http"),
        (["--server", "http://127.0.0.1:1", "-", "--reasons", "2"], "ask the server's /v1/explain"),
        (["--insecure", "model.ingenuo", "-"], "--insecure is of the --server"),
        (
            ["--server", "http://127.0.0.1:1", "m.ingenuo", "-"],
            "the --server answers, and not m.ingenuo: leave that out",
        ),
        ([], "Missing argument 'MODEL'; or give the --server"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(words: list[str], says: str) -> None:
    found = run(*words)
    assert found.exit_code in (1, 2)
    assert says in found.stderr


def test_what_the_server_refuses_is_one_sentence(folder: Path, address: str) -> None:
    says = "answered 401: the token is missing or wrong; give it by --token-file or $INGENUO_TOKEN\n"
    assert run("--server", address, folder / "new.csv", token=None).stderr.endswith(says)
    assert "answered 404" in run("--server", f"{address}/v1/models/three", folder / "new.csv").stderr


def test_a_token_comes_from_a_file(folder: Path, address: str) -> None:
    found = run("--server", address, "--token-file", folder / "tokens", "--row", "age=3", token=None)
    assert found.exit_code == 0, found.stderr
    (folder / "none").write_text("\n")
    assert "has no token" in run("--server", address, "--token-file", folder / "none", "--row", "age=3").stderr


def broken_server(answer: bytes) -> tuple[str, list[int]]:
    """A server that gives every request the same answer; its address, and the requests so far."""
    listening, asked = socket.create_server(("127.0.0.1", 0)), list[int]()

    def serve() -> None:
        with listening:
            while len(asked) < 10:
                connection, _ = listening.accept()
                with connection:
                    asked.append(len(connection.recv(65536)))
                    connection.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}", asked


@pytest.mark.parametrize(
    ("answer", "times", "says"),
    [
        (
            b'HTTP/1.1 503 Busy\r\nretry-after: 0\r\ncontent-length: 22\r\n\r\n{"error": "too early"}',
            6,
            "503: too early",
        ),
        (b"HTTP/1.1 500 Oops\r\ncontent-length: 5\r\n\r\n<p>?!", 1, "answered 500: Internal Server Error"),
        (b"HTTP/1.1 302 There\r\nlocation: http://example.org\r\ncontent-length: 0\r\n\r\n", 1, "answered 302: Found"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", 1, "does not answer as `ingenuo serve` does"),
        (b"SSH-2.0-OpenSSH_9\r\n", 1, "does not answer as a server of HTTP does"),
    ],
)
def test_a_server_that_fails_is_asked_a_few_times_at_most(answer: bytes, times: int, says: str) -> None:
    address, asked = broken_server(answer)
    found = run("--server", address, "--row", "age=3")
    assert (found.exit_code, len(asked)) == (1, times)
    assert says in found.stderr
    assert found.stderr.count("\n") == 1


def test_the_token_is_nowhere_in_what_is_said(folder: Path) -> None:
    found = run("--server", "http://127.0.0.1:1", folder / "new.csv")
    assert SECRET not in found.output + found.stderr + repr(os.environ.get(client.TOKEN))
