"""The tables of a network learned from rows: they add, subtract and merge, the structure staying as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, MergeError, RefusedError
from ingenuo.labels import Labels, labels_of, objects
from ingenuo.networks import learning
from ingenuo.networks.bare import Bare, frozen
from ingenuo.networks.columns import states_of
from ingenuo.networks.cuts import Cuts
from ingenuo.networks.rows import columns_of
from ingenuo.prior import Laplace, Prior
from ingenuo.tally import Tally

Floats = NDArray[np.float64]


class Learning(Bare):
    """A network whose tables may be learned."""

    def fit(
        self,
        table: Any,
        *,
        prior: Prior = Laplace(),  # noqa: B008 (immutable)
        missing: str = "leave-out",
        sample_weight: Any = None,
        columns: Mapping[str, str] | None = None,
        iterations: int = 200,
        tolerance: float = 1e-6,
        random_state: int = 0,
        verbose: bool | None = None,
    ) -> Self:
        """Learn the tables from rows, forgetting those there were; the structure stays. Returns the network itself.

        Parameters
        ----------
        table : pandas, polars or Arrow table, or array
            A column for each node, by name; others are not looked at.
        prior : Prior
            Imaginary rows in each row of a table.
        missing : {"leave-out", "em"}
            A row with a hole is left out of the tables that need it; or holes are filled by expectation and
            maximisation, which can learn nodes without a column too, but then rows cannot be added or forgotten.
        sample_weight : array-like, optional
            How often each row counts.
        columns : mapping, optional
            Node to "category" or "number", where what the column looks like is not what it is. Numbers are cut into
            five parts of as many rows each; what a column was taken for, and the cuts, stay.
        iterations, tolerance, random_state, verbose
            Of "em": the most rounds, the gain per row below which it ends, the seed for hidden nodes, and whether to
            show it.
        """
        from ingenuo.networks.from_rows import fit

        self._refuse_knowing()
        fit(self, table, prior, missing, sample_weight, columns, iterations, tolerance, random_state, verbose)
        return self

    def _refuse_knowing(self) -> None:
        if self._likelihoods or self._set:
            raise RefusedError(
                f"this is a network in which something is known ({self.evidence}), and it does not learn; let the "
                "network itself learn, and observe or intervene again"
            )

    def partial_fit(self, table: Any, sample_weight: Any = None) -> Self:
        """Learn from more rows; states never seen join, unless the states were declared."""
        self._refuse_knowing()
        if self.tally is None and self._tables is not None:
            raise self._no_tally("add rows to")
        codes, weights, cuts = columns_of(self, table, sample_weight)
        tally = learning.count(codes, self.nodes, self._parents, weights)
        self._learned(tally if self.tally is None else self.tally + tally, self._prior(), cuts, whole=False)
        return self

    def forget(self, table: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: the tables are then what they would be had the rows never been seen."""
        self._refuse_knowing()
        if self.tally is None:
            raise self._no_tally("take rows from")
        codes, weights, cuts = columns_of(self, table, sample_weight)
        rest = self.tally - learning.count(codes, self.nodes, self._parents, weights)
        learning.check(rest)
        self._learned(rest, self._prior(), cuts, whole=False)
        return self

    def merge(self, other: Self) -> Self:
        """Add the rows that another network of the same arcs has learned."""
        if not isinstance(other, Learning):
            raise KindError(f"a network can be merged with another, not with {type(other).__name__}")
        self._refuse_knowing()
        other._refuse_knowing()
        if self.tally is None or other.tally is None:
            raise self._no_tally("merge")
        if set(self.arcs) != set(other.arcs) or set(self.nodes) != set(other.nodes):
            odd = sorted(set(self.arcs) ^ set(other.arcs))
            what = f"{odd[0][0]} → {odd[0][1]} is in one of them only" if odd else "their nodes differ"
            raise MergeError(f"networks merge where their structure is the same: {what}")
        if self.parents != other.parents:
            raise MergeError("networks merge where their structure is the same: the order of parents differs")
        for node in self.nodes:
            if self.cuts.get(node) != other.cuts.get(node):
                raise MergeError(
                    f"networks merge where numbers are cut alike, and {node!r} is not; learn both from one network "
                    "with its cuts: fit a copy of it to each table"
                )
        for node, own in self._declared.items():
            strange = [state for state in other.states.get(node, []) if state not in own]
            if strange:
                raise MergeError(
                    f"the other network has a state {strange[0]!r} of {node!r}, which is none of the states that are "
                    "declared here"
                )
        self._learned(self.tally + other.tally, self._prior(), self.cuts)
        return self

    def __add__(self, other: Self) -> Self:
        return self._copy().merge(other)

    def _no_tally(self, what: str) -> RefusedError:
        return RefusedError(
            f"there are no counts to {what}: the tables were given, or learned by EM; learn them with fit(table) first"
        )

    def _prior(self) -> Prior:
        return self.prior if self.prior is not None else Laplace()

    def _learned(self, tally: Tally, prior: Prior, cuts: Mapping[str, Cuts], *, whole: bool = True) -> None:
        """Take these counts, and the tables that follow from them.

        If they are not the whole, a node may have no value yet, or no more; then there are no tables till it has one.
        """
        declared: dict[str, Labels] = {node: labels_of(own) for node, own in self._declared.items()}
        declared.update({node: np.arange(len(each.points) + 1) for node, each in cuts.items()})
        labels = learning.labels_known(tally, self.nodes, self._parents, declared, prior)
        empty = [node for node, own in zip(self.nodes, labels) if not len(own)]
        if empty and not whole:
            self.tally, self.prior, self.cuts = tally, prior, dict(cuts)
            self._tables, self._states, self._tree = None, None, None
            return
        if empty:
            raise InputError(
                f"node {empty[0]!r} has no value in any row, so it has no states; drop it, or declare them"
            )
        ordered = [
            objects(list(self._declared[node])) if node in self._declared else own
            for node, own in zip(self.nodes, labels)
        ]
        counts = learning.counts_over(tally, self.nodes, self._parents, ordered)
        tables, _ = learning.tables_of(self.nodes, counts, ordered, prior)
        self._take(tables, ordered, cuts)
        self.tally, self.prior, self.expectation = tally, prior, None

    def _take(self, tables: Sequence[Floats], labels: Sequence[Labels], cuts: Mapping[str, Cuts]) -> None:
        self.cuts = dict(cuts)
        self._states = tuple(
            cuts[node].names if node in cuts else tuple(states_of(own)) for node, own in zip(self.nodes, labels)
        )
        self._categories = frozenset(node for node in self.nodes if node not in cuts)
        self._tables = tuple(frozen(table) for table in tables)
        self._tree = None
