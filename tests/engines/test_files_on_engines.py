"""Files on an engine are read as here, and give the same model; what is wrong with them is said as here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet
from tests.engines.rows_in_parts import mixed

from ingenuo import NaiveBayes, SoftmaxRegression, load, scan
from ingenuo.cli import main
from ingenuo.engines.files import Files, opened
from ingenuo.engines.spread import Merge, Part, tables_of
from ingenuo.errors import EngineError, FileError, InputError, RefusedError
from ingenuo.training.train import train

FRAME = mixed().drop(columns="times")


class Here:
    """Pieces of files that are reduced in this process."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces = pieces

    def reduce(self, part: Part, merge: Merge) -> bytes:
        return merge([part(number, tables_of(piece)) for number, piece in enumerate(self.pieces)])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("files")
    for kind in ("csv", "parquet"):
        (home / kind).mkdir()
    for number, at in enumerate(range(0, len(FRAME), 150)):
        part = FRAME[at : at + 150]
        part.to_csv(home / "csv" / f"{number}.csv", index=False)
        part.to_parquet(home / "parquet" / f"{number}.parquet", index=False)
    return home


def _run(*arguments: str) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_folder_of_files_gives_the_same_model(folders: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingenuo.engines.files._SMALL", 1)  # so that each file is a part
    rows = scan(folders / kind, target="paid")
    assert NaiveBayes().fit(Files(rows, Here), "paid").tally_ == NaiveBayes().fit(rows, "paid").tally_


def test_the_command_trains_on_a_cluster_of_dask(dask_cluster: Any, folders: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here.ingenuo", tmp_path / "there.ingenuo"
    assert _run("train", folders / "csv", "--target", "paid", "-o", here).exit_code == 0
    done = _run(
        "train", folders / "csv", "--target", "paid", "-o", there, "--scheduler", dask_cluster.scheduler_address
    )
    assert done.exit_code == 0, done.output
    assert load(there).tally_ == load(here).tally_
    assert load(there).schema_ == load(here).schema_


def test_rows_without_a_class_are_left_out_and_counted(tmp_path: Path) -> None:
    FRAME.assign(paid=FRAME["paid"].where(FRAME.index % 5 != 0)).to_csv(tmp_path / "rows.csv", index=False)
    files = Files(scan(tmp_path / "rows.csv", target="paid"), Here)
    found = NaiveBayes().fit(files, "paid")
    assert files.left_out == 120
    assert int(found.class_count_.sum()) == 480


def test_a_file_with_another_schema_is_named_with_its_column(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"x": ["one", "two"], "y": ["a", "b"]}), tmp_path / "2.parquet")
    with pytest.raises(FileError, match=r"2\.parquet.*column 'x'"):
        NaiveBayes().fit(Files(scan(tmp_path, target="y"), Here), "y")


def test_a_value_that_is_no_number_is_named_with_file_line_and_column(tmp_path: Path) -> None:
    pd.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "a"]}).to_csv(tmp_path / "1.csv", index=False)
    (tmp_path / "2.csv").write_text("x,y\n4,a\nfive,b\n")
    with pytest.raises(InputError, match=r"2\.csv, line 3.*'x'.*'five'"):
        NaiveBayes().fit(Files(scan(tmp_path, target="y"), Here), "y")


def test_a_scheduler_that_is_not_there_is_told(folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingenuo.engines.dask._WAIT", 0.5)
    done = _run("train", folders / "csv", "--target", "paid", "-o", tmp_path / "m", "--scheduler", "tcp://127.0.0.1:1")
    assert done.exit_code == 1
    assert "there is no Dask scheduler at 'tcp://127.0.0.1:1'" in done.output
    assert not (tmp_path / "m").exists()
    with pytest.raises(EngineError, match="no Dask scheduler at 'nowhere'"), opened("dask", "nowhere"):
        pass


@pytest.mark.parametrize("master", ["spark://127.0.0.1:1", "spark://nowhere", "flink://a:1"])
def test_a_master_that_is_not_there_is_told(master: str) -> None:
    pytest.importorskip("pyspark")
    with pytest.raises(EngineError, match=rf"there is no Spark master at '{master}'"), opened("spark", master):
        pass


def test_options_that_do_not_go_together_are_refused(folders: Path, tmp_path: Path) -> None:
    train = ["train", folders / "csv", "--target", "paid", "-o", tmp_path / "m"]
    for options, says in (
        (["--scheduler", "tcp://a:1", "--master", "spark://a:1"], "give one of them"),
        (["--engine", "spark", "--scheduler", "tcp://a:1"], "--scheduler is the address of dask"),
        (["--engine", "flink"], "'flink' is not one of"),
    ):
        done = _run(*train, *options)
        assert done.exit_code == 2
        assert says in done.output


def test_folds_are_for_one_machine(folders: Path, tmp_path: Path) -> None:
    done = _run(
        "train", folders / "csv", "--target", "paid", "-o", tmp_path / "m", "--folds", "5", "--engine", "dask",
    )  # fmt: skip
    assert done.exit_code == 2
    assert "for rows that one machine reads" in done.output
    with pytest.raises(InputError, match="for rows that one machine reads"):
        train(NaiveBayes(), scan(folders / "csv"), "paid", folds=5, engine=Here)


def test_a_model_that_is_no_sum_says_so_of_files(folders: Path) -> None:
    with pytest.raises(RefusedError, match="needs them all at once"):
        train(SoftmaxRegression(), scan(folders / "csv"), "paid", engine=Here)


@pytest.mark.parametrize(("engine", "module"), [("dask", "dask"), ("spark", "pyspark")])
def test_an_engine_that_is_not_installed_says_what_to_install(engine: str, module: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,y\n1,a\n2,b\n")
    code = f"import sys; sys.modules[{module!r}] = None; from ingenuo.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "train", "rows.csv", "--target", "y", "-o", "m", "--engine", engine],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert f"pip install 'ingenuo[{engine}]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "m").exists()


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(InputError, match="engine='flink' is not known"), opened("flink"):
        pass
