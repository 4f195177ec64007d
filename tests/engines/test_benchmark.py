"""The benchmark of engines measures what it says, on few rows; nothing here depends on how fast anything is."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import engine_runs, engines
from pyarrow import parquet

from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows.files.scan import scan


def test_files_have_the_rows_that_were_asked_for_and_differ(tmp_path: Path) -> None:
    engines.write(tmp_path / "rows", 2500, 1000)
    files = sorted((tmp_path / "rows").iterdir())
    assert [parquet.read_metadata(file).num_rows for file in files] == [1000, 1000, 500]
    assert files[0].read_bytes() != files[1].read_bytes()
    model = NaiveBayes().fit(scan(tmp_path / "rows", target=engines.CLASS), engines.CLASS)
    assert len(model.schema_) == 20
    assert int(model.class_count_.sum()) == 2500


def test_every_case_runs_what_there_is() -> None:
    wanted = {
        getattr(case, name) for case in engines.cases() for name in ("what", "peer", "ours") if hasattr(case, name)
    }
    assert wanted <= set(engine_runs.RUNS)


def test_an_engine_that_adds_up_otherwise_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"local": {"digest": "a"}, "dask": {"digest": "b"}}
    about = {"seconds": 2.0, "start": 1.0, "peak": 10**8, "bytes": 1000}
    monkeypatch.setattr(engines, "run", lambda what, *_: about | found[what])
    result = engines.Engine("Dask", "dask", engines.Bar(ratio=0.5)).measure(1000, 1)
    assert result.agrees is False
    assert result.met is False
