"""Databases answer as the model does: log joints by bits where they are sums and products, posteriors within 2 ulp."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ingenuo as ing
from ingenuo.errors import InputError, KindError
from ingenuo.sheet import sheet
from ingenuo.sheet.sql import sql, statements
from ingenuo.sheet.sql.dialects import DIALECTS
from ingenuo.text.tokens import tokens

from .databases import NAMES, Database, arrow_of, by_id, database
from .test_networks import harsh_rows as harsh_rows_of_networks
from .test_networks import table as dependent
from .test_sheet import CALIBRATORS, COUNTS, fitted, harsh_rows, table

LEAST = 1e-300  # below, posteriors are this near in all
CODE = {"code": "category"}


@pytest.fixture(scope="module", params=NAMES)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with database(request.param, Path(tmp_path_factory.mktemp("warehouse"))) as found:
        yield found


class Case(NamedTuple):
    """A model, rows to answer, and how near the log joints are, relative to their size; 0: the same bits."""

    name: str
    model: Any
    rows: list[dict[str, Any]]
    near: float = 0.0


def quietly(model: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


# Models, fitted once for all databases. Spark, which takes seconds for a query, is asked the first of each.


@functools.cache
def gaussians(classes: int) -> list[Case]:
    frame, y = table(150, classes)
    families = ["gaussian-or-states", "gaussian", "gaussian-unbiased"]
    return [Case(family, fitted(frame, y, numbers=family), harsh_rows(frame)) for family in families]


@functools.cache
def curves(classes: int) -> list[Case]:
    frame, y = table(150, classes)
    rows = [{k: None if v != v else v for k, v in row.items()} for row in frame.head(40).to_dict("records")]
    found = []
    for family in ["kernel", "histogram", "equal-mass-10", "auto", *(["mixture"] if classes == 2 else [])]:
        model = fitted(frame, y, numbers=family)
        found.append(Case(f"{family}, beyond the tables", model, harsh_rows(frame), 1e-12))
        found.append(Case(family, model, rows, 1e-12 if family == "auto" else 0.0))
    frame, y = table(60, classes)
    for family in ["histogram", *(["kernel", "mixture"] if classes == 2 else [])]:
        model = fitted(frame, y, numbers=family, prior=ing.MaximumLikelihood())
        found.append(Case(f"{family} without a prior", model, harsh_rows(frame), 1e-12))
    return found


@functools.cache
def formulas(classes: int) -> list[Case]:
    frame, y = table(150, classes)
    positive = frame.assign(bell=frame["bell"].abs())
    whole = frame.assign(bell=frame["bell"].round().abs(), skew=frame["skew"].round(), **{"often 0": frame["many"]})
    families = ["gamma-or-zero", "log-normal-or-zero", "exponential", "exponential-or-zero"]
    given = [*((family, positive) for family in families), *((family, whole) for family in COUNTS)]
    return [
        Case(family, fitted(own, y, numbers=family), harsh_rows(own, least=0.0), 1e-12)
        for family, own in [given[0], given[-1], *given[1:-1]]
    ]


@functools.cache
def calibrated(classes: int) -> list[Case]:
    frame, y = table(200, classes)
    numbers, kinds = ["auto", "gaussian", "histogram", "kernel"] * 2, [*CALIBRATORS[::-1], *CALIBRATORS]
    found = []
    for kind, own, tune in zip(kinds, numbers, [False] * 4 + [True] * 4):
        model = fitted(frame, y, numbers=own, calibration=kind, tune=tune)
        found.append(Case(f"{kind}, {own}, tune={tune}", model, harsh_rows(frame, 12), 1e-12))
    rare = np.where(y == "class 1", "class 0", y) if classes == 2 else np.where(y == "class 4", "class 3", y)
    if classes == 5:
        rare[:2], rare[2:5] = "class 4", "rare"
        for kind in CALIBRATORS[1:]:
            model = fitted(frame, rare, calibration=kind)
            assert model.calibrator_.groups
            found.append(Case(f"{kind}, rare classes together", model, harsh_rows(frame, 12), 1e-12))
    return found


@functools.cache
def counts(classes: int) -> list[Case]:
    rng = np.random.default_rng(2)
    y = rng.integers(classes, size=120)
    y[:classes] = np.arange(classes)
    frame = pd.DataFrame(rng.poisson(0.5 + 0.2 * y[:, None], (120, 9)), columns=[f"n{j}" for j in range(9)])
    frame["n8"] = 0
    frame["x"] = rng.normal(size=120)
    rows = [{name: float(rng.integers(0, 4)) for name in frame.columns if rng.random() < 0.8} for _ in range(20)]
    rows.append({"n0": 1e18, "n1": 1e300})
    found = []
    for kind in ["multinomial", "complement", "bernoulli"]:
        columns = {f"n{j}": kind for j in range(9)}
        for settings in ({}, {"tune": True}, {"calibration": "temperature"}, {"prior": ing.MaximumLikelihood()}):
            near = 1e-12 if "tune" in settings or "calibration" in settings else 0.0
            found.append(Case(f"{kind} {settings}", quietly(ing.NaiveBayes(columns, **settings), frame, y), rows, near))
    return found


@functools.cache
def linear(classes: int) -> list[Case]:
    frame, y = table(300, classes)
    rows, moderate = harsh_rows(frame, 30), []
    for row in rows:
        moderate.append({k: v for k, v in row.items() if not isinstance(v, float) or abs(v) < 1e6})
    numbers = frame[["bell", "skew", "often 0"]].fillna(0.0)
    whole = [{**dict.fromkeys(numbers, 0.5), **{k: v for k, v in row.items() if k in numbers}} for row in moderate]
    given: list[tuple[Any, Any, Any]] = [
        (ing.GaussianDiscriminant("regularised", columns=CODE), frame, rows),
        (ing.SoftmaxRegression(CODE), frame, moderate),
        (ing.SoftmaxRegression(CODE, interactions="auto"), frame, rows),
        (ing.BernoulliNB(binarize=0.5), numbers, whole),
        (ing.GaussianDiscriminant("diagonal"), numbers, whole),
        (ing.BoostedTrees(CODE), frame, rows),
        (ing.NetworkClassifier("kdb", smoothing="back-off", weighting="levels", columns=CODE), frame, rows),
    ]
    cases = [Case(str(model), quietly(model, X, y), asked, 1e-11) for model, X, asked in given]
    return [*cases[-1:], *cases[:-1]]


@functools.cache
def with_gaps(classes: int) -> list[Case]:
    """Of models that sum out what is missing: those rows have no answer."""
    frame, y = table(300, classes)
    numbers, rows = frame[["bell", "skew", "often 0"]], harsh_rows(frame, 30)
    whole = [{k: v for k, v in row.items() if k in numbers and abs(v) < 1e6} for row in rows]
    whole += list(frame.dropna().head(20)[[*numbers]].to_dict("records"))
    seen = [{k: None if v != v else v for k, v in row.items()} for row in frame.head(40).to_dict("records")]
    hanging, labels = dependent(300, classes)
    asked = [*harsh_rows_of_networks(hanging), *hanging.dropna().head(40).to_dict("records")]
    given: list[tuple[Any, Any, Any]] = [
        (ing.NetworkClassifier("tan", columns=CODE), hanging, asked),
        (ing.NetworkClassifier("hill-climb", columns=CODE, prior=ing.MaximumLikelihood()), hanging, asked),
        *((ing.GaussianDiscriminant(how), numbers, whole) for how in ("shared", "full")),
        (ing.LeastSquaresClassifier(), numbers, whole),
        (ing.NaiveBayes(CODE, numbers="gaussian-full", calibration="platt"), frame, [*rows, *seen]),
    ]
    return [
        Case(str(model), quietly(model, X, labels if X is hanging else y), asked, 1e-9) for model, X, asked in given
    ]


@functools.cache
def votes(classes: int) -> list[Case]:
    frame, y = table(200, classes)
    rows = harsh_rows(frame, 30)
    additive = quietly(ing.BayesClassifier("additive", CODE), frame, y)
    every = quietly(ing.BayesClassifier(columns=CODE), frame, y)
    members = [("plain", ing.NaiveBayes(CODE)), ("trees", ing.BoostedTrees(CODE))]
    optimal = quietly(ing.BayesOptimalClassifier(members), frame, y)
    cases = [("additive", additive), ("auto", every), ("average", optimal)]
    return [Case(name, model, rows, 1e-11) for name, model in cases]


THEMES = [gaussians, curves, formulas, calibrated, counts, linear, votes]


def answers(engine: Database, model: Any, rows: list[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    """What the database says of rows."""
    found = sheet(model)
    numbers = [each["name"] for each in found.columns if each["kind"] in ("number", "count")]
    others = [each["name"] for each in found.columns if each["kind"] not in ("number", "count")]
    engine.put("rows", arrow_of(rows, numbers, others))
    (query,) = statements(found, dialect=engine.name, key="id", **settings)
    return by_id(engine.ask(query))


def assert_same_answers(engine: Database, case: Case, gaps: bool = False) -> None:
    """Joints as near as the case says, and posteriors within 2 ulp; with gaps some rows may have no answer."""
    given = [{name: value for name, value in row.items() if value is not None} for row in case.rows]
    answered = [case.model.answer_row(row) for row in given]
    posteriors = np.array([posterior for _, posterior in answered])
    joints = np.array([np.zeros(len(posteriors[0])) if joint is None else joint for joint, _ in answered])
    labels = [str(label) for label in case.model.classes_]
    has_joint = not (gaps or isinstance(case.model, ing.GaussianDiscriminant | ing.BayesOptimalClassifier))
    found = answers(engine, case.model, case.rows, joint=has_joint)
    shares = np.column_stack([found[f"P({label})"] for label in labels]).astype(float)
    there = ~np.isnan(shares[:, 0])
    if gaps:
        assert 0 < there.sum() < len(there), case.name
        assert (found["predicted"] == None).tolist() == (~there).tolist()  # noqa: E711
    else:
        assert there.all(), (case.name, case.rows[int(there.argmin())])
    size = np.abs(np.where(np.isfinite(joints), joints, 0.0)).max(axis=1, keepdims=True).clip(1.0)
    if has_joint:
        own = np.column_stack([found[f"joint({label})"] for label in labels])
        with np.errstate(invalid="ignore"):
            same = (own == joints) | (np.abs(own - joints) <= case.near * size)
        assert same.all(), (case.name, case.rows[int(same.all(axis=1).argmin())], own[~same], joints[~same])
    off = np.abs(shares - posteriors)
    # Where exp differs by an ulp, shares and their sum do: so a quotient may by 2 ulp, and one by a sum of five by 4.
    close = off <= (2 if len(labels) == 2 else 4) * np.spacing(posteriors)
    close |= (off <= LEAST) | (off <= 4 * case.near * size * posteriors) | ~there[:, np.newaxis]
    assert close.all(), (case.name, case.rows[int(close.all(axis=1).argmin())], shares[~close], posteriors[~close])
    ordered = np.sort(posteriors, axis=1)
    clear = there & (ordered[:, -1] - ordered[:, -2] > 1e-9)
    best = np.array(labels)[posteriors.argmax(axis=1)]
    assert found["predicted"].astype(str)[clear].tolist() == best[clear].tolist(), case.name
    assert np.array_equal(found["probability"].astype(float)[there], shares.max(axis=1)[there]), case.name


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.__name__)
def test_a_query_answers_as_the_model(engine: Database, theme: Any, classes: int) -> None:
    cases = theme(classes)
    for case in cases if engine.name != "spark" else cases[:1]:
        assert_same_answers(engine, case)


@pytest.mark.parametrize("classes", [2, 5])
def test_rows_that_would_be_summed_out_have_no_answer(engine: Database, classes: int) -> None:
    cases = with_gaps(classes)
    for case in cases if engine.name != "spark" else cases[:1]:
        assert_same_answers(engine, case, gaps=True)


def test_rows_that_every_class_forbids_are_answered(engine: Database) -> None:
    X = pd.DataFrame({"a": ["x", "y", "z", "x"], "b": ["p", "q", "q", "p"], "n": [1.0, 2.0, 3.0, 1.0]})
    model = ing.NaiveBayes(prior=ing.MaximumLikelihood()).fit(X, ["u", "v", "w", "u"])
    rows = [{"a": a, "b": b, "n": n} for a in ("x", "y", "z") for b in ("p", "q") for n in (1.0, 1e300, None)]
    assert_same_answers(engine, Case("no prior", model, rows))


def test_wide_tables_are_answered(engine: Database) -> None:
    """More terms than an expression may have, and more tables than a join."""
    rng = np.random.default_rng(0)
    y = rng.integers(8, size=600)
    numbers = {f"n{j}": rng.normal(y, 3.0) for j in range(80)}
    many = {f"c{j}": rng.integers(30, size=600).astype(str) for j in range(80)}
    frame, labels = pd.DataFrame({**numbers, **many}), np.array(list("abcdefgh"))[y]
    model = quietly(ing.NaiveBayes(dict.fromkeys(many, "category")), frame, labels)
    assert_same_answers(engine, Case("wide", model, frame.head(20).to_dict("records")))


# Names and values.

REPLACED = "${env:PATH} $(PATH)"  # by Spark, and by a tool of SQL Server's
NASTY = [
    'a"b', "a'b", "a`b", "a]b", "a\\b", "a\\'; DROP TABLE rows; --", "a -- b", "a /* b", "line\nbreak", "tab\tstop",
    "\u202eabc", "𝔘ñí", "step_1", "joint_1", "r", "s", "class", "predicted", "P(yes)", "select", "a.b", "$x", "{x}",
    "%s ?", ":name", "x" * 60,
]  # fmt: skip


def nasty() -> tuple[pd.DataFrame, Any]:
    """Columns, values and classes of nasty names."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(size=120) for name in NASTY[:13]})
    for j, name in enumerate(NASTY[13:]):
        frame[name] = rng.choice([*NASTY[2 * j % 20 : 2 * j % 20 + 4], REPLACED], 120)
    return frame, rng.choice([*NASTY[:8], REPLACED, "yes", "YES"], 120)


