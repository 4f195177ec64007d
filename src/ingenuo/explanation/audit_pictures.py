"""Pictures of an audit: differences between groups, and rates of groups, with their intervals.

The drawing knows nothing of models: it is given what an audit found.
"""

from __future__ import annotations

from typing import Any

from ingenuo.explanation import pictures
from ingenuo.explanation.regions import colour

_COMPARISONS = 20
_GROUPS = 20
_NAME = 44
_PANELS = (
    ("selection", "answered"),
    ("base", "true"),
    ("false_positive", "false positives"),
    ("false_negative", "false negatives"),
)


def _short(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def _bare(ax: Any) -> None:
    ax.grid(axis="x", alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def sentences(audit: Any, ax: Any = None) -> Any:
    """Draw the largest differences of an audit by sentences; filled points are significant."""
    shown = audit.comparisons[:_COMPARISONS]
    ax = pictures.axes(ax, (7.4, 1.2 + 0.3 * max(len(shown), 2)))
    several = len(audit.classes) > 1
    ax.axvline(0, color="0.45", lw=1.0, ls=":")
    for at, c in enumerate(shown):
        tone = colour(0) if c.significant else "0.5"
        if c.low is not None and c.high is not None:
            ax.hlines(at, c.low, c.high, color=tone, lw=2.0, alpha=0.7)
        ax.plot([c.difference], [at], "o", ms=5, color=tone, mfc=tone if c.significant else "white")
    names = [
        f"{c.group}{'†' if c.unused else ''} – {c.against} ({c.kind}{', ' + str(c.class_) if several else ''})"
        for c in shown
    ]
    ax.set_yticks(range(len(shown)), [_short(name) for name in names], fontsize=8)
    ax.invert_yaxis()
    asked = f"P({audit.classes[0]})" if not several else "P(class)"
    ax.set_xlabel(f"mean difference of {asked} in the same sentence, {100 * audit.confidence:g}% interval")
    ax.set_title(f"{len(shown)} of {len(audit.comparisons)} comparisons; filled: significant", fontsize=10)
    _bare(ax)
    return ax


def groups(audit: Any, axes: Any = None) -> list[Any]:
    """Draw the rates of each group, a panel for each rate; the dotted line is the reference group's.

    Of several classes the last is drawn. Without truths there is one panel.
    """
    panels = _PANELS if audit.truths else _PANELS[:1]
    shown = sorted((r for r in audit.rates if r.class_ == audit.classes[-1]), key=lambda r: -r.rows)[:_GROUPS]
    if axes is None:
        axes = _axes(len(panels), len(shown))
    given = list(axes) if hasattr(axes, "__iter__") else [axes]
    standard = audit.rate(audit.reference, audit.classes[-1])
    for place, (ax, (name, title)) in enumerate(zip(given, panels)):
        reference = getattr(standard, name).value
        if reference is not None:
            ax.axvline(reference, color="0.45", lw=1.0, ls=":")
        for at, rates in enumerate(shown):
            share = getattr(rates, name)
            if share.value is not None:
                ax.hlines(at, share.low, share.high, color=colour(place), lw=2.0, alpha=0.6)
                ax.plot([share.value], [at], "o", ms=5, color=colour(place))
        first = place % 2 == 0
        ax.set_yticks(range(len(shown)), [_short(f"{r.group} ({r.rows:,})") for r in shown] if first else [])
        ax.tick_params(labelsize=8)
        ax.set_xlim(left=0)
        ax.set_ylim(len(shown) - 0.5, -0.5)
        ax.set_title(f"{title} ({audit.classes[-1]})", fontsize=10)
        _bare(ax)
    return given


def _axes(panels: int, rows: int) -> list[Any]:
    """Axes for the panels, two in a line, on a new figure."""
    high = 0.7 + 0.3 * max(rows, 2)
    if panels == 1:
        return [pictures.axes(None, (6.4, high))]
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 2 * high), layout="constrained")
    return list(figure.subplots(2, 2).ravel())
