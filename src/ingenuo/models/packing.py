"""A model, a network or a tally as plain values and tensors, for files and for other machines.

Everything is named from closed lists: nothing is imported by name, unpickled or run.
"""

from __future__ import annotations

import datetime
import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.families.discretise import Cuts
from ingenuo.networks import graph, learn
from ingenuo.networks.network import Network
from ingenuo.rows.schema import FAMILIES, Reference, Schema
from ingenuo.tally.bag import Bag, Vocabulary
from ingenuo.tally.exact import Exact, Real
from ingenuo.tally.fingerprints import NAME as FINGERPRINTS
from ingenuo.tally.fingerprints import Fingerprints
from ingenuo.tally.histogram import PREFIX, Histogram
from ingenuo.tally.labels import Labels, labels_of, objects, same
from ingenuo.tally.moments import Moments
from ingenuo.tally.prior import PRIORS, Prior
from ingenuo.tally.tally import AnyTable, Table, Tally
from ingenuo.text.words import Words
from ingenuo.text.words import version as stemmer_version

Tensors = dict[str, NDArray[Any]]


def _check(holds: Any, message: str) -> None:
    if not holds:
        raise InputError(message)


def _take(tensors: Tensors, place: str, dtype: Any) -> NDArray[Any]:
    """A tensor of one dimension and this type."""
    found = tensors[place]
    _check(found.dtype == dtype and found.ndim == 1, f"tensor {place!r} is of another type")
    return found


# Cells that any file may ask for when it is loaded, and those that it may for each of its bytes.
CELLS, CELLS_PER_BYTE = 1 << 22, 64


def check_size(cells: int, tensors: Tensors, what: str) -> None:
    """Raise where tables would be much larger than the file that describes them."""
    most = CELLS + CELLS_PER_BYTE * sum(tensor.nbytes for tensor in tensors.values())
    _check(cells <= most, f"{what} would have {cells:,} cells, and a file of this size may have {most:,}")


# Labels and plain values: numbers as they are, text as UTF-8 bytes and offsets, all else tagged.


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
    """What `pack_labels` packed; its tensor is taken out, so that no file has one label for a thousand columns."""
    if packed["as"] == "numbers":
        values = tensors.pop(packed["at"])
        known = values.ndim == 1 and values.dtype in (np.int64, np.float64, np.bool_)
        _check(known, "labels are numbers in one dimension")
        return values
    if packed["as"] == "text":
        data, ends = tensors.pop(packed["at"]).tobytes(), _take(tensors, f"{packed['at']}/ends", np.int64)
        bounds = [0, *ends.tolist()]
        _check(all(a <= b for a, b in pairwise(bounds)), "the ends of the labels do not ascend")
        _check(bounds[-1] == len(data), "the labels' text is of another length")
        return objects([data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)])
    _check(packed["as"] == "values", f"labels are stored as {packed['as']!r}")
    return objects(list(unpack(packed["values"])))


_DTYPES: dict[str, Any] = {"f": np.float64, "i": np.int64, "u": np.uint64, "b": np.bool_, "O": object, "U": str}


