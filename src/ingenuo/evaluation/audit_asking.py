"""Asking a text classifier: sentences into the column it reads, probabilities and decisions out of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, did_you_mean
from ingenuo.labels import encode, find, objects
from ingenuo.schema import FAMILIES, column_name

Floats = NDArray[np.float64]

_FARTHEST = 700.0  # log-odds: what is impossible or certain counts as this far


class Asked(NamedTuple):
    """What a classifier answered."""

    probabilities: Floats  # texts × classes; 0 and 1 where it gives labels only
    log_odds: Floats  # texts × classes, each against the rest
    predicted: NDArray[np.int64]  # places among the classes


class TextModel:
    """A fitted classifier and the column that it reads sentences from.

    Attributes
    ----------
    classes : array
        The classes.
    notes : list of str
        What was done with its other columns.
    """

    def __init__(self, model: Any, column: str | None = None) -> None:
        if not hasattr(model, "predict"):
            raise InputError(
                f"sentences are for a fitted text classifier, got {type(model).__name__}; to audit predictions give "
                "y and protected"
            )
        self.model, self.notes = model, list[str]()
        self.others, self.column = self._columns(column)
        if not hasattr(model, "classes_"):
            raise InputError(f"{type(model).__name__} has no classes; give a fitted classifier")
        self.classes = encode(np.asarray(model.classes_))[1]
        self._places = find(self.classes, objects(np.asarray(model.classes_).tolist()))
        self.probable = hasattr(model, "predict_proba")
        if not self.probable:
            self.notes.append("The model gives labels and no probabilities: its score is 1 for its answer, else 0.")

    def _columns(self, column: str | None) -> tuple[list[Any], Any]:
        """The columns besides, and the column that is read; None where the model reads a list of texts."""
        schema = getattr(self.model, "schema_", None)
        if schema is None or len(schema) == 0:
            if column is not None:
                raise InputError(f"column={column!r} cannot be chosen: {type(self.model).__name__} names no columns")
            return [], None
        families = list(FAMILIES)
        texts = [
            name for name, code in zip(schema.names.tolist(), schema.families) if FAMILIES[families[code]] == "text"
        ]
        if not texts:
            raise InputError(
                f"the model reads no text: its columns are {', '.join(map(column_name, schema.names.tolist()[:5]))}"
                f"{', …' if len(schema) > 5 else ''}; "
                "to audit it by rows, give X and the column of their groups with protected=…"
            )
        if column is not None and column not in texts:
            raise InputError(f"the model has no text column {column!r}{did_you_mean(column, texts)}")
        chosen = texts[0] if column is None else column
        others = [name for name in schema.names.tolist() if name != chosen]
        if others:
            listed = ", ".join(repr(column_name(name)) for name in others[:5]) + (", …" if len(others) > 5 else "")
            self.notes.append(f"The sentences stand in column {column_name(chosen)!r}; missing are {listed}.")
        return others, chosen

    def _table(self, texts: list[str]) -> Any:
        if not self.others:
            return texts
        import pyarrow as pa

        schema = self.model.schema_
        columns = {name: pa.nulls(len(texts)) for name in schema.names.tolist()}
        columns[self.column] = pa.array(texts)
        if schema.named:
            return pa.table({str(name): values for name, values in columns.items()})
        return np.column_stack([objects(values.to_pylist()) for values in columns.values()])

    def ask(self, texts: list[str]) -> Asked:
        """The model's answers to some texts."""
        table = self._table(texts)
        k = len(self.classes)
        try:
            answered = np.asarray(self.model.predict(table))
            given = np.asarray(self.model.predict_proba(table)) if self.probable else None
            logs = np.asarray(self.model.predict_log_proba(table)) if hasattr(self.model, "predict_log_proba") else None
        except (IngenuoError, ValueError, TypeError, AttributeError) as error:
            first = str(error).splitlines()[0].rstrip(":") if str(error) else type(error).__name__
            raise InputError(
                f"{type(self.model).__name__} does not take a list of sentences ({first:.150}); give a text "
                "classifier, or audit it by rows with X and protected=…"
            ) from None
        predicted = find(self.classes, objects(answered.ravel().tolist()))
        probabilities = np.zeros((len(texts), k))
        if given is None:
            probabilities[np.arange(len(texts)), predicted] = 1.0
        else:
            probabilities[:, self._places] = given
        with np.errstate(divide="ignore"):
            log = np.log(probabilities)
        if logs is not None:
            log[:, self._places] = logs
        return Asked(probabilities, _log_odds(log), predicted)

    def log_odds(self, texts: list[str]) -> Floats:
        """The log-odds of each class against the rest."""
        return self.ask(texts).log_odds


def _log_odds(log: Floats) -> Floats:
    """log P(class) - log P(any other), from log probabilities.

    >>> _log_odds(np.log([[0.8, 0.2]])).round(4).tolist()
    [[1.3863, -1.3863]]
    """
    from scipy.special import logsumexp

    found = np.empty_like(log)
    for k in range(log.shape[1]):
        rest = np.delete(log, k, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            others = logsumexp(rest, axis=1) if rest.shape[1] else np.full(len(log), -np.inf)
            found[:, k] = log[:, k] - others
    return np.asarray(np.nan_to_num(found.clip(-_FARTHEST, _FARTHEST)))
