"""Network classifiers from rows that lie in parts: the model that all rows in memory give, to the last bit."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from benchmarks.public_data import public_data
from hypothesis import given, settings
from hypothesis import strategies as st

import ingenuo as ing
from ingenuo.datasets import diabetes, weather
from ingenuo.errors import IngenuoError, InputError, RefusedError, TooWideError
from ingenuo.families import discretise as discretiser
from ingenuo.families.discretise import ByValue, equal_shares, mdl_cuts
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.networks import learn, trees
from ingenuo.networks.network import Network
from ingenuo.networks.trees import PairCounts, chow_liu, count_pairs, kdb, tan
from ingenuo.rows.engines import EngineFrame
from ingenuo.tally.tally import Tally

ALL: list[tuple[str, dict[str, Any]]] = [("tan", {}), ("kdb", {"k": 2}), ("chow-liu", {}), ("naive", {}), ("aode", {})]


class Parts(EngineFrame):
    """Rows in this process, in parts that are worked on one by one."""

    schema: pa.Schema = None
    called = "the parts"

    def __init__(self, table: pa.Table, starts: Iterable[int] = ()) -> None:
        ends = sorted({*starts, 0, table.num_rows})
        self.table, self.names, self.schema = table, list(table.column_names), table.schema
        self.parts = [table.slice(lo, hi - lo) for lo, hi in pairwise(ends)] if len(ends) > 1 else [table]
        self.passes = 0

    def place(self, part: int) -> str:
        return f"part {part}"

    def column(self, given: Any, what: str) -> tuple[Parts, str]:
        return self, given

    def head(self, columns: Sequence[str], n: int) -> pa.Table:
        return self.table.select(columns).slice(0, n)

    def reduce(
        self, columns: Sequence[str], part: Callable[[int, Iterable[pa.Table]], bytes], merge: Callable[[Any], bytes]
    ) -> bytes:
        self.passes += 1
        return merge([part(number, [table.select(columns)]) for number, table in enumerate(self.parts)])


def same(one: Any, other: Any) -> None:
    """All that was learned is the same, to the last bit."""
    assert one.cuts_ == other.cuts_
    assert one._found.nodes == other._found.nodes
    assert one._found.parents == other._found.parents
    assert one.search_ == other.search_
    assert one.tally_ == other.tally_
    assert str(one.schema_) == str(other.schema_)
    assert one.classes_.tolist() == other.classes_.tolist()
    if one.structure != "aode":
        network, again = one.network_, other.network_
        assert network.states == again.states
        assert all(np.array_equal(network.tables[node], again.tables[node]) for node in network.nodes)


def agree(
    table: pa.Table, target: str, structure: Any, options: dict[str, Any], cuttings: Any, weight: Any = None
) -> Any:
    weights = None if weight is None else table.column(weight).to_numpy()
    rows = table if weight is None else table.drop_columns([weight])
    wanted = NetworkClassifier(structure, **options).fit(rows, target, weights)
    for starts in cuttings:
        same(NetworkClassifier(structure, **options).fit(Parts(table, starts), target, weight), wanted)
    return wanted


def some_cuttings(n: int, many: int = 12) -> list[Sequence[int]]:
    """In one part, in seven, and in more that often lack a class or a value."""
    rng = np.random.default_rng(n)
    return [(), [n * k // 7 for k in range(1, 7)], sorted(rng.choice(np.arange(1, n), many, False).tolist())]


def numbers(n: int, seed: int = 0) -> pa.Table:
    """Columns of numbers of every shape, most of them with another value in every row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return pa.table({
        "normal": rng.normal(size=n) + y,
        "days": 2_459_000.5 + 30 * rng.random(n) + 5 * (y == 1),  # far from 0 and close together
        "money": np.where(rng.random(n) < 0.3, 0.0, np.exp(3 * rng.normal(size=n) + y)),
        "coded": np.where(rng.random(n) < 0.01, 1e30, -1000 - rng.random(n) * (y + 1)),
        "whole": rng.integers(0, 40, n) + 3 * y,
        "few": rng.integers(0, 4, n),
        "holed": pa.array(rng.normal(size=n) * (y + 1), mask=rng.random(n) < 0.2),
        "class": np.array(["low", "middle", "high"])[y],
    })  # fmt: skip


