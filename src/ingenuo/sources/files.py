"""Tables from files: CSV and TSV, compressed or not, through Arrow.

Text in a file has to be UTF-8. What is not is an error that names the file, the column, the row and the byte, or is
replaced, as the reader is asked.
"""

from __future__ import annotations

import errno
import os
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.sources.texts import decode

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_PACKED = (".gz", ".bz2", ".zst", ".lz4")


def read(path: str | os.PathLike[str], target: str | None = None, *, errors: str = "strict") -> Any:
    r"""A file as an Arrow table; with a target, the table without that column, and the column.

    Parameters
    ----------
    path : path
        A .csv or .tsv file with a header, which may be compressed (.gz, .bz2, .zst, .lz4).
    target : str, optional
        The column to learn.
    errors : {"strict", "replace"}
        What to do with text that is not UTF-8: raise an error that says where, or put � in its place.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "reviews.csv")
    ...     _ = path.write_text("label,text\ngood,a fine film\nbad,a dull film\n")
    ...     X, y = read(path, "label")
    >>> X.column_names, y.to_pylist()
    (['text'], ['good', 'bad'])
    """
    if not isinstance(path, str | os.PathLike):
        raise KindError(f"path must be the path of a file, got {type(path).__name__} {path!r}")
    if errors not in ("strict", "replace"):
        raise InputError(f"errors must be 'strict' or 'replace', got {errors!r}")
    name = os.fspath(path)
    separator = _separator(name)
    try:
        table = _table(name, separator)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", name) from None
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{name}: the file cannot be read as a table ({_first_line(error)})") from None
    for place, column in enumerate(table.column_names):
        if pa.types.is_binary(table.schema.types[place]):  # which Arrow takes for what is not all UTF-8
            where = partial("{}: column {!r}, row {}".format, name, column)
            text = decode(table.column(place), errors, where, "save the file as UTF-8, or take errors='replace'")
            table = table.set_column(place, column, text)
    if target is None:
        return table
    if target not in table.column_names:
        raise InputError(f"{name} has no column {target!r}{did_you_mean(target, table.column_names)}")
    return table.drop_columns([target]), table.column(target)


def _separator(name: str) -> str:
    path = Path(name)
    suffix = Path(path.stem).suffix if path.suffix in _PACKED else path.suffix
    if suffix.lower() not in SEPARATORS:
        known = ", ".join(SEPARATORS)
        raise InputError(
            f"{name}: a file of type {suffix or 'unknown'!r} cannot be read; known: {known}, also compressed"
        )
    return SEPARATORS[suffix.lower()]


def _table(name: str, separator: str) -> Any:
    """The table; cells of text may hold line breaks, and an empty one is missing."""
    with pa.input_stream(name, compression="detect") as stream:
        return csv.read_csv(
            stream,
            read_options=csv.ReadOptions(block_size=1 << 24),
            parse_options=csv.ParseOptions(
                delimiter=separator,
                quote_char=False if separator == "\t" else '"',  # tabs need no quotes, and a stray one would join lines
                newlines_in_values=separator != "\t",
            ),
            convert_options=csv.ConvertOptions(strings_can_be_null=True, null_values=["", "NA", "NaN"]),
        )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
