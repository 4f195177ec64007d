"""What speaks most for each class: its values, words and intervals of numbers, by the information they bring.

    ratio = P(v | class) / P(v | the other classes)        information = P(v | class) · log ratio

The others are weighted by their priors. The information is what a row of the class can be expected to bring by having
v, in nats; of words and counts, P(v | class) is how often v is in a row; of a number, v is the interval where the class
is more probable. Linear models have weights in place of ratios: what one standard deviation multiplies the odds by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ingenuo.errors import InputError, RefusedError
from ingenuo.explanation.evidence import evidence
from ingenuo.families.family import Bags, Categories, Measure, WordTable
from ingenuo.families.family import Evidence as Part
from ingenuo.families.word_features import totals
from ingenuo.language import say
from ingenuo.rows.checks import check_whole
from ingenuo.rows.schema import column_name
from ingenuo.show.arithmetic import Floats, logs
from ingenuo.show.format import plain
from ingenuo.show.table import Block, PrintedTable, Translated
from ingenuo.tally.labels import Labels, labels_of, objects

_CLASSES = 12  # are printed
_POINTS = 401  # at which densities are compared, about
_PRODUCTS = 1 << 28  # that are worked out one by one
_NONE = 0.005  # of the rows
_LEAST = 1e-9  # a log ratio below this is none


@dataclass(frozen=True)
class Sign:
    """One thing that speaks for a class."""

    column: str
    value: str
    kind: str  # "category", "number", "count", "text"
    information: float  # nats that a row of the class can be expected to bring; of a line, its effect per deviation
    ratio: float  # how many times as likely as in the other classes; of a line, what the odds are multiplied by
    in_class: float | None = None  # how often it was seen in the class, and in all
    in_all: float | None = None
    share: float | None = None  # P(v | class) and P(v | the other classes)
    share_in_rest: float | None = None
    per: str = ""  # of a line: what the ratio is for
    note: str = ""

    @property
    def times(self) -> str:
        """The ratio in words."""
        if self.per == "added":
            return f"{self.information:+.3g}"
        ratio = f"{self.ratio:.3g}"
        if self.per:
            return say("×{ratio} {per}", ratio=ratio, per=self.per)
        return say("only here") if math.isinf(self.ratio) else say("×{ratio} as likely", ratio=ratio)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {name: value for name, value in asdict(self).items() if value is not None and value != ""}


Signs = tuple[tuple[Sign, ...], ...]  # of each class, the strongest first


@dataclass(frozen=True, eq=False, repr=False)
class Strongest(Translated):
    """For each class what speaks most for it; prints as a table."""

    classes: Labels
    signs: Signs
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
        classes = [{"class": label, "signs": [s.to_dict() for s in signs]} for label, signs in self.by_class.items()]
        remark = {"remark": self.remark} if self.remark else {}
        return plain({"classes": classes, "linear": self.linear, **remark})  # type: ignore[no-any-return]

    def _title(self) -> str:
        return say("What speaks most for each class")

    def table(self, k: int) -> PrintedTable:
        """The table of one class, by its place."""
        added = any(sign.per == "added" for sign in self.signs[k])
        what = say("added to its sum" if added else "odds") if added or self.linear else say("how likely")
        heads = ["", say("value"), what, say("in class"), say("in all"), ""]
        formats = ["", "", "", ",.10g", ",.10g", ""]
        cells = [[s.column, s.value, s.times, s.in_class, s.in_all, s.note] for s in self.signs[k]]
        used = [i for i in range(len(heads)) if any(line[i] not in (None, "") for line in cells)]
        rows = [[line[i] for i in used] for line in cells]
        return PrintedTable(
            [heads[i] for i in used],
            rows,
            [formats[i] for i in used],
            title=say("for {class}", **{"class": self.classes[k]}),
        )

    def _blocks(self) -> list[str | Block]:
        found = [k for k in range(len(self.classes)) if self.signs[k]]
        silent = [str(label) for label, signs in zip(self.classes.tolist(), self.signs) if not signs]
        blocks: list[str | Block] = []
        for k in found[:_CLASSES]:
            blocks += [self.table(k), ""]
        hidden = len(found) - _CLASSES
        remarks: list[str | Block] = [say("({n} more classes are not shown)", n=hidden)] if hidden > 0 else []
        if silent and not self.remark:
            names = ", ".join(silent[:8]) + (", …" if len(silent) > 8 else "")
            remarks.append(say("(nothing speaks for {classes})", classes=names))
        return [*blocks[:-1], *remarks, *([self.remark] if self.remark else [])]


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
    >>> import ingenuo as ing, ingenuo.datasets
    >>> found = strongest(ing.NaiveBayes().fit(ingenuo.datasets.play_tennis(), "Play"), n=2)
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
    check_whole("n", n, 1)
    if hasattr(model, "brier_") and hasattr(model, "coef_"):
        return Strongest(labels_of(model.classes_), _signs_of_lines(model, int(n)), linear=True)
    if type(model).__name__ == "NetworkClassifier" and hasattr(model, "classes_"):
        return _of_network(model, int(n))
    try:
        found = evidence(model, "table of the strongest evidence", added=False)
    except InputError as error:
        if not hasattr(model, "classes_"):
            raise
        classes = labels_of(model.classes_)
        return Strongest(classes, ((),) * len(classes), remark=f"({error})")
    linear = found.linear or all(getattr(part, "slopes", None) is not None for part in found.parts)
    return Strongest(found.classes, _signs(found.parts, found.priors, int(n)), linear)


def _signs(parts: Iterable[Part], priors: Floats, n: int) -> Signs:
    """Of each class the n signs that bring most."""
    best: list[list[Sign]] = [[] for _ in priors]
    for part in parts:
        for k, sign in _signs_of(part, priors, n):
            best[k].append(sign)
    return tuple(tuple(sorted(each, key=lambda s: (-s.information, -(s.share or 0.0)))[:n]) for each in best)


Found = Iterator[tuple[int, Sign]]  # signs, with the places of the classes for which they speak
Called = Callable[[list[int]], Sequence[tuple[str, str]]]  # from places to columns and values


def _signs_of(part: Part, priors: Floats, n: int) -> Found:
    """What one column says."""
    if part.kind == "category":
        values, name = part.values, column_name(part.column)

        def called(places: list[int]) -> list[tuple[str, str]]:
            return [(name, str(values[j])) for j in places]

        if part.shares is not None:
            return _likely(called, "category", part.weight * part.shares, part.shares, part.counts, priors, n)
        counts = np.zeros((len(priors), len(part.values))) if part.counts is None else part.counts
        share = counts.sum(axis=0) / max(float(counts.sum()), 1e-300)
        deviations = np.sqrt(share * (1 - share))
        return _heavy(
            called, "category", part.logs, deviations, counts.__getitem__, counts.sum(axis=0), priors, n, say("there")
        )
    if part.kind == "number":
        return _interval_signs(part, priors) if part.slopes is None else _slope_signs(part, priors)
    if part.kind == "count":
        return _count_signs(part, priors, n)
    return _word_signs(part, priors, n) if part.weights is None else _word_weights(part, priors, n)


def _count_signs(part: Bags, priors: Floats, n: int) -> Found:
    """Columns of counts, or of things that are there or not, all together: there may be very many."""

    def called(value: str) -> Called:
        return lambda places: [(column_name(part.columns[j]), value) for j in places]

    if part.shares is None:
        counts = np.zeros((len(priors), len(part.columns))) if part.counts is None else part.counts
        often, total = np.sqrt(part.most / 4), counts.sum(axis=0)
        yield from _heavy(
            called(say("each")), "count", part.each, often, counts.__getitem__, total, priors, n, say("each")
        )
    elif part.absent is None:
        assert part.sizes is not None
        often = part.weight * part.shares * part.sizes[:, np.newaxis]
        yield from _likely(called(say("each")), "count", often, part.shares, part.counts, priors, n)
    else:
        assert part.rows is not None
        assert part.counts is not None
        absent, missing = np.exp(part.absent / part.weight).T, part.rows[:, np.newaxis] - part.counts
        yield from _likely(
            called(say("there")), "category", part.weight * part.shares, part.shares, part.counts, priors, n
        )
        yield from _likely(called(say("absent")), "category", part.weight * absent, absent, missing, priors, n)


def _likely(
    called: Called, kind: str, often: Floats, shares: Floats, counts: Floats | None, priors: Floats, n: int
) -> Found:
    """What speaks most for each class by how likely it is there; `often` is how often a row of the class has it."""
    rest = others(shares, priors)
    ratios = _log_ratio(shares, rest)
    for k in range(len(priors)):
        own = _information(often[k], ratios[k])
        chosen = _largest(own, n)
        for j, name in zip(chosen, called(chosen)):
            here, all_ = (None, None) if counts is None else (float(counts[k, j]), float(counts[:, j].sum()))
            ratio, both = _power(float(ratios[k, j])), (float(shares[k, j]), float(rest[k, j]))
            yield k, Sign(*name, kind, float(own[j]), ratio, here, all_, *both)


def _heavy(
    called: Called,
    kind: str,
    weights: Floats,
    deviations: Floats,
    seen: Callable[[int], Any],
    total: Floats,
    priors: Floats,
    n: int,
    per: str,
) -> Found:
    """What speaks most for each class by its weight in a linear model times its deviation."""
    weights = _against_others(weights, priors)
    for k in range(len(priors)):
        own, counts = weights[:, k] * deviations, seen(k)
        chosen = _largest(own, n)
        for j, name in zip(chosen, called(chosen)):
            found = float(own[j]), _power(float(weights[j, k])), float(counts[j]), float(total[j])
            yield k, Sign(*name, kind, *found, per=per)


def others(shares: Floats, priors: Floats) -> Floats:
    """P(v | the other classes) for each class and value: the mixture of the others by their priors."""
    rest = 1 - priors
    if len(priors) * shares.size <= _PRODUCTS:
        weights = np.tile(priors, (len(priors), 1))
        np.fill_diagonal(weights, 0.0)
        found = weights @ shares
    else:  # less by subtraction, which costs digits where a class has nearly all there is
        found = np.maximum(priors @ shares - priors[:, np.newaxis] * shares, 0.0)
    return np.where(rest[:, np.newaxis] > 1e-12, found / np.maximum(rest, 1e-300)[:, np.newaxis], shares)


def _log_ratio(shares: Floats, rest: Floats) -> Floats:
    return np.where(shares > 0, logs(np.where(shares > 0, shares, 1)) - logs(rest), -np.inf)


def _information(often: Floats, ratios: Floats) -> Floats:
    """How often something can be expected times its log ratio, where it speaks for the class at all; else -1."""
    with np.errstate(invalid="ignore"):
        return np.where(ratios > _LEAST, often * ratios, -1.0)


def _against_others(weights: Floats, priors: Floats) -> Floats:
    """Weights (…, classes) less the mean of the other classes' by their priors: what is common says nothing."""
    mixed = (weights * priors).sum(axis=-1, keepdims=True)
    return np.asarray(weights - (mixed - weights * priors) / np.maximum(1 - priors, 1e-300))


