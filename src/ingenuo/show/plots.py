"""Pictures by matplotlib, which is imported only when one is drawn: curves, reliability, regions, audits.

No picture needs a window or a global state of matplotlib: without axes of the caller's a figure of its own is made, by
pyplot where that shows its figures, in a notebook or in windows.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import KindError
from ingenuo.show.format import shortened
from ingenuo.tally.labels import Labels, find

Floats = NDArray[np.float64]
Values = Callable[[Floats], Floats]  # rows × columns to rows × classes

_GRID = 240  # points along a side
_NUMBERED = 20  # classes: the cells of a larger matrix have no room for numbers
_NAMED = 6  # curves: of more, those of the smallest areas are named
_WORST = 3
VALUES = 20  # of a column: of more, the most frequent are drawn
_BARS = 8  # classes of which bars stand side by side
_SHOWN = 20  # comparisons or groups of an audit
_AUDIT_NAME = 44  # letters
_BINS, _TAIL = 40, 0.002  # of a histogram: its bins, and the share of rows that both ends may hide
_ROOM = 6  # bars for which there is room, however few there are
# Colours that those who do not see red and green apart tell apart too (Okabe and Ito); then matplotlib's own.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")


def colour(k: int) -> str:
    """The colour of the k-th class."""
    return _COLOURS[k] if k < len(_COLOURS) else f"C{k % 10}"


def short(label: Any, letters: int = 18) -> str:
    """A name in a picture; a long one without its middle, for names often differ at their ends."""
    name = str(label)
    return name if len(name) <= letters else f"{name[: letters // 2]}…{name[1 - letters // 2 :]}"


def new_axes(ax: Any = None, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """The axes to draw on: the caller's, or those of a new figure (`axes.figure.savefig(path)` writes it)."""
    if ax is not None and not hasattr(ax, "plot"):
        raise KindError(
            f"ax must be matplotlib's axes, got {type(ax).__name__} {ax!r}; to write a picture to a file, draw it and "
            "call figure.savefig(path) of the axes that are returned"
        )
    return new_panels(1, 1, size)[0] if ax is None else ax


def new_panels(rows: int, columns: int, size: tuple[float, float]) -> list[Any]:
    """Axes for several panels on a new figure, line by line."""
    how: dict[str, Any] = {"figsize": size, "layout": "constrained"}
    if shows_figures():
        from matplotlib import pyplot

        figure = pyplot.figure(**how)
    else:
        from matplotlib.figure import Figure

        figure = Figure(**how)
    return list(figure.subplots(rows, columns, squeeze=False).ravel())


on_a_page: ContextVar[bool] = ContextVar("on_a_page", default=False)  # where pictures are drawn for a file
_SILENT = {"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"}  # matplotlib's ways of drawing that show nothing


def shows_figures() -> bool:
    """Whether pyplot is in use and shows its figures; in a notebook it need not have been imported yet."""
    if on_a_page.get():
        return False
    if "matplotlib.pyplot" not in sys.modules:
        return "inline" in os.environ.get("MPLBACKEND", "")
    import matplotlib

    return matplotlib.get_backend().lower() not in _SILENT


