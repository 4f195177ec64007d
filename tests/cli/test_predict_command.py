"""`ingenuo predict` and `evaluate`: answers beside the rows, as the library gives them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from tests.cli.people import people, write

import ingenuo as ing
from ingenuo.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    write(folder)
    ing.save(ing.NaiveBayes().fit(ing.scan(folder / "people.csv"), "outcome"), folder / "m.ingenuo")
    return folder


@pytest.fixture(autouse=True)
def _there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def run(*arguments: str, **options: object) -> Result:
    return CliRunner().invoke(main, list(arguments), **options)  # type: ignore[arg-type]


def done(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_answers_are_the_librarys() -> None:
    model, rows = ing.load("m.ingenuo"), people().drop(columns="outcome")
    found = pd.read_csv(io.StringIO(done("predict", "m.ingenuo", "people.csv", "--all", "--digits", "17")))
    assert found["predicted"].tolist() == model.predict(rows).tolist()
    np.testing.assert_array_equal(found[["P(ill)", "P(well)"]], model.predict_proba(rows))
    np.testing.assert_array_equal(found["probability"], model.predict_proba(rows).max(axis=1))


def test_all_columns_are_carried_along_with_their_values() -> None:
    text = 'age;town;said;smoker;outcome;more\n 040.50;"Ba;ri";"says ""well""";true;;1,5\n;Pisa;;false;ill;"x\ny"\n'
    Path("odd.csv").write_text(text)
    lines = done("predict", "m.ingenuo", "odd.csv", "--separator", ";")
    found = list(csv.reader(io.StringIO(lines)))
    assert [row[:-2] for row in found] == [
        ["age", "town", "said", "smoker", "outcome", "more"],
        ["40.5", "Ba;ri", 'says "well"', "true", "", "1,5"],
        ["", "Pisa", "", "false", "ill", "x\ny"],
    ]
    assert found[0][-2:] == ["predicted", "probability"]


@pytest.mark.parametrize(("name", "digits"), [("code", 16), ("code", 19), ("code", 20), ("key", 20), ("key", 40)])
@pytest.mark.parametrize("ending", ["csv", "arff"])
def test_long_keys_keep_their_digits(tmp_path: Path, name: str, digits: int, ending: str) -> None:
    keys = [str(10**digits - 1 - i) for i in range(60)]
    rows = "".join(f"{key},{i % 7},{'yn'[i % 2]}\n" for i, key in enumerate(keys))
    head = {
        "csv": f"{name},size,y\n",
        "arff": f"@relation r\n@attribute {name} numeric\n@attribute size numeric\n@attribute y {{y,n}}\n@data\n",
    }
    path, model = tmp_path / f"long.{ending}", str(tmp_path / "long.ingenuo")
    path.write_text(head[ending] + rows)
    ignored = ["--ignore", name] if (name, ending) != ("key", "csv") else []  # a key is known by its name
    done("train", str(path), "--target", "y", *ignored, "-o", model)
    written = done("predict", model, str(path)).splitlines()[1:]
    assert [line.split(",")[0] for line in written] == keys
    records = map(json.loads, done("predict", model, str(path), "--to", "jsonl").splitlines())
    exact = (digits, ending) == (16, "csv")  # which 64 bits hold
    assert [each[name] for each in records] == [int(key) if exact else key for key in keys]


def test_a_column_that_the_model_ignores_is_written_as_it_stands(tmp_path: Path) -> None:
    odd = {3: "1.50", 50_000: "1e3", 60_000: str(10**25 + 1), 199_000: "A17"}
    rows = [f"{odd.get(i, i)},{i % 7},{'yn'[i % 2]}" for i in range(200_000)]
    path, model = tmp_path / "odd.csv", str(tmp_path / "odd.ingenuo")
    path.write_text("\n".join(["code,size,y", *rows]) + "\n")
    done("train", str(path), "--target", "y", "--ignore", "code", "-o", model)
    written = done("predict", model, str(path)).splitlines()[1:]
    assert [line.split(",")[:3] for line in written] == [row.split(",") for row in rows]


