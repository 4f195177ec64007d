"""What speaks most for each class: its values, words and intervals of numbers, by the information they bring.

    ratio = P(v | class) / P(v | the other classes)        the others weighted by their priors
    information = P(v | class) · log ratio

The information is what a row of the class can be expected to bring by having v, in nats: a value that is met often and
tells a little may come before one that tells much and is hardly ever met. Of words and counts, which may come several
times, P(v | class) stands for how often v is in a row. Probabilities are the model's, after smoothing; in a tuned model
the information has the weight of its column. Of a number it is the interval where the class is more probable than the
others. Linear models have weights in place of ratios: what one standard deviation multiplies the odds by.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError
from ingenuo.explanation import STYLE, strongest_ratios, strongest_weights
from ingenuo.explanation.beliefs import aligned, html_table
from ingenuo.explanation.evidence import Bags, Evidence, Measure, Part, Values, evidence
from ingenuo.explanation.page import Shown
from ingenuo.explanation.plain_data import plain
from ingenuo.explanation.strongest_sign import Sign, strength
from ingenuo.labels import Labels, labels_of

_CLASSES = 12  # are printed


@dataclass(frozen=True, eq=False)
class Strongest(Shown):
    """For each class what speaks most for it; prints as a table."""

    classes: Labels
    signs: tuple[tuple[Sign, ...], ...]  # of each class, the strongest first
    linear: bool = False
    remark: str = ""

    def __getitem__(self, label: Any) -> tuple[Sign, ...]:
        """What speaks most for one class."""
        return self.by_class[label]

    @property
    def by_class(self) -> Mapping[Any, tuple[Sign, ...]]:
        """What speaks most, class by class."""
        return dict(zip(self.classes.tolist(), self.signs))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        found = {
            "classes": [
                {"class": label, "signs": [sign.to_dict() for sign in signs]}
                for label, signs in zip(self.classes.tolist(), self.signs)
            ],
            "linear": self.linear,
            **({"remark": self.remark} if self.remark else {}),
        }
        return plain(found)  # type: ignore[no-any-return]

    def _called(self) -> str:
        return "What speaks most for each class"

    def lines(self, k: int) -> list[list[str]]:
        """The table of one class, by its place: rows of cells, the heads first."""
        signs = self.signs[k]
        heads = ["", "value", "odds" if self.linear else "how likely", "in class", "in all", ""]
        cells = [[s.column, s.value, s.times, s.seen(s.in_class), s.seen(s.in_all), s.note] for s in signs]
        used = [i for i in range(len(heads)) if any(line[i] for line in cells)]
        return [[line[i] for i in used] for line in (heads, *cells)]

    def _shown(self) -> list[int]:
        return [k for k in range(len(self.classes)) if self.signs[k]][:_CLASSES]

    def _remarks(self) -> list[str]:
        hidden = sum(1 for signs in self.signs if signs) - len(self._shown())
        silent = [str(label) for label, signs in zip(self.classes.tolist(), self.signs) if not signs]
        found = [f"({hidden} more classes are not shown)"] if hidden else []
        if silent and not self.remark:
            found.append(f"(nothing speaks for {', '.join(silent[:8])}{', …' if len(silent) > 8 else ''})")
        return found + ([self.remark] if self.remark else [])

    def __str__(self) -> str:
        text: list[str] = []
        for k in self._shown():
            text += [
                *([""] if text else []),
                f"for {self.classes[k]}",
                *(f"  {line}" for line in aligned(self.lines(k))),
            ]
        return "\n".join([*text, *self._remarks()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        tables = "".join(
            f"<p><strong>for {html.escape(str(self.classes[k]))}</strong></p>{html_table(self.lines(k))}"
            for k in self._shown()
        )
        remarks = "".join(f"<p>{html.escape(each)}</p>" for each in self._remarks())
        return f"<div style='overflow-x:auto'><style>{STYLE}</style>{tables}{remarks}</div>"


def strongest(model: Any, n: int = 10) -> Strongest:
    """What speaks most for each class of a model.

    Parameters
    ----------
    model : fitted classifier
        Naive Bayes of any kind, a discriminant, `SoftmaxRegression`, `LeastSquaresClassifier` or `NetworkClassifier`;
        of others the table is empty and says why.
    n : int
        How much to show of each class.

    Examples
    --------
    >>> import ingenuo as ing, ingenuo.data
    >>> found = strongest(ing.NaiveBayes().fit(ingenuo.data.play_tennis(), "Play"), n=2)
    >>> print(found)
    for No
                value  how likely       in class  in all
      Humidity  High   ×1.96 as likely  4         7
      Outlook   Sunny  ×2 as likely     3         5
    <BLANKLINE>
    for Yes
                value     how likely       in class  in all
      Humidity  Normal    ×2.23 as likely  6         7
      Outlook   Overcast  ×3.33 as likely  4         4
    >>> found["Yes"][0].value
    'Normal'
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise KindError(f"n must be a whole number, got {type(n).__name__} {n!r}")
    if n < 1:
        raise InputError(f"n={n!r} leaves nothing to show; take 1 at least")
    if hasattr(model, "brier_") and hasattr(model, "coef_"):
        return Strongest(labels_of(model.classes_), strongest_weights.by_lines(model, int(n)), linear=True)
    if type(model).__name__ == "NetworkClassifier" and hasattr(model, "classes_"):
        return Strongest(labels_of(model.classes_), *strongest_ratios.by_network(model, int(n)))
    try:
        found = evidence(model, "table of the strongest evidence", added=False)
    except InputError as error:
        if not hasattr(model, "classes_"):
            raise
        classes = labels_of(model.classes_)
        return Strongest(classes, ((),) * len(classes), remark=f"({error})")
    linear = found.linear or all(getattr(part, "slopes", None) is not None for part in found.parts)
    return Strongest(found.classes, _signs_of(found, int(n)), linear)


def _signs_of(found: Evidence, n: int) -> tuple[tuple[Sign, ...], ...]:
    """Of each class the n strongest signs."""
    best: list[list[Sign]] = [[] for _ in found.classes]
    for part in found.parts:
        for k, sign in _signs(part, found, n):
            best[k].append(sign)
    return tuple(tuple(sorted(each, key=strength)[:n]) for each in best)


def _signs(part: Part, found: Evidence, n: int) -> Iterator[tuple[int, Sign]]:
    """What one column says, with the places of the classes for which it speaks."""
    ratios, weights, priors = strongest_ratios, strongest_weights, found.priors
    if isinstance(part, Values):
        return weights.of_values(part, priors, n) if part.shares is None else ratios.of_values(part, priors, n)
    if isinstance(part, Measure):
        return ratios.of_numbers(part, priors) if part.slopes is None else weights.of_line(part, priors)
    if isinstance(part, Bags):
        return weights.of_bags(part, priors, n) if part.shares is None else ratios.of_bags(part, priors, n)
    return ratios.of_words(part, priors, n) if part.weights is None else weights.of_words(part, priors, n)
