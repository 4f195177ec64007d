"""`audit`: does a classifier treat groups of people otherwise than others?

Of a text classifier it is asked with sentences that differ in a name or an identity term only; of any classifier with
rows whose group is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.evaluation.audit.groups import MISSING, GroupAudit, choose_classes, group_sums
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
    X, y : table, what `scan` gives, or a Dask or Spark DataFrame; array-like, or the name of a column of X
        The rows, without the columns that the model does not know, and what is true of each. Without y only decisions
        are compared, for no answer is right or wrong. Rows on an engine are counted where they are.
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
        The class whose probability, or decision, is judged. By default the second of two; of more, each (of more
        than five, the five most frequent).
    reference : optional
        With `protected`: the group that the others are compared with; by default the largest.
    labels, column : mapping, str, optional
        With sentences that say what is true of them: which class of the model each of their labels is; and the text
        column that takes the sentences, where the model has several.
    classes : list, optional
        The classes of the columns of probabilities, where `model` is an array.
    confidence, random_state : float, int
        How sure the intervals are (differences are significant at 1 - confidence); seed of tests and bootstrap.

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
        raise InputError(f"{y!r} is both y and protected; the groups cannot be the class itself")
    known, rows = known_columns(model), rows_of(X, y, declared=EVERYTHING, labelled=False)
    if not rows.is_here and (classes is not None or not hasattr(model, "predict")):
        raise InputError(
            f"{rows.name}: the rows are answered where they are; give the fitted classifier itself, and no predictions "
            "and no classes"
        )
    names = _names(rows, protected)
    off = [name for name in names if known is not None and name not in known]
    if known is None and not rows.is_here and getattr(model, "n_features_in_", None) != len(names):
        off = [protected]
    total = rows.reduce(count_groups, model, protected=protected, off=off, classes=classes)
    if not total:
        raise InputError(f"{rows.name}: there are no rows to audit")
    by_name = isinstance(protected, str)
    found = GroupAudit(
        protected if by_name else "protected",
        total,
        truths=(rows.target if not rows.is_here else y) is not None,
        classes=[],
        confidence=float(confidence),
        random_state=random_state,
        used=protected in known if by_name and known is not None else None,
        notes=(f"The model does not know {', '.join(map(repr, off))}: taken off before it was asked.",) if off else (),
        named=reference,
    )
    if "many" in total or len(found.groups) > max(5, min(_MOST, found.n_rows / 2)):
        raise InputError(
            f"{found.protected!r} has too many different values to be groups; give a column of few values, or cut "
            "numbers into bands first"
        )
    if reference is not None and reference not in found.groups:
        raise InputError(
            f"reference={reference!r} is no group of {found.protected!r}{did_you_mean(reference, found.groups)}"
        )
    if len(found.groups) == 1:
        raise InputError(
            f"{found.protected!r} is {found.groups[0]!r} in every row, so there are no two groups to compare; give "
            "rows of several groups, or another column"
        )
    judged, notes = choose_classes(found.known, class_, lambda: found.confusion.sum(axis=(0, 2)), "most frequent")
    return replace(found, classes=judged.tolist(), notes=(*found.notes, *notes))


def _refuse(wanted: str, **given: Any) -> None:
    """Raise where a parameter was given that has no meaning here."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} was given, and has a meaning only beside {wanted}=…; leave it out")


def _names(rows: Any, protected: Any) -> list[str]:
    """The names of the columns, among them that of the groups; an error where the groups cannot be read."""
    names = rows.names
    if rows.is_here:
        table = checks.is_frame(rows.X)
        names = [column_name(name) for name in open_source(rows.X).names.tolist()] if table else []
        if isinstance(protected, bytes) or not hasattr(protected, "__len__") or checks.is_frame(protected):
            raise KindError(
                f"protected must name a column of X or hold a label for each row, got {type(protected).__name__} "
                f"{protected!r:.60}"
            )
        if isinstance(protected, str) and not table:
            raise InputError(
                f"protected={protected!r} names a column, and X has no names; give a table with column names, or a "
                "label for each row"
            )
    elif not isinstance(protected, str):
        raise KindError(f"{rows.name}: the groups are in a column; name it, got {type(protected).__name__}")
    if isinstance(protected, str) and protected not in names:
        raise InputError(f"{rows.name} has no column {protected!r} to protect{did_you_mean(protected, names)}")
    return list(names)


def count_groups(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """The sums of a classifier's answers to some rows, by group; where there are too many groups, that alone."""
    X, y, protected, classes = part.X, part.y, options["protected"], options.get("classes")
    if isinstance(protected, str):
        protected = open_source(X).values(protected)
    if options["off"]:
        X = checks.drop_columns(X, options["off"])
    judge = hasattr(model, "predict")
    if y is None:  # what was answered stands for it
        y, classes = (model.predict(X), classes) if judge else _answers(model, classes)
    answers = predictions_of(model, X if judge else None, y, classes)
    values = protected.to_numpy() if hasattr(protected, "to_numpy") else protected
    codes, names = encode(values if isinstance(values, np.ndarray) else objects(list(values)))
    if len(codes) != len(answers):
        raise InputError(f"there are {len(answers)} rows and {len(codes)} labels in protected; give one for each row")
    if len(names) > _MOST:
        return Tally({"many": Table.of({"what": ["parts"]}, Exact.counts(np.ones(1, np.int64)))})
    if (codes < 0).any():
        codes, names = np.where(codes < 0, len(names), codes), objects([*names.tolist(), MISSING])
    return group_sums(answers, codes, names, known_classes(model if judge else None, classes))


def _answers(given: Any, classes: Any) -> tuple[Labels | Any, Any]:
    """The labels that predictions answer, and the classes of their columns."""
    if np.ndim(given) < 2:
        return given, classes
    if classes is None:
        classes = open_source(given).names.tolist() if checks.is_frame(given) else range(np.shape(given)[1])
    return objects(list(classes))[np.asarray(given).argmax(axis=1)], list(classes)


def known_columns(model: Any) -> list[str] | None:
    """The names of the columns that a model takes; None where it does not say."""
    schema = getattr(model, "schema_", None)
    if schema is not None and schema.named and len(schema):
        return [str(name) for name in schema.names.tolist()]
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [column_name(name) for name in np.asarray(names).tolist()]
