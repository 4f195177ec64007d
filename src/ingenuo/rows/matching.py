"""The rows of files as a fitted model takes them: its columns and no others, as what it knows them for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.rows.rows import files_of
from ingenuo.rows.schema import FAMILIES, Schema
from ingenuo.rows.streams import Labelled, Made, Progress, Selected
from ingenuo.rows.typed import category, known_categories, reads_texts
from ingenuo.tally.labels import Labels


def chosen(model: Any, rows: Any, target: str | None) -> Any:
    """The columns that a model can learn from: of a language model the one that is text."""
    if not hasattr(model, "boundaries"):  # which the models of sequences have
        return rows
    target = rows.target if target is None else target
    return Selected(rows, [text_column(rows, target), *([] if target is None else [target])])


def text_column(rows: Any, target: str | None) -> str:
    """The one column that holds texts."""
    texts = [name for name, (kind, _) in rows.kinds.items() if kind == "text" and name != target]
    others = [name for name in rows.names if name != target]
    if len(texts) == 1 or (not texts and len(others) == 1):
        return str((texts or others)[0])
    raise InputError(
        f"{files_of(rows)}: one column of texts is needed, and there {'are several' if texts else 'is none'} "
        f"({', '.join(map(repr, texts or others))}); say which it is, and set the others aside"
    )


def rows_for(
    model: Any,
    rows: Any,
    target: str | None = None,
    *,
    labelled: bool = True,
    besides: Sequence[str] = (),
    others: bool = False,
) -> Any:
    """The rows of a scan as a fitted model takes them, with their class where it is asked for.

    Columns that the model does not know are left out, but for those named in `besides`; with `others` they are read all
    the same, for `pairs`. The class is the `target` of what is returned.
    """
    if not hasattr(model, "schema_"):
        raise KindError(f"a {type(model).__name__} learns and answers no rows of a table; a model does")
    texts = reads_texts(model)
    own, renamed = {} if texts else _kinds(model), {}
    named = target_of(model, rows, target) if labelled else None
    more = [name for name in besides if name != named]
    if not texts and model.schema_.named:
        lacking = [name for name, kind in own.items() if kind != "ignore" and name not in rows.names]
        if lacking:
            raise InputError(
                f"{files_of(rows)}: there is no column {lacking[0]!r}, which the model was trained on"
                f" (add it, left empty if it is not known){did_you_mean(lacking[0], rows.names)}"
            )
        kinds = {name: own[name] for name in rows.names if name != named and own.get(name, "ignore") != "ignore"}
        kinds |= {name: _guessed(rows, name) for name in more if name not in kinds}
        rows = rows.declared(kinds, target=named, others=others)
        kept = [name for name in rows.names if name in kinds]
    elif texts:
        called = str(model.schema_.names[0]) if len(model.schema_) else "text"
        column = called if called in rows.names else text_column(rows, named or getattr(model, "_target", None))
        kinds = {column: "text"} | {name: _guessed(rows, name) for name in more}
        rows = rows.declared(kinds, target=named, others=others)
        kept, renamed = list(kinds), {column: called}
    else:
        kept = [name for name in rows.names if name != named]
    found = Matched(rows, [*kept, *([named] if named is not None else [])], model, named, renamed)
    return Labelled(found, named) if labelled else found


def match_stream(model: Any, stream: Any, target: str | None, weight: str | None) -> Any:
    """A stream as a fitted model takes it, where it can be read again as other kinds."""
    if not hasattr(stream, "declared") or not hasattr(model, "schema_"):
        return stream
    besides = [] if weight is None else [weight]
    found = rows_for(model, stream, target, labelled=target is not None, besides=besides)
    return found if target is None else found.stream  # rows without a class are refused, not left out


def _guessed(rows: Any, name: str) -> str:
    """What a column is that the model has no use for."""
    if name not in rows.names:
        raise InputError(f"{files_of(rows)}: there is no column {name!r}{did_you_mean(name, rows.names)}")
    kind = rows.kinds.get(name, ("ignore", ""))[0]
    return "category" if kind in ("ignore", "text") else str(kind)


def _kinds(model: Any) -> dict[Any, str]:
    """What each column of a model is read as; a network's categories may be numbers that it cuts."""
    schema, cut = model.schema_, getattr(model, "cuts_", {})
    return {name: "number" if name in cut else FAMILIES[schema.family(name)] for name in schema.names.tolist()}


class Matched(Made):
    """Rows whose categories and classes are of the types that a model knows them by.

    A file of text has "1" and "true" where a model that learned from another source may have 1 and True.
    """

    def __init__(
        self, stream: Any, names: list[str], model: Any, target: str | None, renamed: Mapping[str, str]
    ) -> None:
        super().__init__(stream, [renamed.get(name, name) for name in names])
        self.target, self.model, self._read = target, model, names

    def made(self, number: int, batch: pa.Table) -> pa.Table:
        """The columns of the model, of those types."""
        batch = batch.select(self._read)
        for place, name in enumerate(self._read):
            known = known_values(self.model, name, self.target)
            if known is not None and _is_text(batch.column(place).type) != (known.dtype.kind not in "biuf"):
                batch = batch.set_column(place, name, _as_known(batch.column(place), known))
        return batch.rename_columns(self.names)

    def pairs(self, progress: Progress = None) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Some rows with all the columns that are read, and what the model takes of them."""
        for number, batch in enumerate(self.stream.batches(progress)):
            yield batch, self.made(number, batch)


def known_values(model: Any, name: str, target: str | None) -> Labels | None:
    """The classes, or the categories of a column, that a model knows; None where it knows none."""
    if name == target:
        known = getattr(model, "classes_", None)
    else:
        schema: Schema = model.schema_
        own = name in schema.names.tolist() and FAMILIES[schema.family(name)] == "category"
        known = known_categories(model, name, schema) if own else None
    return known if known is not None and len(known) else None


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _as_known(column: pa.ChunkedArray, known: Labels) -> pa.ChunkedArray:
    """Values as those that a model knows by them; what it does not know is missing, as whatever it has never seen."""
    encoded = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        encoded = encoded.dictionary_encode()
    labels = {(type(label), label) for label in known.tolist()}
    meant = [category(value, known) for value in encoded.dictionary.to_pylist()]
    kind = {"b": pa.bool_(), "f": pa.float64(), "i": pa.int64(), "u": pa.int64()}.get(known.dtype.kind, pa.string())
    values = pa.array([value if (type(value), value) in labels else None for value in meant], kind)
    return pa.chunked_array([values.take(encoded.indices)])


def target_of(model: Any, rows: Any, target: str | None = None) -> str:
    """The column that holds the class: as named, as the model knows it, or as the format of the file has it."""
    known = getattr(model, "_target", None)
    for name in (target, known, rows.target):
        if name is not None and (name in rows.names or name == target):
            break
    else:
        raise InputError(
            f"{files_of(rows)}: there is no column {known!r} to judge by{did_you_mean(known, rows.names)}; "
            "name the column that holds the class (--target COLUMN)"
            if known
            else f"name the column that holds the class (--target COLUMN){did_you_mean('', rows.names)}"
        )
    if name not in rows.names:
        raise InputError(f"{files_of(rows)}: there is no column {name!r}{did_you_mean(name, rows.names)}")
    return str(name)
