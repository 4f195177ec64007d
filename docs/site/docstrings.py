"""Docstrings as the site's generator reads them: what follows a section without a heading of its own is given one."""

from __future__ import annotations

import re
from typing import Any

import griffe

_HEADING = re.compile(r"^\w[\w ]*\n-{3,}$", re.MULTILINE)


def complete(text: str) -> str:
    r"""A docstring whose examples, and words after a section, have headings.

    >>> complete("Add one.\n\n>>> add(1)\n2").split("\n")[2:4]
    ['Examples', '--------']
    """
    parts: list[str] = []
    section = ""  # the heading that a paragraph stands under
    text = re.sub(r"^::\n\n(?=    )", "", text, flags=re.MULTILINE).replace("::\n\n    ", ":\n\n    ")
    for paragraph in re.split(r"\n{2,}", text.strip("\n")):
        if _HEADING.match("\n".join(paragraph.split("\n")[:2])):
            section = paragraph.partition("\n")[0]
        elif paragraph.startswith(">>>") and section != "Examples":
            section = "Examples"
            paragraph = f"Examples\n--------\n{paragraph}"
        elif section not in ("", "Notes", "Examples") and not paragraph.startswith(" "):
            section = "Notes"
            paragraph = f"Notes\n-----\n{paragraph}"
        parts.append(paragraph)
    return "\n\n".join(parts)


class Docstrings(griffe.Extension):
    """Completes the docstring of every object that is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """As soon as the object is there."""
        if obj.docstring:
            obj.docstring.value = complete(obj.docstring.value)
