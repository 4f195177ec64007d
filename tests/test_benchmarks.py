"""The benchmarks measure what they say, on tiny tables and texts; nothing here depends on how fast anything is."""

import csv
import gzip
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks import corpora, memory, tables, text
from benchmarks.__main__ import main
from benchmarks.cases import Case, ExtraMemory, Growth, MemoryGrowth, NewProcess, Pace, Race, run
from benchmarks.published import Accuracy
from benchmarks.report import Absent, Bar, Result, Skipped, farthest, lines
from benchmarks.timing import alternate

CASES = tables.cases()
TEXT_CASES = text.cases()
OPTIONAL = {"fastText": "fasttext", "Kneser-Ney": "nltk.lm"}


def of_kind(kind: type, cases: list[Case] = CASES) -> list[Case]:
    return [case for case in cases if isinstance(case, kind)]


def made_up(rng: np.random.Generator, n: int, classes: int) -> list[tuple[str, str]]:
    """Documents of 30 words, the last ten from words that only their class has; sorted by class."""
    rows = []
    for row in range(n):
        label = row * classes // n
        words = [f"common{word}" for word in rng.integers(0, 50, 20)]
        rows.append((str(label), " ".join([*words, *(f"own{label}{word}" for word in rng.integers(0, 20, 10))])))
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the text suite, with the layout of the real ones and few documents."""
    home = tmp_path_factory.mktemp("data") / "text"
    home.mkdir()
    rng = np.random.default_rng(5)
    for name, n, classes in (("20news-train", 120, 4), ("20news-test", 40, 4), ("polarity", 60, 2)):
        with gzip.open(home / f"{name}.csv.gz", "wt", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["label", "fold", "doc_id", "text"] if name == "polarity" else ["label", "doc_id", "text"])
            for row, (label, document) in enumerate(made_up(rng, n, classes)):
                writer.writerow([label, *([row % 10] if name == "polarity" else []), row, document + "\nsecond line"])
    for name, encoding in (("rt-polarity", "latin-1"), ("custrev", "utf-8")):
        with gzip.open(home / f"{name}.all.gz", "wt", encoding=encoding) as file:
            file.writelines(f"{label} {document} caf\xe9\n" for label, document in made_up(rng, 60, 2))
    return home


@pytest.fixture
def texts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INGENUO_DATA", str(folder.parent))
    return folder


@pytest.mark.parametrize("cases", [CASES, TEXT_CASES], ids=["tables", "text"])
def test_names_are_unique_and_every_measured_memory_belongs_to_a_race(cases: list[Case]) -> None:
    names = [case.name for case in cases]
    assert len(set(names)) == len(names)
    assert {case.race for case in of_kind(ExtraMemory, cases)} <= {race.name for race in of_kind(Race, cases)}
    assert {case.growth for case in of_kind(MemoryGrowth, cases)} <= {case.name for case in of_kind(Growth, cases)}


@pytest.mark.parametrize("race", of_kind(Race), ids=lambda race: race.name)
def test_every_race_reports_a_ratio_and_the_answers_agree(race: Race) -> None:
    result = race.measure(rows=2000, repeat=1)
    assert math.isfinite(result.ratio)
    assert result.ratio > 0
    assert result.agrees, f"{result.difference} > {result.tolerance}"
    assert "cold" in result.note


def test_memory_is_measured_on_both_sides() -> None:
    result = of_kind(ExtraMemory)[0].measure(rows=2000, repeat=1)
    assert result.unit == "MB"
    assert result.peer >= 0
    assert result.ours >= 0
    assert "10% of input" in result.bar.text("MB")


def test_a_call_adds_what_it_writes() -> None:
    added, how = memory.peak_added_by(lambda: np.ones(10_000_000))
    assert how
    assert added > 70e6  # the array has 80 MB


def test_a_new_process_is_timed_in_its_parts() -> None:
    result = of_kind(NewProcess)[0].measure(rows=2000, repeat=1)
    assert result.ours > 0
    assert "imports" in result.note


def test_a_fast_wrong_answer_meets_no_bar() -> None:
    right = Result("case", "s", 10.0, 1.0, Bar(8), 1e-12, 1e-9)
    assert right.met
    for difference in (1e-6, math.nan, math.inf):
        assert Result("case", "s", 10.0, 1.0, Bar(8), difference, 1e-9).met is False
        assert "WRONG" in "\n".join(lines([Result("case", "s", 10.0, 1.0, Bar(), difference, 1e-9)]))


def test_a_bar_is_a_ratio_or_a_limit() -> None:
    assert Bar(8).met(8.0, 1.0)
    assert not Bar(8).met(7.9, 1.0)
    assert not Bar(limit=1.5).met(100.0, 1.6)
    assert Bar().met(0.1, 1.0) is None
    assert Bar(limit=0.3).text("s") == "≤ 0.3 s"


def test_the_largest_difference_is_relative_above_one_and_sees_nan() -> None:
    assert farthest([1000.0, 0.5], [1001.0, 0.5]) == pytest.approx(1e-3)
    assert farthest([-np.inf, 0.0], [-np.inf, 0.0]) == 0
    assert math.isnan(farthest([np.nan], [1.0]))
    assert math.isnan(farthest([1.0, 2.0], [1.0]))


def test_peer_and_ours_take_turns() -> None:
    turns: list[str] = []
    alternate(lambda: turns.append("peer"), lambda: turns.append("ours"), repeat=2)
    assert turns == ["peer", "ours"] * 3


def test_the_command_prints_a_line_for_each_case(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["tables", "--rows", "1000", "--repeat", "1", "--only", "GaussianNB fit, integers"]
    assert main([*chosen, "--list"]) == 0
    names = capsys.readouterr().out.splitlines()
    assert main([*chosen, "--only", "CategoricalNB predict", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    assert "GaussianNB fit, integers" in names
    assert {"CategoricalNB predict_log_proba", "GaussianNB fit, integers"} <= {line["name"] for line in found}


def test_a_name_that_no_case_has_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["tables", "--only", "no such case"])
    assert "--list" in capsys.readouterr().err


@pytest.mark.parametrize("case", [*of_kind(Race, TEXT_CASES), *of_kind(Pace, TEXT_CASES)], ids=lambda case: case.name)
def test_every_race_of_texts_reports_a_ratio_and_the_answers_agree(case: Case, texts: Path) -> None:
    for part, module in OPTIONAL.items():
        if part in case.name:
            pytest.importorskip(module, reason=f"{module} is an optional peer")
    result = case.measure(rows=100, repeat=1)
    assert math.isfinite(result.ratio)
    assert result.ratio > 0
    assert result.agrees in (True, None), f"{result.difference} > {result.tolerance}"
    assert (result.agrees is None) == ("fastText" in case.name or "generate" in case.name)


def test_growth_is_measured_at_each_size(texts: Path) -> None:
    result = of_kind(Growth, TEXT_CASES)[0].measure(rows=120, repeat=1)
    assert result.unit == "ms/MB"
    assert result.ours > 0
    assert all(size in result.note for size in ("×1", "×2", "×4"))


def test_memory_of_texts_is_measured_on_both_sides(texts: Path) -> None:
    result = of_kind(ExtraMemory, TEXT_CASES)[0].measure(rows=100, repeat=1)
    assert result.unit == "MB"
    assert result.peer >= 0
    assert result.ours >= 0
    assert result.bar.text("MB") == "≥ 3×"


def test_growth_of_memory_is_that_of_each_megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    def square(suite: str, name: str, side: str, rows: int) -> dict[str, int]:
        assert (suite, side) == ("text", "ours")
        return {"extra": rows * rows, "input": 100 * rows}

    monkeypatch.setattr(memory, "extra", square)
    result = of_kind(MemoryGrowth, TEXT_CASES)[0].measure(rows=100, repeat=1)
    assert (result.peer, result.ours) == (1.0, 4.0)
    assert result.note == "×1 1, ×2 2, ×4 4 MB/MB"
    assert result.met is False  # it is not linear


@pytest.mark.parametrize("case", of_kind(Accuracy, TEXT_CASES), ids=lambda case: case.name)
def test_accuracies_are_scikit_learns_and_stand_beside_the_published(case: Accuracy, texts: Path) -> None:
    result = case.measure(rows=1000, repeat=1)
    assert result.agrees
    assert result.peer == case.published
    assert result.ours == 100  # every class has words of its own
    assert f"{100 - case.published:+.2f}" in "\n".join(lines([result]))


def test_official_folds_are_obeyed() -> None:
    # The one document of class b is in fold 1, so no model has seen b when it is asked for it: three of four are right.
    rows = [("a", "x y", 0), ("a", "x z", 0), ("a", "x x", 1), ("b", "w w", 1)]
    given = corpora.Texts([r[1] for r in rows], [r[0] for r in rows], [r[2] for r in rows])
    assert Accuracy("case", lambda: given, 1, 50.0, 1.0).measure(rows=10, repeat=1).ours == 75


def test_part_of_a_collection_has_all_its_classes(texts: Path) -> None:
    part = corpora.news("train", 8)
    assert part.labels == ["0", "0", "1", "1", "2", "2", "3", "3"]
    assert corpora.news("test", 10**6).texts == corpora.table("20news-test.csv.gz").texts


def test_a_collection_repeated_has_as_many_other_words_of_the_same_length(texts: Path) -> None:
    once, twice = corpora.news("train", 120), corpora.news("train", 240)
    assert twice.texts[:120] == once.texts
    assert twice.labels == once.labels * 2
    first, second = (set(" ".join(half).split()) for half in (twice.texts[:120], twice.texts[120:]))
    assert not first & second
    assert len(first) == len(second)
    assert twice.nbytes == 2 * once.nbytes


def test_what_is_not_there_is_skipped_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGENUO_DATA", str(tmp_path))
    race, memory_of = of_kind(Race, TEXT_CASES)[0], of_kind(ExtraMemory, TEXT_CASES)[0]
    results = list(run([race, memory_of], rows=100, repeat=1))
    assert all(isinstance(result, Skipped) and "20news-train.csv.gz" in result.why for result in results)
    printed = "\n".join(lines(results))
    assert "skipped: the file 20news-train.csv.gz is not there" in printed
    assert "2 skipped" in printed
    assert main(["text", "--rows", "1000", "--repeat", "1", "--only", race.name, "--only", "no such", "--json"]) == 0


def test_a_peer_that_is_not_installed_is_absent(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("nltk.lm", "fasttext"):
        monkeypatch.setitem(sys.modules, module, None)
    for name, module in (("fit against fastText", "fasttext"), ("Kneser-Ney trigrams fit", "nltk")):
        race = next(case for case in TEXT_CASES if case.name == name)
        with pytest.raises(Absent, match=f"{module} is not installed"):
            race.measure(rows=100, repeat=1)


def test_of_accuracy_and_pace_more_is_better() -> None:
    assert Result("case", "MB/s", 10.0, 200.0, Bar(least=150)).met
    assert Result("case", "MB/s", 10.0, 200.0).ratio == 20
    assert Result("case", "%", 80.0, 79.0, Bar(least=79.5)).met is False
    assert "-1.00" in "\n".join(lines([Result("case", "%", 80.0, 79.0)]))
    assert Bar(least=150).text("MB/s") == "≥ 150 MB/s"
