"""The border of the compiled loops in cpp/: the library is loaded, and called by the signatures that it declares.

`call.name(...)` takes numbers and arrays: what is `const T*` in C++ is converted where it must be, what is `T*` is
written to and must be a C-ordered array of T, and None is the null pointer. A call releases the GIL. There is each
function once for each instruction set: the best one is taken, or the one that the environment's INGENUO_VARIANT names.
All give the same bits.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ingenuo.errors import InputError, KernelError

NAME = {"win32": "_kernels.dll", "darwin": "_kernels.dylib"}.get(sys.platform, "_kernels.so")

#: The codes by which the library knows the types of arrays.
TYPES = {np.dtype(name): code for code, name in enumerate(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])}
_NAMES = {
    "float": "f4",
    "double": "f8",
    **{f"{kind}{8 * size}": f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)},
}


def check_shape(shape: tuple[int, ...], *arrays: Any) -> None:
    """Refuse arrays (but None) of another shape: a loop would read, or write, beyond their ends."""
    for each in arrays:
        if each is not None and each.shape != shape:
            raise InputError(f"an array is of shape {each.shape}; it must be of shape {shape}, to fit the others")


def check_codes(n: int, codes: Any, least: int = -1) -> None:
    """Refuse codes that are not in least..n - 1: they are places in an array."""
    if codes.size and (codes.max() >= n or codes.min() < least):
        raise InputError(f"codes go from {codes.min()} to {codes.max()}; they must be in {least}..{n - 1}")


class Record(ctypes.Structure):
    """A structure of C++: pointers to arrays, which it keeps, and whole numbers."""

    def __init__(self, *values: Any) -> None:
        self.kept = values
        super().__init__(*(_address(each) if isinstance(each, np.ndarray) else each for each in values))


def record(pointers: str, numbers: str = "") -> type[Record]:
    """A type of structures by the names of its pointers and of its numbers behind them."""
    types = {ctypes.c_void_p: pointers, ctypes.c_int64: numbers}
    fields = [(name, kind) for kind, names in types.items() for name in names.split()]
    return type("_Record", (Record,), {"_fields_": fields})


def _address(array: Any) -> int | None:
    """Where an array begins; the null pointer if it is empty."""
    return int(array.ctypes.data) if array.size else None


@cache
def _argument(declared: str) -> Any:
    """How ctypes passes what is declared so."""
    if "*" not in declared:
        return ctypes.c_double if declared.startswith("double") else ctypes.c_int64
    constant, name = declared.startswith("const "), declared.removeprefix("const ").split("*")[0].strip()
    dtype = np.dtype(_NAMES[name]) if name in _NAMES else None

    class Pointer:
        @staticmethod
        def from_param(value: Any) -> Any:
            if isinstance(value, Record):
                return ctypes.byref(value)
            if not isinstance(value, np.ndarray):
                return None if value is None else ctypes.c_void_p(value)
            if value.dtype == np.bool_:
                value = value.view(np.uint8)
            same = dtype is None or value.dtype == dtype or (value.itemsize == 1 and dtype.itemsize == 1)
            if not (same and value.flags.c_contiguous and value.flags.aligned):
                if not constant or dtype is None:
                    raise TypeError(f"{declared}: a kernel was given {value.dtype}, strides {value.strides}")
                value = np.require(value, dtype, ["C", "A"])
            return value.ctypes

    return Pointer


def _load() -> ctypes.CDLL:
    """The library beside the package, or the one that INGENUO_KERNELS names."""
    path = Path(os.environ.get("INGENUO_KERNELS") or Path(__file__).parents[1] / NAME)
    remedy = "install the package again (pip install --force-reinstall ingenuo; in a checkout: pip install -e .)"
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        fault = error if path.exists() else f"{path} is not there"
        raise KernelError(f"the compiled kernels of ingenuo cannot be loaded: {fault}; {remedy}") from None
    library.ingenuo_sources.restype = library.ingenuo_signatures.restype = ctypes.c_char_p
    compiler = Path(__file__).parents[3] / "cpp" / "compile.py"
    if compiler.exists() and not os.environ.get("INGENUO_KERNELS"):
        found = library.ingenuo_sources().decode()
        if found != _sources_hash(compiler):
            raise KernelError(
                f"the compiled kernels ({path}) are older than their sources in {compiler.parent}; compile them again: "
                "pip install -e . (or: python cpp/compile.py)"
            )
    return library


def _sources_hash(compiler: Path) -> str:
    """The hash of the sources of a checkout, as its compile script makes it."""
    import runpy

    return str(runpy.run_path(str(compiler))["sources_hash"]())


class _Functions:
    """The functions of the library by name."""

    def __init__(self) -> None:
        self._library = _load()
        self.available = ("avx2", "base") if self._library.ingenuo_has_avx2() else ("base",)
        wanted = os.environ.get("INGENUO_VARIANT") or self.available[0]
        if wanted not in self.available:
            raise KernelError(f"INGENUO_VARIANT is {wanted!r}; this machine has {' and '.join(self.available)}")
        self.variants = dict.fromkeys((wanted, "base"))
        lines = self._library.ingenuo_signatures().decode().splitlines()
        self.declared = {name: line for line in lines for name in re.findall(r"(\w+)\(", line)[:1]}

    def __getattr__(self, name: str) -> Any:
        if name not in self.declared:
            raise AttributeError(name)
        returned, given = re.fullmatch(rf"(\S+) {name}\((.*)\)", self.declared[name]).groups()  # type: ignore[union-attr]
        function = next(f for v in self.variants if (f := getattr(self._library, f"{v}_{name}", None)) is not None)
        function.argtypes = [_argument(each) for each in given.split(", ")]
        results = {"void": None, "double": ctypes.c_double, "i64": ctypes.c_int64}
        function.restype = results.get(returned, ctypes.c_void_p)
        setattr(self, name, function)
        return function


call: Any = _Functions()
