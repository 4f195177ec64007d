"""What a column is, by its first rows, and why."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pytest
from benchmarks.public_data import public_data
from pyarrow import parquet

from ingenuo.rows.files.scan import read, scan
from ingenuo.text.words import Words


def one_column(tmp_path, values, name="c"):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([f"{name},other", *(f"{value},{i % 7}" for i, value in enumerate(values)), ""]))
    return scan(path).kinds[name]


def test_every_guess_has_its_reason(tmp_path):
    for values, kind, why in [
        ([i * 3 % 101 for i in range(200)], "number", "numbers"),
        ([0.5, "1e3", ".5", "7."] * 5, "number", "numbers"),
        ([1, 2, 3] * 9, "number", "whole numbers, 3 different; declare it 'category' if they are codes"),
        (
            range(1, 101),
            "number",
            "whole numbers in a row, each once; declare it 'ignore' if they only number the rows",
        ),
        (["00123", "04001", "99999"] * 3, "category", "digits with zeros before them: codes"),
        (["true", "false", "true"], "category", "true or false"),
        (["red", "green", "NA"] * 4, "category", "strings, 2 different"),
        ([f"a film with {i} good songs" for i in range(9)], "text", "strings of 6 words, 100% different"),
        ([f"customer {i}" for i in range(90)], "ignore", "90 different values in 90 rows: a name or key, no category"),
        (["2020-01-31", "2021-12-01 10:30"] * 3, "ignore", "dates are neither numbers nor categories"),
        (["31/12/2020", "1/1/2021"] * 3, "ignore", "dates are neither numbers nor categories"),
        (["", "NA", "?"] * 3, "ignore", "no value"),
        (["12 kg", "7", "x", "8"] * 3, "category", "strings, 4 different"),
    ]:
        assert one_column(tmp_path, values) == (kind, why)


def test_columns_of_files_with_types_are_guessed_by_them(tmp_path):
    n = 60
    table = pa.table({
        "whole": [i * i for i in range(n)], "half": [i / 2 for i in range(n)], "yes": [i % 2 == 0 for i in range(n)],
        "day": [date(2020, 1, 1)] * n, "code": pa.array(["a", "b"] * (n // 2)).dictionary_encode(),
        "key": [f"k{i}" for i in range(n)], "list": [[1, 2]] * n, "town": ["Bari", "Pisa"] * (n // 2),
        "none": [None] * n,
    })  # fmt: skip
    parquet.write_table(table, tmp_path / "t.parquet")
    kinds = scan(tmp_path / "t.parquet").kinds
    assert {name: kind for name, (kind, _) in kinds.items()} == {
        "whole": "number", "half": "number", "yes": "category", "day": "ignore", "code": "category", "key": "ignore",
        "list": "ignore", "town": "category", "none": "ignore",
    }  # fmt: skip
    assert read(tmp_path / "t.parquet").column_names == table.column_names


def test_a_declared_column_is_what_it_was_declared(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("code,n,age,key,words,size\n" + "".join(f"{i % 3},{i},{i % 9},k{i},b c,S\n" for i in range(60)))
    columns = {
        "code": "category",
        "age": "gaussian",
        "key": "text",
        "n": "ignore",
        "words": Words(),
        "size": ["S", "M"],
    }
    found = scan(path, columns=columns)
    text, category = pa.large_string(), pa.dictionary(pa.int32(), pa.string())
    assert dict(zip(found.schema.names, found.schema.types)) == {
        "code": pa.int64(), "age": pa.int64(), "key": text, "words": text, "size": category
    }  # fmt: skip
    assert found.kinds["code"] == ("category", "declared")
    assert found.table().column("code").to_pylist()[:4] == [0, 1, 2, 0]


def test_the_target_is_never_set_aside_nor_mixed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("class,x\n" + "".join(f"{i if i else 'none'},{i}\n" for i in range(60)))
    found = scan(path, target="class")
    assert "class" not in found.kinds
    X, y = read(path, "class")
    assert (X.column_names, y.to_pylist()[:3]) == (["x"], ["none", "1", "2"])
    path.write_text("class,x\n" + "".join(f"k{i},{i}\n" for i in range(60)))
    assert scan(path, target="class").table().column_names == ["class", "x"]


def test_the_census_is_read_without_being_told_how():
    path = public_data("tables/adult-train.csv.gz")
    if path is None:
        pytest.skip("the file adult-train.csv.gz is not here; set INGENUO_DATA to the folder that has it")
    found = scan(path, target="x14")
    assert found.notes == [
        "adult-train.csv.gz: cells trimmed of the spaces around them, no header, columns called x0 to x14"
    ]
    table = found.table()
    assert table.num_rows == 32_561
    assert sorted(set(table.column("x14").to_pylist())) == ["<=50K", ">50K"]
    assert [name for name, (kind, _) in found.kinds.items() if kind == "number"] == [
        "x0",
        "x2",
        "x4",
        "x10",
        "x11",
        "x12",
    ]
    assert table.column("x1").null_count == 1836


def test_a_column_that_is_set_aside_may_be_mixed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 20 + "n/a,3\n")
    assert scan(path, columns={"a": "ignore"}).table().column_names == ["b"]
    assert scan(path, columns={"b": "number"}, only=True).table().column_names == ["b"]


def test_numbers_of_an_arff_file_can_be_declared_codes(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text("@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n1,x\n2,y\n")
    assert scan(path, columns={"a": "category"}).table().column("a").to_pylist() == [1, 2]
    assert scan(path, columns={"a": "number"}).table().column("a").to_pylist() == [1, 2]


def test_numbers_that_are_called_an_id_and_differ_are_keys(tmp_path):
    path = tmp_path / "documents.csv"
    path.write_text(
        "doc_id,paid,y\n" + "".join(f"{i * 7919 % 100003},{i * 31 % 977},{'ab'[i % 2]}\n" for i in range(90))
    )
    kinds = scan(path, target="y").kinds
    assert kinds["doc_id"] == ("ignore", "called an id, and 90 of 90 are different: a key, no number")
    assert kinds["paid"][0] == "number"
