"""The server of the page: answers whoever has the token, from this machine, by its own page, and nobody else."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ingenuo as ing
from ingenuo import store
from ingenuo.cli.work.page import merge_with
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.page.rows import page_rows
from ingenuo.page.session import Session
from ingenuo.serve import http
from ingenuo.serve.home import make_app
from ingenuo.tally import container

httpx = pytest.importorskip("httpx", reason="httpx is not installed, so the server cannot be asked")

BASE, TOKEN = "http://127.0.0.1:8000", "t" * 43
SUNNY = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Weak"}  # the first of the days, No


class Asker:
    """Asks an application as a browser would that has entered; headers and cookies can be others."""

    def __init__(self, session: Session, **made: Any) -> None:
        self.app = make_app(session, TOKEN, **made)

    def __call__(
        self, method: str, path: str, *, cookie: str | None = TOKEN, base: str = BASE, headers: Any = None, **body: Any
    ) -> Any:
        sent = {"origin": base} if method == "POST" else {}
        sent |= {"cookie": f"ingenuo-8000={cookie}"} if cookie is not None else {}
        sent |= headers or {}
        kept = {name: value for name, value in sent.items() if value is not None}

        async def ask() -> Any:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=base) as client:
                return await client.request(method, path, headers=kept, **body)

        return asyncio.run(ask())

    def post(self, path: str, body: Any, **how: Any) -> Any:
        return self("POST", path, json=body, **how)

    def send(self, path: str, data: Any, kind: str = "application/octet-stream") -> Any:
        return self("POST", path, content=data, headers={"content-type": kind})


@pytest.fixture
def session(tmp_path: Path) -> Session:
    model = ing.NaiveBayes().fit(play_tennis(), "Play")
    return Session(
        model,
        merge=merge_with("days", {}),
        about={"history": [{"what": "train"}]},
        save_to=str(tmp_path / "new.ingenuo"),
    )


@pytest.fixture
def ask(session: Session) -> Asker:
    return Asker(session)


def error(answer: Any, code: int) -> str:
    """The one sentence with which something was refused."""
    assert answer.status_code == code, answer.text
    found = answer.json()
    assert list(found) == ["error"]
    assert "Traceback" not in found["error"]
    assert "\n" not in found["error"]
    return str(found["error"])


# Who is answered.


def test_the_token_is_exchanged_for_a_cookie_that_scripts_do_not_see(ask: Asker) -> None:
    door = ask("GET", "/enter", cookie=None)
    assert "script-src 'sha256-" in door.text
    assert TOKEN not in door.text
    entered = ask.post("/v1/enter", {"token": TOKEN}, cookie=None)
    cookie = entered.headers["set-cookie"]
    assert cookie.startswith(f"ingenuo-8000={TOKEN}; ")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert ask("GET", "/").text.startswith("<!doctype html>")


def test_a_ticket_opens_once(session: Session) -> None:
    ask = Asker(session, tickets={"once"})
    assert ask.post("/v1/enter", {"token": "once"}, cookie=None).status_code == 200
    assert "used already" in error(ask.post("/v1/enter", {"token": "once"}, cookie=None), 403)
    for wrong in ("", "x", None, 1, [TOKEN], TOKEN + "x"):
        error(ask.post("/v1/enter", {"token": wrong}, cookie=None), 403)


@pytest.mark.parametrize("cookie", [None, "", "wrong", TOKEN[:-1], TOKEN + "t"])
def test_nothing_is_said_without_the_token(ask: Asker, cookie: str | None) -> None:
    page = ask("GET", "/", cookie=cookie)
    assert (page.status_code, page.headers["location"], page.text) == (303, "/enter", "")
    for path in ("/v1/model.ingenuo", "/v1/forget", "/nothing"):
        assert "token" in error(ask("GET", path, cookie=cookie), 401)
    error(ask.post("/v1/undo", {}, cookie=cookie), 401)


@pytest.mark.parametrize(
    "host",
    ["evil.example:8000", "127.0.0.1:8001", "127.0.0.1", "127.0.0.1.evil.example:8000", "[::1", "", "localhost:080000"],
)
def test_another_name_for_this_machine_is_refused(ask: Asker, host: str) -> None:
    for path in ("/", "/enter"):
        assert "this machine" in error(ask("GET", path, headers={"host": host}), 403)
    error(ask.post("/v1/enter", {"token": TOKEN}, headers={"host": host, "origin": f"http://{host}"}), 403)


def test_the_names_of_this_machine_are_known(ask: Asker) -> None:
    for host in ("127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"):
        assert ask("GET", "/enter", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://127.0.0.1:8001", "https://127.0.0.1:8000", BASE + "/"]
)
def test_only_the_page_itself_may_change_the_model(ask: Asker, session: Session, origin: str | None) -> None:
    before = session.model
    body = {"rows": [SUNNY], "classes": ["No"], "apply": True}
    assert "not asked by the page" in error(ask.post("/v1/forget", body, headers={"origin": origin}), 403)
    assert session.model is before


def test_a_form_of_another_site_cannot_speak_json(ask: Asker) -> None:
    error(ask("POST", "/v1/undo", content="{}", headers={"content-type": "text/plain"}), 415)
    error(ask("GET", "/", headers={"sec-fetch-site": "cross-site"}), 403)


def test_every_answer_has_its_headers(ask: Asker) -> None:
    for answer in (ask("GET", "/"), ask("GET", "/enter"), ask("GET", "/nothing"), ask("GET", "/", cookie=None)):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_what_is_not_there_is_one_sentence(ask: Asker) -> None:
    error(ask("GET", "/../../etc/passwd"), 404)
    error(ask("GET", "/v1/forget"), 405)
    error(ask.post("/", {}), 405)


# Bodies.


def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(ask: Asker, monkeypatch: Any) -> None:
    monkeypatch.setattr(http, "LARGEST", 1 << 20)
    assert "larger than 1 MiB" in error(ask.send("/v1/second", b"x" * (1 << 20) + b"x"), 413)

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b"x" * (1 << 18)

    error(ask.send("/v1/second", pieces()), 413)
    error(ask.send("/v1/second", b"x" * (1 << 20)), 400)  # which is no model


def test_a_body_that_does_not_come_is_not_waited_for(ask: Asker, monkeypatch: Any) -> None:
    monkeypatch.setattr(http, "WAIT", 0.05)

    async def never() -> Any:
        await asyncio.sleep(30)

    async def send(message: Any) -> None:
        sent.append(message)

    sent: list[Any] = []
    headers = [(b"host", b"127.0.0.1:8000"), (b"origin", BASE.encode()), (b"cookie", f"ingenuo-8000={TOKEN}".encode())]
    headers += [(b"content-type", b"application/json")]
    scope = {
        "type": "http", "method": "POST", "path": "/v1/undo", "raw_path": b"/v1/undo", "query_string": b"",
        "headers": headers, "server": ("127.0.0.1", 8000), "scheme": "http", "http_version": "1.1", "root_path": "",
    }  # fmt: skip
    asyncio.run(ask.app(scope, never, send))
    assert sent[0]["status"] == 408


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[]",
        "null",
        '"x"',
        '{"rows": NaN}',
        '{"rows": Infinity}',
        "[" * 100_000,
        '{"a":' * 3000,
        b"\xff\xfe",
        "{}}",
    ],
)
def test_what_is_no_json_object_is_refused(ask: Asker, body: str | bytes) -> None:
    error(ask.send("/v1/forget", body, "application/json"), 400)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "rows and classes"),
        ({"rows": [SUNNY], "classes": []}, "same length"),
        ({"rows": [SUNNY] * 101, "classes": ["No"] * 101}, "of 1 to 100"),
        ({"rows": [1], "classes": ["No"]}, "a row must be a mapping"),
        ({"rows": [{"Outlook": ["Sunny"]}], "classes": ["No"]}, "a row must be a mapping"),
        ({"rows": [{"Outlok": "Sunny"}], "classes": ["No"]}, "did you mean 'Outlook'"),
        ({"rows": [SUNNY], "classes": [None]}, "a class must be"),
        ({"rows": [SUNNY], "classes": ["No"], "apply": 1}, "apply must be true or false"),
        ({"rows": [SUNNY], "classes": ["No"], "path": "/etc/passwd"}, "'path' is not asked here"),
        ({"rows": [SUNNY], "classes": ["No"], "question": 3}, "a row must be a mapping"),
    ],
)
def test_what_is_asked_wrongly_is_said(ask: Asker, body: Any, said: str) -> None:
    assert said in error(ask.post("/v1/forget", body), 400)


def test_a_failure_of_ours_has_no_trace_and_no_secret(ask: Asker, session: Session, monkeypatch: Any) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("secret")

    monkeypatch.setattr(session, "_compare", fail)
    said = error(ask.post("/v1/forget", {"rows": [SUNNY], "classes": ["No"]}), 500)
    assert "should not have happened (RuntimeError)" in said
    assert "secret" not in said


# Forgetting, learning and merging.


def test_forgetting_equals_never_having_seen(ask: Asker, session: Session) -> None:
    before = session.model
    body = {"rows": [SUNNY], "classes": ["No"], "question": SUNNY}
    found = ask.post("/v1/forget", body).json()
    assert session.model is before
    without = ing.NaiveBayes().fit(play_tennis().slice(1), "Play")
    assert found["learned"] == [14, 13]
    for side, model in zip(found["question"], (before, without)):
        assert side == {"classes": ["No", "Yes"], "posterior": model.predict_proba([SUNNY])[0].tolist()}
    changed = {(each["column"], each["class"]): (each["before"][0], each["after"][0]) for each in found["fractions"]}
    assert changed["Outlook", "No"] == ("(3 + 1)/(5 + 3)", "(2 + 1)/(4 + 3)")
    assert changed["prior", "Yes"] == ("9/14", "9/13")
    assert ("Outlook", "Yes") not in changed
    state = ask.post("/v1/forget", body | {"apply": True}).json()["state"]
    assert (state["changes"], state["learned"]) == (1, 13)
    assert session.model.tally_ == without.tally_
    assert ask("GET", "/").text != session.title


def test_learning_is_shown_and_taken_back(ask: Asker, session: Session) -> None:
    before = session.model
    body = {"rows": [{"Outlook": "Snow", "Wind": None}], "classes": ["Perhaps"], "question": {}, "apply": True}
    found = ask.post("/v1/learn", body).json()
    assert found["question"][1]["classes"] == ["No", "Perhaps", "Yes"]
    assert session.model.classes_.tolist() == ["No", "Perhaps", "Yes"]
    assert ask.post("/v1/undo", {}).json()["state"]["changes"] == 0
    assert session.model is before
    assert "nothing to undo" in error(ask.post("/v1/undo", {}), 400)


def test_a_row_that_was_never_learned_is_refused_and_nothing_changes(ask: Asker, session: Session) -> None:
    before = session.model
    body = {"rows": [SUNNY | {"Outlook": "Snow"}], "classes": ["No"], "apply": True}
    error(ask.post("/v1/forget", body), 409)
    assert session.model is before
    known = ing.NaiveBayes(fingerprints=True).fit(play_tennis(), "Play")
    said = error(Asker(Session(known)).post("/v1/forget", {"rows": [SUNNY], "classes": ["Yes"]}), 409)
    assert "was never learned" in said


def test_a_model_that_cannot_forget_says_how_to_go_on() -> None:
    softmax = Session(ing.SoftmaxRegression().fit(diabetes(), "progression"))
    assert "SoftmaxRegression cannot forget" in softmax.state["cannot"]["forget"]
    body = {"rows": [{"age": "50s"}], "classes": ["slow"]}
    assert "SoftmaxRegression cannot forget" in error(Asker(softmax).post("/v1/forget", body), 409)


@pytest.mark.parametrize("kind", ["numbers", "texts", "vote"])
def test_rows_of_any_kind_are_forgotten(kind: str) -> None:
    rows = diabetes()
    if kind == "numbers":
        X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
        model: Any = ing.NaiveBayes().fit(X, y)
        row, label, rest = {"x0": 0, "x1": 1.0}, 0, ing.NaiveBayes().fit(X[1:], y[1:]).tally_
    elif kind == "texts":
        texts, y = ["a good film", "a bad film", "good", "bad"], ["+", "-", "+", "-"]
        model = ing.NaiveBayes().fit(texts, y)
        row, label, rest = {"text": texts[0]}, "+", ing.NaiveBayes().fit(texts[1:], y[1:]).tally_
    else:
        model = ing.BayesClassifier("additive").fit(rows, "progression")
        row = rows.drop_columns(["progression"]).slice(0, 1).to_pylist()[0]
        label, rest = rows["progression"][0].as_py(), None
    session = Session(model)
    found = Asker(session).post("/v1/forget", {"rows": [row], "classes": [label], "question": row, "apply": True})
    assert found.status_code == 200, found.text
    assert found.json()["fractions"]
    assert rest is None or session.model.tally_ == rest


def test_two_models_are_added(session: Session, ask: Asker) -> None:
    rows = play_tennis()
    one, two = (ing.NaiveBayes().fit(part, "Play") for part in (rows.slice(0, 8), rows.slice(8)))
    session.model = one
    assert "no second model" in error(ask.post("/v1/merge", {}), 400)
    added = ask.send("/v1/second", store.to_bytes(two)).json()
    assert added["sheet"]["format"] == "ingenuo-sheet"
    found = ask.post("/v1/merge", {"question": SUNNY, "apply": True}).json()
    whole = ing.NaiveBayes().fit(rows, "Play")
    assert found["question"][1]["posterior"] == whole.predict_proba([SUNNY])[0].tolist()
    assert session.model.tally_ == whole.tally_
    assert two.tally_ == session.second.tally_


def hostile_files() -> Iterator[bytes]:
    whole = store.to_bytes(ing.NaiveBayes().fit(play_tennis(), "Play"))
    yield from (
        b"",
        b"x",
        whole[:-1],
        whole[:100],
        whole + b"x",
        pickle.dumps({"model": 1}),
        b"\x80\x04K\x01.",
        b"\x00" * 99,
    )
    yield whole.replace(b"Outlook", b"Inlooks", 1)
    manifest, tensors = container.from_bytes(whole)
    for changed in (
        {"model": "os.system"},
        {"model": "../../x"},
        {"kind": "x"},
        {"parameters": []},
        {"tally": {}},
        {"schema": None},
    ):
        yield container.to_bytes({**manifest, **changed}, tensors)
    yield container.to_bytes(manifest, {name: tensor[:0] for name, tensor in tensors.items()})
    yield container.to_bytes({"kind": "tally", "tally": manifest["tally"]}, tensors)  # which has no sheet


def test_a_hostile_model_file_is_refused_and_runs_nothing(ask: Asker, session: Session) -> None:
    before = session.model
    for data in hostile_files():
        error(ask.send("/v1/second", data), 400)
        assert session.second is None
    assert session.model is before


def test_models_that_do_not_add_up_are_refused(ask: Asker, session: Session) -> None:
    before = session.model
    for other in (
        ing.NaiveBayes().fit(["good one", "bad one"], ["a", "b"]),
        ing.SoftmaxRegression().fit([[1], [2]], [0, 1]),
    ):
        ask.send("/v1/second", store.to_bytes(other))
        error(ask.post("/v1/merge", {"apply": True}), 409)
    assert session.model is before


# What leaves the server.


def test_the_page_saves_to_the_named_file_and_no_other(ask: Asker, session: Session, tmp_path: Path) -> None:
    for path in ("../x", "/tmp/x", "new.ingenuo"):
        assert "is not asked here" in error(ask.post("/v1/save", {"path": path}), 400)
    assert list(tmp_path.iterdir()) == []
    ask.post("/v1/forget", {"rows": [SUNNY], "classes": ["No"], "apply": True})
    assert ask.post("/v1/save", {}).json()["saved"] == "new.ingenuo"
    assert [path.name for path in tmp_path.iterdir()] == ["new.ingenuo"]
    assert store.load(tmp_path / "new.ingenuo").tally_ == session.model.tally_
    history = store.about(tmp_path / "new.ingenuo")["history"]
    assert [line["what"] for line in history] == ["train", "forget"]
    assert history[1]["forced"] is True
    assert "no file to save to" in error(Asker(Session(session.model)).post("/v1/save", {}), 400)


def test_the_model_can_be_downloaded(ask: Asker, session: Session) -> None:
    answer = ask("GET", "/v1/model.ingenuo")
    assert answer.headers["content-disposition"] == 'attachment; filename="model.ingenuo"'
    assert store.from_bytes(answer.content).tally_ == session.model.tally_


def test_a_network_is_asked(ask: Asker) -> None:
    model = ing.NetworkClassifier("tan").fit(play_tennis(), "Play")
    found = Asker(Session(model)).post("/v1/network", {"evidence": {"Wind": "Weak"}, "do": {"Outlook": "Rain"}}).json()
    asked = model.network_.intervene({"Outlook": "Rain"})
    assert found["probability"] == asked.probability({"Wind": "Weak"})
    assert found["beliefs"]["Play"] == list(asked.posteriors({"Wind": "Weak"})["Play"].values())
    assert "no network" in error(ask.post("/v1/network", {}), 400)
    error(Asker(Session(model)).post("/v1/network", {"evidence": {"Wnd": "Weak"}}), 400)


def test_values_of_rows_cannot_become_markup() -> None:
    bad = "</script><script>alert(1)</script><!--"
    days = play_tennis().to_pandas()
    days.loc[0, "Outlook"] = bad
    model = ing.NaiveBayes().fit(days, "Play")
    session = Session(model, lambda model: page_rows(model, days), title=bad)
    text = Asker(session)("GET", "/").text
    assert "alert(1)</script>" not in text
    assert json.dumps(bad) not in text
