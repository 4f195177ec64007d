"""What a table holds, column by column: what is missing, and where the values lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Codes
from ingenuo.errors import IngenuoError
from ingenuo.labels import find, labels_of, objects
from ingenuo.report.markup import shortened
from ingenuo.schema import FAMILIES, Schema, column_name
from ingenuo.sources.table import Source

Floats = NDArray[np.float64]

COLUMNS = 60  # described one by one
_VALUES = 5  # of a category
_NUMBERS = 12  # different numbers from which on a column of categories is described as one of numbers
_TEXTS = 2_000  # whose words are counted
_BARS = "▁▂▃▄▅▆▇█"
_EMPTY = "\u2007"  # as wide as a digit


@dataclass(frozen=True)
class Column:
    """A column of a table, in words."""

    name: str
    kind: str
    missing: float  # share of the rows
    values: str
    bars: str = ""  # the histogram of numbers


def columns_of(source: Source, schema: Schema | None, most: int = COLUMNS) -> list[Column]:
    """The first columns of a table, as the schema reads them; without a schema, as they seem."""
    if schema is None or len(schema) == 0:
        places = list(range(min(len(source.names), most)))
        return [_column(source, place, source.names[place], source.guess(place)[0]) for place in places]
    by_place = not schema.named or source.names.dtype != object or source.anonymous
    own = {name: place for place, name in enumerate(source.names.tolist())}
    families, found = list(FAMILIES), []
    for at, (name, family) in enumerate(zip(schema.names[:most].tolist(), schema.families)):
        place = at if by_place else own.get(name)
        kind = FAMILIES[families[family]]
        if place is None:
            found.append(Column(column_name(name), kind, 1.0, "not in this table"))
        else:
            found.append(_column(source, place, name, kind))
    return found


def _column(source: Source, place: int, name: Any, kind: str) -> Column:
    called = column_name(name)
    at, names = np.array([place]), source.names[[place]]
    if kind == "ignore":
        return Column(called, "ignored", float("nan"), "set aside: the model does not look at it")
    try:
        if kind == "text":
            return _text(source, at, names, called)
        if kind == "number":
            return _numbers(source.numbers(at, names).column(0), called, kind)
        if kind == "count":
            return _counts(source.counts(at, names).matrix, called)
        return _categories(source.codes(at, names), called)
    except IngenuoError as error:
        return Column(called, kind, float("nan"), str(error))


def _numbers(values: Floats, called: str, kind: str) -> Column:
    """Least, quarters and most."""
    there = values[np.isfinite(values)]
    missing = 1 - len(there) / max(len(values), 1)
    if not len(there):
        return Column(called, kind, missing, "no value")
    quarters = np.quantile(there, [0, 0.25, 0.5, 0.75, 1])
    low, first, middle, third, high = map(_figure, quarters.tolist())
    said = f"{low} to {high}; half between {first} and {third}, median {middle}"
    return Column(called, kind, missing, said if low != high else f"always {low}", _histogram(there))


def _figure(value: float) -> str:
    """A number as a person would write it.

    >>> _figure(1490400.0), _figure(0.12345)
    ('1,490,400', '0.1235')
    """
    return f"{value:,.0f}" if value.is_integer() or abs(value) >= 10_000 else f"{value:.4g}"


def _histogram(values: Floats) -> str:
    """The values' histogram in a line, between the outermost hundredths.

    >>> _histogram(np.array([1.0, 1, 1, 2, 2, 3])).split()
    ['█', '▆', '▃']
    """
    low, high = np.quantile(values, [0.01, 0.99])
    if not low < high:
        return ""
    counts = np.histogram(values.clip(low, high), len(_BARS), (low, high))[0]
    heights = np.ceil(counts / counts.max() * len(_BARS)).astype(int) - 1
    return "".join(_BARS[height] if height >= 0 else _EMPTY for height in heights)


def _counts(matrix: Any, called: str) -> Column:
    """How many rows have any, and how much."""
    values = np.asarray(matrix.todense() if hasattr(matrix, "todense") else matrix, np.float64).ravel()
    some = values > 0
    if not some.any():
        return Column(called, "count", 0.0, "0 in every row")
    return Column(
        called, "count", 0.0, f"in {some.mean():.1%} of the rows; {values[some].mean():.3g} there, on average"
    )


def _categories(block: Codes, called: str) -> Column:
    """The most frequent values and their shares."""
    codes = np.asarray(block.columns[:, 0] if isinstance(block.columns, np.ndarray) else block.columns[0])
    there = codes[codes >= 0].astype(np.int64)
    missing = 1 - len(there) / max(len(codes), 1)
    counts = np.bincount(there)
    labels = np.arange(len(counts)) if block.labels is None else block.labels[0][: len(counts)]
    used = np.flatnonzero(counts)
    if len(used) > _NUMBERS and _are_numbers(labels[used].tolist()):
        return _numbers(np.asarray(labels.tolist(), np.float64)[there], called, "category")
    order = used[np.argsort(-counts[used], kind="stable")]
    shown = [
        f"{shortened(label, 30)} {counts[k] / max(len(there), 1):.0%}"
        for k, label in zip(order[:_VALUES].tolist(), labels[order[:_VALUES]].tolist())
    ]
    more = len(order) - _VALUES
    said = ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
    return Column(called, "category", missing, said or "no value")


def _are_numbers(labels: Sequence[Any]) -> bool:
    return all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)


def _text(source: Source, at: Any, names: Any, called: str) -> Column:
    """How long the texts are, by the first of them."""
    text = source.texts(at, names).columns[0]  # type: ignore[attr-defined]
    lengths: list[int] = []
    missing = n_rows = 0
    for piece in text.pieces("replace"):
        n_rows += piece.n_rows
        holes = np.zeros(piece.n_rows, bool) if piece.missing is None else piece.missing
        missing += int(holes.sum())
        for row in np.flatnonzero(~holes)[: _TEXTS - len(lengths)].tolist():
            lengths.append(len(bytes(piece.data[piece.offsets[row] : piece.offsets[row + 1]]).split()))
    if not lengths:
        return Column(called, "text", 1.0, "no text")
    low, middle, high = np.quantile(lengths, [0, 0.5, 1])
    of = "" if len(lengths) + missing == n_rows else f", of the first {len(lengths):,}"
    return Column(called, "text", missing / n_rows, f"{low:.0f} to {high:.0f} words, median {middle:.0f}{of}")


def kinds_beyond(schema: Schema, most: int = COLUMNS) -> str:
    """How many columns of each kind are not described, in words; "" where all are.

    >>> kinds_beyond(Schema.of({"a": "number", "b": "category", "c": "number"}), 1)
    '2 more columns are not listed: 1 category, 1 number.'
    """
    kinds = [kind for _, kind, _, _ in schema.rows(len(schema))[most:]]
    if not kinds:
        return ""
    counted = ", ".join(f"{kinds.count(kind):,} {kind}" for kind in sorted(set(kinds)))
    return f"{len(kinds):,} more column{'s are' if len(kinds) > 1 else ' is'} not listed: {counted}."


def telling(source: Source, schema: Schema, codes: NDArray[Any], most: int) -> list[Any]:
    """The columns of numbers that differ most between the classes of the rows, the most telling first.

    What is compared is the share of a column's variance that lies between the classes' means (η²).
    """
    chosen = [
        name for name, (_, kind, _, _) in zip(schema.names.tolist(), schema.rows(len(schema))) if kind == "number"
    ]
    if not chosen:
        return []
    own = labels_of(source.names)
    places = np.argsort(find(own, source.names))[find(own, objects(chosen) if schema.named else np.array(chosen))]
    strength: list[tuple[float, int, Any]] = []
    for name, place in zip(chosen, places.tolist()):
        values = source.numbers(np.array([place]), source.names[[place]]).column(0)
        strength.append((-_between(values, codes), len(strength), name))
    return [name for _, _, name in sorted(strength)[:most]]


def _between(values: Floats, codes: NDArray[Any]) -> float:
    there = np.isfinite(values)
    x, y = values[there], codes[there].astype(np.int64)
    if len(x) < 2 or x.min() == x.max():
        return 0.0
    x = (x - x.mean()) / np.abs(x).max()
    counts, sums = np.bincount(y), np.bincount(y, x)
    some = counts > 0
    whole = float(((x - x.mean()) ** 2).sum())
    return float((sums[some] ** 2 / counts[some]).sum() - x.sum() ** 2 / len(x)) / whole if whole > 0 else 0.0
