"""Rows are forgotten from a sheet with its sums as Python does it: answers by bits, fractions and errors by word."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo import store
from ingenuo.datasets import play_tennis
from ingenuo.errors import EmptyModelError, ForgetError, InputError, KindError
from ingenuo.page.session import _as_table, _fractions, read_row
from ingenuo.sheet import sheet
from ingenuo.tally.exact import ratio

from .node import PAGE, bits

SCRIPT = """
import { readFileSync } from "node:fs";
import { open } from "SHEET";
import { compare, forgetful, open_sums } from "ESTIMATES";
const bits = (numbers) => Buffer.from(Float64Array.from(numbers, (each) => each + 0).buffer).toString("hex");
const jobs = JSON.parse(readFileSync(0, "utf8"));
const answers = (model, rows) => rows.map((row) => {
  const { joint, posterior } = model.score(row);
  return [bits(joint), bits(posterior)];
});
const found = jobs.map(({ sheet, steps, rows }) => {
  const model = open(sheet);
  let now = forgetful(model.document, open_sums(model.document.sums), open);
  const first = answers(now.model, rows);
  const each = steps.map(([row, label]) => {
    const k = now.model.classes.indexOf(label);
    if (k < 0) return { error: "no class" };
    try {
      const after = now.forget(row, k), compared = compare(now, after, row, null);
      now = after;
      return { answers: answers(now.model, rows), classes: now.model.classes, fractions: compared.fractions };
    } catch (error) {
      if (!/^(cannot|the model|this is|class_prior|the prior)/.test(error.message)) throw error;
      return { error: error.message };
    }
  });
  return { first, steps: each };
});
console.log(JSON.stringify(found));
"""

Step = tuple[dict[str, Any], Any]


def in_node(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the page makes of each model and the rows that it is to forget."""
    script = SCRIPT
    for name in ("sheet", "estimates"):
        script = script.replace(name.upper(), (PAGE / f"{name}.mjs").as_uri())
    return list(run_node(script, jobs))


def run_node(script: str, given: Any) -> Any:
    """What a script prints, given what it reads."""
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    call = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(call, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout, parse_int=float)  # 10^20 is written without an exponent


def assert_forgets_as_python(cases: list[tuple[str, Any, list[Step], list[dict[str, Any]]]], every: int = 1) -> int:
    """Each (name, model, rows to forget, rows to answer); gives how many rows were forgotten.

    The fractions are compared of one in so many.
    """
    jobs = [
        {"sheet": sheet(model, sums=True).document(), "steps": steps, "rows": rows} for _, model, steps, rows in cases
    ]
    forgotten = 0
    for (name, model, steps, rows), found in zip(cases, in_node(jobs), strict=True):
        assert found["first"] == _answers(model, rows), name
        for number, ((row, label), here) in enumerate(zip(steps, found["steps"], strict=True)):
            before = model
            if label not in model.classes_:
                assert here == {"error": "no class"}
                continue
            after, answers = _without(model, row, label, rows)
            if isinstance(after, str):
                assert here == {"error": after}, (name, number, row)
                continue
            assert here.get("answers") == answers, (name, number, row, here)
            model = after
            forgotten += 1
            assert here["classes"] == list(model.classes_), (name, number)
            if number % every == 0:
                expected = _fractions(before, after, [read_row(before, row)])
                assert here["fractions"] == json.loads(json.dumps(expected)), (name, number, row)
    return forgotten


def _without(model: Any, row: dict[str, Any], label: Any, rows: list[dict[str, Any]]) -> tuple[Any, Any]:
    """The model without a row, and what it answers; or what is said where there is no such model."""
    after = store.from_bytes(store.to_bytes(model))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            after.forget(_as_table(model, [read_row(model, row)]), [label])
        return after, _answers(after, rows)
    except (ForgetError, EmptyModelError) as error:
        return str(error), None
    except InputError as error:  # it has forgotten, and cannot answer
        assert "the prior has a value" in str(error)  # noqa: PT017
        return "the prior names values, and without this row no column would have one of them; use ingenuo open", None


def _answers(model: Any, rows: list[dict[str, Any]]) -> list[list[str | None]]:
    return [[bits(each) for each in model.answer_row(row)] for row in rows]


