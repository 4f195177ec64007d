"""Words and n-grams: the loops find and count what Python's own regular expressions and dictionaries would."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from tests import real_texts

from ingenuo.families import word_features
from ingenuo.kernels.threads import limited
from ingenuo.rows import part
from ingenuo.rows.part import ListText, Text
from ingenuo.tally.bag import Vocabulary
from ingenuo.tally.labels import labels_of
from ingenuo.text.tokens import features, tokens
from ingenuo.text.words import Words, find_words, stem_words

ordinary = settings(deadline=None, max_examples=60)
few = settings(deadline=None, max_examples=25)

TOKENS = [r"\b\w\w+\b", r"\w+"]
NGRAMS = [(1, 1), (1, 2), (2, 2), (2, 4), (3, 3)]

# Capitals whose lower case depends on what stands around them or has another length, ligatures, marks that join what
# they follow but are no letters, characters of no width, digits of other scripts, and what the loops use themselves.
ODD = list("ΣσςİIıßẞﬁǅȺẞKÅÉéÑñaAzZ09_ ΑΝanNtT") + [
    "\u0301", "\u0307", "\u0345", "\u00ad", "\u200b", "\u200d", "\u2060", "\ufe0f", "'", "’", "ʼ", ":", ".", "·", "-",
    "\n", "\x00", "\x1f", "\x7f", "\u0085", "٣", "५", "Ⅷ", "²", "½", "漢", "ี", "हि", "😀", "👩‍🦰", "🇮🇹", "𝒳", "𐐀",
    "𞤀", "\U000e0041", "\U0010ffff", "\ufffd",
]  # fmt: skip
odd_text = st.lists(st.sampled_from(ODD), max_size=25).map("".join)
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
text = st.one_of(odd_text, any_text, st.lists(st.one_of(odd_text, any_text), max_size=4).map(" ".join))

SENTENCES = {
    "English": "It's a film you can't help liking: a naïve hero's 1,000 doubts, O'Hara's re-entry & the co-op's café!",
    "Italian": "Perché no? L'università è piena di gente, ma c'è già chi dice: «Un po' di caffè, e via!» È così.",
    "Spanish": "¿Qué tal el pingüino? ¡Ñandúes y cigüeñas! El niño comió años de jamón, según dijo él en 1999.",
    "Greek": "Ο ΟΔΥΣΣΕΥΣ ΚΑΙ ΟΙ ΣΕΙΡΗΝΕΣ: ΣΑΣ ΑΡΕΣΕΙ; Ο σοφός Σ. Α.Σ. ΦΊΛΟΣ'ΜΟΥ, ΆΣ… ΣΣ Σ ΑΣ1 ΑΣΑ",
    "Russian": "Съешь ЕЩЁ этих мягких французских булок, да выпей же чаю — Ёлка, объём, из-за чего?",
    "German": "Die GROSSE STRAẞE ist größer als Süßkinds Maße; »Öl« und ÜBERMUT, z. B. 3½ Äpfel.",
    "Turkish": "İSTANBUL'DA IŞIK VE ılık bir ÇAY; DİYARBAKIR İ İİ aİb, ŞİİR ĞÜZEL.",
    "Hindi": "मैं हिन्दी बोलता हूँ; आज १५ अगस्त है। कृपया 'धन्यवाद' कहिए।",
    "Chinese": "我愛北京天安門，天安門上太陽升。Python 3 是一種語言！①②③",
    "Arabic": "أَنَا أُحِبُّ القِرَاءَةَ، وعندي ٢٥ كتابًا؛ هل تقرأ؟ لا‌شيء ـــ نعم",
    "emoji": "👍🏽 love it ❤️❤️ 10/10 👩‍👩‍👧‍👦fun😀fun 🇮🇹Italia🇪🇸 ©2024 a\u200db no\u200bspace :-)",
    "mixed": "Naïve café: Ω≈Σ, ﬁn ﬂux, Straße—ΣΟΦΟΣ×İI ½kg, π²=9.87, über_cool, x̂ŷ, ＡＢＣ１２, ⅷⅨ",
}


def mark(text, language, shortest=2, lowercase=True):
    token = rf"\b\w{{{shortest},}}\b"
    return [word for _, _, word in find_words(text.lower() if lowercase else text, token, language)]


def found(token, document, lowercase=True):
    return re.findall(token, document.lower() if lowercase else document)


def grams(run, ngrams):
    return [
        " ".join(run[at : at + n]) for n in range(ngrams[0], ngrams[1] + 1) for at in range(len(run) - n + 1)
    ]  # fmt: skip


def as_counter(bag):
    """{(class, text): count}"""
    nodes, owners = np.unique(bag.owners(), return_inverse=True)
    texts, numbers = bag.vocabulary.texts(nodes.tolist()), bag.numbers().tolist()
    return {(bag.classes[c], texts[o]): n for c, o, n in zip(bag.codes.tolist(), owners.tolist(), numbers)}


def counted(documents, words, labels=None, documents_too=False, weights=None, **more):
    """What each class has of each feature; and in how many documents, if that is asked for."""
    classes, codes = np.unique(["all"] * len(documents) if labels is None else labels, return_inverse=True)
    source = documents if isinstance(documents, Text) else ListText("text", documents)
    result = word_features.count(
        source, words, codes.astype(np.int32), labels_of(classes.tolist()), weights, documents=documents_too, **more
    )
    return [as_counter(bag) for bag in result] if documents_too else as_counter(result[0])


def wanted(features, labels=None):
    """The same by Python's own counting, from the features of each document."""
    occurrences, documents = Counter(), Counter()
    for number, document in enumerate(features):
        label = "all" if labels is None else labels[number]
        occurrences.update((label, feature) for feature in document)
        documents.update((label, feature) for feature in set(document))
    return dict(occurrences), dict(documents)


