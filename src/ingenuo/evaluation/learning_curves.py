"""Two learning curves: what two models measured over growing numbers of rows, who is ahead, and where they cross."""

from __future__ import annotations

import html
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, did_you_mean
from ingenuo.explanation import STYLE, learning_curves
from ingenuo.explanation.beliefs import aligned, html_table

Floats = NDArray[np.float64]

MEASURES = {"accuracy": "accuracy on held-out rows", "log_loss": "log loss on held-out rows (nats)"}
# A lead counts where its mean is farther from 0 than so many of its standard errors.
_ERRORS = 2.0
# From fewer repeats no standard error is worth the name.
_ENOUGH = 3


@dataclass(frozen=True, eq=False)
class Twins:
    """Two learning curves; prints as a table and a sentence.

    Attributes
    ----------
    names : tuple
        The generative model and its discriminative twin.
    sizes : array
        How many rows were learned from.
    accuracy, log_loss : array (repeats, sizes, 2)
        What each measured on the held-out rows, each time; the twins of one repeat had the same rows.
    test_rows : int
        How many rows were held out.
    remarks : tuple of str
        What the models warned of, and sizes that were left out.
    """

    names: tuple[str, str]
    sizes: NDArray[np.int64]
    accuracy: Floats
    log_loss: Floats
    test_rows: int
    remarks: tuple[str, ...] = ()

    def _measured(self, what: Any) -> Floats:
        if not isinstance(what, str) or what not in MEASURES:
            raise InputError(f"what={what!r} is not measured{did_you_mean(what, MEASURES)}")
        return self.accuracy if what == "accuracy" else self.log_loss

    def means(self, what: str = "accuracy") -> Floats:
        """The mean over the repeats: sizes × 2."""
        return np.asarray(self._measured(what).mean(axis=0))

    def spreads(self, what: str = "accuracy") -> Floats:
        """The standard deviation over the repeats: sizes × 2; of one repeat it is 0."""
        found = self._measured(what)
        return np.asarray(found.std(axis=0, ddof=1)) if len(found) > 1 else np.zeros(found.shape[1:])

    def _leads(self, what: str) -> Floats:
        """By how much the generative twin is better: repeats × sizes."""
        found = self._measured(what)
        lead = found[..., 0] - found[..., 1]
        return np.asarray(lead if what == "accuracy" else -lead)

    def leaders(self, what: str = "accuracy") -> list[str | None]:
        """Who is ahead at each size; None where the mean lead is within two of its standard errors.

        A few repeats may agree by chance. So in each of them a lead counts as uncertain by one held-out row at least:
        by one answer more that is right, or by the loss of an average row. The standard error is never less than that
        over √repeats. Fewer than 3 repeats show no one ahead.
        """
        leads = self._leads(what)
        if not self._enough:
            return [None] * len(self.sizes)
        mean = leads.mean(axis=0)
        row = (np.ones(len(mean)) if what == "accuracy" else self.means(what).max(axis=1)) / self.test_rows
        error = np.maximum(leads.std(axis=0, ddof=1), row) / np.sqrt(len(leads))
        clear = np.abs(mean) > _ERRORS * error
        return [self.names[0 if m > 0 else 1] if sure else None for m, sure in zip(mean, clear)]

    @property
    def _enough(self) -> bool:
        return len(self.accuracy) >= _ENOUGH

    def _runs(self, what: str) -> list[tuple[int, int, int]]:
        """Each stretch of sizes with one leader: who (0 or 1), the first size's place, the last one's."""
        runs: list[tuple[int, int, int]] = []
        for place, leader in enumerate(self.leaders(what)):
            if leader is None:
                continue
            who = self.names.index(leader)
            if runs and runs[-1][0] == who:
                runs[-1] = (who, runs[-1][1], place)
            else:
                runs.append((who, place, place))
        return runs

    def crossings(self, what: str = "accuracy") -> tuple[float, ...]:
        """Where the lead changes hands, in rows: the mean lead is 0 there, on a logarithmic scale of rows."""
        runs, lead, logs = self._runs(what), self._leads(what).mean(axis=0), np.log(self.sizes)
        found = []
        for (who, _, last), (_, first, _) in pairwise(runs):
            sign = 1 if who == 0 else -1
            t = max(t for t in range(last, first) if sign * lead[t] >= 0 > sign * lead[t + 1])
            share = lead[t] / (lead[t] - lead[t + 1])
            found.append(float(np.exp(logs[t] + share * (logs[t + 1] - logs[t]))))
        return tuple(found)

    @property
    def sentence(self) -> str:
        """Who is right more often with few rows, who with many, and where the curves cross."""
        return self.conclude()

    def conclude(self, what: str = "accuracy") -> str:
        """Who is ahead with few rows, who with many, and where the curves cross, in one sentence.

        Parameters
        ----------
        what : {"accuracy", "log_loss"}
            By what it is measured.
        """
        runs, means = self._runs(what), self.means(what)
        by = "accuracy" if what == "accuracy" else "log loss"

        def at(place: int, who: int) -> str:
            return f"{by} {means[place, who]:.3f} against {means[place, 1 - who]:.3f} with {self.sizes[place]:,}"

        if not self._enough:
            repeats, places = len(self.accuracy), sorted({0, len(self.sizes) - 1})
            shown = "; ".join(f"{at(place, 0)} rows" for place in places)
            return (
                f"{'One repeat is' if repeats == 1 else f'{repeats} repeats are'} too few to tell who is ahead "
                f"({self.names[0]} has {shown}); take {_ENOUGH} repeats at least."
            )
        if not runs:
            first, last = f"{self.sizes[0]:,}", f"{self.sizes[-1]:,}"
            where = f"with {last} rows" if first == last else f"at any size from {first} to {last} rows"
            return f"Neither is ahead {where}, as far as {len(self.accuracy)} repeats can show."
        who, low, high = runs[0]
        if len(runs) == 1:
            clear, all_sizes = sum(leader is not None for leader in self.leaders(what)), len(self.sizes)
            shown = at(low, who) if low == high else f"{at(low, who)}; {at(high, who)}"
            if all_sizes == 1:
                return f"{self.names[who]} is ahead ({shown})."
            if clear == all_sizes:
                return f"{self.names[who]} is ahead at every size ({shown}); the curves do not cross."
            return (
                f"{self.names[who]} is ahead at {clear} of {all_sizes} sizes ({shown}), and at the others neither is."
            )
        then, _, end = runs[-1]
        many = "with many" if end == len(self.sizes) - 1 else "with more"
        rest = "" if many == "with many" else f", and with {self.sizes[-1]:,} neither is"
        crossed = [f"{rows:,.0f}" for rows in self.crossings(what)]
        few = f"With few rows {self.names[who]} is ahead ({at(low, who)})"
        if then == who:
            return f"{few}, {many} as well ({at(end, who)}), but not between {crossed[0]} and {crossed[-1]} rows{rest}."
        where = f"the curves cross near {' and '.join(crossed)} rows"
        return f"{few}, {many} {self.names[then]} ({at(end, then)}); {where}{rest}."

    def table(self) -> Any:
        """An Arrow table with a line for each size and model: means, and standard deviations over the repeats."""
        import pyarrow as pa

        columns: dict[str, Any] = {"rows": np.repeat(self.sizes, 2), "model": list(self.names) * len(self.sizes)}
        for what in MEASURES:
            columns[what] = self.means(what).ravel()
            columns[f"{what}_spread"] = self.spreads(what).ravel()
        return pa.table(columns)

    def _lines(self) -> list[list[str]]:
        repeated = len(self.accuracy) > 1
        cells = [
            [
                f"{mean:.3f} ± {spread:.3f}" if repeated else f"{mean:.3f}"
                for mean, spread in zip(self.means(what).ravel(), self.spreads(what).ravel())
            ]
            for what in MEASURES
        ]
        ahead = [leader or ("neither" if self._enough else "–") for leader in self.leaders()]
        return [
            [f"{size:,}", *(cell for found in cells for cell in found[2 * i : 2 * i + 2]), ahead[i]]
            for i, size in enumerate(self.sizes.tolist())
        ]

    def _said(self) -> list[str]:
        repeats = len(self.accuracy)
        times = f"Means over {repeats} repeats ± their standard deviation" if repeats > 1 else "Measured in one repeat"
        return [self.sentence, f"{times}; {self.test_rows:,} rows were held out, the same for both.", *self.remarks]

    def __str__(self) -> str:
        heads = [["", "accuracy", "", "log loss", "", "ahead in"], ["rows", *self.names, *self.names, "accuracy"]]
        text = aligned([*heads, *self._lines()])
        return "\n".join([*text[:2], "─" * max(map(len, text)), *text[2:], *self._said()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        heads = [f"{measure}, {name}" for measure in ("accuracy", "log loss") for name in self.names]
        table = html_table([["rows", *heads, "ahead in accuracy"], *self._lines()])
        said = "".join(f"<p>{html.escape(line)}</p>" for line in self._said())
        return f"<div style='overflow-x:auto'><style>{STYLE}</style>{table}{said}</div>"

    def plot(self, what: str = "accuracy", ax: Any = None) -> Any:
        """Draw both curves over the rows, with bands of one standard deviation; the axes are returned.

        Parameters
        ----------
        what : {"accuracy", "log_loss"}
            What is drawn.
        ax : matplotlib axes, optional
            Where to draw; by default on a figure of its own.
        """
        means, spreads = self.means(what), self.spreads(what)
        crossings = self.crossings(what)
        return learning_curves.draw(self.sizes, means, spreads, self.names, MEASURES[what], crossings, ax)
