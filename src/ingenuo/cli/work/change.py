"""What a model learns later: more rows, fewer, or what other models have learned; and where it comes from."""

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
from ingenuo.rows.streams import Mapped, Stream
from ingenuo.tally.tally import Tally

if TYPE_CHECKING:
    from ingenuo.evaluation.evaluation import Evaluation

KEPT = ("accuracy", "majority_rate", "log_loss", "ece", "f1_macro")


@dataclass(frozen=True)
class Done:
    """A model, notes on what was done, where it comes from now, and how good it is, where it was judged."""

    model: Any
    notes: list[str]
    about: dict[str, Any]
    evaluation: Evaluation | None = None
    how: str = ""  # the evaluation was made


# Where a model comes from: what is kept beside it of its files, its rows, its judging and its history.


def origin(
    model: Any, rows: Any, target: str | None, judged: Evaluation | None = None, how: str = ""
) -> dict[str, Any]:
    """What is kept beside a model of how it came to be."""
    files, n_rows = sources(rows), n_learned(model)
    return {
        **({"target": target} if target is not None else {}),
        **({"rows": n_rows} if n_rows is not None else {}),
        "sources": files,
        "created": _now(),
        "version": __version__,
        "schema": [[name, kind, why] for name, (kind, why) in getattr(rows, "kinds", {}).items()],
        **({"evaluation": {"how": how, **measures(judged)}} if judged is not None else {}),
        "history": [_event("train", files, n_rows)],
    }


def sources(rows: Any) -> list[dict[str, Any]]:
    """The files of a stream, by name and size."""
    names = [os.path.basename(str(path)) if path != "-" else "standard input" for path in rows.paths]
    sizes = [{"bytes": os.path.getsize(path)} if os.path.isfile(path) else {} for path in rows.paths]
    return [{"path": name, **size} for name, size in zip(names, sizes)]


def n_learned(model: Any) -> int | float | None:
    """How many rows a model or a tally has learned; None where that is not known."""
    tally = model if isinstance(model, Tally) else getattr(model, "tally_", None)
    if tally is None or "class" not in tally:
        return None if tally is None or not hasattr(model, "classes_") else 0
    total = float(tally.over("class", tally.labels("class", 0)).floats().sum())
    return int(total) if total.is_integer() else total


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _event(what: str, files: Sequence[Mapping[str, Any]], n_rows: int | float | None) -> dict[str, Any]:
    """A line of a model's history."""
    return {"what": what, "source": ", ".join(str(file["path"]) for file in files), "rows": n_rows, "when": _now()}


def _rows(n: int | float | None) -> dict[str, int | float]:
    return {} if n is None else {"rows": n}


def learned_already(about: Mapping[str, Any], rows: Any) -> str:
    """A sentence where a file by which a model is judged looks like one that it learned; else nothing."""
    learned = {(source.get("path"), source.get("bytes")) for source in about.get("sources", []) if source.get("bytes")}
    same = [source["path"] for source in sources(rows) if (source["path"], source.get("bytes")) in learned]
    warning = "has the name and the size of a file that the model learned: judged by its own rows, a model looks better"
    return f"{', '.join(same)} {warning} than it is" if same else ""


def measures(judged: Evaluation, names: Iterable[Any] = KEPT) -> dict[str, Any]:
    """Measures with their intervals, as plain data; those of a class stand under its name."""
    found: dict[str, Any] = {"rows": judged.n_rows}
    for key in names:
        if key not in judged or (measure := judged[key]).value is None:
            continue
        value = measure.value if math.isfinite(measure.value) else None
        under = found if measure.label is None else found.setdefault("classes", {}).setdefault(str(measure.label), {})
        under[measure.name] = {"value": value, "low": measure.low, "high": measure.high}
    return found


# Learning more and less.


def texts_of(rows: Any) -> Stream:
    """The texts of a stream's one column, without those that are missing."""
    return Mapped(rows, lambda _, batch: batch.filter(batch.column(0).is_valid()))


