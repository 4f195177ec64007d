"""Text in NaiveBayes: whatever holds it and whatever it stands beside; explained, drawn, saved, tuned, and refused."""

from __future__ import annotations

import copy
import io
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import MultinomialNB

import ingenuo as ing
from ingenuo import store
from ingenuo.errors import InputError, KindError, ModelFileError
from ingenuo.explanation.evidence import evidence
from ingenuo.explanation.explain import inspect
from ingenuo.families.word_features import totals
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.report.page import _schema
from ingenuo.rows.part import ArrowText, ListText
from ingenuo.tally import container
from ingenuo.tally.prior import Dirichlet, Laplace, Lidstone, MaximumLikelihood
from ingenuo.text.words import Words

TEXTS = [
    "A fine film, and a fine cast; I loved every minute of it",
    "Don't see it: dull music, dull cast, no plot at all",
    "Perché no? Un bel film, di quelli che non si dimenticano",
    "I didn't like the plot, but the music is good",
    "Not one laugh in two hours — İstanbul, ΣΟΦΟΣ and 漢字 notwithstanding",
    "the cast is good and the film is good, good, good 👍🏽",
    "every minute of the plot is awful, awful music too",
    "a fine mess of a film <b>& a dull one</b> 'too'",
]
LABELS = ["good", "bad", "good", "good", "bad", "good", "bad", "bad"]
ASKED = [*TEXTS, "never seen words", "", "good film, dull dull plot"]

