"""A scan: what files hold, looked at once, and their rows, read some at a time as often as they are needed."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingenuo.errors import FileError, InputError, KindError, MissingFileError, did_you_mean, missing_file
from ingenuo.rows.files.bytes import MAX_LINE, MAX_RATIO, STANDARD_INPUT, File, detect_encoding
from ingenuo.rows.files.contents import BLOCK, MISSING, Content, Form, Options, ahead
from ingenuo.rows.kinds import (
    LONG,
    TEXT,
    Kind,
    MixedColumn,
    as_labels,
    declared_kinds,
    describe,
    infer_kind,
    not_a_number,
    sort_of,
)
from ingenuo.rows.source import SAMPLE
from ingenuo.rows.streams import Stream, concatenate, read_alike

_LOOK = 1 << 16  # bytes of every further file from which its form is inferred
_TINY = 256  # bytes of a packed file that may be empty


class Scan(Stream):
    """The files of a table, and what each column is.

    Attributes
    ----------
    names : list of str
        All the columns, in the order of the first file.
    target : str or None
        The column to learn: as given, else the one that the format itself names.
    kinds : dict
        Of each column but the target: its kind (number, category, text, count or ignore), and why.
    categories : dict
        Of columns whose values the format declares: these values.
    notes : list of str
        What was found out about the files that is not as usual.
    """

    labels: dict[str, Any]

    def __init__(
        self, contents: list[Content], kinds: dict[str, Kind], types: dict[str, Any], target: str | None
    ) -> None:
        self._contents, self._kinds, self._types = contents, kinds, types
        self.labels = {name: kinds[name].labels for name in types if kinds[name].labels is not None}
        self.names, self.target = list(kinds), target
        self.kinds = {name: (kind.kind, kind.why) for name, kind in kinds.items() if name != target}
        self.categories, self.untitled = contents[0].categories, contents[0].untitled
        self.notes = [f"{Path(content.file.name).name}: {note}" for content in contents for note in content.notes]
        self.paths = [content.file.path for content in contents]
        sizes = [content.file.n_bytes for content in contents if content.file.n_bytes is not None]
        self.n_bytes = sum(sizes) if len(sizes) == len(contents) else None  # as they are, packed or not

    @property
    def schema(self) -> Any:
        """The columns of the batches, all that are not ignored, and their types."""
        return pa.schema(list((self._types | self.labels).items()))

    def __repr__(self) -> str:
        return f"Scan of {', '.join(self.paths)}: {len(self.names)} columns"

    def batches(self) -> Iterator[Any]:
        """The rows as Arrow tables of one schema, from the start.

        A column of whole numbers becomes one of doubles from the batch on that needs it, and labels that were booleans
        or numbers become strings.
        """
        parts: Iterator[Any] = self._read()
        if self.n_bytes is not None:  # some are read ahead; but nobody is to wait for more of standard input
            waiting = ahead(repeat(parts), lambda each: next(each, None), workers=1)
            parts = iter(lambda: next(waiting)[1].result(), None)
        n_rows = 0
        for table, n_read in parts:
            n_rows += table.num_rows
            if self.progress is not None:
                self.progress(n_read, n_rows)
            if table.num_rows:
                yield table
        if self.progress is not None and self.n_bytes:
            self.progress(self.n_bytes, n_rows)

    def _read(self) -> Iterator[tuple[Any, int]]:
        """The rows, and the bytes up to them."""
        before = 0
        for content in self._contents:
            for table, n_read in content.parts(self._types, self.target):
                wanted = list(self._types)
                table = table if table.column_names == wanted else table.select(wanted)
                yield self._with_labels(table), before + n_read
            before += content.file.n_bytes or 0

    def _with_labels(self, table: Any) -> Any:
        """The rows, whose labels are booleans and numbers where all the labels of a column are, as far as was read."""
        for name, type in list(self.labels.items()):
            place = table.schema.get_field_index(name)
            found = as_labels(table.column(place), type)
            if found is None:
                del self.labels[name]
            else:
                table = table.set_column(place, name, found)
        return table

    def forms(self) -> list[Form]:
        """How the files are written; those that are written alike, together."""
        found: dict[Form, list[str]] = {}
        for content in self._contents:
            found.setdefault(content.form(), []).append(content.file.path)
            content.file.release()
        return [form._replace(paths=tuple(paths)) for form, paths in found.items()]

    def declare(
        self, columns: Mapping[str, str], target: str | None = None, *, others: bool = False, as_text: bool = False
    ) -> Scan:
        """The same files, of which these columns are read as these kinds; with `others` all the rest too.

        With `as_text`, the numbers of the rest are the strings that stand there, where the format has no types.
        """
        own = {name: columns.get(name, "ignore") for name in self.names if name != target or name in columns}
        kinds, types = _columns(self._contents, own, target)
        if others:  # as they are written
            kinds = {name: replace(kind, labels=None) for name, kind in kinds.items()}
            rest = {name: kind for name, kind in self._kinds.items() if name not in columns and name != target}
            kinds |= _with_all_digits(rest, self._contents, as_text)
            types = {name: types.get(name, kind.type) for name, kind in kinds.items() if name in (types | self._types)}
        return Scan(self._contents, kinds, types, target)

    def with_kinds(self, columns: Mapping[str, Any], target: str | None = None) -> Scan:
        """The same files, of which these columns are what is declared; what the others are is inferred."""
        declared = declared_kinds(
            columns, self.names, ", ".join(map(str, self.paths)), only=False, untitled=self.untitled
        )
        if all(self._kinds[name].kind == kind for name, kind in declared.items()):
            return self
        return Scan(self._contents, *_columns(self._contents, declared, target), target)

    def table(self) -> Any:
        """All the rows."""
        batches = read_alike(self, lambda: list(self.batches_alike()))
        return concatenate(batches) if batches else self.schema.empty_table()


def scan(
    paths: Any,
    *,
    format: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    names: Sequence[str] | None = None,
    missing: list[str] | None = None,
    columns: Mapping[str, Any] | None = None,
    target: str | None = None,
    errors: str = "strict",
    keep_all: bool = False,
    only: bool = False,
    block_size: int = BLOCK,
    max_line: int = MAX_LINE,
    max_ratio: float = MAX_RATIO,
    texts: Sequence[str] = (),
    database: str | None = None,
) -> Scan:
    r"""What files, or a query, hold: their columns, what each is and why, and their rows, a batch at a time.

    Parameters
    ----------
    paths : path, or list of paths
        Files, globs ("data/\*.csv"), a folder of data files, a folder with a sub-folder of texts for each class, or
        "-" for standard input. Several files have the same columns. They may be packed (.gz, .bz2, .zst, .lz4, .xz,
        .zip).
    format : optional
        One of "csv", "tsv", "parquet", "arrow", "json", "arff", "fasttext", "lines", "label-lines", "texts", "excel".
        By default the name tells, else the content. "lines" has a text in each line, "label-lines" a label, a space and
        a text.
    separator, quote : str, optional
        Of delimited text; by default its first rows tell. quote="" says that there are no quotes.
    encoding : str, optional
        Of text; by default UTF-8, or what the first bytes tell.
    header : bool, optional
        Whether the first row of delimited text, or of a sheet, names the columns; by default the rows below tell.
    names : list of str, optional
        What the columns are called, where there is no header; with header=True instead of what it says.
    missing : list of str, optional
        The cells of delimited text that stand for missing values, instead of NA, N/A, NaN, nan, null, NULL and ?;
        empty cells always do.
    columns : dict, optional
        What columns are: number, category, text, count or ignore, or a list of categories. The others are inferred.
    target : str, optional
        The column to learn.
    errors : {"strict", "replace"}
        What to do with text that is not in its encoding: raise an error that says where, or put � in its place.
    keep_all : bool
        Whether batches have columns too that are of no use as far as is known (names, dates).
    only : bool
        Whether to read the declared columns alone, those of them that the files have.
    block_size : int
        How many bytes of text are parsed at a time; the first of them tell what the columns are.
    max_line : int
        How many bytes a line, or a cell, may have.
    max_ratio : float
        How many bytes a packed one may unpack to where a format is read whole: packed Parquet and Arrow files.
    texts : list of str
        For a model whose rows are texts, the name of their column, and of others that it knows. A file of no known
        format whose first line names none of them has then a text in each line.
    database : str, optional
        The URL of a database, of which `paths` is a query: postgresql://USER@HOST/NAME, sqlite:///FILE,
        duckdb:///FILE, or the path of a file of SQLite or DuckDB. It is run once, however often the rows are read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age;town;paid\n31;Bari;yes\n45;Bari;no\n28;Pisa;yes\n")
    ...     people = scan(path, target="paid")
    >>> people.notes, people.kinds
    (["people.csv: separated by ';'"], {'age': ('number', 'numbers'), 'town': ('category', 'strings, 2 different')})
    """
    if errors not in ("strict", "replace"):
        raise InputError(f"errors must be 'strict' or 'replace', got {errors!r}")
    if isinstance(missing, str):
        missing = [missing]
    empty = MISSING if missing is None else tuple(dict.fromkeys(["", *missing]))
    known = [*(columns if isinstance(columns, Mapping) else ()), *([target] if isinstance(target, str) else ())]
    separator = "\t" if format == "tsv" and separator is None else separator
    look = min(block_size, Options.look)
    if isinstance(names, str) or (names is not None and not all(isinstance(name, str) for name in names)):
        raise KindError(f"names must be a list of strings, one for each column, got {names!r}")
    options = Options(
        format, separator, quote, encoding, header, empty, errors, known, block_size, look, max_line, max_ratio, texts,
        names,
    )  # fmt: skip
    contents = _contents(paths, options) if database is None else [_query(paths, database)]
    first = contents[0]
    if target is not None and target not in first.names:
        raise InputError(
            f"{first.file.name} has no column {target!r}{first.untitled}{did_you_mean(target, first.names)}"
        )
    target = first.target if target is None else target
    declared = declared_kinds(columns, first.names, first.file.name, only, first.untitled)
    if only:
        declared = {name: declared.get(name, "ignore") for name in first.names if name != target or name in declared}
    return Scan(contents, *_columns(contents, declared, target, keep_all), target)


Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def read(path: Paths, target: str | None = None, *, errors: str = "strict", **options: Any) -> Any:
    r"""A file as an Arrow table; with a target, the table without that column, and the column.

    Parameters
    ----------
    path : path, or list of paths
        A file of CSV, TSV, Parquet, Arrow, JSON lines, ARFF or fastText's lines, packed or not; several, a glob, a
        folder of them, or a folder with a sub-folder of texts for each class. See `ingenuo.rows.files.scan.scan`.
    target : str, optional
        The column to learn.
    errors : {"strict", "replace"}
        What to do with text that is not in its encoding: raise an error that says where, or put � in its place.
    **options
        Those of `scan`: format, separator, quote, encoding, header, missing, columns, database.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "reviews.csv")
    ...     _ = path.write_text("label,text\ngood,a fine film\nbad,a dull film\n")
    ...     X, y = read(path, "label")
    >>> X.column_names, y.to_pylist()
    (['text'], ['good', 'bad'])
    """
    found = scan(path, target=target, errors=errors, **{"keep_all": True, **options})
    table = found.table()
    # Codes that were declared as a category are numbers now; the table says what they are.
    table = describe(table, {name: found.kinds[name] for name in found.labels if name in found.kinds})
    if target is None:
        return table
    return table.drop_columns([target]), table.column(target)


def _columns(
    contents: list[Content], declared: dict[str, str], target: str | None, keep_all: bool = False
) -> tuple[dict[str, Kind], dict[str, Any]]:
    """What each column is, and the types of those that are read."""
    kinds = _unite_types(_kinds(contents, declared, target), contents, declared, target)
    for content in contents:
        content.file.release()
    types = {
        name: kind.type
        for name, kind in kinds.items()
        if kind.kind != "ignore" or name == target or (keep_all and declared.get(name) != "ignore")
    }
    return kinds, types


def _query(query: Any, database: str) -> Content:
    """The rows of a query."""
    from ingenuo.rows.database import Query

    return query if isinstance(query, Query) else Query(query, database)


def _contents(paths: Any, options: Options) -> list[Content]:
    files = expand(paths)
    if isinstance(files, Path):
        from ingenuo.rows.files.lines import Folder

        return [Folder(files, options)]
    contents: list[Content] = []
    empty: list[str] = []
    for file in files:
        format = format_of(file, options.format)
        if format == "delimited" and options.texts and _are_lines(file, options):
            format = "lines"
        if _is_empty(file):  # as engines leave them where a part had no rows
            empty.append(Path(file.name).name)
            continue
        contents.append(open_content(file, format, options))
        if len(contents) == 1:  # kinds are inferred from the first file
            options = replace(options, known=options.known or tuple(contents[0].names), look=_LOOK)
        else:
            file.release()
            _same_columns(contents[0], contents[-1])
    if not contents:
        raise FileError(f"{files[0].name}: the file is empty; give one with rows")
    if empty:
        shown = ", ".join(empty[:3]) + (", …" if len(empty) > 3 else "")
        beside = "a file beside it is" if len(empty) == 1 else f"{len(empty):,} files beside it are"
        contents[0].notes.append(f"{beside} empty ({shown})")
    return contents


def _is_empty(file: File) -> bool:
    """Whether there is nothing in the file, or only spaces or the brackets of a list."""
    if not file.n_bytes:  # or standard input
        return file.n_bytes == 0 or not file.head(1)
    return file.n_bytes < _TINY and file.head(_TINY).strip() in (b"", b"[]")


def _same_columns(first: Content, other: Content) -> None:
    """Refuse files whose columns differ."""
    if first.own_schema is not None and first.own_schema.equals(other.own_schema):
        other.own_schema, other.names = first.own_schema, first.names  # thousands of files have one between them
    one, two = first.file.name, other.file.name
    lacking = [name for name in first.names if name not in set(other.names)]
    strange = [name for name in other.names if name not in set(first.names)]
    if lacking and not other.may_lack_columns:
        hint = did_you_mean(lacking[0], strange)
        hint = hint if "did you mean" in hint else "; add it, or read the files separately"
        raise FileError(f"{two} lacks the column {lacking[0]!r} that {one} has{hint}")
    if strange:
        raise FileError(f"{two} has a column {strange[0]!r} that {one} has not; drop it, or read them separately")
    if lacking:
        other.names = list(first.names)


def _kinds(contents: list[Content], declared: dict[str, str], target: str | None) -> dict[str, Kind]:
    """The kind of every column, by the first rows of the first file that has any."""
    content, kinds = contents[0], dict[str, Kind]()
    if not all(name in content.kinds and name not in declared for name in content.names):
        for content in contents:
            sample = content.first()
            if sample.num_rows:
                break
        values = _first_values(content, sample)
    for name in contents[0].names:
        if name in content.kinds and name not in declared:
            kinds[name] = content.kinds[name]
            continue
        try:
            kinds[name] = infer_kind(
                name,
                values[name],
                decimal=content.decimal if content.written else None,
                is_target=name == target,
                declared=declared.get(name),
            )
        except MixedColumn as error:
            raise not_a_number(content.file.name, content.line_of(error.row), name, error.value, error.row) from None
    return kinds


def _with_all_digits(kinds: dict[str, Kind], contents: Sequence[Content], as_text: bool) -> dict[str, Kind]:
    """Columns that are written out again: whole numbers of more digits than a double keeps are strings, or all are."""
    lossy = (pa.float64(), pa.int64()) if as_text else (pa.float64(),)
    numbers = [name for name, kind in kinds.items() if kind.type in lossy]
    if not numbers or not contents[0].written:
        return kinds
    if as_text:
        return kinds | {name: replace(kinds[name], type=TEXT) for name in numbers}
    sample = next((found for each in contents if (found := each.first()).num_rows), contents[0].first())
    long = [name for name in numbers if pc.any(pc.match_substring_regex(sample.column(name), LONG)).as_py()]
    return kinds | {name: replace(kinds[name], type=TEXT) for name in long}


def _first_values(content: Content, sample: Any) -> dict[str, Any]:
    """The first values of each column; of one without any in the first rows, as many as are looked at everywhere."""
    found = {name: sample.column(name) for name in sample.column_names}
    types = {
        name: TEXT if content.written else column.type
        for name, column in found.items()
        if column.null_count == len(column) and (content.written or not pa.types.is_null(column.type))
    }
    if not types or not 0 < sample.num_rows < SAMPLE or content.file.is_stream:
        return found
    tables, n_rows = [], 0
    for table, _ in content.parts(types, None):
        tables.append(table)
        n_rows += table.num_rows
        if n_rows >= SAMPLE:
            break
    more = concatenate(tables).slice(0, SAMPLE)
    return found | {name: more.column(name).cast(found[name].type) for name in types}


# Which files, and of which format.

_ENDINGS = {
    "delimited": "csv tsv tab psv",
    "parquet": "parquet pq",
    "arrow": "arrow feather ipc",
    "json": "jsonl ndjson json",
    "arff": "arff",
    "fasttext": "ft",
    "excel": "xlsx xls xlsb ods",
}
SUFFIXES = {f".{ending}": format for format, endings in _ENDINGS.items() for ending in endings.split()}
FORMATS = (
    "csv",
    "tsv",
    "delimited",
    "parquet",
    "arrow",
    "json",
    "arff",
    "fasttext",
    "lines",
    "label-lines",
    "texts",
    "excel",
)
_CLASSES = {
    "delimited": ("delimited", "Delimited"),
    "parquet": ("columnar", "Parquet"),
    "arrow": ("columnar", "ArrowFile"),
    "json": ("lines", "JsonLines"),
    "arff": ("arff", "Arff"),
    "fasttext": ("lines", "FastText"),
    "lines": ("lines", "Lines"),
    "label-lines": ("lines", "LabelledLines"),
    "excel": ("columnar", "Spreadsheet"),
}
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
    if SUFFIXES.get(file.suffix()) == "excel":  # which is a zip within
        return "excel"
    by_name, head = SUFFIXES.get(file.suffix()), file.head(4096)
    by_content = _by_content(head)
    binary = next((what for mark, what in _KNOWN_BINARY.items() if head.startswith(mark)), None)
    if by_name is None and by_content is None and binary:
        raise FileError(f"{file.name}: this is {binary}, no table; save it as CSV or Parquet")
    if by_content in ("parquet", "arrow"):  # which a wrong name does not change
        return by_content
    return by_name or by_content or "delimited"


def _are_lines(file: File, options: Options) -> bool:
    """Whether lines for a model of texts are texts: nothing says that they are a table, nor does the first name one."""
    given = (options.format, options.separator, options.quote, options.header)
    if file.suffix() in SUFFIXES or any(each is not None for each in given):
        return False
    head = file.head(4096)
    first = detect_encoding(head, file.name, options.encoding).decode(head).decode("utf-8", "replace").lstrip()
    named = {cell.strip("\"' ") for cell in re.split(r"[,;\t|]", first.partition("\n")[0].rstrip("\r"))}
    return named.isdisjoint((*options.texts, *options.known))


def _by_content(head: bytes) -> str | None:
    """By the first bytes: marks of the format, or how the first line begins."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
        return "arrow"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if re.match(rb"\{|\[\s*\{", start):
        return "json"
    if start.startswith(b"__label__"):
        return "fasttext"
    if re.search(rb"^\s*@relation\b", head, re.IGNORECASE | re.MULTILINE):
        return "arff"
    return None


