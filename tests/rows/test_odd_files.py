"""What is no ordinary file: pipes, devices, links that lead nowhere, full disks, and commands that are ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.errors import FileError, InputError, MissingFileError
from ingenuo.tally.container import replace_file

ROWS = pd.DataFrame({"x": [i % 7 for i in range(40_000)], "town": ["Bari", "Pisa"] * 20_000, "y": ["a", "b"] * 20_000})
COMMAND = [sys.executable, "-c", "from ingenuo.cli import main; main()"]


def _feed(pipe: Path, data: bytes) -> threading.Thread:
    """Write into a pipe, as another process does."""
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(data))
    writer.start()
    return writer


@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_as_a_stream(packed: bool, tmp_path: Path) -> None:
    import gzip

    data = ROWS.to_csv(index=False).encode()
    writer = _feed(tmp_path / "pipe", gzip.compress(data) if packed else data)
    model = ing.NaiveBayes().fit(ing.scan(tmp_path / "pipe"), "y")
    writer.join()
    assert model.tally_ == ing.NaiveBayes().fit(ROWS, "y").tally_


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    writer = _feed(tmp_path / "pipe", ROWS.to_csv(index=False).encode())
    rows = ing.scan(tmp_path / "pipe")
    rows.table()
    writer.join()
    with pytest.raises(FileError, match="pipe can be read only once"):
        rows.table()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_a_device_is_refused_by_name(device: str) -> None:
    with pytest.raises(FileError, match=f"{device} is a device"):
        ing.scan(device)


def test_links_that_lead_nowhere_say_so(tmp_path: Path) -> None:
    (tmp_path / "one.csv").symlink_to(tmp_path / "two.csv")
    with pytest.raises(MissingFileError, match=r"one\.csv is a link to .*two.csv', which is not there"):
        ing.scan(tmp_path / "one.csv")
    (tmp_path / "two.csv").symlink_to(tmp_path / "one.csv")
    with pytest.raises(MissingFileError, match=r"one\.csv is a link that leads back to itself"):
        ing.scan(tmp_path / "one.csv")


def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    old = tmp_path / "model"
    old.write_text("as it was")
    # A limit on the size of files refuses a write as a full disk does; it is lowered for this test alone.
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
    try:
        with pytest.raises(OSError, match=r"File too large; nothing was saved .*: '.*model'"):
            replace_file(str(old), [b"0" * (1 << 20)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert os.listdir(tmp_path) == ["model"]
    assert old.read_text() == "as it was"


def test_a_full_standard_output_is_named(tmp_path: Path) -> None:
    ROWS[:50].to_csv(tmp_path / "rows.csv", index=False)
    ing.save(ing.NaiveBayes().fit(ROWS, "y"), tmp_path / "m.ingenuo")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "predict", "m.ingenuo", "rows.csv"], stdout=full, stderr=subprocess.PIPE, cwd=tmp_path
        )
    assert b"Error: standard output: No space left on device" in done.stderr
    assert done.returncode != 0


def test_a_command_that_is_ended_leaves_nothing_half_written(tmp_path: Path) -> None:
    ing.save(ing.NaiveBayes().fit(ROWS, "y"), tmp_path / "m.ingenuo")
    (tmp_path / "out.csv").write_text("as it was")
    os.mkfifo(tmp_path / "pipe")
    command = subprocess.Popen(
        [*COMMAND, "predict", "m.ingenuo", "pipe", "-o", "out.csv"], cwd=tmp_path, stderr=subprocess.PIPE
    )
    with open(tmp_path / "pipe", "wb") as pipe:  # which stays open: the command waits for more
        pipe.write((ROWS.to_csv(index=False) + ROWS.to_csv(index=False, header=False) * 20).encode())
        pipe.flush()
        end = time.monotonic() + 60
        while not any(name.endswith(".tmp") for name in os.listdir(tmp_path)) and time.monotonic() < end:
            time.sleep(0.05)
        assert any(name.endswith(".tmp") for name in os.listdir(tmp_path))
        command.terminate()
        assert b"interrupted; nothing was written" in command.communicate(timeout=60)[1]
    assert command.returncode == 143
    assert set(os.listdir(tmp_path)) == {"m.ingenuo", "out.csv", "pipe"}
    assert (tmp_path / "out.csv").read_text() == "as it was"


def test_two_pipes_are_not_one_table(tmp_path: Path) -> None:
    for name in ("one", "two"):
        os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match="one was given with other files"):
        ing.scan([tmp_path / "one", tmp_path / "two"])
