"""Models that are served in tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ingenuo as ing
from ingenuo import store
from ingenuo.datasets import diabetes, play_tennis

pytest.importorskip("httpx", reason="httpx is not installed, so the server cannot be asked")
from ingenuo.serve.app import Service
from ingenuo.serve.http import Guard
from ingenuo.serve.models import Served

from .asker import Asker

GOOD = ["a lovely warm story that moves and delights", "warm and lovely acting", "not bad at all, a delight"]
BAD = ["a dull cold story that drags and bores", "cold and dull acting", "not good at all, it bores"]


def make_models() -> dict[str, Any]:
    """A model of each kind of row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    counts = [{"a": int(a), "b": int(b)} for a, b in rng.poisson(3, size=(40, 2))]
    codes = [{"code": int(code), "flag": bool(code % 2)} for code in rng.integers(0, 4, size=40)]
    return {
        "tennis": ing.NaiveBayes().fit(play_tennis(), "Play"),
        "patients": ing.NaiveBayes().fit(diabetes(), "progression"),
        "numbers": ing.NaiveBayes().fit(X, (X[:, 0] + rng.normal(size=60) > 0).astype(int)),
        "counts": ing.NaiveBayes(columns={"a": "count", "b": "count"}).fit(counts, [row["a"] > 2 for row in counts]),
        "codes": ing.NaiveBayes(columns={"code": "category"}).fit(codes, [row["code"] % 3 for row in codes]),
        "texts": ing.NaiveBayes().fit(GOOD + BAD, ["+"] * 3 + ["-"] * 3),
        "network": ing.NetworkClassifier("tan").fit(play_tennis(), "Play"),
        "sequences": ing.LanguageModelClassifier().fit(GOOD + BAD, ["+"] * 3 + ["-"] * 3),
    }


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for name, model in make_models().items():
        store.save(model, folder / f"{name}.ingenuo")
    return folder


@pytest.fixture(scope="session")
def loaded(files: Path) -> dict[str, Served]:
    """The models, loaded and checked once."""
    found = {path.stem: Served(path.stem, str(path)) for path in sorted(files.glob("*.ingenuo"))}
    for served in found.values():
        served.open()
    return {"tennis": found["tennis"], **found}


@pytest.fixture
def make_ask(loaded: dict[str, Served]) -> Callable[..., Asker]:
    def make(guard: Guard | None = None, **how: Any) -> Asker:
        return Asker(Service(list(loaded.values()), guard or Guard(), **how))

    return make


@pytest.fixture
def ask(make_ask: Callable[..., Asker]) -> Asker:
    return make_ask()
