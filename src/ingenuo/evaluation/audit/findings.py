"""An audit in plain words: what was found, where it may come from, and what was not shown.

Nothing is claimed that the intervals do not carry. Where no difference is significant, it is said how large a one could
have been missed.
"""

from __future__ import annotations

import html
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ingenuo.evaluation.paired import level, p_text, percent
from ingenuo.show.format import cell, plain, shortened, span
from ingenuo.show.table import STYLE, PrintedTable, aligned

if TYPE_CHECKING:
    from ingenuo.evaluation.audit.groups import GroupAudit, GroupDifference
    from ingenuo.evaluation.audit.text import Comparison, TextAudit


OTHERS = "the others"
FEWEST_ROWS, FEWEST_OF_A_CLASS = 30, 10  # of a group: with fewer its intervals are too wide to say anything
FEWEST_FRAMES = 6  # 2 / 2^5 > 0.05: with fewer no sign test can be significant
_NAMED = 3
_LISTED = 6
_SMALL = 0.01  # of a probability: what is significant and smaller is said to be small


def listed(names: Any, most: int = _LISTED) -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    every = [str(name) for name in names]
    return ", ".join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")


def _missed(rest: list[Any], none: bool) -> list[str]:
    """How large a difference could be although it is not significant."""
    ends = [max(abs(d.low), abs(d.high)) for d in rest if d.low is not None and d.high is not None]
    first = "No difference is significant" if none else "Others are not significant"
    if ends:
        return [f"{first}; the intervals leave room for differences of up to {max(ends):.3f}."]
    return [f"{first}, and too little varies to say how large a one was missed."] if rest else []


# Sentences.


def text_warnings(audit: TextAudit) -> list[str]:
    """Reasons for care: terms that are not used, groups of one term, too few frames."""
    found = []
    terms = {term for term in audit.sentences.terms if term}
    if audit.unused:
        found.append(
            f"The model does not react to {len(audit.unused):,} of {len(terms):,} terms "
            f"({listed(sorted(audit.unused))}): it has never seen them, or leaves them out. That they make no "
            "difference means nothing."
        )
    few = sorted({f"{c.group} and {c.against}" for c in audit.comparisons if c.frames < FEWEST_FRAMES})
    if few:
        found.append(
            f"Too few frames ({FEWEST_FRAMES - 1} at most) for any difference to be significant: {listed(few)}."
        )
    known = audit.sentences.identities  # of which the groups are the terms
    single = {f"{g.group} ({g.kind})" for g in audit.groups if g.terms == 1 and g.kind not in known}
    if single:
        found.append(
            f"Known by one term only, so that what is seen may be of the word and not of the group: "
            f"{listed(sorted(single))}."
        )
    return found


def _said(c: Comparison) -> str:
    way = "higher" if c.difference > 0 else "lower"
    interval = "" if c.low is None or c.high is None else f", interval {c.low:+.3f} to {c.high:+.3f}"
    return (
        f"P({c.class_}) is {abs(c.difference):.3f} {way} for {c.group} than for {c.against} ({c.kind}{interval}, "
        f"{p_text(c.adjusted)})"
    )


def of_text(audit: TextAudit) -> list[str]:
    """What was found by sentences."""
    comparisons = audit.comparisons
    significant = [c for c in comparisons if c.significant]
    sure = percent(1 - audit.confidence)
    found = [
        f"Of {len(comparisons):,} {'comparison' if len(comparisons) == 1 else 'comparisons'} between groups "
        f"{len(significant):,} "
        f"{'is' if len(significant) == 1 else 'are'} significant at the {sure} level (Holm's correction)."
    ]
    if significant:
        # A group whose terms the model does not use differs only because others' terms are used.
        telling = [c for c in significant if not (c.unused and c.against == OTHERS)] or significant
        first = telling[:_NAMED]
        found.append("; ".join(_said(c) for c in first) + ".")
        found.append(
            "Significant means that the sentences differ in the same way, not that they differ by much"
            + (f": the largest difference is below {_SMALL:g}." if abs(significant[0].difference) < _SMALL else ".")
        )
        found += _terms_matter(first, level(audit.confidence))
        found += list(dict.fromkeys(line for c in significant for line in _known(audit, c)))[:_NAMED]
        found += _model(first)
    found += _missed([c for c in comparisons if not c.significant], not significant)
    if audit.lexicon:
        found.append(
            f"The lexicon: it has entries for {listed(audit.lexicon)}; an entry moves every text that has the word."
        )
    found += _sentence_errors(audit)
    found.append(
        "Not shown: how the model treats texts unlike these sentences, names and words that are not among them, and "
        "whether an answer harms anybody; that depends on what is done with it."
    )
    return found


