"""Rows are the same rows through every door: in memory, in a file, as an Arrow stream, on Dask.

Every model learns the same tally, to the last bit, and gives the same answers; what cannot be done through a door is
refused in one sentence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import ingenuo as ing
from ingenuo.errors import InputError, RefusedError

N = 240
RNG = np.random.default_rng(11)
WORDS = np.array("good fine great sunny warm kind bad dull cold grey late lost old film day road".split())  # noqa: SIM905


def _texts(y: np.ndarray) -> list[str]:
    at = np.where(y[:, None] == "yes", RNG.integers(0, 11, (N, 6)), RNG.integers(5, 16, (N, 6)))
    return [" ".join(WORDS[row]) for row in at]


Y = RNG.choice(["no", "yes"], N)
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=N).round(3) + (Y == "yes"),
        "age": RNG.integers(18, 80, N) + 0.5,
        "town": np.where(RNG.random(N) < 0.4 + 0.3 * (Y == "yes"), "Bari", RNG.choice(["Pisa", "Roma"], N)),
        "note": _texts(Y),
        "paid": Y,
        "price": (RNG.gamma(3.0, 10.0, N) + 20 * (Y == "yes")).round(2),
        "vip": RNG.random(N) < 0.4 + 0.2 * (Y == "yes"),
        "code": RNG.integers(1, 14, N),
    }
)
CODED = FRAME[["size", "vip", "code"]].assign(paid=Y == "yes")  # booleans and codes, which a text file spells
NUMBERS, MIXED, TEXT = ["size", "age"], ["size", "age", "town", "note"], ["note"]
COUNTS = pd.DataFrame(RNG.poisson(1.5, (N, 3)) + 0.0, columns=["a", "b", "c"]).assign(paid=Y)
MODELS: dict[str, tuple[Any, pd.DataFrame]] = {
    "NaiveBayes": (ing.NaiveBayes(), FRAME[[*MIXED, "paid"]]),
    "NaiveBayes, histogram": (ing.NaiveBayes(numbers="histogram"), FRAME[[*MIXED, "paid"]]),
    "NaiveBayes, tuned": (ing.NaiveBayes(tune=True, calibration="temperature"), FRAME[[*NUMBERS, "town", "paid"]]),
    "GaussianNB": (ing.GaussianNB(), FRAME[[*NUMBERS, "paid"]]),
    "MultinomialNB": (ing.MultinomialNB(), COUNTS),
    "ComplementNB": (ing.ComplementNB(), COUNTS),
    "BernoulliNB": (ing.BernoulliNB(), COUNTS),
    "GaussianDiscriminant": (ing.GaussianDiscriminant(), FRAME[[*NUMBERS, "paid"]]),
    "GaussianDiscriminant, regularised": (
        ing.GaussianDiscriminant("regularised"),
        FRAME[[*NUMBERS, "town", "paid"]],
    ),
    "LeastSquaresClassifier": (ing.LeastSquaresClassifier(), FRAME[[*NUMBERS, "paid"]]),
    "SoftmaxRegression": (ing.SoftmaxRegression(), FRAME[[*MIXED, "paid"]]),
    "NetworkClassifier, tan": (ing.NetworkClassifier("tan"), FRAME[[*NUMBERS, "town", "paid"]]),
    "NetworkClassifier, back-off": (
        ing.NetworkClassifier("kdb", smoothing="back-off", weighting="levels"),
        FRAME[[*NUMBERS, "town", "paid"]],
    ),
    "NetworkClassifier, hill-climb": (ing.NetworkClassifier("hill-climb"), FRAME[[*NUMBERS, "town", "paid"]]),
    "LanguageModelClassifier": (ing.LanguageModelClassifier(2), FRAME[[*TEXT, "paid"]]),
    "NaiveBayes, codes": (ing.NaiveBayes(columns={"code": "category"}), CODED),
    "NetworkClassifier, codes": (ing.NetworkClassifier("tan", columns={"code": "category"}), CODED),
    "SoftmaxRegression, codes": (ing.SoftmaxRegression(columns={"code": "category"}), CODED),
    "NaiveBayesRegressor": (ing.NaiveBayesRegressor(bins=5), FRAME[[*MIXED, "price"]]),
    "BayesClassifier": (ing.BayesClassifier(), FRAME[[*MIXED, "paid"]]),
    "BayesClassifier, additive": (ing.BayesClassifier("additive"), FRAME[[*MIXED, "paid"]]),
    "BayesOptimalClassifier": (
        ing.BayesOptimalClassifier([("one", ing.NaiveBayes()), ("two", ing.NetworkClassifier("naive"))]),
        FRAME[[*NUMBERS, "town", "paid"]],
    ),
}
# What goes over all the rows more than once, and so cannot be learned where the rows are not here.
NEEDS_ALL = {
    "NaiveBayes, tuned",
    "SoftmaxRegression",
    "SoftmaxRegression, codes",
    "NetworkClassifier, hill-climb",
    "BayesOptimalClassifier",
}
# Numbers whose zeros are values like any other are not taken from a sparse matrix.
NO_SPARSE = {"GaussianNB"}
CLASSIFIERS = {name: each for name, each in MODELS.items() if hasattr(each[0], "predict_proba")}
# What sums more than once, so that a reader, which can be read once, does not do.
SEVERAL_PASSES = {
    "NetworkClassifier, tan",
    "NetworkClassifier, back-off",
    "NetworkClassifier, codes",
    "NaiveBayesRegressor",
    "GaussianDiscriminant, regularised",
}
DOORS = ["pandas", "polars", "arrow", "csv", "path", "parquet", "reader", "duckdb", "dask"]


def _door(name: str, frame: pd.DataFrame, folder: Path) -> Any:
    if name == "pandas":
        return frame
    if name == "polars":
        return pl.from_pandas(frame)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if name == "arrow":
        return table
    if name in ("csv", "path"):
        path = folder / f"{len(frame)}-{'-'.join(frame.columns)}.csv"
        frame.to_csv(path, index=False)
        return ing.scan(path, block_size=2000) if name == "csv" else str(path)
    if name == "parquet":
        path = folder / f"{len(frame)}-{'-'.join(frame.columns)}.parquet"
        pq.write_table(table, path, row_group_size=50)
        return ing.scan(path)
    if name == "reader":
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=37))
    if name == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        return duckdb.from_arrow(table)
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(frame, npartitions=3, sort=False)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Any:
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def fitted() -> dict[str, Any]:
    """Each model, as rows in memory give it."""
    from sklearn.base import clone

    return {name: clone(model).fit(frame, frame.columns[-1]) for name, (model, frame) in MODELS.items()}


def _same(one: Any, other: Any) -> None:
    if hasattr(one, "tally_"):
        assert one.tally_ == other.tally_
        assert one.schema_.names.tolist() == other.schema_.names.tolist()
    if hasattr(one, "classes_"):
        assert one.classes_.tolist() == other.classes_.tolist()


def _array(answer: Any, columns: list[str] | None = None) -> Any:
    """What a door answers, as an array."""
    if hasattr(answer, "compute"):
        found = answer.compute()
        return found["predicted"].to_numpy() if columns is None else found[columns].to_numpy()
    return np.asarray(answer)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", MODELS)
def test_the_same_rows_give_the_same_model(name: str, door: str, fitted: dict[str, Any], tmp_path: Path) -> None:
    from sklearn.base import clone

    model, frame = MODELS[name]
    target = frame.columns[-1]
    given = _door(door, frame, tmp_path)
    if door == "dask" and name in NEEDS_ALL:
        with pytest.raises(RefusedError, match="more than once"):
            clone(model).fit(given, target)
        return
    if door == "reader" and name in SEVERAL_PASSES:
        with pytest.raises(InputError, match="can be read only once"):
            clone(model).fit(given, target)
        return
    found = clone(model).fit(given, target)
    _same(found, fitted[name])
    rows = frame.drop(columns=target)
    assert found.predict(rows).tolist() == fitted[name].predict(rows).tolist()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", MODELS)
def test_the_same_rows_get_the_same_answers(name: str, door: str, fitted: dict[str, Any], tmp_path: Path) -> None:
    _, frame = MODELS[name]
    model, target = fitted[name], frame.columns[-1]
    rows = frame.drop(columns=target)
    if door == "dask" and not hasattr(model, "schema_"):
        with pytest.raises(RefusedError, match="cannot be sent"):
            model.predict(_door(door, rows, tmp_path))
        return
    assert _array(model.predict(_door(door, rows, tmp_path))).tolist() == model.predict(rows).tolist()
    if hasattr(model, "predict_proba"):
        names = [f"P({label})" for label in model.classes_.tolist()]
        found = _array(model.predict_proba(_door(door, rows, tmp_path)), names)
        assert found.tolist() == model.predict_proba(rows).tolist()
    assert model.score(_door(door, frame, tmp_path), target) == model.score(rows, frame[target])


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", [name for name in MODELS if hasattr(MODELS[name][0], "forget")])
def test_rows_are_added_and_forgotten_through_every_door(
    name: str, door: str, fitted: dict[str, Any], tmp_path: Path
) -> None:
    from copy import deepcopy

    _, frame = MODELS[name]
    model, target, some = deepcopy(fitted[name]), frame.columns[-1], frame[30:90]
    model.partial_fit(_door(door, some, tmp_path), target)
    expected = deepcopy(fitted[name]).partial_fit(some, target)
    assert model.tally_ == expected.tally_
    assert model.forget(_door(door, some, tmp_path), target).tally_ == fitted[name].tally_


@pytest.fixture(scope="module")
def judged(fitted: dict[str, Any]) -> dict[str, Any]:
    """Each classifier, evaluated and cross-validated on rows in memory."""
    return {
        name: (ing.evaluate(fitted[name], frame, "paid"), ing.cross_validate(model, frame, "paid", folds=2))
        for name, (model, frame) in CLASSIFIERS.items()
    }


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_rows_evaluate_a_model_through_every_door(
    name: str, door: str, fitted: dict[str, Any], judged: dict[str, Any], tmp_path: Path
) -> None:
    _, frame = MODELS[name]
    found = ing.evaluate(fitted[name], _door(door, frame, tmp_path), "paid")
    for measure in ("accuracy", "log_loss", "brier"):
        assert found[measure].value == pytest.approx(judged[name][0][measure].value, rel=1e-12)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_cross_validation_takes_every_door(name: str, door: str, judged: dict[str, Any], tmp_path: Path) -> None:
    model, frame = MODELS[name]
    if door == "dask":
        with pytest.raises(RefusedError):
            ing.cross_validate(model, _door(door, frame, tmp_path), "paid", folds=2)
        return
    found = ing.cross_validate(model, _door(door, frame, tmp_path), "paid", folds=2)
    assert found.probabilities.tolist() == judged[name][1].probabilities.tolist()


@pytest.mark.parametrize("door", DOORS)
def test_a_language_model_reads_texts_through_every_door(door: str, tmp_path: Path) -> None:
    whole = ing.LanguageModel(2).fit(FRAME["note"].tolist())
    assert ing.LanguageModel(2).fit(_door(door, FRAME[["note"]], tmp_path)).tally_ == whole.tally_


@pytest.mark.parametrize("door", [door for door in DOORS if door != "path"])  # a string is a row that is typed
@pytest.mark.parametrize("name", MODELS)
def test_a_row_is_explained_from_every_door(name: str, door: str, fitted: dict[str, Any], tmp_path: Path) -> None:
    model, row = fitted[name], MODELS[name][1].iloc[7:8, :-1]
    if door == "dask":
        with pytest.raises(RefusedError):
            model.explain(_door(door, row, tmp_path))
        return
    assert str(model.explain(_door(door, row, tmp_path))) == str(model.explain(row))


@pytest.mark.parametrize("door", ["array", "list", "sparse"])
@pytest.mark.parametrize(
    "name", [name for name, (_, frame) in MODELS.items() if set(frame) <= {*NUMBERS, *"abc", "paid"}]
)
def test_rows_without_names_give_the_same_numbers(name: str, door: str, fitted: dict[str, Any]) -> None:
    from sklearn.base import clone

    model, frame = MODELS[name]
    X, y = frame.drop(columns="paid").to_numpy(), frame["paid"].to_numpy()
    rows = {"array": X, "list": X.tolist(), "sparse": sparse.csr_array(X)}[door]
    if door == "sparse" and name in NO_SPARSE:
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            clone(model).fit(rows, y)
        return
    found = clone(model).fit(rows, y)
    assert found.predict_proba(rows).tolist() == fitted[name].predict_proba(frame).tolist()
