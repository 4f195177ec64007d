"""The messages in the sources, and the catalogues brought up to date with them.

    python tests/language/messages.py          # says what lacks a translation, and what is used no more
    python tests/language/messages.py --write  # the same; new messages get an empty entry, unused ones are taken out

A message of Python is the first argument of `say(…)`; one of the page is any text in the first argument of its
`say(…)`, in code or in a comment: `// say("prior")` declares a word that only reaches `say` in a variable.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

from ingenuo.language import LANGUAGES, read_catalogue

SOURCE = Path(__file__).parents[2] / "src" / "ingenuo"
CATALOGUES = [SOURCE / "language" / f"{language}.po" for language in LANGUAGES if language != "en"]

HEAD = """# {language} messages of ingenuo.
msgid ""
msgstr ""
"Language: {code}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"""


@cache
def messages() -> dict[str, set[str]]:
    """Every message in the sources, with the places that use it: "python", "page"."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(SOURCE.rglob("*.py")):
        place = "page" if path.is_relative_to(SOURCE / "page") else "python"
        text = path.read_text(encoding="utf-8")
        if "ingenuo.language import" in text:
            for words in in_python(text):
                found[words].add(place)
    for path in sorted((SOURCE / "page").rglob("*.mjs")):
        if path.name != "language.mjs":
            for words in in_javascript(path.read_text(encoding="utf-8")):
                found[words].add("page")
    return found


def in_python(text: str) -> list[str]:
    """The first arguments of `say`, which must be texts, or a choice between two."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
            given = node.args[0]
            for each in [given.body, given.orelse] if isinstance(given, ast.IfExp) else [given]:
                assert isinstance(each, ast.Constant), f"say({ast.unparse(given)}): its words are not written there"
                found.append(each.value)
    return found


_CALL = re.compile(r"\bsay\(")
_TOKEN = re.compile(r"""(?P<text>"(?:[^"\\]|\\.)*")|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)""")


def in_javascript(text: str) -> list[str]:
    """Every text in the first argument of `say`, but those that are compared."""
    found = []
    for call in _CALL.finditer(text):
        depth, at = 0, call.end()
        while token := _TOKEN.search(text, at):
            at = token.end()
            if token["text"] and depth == 0 and not re.search(r"[=!]==?\s*$", text[call.end() : token.start()]):
                found.append(json.loads(token["text"]))
            depth += bool(token["open"]) - bool(token["close"])
            if depth < 0 or (token["comma"] and depth == 0):
                break
    return found


def entry(words: str, text: str, places: set[str]) -> str:
    """An entry of a catalogue."""
    quote = "\n".join
    written = {key: json.dumps(value, ensure_ascii=False) for key, value in (("msgid", words), ("msgstr", text))}
    return quote([f"#: {' '.join(sorted(places))}", *(f"{key} {value}" for key, value in written.items())])


def main(write: bool) -> int:
    """Compare, and perhaps write."""
    found, faults = messages(), 0
    for path in CATALOGUES:
        known = read_catalogue(path.read_text(encoding="utf-8"))
        lacking, unused = sorted(found.keys() - known.keys()), sorted(known.keys() - found.keys())
        faults += len(lacking) + len(unused)
        for what, names in (("lacks", lacking), ("uses no more", unused)):
            for name in names:
                print(f"{path.name} {what} {json.dumps(name, ensure_ascii=False)}")
        if write:
            head = HEAD.format(language=LANGUAGES[path.stem].capitalize(), code=path.stem)
            entries = [entry(each, known.get(each, ("",))[0], found[each]) for each in sorted(found)]
            path.write_text("\n\n".join([head.rstrip(), *entries]) + "\n", encoding="utf-8")
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
