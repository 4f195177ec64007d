"""One type for each column of several files that have types of their own (Parquet, Arrow), whatever their order.

Where one file has whole numbers and another doubles, as pandas writes them where values are missing, the column is read
as doubles from the first row on. Where one has numbers and another strings, they are not the same column.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ingenuo.errors import FileError
from ingenuo.sources.files.columnar import Typed
from ingenuo.sources.files.contents import Content
from ingenuo.sources.files.kinds import Kind, is_string


def united(
    kinds: dict[str, Kind], contents: Sequence[Content], declared: Container[str], target: str | None
) -> dict[str, Kind]:
    """The kinds, each with a type that holds the column in every file; an error where a file has another sort."""
    result = dict(kinds)
    for content in _different(contents):
        for name, kind in result.items():
            if kind.kind == "ignore":
                continue
            own = content.own_schema.field(name).type
            if pa.types.is_null(own) or own == kind.type:
                continue
            if _sort(own) == _sort(kind.type):
                result[name] = replace(kind, type=_wider(kind.type, own, whole=kind.kind not in ("number", "count")))
            elif (name not in declared or name == target) and content.first().num_rows:
                raise FileError(
                    f"{content.file.name}: column {name!r} holds {own} values, and {kind.type} in the files before it; "
                    f"write it as one type in all, or declare what it is (--column {name}=number or {name}=category)"
                )
    return result


def _different(contents: Sequence[Content]) -> Iterator[Typed]:
    """A file for each schema that there is."""
    seen: set[int] = set()
    for content in contents:
        if isinstance(content, Typed) and id(content.own_schema) not in seen:
            seen.add(id(content.own_schema))
            yield content


def _sort(type: Any) -> str:
    if pa.types.is_dictionary(type):
        return _sort(type.value_type)
    if pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type):
        return "number"
    if is_string(type) or pa.types.is_binary(type) or pa.types.is_large_binary(type):
        return "string"
    return str(type)


def _wider(one: Any, other: Any, *, whole: bool) -> Any:
    """A type of numbers that holds both; with `whole`, labels, which stay whole."""
    if pa.types.is_dictionary(one) or _sort(one) != "number" or pa.types.is_dictionary(other):
        return one
    if pa.types.is_integer(one) and pa.types.is_integer(other):
        signed = [pa.types.is_signed_integer(type) for type in (one, other)]
        if signed[0] == signed[1]:
            return max(one, other, key=lambda type: type.bit_width)
        unsigned = other if signed[0] else one
        return pa.int64() if whole or unsigned.bit_width < 64 else pa.float64()
    if whole and pa.types.is_integer(one):
        return one
    if pa.types.is_floating(one) and pa.types.is_floating(other):
        return max(one, other, key=lambda type: type.bit_width)
    return pa.float64()