def expand(paths: Any) -> list[File] | Path:
    """The files, in sorted order for each glob and folder; or the folder that has a sub-folder of texts per class."""
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, bytes) else [given]
    files: list[File] = []
    for path in listed:
        if not isinstance(path, str | os.PathLike):
            raise KindError(f"path must be the path of a file, got {type(path).__name__} {path!r}")
        name = os.fspath(path)
        if os.path.isdir(name):
            inside = _folder(Path(name))
            if isinstance(inside, Path):
                if len(listed) > 1:
                    raise FileError(f"{name} is a folder of texts by class, which is read alone; give it by itself")
                return inside
            files += inside
        elif name == STANDARD_INPUT or os.path.exists(name):
            files.append(File(name))
        elif any(sign in name for sign in "*?["):
            found = sorted(entry for entry in glob.glob(name, recursive=True) if os.path.isfile(entry))
            if not found:
                raise MissingFileError(f"no file is like {name!r}; check the pattern")
            files += map(File, found)
        else:
            raise missing_file(name)
    if not files:
        raise FileError("no file was given; give the path of one")
    if len(files) > 1 and any(file.is_stream for file in files):
        once = next(file.name for file in files if file.is_stream)
        raise FileError(f"{once} was given with other files; give it by itself")
    return files


def _folder(path: Path) -> list[File] | Path:
    """The data files in a folder; the folder itself where it has a sub-folder of texts per class."""
    try:
        entries = sorted(entry for entry in path.iterdir() if not entry.name.startswith((".", "_")))
    except PermissionError:
        raise FileError(f"{path}: the folder may not be read; ask for the permission") from None
    files = [File(str(entry)) for entry in entries if entry.is_file()]
    if known := {SUFFIXES[file.suffix()]: file for file in files if file.suffix() in SUFFIXES}:
        if len(known) > 1:
            one, other = list(known.values())[:2]
            raise FileError(
                f"{path}: the folder has files of several kinds ({Path(one.name).name}, {Path(other.name).name}); give "
                f"those of one kind, such as '{path}/*{one.suffix()}'"
            )
        return [file for file in files if file.suffix() in SUFFIXES]
    if folders := [entry for entry in entries if entry.is_dir()]:
        inside = next((e for folder in folders for e in sorted(folder.rglob("*")) if e.is_file()), None)
        if inside is not None and File(str(inside)).suffix() in SUFFIXES:
            raise FileError(
                f"{path}: the sub-folders have tables ({inside.name}) and no texts; give '{path}/*/*{inside.suffix}'"
            )
        return path
    if not files:
        raise FileError(f"{path}: there is no file in the folder; give one with data files, or sub-folders of texts")
    raise FileError(
        f"{path}: no file in the folder is a table by its name ({Path(files[0].name).name}, …); name the files"
    )


