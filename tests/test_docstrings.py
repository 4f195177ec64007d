"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import ingenuo

MODULES = [m.name for m in pkgutil.walk_packages(ingenuo.__path__, "ingenuo.") if m.name != "ingenuo._kernels"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_module_are_true(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


def test_there_are_many_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name))]
    assert sum(len(test.examples) for test in found) > 500
