"""What goes wrong with a database is said in one sentence; a password is in no sentence, no model and no page."""

from __future__ import annotations

import builtins
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest
from click.testing import CliRunner
from tests import postgres
from tests.cli.people import people
from tests.databases.conftest import Shop, run_sqlite

import ingenuo as ing
from ingenuo.cli import main
from ingenuo.errors import InputError, MissingFileError
from ingenuo.rows.database import Query, locate, without_password

ALL = "SELECT * FROM people"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, list(arguments))


def said(*arguments: str) -> str:
    """The one line of an error."""
    result = run(*arguments)
    assert result.exit_code in (1, 2), result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1
    return lines[0].removeprefix("Error: ")


SPECIAL = "/ # ? @"


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://ana:hidden@host/shop", "there is no reading of mysql:// databases; give postgresql://USER@HOST/NAME"),
        ("host=/tmp password=hidden", "this is no URL of a database; give postgresql://USER@HOST/NAME"),
        ("$NOT_SET", "the URL of the database names $NOT_SET, and the environment has no NOT_SET; set it"),
        ("postgresql://ana:$NOT_SET@host/shop", "names $NOT_SET, and the environment has no NOT_SET"),
        *((f"postgresql://ana:hid{each}den@host/shop", f"has one of {SPECIAL} before its last @") for each in "/#?@"),
        ("POSTGRESQL://ana:hid/den@host/shop", f"has one of {SPECIAL} before its last @"),
        ("postgresql://ana:hidden@[::1/shop", "the URL of the database cannot be read (Invalid IPv6 URL)"),
        ("postgresql:/ana:hidden@host/shop", "this is no URL of a database; give postgresql://USER@HOST/NAME"),
        ("ana:hidden@host/shop", "this is no URL of a database; give postgresql://USER@HOST/NAME"),
        ("duckdb:///shop.duckdb?password=hidden", "this is no URL of a database; give postgresql://USER@HOST/NAME"),
    ],
)
def test_urls_that_are_none(url: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        locate(url)
    assert sentence in str(caught.value)
    assert "hid" not in str(caught.value)


def test_a_file_that_is_not_there_or_no_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.db").write_text("no database" * 1000)
    with pytest.raises(MissingFileError, match=r"shpo\.db: there is no such file; did you mean 'shop\.db'"):
        locate("sqlite:///shpo.db")
    with pytest.raises(InputError, match=r"shop\.db is a file of neither SQLite nor DuckDB"):
        locate("shop.db")
    for url in ("sqlite:///shop.db", "duckdb:///shop.db"):
        with pytest.raises(InputError, match=r"shop\.db: the .* (not a database|not a valid DuckDB).*\); \w+"):
            Query("SELECT * FROM t", url)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELCT 1", 'syntax error|near "SELCT"'),
        ("SELECT * FROM nowhere", "no such table: nowhere|nowhere does not exist|.nowhere. does not exist"),
        ("DROP TABLE people", "read-?only|gives no rows"),
        ("  ", "the query is empty; give one, such as SELECT"),
        ("SELECT age AS a, town AS a FROM people", "two columns of the query are called 'a'; rename one"),
    ],
)
def test_queries_that_cannot_be_run(shop: Shop, query: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        Query(query, shop.url)
    assert "\n" not in str(caught.value)
    assert len(shop.run(ALL)) == 240


def test_a_query_that_breaks_off(shop: Shop) -> None:
    broken = {
        "sqlite": "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999) "
        "SELECT abs(CASE WHEN i = 90000 THEN -9223372036854775808 ELSE i END) AS x FROM n",
        "duckdb": "SELECT CASE WHEN i = 900000 THEN error('broken') ELSE i::VARCHAR END AS x FROM range(1000000) n(i)",
        "postgresql": "SELECT 1 / (i - 90000) AS x FROM generate_series(1, 99999) n(i)",
    }
    with pytest.raises(InputError, match=r"cannot be run \((integer overflow|.*broken|division by zero)\); correct"):
        ing.scan(broken[shop.kind], database=shop.url).table()


def test_a_query_without_rows(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ing.save(ing.NaiveBayes().fit(people(), "outcome"), "m.ingenuo")
    none = (f"{ALL} WHERE age > 1000", "--database", shop.url)
    assert "there are no rows to learn from" in said("train", *none, "--target", "outcome", "-o", "n.ingenuo")
    assert "there are no rows to judge by" in said("evaluate", "m.ingenuo", *none)
    assert "there are no rows to learn from" in said("update", "m.ingenuo", *none)
    assert "there is no row 1" in said("explain", "m.ingenuo", *none)


@pytest.mark.parametrize("name", ["adbc_driver_postgresql", "duckdb"])
def test_an_absent_driver_says_which_extra_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = tmp_path / "shop.duckdb"
    path.write_bytes(bytes(8) + b"DUCK")
    imported = builtins.__import__

    def without(module: str, *rest: Any) -> Any:
        if module.partition(".")[0] == name:
            raise ImportError(name)
        return imported(module, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    url, extra = (str(path), "duckdb") if name == "duckdb" else ("postgresql://host/shop", "postgresql")
    with pytest.raises(InputError, match=rf"is not installed; pip install 'ingenuo\[{extra}\]'"):
        Query("SELECT 1", url)


def test_options_that_are_of_files(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ing.save(ing.NaiveBayes().fit(people(), "outcome"), "m.ingenuo")
    train = ("train", ALL, "--database", shop.url, "--target", "outcome")
    assert "where to write the model of a query" in said(*train)
    assert "--separator says how files are written" in said(*train, "-o", "n.ingenuo", "--separator", ";")
    assert "--header says how files are written" in said(*train, "-o", "n.ingenuo", "--no-header")
    assert "--names says how files are written" in said(*train, "-o", "n.ingenuo", "--names", "a,b")
    assert "--checkpoint is for files" in said(*train, "-o", "n.ingenuo", "--checkpoint", "c")
    assert "--engine is for files" in said(*train, "-o", "n.ingenuo", "--engine", "dask")
    assert "one query" in said("train", "SELECT", "*", "--database", shop.url, "--target", "y", "-o", "n.ingenuo")
    predict = ("predict", "m.ingenuo", ALL)
    assert "--into is a table of the --database" in said(*predict, "--into", "t")
    assert "--replace is of --into" in said(*predict, "--database", shop.url, "--replace")
    assert "-o is of files" in said(*predict, "--database", shop.url, "--into", "t", "-o", "t.csv")
    assert "is no name of a table" in said(*predict, "--database", shop.url, "--into", "t; DROP TABLE people")
    with pytest.raises(InputError, match="rows of a database are read here, and by no engine"):
        ing.scan(ALL, database=shop.url).forms()


def test_a_file_that_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    monkeypatch.setattr(sqlite3, "connect", lambda *a, connect=sqlite3.connect, **how: connect(*a, timeout=0.1, **how))
    path = tmp_path / "l.db"
    run_sqlite(path)("CREATE TABLE t (x)")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(InputError, match=r"cannot be (run|written) \(database is locked\)"):
            Query("SELECT * FROM t", str(path))
        with pytest.raises(InputError, match=r"the table cannot be written \(database is locked\); nothing of it was"):
            locate(str(path)).write(iter([]), "u")
    finally:
        writer.close()


# Passwords.

PASSWORD = postgres.PASSWORD


def hidden(text: str | bytes) -> bool:
    """Whether a text has the password in none of its spellings."""
    data = text.encode() if isinstance(text, str) else text
    return not any(each.encode() in data for each in (PASSWORD, quote(PASSWORD), quote(PASSWORD, safe=""), "s3cret"))


@pytest.fixture
def asked(server: postgres.Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> postgres.Server:
    """A server that wants a password of a user who may read one table."""
    monkeypatch.chdir(tmp_path)
    for name in ("PGPASSWORD", "PGPASSFILE", "SHOP_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    server.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO ana")
    rows = ", ".join(f"({i}, '{'ab'[i % 2]}', '{'yn'[i % 2]}')" for i in range(40))
    server.run(f"CREATE TABLE t (x int, c text, y text); INSERT INTO t VALUES {rows}; GRANT SELECT ON t TO ana")
    return server


WAYS = ["URL", "$NAME in the URL", "whole URL in the environment", "PGPASSWORD", "file", "query"]


def open_by(way: str, server: postgres.Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL by which the password is found in some way."""
    plain = server.url(postgres.USER)
    if way == "URL":
        return server.url(postgres.USER, PASSWORD)
    if way == "$NAME in the URL":
        monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
        return server.url(postgres.USER, "$SHOP_PASSWORD")
    if way == "whole URL in the environment":
        monkeypatch.setenv("SHOP_URL", server.url(postgres.USER, PASSWORD))
        return "${SHOP_URL}"
    if way == "PGPASSWORD":
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
    if way == "file":
        path = Path("pgpass")
        path.write_text("*:*:*:ana:" + PASSWORD.replace("\\", "\\\\").replace(":", "\\:") + "\n")
        path.chmod(0o600)
        monkeypatch.setenv("PGPASSFILE", os.fspath(path.absolute()))
    return f"{plain}&password={quote(PASSWORD, safe='')}" if way == "query" else plain


@pytest.mark.parametrize("way", WAYS)
def test_a_password_is_in_no_model_and_in_no_page(asked: postgres.Server, monkeypatch: Any, way: str) -> None:
    url = open_by(way, asked, monkeypatch)
    query = ("SELECT * FROM t", "--database", url)
    texts = []
    for command in (
        ["train", *query, "--target", "y", "-o", "m.ingenuo", "--folds", "2", "--model", "naive-bayes"],
        ["inspect", "m.ingenuo"],
        ["inspect", "m.ingenuo", "--json"],
        ["card", "m.ingenuo", *query],
        ["report", "m.ingenuo", *query, "-o", "-"],
        ["select", *query, "--target", "y"],
        ["update", "m.ingenuo", *query],
        ["explain", "m.ingenuo", *query],
        ["predict", "m.ingenuo", *query],
    ):
        result = run(*command)
        assert result.exit_code == 0, result.output
        texts += [result.output, result.stderr]
    assert all(map(hidden, texts))
    assert hidden(Path("m.ingenuo").read_bytes())
    about = ing.load("m.ingenuo")
    assert hidden(repr(about))
    model = ing.NaiveBayes().fit(ing.scan("SELECT * FROM t", database=url), "y")
    ing.save(model, "n.ingenuo")
    assert hidden(Path("n.ingenuo").read_bytes())
    typed = way in ("URL", "query")
    assert ("others on this machine may see a password that is typed" in texts[1]) == typed


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_a_password_is_in_no_error(asked: postgres.Server, monkeypatch: Any, way: str, debug: tuple[str, ...]) -> None:
    asked.run("ALTER ROLE ana PASSWORD 'another'")
    try:
        url = open_by(way, asked, monkeypatch)
        query = ("SELECT * FROM t", "--database", url, "--target", "y", "-o", "m.ingenuo", *debug)
        result = run("train", *query)
        assert result.exit_code == 1
        assert 'password authentication failed for user "ana"' in result.stderr
        assert "give the password by PGPASSWORD, ~/.pgpass or $NAME in the URL" in result.stderr
        assert hidden(result.output)
        assert hidden(repr(locate(url)))
        assert hidden(str(vars(locate(url)).get("name")))
    finally:
        asked.run(f"ALTER ROLE ana PASSWORD '{PASSWORD}'")


def test_errors_of_a_query_have_no_password(asked: postgres.Server) -> None:
    url = asked.url(postgres.USER, PASSWORD)
    with pytest.raises(InputError, match=r"relation .nowhere. does not exist") as caught:
        Query("SELECT * FROM nowhere", url)
    assert hidden(str(caught.value))
    # Even where the query itself has it.
    with pytest.raises(InputError, match="the query cannot be run") as caught:
        Query(f"SELECT '{PASSWORD}'::int", url)
    assert hidden(str(caught.value))
    with pytest.raises(InputError, match=r"permission denied for schema public|permission denied") as caught:
        locate(url).write(iter([pa.table({"x": [1]})]), "u")
    assert hidden(str(caught.value))


def test_no_password_and_no_server(asked: postgres.Server) -> None:
    with pytest.raises(InputError, match=r"no password supplied.*; give the password by PGPASSWORD"):
        Query("SELECT 1", asked.url(postgres.USER))
    with pytest.raises(InputError, match=r"Connection refused.*; check the URL") as caught:
        Query("SELECT 1", f"postgresql://ana:{quote(PASSWORD, safe='')}@localhost:1/shop")
    assert hidden(str(caught.value))
    assert str(caught.value).startswith("postgresql://ana@localhost:1/shop: the server cannot be used")
    with pytest.raises(InputError, match='database "nowhere" does not exist'):
        Query("SELECT 1", asked.url(database="nowhere"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ana:pw@h/d", "postgresql://ana:***@h/d"),
        ("postgresql://:pw@h/d", "postgresql://:***@h/d"),
        ("--database=postgresql://ana:p:w/@x@h/d", "--database=postgresql://ana:***@h/d"),
        ("postgresql://ana:p w@h/d", "postgresql://ana:***@h/d"),
        ("postgresql://ana:$PW@h/d", "postgresql://ana:$PW@h/d"),
        ("postgresql://ana:${PW}@h/d", "postgresql://ana:${PW}@h/d"),
        ("postgresql://ana@h/d?password=pw&x=1", "postgresql://ana@h/d?password=***&x=1"),
        ("SELECT * FROM t", "SELECT * FROM t"),
        ("$URL", "$URL"),
    ],
)
def test_what_is_hidden(text: str, shown: str) -> None:
    assert without_password(text) == shown
