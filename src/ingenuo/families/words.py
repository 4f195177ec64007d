"""Text: the words and n-grams of a column are a bag drawn from a distribution per class, or a set of things present.

multinomial   log p(x | k) = Σ_j x_j log θ_jk,   θ_jk = (w_j count_jk + a_j) / (Σ_j w_j count_jk + Σ a)
complement    the same sum with the negative log frequencies outside class k
bernoulli     Σ over the words present of log p_jk, and over all the others of log (1 - p_jk)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, RefusedError
from ingenuo.families import word_features
from ingenuo.families.family import IMPOSSIBLE, Family, LearnedRows, Parameters, Values, WordTable, cannot_forget
from ingenuo.families.word_features import counted_as, left_out, lookup, node_weights, pseudo_counts, table_name, totals
from ingenuo.kernels import portable
from ingenuo.kernels.text import Lookup, leave_out, pack_table
from ingenuo.kernels.text import Table as WeightTable
from ingenuo.language import say
from ingenuo.rows.part import Chunk, Places, Text, Texts
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats, Passage, Term, exponential, fraction, logs, powers_of_e
from ingenuo.tally.bag import Bag
from ingenuo.tally.exact import TOLERANCE, Real
from ingenuo.tally.labels import Labels, objects
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally
from ingenuo.text.reader import pack_buckets, pack_vocabulary, reader_of
from ingenuo.text.tokens import Feature, features, tokens
from ingenuo.text.words import PREFIX, Words

_NO_FLOATS = np.zeros(0)


@dataclass
class ColumnParameters:
    """The log weights of one column's words; those that are too rare, too frequent or too many are left out."""

    name: object
    words: Words
    bag: Bag  # over all the classes
    weights: Floats  # what an occurrence of each node counts: 1, or ln((1 + n) / (1 + df)) + 1; 0: it is left out
    pseudo: Floats | float
    table: WeightTable
    normaliser: Floats  # (classes,): what the counts are divided by
    rows: Floats  # (classes,): the documents of each
    model: str  # "multinomial", "complement", "bernoulli" or "linear"
    absent: Floats | None = None  # (classes,): what a document without any word adds, where absence is evidence
    strict: WeightTable | None = None  # ones where a class has a word that is impossible in the other classes
    certain: WeightTable | None = None  # ones where every document of a class has the word
    n_certain: Floats | None = None
    look: Lookup | None = None

    def lookup(self, text: Text) -> Lookup:
        """The tables to look words up in, made once unless the words to come must be stemmed."""
        if self.words.stem is not None:
            return lookup(self.bag.vocabulary, self.words, text)
        if self.look is None:
            self.look = lookup(self.bag.vocabulary, self.words)
        return self.look

    @property
    def once(self) -> bool:
        """Whether a word counts once in a document."""
        return self.words.binary or self.absent is not None

    @property
    def _present(self) -> float:
        """Of a set: the imagined documents that have a word."""
        return float(np.max(self.pseudo))

    def add_log_likelihood(self, text: Text, out: Floats, floor: float | None = None) -> None:
        """Add what the words of each document say."""
        look, missing = self.lookup(text), partial(text.missing, self.words.errors)
        if self.words.norm is not None:
            squares, own = np.zeros(len(out)), np.zeros_like(out)
            look.score(text.shares(self.words), self.table, own, once=self.once, squares=squares)
            out += own / np.sqrt(np.where(squares > 0, squares, 1))[:, np.newaxis]
        else:
            look.score(text.shares(self.words), self.table, out, once=self.once)
        if self.absent is not None:
            out[~missing()] += self.absent
        for table, known in ((self.strict, None), (self.certain, self.n_certain)):
            if table is not None:
                hits = np.zeros((len(out), out.shape[1] + 1))  # in the last column, all that are strict
                look.score(text.shares(self.words), table, hits, once=self.once)
                wanted = hits[:, -1:] if known is None else ~missing()[:, np.newaxis] * known
                lacking = wanted - hits[:, :-1]
                with np.errstate(invalid="ignore"):
                    out += np.where(lacking > 0, lacking * (-np.inf if floor is None else floor), 0)

    def count_known(self, text: Text, n_rows: int) -> Floats:
        """How many words of each document are among those that are used."""
        out = np.zeros((n_rows, 1))
        starts = np.zeros(len(self.weights) + 1, np.int64)
        table = pack_table(starts, np.zeros(0, np.int32), _NO_FLOATS, self.weights != 0, np.ones(1))
        self.lookup(text).score(text.shares(self.words), table, out, once=self.once)
        return np.asarray(out[:, 0])

    # What one document's words say of every class, as a person would write it.

    def _only_text(self, text: Text) -> str | None:
        """The text of a block of one row; None where it is missing."""
        (piece,) = text.pieces(self.words.errors)
        if piece.missing is not None and piece.missing[0]:
            return None
        return bytes(piece.data[int(piece.offsets[0]) : int(piece.offsets[1])]).decode()

    def _add_per_occurrence(self, node: int) -> Floats:
        """What one occurrence of a node adds to the log joint of each class."""
        table = self.table
        result: Floats = table.constant * self.weights[node]
        if len(table.base):
            result = result + table.base[node]
        result = result + table.values(node)
        if self.strict is not None and self.strict.info[node, 0] >= 0:
            lacking = np.ones(len(result), np.bool_)
            lacking[self.bag.codes[int(self.bag.starts[node]) : int(self.bag.starts[node + 1])]] = False
            result[lacking] = -np.inf
        return result

    def _places(self, found: list[Feature]) -> list[tuple[Feature, int]]:
        """The features with their nodes; -1 for what no text had from which the model learned."""
        return list(zip(found, self.bag.vocabulary.find(each.words for each in found).tolist())) if found else []

    def _is_used(self, node: int) -> bool:
        return node >= 0 and bool(self.weights[node] != 0)

    def _length(self, times: dict[int, float]) -> float:
        """The length of the document's vector, where counts are divided by it."""
        if self.words.norm is None or not times:
            return 1.0
        return float(np.sqrt(sum((n * self.weights[node]) ** 2 for node, n in times.items())))

    def factors(self, given: Text) -> list[Factor]:
        """One factor for each word that was ever seen; the strongest first."""
        name, text = column_name(self.name), self._only_text(given)
        if text is None:
            return [Factor(name, say("missing"), note=say("left out"))]
        cut = tokens(text, self.words)
        read = features(cut, self.words)
        places = self._places(read)
        used = [(feature, node) for feature, node in places if self._is_used(node)]
        texts = {node: feature.text for feature, node in reversed(used)}
        times: dict[int, float] = dict(Counter(node for _, node in used))
        if self.once:
            times = dict.fromkeys(times, 1.0)
        length = self._length(times)
        result = []
        for node, n in times.items():
            adds = self._add_per_occurrence(node) * n / length
            if self.absent is not None:  # log odds and log (1 - p) are log p
                adds = adds + self._log_absent(node)
            ways = self._write(node, n * self.weights[node] / length)
            terms = tuple(Term(way, exponential(log), log) for way, log in zip(ways, adds.tolist()))
            result.append(Factor(texts[node], f"×{n:g}", terms, part_of=name))
        result.sort(key=lambda factor: -np.ptp([max(term.log, -1e300) for term in factor.terms]))
        if self.absent is not None:
            result.append(self._absent_factor(name, list(times)))
        mark = PREFIX if self.words.negation else ""
        unused = [token.word for token in cut if token.word.removeprefix(mark) in self.words.stops]
        unused += [feature.text for feature, node in places if node >= 0 and not self._is_used(node)]
        others = left_out(name, unused, unknown=False)
        others += left_out(name, [feature.text for feature, node in places if node < 0])
        if not result and not others and self.absent is None:
            others = [Factor(name, say("no words"), note=say("left out"))]
        return result + others

    def _absent_factor(self, name: str, present: list[int]) -> Factor:
        """All the words that are not there, together: the product of 1 - p over them."""
        assert self.absent is not None
        log = self.absent - sum((self._log_absent(node) for node in present), np.zeros(len(self.rows)))
        if self.n_certain is not None:  # where every document of a class has a word, none can be without it
            counts = [self._counts(node) for node in present]
            certain = [(own > 0) & (self.normaliser - self._present - own <= 0) for own in counts]
            log[self.n_certain > sum(certain, np.zeros(len(log)))] = -np.inf
        others = int(np.count_nonzero(self.weights)) - len(present)
        how = say("{n} factors 1 - p", n=f"{others:,}") if others > 1 else "1 - p"
        terms = tuple(Term(how, exponential(each), each) for each in log.tolist())
        return Factor(name, say("{n} absent", n=f"{others:,}"), terms)

    def _log_absent(self, node: int) -> Floats:
        """log (1 - p) of one word: log p - log odds, with what is certain left out as in `absent`."""
        rest = self.normaliser - self._present - self._counts(node)
        return np.where(rest > 0, portable.log(np.where(rest > 0, rest, 1) / np.maximum(self.normaliser, 1e-300)), 0.0)

    def _counts(self, node: int) -> Floats:
        """The weighted counts of a node in every class."""
        result = np.zeros(len(self.normaliser))
        cells = slice(int(self.bag.starts[node]), int(self.bag.starts[node + 1]))
        result[self.bag.codes[cells]] = self.bag.numbers()[cells] * self.weights[node]
        return result

    def _write(self, node: int, power: float) -> list[str]:
        """The fraction of each class as a person writes it, to the power of the word's count; or e to its weight."""
        if self.model == "linear":
            times = power / max(self.weights[node], 1e-300)
            return [powers_of_e(float(w), times) for w in self.table.values(node)]
        counts = self._counts(node)
        if self.model == "bernoulli":
            both = self.normaliser - self.rows
            return [fraction(c, self._present, n, b) for c, n, b in zip(counts, self.rows, both)]
        pseudo = self.pseudo if isinstance(self.pseudo, float) else float(self.pseudo[node])
        imagined = float(np.where(self.weights != 0, self.pseudo, 0.0).sum())
        others = self.model == "complement"
        above = counts.sum() - counts if others else counts
        digits = 6 if self.words.weighting == "tfidf" else 12
        shown = [fraction(c, pseudo, n, imagined, digits) for c, n in zip(above, self.normaliser - imagined)]
        raised = "" if power == 1 else f"^{power:.6g}"
        brackets = f"1/[{{}}]{raised}" if others else f"[{{}}]{raised}" if raised else "{}"
        return [brackets.format(each) for each in shown]

    def passage(self, given: Text, best: int, second: int) -> Passage:
        """The text in pieces; each word with how much it speaks for the one class and against the other."""
        text = self._only_text(given)
        if text is None:
            return Passage(column_name(self.name), ())
        read = tokens(text, self.words)
        times: dict[int, float] = {}
        shares, touched = np.zeros(len(read)), np.zeros(len(read), np.bool_)
        for feature, node in self._places(features(read, self.words)):
            if not self._is_used(node) or (self.once and node in times):
                continue
            times[node] = times.get(node, 0.0) + 1
            adds = self._add_per_occurrence(node)
            with np.errstate(invalid="ignore"):
                weight = float(np.nan_to_num(adds[best] - adds[second], posinf=50, neginf=-50))
            for number in feature.tokens:
                shares[number] += weight / len(feature.tokens)
                touched[number] = True
        shares /= self._length(times)
        pieces: list[tuple[str, float | None]] = []
        at = 0
        for token, share, used in zip(read, shares.tolist(), touched):
            pieces += [(text[at : token.begin], None), (text[token.begin : token.end], share if used else None)]
            at = token.end
        return Passage(column_name(self.name), tuple(piece for piece in [*pieces, (text[at:], None)] if piece[0]))

    def sample(self, drawn: Places, rng: np.random.Generator) -> NDArray[Any]:
        """Words by their frequencies within the class, as many as its documents have on average (Poisson)."""
        if self.model == "complement":
            raise InputError("complement weights are no distribution of words: no text can be drawn; use 'multinomial'")
        rows = self.words.characters or self.words.ngrams
        if rows != (1, 1) or self.words.hashed or self.words.characters:
            what = "hashed words, which have no text" if self.words.hashed else f"n-grams {rows}"
            raise InputError(f"texts cannot be drawn from {what}; use single words, or a LanguageModel")
        nodes = np.flatnonzero(self.weights)
        names = np.array(self.bag.vocabulary.texts(nodes.tolist()), object)
        words = np.array([not name.startswith("[") for name in names], np.bool_)
        nodes, names = nodes[words], names[words]
        pseudo = self.pseudo if isinstance(self.pseudo, float) else self.pseudo[nodes]
        result = objects([""] * len(drawn))
        for k in np.unique(drawn).tolist():
            counts = (np.asarray(self.bag.column(k), np.float64) * self.weights)[nodes]
            shares, steps = (counts + self._present) / self.normaliser[k], np.cumsum(counts + pseudo)
            mean = counts.sum() / max(float(self.rows[k]), 1e-300) if len(nodes) else 0.0
            for row in np.flatnonzero(drawn == k):
                if self.model == "bernoulli":
                    result[row] = " ".join(names[rng.random(len(names)) < shares])
                else:
                    places = np.searchsorted(steps, rng.random(rng.poisson(mean)) * steps[-1], side="right")
                    result[row] = " ".join(names[np.minimum(places, len(names) - 1)])
        return result

    def evidence(self, weight: float, texts: str) -> WordTable:
        """What each word adds."""
        if not texts and self.words.norm is not None:
            texts = say("divided by the length of the text's vector")
        empty = None if self.absent is None else weight * self.absent
        return WordTable(
            self.name, self.bag, np.asarray(self.weights != 0), lambda k: weight * self._add_to_class(k), self,
            self.model, weight, empty, texts,
        )  # fmt: skip

    def sheet_term(self) -> dict[str, Any]:
        """What the words add, as page/words.mjs reads it: of each node the classes that have it, with their values."""
        try:
            read = reader_of(self.words)
        except InputError as error:
            raise InputError(f"the words of column {column_name(self.name)!r} have no sheet: {error}") from None
        used, vocabulary = self.weights != 0, self.bag.vocabulary
        starts, codes = self._cells()
        strict = None if self.strict is None else self.strict.info[:, 0] >= 0
        if vocabulary.buckets:
            shown = [each for each in (self.weights, self.table.base, strict) if each is not None and len(each)]
            packed, nodes = pack_buckets(vocabulary, np.diff(starts) == 0, np.column_stack(shown).astype(np.float64))
        else:
            packed, nodes = pack_vocabulary(vocabulary, used)
        counts = np.diff(starts)[nodes]
        cells = np.repeat(starts[nodes] - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))

        def of(each: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if each is None or not len(each) else each[nodes]

        return {
            "op": "words", "column": self.name, "model": self.model, "read": read, **packed, "once": self.once,
            "norm": self.words.norm, "n_used": int(np.count_nonzero(used)),
            "limited": bool((~used & (np.diff(self.bag.starts) > 0)).any()),
            "used": None if used[nodes].all() else used[nodes], "counts": counts, "codes": codes[cells],
            "values": self.table.cells_of(starts, codes)[cells], "weights": of(self.table.weights),
            "base": of(self.table.base), "constant": self.table.constant, "absent": self.absent, "strict": of(strict),
            "certain": None if self.certain is None else self.certain.cells_of(starts, codes)[cells],
            "n_certain": self.n_certain,
        }  # fmt: skip

    def _cells(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Where the cells of each node begin in the table, and where the last ends; and their classes."""
        if self.model != "linear":
            return self.bag.starts, self.bag.codes
        # A value of every class for each node; of two classes, of the second alone.
        each = np.arange(len(self.rows)) if len(self.table.lines) else np.ones(1, np.int64)
        used = self.weights != 0
        return np.append(0, np.cumsum(used * len(each))), np.tile(each, int(np.count_nonzero(used)))

    def sum_log_likelihood(self, tally: Tally, classes: Labels) -> float:
        """What each word adds, times how often it was there; of a set, where it was not there as well."""
        is_set = self.model == "bernoulli"
        bag = tally.bag(table_name(self.name, counted_as(self.words, is_set)))
        if self.model == "complement" or self.words.norm is not None:
            raise RefusedError(
                f"the weights of the words of column {column_name(self.name)!r} are no shares of them, so the rows "
                "have no log likelihood; predict_joint_log_proba(X) has what each row is compared by"
            )
        rows, found = tally.over(table_name(self.name, "rows"), classes).floats(), 0.0
        for k in range(len(classes) if bag is not None else 0):
            counts = np.asarray(bag.over(classes).column(k), np.float64) * (self.weights != 0)  # type: ignore[union-attr]
            if is_set:
                rest = np.where(self.weights != 0, rows[k] - counts, 0.0)
                log_shares = self.log_shares(k)
                found += float((counts * np.where(counts > 0, log_shares, 0.0)).sum())
                found += float((rest * np.where(rest > 0, portable.log1p(-portable.exp(log_shares)), 0.0)).sum())
            else:
                found += float((counts * np.where(counts > 0, self._add_to_class(k), 0.0)).sum())
        return found

    def log_shares(self, k: int) -> Floats:
        """Of a set, the logarithm of the share of the documents of a class that have each word."""
        return logs(
            (np.asarray(self.bag.column(k), np.float64) + self._present) / max(float(self.normaliser[k]), 1e-300)
        )

    def _add_to_class(self, k: int) -> Floats:
        """What one occurrence of each node adds to the log joint of class k; 0 for those that are not used."""
        counts, used = np.asarray(self.bag.column(k), np.float64) * self.weights, self.weights != 0
        if self.model == "bernoulli":
            missing = self.normaliser[k] - self._present - counts
            return np.where(used, logs(counts + self._present) - logs(np.maximum(missing, 0.0)), 0.0)
        others = self.model == "complement"
        above = np.asarray(totals(self.bag), np.float64) * self.weights - counts if others else counts
        share = (above + np.asarray(self.pseudo)) / max(float(self.normaliser[k]), 1e-300)
        return np.asarray(self.weights * logs(np.where(used, share, 1.0)) * (-1 if others else 1))


@dataclass(frozen=True)
class TextParameters(Parameters):
    """The log weights of the words of some columns."""

    parts: tuple[ColumnParameters, ...]

    def add_log_likelihood(self, block: Texts, out: Floats, floor: float | None = None) -> None:
        """Add what the words of each document say."""
        for text, p in zip(block.columns, self.parts):
            p.add_log_likelihood(text, out, floor)

    def factors(self, block: Texts) -> list[Factor]:
        """What each word says of every class."""
        return [factor for p, text in zip(self.parts, block.columns) for factor in p.factors(text)]

    def passages(self, block: Texts, best: int, second: int) -> list[Passage]:
        """The texts, each word with how much it speaks for the one class and against the other."""
        return [p.passage(text, best, second) for p, text in zip(self.parts, block.columns)]

    def sheet_terms(self) -> Iterator[dict[str, Any]]:
        """What the words of each column add."""
        return (p.sheet_term() for p in self.parts)

    def sample(self, drawn: Places, rng: np.random.Generator) -> Values:
        """Texts of words drawn one by one: their order means nothing."""
        return {p.name: p.sample(drawn, rng) for p in self.parts}

    def lengths(self, block: Texts) -> Floats:
        """How many known words each row has."""
        found = (p.count_known(text, block.n_rows) for p, text in zip(self.parts, block.columns))
        return np.asarray(sum(found, np.zeros(block.n_rows)))

    @property
    def n_parameters(self) -> int:
        """The share of each word that is used in each class, of which one follows from the others; of a set, of all."""
        used = [(len(p.normaliser), int(np.count_nonzero(p.weights)), p.model == "bernoulli") for p in self.parts]
        return sum(K * max(n if is_set else n - 1, 0) for K, n, is_set in used)

    def sum_log_likelihood(self, tally: Tally, classes: Labels) -> float:
        """What each word adds, times how often it was there."""
        return sum(p.sum_log_likelihood(tally, classes) for p in self.parts)

    def evidence(self, weight: float, priors: Floats, texts: str) -> Iterator[WordTable]:
        """What each word adds."""
        return (p.evidence(weight, texts) for p in self.parts)


def with_columns(factors: list[Factor], columns: int) -> list[Factor]:
    """Where there are several text columns, each word with the name of its own."""
    if columns < 2:
        return factors
    return [replace(each, column=f"{each.part_of}: {each.column}") if each.part_of else each for each in factors]


@dataclass(frozen=True)
class TextFamily(Family):
    """A distribution over words for each class and column."""

    model: str

    def tally(self, chunk: Chunk, block: Texts) -> Tally:
        """How often each class has each word, and in how many documents, as far as the model needs them."""
        found: dict[str, Table | Bag] = {}
        y, classes, weights = chunk.coded, chunk.classes, chunk.weights
        for text, words, reference in zip(block.columns, block.settings, block.references):
            needed = sorted(word_features.tables_of(words, self.model == "bernoulli"))
            if words.norm is not None:
                bags = [word_features.count_normalised(chunk, text, words, reference)]
            else:
                which = {"counts": "count" in needed, "documents": "documents" in needed}
                bags = word_features.count(text, words, y, classes, weights, **which)
            found.update({table_name(text.name, what): bag for what, bag in zip(needed, bags)})
            found[table_name(text.name, "rows")] = word_features.count_documents(y, classes, weights, text, words)
        return Tally(found)

    def estimate(self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels) -> TextParameters:
        """Log weights after smoothing."""
        return TextParameters(tuple(self._column(tally, prior, schema, name, classes) for name in columns.tolist()))

    def _column(self, tally: Tally, prior: Prior, schema: Schema, column: object, classes: Labels) -> ColumnParameters:
        words = schema.texts[column]
        bag = tally.bag(table_name(column, counted_as(words, self.model == "bernoulli")))
        rows = tally.over(table_name(column, "rows"), classes).floats()
        bag = word_features.nothing(words) if bag is None else bag.over(classes)
        weights = node_weights(words, bag, tally, schema, column, float(rows.sum()))
        if self.model == "bernoulli":
            return _presence(column, words, bag, weights, prior, rows)
        pseudo = pseudo_counts(prior, bag.vocabulary, weights, column)
        return _bag_parameters(column, words, bag, weights, pseudo, rows, self.model)

    def left_out(self, rows: LearnedRows, prior: Prior, block: Texts) -> Floats:
        """The words of a document are taken from its own class, and words that no other document has are unknown."""
        out = np.zeros((block.n_rows, len(rows.classes)))
        for j, text in enumerate(block.columns):
            if self._is_short(rows, prior, text):
                out += self._scores(rows, prior, text)
            else:
                out += super().left_out(rows, prior, block.only(j, j + 1))
        return out

    def left_out_lengths(self, rows: LearnedRows, prior: Prior, block: Texts) -> Floats:
        """How many words are known without the row itself, if a short way tells."""
        out = np.zeros(block.n_rows)
        for text in block.columns:
            if self._is_short(rows, prior, text):
                entries = self._read(rows, prior, text)
                out += entries.tokens - entries.gone
            else:
                p = self._column(rows.tally, prior, rows.schema, text.name, rows.classes)
                out += p.count_known(text, block.n_rows)
        return out

    def _is_short(self, rows: LearnedRows, prior: Prior, text: Text) -> bool:
        """Whether leaving a document out changes no more than its own words: no limits or weights, one α for all."""
        words = rows.schema.texts[text.name]
        limits = (words.min_count, words.min_documents, words.max_documents, words.most_frequent, words.max_words)
        return (
            self.model == "multinomial"
            and words.weighting == "count"
            and words.norm is None
            and limits == (1, 1, 1.0, 0, None)
            and not isinstance(words.min_documents, float)
            and not isinstance(words.max_documents, int)
            and _imagined_each(prior, 2) > 0
            and _imagined_each(prior, 2) == _imagined_each(prior, 3)
            and not any(type(word) is str for word in prior.known(np.zeros(0, np.int64)).tolist())
            and not prior.columns()
        )

    def _scores(self, rows: LearnedRows, prior: Prior, text: Text) -> Floats:
        """The log likelihood of every row without itself (rows × classes).

        With c_jk occurrences of word j in class k, N_k of all words, V words in all and α imaginary ones of each, a
        document of class y with x_j of word j has, words of its own set aside (n° occurrences of V° words),

            k = y:  Σ x_j log(c_jy - x_j + α) - (n - n°) log(N_y - n + α(V - V°))
            k ≠ y:  Σ x_j log(c_jk + α)       - (n - n°) log(N_k     + α(V - V°))
        """
        p = self._column(rows.tally, prior, rows.schema, text.name, rows.classes)
        alpha, chunk, tiny = p.pseudo, rows.chunk, np.finfo(float).tiny
        assert isinstance(alpha, float)
        out = np.zeros((chunk.n_rows, len(rows.classes)))
        if not p.weights.any():  # no row that has a weight has a word
            return out
        p.add_log_likelihood(text, out)
        e = self._read(rows, prior, text)
        y, V = chunk.coded, int(np.count_nonzero(p.weights))
        kept, within = e.tokens - e.gone, p.normaliser - alpha * V
        imagined = alpha * (V - e.gone_words)
        # A document whose words are all its own has nothing left that is known.
        below = np.log(np.maximum(within + imagined[:, np.newaxis], tiny))
        out += e.tokens[:, np.newaxis] * np.log(p.normaliser) - (e.gone * np.log(alpha))[:, np.newaxis]
        out -= kept[:, np.newaxis] * below
        own = np.maximum(within[y] - rows.weights * e.tokens, 0) + imagined
        out[np.arange(len(out)), y] = e.own_score(alpha) - kept * np.log(np.maximum(own, tiny))
        out[kept == 0] = 0.0
        return out

    def _read(self, rows: LearnedRows, prior: Prior, text: Text) -> Any:
        """The words of a column that was learned, read once for any number of priors."""
        if text.name not in rows.read:
            p = self._column(rows.tally, prior, rows.schema, text.name, rows.classes)
            at, nodes, counts = p.lookup(text).entries(text.cut(p.words), np.ones(len(p.weights), np.bool_))
            rows.read[text.name] = leave_out(
                at, nodes, np.ones_like(counts) if p.once else counts, rows.chunk.coded, rows.weights, p.bag.starts,
                p.bag.codes, p.bag.numbers(), totals(p.bag), TOLERANCE if isinstance(p.bag.sums, Real) else 0.0,
                bool(p.words.hashed),
            )  # fmt: skip
        return rows.read[text.name]

    def check(self, tally: Tally) -> None:
        """No class has more documents than rows, words without a document, or a word in more documents than it has."""
        for name in tally:
            if not name.startswith("text:"):
                continue
            classes, rows_name = tally[name].axes[0], f"{name.rpartition(':')[0]}:rows"
            documents, rows = (tally.over(each, classes).floats() for each in (rows_name, "class"))
            for k in np.flatnonzero((documents > rows) | (documents <= 0))[:1].tolist():
                left = f"{rows[k]:g} rows left, {documents[k]:g} documents in '{rows_name}', and words in them"
                raise cannot_forget(classes, k, left)
            bag = tally.bag(name) if name.endswith(":documents") else None
            if bag is None:
                continue
            slack = TOLERANCE if isinstance(bag.sums, Real) else 0.0  # sums of fractions are rounded as they are added
            for cell in np.flatnonzero(bag.sums.floats() > documents[bag.codes] * (1 + slack))[:1].tolist():
                k, word = int(bag.codes[cell]), bag.labels_of_cell((cell,))[1]
                many = f"{documents[k]:g} documents left and {word!r} in {bag.sums.floats()[cell]:g} of them"
                raise cannot_forget(classes, k, many)


def _imagined_each(prior: Prior, words: int) -> float:
    """How many of each of so many words are imagined; 0 where that differs from word to word."""
    try:
        found = prior.pseudo_counts(np.arange(words))
    except ValueError:  # a list for values in their order
        return 0.0
    return float(found[0]) if (found == found[0]).all() else 0.0


def _bag_parameters(
    column: object, words: Words, bag: Bag, weights: Floats, pseudo: Floats | float, rows: Floats, model: str
) -> ColumnParameters:
    """Log frequencies within each class, or negative ones outside."""
    classes, others = len(rows), model == "complement"
    if not others and not np.any(pseudo):
        bag = _with_whole(bag, weights, classes)
    owners = bag.owners()
    each = weights[owners]
    counts = bag.numbers() * each
    a = np.where(weights != 0, pseudo, 0.0)
    within = np.bincount(bag.codes, counts, classes)
    below = (within.sum() - within if others else within) + a.sum()
    constant = logs(np.where(below > 0, below, 1))
    strict = None
    if others:
        whole = np.bincount(owners, counts, len(weights))
        log_whole = logs(np.where(weights != 0, whole + a, 1))
        rest = np.maximum(logs(np.maximum(np.where(each != 0, whole[owners] - counts + a[owners], 1), 0)), IMPOSSIBLE)
        table = _table(bag, -each * (rest - log_whole[owners]), weights, constant, -weights * log_whole)
    elif isinstance(pseudo, float) and pseudo > 0:
        values = each * (portable.log(counts + pseudo) - portable.log(pseudo))
        table = _table(bag, values, weights, portable.log(pseudo) - constant)
    else:
        log_a = logs(np.where(a > 0, a, 1))
        values = each * (portable.log(np.where(each != 0, counts, 1) + a[owners]) - log_a[owners])
        table = _table(bag, values, weights, -constant, weights * log_a)
        strict = _ones(bag, (weights != 0) & (a == 0), None, classes)
    return ColumnParameters(column, words, bag, weights, pseudo, table, below, rows, model, strict=strict)


def _with_whole(bag: Bag, weights: Floats, classes: int) -> Bag:
    """The bag with the counts of the whole column for the classes that have none of the words that are used."""
    owners = bag.owners()
    counts = bag.numbers() * weights[owners]
    empty = np.flatnonzero(np.bincount(bag.codes, counts, classes) <= 0)
    if not len(empty) or not counts.any():
        return bag
    whole = totals(bag)
    nodes = np.flatnonzero(whole)
    values = np.concatenate([bag.numbers(), np.tile(whole[nodes], len(empty))])
    codes = np.concatenate([bag.codes, np.repeat(empty, len(nodes)).astype(np.int32)])
    owners = np.concatenate([owners, np.tile(nodes, len(empty))])
    kept = np.flatnonzero(values)
    kept = kept[np.lexsort((codes[kept], owners[kept]))]
    starts = np.append(0, np.cumsum(np.bincount(owners[kept], minlength=len(bag.vocabulary))))
    return Bag(bag.vocabulary, bag.classes, starts, codes[kept], Real(values[kept].astype(np.float64)))


def _presence(column: object, words: Words, bag: Bag, weights: Floats, prior: Prior, rows: Floats) -> ColumnParameters:
    """Log odds of being there, and the log probability that nothing is."""
    a0, a1 = (float(a) for a in prior.pseudo_counts(np.array([False, True])))
    owners = bag.owners()
    counts = bag.numbers() * weights[owners]
    used = weights[owners] != 0
    with np.errstate(divide="ignore", invalid="ignore"):
        missing = np.maximum(rows[bag.codes] - counts, 0) + a0
        certain = used & (missing <= 0)
        log_absent = np.where(certain, 0.0, portable.log(np.where(missing > 0, missing, 1)))
        none = portable.log(np.where(rows + a0 > 0, rows + a0, 1))  # of a word that the class never has
        below = portable.log(np.where(rows + a0 + a1 > 0, rows + a0 + a1, 1))
        first = portable.log(a1) if a1 > 0 else 0.0
        log_present = portable.log(np.where(used, counts + a1, 1))
    below_cell = below[bag.codes]
    values = np.where(used, log_present - np.where(certain, below_cell, log_absent) - (first - none[bag.codes]), 0.0)
    table = _table(bag, values, weights, first - none)
    size = np.bincount(bag.codes[used], minlength=len(rows))
    absent = (int(np.count_nonzero(weights)) - size) * (none - below)
    absent += np.bincount(bag.codes, np.where(used & ~certain, log_absent - below_cell, 0.0), len(rows))
    strict = None if a1 > 0 else _ones(bag, weights != 0, None, len(rows))
    sure = _ones(bag, weights != 0, certain, len(rows)) if certain.any() else None
    n_certain = np.bincount(bag.codes[certain], minlength=len(rows)).astype(np.float64)
    return ColumnParameters(
        column, words, bag, weights, a1, table, rows + a0 + a1, rows, "bernoulli", absent, strict, sure, n_certain
    )


def _ones(bag: Bag, nodes: NDArray[np.bool_], cells: NDArray[np.bool_] | None, classes: int) -> WeightTable:
    """A table that counts, for each class, the nodes of these that it has; one column more counts them all."""
    here = nodes[bag.owners()] if cells is None else nodes[bag.owners()] & cells
    return pack_table(bag.starts, bag.codes, here.astype(np.float64), nodes, np.append(np.zeros(classes), 1.0))


def _table(bag: Bag, values: Floats, weights: Floats, constant: Floats, base: Floats = _NO_FLOATS) -> WeightTable:
    """The table of these cells; weights that are all 0 or 1 need not be looked up."""
    used = weights != 0
    plain = bool((weights[used] == 1).all())
    return pack_table(bag.starts, bag.codes, values, used, constant, _NO_FLOATS if plain else weights, base)
