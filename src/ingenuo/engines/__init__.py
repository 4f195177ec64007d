"""Where rows are reduced to one tally: this machine, Dask, Spark. An engine maps and merges, and holds no formula."""

from __future__ import annotations

from typing import Any

from ingenuo.engines.spread import Spread


def spread(X: Any) -> Spread | None:
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
