"""Learning from rows that come in batches, such as those of a file that no memory holds.

The first batch gives the schema, and every batch its sums. Because sums are exact, the total is the one that all the
rows at once would give, however they are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ingenuo.engines.local import Total
from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.schema import Schema
from ingenuo.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa

_TOGETHER = 4  # batches that are summed at a time
_LARGE = 1 << 26  # bytes, unless they are large

After = Callable[[int, Schema, Total], None]


def is_stream(X: Any) -> bool:
    """Whether X hands out its rows in batches, as what `scan` gives does."""
    return hasattr(X, "batches") and hasattr(X, "table")


def files(X: Any) -> str:
    """The files of a stream, as messages call them."""
    names = ["standard input" if path == "-" else str(path) for path in X.paths]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def named(X: Any, y: Any, sample_weight: Any) -> tuple[str, str | None]:
    """The columns of a stream that hold the class and the weights."""
    y = X.target if y is None else y
    if y is None:
        raise InputError(f"{files(X)}: name the column to learn (--target COLUMN){did_you_mean('', X.names)}")
    for what, name in (("y", y), ("sample_weight", sample_weight)):
        if name is None:
            continue
        if not isinstance(name, str):
            raise KindError(
                f"rows that come in batches have their {what} in a column; name it, instead of giving {name!r}"
            )
        if name not in X.names:
            raise InputError(f"{files(X)}: there is no column {name!r}{did_you_mean(name, X.names)}")
    if y == sample_weight:
        raise InputError(f"column {y!r} cannot be both the class and the weight; name another")
    return y, sample_weight


def whole(X: Any, y: Any, sample_weight: Any) -> tuple[Any, str, Any]:
    """All the rows of a stream at once, the name of their class, and their weights."""
    from ingenuo.sources.streams import Described

    target, weight = named(X, y, sample_weight)
    rows, weights = weighed(Described(X).table(), weight)
    return rows, target, weights


def tally_of(
    model: Any, X: Any, y: Any, sample_weight: Any, *, done: int = 0, after: After | None = None
) -> tuple[Schema, Tally, str]:
    """The schema and the sums over the batches of a stream, and the name of the class.

    Parameters
    ----------
    model : TallyClassifier
        One that has learned goes on with its own schema. One that has not is changed: it gets that of the first batch.
    X, y, sample_weight
        The stream, and the names of its columns of classes and of weights.
    done : int
        So many batches are passed over.
    after : function, optional
        Called after each batch with its number, the schema, and the sum so far.
    """
    from ingenuo.sources.streams import Described

    target, weight = named(X, y, sample_weight)
    total, before = Total(), 0
    for n, batch in _gathered(Described(X).batches(), done):
        rows, weights = weighed(batch, weight)
        _check_weights(X, weight, weights, before)
        before += rows.num_rows
        if weightless(weights):
            continue
        first = not model._fitted
        labels = rows.column(target)  # taken out here, for to look for it by its name costs a look at every column
        schema, tally, _ = model._tally_of(rows.drop_columns([target]), labels, weights, reset=first)
        if first:
            model._set(schema, tally)
        total.add(tally)
        if after is not None:
            after(n, schema, total.now())
    if not model._fitted:
        raise InputError(f"{files(X)}: there are no rows to learn from")
    return model.schema_, total.sum(), target


def _gathered(batches: Iterator[pa.Table], done: int) -> Iterator[tuple[int, pa.Table]]:
    """Some batches together, with the number of the last, for each look at the columns of a table has its cost."""
    waiting: list[pa.Table] = []
    n = 0
    for n, batch in enumerate(batches, start=1):
        if n > done and batch.num_rows:
            waiting.append(batch)
        if waiting and (len(waiting) == _TOGETHER or sum(each.nbytes for each in waiting) > _LARGE):
            yield n, together(waiting)
            waiting = []
    if waiting:
        yield n, together(waiting)


def together(tables: list[pa.Table]) -> pa.Table:
    """Some tables as one."""
    if len(tables) == 1:
        return tables[0]
    import pyarrow as pa

    return pa.concat_tables(tables, promote_options="default").unify_dictionaries()


def _check_weights(X: Any, name: str | None, weights: Any, before: int) -> None:
    """Raise where a weight is none, saying which row of the files has it."""
    if weights is None or weights.dtype.kind not in "fiu":
        return
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(
            f"{files(X)}, row {before + at + 1:,}: the weight in column {name!r} is {float(weights[at])!r}; weights "
            "are finite and not negative"
        )


def weightless(weights: Any) -> bool:
    """Whether some rows count for nothing: all their weights are zero."""
    return weights is not None and weights.dtype.kind in "fiu" and not weights.any()


def weighed(rows: Any, weight: str | None) -> tuple[Any, Any]:
    """Rows without their column of weights, and the weights."""
    if weight is None:
        return rows, None
    return rows.drop_columns([weight]), rows.column(weight).to_numpy()
