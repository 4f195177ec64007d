"""ARFF: what its header declares, what its rows hold, and what is told where they disagree."""

from __future__ import annotations

import pytest
from benchmarks import arff as plain_reader
from benchmarks.public_data import public_data

from ingenuo.errors import FileError
from ingenuo.rows.files.scan import read, scan

HEADER = """% A comment
@RELATION 'a name'

@attribute 'size of it' NUMERIC
@Attribute colour {red, 'dark blue', "it's", '100\\%'}
@attribute note string
@attribute seen date 'yyyy-MM-dd'
@attribute legs INTEGER [0,9]
@ATTRIBUTE Class { yes, no }

@DATA
"""


def written(tmp_path, rows, header=HEADER):
    path = tmp_path / "table.arff"
    path.write_text(header + rows, encoding="utf-8")
    return path


def test_the_header_declares_the_columns(tmp_path):
    found = scan(written(tmp_path, "1,red,'a note','2001-01-02',4,yes\n"))
    assert found.target == "Class"
    assert found.kinds == {
        "size of it": ("number", "declared in the file"),
        "colour": ("category", "declared in the file, 4 values"),
        "note": ("text", "declared in the file as strings"),
        "seen": ("ignore", "dates are neither numbers nor categories"),
        "legs": ("number", "declared in the file"),
    }
    assert found.categories == {"colour": ["red", "dark blue", "it's", "100%"], "Class": ["yes", "no"]}


def test_rows_may_be_quoted_escaped_sparse_or_commented(tmp_path):
    rows = (
        "1, 'dark blue', 'it\\'s, \"so\"\\n', ?, 4, yes\n"
        "% a comment\n\n"
        "?,\"it's\",'?',?,2.5,no\n"
        "{0 7, 2 'a \\\\ note', 5 no}\n"
        "{}\n"
        "3 red 'parted by spaces' ? 1 yes\n"
        "4,100%,naïve,?,0,no\n"
    )
    table = read(written(tmp_path, rows)).drop_columns(["seen"])
    assert [list(row.values()) for row in table.to_pylist()] == [
        [1, "dark blue", 'it\'s, "so"\n', 4, "yes"],
        [None, "it's", "?", 2.5, "no"],
        [7, "red", "a \\ note", 0, "no"],
        [0, "red", "", 0, "yes"],
        [3, "red", "parted by spaces", 1, "yes"],
        [4, "100%", "naïve", 0, "no"],
    ]


def test_plain_rows_and_quoted_rows_are_read_alike(tmp_path):
    header = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"
    plain = "".join(f"{i / 4} , {'xy'[i % 2]}\n" for i in range(3000))
    quoted = "".join(f"{i / 4},'{'xy'[i % 2]}'\n" for i in range(3000))
    one = scan(written(tmp_path, plain, header), block_size=4000).table()
    assert one.equals(scan(written(tmp_path, quoted, header), block_size=4000).table())
    assert one.num_rows == 3000


TWO = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TWO + "1,x\n2,z\n", "line 6: 'z' is no declared value of 'b'"),
        (TWO + "1,x\nold,y\n", "line 6: column 'a' holds numbers"),
        (TWO + "1\n", "line 5: the row has 1 values and 2 attributes"),
        ("@relation r\n@attribute a numeric\n@data\n{7 3}\n", "line 4: the column 7 in the sparse row is none"),
        ("@relation r\n@attribute a numerc\n@data\n1\n", "line 2: 'a' is of the type 'numerc', .*mean 'numeric'"),
        ("@relation r\n@attribute a\n@data\n1\n", "line 2: '@attribute a' declares no column"),
        ("@relation r\n@attribute a {x,y\n", "the list of values of 'a' is never closed"),
        ("@relation r\n@attribute a numeric\n@attribute a real\n@data\n1\n", "two attributes are called 'a'"),
        ("@relation r\n@attribute a numeric\n", "there is no line '@data'"),
        ("@relation r\n@data\n1\n", "no column is declared"),
        ("@relation r\nattribute a numeric\n@data\n1\n", "line 2: 'attribute a numeric' is before @data"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, text, message):
    with pytest.raises(FileError, match=message):
        scan(written(tmp_path, text, "")).table()


def test_the_public_tables_are_read_as_another_reader_reads_them():
    one = public_data("tables/iris.arff")
    if one is None:
        pytest.skip("the tables are not here; set INGENUO_DATA to the folder that has tables/iris.arff")
    paths = sorted(one.parent.glob("*.arff"))
    for path in paths:
        found = scan(path)
        table, other = found.table(), plain_reader.read(path)
        assert table.column(found.target).to_pylist() == other.y.tolist(), path.name
        for name, kind in other.kinds.items():
            assert found.kinds[name][0] == kind
            expected = other.frame[name].astype(object).where(other.frame[name].notna(), None).tolist()
            assert table.column(name).to_pylist() == expected, (path.name, name)
    assert len(paths) > 20


def test_texts_in_a_public_table_are_whole():
    path = public_data("tables/ReutersCorn-train.arff.gz")
    if path is None:
        pytest.skip("the file ReutersCorn-train.arff.gz is not here; set INGENUO_DATA to the folder that has it")
    X, y = read(path, "class-att")
    assert X.num_rows == 1554
    assert sorted(set(y.to_pylist())) == ["0", "1"]
    assert (
        X.column("Text")[0].as_py().startswith("BAHIA COCOA REVIEW Showers continued throughout the week in\nthe Bahia")
    )
