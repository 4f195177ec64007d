"""Which of the words that were seen are used, and what each counts: limits, inverse document frequencies, priors."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.family import IMPOSSIBLE
from ingenuo.kernels import lookup as loops
from ingenuo.kernels import moments, portable
from ingenuo.kernels import text as kernel
from ingenuo.kernels.lookup import Lookup, Raw
from ingenuo.kernels.threads import run, width
from ingenuo.kernels.vocabulary import add_cells
from ingenuo.rows.part import Chunk, Share, Text, Texts
from ingenuo.rows.schema import Reference, Schema, column_name
from ingenuo.show.arithmetic import Floats, logs
from ingenuo.tally.bag import Bag
from ingenuo.tally.exact import Exact, Real
from ingenuo.tally.labels import Labels, labels_of
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally
from ingenuo.tally.vocabulary import Vocabulary
from ingenuo.text.tokens import Translation, changes, translation
from ingenuo.text.words import Words

# Counting the words of a text column on all threads, and looking them up again.


Array = NDArray[Any]

# Whole weights are added as 64-bit integers up to this sum: a word may then be four million times in every document.
_MOST = float(1 << 40)


def style(words: Words, *, separated: bool = False) -> kernel.Style:
    """How the settings have documents cut into words."""
    return kernel.style(words.lowercase, words.shortest, words.cues, words.contractions, separated)


def count(
    text: Text,
    words: Words,
    labels: NDArray[np.int32],
    classes: Labels,
    weights: NDArray[np.float64] | None = None,
    *,
    counts: bool = True,
    documents: bool = False,
    bounded: bool = False,
    separated: bool = False,
) -> list[Bag]:
    """How often each class has each word or n-gram, and in how many documents: the bags that are asked for.

    With `bounded`, documents begin with as many <s> as n-grams look back, and end with </s>. With `separated`, the
    words are given, apart by the byte 0x1F.
    """
    how = style(words, separated=separated)
    changed = _translation(text, words, how) if changes(words) else None
    weighted, real = _weights(weights)
    buckets = words.hashed.bit_length() - 1 if words.hashed else 0
    counters: list[kernel.Counter] = []
    for shares in text.shares(words.errors, labels):
        while len(counters) < min(width(), len(shares)):
            counter = kernel.Counter(
                how, words.ngrams, counts=counts, documents=documents, bounded=bounded, buckets=buckets, real=real,
                room=(len(shares) - 1) << 12,
            )  # fmt: skip
            if changed is not None:
                counter.translate(*changed)
            counters.append(counter)
        waiting = deque(shares)
        run([partial(_count, counter, waiting, labels, weighted) for counter in counters])
    if not counters:
        counters = [kernel.Counter(how, words.ngrams, counts=counts, documents=documents, buckets=buckets, real=real)]
    results = run([counter.finish for counter in counters])
    counters.clear()  # whose tables are larger than what they have counted
    vocabulary, starts, codes, values = _merged(results, buckets)
    bags = []
    for column in values.T:
        sums = Real(column.copy()) if real else Exact.counts(np.ascontiguousarray(column))
        bags.append(Bag(vocabulary, classes, starts, codes, sums).trimmed())
    return bags


def _count(counter: kernel.Counter, waiting: deque[Callable[[], Share]], labels: Array, weights: Array | None) -> None:
    """Count the shares that are left, one after the other: a thread that is slower takes fewer."""
    while True:
        try:
            share = waiting.popleft()
        except IndexError:
            return
        piece, rows, places = share()
        here = None if weights is None else weights[places]
        counter.count(piece.data, piece.offsets, np.asarray(rows), labels[places], here)


def _weights(weights: NDArray[np.float64] | None) -> tuple[Array | None, bool]:
    """Weights as integers where they are whole; and whether they are not."""
    if weights is None:
        return None, False
    if weights.sum() > _MOST:
        return weights, True
    whole = weights.astype(np.int64)
    return (whole, False) if np.array_equal(whole, weights) else (weights, True)


def _merged(results: list[kernel.Counted], buckets: int) -> tuple[Vocabulary, Array, Array, Array]:
    """What the threads have counted, together."""
    first, *others = results
    vocabulary = _vocabulary(first, buckets)
    starts, codes, values = first.starts, first.codes, first.values
    for other in others:
        vocabulary, a, b = vocabulary.unite(_vocabulary(other, buckets))
        theirs = b, other.starts, other.codes, other.values
        starts, codes, values = add_cells((a, starts, codes, values), theirs, len(vocabulary))
    return vocabulary, starts, codes, values


def _vocabulary(counted: kernel.Counted, buckets: int) -> Vocabulary:
    return Vocabulary(counted.data, counted.ends, counted.hashes, counted.parents, counted.lasts, buckets)


def _translation(text: Text, words: Words, how: kernel.Style) -> Translation:
    return translation(words, distinct(text, words, how) if words.stem else ())


def distinct(text: Text, words: Words, how: kernel.Style) -> list[str]:
    """The words of a text column, each once, as they stand."""
    counter = kernel.Counter(how)
    for piece in text.pieces(words.errors):
        rows = np.arange(piece.n_rows)
        rows = rows if piece.missing is None else rows[~piece.missing]
        counter.count(piece.data, piece.offsets, rows, np.zeros(piece.n_rows, np.int32))
    return _vocabulary(counter.finish(), 0).words()


def lookup(vocabulary: Vocabulary, words: Words, text: Text | None = None, *, separated: bool = False) -> Lookup:
    """The tables to look the words of texts up in; where words are stemmed, those of this text."""
    how = style(words, separated=separated)
    if not changes(words):
        return Lookup(vocabulary, how, words.ngrams)
    found = translation(words, distinct(text, words, how) if words.stem and text is not None else ())
    mentioned = Vocabulary.of(word for word in (*found.words, *found.into, *found.besides) if word is not None)
    own = Vocabulary.of(()) if vocabulary.buckets else _single(vocabulary)
    table, at, theirs = own.unite(mentioned)
    into, besides = np.arange(len(table), dtype=np.int32), np.full(len(table), -1, np.int32)
    nodes = np.full(len(table) + 1, -1, np.int64)  # the last: what is not known at all
    nodes[at] = np.arange(len(at))
    places = dict(zip(mentioned.words(), theirs.tolist()))
    rows = [places[word] for word in found.words]
    into[rows] = [-1 if word is None else places[word] for word in found.into]
    besides[rows] = [-1 if word is None else places[word] for word in found.besides]
    return Lookup(vocabulary, how, words.ngrams, Raw(table, into, besides, nodes))


def _single(vocabulary: Vocabulary) -> Vocabulary:
    """Only its words."""
    return Vocabulary(vocabulary.data, vocabulary.ends, vocabulary.hashes[:1])


_NO_CODES = np.zeros(0, np.int32)
_NO_FLOATS = np.zeros(0)


def table_name(column: object, what: str) -> str:
    """The name of one of a column's tables: its rows, counts, documents, or normalised counts."""
    return f"text:{column}:{what}"


