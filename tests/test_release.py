"""A release: one version, an sdist that holds what builds it, a wheel that answers, workflows that parse.

The wheel is the library that is compiled here already, put into place by the project's own build hook: a compilation
would take minutes. The workflow `wheels` compiles, and tries the result.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from tests.wheels import LIBRARY, build_wheel

import ingenuo

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = [path for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) if path.stem != "config"]


def read(path: Path) -> dict:
    return yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)  # which takes "on" for a word


# One version.


def test_the_version_has_one_place() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/ingenuo/__init__.py"
    assert "version" not in PROJECT["project"]
    assert "version" not in read(ROOT / "CITATION.cff")


def test_the_changelog_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## (\S+) \((not yet released|\d{4}-\d\d-\d\d)\)$", text, re.MULTILINE)
    assert heading is not None
    assert heading[1] == ingenuo.__version__.removesuffix(".dev0")


# The archives.


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel, made from a copy of what the sdist holds."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the archives, is not installed")
    from hatchling.builders.sdist import SdistBuilder

    folder = tmp_path_factory.mktemp("archives")
    sdist = next(SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"]))
    with tarfile.open(sdist) as packed:
        packed.extractall(folder / "sources", filter="data")
    (source,) = (folder / "sources").iterdir()
    build_wheel(source, folder)
    return folder


def test_the_sdist_holds_what_builds_and_tests_it(archives: Path) -> None:
    (path,) = archives.glob("*.tar.gz")
    assert path.name == f"ingenuo-{ingenuo.__version__}.tar.gz"
    with tarfile.open(path) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    wanted = [name for name in listed if name != ".gitignore"] or ["cpp/kernels.cpp", "src/ingenuo/language/it.po"]
    assert not [name for name in wanted if name not in names and (ROOT / name).exists()]
    assert not [name for name in names if re.search(r"_kernels\.(so|dll|dylib)$|\.(pyc|po~)$", name)]


def test_the_wheel_is_for_every_python_of_this_platform(archives: Path) -> None:
    (path,) = archives.glob("*.whl")
    version, python, abi, platform = path.stem.split("-")[1:]
    assert (version, python, abi) == (ingenuo.__version__, "py3", "none")
    assert platform != "any"
    with zipfile.ZipFile(path) as packed:
        names = set(packed.namelist())
        about = packed.read(f"ingenuo-{version}.dist-info/WHEEL").decode()
    assert "Root-Is-Purelib: false" in about
    held = {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src" / "ingenuo").rglob("*") if p.is_file()}
    assert {name for name in held if "__pycache__" not in name} <= names


def test_the_wheel_installs_and_answers(archives: Path, tmp_path: Path) -> None:
    (path,) = archives.glob("*.whl")
    with zipfile.ZipFile(path) as packed:  # as an installer does, where a package has no scripts but entry points
        packed.extractall(tmp_path / "site")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n"
        "import ingenuo as ing, ingenuo.datasets\n"
        f"assert ing.__file__.startswith({str(tmp_path)!r}), ing.__file__\n"
        "model = ing.NaiveBayes().fit(ingenuo.datasets.play_tennis(), 'Play')\n"
        "print(ing.explain(model, 'Outlook=Overcast', language='it'))\n"
        "assert model.page()._repr_html_()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "→ Yes, con probabilità 0.857143" in done.stdout


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump, which lists what a library needs, is not there")
@pytest.mark.skipif(sys.platform != "linux", reason="what a library may need is listed here for Linux")
def test_the_library_needs_the_system_s_own_libraries_alone() -> None:
    shown = subprocess.run(["objdump", "-p", str(LIBRARY)], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"NEEDED\s+(\S+)", shown)
    assert {name.split(".")[0] for name in needed} <= {"libc", "libm", "ld-linux-x86-64", "libpthread", "libgcc_s"}
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([\d.]+)", shown)}
    assert max(versions, default=(2,)) <= (2, 28)  # what manylinux_2_28 allows


# The workflows and the forms.


def steps(workflow: dict) -> list[dict]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_the_workflows_are_three() -> None:
    assert [path.stem for path in WORKFLOWS] == ["site", "tests", "wheels"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_the_parts_that_it_needs(path: Path) -> None:
    found = read(path)
    assert set(found) <= {"name", "on", "permissions", "concurrency", "jobs", "env"}
    assert found["permissions"] == {"contents": "read"}
    for name, job in found["jobs"].items():
        assert job["runs-on"]
        needed = job.get("needs", [])
        assert ({needed} if isinstance(needed, str) else set(needed)) <= found["jobs"].keys(), name
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), step
            assert "@" in step.get("uses", "@"), step


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_file_that_starts_a_workflow_is_there(path: Path) -> None:
    named = [name for event in read(path)["on"].values() if event for name in event.get("paths", [])]
    assert not [name for name in named if not list(ROOT.glob(name))]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_file_that_a_workflow_runs_is_there(path: Path) -> None:
    for step in steps(read(path)):
        for name in re.findall(r"(?<!\S)(\.ci/\w+|tests/\S+\.py|benchmarks/\S+\.py)", step.get("run", "")):
            assert (ROOT / name).exists(), name


def test_nothing_is_published_without_an_approval_or_with_a_token() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "wheels.yml")["jobs"]
    publishing = {name for name, job in jobs.items() if any("publish" in step.get("uses", "") for step in job["steps"])}
    assert publishing == {"publish"}
    job = jobs["publish"]
    assert job["environment"] == "release"
    assert job["permissions"]["id-token"] == "write"
    assert job["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert set(job["needs"]) == set(jobs) - {"publish"}
    assert not re.search(r"(?i)password|secrets\.", (ROOT / ".github" / "workflows" / "wheels.yml").read_text())


def test_the_wheels_are_tried_on_tests_that_are_there() -> None:
    settings = PROJECT["tool"]["cibuildwheel"]
    folders = re.findall(r"\{project\}/(\S+)", settings["test-command"])
    assert folders
    assert all((ROOT / folder).is_dir() for folder in folders)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_asks_for_what_it_must(path: Path) -> None:
    found = read(path)
    assert {"name", "description", "body"} <= found.keys()
    assert all(part["type"] in ("textarea", "input", "markdown", "dropdown", "checkboxes") for part in found["body"])
    ids = [part["id"] for part in found["body"]]
    assert len(ids) == len(set(ids))


def test_a_bug_report_has_what_ingenuo_info_prints() -> None:
    body = read(ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml")["body"]
    part = next(part for part in body if "`ingenuo info`" in part["attributes"]["description"])
    assert part["validations"]["required"] == "true"


def test_the_citation_has_what_its_format_asks_for() -> None:
    found = read(ROOT / "CITATION.cff")
    assert found["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type", "license"} <= found.keys()
    assert found["license"] == PROJECT["project"]["license"]
    assert [each["name"] for each in found["authors"]] == [each["name"] for each in PROJECT["project"]["authors"]]
