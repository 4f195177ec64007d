"""Rows that lie in parts are learned in rounds, and come to what they come to in memory; errors say where."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.rows_in_parts import Listed, listed, mixed

from ingenuo import store
from ingenuo.errors import EngineError, InputError, KindError, RefusedError
from ingenuo.models import remote
from ingenuo.models.discriminant import GaussianDiscriminant, LeastSquaresClassifier
from ingenuo.models.language import LanguageModel, LanguageModelClassifier
from ingenuo.models.model import tally_rows
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.regressor import NaiveBayesRegressor
from ingenuo.models.remote import Task, error_to_bytes, from_bytes, merge_bytes, remote_rows, to_bytes
from ingenuo.models.scikit_learn import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.tally.tally import Tally
from ingenuo.text.words import Words

FRAME = mixed().drop(columns="times")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, len(FRAME)), max_size=12))
def test_however_rows_are_cut_the_model_is_the_one_of_all_rows(cuts: list[int]) -> None:
    found = NaiveBayes().fit(listed(FRAME, cuts), "paid")
    whole = _whole()
    assert found.tally_ == whole.tally_
    assert found.schema_ == whole.schema_
    assert found.classes_.tolist() == whole.classes_.tolist()


def _whole(kept: dict[str, NaiveBayes] = {}) -> NaiveBayes:  # noqa: B006 (learned once)
    return kept.setdefault("model", NaiveBayes().fit(FRAME, "paid"))


NUMBERS = FRAME[["size", "age", "paid"]].fillna(2.5)
COUNTS = pd.DataFrame(np.random.default_rng(5).poisson(1.5, (600, 3)), columns=["a", "b", "c"]).assign(paid=FRAME.paid)


@pytest.mark.parametrize(
    ("model", "frame"),
    [
        (NaiveBayes(numbers="histogram", text=Words(ngrams=(1, 2))), FRAME),
        (NaiveBayes(numbers="auto", counts="complement"), FRAME),
        (GaussianDiscriminant(), NUMBERS),
        (GaussianDiscriminant("full"), NUMBERS),
        (LeastSquaresClassifier(), NUMBERS),
        (LanguageModelClassifier(order=2), FRAME[["note", "paid"]]),
        (GaussianNB(), NUMBERS),
        (MultinomialNB(), COUNTS),
        (ComplementNB(), COUNTS),
        (BernoulliNB(), COUNTS),
        (CategoricalNB(), COUNTS),
    ],
    ids=lambda each: type(each).__name__ if hasattr(each, "get_params") else "",
)
def test_every_model_with_a_tally_learns_in_parts(model: object, frame: pd.DataFrame) -> None:
    from sklearn.base import clone

    whole = clone(model).fit(frame.drop(columns="paid"), frame["paid"])
    found = clone(model).fit(listed(frame, [1, 100, 101, 400]), "paid")
    assert found.tally_ == whole.tally_
    assert found.schema_ == whole.schema_
    rows = frame.drop(columns="paid")
    assert found.predict_proba(rows).tolist() == whole.predict_proba(rows).tolist()


def test_texts_of_unit_length_are_measured_by_all_the_documents() -> None:
    model = NaiveBayes(text=Words(weighting="tfidf", norm="l2"))
    whole, found = model.fit(FRAME, "paid"), NaiveBayes(text=model.text).fit(listed(FRAME, [250]), "paid")
    assert found.schema_ == whole.schema_  # the document frequencies among it
    rows = FRAME.drop(columns="paid")
    np.testing.assert_allclose(found.predict_proba(rows), whole.predict_proba(rows), rtol=1e-9)


def test_a_language_model_learns_texts_in_parts() -> None:
    found = LanguageModel(order=3).fit(listed(FRAME[["note"]], [7, 300]))
    assert found.tally_ == LanguageModel(order=3).fit(FRAME["note"].tolist()).tally_


@pytest.mark.parametrize("bins", [[0.0, 1.0, 2.0, 4.0, 40.0], 7])
def test_a_regressor_learns_in_parts(bins: object) -> None:
    frame = FRAME.dropna(subset=["size"]).drop(columns="paid")
    found = NaiveBayesRegressor(bins=bins).fit(listed(frame, [90]), "size")
    whole = NaiveBayesRegressor(bins=bins).fit(frame, "size")
    assert found.edges_.tolist() == whole.edges_.tolist()
    assert found.tally_ == whole.tally_
    assert found.predict(frame[:9]).tolist() == whole.predict(frame[:9]).tolist()


def test_whole_weights_count_as_often_in_parts() -> None:
    weighted = mixed()
    found = NaiveBayes().fit(listed(weighted, [100, 200]), "paid", sample_weight="times")
    assert found.tally_ == NaiveBayes().fit(FRAME, "paid", weighted["times"]).tally_


def test_parts_are_added_later_and_taken_away_again() -> None:
    first, second = FRAME[:350], FRAME[350:]
    found = NaiveBayes().partial_fit(listed(first, [9]), "paid").partial_fit(listed(second, [100, 120]), "paid")
    assert found.tally_ == _whole().tally_
    assert found.forget(listed(second, [40]), "paid").tally_ == NaiveBayes().fit(first, "paid").tally_


def test_a_declared_schema_skips_the_first_look() -> None:
    rows = listed(FRAME, [300])
    columns = {"size": "number", "age": "number", "town": "category", "note": "text"}
    NaiveBayes(columns=columns).fit(rows, "paid")
    assert rows.rounds == 1
    assert rows.heads == 0
    looked = listed(FRAME, [300])
    NaiveBayes().fit(looked, "paid")
    assert looked.rounds == 1
    assert looked.heads == 1


def test_columns_of_objects_are_looked_at() -> None:
    rows = listed(FRAME, [300])
    rows.schema = pa.schema(
        [(f.name, pa.null() if f.name in ("town", "note", "paid") else f.type) for f in rows.schema]
    )
    assert NaiveBayes().fit(rows, "paid").schema_ == _whole().schema_


def test_a_column_of_two_types_is_refused_by_name() -> None:
    rows = listed(FRAME, [300])
    rows.parts[1] = rows.parts[1].set_column(0, "size", pa.array(["big"] * 300))
    with pytest.raises(InputError, match=r"partition 1: column 'size' holds string values, and double in other parts"):
        NaiveBayes().fit(rows, "paid")


def test_a_part_without_a_column_is_refused_by_name() -> None:
    rows = listed(FRAME, [300])
    rows.parts[1] = rows.parts[1].drop_columns(["age"])
    with pytest.raises(InputError, match=r"partition 1: there is no column 'age', which other parts have"):
        NaiveBayes().fit(rows, "paid")


def test_empty_parts_count_for_nothing() -> None:
    assert NaiveBayes().fit(listed(FRAME, [0, 0, 200, 200, 600]), "paid").tally_ == _whole().tally_


def test_no_rows_at_all_are_refused() -> None:
    model = NaiveBayes()
    with pytest.raises(InputError, match="there are no rows to learn from"):
        model.fit(listed(FRAME[:0], [0]), "paid")
    assert not hasattr(model, "tally_")


def test_a_failure_leaves_the_model_as_it_was() -> None:
    model = NaiveBayes().fit(FRAME, "paid")
    before = model.tally_
    rows = listed(FRAME, [300])
    rows.parts[1] = rows.parts[1].set_column(0, "size", pa.array(["big"] * 300))
    for learn in (model.fit, model.partial_fit, model.forget):
        with pytest.raises(InputError, match="partition 1"):
            learn(rows, "paid")
        assert model.tally_ == before
        assert model.predict(FRAME[:1]).tolist() in (["yes"], ["no"])


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (NaiveBayes(tune=True), "calibration=None, tune=False"),
        (NaiveBayes(calibration="auto"), "calibration=None, tune=False"),
    ],
)
def test_what_is_no_sum_is_refused(model: object, says: str) -> None:
    with pytest.raises(RefusedError, match=says):
        model.fit(listed(FRAME, [300]), "age")


def test_a_model_without_a_tally_says_so_of_a_frame() -> None:
    import dask.dataframe as dd

    frame = dd.from_pandas(FRAME, npartitions=2)
    with pytest.raises(RefusedError, match="more than once"):
        SoftmaxRegression().fit(frame, "paid")
    with pytest.raises(RefusedError, match="have predict_proba"):
        NaiveBayes().fit(FRAME, "paid").predict_log_proba(frame)


def test_a_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="name the column to learn"):
        NaiveBayes().fit(listed(FRAME, [1]))
    with pytest.raises(InputError, match="both the class and the weight"):
        remote_rows(listed(FRAME, [1]), "paid", "paid")
    with pytest.raises(KindError, match="Dask or Spark frame"):
        remote_rows([1, 2])


def test_what_travels_is_in_the_format_of_the_model_file() -> None:
    tally = _whole().tally_
    assert to_bytes(tally) == store.to_bytes(tally)
    assert from_bytes(merge_bytes([to_bytes(tally), to_bytes(tally)])) == tally.scale(2)
    assert from_bytes(merge_bytes([])) == Tally()


def test_of_errors_the_first_is_told() -> None:
    parts = [to_bytes(Tally()), error_to_bytes(InputError("one")), error_to_bytes(KindError("two"))]
    with pytest.raises(InputError, match="one"):
        from_bytes(merge_bytes(parts))
    with pytest.raises(KindError, match="two"):
        from_bytes(merge_bytes(parts[2:]))


def test_a_worker_of_another_version_refuses_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task(None, {}, [], pa.schema([]), {}, False, False).to_bytes()
    monkeypatch.setattr(remote, "__version__", "0.0.1")
    with pytest.raises(EngineError, match=r"a worker has ingenuo 0\.0\.1, .* install the same version everywhere"):
        from_bytes(remote.run_task(tally_rows, task, 0, []))


def test_an_engine_sends_no_pickled_object_of_ours() -> None:
    sent: list[object] = []

    class Watching(Listed):
        def reduce(self, columns, part, merge):  # type: ignore[no-untyped-def]
            sent.extend(part.args)
            return super().reduce(columns, part, merge)

    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    NaiveBayes().fit(Watching([table]), "paid")
    assert {type(each).__name__ for each in sent} == {"function", "bytes"}
