"""Rows of a database: those of a query, in batches as they come; and tables written back, whole or not at all.

A query is run once, however often its rows are needed: without ORDER BY a second answer may come in another order, and
in between others write. What was read is kept, in memory and then in a temporary file that has no name.
"""

from __future__ import annotations

import os
import re
import secrets
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import date, datetime, time
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from ingenuo.errors import InputError, missing_file
from ingenuo.rows.files.contents import Content, Form, Options, Types
from ingenuo.rows.kinds import CATEGORY, Kind, as_types

_FIRST = 1 << 15  # rows from which kinds are inferred
_ROWS = 1 << 17  # rows of a batch, at most
_HELD = 1 << 26  # bytes that are kept in memory before a file is used
_INTERRUPTED = ("Query interrupted", "canceling statement due to user request")
_WHERE = "postgresql://USER@HOST/NAME, sqlite:///FILE, duckdb:///FILE, or the path of a file of SQLite or DuckDB"


class Place:
    """A database: where it is, how it is called in messages and models, and what must not appear in them."""

    what = ""  # as people call it
    is_file = False  # whether it is a file, which one writes while nobody reads it
    n_bytes, is_stream = 0, False  # rows have no size beforehand, and can be read again

    def __init__(self, url: str, name: str, secret: tuple[str, ...] = ()) -> None:
        self._url, self._secret = url, secret
        self.name = self.path = name

    def __repr__(self) -> str:
        return f"<{self.what}: {self.name}>"

    def release(self) -> None:
        """Let go of what was looked at: nothing."""

    def read(self, query: str) -> Iterator[pa.RecordBatch]:
        """The rows of a query; the first batch may be empty, and has the columns."""
        raise NotImplementedError

    def write(self, tables: Iterable[pa.Table], table: str, *, replace: bool = False) -> int:
        """Make a table of some rows in one transaction; how many there were."""
        raise NotImplementedError

    def refuse(self, what: str, error: BaseException, remedy: str) -> InputError:
        """The error for what a driver refuses: the first line of what it says, without a password."""
        text = str(error)
        found = re.search(r"(?:ERROR|FATAL):\s+(.*)", text)
        line = found[1] if found else re.sub(r"^([A-Z_]+: )?\[\w+\] (Failed to connect: )?", "", text.strip() or what)
        line = line.splitlines()[0].strip()
        for secret in sorted(filter(None, self._secret), key=len, reverse=True):
            line = line.replace(secret, "***")
        return InputError(f"{self.name}: {what} ({without_password(line)}); {remedy}")

    @contextmanager
    def _checked(self, *errors: type[BaseException], query: bool = True) -> Iterator[None]:
        """What the driver raises, in one sentence."""
        try:
            yield
        except errors as error:
            if any(word in str(error) for word in _INTERRUPTED):  # Ctrl-C reaches the driver, which says so
                raise KeyboardInterrupt from None
            if query:
                raise self.refuse("the query cannot be run", error, "correct the SQL of it") from None
            raise self.refuse("the table cannot be written", error, "nothing of it was") from None

    def _exists(self, error: BaseException, table: str) -> None:
        """Raise where a table is there that is not to be replaced."""
        if "already exists" in str(error):
            python, command = "replace=True", "--replace"
            message = f"{self.name}: there is a table {table} already; replace it ({python}), or name another"
            raise InputError(message).typed_as(python, command) from None


def without_password(text: str) -> str:
    """Text in which passwords of URLs are ***; a $NAME, which is none, stays.

    >>> print(without_password("postgresql://ana:secret@host/shop"), without_password("postgresql://ana:$PW@host/shop"))
    postgresql://ana:***@host/shop postgresql://ana:$PW@host/shop
    """
    text = re.sub(r"(\b[A-Za-z][\w+.-]*://[^\s:@/]*):(?!\$\{?\w+\}?@)[^\n]*@", r"\1:***@", text)
    return re.sub(r"(?i)(password\s*=\s*)[^&\s'\"]+", r"\1***", text)


_LIKE_URL = re.compile(r"=|\w\w:/|:[^/]*@")  # in the name of a file that is not there


