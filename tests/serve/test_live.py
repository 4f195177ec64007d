"""A model that learns and forgets while it answers: nothing acknowledged is lost, nothing forgotten stays."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serve.disks import Killed, MemoryFolder

import ingenuo as ing
from ingenuo import store
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.errors import ForgetError, IngenuoError, InputError, JournalError, RefusedError
from ingenuo.serve.journal import JOURNAL, SNAPSHOT
from ingenuo.serve.live import LiveModel
from ingenuo.tally.tally import Tally

DAYS = play_tennis()
TEXTS = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull", "a film of music", "no cast"]
PRAISE = ["good", "good", "bad", "bad", "good", "bad"]


def days(lo: int, hi: int) -> tuple[Any, list[str]]:
    """Some days, and whether it was played."""
    some = DAYS.slice(lo, hi - lo)
    return some.drop_columns(["Play"]), some["Play"].to_pylist()


def patients(lo: int, hi: int) -> tuple[Any, list[str]]:
    """Some patients, and how their disease went."""
    some = diabetes().slice(lo, hi - lo)
    return some.drop_columns(["progression"]), some["progression"].to_pylist()


def live(model: Any, folder: Any, **given: Any) -> LiveModel:
    """A live model in a folder, of the disk or in memory."""
    if isinstance(folder, MemoryFolder):
        return LiveModel(model, {}, "", name="M", disk=folder, **given)
    return LiveModel(model, {}, folder, name="M", **given)


def equal(one: Any, two: Any, rows: Any) -> bool:
    """Whether two models know the same, and answer the same bits."""
    return one.tally_ == two.tally_ and np.array_equal(one.predict_proba(rows), two.predict_proba(rows))


# What it does.


def test_it_learns_and_forgets_as_the_model_itself_does(tmp_path: Path) -> None:
    model = ing.NaiveBayes().fit(*days(0, 8))
    served = live(model, tmp_path)
    first = served.state["version"]
    assert served.learn(*days(8, 12)) == {"seq": 1, "rows": 12, "version": f"{first}-1", "behind": 0}
    assert served.forget(*days(0, 3))["rows"] == 9
    assert served.state == {"seq": 2, "rows": 9, "version": f"{first}-2", "behind": 0}
    assert equal(served.model, ing.NaiveBayes().fit(*days(3, 12)), days(0, 14)[0])
    assert model.tally_ == ing.NaiveBayes().fit(*days(0, 8)).tally_, "the model that was given has changed"
    served.close()


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    model = ing.NaiveBayes().fit(*days(0, 8))
    served = live(model, tmp_path)
    served.learn(*days(8, 10))
    served.close()
    again = live(model, tmp_path)
    assert again.state["seq"] == 1
    assert again.journal_bytes == 0, "a journal that was closed is a snapshot"
    again.learn(*days(10, 14))
    assert equal(again.model, ing.NaiveBayes().fit(*days(0, 14)), days(0, 14)[0])
    again.close()


def test_weights_and_classes_that_are_new_are_learned() -> None:
    served = live(ing.NaiveBayes().fit(*days(0, 8)), MemoryFolder())
    served.learn(days(8, 10)[0], ["Maybe", "No"], [0.5, 2.0])
    wanted = ing.NaiveBayes().fit(*days(0, 8)).partial_fit(days(8, 10)[0], ["Maybe", "No"], sample_weight=[0.5, 2.0])
    assert served.model.tally_ == wanted.tally_
    assert served.state["rows"] == 10.5
    served.close()


PATIENTS, ASKED = patients(0, 60), patients(60, 120)
NUMBERS = [name for name in PATIENTS[0].column_names if name not in ("age", "sex")]
MODELS: dict[str, Any] = {
    "naive Bayes": ing.NaiveBayes(),
    "densities": ing.NaiveBayes(numbers={"bmi": "kernel", "bp": "histogram", "s1": "gamma", "s2": "equal-mass-5"}),
    "tuned and calibrated": ing.NaiveBayes(tune=True, calibration="platt"),
    "fingerprints": ing.NaiveBayes(fingerprints="salt"),
    "shared covariance": ing.GaussianDiscriminant(),
    "regularised": ing.GaussianDiscriminant(covariance="regularised"),
    "least squares": ing.LeastSquaresClassifier(),
    "network": ing.NetworkClassifier("tan"),
    "network that backs off": ing.NetworkClassifier("kdb", smoothing="back-off", weighting="levels"),
    "vote": ing.BayesClassifier("additive"),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", MODELS)
def test_every_model_that_can_learn_is_served(name: str) -> None:
    one, two = ([each.slice(*part) for part in ((0, 50), (50, 10))] for each in (PATIENTS[0], pa.array(PATIENTS[1])))
    if name in ("shared covariance", "least squares"):
        one = [table.select(NUMBERS).to_pandas().fillna(0.0) for table in one]
    labels = [each.to_pylist() for each in two]
    model = MODELS[name].fit(one[0], labels[0])
    wanted = store.from_bytes(store.to_bytes(model))
    wanted.partial_fit(one[1], labels[1]).forget(one[0][:5], labels[0][:5])
    folder = MemoryFolder()
    served = live(model, folder)
    served.learn(one[1], labels[1])
    after_learning = live(model, folder.after_kill())
    assert equal(after_learning.model, served.model, one[0])
    assert served.forget(one[0][:5], labels[0][:5])["behind"] == wanted.calibration_behind_
    with pytest.raises(ForgetError):
        served.forget(one[0][:5], ["unheard of"] * 5)
    assert equal(served.model, wanted, one[0])
    again = live(model, folder.after_kill())
    assert equal(again.model, wanted, one[0])
    for each in (served, after_learning, again):
        each.close()


@pytest.mark.parametrize(
    "model", [ing.NaiveBayes(), ing.LanguageModelClassifier(order=2), ing.NaiveBayes(counts="bernoulli")]
)
def test_texts_are_learned_and_their_words_forgotten(model: Any) -> None:
    folder = MemoryFolder()
    served = live(model.fit(TEXTS[:4], PRAISE[:4]), folder)
    served.learn(["a preposterous film"], ["bad"])
    assert b"preposterous" in folder.names[JOURNAL].seen
    served.learn(TEXTS[4:], PRAISE[4:])
    served.forget(["a preposterous film"], ["bad"])
    assert not any(b"preposterous" in content.seen for content in folder.names.values())
    assert served.model.tally_ == type(model)(**model.get_params(deep=False)).fit(TEXTS, PRAISE).tally_
    served.close()


REFUSED = {
    "softmax": ing.SoftmaxRegression(),
    "trees": ing.BoostedTrees(),
    "vote": ing.BayesClassifier(),
    "vote of several": ing.BayesOptimalClassifier([("a", ing.NaiveBayes())]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_learn_is_refused_at_the_start(name: str) -> None:
    folder = MemoryFolder()
    with pytest.raises(RefusedError, match="M can only be served without --learn: a ") as said:
        live(REFUSED[name].fit(*patients(0, 60)), folder)
    assert "\n" not in str(said.value)
    assert not folder.names


# Keys.


def test_a_repeated_key_has_the_first_answer_over_restarts_too() -> None:
    folder, model = MemoryFolder(), ing.NaiveBayes().fit(*days(0, 8))
    served = live(model, folder)
    first = served.learn(*days(8, 9), key="one")
    second = served.forget(*days(0, 1), key="two")
    served.learn(*days(9, 10), key="three")
    for _ in range(2):
        assert served.learn(*days(8, 9), key="one") == first
        assert served.forget(*days(0, 1), key="two") == second
        assert served.state["rows"] == 9
        with pytest.raises(InputError, match="Idempotency-Key was given before, with a learn"):
            served.forget(*days(8, 9), key="one")
        served.close()
        served = live(model, folder)
    served.close()


def test_a_key_that_comes_twice_at_once_is_for_one_change() -> None:
    served = live(ing.NaiveBayes().fit(*days(0, 8)), MemoryFolder())
    waiting = [served.submit("learn", *days(8, 9), key="one") for _ in range(20)]
    assert {each.result()["seq"] for each in waiting} == {1}
    assert served.state["rows"] == 9
    served.close()


def test_keys_of_changes_that_failed_may_be_used_again() -> None:
    served = live(ing.NaiveBayes().fit(*days(0, 8)), MemoryFolder())
    with pytest.raises(ForgetError):
        served.forget(days(0, 1)[0], ["Never"], key="one")
    assert served.forget(*days(0, 1), key="one")["rows"] == 7
    served.close()


def test_the_keys_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingenuo.serve.live.KEYS", 3)
    served = live(ing.NaiveBayes().fit(*days(0, 8)), MemoryFolder())
    for key in "abcd":
        served.learn(*days(8, 9), key=key)
    assert served.learn(*days(8, 9), key="b")["rows"] == 10
    assert served.learn(*days(8, 9), key="a")["rows"] == 13, "the oldest is forgotten"
    served.close()


# Several at once.


def test_a_bad_change_fails_alone() -> None:
    folder = MemoryFolder()
    served = live(ing.NaiveBayes(columns={"x": "number"}).fit([{"x": 1.0}, {"x": 2.0}], ["a", "b"]), folder)
    rows = [[{"x": 3.0}], [{"x": "three"}], [{"x": 4.0}], [{"x": 5.0}, {"x": 6.0}]]
    waiting = [served.submit("learn", each, ["a"] * (len(each) if i < 3 else 1)) for i, each in enumerate(rows)]
    errors = [each.exception() for each in waiting]
    assert [error is None for error in errors] == [True, False, True, False]
    assert all(isinstance(error, IngenuoError) for error in errors if error is not None)
    assert served.state["rows"] == 4
    assert live(served.model, folder.after_kill(), version=served.state["version"].partition("-")[0]).state["rows"] == 4
    served.close()


def test_rows_counted_together_are_read_as_each_by_itself() -> None:
    values: list[Any] = [1, "1", 1.0, True, None, "x", 2.5]
    first = [{"x": "a"}, {"x": 1}]
    served = live(ing.NaiveBayes(columns={"x": "category"}).fit(first, ["p", "q"]), MemoryFolder())
    for each in [served.submit("learn", [{"x": value}], ["p"]) for value in values]:
        each.result()
    wanted = ing.NaiveBayes(columns={"x": "category"}).fit(first, ["p", "q"])
    for value in values:
        wanted.partial_fit([{"x": value}], ["p"])
    assert served.model.tally_ == wanted.tally_
    served.close()


def test_a_thousand_learns_and_forgets_in_any_order_come_to_the_batch(tmp_path: Path) -> None:
    table = diabetes()
    X, y = table.drop_columns(["progression"]), table["progression"].to_pylist()
    served = live(ing.NaiveBayes(fingerprints="salt").fit(table, "progression"), tmp_path)
    places = random.Random(0).choices(range(442), k=800)
    todo = [("learn", place) for place in places] + [("forget", place) for place in range(200)]
    random.Random(1).shuffle(todo)
    errors, turn = list[BaseException](), threading.Lock()

    def work() -> None:
        while True:
            with turn:
                if not todo:
                    return
                op, place = todo.pop()
            try:
                getattr(served, op)(X.slice(place, 1), [y[place]])
            except BaseException as error:
                errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    left = [*range(200, 442), *places]
    batch = ing.NaiveBayes(fingerprints="salt").fit(table.take(left), "progression")
    assert served.model.tally_ == batch.tally_
    assert served.state["rows"] == len(left)
    served.close()
    again = live(ing.NaiveBayes(fingerprints="salt").fit(table, "progression"), tmp_path)
    assert again.model.tally_ == batch.tally_
    again.close()


# Calibration.


def test_a_calibrated_model_answers_on_and_says_how_far_it_is_behind() -> None:
    model, folder = ing.NaiveBayes(calibration="platt").fit(*patients(0, 100)), MemoryFolder()
    served = live(model, folder)
    assert served.learn(*patients(100, 130))["behind"] == 30
    assert served.forget(*patients(0, 10))["behind"] == 40
    assert served.model.calibrator_ is not None
    served.model.predict_proba(ASKED[0])
    assert live(model, folder.after_kill()).state["behind"] == 40
    assert served.recalibrate(*patients(10, 130))["behind"] == 0
    wanted = ing.NaiveBayes(calibration="platt").fit(*patients(10, 130))
    assert np.array_equal(served.model.predict_proba(ASKED[0]), wanted.predict_proba(ASKED[0]))
    again = live(model, folder.after_kill())
    assert np.array_equal(again.model.predict_proba(ASKED[0]), wanted.predict_proba(ASKED[0]))
    for each in (served, again):
        each.close()


def test_what_has_nothing_to_calibrate_says_so() -> None:
    served = live(ing.NaiveBayes().fit(*days(0, 8)), MemoryFolder())
    with pytest.raises(InputError, match="calibration=None"):
        served.recalibrate(*days(0, 8))
    assert served.state["seq"] == 0
    served.close()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_vote_finds_its_weights_again() -> None:
    served = live(ing.BayesClassifier("additive").fit(*patients(0, 60)), MemoryFolder())
    assert served.learn(*patients(60, 80))["behind"] == 20
    with pytest.raises(InputError, match="learned=False"):
        served.recalibrate(*patients(80, 140))
    assert served.recalibrate(*patients(80, 140), learned=False)["behind"] == 0
    served.close()


# Deaths.

STEPS: list[tuple[str, Any]] = [
    ("learn", days(4, 5)),
    ("learn", days(5, 7)),
    ("forget", days(0, 1)),
    ("learn", days(7, 8)),
    ("recalibrate", days(3, 8)),
    ("learn", days(8, 9)),
]


BASE = ing.NaiveBayes(calibration="temperature").fit(*days(0, 4))


def _play(folder: MemoryFolder, first: int = 0, done: list[int] | None = None) -> LiveModel:
    served = live(BASE, folder, version="base")
    try:
        for number, (op, rows) in list(enumerate(STEPS))[first:]:
            served.submit(op, *rows, key=str(number)).result()
            if done is not None:
                done.append(number)
    except Killed:
        with suppress(Killed):
            served.close()
        raise
    return served


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("cut", ["kill", "power cut", "power cut after the names"])
def test_killed_at_every_step_and_within_every_write_it_is_as_before_or_after(cut: str) -> None:
    folder, states = MemoryFolder(), []
    served = live(BASE, folder, version="base")
    states.append(served.model)
    started = folder.spent
    for number, (op, rows) in enumerate(STEPS):
        served.submit(op, *rows, key=str(number)).result()
        states.append(served.model)
    served.close()
    ends = sorted({*folder.steps, folder.spent})
    points = sorted({*ends, *((a + b) // 2 for a, b in pairwise(ends))})
    for left in points[:: 1 if cut == "kill" else 3]:
        folder, done = MemoryFolder(), list[int]()
        folder.left = left
        with suppress(Killed):
            _play(folder, done=done).close()
        found = folder.after_kill() if cut == "kill" else folder.after_power_cut(with_names=cut.endswith("names"))
        if left < started and SNAPSHOT not in found.names:
            assert not done
            continue
        again = live(BASE, found, version="base")
        number = again.state["seq"]
        assert number in (len(done), len(done) + 1), left
        assert equal(again.model, states[number], DAYS.drop_columns(["Play"])), left
        again.close()
        whole = _play(found, first=len(done))  # the one that was not answered is sent again, with its key
        assert equal(whole.model, states[-1], DAYS.drop_columns(["Play"])), left
        whole.close()


ROWS = [{"x": "red", "n": 1.0}, {"x": "blue", "n": -2.5}, {"x": "green", "n": 1e30}, {"x": None, "n": 0.1}]
ACTS = st.one_of(
    st.tuples(st.sampled_from(["learn", "forget"]), st.lists(st.integers(0, 3), min_size=1, max_size=3)),
    st.tuples(st.just("recalibrate"), st.just([])),
    st.tuples(st.just("restart"), st.just([])),
    st.tuples(st.just("die"), st.integers(1, 9_000)),
    st.tuples(st.just("full"), st.integers(0, 4_000)),
)


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=25, deadline=None)
@given(st.lists(ACTS, max_size=14))
def test_whatever_happens_the_tally_is_that_of_the_rows_that_were_acknowledged(acts: list[Any]) -> None:
    columns, labels = {"x": "category", "n": "number"}, ["p", "q", "p", "q"]

    def fit(places: list[int], calibration: str | None = None) -> Any:
        model = ing.NaiveBayes(columns, calibration=calibration)
        return model.fit([ROWS[place] for place in places], [labels[place] for place in places])

    base = [0, 1, 2, 3, 0, 1]
    folder, known, begun = MemoryFolder(), Counter(base), fit(base, "temperature")
    served = live(begun, folder, version="base")
    for act, what in [*acts, ("restart", [])]:
        if act == "die":
            folder.left = what
            continue
        if act == "full":
            folder.room = folder.used() + what
            continue
        maybe = known  # what it may have become, though nobody said so
        if act != "restart":
            places = [*known.elements()] if act == "recalibrate" else what
            try:
                served.submit(act, [ROWS[place] for place in places], [labels[place] for place in places]).result()
            except ForgetError:
                assert Counter(places) - known, "what was learned can be forgotten"
                continue
            except IngenuoError:
                continue
            except Killed:
                maybe = _after(act, known, places)
            else:
                known = _after(act, known, places)
                continue
        with suppress(Killed):
            served.close()
        folder = folder.after_kill()
        served = live(begun, folder, version="base")
        known = maybe if served.state["rows"] == maybe.total() else known
        assert served.model.tally_ == (fit([*known.elements()]).tally_ if known else Tally())
    served.close()


def _after(act: str, known: Counter[int], places: list[int]) -> Counter[int]:
    return {"learn": known + Counter(places), "forget": known - Counter(places)}.get(act, known)


SCRIPT = """
import sys
import ingenuo as ing
from ingenuo.datasets import play_tennis
from ingenuo.serve.live import LiveModel

