"""Forged model files: ``python -m benchmarks fuzz --minutes N``.

A file of every kind of model is opened, changed in one to three places and signed again, as a forger would. What comes
of it must be refused when it is loaded (`ModelFileError`), or be a model that answers: probabilities that sum to 1, or
one of the package's own errors. Anything else is printed with the seed that makes it again, and the status is 1. Memory
is limited, so that a small file that asks for gigabytes fails here too.
"""

from __future__ import annotations

import argparse
import copy
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

import ingenuo as ing
from ingenuo import store
from ingenuo.errors import IngenuoError, ModelFileError
from ingenuo.explanation.explain import inspect
from ingenuo.report.page import history_of, sources_of
from ingenuo.tally import container

MEMORY = 3 * 2**30  # bytes of address space that a run may add
SECONDS = 10.0  # of CPU that one forged file may take

NUMBERS = [-(2**63), -1, 0, 1, 2, 3, 7, 255, 2**31, 2**40, 2 * 10**8, 2**63, 10**30, 0.5, -1.5, 1e308]
VALUES = [None, True, False, "", "x", "text", "number", "auto", [], {}, {"!": "prior", "name": "x", "of": {}}]


def _numbers() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 40)
    return (rng.normal(size=(40, 3)) + y[:, np.newaxis]).round(2), y


def _mixed() -> tuple[Any, Any]:
    X, y = _numbers()
    colours = np.array(["red", "green", None], object)[np.arange(40) % 3]
    return pa.table({"size": X[:, 0], "weight": X[:, 1], "colour": colours.tolist()}), ["abc"[k] for k in y]


def _counts() -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    return rng.integers(0, 4, (40, 4)), np.array(["ja", "nein"])[rng.integers(0, 2, 40)]


def _texts() -> tuple[Any, Any]:
    texts = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull", "not fine", "never dull"]
    return texts * 4, ["good", "good", "bad", "bad", "bad", "good"] * 4


def _prices() -> tuple[Any, Any]:
    X, _ = _numbers()
    return X, X.sum(axis=1).round(1)


def _rain() -> Any:
    wet = {"yes": {"yes": 0.9, "no": 0.1}, "no": {"yes": 0.1, "no": 0.9}}
    return ing.Network.from_arcs([("rain", "wet")], tables={"rain": {"yes": 0.2, "no": 0.8}, "wet": wet})


W = ing.Words
ABOUT = {
    "rows": 40,
    "sources": [{"path": "a.csv", "bytes": 800, "sha256": "00"}],
    "history": [{"what": "train", "rows": 40, "source": "a.csv", "when": "2026-01-01"}],
}
MODELS: dict[str, tuple[Callable[[], Any], Callable[[], tuple[Any, Any]] | None]] = {
    "mixed": (ing.NaiveBayes, _mixed),
    "densities": (lambda: ing.NaiveBayes(numbers={"size": "kernel", "weight": "histogram"}), _mixed),
    "mixture": (lambda: ing.NaiveBayes(numbers="mixture"), _mixed),
    "auto": (lambda: ing.NaiveBayes(numbers="auto"), _mixed),
    "shared": (lambda: ing.NaiveBayes(numbers="gaussian-shared"), _numbers),
    "tuned": (lambda: ing.NaiveBayes(tune=True, calibration="temperature"), _mixed),
    "platt": (lambda: ing.NaiveBayes(calibration="platt"), _counts),
    "isotonic": (lambda: ing.NaiveBayes(calibration="isotonic"), _mixed),
    "given prior": (lambda: ing.NaiveBayes(prior=ing.MEstimate(2), class_prior={"a": 0.5, "b": 0.3, "c": 0.2}), _mixed),
    "texts": (lambda: ing.NaiveBayes(text=W(ngrams=(1, 2))), _texts),
    "tf-idf": (lambda: ing.NaiveBayes(text=W(weighting="tfidf", norm="l2", stop_words="english")), _texts),
    "texts tuned": (lambda: ing.NaiveBayes(tune=True, calibration="auto", text=W(binary=True)), _texts),
    "negation": (lambda: ing.NaiveBayes(text=W(negation="english", stem="english")), _texts),
    "gaussian": (ing.GaussianNB, _numbers),
    "multinomial": (ing.MultinomialNB, _counts),
    "complement": (lambda: ing.ComplementNB(norm=True), _counts),
    "bernoulli": (lambda: ing.BernoulliNB(binarize=1.5), _counts),
    "categorical": (lambda: ing.CategoricalNB(min_categories=5), _counts),
    "discriminant": (ing.GaussianDiscriminant, _numbers),
    "quadratic": (lambda: ing.GaussianDiscriminant("full", shrinkage="auto"), _numbers),
    "least squares": (lambda: ing.LeastSquaresClassifier(0.1), _numbers),
    "softmax": (ing.SoftmaxRegression, _mixed),
    "softmax of texts": (lambda: ing.SoftmaxRegression(text=W(), weighting="naive-bayes"), _texts),
    "language": (ing.LanguageModelClassifier, _texts),
    "language model": (lambda: ing.LanguageModel(2), _texts),
    "regressor": (lambda: ing.NaiveBayesRegressor(bins=4), _prices),
    "tan": (lambda: ing.NetworkClassifier("tan"), _mixed),
    "aode": (lambda: ing.NetworkClassifier("aode"), _mixed),
    "structure": (
        lambda: ing.NetworkClassifier(
            ing.Network.from_arcs([("class", "size"), ("class", "colour")], nodes=["weight"])
        ),
        _mixed,
    ),
    "network": (lambda: ing.Network.learn(_mixed()[0].select(["colour", "size"]), "chow-liu"), None),
    "network by hand": (_rain, None),
}


