"""On Dask the model is the same, bit for bit: any partitions, any workers, and one that is killed on the way."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from tests.engines.rows_in_parts import mixed

from ingenuo.errors import EngineError, InputError, KindError
from ingenuo.evaluation.audit import audit
from ingenuo.evaluation.evaluation import evaluate
from ingenuo.models.language import LanguageModel
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.models.regressor import NaiveBayesRegressor
from ingenuo.models.softmax import SoftmaxRegression

FRAME = mixed().drop(columns="times")


@pytest.fixture(scope="module")
def whole() -> NaiveBayes:
    return NaiveBayes().fit(FRAME, "paid")


@pytest.mark.parametrize("partitions", [1, 3, 20])
def test_any_partitions_on_any_workers_give_the_same_model(
    dask_cluster: Any, whole: NaiveBayes, partitions: int
) -> None:
    found = NaiveBayes().fit(dd.from_pandas(FRAME, npartitions=partitions), "paid")
    assert found.tally_ == whole.tally_
    assert found.schema_ == whole.schema_


def test_partitions_in_another_order_give_the_same_model(whole: NaiveBayes) -> None:
    parts = [FRAME[at : at + 50] for at in range(0, len(FRAME), 50)]
    frame = dd.from_map(lambda k: parts[k], [7, 2, 11, 0, 1, 9, 5, 3, 4, 10, 8, 6], meta=FRAME[:0])
    assert NaiveBayes().fit(frame, "paid").tally_ == whole.tally_


def test_a_worker_that_is_killed_on_the_way_changes_nothing(
    dask_cluster: Any, whole: NaiveBayes, tmp_path: Path
) -> None:
    mark = tmp_path / "killed"
    parts = [FRAME[at : at + 75] for at in range(0, len(FRAME), 75)]

    def part(k: int) -> pd.DataFrame:
        if k == 5 and not mark.exists():
            mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)  # the worker itself, in the middle of its work
        return parts[k]

    frame = dd.from_map(part, range(8), meta=FRAME[:0])
    found = NaiveBayes(columns={"town": "category", "note": "text"}).fit(frame, "paid")
    assert mark.exists()
    assert int(mark.read_text()) != os.getpid()
    assert found.tally_ == whole.tally_


def test_classes_and_weights_may_be_given_as_series(whole: NaiveBayes) -> None:
    frame = dd.from_pandas(mixed(), npartitions=3)
    weighted = NaiveBayes().fit(frame, frame["paid"], frame["times"])
    assert weighted.tally_ == NaiveBayes().fit(FRAME, "paid", mixed()["times"]).tally_
    apart = NaiveBayes().fit(frame.drop(columns=["paid", "times"]), frame["paid"])
    assert apart.tally_ == whole.tally_
    with pytest.raises(KindError, match="a Dask Series, not list"):
        NaiveBayes().fit(frame, [1, 2])
    with pytest.raises(InputError, match=r"has no column 'pad'; did you mean 'paid'"):
        NaiveBayes().fit(frame, "pad")


def test_answers_are_a_frame_that_is_not_yet_computed(dask_cluster: Any, whole: NaiveBayes) -> None:
    frame = dd.from_pandas(FRAME, npartitions=3)
    answered = whole.predict(frame)
    assert isinstance(answered, dd.DataFrame)
    found = answered.compute()
    assert found.index.equals(FRAME.index)
    assert found.columns.tolist() == [*FRAME.columns, "predicted", "probability", "P(no)", "P(yes)"]
    assert found["predicted"].tolist() == whole.predict(FRAME).tolist()
    assert found[["P(no)", "P(yes)"]].to_numpy().tolist() == whole.predict_proba(FRAME).tolist()
    assert answered.dtypes.tolist() == found.dtypes.tolist()
    shares = whole.predict_proba(frame[["size", "age", "town", "note"]]).compute()
    assert shares.columns.tolist()[4:] == ["P(no)", "P(yes)"]


def test_an_empty_partition_is_answered_by_an_empty_one(whole: NaiveBayes) -> None:
    frame = dd.from_pandas(FRAME, npartitions=3)
    few = whole.predict(frame[frame["age"] > 1000]).compute()
    assert len(few) == 0
    assert "P(yes)" in few.columns


def test_structures_of_networks_are_the_same(dask_cluster: Any) -> None:
    frame = FRAME.drop(columns="note")
    for structure in ("tan", "kdb"):
        here = NetworkClassifier(structure).fit(frame, "paid")
        there = NetworkClassifier(structure).fit(dd.from_pandas(frame, npartitions=4), "paid")
        assert there.tally_ == here.tally_
        assert there.network_.arcs == here.network_.arcs
        assert there.cuts_ == here.cuts_


def test_evaluations_and_audits_are_sums_as_well(dask_cluster: Any, whole: NaiveBayes) -> None:
    frame = dd.from_pandas(FRAME, npartitions=5)
    there, here = evaluate(whole, frame, "paid"), evaluate(whole, FRAME, "paid", keep_rows=False)
    assert there == here
    assert there["accuracy"].value == evaluate(whole, FRAME, "paid")["accuracy"].value
    one, two = audit(whole, frame, "paid", protected="town"), audit(whole, FRAME, "paid", protected="town")
    assert str(one) == str(two)


def test_objects_become_strings() -> None:
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dd.from_pandas(FRAME.astype({"town": object, "note": object, "paid": object}), npartitions=3)
        assert NaiveBayes().fit(frame, "paid").tally_ == NaiveBayes().fit(FRAME, "paid").tally_


def test_texts_may_be_a_series() -> None:
    texts = dd.from_pandas(FRAME["note"], npartitions=3)
    assert LanguageModel(order=2).fit(texts).tally_ == LanguageModel(order=2).fit(FRAME["note"].tolist()).tally_


def test_a_partition_with_another_schema_is_named() -> None:
    other = FRAME[300:].assign(age="old")
    frame = dd.from_map(lambda k: [FRAME[:300], other][k], [0, 1], meta=FRAME[:0], enforce_metadata=False)
    with pytest.raises(InputError, match=r"partition 1: column 'age' holds .*string values, and double in other parts"):
        NaiveBayes(columns={"town": "category", "note": "text"}).fit(frame, "paid")


LACKING = """
import sys

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "ingenuo":
            raise ModuleNotFoundError("No module named 'ingenuo'", name="ingenuo")

