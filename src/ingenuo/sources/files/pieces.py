"""Files cut into pieces that other machines read, each as the scan would have read it here.

A piece is described by JSON: its files, and all that the scan has found out about them. Nothing is guessed again where
it is opened, for other rows might tell otherwise there.
"""

from __future__ import annotations

import base64
import json
import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ingenuo.errors import FileError, InputError, KindError, MissingFileError
from ingenuo.sources.files.columnar import Parquet
from ingenuo.sources.files.contents import Content, Options
from ingenuo.sources.files.folders import Folder
from ingenuo.sources.files.kinds import Kind
from ingenuo.sources.files.opening import open_content
from ingenuo.sources.files.scanning import Scan
from ingenuo.sources.files.streams import File, readable

VERSION = 1
_SAME_PLACE = "the files must be at the same place on every machine, such as on a shared disk"


class Unit(NamedTuple):
    """What is not cut: a file, a row group of a large one, or a text of a folder."""

    content: Content
    n_bytes: int
    row_group: int | None = None
    text: tuple[str, Path] | None = None  # its label and its place


def pieces(scan: Scan, bytes_each: int = 128 << 20) -> list[bytes]:
    r"""The files of a scan in pieces, in the order of their rows, each described for `open_piece` on any machine.

    Parameters
    ----------
    scan : Scan
        What `scan` gives, of files.
    bytes_each : int
        Small files are put together up to so many bytes. A larger Parquet file is cut between its row groups, and a
        folder of texts between its texts; any other file is read whole.

    >>> import tempfile
    >>> from ingenuo.sources.files import scan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, row in [("a", "31;Bari"), ("b", "45;Pisa")]:
    ...         _ = Path(folder, name + ".csv").write_text("age;town\n" + row + "\n")
    ...     described = pieces(scan(folder), bytes_each=20)
    ...     [open_piece(piece).table().to_pylist() for piece in described]
    [[{'age': 31, 'town': 'Bari'}], [{'age': 45, 'town': 'Pisa'}]]
    """
    if not isinstance(scan, Scan):
        raise KindError(f"only what scan(…) gives is cut into pieces, got {type(scan).__name__}")
    if isinstance(bytes_each, bool) or not isinstance(bytes_each, int) or bytes_each < 1:
        raise InputError(f"bytes_each must be a whole number from 1 on, got {bytes_each!r}")
    if scan.n_bytes is None:
        raise InputError("standard input is here alone and cannot be read in pieces; write it to a file and give that")
    cuts: list[list[Unit]] = []
    size = 0
    for unit in _units(scan, bytes_each):
        if not cuts or size + unit.n_bytes > bytes_each:
            cuts.append([])
            size = 0
        cuts[-1].append(unit)
        size += unit.n_bytes
    columns = _columns(scan)
    return [json.dumps({**columns, **_files(cut)}, separators=(",", ":")).encode() for cut in cuts]


def open_piece(description: bytes) -> Scan:
    """The rows of a piece, as the scan that was cut would have read them.

    Raises
    ------
    FileError
        Where a file is not there on this machine, or is another one.
    """
    try:
        told = json.loads(description)
        version = told["piece"]
    except (TypeError, KeyError, ValueError):  # a description that is no JSON is a ValueError
        raise InputError("this is no description of a piece of files; give one that pieces(…) made") from None
    if version != VERSION:
        raise InputError(
            f"the piece is described in version {version!r} and {VERSION} is known on {socket.gethostname()}; install "
            "the same version of ingenuo on every machine"
        )
    schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(told["types"])))
    kinds = {name: Kind(kind, why, schema.field(name).type) for name, kind, why in told["columns"]}
    types = {name: schema.field(name).type for name in told["read"]}
    contents = [_opened(file, told["forms"][file["form"]]) for file in told["files"]]
    return Scan(contents, kinds, types, told["target"], categories=told["categories"])


def _columns(scan: Scan) -> dict[str, Any]:
    """What the pieces have in common: the columns, and what each is."""
    types = pa.schema([(name, scan._types.get(name, kind.type)) for name, kind in scan._kinds.items()])
    return {
        "piece": VERSION,
        "target": scan.target,
        "columns": [[name, kind.kind, kind.why] for name, kind in scan._kinds.items()],
        "read": list(scan._types),
        "types": base64.b64encode(types.serialize()).decode(),
        "categories": scan.categories,
    }


def _units(scan: Scan, bytes_each: int) -> Iterator[Unit]:
    for content in scan._contents:
        n_bytes = content.file.n_bytes or 0
        if isinstance(content, Folder):
            for label, place in content.entries:
                yield Unit(content, place.stat().st_size, text=(label, place))
        elif isinstance(content, Parquet) and (n_bytes > bytes_each or content.row_groups is not None):
            for group, size in content.sizes().items():
                yield Unit(content, size, row_group=group)
        else:
            yield Unit(content, n_bytes)


def _files(units: Sequence[Unit]) -> dict[str, Any]:
    """The files of a piece, and the forms that they have: one for most of them, told once."""
    forms: dict[str, int] = {}
    files: list[dict[str, Any]] = []
    last: Content | None = None
    for content, n_bytes, row_group, text in units:
        path = os.path.abspath(content.file.path)
        if content is not last:
            last = content
            options = asdict(replace(content.options, known=()))
            form = json.dumps({"format": content.format, "options": options, "told": content.told()})
            files.append({"path": path, "form": forms.setdefault(form, len(forms))})
            if text is None:
                files[-1]["size"] = os.path.getsize(path)
        if row_group is not None:
            files[-1].setdefault("row_groups", []).append([row_group, n_bytes])
        elif text is not None:
            label, place = text
            files[-1].setdefault("texts", []).append([label, os.path.relpath(place, content.file.path), n_bytes])
    return {"forms": [json.loads(form) for form in forms], "files": files}


def _opened(file: dict[str, Any], form: dict[str, Any]) -> Content:
    """A file of a piece, or what of it belongs to the piece."""
    path, options = file["path"], Options(**form["options"])
    if "texts" in file:
        texts = [(label, Path(path, place)) for label, place, _ in file["texts"]]
        for (_, place), (_, _, size) in zip(texts, file["texts"]):
            _check(str(place), size)
        return Folder(Path(path), options, texts)
    _check(path, file["size"])
    content = open_content(File(path), form["format"], options, form["told"])
    if isinstance(content, Parquet) and "row_groups" in file:
        content.row_groups = [group for group, _ in file["row_groups"]]
        content.file.n_bytes = sum(size for _, size in file["row_groups"])
    return content


def _check(path: str, size: int) -> None:
    """Raise where a file is not there, or has another size than where it was looked at."""
    here = f"on the machine {socket.gethostname()!r}"
    try:
        with readable(path):
            found = os.path.getsize(path)
    except MissingFileError:
        raise MissingFileError(f"{path}: there is no such file {here}; {_SAME_PLACE}") from None
    if found != size:
        raise FileError(
            f"{path}: the file has {found:,} bytes {here} and {size:,} where it was looked at; {_SAME_PLACE}"
        )
