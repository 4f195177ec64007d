"""What users give, checked once at the border: tables, labels, targets, weights, settings."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, KindError, did_you_mean
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import (
    ArraySource,
    Source,
    TextSource,
    as_array,
    as_table,
    codes_of,
    is_arrow_stream,
    is_texts,
    open_source,
    refuse_elsewhere,
)
from ingenuo.rows.source import is_frame as is_frame
from ingenuo.tally.labels import Labels, encode, is_missing, labels_of, objects, recode

Floats = NDArray[np.float64]

_REGRESSOR = "a regressor, which answers with numbers: NaiveBayesRegressor, or --model regressor"
_SOME_NUMBERS, _MANY_NUMBERS, _ROWS_OF_A_CLASS = (
    5,
    20,
    10,
)  # whole numbers that are labels, from which on they may be amounts


def weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """The rows' weights, or None where every row counts once."""
    if sample_weight is None:
        return None
    try:
        array = np.asarray(sample_weight)
        array = np.ascontiguousarray(array, np.float64) if array.ndim else np.full(n_rows, float(array))
    except (TypeError, ValueError):
        got = f"{np.asarray(sample_weight, object).ravel()[:3].tolist()!r:.60}"
        error = KindError(f"sample_weight must hold numbers, and begins with {got}")
        raise error.typed_as("sample_weight", "the column of --weight") from None
    if array.ndim != 1:
        raise InputError("Sample weights must be 1D array or scalar")
    if array.shape != (n_rows,):
        raise InputError(f"sample_weight.shape == {array.shape}, expected {(n_rows,)}! Give one weight for each row")
    refuse_bad_weights(array, "the weight of row {}")
    if not array.sum() < 1e307:
        raise InputError(f"the weights sum to {array.sum():g}, beyond what a double holds well; scale them down")
    if not array.any():
        raise InputError("every weight is zero, so there is nothing to learn from; give some row a positive weight")
    return array


def refuse_bad_weights(array: Floats, place: str, first: int = 0) -> None:
    """Raise where a weight is negative or not finite; the place has braces for the row."""
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        where = place.format(f"{first + at:,}")
        raise InputError(f"{where} is {float(array[at])!r}; weights are finite and not negative")


def table(estimator: Any, X: Any, *, reset: bool, sparse: bool = True) -> Source:
    """The source for X; with reset, the estimator notes its columns, else they are checked against those."""
    if is_frame(X):
        source = open_source(X)
        if source.n_rows == 0 or len(source.names) == 0:
            what = "sample(s)" if source.n_rows == 0 else "feature(s)"
            raise InputError(
                f"Found array with 0 {what} (shape=({source.n_rows}, {len(source.names)})) while a minimum of 1 "
                "is required: the table is empty."
            )
        if reset:
            _note_names(estimator, X, source)
        return source
    if sparse and is_texts(X):
        return open_source(X)
    if not reset and _reads_one_text(estimator) and _is_one_column(X):  # all missing, or no texts: it will say which
        return TextSource(X)
    if X is None or isinstance(X, str | bytes | Mapping | set):
        return open_source(X)  # which refuses it
    refuse_elsewhere(X)
    if isinstance(X, list | tuple):
        X = array_of(X)
    return open_source(validate_array(estimator, X, reset=reset, sparse=sparse))


def _note_names(estimator: Any, X: Any, source: Source) -> None:
    """Note the columns of a table that is learned from, as scikit-learn does: their names where all are strings."""
    strings = sum(isinstance(name, str) for name in source.names)
    if 0 < strings < len(source.names):  # which scikit-learn refuses
        from sklearn.utils.validation import validate_data

        with convert_errors():
            validate_data(estimator, X, skip_check_array=True, reset=True)
    estimator.n_features_in_ = len(source.names)
    if strings:
        estimator.feature_names_in_ = source.names
    else:
        estimator.__dict__.pop("feature_names_in_", None)


