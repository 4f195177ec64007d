"""The answers of a model beside the rows they are for, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ingenuo.errors import InputError, KindError
from ingenuo.estimators.answers import columns, free
from ingenuo.estimators.language import LanguageModel
from ingenuo.estimators.regressor import NaiveBayesRegressor
from ingenuo.explanation.reasons import in_words, reasons

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
        found = columns(model, rows, all_classes=wanted.all_classes)
    else:
        if wanted.all_classes:
            raise InputError(f"a {type(model).__name__} gives classes and no probabilities; leave --all out")
        found["predicted"] = pa.array(model.predict(rows).tolist())
    if wanted.reasons:
        found["reasons"] = pa.array(
            [in_words(reasons(model.explain(rows.slice(row, 1)), wanted.reasons)) for row in range(rows.num_rows)],
            pa.string(),
        )
    return found


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


def answered(model: Any, rows: Any, wanted: Wanted, *, only: bool = False, progress: Any = None) -> Iterator[pa.Table]:
    """The rows of `rows_for(…, others=True)` with their answers; the answers alone, where these are asked for."""
    for shown, taken in rows.pairs(progress):
        found = answers(model, taken, wanted)
        columns = {} if only else dict(zip(shown.column_names, shown.columns))
        yield pa.table({**columns, **{free(name, list(columns)): column for name, column in found.items()}})