@functools.cache
def nasty_model() -> Any:
    return quietly(ing.NaiveBayes(dict.fromkeys(NASTY[13:], "category")), *nasty())


def test_nasty_names_and_values_are_only_names_and_values(engine: Database) -> None:
    frame, _ = nasty()
    model, rows = nasty_model(), frame.head(30).to_dict("records")
    numbers, others = NASTY[:13], NASTY[13:]
    given = arrow_of(rows, numbers, others)
    engine.put("rows", given)
    (query,) = statements(sheet(model), dialect=engine.name, key="id")
    found = by_id(engine.ask(query))
    expected = np.array([model.answer_row(row)[1] for row in rows])
    labels = [str(label) for label in model.classes_]
    expected_names = [f"P({label})" for label in labels]
    if engine.name == "spark":
        expected_names = [name.replace("${", "{") for name in expected_names]
    assert [*found][3:-1] == expected_names[:-1]  # and "yes" is apart from "YES"
    assert [*found][-1].casefold() != [*found][-2].casefold()
    assert np.allclose(np.column_stack([*found.values()][3:]).astype(float), expected, rtol=1e-14)
    assert found["predicted"].tolist() == np.array(labels)[expected.argmax(axis=1)].tolist()
    (query,) = statements(sheet(model), dialect=engine.name)  # without a key all columns stand beside the answers
    beside = engine.ask(query)
    assert beside.num_rows == 30
    assert beside.column_names[: len(NASTY)] == [*NASTY]


