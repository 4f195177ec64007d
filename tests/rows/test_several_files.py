"""Several files are one table: some may be empty, and their types may differ as long as their meaning does not."""

from __future__ import annotations

import gzip
import threading

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from ingenuo.errors import FileError, InputError
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows.files.scan import scan


def write(folder, **tables):
    for name, table in tables.items():
        parquet.write_table(pa.table(table), folder / f"{name}.parquet")


def test_an_empty_file_among_others_has_no_rows(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"")
    (tmp_path / "b.csv").write_text("a,b\n1,x\n")
    (tmp_path / "c.csv").write_text("\n\n")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "e.csv").write_text("a,b\n")
    found = scan(tmp_path)
    assert found.table().to_pydict() == {"a": [1], "b": ["x"]}
    assert found.notes == ["b.csv: 3 files beside it are empty (a.csv, c.csv, d.csv.gz)"]


def test_an_empty_list_among_others_has_no_rows(tmp_path):
    (tmp_path / "a.json").write_text("[]\n")
    (tmp_path / "b.json").write_text('[{"a": 1}]')
    assert scan(tmp_path).table().to_pydict() == {"a": [1]}


def test_where_all_the_files_are_empty_there_is_no_table(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"")
    (tmp_path / "b.csv").write_bytes(b"")
    with pytest.raises(FileError, match=r"a\.csv: the file is empty; give one with rows"):
        scan(tmp_path)


@pytest.mark.parametrize("empty", ["a", "m"])
@pytest.mark.parametrize("type", [pa.float64(), pa.null(), pa.string()])
def test_a_parquet_file_without_rows_is_no_error(tmp_path, empty, type):
    no_rows = pa.table({"n": pa.array([], type), "town": pa.array([], pa.null())})
    write(tmp_path, b={"n": [1.5], "town": ["Bari"]}, z={"n": [2.5], "town": ["Pisa"]}, **{empty: no_rows})
    assert scan(tmp_path).table().to_pydict() == {"n": [1.5, 2.5], "town": ["Bari", "Pisa"]}


@pytest.mark.parametrize("strings", [["x", "y"], ["1", "2"]])
def test_strings_where_other_files_have_numbers_are_refused_with_file_and_column(tmp_path, strings):
    write(tmp_path, a={"n": [1.5, 2.5], "m": [1, 2]}, b={"n": [1.5, 2.5], "m": strings}, c={"n": [1.5], "m": [3]})
    with pytest.raises(FileError, match=r"b\.parquet: column 'm' holds string values, and int64 in the files before"):
        scan(tmp_path)
    assert scan(tmp_path, columns={"m": "ignore"}).table().column_names == ["n"]
    if strings == ["1", "2"]:
        assert scan(tmp_path, columns={"m": "category"}).table().column("m").to_pylist() == [1, 2, 1, 2, 3]
    else:
        with pytest.raises(InputError, match=r"b\.parquet: column 'm' holds string values, which cannot be read as"):
            scan(tmp_path, columns={"m": "number"}).table()


def test_a_target_of_another_sort_is_refused_with_file_and_column(tmp_path):
    write(tmp_path, a={"n": [1.5, 2.5], "y": ["x", "y"]}, b={"n": [1.5, 2.5], "y": [0, 1]})
    with pytest.raises(FileError, match=r"b\.parquet: column 'y' holds int64 values"):
        scan(tmp_path, target="y")


def test_a_file_that_lacks_a_column_is_refused_with_file_and_column(tmp_path):
    write(tmp_path, a={"n": [1.5], "m": [1]}, b={"n": [1.5]})
    with pytest.raises(FileError, match=r"b\.parquet lacks the column 'm' that .*a\.parquet has"):
        scan(tmp_path)


@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize(
    ("narrow", "wide", "type"),
    [
        (pa.array([1, 2], pa.int64()), pa.array([1.5, None]), pa.float64()),
        (pa.array([1, 2], pa.int32()), pa.array([2**40, 0], pa.int64()), pa.int64()),
        (pa.array([1, 2], pa.float32()), pa.array([0.1, 1e300], pa.float64()), pa.float64()),
        (pa.array([1, 2], pa.uint8()), pa.array([-5, 300], pa.int16()), pa.int16()),
        (pa.array([1, 2], pa.uint64()), pa.array([-5, 300], pa.int16()), pa.float64()),
    ],
)
def test_numbers_of_two_widths_are_read_in_one_that_holds_both(tmp_path, order, narrow, wide, type):
    write(tmp_path, **dict(zip(order, [{"n": narrow}, {"n": wide}])))
    found = scan(tmp_path).table()
    assert found.schema.types == [type]
    assert sorted(found.column("n").to_pylist(), key=str) == sorted([*narrow.to_pylist(), *wide.to_pylist()], key=str)


def categories(batches, name="town"):
    return [batch.column(name).combine_chunks().dictionary.to_pylist() for batch in batches]


def test_a_batch_knows_the_categories_of_its_own_rows(tmp_path):
    towns = ["Bari", None, "Pisa", "Bari"] * 70_000
    towns[-1] = "Cádiz"
    parquet.write_table(pa.table({"town": towns}), tmp_path / "a.parquet")
    batches = list(scan(tmp_path).batches())
    assert categories(batches) == [["Bari", "Pisa"], ["Bari", "Pisa"], ["Bari", "Pisa", "Cádiz"]]
    assert [value for batch in batches for value in batch.column("town").to_pylist()] == towns


def test_a_value_that_only_the_dictionary_of_the_file_has_is_no_category(tmp_path):
    coded = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 2], pa.int32()), ["Bari", "Genoa", "Pisa"])
    parquet.write_table(pa.table({"town": coded}), tmp_path / "a.parquet", store_schema=False)
    batches = list(scan(tmp_path).batches())
    assert categories(batches) == [["Bari", "Pisa"]]
    assert batches[0].column("town").to_pylist() == ["Pisa", "Bari", None, "Pisa"]


@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"dictionary_pagesize_limit": 2_000}])
def test_categories_are_the_same_however_the_file_has_them(tmp_path, options):
    codes = np.random.default_rng(3).integers(0, 900, 20_000)
    towns = [f"town {code}" if code % 11 else None for code in codes]
    table = pa.table({"town": towns, "large": pa.array(towns, pa.large_string())})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=7_000, **options)
    found = scan(tmp_path).table()
    assert found.to_pydict() == {"town": towns, "large": towns}
    assert found.schema.types == scan(tmp_path).schema.types == [pa.dictionary(pa.int32(), pa.string())] * 2


def test_a_model_of_a_parquet_file_is_the_same_in_batches_and_whole(tmp_path):
    rng = np.random.default_rng(5)
    towns, y = rng.integers(0, 30, 3_000), rng.integers(0, 2, 3_000)
    table = pa.table({"x": rng.normal(size=3_000), "n": rng.integers(0, 9, 3_000),
                      "town": [f"t{t}" for t in towns], "y": [f"y{v}" for v in y]})  # fmt: skip
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=700)
    found = scan(tmp_path, target="y")
    whole = NaiveBayes().fit(found.table(), "y").tally_
    assert NaiveBayes().fit(found).tally_ == whole


def test_a_reader_who_stops_leaves_no_thread_behind(tmp_path):
    parquet.write_table(pa.table({"n": np.arange(700_000)}), tmp_path / "a.parquet")
    before = threading.active_count()
    batches = scan(tmp_path).batches()
    assert next(batches).num_rows > 0
    batches.close()
    assert threading.active_count() <= before
    for batch in scan(tmp_path).batches():
        assert batch.num_rows
        break
    del batch
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("read")]
