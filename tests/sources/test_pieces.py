"""Files cut into pieces are read elsewhere as they would have been read here: nothing is guessed again."""

from __future__ import annotations

import gzip
import io
import json
import socket
import sys
from itertools import pairwise

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from ingenuo.errors import FileError, InputError, KindError, MissingFileError
from ingenuo.sources.files import open_piece, pieces, scan

N = 600
ROWS = [
    {"n": i, "x": i / 8 if i % 7 else None, "town": ["Bari", "Pisa", "Cádiz"][i % 3], "good": i % 2 == 0,
     "text": f"all of the words, {i}\nand", "key": f"k-{i}"}
    for i in range(N)
]  # fmt: skip
CUTS = [0, 200, 350, N]


def parts():
    return [ROWS[lo:hi] for lo, hi in pairwise(CUTS)]


def delimited(rows, separator=",", decimal="."):
    lines = [
        separator.join(
            [str(r["n"]), "" if r["x"] is None else str(r["x"]).replace(".", decimal), r["town"],
             str(r["good"]).lower(), f'"{r["text"]}"', r["key"]]
        )
        for r in rows
    ]  # fmt: skip
    return (separator.join(ROWS[0]) + "\n" + "\n".join(lines) + "\n").encode()


def write(folder, format):
    """The rows in three files of a format."""
    for number, rows in enumerate(parts()):
        path, table = folder / f"part-{number}", pa.Table.from_pylist(rows)
        if format == "csv":
            path.with_suffix(".csv").write_bytes(delimited(rows))
        elif format == "csv of three dialects":
            separator, decimal, encoding = [(";", ",", "utf-8"), (",", ".", "cp1252"), ("|", ".", "utf-16")][number]
            text = delimited(rows, separator, decimal).decode()
            path.with_suffix(".csv").write_bytes(text.encode(encoding))
        elif format == "tsv":
            plain = [{**row, "text": row["text"].replace("\n", " ")} for row in rows]
            path.with_suffix(".tsv").write_bytes(delimited(plain, "\t").replace(b'"', b""))
        elif format == "packed csv":
            (folder / f"part-{number}.csv.gz").write_bytes(gzip.compress(delimited(rows)))
        elif format == "parquet":
            parquet.write_table(table, path.with_suffix(".parquet"), row_group_size=60)
        elif format == "packed parquet":
            out = io.BytesIO()
            parquet.write_table(table, out)
            (folder / f"part-{number}.parquet.gz").write_bytes(gzip.compress(out.getvalue()))
        elif format == "arrow":
            with pa.ipc.new_file(str(path.with_suffix(".arrow")), table.schema) as out:
                out.write_table(table, max_chunksize=70)
        elif format == "feather":
            feather.write_feather(table, path.with_suffix(".feather"), compression="lz4")
        elif format == "json lines":
            lines = [{k: v for k, v in row.items() if v is not None} for row in rows]
            path.with_suffix(".jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
        elif format == "json lists":
            path.with_suffix(".json").write_text(json.dumps(rows))
        elif format == "arff":
            values = "n,x,town,good,key"
            types = ["numeric", "numeric", "{Bari, Pisa, 'Cádiz'}", "{true, false}", "string"]
            head = [f"@attribute {name} {type}" for name, type in zip(values.split(","), types)]
            body = [f"{r['n']},{'?' if r['x'] is None else r['x']},{r['town']},{str(r['good']).lower()},'{r['key']}'"
                    for r in rows]  # fmt: skip
            path.with_suffix(".arff").write_text("\n".join(["@relation t", *head, "@data", *body, ""]))
        elif format == "fasttext":
            path.with_suffix(".ft").write_text("".join(f"__label__{r['town']} words {r['n']}\n" for r in rows))
        elif format == "label lines":
            path.with_suffix(".txt").write_text("".join(f"{r['town']} words {r['n']}\n" for r in rows))
        elif format == "texts":
            for row in rows[::5]:
                place = folder / row["town"] / f"{row['n']}.txt"
                place.parent.mkdir(exist_ok=True)
                place.write_text(row["text"])


FORMATS = ["csv", "csv of three dialects", "tsv", "packed csv", "parquet", "packed parquet", "arrow", "feather",
           "json lines", "json lists", "arff", "fasttext", "label lines", "texts"]  # fmt: skip


def plain(table):
    """A table whose dictionaries, which may be ordered otherwise, are written out."""
    types = [type.value_type if pa.types.is_dictionary(type) else type for type in table.schema.types]
    return table.cast(pa.schema(list(zip(table.column_names, types)))).combine_chunks()


def attributes(stream):
    return stream.names, stream.target, stream.kinds, stream.categories, stream.schema


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("bytes_each", [1, 5_000, 1 << 30])
def test_the_pieces_together_are_the_whole(tmp_path, format, bytes_each):
    write(tmp_path, format)
    paths, options = (tmp_path, {}) if format != "label lines" else (str(tmp_path / "*.txt"), {"format": "label-lines"})
    found = scan(paths, block_size=3_000, **options)
    described = pieces(found, bytes_each)
    opened = [open_piece(piece) for piece in described]
    assert bytes_each == 5_000 or (len(described) == 1) == (bytes_each == 1 << 30)
    assert all(attributes(piece) == attributes(found) for piece in opened)
    whole, tables = found.table(), [piece.table() for piece in opened]
    assert {table.schema for table in tables} == {whole.schema}
    assert plain(pa.concat_tables(map(plain, tables))).equals(plain(whole))
    assert sum(piece.n_bytes for piece in opened) == pytest.approx(found.n_bytes, abs=30)
    for piece in opened:
        heard = []
        assert sum(batch.num_rows for batch in piece.batches(heard.append)) == piece.table().num_rows
        assert heard == sorted(heard)
        assert heard[-1] == piece.n_bytes


def test_a_large_parquet_file_is_cut_between_its_row_groups(tmp_path):
    parquet.write_table(pa.Table.from_pylist(ROWS), tmp_path / "t.parquet", row_group_size=100)
    found = scan(tmp_path, target="town")
    size = (tmp_path / "t.parquet").stat().st_size
    assert [open_piece(piece).table().num_rows for piece in pieces(found, 2 * size // 5)] == [200, 200, 200]
    assert [open_piece(piece).table().num_rows for piece in pieces(found, 1)] == [100] * 6
    assert [open_piece(piece).table().num_rows for piece in pieces(found, size)] == [600]
    half = open_piece(pieces(found, 4 * size // 7)[1])
    assert half.table().column("n").to_pylist() == list(range(300, 600))
    assert [open_piece(piece).table().column("n")[0].as_py() for piece in pieces(half, 1)] == [300, 400, 500]


def test_what_was_decided_here_holds_where_other_rows_would_tell_otherwise(tmp_path):
    (tmp_path / "a.csv").write_text("id;price;code\n" + "".join(f"{i};{i},5;x{i % 3}\n" for i in range(60)))
    (tmp_path / "b.csv").write_text("id;price;code\n7;1;1\n7;2;2\n")  # by themselves: whole numbers, codes too
    (tmp_path / "c.csv").write_text("id;price;code\n")
    found = scan(tmp_path, target="code")
    first, second, third = (open_piece(piece) for piece in pieces(found, 1))
    assert second.kinds == found.kinds == first.kinds
    assert second.kinds["id"][0] == "ignore"
    assert second.table().to_pydict() == {"price": [1.0, 2.0], "code": ["1", "2"]}
    assert second.schema == found.schema == third.table().schema
    assert third.table().num_rows == 0


def test_files_without_a_header_and_with_columns_in_another_order_are_read_as_here(tmp_path):
    (tmp_path / "a.csv").write_text("1,yes\n2,no\n")
    (tmp_path / "b.csv").write_text("3,no\n")
    table = [open_piece(piece).table().to_pydict() for piece in pieces(scan(tmp_path), 1)]
    assert table == [{"x0": [1, 2], "x1": ["yes", "no"]}, {"x0": [3], "x1": ["no"]}]
    (tmp_path / "a.csv").write_text("m,n\n1,yes\n2,no\n")
    (tmp_path / "b.csv").write_text("n,m\nno,3\n")
    second = open_piece(pieces(scan(tmp_path), 1)[1])
    assert second.names == ["m", "n"]
    assert second.table().to_pydict() == {"m": [3], "n": ["no"]}


def test_declared_kinds_missing_values_and_replaced_bytes_travel(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,b,c\n1,-,x\n2,5,caf\xe9\n")
    (tmp_path / "b.csv").write_bytes(b"a,b,c\n3,-,caf\xe9\n")
    found = scan(tmp_path, columns={"a": "category", "c": "text"}, missing=["-"], errors="replace")
    tables = [open_piece(piece).table() for piece in pieces(found, 1)]
    assert tables[1].to_pydict() == {"a": ["3"], "b": [None], "c": ["caf�"]}
    assert tables[1].schema == found.schema


def test_whole_numbers_become_doubles_in_the_piece_that_needs_them(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("a,b\n1.5,2\n")
    first, second = (open_piece(piece).table() for piece in pieces(scan(tmp_path), 1))
    assert first.schema.types == [pa.int64(), pa.int64()]
    assert (second.schema.types, second.column("a").to_pylist()) == ([pa.float64(), pa.int64()], [1.5])


def test_a_value_that_is_no_number_is_told_as_it_is_here(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n" * 20)
    (tmp_path / "b.csv").write_text("a,b\n" + "1,2\n" * 20 + "1,two\n")
    found = scan(tmp_path)
    with pytest.raises(FileError) as here:
        found.table()
    with pytest.raises(FileError, match=r"b\.csv, line 22: column 'b' holds numbers, and 'two' is none") as elsewhere:
        open_piece(pieces(found, 1)[1]).table()
    assert str(elsewhere.value) == str(here.value)


@pytest.mark.parametrize("gone", ["part-1.csv", "all"])
def test_a_file_that_is_not_there_is_told_with_the_machine(tmp_path, gone):
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder, "csv")
    described = pieces(scan(folder), 1)
    folder.rename(tmp_path / "elsewhere") if gone == "all" else (folder / gone).unlink()
    message = rf"part-1\.csv: there is no such file on the machine '{socket.gethostname()}'; the files must be at the"
    with pytest.raises(MissingFileError, match=message):
        open_piece(described[1])


def test_a_text_of_a_folder_that_is_not_there_is_told_with_the_machine(tmp_path):
    write(tmp_path, "texts")
    described = pieces(scan(tmp_path))
    (tmp_path / "Bari" / "0.txt").unlink()
    with pytest.raises(MissingFileError, match=r"0\.txt: there is no such file on the machine"):
        open_piece(described[0])


def test_another_file_at_the_same_place_is_refused(tmp_path):
    write(tmp_path, "parquet")
    described = pieces(scan(tmp_path))
    parquet.write_table(pa.table({"n": [1]}), tmp_path / "part-2.parquet")
    with pytest.raises(FileError, match=r"part-2\.parquet: the file has [\d,]+ bytes on the machine .* and [\d,]+ whe"):
        open_piece(described[0])


def test_standard_input_cannot_be_cut(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n")))
    with pytest.raises(InputError, match=r"standard input is here alone .* write it to a file"):
        pieces(scan("-"))


def test_what_is_no_piece_is_refused(tmp_path):
    write(tmp_path, "csv")
    found = scan(tmp_path)
    with pytest.raises(KindError, match="only what scan"):
        pieces(found.table())
    for bytes_each in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="bytes_each must be a whole number from 1 on"):
            pieces(found, bytes_each)
    for description in (b"", b"{}", b"[1]", b"\xff\x00", None):
        with pytest.raises(InputError, match="no description of a piece"):
            open_piece(description)
    newer = json.dumps({**json.loads(pieces(found)[0]), "piece": 99}).encode()
    with pytest.raises(InputError, match=r"version 99 .* install the same version of ingenuo on every machine"):
        open_piece(newer)
