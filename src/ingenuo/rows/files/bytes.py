"""The bytes of a file, unpacked as they are read, and its text as UTF-8.

A text is UTF-8 unless it says otherwise: by a mark at its start, or by bytes that are not UTF-8 and read as words in
another encoding, which charset-normalizer then finds.
"""

from __future__ import annotations

import codecs
import io
import lzma
import os
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingenuo.errors import FileError, InputError, did_you_mean, missing_file

STANDARD_INPUT = "-"
# What is packed may unpack to any size, and what has no line end is one line: these are the limits of what is held.
MAX_LINE = 1 << 26  # bytes of a line, and of a cell
MAX_RATIO = 100.0  # bytes for each packed one, of what is read whole
_FREE = 1 << 26  # bytes that are read whole at whatever ratio
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".xz": "xz", ".zip": "zip"}
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",  # an empty one
}


class File:
    """A file of data, or standard input, whose bytes can be read unpacked."""

    def __init__(self, path: str, n_bytes: int | None = None) -> None:
        self.path = path
        self.is_stream = path == STANDARD_INPUT
        self.name = "standard input" if self.is_stream else path
        if n_bytes is None and not self.is_stream:
            found = os.stat(path)
            self.is_stream = stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode)
            if stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
                raise FileError(f"{path} is a device, which may have no end; give a file, or - for standard input")
            n_bytes = None if self.is_stream else found.st_size
        self.n_bytes = n_bytes  # as it is, packed or not
        self.n_read = 0  # of these bytes
        self._head = b""
        self._input: io.BufferedReader[Any] | None = None  # standard input, which can be opened only once
        self._is_read = False

    def suffix(self) -> str:
        """What the name ends in, without that of the packing, in lower case."""
        name = Path(self.path)
        return (Path(name.stem).suffix if name.suffix.lower() in _PACKED else name.suffix).lower()

    def is_packed(self) -> bool:
        """Whether the bytes are packed, by the name."""
        return Path(self.path).suffix.lower() in _PACKED

    def head(self, n: int) -> bytes:
        """The first n bytes, unpacked, or all where there are fewer."""
        if len(self._head) >= n:
            return self._head[:n]
        if not self.is_stream:
            with self.open() as stream:
                self._head = stream.read(n)
        elif self._is_read:
            raise FileError(f"{self.name} can be read only once; give a file where the rows are needed again")
        else:
            self._input = self._input or io.BufferedReader(_Unpacked(self, self._open_stream()))
            self._head += self._input.read(n - len(self._head))
        return self._head[:n]

    def _open_stream(self) -> Any:
        if self.path == STANDARD_INPUT:
            return sys.stdin.buffer
        with explain_refusal(self.path):
            return open(self.path, "rb")

    def release(self) -> None:
        """Let go of the first bytes, which can be read again."""
        if not self.is_stream:
            self._head = b""

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader[Any]]:
        """The bytes from the start, unpacked."""
        if self.is_stream:
            self.head(len(self._head) + 1)  # which refuses to begin again
            self._is_read, start, self._head = True, self._head, b""
            assert self._input is not None
            yield io.BufferedReader(_Again(start, self._input))
            return
        with explain_refusal(self.path):
            raw = open(self.path, "rb")  # noqa: SIM115
        with raw:
            stream: io.BufferedReader[Any] = io.BufferedReader(_Unpacked(self, raw))
            with stream:
                yield stream

    @contextmanager
    def open_text(self, encoding: Encoding, errors: str) -> Iterator[io.BufferedReader[Any]]:
        """The text from the start, as UTF-8, without its mark."""
        with self.open() as stream:
            stream.read(encoding.mark)
            yield stream if encoding.is_utf8 else io.BufferedReader(_Decoded(self.name, stream, encoding, errors))

    def buffer(self, max_ratio: float = MAX_RATIO) -> Any:
        """All of it, unpacked, for formats that are read from their end."""
        if not self.is_stream and not self.is_packed():
            with explain_refusal(self.path):
                return pa.memory_map(self.path)
        pieces, size = [], 0
        with self.open() as stream:
            while piece := stream.read(1 << 22):
                pieces.append(piece)
                size += len(piece)
                refuse_ratio(self.name, size, max(self.n_read, 1), max_ratio)
        return pa.BufferReader(b"".join(pieces))


