"""What both language models share: texts as users give them, the checks of parameters, and what is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Chunk
from ingenuo.errors import EmptyModelError, InputError, KindError, MergeError
from ingenuo.estimators.base import tally_chunk
from ingenuo.estimators.inputs import is_frame
from ingenuo.families import sequences
from ingenuo.families.ngrams import END, START, Smoothing
from ingenuo.families.sequences import NGRAMS, SEPARATOR, Given, Reading
from ingenuo.labels import Labels, is_missing
from ingenuo.schema import Schema
from ingenuo.sources.texts import ArrowText, ListText, is_arrow
from ingenuo.tally import Tally
from ingenuo.text import Words
from ingenuo.text.words import LONGEST

Floats = NDArray[np.float64]

WORDS = Words(token=r"\w+")
SCHEMA = Schema.of({})  # texts have no columns
# What a model of sequences takes from Words; all else there is about bags of words.
_SHARED = ("lowercase", "token", "stop_words", "stem", "negation", "errors")


def whole(name: str, value: Any, least: int) -> None:
    """Raise if the value is no whole number, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise KindError(f"{name} must be a whole number, got {type(value).__name__} {value!r}")
    if value < least:
        raise InputError(f"{name} is {value}; it must be at least {least}")


def _check(model: Any) -> None:
    """Raise a clear error if a parameter makes no sense."""
    whole("order", model.order, 1)
    if model.order > LONGEST:
        raise InputError(f"the order is {model.order}; n-grams of more than {LONGEST} words are of no use")
    whole("min_count", model.min_count, 1)
    Smoothing.of(model.smoothing, model.order, model.discount, model.base)
    if not isinstance(model.boundaries, bool | np.bool_):
        raise KindError(f"boundaries must be True or False, got {type(model.boundaries).__name__} {model.boundaries!r}")
    if not isinstance(model.text, Words):
        raise KindError(f"text must be a Words, got {type(model.text).__name__} {model.text!r}")
    given, default = model.text.parameters(), Words().parameters()
    for name, value in given.items():
        if (name not in _SHARED and value != default[name]) or (name == "stop_words" and model.text.most_frequent):
            raise InputError(
                f"{name}={value!r} is for bags of words, not for their sequence; a language model takes "
                f"{', '.join(_SHARED)} from Words"
            )


def texts_of(given: Any) -> Given:
    """Texts as strings, or as lists of words."""
    if isinstance(given, str):
        given = [given]
    if is_frame(given):
        given = _only_column(given)
    if hasattr(given, "to_arrow") and hasattr(given, "dtype"):  # a series of polars
        given = given.to_arrow()
    if isinstance(given, bytes | Mapping) or not hasattr(given, "__iter__") or getattr(given, "ndim", 1) != 1:
        raise KindError(f"texts must be a list of strings, or of lists of words, got {type(given).__name__} {given!r}")
    texts = given if is_arrow(given) else list(given)
    if not len(texts):
        raise InputError("there is no text to read (0 samples); give one at least")
    if not isinstance(texts, list):
        if texts.null_count:
            row = texts.is_null().to_pylist().index(True)
            raise InputError(f"text {row} is missing; leave it out, or give an empty string")
        return Given(ArrowText("texts", texts), False)
    separated = isinstance(texts[0], list | tuple)
    for row, text in enumerate(texts):
        if type(text) is str and not separated:
            continue
        if is_missing(text):
            raise InputError(f"text {row} is missing; leave it out, or give an empty string")
        if not isinstance(text, list | tuple if separated else str):
            what = "a list of words, as text 0 is" if separated else "a string"
            raise KindError(f"text {row} is {type(text).__name__} {text!r}; it must be {what}")
        if separated:
            _check_words(row, text)
    return Given(ListText("texts", [SEPARATOR.join(text) for text in texts] if separated else texts), separated)


def _only_column(table: Any) -> Any:
    """The texts of a table that has nothing else."""
    names = list(getattr(table, "column_names", None) or table.columns)
    if len(names) != 1:
        shown = ", ".join(repr(name) for name in names[:12]) + (", …" if len(names) > 12 else "")
        raise InputError(
            f"a language model reads one column of texts, and the table has {len(names)} ({shown}); take one of them"
        )
    return table[names[0]]


def _check_words(row: int, words: Sequence[Any]) -> None:
    for word in words:
        if not isinstance(word, str):
            raise KindError(f"text {row} has {type(word).__name__} {word!r}, which is no word; words are strings")
        if word in (START, END):
            raise InputError(f"text {row} has the word {word!r}, which marks where texts begin and end; drop it")
        if not word or SEPARATOR in word or "\x00" in word:
            what = "an empty word" if not word else f"the word {word!r}, with a control character (\\x1f or \\x00)"
            raise InputError(f"text {row} has {what}; drop it")


def seeded(name: str, seed: Any) -> np.random.Generator:
    """NumPy's generator for a seed."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise KindError(f"{name} must be a whole number or None, got {seed!r}") from None


class SequenceModel:
    """What both estimators share: what is counted, and how it is read."""

    def _check_settings(self: Any) -> None:
        _check(self)

    def _form(self: Any) -> Any:
        return self.order, self.text, self.boundaries

    def _settings(self: Any) -> Any:
        return self.smoothing, self.discount, self.base, self.min_count, *self._form()

    def _count(
        self: Any, given: Given, codes: NDArray[np.int32], classes: Labels, weights: Floats | None = None
    ) -> Tally:
        """The sums over some texts: of the classes' texts and of their n-grams."""
        total = tally_chunk(Chunk(given.text.n_rows, {}, codes, classes, weights))
        form = self.text, int(self.order), bool(self.boundaries)
        return total + sequences.count(given, *form, codes, classes, weights)

    def _check_against_data(self: Any) -> None:
        """Raise if a file's parameters are not those that its counts were made with."""
        bag = self.tally_.bag(NGRAMS)
        if bag is not None and bag.vocabulary.order != self.order:
            raise InputError(f"the order is {self.order}, and n-grams of {bag.vocabulary.order} words were counted")

    def _same_form(self: Any, other: Any) -> None:
        """Raise if the other counted something else."""
        for name in ("order", "text", "boundaries"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                raise MergeError(
                    f"{name} is {mine!r} in one model and {its!r} in the other; only models that count the same merge"
                )

    def _read(self: Any, classes: Labels) -> Reading:
        bag = self.tally_.bag(NGRAMS)
        if bag is None:
            raise EmptyModelError("the model has seen no word, so there is nothing to estimate; fit it on some texts")
        return Reading(bag, classes, self.get_params(deep=False))

    def _vocabulary(self: Any, reading: Reading) -> list[str]:
        return sorted(name for name, known in zip(reading.names, reading.parameters.known) if known)
