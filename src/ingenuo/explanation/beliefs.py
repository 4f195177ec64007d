"""The trace of beliefs: what was thought of each hypothesis after every observation, as rows, a table and a picture.

Only the observations are kept; beliefs are worked out for the steps that are asked for, so that a trace of a million
steps costs no more than its observations.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation import STYLE
from ingenuo.explanation.pictures import axes

Floats = NDArray[np.float64]

# So many steps and hypotheses are printed, so many lines drawn with their names, through so many points.
_STEPS = 20
_HYPOTHESES = 8
_NAMED = 6
_POINTS = 1000
_TICKS = 12  # as long as there are no more steps, each is named on the axis


@dataclass(frozen=True, eq=False)
class Beliefs(Sequence[dict[Any, float]]):
    """Beliefs before any observation, and after each step; prints as a table.

    >>> prior, logs = np.log([0.75, 0.25]), np.log([[0.5, 0.6], [0.5, 0.4]])
    >>> print(Beliefs(("fair", "biased"), prior, ["Head", "Tail"], np.array([0]), np.array([1]), logs))
    step  observation  fair      biased
    0                  0.750000  0.250000
    1     Head         0.714286  0.285714
    """

    names: tuple[Any, ...]
    log_prior: Floats
    labels: Sequence[Any]  # what can be observed
    places: NDArray[Any]  # and, for each step, which of these was
    times: NDArray[np.int64]  # and how often in a row
    logs: Floats  # log P(label | hypothesis), labels × hypotheses

    def __len__(self) -> int:
        return len(self.places) + 1

    @overload
    def __getitem__(self, step: int) -> dict[Any, float]: ...
    @overload
    def __getitem__(self, step: slice) -> list[dict[Any, float]]: ...
    def __getitem__(self, step: int | slice) -> Any:
        if isinstance(step, slice):
            return [dict(zip(self.names, row)) for row in self.at(np.arange(len(self))[step]).tolist()]
        if not -len(self) <= step < len(self):
            raise IndexError(f"there is no step {step}; the trace has steps 0 to {len(self) - 1}")
        return dict(zip(self.names, self.at(np.array([step % len(self)]))[0].tolist()))

    def __iter__(self) -> Iterator[dict[Any, float]]:
        for row in self.probabilities:
            yield dict(zip(self.names, row.tolist()))

    @property
    def probabilities(self) -> Floats:
        """Steps × hypotheses, the prior first."""
        return self.at(np.arange(len(self)))

    @property
    def seen(self) -> NDArray[np.int64]:
        """How many observations had been made at each step."""
        return np.concatenate([[0], np.cumsum(self.times)])

    def at(self, steps: NDArray[Any]) -> Floats:
        """Beliefs after some of the steps."""
        from scipy.special import softmax

        joint = np.tile(self.log_prior, (len(steps), 1))
        total = np.zeros(len(self.names), np.longdouble)
        block = max(1, (1 << 20) // len(self.names))
        last = int(steps.max(initial=0))
        for low in range(0, last, block):
            high = min(low + block, last)
            terms = self.logs[self.places[low:high]] * self.times[low:high, np.newaxis]
            # In long doubles, where there are any: a million roundings of a large sum would show in the seventh digit.
            sums = total + np.cumsum(terms, axis=0, dtype=np.longdouble)
            inside = (steps > low) & (steps <= high)
            joint[inside] += sums[steps[inside] - low - 1].astype(np.float64)
            total = sums[-1]
        return np.asarray(softmax(joint, axis=1))

    def observation(self, step: int) -> str:
        """What was observed at a step, and how often."""
        if step == 0:
            return ""
        times = int(self.times[step - 1])
        return shortened(self.labels[int(self.places[step - 1])]) + (f" ×{times:,}" if times > 1 else "")

    def _lines(self) -> list[list[str]]:
        """Rows of cells; of many steps the first and the last, of many hypotheses those most believed in the end."""
        half = _STEPS // 2
        few = len(self) <= _STEPS + 1
        steps = np.arange(len(self)) if few else np.concatenate([np.arange(half), np.arange(half) + len(self) - half])
        found = self.at(steps)
        chosen = self._leading(found[-1], _HYPOTHESES)
        lines = [["step", "observation", *(str(self.names[k]) for k in chosen)]]
        for step, row in zip(steps.tolist(), found):
            if not few and step == len(self) - half:
                lines.append(["…", *[""] * (len(chosen) + 1)])
            lines.append([str(step), self.observation(step), *(f"{row[k]:.6f}" for k in chosen)])
        return lines

    def _leading(self, row: Floats, most: int) -> list[int]:
        """The places of the largest, in the order of the hypotheses."""
        return sorted(np.argsort(-row, kind="stable")[:most].tolist())

    def _others(self) -> str:
        hidden = len(self.names) - _HYPOTHESES
        return f"({hidden} less probable hypotheses are not shown)" if hidden > 0 else ""

    def __str__(self) -> str:
        return "\n".join([*aligned(self._lines()), *([self._others()] if self._others() else [])])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        others = f"<p>{self._others()}</p>" if self._others() else ""
        return f"<div style='overflow-x:auto'><style>{STYLE}</style>{html_table(self._lines())}{others}</div>"

    def table(self) -> Any:
        """An Arrow table: step, observation, times, and P(hypothesis) for each."""
        import pyarrow as pa

        labels = [label if isinstance(label, str) else str(label) for label in self.labels]
        places = np.concatenate([[0], self.places]).astype(np.int64)
        before = np.arange(len(self)) == 0  # the prior, when nothing had been observed
        indices = pa.array(places, mask=before)
        observed = pa.DictionaryArray.from_arrays(indices, pa.array(labels, pa.string())).dictionary_decode()
        columns = {"step": np.arange(len(self)), "observation": observed, "times": np.append(0, self.times)}
        columns |= {f"P({name})": column for name, column in zip(self.names, self.probabilities.T)}
        return pa.table(columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw each hypothesis' probability over the observations; the axes are returned.

        Of many hypotheses those that were most believed at some time have names, the others are grey.
        """
        ax = axes(ax)
        steps, seen = _points(len(self)), self.seen
        found = self.at(steps)
        named = self._leading(found.max(axis=0), _NAMED)
        others = [k for k in range(len(self.names)) if k not in named]
        marker = "o" if len(self) <= 30 else ""
        for k in named:
            ax.plot(seen[steps], found[:, k], marker=marker, markersize=4, label=str(self.names[k]), zorder=2)
        for k in others:
            label = f"{len(others)} others" if k == others[0] else None
            ax.plot(seen[steps], found[:, k], color="0.8", linewidth=0.8, label=label, zorder=1)
        top = 1.0 if found.max() > 0.5 else float(found.max())  # of very many hypotheses each has little
        ax.set_ylim(-0.03 * top, 1.03 * top)
        ax.set_ylabel("probability")
        ax.set_xlabel("observations")
        if len(self) - 1 <= _TICKS and int(seen[-1]) == len(self) - 1:
            names = ["prior", *(self.observation(step) for step in range(1, len(self)))]
            long = sum(map(len, names)) + 2 * len(names) > 55  # so many letters stand side by side
            ax.set_xticks(seen, names, rotation=30 if long else 0, ha="right" if long else "center")
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return ax


def aligned(lines: list[list[str]]) -> list[str]:
    """Rows of cells as lines of text, each column as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip() for cells in lines]


def html_table(lines: list[list[str]], rule: int = -1) -> str:
    """Rows of cells, the first of them heads, as a table for notebooks; a rule may stand above one of them."""
    rows = []
    for number, cells in enumerate(lines):
        tag = "td" if number else "th"
        ruled = " class='rule'" if number == rule else ""
        rows.append(f"<tr{ruled}>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>")
    return f"<table class='ingenuo'>{''.join(rows)}</table>"


def shortened(observation: Any) -> str:
    """An observation in one line of a table."""
    text = " ".join(str(observation).split())
    return text if len(text) <= 40 else text[:39] + "…"


def _points(n: int) -> NDArray[np.intp]:
    """The steps that are drawn: all, or as many as can be seen, and more of the early ones, when beliefs move."""
    if n <= _POINTS:
        return np.arange(n)
    spread = np.linspace(0, n - 1, _POINTS // 2)
    early = np.geomspace(1, n - 1, _POINTS // 2)
    return np.unique(np.concatenate([spread, early]).round().astype(np.intp))
