"""`ingenuo train`, `update`, `forget`, `merge`: from files to models and back; what goes wrong loses nothing."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from tests.cli.people import people, write

import ingenuo as ing
from ingenuo import store
from ingenuo.cli import main
from ingenuo.datasets import play_tennis

PLAIN = ("--model", "naive-bayes")  # whose counts are looked at


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    return tmp_path


def run(*arguments: str, **options: object) -> Result:
    return CliRunner().invoke(main, list(arguments), **options)  # type: ignore[arg-type]


def done(*arguments: str) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments: str, code: int = 1) -> str:
    before = {path: path.read_bytes() for path in Path.cwd().rglob("*") if path.is_file()}
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert {path: path.read_bytes() for path in Path.cwd().rglob("*") if path.is_file()} == before
    return result.stderr


def test_the_model_is_the_one_that_the_library_learns(folder: Path) -> None:
    said = done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo")
    assert said.stdout == ""
    assert "key      ignore    240 different values in 240 rows" in said.stderr
    assert "said     text" in said.stderr
    assert "240 rows of 2 classes learned" in said.stderr
    model = ing.load("m.ingenuo")
    wanted = ing.NaiveBayes().fit(ing.scan("people.csv"), "outcome")
    assert model.tally_ == wanted.tally_
    frame = people().drop(columns="key")
    frame["smoker"] = frame["smoker"] == "true"
    assert model.tally_ == ing.NaiveBayes(columns={"said": "text"}).fit(frame, "outcome").tally_


def test_the_saved_model_takes_tables_with_the_columns_that_were_set_aside(folder: Path) -> None:
    done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo")
    assert len(ing.load("m.ingenuo").predict(people())) == 240


def test_where_it_comes_from_is_kept_beside_the_model(folder: Path) -> None:
    done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--folds", "5")
    about = store.about("m.ingenuo")
    assert about["target"] == "outcome"
    assert about["rows"] == 240
    sha256 = hashlib.sha256(Path("people.csv").read_bytes()).hexdigest()
    assert about["sources"] == [{"path": "people.csv", "bytes": os.path.getsize("people.csv"), "sha256": sha256}]
    assert ["age", "number", "numbers"] in about["schema"]
    assert 0.5 < about["evaluation"]["accuracy"]["low"] < about["evaluation"]["accuracy"]["value"]
    assert [line["what"] for line in about["history"]] == ["train"]


@pytest.mark.parametrize(
    ("file", "model"),
    [("people.csv", "people"), ("days.2024.csv.gz", "days.2024"), ("people", "people"), ("in/people.tsv", "people")],
)
def test_a_model_without_a_name_has_that_of_its_file(folder: Path, file: str, model: str) -> None:
    (folder / "in").mkdir()
    if file == "people":
        for label in ("good", "bad"):
            (folder / file / label).mkdir(parents=True)
            (folder / file / label / "1.txt").write_text(f"a {label} text")
    else:
        people().to_csv(folder / file, sep="\t" if file.endswith("tsv") else ",", index=False)
    target = [] if file == "people" else ["--target", "outcome"]
    said = done("train", file, *target).stderr
    assert f"written to {model}.ingenuo (" in said
    assert hasattr(ing.load(folder / f"{model}.ingenuo"), "tally_")


def test_a_model_that_nobody_asked_to_overwrite_is_kept(folder: Path) -> None:
    done("train", *PLAIN, "people.csv", "--target", "outcome")
    first = (folder / "people.ingenuo").read_bytes()
    said = done("train", *PLAIN, "people.csv", "--target", "outcome", "--ignore", "said").stderr
    assert "the model as it was is kept as people.ingenuo~" in said
    assert (folder / "people.ingenuo~").read_bytes() == first
    assert ing.load("people.ingenuo").tally_ != ing.load("people.ingenuo~").tally_


@pytest.mark.parametrize("files", [["-"], ["people.csv", "more.csv"], ["p*.csv"]])
def test_a_model_of_several_files_needs_a_name(folder: Path, files: list[str]) -> None:
    assert "Missing option '-o'" in refused("train", *files, "--target", "outcome", code=2)


def test_a_file_that_is_no_model_is_not_overwritten_by_default(folder: Path) -> None:
    (folder / "people.ingenuo").write_text("mine")
    assert "holds no model" in refused("train", "people.csv", "--target", "outcome")


@pytest.mark.parametrize("name", ["m.csv", "m.JSON", "m.html", "m.png", "m.parquet"])
def test_a_model_is_not_written_under_the_ending_of_something_else(name: str) -> None:
    for arguments in (("train", "people.csv", "--target", "outcome"), ("merge", "m.ingenuo", "m.ingenuo")):
        result = run(*arguments, "-o", name)
        assert result.exit_code == 2
        assert f"'{name}' is no name for a model; let it end in .ingenuo" in result.stderr
        assert not Path(name).exists()


def test_a_learned_file_is_known_by_its_content(folder: Path) -> None:
    done("train", "people.csv", "--target", "outcome")
    (folder / "copy.csv").write_bytes((folder / "people.csv").read_bytes())
    assert "copy.csv is a file that the model learned" in done("evaluate", "people.ingenuo", "copy.csv").stderr
    text = (folder / "people.csv").read_text()
    (folder / "copy.csv").write_text(text.replace("Bari", "Lodi"))  # of the same size
    assert "is a file that the model learned" not in done("evaluate", "people.ingenuo", "copy.csv").stderr


def test_json_prints_what_is_kept(folder: Path) -> None:
    printed = json.loads(done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--json", "-q").stdout)
    assert printed == store.about("m.ingenuo")


def test_quiet_says_nothing(folder: Path) -> None:
    assert done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", "-q").output == ""


def test_a_dry_run_learns_nothing(folder: Path) -> None:
    assert "outcome  class" in done("train", "people.csv", "--target", "outcome", "--dry-run").stderr
    assert [path.name for path in folder.iterdir()] == ["people.csv"]


def test_columns_are_what_they_are_declared_to_be(folder: Path) -> None:
    done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--column", "age=kernel", "--ignore", "town")
    schema = {name: family for name, _, family, _ in ing.load("m.ingenuo").schema_.rows()}
    assert schema == {"key": "ignore", "age": "kernel", "town": "ignore", "smoker": "categorical", "said": "words"}


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (("--model", "softmax:l2=0.5", "--ngrams", "2"), "SoftmaxRegression"),
        (("--model", "network:structure=naive", "--ignore", "said"), "NetworkClassifier"),
        (("--model", "language:order=1", "--ignore", "town"), "LanguageModelClassifier"),
        (("--tune", "--calibrate", "platt"), "NaiveBayes"),
    ],
)
def test_models_go_by_name(folder: Path, options: tuple[str, ...], kind: str) -> None:
    done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", *options)
    model = ing.load("m.ingenuo")
    assert type(model).__name__ == kind
    said = done("predict", "m.ingenuo", "people.csv", "--only").stdout.splitlines()
    assert said[0] == "predicted,probability"
    assert len(said) == 241


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("italian", "italian"),
        ("3", 3),
        ("the,of , don't", frozenset({"the", "of", "don't"})),
        ("the,", frozenset({"the"})),
        ("stops.txt", frozenset({"perché", "of", "the"})),
        ("none", None),
    ],
)
def test_stop_words_are_a_language_a_number_a_list_or_a_file(folder: Path, given: str, wanted: object) -> None:
    Path("stops.txt").write_bytes(b"\xef\xbb\xbfperch\xc3\xa9\r\nof the\n\n")
    done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--stop-words", given)
    assert ing.load("m.ingenuo").text.stop_words == wanted


def test_characters_are_a_range_and_no_words(folder: Path) -> None:
    said = ["train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--characters"]
    done(*said, "2-4")
    assert ing.load("m.ingenuo").text.characters == (2, 4)
    assert "ngrams=(1, 2) is of words, and characters=(2, 4)" in refused(*said, "2-4", "--ngrams", "2")
    assert "characters is a number such as 2 or a range such as 1-3, got 'all'" in refused(*said, "all")


def test_what_is_no_list_of_stop_words_is_refused(folder: Path) -> None:
    Path("latin.txt").write_bytes(b"perch\xe9")
    said = ["train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--stop-words"]
    remedy = "'englsh' is no language (english, italian, spanish), number or file; give your own words with commas"
    assert remedy in refused(*said, "englsh")
    assert "the file 'latin.txt' of stop words is not UTF-8: line 1" in refused(*said, "latin.txt")


def test_a_token_is_given_as_it_is(folder: Path) -> None:
    done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--set", r"token=(?u)[\w']+|no")
    assert ing.load("m.ingenuo").text.token == r"[\w']+|no"


def test_a_regressor_learns_a_number(folder: Path) -> None:
    people().dropna(subset="age").to_csv("filled.csv", index=False)
    done("train", "filled.csv", "--target", "age", "-o", "m.ingenuo", "--model", "regressor:bins=4")
    rows = done("predict", "m.ingenuo", "filled.csv", "--all").stdout.splitlines()
    assert rows[0].endswith("predicted,quantile 0.05,quantile 0.5,quantile 0.95")


def test_a_target_of_many_numbers_gets_a_hint(folder: Path) -> None:
    pd.DataFrame({"x": [f"v{i % 3}" for i in range(400)], "age": [18 + i % 60 for i in range(400)]}).to_csv(
        "a.csv", index=False
    )
    said = done("train", *PLAIN, "a.csv", "--target", "age", "-o", "m.ingenuo", "--folds", "3").stderr
    assert said.count("60 different whole numbers") == 1
    assert "--model regressor" in said


@pytest.mark.parametrize("way", [("--folds", "5"), ("--holdout", "0.3")])
def test_a_regressor_is_judged_by_rows_it_has_not_learned(folder: Path, way: tuple[str, str]) -> None:
    people().dropna(subset="age").to_csv("filled.csv", index=False)
    said = done("train", "filled.csv", "--target", "age", "-o", "m.ingenuo", "--model", "regressor:bins=4", *way).stdout
    assert "R²" in said
    assert "the same, always answering the mean" in said
    inspected = done("inspect", "m.ingenuo").stdout
    assert "; the target is 'age'" in inspected
    assert "evaluation  R² " in inspected
    kept = store.about("m.ingenuo")["evaluation"]
    assert kept["within_interval"]["value"] > 0.7
    assert kept["mean_absolute_error"]["value"] < 3 * kept["always_the_mean_absolute"]["value"]


def test_a_language_model_of_all_texts_needs_no_class(folder: Path) -> None:
    pd.DataFrame({"line": [f"the sun shines on day {i} of the year" for i in range(60)]}).to_csv("t.csv", index=False)
    done("train", "t.csv", "--model", "language-model:order=2", "-o", "t.ingenuo")
    assert ing.load("t.ingenuo").prob("sun", ["the"]) > 0.4
    assert "perplexity" in done("predict", "t.ingenuo", "t.csv").stdout.splitlines()[0]


@pytest.mark.parametrize("ending", ["txt", "csv"])
def test_a_language_model_of_all_texts_learns_and_forgets_files(folder: Path, ending: str) -> None:
    header = "text\n" * (ending == "csv")
    for name, days in (("a", range(60)), ("b", range(60, 90))):
        Path(f"{name}.{ending}").write_text(header + "".join(f"the sun shines on day {i}\n" for i in days))
    model, lines = ("--model", "language-model:order=2"), ["--format", "lines"] * (ending == "txt")
    done("train", f"a.{ending}", *model, *lines, "-o", "a.ingenuo")
    done("train", f"a.{ending}", f"b.{ending}", *model, *lines, "-o", "both.ingenuo")
    assert "30 rows learned; 90 in all" in done("update", "a.ingenuo", f"b.{ending}", "-o", "ab.ingenuo").stderr
    assert ing.load("ab.ingenuo").tally_ == ing.load("both.ingenuo").tally_
    assert "30 rows forgotten; 60 in all" in done("forget", "ab.ingenuo", f"b.{ending}").stderr
    assert ing.load("ab.ingenuo").tally_ == ing.load("a.ingenuo").tally_
    assert "no class to learn" in refused("update", "a.ingenuo", f"b.{ending}", "--target", "text")
    assert "no class to learn" in refused("update", "a.ingenuo", f"b.{ending}", "--weight", "text")


def test_files_that_are_learned_again_are_named(folder: Path) -> None:
    said = "learned before, by its contents, and counted again: people.csv\n"
    assert "counted again" not in done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo").stderr
    people()[:50].to_csv("some.csv", index=False)
    assert "counted again" not in done("update", "m.ingenuo", "some.csv").stderr
    assert said in done("update", "m.ingenuo", "people.csv").stderr
    assert said in done("train", *PLAIN, "people.csv", "people.csv", "--target", "outcome", "-o", "n.ingenuo").stderr
    done("forget", "m.ingenuo", "people.csv")
    assert "counted again" not in done("forget", "m.ingenuo", "people.csv").stderr
    assert "counted again" not in done("update", "m.ingenuo", "people.csv").stderr


def test_a_held_out_share_judges_and_is_then_learned(folder: Path) -> None:
    said = done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--holdout", "0.25").stdout
    assert "Held out: " in said
    assert ing.load("m.ingenuo").tally_ == ing.NaiveBayes().fit(ing.scan("people.csv"), "outcome").tally_
    rows = store.about("m.ingenuo")["evaluation"]["rows"]
    assert 40 <= rows <= 80
    again = done(
        "train", *PLAIN, "people.csv", "--target", "outcome", "-o", "n.ingenuo", "--holdout", "0.25", "--seed", "1"
    )
    assert again.stdout != said


def test_rows_without_a_class_are_left_out_and_counted(folder: Path) -> None:
    frame = people()
    frame.loc[[3, 7, 9], "outcome"] = None
    frame.to_csv("missing values.csv", index=False)
    said = done("train", *PLAIN, "missing values.csv", "--target", "outcome", "-o", "m.ingenuo").stderr
    assert "3 rows have no class in column 'outcome', and are left out" in said
    assert (
        ing.load("m.ingenuo").tally_
        == ing.NaiveBayes()
        .fit(ing.scan("people.csv"), "outcome")
        .forget(frame.iloc[[3, 7, 9]].assign(outcome=people()["outcome"]), "outcome")
        .tally_
    )
    assert "3 rows have no class" in done("evaluate", "m.ingenuo", "missing values.csv").stderr


def test_weights_are_a_column(folder: Path) -> None:
    frame = people()
    frame["times"] = 2
    frame.to_csv("w.csv", index=False)
    done("train", *PLAIN, "w.csv", "--target", "outcome", "-o", "w.ingenuo", "--weight", "times")
    once = ing.NaiveBayes().fit(ing.scan("people.csv"), "outcome")
    assert ing.load("w.ingenuo").tally_ == once.tally_.scale(2)


def test_standard_input_and_output(folder: Path) -> None:
    data = Path("people.csv").read_bytes()
    result = run("train", *PLAIN, "-", "--target", "outcome", "-o", "-", input=data)
    assert result.exit_code == 0
    model = store.from_bytes(result.stdout_bytes)
    assert model.tally_ == ing.NaiveBayes().fit(ing.scan("people.csv"), "outcome").tally_
    ing.save(model, "m.ingenuo")
    piped = run("predict", "m.ingenuo", "-", input=data).stdout
    assert piped == done("predict", "m.ingenuo", "people.csv").stdout


def test_several_files_are_one(folder: Path) -> None:
    frame = people()
    frame[:100].to_csv("a1.csv", index=False)
    pq.write_table(pa.Table.from_pandas(frame[100:].reset_index(drop=True), preserve_index=False), "a2.parquet")
    frame[100:].to_csv("a2.csv.gz", index=False)
    done("train", *PLAIN, "a*.csv*", "--target", "outcome", "-o", "m.ingenuo")
    assert ing.load("m.ingenuo").tally_ == ing.NaiveBayes().fit(ing.scan("people.csv"), "outcome").tally_


# Learning more, forgetting, merging.


def test_update_forget_and_merge_are_sums(folder: Path) -> None:
    frame = people()
    frame[:150].to_csv("first.csv", index=False)
    frame[150:].to_csv("second.csv", index=False)
    for name in ("first", "second", "people"):
        done("train", *PLAIN, f"{name}.csv", "--target", "outcome", "-o", f"{name}.ingenuo")
    whole = ing.load("people.ingenuo").tally_
    assert "90 rows learned; 240 in all" in done("update", "first.ingenuo", "second.csv", "-o", "u.ingenuo").stderr
    assert ing.load("u.ingenuo").tally_ == whole
    printed = json.loads(done("merge", "first.ingenuo", "second.ingenuo", "-o", "sum.ingenuo", "--json").stdout)
    assert printed == store.about("sum.ingenuo")
    assert "cannot both go" in refused("merge", "first.ingenuo", "second.ingenuo", "-o", "-", "--json", code=2)
    assert ing.load("sum.ingenuo").tally_ == whole
    assert "90 rows forgotten; 150 in all" in done("forget", "sum.ingenuo", "second.csv").stderr
    assert ing.load("sum.ingenuo").tally_ == ing.load("first.ingenuo").tally_
    assert [line["what"] for line in store.about("sum.ingenuo")["history"]] == [
        "train",
        "train",
        "merge",
        "forget",
    ]


def test_forgetting_what_was_never_learned_changes_nothing(folder: Path) -> None:
    done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo")
    people(n=30, seed=5).to_csv("others.csv", index=False)
    assert "m.ingenuo" not in refused("forget", "m.ingenuo", "others.csv")


def test_a_calibrated_model_says_how_far_behind_it_is(folder: Path) -> None:
    done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--calibrate", "temperature")
    people(n=60, seed=3).to_csv("more.csv", index=False)
    said = done("update", "m.ingenuo", "more.csv").stderr
    assert said.count("60 rows behind what the model has learned; calibrate it again") == 1
    assert "update or forget with --calibrate-with FILE" in said
    done("predict", "m.ingenuo", "more.csv")
    assert "its calibration 60 rows behind" in done("inspect", "m.ingenuo").stdout
    assert "120 rows behind" in done("forget", "m.ingenuo", "more.csv").stderr
    said = done("update", "m.ingenuo", "more.csv", "--calibrate-with", "people.csv").stderr
    assert "calibrated again by people.csv" in said
    assert "behind" not in said
    assert "behind" not in done("inspect", "m.ingenuo").stdout


def test_models_of_different_kinds_do_not_merge(folder: Path) -> None:
    done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "a.ingenuo")
    done("train", "people.csv", "--target", "outcome", "-o", "b.ingenuo", "--model", "language", "--ignore", "town")
    assert "a.ingenuo and b.ingenuo" in refused("merge", "a.ingenuo", "b.ingenuo", "-o", "c.ingenuo")
    assert "two models at least" in refused("merge", "a.ingenuo", "-o", "c.ingenuo", code=2)


# What goes wrong.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nope.csv", "--target", "outcome"), "nope.csv: there is no such file"),
        (("people.csv", "--target", "outcom"), "did you mean 'outcome'?"),
        (("people.csv",), "name the column to learn"),
        (("people.csv", "--target", "outcome", "--model", "naive"), "did you mean 'naive-bayes'?"),
        (("people.csv", "--target", "outcome", "--model", "network", "--tune"), "has no setting 'tune'"),
        (("people.csv", "--target", "outcome", "--set", "pior=laplace"), "did you mean 'prior'?"),
        (("people.csv", "--target", "outcome", "--prior", "lidstone"), "is no prior"),
        (("people.csv", "--target", "outcome", "--column", "agee=text"), "did you mean 'age'?"),
        (("people.csv", "--target", "outcome", "--column", "age=txt"), "did you mean 'text'?"),
        (("people.csv", "--target", "outcome", "--folds", "1"), "folds"),
        (("people.csv", "--target", "outcome", "--holdout", "2"), "no share of the rows"),
        (("people.csv", "--target", "outcome", "--weight", "wait"), "no column 'wait'"),
        (("people.csv", "--target", "outcome", "--model", "network"), "with --column said=ignore, take"),
        (("people.csv", "--target", "age"), "a regressor"),
        (("empty.csv", "--target", "outcome"), "empty"),
        (("header.csv", "--target", "outcome"), "no rows"),
    ],
)
def test_bad_input_is_one_sentence(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    Path("empty.csv").write_text("")
    Path("header.csv").write_text("age,outcome\n")
    message = refused("train", *arguments, "-o", "m.ingenuo")
    assert said in message
    assert sum(line.startswith("Error: ") for line in message.splitlines()) == 1


def test_a_place_that_cannot_be_written_is_refused_before_the_work(folder: Path) -> None:
    said = refused("train", "people.csv", "--target", "outcome", "-o", "nowhere/m.ingenuo")
    assert "there is no folder" in said
    assert "learned" not in said


def test_a_full_disk_leaves_the_former_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    said = refused("update", "m.ingenuo", "people.csv")
    assert "No space left on device; nothing was saved and any former file is as it was" in said


def test_priors_that_do_not_fit_the_rows_leave_the_former_model(folder: Path) -> None:
    Path("days.csv").write_text("sky,play\nSunny,No\nSunny,No\nRain,Yes\nRain,Yes\nRain,No\n")
    Path("more.csv").write_text("sky,play\nRain,Yes\nRain,Maybe\n")
    done("train", *PLAIN, "days.csv", "--target", "play", "--class-prior", "Yes=.5,No=.5", "-o", "m.ingenuo")
    before = Path("m.ingenuo").read_bytes()
    for option, given, words in (
        ("--prior", "m-estimate:3,Suny=.5,Rian=.5", "a value 'Suny' that no column has; did you mean 'Sunny'?"),
        ("--class-prior", "Ja=.5,Nein=.5", "class_prior has no probability for class 'No'; give one for every class"),
    ):
        assert words in refused("train", *PLAIN, "days.csv", "--target", "play", option, given, "-o", "m.ingenuo")
        assert Path("m.ingenuo").read_bytes() == before
    said = refused("update", "m.ingenuo", "more.csv")
    assert "no probability for class 'Maybe'; give one for every class, or leave its rows out" in said
    assert Path("m.ingenuo").read_bytes() == before
    assert not Path("m.ingenuo~").exists()
    done("predict", "m.ingenuo", "more.csv")


def test_a_model_of_a_newer_version_is_refused(folder: Path) -> None:
    done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo")
    data = Path("m.ingenuo").read_bytes()
    Path("new.ingenuo").write_bytes(data.replace(b'"version":"1"', b'"version":"9"', 1))
    assert "newer" in refused("predict", "new.ingenuo", "people.csv")
    assert "this is not an ingenuo model" in refused("predict", "people.csv", "people.csv")


def test_the_traceback_is_there_for_who_asks(folder: Path) -> None:
    result = run("train", "nope.csv", "--target", "x", "-o", "m.ingenuo", "--debug")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


# Interruptions.


def interrupted(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Batches of a few rows, and Ctrl-C after some of them."""
    from ingenuo.rows.files import scan

    batches = scan.Scan.batches

    def few(self: object, progress: object = None) -> object:
        whole = pa.concat_tables(list(batches(self)))  # type: ignore[arg-type]
        for number in range(8):
            if number == after:
                raise KeyboardInterrupt
            yield whole.slice(number * 30, 30)

    monkeypatch.setattr(scan.Scan, "batches", few)


