"""Databases that run what is written for them: DuckDB, SQLite, a PostgreSQL server of the test's own, and Spark."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests import postgres

Rows = Sequence[Mapping[str, Any]]
NAMES = ["duckdb", "sqlite", "postgres", "spark"]


class Database(ABC):
    """A database with tables of rows."""

    name: str

    @abstractmethod
    def put(self, table: str, rows: pa.Table) -> None:
        """Make a table, in place of one of the same name."""

    def store(self, table: str, rows: pa.Table) -> None:
        """Make a table that views may read."""
        self.put(table, rows)

    @abstractmethod
    def ask(self, query: str) -> pa.Table:
        """What a query answers."""

    @abstractmethod
    def run(self, statement: str) -> None:
        """Run a statement that answers nothing."""


class DuckDB(Database):
    """In memory, by two threads."""

    name = "duckdb"

    def __init__(self) -> None:
        self.connection = pytest.importorskip("duckdb").connect()
        self.connection.execute("SET threads = 2")

    def put(self, table: str, rows: pa.Table) -> None:
        self.connection.register("given", rows)
        self.connection.execute(f"CREATE OR REPLACE TABLE {quoted(table)} AS SELECT * FROM given")
        self.connection.unregister("given")

    def ask(self, query: str) -> pa.Table:
        return self.connection.sql(query).to_arrow_table()

    def run(self, statement: str) -> None:
        self.connection.execute(statement)


class SQLite(Database):
    """In memory, by the standard library."""

    name = "sqlite"

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")

    def put(self, table: str, rows: pa.Table) -> None:
        types = {"double": "REAL", "string": "TEXT", "large_string": "TEXT", "int64": "INTEGER", "bool": "INTEGER"}
        columns = ", ".join(f"{quoted(each.name)} {types[str(each.type)]}" for each in rows.schema)
        self.connection.execute(f"DROP TABLE IF EXISTS {quoted(table)}")
        self.connection.execute(f"CREATE TABLE {quoted(table)} ({columns})")
        marks = ", ".join("?" * rows.num_columns)
        cells = zip(*(column.to_pylist() for column in rows.columns))
        self.connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", cells)

    def ask(self, query: str) -> pa.Table:
        found = self.connection.execute(query)
        names = [each[0] for each in found.description]
        return pa.table([pa.array(list(column)) for column in zip(*found.fetchall())], names)

    def run(self, statement: str) -> None:
        self.connection.executescript(statement)


class PostgreSQL(Database):
    """Over a socket, by its driver for Arrow."""

    name = "postgres"

    def __init__(self, server: postgres.Server) -> None:
        driver = pytest.importorskip("adbc_driver_postgresql.dbapi")
        self.connection = driver.connect(server.url(), autocommit=True)

    def put(self, table: str, rows: pa.Table) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {quoted(table)} CASCADE")
            cursor.adbc_ingest(table, rows, mode="create")

    def ask(self, query: str) -> pa.Table:
        with self.connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetch_arrow_table()

    def run(self, statement: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(statement)


class Spark(Database):
    """In this process, by two threads."""

    name = "spark"

    def __init__(self, session: Any) -> None:
        self.session = session

    def put(self, table: str, rows: pa.Table) -> None:
        self.session.createDataFrame(rows).createOrReplaceTempView(table)

    def store(self, table: str, rows: pa.Table) -> None:
        self.session.catalog.dropTempView(table)
        self.session.sql(f"DROP TABLE IF EXISTS {table}")
        # Of the files that tables are kept in, some formats have no column names with a space.
        frame = self.session.createDataFrame(rows)
        frame.write.mode("overwrite").option("delta.columnMapping.mode", "name").saveAsTable(table)

    def ask(self, query: str) -> pa.Table:
        return self.session.sql(query).toArrow()

    def run(self, statement: str) -> None:
        self.session.sql(statement)


@contextmanager
def spark_session(folder: Path) -> Iterator[Any]:
    """A session; a skipped test where there is no Java."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or later, and there is no Java here")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local[2]").appName("tests of SQL")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder),
        # Compiling a query takes a minute, where there is little to compute.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
        yield session
        session.stop()


@contextmanager
def database(name: str, folder: Path) -> Iterator[Database]:
    """A database by its name; a skipped test where it is not installed."""
    if name == "postgres":
        with postgres.server() as server:
            yield PostgreSQL(server)
    elif name == "spark":
        with spark_session(folder) as session:
            yield Spark(session)
    else:
        yield {"duckdb": DuckDB, "sqlite": SQLite}[name]()


def quoted(name: str) -> str:
    """A name as DuckDB, SQLite and PostgreSQL have it."""
    return '"' + name.replace('"', '""') + '"'


def arrow_of(rows: Rows, numbers: Sequence[str], others: Sequence[str]) -> pa.Table:
    """Rows as a table with an id: columns of doubles, of which every second missing one is NaN, and of texts."""
    nothing = [None if i % 2 else float("nan") for i in range(len(rows))]
    columns: dict[str, Any] = {"id": pa.array(range(len(rows)), pa.int64())}
    for name in numbers:
        values = [nothing[i] if row.get(name) is None else row[name] for i, row in enumerate(rows)]
        columns[name] = pa.array(values, pa.float64(), from_pandas=False)
    for name in others:
        columns[name] = pa.array([None if row.get(name) is None else str(row[name]) for row in rows], pa.string())
    return pa.table(columns)


def by_id(found: pa.Table) -> dict[str, np.ndarray[Any, Any]]:
    """The columns of an answer, in the order of the ids."""
    order = np.argsort(found.column("id").to_numpy())
    return {name: found.column(name).to_numpy(zero_copy_only=False)[order] for name in found.column_names}
