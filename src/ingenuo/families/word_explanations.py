"""What one document's words say of every class, as a person would write it; and documents drawn from a class."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.family import Factor, Floats, Passage, Term, exponential, fraction, powers_of_e
from ingenuo.families.word_parameters import ColumnParameters
from ingenuo.kernels import portable
from ingenuo.labels import objects
from ingenuo.schema import column_name
from ingenuo.text.reading import Feature, features, tokens


def _per_occurrence(p: ColumnParameters, node: int) -> Floats:
    """What one occurrence of a node adds to the log joint of each class."""
    table = p.table
    result: Floats = table.constant * p.weights[node]
    if len(table.base):
        result = result + table.base[node]
    result = result + table.values(node)
    if p.strict is not None and p.strict.info[node, 0] >= 0:
        lacking = np.ones(len(result), np.bool_)
        lacking[p.bag.codes[int(p.bag.starts[node]) : int(p.bag.starts[node + 1])]] = False
        result[lacking] = -np.inf
    return result


def _known(p: ColumnParameters, found: list[Feature]) -> tuple[list[tuple[Feature, int]], list[str]]:
    """The features that have a weight, with their nodes; and the others."""
    nodes = p.bag.vocabulary.find(feature.text for feature in found).tolist() if found else []
    used = [(feature, node) for feature, node in zip(found, nodes) if node >= 0 and p.weights[node] != 0]
    kept = {id(feature) for feature, _ in used}
    return used, [feature.text for feature in found if id(feature) not in kept]


def _length(p: ColumnParameters, times: dict[int, float]) -> float:
    """The length of the document's vector, where counts are divided by it."""
    if p.words.norm is None or not times:
        return 1.0
    return float(np.sqrt(sum((n * p.weights[node]) ** 2 for node, n in times.items())))


def factors(p: ColumnParameters, text: str | None, model: str) -> list[Factor]:
    """One factor for each word that was ever seen; the strongest first."""
    name = column_name(p.name)
    if text is None:
        return [Factor(name, "missing", note="left out")]
    used, unknown = _known(p, features(tokens(text, p.words), p.words))
    texts = {node: feature.text for feature, node in reversed(used)}
    times: dict[int, float] = dict(Counter(node for _, node in used))
    if p.once:
        times = dict.fromkeys(times, 1.0)
    length = _length(p, times)
    result = []
    for node, n in times.items():
        logs = _per_occurrence(p, node) * n / length
        if p.absent is not None:  # log odds and log (1 - p) are log p
            logs = logs + _log_absent(p, node)
        ways = _written(p, node, model, n * p.weights[node] / length)
        terms = tuple(Term(way, exponential(float(log)), float(log)) for way, log in zip(ways, logs))
        result.append(Factor(texts[node], f"×{n:g}", terms, part_of=name))
    result.sort(key=lambda factor: -_spread(factor))
    if p.absent is not None:
        result.append(_absent(p, name, list(times)))
    if unknown:
        result.append(_unknown(name, unknown))
    if not used and not unknown and p.absent is None:
        result.append(Factor(name, "no words", note="left out"))
    return result


def with_columns(factors: list[Factor], columns: int) -> list[Factor]:
    """Where there are several text columns, each word with the name of its own."""
    if columns < 2:
        return factors
    return [replace(each, column=f"{each.part_of}: {each.column}") if each.part_of else each for each in factors]


def _spread(factor: Factor) -> float:
    logs = [term.log for term in factor.terms]
    return max(logs) - min(logs) if min(logs) > -np.inf else np.inf


def _unknown(name: str, unknown: list[str]) -> Factor:
    different = list(dict.fromkeys(unknown))
    listed = ", ".join(different[:8]) + (", …" if len(different) > 8 else "")
    return Factor(name, f"{len(different)} unknown", note=f"never seen, or not used: left out: {listed}")


def _absent(p: ColumnParameters, name: str, present: list[int]) -> Factor:
    """All the words that are not there, together: the product of 1 - p over them."""
    assert p.absent is not None
    log = p.absent.copy()
    others = int(np.count_nonzero(p.weights)) - len(present)
    for node in present:
        log -= _log_absent(p, node)
    if p.n_certain is not None:  # where every document of a class has a word, none can be without it
        log[p.n_certain > sum((_certain(p, node) for node in present), np.zeros(len(log)))] = -np.inf
    terms = tuple(Term(f"{others:,} factors 1 - p", exponential(float(each)), float(each)) for each in log)
    return Factor(name, f"{others:,} absent", terms)


def _log_absent(p: ColumnParameters, node: int) -> Floats:
    """log (1 - p) of one word: log p - log odds, with what is certain left out as in `absent`."""
    counts = _counts(p, node)
    a1 = float(np.max(p.pseudo))
    rest = p.normaliser - a1 - counts
    return np.where(rest > 0, portable.log(np.where(rest > 0, rest, 1) / np.maximum(p.normaliser, 1e-300)), 0.0)


