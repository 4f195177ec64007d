"""Asks an application of `ingenuo serve` without a socket, and reads what it answers."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx

from ingenuo.serve.app import Service

BASE = "http://127.0.0.1:8000"


class Asker:
    """Asks an application; several requests are asked at once."""

    def __init__(self, app: Service, **headers: str) -> None:
        self.app, self.headers = app, headers

    def __call__(self, method: str, path: str, *, headers: Any = None, base: str = BASE, **body: Any) -> Any:
        return self.together([(method, path, {"headers": headers, **body})], base=base)[0]

    def together(self, requests: list[tuple[str, str, dict[str, Any]]], base: str = BASE) -> list[Any]:
        async def ask() -> list[Any]:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=base) as client:
                calls = []
                for method, path, given in requests:
                    headers = {**self.headers, **(given.pop("headers", None) or {})}
                    headers = {name: value for name, value in headers.items() if value is not None}
                    calls.append(client.request(method, path, headers=headers, **given))
                return await asyncio.gather(*calls)

        return asyncio.run(ask())

    def post(self, path: str, data: Any, **headers: str) -> Any:
        return self("POST", path, json=data, headers=headers)

    def send(self, path: str, data: bytes, kind: str, **headers: str) -> Any:
        return self("POST", path, content=data, headers={"content-type": kind, **headers})


def error(answer: Any, code: int) -> str:
    """The one sentence with which something was refused."""
    assert answer.status_code == code, answer.text
    found = answer.json()
    assert list(found) == ["error"]
    said = str(found["error"])
    assert "Traceback" not in said
    assert "\n" not in said
    assert not re.search(r"(/[\w.-]+){2}", said), said  # no path
    return said
