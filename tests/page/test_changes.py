"""What would change an answer: the fewest columns by brute force, the nearest numbers, the fewest words."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.sheet import sheet

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "src" / "ingenuo" / "page"


def laws(jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """What node finds: broken laws, and how many cases were tried."""
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    script = [str(HERE / "changes_laws.mjs"), f"{PAGE.as_uri()}/"]
    done = subprocess.run(["node", *script], input=json.dumps(jobs), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


def job(name: str, model: Any, rows: list[dict[str, Any]], *which: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "sheet": sheet(model).document(), "rows": rows, "laws": list(which), **more}


def categories(classes: int, columns: int, values: int, seed: int, **more: Any) -> tuple[Any, list[dict[str, Any]]]:
    """A model of random categories, and rows with missing and unseen values."""
    rng = np.random.default_rng(seed)
    n = 80
    y = rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    shares = rng.dirichlet(np.full(values, 0.4), size=(columns, classes))
    frame = pd.DataFrame({f"c{j}": [f"v{rng.choice(values, p=shares[j, k])}" for k in y] for j in range(columns)})
    model = ing.NaiveBayes(**more).fit(frame, np.array([f"k{k}" for k in y]))
    rows = []
    for _ in range(6):
        row: dict[str, Any] = {f"c{j}": f"v{rng.integers(values)}" for j in range(columns)}
        for name in list(row):
            if (draw := rng.random()) < 0.2:
                del row[name]
            elif draw < 0.27:
                row[name] = "never seen"
        rows.append(row)
    return model, rows


def numbers(family: str, classes: int, seed: int, **more: Any) -> tuple[Any, list[dict[str, Any]]]:
    """A model of numbers whose spreads differ, so that the middle or both ends may speak for a class."""
    rng = np.random.default_rng(seed)
    n = 150
    y = rng.integers(classes, size=n)
    spread = rng.uniform(0.5, 2.0, size=(4, classes))
    centre = rng.normal(0.0, 1.0, size=(4, classes))
    frame = pd.DataFrame({f"x{j}": 5 + rng.normal(centre[j, y], spread[j, y]) for j in range(4)})
    frame["x3"] = np.exp(frame["x3"] - 5)
    frame["often 0"] = np.where(rng.random(n) < 0.2 + 0.15 * y, 0.0, np.exp(rng.normal(y * 0.5, 1.0, n)))
    frame["kind"] = np.where(rng.random(n) < 0.3 + 0.1 * y, "a", "b")
    model = ing.NaiveBayes(numbers=family, **more).fit(frame, np.array([f"k{k}" for k in y]))
    rows: list[dict[str, Any]] = [{}]
    for at in rng.choice(n, 4, replace=False).tolist():
        row = frame.iloc[at].to_dict()
        rows.append({name: value for name, value in row.items() if rng.random() < 0.9})
    return model, rows


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_no_smaller_set_of_columns_changes_the_answer(classes: int) -> None:
    jobs = []
    for seed in range(8):
        model, rows = categories(classes, 5, 3, seed)
        jobs.append(job(f"{classes} classes, seed {seed}", model, rows, "fewest", "points"))
    found = laws(jobs)
    assert found["broken"] == []
    assert found["found"] > 10
    assert found["several"] > 0


@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_impossible_is_changed_first(classes: int) -> None:
    jobs = []
    for seed in range(4):
        model, rows = categories(classes, 5, 4, seed, prior="maximum-likelihood")
        jobs.append(job(f"{classes} classes without smoothing, seed {seed}", model, rows, "fewest"))
    found = laws(jobs)
    assert found["broken"] == []
    assert found["found"] > 10


@pytest.mark.parametrize("calibration", ["temperature", "platt", "isotonic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_calibrated_answer_is_the_one_that_changes(calibration: str, classes: int) -> None:
    jobs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(3):
            model, rows = categories(classes, 4, 3, seed, calibration=calibration)
            jobs.append(job(f"{calibration} of {classes}, seed {seed}", model, rows, "fewest", "points"))
    found = laws(jobs)
    limited = calibration == "isotonic" and classes > 2  # what is fewest is then not proven
    assert [each for each in found["broken"] if not (limited and "limit calibrator" in each)] == []
    assert found["found"] > 5


def test_locked_columns_stay_as_they_are() -> None:
    model, rows = categories(2, 5, 3, 7)
    assert laws([job("locked", model, rows, "fewest", locked=["c0", "c2"])])["broken"] == []
    tennis = ing.NaiveBayes().fit(play_tennis(), "Play")
    rows = [{"Outlook": "Sunny", "Humidity": "High", "Wind": "Strong"}, {}]
    assert laws([job("tennis", tennis, rows, "fewest", "points", locked=["Outlook"])])["broken"] == []


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("family", ["gaussian", "gaussian-or-states", "histogram", "kernel", "mixture", "auto"])
def test_numbers_are_the_nearest_that_suffice(family: str, classes: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = [numbers(family, classes, seed) for seed in range(2)]
    found = laws([job(f"{family} of {classes}, {at}", *each, "nearest", "points") for at, each in enumerate(made)])
    assert found["broken"] == []
    assert found["found"] > 5


def test_the_patients_of_the_guide() -> None:
    model = ing.NaiveBayes().fit(diabetes(), "progression")
    rows = diabetes().drop_columns(["progression"]).slice(0, 8).to_pylist()
    found = laws([job("diabetes", model, rows, "nearest", "points")])
    assert found["broken"] == []


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)])
def test_the_fewest_words_are_taken_out(ngrams: tuple[int, int]) -> None:
    good = ["a lovely warm story that moves and delights", "warm and lovely acting", "not bad at all, a delight"]
    bad = ["a dull cold story that drags and bores", "cold and dull acting", "not good at all, it bores"]
    model = ing.NaiveBayes(text=ing.Words(ngrams=ngrams)).fit(good * 3 + bad * 3, ["+"] * 9 + ["-"] * 9)
    name = sheet(model).columns[0]["name"]
    texts = [
        "a warm and lovely start but dull", "dull dull dull cold and lovely warm warm", "lovely not good", "it bores",
        "a lovely story that moves and delights",
    ]  # fmt: skip
    found = laws([job(f"words {ngrams}", model, [{name: text} for text in texts], "words", "points")])
    assert found["broken"] == []


def test_where_columns_do_not_add_up_all_values_and_pairs_are_tried() -> None:
    jobs = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.integers(2, size=120)
        hidden = rng.integers(3, size=120)
        frame = pd.DataFrame(
            {f"c{j}": [f"v{v}" for v in (hidden * (j + 1) + y + rng.integers(2, size=120)) % 3] for j in range(5)}
        )
        model = ing.NetworkClassifier("tan").fit(frame, np.array(["no", "yes"])[y])
        rows = [
            {name: value for name, value in frame.iloc[at].to_dict().items() if rng.random() < 0.9} for at in range(8)
        ]
        jobs.append(job(f"tan, seed {seed}", model, rows, "fewest", most=2))
    found = laws(jobs)
    assert found["broken"] == []
    assert found["found"] > 10


@pytest.mark.parametrize("classes", [2, 3])
def test_a_linear_model_is_changed_as_well(classes: int) -> None:
    rng = np.random.default_rng(classes)
    y = rng.integers(classes, size=150)
    frame = pd.DataFrame({f"x{j}": rng.normal(y * (j - 1), 1.0 + j) for j in range(4)})
    model = ing.SoftmaxRegression().fit(frame, np.array([f"k{k}" for k in y]))
    rows: list[dict[str, Any]] = [{}, *(frame.iloc[at].to_dict() for at in range(5))]
    found = laws([job(f"softmax of {classes}", model, rows, "nearest", "points")])
    assert found["broken"] == []
    assert found["found"] > 4


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
@pytest.mark.parametrize("classes", [2, 3])
def test_counts_are_changed_to_the_nearest_number(family: str, classes: int) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(classes, size=200)
    frame = pd.DataFrame({f"w{j}": rng.poisson(0.3 + 0.5 * ((y + j) % classes)) for j in range(4)})
    model = ing.NaiveBayes(columns=dict.fromkeys(frame, "count"), counts=family)
    model.fit(frame, np.array([f"k{k}" for k in y]))
    rows = [{}, *({name: int(value) for name, value in frame.iloc[at].items()} for at in range(6))]
    found = laws([job(f"{family} of {classes}", model, rows, "fewest", "points")])
    assert found["broken"] == []
    assert found["found"] > 4