def validate_array(estimator: Any, X: Any, *, reset: bool, sparse: bool, dtype: str | None = None) -> Any:
    """The rows of an array or a sparse matrix (as CSR), checked as scikit-learn checks them; NaN and infinity may be.

    With `reset` the estimator notes the number of columns. Of dtype "numeric", the values must be numbers.
    """
    is_sparse = sparse and type(X).__module__.startswith("scipy.sparse")
    X = X.tocsr() if is_sparse else np.asarray(X) if type(X) is np.memmap else X
    if (is_sparse or type(X) is np.ndarray) and X.ndim == 2 and 0 not in X.shape:
        columns = int(X.shape[1])
        as_known = getattr(estimator, "n_features_in_", columns) == columns
        as_known = as_known and getattr(estimator, "feature_names_in_", None) is None
        if X.dtype.kind in ("fiub" if dtype else "fiubOUSMm") and (reset or as_known):
            if reset:
                estimator.n_features_in_ = columns
                estimator.__dict__.pop("feature_names_in_", None)
            return X
    from sklearn.utils.validation import validate_data  # which converts, warns or says what is wrong

    accepted = "csr" if sparse else False
    with convert_errors():
        return validate_data(estimator, X, accept_sparse=accepted, dtype=dtype, ensure_all_finite=False, reset=reset)


def count_rows(X: Any) -> int:
    """How many rows there are in anything that has rows."""
    if not hasattr(X, "fit") and hasattr(X, "__len__") and not hasattr(X, "tocsr") and getattr(X, "ndim", 1) != 0:
        return len(X)
    from sklearn.utils.validation import _num_samples

    with convert_errors():
        return int(_num_samples(X))


def _as_one_column(y: Any) -> NDArray[Any]:
    """An array of one dimension; one of a single column is taken for that, with a warning."""
    y = y if isinstance(y, np.ndarray) else _label_array(y)
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind != "c":
        return np.ascontiguousarray(y)
    from sklearn.utils.validation import column_or_1d

    with convert_errors():
        return np.asarray(column_or_1d(y, warn=True))


def _reads_one_text(estimator: Any) -> bool:
    schema = getattr(estimator, "schema_", None)
    return schema is not None and len(schema) == 1 and len(schema.texts) == 1


def _is_one_column(X: Any) -> bool:
    """Whether X is a list, an array or a series of single values, and has any."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and not any(isinstance(value, list | tuple | np.ndarray | Mapping) for value in X)
    one_dimension = getattr(X, "ndim", None) == 1 or type(X).__name__.endswith("Array") or hasattr(X, "to_arrow")
    return one_dimension and len(X) > 0


@contextmanager
def convert_errors() -> Iterator[None]:
    """What scikit-learn's checks refuse, with its words, as an error of our tree."""
    try:
        yield
    except IngenuoError:
        raise
    except TypeError as error:
        raise KindError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error