def test_a_nasty_table_is_only_a_table(engine: Database) -> None:
    frame, y = table(60, 2)
    model = fitted(frame, y)
    for name in ["step_1", "values_of_code_1", "r", "s", "a b" if engine.name == "spark" else 'x"; DROP TABLE y; --']:
        if engine.name == "spark" and " " in name:
            continue  # whose views have no such names
        given = arrow_of(harsh_rows(frame, 3), ["bell", "skew", "flag", "often 0", "many"], ["word </script>", "code"])
        engine.put(name, given)
        (query,) = statements(sheet(model), dialect=engine.name, key="id", table=name)
        assert engine.ask(query).num_rows == 4


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nul_and_half_characters_are_refused_in_one_sentence(dialect: str) -> None:
    model = ing.NaiveBayes().fit(pd.DataFrame({"a": ["a\0b", "c", "c"]}), ["u", "v", "v"])
    with pytest.raises(InputError, match="a value of column 'a' has the character NUL") as caught:
        sql(sheet(model), dialect=dialect)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="half a character"):
        sql(sheet(model), dialect=dialect, table="a\ud800b")
    with pytest.raises(InputError, match="NUL"):
        sql(sheet(model), dialect=dialect, table="a\0b")


@pytest.mark.parametrize(("dialect", "name"), [("spark", "${x}"), ("tsql", "$(x)")])
def test_names_that_a_database_replaces_are_refused(dialect: str, name: str) -> None:
    model = ing.NaiveBayes().fit(pd.DataFrame({name: ["b", "c", "c"]}), ["u", "v", "v"])
    with pytest.raises(InputError, match="replaces by a setting"):
        sql(sheet(model), dialect=dialect, key="id")


