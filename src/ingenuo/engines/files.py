"""Files as rows that lie in parts: each worker reads its pieces of them, exactly as this machine would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

from ingenuo.engines.spread import Merge, Part, known
from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.sources.files.pieces import pieces

ENGINES = ("local", "dask", "spark")
_PIECES = 32  # at least, so that all workers have something to do,
_SMALL, _LARGE = 4 << 20, 128 << 20  # of no fewer bytes and no more than these


class Pieces(Protocol):
    """Pieces of files on an engine."""

    def reduce(self, part: Part, merge: Merge) -> bytes:
        """What the merged pieces come to."""
        ...


Engine = Callable[[Sequence[bytes]], Pieces]


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
        from ingenuo.engines import dask

        with dask.cluster(address):
            yield dask.DaskFiles
    elif name == "spark":
        from ingenuo.engines import spark

        with spark.session(address) as session:
            yield partial(spark.SparkFiles, session=session)
    else:
        raise InputError(f"engine={name!r} is not known{did_you_mean(name, ENGINES)}")


class Files:
    """The rows of a scan, on an engine; rows without a class are left out, and counted."""

    lies_in_parts = True
    drops_unlabelled = True

    def __init__(self, rows: Any, engine: Engine) -> None:
        whole = rows
        while not hasattr(whole, "declared"):  # columns that were selected from a scan
            whole = whole.stream
        self._scan, self._engine = whole, engine
        self.names: list[str] = list(rows.names)
        self.kinds: Mapping[str, tuple[str, str]] = rows.kinds
        self.paths, self.target, self.schema = rows.paths, rows.target, whole.schema
        self.left_out = 0

    @property
    def called(self) -> str:
        """The files."""
        names = ", ".join(map(str, self.paths[:3]))
        return names + (f" and {len(self.paths) - 3} more" if len(self.paths) > 3 else "")

    def place(self, part: int) -> str:
        """Nothing: messages name a file."""
        return ""

    def column(self, given: Any, what: str) -> tuple[Files, str]:
        """The files, and the name of one of their columns."""
        if not isinstance(given, str):
            raise KindError(f"{what} of files is the name of a column, not {type(given).__name__}")
        return self, known(self, given)

    def reduce(self, columns: Sequence[str], part: Part, merge: Merge) -> bytes:
        """What the merged pieces come to."""
        size = (self._scan.n_bytes or 0) // _PIECES
        return self._engine(pieces(self._scan, min(max(size, _SMALL), _LARGE))).reduce(part, merge)


__all__ = ["ENGINES", "Engine", "Files", "opened"]
