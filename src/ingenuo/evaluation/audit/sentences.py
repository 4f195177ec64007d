"""The sentences of an audit: alike but for the person they are about, in frames; and where they come from.

All sentences of one frame say the same of different people. A person is of one or more kinds of groups: Fatima is
female by gender and Arabic by origin. What is compared is always within frames. A user's own are templates with a slot
× terms (columns template, group and term; also kind, label, and forms that agree), or ready sentences (sentence or
text, pair, and groups), of which those of one pair differ in the person only.
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
NAMES, NOUNS = "gender (names)", "gender (nouns)"
WORD = re.compile(r"\w+")
_SLOT = re.compile(r"\{(\w+)\}")
_MOST = 100_000  # sentences
_TEXTS, _PAIRS = ("sentence", "text"), ("pair", "frame", "template")
_BESIDE = {"id", "term", "person", "label", *_TEXTS, *_PAIRS}


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
    said: str = ""  # what they are and where they come from
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

    def only(self, kinds: Sequence[str]) -> Sentences:
        """The sentences that are of some kinds."""
        rows = [i for i in range(len(self)) if any(self.kinds[kind][i] is not None for kind in kinds)]
        return replace(
            self,
            texts=[self.texts[i] for i in rows],
            frames=coded(self.frames[rows].tolist()),
            terms=[self.terms[i] for i in rows],
            kinds={kind: [self.kinds[kind][i] for i in rows] for kind in kinds},
            truths=None if self.truths is None else [self.truths[i] for i in rows],
        )


def coded(values: Iterable[Any]) -> NDArray[np.int64]:
    """Numbers from 0 on for values, in the order they come.

    >>> coded(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    places: dict[Any, int] = {}
    return np.array([places.setdefault(value, len(places)) for value in values], np.int64)


def filled(template: str, person: Person) -> str:
    """A template about a person: forms that agree go where they are named, the person into any other slot.

    >>> filled("{Person} è content{o}.", Person("mia zia", {}, "zia", forms={"o": "a"}))
    'Mia zia è contenta.'
    """

    def fill(slot: re.Match[str]) -> str:
        name = slot.group(1)
        if name in person.forms:
            return person.forms[name]
        return person.text[:1].upper() + person.text[1:] if name[0].isupper() else person.text

    return _SLOT.sub(fill, template)


def crossed(templates: Sequence[str], people: Sequence[Person], said: str, truths: Any = None) -> Sentences:
    """Every template about every person.

    >>> people = [Person("Anna", {"gender": "female"}, "Anna"), Person("Tom", {"gender": "male"}, "Tom")]
    >>> crossed(["{person} is glad.", "I saw {person}."], people, "two sentences").texts
    ['Anna is glad.', 'Tom is glad.', 'I saw Anna.', 'I saw Tom.']
    """
    forms = set().union(*(person.forms for person in people)) if people else set()
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
    kinds = list(dict.fromkeys(kind for person in people for kind in person.groups))
    pairs = [(t, person) for t in range(len(templates)) for person in people]
    return Sentences(
        [filled(templates[t], person) for t, person in pairs],
        coded((t, person.frame) for t, person in pairs),
        [person.term for _, person in pairs],
        {kind: [person.groups.get(kind) for _, person in pairs] for kind in kinds},
        None if truths is None else [truths[t] for t, _ in pairs],
        said,
    )


@cache
def _language(name: str) -> dict[str, Any]:
    import yaml

    text = resources.files("ingenuo.evaluation.audit").joinpath("templates", f"{name}.yaml").read_text("utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def built_in(language: str) -> tuple[list[str], list[Person]]:
    """The templates of a language and the people they can be about.

    >>> templates, people = built_in("italian")
    >>> len(templates) >= 20, sorted({kind for person in people for kind in person.groups})[:3]
    (True, ['age', 'disability', 'ethnicity'])
    """
    if language not in LANGUAGES:
        raise InputError(f"templates={language!r} are not known{did_you_mean(language, LANGUAGES)}")
    data = _language(language)

    def forms(gender: str) -> dict[str, str]:
        return {name: both[gender] for name, both in data["forms"].items()}

    people = [
        Person(name, {NAMES: gender, "origin (names)": origin}, name, forms=forms(gender))
        for origin, both in data["names"].items()
        for gender, names in both.items()
        for name in names
    ]
    for number, pair in enumerate(data["nouns"]):
        for gender, noun in zip(("female", "male"), pair):
            people.append(Person(noun, {NOUNS: gender}, noun, f"noun {number}", forms(gender)))
    for kind, identities in data["identities"].items():
        for identity in identities:
            both = identity if isinstance(identity, dict) else {"male": identity, "female": identity}
            group = both.get("male") or both["female"]
            for phrase in data["phrases"]:
                if all(gender in both for gender in _SLOT.findall(phrase["text"])):
                    text = phrase["text"].format(**both)
                    frame = f"{kind}: {phrase['text']}"
                    people.append(Person(text, {kind: group}, both[phrase["gender"]], frame, forms(phrase["gender"])))
    return list(data["sentences"]), people


def identities_of(language: str) -> frozenset[str]:
    """The kinds of groups of a language that are known by a word of their own."""
    return frozenset(_language(language)["identities"])


def people_of(groups: Mapping[Any, Any]) -> list[Person]:
    """People as a user gives them: {group: [term, …]} or {kind: {group: [term, …]}}."""
    nested = all(isinstance(value, Mapping) for value in groups.values())
    kinds = groups if nested else {"group": groups}
    found = []
    for kind, parts in kinds.items():
        for group, terms in parts.items():
            listed = [terms] if isinstance(terms, str) else terms
            if not isinstance(listed, Iterable) or not all(isinstance(term, str) for term in listed):
                raise KindError(f"the terms of group {group!r} must be a list of strings, got {terms!r:.60}")
            listed = list(listed)
            if not listed:
                raise InputError(f"the group {group!r} has no terms; give it two at least")
            found += [Person(term, {str(kind): str(group)}, term) for term in listed]
    return found


def words_of(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return [found.group() for found in WORD.finditer(text.lower())]


def varying(sentences: Sentences) -> list[tuple[int, list[str]]]:
    """The words of each sentence that not all sentences of its frame have."""
    counts = {row: Counter(words_of(text)) for row, text in enumerate(sentences.texts)}
    common: dict[int, Counter[str]] = {}
    for row, own in counts.items():
        frame = int(sentences.frames[row])
        common[frame] = own if frame not in common else common[frame] & own
    return [(row, list(own - common[int(sentences.frames[row])])) for row, own in counts.items()]


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
        found = _of_table(_columns(scan.read(name, header=True, missing=[])), groups, Path(name).name)
    elif checks.is_frame(given):
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
    if names >= {"template", "group", "term"}:
        return _chosen(_templates(lower, called), groups)
    if names >= {"template"} and isinstance(groups, Mapping):
        templates = [t for t in lower["template"] if t is not None]
        return crossed(templates, people_of(groups), f"{len(templates):,} templates of {called}")
    return _ready(columns, lower, groups, called)


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
    words = dict(varying(found))
    return replace(found, terms=[" ".join(words[row]) for row in range(len(found))])


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
