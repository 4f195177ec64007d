r"""BIF, the Interchange Format of JavaBayes and of the Bayesian Network Repository: as text (0.15), and in XML (0.3).

In text, commas and | may be left out (JavaBayes writes `probability ( "windy" "play" )`), and a `table` of a node that
has parents lists its numbers with the last parent changing fastest and the node itself slowest. Names may be quoted,
and have to be where they hold spaces beside others; in quotes, \" is a quote and \\ a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from ingenuo.errors import NetworkError
from ingenuo.networks.build import Builder, Definition, Family

# Quantifiers that never give back (*+) where two in a row could share what they match: on a damaged file, trying every
# way to share it would take forever.
_QUOTED = r'"(?:[^"\\]|\\.)*+"'
_COMMENT = re.compile(rf"{_QUOTED}?|\bproperty\s[^;]*+;?|//[^\n]*|/\*.*?\*/|/\*", re.DOTALL)
_BETWEEN = re.compile(r"(?:\s+|#[^\n]*)*+")  # some writers begin a comment between blocks with #
_BLOCK = re.compile(r"(network|variable|probability)\b")
_HEAD = re.compile(rf'\s*+({_QUOTED}|[^\s{{}};"][^{{}};"\n]*+|(?=\{{))\s*+\{{\s*+', re.DOTALL)
_FAMILY = re.compile(rf'\s*+\(([^{{}};"]*(?:{_QUOTED}[^{{}};"]*)*)\)\s*+\{{\s*+', re.DOTALL)
_PROPERTY = re.compile(r"property\b[^;]*+;\s*+")
_TYPE = re.compile(
    r"type\s++(\w++)\s*+\[\s*+(\d{1,9})\s*+\]\s*+=?\s*+"
    rf'\{{([^}};"]*(?:{_QUOTED}[^}};"]*)*)\}}\s*+;\s*+',
    re.DOTALL,
)
_NUMBERS = r"([0-9eE+\-.,\s]*+);\s*+"
_VALUES = re.compile(rf"(table|default)\b{_NUMBERS}")
_ROW = re.compile(rf'\(([^;"()]*+)\){_NUMBERS}')
_ROW_OF_ODD_NAMES = re.compile(rf'\(([^;"\n]*(?:{_QUOTED}[^;"\n]*)*)\){_NUMBERS}', re.DOTALL)
_ENTRY = re.compile(rf'(?:table|default)\b|\((?:[^;"()\n]|{_QUOTED})*+\)', re.DOTALL)  # how one begins
_NUMBER = re.compile(r"[\s,]*+[0-9eE+\-.]++(?=[\s,;])")
_ITEM = re.compile(rf'{_QUOTED}|[^\s,|"][^,|"\n]*', re.DOTALL)
_END = re.compile(r"\}\s*")
_WORD = re.compile(r'[^\s,|"{}()\[\];#\\][^\s,|"{}()\[\];\\]*')
_KEYWORDS = frozenset(("network", "variable", "probability", "property", "type", "discrete", "default", "table"))

Entries = list[tuple[str, str, int]]  # "table", "default" or the parents' states; the numbers; where


def from_bif(text: str, name: str) -> Definition:
    """The network that a text in BIF describes; `name` is what errors call the text."""
    return _Reader(text, name).read()


class _Reader:
    """Goes once through the text; what is at a place is matched whole, by a pattern for that place."""

    def __init__(self, text: str, name: str) -> None:
        self.given, self.text, self.name, self.at = text, text, name, 0
        self.builder = Builder(self.locate)
        if "//" in text or "/*" in text:
            self.text = _COMMENT.sub(self._blank, text)

    def locate(self, at: int | None) -> str:
        if at is None:
            return self.name
        line, column = self.given.count("\n", 0, at) + 1, at - self.given.rfind("\n", 0, at)
        return f"{self.name}, line {line}, column {column}"

    def _blank(self, match: re.Match[str]) -> str:
        """Spaces instead of a comment, as many, so that what follows stays where it is."""
        if match[0][:1] != "/":
            return match[0]
        if match[0] == "/*":
            raise self.builder.fault(match.start(), "a comment begins with /* and never ends; close it with */")
        return re.sub(r"[^\n]", " ", match[0])

    def _expected(self, what: str, at: int) -> NetworkError:
        rest = self.text[at : at + 60].split("\n")[0].strip()
        found = repr(rest[:25] + ("…" if len(rest) > 25 else "")) if at < len(self.text) else "the end of the file"
        return self.builder.fault(at, f"found {found}, expected {what}")

    def _take(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise self._expected(what, _beyond_space(self.text, self.at))
        self.at = match.end()
        return match

    def _skip(self, pattern: re.Pattern[str]) -> None:
        while match := pattern.match(self.text, self.at):
            self.at = match.end()

    def read(self) -> Definition:
        name, tables = None, list[tuple[str, Entries, int]]()
        while True:
            self._take(_BETWEEN, "nothing")
            if self.at == len(self.text):
                break
            begin = self.at
            block = self._take(_BLOCK, "'network'" if name is None else "'variable' or 'probability'")[1]
            if (block == "network") != (name is None):
                what = "'network' first" if name is None else "one network in a file, and no other"
                raise self._expected(what, begin)
            if block == "probability":
                head = self._take(_FAMILY, "'( variable | parents ) {'")[1]
                tables.append((head, self._entries(), begin))
                continue
            head = _unquote(self._take(_HEAD, "a name and '{'" if name is None else "the variable's name and '{'")[1])
            self._skip(_PROPERTY)
            if block == "variable":
                self.builder.add_node(head, self._states(head), begin)
                self._skip(_PROPERTY)
            self._take(_END, "'property …;' or '}'")
            name = head if name is None else name
        if name is None:
            raise self._expected("'network'", self.at)
        self.builder.name = name or "network"
        for each in tables:
            self._add(*each)
        return self.builder.definition()

    def _states(self, name: str) -> list[str]:
        at, match = self.at, self._take(_TYPE, "'type discrete [ n ] { states };'")
        if match[1] != "discrete":
            raise self._expected("'discrete': tables are for variables with states", match.start(1))
        for states in (_split_items(match[3]), _split_words(match[3])):  # without commas, names are parted by spaces
            if len(states) == int(match[2]):
                return states
        listed = f"has [ {int(match[2])} ] states, and {len(_split_items(match[3]))} are listed"
        raise self.builder.fault(at, f"the variable {name!r} {listed}; make them agree")

    def _entries(self) -> Entries:
        found: Entries = []
        text, at, match_row = self.text, self.at, _ROW.match
        while (
            match := match_row(text, at)
            or _VALUES.match(text, at)
            or _ROW_OF_ODD_NAMES.match(text, at)
            or _PROPERTY.match(text, at)
        ):
            if match.re is not _PROPERTY:
                kind = match[1] if match.re is _VALUES else f"({match[1]}"
                found.append((kind, match[2], at))
            at = match.end()
        self.at = at
        if _END.match(text, at) is None:
            opening = _ENTRY.match(text, at)
            if opening is None:
                raise self._expected("'table …;', a row '(states) …;', 'default …;' or '}'", at)
            self.at = opening.end()
            self._skip(_NUMBER)
            raise self._expected("a number or ';'", _beyond_space(text, self.at, ","))
        self._take(_END, "'}'")
        return found

    def _add(self, head: str, entries: Entries, at: int) -> None:
        builder = self.builder
        names = _split_words(head, builder.places)
        if not names:
            raise builder.fault(at, "found 'probability ( )', expected a variable in it")
        family = builder.family(names[0], names[1:], at)
        tables, defaults = ([entry for entry in entries if entry[0] == kind] for kind in ("table", "default"))
        rows = [entry for entry in entries if entry[0][0] == "("]
        if len(tables) + bool(rows or defaults) > 1 or len(defaults) > 1:
            where = (tables[1:] or defaults[1:] or tables)[0][2]
            raise builder.fault(where, f"the probabilities of {names[0]!r} are given twice; give them once")
        if tables:
            values = np.array(self._floats(tables[0]))
            if values.size == np.prod(family.shape, dtype=float):  # else add_table says what is wrong
                values = np.moveaxis(values.reshape(family.shape[-1], *family.shape[:-1]), 0, -1)
            builder.add_table(family, values)
            return
        keys, marks = [self._key(family, labels[1:], where) for labels, _, where in rows], [row[2] for row in rows]
        default = self._floats(defaults[0]) if defaults else None
        builder.add_rows(family, keys, [self._floats(row) for row in rows], marks, default)

    def _floats(self, entry: tuple[str, str, int]) -> list[float]:
        return self.builder.numbers(entry[1], lambda word: self.text.index(word, entry[2]))

    def _key(self, family: Family, labels: str, where: int) -> tuple[int, ...]:
        known = [self.builder.of_state[parent] for parent in family.parents]
        try:  # nearly always the names are plain, and this is most of the time that reading takes
            if '"' not in labels:
                return tuple([states[label.strip()] for states, label in zip(known, labels.split(","), strict=True)])
        except (KeyError, ValueError):
            pass
        ways = _split_items(labels), _split_words(labels)
        for names in ways:
            if len(names) == len(known):
                return tuple(self.builder.find_state(up, name, where) for up, name in zip(family.parents, names))
        what = f"the row of {self.builder.nodes[family.node]!r} names {len(ways[0])} states, and has to name"
        raise self.builder.fault(where, f"{what} one for each of its {len(known)} parents")


def _beyond_space(text: str, at: int, also: str = "") -> int:
    return len(text) - len(text[at:].lstrip(" \t\r\n" + also)) if at < len(text) else at


def _unquote(item: str) -> str:
    item = item.strip()
    return re.sub(r'\\(["\\])', r"\1", item[1:-1]) if item.startswith('"') else item


def _split_items(stretch: str) -> list[str]:
    """Names parted by commas, bars, or by quotes around them."""
    return [_unquote(item) for item in _ITEM.findall(stretch)]


def _split_words(stretch: str, known: Collection[str] = ()) -> list[str]:
    """Names parted by spaces as well, but for those that are known with spaces in them."""
    found: list[str] = []
    for item in _ITEM.findall(stretch):
        whole = _unquote(item)
        found += [whole] if item.startswith('"') or whole in known else item.split()
    return found


def to_bif(definition: Definition) -> str:
    """A network as BIF, every number in full; names are quoted where they have to be."""
    nodes = [_quote(node) for node in definition.nodes]
    labels = [[_quote(str(state)) for state in states] for states in definition.states]
    lines = [f"network {_quote(definition.name)} {{", "}"]
    for node, states in zip(nodes, labels):
        lines += [f"variable {node} {{", f"  type discrete [ {len(states)} ] {{ {', '.join(states)} }};", "}"]
    for node, parents, table in zip(nodes, definition.parents, definition.tables):
        given = " | " + ", ".join(nodes[parent] for parent in parents) if parents else ""
        lines.append(f"probability ( {node}{given} ) {{")
        for key in np.ndindex(table.shape[:-1]):
            row = ", ".join(labels[parent][state] for parent, state in zip(parents, key))
            numbers = ", ".join(map(repr, table[key].tolist()))
            lines.append(f"  ({row}) {numbers};" if parents else f"  table {numbers};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _quote(name: str) -> str:
    if _WORD.fullmatch(name) and name not in _KEYWORDS and "//" not in name and "/*" not in name:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# XMLBIF: a TABLE lists its numbers with the node itself (FOR) changing fastest, then the last parent (GIVEN). Tags may
# be in small letters, and a DOCTYPE may be there, of which nothing is ever fetched or expanded: a file that declares
# entities is refused.

# What may stand in what; the text of the leaves is kept, and all that a PROPERTY holds is passed over.
_INSIDE: dict[str, tuple[str, ...]] = {
    "": ("BIF",),
    "BIF": ("NETWORK",),
    "NETWORK": ("NAME", "PROPERTY", "VARIABLE", "DEFINITION"),
    "VARIABLE": ("NAME", "TYPE", "OUTCOME", "VALUE", "PROPERTY"),
    "DEFINITION": ("FOR", "GIVEN", "TABLE", "PROPERTY"),
}
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass
class _Element:
    tag: str
    at: tuple[int, int]  # line and column
    exact: bool = False  # spaces at the ends belong to the text
    pieces: list[str] = field(default_factory=list)
    children: list[_Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        text = "".join(self.pieces)
        return text if self.exact else text.strip()

    def all(self, *tags: str) -> list[_Element]:
        return [child for child in self.children if child.tag in tags]


def from_xmlbif(content: str | bytes, name: str) -> Definition:
    """The network that a text in XMLBIF describes; bytes are decoded as they say themselves."""
    builder = Builder(lambda mark: f"{name}, line {mark[0]}, column {mark[1]}" if mark else name)

    def only(element: _Element, tag: str) -> _Element:
        found = element.all(tag)
        if len(found) != 1:
            at = found[1].at if found else element.at
            raise builder.fault(at, f"found {len(found)} {tag} in {element.tag}, expected one")
        return found[0]

    networks = _parse(content, builder).all("BIF")[0].all("NETWORK")
    if len(networks) != 1:
        raise builder.fault(None, f"there are {len(networks)} networks in the file, and one is read; part them")
    (network,) = networks
    for title in network.all("NAME")[:1]:
        builder.name = title.text
    for variable in network.all("VARIABLE"):
        states = [outcome.text for outcome in variable.all("OUTCOME", "VALUE")]
        builder.add_node(only(variable, "NAME").text, states, variable.at)
    for definition in network.all("DEFINITION"):
        node, given = only(definition, "FOR").text, [given.text for given in definition.all("GIVEN")]
        family, table = builder.family(node, given, definition.at), only(definition, "TABLE")
        values = builder.numbers(table.text, lambda word, at=table.at: at, " in the table")  # type: ignore[misc]
        builder.add_table(family._replace(mark=table.at), np.array(values))
    return builder.definition()


def _parse(content: str | bytes, builder: Builder) -> _Element:
    """The elements of a document, checked as they come."""
    parser = expat.ParserCreate("utf-8" if isinstance(content, str) else None)
    root = _Element("", (1, 1))
    stack, passed_over = [root], 0  # how deep in a property

    def fault(message: str) -> NetworkError:
        return builder.fault((parser.CurrentLineNumber, parser.CurrentColumnNumber + 1), message)

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal passed_over
        tag, inside = tag.upper(), stack[-1].tag
        if passed_over or tag == "PROPERTY":
            passed_over += 1
            return
        allowed = _INSIDE.get(inside, ())
        if tag not in allowed:
            where = f" in {inside}" if inside else ""
            raise fault(f"found <{tag}>{where}, expected {' or '.join(allowed) or 'only text'}")
        kind = attributes.get("TYPE", "nature")
        if tag == "VARIABLE" and kind != "nature":
            raise fault(f"found a variable of type {kind!r}, expected 'nature': others are no chances")
        at = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        stack.append(_Element(tag, at, attributes.get("xml:space") == "preserve"))
        stack[-2].children.append(stack[-1])

    def end(tag: str) -> None:
        nonlocal passed_over
        if passed_over:
            passed_over -= 1
        else:
            stack.pop()

    def characters(found: str) -> None:
        if passed_over:
            return
        if stack[-1].tag not in _INSIDE:
            stack[-1].pieces.append(found)
        elif not found.isspace():
            raise fault(f"found the text {found.strip()[:25]!r} in {stack[-1].tag}, expected a tag")

    def refuse_entity(name: str, *_: Any) -> None:
        raise fault(f"the file declares or uses the entity {name!r}; write out what it stands for")

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = parser.SkippedEntityHandler = refuse_entity
    try:
        parser.Parse(content.encode() if isinstance(content, str) else content, True)
    except expat.ExpatError as error:
        at = (error.lineno, error.offset + 1)
        raise builder.fault(at, f"this is no sound XML ({expat.ErrorString(error.code)}); mend it there") from None
    except (LookupError, ValueError) as error:
        if isinstance(error, NetworkError):
            raise
        raise fault(f"the text cannot be decoded ({error}); save the file as UTF-8") from None
    return root


def to_xmlbif(definition: Definition) -> str:
    """A network as XMLBIF 0.3, every number in full; without a DOCTYPE, over which pyAgrum's reader stumbles."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines.append(_leaf("NAME", definition.name))
    for node, states in zip(definition.nodes, definition.states):
        lines += ['<VARIABLE TYPE="nature">', "  " + _leaf("NAME", node)]
        lines += ["  " + _leaf("OUTCOME", str(state)) for state in states]
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
