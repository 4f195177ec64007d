"""The answers of a model beside the rows they are for, and rows drawn from it, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ingenuo.errors import InputError, KindError
from ingenuo.models.classifier import table_of
from ingenuo.models.language import LanguageModel, LanguageModelClassifier
from ingenuo.models.regressor import NaiveBayesRegressor
from ingenuo.models.remote import answer_columns, free_name
from ingenuo.networks.network import Network
from ingenuo.rows.schema import column_name

_QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Wanted:
    """What is to be answered for each row, besides the class and its probability."""

    all_classes: bool = False
    reasons: int = 0


def answers(model: Any, rows: pa.Table, wanted: Wanted) -> dict[str, pa.Array]:
    """The columns that are appended to some rows."""
    if isinstance(model, LanguageModel):
        return _of_texts(model, rows, wanted)
    if not hasattr(model, "predict"):
        raise KindError(f"the file holds a {type(model).__name__}, which answers for no rows")
    if isinstance(model, NaiveBayesRegressor):
        return _of_numbers(model, rows, wanted)
    found: dict[str, pa.Array] = {}
    if hasattr(model, "predict_proba"):
        found = answer_columns(model, rows, all_classes=wanted.all_classes)
    else:
        if wanted.all_classes:
            raise InputError(f"a {type(model).__name__} gives classes and no probabilities; leave --all out")
        found["predicted"] = pa.array(model.predict(rows).tolist())
    if wanted.reasons:
        found["reasons"] = pa.array(
            [_reasons(model.explain(rows.slice(row, 1)), wanted.reasons) for row in range(rows.num_rows)],
            pa.string(),
        )
    return found


def _reasons(explanation: Any, n: int) -> str:
    """What decided an answer, in one line, each with its sign."""
    return "; ".join(f"{what} {odds:+.2f}".replace("-", "−") for what, odds in explanation.reasons(n))


def _of_numbers(model: NaiveBayesRegressor, rows: pa.Table, wanted: Wanted) -> dict[str, pa.Array]:
    if wanted.reasons:
        raise InputError(
            "the answer of a regressor is a mean over bins, which no few columns decide; leave --reasons out"
        )
    found = {"predicted": pa.array(np.asarray(model.predict(rows)))}
    if wanted.all_classes:
        quantiles = np.asarray(model.predict_quantiles(rows, list(_QUANTILES)))
        for place, share in enumerate(_QUANTILES):
            found[f"quantile {share:g}"] = pa.array(np.ascontiguousarray(quantiles[:, place]))
    return found


def _of_texts(model: LanguageModel, rows: pa.Table, wanted: Wanted) -> dict[str, pa.Array]:
    if wanted.reasons or wanted.all_classes:
        raise InputError("a language model of all texts has no classes; leave --all and --reasons out")
    texts = rows.column(0).to_pylist()
    return {
        "perplexity": pa.array([None if text is None else model.perplexity([text]) for text in texts], pa.float64())
    }


def answered(model: Any, rows: Any, wanted: Wanted, *, only: bool = False) -> Iterator[pa.Table]:
    """The rows of `rows_for(…, others=True)` with their answers; the answers alone, where these are asked for."""
    for shown, taken in rows.pairs():
        found = answers(model, taken, wanted)
        columns = {} if only else dict(zip(shown.column_names, shown.columns))
        yield pa.table({**columns, **{free_name(name, list(columns)): column for name, column in found.items()}})


# `generate`: rows or texts drawn from any model that has a distribution of them, as one Arrow table.


def generate(
    model: Any,
    n: int = 10,
    *,
    class_: Any = None,
    given: Mapping[str, Any] | None = None,
    n_words: int | None = None,
    context: str | None = None,
    random_state: Any = None,
) -> Any:
    """Draw rows or texts.

    Parameters
    ----------
    model : fitted model or Network
        What to draw from.
    n : int
        How many rows or texts.
    class_ : optional
        Of a classifier, the class to draw from; by default classes are drawn too, by their prior.
    given : mapping, optional
        Of a network, what is known.
    n_words : int, optional
        Of a language model, the words of each text; where one ends before, the next begins.
    context : str, optional
        Of a language model, the words to go on from.
    random_state : optional
        Seed for NumPy's generator.

    Returns
    -------
    pyarrow.Table
        Of a classifier its columns and, last, the class, under the name that it was learned by ("class", where it had
        none); of a language model the column "text".

    Examples
    --------
    >>> from ingenuo import NaiveBayes
    >>> model = NaiveBayes().fit(pa.table({"wind": ["weak", "strong"], "play": ["yes", "no"]}), "play")
    >>> generate(model, 2, class_="yes", random_state=0).column_names
    ['wind', 'play']
    """
    if given and not isinstance(model, Network):
        raise InputError(f"given= is what is known of a network's nodes, and this is a {type(model).__name__}")
    if not isinstance(model, LanguageModel) and (n_words is not None or context is not None):
        which = "n_words=" if n_words is not None else "context="
        raise InputError(f"{which} is of a LanguageModel, and this is a {type(model).__name__}")
    if class_ is not None and isinstance(model, LanguageModel | Network):
        raise InputError(
            f"a {type(model).__name__} has no classes to draw from"
            + ("; say what is given" * isinstance(model, Network))
        )
    if isinstance(model, Network):
        return model.sample(n, given, random_state)
    if isinstance(model, LanguageModel):
        return pa.table({"text": pa.array(_texts(model, n, n_words, context, random_state), pa.string())})
    if not hasattr(model, "classes_"):
        raise KindError(
            f"nothing can be drawn from a {type(model).__name__}; take a classifier, a language model or a network"
        )
    X, y = model.sample(n, class_, random_state)  # which refuses where there is no distribution of the rows
    names = {column_name(name) for name in model.schema_.names.tolist()}
    rows = (
        pa.table({"text": pa.array(X, pa.string())})
        if isinstance(model, LanguageModelClassifier)
        else _drawn_table(X, model)
    )
    target = getattr(model, "_target", None) or "class"
    while target in names:  # a model whose classes came apart may have a column of that name
        target += "_"
    classes = table_of({target: np.asarray(y, object)}, [target], named=True)
    return rows.append_column(target, classes.column(0))


def as_lines(drawn: Any) -> str:
    """The texts that were drawn, one in each line."""
    if "text" not in drawn.column_names:
        raise InputError(f"there is no column of texts to write as lines; there are {', '.join(drawn.column_names)}")
    return "".join(f"{text}\n" for text in drawn.column("text").to_pylist())


def _texts(model: LanguageModel, n: int, n_words: int | None, context: str | None, random_state: Any) -> list[str]:
    if n_words is None:
        found: list[str] = model.generate(n_documents=n, seed=random_state, context=context)
        return found
    generator = np.random.default_rng(random_state)
    return [model.generate(n_words=n_words, seed=generator, context=context) for _ in range(n)]


def _drawn_table(X: Any, model: Any) -> Any:
    """The rows as a table, whatever the model draws."""
    if isinstance(X, pa.Table):
        return X
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    names = [column_name(name) for name in model.schema_.names.tolist()][: rows.shape[1]]
    return table_of({name: rows[:, j] for j, name in enumerate(names)}, names, named=True)
