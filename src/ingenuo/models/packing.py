"""A model, a network or a tally as plain values and tensors, for files and for other machines.

Everything is named from closed lists: nothing is imported by name, unpickled or run.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo import errors
from ingenuo.errors import EngineError, IngenuoError, InputError, KindError
from ingenuo.families.discretise import Cuts
from ingenuo.networks import graph, learn
from ingenuo.networks.network import Network
from ingenuo.rows.schema import FAMILIES, Reference, Schema
from ingenuo.tally import container
from ingenuo.tally.bag import Bag
from ingenuo.tally.exact import Exact, Real
from ingenuo.tally.histogram import PREFIX, Histogram
from ingenuo.tally.labels import Labels, labels_of, objects, same
from ingenuo.tally.moments import Moments
from ingenuo.tally.prior import PRIORS, Prior
from ingenuo.tally.tally import AnyTable, Table, Tally
from ingenuo.tally.vocabulary import Vocabulary
from ingenuo.text.words import Words
from ingenuo.text.words import version as stemmer_version

# Labels and plain values in a model file: numbers as they are, text as UTF-8 bytes and offsets, all else tagged.


def pack_labels(labels: Labels, place: str, tensors: Tensors) -> dict[str, Any]:
    """Labels, as tensors where they are numbers or texts."""
    if labels.dtype != object:
        tensors[place] = labels
        return {"as": "numbers", "at": place}
    if all(type(label) is str for label in labels):
        encoded = [label.encode("utf-8", "surrogatepass") for label in labels]
        tensors[place] = np.frombuffer(b"".join(encoded), np.uint8)
        tensors[f"{place}/ends"] = np.cumsum([len(e) for e in encoded], dtype=np.int64)
        return {"as": "text", "at": place}
    return {"as": "values", "values": pack(labels.tolist())}


def unpack_labels(packed: Any, tensors: Tensors) -> Labels:
    """What `pack_labels` packed."""
    if packed["as"] == "numbers":
        values = tensors[packed["at"]]
        if values.ndim != 1 or values.dtype not in (np.int64, np.float64, np.bool_):
            raise InputError("labels are numbers in one dimension")
        return values
    if packed["as"] == "text":
        data, ends = tensors[packed["at"]].tobytes(), tensors[f"{packed['at']}/ends"]
        if ends.dtype != np.int64 or ends.ndim != 1 or (ends.size and (np.diff(ends, prepend=0) < 0).any()):
            raise InputError("the ends of the labels do not ascend")
        if (int(ends[-1]) if ends.size else 0) != len(data):
            raise InputError("the labels' text is of another length")
        bounds = [0, *ends.tolist()]
        return objects([data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)])
    if packed["as"] != "values":
        raise InputError(f"labels are stored as {packed['as']!r}")
    return objects(list(unpack(packed["values"])))


# Plain values: JSON as it is where it says enough, tagged where it does not.


def pack(value: Any) -> Any:
    """A plain value, a prior, Words or the structure of a network as JSON can hold it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"!": "float", "value": repr(value)}
    if isinstance(value, list):
        return [pack(item) for item in value]
    if isinstance(value, tuple):
        return {"!": "tuple", "items": [pack(item) for item in value]}
    if isinstance(value, set | frozenset):
        return {"!": "set", "items": [pack(item) for item in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiubOU":
        return {"!": "array", "type": value.dtype.kind, "items": [pack(item) for item in value.tolist()]}
    if isinstance(value, Prior):
        return {"!": "prior", "name": type(value).__name__, "of": pack(value.parameters())}
    if isinstance(value, Words):
        # What a name stands for is saved too: lists and stemmers may be other ones in another version.
        stemmer = None if value.stem is None else stemmer_version()
        return {"!": "words", "of": pack(value.parameters()), "stops": sorted(value.stops), "stemmer": stemmer}
    if isinstance(value, Network):  # of a classifier, which takes its structure alone
        arcs = [list(arc) for arc in value.arcs]
        cuts = [[node, list(each.points)] for node, each in value.cuts.items()]
        return {"!": "structure", "nodes": list(value.nodes), "arcs": arcs, "cuts": cuts, "target": value.target}
    if isinstance(value, Mapping):
        return {"!": "mapping", "items": [[pack(key), pack(item)] for key, item in value.items()]}
    if type(value) in (datetime.datetime, datetime.date):
        return {"!": type(value).__name__, "value": value.isoformat()}
    raise KindError(
        f"{type(value).__name__} {value!r} cannot be saved; a model file holds numbers, strings, booleans, dates, "
        "lists, tuples, mappings, priors and Words"
    )


def unpack(packed: Any) -> Any:
    """What `pack` packed."""
    if isinstance(packed, list):
        return [unpack(item) for item in packed]
    if not isinstance(packed, dict):
        return packed
    tag = packed["!"]
    if tag == "float":
        return float(packed["value"])
    if tag == "tuple":
        return tuple(unpack(packed["items"]))
    if tag == "set":
        return frozenset(unpack(packed["items"]))
    if tag == "array":
        kinds: dict[str, Any] = {
            "f": np.float64,
            "i": np.int64,
            "u": np.uint64,
            "b": np.bool_,
            "O": object,
            "U": str,
        }
        return np.array(unpack(packed["items"]), kinds[packed["type"]])
    if tag == "prior":
        return PRIORS[packed["name"]](**unpack(packed["of"]))
    if tag == "words":
        return _unpack_words(packed)
    if tag == "structure":
        network = Network.from_arcs([(str(up), str(down)) for up, down in packed["arcs"]], nodes=packed["nodes"])
        network.cuts = {str(node): Cuts(tuple(map(float, points))) for node, points in packed["cuts"]}
        network.target = packed["target"]
        return network
    if tag == "mapping":
        return {unpack(key): unpack(item) for key, item in packed["items"]}
    if tag == "datetime":
        return datetime.datetime.fromisoformat(packed["value"])
    if tag == "date":
        return datetime.date.fromisoformat(packed["value"])
    raise InputError(f"a value is tagged {tag!r}")


def _unpack_words(packed: Any) -> Words:
    given = unpack(packed["of"])
    if not isinstance(given.get("lexicon"), dict | None):  # anything else would have a file read
        raise InputError("a lexicon is no mapping")
    words = Words(**given)
    stops = frozenset(map(str, packed["stops"]))
    if isinstance(words.stop_words, str) and stops != words.stops:
        words = replace(words, stop_words=stops)
    if words.stem is not None and packed["stemmer"] != stemmer_version():
        warnings.warn(
            f"the model was saved with snowballstemmer {packed['stemmer']} and this is {stemmer_version()}: some stems "
            "may differ, and their words then count as never seen",
            stacklevel=2,
        )
    return words


# Tallies and schemas in a model file: limbs and labels as tensors, their shapes in the manifest.


def pack_tally(tally: Tally, tensors: Tensors) -> list[dict[str, Any]]:
    """The manifest of a tally; its sums and labels are put among the tensors."""
    packed = []
    places: dict[int, dict[str, Any]] = {}  # of vocabularies, which two tables may share
    for number, (name, table) in enumerate(tally.canonical().items()):
        place = f"tally/{number}"
        exact = isinstance(table.sums, Exact)
        tensors[f"{place}/sums"] = table.sums.limbs if isinstance(table.sums, Exact) else table.sums.values
        entry: dict[str, Any] = {
            "name": name,
            "axes": [
                {"name": axis, "labels": pack_labels(labels, f"{place}/{axis}", tensors)}
                for axis, labels in zip(table.names, table.axes)
            ],
            "signed": table.signed,
            **({"low": table.sums.low} if isinstance(table.sums, Exact) else {}),
            "exact": exact,
        }
        if isinstance(table, Bag):
            words = table.vocabulary
            if id(words) not in places:
                places[id(words)] = _pack_vocabulary(words, f"{place}/words", tensors)
            entry["words"] = places[id(words)]
            tensors[f"{place}/cells"] = np.diff(table.starts).astype(np.int32)
            tensors[f"{place}/codes"] = table.codes
        if isinstance(table, Histogram):
            entry["exponent"] = table.exponent
        if isinstance(table, Moments):
            entry["rows"], entry["products"] = table.counts.low, table.products.low
            tensors[f"{place}/rows"], tensors[f"{place}/products"] = table.counts.limbs, table.products.limbs
        packed.append(entry)
    return packed


def _pack_vocabulary(words: Vocabulary, place: str, tensors: Tensors) -> dict[str, Any]:
    tensors[place], tensors[f"{place}/ends"] = words.data, words.ends
    for level, (parents, lasts) in enumerate(zip(words.parents, words.lasts)):
        tensors[f"{place}/{level}/parents"], tensors[f"{place}/{level}/lasts"] = parents, lasts
    return {"at": place, "order": max(words.order, 1), "buckets": words.buckets}


def _unpack_vocabulary(packed: Any, tensors: Tensors) -> Vocabulary:
    place, order, buckets = str(packed["at"]), packed["order"], packed["buckets"]
    if type(order) is not int or type(buckets) is not int or not 0 <= buckets <= 30:
        raise InputError("a vocabulary has no such order or buckets")
    data, ends = _typed(tensors, place, np.uint8), _typed(tensors, f"{place}/ends", np.int64)
    if buckets:
        return Vocabulary(data[:0], ends[:0], (), (), (), buckets)
    levels = range(order - 1)
    return Vocabulary.parts(
        data,
        ends,
        tuple(_typed(tensors, f"{place}/{level}/parents", np.int32) for level in levels),
        tuple(_typed(tensors, f"{place}/{level}/lasts", np.int32) for level in levels),
    )


def _typed(tensors: Tensors, place: str, dtype: Any) -> NDArray[Any]:
    found = tensors[place]
    if found.dtype != dtype or found.ndim != 1:
        raise InputError(f"tensor {place!r} is of another type")
    return found


def unpack_tally(packed: Any, tensors: Tensors) -> Tally:
    """The tally that a manifest describes; raises for what is none."""
    tables: dict[str, AnyTable] = {}
    vocabularies: dict[str, Vocabulary] = {}
    for number, entry in enumerate(packed):
        values = tensors[f"tally/{number}/sums"]
        axes = {str(axis["name"]): unpack_labels(axis["labels"], tensors) for axis in entry["axes"]}
        if entry["exact"]:
            if values.dtype != np.int64 or not -1000 < entry["low"] < 1000:
                raise InputError(f"table {entry['name']!r} has no limbs")
            sums: Exact | Real = Exact.canonical(values, int(entry["low"]))
        else:
            if values.dtype != np.float64 or not np.isfinite(values).all():
                raise InputError(f"table {entry['name']!r} has no finite sums")
            sums = Real(values)
        if "words" in entry:
            at = str(entry["words"]["at"])
            if at not in vocabularies:
                vocabularies[at] = _unpack_vocabulary(entry["words"], tensors)
            table: AnyTable = _unpack_bag(entry["name"], number, axes, vocabularies[at], sums, tensors)
        elif "exponent" in entry:
            table = _unpack_bins(str(entry["name"]), axes, entry["exponent"], sums)
        elif "rows" in entry:
            table = _unpack_scatter(entry, f"tally/{number}", axes, sums, tensors)
        else:
            table = Table.of(axes, sums, signed=bool(entry["signed"])).trimmed()
            if not all(same(a, b) for a, b in zip(table.axes, axes.values())):
                raise InputError(f"the labels of table {entry['name']!r} are not sorted, or some are empty")
        if str(entry["name"]).startswith(PREFIX) != isinstance(table, Histogram):
            raise InputError(f"table {entry['name']!r} is no table of that name")
        if not table.signed and (table.sums.signs() < 0).any():
            raise InputError(f"table {entry['name']!r} has negative counts")
        if str(entry["name"]) in tables:
            raise InputError(f"table {entry['name']!r} is there twice")
        tables[str(entry["name"])] = table
    return Tally(tables)


def _unpack_bag(name: str, number: int, axes: Any, words: Vocabulary, sums: Exact | Real, tensors: Tensors) -> Bag:
    cells, codes = (
        _typed(tensors, f"tally/{number}/cells", np.int32),
        _typed(tensors, f"tally/{number}/codes", np.int32),
    )
    classes = axes["class"]
    starts = np.append(0, np.cumsum(cells, dtype=np.int64))
    whole = len(cells) == len(words) and sums.shape == codes.shape and len(codes) == int(starts[-1])
    if list(axes) != ["class"] or not whole or (cells.size and int(cells.min()) < 0):
        raise InputError(f"the cells of table {name!r} do not match its words")
    if codes.size and (int(codes.min()) < 0 or int(codes.max()) >= len(classes)):
        raise InputError(f"table {name!r} has cells of no class")
    bag = Bag(words, classes, starts, codes, sums)
    owners = bag.owners()
    if ((np.diff(codes) <= 0) & (np.diff(owners) == 0)).any():
        raise InputError(f"the classes of table {name!r} are not in their order")
    if not same(labels_of(classes), classes) or bag.trimmed() is not bag:
        raise InputError(f"the labels of table {name!r} are not sorted, or some are empty")
    return bag


def _unpack_scatter(entry: Any, place: str, axes: Any, sums: Exact | Real, tensors: Tensors) -> Moments:
    name, (classes, columns) = entry["name"], axes.values()
    if "products" not in entry:
        raise InputError(f"table {name!r} has its products in doubles, as an earlier form of the file had; learn again")
    if list(axes) != ["class", "column"] or any(not same(labels_of(each), each) for each in (classes, columns)):
        raise InputError(f"the labels of table {name!r} are not sorted")
    parts = [(tensors[f"{place}/{part}"], entry[part]) for part in ("rows", "products")]
    whole = all(limbs.dtype == np.int64 and type(low) is int and -1000 < low < 1000 for limbs, low in parts)
    if not whole or not isinstance(sums, Exact):
        raise InputError(f"table {name!r} has no limbs")
    counts, products = (Exact.canonical(limbs, low) for limbs, low in parts)
    K, d = len(classes), len(columns)
    cells = d * (d + 1) // 2
    if counts.shape != (K,) or sums.shape != (K, d) or products.shape not in ((cells,), (K, cells)):
        raise InputError(f"the parts of table {name!r} do not match")
    table = Moments(classes, columns, counts, sums, products)
    variations = table.variations()
    if not (counts.signs() > 0).all() or not np.isfinite(variations).all():
        raise InputError(f"table {name!r} is no scatter of any rows")
    if (variations < 0).any():
        raise InputError(f"table {name!r} has a negative variance")
    return table


def _unpack_bins(name: str, axes: Any, exponent: Any, sums: Exact | Real) -> Histogram:
    classes, places = axes.get("class"), axes.get("bin")
    if list(axes) != ["class", "bin"] or type(exponent) is not int or not isinstance(sums, Exact):
        raise InputError(f"table {name!r} is no histogram")
    if places.dtype != np.int64 or not np.isfinite(sums.floats()).all():
        raise InputError(f"table {name!r} has no bins, or counts beyond the doubles")
    bins = Histogram.of(classes, places, sums, exponent)
    if not same(bins.classes, classes) or len(bins.places) != len(places):
        raise InputError(f"the labels of table {name!r} are not sorted, or some are empty")
    return bins


def pack_schema(schema: Schema, tensors: Tensors) -> dict[str, Any]:
    """The manifest of a schema."""
    tensors["schema/families"] = schema.families
    return {
        "families": list(FAMILIES),  # what the codes meant when they were written
        "names": pack_labels(schema.names, "schema/names", tensors),
        "why": pack(dict(schema.why)),
        "categories": [
            [pack(name), pack_labels(labels, f"schema/categories/{number}", tensors)]
            for number, (name, labels) in enumerate(schema.categories.items())
        ],
        "texts": [[pack(name), pack(words)] for name, words in schema.texts.items()],
        "references": [
            [pack(name), _pack_reference(reference, f"schema/references/{number}", tensors)]
            for number, (name, reference) in enumerate(schema.references.items())
        ],
    }


def _pack_reference(reference: Reference, place: str, tensors: Tensors) -> dict[str, Any]:
    tensors[f"{place}/counts"], tensors[f"{place}/documents"] = reference.counts, reference.documents
    return {"words": _pack_vocabulary(reference.vocabulary, place, tensors), "at": place, "rows": reference.rows}


def _unpack_reference(packed: Any, tensors: Tensors) -> Reference:
    words, place = _unpack_vocabulary(packed["words"], tensors), str(packed["at"])
    counts, documents = (_typed(tensors, f"{place}/{what}", np.float64) for what in ("counts", "documents"))
    rows = float(packed["rows"])
    sound = all(
        len(each) == len(words) and np.isfinite(each).all() and (each >= 0).all() for each in (counts, documents)
    )
    if not sound or not 0 <= rows < np.inf:
        raise InputError("the frequencies that documents are measured by do not match their words")
    return Reference(words, counts, documents, rows)


def unpack_schema(packed: Any, tensors: Tensors) -> Schema:
    """The schema that a manifest describes; raises for what is none."""
    names = unpack_labels(packed["names"], tensors)
    codes = tensors["schema/families"]
    if codes.dtype != np.int8 or codes.shape != names.shape or (codes.size and int(codes.min()) < 0):
        raise InputError("the schema's columns and families do not match")
    known = np.array([list(FAMILIES).index(family) for family in packed["families"]], np.int8)
    categories = {unpack(name): unpack_labels(labels, tensors) for name, labels in packed["categories"]}
    why = unpack(packed["why"])
    if not isinstance(why, dict) or any(not isinstance(reason, str) for reason in why.values()):
        raise InputError("the schema's reasons are no texts")
    texts = {unpack(name): unpack(words) for name, words in packed.get("texts", [])}
    references = {unpack(name): _unpack_reference(each, tensors) for name, each in packed.get("references", [])}
    schema = Schema(names, known[codes], why, categories, texts, references)
    for family in schema.families_used():
        for name in schema.columns(family).tolist() if FAMILIES[family] == "text" else []:
            words = texts.get(name)
            if not isinstance(words, Words) or (words.norm is not None) != (name in references):
                raise InputError(f"the schema does not say how the words of column {name!r} are counted")
    return schema


Tensors = dict[str, NDArray[Any]]


# Networks in a file: the structure, and the counts or the tables; tables that follow from counts are not saved.


def pack_network(network: Network, tensors: Tensors) -> dict[str, Any]:
    """The manifest of a network; its tables are put among the tensors."""
    if network.evidence:
        raise KindError(f"a network is saved as it is, not with what was observed or set ({network.evidence})")
    packed = {
        "nodes": list(network.nodes),
        "parents": [list(above) for above in network._parents],
        "name": network.name,
        "target": network.target,
        "cuts": [[node, list(each.points)] for node, each in network.cuts.items()],
        "categories": sorted(network._categories),
        "declared": [[node, pack(list(states))] for node, states in network._declared.items()],
        "tally": None if network.tally is None else pack_tally(network.tally, tensors),
        "prior": pack(network.prior),
        "tables": False,
    }
    if network.tally is None and network._tables is not None:
        packed["tables"] = True
        packed["states"] = [pack(list(states)) for states in network._known_states()]
        for place, table in enumerate(network._tables):
            tensors[f"network/{place}"] = np.array(table)
    return packed


def unpack_network(packed: Any, tensors: Tensors) -> Network:
    """The network that a manifest describes; raises for what is none."""
    nodes = [str(node) for node in packed["nodes"]]
    parents = [tuple(int(up) for up in above) for above in packed["parents"]]
    graph.check(nodes, parents)
    cuts = {str(node): Cuts(tuple(float(point) for point in points)) for node, points in packed["cuts"]}
    declared = {str(node): unpack(states) for node, states in packed["declared"]}
    target = None if packed["target"] is None else str(packed["target"])
    if target is not None and target not in nodes:
        raise InputError("the class of the network is none of its nodes")
    network = Network(nodes, parents, declared, name=str(packed["name"]), cuts=cuts, target=target)
    prior = unpack(packed["prior"])
    if prior is not None and not isinstance(prior, Prior):
        raise InputError("the prior of the network is none")
    network.prior = prior
    network._categories = frozenset(map(str, packed["categories"]))
    if packed["tally"] is not None and prior is not None:
        tally = unpack_tally(packed["tally"], tensors)
        learn.check(tally)
        learn.check_axes(tally, nodes, parents)
        network._learned(tally, prior, cuts)
    elif packed["tables"]:
        states = [unpack(each) for each in packed["states"]]
        if any(not isinstance(state, str | int | float | bool) for own in states for state in own):
            raise InputError("a state of the network is no plain value")
        if any(len({str(state) for state in own}) != len(own) for own in states):
            raise InputError("a node of the network has a state twice")
        tables = [tensors[f"network/{place}"] for place in range(len(nodes))]
        for node, (above, table) in enumerate(zip(parents, tables)):
            shape = tuple(len(states[each]) for each in (*above, node))
            if table.dtype != np.float64 or table.shape != shape or not (table >= 0).all():
                raise InputError(f"the table of {nodes[node]!r} is no table of its states")
            if (np.abs(table.sum(axis=-1) - 1) > 1e-9).any():
                raise InputError(f"the table of {nodes[node]!r} does not sum to 1")
        network._take(tables, [objects(list(each)) for each in states], {})
        network.cuts = cuts
    return network


# Tallies on their way from machine to machine: the bytes of a model file, and never an object of ours pickled.


_REFUSAL = "refusal"


def to_bytes(tally: Tally) -> bytes:
    """A tally, as `save` writes it.

    >>> from_bytes(to_bytes(Tally())) == Tally()
    True
    """
    tensors: Tensors = {}
    return container.to_bytes({"kind": "tally", "tally": pack_tally(tally, tensors)}, tensors)


def refused(error: IngenuoError) -> bytes:
    """An error, by the name of its class and what it says."""
    return container.to_bytes({"kind": _REFUSAL, "error": type(error).__name__, "says": str(error)}, {})


def from_bytes(data: bytes) -> Tally:
    """The tally; raises the error, should there be one instead."""
    manifest, tensors = container.from_bytes(data)
    if manifest["kind"] == _REFUSAL:
        raise _error(manifest)
    return unpack_tally(manifest["tally"], tensors)


def merged(parts: Sequence[bytes]) -> bytes:
    """The sum of tallies; of errors the first."""
    tallies: list[Tally] = []
    for part in parts:
        manifest, tensors = container.from_bytes(part)
        if manifest["kind"] == _REFUSAL:
            return part
        tallies.append(unpack_tally(manifest["tally"], tensors))
    if len(tallies) == 1:
        return parts[0]
    try:
        return to_bytes(_sum(tallies))
    except IngenuoError as error:
        return refused(error)


def _sum(tallies: list[Tally]) -> Tally:
    while len(tallies) > 1:  # in pairs, so that large tables are not aligned again for each
        tallies = [
            tallies[at] + tallies[at + 1] if at + 1 < len(tallies) else tallies[at] for at in range(0, len(tallies), 2)
        ]
    return tallies[0] if tallies else Tally()


def _error(manifest: dict[str, Any]) -> IngenuoError:
    kind = getattr(errors, str(manifest["error"]), EngineError)
    if not (isinstance(kind, type) and issubclass(kind, IngenuoError)):
        kind = EngineError
    return kind(str(manifest["says"]))


def as_tensor(data: bytes) -> NDArray[np.uint8]:
    """Bytes among the tensors."""
    return np.frombuffer(data, np.uint8)
