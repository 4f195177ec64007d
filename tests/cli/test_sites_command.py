"""`ingenuo merge` and `--minimum-count`: sites learn where their rows are, and what they send adds up to one model."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from tests.cli.people import people

import ingenuo as ing
from ingenuo import store
from ingenuo.cli import main

PLAIN = ("--model", "naive-bayes")  # whose counts are looked at

SITES = ("bari", "pisa", "roma")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def parts() -> list[pd.DataFrame]:
    """Three sites: one has no row of a class, one has a single town, one has no text at all."""
    frame = people().drop(columns="key")
    bari, pisa, roma = (frame.iloc[at].reset_index(drop=True) for at in np.array_split(np.arange(len(frame)), 3))
    bari = bari[bari["outcome"] == "ill"].reset_index(drop=True)
    pisa["town"] = "Pisa"
    roma["said"] = None
    return [bari, pisa, roma]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def done(*arguments: str) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments: str) -> str:
    before = {path: path.read_bytes() for path in Path.cwd().rglob("*") if path.is_file()}
    result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert {path: path.read_bytes() for path in Path.cwd().rglob("*") if path.is_file()} == before
    return result.stderr


def trained(*more: str) -> pd.DataFrame:
    frames = parts()
    for name, frame in zip(SITES, frames):
        frame.to_csv(f"{name}.csv", index=False)
        done("train", *PLAIN, f"{name}.csv", "--target", "outcome", "-o", f"{name}.ingenuo", *more)
    return pd.concat(frames, ignore_index=True)


def test_sites_that_lack_classes_values_and_texts_add_up_to_one_model_in_any_order(folder: Path) -> None:
    everyone = trained()
    everyone.to_csv("all.csv", index=False)
    done("train", *PLAIN, "all.csv", "--target", "outcome", "-o", "all.ingenuo")
    whole = ing.load("all.ingenuo")
    for order in permutations(SITES):
        said = done("merge", *(f"{name}.ingenuo" for name in order), "-o", "sum.ingenuo").stderr
        assert "roma.ingenuo has set 'said' aside: its rows count as rows without a value there" in said
        merged = ing.load("sum.ingenuo")
        assert merged.tally_ == whole.tally_
        assert merged.predict(everyone).tolist() == whole.predict(everyone).tolist()


def test_a_site_without_a_column_adds_rows_without_its_values(folder: Path) -> None:
    frames = parts()[1:]
    frames[1] = frames[1].drop(columns=["said", "age"])
    for name, frame in zip(("a", "b"), frames):
        frame.to_csv(f"{name}.csv", index=False)
        done("train", *PLAIN, f"{name}.csv", "--target", "outcome", "-o", f"{name}.ingenuo")
    done("merge", "b.ingenuo", "a.ingenuo", "-o", "sum.ingenuo")
    pd.concat(frames, ignore_index=True).to_csv("all.csv", index=False)
    done("train", *PLAIN, "all.csv", "--target", "outcome", "-o", "all.ingenuo")
    assert ing.load("sum.ingenuo").tally_ == ing.load("all.ingenuo").tally_


def test_a_column_that_reads_otherwise_at_a_site_is_named_with_the_remedy(folder: Path) -> None:
    frames = parts()
    frames[1]["age"] = np.where(frames[1]["age"] > 45, "old", "young")
    for name, frame in zip(SITES[:2], frames):
        frame.to_csv(f"{name}.csv", index=False)
        done("train", *PLAIN, f"{name}.csv", "--target", "outcome", "-o", f"{name}.ingenuo")
    said = refused("merge", "bari.ingenuo", "pisa.ingenuo", "-o", "sum.ingenuo")
    assert "bari.ingenuo and pisa.ingenuo: column 'age' is gaussian-or-states in one model and categorical in" in said


def test_tallies_add_up_to_a_tally(folder: Path) -> None:
    trained("--ignore", "said")
    done("merge", *(f"{name}.ingenuo" for name in SITES), "-o", "models.ingenuo")
    for name in SITES:
        ing.save(ing.load(f"{name}.ingenuo").tally_, f"{name}.tally")
    said = done("merge", "roma.tally", "bari.tally", "pisa.tally", "-o", "sum.tally").stderr
    assert f"3 tallies added up; {sum(map(len, parts()))} rows in all" in said
    assert ing.load("sum.tally") == ing.load("models.ingenuo").tally_
    assert store.about("sum.tally")["history"][-1]["source"] == "roma.tally, bari.tally, pisa.tally"


def test_tallies_that_do_not_fit_are_refused_by_name(folder: Path) -> None:
    trained("--ignore", "said")
    ing.save(ing.load("pisa.ingenuo").tally_, "pisa.tally")
    said = refused("merge", "bari.ingenuo", "pisa.tally", "-o", "sum.ingenuo")
    assert "bari.ingenuo and pisa.tally: a tally does not say what its columns are" in said
    ing.save(ing.LanguageModel().fit(["a b c"]).tally_, "words.tally")
    said = refused("merge", "words.tally", "pisa.tally", "-o", "sum.tally")
    assert "words.tally and pisa.tally: the tallies have no table in common" in said


def test_networks_of_one_structure_add_up(folder: Path) -> None:
    frame = people()[["town", "smoker", "outcome"]].dropna()
    for name, part in (("first", frame[:90]), ("second", frame[90:]), ("all", frame)):
        part.to_csv(f"{name}.csv", index=False)
        options = ("--structure", "naive", "--target", "outcome")
        done("network", "learn", f"{name}.csv", "-o", f"{name}.ingenuo", *options)
    done("merge", "second.ingenuo", "first.ingenuo", "-o", "sum.ingenuo")
    assert ing.load("sum.ingenuo").tally == ing.load("all.ingenuo").tally
    assert "a Network is not made of sums by class" in refused(
        "merge", "first.ingenuo", "-o", "safe.ingenuo", "--minimum-count", "5"
    )


def test_settings_that_differ_are_said_for_the_first_decides(folder: Path) -> None:
    trained("--ignore", "said")
    arguments = ("--target", "outcome", "--ignore", "said", "--prior", "lidstone:0.5")
    done("train", *PLAIN, "roma.csv", *arguments, "-o", "roma.ingenuo")
    said = done("merge", "bari.ingenuo", "roma.ingenuo", "-o", "sum.ingenuo").stderr
    assert "bari.ingenuo and roma.ingenuo differ in prior; the sum is as bari.ingenuo has it" in said


# A minimum count.


def test_a_minimum_count_is_of_what_is_written_and_names_nothing_it_drops(folder: Path) -> None:
    frame = people().drop(columns="key")
    frame.loc[0, ["town", "said", "outcome"]] = ["Atlantis", "rossi was here", "bitten"]
    frame.to_csv("people.csv", index=False)
    found = done(
        "train", *PLAIN, "people.csv", "--target", "outcome", "--minimum-count", "5", "-o", "m.ingenuo", "--json"
    )
    assert "what fewer than 5 rows have was dropped" in found.stderr
    assert "239 rows of 2 classes learned" in found.stderr
    for secret in ("Atlantis", "rossi", "bitten"):
        assert secret not in found.output
        assert secret.encode() not in Path("m.ingenuo").read_bytes()
    about = json.loads(found.stdout)
    assert about["rows"] == 239
    assert [line["what"] for line in about["history"]] == ["train", "minimum count 5"]
    assert ing.load("m.ingenuo").tally_ == ing.NaiveBayes().fit(ing.scan("people.csv"), "outcome").drop_rare(5).tally_
    assert "minimum count 5" in done("inspect", "m.ingenuo").stdout


def test_a_sum_keeps_what_is_rare_at_each_site_and_frequent_in_all(folder: Path) -> None:
    everyone = trained("--ignore", "said")
    files = [f"{name}.ingenuo" for name in SITES]
    done("merge", *files, "-o", "plain.ingenuo")
    said = done("merge", *files, "-o", "sum.ingenuo", "--minimum-count", "12").stderr
    assert "what fewer than 12 rows have was dropped" in said
    merged = ing.load("sum.ingenuo")
    assert merged.tally_ == ing.load("plain.ingenuo").tally_.without_rare(12)
    assert [line["what"] for line in store.about("sum.ingenuo")["history"]][-2:] == ["merge", "minimum count 12"]
    for name in SITES:
        ing.save(ing.load(f"{name}.ingenuo").drop_rare(12), f"{name}.safe")
    done("merge", *(f"{name}.safe" for name in SITES), "-o", "safe.ingenuo")
    kept = [ing.load(f"{name}.ingenuo").tally_["category:town"].sums.floats().sum() for name in ("sum", "safe")]
    assert kept[0] > kept[1]
    assert set(merged.predict(everyone)) <= {"ill", "well"}


def test_a_model_that_is_there_is_made_fit_to_be_sent(folder: Path) -> None:
    trained("--ignore", "said")
    assert "two models at least" in run("merge", "roma.ingenuo", "-o", "safe.ingenuo").stderr
    said = done("merge", "roma.ingenuo", "-o", "safe.ingenuo", "--minimum-count", "6").stderr
    assert "added up" not in said
    assert ing.load("safe.ingenuo").tally_ == ing.load("roma.ingenuo").tally_.without_rare(6)
    assert [line["what"] for line in store.about("safe.ingenuo")["history"]] == ["train", "minimum count 6"]
    ing.save(ing.load("roma.ingenuo").tally_, "roma.tally")
    done("merge", "roma.tally", "-o", "safe.tally", "--minimum-count", "6")
    assert ing.load("safe.tally") == ing.load("safe.ingenuo").tally_
    assert "no class has 1000 rows" in refused("merge", "roma.tally", "-o", "x.tally", "--minimum-count", "1000")


def test_a_minimum_count_that_cannot_be_kept_is_refused_before_anything_is_written(folder: Path) -> None:
    people(60).drop(columns="key").to_csv("people.csv", index=False)
    train = ("train", *PLAIN, "people.csv", "--target", "outcome", "-o", "m.ingenuo", "--minimum-count")
    assert "no class has 1000 rows" in refused(*train, "1000")
    assert "not made of sums by class alone" in refused(*train, "5", "--model", "softmax")
    assert "tune and calibration" in refused(*train, "5", "--tune")
    assert "tune and calibration" in refused(*train, "5", "--calibrate")
    assert "0 is not in the range x>=1" in run(*train, "0").stderr
    assert "nothing was known of fewer than 1 row" in done(*train, "1").stderr
    judged = done(*train, "5", "--folds", "3").stdout
    assert "It was judged before what is rare was dropped." in judged