def table(n: int, classes: int, seed: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Numbers, whole numbers, flags, categories, with missing values; and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    frame = pd.DataFrame({
        "bell": rng.normal(y, 1.0),
        "flag": (rng.random(n) < 0.2 + 0.1 * y).astype(float),
        "often 0": np.where(rng.random(n) < 0.4, 0.0, rng.gamma(2.0, 1.0 + y)),
        "many": rng.poisson(1.0 + y).astype(float),
        "wide": rng.normal(0, 1, n) * 10.0 ** rng.integers(-30, 30, n),
        "kind": rng.choice(["a", "b", "it's", "rare"], n, p=[0.5, 0.3, 0.15, 0.05]),
        "code": rng.choice([1, 2, 30], n),
    })  # fmt: skip
    for name in ("bell", "flag", "many"):
        frame.loc[rng.random(n) < 0.1, name] = np.nan
    frame["kind"] = frame["kind"].where(rng.random(n) > 0.1, None)
    return frame, np.array([f"class {k}" for k in range(5)])[y]


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as a page has them."""
    return [
        {name: value for name, value in zip(frame.columns, row) if value is not None and value == value}
        for row in frame.astype(object).to_numpy().tolist()
    ]


NUMBERS = [0.0, -0.0, 5e-324, 1e-5, 1e-4, 0.1, 999999.5, 1e6, 123456789.123, 1e15, 1e16, 1e300, 1.7976931348623157e308]
PRIORS = [
    ing.MaximumLikelihood(), ing.Laplace(), ing.Lidstone(0.1), ing.MEstimate(2.5),
    ing.MEstimate(3, {"a": 0.7, "b": 0.1, "never seen": 0.2}), ing.Dirichlet(1.3),
    ing.Dirichlet({"a": 2.5, "rare": 1.1}), ing.Lidstone(0.3, variance_rows=0.7, variance_floor=0.05),
]  # fmt: skip


def fitted(frame: pd.DataFrame, y: Any, **settings: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ing.NaiveBayes(columns={"code": "category"}, **settings).fit(frame, y)


@pytest.mark.parametrize("classes", [2, 5])
def test_rows_are_forgotten_until_few_are_left(classes: int) -> None:
    cases = []
    for seed, prior in enumerate(PRIORS):
        frame, y = table(34, classes, seed)
        numbers = ["gaussian-or-states", "gaussian", "gaussian-unbiased"][seed % 3]
        rows = plain_rows(frame)
        order = np.random.default_rng(seed).permutation(len(rows))[:-2].tolist()
        steps = [(rows[i], str(y[i])) for i in order]
        model = fitted(frame, y, prior=prior, numbers=numbers)
        cases.append((repr(prior), model, steps, [*rows[:2], {}, {"bell": 1e300, "many": 2.0, "kind": "c"}]))
    assert assert_forgets_as_python(cases, every=5) > 0.9 * sum(len(steps) for _, _, steps, _ in cases)


def test_columns_of_many_values_are_added_up_as_numpy_does() -> None:
    rng = np.random.default_rng(3)
    n = 400
    frame = pd.DataFrame({
        "town": rng.choice([f"town {i}" for i in range(330)], n), "few": rng.choice([f"{i}" for i in range(11)], n),
        "grade": rng.integers(0, 18, n).astype(float),
    })  # fmt: skip
    y = rng.choice(["u", "v", "w"], n)
    rows = plain_rows(frame)
    steps = [(rows[i], str(y[i])) for i in range(8)]
    weights = rng.random(n) + 1.5
    cases = []
    for prior in (ing.Lidstone(0.1), ing.MEstimate(0.7), ing.MaximumLikelihood()):
        for weight in (None, weights):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = ing.NaiveBayes(prior=prior).fit(frame, y, sample_weight=weight)
            cases.append((f"{prior}, weights {weight is not None}", model, steps, rows[:12]))
    assert assert_forgets_as_python(cases) == 48


def test_counts_are_forgotten() -> None:
    rng = np.random.default_rng(2)
    cases = []
    for classes in (2, 5):
        y = rng.integers(classes, size=40)
        y[:classes] = np.arange(classes)
        frame = pd.DataFrame(rng.poisson(0.5 + 0.2 * y[:, None], (40, 12)), columns=[f"n{j}" for j in (*range(11), 20)])
        frame["x"] = rng.normal(size=40)
        rows = [{name: float(value) for name, value in row.items()} for row in plain_rows(frame)]
        columns = {name: "multinomial" for name in frame.columns if name != "x"}
        for settings in ({}, {"prior": 0.1}, {"prior": ing.MaximumLikelihood()}, {"prior": ing.MEstimate(3)}):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = ing.NaiveBayes(columns, **settings).fit(frame, [f"c{k}" for k in y])
            steps = [(rows[i], f"c{y[i]}") for i in range(len(rows) - 2)]
            cases.append((f"{classes} {settings}", model, steps, [*rows[:2], {"n0": 7.0, "n3": 1.0}]))
    assert assert_forgets_as_python(cases, every=7) == 8 * 38


def test_settings_that_were_found_stay() -> None:
    cases = []
    for classes, settings in (
        (2, {"calibration": "temperature"}), (5, {"calibration": "isotonic"}), (2, {"calibration": "platt"}),
        (2, {"tune": True, "numbers": "gaussian"}), (5, {"tune": True, "numbers": "gaussian", "calibration": "platt"}),
        (5, {"class_prior": "uniform"}), (2, {"class_prior": {"class 0": 0.3, "class 1": 0.7}}),
        (5, {"class_prior": ing.MEstimate(2, {"class 0": 0.4, "class 3": 0.6})}), (5, {"class_prior": ing.Laplace()}),
    ):  # fmt: skip
        frame, y = table(120, classes, classes)
        rows = plain_rows(frame)
        model = fitted(frame, y, **settings)
        cases.append((str(settings), model, [(rows[i], str(y[i])) for i in range(20, 36)], rows[:4]))
    assert assert_forgets_as_python(cases) == 9 * 16


def test_columns_without_names_and_classes_that_are_no_texts() -> None:
    X = [[1.0, "a", 3], [2.5, "b", 4], [0.5, "a", 4], [7.25, "b", 3], [7.0, "c", 3], [1.0, "c", 8]] * 3
    model = ing.NaiveBayes({1: ["a", "b", "c", "d"]}).fit(X, [True, False, True, False, False, True] * 3)
    rows = [{f"x{j}": value for j, value in enumerate(row)} for row in X]
    odd: list[Step] = [({"x0": 9.0}, True), ({"x1": "d"}, False), ({"x2": 5}, True), ({"x0": 3.0}, True)]
    steps = [*odd, *((row, bool(k % 2 == 0)) for k, row in enumerate(rows[:4])), *odd]
    assert assert_forgets_as_python([("no names", model, steps, rows[:6])]) >= 4


def test_rows_that_were_never_learned_are_refused_with_the_sentence_of_python() -> None:
    tennis = ing.NaiveBayes(prior=ing.MaximumLikelihood()).fit(play_tennis(), "Play")
    rows: list[dict[str, Any]] = play_tennis().drop_columns(["Play"]).to_pylist()
    odd: list[Step] = [
        ({"Outlook": "Overcast"}, "No"), ({"Outlook": "it's \"odd\"\n"}, "No"), ({"Wind": 3}, "Yes"),
        *((rows[0], "No") for _ in range(4)), *(({}, "Yes") for _ in range(2)), (rows[2], "Yes"),
    ]  # fmt: skip
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.5, 8.0, 9.0, 5.5], "z": [1.0, np.nan, 3.0, 2.0, 2.0, np.nan]})
    y = ["u", "u", "u", "v", "v", "v"]
    plain, mixed = (ing.NaiveBayes(numbers=numbers).fit(frame, y) for numbers in ("gaussian", "gaussian-or-states"))
    numbers: list[Step] = [
        ({"x": 4.5, "z": 1.0}, "v"), ({"x": 100.0}, "u"), ({"x": 7.0}, "v"), ({"x": 1.5, "z": 2.0}, "u"), ({}, "u"),
        ({"x": 8.0, "z": 2.0}, "v"), ({"x": 9.0, "z": 2.0}, "v"), ({"x": 5.5}, "v"), ({"x": 1.0}, "v"),
    ]  # fmt: skip
    things = pd.DataFrame({"b": [3, 1, 2], "a": [0, 4, 1]})
    bag = ing.NaiveBayes({"a": "count", "b": "count"}).fit(things, ["u", "v", "v"])
    counts: list[Step] = [({"a": 2, "b": 9}, "u"), ({"a": 5, "b": 1}, "v"), ({"a": 4, "b": 1}, "v")]
    assert_forgets_as_python([
        ("tennis", tennis, odd, rows[:5]), ("plain", plain, numbers, [{"x": 3.0, "z": 2.0}]),
        ("mixed", mixed, numbers, [{"x": 3.0, "z": 2.0}]), ("counts", bag, counts, [{"a": 1}, {"b": 2}]),
    ])  # fmt: skip
    found = in_node([{"sheet": sheet(tennis, sums=True).document(), "steps": odd, "rows": []}])
    assert sum("error" in each for each in found[0]["steps"]) >= 4


def test_numbers_are_written_and_rounded_as_in_python() -> None:
    rng = np.random.default_rng(0)
    x = [*rng.normal(size=300) * 10.0 ** rng.integers(-12, 20, 300), *NUMBERS, 375.8125, -375.8125, 1234565.0, 0.5, 1e5]
    tops = [int(each) for each in rng.integers(-(2**62), 2**62, 300)]
    belows = [int(each) ** 3 for each in rng.integers(1, 2**40, 300)]
    shifts = [int(each) for each in rng.integers(-1200, 1200, 300)]
    shifts[:4], tops[:4], belows[:4] = [-1074, -1075, -1074, 971], [1, 3, 3, 2**54 - 1], [1, 4, 2, 2]
    shifts[4], tops[4], belows[4] = 0, 3 * (2**65 + 2**12) + 1, 3  # a third more than halfway between two doubles
    script = f"""
    import {{ readFileSync }} from "node:fs";
    import {{ general, ratio }} from "{(PAGE / "estimates.mjs").as_uri()}";
    const [x, ratios] = JSON.parse(readFileSync(0, "utf8"));
    const own = ratios.map(([top, bottom, shift]) => ratio(BigInt(top), BigInt(bottom), shift) + 0);
    const bits = Buffer.from(Float64Array.from(own).buffer).toString("hex");
    console.log(JSON.stringify([x.flatMap((each) => [general(each, 6), general(each, 12)]), bits]));
    """
    ratios = [(str(top), str(below), shift) for top, below, shift in zip(tops, belows, shifts)]
    texts, found = run_node(script, [x, ratios])
    assert texts == [f"{each:.{digits}g}" for each in x for digits in (6, 12)]
    assert found == bits([ratio(*given) for given in zip(tops, belows, shifts)])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"numbers": "kernel"}, "column 'bell' is 'kernel', and a page cannot"),
        ({"numbers": {"bell": "log-normal-or-zero"}}, "column 'bell' is 'log-normal-or-zero'"),
        ({"numbers": "auto"}, "column 'bell' is 'auto'"),
        ({"fingerprints": True}, "the model has fingerprints"),
        ({"class_weight": "balanced"}, "the model has class_weight"),
        ({"class_prior": ing.Dirichlet([2.0, 3.0])}, "the prior of the classes is a list"),
    ],
)
def test_what_a_page_cannot_forget_from_is_refused_with_its_column(settings: dict[str, Any], words: str) -> None:
    frame, y = table(60, 2, 0)
    model = fitted(frame.assign(bell=frame["bell"].abs()).drop(columns="wide"), y, **settings)
    with pytest.raises(KindError, match="ingenuo open") as error:
        sheet(model, sums=True)
    assert str(error.value).startswith(words)
    assert sheet(model).sums is None


def test_other_models_and_fractional_counts_are_refused() -> None:
    frame, y = table(60, 2, 0)
    with pytest.raises(KindError, match="a SoftmaxRegression has no sums that a page could take rows away from"):
        sheet(ing.SoftmaxRegression().fit(frame[["often 0"]], y), sums=True)
    shares = pd.DataFrame({"a": [0.5, 2.0], "b": [1.0, 0.25]})
    with pytest.raises(KindError, match="counts that are no whole numbers have rounded sums"):
        sheet(ing.NaiveBayes({"a": "count", "b": "count"}).fit(shares, ["u", "v"]), sums=True)
    texts = ing.NaiveBayes().fit(["good film", "bad film", "bad plot"], ["u", "v", "v"])
    with pytest.raises(KindError, match="column 'text' is 'words'"):
        sheet(texts, sums=True)
    whole = ing.NaiveBayes({"a": "complement"}).fit(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), ["u", "v"])
    with pytest.raises(KindError, match="column 'a' is 'complement'"):
        sheet(whole, sums=True)
