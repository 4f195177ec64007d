"""From files to a model: learn it, judge it by rows it had not learned, and say what was done and where it comes from.

Rows are read a batch at a time wherever sums are all that is learned.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import os
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ingenuo import __version__, store
from ingenuo.errors import InputError, did_you_mean
from ingenuo.models.classifier import Classifier
from ingenuo.models.language import LanguageModel
from ingenuo.models.model import clone, is_regressor, refuse_more_than_sums, tally_rows
from ingenuo.models.registry import build, parse
from ingenuo.rows.rows import OURS, Total, rows_of
from ingenuo.rows.schema import FAMILIES, KINDS
from ingenuo.rows.streams import (
    FileRows,
    Held,
    Kept,
    Mapped,
    Stream,
    choose_columns,
    keep_labelled,
    pick_rows,
    refuse_class,
    target_and_weight,
)
from ingenuo.show.format import listed
from ingenuo.show.table import aligned
from ingenuo.tally.tally import Tally

if TYPE_CHECKING:
    from ingenuo.evaluation.evaluation import Evaluation
    from ingenuo.rows.engines import Engine


_REMEMBERED, _REMEMBERED_BYTES = 20_000, 1 << 25  # rows of training that drift is measured by, and their bytes
_FEW = 5  # rows of a class, of which little can be learned
_MOST = 60  # columns that are listed
EVERY = 30.0  # seconds between two checkpoints
KEPT = (  # of what an evaluation finds, of classes or of numbers
    *("accuracy", "majority_rate", "log_loss", "ece", "f1_macro"),
    *("r2", "mean_absolute_error", "always_the_mean_absolute", "root_mean_squared_error", "always_the_mean"),
    *("within_interval", "interval_width"),
)


@dataclass(frozen=True)
class Done:
    """A model, notes on what was done, where it comes from now, and how good it is, where it was judged."""

    model: Any
    notes: list[str]
    about: dict[str, Any]
    evaluation: Evaluation | None = None
    how: str = ""  # the evaluation was made


def train(
    model: Any,
    rows: Any,
    target: str | None = None,
    *,
    weight: str | None = None,
    folds: int | str | None = None,
    holdout: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    minimum: int | None = None,
    seed: int = 0,
    engine: Engine | None = None,
) -> Done:
    """Learn all the rows, and judge the model by rows it had not learned.

    It is judged by folds, or by a share of the rows that is held out from a model that learned the others; the one that
    is returned learns them all. A checkpoint keeps what was learned so far in a file; if it is there, learning goes on
    from it. What fewer rows than the minimum have is dropped at the end. Sums are taken by the engine, if there is one.
    """
    if engine is not None and not (folds is None and holdout is None and checkpoint is None):
        raise InputError(
            "folds, holdout and checkpoints are for rows that one machine reads; leave them out, and judge the model "
            "by files that it has not learned (ingenuo evaluate)"
        )
    if sum(way is not None for way in (folds, holdout, checkpoint)) > 1:
        raise InputError("folds and holdout are two ways to judge a model, and a checkpoint is of learning; take one")
    if holdout is not None and not 0 < holdout < 1:
        raise InputError(f"holdout={holdout!r} is no share of the rows; take one between 0 and 1, such as 0.2")
    if (folds, holdout) != (None, None) and isinstance(model, LanguageModel):
        raise InputError(
            f"a {type(model).__name__} answers with no class, so folds and holdout do not apply to it; leave them out"
        )
    if minimum is not None:
        refuse_more_than_sums(model)
    if isinstance(model, LanguageModel):
        refuse_class(target, weight, checkpoint)
        rows = choose_columns(model, rows, None)
        model.fit(texts_of(rows) if engine is None else engine(rows))
        return drop_rare(Done(model, [], origin(model, rows, None)), minimum)
    rows = choose_columns(model, rows, target)
    target, weight = target_and_weight(rows, target, weight)
    assert target is not None
    rows = keep_labelled(rows, target)
    _declare_values(model, rows, target)
    judged, how, learned = None, "", keep_some(rows)
    if checkpoint is not None:
        _resume(model, learned, target, weight, checkpoint)
    elif folds is not None:
        from ingenuo.evaluation.cross_validation import cross_validate

        here = rows_of(learned, target, weight).in_memory()
        found = cross_validate(clone(model), here.X, here.y, folds, sample_weight=here.weights, random_state=seed)
        model.fit(here.X, here.y, here.weights)
        model._target = target
        judged, how = found.evaluation, found.summary
    elif holdout is not None:
        judged, how = _held_out(model, learned, target, weight, holdout, seed)
    elif engine is not None:
        elsewhere = engine(rows)
        model.fit(elsewhere, target, weight)
        rows.left_out = elsewhere.left_out
    else:
        model.fit(learned, target, weight)
    if minimum is not None and judged is not None:
        how += " It was judged before what is rare was dropped."
    notes = [rows.note] if rows.note else []
    about = origin(model, rows, target, judged, how)
    done = drop_rare(Done(model, notes, about, judged, how), minimum)
    about = done.about | remember(done.model, learned if engine is None else elsewhere, target, weight, minimum)
    done = replace(done, about=about)
    return replace(done, notes=[*done.notes, *_note_small_classes(model)])


def keep_some(rows: Any) -> Kept:
    """Rows of which enough stay, once they were read, for `remember`."""
    return Kept(rows, _REMEMBERED, _REMEMBERED_BYTES)


def remember(
    model: Any, learned: Any, target: str, weight: str | None, minimum: int | None = None
) -> dict[str, dict[str, Any]]:
    """What the rows were like, for `drift`; of many rows by a sample. Of a regressor nothing is known."""
    if not hasattr(model, "classes_"):
        return {}
    from ingenuo.evaluation.drift import reference

    table, total = learned.kept() if isinstance(learned, Kept) else (learned, None)
    if table is None:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say of these rows was said
        found = replace(reference(model, table, target, weight, learned=True), n_learned=total)
    return {"drift": (found if minimum is None else found.without_rare(minimum)).to_plain()}


def _declare_values(model: Any, rows: Any, target: str) -> None:
    """Give the model the values that a file declares for its columns (ARFF does), seen or not: they share the prior."""
    declared = {
        name: list(values)
        for name, values in rows.categories.items()
        if name != target and rows.kinds.get(name, ("",))[0] == "category"
    }
    if declared and "columns" in model.get_params(deep=False):
        model.set_params(columns={**declared, **(model.columns or {})})


def _note_small_classes(model: Any) -> list[str]:
    """A note on classes of which there is little to learn."""
    tally = getattr(model, "tally_", None)
    if tally is None or not hasattr(model, "classes_"):
        return []
    classes = tally.labels("class", 0)
    if len(classes) == 1:
        return [f"every row is of the one class {classes.tolist()[0]!r}, so there is nothing to tell apart"]
    rows = tally.over("class", classes).floats()
    few = [repr(label) for label, n in zip(classes.tolist(), rows) if n < _FEW]
    return [f"fewer than {_FEW} rows, of which little can be learned: class {listed(few)}"] if few else []


def _held_out(
    model: Any, rows: Any, target: str, weight: str | None, share: float, seed: int
) -> tuple[Evaluation, str]:
    """The evaluation on the rows held out of a model that learned the others; then the model learns all."""
    from ingenuo.evaluation.evaluation import evaluate

    if rows.n_bytes is None:  # standard input is read once
        rows = Held(rows)

    def pick(number: int, n_rows: int) -> NDArray[np.bool_]:
        # Data may have been made with the same generator and a small seed; theirs and ours must not draw alike.
        return np.asarray(np.random.default_rng([OURS, seed, number]).random(n_rows) < share)

    held, learned = pick_rows(rows, pick), pick_rows(rows, lambda *batch: ~pick(*batch))
    adds = isinstance(model, Classifier) and model._is_additive  # a regressor's bins and margins are of all the rows
    judged = model if adds else clone(model)
    judged.fit(learned, target, weight)
    found = evaluate(judged, held, target, sample_weight=weight, random_state=seed)
    if adds:
        model.partial_fit(held, target, sample_weight=weight)
    else:
        model.fit(rows, target, weight)
    how = (
        f"Held out: {found.n_rows:,} rows, judged by a model that had not learned them; the model that is kept has "
        "learned them too."
    )
    return found, how


# Checkpoints, for files larger than memory: an interrupted training goes on from what it had learned.


def _resume(model: Any, rows: Any, target: str, weight: str | None, path: str | os.PathLike[str]) -> None:
    """Learn with what was learned kept in a file, going on from it where there is one."""
    if not (isinstance(model, Classifier) and model._is_additive):
        raise InputError(
            f"a {type(model).__name__} with these settings is not a sum of batches; leave the checkpoint out"
        )
    files = [[str(file), os.path.getsize(file), os.stat(file).st_mtime_ns] for file in rows.paths if file != "-"]
    kinds = [[name, *rows.kinds.get(name, ())] for name in rows.names]
    state = {"files": files, "columns": kinds, "model": repr(model), "target": target, "weight": weight}
    done, before, learner = 0, Tally(), clone(model)
    if Path(path).exists():
        kept = store.about(path).get("checkpoint")
        if not isinstance(kept, Mapping):
            raise InputError(f"{path} is a finished model and no checkpoint; name another file, or remove it")
        if odd := [name for name in state if kept["of"].get(name) != state[name]]:
            raise InputError(
                f"{path} is a checkpoint of another training ({', '.join(odd)} differ); remove it to begin again, or "
                "repeat the command that it is of"
            )
        learner = store.load(path)
        done, before = int(kept["batches"]), learner.tally_
    learned = FileRows(rows, target, weight)
    schema = learner.schema_ if done else learner._plan(learned).schema
    last, latest = time.monotonic(), None

    def write() -> None:
        if latest is not None:
            number, total = latest
            part = clone(model)
            part._target = target
            part._set_tally(schema, before + total.sum())
            store.save(part, path, {"checkpoint": {"of": state, "batches": number}})

    def keep(number: int, total: Total) -> None:
        nonlocal last, latest
        latest = number, total
        if time.monotonic() - last >= EVERY:
            write()
            last = time.monotonic()

    try:
        tally = learned.reduce(tally_rows, learner._make_empty(schema), done=done, after=keep)
    except KeyboardInterrupt as error:
        write()
        raise type(error)(f"what was learned so far is in {path}; the same command goes on from it") from None
    tally = before + tally
    model._check_whole(schema, tally.labels("class", 0), tally)
    model._target = target
    model._set_tally(schema, tally)
    Path(path).unlink(missing_ok=True)


def texts_of(rows: Any) -> Stream:
    """The texts of a stream's one column, without those that are missing."""
    return Mapped(rows, lambda _, batch: batch.filter(batch.column(0).is_valid()))


