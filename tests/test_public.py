"""The public surface: sorted, complete, and light to import."""

from __future__ import annotations

import subprocess
import sys

import ingenuo

HEAVY = ("numpy", "scipy", "sklearn", "numba", "pyarrow", "narwhals", "rich")


def _loaded_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sorted(m for m in sys.modules if '.' not in m), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_public_names_are_sorted_and_exist() -> None:
    assert ingenuo.__all__ == sorted(ingenuo.__all__)
    assert [name for name in ingenuo.__all__ if not hasattr(ingenuo, name)] == []
    assert dir(ingenuo) == ingenuo.__all__


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(ingenuo, "NaiveBaise")


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert _loaded_after("import ingenuo").isdisjoint(HEAVY)


def test_asking_for_help_imports_nothing_heavy() -> None:
    code = "from ingenuo.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    assert _loaded_after(code).isdisjoint(HEAVY)
