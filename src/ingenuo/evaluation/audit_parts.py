"""The audit of rows that lie in parts elsewhere, in two rounds: what groups and classes there are, then their sums.

The first round counts the different values of the protected columns, from which come the groups, and the classes, from
which come those that are asked about. It also counts the other columns' numbers, rounded down to nine binary digits, by
which these are cut into bins: whole numbers below 512 and their halves, quarters and so on are cut as in memory, others
within 0.4 % of that. The second round counts the answers of each group, and what the columns tell of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.estimators.parts import InParts, in_parts
from ingenuo.evaluation import audit_classes
from ingenuo.evaluation.audit_columns import (
    MISSING,
    Coding,
    check_groups,
    coded,
    coding_of,
    column_values,
    combined,
    known_columns,
    refuse_target,
    taken_off,
)
from ingenuo.evaluation.audit_groups import GroupAudit
from ingenuo.evaluation.audit_proxies import (
    BINS_OF_NUMBERS,
    COLUMNS,
    Proxies,
    category_codes,
    number_counts,
    table_of_numbers,
)
from ingenuo.evaluation.audit_proxies import Table as ProxyTable
from ingenuo.evaluation.audit_sums import GROUPS, GroupSums, sums_of
from ingenuo.evaluation.counted_sums import known_classes
from ingenuo.evaluation.predictions import predictions_of
from ingenuo.exact import Exact
from ingenuo.labels import Labels, encode, find, labels_of, objects, unite
from ingenuo.sources import open_source
from ingenuo.tally import Table, Tally
from ingenuo.target_bins import cut

_VALUES = 2_000  # different values of a column: one that has more makes no groups and is no proxy
_NUMBERS = 65_536  # different numbers of a protected column, from which bands are made
_DROPPED = 44  # of a double's 52 binary digits


def audit_in_parts(
    model: Any,
    X: Any,
    y: Any,
    protected: Any,
    cuts: Any,
    class_: Any,
    reference: Any,
    *,
    confidence: float,
    random_state: int,
) -> GroupAudit:
    """Audit a classifier by the rows of a Dask or Spark frame; parameters as of `audit`."""
    rows = in_parts(X, y, labelled=False, strict=False)
    named = _named(protected, rows)
    known = known_columns(model)
    others = [name for name in rows.names if name not in named]
    looked, left_out = _looked_at(rows, others)
    truths = rows.target is not None
    few = len(getattr(model, "classes_", ())) <= audit_classes.MOST or class_ is not None
    off = _besides(model, rows.names, known, named)
    asked: dict[str, Any] = {"protected": named, "off": off}
    numbers = [name for name, kind in looked.items() if kind == "number"]
    seen = rows.reduce(
        surveyed, None if truths or few else model, numbers=numbers, answers=not truths and not few, **asked
    )
    if "rows" not in seen:
        raise InputError(f"{rows.rows.called}: there are no rows to audit")
    types = rows.empty().schema
    codings = [_coding(seen, name, _is_number(types.field(name).type), cuts, len(named)) for name in named]
    classes = seen.labels("class", 0)
    classes = classes if (own := known_classes(model, None)) is None else unite(own, classes)
    judged, said = audit_classes.judged(
        classes, class_, lambda: seen.over("class", classes).floats().astype(np.int64), "most frequent"
    )
    edges = {name: _edges(seen, name) for name in numbers}
    options = asked | {
        "cuts": [coding.cuts for coding in codings],
        "judged": judged.tolist(),
        "edges": {name: each for name, each in edges.items() if each is not None},
        "categories": [name for name, kind in looked.items() if kind == "category"],
    }
    total = rows.reduce(audited, model, **options)
    called = " × ".join(named)
    groups = _groups(codings, total.labels(GROUPS, 0))
    sums = GroupSums(Tally({k: t for k, t in total.items() if not k.startswith("proxy/")}), groups, judged, truths)
    check_groups(groups, int(sums.confusion.sum()), called)
    used = {} if known is None else {name: name in known for name in named}
    notes = [note for coding in codings for note in coding.notes] + ([taken_off(off)] if off else [])
    return GroupAudit(
        called,
        sums,
        reference=reference,
        confidence=confidence,
        random_state=random_state,
        used=used,
        notes=(*notes, *said),
        proxies=_proxies(total, groups, looked, edges, left_out, known),
    )


def _besides(model: Any, names: list[str], known: list[str] | None, named: list[str]) -> list[str]:
    """The columns that the model does not take; where it names none, those of the groups, unless it takes as many."""
    if known is not None:
        return [name for name in names if name not in known]
    return [] if getattr(model, "n_features_in_", None) == len(names) else named


def _named(protected: Any, rows: InParts) -> list[str]:
    """The columns of groups."""
    named = [protected] if isinstance(protected, str) else protected
    if not isinstance(named, list | tuple) or not named or not all(isinstance(name, str) for name in named):
        raise KindError(
            f"rows that lie in parts have their groups in a column; name it, or several, as protected=…, instead of "
            f"giving {type(protected).__name__}"
        )
    refuse_target(rows.target, named)
    for name in named:
        if name not in rows.names:
            raise InputError(
                f"{rows.rows.called}: there is no column {name!r} to protect{did_you_mean(name, rows.names)}"
            )
    return list(dict.fromkeys(named))


def _looked_at(rows: InParts, names: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The columns that may tell the group, with what they are; and why others are left out."""
    looked: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for name in names:
        kind = rows.kinds[name][0]
        if len(looked) == COLUMNS:
            left_out[name] = f"only the first {COLUMNS:,} columns were looked at"
        elif kind in ("number", "category"):
            looked[name] = kind
        else:
            left_out[name] = f"a column of {kind} is not looked at"
    return looked, left_out


