"""What a fitted model's columns say of each class, one value at a time: the parts of which its log joint is the sum.

    log P(class, row) = constant + Σ_j evidence_j(value of column j)        (+ what all classes have in common)

So it is with naive Bayes of any families, with softmax regression, and with Gaussians of one covariance for all
classes; models whose columns do not add up are refused, with the reason. A missing value adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.families.family import Bags, Categories, Measure, WordTable, most_of
from ingenuo.families.family import Evidence as Part
from ingenuo.families.words import ColumnParameters
from ingenuo.language import say
from ingenuo.rows import checks
from ingenuo.rows.part import Block
from ingenuo.rows.schema import FAMILIES, column_name
from ingenuo.show.arithmetic import Floats, RowsOf, name_reason
from ingenuo.tally.labels import Labels, labels_of, recognise


@dataclass(frozen=True)
class Evidence:
    """All that a model adds up."""

    classes: Labels
    constant: Floats  # (classes,)
    priors: Floats  # (classes,): the shares of the classes
    parts: tuple[Part, ...]  # in the table's order
    linear: bool = False


def evidence(model: Any, what: str = "nomogram", *, added: bool = True) -> Evidence:
    """What a model adds up, or an error that says why its columns do not add up.

    With `added` false, columns that have a covariance for each class stand side by side, each on its own.
    """
    name = type(model).__name__
    if not hasattr(model, "explain"):
        raise KindError(f"a {what} is of a fitted classifier of this package, got {name}")
    if name in _NO_SUM:
        raise InputError(f"a {name} has no {what}: {_NO_SUM[name]}")
    if not hasattr(model, "classes_"):
        raise InputError(
            f"a {what} is of the classes of a model, and this {name} has none; fit it first, or take a classifier"
        )
    if hasattr(model, "_groups") and hasattr(model, "_intercepts"):
        if any(group not in FAMILIES for group in model._groups):
            raise InputError(
                f"a {name} that chose its penalty multiplies features that are made of the columns, so it has no "
                f"{what}; take explain, which shows what each column says in a row, or a penalty that is a number"
            )
        return _softmax(model)
    if not hasattr(model, "schema_") or not hasattr(model, "_parameters"):
        raise InputError(f"a {name} has no {what}: its answer is no sum over its columns")
    parameters = model._parameters()
    priors = np.exp(parameters.log_prior - np.logaddexp.reduce(parameters.log_prior))
    constant = np.array(parameters.log_prior, np.float64)
    parts: list[Part] = []
    for each in parameters.attributes:
        if added and not each.own.additive:
            columns = ", ".join(column_name(name) for name in each.own.columns.tolist()[:4])
            raise InputError(
                f"the columns {columns}{', …' if len(each.own.columns) > 4 else ''} have a covariance for each class, "
                "so what one says depends on the others and there is no nomogram; take covariance='shared', or "
                "'diagonal'"
            )
        constant += each.own.constant
        parts += each.evidence(priors)
    return Evidence(parameters.classes, constant, priors, _in_order(parts, model.schema_.names), False)


_NO_SUM = {
    "LeastSquaresClassifier": "its lines are no log odds, for what is below 0 is cut off; take a GaussianDiscriminant, "
    "which learns from the same sums",
    "NetworkClassifier": "its columns depend on one another, so that a value says nothing by itself; draw its network, "
    "or take NaiveBayes",
    "LanguageModelClassifier": "a word counts by the words before it, and says nothing by itself; take NaiveBayes",
    "BayesClassifier": "it is a vote of several models; ask for that of one of its estimators_, or explain a row, "
    "which shows what each column says to each of them",
    "BayesOptimalClassifier": "it averages what several models say; ask for that of each of them",
    "NaiveBayesRegressor": "it answers with a number; take NaiveBayes, and classes",
}


def _in_order(parts: list[Part], names: Labels) -> tuple[Part, ...]:
    order = {name: place for place, name in enumerate(names.tolist())}
    return tuple(sorted(parts, key=lambda part: order.get(part.column, len(order))))


def _softmax(model: Any) -> Evidence:
    """The weights of a softmax regression, by the kind of their columns."""
    classes = labels_of(model.classes_)
    b = np.asarray(model._intercepts, np.float64)
    constant = np.concatenate([[0.0], b]) if len(b) == 1 else b.copy()
    rows = np.ones(len(classes))
    if "class" in model.tally_:
        rows = model.tally_.over("class", classes).floats()
    priors = rows / max(float(rows.sum()), 1e-300)
    parts: list[Part] = []
    for family, weights in model._by_group().items():
        group, kind = model._groups[family], FAMILIES[family]
        table = weights if weights.shape[1] > 1 else np.hstack([np.zeros_like(weights), weights])
        if kind == "number":
            shares = group.shares
            for j, column in enumerate(group.columns.tolist()):
                deviation = float(np.sqrt(group.variances[j]))
                means = group.by_class[:, j]
                parts.append(Measure.line(column, table[j], float(group.means[j]), means, deviation, shares[:, j]))
        elif kind == "category":
            for j, column in enumerate(group.columns.tolist()):
                at = slice(int(group.first[j]), int(group.first[j + 1]))
                counts = model.tally_.over(f"category:{column}", classes, group.values[j]).floats()
                parts.append(Categories(column, group.values[j], table[at], counts=counts))
        elif kind == "count":
            sums = model.tally_.over("count:sum", classes, group.columns).floats()
            most = most_of(np.abs(sums.sum(axis=0)) / max(float(rows.sum()), 1e-300))
            parts.append(Bags(group.columns, table, None, most, counts=sums))
        else:
            for j, part in enumerate(group.parts):
                own = table[int(group.first[j]) : int(group.first[j + 1])] * part.weights[:, np.newaxis]
                p = part.parameters(weights[int(group.first[j]) : int(group.first[j + 1])])
                parts.append(_linear_words(part, own, p))
    return Evidence(classes, constant, priors, _in_order(parts, model.schema_.names), True)


def _linear_words(part: Any, own: Floats, p: ColumnParameters) -> WordTable:
    typical = say("divided by the length of the text's vector") if part.words.norm is not None else ""
    return WordTable(
        part.name, part.bag, np.asarray(part.weights != 0), lambda k: own[:, k], p, "linear", typical=typical,
        weights=own,
    )  # fmt: skip


# What decided the answers to many rows: what each column says for the answer and against the next best class.

Reasons = list[tuple[str, float]]
_SHIFT = name_reason(say("shift"), say("tuned"))


class _Said(NamedTuple):
    """What a column says of rows: which rows, the log odds of each, and how it is called, by place."""

    rows: NDArray[Any]
    odds: Floats
    name: Callable[[int], str]


def reasons(model: Any, rows: Any, n: int) -> list[Reasons]:
    """Of each row of a table what speaks most for its answer, or against it, with the log odds.

    They are those of `model.explain(row).reasons(n)`, but where columns add up they are worked out column by column.
    """
    try:
        found = None if hasattr(model, "_entries_of") else evidence(model, "list of reasons")
        if found is not None and any(part.kind == "number" and part.together for part in found.parts):
            raise InputError("what a column says is shown given the columns before it")
    except InputError:
        return [model.explain(row).reasons(n) for row in RowsOf(rows, range(checks.count_rows(rows)))]
    order = np.argsort(-np.asarray(model.predict_proba(rows)), axis=1, kind="stable")
    pair = order[:, 0], order[:, min(1, order.shape[1] - 1)]
    if found is None:
        return _of_tables(model, rows, pair, n)
    blocks, n_rows = model._rows(rows)
    said: list[_Said] = []
    if hasattr(model, "_shifts") and (shifts := model._shifts(found.classes)).any():
        said.append(_Said(np.arange(n_rows), shifts[pair[0]] - shifts[pair[1]], lambda place: _SHIFT))
    texts = len(model.schema_.texts)
    for part, block, weights in _with_blocks(model, found, blocks):
        for rows_, odds, name in _SAY[part.kind](part, block, pair, texts):
            said.append(_Said(rows_, odds * (weights[rows_, 0] if np.ndim(weights) else weights), name))
    return _strongest(said, n_rows, n)


def _of_tables(model: Any, rows: Any, pair: Pair, n: int) -> list[Reasons]:
    """Of a network: the entry of each node's table; rows in which a value is missing are explained one by one."""
    whole, entries = model._entries_of(rows, pair)
    found = _strongest([_Said(whole, odds, name) for odds, name in entries], len(pair[0]), n)
    others = np.setdiff1d(np.arange(len(pair[0])), whole).tolist()
    for place, row in zip(others, RowsOf(rows, others)):
        found[place] = model.explain(row).reasons(n)
    return found


