"""The entries of documents (row, feature, count) are those that Python's own counting finds, whatever a feature is."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import real_texts

from ingenuo.families import word_features
from ingenuo.kernels.threads import limited
from ingenuo.rows import part as text_sources
from ingenuo.rows.part import ArrowText, ListText
from ingenuo.tally.labels import labels_of
from ingenuo.text.tokens import features, tokens
from ingenuo.text.words import Words

ordinary = settings(deadline=None, max_examples=30)
few = settings(deadline=None, max_examples=25)

NGRAMS = [(1, 1), (1, 2), (2, 2), (2, 4), (1, 9)]

# İ is two bytes and, in lower case, a letter and a mark that ends the word: as many words as there can be in a text.
odd = st.lists(st.sampled_from([*"aAbéİßΣς_1 .,'", "\u0307", "漢", "😀", "𐐀", "\x00"]), max_size=25).map("".join)
text = st.one_of(odd, st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
texts = st.lists(st.one_of(st.none(), text), min_size=1, max_size=6)


def vocabulary_of(source, words):
    (bag,) = word_features.count(source, words, np.zeros(source.n_rows, np.int32), labels_of(["all"]))
    return bag.vocabulary


def entries(source, words, vocabulary=None, unused=()):
    """{(row, feature): count}; each pair may come once only."""
    vocabulary = vocabulary_of(source, words) if vocabulary is None else vocabulary
    names = vocabulary.texts()
    used = np.array([name not in unused for name in names], np.bool_)
    rows, nodes, counts = word_features.lookup(vocabulary, words, source).entries(source.pieces(words.errors), used)
    assert len(rows) == len(nodes) == len(counts)
    pairs = [(row, names[node]) for row, node in zip(rows.tolist(), nodes.tolist())]
    assert len(set(pairs)) == len(pairs)
    order = np.argsort(nodes, kind="stable")  # each feature's rows in their order, as columns want them
    assert (np.diff(rows[order])[np.diff(nodes[order]) == 0] > 0).all()
    return dict(zip(pairs, counts.tolist()))


def by_hand(documents, ngrams, token=r"\b\w\w+\b"):
    """With regular expressions and a Counter."""
    found = Counter()
    for row, document in enumerate(documents):
        run = [] if document is None else re.findall(token, document.lower())
        for n in range(ngrams[0], ngrams[1] + 1):
            found.update((row, " ".join(run[at : at + n])) for at in range(len(run) - n + 1))
    return dict(found)


def by_reading(documents, words):
    """With the plain Python that shows one document."""
    found = Counter()
    for row, document in enumerate(documents):
        read = [] if document is None else features(tokens(document, words), words)
        found.update((row, feature.text) for feature in read)
    return dict(found)


@pytest.mark.parametrize("ngrams", NGRAMS)
@pytest.mark.parametrize("token", [r"\b\w\w+\b", r"\w+"])
@ordinary
@given(documents=texts)
@example(documents=["İ" * 40, None, "", "İ", "a a a a b a"])
@example(documents=[None])
def test_words_and_n_grams_are_counted_in_each_document(ngrams, token, documents):
    words = Words(ngrams=ngrams, token=token)
    assert entries(ListText("text", documents), words) == by_hand(documents, ngrams, token)


words_and_signs = st.lists(
    st.sampled_from(
        ["the", "not", "don't", "never", "good", "Good", "awful", "loved", "loving", "loves", "cat", "cats", ",", "."]
    ),
    max_size=12,
).map(" ".join)

SETTINGS = {
    "stems": Words(stem="english", ngrams=(1, 2)),
    "stop words": Words(stop_words=["the", "cat"], ngrams=(1, 2)),
    "negation": Words(negation="english", ngrams=(1, 3)),
    "a lexicon": Words(lexicon={"good": 1, "awful": -1}),
    "a lexicon beside pairs alone": Words(lexicon={"good": 1, "awful": -1}, negation="english", ngrams=(2, 2)),
    "everything": Words(
        stem="english", stop_words="english", negation="english", lexicon={"loved": 1, "awful": -1}, ngrams=(1, 2)
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
@few
@given(documents=st.lists(st.one_of(st.none(), words_and_signs), min_size=1, max_size=6))
def test_whatever_words_are_taken_for_is_counted(name, documents):
    words = SETTINGS[name]
    assert entries(ListText("text", documents), words) == by_reading(documents, words)


def test_a_lexicon_and_a_negation_by_hand():
    words = Words(lexicon={"good": 1, "awful": -1}, negation="english")
    found = entries(ListText("text", ["good good film", "not good, awful"]), words)
    (positive,), (negative,) = ({n for _, n in found if w in n and n.startswith("[")} for w in ("positive", "negative"))
    assert found == {
        (0, "good"): 2,
        (0, "film"): 1,
        (0, positive): 2,
        (1, "not"): 1,
        (1, "not_good"): 1,
        (1, "awful"): 1,
        (1, negative): 2,
    }


@pytest.mark.parametrize("buckets", [2, 16, 2**16])
@few
@given(documents=texts)
def test_a_bucket_has_what_its_features_have_together(buckets, documents):
    words = Words(ngrams=(1, 2), hashed=buckets)
    source = ListText("text", documents)
    vocabulary = vocabulary_of(source, words)
    expected = Counter()
    for (row, feature), n in by_hand(documents, (1, 2)).items():
        expected[row, vocabulary.texts([int(vocabulary.find([feature])[0])])[0]] += n
    assert entries(source, words, vocabulary) == dict(expected)


@ordinary
@given(learned=texts, asked=texts, ngrams=st.sampled_from(NGRAMS))
def test_features_that_were_never_seen_are_left_out(learned, asked, ngrams):
    words = Words(ngrams=ngrams, token=r"\w+")
    known = {feature for _, feature in by_hand(learned, ngrams, r"\w+")}
    wanted = {key: n for key, n in by_hand(asked, ngrams, r"\w+").items() if key[1] in known}
    vocabulary = vocabulary_of(ListText("text", learned), words)
    assert entries(ListText("text", asked), words, vocabulary) == wanted


def test_features_that_are_not_used_are_left_out():
    documents = ["one two three two", "two three", "three"]
    found = entries(ListText("text", documents), Words(ngrams=(1, 2)), unused={"two", "two three"})
    wanted = {key: n for key, n in by_hand(documents, (1, 2)).items() if key[1] not in ("two", "two three")}
    assert found == wanted
    assert (0, "one two") in found


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(text_sources, "_TEXT_PIECE", 3000)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("form", ["list", "arrow"])
@pytest.mark.parametrize("words", [Words(ngrams=(1, 2), token=r"\w+"), Words(ngrams=(1, 2), hashed=2**12)], ids=repr)
def test_pieces_and_threads_change_nothing(small_pieces, threads, form, words):
    rng = np.random.default_rng(0)
    pool = [f"w{i}" for i in range(80)]
    documents = [" ".join(rng.choice(pool, rng.integers(0, 40))) for _ in range(400)]
    documents[7], documents[300] = None, " ".join(pool * 20)
    if form == "list":
        source = ListText("text", documents)
    else:
        source = ArrowText("text", pa.chunked_array([pa.array(documents[at : at + 37]) for at in range(0, 400, 37)]))
    assert len(list(source.pieces("strict"))) > 3
    vocabulary = vocabulary_of(source, words)
    with limited(threads):
        found = entries(source, words, vocabulary)
    wanted = Counter()
    for (row, feature), n in by_hand(documents, (1, 2), words.token).items():
        wanted[row, vocabulary.texts([int(vocabulary.find([feature])[0])])[0] if words.hashed else feature] += n
    assert found == dict(wanted)


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 3), (1, 9)])
def test_a_document_longer_than_a_batch_has_each_feature_once(ngrams):
    """Batches of 16,384 words cut it; counts go on over the cuts."""
    rng = np.random.default_rng(1)
    long = " ".join(f"w{i}" for i in np.minimum(rng.zipf(1.3, 17_000), 500))
    documents = ["first w1", long, "", f"{long} {long}", "last"]
    assert entries(ListText("text", documents), Words(ngrams=ngrams, token=r"\w+")) == by_hand(
        documents, ngrams, r"\w+"
    )


@pytest.mark.parametrize("name", ["newsgroups", "italian tweets"])
def test_real_texts_have_the_entries_that_counting_finds(name):
    documents, _ = real_texts.labelled(name, 300)
    words = Words(ngrams=(1, 2), token=r"\w+")
    assert entries(ListText("text", documents), words) == by_hand(documents, (1, 2), r"\w+")