def test_values_are_known_by_their_spelling(engine: Database) -> None:
    """Whole numbers in columns of doubles, decimals as texts, and what is no number where numbers are known."""
    X = pd.DataFrame(
        {"code": [1, 2, 30, 1, 2, 30], "flag": [True, False, True, False, True, True], "size": list("abcabc")}
    )
    model = ing.NaiveBayes({"code": "category", "flag": "category"}).fit(X, ["u", "v", "u", "v", "u", "v"])
    expected = {
        code: model.predict_proba(pd.DataFrame({"code": [code], "flag": [True], "size": ["a"]}))[0, 0]
        for code in (1, 30)
    }
    asked: dict[str, pa.Array] = {
        "doubles": pa.array([1.0, 30.0, None], pa.float64()),
        "texts": pa.array(["1", "30", "n/a"]),
        "whole": pa.array([1, 30, None], pa.int64()),
    }
    for style in ("select", "tables"):
        made = statements(sheet(model), dialect=engine.name, key="id", style=style)
        for name, codes in asked.items():
            flags = pa.array([True] * 3) if name != "texts" else pa.array(["True"] * 3)
            given = {
                "id": pa.array([0, 1, 2], pa.int64()),
                "code": codes,
                "flag": flags,
                "size": pa.array(["a", "a", "z"]),
            }
            drop(engine)
            (engine.put if style == "select" else engine.store)("rows", pa.table(given))
            found = by_id(ask(engine, made))
            assert np.allclose(found["P(u)"][:2].astype(float), [expected[1], expected[30]], rtol=1e-14), (style, name)
    drop(engine)


