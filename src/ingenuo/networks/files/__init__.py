"""Network files: BIF, XMLBIF, and YAML for those who write by hand; each also compressed with gzip.

Numbers are written in full, so that what is read again is the same to the last bit. A state is text in every kind.
"""

from __future__ import annotations

import errno
import gzip
import os
import zlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, NetworkError, NetworkFileError, did_you_mean, missing_file
from ingenuo.networks.build import Builder, Definition, describe
from ingenuo.networks.files.bif import from_bif, from_xmlbif, to_bif, to_xmlbif
from ingenuo.tally.container import replace_file

KINDS = {
    ".bif": "bif",  # the Bayesian Network Repository, JavaBayes, bnlearn, pyAgrum, pgmpy
    **dict.fromkeys((".bifxml", ".xml", ".xmlbif"), "xmlbif"),  # Weka, JavaBayes, AIMA, pyAgrum
    **dict.fromkeys((".json", ".yaml", ".yml"), "yaml"),  # JSON is a part of YAML: it is read, and not written
}
_MAX_BYTES = 2**30  # a small compressed file may unpack to more than any memory holds
_MAX_DEPTH = 100  # parents one below the other in a table, and then some


def read(path: str | os.PathLike[str]) -> Definition:
    """The network in a file, of the kind that its name says."""
    name, kind = _name_of(path), kind_of(path)
    try:
        with gzip.open(name) if name.lower().endswith(".gz") else open(name, "rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", name) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise NetworkFileError(f"{name}: the compressed file is damaged ({error}); get it again") from None
    except OSError as error:
        raise NetworkFileError(f"{name}: the file cannot be read ({error.strerror or error})") from None
    if len(content) > _MAX_BYTES:
        raise NetworkFileError(f"{name}: the file holds more than {_MAX_BYTES:,} bytes, which no network here needs")
    if kind == "xmlbif":
        return from_xmlbif(content, name)
    try:
        return from_text(content.decode("utf-8-sig"), kind, name)
    except UnicodeDecodeError as error:
        content, at = error.object, error.start  # without a mark at its beginning
        line, column = content.count(b"\n", 0, at) + 1, at - content.rfind(b"\n", 0, at)
        what = f"the byte 0x{content[at]:02x} is no UTF-8; save the file as UTF-8"
        raise NetworkFileError(f"{name}, line {line}, column {column}: {what}") from None


def write(definition: Definition, path: str | os.PathLike[str]) -> None:
    """Save a network in a file of the kind that its name says: it becomes the new one whole, or stays as it was."""
    name = _name_of(path)
    refuse_json(name)
    content = to_text(definition, kind_of(path)).encode()
    if name.lower().endswith(".gz"):
        content = gzip.compress(content, mtime=0)  # equal networks give equal files
    try:
        replace_file(os.path.realpath(name), [content])
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "there is no folder for the file", name) from None


def refuse_json(name: str) -> None:
    """Raise for a file that a network cannot be written to, though it can be read."""
    if name.lower().removesuffix(".gz").endswith(".json"):
        raise InputError(f"{name}: networks are read from JSON and not written to it; write .yaml, .bif or .xml")


def from_text(text: str, kind: str, name: str = "text") -> Definition:
    """The network that a text describes; `name` is what errors call it."""
    if not isinstance(text, str):
        raise KindError(f"text must be the content of a network file, got {type(text).__name__}")
    readers = {"bif": from_bif, "xmlbif": from_xmlbif, "yaml": from_yaml}
    if kind not in readers:
        raise InputError(f"there is no kind of network file {kind!r}{did_you_mean(kind, readers)}")
    return readers[kind](text, name)


def to_text(definition: Definition, kind: str) -> str:
    """A network as text: "bif", "xmlbif" or "yaml"; refused where reading would not give it back."""
    builder = Builder(lambda mark: "the network cannot be written", NetworkError)
    if not definition.tables and kind != "yaml":
        raise builder.fault(
            None, "it has arcs and no tables yet, which .yaml alone can hold; learn them with fit(table)"
        )
    for node, states in zip(definition.nodes, definition.states):
        builder.add_node(node, states if definition.tables or len(states) else [node])
    builder.check_name(definition.name or "network", "the network")
    return {"bif": to_bif, "xmlbif": to_xmlbif, "yaml": to_yaml}[kind](definition)


def is_network_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file is one of a network, by its name."""
    return Path(os.fspath(path).lower().removesuffix(".gz")).suffix in KINDS


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a file is written in, by its name."""
    name = _name_of(path)
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    if suffix == ".ingenuo":
        raise InputError(f"{name}: this is a model file, which ingenuo.save writes and ingenuo.load reads")
    if suffix not in KINDS:
        raise InputError(
            f"{name}: a file of type {suffix or 'unknown'!r} holds no network; known: {', '.join(sorted(KINDS))}, "
            "also with .gz"
        )
    return KINDS[suffix]


def _name_of(path: str | os.PathLike[str]) -> str:
    if not isinstance(path, str | os.PathLike):
        raise KindError(f"path must be the path of a file, got {type(path).__name__} {path!r}")
    return os.fspath(path)


# Networks that an expert writes by hand, in YAML, of which JSON is a part:
#
#     network: weather
#     nodes:
#       play: {states: [no, yes], table: [0.37, 0.63]}
#       windy:
#         states: [calm, windy]
#         parents: [play, outlook]
#         table:
#           no, sunny: [0.5, 0.5]            # the parents' states in their order, or
#           yes: {sunny: [0.4, 0.6]}         # one below the other
#         default: [0.7, 0.3]                # all rows that are not given
#
# `target: play` beside `nodes` names the class. Where no node has a table, these are arcs, whose tables fit learns.
# Where states are intervals of numbers, `cuts: [15.5, 22]` says where: up to the first, up to the second, above.
# Without names, a table is lists in lists, in the order of the states. Every state is text: `no` is "no" and 3 is "3".


