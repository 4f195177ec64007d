"""Files without a header, and sheets of a spreadsheet."""

from __future__ import annotations

import datetime
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import ingenuo as ing
from ingenuo.cli import main
from ingenuo.errors import FileError, InputError, KindError

RNG = np.random.default_rng(1)
N = 60
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=N).round(3),
        "rooms": RNG.integers(1, 9, N),
        "town": RNG.choice(["Bari", "Pisa", None], N),
        "vip": RNG.random(N) < 0.5,
        "paid": RNG.choice(["no", "yes"], N),
    }
)


def done(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("rows.csv", index=False)
    FRAME.to_csv("bare.csv", index=False, header=False)
    FRAME.to_excel("rows.xlsx", index=False)
    FRAME.to_excel("bare.xlsx", index=False, header=False)
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_columns_without_a_header_are_given_names(ending: str, folder: Path) -> None:
    whole = ing.NaiveBayes().fit(FRAME, "paid")
    found = ing.scan(f"bare.{ending}", names=list(FRAME), target="paid")
    assert found.names == list(FRAME)
    assert ing.NaiveBayes().fit(found, "paid").tally_ == whole.tally_
    assert ing.scan(f"bare.{ending}", header=False).names == ["x0", "x1", "x2", "x3", "x4"]
    renamed = ing.scan(f"rows.{ending}", header=True, names=list("abcde"))
    assert (renamed.names, len(renamed.table())) == (list("abcde"), N)
    with pytest.raises(FileError, match="3 names were given, and there are 5 columns"):
        ing.scan(f"bare.{ending}", names=["a", "b", "c"])
    with pytest.raises(FileError, match="two columns are called 'a'; rename one"):
        ing.scan(f"bare.{ending}", names=["a", "b", "a", "c", "d"])
    with pytest.raises(KindError, match="names must be a list of strings"):
        ing.scan(f"bare.{ending}", names="a,b,c")


def test_an_error_on_a_missing_column_says_that_there_is_no_header(folder: Path) -> None:
    FRAME[["size", "rooms"]].to_csv("numbers.csv", index=False, header=False)
    without = r"no header was found: --header says that there is one, --names a,b,\.\.\.|no header was found"
    for ask in (
        lambda: ing.scan("numbers.csv", target="paid"),
        lambda: ing.scan("numbers.csv", columns={"size": "number"}),
        lambda: ing.NaiveBayes().fit("numbers.csv", "paid"),
        lambda: ing.NaiveBayes().fit(FRAME[["size", "paid"]], "paid").predict("numbers.csv"),
    ):
        with pytest.raises(InputError, match=without):
            ask()


def test_the_commands_take_names(folder: Path) -> None:
    names = ",".join(FRAME)
    done("train", "bare.csv", "--model", "naive-bayes", "--names", names, "--target", "paid", "-o", "m.ingenuo")
    assert ing.load("m.ingenuo").tally_ == ing.NaiveBayes().fit(FRAME, "paid").tally_
    answers = done("predict", "m.ingenuo", "bare.csv", "--names", names).stdout
    assert answers.splitlines()[0] == f"{names},predicted,probability"
    done("evaluate", "m.ingenuo", "bare.csv", "--names", names)
    assert "no header was found" in done("train", "bare.csv", "--no-header", "--target", "paid", code=1).stderr


def test_a_sheet_is_the_same_rows(folder: Path) -> None:
    found = ing.scan("rows.xlsx", target="paid")
    assert {name: kind for name, (kind, _) in found.kinds.items()} == {
        "size": "number", "rooms": "number", "town": "category", "vip": "category"
    }  # fmt: skip
    assert ing.NaiveBayes().fit("rows.xlsx", "paid").tally_ == ing.NaiveBayes().fit(FRAME, "paid").tally_
    done("train", "rows.xlsx", "--model", "naive-bayes", "--target", "paid", "-o", "m.ingenuo")
    done("predict", "m.ingenuo", "rows.xlsx", "-o", "answers.xlsx")
    done("predict", "m.ingenuo", "rows.csv", "-o", "answers.csv", "--digits", "17")
    one, two = ing.read("answers.xlsx").to_pandas(), ing.read("answers.csv").to_pandas()
    assert one["predicted"].tolist() == two["predicted"].tolist()
    assert one["probability"].tolist() == pytest.approx(two["probability"].tolist())


def test_cells_of_several_types_dates_and_sheets(folder: Path) -> None:
    mixed = pd.DataFrame({"a": [1, "x", None], "when": [datetime.datetime(2026, 1, day) for day in (1, 2, 3)]})
    with pd.ExcelWriter("mixed.xlsx") as book:
        mixed.to_excel(book, sheet_name="first", index=False)
        mixed.to_excel(book, sheet_name="second", index=False)
    found = ing.scan("mixed.xlsx", keep_all=True)
    assert found.notes == ["mixed.xlsx: the first sheet, 'first', of 2"]
    assert found.table().column("a").to_pylist() == ["1", "x", None]
    assert found.kinds["when"][0] == "ignore"
    Path("none.xlsx").write_bytes(b"PK no sheet at all" * 40)
    with pytest.raises(FileError, match=r"none\.xlsx: the sheet cannot be read"):
        ing.scan("none.xlsx")


def test_a_package_that_is_not_there_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(FileError, match=r"pip install 'ingenuo\[excel\]'"):
        ing.scan("rows.xlsx")
    done("train", "rows.csv", "--model", "naive-bayes", "--target", "paid", "-o", "m.ingenuo")
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    refused = CliRunner().invoke(main, ["predict", "m.ingenuo", "rows.csv", "-o", "answers.xlsx"])
    assert refused.exit_code == 1
    assert "Error: xlsxwriter, which writes sheets, is not installed; pip install 'ingenuo[excel]'" in refused.stderr
    assert not Path("answers.xlsx").exists()


FORMULAS = ["=1+1", "+1", "-cmd", "@now", "plain", "a=1"]


def test_values_that_a_spreadsheet_would_run(folder: Path) -> None:
    frame = pd.DataFrame({"size": range(6), "=note": FORMULAS, "paid": ["no", "yes"] * 3})
    frame.to_csv("run.csv", index=False)
    done("train", "run.csv", "--target", "paid", "--ignore", "=note", "-o", "m.ingenuo")
    done("predict", "m.ingenuo", "run.csv", "-o", "plain.csv")
    assert pd.read_csv("plain.csv")["=note"].tolist() == FORMULAS  # data is not changed
    done("predict", "m.ingenuo", "run.csv", "-o", "safe.csv", "--spreadsheet-safe")
    safe = pd.read_csv("safe.csv")
    assert safe["'=note"].tolist() == ["'=1+1", "'+1", "'-cmd", "'@now", "plain", "a=1"]
    assert safe["size"].tolist() == list(range(6))
    done("predict", "m.ingenuo", "run.csv", "-o", "sheet.xlsx")
    assert ing.read("sheet.xlsx").column("=note").to_pylist() == FORMULAS
    with zipfile.ZipFile("sheet.xlsx") as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")  # which a formula is


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "xlsx"])
def test_a_file_with_a_header_only_is_answered_by_a_header(kind: str, folder: Path) -> None:
    done("train", "rows.csv", "--model", "naive-bayes", "--target", "paid", "-o", "m.ingenuo")
    FRAME[:0].to_csv("none.csv", index=False)
    done("predict", "m.ingenuo", "none.csv", "-o", f"answers.{kind}")
    if kind == "csv":
        assert Path("answers.csv").read_text() == "size,rooms,town,vip,paid,predicted,probability\n"
    elif kind != "jsonl":
        assert ing.read(f"answers.{kind}").column_names == [*FRAME, "predicted", "probability"]
