"""Pages in Chromium: opened from disk, and what they said or asked for."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.browsers import chromium

PAGE = Path(__file__).parents[2] / "src" / "ingenuo" / "page"

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@dataclass
class Visit:
    """A page that is open."""

    page: Any
    path: Path
    said: list[str] = field(default_factory=list)  # on the console, in dialogs, and what went wrong
    asked: list[str] = field(default_factory=list)  # of the network

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector)).strip()

    def texts(self, selector: str) -> list[str]:
        return [each.strip() for each in self.page.locator(selector).all_inner_texts()]

    @property
    def focused(self) -> str:
        """The name of what has the focus."""
        return str(
            self.page.evaluate(
                "(e => e.getAttribute('aria-label') || (e.labels && e.labels[0] && e.labels[0].innerText) "
                "|| e.innerText || e.id)(document.activeElement)"
            )
        ).strip()

    def until(self, condition: str) -> None:
        """Wait for something to be true on the page, whose policy lets the driver not wait by itself."""
        end = time.monotonic() + 20
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, condition
            self.page.wait_for_timeout(30)


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Visit]]:
    """Opens a page from disk; in the end no page has said anything, or has asked for more than itself."""
    opened: list[Visit] = []
    contexts: list[Any] = []
    numbers = count(1)

    def go(html: str | Path, *, width: int = 1280, height: int = 900, scheme: str = "light", hash: str = "",
           quiet: bool = True, **context: Any) -> Visit:  # fmt: skip
        path = html if isinstance(html, Path) else tmp_path / f"page-{next(numbers)}.html"
        if isinstance(html, str):
            path.write_text(html, encoding="utf-8")
        own = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", **context
        )
        contexts.append(own)
        page = own.new_page()
        found = Visit(page, path)
        page.on("console", lambda message: found.said.append(message.text))
        page.on("pageerror", lambda error: found.said.append(str(error)))
        page.on("dialog", lambda dialog: (found.said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: found.asked.append(request.url.partition("#")[0]))
        page.goto(path.as_uri() + (f"#{hash}" if hash else ""))
        page.wait_for_selector("html[data-ready], [role=alert]", timeout=20_000)
        if quiet:
            opened.append(found)
        return found

    yield go
    for context in contexts:
        context.close()
    for each in opened:
        assert each.said == []
        assert {url for url in each.asked if not url.startswith("data:")} <= {each.path.as_uri()}


@pytest.fixture(scope="session")
def in_node() -> Run:
    """Runs a script of modules of the page in node, with `given`; what it prints as JSON is the answer."""

    def run(module: str, names: str, script: str, given: Any = None) -> Any:
        if shutil.which("node") is None:
            pytest.skip("there is no node on this machine, so no JavaScript can be run")
        head = f'import {{ {names} }} from "{(PAGE / module).as_uri()}";\nimport {{ readFileSync }} from "node:fs";\n'
        head += 'const given = JSON.parse(readFileSync(0, "utf8"));\n'
        call = ["node", "--input-type=module", "-e", f"{head}console.log(JSON.stringify({script}));"]
        done = subprocess.run(call, input=json.dumps(given), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    return run
