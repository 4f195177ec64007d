"""The page as a whole: one file that opens, runs its own program alone, and fits every screen and every reader."""

from __future__ import annotations

import ast
import base64
import gzip
import json
import re
import shlex
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.errors import InputError, KindError
from ingenuo.page import CODE, build, page, program, style
from ingenuo.page.link import FOLDER, link, strip
from ingenuo.rows.typed import parse_row
from ingenuo.sheet import sheet

Visits = Callable[..., Any]


@pytest.fixture(scope="module")
def tennis() -> Any:
    return ing.NaiveBayes().fit(play_tennis(), "Play")


def data_of(html: str) -> Any:
    found = re.search(r'id="data">([^<]*)<', html)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


# The linker.


def _modules(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.mjs").write_text(text, encoding="utf-8")
    return folder


def test_modules_become_one_script_in_the_order_of_their_imports(tmp_path: Path) -> None:
    folder = _modules(
        tmp_path,
        one="export function f(x) { return x + 1; }\nconst own = 2;\nexport { own as two };\n",
        two='import {\n  f,\n  two as b,\n} from "./one.mjs";\nexport const g = (x) => f(x) * b;\n',
        main='import { g } from "./two.mjs";\nimport { f as first } from "./one.mjs";\n'
        "export const all = [first(1), g(1)];\n",
    )
    script = link("main.mjs", folder) + "\nconsole.log(JSON.stringify(all));"
    done = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [2, 4]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('import x from "./one.mjs";', "the linker does not read"),
        ("export default 1;", "the linker does not read"),
        ('export * from "./one.mjs";', "the linker does not read"),
        ('import { f } from "./main.mjs";', "imports itself"),
    ],
)
def test_what_the_linker_does_not_know_is_refused(tmp_path: Path, text: str, said: str) -> None:
    folder = _modules(tmp_path, main=text, one="export function f() {}\n")
    with pytest.raises(ValueError, match=said):
        link("main.mjs", folder)


def test_stripping_leaves_strings_templates_and_expressions_as_they_are() -> None:
    text = r"""
    // a comment
    const a = "x  // y", b = 'it\'s /* no */', c = /[/\s]  "+/g; /* gone
       too */
    const d = `  as  it
      is ${ a + `  ${ b }  ` /* gone */ } end`, e = html`<p>
        ${ a  }
      </p>`;
    return a / b / c + +d - -e;
    """
    assert strip(text) == (
        "const a=\"x  // y\",b='it\\'s /* no */',c=/[/\\s]  \"+/g;\nconst d=`  as  it\n      is ${a+`  ${b}  `} end`,"
        "e=html`<p>\n${a}\n</p>`;\nreturn a/b/c+ +d- -e;"
    )


def test_the_program_is_small_and_names_its_licences() -> None:
    assert len(gzip.compress(program().encode(), 9, mtime=0)) <= CODE
    assert "Apache License" in program()
    assert "MIT License" in program()
    assert "</script" not in program()


def test_every_module_is_read_by_the_linker() -> None:
    for path in FOLDER.rglob("*.mjs"):
        link(str(path.relative_to(FOLDER)))


# The builder.


def test_a_page_holds_the_sheet_and_rows_only_when_they_are_given(tennis: Any) -> None:
    data = data_of(page(tennis))
    assert data["sheet"] == json.loads(sheet(tennis).to_json())
    assert (data["rows"], data["server"], data["title"]) == (None, None, "NaiveBayes of Play")
    data = data_of(page(tennis, play_tennis(), title="Tennis?", question="Outlook=Sunny, Wind=?", max_rows=5))
    assert (len(data["rows"]["values"]), data["rows"]["given"], data["title"]) == (5, 14, "Tennis?")
    assert data["question"] == {"Outlook": "Sunny"}


def test_the_same_model_gives_the_same_page(tennis: Any) -> None:
    assert page(tennis) == page(tennis)


def test_a_page_that_is_too_large_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch, tennis: Any) -> None:
    monkeypatch.setattr("ingenuo.page.LARGEST", 50_000)
    texts = ing.NaiveBayes().fit(["a fine story", "a dull story"], ["+", "-"])
    for model, rows, remedy in ((texts, None, "--top-words"), (tennis, play_tennis(), "--max-rows")):
        with pytest.raises(InputError, match=r"the page has 0\.\d MB, and 0\.05 MB is the most") as refused:
            page(model, rows)
        assert remedy in refused.value.in_command()


