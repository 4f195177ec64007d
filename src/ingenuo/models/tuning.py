"""Settings chosen by leave-one-out: every row is scored by the tally without itself, for a grid of settings at once.

First each attribute is given the density and the smoothing under which it predicts the classes best by itself; then
together weights, none negative, and each class a shift, for the least log loss. Those that do not help alone are
left out, unless folds of the rows show that the others do better with them. The tally stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families import TUNED, Attribute, attributes_of
from ingenuo.families.family import LearnedRows
from ingenuo.kernels import counts
from ingenuo.kernels.threads import single_blas
from ingenuo.models.left_out import log_priors
from ingenuo.rows.part import Chunk
from ingenuo.rows.schema import FAMILIES, Schema
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.labels import Labels, labels_of
from ingenuo.tally.prior import Laplace, Lidstone, Prior

Floats = NDArray[np.float64]

# Weights of attributes, none negative, and a shift of each class: the least log loss of rows that were left out.

PENALTIES = (1.0, 3.0, 10.0)
_FOLDS = 5
_ENOUGH = 20_000  # rows: with more, no penalty of these makes a difference, and 1 is taken
_PARTED = 1 << 14  # rows at a time
_STEPS = 200
_LEAST = 700.0  # nats below the best class: farther away counts as this


@dataclass(frozen=True)
class Weighted:
    """The weights, the shifts, and what they were chosen by."""

    weights: Floats  # (attributes,)
    shifts: Floats  # (classes,)
    penalty: float
    loss: float  # mean log loss of the rows they were fitted to
    held_out: float | None  # and of rows that they were not fitted to, over folds; None where there were too many rows


@dataclass(frozen=True)
class Problem:
    """Scores of rows by attributes: rows × classes × attributes, less what all classes have in common."""

    scores: Floats
    log_prior: Floats
    codes: NDArray[Any]
    rows: Floats  # how often each counts

    @staticmethod
    def of(scores: Floats, log_prior: Floats, codes: NDArray[Any], rows: Floats) -> Problem:
        """From scores that are written over."""
        np.maximum(scores, scores.max(axis=1, keepdims=True) - _LEAST, out=scores)
        scores -= scores.mean(axis=1, keepdims=True)
        return Problem(scores, log_prior, codes, rows)

    def take(self, rows: NDArray[Any]) -> Problem:
        """Some of the rows."""
        return Problem(self.scores[rows], self.log_prior[rows], self.codes[rows], self.rows[rows])

    def only(self, attributes: NDArray[np.intp]) -> Problem:
        """Some of the attributes."""
        if len(attributes) == self.scores.shape[2]:
            return self
        return replace(self, scores=np.ascontiguousarray(self.scores[:, :, attributes]))

    def losses(self, weights: Floats, shifts: Floats, most: float = _LEAST) -> Floats:
        """The log loss of each row."""
        return counts.log_losses(self.log_prior, self.codes, most, self.scores, weights, shifts)

    def derivatives(self, weights: Floats, shifts: Floats, shifted: bool) -> tuple[Floats, Floats]:
        """The first and second derivatives of the loss of all rows, by the weights and, if wanted, by the shifts."""
        n, K, d = self.scores.shape
        if not shifted and d == 1:  # in one pass
            y, scores = self.codes.astype(np.int32), self.scores.reshape(1, n, K)
            return counts.within(self.log_prior + shifts, scores, weights, y, self.rows)[1:]
        size = d + K * shifted
        first, second = np.zeros(size), np.zeros((size, size))
        for lo in range(0, n, _PARTED):
            part = slice(lo, min(lo + _PARTED, n))
            scores, u, y = self.scores[part], self.rows[part], self.codes[part]
            p = np.empty((len(y), K))
            counts.log_losses(self.log_prior[part], y, _LEAST, scores, weights, shifts, shares=p)
            up = p * u[:, np.newaxis]
            means = np.einsum("ik,ikj->ij", p, scores)
            flat = scores.reshape(-1, d)
            second[:d, :d] += flat.T @ (flat * up.reshape(-1, 1)) - means.T @ (means * u[:, np.newaxis])
            if shifted:
                across = np.einsum("ik,ikj->jk", up, scores) - means.T @ up
                second[:d, d:] += across
                second[d:, :d] += across.T
                second[d:, d:] += np.diag(up.sum(axis=0)) - p.T @ up
            up[np.arange(len(y)), y] -= u
            first[:d] += flat.T @ up.ravel()
            first[d:] += up.sum(axis=0) if shifted else 0.0
        return first, second


def minimise(
    loss: Callable[[Floats], float],
    derivatives: Callable[[Floats], tuple[Floats, Floats]],
    at: Floats,
    bounded: int = 0,
) -> tuple[Floats, float]:
    """Newton's steps, each as far as the loss falls, and the loss there; the first so many numbers are not negative.

    One of those is held at 0, and out of the step, while the loss would fall only below it (Bertsekas 1982).
    """
    value = loss(at)
    for _ in range(_STEPS):
        gradient, bend = derivatives(at)
        free = np.flatnonzero((np.arange(len(at)) >= bounded) | (at > 1e-12) | (gradient <= 0))
        size = np.sqrt(np.maximum(np.diag(bend)[free], 1e-300))  # the parameters are first brought to one size
        even = bend[np.ix_(free, free)] / np.outer(size, size) + 1e-12 * np.eye(len(free))
        step = np.zeros(len(at))
        step[free] = -np.linalg.solve(even, gradient[free] / size) / size
        last = -float(gradient @ step) <= 1e-13 * max(abs(value), 1.0)  # less than the loss has digits for
        length = 1.0
        while True:
            reached = at + length * step
            reached[:bounded] = np.maximum(reached[:bounded], 0)
            after = loss(reached)
            if last:
                return reached, after
            if after <= value + 1e-4 * float(gradient @ (reached - at)):
                break
            length /= 2
            if length < 1e-10:
                return at, value
        at, value = reached, after
    return at, value


def fit(problem: Problem, penalty: float, shifted: bool, start: Floats | None = None) -> tuple[Floats, Floats]:
    """The weights and shifts of the least penalised loss."""
    _, K, d = problem.scores.shape
    anchor = np.append(np.full(d, 1 / np.sqrt(d)), np.zeros(K))
    free = slice(None) if shifted else slice(d)

    def split(at: Floats) -> tuple[Floats, Floats]:
        return at[:d], at[d:] if shifted else np.zeros(K)

    def loss(at: Floats) -> float:
        away = at - anchor[free]
        return float(problem.rows @ problem.losses(*split(at))) + 0.5 * penalty * float(away @ away)

    def derivatives(at: Floats) -> tuple[Floats, Floats]:
        gradient, bend = problem.derivatives(*split(at), shifted)
        return gradient + penalty * (at - anchor[free]), bend + penalty * np.eye(len(at))

    return split(minimise(loss, derivatives, (anchor if start is None else start)[free], bounded=d)[0])


def choose(problem: Problem, sets: Sequence[NDArray[np.intp]], shifted: bool, seed: int) -> Weighted:
    """The weights of the set and the penalty that do best on rows held out; of very many rows, of the first set."""
    with single_blas():
        if len(problem.scores) <= _ENOUGH:
            tried = [(*_penalty(problem.only(kept), shifted, seed), kept) for kept in sets if len(kept)]
            held_out, penalty, kept = min(tried, key=lambda each: each[0])
        else:
            held_out, penalty, kept = None, 1.0, sets[0]
        part = problem.only(kept)
        own, shifts = fit(part, penalty, shifted)
    loss = float(part.rows @ part.losses(own, shifts) / part.rows.sum())
    weights = np.zeros(problem.scores.shape[2])
    weights[kept] = own
    return Weighted(weights, shifts, penalty, loss, held_out)


def _penalty(problem: Problem, shifted: bool, seed: int) -> tuple[float, float]:
    """The least loss of rows held out, and the penalty that gives it."""
    fold = np.random.default_rng(seed).permutation(len(problem.scores)) % _FOLDS
    found = np.zeros(len(PENALTIES))
    for f in range(_FOLDS):
        learned, held = problem.take(np.flatnonzero(fold != f)), problem.take(np.flatnonzero(fold == f))
        start = None
        for at in reversed(range(len(PENALTIES))):
            weights, shifts = fit(learned, PENALTIES[at], shifted, start)
            start = np.concatenate([weights, shifts])
            found[at] += float(held.rows @ held.losses(weights, shifts))
    best = int(found.argmin())
    return float(found[best] / problem.rows.sum()), PENALTIES[best]


DENSITIES = ("gaussian", "histogram", "kernel", "equal-mass-5", "equal-mass-10", "equal-mass-20")
FLOORS = (0.1, 0.01)
ALPHAS = {"category": (0.1, 0.5, 1.0, 3.0), "text": (0.01, 0.03, 0.1, 0.3, 1.0), "count": (0.01, 0.1, 0.3, 1.0)}
# Scores that take more than this are those of a sample of rows, each by all the others.
_MOST = 1 << 29  # bytes
_EXPONENTS = (0.0, 0.5, 0.7, 0.85, 1.0)
_RANGE = (-7.0, 1.5)  # of the logarithm of a weight that is looked for


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Shown):
    """What was chosen, and what it gained; prints as a table."""

    attributes: tuple[Attribute, ...]  # of each column (or bag of counts) the density, the smoothing and the weight
    classes: Labels
    shifts: Floats  # what is added to the log prior of each class
    before: float  # the log loss of the training rows, each left out, as it would be without tuning
    after: float  # and as it is now
    held_out: float | None  # the same with weights fitted to other rows; None where there were too many rows to ask
    alone: tuple[float, ...]  # the log loss, left out, of each attribute by itself
    rows: int  # how many rows it was chosen by

    @property
    def weights(self) -> dict[Any, float]:
        """The weight of each column."""
        return {name: each.weight for each in self.attributes for name in each.columns.tolist()}

    @property
    def gained(self) -> float:
        """By how much the leave-one-out log loss came down."""
        return self.before - self.after

    def pack(self) -> dict[str, Any]:
        """All but the shifts as plain values, for a file."""
        return {
            "attributes": [
                (each.columns.tolist(), each.home, each.family, each.prior, each.weight, each.typical, each.exponent)
                for each in self.attributes
            ],
            "classes": self.classes.tolist(),
            "losses": (self.before, self.after, self.held_out, list(self.alone), self.rows),
        }

    def _blocks(self) -> list[str | Block]:
        heads = ["column", "density", "smoothing", "weight", "log loss alone"]
        rows = [
            [each.called, each.family, _smoothing(each), _weight(each), f"{loss:.4f}"]
            for each, loss in zip(self.attributes[:50], self.alone)
        ]
        n, out = len(self.attributes), sum(each.weight == 0 for each in self.attributes)
        dropped = f", {out} of {n} attributes are left out" if out else ""
        held = "" if self.held_out is None else f" ({self.held_out:.4f} with weights fitted to other rows)"
        return [
            PrintedTable(heads, rows, rule=True),
            *([f"… and {n - 50} more"] if n > 50 else []),
            f"Log loss of {self.rows:,} rows, each left out: {self.before:.4f} before, {self.after:.4f} tuned{held}"
            f"{dropped}.",
        ]


def _weight(attribute: Attribute) -> str:
    if not attribute.weight:
        return "left out"
    by_length = f" at {attribute.typical:.3g} words, ·length^-{attribute.exponent:g}" if attribute.exponent else ""
    return f"{attribute.weight:.3g}{by_length}"


def _smoothing(attribute: Attribute) -> str:
    if attribute.family.startswith("gaussian"):
        return f"floor {attribute.prior.floor:g}"
    if isinstance(attribute.prior, Laplace):
        return "α 1"
    return f"α {attribute.prior.alpha:g}" if isinstance(attribute.prior, Lidstone) else repr(attribute.prior)


def candidates(attribute: Attribute) -> list[Attribute]:
    """What an attribute may be given; the model's own prior as well, but for Gaussians, which need a floor."""
    kind = FAMILIES[attribute.home]
    families = DENSITIES if attribute.home == TUNED else (attribute.family,)
    found = []
    for family in families:
        priors: Sequence[Prior]
        if kind == "number" and family.startswith("gaussian"):
            priors = [Lidstone(1.0, variance_floor=floor) for floor in FLOORS]
        elif kind == "number":
            priors = [Lidstone(1.0, variance_floor=FLOORS[0])]
        else:
            priors = [Lidstone(alpha) for alpha in ALPHAS[kind]]
        found += [replace(attribute, family=family, prior=each) for each in priors]
    return found if kind == "number" else [attribute, *found]


