"""What ingenuo says in Italian and in Spanish: catalogues of its messages, and texts that wait to be translated.

A message is written in English where it arises, by `say`, and is that text to all code: `say("given") == "given"`. It
keeps its words apart from the values in it, so that whatever prints it can translate it then. What a user named, a
column or a value, is an ordinary string, and so is never translated, even where it is called "missing".

The catalogues are gettext's `.po` files beside this module, read as they are: there is nothing to compile. English is
the default, whatever the environment says.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from ingenuo.errors import check_choice

#: The languages, each by its own name.
LANGUAGES = {"en": "English", "it": "italiano", "es": "español"}

_language = ContextVar("ingenuo_language", default="en")
_NAMES = re.compile(r"\{(\w+)\}")
_ENTRY = re.compile(r'^(?:#:(?P<places>.*)|(?P<key>msgid|msgstr) (?P<text>".*")|(?P<more>".*"))$', re.MULTILINE)


class Message(str):
    """A text in English that knows its words and the values in it, and can be said in another language."""

    words: str
    values: dict[str, Any]

    def __new__(cls, words: str, values: dict[str, Any] | None = None) -> Message:
        """Fill in the values."""
        own = super().__new__(cls, _fill(words, values or {}))
        own.words, own.values = words, values or {}
        return own

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.words, self.values

    def into(self, language: str) -> str:
        """The text in a language; messages among its values are translated too."""
        values = {name: translated(value, language) for name, value in self.values.items()}
        return _fill(catalogue(language).get(self.words, self.words), values)


def say(words: str, /, **values: Any) -> Message:
    """A message with its values, each as it is to be printed; the words are the key of the catalogues.

    >>> shown = say("{n} factors", n=3)
    >>> shown, shown.into("it")
    ('3 factors', '3 fattori')
    """
    return Message(words, values)


def translated(value: Any, language: str) -> Any:
    """A message in a language; all else as it is."""
    return value.into(language) if isinstance(value, Message) and language != "en" else value


def spoken(value: Any) -> Any:
    """A message in the language that is spoken here, within `speaking`; all else as it is.

    >>> with speaking("es"):
    ...     spoken(say("left out")), spoken("left out")
    ('se omite', 'left out')
    """
    return translated(value, _language.get())


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Within, `spoken` translates into this language."""
    before = _language.set(check_language(language))
    try:
        yield
    finally:
        _language.reset(before)


def spoken_language() -> str:
    """The language that is spoken here."""
    return _language.get()


def check_language(language: str) -> str:
    """One of the languages, by its two letters."""
    return check_choice("language", language, LANGUAGES)


def catalogue(language: str, place: str | None = None) -> dict[str, str]:
    """The messages of a language by their English words; of one place alone, as "page", where that is named.

    >>> catalogue("it")["left out"], catalogue("en")
    ('si omette', {})
    """
    check_language(language)
    return {words: text for words, (text, places) in _read(language).items() if place is None or place in places}


@cache
def _read(language: str) -> dict[str, tuple[str, frozenset[str]]]:
    """The entries of a catalogue: the translation of each, and the places that use it."""
    path = Path(__file__).with_name(f"{language}.po")
    return read_catalogue(path.read_text(encoding="utf-8")) if language != "en" else {}


def read_catalogue(text: str) -> dict[str, tuple[str, frozenset[str]]]:
    """The entries of a `.po` file, without its head: the translation of each, and the places that its comments name."""
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for block in re.split(r"\n\s*\n", text):
        parts, places, key = {"msgid": "", "msgstr": ""}, set[str](), ""
        for line in _ENTRY.finditer(block):
            places |= set((line["places"] or "").split())
            key = line["key"] or key
            if written := line["text"] or line["more"]:
                parts[key] += literal_eval(written)
        if parts["msgid"] and parts["msgstr"]:
            found[parts["msgid"]] = parts["msgstr"], frozenset(places)
    return found


def _fill(words: str, values: dict[str, Any]) -> str:
    """The words with their values; a name in braces that has none stays as it is."""
    return _NAMES.sub(lambda found: str(values.get(found[1], found[0])), words) if values else words