def _power(log: float) -> float:
    """e to the power of a log ratio; infinite beyond the doubles."""
    return math.exp(log) if log < 700 else math.inf


def _largest(values: Floats, n: int) -> list[int]:
    """The places of the n largest that are positive, the largest first."""
    places = np.argpartition(-values, n - 1)[:n] if len(values) > n else np.arange(len(values))
    places = places[np.argsort(-values[places], kind="stable")]
    return places[values[places] > 0].tolist()  # type: ignore[no-any-return]


def _word_signs(part: WordTable, priors: Floats, n: int) -> Found:
    """Only words that a class has can speak for it, so only the cells of the bag are looked at."""
    p, bag, K = part.parameters, part.bag, len(priors)
    owners, codes = bag.owners(), bag.codes
    raw = np.asarray(bag.numbers(), np.float64)
    counts = raw * p.weights[owners]
    pseudo = np.where(part.used, p.pseudo, 0.0)
    presence = part.model == "bernoulli"
    sums = np.bincount(codes, counts, K)
    below = np.maximum(p.normaliser if presence else sums + pseudo.sum(), 1e-300)
    shares = (counts + pseudo[owners]) / below[codes]
    left = 1 - priors
    # What is imagined, and what was counted: of a word that no other class has, nothing is left of the latter.
    imagined = pseudo[owners] * (float(priors @ (1 / below)) - priors / below)[codes]
    own = priors[codes] * counts / below[codes]
    elsewhere = np.where(np.diff(bag.starts)[owners] > 1, np.bincount(owners, own, len(pseudo))[owners] - own, 0.0)
    rest = (imagined + np.maximum(elsewhere, 0.0)) / np.maximum(left, 1e-300)[codes]
    rest = np.where(left[codes] > 1e-12, rest, shares)
    ratios = _log_ratio(shares, rest)
    length = np.ones(K) if presence else sums / np.maximum(p.rows, 1e-300)
    information = np.where(part.used[owners], _information(part.weight * shares * length[codes], ratios), -1.0)
    whole = totals(bag)
    telling = np.flatnonzero(information > 0)
    telling = telling[np.argsort(codes[telling], kind="stable")]
    for k, mine in enumerate(np.split(telling, np.searchsorted(codes[telling], np.arange(1, K)))):
        mine = mine[_largest(information[mine], n)]
        for cell, text in zip(mine.tolist(), bag.vocabulary.shown(owners[mine].tolist())):
            found = float(information[cell]), _power(float(ratios[cell])), float(raw[cell]), float(whole[owners[cell]])
            yield k, Sign(column_name(part.column), text, "text", *found, float(shares[cell]), float(rest[cell]))


