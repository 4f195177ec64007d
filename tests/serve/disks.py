"""Folders for the journal that are full, that die at a byte, or that lose what was not synced when the power goes."""

from __future__ import annotations

import errno
from typing import Any

from ingenuo.errors import JournalError


class Killed(BaseException):
    """The process is dead."""


class _Content:
    """The bytes of a file: as everybody sees them, and as they are safe."""

    def __init__(self) -> None:
        self.seen, self.safe = b"", b""


class MemoryFolder:
    """A folder in memory.

    `left` is how many points are left until it dies: each byte that is written is one, and each other step. `room` is
    how many bytes there is room for. A step that is in `failing` raises `OSError`.
    """

    name = "FOLDER"

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.names: dict[str, _Content] = {}
        for name, data in (files or {}).items():
            self.names[name] = content = _Content()
            content.seen = content.safe = data
        self._safe_names = dict(self.names)
        self.left: int | None = None
        self.room: int | None = None
        self.failing: set[str] = set()
        self.steps: list[int] = []  # the points at which steps ended
        self.spent, self.is_locked = 0, False

    # What a crash leaves.

    def after_kill(self) -> MemoryFolder:
        """As another process finds it: all that was written."""
        return MemoryFolder({name: content.seen for name, content in self.names.items()})

    def after_power_cut(self, *, with_names: bool) -> MemoryFolder:
        """As it is found when the power was cut: what was synced; of names, or of contents, perhaps more."""
        names = self.names if with_names else self._safe_names
        return MemoryFolder({name: content.safe for name, content in names.items()})

    # Steps.

    def step(self, name: str, n: int = 1) -> int:
        """Spend points: how many of them could be."""
        if self.left is not None and self.left <= 0:
            raise Killed
        n = n if self.left is None else min(n, self.left)
        if self.left is not None:
            self.left -= n
        self.spent += n
        self.steps.append(self.spent)
        if name in self.failing:
            raise OSError(errno.EIO, "the disk is damaged")
        return n

    def used(self) -> int:
        """The bytes of all files."""
        return sum(len(content.seen) for content in self.names.values())

    # What the journal asks for.

    def lock(self) -> None:
        """Keep others out."""
        if self.is_locked:
            raise JournalError("it is locked")
        self.is_locked = True

    def read(self, name: str) -> bytes | None:
        """All that a file holds."""
        return self.names[name].seen if name in self.names else None

    def open(self, name: str) -> Any:
        """A file to write to."""
        self.step("open")
        return _MemoryFile(self, self.names.setdefault(name, _Content()))

    def rename(self, old: str, new: str) -> None:
        """Give a file another name."""
        self.step("rename")
        self.names[new] = self.names.pop(old)

    def remove(self, name: str) -> None:
        """Remove a file."""
        self.step("remove")
        self.names.pop(name, None)

    def sync(self) -> None:
        """Make the names safe."""
        self.step("sync names")
        self._safe_names = dict(self.names)

    def close(self) -> None:
        """Let others in."""
        self.is_locked = False


class _MemoryFile:
    def __init__(self, folder: MemoryFolder, content: _Content) -> None:
        self._folder, self._content = folder, content

    def write(self, data: bytes) -> None:
        room = len(data) if self._folder.room is None else max(self._folder.room - self._folder.used(), 0)
        some = self._folder.step("write", min(len(data), max(room, 1)))
        self._content.seen += data[: min(some, room)]
        if some < len(data):
            if self._folder.left == 0:
                raise Killed
            raise OSError(errno.ENOSPC, "No space left on device")

    def sync(self) -> None:
        self._folder.step("sync")
        self._content.safe = self._content.seen

    def truncate(self, size: int) -> None:
        self._folder.step("truncate")
        self._content.seen = self._content.seen[:size]

    def close(self) -> None:
        pass
