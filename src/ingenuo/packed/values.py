"""Labels and plain values in a model file: numbers as they are, text as UTF-8 bytes and offsets, all else tagged."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.labels import Labels, objects
from ingenuo.networks.cuts import Cuts
from ingenuo.networks.network import Network
from ingenuo.prior import PRIORS, Prior
from ingenuo.text.stemming import version as stemmer_version
from ingenuo.text.words import Words

Tensors = dict[str, NDArray[Any]]


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
