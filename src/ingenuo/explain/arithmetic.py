"""One prediction as the table a person would write by hand.

The prior, one line per column, the product, and the division by the sum: the numbers shown multiply to the
product shown, and the products normalise to the posterior shown.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.explain import STYLE
from ingenuo.families.family import Factor, exponential
from ingenuo.labels import Labels


@dataclass(frozen=True)
class Explanation:
    """The arithmetic of one prediction; prints as a table, and `to_dict` gives the same as data."""

    classes: Labels
    prior: Factor
    factors: tuple[Factor, ...]
    joint: NDArray[np.float64]  # log of the product, for each class
    posterior: NDArray[np.float64]

    @property
    def prediction(self) -> Any:
        """The most probable class."""
        return self.classes[int(np.argmax(self.posterior))]

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        names = self.classes.tolist()

        def terms(factor: Factor) -> dict[str, Any]:
            return {
                "column": factor.column,
                "value": factor.value,
                **({"note": factor.note} if factor.note else {}),
                "terms": [
                    {"class": name, "how": t.how, "value": t.value, "log": t.log}
                    for name, t in zip(names, factor.terms)
                ],
            }

        return {
            "prediction": self.classes[[int(np.argmax(self.posterior))]].tolist()[0],
            "prior": terms(self.prior),
            "factors": [terms(factor) for factor in self.factors],
            "log_joint": dict(zip(names, self.joint.tolist())),
            "product": {name: exponential(log) for name, log in zip(names, self.joint.tolist())},
            "posterior": dict(zip(names, self.posterior.tolist())),
        }

    def _lines(self) -> list[list[str]]:
        """Rows of cells: column, value, then how and value for each class."""
        lines = [["", "", *(cell for name in self.classes for cell in (str(name), ""))]]
        for factor in (self.prior, *self.factors):
            cells = [factor.column, factor.value]
            for t in factor.terms:
                cells += [t.how, f"= {_figure(t.value, t.log)}"]
            if factor.note and not factor.terms:
                cells += [factor.note]
            lines.append(cells)
        lines.append(["product", "", *(c for j in self.joint for c in ("", f"= {_figure(exponential(j), float(j))}"))])
        lines.append(["÷ their sum", "", *(c for p in self.posterior for c in ("", f"= {p:.6f}"))])
        return lines

    def __str__(self) -> str:
        lines = self._lines()
        most = max(len(cells) for cells in lines)
        wide = [cells + [""] * (most - len(cells)) for cells in lines]
        tables = [cells for cells, full in zip(wide, lines) if len(full) == most or full is lines[0]]
        widths = [max(len(cells[i]) for cells in tables) for i in range(most)]
        widths[0] = max(len(cells[0]) for cells in wide)
        widths[1] = max(len(cells[1]) for cells in wide)
        text = []
        for cells, full in zip(wide, lines):
            shown = [cell.ljust(width) for cell, width in zip(cells, widths)]
            if len(full) == 3:  # a note runs across the columns of the classes
                shown = shown[:2] + [full[2]]
            text.append("  ".join(shown).rstrip())
        rule = "─" * max(len(line) for line in text)
        chosen = int(np.argmax(self.posterior))
        text.insert(1, rule)
        text.insert(-2, rule)
        return "\n".join([*text, f"→ {self.classes[chosen]}, with probability {self.posterior[chosen]:.6f}"])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = []
        for number, cells in enumerate(self._lines()):
            tag = "th" if number == 0 else "td"
            if len(cells) == 3:
                body = "".join(f"<td>{html.escape(c)}</td>" for c in cells[:2])
                body += f'<td colspan="{2 * len(self.classes)}"><em>{html.escape(cells[2])}</em></td>'
            else:
                body = "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells)
            rule = " class='rule'" if cells[0] == "product" and number > len(self.factors) + 1 else ""
            rows.append(f"<tr{rule}>{body}</tr>")
        chosen = int(np.argmax(self.posterior))
        answer = f"{html.escape(str(self.classes[chosen]))}, with probability {self.posterior[chosen]:.6f}"
        table = f"<table class='ingenuo'>{''.join(rows)}</table>"
        return f"<div style='overflow-x:auto'><style>{STYLE}</style>{table}<p>→ <strong>{answer}</strong></p></div>"


def _figure(value: float, log: float) -> str:
    """A value with seven digits; where a double cannot hold it, e to the power of its logarithm."""
    if (value == 0 and log > -math.inf) or math.isinf(value):
        return f"e^{log:.7g}"
    return f"{value:.7g}"
