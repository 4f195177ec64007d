"""Which rows are learned from and which are answered for, fold by fold; checked before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.estimators import inputs
from ingenuo.estimators.left_out import Split
from ingenuo.estimators.sequence_model import whole
from ingenuo.labels import Labels, encode

Places = NDArray[np.intp]

LEAVE_ONE_OUT = "leave-one-out"


def splits_of(
    folds: Any, codes: NDArray[np.int32], classes: Labels, groups: Any, random_state: int
) -> tuple[list[Split], list[str]]:
    """The training and the test rows of each fold, and what should be said of them.

    >>> splits, _ = splits_of(2, np.array([0, 0, 1, 1], np.int32), np.array([0, 1]), None, 0)
    >>> [sorted(test.tolist()) for _, test in splits]
    [[1, 2], [0, 3]]
    """
    n_rows = len(codes)
    if n_rows == 0:
        raise InputError("Found array with 0 sample(s): there are no rows to learn from; give two at least")
    if n_rows < 2:
        raise InputError("there is one row only, which cannot be both learned from and answered for; give two at least")
    whole("random_state", random_state, 0)
    grouped = None if groups is None else _groups(groups, n_rows)
    if isinstance(folds, str):
        if folds != LEAVE_ONE_OUT:
            raise InputError(f"folds={folds!r} is not known{did_you_mean(folds, [LEAVE_ONE_OUT])}")
        if grouped is not None:
            raise InputError(
                "groups are not parted, and leaving one row out would part them; take "
                "folds=sklearn.model_selection.LeaveOneGroupOut(), or leave groups out"
            )
        every = np.arange(n_rows)
        return [(None, row) for row in every[:, np.newaxis]], _lone_classes(codes, classes)
    if isinstance(folds, bool | float) or folds is None:
        raise KindError(
            f"folds must be a whole number, {LEAVE_ONE_OUT!r}, a splitter or a list of pairs, got {folds!r}"
        )
    if isinstance(folds, int | np.integer):
        return _stratified(int(folds), codes, classes, grouped, random_state), []
    if hasattr(folds, "split"):
        try:
            with inputs.ours():
                given = list(folds.split(np.zeros((n_rows, 1)), codes, grouped))
        except InputError as error:
            raise InputError(f"{type(folds).__name__} cannot split these rows: {error}") from None
    elif isinstance(folds, Iterable):
        given = list(folds)
    else:
        raise KindError(
            f"folds must be a whole number, {LEAVE_ONE_OUT!r}, a splitter or a list of pairs, got "
            f"{type(folds).__name__} {folds!r}"
        )
    return _checked(given, n_rows), []


def _stratified(
    folds: int, codes: NDArray[np.int32], classes: Labels, groups: NDArray[Any] | None, random_state: int
) -> list[Split]:
    if folds < 2:
        raise InputError(
            f"folds={folds} leaves nothing to learn from for the rows that are tested; take 2 at least, usually 10"
        )
    counts = np.bincount(codes, minlength=len(classes))
    rarest = int(counts.argmin())
    if counts[rarest] < folds:
        few = int(counts[rarest])
        instead = (
            f"take folds={few} at most, folds={LEAVE_ONE_OUT!r}, " if few > 1 else f"take folds={LEAVE_ONE_OUT!r}, "
        )
        raise InputError(
            f"class {classes.tolist()[rarest]!r} has {few} row{'s' if few > 1 else ''}, fewer than the {folds} folds, "
            f"so a fold would have none of it; {instead}give more rows of it, leave it out, or pass a splitter such as "
            "sklearn.model_selection.KFold"
        )
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    splitter: Any = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    if groups is not None:
        distinct = len(np.unique(groups))
        if distinct < folds:
            raise InputError(f"{distinct} groups cannot be parted into {folds} folds; take {distinct} at most")
        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=random_state)
    with inputs.ours():
        return [(None, test) for _, test in splitter.split(np.zeros((len(codes), 1)), codes, groups)]


def _groups(groups: Any, n_rows: int) -> NDArray[Any]:
    found = encode(groups if isinstance(groups, np.ndarray) else np.array([*groups, None], object)[:-1])[0]
    if len(found) != n_rows:
        raise InputError(f"there are {len(found)} groups for {n_rows} rows; give one for each row")
    if len(found) and int(found.min()) < 0:
        raise InputError(f"row {int(np.argmin(found))} has no group; give one for each row")
    return found


def _checked(given: list[Any], n_rows: int) -> list[Split]:
    """Pairs of places that are rows, none of which is both learned from and tested."""
    if not given:
        raise InputError("there are no folds; give pairs of training and test rows")
    splits: list[Split] = []
    for f, pair in enumerate(given):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise KindError(f"fold {f} must be a pair of training and test rows, got {type(pair).__name__}")
        train, test = (_places(each, n_rows, f, name) for each, name in zip(pair, ("training", "test")))
        learned = np.zeros(n_rows, np.bool_)
        learned[train] = True
        if learned[test].any():
            both = int(test[learned[test]][0])
            raise InputError(f"row {both} is both learned from and tested in fold {f}; keep them apart")
        splits.append((train, test))
    return splits


def _places(given: Any, n_rows: int, fold: int, name: str) -> Places:
    array = np.asarray(given)
    if array.dtype == np.bool_ and array.shape == (n_rows,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise KindError(f"the {name} rows of fold {fold} must be a list of places, got {array.dtype}")
    if not array.size:
        raise InputError(f"fold {fold} has no {name} rows; give one at least")
    outside = (array < 0) | (array >= n_rows)
    if outside.any():
        raise InputError(f"fold {fold} names row {int(array[outside][0])} of {n_rows}; rows count from 0")
    named = np.zeros(n_rows, np.bool_)
    named[array] = True
    found = np.flatnonzero(named)
    if len(found) != len(array):
        raise InputError(f"fold {fold} names one of its {name} rows twice; name each once")
    return found


def _lone_classes(codes: NDArray[np.int32], classes: Labels) -> list[str]:
    counts = np.bincount(codes, minlength=len(classes))
    lone = [repr(label) for label in classes[counts == 1].tolist()]
    if not lone:
        return []
    shown = ", ".join(lone[:5]) + (f" and {len(lone) - 5} more" if len(lone) > 5 else "")
    one = len(lone) == 1
    return [
        f"{'Class' if one else 'Classes'} {shown} {'has' if one else 'have'} one row only, which is answered for by a "
        "model that has never seen that class: its probability is 0, which the log loss takes for 2.2e-16."
    ]