def test_numbers_are_rounded_in_text_and_whole_in_columns() -> None:
    model, rows = ing.load("m.ingenuo"), people().drop(columns="outcome")
    exact = model.predict_proba(rows)
    text = done("predict", "m.ingenuo", "people.csv", "--all", "--only")
    assert all(len(cell) <= 12 for line in text.split()[1:] for cell in line.split(",")[1:])
    found = pd.read_csv(io.StringIO(text))[["P(ill)", "P(well)"]].to_numpy()
    np.testing.assert_allclose(found, exact, rtol=5e-6)
    assert (found != exact).any()
    three = pd.read_csv(io.StringIO(done("predict", "m.ingenuo", "people.csv", "--all", "--digits", "3")))
    np.testing.assert_allclose(three["P(ill)"], exact[:, 0], rtol=5e-3)
    done("predict", "m.ingenuo", "people.csv", "--all", "-o", "whole.parquet")
    np.testing.assert_array_equal(pq.read_table("whole.parquet")["P(ill)"].to_numpy(), exact[:, 0])
    assert run("predict", "m.ingenuo", "people.csv", "--digits", "0").exit_code == 2


def test_reasons_leave_names_as_they_are(tmp_path: Path) -> None:
    rows = [("a-b", "Own-child", "no"), ("a-b", "Not-in-family", "yes")] * 4
    text = "x-y,rel-ation,y\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    (tmp_path / "hyphens.csv").write_text(text)
    done("train", str(tmp_path / "hyphens.csv"), "--target", "y", "-o", str(tmp_path / "h.ingenuo"))
    found = done(
        "predict", str(tmp_path / "h.ingenuo"), str(tmp_path / "hyphens.csv"), "--reasons", "2", "--to", "jsonl"
    )
    first = json.loads(found.split("\n")[0])["reasons"]
    assert first == "rel-ation = Own-child +1.61; x-y = a-b +0.00"


def test_reasons_are_the_largest_log_odds() -> None:
    row = people().iloc[[0]]
    row.to_csv("one.csv", index=False)
    reason = list(csv.reader(io.StringIO(done("predict", "m.ingenuo", "one.csv", "--reasons", "1"))))[1][-1]
    explained = ing.load("m.ingenuo").explain(row.drop(columns="outcome"))
    odds = {f.column: f.terms[0].log - f.terms[1].log for f in explained.factors if f.terms}
    strongest = max(odds, key=lambda name: abs(odds[name]))
    assert reason.startswith(strongest)
    assert reason.endswith(f"{abs(odds[strongest]):.2f}")


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.tsv", "out.jsonl", "out.parquet", "out.arrow"])
def test_every_format_is_read_back(name: str) -> None:
    assert done("predict", "m.ingenuo", "people.csv", "-o", name) == ""
    table = ing.read(name, columns={"said": "text"})
    assert table["predicted"].to_pylist() == ing.load("m.ingenuo").predict(people()).tolist()
    assert table["key"].to_pylist() == people()["key"].tolist()
    ages = np.array(table["age"].to_pylist(), float)
    np.testing.assert_array_equal(ages, people()["age"])
    if name.endswith(".parquet"):
        assert str(pq.read_schema(name).field("age").type) == "double"


def test_a_column_that_has_the_name_already_is_kept() -> None:
    people(n=20).assign(predicted="mine").to_csv("named.csv", index=False)
    rows = done("predict", "m.ingenuo", "named.csv").splitlines()
    assert rows[0].endswith("outcome,predicted,predicted_,probability")
    assert ",mine," in rows[1]


def test_missing_columns_are_named_and_others_carried_along() -> None:
    people(n=5).drop(columns="town").to_csv("lacking.csv", index=False)
    result = run("predict", "m.ingenuo", "lacking.csv")
    assert result.exit_code == 1
    assert "there is no column 'town', which the model was trained on" in result.stderr
    assert result.stdout == ""


def test_an_error_in_the_middle_leaves_the_former_file() -> None:
    Path("out.csv").write_text("former")
    Path("broken.csv").write_text("age,town,smoker,said\n30,Bari,true,well\n31,Bari,true\n")
    result = run("predict", "m.ingenuo", "broken.csv", "-o", "out.csv")
    assert result.exit_code == 1
    assert "line 3" in result.stderr
    assert Path("out.csv").read_text() == "former"


