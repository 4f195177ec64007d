"""Naive Bayes and language models of text: speed, memory and growth against scikit-learn, fastText and NLTK.

From strings in memory, and from a CSV file: there the peer reads with pandas and we with pyarrow, and reading counts on
both sides. `fit` alone and `fit` with one answer after it are timed apart, as in the tables. fastText reads a file in
which the words are already lower case and divided by spaces; making that file is not on its clock.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks import with_nltk
from benchmarks.cases import Case, Duel, ExtraMemory, Growth, MemoryGrowth, Pace, Race
from benchmarks.corpora import for_fasttext, news, on_disk, sentences
from benchmarks.published import wang_and_manning
from benchmarks.report import Absent, Bar, farthest
from ingenuo.kernels.threads import limited, width
from ingenuo.models.language import LanguageModel
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.text.words import Words

ROWS = 11_314  # documents that 20 Newsgroups has for training
SAMPLE = 200  # documents whose joint log probabilities are compared
FEATURES = {"unigrams": 1, "bigrams": 2}  # n-grams of one word to so many: bigrams stand beside the words

SCORED = 5  # texts; NLTK takes about a second for each
FEW = 200  # texts that NLTK generates from: a word of its takes time in the square of the texts
DRAWN = {"peer": 5, "ours": 200_000}  # words


def scikit_learn(longest: int) -> Any:
    """The peer, by its defaults."""
    return make_pipeline(CountVectorizer(ngram_range=(1, longest)), MultinomialNB())


def ingenuo(longest: int) -> NaiveBayes:
    """The same model, ours."""
    return NaiveBayes(text=Words(ngrams=(1, longest)))


def read_with_pandas(path: str) -> pd.DataFrame:
    """The peer's side of reading a file."""
    return pd.read_csv(path)


def read_with_pyarrow(path: str) -> pa.Table:
    """Our side of it."""
    return csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True))


def joint_difference(peer: Any, ours: NaiveBayes, *, as_table: bool = False) -> float:
    """How far apart the joint log probabilities of a sample of the test documents are."""
    texts = news("test", SAMPLE).texts
    counter, classifier = (step for _, step in peer.steps)
    theirs = classifier.predict_joint_log_proba(counter.transform(texts))
    return farthest(theirs, ours.predict_joint_log_proba(pa.table({"text": texts}) if as_table else texts))


def other_labels(theirs: Any, own: Any) -> float:
    """The share of documents that got another label."""
    return float(np.mean(np.asarray(theirs) != np.asarray(own)))


def learning(longest: int, rows: int, *, answer: bool = False, threads: int | None = None, arrow: bool = False) -> Duel:
    """Both fit from a list of strings, and answer for one; ours perhaps on so many threads, or from an Arrow array."""
    given = news("train", rows)
    own: Any = pa.array(given.texts) if arrow else given.texts

    def fit(model: Any, texts: Any) -> Any:
        model.fit(texts, given.labels)
        if answer:
            model.predict(given.texts[:1])
        return model

    megabytes = given.nbytes / 1e6
    return Duel(
        lambda: fit(scikit_learn(longest), given.texts),
        lambda: on_threads(threads, lambda: fit(ingenuo(longest), own)),
        joint_difference,
        given.nbytes,
        (megabytes, megabytes),
    )


def answering(longest: int, rows: int, *, threads: int | None = None) -> Duel:
    """Both label the test documents, given as a list of strings."""
    train, test = news("train", rows), news("test", rows)
    peer, ours = (model(longest).fit(train.texts, train.labels) for model in (scikit_learn, ingenuo))
    megabytes = test.nbytes / 1e6
    return Duel(
        lambda: peer.predict(test.texts),
        lambda: on_threads(threads, lambda: ours.predict(test.texts)),
        other_labels,
        test.nbytes,
        (megabytes, megabytes),
    )


def learning_from_csv(longest: int, rows: int) -> Duel:
    """Both read the file and fit."""
    given = news("train", rows)
    path = on_disk(given)

    def peer() -> Any:
        frame = read_with_pandas(path)
        return scikit_learn(longest).fit(frame["text"], frame["label"])

    return Duel(
        peer,
        lambda: ingenuo(longest).fit(read_with_pyarrow(path), "label"),
        partial(joint_difference, as_table=True),
        given.nbytes,
    )


def answering_from_csv(longest: int, rows: int) -> Duel:
    """Both read the file of the test documents and label them."""
    train, test = news("train", rows), news("test", rows)
    path = on_disk(test)
    peer = scikit_learn(longest).fit(train.texts, train.labels)
    ours = ingenuo(longest).fit(pa.table({"label": train.labels, "text": train.texts}), "label")
    return Duel(
        lambda: peer.predict(read_with_pandas(path)["text"]),
        lambda: ours.predict(read_with_pyarrow(path)),
        other_labels,
        test.nbytes,
    )


def against_fasttext(rows: int, *, answer: bool) -> Duel:
    """fastText trains five epochs on words and bigrams, on as many threads as we do; its model is another one."""
    try:
        fasttext = importlib.import_module("fasttext")
    except ImportError as missing:
        raise Absent("fasttext is not installed") from missing
    train, test = news("train", rows), news("test", rows)
    path, asked = for_fasttext(train), for_fasttext(test)

    def ours() -> NaiveBayes:
        model = ingenuo(2).fit(train.texts, train.labels)
        if answer:
            model.predict(test.texts[:1])
        return model

    def accuracies(theirs: Any, own: NaiveBayes) -> str:
        right = 1 - other_labels(test.labels, own.predict(test.texts))
        return f"accuracy {theirs.test(asked)[1]:.3f} / {right:.3f}"

    return Duel(
        lambda: fasttext.train_supervised(input=path, epoch=5, wordNgrams=2, thread=width(), verbose=0),
        ours,
        None,
        train.nbytes,
        remark=accuracies,
    )