def test_what_has_no_sheet_is_refused() -> None:
    with pytest.raises(KindError, match="has no sheet"):
        page(ing.NaiveBayes)


# Security.


def test_nothing_but_the_own_program_runs_and_nothing_is_sent(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis), quiet=False)
    listening = socket.create_server(("127.0.0.1", 0))
    blocked = found.page.evaluate(
        """async (elsewhere) => {
          const done = [];
          addEventListener("securitypolicyviolation", (event) => done.push(event.effectiveDirective));
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          document.body.append(script);
          const markup = "<b id=x onclick='window.ran = true'>x</b><img src=" + elsewhere + "x.png>";
          document.body.insertAdjacentHTML("beforeend", markup);
          document.getElementById("x").click();
          // What the driver calls may evaluate text; what the page calls may not.
          await new Promise((after) => setTimeout(() => {
            try { new Function("window.ran = true")(); } catch { done.push("eval"); }
            after();
          }));
          try { await fetch(elsewhere); } catch { done.push("fetch"); }
          const form = document.createElement("form");
          form.action = elsewhere;
          document.body.append(form);
          form.submit();
          await new Promise((after) => setTimeout(after, 300));
          return [window.ran ?? false, done];
        }""",
        f"http://127.0.0.1:{listening.getsockname()[1]}/",
    )
    assert blocked[0] is False
    directives = {"script-src-elem", "script-src-attr", "connect-src", "img-src", "form-action"}
    assert directives | {"eval", "fetch"} <= set(blocked[1])
    assert _heard(listening) == []


def _heard(listening: socket.socket) -> list[bytes]:
    """What was sent; Chromium connects for a form before it reads the policy, and then sends nothing."""
    found = []
    with listening:
        listening.settimeout(0.2)
        while True:
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                return found
            with connection:
                connection.settimeout(0.2)
                try:
                    found.append(connection.recv(1000))
                except TimeoutError:
                    continue


def test_the_policy_lets_a_served_page_ask_its_server_alone(tennis: Any) -> None:
    policies = [re.search(r'Policy" content="([^"]+)"', page(tennis, server=server)) for server in (None, {"url": ""})]
    alone, served = (found[1] for found in policies if found is not None)
    assert served.replace("; connect-src 'self'", "") == alone
    assert re.fullmatch(
        r"default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        r"script-src 'sha256-[\w+/=]+' 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'",
        alone,
    )


HARSH = (
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "'\"><svg/onload=alert(3)>", "${alert(4)}`",
    "\u202egnol \u2067dna\u2069", "x" * 10_000, "a,b=c", " ", "{", "&lt;b&gt;", "\u2028", "-->", "__proto__",
)  # fmt: skip


def test_hostile_names_values_and_texts_run_nothing(visit: Visits) -> None:
    rng = np.random.default_rng(0)
    names = [f"{k} {each}" for k, each in enumerate(HARSH)]
    columns: dict[str, Any] = {names[k]: rng.choice(list(HARSH[k : k + 5]), 60) for k in range(6)}
    columns |= {names[6]: rng.normal(size=60), names[7]: rng.normal(size=60)}
    frame = pd.DataFrame(columns)
    labels = rng.choice(list(HARSH), 60)
    model = ing.NaiveBayes().fit(frame, labels)
    html = page(model, title=HARSH[0] + HARSH[5], question={names[0]: HARSH[1]})
    found = visit(html, width=360)
    found.until("document.querySelectorAll('section.view table').length > 0")
    found.page.wait_for_timeout(800)
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 360
    made = "document.querySelectorAll('#app img, #app script, #app [onload], #app [onerror]').length"
    assert found.page.evaluate(made) == 0
    assert "equal to Python, 32 of 32 check rows" in found.text(".badge")
    texts = ing.NaiveBayes().fit([f"{each} word" for each in HARSH] * 2, list(HARSH) * 2)
    text = visit(page(texts, question=HARSH[1] + HARSH[0]))
    assert "onerror=alert" in text.page.input_value("textarea")


# The seal: 32 rows that Python answered.


def test_a_sheet_that_was_changed_is_called_so(visit: Visits, tennis: Any) -> None:
    data = data_of(page(tennis))
    data["sheet"]["scorer"]["start"]["values"][0] += 1e-9
    found = visit(build(data))
    found.until("document.querySelector('.badge.bad')")
    assert found.text(".badge") == "not equal to Python: 0 of 32 check rows"
    assert "Do not rely on its answers" in found.text(".alarm")


