"""``python -m benchmarks page``: the page's size and speed in Chromium, and the rates of SQL and ONNX, beside Python's.

A keystroke is timed in the page, from the input event of a field (or of a text) until the bars of the answer have
changed: the page's own work, to which the browser adds its drawing. The first calls, which compile, are not counted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ingenuo as ing
from ingenuo.datasets import diabetes
from ingenuo.page import page
from ingenuo.sheet import sheet
from ingenuo.sheet.score import scorer

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BAR = 16.0  # milliseconds a keystroke

# Changes a field again and again; milliseconds of the page's own work until the answer has changed.
TYPE = """
async ([selector, values]) => {
  const field = document.querySelector(selector), found = [];
  const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value").set;
  for (const value of values) {
    await new Promise((done) => setTimeout(done, 120));
    const before = document.querySelector(".posterior").innerHTML, begin = performance.now();
    set.call(field, value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    while (document.querySelector(".posterior").innerHTML === before && performance.now() - begin < 2000)
      await new Promise((done) => { const port = new MessageChannel(); port.port1.onmessage = done; port.port2.postMessage(0); });
    found.push(performance.now() - begin);
  }
  return found;
}
"""  # noqa: E501


def wide(columns: int = 200, rows: int = 600) -> Any:
    """Naive Bayes of many numbers."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=rows)
    frame = pd.DataFrame({f"x{j}": rng.normal(y * rng.random(), 1) for j in range(columns)})
    return ing.NaiveBayes().fit(frame, np.array(["no", "yes"])[y])


def texts(words: int = 50_000, classes: int = 2) -> tuple[Any, str]:
    """Naive Bayes of a large vocabulary, and a text of 2,000 words."""
    rng = np.random.default_rng(0)
    names = np.array([f"w{number:05d}" for number in range(words)])
    shares = 1 / np.arange(1, words + 1)
    shares /= shares.sum()
    found = [" ".join(rng.choice(names, 300, p=shares)) for _ in range(600)] + [" ".join(names)]
    model = ing.NaiveBayes().fit(found, [f"class {number % classes}" for number in range(len(found))])
    return model, " ".join(rng.choice(names, 2000, p=shares))


def pages() -> Iterator[tuple[str, str, str | None, list[str]]]:
    """Name, page, the selector of a field, and what is typed there."""
    table = diabetes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vote = ing.BayesClassifier().fit(table, "progression")
        numbers = [str(20 + 0.37 * step) for step in range(30)]
        plain = ing.NaiveBayes(calibration="platt").fit(table, "progression")
    yield "naive Bayes, 10 columns", page(plain), '.field.number input:not([type="range"])', numbers
    yield "naive Bayes, 10 columns, 442 rows embedded", page(plain, table), None, []
    yield "the vote, 10 columns", page(vote), '.field.number input:not([type="range"])', numbers
    yield "naive Bayes, 200 columns", page(wide()), '.field.number input:not([type="range"])', numbers
    model, text = texts()
    name = sheet(model).document()["columns"][0]["name"]
    typed = [f"{text} w{number:05d}" for number in range(30)]
    yield "50,000 words × 2 classes, a text of 2,000", page(model, question={name: text}), "textarea", typed


def measure_pages() -> Iterator[str]:
    """Lines on each page: its size, how long it takes to open, and a keystroke."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        yield "pages: playwright is not installed, so no browser can be driven"
        return
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        yield "pages: there is no Chromium on this machine"
        return
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=as_root)
        for number, (name, text, selector, values) in enumerate(pages()):
            file = Path(folder, f"{number}.html")
            file.write_text(text, encoding="utf-8")
            loads = []
            for _ in range(3):
                tab = browser.new_page()
                begin = time.perf_counter()
                tab.goto(file.as_uri())
                tab.wait_for_selector('html[data-ready="true"]', state="attached")
                loads.append(1000 * (time.perf_counter() - begin))
                if len(loads) < 3:
                    tab.close()
            line = f"{name:<46} {len(text.encode()) / 1e3:7,.0f} kB   open {min(loads):5,.0f} ms"
            if selector is not None:
                found = sorted(tab.evaluate(TYPE, [selector, values])[5:])
                median = found[len(found) // 2]
                how = "met" if median <= BAR else "missed"
                line += f"   keystroke {median:5.1f} ms (best {found[0]:.1f}; bar {BAR:g}: {how})"
            tab.close()
            yield line
        browser.close()


def mixed(rows: int) -> tuple[Any, pd.DataFrame]:
    """Naive Bayes of five numbers and five categories, and rows to ask it."""
    rng = np.random.default_rng(0)

    def table(n: int) -> tuple[pd.DataFrame, Any]:
        y = rng.integers(2, size=n)
        numbers = {f"x{j}": rng.normal(0.3 * j * y, 1) for j in range(5)}
        letters = np.array(list("abcdef"))
        return pd.DataFrame(numbers | {f"c{j}": letters[rng.integers(0, 5, n) + y] for j in range(5)}), y

    frame, y = table(2000)
    return ing.NaiveBayes().fit(frame, np.array(["no", "yes"])[y]), table(rows)[0]


def best(call: Callable[[], Any], repeat: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """The fewest seconds."""
    found = []
    for _ in range(repeat):
        begin = clock()
        call()
        found.append(clock() - begin)
    return min(found)


def measure_exports(rows: int, repeat: int) -> Iterator[str]:
    """Rows a second of the same rows in Python, DuckDB and onnxruntime."""
    model, frame = mixed(rows)
    own = best(lambda: model.predict_proba(frame), repeat)
    yield f"{'predict_proba, 5 numbers and 5 categories':<46} {rows / own / 1e6:6.2f} million rows/s"
    score, row = scorer(model), frame.iloc[0].to_dict()
    ways: dict[str, Callable[[Any], Any]] = {"one row by scorer": score, "one row by answer_row": model.answer_row}
    for name, ask in ways.items():
        seconds = best(lambda ask=ask: [ask(row) for _ in range(100)], repeat, time.process_time) / 100  # type: ignore[misc]
        yield f"{name:<46} {1e6 * seconds:6.1f} µs of CPU time"
    try:
        import duckdb

        from ingenuo.sheet.sql import sql

        base = duckdb.connect()
        base.execute("SET threads TO 2")
        base.execute("CREATE TABLE rows AS SELECT * FROM frame")
        query = sql(sheet(model)).rstrip().rstrip(";")
        answer = f"CREATE OR REPLACE TABLE answers AS {query}"
        seconds = best(lambda: base.execute(answer), repeat)
        yield f"{'SQL on DuckDB':<46} {rows / seconds / 1e6:6.2f} million rows/s   {own / seconds:.2f} × predict_proba"
        rate = rows / best(lambda: base.execute(answer), repeat, time.process_time) / 1e6
        yield f"{'SQL on DuckDB, a second of one core':<46} {rate:6.2f} million rows"
    except ImportError:
        yield "SQL: DuckDB is not installed"
    try:
        import onnxruntime

        from ingenuo.sheet.onnx import onnx

        session = onnxruntime.InferenceSession(onnx(sheet(model)))
        given = {name: column.to_numpy()[:, np.newaxis] for name, column in frame.items()}
        seconds = best(lambda: session.run(None, given), repeat)
        rate = rows / seconds / 1e6
        yield f"{'ONNX in onnxruntime':<46} {rate:6.2f} million rows/s   {own / seconds:.2f} × predict_proba"
    except ImportError:
        yield "ONNX: onnxruntime is not installed"


def main(arguments: list[str]) -> int:
    """Print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks page", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the exports (default: a million)")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the best counts (default: 3)")
    parser.add_argument("--only", choices=("pages", "exports"), help="only the one or the other")
    given = parser.parse_args(arguments)
    for what, lines in (("pages", measure_pages), ("exports", lambda: measure_exports(given.rows, given.repeat))):
        if given.only in (None, what):
            for line in lines():
                print(line, flush=True)
    return 0
