"""The sentences of an audit: alike but for the person they are about, in frames; and where they come from templates.

All sentences of one frame say the same of different people. A person is of one or more kinds of groups: Fatima is
female by gender and Arabic by origin. What is compared is always within frames.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean

LANGUAGES = ("english", "italian", "spanish")
NAMES, NOUNS = "gender (names)", "gender (nouns)"
_SLOT = re.compile(r"\{(\w+)\}")
_MOST = 1_000_000  # sentences


class Person(NamedTuple):
    """Who a sentence can be about: what fills the slot, its groups by kind, the forms that agree with it."""

    text: str
    groups: Mapping[str, str]
    term: str  # what the group is known by: of "the deaf student", deaf
    frame: str = ""  # people are compared with those of the same frame only
    forms: Mapping[str, str] = {}


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentences in frames.

    Attributes
    ----------
    texts : list of str
        The sentences.
    frames : array of int
        The frame of each.
    terms : list of str
        The name or the identity that each is about.
    kinds : mapping of str to list
        For each kind of groups, the group of each sentence; None where it is of none.
    truths : list, optional
        What is true of each, where that is known.
    said : str
        What they are and where they come from.
    identities : frozenset of str
        The kinds whose groups are known by a word of their own, and not by a choice of terms such as names.
    """

    texts: list[str]
    frames: NDArray[np.int64]
    terms: list[str]
    kinds: dict[str, list[str | None]]
    truths: list[Any] | None = None
    said: str = ""
    identities: frozenset[str] = frozenset()

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

    text = resources.files("ingenuo.evaluation").joinpath("templates", f"{name}.yaml").read_text("utf-8")
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
