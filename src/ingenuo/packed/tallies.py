"""Tallies and schemas in a model file: limbs and labels as tensors, their shapes in the manifest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.bag import Bag
from ingenuo.bins import PREFIX, Bins
from ingenuo.errors import InputError
from ingenuo.exact import Exact
from ingenuo.labels import labels_of, same
from ingenuo.packed.values import pack, pack_labels, unpack, unpack_labels
from ingenuo.real import Real
from ingenuo.scatter import Scatter
from ingenuo.schema import FAMILIES, Reference, Schema
from ingenuo.tally import AnyTable, Table, Tally
from ingenuo.text.words import Words
from ingenuo.vocabulary import Vocabulary

Tensors = dict[str, NDArray[Any]]


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
        if isinstance(table, Bins):
            entry["exponent"] = table.exponent
        if isinstance(table, Scatter):
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
        if str(entry["name"]).startswith(PREFIX) != isinstance(table, Bins):
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


def _unpack_scatter(entry: Any, place: str, axes: Any, sums: Exact | Real, tensors: Tensors) -> Scatter:
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
    table = Scatter(classes, columns, counts, sums, products)
    variations = table.variations()
    if not (counts.signs() > 0).all() or not np.isfinite(variations).all():
        raise InputError(f"table {name!r} is no scatter of any rows")
    if (variations < 0).any():
        raise InputError(f"table {name!r} has a negative variance")
    return table


def _unpack_bins(name: str, axes: Any, exponent: Any, sums: Exact | Real) -> Bins:
    classes, places = axes.get("class"), axes.get("bin")
    if list(axes) != ["class", "bin"] or type(exponent) is not int or not isinstance(sums, Exact):
        raise InputError(f"table {name!r} is no histogram")
    if places.dtype != np.int64 or not np.isfinite(sums.floats()).all():
        raise InputError(f"table {name!r} has no bins, or counts beyond the doubles")
    bins = Bins.of(classes, places, sums, exponent)
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
