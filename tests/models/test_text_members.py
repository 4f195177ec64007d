"""The members of a vote that read text: what they choose is chosen by rows that they have not learned."""

from __future__ import annotations

import numpy as np
import pytest

import ingenuo as ing
from ingenuo.errors import InputError
from ingenuo.models import interactions, members
from ingenuo.models.folds import answer_folds, stratified_folds

RNG = np.random.default_rng(0)
TOPICS = {
    "soup": "soup broth ladle spoon salty",
    "film": "film actor scene plot boring",
    "sail": "sail boat wind mast knot",
}
ALL = " ".join(TOPICS.values()).split() + [f"word{i}" for i in range(60)]


def texts(n, classes=3):
    labels = RNG.choice(list(TOPICS)[:classes], n)
    runs = [[*RNG.choice(TOPICS[label].split(), 2), *RNG.choice(ALL, 5)] for label in labels]
    return [" ".join(RNG.permutation(run)) for run in runs], labels


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "words",
    [
        ing.Words(ngrams=(1, 2), binary=True),
        ing.Words(binary=True, weighting="tfidf", norm="l2"),
        ing.Words(characters=(2, 3), binary=True, weighting="tfidf", norm="l2"),
    ],
    ids=["words", "unit length", "characters"],
)
def test_left_out_answers_are_those_of_models_without_the_fold(words, classes, monkeypatch):
    """Words that only the fold has are no words to the others, nor a part of the length of its documents."""
    monkeypatch.setattr(interactions, "_ROUGH", 1e-9)  # by default they are found to a hundredth
    X, y = texts(240, classes)
    folds = stratified_folds(np.unique(y, return_inverse=True)[1], 4)
    model = ing.SoftmaxRegression(text=words, weighting="naive-bayes", l2="auto", exponent="auto")
    said = model._fit_with_folds(X, y, None, folds)
    fixed = ing.SoftmaxRegression(text=words, weighting="naive-bayes", l2=model.l2_, exponent=model.exponent_)
    plain = answer_folds(fixed, X, y, None, folds)
    tempered = plain * model.temperature_
    tempered -= np.log(np.exp(tempered).sum(axis=1, keepdims=True))
    assert abs(np.exp(said) - np.exp(tempered)).max() < 1e-3


def test_an_exponent_is_between_no_weighting_and_all_of_it():
    X, y = texts(200, 2)
    words = ing.Words(binary=True)

    def fitted(**settings):
        return ing.SoftmaxRegression(text=words, **settings).fit(X, y).coef_

    weighted = {"weighting": "naive-bayes"}
    assert np.allclose(fitted(**weighted, exponent=0.0), fitted(), rtol=1e-3, atol=1e-4)
    assert np.array_equal(fitted(**weighted, exponent=1.0), fitted(**weighted))
    assert not np.allclose(fitted(**weighted, exponent=0.5), fitted(**weighted), atol=1e-2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"exponent": 0.5}, "exponent=0.5 is of the ratios of weighting='naive-bayes'; take that"),
        ({"exponent": "auto", "weighting": "naive-bayes"}, "found together with the penalty; take l2='auto'"),
        ({"exponent": -1, "weighting": "naive-bayes"}, "exponent is -1; it must be at least 0"),
    ],
)
def test_exponents_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        ing.SoftmaxRegression(**settings).fit(*texts(20))


def test_what_was_chosen_is_kept_by_files(tmp_path):
    X, y = texts(120)
    model = ing.SoftmaxRegression(
        text=ing.Words(characters=(2, 4)), weighting="naive-bayes", l2="auto", exponent="auto"
    )
    ing.save(model.fit(X, y), tmp_path / "m.ingenuo")
    loaded = ing.load(tmp_path / "m.ingenuo")
    assert (loaded.l2_, loaded.exponent_, loaded.temperature_) == (model.l2_, model.exponent_, model.temperature_)
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_who_reads_text_depends_on_how_much_there_is_and_on_what_was_asked(monkeypatch):
    X, y = texts(60)

    every = ["words", "softmax of words", "softmax of characters"]

    def voters(**settings):
        return list(ing.BayesClassifier(**settings).fit(X, y)._names)

    assert voters() == every
    assert voters(members="additive") == every[:1]
    assert voters(text=ing.Words()) == every[:2]
    monkeypatch.setattr(members, "MOST_BYTES", 1000)
    model = ing.BayesClassifier().fit(X, y)
    assert list(model._names) == every[:2]
    assert "bytes of text; it votes up to 1,000" in model._left_out[every[2]]


def test_a_vote_on_texts_knows_words_by_their_parts():
    X, y = texts(300)
    model = ing.BayesClassifier().fit(X, y)
    assert len(model.estimators_) == 3
    said = model.predict(["souppy brothh", "filmm actorr", "saill boatt"])
    assert said.tolist() == ["soup", "film", "sail"]
