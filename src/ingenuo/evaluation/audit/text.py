"""The audit of a text classifier: what it makes of sentences that differ only in the person they are about.

In each frame the scores of a group's sentences are averaged, and one group's mean less the other's is one difference.
The test is of these: were the groups treated alike, each would be as likely to have the other sign. Which words carry a
difference is found by taking them out: what the log-odds of a class lose without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, KindError, did_you_mean
from ingenuo.evaluation.audit import groups as shared
from ingenuo.evaluation.audit.groups import Audit, Share, share
from ingenuo.evaluation.audit.sentences import WORD, Sentences, make_sentences, number_values, varying_words, words_of
from ingenuo.evaluation.predictions import list_names
from ingenuo.evaluation.significance import flip_signs, level, p_text, student
from ingenuo.rows.schema import FAMILIES, column_name
from ingenuo.show.format import plain, shortened
from ingenuo.show.table import PrintedTable
from ingenuo.tally.labels import Labels, encode, find, objects

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

OTHERS = "the others"
_FARTHEST = 700.0  # log-odds: what is impossible or certain counts as this far
_PAIRS = 4  # groups of a kind: of more, each is compared with all others together and not with each
_NOTHING = 1e-9  # of the log-odds
_REPLICATES = 9_999
_FOR_EACH = 200  # replicates for each comparison: the smallest p that can be found is 0.005 by Holm's correction
_WORDS, _WORST = 10, 3  # words and pairs of sentences that are kept of a comparison
_SEARCHED = 500  # pairs that are searched for those
_FEWEST_FRAMES = 6  # 2 / 2^5 > 0.05: with fewer no sign test can be significant
_NAME = 40  # letters of a group in a table
_COMPARISONS, _GROUPS, _SENTENCES = 12, 20, 5  # lines of a table


class Answers(NamedTuple):
    """What a classifier answered to some texts."""

    probabilities: Floats  # texts × classes; 0 and 1 where it gives labels only
    log_odds: Floats  # texts × classes, each against the rest
    predicted: NDArray[np.intp]  # places among the classes


class TextModel:
    """A fitted classifier and the column that it reads sentences from; `notes` say what is done with the others."""

    def __init__(self, model: Any, column: str | None = None) -> None:
        name = type(model).__name__
        if not hasattr(model, "predict"):
            raise InputError(
                f"sentences are for a fitted text classifier, got {name}; to audit predictions give y and protected"
            )
        self.model, self.notes = model, list[str]()
        self.others, self.column = self._choose_column(column)
        if not hasattr(model, "classes_"):
            raise InputError(f"{name} has no classes; give a fitted classifier")
        self.classes = encode(np.asarray(model.classes_))[1]
        self._places = find(self.classes, objects(np.asarray(model.classes_).tolist()))
        if not hasattr(model, "predict_proba"):
            self.notes.append("The model gives labels and no probabilities: its score is 1 for its answer, else 0.")

    def _choose_column(self, column: str | None) -> tuple[list[Any], Any]:
        """The other columns, and the column that is read; None where the model reads a list of texts."""
        schema = getattr(self.model, "schema_", None)
        if schema is None or len(schema) == 0:
            if column is not None:
                raise InputError(f"column={column!r} cannot be chosen: {type(self.model).__name__} names no columns")
            return [], None
        names, families = schema.names.tolist(), list(FAMILIES)
        texts = [name for name, code in zip(names, schema.families) if FAMILIES[families[code]] == "text"]
        if not texts:
            raise InputError(
                f"the model reads no text: its columns are {list_names(names, column_name)}; to audit it by rows, give "
                "X and the column of their groups with protected=…"
            )
        if column is not None and column not in texts:
            raise InputError(f"the model has no text column {column!r}{did_you_mean(column, texts)}")
        chosen = texts[0] if column is None else column
        others = [name for name in names if name != chosen]
        if others:
            missing = list_names([column_name(name) for name in others])
            self.notes.append(f"The sentences stand in column {column_name(chosen)!r}; missing are {missing}.")
        return others, chosen

    def _table(self, texts: list[str]) -> Any:
        """The texts in their column, with nothing in the others."""
        if not self.others:
            return texts
        import pyarrow as pa

        schema = self.model.schema_
        columns = {name: pa.nulls(len(texts)) for name in schema.names.tolist()} | {self.column: pa.array(texts)}
        if schema.named:
            return pa.table({str(name): values for name, values in columns.items()})
        return np.column_stack([objects(values.to_pylist()) for values in columns.values()])

    def answer(self, texts: list[str]) -> Answers:
        """The model's answers to some texts."""
        table = self._table(texts)
        try:
            answered = np.asarray(self.model.predict(table))
            given, logs = (
                np.asarray(getattr(self.model, name)(table)) if hasattr(self.model, name) else None
                for name in ("predict_proba", "predict_log_proba")
            )
        except (IngenuoError, ValueError, TypeError, AttributeError) as error:
            first = str(error).splitlines()[0].rstrip(":") if str(error) else type(error).__name__
            raise InputError(
                f"{type(self.model).__name__} does not take a list of sentences ({first:.150}); give a text "
                "classifier, or audit it by rows with X and protected=…"
            ) from None
        predicted = find(self.classes, objects(answered.ravel().tolist()))
        probabilities = np.eye(len(self.classes))[predicted]
        if given is not None:
            probabilities[:, self._places] = given
        with np.errstate(divide="ignore"):
            log = np.log(probabilities)
        if logs is not None:
            log[:, self._places] = logs
        return Answers(probabilities, _log_odds(log), predicted)


