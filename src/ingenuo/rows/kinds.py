"""What each column is, and why: the one inference of kinds, from the first rows of a column, through every door.

A format gives types: in a text file "1.25" is a number, in a frame of strings it is a string. What the types mean is
inferred here, for files, frames, arrays, streams and engines alike. Keys, names, dates and empty columns are ignored,
for they tell a model nothing, and yet seem to; whoever wants one declares it.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingenuo.errors import FileError, InputError, KindError, did_you_mean
from ingenuo.rows.schema import FAMILIES, family_of
from ingenuo.rows.source import KEY_ROWS, KEY_SHARE, SAMPLE, has_thousands, kind_of_strings, no_value
from ingenuo.tally.labels import spelled_value

CATEGORY = pa.dictionary(pa.int32(), pa.string())
TEXT = pa.large_string()
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_WHOLE = r"^-?\d{1,18}$"
LONG = r"^\s*[+-]?\d{16,}\s*$"  # whole numbers of which a double may lose digits
_MOSTLY = 0.8  # of the values are numbers: the others are taken for mistakes
_PROBE = 50  # values that are looked at before all are turned into numbers
_ID = re.compile(r"(?i:(^|[_ .-])(ids?|key|uuid)$)|[a-z]I[dD]$")  # how keys are called
_KIND, _WHY = b"ingenuo.kind", b"ingenuo.why"  # what a column is, and why, in the metadata of its field
_INDEX = re.compile(r"__index_level_\d+__")  # as pandas calls its own in a file
_CODES = 10  # so few different whole numbers may be codes


@dataclass(frozen=True)
class Kind:
    """The kind of a column, why, and the type in which it is read."""

    kind: str
    why: str
    type: Any
    labels: Any = None  # the type of the labels that the strings of a text file spell, where all are of one


class MixedColumn(Exception):
    """A column that is nearly all numbers: where the first value stands that is none."""

    def __init__(self, row: int, value: str) -> None:
        super().__init__(row, value)
        self.row, self.value = row, value


def not_a_number(name: str, line: int | None, column: str, value: str, row: int | None = None) -> FileError:
    """The error for a value that is no number in a column of numbers."""
    where = f"{name}, line {line}" if line is not None else f"{name}, row {row}"
    what = "has signs between thousands: write it without" if has_thousands(value) else "is none"
    error = FileError(
        f"{where}: column {column!r} holds numbers, and {value!r} {what}; correct the file, name the value as missing "
        f"(missing=[{value!r}]), or declare the column (columns={{{column!r}: 'category'}})"
    )
    return error.declaring(column, "category").typed_as(f"missing=[{value!r}]", f"--missing {value!r}")


def declared_kinds(
    columns: Mapping[str, Any] | None, names: list[str], where: str, only: bool, untitled: str = ""
) -> dict[str, str]:
    """The kind of each declared column: one of number, category, count, text, ignore."""
    if columns is not None and not isinstance(columns, Mapping):
        raise KindError(f"columns must be a mapping of column to kind, got {type(columns).__name__} {columns!r}")
    result, known = {}, set(names)
    for name, kind in (columns or {}).items():
        if name in known:
            if isinstance(kind, list | tuple | set | frozenset | np.ndarray):
                kind = "category"
            elif type(kind).__name__ == "Words":
                kind = "text"
            result[name] = FAMILIES[family_of(kind, name)]
        elif not only:
            raise InputError(f"{where} has no column {name!r}{untitled}{did_you_mean(name, names)}")
    return result


def infer_kind(
    name: str, values: Any, *, decimal: str | None = None, is_target: bool = False, declared: str | None = None
) -> Kind:
    """The kind of a column by its first values; `decimal` says that numbers are written as strings, with that sign."""
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    plain = CATEGORY if is_string(values.type) else values.type
    if declared == "ignore" and not is_target:
        return Kind("ignore", "declared", TEXT if decimal else values.type)
    if declared is None and not is_target:
        if _INDEX.fullmatch(name):
            return Kind("ignore", "the index of a pandas frame, which numbers its rows", values.type)
        if len(values) > SAMPLE and values[:SAMPLE].null_count == SAMPLE:
            values = values[:SAMPLE]  # so many rows decide, wherever they lie
    if declared in ("number", "count"):
        if decimal is None:
            type = values.type if pa.types.is_integer(values.type) else pa.float64()
        else:
            filled = pc.utf8_trim_whitespace(values.drop_null())
            type = pa.int64() if len(filled) and _all(filled, _WHOLE) else pa.float64()
        return Kind(declared, "declared", type)
    if declared == "text":
        return Kind("text", "declared", TEXT)
    spelled = as_labels(values) if decimal is not None else None
    labels = None if spelled is None else spelled.type
    if declared == "category":
        return Kind("category", "declared", plain, labels)
    found = _typed(name, values, is_target) if decimal is None else _written(name, values, decimal, is_target)
    if is_target:
        type = found.type if found.kind in ("number", "category") else plain
        return Kind("target", found.why, type, labels if type == CATEGORY else None)
    return replace(found, labels=labels) if found.kind == "category" else found


def as_labels(column: Any, type: Any = None) -> Any:
    """A column of strings as the values that they spell: booleans, or numbers; None where they are not all of a kind.

    With a type, they must be of that sort: booleans, or numbers.
    """
    encoded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = encoded if pa.types.is_dictionary(encoded.type) else encoded.dictionary_encode()
    values = [None if text is None else spelled_value(text) for text in encoded.dictionary.to_pylist()]
    types = {*map(builtins.type, values)} - {builtins.type(None)}
    if not types:
        return None if type is None else pa.nulls(len(encoded), type)
    if types != {bool} and not types <= {int, float}:
        return None
    if type is not None and (types == {bool}) != pa.types.is_boolean(type):
        return None
    return pa.array(values).take(encoded.indices)


def _all(values: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _cast(values: Any, type: Any, decimal: str) -> Any:
    """Strings as numbers; None where one is none. It is quick where all are, and slow where none is."""
    try:
        return pc.cast(values if decimal == "." else pc.replace_substring(values, decimal, "."), type)
    except pa.ArrowInvalid:
        return None


def _written(name: str, values: Any, decimal: str, is_target: bool) -> Kind:
    """The kind of a column of strings, which may be numbers that are written out."""
    trimmed = pc.utf8_trim_whitespace(values)
    filled = trimmed.drop_null()
    n = len(filled)
    if n == 0:
        return Kind("ignore", no_value(len(values)), TEXT)
    number = _NUMBER if decimal == "." else _NUMBER.replace(r"\.", ",")
    some = filled.slice(0, _PROBE)
    if _all(some, _WHOLE) and (numbers := _cast(filled, pa.int64(), ".")) is not None:
        if pc.any(pc.match_substring_regex(filled, r"^0\d")).as_py():
            return _strings(filled)
        return _whole(name, numbers, pa.int64())
    if _all(some, number) and _cast(filled, pa.float64(), decimal) is not None:
        if _ID.search(name) and _all(some, LONG):
            return Kind("ignore", "called an id, and of more digits than a number keeps: a key, no number", TEXT)
        return Kind("number", "numbers", pa.float64())
    encoded = trimmed.dictionary_encode()
    numbers = pc.fill_null(pc.match_substring_regex(encoded.dictionary, number).take(encoded.indices), True)
    n_others = len(values) - pc.sum(numbers).as_py()
    if n_others == 0:
        return Kind("number", "numbers", pa.float64())
    if not is_target and n - n_others >= _MOSTLY * n:
        row = pc.index(numbers, False).as_py()
        raise MixedColumn(row, values[row].as_py())
    return _strings(filled, is_target)


def _whole(name: str, values: Any, type: Any) -> Kind:
    """Whole numbers: measures, codes, or the names of rows, which tell a model nothing and yet seem to."""
    values = values.slice(0, SAMPLE)
    n, different = len(values), pc.count_distinct(values).as_py()
    if different == 1 and n > 1:
        return Kind("number", "the same in every row: it tells nothing", type)
    if different <= _CODES and n >= 3 * different:
        return Kind("number", f"whole numbers, {different} different; declare it 'category' if they are codes", type)
    if n >= KEY_ROWS and different > KEY_SHARE * n:
        if _ID.search(name):
            return Kind("ignore", f"called an id, and {different:,} of {n:,} are different: a key, no number", type)
        bounds = pc.min_max(values)
        if different == n and bounds["max"].as_py() - bounds["min"].as_py() == n - 1:
            why = "whole numbers in a row, each once; declare it 'ignore' if they only number the rows"
            return Kind("number", why, type)
    return Kind("number", "numbers", type)


def _strings(filled: Any, is_target: bool = False) -> Kind:
    kind, why = kind_of_strings(filled.slice(0, SAMPLE).to_pylist(), is_target)
    return Kind(kind, why, CATEGORY if kind == "category" else TEXT)


def is_string(type: Any) -> bool:
    """Whether values of the type are strings, not yet as a dictionary."""
    return pa.types.is_string(type) or pa.types.is_large_string(type) or str(type) == "string_view"


def sort_of(type: Any) -> str:
    """What values of a type are: columns of two files or partitions are of one sort."""
    if pa.types.is_dictionary(type):
        return sort_of(type.value_type)
    if pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type):
        return "number"
    if is_string(type) or pa.types.is_binary(type) or pa.types.is_large_binary(type):
        return "string"
    return "date" if pa.types.is_temporal(type) else str(type)


def _typed(name: str, values: Any, is_target: bool) -> Kind:
    """The kind of a column that has a type of its own."""
    type = values.type
    if values.null_count == len(values):
        return Kind("ignore", no_value(len(values)), type)
    if pa.types.is_integer(type):
        return _whole(name, values.drop_null(), type)
    if pa.types.is_floating(type) or pa.types.is_decimal(type):
        return Kind("number", "numbers", pa.float64() if pa.types.is_decimal(type) else type)
    if pa.types.is_boolean(type):
        return Kind("category", "true or false", type)
    if pa.types.is_dictionary(type):
        return Kind("category", f"categories, {len(values.dictionary)} different", type)
    if is_string(type):
        return _strings(values.drop_null(), is_target)
    if pa.types.is_binary(type) or pa.types.is_large_binary(type):
        return Kind("text", "bytes", type)
    if pa.types.is_temporal(type):
        return Kind("ignore", "dates are neither numbers nor categories", type)
    return Kind("ignore", f"{type} values are neither numbers nor categories", type)


def describe(table: Any, kinds: Mapping[str, tuple[str, str]]) -> Any:
    """The table, whose fields say what each column is and why."""
    fields = [
        field.with_metadata({_KIND: kinds[field.name][0].encode(), _WHY: kinds[field.name][1].encode()})
        if field.name in kinds
        else field
        for field in table.schema
    ]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields, table.schema.metadata))


def described_kind(field: Any) -> tuple[str, str] | None:
    """What a field of a table says its column is, and why."""
    found = field.metadata or {}
    return (found[_KIND].decode(), found.get(_WHY, b"").decode()) if _KIND in found else None


def as_types(table: Any, types: Mapping[str, Any], where: str) -> Any:
    """A table with the columns that are wanted, each in its type."""
    if table.column_names == list(types) and table.schema.types == list(types.values()):
        return table
    columns = []
    for name, type in types.items():
        column = table.column(name)
        try:
            if pa.types.is_dictionary(type) and not pa.types.is_dictionary(column.type):
                column = column.cast(type.value_type).dictionary_encode()
            columns.append(column if column.type == type else column.cast(type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise InputError(
                f"{where}: column {name!r} holds {column.type} values, which cannot be read as {type} "
                f"({str(error).splitlines()[0]}); declare it as another kind"
            ) from None
    return pa.table(columns, schema=pa.schema(list(types.items())))