def test_an_interrupted_training_writes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(monkeypatch, 3)
    assert "interrupted; nothing was written" in refused(
        "train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", code=130
    )


def test_a_checkpoint_goes_on_where_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--checkpoint", "kept")
    with monkeypatch.context() as patched:
        interrupted(patched, 5)
        result = run(*command)
        assert result.exit_code == 130
        assert "the same command goes on from it" in result.stderr
        assert not Path("m.ingenuo").exists()
    assert store.about("kept")["checkpoint"]["batches"] == 4  # those that were summed
    with monkeypatch.context() as patched:
        interrupted(patched, 99)
        done(*command)
    assert not Path("kept").exists()
    assert ing.load("m.ingenuo").tally_ == ing.NaiveBayes().fit(ing.scan("people.csv"), "outcome").tally_


def test_a_checkpoint_of_another_training_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--checkpoint", "kept")
    with monkeypatch.context() as patched:
        interrupted(patched, 5)
        run(*command)
    assert "another training (model differ" in refused(*command, "--prior", "lidstone:0.1")
    done("train", "people.csv", "--target", "outcome", "-o", "finished.ingenuo")
    assert "no checkpoint" in refused(*command[:-1], "finished.ingenuo")
    assert "not a sum of batches" in refused(*command, "--tune")