def _log_odds(log: Floats) -> Floats:
    """log P(class) - log P(any other), from log probabilities."""
    found = np.empty_like(log)
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in range(log.shape[1]):
            found[:, k] = log[:, k] - np.logaddexp.reduce(np.delete(log, k, axis=1), axis=1, initial=-np.inf)
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
    unused: bool  # whether the model uses no term of the group, so that the difference is all the other side's
    words: tuple[tuple[str, float], ...]  # what each word that differs adds to the log-odds, the strongest first
    worst: tuple[Pair, ...]  # the sentences of one frame that differ most
    adjusted: float = 1.0  # the p-value by Holm's correction, for as many comparisons as the audit makes
    significant: bool = False

    @property
    def is_finding(self) -> bool:
        """Whether it can be seen and is the group's own: one that the model does not know differs by others' terms."""
        return shared.can_be_seen(self.difference) and not (self.unused and self.against == OTHERS)


@dataclass(frozen=True)
class GroupScores:
    """What a group's sentences score: the mean, the share answered with the class, and errors where they are known."""

    class_: Any
    kind: str
    group: str
    sentences: int
    terms: int
    unused: int  # terms that change nothing in any sentence: the model has not seen them, or leaves them out
    score: float
    answered: Share
    false_positive: Share
    false_negative: Share


def contrasts(groups: int) -> list[tuple[int, int | None]]:
    """Which groups are compared: each two of a few, each with all others of many."""
    if groups <= _PAIRS:
        return [(a, b) for a in range(groups) for b in range(a + 1, groups)]
    return [(a, None) for a in range(groups)]


def weights_of(frames: Integers, codes: Integers, group: int, against: int | None) -> Floats | None:
    """The weight of each sentence in its frame's difference; None where no frame has both sides.

    The group's sentences share a weight of 1, the other group's of -1; of several others each group has an equal part.
    """
    n_frames, n_groups = int(frames.max()) + 1, int(codes.max()) + 1
    there = codes >= 0
    cells = np.bincount(frames[there] * n_groups + codes[there], minlength=n_frames * n_groups).reshape(n_frames, -1)
    present = cells > 0
    every = np.arange(n_groups)
    own, others = every == group, every != group if against is None else every == against
    both = np.asarray(present[:, own].any(axis=1) & present[:, others].any(axis=1))
    if not both.any():
        return None
    many = np.maximum(present[:, others].sum(axis=1), 1)[:, np.newaxis]
    sides = np.where(present & both[:, np.newaxis], own - others / many, 0.0)
    weights = np.zeros(len(frames))
    weights[there] = (sides / np.maximum(cells, 1))[frames[there], codes[there]]
    return weights