def looked_up(documents, words, vocabulary):
    """The features of each document as the lookup finds them: its words, None for one that is not known; or n-grams."""
    source = ListText("text", documents)
    nodes, ends = word_features.lookup(vocabulary, words, source).nodes(source.pieces(words.errors), source.n_rows)
    known = np.unique(nodes[nodes >= 0]).tolist()
    names = {-1: None, **dict(zip(known, vocabulary.texts(known)))}
    single = words.ngrams == (1, 1)  # where the first words of a text end no n-gram, there is no node either
    return [[names[int(node)] for node in part if single or node >= 0] for part in np.split(nodes, ends[:-1])]


# Words.


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("token", TOKENS)
@ordinary
@given(documents=st.lists(text, min_size=1, max_size=6))
@example(documents=["ΑΣ ΑΣΑ Α'Σ ΑΣ'Α 1Σ Σ ΣΣ", "AİB İ İİ", "", "\x00aa\x00bb\x1fcc"])
def test_words_are_those_that_a_regular_expression_finds(token, lowercase, documents):
    words = Words(token=token, lowercase=lowercase)
    expected = [found(token, document, lowercase) for document in documents]
    assert counted(documents, words) == wanted(expected)[0]
    (bag,) = word_features.count(
        ListText("text", documents), words, np.zeros(len(documents), np.int32), labels_of(["all"])
    )
    assert looked_up(documents, words, bag.vocabulary) == expected


def test_every_character_is_a_letter_or_not_as_python_says_and_has_its_lower_case():
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    documents = ["".join(f"a{chr(c)}b {chr(c)}{chr(c)} " for c in points[at::4096]) for at in range(4096)]
    for lowercase in (True, False):
        expected = [found(r"\w+", document, lowercase) for document in documents]
        assert counted(documents, Words(token=r"\w+", lowercase=lowercase)) == wanted(expected)[0]


def test_a_sigma_is_final_by_what_stands_around_it_whatever_that_is():
    """Every character between a letter and the sigma, and between the sigma and a letter."""
    points = [chr(c) for c in (*range(0x20000), *range(0xE0000, 0xE0200)) if not 0xD800 <= c < 0xE000]
    documents = [f"α{c}Σ Σ{c}α αΣ{c}α αΣ{c}1 αΣ{c}{c}." for c in points]
    expected = [found(r"\w+", document) for document in documents]
    assert counted(documents, Words(token=r"\w+")) == wanted(expected)[0]