@cache
def packed(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The manifest and the tensors of a model."""
    make, data = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make()
        if data is not None:
            X, y = data()
            model = model.fit(X) if name == "language model" else model.fit(X, y)
    return container.from_bytes(store.to_bytes(model, ABOUT))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the values of a manifest stand."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in children for place in places(child, (*path, key)))]


def at(value: Any, path: Sequence[Any]) -> Any:
    """What stands there."""
    for step in path:
        value = value[step]
    return value


def forge(name: str, seed: int) -> bytes:
    """A model of this kind, changed and signed again."""
    rng = random.Random(f"{name} {seed}")
    manifest, tensors = copy.deepcopy(packed(name)[0]), dict(packed(name)[1])
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        (_change_manifest if rng.random() < 0.65 else _change_tensor)(rng, manifest, tensors)
    return container.to_bytes(manifest, tensors)


def _change_manifest(rng: random.Random, manifest: Any, tensors: Any) -> None:
    everywhere = [place for place in places(manifest) if place]
    if not everywhere:
        return
    *way, last = rng.choice(everywhere)
    parent, former = at(manifest, way), at(manifest, [*way, last])
    kind = rng.randrange(8)
    if kind == 0 and isinstance(parent, dict):
        del parent[last]
    elif kind == 1 and isinstance(parent, list):
        parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(former))
    elif kind == 2 and isinstance(parent, list):
        del parent[last]
    elif kind == 3 and isinstance(parent, list):
        rng.shuffle(parent)
    elif kind == 4:
        parent[last] = copy.deepcopy(at(manifest, rng.choice(everywhere)) if len(everywhere) < 10**4 else former)
    elif kind == 5 and isinstance(former, int | float):
        parent[last] = rng.choice([former + 1, former - 1, -former, former * 1000, not former])
    elif kind == 6 and isinstance(parent, dict):
        parent[rng.choice(["order", "exponent", "rows", "words", "target", "classes", "names"])] = copy.deepcopy(former)
    else:
        parent[last] = copy.deepcopy(rng.choice([*NUMBERS, *VALUES]))


def _change_tensor(rng: random.Random, manifest: Any, tensors: Any) -> None:
    if not tensors:
        return
    name = rng.choice(sorted(tensors))
    tensor = np.array(tensors[name])
    kind = rng.randrange(9)
    if kind == 0:
        del tensors[name]
        return
    if kind == 1:
        tensors[name] = tensors[rng.choice(sorted(tensors))]
        return
    if kind == 2:
        with np.errstate(all="ignore"):
            tensor = tensor.astype(rng.choice(["f8", "f4", "i8", "i4", "u1", "?"]))
    elif kind == 3 and tensor.size:
        with np.errstate(all="ignore"):
            value = rng.choice([0, 1, -1, np.nan, np.inf, 2.0**62, 1e308, 127])
            tensor.flat[rng.randrange(tensor.size)] = np.array(value).astype(tensor.dtype)
    elif kind == 4 and tensor.ndim and len(tensor):
        tensor = tensor[:-1]
    elif kind == 5 and tensor.ndim:
        tensor = np.concatenate([tensor, tensor])
    elif kind == 6 and tensor.ndim:
        tensor = tensor[::-1]
    elif kind == 7:
        tensor = tensor.reshape(rng.choice([(-1,), (1, -1), (-1, 1)]))
    elif tensor.dtype != bool:
        tensor = -tensor
    tensors[name] = tensor


def use(name: str, model: Any) -> None:
    """Ask a model all that a user may; raises where an answer is none."""
    if isinstance(model, ing.Tally):
        return
    if isinstance(model, ing.Network):
        for node in model.nodes:
            posterior = model.posterior(node)
            if not np.isclose(sum(posterior.values()), 1):
                raise AssertionError(f"the posterior of {node} is {posterior}")
        model.sample(3, random_state=0)
        return
    X, _ = (MODELS[name][1] or _rain)()
    if isinstance(model, ing.LanguageModel):
        model.score(X[:3]), model.generate(2, seed=0), model.next(n=2)
        return
    answers = np.asarray(model.predict(X[:6]))
    if isinstance(model, ing.NaiveBayesRegressor):
        if not np.isfinite(answers).all():
            raise AssertionError(f"it predicts {answers}")
        return
    found = np.asarray(model.predict_proba(X[:6]))
    if not (found >= 0).all() or not np.allclose(found.sum(axis=1), 1):
        raise AssertionError(f"the probabilities are {found.tolist()}")
    str(model.explain(X[:1])), repr(model)


def show(data: bytes, model: Any) -> None:
    """Show what a model is, and where it comes from."""
    with tempfile.NamedTemporaryFile(suffix=".ingenuo") as file:
        file.write(data)
        file.flush()
        about = store.about(file.name)
    if not isinstance(model, ing.Tally | ing.Network):
        str(inspect(model, about))
    sources_of(about), history_of(about)


def judge(name: str, seed: int) -> str:
    """What came of a forged file: refused, another model, or the fault."""
    data = forge(name, seed)
    start = time.process_time()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                model = store.from_bytes(data)
            except ModelFileError:
                return "refused"
            try:
                store.to_bytes(model)
                use(name, model)
                if seed % 4 == 0:
                    show(data, model)
            except IngenuoError:
                return "answered by an error"
    except (Exception, MemoryError) as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        return f"{type(error).__name__}: {str(error)[:100]} ({os.path.basename(last.filename)}:{last.lineno})"
    if (spent := time.process_time() - start) > SECONDS:
        return f"it took {spent:.0f} s"
    return "answered"


EXPECTED = ("refused", "answered", "answered by an error")


def limit_memory() -> None:
    """Let this process have no more than `MEMORY` beside what it has."""
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, resource.RLIM_INFINITY))


def main(arguments: Sequence[str] | None = None) -> int:
    """Forge files until the time is over; the status is 1 where one was neither refused nor answered."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks fuzz", description="Forged model files.")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default: 1)")
    parser.add_argument("--tries", type=int, help="so many of each model, and no longer")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--only", action="append", choices=MODELS, help="only this model")
    given = parser.parse_args(arguments)
    names, end = given.only or list(MODELS), time.monotonic() + 60 * given.minutes
    found: Counter[str] = Counter()
    for name in names:
        packed(name)
    if os.path.exists("/proc/self/statm"):
        limit_memory()
    seed = given.seed
    while time.monotonic() < end and (given.tries is None or seed < given.seed + given.tries):
        for name in names:
            outcome = judge(name, seed)
            found[outcome] += 1
            if outcome not in EXPECTED and found[outcome] == 1:
                print(f"{name}, seed {seed}: {outcome}", flush=True)
        seed += 1
    total = sum(found.values())
    print(f"{total} forged files: " + ", ".join(f"{found[each]} {each}" for each in EXPECTED))
    faults = total - sum(found[each] for each in EXPECTED)
    print(f"{faults} faults in {len(found.keys() - set(EXPECTED))} places")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
