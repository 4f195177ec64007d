"""The benchmarks measure what they say, on tiny tables and texts; nothing here depends on how fast anything is."""

import csv
import gc
import gzip
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks import (
    arff,
    cli,
    corpora,
    folds,
    larger_than_memory,
    linear,
    memory,
    networks,
    networks_tables,
    peers,
    processes,
    quality,
    quality_large,
    quality_page,
    start,
    tables,
    text,
    trust,
    trust_tables,
    trust_text,
)
from benchmarks.__main__ import main
from benchmarks.cases import Case, ExtraMemory, Growth, MemoryGrowth, Pace, Race, run
from benchmarks.published import Accuracy
from benchmarks.report import Absent, Bar, Result, Skipped, farthest, lines
from benchmarks.timing import alternate
from benchmarks.weighted import WeightedLogistic
from click.testing import CliRunner
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

import ingenuo
from ingenuo.cli import main as command_line
from ingenuo.evaluation.cross_validation import cross_validate
from ingenuo.evaluation.evaluation import evaluate
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.networks.network import Network

CASES = tables.cases()
TEXT_CASES = text.cases()
LINEAR_CASES = linear.cases()
TRUST_CASES = trust.cases()
NETWORK_CASES = networks.cases()
COMMAND_CASES = cli.cases()
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


@pytest.fixture(scope="module", autouse=True)
def _nothing_old_to_collect() -> None:
    """Every timed call begins with a collection of garbage: 0.3 s among all that a long run of tests has made."""
    gc.collect()
    gc.freeze()


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
    for name, encoding in (
        ("rt-polarity", "latin-1"),
        ("custrev", "utf-8"),
        ("trec-train", "latin-1"),
        ("trec-test", "latin-1"),
    ):
        with gzip.open(home / f"{name}.all.gz", "wt", encoding=encoding) as file:
            file.writelines(f"{label} {document} caf\xe9\n" for label, document in made_up(rng, 60, 2))
    for name in ("train-subset", "test"):
        with gzip.open(home / f"ag-news-{name}.csv.gz", "wt", encoding="utf-8", newline="") as file:
            rows = [(label, document[:20], document[20:]) for label, document in made_up(rng, 60, 2)]
            csv.writer(file).writerows([("label", "title", "description"), *rows])
    with gzip.open(home / "sms-spam.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{label}\t{document}\n" for label, document in made_up(rng, 60, 2))
    tables_of = home.parent / "tables"
    tables_of.mkdir()
    for name, n in (("iris", 120), ("other", 60), ("too few", 12)):
        (tables_of / f"{name}.arff").write_text(made_up_table(rng, n), encoding="utf-8")
    return home


