"""Text: the words and n-grams of a column are a bag drawn from a distribution per class, or a set of things present.

    multinomial   log p(x | k) = Σ_j x_j log θ_jk,   θ_jk = (w_j count_jk + a_j) / (Σ_j w_j count_jk + Σ a)
    complement    the same sum with the negative log frequencies outside class k
    bernoulli     Σ over the words present of log p_jk, and over all the others of log (1 - p_jk)

x_j is w_j times the count of word j in the document; w_j is 1, or with TF-IDF ln((1 + n) / (1 + df_j)) + 1, both of
which derive from the tally: n documents, df_j of them with word j. Words never seen are left out. The tally holds
every word that was seen; what is too rare, too frequent or one too many is left out of the parameters, not of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError
from ingenuo.families import word_features
from ingenuo.families.family import Family
from ingenuo.families.left_out import LearnedRows
from ingenuo.families.word_features import (
    ColumnParameters,
    counted,
    inside,
    known_words,
    node_weights,
    normalised,
    nothing,
    outside,
    presence,
    pseudo_counts,
    table_name,
    tables,
    totals,
)
from ingenuo.kernels import left_out as loops
from ingenuo.kernels import moments, portable
from ingenuo.rows.part import Chunk, Text, Texts
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats, Passage, Term, exponential, fraction, powers_of_e
from ingenuo.tally.bag import Bag
from ingenuo.tally.exact import TOLERANCE, Exact, Real
from ingenuo.tally.labels import Labels, objects
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally
from ingenuo.text.tokens import Feature, features, tokens
from ingenuo.text.words import Words

# What one document's words say of every class, as a person would write it; and documents drawn from a class.


def _per_occurrence(p: ColumnParameters, node: int) -> Floats:
    """What one occurrence of a node adds to the log joint of each class."""
    table = p.table
    result: Floats = table.constant * p.weights[node]
    if len(table.base):
        result = result + table.base[node]
    result = result + table.values(node)
    if p.strict is not None and p.strict.info[node, 0] >= 0:
        lacking = np.ones(len(result), np.bool_)
        lacking[p.bag.codes[int(p.bag.starts[node]) : int(p.bag.starts[node + 1])]] = False
        result[lacking] = -np.inf
    return result


def _known(p: ColumnParameters, found: list[Feature]) -> tuple[list[tuple[Feature, int]], list[str]]:
    """The features that have a weight, with their nodes; and the others."""
    nodes = p.bag.vocabulary.find(feature.text for feature in found).tolist() if found else []
    used = [(feature, node) for feature, node in zip(found, nodes) if node >= 0 and p.weights[node] != 0]
    kept = {id(feature) for feature, _ in used}
    return used, [feature.text for feature in found if id(feature) not in kept]


def _length(p: ColumnParameters, times: dict[int, float]) -> float:
    """The length of the document's vector, where counts are divided by it."""
    if p.words.norm is None or not times:
        return 1.0
    return float(np.sqrt(sum((n * p.weights[node]) ** 2 for node, n in times.items())))


def factors(p: ColumnParameters, text: str | None, model: str) -> list[Factor]:
    """One factor for each word that was ever seen; the strongest first."""
    name = column_name(p.name)
    if text is None:
        return [Factor(name, "missing", note="left out")]
    used, unknown = _known(p, features(tokens(text, p.words), p.words))
    texts = {node: feature.text for feature, node in reversed(used)}
    times: dict[int, float] = dict(Counter(node for _, node in used))
    if p.once:
        times = dict.fromkeys(times, 1.0)
    length = _length(p, times)
    result = []
    for node, n in times.items():
        logs = _per_occurrence(p, node) * n / length
        if p.absent is not None:  # log odds and log (1 - p) are log p
            logs = logs + _log_absent(p, node)
        ways = _written(p, node, model, n * p.weights[node] / length)
        terms = tuple(Term(way, exponential(float(log)), float(log)) for way, log in zip(ways, logs))
        result.append(Factor(texts[node], f"×{n:g}", terms, part_of=name))
    result.sort(key=lambda factor: -_spread(factor))
    if p.absent is not None:
        result.append(_absent(p, name, list(times)))
    if unknown:
        result.append(_unknown(name, unknown))
    if not used and not unknown and p.absent is None:
        result.append(Factor(name, "no words", note="left out"))
    return result


