"""The benchmarks measure what they say, on tiny tables; nothing here depends on how fast anything is."""

import json
import math

import numpy as np
import pytest
from benchmarks import memory, tables
from benchmarks.__main__ import main
from benchmarks.cases import Case, ExtraMemory, NewProcess, Race
from benchmarks.report import Bar, Result, farthest, lines
from benchmarks.timing import alternate

CASES = tables.cases()


def of_kind(kind: type) -> list[Case]:
    return [case for case in CASES if isinstance(case, kind)]


def test_names_are_unique_and_every_measured_memory_belongs_to_a_race() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert {case.race for case in of_kind(ExtraMemory)} <= {race.name for race in of_kind(Race)}


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
