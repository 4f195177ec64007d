"""A journal on the disk: a snapshot, and a record of every change since, each safe before it is answered.

A folder holds

    lock               held by the one process that writes here
    snapshot.ingenuo   a model file: all that was changed up to some number
    journal            a record for each change after that number

and a record is, little-endian,

    b"ingR" | length of the body | CRC-32 of the body | CRC-32 of these twelve bytes | body

A process that dies while it writes leaves a part of a record at the end: that was never answered, and is cut off. Where
a record is damaged and whole ones follow, something else has happened, and nothing is guessed. A snapshot is written
beside the old one and takes its name when it is whole; only then is the journal emptied. Whoever dies in between finds
records that the snapshot has already, and leaves them out by their numbers.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, Protocol

from ingenuo.errors import JournalError

JOURNAL, SNAPSHOT, NEW, LOCK = "journal", "snapshot.ingenuo", "snapshot.new", "lock"

_MARK = b"ingR"
_HEAD = struct.Struct("<4sIII")
_LONGEST = 2**32 - 1  # bytes of a body


class File(Protocol):
    """A file that is written at its end."""

    def write(self, data: bytes) -> None:
        """Add all of the bytes, or raise `OSError` after some of them."""

    def sync(self) -> None:
        """Return when what was written is on the disk."""

    def truncate(self, size: int) -> None:
        """Keep so many bytes."""

    def close(self) -> None:
        """Write no more."""


class Folder(Protocol):
    """What a journal needs of a folder; tests have one that dies after some bytes."""

    name: str

    def lock(self) -> None:
        """Keep others out until `close`, or raise `JournalError`."""

    def read(self, name: str) -> bytes | None:
        """All that a file holds; None where there is none."""

    def open(self, name: str) -> File:
        """A file, which may be new, to write to."""

    def rename(self, old: str, new: str) -> None:
        """Give a file another name, in place of the file that had it."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""

    def sync(self) -> None:
        """Return when the names are on the disk."""

    def close(self) -> None:
        """Let others in."""


