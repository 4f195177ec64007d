"""Files that an engine reads, in the types that were found here, give the same model."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.engines.rows_in_parts import mixed

from ingenuo.cli import main
from ingenuo.cli.work.train import train
from ingenuo.errors import EngineError, InputError, RefusedError
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.rows.dask import read
from ingenuo.rows.engines import Files, open_engine
from ingenuo.rows.files.scan import scan
from ingenuo.store import load

FRAME = mixed().drop(columns="times")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("files")
    for kind in ("csv", "parquet", "dialects"):
        (home / kind).mkdir()
    for number, at in enumerate(range(0, len(FRAME), 150)):
        part = FRAME[at : at + 150].assign(key=[f"k{row}" for row in range(at, at + 150)], visits=np.arange(150.0))
        part.to_csv(home / "csv" / f"{number}.csv", index=False)
        part.to_parquet(home / "parquet" / f"{number}.parquet", index=False)
        part.loc[at, "visits"] = 2.5  # whole in the other rows
        form = {"sep": ";", "decimal": ","} if number % 2 else {"encoding": "utf-8-sig"}
        part[sorted(part.columns)].to_csv(home / "dialects" / f"{number}.csv", index=False, **form)
    return home


def _run(*arguments: str) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize("kind", ["csv", "parquet", "dialects"])
def test_a_folder_of_files_gives_the_same_model(folders: Path, kind: str) -> None:
    rows = scan(folders / kind, target="paid")
    here, there = NaiveBayes().fit(rows, "paid"), NaiveBayes().fit(Files(rows, read), "paid")
    assert there.tally_ == here.tally_
    assert there.schema_ == here.schema_


def test_classes_that_are_whole_numbers_stay_whole(tmp_path: Path) -> None:
    FRAME.assign(paid=(FRAME["paid"] == "yes").astype(int)).to_csv(tmp_path / "rows.csv", index=False)
    rows = scan(tmp_path / "rows.csv", target="paid")
    here, there = NaiveBayes().fit(rows, "paid"), NaiveBayes().fit(Files(rows, read), "paid")
    assert there.tally_ == here.tally_
    assert there.classes_.tolist() == [0, 1]


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
    files = Files(scan(tmp_path / "rows.csv", target="paid"), read)
    found = NaiveBayes().fit(files, "paid")
    assert files.left_out == 120
    assert int(found.class_count_.sum()) == 480


def test_what_the_engine_cannot_read_is_told_with_the_files(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("x,y\n1,a\n2,b\n3,a\n")
    (tmp_path / "2.csv").write_text("x,y\n4,a\nfive,b\n")
    with pytest.raises(EngineError, match=r"2\.csv: the engine cannot read the files \(.*'five'.*\); training without"):
        NaiveBayes().fit(Files(scan(tmp_path, target="y"), read), "y")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("rows.jsonl", b'{"x": 1, "y": "a"}\n', r"an engine reads CSV, TSV and Parquet, and these files are json"),
        ("rows.csv", "x,y\n1,a\n".encode("utf-16"), r"does not read UTF-16"),
    ],
)
def test_files_that_no_engine_reads_are_refused(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=says):
        Files(scan(tmp_path / name, target="y"), read)


def test_a_scheduler_that_is_not_there_is_told(folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingenuo.rows.dask._WAIT", 0.5)
    done = _run("train", folders / "csv", "--target", "paid", "-o", tmp_path / "m", "--scheduler", "tcp://127.0.0.1:1")
    assert done.exit_code == 1
    assert "there is no Dask scheduler at 'tcp://127.0.0.1:1'" in done.output
    assert not (tmp_path / "m").exists()
    with pytest.raises(EngineError, match="no Dask scheduler at 'nowhere'"), open_engine("dask", "nowhere"):
        pass


@pytest.mark.parametrize("master", ["spark://127.0.0.1:1", "spark://nowhere", "flink://a:1"])
def test_a_master_that_is_not_there_is_told(master: str) -> None:
    pytest.importorskip("pyspark")
    with pytest.raises(EngineError, match=rf"there is no Spark master at '{master}'"), open_engine("spark", master):
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
        train(NaiveBayes(), scan(folders / "csv"), "paid", folds=5, engine=read)


def test_a_model_that_is_no_sum_says_so_of_files(folders: Path) -> None:
    with pytest.raises(RefusedError, match="more than once"):
        train(SoftmaxRegression(), scan(folders / "csv"), "paid", engine=partial(Files, read=read))


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
    with pytest.raises(InputError, match="engine='flink' is not known"), open_engine("flink"):
        pass