KINDS = {
    "counts": Words(),
    "one letter": Words(token=r"\w+", lowercase=False),
    "a token of Python's": Words(token=r"<b>|[\w']+", negation="english", stem="english", ngrams=(1, 2)),
    "binary": Words(binary=True),
    "complement": Words(model="complement"),
    "bernoulli": Words(model="bernoulli"),
    "pairs": Words(ngrams=(1, 2)),
    "threes alone": Words(ngrams=(3, 3), binary=True),
    "characters": Words(characters=(2, 5)),
    "characters of unit length": Words(characters=(3, 3), weighting="tfidf", norm="l2", min_documents=2),
    "hashed": Words(hashed=32, ngrams=(1, 2)),
    "hashed presence": Words(hashed=32, ngrams=(1, 2), model="bernoulli"),
    "tf-idf": Words(weighting="tfidf"),
    "tf-idf complement": Words(weighting="tfidf", model="complement", binary=True),
    "unit length": Words(weighting="tfidf", norm="l2"),
    "unit length complement": Words(weighting="tfidf", norm="l2", model="complement", ngrams=(1, 2)),
    "negation": Words(negation="english"),
    "stems and stop words": Words(stem="english", stop_words="english"),
    "lexicon": Words(lexicon={"good": 1, "awful": -2, "dull": -1}, negation="english", ngrams=(1, 2)),
    "most frequent left out": Words(stop_words=3, ngrams=(1, 2)),
    "limits": Words(min_count=2, min_documents=2, max_documents=0.8, max_words=6),
    "lenient": Words(errors="replace"),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def fitted(words=None, **settings):
    return NaiveBayes(text=Words() if words is None else words, **settings).fit(TEXTS, LABELS)


# What holds the texts.

BYTES = [text.encode() for text in TEXTS]
HOLDERS = {
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "array of objects": np.array(TEXTS, object),
    "array of strings": np.array(TEXTS),
    "pandas": pd.Series(TEXTS),
    "pandas with an index": pd.Series(TEXTS, index=range(70, 78)),
    "pandas objects": pd.Series(TEXTS, dtype=object),
    "pandas str": pd.Series(TEXTS, dtype="string"),
    "pandas Arrow": pd.Series(TEXTS, dtype="string[pyarrow]"),
    "pandas category": pd.Series(TEXTS, dtype="category"),
    "polars": pl.Series(TEXTS),
    "polars categorical": pl.Series(TEXTS, dtype=pl.Categorical),
    "Arrow": pa.array(TEXTS),
    "Arrow, wide": pa.array(TEXTS, pa.large_string()),
    "Arrow, views": pa.array(TEXTS, pa.string_view()),
    "Arrow, part of one": pa.array(["no", *TEXTS, "no"]).slice(1, len(TEXTS)),
    "Arrow, chunked": pa.chunked_array([TEXTS[:3], [], TEXTS[3:]]),
    "Arrow, dictionary": pa.array(TEXTS).dictionary_encode(),
    "Arrow, dictionaries": pa.chunked_array(
        [pa.array(TEXTS[:3]).dictionary_encode(), pa.array(TEXTS[3:]).dictionary_encode()]
    ),
    "bytes": BYTES,
    "Arrow bytes": pa.array(BYTES),
    "polars bytes": pl.Series(BYTES),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_texts_are_learned_from_whatever_holds_them(holder):
    model, wanted = NaiveBayes().fit(HOLDERS[holder], LABELS), fitted()
    assert model.tally_ == wanted.tally_
    assert model.schema_.rows() == [("text", "text", "words", "a list of texts")]
    np.testing.assert_array_equal(model.predict_proba(HOLDERS[holder]), wanted.predict_proba(TEXTS))
    np.testing.assert_array_equal(wanted.predict(HOLDERS[holder]), wanted.predict(TEXTS))


@pytest.mark.parametrize(
    "holder",
    [
        [*TEXTS, None],
        np.array([*TEXTS, None], object),
        [*TEXTS, float("nan")],
        pd.Series([*TEXTS, None]),
        pd.Series([*TEXTS, None], dtype="string"),
        pl.Series([*TEXTS, None]),
        pa.array([*TEXTS, None]),
    ],
)
def test_missing_texts_are_known_in_whatever_holds_them(holder):
    model = NaiveBayes().fit(holder, [*LABELS, "bad"])
    assert {name: model.tally_[name] for name in model.tally_ if name != "class"} == {
        name: fitted().tally_[name] for name in model.tally_ if name != "class"
    }
    np.testing.assert_allclose(model.predict_proba(holder)[-1], [5 / 9, 4 / 9])


@pytest.mark.parametrize("nothing", [[None], [None, float("nan")], np.array([None]), pl.Series([None]), pa.nulls(2),
                                     pd.Series([None, None], dtype=object)])  # fmt: skip
def test_where_every_text_is_missing_the_prior_answers(nothing):
    assert fitted().predict_proba(nothing).tolist() == [[0.5, 0.5]] * len(nothing)


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table}
COLUMNS = {
    "said": TEXTS,
    "stars": [4.0, 1.5, 4.5, 3.0, 2.0, 5.0, 1.0, 2.5],
    "place": ["home", "cinema", "home", "home", "cinema", "cinema", "home", "cinema"],
}


@pytest.mark.parametrize("frame", FRAMES)
def test_text_stands_beside_numbers_and_categories(frame):
    table = FRAMES[frame](COLUMNS)
    model = NaiveBayes(text=Words(ngrams=(1, 2))).fit(table, LABELS)
    assert [row[:3] for row in model.schema_.rows()] == [
        ("said", "text", "words"),
        ("stars", "number", "gaussian-or-states"),
        ("place", "category", "categorical"),
    ]
    why = dict(model.schema_.why)
    assert re.fullmatch(r"strings of \d+ words, 100% different", why["said"])
    assert why["place"] == "strings, 2 different"
    assert model.tally_ == NaiveBayes(text=Words(ngrams=(1, 2))).fit(pa.table(COLUMNS), LABELS).tally_
    # Naive: what the text says and what the others say add up, but for the prior that each has.
    said = NaiveBayes(text=Words(ngrams=(1, 2))).fit(TEXTS, LABELS).predict_joint_log_proba(TEXTS)
    rest = {name: values for name, values in COLUMNS.items() if name != "said"}
    others = NaiveBayes().fit(pa.table(rest), LABELS).predict_joint_log_proba(pa.table(rest))
    np.testing.assert_allclose(model.predict_joint_log_proba(table), said + others - np.log(0.5), rtol=1e-12)


def test_a_column_of_short_repeated_strings_is_text_only_where_it_is_declared():
    table = pa.table({"place": COLUMNS["place"], "stars": COLUMNS["stars"]})
    assert NaiveBayes().fit(table, LABELS).schema_.family("place") == "categorical"
    model = NaiveBayes({"place": "text"}).fit(table, LABELS)
    assert (model.schema_.family("place"), model.schema_.why["place"]) == ("words", "declared")
    assert NaiveBayes(text={"place": Words()}).fit(table, LABELS).schema_.family("place") == "words"
    assert NaiveBayes({"said": "category"}).fit(pa.table(COLUMNS), LABELS).schema_.family("said") == "categorical"
    assert NaiveBayes({0: "text"}).fit(np.array(TEXTS, object)[:, None], LABELS).schema_.family(0) == "words"
    assert NaiveBayes({"place": "words-bernoulli"}).fit(table, LABELS).schema_.family("place") == "words-bernoulli"


def test_each_column_has_words_of_its_own():
    titles = [" ".join(text.split()[:3]) for text in TEXTS]
    table = pa.table({"title": titles, "body": TEXTS, "place": COLUMNS["place"]})
    title, body = Words(binary=True, model="bernoulli"), Words(ngrams=(1, 2), weighting="tfidf")
    model = NaiveBayes(text={"title": title, "body": body}).fit(table, LABELS)
    assert dict(model.schema_.texts) == {"title": title, "body": body}
    assert [model.schema_.family(name) for name in ("title", "body", "place")] == [
        "words-bernoulli", "words", "categorical",
    ]  # fmt: skip
    alone = sum(
        NaiveBayes({name: "text"}, text={name: words})
        .fit(pa.table({name: values}), LABELS)
        .predict_joint_log_proba(pa.table({name: values}))
        for name, words, values in (("title", title, titles), ("body", body, TEXTS))
    )
    place = pa.table({"place": COLUMNS["place"]})
    alone = alone + NaiveBayes().fit(place, LABELS).predict_joint_log_proba(place) - 2 * np.log(0.5)
    np.testing.assert_allclose(model.predict_joint_log_proba(table), alone, rtol=1e-12)
    shown = model.explain({"title": titles[0], "body": TEXTS[0]})
    assert {factor.part_of for factor in shown.factors if factor.part_of} == {"title", "body"}
    assert [passage.column for passage in shown.passages] == ["title", "body"]


@pytest.mark.parametrize("counts", ["multinomial", "complement", "bernoulli"])
def test_counts_says_what_words_mean_where_they_do_not_say_it_themselves(counts):
    family = {"multinomial": "words", "complement": "words-complement", "bernoulli": "words-bernoulli"}[counts]
    assert fitted(counts=counts).schema_.family("text") == family
    assert fitted(counts={"text": counts}).schema_.family("text") == family
    assert fitted(Words(model="complement"), counts=counts).schema_.family("text") == "words-complement"
    assert fitted(Words(model=counts)).tally_ == fitted(counts=counts).tally_


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_what_arrow_holds_is_not_copied(kind):
    array = pa.array([*TEXTS, None], kind)
    for source, rows in ((array, 9), (array.slice(2, 4), 4), (pa.chunked_array([array]), 9)):
        (piece,) = ArrowText("said", source).pieces()
        assert np.shares_memory(piece.data, np.frombuffer(array.buffers()[2], np.uint8))
        assert (piece.n_rows, piece.first) == (rows, 0)
    if kind == pa.large_string():
        (piece,) = ArrowText("said", array).pieces()
        assert np.shares_memory(piece.offsets, np.frombuffer(array.buffers()[1], np.int64))
    series = pl.Series(TEXTS * 3000)  # polars' own layout must be converted; what it then gives is taken as it is
    (piece,) = ArrowText("said", series.to_arrow()).pieces()
    assert bytes(piece.data[piece.offsets[1] : piece.offsets[2]]).decode() == TEXTS[1]


# Explanations.


def total(explanation):
    terms = [explanation.prior, *(factor for factor in explanation.factors if factor.terms)]
    return np.sum([[term.log for term in factor.terms] for factor in terms], axis=0)


@every_kind
@pytest.mark.parametrize("prior", [Lidstone(0.1), MaximumLikelihood()], ids=str)
def test_the_terms_of_an_explanation_sum_to_the_joint(kind, prior):
    model = fitted(KINDS[kind], prior=prior)
    joints, posteriors = model.predict_joint_log_proba(ASKED), model.predict_proba(ASKED)
    for text, joint, posterior in zip(ASKED, joints, posteriors):
        shown = model.explain(text)
        np.testing.assert_allclose(total(shown), joint, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(shown.posterior, posterior, rtol=1e-10)
        for factor in shown.factors:
            for term in factor.terms:
                with np.errstate(over="ignore"):  # beyond the doubles both are infinite
                    assert term.value == pytest.approx(np.exp(term.log), rel=1e-12)


@every_kind
def test_the_fractions_that_are_written_are_the_values_that_are_shown(kind):
    """Every "(2 + 1)/(9 + 3)" is worked out as a person would."""
    model = fitted(KINDS[kind], prior=Lidstone(0.5))
    shown = model.explain(TEXTS[5])
    checked = 0
    for factor in shown.factors:
        for term in factor.terms:
            if "factors" in term.how:
                continue
            how = term.how.replace("[", "(").replace("]", ")").replace("^", "**")
            assert re.fullmatch(r"[\d./+*() e-]+", how)
            assert eval(how) == pytest.approx(term.value, rel=1e-4)
            checked += 1
    assert checked >= 2


def test_a_dirichlet_by_word_is_explained_too():
    model = fitted(prior=Dirichlet({"good": 3.0, "dull": 2.0, "film": 2.0}))
    for text in ASKED:
        np.testing.assert_allclose(total(model.explain(text)), model.predict_joint_log_proba([text])[0])


@every_kind
def test_passages_join_to_the_text_again(kind):
    model = fitted(KINDS[kind])
    for text in ASKED:
        (passage,) = model.explain(text).passages
        assert "".join(piece for piece, _ in passage.pieces) == text
    assert any(weight is not None for _, weight in model.explain(TEXTS[5]).passages[0].pieces)


def test_what_words_say_for_one_class_against_another_adds_up():
    """Without the prior, the weights of a text's words sum to the difference of the two joints."""
    for kind in ("counts", "pairs", "tf-idf", "unit length", "binary", "complement", "lexicon"):
        model = fitted(KINDS[kind])
        for text in TEXTS:
            shown = model.explain(text)
            best, second = shown.order[:2]
            weights = sum(weight for _, weight in shown.passages[0].pieces if weight is not None)
            difference = shown.joint[best] - shown.joint[second]
            prior = shown.prior.terms[best].log - shown.prior.terms[second].log
            assert weights == pytest.approx(difference - prior, abs=1e-9)


@pytest.mark.parametrize("name", ["NaiveBayes", "SoftmaxRegression"])
@pytest.mark.parametrize(
    ("settings", "unused"),
    [
        ({"stop_words": ["the", "film"]}, "the, film"),
        ({"stop_words": 2}, "the, film"),
        ({"min_count": 3}, "a, dull"),
        ({"max_words": 2}, "a, dull"),
        ({"max_documents": 0.5}, "the, film"),
        ({"stop_words": ["film"], "negation": "english", "min_count": 2}, "not_film, not, a, dull"),
        ({"stop_words": ["a"], "ngrams": (2, 2), "min_count": 2}, "a, the dull, dull film"),
    ],
)
def test_what_is_not_used_is_not_called_unknown(name, settings, unused):
    """A stop word, or one that was cut by the selection, was seen."""
    texts = ["the film", "the film", "the film, a not film", "the dull film"]
    model = getattr(ing, name)(text=Words(token=r"\w+", **settings)).fit(texts, ["+", "+", "-", "-"])
    shown = model.explain("not film, the a dull zebra" if "negation" in settings else "the a dull film zebra")
    notes = {factor.value.split()[1]: factor.note for factor in shown.factors if not factor.terms}
    assert notes["unused"] == f"stop words, or cut by the limits: left out: {unused}"
    assert notes["unknown"].endswith("zebra")
    assert not set(unused.split(", ")) & set(notes["unknown"].removeprefix("never seen: left out: ").split(", "))


def test_unknown_words_and_missing_texts_are_named():
    model = fitted()
    shown = model.explain("good unicorn and zebra, unicorn")
    assert {factor.column for factor in shown.factors if factor.terms} == {"good", "and"}
    (unknown,) = [factor for factor in shown.factors if not factor.terms]
    assert (unknown.value, unknown.note) == ("2 unknown", "never seen: left out: unicorn, zebra")
    assert "left out: unicorn, zebra" in str(shown)
    (missing,) = model.explain([None]).factors
    assert (missing.value, missing.note, missing.terms) == ("missing", "left out", ())
    (empty,) = model.explain("").factors
    assert (empty.value, empty.note) == ("no words", "left out")
    assert model.explain({"text": "good"}).joint.tolist() == model.explain("good").joint.tolist()


def test_many_words_become_one_line_and_still_multiply():
    words = [f"word{i}" for i in range(60)]
    model = NaiveBayes().fit([" ".join(words), " ".join(words[::3])], ["all", "some"])
    shown = model.explain(" ".join(words))
    lines = shown._join_words()
    assert len(shown.factors) == 60
    assert len(lines) == 20
    assert lines[-1].column == "… 41 more words"
    terms = [shown.prior, *lines]
    np.testing.assert_allclose(
        np.sum([[term.log for term in factor.terms] for factor in terms], axis=0), shown.joint, rtol=1e-12
    )
    assert "… 41 more words" in str(shown)
    assert len(shown.to_dict()["factors"]) == 60
    spread = [abs(factor.terms[0].log - factor.terms[1].log) for factor in shown.factors]
    assert spread == sorted(spread, reverse=True)


def test_many_words_beside_one_unknown_and_the_absent_become_one_line_too():
    words = [f"word{i}" for i in range(60)]
    model = NaiveBayes(counts="bernoulli").fit([" ".join(words), " ".join(words[::3])], ["all", "some"])
    shown = model.explain(" ".join([*words[:40], "unicorn"]))
    lines = [factor for factor in shown._join_words() if factor.terms]
    logs = [[term.log for term in factor.terms] for factor in (shown.prior, *lines)]
    np.testing.assert_allclose(np.sum(logs, axis=0), shown.joint, rtol=1e-12)
    text = str(shown)
    assert "… 21 more words" in text
    assert "20 absent" in text
    assert "unicorn" in text


@every_kind
def test_an_explanation_is_plain_data(kind):
    table = pa.table({**COLUMNS, "said": TEXTS})
    model = NaiveBayes(text=KINDS[kind], columns={"said": "text"}).fit(table, LABELS)
    data = json.loads(json.dumps(model.explain({"said": TEXTS[7], "stars": 2}).to_dict()))
    assert "".join(piece["text"] for piece in data["texts"]["said"]) == TEXTS[7]
    assert data["prediction"] in LABELS
    assert sum(data["posterior"].values()) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["counts", "pairs", "bernoulli"])
def test_html_escapes_what_texts_hold(kind):
    model = fitted(KINDS[kind])
    for shown in (model.explain(TEXTS[7]), model.explain("<script>alert('good film')</script> & <b>")):
        page = shown._repr_html_()
        assert "<b>" not in page
        assert "<script" not in page
    assert "&lt;b&gt;&amp; a " in re.sub(r"</?span[^>]*>", "", model.explain(TEXTS[7])._repr_html_())
    classes = NaiveBayes().fit(TEXTS, [f"<i>{label}</i>" for label in LABELS])
    assert "<i>" not in classes.explain(TEXTS[0])._repr_html_()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_show_colours_words_for_a_terminal_that_wants_it(monkeypatch, capsys):
    shown = fitted().explain(TEXTS[5])
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal, file = Terminal(), io.StringIO()
    shown.show(terminal)
    shown.show(file)
    assert "\x1b[" in terminal.getvalue()
    assert file.getvalue() == str(shown) + "\n"
    assert "good⁺" in file.getvalue()
    assert "\x1b" not in file.getvalue()
    assert re.sub(r"\x1b\[[\d;]*m", "", terminal.getvalue()) == re.sub("[⁺⁻]", "", file.getvalue())
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    shown.show(plain)
    assert plain.getvalue() == file.getvalue()
    monkeypatch.setenv("NO_COLOR", "")  # empty is not set
    coloured = Terminal()
    shown.show(coloured)
    assert coloured.getvalue() == terminal.getvalue()
    shown.show()
    assert capsys.readouterr().out == file.getvalue()


# Drawing.


def test_drawn_texts_have_the_frequencies_of_their_class():
    for words in (Words(), Words(binary=True), Words(lexicon={"good": 1}), Words(stop_words=["the"])):
        model = fitted(words, prior=Lidstone(0.2))
        X, y = model.sample(4000, class_="good", random_state=0)
        assert set(y) == {"good"}
        drawn = NaiveBayes(text=Words()).fit(X["text"], y)
        seen = drawn.tally_.bag("text:text:count")
        counts = dict(zip(seen.vocabulary.texts(), seen.numbers()))
        (column,) = model._parameters().own.parts
        own = column.bag
        names = own.vocabulary.texts()
        plain = [i for i, name in enumerate(names) if not name.startswith("[")]
        place = model.classes_.tolist().index("good")
        shares = own.column(place)[plain] + 0.2
        shares = shares / shares.sum()
        total_drawn = sum(counts.values())
        for i, share in zip(plain, shares):
            assert counts.get(names[i], 0) / total_drawn == pytest.approx(share, abs=5 * np.sqrt(share / total_drawn))
        assert model.sample(5, random_state=3)[0].equals(model.sample(5, random_state=3)[0])


def test_drawn_texts_of_words_present_or_not():
    model = fitted(Words(model="bernoulli"))
    X, _ = model.sample(3000, class_="bad", random_state=1)
    share = np.mean(["dull" in text.split() for text in X["text"].to_pylist()])
    assert share == pytest.approx((2 + 1) / (4 + 2), abs=0.04)
    assert all(len(text.split()) == len(set(text.split())) for text in X["text"].to_pylist())


def test_what_cannot_be_drawn_says_so():
    with pytest.raises(InputError, match="complement weights are no distribution of words"):
        fitted(Words(model="complement")).sample(1)
    with pytest.raises(InputError, match=r"texts cannot be drawn from n-grams \(1, 2\)"):
        fitted(Words(ngrams=(1, 2))).sample(1)
    with pytest.raises(InputError, match=r"texts cannot be drawn from n-grams \(1, 1\)"):
        fitted(Words(characters=(1, 1))).sample(1)
    with pytest.raises(InputError, match="texts cannot be drawn from hashed words"):
        fitted(Words(hashed=8)).sample(1)


# The model file.


@every_kind
def test_a_saved_model_comes_back_and_goes_on_learning(kind, tmp_path):
    model = NaiveBayes(text=KINDS[kind], prior=Lidstone(0.3)).fit(pa.table(COLUMNS), LABELS)
    ing.save(model, tmp_path / "model")
    again = ing.load(tmp_path / "model")
    assert repr(again) == repr(model)
    assert again.tally_ == model.tally_
    assert again.schema_ == model.schema_
    rows = pa.table({**COLUMNS, "said": TEXTS[::-1]})
    np.testing.assert_array_equal(again.predict_joint_log_proba(rows), model.predict_joint_log_proba(rows))
    assert store.to_bytes(again) == (tmp_path / "model").read_bytes()
    for each in (again, model):
        each.partial_fit(rows, LABELS)
    assert again.tally_ == model.tally_
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    again.forget(rows, LABELS)
    np.testing.assert_allclose(
        again.predict_joint_log_proba(rows), ing.load(tmp_path / "model").predict_joint_log_proba(rows), rtol=1e-9
    )
    assert (ing.load(tmp_path / "model") + ing.load(tmp_path / "model")).class_count_.tolist() == [8, 8]


def test_a_tally_of_words_travels_alone(tmp_path):
    tally = fitted(Words(ngrams=(1, 3))).tally_
    ing.save(tally, tmp_path / "tally")
    assert ing.load(tmp_path / "tally") == tally


def test_the_words_of_a_list_are_saved_by_what_they_were(monkeypatch):
    model = fitted(Words(stop_words="english", lexicon={"good": 1}))
    manifest, tensors = container.from_bytes(store.to_bytes(model))
    described = json.dumps(manifest)
    assert '"the"' in described

    def older(value):
        if isinstance(value, dict):
            if value.get("!") == "words":
                value = {**value, "stops": [word for word in value["stops"] if word != "the"]}
            return {key: older(item) for key, item in value.items()}
        return [older(item) for item in value] if isinstance(value, list) else value

    loaded = store.from_bytes(container.to_bytes(older(manifest), tensors))
    assert "the" not in loaded.text.stops
    assert len(loaded.text.stops) == len(model.text.stops) - 1


def forged(model, change):
    manifest, tensors = container.from_bytes(store.to_bytes(model))
    manifest, tensors = copy.deepcopy(manifest), {name: tensor.copy() for name, tensor in tensors.items()}
    changed = change(manifest, tensors)
    return container.to_bytes(manifest, tensors if changed is None else changed)


def _bag(manifest):
    return next(i for i, entry in enumerate(manifest["tally"]) if "words" in entry)


def _tensor(suffix, alter):
    def change(manifest, tensors):
        name = f"tally/{_bag(manifest)}/{suffix}"
        tensors[name] = alter(tensors[name].copy())

    return change


def _set(array, at, value):
    array[at] = value
    return array


def _swapped(array):
    array[[0, 1]] = array[[1, 0]]
    return array


FORGERIES = {
    "a cell of no class": _tensor("codes", lambda a: _set(a, 0, 99)),
    "a cell of a class below zero": _tensor("codes", lambda a: _set(a, 0, -1)),
    "classes out of order": _tensor("codes", lambda a: a[::-1].copy()),
    "a cell too few": _tensor("codes", lambda a: a[:-1]),
    "cells below zero": _tensor("cells", lambda a: _set(_set(a, 0, -1), 1, a[0] + a[1] + 1)),
    "cells of fewer words": _tensor("cells", lambda a: a[:-1]),
    "cells of another type": _tensor("cells", lambda a: a.astype(np.int64)),
    "negative counts": _tensor("sums", lambda a: -a),
    "a count of zero": _tensor("sums", lambda a: _set(a, (0, 0), 0)),
    "words that end before they begin": _tensor("words/ends", _swapped),
    "words that end beyond the text": _tensor("words/ends", lambda a: _set(a, -1, a[-1] + 5)),
    "words of no length": _tensor("words/ends", lambda a: _set(a, 0, 0)),
    "bytes that are no text": _tensor("words", lambda a: _set(a, 0, 0xFF)),
    "a word cut within a character": _tensor("words", lambda a: _set(a, 0, 0x80)),
    "a zero byte": _tensor("words", lambda a: _set(a, 0, 0)),
    "words out of order": _tensor("words", lambda a: a[::-1].copy()),
    "an n-gram of no such part": _tensor("words/0/parents", lambda a: _set(a, 0, 10**6)),
    "an n-gram of a part below zero": _tensor("words/0/lasts", lambda a: _set(a, 0, -1)),
    "n-grams out of order": _tensor("words/0/lasts", lambda a: a[::-1].copy()),
    "a level that is not there": lambda manifest, _: manifest["tally"][_bag(manifest)]["words"].update(order=7),
    "an order that is no number": lambda manifest, _: manifest["tally"][_bag(manifest)]["words"].update(order="2"),
    "an order of billions": lambda manifest, _: manifest["tally"][_bag(manifest)]["words"].update(order=10**12),
    "too many buckets": lambda manifest, _: manifest["tally"][_bag(manifest)]["words"].update(buckets=63),
    "buckets where there are words": lambda manifest, _: manifest["tally"][_bag(manifest)]["words"].update(buckets=3),
    "words that are not said how": lambda manifest, _: manifest["schema"].update(texts=[]),
    "settings that make no sense": lambda manifest, _: manifest["schema"]["texts"][0][1]["of"].update(items=[["a", 1]]),
}  # fmt: skip


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_signed_file_with_a_forged_bag_is_refused(forgery):
    model = fitted(Words(ngrams=(1, 2)))
    with pytest.raises(ModelFileError):
        store.from_bytes(forged(model, FORGERIES[forgery]))


def test_a_lexicon_in_a_file_is_no_path():
    """A path would have a file of the reader's machine opened."""
    model = fitted(Words(lexicon={"good": 1}))

    def change(manifest, _):
        for packed in (manifest["schema"]["texts"][0][1], dict(manifest["parameters"]["items"])["text"]):
            for item in packed["of"]["items"]:
                if item[0] == "lexicon":
                    item[1] = "/etc/passwd"

    with pytest.raises(ModelFileError, match="a lexicon is no mapping"):
        store.from_bytes(forged(model, change))


@pytest.mark.parametrize("what", ["counts", "documents"])
def test_forged_document_frequencies_are_refused(what):
    model = fitted(KINDS["unit length"])
    for alter in (lambda a: -a, lambda a: a[:-1], lambda a: _set(a, 0, np.inf), lambda a: _set(a, 0, np.nan)):

        def change(manifest, tensors, alter=alter):
            tensors[f"schema/references/0/{what}"] = alter(tensors[f"schema/references/0/{what}"].copy())

        with pytest.raises(ModelFileError):
            store.from_bytes(forged(model, change))


@pytest.mark.parametrize("kind", ["pairs", "hashed presence", "unit length", "lexicon", "bernoulli"])
def test_any_change_to_a_tensor_is_refused_or_gives_another_sound_model(kind):
    model = fitted(KINDS[kind])
    manifest, tensors = container.from_bytes(store.to_bytes(model))
    rng = np.random.default_rng(0)
    names, refused = sorted(tensors), 0
    for _ in range(150):
        parts = dict(tensors)
        name = names[rng.integers(len(names))]
        tensor = parts[name].copy()
        if not tensor.size:
            continue
        way = rng.integers(5)
        if way == 0:
            tensor = tensor[:-1]
        elif way == 1:
            tensor = np.concatenate([tensor, tensor])
        elif way == 2:
            tensor = tensor[::-1].copy()
        else:
            flat = tensor.reshape(-1)
            flat[rng.integers(flat.size)] = rng.choice([0, 1, 2, 127]) if way == 3 else flat[rng.integers(flat.size)]
        parts[name] = tensor
        try:
            loaded = store.from_bytes(container.to_bytes(manifest, parts))
        except ModelFileError:
            refused += 1
            continue
        try:
            assert np.isfinite(loaded.predict_proba(ASKED)).all()
        except (InputError, KindError):
            continue
        store.to_bytes(loaded)
    assert refused > 40


# The contract of an estimator.


def test_settings_are_parameters_like_others():
    words = Words(ngrams=(1, 2), lexicon={"good": 1})
    model = NaiveBayes(text=words, prior=Lidstone(0.5))
    assert model.get_params()["text"] is words
    copied = clone(model)
    assert copied.get_params()["text"] == words
    assert repr(copied) == repr(model)
    model.set_params(text=Words(binary=True))
    assert model.text == Words(binary=True)
    assert clone(model.fit(TEXTS, LABELS)).get_params()["text"] == Words(binary=True)


def test_words_are_cross_validated_and_searched():
    texts, labels = TEXTS * 4, LABELS * 4
    scores = cross_val_score(NaiveBayes(text=Words(ngrams=(1, 2))), texts, labels, cv=4)
    assert scores.tolist() == [1.0] * 4  # each text stands in every fold
    settings = [Words(), Words(binary=True), Words(hashed=2), Words(max_words=1)]
    search = GridSearchCV(NaiveBayes(), {"text": settings, "prior": [Laplace(), Lidstone(0.1)]}, cv=4)
    search.fit(np.array(texts, object), labels)
    assert search.best_params_["text"] in (Words(), Words(binary=True))
    assert search.best_estimator_.predict(TEXTS).tolist() == LABELS
    assert len(set(search.cv_results_["mean_test_score"])) > 1


def test_words_cannot_change_after_learning():
    model = fitted()
    said = model.predict_proba(ASKED)
    model.set_params(text=Words(ngrams=(1, 2)))
    for ask in (
        lambda: model.predict(ASKED),
        lambda: model.partial_fit(TEXTS, LABELS),
        lambda: model.forget(TEXTS, LABELS),
        lambda: model.explain("good"),
        lambda: model.merge(fitted()),
    ):
        with pytest.raises(
            InputError, match="was changed after the model had learned, and it says what is learned; fit it"
        ):
            ask()
    model.set_params(text=Words())
    np.testing.assert_array_equal(model.predict_proba(ASKED), said)
    assert model.set_params(text=Words(ngrams=(1, 2))).fit(TEXTS, LABELS).tally_ == fitted(Words(ngrams=(1, 2))).tally_


# Words that are most frequent, and limits.


def used(model):
    (column,) = model._parameters().own.parts
    return sorted(column.bag.vocabulary.texts(np.flatnonzero(column.weights).tolist()))


FREQUENT = [
    "so so so it is it is fun",
    "so it is so so dull dull",
    "fun fun is it so",
]  # so 7, is 4, it 4, fun 3, dull 2


@pytest.mark.parametrize(
    ("k", "ngrams", "left"),
    [
        (1, (1, 1), ["dull", "fun", "is", "it"]),
        (2, (1, 1), ["dull", "fun", "it"]),  # of two as frequent, the first by the alphabet
        (3, (1, 1), ["dull", "fun"]),
        (4, (1, 1), ["dull"]),
        (3, (1, 2), ["dull", "dull dull", "fun", "fun fun"]),
        (1, (2, 2), ["dull dull", "fun fun", "fun is", "is fun", "is it", "it is"]),
        # Of threes alone it is known only what they end with: is and so are as frequent there.
        (1, (3, 3), ["so dull dull", "so so dull", "so so it", "so so so"]),
    ],
)
def test_the_most_frequent_words_are_left_out_with_all_that_has_them(k, ngrams, left):
    model = NaiveBayes(text=Words(stop_words=k, ngrams=ngrams)).fit(FREQUENT, ["a", "b", "a"])
    assert used(model) == left
    everything = NaiveBayes(text=Words(ngrams=ngrams)).fit(FREQUENT, ["a", "b", "a"])
    assert model.tally_ == everything.tally_  # the tally keeps them: they may not be the most frequent tomorrow


def test_which_words_are_most_frequent_changes_with_what_is_learned():
    model = NaiveBayes(text=Words(stop_words=1)).fit(FREQUENT, ["a", "b", "a"])
    assert "so" not in used(model)
    model.partial_fit(["dull " * 9], ["b"])
    assert "dull" not in used(model)
    assert "so" in used(model)
    assert "so" not in used(model.forget(["dull " * 9], ["b"]))


def test_of_equally_frequent_words_the_first_by_the_alphabet_are_kept():
    texts = ["pear fig élan apple Kiwi", "fig pear kiwi apple élan", "plum plum plum date date date"]
    for most, left in (
        (2, ["date", "plum"]),
        (3, ["apple", "date", "plum"]),
        (5, ["apple", "date", "fig", "kiwi", "plum"]),
    ):
        assert used(NaiveBayes(text=Words(max_words=most)).fit(texts, [0, 1, 0])) == left
    everything = sorted({"pear", "fig", "élan", "apple", "kiwi", "plum", "date"})
    assert used(NaiveBayes(text=Words(max_words=70)).fit(texts, [0, 1, 0])) == everything


@pytest.mark.parametrize("share", [0.01, 1e-6, 1 / 3])
def test_small_weights_leave_no_word_out(share):
    """A word of little weight is a word: only limits that are asked for leave any out."""
    weights = np.full(len(TEXTS), share)
    model = NaiveBayes(prior=Lidstone(0.1)).fit(TEXTS, LABELS, sample_weight=weights)
    assert used(model) == used(fitted())
    heavy = np.r_[1e-20, np.full(len(TEXTS) - 2, 1.0), 1e20]
    assert used(NaiveBayes().fit(TEXTS, LABELS, sample_weight=heavy)) == used(fitted())


def test_weights_that_are_large_do_not_overflow():
    model = NaiveBayes(prior=Lidstone(1e-9)).fit(TEXTS, LABELS, sample_weight=np.full(len(TEXTS), 5e18))
    plain = NaiveBayes(prior=MaximumLikelihood()).fit(TEXTS, LABELS)
    np.testing.assert_allclose(model.predict_proba(TEXTS), plain.predict_proba(TEXTS), atol=1e-9)
    assert np.isfinite(
        NaiveBayes().fit(TEXTS, LABELS, sample_weight=np.full(len(TEXTS), 1e300)).predict_proba(ASKED)
    ).all()


# What is wrong, and how it is told.


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([*BYTES[:2], b"caf\xe9 au lait"], "column 'text', row 2: the byte 0xe9 at offset 3 is not UTF-8"),
        ([BYTES[0], b"\xed\xa0\x80", b"\xff"], "column 'text', row 1: the byte 0xed at offset 0 is not UTF-8"),
        (pa.array([None, b"ab", b"abcd\xc3"]), "column 'text', row 2: the byte 0xc3 at offset 4 is not UTF-8"),
        (pa.chunked_array([[b"ab"], [b"abcd", b"a\xff"]]), "column 'text', row 2: the byte 0xff at offset 1"),
        (["good one", "lone \ud800 half", "x"], r"column 'text', row 1: character 5 is half of a pair ('\ud800')"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_their_place_or_replaced(texts, message):
    labels = [str(i) for i in range(3)]
    for learn in (NaiveBayes().fit, fitted().partial_fit, fitted().predict_proba):
        with pytest.raises(InputError) as caught:
            learn(texts) if learn.__name__ == "predict_proba" else learn(texts, labels)
        assert message in str(caught.value)
        assert "errors='replace'" in str(caught.value)
    model = NaiveBayes(text=Words(errors="replace")).fit(texts, labels)
    assert model.class_count_.tolist() == [1, 1, 1]
    assert np.isfinite(model.predict_proba(texts)).all()


def test_what_is_replaced_is_no_letter():
    model = NaiveBayes(text=Words(errors="replace")).fit([b"caf\xe9bar", b"tea"], ["a", "b"])
    assert used(model) == ["bar", "caf", "tea"]


def test_bytes_in_a_table_are_told_by_their_column_and_a_later_piece_by_its_row(monkeypatch):
    from ingenuo.rows import part as sources

    monkeypatch.setattr(sources, "_TEXT_PIECE", 10)
    rows = [b"good film"] * 40 + [b"bad \xff"]
    with pytest.raises(InputError, match="column 'said', row 40: the byte 0xff at offset 4"):
        list(ListText("said", rows).pieces())
    with pytest.raises(InputError, match="column 'said', row 40: the byte 0xff at offset 4"):
        NaiveBayes({"said": "text"}).fit(pa.table({"said": rows}), ["a", "b"] * 20 + ["a"])


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a text", 3, "x"], "column 'text' has a int in row 1 (3) where text is expected"),
        (["a text", "b", 2.5], "column 'text' has a float in row 2 (2.5) where text is expected"),
        (["a text", ["b"], "c"], "column 'text' has a list in row 1 (['b']) where text is expected"),
        (np.array(["a text", True, "c"], object), "column 'text' has a bool in row 1 (True) where text is expected"),
        (pd.Series(["a text", 7, "c"], dtype=object), "column 'text' has a int in row 1 (7) where text is expected"),
    ],
)
def test_a_number_among_texts_is_named_with_its_row(texts, message):
    with pytest.raises(KindError) as caught:
        NaiveBayes().fit(texts, ["a", "b", "a"])
    assert message in str(caught.value)
    assert "turn it into a string" in str(caught.value)


