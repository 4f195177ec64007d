"""Who is answered, how much, how often; and what is never said: a path, a trace, a token, a value of a row."""

from __future__ import annotations

import gzip
import json
import os
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ingenuo.cli import main
from ingenuo.errors import InputError
from ingenuo.serve import app, http
from ingenuo.serve.http import Guard, read_tokens
from ingenuo.serve.logs import Log
from ingenuo.serve.models import Served, Version
from ingenuo.serve.process import Settings

from .asker import BASE, Asker, error

READ, LEARN, ALL = "r" * 20, "l" * 20, "a" * 20
ROW = {"rows": [{"Outlook": "Sunny"}]}
Make = Callable[..., Asker]


@pytest.fixture
def tokens(tmp_path: Path) -> Guard:
    path = tmp_path / "tokens"
    path.write_text(f"# who may ask\n{READ} read\n\n{LEARN}\tlearn\n{ALL}\n")
    return Guard(read_tokens(str(path)))


# Tokens.


def test_a_token_allows_what_its_line_says(make_ask: Make, tokens: Guard) -> None:
    ask = make_ask(tokens)

    def post(path: str, token: str) -> Any:
        return ask("POST", path, json=ROW, headers={"authorization": f"Bearer {token}"})

    for path in ("/v1/predict", "/v1/explain", "/v1/change", "/v2/models/tennis/infer"):
        assert post(path, READ).status_code == post(path, ALL).status_code == 200
        assert error(post(path, LEARN), 403) == "the token does not allow to read; take one that does"
    for path in ("/v1/learn", "/v1/forget", "/v1/recalibrate"):
        assert error(post(path, READ), 403) == "the token does not allow to learn; take one that does"
        for token in (LEARN, ALL):
            assert "does not learn" in error(post(path, token), 409)  # the server was started without it


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer ", f"Bearer {READ}x", f"Bearer {READ[1:]}", f"Basic {READ}", READ, "Bearer é"]
)
def test_without_a_token_nothing_is_said_but_that_the_server_runs(
    make_ask: Make, tokens: Guard, given: str | None
) -> None:
    ask = make_ask(tokens, log=None)
    headers = {} if given is None else {"authorization": given.encode()}
    refused = [("GET", each) for each in ("/metrics", "/v1/models", "/v1/model", "/v1/sheet", "/v1/openapi.json")]
    refused += [("GET", each) for each in ("/v2/models/tennis", "/v2/models/tennis/ready", "/v2/models/nobody", "/x")]
    refused += [("POST", each) for each in ("/v1/predict", "/v1/learn", "/invocations", "/v2/models/tennis/infer")]
    said = set()
    for method, path in refused:
        answer = ask(method, path, headers=headers)
        said.add(error(answer, 401))
        assert answer.headers["www-authenticate"] == "Bearer"
    assert said == {"the token is missing or wrong; send it as Authorization: Bearer TOKEN"}
    for path in ("/v2", "/v2/health/live", "/v2/health/ready", "/ping", "/enter"):
        assert ask("GET", path, headers=headers).status_code == 200
    page = ask("GET", "/", headers=headers)
    assert (page.status_code, page.headers["location"], page.text) == (303, "/enter", "")


def test_the_page_opens_by_a_cookie_that_asks_for_this_page_alone(make_ask: Make, tokens: Guard) -> None:
    ask = make_ask(tokens)
    assert error(ask.post("/v1/enter", {"token": "wrong"}), 403)
    cookie = ask.post("/v1/enter", {"token": READ}).headers["set-cookie"]
    assert cookie == f"ingenuo-8000={READ}; HttpOnly; Path=/; SameSite=strict"
    kept = {"cookie": cookie.partition(";")[0]}
    assert ask("GET", "/", headers=kept).text.startswith("<!doctype html>")
    assert ask("POST", "/v1/predict", json=ROW, headers={**kept, "origin": BASE}).status_code == 200
    error(ask("POST", "/v1/predict", json=ROW, headers={**kept, "origin": "http://evil.example"}), 403)
    error(ask("POST", "/v1/learn", json=ROW, headers={**kept, "origin": BASE}), 403)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "has no token"), (b"# nobody\n\n", "has no token"), (b"short\n", "line 1: a token has 16 letters"),
        (b"x" * 20 + b" raed\n", "line 1: 'raed' is no scope; did you mean 'read'"), (b"\xff" * 20, "is no text"),
        (b"x" * 20 + b"\n" + b"x" * 20 + b" read", "line 2: the token stands there twice"),
        ("é" * 20, "line 1: a token has 16 letters of ASCII"), (b"x" * 20 + b";", "no semicolon"),
    ],
)  # fmt: skip
def test_a_file_of_tokens_that_is_none_is_refused_without_showing_one(
    tmp_path: Path, text: bytes | str, said: str
) -> None:
    path = tmp_path / "tokens"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InputError) as found:
        read_tokens(str(path))
    assert said in str(found.value)
    assert "xxxx" not in str(found.value)


