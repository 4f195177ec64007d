r"""BIF, the Interchange Format 0.15 of JavaBayes and of the Bayesian Network Repository.

::

    network weather { property ignored; }
    variable play { type discrete [ 2 ] { no, yes }; }
    variable windy { type discrete [ 2 ] { false, true }; }
    probability ( play ) { table 0.37, 0.63; }
    probability ( windy | play ) {
      (no) 0.42, 0.58;          // a row of P(windy | play = no)
      default 0.67, 0.33;       /* all rows that are not given */
    }

By the standard, commas and | may be left out (JavaBayes writes `probability ( "windy" "play" )`), and a `table` of a
node that has parents lists its numbers with the last parent changing fastest and the node itself slowest. Names may be
quoted, and have to be where they hold spaces beside others; in quotes, \" is a quote and \\ a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ingenuo.errors import NetworkFileError
from ingenuo.networks.build import Builder, Definition, Family, text_of

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


class _Variable(NamedTuple):
    name: str
    states: list[str]
    at: int


class _Probability(NamedTuple):
    head: str
    values: list[tuple[str, str, int]]  # table or default, the numbers, where
    rows: list[tuple[str, str, int]]  # the parents' states, the numbers, where
    at: int


def from_bif(text: str, name: str) -> Definition:
    """The network that a text in BIF describes; `name` is what errors call the text.

    >>> variable, probability = "variable a { type discrete [2] {x, y}; }", "probability (a) { table .4 .6; }"
    >>> network = from_bif(f"network n {{}} {variable} {probability}", "n")
    >>> network.nodes, network.states, network.tables[0].tolist()
    (['a'], [['x', 'y']], [0.4, 0.6])
    """
    return _Reader(text, name).read()


class _Reader:
    """Goes once through the text; what is at a place is matched whole, by a pattern for that place."""

    def __init__(self, text: str, name: str) -> None:
        self.given, self.called = text, name
        self.text = text
        self.builder = Builder(self.locate)
        self.at = 0
        if "//" in text or "/*" in text:
            self.text = _COMMENT.sub(self._blank, text)

    def locate(self, at: int) -> str:
        line = self.given.count("\n", 0, at) + 1
        column = at - self.given.rfind("\n", 0, at)
        return f"{self.called}, line {line}, column {column}"

    def _blank(self, match: re.Match[str]) -> str:
        """Spaces instead of a comment, as many, so that what follows stays where it is."""
        found = match[0]
        if found[0] != "/":
            return found
        if found == "/*":
            raise self.builder.fault(match.start(), "a comment begins with /* and never ends; close it with */")
        return "\n".join(" " * len(line) for line in found.split("\n"))

    def _expected(self, what: str, at: int | None = None) -> NetworkFileError:
        at = self.at if at is None else at
        rest = self.text[at : at + 60].split("\n")[0].strip()
        found = repr(rest[:25] + ("…" if len(rest) > 25 else "")) if at < len(self.text) else "the end of the file"
        return self.builder.fault(at, f"found {found}, expected {what}")

    def _take(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise self._expected(what, _beyond_space(self.text, self.at))
        self.at = match.end()
        return match

    def read(self) -> Definition:
        variables: list[_Variable] = []
        probabilities: list[_Probability] = []
        name: str | None = None
        while True:
            self.at = _BETWEEN.match(self.text, self.at).end()  # type: ignore[union-attr]  # it matches nothing as well
            if self.at == len(self.text):
                break
            begin = self.at
            block = self._take(_BLOCK, "'network'" if name is None else "'variable' or 'probability'")[1]
            if (block == "network") != (name is None):
                self.at = begin
                raise self._expected("'network' first" if name is None else "one network in a file, and no other")
            if block == "network":
                name = _bare(self._take(_HEAD, "a name and '{'")[1])
                self._properties()
                self._take(_END, "'property …;' or '}'")
            elif block == "variable":
                variables.append(self._variable(begin))
            else:
                probabilities.append(self._probability(begin))
        if name is None:
            raise self._expected("'network'")
        self.builder.name = name or "network"
        for variable in variables:
            self.builder.add_node(*variable)
        for probability in probabilities:
            self._add(probability)
        return self.builder.definition(self.called)

    def _properties(self) -> None:
        while match := _PROPERTY.match(self.text, self.at):
            self.at = match.end()

    def _variable(self, begin: int) -> _Variable:
        name = _bare(self._take(_HEAD, "the variable's name and '{'")[1])
        self._properties()
        at = self.at
        match = self._take(_TYPE, "'type discrete [ n ] { states };'")
        if match[1] != "discrete":
            raise self._expected("'discrete': tables are for variables with states", match.start(1))
        self._properties()
        self._take(_END, "'property …;' or '}'")
        count, states = int(match[2]), _items(match[3])
        if len(states) != count:
            # Without commas, names are parted by spaces.
            words = _words(match[3])
            if len(words) != count:
                what = f"the variable {name!r} has [ {count} ] states, and {len(states)} are listed"
                raise self.builder.fault(at, f"{what}; make them agree")
            states = words
        return _Variable(name, states, begin)

    def _probability(self, begin: int) -> _Probability:
        head = self._take(_FAMILY, "'( variable | parents ) {'")[1]
        values: list[tuple[str, str, int]] = []
        rows: list[tuple[str, str, int]] = []
        text, at, match_row = self.text, self.at, _ROW.match
        while True:
            if (match := match_row(text, at)) is not None:
                rows.append((match[1], match[2], at))
            elif (match := _VALUES.match(text, at)) is not None:
                values.append((match[1], match[2], at))
            elif (match := _ROW_OF_ODD_NAMES.match(text, at)) is not None:
                rows.append((match[1], match[2], at))
            elif (match := _PROPERTY.match(text, at)) is None:
                break
            at = match.end()
        self.at = at
        if _END.match(text, at) is None:
            raise self._wrong_entry(at)
        self.at = _END.match(text, at).end()  # type: ignore[union-attr]
        return _Probability(head, values, rows, begin)

    def _wrong_entry(self, at: int) -> NetworkFileError:
        """What is wrong with an entry that is neither table, row nor default: the first thing that does not fit."""
        opening = _ENTRY.match(self.text, at)
        if opening is None:
            return self._expected("'table …;', a row '(states) …;', 'default …;' or '}'", at)
        at = opening.end()
        while (match := _NUMBER.match(self.text, at)) is not None:
            at = match.end()
        return self._expected("a number or ';'", _beyond_space(self.text, at, ","))

    def _add(self, probability: _Probability) -> None:
        builder, at = self.builder, probability.at
        names = _known(probability.head, builder.places)
        if not names:
            raise builder.fault(at, "found 'probability ( )', expected a variable in it")
        family = builder.family(names[0], names[1:], at)
        tables = [(numbers, where) for kind, numbers, where in probability.values if kind == "table"]
        defaults = [(numbers, where) for kind, numbers, where in probability.values if kind == "default"]
        if len(tables) + bool(probability.rows or defaults) > 1 or len(defaults) > 1:
            where = (tables[1:] or defaults[1:] or tables)[0][1]
            raise builder.fault(where, f"the probabilities of {names[0]!r} are given twice; give them once")
        if tables:
            values = np.array(self._floats(*tables[0]))
            if values.size == np.prod(family.shape, dtype=float):  # else add_table says what is wrong
                values = np.moveaxis(values.reshape(family.shape[-1], *family.shape[:-1]), 0, -1)
            builder.add_table(family, values)
            return
        keys = [self._key(family, labels, where) for labels, _, where in probability.rows]
        rows = [self._floats(numbers, where) for _, numbers, where in probability.rows]
        default = self._floats(*defaults[0]) if defaults else None
        builder.add_rows(family, keys, rows, [where for _, _, where in probability.rows], default)

    def _floats(self, numbers: str, where: int) -> list[float]:
        words = numbers.replace(",", " ").split()
        try:
            return [float(word) for word in words]
        except ValueError:
            for word in words:
                try:
                    float(word)
                except ValueError:
                    at = self.text.index(word, where)
                    raise self.builder.fault(at, f"found {word!r}, expected a number") from None
            raise

    def _key(self, family: Family, labels: str, where: int) -> tuple[int, ...]:
        known = [self.builder.of_state[parent] for parent in family.parents]
        try:  # nearly always the names are plain, and this is most of the time that reading takes
            if '"' not in labels:
                return tuple([states[label.strip()] for states, label in zip(known, labels.split(","), strict=True)])
        except (KeyError, ValueError):
            pass
        names = _items(labels)
        if len(names) != len(known) and len(_words(labels)) == len(known):
            names = _words(labels)
        if len(names) != len(known):
            what = f"the row of {self.builder.nodes[family.node]!r} names {len(names)} states, and has to name"
            raise self.builder.fault(where, f"{what} one for each of its {len(known)} parents")
        return tuple(self.builder.state_of(parent, name, where) for parent, name in zip(family.parents, names))


def _beyond_space(text: str, at: int, also: str = "") -> int:
    return len(text) - len(text[at:].lstrip(" \t\r\n" + also)) if at < len(text) else at


def _bare(item: str) -> str:
    """A name without its quotes."""
    item = item.strip()
    if not item.startswith('"'):
        return item
    return re.sub(r'\\(["\\])', r"\1", item[1:-1])


def _items(stretch: str) -> list[str]:
    """Names parted by commas, bars, or by quotes around them."""
    return [_bare(item) for item in _ITEM.findall(stretch)]


def _words(stretch: str) -> list[str]:
    """Names parted by spaces as well."""
    found: list[str] = []
    for item in _ITEM.findall(stretch):
        found += [_bare(item)] if item.startswith('"') else item.split()
    return found


def _known(stretch: str, known: dict[str, int]) -> list[str]:
    """Names parted by commas and bars; one that is unknown and has spaces in it is several."""
    found: list[str] = []
    for item in _ITEM.findall(stretch):
        whole = _bare(item)
        found += [whole] if item.startswith('"') or whole in known else item.split()
    return found


def to_bif(definition: Definition) -> str:
    r"""A network as BIF, every number in full; names are quoted where they have to be.

    >>> print(to_bif(Definition(["a b"], [["x", "y"]], [()], [np.array([0.4, 0.6])], "n")))
    network n {
    }
    variable "a b" {
      type discrete [ 2 ] { x, y };
    }
    probability ( "a b" ) {
      table 0.4, 0.6;
    }
    <BLANKLINE>
    """
    nodes = [_quoted(node) for node in definition.nodes]
    labels = [[_quoted(text_of(state)) for state in states] for states in definition.states]
    lines = [f"network {_quoted(definition.name)} {{", "}"]
    for node, states in zip(nodes, labels):
        lines += [f"variable {node} {{", f"  type discrete [ {len(states)} ] {{ {', '.join(states)} }};", "}"]
    for place, (parents, table) in enumerate(zip(definition.parents, definition.tables)):
        given = " | " + ", ".join(nodes[parent] for parent in parents) if parents else ""
        lines.append(f"probability ( {nodes[place]}{given} ) {{")
        if parents:
            for key in np.ndindex(table.shape[:-1]):
                row = ", ".join(labels[parent][state] for parent, state in zip(parents, key))
                lines.append(f"  ({row}) {_listed(table[key].tolist())};")
        else:
            lines.append(f"  table {_listed(table.tolist())};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(map(repr, numbers))


def _quoted(name: str) -> str:
    plain = _WORD.fullmatch(name) and name not in _KEYWORDS and "//" not in name and "/*" not in name
    if plain:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
