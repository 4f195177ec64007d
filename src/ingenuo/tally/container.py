"""The model file: a manifest and named tensors, checked when read, replaced whole when written.

The layout is that of safetensors, so other tools can look inside::

    8 bytes   length of the header, little-endian
    header    {"__metadata__":{"format":"ingenuo","version":"1","sha256":"...","manifest":"..."},
               "name":{"dtype":"F64","shape":[2,3],"data_offsets":[0,48]},...}   padded with spaces
    data      the tensors, little-endian, in C order, one after another without gaps

Every version begins with the same bytes up to its number: the first 64 bytes tell what a file is, before
anything else in it is believed. The digest is taken over the whole file with its own 64 digits as zeros. It
finds accidents, not forgers (whoever writes a file can also sign it), so the rest is checked as well, and
nothing in a file is ever run, imported or unpickled.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from io import BufferedWriter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, KindError, ModelFileError

Path = str | os.PathLike[str]
Buffer = bytes | mmap.mmap
Manifest = Mapping[str, Any]
Tensors = Mapping[str, NDArray[Any]]
Contents = tuple[dict[str, Any], dict[str, NDArray[Any]]]

VERSION = "1"
MAX_HEADER = 256 * 2**20

_OPENING = re.compile(rb'\{"__metadata__":\{"format":"ingenuo","version":"([0-9]{1,6})",')
_OPENING_SIZE = 64
_DIGEST_1 = re.compile(_OPENING.pattern + rb'"sha256":"([0-9a-f]{64})","manifest":"')
_ZEROS = b"0" * 64

_DTYPES: dict[str, np.dtype[Any]] = {
    f"{kind}{8 * size}": np.dtype(f"<{kind.lower()}{size}")
    for kind, sizes in (("F", (8, 4)), ("I", (8, 4, 2, 1)), ("U", (8, 4, 2, 1)))
    for size in sizes
} | {"BOOL": np.dtype("?")}
_CODES = {dtype.str: code for code, dtype in _DTYPES.items()}


def write_file(path: Path, manifest: Manifest, tensors: Tensors) -> None:
    """Save a manifest and its tensors: the file becomes the new one whole, or stays as it was.

    The mode of a file that is replaced is kept, and a symbolic link is followed.
    """
    replace_file(os.path.realpath(os.fsdecode(path)), _pieces(manifest, tensors))


def read_file(path: Path, *, mapped: bool = False) -> Contents:
    """The manifest and the tensors of a file; the tensors are read-only views of one buffer.

    Of a mapped file the buffer is the file itself, which several processes share: it may be replaced by `write_file`,
    but must never be written over.
    """
    name = os.fsdecode(path)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFileError(f"{name}: this is a folder or a device; give the path of a saved model")
    with open(path, "rb", buffering=0) as file:
        _version(file.read(_OPENING_SIZE), name)  # a wrong file, however large, is refused here
        file.seek(0)
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if mapped else file.readall()
    return from_bytes(data, name)


def to_bytes(manifest: Manifest, tensors: Tensors) -> bytes:
    """The content of the file that `write_file` would write: equal contents give equal bytes."""
    return b"".join(_pieces(manifest, tensors))


def from_bytes(data: Buffer, name: str = "model data") -> Contents:
    """The manifest and the tensors that `to_bytes` packed; `name` is what error messages call them."""
    if not isinstance(data, bytes | mmap.mmap):
        raise KindError(f"{name}: expected bytes, got {type(data).__name__}; convert it with bytes()")
    reader = READERS[_version(data, name)]
    try:
        return reader(data)
    except (ValueError, RecursionError) as error:
        remedy = "restore it from a copy or save the model again"
        raise ModelFileError(f"{name}: the model file is damaged ({error}); {remedy}") from error


# Packing


def _pieces(manifest: Manifest, tensors: Tensors) -> list[bytes | memoryview]:
    """The file in order, with the tensors not copied unless they must be."""
    arrays = {name: _storable(name, tensor) for name, tensor in tensors.items()}
    entries: dict[str, dict[str, Any]] = {}
    data: list[memoryview] = []
    end = 0
    # The widest first: each tensor then starts at a multiple of its item size, as safetensors has it too.
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])):
        begin, end = end, end + array.nbytes
        entries[name] = {"dtype": _CODES[array.dtype.str], "shape": array.shape, "data_offsets": [begin, end]}
        data.append(array.reshape(-1).view(np.uint8).data)
    identity = {"format": "ingenuo", "version": VERSION, "sha256": _ZEROS.decode()}
    document = {"__metadata__": {**identity, "manifest": _text(manifest)}, **entries}
    header = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > MAX_HEADER:
        raise InputError(f"the manifest needs {len(header)} bytes of {MAX_HEADER}; store its bulk as tensors")
    size = len(header).to_bytes(8, "little")
    digest = hashlib.sha256(size + header)
    for piece in data:
        digest.update(piece)
    return [size, header.replace(_ZEROS, digest.hexdigest().encode(), 1), *data]


def _storable(name: object, tensor: object) -> NDArray[Any]:
    if not isinstance(name, str) or name == "__metadata__" or re.search("[\ud800-\udfff]", name):
        raise InputError(f"a tensor cannot be named {name!r}; use whole characters, not __metadata__")
    if not isinstance(tensor, np.ndarray | np.generic):
        raise KindError(f"tensor {name!r} is a {type(tensor).__name__}; make it a numpy array")
    code = _CODES.get(tensor.dtype.newbyteorder("<").str)
    if code is None:
        known = ", ".join(dtype.name for dtype in _DTYPES.values())
        raise InputError(f"tensor {name!r} is of type {tensor.dtype}; a model file holds only {known}")
    return np.asarray(tensor, dtype=_DTYPES[code], order="C")


def _text(manifest: Manifest) -> str:
    """The manifest as JSON. In ASCII, for text may hold half characters, which UTF-8 cannot."""
    try:
        text = json.dumps(dict(manifest), allow_nan=False, sort_keys=True, separators=(",", ":"))
        restored = json.loads(text)
        changed = [key for key, value in manifest.items() if key not in restored or restored[key] != value]
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the manifest cannot be stored as JSON ({error}); use only {_PLAIN}") from error
    if changed:
        raise InputError(f"the manifest would not come back the same at {changed[0]!r}; use only {_PLAIN}")
    return text


_PLAIN = "dicts with text keys, lists, texts, booleans, None and finite numbers"


# Unpacking: a reader per version, kept for ever. What it finds wrong, it says in a ValueError.


def _version(head: Buffer, name: str) -> str:
    opening = _OPENING.match(head, 8)
    if opening is None:
        seen = f"it begins with {head[:16]!r}" if head else "it is empty"
        raise ModelFileError(f"{name}: this is not an ingenuo model ({seen}); give the path of a saved model")
    version, newest = opening[1].decode(), max(READERS, key=int)
    if int(version) > int(newest):
        what = f"written by a newer version of ingenuo (format {version}, known up to {newest})"
        raise ModelFileError(f"{name}: {what}; upgrade ingenuo to read it")
    if version not in READERS:
        raise ModelFileError(f"{name}: the model file is damaged (format {version}); restore it from a copy")
    return version


def _read_version_1(data: Buffer) -> Contents:
    start = 8 + int.from_bytes(data[:8], "little")
    if start > min(len(data), 8 + MAX_HEADER):
        raise ValueError(f"its header would end at byte {start}, the file has {len(data)}")
    _verify(data, _DIGEST_1.match(data, 8))
    # From here on, the opening that was matched vouches for the kind of all the metadata but a fifth key.
    header = _json_object(data[8:start].decode("utf-8"))
    metadata = header.pop("__metadata__")
    if len(metadata) != 4:
        raise ValueError("its metadata has unknown keys")
    layout = sorted((*_entry(name, entry), name) for name, entry in header.items())
    position = 0
    for begin, end, *_ in layout:
        if begin != position:
            raise ValueError("its tensors overlap or leave gaps")
        position = end
    if start + position != len(data):
        raise ValueError(f"its tensors take {position} bytes, the file has {len(data) - start} for them")
    tensors = {name: _tensor(data, start + begin, code, shape) for begin, _, code, shape, name in layout}
    return _json_object(metadata["manifest"]), tensors


READERS: dict[str, Callable[[Buffer], Contents]] = {"1": _read_version_1}


def _verify(data: Buffer, opening: re.Match[bytes] | None) -> None:
    if opening is None:
        raise ValueError("its header has no checksum")
    digest = hashlib.sha256()
    for piece in (memoryview(data)[: opening.start(2)], _ZEROS, memoryview(data)[opening.end(2) :]):
        digest.update(piece)
    if digest.hexdigest().encode() != opening[2]:
        raise ValueError("its content does not match its checksum")


def _json_object(text: str) -> dict[str, Any]:
    """Strict JSON: one object, no key twice, no number that is not finite."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("its header has a key twice")
        return found

    def finite(number: str) -> float:
        if not math.isfinite(value := float(number)):
            raise ValueError("its header has a number that is not finite")
        return value

    found = json.loads(text, object_pairs_hook=unique, parse_float=finite, parse_constant=finite)
    if not isinstance(found, dict):
        raise ValueError("its header or manifest is not a JSON object")
    return found