def ask(engine: Database, made: list[str]) -> pa.Table:
    """What the last statement answers, or the view that it makes."""
    *others, last = made
    for each in others:
        engine.run(each)
    if not others:
        return engine.ask(last)
    engine.run(last)
    return engine.ask(f"SELECT * FROM {'`ingenuo_predictions`' if engine.name == 'spark' else 'ingenuo_predictions'}")


def drop(engine: Database) -> None:
    engine.run("DROP VIEW IF EXISTS ingenuo_predictions")
    engine.run("DROP TABLE IF EXISTS ingenuo_terms")


def test_letters_are_compared_one_by_one(engine: Database) -> None:
    X = pd.DataFrame({"a": ["x", "X", "x ", "é", "e\u0301"] * 4})
    model = ing.NaiveBayes().fit(X, ["v", "w", "x", "y", "z"] * 4)
    for style in ("select", "tables"):
        drop(engine)
        (engine.put if style == "select" else engine.store)("rows", arrow_of(X.head(5).to_dict("records"), [], ["a"]))
        if engine.name == "sqlite":
            engine.run("ALTER TABLE rows RENAME TO plain; CREATE TABLE rows (id, a COLLATE NOCASE);")
            engine.run("INSERT INTO rows SELECT * FROM plain; DROP TABLE plain;")
        found = by_id(ask(engine, statements(sheet(model), dialect=engine.name, key="id", style=style)))
        assert found["predicted"].tolist() == ["v", "w", "x", "y", "z"]
    drop(engine)


def test_classes_keep_their_type(engine: Database) -> None:
    X = [["a", 1.0], ["b", 2.0], ["b", 3.0]]
    for labels in ([True, False, False], [3, 4, 4], ["3", "4", "4"]):
        model = ing.NaiveBayes().fit(X, labels)
        engine.put("rows", pa.table({"id": [0], "x0": ["b"], "x1": [2.5]}))
        (query,) = statements(sheet(model), dialect=engine.name, key="id")
        assert engine.ask(query).column("predicted").to_pylist() == [labels[1]]


# Tables and texts.

TEXTS = [
    "a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull", "Une belle histoire, une belle fin",
    "боль и слава", "good and bad and good", "", "film it's ' quoted", "a fine fine fine dull film with music",
]  # fmt: skip


