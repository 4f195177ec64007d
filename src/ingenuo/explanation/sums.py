"""One answer of a linear model as the sum a person would write by hand: a constant, and a term for each column."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation import STYLE
from ingenuo.explanation.page import Shown
from ingenuo.explanation.plain_data import plain
from ingenuo.labels import Labels

_CLASSES = 6  # so many classes are shown


@dataclass(frozen=True)
class Addend:
    """What one column adds to each class; nothing where it was left out, with the reason."""

    column: str
    value: str
    how: tuple[str, ...] = ()
    amounts: tuple[float, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class SumExplanation(Shown):
    """The arithmetic of one answer; prints as a table, and `to_dict` gives the same as data."""

    classes: Labels
    constant: Addend
    addends: tuple[Addend, ...]
    sums: NDArray[np.float64]  # for each class: the constant and all addends
    probabilities: NDArray[np.float64]

    @property
    def prediction(self) -> Any:
        """The class of the largest sum."""
        return self.classes[int(np.argmax(self.sums))]

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        names = self.classes.tolist()

        def cells(each: Addend) -> dict[str, Any]:
            terms = [{"class": n, "how": h, "amount": a} for n, h, a in zip(names, each.how, each.amounts)]
            return {
                "column": each.column,
                "value": each.value,
                **({"note": each.note} if each.note else {}),
                "terms": terms,
            }

        found = {
            "prediction": self.classes[[int(np.argmax(self.sums))]].tolist()[0],
            "constant": cells(self.constant),
            "addends": [cells(each) for each in self.addends],
            "sum": dict(zip(names, self.sums.tolist())),
            "probability": dict(zip(names, self.probabilities.tolist())),
        }
        return plain(found)  # type: ignore[no-any-return]

    def _lines(self) -> list[list[str]]:
        chosen = np.sort(np.argsort(-self.sums, kind="stable")[:_CLASSES]).tolist()
        lines = [["", "", *(cell for k in chosen for cell in (str(self.classes[k]), ""))]]
        for each in (self.constant, *self.addends):
            cells = [each.column, each.value]
            for k in chosen if each.amounts else []:
                cells += [each.how[k], f"= {each.amounts[k]:.6f}"]
            lines.append(cells if each.amounts else [*cells, each.note])
        lines.append(["sum", "", *(c for k in chosen for c in ("", f"= {self.sums[k]:.6f}"))])
        lines.append(["not below 0", "", *(c for k in chosen for c in ("", f"= {self.probabilities[k]:.6f}"))])
        return lines

    def __str__(self) -> str:
        lines = self._lines()
        most = len(lines[0])
        full = [cells for cells in lines if len(cells) == most]
        widths = [max(len(cells[i]) for cells in (lines if i < 2 else full)) for i in range(most)]
        text = []
        for cells in lines:
            shown = [cell.ljust(width) for cell, width in zip(cells[:2], widths)]
            shown += [cell.ljust(w) for cell, w in zip(cells[2:], widths[2:])] if len(cells) == most else cells[2:]
            text.append("  ".join(shown).rstrip())
        rule = "─" * max(map(len, text))
        text.insert(1, rule)
        text.insert(-2, rule)
        hidden = len(self.classes) - (most - 2) // 2
        if hidden:
            text.append(f"({hidden} classes with smaller sums are not shown)")
        return "\n".join([*text, f"→ {self.prediction}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = []
        lines = self._lines()
        for number, cells in enumerate(lines):
            tag = "th" if number == 0 else "td"
            spans = [""] * len(cells)
            if len(cells) == 3:
                spans[2] = f" colspan='{len(lines[0]) - 2}'"
            rows.append(
                f"<tr{' class=rule' if number == len(lines) - 2 else ''}>"
                + "".join(f"<{tag}{span}>{html.escape(cell)}</{tag}>" for cell, span in zip(cells, spans))
                + "</tr>"
            )
        return (
            f"<div style='overflow-x:auto'><style>{STYLE}</style><table class='ingenuo'>{''.join(rows)}</table>"
            f"<p>→ <strong>{html.escape(str(self.prediction))}</strong></p></div>"
        )
