"""Learning text is adding too: whatever counts as a feature, models merge, stream and forget to the last bit."""

from __future__ import annotations

import copy
import re
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingenuo.errors import EmptyModelError, ForgetError, MergeError
from ingenuo.kernels.threads import limited
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.text.words import Words

ordinary = settings(deadline=None, max_examples=8)

KINDS = {
    "counts": Words(),
    "one letter": Words(token=r"\w+", lowercase=False),
    "a token of Python's": Words(token=r"[\w']+", negation="english", stop_words=["don't"], ngrams=(1, 2)),
    "a function": Words(token=re.compile("[ ,]").split, stem="english"),
    "binary": Words(binary=True),
    "complement": Words(model="complement"),
    "bernoulli": Words(model="bernoulli"),
    "n-grams": Words(ngrams=(1, 3)),
    "pairs alone": Words(ngrams=(2, 2), binary=True),
    "characters": Words(characters=(2, 3)),
    "hashed characters": Words(characters=(1, 4), hashed=64, binary=True),
    "hashed": Words(hashed=8),
    "hashed pairs": Words(ngrams=(1, 2), hashed=64, model="bernoulli"),
    "tf-idf": Words(weighting="tfidf"),
    "tf-idf of pairs": Words(weighting="tfidf", ngrams=(1, 2), model="complement"),
    "binary tf-idf": Words(weighting="tfidf", binary=True),
    "negation": Words(negation="english"),
    "stems": Words(stem="english", ngrams=(1, 2)),
    "stop words": Words(stop_words=["the", "cat"], ngrams=(1, 2)),
    "the most frequent left out": Words(stop_words=2),
    "lexicon": Words(lexicon={"good": 1, "awful": -1}, negation="english", ngrams=(2, 2)),
    "everything": Words(
        stem="english", stop_words="english", negation="english", lexicon={"loved": 1}, ngrams=(1, 2), weighting="tfidf"
    ),
    "limits": Words(min_count=2, min_documents=2, max_documents=0.9, max_words=4),
}
every_kind = pytest.mark.parametrize("kind", KINDS)

# Words that most draws share, and words that few do: vocabularies overlap in some draws and are disjoint in others.
word = st.sampled_from(
    [
        "the",
        "cat",
        "good",
        "awful",
        "loved",
        "loving",
        "not",
        "don't",
        "a",
        ",",
        "Σας",
        "été",
        "x1",
        "a_rather_long_word",
    ]
    + [f"rare{i}" for i in range(12)]
)
text = st.one_of(st.none(), st.just(""), st.just("?! a"), st.lists(word, max_size=9).map(" ".join))
row = st.tuples(text, st.sampled_from(["no", "yes", "maybe"]))
some_rows = st.lists(row, min_size=1, max_size=8)


def table(rows):
    return pa.table({"said": pa.array([said for said, _ in rows], pa.string())}), [label for _, label in rows]


def new(kind, **settings):
    return NaiveBayes({"said": "text"}, text=KINDS[kind], **settings)


def learned(kind, rows, weights=None):
    return new(kind).partial_fit(*table(rows), sample_weight=weights)


ASKED = table([(said, "") for said in [
    None, "", "the cat", "good good cat , not awful", "rare1 rare2 the", "never seen", "loved the loving cat été Σας",
]])[0]  # fmt: skip


def answers(model):
    """What the model says of some texts, as bytes: equal only if equal to the last bit."""
    return model.predict_joint_log_proba(ASKED).tobytes(), model.predict_proba(ASKED).tobytes()


def assert_same(one, two):
    assert one.tally_ == two.tally_
    assert one.classes_.tolist() == two.classes_.tolist()
    assert answers(one) == answers(two)


@every_kind
@ordinary
@given(a=some_rows, b=some_rows)
def test_merging_models_equals_learning_all_the_rows(kind, a, b):
    assert_same(learned(kind, a).merge(learned(kind, b)), learned(kind, a + b))


@every_kind
@ordinary
@given(a=some_rows, b=some_rows, c=some_rows)
def test_merging_is_commutative_and_associative(kind, a, b, c):
    a, b, c = (learned(kind, rows) for rows in (a, b, c))
    assert_same((a + b) + c, a + (b + c))
    assert_same(a + b, b + a)


@every_kind
@ordinary
@given(kept=some_rows, forgotten=some_rows)
def test_forgetting_equals_never_having_seen(kind, kept, forgotten):
    assert_same(learned(kind, kept + forgotten).forget(*table(forgotten)), learned(kind, kept))