def locate(url: str) -> Place:
    """The database of a URL, or of the path of a file; what is not there is refused."""
    if whole := re.fullmatch(r"\$(?:\{(\w+)\}|(\w+))", url):
        url = _environment(whole[1] or whole[2])
    scheme, is_url, rest = url.partition("://")
    if is_url and scheme.lower() in ("postgresql", "postgres"):
        return _locate_server(f"{scheme.lower()}://{rest}")
    if is_url and scheme.lower() not in ("sqlite", "duckdb"):
        raise InputError(f"there is no reading of {scheme}:// databases; give {_WHERE}, or write the rows to a file")
    # As SQLAlchemy has it: sqlite:///here.db is a file in this folder, and sqlite:////tmp/there.db is not.
    path = unquote(rest.removeprefix("/")) if is_url else url
    if not os.path.exists(path):
        if _LIKE_URL.search(path):  # which may have a password in it
            raise InputError(f"this is no URL of a database; give {_WHERE}")
        raise missing_file(path)
    kind = scheme.lower() if is_url else _kind_of_file(path)
    name = url if is_url else f"{kind}:///{path}"
    return SQLite(path, name) if kind == "sqlite" else DuckDB(path, name)


def _environment(name: str) -> str:
    found = os.environ.get(name)
    if found is None:
        raise InputError(f"the URL of the database names ${name}, and the environment has no {name}; set it")
    return found


