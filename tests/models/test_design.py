"""Columns as features: what they are, that they depend on their row alone, and what forged files get."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest

from ingenuo.errors import InputError
from ingenuo.models.design import MOST_VALUES, Design
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows.part import Chunk
from ingenuo.rows.source import blocks, match, open_source


def _open(table, weights=None, **columns):
    """A schema and the rows, as naive Bayes reads them."""
    source = open_source(pa.table(table))
    model = NaiveBayes(columns or None)
    schema = model._schema_of(source)
    return schema, Chunk(source.n_rows, blocks(source, schema, match(schema, source)), weights=weights)


TABLE = {
    "age": [20.0, 30.0, None, 40.0, 35.0, 30.0],
    "sex": ["f", "m", "f", "f", "f", "m"],
    "town": ["Rome", "Oslo", None, "Oslo", "Rome", "Rome"],
    "same": [7.0] * 6,
}
KINDS = {"age": "number", "sex": "category", "town": "category", "same": "number"}


def test_features_are_named_by_column_and_value():
    schema, chunk = _open(TABLE, **KINDS)
    design = Design.of(schema, chunk)
    assert design.names == ["age", "age missing", "sex=m", "town=Oslo", "town=Rome", "town missing"]
    assert design.owner.tolist() == [0, 0, 1, 2, 2, 2]
    assert design.is_number.tolist() == [True] + [False] * 5
    age = np.array([20.0, 30.0, 40.0, 35.0, 30.0])
    expected = [
        [(20 - age.mean()) / age.std(), 0, 0, 0, 1, 0],
        [(30 - age.mean()) / age.std(), 0, 1, 1, 0, 0],
        [0, 1, 0, 0, 0, 1],
    ]
    np.testing.assert_allclose(design.matrix(chunk.blocks, 6)[:3], expected, rtol=1e-14)


@pytest.mark.parametrize("scores", [False, True])
def test_a_row_has_the_same_features_alone_and_among_others_in_any_order(scores):
    rng = np.random.default_rng(1)
    n = 3000
    X = {"a": rng.normal(size=n), "b": rng.integers(0, 9, n).astype(float), "c": rng.choice(list("xyz"), n)}
    X["a"][::17] = np.nan
    weights = rng.random(n)
    schema, chunk = _open(X, weights, a="number", b="number", c="category")
    design = Design.of(schema, chunk, scores=scores)
    found = design.matrix(chunk.blocks, n)
    other = rng.permutation(n)
    assert Design.of(schema, chunk.take(other), scores=scores).same(design)
    for row in (0, 17, 18, n - 1):
        assert np.array_equal(design.matrix(chunk.take(np.array([row])).blocks, 1)[0], found[row])


@pytest.mark.parametrize("scores", [False, True])
def test_a_weight_is_a_repeated_row_and_none_is_no_row(scores):
    schema, chunk = _open(TABLE, np.array([2.0, 1.0, 1.0, 0.0, 3.0, 1.0]), **KINDS)
    rows = np.array([0, 0, 1, 2, 4, 4, 4, 5])
    repeated = Chunk(8, {name: block.take(rows) for name, block in chunk.blocks.items()})
    assert Design.of(schema, chunk, scores=scores).same(Design.of(schema, repeated, scores=scores))
    assert "town=Oslo" not in Design.of(schema, chunk).names


def test_normal_scores_are_quantiles_of_the_ranks():
    rng = np.random.default_rng(2)
    for n in (9, 5000):
        x = np.exp(3 * rng.normal(size=n))
        schema, chunk = _open({"x": x}, x="number")
        design = Design.of(schema, chunk, scores=True)
        z = np.array([NormalDist().inv_cdf((rank + 0.5) / n) for rank in np.argsort(np.argsort(x))])
        np.testing.assert_allclose(design.matrix(chunk.blocks, n)[:, 0], z / z.std(), atol=0.02)  # a step between knots
        if n > 100:
            assert len(design.columns[0].knots) <= 515
    _, far = _open({"x": [-1e300, 1e300]}, x="number")
    assert np.isfinite(design.matrix(far.blocks, 2)).all()


def test_numbers_beyond_eight_deviations_count_as_eight():
    schema, chunk = _open({"x": [0.0, 1.0, 2.0]}, x="number")
    _, far = _open({"x": [1e308, -1e308, 1.0]}, x="number")
    assert Design.of(schema, chunk).matrix(far.blocks, 3)[:, 0].tolist() == [8.0, -8.0, 0.0]
    _, endless = _open({"x": [1.0, np.inf]}, x="number")
    with pytest.raises(InputError, match="'x', row 1: inf is infinite"):
        Design.of(schema, chunk).matrix(endless.blocks, 2)


def test_values_that_are_rare_or_never_seen_are_zero_everywhere():
    many = [f"v{i:03}" for i in range(100) for _ in range(2 + (i < MOST_VALUES))]
    schema, chunk = _open({"c": many}, c="category")
    design = Design.of(schema, chunk)
    assert design.names == [f"c=v{i:03}" for i in range(MOST_VALUES)]
    _, strange = _open({"c": ["v099", "new", None, "v003"]}, c="category")
    assert design.matrix(strange.blocks, 4).sum(axis=1).tolist() == [0, 0, 0, 1]
    schema, chunk = _open({"c": ["a", "a", "b", "c", "c"], "name": list("vwxyz")}, c="category", name="category")
    assert Design.of(schema, chunk).names == ["c=a", "c=c"]


def test_some_features_are_those_of_all():
    schema, chunk = _open(TABLE, **KINDS)
    design = Design.of(schema, chunk)
    for kept in (np.arange(6) % 2 == 0, np.arange(6) % 2 == 1, np.zeros(6, bool)):
        some = design.keep(kept)
        assert some.names == [name for name, keep in zip(design.names, kept) if keep]
        assert np.array_equal(some.matrix(chunk.blocks, 6), design.matrix(chunk.blocks, 6)[:, kept])


def test_text_is_refused_with_a_remedy():
    schema, chunk = _open({"t": ["some words here", "and others there", "more"]}, t="text")
    with pytest.raises(InputError, match=r"'t' is text.*columns=\{'t': 'ignore'\}"):
        Design.of(schema, chunk)


@pytest.mark.parametrize(
    "forge",
    [
        lambda c, _: c[0].update(at=9),
        lambda c, _: c[0].update(at=-1),
        lambda c, _: c[0].update(at=True),
        lambda c, _: c[1].update(at=0),
        lambda c, _: c[0].update(scale=0.0),
        lambda c, _: c[0].update(centre=float("nan")),
        lambda c, _: c[0].update(knots=3),
        lambda c, _: c[0].update(values=["a"]),
        lambda c, _: c[1].update(values=["m", "m"]),
        lambda c, _: c[1].update(number=True, values=[]),
        lambda c, _: c[1].update(values=[]),
        lambda c, _: c.reverse(),
        lambda _, arrays: arrays.update(knots=arrays["knots"][::-1].copy()),
        lambda _, arrays: arrays.update(scores=arrays["scores"] * np.nan),
        lambda _, arrays: arrays.update(scores=arrays["scores"][:-1]),
    ],
)
def test_forged_designs_are_refused(forge):
    schema, chunk = _open(TABLE, **KINDS)
    design = Design.of(schema, chunk, scores=True)
    plain, arrays = design.to_plain()
    assert Design.from_plain(schema, plain, arrays).same(design)
    forge(plain["columns"], arrays)
    with pytest.raises(InputError, match="no design of its columns"):
        Design.from_plain(schema, plain, arrays)