@every_kind
@ordinary
@given(rows=some_rows, cuts=st.sets(st.integers(1, 7)))
def test_the_cutting_into_chunks_cannot_be_told(kind, rows, cuts):
    model = new(kind)
    for lo, hi in pairwise([0, *sorted(cut for cut in cuts if cut < len(rows)), len(rows)]):
        model.partial_fit(*table(rows[lo:hi]))
    assert_same(model, learned(kind, rows))


@every_kind
@ordinary
@given(rows=some_rows, random=st.randoms(use_true_random=False))
def test_the_order_of_the_rows_cannot_be_told(kind, rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert_same(learned(kind, shuffled), learned(kind, rows))


@every_kind
@ordinary
@given(rows=some_rows, times=st.integers(1, 3))
def test_a_whole_weight_is_the_row_so_many_times(kind, rows, times):
    weighted = learned(kind, rows, np.full(len(rows), times))
    assert_same(weighted, learned(kind, rows * times))
    assert weighted.tally_ == learned(kind, rows).tally_.scale(times)


@every_kind
@ordinary
@given(rows=some_rows, ignored=some_rows)
def test_a_row_of_weight_zero_is_no_row(kind, rows, ignored):
    weights = np.r_[np.ones(len(rows)), np.zeros(len(ignored))]
    assert_same(learned(kind, rows + ignored, weights), learned(kind, rows))


# Not where words are ranked: which are the most frequent may hang on the last bit.
@pytest.mark.parametrize(
    "kind", [kind for kind, words in KINDS.items() if not words.most_frequent and not words.max_words]
)
@ordinary
@given(
    rows=st.lists(st.tuples(row, st.sampled_from([0.25, 0.1, 1.5, 1e-6, 3.0])), min_size=1, max_size=6), more=some_rows
)
def test_weights_that_are_fractions_add_and_subtract_to_within_rounding(kind, rows, more):
    """Sums of fractions are doubles, so the answers agree to rounding; the limits see the same words."""
    weights = np.array([weight for _, weight in rows])
    rows = [each for each, _ in rows]
    model = learned(kind, rows, weights)
    said = model.predict_joint_log_proba(ASKED)
    half = len(more) // 2
    amounts = np.linspace(0.3, 0.7, len(more))
    X, y = table(more)
    model.partial_fit(X, y, sample_weight=amounts)
    model.forget(X[half:], y[half:], sample_weight=amounts[half:])
    if half:
        model.forget(X[:half], y[:half], sample_weight=amounts[:half])
    np.testing.assert_allclose(model.predict_joint_log_proba(ASKED), said, rtol=1e-7)


@every_kind
@ordinary
@given(rows=some_rows, others=some_rows)
def test_forgetting_what_was_not_learned_raises_and_changes_nothing(kind, rows, others):
    model = learned(kind, rows)
    before, said = model.tally_, answers(model)
    with pytest.raises(ForgetError):
        model.forget(*table(rows + others))
    assert model.tally_ == before
    assert answers(model) == said


@every_kind
@ordinary
@given(rows=some_rows, cut=st.integers(0, 8))
def test_forgetting_everything_leaves_nothing_and_the_model_can_begin_again(kind, rows, cut):
    model = learned(kind, rows).forget(*table(rows[cut:])) if rows[cut:] else learned(kind, rows)
    if rows[:cut]:
        model.forget(*table(rows[:cut]))
    assert len(model.tally_) == 0
    with pytest.raises(EmptyModelError, match="forgotten every row"):
        model.predict(ASKED)
    assert_same(model.partial_fit(*table(rows)), learned(kind, rows))


@every_kind
def test_vocabularies_without_a_word_in_common_merge_and_part_again(kind):
    one = [("alpha beta , not gamma good", "no"), ("beta beta alpha gamma", "yes"), (None, "yes"), ("", "no")]
    two = [("delta epsilon loved epsilon", "yes"), ("zeta delta not awful", "maybe"), ("epsilon zeta", "maybe")]
    a, b = learned(kind, one), learned(kind, two)
    both = a + b
    assert_same(both, learned(kind, [two[1], one[3], one[0], two[0], one[1], two[2], one[2]]))
    assert both.tally_ - a.tally_ == b.tally_
    assert both.tally_ - b.tally_ == a.tally_
    assert len(both.tally_ - a.tally_ - b.tally_) == 0
    assert_same(both.forget(*table(two)), a)


@every_kind
def test_threads_cannot_be_told_from_the_model(kind):
    rng = np.random.default_rng(5)
    pool = np.array(["the", "cat", "good", "not", ",", "awful", *(f"word{i}" for i in range(3000))], object)
    rows = [(" ".join(rng.choice(pool, 300)), str(rng.integers(4))) for _ in range(400)]
    made = []
    for width in (1, 2, 5):
        with limited(width):
            model = learned(kind, rows)
            made.append((model, model.predict_joint_log_proba(table(rows)[0])))
    for model, said in made[1:]:
        assert model.tally_ == made[0][0].tally_
        assert said.tobytes() == made[0][1].tobytes()


PLAIN = [("the good cat", "yes"), ("good good", "yes"), ("the awful cat", "no"), ("awful", "no")]


@pytest.mark.parametrize(
    ("words", "said", "label", "message"),
    [
        (Words(), "dog", "yes", "cannot take away 1 of 'dog' from 'text:said:count' at class 'yes', where only 0 was"),
        (
            Words(),
            "cat cat",
            "no",
            "cannot take away 2 of 'cat' from 'text:said:count' at class 'no', where only 1 was",
        ),
        (Words(), "awful", "yes", "cannot take away 1 of 'awful' from 'text:said:count' at class 'yes'"),
        (Words(), "awful", "maybe", "at class 'maybe', where only 0 was added"),
        (Words(ngrams=(1, 2)), "cat the", "no", "cannot take away 1 of 'cat the' from 'text:said:count'"),
        (Words(binary=True), "dog", "no", "cannot take away 1 of 'dog' from 'text:said:documents'"),
        (Words(), "", "three", "cannot take away 1 from 'class' at class 'three', where only 0 was added"),
        (Words(model="bernoulli"), "", "yes", "class 'yes' would have 1 documents left and 'good' in 2 of them"),
        (Words(weighting="tfidf"), "the", "yes", "would have 1 documents left and 'good' in 2 of them"),
    ],
)
def test_forgetting_a_text_that_was_not_learned_is_noticed_where_the_sums_show_it(words, said, label, message):
    model = NaiveBayes({"said": "text"}, text=words).fit(*table(PLAIN))
    before = model.tally_
    with pytest.raises(ForgetError) as caught:
        model.forget(*table([(said, label)]))
    assert message in str(caught.value)
    assert "only rows that were learned can be forgotten" in str(caught.value)
    assert model.tally_ == before


@every_kind
@pytest.mark.parametrize("said", [None, ""])
def test_a_class_without_rows_can_have_no_words_left(kind, said):
    """Forgotten as missing, or as empty, what was a text: its words would be of no class."""
    model = learned(kind, [*PLAIN, ("not so loved, rare1 rare2 rare3", "maybe")])
    before, said_before = model.tally_, answers(model)
    with pytest.raises(ForgetError, match=r"class 'maybe' would have 0 (rows|documents) left"):
        model.forget(*table([(said, "maybe")]))
    assert model.tally_ == before
    assert answers(model) == said_before


@pytest.mark.parametrize("kind", ["bernoulli", "binary tf-idf", "counts"])
@settings(deadline=None, max_examples=12)
@given(weights=st.lists(st.floats(0.01, 1), min_size=3, max_size=30), place=st.integers(0, 2))
def test_a_word_of_every_document_is_forgotten_with_fractions_as_weights(kind, weights, place):
    """Sums that are rounded on either side must not look like a word in more documents than there are."""
    rows = [("the good cat", "yes")] * len(weights) + [("awful", "no")]
    model = learned(kind, rows, np.array([*weights, 1.0]))
    model.forget(*table(rows[:1]), sample_weight=[weights[place]])
    assert model.class_count_[1] == pytest.approx(sum(weights) - weights[place])


@every_kind
def test_texts_that_are_missing_or_have_no_words_leave_the_answer_to_the_prior(kind):
    model = learned(kind, [*PLAIN, *PLAIN, ("good cat", "yes"), ("so so", "maybe")])
    wordless = " \n" if KINDS[kind].characters else "?!"
    said = model.predict_proba(table([(None, ""), ("", ""), (wordless, "")])[0])
    prior = model.class_count_ / model.class_count_.sum()
    np.testing.assert_allclose(said[0], prior, rtol=1e-12)
    if KINDS[kind].model != "bernoulli":  # where that a word is absent is evidence
        np.testing.assert_allclose(said[1:], [prior, prior], rtol=1e-12)
    else:
        assert abs(said[1] - prior).max() > 1e-3
        np.testing.assert_array_equal(said[1], said[2])


@every_kind
def test_a_missing_text_is_no_document_and_an_empty_one_is(kind):
    model = learned(kind, PLAIN)
    missing, empty = learned(kind, [*PLAIN, (None, "yes")]), learned(kind, [*PLAIN, ("", "yes")])
    axis = np.array(["no", "yes"], object)
    assert missing.tally_.over("class", axis).floats().tolist() == [2, 3]
    assert missing.tally_.over("text:said:rows", axis).floats().tolist() == [2, 2]
    assert empty.tally_.over("text:said:rows", axis).floats().tolist() == [2, 3]
    for other in (missing, empty):
        assert all(other.tally_[name] == model.tally_[name] for name in model.tally_ if name.count(":") == 2
                   and not name.endswith("rows"))  # fmt: skip


def test_words_that_are_counted_in_two_ways_do_not_merge():
    a = NaiveBayes({"said": "text"}, text=Words()).fit(*table(PLAIN))
    before = a.tally_
    for words in (
        Words(binary=True),
        Words(ngrams=(1, 2)),
        Words(hashed=8),
        Words(stop_words=["the"]),
        Words(stem="english"),
    ):
        b = NaiveBayes({"said": "text"}, text=words).fit(*table(PLAIN))
        with pytest.raises(MergeError, match="the words of column 'said' are counted in two ways"):
            a.merge(b)
        assert a.tally_ == before
    with pytest.raises(MergeError, match=r"'text:said:count': one vocabulary has .* only those of the same kind unite"):
        a.tally_ + NaiveBayes({"said": "text"}, text=Words(ngrams=(1, 2))).fit(*table(PLAIN)).tally_


# TF-IDF of unit length: the document frequencies of the first rows measure all others.

UNIT = {
    "unit length": Words(weighting="tfidf", norm="l2"),
    "pairs": Words(weighting="tfidf", norm="l2", ngrams=(1, 2)),
    "binary": Words(weighting="tfidf", norm="l2", binary=True),
    "hashed": Words(weighting="tfidf", norm="l2", hashed=16),
    "limits": Words(weighting="tfidf", norm="l2", min_documents=2),
    "changed": Words(weighting="tfidf", norm="l2", negation="english", stem="english", lexicon={"good": 1}),
    "complement": Words(weighting="tfidf", norm="l2", model="complement"),
}
FIRST = [*PLAIN, ("the cat not good loved", "maybe"), ("the été Σας rare1", "no"), ("good loved loving cat", "yes")]


def unit(kind):
    return NaiveBayes({"said": "text"}, text=UNIT[kind]).fit(*table(FIRST))


def close(one, two):
    np.testing.assert_allclose(
        one.predict_joint_log_proba(ASKED), two.predict_joint_log_proba(ASKED), rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("kind", UNIT)
@ordinary
@given(rows=some_rows, cut=st.integers(0, 8))
def test_unit_lengths_stream_and_forget_by_the_same_frequencies(kind, rows, cut):
    first = unit(kind)
    model = unit(kind).partial_fit(*table(rows))
    pieces = unit(kind)
    for part in (rows[:cut], rows[cut:]):
        if part:
            pieces.partial_fit(*table(part))
    close(pieces, model)
    shuffled = unit(kind).partial_fit(*table(rows[::-1]))
    close(shuffled, model)
    close(model.forget(*table(rows)), first)


@pytest.mark.parametrize("kind", UNIT)
@ordinary
@given(rows=some_rows)
def test_unit_lengths_merge_where_both_began_with_the_same_rows(kind, rows):
    first = unit(kind)
    other = copy.deepcopy(first).forget(*table(FIRST)).partial_fit(*table(rows))
    close(copy.deepcopy(first).merge(other), unit(kind).partial_fit(*table(rows)))
    doubled = NaiveBayes({"said": "text"}, text=UNIT[kind])
    doubled.fit(*table(FIRST)).partial_fit(*table(rows), sample_weight=np.full(len(rows), 2))
    close(doubled, unit(kind).partial_fit(*table(rows + rows)))


@pytest.mark.parametrize("kind", UNIT)
def test_unit_lengths_by_other_frequencies_do_not_merge(kind):
    a = unit(kind)
    b = NaiveBayes({"said": "text"}, text=UNIT[kind]).fit(*table([*FIRST, ("the good cat again", "no")]))
    before = a.tally_
    with pytest.raises(MergeError, match="the documents of column 'said' are of unit length by other document freq"):
        a.merge(b)
    with pytest.raises(MergeError, match="norm=None, which needs no such thing"):
        b.merge(a)
    assert a.tally_ == before
    assert (a + unit(kind)).class_count_.tolist() == (2 * a.class_count_).tolist()


def test_unit_lengths_refuse_to_forget_what_was_never_learned():
    model = unit("unit length")
    before = model.tally_
    with pytest.raises(ForgetError, match="of 'dog' from 'text:said:normalised' at class 'yes'"):
        model.forget(*table([("dog good", "yes")]))
    assert model.tally_ == before