class _DiskFile:
    """A file of the system, without a buffer."""

    def __init__(self, path: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._handle = os.open(path, flags, 0o600)  # sums of rows are nobody else's business

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while len(rest):  # a disk that is nearly full takes a part
            rest = rest[os.write(self._handle, rest) :]

    def sync(self) -> None:
        _sync(self._handle)

    def truncate(self, size: int) -> None:
        os.ftruncate(self._handle, size)

    def close(self) -> None:
        os.close(self._handle)


if sys.platform == "win32":
    import msvcrt

    _sync: Callable[[int], None] = os.fsync

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _sync(handle: int) -> None:
        if sys.platform == "darwin":  # whose fsync leaves the bytes in the memory of the drive
            with suppress(OSError):
                fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
                return
        os.fsync(handle)

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Disk:
    """A folder of the system; it is made where it is not there."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self._path = Path(path)
        self._held: int | None = None
        try:
            self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise JournalError(
                f"{self.name}: there can be no journal here ({error.strerror}); give another folder"
            ) from error

    def lock(self) -> None:
        """Keep others out until `close`, or raise `JournalError`."""
        try:
            self._held = os.open(self._path / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            _lock(self._held)
        except OSError as error:
            holder = self._holder()
            self.close()
            raise JournalError(
                f"{self.name}: another process{holder} has this journal ({error.strerror}); end it, or give each "
                "server a journal of its own"
            ) from error
        with suppress(OSError):  # for the message above, no more
            os.ftruncate(self._held, 0)
            os.write(self._held, f"{os.getpid()}\n".encode())

    def _holder(self) -> str:
        with suppress(OSError, ValueError):  # Windows lets nobody read what is locked
            return f" ({int((self._path / LOCK).read_text())})"
        return ""

    def read(self, name: str) -> bytes | None:
        """All that a file holds; None where there is none."""
        try:
            return (self._path / name).read_bytes()
        except FileNotFoundError:
            return None

    def open(self, name: str) -> File:
        """A file, which may be new, to write to."""
        return _DiskFile(self._path / name)

    def rename(self, old: str, new: str) -> None:
        """Give a file another name, in place of the file that had it."""
        os.replace(self._path / old, self._path / new)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        (self._path / name).unlink(missing_ok=True)

    def sync(self) -> None:
        """Return when the names are on the disk."""
        if sys.platform == "win32":  # which opens no folders, and writes names in their order
            return
        handle = os.open(self._path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def close(self) -> None:
        """Let others in."""
        if self._held is not None:
            os.close(self._held)
            self._held = None


class Journal:
    """The snapshot and the records of a folder, which is locked as long as the journal is open.

    Attributes
    ----------
    snapshot : bytes or None
        As it was found.
    records : list of bytes
        The bodies of the records that were found, in their order.
    size : int
        The bytes of the records.
    cut : int
        Bytes at the end that were no whole record, and were cut off.
    """

    def __init__(self, folder: Folder) -> None:
        self.name, self._folder = folder.name, folder
        self._torn = self._unsettled = False
        folder.lock()
        try:
            folder.remove(NEW)
            self.snapshot, found = folder.read(SNAPSHOT), folder.read(JOURNAL) or b""
            self.records, self.size = _read_records(found, self.name)
            self.cut = len(found) - self.size
            self._file = folder.open(JOURNAL)
            folder.sync()  # so that no power cut takes a journal that is new
            if self.cut:
                self._file.truncate(self.size)
                self._file.sync()
        except OSError as error:
            folder.close()
            raise JournalError(
                f"{self.name}: the journal cannot be opened ({error.strerror or error}); mend that first"
            ) from error
        except BaseException:
            folder.close()
            raise

    def append(self, bodies: Iterable[bytes]) -> None:
        """Add records, all or none; they are on the disk when this returns."""
        data = b"".join(_record(body) for body in bodies)
        self.settle()
        try:
            self._torn = True
            self._file.write(data)
            self._file.sync()
            self._torn = False
        except OSError as error:
            with suppress(JournalError):  # else before the next record
                self.settle()
            self._refuse(error)
        self.size += len(data)

    def replace(self, snapshot: bytes) -> None:
        """Let another snapshot take the place of the one that there is; `settle` then empties the journal.

        Where this raises, all is as it was. Once it has returned, the new snapshot is what will be found.
        """
        self.settle()
        try:
            self._folder.remove(NEW)
            file = self._folder.open(NEW)
            try:
                file.write(snapshot)
                file.sync()
            finally:
                file.close()
            self._folder.rename(NEW, SNAPSHOT)
        except OSError as error:
            with suppress(OSError):
                self._folder.remove(NEW)
            self._refuse(error)
        self._unsettled = True

    def settle(self) -> None:
        """Finish what was begun: the snapshot is safe and the journal empty, or the last record is whole."""
        try:
            if self._unsettled:
                self._folder.sync()  # before the records go: else a power cut could take both
                self._torn, self.size = True, 0
                self._unsettled = False
            if self._torn:
                self._file.truncate(self.size)
                self._file.sync()
                self._torn = False
        except OSError as error:
            self._refuse(error)

    def _refuse(self, error: OSError) -> NoReturn:
        raise JournalError(
            f"the change could not be made safe on the disk ({error.strerror or error}); once that is mended (room on "
            "the disk, most often), send it again"  # said to callers, whom the folder does not concern
        ) from error

    def close(self) -> None:
        """Let others in."""
        with suppress(OSError):
            self._file.close()
        self._folder.close()


def _record(body: bytes) -> bytes:
    if len(body) > _LONGEST:
        raise JournalError(f"a change of {len(body):,} bytes is too long for a journal; learn fewer rows at once")
    head = _MARK + struct.pack("<II", len(body), zlib.crc32(body))
    return head + struct.pack("<I", zlib.crc32(head)) + body


def _read_record(data: bytes, at: int) -> bytes | None:
    """The body of the record that begins at a place; None where none does that is whole."""
    if at + _HEAD.size > len(data):
        return None
    mark, length, check, head_check = _HEAD.unpack_from(data, at)
    begin = at + _HEAD.size
    if mark != _MARK or zlib.crc32(data[at : begin - 4]) != head_check or begin + length > len(data):
        return None
    body = data[begin : begin + length]
    return body if zlib.crc32(body) == check else None


def _read_records(data: bytes, name: str) -> tuple[list[bytes], int]:
    """The bodies of the whole records, and where these end; raises where whole ones come after damage."""
    found, at = list[bytes](), 0
    while (body := _read_record(data, at)) is not None:
        found.append(body)
        at += _HEAD.size + len(body)
    later = data.find(_MARK, at + 1)
    while later >= 0:
        if _read_record(data, later) is not None:
            raise JournalError(
                f"{name}: the journal is damaged at byte {at:,} of {len(data):,}, and whole records follow; restore "
                "the folder from a copy, or move it away and begin again"
            )
        later = data.find(_MARK, later + 1)
    return found, at
