"""An audit as tables: in a terminal, in a notebook, and as plain data."""

from __future__ import annotations

import html
from dataclasses import asdict
from typing import Any

from ingenuo.explanation import STYLE
from ingenuo.explanation.beliefs import aligned, html_table, shortened
from ingenuo.explanation.evaluation_tables import cell, span
from ingenuo.explanation.plain_data import plain

_COMPARISONS = 12  # shown of an audit by sentences
_WORST = 5
_WORDS = 4  # beside a comparison
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
    body = "".join(html_table(lines) for lines in tables if len(lines) > 1)
    points = "".join(f"<li>{html.escape(line)}</li>" for line in said)
    return f"<div style='overflow-x:auto'><style>{STYLE}</style>{top}{body}<ul>{points}</ul></div>"


def _said(audit: Any) -> list[str]:
    return [*(f"Take care: {line}" for line in audit.warnings), *audit.plain]


# Sentences.


def comparison_lines(audit: Any, most: int = _COMPARISONS) -> list[list[str]]:
    """The largest differences between groups, with heads."""
    several = len(audit.classes) > 1
    sure = f"{100 * audit.confidence:g}% interval"
    head = ["groups", *(["class"] if several else []), "difference", sure, "p (Holm)", "p over terms", "words"]
    lines = [head]
    for c in audit.comparisons[:most]:
        words = ", ".join(f"{word} {value:+.2f}" for word, value in c.words[:_WORDS])
        who = [f"{c.group}{'†' if c.unused else ''} – {c.against} ({c.kind})", *_class(c, several)]
        much = f"{c.difference:+.3f}{'*' if c.significant else ''}"
        lines.append([*who, much, _interval(c.low, c.high), _p(c.adjusted), _p(c.p_terms), words])
    return lines


def _class(found: Any, several: bool) -> list[str]:
    """The class that a line is of, where there are several."""
    return [shortened(found.class_)] if several else []


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
        cells = [shortened(g.group), g.kind, *_class(g, several), *counts, f"{g.score:.3f}", f"{g.answered.value:.3f}"]
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
    return "\n".join([*parts, "", *(f"– {line}" for line in _said(audit))])


def text_html(audit: Any) -> str:
    """An audit by sentences in a notebook."""
    tables = [comparison_lines(audit, 2 * _COMPARISONS), score_lines(audit, 2 * _GROUPS), worst_lines(audit)]
    return _page(_text_head(audit), tables, _said(audit))


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
        cells = [shortened(r.group), *_class(r, several), f"{r.rows:,}", _share(r.selection)]
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
            own = [shortened(r.group), *_class(r, several)]
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
        who = [shortened(d.group), *_class(d, several), _TITLES[d.measure]]
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
    return "\n".join([*parts, "", *(f"– {line}" for line in _said(audit))])


def groups_html(audit: Any) -> str:
    """An audit of rows in a notebook."""
    rates, off = rate_lines(audit, 2 * _GROUPS), calibration_lines(audit, 2 * _GROUPS)
    tables = [rates, difference_lines(audit, 2 * _DIFFERENCES), off]
    return _page(_group_head(audit), tables, _said(audit))


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
