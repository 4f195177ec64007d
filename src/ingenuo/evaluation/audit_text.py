"""The audit of a text classifier: what it makes of sentences that differ only in the person they are about.

In each frame the scores of a group's sentences are averaged, and one group's mean less the other's is one difference.
The test is of these differences: were the groups treated alike, each would be as likely to have the other sign.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.evaluation import audit_classes, audit_plain
from ingenuo.evaluation.audit_asking import TextModel
from ingenuo.evaluation.audit_comparisons import OTHERS, Comparison, Pair, contrasts, different, weights_of, welch
from ingenuo.evaluation.audit_rates import Share, share
from ingenuo.evaluation.audit_sentences import Sentences, coded
from ingenuo.evaluation.audit_templates import sentences_of
from ingenuo.evaluation.audit_words import Carried, carried, unused_terms
from ingenuo.evaluation.resampling import flipped, student
from ingenuo.evaluation.significance import holm
from ingenuo.evaluation.verdict import level
from ingenuo.explanation import audit_tables
from ingenuo.labels import Labels, find, objects

Floats = NDArray[np.float64]

_REPLICATES = 9_999
_FOR_EACH = 200  # replicates for each comparison: the smallest p that can be found is 0.005 by Holm's correction
_WORDS = 10  # that are kept of a comparison
_WORST = 3  # pairs of sentences that are kept of a comparison
_LOOKED = 500  # pairs that are looked at for those


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
        self.sentences, self.classes, self.confidence, self.random_state = (
            sentences,
            list(judged.tolist()),
            confidence,
            random_state,
        )
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
        looked = int(self._carried.looked.sum())
        said = [] if looked == len(sentences) else [f"Words were looked at in {looked:,} of the sentences."]
        self.notes = (*notes, *model.notes, *said)

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
                    found.append(
                        GroupScores(
                            class_,
                            kind,
                            name,
                            len(rows),
                            len(terms),
                            len(terms & self.unused),
                            float(self.scores[rows, at].mean()),
                            *self._answers(rows, int(self._columns[at])),
                        )
                    )
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
        from scipy.special import stdtr

        frames, scores = self.sentences.frames, self.scores[:, at]
        rows = np.flatnonzero(weights)
        present = np.unique(frames[rows])
        sums = np.bincount(frames[rows], weights[rows] * scores[rows], self.sentences.n_frames)
        d: Floats = np.asarray(sums[present], np.float64)
        d[np.abs(d) < 1e-15] = 0.0
        n = len(d)
        p, _ = flipped(d, "score", replicates, rng)
        low = high = p_student = None
        if n > 1:
            size = student("difference", d, 1 - self.confidence)
            low, high = size.low, size.high
            spread = float(d.std(ddof=1))
            p_student = None if spread == 0 else float(2 * stdtr(n - 1, -abs(float(d.mean())) / spread * math.sqrt(n)))
        return Comparison(
            self.classes[at],
            kind,
            group,
            against,
            n,
            float(d.mean()),
            low,
            high,
            p,
            p_student,
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
        """What each word adds to the mean difference of the log-odds over the frames that were looked at."""
        found = self._carried
        seen = np.zeros(self.sentences.n_frames, np.bool_)
        seen[self.sentences.frames[found.looked]] = True
        n = int(seen[present].sum())
        if n == 0 or not len(found.rows):
            return ()
        shares = np.bincount(found.words, weights[found.rows] * found.losses[:, at], len(found.names)) / n
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
        return audit_plain.text_warnings(self)

    @cached_property
    def plain(self) -> list[str]:
        """What was found, where it may come from and what was not shown, in plain words."""
        return audit_plain.of_text(self)

    def to_dict(self) -> dict[str, Any]:
        """All that was found, as plain data that JSON can hold."""
        return audit_tables.text_dict(self)

    def __str__(self) -> str:
        return audit_tables.text_text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return audit_tables.text_html(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the largest differences with their intervals; the axes are returned."""
        from ingenuo.explanation import audit_pictures

        return audit_pictures.sentences(self, ax)


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
    judged, notes = audit_classes.judged(
        reader.classes, class_, lambda: reader.ask(sentences.texts).probabilities.mean(axis=0), "likeliest here"
    )
    truths, said = _truths(sentences, reader.classes, labels)
    first = f"{len(sentences):,} sentences in {sentences.n_frames:,} frames from {sentences.said}."
    return TextAudit(
        sentences,
        reader,
        judged,
        truths=truths,
        confidence=confidence,
        random_state=random_state,
        notes=(first, *notes, *said),
    )


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