def counted(words: Words, bernoulli: bool) -> str:
    """Which of a column's tables the model is estimated from."""
    if words.norm is not None:
        return "normalised"
    return "documents" if words.binary or bernoulli else "count"


def tables(words: Words, bernoulli: bool) -> set[str]:
    """The bags that a column needs."""
    limits = _document_limits(words) != (None, None)
    needed = {counted(words, bernoulli)}
    if words.norm is None and (words.weighting == "tfidf" or limits):
        needed.add("documents")
    return needed


def inverse_frequencies(documents: NDArray[Any], rows: float) -> Floats:
    """ln((1 + n) / (1 + df)) + 1: as if one more document had every word."""
    return np.asarray(portable.log((1 + rows) / (1 + documents.astype(np.float64))) + 1)


def totals(bag: Bag) -> NDArray[Any]:
    """The sum of each node over the classes."""
    values = bag.numbers()
    if values.dtype.kind == "f":  # a running sum would lose what is small beside it
        return np.bincount(bag.owners(), values, len(bag.vocabulary))
    ends = np.append(0, np.cumsum(values))
    return np.asarray(ends[bag.starts[1:]] - ends[bag.starts[:-1]])


def nothing(words: Words) -> Bag:
    """The bag of a column in which no word was seen."""
    none = np.zeros(0, np.int32)
    buckets = words.hashed.bit_length() - 1 if words.hashed else 0
    levels = words.ngrams[1] - 1
    hashes = tuple(np.zeros(0, np.uint64) for _ in range(levels + 1))
    vocabulary = Vocabulary(
        np.zeros(0, np.uint8), np.zeros(0, np.int64), hashes, (none,) * levels, (none,) * levels, buckets
    )
    return Bag(vocabulary, labels_of(()), np.zeros(len(vocabulary) + 1, np.int64), none, Exact.zeros((0,)))


