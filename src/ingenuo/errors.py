"""The exceptions, in one tree.

::

    IngenuoError
    ├── InputError (ValueError)          data, labels, weights or parameters that cannot be used
    │   ├── ForgetError                  taking away what was never added
    │   ├── EmptyModelError              using a model that has forgotten all it knew (AttributeError too)
    │   ├── MergeError                   adding what is of another kind
    │   ├── RefusedError                 wanting of a model what its mathematics does not allow (AttributeError too)
    │   ├── StaleCalibrationError        using a model that is calibrated in another way than is asked for
    │   ├── ModelFileError               a model file that is damaged, of another kind or too new
    │   ├── FileError                    a file of data that cannot be read as a table
    │   │   └── MissingFileError         a file or folder that is not there (FileNotFoundError too)
    │   ├── EngineError                  a cluster that cannot be reached, or that cannot do the work
    │   └── NetworkError                 a network that cannot be
    │       ├── CycleError               arcs that lead back to where they began
    │       ├── ImpossibleEvidenceError  evidence of probability 0
    │       ├── NetworkFileError         a network file that is damaged; it names line and column
    │       └── TooWideError             tables that exact inference would need and no memory holds
    ├── JournalError                     what is learned while serving cannot be kept: a full disk, a damaged journal
    ├── KindError (TypeError)            a value of a type that has no meaning here
    └── KernelError (ImportError)        the compiled library is missing, older than its sources, or of another platform

Every message is one sentence that says what happened, where, the value and the remedy.
"""

from __future__ import annotations

import difflib
import errno
import os
import re
import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Self


class Spelled:
    """A message that names arguments as Python has them, and knows how the command calls the same."""

    typed: tuple[tuple[str, str], ...] = ()

    def typed_as(self, python: str, command: str) -> Self:
        """The same, of which the command shows a part in its own words."""
        self.typed = (*self.typed, (python, command))
        return self

    def declaring(self, column: object, *kinds: str) -> Self:
        """The same, which names the declaration of a column as each of these kinds."""
        for kind in kinds:
            self.typed_as(f"columns={{{column!r}: {kind!r}}}", f"--column {shlex.quote(f'{column}={kind}')}")
        return self

    def in_command(self) -> str:
        """The message as the command shows it."""
        text = str(self)
        for python, command in self.typed:
            text = text.replace(python, command)
        return text


class Remark(Spelled, UserWarning):
    """A warning that says how to do otherwise."""


class IngenuoError(Spelled, Exception):
    """The root of all that this package raises on purpose."""


class InputError(IngenuoError, ValueError):
    """Data, labels, weights or parameters that cannot be used."""


class ForgetError(InputError):
    """Taking away what was never added."""


class EmptyModelError(InputError, AttributeError):
    """Using a model that has forgotten all it knew; its estimates are no attributes, so that `dir` works on it."""


class MergeError(InputError):
    """Adding what is of another kind."""


class RefusedError(InputError, AttributeError):
    """Wanting of a model what its mathematics does not allow; to `hasattr` it is not there."""


class StaleCalibrationError(InputError):
    """Using a model whose `calibration` was changed since it was calibrated."""


class StaleCalibrationWarning(Remark):
    """A calibrated model has learned, forgotten or merged since it was calibrated."""


class ModelFileError(InputError):
    """A model file that is damaged, of another kind, or written by a newer version."""


class FileError(InputError):
    """A file of data that cannot be read as a table; the message names the file, the line and the remedy."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder of data that is not there."""


class EngineError(InputError):
    """A cluster that is not there, that lacks what the work needs, or that lost a worker too often."""


class NetworkError(InputError):
    """A network that cannot be: a table that does not sum to 1, a node or state that does not exist."""


class CycleError(NetworkError):
    """Arcs that lead back to where they began."""


class ImpossibleEvidenceError(NetworkError):
    """Evidence that has probability 0."""


class NetworkFileError(NetworkError):
    """A network file that is damaged; the message names line and column."""


class TooWideError(NetworkError):
    """Tables that exact inference would need, and that no memory holds."""


class JournalError(IngenuoError):
    """What a served model learns cannot be kept: the disk is full, or the journal is damaged or in use."""


class KindError(IngenuoError, TypeError):
    """A value of a type that has no meaning here."""


class KernelError(IngenuoError, ImportError):
    """The compiled library cannot be loaded: it is missing, older than its sources, or of another platform."""


# What a terminal obeys, or what hides text: control characters, those that turn the direction of letters (marks of
# direction apart, which some languages need), and what is no letter (a byte of a file name that is not UTF-8).
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)")


def visible(text: str, *, lines: bool = True) -> str:
    r"""Text as it may be printed: what a terminal would obey stands as an escape, and so do ends of lines if asked.

    >>> print(visible("a\x1b]0;title\x07"), visible("two\nlines", lines=False))
    a\u001b]0;title\u0007 two\nlines
    """
    text = _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)  # as JSON writes it
    return text if lines else text.translate({9: "\\t", 10: "\\n", 13: "\\r"})


def wants_colours(stream: Any) -> bool:
    """Whether a stream is a terminal that wants colours; NO_COLOR says it does not."""
    return bool(getattr(stream, "isatty", lambda: False)()) and not os.environ.get("NO_COLOR")


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """The end of an error message: the nearest known names, or all of them when few."""
    names = [str(name) for name in known]
    lower = {name.lower(): name for name in reversed(names)}
    text = str(word)[:200]  # a longer one is near to none
    near = difflib.get_close_matches(text, names, n=3, cutoff=0.6)
    near = near or [lower[name] for name in difflib.get_close_matches(text.lower(), lower, n=3, cutoff=0.6)]
    if near:
        return "; did you mean " + " or ".join(repr(name) for name in near) + "?"
    if 0 < len(names) <= 12:
        return "; known: " + ", ".join(names)
    return ""


def missing_file(path: str) -> MissingFileError:
    """The error for a file that is not there, with the nearest name in its folder."""
    folder = Path(path).parent
    if os.path.islink(path):
        try:
            where = f"a link to {os.readlink(path)!r}, which is not there"
            os.stat(path)
        except OSError as error:
            where = "a link that leads back to itself" if error.errno == errno.ELOOP else where
        return MissingFileError(f"{path} is {where}; give the file itself")
    if not folder.is_dir():
        return MissingFileError(f"{path}: there is no folder {str(folder)!r}; check the path")
    alike = sorted(folder.iterdir(), key=lambda entry: (entry.suffix == Path(path).suffix, entry.name))
    there = {entry.name.split(".")[0]: entry.name for entry in alike}  # of one stem, the one with the same ending
    near = difflib.get_close_matches(Path(path).name.split(".")[0], there, n=2, cutoff=0.6)  # whatever the endings
    hint = f"; did you mean {' or '.join(repr(there[name]) for name in near)}?" if near else "; check the path"
    return MissingFileError(f"{path}: there is no such file{hint}")


def check_choice(parameter: str, value: object, known: Collection[str]) -> str:
    """The value, which must be one of the known names; the error has the nearest, or all of them."""
    if not isinstance(value, str):
        raise KindError(f"{parameter} must be one of {', '.join(known)}, got {type(value).__name__} {value!r}")
    if value not in known:
        near = did_you_mean(value, known) or f"; known: {', '.join(known)}"
        raise InputError(f"{parameter}={value!r} is not known{near}")
    return value
