"""Spark: every partition becomes one row of bytes in Python, through Arrow; the rows are merged in their order.

An executor that dies has its tasks run again elsewhere, as Spark does with any task.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingenuo.errors import EngineError, InputError, KindError
from ingenuo.rows import engines
from ingenuo.rows.engines import TOGETHER, EngineFrame, Merge, RemotePart

try:
    from pyspark.errors import PySparkException
    from pyspark.sql import Column, SparkSession, functions
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import StringType, StructField, StructType
except ImportError as error:
    raise engines.not_installed("spark", str(error.name or "pyspark")) from None

_MANY = 4 * TOGETHER  # partitions from which on the executors merge, and not the driver alone
_WAIT = 10  # seconds for a master to answer
# What Spark says on the screen: errors alone.
_QUIET = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %m%n
"""
_SUMS = "part int, sums binary"
_ROW = pa.schema([("part", pa.int32()), ("sums", pa.binary())])


class SparkFrame(EngineFrame):
    """A Spark DataFrame."""

    called = "the Spark frame"

    @staticmethod
    def of(X: Any) -> SparkFrame:
        """The frame."""
        if not hasattr(X, "mapInArrow"):
            raise KindError(f"a Spark DataFrame was expected, got {type(X).__name__}")
        return SparkFrame(X, list(X.columns))

    @property
    def schema(self) -> pa.Schema:
        """The type of each column."""
        fields = []
        for field in self.frame.schema.fields:
            try:
                fields.append(to_arrow_schema(StructType([field]), timezone="UTC").field(0))
            except (PySparkException, TypeError):
                fields.append(pa.field(field.name, pa.struct([])))  # which is refused, should it be learned from
        return pa.schema(fields)

    def _own_column(self, given: Any, what: str) -> tuple[EngineFrame, str]:
        if not isinstance(given, Column) and type(given).__name__ != "Column":
            raise KindError(f"{what} of a Spark frame is the name of a column, or a Column, not {type(given).__name__}")
        try:
            name = self.frame.select(given).columns[0]
        except PySparkException as error:
            raise InputError(
                f"{what} is no column of the Spark frame ({engines.first_line(error)}); name one of its columns"
            ) from None
        return (self, name) if name in self.names else (SparkFrame.of(self.frame.withColumn(name, given)), name)

    def head(self, columns: Sequence[str], n: int) -> pa.Table:
        """The first rows of some columns."""
        try:
            return self.frame.select(*map(_column, columns)).limit(n).toArrow()
        except PySparkException as error:
            raise _engine_error(error) from None

    def reduce(self, columns: Sequence[str], part: RemotePart, merge: Merge) -> bytes:
        """What the merged partitions come to."""
        chosen = self.frame.select(*map(_column, columns))
        return _merge_all(_map_batches(chosen, partial(_reduce_batches, part), _SUMS), merge)

    def with_answers(self, answer: Callable[[pa.Table], pa.Table], fields: pa.Schema) -> Any:
        """A Spark DataFrame with what a function answers to its rows in further columns, not yet computed."""
        schema = StructType([*self.frame.schema.fields, *from_arrow_schema(fields).fields])
        return _map_batches(self.frame, partial(_beside, answer), schema)


def read(scan: Any, session: Any) -> SparkFrame:
    """The files of a scan as Spark reads them, in the types that the scan found; columns not read are empty."""
    frames = []
    try:
        for form in scan.forms():
            paths = [Path(path).as_uri() for path in engines.absolute(form.paths)]
            frames.append(
                session.read.parquet(*paths).select(*map(_column, scan.schema.names))
                if form.format == "parquet"
                else _read_delimited(scan, form, paths, session)
            )
        frame = reduce(lambda one, other: one.unionByName(other), frames)
        for name in engines.columns_not_read(scan):
            frame = frame.withColumn(name, functions.lit(None).cast("string"))
    except PySparkException as error:
        raise _engine_error(error) from None
    return SparkFrame.of(frame)


def _read_delimited(scan: Any, form: Any, paths: list[str], session: Any) -> Any:
    """Cells are read as strings, of which those that are missing are taken out, and numbers made."""
    dialect = form.dialect
    if form.skipped > dialect.header_line:
        raise InputError(f"{form.paths[0]}: Spark reads no lines such as 'sep=;' before the header; take them out")
    schema = StructType([StructField(name, StringType()) for name in dialect.names])
    quotes = {"quote": dialect.quote or "", "escape": dialect.quote or "\0"}
    frame = session.read.csv(
        paths, schema=schema, sep=dialect.separator, header=bool(dialect.header_line), multiLine=True, mode="FAILFAST",
        encoding=form.encoding.removesuffix("-sig"), ignoreLeadingWhiteSpace=dialect.padded,
        ignoreTrailingWhiteSpace=dialect.padded, emptyValue="", nullValue="", **quotes,
    )  # fmt: skip

    def typed(field: pa.Field) -> Any:
        type, cell = engines.cell_type(scan, field), _column(field.name)
        cell = cell if type == "string" else functions.trim(cell)
        cell = functions.when(~cell.isin(list(form.missing)), cell)
        if type == "double" and dialect.decimal != ".":
            cell = functions.replace(cell, functions.lit(dialect.decimal), functions.lit("."))
        return (cell if type == "string" else cell.cast(type)).alias(field.name)

    return frame.select(*map(typed, scan.schema))


