"""Several models by name or from files, and the rows of files that all of them can learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ingenuo import store
from ingenuo.errors import InputError
from ingenuo.estimators.by_name import MODELS
from ingenuo.estimators.contract import clone
from ingenuo.estimators.language_classifier import LanguageModelClassifier
from ingenuo.estimators.matching import chosen
from ingenuo.estimators.rows import named
from ingenuo.evaluation.comparison import TESTED, Comparison
from ingenuo.training.rows import model_and_kinds


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
        if spec.partition(":")[0] not in MODELS and Path(spec).exists():
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
    selected = chosen(readers[0] if readers else next(iter(models.values())), rows, target)
    target, _ = named(selected, target, None)
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