def tune(
    rows: LearnedRows, start: Sequence[Attribute], class_prior: Any, *, shifted: bool = True, seed: int = 0
) -> Tuning:
    """Choose the settings of every attribute, and their weights."""
    tally, classes = rows.tally, rows.classes
    rows = replace(rows, chunk=_sample(rows.chunk, len(start), len(classes), seed), seed=seed)
    log_prior = np.maximum(log_priors(class_prior, tally, classes, rows.chunk), -50.0)
    codes, weights = rows.chunk.coded, rows.weights
    before = log_prior.copy()
    chosen, alone = [], []
    scores = np.empty((len(codes), len(classes), len(start)))
    for j, attribute in enumerate(start):
        before += attribute.left_out(rows)
        loss, best, scores[:, :, j] = best_of(rows, attribute, log_prior)
        chosen.append(best)
        alone.append(loss)
    problem = Problem.of(scores, log_prior, codes, weights)
    helpful = np.flatnonzero(np.array(alone) < mean_loss(log_prior, rows))
    sets = [np.arange(len(start)), *([helpful] if len(helpful) < len(start) else [])]
    weighted = choose(problem, sets, shifted, seed)
    attributes = tuple(replace(each, weight=float(w)) for each, w in zip(chosen, weighted.weights))
    return Tuning(
        attributes, classes, weighted.shifts, mean_loss(before, rows), weighted.loss, weighted.held_out, tuple(alone),
        len(codes),
    )  # fmt: skip


