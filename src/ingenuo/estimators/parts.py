"""Rows that lie in parts on an engine: what the columns are is found out first, where it is not declared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from ingenuo.engines import rows_on_engine
from ingenuo.engines.spread import Spread
from ingenuo.errors import InputError, KindError, RefusedError, did_you_mean
from ingenuo.estimators import rounds
from ingenuo.estimators.rounds import LEFT_OUT, Task
from ingenuo.estimators.rows import MemoryRows, Part, Statistic
from ingenuo.packed.travelling import from_bytes, merged
from ingenuo.sources import Source, open_source
from ingenuo.sources.frames import described
from ingenuo.sources.kinds import infer_kind
from ingenuo.sources.objects import SAMPLE
from ingenuo.tally import Tally


def in_parts(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    declared: Collection[Any] = (),
    *,
    labelled: bool = True,
) -> InParts:
    """The rows of a Dask or Spark frame, or of files on an engine.

    Parameters
    ----------
    X
        The frame or the files.
    y, sample_weight
        The columns of the classes and of the weights: their names, or columns of the engine.
    declared
        Columns of which it is known what they are, and that need not be looked at.
    labelled
        Whether there must be a column of classes.
    """
    found: Any = rows_on_engine(X)
    if found is None:
        raise KindError(f"a Dask or Spark frame was expected, got {type(X).__name__}")
    target = weight = None
    y = getattr(found, "target", None) if y is None else y
    if y is not None:
        found, target = found.column(y, "y")
    elif labelled:
        raise InputError(f"{found.called}: name the column to learn, y=…{did_you_mean('', found.names)}")
    if sample_weight is not None:
        found, weight = found.column(sample_weight, "sample_weight")
        if weight == target:
            raise InputError(f"column {weight!r} cannot be both the class and the weight; name another")
    return InParts(found, target, weight, declared)


class InParts:
    """Rows that lie in parts, wherever an engine has them.

    Attributes
    ----------
    names : list of str
        The columns to learn from.
    target, weight : str or None
        The columns of the classes and of the weights.
    left_out : int
        How many rows of files had no class, in the last round.
    """

    is_here = False

    def __init__(
        self,
        rows: Spread,
        target: str | None = None,
        weight: str | None = None,
        declared: Collection[Any] = (),
    ) -> None:
        self.rows, self.target, self.weight, self._declared = rows, target, weight, declared
        self.names = [name for name in rows.names if name not in (target, weight)]
        if not self.names:
            raise InputError(f"{rows.called} has no column to learn from; keep one at least")
        self.left_out = 0
        self._types = rows.schema
        known: Mapping[str, tuple[str, str]] | None = getattr(rows, "kinds", None)
        self._kinds = None if known is None else {name: known[name] for name in self.names}

    @property
    def kinds(self) -> dict[str, tuple[str, str]]:
        """What each column is, and why: inferred from the first rows, unless it is declared."""
        if self._kinds is None:
            unknown = [name for name in self.names if name not in self._declared]
            self._kinds = dict.fromkeys(self.names, ("category", "declared"))
            for name, values in zip(unknown, self._first_rows(unknown)):
                found = infer_kind(name, values)
                self._kinds[name] = found.kind, found.why
        return self._kinds

    def _first_rows(self, unknown: list[str]) -> list[pa.ChunkedArray]:
        """The first rows of some columns; columns of which the engine does not know the type have one by them."""
        typeless = [name for name in self._read() if pa.types.is_null(self._field(name).type)]
        wanted = list(dict.fromkeys([*unknown, *typeless]))
        if not wanted:
            return []
        first = self.rows.head(wanted, SAMPLE)
        if not first.num_rows:
            raise InputError(f"{self.name}: there are no rows to learn from")
        for name in typeless:
            type = first.schema.field(name).type
            self._types = self._types.set(self._types.get_field_index(name), pa.field(name, type))
        return [first.column(name) for name in unknown]

    @property
    def name(self) -> str:
        """What messages call them."""
        return self.rows.called

    def columns(self, model: Any = None) -> Source:
        """What the columns are."""
        kinds = self.kinds
        return open_source(described(pa.schema([self._field(name) for name in self.names]).empty_table(), kinds))

    def reduce(self, statistic: Statistic, model: Any = None, **options: Any) -> Tally:
        """The sum of what a statistic gives for every part."""
        kinds = self.kinds
        given = {"target": self.target, "weight": self.weight, **options}
        return self._asked(statistic, model, given, self._read(), kinds)

    def parts(self) -> Iterator[Part]:
        """They stay where they are."""
        yield from self.in_memory().parts()

    def answer(self, model: Any, method: str) -> Any:
        """A frame of the engine with the answers beside its rows, not yet computed."""
        from ingenuo.estimators.answers import of_frame

        return of_frame(model, self.rows, method)

    def in_memory(self, instead: str = "") -> MemoryRows:
        """They are not, and stay where they are."""
        raise RefusedError(
            f"{self.name}: what was asked for goes over all the rows more than once, and is no sum of what each part "
            "of them gives; bring rows that fit one machine here (frame.compute(), frame.toPandas())"
            + (f", or {instead}" if instead else "")
        )

    def _read(self) -> list[str]:
        return [*self.names, *(name for name in (self.target, self.weight) if name is not None)]

    def _field(self, name: str) -> pa.Field:
        place = self._types.get_field_index(name)
        return pa.field(name, self._types.field(place).type if place >= 0 else pa.null())

    def _asked(
        self, statistic: Statistic, model: Any, options: Mapping[str, Any], columns: list[str], kinds: Mapping[str, Any]
    ) -> Tally:
        drops = bool(getattr(self.rows, "drops_unlabelled", False)) and options.get("target") is not None
        task = Task(model, options, columns, self._types, kinds, drops, bool(self.rows.place(0)))
        found = from_bytes(self.rows.reduce(columns, partial(rounds.done, statistic, task.packed()), merged))
        self.left_out = int(found.over(LEFT_OUT, found.labels(LEFT_OUT, 0)).floats().sum())
        if drops:
            self.rows.left_out = self.left_out  # type: ignore[attr-defined]
        return Tally({name: table for name, table in found.items() if name != LEFT_OUT})