def _terms_matter(comparisons: list[Comparison], alpha: float) -> list[str]:
    """Differences that may come from the choice of terms."""
    loose = [c for c in comparisons if c.p_terms is not None and c.p_terms > alpha]
    if not loose:
        return []
    pairs = listed(f"{c.group} and {c.against} ({p_text(c.p_terms or 0.0)})" for c in loose)
    return [
        f"The terms: scores differ within the groups about as much as between them, so with other terms the difference "
        f"may be another: {pairs}."
    ]


def _known(audit: TextAudit, c: Comparison) -> list[str]:
    """Terms of one group that the model uses more of than of the other's."""
    own = {g.group: (g.terms - g.unused, g.terms) for g in audit.groups if (g.class_, g.kind) == (c.class_, c.kind)}
    if c.against not in own:
        return []
    (a, n), (b, m) = own[c.group], own[c.against]
    if a * m == b * n:
        return []
    return [
        f"The data: of the terms for {c.group} the model uses {a} of {n}, of those for {c.against} {b} of {m}; a term "
        "that it does not use leaves the rest of the sentence to decide."
    ]


def _model(comparisons: list[Comparison]) -> list[str]:
    """The words that carry the largest differences."""
    first = comparisons[0]
    if not first.words:
        return []
    strongest = listed((f"{word!r} {value:+.3f}" for word, value in first.words[:_LISTED]), _LISTED)
    return [
        f"The model: {first.group} and {first.against} differ by {first.log_odds:+.3f} in the log-odds, of which "
        f"{strongest}. These weights were learned from the texts: in what company do the words stand there?"
    ]


def _sentence_errors(audit: TextAudit) -> list[str]:
    """The groups with the most and the fewest false positives."""
    found = []
    for class_ in audit.classes if audit.labelled else []:
        for kind in audit.kinds:
            own = [
                g for g in audit.groups if g.class_ == class_ and g.kind == kind and g.false_positive.value is not None
            ]
            if len(own) < 2:
                continue
            most = max(own, key=lambda g: g.false_positive.value or 0.0)
            least = min(own, key=lambda g: g.false_positive.value or 0.0)
            if most.false_positive.value != least.false_positive.value:
                found.append(
                    f"Taken for {class_} although they are not: {most.false_positive.value:.1%} of the sentences about "
                    f"{most.group} and {least.false_positive.value:.1%} of those about {least.group} ({kind})."
                )
    return found


# Rows.


def group_warnings(audit: GroupAudit) -> list[str]:
    """Groups that are too small, and what was not to be had."""
    found = []
    rows = audit.rows
    few = [f"{group} ({n:,})" for group, n in rows.items() if n < FEWEST_ROWS]
    if few:
        found.append(
            f"Fewer than {FEWEST_ROWS} rows, so that the intervals are too wide to say anything: {listed(few)}."
        )
    if not audit.truths:
        found.append("What is true of the rows was not given: decisions are compared, and no errors; give y.")
        return found
    rare: list[str] = []
    for rates in audit.rates:
        of_class = rates.base.count
        for n, what in ((of_class, f"{rates.class_}"), (rates.rows - of_class, f"not {rates.class_}")):
            if n < FEWEST_OF_A_CLASS and rates.rows >= FEWEST_ROWS:
                rare.append(f"{rates.group} ({n:,} {what})")
    if rare:
        found.append(
            f"Fewer than {FEWEST_OF_A_CLASS} rows of a class, so that its rates of errors say little: "
            f"{listed(dict.fromkeys(rare))}."
        )
    return found


_WORDS = {
    "selection": "are answered {class_}",
    "false_positive": "of those that are not {class_} are taken for it",
    "false_negative": "of those that are {class_} are not taken for it",
    "accuracy": "are correct",
}


def of_groups(audit: GroupAudit) -> list[str]:
    """What was found by rows."""
    significant = [d for d in audit.differences if d.significant]
    tests = len(audit.differences)
    found = [
        f"Of {tests:,} {'difference' if tests == 1 else 'differences'} from {audit.reference}, {len(significant):,} "
        f"{'is' if len(significant) == 1 else 'are'} significant at the {percent(1 - audit.confidence)} level (Holm's "
        "correction)."
    ]
    for measure, words in _WORDS.items():
        own = [d for d in significant if d.measure == measure]
        if own:
            found.append(_worst(audit, max(own, key=lambda d: abs(d.difference)), words))
    found += _missed([d for d in audit.differences if not d.significant], not significant)
    found += _labels(audit, significant)
    found += _few(audit)
    found += _calibration(audit)
    found += _columns(audit)
    found.append(_not_shown(audit))
    return found


