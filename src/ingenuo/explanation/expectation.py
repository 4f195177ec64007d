"""One predicted number as arithmetic: the posterior of the bins by Bayes' rule, then Σ P · mean over the bins."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation import STYLE
from ingenuo.explanation.arithmetic import CLASSES, Explanation
from ingenuo.explanation.page import Shown
from ingenuo.explanation.plain_data import plain


@dataclass(frozen=True)
class Expectation(Shown):
    """The arithmetic of one predicted number; prints as a table, and `to_dict` gives the same as data."""

    bins: Explanation  # which bin, and why
    means: NDArray[np.float64]  # of the targets in each bin

    @property
    def prediction(self) -> float:
        """Σ_b P(b) · mean_b."""
        return float(self.bins.posterior @ self.means)

    def to_dict(self) -> dict[str, Any]:
        """The arithmetic as plain data."""
        found = {
            **self.bins.to_dict(),
            "means": dict(zip(self.bins.classes.tolist(), self.means.tolist())),
            "bin": self.bins.prediction,
            "prediction": self.prediction,
        }
        return plain(found)  # type: ignore[no-any-return]

    def _called(self) -> str:
        return f"Why {self.prediction:.6g}?"

    def _lines(self) -> list[tuple[str, str, str]]:
        """Bin, P × mean, and their product; of many bins the most probable, and the others together."""
        shown, rest = self.bins.order[:CLASSES], self.bins.order[CLASSES:]
        lines = [
            (
                str(self.bins.classes[k]),
                f"{self.bins.posterior[k]:.6f} × {self.means[k]:.6g}",
                f"{self.bins.posterior[k] * self.means[k]:.6g}",
            )
            for k in shown
        ]
        if rest:
            share, total = self.bins.posterior[rest].sum(), self.bins.posterior[rest] @ self.means[rest]
            lines.append((f"{len(rest)} other bins", f"{share:.6f} together", f"{total:.6g}"))
        return lines

    def to_text(self, *, colour: bool = False) -> str:
        """The tables as text."""
        lines = [("bin", "P × mean", ""), *((a, b, f"= {c}") for a, b, c in self._lines())]
        lines.append(("sum", "", f"= {self.prediction:.6g}"))
        widths = [max(len(line[i]) for line in lines) for i in range(3)]
        text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        rule = "─" * max(map(len, text))
        text[-1:] = [rule, text[-1], f"→ {self.prediction:.6g}, the expected value"]
        return "\n".join([self.bins.to_text(colour=colour), "", text[0], rule, *text[1:]])

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head = "<tr><th>bin</th><th>P × mean</th><th class='n'></th></tr>"
        rows = "".join(
            f"<tr><td>{html.escape(a)}</td><td>{html.escape(b)}</td><td class='n'>= {html.escape(c)}</td></tr>"
            for a, b, c in self._lines()
        )
        total = f"<tr class='rule'><td>sum</td><td></td><td class='n'>= {self.prediction:.6g}</td></tr>"
        answer = f"<p>→ <strong>{self.prediction:.6g}</strong>, the expected value</p>"
        table = f"<style>{STYLE}</style><table class='ingenuo'>{head}{rows}{total}</table>"
        return f"{self.bins._repr_html_()}<div style='overflow-x:auto'>{table}{answer}</div>"
