"""The same rows in a file of SQLite, in one of DuckDB and on a PostgreSQL server of the tests' own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests import postgres
from tests.cli.people import people

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("adbc_driver_postgresql")


@dataclass(frozen=True)
class Shop:
    """A database with the table `people`: its URL, and what runs a statement there and gives its rows."""

    kind: str
    url: str
    run: Callable[[str], list[Any]]

    def tables(self) -> list[str]:
        """The names of its tables."""
        own = {
            "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1",
            "duckdb": "SELECT table_name FROM information_schema.tables ORDER BY 1",
            "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname IN ('public', 'other') ORDER BY 1",
        }
        return [row[0] for row in self.run(own[self.kind])]


def _records(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(None if pd.isna(value) else value for value in row) for row in frame.itertuples(index=False)]


_COLUMNS = "key text, age double precision, town text, smoker text, said text, outcome text"


def run_sqlite(path: Path) -> Callable[[str], list[Any]]:
    def run(sql: str) -> list[Any]:
        connection = sqlite3.connect(path)
        try:
            with connection:
                return connection.execute(sql).fetchall()
        finally:
            connection.close()

    return run


def run_duckdb(path: Path) -> Callable[[str], list[Any]]:
    def run(sql: str) -> list[Any]:
        with duckdb.connect(str(path)) as connection:
            return connection.execute(sql).fetchall()

    return run


def run_postgres(url: str) -> Callable[[str], list[Any]]:
    from adbc_driver_postgresql import dbapi

    def run(sql: str) -> list[Any]:
        with dbapi.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []

    return run


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    with postgres.server() as found:
        yield found


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    """A database that is new for each test."""
    if request.param == "sqlite":
        path = tmp_path / "shop.db"
        found = Shop("sqlite", f"sqlite:///{path}", run_sqlite(path))
        found.run(f"CREATE TABLE people ({_COLUMNS})")
        with sqlite3.connect(path) as connection:
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", _records(people()))
        connection.close()
        return found
    if request.param == "duckdb":
        path = tmp_path / "shop.duckdb"
        found = Shop("duckdb", str(path), run_duckdb(path))
        found.run(f"CREATE TABLE people ({_COLUMNS})")
        with duckdb.connect(str(path)) as connection:
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", _records(people()))
        return found
    running: postgres.Server = request.getfixturevalue("server")
    running.run("DROP SCHEMA public CASCADE; DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA public")
    rows = ", ".join(
        "(" + ", ".join("NULL" if value is None else f"'{value}'" for value in row) + ")" for row in _records(people())
    )
    running.run(f"CREATE TABLE people ({_COLUMNS}); INSERT INTO people VALUES {rows}")
    return Shop("postgresql", running.url(), run_postgres(running.url()))
