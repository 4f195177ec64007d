"""A query in steps: expressions that have names, each computed once, in the earliest step that has what it needs.

In the text of an expression a name stands between two NULs, which no name or string of SQL can have.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ingenuo.sheet.sql.dialects import Dialect

_NAME = re.compile("\0([a-z0-9_]+)\0")
_LETTERS = 24  # of a name that are taken from what it is of


@dataclass(frozen=True)
class _Join:
    """A table that is joined to a step, by the equality of expressions with some of its columns."""

    table: str
    alias: str
    on: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Item:
    """An expression, and the step that computes it: 0 of the columns of the table itself."""

    text: str
    step: int
    join: _Join | None = None


@dataclass
class Query:
    """What is to be computed of the rows of a table, step after step."""

    dialect: Dialect
    table: str  # as SQL has it
    kept: Sequence[str] = ()  # columns of the table that the answer has too, in quotes
    others: Sequence[str] = ()  # other tables that it reads
    _items: dict[str, _Item] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)  # by the text, so that nothing is computed twice
    _tables: dict[str, str] = field(default_factory=dict)  # what stands before all steps
    _taken: set[str] = field(default_factory=set)
    _stage: str = "step"

    def __post_init__(self) -> None:
        known = " ".join([self.table, *self.kept, *self.others]).casefold()
        while f"{self._stage}_" in known:  # what stands before the steps hides tables of the same name
            self._stage += "s"
        self._taken |= set(re.findall(r"[a-z0-9_]+", known))

    def column(self, name: str) -> str:
        """A column of the table, for expressions of the first step."""
        text = f"r.{self.dialect.name_of(name, f'the name of column {name[:40]!r}')}"
        if text not in self._names:
            found = self._names[text] = self._free("column")
            self._items[found] = _Item(text, 0)
        return f"\0{self._names[text]}\0"

    def let(self, text: str, hint: str) -> str:
        """Give an expression a name, and return that; a name or a constant stays what it is."""
        if not _NAME.search(text) or (_NAME.fullmatch(text) and self._step(text)):
            return text
        if text not in self._names:
            name = self._names[text] = self._free(hint)
            self._items[name] = _Item(text, self._step(text) + 1)
        return f"\0{self._names[text]}\0"

    def lets(self, texts: Iterable[str], hint: str) -> list[str]:
        """Give each of some expressions a name."""
        return [self.let(text, hint) for text in texts]

    def join(
        self, table: str, on: Sequence[tuple[str, str]], columns: Sequence[str], hint: str, default: str = ""
    ) -> list[str]:
        """Join a table by expressions and the columns that they are equal to; returns names of other columns of it.

        Where no row of the table is equal, they are the default, or nothing.
        """
        step = max(self._step(text) for text, _ in on) + 1
        while len({each.join for each in self._items.values() if each.step == step} - {None}) >= self.dialect.joins:
            step += 1
        join = _Join(table, self._free("t"), tuple(on))
        found = []
        for column in columns:
            name, text = self._free(hint), f"{join.alias}.{column}"
            self._items[name] = _Item(f"COALESCE({text}, {default})" if default else text, step, join)
            found.append(f"\0{name}\0")
        return found

    def constants(self, columns: Sequence[str], rows: Iterable[Sequence[str]], hint: str) -> str:
        """A table of constants before all steps; returns its name."""
        name = self._free(hint)
        self._tables[name] = self.dialect.table(name, columns, [tuple(row) for row in rows])
        return name

    def before(self, text: str, hint: str) -> str:
        """A query before all steps; returns its name."""
        for known, own in self._tables.items():
            if own == f"{known} AS (\n{text}\n)":
                return known
        name = self._free(hint)
        self._tables[name] = f"{name} AS (\n{text}\n)"
        return name

    def _free(self, hint: str) -> str:
        """A name that nothing has, of letters that every database takes without quotes."""
        plain = unicodedata.normalize("NFKD", hint).encode("ascii", "ignore").decode().lower()
        base = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:_LETTERS].strip("_")
        base = base if base[:1].isalpha() else f"x_{base}".rstrip("_")
        number = 1
        while (name := f"{base}_{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return name

    def _step(self, text: str) -> int:
        return max((self._items[name].step for name in _NAME.findall(text)), default=0)

    def _plain(self, text: str) -> str:
        """The text with the names of the step before."""

        def name_of(found: re.Match[str]) -> str:
            item = self._items[found.group(1)]
            return f"s.{found.group(1)}" if item.step else item.text

        return _NAME.sub(name_of, text)

    def _last_uses(self, outputs: Iterable[str], last: int) -> dict[str, int]:
        """Of each name that is needed, the last step that reads it."""
        found: dict[str, int] = {}
        wanted = [(text, last + 1) for text in outputs]
        while wanted:
            text, step = wanted.pop()
            for name in _NAME.findall(text):
                if name not in found:
                    item = self._items[name]
                    wanted.append((item.text, item.step))
                    wanted += [(on, item.step) for on, _ in (item.join.on if item.join else ())]
                found[name] = max(found.get(name, 0), step)
        return found

    def write(self, outputs: Sequence[tuple[str, str]]) -> str:
        """The query; outputs are expressions, and the names that they have in quotes."""
        d = self.dialect
        last = max(1, *(self._step(text) for text, _ in outputs))
        uses = self._last_uses([text for text, _ in outputs], last)
        parts = list(self._tables.values())
        for step in range(1, last + 1):
            at, source = ("r", f"{self.table} AS r") if step == 1 else ("s", f"{self._stage}_{step - 1} AS s")
            items = [f"{at}.{each}" for each in self.kept]
            joins: dict[_Join, None] = {}
            for name, item in self._items.items():
                if item.step == step and name in uses:
                    items.append(f"{self._plain(item.text)} AS {name}")
                    joins |= {item.join: None} if item.join else {}
                elif 0 < item.step < step < uses.get(name, 0):
                    items.append(f"s.{name}")
            lines = [f"{self._stage}_{step} AS {d.fence}(", "  SELECT", self._listed(items), f"  FROM {source}"]
            for each in joins:
                on = " AND ".join(f"{self._plain(text)} = {each.alias}.{column}" for text, column in each.on)
                lines.append(f"  LEFT JOIN {each.table} AS {each.alias} ON {on}")
            parts.append("\n".join([*lines, *([f"  {d.after}"] if d.after else []), ")"]))
        items = [*(f"s.{each}" for each in self.kept), *(f"{self._plain(text)} AS {name}" for text, name in outputs)]
        steps, ending = ",\n".join(parts), f"\n{d.ending}" if d.ending else ""
        return f"WITH {steps}\nSELECT\n{self._listed(items)}\nFROM {self._stage}_{last} AS s{ending}"

    def _listed(self, items: Sequence[str]) -> str:
        return ",\n".join(f"    {each}" for each in items or ["1 AS one"])