def paint(svg: str) -> Any:
    """A figure that shows what `show/svg.py` makes: boxes, circles, polygons, straight and cubic curves, texts."""
    from xml.etree import ElementTree

    from matplotlib import patches
    from matplotlib.figure import Figure
    from matplotlib.path import Path

    root = ElementTree.fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    figure = Figure(figsize=(width / 72, height / 72))  # a pixel is a point
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    ax.set_axis_off()

    def curve(d: str, x: float, y: float) -> Path:
        """Of "M x,y", "C x,y x,y x,y …", "h x" and "v y"."""
        points: list[tuple[float, float]] = []
        codes: list[Any] = []
        for sign, numbers in re.findall(r"([MChv])([^MChv]*)", d):
            given = [float(each) for each in re.split(r"[\s,]+", numbers.strip())]
            if sign in "hv":
                last = points[-1]
                points.append((last[0] + given[0], last[1]) if sign == "h" else (last[0], last[1] + given[0]))
            else:
                points += [(a + x, b + y) for a, b in zip(given[::2], given[1::2])]
            codes += [{"M": Path.MOVETO, "C": Path.CURVE4}.get(sign, Path.LINETO)] * (len(points) - len(codes))
        return Path(points, codes)

    def draw(element: Any, x: float, y: float, order: int) -> int:
        kind, own = element.tag.rpartition("}")[2], element.attrib
        at = {key: float(own.get(key, 0)) for key in ("x", "y", "cx", "cy", "r", "rx", "width", "height", "font-size")}
        edge = own.get("stroke", "none")
        look = {"fc": own.get("fill", "none"), "ec": edge, "lw": float(own.get("stroke-width", edge != "none"))}
        shape: Any = None
        if kind == "g":
            x, y = (a + float(b) for a, b in zip((x, y), re.findall(r"-?[\d.]+", own.get("transform", "0 0"))))
        elif kind == "text":
            sides = {"start": "left", "middle": "center", "end": "right"}
            how = {"fontsize": at["font-size"], "color": own.get("fill"), "weight": own.get("font-weight", "normal")}
            side = sides[own.get("text-anchor", "start")]
            ax.text(x + at["x"], y + at["y"], element.text, ha=side, parse_math=False, zorder=order, **how)
        elif kind == "rect":
            corner = min(at["rx"], at["height"] / 2)
            style = f"round,pad=0,rounding_size={corner}" if corner else "square,pad=0"
            shape = patches.FancyBboxPatch((x + at["x"], y + at["y"]), at["width"], at["height"], style, **look)
        elif kind == "circle":
            shape = patches.Circle((x + at["cx"], y + at["cy"]), at["r"], **look)
        elif kind == "polygon":
            corners = [tuple(map(float, pair.split(","))) for pair in own["points"].split()]
            shape = patches.Polygon([(a + x, b + y) for a, b in corners], **look)
        elif kind == "path":
            shape = patches.PathPatch(curve(own["d"], x, y), **{**look, "fc": "none"})
        if shape is not None:
            shape.set_zorder(order)
            ax.add_patch(shape)
        for inner in element:
            order = draw(inner, x, y, order + 1)
        return order

    draw(root, 0.0, 0.0, 1)
    return figure