def drop_rare(done: Done, minimum: int | None) -> Done:
    """Without what is known of fewer rows; that it was done is noted, and not what it was."""
    if minimum is None:
        return done
    model = done.model
    before = model if isinstance(model, Tally) else getattr(model, "tally_", None)
    if isinstance(model, Tally):
        after = model = model.without_rare(minimum)
    else:
        refuse_more_than_sums(model)
        after = model.drop_rare(minimum).tally_
    rows, about = n_learned(model), dict(done.about)
    if "drift" in about:
        from ingenuo.evaluation.drift import Reference

        about["drift"] = Reference.from_plain(about["drift"]).without_rare(minimum).to_plain()
    history = [*about.get("history", []), event(f"minimum count {minimum}", [], rows)]
    few = f"fewer than {minimum:,} row{'s' if minimum != 1 else ''}"
    note = f"nothing was known of {few}" if before == after else f"what {few} have was dropped"
    return replace(
        done, model=model, notes=[*done.notes, note], about={**about, **rows_known(rows), "history": history}
    )


# Where a model comes from: what is kept beside it of its files, its rows, its judging and its history.


def origin(
    model: Any, rows: Any, target: str | None, judged: Evaluation | None = None, how: str = ""
) -> dict[str, Any]:
    """What is kept beside a model of how it came to be."""
    files, n_rows = sources(rows), n_learned(model)
    return {
        **({"target": target} if target is not None else {}),
        **rows_known(n_rows),
        "sources": files,
        "created": _now(),
        "version": __version__,
        "schema": [[name, kind, why] for name, (kind, why) in getattr(rows, "kinds", {}).items()],
        **({"evaluation": {"how": how, **measures(judged)}} if judged is not None else {}),
        "history": [event("train", files, n_rows)],
    }


