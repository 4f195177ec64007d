"""Compile the kernels into one shared library, with the machine's compiler or, where there is none, with zig's.

    python cpp/compile.py                       # for a checkout: src/ingenuo/_kernels.so
    python cpp/compile.py --sanitize -o F       # with AddressSanitizer and UBSan
    python cpp/compile.py --zig x86_64-windows-gnu -o _kernels.dll      # for another system

The build hook calls :func:`library`. Sums are exact only where the compiler neither fuses nor reorders, so there is no
fast-math; and no C++ run-time library, which zig would first have to compile, for minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
NAME = {"win32": "_kernels.dll", "darwin": "_kernels.dylib"}.get(sys.platform, "_kernels.so")
#: What pip installs for the build where the machine has no compiler.
ZIG = "ziglang>=0.15,<0.18"
FLAGS = [
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-Wno-psabi",
]
AVX2 = ["-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mpopcnt", "-mlzcnt"]
# The oldest macOS that the library runs on, by the machine; a build may name another.
MACOS = {"arm64": "11.0", "x86_64": "10.13"}
SANITIZE = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"]
TRIAL = """#include <math.h>
#include <stdlib.h>
extern "C" double f(double x) { return frexp(x, (int*)malloc(4)); }
"""


class CompilerError(RuntimeError):
    """No compiler made the library."""


def sources_hash(folder: Path = HERE) -> str:
    """A hash of the sources, by which a library that is older than they are is noticed."""
    digest = hashlib.sha256()
    for path in sorted([*folder.glob("*.cpp"), *folder.glob("*.hpp"), *folder.glob("compile.py")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def signatures(folder: Path = HERE) -> str:
    """The declarations of the exported functions, one a line, as a C string: Python calls them by these."""
    pattern = re.compile(r"^API\(([\w*]+), (\w+)\)\s*\(((?:[^()]|\([^()]*\))*)\) \{", re.MULTILINE)
    found = [match.groups() for path in sorted(folder.glob("*.hpp")) for match in pattern.finditer(path.read_text())]
    return "\n".join(f'"{kind} {name}({" ".join(arguments.split())})\\n"' for kind, name, arguments in found)


@cache
def own_compiler() -> tuple[str, ...] | None:
    """The machine's compiler, if it makes a library: c++ may be there without headers, or only say what to install.

    On Windows there is none but the one that CXX names: gcc does not align the stack there as AVX2 needs it, and what
    it makes wants libraries of its own.
    """
    given = os.environ.get("CXX")
    if not given and sys.platform == "win32":
        return None
    for command in [shlex.split(given)] if given else [["c++"], ["g++"], ["clang++"]]:
        with tempfile.TemporaryDirectory() as folder:
            trial = Path(folder, "trial.cpp")
            trial.write_text(TRIAL)
            call = [*command, *FLAGS, "-shared", str(trial), "-o", str(Path(folder, NAME))]
            try:
                done = subprocess.run(call, capture_output=True, text=True, errors="replace")
            except OSError as error:
                done = subprocess.CompletedProcess(call, 1, "", str(error))
            if done.returncode == 0:
                return tuple(command)
            if given:
                raise CompilerError(
                    f"CXX={given} does not compile a small program; unset it, or mend it:\n{done.stderr}"
                )
    return None


def zig_compiler(target: str | None = None) -> tuple[str, ...]:
    """The compiler of the PyPI package `ziglang`."""
    try:
        import ziglang
    except ImportError:
        raise CompilerError(
            "there is no C++ compiler that works; install one (Debian: apt install g++; macOS: xcode-select --install) "
            f"or zig's: pip install '{ZIG}'"
        ) from None
    program = Path(ziglang.__file__).with_name("zig.exe" if os.name == "nt" else "zig")
    # Without -mcpu it would compile for this very processor.
    return str(program), "c++", "-target", target or zig_target(), *["-mcpu=baseline", "-fno-sanitize=undefined"]


def macos_version() -> str:
    """The oldest macOS that the library is to run on."""
    return os.environ.get("MACOSX_DEPLOYMENT_TARGET") or MACOS.get(platform.machine(), "11.0")


def wheel_platform() -> str:
    """The platform that a wheel is tagged for: that of this very machine, whatever Python itself was built for."""
    if sys.platform == "darwin":
        return f"macosx_{macos_version().replace('.', '_')}_{platform.machine()}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def zig_target() -> str:
    """What zig calls this machine; of glibc an old version, so that the library runs on others too."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    libc = "gnu.2.17" if platform.libc_ver()[0] == "glibc" else "musl"
    systems = {"darwin": f"macos.{macos_version()}", "win32": "windows-gnu"}
    return f"{machine}-{systems.get(sys.platform, f'linux-{libc}')}"


def library(output: Path, compiler: Sequence[str] = (), *, sanitize: bool = False) -> None:
    """Compile the library to this file; a library that is there already stays until the new one is whole."""
    compiler = tuple(compiler) or own_compiler() or zig_compiler()
    zig = "-target" in compiler
    target = compiler[compiler.index("-target") + 1] if zig else f"{platform.machine().lower()}-{sys.platform}"
    x86 = target.startswith(("x86_64", "amd64"))
    oldest = [f"-mmacosx-version-min={macos_version()}"] if sys.platform == "darwin" and not zig else []
    flags = [*FLAGS, *oldest, *(SANITIZE if sanitize else ()), f'-DSOURCES="{sources_hash()}"']
    variants = [("base", ["-DFIRST", *(() if x86 else ("-DONLY",))]), *([("avx2", AVX2)] if x86 else ())]
    with tempfile.TemporaryDirectory() as folder:
        caches = {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder} if zig else {}

        Path(folder, "signatures.h").write_text(signatures())

        def run(*call: str) -> None:
            done = subprocess.run(
                [*compiler, *call], env=os.environ | caches, capture_output=True, text=True, errors="replace"
            )
            if done.returncode:
                raise CompilerError(f"{shlex.join([*compiler, *call])} failed:\n{done.stderr}")

        def compiled(name: str, more: Sequence[str]) -> str:
            made = str(Path(folder, f"{name}.o"))
            run(*flags, *more, f"-DVARIANT={name}", f"-I{folder}", "-c", str(HERE / "kernels.cpp"), "-o", made)
            return made

        with ThreadPoolExecutor() as pool:
            objects = list(pool.map(lambda each: compiled(*each), variants))
        link = ["-shared", *oldest, *(("-nostdlib++", "-s") if zig else ()), *(SANITIZE if sanitize else ())]
        if "linux" in target and not zig:
            link += ["-Wl,--as-needed", *(() if sanitize else ("-s",))]
        made = Path(folder, NAME)
        run(*link, *objects, "-o", str(made), *(("-lm",) if "linux" in target else ()))
        aside = output.with_name(output.name + ".new")
        aside.write_bytes(made.read_bytes())
        aside.replace(output)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=HERE.parent / "src" / "ingenuo" / NAME)
    parser.add_argument("--sanitize", action="store_true", help="with AddressSanitizer and UBSan")
    parser.add_argument(
        "--zig", metavar="TARGET", nargs="?", const=zig_target(), help="by zig's compiler, for a target"
    )
    options = parser.parse_args()
    library(options.output, zig_compiler(options.zig) if options.zig else (), sanitize=options.sanitize)


if __name__ == "__main__":
    try:
        main()
    except CompilerError as error:
        sys.exit(f"error: {error}")