def features(
    words: Words, vocabulary: Vocabulary, counts: NDArray[Any], documents: NDArray[Any], rows: float
) -> Floats:
    """1 for each node that is used, 0 for the others."""
    if words.hashed:
        return np.ones(len(vocabulary))
    kept = counts > 0
    # The least and the most that can be are no limits: with fractions as weights, a word may count less than 1.
    if words.min_count > 1:
        kept &= counts >= words.min_count
    fewest, most = _document_limits(words)
    if fewest is not None:
        kept &= documents >= (fewest if isinstance(fewest, int) else fewest * rows)
    if most is not None:
        kept &= documents <= (most if isinstance(most, int) else most * rows)
    if words.most_frequent:
        kept &= ~_with_frequent(vocabulary, counts, words.most_frequent)
    if words.max_words is not None and int(kept.sum()) > words.max_words:
        kept = _first(vocabulary, counts, kept, words.max_words)
    return kept.astype(np.float64)


def node_weights(words: Words, bag: Bag, tally: Tally, schema: Schema, column: object, rows: float) -> Floats:
    """What an occurrence of each node counts; 0: it is not used."""
    reference = schema.references.get(column)
    if reference is not None:
        return reference_weights(words, reference, bag.vocabulary)
    counts = totals(bag)
    documents = tally.bag(table_name(column, "documents"))
    frequencies = counts if documents is None or documents is bag else totals(documents)
    if len(frequencies) != len(counts):  # nothing is counted any more
        frequencies = counts
    if documents is None and not words.binary:  # then no limit asks for them
        frequencies = np.minimum(counts, 1)
    used = features(words, bag.vocabulary, counts, frequencies, rows)
    return used * inverse_frequencies(frequencies, rows) if words.weighting == "tfidf" else used


def _document_limits(words: Words) -> tuple[int | float | None, int | float | None]:
    """The fewest and the most documents of a word, as a number or a share; None where that is no limit."""
    fewest, most = words.min_documents, words.max_documents
    return (
        None if fewest == 1 and isinstance(fewest, int) else fewest,
        None if most == 1 and isinstance(most, float) else most,
    )


