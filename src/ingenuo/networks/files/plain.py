"""Networks that an expert writes by hand, in YAML, of which JSON is a part.

::

    network: weather
    nodes:
      play: {states: [no, yes], table: [0.37, 0.63]}
      windy:
        states: [calm, windy]
        parents: [play, outlook]
        table:
          no, sunny: [0.5, 0.5]            # the parents' states in their order, or
          yes: {sunny: [0.4, 0.6]}         # one below the other
        default: [0.7, 0.3]                # all rows that are not given

Where states are intervals of numbers, `cuts: [15.5, 22]` says where: up to the first, up to the second, above.
Without names, a table is lists in lists, in the order of the states. Every state is text: `no` is "no" and 3 is "3".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import NetworkFileError, did_you_mean
from ingenuo.networks.build import Builder, Definition, shown, text_of

_MAX_DEPTH = 100  # parents one below the other in a table, and then some


def from_yaml(text: str, name: str) -> Definition:
    """The network that a text in YAML describes; `name` is what errors call the text.

    >>> from_yaml("nodes: {a: {states: [no, yes], table: [0.4, 0.6]}}", "n").states
    [['no', 'yes']]
    """
    import yaml

    def fault(mark: Any, what: str) -> NetworkFileError:
        return NetworkFileError(f"{name}, line {mark.line + 1}, column {mark.column + 1}: {what}")

    # The document is put together from the parser's events: all scalars stay text, nothing is made that a file asks
    # for, and how deep lists stand in lists is bounded.
    events = yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    anchors: dict[str, Any] = {}

    def value(event: Any, depth: int) -> Any:
        if isinstance(event, yaml.AliasEvent) and event.anchor not in anchors:
            raise fault(event.start_mark, f"there is no anchor &{event.anchor} before this alias")
        if isinstance(event, yaml.AliasEvent):
            return anchors[event.anchor]
        found: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        if isinstance(event, yaml.ScalarEvent):
            found = event.value
        elif depth == _MAX_DEPTH:
            raise fault(event.start_mark, "lists stand in lists too many times to be a network")
        while not isinstance(found, str) and not isinstance(item := next(events), yaml.CollectionEndEvent):
            inner = value(item, depth + 1)
            if isinstance(found, list):
                found.append(inner)
            elif not isinstance(inner, str):
                raise fault(item.start_mark, "found a list or mapping as a name, expected text")
            elif inner in found:
                raise fault(item.start_mark, f"the name {inner!r} stands twice in one mapping; name each thing once")
            else:
                found[inner] = value(next(events), depth + 1)
        if event.anchor:
            anchors[event.anchor] = found
        return found

    document, documents = None, 0
    try:
        for event in events:
            documents += isinstance(event, yaml.DocumentStartEvent)
            if documents > 1:
                raise fault(event.start_mark, "found a second document, expected one network in a file")
            if isinstance(event, yaml.NodeEvent):
                document = value(event, 0)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = f"this is no sound YAML ({error.problem or error.context}); mend it there"
        raise (fault(mark, what) if mark else NetworkFileError(f"{name}: {what}")) from None
    except (yaml.YAMLError, UnicodeError) as error:
        line = text.encode(errors="replace")[: getattr(error, "position", 0)].count(b"\n") + 1
        what = f"this is no sound YAML ({str(error).splitlines()[0]}); mend it there"
        raise NetworkFileError(f"{name}, line {line}: {what}") from None
    return _definition(document, name, len(text))


def _definition(document: Any, name: str, size: int) -> Definition:
    """The network that mappings, lists and text describe, in a file of so many characters."""
    builder = Builder(lambda mark: name, size)

    def mapping(value: Any, what: str, known: Sequence[str] = ()) -> dict[str, Any]:
        if not isinstance(value, dict):
            expected = f"a mapping with {', '.join(map(repr, known))}" if known else "a mapping from names to nodes"
            raise builder.fault(None, f"found {shown(value)} in {what}, expected {expected}")
        for key in value if known else ():
            if key not in known:
                raise builder.fault(None, f"{what} has {key!r}, which has no meaning here{did_you_mean(key, known)}")
        return value

    def names(value: Any, what: str, like: str) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise builder.fault(None, f"found {shown(value)} as {what}, expected a list of {like}")
        return value

    parts = mapping(document, "the file", ("network", "nodes"))
    called = parts.get("network", "network")
    if not isinstance(called, str):
        raise builder.fault(None, f"found {shown(called)} as the network's name, expected text")
    builder.name = called
    known = ("states", "cuts", "parents", "table", "default")
    nodes = {
        node: mapping(own, f"the node {node!r}", known) for node, own in mapping(parts.get("nodes"), "'nodes'").items()
    }
    for node, own in nodes.items():
        builder.add_node(node, names(own.get("states"), f"the states of {node!r}", "names, as [low, high]"), None)
    cuts = {}
    for node, own in nodes.items():
        parents = names(own.get("parents", []), f"the parents of {node!r}", "nodes, as [a, b]")
        if not own.keys() & {"table", "default"}:
            raise builder.fault(None, f"the node {node!r} has no table; add one")
        builder.add_nested(builder.family(node, parents, None), own.get("table"), own.get("default"))
        if "cuts" in own:
            given, what, n = own["cuts"], f"the cuts of {node!r}", len(own["states"])
            if not isinstance(given, list):
                raise builder.fault(None, f"found {shown(given)} as {what}, expected a list of numbers")
            cuts[node] = tuple(builder.number(point, what) for point in given)
            if len(given) != n - 1 or any(a >= b for a, b in pairwise(cuts[node])):
                raise builder.fault(None, f"{what} must ascend, and be one fewer than its {n} states; mend them")
    return replace(builder.definition(name), cuts=cuts)


def to_yaml(definition: Definition) -> str:
    """A network as YAML, every number in full; states become text."""
    import yaml

    states, nodes = [[text_of(state) for state in own] for own in definition.states], {}
    for node, own, parents, table in zip(definition.nodes, states, definition.parents, definition.tables):
        nodes[node] = {
            "states": own,
            **({"cuts": list(definition.cuts[node])} if node in definition.cuts else {}),
            **({"parents": [definition.nodes[parent] for parent in parents]} if parents else {}),
            "table": _rows(table, [states[parent] for parent in parents]),
        }
    writer = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    document = {"network": definition.name, "nodes": nodes}
    return str(
        yaml.dump(document, Dumper=writer, sort_keys=False, default_flow_style=None, allow_unicode=True, width=1 << 30)
    )


def _rows(table: NDArray[np.float64], labels: list[list[str]]) -> Any:
    """Rows by the parents' states in one line, or one below the other where that could be misread."""
    if not labels:
        return table.tolist()
    if any("," in label or label != label.strip() for own in labels for label in own):
        return {label: _rows(table[state], labels[1:]) for state, label in enumerate(labels[0])}
    keys = np.ndindex(table.shape[:-1])
    return {", ".join(own[state] for own, state in zip(labels, key)): table[key].tolist() for key in keys}
