"""The network: nodes with named states, arcs without cycles, a table for each node."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import NetworkError
from ingenuo.labels import objects
from ingenuo.networks import evidence as known
from ingenuo.networks import showing
from ingenuo.networks.asking import Asking, Evidence, MostProbable
from ingenuo.networks.cuts import PARTS, Cuts
from ingenuo.networks.definition import Definition
from ingenuo.networks.learnable import Learning
from ingenuo.prior import Laplace, Prior

Floats = NDArray[np.float64]

__all__ = ["MostProbable", "Network"]


class Network(Learning, Asking):
    """A Bayesian network: made by an expert (`from_arcs`, `read`), or learned from rows (`learn`, `fit`).

    >>> network = Network.from_arcs(
    ...     [("rain", "wet"), ("sprinkler", "wet")],
    ...     tables={
    ...         "rain": {"yes": 0.2, "no": 0.8},
    ...         "sprinkler": {"on": 0.1, "off": 0.9},
    ...         "wet": {
    ...             ("yes", "on"): {"yes": 0.99, "no": 0.01},
    ...             ("yes", "off"): {"yes": 0.9, "no": 0.1},
    ...             ("no", "on"): {"yes": 0.9, "no": 0.1},
    ...             ("no", "off"): {"yes": 0.0, "no": 1.0},
    ...         },
    ...     },
    ... )
    >>> {state: round(p, 4) for state, p in network.posterior("rain", {"wet": "yes"}).items()}
    {'yes': 0.7163, 'no': 0.2837}
    """

    # Where networks come from.

    @staticmethod
    def from_arcs(
        arcs: Iterable[tuple[str, str]],
        *,
        states: Mapping[str, Sequence[Any]] | None = None,
        tables: Mapping[str, Any] | None = None,
        nodes: Iterable[str] = (),
        name: str = "network",
    ) -> Network:
        """A network from its arcs, and perhaps its states and tables; else `fit` learns those from rows.

        Parameters
        ----------
        arcs : pairs (from, to)
            The order of a node's parents is that of its arcs.
        states : mapping, optional
            Node to the list of its states. Those of a table that is a mapping need not be given.
        tables : mapping, optional
            Node to its table: a list of probabilities, or a mapping from state to probability (a state that is left
            out has 0), where it has no parents; else a mapping from a state of the parent, or a tuple of the parents'
            states, to such a list; or an array with an axis for each parent and the node's own last.
        nodes : optional
            Nodes that no arc names, or the order of all.
        name : str
            What the network is called, in files.
        """
        from ingenuo.networks.by_hand import check_states, definition, structure

        names, parents = structure(arcs, nodes, states, tables)
        check_states(states)
        if tables is None:
            return Network(names, parents, states, name=name)
        return Network.of(definition(names, parents, states or {}, tables, name))

    @staticmethod
    def of(definition: Definition) -> Network:
        """The network that a definition defines."""
        return Network(
            definition.nodes,
            definition.parents,
            dict(zip(definition.nodes, definition.states)),
            definition.tables,
            name=definition.name,
            cuts={node: Cuts(tuple(points)) for node, points in definition.cuts.items()},
        )

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Network:
        """A network from a file: .bif, .xml (XMLBIF), .json or .yaml, each perhaps with .gz behind."""
        from ingenuo.networks import files

        return Network.of(files.read(path))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file, whole or not at all; the ending says the format, as for `read`."""
        from ingenuo.networks import files

        if self._likelihoods:
            raise NetworkError(f"a network is written as it is, not with what was observed ({self.evidence})")
        files.write(self.definition, path)

    @staticmethod
    def learn(
        table: Any,
        structure: str = "hill-climb",
        *,
        target: str | None = None,
        columns: Mapping[Any, Any] | None = None,
        prior: Prior = Laplace(),  # noqa: B008 (immutable)
        score: str | None = None,
        ess: float = 1.0,
        max_parents: int | None = None,
        tabu: int = 20,
        restarts: int = 0,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        order: Sequence[str] | None = None,
        root: str | None = None,
        k: int = 2,
        missing: str = "leave-out",
        sample_weight: Any = None,
        bins: int = PARTS,
        random_state: Any = 0,
        verbose: bool | None = None,
    ) -> Network:
        """Learn the structure and the tables from rows.

        Parameters
        ----------
        table : pandas, polars or Arrow table, or array
            A column for each node. Numbers are cut into intervals (by the target, where there is one), whole numbers
            of ten values at most are states, text is refused.
        structure : {"hill-climb", "k2", "chow-liu", "tan", "kdb", "naive"}
            How to search.
        target : str, optional
            The class; "tan", "kdb" and "naive" hang all on it.
        columns : mapping, optional
            Column to "category", "number", "ignore", or a list of states.
        prior : Prior
            Imaginary rows in each row of a table; `Laplace()` by default.
        score : {"bic", "bdeu", "k2", "aic"}, optional
            What hill-climbing ("bic" by default) and K2 ("k2") climb; `ess` is the equivalent sample size of "bdeu".
        ess, max_parents, tabu, restarts, required, forbidden, random_state
            Limits of the search: the most parents, how many steps downhill are tried, how often it begins anew,
            arcs that must or must not be.
        order, root, k
            Of "k2" the order of the nodes; of trees the root; of "kdb" how many parents besides the class.
        missing, sample_weight, bins, verbose
            As in `fit`; the number of intervals without a target; whether progress is shown.
        """
        from ingenuo.networks.from_rows import learn
        from ingenuo.networks.searching import Options

        options = Options(
            structure,
            score if score is not None else "k2" if structure == "k2" else "bic",
            ess,
            k,
            order,
            root,
            max_parents,
            tabu,
            restarts,
            tuple(required),
            tuple(forbidden),
            random_state,
            verbose,
        )
        return learn(
            table,
            options,
            target=target,
            columns=columns,
            prior=prior,
            bins=bins,
            missing=missing,
            sample_weight=sample_weight,
        )

    # Rows.

    def predict_proba(self, table: Any, node: str) -> Floats:
        """P(node | the other columns) for each row: rows × states. Holes and states never seen are summed out."""
        from ingenuo.networks.from_rows import posteriors_of_rows

        return posteriors_of_rows(self, table, known.place_of(self.nodes, node))

    def predict(self, table: Any, node: str) -> NDArray[Any]:
        """The most probable state of the node, for each row."""
        best = self.predict_proba(table, node).argmax(axis=1)
        return np.asarray(objects(list(self._known_states()[known.place_of(self.nodes, node)]))[best])

    def log_likelihood(self, table: Any) -> Floats:
        """log P(row) of each row; holes are summed out."""
        from ingenuo.networks.from_rows import log_likelihoods

        return log_likelihoods(self, table)

    def score(self, table: Any, score: str = "bic", ess: float = 1.0) -> float:
        """How well the structure suits the rows: "bic", "bdeu", "k2", "aic" (higher is better) or "log-likelihood"."""
        from ingenuo.networks.from_rows import score_of

        return score_of(self, table, score, ess)

    def distance(self, other: Network) -> dict[str, int]:
        """How far another structure over the same nodes is from this one.

        "pattern" is the structural Hamming distance of the two equivalence classes: edges that are missing, extra, or
        differently directed; "arcs" counts the same of the graphs themselves, and "skeleton" without directions.
        """
        from ingenuo.networks.structure import hamming

        if set(self.nodes) != set(other.nodes):
            odd = sorted(set(self.nodes) ^ set(other.nodes))
            raise NetworkError(f"networks are compared over the same nodes; {odd[0]!r} is in one of them only")
        at = [other.nodes.index(node) for node in self.nodes]
        back = {place: i for i, place in enumerate(at)}
        theirs = [tuple(back[up] for up in other._parents[place]) for place in at]
        return hamming(theirs, self._parents)

    # Seeing it.

    def draw(
        self,
        path: str | os.PathLike[str] | None = None,
        evidence: Evidence = None,
        *,
        beliefs: bool = True,
        strengths: bool = True,
        title: str | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw it: boxes with belief bars in layers, arcs as thick as they are strong.

        Parameters
        ----------
        path : path, optional
            Where to write it: .svg, or .png, .pdf by matplotlib.
        evidence : mapping, optional
            Beliefs are given this; as in `posterior`.
        beliefs, strengths : bool
            Whether to draw the bars, and the strengths.
        title : str, optional
            What to write above it.
        ax : matplotlib axes, optional
            Draw there instead.

        Returns
        -------
        Picture
            SVG that a notebook shows; `str` of it is its text. With ax, the axes.
        """
        return showing.draw(self, path, evidence, beliefs=beliefs, strengths=strengths, title=title, ax=ax)

    def _repr_html_(self) -> str:
        return showing.html(self)

    def __str__(self) -> str:
        return showing.summary(self)

    def __repr__(self) -> str:
        return f"<Network {showing.counted(self)}>"
