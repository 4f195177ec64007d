"""What categories and words add, kept in a table of the database: terms(column, value, class, log)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ingenuo.errors import InputError
from ingenuo.sheet.sql.dialects import Dialect
from ingenuo.sheet.sql.terms import Floats, Node, Texts, Writer, array, known_texts, text_of

_ROWS = 500  # of one INSERT: some databases take a thousand at most


@dataclass
class Store:
    """The table of the terms, and that of the words of texts."""

    dialect: Dialect
    table: str  # as SQL has it
    words: str  # as SQL has it
    keys: Sequence[str]  # the columns that name a row, which the table of words has too
    texts: Sequence[str]  # the columns of texts; where there are several, the table of words says of which a word is
    rows: list[tuple[tuple[str, str, str], tuple[float, float]]] = field(default_factory=list)
    weighted: bool = False  # whether words have weights besides
    _names: dict[int, str] = field(default_factory=dict)  # of each node what its column is called in the table
    _lengths: dict[int, tuple[Texts, str, str]] = field(default_factory=dict)  # of each node of words

    def _quoted(self, name: str) -> str:
        return f"t.{self.dialect.name_of(name)}"

    def _name(self, node: Node, column: str) -> tuple[str, bool]:
        """What the column of a node is called in the table, and whether that is new: members of a vote have theirs."""
        if id(node) in self._names:
            return self._names[id(node)], False
        name, number = column, 2
        while name in self._names.values():
            name, number = f"{column} ({number})", number + 1
        self._names[id(node)] = name
        return name, True

    def _add(self, column: str, value: str, w: Writer, logs: Sequence[float], weight: float = 1.0) -> None:
        self.rows += [((column, value, label), (log, weight)) for label, log in zip(w.labels, logs)]

    def _of_classes(self, w: Writer, text: str, how: str) -> str:
        """A column for each class: of an expression the sum, or the largest."""
        own, string = self._quoted("class"), self.dialect.string
        ways = (f"CASE WHEN {own} = {string(label)} THEN {text} END" for label in w.labels)
        return ",\n    ".join(f"{how}({way}) AS l{k}" for k, way in enumerate(ways))

    def category(self, node: Node, w: Writer, floor: float | None) -> list[Texts]:
        """What the values of a category add."""
        d, name, logs = self.dialect, w.name(node["column"]), array(node["logs"])
        values = list(node["values"])
        column, new = self._name(node, name)
        for text, at in known_texts(values, d).items() if new else ():
            self._add(column, text, w, logs[at].tolist())
        if np.isneginf(logs).any():
            w.infinite = True
        log = self._quoted("log") if floor is None else d.largest([self._quoted("log"), w.lit(floor)])
        value = self._quoted("value")
        table = w.query.before(
            f"  SELECT\n    {value} AS v,\n    {self._of_classes(w, log, 'MAX')}\n  FROM {self.table} AS t\n"
            f"  WHERE {self._quoted('column')} = {d.string(column)}\n  GROUP BY {value}",
            f"values_of_{name}",
        )
        names = [f"l{k}" for k in range(w.n_classes)]
        return [w.query.join(table, [(text_of(node["column"], values, w), "v")], names, name, w.lit(0.0))]

    # Words.

    def words_of(self, node: Node, w: Writer) -> list[Texts]:
        """What the words of a text add."""
        zero, column = w.lit(0.0), w.name(node["column"])
        sums, _, size = self._summed(node, w)
        if node["norm"] is not None:
            by = w.query.let(f"CASE WHEN {size} > {zero} THEN SQRT({size}) ELSE {w.lit(1.0)} END", "size")
            sums = [f"({each} / {by})" for each in sums]
        found = [sums]
        if node["absent"] is not None:
            there = w.query.let(f"CASE WHEN {w.query.column(column)} IS NULL THEN 0 ELSE 1 END", f"{column}_there")
            absent = array(node["absent"]).tolist()
            found.append([f"(CASE WHEN {there} = 1 THEN {w.lit(each)} ELSE {zero} END)" for each in absent])
        return found

    def length(self, node: Node, w: Writer) -> str:
        """How many words a text has that are known."""
        return self._summed(node, w)[1]

    def _summed(self, node: Node, w: Writer) -> tuple[Texts, str, str]:
        """What the words of a text add to each class, how many they are, and the sum of their squared weights."""
        if id(node) in self._lengths:
            return self._lengths[id(node)]
        d, name = self.dialect, w.name(node["column"])
        _refuse_words(node, name)
        column, _ = self._name(node, name)
        weighted = node["norm"] is not None
        self.weighted |= weighted
        for word, logs, own in _logs_of_words(node, w.n_classes):
            self._add(column, word, w, logs.tolist(), own)
        keys = [d.name_of(each) for each in self.keys]
        given = ", ".join(f"w.{each} AS k{at}" for at, each in enumerate(keys))
        group = ", ".join([*(f"w.{each}" for each in keys), f"w.{d.name_of('word')}"])
        where = f"\n    WHERE w.{d.name_of('text')} = {d.string(name)}" if len(self.texts) > 1 else ""
        times = f"CAST({'1' if node['once'] else 'COUNT(*)'} AS {d.double})"
        counted = (
            f"    SELECT {given}, w.{d.name_of('word')} AS v, {times} AS n\n    FROM {self.words} AS w{where}\n"
            f"    GROUP BY {group}"
        )
        keyed = ", ".join(f"f.k{at}" for at in range(len(keys)))
        first = f"CASE WHEN {self._quoted('class')} = {d.string(w.labels[0])} THEN "
        weight = f"f.n * {self._quoted('weight')}"
        squares = f",\n    SUM({first}{weight} * {weight} END) AS squares" if weighted else ""
        same, amount = d.same.format(x="f.v"), f"f.n * {self._quoted('log')}"
        table = w.query.before(
            f"  SELECT\n    {keyed},\n    {self._of_classes(w, amount, 'SUM')},\n"
            f"    SUM({first}f.n END) AS n{squares}\n"
            f"  FROM (\n{counted}\n  ) AS f\n  JOIN {self.table} AS t ON {self._quoted('value')} = {same}\n"
            f"  WHERE {self._quoted('column')} = {d.string(column)}\n  GROUP BY {keyed}",
            f"words_of_{name}",
        )
        wanted = [*(f"l{k}" for k in range(w.n_classes)), "n", *(["squares"] if weighted else [])]
        on = [(w.query.column(each), f"k{at}") for at, each in enumerate(self.keys)]
        found = w.query.join(table, on, wanted, f"{name}_words", w.lit(0.0))
        result = self._lengths[id(node)] = found[: w.n_classes], found[w.n_classes], found[-1]
        return result

    def statements(self) -> list[str]:
        """What makes the table."""
        d = self.dialect
        text = d.column_text or d.text
        columns = [f"{d.name_of(each)} {text}" for each in ("column", "value", "class")]
        columns += [f"{d.name_of(each)} {d.double}" for each in ("log", "weight")[: 1 + self.weighted]]
        found = [f"CREATE TABLE {self.table} ({', '.join(columns)}){d.table_end}"]
        for at in range(0, len(self.rows), _ROWS):
            lines = []
            for names, numbers in self.rows[at : at + _ROWS]:
                literals = (d.cell_of(d.literal(each)) for each in numbers[: 1 + self.weighted])
                lines.append(f"  ({', '.join([*map(d.string, names), *literals])})")
            found.append(f"INSERT INTO {self.table} VALUES\n" + ",\n".join(lines))
        return found


def _refuse_words(node: Node, name: str) -> None:
    """Raise for words that no table of words has."""
    read: Mapping[str, Any] = node["read"]
    what = ""
    if "characters" in read:
        what = "characters, which are no words; fit with Words() that cuts words"
    elif list(read["ngrams"]) != [1, 1]:
        what = "n-grams, and a table of words has single ones; fit with Words(ngrams=(1, 1))"
    elif node["buckets"]:
        what = "words that are hashed; fit without hashed"
    elif "lexicon" in read:
        what = "a lexicon; fit without it"
    elif node["strict"] is not None or node["certain"] is not None:
        what = "words that are impossible, or certain; fit with a prior such as 'laplace'"
    if what:
        raise InputError(f"the text of column {name!r} has no SQL, for it is read by {what}, or export to js")


def _logs_of_words(node: Node, n_classes: int) -> list[tuple[str, Floats, float]]:
    """Each word that is used, what one occurrence adds to each class, and its weight."""
    words = _unpack(node["words"]["text"], node["words"]["between"])
    counts = np.asarray(node["counts"], np.int64)
    logs = np.zeros((len(counts), n_classes))
    at = np.repeat(np.arange(len(counts)), counts)
    np.add.at(logs, (at, np.asarray(node["codes"], np.int64)), array(node["values"]))
    weights = np.ones(len(counts)) if node["weights"] is None else array(node["weights"])
    logs += weights[:, np.newaxis] * array(node["constant"])
    if node["base"] is not None:
        logs += array(node["base"])[:, np.newaxis]
    used = np.ones(len(counts), np.bool_) if node["used"] is None else np.asarray(node["used"], np.bool_)
    return [(words[i], logs[i], float(weights[i])) for i in np.flatnonzero(used).tolist()]


def _unpack(text: str, between: str) -> list[str]:
    """Words of which each is written as how many letters it shares with the one before it, and the others."""
    before, found = "", []
    for each in text.split(between) if text else []:
        kept = before.encode("utf-16-le", "surrogatepass")[: 2 * (ord(each[0]) - ord("0"))]
        before = kept.decode("utf-16-le", "surrogatepass") + each[1:]
        found.append(before)
    return found
