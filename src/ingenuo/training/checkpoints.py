"""What was learned so far, kept in a file, so that an interrupted training can go on from it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ingenuo import store
from ingenuo.engines.local import Total
from ingenuo.errors import InputError
from ingenuo.estimators import streams
from ingenuo.estimators.base import TallyClassifier
from ingenuo.estimators.contract import clone
from ingenuo.schema import Schema
from ingenuo.tally import Tally

EVERY = 30.0  # seconds between two checkpoints


def resumed(model: Any, rows: Any, target: str, weight: str | None, path: str | os.PathLike[str]) -> None:
    """Learn with what was learned kept in a file, going on from it where there is one."""
    if not (isinstance(model, TallyClassifier) and model._is_additive):
        raise InputError(
            f"a {type(model).__name__} with these settings is not a sum of batches, so there is nothing to keep on the "
            "way; leave the checkpoint out"
        )
    state = _state(model, rows, target, weight)
    done, before = 0, Tally()
    learner = clone(model)
    if Path(path).exists():
        kept = store.about(path).get("checkpoint")
        if not isinstance(kept, Mapping):
            raise InputError(f"{path} is a finished model and no checkpoint; name another file, or remove it")
        if kept.get("of") != state:
            odd = [name for name in state if kept.get("of", {}).get(name) != state[name]]
            raise InputError(
                f"{path} is a checkpoint of another training ({', '.join(odd)} differ); remove it to begin anew, or "
                "repeat the command that it is of"
            )
        learner = store.load(path)
        done, before = int(kept["batches"]), learner.tally_
    last, latest = time.monotonic(), None

    def write() -> None:
        if latest is None:
            return
        number, schema, total = latest
        part = clone(model)
        part._target = target
        part._set(schema, before + total.sum())
        store.save(part, path, {"checkpoint": {"of": state, "batches": number}})

    def keep(number: int, schema: Schema, total: Total) -> None:
        nonlocal last, latest
        latest = number, schema, total
        if time.monotonic() - last >= EVERY:
            write()
            last = time.monotonic()

    try:
        schema, tally, _ = streams.tally_of(learner, rows, target, weight, done=done, after=keep)
    except KeyboardInterrupt:
        write()
        raise KeyboardInterrupt(f"what was learned so far is in {path}; the same command goes on from it") from None
    tally = before + tally
    model._check_whole(schema, tally.labels("class", 0), tally)
    model._target = target
    model._set(schema, tally)
    with suppress(FileNotFoundError):
        os.unlink(path)


def _state(model: Any, rows: Any, target: str, weight: str | None) -> dict[str, Any]:
    """What a training must have in common with the one it goes on from."""
    return {
        "files": [[str(path), os.path.getsize(path), os.stat(path).st_mtime_ns] for path in rows.paths if path != "-"],
        "columns": [[name, *map(str, rows.kinds.get(name, ()))] for name in rows.names],
        "model": repr(model),
        "target": target,
        "weight": weight,
    }
