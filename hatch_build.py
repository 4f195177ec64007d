"""The build hook: compiles `cpp/` into the wheel, or beside the modules of an editable install."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent / "cpp"))
import compile as kernels


class KernelsHook(BuildHookInterface):  # type: ignore[type-arg]
    """One library for every Python; the wheel is tagged for the platform alone."""

    def dependencies(self) -> list[str]:
        """Nothing where the machine has a compiler, else zig's."""
        return [] if kernels.own_compiler() else [kernels.ZIG]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile."""
        self._folder = tempfile.mkdtemp()
        if version == "editable":
            kernels.library(Path(self.root, "src", "ingenuo", kernels.NAME))
        else:
            library = Path(self._folder, kernels.NAME)
            kernels.library(library)
            build_data["force_include"][str(library)] = f"ingenuo/{kernels.NAME}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{kernels.wheel_platform()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Clear up."""
        shutil.rmtree(self._folder, ignore_errors=True)
