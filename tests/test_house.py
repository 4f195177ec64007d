"""The size and the order of the source tree: what may only become smaller, and which modules import each other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "ingenuo"

# The folders and modules of the package.
TOP = {
    "__init__.py",
    "cli",
    "datasets",
    "errors.py",
    "evaluation",
    "explanation",
    "families",
    "kernels",
    "models",
    "networks",
    "report",
    "rows",
    "show",
    "store.py",
    "tally",
    "text",
    "version.py",
}

# Python files and lines of each folder ("." is the top itself). These are upper limits: they only go down. The kernels
# are the border of C++ and not counted.
LIMITS: dict[str, tuple[int, int]] = {
    ".": (4, 375),
    "cli": (26, 3175),
    "datasets": (1, 62),
    "evaluation": (19, 6780),
    "explanation": (7, 2059),
    "families": (16, 5549),
    "models": (26, 11626),
    "networks": (19, 6241),
    "report": (4, 1786),
    "rows": (27, 6725),
    "show": (7, 1673),
    "tally": (10, 2490),
    "text": (4, 992),
}

# Lines of the longest file; it only goes down too.
LONGEST = 834

# Modules that import each other when they are imported. There should be none: nothing is ever added here.
CYCLES: list[set[str]] = []


def folders() -> list[str]:
    return sorted(p.name for p in SOURCE.iterdir() if p.is_dir() and (p / "__init__.py").exists())


def python_files(folder: str) -> list[Path]:
    return sorted(SOURCE.glob("*.py") if folder == "." else (SOURCE / folder).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that are run when a module is: none of functions, and none for the type checker alone."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from imports(statement.orelse)
        elif isinstance(statement, ast.If | ast.Try | ast.With | ast.ClassDef):
            for part in ("body", "handlers", "orelse", "finalbody"):
                for inner in getattr(statement, part, []):
                    yield from imports(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def graph() -> dict[str, set[str]]:
    """Each module with those that it imports."""
    paths = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}
    found: dict[str, set[str]] = {}
    for name, path in paths.items():
        found[name] = set()
        for statement in imports(ast.parse(path.read_text(encoding="utf-8")).body):
            if isinstance(statement, ast.Import):
                wanted = [alias.name for alias in statement.names]
            else:
                assert statement.level == 0, f"{name} imports by a relative name"
                whole = [f"{statement.module}.{alias.name}" for alias in statement.names]
                wanted = [each if each in paths else str(statement.module) for each in whole]
            found[name] |= {each for each in wanted if each in paths and each != name}
    return found


def cycles(edges: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules that reach each other."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        left = list(edges[start])
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                left += edges[name]
        return seen

    reach = {name: reached(name) for name in edges}
    found: list[set[str]] = []
    for name in sorted(edges):
        if name in reach[name] and not any(name in cycle for cycle in found):
            found.append({other for other in reach[name] if name in reach[other]})
    return found


def test_the_top_of_the_package_is_what_it_was() -> None:
    names = {p.name for p in SOURCE.iterdir() if (p.is_dir() and (p / "__init__.py").exists()) or p.suffix == ".py"}
    assert names == TOP


@pytest.mark.parametrize("folder", [".", *(name for name in folders() if name != "kernels")])
def test_folders_only_become_smaller(folder: str) -> None:
    files = python_files(folder)
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    most_files, most_lines = LIMITS[folder]
    assert len(files) <= most_files, f"{folder}: {len(files)} files, and {most_files} at most"
    assert lines <= most_lines, f"{folder}: {lines} lines, and {most_lines} at most"


def test_no_file_is_too_long_to_read() -> None:
    lines = {module_name(p): len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCE.rglob("*.py")}
    assert not {name: n for name, n in lines.items() if n > LONGEST}


def test_modules_do_not_import_each_other() -> None:
    found = cycles(graph())
    new = [sorted(cycle) for cycle in found if not any(cycle <= known for known in CYCLES)]
    assert not new, f"modules that import each other: {new}"


def test_cycles_are_found() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}
    assert cycles(edges) == [{"b", "c"}]


# Words that a user of the field would have to read twice, in code, messages and docs.
BANNED = re.compile(r"(?i)\b(anew|rightly|whence|thereof|holes and all|with holes|filled holes)\b")


@pytest.mark.parametrize("folder", ["src/ingenuo", "docs", "README.md"])
def test_the_words_are_those_of_the_field(folder: str) -> None:
    root = SOURCE.parents[1] / folder
    files = [root] if root.is_file() else [*root.rglob("*.py"), *root.rglob("*.md")]
    found = [
        f"{path.name}:{number}: {match.group()}"
        for path in files
        if path.name not in ("words.py", "errata.md")  # a list of stop words; quotations
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (match := BANNED.search(line))
    ]
    assert not found, "\n".join(found)
