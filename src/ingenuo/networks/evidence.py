"""What is known of some nodes, as a likelihood for each of their states.

A node's evidence is a state (it is this), a mapping from state to likelihood (soft evidence: how well each state
explains what was seen), a mapping to zeros only (it is not these), or a list of states (it is one of these). Of a
node whose states are intervals it may be a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ImpossibleEvidenceError, KindError, NetworkError, did_you_mean
from ingenuo.families.discretise import Cuts
from ingenuo.tally.labels import is_missing

Floats = NDArray[np.float64]

TOLERANCE = 1e-6  # that probabilities which are given may miss a sum of 1 by


def place_of(nodes: Sequence[str], node: object) -> int:
    """The place of a node that is called by its name."""
    try:
        return nodes.index(node)  # type: ignore[arg-type]
    except ValueError:
        raise NetworkError(f"the network has no node {node!r}{did_you_mean(node, nodes)}") from None


def state_of(node: str, states: Sequence[Any], state: object, cuts: Cuts | None = None) -> int:
    """The place of a state: the same value, or one that is written the same; of an interval, any number in it."""
    found = written_alike(states, [state])
    if found:
        return found[0]
    if cuts is not None and isinstance(state, int | float | np.number) and not is_missing(state):
        return int(cuts.codes(np.array([float(state)]))[0])
    if cuts is not None and isinstance(state, str):
        try:
            return int(cuts.codes(np.array([float(state)]))[0])
        except ValueError:
            pass
    shown = did_you_mean(state, states) or f"; it has {len(states)} states"
    raise NetworkError(f"node {node!r} has no state {state!r}{shown}")


def _same(states: Sequence[Any], state: object) -> int | None:
    for place, known in enumerate(states):
        if type(known) is type(state) and known == state:
            return place
    written = _written(state)
    for place, known in enumerate(states):
        if _written(known) == written:
            return place
    return None


def _written(state: object) -> str:
    """A state as text: 1.0, as which a whole number comes from a column with missing values, is 1."""
    whole = isinstance(state, float | np.floating) and float(state).is_integer()
    return str(int(state)) if whole else str(state)  # type: ignore[call-overload]


def written_alike(states: Sequence[Any], labels: Sequence[Any]) -> dict[int, int]:
    """Which label is which state, where they are the same, or written the same but for capitals and one reading."""
    folded: dict[str, list[int]] = {}
    for place, state in enumerate(states):
        folded.setdefault(_written(state).casefold(), []).append(place)
    found = {}
    for at, label in enumerate(labels):
        same = _same(states, label)
        near = [same] if same is not None else folded.get(_written(label).casefold(), [])
        if len(near) == 1:
            found[at] = near[0]
    return found


def likelihoods(
    nodes: Sequence[str],
    states: Sequence[Sequence[Any]],
    evidence: Mapping[str, Any] | None,
    cuts: Mapping[str, Cuts],
) -> dict[int, Floats]:
    """Of each node that something is known of, how likely each of its states makes that; missing values say nothing."""
    if evidence is None:
        return {}
    if not isinstance(evidence, Mapping):
        raise KindError(
            f"evidence must be a mapping from node to state, got {type(evidence).__name__} {evidence!r}; "
            "for example evidence={'smoke': 'yes'}"
        )
    found = {}
    for node, given in evidence.items():
        place = place_of(nodes, node)
        if not is_missing(given):
            found[place] = _likelihood(node, states[place], given, cuts.get(node))
    return found


def _likelihood(node: str, states: Sequence[Any], given: Any, cuts: Cuts | None) -> Floats:
    result = np.zeros(len(states))
    if isinstance(given, Mapping):
        if not given:
            raise NetworkError(f"the evidence on {node!r} names no state; leave it out, or name one")
        named = {state_of(node, states, state, cuts): value for state, value in given.items()}
        for value in named.values():
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
                raise NetworkError(
                    f"the likelihood of a state of {node!r} is {value!r}; it must be a number, finite and not negative"
                )
        if len(named) < len(states):
            if any(value != 0 for value in named.values()):
                absent = next(state for place, state in enumerate(states) if place not in named)
                raise NetworkError(
                    f"soft evidence on {node!r} must give every state a likelihood, and {absent!r} has none; "
                    "name all of them, or only those it is not, with 0"
                )
            result[:] = 1.0
        for place, value in named.items():
            result[place] = value
    elif isinstance(given, list | tuple | set | frozenset) and not any(given == state for state in states):
        for state in given:
            result[state_of(node, states, state, cuts)] = 1.0
    else:
        result[state_of(node, states, given, cuts)] = 1.0
    if not result.any():
        raise ImpossibleEvidenceError(f"the evidence on {node!r} leaves it no state at all; one must be possible")
    return result


def set_values(
    nodes: Sequence[str], states: Sequence[Sequence[Any]], values: Mapping[str, Any], cuts: Mapping[str, Cuts]
) -> dict[int, Floats]:
    """Of each node that is set, the probability of each of its states: one has it all, or a mapping gives them."""
    found = {}
    for node, given in values.items():
        place = place_of(nodes, node)
        shares = np.zeros(len(states[place]))
        if isinstance(given, Mapping):
            for state, share in given.items():
                if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 <= share <= 1:
                    raise NetworkError(f"{node!r} is set with {share!r} for {state!r}; a probability is from 0 to 1")
                shares[state_of(node, states[place], state, cuts.get(node))] = share
            if abs(shares.sum() - 1) > TOLERANCE:
                raise NetworkError(
                    f"the probabilities with which {node!r} is set sum to {shares.sum():.6g} instead of 1"
                )
            shares /= shares.sum()
        elif isinstance(given, list | tuple | set | frozenset) and not any(given == state for state in states[place]):
            raise NetworkError(
                f"{node!r} is set to {given!r}; set it to one state, or give a mapping from state to probability"
            )
        else:
            shares[state_of(node, states[place], given, cuts.get(node))] = 1.0
        found[place] = shares
    return found


def combined(one: Mapping[int, Floats], two: Mapping[int, Floats], nodes: Sequence[str]) -> dict[int, Floats]:
    """Both together; what contradicts itself is refused."""
    result = dict(one)
    for place, likelihood in two.items():
        result[place] = result[place] * likelihood if place in result else likelihood
        if not result[place].any():
            raise ImpossibleEvidenceError(
                f"the evidence on {nodes[place]!r} contradicts what was observed of it before; observe one of the two"
            )
    return result


def shown(
    nodes: Sequence[str], states: Sequence[Sequence[Any]], known: Mapping[int, Floats], *, likely: bool = True
) -> str:
    """Evidence as a person writes it; or, if the figures are no likelihoods, how nodes are set."""
    parts = []
    for place, likelihood in known.items():
        possible = np.flatnonzero(likelihood)
        own = states[place]
        if len(possible) == 1:
            parts.append(f"{nodes[place]} = {own[possible[0]]}")
        elif likely and len(possible) == len(own) - 1 and len(set(likelihood[possible].tolist())) == 1:
            parts.append(f"{nodes[place]} ≠ {own[int(np.flatnonzero(likelihood == 0)[0])]}")
        else:
            listed = ", ".join(f"{own[i]} {likelihood[i]:g}" for i in range(len(own)))
            parts.append(f"{nodes[place]} ~ ({listed})")
    return ", ".join(parts)