def _frame(ax: Any, axis: str = "x") -> Any:
    """A grid, and lines at the left and the foot only."""
    ax.grid(axis=axis, alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


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

    Values lead from points (n × 2) to a probability for each class: the surer, the deeper the colour. Points are rows
    (n × 2) and their classes; ellipses, of the mean and covariance of each class, are at two standard deviations.
    """
    from matplotlib.colors import to_rgb
    from matplotlib.lines import Line2D
    from matplotlib.patches import Ellipse

    ax = new_axes(ax, (6.4, 4.8))
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
        line = {"fill": False, "ls": "--", "lw": 1.2, "ec": colour(k), "zorder": 3}
        ax.add_patch(Ellipse((float(mean[0]), float(mean[1])), width, height, angle=angle, **line))
        ax.plot(*mean, marker="+", ms=9, mew=1.8, color=colour(k), zorder=4)
    if points is not None:
        rows, labels = points
        size = 22.0 if len(rows) <= 500 else 8.0
        for k in range(len(classes)):
            look = {"color": colour(k), "edgecolors": "white", "linewidths": 0.5}
            ax.scatter(*rows[labels == k].T, s=size, zorder=5, **look)
        if (labels < 0).any():  # of a class the model does not know
            ax.scatter(*rows[labels < 0].T, s=size, color="0.4", marker="x", zorder=5)
    handles = [Line2D([], [], marker="o", ls="", color=colour(k), label=str(c)) for k, c in enumerate(classes.tolist())]
    ax.legend(handles=handles, loc="best", framealpha=0.9, fontsize="small")
    ax.set(xlim=ranges[0], ylim=ranges[1], xlabel=names[0], ylabel=names[1])
    return ax


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

    The functions, by the titles of their panels, lead from rows (n × 1) to a value for each class; labels are those of
    the vertical axes, by title. The axes are returned.
    """
    classes = np.asarray(classes)
    rows = np.asarray(X, np.float64).reshape(len(y), -1)[:, 0]
    codes = find(classes, np.asarray(y))
    own = axes is None
    if own:
        axes = new_panels(1, len(functions), (4.3 * len(functions), 3.6))
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


def bars(values: Sequence[str], numbers: Floats, classes: Labels, measure: str, title: str, ax: Any = None) -> Any:
    """Draw a bar for each value and class (numbers are values × classes); of many classes the first."""
    n, k = len(values), min(len(classes), _BARS)
    ax = new_axes(ax, (6.4, max(2.4, 0.8 + 0.18 * n * (k + 1))))
    height = 0.8 / k
    for place in range(k):
        middle = np.arange(n) + (place - (k - 1) / 2) * height
        ax.barh(middle, numbers[:, place], height, color=colour(place), label=str(classes[place]))
    ax.set_yticks(np.arange(n), [shortened(value, 30) for value in values])
    ax.invert_yaxis()
    ax.set_xlabel(measure)
    ax.set_title(title, fontsize="medium")
    ax.legend(title="class", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return _frame(ax)


def _dots(
    ax: Any, names: Sequence[str], values: Sequence[Any], tones: Sequence[str], filled: Sequence[bool] = ()
) -> Any:
    """Draw a dot for each value, with its interval where it has one; the first stands at the top."""
    for at, (found, tone) in enumerate(zip(values, tones)):
        value, low, high = found
        if low is not None and high is not None:
            ax.hlines(at, low, high, color=tone, lw=2.0, alpha=0.65, zorder=2)
        if value is not None:
            ax.plot([value], [at], "o", ms=5, color=tone, mfc=tone if not filled or filled[at] else "white", zorder=3)
    ax.set_yticks(range(len(values)), names, fontsize=8)
    ax.set_ylim(len(values) - 0.5, -0.5)
    return _frame(ax)


def intervals(names: Sequence[str], values: Sequence[Any], measure: str, ax: Any = None) -> Any:
    """Draw the measure of each model, with its interval."""
    ax = new_axes(ax, (6.4, 0.9 + 0.32 * len(names)))
    ax.set(xlabel=measure)
    found = [(each.value, each.low, each.high) for each in values]
    return _dots(ax, [short(name, 40) for name in names], found, [colour(0)] * len(names))


# Pictures of an evaluation: the confusion matrix, ROC and precision-recall curves, and reliability.


class Curve(NamedTuple):
    """One class's curve: its name, its points, and the area under it."""

    name: str
    x: Floats
    y: Floats
    area: float


def grid(panels: int = 4, crowded: bool = False) -> list[Any]:
    """Axes for the panels, two in a line, on a new figure; of one panel, one."""
    if panels == 1:
        return [new_axes(None, (6.4, 5.6) if crowded else (5.0, 4.4))]
    return new_panels(2, 2, (13.0, 11.0) if crowded else (10.0, 8.4))


def confusion(cells: NDArray[Any], names: list[str], ax: Any = None) -> Any:
    """Draw the confusion matrix: true classes down, answers across; the colour is the share of the true class."""
    ax = new_axes(ax, (5.0, 4.4))
    n = len(names)
    whole = cells.sum(axis=1, keepdims=True)
    shares = np.divide(cells, whole, out=np.zeros(cells.shape), where=whole > 0)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto" if n > _NUMBERED else "equal")
    size = 10 if n <= 6 else max(5.0, 10 - 0.25 * n)
    for i, j in np.argwhere(cells) if n <= _NUMBERED else ():
        figure = f"{cells[i, j]:,}" if cells.dtype.kind == "i" else f"{cells[i, j]:.4g}"
        tone = "white" if shares[i, j] > 0.55 else "black"
        ax.text(j, i, figure, ha="center", va="center", color=tone, fontsize=size)
    # Names stand at every class, or at as many as can be read.
    shown = np.unique(np.linspace(0, n - 1, min(n, _NUMBERED)).round().astype(int))
    small, labels = 9 if n <= 6 else 7, [names[k] for k in shown]
    slanted = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"} if n > 4 or max(map(len, names)) > 8 else {}
    ax.set_xticks(shown, labels, fontsize=small, **slanted)
    ax.set_yticks(shown, labels, fontsize=small)
    ax.set(xlabel="answered", ylabel="true", title="confusion matrix (colour: share of the true class)")
    return ax


def _draw_curves(curves: list[Curve], ax: Any, drawstyle: str, place: str) -> None:
    """Draw the curves: a few with their names, many in grey with those of the smallest areas in colour."""
    many = len(curves) > _NAMED
    worst = sorted(range(len(curves)), key=lambda k: curves[k].area)[:_WORST] if many else list(range(len(curves)))
    for curve in (curve for k, curve in enumerate(curves) if k not in worst):
        ax.plot(curve.x, curve.y, color="0.7", lw=0.8, drawstyle=drawstyle, zorder=1)
    for k in worst:
        name, x, y, area = curves[k]
        ax.plot(x, y, color=colour(k), lw=1.6, label=f"{name} ({area:.3f})", drawstyle=drawstyle, zorder=2)
    if many:
        ax.plot([], [], color="0.7", lw=0.8, label=f"{len(curves) - len(worst)} other classes")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02))
    _frame(ax, "both")
    if curves:
        ax.legend(loc=place, fontsize=8, framealpha=0.85, edgecolor="none", title="class (area)", title_fontsize=8)
    else:
        ax.text(0.5, 0.6, "no class has rows to tell apart", ha="center", transform=ax.transAxes, color="0.35")


