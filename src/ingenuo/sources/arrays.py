"""NumPy arrays and SciPy CSR matrices as sources, without copying them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Codes, Counts, Numbers, Texts
from ingenuo.errors import InputError, KindError
from ingenuo.kernels.codes import NUMBERED_UP_TO
from ingenuo.labels import Labels, encode, is_missing
from ingenuo.schema import column_name
from ingenuo.sources.objects import SAMPLE, kind_of_objects
from ingenuo.sources.table import Places, as_number

_FIRST = 100


def _select(matrix: Any, places: Places) -> Any:
    """The columns at the places: a view when they are all, or stand side by side."""
    n = matrix.shape[1]
    if len(places) == n and np.array_equal(places, np.arange(n)):
        return matrix
    if len(places) and np.array_equal(places, np.arange(places[0], places[0] + len(places))):
        return matrix[:, places[0] : places[0] + len(places)]
    return matrix[:, places]


class ArraySource:
    """A two-dimensional array of numbers, booleans, strings or objects."""

    anonymous = False

    def __init__(self, array: NDArray[Any]) -> None:
        if array.ndim != 2:
            raise InputError(
                f"a table has rows and columns: expected a 2-dimensional array, got {array.ndim} dimensions; "
                "reshape your data with X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row"
            )
        self.array = array
        self.n_rows = array.shape[0]
        self.names: Labels = np.arange(array.shape[1])

    def uniform(self) -> tuple[str, str] | None:
        """One kind for all, by the type of the array."""
        kind = self.array.dtype.kind
        if kind in "iu" or (kind == "f" and not self._empty().any()):
            return "number", f"{self.array.dtype} values"
        if kind == "b":
            return "category", "true or false"
        if kind not in "fUSTO":
            raise KindError(
                f"an array of {self.array.dtype} is no table of numbers, booleans or strings; convert it first"
            )
        return None

    def guess(self, place: int) -> tuple[str, str]:
        """The kind of a column by its first values."""
        if self.array.dtype.kind == "f":
            return ("ignore", "no value") if self._empty()[place] else ("number", f"{self.array.dtype} values")
        values = self.array[:, place]
        found = kind_of_objects(values[:SAMPLE].tolist())
        if found == ("ignore", "no value") and len(values) > SAMPLE:
            found = kind_of_objects([value for value in values.tolist() if not is_missing(value)][:SAMPLE])
        return found

    def _empty(self) -> NDArray[np.bool_]:
        """Of each column of floats, whether it has no value: the first rows rule most of them out."""
        empty: NDArray[np.bool_] = np.isnan(self.array[:_FIRST]).all(axis=0)
        if len(self.array) > _FIRST:
            for place in np.flatnonzero(empty):
                empty[place] = np.isnan(self.array[:, place]).all()
        return empty

    def numbers(self, places: Places, names: Labels) -> Numbers:
        """The columns as numbers."""
        if self.array.dtype.kind in "fiub":
            return Numbers(names, self.n_rows, matrix=_select(self.array, places))
        columns = [as_number(self.array[:, p].tolist(), name) for p, name in zip(places, names)]
        return Numbers(names, self.n_rows, matrix=np.column_stack(columns))

    def codes(self, places: Places, names: Labels) -> Codes:
        """The columns as categories; small integers serve as their own codes."""
        matrix = _select(self.array, places)
        if matrix.dtype.kind in "iu" and matrix.size and int(matrix.min()) >= 0 and int(matrix.max()) < NUMBERED_UP_TO:
            top = matrix.max(axis=0)
            return Codes(names, self.n_rows, matrix, [np.arange(int(t) + 1) for t in top])
        columns, labels = [], []
        for j, name in enumerate(names):
            try:
                codes, found = encode(np.ascontiguousarray(matrix[:, j]))
            except KindError as error:
                raise KindError(f"column {column_name(name)!r}, {error}") from None
            columns.append(codes)
            labels.append(found)
        return Codes(names, self.n_rows, columns, labels)

    def counts(self, places: Places, names: Labels) -> Counts:
        """The columns as counts."""
        if self.array.dtype.kind not in "fiub":
            return Counts(names, self.n_rows, self.numbers(places, names).matrix)
        return Counts(names, self.n_rows, _select(self.array, places))

    def texts(self, places: Places, names: Labels) -> Texts:
        """The columns as text."""
        from ingenuo.sources.texts import columns

        return Texts(names, self.n_rows, columns(names, [self.array[:, place] for place in places]))


def _dense_column(matrix: Any, j: int, lo: int, hi: int) -> NDArray[Any]:
    return np.asarray(matrix[lo:hi, [j]].toarray()[:, 0])


class SparseSource:
    """A CSR matrix: every column is a count unless it is declared to be something else."""

    anonymous = False

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.n_rows = matrix.shape[0]
        self.names: Labels = np.arange(matrix.shape[1])

    def uniform(self) -> tuple[str, str]:
        """Counts."""
        return "count", "a sparse matrix"

    def guess(self, place: int) -> tuple[str, str]:
        """Counts."""
        return self.uniform()

    def numbers(self, places: Places, names: Labels) -> Numbers:
        """The columns as numbers, made dense a piece at a time."""
        selected = _select(self.matrix, places)
        return Numbers(
            names,
            self.n_rows,
            columns=[partial(_dense_column, selected, j) for j in range(len(names))],
        )

    def codes(self, places: Places, names: Labels) -> Codes:
        """The columns as categories, zero being one of them."""
        return ArraySource(_select(self.matrix, places).toarray()).codes(np.arange(len(names)), names)

    def counts(self, places: Places, names: Labels) -> Counts:
        """The columns as counts."""
        return Counts(names, self.n_rows, _select(self.matrix, places))

    def texts(self, places: Places, names: Labels) -> Texts:
        """A sparse matrix has none."""
        raise KindError(f"column {column_name(names[0])!r} of a sparse matrix holds numbers where text is expected")