def on_threads(threads: int | None, call: Callable[[], Any]) -> Any:
    """Call it, on so many threads if a number is given."""
    if threads is None:
        return call()
    with limited(threads):
        return call()


def learning_on_two(longest: int, rows: int) -> Duel:
    """We against ourselves: one thread in the place of the peer, and the same tally from two."""
    one, two = (learning(longest, rows, threads=threads) for threads in (1, 2))
    return Duel(one.ours, two.ours, lambda a, b: float(a.tally_ != b.tally_), two.input_bytes)


def answering_on_two(longest: int, rows: int) -> Duel:
    """The same for the labels of the test documents."""
    train, test = news("train", rows), news("test", rows)
    model = ingenuo(longest).fit(train.texts, train.labels)
    return Duel(
        lambda: on_threads(1, lambda: model.predict(test.texts)),
        lambda: on_threads(2, lambda: model.predict(test.texts)),
        other_labels,
        test.nbytes,
    )


def language(task: str, rows: int) -> Duel:
    """Kneser-Ney trigrams of film reviews' sentences; NLTK's on the same n-grams.

    The scored texts are among the learned ones. To generate, NLTK learns from few texts and we from all.
    """
    with_nltk.module()
    given = sentences("rt-polarity.all.gz", "latin-1").at_most(rows)
    texts, some = given.texts, given.at_most(SCORED).texts

    def fitted() -> LanguageModel:
        return LanguageModel(with_nltk.ORDER, "kneser-ney", discount=with_nltk.DISCOUNT).fit(texts)

    if task == "generate":
        peer, ours = with_nltk.fit(given.at_most(FEW).texts), fitted()
        return Duel(
            lambda: with_nltk.generate(peer, DRAWN["peer"]),
            lambda: ours.generate(n_words=DRAWN["ours"], seed=0),
            None,
            given.nbytes,
            (float(DRAWN["peer"]), float(DRAWN["ours"])),
        )
    if task == "score":
        peer, ours = with_nltk.fit(texts), fitted()
        return Duel(lambda: with_nltk.score(peer, some), lambda: ours.score(some), farthest, given.nbytes)
    if task == "fit + score":
        return Duel(
            lambda: with_nltk.score(with_nltk.fit(texts), some), lambda: fitted().score(some), farthest, given.nbytes
        )
    return Duel(
        lambda: with_nltk.fit(texts),
        fitted,
        lambda peer, ours: farthest(with_nltk.score(peer, some), ours.score(some)),
        given.nbytes,
    )


def _against_scikit_learn() -> list[Case]:
    cases: list[Case] = []
    for features, longest in FEATURES.items():
        cases += [
            Race(f"fit, {features}", Bar(20), partial(learning, longest)),
            Race(f"fit + answer, {features}", Bar(20), partial(learning, longest, answer=True)),
            Race(f"predict, {features}", Bar(20), partial(answering, longest), 0.0),
            Race(f"fit from CSV, {features}", Bar(20), partial(learning_from_csv, longest)),
            Race(f"predict from CSV, {features}", Bar(20), partial(answering_from_csv, longest), 0.0),
        ]
    return cases


def _memory() -> list[Case]:
    tasks = ("fit", "fit + answer", "predict", "fit from CSV")
    return [ExtraMemory("text", f"{task}, {features}", None, ratio=3) for features in FEATURES for task in tasks]


def _pace() -> list[Case]:
    on_one, enough = "unigrams, on one thread", Bar(least=150)
    cases: list[Case] = [
        Pace(f"pace of fit, {on_one}", "MB/s", enough, partial(learning, 1, threads=1)),
        Pace(f"pace of fit from Arrow, {on_one}", "MB/s", enough, partial(learning, 1, threads=1, arrow=True)),
        Pace(f"pace of predict, {on_one}", "MB/s", enough, partial(answering, 1, threads=1), 0.0),
    ]
    near_linear = Bar(1.7)
    for features, longest in FEATURES.items():
        cases += [
            Race(f"two threads after one: fit, {features}", near_linear, partial(learning_on_two, longest), 0.0),
            Race(f"two threads after one: predict, {features}", near_linear, partial(answering_on_two, longest), 0.0),
        ]
    return cases


def _growth() -> list[Case]:
    # A quarter more for each megabyte of four times the text is what caches and noise may cost.
    linear = Bar(0.8, why="(linear)")
    cases: list[Case] = []
    for features, longest in FEATURES.items():
        name = f"growth of fit + answer, {features}"
        cases += [Growth(name, linear, partial(learning, longest, answer=True)), MemoryGrowth("text", name, linear)]
    return cases


def _language() -> list[Case]:
    cases: list[Case] = [
        Race(f"Kneser-Ney trigrams {task}", Bar(50), partial(language, task))
        for task in ("fit", "score", "fit + score")
    ]
    return [
        *cases,
        Pace("Kneser-Ney trigrams generate", "words/s", Bar(least=100_000), partial(language, "generate")),
    ]


def cases() -> list[Case]:
    """Every case of this suite."""
    return [
        *_against_scikit_learn(),
        Race("fit against fastText", Bar(10), partial(against_fasttext, answer=False)),
        Race("fit + answer against fastText", Bar(10), partial(against_fasttext, answer=True)),
        *_memory(),
        *_pace(),
        *_growth(),
        *_language(),
        *wang_and_manning(),
    ]
