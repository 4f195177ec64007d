"""Exported models of ONNX answer in onnxruntime as Python does: joints by bits, posteriors but for their last bits."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.sheet.onnx_rows import assert_alike, onnxruntime
from tests.sheet.test_sheet import CALIBRATORS, COUNTS, FAMILIES, HOSTILE, fitted, harsh_rows, table
from tests.sheet.test_words import SETTINGS, labels, odd_texts, rows_to_ask
from tests.sheet.test_words import fitted as of_texts

import ingenuo as ing
from ingenuo import Words
from ingenuo.cli import main
from ingenuo.errors import InputError, KindError
from ingenuo.sheet import sheet
from ingenuo.sheet.onnx import onnx

# Families of which the joint is made of sums and products alone. The others have logarithms, by their last bits others.
EXACT = ["gaussian", "gaussian-unbiased", "gaussian-or-states", "exponential", "exponential-or-zero"]


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("family", [*FAMILIES, *COUNTS])
def test_every_family_of_numbers(family: str, classes: int) -> None:
    frame, y = table(150, classes)
    positive = family.startswith(("log", "gamma", "exp", "poisson", "neg"))
    if family in COUNTS:
        whole = {"often 0": frame["many"]}
        frame = frame.assign(bell=frame["bell"].round().abs(), skew=frame["skew"].round(), **whole)
    elif positive:
        frame = frame.assign(bell=frame["bell"].abs())
    model, rows = fitted(frame, y, numbers=family), harsh_rows(frame, least=0.0 if positive else -np.inf)
    assert_alike(family, model, rows, exact=family in EXACT)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("calibration", CALIBRATORS)
def test_tuned_and_calibrated_models(calibration: str | None, classes: int) -> None:
    frame, y = table(200, classes)
    for numbers, tune in (("gaussian", False), ("gaussian", True), ("auto", True)):
        model = fitted(frame, y, numbers=numbers, calibration=calibration, tune=tune)
        exact = calibration is None and numbers == "gaussian" and not tune
        assert_alike(f"{numbers}, {tune}", model, harsh_rows(frame, 12), exact=exact)


def test_rare_classes_that_are_calibrated_together() -> None:
    frame, y = table(200, 5)
    y[:] = np.where(y == "class 4", "class 3", y)
    y[:2], y[2:5] = "class 4", "rare"
    for kind in CALIBRATORS[1:]:
        model = fitted(frame, y, calibration=kind)
        assert model.calibrator_.groups
        assert_alike(str(kind), model, harsh_rows(frame, 12), exact=False)


def test_rows_that_every_class_forbids() -> None:
    X = pd.DataFrame({"a": ["x", "y", "z", "x"], "b": ["p", "q", "q", "p"], "n": [1.0, 2.0, 3.0, 1.0]})
    model = ing.NaiveBayes(prior=ing.MaximumLikelihood()).fit(X, ["u", "v", "w", "u"])
    rows = [{"a": a, "b": b, "n": n} for a in ("x", "y", "z") for b in ("p", "q") for n in (1.0, 1e300, None)]
    assert_alike("no prior", model, rows)


@pytest.mark.parametrize("counts", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("classes", [2, 5])
def test_counts(counts: str, classes: int) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(classes, size=120)
    y[:classes] = np.arange(classes)
    frame = pd.DataFrame(rng.poisson(0.5 + 0.2 * y[:, None], (120, 9)), columns=[f"n{j}" for j in range(9)])
    frame["n8"] = 0
    frame["x"] = rng.normal(size=120)
    columns = {f"n{j}": counts for j in range(9)}
    rows = [{name: float(rng.integers(0, 4)) for name in frame.columns if rng.random() < 0.8} for _ in range(20)]
    rows.append({"n0": 1e18, "n1": 1e300})
    for settings in ({}, {"tune": True}, {"calibration": "temperature"}, {"prior": ing.MaximumLikelihood()}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ing.NaiveBayes(columns, **settings).fit(frame, y)
        assert_alike(
            f"{counts} {settings}", model, rows, exact="tune" not in settings and "calibration" not in settings
        )


# Texts.


@pytest.mark.parametrize("model", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("name", [name for name in SETTINGS if not name.startswith("hashed")])
def test_every_setting_of_words(name: str, model: str) -> None:
    if model == "bernoulli" and SETTINGS[name].get("weighting") == "tfidf":
        return
    texts = [text.replace("\0", "") for text in odd_texts(60, 3)]
    fit = of_texts(texts, labels(60, 3), Words(**SETTINGS[name], model=model))
    assert_alike(name, fit, rows_to_ask(), exact=False)


def test_impossible_and_certain_words() -> None:
    texts = [f"film {text}" for text in odd_texts(40, 4)]
    texts[1::2] = [f"{text} onlyhere" for text in texts[1::2]]  # which every text of one class has
    for model in ("multinomial", "complement", "bernoulli"):
        for settings in ({}, {"ngrams": (1, 2)}, {"binary": True}):
            for prior in (ing.MaximumLikelihood(), ing.Lidstone(0.3)):
                fit = of_texts(texts, labels(40, 2), Words(**settings, model=model), prior=prior)
                assert_alike(
                    f"{model} {settings} {prior}", fit, [*rows_to_ask(), {"text": "onlyhere film"}], exact=False
                )


@pytest.mark.parametrize("calibration", ["temperature", "isotonic"])
def test_texts_that_are_calibrated_by_length_and_tuned(calibration: str) -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(3, size=150)
    topics = np.array(["film fine cast music", "dull long slow film", "soup bread fine salt"])
    texts = [" ".join(rng.choice([*topics[k].split(), "and", "the"], int(rng.integers(0, 60)))) for k in y]
    frame = pd.DataFrame({"title": texts[::-1], "body": texts, "x": rng.normal(y), "n": rng.poisson(1 + y)})
    frame.loc[::9, "body"] = None
    columns = {"title": "text", "body": "text", "n": "count"}
    cells = frame[:20].astype(object).where(frame[:20].notna(), None).to_numpy().tolist()
    rows = [{name: value for name, value in zip(frame, row) if rng.random() < 0.8} for row in cells]
    words: Any = {"title": Words(ngrams=(1, 2)), "body": Words(model="bernoulli")}
    for tune in (False, True):
        model = of_texts(frame, y, words, columns=columns, calibration=calibration, tune=tune)
        assert_alike(f"{calibration} {tune}", model, [{}, *rows], exact=False)
    assert any(each.exponent for each in model.attributes_)


def test_hashed_words_are_refused() -> None:
    model = of_texts(["a good film", "a bad film"], ["u", "v"], Words(hashed=64))
    with pytest.raises(InputError, match="the words of column 'text' are hashed, and ONNX has no such hash"):
        onnx(sheet(model))


# Linear models, trees, networks, votes.


def test_linear_models() -> None:
    frame, y = table(200, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for interactions in (None, "auto"):
            model = ing.SoftmaxRegression({"code": "category"}, interactions=interactions).fit(frame, y)
            assert_alike(f"softmax, {interactions}", model, never_empty(harsh_rows(frame)), exact=False)
        two = ing.SoftmaxRegression({"code": "category"}, interactions="auto").fit(frame, y == "class 0")
        assert_alike("softmax of two", two, never_empty(harsh_rows(frame)), exact=False)
        for name in ("pairs", "binary", "tf-idf, unit length", "characters"):
            texts = [text.replace("\0", "") for text in odd_texts(60, 3)]
            model = ing.SoftmaxRegression(text=Words(**SETTINGS[name])).fit(texts, labels(60, 3))
            assert_alike(name, model, rows_to_ask(), exact=False)


@pytest.mark.parametrize("classes", [2, 4])
def test_boosted_trees(classes: int) -> None:
    frame, y = table(300, classes)
    model = ing.BoostedTrees({"code": "category"}).fit(frame, y)
    assert_alike("trees", model, never_empty(harsh_rows(frame, 60)), exact=False)


@pytest.mark.parametrize("classes", [2, 4])
def test_discriminants_of_features(classes: int) -> None:
    frame, y = table(300, classes)
    model = ing.GaussianDiscriminant("regularised", columns={"code": "category"}).fit(frame, y)
    assert_alike("regularised", model, never_empty(harsh_rows(frame, 60)), exact=False)


def never_empty(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without the empty strings, which stand for what is missing in ONNX and are values in Python."""
    return [{name: value for name, value in row.items() if value != ""} for row in rows]


