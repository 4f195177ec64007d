"""What a model learns later: more rows, fewer, or what other models have learned."""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ingenuo import __version__
from ingenuo.errors import InputError, KindError, MergeError
from ingenuo.models.language import LanguageModel
from ingenuo.models.model import freeze, refuse_more_than_sums
from ingenuo.tally.tally import Tally

if TYPE_CHECKING:
    from ingenuo.evaluation.evaluation import Evaluation


# Where a model comes from: what is kept beside it of its files, its rows, its judging and its history.


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


@dataclass(frozen=True)
class Changed:
    """A model, what should be said of the change, and where the model comes from now."""

    model: Any
    notes: list[str]
    about: dict[str, Any]


def change(
    what: str,
    model: Any,
    rows: Any,
    about: Mapping[str, Any],
    *,
    weight: str | None = None,
    calibrate_with: Any = None,
) -> Changed:
    """Learn rows ("update") or forget them ("forget"), and calibrate again where the model is calibrated.

    Parameters
    ----------
    what : {"update", "forget"}
        Which.
    model : fitted model
        It is changed, or stays as it was where this raises.
    rows : stream
        The rows, with their class as `target`.
    about : mapping
        Where the model came from.
    weight : str, optional
        The column that says how often each row counts.
    calibrate_with : stream, optional
        Rows that the model has learned, to calibrate it by again; those of an update by default.
    """
    before = n_learned(model)
    if isinstance(model, LanguageModel):
        for batch in rows.batches():
            texts = batch.column(0).drop_null()
            if len(texts):
                (model.partial_fit if what == "update" else model.forget)(texts)
    else:
        asked = model.partial_fit if what == "update" else model.forget
        asked(rows, rows.target, sample_weight=weight)
    after = n_learned(model)
    notes = [rows.note] if getattr(rows, "note", "") else []
    if before is not None and after is not None:
        notes.append(f"{abs(after - before):,} rows {'learned' if what == 'update' else 'forgotten'}; {after:,} in all")
    if getattr(model, "calibration", None) is not None:
        again = calibrate_with if calibrate_with is not None else rows if what == "update" else None
        if again is None:
            notes.append(
                "the model is calibrated, and has to be calibrated again before it answers: give rows that it still "
                "knows (--calibrate-with FILE)"
            )
        else:
            model.recalibrate(again.table(), again.target)
            notes.append("calibrated again by " + ("these rows" if again is rows else ", ".join(map(str, again.paths))))
    files = sources(rows)
    known = {name for line in about.get("history", []) for name in str(line.get("source", "")).split(", ")}
    if what == "forget" and known and not known.intersection(str(file["path"]) for file in files):
        notes.append("no file of this name is in the history of the model; were its rows learned under another?")
    moved = None if before is None or after is None else abs(after - before)
    kept = {key: value for key, value in about.items() if key != "evaluation"}  # which was of another model
    history = [*about.get("history", []), event(what, files, moved)]
    return Changed(model, notes, {**kept, **({} if after is None else {"rows": after}), "history": history})


def merge(models: Sequence[tuple[str, Any, Mapping[str, Any]]], minimum: int | None = None) -> Changed:
    """The sum of several models or tallies, each with its name and where it comes from.

    Parameters
    ----------
    models : sequence of (name, model, about)
        Tallies give a tally, and models a model.
    minimum : int, optional
        Drop from the sum what is known of fewer rows.
    """
    (first, model, about), *others = models
    if not isinstance(model, Tally) and not hasattr(model, "merge"):
        raise KindError(f"{first} holds a {type(model).__name__}, which cannot be merged")
    notes = []
    for name, other, _ in others:
        _refuse_strangers(first, model, name, other)
        notes += [*_taken_up(first, model, other), *_taken_up(name, other, model)]
        differing = _settings_that_differ(model, other)
        if differing:
            notes.append(f"{first} and {name} differ in {differing}; the sum is as {first} has it")
        try:
            model = _sum(model, other)
        except InputError as error:
            raise type(error)(f"{first} and {name}: {error}") from None
    paths = [os.path.realpath(name) for name, _, _ in models]
    notes += [
        f"{name} is given more than once, and its rows count as often"
        for place, (name, _, _) in enumerate(models)
        if paths[place] in paths[:place]
    ]
    if getattr(model, "calibration", None) is not None:
        notes.append(
            "the models are calibrated, and their sum has to be calibrated again before it answers: update it, or give "
            "rows that it knows"
        )
    rows = _rows(model)
    if rows is not None and others:
        notes.append(
            f"{len(models):,} {'tallies' if isinstance(model, Tally) else 'models'} added up; {rows:,} rows in all"
        )
    files = [source for _, _, each in models for source in each.get("sources", [])]
    kept = {key: value for key, value in about.items() if key not in ("evaluation", "command")}
    history = [line for _, _, each in models for line in each.get("history", [])]
    merged = Changed(
        model,
        notes,
        {
            **kept,
            **({} if rows is None else {"rows": rows}),
            "sources": files,
            "history": [*history, event("merge", [{"path": name} for name, _, _ in models], rows)]
            if others
            else history,
        },
    )
    return merged if minimum is None else dropped_rare(merged, minimum)


