"""Where each class wins: its region in two columns, or the curves over one, with the rows as points.

The drawing knows nothing of models: it is given functions from rows to a value for each class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation import pictures
from ingenuo.labels import Labels, find

Floats = NDArray[np.float64]
Values = Callable[[Floats], Floats]  # rows × columns to rows × classes

_GRID = 240  # points along a side
# Colours that those who do not see red and green apart tell apart as well (Okabe and Ito); then matplotlib's own.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")


def colour(k: int) -> str:
    """The colour of the k-th class."""
    return _COLOURS[k] if k < len(_COLOURS) else f"C{k % 10}"


def regions(
    values: Values,
    classes: Labels,
    names: tuple[str, str],
    ranges: Floats,
    points: tuple[Floats, NDArray[Any]] | None = None,
    ellipses: list[tuple[Floats, Floats]] | None = None,
    ax: Any = None,
) -> Any:
    """Draw the region in which each class has the largest value, and the boundaries between them.

    Parameters
    ----------
    values : function
        From points (n × 2) to a probability for each class; the surer, the deeper the colour.
    classes : array
        The classes, in the order of the values.
    names, ranges
        The two columns, and from where to where they are drawn (2 × 2).
    points : optional
        Rows (n × 2) and their classes.
    ellipses : optional
        The mean and the covariance of each class: drawn at two standard deviations.
    ax : optional
        Axes of matplotlib; by default those of a new figure.
    """
    from matplotlib.colors import to_rgb
    from matplotlib.lines import Line2D
    from matplotlib.patches import Ellipse

    ax = pictures.axes(ax, (6.4, 4.8))
    sides = [np.linspace(low, high, _GRID) for low, high in ranges]
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    found = values(grid).reshape(_GRID, _GRID, len(classes))
    best, top = found.argmax(axis=2), np.clip(found.max(axis=2), 1 / len(classes), 1.0)
    strength = 0.10 + 0.30 * (top - 1 / len(classes)) / max(1 - 1 / len(classes), 1e-9)
    colours = np.array([to_rgb(colour(k)) for k in range(len(classes))])[best]
    shade = 1 - strength[..., np.newaxis] * (1 - colours)
    ax.imshow(shade, extent=(*ranges[0], *ranges[1]), origin="lower", aspect="auto", interpolation="bilinear", zorder=0)
    for k in range(len(classes) if len(classes) > 2 else 1):
        others = np.delete(found, k, axis=2).max(axis=2, initial=-np.inf)
        margin = found[..., k] - others
        if margin.min() < 0 < margin.max():
            ax.contour(*sides, margin, levels=[0.0], colors="0.25", linewidths=1.2, zorder=2)
    for k, (mean, covariance) in enumerate(ellipses or []):
        lengths, turned = np.linalg.eigh(covariance)
        angle = float(np.degrees(np.arctan2(turned[1, 1], turned[0, 1])))
        width, height = 4 * np.sqrt(np.maximum(lengths[::-1], 0.0))
        ax.add_patch(
            Ellipse(
                (float(mean[0]), float(mean[1])),
                width,
                height,
                angle=angle,
                fill=False,
                ls="--",
                lw=1.2,
                ec=colour(k),
                zorder=3,
            )
        )
        ax.plot(*mean, marker="+", ms=9, mew=1.8, color=colour(k), zorder=4)
    if points is not None:
        _draw_points(ax, points, classes)
    handles = [Line2D([], [], marker="o", ls="", color=colour(k), label=str(c)) for k, c in enumerate(classes.tolist())]
    ax.legend(handles=handles, loc="best", framealpha=0.9, fontsize="small")
    ax.set(xlim=ranges[0], ylim=ranges[1], xlabel=names[0], ylabel=names[1])
    return ax


def _draw_points(ax: Any, points: tuple[Floats, NDArray[Any]], classes: Labels) -> None:
    rows, labels = points
    size = 22.0 if len(rows) <= 500 else 8.0
    for k in range(len(classes)):
        mine = rows[labels == k]
        ax.scatter(mine[:, 0], mine[:, 1], s=size, color=colour(k), edgecolors="white", linewidths=0.5, zorder=5)
    strange = rows[labels < 0]  # of a class the model does not know
    if len(strange):
        ax.scatter(strange[:, 0], strange[:, 1], s=size, color="0.4", marker="x", zorder=5)


def curves(
    functions: Mapping[str, Values],
    X: Any,
    y: Any,
    classes: Any,
    name: str = "x",
    labels: Mapping[str, str] | None = None,
    axes: Any = None,
) -> Any:
    """Draw what several models say of one column, side by side, over the rows as ticks at the foot.

    Parameters
    ----------
    functions : mapping
        Title of a panel to a function from rows (n × 1) to a value for each class: `model.decision_function`,
        `model.predict_proba`.
    X, y, classes
        The rows (n × 1), their classes, and the classes in the order of the functions' values.
    name : str
        What the column is called.
    labels : mapping, optional
        Title of a panel to the label of its vertical axis; by default "P(class | x)".
    axes : optional
        As many axes of matplotlib as there are functions.

    Returns
    -------
    The axes, with the figure as `axes[0].figure`.

    Examples
    --------
    >>> import numpy as np
    >>> from ingenuo import GaussianDiscriminant
    >>> X, y = np.arange(6.0)[:, np.newaxis], [0, 0, 1, 1, 2, 2]
    >>> model = GaussianDiscriminant().fit(X, y)
    >>> len(curves({"discriminant analysis": model.predict_proba}, X, y, model.classes_))
    1
    """
    classes = np.asarray(classes)
    rows = np.asarray(X, np.float64).reshape(len(y), -1)[:, 0]
    codes = find(classes, np.asarray(y))
    own = axes is None
    if own:
        figure = pictures.axes(size=(4.3 * len(functions), 3.6)).figure
        figure.clear()
        axes = figure.subplots(1, len(functions), squeeze=False)[0]
    low, high = float(rows.min()), float(rows.max())
    margin = 0.05 * (high - low or 1.0)
    across = np.linspace(low - margin, high + margin, 400)
    for ax, (title, function) in zip(axes, functions.items()):
        found = function(across[:, np.newaxis])
        bottom, top = min(float(found.min()), 0.0), max(float(found.max()), 1.0)
        foot = bottom - 0.10 * (top - bottom)
        winner = found.argmax(axis=1)
        for k, label in enumerate(classes.tolist()):
            own_rows = rows[codes == k]
            ax.plot(across, found[:, k], color=colour(k), lw=1.8, label=str(label), zorder=3)
            ax.fill_between(across, bottom, top, where=winner == k, color=colour(k), alpha=0.12, lw=0, zorder=1)
            ax.plot(own_rows, np.full(len(own_rows), foot), "|", color=colour(k), ms=8, alpha=0.6, zorder=2)
        ax.set(title=title, xlabel=name, ylabel=(labels or {}).get(title, "P(class | x)"))
        ax.set(xlim=(across[0], across[-1]), ylim=(foot - 0.06 * (top - bottom), top + 0.04 * (top - bottom)))
    handles = axes[0].get_legend_handles_labels()
    if own:
        axes[0].figure.legend(*handles, loc="outside lower center", ncols=len(classes), frameon=False)
    else:
        axes[0].legend(*handles, loc="best", fontsize="small", framealpha=0.9)
    return axes
