"""XMLBIF 0.3, the Interchange Format in XML that Weka, JavaBayes and AIMA's tools write.

A TABLE lists its numbers with the node itself (FOR) changing fastest, then the last parent (GIVEN). An outcome may be
called VALUE, tags may be in small letters, and a DOCTYPE may be there, of which nothing is ever fetched or expanded: a
file that declares entities is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from ingenuo.errors import NetworkError, NetworkFileError
from ingenuo.networks.build import Builder, Definition, text_of

# What may stand in what; the text of the leaves is kept, and all that a PROPERTY holds is passed over.
_INSIDE: dict[str, tuple[str, ...]] = {
    "": ("BIF",),
    "BIF": ("NETWORK",),
    "NETWORK": ("NAME", "PROPERTY", "VARIABLE", "DEFINITION"),
    "VARIABLE": ("NAME", "TYPE", "OUTCOME", "VALUE", "PROPERTY"),
    "DEFINITION": ("FOR", "GIVEN", "TABLE", "PROPERTY"),
}
_LEAVES = frozenset(("NAME", "TYPE", "OUTCOME", "VALUE", "FOR", "GIVEN", "TABLE"))
_NUMBERS = re.compile(r"[0-9eE+\-.,\s]*")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Mark = tuple[int, int]  # line and column


@dataclass
class _Element:
    tag: str
    at: Mark
    exact: bool  # spaces at the ends belong to the text
    pieces: list[str] = field(default_factory=list)
    children: list[_Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        text = "".join(self.pieces)
        return text if self.exact else text.strip()

    def all(self, *tags: str) -> list[_Element]:
        return [child for child in self.children if child.tag in tags]


def from_xmlbif(content: str | bytes, name: str) -> Definition:
    """The network that a text in XMLBIF describes; bytes are decoded as they say themselves.

    >>> variable = "<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>"
    >>> definition = "<DEFINITION><FOR>a</FOR><TABLE>.4 .6</TABLE></DEFINITION>"
    >>> network = from_xmlbif(f"<BIF><NETWORK><NAME>n</NAME>{variable}{definition}</NETWORK></BIF>", "n")
    >>> network.nodes, network.states, network.tables[0].tolist()
    (['a'], [['x', 'y']], [0.4, 0.6])
    """
    builder = Builder(lambda mark: f"{name}, line {mark[0]}, column {mark[1]}")
    networks = _tree(content, builder).all("BIF")[0].all("NETWORK")
    if len(networks) != 1:
        raise NetworkFileError(f"{name}: there are {len(networks)} networks in the file, and one is read; part them")
    (network,) = networks
    for title in network.all("NAME")[:1]:
        builder.name = title.text
    for variable in network.all("VARIABLE"):
        states = [outcome.text for outcome in variable.all("OUTCOME", "VALUE")]
        builder.add_node(_only(builder, variable, "NAME").text, states, variable.at)
    for definition in network.all("DEFINITION"):
        node = _only(builder, definition, "FOR").text
        family = builder.family(node, [given.text for given in definition.all("GIVEN")], definition.at)
        table = _only(builder, definition, "TABLE")
        builder.add_table(family._replace(mark=table.at), np.array(_floats(builder, table)))
    return builder.definition(name)


def _only(builder: Builder, element: _Element, tag: str) -> _Element:
    found = element.all(tag)
    if len(found) != 1:
        at = found[1].at if found else element.at
        raise builder.fault(at, f"found {len(found)} {tag} in {element.tag}, expected one")
    return found[0]


def _floats(builder: Builder, table: _Element) -> list[float]:
    words = table.text.replace(",", " ").split()
    for word in [] if _NUMBERS.fullmatch(table.text) else words:
        if not _NUMBERS.fullmatch(word):
            raise builder.fault(table.at, f"found {word[:40]!r} in the table, expected a number")
    try:
        return [float(word) for word in words]
    except ValueError as error:
        word = str(error).partition(": ")[2]
        raise builder.fault(table.at, f"found {word} in the table, expected a number") from None


def _tree(content: str | bytes, builder: Builder) -> _Element:
    """The elements of a document, checked as they come."""
    text = isinstance(content, str)
    parser = expat.ParserCreate("utf-8" if text else None)
    root = _Element("", (1, 1), False)
    stack = [root]
    passed_over = 0  # how deep in a property

    def here() -> Mark:
        return parser.CurrentLineNumber, parser.CurrentColumnNumber + 1

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal passed_over
        tag = tag.upper()
        if passed_over or tag == "PROPERTY":
            passed_over += 1
            return
        allowed = _INSIDE.get(stack[-1].tag, ())
        if tag not in allowed:
            where = f" in {stack[-1].tag}" if stack[-1].tag else ""
            raise builder.fault(here(), f"found <{tag}>{where}, expected {' or '.join(allowed) or 'only text'}")
        kind = attributes.get("TYPE", "nature")
        if tag == "VARIABLE" and kind != "nature":
            raise builder.fault(here(), f"found a variable of type {kind!r}, expected 'nature': others are no chances")
        stack[-1].children.append(_Element(tag, here(), attributes.get("xml:space") == "preserve"))
        stack.append(stack[-1].children[-1])

    def end(tag: str) -> None:
        nonlocal passed_over
        if passed_over:
            passed_over -= 1
        else:
            stack.pop()

    def characters(found: str) -> None:
        if passed_over:
            return
        if stack[-1].tag in _LEAVES:
            stack[-1].pieces.append(found)
        elif not found.isspace():
            raise builder.fault(here(), f"found the text {found.strip()[:25]!r} in {stack[-1].tag}, expected a tag")

    def refuse_entity(name: str, *_: Any) -> None:
        raise builder.fault(here(), f"the file declares or uses the entity {name!r}; write out what it stands for")

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = refuse_entity
    parser.SkippedEntityHandler = refuse_entity
    try:
        parser.Parse(content.encode() if isinstance(content, str) else content, True)
    except expat.ExpatError as error:
        at = (error.lineno, error.offset + 1)
        raise builder.fault(at, f"this is no sound XML ({expat.ErrorString(error.code)}); mend it there") from None
    except (LookupError, ValueError) as error:
        if isinstance(error, NetworkError):
            raise
        raise builder.fault(here(), f"the text cannot be decoded ({error}); save the file as UTF-8") from None
    return root


def to_xmlbif(definition: Definition) -> str:
    """A network as XMLBIF 0.3, every number in full.

    >>> print(to_xmlbif(Definition(["a"], [["x", "y"]], [()], [np.array([0.4, 0.6])])).strip())
    <?xml version="1.0" encoding="UTF-8"?>
    <BIF VERSION="0.3">
    <NETWORK>
    <NAME>network</NAME>
    <VARIABLE TYPE="nature">
      <NAME>a</NAME>
      <OUTCOME>x</OUTCOME>
      <OUTCOME>y</OUTCOME>
    </VARIABLE>
    <DEFINITION>
      <FOR>a</FOR>
      <TABLE>
        0.4 0.6
      </TABLE>
    </DEFINITION>
    </NETWORK>
    </BIF>
    """
    # No DOCTYPE: readers need none, and pyAgrum's stumbles over one.
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<BIF VERSION="0.3">',
        "<NETWORK>",
        _leaf("NAME", definition.name),
    ]
    for node, states in zip(definition.nodes, definition.states):
        lines += ['<VARIABLE TYPE="nature">', "  " + _leaf("NAME", node)]
        lines += ["  " + _leaf("OUTCOME", text_of(state)) for state in states]
        lines.append("</VARIABLE>")
    for node, parents, table in zip(definition.nodes, definition.parents, definition.tables):
        lines += ["<DEFINITION>", "  " + _leaf("FOR", node)]
        lines += ["  " + _leaf("GIVEN", definition.nodes[parent]) for parent in parents]
        lines.append("  <TABLE>")
        lines += ["    " + " ".join(map(repr, row)) for row in table.reshape(-1, table.shape[-1]).tolist()]
        lines += ["  </TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"


def _leaf(tag: str, text: str) -> str:
    if bad := _NO_XML.search(text):
        raise NetworkError(
            f"the name {text!r} holds {bad[0]!r}, a character that XML cannot; rename it or write another kind of file"
        )
    exact = ' xml:space="preserve"' if text != text.strip() else ""
    return f"<{tag}{exact}>{escape(text, {chr(13): '&#13;'})}</{tag}>"