def test_no_file_that_is_read_is_overwritten(folder: Path) -> None:
    assert "would be overwritten" in refused("train", "people.csv", "--target", "outcome", "-o", "people.csv")
    done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo")
    assert "would be overwritten" in refused("predict", "m.ingenuo", "people.csv", "-o", "people.csv")
    assert "would be overwritten" in refused("predict", "m.ingenuo", "people.csv", "--to", "csv", "-o", "m.ingenuo")
    for command in (
        "explain m.ingenuo people.csv -o people.csv",
        "explain m.ingenuo people.csv --to csv -o m.ingenuo",
        "generate m.ingenuo --to csv -o m.ingenuo",
        "merge m.ingenuo m.ingenuo -o m.ingenuo",
        "report m.ingenuo people.html -o people.html",
        "card m.ingenuo people.html -o people.html",
        "network learn people.yaml -o people.yaml",
    ):
        Path("people.html").write_bytes(Path("people.csv").read_bytes())
        Path("people.yaml").write_bytes(Path("people.csv").read_bytes())
        assert "is read here, and would be overwritten" in refused(*command.split()), command
    Path("notes.txt").write_text("mine")
    assert "holds no model" in refused("train", "people.csv", "--target", "outcome", "-o", "notes.txt")
    done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo")  # a model may be replaced


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_file_without_rows_changes_no_model(folder: Path, ending: str) -> None:
    done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo")
    none, file = people()[:0], f"none.{ending}"
    if ending == "parquet":
        none.to_parquet(file)
    else:
        none.to_csv(file, sep="\t" if ending == "tsv" else ",", index=False)
    assert "there are no rows to learn from" in refused("train", *PLAIN, file, "--target", "outcome", "-o", "n.ingenuo")
    assert "there are no rows to judge by" in refused("evaluate", "m.ingenuo", file)
    assert "there are no rows to learn from" in refused("update", "m.ingenuo", file)
    assert "there are no rows to forget" in refused("forget", "m.ingenuo", file, "--force")
    answered = done("predict", "m.ingenuo", file).stdout
    assert answered == ",".join([*none, "predicted", "probability"]) + "\n"


