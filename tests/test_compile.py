"""The compile script: what is said where there is no compiler, or one that does not work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "cpp" / "compile.py"


def compiled(output, **settings):
    """The script, run with these settings."""
    call = [sys.executable, "-S", str(SCRIPT), "-o", str(output)]  # without site-packages, and so without zig
    return subprocess.run(call, env={**os.environ, **settings}, capture_output=True, text=True)


def test_without_a_compiler_the_remedy_is_said_and_nothing_is_written(tmp_path):
    done = compiled(tmp_path / "kernels.so", PATH=str(tmp_path), CXX="")
    assert done.returncode == 1
    assert "there is no C++ compiler that works; install one (Debian: apt install g++" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_compiler_that_does_not_work_is_named(tmp_path):
    done = compiled(tmp_path / "kernels.so", CXX="no-such-compiler")
    assert done.returncode == 1
    assert "CXX=no-such-compiler does not compile a small program" in done.stderr


def test_a_failed_compilation_leaves_the_old_library(tmp_path):
    for source in SCRIPT.parent.iterdir():
        if source.is_file():
            shutil.copy(source, tmp_path)
    (tmp_path / "math.hpp").write_text("this is no C++")
    library = tmp_path / "kernels.so"
    library.write_text("old")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "compile.py"), "-o", str(library)], capture_output=True, text=True
    )
    if "no C++ compiler" in done.stderr:
        pytest.skip("there is no C++ compiler on this machine")
    assert done.returncode == 1
    assert "failed" in done.stderr
    assert library.read_text() == "old"
