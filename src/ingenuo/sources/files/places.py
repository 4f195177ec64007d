"""The files that paths, globs and folders stand for."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ingenuo.errors import FileError, KindError, MissingFileError, missing_file
from ingenuo.sources.files.formats import SUFFIXES
from ingenuo.sources.files.streams import STANDARD_INPUT, File


def expand(paths: Any) -> list[File] | Path:
    """The files, in sorted order for each glob and folder; or the folder that has a sub-folder of texts per class."""
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise KindError(f"path must be the path of a file, got {type(paths).__name__} {paths!r}")
    files: list[File] = []
    listed = list(given)
    for path in listed:
        if not isinstance(path, str | os.PathLike):
            raise KindError(f"path must be the path of a file, got {type(path).__name__} {path!r}")
        name = os.fspath(path)
        if name == STANDARD_INPUT:
            files.append(File(name))
        elif os.path.isdir(name):
            inside = _folder(Path(name))
            if isinstance(inside, Path):
                if len(listed) > 1:
                    raise FileError(f"{name} is a folder of texts by class, which is read alone; give it by itself")
                return inside
            files += inside
        elif os.path.exists(name):
            files.append(File(name))
        elif any(sign in name for sign in "*?["):
            found = sorted(entry for entry in glob.glob(name, recursive=True) if os.path.isfile(entry))
            if not found:
                raise MissingFileError(f"no file is like {name!r}; check the pattern")
            files += [File(entry) for entry in found]
        else:
            raise missing_file(name)
    if not files:
        raise FileError("no file was given; give the path of one")
    if len(files) > 1 and any(file.is_stream for file in files):
        raise FileError("standard input was given with other files; give it by itself")
    return files


def _folder(path: Path) -> list[File] | Path:
    """The data files in a folder; the folder itself where it has a sub-folder of texts per class."""
    try:
        entries = sorted(entry for entry in path.iterdir() if not entry.name.startswith((".", "_")))
    except PermissionError:
        raise FileError(f"{path}: the folder may not be read; ask for the permission") from None
    files = [File(str(entry)) for entry in entries if entry.is_file()]
    known = [file for file in files if file.suffix() in SUFFIXES]
    folders = [entry for entry in entries if entry.is_dir()]
    if known:
        formats = {SUFFIXES[file.suffix()]: file for file in known}
        if len(formats) > 1:
            one, other = list(formats.values())[:2]
            raise FileError(
                f"{path}: the folder has files of several kinds ({Path(one.name).name}, {Path(other.name).name}); give "
                f"those of one kind, such as '{path}/*{one.suffix()}'"
            )
        return known
    if folders:
        inside = next((e for folder in folders for e in sorted(folder.rglob("*")) if e.is_file()), None)
        if inside is not None and File(str(inside)).suffix() in SUFFIXES:
            raise FileError(
                f"{path}: the sub-folders have tables ({inside.name}) and no texts; give '{path}/*/*{inside.suffix}'"
            )
        return path
    if not files:
        raise FileError(f"{path}: there is no file in the folder; give one with data files, or sub-folders of texts")
    raise FileError(
        f"{path}: no file in the folder is a table by its name ({Path(files[0].name).name}, …); name the files"
    )
