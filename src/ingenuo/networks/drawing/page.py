"""A network for notebooks: its picture, which scrolls, and a table of its nodes beneath."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ingenuo.explanation import STYLE
from ingenuo.explanation.beliefs import html_table
from ingenuo.networks.drawing.geometry import Drawing
from ingenuo.networks.drawing.letters import clean
from ingenuo.networks.drawing.svg import svg

MOST_NAMED = 8  # states or parents in a cell of the table


def html(
    drawing: Drawing,
    nodes: Sequence[str],
    states: Sequence[Sequence[Any]],
    parents: Sequence[Sequence[int]],
    height: int = 560,
) -> str:
    """The picture of a network and a table of its nodes, each no higher than a limit.

    Parameters
    ----------
    drawing : Drawing
        What `ingenuo.networks.drawing.geometry.drawing` gives.
    nodes, states, parents : sequences
        The name of each node, its states, and the places of its parents.
    height : int
        Pixels that the picture may be high before it scrolls; the table gets half of that.

    Examples
    --------
    >>> from ingenuo.networks.drawing.geometry import drawing
    >>> from ingenuo.networks.drawing.page import html
    >>> network = ["rain", "wet"], [["yes", "no"]] * 2, [(), (0,)]
    >>> "<td>wet</td><td>yes, no</td><td>rain</td><td>4</td>" in html(drawing(*network), *network)
    True
    """
    scrolls = "overflow:auto;max-width:100%"
    table = html_table(summary(nodes, states, parents))
    return (
        f"<div><style>{STYLE}</style>"
        f"<div style='{scrolls};max-height:{height}px;background:#ffffff'>{svg(drawing)}</div>"
        f"<div style='{scrolls};max-height:{height // 2}px;margin-top:.6em'>{table}</div></div>"
    )


def summary(nodes: Sequence[str], states: Sequence[Sequence[Any]], parents: Sequence[Sequence[int]]) -> list[list[str]]:
    """A row of cells for each node, after their heads: its name, states, parents and the cells of its table.

    Examples
    --------
    >>> from ingenuo.networks.drawing.page import summary
    >>> summary(["rain", "wet"], [["yes", "no"]] * 2, [(), (0,)])[1:]
    [['rain', 'yes, no', '', '2'], ['wet', 'yes, no', 'rain', '4']]
    """
    lines = [["node", "states", "parents", "cells"]]
    for name, its_states, above in zip(nodes, states, parents):
        cells = len(its_states) * prod(len(states[p]) for p in above)
        counted = f"{cells:,}" if cells else ""  # states may not be known yet
        lines.append([clean(name), _named(its_states), _named([nodes[p] for p in above]), counted])
    return lines


def _named(things: Sequence[Any]) -> str:
    shown = ", ".join(clean(thing) for thing in things[:MOST_NAMED])
    return shown if len(things) <= MOST_NAMED else f"{shown}, … {len(things) - MOST_NAMED} more"