def worst_pairs(pairs: list[Pair], most: int) -> list[Pair]:
    """The pairs that differ most; of two terms, or of one template, one pair is enough."""
    kept: list[Pair] = []
    seen: set[Any] = set()
    for pair in sorted(pairs, key=lambda pair: -abs(pair.difference)):
        text = pair.sentence.replace(pair.terms[0], "…") if pair.terms[0] else pair.sentence
        if len(kept) < most and not {frozenset(pair.terms), text} & seen:
            seen |= {frozenset(pair.terms), text} if any(pair.terms) else {text}
            kept.append(pair)
    return kept


class Losses(NamedTuple):
    """Words taken out: sentence and word of each entry, and what the log-odds of each class lose without it."""

    rows: Integers
    words: Integers
    names: list[str]
    losses: Floats  # entries × classes
    own: NDArray[np.bool_]  # whether the word is part of the sentence's term

    def unused_terms(self, terms: list[str]) -> set[str]:
        """The terms whose words change nothing in any sentence; those that vary nowhere are not among them."""
        moved = self.own & (np.abs(self.losses) > _NOTHING).any(axis=1)
        return {terms[row] for row in self.rows[self.own].tolist()} - {terms[row] for row in self.rows[moved].tolist()}


def take_out_words(sentences: Sentences, log_odds: Floats, ask: Callable[[list[str]], Floats]) -> Losses:
    """Take each word that differs out of its sentence, and ask what the log-odds (sentences × classes) lose."""
    names: dict[str, int] = {}
    entries, texts = [], []
    for row, words in enumerate(varying_words(sentences)):
        term = set(words_of(sentences.terms[row])) if sentences.terms[row] else set(words)
        for word in words:
            entries.append((row, names.setdefault(word, len(names)), word in term))
            texts.append(_without_word(sentences.texts[row], word))
    at, places, own = np.array(entries, np.int64).reshape(-1, 3).T
    losses = log_odds[at] - ask(texts) if texts else np.zeros((0, log_odds.shape[1]))
    return Losses(at, places, list(names), losses, own > 0)


def _without_word(text: str, word: str) -> str:
    left = WORD.sub(lambda found: "" if found[0].lower() == word else found[0], text)
    return " ".join(left.split())


