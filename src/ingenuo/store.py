"""The model file: `save` and `load`. What is saved is the tally, so a loaded model goes on learning.

A file holds a manifest (what kind of model, its parameters, its schema, the shapes of its tables) and tensors
(limbs and labels). Everything in it is named from closed lists: nothing is imported by name, unpickled or run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ingenuo.errors import IngenuoError, InputError, ModelFileError
from ingenuo.models.packing import Tensors, pack_network, pack_tally, unpack_network, unpack_tally
from ingenuo.models.registry import model_class, name_of
from ingenuo.networks.network import Network
from ingenuo.tally import container
from ingenuo.tally.tally import Tally


def save(model: Any, path: str | os.PathLike[str], about: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model (or a tally) to one file, whole or not at all.

    Parameters
    ----------
    model : classifier, Network or Tally
        What to save.
    path : path
        Where to.
    about : mapping, optional
        What a reader should know of the model, in values that JSON has: where its rows came from, what it is for.
        `about(path)` of this module reads it; the model does not depend on it.

    >>> import tempfile, os
    >>> from ingenuo import NaiveBayes, load, save
    >>> model = NaiveBayes().fit([["a", 1], ["b", 2]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "model.ingenuo"))
    ...     again = load(os.path.join(folder, "model.ingenuo"))
    >>> again.tally_ == model.tally_
    True
    """
    container.write_file(path, *_state_of(model, about))


def about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What was saved beside a model, of where it comes from; nothing where nothing was."""
    found = container.read_file(path)[0].get("about", {})
    try:
        _check_about(found)
    except InputError as error:
        raise ModelFileError(f"{path}: {error}; restore it from a copy or save the model again") from None
    return dict(found)


def _check_about(about: Mapping[str, Any]) -> None:
    """Raise where what is said of a model is not of the kind that reports and commands read."""
    kinds = {"sources": list, "history": list, "evaluation": dict, "checkpoint": dict}
    if not isinstance(about, Mapping):
        raise InputError(f"about is a {type(about).__name__}; it must be a mapping")
    for key, kind in kinds.items():
        found = about.get(key, kind())
        if not isinstance(found, kind) or (kind is list and not all(map(_is_plain, found))):
            wanted = "a mapping" if kind is dict else "a list of mappings to texts and numbers"
            raise InputError(f"{key!r} of about must be {wanted}")


def _is_plain(entry: Any) -> bool:
    """Whether a source, or a step of the history, is a mapping to texts and numbers; bytes and rows are numbers."""
    if not isinstance(entry, Mapping) or any(
        isinstance(entry.get(key), str | bool | list) for key in ("bytes", "rows")
    ):
        return False
    every = [each for value in entry.values() for each in (value if isinstance(value, list) else [value])]
    return not any(isinstance(each, list | dict) for each in every)


def load(path: str | os.PathLike[str], *, mapped: bool = False) -> Any:
    """Read a model (or a tally) that `save` wrote; damage of any kind raises `ModelFileError`.

    A mapped file is shared by the processes that read it, and must only be replaced, never written over.

    >>> from ingenuo import load
    >>> load("no such file")
    Traceback (most recent call last):
    ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no such file'
    """
    return _from_state(*container.read_file(path, mapped=mapped), str(path))


def to_bytes(model: Any, about: Mapping[str, Any] | None = None) -> bytes:
    """What `save` writes, as bytes."""
    return container.to_bytes(*_state_of(model, about))


def from_bytes(data: bytes, name: str = "model data") -> Any:
    """What `load` reads, from bytes, which errors call by the name."""
    return _from_state(*container.from_bytes(data, name), name)


def _state_of(model: Any, about: Mapping[str, Any] | None) -> tuple[dict[str, Any], Tensors]:
    manifest: dict[str, Any]
    tensors: Tensors = {}
    if isinstance(model, Tally):
        manifest = {"kind": "tally", "tally": pack_tally(model, tensors)}
    elif isinstance(model, Network):
        manifest = {"kind": "network", "network": pack_network(model, tensors)}
    else:
        name_of(model)
        manifest, tensors = model.state()
    if about:
        _check_about(about)
        manifest = manifest | {"about": dict(about)}
    return manifest, tensors


def _from_state(manifest: dict[str, Any], tensors: Tensors, name: str) -> Any:
    try:
        if manifest["kind"] == "tally":
            return unpack_tally(manifest["tally"], tensors)
        if manifest["kind"] == "network":
            return unpack_network(manifest["network"], tensors)
        if manifest["kind"] != "model":
            raise InputError(f"it holds a {manifest['kind']!r}")
        model = model_class(manifest["model"]).from_state(manifest, tensors)
        with suppress(IngenuoError):  # which a model of too few rows raises, too
            model.answer_nothing()
        return model
    except ModelFileError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ModelFileError(
            f"{name} is signed correctly, but what it describes is no model that this version can build "
            f"({type(error).__name__}: {error}); save it again from the model it came from"
        ) from error
