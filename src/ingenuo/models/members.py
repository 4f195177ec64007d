"""Who votes in a `BayesClassifier`: the classifiers that suit the columns and the rows.

Of texts, naive Bayes reads single words and pairs of them, and softmax regressions words and characters, in documents
of unit length: these weigh by how rare they are and by how well they tell the classes apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ingenuo.errors import InputError
from ingenuo.models.boosted_trees import BoostedTrees
from ingenuo.models.discriminant import GaussianDiscriminant
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.rows import checks
from ingenuo.rows.part import Chunk
from ingenuo.rows.rows import Part
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import Source
from ingenuo.tally.labels import Labels, find, labels_of
from ingenuo.tally.tally import Tally
from ingenuo.text.words import Words

_PAIRS = Words(ngrams=(1, 2), token=r"\w+")
_WORDS = Words(ngrams=(1, 2), token=r"\w+", binary=True, weighting="tfidf", norm="l2")
_CHARACTERS = Words(characters=(2, 5), binary=True, weighting="tfidf", norm="l2", min_documents=2)
MOST_BYTES = 4_000_000  # of text whose characters are read: longer ones have words enough
_WIDEST = 300  # columns of a network: every pair of them is counted
_MOST_CLASSES = 30  # of trees: each has a value for each class in each leaf
_OF = "\n"  # between the name of a table and that of its member
_MOST_SUMS = 8e6  # rows × columns × sums of a row, which each level of each tree adds up: some ten seconds


def choose_members(
    schema: Schema, source: Source, n_classes: int, text: Any, *, additive: bool
) -> tuple[list[tuple[str, Any]], dict[str, str]]:
    """The members, by name, and why others were left out."""
    n_rows = source.n_rows
    kinds = {name: FAMILIES[schema.family(name)] for name in schema.names.tolist()}
    table = [name for name, kind in kinds.items() if kind in ("number", "category")]
    others = [name for name, kind in kinds.items() if kind in ("count", "text")]
    found, left_out = list[tuple[str, Any]](), dict[str, str]()
    if table:
        columns = _declare(schema, kinds, ("number", "category"))
        if len(table) <= _WIDEST:
            network = NetworkClassifier("kdb", columns=columns, smoothing="back-off", weighting="levels")
            found.append(("network", network))
        else:
            left_out["network"] = f"it counts every pair of columns, and there are {len(table):,}"
            found.append(("naive bayes", NaiveBayes(columns, tune=True)))
        found.append(("discriminant", GaussianDiscriminant("regularised", columns=columns)))
        sums = n_rows * len(table) * (2 * n_classes + 1 if n_classes > 2 else 3)
        if not additive and n_classes > _MOST_CLASSES:
            left_out["trees"] = (
                f"they would have {n_classes} values in each leaf; they vote up to {_MOST_CLASSES} classes"
            )
        elif not additive and sums > _MOST_SUMS:
            left_out["trees"] = f"{n_rows:,} rows of {len(table):,} columns and {n_classes} classes would take too long"
        elif not additive:
            found.append(("trees", BoostedTrees(columns)))
        if not additive:
            linear = SoftmaxRegression(columns, l2="auto", tolerance=1e-4)  # which single precision reaches
            found.append(("softmax", linear))
            found.append(("softmax, products", replace(linear, interactions="auto")))
    if others:
        columns = _declare(schema, kinds, ("count", "text"))
        reads = any(kinds[name] == "text" for name in others)
        found.append(("words", NaiveBayes(columns, tune=True, text=(text or _PAIRS) if reads else None)))
        if not additive:
            how: dict[str, Any] = {"weighting": "naive-bayes", "l2": "auto", "exponent": "auto", "tolerance": 1e-4}
            model = SoftmaxRegression(columns, (text or _WORDS) if reads else None, **how)
            found.append(("softmax of words", model))
            size = _count_bytes(schema, source) if reads else 0
            if text is None and size > MOST_BYTES:
                left_out["softmax of characters"] = f"there are {size:,} bytes of text; it votes up to {MOST_BYTES:,}"
            elif text is None and reads:
                found.append(("softmax of characters", replace(model, text=_CHARACTERS)))
    return found, left_out


def sheet_member(name: str, member: Any, weight: float, schema: Schema, classes: Labels) -> dict[str, Any]:
    """What a sheet has of a member of a vote about columns and classes; an error that names it where it has none."""
    if not hasattr(member, "sheet_scorer"):
        raise InputError(
            f"the member {name!r} is a {type(member).__name__}, which has no sheet; leave it out, or take a classifier "
            "of this package"
        )
    own, labels, _ = member.sheet_schema()
    for column in own.names.tolist():
        kinds = [FAMILIES[each.family(column)] if column in each.names.tolist() else "ignore" for each in (own, schema)]
        if kinds[0] not in ("ignore", kinds[1]):
            raise InputError(
                f"the member {name!r} reads column {column_name(column)!r} as {kinds[0]!r} and the vote as "
                f"{kinds[1]!r}, so there is no sheet of both; declare the column alike"
            )
    at = find(labels_of(labels), classes).tolist()
    return {"name": name, "weight": weight, "at": at, "classes": labels, "scorer": member.sheet_scorer()}


def _count_bytes(schema: Schema, source: Source) -> int:
    """How much text there is."""
    texts = [
        text
        for _, kind, names, chosen in schema.by_family
        if kind == "text"
        for text in source.texts(np.flatnonzero(chosen), names).columns
    ]
    return sum(int(np.ptp(piece.offsets)) for text in texts for piece in text.pieces("replace"))


def _declare(schema: Schema, kinds: Mapping[Any, str], wanted: Sequence[str]) -> dict[Any, Any] | None:
    """What the columns are for a member that reads those of some kinds."""
    if set(kinds.values()) == {"count"}:  # of a sparse table, which has no others
        return None
    known = schema.categories
    return {
        name: (known[name].tolist() if name in known else kind) if kind in wanted else "ignore"
        for name, kind in kinds.items()
    }


def count_members(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """What each member of a vote counts of some rows, by its name; and the rows of each class."""
    n_rows = part.X.n_rows if hasattr(part.X, "anonymous") else checks.count_rows(part.X)
    codes, classes = checks.labels(model, part.y, n_rows)
    seen = Chunk(n_rows, {}, codes, classes, checks.weights(part.weights, n_rows)).count_classes()
    total = {f"{table}{_OF}": sums for table, sums in seen.items()}
    for name, each in zip(model._names, model.estimators_):
        total |= {f"{table}{_OF}{name}": sums for table, sums in each._tally_of(part).items()}
    return Tally(total)


def join_sums(by_member: Mapping[str, Tally]) -> Tally:
    """What `split_sums` splits."""
    return Tally({f"{table}{_OF}{name}": sums for name, own in by_member.items() for table, sums in own.items()})


def split_sums(counted: Tally) -> dict[str, Tally]:
    """The tally of each member, and "" for the rows of each class."""
    found: dict[str, dict[str, Any]] = {}
    for key, sums in counted.items():
        table, _, member = key.rpartition(_OF)
        found.setdefault(member, {})[table] = sums
    return {member: Tally(tables) for member, tables in found.items()}