def dropped_rare(learned: Changed, minimum: int) -> Changed:
    """Without what is known of fewer rows; that it was done is said, and not what it was."""
    model = learned.model
    if isinstance(model, Tally):
        before, model = model, model.without_rare(minimum)
        if "class" not in model:
            raise InputError(f"no class has {minimum} rows, so nothing would be left; take a lower minimum count")
        after = model
    else:
        refuse_more_than_sums(model)
        before, after = model.tally_, model.drop_rare(minimum).tally_
    rows = _rows(model)
    about = {**learned.about, **({} if rows is None else {"rows": rows})}
    about["history"] = [*about.get("history", []), event(f"minimum count {minimum}", [], rows)]
    rows_of = f"{minimum:,} row{'s' if minimum != 1 else ''}"
    said = (
        f"nothing was known of fewer than {rows_of}"
        if before == after
        else f"what fewer than {rows_of} have was dropped"
    )
    return Changed(model, [*learned.notes, said], about)


def _sum(model: Any, other: Any) -> Any:
    if isinstance(model, Tally) != isinstance(other, Tally):
        raise MergeError("a tally does not say what its columns are; merge the model that it comes from")
    if not isinstance(model, Tally):
        return model.merge(other)
    if set(model).isdisjoint(set(other) - {"class"}):
        raise MergeError("the tallies have no table in common; only tallies of the same columns merge")
    return model + other


def _rows(model: Any) -> int | float | None:
    if not isinstance(model, Tally):
        return n_learned(model)
    total = float(model.over("class", model.labels("class", 0)).floats().sum())
    return int(total) if total.is_integer() else total


def _settings_that_differ(model: Any, other: Any) -> str:
    """The parameters that two models of a kind have otherwise; what their columns are is not among them."""
    if type(model) is not type(other) or not hasattr(model, "get_params"):
        return ""
    mine, its = (each.get_params(deep=False) for each in (model, other))
    return ", ".join(name for name in mine if name != "columns" and freeze(mine[name]) != freeze(its[name]))


def _taken_up(name: str, model: Any, other: Any) -> list[str]:
    """Where the other has learned columns that a model has set aside: these are then columns it has no values of."""
    if not all(hasattr(each, "schema_") and each.schema_.named for each in (model, other)):
        return []
    ours, theirs = model.schema_, other.schema_
    learned = {*theirs.names.tolist()} - {*theirs.columns("ignore").tolist()}
    aside = learned.intersection(ours.columns("ignore").tolist())
    if not aside:
        return []
    kept = np.array([column not in aside for column in ours.names.tolist()])
    model.schema_ = replace(ours, names=ours.names[kept], families=ours.families[kept])
    listed = ", ".join(sorted(map(repr, aside)))
    return [f"{name} has set {listed} aside: its rows count as rows without a value there"]


def _refuse_strangers(first: str, model: Any, second: str, other: Any) -> None:
    """Raise where two models have learned different things: their sum would be of neither."""
    mine, its = (getattr(each, "_target", None) for each in (model, other))
    if mine is not None and its is not None and mine != its:
        raise MergeError(
            f"{first} has learned the column {mine!r} and {second} the column {its!r}; only models of the same merge"
        )
    if type(model) is type(other) and hasattr(model, "schema_") and len(model.schema_) and len(other.schema_):
        names = set(model.schema_.names.tolist())
        if model.schema_.named and other.schema_.named and names.isdisjoint(other.schema_.names.tolist()):
            raise MergeError(f"{first} and {second} have no column in common; only models of the same columns merge")
