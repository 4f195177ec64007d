"""From a fitted model of numbers to the picture of its regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.estimators import inputs
from ingenuo.estimators.contract import check_is_fitted
from ingenuo.explanation.regions import curves, regions
from ingenuo.labels import find, labels_of, objects
from ingenuo.schema import Schema, column_name

Floats = NDArray[np.float64]


def plotted(model: Any, X: Any, y: Any, columns: Any, ax: Any) -> Any:
    """The regions in two columns (the others are left out of the answers), or the curves over the only one."""
    check_is_fitted(model)
    means, covariances = model._drawn()
    schema: Schema = model.schema_
    classes = labels_of(model.classes_)
    places = _places(schema, columns)
    points = None
    if X is not None:
        if y is None:
            raise InputError("X was given to draw, but not y; give the class of each row, or neither")
        X, y = inputs.target_column(X, y)
        block = next(iter(model._rows(X)[0].values()))
        rows = block.rows(0, block.n_rows)
        codes, own = inputs.labels(model, y, len(rows))
        points = rows[:, places], np.asarray(find(classes, own)[codes], np.intp)
    ranges = _ranges(None if points is None else points[0], means[:, places], covariances[:, places][:, :, places])

    def values(some: Floats) -> Floats:
        grid = np.full((len(some), len(schema)), np.nan)
        grid[:, places] = some
        return np.asarray(model.predict_proba(_table(grid, schema)))

    names = [column_name(name) for name in schema.names[places].tolist()]
    if len(places) == 1:
        ticks, known = points or (ranges.T, np.full(2, -1))  # without rows, no tick at the foot
        shown = objects([classes.tolist()[k] if k >= 0 else None for k in known.tolist()])
        return curves({type(model).__name__: values}, ticks, shown, classes, names[0], axes=ax and [ax])[0]
    square = np.ix_(places, places)
    ellipses = [(mean[places], own[square]) for mean, own in zip(means, covariances)] if model._ellipses else None
    return regions(values, classes, (names[0], names[1]), ranges, points, ellipses, ax)


def _places(schema: Schema, columns: Any) -> NDArray[np.intp]:
    names = [column_name(name) for name in schema.names.tolist()]
    if columns is None:
        return np.arange(min(2, len(names)))
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise KindError(f"columns must be two columns, as in columns=({names[0]!r}, {names[-1]!r}), got {columns!r}")
    if len(columns) != 2 or columns[0] == columns[1]:
        raise InputError(f"a picture has two different columns, got {list(columns)!r}")
    found = []
    for column in columns:
        place = column_name(column)
        if place not in names:
            raise InputError(f"there is no column {column!r} to draw{did_you_mean(column, names)}")
        found.append(names.index(place))
    return np.array(found, np.intp)


def _ranges(points: Floats | None, means: Floats, covariances: Floats) -> Floats:
    """From where to where each column is drawn: over all points, else three deviations about the means."""
    if points is not None and np.isfinite(points).any(axis=0).all():
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
        margin = 0.06 * np.where(high > low, high - low, 1.0)
    else:
        deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
        low, high = (means - 3 * deviations).min(axis=0), (means + 3 * deviations).max(axis=0)
        margin = np.where(high > low, 0.0, 1.0)
    return np.stack([low - margin, high + margin], axis=1)


def _table(grid: Floats, schema: Schema) -> Any:
    if not schema.named:
        return grid
    import pyarrow as pa

    return pa.table({str(name): grid[:, j] for j, name in enumerate(schema.names.tolist())})
