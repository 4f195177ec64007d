"""Numbers as they come: one Gaussian for each class and column, unless whole numbers hold many of the rows.

A flag of 0 and 1 is no bell, nor is an amount that is mostly 0. Beside the sums of the Gaussian the tally counts how
often each class has each whole number up to 1,000: a sum like all others. By it a column of few different values is
given states, as a category is, and a value that holds many rows becomes a state beside the Gaussian of the others:

    P(v | k) = (n_v + a) / (n + a m)        p(x | k) = (n_others + a) / (n + a m) · f(x | μ, σ of the others)

whichever makes the rows likelier, each left out of the estimate that judges it. A Gaussian's chance of a whole number
v is f(v) times the distance to its neighbours, at most half the deviation of the column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.categorical import frequencies
from ingenuo.families.family import Categories, Evidence, Family, LearnedRows, Parameters, Values, check_rows
from ingenuo.families.gaussian import (
    COUNT,
    NORMAL,
    SUMS,
    Chosen,
    Gaussian,
    GaussianParameters,
    NumberParameters,
    tables_of,
)
from ingenuo.kernels import densities, moments, threads
from ingenuo.kernels.portable import total
from ingenuo.language import say
from ingenuo.rows.part import Chunk, Numbers, Places
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats, Term, exponential, fraction, logs
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, objects
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally

WHOLE = "whole:"
MOST = 20  # different values of a column that is all states
BESIDE = 3  # states beside a Gaussian, at most
SHARE, LEAST = 0.05, 10  # of the rows that such a state holds, at least, and how many
ROWS = 2  # for each state, at least
WIDEST = 0.5  # of what a value stands for, in deviations of the column
_LEAST = -700.0  # no value that is left out counts as less likely
_PIECE = 1 << 12  # rows at a time


def imaginary(prior: Prior, column: object, values: int = 1) -> float:
    """How many imaginary observations the prior has of each of so many values of a column of numbers."""
    # Bins have no names that a prior could speak of, so the labels are such as no column has.
    labels = objects([("bin", i) for i in range(values)])
    return float(prior.pseudo_counts(labels, column).sum()) / values


def whole_name(column: object) -> str:
    """The name of a column's table of whole numbers in a tally."""
    return f"{WHOLE}{column}"


@dataclass(frozen=True)
class States:
    """Of one column: the values that are states, and the densities of the others, if there may be others."""

    values: Floats  # ascending
    counts: Floats  # (classes, values), and the others last
    pseudo: float  # imagined of each
    others: NumberParameters | None
    rest: Tally  # the sums of the others

    @cached_property
    def logs(self) -> Floats:
        """The log share of each value, and of the others."""
        return logs(frequencies(self.counts, np.full(self.counts.shape[1], self.pseudo)))

    def log_density(self, x: Floats) -> Floats:
        """log p(x | class), for each value and class; of what was never seen, and cannot be another, nothing."""
        at = np.searchsorted(self.values, x).clip(0, len(self.values) - 1)
        found = np.asarray(self.logs.T[at])
        other = self.values[at] != x
        if other.any():
            found[other] = 0.0
        if other.any() and self.others is not None:
            found[other] = self.logs[:, -1] + self.others.log_density(self.others.columns[0], x[other])
        return found

    def how(self, x: float, k: int) -> str:
        """What a person would write for the probability of class k at x; nothing if it was never seen."""
        hit = np.flatnonzero(self.values == x)
        if not len(hit) and self.others is None:
            return ""
        at = int(hit[0]) if len(hit) else -1
        own, total = self.counts[k, at], self.counts[k].sum()
        share = fraction(float(own), self.pseudo, float(total), self.pseudo * self.counts.shape[1])
        return share if len(hit) or self.others is None else f"{share} · {self.others.how(0, x, k)}"

    def sample(self, drawn: Places, rng: np.random.Generator) -> Floats:
        """One value for each of the drawn classes."""
        found = np.zeros(len(drawn)) if self.others is None else next(iter(self.others.sample(drawn, rng).values()))
        for k in np.unique(drawn).tolist():
            mine = np.flatnonzero(drawn == k)
            states = rng.choice(self.counts.shape[1], len(mine), p=np.exp(self.logs[k]))
            some = states < len(self.values)
            found[mine[some]] = self.values[states[some]]
        return found

    @property
    def detail(self) -> str:
        """Which values, and how many of the rows they hold."""
        shares = self.counts.sum(axis=0) / self.counts.sum()
        if self.others is None:
            low, high = self.values[[0, -1]].tolist()
            return f"{len(self.values)} different values, {low:g} to {high:g}"
        held = ", ".join(f"{value:g} holds {100 * share:.3g} %" for value, share in zip(self.values, shares))
        kind = self.others.chosen(self.others.columns[0]).density
        return f"{held} of the rows, the others {'have a Gaussian' if kind == 'gaussian' else f'are {kind}'}"

    @property
    def kind(self) -> str:
        """What the column was given."""
        return "states" if self.others is None else f"{self.others.chosen(self.others.columns[0]).density} and states"

    @property
    def n_parameters(self) -> int:
        """The shares of each class, of which one follows from the others, and the parameters of the others."""
        own = int(self.counts.shape[0] * (self.counts.shape[1] - 1))
        return own + (0 if self.others is None else self.others.n_parameters)

    def sum_log_likelihood(self, classes: Labels) -> float:
        """Σ n_v log P(v | k), and what the others add."""
        own = float(np.where(self.counts > 0, self.counts * np.maximum(self.logs, -NORMAL[1]), 0.0).sum())
        return own + (0.0 if self.others is None else self.others.sum_log_likelihood(self.rest, classes))


