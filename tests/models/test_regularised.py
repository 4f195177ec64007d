"""The discriminant that reads any columns, shrinks its covariances as left-out rows choose, and is still a tally."""

from __future__ import annotations

import copy
import io
import math

import numpy as np
import pyarrow as pa
import pytest

import ingenuo as ing
from ingenuo.datasets import weather
from ingenuo.errors import ForgetError, InputError, KindError, MergeError, RefusedError
from ingenuo.explanation.evidence import reasons
from ingenuo.explanation.explain import inspect
from ingenuo.families.covariance import Scatters, Shrinkage
from ingenuo.models import regularised
from ingenuo.models.log_linear import fit_temperature
from ingenuo.models.regularised import Chosen, make_design
from ingenuo.rows.part import Chunk
from ingenuo.rows.rows import rows_of
from ingenuo.rows.source import blocks, match, open_source
from ingenuo.tally.labels import labels_of


def _table(n=400, seed=0):
    """Numbers, one of them skewed and with missing values, and categories; the classes differ in all."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    k = np.searchsorted(["a", "b", "c"], y)
    size = np.exp(rng.normal(size=n) + 0.6 * k)
    size[rng.random(n) < 0.1] = np.nan
    columns = {
        "height": rng.normal(size=n) + (k == 1),
        "size": size,
        "colour": np.where(rng.random(n) < 0.3 * k, "red", rng.choice(["green", "blue"], n)),
        "wet": rng.random(n) < 0.2 + 0.2 * k,
    }
    return pa.table(columns), y


X, Y = _table()
ROWS = np.arange(len(Y))


def _some(rows):
    return X.take(pa.array(rows)), Y[rows]


@pytest.fixture(scope="module")
def model():
    return ing.GaussianDiscriminant("regularised").fit(X, Y)


def test_learning_in_parts_merging_and_forgetting_give_the_same_bits(model):
    first = copy.deepcopy(model).forget(*_some(ROWS[100:]))
    parts = copy.deepcopy(first)
    for rows in (ROWS[200:][::-1], ROWS[100:200]):
        parts.partial_fit(*_some(rows))
    other = copy.deepcopy(model).forget(*_some(ROWS[:100]))
    expected = model.predict_proba(X)
    for same in (parts, first + other, other + first):
        assert same.tally_ == model.tally_
        assert np.array_equal(same.predict_proba(X), expected)
    alone = np.concatenate([model.predict_proba(X.slice(row, 1)) for row in range(0, 400, 23)])
    assert np.array_equal(alone, expected[::23])


def test_a_weight_is_a_repeated_row():
    times = np.random.default_rng(3).integers(0, 3, len(Y))
    rows = np.repeat(ROWS, times)
    folds = np.arange(len(Y)) % 4
    weighted, repeated = (ing.GaussianDiscriminant("regularised") for _ in range(2))
    logs = weighted._fit_with_folds(X, Y, times.astype(float), folds)
    again = repeated._fit_with_folds(*_some(rows), None, folds[rows])
    assert weighted.tally_ == repeated.tally_
    assert weighted.shrinkage_ == repeated.shrinkage_
    np.testing.assert_allclose(logs[rows], again, atol=1e-9)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


def test_the_factors_of_the_columns_add_up(model):
    for row in range(0, 400, 37):
        cells = X.slice(row, 1).to_pylist()[0]
        found = model.explain(cells)
        terms = [f for f in (found.prior, *found.factors) if f.terms]
        assert [f.column for f in terms][:5] == ["prior", "height", "size", "colour", "wet"]
        total = np.array([[term.log for term in f.terms] for f in terms]).sum(axis=0)
        np.testing.assert_allclose(total, found.joint, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(np.exp(total) / np.exp(total).sum(), model.predict_proba(X.slice(row, 1))[0])
        by_column = {f.column: f for f in terms}
        assert by_column["colour"].value == cells["colour"]
        assert by_column["size"].value == ("missing" if math.isnan(cells["size"]) else f"{cells['size']:.6g}")


def _log_scores(logs, model, rows):
    """What the features add to the log odds against the first class, less what the temperature and the prior do."""
    prior = np.log([np.mean(Y[rows] == label) for label in "abc"])
    scores = (logs - prior) / model.temperature_
    return scores - scores[:, :1]


def test_the_reasons_of_many_rows_are_those_of_each(model):
    table = X.slice(0, 60)
    many = reasons(model, table, 3)
    for row, own in zip(table.to_pylist(), many):
        expected = model.explain(row).reasons(3)
        assert [name for name, _ in own] == [name for name, _ in expected]
        np.testing.assert_allclose([log for _, log in own], [log for _, log in expected], atol=1e-12)
    assert any("size = missing" in name for own in many for name, _ in own)
    assert "regularised" in str(inspect(model))
    with pytest.raises(InputError, match=r"says nothing by itself|no nomogram"):
        ing.nomogram(model)


def test_left_out_rows_are_answered_by_a_model_that_did_not_learn_their_fold(monkeypatch):
    folds = np.arange(len(Y)) % 4
    held, rest = np.flatnonzero(folds == 2), np.flatnonzero(folds != 2)
    model = ing.GaussianDiscriminant("regularised")
    logs = model._fit_with_folds(X, Y, None, folds)
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0)
    # A refit on the other folds, with what was chosen in place of its own choice, gives the same answers.
    others = ing.GaussianDiscriminant("regularised").fit(*_some(rest))
    source = open_source(_some(rest)[0])
    found = blocks(source, others.schema_, match(others.schema_, source))
    chunk = Chunk(len(rest), found, classes=labels_of(Y.tolist()))
    design = make_design(others.schema_, chunk, scores=model.scores_ == "normal scores")
    others._chosen = Chosen(design, model.shrinkage_, model.temperature_)
    others._count_again(rows_of(*_some(rest)))
    np.testing.assert_allclose(others.predict_log_proba(_some(held)[0]), logs[held], atol=1e-9)
    # What the rows of a fold are called changes their own answers by the choice alone, which is fixed here.
    monkeypatch.setattr(regularised, "POOLED", (model.shrinkage_.pooled,))
    monkeypatch.setattr(regularised, "DIAGONALS", (model.shrinkage_.diagonal,))
    renamed = Y.copy()
    renamed[held[:5]] = "a"
    again = ing.GaussianDiscriminant("regularised")
    after = again._fit_with_folds(X, renamed, None, folds)
    assert (again.shrinkage_, again.scores_) == (model.shrinkage_, model.scores_)
    np.testing.assert_allclose(
        _log_scores(after[held], again, rest), _log_scores(logs[held], model, rest), rtol=1e-6, atol=1e-6
    )


def test_shrinkage_goes_from_each_class_to_all_and_to_the_variances():
    rng = np.random.default_rng(5)
    rows = [rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)) for _ in range(2)]
    i, j = np.tril_indices(3)
    sums = np.array([40.0, 40.0]), np.array([x.sum(axis=0) for x in rows]), np.array([(x.T @ x)[i, j] for x in rows])
    found = Scatters.of(*sums, unbiased=True)
    pooled = sum(np.cov(x.T) for x in rows) / 2
    w = 40 / (40 + 4 * 0.02)
    np.testing.assert_allclose(found.covariances(Shrinkage(0.0, 0.0))[0], w * np.cov(rows[0].T) + (1 - w) * pooled)
    np.testing.assert_allclose(found.covariances(Shrinkage(1.0, 0.0)), [pooled])
    np.testing.assert_allclose(found.covariances(Shrinkage(0.5, 1.0))[1], np.diag(np.diag(pooled)), atol=1e-12)
    from scipy.stats import multivariate_normal

    new = rng.normal(size=(5, 3))
    for amounts in (Shrinkage(0.4, 0.1), Shrinkage(1.0, 0.3)):
        each = np.resize(found.covariances(amounts), (2, 3, 3))
        logs = [multivariate_normal(m, s).logpdf(new) for m, s in zip(found.means, each)]
        scores = found.scores(new, amounts.pooled, [amounts.diagonal])[0]
        np.testing.assert_allclose(scores[:, 1] - scores[:, 0], logs[1] - logs[0], rtol=1e-9)


def test_the_temperature_has_the_least_loss():
    rng = np.random.default_rng(6)
    scores, base, codes = rng.normal(size=(200, 3)) * 5, rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    scores[np.arange(200), codes] += 2
    weights = rng.random(200)

    def loss(t):
        joint = base + t * scores
        return np.average(np.log(np.exp(joint).sum(axis=1)) - joint[np.arange(200), codes], weights=weights)

    temperature, least = fit_temperature(scores, base, codes, weights)
    assert least == pytest.approx(loss(temperature), abs=1e-6)
    assert least <= min(loss(temperature * 1.05), loss(temperature * 0.95))
    assert fit_temperature(np.eye(3), np.zeros((3, 3)), np.arange(3), None)[0] == 10.0  # separable: the largest


def test_files_keep_the_choice_and_forged_ones_are_refused(model, tmp_path):
    path = tmp_path / "model.ingenuo"
    ing.save(model, path)
    loaded = ing.load(path)
    assert (loaded.shrinkage_, loaded.scores_, loaded.temperature_) == (
        model.shrinkage_, model.scores_, model.temperature_,
    )  # fmt: skip
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert (loaded + copy.deepcopy(model)).tally_ == model.tally_ + model.tally_
    manifest, tensors = model.state()
    for name, value in (("pooled", 2.0), ("diagonal", 0.0), ("temperature", float("nan")), ("temperature", -1.0)):
        forged = copy.deepcopy(manifest)
        next(item for item in forged["besides"]["items"] if item[0] == name)[1] = value
        with pytest.raises((InputError, TypeError)):
            type(model).from_state(forged, tensors)
    other = ing.GaussianDiscriminant("regularised").fit(X.select(["height", "wet"]), Y)
    tally = {name: each for name, each in other.state()[1].items() if name.startswith("tally")}
    with pytest.raises(InputError, match="other features"):
        type(model).from_state({**manifest, "tally": other.state()[0]["tally"]}, {**tensors, **tally})


def test_what_cannot_be_is_refused_in_one_sentence(model):
    with pytest.raises(MergeError, match="began with other rows"):
        copy.deepcopy(model).merge(ing.GaussianDiscriminant("regularised").fit(*_some(ROWS[:200])))
    with pytest.raises(ForgetError):
        copy.deepcopy(model).forget(pa.concat_tables([X, X]), np.concatenate([Y, Y]))
    with pytest.raises(InputError, match=r"shrinkage=0\.5 does not go with"):
        ing.GaussianDiscriminant("regularised", shrinkage=0.5).fit(X, Y)
    with pytest.raises(KindError, match="columns must be a mapping"):
        ing.GaussianDiscriminant("regularised", columns=["a"]).fit(X, Y)
    texts = X.append_column("note", pa.array([f"some words of number {i} in a note" for i in range(len(Y))]))
    with pytest.raises(InputError, match=r"'note' is text.*columns=\{'note': 'ignore'\}"):
        ing.GaussianDiscriminant("regularised").fit(texts, Y)
    assert ing.GaussianDiscriminant("regularised", columns={"note": "ignore"}).fit(texts, Y).predict(texts)[0] in "abc"
    for refused in (model.sample, model.discriminant, model.plot, lambda: model.predict_joint_log_proba(X)):
        with pytest.raises(RefusedError, match="regularised"):
            refused()
    for refused in (lambda: model.coef_, lambda: ing.GaussianDiscriminant().fit([[0.0], [1.0]], [0, 1]).temperature_):
        with pytest.raises(RefusedError):
            refused()


@pytest.mark.parametrize("covariance", ["shared", "full", "diagonal"])
def test_columns_may_be_set_aside_whatever_the_covariance(covariance):
    table = X.select(["height", "colour"]).append_column("width", pa.array(np.arange(400.0) % 7))
    model = ing.GaussianDiscriminant(covariance, columns={"colour": "ignore"}).fit(table, Y)
    assert model.means_.shape == (3, 2)
    with pytest.raises(InputError, match="'colour' is no number"):
        ing.GaussianDiscriminant(covariance, columns={"colour": "category"}).fit(table, Y)
    with pytest.raises(InputError, match="'tint'"):
        ing.GaussianDiscriminant(covariance, columns={"tint": "ignore"}).fit(table, Y)


def test_few_rows_constant_columns_and_values_never_seen():
    model = ing.GaussianDiscriminant("regularised").fit(weather(), "play")
    assert 0 < model.temperature_ <= 10
    assert set(model.predict(weather())) <= {"yes", "no"}
    strange = {"outlook": "hail", "temperature": None, "humidity": 1e9, "windy": True}
    assert np.isfinite(model.explain(strange).joint).all()
    same = pa.table({"one": [1.0] * 6, "two": ["x"] * 6})
    nothing = ing.GaussianDiscriminant("regularised").fit(same, list("aabbbb"))
    np.testing.assert_allclose(nothing.predict_proba(same)[0], [1 / 3, 2 / 3])
    pairs = ing.GaussianDiscriminant("regularised").fit([[0.0], [1.0]], ["a", "b"])
    assert np.isfinite(pairs.predict_log_proba([[0.5], [np.nan]])).all()


def test_the_first_rows_may_be_of_one_class():
    rows = np.argsort(Y, kind="stable")
    model = ing.GaussianDiscriminant("regularised").partial_fit(*_some(rows[:100]))
    model.partial_fit(*_some(rows[100:]))
    assert model.score(X, Y) > 0.6


def test_files_and_streams_give_the_model_of_rows_in_memory(model, tmp_path):
    path = tmp_path / "rows.csv"
    import pyarrow.csv as csv

    out = io.BytesIO()
    csv.write_csv(X.append_column("y", pa.array(Y)), out)
    path.write_bytes(out.getvalue())
    read = ing.GaussianDiscriminant("regularised").fit(path, "y")
    assert read.tally_ == ing.GaussianDiscriminant("regularised").fit(X.append_column("y", pa.array(Y)), "y").tally_
