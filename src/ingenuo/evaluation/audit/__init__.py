"""`audit`: does a classifier treat groups of people otherwise than others?

Of a text classifier it is asked with sentences that differ in a name or an identity term only; of any classifier with
rows whose group is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.evaluation.audit.groups import MISSING, GroupAudit, GroupSums, group_sums, judged
from ingenuo.evaluation.audit.text import TextAudit, audit_text
from ingenuo.evaluation.intervals import check_share
from ingenuo.evaluation.predictions import predictions_of
from ingenuo.evaluation.sums import known_classes
from ingenuo.rows import checks
from ingenuo.rows.checks import check_whole
from ingenuo.rows.rows import EVERYTHING, Part, rows_of
from ingenuo.rows.schema import column_name
from ingenuo.rows.source import open_source
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, encode, objects
from ingenuo.tally.tally import Table, Tally

_MOST = 100  # groups


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
    protected : str or array-like
        The column that says the group of each row, or the groups themselves, one for each row. Cut numbers such as ages
        into bands before, and join columns to ask about their combinations.
    templates : str, path, table or list of str
        The sentences: "english" (the default), "italian" or "spanish"; a CSV file or a table with the columns template,
        group and term, or with ready sentences; or a list of templates with a slot, such as "{person} is angry.".
    groups : optional
        With sentences: which kinds of groups to compare (["gender", "religion"]), or your own, {group: [term, …]} or
        {kind: {group: [term, …]}}.
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
    check_share("confidence", confidence)
    check_whole("random_state", random_state, 0)
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
    _refuse("templates", groups=groups, labels=labels, column=column)
    if hasattr(model, "predict") and X is None:
        raise InputError(f"X is missing: {type(model).__name__} has no rows to classify; give X beside protected")
    if isinstance(y, str) and isinstance(protected, str) and y == protected:
        raise InputError(f"{y!r} is both y and protected; the groups cannot be what is to be told")
    total, truths, off = _counted(model, X, y, protected, classes)
    called, known = protected if isinstance(protected, str) else "protected", known_columns(model)
    sums = GroupSums(total, truths)
    if "many" not in total:
        rows = sums.confusion.sum(axis=(1, 2))
    if "many" in total or len(rows) > _MOST or (len(rows) > 5 and len(rows) > rows.sum() / 2):
        raise InputError(
            f"{called!r} has too many different values to be groups; give a column of few values, or cut numbers into "
            "bands first"
        )
    if len(rows) == 1:
        raise InputError(
            f"{called!r} is {sums.groups.tolist()[0]!r} in every row, so there are no two groups to compare; "
            "give rows of several groups, or another column"
        )
    asked, said = judged(sums.classes, class_, lambda: _frequencies(sums), "most frequent")
    notes = [f"The model does not know {', '.join(map(repr, off))}: taken off before it was asked."] if off else []
    return GroupAudit(
        called,
        sums,
        asked,
        reference=reference,
        confidence=float(confidence),
        random_state=random_state,
        used=None if known is None or not isinstance(protected, str) else protected in known,
        notes=(*notes, *said),
    )


def _refuse(wanted: str, **given: Any) -> None:
    """Raise where a parameter was given that has no meaning here."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} was given, and has a meaning only beside {wanted}=…; leave it out")


def _frequencies(sums: GroupSums) -> NDArray[np.int64]:
    """How many rows each class is true of; where that is not known, was answered for."""
    return np.asarray(sums.confusion.sum(axis=(0, 2) if sums.truths else (0, 1)))


