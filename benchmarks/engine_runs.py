"""One training on one engine, in a process of its own: ``python -m benchmarks.engine_runs WHAT FOLDER WARM``.

It prints JSON: the seconds of the fit in a session that has been warmed by the small folder WARM, the seconds until
then, the peak of resident memory of this process, and of ours a digest and the size of the tally.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

CLASS = "class"
NUMBERS = [f"n{j}" for j in range(10)]
CATEGORIES = [f"c{j}" for j in range(10)]
WORKERS = 2

Fit = Callable[[str], Any]  # of a folder


def _model(columns: list[str] | None = None) -> Any:
    from ingenuo.models.naive_bayes import NaiveBayes

    return NaiveBayes(columns=dict.fromkeys(NUMBERS, "number") if columns else None)


@contextmanager
def local() -> Iterator[Fit]:
    """Our own engine: files read a batch at a time."""
    from ingenuo.rows.files.scan import scan

    yield lambda folder: _model().fit(scan(folder, target=CLASS), CLASS)


@contextmanager
def _on(engine: str, address: str | None) -> Iterator[Fit]:
    from ingenuo.rows.engines import open_engine
    from ingenuo.rows.files.scan import scan

    with open_engine(engine, address) as found:
        yield lambda folder: _model().fit(found(scan(folder, target=CLASS)), CLASS)


@contextmanager
def dask_cluster() -> Iterator[Any]:
    """Two worker processes."""
    import distributed

    own = distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with own as cluster, distributed.Client(cluster):
        yield cluster


@contextmanager
def dask() -> Iterator[Fit]:
    """Files read by two Dask workers."""
    with dask_cluster() as cluster, _on("dask", cluster.scheduler_address) as fit:
        yield fit


@contextmanager
def spark() -> Iterator[Fit]:
    """Files read by Spark's Python workers."""
    with _on("spark", f"local[{WORKERS}]") as fit:
        yield fit


@contextmanager
def spark_session() -> Iterator[Any]:
    """A session on this machine, with enough memory for the peers."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{WORKERS}]").config("spark.driver.memory", "6g")
    for name, value in (
        ("spark.ui.enabled", "false"),
        ("spark.ui.showConsoleProgress", "false"),
        ("spark.log.level", "ERROR"),
    ):
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def spark_frame() -> Iterator[Fit]:
    """A Spark frame: Spark reads, and hands batches to Python."""
    with spark_session() as session:
        yield lambda folder: _model().fit(session.read.parquet(folder), CLASS)


@contextmanager
def dask_frame() -> Iterator[Fit]:
    """A Dask frame: Dask reads, into pandas."""
    import dask.dataframe as dd

    with dask_cluster():
        yield lambda folder: _model().fit(dd.read_parquet(folder), CLASS)


@contextmanager
def spark_numbers() -> Iterator[Fit]:
    """A Spark frame of the numbers alone."""
    with spark_session() as session:
        yield lambda folder: _model(NUMBERS).fit(session.read.parquet(folder).select(*NUMBERS, CLASS), CLASS)


@contextmanager
def _numbers_on(engine: str, address: str | None) -> Iterator[Fit]:
    from ingenuo.rows.engines import open_engine
    from ingenuo.rows.files.scan import scan

    with open_engine(engine, address) as found:

        def fit(folder: str) -> Any:
            rows = scan(folder, target=CLASS, columns=dict.fromkeys(NUMBERS, "number"), only=True)
            return _model().fit(found(rows), CLASS)

        yield fit


@contextmanager
def spark_numbers_of_files() -> Iterator[Fit]:
    """The numbers of files that Spark's Python workers read."""
    with _numbers_on("spark", f"local[{WORKERS}]") as fit:
        yield fit


@contextmanager
def dask_numbers_of_files() -> Iterator[Fit]:
    """The numbers of files that two Dask workers read."""
    with dask_cluster() as cluster, _numbers_on("dask", cluster.scheduler_address) as fit:
        yield fit


@contextmanager
def mllib() -> Iterator[Fit]:
    """Spark MLlib's Gaussian naive Bayes of the numbers, which it takes as one column of vectors."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import StringIndexer, VectorAssembler

    with spark_session() as session:

        def fit(folder: str) -> Any:
            stages = [
                StringIndexer(inputCol=CLASS, outputCol="label"),
                VectorAssembler(inputCols=NUMBERS, outputCol="features"),
                NaiveBayes(modelType="gaussian"),
            ]
            return Pipeline(stages=stages).fit(session.read.parquet(folder).select(*NUMBERS, CLASS))

        yield fit


@contextmanager
def mllib_mixed() -> Iterator[Fit]:
    """The nearest to mixed columns that MLlib has: categories as 0 and 1 beside the numbers, all of them Gaussian."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import OneHotEncoder, StringIndexer, VectorAssembler

    with spark_session() as session:

        def fit(folder: str) -> Any:
            codes = [f"{name}_code" for name in CATEGORIES]
            bits = [f"{name}_bits" for name in CATEGORIES]
            stages = [
                StringIndexer(inputCol=CLASS, outputCol="label"),
                StringIndexer(inputCols=CATEGORIES, outputCols=codes, handleInvalid="keep"),
                OneHotEncoder(inputCols=codes, outputCols=bits),
                VectorAssembler(inputCols=[*NUMBERS, *bits], outputCol="features"),
                NaiveBayes(modelType="gaussian"),
            ]
            return Pipeline(stages=stages).fit(session.read.parquet(folder))

        yield fit


@contextmanager
def dask_numbers() -> Iterator[Fit]:
    """A Dask frame of the numbers alone."""
    import dask.dataframe as dd

    with dask_cluster():
        yield lambda folder: _model(NUMBERS).fit(dd.read_parquet(folder, columns=[*NUMBERS, CLASS]), CLASS)


@contextmanager
def dask_ml() -> Iterator[Fit]:
    """dask-ml's Gaussian naive Bayes of the numbers, as arrays of known lengths."""
    import dask
    import dask.dataframe as dd
    from dask_ml.naive_bayes import GaussianNB

    with dask_cluster():

        def fit(folder: str) -> Any:
            frame = dd.read_parquet(folder, columns=[*NUMBERS, CLASS]).persist()  # so that X and y have the same parts
            X = frame[NUMBERS].to_dask_array(lengths=True)
            y = frame[CLASS].astype(object).to_dask_array(lengths=True)
            found = GaussianNB(classes=sorted(frame[CLASS].unique().compute().tolist())).fit(X, y)
            return dask.compute(found.theta_, found.sigma_ if hasattr(found, "sigma_") else found.var_)

        yield fit


_OURS = (local, dask, spark, dask_frame, spark_frame, spark_numbers, dask_numbers)
_PEERS_AND_OURS = (*_OURS, spark_numbers_of_files, dask_numbers_of_files, mllib, mllib_mixed, dask_ml)
RUNS: dict[str, Callable[[], Any]] = {each.__name__: each for each in _PEERS_AND_OURS}


def main(arguments: list[str]) -> int:
    """Warm, fit, print."""
    what, folder, warm = arguments
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    with RUNS[what]() as fit:
        fit(warm)
        ready = time.perf_counter()
        found = fit(folder)
        seconds = time.perf_counter() - ready
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    said: dict[str, Any] = {"seconds": seconds, "start": ready - began, "peak": peak}
    if hasattr(found, "tally_"):
        from ingenuo.store import to_bytes

        tally = to_bytes(found.tally_)
        said |= {"digest": hashlib.sha256(tally).hexdigest(), "bytes": len(tally)}
    print(json.dumps(said))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
