"""The same features give the same log joints and answers as scikit-learn's vectorisers and classifiers."""

from __future__ import annotations

from functools import cache
from itertools import cycle

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from tests import real_texts

from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.tally.prior import Laplace, Lidstone
from ingenuo.text.words import Words

STOPS = ["the", "of", "and", "to", "di", "che", "el", "la", "user"]


def two_letters(text):
    return [text[i : i + 2] for i in range(0, len(text), 2)]


# What a word counts here, and the same said to scikit-learn.
FEATURES = {
    "counts": (Words(), CountVectorizer()),
    "one letter": (Words(token=r"\w+"), CountVectorizer(token_pattern=r"(?u)\w+")),
    "scikit-learn's spelling": (Words(token=r"(?u)\b\w\w+\b"), CountVectorizer(token_pattern=r"(?u)\b\w\w+\b")),
    "apostrophes": (
        Words(token=r"[\w'’]+", ngrams=(1, 2)),
        CountVectorizer(token_pattern=r"[\w'’]+", ngram_range=(1, 2)),
    ),
    "a group": (Words(token=r"\b(\w{2,4})\w*"), CountVectorizer(token_pattern=r"\b(\w{2,4})\w*")),
    "words with spaces": (
        Words(token=r"\w+ \w+", ngrams=(1, 2), lowercase=False, min_documents=2),
        CountVectorizer(token_pattern=r"\w+ \w+", ngram_range=(1, 2), lowercase=False, min_df=2),
    ),
    "a function": (
        Words(token=two_letters, stop_words=STOPS),
        CountVectorizer(tokenizer=two_letters, token_pattern=None, stop_words=STOPS),
    ),
    "what Python splits": (Words(token=str.split), CountVectorizer(tokenizer=str.split, token_pattern=None)),
    "as written": (Words(lowercase=False), CountVectorizer(lowercase=False)),
    "binary": (Words(binary=True), CountVectorizer(binary=True)),
    "pairs too": (Words(ngrams=(1, 2)), CountVectorizer(ngram_range=(1, 2))),
    "threes alone": (Words(ngrams=(3, 3)), CountVectorizer(ngram_range=(3, 3))),
    "binary pairs": (Words(ngrams=(1, 2), binary=True), CountVectorizer(ngram_range=(1, 2), binary=True)),
    "stop words": (
        Words(stop_words=STOPS, ngrams=(1, 2)),
        CountVectorizer(stop_words=STOPS, ngram_range=(1, 2)),
    ),
    "documents from a number to a share": (
        Words(min_documents=3, max_documents=0.3, ngrams=(1, 2)),
        CountVectorizer(min_df=3, max_df=0.3, ngram_range=(1, 2)),
    ),
    "documents from a share to a number": (
        Words(min_documents=0.004, max_documents=150),
        CountVectorizer(min_df=0.004, max_df=150),
    ),
    "tf-idf": (Words(weighting="tfidf"), TfidfVectorizer(norm=None)),
    "tf-idf of pairs": (
        Words(weighting="tfidf", ngrams=(1, 2), min_documents=2),
        TfidfVectorizer(norm=None, ngram_range=(1, 2), min_df=2),
    ),
    "binary tf-idf": (Words(weighting="tfidf", binary=True), TfidfVectorizer(norm=None, binary=True)),
    "unit length": (Words(weighting="tfidf", norm="l2"), TfidfVectorizer()),
    "unit length of pairs": (
        Words(weighting="tfidf", norm="l2", ngrams=(1, 2), min_documents=2, max_documents=0.5),
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, max_df=0.5),
    ),
    "binary of unit length": (
        Words(weighting="tfidf", norm="l2", binary=True, stop_words=STOPS),
        TfidfVectorizer(binary=True, stop_words=STOPS),
    ),
}
PEERS = {"multinomial": MultinomialNB, "complement": ComplementNB, "bernoulli": BernoulliNB}


@cache
def halves(name):
    """Texts to learn from with their labels, and others to ask about."""
    texts, labels = real_texts.labelled(name, 1200 if name in ("newsgroups", "films") else 2400)
    return texts[::2], labels[::2], texts[1::2]


