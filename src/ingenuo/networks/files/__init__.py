"""Network files: BIF, XMLBIF, and YAML for those who write by hand; each also compressed with gzip.

======================  ===========================================================================
.bif                    the Bayesian Network Repository, JavaBayes, bnlearn, pyAgrum, pgmpy
.xml .xmlbif .bifxml    XMLBIF 0.3: Weka, JavaBayes, AIMA, pyAgrum
.yaml .yml              written by hand (see `ingenuo.networks.files.plain`)
.json                   the same in JSON, a part of YAML: it is read, and not written
======================  ===========================================================================

Numbers are written in full, so that what is read again is the same to the last bit. A state is text in every kind.
"""

from __future__ import annotations

import errno
import gzip
import os
import zlib
from pathlib import Path

from ingenuo.errors import InputError, KindError, NetworkFileError, did_you_mean
from ingenuo.networks.build import Definition, refuse_unwritable
from ingenuo.networks.files.bif import from_bif, to_bif
from ingenuo.networks.files.plain import from_yaml, to_yaml
from ingenuo.networks.files.xmlbif import from_xmlbif, to_xmlbif
from ingenuo.tally.container import replace_file

KINDS = {
    ".bif": "bif",
    ".bifxml": "xmlbif",
    ".json": "yaml",
    ".xml": "xmlbif",
    ".xmlbif": "xmlbif",
    ".yaml": "yaml",
    ".yml": "yaml",
}
_READERS = {"bif": from_bif, "xmlbif": from_xmlbif, "yaml": from_yaml}
_WRITERS = {"bif": to_bif, "xmlbif": to_xmlbif, "yaml": to_yaml}
_MAX_BYTES = 2**30  # a small compressed file may unpack to more than any memory holds


def read(path: str | os.PathLike[str]) -> Definition:
    """The network in a file, of the kind that its name says.

    Raises
    ------
    NetworkFileError
        The file is damaged, or what it says is no network; the message names line and column.
    CycleError
        The arcs go round in a circle.
    FileNotFoundError
        There is no such file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "coin.yaml")
    ...     _ = path.write_text("nodes: {coin: {states: [heads, tails], table: [0.5, 0.5]}}")
    ...     network = read(path)
    >>> network.nodes, network.states
    (['coin'], [['heads', 'tails']])
    """
    name, kind = _name(path), kind_of(path)
    try:
        with gzip.open(name) if name.lower().endswith(".gz") else open(name, "rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", name) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise NetworkFileError(f"{name}: the compressed file is damaged ({error}); get it again") from None
    except OSError as error:
        raise NetworkFileError(f"{name}: the file cannot be read ({error.strerror or error})") from None
    if len(content) > _MAX_BYTES:
        raise NetworkFileError(f"{name}: the file holds more than {_MAX_BYTES:,} bytes, which no network here needs")
    return from_xmlbif(content, name) if kind == "xmlbif" else _READERS[kind](_decoded(content, name), name)


def write(definition: Definition, path: str | os.PathLike[str]) -> None:
    """Save a network in a file of the kind that its name says: it becomes the new one whole, or stays as it was.

    >>> import tempfile
    >>> coin = from_text("nodes: {coin: {states: [heads, tails], table: [0.5, 0.5]}}", "yaml")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(coin, f"{folder}/coin.bif.gz")
    ...     read(f"{folder}/coin.bif.gz").tables[0].tolist()
    [0.5, 0.5]
    """
    name = _name(path)
    refuse_json(name)
    content = to_text(definition, kind_of(path)).encode()
    if name.lower().endswith(".gz"):
        content = gzip.compress(content, mtime=0)  # equal networks give equal files
    try:
        replace_file(os.path.realpath(name), [content])
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "there is no folder for the file", name) from None


def refuse_json(name: str) -> None:
    """Raise for a file that a network cannot be written to, though it can be read."""
    if name.lower().removesuffix(".gz").endswith(".json"):
        raise InputError(f"{name}: networks are read from JSON and not written to it; write .yaml, .bif or .xml")


def from_text(text: str, kind: str, name: str = "text") -> Definition:
    """The network that a text describes; `name` is what errors call it.

    >>> from_text('{"nodes": {"coin": {"states": ["heads"], "table": [0.9]}}}', "yaml")
    Traceback (most recent call last):
    ...
    ingenuo.errors.NetworkFileError: text: P(coin) sums to 0.9 instead of 1; mend its numbers
    """
    if not isinstance(text, str):
        raise KindError(f"text must be the content of a network file, got {type(text).__name__}")
    return _READERS[_kind(kind)](text, name)


def to_text(definition: Definition, kind: str) -> str:
    """A network as text: "bif", "xmlbif" or "yaml".

    >>> coin = from_text('{"nodes": {"coin": {"states": ["heads", "tails"], "table": [0.5, 0.5]}}}', "yaml")
    >>> print(to_text(coin, "yaml"), end="")
    network: network
    nodes:
      coin:
        states: [heads, tails]
        table: [0.5, 0.5]
    """
    refuse_unwritable(definition)
    return _WRITERS[_kind(kind)](definition)


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a file is written in, by its name.

    >>> kind_of("alarm.bif.gz"), kind_of("alarm.XML")
    ('bif', 'xmlbif')
    """
    name = _name(path)
    whole = Path(name.lower())
    suffix = Path(whole.stem).suffix if whole.suffix == ".gz" else whole.suffix
    if suffix == ".ingenuo":
        raise InputError(f"{name}: this is a model file, which ingenuo.save writes and ingenuo.load reads")
    if suffix not in KINDS:
        raise InputError(
            f"{name}: a file of type {suffix or 'unknown'!r} holds no network; known: {', '.join(KINDS)}, also with .gz"
        )
    return KINDS[suffix]


def _kind(kind: str) -> str:
    if kind not in _READERS:
        raise InputError(f"there is no kind of network file {kind!r}{did_you_mean(kind, _READERS)}")
    return kind


def _name(path: str | os.PathLike[str]) -> str:
    if not isinstance(path, str | os.PathLike):
        raise KindError(f"path must be the path of a file, got {type(path).__name__} {path!r}")
    return os.fspath(path)


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        content = error.object  # without a mark at its beginning
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        byte = content[error.start]
        raise NetworkFileError(
            f"{name}, line {line}, column {column}: the byte 0x{byte:02x} is no UTF-8; save the file as UTF-8"
        ) from None