def test_a_model_that_is_not_there_is_named(folder: Path) -> None:
    done("train", "people.csv", "--target", "outcome", "-o", "people.ingenuo")
    assert "did you mean 'people.ingenuo'?" in refused("predict", "peple.ingenuo", "people.csv")


def test_what_little_can_be_learned_of_is_said(folder: Path) -> None:
    people(n=30).assign(outcome="same").to_csv("one.csv", index=False)
    said = done("train", "one.csv", "--target", "outcome", "-o", "m.ingenuo").stderr
    assert "every row is of the one class 'same', so there is nothing to tell apart" in said
    frame = people(n=60)
    frame.loc[0, "outcome"] = "rare"
    frame.to_csv("rare.csv", index=False)
    assert "class 'rare'" in done("train", "rare.csv", "--target", "outcome", "-o", "m.ingenuo").stderr


def test_models_of_different_columns_do_not_merge(folder: Path) -> None:
    frame = people()
    done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "a.ingenuo")
    done("train", *PLAIN, "people.csv", "--target", "town", "-o", "b.ingenuo")
    assert "has learned the column 'outcome'" in refused("merge", "a.ingenuo", "b.ingenuo", "-o", "c.ingenuo")
    frame[["age", "outcome"]].to_csv("age.csv", index=False)
    frame[["town", "outcome"]].to_csv("town.csv", index=False)
    for name in ("age", "town"):
        done("train", *PLAIN, f"{name}.csv", "--target", "outcome", "-o", f"{name}.ingenuo")
    assert "no column in common" in refused("merge", "age.ingenuo", "town.ingenuo", "-o", "c.ingenuo")
    assert "given more than once" in done("merge", "a.ingenuo", "a.ingenuo", "-o", "twice.ingenuo").stderr


