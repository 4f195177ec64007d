"""N-grams: the loops index, share out, score and draw what plain dictionaries of tuples would."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from ingenuo.errors import EmptyModelError, InputError, KindError
from ingenuo.families.ngrams import END, START, UNKNOWN, Counted, Smoothing, estimate
from ingenuo.kernels import ngrams as loops
from ingenuo.kernels.threads import limited
from ingenuo.tally.prior import Dirichlet, Laplace, Lidstone, MaximumLikelihood, MEstimate

TEXTS = [["a", "b", "a", "c"], ["a", "b"], [], ["b", "b", "a", "b"]]
SMOOTHINGS = ["ml", "kneser-ney", Laplace(), Lidstone(0.3), MEstimate(2), Dirichlet({"a": 3.0})]

texts = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=6)
orders = st.integers(1, 4)


def events(text, order, boundaries):
    """(context, word) of every counted word of a text, the context as long as can be."""
    padded = [START] * (order - 1) + list(text) + [END] if boundaries else list(text)
    for place in range(order - 1 if boundaries else 0, len(padded)):
        yield tuple(padded[max(0, place - order + 1) : place]), padded[place]


def ngram_counts(some_texts, order, boundaries):
    counts = Counter()
    for text in some_texts:
        for context, word in events(text, order, boundaries):
            for start in range(len(context) + 1):
                counts[(*context[start:], word)] += 1
    return counts


class Tree:
    """The n-grams of some texts as the arrays that the loops take, in any order within a length."""

    def __init__(self, some_texts, order, boundaries=True, seed=0, classes=None):
        each = [ngram_counts([text], order, boundaries) for text in some_texts]
        self.counts = sum(each, Counter())
        self.order, self.boundaries = order, boundaries
        grams = sorted({gram[: n + 1] for gram in self.counts for n in range(len(gram))})
        np.random.default_rng(seed).shuffle(grams)
        levels = [[tuple(gram) for gram in grams if len(gram) == n] for n in range(1, order + 1)]
        place = {gram: i for level in levels for i, gram in enumerate(level)}
        self.grams = [gram for level in levels for gram in level]
        self.words = [word for (word,) in levels[0]]
        self.id = {word: i for i, word in enumerate(self.words)}
        parents = [np.array([place[gram[:-1]] for gram in level], np.int32) for level in levels[1:]]
        lasts = [np.array([place[gram[-1:]] for gram in level], np.int32) for level in levels[1:]]
        self.parents, self.lasts = parents, lasts
        self.trie = loops.build_trie(parents, lasts, len(self.words), order)
        labels = np.zeros(len(some_texts), int) if classes is None else np.asarray(classes)
        self.table = np.array(
            [
                [sum(each[i][gram] for i in np.flatnonzero(labels == k)) for gram in self.grams]
                for k in range(labels.max() + 1)
            ],
            np.int64,
        )

    def parameters(self, smoothing, discount=0.75, base="observed"):
        chosen = Smoothing.of(smoothing, self.order, discount, base)
        start = self.id.get(START, -1) if self.boundaries else -1
        return estimate(self.counted(), self.order, chosen, lambda: self.words, start, self.id.get(END, -1))

    def counted(self):
        return Counted(len(self.words), self.parents, self.lasts, [(np.arange(len(row)), row) for row in self.table])

    def ids(self, words):
        return [self.id.get(word, -1) for word in words]

    def contexts(self):
        """Every context that was seen, and some that were not."""
        seen = {gram[:-1] for gram in self.counts}
        return sorted(seen | {("d",) * n for n in range(self.order)} | {("?",) * n for n in range(self.order)})

    def vocabulary(self):
        return [word for word in self.words if self.counts[(word,)]]


def test_continuations_of_a_context_stand_side_by_side_sorted_by_their_word():
    tree = Tree(TEXTS, 3, seed=5)
    trie = tree.trie
    names = [(), *(tree.grams[i] for i in trie.old)]
    for node, gram in enumerate(names):
        children = range(trie.first[node], trie.first[node + 1])
        assert sorted(names[child] for child in children) == sorted(g for g in names if g and g[:-1] == gram)
        words = [int(trie.last[child]) for child in children]
        assert words == sorted(words)
        assert all(tree.words[trie.last[child]] == names[child][-1] for child in children)
        assert names[trie.suffix[node]] == gram[1:]


@given(texts, orders, st.booleans(), st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_the_words_before_an_n_gram_are_counted_once_each(some_texts, order, boundaries, seed):
    tree = Tree(some_texts, order, boundaries, seed)
    counts = loops.order_counts(tree.trie, tree.table[0])
    found = loops.count_preceding(tree.trie, counts)
    for node, place in enumerate(tree.trie.old, 1):
        gram = tree.grams[place]
        assert found[node] == sum(1 for longer in tree.counts if longer[1:] == gram)


def reference(tree, word, context, discount=Fraction(3, 4), uniform=False):
    """The estimate by its definition, in rational arithmetic; None where the context was never seen."""
    vocabulary = tree.vocabulary()
    size, order = len(vocabulary) + 1, tree.order

    def follow(context, count):
        return {w: count((*context, w)) for w in vocabulary}

    def raw(gram):
        return tree.counts[gram]

    def types(gram):
        return sum(1 for longer in tree.counts if longer[1:] == gram)

    def lower(context):
        if context:
            return p(context[1:])
        return Fraction(1, size) if uniform else None

    def p(context):
        top = len(context) + 1 == order
        seen = follow(context, raw if top else types)
        if not context and not any(seen.values()):
            seen = follow(context, raw)
        total, distinct = sum(seen.values()), sum(1 for c in seen.values() if c)
        c = Fraction(seen.get(word, 0))
        if not total:
            return lower(context)
        below = lower(context)
        if below is None:
            return c / total
        return max(c - discount, 0) / total + discount * distinct / total * below

    return p(tuple(context))


@pytest.mark.parametrize("base", ["observed", "uniform"])
@given(some_texts=texts, order=orders, boundaries=st.booleans())
@settings(max_examples=25, deadline=None)
def test_kneser_ney_is_what_its_definition_says(base, some_texts, order, boundaries):
    tree = Tree(some_texts, order, boundaries)
    if not tree.counts:
        return
    parameters = tree.parameters("kneser-ney", base=base)
    for context in tree.contexts()[:40]:
        found = parameters.distribution(tree.ids(context))
        for word in [*tree.vocabulary(), "?"]:
            wanted = reference(tree, word, context, uniform=base == "uniform")
            assert found[tree.id.get(word, -1)] == pytest.approx(float(wanted), abs=1e-13)


@pytest.mark.parametrize("base", ["observed", "uniform"])
@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
@given(some_texts=texts, order=orders, boundaries=st.booleans(), discount=st.floats(0, 1))
@settings(max_examples=25, deadline=None)
def test_probabilities_sum_to_one_in_every_context(smoothing, base, some_texts, order, boundaries, discount):
    tree = Tree(some_texts, order, boundaries)
    if not tree.counts:
        return
    parameters = tree.parameters(smoothing, discount, base)
    for context in tree.contexts():
        found = parameters.distribution(tree.ids(context))
        assert found.sum() == pytest.approx(1, abs=1e-12)
        assert (found >= 0).all()
        if START in tree.id and boundaries:
            assert found[tree.id[START]] == 0


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
@given(some_texts=texts, asked=texts, order=orders, boundaries=st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_text_scores_the_sum_of_its_words(smoothing, some_texts, asked, order, boundaries):
    tree = Tree(some_texts, order, boundaries)
    if not tree.counts:
        return
    parameters = tree.parameters(smoothing)
    words = np.array(tree.ids([word for text in asked for word in text]), np.int32)
    ends = np.cumsum([len(text) for text in asked], dtype=np.int64)
    end = parameters.end if boundaries else -1
    found = loops.log_probabilities(tree.trie, parameters.chances, parameters.start, end, words, ends)
    with np.errstate(divide="ignore"):
        wanted = [
            sum(
                np.log(parameters.distribution(tree.ids(context))[tree.id.get(word, -1)])
                for context, word in events(text, order, boundaries)
            )
            for text in asked
        ]
    np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-9, atol=1e-12)


def test_the_number_of_threads_does_not_matter():
    rng = np.random.default_rng(0)
    many = [[f"w{i}" for i in rng.integers(0, 30, n)] for n in rng.integers(0, 40, 2500)]
    tree = Tree(many[:50], 3)
    parameters = tree.parameters("kneser-ney", base="uniform")
    words = np.array(tree.ids([word for text in many for word in text]), np.int32)
    ends = np.cumsum([len(text) for text in many], dtype=np.int64)
    ask = (tree.trie, parameters.chances, parameters.start, parameters.end, words, ends)
    with limited(1):
        alone = loops.log_probabilities(*ask)
    with limited(3):
        np.testing.assert_array_equal(loops.log_probabilities(*ask), alone)
    assert loops.log_probabilities(*ask[:4], words[:0], ends[:0]).shape == (0, 1)


def test_a_floor_stands_in_for_the_impossible():
    tree = Tree(TEXTS, 2)
    parameters = tree.parameters("ml")
    ask = (tree.trie, parameters.chances, parameters.start, parameters.end, np.array([-1, -1], np.int32), np.array([2]))
    assert loops.log_probabilities(*ask)[0, 0] == -np.inf
    assert -2100 < loops.log_probabilities(*ask, -1000.0)[0, 0] < -2000


def test_each_class_has_its_own_probabilities_over_one_vocabulary():
    both = Tree(TEXTS, 2, classes=[0, 1, 0, 1])
    for k, own in enumerate(([TEXTS[0], TEXTS[2]], [TEXTS[1], TEXTS[3]])):
        alone = Tree(own, 2)
        for smoothing in ("ml", "kneser-ney"):
            for context in alone.contexts():
                mixed = both.parameters(smoothing).distribution(both.ids(context), k)
                pure = alone.parameters(smoothing).distribution(alone.ids(context))
                for word in alone.vocabulary():
                    assert mixed[both.id[word]] == pytest.approx(pure[alone.id[word]])
    # With a prior the classes differ in their counts, never in the size of the vocabulary: a b c </s> <unk>
    added = both.parameters(Laplace())
    assert added.distribution([], 0)[both.id["c"]] == pytest.approx(2 / (6 + 5))
    assert added.distribution([], 1)[both.id["c"]] == pytest.approx(1 / (8 + 5))


def test_a_class_that_saw_nothing_has_the_frequencies_of_all():
    tree = Tree(TEXTS, 2)
    tree.table = np.vstack([tree.table, np.zeros_like(tree.table)])
    for smoothing in ("ml", "kneser-ney"):
        found = tree.parameters(smoothing).distribution(tree.ids(["a"]), 1)
        assert found[tree.id["b"]] == pytest.approx(5 / 14)
        assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("smoothing", "base", "written"),
    [
        ("ml", "observed", ["2/4", "3/4", "0/5", "4/14"]),
        (Laplace(), "observed", ["(2 + 1)/(4 + 5)", "(3 + 1)/(4 + 5)", "(0 + 1)/(5 + 5)", "(0 + 1)/(0 + 5)"]),
        # before a stand <s>, b; before b: <s>, a, b; before c: a; before </s>: <s>, b, c: 2 + 3 + 1 + 3 = 9
        ("kneser-ney", "observed",
         ["(2 - 0.75)/4 + 0.5625·0.222222", "(3 - 0.75)/4 + 0.375·0.333333", "0/5 + 0.45·0", "3/9"]),
        ("kneser-ney", "uniform",
         ["(2 - 0.75)/4 + 0.5625·0.205556", "(3 - 0.75)/4 + 0.375·0.316667", "0/5 + 0.45·0.0666667",
          "(3 - 0.75)/9 + 0.333333·0.2"]),
    ],
)  # fmt: skip
def test_every_probability_is_written_as_a_person_would(smoothing, base, written):
    # a after <s>, b after a, an unknown word after b, the end after that
    tree = Tree(TEXTS, 2)
    parameters = tree.parameters(smoothing, base=base)
    lines = parameters.terms(np.array(tree.ids(["a", "b", "?", END]), np.int32))
    assert [line[0].how for line in lines] == written
    for line, how in zip(lines, written):
        assert line[0].value == pytest.approx(eval(how.replace("·", "*")), rel=1e-5)


@given(texts, orders, st.sampled_from(SMOOTHINGS), st.sampled_from(["observed", "uniform"]))
@settings(max_examples=30, deadline=None)
def test_what_is_written_is_what_it_comes_to(some_texts, order, smoothing, base):
    tree = Tree(some_texts, order)
    parameters = tree.parameters(smoothing, base=base)
    for line in parameters.terms(np.array(tree.ids([*some_texts[0], "?", "a", "b", END]), np.int32)):
        assert line[0].value == pytest.approx(eval(line[0].how.replace("·", "*")), rel=1e-4, abs=1e-9)


def drawn(tree, parameters, context=None, n_words=0, n_documents=0, seed=0):
    begin = parameters.start if context is None else loops.find_contexts(tree.trie, tree.ids(context))
    sums = loops.sum_shares(tree.trie, parameters.chances, 0)
    end = parameters.end if tree.boundaries else -1
    generator = np.random.default_rng(seed)
    words, ends = loops.draw(
        tree.trie, sums, parameters.chances.direct, -1, begin, parameters.start, end, n_words, n_documents, generator
    )
    return [tree.words[i] for i in words], ends.tolist()


@pytest.mark.parametrize("context", [["a"], ["b"], ["d"], ["a", "b"], ["c", "?"], []], ids="-".join)
@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
def test_words_are_drawn_by_their_probabilities(smoothing, context):
    rng = np.random.default_rng(3)
    some_texts = [list(rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05])) for n in rng.integers(0, 6, 40)]
    tree = Tree(some_texts, 3)
    parameters = tree.parameters(smoothing, base="uniform")
    n = 1000
    sums = loops.sum_shares(tree.trie, parameters.chances, 0)
    begin = loops.find_contexts(tree.trie, tree.ids(context))
    generator = np.random.default_rng(0)
    found = Counter()
    for _ in range(n):  # the first word of a text of one; the end of a document shows as one that has no words
        words, ends = loops.draw(
            tree.trie, sums, parameters.chances.direct, -1, begin, begin, parameters.end, 0, 1, generator
        )
        found[tree.words[words[0]] if ends[0] else END] += 1
    wanted = parameters.distribution(tree.ids(context))
    expected = {word: wanted[tree.id[word]] / (1 - wanted[-1]) for word in tree.vocabulary()}
    assert set(found) <= {word for word, p in expected.items() if p > 0}
    possible = [word for word, p in expected.items() if p > 0]
    if len(possible) > 1:
        assert chisquare([found[w] for w in possible], [n * expected[w] for w in possible]).pvalue > 1e-4


def test_transitions_in_a_long_text_are_those_of_the_model():
    tree = Tree(TEXTS * 3, 2)
    parameters = tree.parameters("kneser-ney")
    words, _ = drawn(tree, parameters, n_words=20_000, seed=1)
    pairs = Counter(pairwise(words))
    after = {w: parameters.distribution(tree.ids(["a"]))[tree.id[w]] for w in tree.vocabulary()}
    begin = parameters.distribution(tree.ids([START]))
    again = begin[tree.id[END]]  # an empty document, after which another begins
    expected = {w: after[w] + after[END] * begin[tree.id[w]] / (1 - again) for w in "abc"}
    n = sum(pairs["a", w] for w in "abc")
    assert sum(expected.values()) == pytest.approx(1)
    assert chisquare([pairs["a", w] for w in "abc"], [n * expected[w] for w in "abc"]).pvalue > 1e-4


def test_documents_end_where_they_end():
    tree = Tree([["a", "b"], ["c"]], 3)
    words, ends = drawn(tree, tree.parameters("ml"), n_documents=50)
    found = {tuple(words[low:high]) for low, high in zip([0, *ends], ends)}
    assert found == {("a", "b"), ("c",)}
    assert len(ends) == 50


def test_unknown_words_are_never_drawn():
    # "a" was followed by nothing, so that after it a prior that speaks of <unk> alone knows nothing else
    tree = Tree([["b", "a"]], 2, boundaries=False)
    parameters = tree.parameters(Dirichlet({"<unk>": 5.0}))
    assert parameters.distribution(tree.ids(["a"]))[-1] == 1
    words, _ = drawn(tree, parameters, n_words=500)
    assert set(words) == {"a", "b"}


def test_a_document_without_an_end_is_given_up(monkeypatch):
    monkeypatch.setattr(loops, "LONGEST", 1000)
    tree = Tree([["a", "a", "b"]], 2)
    parameters = tree.parameters(Dirichlet({"a": 1e9}))
    words, ends = drawn(tree, parameters, n_documents=1)
    assert ends == []
    assert len(words) == 1001
    empty = Tree([["a"], []], 1)
    empty.table[:, [empty.grams.index(("a",))]] = 0
    assert drawn(empty, empty.parameters("ml"), n_words=3)[0] == []


def test_draws_are_those_of_the_generator():
    tree = Tree(TEXTS, 1, boundaries=False)
    sums = loops.sum_shares(tree.trie, tree.parameters("ml").chances, 0)
    begin = loops.find_contexts(tree.trie, [])
    for bits in (np.random.PCG64, np.random.MT19937):
        drawn, plain = np.random.Generator(bits(3)), np.random.Generator(bits(3))
        words, _ = loops.draw(tree.trie, sums, False, -1, begin, begin, -1, 10_000, 0, drawn)
        assert words.tolist() == np.searchsorted(sums[0][1:], plain.random(10_000), "right").tolist()
        assert drawn.random() == plain.random()


def test_a_sequence_is_scored_the_same_alone_and_among_others():
    tree = Tree(TEXTS, 3)
    p = tree.parameters("kneser-ney")
    words = np.random.default_rng(0).integers(-1, len(tree.words), 3000).astype(np.int32)
    ends = np.sort(np.random.default_rng(1).integers(0, 3001, 40))
    ends[-1] = 3000
    found = loops.log_probabilities(p.trie, p.chances, p.start, p.end, words, ends)
    for (low, high), row in zip(pairwise([0, *ends.tolist()]), found):
        alone = loops.log_probabilities(p.trie, p.chances, p.start, p.end, words[low:high], np.array([high - low]))
        assert alone.tobytes() == row.tobytes()
    assert loops.log_probabilities(p.trie, p.chances, p.start, p.end, words[:0], ends[:0]).shape == (0, 1)


def test_counts_of_no_text_are_noticed():
    tree = Tree(TEXTS, 2)
    counts = loops.order_counts(tree.trie, tree.table[0])
    assert loops.is_consistent(tree.trie, counts)
    counts[1 + tree.trie.old.tolist().index(tree.grams.index(("b",)))] -= 1
    assert not loops.is_consistent(tree.trie, counts)
    with pytest.raises(InputError, match="of 3 words is there without its last 2"):  # a b b, but no b b
        loops.build_trie([np.array([0], np.int32), np.array([0], np.int32)], [np.array([1], np.int32)] * 2, 2, 3)


def test_an_order_that_no_text_reaches_does_no_harm():
    tree = Tree([["a"], ["b"]], 4, boundaries=False)
    assert tree.parameters("kneser-ney").distribution(tree.ids(["a", "b"]))[tree.id["a"]] == 0.5


@given(texts, st.integers(1, 3), st.integers(2, 4), st.booleans())
@settings(max_examples=25, deadline=None)
def test_rare_words_count_as_one_unknown_word(some_texts, order, min_count, boundaries):
    tree = Tree(some_texts, order, boundaries)
    if not tree.counts:
        return
    rare = {word for word in "abcd" if 0 < tree.counts[(word,)] < min_count}
    masked = Tree([[UNKNOWN if w in rare else w for w in text] for text in some_texts], order, boundaries)
    counted = tree.counted()
    folded, new = counted.fold_rare(min_count, tree.id.get(END, -1))
    if not rare:
        assert folded is counted
        return
    names = dict(zip(new.tolist(), [UNKNOWN if word in rare else word for word in tree.words]))
    assert names[folded.n_words - 1] == UNKNOWN
    grams, found = [(names[i],) for i in range(folded.n_words)], []
    found += grams
    for parent, last in zip(folded.parents, folded.lasts):
        grams = [(*grams[p], names[w]) for p, w in zip(parent.tolist(), last.tolist())]
        found += grams
    assert len(found) == len(masked.grams)
    assert {gram: c for gram, c in zip(found, folded.column(0).tolist()) if c} == dict(masked.counts)


def test_a_rare_word_that_stands_for_all_unknown_ones_is_not_drawn():
    tree = Tree([["a", UNKNOWN, "b"], [UNKNOWN, "a"]], 2, boundaries=False)
    unknown = tree.id[UNKNOWN]
    parameters = estimate(tree.counted(), 2, Smoothing("prior"), lambda: tree.words, -1, -1, unknown)
    assert parameters.distribution(tree.ids(["a"]))[unknown] == 1  # so that after a the context gives way
    sums = loops.sum_shares(tree.trie, parameters.chances, 0)
    begin = loops.find_contexts(tree.trie, [])
    words, _ = loops.draw(tree.trie, sums, False, unknown, begin, begin, -1, 300, 0, np.random.default_rng(0))
    assert {tree.words[i] for i in words} == {"a", "b"}
    added = estimate(tree.counted(), 2, Smoothing("prior", Laplace()), lambda: tree.words, -1, -1, unknown)
    assert added.distribution([])[unknown] == pytest.approx((2 + 1) / (5 + 3))  # V = {a, b, <unk>}


@pytest.mark.parametrize(
    ("given_", "error", "said"),
    [
        (("kneser-nay", 2, 0.75, "observed"), InputError, "did you mean 'kneser-ney'"),
        ((3, 2, 0.75, "observed"), KindError, "smoothing must be a Prior"),
        (("ml", 2, 1.5, "observed"), InputError, "discount is 1.5; it must be at least 0 and at most 1"),
        (("ml", 2, float("nan"), "observed"), InputError, "discount is nan"),
        (("ml", 2, True, "observed"), KindError, "discount must be a number"),
        (("ml", 2, 0.5, "unform"), InputError, "did you mean 'uniform'"),
        (("ml", 2, 0.5, None), KindError, "base must be one of observed, uniform, got NoneType None"),
    ],
)
def test_bad_settings_are_refused(given_, error, said):
    with pytest.raises(error, match=said):
        Smoothing.of(*given_)


def test_the_default_smoothing_depends_on_the_order():
    assert Smoothing.of(None, 1, 0.75, "observed").prior == Laplace()
    assert Smoothing.of(None, 2, 0.5, "uniform") == Smoothing("kneser-ney", MaximumLikelihood(), 0.5, True)


def test_a_model_without_a_word_says_so():
    tree = Tree(TEXTS, 2)
    tree.table[:] = 0
    with pytest.raises(EmptyModelError, match="seen no word"):
        tree.parameters("ml")