def compare(name, words, vectorizer, model, alpha=1.0, weights=None):
    texts, labels, asked = halves(name)
    peer = PEERS[model](alpha=alpha)
    peer.fit(vectorizer.fit_transform(texts), labels, sample_weight=weights)
    classes = peer.classes_.tolist()
    matrix = vectorizer.transform(asked)
    # scikit-learn's complement leaves the prior out: a uniform one, taken away again, does so too.
    uniform = {"class_prior": dict.fromkeys(classes, 1 / len(classes))} if model == "complement" else {}
    prior = Laplace() if alpha == 1 else Lidstone(alpha)
    ours = NaiveBayes(text=words, counts=model, prior=prior, **uniform).fit(texts, labels, sample_weight=weights)
    joint = ours.predict_joint_log_proba(asked) + (np.log(len(classes)) if uniform else 0)
    theirs = peer.predict_joint_log_proba(matrix)
    assert ours.classes_.tolist() == classes
    np.testing.assert_allclose(joint, theirs, rtol=1e-10, atol=1e-10)
    top = np.sort(theirs, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9 * np.abs(top[:, -1])  # of two equal ones, the last bit decides
    known = matrix.getnnz(axis=1) > 0  # a text of unknown words says nothing: there all may be equal
    assert clear[known].mean() > 0.5
    assert (ours.predict(asked) == peer.predict(matrix))[clear].all()
    return ours, vectorizer


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("model", PEERS)
@pytest.mark.parametrize("alpha", [1.0, 0.01])
@pytest.mark.parametrize("name", ["messages", "italian tweets"])
def test_the_same_features_give_the_same_joints(name, alpha, model, features):
    words, vectorizer = FEATURES[features]
    if model == "bernoulli" and words.weighting == "tfidf":
        with pytest.raises(ValueError, match="'tfidf' does not go with 'bernoulli'"):
            NaiveBayes(text=words, counts=model).fit(*halves(name)[:2])
        return
    compare(name, words, vectorizer, model, alpha)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("name", ["messages", "italian tweets"])
def test_the_matrix_is_that_of_the_vectoriser(name, features):
    words, vectorizer = FEATURES[features]
    texts, _, asked = halves(name)
    wanted = vectorizer.fit_transform(texts)
    found = words.transform(texts)
    assert found.names.tolist() == vectorizer.get_feature_names_out().tolist()
    assert found.get_feature_names_out() is found.names
    assert found.matrix.dtype == wanted.dtype
    for ours, theirs in ((found, wanted), (found.transform(asked), vectorizer.transform(asked))):
        theirs.sort_indices()
        np.testing.assert_array_equal(ours.matrix.indptr, theirs.indptr)
        np.testing.assert_array_equal(ours.matrix.indices, theirs.indices)
        np.testing.assert_allclose(ours.matrix.data, theirs.data, rtol=1e-12)


@pytest.mark.parametrize("words", [Words(), Words(token=r"[\w']+", stop_words=STOPS), Words(min_documents=3)], ids=repr)
def test_an_array_of_pairs_has_the_counts_of_the_vectoriser(words):
    texts = halves("messages")[0][:150]
    counts, names = words.bigram_counts(texts)
    how = {"token_pattern": words.token, "stop_words": STOPS if words.stops else None}
    singles = CountVectorizer(**how, min_df=words.min_documents).fit(texts)
    assert names.tolist() == singles.get_feature_names_out().tolist()
    pairs = CountVectorizer(**how, ngram_range=(2, 2))
    sums = np.asarray(pairs.fit_transform(texts).sum(axis=0))[0]
    wanted = np.zeros_like(counts)
    for pair, n in zip(pairs.get_feature_names_out(), sums):
        i, j = (singles.vocabulary_.get(word) for word in pair.split(" "))
        if i is not None and j is not None:
            wanted[i, j] = n
    np.testing.assert_array_equal(counts, wanted)


@pytest.mark.parametrize(("name", "model"), list(zip(real_texts.SETS, cycle(PEERS))))  # each with all: the questions
def test_every_set_gives_the_same_joints(name, model):
    words, vectorizer = FEATURES["binary pairs" if model == "bernoulli" else "pairs too"]
    compare(name, words, vectorizer, model)


@pytest.mark.parametrize("name", real_texts.SETS)
def test_every_set_gives_the_same_joints_at_unit_length(name):
    compare(name, *FEATURES["unit length"], "multinomial", 0.01)


# Not TF-IDF: rows of some weight are so many documents here, and one document in scikit-learn's vectoriser.
@pytest.mark.parametrize("features", ["counts", "binary", "binary pairs"])
@pytest.mark.parametrize("model", PEERS)
@pytest.mark.parametrize("weights", ["whole", "fractions", "small"])
def test_weights_weigh_the_same(features, model, weights):
    words, vectorizer = FEATURES[features]
    n = len(halves("questions")[0])
    rng = np.random.default_rng(0)
    given = {
        "whole": rng.integers(1, 5, n).astype(float),
        "fractions": rng.uniform(0.5, 2, n),
        "small": rng.uniform(0, 1e-4, n) + 1e-6,
    }
    compare("questions", words, vectorizer, model, 0.5, given[weights])


def untied(texts, **settings):
    """A number of words at which the last has no equal: there both sides must choose the same."""
    vectorizer = CountVectorizer(**settings)
    counts = np.sort(np.asarray(vectorizer.fit_transform(texts).sum(axis=0)).ravel())[::-1]
    places = np.flatnonzero(np.diff(counts)) + 1
    return [int(places[len(places) // 4]), int(places[len(places) // 2]), int(places[-1])]


@pytest.mark.parametrize("name", ["snippets", "spanish tweets"])
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)])
def test_the_most_frequent_words_are_the_same(name, ngrams):
    for most in untied(halves(name)[0], ngram_range=ngrams):
        ours, vectorizer = compare(
            name,
            Words(max_words=most, ngrams=ngrams),
            CountVectorizer(max_features=most, ngram_range=ngrams),
            "multinomial",
        )
        (column,) = ours._parameters().own.parts
        used = column.bag.vocabulary.texts(np.flatnonzero(column.weights).tolist())
        assert sorted(used) == sorted(vectorizer.vocabulary_)


def test_of_equally_frequent_words_as_many_are_kept():
    """Which, is left to an unstable sort there and to the alphabet here; the counts of the kept are the same."""
    texts = ["pear fig apple kiwi", "fig pear kiwi apple", "plum plum plum date", "date fig"]
    counts = dict(zip(*np.unique(" ".join(texts).split(), return_counts=True)))
    for most in range(1, 7):
        vectorizer = CountVectorizer(max_features=most).fit(texts)
        model = NaiveBayes(text=Words(max_words=most)).fit(texts, [0, 1, 0, 1])
        (column,) = model._parameters().own.parts
        used = column.bag.vocabulary.texts(np.flatnonzero(column.weights).tolist())
        assert sorted(counts[word] for word in used) == sorted(counts[word] for word in vectorizer.vocabulary_)