def refuse_ratio(name: str, unpacked: int, packed: int, most: float) -> None:
    """Raise where what must be read whole unpacks to far more than it is."""
    if unpacked > _FREE and unpacked > most * packed:
        raise FileError(
            f"{name}: {packed:,} bytes unpack to {unpacked:,} or more, over {most:g} times as many, and this format is "
            "read whole; if that is meant, raise the limit (--max-ratio N; scan(…, max_ratio=N))"
        )


class _Again(io.RawIOBase):
    """A stream of which some bytes have been taken already, from its start."""

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start, self._rest, self._at = start, rest, 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        n = min(len(buffer), len(self._start))
        if n:
            buffer[:n] = self._start[:n]
            self._start = self._start[n:]
        else:
            n = self._rest.readinto(buffer) or 0
        self._at += n
        return n


class _Unpacked(io.RawIOBase):
    """The bytes of a file, unpacked; the file notes how many of its own were read."""

    def __init__(self, file: File, raw: Any) -> None:
        self._file = file
        start = raw.read(6)
        packing = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
        by_name = _PACKED.get(Path(file.path).suffix.lower())
        if by_name is not None and packing != by_name and start:
            raise FileError(
                f"{file.name}: the file cannot be read as a table: by its name it is {by_name}, by its first bytes "
                f"({start[:4].hex(' ')}) it is not; rename it, or pack it again"
            )
        again: Any = _Again(start, raw)
        self._raw = raw if packing == "zip" else again
        self._bytes: Any
        if packing is None:
            self._bytes = self._raw
        elif packing == "zip":
            self._bytes = self._zip_member()
        elif packing == "xz":
            self._bytes = lzma.LZMAFile(self._raw)  # noqa: SIM115
        else:
            self._bytes = pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), packing)

    def _zip_member(self) -> Any:
        """The one file in a zip."""
        if self._file.is_stream:
            raise FileError(f"{self._file.name} is a zip, which is read from its end; give the file itself")
        name = self._file.name
        try:
            archive = zipfile.ZipFile(self._raw)
        except zipfile.BadZipFile as error:
            raise FileError(f"{name}: the zip is damaged ({error}); fetch the file again") from None
        members = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX")]
        if len(members) != 1:
            raise FileError(f"{name}: the zip has {len(members)} files, and one is needed; unpack it")
        try:
            return archive.open(members[0])
        except (RuntimeError, NotImplementedError) as error:  # a password, or a packing that Python does not know
            raise FileError(f"{name}: the zip cannot be opened ({error}); unpack it") from None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            n = self._bytes.readinto(buffer) or 0
        except (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
            raise FileError(
                f"{self._file.name}: the packed file ends too early or is damaged ({str(error).splitlines()[0]}); "
                "fetch it or pack it again"
            ) from None
        if not self._raw.closed:
            self._file.n_read = self._raw.tell()
        return int(n)

    def close(self) -> None:
        if not self.closed and "_bytes" in self.__dict__:
            self._bytes.close()
        super().close()


@contextmanager
def explain_refusal(path: str) -> Iterator[None]:
    """Say what keeps a file from being opened."""
    try:
        yield
    except FileNotFoundError:
        raise missing_file(path) from None
    except PermissionError:
        raise FileError(f"{path}: the file may not be read; ask for the permission, or copy it") from None
    except IsADirectoryError:
        raise FileError(f"{path} is a folder; give the files in it") from None


# Encodings.

_MARKS = {  # the longer first: that of UTF-32 begins like that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_USUAL = ("cp1252", "cp1250", "cp1251", "utf_16_le", "utf_16_be", "utf_32_le", "utf_32_be")
_ENOUGH = 5  # bytes that are not UTF-8, before another encoding is believed
_REPLACE = ("(errors: replace)", "(--errors replace)")
_LOOK = 1 << 16  # bytes by which it is found


@dataclass(frozen=True)
class Encoding:
    """The name of an encoding, and how many bytes at the start of the file are its mark."""

    name: str = "utf-8"
    mark: int = 0
    note: str = ""

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes are UTF-8 as they are."""
        return self.name in ("utf-8", "ascii")

    def decode(self, head: bytes) -> bytes:
        """The first bytes of a file as UTF-8, without a letter that is cut in two at the end."""
        head = head[self.mark :]
        if self.is_utf8:
            return head
        return codecs.getincrementaldecoder(self.name)("replace").decode(head).encode("utf-8", "replace")


def detect_encoding(head: bytes, name: str, wanted: str | None) -> Encoding:
    """The encoding of a file by its first bytes, or the one that is wanted."""
    mark = next((mark for mark in _MARKS if head.startswith(mark)), b"")
    if wanted is not None:
        try:
            found = codecs.lookup(wanted).name.removesuffix("-sig")
        except (LookupError, TypeError):
            known = ["utf-8", "utf-16", "utf-32", "latin-1", *_USUAL[:3]]
            raise InputError(f"there is no encoding {wanted!r}{did_you_mean(wanted, known)}") from None
        if mark and _MARKS[mark].startswith(found):  # "utf-16" leaves it to the mark which of the two it is
            return Encoding(_MARKS[mark], len(mark))
        return Encoding(found)
    if mark:
        found = _MARKS[mark]
        return Encoding(found, len(mark), "" if found == "utf-8" else f"written in {found.upper()}, by its mark")
    is_binary = b"\0" in head[:4096]
    if head.isascii() and b"\0" not in head:
        return Encoding()
    text = head.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    if not is_binary and (bad < _ENOUGH or bad < sum(map(len, re.findall(r"[^\x00-\x7f\ufffd]+", text)))):
        return Encoding()  # what little is wrong is reported with its place
    from charset_normalizer import from_bytes

    # Of those that do equally well the most frequent: the letters of West Europe are read in both cp1252 and cp1250.
    best = min(
        from_bytes(head[:_LOOK], cp_isolation=list(_USUAL)),
        key=lambda m: (round(m.chaos, 2), -round(m.coherence, 2), _USUAL.index(m.encoding)),
        default=None,
    )
    if is_binary and (best is None or not best.encoding.startswith("utf")):
        raise FileError(
            f"{name}: a zero byte at offset {head.index(0)} says that this is no text, and its first bytes "
            f"({head[:8].hex(' ')}) are those of no known table; give CSV, TSV, Parquet, Arrow, JSON lines or ARFF"
        )
    if best is None:
        return Encoding()
    found = codecs.lookup(best.encoding).name
    return Encoding(found, 0, f"written in {found.replace('cp', 'Windows-').upper().title()}, by its letters")


class _Decoded(io.RawIOBase):
    """The bytes of a stream as UTF-8, whatever they are written in."""

    def __init__(self, name: str, stream: io.BufferedReader[Any], encoding: Encoding, errors: str) -> None:
        self._name, self._stream, self._encoding = name, stream, encoding
        self._decoder = codecs.getincrementaldecoder(encoding.name)(errors)
        self._waiting, self._at = b"", encoding.mark

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b"-"
        while data and not self._waiting:
            data = self._stream.read(len(buffer))
            try:
                self._waiting = self._decoder.decode(data, final=not data).encode("utf-8", "replace")
            except UnicodeDecodeError as error:
                raise FileError(
                    f"{self._name}: the byte {error.object[error.start]:#04x} about offset {self._at + error.start} is "
                    f"not {self._encoding.name}; name another encoding, or let such bytes be replaced (errors: replace)"
                ).typed_as(*_REPLACE) from None
            self._at += len(data)
        n = min(len(buffer), len(self._waiting))
        buffer[:n] = self._waiting[:n]
        self._waiting = self._waiting[n:]
        return n


def find_bad_byte(data: bytes | bytearray, offset: int, line: int, name: str) -> FileError | None:
    """The error for the first byte that is not UTF-8: where it is, and how its word would read in Windows-1252."""
    try:
        data.decode()
        return None
    except UnicodeDecodeError as error:
        at = error.start
    line += data.count(b"\n", 0, at)
    before, after = re.search(rb"[\w\x80-\xff]*\Z", data[max(at - 40, 0) : at]), data[at : at + 40]
    word = (before[0] if before else b"") + re.split(rb"[^\w\x80-\xff]", after, maxsplit=1)[0]
    found = FileError(
        f"{name}, line {line}: the byte {data[at]:#04x} at offset {offset + at} is not UTF-8; it would read "
        f"{word.decode('cp1252', 'replace')!r} in Windows-1252: name the encoding (encoding: windows-1252), or let "
        "such bytes be replaced (errors: replace)"
    )
    return found.typed_as("encoding: windows", "--encoding windows").typed_as(*_REPLACE)
