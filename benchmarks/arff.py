"""Tables in ARFF files, read into pandas: numbers, and categories as strings; "?" is missing."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.public_data import public_data
from benchmarks.report import Absent

_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.+)""", re.IGNORECASE)
_NUMBERS = ("numeric", "real", "integer")
_LEAST = 10  # rows of a class, for ten folds


@dataclass(frozen=True)
class Table:
    """The columns without the class, what each is, and the classes."""

    name: str
    frame: pd.DataFrame
    kinds: dict[str, str]
    y: NDArray[np.object_]

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers."""
        return [name for name, kind in self.kinds.items() if kind == "number"]

    @property
    def categories(self) -> list[str]:
        """The other columns."""
        return [name for name, kind in self.kinds.items() if kind == "category"]

    def foldable(self) -> Table:
        """Without the rows of classes that have fewer than ten."""
        labels, counts = np.unique(self.y, return_counts=True)
        return self._rows(np.flatnonzero(np.isin(self.y, labels[counts >= _LEAST])))

    def at_most(self, rows: int) -> Table:
        """So many rows, evenly spread, and of them those of classes that have ten."""
        n = len(self.y)
        return self if rows >= n else self._rows(np.arange(rows) * n // rows).foldable()

    def only(self, columns: list[str]) -> Table:
        """Some of the columns."""
        return Table(self.name, self.frame[columns], {name: self.kinds[name] for name in columns}, self.y)

    def _rows(self, kept: NDArray[np.intp]) -> Table:
        return Table(self.name, self.frame.iloc[kept].reset_index(drop=True), self.kinds, self.y[kept])


def read(path: Path) -> Table:
    """A table; the class is the attribute of that name, else the last one."""
    kinds: dict[str, str] = {}
    lines = iter(path.read_text(encoding="utf-8", errors="replace").splitlines())
    for line in lines:
        if line.strip().lower() == "@data":
            break
        found = _ATTRIBUTE.match(line.strip())
        if found is not None:
            kind = found[2].strip().lower()
            kinds[_plain(found[1])] = "number" if kind.startswith(_NUMBERS) else "category"
    data = (line for line in lines if line.strip() and not line.lstrip().startswith("%"))
    rows = list(csv.reader(data, quotechar="'", escapechar="\\", skipinitialspace=True))
    table = pd.DataFrame([[cell.strip() for cell in row] for row in rows], columns=list(kinds), dtype=object)
    table = table.where(table != "?", None)
    target = next((name for name in kinds if name.lower() == "class"), list(kinds)[-1])
    y = table.pop(target).to_numpy()
    del kinds[target]
    for name, kind in kinds.items():
        if kind == "number":
            table[name] = table[name].astype(np.float64)
    return Table(path.stem, table, kinds, y)


def _plain(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name[1:-1]) if name[:1] in "'\"" else name


def foldable_tables() -> list[Table]:
    """Every ARFF file of the public data with ten rows of two classes at least; smaller classes are set aside."""
    one = public_data("tables/iris.arff")
    if one is None:
        raise Absent("the file iris.arff is not there; set INGENUO_DATA to the folder that has tables/iris.arff")
    tables = [read(path).foldable() for path in sorted(one.parent.glob("*.arff"))]
    return [table for table in tables if len(np.unique(table.y)) > 1]
