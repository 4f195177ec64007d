"""Files as streams of bytes: packed or not, from disk or from standard input, in whatever encoding.

A file is UTF-8 unless it says otherwise: by a mark at its start, or by bytes that are no UTF-8 and read as words in
another encoding, which charset-normalizer then finds.
"""

from __future__ import annotations

import codecs
import io
import lzma
import os
import re
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

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_stream = path == STANDARD_INPUT
        self.name = "standard input" if self.is_stream else path
        self.n_bytes = None if self.is_stream else os.path.getsize(path)  # as it is, packed or not
        self._head = b""
        self._source: Stream | None = None  # of standard input, which can be opened only once
        self._spent = False

    def suffix(self) -> str:
        """What the name ends in, without that of the packing, in lower case."""
        name = Path(self.path)
        return (Path(name.stem).suffix if name.suffix.lower() in _PACKED else name.suffix).lower()

    def packed(self) -> bool:
        """Whether the bytes are packed, by the name."""
        return Path(self.path).suffix.lower() in _PACKED

    def head(self, n: int) -> bytes:
        """The first n bytes, unpacked, or all where there are fewer."""
        if len(self._head) < n:
            if self.is_stream:
                if self._spent:
                    raise self._once()
                if self._source is None:
                    self._source = Stream(self, sys.stdin.buffer)
                self._head += self._source.read(n - len(self._head))
            else:
                with self.open() as stream:
                    self._head = stream.read(n)
        return self._head[:n]

    def release(self) -> None:
        """Let go of the first bytes, which can be read again."""
        if not self.is_stream:
            self._head = b""

    @contextmanager
    def open(self) -> Iterator[Stream]:
        """The bytes from the start."""
        if not self.is_stream:
            with readable(self.path):
                raw = open(self.path, "rb")  # noqa: SIM115
            with raw:
                stream = Stream(self, raw)
                try:
                    yield stream
                finally:
                    stream.close()
            return
        if not self._spent:
            self.head(1)
        source, self._source, self._spent = self._source, None, True
        if source is None:
            raise self._once()
        source.give_back(self._head)
        self._head = b""
        yield source

    @staticmethod
    def _once() -> FileError:
        return FileError("standard input can be read only once; give a file where the rows are needed again")

    def buffer(self) -> Any:
        """All of it, unpacked, for formats that are read from their end."""
        if not self.is_stream and not self.packed():
            with readable(self.path):
                return pa.memory_map(self.path)
        with self.open() as stream:
            return pa.BufferReader(stream.read_all())


