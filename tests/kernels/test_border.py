"""What does not fit is refused before a loop reads or writes beyond an array."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from ingenuo import MultinomialNB, NaiveBayes
from ingenuo.errors import InputError
from ingenuo.kernels import codes, counts, densities, moments
from ingenuo.rows.part import Numbers

CODES, LABELS = np.zeros((4, 2), np.int64), np.array([0, 1, 0, 1], np.int32)
TABLE, FLAT = (
    Numbers(np.array(["a", "b"]), 4, np.ones((4, 2))),
    codes.Flat.of([(), (0,)], [np.ones(2), np.ones((2, 3))]),
)

LINES = densities.Polylines.of([(np.ones(1), np.ones(1), np.zeros(1))])
BEYOND = {
    "labels of codes": lambda: codes.tally(CODES, LABELS[:3], 2, [1, 1]),
    "sizes of codes": lambda: codes.tally(CODES, LABELS, 2, [1, 1, 1]),
    "codes of 4 bytes that are no integers": lambda: codes.count_codes(np.zeros(3, np.float32), 2),
    "rows of a result": lambda: codes.add_log_likelihood(CODES, [np.ones((1, 2))] * 2, np.zeros((5, 2))),
    "a code of a contingency table": lambda: codes.codes_matrix([LABELS], [1]),
    "a class of a contingency table": lambda: codes.each_pair(CODES.T, [1] * 4, LABELS[:2], 1, None, np.copy),
    "a state of a network": lambda: codes.joint_by_class(FLAT, np.array([[0, 3]]), 0),
    "weights of a network": lambda: codes.expected_counts(FLAT, np.array([[0, 2]]), np.ones(0)),
    "a table of a network": lambda: codes.Flat.of([(), (0,)], [np.ones(3), np.ones((2, 2))]),
    "a class of counts": lambda: counts.tally(CODES, LABELS, 1),
    "weights of counts": lambda: counts.tally(CODES, LABELS, 2, np.ones(3)),
    "a class to sort by": lambda: counts.sort_by_class(LABELS, 1),
    "totals of classes": lambda: counts.log_counts(CODES, 1.0, [1.0, 1.0]),
    "a label of logits": lambda: counts.residuals(np.ones((4, 3)), LABELS + 2, np.zeros(0), np.empty((4, 3))),
    "a class of numbers": lambda: moments.moments(TABLE, LABELS, 1),
    "no class of numbers": lambda: moments.products(TABLE, LABELS - 1, 2, pooled=True),
    "labels of numbers": lambda: moments.histograms(TABLE, LABELS[:3], 2),
    "a matrix of fewer rows than are said": lambda: moments.moments(
        Numbers(TABLE.names, 4, np.ones((3, 2))), LABELS, 2
    ),
    "a cell": lambda: moments.weights_by_cell(np.ones(4), LABELS.astype(np.int64), 1),
    "columns of means": lambda: densities.add_gaussian(TABLE, np.ones((2, 3)), np.ones((2, 3)), np.zeros((4, 2))),
    "columns of lines": lambda: densities.add_lines(TABLE, np.ones(3), np.ones((2, 3)), np.ones(2), np.zeros((4, 2))),
    "columns of covariances": lambda: densities.add_incomplete(
        TABLE, np.arange(4), np.ones(2), np.ones((3, 2)), np.ones((1, 3, 3)), np.zeros((4, 3))
    ),
    "a column between knots": lambda: densities.interpolate(
        np.ones((4, 2)), np.array([2]), LINES, np.zeros((4, 2)), np.array([0])
    ),
    "a column of heights": lambda: densities.interpolate(
        np.ones((4, 2)), np.array([1]), LINES, np.zeros((4, 2)), np.array([2])
    ),
    "no knots": lambda: densities.interpolate(
        np.ones((4, 2)), np.array([1]), LINES._replace(starts=np.array([1, 1])), np.zeros((4, 2)), np.array([0])
    ),
}


@pytest.mark.parametrize("case", BEYOND)
def test_what_does_not_fit_is_refused(case):
    with pytest.raises(InputError):
        BEYOND[case]()


@pytest.mark.parametrize(
    ("name", "value"), [("indptr", np.array([0, 1], np.int32)), ("indices", np.full(2, 1 << 24, ">i4"))]
)
def test_a_damaged_sparse_matrix_is_refused(name, value):
    X = sparse.csr_matrix(np.eye(2))
    model = MultinomialNB().fit(X, [0, 1])
    setattr(X, name, value)
    with pytest.raises(InputError, match="damaged"):
        model.predict(X)


def test_damaged_offsets_of_arrow_are_refused():
    offsets = pa.py_buffer(np.array([0, 900, 4], np.int32).tobytes())
    column = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a bc")])
    with pytest.raises(InputError, match="damaged"):
        NaiveBayes().fit(column, [0, 1])


def test_counts_that_are_not_aligned_are_read():
    X = np.zeros(33, np.uint8)[1:].view(np.int64).reshape(2, 2)
    X[:] = [[1, 2], [3, 4]]
    assert counts.tally(X, LABELS[:2], 2).tolist() == X.tolist()