def _worst(audit: GroupAudit, d: GroupDifference, words: str) -> str:
    one, other = (getattr(audit.rate(g, d.class_), d.measure) for g in (d.group, d.reference))
    said = words.format(class_=d.class_)
    return (
        f"{d.group}: {one.value:.1%} {said}; {d.reference}: {other.value:.1%} (difference {d.difference:+.3f}, "
        f"interval {d.low:+.3f} to {d.high:+.3f}, {p_text(d.adjusted)})."
    )


def _labels(audit: GroupAudit, significant: list[GroupDifference]) -> list[str]:
    own = [d for d in significant if d.measure == "base"]
    if not own:
        return []
    d = max(own, key=lambda d: abs(d.difference))
    one, other = (audit.rate(g, d.class_).base.value or 0.0 for g in (d.group, d.reference))
    return [
        f"The labels: {d.class_} is true of {one:.1%} of {d.group} and {other:.1%} of {d.reference}. A model that "
        "learns such labels gives them back; whether they are just is not for the numbers to say. Where labels differ, "
        "equal rates of answers and equal rates of errors cannot both be had."
    ]


def _few(audit: GroupAudit) -> list[str]:
    n = audit.n_rows
    small = [f"{group} ({rows / n:.1%})" for group, rows in audit.rows.items() if rows < 0.05 * n]
    if not small:
        return []
    return [f"The data: few rows are of {listed(small)}; what is learned is learned mostly from the others."]


def _calibration(audit: GroupAudit) -> list[str]:
    off = [r for r in audit.rates if r.gap.low is not None and r.gap.high is not None and r.gap.low * r.gap.high > 0]
    if not off:
        return []
    off.sort(key=lambda r: -abs(r.gap.value or 0.0))
    first = listed((f"{r.group} {r.gap.value:+.3f}" + _of(audit, r.class_) for r in off), _NAMED)
    return [f"Probabilities that are too high (+) or too low (−) on average: {first}."]


def _of(audit: GroupAudit, class_: Any) -> str:
    return f" of {class_}" if len(audit.classes) > 1 else ""


def _columns(audit: GroupAudit) -> list[str]:
    if audit.used is None:
        return []
    use = "uses" if audit.used else "does not use"
    return [f"The model {use} {audit.protected}{'' if audit.used else '; that alone does not make it blind to it'}."]


def _not_shown(audit: GroupAudit) -> str:
    first = "whether the labels are right" if audit.truths else "errors, for what is true was not given"
    return f"Not shown: {first}, groups that no column names, and what comes of a decision."


# An audit as tables: in a terminal, in a notebook, and as plain data.


_COMPARISONS = 12  # shown of an audit by sentences
_WORST = 5
_TABLE_WORDS = 4  # beside a comparison
_GROUPS = 20
_DIFFERENCES = 15


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "<0.0001" if value < 1e-4 else f"{value:.4f}"


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"


def _share(found: Any) -> str:
    return cell(found.value, found.low, found.high)


def _table(lines: list[list[str]]) -> list[str]:
    shown = aligned(lines)
    return ["", shown[0], "─" * max(map(len, shown)), *shown[1:]]


def _page(head: list[str], tables: list[list[list[str]]], said: list[str]) -> str:
    """HTML for a notebook."""
    top = "".join(f"<p>{html.escape(line)}</p>" for line in head)
    body = "".join(PrintedTable(lines[0], lines[1:]).html() for lines in tables if len(lines) > 1)
    points = "".join(f"<li>{html.escape(line)}</li>" for line in said)
    return f"<div style='overflow-x:auto'><style>{STYLE}</style>{top}{body}<ul>{points}</ul></div>"


def _table_sentence(audit: Any) -> list[str]:
    return [*(f"Take care: {line}" for line in audit.warnings), *audit.plain]


# Sentences.