def test_types_are_those_that_the_model_knows() -> None:
    frame = pd.DataFrame({"flag": [True, False] * 20, "code": [1, 2, 3, 4] * 10, "y": [0, 1] * 20})
    frame["y"] = np.where(frame["flag"], frame["y"], 1 - frame["y"])
    ing.save(ing.NaiveBayes(columns={"code": "category"}).fit(frame, "y"), "types.ingenuo")
    frame.to_csv("types.csv", index=False)
    found = pd.read_csv(io.StringIO(done("predict", "types.ingenuo", "types.csv")))
    model = ing.load("types.ingenuo")
    np.testing.assert_array_equal(found["probability"], model.predict_proba(frame[["flag", "code"]]).max(axis=1))
    measured = json.loads(done("evaluate", "types.ingenuo", "types.csv", "--json"))
    assert measured["accuracy"]["value"] == model.score(frame, "y")


def test_evaluation_is_the_librarys() -> None:
    found = ing.evaluate(ing.load("m.ingenuo"), people(), "outcome", keep_rows=False)
    assert done("evaluate", "m.ingenuo", "people.csv") == f"{found}\n"
    measured = json.loads(done("evaluate", "m.ingenuo", "people.csv", "--json", "--reliability"))
    assert measured["log_loss"]["value"] == pytest.approx(found["log_loss"].value)
    assert measured["accuracy"]["low"] == pytest.approx(found["accuracy"].low)
    assert sum(bin["rows"] for bin in measured["bins"]) == 240
    done("evaluate", "m.ingenuo", "people.csv", "--plot", "e.svg")
    assert Path("e.svg").read_text().startswith("<?xml")


def test_rows_are_judged_by_the_column_that_is_named() -> None:
    people().rename(columns={"outcome": "truth"}).to_csv("renamed.csv", index=False)
    result = run("evaluate", "m.ingenuo", "renamed.csv")
    assert result.exit_code == 1
    assert "there is no column 'outcome'" in result.stderr
    assert done("evaluate", "m.ingenuo", "renamed.csv", "--target", "truth") == done(
        "evaluate", "m.ingenuo", "people.csv"
    )


def test_numbers_that_a_network_cuts_are_read_as_numbers() -> None:
    frame = people().drop(columns=["key", "said"])
    ing.save(ing.NetworkClassifier("naive").fit(frame, "outcome"), "network.ingenuo")
    found = pd.read_csv(io.StringIO(done("predict", "network.ingenuo", "people.csv", "--all", "--digits", "17")))
    wanted = ing.load("network.ingenuo").predict_proba(frame.drop(columns="outcome"))
    np.testing.assert_array_equal(found[["P(ill)", "P(well)"]], wanted)


def test_texts_alone_are_found_by_what_they_are() -> None:
    frame = people()
    ing.save(ing.NaiveBayes().fit(frame["said"].tolist(), frame["outcome"].tolist()), "texts.ingenuo")
    frame[["key", "said"]].to_csv("texts.csv", index=False)
    found = pd.read_csv(io.StringIO(done("predict", "texts.ingenuo", "texts.csv")))
    assert found["predicted"].tolist() == ing.load("texts.ingenuo").predict(frame["said"].tolist()).tolist()


TEXTS = ["a fine, warm film", 'awful "music"', "dull"]


