"""How columns are distributed within a class: the families by name, and attributes, columns with a family and a weight.

    log P(class | row) = log P(class) + shift + Σ weight · log p(attribute | class) - log of their sum

The names form a closed list: a model file can name a family, never a thing to import. Untuned weights are 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ingenuo.families.categorical import Categorical
from ingenuo.families.counts import Bernoulli, Multinomial
from ingenuo.families.covariance import FULL, SHARED, ScatterFamily
from ingenuo.families.density import Density
from ingenuo.families.family import Evidence, Family, LearnedRows, Parameters
from ingenuo.families.gaussian import Gaussian
from ingenuo.families.positive import FAMILIES as POSITIVE
from ingenuo.families.states import GaussianOrStates
from ingenuo.families.words import TextFamily
from ingenuo.kernels import portable
from ingenuo.language import say
from ingenuo.rows.part import Block
from ingenuo.rows.schema import AS_IT_COMES, EQUAL_MASS, Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats, Passage, Term, exponential
from ingenuo.tally.labels import Labels, labels_of, same
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally

FAMILY: dict[str, Family] = {
    "gaussian": Gaussian(),
    "gaussian-unbiased": Gaussian(unbiased=True),
    "categorical": Categorical(),
    "multinomial": Multinomial(),
    "complement": Multinomial(others=True),
    "bernoulli": Bernoulli(),
    "words": TextFamily("multinomial"),
    "words-complement": TextFamily("complement"),
    "words-bernoulli": TextFamily("bernoulli"),
    "histogram": Density("histogram"),
    "kernel": Density("kernel"),
    "mixture": Density("mixture"),
    "auto": Density("auto"),
    SHARED: ScatterFamily(),
    FULL: ScatterFamily(pooled=False),
    AS_IT_COMES: GaussianOrStates(),
    **{f"equal-mass-{bins}": Density("equal-mass", bins) for bins in EQUAL_MASS},
    **POSITIVE,
}


def check_tally(schema: Schema, tally: Tally) -> None:
    """Raise where these can be the sums of no rows: each family judges the sums of its own columns."""
    for family in schema.families_used():
        columns = labels_of(schema.columns(family))
        own = {
            name: replace(table, axes=(*table.axes[:-1], columns), sums=table.over(*table.axes[:-1], columns)).trimmed()
            if isinstance(table, Table) and table.names[-1] == "column" and not same(table.axes[-1], columns)
            else table
            for name, table in tally.items()
        }
        FAMILY[family].check(Tally(own))


TUNED = "auto"  # what is counted of a number so that any density can be made of it


@dataclass(frozen=True, eq=False)
class Attribute:
    """Columns that are modelled together: one, or all the counts."""

    columns: Labels
    home: str  # the family that the schema has for the columns: what is counted of them
    family: str  # the family they are given: what is made of the counts
    prior: Prior
    weight: float = 1.0
    typical: float = 1.0  # the length of a text (or bag) whose weight is that
    exponent: float = 0.0  # longer ones weigh (length / typical)^-exponent of it: words repeat one another

    @property
    def called(self) -> str:
        """How it is called in messages."""
        return column_name(self.columns[0]) if len(self.columns) == 1 else f"{len(self.columns)} columns"

    @property
    def plain(self) -> bool:
        """Whether it counts once, whatever its length."""
        return self.weight == 1 and self.exponent == 0

    @property
    def of_family(self) -> Family:
        """The family it is given."""
        return FAMILY[self.family]

    def weights_of(self, lengths: Floats | None) -> Any:
        """The weight for rows of these lengths, as a column."""
        if not self.exponent or lengths is None:
            return self.weight
        return self.weight * portable.power((1 + lengths[:, np.newaxis]) / self.typical, -self.exponent)

    def block(self, blocks: Mapping[str, Block]) -> Block:
        """Its columns."""
        found = blocks[self.home]
        if len(self.columns) == len(found.names):
            return found
        at = int(np.flatnonzero(found.names == self.columns[0])[0])
        return found.only(at, at + len(self.columns))

    def estimate(self, tally: Tally, schema: Schema, classes: Labels) -> AttributeParameters:
        """Its parameters."""
        own = self.of_family.estimate(tally, self.prior, schema, self.columns, classes)
        every = schema.columns(self.home)
        lo = 0 if len(every) == len(self.columns) else int(np.flatnonzero(every == self.columns[0])[0])
        return AttributeParameters(self, own, lo, lo + len(self.columns))

    def sheet_sums(self, tally: Tally, schema: Schema, classes: Labels) -> Iterator[dict[str, Any]]:
        """What its parameters are estimated from, for a page that takes rows away."""
        return FAMILY[self.home].sheet_sums(tally, self.prior, schema, self.columns, classes)

    def left_out(self, rows: LearnedRows) -> Floats:
        """log p(attribute | class) of each row by the tally without it, times the weight."""
        found = self.of_family.left_out(rows, self.prior, self.block(rows.chunk.blocks))
        return found if self.plain else found * self.weights_of(self.left_out_lengths(rows))

    def left_out_lengths(self, rows: LearnedRows) -> Floats | None:
        """How many words, or things counted, of each row are known without it; None of other columns."""
        return self.of_family.left_out_lengths(rows, self.prior, self.block(rows.chunk.blocks))


@dataclass(frozen=True, eq=False)
class AttributeParameters:
    """An attribute, and what its family has estimated: all that a row is asked."""

    attribute: Attribute
    own: Parameters
    lo: int  # its columns, among those of its home
    hi: int

    def block(self, blocks: Mapping[str, Block]) -> Block:
        """Its columns."""
        found = blocks[self.attribute.home]
        return found if self.hi - self.lo == len(found.names) else found.only(self.lo, self.hi)

    def add_log_likelihood(self, blocks: Mapping[str, Block], out: Floats, floor: float | None = None) -> None:
        """Add what it says of each row and class."""
        attribute = self.attribute
        if attribute.plain:
            self.own.add_log_likelihood(self.block(blocks), out, floor)
        elif attribute.weight:
            own = np.zeros_like(out)
            self.own.add_log_likelihood(self.block(blocks), own, floor)
            out += attribute.weights_of(self.lengths(blocks) if attribute.exponent else None) * own

    def lengths(self, blocks: Mapping[str, Block]) -> Floats | None:
        """How many known words, or things counted, each row has; None of columns that have no length."""
        return self.own.lengths(self.block(blocks))

    def factors(self, blocks: Mapping[str, Block]) -> list[Factor]:
        """Its terms, to the power of the weight."""
        attribute = self.attribute
        if attribute.weight == 0:
            return [Factor(column_name(attribute.columns[0]), "", note=say("left out: weight 0"))]
        found = self.own.factors(self.block(blocks))
        if attribute.plain:
            return found
        weight = float(np.ravel(attribute.weights_of(self.lengths(blocks)))[0])
        return [replace(each, terms=tuple(_power(term, weight) for term in each.terms)) for each in found]

    def sheet_terms(self) -> Iterator[dict[str, Any]]:
        """What it adds to a row's joint, as a sheet has it."""
        attribute = self.attribute
        if attribute.plain:
            yield from self.own.sheet_terms()
            return
        yield {
            "op": "weighted", "weight": attribute.weight, "exponent": attribute.exponent, "typical": attribute.typical,
            "terms": list(self.own.sheet_terms()),
        }  # fmt: skip

    def passages(self, blocks: Mapping[str, Block], best: int, second: int) -> list[Passage]:
        """Its texts, each word with how much it speaks for the one class and against the other."""
        return self.own.passages(self.block(blocks), best, second)

    def evidence(self, priors: Floats) -> Iterable[Evidence]:
        """What each of its columns adds, times the weight."""
        attribute = self.attribute
        if not attribute.weight:
            return ()
        texts = say("in a text of {n} words", n=f"{attribute.typical - 1:.4g}") if attribute.exponent else ""
        return self.own.evidence(attribute.weight, priors, texts)


