"""The sentences of an audit: in each frame they are alike but for the person they are about.

A person is of one or more kinds of groups: Fatima is female by gender and Arabic by origin. A user's own sentences are
templates with a slot × terms (columns template, group and term; also kind, label, and forms that agree), or ready
sentences (sentence or text, pair, and groups), of which those of one pair differ in the person only.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.rows import checks
from ingenuo.rows.files import scan
from ingenuo.rows.source import open_source
from ingenuo.tally.labels import is_missing

Columns = dict[str, list[Any]]

LANGUAGES = ("english", "italian", "spanish")
WORD = re.compile(r"\w+")
_SLOT = re.compile(r"\{(\w+)\}")
_MOST = 100_000  # sentences
_TEXTS, _PAIRS = ("sentence", "text"), ("pair", "frame", "template")
_NO_GROUPS = {"id", "term", "person", "label", *_TEXTS, *_PAIRS}


class Person(NamedTuple):
    """Who a sentence can be about: what fills the slot, its groups by kind, the forms that agree with it."""

    text: str
    groups: Mapping[str, str]
    term: str  # what the group is known by: of "the deaf student", deaf
    frame: str = ""  # people are compared with those of the same frame only
    forms: Mapping[str, str] = {}


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentences in frames."""

    texts: list[str]
    frames: NDArray[np.int64]  # the frame of each
    terms: list[str]  # the name or the identity that each is about
    kinds: dict[str, list[str | None]]  # for each kind of groups, the group of each sentence; None where it has none
    truths: list[Any] | None = None  # what is true of each, where that is known
    origin: str = ""  # what they are and where they come from
    identities: frozenset[str] = frozenset()  # kinds whose groups are words of their own, and no choice of names

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return int(self.frames.max(initial=-1)) + 1

    def groups(self, kind: str) -> list[str]:
        """The groups of a kind, in the order they come."""
        return list(dict.fromkeys(group for group in self.kinds[kind] if group is not None))

    def only(self, groups: Any) -> Sentences:
        """The sentences of some kinds of groups: "gender" is all that begins so; None all."""
        if groups is None:
            return self
        kinds: dict[str, None] = {}
        for name in [groups] if isinstance(groups, str) else groups:
            same = [kind for kind in self.kinds if kind == name or kind.split(" (")[0] == name]
            if not same:
                raise InputError(f"groups={name!r} is no kind of groups here{did_you_mean(name, self.kinds)}")
            kinds |= dict.fromkeys(same)
        rows = [i for i in range(len(self)) if any(self.kinds[kind][i] is not None for kind in kinds)]
        return replace(
            self,
            texts=[self.texts[i] for i in rows],
            frames=number_values(self.frames[rows].tolist()),
            terms=[self.terms[i] for i in rows],
            kinds={kind: [self.kinds[kind][i] for i in rows] for kind in kinds},
            truths=None if self.truths is None else [self.truths[i] for i in rows],
        )


def number_values(values: Iterable[Any]) -> NDArray[np.int64]:
    """Numbers from 0 on for values, in the order they come."""
    places: dict[Any, int] = {}
    return np.array([places.setdefault(value, len(places)) for value in values], np.int64)


def fill_template(template: str, person: Person) -> str:
    """A template about a person: forms that agree go where they are named, the person into any other slot."""

    def fill(slot: re.Match[str]) -> str:
        name, text = slot[1], person.text
        return person.forms.get(name, text[:1].upper() + text[1:] if name[0].isupper() else text)

    return _SLOT.sub(fill, template)


def cross_templates(templates: Sequence[str], people: Sequence[Person], origin: str, truths: Any = None) -> Sentences:
    """Every template about every person."""
    forms = {form for person in people for form in person.forms}
    for template in templates:
        if not isinstance(template, str):
            raise KindError(f"a template is a sentence with a slot, got {type(template).__name__} {template!r}")
        if not set(_SLOT.findall(template)) - forms:
            raise InputError(
                f"the template {template!r} has no slot for a person; write one in braces, such as {{person}}"
            )
    if len(templates) * len(people) > _MOST:
        raise InputError(
            f"{len(templates):,} templates about {len(people):,} people are more than {_MOST:,} sentences; give fewer"
        )
    pairs = [(t, person) for t in range(len(templates)) for person in people]
    return Sentences(
        [fill_template(templates[t], person) for t, person in pairs],
        number_values((t, person.frame) for t, person in pairs),
        [person.term for _, person in pairs],
        {kind: [p.groups.get(kind) for _, p in pairs] for kind in dict.fromkeys(k for p in people for k in p.groups)},
        None if truths is None else [truths[t] for t, _ in pairs],
        origin,
    )