def array_of(rows: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Rows given as lists; text among numbers stays text, and the numbers stay numbers."""
    if not rows:
        return np.empty((0, 0))
    try:
        array = np.asarray(rows)
    except ValueError:
        widths = [len(row) if isinstance(row, list | tuple | np.ndarray) else 1 for row in rows]
        odd = next((i for i, width in enumerate(widths) if width != widths[0]), 0)
        raise InputError(
            f"the rows of the table differ in length: row 0 has {widths[0]} values and row {odd} has {widths[odd]}; "
            "give every row a value for each column, None where it is missing"
        ) from None
    return np.asarray(rows, object) if array.dtype.kind in "US" else array


def read_row(values: Any) -> Any:
    """A row in memory: a file or a stream of one row is read."""
    refuse_elsewhere(values)
    if hasattr(values, "batches"):
        return values.table()
    if is_arrow_stream(values):
        import pyarrow as pa

        return pa.table(values)
    return values


def row(values: Any, schema: Schema) -> Source:
    """One row: a mapping, in which what is left out is missing (a count: 0), a sequence, or a table of one row."""
    names: list[Any] = schema.names.tolist()
    values = read_row(values)
    if is_frame(values) or hasattr(values, "tocsr"):
        source = open_source(values)
        if source.n_rows != 1:
            raise InputError(f"one row was expected, got a table of {source.n_rows}; give table[i:i+1]")
        return source
    if hasattr(values, "to_dict"):
        values = values.to_dict()  # a row of a pandas frame
    if isinstance(values, dict):
        if not schema.named:  # x3 is the column at position 3
            values = {_position(name): value for name, value in values.items()}
        for name in values:
            if name not in names:
                hint = did_you_mean(name, map(column_name, names))
                raise InputError(f"the row has a column {name!r} that the model does not know{hint}")
        kinds = [FAMILIES[list(FAMILIES)[code]] for code in schema.families]
        cells = [values.get(name, 0 if kind == "count" else None) for name, kind in zip(names, kinds)]
    elif isinstance(values, str) and len(names) == 1 and schema.texts:
        cells = [values]
    elif isinstance(values, str) or not isinstance(values, Iterable):
        raise KindError(
            f"one row was expected, got {type(values).__name__} {values!r}; give a mapping from column to value, a "
            "list of values, or a table of one row"
        )
    else:
        cells = values.ravel().tolist() if isinstance(values, np.ndarray) else list(values)
        if len(cells) == 1 and isinstance(cells[0], list | tuple):
            cells = list(cells[0])
        if len(cells) != len(names):
            raise InputError(f"the row has {len(cells)} values and the model has {len(names)} columns")
    return ArraySource(objects(cells).reshape(1, -1), schema.names)


def one_row(values: Any, names: list[Any], table: Any) -> Any:
    """One row as a table of the kind that was learned from, whose columns had these names, if any."""
    values = read_row(values)
    if isinstance(values, str):
        return [values]
    if is_frame(values) or getattr(values, "ndim", 1) == 2:
        return values
    if not isinstance(values, Mapping):
        return array_of([list(values)]) if isinstance(values, Iterable) else [values]
    if table is None:
        raise KindError("a row can be a mapping where a table with column names was learned; give a list of values")
    unknown = next((name for name in values if name not in names), None)
    if unknown is not None:
        raise InputError(f"the row has a column {unknown!r} that was not learned{did_you_mean(unknown, names)}")
    return getattr(table, "from_pydict", table)({name: [values.get(name)] for name in names})


def columns_of(X: Any) -> tuple[list[Any], Any]:
    """A table's column names, and its type, for `one_row`."""
    return (open_source(X).names.tolist(), type(X)) if is_frame(X) else ([], None)


def divisible(X: Any) -> Any:
    """Rows in memory of which some can be taken."""
    if isinstance(X, list | tuple) and not is_texts(X):
        return array_of(X)
    if hasattr(X, "tocsr"):
        return X.tocsr()
    return np.asarray(X) if hasattr(X, "__array__") and not hasattr(X, "__getitem__") else X


def _position(name: object) -> object:
    return int(name[1:]) if isinstance(name, str) and name[:1] == "x" and name[1:].isdecimal() else name


def check_label_types(labels: Labels, classes: Labels) -> None:
    """Raise where labels can be none of the classes, for they are of other types: "1" is not 1."""
    known, given = classes.tolist(), labels.tolist()
    if {*map(type, given)}.isdisjoint(map(type, known)) and {*given}.isdisjoint(known):
        shown = [", ".join(map(repr, each[:5])) + (", …" if len(each) > 5 else "") for each in (given, known)]
        raise InputError(
            f"the labels of y ({shown[0]}) and the classes of the model ({shown[1]}) are of different types, so "
            "nothing can be right; give labels of the same type"
        )


class Coded(NamedTuple):
    """Labels that are codes already, as those of a target in bins, and the sorted classes they stand for."""

    codes: NDArray[np.int32]
    classes: Labels


def _require_target(estimator: Any, y: Any, what: str) -> None:
    """Raise where there is no y, or only the name of a column."""
    if y is None:
        raise InputError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    if isinstance(y, str):
        raise KindError(f"y must hold a {what} for each row, got the string {y!r}; a column name needs a table as X")


def labels(estimator: Any, y: Any, n_rows: int) -> tuple[NDArray[np.int32], Labels]:
    """Codes of the classes and the classes, sorted."""
    _require_target(estimator, y, "label")
    n_labels = count_rows(y.codes if isinstance(y, Coded) else y)
    if n_labels != n_rows:
        called = "target" if isinstance(y, Coded) else "label"
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {n_labels}]: "
            f"X has {n_rows} rows and y has {n_labels} {called}s; give one {called} for each row"
        )
    if isinstance(y, Coded):
        return y.codes, y.classes
    if isinstance(y, np.ndarray | list | tuple) or is_frame(y) or not (hasattr(y, "dtype") or hasattr(y, "type")):
        codes, classes = encode(_as_one_column(y))
    else:  # of pandas, polars or Arrow, by its own dictionary where it has one
        codes, found = codes_of(as_array(y), "y")
        classes = labels_of(found[np.bincount(codes[codes >= 0], minlength=len(found)) > 0])
        codes = recode(codes, found, classes)
    if len(codes) and int(codes.min()) < 0:
        raise InputError(
            f"Input y contains NaN: row {int(np.argmin(codes >= 0))} has no label; drop rows without a label"
        )
    if classes.dtype == np.float64 and not np.isfinite(classes).all():
        raise InputError("Input y contains infinity or a value too large for dtype('float64'): it names no class")
    if classes.dtype == np.float64 and not np.array_equal(np.rint(classes), classes):
        odd = float(classes[np.rint(classes) != classes][0])
        raise InputError(
            f"Unknown label type: continuous. y holds the number {odd!r}, which names no class; a classifier needs "
            f"labels: use strings or whole numbers, or {_REGRESSOR}"
        )
    return codes.astype(np.int32, copy=False), classes


