"""Files on an engine: Dask or Spark reads them itself, in the types and by the separators that `scan` found here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa

from ingenuo.errors import EngineError, IngenuoError, InputError, KindError, did_you_mean
from ingenuo.rows.streams import Frame, Merge, RemotePart, known

ENGINES = ("local", "dask", "spark")
Engine = Callable[[Any], Frame]  # the frame of a scan


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
