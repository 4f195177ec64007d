"""The answers of a model beside the rows they are for, and rows drawn from it, a batch at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingenuo.errors import InputError, KindError
from ingenuo.explanation import evidence
from ingenuo.language import translated
from ingenuo.models.classifier import table_of
from ingenuo.models.language import LanguageModel, LanguageModelClassifier
from ingenuo.models.regressor import NaiveBayesRegressor
from ingenuo.models.remote import answer_columns, free_name
from ingenuo.networks.network import Network
from ingenuo.rows.schema import FAMILIES, column_name
from ingenuo.rows.typed import known_categories, parse_row
from ingenuo.show.format import listed, rounded, signed
from ingenuo.tally.labels import Labels, objects, recognise

_QUANTILES = (0.05, 0.5, 0.95)


class Answers:
    """The answers of a model beside rows; what the model never saw is counted on the way."""

    def __init__(
        self,
        model: Any,
        all_classes: bool,
        reasons: int,
        *,
        only: bool = False,
        digits: int | None = None,
        language: str = "en",
    ) -> None:
        self._model, self._only, self._digits, self._asked = model, only, digits, (all_classes, reasons, language)
        self._known = _categories(model)
        self.unseen: dict[str, Counter[Any]] = {}  # values of each column, with their rows

    def tables(
        self, pairs: Iterable[tuple[pa.Table, pa.Table]], empty: tuple[pa.Table, list[str]] | None = None
    ) -> Iterator[pa.Table]:
        """The rows as they are shown with the answers to those that the model takes, or the answers alone.

        Where there are no rows, `empty` is such a table, and the columns that the model takes: their header is given.
        """
        any_rows = False
        for shown, taken in pairs:
            any_rows = True
            yield self._beside(shown, answers(self._model, taken, *self._asked))
            for name in self._known.keys() & set(taken.column_names):
                counts = {each["values"]: each["counts"] for each in pc.value_counts(taken.column(name)).to_pylist()}
                counts.pop(None, None)  # which is missing
                places = recognise(self._known[name], objects(list(counts)))
                strange = {value: n for (value, n), place in zip(counts.items(), places.tolist()) if place < 0}
                if strange:
                    self.unseen.setdefault(name, Counter()).update(strange)
        if empty is not None and not any_rows:
            nothing = pa.table({name: pa.nulls(1) for name in empty[1]})
            found = answers(self._model, nothing, *self._asked)
            yield self._beside(empty[0], {name: column.slice(0, 0) for name, column in found.items()})

    def _beside(self, shown: pa.Table, found: dict[str, pa.Array]) -> pa.Table:
        for name, column in found.items():
            if self._digits is not None and pa.types.is_floating(column.type):
                numbers = column.to_numpy(zero_copy_only=False)
                found[name] = pa.array(rounded(numbers, self._digits), pa.float64(), from_pandas=True)
        known = {} if self._only else dict(zip(shown.column_names, shown.columns))
        return pa.table({**known, **{free_name(name, list(known)): column for name, column in found.items()}})

    def notes(self) -> list[str]:
        """A sentence for each column that had values which the model never saw."""
        return [
            f"column {name!r}: {found.total():,} row{'s have' if found.total() > 1 else ' has'} a value that the model "
            f"never saw ({listed([repr(value) for value, _ in found.most_common()], 3)})"
            for name, found in sorted(self.unseen.items())
        ]


def _categories(model: Any) -> dict[str, Labels]:
    """The values that a model knows, of each column of categories, or of states, that it learned."""
    schema = getattr(model, "schema_", None)
    if schema is None:
        return {}
    names = [name for name in schema.names.tolist() if FAMILIES[schema.family(name)] == "category"]
    known = {column_name(name): known_categories(model, name, schema) for name in names}
    for name in getattr(model, "densities_", ()):
        values, shares = model._density(name).masses.get(name, ((), np.empty((0, 1))))
        if len(values) == shares.shape[1]:  # so that there are no others
            known[column_name(name)] = values
    return {name: labels for name, labels in known.items() if labels is not None and len(labels)}


def typed_table(model: Any, text: str) -> pa.Table:
    """A row as it was typed as a table of all the columns that a model takes; what was left out is missing."""
    row, schema = parse_row(text, model), getattr(model, "schema_", None)
    if not isinstance(row, dict) or schema is None:
        name = "text" if schema is None or not len(schema) else column_name(schema.names[0])
        return pa.table({name: pa.array([row], pa.string())})
    kinds = {column_name(name): FAMILIES[schema.family(name)] for name in schema.names.tolist()}
    given = {column_name(name): value for name, value in row.items()}
    types = {"number": pa.float64(), "count": pa.float64(), "text": pa.string()}
    return pa.table(
        {
            name: pa.array([given[name]]) if given.get(name) is not None else pa.nulls(1, types.get(kind, pa.string()))
            for name, kind in kinds.items()
            if kind != "ignore"
        }
    )


def answers(model: Any, rows: pa.Table, all_classes: bool, reasons: int, language: str = "en") -> dict[str, pa.Array]:
    """The columns that are appended to some rows; their reasons in a language."""
    if isinstance(model, LanguageModel):
        if reasons or all_classes:
            raise InputError("a language model of all texts has no classes; leave --all and --reasons out")
        texts = rows.column(0).to_pylist()
        return {"perplexity": pa.array([None if t is None else model.perplexity([t]) for t in texts], pa.float64())}
    if not hasattr(model, "predict"):
        raise KindError(f"the file holds a {type(model).__name__}, which answers for no rows")
    if isinstance(model, NaiveBayesRegressor):
        if reasons:
            raise InputError(
                "the answer of a regressor is a mean over bins, which no few columns decide; leave --reasons out"
            )
        found = {"predicted": pa.array(np.asarray(model.predict(rows)))}
        if all_classes:
            quantiles = np.asarray(model.predict_quantiles(rows, list(_QUANTILES))).T
            found |= {f"quantile {share:g}": pa.array(np.array(own)) for share, own in zip(_QUANTILES, quantiles)}
        return found
    if hasattr(model, "predict_proba"):
        found = answer_columns(model, rows, all_classes=all_classes)
    elif all_classes:
        raise InputError(f"a {type(model).__name__} gives classes and no probabilities; leave --all out")
    else:
        found = {"predicted": pa.array(model.predict(rows).tolist())}
    if reasons:
        lines = [
            "; ".join(f"{translated(what, language)} {signed(odds)}" for what, odds in each)
            for each in evidence.reasons(model, rows, reasons)
        ]
        found["reasons"] = pa.array(lines, pa.string())
    return found


def generate(
    model: Any,
    n: int = 10,
    *,
    class_: Any = None,
    given: Mapping[str, Any] | None = None,
    n_words: int | None = None,
    context: str | None = None,
    after: str | None = None,
    random_state: Any = None,
) -> Any:
    """Rows or texts drawn from any model that has a distribution of them, as one Arrow table.

    Of a classifier its columns and, last, the class, under the name that it was learned by ("class", where it had
    none); of a language model the column "text", each text of `n_words`, going on from `context`; or the n most
    probable words `after` some others.
    """
    name = type(model).__name__
    if given and not isinstance(model, Network):
        raise InputError(f"given= is what is known of a network's nodes, and this is a {name}")
    asked = [each for each, value in (("words", n_words), ("context", context), ("next", after)) if value is not None]
    if asked and not isinstance(model, LanguageModel):
        raise InputError(f"--{asked[0]} is of a language-model, and this is a {name}")
    if after is not None and len(asked) > 1:
        raise InputError(f"--next draws no text, so --{asked[0]} says nothing; leave one of the two out")
    if class_ is not None and isinstance(model, LanguageModel | Network):
        remedy = "; say what is given" if isinstance(model, Network) else ""
        raise InputError(f"a {name} has no classes to draw from{remedy}")
    if isinstance(model, Network):
        return model.sample(n, given, random_state)
    if isinstance(model, LanguageModel):
        if after is not None:
            found = model.next(after, n)
            return pa.table({"word": [word for word, _ in found], "probability": [p for _, p in found]})
        if n_words is None:
            texts: Any = model.generate(n_documents=n, seed=random_state, context=context)
        else:
            generator = np.random.default_rng(random_state)
            texts = [model.generate(n_words=n_words, seed=generator, context=context) for _ in range(n)]
        return pa.table({"text": pa.array(texts, pa.string())})
    if not hasattr(model, "classes_"):
        raise KindError(f"nothing can be drawn from a {name}; take a classifier, a language model or a network")
    X, y = model.sample(n, class_, random_state)  # which refuses where there is no distribution of the rows
    names = [column_name(each) for each in model.schema_.names.tolist()]
    if isinstance(model, LanguageModelClassifier):
        X = pa.table({"text": pa.array(X, pa.string())})
    elif not isinstance(X, pa.Table):
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        X = table_of(dict(zip(names, rows.T)), names[: rows.shape[1]], named=True)
    target = getattr(model, "_target", None) or "class"
    while target in names:  # a model whose classes came separately may have a column of that name
        target += "_"
    return X.append_column(target, table_of({target: np.asarray(y, object)}, [target], named=True).column(0))


def as_lines(drawn: Any) -> str:
    """The texts that were drawn, one in each line."""
    if "text" not in drawn.column_names:
        raise InputError(f"there is no column of texts to write as lines; there are {', '.join(drawn.column_names)}")
    return "".join(f"{text}\n" for text in drawn.column("text").to_pylist())
