"""The notebooks for teachers: what is committed is what the sources give, run, in each language."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
OLD = "run docs/notebooks/make.py"

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed, so notebooks cannot be read")
pytest.importorskip("nbclient", reason="nbclient is not installed, so no kernel can be driven")
pytest.importorskip("ipykernel", reason="ipykernel is not installed, so there is no kernel")
pytest.importorskip("ruff", reason="ruff is not installed, so the code of a notebook cannot be brought into format")


def _load_make() -> Any:
    spec = importlib.util.spec_from_file_location("make_notebooks", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = _load_make()
SOURCES = make.read_sources()
PAIRS = [(source, language) for source in SOURCES for language in make.LANGUAGES]
NAMES = [f"{language}-{source.name}" for source, language in PAIRS]


def committed(source: Any, language: str) -> Any:
    return nbformat.read(make.path_of(source, language), as_version=4)


@pytest.fixture(scope="module")
def fresh() -> dict[str, Any]:
    """Every notebook, written from its source and run: an assertion of theirs that fails, fails here."""
    made = make.run(make.write_notebook(*pair) for pair in PAIRS)
    return dict(zip(NAMES, made))


def text_of(cell: Any) -> list[str]:
    return [output.text for output in cell.outputs if output.output_type == "stream"]


def pictures_of(cell: Any) -> list[list[str]]:
    return [sorted(output.data) for output in cell.outputs if output.output_type != "stream"]


def test_there_are_seven_topics_in_three_languages_and_nothing_else() -> None:
    assert len(PAIRS) == 21
    found = {path for path in FOLDER.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts}
    assert found == {make.path_of(*pair) for pair in PAIRS}


@pytest.mark.parametrize(("name", "pair"), list(zip(NAMES, PAIRS)), ids=NAMES)
def test_a_notebook_is_what_its_source_gives(name: str, pair: Any, fresh: dict[str, Any]) -> None:
    kept = committed(*pair)
    nbformat.validate(kept)
    same = make.in_format(kept)  # it may have been written by another version of ruff
    assert [cell.source for cell in same.cells] == [cell.source for cell in fresh[name].cells], OLD
    for there, here in zip(kept.cells, fresh[name].cells):
        if here.cell_type == "code":
            assert text_of(there) == text_of(here), f"it prints something else now; {OLD}"
            assert pictures_of(there) == pictures_of(here)


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_a_notebook_is_small_and_has_a_page_figures_exercises_and_solutions(pair: Any) -> None:
    source, language = pair
    assert make.path_of(source, language).stat().st_size < 200_000
    book = committed(source, language)
    code = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
    assert ".page(" in code
    assert "svg" in code
    assert "pdf" in code
    assert "assert " in code
    assert "pandas" not in code  # a teacher has what ingenuo needs, and Jupyter
    heads = {"en": ("Exercises", "Solutions"), "it": ("Esercizi", "Soluzioni"), "es": ("Ejercicios", "Soluciones")}
    texts = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    for head in heads[language]:
        assert texts.count(f"## {head}\n") == 1
    assert texts.count("<details>") == texts.count("</details>") == 1


def test_the_index_has_every_notebook_by_its_title() -> None:
    shown = (FOLDER / "index.md").read_text(encoding="utf-8")
    for source, language in PAIRS:
        assert f"[{source.titles[language]}]({language}/{source.name}.ipynb)" in shown


def test_a_source_without_one_of_its_languages_is_refused() -> None:
    with pytest.raises(ValueError, match="cell 1: is in en, it, and should be in en, it, es"):
        make.read_source("x", "== python\n1\n== en\nOne.\n== it\nUno.\n")
