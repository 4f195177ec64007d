"""The page: one HTML file in which a fitted model is asked, and answers, without a server and with Python's own bits.

The modules beside this file are its program, `page.html` and `style.css` its shell. The document holds the sheet of the
model, compressed; the Content-Security-Policy allows that one script to run, and nothing to be fetched or sent.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from typing import Any

from ingenuo.errors import InputError
from ingenuo.language import catalogue, check_language, say, translated
from ingenuo.page.link import FOLDER, link
from ingenuo.page.rows import ROWS, page_rows
from ingenuo.rows.schema import column_name
from ingenuo.rows.typed import parse_row, reads_texts
from ingenuo.sheet import Sheet, sheet
from ingenuo.show.format import plain, shortened

CODE = 120_000  # bytes of the program, compressed, at most
LARGEST = 20_000_000  # bytes of a page

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; {}base-uri 'none'; form-action 'none'"

# Unpacks the program, which runs because its digest is in the policy as well.
_BOOT = """
(async()=>{try{
const packed=Uint8Array.from(atob(document.getElementById("code").textContent),(each)=>each.charCodeAt(0));
const program=document.createElement("script");program.type="module";
program.textContent=await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
document.body.append(program);
}catch(error){
const said=document.querySelector(".opening");
said.textContent="This browser cannot open the page ("+error.message+"): use a newer one.";
}})();
"""


def page(
    model: Any,
    rows: Any = None,
    *,
    title: str | None = None,
    question: Any = None,
    about: Mapping[str, Any] | None = None,
    evaluation: Mapping[str, Any] | None = None,
    sections: Iterable[tuple[str, str, str]] = (),
    server: Mapping[str, Any] | None = None,
    language: str = "en",
    max_rows: int = ROWS,
    seed: int = 0,
    sums: bool = False,
) -> str:
    """A page on which a model can be asked.

    Parameters
    ----------
    model : classifier or Network
        Fitted, and of a kind that has a sheet.
    rows : table, array, texts, or what `page_rows` made of them, optional
        Rows to judge the model by; whoever has the page can read them. None by default.
    title : str, optional
        The heading.
    question : mapping or text, optional
        The row that is asked first; by default nothing is known of it.
    about : mapping, optional
        Where the model comes from, as `ingenuo.store.about` gives it, and perhaps "file", its name.
    evaluation : mapping, optional
        Plain data for the view of how good it is.
    sections : iterable of (name, heading, HTML), optional
        Parts of the page that do not change; the HTML is trusted.
    server : mapping, optional
        The page is served, and may ask the server at this "url" what needs the sums of the model.
    language : {"en", "it", "es"}
        What the page speaks; names, values and `sections` stay as they are.
    max_rows, seed : int
        Of more rows so many are drawn at random.
    sums : bool
        Whether the page has the sums of the model, so that rows can be forgotten on it; whoever has the page can read
        the values and words of single rows in them (`drop_rare` leaves out what few rows have).

    Examples
    --------
    >>> import ingenuo as ing
    >>> from ingenuo.datasets import play_tennis
    >>> model = ing.NaiveBayes().fit(play_tennis(), "Play")
    >>> page(model, title="Tennis")[:15]
    '<!doctype html>'
    """
    found, words = sheet(model, sums=sums), catalogue(language, "page")
    ready = rows is None or isinstance(rows, Mapping)
    embedded = rows if ready else page_rows(model, rows, max_rows=max_rows, seed=seed)
    heading = title or _heading(found, about or {})
    data = {
        "sheet": found.document(), "rows": _noted(embedded, language), "about": plain(about or {}), "server": server,
        "evaluation": plain(_noted(evaluation, language)), "question": _first(model, question),
        "title": shortened(translated(heading, language), 200), "language": language,
    } | ({"words": words} if words else {})  # fmt: skip
    made = build(data, sections)
    size = len(made.encode())
    if size > LARGEST:
        texts = any(column["kind"] == "text" for column in found.columns)
        remedy = "embed fewer rows" if embedded else "keep fewer words" if texts else "learn from fewer columns"
        command = "say --max-rows" if embedded else "say --top-words 20000" if texts else "train with fewer columns"
        raise InputError(f"the page has {size / 1e6:.1f} MB, and {LARGEST / 1e6:g} MB is the most; {remedy}").typed_as(
            remedy, command
        )
    return made


def _heading(found: Sheet, about: Mapping[str, Any]) -> str:
    """What a page is called: a network by its file, for any of its nodes can be asked."""
    if found.kind == "Network" and "file" in about:
        return str(about["file"]).partition(".")[0]
    return say("{kind} of {target}", kind=found.kind, target=found.target) if found.target else found.kind


def _noted(rows: Mapping[str, Any] | None, language: str) -> Mapping[str, Any] | None:
    """Rows, or answers to them, with the note on the draw in a language."""
    return rows if rows is None or "note" not in rows else {**rows, "note": translated(rows["note"], language)}


def _first(model: Any, question: Any) -> dict[str, Any] | None:
    """The row that is asked first, as plain values by the names of columns."""
    if question is None:
        return None
    if isinstance(question, str):
        if reads_texts(model):
            return {column_name(model.schema_.names[0]): question}
        question = parse_row(question, model)
    return {column_name(name): plain(value) for name, value in question.items() if value is not None and value == value}


def build(data: Mapping[str, Any], sections: Iterable[tuple[str, str, str]] = ()) -> str:
    """The page of data that is ready, by the names that `page` gives it."""
    connect = "; connect-src 'self'" if data.get("server") else ""
    policy = f"script-src 'sha256-{_digest(_BOOT)}' 'sha256-{_digest(program())}'{connect}; "
    packed = {"data": _pack(json.dumps(data, separators=(",", ":"), allow_nan=False)), "code": packed_program()}
    scripts = [f'<script type="application/octet-stream" id="{at}">{own}</script>' for at, own in packed.items()]
    scripts.append(f"<script>{_BOOT}</script>")
    language = str(data.get("language", "en"))
    opening = (each.into(language) for each in (_OPENED, _NEEDED))
    main = '<p class="opening" role="status">{}</p><noscript><p class="warning">{}</p></noscript>'.format(*opening)
    return _fill(str(data["title"]), policy, main, sections, scripts, language)


def unasked(title: str, reason: str, sections: Iterable[tuple[str, str, str]]) -> str:
    """The page of a model that cannot be asked, with the reason: what Python wrote of it, and no script.

    >>> "cannot" in unasked("Words", "It cannot be asked.", [("summary", "In short", "<p>So it is.</p>")])
    True
    """
    every = list(sections)
    links = "".join(f'<li><a href="#{escape(name)}">{escape(heading)}</a></li>' for name, heading, _ in every)
    contents = f'<nav class="contents" aria-label="Contents"><ul>{links}</ul></nav>'
    return _fill(title, "", f'{_ALONE}<p class="how">{escape(reason)}</p>{contents}', every, [], "en")


_OPENED = say("The model is being opened …")
_NEEDED = say("Answers are computed in this page, which needs JavaScript.")
_ALONE = "<style>body>#given,#main{max-width:70rem;margin:0 auto;padding:0 1.5rem}.contents ul{flex-wrap:wrap}</style>"


def _fill(
    title: str, policy: str, main: str, sections: Iterable[tuple[str, str, str]], scripts: Iterable[str], language: str
) -> str:
    """The shell, with what stands in it."""
    from ingenuo import __version__

    foreign = "" if language == "en" else ' lang="en"'
    given = "".join(
        f'<section id="{escape(name)}" class="given"{foreign}><h2>{escape(heading)}</h2>{body}</section>'
        for name, heading, body in sections
    )
    values = {
        "policy": _POLICY.format(policy), "language": check_language(language),
        "version": escape(__version__), "title": escape(title), "style": style(),
        "main": main, "sections": given, "scripts": "".join(f"{each}\n" for each in scripts),
    }  # fmt: skip
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], _template())


@cache
def program() -> str:
    """The program of the page."""
    return link("app.mjs")


@cache
def packed_program() -> str:
    """The program as a page holds it; what it may be at most is the house's own rule."""
    return _pack(program())


def _pack(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _template() -> str:
    return (FOLDER / "page.html").read_text(encoding="utf-8")


@cache
def style() -> str:
    """The style sheet, without comments and line ends."""
    text = re.sub(r"/\*.*?\*/", "", (FOLDER / "style.css").read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s*\n\s*", "", text)