def warn_of_numbers(classes: Labels, rows: NDArray[Any]) -> None:
    """A hint where the labels look like amounts: many whole numbers that do not count up, or with few rows each."""
    once = rows.sum() < 2 * len(classes)  # most of them, so that few rows show it
    if len(classes) <= (_SOME_NUMBERS if once else _MANY_NUMBERS) or classes.dtype.kind not in "iuf":
        return
    counts_up = classes[0] in (0, 1) and classes[-1] - classes[0] == len(classes) - 1
    if not counts_up or rows.sum() < _ROWS_OF_A_CLASS * len(classes):
        warnings.warn(
            f"y has {len(classes):,} different whole numbers, and each is learned as a class of its own; if they are "
            f"amounts, take {_REGRESSOR}; if they are names, make them strings",
            stacklevel=6,
        )


def targets(estimator: Any, y: Any) -> Floats:
    """The number that each row is to be answered with."""
    _require_target(estimator, y, "number")
    array = _as_one_column(y)
    if len(array) == 0:
        raise InputError("Found array with 0 sample(s): y is empty, and there is nothing to learn from; give some rows")
    if array.dtype.kind not in "fiub":
        array = np.array([_number(value, row) for row, value in enumerate(array.tolist())], np.float64)
    array = array.astype(np.float64, copy=False)
    bad = ~np.isfinite(array)
    if bad.any():
        row = int(np.argmax(bad))
        if np.isnan(array[row]):
            raise InputError(f"Input y contains NaN: row {row} has no target; drop rows without a target")
        raise InputError(
            f"Input y contains infinity or a value too large for dtype('float64'): the target of row {row} is "
            f"{float(array[row])!r}; give finite targets"
        )
    return np.ascontiguousarray(array)


