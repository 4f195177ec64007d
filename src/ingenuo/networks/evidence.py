"""What is known of some nodes, as a likelihood for each of their states.

A node's evidence is a state (it is this), a mapping from state to likelihood (soft evidence: how well each state
explains what was seen), a mapping to zeros only (it is not these), or a list of states (it is one of these). Of a
node whose states are intervals it may be a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ImpossibleEvidenceError, KindError, NetworkError, did_you_mean
from ingenuo.families.discretise import Cuts
from ingenuo.tally.labels import is_missing

Floats = NDArray[np.float64]
States = Sequence[Any]

TOLERANCE = 1e-6  # that probabilities which are given may miss a sum of 1 by


def place_of(nodes: Sequence[str], node: object) -> int:
    """The place of a node that is called by its name."""
    try:
        return nodes.index(node)  # type: ignore[arg-type]
    except ValueError:
        raise NetworkError(f"the network has no node {node!r}{did_you_mean(node, nodes)}") from None


def match_states(states: States, labels: Sequence[Any]) -> list[int]:
    """Of each label the state that is the same, or written the same but for capitals and one reading; else -1."""
    exact, texts, folded = dict[Any, int](), dict[str, int](), dict[str, list[int]]()
    for place, state in enumerate(states):
        text = _text_of(state)
        exact.setdefault((type(state), text), place)
        texts.setdefault(text, place)
        folded.setdefault(text.casefold(), []).append(place)
    found = []
    for label in labels:
        text = _text_of(label)
        near = folded.get(text.casefold(), [])
        found.append(exact.get((type(label), text), texts.get(text, near[0] if len(near) == 1 else -1)))
    return found


def _text_of(state: object) -> str:
    """A state as text: 1.0, as which a whole number comes from a column with missing values, is 1."""
    whole = isinstance(state, float | np.floating) and float(state).is_integer()
    return str(int(state)) if whole else str(state)  # type: ignore[call-overload]


def find_state(node: str, states: States, state: object, cuts: Cuts | None = None) -> int:
    """The place of a state, as it is matched; of an interval, any number in it."""
    (found,) = match_states(states, [state])
    if found < 0 and cuts is not None and isinstance(state, int | float | np.number | str) and not is_missing(state):
        with suppress(ValueError):
            found = int(cuts.codes(np.array([float(state)]))[0])
    if found < 0:
        shown = did_you_mean(state, states) or f"; it has {len(states)} states"
        raise NetworkError(f"node {node!r} has no state {state!r}{shown}")
    return found


def _lists_states(states: States, given: Any) -> bool:
    return isinstance(given, list | tuple | set | frozenset) and not any(given == state for state in states)


def likelihoods(
    nodes: Sequence[str], states: Sequence[States], evidence: Mapping[str, Any] | None, cuts: Mapping[str, Cuts]
) -> dict[int, Floats]:
    """Of each node that something is known of, how likely each of its states makes that; missing values say nothing."""
    if not isinstance(evidence, Mapping | None):
        raise KindError(
            f"evidence must be a mapping from node to state, got {type(evidence).__name__} {evidence!r}; "
            "for example evidence={'smoke': 'yes'}"
        )
    places = {node: place_of(nodes, node) for node in evidence or {}}
    return {
        places[node]: _likelihood(node, states[places[node]], given, cuts.get(node))
        for node, given in (evidence or {}).items()
        if not is_missing(given)
    }


def _likelihood(node: str, states: States, given: Any, cuts: Cuts | None) -> Floats:
    named = given if _lists_states(states, given) or isinstance(given, Mapping) else [given]
    places = [find_state(node, states, state, cuts) for state in named]
    values = list(given.values()) if isinstance(given, Mapping) else [1.0] * len(places)
    for value in values:
        if not _is_number(value) or not 0 <= value < np.inf:
            raise NetworkError(
                f"the likelihood of a state of {node!r} is {value!r}; it must be a number, finite and not negative"
            )
    result = np.zeros(len(states))
    if isinstance(given, Mapping) and len(set(places)) < len(states):
        if not given:
            raise NetworkError(f"the evidence on {node!r} names no state; leave it out, or name one")
        if any(value != 0 for value in values):
            absent = next(state for place, state in enumerate(states) if place not in places)
            raise NetworkError(
                f"soft evidence on {node!r} must give every state a likelihood, and {absent!r} has none; "
                "name all of them, or only those it is not, with 0"
            )
        result[:] = 1.0
    result[places] = values
    if not result.any():
        raise ImpossibleEvidenceError(f"the evidence on {node!r} leaves it no state at all; one must be possible")
    return result


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def probabilities(node: str, states: States, given: Any, cuts: Cuts | None) -> Floats:
    """With which probability a node that is set has each of its states: one has it all, or a mapping gives them."""
    if _lists_states(states, given):
        raise NetworkError(
            f"{node!r} is set to {given!r}; set it to one state, or give a mapping from state to probability"
        )
    shares = np.zeros(len(states))
    for state, share in given.items() if isinstance(given, Mapping) else [(given, 1.0)]:
        if not _is_number(share) or not 0 <= share <= 1:
            raise NetworkError(f"{node!r} is set with {share!r} for {state!r}; a probability is from 0 to 1")
        shares[find_state(node, states, state, cuts)] = share
    if abs(shares.sum() - 1) > TOLERANCE:
        raise NetworkError(f"the probabilities with which {node!r} is set sum to {shares.sum():.6g} instead of 1")
    return np.asarray(shares / shares.sum())


def describe(
    nodes: Sequence[str], states: Sequence[States], known: Mapping[int, Floats], *, likely: bool = True
) -> str:
    """Evidence as a person writes it; or, if the figures are no likelihoods, how nodes are set."""
    parts = []
    for place, figures in known.items():
        own, possible = states[place], np.flatnonzero(figures)
        if len(possible) == 1:
            parts.append(f"{nodes[place]} = {own[possible[0]]}")
        elif likely and len(possible) == len(own) - 1 and len(set(figures[possible].tolist())) == 1:
            parts.append(f"{nodes[place]} ≠ {own[int(np.argmin(figures))]}")
        else:
            parts.append(f"{nodes[place]} ~ ({', '.join(f'{state} {x:g}' for state, x in zip(own, figures))})")
    return ", ".join(parts)
