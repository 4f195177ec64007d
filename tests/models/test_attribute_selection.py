"""Attributes chosen by the log loss of rows that were left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

import ingenuo as ing
from ingenuo.datasets import play_tennis
from ingenuo.errors import InputError, KindError
from ingenuo.models.attribute_selection import METHODS

IRIS, KIND = load_iris(return_X_y=True)
NOISE = np.random.default_rng(0).normal(size=(150, 2))
COPIED = np.hstack([IRIS, IRIS[:, 2:3], NOISE])


def left_out(X: np.ndarray, y: np.ndarray) -> float:
    """The log loss of rows left out, by models fitted to the others."""
    found = ing.cross_validate(ing.NaiveBayes(), X, y, "leave-one-out")
    return float(log_loss(y, found.probabilities, labels=found.classes))


def test_forward_selection_is_that_by_refitting() -> None:
    kept: list[int] = []
    best = np.inf
    while True:
        tried = {j: left_out(COPIED[:, [*kept, j]], KIND) for j in range(COPIED.shape[1]) if j not in kept}
        j = min(tried, key=tried.__getitem__)
        if not tried[j] < best:
            break
        best = tried[j]
        kept.append(j)
    selector = ing.AttributeSelector("forward").fit(COPIED, KIND)
    assert selector.get_support(indices=True).tolist() == sorted(kept)
    assert selector.losses_[-1] == pytest.approx(best, rel=1e-9)
    assert [each.columns[0] for each in selector.ranking_ if each.chosen] == kept


def test_a_gain_is_what_the_column_alone_takes_from_the_log_loss() -> None:
    selector = ing.AttributeSelector("gain").fit(COPIED, KIND)
    alone = selector.losses_[0]
    for each in selector.ranking_:
        nats = alone - left_out(COPIED[:, list(each.columns)], KIND)
        assert each.gain == pytest.approx(nats / np.log(2), abs=1e-9)
    gains = [each.gain for each in selector.ranking_]
    assert gains == sorted(gains, reverse=True)
    assert all(each.chosen == (each.gain > 0) for each in selector.ranking_)


def test_copies_ruin_plain_naive_bayes_and_not_what_is_selected() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 3)) + np.outer(y, [0.6, 1.0, 1.0])
    many = np.hstack([X, np.repeat(X[:, :1], 30, axis=1)])
    selector = ing.AttributeSelector().fit(many, y)
    assert selector.support_.sum() <= 5
    assert {1, 2} <= set(selector.get_support(indices=True).tolist())
    plain, chosen = (ing.cross_validate(ing.NaiveBayes(), Z, y).evaluation for Z in (many, selector.transform(many)))
    assert chosen["log_loss"].value < plain["log_loss"].value / 2
    assert chosen["accuracy"].value > plain["accuracy"].value + 0.03


@pytest.mark.parametrize("method", METHODS)
def test_so_many_are_kept_as_are_asked_for(method: str) -> None:
    for n in (1, 3, COPIED.shape[1]):
        selector = ing.AttributeSelector(method, n).fit(COPIED, KIND)
        assert selector.support_.sum() == n
        assert selector.transform(COPIED).shape == (150, n)
        assert sum(each.chosen for each in selector.ranking_) == n


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_tables_stay_what_they_are(table: Any) -> None:
    data = {"good": IRIS[:, 2], "noise": NOISE[:, 0], "kind": np.where(KIND > 0, "x", "y").tolist()}
    frame = table(data)
    selector = ing.AttributeSelector(n_attributes=2).fit(frame, KIND)
    kept = selector.transform(frame)
    assert type(kept) is type(frame)
    names = kept.column_names if isinstance(kept, pa.Table) else list(kept.columns)
    assert names == ["good", "kind"] == selector.get_feature_names_out().tolist()


def test_the_target_may_be_a_column_and_columns_may_be_sparse_or_text() -> None:
    frame = pd.DataFrame({"a": IRIS[:, 3], "y": KIND})
    assert ing.AttributeSelector().fit(frame, "y").get_feature_names_out().tolist() == ["a"]
    texts = ["good film", "bad film", "good cast", "bad cast"] * 5
    selector = ing.AttributeSelector().fit(texts, ["+", "-"] * 10)
    assert selector.transform(texts) is texts
    counts = sparse.csr_matrix(np.random.default_rng(4).poisson(1, (60, 5)))
    assert ing.AttributeSelector().fit(counts, np.arange(60) % 2).transform(counts).shape[0] == 60


def test_it_works_in_a_pipeline_and_is_cloned() -> None:
    pipeline = make_pipeline(ing.AttributeSelector("forward"), ing.NaiveBayes())
    assert clone(pipeline).fit(COPIED, KIND).score(COPIED, KIND) > 0.9
    tuned = ing.AttributeSelector(model=ing.NaiveBayes(tune=True)).fit(COPIED, KIND)
    assert tuned.losses_[-1] < ing.AttributeSelector().fit(COPIED, KIND).losses_[0] / 5


def test_missing_values_say_nothing() -> None:
    X = IRIS.copy()
    X[np.random.default_rng(5).random(X.shape) < 0.2] = np.nan
    selector = ing.AttributeSelector("gain").fit(X, KIND)
    assert {each.columns[0] for each in selector.ranking_[:2]} == {2, 3}
    assert all(0 < each.gain < np.log2(3) for each in selector.ranking_)


def test_what_it_found_prints() -> None:
    text = str(ing.AttributeSelector().fit(COPIED, KIND))
    assert text.splitlines()[0].split() == ["column", "information,", "bits", "gain", "alone,", "bits", "kept"]
    assert "columns are kept; log loss of rows left out" in text
    assert text.endswith(" bits.")


def test_columns_that_are_ignored_are_not_counted() -> None:
    table = play_tennis().append_column("day", [[f"day {number}" for number in range(14)]])
    selector = ing.AttributeSelector(model=ing.NaiveBayes(columns={"day": "ignore"})).fit(table, "Play")
    assert "\n2 of 4 columns are kept;" in str(selector)


def test_the_information_of_play_tennis_is_that_of_the_textbooks() -> None:
    selector = ing.AttributeSelector("gain").fit(play_tennis(), "Play")
    found = {each.columns[0]: each.information for each in selector.ranking_}
    assert found == pytest.approx({"Outlook": 0.247, "Humidity": 0.152, "Wind": 0.048, "Temperature": 0.029}, abs=5e-4)
    assert "Outlook      0.247 " in str(selector)
    given_ = selector.to_dict()
    assert given_["unit"] == "bits"
    assert given_["ranking"][0]["columns"] == ["Outlook"]
    weights = np.arange(1, 15)
    repeated = play_tennis().take(np.repeat(np.arange(14), weights))
    one = ing.AttributeSelector("gain").fit(play_tennis(), "Play", weights)
    other = ing.AttributeSelector("gain").fit(repeated, "Play")
    assert {e.columns: e.information for e in one.ranking_} == pytest.approx(
        {e.columns: e.information for e in other.ranking_}
    )


def test_numbers_are_cut_and_texts_have_no_information() -> None:
    found = {each.columns[0]: each.information for each in ing.AttributeSelector().fit(COPIED, KIND).ranking_}
    assert found[2] == pytest.approx(found[4])
    assert 1.3 < found[2] < np.log2(3)
    assert found[5] == found[6] == 0.0  # no cut tells anything
    missing = IRIS.copy()
    missing[::3] = np.nan
    bits = {each.columns[0]: each.information for each in ing.AttributeSelector().fit(missing, KIND).ranking_}
    assert bits[3] > 1.2  # of the rows that have a value
    (text,) = ing.AttributeSelector().fit(["good film", "bad film"] * 5, ["+", "-"] * 5).ranking_
    assert text.information is None
    assert str(ing.AttributeSelector()) == "AttributeSelector()"


@pytest.mark.parametrize(
    ("selector", "kind", "said"),
    [
        (ing.AttributeSelector("foward"), InputError, "method='foward' is not known; did you mean 'forward'"),
        (ing.AttributeSelector(n_attributes=8), InputError, "n_attributes=8, and the table has 7; take fewer"),
        (ing.AttributeSelector(n_attributes=0), InputError, "n_attributes"),
        (ing.AttributeSelector(n_attributes="few"), InputError, "take a whole number, or 'auto'"),
        (ing.AttributeSelector(n_attributes=1.5), KindError, "n_attributes"),
        (ing.AttributeSelector(model=ing.GaussianNB()), KindError, "model must be a NaiveBayes"),
    ],
)
def test_bad_settings_are_one_sentence(selector: ing.AttributeSelector, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        selector.fit(COPIED, KIND)


def test_bad_tables_are_one_sentence() -> None:
    selector = ing.AttributeSelector().fit(COPIED, KIND)
    with pytest.raises(InputError, match="fitted to 7 columns"):
        selector.transform(IRIS)
    with pytest.raises(InputError, match="the one class"):
        ing.AttributeSelector().fit(COPIED, np.zeros(150))
    with pytest.raises(InputError, match="no column 'b'"):
        ing.AttributeSelector().fit(pd.DataFrame({"b": IRIS[:, 2]}), KIND).transform(pd.DataFrame({"a": [1.0]}))
