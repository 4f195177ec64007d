"""Sequences of words: each word is drawn given the few words before it.

    p(w_1 … w_m) = Π p(w_i | w_(i-n+1) … w_(i-1))        n is the order; an order of 1 is a bag of words

The vocabulary V is every word that was seen, "</s>" (the end of a text) where texts have boundaries, and "<unk>" (all
words that were never seen). "<s>" only ever stands in a context. With c the count of the context and the word, N that
of the context, T the number of different words seen after it, and `lower` the estimate one word shorter:

    a prior        (c + a_w) / (N + Σ a)            ML, Laplace, Lidstone, the m-estimate, Dirichlet (MAP)
    Kneser-Ney     max(v - d, 0) / Σ v  +  (d · T / Σ v) · lower        v = c for the longest n-grams; for shorter
                   ones, the number of different words that were seen before them

A context that was never seen, and for which a prior imagines nothing, stands aside for its longest suffix that was
seen, so that probabilities sum to 1 in every context. Below the single words, Kneser-Ney has either nothing
(base "observed": they are relative frequencies, and an unknown word has probability 0) or equal shares
for all of V (base "uniform": no word is impossible).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import EmptyModelError, InputError, KindError, did_you_mean
from ingenuo.families.family import Floats, Term, fraction, term
from ingenuo.kernels import ngrams as loops
from ingenuo.labels import labels_of, objects
from ingenuo.prior import Dirichlet, Laplace, MaximumLikelihood, MEstimate, Prior

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
SMOOTHINGS = ("ml", "kneser-ney")
BASES = ("observed", "uniform")


@dataclass(frozen=True)
class Smoothing:
    """How counts become probabilities: by a prior, or by a mixture with shorter contexts."""

    method: str  # "prior" or "kneser-ney"
    prior: Prior = MaximumLikelihood()  # noqa: RUF009 (immutable)
    discount: float = 0.75
    uniform: bool = False

    @staticmethod
    def of(given: Any, order: int, discount: Any, base: Any) -> Smoothing:
        """The smoothing that a user names: None, one of SMOOTHINGS, or a prior.

        >>> Smoothing.of(None, 3, 0.75, "observed").method, Smoothing.of(None, 1, 0.75, "observed").prior
        ('kneser-ney', Laplace(variance_floor=1e-09))
        """
        if isinstance(discount, bool) or not isinstance(discount, int | float | np.number):
            raise KindError(f"discount must be a number, got {type(discount).__name__} {discount!r}")
        if not 0 <= discount <= 1:
            raise InputError(f"discount is {discount!r}; it must lie between 0 and 1, or what it takes is not there")
        if not isinstance(base, str) or base not in BASES:
            raise InputError(f"base={base!r} is not known{did_you_mean(base, BASES)}")
        if given is None:
            given = "kneser-ney" if order > 1 else Laplace()
        if isinstance(given, Prior):
            if given.columns():
                raise InputError(
                    f"the prior speaks of a column {given.columns()[0]!r}, and a text has none; give it by word"
                )
            return Smoothing("prior", given)
        if not isinstance(given, str):
            raise KindError(
                f"smoothing must be a Prior such as Laplace(), or one of {', '.join(SMOOTHINGS)}, "
                f"got {type(given).__name__} {given!r}"
            )
        if given not in SMOOTHINGS:
            raise InputError(f"smoothing={given!r} is not known{did_you_mean(given, SMOOTHINGS)}")
        if given == "ml":
            return Smoothing("prior")
        return Smoothing(given, discount=float(discount), uniform=base == "uniform")


@dataclass(frozen=True)
class Counted:
    """How often every n-gram was seen in each class; n-grams as in a vocabulary's tree, numbered level by level."""

    n_words: int
    parents: Sequence[NDArray[Any]]
    lasts: Sequence[NDArray[Any]]
    cells: Sequence[tuple[NDArray[Any], NDArray[Any]]]  # for each class: n-grams, and counts to be added up

    def column(self, k: int) -> NDArray[Any]:
        """The counts of one class, for every n-gram."""
        nodes, counts = self.cells[k]
        result = np.zeros(self.n_words + sum(map(len, self.parents)), counts.dtype)
        np.add.at(result, nodes, counts)
        return result

    def seen(self) -> NDArray[Any]:
        """How often each word was seen in all classes."""
        result = np.zeros(self.n_words)
        for nodes, counts in self.cells:
            single = nodes < self.n_words
            np.add.at(result, nodes[single], counts[single])
        return result

    def folded(self, min_count: float, end: int, unknown: int = -1) -> tuple[Counted, NDArray[np.int64]]:
        """The counts as if every word (but the end) that was seen less often had been the same unknown one.

        And for each word its new number, that of the unknown one being last; all are as they were where none is rare.
        A word that was called unknown in the texts already is one of the rare ones.
        """
        seen = self.seen()
        rare = (seen > 0) & (seen < min_count)
        if end >= 0:
            rare[end] = False
        if unknown >= 0:
            rare[unknown] = True
        if not rare.any():
            return self, np.arange(self.n_words)
        new = np.cumsum(~rare) - 1
        n_words = int(new[-1]) + 2
        new[rare] = n_words - 1
        places, size = [new], n_words
        parents, lasts, place = [], [], new
        for parent, last in zip(self.parents, self.lasts):
            pairs, place = np.unique(place[parent] * n_words + new[last], return_inverse=True)
            parents.append(pairs // n_words)
            lasts.append(pairs % n_words)
            places.append(place + size)
            size += len(pairs)
        moved = np.concatenate(places)
        return Counted(n_words, parents, lasts, [(moved[nodes], counts) for nodes, counts in self.cells]), new


@dataclass(frozen=True)
class SequenceParameters:
    """The tree of n-grams, and how probability is shared out in it."""

    trie: loops.Trie
    chances: loops.Chances
    counted: Counted
    pseudo: Floats  # (words + 1,): what the prior imagines of each; the unknown word is last
    known: NDArray[np.bool_]  # (words + 1,): what belongs to the vocabulary
    smoothing: Smoothing
    unknown: int  # the word that unknown ones are taken for, or -1
    start: NDArray[np.int64]  # the contexts a text starts in
    end: int  # the word that ends a text, or -1


def estimate(
    counted: Counted,
    order: int,
    smoothing: Smoothing,
    words: Callable[[], Sequence[str]],
    start: int,
    end: int,
    unknown: int = -1,
) -> SequenceParameters:
    """Probabilities from the counts of every n-gram.

    `words` gives the words' texts, for a prior that speaks of some of them; start, end and unknown are the places of
    "<s>", "</s>" and "<unk>" among them, or -1.
    """
    n_words, classes, seen = counted.n_words, len(counted.cells), counted.seen()
    if not seen.any():
        raise EmptyModelError("the model has seen no word, so there is nothing to estimate; fit it on some texts")
    known = np.append(seen > 0, unknown < 0)
    pseudo = np.zeros(n_words + 1)
    if smoothing.method == "prior":
        brought = smoothing.prior.known(np.zeros(0, np.int64)).tolist()
        if brought:  # words that were not seen, and yet belong to the vocabulary
            named = {*brought} - {START, END}
            known[:-1] |= np.fromiter((text in named for text in words()), np.bool_, n_words)
        pseudo[known] = _imagined(smoothing.prior, known, words)
    imagined = float(pseudo.sum())
    if imagined > 0:
        base = pseudo / imagined
    elif smoothing.uniform:
        base = known / known.sum()
    else:  # only where a class has seen nothing is anything left to this
        base = np.append(seen / seen.sum(), 0.0)
    trie = loops.build(counted.parents, counted.lasts, n_words, order)
    own, rest = np.zeros((len(trie.last), classes)), np.empty((int(trie.levels[order]), classes))
    for k in range(classes):
        own_counts = loops.ordered(trie, counted.column(k))
        if smoothing.method == "prior":
            loops.additive(trie, own_counts, imagined, own, rest, k)
        else:
            loops.kneser_ney(trie, own_counts, smoothing.discount, smoothing.uniform, own, rest, k)
    begin = loops.contexts(trie, [start] * (trie.order - 1) if start >= 0 else [])
    chances = loops.Chances(own, rest, np.asarray(base, np.float64), imagined > 0)
    return SequenceParameters(trie, chances, counted, pseudo, known, smoothing, unknown, begin, end)


def _imagined(prior: Prior, known: NDArray[np.bool_], words: Callable[[], Sequence[str]]) -> Floats:
    """The pseudo-counts of the vocabulary's words, in its order."""
    given = getattr(prior, "weights", None) if isinstance(prior, MEstimate) else getattr(prior, "alphas", None)
    if not isinstance(prior, MEstimate | Dirichlet) or given is None or isinstance(given, int | float):
        return prior.pseudo_counts(np.arange(int(known.sum())))  # the same for every word, whatever it is
    texts = objects([text for text, here in zip([*words(), UNKNOWN], known) if here])
    labels = labels_of(texts)
    place = {text: i for i, text in enumerate(labels.tolist())}
    return prior.pseudo_counts(labels)[[place[text] for text in texts.tolist()]]


def distribution(parameters: SequenceParameters, context: Sequence[int], k: int = 0) -> Floats:
    """p(w | context) of every word, and in the last place of the unknown one."""
    trie, chances = parameters.trie, parameters.chances
    nodes = loops.contexts(trie, context)
    result = chances.base.copy()
    for node in nodes[-1:] if chances.direct else nodes:
        if node < 0:
            break
        result *= chances.rest[node, k]
        children = slice(trie.first[node], trie.first[node + 1])
        result[trie.last[children]] += chances.own[children, k]
    return result


def terms(parameters: SequenceParameters, words: NDArray[np.int32]) -> list[tuple[Term, ...]]:
    """The probability of each word of a text in every class, written as the fractions it comes from."""
    values, found = loops.probabilities(parameters.trie, parameters.chances, parameters.start, words)
    seen = _seen(parameters)
    most = parameters.trie.order - 1
    lines = []
    for place, word in enumerate(words.tolist()):
        length = min(len(parameters.start) - 1 + place, most)
        contexts, nodes = found[place, 0, : length + 1], found[place, 1, : length + 1]
        written = [_written(parameters, counts, word, contexts, nodes, k) for k, counts in enumerate(seen)]
        lines.append(tuple(term(how, value) for how, value in zip(written, values[place])))
    return lines


def _seen(parameters: SequenceParameters) -> list[NDArray[Any]]:
    """What is counted at every node: for Kneser-Ney, of the shorter n-grams, the different words before them."""
    trie, result = parameters.trie, []
    longest = int(trie.levels[trie.order])
    for k in range(len(parameters.counted.cells)):
        counts = loops.ordered(trie, parameters.counted.column(k))
        if parameters.smoothing.method != "kneser-ney":
            result.append(counts)
            continue
        values = loops.preceding(trie, counts)
        values[longest:] = counts[longest:]
        if not values[1 : trie.first[1]].any():
            values[1 : trie.first[1]] = counts[1 : trie.first[1]]
        result.append(values)
    return result


def _written(
    parameters: SequenceParameters,
    seen: NDArray[Any],
    word: int,
    contexts: NDArray[np.int64],
    nodes: NDArray[np.int64],
    k: int,
) -> str:
    """The estimate of one word as a person writes it; what a shorter context gives stands in it as a number."""
    trie, chances, smoothing = parameters.trie, parameters.chances, parameters.smoothing
    length = len(contexts) - 1

    def count(length: int) -> float:
        return float(seen[nodes[length]]) if nodes[length] >= 0 else 0.0

    def total(length: int) -> float:
        context = contexts[length]
        return float(seen[trie.first[context] : trie.first[context + 1]].sum()) if context >= 0 else 0.0

    if chances.direct:
        return fraction(count(length), parameters.pseudo[word], total(length), parameters.pseudo.sum())
    while length > 0 and total(length) == 0:
        length -= 1
    context, c, N = int(contexts[length]), count(length), total(length)
    rest = float(chances.rest[context, k])
    if N == 0:
        return f"{chances.base[word]:.6g}"
    if rest == 0:
        return fraction(c, 0, N, 0)
    lower = float(chances.base[word])
    for n in range(length):
        lower = chances.rest[contexts[n], k] * lower + (chances.own[nodes[n], k] if nodes[n] >= 0 else 0.0)
    kept = f"({c:.12g} - {smoothing.discount:g})/{N:.12g}" if c > smoothing.discount else f"0/{N:.12g}"
    return f"{kept} + {rest:.6g}·{lower:.6g}"
