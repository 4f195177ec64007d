"""Models judged by files: opened beside their rows, audited and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingenuo import store
from ingenuo.cli import options
from ingenuo.cli.typed import written_class
from ingenuo.cli.work.change import learned_already
from ingenuo.cli.work.train import model_and_kinds
from ingenuo.errors import InputError, RefusedError
from ingenuo.evaluation.audit import audit
from ingenuo.evaluation.comparison import TESTED, Comparison
from ingenuo.evaluation.drift import Reference, reference
from ingenuo.evaluation.evaluation import evaluate
from ingenuo.models.language import LanguageModelClassifier
from ingenuo.models.model import clone
from ingenuo.models.registry import COMMANDS
from ingenuo.rows.rows import rows_of
from ingenuo.rows.streams import choose_columns, rows_for, target_and_weight

AUDIT = ("protected", "templates", "groups", "class_", "reference", "column", "confidence", "seed")  # options of it


@dataclass(frozen=True)
class Judged:
    """A model and the rows of files by which it is judged, as they were scanned and as it takes them."""

    model: Any
    scanned: Any
    rows: Any
    target: str | None
    limits: list[str]  # sentences on what makes the judgement less sure

    def evaluate_here(self, weight: str | None = None, **asked: Any) -> Any:
        """What `evaluate` finds, with all the rows kept."""
        here = rows_of(self.rows, self.rows.target, weight).in_memory()
        return evaluate(self.model, here.X, here.y, sample_weight=here.weights, **asked)

    def audits(self, given: options.Given) -> list[Any] | None:
        """The audits that the options ask for."""
        asked = {name: given[name] for name in ("protected", "templates", "seed")}
        if not given["protected"] and not given["templates"]:
            return None
        return audits_of(self.model, self.scanned if given["protected"] else None, self.target, **asked)


def open_judged(
    path: str, files: Sequence[str], target: str | None, given: options.Given, weight: str | None = None
) -> Judged:
    """A model and rows to judge it by, if files are given; a warning where it seems to have learned them."""
    model = options.load_model(path)
    if not files:
        return Judged(model, None, None, target, [])
    scanned = options.open_files(files, given, model=model)
    seen = learned_already(options.about(path), scanned)
    if seen:
        options.say(f"note: {seen}")
    rows = rows_for(model, scanned, target, extra=[] if weight is None else [weight])
    return Judged(model, scanned, rows, target, [f"{seen}."] if seen else [])


def reference_of(model: Any, path: str, file: str | None, given: options.Given) -> Reference:
    """What rows are compared with: those of a file, or those of training as the model file has counted them."""
    if file is not None:
        rows = options.open_rows(model, [file], given, labelled=False)
        with options.watched(rows, "reading the reference"):
            return reference(model, rows)
    known = options.about(path).get("drift")
    if known is None:
        raise InputError(
            f"{path} has no counts of its training rows, which `ingenuo train` keeps of classes; give rows to compare "
            "with by --reference FILE"
        )
    return Reference.from_plain(known, model.classes_)


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
    """An audit for each protected column of the rows, and for each set of sentences; the options are those of `audit`.

    Rows without a class are compared by decisions alone.
    """
    wanted = None if class_ is None else written_class(model, class_)
    if not hasattr(model, "classes_"):
        raise RefusedError(f"a {type(model).__name__} tells no classes, so there are no answers to audit")
    asked: dict[str, Any] = {"class_": wanted, "confidence": confidence, "random_state": seed}
    found: list[Any] = []
    if protected and rows is None:
        raise InputError("a protected column is one of the rows of a file; give the file")
    if rows is not None and not protected and not templates:
        raise InputError("rows were given and no column that says their groups; name it, or leave the rows out")
    if protected:
        labelled = target is not None or rows.target is not None or getattr(model, "_target", None) in rows.names
        stream = rows_for(model, rows, target, labelled=labelled, extra=protected)
        X, y = stream.table(), stream.target
        known = [str(each) for each in model.schema_.names.tolist()]
        for name in protected:
            own = X.drop_columns([each for each in protected if each != name and each not in known])
            truth, of = y, name
            if isinstance(model, LanguageModelClassifier):  # which is given texts, and no table
                own, of = X.drop_columns(list(protected)).column(0), X.column(name)
                truth = None if y is None else X.column(y)
            found.append(audit(model, own, truth, protected=of, reference=reference, **asked))
    classes = {label: written_class(model, to) for label, to in labels.items()} if labels else None
    for each in templates if templates or protected else [None]:
        kinds = list(groups) or None
        found.append(audit(model, templates=each, groups=kinds, labels=classes, column=column, **asked))
    return found


def several_models(specs: Sequence[str], kinds: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Classifiers by name and settings or from files, none of them fitted, and what their columns are to be read as."""
    models: dict[str, Any] = {}
    declared: dict[str, str] = dict(kinds)
    for spec in specs:
        if spec.partition(":")[0] not in COMMANDS and Path(spec).exists():
            model = store.load(spec)
            if not hasattr(model, "get_params"):
                raise InputError(f"{spec} holds a {type(model).__name__}, and no classifier")
            model = clone(model)
        else:
            model, declared = model_and_kinds(spec, kinds)
        if not hasattr(model, "predict_proba") or hasattr(model, "predict_quantiles"):
            raise InputError(f"{spec}: a {type(model).__name__} tells no classes, so it cannot be compared by them")
        if spec in models:
            raise InputError(f"{spec} is given twice; compare it with another")
        models[spec] = model
    return models, declared


def rows_to_compare(models: Mapping[str, Any], rows: Any, target: str | None) -> tuple[Any, str, list[str]]:
    """A table that all the models can learn, the name of its class, and notes on it."""
    readers = [model for model in models.values() if isinstance(model, LanguageModelClassifier)]
    selected = choose_columns(readers[0] if readers else next(iter(models.values())), rows, target)
    target, _ = target_and_weight(selected, target, None)
    assert target is not None
    notes = []
    if readers and len(readers) < len(models) and len(rows.names) > 2:
        text = next(name for name in selected.names if name != target)
        notes = [f"all models are given {text!r} alone, for the language model reads no other"]
    return selected.table(), target, notes


def evaluate_fitted(
    paths: Sequence[str], files: Sequence[str], target: str | None, given: options.Given
) -> dict[str, Any]:
    """What `evaluate` finds of models as they are in their files, all of them by the same rows."""
    every, found = [open_judged(path, files, target, given) for path in paths], {}
    for path, each in zip(paths, every):
        if each.rows.target != every[0].rows.target:
            raise InputError(
                f"{paths[0]} learned {every[0].rows.target!r} and {path} {each.rows.target!r}; say by --target which "
                "column they are to be judged by"
            )
        if not hasattr(each.model, "predict_proba") or hasattr(each.model, "predict_quantiles"):
            raise InputError(
                f"{path}: a {type(each.model).__name__} tells no classes, so it cannot be compared by them"
            )
        found[path] = each.evaluate_here(confidence=given["confidence"], random_state=given["seed"])
    return found


def comparison_data(found: Comparison) -> dict[str, Any]:
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
