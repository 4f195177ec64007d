"""Which of the words that were seen are used, and what each counts: limits, inverse document frequencies, priors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.bag import Bag
from ingenuo.chunk import Chunk, Text, Texts
from ingenuo.errors import InputError
from ingenuo.exact import Exact
from ingenuo.families import bags
from ingenuo.families.family import Floats
from ingenuo.kernels import lookup as loops
from ingenuo.kernels import moments, portable
from ingenuo.labels import labels_of
from ingenuo.prior import Prior
from ingenuo.schema import Reference, Schema, column_name
from ingenuo.tally import Table, Tally
from ingenuo.text.words import Words
from ingenuo.vocabulary import Vocabulary

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
    limits = (words.min_documents, words.max_documents) != (1, 1.0)
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
    if words.min_documents != 1 or isinstance(words.min_documents, float):
        kept &= documents >= _documents(words.min_documents, rows)
    if words.max_documents != 1 or isinstance(words.max_documents, int):
        kept &= documents <= _documents(words.max_documents, rows)
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


def _documents(limit: int | float, rows: float) -> float:
    return limit if isinstance(limit, int) else limit * rows


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
            counts, documents = bags.count(text, words, everything, one, chunk.weights, counts=True, documents=True)
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
    look = bags.lookup(reference.vocabulary, words, text)
    look.score(text.shares(words.errors), table, np.zeros((chunk.n_rows, 0)), once=words.binary, squares=squares)
    shares = 1 / np.sqrt(np.where(squares > 0, squares, 1))
    if chunk.weights is not None:
        shares = shares * chunk.weights
    (result,) = bags.count(
        text, words, chunk.coded, chunk.classes, shares, counts=not words.binary, documents=words.binary
    )
    return result
