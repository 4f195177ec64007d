"""Laws are tried on the same examples in every run; HYPOTHESIS_PROFILE=search looks for others."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import settings

# The tests share the processors already: threads of BLAS and OpenMP would wait for one another (three times as long).
# Said here, before anything loads NumPy.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Spark's virtual machines live for seconds: to compile little starts them twice as fast.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

settings.register_profile("repeatable", derandomize=True, max_examples=50)
settings.register_profile("search", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What has been collected stays to the end: to look through it for garbage takes 0.2 s, at every collection."""
    gc.freeze()
