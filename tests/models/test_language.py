"""Language models: what they say of texts, and what they refuse."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ingenuo.errors import EmptyModelError, ForgetError, InputError, KindError, MergeError
from ingenuo.models.language import LanguageModel, LanguageModelClassifier
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.store import load, save
from ingenuo.tally.prior import Dirichlet, Laplace, Lidstone, MaximumLikelihood, MEstimate
from ingenuo.text.words import Words

SAM = ["I am Sam", "Sam I am", "I do not like green eggs and ham"]
SMOOTHINGS = ["ml", "kneser-ney", Laplace(), Lidstone(0.3), MEstimate(2), Dirichlet({"am": 3.0})]

words = st.sampled_from(["I", "am", "Sam", "ham", "né", "日本", "a_long_word_of_many_letters"])
texts = st.lists(st.lists(words, max_size=6).map(" ".join), min_size=1, max_size=5)
some_smoothing = st.sampled_from(SMOOTHINGS)


# Worked examples.


def test_unigrams_by_hand():
    # a 3, b 1, </s> 2: N = 6 and V = {a, b, </s>, <unk>}
    model = LanguageModel().fit(["a b a", "a"])
    assert model.prob("a") == pytest.approx(4 / 10)
    assert model.prob("</s>") == pytest.approx(3 / 10)
    assert model.prob("zebra") == model.prob("<unk>") == pytest.approx(1 / 10)
    assert model.prob("<s>") == 0
    assert model.score(["b a"])[0] == pytest.approx(math.log(0.2 * 0.4 * 0.3))
    assert model.perplexity(["b a"]) == pytest.approx((0.2 * 0.4 * 0.3) ** (-1 / 3))


def test_bigrams_by_hand():
    # The usual three sentences of Sam: P(I | <s>) = 2/3, P(Sam | am) = 1/2, P(do | I) = 1/3
    model = LanguageModel(2, "ml", text=Words(token=r"\w+", lowercase=False)).fit(SAM)
    assert model.prob("I", ["<s>"]) == pytest.approx(2 / 3)
    assert model.prob("Sam", ["am"]) == pytest.approx(1 / 2)
    assert model.prob("</s>", ["Sam"]) == pytest.approx(1 / 2)
    assert model.prob("do", ["I"]) == pytest.approx(1 / 3)
    assert model.score(["I am Sam"])[0] == pytest.approx(math.log(2 / 3 * 2 / 3 * 1 / 2 * 1 / 2))
    assert model.next(["am"])[:2] == [("</s>", 0.5), ("Sam", 0.5)]


def test_add_alpha_and_map_by_hand():
    # after "am": Sam 1, </s> 1; |V| = 10 words + </s> + <unk> = 12
    texts_of_sam = [text.lower() for text in SAM]
    half = LanguageModel(2, Lidstone(0.5)).fit(texts_of_sam)
    assert half.prob("sam", "am") == pytest.approx(1.5 / (2 + 6))
    assert half.prob("sam", ["zebra"]) == pytest.approx(1 / 12)
    chosen = LanguageModel(2, Dirichlet({"sam": 4.0, "ham": 2.0})).fit(texts_of_sam)
    assert chosen.prob("sam", "am") == pytest.approx((1 + 3) / (2 + 4))
    assert chosen.prob("ham", "am") == pytest.approx((0 + 1) / (2 + 4))
    assert chosen.prob("eggs", "am") == 0


def test_kneser_ney_by_hand():
    # "a b" and "a c": before a: <s>; before b: a; before c: a; before </s>: b, c. So 5 pairs in all.
    model = LanguageModel(2, "kneser-ney", discount=0.5).fit(["a b", "a c"])
    assert model.prob("</s>") == pytest.approx(2 / 5)
    assert model.prob("b", ["a"]) == pytest.approx((1 - 0.5) / 2 + 0.5 * 2 / 2 * 1 / 5)
    assert model.prob("a", ["a"]) == pytest.approx(0.5 * 1 / 5)
    assert model.prob("zebra", ["a"]) == 0
    assert model.prob("a", ["zebra"]) == pytest.approx(1 / 5)
    uniform = LanguageModel(2, "kneser-ney", discount=0.5, base="uniform").fit(["a b", "a c"])
    assert uniform.prob("zebra") == pytest.approx(0.5 * 4 / 5 / 5)  # |V| = 5: a, b, c, </s>, <unk>


# What is true of every model.


vocabularies = st.sampled_from(["open", "closed"])


@given(texts, st.integers(1, 4), some_smoothing, st.booleans(), st.sampled_from(["observed", "uniform"]), vocabularies)
@settings(max_examples=30, deadline=None)
def test_probabilities_over_the_vocabulary_sum_to_one(given_texts, order, smoothing, boundaries, base, vocabulary):
    settings = {"boundaries": boundaries, "base": base, "vocabulary": vocabulary}
    model = LanguageModel(order, smoothing, **settings).fit([*given_texts, "i am"])
    assert ("<unk>" in model.vocabulary_) == (vocabulary == "open")
    contexts = [[], ["am"], ["zebra"], ["<s>"], ["sam", "i"], ["<s>", "<s>", "i"], ["né", "zebra", "am"]]
    for context in contexts:
        assert sum(model.prob(word, context) for word in model.vocabulary_) == pytest.approx(1)
        following = model.next(context, n=len(model.vocabulary_))
        assert sum(p for _, p in following) == pytest.approx(1)
        assert all(p == pytest.approx(model.prob(word, context)) for word, p in following)
        assert [p for _, p in following] == sorted((p for _, p in following), reverse=True)
        if not context:
            assert list(model.phi_.items()) == following


@pytest.mark.parametrize("order", [1, 2, 3])
def test_of_a_context_the_last_words_count(order):
    model = LanguageModel(order).fit(SAM)
    whole = ["like", "green", "i", "am"]
    last = whole[len(whole) - order + 1 :]
    assert model.prob("sam", whole) == model.prob("sam", last)
    assert model.next(" ".join(whole)) == model.next(last)
    assert model.generate(n_words=9, context=whole, seed=1) == model.generate(n_words=9, context=last, seed=1)


def test_phi_is_a_mapping_from_word_to_probability():
    model = LanguageModel(1, Lidstone(0.5), boundaries=False, vocabulary="closed").fit(["a b a", "a", "c b"])
    phi = model.phi_
    assert phi.to_dict() == dict(phi) == {"a": 3.5 / 7.5, "b": 2.5 / 7.5, "c": 1.5 / 7.5}
    assert list(phi) == ["a", "b", "c"]
    assert (phi["b"], phi.get("zebra"), len(phi)) == (2.5 / 7.5, None, 3)
    assert str(phi).split() == ["word", "probability", "a", "0.4667", "b", "0.3333", "c", "0.2"]
    pd.testing.assert_series_equal(pd.Series(phi), pd.Series(phi.to_dict()))
    many = LanguageModel().fit([" ".join(f"w{i}" for i in range(30))]).phi_
    assert str(many).endswith("… and 12 more")


def test_a_closed_vocabulary_leaves_out_what_is_not_in_it():
    """(m + α)/(N + nα), n words, none of them unknown; other words are left out, as naive Bayes does."""
    model = LanguageModel(1, Lidstone(0.5), boundaries=False, vocabulary="closed").fit(["a b a", "a", "c b"])
    assert model.prob("zebra") == model.prob("<unk>") == 0
    assert model.score("a zebra b") == model.score("a b") == pytest.approx(math.log(3.5 / 7.5 * 2.5 / 7.5))
    assert model.perplexity(["a zebra b"]) == model.perplexity(["a b"])
    pairs = LanguageModel(2, vocabulary="closed").fit(SAM)
    assert pairs.score("I zebra am") == pairs.score("I am")
    assert pairs.prob("am", "i zebra") == pairs.prob("am", "i")
    assert pairs.next("i zebra") == pairs.next("i")
    given = LanguageModel(1, vocabulary="closed").fit([["a", "<unk>"]])  # then it is a word like any other
    assert given.prob("<unk>") == given.prob("a") == pytest.approx(2 / 6)
    # After learning, either may be asked for.
    assert model.set_params(vocabulary="open").prob("a") == pytest.approx(3.5 / 8)


@given(texts, texts, st.integers(1, 3), some_smoothing)
@settings(max_examples=25, deadline=None)
def test_streams_merges_and_the_whole_are_one(one, two, order, smoothing):
    whole = LanguageModel(order, smoothing).fit([*one, *two])
    streamed = LanguageModel(order, smoothing).partial_fit(one).partial_fit(two)
    merged = LanguageModel(order, smoothing).fit(one) + LanguageModel(order, smoothing).fit(two)
    assert streamed.tally_ == whole.tally_
    assert merged.tally_ == whole.tally_
    asked = [*one, "i am zebra"]
    np.testing.assert_array_equal(streamed.score(asked), whole.score(asked))
    np.testing.assert_array_equal(merged.score(asked), whole.score(asked))


@given(texts, texts, st.integers(1, 3), some_smoothing)
@settings(max_examples=25, deadline=None)
def test_forgetting_equals_never_having_seen(kept, forgotten, order, smoothing):
    model = LanguageModel(order, smoothing).fit([*kept, *forgotten]).forget(forgotten)
    never = LanguageModel(order, smoothing).fit(kept)
    assert model.tally_ == never.tally_
    assert model.vocabulary_ == never.vocabulary_
    np.testing.assert_array_equal(model.score(["sam i am"]), never.score(["sam i am"]))


def test_merging_leaves_both_as_they_were():
    one, two = LanguageModel(2).fit(["a b"]), LanguageModel(2).fit(["b c"])
    before = copy.deepcopy(one.tally_)
    both = one + two
    assert one.tally_ == before
    assert both.tally_ != before
    assert one.merge(two).tally_ == both.tally_


def test_texts_and_lists_of_their_words_are_the_same():
    given_words = [text.lower().split() for text in SAM]
    assert LanguageModel(3).fit(given_words).tally_ == LanguageModel(3).fit(SAM).tally_
    assert LanguageModel(2).fit([["don't", ",", "stop"]]).vocabulary_ == [",", "</s>", "<unk>", "don't", "stop"]
    assert LanguageModel(2).fit("one text alone").tally_ == LanguageModel(2).fit(["one text alone"]).tally_


def test_words_are_looked_up_as_they_are_cut():
    model = LanguageModel(2).fit(SAM)
    assert model.prob("SAM", "Am") == model.prob("sam", ["am"]) > 0
    assert model.prob("ham", "<s>") == model.prob("ham", ["<s>"])


def fitted():
    return [
        LanguageModel(3, Lidstone(0.5), boundaries=False).fit(SAM),
        LanguageModelClassifier(2, "ml").fit(SAM, ["a", "b", "a"]),
    ]


def answers(model):
    return model.score(SAM) if isinstance(model, LanguageModel) else model.predict_proba(SAM)


@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy], ids=["pickle", "copy"])
@pytest.mark.parametrize("asked_before", [False, True])
def test_a_copy_answers_the_same_and_goes_on_learning(copied, asked_before):
    for model in fitted():
        if asked_before:
            answers(model)
        again = copied(model)
        assert again.tally_ == model.tally_
        np.testing.assert_array_equal(answers(again), answers(model))
        more = (["more"],) if isinstance(model, LanguageModel) else (["more"], ["c"])
        again.partial_fit(*more)
        assert again.tally_ != model.tally_
        assert again.tally_ == model.partial_fit(*more).tally_


def test_a_saved_model_is_the_same(tmp_path):
    for model in fitted():
        save(model, tmp_path / "model.ingenuo")
        again = load(tmp_path / "model.ingenuo")
        assert type(again) is type(model)
        assert again.tally_ == model.tally_
        assert repr(again.get_params()) == repr(model.get_params())
        np.testing.assert_array_equal(answers(again), answers(model))


def test_a_clone_has_the_parameters_and_nothing_else():
    for model in fitted():
        again = clone(model)
        assert repr(again.get_params()) == repr(model.get_params())
        with pytest.raises(NotFittedError):
            _ = again.vocabulary_


def test_texts_come_as_columns_of_any_kind():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    wanted = LanguageModel(2).fit(SAM).tally_
    kinds = [tuple(SAM), np.array(SAM), np.array(SAM, object), pandas.Series(SAM), polars.Series(SAM)]
    for given_texts in [*kinds, pyarrow.array(SAM), pyarrow.chunked_array([SAM[:1], SAM[1:]])]:
        assert LanguageModel(2).fit(given_texts).tally_ == wanted
    for missing in (pandas.Series(["a", None]), polars.Series(["a", None]), pyarrow.array(["a", None])):
        with pytest.raises(InputError, match="text 1 is missing"):
            LanguageModel(2).fit(missing)


def test_words_may_be_left_out_stemmed_or_marked():
    stopped = LanguageModel(2, text=Words(token=r"\w+", stop_words=["and", "am"])).fit(SAM)
    without = [text.replace(" and", "").replace(" am", "") for text in SAM]
    assert stopped.tally_ == LanguageModel(2).fit(without).tally_
    assert stopped.score(SAM)[0] == pytest.approx(LanguageModel(2).fit(without).score(without)[0])
    stems = LanguageModel(2, text=Words(token=r"\w+", stem="english")).fit(["he liked eggs", "he likes an egg"])
    assert stems.vocabulary_ == ["</s>", "<unk>", "an", "egg", "he", "like"]
    assert stems.prob("liking", "he") == stems.prob("like", ["he"]) > 0.6
    assert stems.score(["He LIKED egg"])[0] == stems.score([["he", "like", "egg"]])[0]
    marked = LanguageModel(2, text=Words(token=r"\w+", negation="english")).fit(["not good. good"])
    assert marked.vocabulary_ == ["</s>", "<unk>", "good", "not", "not_good"]


def test_words_that_are_given_may_hold_anything_but_control_characters():
    model = LanguageModel(2, "ml").fit([["New York", "is", "."], ["<unk>", "is", "Paris"]])
    assert model.prob("New York", ["<s>"]) == 0.5
    assert model.prob("is", ["New York"]) == 1
    assert model.prob("Rome", ["<s>"]) == model.prob("<unk>", ["<s>"]) == 0.5  # it was called so in the texts
    assert model.vocabulary_ == [".", "</s>", "<unk>", "New York", "Paris", "is"]


def test_a_prior_may_bring_words_that_were_never_seen():
    model = LanguageModel(1, Dirichlet({"zebra": 3.0, "am": 2.0}), boundaries=False).fit(["i am"])
    assert model.vocabulary_ == ["<unk>", "am", "i", "zebra"]
    assert model.prob("zebra") == pytest.approx(2 / (2 + 3))
    assert model.score(["zebra am"])[0] == pytest.approx(math.log(2 / 5 * 2 / 5))
    assert sum(model.prob(word) for word in model.vocabulary_) == pytest.approx(1)
    with pytest.raises(InputError, match="the prior names a column 'text'"):
        LanguageModel(1, Dirichlet({"text": {"zebra": 3.0}})).fit(["i am"])


def test_rare_words_may_stand_for_the_unknown_ones():
    # sam 2, i 3, am 2, </s> 3; the seven others once each: 17 in all
    model = LanguageModel(1, "ml", min_count=2).fit(SAM)
    assert model.vocabulary_ == ["</s>", "<unk>", "am", "i", "sam"]
    assert model.prob("ham") == model.prob("zebra") == pytest.approx(7 / 17)
    assert model.prob("i") == pytest.approx(3 / 17)
    assert model.set_params(min_count=1).prob("zebra") == 0  # nothing was lost
    drawn = LanguageModel(2, min_count=2).fit(SAM).generate(n_words=200, seed=0)
    assert set(drawn.split()) == {"am", "i", "sam"}


# Drawing.


def test_the_same_seed_draws_the_same_text():
    model = LanguageModel(2).fit(SAM)
    assert model.generate(n_words=30, seed=5) == model.generate(n_words=30, seed=5)
    assert model.generate(n_words=30, seed=5) != model.generate(n_words=30, seed=6)
    assert len(model.generate(n_words=30, seed=5).split()) == 30
    assert model.generate(n_words=0) == ""
    assert model.generate(n_documents=0) == []


def test_maximum_likelihood_of_high_order_repeats_what_it_read():
    texts_read = ["the cat sat", "a dog ran off"]
    model = LanguageModel(5, "ml").fit(texts_read)
    assert set(model.generate(n_documents=40, seed=0)) == set(texts_read)
    assert model.generate(seed=1) in texts_read
    assert model.generate(n_words=1, context=["the", "cat"], seed=0) == "sat"
    assert set(model.generate(n_documents=5, context="a dog", seed=0)) == {"ran off"}


def test_words_are_drawn_by_their_probabilities():
    model = LanguageModel(2, Lidstone(0.5)).fit([*SAM, "i am i am sam"])
    n = 8000
    drawn = [text.split()[0] if text else "</s>" for text in model.generate(n_documents=n, context=["am"], seed=3)]
    known = [word for word in model.vocabulary_ if word != "<unk>"]
    share = 1 - model.prob("<unk>", ["am"])
    expected = [n * model.prob(word, ["am"]) / share for word in known]
    assert chisquare([drawn.count(word) for word in known], expected).pvalue > 1e-4


def test_without_boundaries_a_text_goes_on_and_on():
    model = LanguageModel(2, boundaries=False).fit(["a b a b a"])
    assert "</s>" not in model.vocabulary_
    assert set(model.generate(n_words=50, seed=0).split()) == {"a", "b"}
    with pytest.raises(InputError, match="never end"):
        model.generate(n_documents=1)


def test_a_document_that_does_not_end_is_an_error():
    model = LanguageModel(2, Dirichlet({"a": 1e12})).fit(["a a b"])
    with pytest.raises(InputError, match="did not end"):
        model.generate(n_documents=1, seed=0)


# The classifier.

REVIEWS = ["good film", "a good good story", "not good at all", "bad film", "a bad story", "not bad at all"]
SIDES = ["pos", "pos", "neg", "neg", "neg", "pos"]


def test_the_classifier_is_bayes_rule_on_models_of_the_classes():
    both = LanguageModelClassifier(2, "kneser-ney", base="uniform").fit(REVIEWS, SIDES)
    asked = ["not good", "a bad film", "good good good", ""]
    for smoothing in ("ml", "kneser-ney"):
        both = LanguageModelClassifier(2, smoothing, base="observed").fit(REVIEWS, SIDES)
        joint = both.predict_joint_log_proba(asked)
        for k, side in enumerate(both.classes_):
            alone = LanguageModel(2, smoothing).fit([t for t, s in zip(REVIEWS, SIDES) if s == side])
            np.testing.assert_allclose(joint[:, k], alone.score(asked) + math.log(0.5))


def test_order_matters_where_a_bag_of_words_sees_none():
    model = LanguageModelClassifier(2).fit(REVIEWS, SIDES)
    assert model.predict(["not good at all", "not bad at all"]).tolist() == ["neg", "pos"]


@given(st.lists(st.tuples(st.lists(words, max_size=6).map(" ".join), st.sampled_from("xyz")), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_an_order_of_one_and_a_closed_vocabulary_is_multinomial_naive_bayes(rows):
    said, labels = [[text for text, _ in rows] + ["I am"], [label for _, label in rows] + ["x"]]
    asked = ["I am Sam", "zebra né né", "", "ham Sam zebra"]
    for prior in (Laplace(), Lidstone(0.1)):
        how = {"boundaries": False, "vocabulary": "closed", "text": Words()}
        model = LanguageModelClassifier(1, prior, **how).fit(said, labels)
        bayes = NaiveBayes(prior=prior).fit(said, labels)
        ours, theirs = model.predict_joint_log_proba(asked), bayes.predict_joint_log_proba(asked)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        np.testing.assert_allclose(model.predict_proba(asked), bayes.predict_proba(asked), rtol=1e-11)


def test_an_explanation_names_what_a_closed_vocabulary_leaves_out():
    model = LanguageModelClassifier(2, vocabulary="closed").fit(REVIEWS, SIDES)
    for asked in ("not a zebra GOOD zebra film", ["not", "a", "zebra", "good", "zebra", "film"]):
        shown = model.explain(asked)
        assert [factor.value for factor in shown.factors][:-1] == ["not", "a", "good", "film", "</s>"]
        assert (shown.factors[-1].value, shown.factors[-1].note) == ("1 unknown", "never seen: left out: zebra")
        assert shown.joint == pytest.approx(model.predict_joint_log_proba(["not a good film"])[0])


def test_an_order_of_one_is_multinomial_naive_bayes_with_an_end():
    model = LanguageModelClassifier(1, Laplace(), boundaries=False).fit(["a b a", "b b", "c"], ["x", "y", "y"])
    # V = {a, b, c, <unk>}; x: a 2, b 1; y: b 2, c 1
    joint = model.predict_joint_log_proba(["a c"])[0]
    assert joint == pytest.approx([math.log(1 / 3 * 3 / 7 * 1 / 7), math.log(2 / 3 * 1 / 7 * 2 / 7)])


def test_posteriors_sum_to_one_even_for_what_no_class_allows():
    model = LanguageModelClassifier(2, "ml").fit(REVIEWS, SIDES)
    found = model.predict_proba(["zebra", "good bad", "", "film film film"])
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(REVIEWS)), model.predict_proba(REVIEWS))


def test_an_explanation_multiplies_to_the_product():
    for smoothing in (None, "ml", Laplace()):
        model = LanguageModelClassifier(2, smoothing).fit(REVIEWS, SIDES)
        shown = model.explain("Not a GOOD film")
        assert [factor.value for factor in shown.factors] == ["not", "a", "good", "film", "</s>"]
        assert [factor.column for factor in shown.factors][:2] == ["<s>", "not"]
        for k in range(2):
            total = shown.prior.terms[k].log + sum(factor.terms[k].log for factor in shown.factors)
            assert shown.joint[k] == pytest.approx(total)
        assert shown.prediction == model.predict(["Not a GOOD film"])[0]
        assert shown.posterior == pytest.approx(model.predict_proba(["Not a GOOD film"])[0])
    assert "(1 + 1)/(3 + 10)" in str(shown)  # "not" begins one of three texts of each class; |V| = 10


def test_the_prior_of_the_classes_is_counted_or_given():
    given_texts, y = ["a", "a", "a b", "b"], ["x", "x", "x", "y"]
    model = LanguageModelClassifier(1).fit(given_texts, y)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [0.75, 0.25])
    smoothed = LanguageModelClassifier(1, class_prior=Laplace()).fit(given_texts, y)
    np.testing.assert_allclose(np.exp(smoothed.class_log_prior_), [4 / 6, 2 / 6])
    stated = LanguageModelClassifier(1, class_prior={"x": 0.1, "y": 0.9}).fit(given_texts, y)
    np.testing.assert_allclose(np.exp(stated.class_log_prior_), [0.1, 0.9])


def test_classifiers_stream_merge_and_forget():
    whole = LanguageModelClassifier(3).fit(REVIEWS, SIDES)
    streamed = LanguageModelClassifier(3).partial_fit(REVIEWS[:2], SIDES[:2]).partial_fit(REVIEWS[2:], SIDES[2:])
    merged = LanguageModelClassifier(3).fit(REVIEWS[:3], SIDES[:3]) + LanguageModelClassifier(3).fit(
        REVIEWS[3:], SIDES[3:]
    )
    assert whole.tally_ == streamed.tally_ == merged.tally_
    np.testing.assert_array_equal(streamed.predict_proba(REVIEWS), whole.predict_proba(REVIEWS))
    rest = whole.forget(REVIEWS[4:], SIDES[4:])
    assert rest.tally_ == LanguageModelClassifier(3).fit(REVIEWS[:4], SIDES[:4]).tally_


@pytest.mark.parametrize("weights", [[2.0, 1.0, 3.0, 1.0, 1.0, 2.0], [0.5, 1.5, 1.0, 0.25, 2.0, 1.0]])
def test_a_weight_counts_a_text_so_many_times(weights):
    weighted = LanguageModelClassifier(2).fit(REVIEWS, SIDES, sample_weight=weights)
    np.testing.assert_allclose(weighted.predict_proba(["good film"]).sum(), 1)
    quarters = [int(4 * w) for w in weights]
    repeated = LanguageModelClassifier(2, "ml").fit(np.repeat(REVIEWS, quarters), np.repeat(SIDES, quarters))
    plain = weighted.set_params(smoothing="ml")
    np.testing.assert_allclose(plain.predict_proba(REVIEWS), repeated.predict_proba(REVIEWS))
    rest = plain.forget(REVIEWS[:2], SIDES[:2], sample_weight=weights[:2])
    only = LanguageModelClassifier(2, "ml").fit(REVIEWS[2:], SIDES[2:], sample_weight=weights[2:])
    np.testing.assert_allclose(rest.predict_proba(REVIEWS), only.predict_proba(REVIEWS))


def test_classes_may_be_announced_before_they_are_seen():
    model = LanguageModelClassifier(2, class_prior=Laplace()).partial_fit(REVIEWS, SIDES, classes=["neg", "new", "pos"])
    assert model.classes_.tolist() == ["neg", "new", "pos"]
    found = model.predict_proba(["good film", "zebra"])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found[:, 1] > 0).all()


def test_texts_are_drawn_from_their_class():
    model = LanguageModelClassifier(4, "ml").fit(REVIEWS, SIDES)
    drawn, labels = model.sample(60, random_state=0)
    for text, label in zip(drawn, labels):
        assert SIDES[REVIEWS.index(text)] == label
    assert set(labels) == {"pos", "neg"}
    only, labels = model.sample(10, class_="neg", random_state=1)
    assert set(labels) == {"neg"}
    assert set(only) <= {text for text, side in zip(REVIEWS, SIDES) if side == "neg"}


def test_score_of_a_classifier_is_its_accuracy():
    model = LanguageModelClassifier(3).fit(REVIEWS, SIDES)
    assert model.score(REVIEWS, SIDES) == 1.0


# Bad input.


@pytest.mark.parametrize(
    ("parameters", "error", "said"),
    [
        ({"order": 0}, InputError, "order is 0; it must be at least 1"),
        ({"order": 2.0}, KindError, "order must be a whole number, got float 2.0"),
        ({"order": True}, KindError, "order must be a whole number"),
        ({"smoothing": "kneser"}, InputError, "did you mean 'kneser-ney'"),
        ({"smoothing": 3}, KindError, "smoothing must be a Prior"),
        ({"discount": -0.1}, InputError, "discount is -0.1"),
        ({"min_count": 0}, InputError, "min_count is 0; it must be at least 1"),
        ({"min_count": 1.5}, KindError, "min_count must be a whole number"),
        ({"base": "none"}, InputError, "base='none' is not known"),
        ({"vocabulary": "shut"}, InputError, "vocabulary='shut' is not known"),
        ({"vocabulary": "closed", "min_count": 2}, InputError, "which a closed vocabulary has not; set"),
        ({"boundaries": 1}, KindError, "boundaries must be True or False"),
        ({"text": "words"}, KindError, "text must be a Words"),
        ({"text": Words(ngrams=(1, 2))}, InputError, "ngrams"),
        ({"text": Words(weighting="tfidf")}, InputError, "weighting"),
        ({"text": Words(hashed=1024)}, InputError, "hashed"),
        ({"text": Words(binary=True)}, InputError, "binary"),
        ({"text": Words(stop_words=5)}, InputError, "stop_words=5"),
        ({"text": Words(lexicon={"good": 1})}, InputError, "lexicon"),
    ],
)
@pytest.mark.parametrize("kind", [LanguageModel, LanguageModelClassifier])
def test_bad_parameters_are_refused(kind, parameters, error, said):
    asked = (SAM,) if kind is LanguageModel else (SAM, ["a", "b", "a"])
    with pytest.raises(error, match=said):
        kind(**parameters).fit(*asked)


@pytest.mark.parametrize(
    ("given_texts", "error", "said"),
    [
        ([], InputError, "no text"),
        (["a", None], InputError, "text 1 is missing"),
        (["a", 3], KindError, "text 1 is int 3"),
        (["a", ["b"]], KindError, "text 1 is list"),
        ([["b"], "a"], KindError, "text 1 is str 'a'; it must be a list of words"),
        (np.array([["a", "b"]]), KindError, "texts must be a list of strings"),
        ({"a": 1}, KindError, "texts must be a list of strings"),
        (["a\ud800"], InputError, "half of a pair"),
        (5, KindError, "texts must be a list of strings"),
        ([["a", 3]], KindError, "text 0 has int 3"),
        ([["a", "<s>"]], InputError, "'<s>'"),
        ([["a", ""]], InputError, "empty word"),
        ([["a", "b\x1fc"]], InputError, "x1f"),
    ],
)
def test_bad_texts_are_refused(given_texts, error, said):
    with pytest.raises(error, match=said):
        LanguageModel(2).fit(given_texts)


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda m: m.prob(3), KindError, "a word is a string, got int 3"),
        (lambda m: m.prob("i am"), InputError, "'i am' is several words"),
        (lambda m: m.prob("i", 3), KindError, "context"),
        (lambda m: m.prob("i", [3]), KindError, "context"),
        (lambda m: m.next(n=-1), InputError, "n is -1"),
        (lambda m: m.next(n=1.5), KindError, "n must be a whole number"),
        (lambda m: m.generate(n_words=2, n_documents=2), InputError, "not both"),
        (lambda m: m.generate(n_words=-2), InputError, "n_words is -2"),
        (lambda m: m.generate(n_documents="2"), KindError, "n_documents must be a whole number"),
        (lambda m: m.generate(seed="x"), KindError, "seed must be a whole number or None"),
        (lambda m: m.perplexity([]), InputError, "no text"),
        (lambda m: m.forget(["zebra"]), ForgetError, "cannot take away"),
        (lambda m: m.merge(LanguageModelClassifier(2).fit(SAM, [0, 1, 0])), MergeError, "LanguageModel"),
        (lambda m: m.merge(LanguageModel(3).fit(SAM)), MergeError, "order"),
        (lambda m: m + 3, TypeError, "unsupported"),
    ],
)
def test_bad_questions_are_refused(ask, error, said):
    model = LanguageModel(2).fit(SAM)
    before = copy.deepcopy(model.tally_)
    with pytest.raises(error, match=said):
        ask(model)
    assert model.tally_ == before


@pytest.mark.parametrize(
    ("parameters", "error", "said"),
    [
        ({"class_prior": 3}, KindError, "class_prior must be a Prior"),
        ({"class_prior": {"a": 0.5, "b": 0.6}}, InputError, "sum to 1.1"),
        ({"class_prior": {"a": 1.5, "b": -0.5}}, InputError, "must lie between 0 and 1"),
        ({"class_prior": {"a": 1.0}}, InputError, "no probability for class 'b'"),
        ({"class_prior": {"a": 0.0, "b": 0.0, "c": 1.0}}, InputError, "probability 0 to every class"),
    ],
)
def test_bad_priors_of_classes_are_refused(parameters, error, said):
    with pytest.raises(error, match=said):
        LanguageModelClassifier(2, **parameters).fit(SAM, ["a", "b", "a"]).predict(SAM)


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda m: m.fit(SAM, ["a"]), InputError, "3 rows and y has 1 labels"),
        (lambda m: m.fit(SAM), InputError, "requires y"),
        (lambda m: m.explain(3), KindError, "text 0 is int 3"),
        (lambda m: m.sample(-1), InputError, "n is -1"),
        (lambda m: m.sample(2, class_="c"), InputError, "there is no class 'c'"),
        (lambda m: m.sample(2, random_state="x"), KindError, "random_state must be a whole number"),
        (lambda m: m.forget(["zebra"], ["a"]), ForgetError, "cannot take away"),
        (lambda m: m.forget(SAM[:1], ["b"]), ForgetError, "cannot take away"),
        (lambda m: m.merge(LanguageModelClassifier(3).fit(SAM, ["a", "b", "a"])), MergeError, "order is 2 in one"),
    ],
)
def test_a_classifier_refuses_what_it_cannot_answer(ask, error, said):
    model = LanguageModelClassifier(2).fit(SAM, ["a", "b", "a"])
    before = copy.deepcopy(model.tally_)
    with pytest.raises(error, match=said):
        ask(model)
    assert model.tally_ == before


def test_without_boundaries_too_what_was_never_learned_is_not_forgotten():
    # one b would be left, and two that stand after an a
    model = LanguageModel(2, boundaries=False).fit(["a b a b", "b"])
    with pytest.raises(ForgetError, match="more often than its last words"):
        model.forget(["b", "b"])
    assert model.forget(["b"]).tally_ == LanguageModel(2, boundaries=False).fit(["a b a b"]).tally_


def test_models_that_know_nothing_say_so():
    with pytest.raises(NotFittedError):
        LanguageModel(2).prob("a")
    with pytest.raises(NotFittedError):
        LanguageModelClassifier(2).predict(["a"])
    model = LanguageModel(2).fit(["a"]).forget(["a"])
    with pytest.raises(EmptyModelError):
        model.prob("a")
    with pytest.raises(InputError, match="no word"):
        LanguageModel(2, boundaries=False).fit(["", "..."])


def test_what_was_learned_in_one_way_is_not_asked_in_another():
    model = LanguageModel(2).fit(SAM)
    model.set_params(order=3)
    with pytest.raises(InputError, match="changed after the model had learned"):
        model.prob("sam")
    model.set_params(order=2, smoothing=MaximumLikelihood())
    assert model.prob("zebra") == 0
    model.set_params(smoothing=Laplace())
    assert model.prob("zebra") > 0


def test_the_words_of_sequences_are_any_token():
    model = LanguageModel(2, text=Words(token=r"[\w']+")).fit(["I don't know", "I don't think so"])
    assert "don't" in model.vocabulary_
    assert model.next("I don't", 2) == model.next(["i", "don't"], 2)
    assert {word for word, _ in model.next("I don't", 2)} == {"know", "think"}
    assert model.next("<s>", 1) == model.next(["<s>"], 1)
    assert model.score("I don't know") == model.score([["i", "don't", "know"]])[0]
    for ask in (LanguageModel(2, text=Words(token=r"\S+")).fit, LanguageModel(text=Words(token=r"\S+")).fit("a").score):
        with pytest.raises(InputError, match="text 1 has the word '</s>', which marks where texts begin and end"):
            ask(["<s>truck", "<strike> x </s>"])