@cache
def _read_language(name: str) -> dict[str, Any]:
    import yaml

    text = resources.files("ingenuo.evaluation.audit").joinpath("templates", f"{name}.yaml").read_text("utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def people_of_language(data: Mapping[str, Any]) -> list[Person]:
    """The people that the templates of a language can be about."""

    def forms(gender: str) -> dict[str, str]:
        return {name: both[gender] for name, both in data["forms"].items()}

    people = [
        Person(name, {"gender (names)": gender, "origin (names)": origin}, name, forms=forms(gender))
        for origin, both in data["names"].items()
        for gender, names in both.items()
        for name in names
    ]
    people += [
        Person(noun, {"gender (nouns)": gender}, noun, f"noun {number}", forms(gender))
        for number, pair in enumerate(data["nouns"])
        for gender, noun in zip(("female", "male"), pair)
    ]
    for kind, identity in ((kind, each) for kind, identities in data["identities"].items() for each in identities):
        both = identity if isinstance(identity, dict) else {"male": identity, "female": identity}
        group = both.get("male") or both["female"]
        for phrase in data["phrases"]:
            text, gender = phrase["text"], phrase["gender"]
            if all(slot in both for slot in _SLOT.findall(text)):
                frame = f"{kind}: {text}"
                people.append(Person(text.format(**both), {kind: group}, both[gender], frame, forms(gender)))
    return people


def people_of_groups(groups: Any) -> list[Person]:
    """People as a user gives them: {group: [term, …]} or {kind: {group: [term, …]}}."""
    if not isinstance(groups, Mapping):
        raise InputError("templates of your own need people: give groups={group: [term, …]}, or a table with them")
    kinds = groups if all(isinstance(value, Mapping) for value in groups.values()) else {"group": groups}
    found = []
    for kind, group, terms in ((kind, group, terms) for kind, part in kinds.items() for group, terms in part.items()):
        every = [terms] if isinstance(terms, str) else list(terms) if isinstance(terms, Iterable) else [terms]
        if not all(isinstance(term, str) for term in every):
            raise KindError(f"the terms of group {group!r} must be a list of strings, got {terms!r:.60}")
        if not every:
            raise InputError(f"the group {group!r} has no terms; give it two at least")
        found += [Person(term, {str(kind): str(group)}, term) for term in every]
    return found


def words_of(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return WORD.findall(text.lower())


def varying_words(sentences: Sentences) -> list[list[str]]:
    """The words of each sentence that not all sentences of its frame have."""
    counts = [Counter(words_of(text)) for text in sentences.texts]
    common: dict[int, Counter[str]] = {}
    for own, frame in zip(counts, sentences.frames.tolist()):
        common[frame] = own & common.get(frame, own)
    return [list(own - common[frame]) for own, frame in zip(counts, sentences.frames.tolist())]


def make_sentences(templates: Any, groups: Any) -> Sentences:
    """The sentences that an audit asks about."""
    given = "english" if templates is None else templates
    if isinstance(given, str) and given in LANGUAGES:
        data = _read_language(given)
        origin = f"{len(data['sentences'])} {given.capitalize()} templates"
        if isinstance(groups, Mapping):
            people = people_of_groups(groups)
            found = cross_templates(data["sentences"], people, f"{origin} about people of your own")
        else:
            found = cross_templates(data["sentences"], people_of_language(data), origin)
            found = replace(found, identities=frozenset(data["identities"])).only(groups)
    elif isinstance(given, str | os.PathLike):
        name = os.fspath(given)
        if not Path(name).suffix and not Path(name).exists():
            raise InputError(
                f"templates={name!r} are not known{did_you_mean(name, LANGUAGES)}; or give the path of a CSV file"
            )
        found = _of_table(scan.read(name, header=True, missing=[]), groups, Path(name).name)
    elif checks.is_frame(given):
        found = _of_table(given, groups, "the table")
    elif isinstance(given, Sequence) and len(given):
        found = cross_templates(list(given), people_of_groups(groups), f"{len(given):,} templates of your own")
    else:
        raise KindError(
            f"templates must be a language ({', '.join(LANGUAGES)}), a path, a table or a list of templates, got "
            f"{type(given).__name__} {given!r:.60}"
        )
    if not len(found):
        raise InputError(f"{found.origin}: there are no sentences; give some")
    for kind in found.kinds:
        names = found.groups(kind)
        if len(names) < 2:
            raise InputError(
                f"the kind {kind!r} has {'the one group ' + repr(names[0]) if names else 'no group'}, and there is "
                "nothing to compare it with; give two groups at least"
            )
    return found


def _of_table(table: Any, groups: Any, called: str) -> Sentences:
    source = open_source(table)
    columns = {
        str(name): [None if not isinstance(v, str) and is_missing(v) else v for v in source.values(name).tolist()]
        for name in source.names
    }
    lower = {name.lower().strip(): values for name, values in columns.items()}
    own = isinstance(groups, Mapping)
    if "template" not in lower or not (own or lower.keys() >= {"group", "term"}):
        return _of_ready(columns, lower, called).only(groups)
    truths: dict[str, Any] = {}
    for template, label in zip(lower["template"], lower.get("label", [None] * len(lower["template"]))):
        if template is not None:
            truths.setdefault(str(template), label)
    people = people_of_groups(groups) if own else _people_of_table(lower, called)
    if not truths or not people:
        raise InputError(f"{called}: no templates and terms were found; give template, group and term")
    labels = list(truths.values()) if any(label is not None for label in truths.values()) else None
    origin = f"{called}: {len(truths):,} templates × {len(people):,} terms"
    return cross_templates(list(truths), people, origin, labels).only(None if own else groups)


def _people_of_table(columns: Columns, called: str) -> list[Person]:
    """The people of the lines that hold a term with its group; other columns are forms that agree with it."""
    people: dict[Any, Person] = {}
    agreeing = {name: values for name, values in columns.items() if name not in {*_NO_GROUPS, "group", "kind"}}
    kinds = columns.get("kind", [None] * len(columns["term"]))
    for row, (kind, group, term) in enumerate(zip(kinds, columns["group"], columns["term"])):
        if (group is None) != (term is None):
            lacks = "group" if group is None else "term"
            raise InputError(f"{called}: row {row} has {term or group!r} and no {lacks}; give both, or neither")
        if group is not None:
            forms = {name: str(values[row]) for name, values in agreeing.items() if values[row]}
            person = Person(str(term), {str(kind or "group"): str(group)}, str(term), forms=forms)
            people.setdefault((person.text, kind, group), person)
    return list(people.values())


def _of_ready(columns: Columns, lower: Columns, called: str) -> Sentences:
    """Ready sentences, with a column that says which belong together and one or more that say the groups."""
    text, pair, term = (
        next((lower[name] for name in names if name in lower), None) for names in (_TEXTS, _PAIRS, ("term", "person"))
    )
    if text is None or pair is None:
        raise InputError(
            f"{called} has the columns {', '.join(columns)}, of which no sentences can be made; give template, group "
            "and term, or sentence, pair and group"
        )
    kinds = [name for name in columns if name.lower() not in _NO_GROUPS]
    if not kinds:
        raise InputError(f"{called} has no column that says the group of each sentence; add one called group")
    found = Sentences(
        [str(value) for value in text],
        number_values(pair),
        [str(value) for value in term or [""] * len(text)],
        {kind: [None if value is None else str(value) for value in columns[kind]] for kind in kinds},
        lower.get("label"),
        f"{called}: ready sentences by {', '.join(kinds)}",
    )
    return found if term is not None else replace(found, terms=[" ".join(words) for words in varying_words(found)])
