"""Learning curves as a picture: what is measured over the number of rows learned from, with its spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation import pictures
from ingenuo.explanation.regions import colour

Floats = NDArray[np.float64]


def draw(
    sizes: NDArray[Any], means: Floats, spreads: Floats, names: Sequence[str], measure: str,
    crossings: Sequence[float] = (), ax: Any = None,
) -> Any:  # fmt: skip
    """Draw a curve for each model (means and spreads are sizes × models); crossings, in rows, are dotted lines."""
    ax = pictures.axes(ax)
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
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