def _strongest(said: list[_Said], n_rows: int, n: int) -> list[Reasons]:
    """Of each row the n largest; of equal ones, those of the first columns."""
    found: list[Reasons] = [[] for _ in range(n_rows)]
    sizes = [len(each.rows) for each in said]
    if not sum(sizes):
        return found
    owners, rows = np.repeat(np.arange(len(said)), sizes), np.concatenate([each.rows for each in said])
    odds = np.nan_to_num(np.concatenate([each.odds for each in said]), nan=0.0, posinf=np.inf, neginf=-np.inf)
    order = np.lexsort((owners, -np.abs(odds), rows))
    starts = np.searchsorted(rows[order], np.arange(n_rows))
    kept = order[np.arange(len(order)) - starts[rows[order]] < n]
    places = kept - np.append(0, np.cumsum(sizes))[owners[kept]]
    for row, owner, place, log in zip(*(each.tolist() for each in (rows[kept], owners[kept], places, odds[kept]))):
        found[row].append((said[owner].name(place), log))
    return found


def _with_blocks(model: Any, found: Evidence, blocks: Mapping[str, Block]) -> Iterator[tuple[Part, Any, Any]]:
    """The evidence of each column, the rows' values, and the weight of the column, or of each row's."""
    if found.linear:
        homes = {name: block for block in blocks.values() for name in block.names.tolist()}
        yield from ((part, homes[part.column], 1.0) for part in found.parts)
        return
    for each in model._parameters().attributes:
        if each.attribute.weight:
            lengths = each.lengths(blocks) if each.attribute.exponent else None
            weights = 1.0 if each.attribute.plain else each.attribute.weights_of(lengths)
            yield from ((part, each.block(blocks), weights) for part in each.own.evidence(1.0, found.priors, ""))