def with_columns(factors: list[Factor], columns: int) -> list[Factor]:
    """Where there are several text columns, each word with the name of its own."""
    if columns < 2:
        return factors
    return [replace(each, column=f"{each.part_of}: {each.column}") if each.part_of else each for each in factors]


def _spread(factor: Factor) -> float:
    logs = [term.log for term in factor.terms]
    return max(logs) - min(logs) if min(logs) > -np.inf else np.inf


def _unknown(name: str, unknown: list[str]) -> Factor:
    different = list(dict.fromkeys(unknown))
    listed = ", ".join(different[:8]) + (", …" if len(different) > 8 else "")
    return Factor(name, f"{len(different)} unknown", note=f"never seen, or not used: left out: {listed}")


def _absent(p: ColumnParameters, name: str, present: list[int]) -> Factor:
    """All the words that are not there, together: the product of 1 - p over them."""
    assert p.absent is not None
    log = p.absent.copy()
    others = int(np.count_nonzero(p.weights)) - len(present)
    for node in present:
        log -= _log_absent(p, node)
    if p.n_certain is not None:  # where every document of a class has a word, none can be without it
        log[p.n_certain > sum((_certain(p, node) for node in present), np.zeros(len(log)))] = -np.inf
    terms = tuple(Term(f"{others:,} factors 1 - p", exponential(float(each)), float(each)) for each in log)
    return Factor(name, f"{others:,} absent", terms)


def _log_absent(p: ColumnParameters, node: int) -> Floats:
    """log (1 - p) of one word: log p - log odds, with what is certain left out as in `absent`."""
    counts = _counts(p, node)
    a1 = float(np.max(p.pseudo))
    rest = p.normaliser - a1 - counts
    return np.where(rest > 0, portable.log(np.where(rest > 0, rest, 1) / np.maximum(p.normaliser, 1e-300)), 0.0)


def _certain(p: ColumnParameters, node: int) -> NDArray[np.bool_]:
    """The classes all of whose documents have the word, with nothing imagined."""
    counts = _counts(p, node)
    return (counts > 0) & (p.normaliser - float(np.max(p.pseudo)) - counts <= 0)


def _counts(p: ColumnParameters, node: int) -> Floats:
    """The weighted counts of a node in every class."""
    result = np.zeros(len(p.normaliser))
    cells = slice(int(p.bag.starts[node]), int(p.bag.starts[node + 1]))
    result[p.bag.codes[cells]] = p.bag.numbers()[cells] * p.weights[node]
    return result


def _written(p: ColumnParameters, node: int, model: str, power: float) -> list[str]:
    """The fraction of each class as a person writes it, to the power of the word's count; or e to its weight."""
    if model == "linear":
        return [powers_of_e(float(w), power / max(p.weights[node], 1e-300)) for w in p.table.values(node)]
    counts = _counts(p, node)
    if model == "bernoulli":
        a1 = float(np.max(p.pseudo))
        both = p.normaliser - p.rows
        return [fraction(float(c), a1, float(n), float(b)) for c, n, b in zip(counts, p.rows, both)]
    pseudo = p.pseudo if isinstance(p.pseudo, float) else float(p.pseudo[node])
    imagined = pseudo * np.count_nonzero(p.weights) if isinstance(p.pseudo, float) else float(np.sum(p.pseudo))
    above = counts.sum() - counts if model == "complement" else counts
    below = p.normaliser - imagined
    digits = 6 if p.words.weighting == "tfidf" else 12
    shown = [fraction(float(c), pseudo, float(n), float(imagined), digits) for c, n in zip(above, below)]
    raised = "" if power == 1 else f"^{power:.6g}"
    if model == "complement":
        return [f"1/[{each}]{raised}" for each in shown]
    return [f"[{each}]{raised}" if raised else each for each in shown]