@pytest.mark.parametrize("name", SENTENCES)
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("token", TOKENS)
def test_sentences_of_many_languages_have_the_vocabulary_of_scikit_learn(name, lowercase, token):
    documents = [SENTENCES[name], SENTENCES[name].upper(), SENTENCES[name].title(), SENTENCES[name].swapcase()]
    vectorizer = CountVectorizer(token_pattern=rf"(?u){token}", lowercase=lowercase, ngram_range=(1, 2))
    matrix = vectorizer.fit_transform(documents).toarray()
    expected = {
        (row, word): int(matrix[row, column])
        for word, column in vectorizer.vocabulary_.items()
        for row in range(4)
        if matrix[row, column]
    }
    ours = counted(documents, Words(ngrams=(1, 2), token=token, lowercase=lowercase), labels=[0, 1, 2, 3])
    assert ours == expected


@pytest.mark.parametrize("letter", ["a", "Z", "é", "Ȧ", "Ⱥ", "漢", "𝒳"])
def test_words_of_every_length_are_told_apart_at_either_end(letter):
    """Seven, eight, nine, sixteen and seventeen bytes among them: whole and broken eights."""
    for length in range(1, 41):
        word = letter * length
        others = [word[:-1] + "q", "q" + word[1:], word + "q", "q" + word, word[1:], word]
        for document in (
            " ".join([word, *others, word]),
            f"İ{word} x-{word}-{word}",
            f"{word}",
            f".{word}.",
            f"é{word}",
        ):
            for token in TOKENS:
                assert counted([document], Words(token=token)) == wanted([found(token, document)])[0]


@pytest.mark.parametrize("length", [4097, 32_760, 32_768, 70_000])
@pytest.mark.parametrize("letter", ["x", "é", "Ⱥ", "漢"])
def test_very_long_words_are_words(length, letter):
    word = letter * length
    documents = [f"{word} {word}y {word}", f"a {word[1:]} b", word]
    expected = [found(r"\w+", document) for document in documents]
    words = Words(token=r"\w+", ngrams=(1, 2))
    features = [grams(run, (1, 2)) for run in expected]
    assert counted(documents, words) == wanted(features)[0]
    (bag,) = word_features.count(ListText("text", documents), words, np.zeros(3, np.int32), labels_of(["all"]))
    assert [Counter(each) for each in looked_up(documents, words, bag.vocabulary)] == [*map(Counter, features)]