def test_numbers_where_a_model_knows_text_are_refused():
    model = NaiveBayes({"said": "text"}).fit(pa.table({"said": TEXTS}), LABELS)
    with pytest.raises(KindError, match=r"column 'said' holds int64 values \(such as 4\) where text is expected"):
        model.predict(pa.table({"said": [4, 5]}))
    with pytest.raises(KindError, match=r"column 'text' has a float in row 0 \(5.0\) where text is expected"):
        fitted().predict([5.0, 1.0])
    with pytest.raises(KindError, match="column 'x0' of a sparse matrix holds numbers"):
        NaiveBayes({0: "text"}).fit(csr_matrix([[1, 2], [3, 4]]), [0, 1])


@pytest.mark.parametrize("texts", [["", ""], ["?!", "…"], ["a", "b"], ["the", "of the"]])
def test_texts_without_a_word_are_refused(texts):
    with pytest.raises(InputError, match="column 'text' has no word in any row, or only stop words; give texts"):
        NaiveBayes(text=Words(stop_words=["the", "of"])).fit(texts, ["a", "b"])


@pytest.mark.parametrize(
    "words",
    [
        Words(min_count=50),
        Words(min_documents=7),
        Words(min_documents=0.9),
        Words(stop_words=500),
        Words(max_documents=1, min_count=9),
    ],
)
def test_limits_that_leave_no_word_are_refused(words):
    with pytest.raises(
        InputError, match=r"the limits left none of the \d+ words of column 'text': min_count=.*relax them"
    ):
        fitted(words)


