"""`audit`: does a classifier treat groups of people otherwise than others?

Of a text classifier it is asked with sentences that differ in a name or an identity term only; of any classifier with
rows whose group is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ingenuo.engines import is_spread
from ingenuo.errors import InputError, KindError
from ingenuo.estimators import inputs, streams
from ingenuo.estimators.sequence_model import whole
from ingenuo.evaluation import audit_classes
from ingenuo.evaluation.audit_columns import groups_of, known_columns, refuse_target, taken_off
from ingenuo.evaluation.audit_groups import GroupAudit
from ingenuo.evaluation.audit_parts import audit_in_parts
from ingenuo.evaluation.audit_proxies import Proxies, proxies_of
from ingenuo.evaluation.audit_sums import sums_of
from ingenuo.evaluation.audit_text import TextAudit, audit_text
from ingenuo.evaluation.counted import check_travels
from ingenuo.evaluation.counted_sums import known_classes
from ingenuo.evaluation.measured import check_confidence
from ingenuo.evaluation.predictions import predictions_of
from ingenuo.labels import objects
from ingenuo.schema import column_name
from ingenuo.sources import open_source

__all__ = ["GroupAudit", "TextAudit", "audit"]


def audit(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    protected: Any = None,
    templates: Any = None,
    groups: Any = None,
    class_: Any = None,
    reference: Any = None,
    labels: Any = None,
    column: str | None = None,
    classes: Any = None,
    confidence: float = 0.95,
    random_state: int = 0,
) -> TextAudit | GroupAudit:
    """Compare what a classifier answers to groups of people: by sentences, or by rows.

    Without X, a text classifier is given sentences that differ in a name or an identity term only. With X and
    `protected`, the rates of decisions and of errors are compared between the groups of the rows.

    Parameters
    ----------
    model : classifier, or array
        A fitted classifier; beside `protected` also its predictions, as `evaluate` takes them.
    X : table, what `scan` gives, or a Dask or Spark DataFrame
        The rows. Columns that the model does not know are taken off before it is asked. Rows on an engine are counted
        where they are.
    y : array-like, or the name of a column of X
        What is true of each row. Without it only decisions are compared, for no answer is right or wrong.
    protected : str, list of str, array-like, or table
        The column that says the group of each row; several, whose combinations are the groups; or the groups of the
        rows, in one column or several. Numbers of more than ten values are cut into four bands of equal frequency.
    templates : str, path, table or list of str
        The sentences: "english" (the default), "italian" or "spanish"; a CSV file or a table with the columns template,
        group and term, or with ready sentences; or a list of templates with a slot, such as "{person} is angry.".
    groups : optional
        With sentences: which kinds of groups to compare (["gender", "religion"]), or your own, {group: [term, …]} or
        {kind: {group: [term, …]}}. With a protected column of numbers: where to cut it into bands.
    class_ : optional
        The class whose probability, or decision, is looked at. By default the second of two; of more, each (of more
        than five, the five most frequent).
    reference : optional
        The group that the others are compared with; by default the largest. Only with `protected`.
    labels : mapping, optional
        For sentences that say what is true of them: which class of the model each of their labels is.
    column : str, optional
        The text column that takes the sentences, where the model has several.
    classes : list, optional
        The classes of the columns of probabilities, where `model` is an array.
    confidence : float
        How sure the intervals are; differences are called significant at 1 - confidence.
    random_state : int
        Seed of the permutation tests and of the bootstrap.

    Examples
    --------
    >>> answers, truth = ["yes"] * 6 + ["no"] * 6, ["yes"] * 3 + ["no"] * 9
    >>> found = audit(answers, y=truth, protected=["a"] * 4 + ["b"] * 8)
    >>> found.rate("a").selection.value, found.rate("b").false_positive.value
    (1.0, 0.25)
    """
    check_confidence(confidence)
    whole("random_state", random_state, 0)
    if isinstance(model, type):
        raise KindError(f"a fitted classifier was expected, got the class {model.__name__}; fit one first")
    if templates is not None and protected is not None:
        raise InputError("templates and protected are two audits; ask for one at a time")
    if protected is None:
        if X is not None and templates is None:
            raise InputError(
                "X was given without the groups of its rows; name their column with protected=…, or leave X out to "
                "audit a text classifier by sentences"
            )
        _refuse("protected", X=X, y=y, reference=reference, classes=classes)
        return audit_text(model, templates, groups, class_, labels, column, float(confidence), random_state)
    _refuse("templates", labels=labels, column=column)
    if is_spread(X):
        if classes is not None or not hasattr(model, "predict"):
            raise InputError(
                "rows that lie in parts elsewhere are answered where they are; give the fitted classifier itself, and "
                "no predictions and no classes"
            )
        check_travels(model)
        asked = (model, X, y, protected, groups, class_, reference)
        return audit_in_parts(*asked, confidence=float(confidence), random_state=random_state)
    return _audit_groups(model, X, y, protected, groups, class_, reference, classes, float(confidence), random_state)


def _refuse(wanted: str, **given: Any) -> None:
    """Raise where a parameter was given that has no meaning here."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} was given, and has a meaning only beside {wanted}=…; leave it out")


