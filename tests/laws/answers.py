"""Models of every kind with rows to ask them, and a digest of what they answer: for the law of equal bits.

Run as a script it prints the digests; the environment chooses the processor variant and the threads.
"""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np

import ingenuo as ing

WORDS = [
    "film",
    "plot",
    "cast",
    "music",
    "dull",
    "fine",
    "not",
    "never",
    "good",
    "bad",
    "a",
    "the",
    "of",
    "été",
    "ΣΊΣΥΦΟΣ",
    "laughter",
    "twice",
    "didn't",
    "like",
    "it",
]


def texts(rng, n):
    """Sentences of a few words that repeat, with what opens and ends a negation."""
    return [
        " ".join(rng.choice(WORDS, rng.integers(0, 40))) + str(rng.choice([".", "!", ", but", ""])) for _ in range(n)
    ]


def numbers(rng, n, d=7):
    """Numbers about a mean of their class, some of them missing, some far away."""
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) * rng.lognormal(0, 3, d) + y[:, np.newaxis] * 0.7
    X[rng.random((n, d)) < 0.1] = np.nan
    X[rng.random((n, d)) < 0.01] *= 1e9
    return X, y


def mixed(rng, n):
    """A table in which columns of all kinds alternate."""
    import pyarrow as pa

    X, y = numbers(rng, n, 3)
    city = rng.choice(["Rome", "Madrid", "York", None], n)
    colour = rng.choice(["red", "blue", "green"], n)
    table = {"age": X[:, 0], "city": city, "height": X[:, 1], "review": texts(rng, n), "colour": colour, "pay": X[:, 2]}
    return pa.table(table), y.astype(str)


def models():
    """Name, model, rows to learn from, labels, rows to ask."""
    rng = np.random.default_rng(7)
    X, y = numbers(rng, 700)
    new = numbers(rng, 260)[0]
    for name in ("gaussian", "histogram", "kernel", "mixture", "auto", "equal-mass-10"):
        yield name, ing.NaiveBayes(numbers=name), X, y, new
    yield "tuned and calibrated", ing.NaiveBayes(tune=True, calibration="auto"), X, y, new
    yield "GaussianNB", ing.GaussianNB(), np.nan_to_num(X), y, np.nan_to_num(new)
    table, label = mixed(rng, 500)
    for name, model in {
        "mixed": ing.NaiveBayes(),
        "mixed, tuned": ing.NaiveBayes(tune=True, calibration="temperature"),
        "mixed, densities": ing.NaiveBayes(numbers={"age": "kernel", "pay": "histogram"}),
    }.items():
        yield name, model, table, label, mixed(rng, 130)[0]
    codes = rng.integers(0, 5, (900, 9))
    yield "CategoricalNB", ing.CategoricalNB(min_categories=5), codes, y[rng.integers(0, 700, 900)], codes[:200]
    bags = rng.poisson(0.7, (900, 40))
    kinds = {"MultinomialNB": ing.MultinomialNB, "ComplementNB": ing.ComplementNB, "BernoulliNB": ing.BernoulliNB}
    for name, model in kinds.items():
        yield name, model(), bags, bags[:, :3].argmax(axis=1), bags[:250]
    reviews = texts(rng, 400)
    label = ["dull" in text for text in reviews]
    asked = [*texts(rng, 120), "", "unheard words alone"]
    for name, words in {
        "words": ing.Words(),
        "pairs of words": ing.Words(ngrams=(1, 2)),
        "binary, negation": ing.Words(binary=True, negation="english", ngrams=(1, 3)),
        "TF-IDF": ing.Words(weighting="tfidf"),
        "TF-IDF of unit length": ing.Words(weighting="tfidf", norm="l2"),
        "characters": ing.Words(characters=(2, 4)),
        "hashed": ing.Words(hashed=1024, ngrams=(1, 2)),
    }.items():
        yield name, ing.NaiveBayes(text=words), reviews, label, asked
    yield "words, complement", ing.NaiveBayes(counts="complement"), reviews, label, asked
    yield "words, presence", ing.NaiveBayes(counts="bernoulli"), reviews, label, asked
    yield "words, tuned", ing.NaiveBayes(tune=True, calibration="auto"), reviews, label, asked
    yield "LanguageModelClassifier", ing.LanguageModelClassifier(order=2), reviews, label, asked
    yield "SoftmaxRegression of words", ing.SoftmaxRegression(), reviews, label, asked
    for name in ("shared", "full", "diagonal", "regularised"):
        yield f"discriminant, {name}", ing.GaussianDiscriminant(covariance=name), X, y, new
    yield "LeastSquaresClassifier", ing.LeastSquaresClassifier(), np.nan_to_num(X), y, np.nan_to_num(new)
    yield "SoftmaxRegression", ing.SoftmaxRegression(), np.nan_to_num(X).clip(-9, 9), y, np.nan_to_num(new).clip(-9, 9)
    states = [[f"s{code}" for code in row] for row in codes[:, :6]]
    for name in ("naive", "tan", "kdb", "aode"):
        model = ing.NetworkClassifier(structure=name)
        yield f"network, {name}", model, states, codes[:, 6], [[*row[:3], None, *row[4:]] for row in states[:150]]
    model = ing.NetworkClassifier("kdb", smoothing="back-off", weighting="levels")
    yield "network, back-off", model, states, codes[:, 6], [[*row[:3], None, *row[4:]] for row in states[:150]]


def part(rows, lo, hi):
    """Some of the rows."""
    return rows.slice(lo, hi - lo) if hasattr(rows, "slice") else rows[lo:hi]


def size(rows):
    """How many rows there are."""
    return rows.num_rows if hasattr(rows, "num_rows") else len(rows)


def digests():
    """Of each model, a hash of the bits of its answers."""
    return {
        name: hashlib.sha256(np.ascontiguousarray(model.fit(X, y).predict_proba(new)).tobytes()).hexdigest()
        for name, model, X, y, new in models()
    }


if __name__ == "__main__":
    json.dump(digests(), sys.stdout)