def _entry(name: str, entry: Any) -> tuple[int, int, str, tuple[int, ...]]:
    """Begin, end, type and shape of a tensor, all checked against one another."""
    what = f"tensor {name[:80]!r}"
    name.encode()  # a ValueError for half characters, which could not be saved again
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{what} is not described by dtype, shape and data_offsets")
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in _DTYPES:
        raise ValueError(f"{what} is of an unknown type")
    for sizes in (shape, offsets):
        if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
            raise ValueError(f"{what} has a shape or offsets that are not whole numbers")
    itemsize = _DTYPES[code].itemsize
    # numpy allows 64 axes, and an address space even to the other axes of an empty array.
    if len(shape) > 64 or math.prod(size or 1 for size in shape) * itemsize > sys.maxsize:
        raise ValueError(f"{what} has an impossible shape")
    if len(offsets) != 2 or math.prod(shape) * itemsize != offsets[1] - offsets[0]:
        raise ValueError(f"{what} has a shape that does not match its offsets")
    return offsets[0], offsets[1], code, tuple(shape)


def _tensor(data: Buffer, begin: int, code: str, shape: tuple[int, ...]) -> NDArray[Any]:
    dtype = _DTYPES[code]
    view: NDArray[Any] = np.ndarray(shape, dtype, buffer=data, offset=begin)
    if code == "BOOL" and view.view(np.uint8).max(initial=0) > 1:
        raise ValueError("a truth value is neither 0 nor 1")
    # A copy only where the machine's byte order, or another writer's alignment, asks for one.
    tensor: NDArray[Any] = np.require(view, dtype.newbyteorder("="), "A")
    tensor.setflags(write=False)
    return tensor


