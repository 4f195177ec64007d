"""What /metrics counts of the rows that were answered: exactly what `count_drift` counts of them as one table."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ingenuo as ing
from ingenuo import store
from ingenuo.datasets import play_tennis
from ingenuo.errors import InputError
from ingenuo.evaluation.drift import Reference, count_drift, reference
from ingenuo.evaluation.watch import Watch
from ingenuo.models.boosted_trees import BoostedTrees
from ingenuo.rows.rows import Part
from ingenuo.serve.app import Service
from ingenuo.serve.http import Guard
from ingenuo.serve.journal import SNAPSHOT
from ingenuo.serve.live import LiveModel
from ingenuo.serve.models import Served
from ingenuo.tally.tally import Tally

from .asker import Asker
from .conftest import BAD, GOOD

ROWS = [
    {"Outlook": "Sunny", "Humidity": "High"},
    {"Outlook": "Fog", "Wind": "Weak"},
    {"Temperature": "Mild", "Wind": None},
] * 30
TEXTS = ["a lovely warm story", "dull and cold, it bores", "a storm", ""] * 20


def served(path: Path, model: Any, **about: Any) -> Served:
    store.save(model, path, about)
    found = Served(path.stem, str(path))
    found.open()
    return found


def families(text: str) -> dict[str, list[str]]:
    """The lines of each metric; each must have one TYPE, and its lines stand together."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in found, line
            found[name] = []
        elif not line.startswith("#"):
            name = list(found)[-1]
            assert re.match(rf"{name}(_bucket|_sum|_count)?[{{ ]", line), line
            found[name].append(line)
    return found


def learned(kind: str) -> Any:
    days = play_tennis()
    if kind == "texts":
        return ing.BayesClassifier([("one", ing.NaiveBayes()), ("two", ing.SoftmaxRegression())]).fit(
            GOOD + BAD, ["+"] * 3 + ["-"] * 3
        )
    if kind == "sequences":
        return ing.LanguageModelClassifier().fit(GOOD + BAD, ["+"] * 3 + ["-"] * 3)
    models = {
        "vote": ing.BayesClassifier([("one", ing.NaiveBayes()), ("two", BoostedTrees())]),
        "calibrated": ing.NaiveBayes(calibration="temperature"),
        "softmax": ing.SoftmaxRegression(),
        "network": ing.NetworkClassifier("tan"),
        "trees": BoostedTrees(),
    }
    return models[kind].fit(days, "Play")


@pytest.mark.parametrize("kind", ["vote", "calibrated", "softmax", "network", "trees", "texts", "sequences"])
def test_rows_are_counted_alike_one_by_one_and_as_a_table(kind: str, tmp_path: Path) -> None:
    model = learned(kind)
    app = Service([served(tmp_path / "m.ingenuo", model)], Guard())
    ask, rows = Asker(app), TEXTS if kind in ("texts", "sequences") else ROWS
    for part in (rows[:1], rows[1:9], rows[9:]):  # few by themselves, more as a table
        assert ask.post("/v1/predict", {"rows": part}).status_code == 200
    names = ["Outlook", "Temperature", "Humidity", "Wind"]
    table = rows if rows is TEXTS else pa.table({name: [row.get(name) for row in ROWS] for name in names})
    wanted = count_drift(model, Part(table), {})
    assert dict(app.tallies())["m"] == wanted
    found = families(ask("GET", "/metrics").text)
    assert ("ingenuo_evidence" in found) == (kind != "trees")
    assert sum(int(line.split()[-1]) for line in found["ingenuo_answers_total"]) == len(rows)


def test_several_models_have_one_family_of_each_metric(tmp_path: Path) -> None:
    model = learned("calibrated")
    before = reference(model, play_tennis(), "Play", learned=True)
    both = [served(tmp_path / f"{name}.ingenuo", model, drift=before.to_plain()) for name in ("one", "two")]
    ask = Asker(Service(both, Guard()))
    ask.post("/v1/models/two/predict", {"rows": ROWS})
    found = families(ask("GET", "/metrics").text)
    shares = found["ingenuo_training_share"]
    yes = np.mean(model.predict(play_tennis()) == "Yes")
    assert f'ingenuo_training_share{{model="one",what="answers",class="Yes"}} {yes:.6g}' in shares
    assert len(shares) == 2 * len([line for line in shares if 'model="two"' in line])
    unseen = {line.split()[0]: int(line.split()[1]) for line in found["ingenuo_unseen_total"]}
    assert unseen['ingenuo_unseen_total{model="two",column="Outlook"}'] == 30
    assert unseen['ingenuo_unseen_total{model="one",column="Outlook"}'] == 0


def test_what_other_processes_have_counted_is_there_where_this_one_has_answered_nothing(tmp_path: Path) -> None:
    model = learned("calibrated")
    app = Service([served(tmp_path / "m.ingenuo", model)], Guard())
    other = Watch(model)
    other.add(ROWS[:3], [[0.25, 0.75]] * 3, [[-3.0, -2.0]] * 3)
    app.others = lambda: [(app.metrics.state(), {"m": other.tally()})]
    found = families(Asker(app)("GET", "/metrics").text)
    assert 'ingenuo_answers_total{model="m",class="Yes"} 3' in found["ingenuo_answers_total"]


def test_no_answer_is_lost_or_counted_twice_where_versions_follow_each_other(tmp_path: Path) -> None:
    model = learned("calibrated")
    one = served(tmp_path / "m.ingenuo", model)
    app = Service([one], Guard())

    class Asked:
        rows = 0

    def answer(_: int) -> None:
        version, _stamp = one.read()  # each of them another version
        app._answered(one, version, Asked(), version.columns.rows(ROWS[:3]))  # type: ignore[arg-type]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(answer, range(60)))
    columns = ["Outlook", "Temperature", "Humidity", "Wind"]
    table = pa.table({name: [row.get(name) for row in ROWS[:3]] for name in columns})
    assert dict(app.tallies())["m"] == sum((count_drift(model, Part(table), {}) for _ in range(60)), Tally())


def test_a_file_whose_counts_are_none_is_not_served(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no count of rows"):
        served(tmp_path / "m.ingenuo", learned("calibrated"), drift={"how": "rows", "rows": [["rows", -1]]})


def test_a_snapshot_after_a_forget_has_no_count_of_the_rows_of_training(tmp_path: Path) -> None:
    live = LiveModel(learned("calibrated"), {"drift": {"rows": []}, "title": "Tennis"}, tmp_path, name="tennis")
    row, label = play_tennis().slice(0, 1).drop_columns(["Play"]), ["No"]
    snapshot = tmp_path / SNAPSHOT
    try:
        live.learn(row, label)
        assert "drift" in store.about(snapshot)
        live.forget(row, label)
        assert ("drift" in store.about(snapshot), store.about(snapshot)["title"]) == (False, "Tennis")
    finally:
        live.close()


def test_a_reference_of_other_classes_does_not_stop_the_answers(tmp_path: Path) -> None:
    model = learned("calibrated")
    strange = Reference(Tally(), "rows of training").to_plain() | {"answers": [["Maybe", 3]], "rows": [["rows", 3]]}
    ask = Asker(Service([served(tmp_path / "m.ingenuo", model, drift=strange)], Guard()))
    answer = ask.post("/v1/predict", {"rows": ROWS[:2]})
    assert np.asarray(answer.json()["posterior"]).shape == (2, 2)
    assert 'class="Maybe"' in ask("GET", "/metrics").text