def test_words_without_a_column_of_text_are_refused():
    numbers = [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(InputError, match=r"no column reads as text; declare which is: columns=\{'x0': 'text'\}"):
        NaiveBayes(text=Words()).fit(numbers, [0, 1])
    table = pa.table({"place": COLUMNS["place"], "stars": COLUMNS["stars"]})
    with pytest.raises(InputError, match=r"declare which is: columns=\{'place': 'text'\}"):
        NaiveBayes(text=Words()).fit(table, LABELS)
    with pytest.raises(InputError, match="'place' was declared as 'category' and has Words as well"):
        NaiveBayes({"place": "category"}, text={"place": Words()}).fit(table, LABELS)
    with pytest.raises(InputError, match=r"column 'plaice' was declared, .* did you mean 'place'\?"):
        NaiveBayes(text={"plaice": Words()}).fit(table, LABELS)
    with pytest.raises(KindError, match=r"text must be Words\(...\), or a mapping .* got str 'english'"):
        NaiveBayes(text="english").fit(TEXTS, LABELS)
    with pytest.raises(KindError, match="got NoneType None"):
        NaiveBayes(text={"place": None}).fit(table, LABELS)
    with pytest.raises(InputError, match="'tfidf' does not go with 'bernoulli'"):
        fitted(Words(weighting="tfidf"), counts="bernoulli")
    with pytest.raises(InputError, match="a list of texts is one column of kind 'text'"):
        NaiveBayes({"text": "number"}).fit(TEXTS, LABELS)


def test_a_list_of_texts_is_no_table_of_several_columns():
    model = NaiveBayes().fit(pa.table(COLUMNS), LABELS)
    with pytest.raises(InputError, match="the model was trained on 3 columns and got a list of texts"):
        model.predict(TEXTS)
    with pytest.raises(KindError, match="there is no such file"):
        fitted().predict("one text, not in a list")


@pytest.mark.parametrize("kind", ["counts", "bernoulli", "unit length", "hashed", "lexicon"])
def test_a_refused_text_changes_nothing(kind):
    model = fitted(KINDS[kind])
    before, said = model.tally_, model.predict_proba(ASKED)
    for wrong in (["good", 3], [b"good", b"\xff"], ["good", "\udfff"]):
        for learn in (model.partial_fit, model.forget):
            with pytest.raises((InputError, KindError)):
                learn(wrong, ["good", "bad"])
    assert model.tally_ == before
    np.testing.assert_array_equal(model.predict_proba(ASKED), said)


@pytest.mark.parametrize("ngrams", [(1, 4), (1, 5), (3, 7)])
def test_n_grams_of_any_length_have_the_parameters_of_scikit_learn(ngrams):
    vectoriser, peer = CountVectorizer(ngram_range=ngrams), MultinomialNB()
    texts = [
        "to be or not to be that is the question",
        "to be is to do",
        "the rest is silence that is the question",
    ] * 3
    labels = ["a", "b", "c"] * 3
    peer.fit(vectoriser.fit_transform(texts), labels)
    model = NaiveBayes(text=Words(ngrams=ngrams)).fit(texts, labels)
    wanted = peer.predict_joint_log_proba(vectoriser.transform(texts))
    np.testing.assert_allclose(model.predict_joint_log_proba(texts), wanted, rtol=1e-10)


def test_n_grams_that_are_of_no_use_are_refused():
    with pytest.raises(
        InputError, match=r"ngrams=\(1, 101\) are longer than any that are of use; take 100 words at most"
    ):
        Words(ngrams=(1, 101))


def test_a_number_among_texts_is_told():
    with pytest.raises(KindError, match=r"column 'text' has a int in row 0 \(1\) where text is expected"):
        NaiveBayes().fit([1, "a fine film", "dull"], ["a", "b", "b"])


def test_what_a_terminal_would_obey_is_not_printed():
    model = NaiveBayes().fit(["good film", "bad film"], ["a", "b"])
    printed = model.explain("good \x1b[31m film\x07\r").to_text()
    assert "\x1b" not in printed
    assert "\x07" not in printed
    assert "\r" not in printed


def test_one_document_and_all_of_them_are_limits_as_any_others():
    texts, labels = ["apple pear", "apple plum", "apple fig"], ["a", "b", "a"]

    def used(**limits):
        model = NaiveBayes(text=Words(**limits)).fit(texts, labels)
        nothing = model.predict_joint_log_proba(["zzz"])
        return {w for w in ("apple", "pear") if (model.predict_joint_log_proba([w]) != nothing).any()}

    assert used() == used(min_documents=1, max_documents=1.0) == {"apple", "pear"}
    assert used(max_documents=1) == {"pear"}
    assert used(min_documents=1.0) == {"apple"}


def test_a_token_of_ones_own_is_saved_and_a_function_is_not(tmp_path):
    path = tmp_path / "m.ingenuo"
    model = fitted(Words(token=r"[\w'<>]+", ngrams=(1, 2)))
    store.save(model, path)
    np.testing.assert_array_equal(store.load(path).predict_proba(ASKED), model.predict_proba(ASKED))
    before = path.read_bytes()
    by_function = fitted(Words(token=str.splitlines))
    with pytest.raises(KindError, match="is a function, which no model file holds and no engine is sent"):
        store.save(by_function, path)
    assert path.read_bytes() == before
    by_function.forget(TEXTS[:1], LABELS[:1])  # in memory it is a model like any other
    assert by_function.tally_ == NaiveBayes(text=Words(token=str.splitlines)).fit(TEXTS[1:], LABELS[1:]).tally_


@pytest.mark.parametrize("source", [list, pa.array, lambda texts: pa.chunked_array([[t] for t in texts]), np.array])
def test_a_word_that_cannot_be_is_named_by_its_row(source):
    texts = source(["a good film", "a bad\0 film", "a film"])
    with pytest.raises(InputError, match=r"column 'text', row 1: the word 'bad\\x00' has a control character"):
        NaiveBayes(text=Words(token="[^ ]+")).fit(texts, [1, 0, 1])


@every_kind
def test_a_matrix_gives_other_estimators_what_is_counted_here(kind):
    """Whatever the words: its columns are the nodes that are used, and its sums what the tally has of them."""
    words = KINDS[kind]
    found = words.transform(TEXTS)
    assert found.matrix.shape == (len(TEXTS), len(found.names))
    if words.weighting == "count" and words.model != "bernoulli" and not words.hashed:
        (view,) = [part for part in evidence(fitted(words)).parts if part.kind == "text"]
        sums = totals(view.bag)
        wanted = {view.bag.vocabulary.texts([i])[0]: sums[i] for i in np.flatnonzero(view.used)}
        assert dict(zip(found.names.tolist(), np.asarray(found.matrix.sum(axis=0))[0].tolist())) == wanted
    again = found.transform(TEXTS)
    np.testing.assert_array_equal(again.matrix.toarray(), found.matrix.toarray())
    assert found.transform([]).matrix.shape == (0, len(found.names))


@pytest.mark.parametrize("source", [list, pa.array, pd.Series, pl.Series, lambda texts: np.array(texts, object)])
def test_texts_of_a_matrix_come_in_any_column(source):
    texts = ["good film", None, "good good"]
    found = Words().transform(source(texts))
    assert found.names.tolist() == ["film", "good"]
    assert found.matrix.toarray().tolist() == [[1, 1], [0, 0], [0, 2]]


def test_pairs_do_not_reach_over_the_end_of_a_text():
    counts, names = Words(token=r"\w+", stop_words=["and"]).bigram_counts(["a b", "", "b and a", "c"])
    assert names.tolist() == ["a", "b", "c"]
    assert counts.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    one, same = Words(token=r"\w+").bigram_counts("a a b")
    assert (one.tolist(), same.tolist()) == ([[1, 1], [0, 0]], ["a", "b"])
    assert Words().bigram_counts([""])[0].shape == (0, 0)


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda: Words().transform(5), KindError, "texts must be a list of strings, got int 5"),
        (lambda: Words().transform({"a": 1}), KindError, "texts must be a list of strings, got dict"),
        (lambda: Words().transform([["a"]]), KindError, "has a list in row 0"),
        (lambda: Words().transform(np.array([["a", "b"]])), KindError, "texts must be a list of strings"),
        (lambda: Words(hashed=8).bigram_counts(["a b"]), InputError, "hashed=8 keeps no words"),
        (
            lambda: Words().bigram_counts([" ".join(f"w{i}" for i in range(20_000))]),
            InputError,
            "20,000 words have 400,000,000 pairs, and 268,435,456 at most make an array; take fewer words",
        ),
    ],
)
def test_what_makes_no_matrix_is_refused(ask, error, said):
    with pytest.raises(error, match=said):
        ask()


@pytest.mark.parametrize(
    "settings", [{}, {"ngrams": (2, 2)}, {"model": "bernoulli"}, {"weighting": "tfidf", "norm": "l2"}]
)
def test_the_most_frequent_words_that_were_left_out_are_shown(settings):
    texts = ["the film and the cast", "the cast and a plot", "the end", "an end, the cast"]
    for model in (
        NaiveBayes(text=Words(stop_words=2, **settings)),
        NaiveBayes(text=Words(stop_words=["the"], **settings)),
    ):
        model.fit(texts, ["+", "-", "+", "-"])
        own = model.text.most_frequent > 0
        words = ["cast", "and"] if "ngrams" in settings else ["the", "cast"]  # there, by how often they end a pair
        shown = inspect(model)
        assert shown.to_dict().get("stop words") == ({"text": words} if own else None)
        assert (f"left out, the most frequent: {', '.join(words)}" in str(shown)) == own
        assert (f"left out, the most frequent: {', '.join(words)}" in _schema(model)["columns"][0][3]) == own
