"""A sheet answers in JavaScript as the model does in Python, to the last bit: every family and calibrator."""

from __future__ import annotations

import base64
import json
import subprocess
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.errors import KindError
from ingenuo.kernels import portable
from ingenuo.sheet import sheet
from ingenuo.sheet.packing import plain, seal

from .node import PAGE, assert_same_bits, in_node

FAMILIES = [
    "gaussian", "gaussian-unbiased", "gaussian-or-states", "histogram", "kernel", "mixture", "auto", "equal-mass-10",
    "log-normal-or-zero", "gamma-or-zero", "exponential", "exponential-or-zero",
]  # fmt: skip
COUNTS = ["poisson", "poisson-or-zero", "negative-binomial", "negative-binomial-or-zero"]
CALIBRATORS = [None, "temperature", "platt", "isotonic"]
HOSTILE = [
    "</script>",
    "été",
    "e\u0301te\u0301",
    "\u202eabc",
    "\ud7ff",
    "𝔘",
    "'\"`",
    "",
    " ",
    "__proto__",
    "constructor",
    "1",
    "True",
]
NUMBERS = [
    0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1e-310, 1e-150, 1.0, -1.0, 0.5, 2.0, 3.0, 7.0, 1e3, 1e9, -1e9, 1e30, 1e150,
    -1e151, 1e300, 1.7976931348623157e308, -1.7976931348623157e308, 0.1, 1 / 3, 2.5, 4.000000000000001, 123456789.123,
]  # fmt: skip