def test_what_cannot_be_opened_is_said(visit: Visits, tennis: Any) -> None:
    data = data_of(page(tennis))
    data["sheet"]["scorer"]["terms"][0]["op"] = "oracle"
    found = visit(build(data))
    assert found.text("[role=alert]") == (
        "The model on this page cannot be opened: the sheet has a term oracle, which this page does not know."
    )


# The question elsewhere.


def test_commands_and_lines_of_python_are_read_as_the_row_that_was_asked(in_node: Any) -> None:
    values = [*HARSH[:5], *HARSH[6:10], "it's", '"quoted" ', "?", "''", "a\nb", "$(id) `id` \\", "-v", "ü 日本"]
    frame = pd.DataFrame({"a": values * 2, "b, c": list(reversed(values)) * 2, "x=": np.arange(2.0 * len(values))})
    model = ing.NaiveBayes().fit(frame, ["+", "-"] * len(values))
    rows = [{"a": one, "b, c": other, "x=": k / 7} for k, (one, other) in enumerate(zip(values, reversed(values)))]
    rows += [{"x=": -1e-300}]
    given = {"columns": sheet(model).document()["columns"], "rows": rows}
    names = "command, python, encode, decode"
    script = """given.rows.map((row) => [command(row, given.columns, "my model.ingenuo"), python(row, given.columns),
      decode("#" + encode(row, given.columns), given.columns), encode(row, given.columns)])"""
    for row, (command, line, decoded, address) in zip(rows, in_node("state.mjs", names, script, given), strict=True):
        *head, typed = shlex.split(command)
        assert head == ["ingenuo", "explain", "my model.ingenuo", "--row"]
        assert parse_row(typed, model) == row
        assert ast.literal_eval(line.removeprefix("model.explain(").removesuffix(")")) == row
        assert decoded == row
        assert re.fullmatch(r"[\w%.!~*'()=&-]+", address)


def test_texts_are_commands_too(in_node: Any) -> None:
    texts = ["it's fine", "text=x", "-5 degrees", "", "a\n'b' \"c\"", "日本 🎉"]
    model = ing.NaiveBayes().fit(["a fine story", "a dull story"], ["+", "-"])
    given = {"columns": sheet(model).document()["columns"], "texts": texts}
    script = """given.texts.map((text) => ({ [given.columns[0].name]: text }))
      .map((row) => [command(row, given.columns, "m"), python(row, given.columns)])"""
    for text, (command, line) in zip(texts, in_node("state.mjs", "command, python", script, given), strict=True):
        assert parse_row(shlex.split(command)[-1], model) == text
        assert ast.literal_eval(line.removeprefix("model.explain(").removesuffix(")")) == text


def test_steps_of_one_gesture_are_one_step_of_undo(in_node: Any) -> None:
    script = """(() => {
      let state = begin({ a: 1, b: null });
      state = ask(state, { a: 2 }, { gesture: "slide a", now: 5000 });
      state = ask(state, { a: 3 }, { gesture: "slide a", now: 5100 });
      state = ask(state, { a: 4 }, { gesture: "slide a", now: 9000 });
      state = ask(state, { a: 4, b: NaN }, { now: 9001 });
      state = ask(state, { a: 5 }, { replace: true, now: 9002 });
      const rows = [state.row];
      while (state.past.length) rows.push((state = undo(state)).row);
      while (state.future.length) rows.push((state = redo(state)).row);
      return rows;
    })()"""
    found = in_node("state.mjs", "ask, begin, redo, undo", script)
    assert [row["a"] for row in found] == [5, 3, 1, 3, 5]


def test_words_of_the_page_can_be_those_of_another_language(in_node: Any) -> None:
    script = """(learn({ "{n} of {m}": "{m} davon {n}" }),
      [say("{n} of {m}", { n: 1, m: 2 }), say("{n} rows", { n: "{m}", m: 3 })])"""
    assert in_node("language.mjs", "learn, say", script) == ["2 davon 1", "{m} rows"]


# Colours.

