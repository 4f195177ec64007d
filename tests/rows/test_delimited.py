"""Delimited text: its form is told from its first rows, and said where it is not the usual one."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingenuo.rows.files.scan import read, scan


def written(tmp_path, content, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "rows", "note"),
    [
        ("a,b\n3,x\n2,y\n", [[3, "x"], [2, "y"]], None),
        ("a;b\n3;x\n2;y\n", [[3, "x"], [2, "y"]], "separated by ';'"),
        ("a\tb\n3\tx\n2\ty\n", [[3, "x"], [2, "y"]], "separated by tabs"),
        ("a|b\n3|x, y\n2|y\n", [[3, "x, y"], [2, "y"]], "separated by '|'"),
        ("a;b\n3,14;x\n2,5;y\n", [[3.14, "x"], [2.5, "y"]], "separated by ';', numbers with decimal commas"),
        ("3,14;2,1\n2,5;1,5\n", [[3.14, 2.1], [2.5, 1.5]], "decimal commas, no header, columns called x0 to x1"),
        ("a, b, c\n1, x, ?\n2, y, 3\n", [[1, "x", None], [2, "y", 3]], "cells trimmed of the spaces around them"),
        ('a, b\n1, "x, y"\n2, "z\nw"\n', [[1, "x, y"], [2, "z\nw"]], "cells trimmed"),
        ("a,b\n'x, y','z'\n'w','v'\n", [["x, y", "z"], ["w", "v"]], "quoted by '"),
        ("sep=;\na;b\n1;x\n", [[1, "x"]], "separated by ';'"),
        ("1,a\n2,b\n3,a\n", [[1, "a"], [2, "b"], [3, "a"]], "no header, columns called x0 to x1"),
        ("ham,a\nspam,b\nham,c\n", [["ham", "a"], ["spam", "b"], ["ham", "c"]], "no header"),
        ("a,b\r\n1,x\r\n2,y\r\n", [[1, "x"], [2, "y"]], None),
        ("a,b\r1,x\r2,y\r", [[1, "x"], [2, "y"]], None),
        ("\n\na,b\n1,x\n\n2,y", [[1, "x"], [2, "y"]], None),
        (",b\n1,x\n2,y\n", [[1, "x"], [2, "y"]], "column 1 has no name and is called x0"),
        ("a,b,\n1,x\n2,y\n", [[1, "x"], [2, "y"]], None),
        ('a,b\n5" nail,1\n"6"" nail",2\n', [['5" nail', 1], ['6" nail', 2]], None),
    ],
)
def test_the_form_of_a_file_is_told_from_its_rows(tmp_path, content, rows, note):
    found = scan(written(tmp_path, content))
    assert [list(row.values()) for row in found.table().to_pylist()] == rows
    if note is None:
        assert found.notes == []
    else:
        assert note in found.notes[0]
        assert found.notes[0].startswith("table.csv: ")


def test_what_is_said_of_the_form_is_believed(tmp_path):
    path = written(tmp_path, "1;2\n3;4\n")
    assert read(path, header=True).to_pydict() == {"1": [3], "2": [4]}
    assert read(path, separator=",", header=False).to_pydict() == {"x0": ["1;2", "3;4"]}
    assert read(written(tmp_path, 'a,b\n"x,1\n'), quote="").to_pydict() == {"a": ['"x'], "b": [1]}
    assert read(written(tmp_path, "a\tb\n1\tx\n", "data.txt"), format="tsv").to_pydict() == {"a": [1], "b": ["x"]}


def test_a_header_is_known_by_a_name_that_was_asked_for(tmp_path):
    path = written(tmp_path, "2010,2011\n5,6\n7,8\n")
    assert scan(path).names == ["x0", "x1"]
    assert scan(path, target="2011").names == ["2010", "2011"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_unicode_encodings_are_found(tmp_path, encoding):
    path = written(tmp_path, "town,mayor\nCádiz,José\nForlì,Gian Luca\nBari,Vito\n".encode(encoding))
    assert read(path).column("town").to_pylist() == ["Cádiz", "Forlì", "Bari"]


@pytest.mark.parametrize(
    ("encoding", "called", "towns"),
    [
        ("cp1252", "Windows-1252", ["Cádiz", "Forlì", "Málaga", "Logroño", "Córdoba"]),
        ("cp1252", "Windows-1252", ["è una città bellissima, però cara", "non è così male: perché no"]),
        ("cp1250", "Windows-1250", ["Łódź", "Częstochowa", "Kraków", "Gdańsk", "Białystok"]),
        ("cp1251", "Windows-1251", ["Москва", "Казань", "Тверь"]),
    ],
)
def test_other_encodings_are_believed_when_several_words_speak_for_them(tmp_path, encoding, called, towns):
    found = scan(
        written(tmp_path, ("n;town\n" + "".join(f"{n};{town}\n" for n, town in enumerate(towns))).encode(encoding))
    )
    assert f"written in {called}, by its letters" in found.notes[0]
    assert found.table().column("town").to_pylist() == towns


def test_an_encoding_is_taken_as_it_is_named(tmp_path):
    path = written(tmp_path, "n,w\n1,мир\n".encode("cp1251"))
    assert read(path, encoding="cp1251").column("w").to_pylist() == ["мир"]


def test_holes_are_missing_and_other_words_are_values(tmp_path):
    path = written(tmp_path, "a,b\n1,NA\n?,null\n,None\nN/A,-\n")
    assert read(path).to_pydict() == {"a": [1, None, None, None], "b": [None, None, "None", "-"]}
    assert read(path, missing=["-", "?", "N/A"]).to_pydict() == {
        "a": [1, None, None, None],
        "b": ["NA", "null", "None", None],
    }


cell = st.text(st.sampled_from('ab",;\n\r é"'), max_size=6)


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=12), size=st.integers(8, 60))
def test_blocks_of_any_size_hold_the_rows_that_were_written(rows, size, tmp_path_factory):
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("one", "two", "three"), *rows])
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_bytes(text.getvalue().encode())
    found = scan(
        path, header=True, separator=",", columns=dict.fromkeys(["one", "two", "three"], "text"), block_size=size
    )
    expected = [[value or None for value in row] for row in rows]
    assert [list(row.values()) for row in found.table().to_pylist()] == expected


def test_stray_quotes_and_quoted_line_ends_in_one_file_are_told_apart(tmp_path):
    rows = [('5" nails', "plain"), ("a\nb", 'say "so"'), ("x", 'y"'), ("", "z\n\nz")] * 30
    quote = lambda value: '"' + value.replace('"', '""') + '"' if "\n" in value else value  # noqa: E731
    path = written(tmp_path, "one,two\n" + "".join(f"{quote(a)},{quote(b)}\n" for a, b in rows))
    table = scan(path, columns={"one": "text", "two": "text"}, block_size=64).table()
    assert [tuple(row.values()) for row in table.to_pylist()] == [(a or None, b) for a, b in rows]


def test_a_padded_file_equals_the_same_file_without_spaces(tmp_path):
    plain = "".join(f'{i},"a, {i}\nb c d",c{i % 3}\n' for i in range(40))
    padded = "".join(f'{i} , "a, {i}\nb c d" ,  c{i % 3}\n' for i in range(40))
    one = read(written(tmp_path, "n,t,c\n" + plain), block_size=100)
    assert one.to_pydict() == read(written(tmp_path, "n, t, c\n" + padded, "padded.csv"), block_size=100).to_pydict()
    assert one.schema.types == [pa.int64(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