def _sample(chunk: Chunk, attributes: int, classes: int, seed: int) -> Chunk:
    """All the rows, or so many as the scores have room for, of every class its share."""
    most = max(_MOST // (8 * attributes * classes), 1000)
    if chunk.n_rows <= most:
        return chunk
    shuffled = np.random.default_rng(seed).permutation(chunk.n_rows)
    by_class = shuffled[np.argsort(chunk.coded[shuffled], kind="stable")]
    return chunk.take(np.sort(by_class[np.arange(most) * chunk.n_rows // most]))


def best_of(rows: LearnedRows, attribute: Attribute, log_prior: Floats) -> tuple[float, Attribute, Floats]:
    """Of what an attribute may be given, that with which it tells the classes best by itself: its loss and scores."""
    best: tuple[float, Attribute, Floats] | None = None
    for candidate in candidates(attribute):
        found, lengths = candidate.left_out(rows), candidate.left_out_lengths(rows)
        tried = [(mean_loss(log_prior + found, rows), candidate, found)] if lengths is None else []
        if lengths is not None:
            # As long as texts are, so sure are they of themselves; how much, is looked for as well.
            typical = float(np.exp(np.average(np.log1p(lengths), weights=rows.weights)))
            for exponent in _EXPONENTS if np.ptp(lengths) > 0 else (0.0,):
                by_length = replace(candidate, typical=typical, exponent=exponent)
                scaled = found * by_length.weights_of(lengths)
                tried.append((_loss_at_best_weight(scaled, log_prior, rows), by_length, scaled))
        for each in tried:
            if best is None or each[0] < best[0] - 1e-9:
                best = each
    assert best is not None
    return best


def mean_loss(joint: Floats, rows: LearnedRows) -> float:
    """The mean log loss of rows."""
    return float(rows.weights @ counts.log_losses(joint, rows.chunk.coded, _LEAST) / rows.weights.sum())


def _loss_at_best_weight(scores: Floats, log_prior: Floats, rows: LearnedRows) -> float:
    """The log loss of one attribute by itself at the weight that suits it best."""
    from scipy.optimize import minimize_scalar

    problem = Problem(scores[:, :, np.newaxis], log_prior, rows.chunk.coded, rows.weights)
    none = np.zeros(log_prior.shape[1])
    found = minimize_scalar(
        lambda log_weight: float(problem.rows @ problem.losses(np.exp([log_weight]), none)),
        bounds=_RANGE, method="bounded", options={"xatol": 0.05},
    )  # fmt: skip
    return float(found.fun / rows.weights.sum())


def unpack(schema: Schema, packed: Mapping[str, Any], shifts: Any) -> Tuning:
    """What a file says was tuned; what no tuning could have given is refused."""
    homes = {name: schema.family(name) for name in schema.names.tolist()}
    attributes = []
    for names, home, family, prior, *figures in packed["attributes"]:
        weight, typical, exponent = (float(figure) for figure in figures)
        every = attributes_of(schema, prior, to_tune=True)
        start = [each for each in every if each.columns.tolist() == names and each.home == home]
        if not start or any(homes[name] != home for name in names):
            raise InputError(f"the columns {names!r} are not tuned together in such a table")
        if family not in {each.family for each in candidates(start[0])} or not isinstance(prior, Prior):
            raise InputError(f"the columns {names!r} cannot be {family!r}")
        if not (np.isfinite(figures).all() and weight >= 0 and typical > 0 and 0 <= exponent <= 1):
            raise InputError(f"the weight of {names!r} is {weight!r}, for a length of {typical!r} to the {exponent!r}")
        if exponent and FAMILIES[home] not in ("text", "count"):
            raise InputError(f"the columns {names!r} have no length")
        chosen = {"family": family, "prior": prior, "weight": weight, "typical": typical, "exponent": exponent}
        attributes.append(replace(start[0], **chosen))
    classes = labels_of(packed["classes"])
    if shifts.shape != (len(classes),) or shifts.dtype != np.float64 or not np.isfinite(shifts).all():
        raise InputError("the shifts of the classes are no finite doubles, one for each")
    before, after, held, alone, rows = packed["losses"]
    if len(alone) != len(attributes):
        raise InputError("there is not a loss for each attribute")
    losses = float(before), float(after), None if held is None else float(held), tuple(map(float, alone))
    return Tuning(tuple(attributes), classes, shifts, *losses, int(rows))
