"""Debian's Chromium, or another that is installed, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser that runs; a skipped test where there is none."""
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed, so no browser can be driven")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with sync.sync_playwright() as driver:
        # Chromium refuses its sandbox to the user root.
        open_to = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        running = driver.chromium.launch(executable_path=path, args=open_to)
        yield running
        running.close()