def open_content(file: File, format: str, options: Options) -> Content:
    """The content of a file in its format."""
    if format == "texts":
        raise InputError(f"{file.name} is a file; the format 'texts' is a folder with a sub-folder of texts per class")
    module, name = _CLASSES[format]
    content: Content = getattr(import_module(f"ingenuo.rows.files.{module}"), name)(file, options)
    content.format = format
    return content


def _unite_types(
    kinds: dict[str, Kind], contents: Sequence[Content], declared: Container[str], target: str | None
) -> dict[str, Kind]:
    """The kinds, each with a type that holds the column in every file that has types, whatever their order.

    Where one file has whole numbers and another doubles, as pandas writes them where values are missing, the column is
    read as doubles from the first row on. Where one has numbers and another strings, they are not the same column.
    """
    result = dict(kinds)
    for content in {id(content.own_schema): content for content in contents if content.own_schema is not None}.values():
        for name, kind in result.items():
            own = content.own_schema.field(name).type
            if kind.kind == "ignore" or pa.types.is_null(own) or own == kind.type:
                continue
            if sort_of(own) == sort_of(kind.type):
                result[name] = replace(kind, type=_wider(kind.type, own, whole=kind.kind not in ("number", "count")))
            elif (name not in declared or name == target) and content.first().num_rows:
                raise FileError(
                    f"{content.file.name}: column {name!r} holds {own} values, and {kind.type} in the files before it; "
                    f"write it as one type in all, or declare it: columns={{{name!r}: 'number'}} or "
                    f"columns={{{name!r}: 'category'}}"
                ).declaring(name, "number", "category")
    return result


def _wider(one: Any, other: Any, *, whole: bool) -> Any:
    """A type of numbers that holds both; with `whole`, labels, which stay whole."""
    if sort_of(one) != "number" or pa.types.is_dictionary(one) or pa.types.is_dictionary(other):
        return one
    if pa.types.is_decimal(one) or pa.types.is_decimal(other):
        return one if whole and pa.types.is_integer(one) else pa.float64()
    wide = pa.from_numpy_dtype(np.promote_types(one.to_pandas_dtype(), other.to_pandas_dtype()))
    if whole and pa.types.is_integer(one) and not pa.types.is_integer(wide):
        return pa.int64() if pa.types.is_integer(other) else one
    return wide