@pytest.mark.parametrize("kind", ["column", "nameless", "sequences"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_lines_for_a_model_of_texts_are_texts(kind: str, n: int) -> None:
    said, outcome = ["a fine warm film", "awful music, a dull film"], ["+", "-"]
    model = ing.LanguageModelClassifier(1) if kind == "sequences" else ing.NaiveBayes(columns={"said": "text"})
    if kind == "column":
        model.fit(pd.DataFrame({"said": said, "outcome": outcome}), "outcome")
    else:
        model.set_params(**({} if kind == "sequences" else {"columns": None})).fit(said, outcome)
    ing.save(model, "lines.ingenuo")
    lines = "\r\n\n".join(TEXTS[:n])  # empty lines are none, as in any file
    Path("lines.txt").write_text(lines, encoding="utf-8", newline="")
    for given in ("-", "lines.txt"):
        result = run("predict", "lines.ingenuo", given, input=lines)
        assert result.exit_code == 0, result.output
        rows = list(csv.reader(io.StringIO(result.stdout)))
        assert [row[0] for row in rows[1:]] == TEXTS[:n]
        assert [row[1] for row in rows[1:]] == ["+", "-", "-"][:n]
    assert rows[0][0] == ("said" if kind == "column" else "text")
    if kind != "sequences":  # a path, from Python too
        assert model.predict(Path("lines.txt")).tolist() == ["+", "-", "-"][:n]


def test_a_header_of_texts_names_a_column_of_the_model() -> None:
    frame = pd.DataFrame({"said": ["a fine film", "a dull one"], "outcome": ["+", "-"]})
    ing.save(ing.NaiveBayes(columns={"said": "text"}).fit(frame, "outcome"), "said.ingenuo")
    for header in ("said", "outcome;said", '"id","said"'):
        cells = ["dull"] if header == "said" else ["1", "dull"]
        body = ("," if "," in header else ";").join(cells)
        found = list(
            csv.DictReader(io.StringIO(run("predict", "said.ingenuo", "-", input=f"{header}\n{body}\n").stdout))
        )
        assert [(row["said"], row["predicted"]) for row in found] == [("dull", "-")], header
    # What is said of the form holds.
    told = run("predict", "said.ingenuo", "-", "--header", input="review\ndull\n").stdout
    assert told.splitlines()[1].startswith("dull,-")
    lines = run("predict", "said.ingenuo", "-", "--format", "lines", input="said\ndull\n").stdout
    assert [line.partition(",")[0] for line in lines.splitlines()] == ["said", "said", "dull"]


def test_what_is_no_model_answers_nothing() -> None:
    ing.save(ing.load("m.ingenuo").tally_, "tally.ingenuo")
    for command in ("predict", "evaluate", "update"):
        result = run(command, "tally.ingenuo", "people.csv")
        assert result.exit_code == 1
        assert "Tally" in result.stderr
        assert "should not have happened" not in result.stderr


def test_a_model_of_a_csv_answers_for_parquet() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"code": rng.integers(1, 4, 60), "flag": rng.random(60) < 0.5})
    frame["y"] = (frame["code"] > 1) & frame["flag"]
    frame.to_csv("codes.csv", index=False)
    frame.to_parquet("codes.parquet", index=False)
    kinds = ("--column", "code=category")
    assert run("train", "codes.csv", "--target", "y", "-o", "codes.ingenuo", *kinds).exit_code == 0
    by_text, by_type = (
        pd.read_csv(io.StringIO(done("predict", "codes.ingenuo", f"codes.{kind}", "--only")))
        for kind in ("csv", "parquet")
    )
    assert by_text.equals(by_type)
    assert by_text["probability"].nunique() > 2
    judged = [done("evaluate", "codes.ingenuo", f"codes.{kind}") for kind in ("csv", "parquet")]
    assert judged[0] == judged[1]


def test_reliability_has_as_many_bins_as_asked_for(folder: Path) -> None:
    found = json.loads(done("evaluate", "m.ingenuo", "people.csv", "--json", "--reliability", "--bins", "4"))
    assert [each["to"] for each in found["bins"]] == [0.25, 0.5, 0.75, 1.0]
    assert sum(each["rows"] for each in found["bins"]) == found["rows"]
    ten = json.loads(done("evaluate", "m.ingenuo", "people.csv", "--json", "--reliability"))
    assert found["accuracy"] == ten["accuracy"]
    assert run("evaluate", "m.ingenuo", "people.csv", "--bins", "4").exit_code == 2