# Replacing: a temporary file beside the target is written, synced and renamed over it. A process that is
# killed leaves that file behind, and the next save to the same name removes it. Whether its writer still
# lives is seen by a lock that the writer holds on it and that the system drops at death: a process number in
# the name would mislead once numbers are used again, or between containers that share a folder. (A file
# without a name, O_TMPFILE, is not known everywhere and would still need one, for no link replaces a file.)


def replace_file(target: str, pieces: Iterable[bytes | memoryview]) -> None:
    """Write a file, whole or not at all."""
    folder, name = os.path.split(target)
    try:
        former = os.stat(target).st_mode
    except FileNotFoundError:
        former = None
    if former is not None and not stat.S_ISREG(former):
        raise InputError(f"{target}: this is a folder or a device; give the path of a file to save to")
    stem = f".{name[:50]}."  # a name may take 255 bytes, the ending included
    _remove_debris(folder, stem)
    try:
        file = _temporary(folder, stem, 0o666 if former is None else 0o600)
    except OSError as error:
        raise _not_saved(error, target) from error
    try:
        with file:
            file.writelines(pieces)
            file.flush()
            if former is not None:
                os.chmod(file.name, stat.S_IMODE(former))
            os.fsync(file.fileno())
            if sys.platform != "win32":
                os.replace(file.name, target)  # under the lock
        if sys.platform == "win32":
            os.replace(file.name, target)  # which moves no open file
    except BaseException as error:
        with suppress(OSError):
            os.unlink(file.name)
        if not isinstance(error, OSError) or isinstance(error, IngenuoError):
            raise
        raise _not_saved(error, target) from error
    with suppress(OSError):  # not every system syncs folders, and the file is whole whatever happens here
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _not_saved(error: OSError, target: str) -> OSError:
    """What kept a file from being written, a full disk say, with its name."""
    reason = f"{error.strerror or error}; nothing was saved and any former file is as it was"
    return OSError(error.errno, reason, target)


def _token(stem: str, drawn: str) -> str:
    """The end of a temporary name, by which it is known for one of ours: nothing else is removed."""
    return drawn + hashlib.blake2b(f"{stem}{drawn}".encode(), digest_size=4).hexdigest()


def _temporary(folder: str, stem: str, mode: int) -> BufferedWriter:
    """A new file, locked; again if another save took it for debris before it was locked."""
    while True:
        path = os.path.join(folder, f"{stem}{_token(stem, secrets.token_hex(4))}.tmp")
        file = open(path, "xb", opener=lambda path, flags: os.open(path, flags, mode))  # noqa: SIM115
        with suppress(OSError):  # a file system without locks: then nobody takes it for debris either
            _lock(file.fileno(), wait=True)
        if os.path.exists(path):
            return file
        file.close()


def _remove_debris(folder: str, stem: str) -> None:
    debris = re.compile(re.escape(stem) + r"[0-9a-f]{16}\.tmp")
    with suppress(OSError):
        for name in filter(debris.fullmatch, os.listdir(folder)):
            if name[len(stem) :] != f"{_token(stem, name[len(stem) :][:8])}.tmp":
                continue
            with suppress(OSError):  # in use, or gone
                _remove_abandoned(os.path.join(folder, name))


if sys.platform == "win32":  # which removes no open file: no lock is needed

    def _lock(handle: int, wait: bool) -> None:
        pass

    _remove_abandoned = os.unlink

else:
    import fcntl

    def _lock(handle: int, wait: bool) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))

    def _remove_abandoned(path: str) -> None:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            _lock(handle, wait=False)
            os.unlink(path)
        finally:
            os.close(handle)