@functools.cache
def texts(classes: int) -> list[tuple[str, Any]]:
    labels = [f"class {k % classes}" for k in range(40)]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"text": [TEXTS[k % 10] for k in rng.integers(10, size=40)], "stars": rng.normal(size=40)})
    frame["from"] = rng.choice(["here", "there", "it's"], 40)
    settings: list[tuple[ing.Words, dict[str, Any]]] = [
        (ing.Words(), {"tune": True, "calibration": "platt"}),
        (ing.Words(), {}),
        (ing.Words(binary=True), {"counts": "complement"}),
        (ing.Words(weighting="tfidf", norm="l2"), {}),
        (ing.Words(weighting="tfidf"), {"calibration": "isotonic"}),
        (ing.Words(stop_words="english"), {"counts": "bernoulli"}),
        (ing.Words(token=r"\w+"), {"numbers": "kernel"}),
    ]
    found = [
        (f"{words} {own}", quietly(ing.NaiveBayes({"text": "text"}, text=words, **own), frame, labels))
        for words, own in settings
    ]
    return [*found, ("softmax", quietly(ing.SoftmaxRegression({"text": "text"}), frame, labels))]


@pytest.mark.parametrize("classes", [2, 5])
def test_words_are_added_from_a_table_that_the_caller_cuts(engine: Database, classes: int) -> None:
    rows = [{"text": text, "stars": x, "from": "it's"} for text, x in zip([*TEXTS, "unknown words", None], range(12))]
    rows += [{"text": "a fine film " * 200, "stars": 0.5}, {"stars": 0.0}]
    for name, model in texts(classes) if engine.name != "spark" else texts(classes)[:1]:
        found = sheet(model)
        words = model.schema_.texts["text"]
        cut = [(i, word) for i, row in enumerate(rows) for _, _, word in tokens(row.get("text") or "", words)]
        drop(engine)
        engine.store("rows", arrow_of(rows, ["stars"], ["text", "from"]))
        engine.store("words", pa.table({"id": [i for i, _ in cut], "word": [word for _, word in cut]}))
        answered = by_id(ask(engine, statements(found, dialect=engine.name, style="tables", key="id", joint=True)))
        for i, row in enumerate(rows):
            joint, posterior = model.answer_row({key: value for key, value in row.items() if value is not None})
            own, shares = (
                np.array([answered[f"{what}({label})"][i] for label in model.classes_]) for what in ("joint", "P")
            )
            size = max(np.abs(joint).max(), 1.0)
            assert np.abs(own - joint).max() <= 1e-12 * size, (name, row)
            assert np.abs(shares - posterior).max() <= 4e-12 * size, (name, row)
    drop(engine)


def test_the_words_of_several_texts_are_named(engine: Database) -> None:
    frame = pd.DataFrame({"title": TEXTS[:8] * 4, "it's a body": TEXTS[2:] * 4, "x": np.arange(32.0)})
    names = ["title", "it's a body"]
    model = quietly(
        ing.NaiveBayes(dict.fromkeys(names, "text"), text={names[0]: ing.Words(binary=True)}), frame, list("uv") * 16
    )
    rows = frame.head(8).to_dict("records")
    cut = [
        (i, name, word)
        for i, row in enumerate(rows)
        for name in names
        for _, _, word in tokens(row[name], model.schema_.texts[name])
    ]
    drop(engine)
    given = arrow_of(rows, ["x"], names)
    engine.store("rows", given.append_column("part", pa.array(["b"] * 8)))
    ids, texts_, words = ([*each] for each in zip(*cut))
    columns = {"id": ids * 2, "part": ["a"] * len(cut) + ["b"] * len(cut), "text": texts_ * 2, "word": words * 2}
    engine.store("words", pa.table(columns))
    found = by_id(ask(engine, statements(sheet(model), dialect=engine.name, style="tables", key=["id", "part"])))
    expected = [model.answer_row(row)[1][0] for row in rows]
    assert np.allclose(found["P(u)"].astype(float), expected, rtol=1e-12)
    assert found["part"].tolist() == ["b"] * 8
    drop(engine)


