"""The size and the order of the source tree: what may only become smaller, and which modules import each other."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "ingenuo"

# The folders and modules of the package.
TOP = {
    "__init__.py",
    "__main__.py",
    "cli",
    "datasets",
    "errors.py",
    "evaluation",
    "explanation",
    "families",
    "kernels",
    "language",
    "mlflow.py",
    "models",
    "networks",
    "page",
    "report",
    "rows",
    "serve",
    "sheet",
    "show",
    "store.py",
    "tally",
    "text",
}

# Python files and lines of each folder ("." is the top itself). These are upper limits: they only go down.
LIMITS: dict[str, tuple[int, int]] = {
    ".": (5, 638),
    "cli": (23, 4314),
    "datasets": (1, 49),
    "evaluation": (17, 6328),
    "explanation": (5, 1765),
    "families": (14, 6886),
    "kernels": (10, 3420),
    "language": (1, 132),
    "models": (33, 14142),
    "networks": (17, 5855),
    "page": (6, 914),
    "report": (3, 1006),
    "rows": (22, 7250),
    "serve": (18, 4520),
    "sheet": (23, 6451),
    "show": (7, 2304),
    "tally": (10, 2732),
    "text": (5, 1244),
}

# Lines of the longest file, files in all, and layers of imports; they only go down too.
LONGEST, FILES, LAYERS = 753, 220, 15

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


@pytest.mark.parametrize("folder", [".", *folders()])
def test_folders_only_become_smaller(folder: str) -> None:
    files = python_files(folder)
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    most_files, most_lines = LIMITS[folder]
    assert len(files) <= most_files, f"{folder}: {len(files)} files, and {most_files} at most"
    assert lines <= most_lines, f"{folder}: {lines} lines, and {most_lines} at most"


def test_no_file_is_too_long_to_read() -> None:
    lines = {module_name(p): len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCE.rglob("*.py")}
    assert not {name: n for name, n in lines.items() if n > LONGEST}


def test_there_are_few_files_and_layers() -> None:
    assert len(list(SOURCE.rglob("*.py"))) <= FILES
    contract = (SOURCE.parents[1] / ".importlinter").read_text(encoding="utf-8").partition("layers =\n")[2]
    assert len(contract.partition("ignore_imports")[0].split("\n")) - 1 <= LAYERS


def test_modules_do_not_import_each_other() -> None:
    found = cycles(graph())
    new = [sorted(cycle) for cycle in found if not any(cycle <= known for known in CYCLES)]
    assert not new, f"modules that import each other: {new}"


def test_cycles_are_found() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}
    assert cycles(edges) == [{"b", "c"}]


# Words that a user of the field would have to read twice, in code, messages and docs.
BANNED = re.compile(
    r"(?i)\b(anew|rightly|whence|thereof|holes|believable|weighed|told|glance|answered right|spoken of|speaks of)\b"
)


@pytest.mark.parametrize("folder", ["src/ingenuo", "docs", "README.md"])
def test_the_words_are_those_of_the_field(folder: str) -> None:
    root = SOURCE.parents[1] / folder
    files = [root] if root.is_file() else [*root.rglob("*.py"), *root.rglob("*.md")]
    found = [
        f"{path.name}:{number}: {match.group()}"
        for path in files
        if path.name not in ("words.py", "errata.md", "harms.md", "languages.md")  # lists and quotations
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (match := BANNED.search(line))
    ]
    assert not found, "\n".join(found)


# The caller never asks what it holds: nothing above families/ looks at the class of a family, its parameters, a curve.


def family_checks(path: Path, classes: set[str]) -> int:
    """How often a module calls `isinstance` with a class of families/."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"]
    asked = [
        {each.id if isinstance(each, ast.Name) else each.attr for each in ast.walk(call.args[1])
         if isinstance(each, ast.Name | ast.Attribute)}
        for call in calls
    ]  # fmt: skip
    return sum(bool(names & (classes - own)) for names in asked)


def test_no_module_above_the_families_asks_which_one_it_holds() -> None:
    modules = [ast.parse(path.read_text(encoding="utf-8")) for path in (SOURCE / "families").rglob("*.py")]
    classes = {node.name for module in modules for node in module.body if isinstance(node, ast.ClassDef)}
    paths = [p for folder in ("models", "explanation", "evaluation", "report", "cli") for p in python_files(folder)]
    found = {path.relative_to(SOURCE).as_posix(): family_checks(path, classes) for path in paths}
    assert not {name: n for name, n in found.items() if n}


# The files, kernels apart, whose functions are entered on the way of one call; upper limits that only go down.
JOURNEYS = {"fit": 18, "predict": 18, "explain": 15, "forget": 18, "cross_validate": 34, "train": 36, "vote": 62}

JOURNEY = """
import os, sys, threading, warnings
import numpy as np, pandas as pd, ingenuo as ing
from ingenuo.cli import main

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
frame = pd.DataFrame({"a": rng.normal(size=120), "c": rng.choice(list("xyz"), 120), "y": rng.choice(["p", "q"], 120)})
path = sys.argv[1]
frame.to_csv(path, index=False)


def journey(name, call):
    files = set()

    def note(frame, event, _):
        code = frame.f_code
        aside = not code.co_flags & 1 or code.co_qualname.startswith("__")  # not a function; a name looked up
        if event == "call" and not aside and "/ingenuo/" in code.co_filename:
            files.add(code.co_filename.rpartition("/ingenuo/")[2])

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    print(name, *sorted(file for file in files if not file.startswith("kernels/")), file=sys.stderr)


model = ing.NaiveBayes()
journey("fit", lambda: model.fit(frame, "y"))
journey("predict", lambda: model.predict(frame))
journey("explain", lambda: model.explain(frame[:1]))
journey("forget", lambda: model.forget(frame[:5], "y"))
tuned = ing.NaiveBayes(tune=True, calibration="auto")
journey("cross_validate", lambda: ing.cross_validate(tuned, frame, "y", folds=3))
train = ["train", path, "--target", "y", "-o", path + ".model", "--quiet"]
journey("train", lambda: main([*train, "--model", "naive-bayes"]))
journey("vote", lambda: main(train))
"""


def test_journeys_only_become_shorter(tmp_path: Path) -> None:
    call = [sys.executable, "-c", JOURNEY, str(tmp_path / "rows.csv")]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    found = {line.split()[0]: line.split()[1:] for line in done.stderr.splitlines() if line.split()[0] in JOURNEYS}
    assert found.keys() == JOURNEYS.keys(), done.stderr
    assert not {name: files for name, files in found.items() if len(files) > JOURNEYS[name]}