class TextAudit(Audit):
    """What an audit by sentences found; prints as tables and sentences.

    It has the sentences, the classes whose probability is judged, and the `scores` (sentences × classes).
    """

    def __init__(
        self,
        sentences: Sentences,
        model: TextModel,
        classes: Labels,
        truths: Integers | None,
        confidence: float,
        random_state: int,
        notes: tuple[str, ...],
    ) -> None:
        self.sentences, self.classes = sentences, list(classes.tolist())
        self.confidence, self.random_state = confidence, random_state
        self.notes, self._truths, self.labelled = (*notes, *model.notes), truths, truths is not None
        self._columns = find(model.classes, classes)
        found = model.answer(sentences.texts)
        self.scores: Floats = found.probabilities[:, self._columns]
        self._predicted, self._log_odds = found.predicted, found.log_odds[:, self._columns]
        self._losses = take_out_words(
            sentences, self._log_odds, lambda texts: model.answer(texts).log_odds[:, self._columns]
        )
        self.unused: set[str] = self._losses.unused_terms(sentences.terms)
        self.lexicon: list[str] = _terms_in_lexicon(model, sentences)

    @property
    def kinds(self) -> list[str]:
        """The kinds of groups that are compared."""
        return list(self.sentences.kinds)

    def _codes(self, kind: str) -> tuple[Integers, list[str]]:
        names = self.sentences.groups(kind)
        places = {None: -1} | {name: g for g, name in enumerate(names)}
        return np.array([places[g] for g in self.sentences.kinds[kind]], np.int64), names

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
                    shares = self._shares(rows, int(self._columns[at]))
                    found.append(GroupScores(class_, kind, name, *counts, float(self.scores[rows, at].mean()), *shares))
        return found

    def _shares(self, rows: NDArray[np.intp], k: int) -> list[Share]:
        """The share answered with the class, and the false positives and negatives where labels are known."""
        hit, truths = self._predicted[rows] == k, np.full(len(rows), -1) if self._truths is None else self._truths[rows]
        false, true = (truths >= 0) & (truths != k), truths == k
        pairs = ((hit, np.ones_like(hit)), (hit & false, false), (~hit & true, true))
        return [share(int(part.sum()), int(whole.sum()), self.confidence) for part, whole in pairs]

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
                if weights is not None:
                    called = (kind, names[group], OTHERS if against is None else names[against])
                    found += [self._compare(at, called, weights, replicates, rng) for at in range(len(self.classes))]
        return sorted(shared.correct(found, self.confidence), key=lambda c: -abs(c.difference))

    def _compare(
        self, at: int, called: tuple[str, str, str], weights: Floats, replicates: int, rng: np.random.Generator
    ) -> Comparison:
        """One comparison: weights are positive for the group's sentences, negative for the others', by frame."""
        frames, scores, terms = self.sentences.frames, self.scores[:, at], self.sentences.terms
        rows = np.flatnonzero(weights)
        present = np.unique(frames[rows])
        sums = np.bincount(frames[rows], weights[rows] * scores[rows], self.sentences.n_frames)
        d: Floats = np.asarray(sums[present], np.float64)
        d[np.abs(d) < 1e-15] = 0.0
        size = student("difference", d, 1 - self.confidence) if len(d) > 1 else None
        return Comparison(
            self.classes[at],
            *called,
            frames=len(d),
            difference=float(d.mean()),
            low=None if size is None else size.low,
            high=None if size is None else size.high,
            p_value=flip_signs(d, replicates, rng)[0],
            p_terms=self._test_terms(called[0], rows, weights, scores),
            log_odds=float((weights[rows] * self._log_odds[rows, at]).sum() / len(d)),
            unused={terms[row] for row in rows[weights[rows] > 0].tolist()} <= self.unused,
            words=self._words(at, weights, len(present)),
            worst=self._worst(rows, weights, scores),
        )

    def _test_terms(self, kind: str, rows: NDArray[np.intp], weights: Floats, scores: Floats) -> float | None:
        """Welch's t test between the means of the terms of either side, each over its frames, less the frames' own."""
        from scipy.special import stdtr

        if kind in self.sentences.identities:  # the groups are the terms
            return None
        frames = self.sentences.frames[rows]
        mean = np.bincount(frames, scores[rows]) / np.maximum(np.bincount(frames), 1)
        places = number_values(self.sentences.terms)[rows] * 2 + (weights[rows] > 0)
        sums, counts = np.bincount(places, scores[rows] - mean[frames]), np.bincount(places)
        means, there = sums / np.maximum(counts, 1), counts > 0
        side = np.arange(len(sums)) % 2 == 1
        one, other = means[there & side], means[there & ~side]
        if min(len(one), len(other)) < 2 or one.var() + other.var() <= 1e-30:
            return None
        a, b = one.var(ddof=1) / len(one), other.var(ddof=1) / len(other)
        freedom = (a + b) ** 2 / (a * a / (len(one) - 1) + b * b / (len(other) - 1))
        return float(2 * stdtr(freedom, -abs(one.mean() - other.mean()) / np.sqrt(a + b)))

    def _words(self, at: int, weights: Floats, frames: int) -> tuple[tuple[str, float], ...]:
        """What each word adds to the mean difference of the log-odds."""
        found = self._losses
        shares = np.bincount(found.words, weights[found.rows] * found.losses[:, at], len(found.names)) / frames
        first = np.argsort(-np.abs(shares), kind="stable")[:_WORDS]
        return tuple((found.names[w], float(shares[w])) for w in first.tolist() if abs(shares[w]) > 1e-12)

    def _worst(self, rows: NDArray[np.intp], weights: Floats, scores: Floats) -> tuple[Pair, ...]:
        """In each frame the two sentences of either side that differ most; of these the worst."""
        ends = np.full((2, 2, self.sentences.n_frames), -1)  # lowest and highest × others and group × frames
        order = rows[np.argsort(scores[rows], kind="stable")]
        for end, ranked in enumerate((order[::-1], order)):  # the last that is written stays
            ends[end, (weights[ranked] > 0).astype(int), self.sentences.frames[ranked]] = ranked
        both = ends[:, :, (ends[0] >= 0).all(axis=0)]
        one, other = np.concatenate([both[1, 1], both[0, 1]]), np.concatenate([both[0, 0], both[1, 0]])
        texts, terms = self.sentences.texts, self.sentences.terms
        gaps = np.argsort(-np.abs(scores[one] - scores[other]), kind="stable")[:_SEARCHED]
        found = [
            Pair(texts[i], float(scores[i]), texts[j], float(scores[j]), (terms[i], terms[j]))
            for i, j in zip(one[gaps].tolist(), other[gaps].tolist())
            if scores[i] != scores[j]
        ]
        return tuple(worst_pairs(found, _WORST))

    @cached_property
    def worst(self) -> list[Pair]:
        """The pairs of sentences that differ most, over all comparisons."""
        return worst_pairs([pair for comparison in self.comparisons for pair in comparison.worst], 10)

    def _facts(self) -> dict[str, Any]:
        known, alpha = self.sentences.identities, level(self.confidence)
        significant = [c for c in self.comparisons if c.significant]
        first = significant[:3]
        used = {(g.class_, g.kind, g.group): (g.terms - g.unused, g.terms) for g in self.groups}
        none = (0, 0)
        uneven = {
            (c.group, *used[c.class_, c.kind, c.group], c.against, *used.get((c.class_, c.kind, c.against), none)): c
            for c in significant
        }
        kinds: dict[Any, list[GroupScores]] = {}
        for g in self.groups:
            kinds.setdefault((g.class_, g.kind), []).extend([g] if g.false_positive.value is not None else [])
        ends = [
            [end(own, key=lambda g: g.false_positive.value or 0.0) for end in (min, max)]
            for own in kinds.values()
            if own
        ]
        return {
            "terms": len({term for term in self.sentences.terms if term}),
            "few": sorted(f"{c.group} and {c.against}" for c in self.comparisons if c.frames < _FEWEST_FRAMES),
            "single": sorted(f"{g.group} ({g.kind})" for g in self.groups if g.terms == 1 and g.kind not in known),
            "first": first,
            "largest": abs(significant[0].difference) if significant else 0.0,
            "loose": [
                f"{c.group} and {c.against} ({p_text(c.p_terms)})"
                for c in first
                if c.p_terms is not None and c.p_terms > alpha
            ],
            "uneven": [each for each in uneven if each[5] and each[1] * each[5] != each[4] * each[2]][:3],
            "words": [f"{word!r} {value:+.3f}" for c in first[:1] for word, value in c.words[:6]],
            "errors": [pair for pair in ends if pair[0].false_positive.value != pair[1].false_positive.value],
        }

    def tables(self) -> dict[str, PrintedTable]:
        """The differences between groups, the scores of each, and the worst sentences, by their titles."""
        errors = ["false positives", "false negatives"] if self.labelled else []

        def comparison(c: Comparison) -> list[str]:
            who = f"{c.group}{'†' if c.unused else ''} – {c.against} ({c.kind})"
            tests = [shared.write_span(c.low, c.high), shared.write_p(c.adjusted), shared.write_p(c.p_terms)]
            words = ", ".join(f"{word} {value:+.2f}" for word, value in c.words[:4])
            return [who, shortened(c.class_, _NAME), shared.write_difference(c), *tests, words]

        def scores(g: GroupScores) -> list[str]:
            counts = [f"{count:,}" for count in (g.sentences, g.terms, g.unused)]
            means = [
                f"{g.score:.3f}",
                f"{g.answered.value:.3f}",
                *([str(g.false_positive), str(g.false_negative)] * self.labelled),
            ]
            return [shortened(g.group, _NAME), g.kind, shortened(g.class_, _NAME), *counts, *means]

        def pair(p: Pair) -> list[str]:
            return [f"{p.score:.3f}", p.sentence, f"{p.other_score:.3f}", p.other]

        sure = f"{100 * self.confidence:g}% interval"
        heads = ["groups", "class", "difference", sure, "p (Holm)", "p over terms", "words"]
        found = {
            "Differences between groups": self._table(self.comparisons, heads, comparison, _COMPARISONS, "comparisons")
        }
        if self.labelled or len(self.groups) <= _GROUPS:
            heads = ["group", "kind", "class", "sentences", "terms", "unused", "mean P", "answered", *errors]
            found["Scores of each group"] = self._table(self.groups, heads, scores, _GROUPS, "groups")
        if self.worst:
            heads = ["P", "sentence", "P", "the same of another"]
            found["The worst sentences"] = self._table(self.worst[:_SENTENCES], heads, pair, _SENTENCES)
        return found

    def _notes(self) -> list[str]:
        asked = f"P({self.classes[0]})" if len(self.classes) == 1 else "the probabilities of each class"
        unused = "; † the model uses no term of the group" if any(c.unused for c in self.comparisons) else ""
        return [*self.notes, f"Compared is {asked}; * is significant by Holm's correction{unused}."]

    def to_dict(self) -> dict[str, Any]:
        """All that was found, as plain data that JSON can hold."""
        names = ("classes", "confidence", "lexicon", "notes", "warnings", "plain")
        found = {"audit": "sentences", "sentences": len(self.sentences), "frames": self.sentences.n_frames}
        found |= {name: getattr(self, name) for name in names} | {"unused_terms": sorted(self.unused)}
        found["comparisons"] = [asdict(c) | {"worst": [p._asdict() for p in c.worst]} for c in self.comparisons]
        found["groups"], found["worst"] = [asdict(g) for g in self.groups], [pair._asdict() for pair in self.worst]
        return dict(plain(found))

    def plot(self, ax: Any = None) -> Any:
        """Draw the largest differences with their intervals; the axes are returned."""
        from ingenuo.show import plots

        return plots.sentences(self, ax)