def _power(term: Term, weight: float) -> Term:
    return Term(
        say("[{how}]^{weight}", how=term.how, weight=f"{weight:.4g}"), exponential(weight * term.log), weight * term.log
    )


def attributes_of(schema: Schema, prior: Prior, *, to_tune: bool = False) -> list[Attribute]:
    """The attributes of a table, in its order; to be tuned, numbers of any density begin as Gaussians."""
    found = []
    for home in schema.families_used():
        columns = schema.columns(home)
        family = "gaussian" if home == TUNED and to_tune else home
        for names in [columns] if FAMILY[home].together else [columns[j : j + 1] for j in range(len(columns))]:
            found.append(Attribute(names, home, family, prior))
    return in_order(found, schema)


def in_order(attributes: Iterable[Attribute], schema: Schema) -> list[Attribute]:
    """In the order of the table."""
    places = {name: place for place, name in enumerate(schema.names.tolist())}
    return sorted(attributes, key=lambda each: places[each.columns.tolist()[0]])


def in_runs(attributes: Iterable[Attribute]) -> list[Attribute]:
    """Neighbours that count once and are of one family and prior as one, so that one loop serves them all."""
    runs: list[list[Attribute]] = []
    for each in attributes:
        last = runs[-1][0] if runs else None
        if (
            last is not None and last.plain and each.plain and last.home == each.home and last.family == each.family
            and last.prior is each.prior and not each.of_family.together
        ):  # fmt: skip
            runs[-1].append(each)
        else:
            runs.append([each])
    return [
        run[0] if len(run) == 1 else replace(run[0], columns=np.concatenate([each.columns for each in run]))
        for run in runs
    ]
