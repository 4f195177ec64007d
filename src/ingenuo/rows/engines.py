"""Rows that lie in parts on an engine: a frame of Dask or Spark, or files that it reads itself.

Files are read in the types and by the separators that `scan` found here.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from ingenuo.errors import EngineError, IngenuoError, InputError, KindError, did_you_mean

ENGINES = ("local", "dask", "spark")
RemotePart = Callable[[int, Iterable[pa.Table]], bytes]  # the number of a part, and its rows
Merge = Callable[[Sequence[bytes]], bytes]

TOGETHER = 8  # parts that are merged at a time


class EngineFrame(Protocol):
    """Rows that lie in parts on an engine: their columns, and one way to reduce them."""

    lies_in_parts: bool
    names: list[str]

    @property
    def called(self) -> str:
        """What messages call it."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """The type of each column; null where it is not known before the rows are looked at."""
        ...

    def place(self, part: int) -> str:
        """What a part is called in messages."""
        ...

    def column(self, given: Any, what: str) -> tuple[EngineFrame, str]:
        """The frame that has a column, which may be given as one of the engine's, and the column's name."""
        ...

    def head(self, columns: Sequence[str], n: int) -> pa.Table:
        """The first rows of some columns."""
        ...

    def reduce(self, columns: Sequence[str], part: RemotePart, merge: Merge) -> bytes:
        """What the merged parts come to."""
        ...

    def answered(self, answer: Callable[[pa.Table], pa.Table], fields: pa.Schema) -> Any:
        """A frame of the engine with what a function answers to its rows in further columns, not yet computed."""
        ...


Engine = Callable[[Any], EngineFrame]  # the frame of a scan


def known(frame: Any, name: str) -> str:
    """The name of a column that a frame must have."""
    if name not in frame.names:
        raise InputError(f"{frame.called} has no column {name!r}{did_you_mean(name, frame.names)}")
    return name


def refuse_doubled(frame: EngineFrame) -> None:
    """Raise where two columns have one name."""
    doubled = next((name for name, count in Counter(frame.names).items() if count > 1), None)
    if doubled is not None:
        raise InputError(f"two columns of {frame.called} are called {doubled!r}; rename one")


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


@contextmanager
def opened(name: str, address: str | None = None) -> Iterator[Engine]:
    """An engine by its name, at an address or on this machine, as long as it is needed.

    Parameters
    ----------
    name : {"dask", "spark"}
        Which.
    address : str, optional
        Of Dask's scheduler (tcp://host:8786) or of Spark's master (spark://host:7077); by default worker processes on
        this machine, one for each core.
    """
    if name == "dask":
        from ingenuo.rows import dask

        with dask.cluster(address):
            yield dask.read
    elif name == "spark":
        from ingenuo.rows import spark

        with spark.session(address) as session:
            yield partial(spark.read, session=session)
    else:
        raise InputError(f"engine={name!r} is not known{did_you_mean(name, ENGINES)}")


class Files:
    """The rows of a scan, on an engine; rows without a class are left out, and counted."""

    lies_in_parts = True
    drops_unlabelled = True

    def __init__(self, rows: Any, engine: Engine) -> None:
        scan = rows
        while not hasattr(scan, "declared"):  # columns that were selected from a scan
            scan = scan.stream
        self.names: list[str] = list(rows.names)
        self.kinds: Mapping[str, tuple[str, str]] = rows.kinds
        self.paths, self.target, self.schema = rows.paths, rows.target, scan.schema
        self.left_out = 0
        _refuse_unknown(scan, self.called)
        with self._named():
            self.frame = engine(scan)

    @property
    def called(self) -> str:
        """The files."""
        names = ", ".join(map(str, self.paths[:3]))
        return names + (f" and {len(self.paths) - 3} more" if len(self.paths) > 3 else "")

    def place(self, part: int) -> str:
        """Which part of the files it is."""
        return self.frame.place(part)

    def column(self, given: Any, what: str) -> tuple[Files, str]:
        """The files, and the name of one of their columns."""
        if not isinstance(given, str):
            raise KindError(f"{what} of files is the name of a column, not {type(given).__name__}")
        return self, known(self, given)

    def head(self, columns: Sequence[str], n: int) -> pa.Table:
        """The first rows of some columns."""
        with self._named():
            return self.frame.head(columns, n)

    def reduce(self, columns: Sequence[str], part: RemotePart, merge: Merge) -> bytes:
        """What the merged parts come to."""
        with self._named():
            return self.frame.reduce(columns, part, merge)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """What the readers of an engine refuse, with the files."""
        try:
            yield
        except IngenuoError:
            raise
        except (ValueError, OSError) as error:
            said = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise EngineError(
                f"{self.called}: the engine cannot read the files ({said}); training without --engine says where"
            ) from None


def _refuse_unknown(scan: Any, called: str) -> None:
    """Raise where files are in a form that the engines do not read."""
    for form in scan.forms():
        if form.format not in ("delimited", "parquet") or (form.format == "parquet" and form.packed):
            packed = "packed " if form.packed else ""
            raise InputError(
                f"{called}: an engine reads CSV, TSV and Parquet, and these files are {packed}{form.format}; leave "
                "--engine out, or write them as Parquet"
            )
        if form.encoding.startswith(("utf-16", "utf-32")):
            raise InputError(f"{called}: an engine does not read {form.encoding.upper()}; write the files as UTF-8")
        if "-" in form.paths:
            raise InputError(f"{called}: standard input is here alone; write it to a file, and give that")


def is_number(scan: Any, name: str) -> bool:
    """Whether a column of a scan is read as doubles: a number or a count, which may be whole as far as was looked."""
    return scan.kinds.get(name, ("target",))[0] in ("number", "count")


def set_aside(scan: Any) -> list[str]:
    """The columns of a scan that are not read."""
    return [name for name in scan.names if name not in scan.schema.names]


def absolute(paths: Sequence[str]) -> list[str]:
    """Paths as workers need them, which have folders of their own."""
    return [os.path.abspath(path) for path in paths]