def days(n: int = 200) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(4)
    y = rng.choice(["yes", "no", "maybe"], n)
    frame = pd.DataFrame({
        "sky": np.where(rng.random(n) < 0.7, y, rng.choice(["a", "b"], n)), "wind": rng.choice(["w", "s"], n),
        "code": rng.choice([1, 2, 3], n), "x": rng.normal(size=n) + (y == "yes"),
    })  # fmt: skip
    frame.loc[::7, "wind"] = None
    return frame, y


@pytest.mark.parametrize(
    "settings",
    [
        {"structure": "kdb", "smoothing": "back-off"},
        {"structure": "kdb", "smoothing": "back-off", "weighting": "levels"},
        {"structure": "aode"},
    ],
    ids=str,
)
def test_networks_whose_tables_are_looked_up(settings: dict[str, Any]) -> None:
    frame, y = days()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ing.NetworkClassifier(**settings, columns={"code": "category"}).fit(frame, y)
    rows: list[dict[str, Any]] = [{}, {"sky": "never seen"}, {"sky": "a", "x": 1e300}, {"code": 2, "wind": "w"}]
    rows += [
        {name: value for name, value in row.items() if rng_ > 0.2 and not pd.isna(value)}
        for row, rng_ in zip(frame[:40].to_dict("records"), np.random.default_rng(0).random(40))
    ]
    assert_alike(str(settings), model, rows, exact=False)


