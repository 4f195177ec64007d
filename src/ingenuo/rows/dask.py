"""Dask: a task for each partition, and a tree of tasks that merge, always in the order of the partitions.

A worker that dies has its tasks run again elsewhere, as Dask does with any task.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from ingenuo.errors import EngineError, InputError, KindError
from ingenuo.rows import engines
from ingenuo.rows.engines import TOGETHER, EngineFrame, Merge, RemotePart

try:
    import dask.dataframe as dd
    import distributed
    import pandas as pd
    from dask.delayed import delayed
    from distributed.comm.core import CommClosedError
except ImportError as error:
    raise engines.not_installed("dask", str(error.name or "dask")) from None

_WAIT = 10  # seconds for a scheduler to answer
# Since 3.1 pandas reads every number exactly, and says that the option is no longer needed.
_EXACT = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
_SAMPLE = 1 << 20  # bytes by which Dask checks the types


class DaskFrame(EngineFrame):
    """A Dask DataFrame."""

    called = "the Dask frame"

    def __init__(self, frame: Any) -> None:
        odd = next((name for name in frame.columns if not isinstance(name, str)), None)
        if odd is not None:
            raise InputError(f"the Dask frame has a column called {odd!r}; name columns by strings")
        super().__init__(frame, list(frame.columns))

    @staticmethod
    def of(X: Any) -> DaskFrame:
        """The frame; a series is a frame of one column."""
        if isinstance(X, dd.Series):
            X = X.to_frame(name=X.name if X.name is not None else "text")
        if not isinstance(X, dd.DataFrame):
            raise KindError(f"a Dask {type(X).__name__} is no table; give the DataFrame to fit")
        return DaskFrame(X)

    @property
    def schema(self) -> pa.Schema:
        """The type of each column; null for objects."""
        return pa.Schema.from_pandas(self.frame._meta, preserve_index=False).remove_metadata()

    def _own_column(self, given: Any, what: str) -> tuple[EngineFrame, str]:
        if not isinstance(given, dd.Series):
            raise KindError(
                f"{what} of a Dask frame is the name of a column, or a Dask Series, not {type(given).__name__}"
            )
        name = given.name if isinstance(given.name, str) else what
        if name in self.names and self.frame[name]._name == given._name:
            return self, name
        while name in self.names:
            name += "_"
        if self.frame.npartitions != given.npartitions:
            raise InputError(
                f"{what} has {given.npartitions} partitions and the frame {self.frame.npartitions}; make it a column "
                "of the frame, and name it"
            )
        return DaskFrame(self.frame.assign(**{name: given})), name

    def head(self, columns: Sequence[str], n: int) -> pa.Table:
        """The first rows of some columns."""
        return next(_arrow(self.frame[list(columns)].head(n, npartitions=-1)))

    def reduce(self, columns: Sequence[str], part: RemotePart, merge: Merge) -> bytes:
        """What the merged partitions come to."""
        held = delayed((part,), traverse=False, pure=False)  # once in the graph, however many tasks need it
        frames = self.frame[list(columns)].to_delayed()
        return _merge_all([delayed(_reduce_frame)(held, number, each) for number, each in enumerate(frames)], merge)

    def with_answers(self, answer: Callable[[pa.Table], pa.Table], fields: pa.Schema) -> Any:
        """A Dask DataFrame with what a function answers to its rows in further columns, not yet computed."""
        _refuse_lacking()
        meta = pd.concat([self.frame._meta, _pandas(fields.empty_table(), self.frame._meta.index)], axis=1)
        return self.frame.map_partitions(_beside, answer, meta=meta)


def read(scan: Any) -> DaskFrame:
    """The files of a scan as Dask reads them, in the types that the scan found; columns that are not read are empty."""
    frames = [
        dd.read_parquet(engines.absolute(form.paths), columns=scan.schema.names, dtype_backend="pyarrow")
        if form.format == "parquet"
        else _read_delimited(scan, form)
        for form in scan.forms()
    ]
    frame = frames[0] if len(frames) == 1 else dd.concat(frames)
    return DaskFrame(frame.assign(**dict.fromkeys(engines.columns_not_read(scan))))


def _read_delimited(scan: Any, form: Any) -> Any:
    """A partition for each file: a line end may stand within quotes, so that a file cannot be cut anywhere."""
    dialect, strings = form.dialect, pd.StringDtype("pyarrow")
    cells = {"double": "float64", "long": "Int64", "boolean": "boolean", "string": strings}
    types = {field.name: cells[engines.cell_type(scan, field)] for field in scan.schema}
    frame = dd.read_csv(
        engines.absolute(form.paths), blocksize=None, sample=_SAMPLE, sep=dialect.separator, decimal=dialect.decimal,
        quotechar=dialect.quote or '"', quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        header=None, names=list(dialect.names), usecols=list(types), skiprows=form.skipped, dtype=types,
        na_values=list(form.missing), keep_default_na=False, skipinitialspace=dialect.padded,
        encoding=form.encoding, encoding_errors=form.errors, **_EXACT,
    )  # fmt: skip
    if dialect.padded:
        frame = frame.assign(**{name: frame[name].str.rstrip() for name, type in types.items() if type is strings})
    return frame[list(types)]


@contextmanager
def cluster(address: str | None = None) -> Iterator[None]:
    """The cluster at an address, or worker processes on this machine, as long as it is needed."""
    if address is None:
        with (
            distributed.LocalCluster(threads_per_worker=1, dashboard_address="127.0.0.1:0") as own,
            distributed.Client(own),
        ):
            yield
        return
    try:
        client = distributed.Client(address, timeout=_WAIT)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"there is no Dask scheduler at {address!r} ({str(error).splitlines()[0]}); start one (dask scheduler), "
            "and give its address, such as tcp://host:8786"
        ) from None
    with client:
        yield


def _refuse_lacking() -> None:
    """Raise where a worker cannot import this package; such a worker would fail over every task, and never end."""
    try:
        client = distributed.default_client()
    except ValueError:  # threads of this process, which has it
        return
    try:
        client.run(exec, "import ingenuo")
    except ModuleNotFoundError as error:
        if not engines.lacks_package(str(error)):
            raise
        raise engines.without_package("the Dask cluster") from None


def _merge_all(level: list[Any], merge: Merge) -> bytes:
    """The merged parts: a tree of tasks in a fixed order."""
    _refuse_lacking()
    while len(level) > 1:
        groups = [level[at : at + TOGETHER] for at in range(0, len(level), TOGETHER)]
        level = [delayed(merge)(group) for group in groups]
    if not level:
        return merge([])
    try:
        return bytes(level[0].compute())
    except distributed.scheduler.KilledWorker:
        raise EngineError(
            "workers of the Dask cluster died again and again over one part, and nothing was learned; give them more "
            "memory, or the frame smaller partitions"
        ) from None
    except (distributed.client.FutureCancelledError, CommClosedError) as error:
        raise EngineError(
            f"the Dask cluster was lost on the way ({str(error).splitlines()[0]}); nothing was learned"
        ) from None


def _reduce_frame(held: tuple[RemotePart], number: int, frame: Any) -> bytes:
    return held[0](number, _arrow(frame))


def _arrow(frame: Any) -> Iterator[pa.Table]:
    try:
        yield pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"{'; '.join(map(str, error.args))}; give each column values of one kind") from None


def _pandas(table: pa.Table, index: Any) -> Any:
    found = table.to_pandas(types_mapper={pa.string(): pd.StringDtype("pyarrow")}.get)
    return found.set_index(index)


def _beside(frame: Any, answer: Callable[[pa.Table], pa.Table]) -> Any:
    found = answer(pa.Table.from_pandas(frame, preserve_index=False))
    return pd.concat([frame, _pandas(found, frame.index)], axis=1)
