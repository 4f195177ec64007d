"""Files made to fill the memory: bombs that unpack to a huge cell, line or list, and brackets without end."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ingenuo as ing
from ingenuo.errors import FileError, InputError
from ingenuo.rows.typed import MAX_DEPTH

MIB = 1 << 20
CELL = 400 * MIB  # zeros in one cell
MOST = 500  # MiB that a process may need, of which 150 are Python, NumPy and Arrow

_READ = """
import sys
import ingenuo as ing
try:
    ing.NaiveBayes().fit(ing.scan(sys.argv[1]), "y")
    print("no error")
except ing.errors.IngenuoError as error:
    print(error)
print(next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def _refused(path: Path) -> str:
    """What a process of its own says of a file, which must not need much memory for that."""
    done = subprocess.run([sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    *said, needed = done.stdout.strip().split("\n")
    assert int(needed) < MOST, f"{needed} MiB"
    return "\n".join(said)


def _pieces(start: bytes, piece: bytes, size: int) -> list[bytes]:
    return [start, *[piece] * (size // len(piece))]


def _pack(path: Path, pieces: list[bytes]) -> Path:
    """Pieces, packed as the name of the file says, without ever being in memory together."""
    kind = path.suffix[1:]
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("rows.csv", "w") as member:
            for piece in pieces:
                member.write(piece)
    elif kind in ("bz2", "xz"):
        with (bz2 if kind == "bz2" else lzma).open(path, "wb") as file:
            for piece in pieces:
                file.write(piece)
    else:
        with (
            pa.OSFile(str(path), "wb") as raw,
            pa.CompressedOutputStream(raw, {"gz": "gzip", "zst": "zstd"}.get(kind, kind)) as file,
        ):
            for piece in pieces:
                file.write(piece)
    return path


@pytest.mark.parametrize("packing", ["bz2", "zst", "gz", "lz4", "zip"])
def test_a_huge_cell_is_refused_with_its_line(packing: str, tmp_path: Path) -> None:
    path = _pack(tmp_path / f"rows.csv.{packing}", _pieces(b"y,x\n", b"0" * (16 * MIB), CELL))
    assert "line 2: the line is longer than 64 MiB" in (said := _refused(path))
    assert "--max-line MIB; scan(…, max_line=BYTES)" in said


@pytest.mark.parametrize("start", [b'y,x\na,"', b'y,"', b"y,x"])
def test_a_quote_or_a_header_without_an_end_is_refused(start: bytes, tmp_path: Path) -> None:
    assert "the line is longer than 64 MiB" in _refused(
        _pack(tmp_path / "rows.csv.zst", _pieces(start, b"0" * (16 * MIB), CELL))
    )


def test_a_list_that_is_packed_is_read_as_a_stream(tmp_path: Path) -> None:
    rows = b'{"y": "a", "x": 1.5},' * 50_000
    path = _pack(tmp_path / "rows.json.zst", [*_pieces(b"[", rows, 100 * MIB), b'{"y": "b", "x": 2}]'])
    assert _refused(path) == "no error"
    path = _pack(tmp_path / "long.json.zst", _pieces(b'[{"y": "a", "x": "', b"0" * (16 * MIB), CELL))
    assert "the line is longer than 64 MiB" in _refused(path)


def test_a_packed_table_that_is_read_whole_has_a_limit_on_the_ratio(tmp_path: Path) -> None:
    inner = io.BytesIO()
    pq.write_table(
        pa.table({"y": ["a"] * 200, "x": ["0" * (2 * MIB)] * 200}), inner, compression="none", use_dictionary=False
    )
    path = _pack(tmp_path / "rows.parquet.zst", [inner.getvalue()])
    said = _refused(path)
    assert "over 100 times as many" in said
    assert "--max-ratio N; scan(…, max_ratio=N)" in said
    assert ing.scan(path, max_ratio=1e6).names == ["y", "x"]


def test_cells_of_a_parquet_file_have_the_same_limit(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(
        pa.table({"y": ["a"], "x": pa.array(["0" * (200 * MIB)])}), path, compression="zstd", use_dictionary=False
    )
    assert "the cells of column 'x' are longer than 64 MiB" in _refused(path)


def test_the_limits_can_be_raised_and_lowered(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("y,x\n" + "a," + "0" * (2 * MIB) + "\nb,1\n")
    assert len(ing.read(path)) == 2
    with pytest.raises(FileError, match="line 2: the line is longer than 1 MiB"):
        ing.read(path, max_line=MIB)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.jsonl.gz"])
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 1_000, 8_000, 200_000])
def test_brackets_within_brackets_are_counted_before_any_parser(name: str, depth: int, tmp_path: Path) -> None:
    good, deep = '{"y": "a", "x": "[[["}', '{"y": "a", "x": ' + "[" * depth + "]" * depth + "}"
    text = f"[{good},{good},{deep}]" if name.endswith("json") else f"{good}\n{good}\n{deep}\n"
    path = tmp_path / name
    if name.endswith("gz"):
        _pack(path, [text.encode()])
    else:
        path.write_text(text)
    with pytest.raises(FileError, match=f"(line|element) 3: there are more than {MAX_DEPTH} brackets within brackets"):
        ing.read(path)


def test_brackets_over_many_lines_are_counted_too(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"y": 1}\n' + '{"a":\n' * 9_000)
    with pytest.raises(FileError, match="line 66: there are more than 64 brackets"):
        ing.read(tmp_path / "rows.jsonl")


def test_brackets_in_strings_are_no_brackets(tmp_path: Path) -> None:
    rows = [{"y": "a", "x": "[" * 500 + '\\"{'}, {"y": "b", "x": "}" * 500 + "\\"}] * 20
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "rows.json").write_text(json.dumps(rows, indent=1))
    assert ing.read(tmp_path / "rows.jsonl").to_pylist() == ing.read(tmp_path / "rows.json").to_pylist() == rows


def test_a_row_that_is_typed_as_json_has_the_same_limit() -> None:
    model = ing.NaiveBayes().fit(pa.table({"x": ["a", "b"]}), ["n", "y"])
    from ingenuo.rows.typed import parse_row

    with pytest.raises(InputError, match="more than 64 brackets"):
        parse_row('{"x": ' + "[" * 5000, model)


@pytest.mark.parametrize("nth", [0, 1])
def test_a_header_that_is_longer_than_the_first_look_is_read_whole(nth: int, tmp_path: Path) -> None:
    names = [f"n{i:0200d}" for i in range(6_000 if nth == 0 else 400)]
    row = ";".join(["1,5"] * len(names))
    for number in range(nth + 1):
        (tmp_path / f"{number}.csv").write_text(";".join(names) + "\n" + f"{row}\n" * 3)
    found = ing.scan([tmp_path / f"{number}.csv" for number in range(nth + 1)])
    assert found.names == names
    assert {kind for kind, _ in found.kinds.values()} == {"number"}