def test_a_file_is_forgotten_by_its_contents_and_another_by_force(folder: Path) -> None:
    done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo")
    people()[:50].to_csv("some.csv", index=False)
    learned = Path("m.ingenuo").read_bytes()
    assert "some.csv is no file that the model learned as it is now" in refused("forget", "m.ingenuo", "some.csv")
    assert Path("m.ingenuo").read_bytes() == learned
    assert not Path("m.ingenuo~").exists()
    said = done("forget", "m.ingenuo", "some.csv", "--force").stderr
    assert "50 rows forgotten; 190 in all" in said
    assert "the model as it was is kept as m.ingenuo~" in said
    assert Path("m.ingenuo~").read_bytes() == learned
    assert "no file that the model learned" in refused("forget", "m.ingenuo", "people.csv")  # of which 50 rows are gone
    done("update", "m.ingenuo~", "some.csv", "-o", "m.ingenuo")
    Path("some.csv").rename("other.csv")  # by its contents, not by its name
    assert "50 rows forgotten; 240 in all" in done("forget", "m.ingenuo", "other.csv").stderr
    assert "no file that the model learned" in refused("forget", "m.ingenuo", "other.csv")  # not twice
    assert (
        "290 rows forgotten; 0 in all"
        in done("forget", "m.ingenuo~", "people.csv", "other.csv", "-o", "0.ingenuo").stderr
    )
    assert store.about("0.ingenuo")["sources"] == []


