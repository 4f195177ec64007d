"""Words of text columns: counted on all threads and looked up; which of them are used, and what each counts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.families.family import count_cells
from ingenuo.kernels import portable
from ingenuo.kernels import text as kernel
from ingenuo.kernels.text import Lookup, Raw, add_cells
from ingenuo.kernels.threads import run, width
from ingenuo.language import say
from ingenuo.rows.part import Chunk, Share, Text, Texts, is_arrow, text_columns
from ingenuo.rows.schema import Reference, Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats
from ingenuo.tally.bag import Bag, Vocabulary
from ingenuo.tally.exact import Exact, Real
from ingenuo.tally.labels import Labels, labels_of, objects
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally
from ingenuo.text.tokens import changes, translation
from ingenuo.text.words import Words

Array = NDArray[Any]

# Whole weights are added as 64-bit integers up to this sum: a word may then be four million times in every document.
_MOST = float(1 << 40)


def _style(words: Words, separated: bool) -> kernel.Style:
    """How the settings have documents cut into words."""
    separated = separated or not words.shortest  # then they come cut
    shape = words.lowercase, words.shortest, words.cues, words.contractions
    return kernel.Style.of(*shape, separated, words.characters)


def _buckets(words: Words) -> int:
    return words.hashed.bit_length() - 1 if words.hashed else 0


def count(
    text: Text, words: Words, labels: NDArray[np.int32], classes: Labels, weights: Floats | None = None, *,
    counts: bool = True, documents: bool = False, bounded: bool = False, separated: bool = False,
) -> list[Bag]:  # fmt: skip
    """How often each class has each word or n-gram, and in how many documents: the bags that are asked for.

    With `bounded`, documents begin with as many <s> as n-grams look back, and end with </s>. With `separated`, the
    words are given, separated by the byte 0x1F.
    """
    how, buckets = _style(words, separated), _buckets(words)
    changed = translation(words, distinct(text, words, how) if words.stem else ()) if changes(words) else None
    weighted: Array | None = weights
    real = weights is not None  # and not whole, which is added as 64-bit integers
    if weights is not None and weights.sum() <= _MOST:
        whole = weights.astype(np.int64)
        real = not np.array_equal(whole, weights)
        weighted = weights if real else whole
    counter = partial(kernel.Counter, how, words.ngrams, counts=counts, documents=documents, buckets=buckets, real=real)
    counters: list[kernel.Counter] = []
    for shares in text.shares(words, labels):
        while len(counters) < min(width(), len(shares)):
            counters.append(counter(bounded=bounded, room=(len(shares) - 1) << 12))
            if changed is not None:
                counters[-1].translate(*changed)
        waiting = deque(shares)
        run([partial(_count, each, waiting, labels, weighted) for each in counters])
    first, *others = run([each.finish for each in counters or [counter()]])
    counters.clear()  # whose tables are larger than what they have counted
    vocabulary, starts, codes, values = _vocabulary(first, buckets), first.starts, first.codes, first.values
    for other in others:
        vocabulary, a, b = vocabulary.unite(_vocabulary(other, buckets))
        theirs = b, other.starts, other.codes, other.values
        starts, codes, values = add_cells((a, starts, codes, values), theirs, len(vocabulary))
    sums = [Real(each.copy()) if real else Exact.counts(np.ascontiguousarray(each)) for each in values.T]
    return [Bag(vocabulary, classes, starts, codes, each).trimmed() for each in sums]


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


def _vocabulary(counted: kernel.Counted, buckets: int) -> Vocabulary:
    return Vocabulary(counted.data, counted.ends, counted.hashes, counted.parents, counted.lasts, buckets)


def distinct(text: Text, words: Words, how: kernel.Style) -> list[str]:
    """The words of a text column, each once, as they stand."""
    counter = kernel.Counter(how)
    for piece in text.cut(words):
        rows = np.arange(piece.n_rows)
        rows = rows if piece.missing is None else rows[~piece.missing]
        counter.count(piece.data, piece.offsets, rows, np.zeros(piece.n_rows, np.int32))
    return _vocabulary(counter.finish(), 0).words()


def lookup(vocabulary: Vocabulary, words: Words, text: Text | None = None, *, separated: bool = False) -> Lookup:
    """The tables to look the words of texts up in; where words are stemmed, those of this text."""
    how = _style(words, separated)
    if not changes(words):
        return Lookup(vocabulary, how, words.ngrams)
    found = translation(words, distinct(text, words, how) if words.stem and text is not None else ())
    mentioned = Vocabulary.of(word for word in (*found.words, *found.into, *found.also) if word is not None)
    own = Vocabulary.of(())
    if not vocabulary.buckets:
        own = Vocabulary(vocabulary.data, vocabulary.ends, vocabulary.hashes[:1])
    table, at, theirs = own.unite(mentioned)
    into, besides = np.arange(len(table), dtype=np.int32), np.full(len(table), -1, np.int32)
    nodes = np.full(len(table) + 1, -1, np.int64)  # the last: what is not known at all
    nodes[at] = np.arange(len(at))
    places = dict(zip(mentioned.words(), theirs.tolist()))
    rows = [places[word] for word in found.words]
    into[rows] = [-1 if word is None else places[word] for word in found.into]
    besides[rows] = [-1 if word is None else places[word] for word in found.also]
    return Lookup(vocabulary, how, words.ngrams, Raw(table, into, besides, nodes))


_NO_CODES = np.zeros(0, np.int32)
_NO_FLOATS = np.zeros(0)


def table_name(column: object, what: str) -> str:
    """The name of one of a column's tables: its rows, counts, documents, or normalised counts."""
    return f"text:{column}:{what}"


