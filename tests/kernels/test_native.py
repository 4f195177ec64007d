"""The compiled library: what is said where it cannot be loaded, and where an array is not what a kernel reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ingenuo import kernels as native

ROOT = Path(__file__).parents[2]


def loaded(**settings):
    """What a new process says when it loads the library with these settings."""
    code = "import ingenuo.kernels as n; print(*n.call.variants)"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **settings}, capture_output=True, text=True)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_a_library_that_is_not_there_is_one_sentence_with_the_remedy(tmp_path):
    message = loaded(INGENUO_KERNELS=str(tmp_path / "kernels.so"))
    assert message.startswith("ingenuo.errors.KernelError: the compiled kernels of ingenuo cannot be loaded")
    assert "kernels.so is not there; install the package again" in message


def test_a_file_that_is_no_library_is_one_sentence(tmp_path):
    path = tmp_path / "kernels.so"
    path.write_text("not a library")
    message = loaded(INGENUO_KERNELS=str(path))
    assert "cannot be loaded" in message
    assert "install the package again" in message


def test_every_variant_of_this_machine_can_be_chosen():
    for name in native.call.variants:
        assert loaded(INGENUO_VARIANT=name).split()[0] == name
    assert "INGENUO_VARIANT is 'sse9'; this machine has" in loaded(INGENUO_VARIANT="sse9")


def test_an_array_of_another_type_or_layout_is_refused_before_the_call():
    for wrong in (np.zeros(4, np.float32), np.zeros(8)[::2], np.zeros((2, 2), order="F").T[::-1]):
        with pytest.raises(Exception, match="a kernel was given"):
            native.call.elementary(0, np.zeros(4), wrong, 4)
        native.call.elementary(0, wrong, out := np.empty(4), 4)  # what is only read is converted
        assert out.tolist() == [1.0] * 4


def test_an_old_library_is_noticed(tmp_path):
    copy = tmp_path / "src" / "ingenuo"
    (copy / "kernels").mkdir(parents=True)
    (tmp_path / "cpp").mkdir()
    for name in ("__init__.py", "errors.py", "kernels/__init__.py", native.NAME):
        source = Path(native.__file__).parents[1] / name
        (copy / name).write_bytes(source.read_bytes())
    for source in (ROOT / "cpp").iterdir():
        if source.is_file():
            (tmp_path / "cpp" / source.name).write_bytes(source.read_bytes())
    settings = {"PYTHONPATH": str(tmp_path / "src"), "INGENUO_KERNELS": ""}
    assert loaded(**settings).split() == list(native.call.variants)
    with (tmp_path / "cpp" / "math.hpp").open("a") as file:
        file.write("// changed\n")
    assert "are older than their sources" in loaded(**settings)
    assert "python cpp/compile.py" in loaded(**settings)