def _ranked(vocabulary: Vocabulary, sums: NDArray[Any], among: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """The n nodes with the largest sums; of equal ones, the first by their texts."""
    if len(among) <= n:
        return among
    edge = np.partition(sums[among], len(among) - n)[len(among) - n]
    above, at = among[sums[among] > edge], among[sums[among] == edge]
    texts = vocabulary.texts(at.tolist())
    by_text = sorted(range(len(at)), key=texts.__getitem__)[: n - len(above)]
    return np.concatenate([above, at[by_text]])


def _first(vocabulary: Vocabulary, sums: NDArray[Any], kept: NDArray[np.bool_], n: int) -> NDArray[np.bool_]:
    result = np.zeros(len(kept), np.bool_)
    result[_ranked(vocabulary, sums, np.flatnonzero(kept), n)] = True
    return result


def _with_frequent(vocabulary: Vocabulary, sums: NDArray[Any], n: int) -> NDArray[np.bool_]:
    """The n most frequent words, and every n-gram that has one of them."""
    found = np.zeros(len(vocabulary), np.bool_)
    words = sums[: vocabulary.levels[1]]
    for level in range(1, vocabulary.order):
        if not words.any():  # n-grams without words among them: a word is as frequent as what ends with it
            ending = sums[vocabulary.levels[level] : vocabulary.levels[level + 1]]
            words = np.bincount(vocabulary.lasts[level - 1], ending, len(words))
    found[_ranked(vocabulary, words, np.arange(len(words)), n)] = True
    for level in range(1, vocabulary.order):
        above = found[vocabulary.levels[level - 1] : vocabulary.levels[level]]
        found[vocabulary.levels[level] : vocabulary.levels[level + 1]] = (
            above[vocabulary.parents[level - 1]] | found[vocabulary.lasts[level - 1]]
        )
    return found


def refuse_empty(tally: Tally, schema: Schema, column: object, family: str) -> None:
    """Raise where no word of a column was seen, or none was left by the limits."""
    words = schema.texts[column]
    bag = tally.bag(table_name(column, counted(words, family == "words-bernoulli")))
    name = column_name(column)
    if bag is None:
        raise InputError(
            f"column {name!r} has no word in any row, or only stop words; give texts, declare the column as something "
            "else, or take fewer stop words or token=r'\\w+'"
        )
    limits = words.min_count > 1 or words.most_frequent > 0 or words.norm is not None
    if not limits and _document_limits(words) == (None, None) and len(bag.codes):
        return  # every word that was seen is used
    rows = tally.over(table_name(column, "rows"), tally.labels("class", 0)).floats().sum()
    if not node_weights(words, bag, tally, schema, column, float(rows)).any():
        raise InputError(
            f"the limits left none of the {len(bag.vocabulary):,} words of column {name!r}: "
            f"min_count={words.min_count}, min_documents={words.min_documents}, max_documents={words.max_documents}, "
            f"stop_words={words.most_frequent}; relax them"
        )


def pseudo_counts(prior: Prior, vocabulary: Vocabulary, weights: Floats, column: object) -> Floats | float:
    """Imaginary occurrences: one number where they are the same for every word that is used, else one for each."""
    used = int(np.count_nonzero(weights))
    named = [] if vocabulary.buckets else [w for w in prior.known(labels_of(()), column).tolist() if type(w) is str]
    nodes = vocabulary.find(named) if named else np.zeros(0, np.int64)
    if (nodes >= 0).any():
        result = np.zeros(len(vocabulary))
        result[nodes[nodes >= 0]] = prior.pseudo_counts(labels_of(named), column)[np.argsort(np.argsort(named))][
            nodes >= 0
        ]
        return np.where(weights != 0, result, 0.0)
    each = prior.pseudo_counts(np.arange(used), column)
    if len(each) == 0 or (each == each[0]).all():
        return float(each[0]) if len(each) else 0.0
    raise InputError(
        f"the prior gives column {column_name(column)!r} a list of {len(each)} numbers; words have no order, so give a "
        "mapping from word to number"
    )


# L2: counts are divided by the length of the document's vector, which depends on the weights of all its words. So
# those weights are fixed by the first rows, and every row after them is measured by the same.


def reference_sums(chunk: Chunk, measured: Collection[str]) -> Tally:
    """The counts and document frequencies of some rows, for the columns whose documents are of unit length."""
    found: dict[str, Any] = {}
    for block in chunk.blocks.values():
        for text, words in zip(block.columns, block.settings) if isinstance(block, Texts) else ():
            name = column_name(text.name)
            if name not in measured:
                continue
            everything, one = np.zeros(chunk.n_rows, np.int32), labels_of(["all"])
            counts, documents = count(text, words, everything, one, chunk.weights, counts=True, documents=True)
            there = ~text.missing(words.errors)
            weights = there.astype(np.float64) if chunk.weights is None else chunk.weights * there
            rows = moments.weights_by_cell(weights, everything.astype(np.int64), 1)
            found |= {f"counts {name}": counts, f"documents {name}": documents}
            found[f"rows {name}"] = Table.of({"class": one}, rows)
    return Tally(found)


def measured_texts(texts: Mapping[Any, Words]) -> list[str]:
    """The columns whose documents are of unit length."""
    return [column_name(name) for name, words in texts.items() if words.norm is not None]


def references_of(tally: Tally, texts: Mapping[Any, Words]) -> dict[Any, Reference]:
    """What all rows will be measured by, from those sums over the first rows."""
    found = {}
    for name, words in texts.items():
        counts, documents = (tally.bag(f"{what} {column_name(name)}") for what in ("counts", "documents"))
        if words.norm is None or counts is None or documents is None:
            continue
        rows = float(tally.over(f"rows {column_name(name)}", labels_of(["all"])).floats()[0])
        sums = totals(documents if words.binary else counts).astype(np.float64)
        found[name] = Reference(counts.vocabulary, sums, totals(documents).astype(np.float64), rows)
    return found


def reference_weights(words: Words, reference: Reference, vocabulary: Vocabulary) -> Floats:
    """The inverse document frequencies of a vocabulary's nodes; 0 for those that the reference has not, or not used."""
    used = features(words, reference.vocabulary, reference.counts, reference.documents, reference.rows)
    united, own, theirs = vocabulary.unite(reference.vocabulary)
    weights = np.zeros(len(united))
    weights[theirs] = used * inverse_frequencies(reference.documents, reference.rows)
    return np.asarray(weights[own])


def normalised(chunk: Chunk, text: Text, words: Words, reference: Reference | None) -> Bag:
    """Counts over the lengths of the documents' vectors."""
    assert reference is not None, "rows of unit length need the weights that measure them"
    weights = reference_weights(words, reference, reference.vocabulary)
    squares = np.zeros(chunk.n_rows)
    table = loops.pack(np.zeros(len(weights) + 1, np.int64), _NO_CODES, _NO_FLOATS, weights != 0, _NO_FLOATS, weights)
    look = lookup(reference.vocabulary, words, text)
    look.score(text.shares(words.errors), table, np.zeros((chunk.n_rows, 0)), once=words.binary, squares=squares)
    shares = 1 / np.sqrt(np.where(squares > 0, squares, 1))
    if chunk.weights is not None:
        shares = shares * chunk.weights
    (result,) = count(text, words, chunk.coded, chunk.classes, shares, counts=not words.binary, documents=words.binary)
    return result


# From the counts of words to what each adds to the log joint of each class.


@dataclass
class ColumnParameters:
    """The log weights of one column's words."""

    name: object
    words: Words
    bag: Bag  # over all the classes
    weights: Floats  # what an occurrence of each node counts; 0: it is left out
    pseudo: Floats | float
    table: loops.Table
    normaliser: Floats  # (classes,): what the counts are divided by
    rows: Floats  # (classes,): the documents of each
    absent: Floats | None = None  # (classes,): what a document without any word adds, where absence is evidence
    strict: loops.Table | None = None  # ones where a class has a word that is impossible in the other classes
    certain: loops.Table | None = None  # ones where every document of a class has the word
    n_certain: Floats | None = None
    look: loops.Lookup | None = None

    def lookup(self, text: Text) -> loops.Lookup:
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


def known_words(p: ColumnParameters, text: Text, n_rows: int) -> Floats:
    """How many words of each document are among those that are used."""
    out = np.zeros((n_rows, 1))
    starts = np.zeros(len(p.weights) + 1, np.int64)
    table = loops.pack(starts, np.zeros(0, np.int32), _NO_FLOATS, p.weights != 0, np.ones(1))
    p.lookup(text).score(text.shares(p.words.errors), table, out, once=p.once)
    return np.asarray(out[:, 0])


def _cells(bag: Bag, weights: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The node of each cell, and its count times the node's weight."""
    owners = bag.owners()
    return owners, bag.numbers() * weights[owners]


def _with_whole(bag: Bag, weights: Floats, classes: int) -> Bag:
    """The bag with the counts of the whole column for the classes that have none of the words that are used."""
    owners, counts = _cells(bag, weights)
    empty = np.flatnonzero(np.bincount(bag.codes, counts, classes) <= 0)
    if not len(empty) or not counts.any():
        return bag
    whole = totals(bag)
    nodes = np.flatnonzero(whole)
    values = np.concatenate([bag.numbers(), np.tile(whole[nodes], len(empty))])
    codes = np.concatenate([bag.codes, np.repeat(empty, len(nodes)).astype(np.int32)])
    owners = np.concatenate([owners, np.tile(nodes, len(empty))])
    kept = values != 0
    order = np.lexsort((codes[kept], owners[kept]))
    starts = np.append(0, np.cumsum(np.bincount(owners[kept], minlength=len(bag.vocabulary))))
    sums = Real(values[kept][order].astype(np.float64))
    return Bag(bag.vocabulary, bag.classes, starts, codes[kept][order], sums)


def inside(
    column: object, words: Words, bag: Bag, weights: Floats, pseudo: Floats | float, rows: Floats
) -> ColumnParameters:
    """Log frequencies within each class."""
    if not np.any(pseudo):
        bag = _with_whole(bag, weights, len(rows))
    owners, counts = _cells(bag, weights)
    classes = len(rows)
    a = np.where(weights != 0, pseudo, 0.0)
    below = np.bincount(bag.codes, counts, classes) + a.sum()
    log_below = logs(np.where(below > 0, below, 1))
    each = weights[owners]
    if isinstance(pseudo, float) and pseudo > 0:
        values = each * (portable.log(counts + pseudo) - portable.log(pseudo))
        table = _table(bag, values, weights, portable.log(pseudo) - log_below)
        return ColumnParameters(column, words, bag, weights, pseudo, table, below, rows)
    log_a = logs(np.where(a > 0, a, 1))
    values = each * (portable.log(np.where(each != 0, counts, 1) + a[owners]) - log_a[owners])
    table = _table(bag, values, weights, -log_below, weights * log_a)
    strict = _ones(bag, (weights != 0) & (a == 0), None, classes)
    return ColumnParameters(column, words, bag, weights, pseudo, table, below, rows, strict=strict)


def outside(
    column: object, words: Words, bag: Bag, weights: Floats, pseudo: Floats | float, rows: Floats
) -> ColumnParameters:
    """Negative log frequencies outside each class."""
    owners, counts = _cells(bag, weights)
    classes = len(rows)
    a = np.where(weights != 0, pseudo, 0.0)
    within = np.bincount(bag.codes, counts, classes)
    below = within.sum() - within + a.sum()
    whole = np.bincount(owners, counts, len(weights))
    each = weights[owners]
    log_whole = logs(np.where(weights != 0, whole + a, 1))
    rest = np.maximum(logs(np.maximum(np.where(each != 0, whole[owners] - counts + a[owners], 1), 0)), IMPOSSIBLE)
    values = -each * (rest - log_whole[owners])
    constant = logs(np.where(below > 0, below, 1))
    table = _table(bag, values, weights, constant, -weights * log_whole)
    return ColumnParameters(column, words, bag, weights, pseudo, table, below, rows)


def presence(column: object, words: Words, bag: Bag, weights: Floats, prior: Prior, rows: Floats) -> ColumnParameters:
    """Log odds of being there, and the log probability that nothing is."""
    a0, a1 = (float(a) for a in prior.pseudo_counts(np.array([False, True])))
    owners, counts = _cells(bag, weights)
    used, n = weights[owners] != 0, rows[bag.codes]
    with np.errstate(divide="ignore", invalid="ignore"):
        missing = np.maximum(n - counts, 0) + a0
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
    features_used = int(np.count_nonzero(weights))
    absent = (features_used - size) * (none - below)
    absent += np.bincount(bag.codes, np.where(used & ~certain, log_absent - below_cell, 0.0), len(rows))
    strict = None if a1 > 0 else _ones(bag, weights != 0, None, len(rows))
    sure = _ones(bag, weights != 0, certain, len(rows)) if certain.any() else None
    n_certain = np.bincount(bag.codes[certain], minlength=len(rows)).astype(np.float64)
    return ColumnParameters(
        column, words, bag, weights, a1, table, rows + a0 + a1, rows, absent, strict, sure, n_certain
    )


def _ones(bag: Bag, nodes: NDArray[np.bool_], cells: NDArray[np.bool_] | None, classes: int) -> loops.Table:
    """A table that counts, for each class, the nodes of these that it has; one column more counts them all."""
    values = np.where(nodes[bag.owners()], 1.0, 0.0)
    if cells is not None:
        values = np.where(cells, values, 0.0)
    constant = np.zeros(classes + 1)
    constant[-1] = 1.0
    return loops.pack(bag.starts, bag.codes, values, nodes, constant)


def _table(bag: Bag, values: Floats, weights: Floats, constant: Floats, base: Floats = _NO_FLOATS) -> loops.Table:
    """The table of these cells; weights that are all 0 or 1 need not be looked up."""
    used = weights != 0
    plain = bool((weights[used] == 1).all())
    return loops.pack(bag.starts, bag.codes, values, used, constant, _NO_FLOATS if plain else weights, base)
