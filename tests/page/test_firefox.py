"""The page in Firefox, where one is installed: another engine has the same bits."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ingenuo as ing
from ingenuo.datasets import diabetes
from ingenuo.page import page

NAMES = ("firefox-esr", "firefox")
WAIT = 60.0  # seconds for it to start
PREFERENCES = {
    "marionette.port": 0, "browser.shell.checkDefaultBrowser": False, "app.update.disabledForTesting": True,
    "datareporting.policy.dataSubmissionEnabled": False, "network.captive-portal-service.enabled": False,
    "ui.prefersReducedMotion": 1,
}  # fmt: skip


class Firefox:
    """A Firefox that is driven by Marionette, its own protocol: a length, a colon, and JSON."""

    def __init__(self, port: int) -> None:
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
        self.file = self.connection.makefile("rb")
        self._read()
        self.call("WebDriver:NewSession", {})

    def _read(self) -> Any:
        size = b""
        while (letter := self.file.read(1)) != b":":
            assert letter.isdigit()
            size += letter
        return json.loads(self.file.read(int(size)))

    def call(self, name: str, given: Any) -> Any:
        text = json.dumps([0, 1, name, given]).encode()
        self.connection.sendall(b"%d:%s" % (len(text), text))
        _, _, error, found = self._read()
        assert error is None, error
        return found

    def open(self, path: Path) -> None:
        self.call("WebDriver:Navigate", {"url": path.as_uri()})

    def evaluate(self, script: str) -> Any:
        return self.call("WebDriver:ExecuteScript", {"script": f"return {script}", "args": []})["value"]

    def until(self, condition: str) -> None:
        end = time.monotonic() + 20
        while not self.evaluate(condition):
            assert time.monotonic() < end, condition
            time.sleep(0.05)


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("there is no Firefox on this machine")
    profile = tmp_path_factory.mktemp("profile")
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
    (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
    call = [path, "--marionette", "--headless", "--no-remote", "--profile", str(profile)]
    running = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        said, end = profile / "MarionetteActivePort", time.monotonic() + WAIT
        while not (said.exists() and said.read_text().strip()):
            assert running.poll() is None, "Firefox has ended"
            if time.monotonic() > end:
                pytest.skip(f"Firefox did not start within {WAIT:g} seconds")
            time.sleep(0.1)
        driver = Firefox(int(said.read_text()))
        yield driver
        driver.connection.close()
    finally:
        running.terminate()
        running.wait(20)


def test_the_answers_are_those_of_python_to_the_last_bit(firefox: Firefox, tmp_path: Path) -> None:
    table = diabetes()
    model = ing.NaiveBayes(calibration="temperature").fit(table.slice(0, 300), "progression")
    row = {"bmi": 31.3, "bp": 101.25, "age": "60s"}
    path = tmp_path / "page.html"
    path.write_text(page(model, table.slice(300), question=row, title="</script><b>Patients"), encoding="utf-8")
    firefox.open(path)
    firefox.until("document.querySelector('.badge.good, .badge.bad') !== null")
    badge = firefox.evaluate("document.querySelector('.badge').innerText.trim()")
    assert badge == "equal to Python, 32 of 32 check rows"
    shown = firefox.evaluate("[...document.querySelectorAll('.class-row .n')].map((e) => Number(e.title))")
    assert shown == model.answer_row(row)[1].tolist()
    assert firefox.evaluate("document.querySelector('h1').innerText") == "</script><b>Patients"
    firefox.evaluate("document.querySelector('[aria-label=\"Reset: everything unknown\"]').click()")
    firefox.until("document.querySelector('.verdict-note').innerText.includes('Nothing is known yet')")
    shown = firefox.evaluate("[...document.querySelectorAll('.class-row .n')].map((e) => Number(e.title))")
    assert shown == model.answer_row({})[1].tolist()
    heads = "[...document.querySelectorAll('section.view')].filter((e) => e.children.length > 1).length"
    firefox.until(f"{heads} === document.querySelectorAll('section.view').length")
    assert firefox.evaluate("document.documentElement.scrollWidth <= innerWidth")
