"""What would change an answer: the same as on the page, by brute force, and what is refused."""

from __future__ import annotations

import itertools
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
from ingenuo.errors import InputError, KindError
from ingenuo.sheet import sheet
from ingenuo.sheet.changes import changes
from ingenuo.sheet.effects import Asked, asked

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "src" / "ingenuo" / "page"
GOOD = ["a lovely warm story that moves and delights", "warm and lovely acting", "not bad at all, a delight"]
BAD = ["a dull cold story that drags and bores", "cold and dull acting", "not good at all, it bores"]


def table(seed: int, classes: int, n: int = 90) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    frame = pd.DataFrame({f"c{j}": [f"v{min(rng.poisson(1 + (k + j) % 3), 3)}" for k in y] for j in range(4)})
    frame["x"] = rng.normal(y * 0.8, 1 + y * 0.3)
    frame["often 0"] = np.where(rng.random(n) < 0.4, 0.0, np.exp(rng.normal(y * 0.5, 1.0)))
    return frame, np.array([f"k{k}" for k in y])


def rows_of(frame: pd.DataFrame, n: int, seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    some = [frame.iloc[at].to_dict() for at in rng.choice(len(frame), n, replace=False).tolist()]
    return [{}, *({name: value for name, value in row.items() if rng.random() < 0.85} for row in some)]


def on_the_page(jobs: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    call = ["node", str(HERE / "changes_of_page.mjs"), f"{PAGE.as_uri()}/"]
    done = subprocess.run(call, input=json.dumps(jobs), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return found


def test_the_page_finds_the_same_to_the_last_bit() -> None:
    made: list[tuple[Any, list[dict[str, Any]], list[str]]] = []
    settings: list[dict[str, Any]] = [
        {}, {"prior": "maximum-likelihood"}, {"calibration": "platt"}, {"calibration": "isotonic"},
        {"numbers": "histogram"}, {"numbers": "log-normal-or-zero"},
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed, (classes, more) in enumerate(itertools.product((2, 3), settings)):
            frame, y = table(seed, classes)
            frame["x"] += 10 * (more.get("numbers") == "log-normal-or-zero")
            locked = ["c1"] if seed % 3 == 0 else []
            made.append((ing.NaiveBayes(**more).fit(frame, y), rows_of(frame, 2, seed), locked))
    patients = diabetes().drop_columns(["progression"]).slice(0, 3).to_pylist()
    made.append((ing.NaiveBayes().fit(diabetes(), "progression"), patients, []))
    for ngrams in ((1, 1), (1, 2)):
        model = ing.NaiveBayes(text=ing.Words(ngrams=ngrams)).fit(GOOD * 3 + BAD * 3, ["+"] * 9 + ["-"] * 9)
        texts = [
            "a warm and lovely start but dull",
            "dull dull cold and lovely warm warm",
            "lovely not good",
            "it bores",
        ]
        made.append((model, [{"text": text} for text in texts], []))
    jobs = [{"sheet": sheet(model).document(), "rows": rows, "locked": locked} for model, rows, locked in made]
    several = 0
    for (model, rows, locked), theirs in zip(made, on_the_page(jobs)):
        whom = asked(model)
        for row, their in zip(rows, theirs):
            mine = changes(whom, row, locked=locked)
            for name in ("target", "fewest", "least", "limit"):
                assert mine[name] == their[name], (model, row, name)
            ours = [
                [[move["column"], move["to"], move.get("words")] for move in each["moves"]]
                for each in mine["suggestions"]
            ]
            assert ours == [each["moves"] for each in their["suggestions"]], (model, row)
            assert [each["posterior"] for each in mine["suggestions"]] == [
                each["posterior"] for each in their["suggestions"]
            ]
            several += (mine["fewest"] or 0) > 1
    assert several > 3


def fewest_by_force(whom: Asked, row: dict[str, Any], target: Any) -> int | None:
    """The fewest columns, over all values of each."""
    values = [list(column["values"]) for column in whom.columns]
    for m in range(1, len(values) + 1):
        for places in itertools.combinations(range(len(values)), m):
            for chosen in itertools.product(*(values[place] for place in places)):
                if whom.classes[whom.score(whom.changed(row, zip(places, chosen)))[2]] == target:
                    return m
    return None


@pytest.mark.parametrize("classes", [2, 4])
def test_no_smaller_set_of_columns_changes_the_answer(classes: int) -> None:
    counted = dict.fromkeys(range(1, 5), 0)
    for seed in range(6):
        frame, y = table(seed, classes)
        frame = frame[["c0", "c1", "c2", "c3"]]
        whom = asked(ing.NaiveBayes().fit(frame, y))
        for row in rows_of(frame, 4, seed):
            for target in whom.classes:
                found = changes(whom, row, target)
                if target == found["answer"]:
                    assert found["fewest"] == 0
                    continue
                assert found["fewest"] == fewest_by_force(whom, row, target)
                counted[found["fewest"] or 4] += 1
                for each in found["suggestions"]:
                    assert whom.classes[whom.score(each["row"])[2]] == target
                    assert len(each["moves"]) == found["fewest"]
    assert counted[1]
    assert counted[2]


def test_a_number_is_the_nearest_that_suffices() -> None:
    model = ing.NaiveBayes(columns={"x": "number"}).fit(pd.DataFrame({"x": [1.0, 2, 3, 7, 8, 9]}), list("aaabbb"))
    found = changes(model, {"x": 2.5}, "b")
    (move,) = found["suggestions"][0]["moves"]
    assert (move["from"], move["to"]) == (2.5, 5.1)
    assert 5 < move["edge"] < 5.0001
    assert model.predict([{"x": move["to"]}])[0] == "b"
    assert model.predict([{"x": 5.0}])[0] == "a"


def test_columns_that_do_not_add_up_are_tried() -> None:
    model = ing.NetworkClassifier("tan").fit(play_tennis(), "Play")
    row = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Strong"}
    whom = asked(model)
    assert not whom.additive
    found = changes(whom, row)
    assert found["fewest"] == fewest_by_force(whom, row, found["target"])
    for each in found["suggestions"]:
        assert model.predict([each["row"]])[0] == found["target"]


def test_a_text_is_its_own_row() -> None:
    model = ing.NaiveBayes().fit(GOOD + BAD, ["+"] * 3 + ["-"] * 3)
    found = changes(model, "a lovely and warm but dull")
    assert found["suggestions"][0]["moves"][0]["words"]
    assert model.predict([found["suggestions"][0]["row"]["text"]])[0] == found["target"]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"target": "Perhaps"}, "there is no class 'Perhaps'"),
        ({"locked": ["Outlok"]}, "did you mean 'Outlook'"),
        ({"locked": "Outlook"}, "list of names"),
        ({"most": 0}, "from 1 to 100"),
        ({"most": True}, "from 1 to 100"),
    ],
)
def test_what_is_asked_wrongly_is_said(how: dict[str, Any], said: str) -> None:
    model = ing.NaiveBayes().fit(play_tennis(), "Play")
    with pytest.raises((InputError, KindError), match=said):
        changes(model, {"Outlook": "Sunny"}, **how)


def test_what_has_no_sheet_is_refused() -> None:
    with pytest.raises(InputError, match="no sheet"):
        changes(ing.LanguageModelClassifier().fit(GOOD + BAD, ["+"] * 3 + ["-"] * 3), "warm")