# Names of this machine, and pages elsewhere.


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "10.0.0.1", "example.org", "127.0.example.org", "127.0.0.1.nip"])
def test_other_machines_can_reach_it_with_tokens_only(files: Path, host: str) -> None:
    result = CliRunner().invoke(main, ["serve", str(files / "tennis.ingenuo"), "--host", host, "--port", "0"])
    assert result.exit_code == 2
    assert "--token-file" in result.output
    assert Settings((), host).guard().hosts is None


def test_at_home_it_answers_to_the_names_of_home_only(make_ask: Make) -> None:
    for host in ("127.0.0.1", "localhost", "::1", "127.0.0.2"):
        ask = make_ask(Settings((), host).guard())
        named = f"[{host}]" if ":" in host else host
        assert ask("GET", "/v2", headers={"host": f"{named}:8000"}).status_code == 200
        for other in ("evil.example", "127.0.0.1.evil.example:80", "10.0.0.1:8000", "localhost.", "[::2]", "é"):
            assert "answers to the address of this machine only" in error(
                ask("GET", "/v2", headers={"host": other.encode()}), 403
            )
    named = make_ask(Settings((), "0.0.0.0", hosts=("mail.example.org",)).guard())
    assert named("GET", "/v2", headers={"host": "mail.example.org"}).status_code == 200
    assert "other names" in error(named("GET", "/v2", headers={"host": "10.0.0.1"}), 403)
    for path in ("/v2/health/live", "/v2/health/ready", "/ping"):  # which probes ask by any address
        assert named("GET", path, headers={"host": "10.0.0.1"}).status_code == 200
    assert make_ask(Settings((), "0.0.0.0").guard())("GET", "/v2", headers={"host": "10.0.0.1"}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "http://127.0.0.1:9000", f"{BASE}.evil.example"])
def test_a_page_elsewhere_changes_nothing(make_ask: Make, origin: str) -> None:
    ask = make_ask()
    said = error(ask("POST", "/v1/predict", json=ROW, headers={"origin": origin}), 403)
    assert said == "this was not asked by the page of this server"
    error(ask("GET", "/v1/model", headers={"sec-fetch-site": "cross-site"}), 403)
    assert ask("POST", "/v1/predict", json=ROW, headers={"origin": BASE}).status_code == 200


# Limits.


@pytest.mark.parametrize("packing", ["gzip", "deflate", "x-gzip", "raw"])
def test_packed_bodies_are_unpacked_as_far_as_a_body_may_be_large(ask: Asker, packing: str) -> None:
    def pack(data: bytes) -> bytes:
        form = {"deflate": 15, "raw": -15}.get(packing, 31)
        made = zlib.compressobj(9, wbits=form)
        return made.compress(data) + made.flush()

    def send(data: bytes) -> Any:
        kind = "deflate" if packing == "raw" else packing
        return ask.send("/v1/predict", data, "application/json", **{"content-encoding": kind})

    whole = pack(json.dumps(ROW).encode())
    assert send(whole).json() == ask.post("/v1/predict", ROW).json()
    bomb = pack(b" " * (http.LARGEST + 1))
    assert len(bomb) < 100_000
    assert "larger than 16 MiB" in error(send(bomb), 413)
    for damaged in (whole[:-4], whole[:5], whole + b"more", b"", b"\x00" * 40):
        error(send(damaged), 400)


