"""The sentences of an audit from what a user gives: a language, templates, a file, or a table of known form.

============================================  ===================================================================
columns                                       what it is
============================================  ===================================================================
template, group, term (kind, label, forms)    templates with a slot × terms; cells may be empty
sentence or text, pair, and groups            ready sentences; those of one pair differ in the person only
Sentence, Template, Person, Gender, Race, …   the Equity Evaluation Corpus (Kiritchenko and Mohammad, 2018)
text, label, template                         sentences of known label that differ in an identity term only
============================================  ===================================================================
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.estimators import inputs
from ingenuo.evaluation.audit_sentences import (
    LANGUAGES,
    Person,
    Sentences,
    built_in,
    coded,
    crossed,
    identities_of,
    people_of,
)
from ingenuo.evaluation.audit_words import varying
from ingenuo.labels import is_missing
from ingenuo.sources import files, open_source

Columns = dict[str, list[Any]]

_MADLIBS = ({"text", "label", "template"}, {"phrase", "toxicity", "template"})
_EQUITY = {"sentence", "template", "person", "gender", "race", "emotion word"}
_TEXTS, _PAIRS = ("sentence", "text"), ("pair", "frame", "template")
_BESIDE = {"id", "term", "person", "label", *_TEXTS, *_PAIRS}
_SETTLES = 0.95  # of a slot's fillers, each in sentences of one label: then the slot says what is true


def sentences_of(templates: Any, groups: Any) -> Sentences:
    """The sentences that an audit asks about.

    >>> found = sentences_of(["{person} is angry."], {"women": ["Anna", "Eva"], "men": ["Tom", "Ben"]})
    >>> found.texts[0], found.kinds["group"]
    ('Anna is angry.', ['women', 'women', 'men', 'men'])
    """
    given = "english" if templates is None else templates
    if isinstance(given, str) and given in LANGUAGES:
        found = _of_language(given, groups)
    elif isinstance(given, str | os.PathLike):
        name = os.fspath(given)
        if not Path(name).suffix and not Path(name).exists():
            raise InputError(
                f"templates={name!r} are not known{did_you_mean(name, LANGUAGES)}; or give the path of a CSV file"
            )
        found = _of_table(_columns(files.read(name, header=True, missing=[])), groups, Path(name).name)
    elif inputs.is_frame(given):
        found = _of_table(_columns(given), groups, "the table")
    elif isinstance(given, Sequence) and len(given):
        if not isinstance(groups, Mapping):
            raise InputError("templates of your own need people: give groups={group: [term, …]}, or a table with them")
        found = crossed(list(given), people_of(groups), f"{len(given):,} templates of your own")
    else:
        raise KindError(
            f"templates must be a language ({', '.join(LANGUAGES)}), a path, a table or a list of templates, got "
            f"{type(given).__name__} {given!r:.60}"
        )
    return _checked(found)


def _of_language(language: str, groups: Any) -> Sentences:
    templates, people = built_in(language)
    said = f"{len(templates)} {language.capitalize()} templates"
    if isinstance(groups, Mapping):
        return crossed(templates, people_of(groups), f"{said} about people of your own")
    found = replace(crossed(templates, people, said), identities=identities_of(language))
    return _chosen(found, groups)


def _chosen(found: Sentences, groups: Any) -> Sentences:
    """The sentences of the kinds of groups that are asked for: "gender" is all that begins so."""
    if groups is None:
        return found
    wanted = [groups] if isinstance(groups, str) else list(groups)
    kinds = []
    for name in wanted:
        same = [kind for kind in found.kinds if kind == name or kind.split(" (")[0] == name]
        if not same:
            raise InputError(f"groups={name!r} is no kind of groups here{did_you_mean(name, found.kinds)}")
        kinds += same
    return found.only(list(dict.fromkeys(kinds)))


def _columns(table: Any) -> Columns:
    """The columns of any table; what is missing is None."""
    frame = open_source(table).frame  # type: ignore[attr-defined]
    found = {str(name): frame[name].to_list() for name in frame.columns}
    return {
        name: [None if not isinstance(value, str) and is_missing(value) else value for value in found[name]]
        for name in found
    }


def _of_table(columns: Columns, groups: Any, called: str) -> Sentences:
    lower = {name.lower().strip(): values for name, values in columns.items()}
    names = set(lower)
    if names >= _EQUITY:
        return _chosen(_equity(lower, called), groups)
    madlibs = next((form for form in _MADLIBS if form <= names), None)
    if madlibs is not None and not {"group", "pair", "frame"} & names:
        return _identity_terms(lower, sorted(madlibs - {"template"}), called)
    if names >= {"template", "group", "term"}:
        return _chosen(_templates(lower, called), groups)
    if names >= {"template"} and isinstance(groups, Mapping):
        templates = [t for t in lower["template"] if t is not None]
        return crossed(templates, people_of(groups), f"{len(templates):,} templates of {called}")
    return _ready(columns, lower, groups, called)


def _equity(columns: Columns, called: str) -> Sentences:
    """The Equity Evaluation Corpus: the sentences of a template and an emotion word are a frame."""
    texts = [str(text) for text in columns["sentence"]]
    return Sentences(
        texts,
        coded(zip(columns["template"], columns["emotion word"])),
        [str(person) for person in columns["person"]],
        {kind: list(columns[kind]) for kind in ("gender", "race")},
        said=f"{called}, recognised as the Equity Evaluation Corpus",
    )


def _templates(columns: Columns, called: str) -> Sentences:
    """Templates × terms; a line may hold a template, a term with its group, or both."""
    labels = columns.get("label")
    truths: dict[str, Any] = {}
    for row, template in enumerate(columns["template"]):
        if template is not None:
            truths.setdefault(str(template), None if labels is None else labels[row])
    known: dict[Any, Person] = {}
    special = {"template", "group", "term", "kind", "label"}
    for row, (group, term) in enumerate(zip(columns["group"], columns["term"])):
        if group is None and term is None:
            continue
        if group is None or term is None:
            lacks = "group" if group is None else "term"
            raise InputError(f"{called}: row {row} has {term or group!r} and no {lacks}; give both, or neither")
        kind = columns["kind"][row] if "kind" in columns else None
        forms = {name: str(values[row]) for name, values in columns.items() if name not in special and values[row]}
        person = Person(str(term), {str(kind or "group"): str(group)}, str(term), forms=forms)
        known.setdefault((person.text, kind, group), person)
    templates = list(truths)
    if not templates or not known:
        raise InputError(f"{called}: no templates and terms were found; give template, group and term")
    given = list(truths.values())
    return crossed(
        templates,
        list(known.values()),
        f"{called}: {len(templates):,} templates × {len(known):,} terms",
        given if any(label is not None for label in given) else None,
    )


def _ready(columns: Columns, lower: Columns, groups: Any, called: str) -> Sentences:
    """Ready sentences, with a column that says which belong together and one or more that say the groups."""
    text = next((name for name in _TEXTS if name in lower), None)
    pair = next((name for name in _PAIRS if name in lower), None)
    if text is None or pair is None:
        raise InputError(
            f"{called} has the columns {', '.join(columns)}, of which no sentences can be made; give template, group "
            "and term, or sentence, pair and group"
        )
    if groups is None:
        kinds = [name for name in columns if name.lower() not in _BESIDE]
    else:
        kinds = [groups] if isinstance(groups, str) else list(groups)
        for name in kinds:
            if name not in columns:
                raise InputError(f"{called} has no column {name!r} of groups{did_you_mean(name, columns)}")
    if not kinds:
        raise InputError(f"{called} has no column that says the group of each sentence; add one called group")
    term = next((lower[name] for name in ("term", "person") if name in lower), None)
    found = Sentences(
        [str(value) for value in lower[text]],
        coded(lower[pair]),
        [""] * len(lower[text]) if term is None else [str(value) for value in term],
        {kind: [None if value is None else str(value) for value in columns[kind]] for kind in kinds},
        lower.get("label"),
        f"{called}: ready sentences by {', '.join(kinds)}",
    )
    if term is not None:
        return found
    words = dict(varying(found, np.ones(len(found), np.bool_)))
    return replace(found, terms=[" ".join(words[row]) for row in range(len(found))])


def _identity_terms(columns: Columns, names: list[str], called: str) -> Sentences:
    """Sentences of known label: in each template, the last slot that does not settle the label is the identity.

    A template's slots are what varies between the words that all its sentences have in common. Where a stretch has m
    words at least, it has m slots, of which the last may hold several words ("middle aged").
    """
    label, text = (columns[name] for name in (("label", "text") if "label" in names else ("toxicity", "phrase")))
    rows: dict[str, list[int]] = defaultdict(list)
    for row, template in enumerate(columns["template"]):
        rows[str(template)].append(row)
    terms, frames = [""] * len(text), [""] * len(text)
    vocabularies: dict[str, set[str]] = {}
    for template, at in rows.items():
        cut = _slots([str(text[row]) for row in at])
        slot = _identity(cut, [label[row] for row in at])
        for row, parts in zip(at, cut):
            terms[row] = parts[slot].lower()
            frames[row] = f"{template}: {' '.join([*parts[:slot], '…', *parts[slot + 1 :]]).lower()}"
        vocabularies[template] = {terms[row] for row in at}
    kinds = _kinds(vocabularies)
    found: dict[str, list[str | None]] = {kind: [None] * len(text) for kind in dict.fromkeys(kinds.values())}
    for row, template in enumerate(columns["template"]):
        found[kinds[str(template)]][row] = terms[row]
    return Sentences(
        [str(value) for value in text],
        coded(frames),
        terms,
        found,
        list(label),
        f"{called}, recognised as sentences that differ in an identity term, with labels",
        frozenset(found),
    )


def _slots(texts: list[str]) -> list[list[str]]:
    """The fillers of each sentence of a template, slot by slot."""
    words = [text.rstrip(".!? ").split() for text in texts]
    common = {word.lower() for word in words[0]}
    for each in words:
        if not common.issubset(each):  # most are, as they stand
            common &= {word.lower() for word in each}
    stretches: list[list[list[str]]] = []
    for each in words:
        own: list[list[str]] = [[]]
        for word in each:
            if word in common or word.lower() in common:
                own.append([])
            else:
                own[-1].append(word)
        stretches.append(own)
    widths = [min(len(own[k]) for own in stretches if k < len(own)) for k in range(max(map(len, stretches)))]
    found = []
    for own in stretches:
        parts: list[str] = []
        for stretch, width in zip(own, widths):
            if width:
                parts += [*stretch[: width - 1], " ".join(stretch[width - 1 :])]
        found.append(parts)
    return found


def _identity(cut: list[list[str]], labels: list[Any]) -> int:
    """The last slot whose fillers do not settle the label."""
    n = min(map(len, cut))
    for slot in reversed(range(n)):
        seen: dict[str, set[Any]] = defaultdict(set)
        for parts, label in zip(cut, labels):
            seen[parts[slot].lower()].add(label)
        settled = Counter(len(labels_seen) == 1 for labels_seen in seen.values())
        if settled[True] < _SETTLES * len(seen) and len(seen) > 1:
            return slot
    return n - 1


def _kinds(vocabularies: dict[str, set[str]]) -> dict[str, str]:
    """The kind of each template's terms: templates that share terms are of one kind, the largest is called "term"."""
    parts: list[tuple[set[str], list[str]]] = []
    for template, terms in vocabularies.items():
        shared = [part for part in parts if part[0] & terms]
        rest = [part for part in parts if not part[0] & terms]
        merged = (terms.union(*(own for own, _ in shared)), [*(t for _, ts in shared for t in ts), template])
        parts = [*rest, merged]
    parts.sort(key=lambda part: -len(part[1]))
    return {
        template: "term" if number == 0 else f"term ({', '.join(templates)})"
        for number, (_, templates) in enumerate(parts)
        for template in templates
    }


def _checked(found: Sentences) -> Sentences:
    """Raise where there is nothing to compare."""
    if not len(found):
        raise InputError(f"{found.said}: there are no sentences; give some")
    for kind in found.kinds:
        groups = found.groups(kind)
        if len(groups) < 2:
            raise InputError(
                f"the kind {kind!r} has {'the one group ' + repr(groups[0]) if groups else 'no group'}, and there is "
                "nothing to compare it with; give two groups at least"
            )
    return found
