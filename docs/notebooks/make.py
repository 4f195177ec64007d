"""Write the notebooks: seven topics, each in English, Italian and Spanish, from one source for the three languages.

    python docs/notebooks/make.py

A source (`sources/*.txt`) is a list of cells. A line "== en", "== it" or "== es" begins a text in that language, and
all three must be there; "== python" begins code, which is the same in each, but for words in «English|Italian|Spanish».
The notebooks are run, and what they print and draw is kept in them; pages, which are large, are not.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
LANGUAGES = ("en", "it", "es")
KEPT = ("text/plain", "image/svg+xml", "image/png")  # of what a cell shows; a page within a cell is text/html
_CELL = re.compile(r"^== (en|it|es|python)\n", re.MULTILINE)
_WORDS = re.compile(r"«([^«»|]*)\|([^«»|]*)\|([^«»|]*)»")


class Source(NamedTuple):
    """A topic in its three languages: its name, and cells of code or of text by language."""

    name: str
    cells: list[dict[str, str]]

    @property
    def titles(self) -> dict[str, str]:
        """The heading in each language."""
        return {language: text.splitlines()[0].removeprefix("# ") for language, text in self.cells[0].items()}


def read_sources() -> list[Source]:
    """The topics, in the order in which they are taught."""
    return [
        read_source(path.stem, path.read_text(encoding="utf-8")) for path in sorted((HERE / "sources").glob("*.txt"))
    ]


def read_source(name: str, text: str) -> Source:
    """The cells of a source; an error names the cell in which a language is missing."""
    start, *parts = _CELL.split(text)
    if start.strip():
        raise ValueError(f"{name}: text stands before the first cell: {start.strip()[:40]!r}")
    cells: list[dict[str, str]] = []
    for kind, body in zip(parts[::2], parts[1::2]):
        own = body.strip("\n")
        if kind in ("python", LANGUAGES[0]):
            cells.append({kind: own})
        else:
            cells[-1][kind] = own
    for place, cell in enumerate(cells):
        if tuple(cell) not in (LANGUAGES, ("python",)):
            raise ValueError(f"{name}, cell {place}: is in {', '.join(cell)}, and should be in {', '.join(LANGUAGES)}")
    return Source(name, cells)


def write_notebook(source: Source, language: str) -> Any:
    """The notebook of a topic in one language, not yet run."""
    number = LANGUAGES.index(language) + 1

    def in_language(text: str) -> str:
        return _WORDS.sub(lambda found: found[number], text)

    cells = []
    folded: dict[str, Any] = {}  # code after the solutions is hidden until it is asked for, with what it prints
    for place, cell in enumerate(source.cells):
        if "python" in cell:
            made = nbformat.v4.new_code_cell(in_language(cell["python"]), metadata=folded)
        else:
            made = nbformat.v4.new_markdown_cell(in_language(cell[language]))
            if "<details>" in cell[language]:
                folded = {"jupyter": {"source_hidden": True, "outputs_hidden": True}}
        made["id"] = f"{source.name}-{place}"
        cells.append(made)
    about = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return in_format(nbformat.v4.new_notebook(cells=cells, metadata=about))


def in_format(notebook: Any) -> Any:
    """The notebook with its code as ruff would have it: words of another language break lines elsewhere."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(HERE / "it" / "a.ipynb"), "-"]
    done = subprocess.run(command, input=nbformat.writes(notebook), capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise ValueError(f"ruff cannot read a cell: {done.stderr}")
    return nbformat.reads(done.stdout, as_version=4)


def run(notebooks: Iterable[Any]) -> Iterator[Any]:
    """Run notebooks one after another in one kernel, each in names and a folder of its own; keep what is small."""
    names = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    first = nbformat.v4.new_notebook()
    client = NotebookClient(first, timeout=120, kernel_name="python3")
    with tempfile.TemporaryDirectory() as folder, client.setup_kernel(cwd=folder, env=names):
        for number, notebook in enumerate(notebooks):
            own = Path(folder, str(number))
            own.mkdir()
            clean = f"%reset -f\n%cd -q {own}\nfrom matplotlib import pyplot; pyplot.close('all'); del pyplot"
            for code in (clean, *(cell for cell in notebook.cells if cell.cell_type == "code")):
                cell = nbformat.v4.new_code_cell(code) if isinstance(code, str) else code
                client.nb = nbformat.v4.new_notebook(cells=[cell])
                client.execute_cell(cell, 0)
            for count, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
                cell["metadata"].pop("execution", None)
                cell["execution_count"] = count
                cell["outputs"] = list(kept(cell["outputs"]))
            yield notebook


def kept(outputs: Iterable[Any]) -> Iterator[Any]:
    """What is printed and drawn, without numbers that depend on what was run before; pages are left out."""
    for stream, together in groupby(outputs, lambda output: output.get("name")):
        if stream is not None:  # how a kernel cuts what it prints depends on its haste
            yield nbformat.v4.new_output("stream", name=stream, text="".join(each.text for each in together))
            continue
        yield from shown(together)


def shown(outputs: Iterable[Any]) -> Iterator[Any]:
    """Pictures and values in the forms that are kept."""
    for output in outputs:
        if "text/html" not in output.data or "image/svg+xml" in output.data:
            data = {kind: output.data[kind] for kind in KEPT if kind in output.data}
            if len(data) > 1:  # a picture needs no line that says "a figure"
                del data["text/plain"]
            yield nbformat.v4.new_output("display_data", data=data)


def path_of(source: Source, language: str) -> Path:
    """Where a notebook is kept."""
    return HERE / language / f"{source.name}.ipynb"


def main() -> None:
    """Write the notebooks whose sources are named, or all of them."""
    wanted = [source for source in read_sources() if len(sys.argv) == 1 or source.name in sys.argv[1:]]
    pairs = [(source, language) for source in wanted for language in LANGUAGES]
    made = run(write_notebook(*pair) for pair in pairs)
    for pair, notebook in zip(pairs, made):
        path = path_of(*pair)
        path.parent.mkdir(exist_ok=True)
        nbformat.validate(notebook)
        nbformat.write(notebook, path)
        print(path.relative_to(HERE), path.stat().st_size)


if __name__ == "__main__":
    main()
