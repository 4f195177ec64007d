"""The section on how to have the same again: where the model comes from, its parameters, the lines to run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingenuo.report.markup import Section, details, listing, paragraphs, shortened, table

_SOURCES = 50  # files that are listed
_HISTORY = 30  # steps
_PARAMETER = 300  # letters


def version() -> str:
    """The version of this package."""
    import ingenuo

    return str(ingenuo.__version__)


def parameters_of(model: Any) -> dict[str, str]:
    """The parameters of the model's constructor, as they are written."""
    if not hasattr(model, "get_params"):
        return {}
    return {name: shortened(repr(value), _PARAMETER) for name, value in model.get_params(deep=False).items()}


def facts(model: Any, about: Mapping[str, Any]) -> list[list[str]]:
    """What is known of the model's making, a line each."""
    lines = [["model", type(model).__name__]]
    for key, called in (
        ("title", "title"),
        ("target", "class column"),
        ("rows", "rows learned from"),
        ("command", "command"),
        ("created", "made on"),
        ("version", "made with ingenuo"),
    ):
        value = about.get(key)
        if value is not None:
            said = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
            lines.append([called, shortened(said, 1000)])
    return lines


def sources_of(about: Mapping[str, Any]) -> list[list[str]]:
    """The files that were learned from: name, bytes, SHA-256."""
    found = []
    for source in about.get("sources") or ():
        one = source if isinstance(source, Mapping) else {"path": source}
        size = one.get("bytes")
        found.append(
            [str(one.get("path", "not stated")), "" if size is None else f"{size:,}", str(one.get("sha256") or "")]
        )
    return found


def history_of(about: Mapping[str, Any]) -> list[list[str]]:
    """What was done to the model: what, rows, source, when."""
    return [
        [shortened(step.get(key, "") if step.get(key) is not None else "", 200) for key in keys]
        for keys in [("what", "rows", "source", "when")]
        for step in about.get("history") or ()
    ]


def quoted(text: str) -> str:
    """A string as it is written in Python.

    >>> print(quoted("rows.csv"), quoted('say "no"'))
    "rows.csv" 'say "no"'
    """
    return f'"{text}"' if text.isprintable() and not set(text) & {'"', "\\"} else repr(text)


def python_lines(model: Any, about: Mapping[str, Any], seed: int) -> str:
    """Lines that make the same model, and judge it."""
    name = type(model).__name__
    files = [source[0] for source in sources_of(about)]
    first = quoted(files[0] if files else "rows.csv")
    target = quoted(str(about.get("target") or getattr(model, "_target", None) or "class"))
    maker = shortened(repr(model), 2000) if type(model).__module__.startswith("ingenuo") else f"{name}(…)"
    return "\n".join(
        [
            "import ingenuo as ing",
            *([f"from ingenuo import {name}"] if maker.startswith(name) and not maker.endswith("(…)") else []),
            "",
            f"table = ing.read({first})" + ("" if files else "  # the rows to learn from"),
            f"model = {maker}.fit(table, {target})",
            'judged = ing.read("judged.csv")  # rows that the model has not learned from',
            f"print(ing.evaluate(model, judged, {target}, random_state={seed}))",
        ]
    )


def reproduction(model: Any, about: Mapping[str, Any], seed: int) -> Section:
    """How the model and this page were made."""
    how = "With the same files, the same parameters and the same version, the model comes out the same."
    body = table([["what", "value"], *facts(model, about), ["this page made with ingenuo", version()]], "origin")
    if not about:
        body += paragraphs(["Nothing was noted of where the model comes from, when it was saved."])
    files = sources_of(about)
    if files:
        lines = [["file", "bytes", "SHA-256"], *files[:_SOURCES]]
        body += "<h3>Files learned from</h3>" + table(lines, "files learned from", (1,))
        if len(files) > _SOURCES:
            body += paragraphs([f"{len(files) - _SOURCES:,} more files are not listed."])
    steps = history_of(about)
    if steps:
        lines = [["what", "rows", "source", "when"], *steps[-_HISTORY:]]
        body += "<h3>History</h3>" + table(lines, "history", (1,))
    given = [[name, value] for name, value in parameters_of(model).items()]
    if given:
        body += details("Parameters of the model", table([["parameter", "value"], *given], "parameters"))
    body += "<h3>In Python</h3>" + listing(python_lines(model, about, seed), "Python lines")
    return Section("reproduce", "How to reproduce it", how, body + paragraphs([f"The seed of this page is {seed}."]))
