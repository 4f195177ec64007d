"""How far probabilities of texts can be believed: the expected calibration error (ECE), before and after repair.

Ten bins of equal width, of the label that is answered. The repair is learned from the training documents alone. Words
are counted as each side does by default, without pairs. Collections with a test part are judged on it; the training
part of 20 Newsgroups and the others by ten folds, the official ones where there are any, else stratified and shuffled
with a fixed seed. `python -m benchmarks.trust_text` prints every collection.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed  # type: ignore[import-untyped]
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import PredefinedSplit, StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks import published
from benchmarks.corpora import Texts, news, sentences, table
from benchmarks.public_data import public_data
from benchmarks.report import Absent, Bar, Result
from ingenuo.evaluation.evaluation import evaluate
from ingenuo.kernels.threads import limited
from ingenuo.models.naive_bayes import NaiveBayes

Floats = NDArray[np.float64]

ON_TEST, BY_FOLDS = 0.03, 0.015  # ECE at most
DRAWS = 200  # of the ECE that chance alone gives


# The models and the collections.


PEER, PLAIN = "MultinomialNB", "NaiveBayes"
CALIBRATED, TUNED = "calibrated", "tuned"  # and calibrated as well

MODELS: dict[str, Callable[[], Any]] = {
    PEER: lambda: make_pipeline(CountVectorizer(), MultinomialNB()),
    PLAIN: NaiveBayes,
    CALIBRATED: lambda: NaiveBayes(calibration="auto"),
    TUNED: lambda: NaiveBayes(tune=True, calibration="auto"),
}


@dataclass(frozen=True)
class Split:
    """Documents to learn from, and others to answer for."""

    train: Texts
    test: Texts


def _file(name: str) -> Any:
    found = public_data(f"text/{name}")
    if found is None:
        raise Absent(f"the file {name} is not there; set INGENUO_DATA to the folder that has text/{name}")
    return gzip.open(found, "rt", encoding="utf-8", newline="")


def _ag_news(name: str) -> Texts:
    """Titles and descriptions, as one text."""
    with _file(f"ag-news-{name}.csv.gz") as file:
        rows = list(csv.DictReader(file))
    return Texts([f"{row['title']} {row['description']}" for row in rows], [row["label"] for row in rows])


def _sms() -> Texts:
    with _file("sms-spam.tsv.gz") as file:
        pairs = [line.rstrip("\r\n").split("\t", 1) for line in file]
    return Texts([text for _, text in pairs], [label for label, _ in pairs])


def _trec(part: str) -> Texts:
    return sentences(f"trec-{part}.all.gz", "latin-1")


TESTED: dict[str, Callable[[int], Split]] = {
    "20 Newsgroups by date": lambda rows: Split(table("20news-train.csv.gz").at_most(rows), news("test", rows)),
    "AG news": lambda rows: Split(_ag_news("train-subset").at_most(rows), _ag_news("test").at_most(rows)),
    "TREC questions": lambda rows: Split(_trec("train").at_most(rows), _trec("test").at_most(rows)),
}
FOLDED: dict[str, Callable[[], Texts]] = {
    "20 Newsgroups": lambda: table("20news-train.csv.gz"),
    "RT-2k": published.rt_2k,
    "RT-s": lambda: sentences("rt-polarity.all.gz", "latin-1"),
    "CR": lambda: sentences("custrev.all.gz"),
    "SMS spam": _sms,
}


# What they answer.


@dataclass(frozen=True)
class Judged:
    """Of one model on one collection: ECE, the ECE by chance alone, percent right, nats, and seconds of a fit."""

    ece: float
    by_chance: float
    accuracy: float
    log_loss: float
    seconds: float


def _answered(model: str, train: Texts, test: Texts) -> tuple[Floats, Any, float]:
    """The probabilities of the test documents, the classes, and how long learning took."""
    with limited(1):  # each processor has a process of its own
        began = time.perf_counter()
        fitted = MODELS[model]().fit(train.texts, np.array(train.labels))
        spent = time.perf_counter() - began
        return np.asarray(fitted.predict_proba(test.texts)), fitted.classes_, spent


def ece_by_chance(probabilities: Floats) -> float:
    """The mean ECE of answers that are right exactly as often as they say: no repair can be expected below it."""
    rng = np.random.default_rng(0)
    confidence = probabilities.max(axis=1)
    bins = np.minimum((confidence * 10).astype(np.int64), 9)
    errors = []
    for _ in range(DRAWS):
        right = rng.random(len(confidence)) < confidence
        errors.append(np.abs(np.bincount(bins, right - confidence, 10)).sum() / len(confidence))
    return float(np.mean(errors))


def judged(probabilities: Floats, classes: Any, labels: Sequence[str], seconds: float) -> Judged:
    """What `evaluate` says of them."""
    found = evaluate(probabilities, y=list(labels), classes=list(classes))
    return Judged(
        float(found["ece"]),
        ece_by_chance(probabilities),
        100 * float(found["accuracy"]),
        float(found["log_loss"]),
        seconds,
    )


def folds_of(given: Texts) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The official folds, or stratified ones."""
    if given.folds is not None:
        yield from PredefinedSplit(given.folds).split()
        return
    yield from StratifiedKFold(published.FOLDS, shuffle=True, random_state=0).split(given.texts, given.labels)