Pair = tuple[NDArray[np.intp], NDArray[np.intp]]  # of each row: the answer, and the next best class


def _differences(logs: Any, pair: Pair, rows: NDArray[Any], places: NDArray[Any]) -> Floats:
    """What a table of logs (places × classes) says of rows."""
    with np.errstate(invalid="ignore"):
        return np.asarray(logs[places, pair[0][rows]] - logs[places, pair[1][rows]])


def _say_category(part: Categories, block: Any, pair: Pair, texts: int) -> Iterator[_Said]:
    codes, labels = block.coded(block.names.tolist().index(part.column))
    places = np.append(recognise(part.values, labels), -1)[codes]
    there = np.flatnonzero(places >= 0)
    names = [name_reason(column_name(part.column), str(label)) for label in labels.tolist()]
    given = codes[there].tolist()
    yield _Said(there, _differences(part.logs, pair, there, places[there]), lambda place: names[given[place]])


def _say_number(part: Measure, block: Any, pair: Pair, texts: int) -> Iterator[_Said]:
    x, name = np.asarray(block.column(block.names.tolist().index(part.column)), np.float64), column_name(part.column)
    there = np.zeros(0, np.intp) if part.silent else np.flatnonzero(~np.isnan(x))
    values, at = x[there].tolist(), np.asarray(part.at(x[there])) if len(there) else np.zeros((0, 1))
    odds = _differences(at, pair, there, np.arange(len(there))) if len(there) else np.zeros(0)
    yield _Said(there, odds, lambda place: name_reason(name, f"{values[place]:.6g}"))


def _say_count(part: Bags, block: Any, pair: Pair, texts: int) -> Iterator[_Said]:
    matrix = block.matrix.tocoo() if block.sparse else None
    rows, columns = np.nonzero(block.matrix) if matrix is None else (matrix.row, matrix.col)
    x = np.asarray(block.matrix[rows, columns] if matrix is None else matrix.data, np.float64)
    rows, columns, x = rows[x != 0], columns[x != 0], x[x != 0]
    names = [column_name(name) for name in part.columns.tolist()]
    times = x if part.absent is None else np.ones(len(x))

    def name(place: int) -> str:
        return name_reason(names[columns[place]], f"{x[place]:g}")

    yield _Said(rows, _differences(part.each, pair, rows, columns) * times, name)
    if part.absent is not None:
        there = np.zeros((block.n_rows, len(names)), np.bool_)
        there[rows, columns] = True
        rows_, columns_ = np.nonzero(~there)
        odds = _differences(part.absent, pair, rows_, columns_)
        yield _Said(rows_, odds, lambda place: name_reason(names[columns_[place]], say("absent")))


def _say_words(part: WordTable, block: Any, pair: Pair, texts: int) -> Iterator[_Said]:
    p, column = part.parameters, column_name(part.column)
    text = block.columns[block.names.tolist().index(part.column)]
    rows, nodes, counts = p.lookup(text).entries(text.pieces(p.words.errors), part.used)
    own, places = np.unique(nodes, return_inverse=True)
    classes = np.unique(np.concatenate(pair))
    each = np.zeros((len(own), int(classes.max(initial=0)) + 1))
    for k in classes.tolist():
        each[:, k] = part.each(k)[own]
    absent = None
    if p.absent is not None:  # log odds and log (1 - p) are log p
        absent = np.array([p._log_absent(node) for node in own.tolist()]).reshape(len(own), -1)
        each += absent[:, : each.shape[1]]
    times = np.ones(len(rows)) if p.once else counts.astype(np.float64)
    if p.words.norm is not None:
        squares = np.bincount(rows, (times * p.weights[nodes]) ** 2, block.n_rows)
        times = times / np.sqrt(np.where(squares > 0, squares, 1))[rows]
    words = p.bag.vocabulary.shown(own.tolist())
    front = f"{column}: " if texts > 1 else ""
    yield _Said(rows, _differences(each, pair, rows, places) * times, lambda place: front + words[places[place]])
    if absent is not None:
        there = np.flatnonzero(~text.missing(p.words.errors))
        rest = p.absent - np.array([np.bincount(rows, own_, block.n_rows) for own_ in absent[places].T]).T
        others = np.count_nonzero(part.used) - np.bincount(rows, minlength=block.n_rows)
        odds = _differences(rest, pair, there, there)
        yield _Said(there, odds, lambda place: name_reason(column, say("{n} absent", n=f"{others[there[place]]:,}")))


_SAY: dict[str, Callable[..., Iterator[_Said]]] = {
    "category": _say_category,
    "number": _say_number,
    "count": _say_count,
    "text": _say_words,
}
