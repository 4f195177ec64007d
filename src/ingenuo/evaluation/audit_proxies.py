"""Proxies: columns that tell the group although they are not it.

What a column tells is the information it shares with the group, by the counts of the other rows (`told`), over the
group's entropy: 0 where it tells nothing of a row to come, 1 where it tells all. The correction matters: plain mutual
information takes a column of very many values for a proxy of everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.evaluation.audit_columns import MISSING, band_names
from ingenuo.labels import Labels, find, labels_of, objects, unite
from ingenuo.networks.structure.trees import told
from ingenuo.schema import column_name
from ingenuo.sources import Source
from ingenuo.target_bins import Bins, cut

BINS_OF_NUMBERS = 10
_CELLS = 5_000_000  # values × groups: a larger table is not made
COLUMNS = 1_000
_SAID = 3  # values that are named of a column
_FEWEST = 10  # rows of a value that is named
STRONG = 0.05  # of the group's entropy: what tells more is called a proxy


class Says(NamedTuple):
    """What one value of a column says of the group: of its rows so many are of that group, of all rows so many."""

    value: str
    rows: int
    group: Any
    share: float
    overall: float


class Proxy(NamedTuple):
    """A column and how much of the group it tells, from 0 to 1."""

    column: str
    told: float
    says: tuple[Says, ...]
    used: bool | None


@dataclass(frozen=True, eq=False)
class Table:
    """The rows by the values of a column (down) and by group (across)."""

    values: Labels
    counts: NDArray[np.int64]
    edges: tuple[float, ...] = ()  # of the bins of a column of numbers


class Proxies(Sequence[Proxy]):
    """The columns by how much they tell of the group, the strongest first; what was counted adds."""

    def __init__(
        self, groups: Labels, tables: dict[str, Table], left_out: dict[str, str], used: dict[str, bool | None]
    ) -> None:
        self.groups, self.tables, self.left_out, self.used = groups, tables, left_out, used
        found = [self._proxy(name, table) for name, table in tables.items()]
        self._found = sorted(found, key=lambda proxy: -proxy.told)

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, at: Any) -> Any:
        return self._found[at]

    @property
    def strong(self) -> list[Proxy]:
        """Those that tell more than a twentieth of what there is to know of the group."""
        return [proxy for proxy in self._found if proxy.told >= STRONG]

    def _proxy(self, name: str, table: Table) -> Proxy:
        from scipy.special import entr

        by_group = table.counts.sum(axis=0)
        n = int(by_group.sum())
        entropy = float(entr(by_group / max(n, 1)).sum())
        share = told(table.counts[np.newaxis]) / entropy if entropy > 0 else 0.0
        share = min(1.0, max(0.0, share))
        return Proxy(name, share, self._says(table, by_group, n) if share >= STRONG / 5 else (), self.used.get(name))

    def _says(self, table: Table, by_group: NDArray[np.int64], n: int) -> tuple[Says, ...]:
        """The values that tell most, by their rows' information: n_ag log(p(g | a) / p(g)) of the group they favour."""
        rows = table.counts.sum(axis=1, keepdims=True)
        overall = by_group / n
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = np.nan_to_num(table.counts * np.log(table.counts / rows / overall), neginf=0.0)
        gains[(rows < _FEWEST).ravel()] = 0.0
        found = []
        for a in np.argsort(-gains.max(axis=1), kind="stable")[:_SAID].tolist():
            g = int(gains[a].argmax())
            if gains[a, g] > 0:
                count = int(rows[a, 0])
                found.append(
                    Says(
                        str(table.values[a]),
                        count,
                        self.groups.tolist()[g],
                        float(table.counts[a, g] / count),
                        float(overall[g]),
                    )
                )
        return tuple(found)

    def __add__(self, other: Proxies) -> Proxies:
        """Of the rows of both; columns that were not cut alike are left out."""
        groups = unite(self.groups, other.groups)
        tables, left_out = {}, {**other.left_out, **self.left_out}
        for name in (name for name in self.tables if name in other.tables):
            one, two = self.tables[name], other.tables[name]
            if one.edges != two.edges:
                left_out[name] = "its numbers were cut into other bins in either audit"
                continue
            values = unite(one.values, two.values)
            counts = np.zeros((len(values), len(groups)), np.int64)
            for part, of in ((one, self), (two, other)):
                counts[np.ix_(find(values, part.values), find(groups, of.groups))] += part.counts
            tables[name] = Table(values, counts, one.edges)
        return Proxies(groups, tables, left_out, {**other.used, **self.used})