sys.meta_path.insert(0, Lacking())

def dask_setup(worker):
    pass
"""


def test_a_worker_without_the_package_is_told_in_one_sentence(whole: NaiveBayes) -> None:
    import distributed

    frame = dd.from_pandas(FRAME, npartitions=2)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", preload=[LACKING]
        ) as cluster,
        distributed.Client(cluster),
    ):
        for ask in (lambda: NaiveBayes().fit(frame, "paid"), lambda: whole.predict(frame)):
            with pytest.raises(EngineError, match=r"cannot import ingenuo; install the same version of it on every"):
                ask()


def test_columns_are_called_by_strings() -> None:
    frame = dd.from_pandas(pd.DataFrame({1: [1.0, 2.0], "y": ["a", "b"]}), npartitions=1)
    with pytest.raises(InputError, match="name columns by strings"):
        NaiveBayes().fit(frame, "y")


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (NaiveBayes(calibration="temperature"), "paid"),
        (SoftmaxRegression(columns={"note": "ignore"}), "paid"),
        (NaiveBayesRegressor(), "age"),
    ],
    ids=["calibrated", "softmax", "regressor"],
)
def test_models_that_were_learned_here_answer_there(model: Any, target: str) -> None:
    model.fit(FRAME, target)
    found = model.predict(dd.from_pandas(FRAME, npartitions=3)).compute()
    assert found["predicted"].tolist() == model.predict(FRAME).tolist()
    assert ("P(yes)" in found.columns) == (target == "paid")


def test_what_an_answer_lacks_is_said_at_once(whole: NaiveBayes) -> None:
    frame = dd.from_pandas(FRAME.drop(columns="age"), npartitions=2)
    with pytest.raises(InputError, match="the Dask frame has no column 'age', which the model was trained on"):
        whole.predict(frame)


def test_two_columns_of_one_name_are_refused() -> None:
    frame = dd.from_pandas(FRAME, npartitions=2)[["age", "age", "paid"]]
    with pytest.raises(InputError, match="two columns of the Dask frame are called 'age'; rename one"):
        NaiveBayes().fit(frame, "paid")


def test_arrays_and_bags_of_dask_are_no_frames() -> None:
    array = dd.from_pandas(FRAME[["age", "size"]], npartitions=2).to_dask_array(lengths=True)
    with pytest.raises(KindError, match="a Dask Array is no table; give the DataFrame to fit"):
        NaiveBayes().fit(array, FRAME["paid"])


def test_dates_that_are_set_aside_are_no_trouble() -> None:
    dated = FRAME.assign(day=pd.Timestamp("2020-01-01"))
    model = NaiveBayes(columns={"day": "ignore"}).fit(dd.from_pandas(dated, npartitions=2), "paid")
    assert model.tally_ == NaiveBayes().fit(FRAME, "paid").tally_
    assert str(audit(model, dd.from_pandas(dated, npartitions=2), "paid", protected="town")) == str(
        audit(model, dated, "paid", protected="town")
    )
    with pytest.warns(UserWarning, match="ignored: 'day'"):
        assert NaiveBayes().fit(dd.from_pandas(dated, npartitions=2), "paid").tally_ == model.tally_