def counted_as(words: Words, bernoulli: bool) -> str:
    """Which of a column's tables the model is estimated from."""
    if words.norm is not None:
        return "normalised"
    return "documents" if words.binary or bernoulli else "count"


def tables_of(words: Words, bernoulli: bool) -> set[str]:
    """The bags that a column needs."""
    documents = words.norm is None and (words.weighting == "tfidf" or _document_limits(words) != (None, None))
    return {counted_as(words, bernoulli), *(["documents"] if documents else [])}


def _inverse_frequencies(documents: NDArray[Any], rows: float) -> Floats:
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
    levels = words.ngrams[1] - 1
    hashes, nodes = (np.zeros(0, np.uint64),) * (levels + 1), (_NO_CODES,) * levels
    vocabulary = Vocabulary(np.zeros(0, np.uint8), np.zeros(0, np.int64), hashes, nodes, nodes, _buckets(words))
    return Bag(vocabulary, labels_of(()), np.zeros(len(vocabulary) + 1, np.int64), _NO_CODES, Exact.zeros((0,)))


def _used(words: Words, vocabulary: Vocabulary, counts: NDArray[Any], documents: NDArray[Any], rows: float) -> Floats:
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
        chosen = _ranked(vocabulary, counts, np.flatnonzero(kept), words.max_words)
        kept = np.zeros(len(kept), np.bool_)
        kept[chosen] = True
    return kept.astype(np.float64)


def node_weights(words: Words, bag: Bag, tally: Tally, schema: Schema, column: object, rows: float) -> Floats:
    """What an occurrence of each node counts; 0: it is not used."""
    reference = schema.references.get(column)
    if reference is not None:
        return _reference_weights(words, reference, bag.vocabulary)
    counts = totals(bag)
    documents = tally.bag(table_name(column, "documents"))
    frequencies = counts if documents is None or documents is bag else totals(documents)
    if len(frequencies) != len(counts):  # nothing is counted any more
        frequencies = counts
    if documents is None and not words.binary:  # then no limit asks for them
        frequencies = np.minimum(counts, 1)
    return weigh(words, bag.vocabulary, counts, frequencies, rows)


def weigh(words: Words, vocabulary: Vocabulary, counts: NDArray[Any], documents: NDArray[Any], rows: float) -> Floats:
    """The same from sums over some documents: how often each node is there, and in how many of them."""
    used = _used(words, vocabulary, counts, documents, rows)
    return used * _inverse_frequencies(documents, rows) if words.weighting == "tfidf" else used


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


def _word_sums(vocabulary: Vocabulary, sums: NDArray[Any]) -> NDArray[Any]:
    """The sums of single words; where n-grams have none among them, a word is as frequent as what ends with it."""
    words = sums[: vocabulary.levels[1]]
    for level in range(1, vocabulary.order):
        if not words.any():
            ending = sums[vocabulary.levels[level] : vocabulary.levels[level + 1]]
            words = np.bincount(vocabulary.lasts[level - 1], ending, len(words))
    return words


def stopped_words(tally: Tally, schema: Schema) -> dict[str, list[str]]:
    """Of the columns whose most frequent words are left out: which these are, the most frequent first."""
    found = {}
    for column, words in schema.texts.items():
        reference = schema.references.get(column)
        bag = tally.bag(table_name(column, counted_as(words, schema.family(column) == "words-bernoulli")))
        if not words.most_frequent or bag is None:
            continue
        vocabulary = bag.vocabulary if reference is None else reference.vocabulary
        sums = _word_sums(vocabulary, totals(bag) if reference is None else reference.counts)
        nodes = _ranked(vocabulary, sums, np.arange(len(sums)), words.most_frequent)
        pairs = zip((-sums[nodes]).tolist(), vocabulary.texts(nodes.tolist()))
        found[column_name(column)] = [word for _, word in sorted(pairs)]
    return found