def made_up_table(rng: np.random.Generator, n: int) -> str:
    """Numbers in heaps, of one mean and variance in both classes, and a category; some rare rows and missing values."""
    lines = [
        "% a comment",
        "@RELATION 'made up'",
        "@attribute 'two heaps' REAL",
        "@Attribute plain\tnumeric",
        "@attribute 'what it\\'s like' {'rather, so', other}",
        "@attribute empty integer",
        "@attribute Class {near, far, rare}",
        "@attribute last {a, b}",
        "",
        "@data",
    ]
    for row in range(n):
        far = row % 2 == 1
        heaps = float(rng.normal((-9, 9)[row % 4 // 2] if far else (0, 12.7, 0, -12.7)[row % 8 // 2], 1))
        label = "rare" if row < 3 else "far" if far else "near"
        like = "'rather, so'" if rng.random() < 0.5 else " other"
        lines += [
            f"{heaps:.3f}, {'?' if row % 7 == 0 else rng.normal():.5}, {like},?,{label}, {'ab'[row % 3 == 0]}",
            "%",
        ]
    return "\n".join(lines)


@pytest.fixture
def texts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INGENUO_DATA", str(folder.parent))
    return folder


@pytest.mark.parametrize(
    "cases",
    [CASES, TEXT_CASES, LINEAR_CASES, TRUST_CASES, NETWORK_CASES, COMMAND_CASES],
    ids=["tables", "text", "linear", "trust", "networks", "cli"],
)
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


# The linear suite.


def few_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "RATES", (0.5,))
    monkeypatch.setattr(linear, "EPOCHS", (5,))


@pytest.mark.parametrize("race", of_kind(Race, LINEAR_CASES), ids=lambda race: race.name)
def test_every_linear_race_reports_a_ratio_and_the_answers_agree(
    race: Race, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "fastText" in race.name:
        pytest.importorskip("fasttext", reason="fasttext is an optional peer")
    few_settings(monkeypatch)
    result = race.measure(rows=1000, repeat=1)
    assert math.isfinite(result.ratio)
    assert result.ratio > 0
    assert result.agrees in (True, None), f"{result.difference} > {result.tolerance}"
    assert (result.agrees is None) == ("after Gaussians" in race.name)
    if "weighted softmax" in race.name:
        assert result.ours > 0
        assert "/ 1.0000" in result.note  # every class has words of its own


def test_a_less_accurate_answer_meets_no_bar(texts: Path) -> None:
    train, test = linear.split("RT-2k", 1000)
    wrong = ["0" if label == "1" else "1" for label in test.labels]
    duel = linear._duel(train, test, lambda: test.labels, lambda: wrong, "a trick")
    assert duel.outcome(test.labels, wrong) == (1.0, "; accuracy 1.0000 / 0.0000; a trick")
    assert duel.outcome(wrong, test.labels)[0] == 0


def test_two_folds_of_the_reviews_are_held_out(texts: Path) -> None:
    train, test = linear.split("RT-2k", 1000)
    assert (len(train.texts), len(test.texts)) == (48, 12)
    assert not set(train.texts) & set(test.texts)
    assert set(train.labels) == set(test.labels) == {"0", "1"}


def test_fasttext_is_given_its_best_setting(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []

    class Model:
        def __init__(self, labels: list[str]) -> None:
            self.labels = labels

        def predict(self, given: list[str]) -> tuple[list[list[str]], None]:
            assert not any("__label__" in each for each in given)
            return [[f"__label__{label}"] for label in self.labels], None

    class Stub:
        @staticmethod
        def train_supervised(**settings: object) -> Model:
            asked.append(settings)
            best = (settings["lr"], settings["epoch"]) == (1.0, 10)
            return Model(linear.split("RT-2k", 1000)[1].labels if best else ["0"] * 12)

    monkeypatch.setitem(sys.modules, "fasttext", Stub)
    duel = linear.against_fasttext("RT-2k", 1000)
    assert len(asked) == 8
    assert linear.right(linear.split("RT-2k", 1000)[1], duel.peer()) == 1
    assert (asked[-1]["lr"], asked[-1]["epoch"]) == (1.0, 10)
    monkeypatch.setitem(sys.modules, "fasttext", None)
    with pytest.raises(Absent, match="fasttext is not installed"):
        linear.against_fasttext("RT-2k", 1000)


@pytest.mark.parametrize("case", of_kind(Accuracy, LINEAR_CASES), ids=lambda case: case.name)
def test_weighted_accuracies_stand_beside_the_published(case: Accuracy, texts: Path) -> None:
    result = case.measure(rows=1000, repeat=1)
    assert result.agrees
    assert result.peer == case.published
    assert result.ours == 100
    assert result.bar.least == pytest.approx(case.published - case.significant)


def test_the_weighted_peer_is_two_models_by_hand() -> None:
    """By the definition: counts and one, shares, and the difference of their logarithms."""
    given = ["good film", "good good cast", "bad film", "bad cast", "bad plot"]
    model = WeightedLogistic(longest=1).fit(given, ["p", "p", "n", "n", "n"])
    ((ratios, logistic),) = model.models
    order = model.counter.get_feature_names_out().tolist()
    assert order == ["bad", "cast", "film", "good", "plot"]
    p, n = np.array([1, 2, 2, 3, 1]) / 9, np.array([4, 2, 2, 1, 2]) / 11
    np.testing.assert_allclose(ratios, np.log(p / n))
    assert model.predict(["good plot", "bad film"]).tolist() == ["p", "n"]
    assert logistic.C == 1
    several = WeightedLogistic(longest=2).fit([*given, "odd thing"], ["p", "p", "n", "n", "n", "o"])
    assert len(several.models) == 3
    assert several.predict(["odd thing", "good film"]).tolist() == ["o", "p"]


def test_an_arff_file_is_read_with_its_quotes_comments_and_holes(texts: Path) -> None:
    table = arff.read(texts.parent / "tables" / "iris.arff")
    assert table.kinds == {
        "two heaps": "number",
        "plain": "number",
        "what it's like": "category",
        "empty": "number",
        "last": "category",
    }
    assert table.frame.shape == (120, 5)
    assert set(table.y) == {"near", "far", "rare"}
    assert set(table.frame["what it's like"]) == {"rather, so", "other"}
    assert table.frame["plain"].isna().sum() == 18
    assert table.frame["empty"].isna().all()
    assert len(table.foldable().y) == 117
    assert set(table.foldable().y) == {"near", "far"}
    assert len(table.at_most(60).y) == 58  # of the rare class, two rows are among them
    assert [each.name for each in arff.foldable_tables()] == ["iris", "other"]


@pytest.mark.parametrize("case", of_kind(folds.MeanAccuracy, LINEAR_CASES), ids=lambda case: case.name)
def test_accuracies_of_tables_are_means_over_all_of_them(case: folds.MeanAccuracy, texts: Path) -> None:
    folds.accuracies.cache_clear()
    result = case.measure(rows=1000, repeat=1)
    folds.accuracies.cache_clear()
    assert result.unit == "%"
    assert result.ours > 90 > result.peer  # no Gaussian is two heaps
    assert result.met
    assert "2 tables, better on 2" in result.note


def test_without_the_files_the_linear_suite_skips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGENUO_DATA", str(tmp_path))
    needing = [
        case
        for case in LINEAR_CASES
        if isinstance(case, Accuracy | folds.MeanAccuracy) or "weighted softmax" in case.name
    ]
    results = list(run(needing, rows=1000, repeat=1))
    assert len(results) == 10
    assert all(isinstance(result, Skipped) for result in results)


# The trust suite.


@pytest.fixture
def scored_anew() -> Iterator[None]:
    """What was kept of other data is forgotten, before and after."""
    kept = (trust_tables.scores, trust_text.on_test, trust_text.by_folds)
    for answers in kept:
        answers.cache_clear()
    yield
    for answers in kept:
        answers.cache_clear()


@pytest.mark.parametrize("race", of_kind(Race, TRUST_CASES), ids=lambda race: race.name)
def test_every_race_of_trust_answers_as_models_fitted_anew_do(race: Race, texts: Path) -> None:
    if "selection" in race.name and not hasattr(ingenuo, "AttributeSelector"):
        pytest.skip("there is no selection of attributes yet")
    result = race.measure(rows=1000, repeat=1)
    assert math.isfinite(result.ratio)
    assert result.ratio > 0
    assert (result.agrees is None) == ("selection" in race.name)
    assert result.agrees is not False, f"{result.difference} > {result.tolerance}"


def test_answers_that_were_learned_are_not_out_of_fold() -> None:
    X, y, _ = trust.mixed(1000)
    found = cross_validate(NaiveBayes(), X, y)
    assert trust._from_anew(X, y, found) < 1e-9
    learned = replace(found, probabilities=NaiveBayes().fit(X, y).predict_proba(X))
    assert trust._from_anew(X, y, learned) > 1e-3


def test_the_folds_of_the_numbers_are_scikit_learns() -> None:
    duel = trust.against_scikit_learn(trust.numbers, GaussianNB(), 1000)
    np.testing.assert_allclose(duel.ours().probabilities, duel.peer(), atol=1e-6)


def test_without_the_name_selection_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "ingenuo", object())
    with pytest.raises(Absent, match="AttributeSelector"):
        trust.selection(1000)


def test_scores_of_tables_are_those_of_scikit_learn_by_hand(texts: Path) -> None:
    table = arff.foldable_tables()[0]
    table = table.only([name for name in table.kinds if name != "empty"])
    found = trust_tables.score(peers.LOGISTIC, table, seed=1)
    made = peers.logistic(table).model
    folds_of = StratifiedKFold(10, shuffle=True, random_state=1)
    probabilities = cross_val_predict(made, table.frame.fillna(np.nan), table.y, cv=folds_of, method="predict_proba")
    assert found.log_loss == pytest.approx(log_loss(table.y, probabilities))
    assert found.accuracy == pytest.approx(100 * np.mean(np.array(["far", "near"])[probabilities.argmax(1)] == table.y))


@pytest.mark.usefixtures("scored_anew")
def test_tables_are_judged_by_their_means_and_by_chance(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust_tables, "cpu_count", lambda: 1)
    monkeypatch.setattr(trust_tables, "FOLDS", 3)
    monkeypatch.setattr(trust_tables, "SEEDS", (0, 1))
    accuracy, loss, regression = [case.measure(rows=1000, repeat=1) for case in trust_tables.cases()]
    found = trust_tables.scores(1000)
    assert list(found) == ["iris", "other"]
    own = [each[trust_tables.TUNED] for each in found.values()]
    assert accuracy.ours == pytest.approx(np.mean([each.accuracy for each in own]))
    assert loss.ours == regression.ours == pytest.approx(np.mean([each.log_loss for each in own]))
    assert loss.peer == min(
        np.mean([each[peer].log_loss for each in found.values()]) for peer in (peers.JOINED, peers.BINNED)
    )
    assert accuracy.ours > 90  # no Gaussian is two heaps, but other densities are
    assert "p 0.5 by Wilcoxon" in loss.note
    assert loss.met is False  # two tables cannot show more than p = 0.5
    printed = "\n".join(trust_tables.markdown(found))
    assert f"| {loss.ours:.3f} |" in printed.split("| log loss")[1]


def test_a_difference_by_chance_meets_no_bar() -> None:
    bar = trust_tables.Significant(None, 0.5, "", None, p_value=0.01)
    assert bar.met(2.0, 0.4) is True
    assert bar.met(2.0, 0.6) is False
    assert replace(bar, p_value=0.06).met(2.0, 0.4) is False


@pytest.mark.parametrize(
    "case", [case for case in TRUST_CASES if isinstance(case, trust_text.Ece)], ids=lambda case: case.name
)
def test_every_collection_has_an_ece(case: trust_text.Ece, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust_text, "cpu_count", lambda: 1)
    monkeypatch.setattr(trust_text.published, "FOLDS", 3)
    result = case.measure(rows=1000, repeat=1)
    assert result.unit == "ECE"
    assert 0 <= result.ours < 0.1  # every class has words of its own
    kept = trust_text.KeptAccuracy(case.collection, case.model, case.answers).measure(rows=1000, repeat=1)
    assert kept.met
    assert kept.ours == 100


def test_a_right_answer_of_each_confidence_has_the_ece_of_chance() -> None:
    rng = np.random.default_rng(0)
    sure = rng.uniform(0.5, 1.0, 2000)
    probabilities = np.column_stack([sure, 1 - sure])
    eces = [
        trust_text.judged(probabilities, [0, 1], np.where(rng.random(2000) < sure, 0, 1), 0.0).ece for _ in range(100)
    ]
    assert trust_text.ece_by_chance(probabilities) == pytest.approx(np.mean(eces), rel=0.1)
    assert trust_text.ece_by_chance(np.eye(2)) == 0


@pytest.mark.usefixtures("scored_anew")
def test_without_the_files_the_trust_suite_skips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGENUO_DATA", str(tmp_path))
    needing = [case for case in TRUST_CASES if not isinstance(case, Race) or "20 Newsgroups" in case.name]
    results = list(run(needing, rows=1000, repeat=1))
    assert len(results) == 37
    assert all(isinstance(result, Skipped) and "INGENUO_DATA" in result.why for result in results)
    assert all("is not there" in line for line in trust_text.markdown(1000)[2:])


# The quality suite.

SOME = ["--only", "NaiveBayes", "--only", peers.LOGISTIC, "--only", peers.HISTOGRAMS]


def test_folds_are_scored_as_by_hand(texts: Path) -> None:
    table = arff.foldable_tables()[0]
    task = quality.of_table(table)
    found = quality.answer(peers.logistic, task, range(10))
    known = table.only([name for name in table.kinds if name != "empty"])
    folds_of = StratifiedKFold(10, shuffle=True, random_state=0)
    X, made = known.frame.fillna(np.nan), peers.logistic(known).model
    probabilities = cross_val_predict(made, X, table.y, cv=folds_of, method="predict_proba")
    tests = [test for _, test in folds_of.split(X, table.y)]
    score = quality_page.Score.of(found)
    assert score.log_loss == pytest.approx(np.mean([log_loss(table.y[test], probabilities[test]) for test in tests]))
    judged = evaluate(probabilities, y=table.y.tolist(), classes=["far", "near"])
    assert score.ece == pytest.approx(float(judged["ece"]))
    right = np.array(["far", "near"])[probabilities.argmax(axis=1)] == table.y
    assert score.accuracy == pytest.approx(100 * np.mean([right[test].mean() for test in tests]))


def test_probabilities_of_0_are_taken_for_the_least() -> None:
    fold = quality.judge(np.array([0, 1]), np.array([[1.0, 0.0], [1.0, 0.0]]), (0, 0), (0, 0))
    assert fold.log_loss == pytest.approx(-np.log(1e-15) / 2)
    assert fold.gaps[-1] == -1


def test_peers_run_once_and_ours_always(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks, asked = [quality.of_table(table) for table in arff.foldable_tables()], Counter[str]()

    def count(make: Callable[..., Any], task: quality.Task, places: Iterable[int]) -> list[quality_page.Fold]:
        asked[make.__name__] += len(list(places))
        return [quality_page.Fold(6, 90.0, 0.5, (0.0,) * 10, 0.1, 0.1, 0.1, 0.1) for _ in places]

    def plain(_: Any) -> NaiveBayes:
        return NaiveBayes()

    peer = peers.Model(peers.logistic)
    monkeypatch.setattr(quality, "answer", count)
    for wanted, of_peer in ((2, 4), (2, 4), (5, 10)):
        cache = quality.Cache(tmp_path / "peers.json")
        found = quality.run(tasks, {"ours": peers.Model(plain, None), "peer": peer}, wanted, cache)
        assert asked["logistic"] == of_peer
        assert [len(each) for each in found["peer"].values()] == [wanted, wanted]
    assert asked["plain"] == 18
    known = tmp_path / "peers.json"  # whose folds count
    for path, seconds, few in ((None, 0.5, quality.FEW), (None, 0.2, 1), (known, 0.5, 5)):  # ten folds need a second
        cache = quality.Cache(path, budget=seconds)
        found = quality.run(tasks, {"peer": peer}, 10, cache)
        assert [len(each) for each in found["peer"].values()] == [few, few]


def test_a_peer_that_is_not_installed_is_named_and_left_out(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = [quality.of_table(table) for table in arff.foldable_tables()]
    unknown = peers.Model(peers.logistic, "no-such-package")
    assert quality.run(tasks, {"unknown": unknown}, 1, quality.Cache(None)) == {}
    assert "unknown is left out: no-such-package is not installed" in capsys.readouterr().err


def test_quality_prints_every_table_and_the_means(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quality", *SOME, "--tables", "iris", "--tables", "other", "--folds", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("| iris |") == printed.count("| **mean** |") == len(quality_page.MEASURES)
    assert "| mean of the tables | log loss |" in printed
    assert main(["quality", *SOME, "--tables", "CR", "--tables", "TREC", "--folds", "1"]) == 0
    printed = capsys.readouterr().out
    assert "| 81.75 |" in printed
    for wrong, said in (
        (["--folds", "11"], "give 1 to 10"),
        (["--tables", "none"], "no table or collection has 'none'"),
    ):
        with pytest.raises(SystemExit):
            main(["quality", *wrong])
        assert said in capsys.readouterr().err


def test_lost_tables_are_named_on_the_folds_of_both() -> None:
    def folds_of(*losses: float) -> list[quality_page.Fold]:
        return [quality_page.Fold(10, 90.0, loss, (0.0,) * 10, 0.1, 0.1, 0.1, 0.1) for loss in losses]

    vote = {"a": folds_of(0.1, 0.3), "b": folds_of(0.1, 0.3)}
    found = {quality_page.VOTE: vote, peers.CAT_BOOST: {"a": folds_of(0.15), "b": folds_of(0.05)}}
    sentence = quality_page.against_the_best(found)
    assert sentence.endswith("on 1 of 2 tables. It has not on b (0.100, CatBoost 0.050).")
    assert "| a | 0.200 | 0.150 (1) |" in quality_page.every_table(found, "log_loss")
    assert "| CatBoost | 0.100 | 0.100 |" in quality_page.on_common_folds(found)


def test_a_page_is_written_between_its_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before <!-- tables -->old<!-- end of tables --> after\n")
    quality_page.write(page, {"tables": "new"})
    assert page.read_text() == "before <!-- tables -->\n\nnew\n\n<!-- end of tables --> after\n"
    with pytest.raises(ValueError, match="<!-- texts -->"):
        quality_page.write(page, {"tables": "newer", "texts": "new"})
    assert "newer" not in page.read_text()
    with pytest.raises(SystemExit):
        main(["quality", "--write", str(page), "--folds", "3"])


def test_ranks_are_drawn(tmp_path: Path) -> None:
    fold = [quality_page.Fold(10, 90.0, loss, (0.0,) * 10, 0.1, 0.1, 0.1, 0.1) for loss in (0.1, 0.2, 0.3)]
    found = {name: {"a": [fold[place]], "b": [fold[place]]} for place, name in enumerate(("best", "middle", "worst"))}
    assert quality_page.ranks(found).ranks.tolist() == [1, 2, 3]
    for name in ("one.svg", "two.svg"):
        quality_page.draw(found, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


# The networks suite.


@pytest.fixture(scope="module")
def few_nodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network under the names of the real ones, rows from it, and two tables, one of them discrete."""
    home = tmp_path_factory.mktemp("networks data")
    for name in ("networks", "network-samples", "tables"):
        (home / name).mkdir()
    arcs = [("a", "VALV"), ("b", "VALV"), ("VALV", "c"), ("VALV", "d"), ("c", "e")]
    rng = np.random.default_rng(3)
    states = {node: ["low", "mid", "high"] for node in ("a", "b", "VALV", "c", "d", "e")}
    above = {node: sum(down == node for _, down in arcs) for node in states}
    shares = {node: rng.dirichlet([0.4] * 3, (3,) * n) for node, n in above.items()}
    network = Network.from_arcs(arcs, states=states, tables=shares)
    for name in ("asia", "child", "insurance", "alarm"):
        network.write(home / "networks" / f"{name}.bif.gz")
    network.sample(1500, random_state=4).to_pandas().to_csv(home / "network-samples" / "alarm.csv.gz", index=False)
    (home / "tables" / "iris.arff").write_text(made_up_table(rng, 90), encoding="utf-8")
    rows = [f"{x},{y},{'yes' if x == y else 'no'}" for x, y in rng.choice(["p", "q"], (80, 2))]
    head = "@relation car\n@attribute x {p, q}\n@attribute y {p, q}\n@attribute class {yes, no}\n@data\n"
    (home / "tables" / "car.arff").write_text(head + "\n".join(rows), encoding="utf-8")
    return home


@pytest.fixture
def networks_data(few_nodes: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("INGENUO_DATA", str(few_nodes))
    monkeypatch.setattr(networks_tables, "cpu_count", lambda: 1)
    monkeypatch.setattr(networks, "PGMPY_ROWS", 5)
    networks.learned.cache_clear()
    networks_tables.forget()
    yield few_nodes
    networks.learned.cache_clear()
    networks_tables.forget()


@pytest.mark.parametrize(
    "case",
    [*of_kind(Race, NETWORK_CASES), *of_kind(networks.PerRow, NETWORK_CASES)],
    ids=lambda case: case.name,
)
def test_every_race_of_networks_reports_a_ratio_and_the_answers_agree(case: Case, networks_data: Path) -> None:
    peer = "pyagrum" if "pyAgrum" in case.name else "pgmpy"
    pytest.importorskip(peer, reason=f"{peer} is an optional peer")
    result = case.measure(rows=1000, repeat=1)
    assert math.isfinite(result.ratio)
    assert result.ratio > 0
    assert result.agrees, f"{result.difference} > {result.tolerance}"


@pytest.mark.parametrize("convert", [networks.by_rows_of_agrum, networks.by_rows_of_pgmpy])
def test_peers_have_the_tables_that_we_have(convert: Callable[..., networks.Answers], networks_data: Path) -> None:
    peer = "pyagrum" if convert is networks.by_rows_of_agrum else "pgmpy"
    pytest.importorskip(peer, reason=f"{peer} is an optional peer")
    model = networks.learned(1000)
    asked = networks.asked(model, 5, holes=0.5)
    assert asked.isna().to_numpy().any()
    answers = convert(model.network_, asked, True)
    np.testing.assert_allclose(answers.posteriors(), model.network_.predict_proba(asked, networks.TARGET), atol=1e-9)


def test_a_worse_structure_is_a_shortfall(networks_data: Path) -> None:
    pytest.importorskip("pyagrum", reason="pyagrum is an optional peer")
    duel = networks.climbing("pyAgrum", "bic", 1000)
    found = duel.peer()
    empty = Network.from_arcs([], nodes=found.nodes)
    assert duel.outcome(found, empty)[0] > networks.SHORTFALL
    assert duel.outcome(empty, found)[0] == 0


def test_threads_of_the_peer_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: list[int] = []

    class Stub:
        @staticmethod
        def setNumberOfThreads(number: int) -> None:
            numbers.append(number)

    monkeypatch.setitem(sys.modules, "pyagrum", Stub)
    monkeypatch.setattr(networks, "width", lambda: 4)
    call = networks.with_threads(lambda: "answer")
    assert [call() for _ in range(3)] == ["answer"] * 3
    assert numbers == [4, 1, 4]


def test_of_structures_the_worst_draw_counts(networks_data: Path) -> None:
    pytest.importorskip("pyagrum", reason="pyagrum is an optional peer")
    case = of_kind(networks.Quality, NETWORK_CASES)[0]
    result = case.measure(rows=1000, repeat=1)
    assert result.bar.limit == pytest.approx(result.peer)
    losses = []
    for seed in networks.DRAWS:
        _, table = networks.drawn("asia", 1000, seed)
        losses.append(-Network.learn(table, score="bdeu", verbose=False).score(table, "bdeu") / 1000)
    assert any(result.ours == pytest.approx(each) for each in losses)
    assert "edges that differ" in result.note


def test_tan_sees_what_naive_bayes_cannot(networks_data: Path) -> None:
    """The class of the discrete table is whether two columns are equal."""
    naive, tan, discrete = [case.measure(rows=1000, repeat=1) for case in networks_tables.cases()]
    assert tan.ours == discrete.ours == 100
    assert naive.ours < 90
    assert tan.met
    assert discrete.met
    assert "1 tables, against NaiveBayes, better on 1" in discrete.note


def test_the_tables_of_networks_have_every_set_and_the_means(
    networks_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert networks_tables.main(["--only", "tan", "--only", "NaiveBayes"]) == 0
    printed = capsys.readouterr().out
    assert all(part in printed for part in ("| car |", "| iris |", "| **mean** |", "| log loss |", "- tan: "))


def test_without_the_files_or_the_peers_the_networks_suite_skips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, networks_data: Path
) -> None:
    for module in ("pyagrum", "pgmpy", "pgmpy.causal_discovery", "pgmpy.models"):
        monkeypatch.setitem(sys.modules, module, None)
    racing = [case for case in NETWORK_CASES if "pyAgrum" in case.name or "pgmpy" in case.name]
    results = list(run(racing, rows=1000, repeat=1))
    assert len(results) == 10
    assert all(isinstance(result, Skipped) and "is not installed" in result.why for result in results)
    networks.learned.cache_clear()
    networks_tables.forget()
    monkeypatch.setenv("INGENUO_DATA", str(tmp_path))
    needing = [case for case in NETWORK_CASES if "TAN" not in case.name and not isinstance(case, networks.Quality)]
    results = list(run(needing, rows=1000, repeat=1))
    assert all(isinstance(result, Skipped) and "INGENUO_DATA" in result.why for result in results)


# The suite of the command line.


@pytest.fixture
def no_new_process(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Commands are called in this process; the list has those that were."""
    calls: list[list[str]] = []

    def called(call: list[str]) -> processes.Spent:
        calls.append(call[len(cli.command()) :])
        done = CliRunner().invoke(command_line, calls[-1])
        assert done.exit_code == 0, done.output
        return processes.Spent(0.5, 0.5)

    monkeypatch.setattr(cli, "spent_by", called)
    return calls


@pytest.mark.parametrize("case", of_kind(Pace, COMMAND_CASES), ids=lambda case: case.name)
def test_files_become_models_and_answers_that_agree(case: Pace, no_new_process: list[list[str]]) -> None:
    result = case.measure(rows=2000, repeat=1)
    assert math.isfinite(result.ratio)
    assert result.ours > 0
    assert result.agrees, f"{result.difference} > {result.tolerance}"
    assert "whole command 0.5 s" in result.note
    assert [call[0] for call in no_new_process] == [case.name.split()[0].strip(",")] * 2


@pytest.mark.parametrize("name", ["import", "ingenuo, an unknown option", "ingenuo, a missing file"])
def test_the_start_of_a_program_is_timed_beside_the_peers(name: str) -> None:
    (case,) = (each for each in start.cases() if each.name == name)
    result = case.measure(rows=1000, repeat=1)
    assert result.unit == "s"
    assert result.peer > 0
    assert result.ours > 0
    assert "by the clock" in result.note


def test_a_program_that_ends_otherwise_is_not_timed() -> None:
    with pytest.raises(RuntimeError, match="no-such-command"):
        processes.spent_by([*processes.command(), "no-such-command"])


@pytest.mark.parametrize("name", list(start._FIRST))
def test_both_sides_of_a_first_call_run(name: str) -> None:
    data, peer, ours, _ = start._FIRST[name]
    for program in (peer, ours):
        exec(data + program, {})


def test_answers_that_are_not_the_true_ones_disagree(no_new_process: list[list[str]]) -> None:
    table = cli.answering_tables(2000)
    right = table.ours()
    assert table.outcome(None, right)[0] < 1e-9
    frame = pd.read_csv(right)
    frame.assign(probability=frame["probability"] * 0.999).to_csv(right, index=False)
    assert table.outcome(None, right)[0] > 1e-4
    frame.assign(predicted="class 1").to_csv(right, index=False)
    assert math.isnan(table.outcome(None, right)[0])


def test_made_up_texts_follow_zipfs_law_and_their_labels() -> None:
    drawn = cli.texts_of(2000)
    words = [text.replace(",", "").split() for text in drawn.column("text").to_pylist()]
    assert {min(map(len, words)), max(map(len, words))} == {12, 40}
    often = [count for _, count in Counter(word for text in words for word in text).most_common(10)]
    assert often[0] / often[9] == pytest.approx(10, rel=0.5)
    assert drawn.equals(cli.texts_of(2000))
    learned = NaiveBayes().fit(drawn.slice(0, 1500), "label")
    rest = drawn.slice(1500)
    assert np.mean(learned.predict(rest) == rest.column("label").to_numpy()) > 0.5  # of four


@pytest.fixture
def learned_here(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Files are learned in this process, whose peak is made up."""

    def peak_of(size: int) -> None:
        def learn(path: Path, target: str, output: Path) -> larger_than_memory.Learning:
            call = larger_than_memory.call_of(path, target, output)[len(cli.command()) :]
            assert CliRunner().invoke(command_line, call).exit_code == 0
            return larger_than_memory.Learning(2.0, size, path.stat().st_size)

        monkeypatch.setattr(larger_than_memory, "learn", learn)

    return peak_of


@pytest.mark.parametrize(
    ("kind", "size", "peak", "status", "said"),
    [("mixed", "0.0003", 900_000_000, 0, "is within 1 GB"), ("texts", "0.0004", 1_100_000_000, 1, "is ABOVE 1 GB")],
)
def test_a_file_of_blocks_has_the_sums_of_the_block_so_often(
    kind: str, size: str, peak: int, status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    learned_here: Callable[[int], None],
) -> None:  # fmt: skip
    learned_here(peak)
    small = ["--gigabytes", size, "--rows", "1000", "--kind", kind, "--folder", str(tmp_path)]
    assert larger_than_memory.main(small) == status
    printed = capsys.readouterr().out
    assert f"peak {peak // 1_000_000} MB" in printed
    assert "the sums are those of the block, times" in printed
    assert "times 1\n" not in printed
    assert said in printed
    assert not list(tmp_path.iterdir())  # the files are gone


def test_the_vote_is_timed_in_answers_and_beside_a_plain_pass(learned_here: Callable[[int], None]) -> None:
    learned_here(900_000_000)
    answers, whole = [case.measure(rows=1000, repeat=1) for case in quality_large.cases()]
    assert answers.unit == "k rows/s"
    assert answers.ours > 0
    assert whole.agrees
    assert "1,000 rows; of all threads" in whole.note
    assert "peak 900 MB" in whole.note


def test_lost_rows_are_seen(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    learned_here: Callable[[int], None],
) -> None:
    learned_here(1)
    write = larger_than_memory.repeat
    monkeypatch.setattr(larger_than_memory, "repeat", lambda *given: write(*given) + 1)
    assert larger_than_memory.main(["--gigabytes", "0.0003", "--rows", "1000", "--folder", str(tmp_path)]) == 1
    assert "NOT those of the block" in capsys.readouterr().out


def test_the_peak_of_a_command_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that of the process which started it."""
    held = np.ones(40_000_000)  # 320 MB
    program = "import sys; written = bytearray(b'1' * 100_000_000); open(sys.argv[-1], 'w').write('model')"
    monkeypatch.setattr(processes, "command", lambda: [sys.executable, "-c", program])
    path = tmp_path / "file.csv"
    path.write_text("a,class\n")
    found = larger_than_memory.learn(path, "class", tmp_path / "model")
    assert held.sum() == 40_000_000
    assert (tmp_path / "model").read_text() == "model"
    assert 100e6 < found.peak < 300e6
    monkeypatch.setattr(processes, "command", lambda: [sys.executable, "-c", "raise SystemExit('it cannot')"])
    with pytest.raises(RuntimeError, match="it cannot"):
        larger_than_memory.learn(path, "class", tmp_path / "model")


def test_too_little_room_is_said_before_anything_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        larger_than_memory.main(["--gigabytes", "1e9", "--folder", str(tmp_path)])
    assert "GB are free" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        larger_than_memory.main(["--folder", str(tmp_path / "none")])
    assert "there is no folder" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