def pack(value: Any) -> Any:
    """A plain value, a prior, Words or the structure of a network, as JSON where that says enough, else tagged."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and np.isfinite(value)):
        return value
    if isinstance(value, list):
        return [pack(item) for item in value]
    if isinstance(value, float):
        return {"!": "float", "value": repr(value)}
    if isinstance(value, tuple | set | frozenset):
        return {"!": "tuple" if isinstance(value, tuple) else "set", "items": [pack(item) for item in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in _DTYPES:
        return {"!": "array", "type": value.dtype.kind, "items": [pack(item) for item in value.tolist()]}
    if isinstance(value, Prior):
        return {"!": "prior", "name": type(value).__name__, "of": pack(value.parameters())}
    if isinstance(value, Words):
        # What a name stands for is saved too: lists and stemmers may be other ones in another version.
        stemmer = None if value.stem is None else stemmer_version()
        return {"!": "words", "of": pack(value.to_file()), "stops": sorted(value.stops), "stemmer": stemmer}
    if isinstance(value, Network):  # of a classifier, which takes its structure alone
        arcs = [list(arc) for arc in value.arcs]
        return {
            "!": "structure",
            "nodes": list(value.nodes),
            "arcs": arcs,
            "cuts": _pack_cuts(value),
            "target": value.target,
        }
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
    _check(packed["!"] in _UNPACKERS, f"a value is tagged {packed['!']!r}")
    return _UNPACKERS[packed["!"]](packed)


def _unpack_words(packed: Any) -> Words:
    given = unpack(packed["of"])
    _check(isinstance(given.get("lexicon"), dict | None), "a lexicon is no mapping")  # else a file would be read
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


def _unpack_structure(packed: Any) -> Network:
    network = Network.from_arcs([(str(up), str(down)) for up, down in packed["arcs"]], nodes=packed["nodes"])
    network.cuts, network.target = _unpack_cuts(packed), packed["target"]
    return network


def _pack_cuts(network: Network) -> list[Any]:
    return [[node, list(each.points)] for node, each in network.cuts.items()]


def _unpack_cuts(packed: Any) -> dict[str, Cuts]:
    return {str(node): Cuts(tuple(map(float, points))) for node, points in packed["cuts"]}


_UNPACKERS: dict[str, Any] = {
    "float": lambda packed: float(packed["value"]),
    "tuple": lambda packed: tuple(unpack(packed["items"])),
    "set": lambda packed: frozenset(unpack(packed["items"])),
    "array": lambda packed: np.array(unpack(packed["items"]), _DTYPES[packed["type"]]),
    # A file from before there were imaginary rows for variances has none.
    "prior": lambda packed: PRIORS[packed["name"]](**{"variance_rows": 0.0, **unpack(packed["of"])}),
    "words": _unpack_words,
    "structure": _unpack_structure,
    "mapping": lambda packed: {unpack(key): unpack(item) for key, item in packed["items"]},
    "datetime": lambda packed: datetime.datetime.fromisoformat(packed["value"]),
    "date": lambda packed: datetime.date.fromisoformat(packed["value"]),
}


LARGEST_SUM = 1e150  # of sums in doubles: a square of one is finite


# Tallies: limbs and labels as tensors, their shapes in the manifest.


def check_sums(name: str, sums: Exact | Real) -> None:
    """Raise for sums that no file holds; exact ones it does."""
    if isinstance(sums, Real):
        finite = sums.values.dtype == np.float64 and (np.abs(sums.values) < LARGEST_SUM).all()
        _check(
            finite,
            f"table {name!r} has sums that are not finite, or beyond {LARGEST_SUM:g}, which no model file holds; leave "
            "out the rows with such values",
        )


def pack_tally(tally: Tally, tensors: Tensors) -> list[dict[str, Any]]:
    """The manifest of a tally; its sums and labels are put among the tensors."""
    packed = []
    vocabularies: dict[int, dict[str, Any]] = {}  # which two tables may share
    for number, (name, table) in enumerate(tally.canonical().items()):
        place, sums = f"tally/{number}", table.sums
        check_sums(name, sums)
        axes = [
            {"name": axis, "labels": pack_labels(labels, f"{place}/{axis}", tensors)}
            for axis, labels in zip(table.names, table.axes)
        ]
        entry: dict[str, Any] = {"name": name, "axes": axes, "signed": table.signed, "exact": isinstance(sums, Exact)}
        if isinstance(sums, Exact):
            entry["low"], tensors[f"{place}/sums"] = sums.low, sums.limbs
        else:
            tensors[f"{place}/sums"] = sums.values
        if isinstance(table, Bag):
            words = table.vocabulary
            if id(words) not in vocabularies:
                vocabularies[id(words)] = _pack_vocabulary(words, f"{place}/words", tensors)
            entry["words"] = vocabularies[id(words)]
            tensors[f"{place}/cells"] = np.diff(table.starts).astype(np.int32)
            tensors[f"{place}/codes"] = table.codes
        elif isinstance(table, Histogram):
            entry["exponent"] = table.exponent
        elif isinstance(table, Fingerprints):
            entry["salt"], tensors[f"{place}/seconds"] = table.salt.hex(), table.seconds
        elif isinstance(table, Moments):
            entry["rows"], entry["products"] = table.counts.low, table.products.low
            tensors[f"{place}/rows"], tensors[f"{place}/products"] = table.counts.limbs, table.products.limbs
        packed.append(entry)
    return packed


def unpack_tally(packed: Any, tensors: Tensors) -> Tally:
    """The tally that a manifest describes; raises for what is none."""
    tables: dict[str, AnyTable] = {}
    vocabularies: dict[str, Vocabulary] = {}
    for number, entry in enumerate(packed):
        place, name = f"tally/{number}", str(entry["name"])
        axes = {str(axis["name"]): unpack_labels(axis["labels"], tensors) for axis in entry["axes"]}
        if entry["exact"]:
            sums: Exact | Real = _unpack_exact(name, tensors[f"{place}/sums"], entry["low"])
        else:
            sums = Real(tensors[f"{place}/sums"])
            check_sums(name, sums)
        if "words" in entry:
            at = str(entry["words"]["at"])
            if at not in vocabularies:
                vocabularies[at] = _unpack_vocabulary(entry["words"], tensors)
            table: AnyTable = _unpack_bag(name, place, axes, vocabularies[at], sums, tensors)
        elif "exponent" in entry:
            table = _unpack_histogram(name, axes, entry["exponent"], sums)
        elif "salt" in entry:
            rows, seconds = axes["row"], _take(tensors, f"{place}/seconds", np.int64)
            _check(list(axes) == ["row"] and rows.dtype == np.int64, f"table {name!r} is no bag of fingerprints")
            table = Fingerprints(bytes.fromhex(entry["salt"]), rows, seconds, sums)
            table.check()
        elif "rows" in entry:
            table = _unpack_moments(name, place, axes, entry, sums, tensors)
        else:
            table = Table.of(axes, sums, signed=bool(entry["signed"])).trimmed()
            _check_sorted(name, all(same(a, b) for a, b in zip(table.axes, axes.values())))
        named = name.startswith(PREFIX) == isinstance(table, Histogram)
        named = named and (name == FINGERPRINTS) == isinstance(table, Fingerprints)
        _check(named, f"table {name!r} is no table of that name")
        _check(table.signed or not (table.sums.signs() < 0).any(), f"table {name!r} has negative counts")
        _check(name not in tables, f"table {name!r} is there twice")
        tables[name] = table
    return Tally(tables)


def _unpack_exact(name: str, limbs: NDArray[Any], low: Any) -> Exact:
    _check(limbs.dtype == np.int64 and type(low) is int and -1000 < low < 1000, f"table {name!r} has no limbs")
    return Exact.canonical(limbs, low)


def _check_sorted(name: str, holds: bool) -> None:
    _check(holds, f"the labels of table {name!r} are not sorted, or some are empty")


def _pack_vocabulary(words: Vocabulary, place: str, tensors: Tensors) -> dict[str, Any]:
    tensors[place], tensors[f"{place}/ends"] = words.data, words.ends
    for level, (parents, lasts) in enumerate(zip(words.parents, words.lasts)):
        tensors[f"{place}/{level}/parents"], tensors[f"{place}/{level}/lasts"] = parents, lasts
    return {"at": place, "order": max(words.order, 1), "buckets": words.buckets}


def _unpack_vocabulary(packed: Any, tensors: Tensors) -> Vocabulary:
    place, order, buckets = str(packed["at"]), packed["order"], packed["buckets"]
    whole = type(order) is int and type(buckets) is int and 0 <= buckets <= 30
    _check(whole, "a vocabulary has no such order or buckets")
    data, ends = _take(tensors, place, np.uint8), _take(tensors, f"{place}/ends", np.int64)
    if buckets:
        return Vocabulary(data[:0], ends[:0], (), (), (), buckets)
    parents, lasts = (
        tuple(_take(tensors, f"{place}/{level}/{what}", np.int32) for level in range(order - 1))
        for what in ("parents", "lasts")
    )
    return Vocabulary.parts(data, ends, parents, lasts)


def _unpack_bag(name: str, place: str, axes: Any, words: Vocabulary, sums: Exact | Real, tensors: Tensors) -> Bag:
    cells, codes = (_take(tensors, f"{place}/{what}", np.int32) for what in ("cells", "codes"))
    classes = axes["class"]
    starts = np.append(0, np.cumsum(cells, dtype=np.int64))
    whole = len(cells) == len(words) and sums.shape == codes.shape and len(codes) == int(starts[-1])
    whole = whole and list(axes) == ["class"] and cells.min(initial=0) >= 0
    _check(whole, f"the cells of table {name!r} do not match its words")
    known = codes.min(initial=0) >= 0 and codes.max(initial=-1) < len(classes)
    _check(known, f"table {name!r} has cells of no class")
    bag = Bag(words, classes, starts, codes, sums)
    ordered = not ((np.diff(codes) <= 0) & (np.diff(bag.owners()) == 0)).any()
    _check(ordered, f"the classes of table {name!r} are not in their order")
    _check_sorted(name, same(labels_of(classes), classes) and bag.trimmed() is bag)
    return bag


def _unpack_moments(name: str, place: str, axes: Any, entry: Any, sums: Exact | Real, tensors: Tensors) -> Moments:
    _check("products" in entry, f"table {name!r} has its products in doubles, as an earlier file had; learn again")
    classes, columns = axes.values()
    ordered = list(axes) == ["class", "column"] and all(same(labels_of(each), each) for each in (classes, columns))
    _check_sorted(name, ordered)
    counts, products = (_unpack_exact(name, tensors[f"{place}/{what}"], entry[what]) for what in ("rows", "products"))
    if not isinstance(sums, Exact):
        raise InputError(f"table {name!r} has no limbs")
    K, d = len(classes), len(columns)
    cells = d * (d + 1) // 2
    whole = counts.shape == (K,) and sums.shape == (K, d) and products.shape in ((cells,), (K, cells))
    _check(whole, f"the parts of table {name!r} do not match")
    table = Moments(classes, columns, counts, sums, products)
    variations = table.variations()
    sound = (counts.signs() > 0).all() and np.isfinite(variations).all()
    _check(sound, f"table {name!r} is no scatter of any rows")
    _check((variations >= 0).all(), f"table {name!r} has a negative variance")
    return table


def _unpack_histogram(name: str, axes: Any, exponent: Any, sums: Exact | Real) -> Histogram:
    if list(axes) != ["class", "bin"] or type(exponent) is not int or not isinstance(sums, Exact):
        raise InputError(f"table {name!r} is no histogram")
    classes, places = axes.values()
    whole = places.dtype == np.int64 and np.isfinite(sums.floats()).all()
    _check(whole, f"table {name!r} has no bins, or counts beyond the doubles")
    bins = Histogram.of(classes, places, sums, exponent)
    _check_sorted(name, same(bins.classes, classes) and len(bins.places) == len(places))
    return bins


# Schemas.


def pack_schema(schema: Schema, tensors: Tensors) -> dict[str, Any]:
    """The manifest of a schema."""
    tensors["schema/families"] = schema.families
    references = []
    for number, (name, reference) in enumerate(schema.references.items()):
        place = f"schema/references/{number}"
        tensors[f"{place}/counts"], tensors[f"{place}/documents"] = reference.counts, reference.documents
        words = _pack_vocabulary(reference.vocabulary, place, tensors)
        references.append([pack(name), {"words": words, "at": place, "rows": reference.rows}])
    return {
        "families": list(FAMILIES),  # what the codes meant when they were written
        "names": pack_labels(schema.names, "schema/names", tensors),
        "why": pack(dict(schema.why)),
        "categories": [
            [pack(name), pack_labels(labels, f"schema/categories/{number}", tensors)]
            for number, (name, labels) in enumerate(schema.categories.items())
        ],
        "texts": [[pack(name), pack(words)] for name, words in schema.texts.items()],
        "references": references,
    }


def unpack_schema(packed: Any, tensors: Tensors) -> Schema:
    """The schema that a manifest describes; raises for what is none."""
    names, codes = unpack_labels(packed["names"], tensors), _take(tensors, "schema/families", np.int8)
    matching = codes.shape == names.shape and codes.min(initial=0) >= 0
    _check(matching, "the schema's columns and families do not match")
    known = np.array([list(FAMILIES).index(family) for family in packed["families"]], np.int8)
    categories = {unpack(name): unpack_labels(labels, tensors) for name, labels in packed["categories"]}
    why = unpack(packed["why"])
    are_texts = isinstance(why, dict) and all(isinstance(reason, str) for reason in why.values())
    _check(are_texts, "the schema's reasons are no texts")
    texts = {unpack(name): unpack(words) for name, words in packed.get("texts", [])}
    references = {unpack(name): _unpack_reference(each, tensors) for name, each in packed.get("references", [])}
    schema = Schema(names, known[codes], why, categories, texts, references)
    for family in schema.families_used():
        for name in schema.columns(family).tolist() if FAMILIES[family] == "text" else []:
            words = texts.get(name)
            known_words = isinstance(words, Words) and (words.norm is not None) == (name in references)
            _check(known_words, f"the schema does not say how the words of column {name!r} are counted")
    return schema


def _unpack_reference(packed: Any, tensors: Tensors) -> Reference:
    words, place, rows = _unpack_vocabulary(packed["words"], tensors), str(packed["at"]), float(packed["rows"])
    counts, documents = (_take(tensors, f"{place}/{what}", np.float64) for what in ("counts", "documents"))
    sound = all(len(each) == len(words) and ((each >= 0) & (each < np.inf)).all() for each in (counts, documents))
    sound = sound and 0 <= rows < np.inf
    _check(sound, "the frequencies that documents are measured by do not match their words")
    return Reference(words, counts, documents, rows)


# Networks: the structure, and the counts or the tables; tables that follow from counts are not saved.


def pack_network(network: Network, tensors: Tensors) -> dict[str, Any]:
    """The manifest of a network; its tables are put among the tensors."""
    if network.evidence:
        raise KindError(f"a network is saved as it is, not with what was observed or set ({network.evidence})")
    packed = {
        "nodes": list(network.nodes),
        "parents": [list(above) for above in network._parents],
        "name": network.name,
        "target": network.target,
        "cuts": _pack_cuts(network),
        "categories": sorted(network._categories),
        "declared": [[node, pack(list(states))] for node, states in network._declared.items()],
        "tally": None if network.tally is None else pack_tally(network.tally, tensors),
        "prior": pack(network.prior),
        "tables": False,
    }
    if network.tally is None and network._tables is not None:
        packed["tables"] = True
        packed["states"] = [pack(list(states)) for states in network._known_states()]
        tensors.update({f"network/{place}": np.array(table) for place, table in enumerate(network._tables)})
    return packed


def unpack_network(packed: Any, tensors: Tensors) -> Network:
    """The network that a manifest describes; raises for what is none."""
    nodes = [str(node) for node in packed["nodes"]]
    parents = [tuple(int(up) for up in above) for above in packed["parents"]]
    graph.check(nodes, parents)
    cuts, prior = _unpack_cuts(packed), unpack(packed["prior"])
    declared = {str(node): unpack(states) for node, states in packed["declared"]}
    target = None if packed["target"] is None else str(packed["target"])
    _check(target is None or target in nodes, "the class of the network is none of its nodes")
    _check(prior is None or isinstance(prior, Prior), "the prior of the network is none")
    network = Network(nodes, parents, declared, name=str(packed["name"]), cuts=cuts, target=target)
    network.prior = prior
    network._categories = frozenset(map(str, packed["categories"]))
    if packed["tally"] is not None and prior is not None:
        tally = unpack_tally(packed["tally"], tensors)
        learn.check(tally)
        learn.check_axes(tally, nodes, parents, cuts)
        known = learn.labels_known(tally, nodes, parents, {n: objects(list(s)) for n, s in declared.items()}, prior)
        cells = sum(math.prod(len(known[each]) for each in (node, *above)) for node, above in enumerate(parents))
        check_size(cells, tensors, "the tables of the network")
        network._set_tally(tally, prior, cuts)
    elif packed["tables"]:
        states = [unpack(each) for each in packed["states"]]
        every = [state for own in states for state in own]
        plain = all(isinstance(s, str | float | bool) or (type(s) is int and abs(s) < 2**63) for s in every)
        _check(plain, "a state of the network is no plain value")
        _check(all(len(set(map(str, own))) == len(own) for own in states), "a node of the network has a state twice")
        tables = [tensors[f"network/{place}"] for place in range(len(nodes))]
        for node, (above, table) in enumerate(zip(parents, tables)):
            shape = tuple(len(states[each]) for each in (*above, node))
            whole = table.dtype == np.float64 and table.shape == shape and (table >= 0).all()
            _check(whole, f"the table of {nodes[node]!r} is no table of its states")
            sums_to_one = (np.abs(table.sum(axis=-1) - 1) <= 1e-9).all()
            _check(sums_to_one, f"the table of {nodes[node]!r} does not sum to 1")
        network._set_tables(tables, [objects(list(each)) for each in states], {})
        network.cuts = cuts
    return network
