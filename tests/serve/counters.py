"""Reads what a server counts, as strictly as Prometheus does."""

from __future__ import annotations

import re
from typing import Any

_LINE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\n"])*",?)*)\})? (\S+)')


def counters(answer: Any) -> dict[tuple[str, str], float]:
    """The values by name and labels; every metric stands once, in one piece, under its type."""
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.text.endswith("\n")
    found: dict[tuple[str, str], float] = {}
    types: dict[str, str] = {}
    last = ""
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            _, _, last, kind = line.split(" ")
            assert last not in types, f"{last} stands twice"
            types[last] = kind
        elif not line.startswith("# HELP "):
            match = _LINE.fullmatch(line)
            assert match is not None, line
            name, labels, value = match.groups()
            suffix = name.removeprefix(last)
            assert name.startswith(last), f"{name} stands under {last}"
            assert suffix in (("_bucket", "_sum", "_count") if types[last] == "histogram" else ("",))
            assert types[last] != "counter" or name.endswith("_total")
            assert (name, labels or "") not in found, line
            found[name, labels or ""] = float(value)
    return found