def roc(curves: list[Curve], mean: float | None = None, ax: Any = None) -> Any:
    """Draw ROC curves, with the areas in the legend."""
    ax = new_axes(ax, (5.0, 4.4))
    ax.plot([0, 1], [0, 1], color="0.45", lw=1.0, ls=":")
    _draw_curves(curves, ax, "default", "lower right")
    title = "ROC" if mean is None else f"ROC, macro area {mean:.3f}"
    ax.set(xlabel="share of the others taken for it", ylabel="share of the class found (recall)", title=title)
    return ax


def precision_recall(curves: list[Curve], shares: list[float], mean: float | None = None, ax: Any = None) -> Any:
    """Draw precision over recall; dotted is the share of the class, which chance would have."""
    ax = new_axes(ax, (5.0, 4.4))
    for k, share in enumerate(shares if len(curves) <= _NAMED else []):
        ax.axhline(share, color=colour(k), lw=1.0, ls=":")
    _draw_curves(curves, ax, "steps-pre", "lower left")
    area = "" if mean is None else f", macro area {mean:.3f}"
    ax.set(xlabel="recall", ylabel="precision", title=f"precision and recall{area}")
    return ax


def reliability(
    edges: Floats, rows: Floats, points: tuple[Floats, ...], labels: tuple[str, str], title: str, ax: Any = None
) -> Any:
    """Draw how often forecasts came true over what they were; bars beneath are the rows in each bin.

    Points are, of each bin, the mean forecast, the share that came true and the ends of its interval; NaN where there
    is none.
    """
    ax = new_axes(ax, (5.0, 4.4))
    ax.plot([0, 1], [0, 1], color="0.45", lw=1.0, ls=":")
    beneath, width = ax.twinx(), np.diff(edges)
    beneath.bar(edges[:-1], rows, width, align="edge", color="0.5", alpha=0.3, linewidth=0, zorder=0)
    beneath.set_ylim(0, 4 * max(float(rows.max()), 1.0))  # the bars take the lower quarter of the picture
    beneath.set_yticks([])
    beneath.spines[["top", "right"]].set_visible(False)
    for middle, n in zip(edges[:-1] + width / 2, rows) if len(rows) <= _NUMBERED else ():
        if n:
            beneath.text(middle, n, f"{n:,.0f}", ha="center", va="bottom", fontsize=7, color="0.5")
    ax.set_zorder(beneath.get_zorder() + 1)
    ax.patch.set_visible(False)
    x, y, low, high = (each[rows > 0] for each in points)
    off = np.nan_to_num(np.array([y - np.minimum(low, y), np.maximum(high, y) - y]))
    ax.errorbar(x, y, yerr=off, color=colour(len(ax.containers)), marker="o", ms=5, lw=1.4, capsize=3)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), xlabel=labels[0], ylabel=labels[1], title=title)
    return _frame(ax, "both")


def draw_learning_curves(
    sizes: NDArray[Any], means: Floats, spreads: Floats, names: Sequence[str], measure: str,
    crossings: Sequence[float] = (), ax: Any = None,
) -> Any:  # fmt: skip
    """Draw a curve for each model (means and spreads are sizes × models); crossings, in rows, are dotted lines."""
    ax = new_axes(ax)
    ax.set_xscale("log")
    for k, name in enumerate(names):
        low, high = means[:, k] - spreads[:, k], means[:, k] + spreads[:, k]
        ax.fill_between(sizes, low, high, color=colour(k), alpha=0.18, lw=0, zorder=1)
        ax.plot(sizes, means[:, k], color=colour(k), lw=1.8, marker="o", ms=4, zorder=3, label=name)
    for rows in crossings:
        ax.axvline(rows, color="0.45", lw=1.0, ls=":", zorder=0)
        ax.text(rows, 1.01, f"{rows:,.0f}", transform=ax.get_xaxis_transform(), ha="center", fontsize=8, color="0.35")
    span, shown = max(float(np.log(sizes[-1] / sizes[0])), 1e-9), [int(sizes[-1])]
    for size in sizes[-2::-1].tolist():  # named are those that leave room for one another
        if np.log(shown[-1] / size) >= 0.09 * span:
            shown.append(size)
    ax.set_xticks(shown, [f"{size:,}" for size in shown])
    ax.minorticks_off()
    ax.set(xlabel="rows learned from", ylabel=measure)
    ax.legend(frameon=False)
    return _frame(ax, "both")


