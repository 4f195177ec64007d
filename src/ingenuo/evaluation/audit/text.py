"""The audit of a text classifier: what it makes of sentences that differ only in the person they are about.

In each frame the scores of a group's sentences are averaged, and one group's mean less the other's is one difference.
The test is of these differences: were the groups treated alike, each would be as likely to have the other sign.

Which words carry a difference is found by taking them out: what the log-odds of a class lose without a word. Only words
that differ between the sentences of a frame can carry a difference between groups. In naive Bayes on single words what
is lost is the word's own factor, so the words' shares add up to the whole difference of the log-odds; for other models
it is what the word does in its place. A term that changes nothing is one that the model does not use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, KindError, did_you_mean
from ingenuo.evaluation.audit import findings
from ingenuo.evaluation.audit.findings import OTHERS
from ingenuo.evaluation.audit.groups import Share, judged, share
from ingenuo.evaluation.audit.sentences import WORD, Sentences, coded, sentences_of, varying, words_of
from ingenuo.evaluation.paired import flip_signs, level, student
from ingenuo.evaluation.significance import holm
from ingenuo.rows.schema import FAMILIES, column_name
from ingenuo.tally.labels import Labels, encode, find, objects

Floats = NDArray[np.float64]

_FARTHEST = 700.0  # log-odds: what is impossible or certain counts as this far
_PAIRS = 4  # groups of a kind: of more, each is compared with all others together and not with each
_NOTHING = 1e-9  # of the log-odds
_REPLICATES = 9_999
_FOR_EACH = 200  # replicates for each comparison: the smallest p that can be found is 0.005 by Holm's correction
_WORDS = 10  # that are kept of a comparison
_WORST = 3  # pairs of sentences that are kept of a comparison
_LOOKED = 500  # pairs that are looked at for those


class Asked(NamedTuple):
    """What a classifier answered."""

    probabilities: Floats  # texts × classes; 0 and 1 where it gives labels only
    log_odds: Floats  # texts × classes, each against the rest
    predicted: NDArray[np.int64]  # places among the classes


class TextModel:
    """A fitted classifier and the column that it reads sentences from.

    Attributes
    ----------
    classes : array
        The classes.
    notes : list of str
        What was done with its other columns.
    """

    def __init__(self, model: Any, column: str | None = None) -> None:
        if not hasattr(model, "predict"):
            raise InputError(
                f"sentences are for a fitted text classifier, got {type(model).__name__}; to audit predictions give "
                "y and protected"
            )
        self.model, self.notes = model, list[str]()
        self.others, self.column = self._columns(column)
        if not hasattr(model, "classes_"):
            raise InputError(f"{type(model).__name__} has no classes; give a fitted classifier")
        self.classes = encode(np.asarray(model.classes_))[1]
        self._places = find(self.classes, objects(np.asarray(model.classes_).tolist()))
        self.probable = hasattr(model, "predict_proba")
        if not self.probable:
            self.notes.append("The model gives labels and no probabilities: its score is 1 for its answer, else 0.")

    def _columns(self, column: str | None) -> tuple[list[Any], Any]:
        """The columns besides, and the column that is read; None where the model reads a list of texts."""
        schema = getattr(self.model, "schema_", None)
        if schema is None or len(schema) == 0:
            if column is not None:
                raise InputError(f"column={column!r} cannot be chosen: {type(self.model).__name__} names no columns")
            return [], None
        families = list(FAMILIES)
        texts = [
            name for name, code in zip(schema.names.tolist(), schema.families) if FAMILIES[families[code]] == "text"
        ]
        if not texts:
            raise InputError(
                f"the model reads no text: its columns are {', '.join(map(column_name, schema.names.tolist()[:5]))}"
                f"{', …' if len(schema) > 5 else ''}; "
                "to audit it by rows, give X and the column of their groups with protected=…"
            )
        if column is not None and column not in texts:
            raise InputError(f"the model has no text column {column!r}{did_you_mean(column, texts)}")
        chosen = texts[0] if column is None else column
        others = [name for name in schema.names.tolist() if name != chosen]
        if others:
            listed = ", ".join(repr(column_name(name)) for name in others[:5]) + (", …" if len(others) > 5 else "")
            self.notes.append(f"The sentences stand in column {column_name(chosen)!r}; missing are {listed}.")
        return others, chosen

    def _table(self, texts: list[str]) -> Any:
        if not self.others:
            return texts
        import pyarrow as pa

        schema = self.model.schema_
        columns = {name: pa.nulls(len(texts)) for name in schema.names.tolist()}
        columns[self.column] = pa.array(texts)
        if schema.named:
            return pa.table({str(name): values for name, values in columns.items()})
        return np.column_stack([objects(values.to_pylist()) for values in columns.values()])

    def ask(self, texts: list[str]) -> Asked:
        """The model's answers to some texts."""
        table = self._table(texts)
        k = len(self.classes)
        try:
            answered = np.asarray(self.model.predict(table))
            given = np.asarray(self.model.predict_proba(table)) if self.probable else None
            logs = np.asarray(self.model.predict_log_proba(table)) if hasattr(self.model, "predict_log_proba") else None
        except (IngenuoError, ValueError, TypeError, AttributeError) as error:
            first = str(error).splitlines()[0].rstrip(":") if str(error) else type(error).__name__
            raise InputError(
                f"{type(self.model).__name__} does not take a list of sentences ({first:.150}); give a text "
                "classifier, or audit it by rows with X and protected=…"
            ) from None
        predicted = find(self.classes, objects(answered.ravel().tolist()))
        probabilities = np.zeros((len(texts), k))
        if given is None:
            probabilities[np.arange(len(texts)), predicted] = 1.0
        else:
            probabilities[:, self._places] = given
        with np.errstate(divide="ignore"):
            log = np.log(probabilities)
        if logs is not None:
            log[:, self._places] = logs
        return Asked(probabilities, _log_odds(log), predicted)

    def log_odds(self, texts: list[str]) -> Floats:
        """The log-odds of each class against the rest."""
        return self.ask(texts).log_odds