def _with_frequent(vocabulary: Vocabulary, sums: NDArray[Any], n: int) -> NDArray[np.bool_]:
    """The n most frequent words, and every n-gram that has one of them."""
    found = np.zeros(len(vocabulary), np.bool_)
    words = _word_sums(vocabulary, sums)
    found[_ranked(vocabulary, words, np.arange(len(words)), n)] = True
    for level in range(1, vocabulary.order):
        above = found[vocabulary.levels[level - 1] : vocabulary.levels[level]]
        found[vocabulary.levels[level] : vocabulary.levels[level + 1]] = (
            above[vocabulary.parents[level - 1]] | found[vocabulary.lasts[level - 1]]
        )
    return found


def left_out(column: str, words: Iterable[str], *, unknown: bool = True) -> list[Factor]:
    """A line of an explanation for the words of a text that say nothing, if there are any."""
    each = list(dict.fromkeys(words))
    listed = ", ".join(each[:8]) + (", …" if len(each) > 8 else "")
    why = say(
        "never seen: left out: {words}" if unknown else "stop words, or cut by the limits: left out: {words}",
        words=listed,
    )
    what = say("{n} unknown" if unknown else "{n} unused", n=len(each))
    return [Factor(column, what, note=why)] if each else []


def refuse_empty(tally: Tally, schema: Schema, column: object, family: str) -> None:
    """Raise where no word of a column was seen, or none was left by the limits."""
    words = schema.texts[column]
    bag = tally.bag(table_name(column, counted_as(words, family == "words-bernoulli")))
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
        result, known = np.zeros(len(vocabulary)), nodes >= 0
        each = prior.pseudo_counts(labels_of(named), column)[np.argsort(np.argsort(named))]
        result[nodes[known]] = each[known]
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
            found |= {f"counts {name}": counts, f"documents {name}": documents}
            found[f"rows {name}"] = count_documents(everything, one, chunk.weights, text, words)
    return Tally(found)


def count_documents(codes: Array, classes: Labels, weights: Floats | None, text: Text, words: Words) -> Table:
    """How many documents each class has: the rows that are not missing."""
    there = np.where(text.missing(words.errors), -1, codes)
    return Table.of({"class": classes}, count_cells(there, len(classes), weights))


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


def _reference_weights(words: Words, reference: Reference, vocabulary: Vocabulary) -> Floats:
    """The inverse document frequencies of a vocabulary's nodes; 0 for those that the reference has not, or not used."""
    used = _used(words, reference.vocabulary, reference.counts, reference.documents, reference.rows)
    united, own, theirs = vocabulary.unite(reference.vocabulary)
    weights = np.zeros(len(united))
    weights[theirs] = used * _inverse_frequencies(reference.documents, reference.rows)
    return np.asarray(weights[own])


def count_normalised(chunk: Chunk, text: Text, words: Words, reference: Reference | None) -> Bag:
    """Counts over the lengths of the documents' vectors."""
    assert reference is not None, "rows of unit length need the weights that measure them"
    weights = _reference_weights(words, reference, reference.vocabulary)
    squares = np.zeros(chunk.n_rows)
    starts = np.zeros(len(weights) + 1, np.int64)
    table = kernel.pack_table(starts, _NO_CODES, _NO_FLOATS, weights != 0, _NO_FLOATS, weights)
    look = lookup(reference.vocabulary, words, text)
    look.score(text.shares(words), table, np.zeros((chunk.n_rows, 0)), once=words.binary, squares=squares)
    shares = 1 / np.sqrt(np.where(squares > 0, squares, 1))
    if chunk.weights is not None:
        shares = shares * chunk.weights
    (result,) = count(text, words, chunk.coded, chunk.classes, shares, counts=not words.binary, documents=words.binary)
    return result


# Texts as a matrix, for other estimators.

_MOST_CELLS = 1 << 28  # of an array of pairs