def comparison_lines(audit: Any, most: int = _COMPARISONS) -> list[list[str]]:
    """The largest differences between groups, with heads."""
    several = len(audit.classes) > 1
    sure = f"{100 * audit.confidence:g}% interval"
    head = ["groups", *(["class"] if several else []), "difference", sure, "p (Holm)", "p over terms", "words"]
    lines = [head]
    for c in audit.comparisons[:most]:
        words = ", ".join(f"{word} {value:+.2f}" for word, value in c.words[:_TABLE_WORDS])
        who = [f"{c.group}{'†' if c.unused else ''} – {c.against} ({c.kind})", *_class(c, several)]
        much = f"{c.difference:+.3f}{'*' if c.significant else ''}"
        lines.append([*who, much, _interval(c.low, c.high), _p(c.adjusted), _p(c.p_terms), words])
    return lines


def _class(found: Any, several: bool) -> list[str]:
    """The class that a line is of, where there are several."""
    return [shortened(found.class_, 40)] if several else []


def score_lines(audit: Any, most: int = _GROUPS) -> list[list[str]]:
    """What each group's sentences score, with heads."""
    several, labelled = len(audit.classes) > 1, audit.labelled
    head = ["group", "kind", *(["class"] if several else []), "sentences", "terms", "unused", "mean P", "answered"]
    lines = [[*head, *(["false positives", "false negatives"] if labelled else [])]]
    found = audit.groups
    if len(found) > most:  # those that are farthest from the mean of their kind
        means = {key: sum(own) / len(own) for key, own in _by_kind(found).items()}
        found = sorted(found, key=lambda g: -abs(g.score - means[g.class_, g.kind]))[:most]
    for g in found:
        counts = [f"{count:,}" for count in (g.sentences, g.terms, g.unused)]
        cells = [
            shortened(g.group, 40),
            g.kind,
            *_class(g, several),
            *counts,
            f"{g.score:.3f}",
            f"{g.answered.value:.3f}",
        ]
        lines.append([*cells, *([_share(g.false_positive), _share(g.false_negative)] if labelled else [])])
    return lines


def _by_kind(groups: Any) -> dict[Any, list[float]]:
    found: dict[Any, list[float]] = {}
    for g in groups:
        found.setdefault((g.class_, g.kind), []).append(g.score)
    return found


def worst_lines(audit: Any, most: int = _WORST) -> list[list[str]]:
    """The pairs of sentences that differ most, with heads."""
    lines = [["P", "sentence", "P", "the same of another"]]
    for pair in audit.worst[:most]:
        lines.append([f"{pair.score:.3f}", pair.sentence, f"{pair.other_score:.3f}", pair.other])
    return lines


def _text_head(audit: Any) -> list[str]:
    asked = f"P({audit.classes[0]})" if len(audit.classes) == 1 else "the probabilities of each class"
    unused = "; † the model uses no term of the group" if any(c.unused for c in audit.comparisons) else ""
    return [*audit.notes, f"Compared is {asked}; * is significant by Holm's correction{unused}."]


def _more(shown: int, every: int, what: str) -> list[str]:
    return [f"({every - shown:,} more {what} are not shown; see to_dict().)"] if every > shown else []


def text_text(audit: Any) -> str:
    """An audit by sentences in a terminal."""
    parts = [*_text_head(audit), *_table(comparison_lines(audit))]
    parts += _more(_COMPARISONS, len(audit.comparisons), "comparisons")
    if audit.labelled or len(audit.groups) <= _GROUPS:
        parts += [*_table(score_lines(audit)), *_more(_GROUPS, len(audit.groups), "groups")]
    if audit.worst:
        parts += _table(worst_lines(audit))
    return "\n".join([*parts, "", *(f"– {line}" for line in _table_sentence(audit))])


def text_html(audit: Any) -> str:
    """An audit by sentences in a notebook."""
    tables = [comparison_lines(audit, 2 * _COMPARISONS), score_lines(audit, 2 * _GROUPS), worst_lines(audit)]
    return _page(_text_head(audit), tables, _table_sentence(audit))


def text_dict(audit: Any) -> dict[str, Any]:
    """An audit by sentences as plain data."""
    found = {
        "audit": "sentences",
        "sentences": len(audit.sentences),
        "frames": audit.sentences.n_frames,
        "classes": audit.classes,
        "confidence": audit.confidence,
        "comparisons": [asdict(c) | {"worst": [p._asdict() for p in c.worst]} for c in audit.comparisons],
        "groups": [asdict(g) for g in audit.groups],
        "worst": [pair._asdict() for pair in audit.worst],
        "unused_terms": sorted(audit.unused),
        "lexicon": audit.lexicon,
        "notes": audit.notes,
        "warnings": audit.warnings,
        "plain": audit.plain,
    }
    return dict(plain(found))


