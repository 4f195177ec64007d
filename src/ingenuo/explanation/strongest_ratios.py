"""What speaks most for a class by how likely it is: values, words, and intervals of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ingenuo.errors import RefusedError
from ingenuo.explanation.evidence import Bags, Measure, Values, WordTable
from ingenuo.explanation.strongest_sign import Sign, largest, power, strength
from ingenuo.families.family import Floats, logs
from ingenuo.families.word_features import totals
from ingenuo.labels import labels_of, objects
from ingenuo.schema import column_name

_POINTS = 401  # at which densities are compared, about
_PRODUCTS = 1 << 28  # that are worked out one by one
_NONE = 0.005  # of the rows
_LEAST = 1e-9  # a log ratio below this is none


def others(shares: Floats, priors: Floats) -> Floats:
    """P(v | the other classes) for each class and value: the mixture of the others by their priors.

    >>> others(np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([0.5, 0.5])).tolist()
    [[0.4, 0.6], [0.8, 0.2]]
    """
    rest = 1 - priors
    if len(priors) * shares.size <= _PRODUCTS:
        weights = np.tile(priors, (len(priors), 1))
        np.fill_diagonal(weights, 0.0)
        found = weights @ shares
    else:  # less by subtraction, which costs digits where a class has nearly all there is
        found = np.maximum(priors @ shares - priors[:, np.newaxis] * shares, 0.0)
    return np.where(rest[:, np.newaxis] > 1e-12, found / np.maximum(rest, 1e-300)[:, np.newaxis], shares)


def _safe(shares: Floats, rest: Floats) -> Floats:
    return np.where(shares > 0, logs(np.where(shares > 0, shares, 1)) - logs(rest), -np.inf)


def of_values(part: Values, priors: Floats, n: int) -> Iterator[tuple[int, Sign]]:
    """The values of a category."""
    assert part.shares is not None
    rest = others(part.shares, priors)
    ratios = _safe(part.shares, rest)
    names = part.values.tolist()
    for k in range(len(priors)):
        own = _information(part.weight * part.shares[k], ratios[k])
        for j in largest(own, n):
            seen = None if part.counts is None else float(part.counts[k, j])
            in_all = None if part.counts is None else float(part.counts[:, j].sum())
            yield (
                k,
                Sign(
                    column_name(part.column), str(names[j]), "category", float(own[j]), power(float(ratios[k, j])),
                    seen, in_all, float(part.shares[k, j]), float(rest[k, j]),
                ),
            )  # fmt: skip


def _information(often: Floats, ratios: Floats) -> Floats:
    """How often something can be expected times its log ratio, where it speaks for the class at all; else -1."""
    with np.errstate(invalid="ignore"):
        return np.where(ratios > _LEAST, often * ratios, -1.0)


def of_bags(part: Bags, priors: Floats, n: int) -> Iterator[tuple[int, Sign]]:
    """Columns of counts, or of things that are there or not, all together: there may be very many."""
    assert part.shares is not None
    assert part.counts is not None
    if part.absent is None:
        assert part.sizes is not None
        yield from _best_columns(part, priors, n, "each", part.shares, part.counts, part.sizes)
        return
    assert part.rows is not None
    once = np.ones(len(priors))
    yield from _best_columns(part, priors, n, "there", part.shares, part.counts, once)
    absent = part.rows[:, np.newaxis] - part.counts
    yield from _best_columns(part, priors, n, "absent", np.exp(part.absent / part.weight).T, absent, once)


def _best_columns(
    part: Bags, priors: Floats, n: int, value: str, shares: Floats, counts: Floats, sizes: Floats
) -> Iterator[tuple[int, Sign]]:
    """The columns that speak most for each class by one value."""
    rest = others(shares, priors)
    ratios = _safe(shares, rest)
    kind = "count" if part.absent is None else "category"
    for k in range(len(priors)):
        own = _information(part.weight * shares[k] * sizes[k], ratios[k])
        for j in largest(own, n):
            yield (
                k,
                Sign(
                    column_name(part.columns[j]), value, kind, float(own[j]), power(float(ratios[k, j])),
                    float(counts[k, j]), float(counts[:, j].sum()), float(shares[k, j]), float(rest[k, j]),
                ),
            )  # fmt: skip


def of_words(part: WordTable, priors: Floats, n: int) -> Iterator[tuple[int, Sign]]:
    """Only words that a class has can speak for it, so only the cells of the bag are looked at."""
    p, bag, K = part.parameters, part.bag, len(priors)
    owners, codes = bag.owners(), bag.codes
    raw = np.asarray(bag.numbers(), np.float64)
    counts = raw * p.weights[owners]
    pseudo = np.where(part.used, p.pseudo, 0.0)
    presence = part.model == "bernoulli"
    below = p.normaliser if presence else np.bincount(codes, counts, K) + pseudo.sum()
    below = np.maximum(below, 1e-300)
    shares = (counts + pseudo[owners]) / below[codes]
    left = 1 - priors
    # What is imagined, and what was counted: of a word that no other class has, nothing is left of the latter.
    imagined = pseudo[owners] * (float(priors @ (1 / below)) - priors / below)[codes]
    own = priors[codes] * counts / below[codes]
    elsewhere = np.where(np.diff(bag.starts)[owners] > 1, np.bincount(owners, own, len(pseudo))[owners] - own, 0.0)
    rest = (imagined + np.maximum(elsewhere, 0.0)) / np.maximum(left, 1e-300)[codes]
    rest = np.where(left[codes] > 1e-12, rest, shares)
    ratios = _safe(shares, rest)
    length = np.ones(K) if presence else np.bincount(codes, counts, K) / np.maximum(p.rows, 1e-300)
    information = np.where(part.used[owners], _information(part.weight * shares * length[codes], ratios), -1.0)
    whole = totals(bag)
    telling = np.flatnonzero(information > 0)
    by_class = telling[np.argsort(codes[telling], kind="stable")]
    ends = np.searchsorted(codes[by_class], np.arange(K + 1))
    for k in range(K):
        mine = by_class[ends[k] : ends[k + 1]]
        mine = mine[largest(information[mine], n)]
        texts = bag.vocabulary.texts(owners[mine].tolist())
        for cell, text in zip(mine.tolist(), texts):
            yield (
                k,
                Sign(
                    column_name(part.column), text, "text", float(information[cell]), power(float(ratios[cell])),
                    float(raw[cell]), float(whole[owners[cell]]), float(shares[cell]), float(rest[cell]),
                ),
            )  # fmt: skip


def of_numbers(part: Measure, priors: Floats) -> Iterator[tuple[int, Sign]]:
    """The interval in which a class is more probable than the others, where that tells most."""
    if part.silent:
        return
    K = len(priors)
    each = np.linspace(-5, 5, max(_POINTS // K, 21))
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
    apart = _safe(density, others(density, priors))
    ratios = _safe(masses, rest)
    for k in range(K):
        bounds = _interval(masses[k], ratios[k])
        if bounds is None:
            continue
        low, high = bounds
        # A bound beyond which hardly a row lies is none: two Gaussians may cross once more far out.
        both = masses[k] + rest[k]
        low = 0 if both[:low].sum() < _NONE else low
        high = len(both) if both[high:].sum() < _NONE else high
        share, outside = float(masses[k, low:high].sum()), float(rest[k, low:high].sum())
        log = float(_safe(np.array(share), np.array(outside)))
        if log <= _LEAST:
            continue
        first = _crossing(x, apart[k], low) if low else -math.inf
        value = _between(first, _crossing(x, apart[k], high) if high < len(both) else math.inf)
        note = (
            f"by the curves {share:.0%} of the class, {outside:.0%} of the others; "
            f"mean {part.means[k]:.4g}, deviation {part.deviations[k]:.3g}"
        )
        yield (
            k,
            Sign(
                column_name(part.column), value, "number", part.weight * share * log, power(log), None, None, share,
                outside, note,
            ),
        )  # fmt: skip


def _interval(masses: Floats, ratios: Floats) -> tuple[int, int] | None:
    """The run of cells, each likelier in the class, that brings most."""
    more = ratios > 0
    if not more.any():
        return None
    edges = np.flatnonzero(np.diff(np.concatenate([[0], more.astype(np.int8), [0]])))
    runs = edges.reshape(-1, 2)
    with np.errstate(invalid="ignore"):
        gains = np.where(masses > 0, masses * np.minimum(ratios, 700.0), 0.0)
    upto = np.append(0.0, np.cumsum(gains))
    low, high = runs[int(np.argmax(upto[runs[:, 1]] - upto[runs[:, 0]]))].tolist()
    return low, high


def _crossing(x: Floats, apart: Floats, place: int) -> float:
    """Where the log ratio is nought, near one of the points."""
    for i in (place - 1, place):
        if 0 <= i < len(x) - 1 and np.isfinite(apart[i : i + 2]).all() and (apart[i] > 0) != (apart[i + 1] > 0):
            return float(x[i] + (x[i + 1] - x[i]) * apart[i] / (apart[i] - apart[i + 1]))
    return float(x[place])


def _between(low: float, high: float) -> str:
    if math.isinf(low):
        return "any" if math.isinf(high) else f"below {high:.4g}"
    return f"above {low:.4g}" if math.isinf(high) else f"{low:.4g} to {high:.4g}"


def by_network(model: Any, n: int) -> tuple[tuple[tuple[Sign, ...], ...], bool, str]:
    """Of a network: the signs of each class, by each column given the class alone, the others summed out."""
    classes = labels_of(model.classes_).tolist()
    try:
        network = model.network_
    except RefusedError as refused:
        return ((),) * len(classes), False, f"({refused})"
    target = network.target
    known = [network.posteriors({target: label}) for label in classes]
    priors = np.array([network.posterior(target).get(label, 0.0) for label in classes])
    best: list[list[Sign]] = [[] for _ in classes]
    for node in known[0]:
        if node != target:
            states = list(known[0][node])
            shares = np.array([[found[node][state] for state in states] for found in known])
            for k, sign in of_values(Values(node, objects(states), logs(shares).T, shares=shares), priors, n):
                best[k].append(sign)
    return tuple(tuple(sorted(each, key=strength)[:n]) for each in best), False, ""