@dataclass(frozen=True, eq=False)
class TextMatrix:
    """Texts as the rows of a sparse matrix, with a column for each word or n-gram that is used.

    Attributes
    ----------
    matrix : scipy.sparse.csr_matrix
        Counts, ones where `binary`, or TF-IDF.
    names : array of str
        The words or n-grams, in the order of the columns: sorted.

    Examples
    --------
    >>> found = Words(ngrams=(1, 2)).transform(["warm soup", "warm warm bread"])
    >>> found.names.tolist()
    ['bread', 'soup', 'warm', 'warm bread', 'warm soup', 'warm warm']
    >>> found.matrix.toarray().tolist()
    [[0, 1, 1, 0, 1, 0], [1, 0, 2, 1, 0, 1]]
    >>> found.transform(["cold soup"]).matrix.toarray().tolist()
    [[0, 1, 0, 0, 0, 0]]
    """

    matrix: Any
    names: NDArray[Any]
    _words: Words = field(repr=False)
    _vocabulary: Vocabulary = field(repr=False)
    _weights: Floats = field(repr=False)  # of each node; 0: it is not used
    _columns: NDArray[np.int64] = field(repr=False)  # of each node

    def get_feature_names_out(self) -> NDArray[Any]:
        """The names, as scikit-learn's vectorisers give them."""
        return self.names

    def transform(self, texts: Any) -> TextMatrix:
        """Other texts by the same columns and weights; what these do not know is left out."""
        return replace(self, matrix=self._matrix_of(_one_column(texts)))

    def _matrix_of(self, text: Text) -> Any:
        from scipy.sparse import csr_matrix

        words, look = self._words, lookup(self._vocabulary, self._words, text)
        rows, nodes, counts = look.entries(text.cut(words), self._weights != 0)
        values: Array = np.ones(len(rows), np.int64) if words.binary else counts.astype(np.int64)
        if words.weighting == "tfidf":
            values = values * self._weights[nodes]
        if words.norm is not None:
            squares = np.bincount(rows, values * values, text.n_rows)
            values = values / np.sqrt(squares)[rows]
        found = csr_matrix((values, (rows, self._columns[nodes])), (text.n_rows, len(self.names)))
        found.sort_indices()
        return found


def _one_column(texts: Any) -> Text:
    """Texts as a column: a list, an array or a series of strings; a single string is one text."""
    if isinstance(texts, str):
        texts = [texts]
    if hasattr(texts, "to_arrow"):  # of polars
        texts = texts.to_arrow()
    if isinstance(texts, bytes | Mapping) or not hasattr(texts, "__len__") or getattr(texts, "ndim", 1) != 1:
        raise KindError(f"texts must be a list of strings, got {type(texts).__name__} {texts!r}")
    given = texts if is_arrow(texts) else np.asarray(texts, object) if hasattr(texts, "dtype") else list(texts)
    (column,) = text_columns(objects(["text"]), [given])
    return column


def transform(words: Words, texts: Any) -> TextMatrix:
    """The matrix of some texts, whose words and document frequencies are those that count."""
    text, one = _one_column(texts), labels_of(["all"])
    labels = np.zeros(text.n_rows, np.int32)
    bags = count(text, words, labels, one, counts=True, documents=True)
    vocabulary, (counts, documents) = bags[0].vocabulary, map(totals, bags)
    rows = float(np.count_nonzero(~text.missing(words.errors)))
    weights = _used(words, vocabulary, documents if words.binary else counts, documents, rows)
    if words.weighting == "tfidf":
        weights = weights * _inverse_frequencies(documents, rows)
    nodes = np.flatnonzero(weights)
    names = vocabulary.texts(nodes.tolist())
    order = np.arange(len(names)) if words.hashed else np.array(sorted(range(len(names)), key=names.__getitem__), int)
    columns = np.full(len(vocabulary), -1, np.int64)
    columns[nodes[order]] = np.arange(len(order))
    found = TextMatrix(None, objects(names)[order], words, vocabulary, weights, columns)
    return replace(found, matrix=found._matrix_of(text))


def bigram_counts(words: Words, texts: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """How often each word that is used follows each other in the same text (n × n), and the n words."""
    if words.hashed or words.characters:
        what = f"hashed={words.hashed}" if words.hashed else f"characters={words.characters}"
        raise InputError(f"{what} keeps no words, so there are no pairs of them; leave it out")
    text, single = _one_column(texts), replace(words, ngrams=(1, 1), lexicon=None)
    found = transform(single, texts)
    n = len(found.names)
    if n * n > _MOST_CELLS:
        raise InputError(
            f"{n:,} words have {n * n:,} pairs, and {_MOST_CELLS:,} at most make an array; take fewer words "
            "(max_words, min_count), or Words(ngrams=(2, 2)).transform, which is sparse"
        )
    look = lookup(found._vocabulary, single, text)
    nodes, ends = look.nodes(text.cut(single), text.n_rows)
    places = np.append(found._columns, -1)[nodes]
    joined = np.ones(max(len(places) - 1, 0), np.bool_)  # whether a word is followed by one of the same text
    joined[ends[(ends > 0) & (ends < len(places))] - 1] = False
    joined &= (places[:-1] >= 0) & (places[1:] >= 0)
    pairs = (places[:-1] * n + places[1:])[joined]
    return np.bincount(pairs, minlength=n * n).reshape(n, n), found.names