def _number(value: Any, row: int) -> float:
    """A target that came as an object: NaN where it is missing."""
    if is_missing(value):
        return float("nan")
    if isinstance(value, Real | Decimal | np.number | np.bool_) and not isinstance(value, np.timedelta64):
        return float(value)
    raise KindError(
        f"the target of row {row} is {type(value).__name__} {value!r}, which is no number; convert y to numbers, "
        "or use a classifier"
    )


def _label_array(y: Any) -> NDArray[Any]:
    """Labels of one type as an array of it; of several, each as it is."""
    if isinstance(y, list | tuple):
        kinds = set(map(type, y))
        if len(kinds) != 1 or not issubclass(kinds.pop(), bool | int | float | np.generic | list):
            return objects(list(y))
    try:
        return np.asarray(y)
    except (ValueError, OverflowError):  # `encode` will say what is wrong
        return objects(list(y))


def sort_classes(classes: Any) -> Labels:
    """The classes that a user announces, sorted."""
    return encode(classes.ravel() if isinstance(classes, np.ndarray) else _label_array(list(classes)))[1]


def target_column(X: Any, y: Any) -> tuple[Any, Any]:
    """X without the column that y names, and that column."""
    X = as_table(X)
    if not isinstance(y, str) or not is_frame(X):
        return X, y
    names = open_source(X).names.tolist()
    if y not in names:
        raise InputError(f"the table has no column {y!r} to learn{did_you_mean(y, names)}")
    return drop_columns(X, [y]), X.column(y) if hasattr(X, "column_names") else X[y]


def drop_columns(X: Any, names: list[str]) -> Any:
    """A table without some columns."""
    if hasattr(X, "drop_columns"):  # Arrow
        return X.drop_columns(names)
    return X.drop(columns=names) if hasattr(X, "iloc") else X.drop(names)


def without_target(X: Any, target: str | None, schema: Schema) -> Any:
    """A table, or a row, without the column that was learned as the label, should it still be there."""
    if target is None or target in schema.names.tolist():
        return X
    if is_frame(X):
        names = getattr(X, "column_names", None)
        return drop_columns(X, [target]) if target in (X.columns if names is None else names) else X
    row = X.to_dict() if hasattr(X, "to_dict") else X
    return {name: value for name, value in row.items() if name != target} if isinstance(row, dict) else X


def refuse_one_class(classes: Labels, model: str) -> None:
    """Raise where there is nothing to tell apart."""
    if not len(classes):
        raise InputError("there are no rows to learn from (0 samples); give rows of two classes at least")
    if len(classes) < 2:
        raise InputError(
            f"every row is of the one class {classes.tolist()[0]!r}, and there is nothing to tell apart; a {model} "
            "needs rows of two classes at least"
        )


# Settings.


def check_whole(name: str, value: Any, least: int = 0) -> None:
    """Raise where a setting is no whole number, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise KindError(f"{name} must be a whole number, got {type(value).__name__} {value!r}")
    if value < least:
        raise InputError(f"{name} is {value}; it must be at least {least}")


def check_number(name: str, value: Any, least: float = 0.0, most: float = math.inf, *, above: bool = False) -> None:
    """Raise where a setting is no finite number between two ends, of which the lower may be excluded."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise KindError(f"{name} must be a number, got {type(value).__name__} {value!r}")
    if not least <= float(value) <= most or math.isinf(value) or (above and value == least):
        end = "finite" if math.isinf(most) else f"at most {most:g}"
        raise InputError(f"{name} is {value!r}; it must be {'above' if above else 'at least'} {least:g} and {end}")


def check_flag(name: str, value: object) -> None:
    """Raise where a setting is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise KindError(f"{name} must be True or False, got {type(value).__name__} {value!r}")


def seeded_generator(name: str, seed: Any) -> np.random.Generator:
    """NumPy's generator for a seed."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise KindError(f"{name} must be a whole number or None, got {seed!r}") from None