# The first round.


def surveyed(model: Any, rows: pa.Table, options: Mapping[str, Any]) -> Tally:
    """The values of the protected columns, the classes, and the numbers of the others, rounded; how often each is."""
    tables = {"rows": _counts("what", objects(["rows"]), np.array([rows.num_rows]))}
    source = open_source(rows)
    many: list[str] = []
    for name in options["protected"]:
        values, numeric = column_values(source, name)
        codes, labels = encode(values)
        if len(labels) > (_NUMBERS if numeric else _VALUES):
            many.append(name)
            continue
        tables[f"value/{name}"] = _counts("value", labels, np.bincount(codes[codes >= 0], minlength=len(labels)))
        tables[f"missing/{name}"] = _counts("what", objects(["rows"]), np.array([(codes < 0).sum()]))
    if many:
        tables["many"] = _counts("name", objects(many), np.ones(len(many), np.int64))
    for name in options["numbers"]:
        cells = rounded(_numbers(source, name))
        labels, counts = np.unique(cells[np.isfinite(cells)], return_counts=True)
        tables[f"number/{name}"] = _counts("value", labels, counts)
    if options["target"] is not None or options["answers"]:
        truth = rows.column(options["target"]) if options["target"] is not None else None
        told = model.predict(_own(rows, options)) if truth is None else objects(truth.to_pylist())
        codes, labels = encode(told)
        tables["class"] = _counts("class", labels, np.bincount(codes[codes >= 0], minlength=len(labels)))
    return Tally(tables)


def _counts(axis: str, labels: Labels, counts: NDArray[Any]) -> Table:
    return Table.of({axis: labels}, Exact.counts(counts))


def _numbers(source: Any, name: str) -> NDArray[np.float64]:
    place = np.array([source.names.tolist().index(name)])
    found: NDArray[np.float64] = source.numbers(place, source.names[place]).column(0)
    return found


def rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers rounded down to nine binary digits: of an octave 256 are left, so that a column's are few.

    >>> rounded(np.array([511.0, 1000.7, -1000.7, 0.1])).tolist()
    [511.0, 1000.0, -1002.0, 0.099853515625]
    """
    bits = np.abs(values).view(np.int64)
    rest = (np.int64(1) << _DROPPED) - 1
    bits = np.where(values < 0, bits + rest, bits) & ~rest
    return np.copysign(bits.view(np.float64), values) + 0.0  # no zero has a sign


def _own(rows: pa.Table, options: Mapping[str, Any]) -> pa.Table:
    """The rows as the model takes them: without the class and the columns it does not know."""
    besides = [*options["off"], *(name for name in (options["target"],) if name is not None)]
    return rows.drop_columns(besides) if besides else rows


def _is_number(type: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type))


def _coding(seen: Tally, name: str, numeric: bool, cuts: Any, columns: int) -> Coding:
    """How a protected column makes groups."""
    labels = seen.labels(f"value/{name}", 0)
    most = _NUMBERS if numeric else _VALUES
    if name in seen.labels("many", 0).tolist() or len(labels) > most:
        if cuts is None or not numeric:
            raise InputError(
                f"{name!r} has more than {most:,} different values, which makes no groups; give a column of few "
                "values, or cut points of numbers by groups=[…]"
            )
        labels = np.zeros(0)
    own = cuts if columns == 1 or numeric else None
    counts = seen.over(f"value/{name}", labels).floats().astype(np.int64)
    coding = coding_of(labels, counts, name, own)
    if seen.labels(f"missing/{name}", 0).size:
        coding = coding._replace(names=objects([*coding.names.tolist(), MISSING]))
    return coding


def _edges(seen: Tally, name: str) -> list[float] | None:
    """Where the numbers of a column are cut into bins; None where it has none."""
    values = seen.labels(f"number/{name}", 0)
    if len(values) == 0:
        return None
    mass = seen.over(f"number/{name}", values).floats()
    return list(cut(values.astype(np.float64), mass, BINS_OF_NUMBERS, "equal-frequency").edges.tolist())


# The second round.


def audited(model: Any, rows: pa.Table, options: Mapping[str, Any]) -> Tally:
    """The sums of the model's answers by group, and the other columns' values by group."""
    source = open_source(rows)
    parts = [
        coded(*encode(column_values(source, name)[0]), cuts)
        for name, cuts in zip(options["protected"], options["cuts"])
    ]
    groups, names = parts[0] if len(parts) == 1 else combined(parts)
    own, target = _own(rows, options), options["target"]
    truth = model.predict(own) if target is None else rows.column(target)
    answers = predictions_of(model, own, truth)
    judged = labels_of(options["judged"])
    found = sums_of(answers, groups, names, judged, target is not None, known_classes(model, None)).tally
    return found + Tally(_told(source, groups, names, options))


def _told(source: Any, groups: NDArray[np.int64], names: Labels, options: Mapping[str, Any]) -> dict[str, Table]:
    """The rows by the values of each column and by group."""
    tables: dict[str, Table] = {}
    many: list[str] = []
    g = len(names)
    for name, edges in options["edges"].items():
        counts = number_counts(_numbers(source, name), np.array(edges), groups, g)
        tables[f"proxy/{name}"] = Table.of({"value": np.arange(len(counts)), "group": names}, Exact.counts(counts))
    for name in options["categories"]:
        codes, labels = category_codes(source, source.names.tolist().index(name))
        if len(labels) > _VALUES:
            many.append(name)
            continue
        k = len(labels) + 1
        counts = np.bincount(codes * g + groups, minlength=k * g).reshape(k, g)
        tables[f"proxy/{name}"] = Table.of({"value": labels, "group": names}, Exact.counts(counts[:-1]))
        tables[f"proxy/missing/{name}"] = _counts("group", names, counts[-1])
    if many:
        tables["proxy/many"] = _counts("name", objects(many), np.ones(len(many), np.int64))
    return tables


def _groups(codings: list[Coding], found: Labels) -> Labels:
    """The groups that occur, in the order of the values, or of the bands, of their columns."""
    if len(codings) == 1:
        every = list(codings[0].names.tolist())
    else:
        every = [", ".join(map(str, names)) for names in product(*(coding.names.tolist() for coding in codings))]
    every = list(dict.fromkeys(every))
    there = [name for name, at in zip(every, find(found, objects(every))) if at >= 0]
    ordered = labels_of(there)
    return ordered if ordered.tolist() == there else objects(there)


def _proxies(
    total: Tally,
    groups: Labels,
    looked: dict[str, str],
    edges: dict[str, list[float] | None],
    left_out: dict[str, str],
    known: list[str] | None,
) -> Proxies:
    """How much each column tells of the group."""
    tables: dict[str, ProxyTable] = {}
    left_out = dict(left_out)
    many = total.labels("proxy/many", 0).tolist()
    for name, kind in looked.items():
        if kind == "number":
            points = edges[name]
            if points is None:
                left_out[name] = "it has no values"
                continue
            counts = total.over(f"proxy/{name}", np.arange(len(points)), groups).floats().astype(np.int64)
            tables[name] = table_of_numbers(np.array(points), counts)
            continue
        labels = total.labels(f"proxy/{name}", 0)
        if name in many or len(labels) > _VALUES:
            left_out[name] = f"it has more than {_VALUES:,} different values"
            continue
        counts = total.over(f"proxy/{name}", labels, groups).floats().astype(np.int64)
        missing = total.over(f"proxy/missing/{name}", groups).floats().astype(np.int64)
        if missing.any():
            labels, counts = objects([*labels.tolist(), MISSING]), np.concatenate([counts, missing[np.newaxis]])
        tables[name] = ProxyTable(labels if labels.dtype == object else objects(labels.tolist()), counts)
    used = {name: None if known is None else name in known for name in tables}
    return Proxies(groups, tables, left_out, used)
