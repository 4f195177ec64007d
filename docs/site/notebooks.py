"""A notebook as a page of the site: its words as they are, its code and what that printed, its pictures beside it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LANGUAGES = {"en": "English", "es": "Español", "it": "Italiano"}
ITSELF = {"es": "El cuaderno", "it": "Il notebook"}  # what leads to the file
PAGE = re.compile(r"^(\w+)\.page\((.*)\)\Z", re.MULTILINE)  # the last line of a cell shows the page of a model
FOLD, UNFOLD = "<details>", "</details>"


@dataclass
class Made:
    """The Markdown of a notebook, and its pictures by their names."""

    text: str = ""
    pictures: dict[str, bytes] = field(default_factory=dict)


def cells(path: Path) -> Any:
    """The cells of a notebook."""
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def joined(text: str | list[str]) -> str:
    """The text of a cell, which may be kept as lines."""
    return text if isinstance(text, str) else "".join(text)


def title(path: Path) -> str:
    """The first heading."""
    found = re.search(r"^# (.+)$", "\n".join(joined(cell["source"]) for cell in cells(path)), re.MULTILINE)
    return re.sub(r"[`*]", "", found[1]) if found else path.stem.replace("_", " ")


def to_markdown(path: Path) -> Made:
    """The whole notebook, with a link to itself."""
    made = Made()
    parts, folds = [], False
    for cell in cells(path):
        text = joined(cell["source"]).strip("\n")
        if cell["cell_type"] == "markdown":
            folds |= FOLD in text  # the solutions, and the code that checks them
            parts.append(with_formulas(text).replace(FOLD, '<details markdown="1">\n').replace(UNFOLD, ""))
        elif cell["cell_type"] == "code" and text:
            parts.append(f"```python\n{text}\n```")
            parts += [f"<!-- page({called[1]}, {called[2]}) -->" for called in [PAGE.search(text)] if called]
            for output in cell["outputs"]:
                parts += shown(output, f"{path.stem}_{len(made.pictures)}", made.pictures)
    parts += [UNFOLD] if folds else []
    parts.append(f"[{ITSELF.get(path.parent.name, 'The notebook')}: {path.name}]({path.name})")
    made.text = "\n\n".join(parts) + "\n"
    return made


def with_formulas(text: str) -> str:
    """Formulas between dollars, as notebooks have them, between the marks that the site's pages have."""
    text = re.sub(r"\$\$(.+?)\$\$", r"\\[\1\\]", text, flags=re.DOTALL)
    return re.sub(r"\$(\S|\S[^$\n]*?\S)\$", r"\\(\1\\)", text)


def shown(output: Any, name: str, pictures: dict[str, bytes]) -> Iterator[str]:
    """What stands for an output; a picture goes into `pictures`."""
    data = output.get("data", {})
    if output["output_type"] == "stream":
        yield fenced(joined(output["text"]))
    elif "image/svg+xml" in data:
        pictures[f"{name}.svg"] = joined(data["image/svg+xml"]).encode()
        yield f"![]({name}.svg)"
    elif "image/png" in data:
        pictures[f"{name}.png"] = base64.b64decode(joined(data["image/png"]))
        yield f"![]({name}.png)"
    elif "<iframe" in joined(data.get("text/html", "")):
        yield f'<div class="live">{joined(data["text/html"])}</div>'
    elif "text/plain" in data:
        yield fenced(joined(data["text/plain"]))


def fenced(text: str) -> str:
    """What was printed, without what colours it."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip("\n")
    return f"```text\n{plain}\n```"
