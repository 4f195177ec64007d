"""A few rows of a stream, by their numbers: it is read no further than the last of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ingenuo.errors import InputError

_PART = re.compile(r"\s*(\d{1,15})\s*(?:-\s*(\d{1,15})\s*)?")
_MOST = 10_000


def row_numbers(text: str) -> list[int]:
    """Numbers of rows as they are written, counted from 1.

    >>> row_numbers("3,7-9")
    [3, 7, 8, 9]
    """
    found: list[int] = []
    for part in text.split(","):
        matched = _PART.fullmatch(part)
        if matched is None:
            raise InputError(f"{part!r} in {text!r} is no row; write rows such as 3,7 or 7-9, counted from 1")
        first, last = int(matched[1]), int(matched[2] or matched[1])
        if first == 0:
            raise InputError(f"{text!r} asks for row 0; rows are counted from 1")
        if last < first:
            raise InputError(f"{part.strip()!r} in {text!r} runs backwards; write {last}-{first}")
        if last - first >= _MOST or len(found) + last - first >= _MOST:
            raise InputError(f"{text!r} asks for more than {_MOST:,} rows; ask for fewer")
        found += range(first, last + 1)
    return found


def picked(stream: Any, numbers: Sequence[int]) -> pa.Table:
    r"""The rows of these numbers (from 1), in their order.

    >>> import tempfile
    >>> from ingenuo.sources.files import scan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/rows.csv", "w") as file:
    ...         _ = file.write("a,b\n1,x\n2,y\n3,x\n")
    ...     picked(scan(f"{folder}/rows.csv"), [3, 1]).column("a").to_pylist()
    [3, 1]
    """
    last, seen = max(numbers), 0
    places: dict[int, int] = {}
    parts: list[pa.Table] = []
    for batch in stream.batches():
        wanted = sorted({number - seen - 1 for number in numbers if seen < number <= seen + batch.num_rows})
        if wanted or not parts:
            places |= {seen + place + 1: len(places) + at for at, place in enumerate(wanted)}
            parts.append(batch.take(pa.array(wanted, pa.int64())))
        seen += batch.num_rows
        if seen >= last:
            break
    if seen < last:
        files = ", ".join(map(str, stream.paths))
        raise InputError(f"{files}: there is no row {last:,}; there are {seen:,}, and the header is none of them")
    found = pa.concat_tables(parts, promote_options="default").unify_dictionaries()
    return found.take(pa.array([places[number] for number in numbers], pa.int64()))
