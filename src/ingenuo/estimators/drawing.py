"""Rows that were drawn from a model, as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def table_of(values: dict[Any, NDArray[Any]], names: list[Any], named: bool) -> Any:
    """An Arrow table where the columns have names, else an array."""
    if named:
        import pyarrow as pa

        return pa.table({str(name): _arrow(values[name].tolist()) for name in names})
    columns = [values[name] for name in names]
    if all(column.dtype.kind in "fiu" for column in columns):
        return np.column_stack(columns)
    result = np.empty((len(columns[0]), len(columns)), object)
    for j, column in enumerate(columns):
        result[:, j] = column
    return result


def _arrow(values: list[Any]) -> Any:
    """An Arrow array; of values of several types, which Arrow has no array for, as text."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([str(value) for value in values])