def test_the_copy_of_the_old_model_overwrites_nothing_else(folder: Path) -> None:
    done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo")
    Path("m.ingenuo~").write_text("mine")
    assert "m.ingenuo~ is there already and holds no model" in refused("forget", "m.ingenuo", "people.csv")
    assert Path("m.ingenuo~").read_text() == "mine"


def test_with_fingerprints_the_row_that_was_never_learned_is_named(folder: Path) -> None:
    done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--fingerprints")
    frame = people()[:50]
    frame.to_csv("some.csv", index=False)
    learned = Path("m.ingenuo").read_bytes()
    frame.loc[7, "town"] = "Bari" if frame.loc[7, "town"] != "Bari" else "Roma"
    frame.to_csv("changed.csv", index=False)
    said = refused("forget", "m.ingenuo", "changed.csv")
    assert "row 8 (" in said
    assert "was never learned" in said
    assert Path("m.ingenuo").read_bytes() == learned
    assert "50 rows forgotten" in done("forget", "m.ingenuo", "some.csv").stderr
    assert "has no setting 'fingerprints'" in refused(
        "train", "people.csv", "--target", "outcome", "-o", "d.ingenuo", "--model", "discriminant", "--fingerprints"
    )


def test_salts_are_given_as_a_setting_and_must_be_the_same_to_merge(folder: Path) -> None:
    for name, salt in (("a", "sea"), ("b", "rock"), ("c", "yes")):
        done(
            "train",
            *PLAIN,
            "people.csv",
            "--target",
            "outcome",
            "-o",
            f"{name}.ingenuo",
            "--set",
            f"fingerprints={salt}",
        )
    assert ing.load("a.ingenuo").fingerprints == "sea"
    assert ing.load("c.ingenuo").fingerprints is True
    assert "different salts" in refused("merge", "a.ingenuo", "b.ingenuo", "-o", "both.ingenuo")
    ing.save(ing.load("a.ingenuo").tally_, "tally.ingenuo")
    ing.save(ing.NaiveBayes().fit(ing.scan("people.csv"), "outcome").tally_, "plain.ingenuo")
    assert "one tally knows its rows" in refused("merge", "tally.ingenuo", "plain.ingenuo", "-o", "both.ingenuo")


