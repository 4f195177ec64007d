"""`ingenuo info`: what is installed, and on what, for a bug report; it sends nothing, and imports little.

Versions are read from what pip wrote down, so that a package that cannot be imported has one too. What cannot be found
out, as the kernels where the library is missing, is said in its place.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from importlib import metadata
from typing import Any

from ingenuo import __version__
from ingenuo.cli import options
from ingenuo.cli.options import option

#: What each extra is for; those that are not here are for the development of the package.
EXTRAS = {
    "dask": "learn on a Dask cluster",
    "duckdb": "read and write DuckDB",
    "excel": "read and write Excel files",
    "mlflow": "export for MLflow",
    "onnx": "export to ONNX",
    "postgresql": "read and write PostgreSQL",
    "serve": "a faster server",
    "spark": "learn on Spark (which needs Java 17 or later)",
}
SETTINGS = ("INGENUO_THREADS", "INGENUO_VARIANT", "INGENUO_KERNELS", "NO_COLOR")  # none of them a secret
_NAME = re.compile(r"[\w.-]+")


@options.command("info", option("--json", "Print JSON.", "as_json"))
def info(as_json: bool) -> None:
    """Show the versions, the threads, the processor and the extras that are there: what a bug report needs.

    It reads no data and no model, and sends nothing anywhere.

    \b
    ingenuo info
    ingenuo info --json
    """
    found = describe_installation()
    if as_json:
        options.out(json.dumps(found, indent=2, ensure_ascii=False))
        return
    lines = [("ingenuo", found["ingenuo"]), ("Python", found["python"]), ("system", found["system"])]
    lines += [("processor", found["processor"]), ("threads", _threads(found["threads"]))]
    lines += [("kernels", _kernels(found["kernels"])), ("output", found["output"])]
    lines += [("settings", " ".join(f"{k}={v}" for k, v in found["settings"].items()) or "none")]
    lines += [("", ""), *((name, version or "missing") for name, version in found["packages"].items()), ("", "")]
    for name, extra in found["extras"].items():
        versions = ", ".join(f"{each} {version}" for each, version in extra["packages"].items() if version)
        lacking = ", ".join(each for each, version in extra["packages"].items() if not version)
        state = f"not there, lacks {lacking}" if lacking else versions
        lines.append((f"[{name}]", f"{extra['for']}: {state}"))
    width = max(len(name) for name, _ in lines) + 2
    options.out("\n".join(f"{name:{width}}{value}".rstrip() for name, value in lines))


def describe_installation() -> dict[str, Any]:
    """All of it as plain data."""
    try:
        distribution = metadata.distribution("ingenuo")
        needed, extras = distribution.requires or [], distribution.metadata.get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:  # the sources are on the path, and were never installed
        needed, extras = [], []
    return {
        "ingenuo": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": platform.platform(),
        "processor": _processor(),
        "threads": _count_threads(),
        "kernels": _find_kernels(),
        "output": f"{sys.stdout.encoding}{', a terminal' if sys.stdout.isatty() else ''}",
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
        "packages": _versions(needed, None),
        "extras": {
            name: {"for": EXTRAS[name], "packages": _versions(needed, name)}
            for name in sorted(extras)
            if name in EXTRAS
        },
    }


def _versions(needed: list[str], extra: str | None) -> dict[str, str | None]:
    """The packages that are needed, or that an extra needs besides, with their versions; None of what is missing."""
    found: dict[str, str | None] = {}
    for line in needed:
        requirement, _, marker = line.partition(";")
        of = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", marker)
        name = _NAME.match(requirement)
        if (of[1] if of else None) == extra and name is not None:
            try:
                found[name[0]] = metadata.version(name[0])
            except metadata.PackageNotFoundError:
                found[name[0]] = None
    return dict(sorted(found.items()))


def _processor() -> str:
    """What the processor calls itself."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            named = re.search(r"^model name\s*:\s*(.+)$", file.read(), re.MULTILINE)
    except OSError:
        named = None
    name = named[1] if named else platform.processor()
    return f"{platform.machine()}, {name}" if name and name != platform.machine() else platform.machine()


def _count_threads() -> dict[str, Any]:
    found: dict[str, Any] = {"processors": os.cpu_count()}
    try:
        from ingenuo.kernels.threads import width

        found["used"] = width()
    except Exception as error:
        found["error"] = _said(error)
    return found


def _threads(found: dict[str, Any]) -> str:
    return f"{found.get('used', found.get('error'))} (of {found['processors']} processors)"


def _find_kernels() -> dict[str, Any]:
    """The compiled library: which of its variants this processor can run, and which is used."""
    try:
        from ingenuo.kernels import NAME, call

        return {"library": NAME, "used": next(iter(call.variants)), "available": list(call.available)}
    except Exception as error:
        return {"error": _said(error)}


def _kernels(found: dict[str, Any]) -> str:
    if "error" in found:
        return f"cannot be used: {found['error']}"
    others = [name for name in found["available"] if name != found["used"]]
    also = f" (also {', '.join(others)})" if others else ""
    return f"{found['used']}{also}, {found['library']}"


def _said(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
