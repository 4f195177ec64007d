"""A file, or several, as one Arrow table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ingenuo.sources.files.scanning import scan

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def read(path: Paths, target: str | None = None, *, errors: str = "strict", **options: Any) -> Any:
    r"""A file as an Arrow table; with a target, the table without that column, and the column.

    Parameters
    ----------
    path : path, or list of paths
        A file of CSV, TSV, Parquet, Arrow, JSON lines, ARFF or fastText's lines, packed or not; several, a glob, a
        folder of them, or a folder with a sub-folder of texts for each class. See `ingenuo.sources.files.scan`.
    target : str, optional
        The column to learn.
    errors : {"strict", "replace"}
        What to do with text that is not in its encoding: raise an error that says where, or put � in its place.
    **options
        Those of `scan`: format, separator, quote, encoding, header, missing, columns.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "reviews.csv")
    ...     _ = path.write_text("label,text\ngood,a fine film\nbad,a dull film\n")
    ...     X, y = read(path, "label")
    >>> X.column_names, y.to_pylist()
    (['text'], ['good', 'bad'])
    """
    table = scan(path, target=target, errors=errors, **{"keep_all": True, **options}).table()
    if target is None:
        return table
    return table.drop_columns([target]), table.column(target)