@pytest.mark.parametrize("classes", [2, 5])
def test_values_in_a_table_are_answered_with_the_same_bits(engine: Database, classes: int) -> None:
    frame, y = table(150, classes)
    case = Case("states", fitted(frame, y), harsh_rows(frame, 40))
    drop(engine)
    found = sheet(case.model)
    engine.store("rows", arrow_of(case.rows, ["bell", "skew", "flag", "often 0", "many"], ["word </script>", "code"]))
    answered = by_id(ask(engine, statements(found, dialect=engine.name, style="tables", key="id", joint=True)))
    joints = [case.model.answer_row({k: v for k, v in row.items() if v is not None})[0] for row in case.rows]
    assert np.array_equal(
        np.column_stack([answered[f"joint({label})"] for label in found.classes]), np.array(joints) + 0.0
    )
    drop(engine)


# What is refused, and what is written for databases that are not here.


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (ing.NaiveBayes(text=ing.Words(ngrams=(1, 2))), "n-grams"),
        (ing.NaiveBayes(text=ing.Words(characters=(1, 3))), "characters"),
        (ing.NaiveBayes(text=ing.Words(hashed=64)), "hashed"),
        (ing.NaiveBayes(text=ing.Words(lexicon={"film": 1, "dull": -1})), "lexicon"),
        (ing.NaiveBayes(prior=ing.MaximumLikelihood()), "impossible"),
    ],
)
def test_texts_that_no_table_of_words_has_are_refused_in_one_sentence(model: Any, why: str) -> None:
    fitted_model = quietly(model, ["a fine film", "a dull film", "fine", "dull"], ["u", "v", "u", "v"])
    with pytest.raises(InputError, match=why) as caught:
        sql(sheet(fitted_model), style="tables", key="id")
    assert str(caught.value).startswith("the text of column 'text' has no SQL")
    with pytest.raises(InputError, match="ask for style='tables'"):
        sql(sheet(fitted_model), key="id")
    with pytest.raises(InputError, match="name the columns that have it"):
        sql(sheet(fitted_model), style="tables")


def test_what_has_no_sql_is_refused_in_one_sentence() -> None:
    frame, y = table(150, 2)
    averaged = quietly(ing.NetworkClassifier("aode", columns=CODE), frame, y)
    with pytest.raises(InputError, match="'averaged'") as caught:
        sql(sheet(averaged))
    vote = quietly(ing.BayesClassifier([("numbers", ing.NaiveBayes(CODE)), ("aode", averaged)], CODE), frame, y)
    if all(vote.weights_.values()):
        with pytest.raises(InputError, match="the member 'aode'") as caught:
            sql(sheet(vote))
    assert "\n" not in str(caught.value)
    plain = fitted(frame, y)
    with pytest.raises(InputError, match="dialect='oracle'"):
        sql(sheet(plain), dialect="oracle")
    with pytest.raises(KindError, match="give sheet"):
        sql(plain)
    impossible = fitted(frame, y, prior=ing.MaximumLikelihood())
    for name in ("mysql", "tsql"):
        with pytest.raises(InputError, match="no infinity"):
            sql(sheet(impossible), dialect=name)


PARSED = {"postgres": "postgres", "tsql": "tsql"}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("style", ["select", "tables"])
def test_every_dialect_is_parsed(dialect: str, style: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    frame, y = table(150, 2)
    models = [
        fitted(frame, y),
        fitted(frame, y, calibration="isotonic"),
        fitted(frame, y, numbers="kernel"),
        linear(2)[1].model,
    ]
    for model in [*models, nasty_model()]:
        made = statements(sheet(model), dialect=dialect, style=style, key="id", table=["own", "rows"])
        for each in made:
            assert len(sqlglot.parse(each, read=dialect)) == 1
        assert ("not run here" in made[0]) == (dialect not in NAMES)


def test_sqlite_reads_every_double_as_it_was() -> None:
    import sqlite3

    rng = np.random.default_rng(0)
    bits = rng.integers(-(2**63), 2**63 - 1, 20000).view(np.float64)
    given = np.concatenate(
        [bits[np.isfinite(bits)], rng.normal(size=20000), np.log(rng.random(20000)), [5e-324, 0.1, -0.0]]
    )
    connection = sqlite3.connect(":memory:")
    for part in np.array_split(given, 60):
        row = connection.execute(f"SELECT {', '.join(map(DIALECTS['sqlite'].literal, part))}").fetchone()
        assert np.array_equal(np.array(row, float), part)
