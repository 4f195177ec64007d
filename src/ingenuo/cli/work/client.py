"""A model that a server answers by: `ingenuo predict --server`, with the rows sent in parts and the same answers back.

It has what commands ask of a fitted model: its columns, its classes, and `predict_proba`.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import json
import os
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ingenuo import __version__
from ingenuo.errors import EngineError, InputError
from ingenuo.rows.schema import Schema
from ingenuo.show.format import shortened
from ingenuo.tally.labels import Labels, objects, public

ARROW = "application/vnd.apache.arrow.stream"
TOKEN = "INGENUO_TOKEN"  # the variable of the environment that may have it
_ROWS, _BYTES = 10_000, 4 << 20  # of a request
_ANSWER = 1 << 28  # bytes of an answer; of a larger one the model is not what it says
_TIMES, _LONGEST = 6, 30.0  # a request is sent, and seconds that are waited before it is sent again
_WAIT = 60.0  # seconds for an answer
_AGAIN = (429, 503)
_SHOWN = 1_000  # values of a column that a server lists: where there are more, not all are known


class ServedModel:
    """A model behind an address.

    Parameters
    ----------
    url : str
        Of the server, whose first model answers, or of one of its models: `http://HOST:PORT/v1/models/NAME`.
    token : str, optional
        What the server knows its caller by. Over http it is sent to this machine alone, unless `insecure`.
    """

    def __init__(self, url: str, token: str | None = None, *, insecure: bool = False) -> None:
        self._address = _check_address(url)
        if token is not None and self._address.scheme == "http" and not insecure and not _is_here(self._address):
            raise InputError(
                f"the token would be sent to {self._address.hostname} over http, where others can read it; take https, "
                "or say --insecure"
            )
        self._token, self._connection = token, http.client.HTTPConnection("")
        self._connected = False
        self._base = self._address.path.rstrip("/") or "/v1"
        try:
            said = json.loads(self._ask("GET", f"{self._base}/model", accept="application/json"))
            self._read(said)
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise EngineError(f"{self._name} does not answer as `ingenuo serve` does; check the address") from None

    def _read(self, said: Any) -> None:
        """The columns and the classes, as the server describes them."""
        kinds = {str(each["name"]): str(each["kind"]) for each in said["columns"]}
        known = {
            str(each["name"]): list(each["values"])
            for each in said["columns"]
            if each["kind"] == "category" and 0 < len(each.get("values", ())) < _SHOWN
        }
        self.schema_ = Schema.of(kinds, known)
        self.classes_: Labels = public(objects(said["classes"]))
        self.version = str(said["version"])
        if said.get("target") is not None:
            self._target = str(said["target"])

    @property
    def _name(self) -> str:
        return f"{self._address.scheme}://{self._address.netloc}"

    def predict_proba(self, rows: Any) -> NDArray[np.float64]:
        """The posterior of each class, for each row of a table."""
        columns = [name for name in self.schema_.names.tolist() if name in rows.column_names]
        found = [self._answer(part) for part in _parts(rows.select(columns))]
        return np.concatenate(found) if found else np.zeros((0, len(self.classes_)))

    def predict(self, rows: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        return np.asarray(self.classes_[self.predict_proba(rows).argmax(axis=1)])

    def _answer(self, rows: pa.Table) -> NDArray[np.float64]:
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_table(rows)
        data = self._ask("POST", f"{self._base}/predict", sink.getvalue(), accept=ARROW)
        try:
            table = pa.ipc.open_stream(data).read_all()
            columns = [table.column(f"P({label})").to_numpy() for label in self.classes_.tolist()]
        except (KeyError, pa.ArrowInvalid):
            raise EngineError(
                f"{self._name} answers by other classes than it did at first: its model was replaced; ask again"
            ) from None
        if table.num_rows != rows.num_rows:
            raise EngineError(f"{self._name} was sent {rows.num_rows:,} rows and answered {table.num_rows:,}")
        return np.column_stack([np.asarray(column, np.float64) for column in columns])

    # Requests.

    def _ask(self, method: str, path: str, body: bytes | None = None, *, accept: str) -> bytes:
        """The body of an answer; one that says to come again is asked for again, a few times."""
        headers = {"accept": accept, "user-agent": f"ingenuo/{__version__}"}
        headers |= {} if body is None else {"content-type": ARROW}
        headers |= {} if self._token is None else {"authorization": f"Bearer {self._token}"}
        for attempt in range(_TIMES):
            status, again, data = self._send(method, path, body, headers)
            if status == 200:
                return data
            if status not in _AGAIN or attempt + 1 == _TIMES:
                break
            time.sleep(again)
        raise EngineError(_explain(self._name, status, data))

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, float, bytes]:
        """Send a request; the status, the seconds to wait should it come again, and the body."""
        for fresh in (False, True):
            was_open = self._connected
            try:
                if not self._connected:
                    self._connection, self._connected = _connect(self._address), True
                self._connection.request(method, path, body, headers)
                answer = self._connection.getresponse()
                data = answer.read(_ANSWER + 1)
                if answer.will_close or len(data) > _ANSWER:
                    self._close()
                if len(data) > _ANSWER:
                    raise EngineError(f"{self._name} answered with more than {_ANSWER >> 20} MiB, and was not read on")
                return answer.status, _seconds(answer.headers.get("retry-after")), data
            except (http.client.HTTPException, OSError) as error:
                self._close()
                if fresh or not was_open or isinstance(error, TimeoutError):  # an old connection may have been closed
                    raise EngineError(_failure(self._name, error)) from None
        raise AssertionError

    def _close(self) -> None:
        self._connection.close()
        self._connected = False


def _check_address(url: str) -> SplitResult:
    """The parts of an address that can be asked."""
    try:
        found = urlsplit(url if "://" in url else f"http://{url}")
        port = found.port
    except ValueError as error:
        raise InputError(
            f"{url!r} is no address of a server ({error}); take one such as http://127.0.0.1:8080"
        ) from None
    if found.scheme not in ("http", "https") or not found.hostname or port == 0:
        raise InputError(f"{url!r} is no address of a server; take one such as http://127.0.0.1:8080")
    if found.username is not None or found.query or found.fragment:
        raise InputError(
            f"an address of a server has no name, question or fragment; the token comes from --token-file or ${TOKEN}"
        )
    path = found.path.rstrip("/")
    known = path in ("", "/v1") or (path.startswith("/v1/models/") and path.count("/") == 3)
    if not known:
        raise InputError(f"{url!r} has the path {found.path!r}; it may have none, or that of a model: /v1/models/NAME")
    return found._replace(path=quote(unquote(path)))


def _is_here(address: SplitResult) -> bool:
    """Whether an address is of this machine."""
    name = address.hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _connect(address: SplitResult) -> http.client.HTTPConnection:
    if address.scheme == "http":
        return http.client.HTTPConnection(str(address.hostname), address.port, timeout=_WAIT)
    return http.client.HTTPSConnection(str(address.hostname), address.port, timeout=_WAIT)


def _seconds(said: str | None) -> float:
    """How long Retry-After says to wait, within reason; a date is taken for a second."""
    return min(max(float(said), 0.0), _LONGEST) if said is not None and said.strip().isdecimal() else 1.0


def _failure(name: str, error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return f"nothing answers at {name}; start the server (ingenuo serve MODEL), or check the address"
    if isinstance(error, TimeoutError):
        return f"{name} has not answered for {_WAIT:g} seconds"
    if isinstance(error, OSError):
        return f"{name} cannot be asked ({error.strerror or error})"
    return f"{name} does not answer as a server of HTTP does ({type(error).__name__})"


def _explain(name: str, status: int, data: bytes) -> str:
    """What a server says has gone wrong, as one sentence."""
    try:
        said = json.loads(data)["error"]
        sentence = shortened(" ".join(str(said).split()), 500)
    except (LookupError, TypeError, ValueError):
        sentence = http.client.responses.get(status, "no reason given")
    if status == 401:
        sentence = f"{sentence.partition(';')[0]}; give it by --token-file or ${TOKEN}"
    return f"{name} answered {status}: {sentence}"


def _parts(rows: pa.Table) -> Iterator[pa.Table]:
    """Rows in parts that a server takes."""
    at = 0
    each = max(1, min(_ROWS, _BYTES * max(rows.num_rows, 1) // max(rows.nbytes, 1)))
    while at < rows.num_rows:
        yield rows.slice(at, each)
        at += each


def token_of(path: str | None) -> str | None:
    """The token of a file's first line, or of the environment; None where there is none."""
    if path is None:
        return os.environ.get(TOKEN, "").strip() or None
    with open(path, encoding="utf-8") as file:
        words = next((line.split() for line in file if line.strip() and not line.startswith("#")), [])
    if not words or not words[0].isascii() or not words[0].isprintable():
        raise InputError(f"{path} has no token in its first line")
    return words[0]