# Pictures of an audit: differences between groups, and rates of groups, with their intervals.

_PANELS = {
    "selection": "answered",
    "base": "true",
    "false_positive": "false positives",
    "false_negative": "false negatives",
}


def sentences(audit: Any, ax: Any = None) -> Any:
    """Draw the largest differences of an audit by sentences; filled points are significant."""
    shown = audit.comparisons[:_SHOWN]
    ax = new_axes(ax, (7.4, 1.2 + 0.3 * max(len(shown), 2)))
    several = len(audit.classes) > 1
    ax.axvline(0, color="0.45", lw=1.0, ls=":")
    names = [
        f"{c.group}{'†' if c.unused else ''} – {c.against} ({c.kind}{', ' + str(c.class_) if several else ''})"
        for c in shown
    ]
    asked = "P(class)" if several else f"P({audit.classes[0]})"
    ax.set_xlabel(f"mean difference of {asked} in the same sentence, {100 * audit.confidence:g}% interval")
    ax.set_title(f"{len(shown)} of {len(audit.comparisons)} comparisons; filled: significant", fontsize=10)
    found, filled = [(c.difference, c.low, c.high) for c in shown], [c.significant for c in shown]
    tones = [colour(0) if significant else "0.5" for significant in filled]
    return _dots(ax, [shortened(name, _AUDIT_NAME) for name in names], found, tones, filled)


def groups(audit: Any, axes: Any = None) -> list[Any]:
    """Draw the rates of each group, a panel for each rate; the dotted line is the reference group's.

    Of several classes the last is drawn. Without truths there is one panel.
    """
    panels = list(_PANELS.items())[: 4 if audit.truths else 1]
    shown = sorted((r for r in audit.rates if r.class_ == audit.classes[-1]), key=lambda r: -r.rows)[:_SHOWN]
    if axes is None:
        high = 0.7 + 0.3 * max(len(shown), 2)
        axes = new_panels(2, 2, (9.0, 2 * high)) if len(panels) > 1 else new_axes(None, (6.4, high))
    given = list(np.ravel(np.asarray(axes, object)))
    standard = audit.rate(audit.reference, audit.classes[-1])
    names = [shortened(f"{r.group} ({r.rows:,})", _AUDIT_NAME) for r in shown]
    for place, (ax, (name, title)) in enumerate(zip(given, panels)):
        if (reference := getattr(standard, name).value) is not None:
            ax.axvline(reference, color="0.45", lw=1.0, ls=":")
        found = [(share.value, share.low, share.high) for share in (getattr(rates, name) for rates in shown)]
        _dots(ax, names if place % 2 == 0 else [""] * len(names), found, [colour(place)] * len(names))
        ax.tick_params(labelsize=8, left=place % 2 == 0)
        ax.set_xlim(left=0)
        ax.set_title(f"{title} ({audit.classes[-1]})", fontsize=10)
    return given


# Pictures of a report.


