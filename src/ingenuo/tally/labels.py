"""Labels of classes, categories and columns: sorted arrays that can be united and looked up.

A label is a number, a boolean, a string or any other hashable value. Numbers live in arrays of their own type,
everything else in arrays of objects; the order is the natural one (mixed types: by type name first). Because
the order is canonical, two tallies of the same rows have the same axes, however the rows came in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import KindError
from ingenuo.kernels.codes import count_codes

# Strings that are looked up in a dictionary; of more, Arrow is faster (7 ms of 100,000, not 12), and worth its import.
_FEW = 1 << 15

_BOOLEANS = {"True": True, "true": True, "TRUE": True, "False": False, "false": False, "FALSE": False}
_NUMBER = re.compile(r"-?\d{1,18}(\.\d+)?")

Labels = NDArray[Any]
Codes = NDArray[np.int32]


def is_missing(value: object) -> bool:
    """None, NaN, NaT and pandas' NA stand for "no value"."""
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value))
    )


def _order(value: object) -> tuple[str, Any]:
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return "", value
    kind = type(value).__name__
    if isinstance(value, tuple):
        return kind, tuple(map(_order, value))
    if isinstance(value, frozenset):  # "<" between sets is no order
        return kind, tuple(sorted(map(_order, value)))
    try:
        value < value  # type: ignore[operator]  # noqa: B015
    except TypeError:
        return kind, repr(value)
    return kind, value


def _plain(value: Any) -> Any:
    """NumPy's scalars and pandas' time stamps as Python's own, where nothing is lost by it."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        return value.item()
    if hasattr(value, "to_pydatetime") and not getattr(value, "nanosecond", 0):
        return value.to_pydatetime()
    return value


def labels_of(values: Iterable[Any]) -> Labels:
    """The distinct values, sorted, in the narrowest array that holds them without changing one."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        ascending = bool((values[1:] > values[:-1]).all())  # as positions of columns are
        return _numbers(values if ascending else np.unique(values))
    distinct = {_plain(value) for value in values}
    kinds = {type(value) for value in distinct}
    if kinds <= {bool} and kinds:
        return np.array(sorted(distinct), np.bool_)
    if kinds <= {int} and all(-(1 << 63) <= v < 1 << 63 for v in distinct):
        return np.array(sorted(distinct), np.int64)
    if kinds <= {int, float, bool} and all(not isinstance(v, int) or abs(v) <= 1 << 53 for v in distinct):
        return np.array(sorted(distinct), np.float64)
    try:
        return objects(sorted(distinct, key=None if kinds == {str} else _order))
    except TypeError:  # values of one type that do not compare, as times with and without a zone
        return objects(sorted(distinct, key=lambda value: (type(value).__name__, repr(value))))


def _numbers(values: NDArray[Any]) -> Labels:
    kind = values.dtype.kind
    if kind == "u" and values.size and values[-1] > np.iinfo(np.int64).max:
        return objects(values.tolist())
    return values.astype({"b": np.bool_, "f": np.float64}.get(kind, np.int64), copy=False)


def objects(values: list[Any]) -> Labels:
    """A one-dimensional array of objects, whatever they are (tuples stay tuples)."""
    result = np.empty(len(values), object)
    result[:] = values
    return result


def shown(labels: Labels) -> list[str]:
    """How errors write each label."""
    return list(map(repr, labels.tolist()))


def same(a: Labels, b: Labels) -> bool:
    """Whether two label arrays hold the same labels."""
    if a is b or len(a) != len(b):
        return a is b
    if a.dtype == b.dtype:  # as nearly always: without the checks of NumPy's own function
        return bool(a.tolist() == b.tolist() if a.dtype == object else (a == b).all())
    if a.dtype != object and b.dtype != object and not _comparable(a, b):
        return bool(a.tolist() == b.tolist())
    return bool(np.array_equal(a, b))


def unite(a: Labels, b: Labels) -> Labels:
    """All the labels of both, sorted."""
    if same(a, b) or len(b) == 0:
        return a
    if len(a) == 0:
        return b
    if _comparable(a, b):
        return _numbers(np.union1d(a, b))
    return labels_of([*a.tolist(), *b.tolist()])


def _comparable(a: Labels, b: Labels) -> bool:
    """Whether both hold numbers that NumPy compares exactly: doubles beside large integers it would round."""
    if a.dtype == object or b.dtype == object:
        return False
    if "f" not in (a.dtype.kind, b.dtype.kind) or a.dtype == b.dtype:
        return True
    return all(
        part.dtype.kind != "i" or not part.size or max(-int(part.min()), int(part.max())) <= 1 << 53 for part in (a, b)
    )


def find(labels: Labels, wanted: Labels) -> NDArray[np.intp]:
    """Where each wanted label stands among the (sorted) labels; -1 where it is not."""
    if labels is wanted:
        return np.arange(len(labels))
    if len(labels) == 0:
        return np.full(len(wanted), -1, np.intp)
    if _comparable(labels, wanted):
        place = np.minimum(np.searchsorted(labels, wanted), len(labels) - 1)
        return np.where(labels[place] == wanted, place, -1)
    position = {label: i for i, label in enumerate(labels.tolist())}
    return np.array([position.get(label, -1) for label in wanted.tolist()], np.intp).reshape(len(wanted))


def spelled_value(text: str) -> Any:
    """What a label of a text file stands for: a boolean, or a number as Python writes it; else the string itself."""
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text) if "." in text else int(text)
    return number if str(number) == text else text


