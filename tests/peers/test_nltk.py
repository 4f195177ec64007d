"""The language model and nltk.lm give the same probabilities on the same counts, to 1e-9."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from ingenuo.models.language import LanguageModel
from ingenuo.tally.prior import Lidstone

theirs = pytest.importorskip("nltk.lm", reason="nltk is the peer that the language model is compared with")

rng = np.random.default_rng(7)
WORDS = [f"w{rank}" for rank in range(40)]
TEXTS = [[WORDS[i] for i in np.minimum(rng.zipf(1.4, n), 40) - 1] for n in rng.integers(0, 15, 80)]
OTHERS = [[WORDS[i] for i in rng.integers(0, 40, 8)] for _ in range(20)]
CASES = {
    "ml": ("ml", lambda order, **given: theirs.MLE(order, **given)),
    "Lidstone": (Lidstone(0.3), lambda order, **given: theirs.Lidstone(0.3, order, **given)),
    "Kneser-Ney": ("kneser-ney", lambda order, **given: theirs.KneserNeyInterpolated(order, discount=0.75, **given)),
}
AGREED = [(case, order) for case in CASES for order in (1, 2, 3, 4) if (case, order) != ("Kneser-Ney", 1)]


def n_grams(text: list[str], order: int) -> list[tuple[str, ...]]:
    """Every n-gram that ends at a word of the text or at its end: what is counted here, for both."""
    padded = ["<s>"] * (order - 1) + text + ["</s>"]
    return [
        tuple(padded[place - n + 1 : place + 1]) for place in range(order - 1, len(padded)) for n in range(1, order + 1)
    ]


def both(case: str, order: int, min_count: int = 1) -> tuple[LanguageModel, object]:
    smoothing, peer = CASES[case]
    ours = LanguageModel(order, smoothing, discount=0.75, min_count=min_count).fit(TEXTS)
    vocabulary = theirs.Vocabulary([*(word for text in TEXTS for word in text), *["</s>"] * len(TEXTS)], min_count)
    counter = theirs.NgramCounter([n_grams(list(vocabulary.lookup(text)), order) for text in TEXTS])
    return ours, peer(order, vocabulary=vocabulary, counter=counter)


def their_probability(model, word: str, context: tuple[str, ...]) -> float:
    """Their score with unknown words masked; "<s>" is known as context, though it is no word of the vocabulary."""
    mask = [w if w == "<s>" else model.vocab.lookup(w) for w in context]
    return model.unmasked_score(model.vocab.lookup(word), tuple(mask))


def seen_contexts(order: int) -> list[tuple[str, ...]]:
    return sorted({gram[:-1] for text in TEXTS for gram in n_grams(text, order)})


@pytest.mark.parametrize(("case", "order"), AGREED)
def test_every_word_has_the_same_probability_in_every_context_that_was_seen(case, order):
    ours, peer = both(case, order)
    asked = [*ours.vocabulary_, "never-seen"]
    for context in seen_contexts(order)[:: 1 if order < 3 else 7]:
        wanted = [their_probability(peer, word, context) for word in asked]
        found = [ours.prob(word, context) for word in asked]
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("case", "order"), AGREED)
def test_rare_words_are_unknown_alike(case, order):
    ours, peer = both(case, order, min_count=4)
    assert 5 < len(ours.vocabulary_) < 30
    for context in [(), *seen_contexts(order)[::7]]:
        for word in [*ours.vocabulary_, "never-seen", "w39"]:
            wanted = their_probability(peer, word, context)
            if case == "ml" and not any(their_probability(peer, w, context) for w in [*ours.vocabulary_, "x"]):
                continue  # a context of theirs that was never seen
            assert ours.prob(word, context) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("case", "order"), [pair for pair in AGREED if pair[0] != "ml" and pair[1] > 1])
def test_contexts_that_were_never_seen_agree_too(case, order):
    ours, peer = both(case, order)
    for context in [("never-seen",), ("</s>",), *([("w1", "never-seen"), ("w39", "w39")] if order > 2 else [])]:
        for word in ["w0", "w5", "</s>", "never-seen"]:
            assert ours.prob(word, context) == pytest.approx(their_probability(peer, word, context), rel=1e-9)


def test_after_a_context_that_was_never_seen_ml_falls_back_where_theirs_is_zero():
    ours, peer = both("ml", 3)
    assert {their_probability(peer, word, ("never-seen", "w0")) for word in ours.vocabulary_} == {0.0}
    assert [ours.prob(word, ("never-seen", "w0")) for word in ours.vocabulary_] == pytest.approx(
        [ours.prob(word, ("w0",)) for word in ours.vocabulary_]
    )
    assert sum(ours.prob(word, ("never-seen", "w0")) for word in ours.vocabulary_) == pytest.approx(1)


def test_without_boundaries_kneser_ney_sums_to_one_where_theirs_does_not():
    # "a b" begins the only text: it was seen, but after no word. Theirs takes the discount of b from what has none.
    texts = [["a", "b", "a", "c"]]
    ours = LanguageModel(3, "kneser-ney", boundaries=False).fit(texts)
    counted = [tuple(texts[0][i : i + n]) for n in (1, 2, 3) for i in range(5 - n)]
    peer = theirs.KneserNeyInterpolated(
        3, discount=0.75, vocabulary=theirs.Vocabulary(texts[0]), counter=theirs.NgramCounter([counted])
    )
    assert sum(peer.unmasked_score(word, ("a",)) for word in "abc") > 1.1
    assert sum(ours.prob(word, ["a"]) for word in ours.vocabulary_) == pytest.approx(1)


@pytest.mark.parametrize("case", ["Lidstone", "Kneser-Ney"])
def test_perplexity_is_the_same(case):
    ours, peer = both(case, 3)
    texts = TEXTS[:30] if case != "Lidstone" else OTHERS
    longest = [gram for text in texts for gram in n_grams(text, 3) if len(gram) == 3]
    logs = [np.log(their_probability(peer, gram[-1], gram[:-1])) for gram in longest]
    assert ours.perplexity(texts) == pytest.approx(np.exp(-np.mean(logs)), rel=1e-9)
    assert ours.score(texts).sum() == pytest.approx(sum(logs), rel=1e-9)


def test_drawn_words_follow_their_probabilities():
    ours, peer = both("Kneser-Ney", 2)
    words = ours.generate(n_words=30_000, seed=0).split()
    after = Counter(second for first, second in pairwise(words) if first == "w0")
    begin = {word: their_probability(peer, word, ("<s>",)) for word in ours.vocabulary_}
    end = their_probability(peer, "</s>", ("w0",))  # then the next document begins, unless it is empty
    for word in ["w0", "w1", "w2"]:
        share = their_probability(peer, word, ("w0",)) + end * begin[word] / (1 - begin["</s>"])
        n = after.total()
        assert after[word] / n == pytest.approx(share, abs=4 * np.sqrt(share / n))
