"""(names of estimators.rows, until their callers take them from there)"""

from ingenuo.estimators.rows import files as files
from ingenuo.estimators.rows import is_stream as is_stream
from ingenuo.estimators.rows import named as named
from ingenuo.estimators.rows import rows_of
from ingenuo.estimators.rows import together as together
from ingenuo.estimators.rows import weighed as weighed
from ingenuo.estimators.rows import weightless as weightless


def whole(X, y, sample_weight):
    rows = rows_of(X, y, sample_weight)
    target = rows.target
    from ingenuo.sources.streams import Described

    table, weights = weighed(Described(X).table(), rows.weight)
    return table, target, weights