def _part(given: Texts, places: NDArray[np.intp]) -> Texts:
    return Texts([given.texts[i] for i in places], [given.labels[i] for i in places])


@cache
def on_test(name: str, rows: int) -> dict[str, Judged]:
    """Of every model, learned from the training part, on the test part."""
    given = TESTED[name](rows)
    found = Parallel(n_jobs=cpu_count())(delayed(_answered)(model, given.train, given.test) for model in MODELS)
    return {
        model: judged(probabilities, classes, given.test.labels, seconds)
        for model, (probabilities, classes, seconds) in zip(MODELS, found)
    }


@cache
def by_folds(name: str, rows: int) -> dict[str, Judged]:
    """Of every model, on every document, learned from those of the other folds."""
    given = FOLDED[name]().at_most(rows)
    classes = np.unique(given.labels)
    folds = list(folds_of(given))
    asked = [(model, _part(given, train), _part(given, test)) for train, test in folds for model in MODELS]
    found = Parallel(n_jobs=cpu_count())(delayed(_answered)(*each) for each in asked)
    every: dict[str, Judged] = {}
    for first, model in enumerate(MODELS):
        probabilities, spent = np.zeros((len(given.labels), len(classes))), 0.0
        for (_, test), (answers, known, seconds) in zip(folds, found[first :: len(MODELS)]):
            probabilities[np.ix_(test, np.searchsorted(classes, known))] = answers
            spent += seconds / len(folds)
        every[model] = judged(probabilities, classes, given.labels, spent)
    return every


# What is said of them.

Answers = Callable[[int], dict[str, Judged]]


@dataclass(frozen=True)
class Ece:
    """Our ECE after repair, in the place of scikit-learn's."""

    collection: str
    model: str
    answers: Answers
    limit: float

    @property
    def name(self) -> str:
        return f"ECE on {self.collection}, {self.model}"

    def measure(self, rows: int, repeat: int) -> Result:
        """Once: an ECE has no best of several."""
        found = self.answers(rows)
        plain, ours = found[PLAIN], found[self.model]
        note = (
            f"not repaired {plain.ece:.4f}; by chance alone {ours.by_chance:.4f}; "
            f"log loss {plain.log_loss:.4f} / {ours.log_loss:.4f}; fit {plain.seconds:.2g} / {ours.seconds:.2g} s"
        )
        return Result(self.name, "ECE", found[PEER].ece, ours.ece, Bar(limit=self.limit), note=note)


@dataclass(frozen=True)
class KeptAccuracy:
    """The accuracy after repair, in the place of that before it; the bar is not to lose any."""

    collection: str
    model: str
    answers: Answers

    @property
    def name(self) -> str:
        return f"accuracy on {self.collection}, {self.model}"

    def measure(self, rows: int, repeat: int) -> Result:
        """From the same answers."""
        found = self.answers(rows)
        before, after = found[PLAIN].accuracy, found[self.model].accuracy
        note = f"before / after; scikit-learn here {found[PEER].accuracy:.2f} %"
        return Result(self.name, "%", before, after, Bar(least=before), note=note)


def _collections() -> list[tuple[str, Answers, float]]:
    tested = [(name, partial(on_test, name), ON_TEST) for name in TESTED]
    return [*tested, *((name, partial(by_folds, name), BY_FOLDS) for name in FOLDED)]


def cases() -> list[Ece | KeptAccuracy]:
    """Of texts."""
    return [
        case
        for name, answers, limit in _collections()
        for model in (CALIBRATED, TUNED)
        for case in (Ece(name, model, answers, limit), KeptAccuracy(name, model, answers))
    ]


def markdown(rows: int) -> list[str]:
    """A line for each model on each collection, and why a collection has none."""
    lines = [
        "| collection | model | ECE | by chance | accuracy % | log loss | seconds of a fit |",
        "|---|---|" + "---:|" * 5,
    ]
    for name, answers, limit in _collections():
        try:
            found = answers(rows)
        except Absent as missing:
            lines.append(f"| {name} | {missing} | | | | | |")
            continue
        how = "test part" if limit == ON_TEST else "ten folds"
        for model, each in found.items():
            values = f"{each.ece:.4f} | {each.by_chance:.4f} | {each.accuracy:.2f} | {each.log_loss:.4f}"
            lines.append(f"| {name} ({how}) | {model} | {values} | {each.seconds:.2f} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust_text", description="Calibration of texts.")
    parser.add_argument("--rows", type=int, default=sys.maxsize, help="documents at most (default: all)")
    given = parser.parse_args(arguments)
    print("ECE of ten bins of equal width: `python -m benchmarks.trust_text`.\n")
    print("\n".join(markdown(given.rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
