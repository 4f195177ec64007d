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


PUBLIC = [name for name in ingenuo.__all__ if callable(getattr(ingenuo, name))]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example(name: str) -> None:
    found = doctest.DocTestFinder(recurse=False).find(getattr(ingenuo, name))
    assert any(test.examples for test in found)