def _counted(model: Any, X: Any, y: Any, protected: Any, classes: Any) -> tuple[Tally, bool, list[str]]:
    """The sums of all rows, whether what is true is known, and the columns that the model does not take."""
    known, rows = known_columns(model), rows_of(X, y, declared=EVERYTHING, labelled=False)
    if not rows.is_here:
        if classes is not None or not hasattr(model, "predict"):
            raise InputError(
                f"{rows.name}: the rows are answered where they are; give the fitted classifier itself, and no "
                "predictions and no classes"
            )
        _check_column(protected, rows.names, rows.name)
        off = _besides(model, rows.names, known, protected)
        total = rows.reduce(audited, model, protected=protected, off=off)
        if not total:
            raise InputError(f"{rows.name}: there are no rows to audit")
        return total, rows.target is not None, off
    X, y = checks.target_column(X, y)
    off = []
    if isinstance(protected, str):
        if not checks.is_frame(X):
            raise InputError(
                f"protected={protected!r} names a column, and X has no names; give a table with column names, or a "
                "label for each row"
            )
        source = open_source(X)
        _check_column(protected, [column_name(name) for name in source.names.tolist()], "X")
        protected = _values(source, protected)
    elif isinstance(protected, bytes) or not hasattr(protected, "__len__") or checks.is_frame(protected):
        raise KindError(
            f"protected must name a column of X or hold a label for each row, got {type(protected).__name__} "
            f"{protected!r:.60}"
        )
    if known is not None and checks.is_frame(X):
        # Other columns of groups may stand in X too; should one be lacking that the model needs, it will say so.
        off = [name for name in map(column_name, open_source(X).names.tolist()) if name not in known]
        X = without(X, off)
    return _sums(model, X, y, protected, classes), y is not None, off


def _check_column(protected: Any, names: list[str], called: str) -> None:
    if not isinstance(protected, str):
        raise KindError(f"{called}: the groups are in a column; name it, got {type(protected).__name__}")
    if protected not in names:
        raise InputError(f"{called} has no column {protected!r} to protect{did_you_mean(protected, names)}")


def _besides(model: Any, names: list[str], known: list[str] | None, protected: str) -> list[str]:
    """The columns that the model does not take; where it names none, that of the groups, unless it takes as many."""
    if known is not None:
        return [name for name in names if name not in known]
    return [] if getattr(model, "n_features_in_", None) == len(names) else [protected]


def audited(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """The sums of a classifier's answers to some rows, by the groups that one of their columns says."""
    own = part.X.drop_columns(options["off"]) if options["off"] else part.X
    return _sums(model, own, part.y, _values(open_source(part.X), options["protected"]))


def _sums(model: Any, X: Any, y: Any, protected: Any, classes: Any = None) -> Tally:
    """The sums of some rows, by group; where there are too many groups, that alone."""
    judge, truths = hasattr(model, "predict"), y is not None
    if not truths:
        y, classes = (model.predict(X), classes) if judge else _answered(model, classes)
    answers = predictions_of(model, X if judge else None, y, classes)
    values = protected.to_numpy() if hasattr(protected, "to_numpy") else protected
    codes, names = encode(values if isinstance(values, np.ndarray) else objects(list(values)))
    if len(codes) != len(answers):
        raise InputError(f"there are {len(answers)} rows and {len(codes)} labels in protected; give one for each row")
    if len(names) > _MOST:
        return Tally({"many": Table.of({"what": ["parts"]}, Exact.counts(np.ones(1, np.int64)))})
    if (codes < 0).any():
        codes, names = np.where(codes < 0, len(names), codes), objects([*names.tolist(), MISSING])
    return group_sums(answers, codes, names, truths, known_classes(model if judge else None, classes))


def _values(source: Any, name: str) -> Labels:
    """The values of a column of a table."""
    series = source.frame[name]
    return series.to_numpy() if series.dtype.is_numeric() and not series.null_count() else objects(series.to_list())


def known_columns(model: Any) -> list[str] | None:
    """The names of the columns that a model takes; None where it does not say."""
    schema = getattr(model, "schema_", None)
    if schema is not None and schema.named and len(schema):
        return [str(name) for name in schema.names.tolist()]
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [column_name(name) for name in np.asarray(names).tolist()]


def _answered(given: Any, classes: Any) -> tuple[Any, Any]:
    """The labels that predictions answer, and the classes of their columns: where nothing is known to be true."""
    if np.ndim(given) < 2:
        return given, classes
    probabilities = np.asarray(given)
    if classes is None:
        named = checks.is_frame(given)
        classes = open_source(given).names.tolist() if named else list(range(probabilities.shape[1]))
    return objects(list(classes))[probabilities.argmax(axis=1)], classes


def without(X: Any, names: list[str]) -> Any:
    """A table without some columns."""
    if not names:
        return X
    import narwhals as nw

    return nw.to_native(nw.from_native(X, eager_only=True).drop(names))
