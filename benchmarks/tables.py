"""The naive Bayes of tables against scikit-learn's: speed of learning and answering, and memory.

Learning is timed twice: `fit` alone, and `fit` with one answer after it, because we estimate parameters when
they are first asked for and scikit-learn does it while fitting.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn import naive_bayes as sk

import ingenuo as ing
from benchmarks import data
from benchmarks.by_hand import JoinedByHand, as_scikit_learn, joint_without_missing
from benchmarks.cases import Case, Duel, ExtraMemory, Race
from benchmarks.report import Bar, farthest

ROWS = 1_000_000
SAMPLE = slice(0, 2000)  # the rows whose joint log probabilities are compared

Make = Callable[[int], data.Labelled]


def learning(
    model: str, make: Make, rows: int, *, weighted: bool = False, answer: bool = False, text: bool = False
) -> Duel:
    """Both fit a model of one name; weighted, with an answer for one row, or with strings as classes."""
    given = make(rows)
    weights = given.weights if weighted else None
    y = np.array([f"class {k}" for k in range(given.y.max() + 1)])[given.y] if text else given.y

    def fit(home: Any) -> Any:
        fitted = getattr(home, model)().fit(given.X, y, sample_weight=weights)
        if answer:
            fitted.predict(given.X[:1])
        return fitted

    def difference(peer: Any, ours: Any) -> float:
        return farthest(peer.predict_joint_log_proba(given.X[SAMPLE]), ours.predict_joint_log_proba(given.X[SAMPLE]))

    return Duel(lambda: fit(sk), lambda: fit(ing), difference, given.nbytes)


def answering(model: str, make: Make, method: str, rows: int) -> Duel:
    """Both answer for the rows they were fitted on; labels differ by the share of rows that got another."""
    given = make(rows)
    peer, ours = (getattr(home, model)().fit(given.X, given.y) for home in (sk, ing))

    def difference(theirs: Any, own: Any) -> float:
        return float(np.mean(theirs != own)) if method == "predict" else farthest(theirs, own)

    return Duel(
        lambda: getattr(peer, method)(given.X),
        lambda: getattr(ours, method)(given.X),
        difference,
        given.nbytes,
    )


def mixed(form: str, task: str, rows: int) -> Duel:
    """`NaiveBayes` against scikit-learn joined by hand, on a mixed table.

    scikit-learn reads pandas. Where we are given Arrow, it gets the same table as pandas: the conversion is
    not on its clock.
    """
    table = data.mixed(rows)
    strings = form.endswith("strings")
    theirs = table.pandas(strings=strings)
    own = theirs if form.startswith("pandas") else table.arrow(strings=strings)
    weights = table.weights if task == "weighted" else None
    truth = joint_without_missing(table, SAMPLE, weights)
    peer, ours = JoinedByHand(table.values.shape[1], len(table.labels)), as_scikit_learn()
    size = own.nbytes if form.startswith("arrow") else int(own.memory_usage(index=False, deep=True).sum())
    if task == "predict_proba":
        peer.fit(theirs, table.y)
        ours.fit(own, table.y)
        posterior = np.exp(truth - logsumexp(truth, axis=1, keepdims=True))
        return Duel(
            lambda: peer.predict_proba(theirs),
            lambda: ours.predict_proba(own),
            lambda _, found: farthest(posterior, found[SAMPLE]),
            size,
        )
    first = own[:1] if form.startswith("pandas") else own.slice(0, 1)

    def fit(model: Any, X: Any, one: Any) -> Any:
        model.fit(X, table.y, sample_weight=weights)
        if task == "answer":
            model.predict_proba(one)
        return model

    sample = own[SAMPLE] if form.startswith("pandas") else own.slice(0, SAMPLE.stop)
    return Duel(
        lambda: fit(peer, theirs, theirs[:1]),
        lambda: fit(ours, own, first),
        lambda _, model: farthest(truth, model.predict_joint_log_proba(sample)),
        size,
    )


def _numbers() -> list[Case]:
    cases: list[Case] = []
    for kind, ratio in (("normal", 8), ("lognormal", 8), ("integers", 15), ("float32", 15)):
        make = partial(data.numbers, kind)
        cases += [
            Race(f"GaussianNB fit, {kind}", Bar(ratio), partial(learning, "GaussianNB", make)),
            Race(
                f"GaussianNB fit + answer, {kind}",
                Bar(ratio),
                partial(learning, "GaussianNB", make, answer=True),
            ),
        ]
        if kind in ("lognormal", "integers"):
            weighted = partial(learning, "GaussianNB", make, weighted=True)
            cases.append(Race(f"GaussianNB weighted fit, {kind}", Bar(), weighted))
        if kind == "lognormal":
            cases += [
                Race("GaussianNB fit, text classes", Bar(), partial(learning, "GaussianNB", make, text=True)),
                Race(
                    "GaussianNB predict_proba",
                    Bar(10),
                    partial(answering, "GaussianNB", make, "predict_proba"),
                ),
            ]
    columnwise = partial(data.numbers, "lognormal", order="F")
    return [
        *cases,
        Race("GaussianNB fit, lognormal by columns", Bar(), partial(learning, "GaussianNB", columnwise)),
        Race(
            "GaussianNB predict_proba by columns",
            Bar(),
            partial(answering, "GaussianNB", columnwise, "predict_proba"),
        ),
    ]


def _categories() -> list[Case]:
    learn = partial(learning, "CategoricalNB", data.codes)
    return [
        Race("CategoricalNB fit", Bar(40), learn),
        Race("CategoricalNB fit + answer", Bar(40), partial(learn, answer=True)),
        Race("CategoricalNB weighted fit", Bar(), partial(learn, weighted=True)),
        Race(
            "CategoricalNB predict_log_proba",
            Bar(15),
            partial(answering, "CategoricalNB", data.codes, "predict_log_proba"),
        ),
    ]


def _counts() -> list[Case]:
    cases: list[Case] = []
    for kind in ("uniform", "zipf"):
        make = partial(data.counts, kind)
        for model, fit, predict in (("MultinomialNB", 4, 2), ("BernoulliNB", 3, 3), ("ComplementNB", 3, 3)):
            learn = partial(learning, model, make)
            cases += [
                Race(f"{model} fit, {kind}", Bar(fit), learn),
                Race(f"{model} fit + answer, {kind}", Bar(fit), partial(learn, answer=True)),
                Race(f"{model} predict, {kind}", Bar(predict), partial(answering, model, make, "predict"), 0.0),
            ]
            if kind == "zipf":
                cases.append(Race(f"{model} weighted fit, {kind}", Bar(), partial(learn, weighted=True)))
    doubles = partial(data.counts, "zipf", dtype="float64")
    return [
        *cases,
        Race("MultinomialNB fit, zipf doubles", Bar(4), partial(learning, "MultinomialNB", doubles)),
    ]


def _mixed() -> list[Case]:
    cases: list[Case] = []
    for form in ("pandas categoricals", "arrow dictionaries", "arrow strings"):
        cases += [
            Race(f"NaiveBayes fit, {form}", Bar(10), partial(mixed, form, "fit")),
            Race(f"NaiveBayes predict_proba, {form}", Bar(10), partial(mixed, form, "predict_proba")),
        ]
    cases.insert(1, Race("NaiveBayes fit + answer, pandas", Bar(10), partial(mixed, "pandas categoricals", "answer")))
    cases.insert(2, Race("NaiveBayes weighted fit, pandas", Bar(), partial(mixed, "pandas categoricals", "weighted")))
    return cases


def _memory() -> list[Case]:
    measured: dict[str, float | None] = {
        "GaussianNB fit, lognormal": 0.1,
        "GaussianNB fit, integers": 0.1,
        "GaussianNB fit, lognormal by columns": 0.1,
        "GaussianNB weighted fit, lognormal": 0.1,
        "CategoricalNB fit": 0.1,
        "MultinomialNB fit, zipf": None,
        "NaiveBayes fit, pandas categoricals": None,
        "NaiveBayes fit, arrow dictionaries": None,
    }
    return [ExtraMemory("tables", race, share) for race, share in measured.items()]


def cases() -> list[Case]:
    """Every case of this suite."""
    return [*_numbers(), *_categories(), *_counts(), *_mixed(), *_memory()]
