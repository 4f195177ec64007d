"""On Spark the model is the same, bit for bit: any partitions, two executors, and one that is killed on the way."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.engines.rows_in_parts import mixed

from ingenuo.errors import EngineError, InputError, KindError
from ingenuo.evaluation.evaluation import evaluate
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows.engines import Files
from ingenuo.rows.files.scan import scan

pytest.importorskip("pyspark")

from ingenuo.rows.spark import read

FRAME = mixed().drop(columns="times")
SCHEMA = "size double, age double, town string, note string, paid string"
DECLARED = {"town": "category", "note": "text"}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session with two executors, each in a process of its own."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or later, and there is no Java here")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("tests")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.executor.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
    }.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="module")
def whole() -> NaiveBayes:
    return NaiveBayes().fit(FRAME, "paid")


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    return spark.createDataFrame(pa.Table.from_pandas(FRAME, preserve_index=False))


def test_any_partitions_give_the_same_model(frame: Any, whole: NaiveBayes) -> None:
    few = NaiveBayes().fit(frame.coalesce(2), frame["paid"])
    assert few.tally_ == whole.tally_
    assert few.schema_ == whole.schema_
    many = NaiveBayes(columns=DECLARED).fit(frame.repartition(40), "paid")  # so many that executors merge
    assert many.tally_ == whole.tally_


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the process of an executor is found through /proc")
def test_an_executor_that_is_killed_on_the_way_changes_nothing(spark: Any, whole: NaiveBayes, tmp_path: Path) -> None:
    table, mark = pa.Table.from_pandas(FRAME, preserve_index=False), str(tmp_path / "killed")

    def made(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:  # here, for executors lack these tests
        for batch in batches:
            for number in batch.column(0).to_pylist():
                if number == 5 and not Path(mark).exists():
                    Path(mark).write_text("killed")
                    daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
                    os.kill(int(daemon.rpartition(")")[2].split()[1]), signal.SIGKILL)  # the executor's own process
                    time.sleep(60)
                yield from table.slice(number * 75, 75).combine_chunks().to_batches()

    frame = spark.range(0, 8, 1, 8).mapInArrow(made, SCHEMA)
    found = NaiveBayes(columns=DECLARED).fit(frame, "paid")
    assert Path(mark).exists()
    assert found.tally_ == whole.tally_


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_are_read_by_the_executors(spark: Any, tmp_path: Path, form: str) -> None:
    for number, at in enumerate(range(0, len(FRAME), 300)):
        part = FRAME[at : at + 300].assign(key=[f"k{row}" for row in range(at, at + 300)])
        if form == "parquet":
            part.to_parquet(tmp_path / f"{number}.parquet", index=False)
        else:
            part.to_csv(tmp_path / f"{number}.csv", index=False, **({"sep": ";", "decimal": ","} if number else {}))
    rows = scan(tmp_path, target="paid")
    here, there = NaiveBayes().fit(rows, "paid"), NaiveBayes().fit(Files(rows, partial(read, session=spark)), "paid")
    assert there.tally_ == here.tally_
    assert there.schema_ == here.schema_


def test_answers_are_a_frame_that_is_not_yet_computed(frame: Any, whole: NaiveBayes) -> None:
    answered = whole.predict(frame)
    assert type(answered) is type(frame)
    assert answered.columns == [*FRAME.columns, "predicted", "probability", "P(no)", "P(yes)"]
    found = answered.toArrow().to_pandas()
    assert found["predicted"].tolist() == whole.predict(FRAME).tolist()
    assert found[["P(no)", "P(yes)"]].to_numpy().tolist() == whole.predict_proba(FRAME).tolist()


def test_evaluations_are_sums_as_well(frame: Any, whole: NaiveBayes) -> None:
    assert evaluate(whole, frame, "paid") == evaluate(whole, FRAME, "paid", keep_rows=False)


def test_bad_input_is_told_in_one_sentence(frame: Any) -> None:
    with pytest.raises(InputError, match=r"the Spark frame has no column 'pad'; did you mean 'paid'"):
        NaiveBayes().fit(frame, "pad")
    from pyspark.sql import functions

    with pytest.raises(InputError, match=r"y is no column of the Spark frame"):
        NaiveBayes().fit(frame, functions.col("nothing"))
    with pytest.raises(KindError, match="a Column, not list"):
        NaiveBayes().fit(frame, ["yes"])
    with pytest.raises(InputError, match=r"partition \d+: .*NaN|missing|has no class|contains"):
        NaiveBayes(columns={"note": "text", "paid": "category"}).fit(frame, "town")


def test_dates_that_are_set_aside_are_no_trouble(frame: Any, whole: NaiveBayes) -> None:
    from pyspark.sql import functions

    dated = frame.withColumn("day", functions.current_timestamp())
    found = NaiveBayes(columns={**DECLARED, "day": "ignore"}).fit(dated, "paid")
    assert found.tally_ == whole.tally_
    assert found.predict(dated).count() == len(FRAME)


def test_a_failure_of_spark_itself_is_told(spark: Any) -> None:
    from pyspark.sql import functions

    broken = spark.range(4).select(
        functions.raise_error(functions.lit("the disk is gone")).cast("double").alias("x"),
        functions.lit("a").alias("y"),
    )
    with pytest.raises(EngineError, match=r"Spark could not do the work \(.*the disk is gone.*nothing was learned"):
        NaiveBayes().fit(broken, "y")
