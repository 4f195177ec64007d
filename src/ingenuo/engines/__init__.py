"""Where rows are reduced to one tally: this machine, Dask, Spark. An engine maps and merges, and holds no formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingenuo.engines.spread import Spread


def is_spread(X: Any) -> bool:
    """Whether the rows of X lie on an engine: a Dask or Spark frame, or files."""
    return rows_on_engine(X) is not None


def rows_on_engine(X: Any) -> Spread | None:
    """The rows of a Dask or Spark frame, or of files on an engine; None for anything else."""
    if getattr(X, "lies_in_parts", False):
        return X  # type: ignore[no-any-return]
    home = type(X).__module__
    if home.startswith(("dask.dataframe", "dask_expr")):
        from ingenuo.engines.dask import DaskFrame

        return DaskFrame.of(X)
    if home.startswith("pyspark.sql"):
        from ingenuo.engines.spark import SparkFrame

        return SparkFrame.of(X)
    return None
