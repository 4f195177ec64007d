"""Builds a wheel as pip does, from a folder of sources."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ingenuo import kernels

LIBRARY = Path(kernels.__file__).parents[1] / kernels.NAME  # of this installation, which may be of these sources or not


def build_wheel(source: Path, folder: Path) -> Path:
    """The wheel; the library, which takes half a minute to compile, is that of this installation."""
    code = (
        "import shutil, sys\n"
        f"sys.path[:0] = [{str(source / 'cpp')!r}]\n"
        "import compile as kernels\n"
        f"kernels.library = lambda output, *_, **__: shutil.copy({str(LIBRARY)!r}, output)\n"
        "from hatchling.builders.wheel import WheelBuilder\n"
        f"print(next(WheelBuilder({str(source)!r}).build(directory={str(folder)!r}, versions=['standard'])))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.splitlines()[-1])