def drift(
    evidence: tuple[Floats, Floats, Floats] | None, moved: Sequence[tuple[str, float, bool]], before: str,
    axes: Any = None,
) -> list[Any]:  # fmt: skip
    """Draw two histograms, where there are any, and a bar for each item that moved; those that changed stand out.

    The histograms are the ends of cells, and the rows in each (2, cells), before and now.
    """
    shown = list(moved[:_SHOWN])
    height = max(3.2, 1.1 + 0.22 * len(shown))
    both: list[Any] = list(new_panels(1, 2, (9.6, height)) if axes is None else axes)
    left, right = both
    if evidence is None:
        left.set_axis_off()
        left.text(
            0.5,
            0.5,
            "the evidence log p(x) is not compared",
            ha="center",
            va="center",
            color="0.45",
            transform=left.transAxes,
        )
    else:
        low, high, rows = evidence
        middles, shares = (low + high) / 2, rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)
        inside = [np.searchsorted(np.cumsum(own), [_TAIL, 1 - _TAIL]).clip(0, len(low) - 1) for own in shares]
        ends = low[min(at[0] for at in inside)], high[max(at[1] for at in inside)]
        edges = np.linspace(*ends, _BINS + 1)
        for k, own in enumerate(shares):
            # What lies in the tails is in the last bins, so that none is left out.
            heights, _ = np.histogram(middles.clip(*ends), edges, weights=own)
            name = f"{before} ({rows[k].sum():,.0f})" if k == 0 else f"now ({rows[k].sum():,.0f} rows)"
            left.stairs(heights, edges, fill=k == 0, color="0.72" if k == 0 else colour(5), lw=1.6, label=name)
        left.set(
            xlabel="evidence log p(x) of a row", ylabel="share of the rows", title="How likely the model thinks them"
        )
        left.set_ylim(top=left.get_ylim()[1] * 1.25)
        left.legend(frameon=False, fontsize=8, loc="upper left")
        _frame(left, "y")
    places = np.arange(len(shown))
    sizes = [100 * size for _, size, _ in shown]
    right.barh(places, sizes, 0.7, color=[colour(5) if own else "0.72" for *_, own in shown])
    right.set_yticks(places, [short(name, 34) for name, *_ in shown])
    right.set_ylim(max(len(shown), _ROOM) - 0.5, -0.5)  # from above; a few bars are no thicker than many
    right.set_xlim(0, max(5.0, *(1.18 * size for size in sizes)) if shown else 5.0)
    for place, size in zip(places, sizes):
        right.text(size, place, f" {size:.1f} %", va="center", fontsize=8)
    right.set(xlabel="rows that moved, in %", title="What moved (coloured: beyond chance)")
    _frame(right)
    return both


def balance(names: Sequence[str], shares: Mapping[str, Floats]) -> Any:
    """Draw the share of each class, a bar for each of one or two sets of rows."""
    ax = new_axes(None, (5.6, 0.9 + 0.42 * len(names)))
    places, last = np.arange(len(names))[::-1].astype(float), len(shares) - 1
    for k, (called, share) in enumerate(shares.items()):
        ax.barh(places + 0.19 * (last - 2 * k), share, 0.36 if last else 0.6, color=colour(k + 1 - last), label=called)
    if last:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9, frameon=False)
    ax.set_yticks(places, names)
    ax.set_xlabel("share of the rows")
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.locator_params(axis="x", nbins=5)
    return _frame(ax)


def draw_rows(ax: Any, values: Sequence[Floats]) -> None:
    """Draw the histogram of each class's values under curves of densities, if none is there; the axis ends with them.

    Where a few values lie far out, it ends with the middle 99 % and as much on either side.
    """
    both = np.concatenate(values)
    if not len(both) or both.min() == both.max():
        return
    near = np.quantile(both, [0.005, 0.995])
    reach = max(float(near[1] - near[0]), 1e-9 * float(np.ptp(both)))
    low, high = max(both.min(), near[0] - reach), min(both.max(), near[1] + reach)
    edges = np.linspace(low, high, 1 + int(np.clip(np.sqrt(len(both)), 8, 30)))
    if not ax.patches:
        bars = [np.histogram(own, edges)[0] / max(len(own), 1) / (edges[1] - edges[0]) for own in values]
        for k, heights in enumerate(bars):
            ax.stairs(heights, edges, fill=True, color=f"C{k % 10}", alpha=0.25, linewidth=0)
        top = ax.get_ylim()[1]  # of the curves; bars up to twice as high are shown whole
        ax.set_ylim(0, max(top, min(1.05 * float(np.max(bars)), 2 * top)))
    margin = 0.02 * (high - low)
    ax.set_xlim(low - margin, high + margin)


def keep_curves(ax: Any, labels: set[str]) -> None:
    """Leave out the curves of other classes and their histograms, and give the colours to those that stay."""
    lines, bars = list(ax.lines), list(ax.patches)
    for drawn in (lines, bars if len(bars) == len(lines) else []):
        for line, artist in zip(lines, drawn):
            if line.get_label() not in labels:
                artist.remove()
    for artists in (ax.lines, ax.patches):
        for at, artist in enumerate(artists):
            artist.set(color=f"C{at}", linestyle="-")
    ax.legend(title="class", fontsize="small")