# Real tables.


@pytest.mark.parametrize(("structure", "options"), ALL)
def test_numbers_with_holes_in_any_parts(structure: str, options: dict[str, Any]) -> None:
    cuttings = some_cuttings(442) if structure == "tan" else [(100, 101, 300)]
    model = agree(diabetes(), "progression", structure, options, cuttings)
    assert any(cuts.points for cuts in model.cuts_.values())


@pytest.mark.parametrize("structure", ["tan", "aode"])
def test_every_row_a_part(structure: str) -> None:
    rows = weather()
    agree(rows, rows.column_names[-1], structure, {}, [range(rows.num_rows)])


@pytest.mark.parametrize(
    ("name", "structure"), [("car.arff", "kdb"), ("nursery.arff", "tan"), ("soybean.arff", "tan"), ("zoo.arff", "tan")]
)
def test_public_tables_whose_parts_lack_classes(name: str, structure: str) -> None:
    path = public_data(f"tables/{name}")
    if path is None:
        pytest.skip(f"the table {name} is not here; set INGENUO_DATA to the folder that has tables/{name}")
    rows = ing.read(path)
    target = rows.column_names[-1]
    rows = rows.take(pc.sort_indices(rows.column(target).cast(pa.string())))
    with warnings.catch_warnings(record=True) as told:  # the animals of the zoo have names
        warnings.simplefilter("always")
        agree(rows, target, structure, {}, [[rows.num_rows * k // 5 for k in range(1, 5)]])
    assert len(told) == (2 if name == "zoo.arff" else 0)
    assert len({str(warning.message) for warning in told}) <= 1


def test_incomes_by_two_parents_and_their_weights() -> None:
    path = public_data("tables/adult-train.csv.gz")
    if path is None:
        pytest.skip("the file adult-train.csv.gz is not here; set INGENUO_DATA to the folder that has tables/")
    names = ["age", "workclass", "weight", "education", "years", "marital", "occupation", "relationship", "race", "sex"]
    names += ["gain", "loss", "hours", "country", "income"]
    rows = pa.Table.from_pandas(
        pd.read_csv(path, names=names, skipinitialspace=True, na_values="?", nrows=4000), preserve_index=False
    )
    agree(rows, "income", "kdb", {"k": 2}, [(500, 501, 2000)], weight="weight")
    agree(rows, "income", "tan", {"columns": {"years": "number", "country": "ignore"}}, [(3, 1700)])


# Weights and what is given.


def test_a_weight_of_zero_is_no_row_and_whole_weights_are_repeated_rows() -> None:
    rows = diabetes()
    weights = np.random.default_rng(0).integers(0, 4, rows.num_rows)
    model = agree(rows.append_column("w", pa.array(weights)), "progression", "tan", {}, [(100, 300)], weight="w")
    repeated = rows.take(np.repeat(np.arange(rows.num_rows), weights))
    again = NetworkClassifier("tan").fit(Parts(repeated, (37, 333)), "progression")
    assert (again.cuts_, again._found.parents, again.tally_) == (model.cuts_, model._found.parents, model.tally_)


def test_rows_of_weight_zero_have_no_say_in_what_a_column_is() -> None:
    few = pa.table({
        "x": [1, 2, 3, 1, 2, 3, *range(100, 130)], "only": ["a"] * 3 + ["b"] * 3 + [None] * 30,
        "class": list("uvw") * 12, "w": [1] * 6 + [0] * 30,
    })  # fmt: skip
    model = agree(few, "class", "tan", {}, [(5,)], weight="w")
    assert model.schema_.why["x"] == "3 whole numbers"
    gone = few.set_column(3, "w", pa.array([0] * 6 + [1] * 30))
    for rows in (gone.drop_columns(["w"]), Parts(gone, (20,))):
        weight: Any = "w" if isinstance(rows, Parts) else gone.column("w").to_numpy()
        with pytest.raises(InputError, match="column 'only' has no value in any row"):
            NetworkClassifier("tan").fit(rows, "class", weight)


def test_fractions_of_rows_add_exactly_where_numbers_are_cut() -> None:
    rng = np.random.default_rng(5)
    rows = numbers(400).append_column("w", pa.array(rng.random(400) + 1e-9))
    agree(rows, "class", "naive", {}, [(100, 101, 250)], weight="w")


def test_a_given_network_with_its_cut_points() -> None:
    rows = diabetes()
    learned = NetworkClassifier("tan").fit(rows[:150], "progression").network_
    agree(rows, "progression", learned, {}, [(1, 200), [40, 41, 42]])
    arcs = Network.from_arcs([("progression", "bmi"), ("bmi", "s5"), ("bp", "progression")])
    agree(rows, "progression", arcs, {}, [(200,)])


def test_more_rows_are_learned_and_forgotten_where_they_lie() -> None:
    rows = diabetes()
    model = NetworkClassifier("tan").fit(Parts(rows[:300], (100,)), "progression")
    before = model.tally_
    wanted = NetworkClassifier("tan").fit(rows[:300], "progression").partial_fit(rows[300:], "progression")
    same(model.partial_fit(Parts(rows[300:], (10, 90)), "progression"), wanted)
    assert model.forget(Parts(rows[300:], (70,)), "progression").tally_ == before
    first = NetworkClassifier("tan").partial_fit(Parts(rows[:300], (7,)), "progression", classes=["never"])
    assert "never" in first.classes_.tolist()
    assert first.tally_ == before


def test_a_structure_travels_without_any_sums(tmp_path: Path) -> None:
    for structure in ("tan", "aode"):
        model = NetworkClassifier(structure).fit(diabetes(), "progression")
        bare = model._make_empty(model.schema_)
        ing.save(bare, tmp_path / "bare.ingenuo")
        again = ing.load(tmp_path / "bare.ingenuo")
        assert again._found == model._found
        assert len(again.tally_) == 0
        same(again.partial_fit(diabetes(), "progression"), model)


# More values than are told apart.


@pytest.mark.parametrize("most", [16, 64, 1024])
def test_many_values_are_joined_alike_however_the_rows_are_cut(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = NetworkClassifier("naive").fit(numbers(600), "class")
    monkeypatch.setattr(discretiser, "VALUES", most)
    model = agree(numbers(600), "class", "naive", {}, [(200, 201, 202, 400, 599)])
    assert model.schema_.why["few"] == exact.schema_.why["few"] == "4 whole numbers"
    assert most < 64 or model.cuts_["whole"] == exact.cuts_["whole"]  # 46 values
    assert most == 1024 or model.cuts_["normal"] != exact.cuts_["normal"]
    assert most < 1024 or model.cuts_ == exact.cuts_


def test_numbers_that_lie_close_together_need_a_pass_more_and_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discretiser, "VALUES", 1 << 12)
    passes = {}
    for name in ("few", "normal", "days"):
        rows = Parts(numbers(6000).select([name, "class"]), (2000, 4000))
        NetworkClassifier("naive").fit(rows, "class")
        passes[name] = rows.passes
    assert passes["normal"] == passes["few"]
    assert passes["days"] > passes["few"]


def test_buckets_that_do_not_tell_make_more_work_and_no_other_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discretiser, "VALUES", 64)
    wanted = NetworkClassifier("naive").fit(numbers(600), "class")
    monkeypatch.setattr(discretiser, "_bucket", np.zeros_like)
    same(NetworkClassifier("naive").fit(Parts(numbers(600), range(0, 600, 100)), "class"), wanted)


odd = st.one_of(
    st.floats(allow_nan=True, allow_infinity=False),
    st.integers(-300, 300).map(float),
    st.floats(1000, 1001),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308]),
)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(odd, st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=150), st.randoms())
def test_cells_are_few_and_those_of_the_set_of_values(rows: list[tuple[float, int, int]], random: Any) -> None:
    column, labels = np.array([x for x, *_ in rows]), np.array([k for _, k, _ in rows])
    weights = np.array([float(w) for *_, w in rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discretiser, "VALUES", 32)
        whole = ByValue.of(column, labels, 3, weights)
        different = len(np.unique(column[~np.isnan(column)]))
        assert len(whole.at) == different if different <= 32 else 4 < len(whole.at) <= 32
        assert whole.counts().sum() == weights[~np.isnan(column)].sum()
        again = ByValue.of(np.repeat(column, weights.astype(int)), np.repeat(labels, weights.astype(int)), 3)
        assert (again.bits, again.at.tolist(), again.sums) == (whole.bits, whole.at.tolist(), whole.sums)
        # Every value lies in its cell, and a cut between two cells has each on its side.
        at = discretiser.cells(discretiser.places(column[~np.isnan(column)]), whole.bits)
        where = np.searchsorted(whole.at, at)
        here = column[~np.isnan(column)]
        assert (here <= whole.highs[where]).all() or whole.bits < 64
        for cuts in (mdl_cuts(whole), equal_shares(whole, 4)):
            codes = cuts.codes(here)
            for cell in range(len(whole.at)):
                assert len(set(codes[where == cell].tolist())) == 1
        # In parts, each of which chooses its bits by what all of them have.
        place, bits, tally = np.array([random.randrange(4) for _ in rows]), 0, Tally()
        seen = Tally()
        for part in range(4):
            seen = seen + Tally(discretiser.survey("x", column[place == part]))
        wanted = discretiser.bits_by(seen, "x")
        while bits != wanted:
            bits, tally = wanted, Tally()
            for part in range(4):
                mine = place == part
                tally = tally + Tally(discretiser.tally_values("x", column[mine], labels[mine], 3, weights[mine], bits))
            found = discretiser.from_tally(tally, "x", 3, bits)
            wanted = discretiser.finer(bits, len(found.at))
        assert (found.bits, found.at.tolist(), found.sums) == (whole.bits, whole.at.tolist(), whole.sums)


def test_a_cut_of_very_many_values_is_where_it_would_be() -> None:
    rng = np.random.default_rng(3)
    for offset, wide in ((0.0, 1.0), (2_459_000.5, 30.0), (-1e6, 1e-3), (0.0, 1e200)):
        column = offset + wide * rng.random(200_000)
        cuts = mdl_cuts(ByValue.of(column, (column > offset + 0.3 * wide).astype(int), 2))
        assert 1 <= len(cuts.points) <= 2  # the cell that has both classes may be an interval of its own
        assert all(abs(point - (offset + 0.3 * wide)) < wide / 4000 for point in cuts.points)


# Trees from tables.


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 5), st.booleans(), st.integers(200, 100_000))
def test_trees_by_tables_are_those_by_rows(seed: int, n_columns: int, weighted: bool, at_a_time: int) -> None:
    rng = np.random.default_rng(seed)
    cards = [3, *rng.integers(1, 5, n_columns).tolist()]
    rows = [rng.integers(-1 if j else 0, card, 90) for j, card in enumerate(cards)]
    weights = rng.integers(1, 4, 90).astype(float) if weighted else None
    places = rng.integers(0, 4, 90)
    passes: list[Any] = []

    def count(jobs: list[list[int]]) -> Tally:
        passes.append(jobs)
        total = Tally()
        for part in range(4):
            mine = places == part
            some = None if weights is None else weights[mine]
            total = total + count_pairs([column[mine] for column in rows], cards, jobs, some)
        return total

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "AT_A_TIME", at_a_time)
        counted = PairCounts([f"c{j}" for j in range(len(cards))], cards, count)
        here = PairCounts.of(rows, cards, weights)
        assert tan(counted) == tan(here)
        assert len(passes) == 1 or at_a_time < 1000
        assert tan(counted, n_columns) == tan(here, n_columns)
        assert kdb(counted, 2) == kdb(here, 2)
        assert chow_liu(counted, 1) == chow_liu(here, 1)


