"""The border of evaluation: what a classifier answered and what was true, checked once and brought to the same classes.

A classifier, its probabilities or its labels come in; out come codes into one sorted list of classes. That list has the
classes that the model knows and those that are true of a row: a label unseen in training has probability 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, MergeError
from ingenuo.rows import checks
from ingenuo.tally.labels import Labels, encode, find, objects, recode, same, unite

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

# How far the probabilities of a row may be from a sum of 1; narrower types are granted their rounding.
_TOLERANCE, _ROUNDINGS = 1e-6, 32
_DIGITS = 9  # of probabilities and weights, for the order of rows


@dataclass(frozen=True, eq=False)
class Predictions:
    """What was true and what was answered, row by row."""

    classes: Labels  # sorted: those the model knows and those that are true of a row
    codes: Codes  # the class that is true, as its place among the classes
    predicted: Codes  # and the one that was answered
    probabilities: Floats | None = None  # rows × classes; None where there are labels only
    weights: Floats | None = None  # None where each row counts once
    unseen: NDArray[np.int64] | None = None  # of each class, the rows that the model could not know; None: none

    def __len__(self) -> int:
        return len(self.codes)

    def on(self, classes: Labels) -> Predictions:
        """The same among more classes, which have probability 0."""
        if same(self.classes, classes):
            return self
        places, unseen, probabilities = find(classes, self.classes), self.unseen, self.probabilities
        if unseen is not None:
            unseen = np.bincount(places, unseen, len(classes)).astype(np.int64)
        if probabilities is not None:
            probabilities = np.zeros((len(self), len(classes)))
            probabilities[:, places] = self.probabilities
        codes, predicted = (places[c].astype(np.int32) for c in (self.codes, self.predicted))
        return Predictions(classes, codes, predicted, probabilities, self.weights, unseen)

    def take(self, rows: NDArray[Any]) -> Predictions:
        """Some of the rows."""
        probabilities, weights = (None if a is None else a[rows] for a in (self.probabilities, self.weights))
        return Predictions(self.classes, self.codes[rows], self.predicted[rows], probabilities, weights, self.unseen)

    def canonical(self) -> Predictions:
        """The same rows in an order that depends on nothing but the rows; those of weight 0 are left out."""
        rows = self
        if self.weights is not None:
            rows = self if self.weights.all() else self.take(np.flatnonzero(self.weights > 0))
            rows = replace(rows, weights=None) if np.all(rows.weights == 1) else rows
        return rows.take(_order(rows))

    def __add__(self, other: Predictions) -> Predictions:
        """The rows of both, among the classes of both."""
        if (self.probabilities is None) != (other.probabilities is None):
            raise MergeError("one part has probabilities and the other has labels only; judge both by the same")
        united = unite(self.classes, other.classes)
        parts = (self.on(united), other.on(united))
        codes, predicted = (np.concatenate([getattr(p, name) for p in parts]) for name in ("codes", "predicted"))
        probabilities = weights = unseen = None
        if self.probabilities is not None:
            probabilities = np.concatenate([p.probabilities for p in parts])  # type: ignore[misc]
        if any(p.weights is not None for p in parts):
            weights = np.concatenate([np.ones(len(p)) if p.weights is None else p.weights for p in parts])
        if any(p.unseen is not None for p in parts):
            unseen = sum((p.unseen for p in parts if p.unseen is not None), np.zeros(len(united), np.int64))
        return Predictions(united, codes, predicted, probabilities, weights, unseen)


def list_names(names: Sequence[Any] | NDArray[Any], write: Callable[[Any], str] = repr, most: int = 5) -> str:
    """The first names in a sentence, and how many more there are."""
    every = list(names.tolist() if isinstance(names, np.ndarray) else names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(map(write, every[:most])) + more


def describe_unseen(classes: Labels, unseen: NDArray[Any] | None, probable: bool) -> tuple[str, ...]:
    """A sentence on rows of classes that the model does not know, if there are any; `unseen` counts them by class."""
    if unseen is None or not unseen.any():
        return ()
    rows, names = int(unseen.sum()), classes[unseen > 0]
    what, count = ("rows are", "they count") if rows > 1 else ("row is", "it counts")
    which = "classes" if len(names) > 1 else "a class"
    impossible = ", and with probability 0, which the log loss takes for 2.2e-16" if probable else ""
    shown = f"{rows:,} {what} of {which} that the model does not know ({list_names(names)})"
    return (f"{shown}; {count} as wrong{impossible}.",)


def _order(rows: Predictions) -> NDArray[np.intp]:
    """The order of the rows by a hash of each; rows of the same hash that differ are put in order column by column.

    What is hashed is rounded, so that the order, and with it what the bootstrap draws, does not hang on the last bits.
    """
    columns, rounded = ([rows.codes.astype(np.uint64), rows.predicted.astype(np.uint64)] for _ in range(2))
    for array in (rows.probabilities, None if rows.weights is None else rows.weights[:, np.newaxis]):
        if array is not None:
            for into, values in ((columns, array), (rounded, np.round(array, _DIGITS))):
                into += list(np.ascontiguousarray((values + 0.0).T).view(np.uint64))  # + 0.0: no zero has a sign
    hashes = np.zeros(len(rows), np.uint64)
    for column in rounded:
        hashes = (hashes ^ column) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    order = np.argsort(hashes, kind="stable")
    tied = hashes[order[:-1]] == hashes[order[1:]]
    if tied.any():
        places = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
        among = order[places]
        order[places] = among[np.lexsort([*(column[among] for column in columns), hashes[among]])]
    return order


def predictions_of(
    model: Any, X: Any = None, y: Any = None, classes: Any = None, sample_weight: Any = None
) -> Predictions:
    """Bring a fitted classifier's answers to X, or answers that were given before, to codes and probabilities.

    Beside probabilities, classes are those of their columns (by default a table's names, or the sorted labels of y);
    beside labels, classes that might have been answered as well.
    """
    if isinstance(model, type):
        raise KindError(f"a fitted classifier or its predictions were expected, got the class {model.__name__}")
    is_model, named = hasattr(model, "predict"), isinstance(y, str)
    X, y = checks.target_column(X, y)
    if y is None:
        given = "" if X is None or is_model else " (what was given second is X; predictions have none)"
        raise InputError(f"y is missing{given}: nothing can be judged without what is true of each row; give y=…")
    if is_model and X is None:
        raise InputError(f"X is missing: {type(model).__name__} has no rows to classify; give X and y")
    if not is_model and X is not None and not named:
        raise InputError(
            "predictions are judged by y alone, and X is of no use beside them; leave X out: evaluate(predictions, y=y)"
        )
    probabilities, answered, known = _ask(model, X, classes) if is_model else _read(model, classes)
    n_rows = len(answered) if probabilities is None else len(probabilities)
    if n_rows == 0:
        raise InputError("Found array with 0 sample(s): there are no rows to judge; give one at least")
    codes, truths = _encode(y, n_rows, "y")
    predicted, found = (codes[:0], truths[:0]) if answered is None else _encode(answered, n_rows, "predictions")
    if probabilities is None:
        columns = found if known is None else unite(found, encode(known)[1])
    else:
        places, columns = _match_columns(probabilities.shape[1], known, truths)
    united = unite(unite(columns, truths), found)
    codes = recode(codes, truths, united)
    unseen = None if probabilities is None and known is None else _unseen(codes, united, columns)
    whole = None
    if probabilities is not None:
        whole = np.zeros((n_rows, len(united)))
        whole[:, find(united, columns)[places]] = probabilities
        checks.check_label_types(truths, columns)
    if answered is None and whole is not None:
        predicted, found = whole.argmax(axis=1).astype(np.int32), united
    return Predictions(
        united, codes, recode(predicted, found, united), whole, checks.weights(sample_weight, n_rows), unseen
    )


def _match_columns(n_columns: int, known: Labels | None, truths: Labels) -> tuple[NDArray[Any], Labels]:
    """The place of each column of probabilities among the sorted classes, and these; by default those of y."""
    if known is None and len(truths) != n_columns:
        raise InputError(
            f"there are {n_columns} columns of probabilities and {len(truths)} different labels in y, so it is not "
            "known which column is of which class; give classes=…, the class of each column"
        )
    known = truths if known is None else known
    places, columns = encode(known)
    if len(places) != n_columns:
        raise InputError(
            f"there are {n_columns} columns of probabilities and {len(places)} classes; give a class for each column"
        )
    if len(columns) != len(places) or int(places.min()) < 0:
        raise InputError(f"the classes of the columns are {known.tolist()!r}; each must be there, and only once")
    return places, columns


def _unseen(codes: Codes, classes: Labels, known: Labels) -> NDArray[np.int64] | None:
    """How many rows of each class the model could not know; None where there are none."""
    rows = np.where(find(known, classes) < 0, np.bincount(codes, minlength=len(classes)), 0)
    return rows if rows.any() else None


def _encode(y: Any, n_rows: int, called: str) -> tuple[Codes, Labels]:
    """Codes and sorted classes of one label for each row."""
    try:
        n_labels = len(y)
    except TypeError:
        raise KindError(f"{called} must hold a label for each row, got {type(y).__name__} {y!r}") from None
    if n_labels != n_rows and not isinstance(y, str):
        raise InputError(f"there are {n_rows} predictions and {n_labels} labels in {called}; give one for each row")
    try:
        return checks.labels(None, y, n_rows)
    except InputError as error:
        if called == "y":
            raise
        raise InputError(f"{called} are no labels: {error}".replace("Input y contains", "they contain")) from None


def _ask(model: Any, X: Any, classes: Any) -> tuple[Floats | None, Any, Labels | None]:
    """What a fitted classifier answers: probabilities where it has them, its labels, its classes."""
    name, answered, known = type(model).__name__, model.predict(X), getattr(model, "classes_", None)
    if getattr(answered, "ndim", 1) == 2 and answered.shape[1] == 1:
        answered = answered[:, 0]
    if isinstance(known, list) or getattr(answered, "ndim", 1) != 1:
        raise KindError(f"{name} answers several questions at once; judge each on its own, by its predictions")
    given = None if classes is None else _names(classes)
    known = given if known is None else _names(known)
    if given is not None and known is not None and set(given.tolist()) != set(known.tolist()):
        raise InputError(f"classes={given.tolist()!r} are not those of {name}, {known.tolist()!r}; leave classes out")
    return _check_probabilities(model.predict_proba(X)) if hasattr(model, "predict_proba") else None, answered, known


def _read(predictions: Any, classes: Any) -> tuple[Floats | None, Any, Labels | None]:
    """Answers that were given before: probabilities, or labels."""
    known = None if classes is None else _names(classes)
    if checks.is_frame(predictions):
        if known is None:
            known = objects(list(getattr(predictions, "column_names", None) or predictions.columns))
        if hasattr(predictions, "to_pandas") and not hasattr(predictions, "to_numpy"):  # an Arrow table
            predictions = np.column_stack([column.to_numpy() for column in predictions.columns])
        return _check_probabilities(predictions), None, known
    kind = type(predictions).__name__
    if isinstance(predictions, str) or not hasattr(predictions, "__len__"):
        raise KindError(f"a fitted classifier, probabilities or labels were expected, got {kind} {predictions!r}")
    if hasattr(predictions, "tocsr") or (hasattr(predictions, "keys") and not hasattr(predictions, "iloc")):
        raise KindError(f"probabilities must be an array of rows × classes, got {kind}; give a dense array")
    is_list = isinstance(predictions, list | tuple)
    nested = is_list and any(isinstance(row, list | np.ndarray) for row in predictions)
    if nested or getattr(predictions, "ndim", 1) >= 2:
        return _check_probabilities(predictions), None, known
    array = predictions if isinstance(predictions, np.ndarray) else np.zeros(0)
    if is_list and all(isinstance(p, float) for p in predictions):
        array = np.array(predictions)
    if array.dtype.kind == "f" and not (np.rint(array) == array).all():
        row = int(np.argmax(np.rint(array) != array))
        raise InputError(
            f"the prediction of row {row} is {float(array[row])!r}, which names no class; give probabilities with a "
            "column for each class, of two classes np.column_stack([1 - p, p])"
        )
    return None, predictions, known


def _names(classes: Any) -> Labels:
    """The classes in the order they were given."""
    if isinstance(classes, str) or not hasattr(classes, "__len__"):
        raise KindError(f"classes must be a list of classes, got {type(classes).__name__} {classes!r}")
    return classes.ravel() if isinstance(classes, np.ndarray) else objects(list(classes))


def _check_probabilities(probabilities: Any) -> Floats:
    """Probabilities as rows × classes of doubles: not negative, with a sum of 1 in each row."""
    given = checks.array_of(probabilities) if isinstance(probabilities, list | tuple) else np.asarray(probabilities)
    if given.ndim != 2:
        raise InputError(f"probabilities must have two dimensions, rows × classes, got the shape {given.shape}")
    try:
        array = np.ascontiguousarray(given, np.float64)
    except (TypeError, ValueError):
        raise KindError(f"probabilities must be numbers, got {given.dtype}; give rows × classes of doubles") from None
    if array.size == 0:
        raise InputError(f"Found array with 0 sample(s) (shape={array.shape}): there is nothing to judge")
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        row, column = divmod(int(np.argmax(bad)), array.shape[1])
        raise InputError(
            f"row {row} has the probability {float(array[row, column])!r} in column {column}; probabilities are "
            "numbers from 0 to 1"
        )
    sums = array.sum(axis=1)
    rounding = _ROUNDINGS * float(np.finfo(given.dtype).eps) if given.dtype.kind == "f" else 0.0
    off = np.abs(sums - 1.0) > max(_TOLERANCE, rounding)
    if off.any():
        row = int(np.argmax(off))
        raise InputError(
            f"the probabilities of row {row} sum to {float(sums[row])!r}, not to 1; divide each row by its sum, or "
            "give predict_proba's output as it is"
        )
    return array