days = play_tennis()
served = LiveModel(ing.NaiveBayes().fit(days, "Play"), {}, sys.argv[1], name="M")
day = days.drop_columns(["Play"]).slice(0, 1)
while True:
    print(served.learn(day, ["No"])["rows"], flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_a_process_that_is_killed_has_lost_nothing_that_it_said_and_kept_others_out(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    model = ing.NaiveBayes().fit(DAYS, "Play")
    for _ in range(30):
        child.stdout.readline()
    with pytest.raises(JournalError, match=f"another process .{child.pid}. has this journal"):
        live(model, tmp_path)
    child.send_signal(signal.SIGKILL)
    said = [int(line) for line in child.stdout.read().split()]
    child.wait()
    again = live(model, tmp_path)
    last = said[-1] if said else 44
    assert again.state["rows"] in (last, last + 1)
    many = pa.concat_tables([DAYS] + [DAYS.slice(0, 1)] * (again.state["rows"] - 14))
    assert again.model.tally_ == ing.NaiveBayes().fit(many, "Play").tally_
    again.close()


# Disks.


def test_on_a_full_disk_it_answers_on_and_learns_again_when_there_is_room() -> None:
    folder = MemoryFolder()
    served = live(ing.NaiveBayes().fit(*days(0, 8)), folder, version="base")
    served.learn(*days(8, 9))
    before, known = served.model, folder.used()
    for room in (0, 1, 100, 1000):
        folder.room = known + room
        for change in (served.learn, served.forget):
            with pytest.raises(JournalError, match=r"No space left on device.*send it again"):
                change(*days(0, 1), key="full")
        assert served.model is before
        assert live(before, folder.after_kill(), version="base").model.tally_ == before.tally_
    folder.room = None
    assert served.learn(*days(9, 10), key="full")["rows"] == 10
    served.close()


def test_a_journal_that_is_long_becomes_a_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingenuo.serve.live.MOST_RECORDS", 5)
    folder, model = MemoryFolder(), ing.NaiveBayes().fit(*days(0, 8))
    served = live(model, folder, version="base")
    sizes = []
    for _ in range(12):
        served.learn(*days(8, 9))
        with pytest.raises(ForgetError):  # which comes after whatever follows the answer
            served.forget(days(8, 9)[0], ["Never"])
        sizes.append(served.journal_bytes)
    assert [place for place, size in enumerate(sizes) if size == 0] == [4, 9]
    assert live(model, folder.after_kill(), version="base").model.tally_ == served.model.tally_
    served.close()


def test_a_snapshot_that_cannot_be_written_does_not_stop_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingenuo.serve.live.MOST_RECORDS", 2)
    folder, model = MemoryFolder(), ing.NaiveBayes().fit(*days(0, 8))
    served = live(model, folder, version="base")
    folder.failing = {"rename"}
    for _ in range(4):
        served.learn(*days(8, 9))
    assert served.state["rows"] == 12
    served.close()
    folder.failing = set()
    assert live(model, folder.after_kill(), version="base").state["rows"] == 12


# Beginning.


def test_nothing_of_forgotten_rows_is_left_after_a_death_either() -> None:
    model = ing.NaiveBayes(columns={"x": "category"}).fit([{"x": "a"}, {"x": "b"}], ["p", "q"])
    whole = MemoryFolder()
    served = live(model, whole, version="base")
    served.learn([{"x": "secret"}], ["p"])
    before = whole.spent
    served.forget([{"x": "secret"}], ["p"])
    steps = [step for step in whole.steps if step > before]
    for left in steps:
        folder = MemoryFolder()
        served = live(model, folder, version="base")
        served.learn([{"x": "secret"}], ["p"])
        folder.left = left - before
        with suppress(Killed):
            served.forget([{"x": "secret"}], ["p"])
        again = live(model, folder.after_kill(), version="base")
        forgotten = again.state["rows"] == 2
        left_over = any(b"secret" in content.seen for content in again._journal._folder.names.values())
        assert left_over != forgotten
        if not forgotten:
            again.forget([{"x": "secret"}], ["p"])
            assert not any(b"secret" in content.seen for content in again._journal._folder.names.values())


def test_another_model_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    model = ing.NaiveBayes().fit(*days(0, 8))
    live(model, tmp_path).close()
    with pytest.raises(JournalError, match=r"begun with another model file .*give that file, or another --journal"):
        live(ing.NaiveBayes().fit(*days(0, 9)), tmp_path)
    live(model, tmp_path).close()


def test_the_snapshot_is_a_model_file_that_may_take_the_place_of_the_first(tmp_path: Path) -> None:
    import hashlib

    model = ing.NaiveBayes().fit(*days(0, 8))
    served = live(model, tmp_path, version="0" * 12)
    served.learn(*days(8, 9))
    served.close()
    moved = (tmp_path / SNAPSHOT).read_bytes()
    learned = ing.load(tmp_path / SNAPSHOT)
    assert learned.tally_ == served.model.tally_
    version = hashlib.sha256(moved).hexdigest()[:12]
    for _ in range(2):
        again = live(learned, tmp_path, version=version)
        assert again.state["rows"] == 9
        again.close()
    with pytest.raises(JournalError, match="begun with another model file"):
        live(model, tmp_path, version="0" * 12)


def test_a_journal_without_its_snapshot_is_refused() -> None:
    folder, model = MemoryFolder(), ing.NaiveBayes().fit(*days(0, 8))
    live(model, folder).learn(*days(8, 9))
    found = folder.after_kill()
    del found.names[SNAPSHOT]
    with pytest.raises(JournalError, match=r"the journal has records, and snapshot.ingenuo is missing; restore"):
        live(model, found)


def test_a_damaged_snapshot_is_refused() -> None:
    folder, model = MemoryFolder(), ing.NaiveBayes().fit(*days(0, 8))
    live(model, folder).close()
    data = folder.names[SNAPSHOT].seen
    with pytest.raises(JournalError, match=r"snapshot.ingenuo cannot be read .*restore the folder from a copy"):
        live(model, MemoryFolder({SNAPSHOT: data[:-3] + b"???"}))


def test_what_was_cut_off_is_noted() -> None:
    folder, model = MemoryFolder(), ing.NaiveBayes().fit(*days(0, 8))
    live(model, folder).learn(*days(8, 9))
    found = folder.after_kill()
    found.names[JOURNAL].seen += b"ingR"
    again = live(model, found)
    assert [note.split()[0] for note in again.notes] == ["4", "1"]
    again.close()


def test_after_closing_nothing_is_learned_any_more(tmp_path: Path) -> None:
    served = live(ing.NaiveBayes().fit(*days(0, 8)), tmp_path)
    waiting = [served.submit("learn", *days(8, 9)) for _ in range(5)]
    served.close()
    assert [each.result()["rows"] for each in waiting][-1] == 13, "what waited was learned"
    with pytest.raises(JournalError, match="is being closed"):
        served.learn(*days(8, 9))
    served.close()