_SEEN = {  # how colours are seen without one kind of cones (Machado et al. 2009), in linear light
    "all": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def _linear(colours: list[str]) -> Any:
    parts = np.array([[int(each[at : at + 2], 16) for at in (1, 3, 5)] for each in colours]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _oklab(light: Any) -> Any:
    to_cones = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
    to_lab = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
              [0.0259040371, 0.7827717662, -0.8086757660]]  # fmt: skip
    return np.cbrt(np.clip(light @ np.transpose(to_cones), 0, None)) @ np.transpose(to_lab)


@pytest.mark.parametrize("scheme", [0, 1])
def test_colours_of_classes_can_be_told_apart_by_everyone_and_from_the_paper(scheme: int) -> None:
    part = style().split(":root{")[1 + scheme]
    variables = dict(re.findall(r"--([\w]+):(#[0-9a-f]{6})", part))
    light = _linear([variables[f"k{k}"] for k in range(8)])
    for name, matrix in _SEEN.items():
        seen = _oklab(np.clip(light @ np.transpose(matrix), 0, 1))
        apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1) + np.eye(8)
        assert apart.min() > (0.07 if name == "no blue" else 0.09), name
    bright = [float(each @ [0.2126, 0.7152, 0.0722]) for each in [*light, *_linear([variables["paper"]])]]
    assert all((max(each, bright[-1]) + 0.05) / (min(each, bright[-1]) + 0.05) >= 3 for each in bright[:-1])


# Readers.


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    table = diabetes()
    good, bad = "a lovely warm story that moves", "a dull cold story that bores"
    texts = [f"{text} {k % 7} times" for k in range(20) for text in (good, bad)]
    rng = np.random.default_rng(0)
    wide = pd.DataFrame({f"gene {k:03d}": rng.normal(size=80) for k in range(200)})
    letters, twenty = rng.choice(list("abcdefgh"), (200, 3)), [f"class {k % 20}" for k in range(200)]
    patients = ing.NaiveBayes(calibration="temperature").fit(table.slice(0, 300), "progression")
    found = {
        "patients": page(patients, table.slice(300), question="bmi=30"),
        "films": page(ing.NaiveBayes().fit(texts, ["+", "-"] * 20), question=good),
        "wide": page(ing.NaiveBayes().fit(wide, rng.choice(["healthy", "ill"], 80)), question={"gene 003": 1.5}),
        "many": page(ing.NaiveBayes().fit(letters, twenty)),
    }
    folder = tmp_path_factory.mktemp("pages")
    for name, html in found.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in found}


@pytest.mark.parametrize("name", ["patients", "films", "wide", "many"])
def test_every_width_fits_and_no_rule_of_access_is_broken(visit: Visits, pages: dict[str, Path], name: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    all_views = name == "patients"
    for scheme, width in [("light", 1280), ("dark", 360)][: 2 if all_views else 1]:
        found = visit(pages[name], scheme=scheme, width=width)
        found.until("document.querySelectorAll('section.view').length > 1")
        found.page.evaluate("document.querySelectorAll('section.view, .absent').forEach((e) => e.scrollIntoView())")
        found.page.wait_for_timeout(700)
        found.page.evaluate("document.querySelectorAll('#app details:not(.menu)').forEach((e) => e.open = true)")
        found.page.wait_for_timeout(300)
        found.until("!document.querySelector('[aria-busy=true]')")
        result = axe.Axe().run(found.page)
        serious = [
            (each["id"], [node["html"][:150] for node in each["nodes"]][:3])
            for each in result.response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == []
        for narrow in (1600, 1024, 768, 360) if width == 1280 else (360, 320):
            found.page.set_viewport_size({"width": narrow, "height": 800})
            assert found.page.evaluate("document.documentElement.scrollWidth") <= narrow


def test_paper_has_the_question_and_the_answer(visit: Visits, pages: dict[str, Path]) -> None:
    found = visit(pages["patients"])
    found.page.emulate_media(media="print")
    assert found.text(".printed").split() == ["bmi", "30"]
    assert found.page.is_visible(".verdict h2")
    assert found.page.is_hidden(".fields")
    assert found.page.is_hidden(".contents")
    assert found.page.is_hidden("#two")  # nobody drops a file on paper


def test_what_python_wrote_into_the_page_stands_among_the_views(visit: Visits, tennis: Any) -> None:
    found = visit(page(tennis, sections=[("table", "The table", "<p>14 <b>days</b></p>")]))
    assert "The table" in found.texts(".contents a")
    assert found.text(".views #table p b") == "days"
    found.page.click(".contents a:text-is('The table')")
    assert found.page.evaluate("location.hash.includes('table')") is False


def test_without_scripts_the_reader_is_told_what_is_missing(browser: Any, tmp_path: Path, tennis: Any) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(tennis), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    blind = context.new_page()
    blind.goto(path.as_uri())
    assert "needs JavaScript" in blind.inner_text("main")
    context.close()
