"""What a model learns later: more rows, fewer, or what other models have learned."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ingenuo.cli.work.train import (
    Done,
    counted_again,
    digest,
    drop_rare,
    event,
    keep_some,
    n_learned,
    remember,
    rows_known,
    sources,
    texts_of,
)
from ingenuo.errors import ForgetError, InputError, KindError, MergeError, StaleCalibrationWarning
from ingenuo.models.language import LanguageModel
from ingenuo.models.model import freeze
from ingenuo.models.sums import LearnsSums
from ingenuo.show.format import listed
from ingenuo.tally.fingerprints import NAME as FINGERPRINTS
from ingenuo.tally.tally import Tally


def learned_already(about: Mapping[str, Any], rows: Any) -> str:
    """A sentence where a file by which a model is judged is one that it learned; else nothing."""
    learned: dict[Any, set[Any]] = {}  # what is known of the learned files, by their size
    for source in about.get("sources", []):
        learned.setdefault(source.get("bytes"), set()).add(source.get("sha256") or source.get("path"))
    same = [
        os.path.basename(path)
        for path in map(str, rows.paths)
        if os.path.isfile(path) and (known := learned.get(os.path.getsize(path)))
        if os.path.basename(path) in known or digest(path) in known
    ]
    warning = "is a file that the model learned: judged by its own rows, a model looks better than it is"
    return f"{', '.join(same)} {warning}; judge it by others, or by ingenuo train --folds 10" if same else ""


def change(
    what: str,
    model: Any,
    rows: Any,
    about: Mapping[str, Any],
    *,
    weight: str | None = None,
    calibrate_with: Any = None,
    force: bool = False,
) -> Done:
    """Learn rows ("update") or forget them ("forget"), and calibrate again by rows that are given.

    The model is changed, or stays as it was where this raises. Files that the model has not learned are forgotten
    by force only, unless it knows each of its rows.
    """
    before, learns, files = n_learned(model), what == "update", sources(rows)
    learned = [*about.get("sources", []), *files] if learns else _without_files(about, files)
    if learned is None and not force and not getattr(model, "fingerprints", False):
        raise ForgetError(
            f"{rows.name} is no file that the model learned as it is now, and its sums cannot always show whether rows "
            "were learned: give --force if they were; a model of `train --fingerprints` knows each of its rows"
        )
    learn, classes = model.partial_fit if learns else model.forget, _classes(model)
    moving = keep_some(rows) if learns else rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StaleCalibrationWarning)  # a note says it
        if isinstance(model, LanguageModel):
            learn(texts_of(rows))
        else:
            learn(moving, rows.target, sample_weight=weight)
    after = n_learned(model)
    moved = None if before is None or after is None else abs(after - before)
    if moved == 0:
        raise InputError(f"{rows.name}: there are no rows to {'learn from' if learns else 'forget'}")
    notes = counted_again(files, about.get("sources", [])) if learns else []
    notes += [rows.note] if getattr(rows, "note", "") else []
    if moved is not None:
        rows_moved = f"{moved:,} row{'s' if moved != 1 else ''}"
        notes.append(f"{rows_moved} {'learned' if learns else 'forgotten'}; {after:,} in all")
    now = _classes(model)
    for said, strange in (
        ("new", [c for c in now if c not in classes]),
        ("gone", [c for c in classes if c not in now]),
    ):
        if strange:
            notes.append(f"{said}: class {listed([repr(label) for label in strange])}")
    if calibrate_with is not None:
        model.calibrate_again(calibrate_with.table(), calibrate_with.target)
        notes.append(f"calibrated again by {', '.join(map(str, calibrate_with.paths))}")
    notes += _behind(model)
    kept = {key: value for key, value in about.items() if key != "evaluation"}  # which was of another model
    if "drift" in kept and not learns:  # of the rows that are left nothing else is known than their sums
        del kept["drift"]
    elif "drift" in kept:
        kept |= _add_counts([kept, remember(model, moving, rows.target, weight)]) or {}
    if learned is not None:
        kept["sources"] = learned
    forced = {"forced": True} if learned is None else {}
    history = [*about.get("history", []), event(what, files, moved) | forced]
    return Done(model, notes, {**kept, **rows_known(after), "history": history})


def _add_counts(models: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """What the rows of several models were like, for `drift`; None where of some not all rows were counted."""
    from ingenuo.evaluation.drift import Reference

    found = [Reference.from_plain(each["drift"]) for each in models if "drift" in each]
    if len(found) < len(models) or not all(each.is_whole for each in found):
        return None
    return {"drift": reduce(add, found).to_plain()}


def _behind(model: Any) -> list[str]:
    """A note on a calibration that is behind what the model has learned."""
    remark = model.calibration_remark() if isinstance(model, LearnsSums) else None
    return [] if remark is None else [remark.in_command()]


def _classes(model: Any) -> list[Any]:
    """The classes of which a model has rows; none where it has no classes."""
    return np.asarray(getattr(model, "classes_", ())).tolist()  # type: ignore[no-any-return]


def _without_files(about: Mapping[str, Any], files: Sequence[Mapping[str, Any]]) -> list[Any] | None:
    """The learned files without these, by their contents; None where one of these is not among them.

    Once other rows were forgotten, no file is known to be there as a whole.
    """
    if any(line.get("forced") for line in about.get("history", [])):
        return None
    rest = list(about.get("sources", []))
    for file in files:
        known = [each.get("sha256") for each in rest]
        if "sha256" not in file or file["sha256"] not in known:
            return None
        del rest[known.index(file["sha256"])]
    return rest


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
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StaleCalibrationWarning)  # a note says it
                model = _add(model, other)
        except InputError as error:
            raise type(error)(f"{first} and {name}: {error}") from None
    paths = [os.path.realpath(name) for name, _, _ in models]
    for place, (name, _, _) in enumerate(models):
        if paths[place] in paths[:place]:
            notes.append(f"{name} is given more than once, and its rows count as often")
    notes += _behind(model)
    rows = n_learned(model)
    if rows is not None and others:
        what = "tallies" if isinstance(model, Tally) else "models"
        notes.append(f"{len(models):,} {what} added up; {rows:,} rows in all")
    kept = {key: value for key, value in about.items() if key not in ("evaluation", "command", "drift")}
    kept |= _add_counts([each for _, _, each in models]) or {}
    files = [source for _, _, each in models for source in each.get("sources", [])]
    history = [line for _, _, each in models for line in each.get("history", [])]
    history += [event("merge", [{"path": name} for name, _, _ in models], rows)] if others else []
    return drop_rare(Done(model, notes, {**kept, **rows_known(rows), "sources": files, "history": history}), minimum)


def _add(model: Any, other: Any) -> Any:
    if isinstance(model, Tally) != isinstance(other, Tally):
        raise MergeError("a tally does not say what its columns are; merge the model that it comes from")
    if not isinstance(model, Tally):
        return model.merge(other)
    if set(model).isdisjoint(set(other) - {"class"}):
        raise MergeError("the tallies have no table in common; only tallies of the same columns merge")
    if (FINGERPRINTS in model) != (FINGERPRINTS in other):
        raise MergeError("one tally knows its rows by fingerprints and the other does not; learn both the same way")
    return model + other.named_as(model.all_labels())


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