def _audit_groups(
    model: Any,
    X: Any,
    y: Any,
    protected: Any,
    cuts: Any,
    class_: Any,
    reference: Any,
    classes: Any,
    confidence: float,
    random_state: int,
) -> GroupAudit:
    judge = hasattr(model, "predict")
    if judge and X is None:
        raise InputError(f"X is missing: {type(model).__name__} has no rows to classify; give X beside protected")
    named = [protected] if isinstance(protected, str) else protected if isinstance(protected, list | tuple) else []
    refuse_target(y, named)
    if streams.is_stream(X):
        X, y = X.table(), X.target if y is None else y
    X, y = inputs.target_column(X, y)
    found = groups_of(X, protected, cuts, None if y is None else len(y))
    known = known_columns(model)
    used = {} if known is None else {name: name in known for name in found.columns}
    notes = list(found.notes)
    rows = X
    if known is not None and inputs.is_frame(X):
        # Other columns of groups may stand in X too; should one be lacking that the model needs, it will say so.
        off = [name for name in map(column_name, open_source(X).names.tolist()) if name not in known]
        rows = without(X, off)
        if off:
            notes.append(taken_off(off))
    truths = y is not None
    if not truths:
        y, classes = (model.predict(rows), classes) if judge else _answered(model, classes)
    answers = predictions_of(model, rows if judge else None, y, classes)
    if len(answers) != len(found.codes):
        raise InputError(f"there are {len(answers)} rows and {len(found.codes)} labels in protected; give as many")
    judged, said = audit_classes.judged(
        answers.classes, class_, lambda: np.bincount(answers.codes, minlength=len(answers.classes)), "most frequent"
    )
    sums = sums_of(answers, found.codes, found.names, judged, truths, known_classes(model if judge else None, classes))
    proxies: Proxies | None = None
    if X is not None and not hasattr(X, "tocsr"):
        source = open_source(inputs.array_of(X) if isinstance(X, list | tuple) and not isinstance(X[0], str) else X)
        proxies = proxies_of(source, found.codes, found.names, found.columns, known)
    return GroupAudit(
        found.called,
        sums,
        reference=reference,
        confidence=confidence,
        random_state=random_state,
        used=used,
        notes=(*notes, *said),
        proxies=proxies,
    )


def _answered(given: Any, classes: Any) -> tuple[Any, Any]:
    """The labels that predictions answer, and the classes of their columns: where nothing is known to be true."""
    if np.ndim(given) < 2:
        return given, classes
    probabilities = np.asarray(given)
    if classes is None:
        named = inputs.is_frame(given)
        classes = open_source(given).names.tolist() if named else list(range(probabilities.shape[1]))
    return objects(list(classes))[probabilities.argmax(axis=1)], classes


def without(X: Any, names: list[str]) -> Any:
    """A table without some columns."""
    if not names:
        return X
    import narwhals as nw

    return nw.to_native(nw.from_native(X, eager_only=True).drop(names))