def test_a_weight_that_is_none_is_told_with_its_row(folder: Path) -> None:
    people().assign(times=[1.0] * 7 + [-2.0] + [1.0] * 232).to_csv("w.csv", index=False)
    said = refused("train", "w.csv", "--target", "outcome", "-o", "w.ingenuo", "--weight", "times")
    assert "w.csv, row 8: the weight in column 'times' is -2.0" in said


def test_the_target_cannot_be_set_aside(folder: Path) -> None:
    said = refused("train", "people.csv", "--target", "outcome", "--ignore", "outcome", "-o", "m.ingenuo")
    assert "column 'outcome' is the target, and cannot be declared 'ignore' as well" in said


def test_weights_go_with_more_rows_and_with_judging(folder: Path) -> None:
    frame = people()
    frame["times"] = 3
    frame.to_csv("w.csv", index=False)
    done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo")
    once = ing.load("m.ingenuo").tally_
    done("update", "m.ingenuo", "w.csv", "--weight", "times")
    assert ing.load("m.ingenuo").tally_ == once.scale(4)
    done("forget", "m.ingenuo", "w.csv", "--weight", "times")
    assert ing.load("m.ingenuo").tally_ == once
    frame.loc[frame["outcome"] == "ill", "times"] = 0
    frame.to_csv("w.csv", index=False)
    measured = json.loads(done("evaluate", "m.ingenuo", "w.csv", "--weight", "times", "--json").stdout)
    well = frame["outcome"] == "well"
    right = ing.load("m.ingenuo").predict(frame.drop(columns="times"))[well] == "well"
    assert measured["accuracy"]["value"] == pytest.approx(right.mean())
    said = refused("evaluate", "m.ingenuo", "people.csv", "--weight", "tims")
    assert "there is no column 'tims'" in said


