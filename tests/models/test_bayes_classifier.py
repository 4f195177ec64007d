"""The vote of Bayesian models: its weights, its arithmetic, few rows and many, and what adds and forgets."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import ingenuo as ing
from ingenuo import BayesClassifier, GaussianNB, NaiveBayes, NetworkClassifier, SoftmaxRegression, store
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.errors import IngenuoError, InputError, KindError, MergeError, ModelFileError, RefusedError
from ingenuo.models import bayes_classifier, members
from ingenuo.models.folds import FLOOR, n_folds_for, stratified_folds
from ingenuo.tally import container

RNG = np.random.default_rng(5)
N = 300
Y = RNG.choice(["ill", "well"], N, p=[0.4, 0.6])
ILL = Y == "ill"
WORDS = np.array(["ache", "cold", "cough", "day", "good", "rest", "sun", "walk"])
TABLE = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(50 + 8 * ILL, 12).round(1)),
        "heat": RNG.gamma(3 + 2 * ILL, 1.0).round(2),
        "town": np.where(RNG.random(N) < 0.3 + 0.3 * ILL, "Bari", RNG.choice(["Pisa", "Roma", None], N)),
        "note": [" ".join(WORDS[RNG.integers(0, 5 if ill else 8, 4)]) for ill in ILL],
        "state": Y,
    }
)
NUMBERS = TABLE[["age", "heat"]].fillna(50.0).to_numpy()
PAIR = [("bayes", GaussianNB()), ("logistic", LogisticRegression())]


def refused(act, kind, *words):
    with pytest.raises(kind) as caught:
        act()
    assert isinstance(caught.value, IngenuoError)
    for word in words:
        assert word in str(caught.value), str(caught.value)


@pytest.fixture(scope="module")
def vote():
    return BayesClassifier().fit(TABLE, "state")


@pytest.fixture(scope="module")
def adding():
    return BayesClassifier("additive").fit(TABLE, "state")


# The pool.


def test_the_answer_is_the_weighted_sum_of_what_the_members_say(vote):
    rows = TABLE.drop(columns="state")
    joint = vote.shifts_ + sum(
        weight * np.log(np.maximum(each.predict_proba(rows), vote.least_))
        for weight, each in zip(vote.weights_.values(), vote.estimators_)
    )
    expected = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(vote.predict_proba(rows), expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(vote.predict_log_proba(rows)), expected, rtol=1e-12)
    assert vote.predict(rows).tolist() == vote.classes_[expected.argmax(axis=1)].tolist()
    assert (np.array(list(vote.weights_.values())) >= 0).all()


def test_nobody_may_be_surer_than_the_rows_allow(vote):
    assert vote.least_ == 0.3 / N
    assert BayesClassifier().fit(play_tennis(), "Play").least_ == FLOOR


def test_weights_are_found_by_rows_that_the_members_did_not_learn():
    """A member that learns its rows by heart, and knows nothing of others, gets no weight."""

    class ByHeart(GaussianNB):
        def _fit_with_folds(self, X, y, sample_weight, folds):
            self.fit(X, y)
            return np.log(np.full((len(y), 2), 0.5))

    model = BayesClassifier([("by heart", ByHeart()), ("bayes", GaussianNB())]).fit(NUMBERS, Y)
    folds = stratified_folds(ILL == 0, n_folds_for(N), 0)
    out = GaussianNB()._fit_with_folds(NUMBERS, Y, None, folds)
    assert model.members_.lines[1]["log_loss"] == pytest.approx(-out[np.arange(N), (Y == "well") * 1].mean())
    assert model.members_.lines[0]["log_loss"] == pytest.approx(np.log(2))


def test_the_loss_of_the_vote_is_of_rows_that_its_weights_did_not_learn(vote):
    lines = vote.members_.to_dict()
    assert 0 < lines["log_loss"] < min(line["log_loss"] for line in lines["members"]) + 0.05
    assert [line["rows"] for line in lines["members"]] == [N] * len(vote.estimators_)


def test_the_seed_moves_the_folds_and_nothing_else_does():
    first, again = (BayesClassifier(PAIR).fit(NUMBERS, Y) for _ in range(2))
    assert first.weights_ == again.weights_
    assert BayesClassifier(PAIR, random_state=1).fit(NUMBERS, Y).weights_ != first.weights_


def test_weights_of_rows_count_as_rows_do():
    twice = np.repeat(np.arange(N), 2)
    one = BayesClassifier([("bayes", GaussianNB())]).fit(NUMBERS, Y, np.full(N, 2.0))
    two = BayesClassifier([("bayes", GaussianNB())]).fit(NUMBERS[twice], Y[twice])
    assert one.tally_ == two.tally_
    np.testing.assert_allclose(one.estimators_[0].predict_proba(NUMBERS), two.estimators_[0].predict_proba(NUMBERS))
    heavy = np.where(ILL, 1.0, 0.0)
    refused(lambda: BayesClassifier().fit(NUMBERS, Y, -heavy), InputError, "weights are finite and not negative")
    assert BayesClassifier(PAIR).fit(NUMBERS, Y, heavy).classes_.tolist() == ["ill"]


# Its arithmetic.


@pytest.mark.parametrize("row", [0, 7, 100])
def test_an_explanation_adds_up_to_the_answer(vote, row):
    given = TABLE.iloc[row : row + 1]
    found = vote.explain(given)
    np.testing.assert_allclose(found.posterior, vote.predict_proba(given)[0], rtol=1e-9)
    best, second = found.order[:2]
    *lines, last = found.records()
    assert last["sum"] == pytest.approx(np.log(found.posterior[best] / found.posterior[second]), rel=1e-9)
    assert sum(line["sum"] for line in lines) == pytest.approx(last["sum"], abs=1e-9)
    for name in found.members:
        assert sum(line[name] for line in lines) == pytest.approx(last[name], abs=1e-9)
    by_line = [line["sum"] - sum(line[name] for name in found.members) for line in lines if line["column"] != "shift"]
    np.testing.assert_allclose(by_line, 0.0, atol=1e-9)
    assert {"age", "heat", "prior"} <= {line["column"] for line in lines}


def test_an_explanation_shows_itself(vote):
    found = vote.explain(TABLE.iloc[:1])
    text = str(found)
    assert f"log odds for {found.prediction}" in text
    assert "softmax" in text
    assert str(found.as_logs()) == text
    assert "<table" in found._repr_html_()
    assert found.to_markdown().count("|") > 20
    assert found.to_dict()["posterior"] == dict(zip(["ill", "well"], found.posterior.tolist()))
    assert len(found.reasons(3)) == 3
    assert {"texts"} <= set(found.to_dict())
    assert len(vote.explain(TABLE.iloc[:3])) == 3


def test_what_is_below_the_least_probability_has_a_line():
    X = np.concatenate([np.linspace(0, 1, 40), np.linspace(1000, 1001, 40)])[:, np.newaxis]
    y = np.repeat([0, 1], 40)
    model = BayesClassifier([("bayes", GaussianNB())]).fit(X, y)
    found = model.explain([1000.5])
    assert any(line["column"] == "no probability below 0.0037" for line in found.records())
    np.testing.assert_allclose(found.posterior, model.predict_proba([[1000.5]])[0], rtol=1e-9)
    assert sum(line["sum"] for line in found.records()[:-1]) == pytest.approx(found.records()[-1]["sum"])


def test_members_from_elsewhere_are_explained_as_a_whole():
    model = BayesClassifier(PAIR).fit(NUMBERS, Y)
    found = model.explain(NUMBERS[0])
    np.testing.assert_allclose(found.posterior, model.predict_proba(NUMBERS[:1])[0], rtol=1e-9)
    assert any(line["column"] == "as a whole" and line["logistic"] for line in found.records())


def test_pictures(vote):
    axes = vote.plot(TABLE.iloc[:1])
    assert len(axes) == 3
    axes[0].figure.canvas.draw()
    assert len(vote.plot()) == 2


# Any columns.


def test_members_read_the_columns_that_they_can(vote):
    kinds = {name: kind for name, kind, *_ in vote.schema_.rows()}
    assert kinds == {"age": "number", "heat": "number", "town": "category", "note": "text"}
    for name, each in zip(vote.weights_, vote.estimators_):
        own = {name for name, kind, *_ in each.schema_.rows() if kind != "ignore"}
        assert own == ({"note"} if name.endswith(("words", "characters")) else {"age", "heat", "town"})


def test_texts_alone(vote):
    model = BayesClassifier().fit(TABLE["note"].tolist(), Y)
    assert model.score(TABLE["note"].tolist(), Y) > 0.6
    assert str(model.explain("ache and cold"))


def test_sparse_counts():
    X = sparse.csr_array(np.random.default_rng(0).poisson(0.3 + 0.4 * ILL[:, np.newaxis], (N, 20)))
    assert BayesClassifier().fit(X, Y).score(X, Y) > 0.7


def test_a_column_that_is_ignored_is_named(vote):
    with pytest.warns(UserWarning, match="ignored: 'empty'"):
        BayesClassifier(PAIR[:1]).fit(pd.DataFrame(NUMBERS).assign(empty=np.nan).rename(columns=str), Y)


@pytest.mark.parametrize(
    "frame",
    [
        TABLE.assign(same=1.0, word="a"),
        TABLE[["age", "state"]],
        TABLE[["town", "state"]],
        TABLE.assign(state=np.where(np.arange(N) == 3, "once", Y)),
        TABLE.assign(state=RNG.integers(0, 12, N).astype(str)),
    ],
    ids=["constant", "one number", "one category", "a class of one row", "12 classes"],
)
def test_odd_tables(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesClassifier().fit(frame, "state")
    found = model.predict_proba(frame.drop(columns="state"))
    assert found.shape == (N, frame["state"].nunique())
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("rows", [1, 2, 14, 29, 31])
def test_few_rows(rows):
    model = BayesClassifier().fit(TABLE[:rows], "state")
    found = model.members_
    assert model.predict_proba(TABLE).shape == (N, len(set(Y[:rows])))
    assert (len(found.lines) == 1) == (rows < 30)
    assert ("too few" in str(found)) == (rows < 30)


def test_fourteen_days():
    model = BayesClassifier().fit(play_tennis(), "Play")
    plain = NaiveBayes().fit(play_tennis(), "Play")
    np.testing.assert_allclose(model.predict_proba(play_tennis()), plain.predict_proba(play_tennis()), rtol=1e-12)


def test_members_that_cannot_work_are_left_out_with_the_reason(monkeypatch):
    monkeypatch.setattr(members, "_WIDEST", 1)
    model = BayesClassifier().fit(TABLE, "state")
    assert "network" not in model.weights_
    assert "network was left out: it counts every pair of columns, and there are 3" in str(model.members_)


# Many rows.


@pytest.mark.parametrize("members", ["auto", "additive"])
def test_of_many_rows_a_sample_gives_the_settings_and_all_are_counted(members, monkeypatch, tmp_path):
    monkeypatch.setattr(bayes_classifier, "LARGE", 200)
    monkeypatch.setattr(bayes_classifier, "SAMPLE", 120)
    rare = TABLE.assign(state=np.where(np.arange(N) < 2, "rare", Y))
    model = BayesClassifier(members).fit(rare, "state")
    assert model.classes_.tolist() == ["ill", "rare", "well"]
    assert model.tally_.over("class", model.tally_.labels("class", 0)).floats().tolist() == [
        (rare["state"] == name).sum() for name in model.classes_
    ]
    for line, each in zip(model.members_.lines, model.estimators_):
        counted = each.tally_.over("class", each.tally_.labels("class", 0)).floats().sum()
        if line["adds"] == "exactly":
            assert line["rows"] == counted == N
        else:
            assert line["rows"] == counted < 160
    assert "a sample of" in str(model.members_)
    path = tmp_path / "rows.csv"
    rare.to_csv(path, index=False)
    of_file = BayesClassifier(members).fit(ing.scan(path, block_size=3000), "state")
    assert of_file.tally_ == model.tally_
    dd = pytest.importorskip("dask.dataframe")
    import dask

    with dask.config.set(scheduler="synchronous"):
        of_engine = BayesClassifier(members).fit(dd.from_pandas(rare, npartitions=3, sort=False), "state")
    assert of_engine.tally_ == model.tally_
    for place, each in enumerate(of_engine.estimators_):
        if isinstance(each, NaiveBayes):  # the cuts and scales of the others are of another sample
            assert each.tally_ == model.estimators_[place].tally_


def test_counting_all_rows_is_what_learning_all_with_the_same_settings_gives(monkeypatch):
    whole = BayesClassifier([("bayes", NaiveBayes())]).fit(TABLE, "state")
    monkeypatch.setattr(bayes_classifier, "LARGE", 200)
    monkeypatch.setattr(bayes_classifier, "SAMPLE", 100)
    counted = BayesClassifier([("bayes", NaiveBayes())]).fit(TABLE, "state")
    assert counted.estimators_[0].tally_ == whole.estimators_[0].tally_
    assert counted.weights_ != whole.weights_


# What adds and forgets.


def test_rows_are_added_and_forgotten_exactly(adding):
    model, rows = copy.deepcopy(adding), TABLE.drop(columns="state")
    before, weights = model.predict_proba(rows), model.weights_
    more = TABLE[:50].assign(state="new")
    model.partial_fit(more, "state")
    assert model.classes_.tolist() == ["ill", "new", "well"]
    assert model.weights_ == weights
    assert [line["rows"] for line in model.members_.lines] == [N + 50] * len(weights)
    assert (model.predict_proba(rows)[:, 1] > 0).all()
    model.forget(more, "state")
    np.testing.assert_array_equal(model.predict_proba(rows), before)
    for one, other in zip(model.estimators_, adding.estimators_):
        assert one.tally_ == other.tally_


def test_merging_is_learning_both(adding):
    rows, other = TABLE.drop(columns="state"), copy.deepcopy(adding)
    both = copy.deepcopy(adding).merge(other)
    twice = copy.deepcopy(adding).partial_fit(TABLE, "state")
    np.testing.assert_array_equal(both.predict_proba(rows), twice.predict_proba(rows))
    assert other.tally_ == adding.tally_
    refused(lambda: adding.merge(NaiveBayes()), MergeError, "NaiveBayes")


def test_the_first_rows_of_partial_fit_are_those_of_fit(adding):
    model = BayesClassifier("additive").partial_fit(TABLE, "state", classes=["ill", "well", "odd"])
    assert model.weights_ == adding.weights_
    assert model.classes_.tolist() == ["ill", "odd", "well"]


@pytest.mark.parametrize("verb", ["partial_fit", "forget", "merge"])
def test_a_vote_with_softmax_says_which_one_can(vote, verb):
    assert not hasattr(vote, verb)
    assert hasattr(BayesClassifier("additive"), verb)
    assert hasattr(BayesClassifier(PAIR[:1]), verb)
    assert not hasattr(BayesClassifier(PAIR), verb)
    refused(lambda: getattr(vote, verb), RefusedError, 'BayesClassifier(members="additive")')
    assert not hasattr(vote, "sample")


def test_what_goes_wrong_leaves_the_model_as_it_was(adding):
    model = copy.deepcopy(adding)
    refused(lambda: model.forget(TABLE.assign(heat=-1.0), "state"), IngenuoError)
    refused(lambda: model.partial_fit(TABLE.drop(columns="heat"), "state"), InputError, "heat")
    refused(lambda: model.fit(TABLE.assign(heat=np.inf), "state"), InputError)
    assert [each.tally_ for each in model.estimators_] == [each.tally_ for each in adding.estimators_]


def test_an_interruption_leaves_the_model_as_it_was():
    class Interrupted(GaussianNB):
        def fit(self, *given, **named):
            raise KeyboardInterrupt

    model = BayesClassifier([("bayes", GaussianNB())]).fit(NUMBERS, Y)
    before = model.predict_proba(NUMBERS)
    model.members = [("bayes", GaussianNB()), ("stopped", Interrupted())]
    with pytest.raises(KeyboardInterrupt):
        model.fit(NUMBERS[:100], Y[:100])
    np.testing.assert_array_equal(model.predict_proba(NUMBERS), before)


def test_reweighing_changes_the_weights_alone(adding):
    model = copy.deepcopy(adding).reweigh(TABLE[:100], "state")
    assert model.weights_ != adding.weights_
    assert [each.tally_ for each in model.estimators_] == [each.tally_ for each in adding.estimators_]
    odd = TABLE[:50].assign(state="odd")
    refused(lambda: model.reweigh(odd, "state"), InputError, "'odd' was never learned")


# Settings, files, and the rest of the package.


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"members": "all"}, InputError, ["members", "'all'", "auto"]),
        ({"members": []}, InputError, ["members is empty"]),
        ({"members": 3}, KindError, ["members must be a list"]),
        ({"members": [("a", GaussianNB()), ("a", GaussianNB())]}, InputError, ["'a' in members is there twice"]),
        ({"random_state": -1}, InputError, ["random_state"]),
        ({"random_state": "x"}, KindError, ["random_state"]),
        ({"verbose": "x"}, KindError, ["verbose"]),
        ({"columns": "x"}, KindError, ["columns must be a mapping"]),
        ({"columns": {"hot": "number"}}, InputError, ["'hot'", "known: age, heat"]),
        ({"text": "x"}, KindError, ["text must be Words"]),
    ],
)
def test_bad_parameters_are_refused(parameters, kind, words):
    refused(lambda: BayesClassifier(**parameters).fit(TABLE, "state"), kind, *words)


def test_columns_and_words_are_as_declared():
    model = BayesClassifier(columns={"age": "ignore", "heat": "number"}, text=ing.Words(binary=True))
    model.fit(TABLE, "state")
    assert model.schema_.family("age") == "ignore"
    assert all(each.schema_.family("age") == "ignore" for each in model.estimators_)
    assert model.schema_.texts["note"] == ing.Words(binary=True)


def test_members_have_parameters():
    model = BayesClassifier([("bayes", NaiveBayes()), ("soft", SoftmaxRegression())])
    assert model.get_params()["soft__l2"] == 1.0
    model.set_params(soft__l2=3.0, bayes=NaiveBayes(tune=True), random_state=4)
    assert clone(model).get_params()["soft__l2"] == 3.0
    assert (clone(model).random_state, clone(model).members[0][1].tune) == (4, True)
    assert pickle.loads(pickle.dumps(model)).get_params()["soft__l2"] == 3.0


@pytest.mark.parametrize("members", ["auto", "additive", [("nb", NaiveBayes()), ("net", NetworkClassifier("naive"))]])
def test_a_file_has_all_of_it(members, tmp_path):
    frame = TABLE if isinstance(members, str) else TABLE.drop(columns="note")
    model = BayesClassifier(members, random_state=3).fit(frame, "state")
    path = tmp_path / "vote.ing"
    store.save(model, path)
    again = store.load(path)
    rows = frame.drop(columns="state")
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert str(again.members_) == str(model.members_)
    assert str(again.explain(frame[:1])) == str(model.explain(frame[:1]))
    assert str(again.members) == str(model.members)
    assert again.random_state == 3
    assert again.n_parameters_ == model.n_parameters_
    if members == "additive":
        more = again.partial_fit(TABLE, "state").predict_proba(rows)
        np.testing.assert_array_equal(more, copy.deepcopy(model).partial_fit(TABLE, "state").predict_proba(rows))
    with pytest.raises(KindError, match="cannot be saved"):
        store.save(BayesClassifier(PAIR).fit(NUMBERS, Y), path)


@pytest.mark.parametrize(
    "forge",
    [
        lambda plain: plain.update(weights=[-1.0, *plain["weights"][1:]]),
        lambda plain: plain.update(shifts=[0.0]),
        lambda plain: plain.update(names=plain["names"][:1]),
        lambda plain: plain.update(losses=[]),
        lambda plain: plain.update(least=0.0),
        lambda plain: plain.update(members=[]),
        lambda plain: plain["members"][0].update(model="BayesClassifierX"),
    ],
)
def test_forged_files_are_refused(forge, adding, tmp_path):
    from ingenuo.models.packing import pack, unpack

    manifest, tensors = adding.state()
    plain = unpack(manifest["besides"])
    forge(plain)
    manifest["besides"] = pack(plain)
    path = tmp_path / "forged.ing"
    path.write_bytes(container.to_bytes({**manifest, "version": "0.1.0"}, tensors))
    with pytest.raises((ModelFileError, KindError, InputError)):
        store.load(path)


def test_it_is_judged_as_any_model():
    table = diabetes()
    found = ing.cross_validate(BayesClassifier("additive"), table, "progression", folds=3)
    assert found.evaluation["accuracy"].value > 0.65
    assert ing.evaluate(BayesClassifier("additive").fit(table, "progression"), table, "progression")["ece"].value < 0.2


def test_progress_is_shown_by_member_and_fold(capfd):
    BayesClassifier([("bayes", GaussianNB())], verbose=True).fit(NUMBERS, Y)
    said = capfd.readouterr().err.splitlines()
    assert said == ["member 1 of 1, bayes", *(f"member 1 of 1, bayes: fold {k} of 5" for k in range(1, 6))]


def test_arrow_rows_that_are_mappings_and_arrays_get_the_same_answers(vote):
    rows = TABLE.drop(columns="state")
    expected = vote.predict_proba(rows)
    np.testing.assert_array_equal(vote.predict_proba(pa.Table.from_pandas(rows)), expected)
    first = {name: value for name, value in rows.iloc[0].items() if value == value and value is not None}
    np.testing.assert_allclose(vote.explain(first).posterior, expected[0], rtol=1e-9)
