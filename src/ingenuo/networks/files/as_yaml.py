"""Networks as YAML, in the shape of `ingenuo.networks.files.plain`; every scalar is text."""

from __future__ import annotations

import re
from typing import Any

from ingenuo.errors import NetworkFileError
from ingenuo.networks.definition import Definition
from ingenuo.networks.files.checks import text_of
from ingenuo.networks.files.plain import definition_of, document_of

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[ -][A-Za-z0-9_]+)*")
# What YAML 1.1 takes for something else than text, if a reader lets it.
_NO_TEXT = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_MAX_DEPTH = 100  # parents one below the other in a table, and then some
_MAX_KEY = 1000  # a name before a colon may have 1024 characters


def from_yaml(text: str, name: str) -> Definition:
    """The network that a text in YAML describes; `name` is what errors call the text.

    >>> from_yaml("nodes: {a: {states: [no, yes], table: [0.4, 0.6]}}", "n").states
    [['no', 'yes']]
    """
    import yaml

    def fault(mark: Any, what: str) -> NetworkFileError:
        return NetworkFileError(f"{name}, line {mark.line + 1}, column {mark.column + 1}: {what}")

    # Documents are put together from the parser's events: all scalars stay text, nothing is made that a file asks for,
    # and how deep lists stand in lists is bounded.
    root: list[Any] = []
    open_: list[tuple[Any, Any, str | None]] = []  # collections not yet at their end, with a waiting key and an anchor
    anchors: dict[str, Any] = {}

    def put(value: Any, mark: Any) -> None:
        if not open_:
            root.append(value)
            return
        into, key, anchor = open_[-1]
        if isinstance(into, list):
            into.append(value)
        elif key is not None:
            into[key] = value
            open_[-1] = into, None, anchor
        elif not isinstance(value, str):
            raise fault(mark, "found a list or mapping as a name, expected text")
        elif value in into:
            raise fault(mark, f"the name {value!r} stands twice in one mapping; name each thing once")
        else:
            open_[-1] = into, value, anchor

    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
            mark = event.start_mark
            if isinstance(event, yaml.ScalarEvent):
                put(event.value, mark)
                if event.anchor:
                    anchors[event.anchor] = event.value
            elif isinstance(event, yaml.CollectionStartEvent):
                if len(open_) == _MAX_DEPTH:
                    raise fault(mark, "lists stand in lists too many times to be a network")
                open_.append(({} if isinstance(event, yaml.MappingStartEvent) else [], None, event.anchor))
            elif isinstance(event, yaml.CollectionEndEvent):
                value, _, anchor = open_.pop()
                put(value, mark)
                if anchor:
                    anchors[anchor] = value
            elif isinstance(event, yaml.AliasEvent):
                if event.anchor not in anchors:
                    raise fault(mark, f"there is no anchor &{event.anchor} before this alias")
                put(anchors[event.anchor], mark)
            elif isinstance(event, yaml.DocumentStartEvent) and root:
                raise fault(mark, "found a second document, expected one network in a file")
    except yaml.MarkedYAMLError as error:
        what = f"this is no sound YAML ({error.problem or error.context}); mend it there"
        if error.problem_mark is not None and _at(text, error.problem_mark.line, error.problem_mark.column) == "\t":
            what = "found a tab, with which YAML does not indent; put spaces there"
        raise (fault(error.problem_mark, what) if error.problem_mark else NetworkFileError(f"{name}: {what}")) from None
    except (yaml.YAMLError, UnicodeError):
        raise NetworkFileError(_unreadable(text, name)) from None
    return definition_of(root[0] if root else None, name, len(text))


def _at(text: str, line: int, column: int) -> str:
    """The character at a place, both counted from 0; "" where there is none."""
    lines = text.splitlines()
    return lines[line][column : column + 1] if line < len(lines) else ""


def _unreadable(text: str, name: str) -> str:
    """What to say of a text with characters that YAML does not allow."""
    found = re.search("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]", text)
    if found is None:
        return f"{name}: this is no sound YAML; write it anew"
    line = text.count("\n", 0, found.start()) + 1
    column = found.start() - text.rfind("\n", 0, found.start())
    return (
        f"{name}, line {line}, column {column}: found the character {found[0]!r}, which YAML does not allow; remove it"
    )


def to_yaml(definition: Definition) -> str:
    """A network as YAML, every number in full; states become text.

    >>> import numpy as np
    >>> from ingenuo.networks.definition import Definition
    >>> print(to_yaml(Definition(["a"], [["no", "3 or more"]], [()], [np.array([0.4, 0.6])])))
    network: network
    nodes:
      a:
        states: ["no", "3 or more"]
        table: [0.4, 0.6]
    <BLANKLINE>
    """
    return _yaml(document_of(definition, [list(map(text_of, states)) for states in definition.states]), "")[1:] + "\n"


def _yaml(value: Any, pad: str) -> str:
    """What follows a colon."""
    if isinstance(value, dict):
        return "".join(f"\n{pad}{_yaml_key(key, pad)}{_yaml(below, pad + '  ')}" for key, below in value.items())
    if isinstance(value, list):
        return f" [{', '.join(_scalar(item) if isinstance(item, str) else repr(item) for item in value)}]"
    return f" {_scalar(value)}"


def _yaml_key(key: str, pad: str) -> str:
    plain = ", " in key and all(map(_PLAIN.fullmatch, key.split(", ")))
    scalar = key if plain else _scalar(key)
    return f"{scalar}:" if len(scalar) <= _MAX_KEY else f"? {scalar}\n{pad}:"  # YAML's way for long ones


def _scalar(text: str) -> str:
    """Plain where no reader could take it for anything else, quoted otherwise."""
    if _PLAIN.fullmatch(text) and text.lower() not in _NO_TEXT:
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in quoted) + '"'