def change(
    what: str,
    model: Any,
    rows: Any,
    about: Mapping[str, Any],
    *,
    weight: str | None = None,
    calibrate_with: Any = None,
) -> Done:
    """Learn rows ("update") or forget them ("forget"), and calibrate again where the model is calibrated.

    The model is changed, or stays as it was where this raises. It is calibrated by the rows of an update unless others,
    which it has learned, are given.
    """
    before, learns = n_learned(model), what == "update"
    learn = model.partial_fit if learns else model.forget
    if isinstance(model, LanguageModel):
        learn(texts_of(rows))
    else:
        learn(rows, rows.target, sample_weight=weight)
    after = n_learned(model)
    moved = None if before is None or after is None else abs(after - before)
    notes = [rows.note] if getattr(rows, "note", "") else []
    if moved is not None:
        notes.append(f"{moved:,} rows {'learned' if learns else 'forgotten'}; {after:,} in all")
    if getattr(model, "calibration", None) is not None:
        again = calibrate_with if calibrate_with is not None else rows if learns else None
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
    if not learns and known and not known.intersection(str(file["path"]) for file in files):
        notes.append("no file of this name is in the history of the model; were its rows learned under another?")
    kept = {key: value for key, value in about.items() if key != "evaluation"}  # which was of another model
    return Done(
        model, notes, {**kept, **_rows(after), "history": [*about.get("history", []), _event(what, files, moved)]}
    )


def drop_rare(done: Done, minimum: int | None) -> Done:
    """Without what is known of fewer rows; that it was done is noted, and not what it was."""
    if minimum is None:
        return done
    model = done.model
    if isinstance(model, Tally):
        before, model = model, model.without_rare(minimum)
        if "class" not in model:
            raise InputError(f"no class has {minimum} rows, so nothing would be left; take a lower minimum count")
        after = model
    else:
        refuse_more_than_sums(model)
        before, after = model.tally_, model.drop_rare(minimum).tally_
    rows = n_learned(model)
    history = [*done.about.get("history", []), _event(f"minimum count {minimum}", [], rows)]
    few = f"fewer than {minimum:,} row{'s' if minimum != 1 else ''}"
    note = f"nothing was known of {few}" if before == after else f"what {few} have was dropped"
    return replace(
        done, model=model, notes=[*done.notes, note], about={**done.about, **_rows(rows), "history": history}
    )


def merge(models: Sequence[tuple[str, Any, Mapping[str, Any]]], minimum: int | None = None) -> Done:
    """The sum of several models (or tallies), each with its name and where it comes from; what is rare is dropped."""
    (first, model, about), *others = models
    if not isinstance(model, Tally) and not hasattr(model, "merge"):
        raise KindError(f"{first} holds a {type(model).__name__}, which cannot be merged")
    notes = []
    for name, other, _ in others:
        _refuse_strangers(first, model, name, other)
        notes += [*_take_up_columns(first, model, other), *_take_up_columns(name, other, model)]
        if differing := _differing_settings(model, other):
            notes.append(f"{first} and {name} differ in {differing}; the sum is as {first} has it")
        try:
            model = _add(model, other)
        except InputError as error:
            raise type(error)(f"{first} and {name}: {error}") from None
    paths = [os.path.realpath(name) for name, _, _ in models]
    for place, (name, _, _) in enumerate(models):
        if paths[place] in paths[:place]:
            notes.append(f"{name} is given more than once, and its rows count as often")
    if getattr(model, "calibration", None) is not None:
        notes.append(
            "the models are calibrated, and their sum has to be calibrated again before it answers: update it, or give "
            "rows that it knows"
        )
    rows = n_learned(model)
    if rows is not None and others:
        what = "tallies" if isinstance(model, Tally) else "models"
        notes.append(f"{len(models):,} {what} added up; {rows:,} rows in all")
    kept = {key: value for key, value in about.items() if key not in ("evaluation", "command")}
    files = [source for _, _, each in models for source in each.get("sources", [])]
    history = [line for _, _, each in models for line in each.get("history", [])]
    history += [_event("merge", [{"path": name} for name, _, _ in models], rows)] if others else []
    return drop_rare(Done(model, notes, {**kept, **_rows(rows), "sources": files, "history": history}), minimum)


def _add(model: Any, other: Any) -> Any:
    if isinstance(model, Tally) != isinstance(other, Tally):
        raise MergeError("a tally does not say what its columns are; merge the model that it comes from")
    if not isinstance(model, Tally):
        return model.merge(other)
    if set(model).isdisjoint(set(other) - {"class"}):
        raise MergeError("the tallies have no table in common; only tallies of the same columns merge")
    return model + other


def _differing_settings(model: Any, other: Any) -> str:
    """The parameters in which two models of a kind differ; what their columns are is not among them."""
    if type(model) is not type(other) or not hasattr(model, "get_params"):
        return ""
    mine, its = (each.get_params(deep=False) for each in (model, other))
    return ", ".join(name for name in mine if name != "columns" and freeze(mine[name]) != freeze(its[name]))


def _take_up_columns(name: str, model: Any, other: Any) -> list[str]:
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