# Rows.


def rate_lines(audit: Any, most: int = _GROUPS) -> list[list[str]]:
    """The rates of each group with their intervals, with heads."""
    several = len(audit.classes) > 1
    head = [audit.protected, *(["class"] if several else []), "rows", "answered"]
    lines = [[*head, *(["true", "false positives", "false negatives", "accuracy"] if audit.truths else [])]]
    for r in sorted(audit.rates, key=lambda r: -r.rows)[:most]:
        cells = [shortened(r.group, 40), *_class(r, several), f"{r.rows:,}", _share(r.selection)]
        if audit.truths:
            cells += [_share(each) for each in (r.base, r.false_positive, r.false_negative, r.accuracy)]
        lines.append(cells)
    return lines


def calibration_lines(audit: Any, most: int = _GROUPS) -> list[list[str]]:
    """The mean probability of each group against what is true, with heads; heads alone where that is not known."""
    several = len(audit.classes) > 1
    lines = [[audit.protected, *(["class"] if several else []), "mean P", "true", "mean P - true", "ECE"]]
    for r in sorted(audit.rates, key=lambda r: -r.rows)[:most]:
        if r.gap.value is not None:
            gap = f"{r.gap.value:+.3f} {_interval(r.gap.low, r.gap.high)}"
            own = [shortened(r.group, 40), *_class(r, several)]
            lines.append([*own, f"{r.probability:.3f}", f"{r.base.value:.3f}", gap, _share(r.ece)])
    return lines


_TITLES = {
    "selection": "answered",
    "base": "true",
    "false_positive": "false positives",
    "false_negative": "false negatives",
    "accuracy": "accuracy",
}


def difference_lines(audit: Any, most: int = _DIFFERENCES) -> list[list[str]]:
    """How the groups differ from the reference group, the surest first, with heads."""
    several = len(audit.classes) > 1
    sure = f"{100 * audit.confidence:g}% interval"
    lines = [
        [f"against {audit.reference}", *(["class"] if several else []), "rate", "difference", sure, "ratio", sure]
        + ["p (Holm)", "test"]
    ]
    for d in sorted(audit.differences, key=lambda d: (d.adjusted, -abs(d.difference)))[:most]:
        much = f"{d.difference:+.3f}{'*' if d.significant else ''}"
        ratio = ["–", "–"] if d.ratio is None else [f"{d.ratio:.2f}", span(d.ratio_low, d.ratio_high)]
        who = [shortened(d.group, 40), *_class(d, several), _TITLES[d.measure]]
        lines.append([*who, much, _interval(d.low, d.high), *ratio, _p(d.adjusted), d.test])
    return lines


def _group_head(audit: Any) -> list[str]:
    asked = ", ".join(map(str, audit.classes))
    return [
        f"{audit.n_rows:,} rows in {len(audit.groups)} groups of {audit.protected}; asked about: {asked}. * is "
        "significant by Holm's correction.",
        *audit.notes,
    ]


def groups_text(audit: Any) -> str:
    """An audit of rows in a terminal."""
    parts = [*_group_head(audit), *_table(rate_lines(audit)), *_more(_GROUPS, len(audit.rates), "groups")]
    parts += [*_table(difference_lines(audit)), *_more(_DIFFERENCES, len(audit.differences), "differences")]
    off = calibration_lines(audit)
    parts += _table(off) if len(off) > 1 else []
    return "\n".join([*parts, "", *(f"– {line}" for line in _table_sentence(audit))])


def groups_html(audit: Any) -> str:
    """An audit of rows in a notebook."""
    rates, off = rate_lines(audit, 2 * _GROUPS), calibration_lines(audit, 2 * _GROUPS)
    tables = [rates, difference_lines(audit, 2 * _DIFFERENCES), off]
    return _page(_group_head(audit), tables, _table_sentence(audit))


def groups_dict(audit: Any) -> dict[str, Any]:
    """An audit of rows as plain data."""
    found = {
        "audit": "groups",
        "protected": audit.protected,
        "used": audit.used,
        "rows": audit.n_rows,
        "groups": audit.groups,
        "reference": audit.reference,
        "classes": audit.classes,
        "confidence": audit.confidence,
        "rates": [asdict(r) for r in audit.rates],
        "differences": [asdict(d) for d in audit.differences],
        "notes": audit.notes,
        "warnings": audit.warnings,
        "plain": audit.plain,
    }
    return dict(plain(found))