def test_select_ranks_columns_in_bits(folder: Path) -> None:
    play_tennis().to_pandas().to_csv("tennis.csv", index=False)
    result = CliRunner().invoke(main, ["select", "tennis.csv", "--target", "Play"])
    assert result.exit_code == 0, result.output
    wanted = ing.AttributeSelector().fit(play_tennis(), "Play")
    assert result.stdout == f"{wanted}\n"
    assert "Outlook      0.247" in result.stdout
    assert (
        "only those that are kept: ingenuo train tennis.csv --target Play --ignore Wind --ignore Temperature"
        in result.stderr
    )
    found = json.loads(
        CliRunner().invoke(main, ["select", "tennis.csv", "-n", "1", "--json", "--target", "Play"]).stdout
    )
    assert found["kept"] == ["Outlook"]
    assert found["ranking"][0]["information"] == pytest.approx(0.2467, abs=1e-4)
    for arguments, said in (
        (["--target", "Plya"], "did you mean 'Play'"),
        (["--target", "Play", "-n", "9"], "n_attributes=9, and the table has 4"),
        (["--target", "Play", "-n", "0"], "0 is not in the range"),
    ):
        refused = CliRunner().invoke(main, ["select", "tennis.csv", *arguments])
        assert refused.exit_code != 0
        assert said in refused.stderr


def test_a_class_that_comes_or_goes_is_said(folder: Path) -> None:
    done("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo")
    people(n=6).assign(outcome=["dead", "dead", "unsure", "ill", "ill", "well"]).to_csv("more.csv", index=False)
    assert "new: class 'dead', 'unsure'" in done("update", "m.ingenuo", "more.csv").stderr.splitlines()
    assert "gone: class 'dead', 'unsure'" in done("forget", "m.ingenuo", "more.csv").stderr.splitlines()
    write(folder, "same.csv", seed=1)
    assert "new:" not in done("update", "m.ingenuo", "same.csv").stderr


def test_a_row_is_one_row_and_the_target_of_a_regressor_no_class(folder: Path) -> None:
    train = ("train", *PLAIN, "people.csv", "--target")
    done(*train, "outcome", "-o", "m.ingenuo")
    people(1).to_csv("one.csv", index=False)
    assert "1 row learned; 241 in all" in done("update", "m.ingenuo", "one.csv").stderr
    assert "1 row forgotten; 240 in all" in done("forget", "m.ingenuo", "one.csv").stderr
    people().dropna(subset="age").to_csv("filled.csv", index=False)
    said = done("train", "filled.csv", "--target", "age", "-o", "r.ingenuo", "--model", "regressor").stderr
    assert "age      number    the target" in said
    assert "class" not in done("explain", "r.ingenuo", "filled.csv", "--rows", "1").stdout


def test_errors_name_the_remedy_that_the_command_has(folder: Path) -> None:
    train = ("train", *PLAIN, "people.csv", "--target", "outcome", "-o")
    assert (
        "the column of --weight must hold numbers, and begins with ['"
        in run(*train, "m.ingenuo", "--weight", "town").stderr
    )
    done(*train, "s.ingenuo", "--model", "softmax", "--quiet")
    said = refused("update", "s.ingenuo", "people.csv")
    assert "cannot learn further rows: its weights are no sums over rows; train it again on all the rows, or" in said
    assert "train a --model naive-bayes, which can" in said
    (folder / "few.csv").write_text("a,b\nx,1\ny,2\nx,2\ny,1\nx,3\n")
    said = run("train", *PLAIN, "few.csv", "--target", "a", "--folds", "3").stderr
    assert "take --folds 2 at most, --folds leave-one-out, give more rows of it, or leave it out" in said
    assert "--folds 1 leaves nothing" in run("train", *PLAIN, "few.csv", "--target", "a", "--folds", "1").stderr
    (folder / "odd.csv").write_bytes(b"a,b\nx,\xff1\ny,2\n")
    assert "(--errors replace)" in refused("train", *PLAIN, "odd.csv", "--target", "a", "--encoding", "utf-8")


def test_a_vote_is_learned_unless_another_model_is_named(folder):
    done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo")
    model = store.load("m.ingenuo")
    assert type(model).__name__ == "BayesClassifier"
    assert len(model.weights_) > 1
    said = refused("update", "m.ingenuo", "people.csv")
    assert "train --model bayes:members=additive, which can" in said
    done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--model", "bayes:members=additive")
    done("update", "m.ingenuo", "people.csv")
    for options in (["--tune"], ["--prior", "lidstone:0.5"], ["--minimum-count", "2"], ["--model", "naive-bayes"]):
        done("train", "people.csv", "--target", "outcome", "-o", "m.ingenuo", *options)
        assert type(store.load("m.ingenuo")).__name__ == "NaiveBayes"
