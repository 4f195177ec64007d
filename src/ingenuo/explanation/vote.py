"""One answer as the vote of several models: what each says, times its weight, and the sums.

P(class) = Σ_h weight_h · P_h(class)
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation import STYLE
from ingenuo.explanation.arithmetic import CLASSES
from ingenuo.explanation.beliefs import aligned, html_table
from ingenuo.explanation.page import Shown
from ingenuo.explanation.plain_data import plain
from ingenuo.labels import Labels

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Vote(Shown):
    """The vote of weighted models; prints as a table, and `to_dict` gives the same as data.

    >>> print(Vote(np.array(["no", "yes"]), ("a", "b"), np.array([0.6, 0.4]), np.array([[0.9, 0.1], [0.2, 0.8]])))
         weight    no                      yes
    ─────────────────────────────────────────────────────────────
    a    0.600000  × 0.900000  = 0.540000  × 0.100000  = 0.060000
    b    0.400000  × 0.200000  = 0.080000  × 0.800000  = 0.320000
    ─────────────────────────────────────────────────────────────
    sum                        = 0.620000              = 0.380000
    → no, with probability 0.620000
    """

    classes: Labels
    names: tuple[Any, ...]
    weights: Floats
    probabilities: Floats  # models × classes

    @property
    def posterior(self) -> Floats:
        """The weighted sum for each class."""
        return np.asarray(self.weights @ self.probabilities)

    @property
    def prediction(self) -> Any:
        """The most probable class."""
        return self.classes[int(np.argmax(self.posterior))]

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        classes = self.classes.tolist()
        found = {
            "prediction": classes[int(np.argmax(self.posterior))],
            "votes": [
                {"name": name, "weight": weight, "probabilities": dict(zip(classes, row))}
                for name, weight, row in zip(self.names, self.weights.tolist(), self.probabilities.tolist())
            ],
            "posterior": dict(zip(classes, self.posterior.tolist())),
        }
        return plain(found)  # type: ignore[no-any-return]

    def _lines(self) -> list[list[str]]:
        """Rows of cells: the model, its weight, then its probability and the product for each class that is shown."""
        shown = self._order()[:CLASSES] if len(self.classes) > CLASSES else list(range(len(self.classes)))
        lines = [["", "weight", *(cell for k in shown for cell in (str(self.classes[k]), ""))]]
        for name, weight, row in zip(self.names, self.weights, self.probabilities):
            cells = [cell for k in shown for cell in (f"× {row[k]:.6f}", f"= {weight * row[k]:.6f}")]
            lines.append([str(name), f"{weight:.6f}", *cells])
        lines.append(["sum", "", *(cell for k in shown for cell in ("", f"= {self.posterior[k]:.6f}"))])
        return lines

    def _order(self) -> list[int]:
        return np.argsort(-self.posterior, kind="stable").tolist()  # type: ignore[no-any-return]

    def _answer(self) -> str:
        return f"{self.prediction}, with probability {self.posterior.max():.6f}"

    def _others(self) -> str:
        hidden = self._order()[CLASSES:]
        if not hidden:
            return ""
        return f"({len(hidden)} less probable classes are not shown; together {self.posterior[hidden].sum():.2g})"

    def __str__(self) -> str:
        text = aligned(self._lines())
        rule = "─" * max(map(len, text))
        text = [text[0], rule, *text[1:-1], rule, text[-1], f"→ {self._answer()}"]
        return "\n".join([*text, *([self._others()] if self._others() else [])])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        table = html_table(self._lines(), rule=len(self.names) + 1)
        others = f"<p>{self._others()}</p>" if self._others() else ""
        answer = f"<p>→ <strong>{html.escape(self._answer())}</strong></p>"
        return f"<div style='overflow-x:auto'><style>{STYLE}</style>{table}{answer}{others}</div>"
