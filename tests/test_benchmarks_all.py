"""The command of all benchmarks: a process for each suite, what is missing is said, the page is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks import all as every
from benchmarks.__main__ import SUITES, main

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def result(name: str, peer: float, ours: float, unit: str = "s", **more: Any) -> dict[str, Any]:
    ratio = ours / peer if unit == "MB/s" else peer / max(ours, 1e-9)
    return {"name": name, "unit": unit, "peer": peer, "ours": ours, "ratio": ratio, "difference": None} | {
        "agrees": None,
        **more,
    }


def run_of(*results: dict[str, Any], ended: str = "") -> every.Run:
    return every.Run("tables", 1000, 2, list(results), ended)


def test_a_suite_reports_each_case_from_a_process_of_its_own() -> None:
    run = every.measure("start", 1000, 1, minutes=2, only=["import"])
    assert [each["name"] for each in run.results] == ["import"]
    assert run.results[0]["peer"] > run.results[0]["ours"] > 0
    assert run.ended == ""


def test_a_suite_that_is_late_is_stopped_and_keeps_what_it_had() -> None:
    run = every.measure("start", 1000, 1, minutes=0.0001)
    assert "stopped after" in run.ended
    assert run.ended in every.table(run)


def test_a_suite_that_breaks_off_is_said() -> None:
    run = every.measure("start", 1, 1, minutes=1)  # fewer rows than are allowed
    assert "status 2" in run.ended
    assert run.results == []


def test_a_case_that_fails_costs_itself_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks import start
    from benchmarks.cases import NewProcess
    from benchmarks.report import Bar

    nothing = start.python("pass")
    cases = [NewProcess("bad", Bar(), nothing, start.python("1 / 0")), NewProcess("good", Bar(), nothing, nothing)]
    monkeypatch.setattr(start, "cases", lambda: cases)
    assert main(["start", "--each", "--repeat", "1"]) == 0
    bad, good = capsys.readouterr().out.splitlines()
    assert '"name": "bad"' in bad
    assert '"skipped": "RuntimeError' in bad
    assert '"ratio"' in good


def test_the_table_has_the_ratios_and_where_the_peer_is_better() -> None:
    page = every.table(
        run_of(
            result("fast", 2.0, 0.5, difference=0.0, agrees=True, cpu=[2.0, 1.0]),
            result("slow", 1.0, 2.0),
            result("rate", 10.0, 20.0, "MB/s"),
            result("right", 90.0, 89.5, "%"),
        )
    )
    assert "| fast | 2 s | 0.5 s | 4× | 2× | 0 |" in page
    assert "| slow | 1 s | 2 s | 0.5× |  |  |" in page
    assert "| right | 90 % | 89.5 % | -0.50 |  |  |" in page
    assert "Ours is as good or better in 2 of 4; the geometric mean of the ratios of seconds is 1.4×." in page
    assert "The peer is better in: slow; right." in page
    assert "`python -m benchmarks tables --rows 1000 --repeat 2`: Run of " in page


def test_what_was_not_measured_and_answers_that_are_wrong_are_said() -> None:
    missing = [{"name": name, "skipped": "nltk is not installed"} for name in ("one", "two")]
    page = every.table(run_of(*missing, result("three", 1.0, 1.0, difference=0.5, agrees=False)))
    assert "Not measured (nltk is not installed): one; two." in page
    assert "5e-01 WRONG" in page


def test_peers_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(every, "PEERS", ("numpy", "no-such-peer"))
    assert "no-such-peer" in every.about().partition("Not installed")[2]


def test_what_a_command_prints_is_in_the_page_and_the_path_of_the_peers_is_not() -> None:
    text = every.of_commands(("serve", "--peers", "/no/such/python", "--seconds", "none"))
    assert text.startswith("Run of ")
    assert "\n`python -m benchmarks serve --peers PYTHON --seconds none`:\n" in text
    assert "invalid float value: 'none'\n```" in text


def test_the_page_has_a_place_for_every_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(every.QUICK) == set(SUITES)
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    done = run_of(result("fast", 2.0, 0.5))
    asked: list[tuple[str, int, int]] = []

    def measure(suite: str, rows: int, repeat: int, minutes: float) -> every.Run:
        asked.append((suite, rows, repeat))
        return done

    monkeypatch.setattr(every, "measure", measure)
    monkeypatch.setattr(every, "of_commands", lambda *calls: "; ".join(map(" ".join, calls)))
    assert main(["all", "--quick", "--write", str(page), "--peers", "python3"]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.count("| fast | 2 s | 0.5 s | 4× |  |  |") == len(SUITES) == len(asked)
    assert "\npage --rows 100000\n" in text
    assert "\nserve --seconds 1 --peers python3; serve --faults --share 0.05\n" in text
    # The tables of `quality`, which takes hours, are as they were.
    old = PAGE.read_text(encoding="utf-8")
    assert text.partition("<!-- tables -->")[2].partition("## How fast")[0] in old


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--only", "speed"], "there is no suite 'speed'"),
        (["--minutes", "0"], "--minutes is 0"),
        (["--write", "no such page.md"], "there is no page"),
    ],
)
def test_what_cannot_be_done_is_said_first(wrong: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["all", *wrong])
    assert said in capsys.readouterr().err
