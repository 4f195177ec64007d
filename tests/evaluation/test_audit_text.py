"""Audits by sentences: differences by hand, words that add up, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind, ttest_rel
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import ingenuo as ing
from ingenuo.errors import InputError, KindError
from ingenuo.evaluation.audit import audit
from ingenuo.evaluation.audit.sentences import LANGUAGES, make_sentences
from ingenuo.evaluation.audit.text import TextAudit

TEMPLATES = [f"{{person}} is {word}." for word in ("angry", "glad", "here", "late", "tall", "sad", "old")]
PEOPLE = {"women": ["Anna", "Eva"], "men": ["Tom", "Ben"]}


class Scorer:
    """A model that likes some words, each by so much."""

    def __init__(self, **likes: float) -> None:
        self.likes, self.classes_ = likes, np.array(["bad", "good"])

    def predict_proba(self, texts: list[str]) -> Any:
        scores = [sum(value for word, value in self.likes.items() if word in text.split()) for text in texts]
        return np.column_stack([1 - np.array(scores), scores])

    def predict(self, texts: list[str]) -> Any:
        return self.classes_[(self.predict_proba(texts)[:, 1] > 0.5).astype(int)]


def found(*given: Any, **named: Any) -> TextAudit:
    result = audit(*given, **named)
    assert isinstance(result, TextAudit)
    return result


def films() -> tuple[list[str], list[str]]:
    good = ["tom loved a fine film", "anna saw a fine play", "tom is a fine man", "a glad tom", "eva was glad"]
    bad = ["anna hated a dull film", "anna is angry", "eva saw a dull play", "ben was late", "a sad late film"]
    return good + bad, ["good"] * 5 + ["bad"] * 5


def model(**named: Any) -> Any:
    return ing.NaiveBayes(**named).fit(*films())


def only(result: TextAudit) -> Any:
    (comparison,) = result.comparisons
    return comparison


def test_difference_is_the_mean_over_frames_of_the_means_of_groups() -> None:
    got = only(found(Scorer(Anna=0.4, Eva=0.2, Tom=0.1, Ben=0.3), templates=TEMPLATES, groups=PEOPLE))
    assert got.difference == pytest.approx(0.1)  # (0.4 + 0.2) / 2 - (0.1 + 0.3) / 2
    assert (got.group, got.against, got.frames) == ("women", "men", 7)
    assert got.p_value == 2 / 2**7  # all seven frames have one sign
    assert got.low is None  # and differ by the same


def test_tests_are_those_of_peers() -> None:
    scorer = Scorer(Anna=0.4, Eva=0.2, Tom=0.1, angry=0.2, late=0.05)
    scorer.likes["is"] = 0.0
    rng = np.random.default_rng(1)
    noise = dict(zip([f"{p} {w}" for p in ["Anna", "Eva", "Tom", "Ben"] for w in range(7)], rng.random(28) / 4))

    def predict_proba(texts: list[str]) -> Any:
        words = [template.split()[-1] for template in TEMPLATES]
        p = np.array([noise.get(f"{t.split()[0]} {words.index(t.split()[-1])}", 0.0) for t in texts])
        return np.column_stack([1 - p, p])

    scorer.predict_proba = predict_proba  # type: ignore[method-assign]
    got = only(found(scorer, templates=TEMPLATES, groups=PEOPLE))
    scores = np.array([[noise[f"{p} {w}"] for w in range(7)] for p in ("Anna", "Eva", "Tom", "Ben")])
    women, men = scores[:2].mean(axis=0), scores[2:].mean(axis=0)
    theirs = ttest_rel(women, men)
    interval = theirs.confidence_interval(0.95)
    assert (got.low, got.high) == pytest.approx((interval.low, interval.high))
    own = (scores - scores.mean(axis=0)).mean(axis=1)
    assert got.p_terms == pytest.approx(ttest_ind(own[:2], own[2:], equal_var=False).pvalue)


def test_words_add_up_to_the_difference_of_the_log_odds() -> None:
    got = only(found(model(), templates=TEMPLATES, groups=PEOPLE))
    assert got.log_odds != 0
    assert sum(value for _, value in got.words) == pytest.approx(got.log_odds, abs=1e-9)


def test_what_a_word_carries_is_its_factor_in_the_explanation() -> None:
    fitted = model()
    got = only(found(fitted, templates=TEMPLATES, groups={"women": ["Anna"], "men": ["Ben"]}))
    for word, sign in (("anna", 1), ("ben", -1)):
        (factor,) = [f for f in fitted.explain([f"{word} is"]).factors if f.column == word]
        bad, good = (term.log for term in factor.terms)
        assert dict(got.words)[word] == pytest.approx(sign * (good - bad))


def test_terms_that_were_never_seen_are_named_and_their_groups_are_marked() -> None:
    got = found(model(), templates=TEMPLATES, groups={"women": ["Anna", "Zoë"], "men": ["Xu", "Wanjiru"]})
    assert got.unused == {"Zoë", "Xu", "Wanjiru"}
    assert "does not react to 3 of 4 terms" in got.warnings[0]
    swapped = found(model(), templates=TEMPLATES, groups={"men": ["Xu", "Wanjiru"], "women": ["Anna", "Eva"]})
    assert only(swapped).unused
    assert "men† – women" in str(swapped)


def test_groups_of_one_term_are_warned_of() -> None:
    got = found(model(), templates=TEMPLATES, groups={"women": ["Anna"], "men": ["Tom", "Ben"]})
    assert "Known by one term only" in got.warnings[-1]
    assert "women (group)" in got.warnings[-1]
    assert only(got).p_terms is None


def test_labels_that_are_no_classes_are_said_and_not_counted() -> None:
    table = pd.DataFrame(
        {"template": ["{person} is sad"] * 2, "label": "BAD", "group": ["f", "m"], "term": ["Eva", "Tom"]}
    )
    silent = found(model(), templates=table)
    assert not silent.labelled
    assert "('BAD') are no classes of the model" in " ".join(silent.notes)
    counted = found(model(), templates=table, labels={"BAD": "bad"}, class_="good")
    assert [g.false_positive.n for g in counted.groups] == [1, 1]
    with pytest.raises(InputError, match="'badd' is no class of the model; did you mean 'bad'"):
        audit(model(), templates=table, labels={"BAD": "badd"})


def test_a_model_that_sees_no_difference_says_how_much_it_could_have_missed() -> None:
    got = found(Scorer(angry=0.3, Anna=0.0), templates=TEMPLATES, groups=PEOPLE)
    assert only(got).difference == 0
    assert only(got).p_value == 1
    assert "No difference is significant" in " ".join(got.plain)


def test_of_many_groups_each_is_compared_with_the_others_and_holm_counts_them_all() -> None:
    groups = {name: [name, f"{name}a"] for name in ("Ada", "Bea", "Cia", "Dot", "Eli")}
    got = found(Scorer(Ada=0.5), templates=TEMPLATES, groups=groups)
    assert [c.against for c in got.comparisons] == ["the others"] * 5
    assert got.comparisons[0].difference == pytest.approx(0.25)  # half of Ada's terms are liked, of the others none
    assert got.comparisons[1].difference == pytest.approx(-0.25 / 4)
    assert all(c.adjusted == pytest.approx(5 * 2 / 2**7) for c in got.comparisons)


def test_a_difference_below_what_is_printed_is_no_finding() -> None:
    comparison = only(found(Scorer(Anna=0.5004, Eva=0.5004, Tom=0.5, Ben=0.5), templates=TEMPLATES, groups=PEOPLE))
    assert abs(comparison.difference) == pytest.approx(0.0004)
    assert comparison.adjusted < 0.05
    assert not comparison.significant
    clear = only(found(Scorer(Anna=0.502, Eva=0.502, Tom=0.5, Ben=0.5), templates=TEMPLATES, groups=PEOPLE))
    assert clear.significant


def test_a_group_whose_terms_the_model_does_not_know_is_no_finding_beside_all_others() -> None:
    names = {"a": ["Anna"], "b": ["Tom"], "c": ["Ben"], "d": ["Eva"], "e": ["Ida"], "f": ["Leo"]}
    frames = [*TEMPLATES, *(f"{{person}} was {word}." for word in ("rich", "poor", "young", "well", "ill"))]
    result = found(Scorer(Anna=0.9, Tom=0.1, Ben=0.1, Eva=0.1, Ida=0.1), templates=frames, groups=names)
    assert [c.against for c in result.comparisons] == ["the others"] * 6
    by_group = {c.group: c for c in result.comparisons}
    assert by_group["f"].unused
    assert by_group["f"].adjusted < 0.05
    assert not by_group["f"].significant
    assert by_group["a"].significant
    assert "f† – the others" in str(result)
    assert not [line for line in str(result).splitlines() if "f† –" in line and "*" in line]


def test_the_worst_sentences_are_of_one_frame_and_differ_most() -> None:
    got = found(
        Scorer(Anna=0.4, Eva=0.2, Tom=0.1, angry=0.3), templates=["{person} is angry", *TEMPLATES], groups=PEOPLE
    )
    assert got.worst[0].terms == ("Anna", "Ben")
    assert got.worst[0].difference == pytest.approx(0.4)
    assert got.worst[0].sentence.split()[1:] == got.worst[0].other.split()[1:]


def test_errors_are_counted_where_sentences_have_labels() -> None:
    table = pd.DataFrame(
        {
            "template": ["{person} is glad", "{person} is sad", None, None],
            "label": ["good", "bad", None, None],
            "group": [None, None, "women", "men"],
            "term": [None, None, "Anna", "Tom"],
        }
    )
    got = found(Scorer(Tom=0.6, glad=0.3), templates=table)
    women, men = got.groups
    assert (women.false_positive.value, women.false_negative.value) == (0.0, 1.0)
    assert (men.false_positive.value, men.false_negative.value) == (1.0, 0.0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_our_sentences_are_whole_and_every_kind_has_groups_to_compare(language: str) -> None:
    sentences = make_sentences(language, None)
    assert int(sentences.origin.split()[0]) >= 20
    assert len(set(sentences.texts)) == len(sentences.texts)
    assert not any("{" in text or "}" in text for text in sentences.texts)
    assert all(text[0].isupper() for text in sentences.texts)
    assert {"gender (names)", "gender (nouns)", "origin (names)", "religion", "nationality", "orientation"} <= set(
        sentences.kinds
    )
    assert {"disability", "age", "ethnicity"} <= set(sentences.kinds)
    for kind in sentences.kinds:
        groups = np.array([group or "" for group in sentences.kinds[kind]])
        frames = {group: set(sentences.frames[groups == group]) for group in sentences.groups(kind)}
        assert len(frames) >= 2
        whole = set().union(*frames.values())
        assert all(2 * len(own) >= len(whole) for own in frames.values())  # most frames have every group
    nouns = [group for group in sentences.kinds["gender (nouns)"] if group]
    assert nouns.count("female") == nouns.count("male")
    for origin in sentences.groups("origin (names)"):  # as many women as men, so that origin is not gender
        own = [g for g, o in zip(sentences.kinds["gender (names)"], sentences.kinds["origin (names)"]) if o == origin]
        assert own.count("female") == own.count("male")


def test_forms_agree_with_the_person() -> None:
    texts = make_sentences("italian", None).texts
    assert "Mia sorella è furiosa." in texts
    assert "Mio fratello è furioso." in texts
    assert "Lo studente ebreo è furioso." in texts
    assert "La vicina ebrea è furiosa." in texts
    assert not any("studente lesbica" in text for text in texts)
    assert "La estudiante española está furiosa." in make_sentences("spanish", None).texts


def test_kinds_of_groups_can_be_chosen() -> None:
    assert set(make_sentences("english", ["gender", "age"]).kinds) == {"gender (names)", "gender (nouns)", "age"}
    with pytest.raises(InputError, match="did you mean 'religion'"):
        make_sentences("english", "religions")


def test_templates_of_your_own_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    lines = [
        "template,kind,group,term,o",
        "{Person} è stanc{o}.,genere,donne,mia zia,a",
        "Vedo {person}.,genere,uomini,mio zio,o",
        ",genere,donne,Nan,a",  # a name, and no missing value
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    got = make_sentences(path, None)
    assert got.texts[:3] == ["Mia zia è stanca.", "Mio zio è stanco.", "Nan è stanca."]
    assert got.texts[3:] == ["Vedo mia zia.", "Vedo mio zio.", "Vedo Nan."]
    assert got.groups("genere") == ["donne", "uomini"]


def test_ready_sentences_are_paired_by_their_column() -> None:
    table = pd.DataFrame(
        {
            "sentence": ["she is late", "he is late", "I met her", "I met him"],
            "pair": [1, 1, 2, 2],
            "gender": ["f", "m", "f", "m"],
        }
    )
    got = found(Scorer(she=0.5, her=0.3), templates=table)
    assert only(got).difference == pytest.approx(0.4)
    assert got.sentences.terms == ["she", "he", "her", "him"]


def test_pipelines_of_scikit_learn_and_calibrated_models_are_audited_alike() -> None:
    pipeline = make_pipeline(CountVectorizer(), MultinomialNB()).fit(*films())
    ours, theirs = (only(found(m, templates=TEMPLATES, groups=PEOPLE)) for m in (model(), pipeline))
    assert ours.difference == pytest.approx(theirs.difference)
    assert dict(ours.words) == pytest.approx(dict(theirs.words))


def test_other_columns_are_missing_and_that_is_said() -> None:
    texts, labels = films()
    table = pd.DataFrame({"text": texts, "age": range(10), "job": list("ababababab")})
    fitted = ing.NaiveBayes(columns={"text": "text"}).fit(table, labels)
    got = found(fitted, templates=TEMPLATES, groups=PEOPLE)
    assert "missing are 'age', 'job'" in " ".join(got.notes)
    assert only(got).difference == pytest.approx(only(found(model(), templates=TEMPLATES, groups=PEOPLE)).difference)


def test_words_of_a_lexicon_are_named() -> None:
    words = ing.Words(lexicon={"anna": 1.0, "awful": -1.0})
    got = found(model(text=words), templates=TEMPLATES, groups=PEOPLE)
    assert got.lexicon == ["Anna"]
    assert any(line.startswith("The lexicon: it has entries for Anna") for line in got.plain)


def test_of_three_classes_each_is_asked_about() -> None:
    texts, labels = films()
    fitted = ing.NaiveBayes().fit([*texts, "tom and anna"], [*labels, "neither"])
    got = found(fitted, templates=TEMPLATES, groups=PEOPLE)
    assert {c.class_ for c in got.comparisons} == {"bad", "good", "neither"}
    assert sum(c.difference for c in got.comparisons) == pytest.approx(0, abs=1e-12)
    assert only(found(fitted, templates=TEMPLATES, groups=PEOPLE, class_="bad")).class_ == "bad"


def test_all_that_was_found_is_plain_data_text_html_and_a_picture() -> None:
    got = found(model(), groups=["religion", "gender"])
    data = json.loads(json.dumps(got.to_dict(), allow_nan=False))
    assert len(data["comparisons"]) == len(got.comparisons)
    assert data["plain"] == got.plain
    assert all(line in str(got) for line in got.plain)
    assert "&" not in str(got)
    assert "<table" in got._repr_html_()
    assert "P(good)" in got.plot().get_xlabel()


def test_the_same_seed_gives_the_same_audit() -> None:
    fitted = model()
    assert found(fitted, groups="gender").to_dict() == found(fitted, groups="gender").to_dict()


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        ({"templates": "englsh"}, InputError, "did you mean 'english'"),
        ({"templates": ["{person} is late"]}, InputError, "need people"),
        ({"templates": ["nobody is late"], "groups": PEOPLE}, InputError, "'nobody is late' has no slot"),
        ({"templates": TEMPLATES, "groups": {"women": ["Anna", "Eva"]}}, InputError, "the one group 'women'"),
        ({"templates": TEMPLATES, "groups": {"women": [], "men": ["Tom"]}}, InputError, "'women' has no terms"),
        ({"templates": TEMPLATES, "groups": {"women": [1], "men": ["Tom"]}}, KindError, "must be a list of strings"),
        ({"templates": 7}, KindError, "got int 7"),
        ({"templates": pd.DataFrame({"a": [1]})}, InputError, "columns a, of which no sentences can be made"),
        ({"class_": "goood"}, InputError, "did you mean 'good'"),
        ({"column": "txt"}, InputError, "no text column 'txt'.*'text'"),
        ({"labels": {"x": "good"}}, InputError, "the sentences have none"),
        ({"X": ["a text"], "templates": "english"}, InputError, "X was given"),
        ({"reference": "men"}, InputError, "reference was given, .* beside protected"),
    ],
)
def test_what_makes_no_sentences_is_refused(named: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        audit(model(), **named)


def test_what_is_no_text_classifier_is_refused() -> None:
    with pytest.raises(KindError, match="the class NaiveBayes; fit one first"):
        audit(ing.NaiveBayes)
    with pytest.raises(InputError, match="has no classes; give a fitted classifier"):
        audit(ing.NaiveBayes())
    with pytest.raises(InputError, match="to audit predictions give y and protected"):
        audit(["good", "bad"])