def _word_weights(part: WordTable, priors: Floats, n: int) -> Found:
    """The words of the largest weights, each times the deviation of its count (about √mean, as of rare things)."""
    assert part.weights is not None
    bag, name = part.bag, column_name(part.column)
    whole = np.asarray(totals(bag), np.float64)
    deviations = np.where(part.used, np.sqrt(whole / max(float(part.parameters.rows.sum()), 1e-300)), 0.0)

    def called(nodes: list[int]) -> list[tuple[str, str]]:
        return [(name, text) for text in bag.vocabulary.shown(nodes)]

    return _heavy(called, "text", part.weights, deviations, bag.column, whole, priors, n, say("each"))


def _interval_signs(part: Measure, priors: Floats) -> Found:
    """The interval in which a class is more probable than the others, where that tells most."""
    if part.silent:
        return
    each = np.linspace(-5, 5, max(_POINTS // len(priors), 21))
    x = (part.means[:, np.newaxis] + part.deviations[:, np.newaxis] * each).ravel()
    x = np.unique(np.concatenate([x, np.linspace(part.low, part.high, _POINTS)]))
    x = x[np.isfinite(x)]
    with np.errstate(over="ignore", under="ignore"):
        density = np.exp(np.minimum(part.at(x) / part.weight, 600.0)).T  # (classes, points)
        masses = np.diff(x) * (density[:, 1:] + density[:, :-1]) / 2
    total = masses.sum(axis=1, keepdims=True)
    if not np.isfinite(total).all() or not (total > 0).all():
        return
    masses /= total
    density /= total
    rest = others(masses, priors)
    odds = _log_ratio(density, others(density, priors))
    ratios = _log_ratio(masses, rest)
    for k in range(len(priors)):
        # The run of cells, each likelier in the class, that brings most.
        runs = np.flatnonzero(np.diff(ratios[k] > 0, prepend=False, append=False)).reshape(-1, 2)
        if not len(runs):
            continue
        with np.errstate(invalid="ignore"):
            gains = np.where(masses[k] > 0, masses[k] * np.minimum(ratios[k], 700.0), 0.0)
        low, high = runs[int(np.argmax(np.diff(np.append(0.0, np.cumsum(gains))[runs], axis=1)))].tolist()
        # A bound beyond which hardly a row lies is none: two Gaussians may cross once more far out.
        both = masses[k] + rest[k]
        low = 0 if both[:low].sum() < _NONE else low
        high = len(both) if both[high:].sum() < _NONE else high
        share, outside = float(masses[k, low:high].sum()), float(rest[k, low:high].sum())
        log = float(_log_ratio(np.array(share), np.array(outside)))
        if log > _LEAST:
            below = f"{_crossing(x, odds[k], high):.4g}" if high < len(both) else ""
            above = f"{_crossing(x, odds[k], low):.4g}" if low else ""
            one_end = say("above {x}", x=above) if above else say("below {x}", x=below)
            value = say("{low} to {high}", low=above, high=below) if above and below else one_end
            figures = {"mean": f"{part.means[k]:.4g}", "deviation": f"{part.deviations[k]:.3g}"}
            note = say(
                "by the curves {share} of the class, {rest} of the others; mean {mean}, deviation {deviation}",
                share=f"{share:.0%}",
                rest=f"{outside:.0%}",
                **figures,
            )
            found = part.weight * share * log, _power(log), None, None, share, outside
            value = value if above or below else say("any")
            yield k, Sign(column_name(part.column), value, "number", *found, note=note)


def _crossing(x: Floats, odds: Floats, place: int) -> float:
    """Where the log ratio is 0, near one of the points."""
    for i in (place - 1, place):
        if 0 <= i < len(x) - 1 and np.isfinite(odds[i : i + 2]).all() and (odds[i] > 0) != (odds[i + 1] > 0):
            return float(x[i] + (x[i + 1] - x[i]) * odds[i] / (odds[i] - odds[i + 1]))
    return float(x[place])


def _slope_signs(part: Measure, priors: Floats) -> Found:
    """A number in a linear model: more of it, or less."""
    assert part.slopes is not None
    mean = float(priors @ part.means)
    deviation = math.sqrt(float(priors @ (part.deviations**2 + (part.means - mean) ** 2)))
    for k, w in enumerate((_against_others(part.slopes, priors) * deviation).tolist()):
        if abs(w) > 1e-9:
            figures = {"mean": f"{part.means[k]:.4g}", "all": f"{mean:.4g}", "deviation": f"{deviation:.3g}"}
            note = say("mean {mean}, in all {all}; a deviation is {deviation}", **figures)
            found = column_name(part.column), say("more" if w > 0 else "less"), "number", abs(w), _power(abs(w))
            yield k, Sign(*found, per=say("a deviation"), note=note)


def _signs_of_lines(model: Any, n: int) -> Signs:
    """Of least squares: what a deviation of a column adds to the share of each class."""
    found = model._found()
    deviations = np.sqrt(np.maximum(np.diag(np.asarray(found.scatter)), 0.0)).tolist()
    names = [column_name(name) for name in model.schema_.names.tolist()]

    def sign(w: float, j: int) -> Sign:
        how = (say("more" if w > 0 else "less"), "number", abs(w), 1.0)
        note = say("a deviation is {deviation}", deviation=f"{deviations[j]:.3g}")
        return Sign(names[j], *how, per="added", note=note)

    strengths = ((own, _largest(np.abs(own), n)) for own in np.asarray(found.weights * deviations))
    return tuple(tuple(sign(float(own[j]), j) for j in order if abs(own[j]) > 1e-12) for own, order in strengths)


def _of_network(model: Any, n: int) -> Strongest:
    """Of a network: the signs of each class, by each column given the class alone, the others summed out."""
    classes = labels_of(model.classes_)
    try:
        network = model.network_
    except RefusedError as refused:
        return Strongest(classes, ((),) * len(classes), remark=f"({refused})")
    priors = np.array([network.posterior(network.target).get(label, 0.0) for label in classes.tolist()])
    parts = [values_of_node(network, node, classes) for node in network.nodes if node != network.target]
    return Strongest(classes, _signs(parts, priors, n))


def values_of_node(network: Any, node: str, classes: Labels) -> Categories:
    """What a network says of one node given each class alone."""
    shares = [network.posterior(node, {network.target: label}) for label in classes.tolist()]
    table = np.array([list(each.values()) for each in shares])
    return Categories(node, objects(list(shares[0])), logs(table).T, shares=table)
