"""What is said before and after a training: what each column is taken for, and how good the model is."""

from __future__ import annotations

from typing import Any

from ingenuo.explanation.beliefs import aligned
from ingenuo.training.provenance import n_learned
from ingenuo.training.train import Trained

_MOST = 60  # columns that are listed


def schema_table(rows: Any, target: str | None, weight: str | None = None) -> str:
    """Which column is what, and why."""
    target = rows.target if target is None else target
    lines = [["column", "kind", "why"]]
    for name in rows.names[:_MOST]:
        if name == target:
            lines.append([name, "class", "the target"])
        elif name == weight:
            lines.append([name, "weight", "how often a row counts"])
        else:
            lines.append([name, *rows.kinds.get(name, ("", ""))])
    text = "\n".join(aligned(lines))
    if len(rows.names) > _MOST:
        text += f"\n… and {len(rows.names) - _MOST:,} more columns"
    return text


def summary(done: Trained) -> str:
    """What was learned."""
    lines = list(done.notes)
    rows = n_learned(done.model)
    classes = getattr(done.model, "classes_", None)
    if rows is not None:
        of = "" if classes is None else f" of {len(classes):,} class{'es' if len(classes) != 1 else ''}"
        lines.append(f"{rows:,} rows{of} learned")
    if done.evaluation is None and classes is not None:
        lines.append("how good it is was not asked for: add --folds 10 or --holdout 0.2, or use evaluate on other rows")
    return "\n".join(lines)


def judgement(done: Trained) -> str:
    """How good the model is, where that was asked for."""
    found = done.evaluation
    if found is None:
        return ""
    lines = [done.how]
    for name, called in (
        ("accuracy", "accuracy"),
        ("majority_rate", "always the most frequent class"),
        ("log_loss", "log loss"),
        ("ece", "calibration error"),
    ):
        if name in found and found[name].value is not None:
            lines.append(f"  {called:<30}  {found[name]}")
    return "\n".join(lines)
