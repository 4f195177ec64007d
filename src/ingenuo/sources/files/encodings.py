"""How the letters of a file are written as bytes: found by its first bytes, said where it is not UTF-8.

A file is UTF-8 unless it says otherwise: by a mark at its start, by the zero bytes that UTF-16 and UTF-32 have between
plain letters, or, for Windows-1252, by several bytes that are no UTF-8 and all read as West-European words.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Any

from ingenuo.errors import FileError, InputError, did_you_mean
from ingenuo.sources.files.streams import Stream

_MARKS = {  # the longer first: that of UTF-32 begins like that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_CANDIDATES = ("windows-1252", "windows-1250", "windows-1251", "mac-roman", "cp437")
_LETTERS = re.compile(rb"(?<=[A-Za-z])[\xc0-\xd6\xd8-\xf6\xf8-\xff\x8a\x8c\x8e\x9a\x9c\x9e]|"
                      rb"[\xc0-\xd6\xd8-\xf6\xf8-\xff\x8a\x8c\x8e\x9a\x9c\x9e](?=[A-Za-z])|"
                      rb"[\x80\x85\x91-\x97\xa0\xa1\xa3\xa7\xaa\xab\xb0\xb7\xba\xbb\xbf]")  # fmt: skip
_HIGH = re.compile(rb"[\x80-\xff]")
_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_ENOUGH = 5  # bytes that are no UTF-8, before another encoding is believed without being told


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
            known = ["utf-8", "utf-16", "utf-32", "latin-1", *_CANDIDATES]
            raise InputError(f"there is no encoding {wanted!r}{did_you_mean(wanted, known)}") from None
        if found == "utf-8-sig":
            found = "utf-8"
        if mark and _MARKS[mark].startswith(found):  # "utf-16" leaves it to the mark which of the two it is
            return Encoding(_MARKS[mark], len(mark))
        return Encoding(found)
    if mark:
        found = _MARKS[mark]
        return Encoding(found, len(mark), "" if found == "utf-8" else f"written in {found.upper()}, by its mark")
    if (wide := _zeros(head)) is not None:
        return Encoding(wide, 0, f"written in {wide.upper()}, by its zero bytes")
    if b"\0" in head[:4096]:
        raise FileError(
            f"{name}: a zero byte at offset {head.index(0)} says that this is no text, and its first bytes "
            f"({head[:8].hex(' ')}) are those of no known table; give CSV, TSV, Parquet, Arrow, JSON lines or ARFF"
        )
    if _is_windows(head):
        return Encoding(
            "cp1252", 0, "written in Windows-1252: its bytes are no UTF-8 and read as West-European letters"
        )
    return Encoding()


def _zeros(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, by where plain letters have their zero bytes."""
    some = head[: len(head) & ~3][:4096]
    if len(some) < 8 or b"\0" not in some:
        return None
    zero = [some[place::4].count(0) / (len(some) / 4) for place in range(4)]
    if min(zero[1:]) > 0.9 and zero[0] < 0.5:
        return "utf-32-le"
    if min(zero[:3]) > 0.9 and zero[3] < 0.5:
        return "utf-32-be"
    if min(zero[1], zero[3]) > 0.7 and max(zero[0], zero[2]) < 0.3:
        return "utf-16-le"
    if min(zero[0], zero[2]) > 0.7 and max(zero[1], zero[3]) < 0.3:
        return "utf-16-be"
    return None


def _is_windows(head: bytes) -> bool:
    """Whether the bytes are no UTF-8 anywhere, and read as West-European words in Windows-1252."""
    if head.isascii():
        return False
    high, letters, sequences = (len(pattern.findall(head)) for pattern in (_HIGH, _LETTERS, _SEQUENCE))
    odd = high // 20  # of many bytes, a few may be typing errors
    return high >= _ENOUGH and letters >= high - odd and sequences <= odd // 2


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
                    f"{self._at + error.start} is not {self.encoding.name}; give another encoding, or take "
                    "errors='replace'"
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
    """The error for the first byte that is not UTF-8: where it is, and how its word would read in other encodings.

    >>> print(bad_byte("café noir".encode("latin-1"), 100, 7, "menu.csv"))
    menu.csv, line 7: the byte 0xe9 at offset 103 is not UTF-8; it would read 'café' in windows-1252, 'cafй' in \
windows-1251, 'cafÈ' in mac-roman, 'cafΘ' in cp437: say which with encoding=…, or take errors='replace'
    """
    try:
        data.decode()
        return None
    except UnicodeDecodeError as error:
        at = error.start
    line += data.count(b"\n", 0, at)
    before = re.search(rb"[\w\x80-\xff]*\Z", data[max(at - 40, 0) : at])
    after = re.match(rb"[\w\x80-\xff]*", data[at : at + 40])
    word = (before[0] if before else b"") + (after[0] if after else data[at : at + 1])
    readings: dict[str, str] = {}
    for candidate in _CANDIDATES:
        try:
            reading = word.decode(candidate)
        except UnicodeDecodeError:
            continue
        if reading.isprintable() and reading not in readings:
            readings[reading] = candidate
    fits = ", ".join(f"{reading!r} in {encoding}" for reading, encoding in readings.items())
    would = f"it would read {fits}: say which with encoding=…" if fits else "save the file as UTF-8"
    return FileError(
        f"{name}, line {line}: the byte {data[at]:#04x} at offset {offset + at} is not UTF-8; {would}, or take "
        "errors='replace'"
    )
