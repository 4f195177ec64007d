"""The linker: ES modules of this folder become one script, in the order in which they need each other.

Each module becomes a function that is called at once and returns what it exports. It may say

    import { name, name as other } from "./module.mjs";
    export function f … / export const x = … / export class C … / export { name as other };

and no other import or export. Comments (but those that begin with /*!) and blanks are taken out; names stay.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent

_IMPORT = re.compile(r'^import\s*\{([^}]*)\}\s*from\s*"([^"]+)";?[ \t]*$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) ([\w$]+))", re.MULTILINE)
_EXPORTS = re.compile(r"^export\s*\{([^}]*)\};?|(?<=;)export\s*\{([^}]*)\};?", re.MULTILINE)
_OTHER = re.compile(r"^(?:import\b|export\b).*", re.MULTILINE)
_AS = re.compile(r"\s+as\s+")


@cache
def link(entry: str, folder: Path = FOLDER) -> str:
    """A module and all that it imports as one script, whose last statement names what the module exports.

    >>> "const {exp,log,log1p" in link("math.mjs").replace(" ", "").replace("const{", "const {")
    True
    """
    order: dict[Path, tuple[str, list[tuple[str, str]]]] = {}
    _gather((folder / entry).resolve(), (), order)
    places = {path: f"$m{place}" for place, path in enumerate(order)}
    pieces = []
    for path, (text, exported) in order.items():

        def imported(found: re.Match[str], path: Path = path) -> str:
            names = ",".join(":".join(pair) for pair in _pairs(found[1]))
            return f"const{{{names}}}={places[(path.parent / found[2]).resolve()]};"

        body = strip(_IMPORT.sub(imported, text))
        found = ",".join(f"{name}:{local}" if name != local else name for local, name in exported)
        pieces.append(f"const {places[path]}=(()=>{{{body}\nreturn{{{found}}};}})();")
    last = list(order.values())[-1][1]
    names = ",".join(name for _, name in last)
    return "\n".join([*pieces, f"const {{{names}}}={list(places.values())[-1]};" if names else ""]).rstrip()


def _gather(path: Path, above: tuple[Path, ...], order: dict[Path, tuple[str, list[tuple[str, str]]]]) -> None:
    """Put a module behind all that it imports: its text without `export`, and (local name, name) of what it exports."""
    if path in above:
        raise ValueError(f"{path.name} imports itself, by way of {', '.join(each.name for each in above)}")
    if path in order:
        return
    text = path.read_text(encoding="utf-8")
    for found in _IMPORT.finditer(text):
        _gather((path.parent / found[2]).resolve(), (*above, path), order)
    exported = [(name, name) for name in _EXPORT.findall(text)]
    exported += [pair for found in _EXPORTS.findall(text) for pair in _pairs("".join(found))]
    text = _EXPORTS.sub("", _EXPORT.sub("", text))
    if other := _OTHER.search(_IMPORT.sub("", text)):
        raise ValueError(f"{path.name} says {other[0][:60]!r}, which the linker does not read")
    order[path] = text, exported


def _pairs(names: str) -> list[tuple[str, str]]:
    """(name, what it is called on the other side) of a list of names."""
    both = [_AS.split(name.strip()) for name in names.split(",") if name.strip()]
    return [(each[0], each[-1]) for each in both]


# Taking out comments and blanks.

_TOKEN = re.compile(
    r"""(?P<kept>/\*!.*?\*/)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<blank>\s+)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<word>[\w$\u0080-\uffff]+)|(?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
_BEFORE_REGEX = re.compile(r"(?:^|[(,=:\[!&|?{};+\-*%~^<>]|(?<![\w$.])(?:return|typeof|case|in|of|void))$")
_NAME_END = re.compile(r"[\w$\u0080-\uffff]$")
_NAME_START = re.compile(r"[\w$\u0080-\uffff]")


def strip(text: str) -> str:
    """A script without comments and needless blanks; strings, regular expressions and templates are kept as they are.

    >>> strip('let a = 1; /* one */ return  "a  b" + +a / 2;')
    'let a=1;return"a  b"+ +a/2;'
    """
    out: list[str] = []
    _strip(text, 0, out, within=False)
    return "".join(out).strip()


def _strip(text: str, at: int, out: list[str], *, within: bool) -> int:
    """Strip from a place on to the end, or to the bracket that ends what stands in a template; where that is."""
    depth, blank = 0, ""
    while at < len(text):
        tail = out[-1][-12:] if out else ""
        regex = _REGEX.match(text, at) if text[at] == "/" and text[at + 1] not in "/*" else None
        if regex is not None and _BEFORE_REGEX.search(tail):
            out.append(regex[0])
            at, blank = regex.end(), ""
            continue
        found = _TOKEN.match(text, at)
        assert found is not None  # any sign is one
        at, piece = found.end(), found[0]
        if found["comment"] or found["blank"]:
            blank = "\n" if "\n" in piece + blank else " "
            continue
        if blank == "\n" and out and tail[-1:] != "\n":
            out.append("\n")
        elif blank and tail and _needed(tail[-1], piece[0]):
            out.append(" ")
        blank = ""
        if piece == "`":
            at = _template(text, at, out, markup=bool(re.search(r"(?<![\w$])html$", tail)))
            continue
        if within and piece in "{}":
            depth += 1 if piece == "{" else -1
            if depth < 0:
                return at
        out.append(piece)
    return at


def _needed(before: str, after: str) -> bool:
    """Whether a blank between two letters means something."""
    return bool(_NAME_END.match(before) and _NAME_START.match(after)) or (before == after and before in "+-")


def _template(text: str, at: int, out: list[str], *, markup: bool) -> int:
    """Copy a template, whose first sign was read; in HTML, a line's indentation means nothing. Where it ends."""
    out.append("`")
    first = at
    while text[at] != "`":
        if text[at] == "\\":
            at += 2
        elif text.startswith("${", at):
            out.append(_plain(text[first : at + 2], markup))
            inner: list[str] = []
            at = first = _strip(text, at + 2, inner, within=True)
            out += ["".join(inner).strip(), "}"]
        else:
            at += 1
    out.append(_plain(text[first : at + 1], markup))
    return at + 1


def _plain(text: str, markup: bool) -> str:
    return re.sub(r"\s*\n\s*", "\n", text) if markup else text
