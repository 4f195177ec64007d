"""Rows in batches: what is learned and judged is what all the rows at once would give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from tests.cli.people import people

import ingenuo as ing
from ingenuo.cli.work.train import train
from ingenuo.errors import InputError, KindError
from ingenuo.rows.rows import Total, rows_of
from ingenuo.rows.streams import Stream, draw_rows, pick_rows, select_columns
from ingenuo.tally.tally import Tally


class Cut(Stream):
    """A table in batches of so many rows."""

    def __init__(self, table: pa.Table, rows: int) -> None:
        self._table, self._rows = table, rows
        self.names, self.paths, self.target = table.column_names, ["the table"], None
        self.kinds: Any = {}
        self.n_bytes = None
        self.categories: Any = {}

    def batches(self) -> Any:
        for at in range(0, self._table.num_rows, self._rows):
            yield self._table.slice(at, self._rows)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pa.Table.from_pandas(people().drop(columns="key"), preserve_index=False)


@pytest.mark.parametrize("rows", [1, 7, 64, 1000])
def test_batches_of_any_size_give_the_same_sums(table: pa.Table, rows: int) -> None:
    declared = {"said": "text"}
    whole = ing.NaiveBayes(columns=declared).fit(table, "outcome")
    assert ing.NaiveBayes(columns=declared).fit(Cut(table, rows), "outcome").tally_ == whole.tally_


def test_learning_and_forgetting_batches_are_inverse(table: pa.Table) -> None:
    model = ing.NaiveBayes(columns={"said": "text"}).fit(Cut(table, 50), "outcome")
    before = model.tally_
    model.partial_fit(Cut(table.slice(0, 90), 20), "outcome")
    assert model.tally_ != before
    assert model.forget(Cut(table.slice(0, 90), 33), "outcome").tally_ == before


def test_a_batch_that_cannot_be_learned_leaves_the_model_as_it_was(table: pa.Table) -> None:
    model = ing.NaiveBayes(columns={"said": "text"}).fit(table, "outcome")
    before = model.tally_
    broken = table.set_column(0, "age", pa.array(["old"] * table.num_rows))
    with pytest.raises(InputError):
        model.partial_fit(Cut(pa.concat_tables([table], promote_options="default"), 10), "nothing")
    with pytest.raises(InputError):
        model.partial_fit(Cut(broken, 100), "outcome")
    assert model.tally_ == before


def test_weights_of_a_stream_are_a_column(table: pa.Table) -> None:
    weights = np.arange(table.num_rows) % 3 + 1
    weighed = table.append_column("times", pa.array(weights))
    wanted = ing.NaiveBayes(columns={"said": "text"}).fit(table, "outcome", weights)
    found = ing.NaiveBayes(columns={"said": "text"}).fit(Cut(weighed, 40), "outcome", "times")
    assert found.tally_ == wanted.tally_
    with pytest.raises(KindError, match="name it, instead of giving"):
        ing.NaiveBayes().fit(Cut(table, 40), "outcome", weights)
    with pytest.raises(InputError, match="both the class and the weight"):
        ing.NaiveBayes().fit(Cut(weighed, 40), "times", "times")


def test_models_without_sums_take_the_whole(table: pa.Table) -> None:
    for model in (ing.SoftmaxRegression(columns={"said": "text"}), ing.NaiveBayes(columns={"said": "text"}, tune=True)):
        whole = model.fit(table, "outcome").predict_proba(table)
        np.testing.assert_array_equal(model.fit(Cut(table, 30), "outcome").predict_proba(table), whole)


def test_an_evaluation_of_batches_is_that_of_the_rows(table: pa.Table) -> None:
    model = ing.NaiveBayes(columns={"said": "text"}).fit(table, "outcome")
    assert ing.evaluate(model, Cut(table, 17), "outcome") == ing.evaluate(model, table, "outcome", keep_rows=False)


def test_cross_validation_takes_a_stream(table: pa.Table) -> None:
    model = ing.NaiveBayes(columns={"said": "text"})
    assert (
        ing.cross_validate(model, Cut(table, 50), "outcome", 5).evaluation
        == ing.cross_validate(model, table, "outcome", 5).evaluation
    )


def test_parts_and_columns_of_a_stream(table: pa.Table) -> None:
    even = pick_rows(Cut(table, 10), lambda number, n: np.arange(n) % 2 == 0)
    odd = pick_rows(Cut(table, 10), lambda number, n: np.arange(n) % 2 == 1)
    assert even.table().num_rows + odd.table().num_rows == table.num_rows
    assert select_columns(Cut(table, 10), ["age", "outcome"]).table() == table.select(["age", "outcome"])


def test_rows_are_drawn_fairly_and_in_their_order(table: pa.Table) -> None:
    numbered = table.append_column("n", pa.array(np.arange(table.num_rows)))
    times = np.zeros(table.num_rows)
    for seed in range(400):
        some, numbers, total = draw_rows(Cut(numbered, 16), 20, seed)
        assert total == table.num_rows
        assert some["n"].to_pylist() == numbers.tolist() == sorted(numbers.tolist())
        assert len(set(numbers.tolist())) == 20
        times[numbers] += 1
    expected = 400 * 20 / table.num_rows
    statistic = ((times - expected) ** 2 / expected).sum()
    assert statistic < 330  # the 99.99th hundredth of χ² with 239 degrees of freedom, about
    assert draw_rows(Cut(numbered, 16), 10_000, 0)[0].num_rows == table.num_rows


def test_a_total_is_the_sum_whatever_the_order() -> None:
    tallies = [ing.NaiveBayes().fit([[f"v{i}"]] * 2, ["a", "b"]).tally_ for i in range(11)]
    total = Total()
    for tally in tallies:
        total.add(tally)
    then = total.now()
    wanted = sum(tallies[1:], tallies[0])
    assert total.sum() == wanted
    total.add(tallies[0])
    assert then.sum() == wanted
    assert total.sum() == wanted + tallies[0]
    assert Total().sum() == Tally()


def test_a_file_without_a_named_class_says_which_columns_it_has(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n")
    with pytest.raises(InputError, match=r"name the column to learn.*known: a, b"):
        train(ing.NaiveBayes(), ing.scan(tmp_path / "t.csv"))


def test_declared_values_of_a_file_share_the_prior(tmp_path: Path) -> None:
    path = tmp_path / "w.arff"
    path.write_text("@relation w\n@attribute o {a,b,c}\n@attribute class {y,z}\n@data\na,y\nb,z\na,y\n")
    model = train(ing.NaiveBayes(), ing.scan(path)).model
    assert model.explain({"o": "a"}).factors[0].terms[0].how == "(2 + 1)/(2 + 3)"


def test_rows_are_held_out_whatever_made_the_data(tmp_path: Path) -> None:
    drawn_alike = np.random.default_rng(0).random(400) < 0.4  # as a user may make classes, with the seed we have too
    table = pa.table({"x": np.where(drawn_alike, 1.0, 0.0) + np.arange(400) % 7, "y": np.where(drawn_alike, "a", "b")})
    pa.csv.write_csv(table, tmp_path / "t.csv")
    found = train(ing.NaiveBayes(), ing.scan(tmp_path / "t.csv"), "y", holdout=0.4).evaluation
    assert found is not None
    assert 0.25 < (found.support / found.support.sum())[0] < 0.55


def test_whole_numbers_that_become_doubles_later_are_one_column(tmp_path: Path) -> None:
    lines = [f"{n % 9},{'ab'[n % 2]}" for n in range(500)] + [f"{n % 9}.5,{'ab'[n % 2]}" for n in range(500)]
    (tmp_path / "t.csv").write_text("x,y\n" + "\n".join(lines) + "\n")
    rows = ing.scan(tmp_path / "t.csv", block_size=400)
    model = ing.SoftmaxRegression().fit(rows, "y")
    assert model.predict(rows).tolist() == model.predict(ing.read(tmp_path / "t.csv", "y")[0]).tolist()


def test_a_sample_of_a_file_has_all_rows_or_some_of_every_class(tmp_path):
    labels = np.where(np.arange(5000) < 30, "rare", np.where(np.arange(5000) % 2, "odd", "even"))
    path = tmp_path / "rows.csv"
    path.write_text("x,times,y\n" + "".join(f"{i},{i % 3},{name}\n" for i, name in enumerate(labels)))
    rows = rows_of(ing.scan(path, block_size=4000), "y", "times")
    whole, total = rows.sample(500, 5000, 0)
    assert (total, whole.X.num_rows, len(whole.weights)) == (5000, 5000, 5000)
    some, total = rows.sample(500, 4999, 0)
    assert total == 5000
    assert 500 <= some.X.num_rows <= 520
    assert (np.asarray(some.y) == "rare").sum() >= 20
    assert some.X.column("x").to_pylist() == sorted(some.X.column("x").to_pylist())
    assert some.X.equals(rows.sample(500, 4999, 0)[0].X)
    assert not some.X.equals(rows.sample(500, 4999, 1)[0].X)
    path.write_text(path.read_text().replace("\n7,1,", "\n7,-1,"))
    with pytest.raises(InputError, match="row 8: the weight in column 'times' is -1"):
        rows_of(ing.scan(path), "y", "times").sample(500, 4999, 0)
