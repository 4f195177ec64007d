"""Rows that lie in parts on an engine: a frame of Dask or Spark, or files that it reads itself.

Files are read in the types and by the separators that `scan` found here.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa

from ingenuo.errors import EngineError, IngenuoError, InputError, KindError, did_you_mean

ENGINES = ("local", "dask", "spark")
RemotePart = Callable[[int, Iterable[pa.Table]], bytes]  # the number of a part, and its rows
Merge = Callable[[Sequence[bytes]], bytes]
TOGETHER = 8  # parts that are merged at a time


class EngineFrame:
    """Rows that lie in parts on an engine: their columns, and one way to reduce them."""

    lies_in_parts = True
    drops_unlabelled = False  # whether rows without a class are left out, and counted
    left_out = 0  # how many
    kinds: Mapping[str, tuple[str, str]] | None = None  # what each column is, and why, where that is known
    target: str | None = None
    called = ""  # in messages

    def __init__(self, frame: Any, names: list[str]) -> None:
        self.frame, self.names = frame, names
        doubled = next((name for name, count in Counter(names).items() if count > 1), None)
        if doubled is not None:
            raise InputError(f"two columns of {self.called} are called {doubled!r}; rename one")

    @property
    def schema(self) -> pa.Schema:
        """The type of each column; null where it is not known before the rows are looked at."""
        raise NotImplementedError

    def place(self, part: int) -> str:
        """What a part is called in messages."""
        return f"partition {part}"

    def column(self, given: Any, what: str) -> tuple[EngineFrame, str]:
        """The frame that has a column, which may be given as one of the engine's, and the column's name."""
        if not isinstance(given, str):
            return self._own_column(given, what)
        if given not in self.names:
            raise InputError(f"{self.called} has no column {given!r}{did_you_mean(given, self.names)}")
        return self, given

    def _own_column(self, given: Any, what: str) -> tuple[EngineFrame, str]:
        raise KindError(f"{what} of {self.called} is the name of a column, not {type(given).__name__}")

    def head(self, columns: Sequence[str], n: int) -> pa.Table:
        """The first rows of some columns."""
        raise NotImplementedError

    def reduce(self, columns: Sequence[str], part: RemotePart, merge: Merge) -> bytes:
        """What the merged parts come to."""
        raise NotImplementedError

    def with_answers(self, answer: Callable[[pa.Table], pa.Table], fields: pa.Schema) -> Any:
        """A frame of the engine with what a function answers to its rows in further columns, not yet computed."""
        raise NotImplementedError


Engine = Callable[[Any], EngineFrame]  # the files of a scan, on an engine


def lacks_package(message: str) -> bool:
    """Whether an error of a worker says that it cannot import this package."""
    return "No module named 'ingenuo'" in message


def without_package(engine: str, remedy: str = "pip install ingenuo") -> EngineError:
    """The error for a worker that lacks this package."""
    return EngineError(
        f"a worker of {engine} cannot import ingenuo; install the same version of it on every worker ({remedy})"
    )


def not_installed(engine: str, what: str) -> EngineError:
    """The error for an engine that is not installed."""
    return EngineError(f"{what} is not installed, which the engine {engine!r} needs; pip install 'ingenuo[{engine}]'")


def first_line(error: BaseException) -> str:
    """What an error says, in short."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


@contextmanager
def open_engine(name: str, address: str | None = None) -> Iterator[Engine]:
    """An engine by its name, at an address (tcp://host:8786, spark://host:7077) or on all cores of this machine."""
    if name == "dask":
        from ingenuo.rows import dask

        with dask.cluster(address):
            yield partial(Files, read=dask.read)
    elif name == "spark":
        from ingenuo.rows import spark

        with spark.session(address) as session:
            yield partial(Files, read=partial(spark.read, session=session))
    else:
        raise InputError(f"engine={name!r} is not known{did_you_mean(name, ENGINES)}")


class Files(EngineFrame):
    """The rows of a scan, on an engine; rows without a class are left out, and counted."""

    drops_unlabelled = True

    def __init__(self, rows: Any, read: Callable[[Any], EngineFrame]) -> None:
        scan = rows
        while not hasattr(scan, "declare"):  # columns that were selected from a scan
            scan = scan.stream
        self.called, self.kinds, self.target, self._schema = rows.name, rows.kinds, rows.target, scan.schema
        for form in scan.forms():
            if form.format not in ("delimited", "parquet") or (form.format == "parquet" and form.packed):
                raise InputError(
                    f"{self.called}: an engine reads CSV, TSV and Parquet, and these files are "
                    f"{'packed ' * form.packed}{form.format}; leave --engine out, or write them as Parquet"
                )
            if form.encoding.startswith(("utf-16", "utf-32")):
                raise InputError(
                    f"{self.called}: an engine does not read {form.encoding.upper()}; write the files as UTF-8"
                )
            if "-" in form.paths:
                raise InputError(f"{self.called}: standard input is here alone; write it to a file, and give that")
        with self._explain():
            super().__init__(read(scan), list(rows.names))

    @property
    def schema(self) -> pa.Schema:
        """The types that the scan found."""
        return self._schema

    def head(self, columns: Sequence[str], n: int) -> pa.Table:
        """The first rows of some columns."""
        with self._explain():
            return self.frame.head(columns, n)

    def reduce(self, columns: Sequence[str], part: RemotePart, merge: Merge) -> bytes:
        """What the merged parts come to."""
        with self._explain():
            return bytes(self.frame.reduce(columns, part, merge))

    @contextmanager
    def _explain(self) -> Iterator[None]:
        """What the readers of an engine refuse, with the files."""
        try:
            yield
        except IngenuoError:
            raise
        except (ValueError, OSError) as error:
            raise EngineError(
                f"{self.called}: the engine cannot read the files ({first_line(error)}); training without --engine "
                "says where"
            ) from None


def cell_type(scan: Any, field: pa.Field) -> str:
    """What an engine reads the cells of a column as: double, long, boolean or string.

    A column of numbers is never long, for a later row may have a fraction; classes may be.
    """
    if scan.kinds.get(field.name, ("target",))[0] in ("number", "count") or pa.types.is_floating(field.type):
        return "double"
    return "long" if pa.types.is_integer(field.type) else "boolean" if pa.types.is_boolean(field.type) else "string"


def columns_not_read(scan: Any) -> list[str]:
    """The columns of a scan that are not read."""
    return [name for name in scan.names if name not in scan.schema.names]


def absolute(paths: Sequence[str]) -> list[str]:
    """Paths as workers need them, which have folders of their own."""
    return [os.path.abspath(path) for path in paths]
