"""Models judged by files: audits and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ingenuo import store
from ingenuo.cli.typed import written_class
from ingenuo.cli.work.train import model_and_kinds
from ingenuo.errors import InputError, RefusedError
from ingenuo.evaluation.audit import audit
from ingenuo.evaluation.comparison import TESTED, Comparison
from ingenuo.models.language import LanguageModelClassifier
from ingenuo.models.model import clone
from ingenuo.models.registry import COMMANDS
from ingenuo.rows.rows import target_and_weight
from ingenuo.rows.streams import choose_columns, rows_for


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


# Several models by name or from files, and the rows of files that all of them can learn.


def several_models(specs: Sequence[str], kinds: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Classifiers by what they were asked for, none of them fitted, and what their columns are to be read as.

    Parameters
    ----------
    specs : sequence of str
        Names with settings ("softmax:l2=0.1"), or paths of model files, whose settings are taken.
    kinds : mapping
        What columns were declared as.

    >>> models, _ = several_models(["naive-bayes", "naive-bayes:prior=lidstone:0.5"], {})
    >>> list(models)
    ['naive-bayes', 'naive-bayes:prior=lidstone:0.5']
    """
    models: dict[str, Any] = {}
    declared: dict[str, str] = dict(kinds)
    for spec in specs:
        if spec.partition(":")[0] not in COMMANDS and Path(spec).exists():
            model = _of_file(spec)
        else:
            model, declared = model_and_kinds(spec, kinds)
        if not hasattr(model, "predict_proba") or hasattr(model, "predict_quantiles"):
            raise InputError(f"{spec}: a {type(model).__name__} tells no classes, so it cannot be compared by them")
        if spec in models:
            raise InputError(f"{spec} is given twice; compare it with another")
        models[spec] = model
    return models, declared


def _of_file(path: str) -> Any:
    """The model of a file as it was before it learned."""
    found = store.load(path)
    if not hasattr(found, "get_params"):
        raise InputError(f"{path} holds a {type(found).__name__}, and no classifier")
    return clone(found)


def rows_to_compare(models: Mapping[str, Any], rows: Any, target: str | None) -> tuple[Any, str, list[str]]:
    """A table that all the models can learn, the name of its class, and what is to be said of it."""
    readers = [model for model in models.values() if isinstance(model, LanguageModelClassifier)]
    selected = choose_columns(readers[0] if readers else next(iter(models.values())), rows, target)
    target, _ = target_and_weight(selected, target, None)
    assert target is not None
    texts = [name for name in selected.names if name != target]
    if readers and len(readers) < len(models) and len(rows.names) > 2:
        return (
            selected.table(),
            target,
            [f"all models are given {texts[0]!r} alone, for the language model reads no other"],
        )
    return selected.table(), target, []


def as_data(found: Comparison) -> dict[str, Any]:
    """A comparison as data that JSON has: a line for each model, a test for each pair, and what follows."""
    pairs = [
        {
            "first": pair.first,
            "second": pair.second,
            "measure": pair.measure,
            "difference": pair.verdict.effect,
            "p": pair.verdict.p_value,
            "p_adjusted": pair.p_adjusted,
            "significant": pair.significant,
            "test": TESTED[pair.measure],
        }
        for pair in found.pairs
    ]
    return {
        "models": found.table().to_pylist(),
        "best": found.best,
        "pairs": pairs,
        "conclusions": [found.conclude(measure) for measure in TESTED],
        "confidence": found.confidence,
        "alpha": found.alpha,
    }
