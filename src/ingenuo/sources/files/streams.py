"""Files as streams of bytes: packed or not, from disk or from standard input, with how far the reading is."""

from __future__ import annotations

import io
import lzma
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingenuo.errors import FileError, missing_file

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
                            f"first bytes ({start[:4].hex(' ')}) it is not; rename it, or pack it anew")  # fmt: skip
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
