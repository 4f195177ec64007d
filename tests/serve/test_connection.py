"""Connections: what is no HTTP is refused as all else, and who says nothing, or not all, is not waited for."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ingenuo.serve import http, server
from ingenuo.serve.app import Service
from ingenuo.serve.http import Guard
from ingenuo.serve.models import Served

ROW = json.dumps({"rows": [{"Outlook": "Sunny"}]}).encode()


@pytest.fixture(params=["httptools", "h11"])
def connect(
    request: pytest.FixtureRequest, loaded: dict[str, Served], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], socket.socket]]:
    """Connects to a server that reads HTTP by one of the two libraries."""
    find = server.find_spec
    if request.param == "httptools":
        pytest.importorskip("httptools", reason="httptools is of the extra [serve], which is not installed")
    monkeypatch.setattr(server, "find_spec", lambda name: None if request.param == "h11" else find(name))
    begun, bound = threading.Event(), server.listen()
    app = server.Server(Service(list(loaded.values()), Guard()), begun.set)
    thread = threading.Thread(target=app.run, args=([bound],))
    thread.start()
    assert begun.wait(30)
    port, made = bound.getsockname()[1], list[socket.socket]()

    def make() -> socket.socket:
        made.append(socket.create_connection(("127.0.0.1", port), 20))
        return made[-1]

    yield make
    for each in made:
        each.close()
    app.should_exit = True
    thread.join(30)
    assert not thread.is_alive()


def head(*lines: str, method: str = "POST", path: str = "/v1/predict") -> bytes:
    every = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", "content-type: application/json", *lines]
    return "\r\n".join([*every, "", ""]).encode()


def answers(connection: socket.socket, n: int = 1) -> list[tuple[int, Any]]:
    """The statuses and bodies of so many answers; or of all, until the other side closes."""
    data, found = b"", list[tuple[int, Any]]()
    while len(found) < n:
        begin, end, rest = data.partition(b"\r\n\r\n")
        length = [
            int(line.split(b":")[1]) for line in begin.lower().split(b"\r\n") if line.startswith(b"content-length")
        ]
        if end and length and len(rest) >= length[0]:
            found.append((int(begin.split()[1]), json.loads(rest[: length[0]])))
            data = rest[length[0] :]
            continue
        piece = connection.recv(65536)
        if not piece:
            break
        data += piece
    return found


def closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


Connect = Callable[[], socket.socket]


@pytest.mark.parametrize(
    "data", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\r\nGET\r\n\r\n", b"GET / HTTP/9.9 x\r\n\r\n"]
)
def test_what_is_no_http_is_refused_in_one_sentence(connect: Connect, data: bytes) -> None:
    connection = connect()
    connection.sendall(data + b"\r\n\r\n")
    assert answers(connection) == [(400, {"error": "this is no request of HTTP/1.1"})]
    assert closed(connection)


def test_a_head_without_end_is_refused(connect: Connect) -> None:
    connection = connect()
    connection.sendall(b"GET /v2 HTTP/1.1\r\nhost: 127.0.0.1\r\n")
    for _ in range(66):
        connection.sendall(b"x-more: " + b"x" * 990 + b"\r\n")
    assert answers(connection) == [(431, {"error": "the head of the request is too large"})]
    assert closed(connection)


def test_requests_that_are_sent_together_are_answered_in_their_order(connect: Connect) -> None:
    connection = connect()
    length = f"content-length: {len(ROW)}"
    connection.sendall((head(length) + ROW) * 3 + head(method="GET", path="/nothing") + head(length) + ROW)
    assert [status for status, _ in answers(connection, 5)] == [200, 200, 200, 404, 200]


def test_a_body_may_come_in_pieces_and_slowly_but_not_for_ever(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "WAIT", 0.4)
    connection = connect()
    connection.sendall(head("transfer-encoding: chunked"))
    for at in range(0, len(ROW), 10):
        piece = ROW[at : at + 10]
        connection.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        time.sleep(0.01)
    connection.sendall(b"0\r\n\r\n")
    ((status, _),) = answers(connection)
    assert status == 200
    connection.sendall(head(f"content-length: {len(ROW)}") + ROW[:-1])
    ((status, said),) = answers(connection)
    assert status == 408
    assert said == {"error": "the body did not come within 0.4 seconds"}
    assert closed(connection)


def test_a_body_that_is_too_large_is_refused_while_it_comes(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST", 1 << 16)
    connection = connect()
    connection.sendall(head("content-length: 70000"))  # and nothing of it
    ((status, said),) = answers(connection)
    assert status == 413
    assert "larger than" in said["error"]
    connection = connect()
    connection.sendall(head("transfer-encoding: chunked"))
    for _ in range(3):
        connection.sendall(b"8000\r\n" + b" " * 0x8000 + b"\r\n")
    ((status, _),) = answers(connection)
    assert status == 413


def test_who_says_nothing_is_not_waited_for(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "WAIT", 0.1)
    silent, halting, used = connect(), connect(), connect()
    halting.sendall(b"GET /v2 HTTP/1.1\r\nho")
    used.sendall(head(method="GET", path="/v2"))
    ((status, _),) = answers(used)
    assert status == 200
    for each in (silent, halting, used):
        assert closed(each)


def test_who_leaves_in_the_middle_harms_nobody(connect: Connect) -> None:
    for data in (head("content-length: 100") + b"{", head("transfer-encoding: chunked") + b"5\r\n{", head()[:20]):
        connect().sendall(data)
        connect().close()
    for _ in range(3):
        connection = connect()
        connection.sendall(head(f"content-length: {len(ROW)}") + ROW)
        connection.close()
    connection = connect()
    connection.sendall(head(f"content-length: {len(ROW)}") + ROW)
    ((status, _),) = answers(connection)
    assert status == 200