def _kind_of_file(path: str) -> str:
    """Of which kind a file is, by its first bytes."""
    with open(path, "rb") as file:
        head = file.read(16)
    if head.startswith(b"SQLite format 3"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    raise InputError(f"{path} is a file of neither SQLite nor DuckDB; give {_WHERE}, or leave --database out")


def _locate_server(url: str) -> Place:
    """A PostgreSQL server; a password in the URL may be a $NAME of the environment."""
    if found := re.match(r"(\w+://[^:/@?#]*:)\$(?:\{(\w+)\}|(\w+))(?=@)", url):
        url = found[1] + quote(_environment(found[2] or found[3]), safe="") + url[found.end() :]
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InputError(
            f"the URL of the database cannot be read ({error}); give postgresql://USER@HOST/NAME"
        ) from None
    login, _, host = parts.netloc.rpartition("@")
    cut = ":" in parts.netloc and "@" in parts.query and "=" not in parts.query.partition("@")[0]  # ana:pass?word@host
    if "@" in login + parts.path or "#" in url or cut:
        raise InputError(
            "the URL of the database has one of / # ? @ before its last @; write what is special in a password as %XX, "
            "or give the password by PGPASSWORD"
        )
    user, _, password = login.partition(":")
    asked = dict(parse_qsl(parts.query))
    secret = tuple(s for each in (password, asked.get("password", "")) for s in (each, unquote(each)))
    name = f"postgresql://{user}{'@' * bool(user)}{host or asked.get('host', '')}{parts.path}"
    return PostgreSQL(url, name, secret)


class PostgreSQL(Place):
    """A PostgreSQL server, by ADBC: rows come as they are copied out, and go as they are copied in."""

    what = "PostgreSQL"

    @contextmanager
    def _cursor(self) -> Iterator[tuple[Any, Any, tuple[type[BaseException], ...]]]:
        """A connection in a transaction, a cursor of it, and what the driver raises."""
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise _absent(self, "adbc-driver-postgresql", "postgresql") from None
        try:
            connection = dbapi.connect(self._url, autocommit=False)
        except dbapi.Error as error:
            wanted = any(word in str(error) for word in ("password", "authentication"))
            how = "give the password by PGPASSWORD, ~/.pgpass or $NAME in the URL" if wanted else "check the URL"
            raise self.refuse("the server cannot be used", error, how) from None
        try:
            cursor = connection.cursor()
            yield connection, cursor, (dbapi.Error, OSError, pa.ArrowException)
        finally:
            with suppress(dbapi.Error):
                connection.close()  # which takes back what was not committed

    def read(self, query: str) -> Iterator[pa.RecordBatch]:
        """The rows of a query, which may only read."""
        with self._cursor() as (_, cursor, errors):
            with self._checked(*errors):
                cursor.execute("SET TRANSACTION READ ONLY")
                cursor.execute(f"{query}\n")  # it is put in parentheses, which a comment at its end would hide
                reader = cursor.fetch_record_batch()
            yield pa.RecordBatch.from_pylist([], reader.schema)
            while True:
                with self._checked(*errors):
                    batch = next(reader, None)
                if batch is None:
                    break
                yield batch
            with suppress(*errors):
                cursor.close()

    def write(self, tables: Iterable[pa.Table], table: str, *, replace: bool = False) -> int:
        """Copy some rows into a table."""
        parts = [part if quoted else part.lower() for part, quoted in _table_name(table)]  # as the server reads names
        if len(parts) > 2:
            raise InputError(f"{table!r} is no name of a table; write TABLE or SCHEMA.TABLE")
        schema = parts[0] if len(parts) == 2 else None
        made = f"ingenuo_{secrets.token_hex(8)}" if replace else parts[-1]
        n_rows = 0
        with self._cursor() as (connection, cursor, errors):
            for number, each in enumerate(tables):
                with self._checked(*errors, query=False):
                    try:
                        mode = "append" if number else "create"
                        cursor.adbc_ingest(made, _decoded(each), mode=mode, db_schema_name=schema)
                    except errors as error:
                        self._exists(error, table)
                        raise
                n_rows += each.num_rows
            with self._checked(*errors, query=False):
                if replace:
                    old, new = _quoted(parts), _quoted([*parts[:-1], made])
                    cursor.execute(f"DROP TABLE IF EXISTS {old}")
                    cursor.execute(f"ALTER TABLE {new} RENAME TO {_quoted(parts[-1:])}")
                connection.commit()
        return n_rows


class DuckDB(Place):
    """A file of DuckDB."""

    what, is_file = "DuckDB", True

    @contextmanager
    def _connection(self, read_only: bool) -> Iterator[tuple[Any, tuple[type[BaseException], ...]]]:
        try:
            import duckdb
        except ImportError:
            raise _absent(self, "duckdb", "duckdb") from None
        try:
            connection = duckdb.connect(self._url, read_only=read_only)
        except duckdb.Error as error:
            raise self.refuse("the file cannot be opened", error, "close it elsewhere, or give another") from None
        try:
            yield connection, (duckdb.Error, RuntimeError)
        finally:
            connection.close()

    def read(self, query: str) -> Iterator[pa.RecordBatch]:
        """The rows of a query."""
        with self._connection(read_only=True) as (connection, errors):
            with self._checked(*errors):
                found = connection.sql(query)
                if found is None:
                    raise InputError(f"{self.name}: {query!r} gives no rows; give a query, such as SELECT * FROM t")
                reader = pa.RecordBatchReader.from_stream(found)
            yield pa.RecordBatch.from_pylist([], reader.schema)
            while True:
                with self._checked(*errors, OSError, pa.ArrowException):
                    batch = next(reader, None)
                if batch is None:
                    break
                yield batch

    def write(self, tables: Iterable[pa.Table], table: str, *, replace: bool = False) -> int:
        """Insert some rows into a table."""
        parts = [part for part, _ in _table_name(table)]
        made = _quoted([*parts[:-1], f"ingenuo_{secrets.token_hex(8)}"]) if replace else _quoted(parts)
        n_rows = 0
        with self._connection(read_only=False) as (connection, errors):
            connection.execute("BEGIN TRANSACTION")
            for number, each in enumerate(tables):
                connection.register("ingenuo_rows", _decoded(each))
                begin = f"INSERT INTO {made}" if number else f"CREATE TABLE {made} AS"
                with self._checked(*errors, query=False):
                    try:
                        connection.execute(f"{begin} SELECT * FROM ingenuo_rows")
                    except errors as error:
                        self._exists(error, table)
                        raise
                n_rows += each.num_rows
            with self._checked(*errors, query=False):
                if replace:
                    connection.execute(f"DROP TABLE IF EXISTS {_quoted(parts)}")
                    connection.execute(f"ALTER TABLE {made} RENAME TO {_quoted(parts[-1:])}")
                connection.execute("COMMIT")
        return n_rows


class SQLite(Place):
    """A file of SQLite, by Python itself.

    Its columns have no types, but for each value one: ADBC's driver takes those of the first 1,024 rows and stops at a
    later value of another, as where a column begins with missing values. It is three to five times as fast.
    """

    what, is_file = "SQLite", True

    @contextmanager
    def _connection(self, mode: str) -> Iterator[tuple[Any, tuple[type[BaseException], ...]]]:
        import sqlite3

        try:
            where = f"file:{quote(os.path.abspath(self._url))}?mode={mode}"
            connection = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise self.refuse("the file cannot be opened", error, "give another") from None
        try:
            yield connection, (sqlite3.Error, sqlite3.Warning)  # of two statements Python 3.11 warns by an error
        finally:
            connection.close()

    def read(self, query: str) -> Iterator[pa.RecordBatch]:
        """The rows of a query."""
        with self._connection("ro") as (connection, errors):
            with self._checked(*errors):
                cursor = connection.execute(query)
            if cursor.description is None:
                raise InputError(f"{self.name}: {query!r} gives no rows; give a query, such as SELECT * FROM t")
            names = [each[0] for each in cursor.description]
            n = _FIRST
            while True:
                with self._checked(*errors):
                    rows = cursor.fetchmany(n)
                if not rows and n != _FIRST:
                    break
                columns = list(zip(*rows)) or [()] * len(names)
                yield pa.RecordBatch.from_arrays([_array(column) for column in columns], names)
                n = _FIRST // 2

    def write(self, tables: Iterable[pa.Table], table: str, *, replace: bool = False) -> int:
        """Insert some rows into a table."""
        parts = [part for part, _ in _table_name(table)]
        made = _quoted([*parts[:-1], f"ingenuo_{secrets.token_hex(8)}"]) if replace else _quoted(parts)
        n_rows = 0
        with self._connection("rw") as (connection, errors):
            with self._checked(*errors, query=False):
                connection.execute("BEGIN IMMEDIATE")
            for number, each in enumerate(tables):
                rows = zip(*([_cell(value) for value in column.to_pylist()] for column in each.columns))
                with self._checked(*errors, query=False):
                    if not number:
                        columns = ", ".join(f"{_quoted([f.name])} {_sqlite_type(f.type)}" for f in each.schema)
                        try:
                            connection.execute(f"CREATE TABLE {made} ({columns})")
                        except errors as error:
                            self._exists(error, table)
                            raise
                    marks = ", ".join("?" * each.num_columns)
                    connection.executemany(f"INSERT INTO {made} VALUES ({marks})", rows)
                n_rows += each.num_rows
            with self._checked(*errors, query=False):
                if replace:
                    connection.execute(f"DROP TABLE IF EXISTS {_quoted(parts)}")
                    connection.execute("PRAGMA legacy_alter_table=ON")  # views of the old table are of the new one
                    connection.execute(f"ALTER TABLE {made} RENAME TO {_quoted(parts[-1:])}")
                connection.execute("COMMIT")
        return n_rows


def _absent(place: Place, driver: str, extra: str) -> InputError:
    return InputError(
        f"{place.name}: {driver}, which reads {place.what}, is not installed; pip install 'ingenuo[{extra}]'"
    )


def _table_name(table: str) -> list[tuple[str, bool]]:
    """The parts of a table's name, and whether each is in quotes: SCHEMA.TABLE, "My table"."""
    if not re.fullmatch(r'("([^"]|"")+"|[^".\s]+)(\.("([^"]|"")+"|[^".\s]+))*', table):
        raise InputError(
            f"{table!r} is no name of a table; write TABLE, SCHEMA.TABLE or, with other signs, '\"MY TABLE\"'"
        )
    found = re.findall(r'"((?:[^"]|"")+)"|([^".\s]+)', table)
    return [(inside.replace('""', '"') or plain, bool(inside)) for inside, plain in found]


def _quoted(parts: list[str]) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def _array(values: tuple[Any, ...]) -> pa.Array:
    """The values of a column of SQLite, which may be of several types."""
    with suppress(pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array(values)
    if all(value is None or isinstance(value, int | float) for value in values):  # of which a double loses digits
        return pa.array([None if value is None else float(value) for value in values])
    texts = (value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values)
    return pa.array([None if value is None else str(value) for value in texts], pa.string())


def _cell(value: Any) -> Any:
    """A value as SQLite has it."""
    if value is None or isinstance(value, int | float | str | bytes):
        return value
    return value.isoformat(*[" "] * isinstance(value, datetime)) if isinstance(value, date | time) else str(value)


def _sqlite_type(type: pa.DataType) -> str:
    if pa.types.is_integer(type) or pa.types.is_boolean(type):
        return "INTEGER"
    binary = pa.types.is_binary(type) or pa.types.is_large_binary(type)
    return "REAL" if pa.types.is_floating(type) else "BLOB" if binary else "TEXT"


def _decoded(table: pa.Table) -> pa.Table:
    """A table without dictionaries, which drivers do not all take."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(field.type.value_type))
    return table.replace_schema_metadata(None)


def _plain(batch: pa.RecordBatch, kinds: dict[str, Kind]) -> pa.RecordBatch:
    """Rows in types that all the rest knows; the kinds that the types of the server say are noted."""
    columns = []
    for field, found in zip(batch.schema, batch.columns):
        column = found.storage if isinstance(found, pa.ExtensionArray) else found
        server = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
            kinds[field.name] = Kind("category", "the database declares its values", CATEGORY)
        elif server == "numeric":  # which the driver hands out as strings
            column = column.cast(pa.float64())
        elif server == "bpchar":  # with spaces up to its width, which mean nothing
            column = pc.utf8_rtrim(column, " ")
        elif server == "uuid":
            texts = [None if value is None else str(value) for value in found.to_pylist()]
            column = pa.array(texts, pa.string())
        elif pa.types.is_binary(column.type) and server not in ("", "bytea"):
            kinds[field.name] = Kind("ignore", f"{server} values; cast them in the query to have them", column.type)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _batches(rows: Iterator[pa.RecordBatch], kinds: dict[str, Kind]) -> Iterator[pa.RecordBatch]:
    """Rows in plain types, and of at most so many in a batch."""
    for batch in rows:
        plain = _plain(batch, kinds)
        for start in range(0, max(plain.num_rows, 1), _ROWS):
            yield plain.slice(start, _ROWS)


class _Kept:
    """Batches that come once, and are kept to be read again.

    With `once`, those alone that were looked at before.
    """

    def __init__(self, batches: Iterator[pa.RecordBatch], place: str) -> None:
        self._batches, self._place = batches, place
        self._file = tempfile.SpooledTemporaryFile(_HELD)  # noqa: SIM115
        self._found: list[tuple[int, int, pa.Schema]] = []  # where each is in the file, its size, and its columns
        self._n_read, self._lock = 0, threading.Lock()
        self.once = False

    def read(self) -> Iterator[pa.RecordBatch]:
        """The batches, from the first."""
        at = 0
        while (batch := self._batch(at)) is not None:
            yield batch
            at += 1

    def _batch(self, at: int) -> pa.RecordBatch | None:
        with self._lock:
            if at < len(self._found):
                start, size, schema = self._found[at]
                self._file.seek(start)
                return pa.ipc.read_record_batch(pa.py_buffer(self._file.read(size)), schema)
            if at < self._n_read:
                raise InputError(f"{self._place}: the rows were not kept, and can be read once only")
            batch = next(self._batches, None)
            if batch is not None:
                self._n_read += 1
                if not self.once:
                    data, start = batch.serialize(), self._file.seek(0, os.SEEK_END)
                    self._file.write(data)
                    self._found.append((start, data.size, batch.schema))
            return batch


class Query(Content):
    """The rows of a query, as `scan` takes them.

    With `once` they are not kept, and can be read once only. With `settle` all are read before the first is given, so
    that a file may be written then.
    """

    def __init__(self, query: str, database: str | Place, *, once: bool = False, settle: bool = False) -> None:
        place = locate(database) if isinstance(database, str) else database
        if not query.strip():
            raise InputError(f"{place.name}: the query is empty; give one, such as SELECT * FROM t")
        super().__init__(place, Options())  # type: ignore[arg-type]
        self._rows = _Kept(_batches(place.read(query), self.kinds), place.name)
        self._sample = self._look()
        self.own_schema = self._sample.schema
        self.names = [str(name) for name in self.own_schema.names]
        self.refuse_doubled("columns of the query")
        if settle and place.is_file:
            for _ in self._rows.read():
                pass
        else:
            self._rows.once = once

    def _look(self) -> pa.Table:
        """The first rows."""
        found: list[pa.RecordBatch] = []
        for batch in self._rows.read():
            found.append(batch)
            if sum(each.num_rows for each in found) >= _FIRST:
                break
        return pa.Table.from_batches(found)

    def first(self) -> pa.Table:
        """The first rows."""
        return self._sample.slice(0, _FIRST)

    def form(self) -> Form:
        """How the file is written: it is none."""
        raise InputError(f"{self.file.name}: rows of a database are read here, and by no engine; write them to files")

    def parts(self, types: Types, fixed: str | None) -> Iterator[tuple[pa.Table, int]]:
        """The rows, some at a time."""
        for batch in self._rows.read():
            table = pa.Table.from_batches([batch])
            for name, type in types.items():
                own = table.schema.field(name).type
                if pa.types.is_integer(type) and pa.types.is_floating(own) and name != fixed:
                    types[name] = pa.float64()
            yield as_types(table, types, self.file.name), 0