def test_a_regressor_is_judged_by_how_far_off_it_is() -> None:
    frame = people().dropna(subset="age")
    frame.to_csv("ages.csv", index=False)
    columns = {"said": "text", "key": "ignore"}
    model = ing.NaiveBayesRegressor(bins=4, columns=columns).fit(frame, "age")
    ing.save(model, "ages.ingenuo")
    found = json.loads(done("evaluate", "ages.ingenuo", "ages.csv", "--json"))
    off = np.abs(model.predict(frame.drop(columns="age")) - frame["age"].to_numpy())
    assert found["mean_absolute_error"]["value"] == pytest.approx(off.mean())
    assert found["root_mean_squared_error"]["value"] == pytest.approx(np.sqrt((off**2).mean()))
    assert found["r2"]["value"] == pytest.approx(model.score(frame.drop(columns="age"), frame["age"]))
    assert found["within_interval"]["low"] <= found["within_interval"]["value"] <= found["within_interval"]["high"]
    assert "R²" in done("evaluate", "ages.ingenuo", "ages.csv")
    assert run("evaluate", "ages.ingenuo", "ages.csv", "--reliability").exit_code == 2


def test_values_that_were_never_seen_are_counted_by_column(tmp_path: Path) -> None:
    rows = people().drop(columns="outcome")
    rows.loc[:4, "town"] = ["Lodi", "Lodi", "Asti", "Como", "Nola"]
    rows.loc[0, "smoker"] = "perhaps"
    rows.to_csv("new.csv", index=False)
    found = run("predict", "m.ingenuo", "new.csv", "-o", "out.csv")
    assert [line for line in found.stderr.splitlines() if line.startswith("note:")] == [
        "note: column 'smoker': 1 row has a value that the model never saw ('perhaps')",
        "note: column 'town': 5 rows have a value that the model never saw ('Lodi', 'Asti', 'Como' and 1 more)",
    ]
    assert run("predict", "m.ingenuo", "people.csv", "-o", "out.csv").stderr.startswith("written to")
    assert run("predict", "m.ingenuo", "new.csv", "--quiet").stderr == ""


@pytest.mark.parametrize("name", ["naive-bayes", "softmax", "network"])
def test_every_model_says_what_it_never_saw(name: str, tmp_path: Path) -> None:
    done("train", "people.csv", "--target", "outcome", "--ignore", "said", "--model", name, "-o", "other.ingenuo")
    people().replace({"town": {"Bari": "Lodi"}}).to_csv("new.csv", index=False)
    said = run("predict", "other.ingenuo", "new.csv", "-o", "out.csv").stderr
    n = int((people()["town"] == "Bari").sum())
    assert f"column 'town': {n} rows have a value that the model never saw ('Lodi')" in said


def test_one_row_is_typed() -> None:
    model = ing.load("m.ingenuo")
    row = {"age": 60.5, "town": "Roma", "said": "tired, and sore", "smoker": None}
    typed = "age=60.5, town=Roma, said='tired, and sore'"
    found = pd.read_csv(io.StringIO(done("predict", "m.ingenuo", "--row", typed)))
    assert found["predicted"].tolist() == model.predict(pd.DataFrame([row])).tolist()
    assert found["probability"][0] == pytest.approx(model.predict_proba(pd.DataFrame([row])).max(), abs=1e-6)
    answer = json.loads(done("predict", "m.ingenuo", "--row", '{"town": "Roma"}', "--only", "--to", "jsonl"))
    assert set(answer) == {"predicted", "probability"}
    odd = run("predict", "m.ingenuo", "--row", "town=Lodi")
    assert odd.stderr.count("never seen") == 1
    for wrong in ([], ["people.csv", "--row", "age=1"]):
        assert run("predict", "m.ingenuo", *wrong).exit_code == 2
    assert "did you mean 'town'" in run("predict", "m.ingenuo", "--row", "twon=Roma").stderr


def test_one_text_is_typed() -> None:
    Path("texts.csv").write_text("text,y\nvery good,yes\nvery bad,no\n" * 5)
    done("train", "texts.csv", "--target", "y", "--column", "text=text", "-o", "texts.ingenuo")
    assert done("predict", "texts.ingenuo", "--row", "good, good", "--only").splitlines()[1].startswith("yes,")
    done("train", "texts.csv", "--target", "y", "--column", "text=text", "--model", "language", "-o", "texts.ingenuo")
    assert done("predict", "texts.ingenuo", "--row", "very bad", "--only").splitlines()[1].startswith("no,")
