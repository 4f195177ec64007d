"""Rows of a query are learned and answered as the same rows of a file are."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from tests import postgres
from tests.cli.people import people, write
from tests.databases.conftest import Shop, run_duckdb, run_postgres, run_sqlite

import ingenuo as ing
from ingenuo.cli import main
from ingenuo.errors import InputError
from ingenuo.rows import database

ALL = "SELECT * FROM people"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, list(arguments))


def done(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def test_a_model_of_a_query_is_the_one_of_the_rows(shop: Shop, tmp_path: Path) -> None:
    ours = ing.NaiveBayes(tune=True).fit(ing.scan(ALL, database=shop.url), "outcome")
    theirs = ing.NaiveBayes(tune=True).fit(ing.scan(write(tmp_path)), "outcome")
    np.testing.assert_array_equal(ours.predict_proba(people()), theirs.predict_proba(people()))


def test_a_query_is_read_into_memory_as_a_file_is(shop: Shop) -> None:
    X, y = ing.read(f"{ALL} -- all of them", "outcome", database=shop.url)
    assert X.column_names == ["key", "age", "town", "smoker", "said"]
    assert y.to_pylist() == people()["outcome"].tolist()
    assert X.column("age").null_count == people()["age"].isna().sum() > 0


def test_columns_are_what_is_declared(shop: Shop) -> None:
    found = ing.scan(ALL, database=shop.url, target="outcome", columns={"town": "ignore", "key": "category"})
    assert found.kinds["town"] == ("ignore", "declared")
    assert found.kinds["key"] == ("category", "declared")
    assert found.kinds["age"] == ("number", "numbers")
    with pytest.raises(InputError, match="has no column 'twon'; did you mean 'town'"):
        ing.scan(ALL, database=shop.url, columns={"twon": "ignore"})


def test_every_command_that_reads_rows_reads_a_query(shop: Shop, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    people().to_parquet("people.parquet")
    here = ["--database", shop.url]
    done("train", ALL, *here, "--target", "outcome", "--model", "naive-bayes", "-o", "a.ingenuo", "--folds", "3")
    done("train", "people.parquet", "--target", "outcome", "--model", "naive-bayes", "-o", "b.ingenuo")
    assert ing.load("a.ingenuo").tally_ == ing.load("b.ingenuo").tally_
    for command, more in {
        "predict": (),
        "evaluate": (),
        "explain": ("--rows", "3,7"),
        "audit": ("--protected", "town", "--class", "ill"),
    }.items():
        ours, theirs = (done(command, "b.ingenuo", *rows, *more) for rows in ([ALL, *here], ["people.parquet"]))
        assert ours == theirs, command
    assert "correct" in done("report", "a.ingenuo", ALL, *here, "-o", "-")
    for command in (
        ["select"],
        ["compare", "--model", "naive-bayes", "--model", "naive-bayes:class_prior=uniform", "--no-times"],
    ):
        ours, theirs = (done(*command, *rows, "--target", "outcome") for rows in ([ALL, *here], ["people.parquet"]))
        assert ours == theirs
    some = f"{ALL} WHERE town = 'Bari'"
    done("update", "a.ingenuo", some, *here)
    assert ing.load("a.ingenuo").tally_ != ing.load("b.ingenuo").tally_
    done("forget", "a.ingenuo", some, *here, "--force")
    assert ing.load("a.ingenuo").tally_ == ing.load("b.ingenuo").tally_


def test_a_query_is_run_once_however_often_its_rows_are_needed(shop: Shop, monkeypatch: Any) -> None:
    ran = []
    for kind in (database.SQLite, database.DuckDB, database.PostgreSQL):
        read = kind.read

        def note(self: Any, query: str, read: Any = read) -> Iterator[Any]:
            ran.append(query)
            yield from read(self, query)

        monkeypatch.setattr(kind, "read", note)
    model = ing.NaiveBayes(tune=True, calibration="auto")
    model.fit(ing.scan(ALL, database=shop.url), "outcome")
    assert ran == [ALL]


MANY = {
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199999) SELECT i FROM n",
    "duckdb": "SELECT i FROM range(200000) n(i)",
    "postgresql": "SELECT i FROM generate_series(0, 199999) n(i)",
}


@pytest.mark.parametrize("held", [1 << 10, 1 << 26])
def test_rows_come_in_batches_and_come_again_in_their_order(shop: Shop, monkeypatch: Any, held: int) -> None:
    monkeypatch.setattr(database, "_HELD", held)
    query = f"SELECT i, i % 3 AS c FROM ({MANY[shop.kind]}) AS m"
    found = ing.scan(query, database=shop.url, columns={"i": "number"})
    half = found.batches()
    sizes = [next(half).num_rows, next(half).num_rows]
    del half
    assert max(sizes) <= database._ROWS
    for _ in range(2):
        assert np.array_equal(pa.concat_tables(found.batches()).column("i"), np.arange(200_000))


def test_what_is_read_once_is_not_kept(shop: Shop) -> None:
    rows = ing.scan(database.Query(MANY[shop.kind], shop.url, once=True), database=shop.url, columns={"i": "number"})
    assert sum(batch.num_rows for batch in rows.batches()) == 200_000
    with pytest.raises(InputError, match="the rows were not kept, and can be read once only"):
        list(rows.batches())


# Types.


def test_types_of_a_server(server: postgres.Server) -> None:
    server.run("DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('sad', 'glad')")
    query = """SELECT i::smallint AS small, (i + 0.5)::numeric AS exact, 'x'::char(5) AS padded, i % 2 = 0 AS even,
        CASE WHEN i % 2 = 0 THEN 'sad'::mood ELSE 'glad' END AS mood, now() AS at, '{}'::jsonb AS json,
        '75ddaccc-5563-44ff-bee9-1be001fcbd88'::uuid AS uuid, '10.0.0.1'::inet AS address, array[1, 2] AS list,
        CASE WHEN i = 3 THEN 'NaN' WHEN i = 4 THEN '-Infinity' ELSE '1.25' END::numeric AS odd
        FROM generate_series(0, 9) n(i)"""
    found = ing.scan(query, database=server.url(), keep_all=True)
    assert {name: kind for name, (kind, _) in found.kinds.items()} == {
        **dict.fromkeys(["small", "exact", "odd"], "number"),
        **dict.fromkeys(["padded", "even", "mood", "json", "uuid"], "category"),
        **dict.fromkeys(["at", "address", "list"], "ignore"),
    }
    assert found.kinds["address"][1] == "inet values; cast them in the query to have them"
    table = found.table()
    assert table.column("exact").to_pylist() == [i + 0.5 for i in range(10)]
    assert set(table.column("padded").to_pylist()) == {"x"}
    assert table.column("uuid").to_pylist()[0] == "75ddaccc-5563-44ff-bee9-1be001fcbd88"
    odd = table.column("odd").to_numpy()
    assert np.isnan(odd[3])
    assert odd[4] == -np.inf
    assert odd[0] == 1.25


def test_types_of_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    run_duckdb(path)("SELECT 1")
    query = """SELECT (i * 1.25)::DECIMAL(10, 2) AS exact, (i % 2)::VARCHAR::ENUM('0', '1') AS coded, i % 2 = 0 AS even,
        current_timestamp AS at, [i] AS list, sum(i) OVER () AS huge FROM range(10) n(i)"""
    found = ing.scan(query, database=str(path))
    assert {name: kind for name, (kind, _) in found.kinds.items()} == {
        **dict.fromkeys(["exact", "huge"], "number"),
        **dict.fromkeys(["coded", "even"], "category"),
        **dict.fromkeys(["at", "list"], "ignore"),
    }
    assert found.table().column("exact").to_pylist()[1] == 1.25


def test_a_column_of_sqlite_may_begin_with_missing_values_and_whole_numbers(tmp_path: Path) -> None:
    path = tmp_path / "sparse.db"
    do = run_sqlite(path)
    do("CREATE TABLE t (i INTEGER, late, word, half REAL)")
    many = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49999) "
    do(
        f"INSERT INTO t {many} SELECT i, CASE WHEN i < 40000 THEN i % 5 ELSE 0.5 END, "
        "CASE WHEN i < 2000 THEN NULL WHEN i % 2 = 0 THEN 'a' ELSE 'b' END, i / 2.0 FROM n"
    )
    table = ing.scan("SELECT * FROM t", database=str(path), columns={"i": "number"}).table()
    assert table.column("late").to_pylist()[39_998:40_002] == [3, 4, 0.5, 0.5]
    assert table.column("word").to_pylist()[1_998:2_002] == [None, None, "a", "b"]
    assert table.column("half").to_pylist()[:3] == [0, 0.5, 1]
    mixed = ing.scan("SELECT CASE WHEN i % 2 THEN i ELSE 'w' || (i % 3) END AS m FROM t LIMIT 10", database=str(path))
    assert mixed.table().column("m").to_pylist() == ["w0", "1", "w2", "3", "w1", "5", "w0", "7", "w2", "9"]


# A table that is written back.


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model") / "m.ingenuo"
    ing.save(ing.NaiveBayes().fit(people(), "outcome"), path)
    return str(path)


def test_answers_are_written_to_a_table(shop: Shop, model: str) -> None:
    result = run("predict", model, ALL, "--database", shop.url, "--into", "answers")
    assert result.exit_code == 0, result.output
    assert "written to table answers (240 rows)" in result.stderr
    assert shop.tables() == ["answers", "people"]
    columns = ("key", "age", "town", "smoker", "said", "outcome", "predicted", "probability")
    rows = shop.run(f"SELECT {', '.join(columns)} FROM answers ORDER BY key")
    loaded = ing.load(model)
    assert [row[:6] for row in rows] == [tuple(row) for row in shop.run(f"{ALL} ORDER BY key")]
    assert [row[6] for row in rows] == loaded.predict(people()).tolist()
    assert [row[7] for row in rows] == loaded.predict_proba(people()).max(axis=1).tolist()


def test_answers_alone_are_a_table_too(shop: Shop, model: str) -> None:
    done("predict", model, ALL, "--database", shop.url, "--into", "answers", "--only", "--all")
    found = shop.run('SELECT "P(ill)", "P(well)" FROM answers')
    np.testing.assert_array_equal(found, ing.load(model).predict_proba(people()))


def test_a_query_without_rows_makes_a_table_without_rows(shop: Shop, model: str) -> None:
    done("predict", model, f"{ALL} WHERE age > 1000", "--database", shop.url, "--into", "answers")
    assert shop.run("SELECT predicted FROM answers") == []


def test_a_table_that_is_there_is_replaced_only_if_asked(shop: Shop, model: str) -> None:
    shop.run("CREATE TABLE answers (x int)")
    refused = run("predict", model, ALL, "--database", shop.url, "--into", "answers")
    assert refused.exit_code == 1
    assert "there is a table answers already; replace it (--replace), or name another" in refused.stderr
    assert shop.run("SELECT x FROM answers") == []
    done("predict", model, ALL, "--database", shop.url, "--into", "answers", "--replace")
    assert len(shop.run("SELECT predicted FROM answers")) == 240
    assert shop.tables() == ["answers", "people"]


def test_the_table_that_is_read_may_be_replaced(shop: Shop, model: str) -> None:
    done("predict", model, ALL, "--database", shop.url, "--into", "people", "--replace")
    assert shop.tables() == ["people"]
    assert len(shop.run("SELECT predicted FROM people")) == 240


@pytest.mark.parametrize(("typed", "named"), [('"My ""odd"" table"', 'My "odd" table'), ("Answers", "answers")])
def test_a_table_is_named_as_in_sql(shop: Shop, model: str, typed: str, named: str) -> None:
    done("predict", model, ALL, "--database", shop.url, "--into", typed)
    assert named in [name if shop.kind == "postgresql" or typed[0] == '"' else name.lower() for name in shop.tables()]
    assert shop.run(f"SELECT count(*) FROM {typed}") == [(240,)]


def test_a_table_may_have_a_schema(shop: Shop, model: str) -> None:
    schema = "main" if shop.kind == "sqlite" else "other"
    if schema == "other":
        shop.run("CREATE SCHEMA other")
    for more in ((), ("--replace",)):
        done("predict", model, ALL, "--database", shop.url, "--into", f"{schema}.answers", *more)
        assert shop.run(f"SELECT count(*) FROM {schema}.answers") == [(240,)]


def test_views_of_a_replaced_table_of_sqlite_stay(tmp_path: Path, model: str) -> None:
    path = tmp_path / "v.db"
    do = run_sqlite(path)
    do("CREATE TABLE t AS SELECT 40.0 AS age, 'Bari' AS town, 'true' AS smoker, 'k' AS key, 'weak' AS said")
    do("CREATE VIEW v AS SELECT age FROM t")
    done("predict", model, "SELECT * FROM t", "--database", str(path), "--into", "t", "--replace")
    assert do("SELECT age FROM v") == [(40.0,)]


def test_dates_lists_and_booleans_are_carried_along(shop: Shop, model: str) -> None:
    extra = {"sqlite": "'2020-01-02'", "duckdb": "DATE '2020-01-02'", "postgresql": "DATE '2020-01-02'"}[shop.kind]
    query = f"SELECT p.*, {extra} AS day, age > 40 AS over40, 1 AS one FROM people p"
    done("predict", model, query, "--database", shop.url, "--into", "answers")
    day, over, one = shop.run("SELECT day, over40, one FROM answers WHERE age > 40")[0]
    assert str(day) == "2020-01-02"
    assert over in (True, 1)
    assert one == 1
    if shop.kind != "sqlite":
        assert day == datetime.date(2020, 1, 2)


# Whole or not at all.


class _Stop(BaseException):
    pass


@pytest.mark.parametrize("more", [(), ("--replace",)])
@pytest.mark.parametrize("error", [KeyboardInterrupt, InputError, _Stop])
def test_a_table_is_written_whole_or_not_at_all(
    shop: Shop, model: str, monkeypatch: Any, error: type[BaseException], more: tuple[str, ...]
) -> None:
    from ingenuo.cli.work.answer import Answers

    tables = Answers.tables

    def broken(self: Any, *rest: Any) -> Iterator[Any]:
        yield from tables(self, *rest)
        raise error("it ends here")

    if more:
        shop.run("CREATE TABLE answers AS SELECT 7 AS x")
    before = shop.tables()
    monkeypatch.setattr(Answers, "tables", broken)
    arguments = ["predict", model, ALL, "--database", shop.url, "--into", "answers", *more]
    try:
        result = run(*arguments)
    except _Stop:
        pass
    else:
        assert result.exit_code != 0
    assert shop.tables() == before
    if more:
        assert shop.run("SELECT x FROM answers") == [(7,)]


KILLED = """
import os, sys
import pyarrow as pa
from ingenuo.rows.database import locate

def tables():
    for _ in range(3):
        yield pa.table({"x": list(range(50_000))})
    os._exit(9)

locate(sys.argv[1]).write(tables(), "answers", replace=sys.argv[2] == "replace")
"""


@pytest.mark.parametrize("replace", ["new", "replace"])
def test_a_process_that_is_killed_leaves_no_table(shop: Shop, replace: str) -> None:
    import subprocess
    import sys
    import time

    done = subprocess.run([sys.executable, "-c", KILLED, shop.url, replace], capture_output=True, text=True)
    assert done.returncode == 9, done.stderr
    time.sleep(0.1)  # until the server has seen that nobody is there
    assert shop.tables() == ["people"]


def test_a_server_runs_no_query_that_writes(server: postgres.Server) -> None:
    do = run_postgres(server.url())
    do("DROP TABLE IF EXISTS kept; ")
    do("CREATE TABLE kept AS SELECT 1 AS x")
    with pytest.raises(InputError, match="in a read-only transaction"):
        ing.scan("WITH gone AS (DELETE FROM kept RETURNING x) SELECT * FROM gone", database=server.url())
    assert do("SELECT x FROM kept") == [(1,)]