def _log_odds(log: Floats) -> Floats:
    """log P(class) - log P(any other), from log probabilities.

    >>> _log_odds(np.log([[0.8, 0.2]])).round(4).tolist()
    [[1.3863, -1.3863]]
    """
    from scipy.special import logsumexp

    found = np.empty_like(log)
    for k in range(log.shape[1]):
        rest = np.delete(log, k, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            others = logsumexp(rest, axis=1) if rest.shape[1] else np.full(len(log), -np.inf)
            found[:, k] = log[:, k] - others
    return np.asarray(np.nan_to_num(found.clip(-_FARTHEST, _FARTHEST)))


class Pair(NamedTuple):
    """Two sentences of one frame, the score of each, and the terms they are about."""

    sentence: str
    score: float
    other: str
    other_score: float
    terms: tuple[str, str]

    @property
    def difference(self) -> float:
        """The first score less the other."""
        return self.score - self.other_score


@dataclass(frozen=True)
class Comparison:
    """How the scores of one group's sentences differ from another's."""

    class_: Any  # whose probability is the score
    kind: str  # what the groups are of
    group: str
    against: str  # "the others" where a kind has many groups
    frames: int  # that have sentences of both
    difference: float  # the mean over the frames, with Student's interval; none where all differ by the same
    low: float | None
    high: float | None
    p_value: float  # of the permutation test: signs of the frames' differences flipped at random
    p_terms: float | None  # of Welch's test between the terms' means: could other terms have shown it by chance?
    log_odds: float  # the mean difference of the log-odds
    unused: bool = False  # whether the model uses no term of the group, so that the difference is all the other side's
    words: tuple[tuple[str, float], ...] = ()  # what each word that differs adds to the log-odds, the strongest first
    worst: tuple[Pair, ...] = ()  # the sentences of one frame that differ most
    adjusted: float = 1.0  # the p-value by Holm's correction, for as many comparisons as the audit makes
    significant: bool = False


def contrasts(groups: int) -> list[tuple[int, int | None]]:
    """Which groups are compared: each two of a few, each with all others of many."""
    if groups <= _PAIRS:
        return [(a, b) for a in range(groups) for b in range(a + 1, groups)]
    return [(a, None) for a in range(groups)]


def weights_of(frames: NDArray[np.int64], codes: NDArray[np.int64], group: int, against: int | None) -> Floats | None:
    """The weight of each sentence in its frame's difference; None where no frame has both sides.

    The group's sentences share a weight of 1, the other group's of -1; of several others each group has an equal part.
    """
    n_frames, n_groups = int(frames.max()) + 1, int(codes.max()) + 1
    there = codes >= 0
    cells = np.bincount(frames[there] * n_groups + codes[there], minlength=n_frames * n_groups).reshape(n_frames, -1)
    sides = np.zeros((n_frames, n_groups))
    others = [against] if against is not None else [g for g in range(n_groups) if g != group]
    present = cells > 0
    both = present[:, group] & present[:, others].any(axis=1)
    if not both.any():
        return None
    sides[both, group] = 1.0
    many = present[:, others].sum(axis=1)
    for g in others:
        rows = both & present[:, g]
        sides[rows, g] = -1.0 / many[rows]
    weights = np.zeros(len(frames))
    weights[there] = (sides / np.maximum(cells, 1))[frames[there], codes[there]]
    return weights


def welch(one: Floats, other: Floats) -> float | None:
    """The p-value of Welch's t test; None where a side has one term, or nothing varies."""
    from scipy.special import stdtr

    n, m = len(one), len(other)
    if min(n, m) < 2 or one.var() + other.var() <= 1e-30:
        return None
    a, b = one.var(ddof=1) / n, other.var(ddof=1) / m
    freedom = (a + b) ** 2 / (a * a / (n - 1) + b * b / (m - 1))
    return float(2 * stdtr(freedom, -abs(one.mean() - other.mean()) / np.sqrt(a + b)))


def different(pairs: list[Pair], most: int) -> list[Pair]:
    """The pairs that differ most; of two terms, and of what is said of them, one pair is enough."""
    kept: list[Pair] = []
    seen: set[Any] = set()
    for pair in sorted(pairs, key=lambda pair: -abs(pair.difference)):
        said = pair.sentence.replace(pair.terms[0], "…") if pair.terms[0] else pair.sentence
        if len(kept) < most and not {frozenset(pair.terms), said} & seen:
            seen |= {frozenset(pair.terms), said} if any(pair.terms) else {said}
            kept.append(pair)
    return kept


class Carried(NamedTuple):
    """What words carry: sentence and word of each entry, what the log-odds of each class lose without it."""

    rows: NDArray[np.int64]
    words: NDArray[np.int64]
    names: list[str]
    losses: Floats  # entries × classes
    own: NDArray[np.bool_]  # whether the word is part of the sentence's term


def carried(sentences: Sentences, log_odds: Floats, ask: Callable[[list[str]], Floats]) -> Carried:
    """Take each word that differs out of its sentence, and ask what the log-odds (sentences × classes) lose."""
    names: dict[str, int] = {}
    rows, words, own, texts = [], [], [], []
    for row, found in varying(sentences):
        term = set(words_of(sentences.terms[row])) if sentences.terms[row] else set(found)
        for word in found:
            rows.append(row)
            words.append(names.setdefault(word, len(names)))
            own.append(word in term)
            texts.append(without_word(sentences.texts[row], word))
    at = np.array(rows, np.int64)
    losses = log_odds[at] - ask(texts) if texts else np.zeros((0, log_odds.shape[1]))
    return Carried(at, np.array(words, np.int64), list(names), losses, np.array(own, np.bool_))


def unused_terms(sentences: Sentences, found: Carried) -> set[str]:
    """The terms whose words change nothing in any sentence."""
    moved = found.own & (np.abs(found.losses) > _NOTHING).any(axis=1)
    used = {sentences.terms[row] for row in found.rows[moved].tolist()}
    # Terms that vary nowhere, for all sentences of their frames are about them, say nothing.
    varied = {sentences.terms[row] for row in found.rows[found.own].tolist()}
    return varied - used


def without_word(text: str, word: str) -> str:
    """A sentence without a word.

    >>> without_word("My aunt met Aunt Ada.", "aunt")
    'My met Ada.'
    """
    left = WORD.sub(lambda found: "" if found.group().lower() == word else found.group(), text)
    return " ".join(left.split())


@dataclass(frozen=True)
class GroupScores:
    """What a group's sentences score: their number, the mean, the share answered with the class; errors if known.

    `unused` of the group's `terms` change nothing in any sentence: the model has not seen them, or leaves them out.
    """

    class_: Any
    kind: str
    group: str
    sentences: int
    terms: int
    unused: int
    score: float
    answered: Share
    false_positive: Share
    false_negative: Share


class TextAudit:
    """What an audit by sentences found; prints as tables and sentences.

    Attributes
    ----------
    sentences : Sentences
        The sentences, their frames and groups.
    classes : list
        The classes whose probability is looked at.
    scores : array (sentences × classes)
        The probability of each.
    confidence, random_state
        As they were given.
    notes : tuple of str
        What was recognised, and what was done on the way.
    """

    def __init__(
        self,
        sentences: Sentences,
        model: TextModel,
        judged: Labels,
        *,
        truths: NDArray[np.int64] | None = None,
        confidence: float = 0.95,
        random_state: int = 0,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.sentences, self.classes = sentences, list(judged.tolist())
        self.confidence, self.random_state = confidence, random_state
        found = model.ask(sentences.texts)
        self._columns = find(model.classes, judged)
        self.scores: Floats = found.probabilities[:, self._columns]
        self._predicted, self._truths = found.predicted, truths
        self._log_odds = found.log_odds[:, self._columns]
        self._carried: Carried = carried(
            sentences, self._log_odds, lambda texts: model.log_odds(texts)[:, self._columns]
        )
        self.unused: set[str] = unused_terms(sentences, self._carried)
        self.lexicon: list[str] = _in_lexicon(model, sentences)
        self.labelled = truths is not None
        self._terms = coded(sentences.terms)
        self.notes = (*notes, *model.notes)

    @property
    def kinds(self) -> list[str]:
        """The kinds of groups that are compared."""
        return list(self.sentences.kinds)

    @cached_property
    def groups(self) -> list[GroupScores]:
        """What each group's sentences score."""
        found = []
        for at, class_ in enumerate(self.classes):
            for kind in self.kinds:
                codes, names = self._codes(kind)
                for g, name in enumerate(names):
                    rows = np.flatnonzero(codes == g)
                    terms = {self.sentences.terms[row] for row in rows.tolist()}
                    counts = (len(rows), len(terms), len(terms & self.unused))
                    answers = self._answers(rows, int(self._columns[at]))
                    score = float(self.scores[rows, at].mean())
                    found.append(GroupScores(class_, kind, name, *counts, score, *answers))
        return found

    def _codes(self, kind: str) -> tuple[NDArray[np.int64], list[str]]:
        names = self.sentences.groups(kind)
        places = {name: g for g, name in enumerate(names)}
        return np.array([-1 if g is None else places[g] for g in self.sentences.kinds[kind]], np.int64), names

    def _answers(self, rows: NDArray[np.intp], k: int) -> tuple[Share, Share, Share]:
        """The share answered with the class, and the false positives and negatives where labels are known."""
        hit = self._predicted[rows] == k
        answered = share(int(hit.sum()), len(rows), self.confidence)
        none = share(0, 0, self.confidence)
        if self._truths is None:
            return answered, none, none
        truths = self._truths[rows]
        false, true = (truths >= 0) & (truths != k), truths == k
        return (
            answered,
            share(int((hit & false).sum()), int(false.sum()), self.confidence),
            share(int((~hit & true).sum()), int(true.sum()), self.confidence),
        )

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Every comparison, the largest differences first; Holm's correction is over all of them."""
        rng = np.random.default_rng(self.random_state)
        tests = len(self.classes) * sum(len(contrasts(len(self.sentences.groups(kind)))) for kind in self.kinds)
        replicates = max(_REPLICATES, _FOR_EACH * tests)
        found = []
        for kind in self.kinds:
            codes, names = self._codes(kind)
            for group, against in contrasts(len(names)):
                weights = weights_of(self.sentences.frames, codes, group, against)
                if weights is None:
                    continue
                called = OTHERS if against is None else names[against]
                for at in range(len(self.classes)):
                    found.append(self._compared(at, kind, names[group], called, weights, replicates, rng))
        adjusted = holm([each.p_value for each in found]) if found else np.zeros(0)
        alpha = level(self.confidence)
        found = [replace(c, adjusted=float(p), significant=bool(p <= alpha)) for c, p in zip(found, adjusted)]
        return sorted(found, key=lambda c: -abs(c.difference))

    def _compared(
        self, at: int, kind: str, group: str, against: str, weights: Floats, replicates: int, rng: np.random.Generator
    ) -> Comparison:
        """One comparison: weights are positive for the group's sentences, negative for the others', by frame."""
        frames, scores = self.sentences.frames, self.scores[:, at]
        rows = np.flatnonzero(weights)
        present = np.unique(frames[rows])
        sums = np.bincount(frames[rows], weights[rows] * scores[rows], self.sentences.n_frames)
        d: Floats = np.asarray(sums[present], np.float64)
        d[np.abs(d) < 1e-15] = 0.0
        n = len(d)
        p, _ = flip_signs(d, replicates, rng)
        size = student("difference", d, 1 - self.confidence) if n > 1 else None
        ends = (None, None) if size is None else (size.low, size.high)
        return Comparison(
            *(self.classes[at], kind, group, against, n, float(d.mean()), *ends, p),
            self._by_terms(kind, rows, weights, scores),
            float((weights[rows] * self._log_odds[rows, at]).sum() / n),
            {self.sentences.terms[row] for row in rows[weights[rows] > 0].tolist()} <= self.unused,
            self._words(at, weights, present),
            self._worst(rows, weights, scores),
        )

    def _by_terms(self, kind: str, rows: NDArray[np.intp], weights: Floats, scores: Floats) -> float | None:
        """Welch's t test between the means of the terms of either side, each over its frames, less the frames' own."""
        if kind in self.sentences.identities:  # the groups are the terms
            return None
        frames = self.sentences.frames[rows]
        mean = np.bincount(frames, scores[rows]) / np.maximum(np.bincount(frames), 1)
        places = self._terms[rows] * 2 + (weights[rows] > 0)
        sums, counts = np.bincount(places, scores[rows] - mean[frames]), np.bincount(places)
        means, there = sums / np.maximum(counts, 1), counts > 0
        side = np.arange(len(sums)) % 2 == 1
        return welch(means[there & side], means[there & ~side])

    def _words(self, at: int, weights: Floats, present: NDArray[np.int64]) -> tuple[tuple[str, float], ...]:
        """What each word adds to the mean difference of the log-odds."""
        found = self._carried
        if not len(found.rows):
            return ()
        shares = np.bincount(found.words, weights[found.rows] * found.losses[:, at], len(found.names)) / len(present)
        first = np.argsort(-np.abs(shares), kind="stable")[:_WORDS]
        return tuple((found.names[w], float(shares[w])) for w in first.tolist() if abs(shares[w]) > 1e-12)

    def _worst(self, rows: NDArray[np.intp], weights: Floats, scores: Floats) -> tuple[Pair, ...]:
        """In each frame the two sentences of either side that differ most; of these the worst."""
        side = (weights[rows] > 0).astype(np.int64)
        order = np.lexsort((scores[rows], side, self.sentences.frames[rows]))
        ranked, key = rows[order], (self.sentences.frames[rows] * 2 + side)[order]
        starts = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        ends = np.append(starts[1:], len(key)) - 1
        lowest, highest = (np.full((self.sentences.n_frames, 2), -1) for _ in range(2))
        lowest.ravel()[key[starts]], highest.ravel()[key[starts]] = ranked[starts], ranked[ends]
        both = (lowest >= 0).all(axis=1)
        one = np.concatenate([highest[both, 1], lowest[both, 1]])
        other = np.concatenate([lowest[both, 0], highest[both, 0]])
        gaps = np.abs(scores[one] - scores[other])
        texts, terms = self.sentences.texts, self.sentences.terms
        found = [
            Pair(texts[i], float(scores[i]), texts[j], float(scores[j]), (terms[i], terms[j]))
            for i, j in ((int(one[at]), int(other[at])) for at in np.argsort(-gaps, kind="stable")[:_LOOKED])
            if scores[i] != scores[j]
        ]
        return tuple(different(found, _WORST))

    @cached_property
    def worst(self) -> list[Pair]:
        """The pairs of sentences that differ most, over all comparisons."""
        return different([pair for comparison in self.comparisons for pair in comparison.worst], 10)

    @cached_property
    def warnings(self) -> list[str]:
        """Terms that the model does not use, groups of one term, and other reasons for care."""
        return findings.text_warnings(self)

    @cached_property
    def plain(self) -> list[str]:
        """What was found, where it may come from and what was not shown, in plain words."""
        return findings.of_text(self)

    def to_dict(self) -> dict[str, Any]:
        """All that was found, as plain data that JSON can hold."""
        return findings.text_dict(self)

    def __str__(self) -> str:
        return findings.text_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return findings.text_html(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the largest differences with their intervals; the axes are returned."""
        from ingenuo.show import plots

        return plots.sentences(self, ax)


def audit_text(
    model: Any,
    templates: Any,
    groups: Any,
    class_: Any,
    labels: Any,
    column: str | None,
    confidence: float,
    random_state: int,
) -> TextAudit:
    """Audit a fitted text classifier by sentences; see `audit`."""
    reader = TextModel(model, column)
    sentences = sentences_of(templates, groups)
    asked, notes = judged(
        reader.classes, class_, lambda: reader.ask(sentences.texts).probabilities.mean(axis=0), "likeliest here"
    )
    truths, said = _truths(sentences, reader.classes, labels)
    first = f"{len(sentences):,} sentences in {sentences.n_frames:,} frames from {sentences.said}."
    given: dict[str, Any] = {"truths": truths, "confidence": confidence, "random_state": random_state}
    return TextAudit(sentences, reader, asked, notes=(first, *notes, *said), **given)


def _truths(sentences: Sentences, classes: Labels, labels: Any) -> tuple[NDArray[np.int64] | None, list[str]]:
    """What is true of each sentence, as a place among the classes; -1 where that is not known."""
    if sentences.truths is None:
        if labels is not None:
            raise InputError("labels were given, and the sentences have none; leave labels out")
        return None, []
    own = dict.fromkeys(label for label in sentences.truths if label is not None)
    if labels is not None:
        if not isinstance(labels, Mapping):
            raise KindError(f"labels must map the sentences' labels to classes, got {type(labels).__name__} {labels!r}")
        for label, class_ in labels.items():
            if label not in own:
                raise InputError(f"labels: no sentence has the label {label!r}{did_you_mean(label, own)}")
            if int(find(classes, objects([class_]))[0]) < 0:
                raise InputError(f"labels: {class_!r} is no class of the model{did_you_mean(class_, classes.tolist())}")
    mapped = {label: (labels or {label: label}).get(label) for label in own}
    places = {label: -1 if to is None else int(find(classes, objects([to]))[0]) for label, to in mapped.items()}
    if labels is None and all(place < 0 for place in places.values()):
        listed = ", ".join(repr(label) for label in list(own)[:3])
        return None, [
            f"The sentences' labels ({listed}) are no classes of the model, so errors were not counted; say which "
            f"class each is by labels={{{next(iter(own))!r}: {classes.tolist()[0]!r}, …}}."
        ]
    return np.array([places.get(label, -1) for label in sentences.truths], np.int64), []


def _in_lexicon(model: TextModel, sentences: Sentences) -> list[str]:
    """The terms that the model's lexicon has an entry for."""
    schema = getattr(model.model, "schema_", None)
    words = None if schema is None or model.column is None else schema.texts.get(model.column)
    lexicon = getattr(words, "lexicon", None)
    if lexicon is None:
        return []
    return sorted(
        {term for term in set(sentences.terms) if any(word in lexicon.classes for word in term.lower().split())}
    )