def audit_text(
    model: Any, templates: Any, groups: Any, class_: Any, labels: Any, column: str | None, confidence: float, seed: int
) -> TextAudit:
    """Audit a fitted text classifier by sentences; see `audit`."""
    reader = TextModel(model, column)
    sentences = make_sentences(templates, groups)
    judged, notes = shared.choose_classes(
        reader.classes, class_, lambda: reader.answer(sentences.texts).probabilities.mean(axis=0), "likeliest here"
    )
    truths, more = _truths(sentences, reader.classes, labels)
    first = f"{len(sentences):,} sentences in {sentences.n_frames:,} frames from {sentences.origin}."
    return TextAudit(sentences, reader, judged, truths, confidence, seed, (first, *notes, *more))


def _truths(sentences: Sentences, classes: Labels, labels: Any) -> tuple[Integers | None, list[str]]:
    """What is true of each sentence, as a place among the classes; -1 where that is not known."""
    if sentences.truths is None:
        if labels is not None:
            raise InputError("labels were given, and the sentences have none; leave labels out")
        return None, []
    own = dict.fromkeys(label for label in sentences.truths if label is not None)
    if labels is not None and not isinstance(labels, Mapping):
        raise KindError(f"labels must map the sentences' labels to classes, got {type(labels).__name__} {labels!r}")
    mapped = {label: label for label in own} if labels is None else labels
    places = dict(zip(mapped, find(classes, objects(list(mapped.values()))).tolist()))
    for label, class_ in (labels or {}).items():
        if label not in own:
            raise InputError(f"labels: no sentence has the label {label!r}{did_you_mean(label, own)}")
        if places[label] < 0:
            raise InputError(f"labels: {class_!r} is no class of the model{did_you_mean(class_, classes.tolist())}")
    if all(place < 0 for place in places.values()):
        return None, [
            f"The sentences' labels ({', '.join(map(repr, list(own)[:3]))}) are no classes of the model, so errors "
            f"were not counted; say which class each is by labels={{{next(iter(own))!r}: {classes.tolist()[0]!r}, …}}."
        ]
    return np.array([places.get(label, -1) for label in sentences.truths], np.int64), []


def _terms_in_lexicon(model: TextModel, sentences: Sentences) -> list[str]:
    """The terms that the model's lexicon has an entry for."""
    schema = getattr(model.model, "schema_", None)
    words = None if schema is None or model.column is None else schema.texts.get(model.column)
    entries = getattr(getattr(words, "lexicon", None), "classes", ())
    return sorted(term for term in {*sentences.terms} if any(word in entries for word in term.lower().split()))
