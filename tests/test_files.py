"""Files as tables: what is read, and what is told where text is not UTF-8."""

from __future__ import annotations

import gzip

import pytest

from ingenuo.errors import InputError, KindError
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows.files.scan import read

REVIEWS = 'label,stars,text\ngood,5,"a fine film,\nwith fine music"\nbad,1,a dull and sorry film\ngood,4,\n'


def test_a_csv_becomes_a_table_and_its_target(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text(REVIEWS)
    X, y = read(path, "label")
    assert X.column_names == ["stars", "text"]
    assert y.to_pylist() == ["good", "bad", "good"]
    assert X.column("stars").to_pylist() == [5, 1, 4]
    assert X.column("text").to_pylist() == ["a fine film,\nwith fine music", "a dull and sorry film", None]
    assert read(str(path)).column_names == ["label", "stars", "text"]


def test_compressed_files_and_tabs_are_read(tmp_path):
    path = tmp_path / "reviews.tsv.gz"
    with gzip.open(path, "wt") as file:
        file.write("label\ttext\ngood\ta, b\n")
    assert read(path).to_pylist() == [{"label": "good", "text": "a, b"}]


def test_what_is_read_can_be_learned(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text(REVIEWS)
    model = NaiveBayes(columns={"text": "text"}).fit(*read(path, "label"))
    assert model.predict(read(path).drop_columns(["label"])).tolist() == ["good", "bad", "good"]


@pytest.mark.parametrize("content", [b"label,text\ngood,caf\xe9 noir\n", b"label,text\nbad,ok\ngood,caf\xe9\n"])
def test_bytes_that_are_not_utf8_are_told_with_file_line_and_offset(tmp_path, content):
    path = tmp_path / "reviews.csv"
    path.write_bytes(content)
    row = content.count(b"\n") - 2
    where = rf"reviews\.csv, line {row + 2}: the byte 0xe9 at offset {content.index(0xE9)} is not UTF-8; it would"
    with pytest.raises(InputError, match=where):
        read(path)
    assert read(path, errors="replace").column("text").to_pylist()[row].startswith("caf\ufffd")


def test_numbers_stay_numbers_when_other_text_is_replaced(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_bytes(b"stars,text\n5,caf\xe9\n4,tea\n")
    assert read(path, errors="replace").column("stars").to_pylist() == [5, 4]


def test_bad_requests_are_refused(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text(REVIEWS)
    with pytest.raises(InputError, match=r"has no column 'lable'; did you mean 'label'"):
        read(path, "lable")
    with pytest.raises(InputError, match=r"errors must be 'strict' or 'replace', got 'ignore'"):
        read(path, errors="ignore")
    (tmp_path / "reviews.xls").write_bytes(b"\xd0\xcf")
    with pytest.raises(InputError, match=r"reviews\.xls: the sheet cannot be read"):
        read(tmp_path / "reviews.xls")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.csv")
    with pytest.raises(KindError, match="path must be the path of a file, got int 3"):
        read(3)
    path.write_text("label,text\ngood,a,b\n")
    with pytest.raises(InputError, match=r"reviews\.csv, line 2: the row has 3 fields and the header \(line 1\) has 2"):
        read(path)


def test_a_stray_quote_in_a_tsv_joins_no_lines(tmp_path):
    path = tmp_path / "messages.tsv"
    path.write_text('label\ttext\nham\t"so he said\nspam\twin now\nham\tok" then\n')
    assert read(path).column("text").to_pylist() == ['"so he said', "win now", 'ok" then']


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "reviews.csv.gz"
    path.write_bytes(b"not gzip")
    with pytest.raises(InputError, match=r"reviews\.csv\.gz: the file cannot be read as a table"):
        read(path)