def _certain(p: ColumnParameters, node: int) -> NDArray[np.bool_]:
    """The classes all of whose documents have the word, with nothing imagined."""
    counts = _counts(p, node)
    return (counts > 0) & (p.normaliser - float(np.max(p.pseudo)) - counts <= 0)


def _counts(p: ColumnParameters, node: int) -> Floats:
    """The weighted counts of a node in every class."""
    result = np.zeros(len(p.normaliser))
    cells = slice(int(p.bag.starts[node]), int(p.bag.starts[node + 1]))
    result[p.bag.codes[cells]] = p.bag.numbers()[cells] * p.weights[node]
    return result


def _written(p: ColumnParameters, node: int, model: str, power: float) -> list[str]:
    """The fraction of each class as a person writes it, to the power of the word's count; or e to its weight."""
    if model == "linear":
        return [powers_of_e(float(w), power / max(p.weights[node], 1e-300)) for w in p.table.values(node)]
    counts = _counts(p, node)
    if model == "bernoulli":
        a1 = float(np.max(p.pseudo))
        both = p.normaliser - p.rows
        return [fraction(float(c), a1, float(n), float(b)) for c, n, b in zip(counts, p.rows, both)]
    pseudo = p.pseudo if isinstance(p.pseudo, float) else float(p.pseudo[node])
    imagined = pseudo * np.count_nonzero(p.weights) if isinstance(p.pseudo, float) else float(np.sum(p.pseudo))
    above = counts.sum() - counts if model == "complement" else counts
    below = p.normaliser - imagined
    digits = 6 if p.words.weighting == "tfidf" else 12
    shown = [fraction(float(c), pseudo, float(n), float(imagined), digits) for c, n in zip(above, below)]
    raised = "" if power == 1 else f"^{power:.6g}"
    if model == "complement":
        return [f"1/[{each}]{raised}" for each in shown]
    return [f"[{each}]{raised}" if raised else each for each in shown]


def passage(p: ColumnParameters, text: str | None, best: int, second: int) -> Passage:
    """The text in pieces; each word with how much it speaks for the one class and against the other."""
    if text is None:
        return Passage(column_name(p.name), ())
    read = tokens(text, p.words)
    used, _ = _known(p, features(read, p.words))
    times: dict[int, float] = {}
    shares = np.zeros(len(read))
    touched = np.zeros(len(read), np.bool_)
    for feature, node in used:
        if p.once and node in times:
            continue
        times[node] = times.get(node, 0.0) + 1
        logs = _per_occurrence(p, node)
        with np.errstate(invalid="ignore"):
            weight = float(np.nan_to_num(logs[best] - logs[second], posinf=50, neginf=-50))
        for number in feature.tokens:
            shares[number] += weight / len(feature.tokens)
            touched[number] = True
    shares /= _length(p, times)
    pieces: list[tuple[str, float | None]] = []
    at = 0
    for number, token in enumerate(read):
        if token.begin > at:
            pieces.append((text[at : token.begin], None))
        pieces.append((text[token.begin : token.end], float(shares[number]) if touched[number] else None))
        at = token.end
    if at < len(text):
        pieces.append((text[at:], None))
    return Passage(column_name(p.name), tuple(pieces))


def sample(p: ColumnParameters, model: str, drawn: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
    """Words by their frequencies within the class, as many as its documents have on average (Poisson)."""
    if model == "complement":
        raise InputError("complement weights are no distribution of words, so no text can be drawn; use 'multinomial'")
    if p.words.ngrams != (1, 1) or p.words.hashed:
        what = "hashed words" if p.words.hashed else f"n-grams {p.words.ngrams}"
        raise InputError(
            f"texts cannot be drawn from {what}, which overlap or have no text; use single words, or a LanguageModel"
        )
    nodes = np.flatnonzero(p.weights)
    names = np.array(p.bag.vocabulary.texts(nodes.tolist()), object)
    words = np.array([not name.startswith("[") for name in names], np.bool_)
    nodes, names = nodes[words], names[words]
    result = objects([""] * len(drawn))
    for k in np.unique(drawn).tolist():
        counts = _class_counts(p, k)[nodes]
        rows = np.flatnonzero(drawn == k)
        if model == "bernoulli":
            shares = (counts + float(np.max(p.pseudo))) / p.normaliser[k]
            for row in rows:
                result[row] = " ".join(names[rng.random(len(names)) < shares])
            continue
        pseudo = p.pseudo if isinstance(p.pseudo, float) else p.pseudo[nodes]
        shares = np.cumsum(counts + pseudo)
        mean = counts.sum() / max(float(p.rows[k]), 1e-300) if len(nodes) else 0.0
        for row in rows:
            places = np.searchsorted(shares, rng.random(rng.poisson(mean)) * shares[-1], side="right")
            result[row] = " ".join(names[np.minimum(places, len(names) - 1)])
    return result


def _class_counts(p: ColumnParameters, label: int) -> Floats:
    return np.asarray(p.bag.column(label), np.float64) * p.weights