def _column(name: str) -> Any:
    return functions.col("`" + name.replace("`", "``") + "`")  # a point in a name is no path


@contextmanager
def session(master: str | None = None) -> Iterator[Any]:
    """A session of Spark at a master, or on all the cores of this machine, as long as it is needed."""
    if master is None or master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    _refuse_unreachable(master)
    builder = SparkSession.builder.appName("ingenuo")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)
        quiet = os.path.join(folder, "log4j2.properties")
        with open(quiet, "w", encoding="ascii") as file:
            file.write(_QUIET)
        builder = builder.config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile=file:{quiet}")
        try:
            own = builder.master(master or "local[*]").getOrCreate()
        except Exception as error:  # Java's own, or that there is no Java: pyspark has no common class for them
            raise EngineError(_no_session(master, error)) from None
        try:
            yield own
        finally:
            own.stop()


def _refuse_unreachable(master: str | None) -> None:
    """Raise at once where nobody listens; Spark itself would try for a minute."""
    if master is None or master.startswith(("local", "yarn", "k8s://", "sc://")):
        return
    if not master.startswith("spark://"):
        raise EngineError(_no_session(master, ValueError("it begins with none of spark://, local, yarn, k8s://")))
    reasons = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), timeout=_WAIT):
                return
        except (OSError, ValueError) as error:
            reasons.append(error)
    raise EngineError(_no_session(master, reasons[0]))


def _no_session(master: str | None, error: Exception) -> str:
    cause = engines.first_line(error)
    if "JAVA_GATEWAY" in str(error) or "Java gateway" in str(error) or isinstance(error, FileNotFoundError):
        return f"Spark could not start Java ({cause}); install Java 17 or later, and set JAVA_HOME if it is not found"
    return (
        f"there is no Spark master at {master!r} ({cause}); start one, and give its address, such as spark://host:7077"
    )


def _map_batches(frame: Any, function: Callable[..., Iterator[pa.RecordBatch]], schema: Any) -> Any:
    """The frame that a function makes of the Arrow batches of another."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)  # which Arrow does not need
        return frame.mapInArrow(function, schema)


def _merge_all(rows: Any, merge: Merge) -> bytes:
    """The merged parts, in the order of the partitions."""
    try:
        many = hasattr(rows, "rdd") and rows.rdd.getNumPartitions() > _MANY
    except PySparkException:  # a session of Spark Connect has no such thing: the driver merges
        many = False
    try:
        if many:
            pairs = rows.rdd.map(_pair)
            return bytes(pairs.treeReduce(partial(_both, merge), depth=2)[1])
        found = sorted((row["part"], bytes(row["sums"])) for row in rows.collect())
    except PySparkException as error:
        raise _engine_error(error) from None
    except Exception as error:
        if "Py4J" not in type(error).__name__:
            raise
        raise _engine_error(error) from None
    return merge([sums for _, sums in found])


def _engine_error(error: Exception) -> EngineError:
    message = str(error)
    if engines.lacks_package(message):
        return engines.without_package("Spark", "and let PYSPARK_PYTHON name the Python that has it")
    lines = [line.strip() for line in message.splitlines() if line.strip() and not line.strip().startswith("at ")]
    causes = [line for line in lines if "Error" in line or "Exception" in line or line.startswith("[")]
    cause = (causes or lines or [type(error).__name__])[-1]
    return EngineError(f"Spark could not do the work ({cause[:300]}); nothing was learned")


def _pair(row: Any) -> tuple[int, bytes]:
    return row[0], bytes(row[1])


def _both(merge: Merge, one: tuple[int, bytes], two: tuple[int, bytes]) -> tuple[int, bytes]:
    first, second = sorted((one, two), key=lambda pair: pair[0])
    return first[0], merge([first[1], second[1]])


def _reduce_batches(part: RemotePart, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    sums = part(number, (pa.Table.from_batches([batch]) for batch in batches))
    yield pa.RecordBatch.from_pydict({"part": [number], "sums": [sums]}, schema=_ROW)


def _beside(answer: Callable[[pa.Table], pa.Table], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        found = answer(rows)
        for name in found.column_names:
            rows = rows.append_column(found.schema.field(name), found.column(name))
        yield from rows.combine_chunks().to_batches()