def test_tables_too_many_for_a_pass_are_counted_in_several(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Parts(diabetes(), (100, 300))
    wanted = NetworkClassifier("tan").fit(rows, "progression")
    once = rows.passes
    monkeypatch.setattr(trees, "AT_A_TIME", 300)
    again = Parts(rows.table, (100, 300))
    same(NetworkClassifier("tan").fit(again, "progression"), wanted)
    assert again.passes > once


# What cannot be learned.


@pytest.mark.parametrize("structure", ["hill-climb", "k2"])
def test_a_search_over_any_set_of_columns_is_refused_with_a_way_out(structure: str) -> None:
    with pytest.raises(
        RefusedError, match=r"take 'tan' or 'kdb', or learn the structure from a sample .* structure=model.network_"
    ):
        NetworkClassifier(structure).fit(Parts(diabetes()), "progression")
    model = NetworkClassifier(structure).fit(diabetes()[:100], "progression")
    wanted = copy.deepcopy(model).partial_fit(diabetes(), "progression")
    same(model.partial_fit(Parts(diabetes(), (100,)), "progression"), wanted)  # its tables add all the same


N = 40
PLAIN = pa.table({"a": [f"v{i % 4}" for i in range(N)], "b": [i % 3 for i in range(N)], "class": list("uv") * (N // 2)})
BAD: dict[str, tuple[pa.Table, dict[str, Any], str]] = {
    "text": (
        PLAIN.append_column("note", pa.array([f"patient {i} slept quite well" for i in range(N)])),
        {},
        "column 'note' is text",
    ),
    "infinite": (
        PLAIN.append_column("x", pa.array([*(np.arange(N - 1) + 0.5), -np.inf])),
        {},
        r"column 'x', row \d+: -inf has no interval",
    ),
    "no number": (
        PLAIN.append_column("x", pa.array([None] * N, pa.float64())),
        {"columns": {"x": "number"}},
        "column 'x' has no value in any row",
    ),
    "no label": (PLAIN.set_column(2, "class", pa.array([*("uv" * 19), None, "u"])), {}, "has no label"),
    "root": (PLAIN, {"root": "aa"}, "no node 'aa'; did you mean 'a'"),
    "column": (PLAIN, {"columns": {"aa": "category"}}, "no column 'aa'; did you mean 'a'"),
    "none": (PLAIN[:0], {}, "there are no rows to learn from"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_learned_is_refused_in_one_sentence(name: str) -> None:
    table, options, message = BAD[name]
    model = NetworkClassifier("tan", **options)
    with pytest.raises(IngenuoError, match=message) as told:
        model.fit(Parts(table, (13, 20)), "class")
    assert "\n" not in str(told.value)
    assert not hasattr(model, "tally_")


def test_tables_beyond_any_pass_are_refused_by_the_names_of_their_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Parts(PLAIN, (13,))
    monkeypatch.setattr(trees, "AT_A_TIME", 20)
    with pytest.raises(TooWideError, match=r"the tables of 'a', which has 4 values, .* 24 cells, and 20 are the most"):
        NetworkClassifier("tan").fit(rows, "class")
    wide = pa.table({"a": np.arange(9000) + 0.5, "b": np.arange(9000)[::-1] + 0.5, "class": ["u", "v"] * 4500})
    with (
        pytest.raises(TooWideError, match="columns 'a' and 'b' have 9,000 and 9,000 values"),
        pytest.warns(UserWarning, match="has 9,000 values in 9,000 rows"),
    ):
        NetworkClassifier("tan", columns={"a": "category", "b": "category"}).fit(Parts(wide), "class")
    monkeypatch.setattr(learn, "CELLS", 20)
    monkeypatch.setattr(trees, "AT_A_TIME", 1000)
    with pytest.raises(TooWideError, match="cells"):
        NetworkClassifier(Network.from_arcs([("class", "a"), ("b", "a")])).fit(Parts(PLAIN, (13,)), "class")


def test_the_widest_cells_have_finite_ends() -> None:
    ends = np.array([-1.7976931348623157e308, 1.7976931348623157e308])
    for bits in (1, 3, 13, 63):
        column = ByValue(
            discretiser.cells(discretiser.places(ends), bits), bits, ByValue.of(ends, np.array([0, 0]), 1).sums
        )
        assert np.isfinite(column.lows[1])  # between the two there may be a cut
        assert np.isfinite(column.highs[0])
        assert ends[0] <= column.highs[0] <= column.lows[1] < ends[1]