def meet(labels: Labels, known: Labels) -> Labels:
    """The labels, of which those that are not known are what a known one spells, or is spelled by: "True" and True."""
    if len(known) == 0 or (labels.dtype != object and known.dtype != object):
        return labels
    there, given = known.tolist(), labels.tolist()
    strange = {*given}.difference(there)
    if not strange or ({*map(type, strange)} == {str} == {*map(type, there)}):
        return labels
    # By what each spells, and whether it is a string: a string meets a value, and no other string.
    meant = {(_value(label), isinstance(label, str)): label for label in reversed(there)}
    found = {label: meant.get((_value(label), not isinstance(label, str)), label) for label in strange}
    taken = {*given}
    changed = [found[label] if label in strange and found[label] not in taken else label for label in given]
    return objects(changed) if strange.intersection(given) != strange.intersection(changed) else labels


def _value(label: Any) -> tuple[bool, Any]:
    value = spelled_value(label) if isinstance(label, str) else label
    return isinstance(value, bool), value  # True is equal to 1


def recognise(known: Labels, labels: Labels) -> NDArray[np.intp]:
    """Where each label stands among those that are known, by its value or as it is spelled; -1 where it is not."""
    places = find(known, labels)
    return places if len(places) == 0 or int(places.min()) >= 0 else find(known, meet(labels, known))


def encode(values: Any) -> tuple[NDArray[Any], Labels]:
    """Codes (small integers, -1 = missing) and the sorted labels they stand for."""
    array = values if isinstance(values, np.ndarray) else objects(list(values))
    if array.dtype.kind == "b":
        array = array.astype(np.int8)
        codes, labels = _encode_integers(array)
        return codes, labels.astype(np.bool_)
    if array.dtype.kind in "iu":
        return _encode_integers(array)
    if array.dtype.kind == "f":
        return _encode_floats(array)
    if len(array) == 1 and type(array[0]) is str:  # one row: the way is long for many
        return np.zeros(1, np.int32), objects(array.tolist())
    return _encode_objects(array)


def _encode_integers(array: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    if array.size == 0:
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    low, high = int(array.min()), int(array.max())
    if high - low < max(1 << 16, array.size // 4):
        shifted = array if low == 0 else array.astype(np.int64) - low
        present = count_codes(shifted, high - low + 1) > 0
        labels = np.flatnonzero(present) + low
        if len(labels) == high - low + 1:
            return shifted.astype(np.int32, copy=False), _numbers(labels)
        return (np.cumsum(present, dtype=np.int32) - 1)[shifted].astype(np.int32), _numbers(labels)
    labels, codes = np.unique(array, return_inverse=True)
    return codes.astype(np.int32), _numbers(labels)


def _encode_floats(array: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    missing = np.isnan(array)
    if missing.any():
        codes = np.full(array.shape, -1, np.int32)
        codes[~missing], labels = _encode_floats(array[~missing])
        return codes, labels
    if array.size and np.abs(array).max() < 1 << 53 and np.array_equal(np.rint(array), array):
        codes, labels = _encode_integers(array.astype(np.int64))
        return codes, labels.astype(np.float64)
    labels, inverse = np.unique(array, return_inverse=True)
    return inverse.astype(np.int32), labels.astype(np.float64)


def _encode_objects(array: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    if array.dtype.kind == "M":
        array = array.astype("M8[us]").astype(object)
    text = array.dtype.kind in "UT" or all(value is None or type(value) is str for value in array[:100])
    if not text:
        return _encode_any(array)
    return _encode_few(array) if len(array) < _FEW else _encode_many(array)


def _encode_any(array: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    position: dict[Hashable, int] = {}
    codes = np.empty(len(array), np.int32)
    for i, value in enumerate(array.tolist()):
        if is_missing(value):
            codes[i] = -1
            continue
        try:
            codes[i] = position.setdefault(_plain(value), len(position))
        except TypeError:
            raise KindError(
                f"row {i}: the argument must be a string or a number, got {type(value).__name__} {value!r}"
            ) from None
    labels = labels_of(position)
    return recode(codes, objects(list(position)), labels), labels


def _encode_few(array: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    values = array.tolist()
    if not set(map(type, values)) <= {str, type(None)}:
        return _encode_any(array)
    position = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return from_dictionary(np.fromiter(map(position.__getitem__, values), np.int32, len(values)), list(position))


def _encode_many(array: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    import pyarrow as pa

    try:
        found = pa.array(array, from_pandas=True)  # which finds out whether all is text: bytes, say, are not
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, UnicodeEncodeError):
        return _encode_any(array)
    if not (pa.types.is_string(found.type) or pa.types.is_large_string(found.type)):
        return _encode_any(array)
    encoded = found.dictionary_encode()
    return from_dictionary(encoded.indices.fill_null(-1).to_numpy(), encoded.dictionary.to_pylist())


def from_dictionary(codes: NDArray[Any], values: list[Any]) -> tuple[NDArray[Any], Labels]:
    """Codes into a dictionary of values in any order, turned to sorted labels; values may repeat or be missing."""
    kept = [value for value in values if not is_missing(value)]
    labels = labels_of(kept)
    if len(kept) == len(values) and same(objects(kept), labels):
        return codes, labels
    return recode(codes, objects(values), labels), labels


def recode(codes: NDArray[Any], old: Labels, new: Labels) -> NDArray[Any]:
    """Codes that pointed into `old`, pointing into `new` (-1 where the label is not there)."""
    table = np.append(find(new, old), -1).astype(np.int32)  # the last place serves code -1
    return np.asarray(table[codes])


def public(classes: Labels) -> NDArray[Any]:
    """Classes as scikit-learn shows them: text as an array of strings."""
    if classes.dtype == object and len(classes) and all(type(label) is str for label in classes):
        return np.array(classes.tolist())
    return classes
