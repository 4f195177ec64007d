"""The model file: every model comes back whole and goes on learning; nothing damaged or forged gets in."""

from __future__ import annotations

import copy
import datetime
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from benchmarks import fuzz
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

import ingenuo as ing
from ingenuo import store
from ingenuo.datasets import diabetes
from ingenuo.errors import InputError, KindError, ModelFileError
from ingenuo.tally import container

RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 4, (60, 5))
Y = RNG.integers(0, 3, 60)
PATIENTS = diabetes()

MODELS: dict[str, tuple[Any, Any, Any]] = {
    "mixed": (ing.NaiveBayes(), PATIENTS.drop_columns("progression"), PATIENTS["progression"].to_pylist()),
    "declared": (
        ing.NaiveBayes(
            columns={0: "category", 1: [0, 1, 2, 3, 9], 4: "ignore"},
            prior=ing.MEstimate(2, {1: {0: 0.25, 9: 0.75}}),
            class_prior=ing.Dirichlet(3),
            numbers={2: "gaussian-unbiased"},
            counts="bernoulli",
        ),
        COUNTS,
        Y,
    ),
    "sparse": (ing.NaiveBayes(class_prior={0: 0.5, 1: 0.25, 2: 0.25}), csr_matrix(COUNTS), Y),
    "tf-idf": (ing.MultinomialNB(alpha=[0.1, 0.2, 0.3, 0.4, 0.5]), COUNTS / 7, Y),
    "gaussian": (ing.GaussianNB(priors=np.array([0.2, 0.3, 0.5])), COUNTS * 1e150, Y),
    "multinomial": (ing.MultinomialNB(), COUNTS, Y),
    "complement": (ing.ComplementNB(norm=True), COUNTS, Y),
    "bernoulli": (ing.BernoulliNB(binarize=1.5), COUNTS, Y),
    "categorical": (ing.CategoricalNB(min_categories=[4, 5, 6, 7, 8]), COUNTS, Y),
    "truth values": (ing.NaiveBayes(), COUNTS, Y == 0),
    "text": (ing.NaiveBayes(), COUNTS, np.array(["però", "niño", "\N{GRINNING FACE}"])[Y]),
    "mixed labels": (ing.NaiveBayes(), COUNTS, [[("a", 1), datetime.date(2026, 1, 2), "x"][y] for y in Y]),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_and_goes_on_learning(name: str, tmp_path: Path) -> None:
    model, X, y = MODELS[name]
    model = copy.deepcopy(model).fit(X, y)
    ing.save(model, tmp_path / "model")
    again = ing.load(tmp_path / "model")
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    assert again.tally_ == model.tally_
    assert again.schema_ == model.schema_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.classes_.tolist() == model.classes_.tolist()
    if name != "tf-idf":  # doubles: equal to rounding only
        assert again.partial_fit(X, y).forget(X, y).tally_ == model.tally_
    assert (again + model).tally_ == model.tally_ + model.tally_
    assert store.to_bytes(ing.load(tmp_path / "model")) == (tmp_path / "model").read_bytes()


def test_a_tally_travels_alone(tmp_path: Path) -> None:
    tally = ing.NaiveBayes().fit(COUNTS, Y).tally_
    ing.save(tally, tmp_path / "tally")
    assert ing.load(tmp_path / "tally") == tally


def test_names_and_announced_classes_come_back(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(COUNTS, columns=list("abcde"))
    model = ing.MultinomialNB().partial_fit(frame, Y, classes=[0, 1, 2, 7])
    ing.save(model, tmp_path / "model")
    again = ing.load(tmp_path / "model")
    assert again.feature_names_in_.tolist() == list("abcde")
    assert again.classes_.tolist() == [0, 1, 2, 7]
    again.partial_fit(frame, np.full(60, 7))


def test_only_fitted_models_of_ours_are_saved(tmp_path: Path) -> None:
    from sklearn.naive_bayes import GaussianNB

    with pytest.raises(NotFittedError):
        ing.save(ing.NaiveBayes(), tmp_path / "model")
    with pytest.raises(KindError, match=r"GaussianNB cannot be saved; what can: Tally, Network, .*NaiveBayes"):
        ing.save(GaussianNB().fit(COUNTS, Y), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_label_that_no_file_can_hold_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    ing.save(ing.NaiveBayes().fit(COUNTS, Y), path)
    before = path.read_bytes()
    odd = ing.NaiveBayes().fit(COUNTS, [[complex(1, 2), "b", "c"][y] for y in Y])
    with pytest.raises(KindError, match=r"complex \(1\+2j\) cannot be saved"):
        ing.save(odd, path)
    assert path.read_bytes() == before


def test_twenty_thousand_accidents_are_all_noticed() -> None:
    model = ing.NaiveBayes().fit(PATIENTS, "progression")
    data = store.to_bytes(model)
    rng = random.Random(0)
    for _ in range(20_000):
        damaged = bytearray(data)
        kind = rng.randrange(5)
        at = rng.randrange(len(data))
        if kind == 0:
            damaged[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del damaged[at:]
        elif kind == 2:
            damaged[at:at] = rng.randbytes(rng.randrange(1, 9))
        elif kind == 3:
            del damaged[at : at + rng.randrange(1, 9)]
        else:
            damaged[:8] = rng.choice([0, 1, len(data), 2**31, 2**63, 2**64 - 1]).to_bytes(8, "little")
        if bytes(damaged) == data:
            continue
        with pytest.raises(ModelFileError):
            store.from_bytes(bytes(damaged))


KINDS = list(fuzz.MODELS)


@pytest.mark.parametrize("kinds", [KINDS[0::3], KINDS[1::3], KINDS[2::3]], ids=["first", "second", "third"])
def test_a_forged_file_is_refused_or_is_another_sound_model(kinds: list[str]) -> None:
    """Whoever can sign can write anything: it may load as some other model, never as a broken one."""
    only = [word for kind in kinds for word in ("--only", kind)]
    call = [sys.executable, "-m", "benchmarks", "fuzz", "--tries", "70", "--seed", "1", "--minutes", "5", *only]
    done = subprocess.run(call, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    assert done.returncode == 0, done.stdout + done.stderr
    total, refused = (int(done.stdout.split(word)[0].split()[-1]) for word in (" forged", " refused"))
    assert total == 70 * len(kinds)
    assert total > refused > total / 2


def test_the_fuzzer_finds_what_is_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object) -> None:
        raise KeyError("gaussian")

    monkeypatch.setattr(fuzz, "use", fail)
    monkeypatch.setattr(fuzz, "limit_memory", lambda: None)
    assert fuzz.main(["--tries", "20", "--only", "gaussian"]) == 1
    assert "gaussian, seed" in capsys.readouterr().out


def _network_of_many_states(manifest: Any, tensors: Any) -> None:
    for entry in manifest["network"]["declared"]:
        entry[1] = [f"state {i}" for i in range(12_200)]


def _one_tensor_for_many_columns(manifest: Any, tensors: Any) -> None:
    (name, labels), *_ = manifest["schema"]["categories"]
    manifest["schema"]["categories"] = [[f"{name}{i}", labels] for i in range(3000)]


def _many_declared_classes(manifest: Any, tensors: Any) -> None:
    manifest["classes"] = {"as": "values", "values": [f"class {i}" for i in range(100_000)]}
    manifest["schema"]["categories"][0][1] = {"as": "values", "values": [f"value {i}" for i in range(10_000)]}


def _many_categories(manifest: Any, tensors: Any) -> None:
    (found,) = (item for item in manifest["parameters"]["items"] if item[0] == "min_categories")
    found[1] = 2 * 10**8


def _declared_network() -> ing.Network:
    network = ing.Network.from_arcs([("a", "b")], states={"a": ["x", "y"], "b": ["x", "y"]})
    return network.fit(pa.table({"a": ["x", "y"], "b": ["y", "y"]}))


def _declared_model() -> ing.NaiveBayes:
    return ing.NaiveBayes({"a": ["x", "y"]}).fit(pa.table({"a": ["x", "y"]}), [0, 1])


@pytest.mark.parametrize(
    ("make", "forge"),
    [
        (_declared_network, _network_of_many_states),
        (_declared_model, _one_tensor_for_many_columns),
        (_declared_model, _many_declared_classes),
        (lambda: ing.CategoricalNB(min_categories=3).fit([[0], [1]], [0, 1]), _many_categories),
    ],
)
def test_a_small_file_gets_little_memory(make: Any, forge: Any) -> None:
    manifest, tensors = container.from_bytes(store.to_bytes(make()))
    manifest = copy.deepcopy(manifest)
    forge(manifest, tensors)
    data = container.to_bytes(manifest, tensors)
    assert len(data) < 2**22
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            store.from_bytes(data)
        assert tracemalloc.get_traced_memory()[1] < 150 * 2**20
    finally:
        tracemalloc.stop()


def test_what_is_said_of_a_model_is_checked(tmp_path: Path) -> None:
    model = ing.NaiveBayes().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match="'sources' of about must be a list of mappings"):
        ing.save(model, tmp_path / "model", {"sources": "a.csv"})
    ing.save(model, tmp_path / "model", {"sources": [{"path": "a.csv"}]})
    manifest, tensors = container.read_file(tmp_path / "model")
    container.write_file(tmp_path / "model", manifest | {"about": {"history": [3]}}, tensors)
    with pytest.raises(ModelFileError, match="'history' of about"):
        store.about(tmp_path / "model")


def test_codes_beyond_any_table_are_refused() -> None:
    with pytest.raises(InputError, match=r"column 'x0' has the category 1,000,000,000"):
        ing.CategoricalNB().fit([[0], [1], [10**9]], [0, 1, 1])
    model = ing.CategoricalNB().fit([[0], [1]], [0, 1])
    with pytest.raises(InputError, match="take NaiveBayes"):
        model.partial_fit([[10**9]], [0])
    assert model.predict([[10**9]]).tolist() == [0]
    with pytest.raises(InputError, match="'min_categories' is 200,000,000"):
        ing.CategoricalNB(min_categories=2 * 10**8).fit([[0], [1]], [0, 1]).predict([[0]])