@dataclass(frozen=True)
class StateParameters(Parameters):
    """The densities of each class and column, and the states of some of the columns."""

    plain: NumberParameters  # of all columns; of those that have states, their others are apart
    states: Mapping[int, States]  # by the place of the column
    scores: Mapping[int, Mapping[str, float]] = field(default_factory=dict)

    @property
    def columns(self) -> Labels:  # type: ignore[override]
        """The names of the columns."""
        return self.plain.columns

    @property
    def remarks(self) -> tuple[str, ...]:  # type: ignore[override]
        """What to warn of."""
        return self.plain.remarks

    @property
    def reasons(self) -> Mapping[Any, str]:  # type: ignore[override]
        """Why columns have states."""
        return {self.columns.tolist()[j]: f"{each.kind}: {each.detail}" for j, each in self.states.items()}

    @property
    def masses(self) -> Mapping[Any, tuple[Labels, Floats]]:  # type: ignore[override]
        """The states."""
        names = self.columns.tolist()
        return {names[j]: (each.values.astype(np.int64), np.exp(each.logs)) for j, each in self.states.items()}

    @cached_property
    def _runs(self) -> list[tuple[int, int, NumberParameters | densities.Masses | None]]:
        """Neighbours that have no states; those whose others have Gaussians, as tables; and those of any others."""
        found: list[tuple[int, int, NumberParameters | densities.Masses | None]] = []
        for kind, group in groupby(range(len(self.columns)), self._sort):
            places = list(group)
            lo, hi = places[0], places[-1] + 1
            made: Any = {0: self._masses, 1: self.plain.only}.get(kind)
            found.append((lo, hi, made and made(lo, hi)))
        return found

    def _sort(self, j: int) -> int:
        """0 for a column with states and, if there are others, Gaussians, 1 for one without states, 2 for any other."""
        if j not in self.states:
            return 1
        others = self.states[j].others
        return 0 if others is None or others.normal(0) is not None else 2

    def _masses(self, lo: int, hi: int) -> densities.Masses:
        """The log probability of each whole number from the first state to the last; and the Gaussians of others."""
        own = [self.states[j] for j in range(lo, hi)]
        whole = [np.arange(each.values[0], each.values[-1] + 1) for each in own]
        starts = np.append(0, np.cumsum([len(each) for each in whole])).astype(np.int64)
        points = np.concatenate([each.log_density(x) for each, x in zip(own, whole)])
        formulas = np.zeros((3, len(own), points.shape[1]))  # of a value that is no state, and no other, nothing
        for place, each in enumerate(own):
            if each.others is not None and (normal := each.others.normal(0)) is not None:
                formulas[:, place] = normal[0], 1 / normal[1], each.logs[:, -1] + normal[2]
        return densities.Masses(np.array([each[0] for each in whole]), starts, points, *formulas)

    def add_log_likelihood(self, block: Numbers, out: Floats, floor: float | None = None) -> None:
        """Add the log densities and log probabilities, from left to right; a missing value adds nothing."""
        for lo, hi, own in self._runs:
            if isinstance(own, NumberParameters):
                own.add_log_likelihood(block.only(lo, hi), out, floor)
            elif own is None:
                add_by_column(block.only(lo, hi), [self.states[j].log_density for j in range(lo, hi)], out, floor)
            else:
                least = -np.inf if floor is None else floor
                floored = (np.maximum(each, least) for each in (own.points, own.constants))
                densities.add_states(
                    block.only(lo, hi), own._replace(**dict(zip(("points", "constants"), floored))), out
                )

    def sheet_terms(self) -> Iterator[dict[str, Any]]:
        """Of columns with states their points, and the Gaussian, or formula, of all others; of other columns theirs."""
        plain = self.plain.sheet_terms()
        for j, (column, found) in enumerate(zip(self.columns.tolist(), plain, strict=True)):
            if j not in self.states:
                yield found
                continue
            own = self.states[j]
            if self._sort(j) == 2:
                assert own.others is not None
                (others,) = own.others.sheet_terms()
                yield {"op": "values or", "column": column, "values": own.values, "logs": own.logs.T, "others": others}
                continue
            points = self._masses(j, j + 1)
            bell = {"means": points.means[0], "inverse": points.inverse[0], "constants": points.constants[0]}
            rest = bell if own.others is not None else dict.fromkeys(bell)
            states = {"values": own.values, "low": points.low[0], "points": points.points}
            yield {"op": "states", "column": column, **states, **rest}

    def factors(self, block: Numbers) -> list[Factor]:
        """The share of a state, or f(x | μ, σ), of each class."""
        found = self.plain.factors(block)
        for j, states in self.states.items():
            x = float(block.column(j)[0])
            if math.isnan(x):
                continue
            name, shown = column_name(self.columns.tolist()[j]), f"{x:.6g}"
            if not states.how(x, 0):
                found[j] = Factor(name, shown, note=say("never seen: left out"))
                continue
            terms = np.zeros((1, len(states.counts)))
            alone = StateParameters(self.plain.only(j, j + 1), {0: states})
            alone.add_log_likelihood(block.only(j, j + 1), terms)
            each = enumerate(terms[0].tolist())
            found[j] = Factor(name, shown, tuple(Term(states.how(x, k), exponential(log), log) for k, log in each))
        return found

    def sample(self, drawn: Places, rng: np.random.Generator) -> Values:
        """As the densities have it, and states by their shares."""
        found = self.plain.sample(drawn, rng)
        return {**found, **{self.columns.tolist()[j]: own.sample(drawn, rng) for j, own in self.states.items()}}

    def _place(self, column: object) -> int:
        return int(self.columns.tolist().index(column))

    def log_density(self, column: object, x: Floats) -> Floats:
        """log p(x | class) of one column, for each value and class."""
        states = self.states.get(self._place(column))
        return self.plain.log_density(column, x) if states is None else states.log_density(np.asarray(x, np.float64))

    def reach(self, column: object) -> tuple[float, float] | None:
        """Where to draw a column: around the states, and the means of the others."""
        states = self.states.get(self._place(column))
        if states is None or states.others is None:
            return self.plain.reach(column)
        low, high = states.others.reach(column) or (0.0, 0.0)
        return min(low, float(states.values[0])), max(high, float(states.values[-1]))

    def chosen(self, column: object) -> Chosen:
        """What one column was given."""
        states, scores = self.states.get(at := self._place(column)), self.scores.get(at, {})
        if states is None:
            return replace(self.plain.chosen(column), scores=scores)
        return Chosen(states.kind, states.detail, scores)

    @property
    def n_parameters(self) -> int:
        """Those of the states, and of the densities of the other columns."""
        bare = sum(own.n_parameters for _, _, own in self._runs if isinstance(own, NumberParameters))
        return bare + sum(each.n_parameters for each in self.states.values())

    def sum_log_likelihood(self, tally: Tally, classes: Labels) -> float:
        """What each column adds."""
        runs = (own.sum_log_likelihood(tally, classes) for _, _, own in self._runs if isinstance(own, NumberParameters))
        return sum(runs) + sum(each.sum_log_likelihood(classes) for each in self.states.values())

    def evidence(self, weight: float, priors: Floats, texts: str) -> Iterator[Evidence]:
        """What numbers add: states what categories do."""
        for j, found in enumerate(self.plain.evidence(weight, priors, texts)):
            states = self.states.get(j)
            if states is None:
                yield found
                continue
            values, shares = self.masses[found.column]
            if states.others is None:
                yield Categories(found.column, values, weight * states.logs.T, weight, states.counts, shares)
                continue
            lines = {f"share of {value}": own for value, own in zip(values.tolist(), shares.T)}
            named = zip(states.others.words, states.others.figures(0))
            own = partial(_times, weight, states)
            yield replace(found, at=own, figures={**lines, **{f"{word} of the others": each for word, each in named}})


