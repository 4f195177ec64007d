"""Audits of a model that was loaded, by the rows of files or by sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ingenuo.errors import InputError, RefusedError
from ingenuo.estimators.language_classifier import LanguageModelClassifier
from ingenuo.estimators.matching import rows_for
from ingenuo.estimators.written_classes import written_class
from ingenuo.evaluation.audit import audit


def audits_of(
    model: Any,
    rows: Any = None,
    target: str | None = None,
    *,
    protected: Sequence[str] = (),
    templates: Sequence[str] = (),
    groups: Sequence[str] = (),
    class_: str | None = None,
    reference: str | None = None,
    labels: Mapping[str, str] | None = None,
    column: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[Any]:
    """An audit for each protected column of the rows, and for each set of sentences.

    Parameters
    ----------
    model : fitted classifier
        Whom to ask.
    rows : what `scan` gives, optional
        Rows whose groups the columns in `protected` say; those that have no class are compared by decisions alone.
    target : str, optional
        The column of the class; by default as the model knows it.
    protected
        Columns of groups, each audited by itself.
    templates, groups, labels, column
        Sets of sentences, which kinds of groups of them to compare, which class each of their labels is, and the text
        column that takes them, as in `audit`.
    class_, reference, confidence, seed
        As in `audit`.
    """
    wanted = None if class_ is None else written_class(model, class_)
    if not hasattr(model, "classes_"):
        raise RefusedError(f"a {type(model).__name__} tells no classes, so there are no answers to audit")
    found: list[Any] = []
    if protected:
        if rows is None:
            raise InputError("a protected column is one of the rows of a file; give the file")
        X, y = _table(model, rows, target, protected)
        asked: dict[str, Any] = {"class_": wanted, "reference": reference, "confidence": confidence}
        for name in protected:
            if isinstance(model, LanguageModelClassifier):  # which is given texts, and no table
                texts = X.drop_columns(list(protected)).column(0)
                truth = None if y is None else X.column(y)
                found.append(audit(model, texts, truth, protected=X.column(name), random_state=seed, **asked))
            else:
                own = X.drop_columns([each for each in protected if each != name and not _knows(model, each)])
                found.append(audit(model, own, y, protected=name, random_state=seed, **asked))
    elif rows is not None and not templates:
        raise InputError("rows were given and no column that says their groups; name it, or leave the rows out")
    sets: list[str | None] = [*templates] if templates or protected else [None]
    for given in sets:
        found.append(
            audit(
                model,
                templates=given,
                groups=list(groups) or None,
                class_=wanted,
                labels={label: written_class(model, to) for label, to in labels.items()} if labels else None,
                column=column,
                confidence=confidence,
                random_state=seed,
            )
        )
    return found


def _table(model: Any, rows: Any, target: str | None, protected: Sequence[str]) -> tuple[Any, str | None]:
    """The rows with the protected columns, and the name of the class, where they have one."""
    known = getattr(model, "_target", None)
    labelled = target is not None or rows.target is not None or known in rows.names
    stream = rows_for(model, rows, target, labelled=labelled, besides=protected)
    return stream.table(), stream.target


def _knows(model: Any, name: str) -> bool:
    return name in [str(each) for each in model.schema_.names.tolist()]