class Stream:
    """Bytes, unpacked as they are read."""

    def __init__(self, file: File, raw: Any) -> None:
        self.file = file
        self._raw = raw
        self._back = b""
        start = raw.read(6)
        packing = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
        by_name = _PACKED.get(Path(file.path).suffix.lower())
        if by_name is not None and packing != by_name and start:
            raise FileError(f"{file.name}: the file cannot be read as a table: by its name it is {by_name}, by its "
                            f"first bytes ({start[:4].hex(' ')}) it is not; rename it, or pack it again")  # fmt: skip
        if file.is_stream:
            raw = _Rest(start, raw)
            self._raw = raw
        else:
            raw.seek(0)
        self._unpacked: Any
        if packing is None:
            self._unpacked = raw
        elif packing == "xz":
            self._unpacked = lzma.LZMAFile(raw)  # noqa: SIM115
        elif packing == "zip":
            self._unpacked = self._member(raw)
        else:
            self._unpacked = pa.CompressedInputStream(pa.PythonFile(raw, "r"), packing)

    def _member(self, raw: Any) -> Any:
        """The one file in a zip."""
        if self.file.is_stream:
            raise FileError("standard input is a zip, which is read from its end; give the file itself")
        try:
            archive = zipfile.ZipFile(raw)
        except zipfile.BadZipFile as error:
            raise FileError(f"{self.file.name}: the zip is damaged ({error}); fetch the file again") from None
        members = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX")]
        if len(members) != 1:
            raise FileError(f"{self.file.name}: the zip has {len(members)} files, and one is needed; unpack it")
        try:
            return archive.open(members[0])
        except (RuntimeError, NotImplementedError) as error:  # a password, or a packing that Python does not know
            raise FileError(f"{self.file.name}: the zip cannot be opened ({error}); unpack it") from None

    def read(self, n: int) -> bytes:
        """The next n bytes; fewer only at the end."""
        parts = [self._back[:n]]
        self._back = self._back[n:]
        missing = n - len(parts[0])
        while missing:
            try:
                part = self._unpacked.read(missing)
            except (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
                raise FileError(
                    f"{self.file.name}: the packed file ends too early or is damaged "
                    f"({str(error).splitlines()[0]}); fetch it or pack it again"
                ) from None
            if not part:
                break
            parts.append(part)
            missing -= len(part)
        return b"".join(parts) if len(parts) != 1 else parts[0]

    def readinto(self, buffer: memoryview) -> int:
        """Put the next bytes there, and say how many; none only at the end."""
        if self._back or self._unpacked is not self._raw or self.file.is_stream:
            data = self.read(len(buffer))
            buffer[: len(data)] = data
            return len(data)
        return int(self._raw.readinto(buffer) or 0)

    def read_all(self) -> bytes:
        """The rest."""
        parts = []
        while part := self.read(1 << 24):
            parts.append(part)
        return b"".join(parts)

    def give_back(self, data: bytes) -> None:
        """Let bytes be read again."""
        self._back = data + self._back

    def consumed(self) -> int:
        """How many bytes of the file have been read, packed as they are there."""
        try:
            return int(self._raw.tell())
        except (OSError, ValueError):
            return 0

    def close(self) -> None:
        """Let go of what unpacks."""
        if self._unpacked is not self._raw:
            self._unpacked.close()


class _Rest(io.RawIOBase):
    """A stream from its start, of which some bytes have been taken already; counts what is read."""

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start, self._stream, self._at = start, rest, 0

    def readable(self) -> bool:
        return True

    def read(self, n: int = -1) -> bytes:
        if self._start:
            result = self._start if n < 0 else self._start[:n]
            self._start = self._start[len(result) :]
        else:
            result = self._stream.read(n)
        self._at += len(result)
        return result

    def tell(self) -> int:
        return self._at


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Tell what keeps a file from being opened."""
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
_ENOUGH = 5  # bytes that are no UTF-8, before another encoding is believed
_LOOK = 1 << 16  # bytes by which it is found


@dataclass(frozen=True)
class Encoding:
    """The name of an encoding, and how many bytes at the start of the file are its mark."""

    name: str = "utf-8"
    mark: int = 0
    note: str = ""


def detect(head: bytes, name: str, wanted: str | None) -> Encoding:
    """The encoding of a file by its first bytes, or the one that is wanted."""
    mark = next((mark for mark in _MARKS if head.startswith(mark)), b"")
    if wanted is not None:
        try:
            found = codecs.lookup(wanted).name
        except (LookupError, TypeError):
            known = ["utf-8", "utf-16", "utf-32", "latin-1", *_USUAL[:3]]
            raise InputError(f"there is no encoding {wanted!r}{did_you_mean(wanted, known)}") from None
        found = found.removesuffix("-sig")
        if mark and _MARKS[mark].startswith(found):  # "utf-16" leaves it to the mark which of the two it is
            return Encoding(_MARKS[mark], len(mark))
        return Encoding(found)
    if mark:
        found = _MARKS[mark]
        return Encoding(found, len(mark), "" if found == "utf-8" else f"written in {found.upper()}, by its mark")
    if head.isascii() and b"\0" not in head:
        return Encoding()
    text = head.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    if b"\0" not in head[:4096] and (bad < _ENOUGH or bad < sum(map(len, re.findall(r"[^\x00-\x7f\ufffd]+", text)))):
        return Encoding()  # what little is wrong is told with its place
    from charset_normalizer import from_bytes

    matches = from_bytes(head[:_LOOK], cp_isolation=list(_USUAL))
    # Of those that do equally well the most frequent: the letters of West Europe are read in both cp1252 and cp1250.
    best = min(
        matches, key=lambda m: (round(m.chaos, 2), -round(m.coherence, 2), _USUAL.index(m.encoding)), default=None
    )
    if b"\0" in head[:4096] and (best is None or not best.encoding.startswith("utf")):
        raise FileError(
            f"{name}: a zero byte at offset {head.index(0)} says that this is no text, and its first bytes "
            f"({head[:8].hex(' ')}) are those of no known table; give CSV, TSV, Parquet, Arrow, JSON lines or ARFF"
        )
    if best is None:
        return Encoding()
    found = codecs.lookup(best.encoding).name
    return Encoding(found, 0, f"written in {found.replace('cp', 'Windows-').upper().title()}, by its letters")


class Text:
    """The bytes of a stream as UTF-8, whatever they are written in."""

    def __init__(self, stream: Stream, encoding: Encoding, errors: str) -> None:
        self.stream, self.encoding = stream, encoding
        self._decoder: Any = None
        self._waiting = b""
        stream.read(encoding.mark)
        if encoding.name not in ("utf-8", "ascii"):
            self._decoder = codecs.getincrementaldecoder(encoding.name)(errors)
        self._at = encoding.mark

    def readinto(self, buffer: memoryview) -> int:
        """Put bytes there, and say how many; none only at the end."""
        if self._decoder is None:
            return self.stream.readinto(buffer)
        if not self._waiting:
            self._waiting = self._decoded(max(len(buffer), 1))
        n = min(len(buffer), len(self._waiting))
        buffer[:n] = self._waiting[:n]
        self._waiting = self._waiting[n:]
        return n

    def read_all(self) -> bytes:
        """The rest."""
        if self._decoder is None:
            return self.stream.read_all()
        parts = [self._waiting]
        while part := self._decoded(1 << 22):
            parts.append(part)
        return b"".join(parts)

    def _decoded(self, n: int) -> bytes:
        while True:
            data = self.stream.read(n)
            try:
                result: bytes = self._decoder.decode(data, final=not data).encode("utf-8", "replace")
            except UnicodeDecodeError as error:
                raise FileError(
                    f"{self.stream.file.name}: the byte {error.object[error.start]:#04x} about offset "
                    f"{self._at + error.start} is not {self.encoding.name}; name another encoding, or let "
                    "such bytes be replaced (errors: replace)"
                ) from None
            self._at += len(data)
            if result or not data:
                return result


def decode(head: bytes, encoding: Encoding) -> bytes:
    """The first bytes of a file as UTF-8, without a letter that is cut in two at the end."""
    head = head[encoding.mark :]
    if encoding.name in ("utf-8", "ascii"):
        return head
    return codecs.getincrementaldecoder(encoding.name)("replace").decode(head).encode("utf-8", "replace")


def bad_byte(data: bytes | bytearray, offset: int, line: int, name: str) -> FileError | None:
    """The error for the first byte that is not UTF-8: where it is, and how its word would read in Windows-1252.

    >>> print(bad_byte("café noir".encode("latin-1"), 100, 7, "menu.csv"))
    menu.csv, line 7: the byte 0xe9 at offset 103 is not UTF-8; it would read 'café' in Windows-1252: name the \
encoding, or let such bytes be replaced (errors: replace)
    """
    try:
        data.decode()
        return None
    except UnicodeDecodeError as error:
        at = error.start
    line += data.count(b"\n", 0, at)
    before = re.search(rb"[\w\x80-\xff]*\Z", data[max(at - 40, 0) : at])
    after = re.match(rb"[\w\x80-\xff]*", data[at : at + 40])
    word = ((before[0] if before else b"") + (after[0] if after else b"")).decode("cp1252", "replace")
    return FileError(
        f"{name}, line {line}: the byte {data[at]:#04x} at offset {offset + at} is not UTF-8; it would read {word!r} "
        "in Windows-1252: name the encoding, or let such bytes be replaced (errors: replace)"
    )
