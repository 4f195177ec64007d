"""Where a model comes from: what is kept beside it of its files, its rows, its judging and its history."""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ingenuo import __version__

if TYPE_CHECKING:
    from ingenuo.evaluation.evaluation import Evaluation


def about(model: Any, rows: Any, target: str | None, judged: Evaluation | None = None, how: str = "") -> dict[str, Any]:
    """What is kept beside a model of how it came to be."""
    files = sources(rows)
    n_rows = n_learned(model)
    return {
        **({"target": target} if target is not None else {}),
        **({"rows": n_rows} if n_rows is not None else {}),
        "sources": files,
        "created": now(),
        "version": __version__,
        "schema": [[name, kind, why] for name, (kind, why) in getattr(rows, "kinds", {}).items()],
        **({"evaluation": {"how": how, **measures(judged)}} if judged is not None else {}),
        "history": [event("train", files, n_rows)],
    }


def sources(rows: Any) -> list[dict[str, Any]]:
    """The files of a stream, by name and size."""
    return [
        {"path": os.path.basename(str(path)) if path != "-" else "standard input", **_size(path)} for path in rows.paths
    ]


def _size(path: Any) -> dict[str, int]:
    return {"bytes": os.path.getsize(path)} if os.path.isfile(path) else {}


def n_learned(model: Any) -> int | float | None:
    """How many rows a model has learned; None where that is not known."""
    tally = getattr(model, "tally_", None)
    if tally is None:
        return None
    if "class" not in tally:
        return None if not hasattr(model, "classes_") else 0
    total = float(tally.over("class", tally.labels("class", 0)).floats().sum())
    return int(total) if total.is_integer() else total


def now() -> str:
    """The time, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def event(what: str, files: Sequence[Mapping[str, Any]], n_rows: int | float | None) -> dict[str, Any]:
    """A line of a model's history."""
    names = ", ".join(str(file["path"]) for file in files)
    return {"what": what, "source": names, "rows": n_rows, "when": now()}


def learned_already(about: Mapping[str, Any], rows: Any) -> str:
    """A sentence where a file by which a model is judged looks like one that it learned; else nothing."""
    learned = {(source.get("path"), source.get("bytes")) for source in about.get("sources", []) if source.get("bytes")}
    same = [source["path"] for source in sources(rows) if (source["path"], source.get("bytes")) in learned]
    if not same:
        return ""
    return (
        f"{', '.join(same)} has the name and the size of a file that the model learned: judged by its own rows, a "
        "model looks better than it is"
    )


KEPT = ("accuracy", "majority_rate", "log_loss", "ece", "f1_macro")


def measures(judged: Evaluation, names: Iterable[Any] = KEPT) -> dict[str, Any]:
    """Measures with their intervals, as plain data; those of a class stand under its name."""
    found: dict[str, Any] = {"rows": judged.n_rows}
    for key in names:
        if key not in judged or (measure := judged[key]).value is None:
            continue
        value = measure.value if math.isfinite(measure.value) else None
        figures = {"value": value, "low": measure.low, "high": measure.high}
        if measure.label is None:
            found[measure.name] = figures
        else:
            found.setdefault("classes", {}).setdefault(str(measure.label), {})[measure.name] = figures
    return found
