"""Real clusters: worker processes of Dask, and a Spark whose executors are processes of their own."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def dask_cluster() -> Iterator[Any]:
    """Two worker processes, as long as the tests run."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


@pytest.fixture(scope="session")
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