def sources(rows: Any) -> list[dict[str, Any]]:
    """The files of a stream: their names, sizes and SHA-256; or the URL of the database, which has no password."""
    return [
        {"path": os.path.basename(path), "bytes": os.path.getsize(path), "sha256": digest(path)}
        if os.path.isfile(path)
        else {"path": "standard input" if path == "-" else path if "://" in path else os.path.basename(path)}
        for path in map(str, rows.paths)
    ]


def counted_again(files: Sequence[Mapping[str, Any]], learned: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """A note on files whose contents were learned before, from the learned ones or from another of these."""
    known, again = {each.get("sha256") for each in learned}, []
    for file in files:
        if (content := file.get("sha256")) is not None and content in known:
            again.append(str(file["path"]))
        known.add(content)
    return [f"learned before, by its contents, and counted again: {listed(again)}"] if again else []


def digest(path: str) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def n_learned(model: Any) -> int | float | None:
    """How many rows a model or a tally has learned; None where that is not known."""
    tally = model if isinstance(model, Tally) else getattr(model, "tally_", None)
    if tally is None or "class" not in tally:
        return None if tally is None or not hasattr(model, "classes_") else 0
    total = float(tally.over("class", tally.labels("class", 0)).floats().sum())
    return int(total) if total.is_integer() else total


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def event(what: str, files: Sequence[Mapping[str, Any]], n_rows: int | float | None) -> dict[str, Any]:
    """A line of a model's history."""
    return {"what": what, "source": ", ".join(str(file["path"]) for file in files), "rows": n_rows, "when": _now()}


def rows_known(n: int | float | None) -> dict[str, int | float]:
    """The entry of the rows, where their number is known."""
    return {} if n is None else {"rows": n}


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


# What is said of it.


def schema_table(model: Any, rows: Any, target: str | None, weight: str | None = None) -> str:
    """Which column is what, and why."""
    target = rows.target if target is None else target
    known = {
        target: ("number" if is_regressor(model) else "class", "the target"),
        weight: ("weight", "how often a row counts"),
    }
    lines = [[name, *(known.get(name) or rows.kinds.get(name, ("", "")))] for name in rows.names[:_MOST]]
    more = f"\n… and {len(rows.names) - _MOST:,} more columns" if len(rows.names) > _MOST else ""
    return "\n".join(aligned([["column", "kind", "why"], *lines])) + more


def summary(done: Done) -> str:
    """What was learned."""
    lines = [*counted_again(done.about["sources"]), *done.notes]
    rows, classes = n_learned(done.model), getattr(done.model, "classes_", None)
    if rows is not None:
        of = "" if classes is None else f" of {len(classes):,} class{'es' if len(classes) != 1 else ''}"
        lines.append(f"{rows:,} {'row' if rows == 1 else 'rows'}{of} learned")
    if done.evaluation is None and classes is not None:
        lines.append("how good it is was not measured: add --folds 10 or --holdout 0.2, or use evaluate on other rows")
    return "\n".join(lines)


def judgement(done: Done) -> str:
    """How good the model is, where that was measured."""
    called = {"majority_rate": "always the most frequent class", "log_loss": "log loss", "ece": "calibration error"}
    found = done.evaluation
    if found is None:
        return ""
    from ingenuo.evaluation.measures import title

    shown = [name for name in KEPT if name in found and found[name].value is not None and name != "f1_macro"]
    width = max(len(called.get(name, title(name))) for name in shown)
    return "\n".join([done.how, *(f"  {called.get(name, title(name)):<{width}}  {found[name]}" for name in shown)])


def model_and_kinds(
    spec: str, kinds: Mapping[str, str], target: str | None = None, **settings: Any
) -> tuple[Any, dict[str, str]]:
    """A model by its name and settings, and what its columns are to be read as.

    A column may be declared as a family of the model ("histogram") instead of a kind ("number").
    """
    name, own = parse(spec)
    twice = sorted(set(own) & set(settings))
    if twice:
        raise InputError(f"the setting {twice[0]!r} is given twice: {own[twice[0]]!r} and {settings[twice[0]]!r}")
    if target is not None and target in kinds:
        raise InputError(f"column {target!r} is the target, and cannot be declared {kinds[target]!r} as well")
    families = {column: kind for column, kind in kinds.items() if kind not in KINDS and kind in FAMILIES}
    for column, kind in kinds.items():
        if kind not in KINDS and kind not in FAMILIES:
            raise InputError(f"column {column!r} cannot be {kind!r}{did_you_mean(kind, (*KINDS, *FAMILIES))}")
    if families:
        settings["columns"] = families
    return build(name, own | settings), {column: FAMILIES.get(kind, kind) for column, kind in kinds.items()}
