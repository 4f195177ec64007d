"""One prediction as the table a person would write by hand.

The prior, one line per column (or word), the product, and the division by the sum: the numbers shown multiply to
the product shown, and the products normalise to the posterior shown. A text is shown as well, its words coloured by
what they say.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation import STYLE
from ingenuo.explanation.page import Shown
from ingenuo.explanation.passages import in_html, in_signs, in_terminal
from ingenuo.explanation.plain_data import plain
from ingenuo.families.family import Factor, Passage, Term, exponential
from ingenuo.labels import Labels

# So many words of a text, and so many classes, are shown one by one; `to_dict` has them all.
WORDS = 20
CLASSES = 6


@dataclass(frozen=True)
class Explanation(Shown):
    """The arithmetic of one prediction; prints as a table, and `to_dict` gives the same as data."""

    classes: Labels
    prior: Factor
    factors: tuple[Factor, ...]
    joint: NDArray[np.float64]  # log of the product, for each class
    posterior: NDArray[np.float64]
    passages: tuple[Passage, ...] = ()  # texts, with what their words say for the first class against the second
    uncalibrated: NDArray[np.float64] | None = None  # the products over their sum, where the posterior was repaired
    calibration: str = ""  # and how

    @property
    def prediction(self) -> Any:
        """The most probable class."""
        return self.classes[int(np.argmax(self.posterior))]

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data, as JSON can say it: what is impossible has the log "-inf"."""
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

        found = {
            "prediction": self.classes[[int(np.argmax(self.posterior))]].tolist()[0],
            "prior": terms(self.prior),
            "factors": [terms(factor) for factor in self.factors],
            "log_joint": dict(zip(names, self.joint.tolist())),
            "product": {name: exponential(log) for name, log in zip(names, self.joint.tolist())},
            "posterior": dict(zip(names, self.posterior.tolist())),
            **(
                {}
                if self.uncalibrated is None
                else {"uncalibrated": dict(zip(names, self.uncalibrated.tolist())), "calibration": self.calibration}
            ),
            **(
                {"texts": {p.column: [{"text": t, "weight": w} for t, w in p.pieces] for p in self.passages}}
                if self.passages
                else {}
            ),
        }
        return plain(found)  # type: ignore[no-any-return]

    @property
    def order(self) -> list[int]:
        """The classes' places, the most probable first."""
        return np.argsort(-self.posterior, kind="stable").tolist()  # type: ignore[no-any-return]

    def _shown(self) -> list[Factor]:
        """The factors, with all but the strongest words of a column in one line together."""
        shown: list[Factor] = []
        for _, group in groupby(self.factors, key=lambda factor: factor.part_of):
            words = list(group)
            if not words[0].part_of or len(words) <= WORDS:
                shown += words
                continue
            rest = words[WORDS - 1 :]
            logs = [sum(factor.terms[k].log for factor in rest) for k in range(len(self.classes))]
            terms = tuple(Term(f"{len(rest)} factors", exponential(log), log) for log in logs)
            shown += [*words[: WORDS - 1], Factor(f"… {len(rest)} more words", "", terms)]
        return shown

    def _lines(self) -> list[list[str]]:
        """Rows of cells: column, value, then how and value for each class (of many classes, the most probable)."""
        chosen = self.order[:CLASSES] if len(self.classes) > CLASSES else list(range(len(self.classes)))
        lines = [["", "", *(cell for k in chosen for cell in (str(self.classes[k]), ""))]]
        for factor in (self.prior, *self._shown()):
            cells = [factor.column, factor.value]
            for t in [factor.terms[k] for k in chosen] if factor.terms else []:
                cells += [t.how, f"= {_figure(t.value, t.log)}"]
            if factor.note and not factor.terms:
                cells += [factor.note]
            lines.append(cells)
        products = [(exponential(float(self.joint[k])), float(self.joint[k])) for k in chosen]
        lines.append(["product", "", *(c for value, log in products for c in ("", f"= {_figure(value, log)}"))])
        shares = self.posterior if self.uncalibrated is None else self.uncalibrated
        lines.append(["÷ their sum", "", *(c for k in chosen for c in ("", f"= {shares[k]:.6f}"))])
        if self.uncalibrated is not None:
            lines.append(["calibrated", "", *(c for k in chosen for c in ("", f"= {self.posterior[k]:.6f}"))])
        return lines

    def _others(self) -> str:
        """How many classes are not shown, and what they come to."""
        hidden = self.order[CLASSES:]
        if not hidden:
            return ""
        return f"({len(hidden)} less probable classes are not shown; together {self.posterior[hidden].sum():.2g})"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, colour: bool = False) -> str:
        """The table as text; the words of texts in colours for a terminal, else with signs."""
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
        text.insert(-2 if self.uncalibrated is None else -3, rule)
        text.append(f"→ {self.classes[chosen]}, with probability {self.posterior[chosen]:.6f}")
        if self.calibration:
            text.append(f"(calibrated: {self.calibration})")
        if self._others():
            text.append(self._others())
        for passage in self.passages:
            if passage.pieces:
                text += ["", self._legend(passage), in_terminal(passage) if colour else in_signs(passage)]
        return "\n".join(text)

    def _legend(self, shown: Passage) -> str:
        names = [f"“{self.classes[k]}”" for k in self.order[:2]]
        return f"{shown.column}: + speaks for {names[0]}" + (f", − for {names[1]}" if len(names) > 1 else "")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = []
        lines = self._lines()
        for number, cells in enumerate(lines):
            tag = "th" if number == 0 else "td"
            if len(cells) == 3:
                body = "".join(f"<td>{html.escape(c)}</td>" for c in cells[:2])
                body += f'<td colspan="{len(lines[0]) - 2}"><em>{html.escape(cells[2])}</em></td>'
            else:
                body = "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells)
            rule = " class='rule'" if number == len(lines) - (2 if self.uncalibrated is None else 3) else ""
            rows.append(f"<tr{rule}>{body}</tr>")
        chosen = int(np.argmax(self.posterior))
        answer = f"{html.escape(str(self.classes[chosen]))}, with probability {self.posterior[chosen]:.6f}"
        table = f"<table class='ingenuo'>{''.join(rows)}</table>"
        others = f"<p>(calibrated: {html.escape(self.calibration)})</p>" if self.calibration else ""
        others += f"<p>{html.escape(self._others())}</p>" if self._others() else ""
        texts = "".join(
            f"<p><small>{html.escape(self._legend(shown))}</small><br>{in_html(shown)}</p>"
            for shown in self.passages
            if shown.pieces
        )
        return (
            f"<div style='overflow-x:auto'><style>{STYLE}</style>{table}<p>→ <strong>{answer}</strong></p>"
            f"{others}{texts}</div>"
        )


def _figure(value: float, log: float) -> str:
    """A value with seven digits; where a double cannot hold it, e to the power of its logarithm."""
    if (value == 0 and log > -math.inf) or math.isinf(value):
        return f"e^{log:.7g}"
    return f"{value:.7g}"
