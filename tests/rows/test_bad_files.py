"""Files that cannot be read say where and why, and what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile

import pytest

from ingenuo.errors import FileError, InputError, MissingFileError
from ingenuo.rows.files.scan import scan


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"table\.csv: the file is empty"),
        ("\n\n", "the file is empty"),
        ("a,b\n1,2\n3,4,5\n", r"line 3: the row has 3 fields and the header \(line 1\) has 2 \('3,4,5'\); quote"),
        ("a,b,c\n1,2,3\n3,4\n", r"line 3: the row has 2 fields and the header \(line 1\) has 3"),
        ("1,2\n3,4\n5,6\n7\n", "line 4: the row has 1 field and the other rows have 2"),
        ('a,b\n1,x\n2,"y\n3,z\n', "line 3: the quote before '\"y' is never closed"),
        ("a,b,a\n1,2,3\n", r"line 1: two columns are called 'a' \(columns 1 and 3\); rename one"),
        ("a;b\n" + "1,5;2,5\n" * 20 + "1,5;1.718,84\n", "'1.718,84' has signs between thousands: "
         "write it without; correct the file"),
        ("a\n" + "1\n" * 20 + "n/a\n", r"line 22: column 'a' holds numbers, and 'n/a' is none; correct the file, name "
         r"the value as missing \(missing=\['n/a'\]\), or declare the column \(columns={'a': 'category'}\)"),
        ('t,a\n"two\nlines",1\n"",x\n' + "b,2\n" * 9, "line 4: column 'a' holds numbers, and 'x' is none"),
        ("a,b\n1.5,2\n1e999,3\n", "line 3: column 'a' has '1e999', which is out of the range of numbers"),
        (b"\x00\x01\x02\xff" * 9, r"a zero byte at offset 0 says that this is no text"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line_and_a_remedy(tmp_path, content, message):
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FileError, match=message):
        scan(path).table()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"7,x,y", "the row has 3 fields"),
        (b"seven,x", "column 'a' holds numbers, and 'seven' is none"),
        (b"inf,x", "'inf', which is out of the range"),
        (
            b"7,caf\xe9 noir",
            r"the byte 0xe9 at offset \d+ is not UTF-8; it would read 'café' in Windows-1252",
        ),
    ],
)
def test_a_row_far_below_is_told_by_the_line_that_an_editor_shows(tmp_path, row, message):
    before = [b"a,b", *(b'%d,"two\nlines"' % i for i in range(20_000))]
    path = tmp_path / "long.csv"
    path.write_bytes(b"\n".join([*before, row, b"8,z", b""]))
    found = scan(path, block_size=1 << 12)
    with pytest.raises(FileError, match=rf"long\.csv, line 40002: .*{message}"):
        found.table()


def test_the_offset_of_a_bad_byte_is_that_of_the_file(tmp_path):
    path = tmp_path / "marked.csv"
    content = "\ufeffa,b\n".encode() + b"1,x\n" * 50_000 + b"2,\xff\n"
    path.write_bytes(content)
    with pytest.raises(FileError, match=rf"line 50002: the byte 0xff at offset {content.index(0xFF)} "):
        scan(path, block_size=1 << 12).table()
    assert scan(path, errors="replace").table().column("b").to_pylist()[-1] == "\ufffd"


@pytest.mark.parametrize(
    ("name", "pack"), [("t.csv.gz", gzip.compress), ("t.csv.bz2", bz2.compress), ("t.csv.xz", lzma.compress)]
)
def test_a_packed_file_that_is_cut_short_is_told(tmp_path, name, pack):
    path = tmp_path / name
    packed = pack(b"".join(b"%d,%d\n" % (i, i * i % 1009) for i in range(5000)))
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FileError, match=rf"{name}: the packed file ends too early or is damaged"):
        scan(path).table()
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(FileError, match=r"by its first bytes \(61 2c 62 0a\) it is not"):
        scan(path)


def test_a_zip_of_several_files_is_refused(tmp_path):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
        archive.writestr("b.csv", "a\n1\n")
    with pytest.raises(FileError, match="the zip has 2 files, and one is needed"):
        scan(path)


def test_files_and_folders_that_are_not_there_are_told(tmp_path):
    (tmp_path / "reviews.csv").write_text("a,b\n1,2\n")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingFileError, match=r"there is no such file; did you mean 'reviews\.csv'\?"):
        scan(tmp_path / "review.csv")
    with pytest.raises(MissingFileError, match="no file is like"):
        scan(str(tmp_path / "*.tsv"))
    with pytest.raises(FileError, match="there is no file in the folder"):
        scan(tmp_path / "empty")
    with pytest.raises(MissingFileError, match="there is no folder"):
        scan(tmp_path / "nowhere" / "a.csv")


def test_a_file_that_may_not_be_read_is_told(tmp_path, monkeypatch):
    path = tmp_path / "secret.csv"
    path.write_text("a\n1\n")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(FileError, match=r"secret\.csv: the file may not be read"):
        scan(path)


def test_other_things_than_tables_are_named(tmp_path):
    for name, content, message in [
        ("sheet.xlsx", b"PK\x03\x04", "sheet.xlsx: the zip is damaged"),
        ("picture.dat", b"\x89PNG\r\n\x1a\n", "this is a picture, no table"),
        ("damaged.parquet", b"PAR1 and no more", "cannot be read as Parquet"),
        ("damaged.arrow", b"ARROW1 and no more", "cannot be read as an Arrow file"),
        ("bad.jsonl", b'{"a": 1}\n{"a": 2\n', "line 2, column 8: this is no JSON"),
        ("mixed.jsonl", b'{"a": 1}\n{"a": "x"}\n', "line 2: the field 'a' is 'x' here and 1 before"),
        ("numbers.jsonl", b"1\n2\n", "line 1: '1' is no object"),
        ("nulls.jsonl", b"\nnull\n", "line 2: 'None' is no object"),
        ("latin.jsonl", b'{"a": "x"}\n{"a": "caf\xe9"}\n', "line 2: the byte 0xe9 at offset 21 is not UTF-8"),
        ("list.json", b'[{"a": 1}, {"a": "y"}]', "element 2: the field 'a' is 'y' here and 1 before"),
        ("list2.json", b'[{"a": 1},\n {"a" 2}]', "element 2, column 8: this is no JSON"),
        ("list3.json", b'[{"a": 1},, {"a": 2}]', "element 2: there is nothing between two commas"),
        ("list4.json", b'[{"a": 1},\n]', "a comma before the end of the list"),
        ("list5.json", b'[{"a": 1}] [{"a": 1}]', "something after the end of the list"),
        ("list6.json", b'[{"a": 1}, {"a": 2}', "the list is never closed"),
        ("labels.txt", b"__label__a __label__b text\n", "line 1: the line has several labels"),
        ("labels2.txt", b"__label__a text\nno label\n", "line 2: the line begins with 'no' and not with a label"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileError) as error:
            scan(tmp_path / name).table()
        assert message in str(error.value)
        assert str(error.value).count("\n") == 0


def test_files_of_one_table_must_have_its_columns(tmp_path):
    for name, header in [("a", "one,two"), ("b", "two,one"), ("c", "one,tow")]:
        (tmp_path / f"{name}.csv").write_text(f"{header}\n1,2\n")
    assert scan([tmp_path / "a.csv", tmp_path / "b.csv"]).table().to_pydict() == {"one": [1, 2], "two": [2, 1]}
    with pytest.raises(FileError, match=r"c\.csv lacks the column 'two' that .*a\.csv has; did you mean 'tow'"):
        scan(tmp_path)


def test_bad_requests_say_what_is_known(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,town\n1,x\n2,y\n")
    for options, message in [
        ({"target": "agee"}, "has no column 'agee'; did you mean 'age'"),
        ({"columns": {"twon": "category"}}, "has no column 'twon'; did you mean 'town'"),
        ({"columns": {"town": "categry"}}, "did you mean 'category'"),
        ({"format": "cvs"}, "there is no format 'cvs'; did you mean 'csv'"),
        ({"encoding": "utf9"}, "there is no encoding 'utf9'; did you mean 'utf-8'"),
        ({"separator": ";;"}, "separator must be one character"),
        ({"quote": ","}, "separator and quote must differ"),
        ({"errors": "ignore"}, "errors must be 'strict' or 'replace'"),
    ]:
        with pytest.raises(InputError) as error:
            scan(path, **options)
        assert message in str(error.value)


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a,b\n" + b"1,x\n" * 9999))))
    found = scan("-", block_size=1 << 12)
    assert found.n_bytes is None
    assert sum(batch.num_rows for batch in found.batches()) == 9999
    with pytest.raises(FileError, match="standard input can be read only once; give a file"):
        next(found.batches())