def test_the_default_vote() -> None:
    frame, y = table(160, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ing.BayesClassifier().fit(frame, y)
    assert len(model.weights_) > 1
    assert_alike("vote", model, never_empty(harsh_rows(frame)), exact=False)


def test_the_default_vote_on_texts_reads_them_in_several_ways() -> None:
    rng = np.random.default_rng(6)
    topics = np.array(["film fine cast music", "dull long slow film"])
    texts = [" ".join(rng.choice([*topics[k % 2].split(), "and", "the", "soup"], 12)) for k in range(80)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ing.BayesClassifier().fit(texts, ["u", "v"] * 40)
    assert_alike("vote", model, [{"text": text} for text in [*texts[:10], "fine soup", "", "zzz"]], exact=False)


def test_the_optimal_vote() -> None:
    frame, y = table(120, 3)
    members = [("one", fitted(frame, y)), ("two", fitted(frame, y, numbers="histogram"))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ing.BayesOptimalClassifier([(name, ing.NaiveBayes({"code": "category"})) for name, _ in members])
        model.fit(frame, y)
    assert_alike("optimal", model, never_empty(harsh_rows(frame)), exact=False)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            ing.NetworkClassifier("tan"),
            "a network sums over what is missing, which ONNX cannot; export the model to js",
        ),
        (ing.GaussianDiscriminant(), "a discriminant integrates values out that are missing, by other matrices"),
        (ing.LeastSquaresClassifier(), "least squares integrates values out that are missing, by other matrices"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_has_no_onnx_is_refused_in_one_sentence(model: Any, sentence: str) -> None:
    numbers = "Network" not in type(model).__name__
    X = pd.DataFrame({"a": np.random.default_rng(0).normal(size=40)} if numbers else {"a": ["x", "y"] * 20})
    with pytest.raises(InputError, match=sentence):
        onnx(sheet(model.fit(X, ["u", "v", "v", "u"] * 10)))
    with pytest.raises(KindError, match="ONNX is written from a sheet, got NaiveBayes"):
        onnx(ing.NaiveBayes())


def test_a_member_that_has_no_onnx_is_named() -> None:
    frame, y = days()
    members = [("words", ing.NaiveBayes()), ("tree", ing.NetworkClassifier("tan"))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ing.BayesClassifier(members).fit(frame[["sky", "wind"]], y)
    with pytest.raises(InputError, match="the member 'tree' of the vote: a network sums over what is missing"):
        onnx(sheet(model))


# The file.


def test_hostile_names_and_values() -> None:
    n, names = 60, ["predict", "predict_proba", "joint", "_Add_1", "__x", "X", "</script>", "a b", "été", "\u202e"]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice([*HOSTILE[:6], "1", "True"], n) for name in names[:-1]})
    frame["\u202e"] = rng.normal(size=n)
    y = rng.choice(["__proto__", "", "label"], n)
    model = ing.NaiveBayes(dict.fromkeys(names[:-1], "category")).fit(frame, y)
    assert_alike("hostile", model, harsh_rows(frame, 40))
    given = onnxruntime.InferenceSession(onnx(sheet(model)))
    assert [each.name for each in given.get_inputs()] == names
    assert [each.name for each in given.get_outputs()] == ["predict_", "predict_proba_", "joint_"]


@pytest.mark.parametrize("classes", [[True, False], [3, 1], ["a", "b"], [1, "b"]], ids=str)
def test_classes_are_of_their_type(classes: list[Any]) -> None:
    X, y = pd.DataFrame({"x": [1.0, 2.0, 3.0, 5.0]}), np.array(classes * 2, object)
    model = ing.NaiveBayes().fit(X, y)
    session = onnxruntime.InferenceSession(onnx(sheet(model)))
    types = {bool: "bool", int: "int64", str: "string"}
    wanted = types[type(classes[0])] if type(classes[0]) is type(classes[1]) else "string"
    assert session.get_outputs()[0].type == f"tensor({wanted})"
    found = session.run(None, {"x": X.to_numpy()})[0].tolist()
    assert [str(each) for each in found] == [str(each) for each in model.predict(X).tolist()]


def test_values_are_recognised_as_they_are_spelled() -> None:
    X = pd.DataFrame({"code": [1, 2, 30] * 8, "on": [True, False] * 12, "text": ["1", "True", "x"] * 8})
    model = ing.NaiveBayes(dict.fromkeys(X, "category")).fit(X, ["u", "v", "w", "u"] * 6)
    rows = [
        {"code": code, "on": on, "text": text}
        for code, on, text in [("1", "True", "1"), ("1.0", "true", "True"), ("01", "TRUE", "true"), (30, False, "x"),
                               ("30.0", "0", "1.0"), ("", "", "")]
    ]  # fmt: skip
    assert_alike("spelled", model, rows)


def test_all_columns_may_be_one_input() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), rng.integers(3, size=80)
    X[::9, 2] = np.nan
    model = ing.NaiveBayes().fit(X, y)
    session = onnxruntime.InferenceSession(onnx(sheet(model), together=True))
    assert [(each.name, each.shape) for each in session.get_inputs()] == [("X", ["N", 5])]
    found = session.run(None, {"X": X})
    assert found[0].tolist() == model.predict(X).tolist()
    assert np.array_equal(found[2], model.predict_joint_log_proba(X))
    mixed = ing.NaiveBayes().fit([["a", 1.0], ["b", 2.0]], [0, 1])
    with pytest.raises(InputError, match="column 'x0' holds no numbers, so the columns are inputs of their own"):
        onnx(sheet(mixed), together=True)


def test_the_file_says_what_it_is() -> None:
    import json

    import onnx as format

    frame, y = table(60, 2)
    own = sheet(fitted(frame, y))
    model = format.load_from_string(onnx(own))
    props = {each.key: each.value for each in model.metadata_props}
    assert json.loads(props["classes"]) == ["class 0", "class 1"]
    assert props["model"] == own.digest
    assert props["kind"] == "NaiveBayes"
    assert {each.domain: each.version for each in model.opset_import} == {"": 17, "ai.onnx.ml": 3}
    assert [each.name for each in model.graph.input] == list(frame.columns)


def test_the_command_writes_the_file(tmp_path: Path) -> None:
    frame, y = table(60, 2)
    model = fitted(frame, y)
    ing.save(model, tmp_path / "m.ingenuo")
    result = CliRunner().invoke(main, ["export", str(tmp_path / "m.ingenuo"), "-o", str(tmp_path / "m.onnx")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "m.onnx").read_bytes() == onnx(sheet(model))


def test_an_absent_onnx_is_named() -> None:
    script = (
        "import sys; sys.modules['onnx'] = None\n"
        "import ingenuo as ing\n"
        "from ingenuo.sheet import sheet\nfrom ingenuo.sheet.onnx import onnx\n"
        "model = ing.NaiveBayes().fit([[1.0], [2.0]], [0, 1])\n"
        "try: onnx(sheet(model))\n"
        "except ing.errors.InputError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "onnx, which writes ONNX, is not installed; pip install 'ingenuo[onnx]'\n"
