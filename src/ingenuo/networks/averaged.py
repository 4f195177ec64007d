"""Averaged one-dependence estimators (Webb, Boughton and Wang 2005): a network that is an average of networks.

Each attribute in turn is the parent of all the others beside the class, and the joint probabilities are averaged:

    P(y, x)  =  mean over p of  P(y, x_p) Π_j P(x_j | y, x_p)

Only values that were seen often enough may be parents. There is no structure to search, so that the counts of all
pairs, by class, are all there is to learn: they add and subtract.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import TooWideError
from ingenuo.families.categorical import column_codes, frequencies
from ingenuo.kernels import codes as loops
from ingenuo.language import say
from ingenuo.networks.learn import CELLS, ROWS, count_rows, count_states, table_name
from ingenuo.networks.trees import spans, sum_pairs
from ingenuo.rows.part import Codes
from ingenuo.show.arithmetic import Factor, Term, exponential, logs
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, objects, unite
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]


def pair_name(one: str, two: str) -> str:
    """The name of the table of two attributes by class; in quotes, for names may have any character."""
    return f"pair:{one!r}|{two!r}"


def count(codes: Codes, labels: NDArray[Any], classes: Labels, weights: Floats | None) -> Tally:
    """How often each value, and each pair of values, meets each class."""
    assert codes.labels is not None
    K, names, sizes = len(classes), [str(name) for name in codes.names.tolist()], [len(own) for own in codes.labels]
    refuse_large(sizes, K)
    columns = [np.asarray(column_codes(codes, j)) for j in range(len(names))]
    axes = [{f"{name}:": own} for name, own in zip(names, codes.labels)]
    tables = {ROWS: Table.of({"all": [0]}, count_rows(codes.n_rows, weights))}
    for j, name in enumerate(names):
        sums = count_states(labels.astype(np.int64), columns[j], (K, sizes[j]), weights)
        tables[table_name(name)] = Table.of({"class": classes, **axes[j]}, sums)
    firsts = range(len(names) - 1)
    pairs = sum_pairs(loops.codes_matrix(columns, sizes), sizes, labels, K, weights, firsts)
    for i, j, start, end in spans(sizes, K, firsts):
        limbs = pairs.limbs[:, start:end].reshape(len(pairs.limbs), K, sizes[i], sizes[j])
        sums = Exact.canonical(limbs, pairs.low)
        tables[pair_name(names[i], names[j])] = Table.of({"class": classes, **axes[i], **axes[j]}, sums)
    return Tally(tables)


def refuse_large(sizes: list[int], n_classes: int) -> None:
    """Raise where the tables of all pairs would have too many cells."""
    cells = n_classes * (sum(sizes) ** 2 - sum(size**2 for size in sizes))
    if cells > 4 * CELLS:
        raise TooWideError(
            f"the tables of all pairs of columns would have {cells:,} cells, and {4 * CELLS:,} are the most; leave out "
            "columns of very many values, or take structure='tan'"
        )


@dataclass(frozen=True)
class Averaged:
    """The logs of all tables, as the loops read them."""

    names: tuple[str, ...]
    labels: tuple[Labels, ...]
    roots: Floats  # (values of all attributes) × classes: log P(class, value)
    root_at: NDArray[np.int64]
    pairs: Floats
    pair_at: NDArray[np.int64]
    sizes: NDArray[np.int64]
    usable: NDArray[np.bool_]  # of each value, whether it may be a parent
    naive: Floats
    shares: Floats  # of the classes

    @property
    def n_parameters(self) -> int:
        """Of each network: P(class, parent's value), and the share of each value of the others given those."""
        values, K = self.sizes.astype(int).tolist(), len(self.shares)
        rest = sum(values) - len(values)
        return sum(K * v - 1 + K * v * (rest - (v - 1)) for v in values)

    def joint(self, codes: NDArray[np.int32], floor: float | None = None) -> Floats:
        """The log joint of each row and class."""
        tables = (self.roots, self.pairs, self.naive)
        roots, pairs, naive = (each if floor is None else np.maximum(each, floor) for each in tables)
        K = self.roots.shape[1]
        return loops.average_parents(codes, roots, self.root_at, pairs, self.pair_at, self.sizes, self.usable, naive, K)

    def sheet_scorer(self, nodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """How rows are answered, as a sheet has it: the tables as they are added up in `loops.average_parents`."""
        tables = {"roots": self.roots, "pairs": self.pairs, "naive": self.naive}
        places = {"root_at": self.root_at, "pair_at": self.pair_at, "sizes": self.sizes, "usable": self.usable}
        plain = {name: each.astype(np.float64) for name, each in places.items()}
        return {"op": "averaged", "nodes": list(nodes[1:]), "classes": nodes[0]["names"], **tables, **plain}

    def models(self, codes: NDArray[np.int32]) -> list[tuple[int, Floats]]:
        """Of one row, each attribute that may be the parent and the log joint with it as such."""
        found = []
        for p, x in enumerate(codes.tolist()):
            if x < 0 or not self.usable[self.root_at[p] + x]:
                continue
            only = np.arange(len(self.usable)) == self.root_at[p] + x
            found.append((p, replace(self, usable=only).joint(codes[np.newaxis])[0]))
        return found

    def factors(
        self,
        nodes: Sequence[str],
        states: Sequence[Sequence[str]],
        codes: Sequence[int],
        shown: Sequence[str],
        joint: Floats,
    ) -> list[Factor]:
        """The product with each attribute as the parent, and their mean."""
        factors = [Factor(say("prior"), "", note=say("in each of the products below"))]
        models = dict(self.models(np.array(codes, np.int32)))
        for j, name in enumerate(self.names):
            if j in models:
                each = ", ".join(f"{label} {exponential(log):.6g}" for label, log in zip(states[0], models[j].tolist()))
                factors.append(Factor(name, shown[j], note=say("as parent of the others: {each}", each=each)))
            else:
                why = say("missing: no parent" if not shown[j] else "too rare to be a parent")
                note = say("never seen: no parent") if shown[j] and codes[j] < 0 else why
                factors.append(Factor(name, shown[j] or say("missing"), note=note))
        how = say("mean of {n}", n=len(models)) if models else say("naive product")
        terms = tuple(Term(how, exponential(log), log) for log in joint.tolist())
        factors.append(Factor(say("all"), say("averaged" if models else "no value can be a parent"), terms))
        return factors


def estimate(
    tally: Tally, names: list[str], declared: dict[str, Labels], classes: Labels, prior: Prior, frequency: float
) -> Averaged:
    """All the tables, from the counts and the prior."""
    labels = []
    for name in names:
        own = unite(tally.labels(table_name(name), 1), declared.get(name, np.zeros(0, np.int64)))
        own = unite(own, prior.known(own, name))
        labels.append(own if len(own) else objects([None]))  # all of its values were forgotten
    sizes = [len(own) for own in labels]
    K, d = len(classes), len(names)
    refuse_large(sizes, K)
    pseudo = [prior.pseudo_counts(own, name) for name, own in zip(names, labels)]
    rows = tally.over("class", classes).floats()
    shares = frequencies(rows[np.newaxis], prior.pseudo_counts(classes))[0]
    roots, usable, naive = [], [], []
    for j, name in enumerate(names):
        single = tally.over(table_name(name), classes, labels[j]).floats()
        imagined = single + pseudo[j]
        roots.append(logs(imagined / imagined.sum()).T if imagined.sum() else logs(np.full(imagined.T.shape, 0.0)))
        usable.append((single.sum(axis=0) >= max(frequency, np.finfo(float).tiny)) & (d > 1))
        naive.append(logs(frequencies(single, pseudo[j])).T)
    root_at = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    pair_at = np.zeros((d, d), np.int64)
    pieces: list[Floats] = []
    place = 0
    for i in range(d):
        for j in range(i + 1, d):
            both = tally.over(pair_name(names[i], names[j]), classes, labels[i], labels[j]).floats()
            for p, c, counts in ((i, j, both), (j, i, both.transpose(0, 2, 1))):
                flat = np.ascontiguousarray(counts.transpose(1, 0, 2)).reshape(-1, sizes[c])  # (value of p, class)
                theta = frequencies(flat, pseudo[c]).reshape(sizes[p], K, sizes[c])
                pieces.append(logs(theta.transpose(0, 2, 1).reshape(-1, K)))
                pair_at[p, c] = place
                place += sizes[p] * sizes[c]
    return Averaged(
        tuple(names),
        tuple(labels),
        np.ascontiguousarray(np.concatenate(roots)),
        root_at,
        np.ascontiguousarray(np.concatenate(pieces)) if pieces else np.zeros((0, K)),
        pair_at,
        np.array(sizes, np.int64),
        np.concatenate(usable),
        np.ascontiguousarray(np.concatenate([*naive, logs(shares)[np.newaxis]])),
        shares,
    )
