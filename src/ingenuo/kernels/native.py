"""The compiled library: it is loaded here, and its functions are declared with the types of their arguments.

A kernel's module declares what it calls and calls it:

    _elementary = native.function("elementary", INT, F64, F64, INT)  # int64_t, const double*, double*, int64_t
    _elementary(0, x, out, x.size)

An array is passed as its address, after a look at its type and layout: the library checks nothing. A call releases the
GIL; threads are the business of `threads`. The library holds every function once for each instruction set; the best one
that the machine has is taken, or the one that the environment's INGENUO_VARIANT names. All give the same bits.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import KernelError

NAME = {"win32": "_kernels.dll", "darwin": "_kernels.dylib"}.get(sys.platform, "_kernels.so")

#: The codes by which the library knows the types of arrays.
TYPES = {np.dtype(name): code for code, name in enumerate(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])}

INT, REAL, POINTER = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p


def array_type(*dtypes: Any) -> Any:
    """The type of an argument that is a C-ordered array of one of these types (of any, where none is named)."""
    allowed = frozenset(map(np.dtype, dtypes))

    class Array:
        @staticmethod
        def from_param(array: NDArray[Any]) -> ctypes.c_void_p:
            if (allowed and array.dtype not in allowed) or not array.flags.c_contiguous:
                raise TypeError(f"a kernel was given an array of {array.dtype}, strides {array.strides}")
            return ctypes.c_void_p(array.ctypes.data)

    return Array


ANY = array_type()
F64, I64, I32, U64, U32, U8 = (array_type(name) for name in ("f8", "i8", "i4", "u8", "u4", "u1"))
BYTES = array_type("u1", "i1", "?")


def _load() -> ctypes.CDLL:
    """The library beside the package, or the one that INGENUO_KERNELS names."""
    path = Path(os.environ.get("INGENUO_KERNELS") or Path(__file__).parents[1] / NAME)
    remedy = "install the package again (pip install --force-reinstall ingenuo; in a checkout: pip install -e .)"
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        fault = error if path.exists() else f"{path} is not there"
        raise KernelError(f"the compiled kernels of ingenuo cannot be loaded: {fault}; {remedy}") from None
    library.ingenuo_sources.restype = ctypes.c_char_p
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
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("ingenuo_compile", compiler)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.sources_hash())


def _variants(library: ctypes.CDLL) -> tuple[str, ...]:
    """The instruction sets to look for a function in, the best first."""
    available = ("avx2", "base") if library.ingenuo_has_avx2() else ("base",)
    asked = os.environ.get("INGENUO_VARIANT")
    if not asked:
        return available
    if asked not in available:
        raise KernelError(f"INGENUO_VARIANT is {asked!r}; this machine has {' and '.join(available)}")
    return (asked, "base")


_library = _load()
VARIANTS = _variants(_library)


def function(name: str, *arguments: Any, returns: Any = None) -> Callable[..., Any]:
    """A function of the library, by the types of its arguments and of what it returns."""
    for variant in VARIANTS:
        try:
            found = _library[f"{variant}_{name}"]
        except AttributeError:
            continue
        found.argtypes, found.restype = arguments, returns
        return found
    raise KernelError(f"the compiled kernels have no function {name!r}; install the package again")