def test_a_body_packed_as_nobody_knows_is_refused(ask: Asker) -> None:
    for packing in ("br", "zstd", "gzip, gzip", "x" * 1000):
        said = error(ask.send("/v1/predict", b"{}", "application/json", **{"content-encoding": packing}), 415)
        assert "gzip, deflate and identity are taken" in said
    data = gzip.compress(gzip.compress(b"{}"))
    assert error(ask.send("/v1/predict", data, "application/json", **{"content-encoding": "gzip"}), 400)


def test_a_length_beyond_the_limit_is_refused_before_anything_is_read(ask: Asker) -> None:
    for length in (http.LARGEST + 1, 10**30):
        answer = ask("POST", "/v1/predict", content=b"{}", headers={
            "content-type": "application/json", "content-length": str(length)})  # fmt: skip
        assert "larger than 16 MiB" in error(answer, 413)


def test_who_asks_too_often_is_put_off_and_others_are_not(make_ask: Make, tokens: Guard) -> None:
    ask = make_ask(tokens, rate=0.01)
    for token in (READ, ALL):
        headers = {"authorization": f"Bearer {token}"}
        assert ask("POST", "/v1/predict", json=ROW, headers=headers).status_code == 200
        late = ask("POST", "/v1/predict", json=ROW, headers=headers)
        assert "0.01 requests a second" in error(late, 429)
        assert 90 <= int(late.headers["retry-after"]) <= 101
    assert ask("GET", "/v2/health/ready").status_code == 200