def from_yaml(text: str, name: str) -> Definition:
    """The network that a text in YAML describes; `name` is what errors call the text."""
    return _definition(parse_yaml(text, name), name, len(text))


def read_yaml(path: str) -> Any:
    """The mappings, lists and texts of a file in YAML."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return parse_yaml(file.read(), path)
    except FileNotFoundError:
        raise missing_file(path) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: this is no sound YAML in UTF-8") from None


def parse_yaml(text: str, name: str) -> Any:
    """The mappings, lists and texts of a document in YAML; all scalars are text, and no name stands twice."""
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
            raise fault(event.start_mark, "lists stand in lists too many times")
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
                raise fault(event.start_mark, "found a second document, expected one in a file")
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
    return document


def _definition(document: Any, name: str, size: int) -> Definition:
    """The network that mappings, lists and text describe, in a file of so many characters."""
    builder = Builder(lambda mark: name, most_rows=size)

    def mapping(value: Any, what: str, known: Sequence[str] = ()) -> dict[str, Any]:
        if not isinstance(value, dict):
            expected = f"a mapping with {', '.join(map(repr, known))}" if known else "a mapping from names to nodes"
            raise builder.fault(None, f"found {describe(value)} in {what}, expected {expected}")
        for key in value if known else ():
            if key not in known:
                raise builder.fault(None, f"{what} has {key!r}, which has no meaning here{did_you_mean(key, known)}")
        return value

    def names(value: Any, what: str, like: str) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise builder.fault(None, f"found {describe(value)} as {what}, expected a list of {like}")
        return value

    parts = mapping(document, "the file", ("network", "target", "nodes"))
    called = parts.get("network", "network")
    if not isinstance(called, str):
        raise builder.fault(None, f"found {describe(called)} as the network's name, expected text")
    builder.name = called
    known = ("states", "cuts", "parents", "table", "default")
    nodes = {
        node: mapping(own, f"the node {node!r}", known) for node, own in mapping(parts.get("nodes"), "'nodes'").items()
    }
    target = parts.get("target")
    if target is not None and target not in nodes:
        raise builder.fault(None, f"the target {describe(target)} is no node{did_you_mean(str(target), nodes)}")
    bare = not any(own.keys() & {"table", "default"} for own in nodes.values())  # arcs, whose tables are to be learned
    for node, own in nodes.items():
        states = own.get("states", [node] if bare else None)
        builder.add_node(node, names(states, f"the states of {node!r}", "names, as [low, high]"), None)
    cuts = {}
    for node, own in nodes.items():
        parents = names(own.get("parents", []), f"the parents of {node!r}", "nodes, as [a, b]")
        family = builder.family(node, parents, None)
        if not bare:
            if not own.keys() & {"table", "default"}:
                raise builder.fault(None, f"the node {node!r} has no table; add one, or leave out those of all nodes")
            builder.add_nested(family, own.get("table"), own.get("default"))
        if "cuts" in own:
            given, what, n = own["cuts"], f"the cuts of {node!r}", len(own.get("states", ()))
            if not isinstance(given, list):
                raise builder.fault(None, f"found {describe(given)} as {what}, expected a list of numbers")
            cuts[node] = tuple(builder.number(point, what) for point in given)
            n = n or len(given) + 1
            if len(given) != n - 1 or any(a >= b for a, b in pairwise(cuts[node])):
                raise builder.fault(None, f"{what} must ascend, and be one fewer than its {n} states; mend them")
    found = replace(builder.definition(bare=bare), cuts=cuts, target=target)
    return replace(found, states=[own.get("states", ()) for own in nodes.values()]) if bare else found


def document(definition: Definition) -> dict[str, Any]:
    """A network as the mappings, lists and numbers that a YAML file has; states become text."""
    states, nodes = [[str(state) for state in own] for own in definition.states], {}
    for place, (node, own, parents) in enumerate(zip(definition.nodes, states, definition.parents)):
        nodes[node] = {
            **({"states": own} if own else {}),
            **({"cuts": list(definition.cuts[node])} if node in definition.cuts else {}),
            **({"parents": [definition.nodes[parent] for parent in parents]} if parents else {}),
        }
        if definition.tables:
            nodes[node]["table"] = _rows(definition.tables[place], [states[parent] for parent in parents])
    target = {} if definition.target is None else {"target": definition.target}
    return {"network": definition.name, **target, "nodes": nodes}


def to_yaml(definition: Definition) -> str:
    """A network as YAML, every number in full; states become text."""
    import yaml

    writer, how = getattr(yaml, "CSafeDumper", yaml.SafeDumper), {"allow_unicode": True, "width": 1 << 30}
    return str(yaml.dump(document(definition), Dumper=writer, sort_keys=False, default_flow_style=None, **how))


def _rows(table: NDArray[np.float64], labels: list[list[str]]) -> Any:
    """Rows by the parents' states in one line, or one below the other where that could be misread."""
    if not labels:
        return table.tolist()
    if any("," in label or label != label.strip() for own in labels for label in own):
        return {label: _rows(table[state], labels[1:]) for state, label in enumerate(labels[0])}
    keys = np.ndindex(table.shape[:-1])
    return {", ".join(own[state] for own, state in zip(labels, key)): table[key].tolist() for key in keys}