def table(n: int, classes: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Numbers of several shapes, with states and missing values, categories with hostile names, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    frame = pd.DataFrame({
        "bell": rng.normal(y, 1.0),
        "skew": np.exp(rng.normal(y * 0.3, 1.0)),
        "flag": (rng.random(n) < 0.2 + 0.1 * y).astype(float),
        "often 0": np.where(rng.random(n) < 0.4, 0.0, rng.gamma(2.0, 1.0 + y)),
        "many": rng.poisson(1.0 + y).astype(float),
        "word </script>": rng.choice([*HOSTILE[:5], "common"], n),
        "code": rng.choice([1, 2, 30], n),
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "bell"] = np.nan
    frame["word </script>"] = frame["word </script>"].where(rng.random(n) > 0.1, None)
    return frame, np.array([f"class {k}" for k in range(5)])[y]


def harsh_rows(frame: pd.DataFrame, n: int = 24, seed: int = 1, least: float = -np.inf) -> list[dict[str, Any]]:
    """Rows of extremes, of values that were seen, never seen, and missing."""
    rng = np.random.default_rng(seed)
    numbers = [x for x in NUMBERS if x >= least]
    rows: list[dict[str, Any]] = [{}]
    for _ in range(n):
        row: dict[str, Any] = {}
        for name in frame.columns:
            draw = rng.random()
            if draw < 0.15:
                continue
            if frame[name].dtype.kind == "f":
                seen = frame[name].dropna()
                row[name] = float(rng.choice(seen) if draw < 0.5 else rng.choice(numbers))
            elif frame[name].dtype.kind == "i":
                row[name] = [1, 2, 30, "2", 31][int(rng.integers(5))]
            else:
                row[name] = [*HOSTILE, "common"][int(rng.integers(len(HOSTILE) + 1))]
        rows.append(row)
    return rows


def fitted(frame: pd.DataFrame, y: Any, **settings: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ing.NaiveBayes(columns={"code": "category"}, **settings).fit(frame, y)


@pytest.mark.parametrize("classes", [2, 5])
def test_every_family_of_numbers_has_the_same_bits(classes: int) -> None:
    frame, y = table(150, classes)
    cases = []
    for family in FAMILIES:
        positive = family.startswith(("log", "gamma", "exp"))
        own = frame.assign(bell=frame["bell"].abs()) if positive else frame
        rows = harsh_rows(own, least=0.0 if positive else -np.inf)
        cases.append((family, fitted(own, y, numbers=family), rows))
    own = frame.assign(bell=frame["bell"].round().abs(), skew=frame["skew"].round(), **{"often 0": frame["many"]})
    for family in COUNTS:
        cases.append((family, fitted(own, y, numbers=family), harsh_rows(own, least=0.0)))
    assert_same_bits(cases)


@pytest.mark.parametrize("classes", [2, 5])
def test_tuned_and_calibrated_models_have_the_same_bits(classes: int) -> None:
    frame, y = table(200, classes)
    cases = [
        (f"{calibration}, {numbers}", fitted(frame, y, numbers=numbers, calibration=calibration, tune=tune),
         harsh_rows(frame, 12))
        for calibration, numbers, tune in zip(
            [*CALIBRATORS, *CALIBRATORS], ["gaussian", "histogram", "kernel", "auto"] * 2, [False] * 3 + [True] * 5
        )
    ]  # fmt: skip
    assert_same_bits(cases)


def test_rare_classes_are_calibrated_together_with_the_same_bits() -> None:
    frame, y = table(200, 5)
    y[:] = np.where(y == "class 4", "class 3", y)
    y[:2], y[2:5] = "class 4", "rare"
    cases = [
        (str(kind), fitted(frame, y, calibration=kind), harsh_rows(frame, 12)) for kind in CALIBRATORS if kind
    ]  # fmt: skip
    assert any(model.calibrator_.groups for _, model, _ in cases)
    assert_same_bits(cases)


@pytest.mark.parametrize("counts", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("classes", [2, 5])
def test_counts_have_the_same_bits(counts: str, classes: int) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(classes, size=120)
    y[:classes] = np.arange(classes)
    frame = pd.DataFrame(rng.poisson(0.5 + 0.2 * y[:, None], (120, 9)), columns=[f"n{j}" for j in range(9)])
    frame["n8"] = 0
    frame["x"] = rng.normal(size=120)
    columns = {f"n{j}": counts for j in range(9)}
    rows = [{name: float(rng.integers(0, 4)) for name in frame.columns if rng.random() < 0.8} for _ in range(20)]
    rows.append({"n0": 1e18, "n1": 1e300})
    cases = []
    for settings in ({}, {"tune": True}, {"calibration": "temperature"}, {"prior": ing.MaximumLikelihood()}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ing.NaiveBayes(columns, **settings).fit(frame, y)
        cases.append((f"{counts} {settings}", model, rows))
    assert_same_bits(cases)


def test_rows_that_every_class_forbids_have_the_same_bits() -> None:
    X = pd.DataFrame({"a": ["x", "y", "z", "x"], "b": ["p", "q", "q", "p"], "n": [1.0, 2.0, 3.0, 1.0]})
    model = ing.NaiveBayes(prior=ing.MaximumLikelihood()).fit(X, ["u", "v", "w", "u"])
    rows = [{"a": a, "b": b, "n": n} for a in ("x", "y", "z") for b in ("p", "q") for n in (1.0, 1e300, None)]
    assert_same_bits([("no prior", model, rows)])


def test_the_elementary_functions_have_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([
        rng.normal(size=2000) * 300, rng.normal(size=2000), np.exp(rng.normal(size=2000) * 100), NUMBERS,
        rng.integers(0, 2**63, 20000).view(np.float64), [np.inf, -np.inf, -1.0, 709.8, -745.2, -708.5],
    ])  # fmt: skip
    x = x[~np.isnan(x)]
    script = f"""
    import {{ exp, log, log1p }} from "{(PAGE / "math.mjs").as_uri()}";
    const x = new Float64Array(require_bytes().buffer);
    for (const f of [exp, log, log1p]) process.stdout.write(Buffer.from(x.map(f).buffer));
    function require_bytes() {{ return Uint8Array.from(Buffer.from(process.argv[1], "base64")); }}
    """
    in_node([])  # which skips where there is no node
    found = b""
    for part in np.array_split(x, 16):  # what a command line holds
        call = ["node", "--input-type=module", "-e", script, base64.b64encode(part.tobytes()).decode()]
        done = subprocess.run(call, capture_output=True, check=True)
        expected = b"".join(np.asarray(f(part)).tobytes() for f in (portable.exp, portable.log, portable.log1p))
        mine, its = np.frombuffer(done.stdout), np.frombuffer(expected)
        assert np.array_equal(mine, its, equal_nan=True)
        found += done.stdout
    assert len(found) == 3 * x.nbytes


def test_a_sheet_says_what_it_is_of() -> None:
    frame, y = table(60, 2)
    model = fitted(frame, y)
    found = sheet(model).document()
    assert (found["format"], found["version"], found["kind"]) == ("ingenuo-sheet", 1, "NaiveBayes")
    assert found["classes"] == ["class 0", "class 1"]
    assert [column["name"] for column in found["columns"]] == list(frame.columns)
    assert len(found["check"]) == 32
    assert found["model"] == sheet(model).digest != sheet(fitted(*table(61, 2))).digest
    assert json.loads(sheet(model).to_json()) == found


def test_a_sheet_that_was_changed_fails_its_check() -> None:
    frame, y = table(60, 2)
    document = json.loads(sheet(fitted(frame, y, numbers="gaussian")).to_json())
    (honest,) = in_node([(document, [])])
    first = document["scorer"]["terms"][0]["means"]["values"]
    first[0] = first[0] * (1 + 2e-16) if first[0] else 1e-300
    (changed,) = in_node([(document, [])])
    assert honest["check"]["passed"] == 32
    assert changed["check"]["passed"] < 32


def test_a_change_that_no_row_of_the_check_meets_fails_it_too() -> None:
    words = [f"word{i}" for i in range(3000)]
    model = ing.NaiveBayes(text=ing.Words()).fit([" ".join(words[i::2]) for i in (0, 1)] * 2, ["u", "v"] * 2)
    document = json.loads(sheet(model).to_json())
    renamed, unsealed, longer = (json.loads(json.dumps(document)) for _ in range(3))
    renamed["scorer"]["terms"][0]["words"]["text"] += "x"
    unsealed.pop("seal")
    longer["more"] = None
    found = [
        each["check"]["passed"] for each in in_node([(each, []) for each in (document, renamed, unsealed, longer)])
    ]
    assert found == [32, 0, 0, 0]


def test_a_document_has_the_same_checksum_in_javascript() -> None:
    odd = [-0.0, 5e-324, 1e300, 2**70, 10**400, -(10**400), True, False, None, "", "\ud800", "𝔘\0", [], {}, [[1, "a"]]]
    document = {"2": odd, "10": 1, "𝔘": {"b": [1, 2.5], "a": {}}, "\uffff": 0, "__proto__": 1, "numbers": [0.1] * 9}
    script = f"""
    import {{ seal }} from "{(PAGE / "seal.mjs").as_uri()}";
    console.log(seal(JSON.parse(process.argv[1])));
    """
    in_node([])  # which skips where there is no node
    call = ["node", "--input-type=module", "-e", script, json.dumps(document)]
    assert int(subprocess.run(call, capture_output=True, check=True).stdout) == seal(document)


def test_what_has_no_sheet_is_refused_in_one_sentence() -> None:
    with pytest.raises(KindError, match="a LanguageModel has no sheet"):
        sheet(ing.LanguageModel().fit(["a b", "b a"]))
    with pytest.raises(KindError, match="a NaiveBayes has no sheet"):
        sheet(ing.NaiveBayes)


def test_arrays_keep_their_bits_through_json() -> None:
    array = np.array([0.1, -0.0, 5e-324, -np.inf, np.inf, *np.linspace(0, 1, 30), *[0.1] * 40])
    packed = json.loads(json.dumps(plain({"x": array, "y": array.reshape(5, -1), "z": -np.inf})))
    assert packed["z"] == {"$number": "-inf"}
    values = [float(each) for each in packed["x"]["values"]]
    at = np.frombuffer(base64.b64decode(packed["x"]["at"]), np.uint8)
    assert np.array(values)[at].tobytes() == array.tobytes()
    assert packed["y"]["$array"] == [5, 15]