def passage(p: ColumnParameters, text: str | None, best: int, second: int) -> Passage:
    """The text in pieces; each word with how much it speaks for the one class and against the other."""
    if text is None:
        return Passage(column_name(p.name), ())
    read = tokens(text, p.words)
    used, _ = _known(p, features(read, p.words))
    times: dict[int, float] = {}
    shares = np.zeros(len(read))
    touched = np.zeros(len(read), np.bool_)
    for feature, node in used:
        if p.once and node in times:
            continue
        times[node] = times.get(node, 0.0) + 1
        logs = _per_occurrence(p, node)
        with np.errstate(invalid="ignore"):
            weight = float(np.nan_to_num(logs[best] - logs[second], posinf=50, neginf=-50))
        for number in feature.tokens:
            shares[number] += weight / len(feature.tokens)
            touched[number] = True
    shares /= _length(p, times)
    pieces: list[tuple[str, float | None]] = []
    at = 0
    for number, token in enumerate(read):
        if token.begin > at:
            pieces.append((text[at : token.begin], None))
        pieces.append((text[token.begin : token.end], float(shares[number]) if touched[number] else None))
        at = token.end
    if at < len(text):
        pieces.append((text[at:], None))
    return Passage(column_name(p.name), tuple(pieces))


def sample(p: ColumnParameters, model: str, drawn: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
    """Words by their frequencies within the class, as many as its documents have on average (Poisson)."""
    if model == "complement":
        raise InputError("complement weights are no distribution of words, so no text can be drawn; use 'multinomial'")
    if p.words.ngrams != (1, 1) or p.words.hashed:
        what = "hashed words" if p.words.hashed else f"n-grams {p.words.ngrams}"
        raise InputError(
            f"texts cannot be drawn from {what}, which overlap or have no text; use single words, or a LanguageModel"
        )
    nodes = np.flatnonzero(p.weights)
    names = np.array(p.bag.vocabulary.texts(nodes.tolist()), object)
    words = np.array([not name.startswith("[") for name in names], np.bool_)
    nodes, names = nodes[words], names[words]
    result = objects([""] * len(drawn))
    for k in np.unique(drawn).tolist():
        counts = _class_counts(p, k)[nodes]
        rows = np.flatnonzero(drawn == k)
        if model == "bernoulli":
            shares = (counts + float(np.max(p.pseudo))) / p.normaliser[k]
            for row in rows:
                result[row] = " ".join(names[rng.random(len(names)) < shares])
            continue
        pseudo = p.pseudo if isinstance(p.pseudo, float) else p.pseudo[nodes]
        shares = np.cumsum(counts + pseudo)
        mean = counts.sum() / max(float(p.rows[k]), 1e-300) if len(nodes) else 0.0
        for row in rows:
            places = np.searchsorted(shares, rng.random(rng.poisson(mean)) * shares[-1], side="right")
            result[row] = " ".join(names[np.minimum(places, len(names) - 1)])
    return result


def _class_counts(p: ColumnParameters, label: int) -> Floats:
    return np.asarray(p.bag.column(label), np.float64) * p.weights


class TextFamily(Family):
    """A distribution over words for each class and column."""

    def __init__(self, model: str) -> None:
        self.model = model

    def tally(self, chunk: Chunk, block: Texts) -> Tally:
        """How often each class has each word, and in how many documents, as far as the model needs them."""
        found: dict[str, Table | Bag] = {}
        for text, words, reference in zip(block.columns, block.settings, block.references):
            needed = tables(words, self.model == "bernoulli")
            if words.norm is not None:
                found[table_name(text.name, "normalised")] = normalised(chunk, text, words, reference)
            else:
                which = sorted(needed & {"count", "documents"})
                counted_bags = word_features.count(
                    text, words, chunk.coded, chunk.classes, chunk.weights, counts="count" in needed,
                    documents="documents" in needed,
                )  # fmt: skip
                found.update({table_name(text.name, what): bag for what, bag in zip(which, counted_bags)})
            found[table_name(text.name, "rows")] = _rows(chunk, text, words)
        return Tally(found)

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> tuple[ColumnParameters, ...]:
        """Log weights after smoothing."""
        return tuple(self._column(tally, prior, schema, column, classes) for column in columns.tolist())

    def _column(self, tally: Tally, prior: Prior, schema: Schema, column: object, classes: Labels) -> ColumnParameters:
        words = schema.texts[column]
        bernoulli = self.model == "bernoulli"
        bag = tally.bag(table_name(column, counted(words, bernoulli)))
        rows = tally.over(table_name(column, "rows"), classes).floats()
        bag = nothing(words) if bag is None else bag.over(classes)
        weights = node_weights(words, bag, tally, schema, column, float(rows.sum()))
        if bernoulli:
            return presence(column, words, bag, weights, prior, rows)
        pseudo = pseudo_counts(prior, bag.vocabulary, weights, column)
        build = outside if self.model == "complement" else inside
        return build(column, words, bag, weights, pseudo, rows)

    def log_likelihood(
        self, parameters: tuple[ColumnParameters, ...], block: Texts, out: Floats, floor: float | None = None
    ) -> None:
        """Add what the words of each document say."""
        for text, p in zip(block.columns, parameters):
            look, errors = p.lookup(text), p.words.errors
            if p.words.norm is not None:
                squares, own = np.zeros(len(out)), np.zeros_like(out)
                look.score(text.shares(errors), p.table, own, once=p.once, squares=squares)
                out += own / np.sqrt(np.where(squares > 0, squares, 1))[:, np.newaxis]
            else:
                look.score(text.shares(errors), p.table, out, once=p.once)
            if p.absent is not None:
                out[~text.missing(p.words.errors)] += p.absent
            for table, known in ((p.strict, None), (p.certain, p.n_certain)):
                if table is not None:
                    hits = np.zeros((len(out), out.shape[1] + 1))  # in the last column, all that are strict
                    look.score(text.shares(errors), table, hits, once=p.once)
                    wanted = (
                        hits[:, -1:] if known is None else np.where(text.missing(p.words.errors), 0, 1)[:, None] * known
                    )
                    lacking = wanted - hits[:, :-1]
                    with np.errstate(invalid="ignore"):
                        out += np.where(lacking > 0, lacking * (-np.inf if floor is None else floor), 0)

    def factors(self, parameters: tuple[ColumnParameters, ...], block: Texts) -> list[Factor]:
        """What each word says of every class."""
        return [f for p, text in zip(parameters, block.columns) for f in factors(p, only_text(text, p), self.model)]

    def passages(self, parameters: tuple[ColumnParameters, ...], block: Texts, best: int, second: int) -> list[Passage]:
        """The texts, each word with how much it speaks for the one class and against the other."""
        return [passage(p, only_text(text, p), best, second) for p, text in zip(parameters, block.columns)]

    def sample(
        self, parameters: tuple[ColumnParameters, ...], drawn: NDArray[np.intp], rng: np.random.Generator
    ) -> dict[Any, NDArray[Any]]:
        """Texts of words drawn one by one: their order means nothing."""
        return {p.name: sample(p, self.model, drawn, rng) for p in parameters}

    def lengths(self, parameters: tuple[ColumnParameters, ...], block: Texts) -> Floats:
        """How many known words each row has."""
        found = (known_words(p, text, block.n_rows) for p, text in zip(parameters, block.columns))
        return np.asarray(sum(found, np.zeros(block.n_rows)))

    def left_out(self, rows: LearnedRows, prior: Prior, block: Texts) -> Floats:
        """The words of a document are taken from its own class, and words that no other document has are unknown."""
        out = np.zeros((block.n_rows, len(rows.classes)))
        for j, text in enumerate(block.columns):
            short = self._short_way(rows, prior, text)
            out += super().left_out(rows, prior, block.only(j, j + 1)) if short is None else short.scores(prior)
        return out

    def left_out_lengths(self, rows: LearnedRows, prior: Prior, block: Texts) -> Floats:
        """How many words are known without the row itself, if a short way tells."""
        out = np.zeros(block.n_rows)
        for text in block.columns:
            short = self._short_way(rows, prior, text)
            if short is None:
                p = self._column(rows.tally, prior, rows.schema, text.name, rows.classes)
                out += known_words(p, text, block.n_rows)
            else:
                out += short.entries.tokens - short.entries.gone
        return out

    def _short_way(self, rows: LearnedRows, prior: Prior, text: Text) -> LeftOutText | None:
        """The words of a column, read once for any number of priors, where a document changes no more than them."""
        if not _is_short(self.model, rows.schema.texts[text.name], prior):
            return None
        if text.name not in rows.read:
            rows.read[text.name] = LeftOutText(self, rows, prior, text)
        found: LeftOutText = rows.read[text.name]
        return found

    def check(self, tally: Tally) -> None:
        """No class has more documents than rows, words without a document, or a word in more documents than it has."""
        for name in tally:
            if name.startswith("text:"):
                _refuse_without_rows(tally, name)
            if name.startswith("text:") and name.endswith(":documents"):
                _refuse_more_than_rows(tally, name)


def _is_short(model: str, words: Words, prior: Prior) -> bool:
    """Whether leaving a document out changes no more than its own words: no limits, no weights, the same α for all."""
    limits = (words.min_count, words.min_documents, words.max_documents, words.most_frequent, words.max_words)
    return (
        model == "multinomial"
        and words.weighting == "count"
        and words.norm is None
        and limits == (1, 1, 1.0, 0, None)
        and not isinstance(words.min_documents, float)
        and not isinstance(words.max_documents, int)
        and _each(prior, 2) > 0
        and _each(prior, 2) == _each(prior, 3)
        and not any(type(word) is str for word in prior.known(np.zeros(0, np.int64)).tolist())
        and not prior.columns()
    )


def _each(prior: Prior, words: int) -> float:
    """How many of each of so many words are imagined; 0 where that differs from word to word."""
    try:
        found = prior.pseudo_counts(np.arange(words))
    except ValueError:  # a list for values in their order
        return 0.0
    return float(found[0]) if (found == found[0]).all() else 0.0


class LeftOutText:
    """A text column read once, for any number of priors to be tried on.

    With c_jk occurrences of word j in class k, N_k of all words, V words in all and α imaginary ones of each, a
    document of class y with x_j of word j has, words of its own set aside (n° occurrences of V° words),

        k = y:  Σ x_j log(c_jy - x_j + α) - (n - n°) log(N_y - n + α(V - V°))
        k ≠ y:  Σ x_j log(c_jk + α)       - (n - n°) log(N_k     + α(V - V°))
    """

    def __init__(self, family: TextFamily, rows: LearnedRows, prior: Prior, text: Text) -> None:
        self.family, self.rows, self.text = family, rows, text
        p = self._estimate(prior)
        at, nodes, counts = p.lookup(text).entries(text.pieces(p.words.errors), np.ones(len(p.weights), np.bool_))
        if p.once:
            counts = np.ones_like(counts)
        self.entries = loops.left(
            at, nodes, counts, rows.chunk.coded, rows.weights, p.bag.starts, p.bag.codes, p.bag.numbers(),
            totals(p.bag), TOLERANCE if isinstance(p.bag.sums, Real) else 0.0, bool(p.words.hashed),
        )  # fmt: skip

    def _estimate(self, prior: Prior) -> ColumnParameters:
        rows = self.rows
        return self.family._column(rows.tally, prior, rows.schema, self.text.name, rows.classes)

    def scores(self, prior: Prior) -> Floats:
        """The log likelihood of every row without itself (rows × classes)."""
        p = self._estimate(prior)
        alpha = p.pseudo
        assert isinstance(alpha, float)
        chunk = self.rows.chunk
        out = np.zeros((chunk.n_rows, len(self.rows.classes)))
        if not p.weights.any():  # no row that has a weight has a word
            return out
        self.family.log_likelihood((p,), Texts(np.array([0]), len(out), [self.text], [p.words]), out)
        e = self.entries
        y, V = chunk.coded, int(np.count_nonzero(p.weights))
        w = 1.0 if chunk.weights is None else chunk.weights
        kept, within = e.tokens - e.gone, p.normaliser - alpha * V
        imagined = alpha * (V - e.gone_words)
        # A document whose words are all its own has nothing left that is known.
        below = np.log(np.maximum(within + imagined[:, np.newaxis], np.finfo(float).tiny))
        out += e.tokens[:, np.newaxis] * np.log(p.normaliser) - (e.gone * np.log(alpha))[:, np.newaxis]
        out -= kept[:, np.newaxis] * below
        own = np.maximum(within[y] - w * e.tokens, 0) + imagined
        out[np.arange(len(out)), y] = loops.own(e, alpha, len(out)) - kept * np.log(
            np.maximum(own, np.finfo(float).tiny)
        )
        out[kept == 0] = 0.0
        return out


def _rows(chunk: Chunk, text: Text, words: Words) -> Table:
    """How many documents each class has: the rows that are not missing."""
    there = ~text.missing(words.errors)
    codes, n = chunk.coded[there], len(chunk.classes)
    if chunk.weights is None:
        counts = Exact.counts(np.bincount(codes, minlength=n))
    else:
        counts = moments.weights_by_cell(chunk.weights[there], codes.astype(np.int64), n)
    return Table.of({"class": chunk.classes}, counts)


def _refuse_without_rows(tally: Tally, name: str) -> None:
    """Raise where a class has words and no document, or more documents than rows."""
    rows = f"{name.rpartition(':')[0]}:rows"
    classes = tally[name].axes[0]
    documents, all_rows = tally.over(rows, classes).floats(), tally.over("class", classes).floats()
    wrong = np.flatnonzero((documents > all_rows) | (documents <= 0))
    if len(wrong):
        k = int(wrong[0])
        raise ForgetError(
            f"cannot take these rows away: class {classes.tolist()[k]!r} would have {all_rows[k]:g} rows left, "
            f"{documents[k]:g} documents in '{rows}', and words in them; only rows that were learned can be forgotten"
        )


def _refuse_more_than_rows(tally: Tally, name: str) -> None:
    bag = tally.bag(name)
    assert bag is not None
    rows = tally.over(name.removesuffix("documents") + "rows", bag.classes).floats()
    slack = TOLERANCE if isinstance(bag.sums, Real) else 0.0  # sums of fractions are rounded as they are added
    over = np.flatnonzero(bag.sums.floats() > rows[bag.codes] * (1 + slack))
    if len(over):
        cell = int(over[0])
        node = int(np.searchsorted(bag.starts, cell, "right")) - 1
        raise ForgetError(
            f"cannot take these rows away: class {bag.classes.tolist()[bag.codes[cell]]!r} would have "
            f"{rows[bag.codes[cell]]:g} documents left and {bag.vocabulary.texts([node])[0]!r} in "
            f"{bag.sums.floats()[cell]:g} of them; only rows that were learned can be forgotten"
        )


def only_text(text: Text, p: ColumnParameters) -> str | None:
    """The text of a block of one row; None where it is missing."""
    (piece,) = text.pieces(p.words.errors)
    if piece.missing is not None and piece.missing[0]:
        return None
    return bytes(piece.data[int(piece.offsets[0]) : int(piece.offsets[1])]).decode()