def proxies_of(
    source: Source, groups: NDArray[Any], names: Labels, besides: Sequence[str], known: Sequence[str] | None
) -> Proxies:
    """How much each column tells of the group.

    Parameters
    ----------
    source : Source
        The rows.
    groups, names
        Codes of the rows, and the groups.
    besides : list of str
        Columns that are the group itself.
    known : list of str, optional
        The columns that the model uses.
    """
    tables: dict[str, Table] = {}
    left_out: dict[str, str] = {}
    used: dict[str, bool | None] = {}
    for place, given in enumerate(source.names.tolist()):
        name = column_name(given)
        if name in besides:
            continue
        if len(tables) == COLUMNS:
            left_out[name] = f"only the first {COLUMNS:,} columns were looked at"
            continue
        try:
            kind, _ = source.guess(place)
        except InputError:  # dates and the like, which a model may have been told to ignore
            left_out[name] = "its values are neither numbers nor categories"
            continue
        table = _counted(source, place, kind, groups, len(names)) if kind in ("number", "category") else kind
        if isinstance(table, str):
            left_out[name] = f"a column of {kind} is not looked at" if table == kind else table
            continue
        tables[name] = table
        used[name] = None if known is None else name in known
    return Proxies(names, tables, left_out, used)


def _counted(source: Source, place: int, kind: str, groups: NDArray[Any], n_groups: int) -> Table | str:
    """The rows by the column's values and by group; or why there is no such table."""
    at, name = np.array([place]), source.names[[place]]
    if kind == "number":
        values = source.numbers(at, name).column(0)
        there = np.isfinite(values)
        if not there.any():
            return "it has no values"
        edges = cut(values[there], None, BINS_OF_NUMBERS, "equal-frequency").edges
        return table_of_numbers(edges, number_counts(values, edges, groups, n_groups))
    codes, own = category_codes(source, place)
    if len(own) * n_groups > _CELLS:
        return f"it has {len(own):,} different values"
    labels = objects([*own.tolist(), MISSING])
    counts = np.bincount(codes * n_groups + groups, minlength=len(labels) * n_groups).reshape(-1, n_groups)
    kept = counts.sum(axis=1) > 0
    return Table(labels[kept], counts[kept])


def number_counts(values: NDArray[Any], edges: NDArray[Any], groups: NDArray[Any], n_groups: int) -> NDArray[np.int64]:
    """Rows by bins of their numbers, the last for what is missing, and by group."""
    bins = Bins(edges)
    codes = np.full(len(values), len(bins), np.int64)
    there = np.isfinite(values)
    codes[there] = bins.codes(values[there])
    cells = np.bincount(codes * n_groups + groups, minlength=(len(bins) + 1) * n_groups)
    return cells.reshape(-1, n_groups)


def table_of_numbers(edges: NDArray[Any], counts: NDArray[np.int64]) -> Table:
    """The table of a column of numbers."""
    return Table(objects([*band_names(edges[1:-1].tolist()), MISSING]), counts, tuple(edges.tolist()))


def category_codes(source: Source, place: int) -> tuple[NDArray[np.int64], Labels]:
    """The values of a column of categories: codes into their sorted labels, and past their end for what is missing."""
    found = source.codes(np.array([place]), source.names[[place]])
    assert found.labels is not None
    column = found.columns[:, 0] if isinstance(found.columns, np.ndarray) else found.columns[0]
    own = found.labels[0]
    labels = labels_of(own)
    places = np.append(find(labels, own), len(labels))
    return places[np.asarray(column, np.int64)], labels
