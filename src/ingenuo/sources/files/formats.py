"""Which format a file has: by its name, else by its first bytes."""

from __future__ import annotations

import re

from ingenuo.errors import FileError, InputError, did_you_mean
from ingenuo.sources.files.streams import File

SUFFIXES = {
    ".csv": "delimited",
    ".tsv": "delimited",
    ".tab": "delimited",
    ".psv": "delimited",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".arff": "arff",
    ".ft": "fasttext",
}
FORMATS = ("csv", "tsv", "delimited", "parquet", "arrow", "json", "arff", "fasttext", "label-lines", "texts")
_KNOWN_BINARY = {
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
}


def format_of(file: File, wanted: str | None) -> str:
    """The format of a file: the one that is wanted, else by the suffix, else by the content."""
    if wanted is not None:
        if wanted not in FORMATS:
            raise InputError(f"there is no format {wanted!r}{did_you_mean(wanted, FORMATS)}")
        return "delimited" if wanted in ("csv", "tsv") else wanted
    if file.suffix() in (".xls", ".xlsx", ".ods"):
        raise FileError(
            f"{file.name}: a file of type {file.suffix()!r} cannot be read; known: {', '.join(SUFFIXES)}, also packed: "
            "save the sheet as CSV"
        )
    by_name = SUFFIXES.get(file.suffix())
    head = file.head(4096)
    by_content = _by_content(head)
    if by_name is None:
        if by_content is None and (what := next((w for m, w in _KNOWN_BINARY.items() if head.startswith(m)), None)):
            raise FileError(f"{file.name}: this is {what}, no table; save it as CSV or Parquet")
        return by_content or "delimited"
    if by_content in ("parquet", "arrow") and by_content != by_name:  # a name that is plainly wrong
        return by_content
    return by_name


def _by_content(head: bytes) -> str | None:
    """By the first bytes: marks of the format, or how the first line begins."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
        return "arrow"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"{", b"[{")) or re.match(rb"\[\s*\{", start):
        return "json"
    if start.startswith(b"__label__"):
        return "fasttext"
    if re.search(rb"^\s*@relation\b", head, re.IGNORECASE | re.MULTILINE):
        return "arff"
    return None