def add_by_column(
    block: Numbers, log_densities: Sequence[Callable[[Floats], Floats]], out: Floats, floor: float | None
) -> None:
    """Add the log densities of each column, from left to right; a missing value adds nothing."""

    def work(lo: int, hi: int) -> None:
        for start, X in moments.blocks(block, lo, hi, _PIECE):
            moments.refuse_infinite(block, start, X, int(np.isinf(X).argmax()) if np.isinf(X).any() else -1)
            for x, log_density in zip(X.T, log_densities):
                there = np.flatnonzero(~np.isnan(x))
                found = log_density(x[there])
                out[start + there] += found if floor is None else np.maximum(found, floor)

    threads.over(len(out), work, _PIECE)


def _times(weight: float, states: States, x: Floats) -> Floats:
    whole = states.others is not None and states.others.discrete
    return np.asarray(weight * states.log_density(np.rint(x) if whole else np.asarray(x, np.float64)))


@dataclass(frozen=True)
class GaussianOrStates(Family):
    """A Gaussian per class and column, but states where whole numbers hold many rows."""

    in_tables = True

    def tally(self, chunk: Chunk, block: Numbers) -> Tally:
        """The Gaussian's sums, and how often each whole number was seen."""
        K, d = len(chunk.classes), len(block.names)
        whole = np.zeros(d, np.bool_)
        sums = Gaussian().tally(chunk, block, whole)
        columns = np.flatnonzero(whole)
        counted = moments.whole_numbers(block, chunk.coded, chunk.weights, K, columns)
        tables = {
            whole_name(block.names.tolist()[j]): Table.of({"class": chunk.classes, "value": values}, counts)
            for j, (values, counts) in zip(columns.tolist(), counted)
        }
        return sums + Tally({name: table for name, table in tables.items() if table.sums.shape[1]})

    def tables(self, columns: Labels) -> set[str]:
        """The tables of whole numbers."""
        return set(map(whole_name, columns.tolist()))

    def sheet_sums(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> Iterator[dict[str, Any]]:
        """The Gaussian's, how often each whole number was seen, and what is imagined of one of so many states."""
        for found in Gaussian().sheet_sums(tally, prior, schema, columns, classes):
            column = found["column"]
            table = whole_name(column)
            values = tally.labels(table, 1)
            whole = {
                "table": table, "values": values, "counts": tally.over(table, classes, values).decimals(),
                "imagined": [imaginary(prior, column, n + 1) for n in range(MOST + 1)],
            }  # fmt: skip
            yield {**found, "whole": whole}

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> GaussianParameters | StateParameters:
        """The Gaussian of each column, or its states."""
        found = Gaussian().estimate(tally, prior, schema, columns, classes)
        counted = {j: name for j, name in enumerate(columns.tolist()) if whole_name(name) in tally}
        if not counted:
            return found
        choose = [partial(_choose, tally, prior, schema, columns[j : j + 1], classes) for j in counted]
        chosen = dict(zip(counted, threads.run(choose)))
        states = {j: states for j, (states, _) in chosen.items() if states is not None}
        return StateParameters(found, states, {j: scores for j, (_, scores) in chosen.items()})

    def left_out(self, rows: LearnedRows, prior: Prior, block: Numbers) -> Floats:
        """As the Gaussian has it where there are no states; else the rest is estimated again.

        For exact answers it is so wherever there may be states without a row.
        """
        out = np.zeros((block.n_rows, len(rows.classes)))
        names = block.names.tolist()
        doubtful = {name for name in names if whole_name(name) in rows.tally}
        if doubtful and not rows.exact:
            doubtful = set(rows.estimate(self, prior, block.names).reasons)
        for counted, group in groupby(range(len(names)), lambda j: names[j] in doubtful):
            places = list(group)
            own = block.only(places[0], places[-1] + 1)
            out += super().left_out(rows, prior, own) if counted else Gaussian().left_out(rows, prior, own)
        return out

    def check(self, tally: Tally) -> None:
        """As for Gaussians; and no class has more whole numbers in a column than it has rows."""
        Gaussian().check(tally)
        for name in tally:
            if name.startswith(WHOLE):
                check_rows(tally, name)


@dataclass(frozen=True)
class _Column:
    """A column of numbers some of which are whole: counts of these, and sums of all, about a centre."""

    values: Floats  # ascending, less the centre
    counts: Floats  # (classes, values)
    n: Floats  # (classes,) all values
    s: Floats
    q: Floats
    widths: Floats  # (values,) what a density is multiplied by for the chance of a value
    prior: Prior

    def score(self, chosen: NDArray[np.bool_], pseudo: float) -> float:
        """The log likelihood of all values, each left out, with the chosen ones as states."""
        held = self.counts[:, chosen]
        others = self.n - total(held)
        shown = np.column_stack([held, others]) if others.any() else held
        found = 0.0
        if chosen.any():
            below = np.maximum(self.n - 1, 0)[:, np.newaxis] + pseudo * shown.shape[1]
            p = np.divide(np.maximum(shown - 1, 0) + pseudo, below, out=np.zeros(shown.shape), where=below > 0)
            found = _added(shown * np.maximum(logs(p), _LEAST))
        if not others.any():
            return found
        # Weights and values may be of any size; what has no score is not chosen.
        with np.errstate(all="ignore"):
            found += self._score_others(chosen, others)
        return -math.inf if math.isnan(found) else found

    def _score_others(self, chosen: NDArray[np.bool_], n: Floats) -> float:
        """The same of the others, under Gaussians: whole numbers by their chance, the rest by their density."""
        held, values = self.counts[:, chosen], self.values[chosen]
        s, q = self.s - total(held * values), self.q - total(held * (values * values))
        N, S, Q = (float(total(each)) for each in (n, s, q))
        overall = float(np.maximum(Q / N - (S / N) * (S / N), 0.0))
        least = max(self.prior.floor * overall, np.finfo(float).tiny)

        def variance(n: Floats, s: Floats, q: Floats) -> Floats:
            own = np.maximum(q / n - (s / n) * (s / n), 0.0)
            own = np.where(n <= 1, overall, (n * own + self.prior.rows * overall) / (n + self.prior.rows))
            return np.asarray(np.maximum(own, least))

        kept, x = self.counts[:, ~chosen], self.values[~chosen]
        some = n[:, np.newaxis] > 1
        rest = np.where(some, n[:, np.newaxis] - 1, max(N - 1, 1))
        first = np.where(some, s[:, np.newaxis], S) - x
        left = variance(rest, first, np.where(some, q[:, np.newaxis], Q) - x * x)
        away = x - first / rest
        log_chance = np.minimum(logs(self.widths[~chosen]) - 0.5 * logs(2 * np.pi * left) - 0.5 * away * away / left, 0)
        found = _added(kept * np.maximum(log_chance, _LEAST))
        m, one, two = n - total(kept), s - total(kept * x), q - total(kept * (x * x))  # of numbers that are not whole
        there = m > 0.5
        if there.any():
            m, one, two, n, s, q = (each[there] for each in (m, one, two, n, s, q))
            mean, spread = s / n, variance(n, s, q)
            apart = np.maximum(two - 2 * mean * one + m * mean * mean, 0)
            found += _added(-0.5 * m * logs(2 * np.pi * spread) - 0.5 * apart / spread - 2 * m / n)
        return found


def _added(terms: Floats) -> float:
    """The sum of all cells, row by row, in an order that any language can repeat."""
    return float(total(terms.ravel()))


def _choose(
    tally: Tally, prior: Prior, schema: Schema, column: Labels, classes: Labels
) -> tuple[States | None, Mapping[str, float]]:
    """The states of one column, if it is to have any, and the scores of what was tried."""
    (name,) = column.tolist()
    table = tally[whole_name(name)]
    assert isinstance(table, Table)
    values, cells = table.axes[1], table.over(classes, table.axes[1])
    assert isinstance(cells, Exact)
    counts = cells.floats()
    seen = tally.over(COUNT, classes, column).floats()[:, 0]
    n_values, each, J = float(total(seen)), total(counts, 0), len(values)
    order = np.argsort(-each, kind="stable")
    is_whole = bool(np.array_equal(total(counts), seen))
    held = np.sort(each)[::-1][: max(min(BESIDE, J - 2 * is_whole), 0)]
    beside = range(1, 1 + int((held >= max(SHARE * n_values, LEAST)).sum()))
    sizes = [*beside, *([J] if is_whole and 1 < J <= MOST else [])]
    sizes = [size for size in sizes if ROWS * size <= n_values]
    if not sizes:
        return None, {}
    whole = tally_of_one(tally, classes, column)
    centred = _centre(whole, values, counts, prior)
    found: list[tuple[float, str, NDArray[np.bool_]]] = []
    for size in [0, *sizes]:
        chosen = np.isin(np.arange(J), order[:size])
        pseudo = imaginary(prior, name, size + (size < J or not is_whole))
        label = "states" if size == J and is_whole else f"gaussian and {size} state{'s' if size > 1 else ''}"
        found.append((centred.score(chosen, pseudo), label if size else "gaussian", chosen))
    _, label, chosen = max(found, key=lambda each: each[0])
    scores = {each[1]: each[0] for each in found}
    if not chosen.any():
        return None, scores
    places = np.flatnonzero(chosen)
    own, others, tables = values[places].astype(np.float64), None, Tally()
    shown = counts[:, places]
    if label != "states":
        rest = whole
        for place in places.tolist():
            v, own_cells = int(values[place]), cells.pick(1, np.array([place]))
            rest = [a - own_cells.scale(v**power) if v or not power else a for power, a in enumerate(rest)]
        others = Gaussian().estimate(tables := tables_of(classes, column, rest), prior, schema, column, classes)
        shown = np.column_stack([shown, rest[0].floats()[:, 0]])
    return States(own, shown, imaginary(prior, name, shown.shape[1]), others, tables), scores


def tally_of_one(tally: Tally, classes: Labels, column: Labels) -> list[Exact]:
    """How many numbers a column has, their sums and the sums of their squares, class by class."""
    found = [tally.over(name, classes, column) for name in SUMS]
    return [each for each in found if isinstance(each, Exact)]


def _centre(sums: list[Exact], values: NDArray[np.int64], counts: Floats, prior: Prior) -> _Column:
    """The sums about the mean of all, in units of the deviation of all."""
    n, s, q = (each.fractions()[:, 0] for each in sums)
    centre = sum(s) / sum(n)
    variance = sum(q) / sum(n) - centre * centre
    # A power of two first: the sums of the largest doubles are none.
    power = (variance.numerator.bit_length() - variance.denominator.bit_length()) // 2
    unit = Fraction(2) ** power
    deviation = math.sqrt(float(variance / (unit * unit))) or 1.0
    first = np.array([float((b - a * centre) / unit) for a, b in zip(n, s)]) / deviation
    about = [(c - 2 * centre * b + centre * centre * a) / (unit * unit) for a, b, c in zip(n, s, q)]
    second = np.array([float(each) for each in about]) / deviation**2
    x = np.ldexp(values - float(centre), -power) / deviation
    gaps = np.diff(x, prepend=-np.inf, append=np.inf)
    low = np.where(np.isinf(gaps[:-1]), gaps[1:], gaps[:-1])  # of the outermost, the distance to their only neighbour
    high = np.where(np.isinf(gaps[1:]), gaps[:-1], gaps[1:])
    widths = np.minimum((low + high) / 2, WIDEST)
    return _Column(x, counts, np.array([float(each) for each in n]), first, second, widths, prior)