def test_too_many_at_once_are_put_off_and_it_still_says_that_it_is_ready(
    make_ask: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, ask, asked_as = threading.Event(), make_ask(), Version.asked

    def slowly(self: Version, row: Any) -> Any:
        gate.wait(20)
        return asked_as(self, row)

    note = ask.app.note

    def release(request: Any, route: str, said: Any, *rest: Any) -> None:
        note(request, route, said, *rest)
        if ask.app.metrics.requests["/v1/explain", "503"] == 6:
            gate.set()

    monkeypatch.setattr(Version, "asked", slowly)
    monkeypatch.setattr(ask.app, "note", release)
    asked = [("POST", "/v1/explain", {"json": {"rows": [{}]}}) for _ in range(app.IN_FLIGHT + 6)]
    *found, ready = ask.together([*asked, ("GET", "/v2/health/ready", {})])
    late = [each for each in found if each.status_code == 503]
    assert len(late) == 6
    assert all(each.headers["retry-after"] == "1" for each in late)
    assert "64 requests are being answered" in error(late[0], 503)
    assert [each.status_code for each in found].count(200) == app.IN_FLIGHT
    assert ready.status_code == 200
    assert ask.app.in_flight == 0


def test_large_bodies_on_their_way_are_counted_together(ask: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "HELD", 1 << 20)
    late = ask.send("/v1/predict", b" " * ((1 << 20) + 1), "application/json")
    assert "too many large bodies" in error(late, 503)
    assert late.headers["retry-after"] == "1"
    assert ask.app.bodies.held == 0
    assert ask.post("/v1/predict", ROW).status_code == 200


# Before it is ready, and at the end.


def test_ready_tells_the_truth_while_models_are_loaded_and_at_the_end(files: Path, loaded: dict[str, Served]) -> None:
    late = Served("late", str(files / "tennis.ingenuo"))
    ask = Asker(app.Service([loaded["tennis"], late], Guard()))
    for path in ("/v2/health/ready", "/ping"):
        assert (ask("GET", path).status_code, ask("GET", path).json()) == (503, {"live": False})
    assert ask("GET", "/v2/health/live").json() == {"live": True}
    assert ask("GET", "/v2/models/late/ready").json() == {"name": "late", "ready": False}
    assert ask("GET", "/v2/models/tennis/ready").json() == {"name": "tennis", "ready": True}
    for method, path in (("POST", "/v1/predict"), ("GET", "/v1/models/late/model"), ("GET", "/metrics"), ("GET", "/")):
        waits = ask(method, path, headers={"content-type": "application/json"})
        assert "being loaded" in error(waits, 503)
        assert waits.headers["retry-after"] == "1"
    late.open()
    assert ask("GET", "/v2/health/ready").json() == {"live": True}
    assert ask.post("/v1/predict", ROW).status_code == 200
    ask.app.draining = True  # what is asked is answered, and whoever shares the load is warned
    assert ask("GET", "/v2/health/ready").status_code == 503
    assert ask("GET", "/v2/models/tennis/ready").json() == {"name": "tennis", "ready": False}
    assert ask.post("/v1/predict", ROW).status_code == 200
    ask.app.closing = True
    ended = ask.post("/v1/predict", ROW)
    assert "is ending" in error(ended, 503)
    assert (ended.headers["retry-after"], ended.headers["connection"]) == ("1", "close")


# What is never said.


def test_a_failure_of_ours_has_no_trace_no_path_and_no_value(
    make_ask: Make, loaded: dict[str, Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []

    def fail(self: Version, rows: Any) -> Any:
        raise RuntimeError(f"{rows} in /etc/secret")

    monkeypatch.setattr(Version, "answer", fail)
    ask = make_ask(log=Log(lines.append))
    for n in (1, 100):
        said = error(ask.post("/v1/predict", {"rows": [{"Outlook": "Zanzibar"}] * n}), 500)
        assert said == "this should not have happened (RuntimeError); the model is as it was"
    found = [json.loads(line) for line in lines]
    assert [(each["status"], each["error"]) for each in found] == [(500, "RuntimeError")] * 2
    assert all(each["at"].startswith("ingenuo.serve.app:") for each in found)
    assert not any("Zanzibar" in line or "secret" in line for line in lines)


def test_a_line_of_the_log_says_what_was_asked_and_nothing_of_the_rows(make_ask: Make, tokens: Guard) -> None:
    lines: list[str] = []
    ask = make_ask(tokens, log=Log(lines.append))
    headers = {"authorization": f"Bearer {ALL}", "x-request-id": "req-7"}
    value = "Zanzibar"
    row = {"rows": [{"Outlook": value}]}
    assert ask("POST", "/v1/predict", json=row, headers=headers).headers["x-request-id"] == "req-7"
    ask("POST", "/v1/predict", json={"rows": [{value: 1}]}, headers=headers)
    ask("POST", f"/v1/{value}?token={value}", json=row, headers={"x-request-id": f"a b {value}"})
    ask("POST", "/v1/explain", content=value.encode(), headers={**headers, "content-type": "application/json"})
    ask("POST", "/v1/change", json={**row, "target": value}, headers=headers)
    ask("POST", "/invocations", content=f"{value}\n1\n".encode(), headers={**headers, "content-type": "text/csv"})
    ask(value.upper(), "/v1/predict", headers=headers)
    known = {
        "time", "method", "route", "status", "ms", "bytes_in", "bytes_out", "rows", "model", "version", "id", "token",
    }  # fmt: skip
    found = [json.loads(line) for line in lines]
    assert [each["status"] for each in found] == [200, 400, 401, 400, 400, 400, 405]
    assert all(each.keys() <= known for each in found)
    first = found[0]
    assert (first["method"], first["route"], first["rows"], first["model"]) == ("POST", "/v1/predict", 1, "tennis")
    assert (first["id"], first["token"], first["bytes_in"]) == ("req-7", 5, len(json.dumps(row, separators=(",", ":"))))
    assert [each["route"] for each in found if each["status"] == 401] == ["unknown"]
    for secret in (value.lower(), ALL.lower(), "a b"):
        assert not any(secret in line.lower() for line in lines)


def test_a_line_of_the_log_is_one_line(make_ask: Make) -> None:
    lines: list[str] = []
    ask = make_ask(log=Log(lines.append))
    for odd in ('"\\n{', "x" * 500, "é", "\u2028"):
        ask("GET", "/v2", headers={"x-request-id": odd.encode()})
    assert len({json.loads(line)["id"] for line in lines}) == 4
    assert all(line.count("\n") == 1 and len(line) < 400 for line in lines)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
def test_tokens_that_others_can_read_are_remarked(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Settings] = []
    monkeypatch.setattr("ingenuo.serve.workers.serve", lambda settings, bound, announce: seen.append(settings))
    path = tmp_path / "tokens"
    path.write_text(f"{READ} read\n")
    for mode, remarked in ((0o644, True), (0o600, False)):
        path.chmod(mode)
        words = ["serve", str(files / "tennis.ingenuo"), "--token-file", str(path), "--port", "0", "--rate", "5"]
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, result.output
        assert ("chmod 600" in result.output) is remarked
    assert [each.rate for each in seen] == [5.0, 5.0]
    assert seen[0].guard().tokens == read_tokens(str(path))