def some_words(n, seed=0, different=2000):
    """Words of all lengths, some beyond ASCII, by a law like that of languages: few are frequent."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("etaoinshrdluETAOIN_0123éßñΣλж漢"))
    lengths = rng.integers(1, 20, different)
    pool = np.array(["".join(rng.choice(letters, length)) for length in lengths], object)
    return pool[np.minimum(rng.zipf(1.3, n) - 1, different - 1)].tolist()


@pytest.mark.parametrize("ngrams", NGRAMS)
@pytest.mark.parametrize("n", [1016, 1024, 40_000])
def test_documents_longer_than_a_batch_are_counted_as_one(n, ngrams):
    """Batches cut them; n-grams, negations and documents go on over the cuts."""
    long = some_words(n)
    documents = ["short one", " ".join(long), "", " ".join(long[: n // 3]), "the last is short"]
    labels = ["b", "a", "b", "b", "a"]
    words = Words(ngrams=ngrams, token=r"\w+")
    features = [grams(found(r"\w+", document), ngrams) for document in documents]
    assert counted(documents, words, labels, documents_too=True) == list(wanted(features, labels))
    (bag,) = word_features.count(ListText("text", documents), words, np.zeros(5, np.int32), labels_of(["all"]))
    assert [Counter(each) for each in looked_up(documents, words, bag.vocabulary)] == [*map(Counter, features)]


@pytest.mark.parametrize("characters", [(1, 1), (2, 5), (4, 6)])
@pytest.mark.parametrize("lowercase", [True, False])
@ordinary
@given(documents=st.lists(text, min_size=1, max_size=6))
@example(documents=["ΑΣ ΑΣΑ Α'Σ 1Σ Σ", "AİB İ İİ", "", "\x00aa\x00bb\x1fcc", "a" * 9000, "é" * 5000 + " 😀" * 900])
def test_characters_are_those_that_plain_python_finds(characters, lowercase, documents):
    words = Words(characters=characters, lowercase=lowercase)
    expected = [[each.words[0] for each in features(tokens(document, words), words)] for document in documents]
    assert counted(documents, words) == wanted(expected)[0]
    vocabulary = Vocabulary.of(gram for run in expected for gram in run)
    assert looked_up(documents, words, vocabulary) == expected  # in their order


def test_characters_are_those_of_scikit_learn():
    odd = [" ".join(SENTENCES.values()), "x" * 5000, "A\x85B\u2003\u00a0c", "a", ""]
    sentences = [*SENTENCES.values(), *odd, *real_texts.labelled("snippets", 300)[0]]
    for characters in [(2, 5), (1, 1), (5, 7)]:
        theirs = CountVectorizer(analyzer="char_wb", ngram_range=characters)
        matrix, ours = theirs.fit_transform(sentences), Words(characters=characters).transform(sentences)
        assert ours.names.tolist() == theirs.get_feature_names_out().tolist()
        assert (ours.matrix != matrix).nnz == 0
    theirs = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=3, lowercase=False)
    matrix = theirs.fit_transform(sentences)
    settings = {"weighting": "tfidf", "norm": "l2", "min_documents": 3, "lowercase": False}
    ours = Words(characters=(2, 4), **settings).transform(sentences)
    assert np.allclose(ours.matrix.toarray(), matrix.toarray(), rtol=1e-12, atol=0)


def test_every_character_but_white_space_is_read_as_python_lowers_it():
    points = [chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]
    documents = ["".join(f"a{c}b " for c in points[at::512]) for at in range(512)]
    for lowercase in (True, False):
        words = Words(characters=(1, 1), lowercase=lowercase)
        expected = Counter("".join(documents).lower() if lowercase else "".join(documents))
        pads = 2 * sum(len((each.lower() if lowercase else each).split()) for each in documents)
        expected = {("all", c): n for c, n in expected.items() if not c.isspace()} | {("all", " "): pads}
        assert counted(documents, words) == expected


@pytest.mark.parametrize("name", real_texts.SETS)
def test_real_texts_have_the_counts_of_scikit_learn(name):
    documents, labels = real_texts.labelled(name, 400)
    for token, ngrams in zip(TOKENS, [(1, 1), (1, 2)]):
        vectorizer = CountVectorizer(token_pattern=rf"(?u){token}", ngram_range=ngrams)
        matrix = vectorizer.fit_transform(documents)
        names = vectorizer.get_feature_names_out()
        expected = {}
        for label in sorted(set(labels)):
            sums = np.asarray(matrix[np.array(labels) == label].sum(axis=0)).ravel()
            expected.update({(label, names[j]): int(sums[j]) for j in np.flatnonzero(sums)})
        assert counted(documents, Words(ngrams=ngrams, token=token), labels) == expected


# N-grams, documents, buckets.


@pytest.mark.parametrize("ngrams", NGRAMS)
@pytest.mark.parametrize("bounded", [False, True])
@few
@given(documents=st.lists(st.lists(st.sampled_from("abcé"), max_size=9), min_size=1, max_size=5), data=st.data())
def test_n_grams_are_the_words_in_a_row(ngrams, bounded, documents, data):
    labels = data.draw(st.lists(st.sampled_from("xyz"), min_size=len(documents), max_size=len(documents)))
    look_back = ngrams[1] - 1 if bounded else 0
    features = []
    for document in documents:
        run = ["<s>"] * look_back + document + (["</s>"] if bounded else [])
        features.append(
            [
                " ".join(run[end - n : end])
                for n in range(ngrams[0], ngrams[1] + 1)
                for end in range(max(n, look_back + 1), len(run) + 1)
            ]
        )
    words = Words(ngrams=ngrams, token=r"\w+")
    ours = counted([" ".join(each) for each in documents], words, labels, documents_too=True, bounded=bounded)
    assert ours == list(wanted(features, labels))


@few
@given(
    documents=st.lists(st.lists(st.text(st.sampled_from("aB'. é"), min_size=1, max_size=12), max_size=6), min_size=1),
    ngrams=st.sampled_from(NGRAMS),
)
def test_words_that_are_given_are_taken_as_they_are(documents, ngrams):
    joined = ["\x1f".join(each) for each in documents]
    words = Words(ngrams=ngrams)
    (bag,) = word_features.count(
        ListText("text", joined), words, np.zeros(len(joined), np.int32), labels_of(["all"]), separated=True
    )
    expected = wanted([grams(each, ngrams) for each in documents])[0]
    assert as_counter(bag) == expected


def test_the_canonical_order_of_a_vocabulary_depends_on_its_words_alone():
    one, two = some_words(3000, 1), some_words(3000, 2)
    first, second = ([" ".join(each) for each in order] for order in ([one, two], [two, one]))
    made = [
        word_features.count(ListText("text", each), Words(ngrams=(1, 3)), np.zeros(2, np.int32), labels_of([0]))[0]
        for each in (first, second)
    ]
    assert made[0].vocabulary.same(made[1].vocabulary)
    assert made[0] == made[1]
    for level in made[0].vocabulary.hashes:
        assert (np.diff(level.astype(object)) >= 0).all()


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("buckets", [2, 64, 2**16])
@few
@given(documents=st.lists(text, min_size=1, max_size=6))
def test_a_bucket_has_the_counts_of_the_features_in_it(ngrams, buckets, documents):
    exact, by_document = wanted([grams(found(TOKENS[0], document), ngrams) for document in documents])
    words = Words(ngrams=ngrams, hashed=buckets)
    ours, ours_by_document = counted(documents, words, documents_too=True)
    (bag,) = word_features.count(
        ListText("text", documents), words, np.zeros(len(documents), np.int32), labels_of(["all"])
    )
    place = {feature: int(bag.vocabulary.find([feature])[0]) for _, feature in exact}
    expected = Counter()
    for (label, feature), n in exact.items():
        expected[label, f"#{place[feature]}"] += n
    assert ours == dict(expected)
    assert sum(ours.values()) == sum(exact.values())
    if len(set(place.values())) == len(place):  # nothing shares a bucket: then nothing is lost
        assert sorted(ours.values()) == sorted(exact.values())
        assert sorted(ours_by_document.values()) == sorted(by_document.values())
    together = defaultdict(set)
    for number, document in enumerate(documents):
        for feature in grams(found(TOKENS[0], document), ngrams):
            together["all", f"#{place[feature]}"].add(number)
    assert ours_by_document == {cell: len(rows) for cell, rows in together.items()}
    nodes = looked_up(documents, words, bag.vocabulary)
    assert [Counter(each) for each in nodes] == [
        Counter(f"#{place[f]}" for f in grams(found(TOKENS[0], d), ngrams)) for d in documents
    ]


def test_many_buckets_spread_many_words():
    documents = [" ".join(f"word{i}" for i in range(20_000))]
    ours = counted(documents, Words(hashed=2**20))
    assert sum(ours.values()) == 20_000
    # By chance alone about 190 pairs share one.
    assert 19_500 < len(ours) < 20_000


# Negation, stop words, stems and lexicons.

negative = st.lists(
    st.sampled_from(
        ["not", "NO", "Never", "cannot", "don't", "DIDN’T", "n't", "n'tx", "n’té", "can't\u0301", "isn' t", "'t", "non",
         "MAI", "né", "NÉ", "maİ", "nunca", "jamás", "JAMÁS", "I", "good", "Bad", "x", "é", ",", ".", "…", "¿", "¡",
         "!", "\n", ";", "(", "a,b", "longer_than_eight", "İ", "Σας", "won'tnot", "n't.ok", ":"]
    ),
    max_size=16,
)  # fmt: skip


@pytest.mark.parametrize("language", ["english", "italian", "spanish"])
@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("lowercase", [True, False])
@few
@given(pieces=negative, odd=text, separator=st.sampled_from([" ", "", "\n"]))
def test_the_words_behind_a_negation_are_marked_as_the_rules_say(language, token, lowercase, pieces, odd, separator):
    document = separator.join(pieces) + " " + odd
    words = Words(token=token, lowercase=lowercase, negation=language, ngrams=(1, 2))
    marked = mark(document, language, words.shortest, lowercase)
    assert counted([document, "good"], words) == wanted([grams(marked, (1, 2)), ["good"]])[0]


def test_a_negation_reaches_over_the_cuts_of_a_long_document():
    run = some_words(40_000)
    for at in (5, 1010, 20_000, 39_000):
        document = " ".join([*run[:at], "don't", *run[at:], ",", *run[:50]])
        words = Words(negation="english", token=r"\w+", ngrams=(1, 2))
        assert counted([document], words) == wanted([grams(mark(document, "english", 1), (1, 2))])[0]


LEXICON = {"good": 1, "loved": 2, "bad": -1, "the": 1, "cat": -2}
PLAIN = ["good", "loved", "loving", "bad", "the", "cat", "cats", "not", "film", "films", "x", ",", "Σοφός"]


def features_by_hand(document, words):
    """Stop words out, stems for words, one feature more for each word of the lexicon: said once more, plainly."""
    run = mark(document, words.negation, words.shortest) if words.negation else found(words.token, document)
    kept, affects = [], []
    for token in run:
        negated = words.negation is not None and token.startswith("not_")
        bare = token.removeprefix("not_") if negated else token
        if words.lexicon is not None and bare in LEXICON:
            positive = (LEXICON[bare] > 0) != negated
            affects.append("[positive]" if positive else "[negative]")
        if bare in words.stops:
            continue
        stem = bare if words.stem is None else stem_words(words.stem, [bare])[0]
        kept.append("not_" + stem if negated else stem)
    return affects + grams(kept, words.ngrams)


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("negation", [None, "english"])
@pytest.mark.parametrize("stops", [None, ["the", "film"], ["the", "of the", "", "don't", "a\x1fb", "\x00", "Cat"]])
@pytest.mark.parametrize("stem", [None, "english"])
@pytest.mark.parametrize("lexicon", [None, LEXICON])
@settings(deadline=None, max_examples=8)
@given(documents=st.lists(st.lists(st.sampled_from(PLAIN), max_size=10).map(" ".join), min_size=1, max_size=4))
def test_stop_words_stems_and_lexicons_change_words_one_by_one(ngrams, negation, stops, stem, lexicon, documents):
    words = Words(ngrams=ngrams, negation=negation, stop_words=stops, stem=stem, lexicon=lexicon)
    features = [features_by_hand(document, words) for document in documents]
    ours, by_document = counted(documents, words, documents_too=True)
    assert (ours, by_document) == wanted(features)
    (bag,) = word_features.count(
        ListText("text", documents), words, np.zeros(len(documents), np.int32), labels_of(["all"])
    )
    assert [*map(Counter, looked_up(documents, words, bag.vocabulary))] == [*map(Counter, features)]
    buckets = Words(ngrams=ngrams, negation=negation, stop_words=stops, stem=stem, lexicon=lexicon, hashed=2**16)
    assert sum(counted(documents, buckets).values()) == sum(ours.values())


# Rows, weights, threads, pieces, growth.


@few
@given(st.lists(st.tuples(st.one_of(st.none(), text), st.sampled_from("ab"), st.integers(0, 3)), min_size=1))
def test_missing_documents_have_no_words_and_weights_are_so_many_rows(rows):
    documents, labels, weights = ([row[i] for row in rows] for i in range(3))
    repeated = [(d, k) for d, k, w in rows for _ in range(w) if d is not None]
    words = Words(ngrams=(1, 2))
    expected = wanted([grams(found(TOKENS[0], d), (1, 2)) for d, _ in repeated], [k for _, k in repeated])
    ours = counted(documents, words, labels, documents_too=True, weights=np.array(weights, float))
    assert ours == list(expected)
    halves = counted(documents, words, labels, documents_too=True, weights=np.array(weights) / 2)
    assert halves == [{cell: n / 2 for cell, n in each.items()} for each in expected]


@cache
def big(n=1500, seed=3):
    rng = np.random.default_rng(seed)
    run = some_words(400_000, seed, 20_000)
    cuts = np.sort(rng.integers(0, len(run), n - 1))
    rows = np.split(np.array(run, object), cuts)
    documents = [" ".join(row) + (" not this." if i % 7 else "") for i, row in enumerate(rows)]
    documents[5] = documents[n // 2] = None
    return documents, rng.choice(["a", "b", "c"], n).tolist()


@pytest.mark.parametrize(
    "words",
    [
        Words(),
        Words(ngrams=(1, 3)),
        Words(hashed=1024, ngrams=(1, 2)),
        Words(characters=(2, 3)),
        Words(negation="english", stem="english", stop_words=["this"], lexicon={"ee": 1}),
    ],
    ids=["words", "n-grams", "hashed", "characters", "changed"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_many_threads_count_and_find_as_one(words, weighted):
    documents, labels = big()
    source, classes = ListText("text", documents), labels_of(["a", "b", "c"])
    codes = np.array(["abc".index(label) for label in labels], np.int32)
    weights = np.random.default_rng(0).integers(1, 5, len(codes)).astype(float) if weighted else None
    made = []
    for width in (1, 2, 7):
        with limited(width):
            made.append(word_features.count(source, words, codes, classes, weights, documents=True))
    for other in made[1:]:
        assert other[0] == made[0][0]
        assert other[1] == made[0][1]


@pytest.mark.parametrize("piece", [1, 5000, 200_000])
def test_the_size_of_the_pieces_cannot_be_told(piece, monkeypatch):
    import pyarrow as pa

    documents, labels = big(200)
    documents = [document and document[:3000] for document in documents]
    words = Words(ngrams=(1, 2), negation="english")
    whole = counted(documents, words, labels, documents_too=True)
    vocabulary = Vocabulary.of(some_words(500, 3, 20_000))
    single = Words()
    found_before = looked_up(documents, single, vocabulary)
    monkeypatch.setattr(part, "_TEXT_PIECE", piece)
    source = ListText("text", documents)
    assert len(list(source.pieces())) > (1 if piece < 200_000 else 0)
    assert counted(documents, words, labels, documents_too=True) == whole
    assert looked_up(documents, single, vocabulary) == found_before
    chunked = pa.chunked_array([documents[:1], documents[1:50], [], documents[50:]], pa.string())
    codes = np.array(["abc".index(label) for label in labels], np.int32)
    made = word_features.count(
        part.ArrowText("text", chunked), words, codes, labels_of(["a", "b", "c"]), documents=True
    )
    assert [as_counter(bag) for bag in made] == whole


def test_tables_grow_with_the_words():
    documents = [
        " ".join(f"w{i}x{i * 7919 % 1_000_003}" for i in range(at, at + 5000)) for at in range(0, 100_000, 5000)
    ]
    labels = [str(i % 3) for i in range(len(documents))]
    features = [grams(document.split(" "), (1, 2)) for document in documents]
    assert counted(documents, Words(ngrams=(1, 2)), labels) == wanted(features, labels)[0]


def test_a_class_for_every_document():
    documents = [f"word{i % 50} common other{i}" for i in range(3000)]
    labels = [f"{i:04}" for i in range(3000)]
    assert counted(documents, Words(), labels) == wanted([d.split() for d in documents], labels)[0]


# Equal hashes.

MASK = (1 << 64) - 1


def fold(h, pack):
    """How the hash of a long word takes in eight more bytes."""
    h = ((h ^ pack) * 0xFF51AFD7ED558CCD) & MASK
    return h ^ (h >> 32)


def collision(beginning=b""):
    """Two words of sixteen small letters, after a common beginning of whole eights, with one hash.

    The hash of such a word depends on f(its eight bytes before the last) xor its last eight. Where two halves a, b have
    f(a) xor f(b) = d without the three upper bits of any byte, last halves u and u xor d can both be letters.
    """
    rng = np.random.default_rng(1)
    seen, before = {}, 0x9E3779B97F4A7C15
    for at in range(0, len(beginning), 8):
        before = fold(before, int.from_bytes(beginning[at : at + 8]))
    for letters in rng.integers(97, 123, (200_000, 8)).astype(np.uint8):
        half = letters.tobytes()
        h = fold(before, int.from_bytes(half))
        other = seen.setdefault(h & 0xE0E0E0E0E0E0E0E0, (half, h))
        if other[0] == half:
            continue
        change = (h ^ other[1]).to_bytes(8)
        tail = [next((c for c in range(97, 123) if 97 <= c ^ d <= 122), None) for d in change]
        if None not in tail:
            one, two = other[0] + bytes(tail), half + bytes(c ^ d for c, d in zip(tail, change))
            return (beginning + one).decode(), (beginning + two).decode()
    raise AssertionError("no two words found")


def hash_of(word):
    return int(Vocabulary.of([word]).hashes[0][0])


@pytest.mark.parametrize("beginning", [b"", b"longwords", b"a beginning of any length"])
def test_words_of_one_hash_are_told_apart_everywhere(beginning):
    """Of sixteen bytes, and of more: those are kept elsewhere and compared byte by byte."""
    one, two = collision(beginning.replace(b" ", b"_")[: len(beginning) // 8 * 8])
    assert one != two
    assert hash_of(one) == hash_of(two)
    documents = [f"{one} x {two} x {two}", f"{two} {one} {one} y {one}", f"x {one}", f"y {two} {two}"]
    labels = ["a", "b", "b", "a"]
    words = Words(ngrams=(1, 3), token=r"\w+")
    features = [grams(document.split(), (1, 3)) for document in documents]
    assert counted(documents, words, labels, documents_too=True) == list(wanted(features, labels))

    def bag(rows):
        codes = np.array(["ab".index(labels[i]) for i in rows], np.int32)
        source = ListText("text", [documents[i] for i in rows])
        return word_features.count(source, words, codes, labels_of(["a", "b"]))[0]

    whole, parts = bag(range(4)), [bag([i]) for i in range(4)]
    assert [*map(Counter, looked_up(documents, words, whole.vocabulary))] == [*map(Counter, features)]
    assert whole.vocabulary.texts(whole.vocabulary.find([one, two, f"{one} x", f"{two} x"])) == [
        one, two, f"{one} x", f"{two} x",
    ]  # fmt: skip
    united = parts[3].plus("words", parts[2]).plus("words", parts[1]).plus("words", parts[0])
    assert united == whole
    assert whole.minus("words", parts[0]).minus("words", parts[3]) == parts[1].plus("words", parts[2])
    only_one = bag([2])
    assert only_one.vocabulary.find([two]).tolist() == [-1]
    assert looked_up([f"{two} {one}"], words, only_one.vocabulary)[0] == [one]
    again = Vocabulary.parts(
        whole.vocabulary.data, whole.vocabulary.ends, whole.vocabulary.parents, whole.vocabulary.lasts
    )
    assert again.same(whole.vocabulary)


def test_vocabularies_with_equal_hashes_unite_by_their_words():
    def vocabulary(*given_words):
        joined = "".join(given_words).encode()
        ends = np.cumsum([len(word.encode()) for word in given_words], dtype=np.int64)
        return Vocabulary(np.frombuffer(joined, np.uint8), ends, (np.full(len(given_words), 7, np.uint64),))

    one, two = vocabulary("aaaaaaaaaa", "cccccccccc"), vocabulary("aaaaaaaaab", "cccccccccc", "ccccccccccc")
    united, a, b = one.unite(two)
    assert united.words() == ["aaaaaaaaaa", "aaaaaaaaab", "cccccccccc", "ccccccccccc"]
    assert (a.tolist(), b.tolist()) == ([0, 2], [1, 2, 3])
