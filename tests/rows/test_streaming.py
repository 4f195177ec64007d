"""Rows come in batches of one schema, as often as they are asked for, whatever the format and the packing."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zipfile

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows.files.scan import read, scan

ROWS = [
    {"n": i, "x": i / 8, "town": ["Bari", "Pisa", "Cádiz"][i % 3], "good": i % 2 == 0,
     "text": f"all of the words, {i}\nand"}
    for i in range(3000)
]  # fmt: skip
TABLE = pa.Table.from_pylist(ROWS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same table in every format."""
    folder = tmp_path_factory.mktemp("formats")
    quoted = "".join(f'{r["n"]},{r["x"]},{r["town"]},{str(r["good"]).lower()},"{r["text"]}"\n' for r in ROWS)
    plain = ("n,x,town,good,text\n" + quoted).encode()
    (folder / "table.csv").write_bytes(plain)
    (folder / "table.csv.gz").write_bytes(gzip.compress(plain[:60_000]) + gzip.compress(plain[60_000:]))
    (folder / "table.csv.bz2").write_bytes(bz2.compress(plain))
    (folder / "table.csv.xz").write_bytes(lzma.compress(plain))
    for suffix, codec in [("zst", "zstd"), ("lz4", "lz4")]:
        with pa.output_stream(str(folder / f"table.csv.{suffix}"), compression=codec) as out:
            out.write(plain)
    with zipfile.ZipFile(folder / "table.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside.csv", plain)
    (folder / "no_suffix").write_bytes(plain)
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    (folder / "table.jsonl").write_bytes(lines)
    (folder / "table.ndjson.gz").write_bytes(gzip.compress(lines))
    (folder / "table.json").write_text(json.dumps(ROWS))
    parquet.write_table(TABLE, folder / "table.parquet", row_group_size=700)
    parquet.write_table(TABLE, folder / "parquet_without_suffix")
    feather.write_feather(TABLE, folder / "table.feather", compression="lz4")
    with pa.ipc.new_stream(str(folder / "table.arrow"), TABLE.schema) as out:
        out.write_table(TABLE, max_chunksize=500)
    return folder


def names():
    packed = [f"table.csv.{packing}" for packing in ("gz", "bz2", "xz", "zst", "lz4", "zip")]
    return ["table.csv", *packed, "no_suffix", "table.jsonl", "table.ndjson.gz", "table.json", "table.parquet",
            "parquet_without_suffix", "table.feather", "table.arrow"]  # fmt: skip


@pytest.mark.parametrize("name", names())
def test_every_format_holds_the_same_table(folder, name):
    found = scan(folder / name, block_size=20_000)
    heard = []
    for _ in range(2):  # from the start each time
        found.progress = lambda n_bytes, n_rows: heard.append(n_bytes)
        batches = list(found.batches())
        assert {batch.schema for batch in batches} == {found.schema}
        rows = [row for batch in batches for row in batch.to_pylist()]
        assert [{**row, "good": str(row["good"]).lower()} for row in rows] == [
            {**row, "good": str(row["good"]).lower()} for row in ROWS
        ]
    half = heard[: len(heard) // 2]
    assert half == sorted(half)
    assert heard[-1] == found.n_bytes == (folder / name).stat().st_size
    assert {column: kind for column, (kind, _) in found.kinds.items()} == {
        "n": "number", "x": "number", "town": "category", "good": "category", "text": "text"
    }  # fmt: skip


@pytest.mark.parametrize("name", ["table.csv", "table.jsonl", "table.parquet", "table.feather"])
def test_only_the_columns_that_are_wanted_are_read(folder, name):
    found = scan(folder / name, columns={"town": "category", "n": "number", "absent": "text"}, only=True)
    assert found.table().column_names == ["n", "town"]
    assert scan(folder / name, columns={"text": "ignore"}).table().column_names == ["n", "x", "town", "good"]


def test_whole_numbers_become_doubles_where_a_later_row_needs_them(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 20_000 + "1.5,2\n" + "1,2\n" * 20_000)
    found = scan(path, block_size=1 << 12)
    assert found.schema.types == [pa.int64(), pa.int64()]
    table = found.table()
    assert table.schema.types == [pa.float64(), pa.int64()]
    assert sum(table.column("a").to_pylist()) == 40_001.5
    assert {batch.schema for batch in found.batches()} == {table.schema}  # from now on


def test_a_reader_who_stops_leaves_nothing_running(folder):
    batches = scan(folder / "table.csv", block_size=4_000).batches()
    assert next(batches).num_rows > 0
    batches.close()


def test_a_table_without_rows_has_its_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    found = scan(path)
    assert found.names == ["a", "b"]
    assert list(found.batches()) == []
    assert read(path).num_rows == 0
    assert read(path).column_names == ["a", "b"]


def test_rows_longer_than_a_block_are_whole(tmp_path):
    path = tmp_path / "t.csv"
    long = "word " * 60_000
    path.write_text(f'label,text\n"a","{long}\n1"\n"b","short"\n"a","{long}2"\n')
    table = scan(path, columns={"text": "text"}, block_size=1 << 12).table()
    assert table.column("text").to_pylist() == [long + "\n1", "short", long + "2"]


def test_lines_with_labels_name_their_target(tmp_path):
    marked, plain = tmp_path / "marked.txt", tmp_path / "plain.all"
    marked.write_text("__label__good a fine film\n\n__label__bad\ta dull film\n")
    plain.write_bytes("1 un café noir\n0 un thé\n".encode("latin-1"))
    found = scan(marked)
    assert (found.target, found.kinds["text"][0]) == ("label", "text")
    assert found.table().to_pydict() == {"text": ["a fine film", "a dull film"], "label": ["good", "bad"]}
    X, y = read(plain, "label", format="label-lines", encoding="latin-1")
    assert (X.column("text").to_pylist(), y.to_pylist()) == (["un café noir", "un thé"], ["1", "0"])


def test_a_folder_of_texts_has_a_class_for_each_sub_folder(tmp_path):
    for name, text in {
        "pos/1.txt": b"good",
        "pos/2.txt": "così così".encode(),
        "neg/1.txt": b"",
        ".x/1": b"no",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text)
    found = scan(tmp_path)
    assert found.notes[0].endswith("3 texts in 2 sub-folders, one per class: neg, pos")
    assert found.target == "label"
    assert found.table().to_pydict() == {"text": ["", "good", "così così"], "label": ["neg", "pos", "pos"]}


def test_what_is_read_from_many_batches_can_be_learned_at_once(folder):
    X, y = read(folder / "table.csv", "town", block_size=20_000)
    model = NaiveBayes(columns={"text": "ignore"}).fit(X, y)
    assert sorted(model.classes_) == ["Bari", "Cádiz", "Pisa"]


def test_a_field_that_a_json_file_lacks_is_missing_there(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1, "b": "x"}\n')
    (tmp_path / "b.jsonl").write_text('{"b": "y"}\n')
    assert scan(tmp_path).table().to_pydict() == {"a": [1, None], "b": ["x", "y"]}


def test_many_files_are_one_table(tmp_path):
    for i in range(30):
        (tmp_path / f"part-{i:02}.csv").write_text("n;m\n" if i else "m,n\n" + f"0,{i}\n")
        if i:
            (tmp_path / f"part-{i:02}.csv").write_text(f"n;m\n{i};0\n")
    found = scan(str(tmp_path / "part-*.csv"))
    assert found.table().to_pydict() == {"m": [0] * 30, "n": list(range(30))}
    assert len(found.notes) == 29
    assert found.n_bytes == sum(path.stat().st_size for path in tmp_path.iterdir())
