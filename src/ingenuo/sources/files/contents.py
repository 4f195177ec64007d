"""What every format gives of one file: its columns, its first rows, and all its rows, some at a time."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from ingenuo.sources.files.blocks import BLOCK
from ingenuo.sources.files.kinds import Kind, as_types
from ingenuo.sources.files.sniffing import MISSING, Dialect
from ingenuo.sources.files.streams import File

T = TypeVar("T")
R = TypeVar("R")
_AHEAD = 4  # at most so many blocks are parsed at a time
_READ = 4  # so many batches are read before they are asked for
_END = object()


@dataclass(frozen=True)
class Options:
    """What the user says of the files; None where it is to be found out."""

    format: str | None = None
    separator: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None
    missing: Sequence[str] = MISSING
    errors: str = "strict"
    known: Sequence[str] = ()  # names of columns that a header would have
    block_size: int = BLOCK
    look: int = 1 << 20  # bytes from which the form of a file is told


class Part(NamedTuple):
    """Some rows, and the bytes of the file up to them."""

    table: Any
    consumed: int


class Form(NamedTuple):
    """How some files are written, for readers that are not ours."""

    format: str
    packed: bool = False
    encoding: str = "utf-8"  # as Python calls it, with its mark
    dialect: Dialect | None = None  # of delimited text
    skipped: int = 0  # lines before the rows
    missing: tuple[str, ...] = ()
    errors: str = "strict"
    paths: tuple[str, ...] = ()


class Content:
    """The rows of one file; a format fills in what it knows."""

    written = False  # whether numbers are written as strings, and must be told by looking
    decimal = "."
    may_lack_columns = False  # whether rows, and so files, may lack some columns
    format = ""  # as `open_content` calls it
    options: Options = Options()

    def __init__(self, file: File) -> None:
        self.file = file
        self.names: list[str] = []
        self.target: str | None = None  # the class, where the format itself names it
        self.notes: list[str] = []
        self.kinds: dict[str, Kind] = {}  # that the format declares
        self.categories: dict[str, list[str]] = {}  # likewise

    def first(self) -> Any:
        """The first rows, as an Arrow table: strings where the format has no types."""
        raise NotImplementedError

    def sample(self, types: dict[str, Any]) -> Any:
        """The first rows with the columns that are wanted, in their types."""
        return as_types(self.first(), types, self.file.name)

    def form(self) -> Form:
        """How the file is written."""
        return Form(self.format, self.file.packed())

    def line_of(self, row: int) -> int | None:
        """The line of one of the first rows, where rows are lines."""
        return None

    def parts(self, types: dict[str, Any], fixed: str | None) -> Iterator[Part]:
        """All the rows with the columns that are wanted, in their types.

        A whole number may become a double on the way, where a later row needs it: `types` is then changed. The
        column `fixed` stays what it is.
        """
        raise NotImplementedError


def ahead(blocks: Iterator[T], parse: Callable[[T], R]) -> Iterator[tuple[T, Future[R]]]:
    """Each block with what it parses to, in order; some are parsed in threads while the caller is at work."""
    workers = min(os.cpu_count() or 1, _AHEAD)
    waiting: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(workers, "parse") as pool:
        try:
            for block in blocks:
                waiting.append((block, pool.submit(parse, block)))
                if len(waiting) > workers:
                    yield waiting.popleft()
            while waiting:
                yield waiting.popleft()
        finally:
            for _, future in waiting:
                future.cancel()


def beforehand(items: Iterator[T]) -> Iterator[T]:
    """The items in their order; a thread makes the next ones while the caller is at work.

    >>> list(beforehand(iter("abc")))
    ['a', 'b', 'c']
    """
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(1, "read") as pool:
        try:
            while True:
                while len(waiting) <= _READ:
                    waiting.append(pool.submit(next, items, _END))
                item = waiting.popleft().result()
                if item is _END:
                    return
                yield item
        finally:
            for future in waiting:
                future.cancel()
