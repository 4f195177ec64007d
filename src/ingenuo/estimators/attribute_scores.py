"""What an attribute says of each row, had the row not been learned: the matrices that settings are chosen by."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.calibrate.folds import stratified
from ingenuo.chunk import Block, Chunk, Codes, Counts, Numbers, Texts
from ingenuo.estimators.out_of_fold import Rests
from ingenuo.families import FAMILY
from ingenuo.families.attributes import Attribute
from ingenuo.families.categorical import Categorical
from ingenuo.families.density import Density
from ingenuo.families.family import Floats
from ingenuo.families.gaussian import Gaussian
from ingenuo.families.left_out import categorical, counts, curves, gaussian
from ingenuo.families.left_out.scores import is_quick
from ingenuo.families.left_out.words import LeftOutText
from ingenuo.families.multinomial import Multinomial
from ingenuo.families.word_parameters import known_words
from ingenuo.labels import Labels, find
from ingenuo.schema import Schema
from ingenuo.tally import Table, Tally

_FOLDS = 10
_LISTED = ("histogram", "kernel", "equal-mass")  # densities whose shape can be held


class Scorer:
    """Scores attributes on rows that are part of a tally; what is read of a text is kept for the next prior."""

    def __init__(self, schema: Schema, tally: Tally, chunk: Chunk, classes: Labels, seed: int = 0) -> None:
        self.schema, self.tally, self.chunk, self.classes, self.seed = schema, tally, chunk, classes, seed
        self._texts: dict[Any, LeftOutText] = {}
        self._folds: NDArray[Any] | None = None

    def scores(self, attribute: Attribute) -> Floats:
        """log p(attribute | class) of each row by the rest of the rows (rows × classes)."""
        block = attribute.block(self.chunk.blocks[attribute.home])
        family, prior = FAMILY[attribute.family], attribute.prior
        given = (self.tally, prior, self.schema, self.classes, self.chunk)
        if isinstance(family, Gaussian) and isinstance(block, Numbers):
            return np.asarray(gaussian.scores(family, *given, block, apart=False)[0])
        if isinstance(family, Categorical) and isinstance(block, Codes):
            return np.asarray(categorical.scores(family, *given, block, apart=False)[0])
        if isinstance(family, Density) and family.kind in _LISTED and isinstance(block, Numbers):
            return self._curve(attribute, block)
        if is_quick(attribute.family, prior, self.schema, attribute.names):
            if isinstance(block, Texts):
                return self._text(attribute, block)
            if isinstance(family, Multinomial) and isinstance(block, Counts):
                return np.asarray(counts.scores(family, *given, block)[0])
        return self._by_folds(attribute, block)

    def _curve(self, attribute: Attribute, block: Numbers) -> Floats:
        curve = attribute.estimate(self.tally, self.schema, self.classes).curves[0]
        weights = np.ones(block.n_rows) if self.chunk.weights is None else self.chunk.weights
        return curves.scores(curve, block.column(0), self.chunk.coded, weights)

    def _text(self, attribute: Attribute, block: Texts) -> Floats:
        name = attribute.names[0]
        if name not in self._texts:
            self._texts[name] = LeftOutText(
                self.tally, attribute.prior, self.schema, self.classes, self.chunk, block.columns[0]
            )
        return self._texts[name].scores(attribute.prior)

    def weighted(self, attribute: Attribute) -> Floats:
        """The same, to be added up: times the attribute's weight, for the row's length."""
        weights = attribute.weights_of(self.lengths(attribute)) if attribute.exponent else attribute.weight
        return self.scores(attribute) * (weights[:, np.newaxis] if isinstance(weights, np.ndarray) else weights)

    def lengths(self, attribute: Attribute) -> Floats:
        """How many words of a text, or things counted, are known without the row itself, if a short way tells."""
        block = attribute.block(self.chunk.blocks[attribute.home])
        if isinstance(block, Texts):
            if is_quick(attribute.family, attribute.prior, self.schema, attribute.names):
                self._text(attribute, block)
                entries = self._texts[attribute.names[0]].entries
                return np.asarray(entries.tokens - entries.gone)
            return known_words(
                attribute.estimate(self.tally, self.schema, self.classes)[0], block.columns[0], block.n_rows
            )
        assert isinstance(block, Counts)
        return np.asarray(block.matrix.sum(axis=1), np.float64).ravel()

    def _by_folds(self, attribute: Attribute, block: Block) -> Floats:
        """By ten folds in place of each row: total less fold, for families that no short way leaves a row out of."""
        chunk = Chunk(
            self.chunk.n_rows, {attribute.home: block}, self.chunk.labels, self.chunk.classes, self.chunk.weights
        )
        if self._folds is None:
            self._folds = stratified(chunk.coded, _FOLDS, self.seed)
        tests = [rows for f in range(_FOLDS) if len(rows := np.flatnonzero(self._folds == f))]
        order = np.concatenate(tests)
        taken = chunk.take(order)
        ends = np.append(0, np.cumsum([len(test) for test in tests])).tolist()
        home = FAMILY[attribute.home]
        tallies = []
        for lo, hi in pairwise(ends):
            part = taken.part(lo, hi)
            rows = np.bincount(part.coded, part.weights, len(part.classes))
            counted = home.tally(part, part.blocks[attribute.home])
            tallies.append(Tally({"class": Table.of({"class": part.classes}, rows)}) + counted)
        own = {name: table for name, table in self.tally.items() if any(name in tally for tally in tallies)}
        rests = Rests(tallies, Tally(own))
        out = np.zeros((chunk.n_rows, len(self.classes)))
        family = FAMILY[attribute.family]
        for f, test in enumerate(tests):
            rest = rests[f]
            left = rest.labels("class", 0)
            found = np.zeros((len(test), len(left)))
            parameters = family.estimate(rest, attribute.prior, self.schema, attribute.names, left)
            family.log_likelihood(parameters, taken.part(ends[f], ends[f + 1]).blocks[attribute.home], found, -1e3)
            places = find(left, self.classes)
            out[np.ix_(test, places >= 0)] = found[:, places[places >= 0]]
        return out
