"""A bag of fingerprints adds, subtracts and merges like every sum, and knows each row through every door."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.laws.test_doors import COUNTS, DOORS, FRAME, MIXED, _door

import ingenuo as ing
from ingenuo import store
from ingenuo.errors import ForgetError, MergeError, ModelFileError
from ingenuo.rows.rows import rows_of
from ingenuo.tally import fingerprints
from ingenuo.tally.fingerprints import NAME, Fingerprints, canonical_bytes, hasher
from ingenuo.tally.tally import Tally

ordinary = settings(deadline=None, max_examples=40)
ROWS = FRAME[[*MIXED, "paid"]]
pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.25, 1.0, 3.0])), min_size=1)


def bag(drawn: Any, salt: str = "sea") -> Tally:
    """A bag of rows that often repeat, some of which have the same first word."""
    words = np.array([[one, two] for one, two, _ in drawn], np.uint64)
    weights = np.array([weight for *_, weight in drawn])
    return Tally({NAME: Fingerprints.of(hasher(salt).salt, words, weights)})


@ordinary
@given(pairs, pairs)
def test_bags_add_and_subtract(one: Any, two: Any) -> None:
    assert bag(one) + bag(two) == bag(two) + bag(one) == bag([*one, *two])
    assert (bag(one) + bag(two)) - bag(two) == bag(one)
    assert bag(one) - bag(one) == Tally()
    assert bag(one).scale(2) == bag(one) + bag(one)


@ordinary
@given(pairs)
def test_a_bag_holds_the_weight_of_each_row(drawn: Any) -> None:
    wanted: dict[tuple[int, int], float] = {}
    for one, two, weight in drawn:
        wanted[one, two] = wanted.get((one, two), 0.0) + weight
    found: Any = bag(drawn)[NAME]
    assert dict(zip(zip(found.rows.tolist(), found.seconds.tolist()), found.sums.floats().tolist())) == wanted


def test_siphash_gives_what_its_authors_print() -> None:
    key = bytes(range(16))
    for n, wanted in ((1, "3b62a9ba6258f5610f83e264f31497b4"), (2, "6ee2a4ca67b054bbfd3315bf85230577")):
        words = np.frombuffer(bytes(range(8 * n)), "<u8").astype(np.uint64).reshape(n, 1)
        assert b"".join(each.astype("<u8").tobytes() for each in fingerprints._siphash(key, *words)).hex() == wanted


def test_equal_labels_have_equal_bytes_and_others_do_not() -> None:
    assert canonical_bytes(1) == canonical_bytes(1.0) == canonical_bytes(True) == canonical_bytes(np.float32(1))
    assert canonical_bytes(frozenset({"a", "b"})) == canonical_bytes(frozenset({"b", "a"}))
    assert canonical_bytes("1") == canonical_bytes(1)  # a file that spells it
    assert canonical_bytes("True") == canonical_bytes(True)
    others = [1, "01", 1.5, -1, "a", ("a",), ("a", "b"), ("ab",), frozenset({"a"}), "sa", float("inf"), 1e300, None]
    assert len({canonical_bytes(each) for each in others}) == len(others)


@pytest.mark.parametrize("door", DOORS)
def test_a_row_has_one_fingerprint_through_every_door(door: str, tmp_path: Path) -> None:
    frame = ROWS.copy()
    frame.loc[3, "size"] = np.nan
    frame.loc[5, "town"] = None
    model = ing.NaiveBayes(fingerprints=True).fit(frame, "paid")
    found = ing.NaiveBayes(fingerprints=True).fit(_door(door, frame, tmp_path), "paid")
    assert found.tally_ == model.tally_
    assert NAME in found.tally_
    learned = deepcopy(found)
    assert (
        learned.forget(_door(door, frame[30:90], tmp_path), "paid").tally_ == model.forget(frame[30:90], "paid").tally_
    )
    before = learned.tally_
    with pytest.raises(ForgetError, match="never learned"):
        learned.forget(_door(door, frame[60:100], tmp_path), "paid")
    assert learned.tally_ == before


def test_counts_and_numbers_hash_alike_dense_and_sparse_narrow_and_wide() -> None:
    X, y = COUNTS.drop(columns="paid").to_numpy(), COUNTS["paid"].to_numpy()
    kinds = dict.fromkeys(range(3), "count")
    doubled = sparse.csr_array(
        (np.ones(2), np.zeros(2, int), np.array([0, 2, 2])), shape=(2, 3)
    )  # 1 + 1, not canonical
    model = ing.NaiveBayes(kinds, fingerprints=True).fit(X, y)
    for other in (sparse.csr_array(X), X.astype(np.float32), X.astype(int), np.asfortranarray(X)):
        assert ing.NaiveBayes(kinds, fingerprints=True).fit(other, y).tally_ == model.tally_
    one = ing.NaiveBayes(kinds, fingerprints=True).fit(doubled, ["a", "b"])
    assert one.tally_ == ing.NaiveBayes(kinds, fingerprints=True).fit(doubled.toarray(), ["a", "b"]).tally_


def words_of(X: Any, y: Any, **given: Any) -> list[list[int]]:
    """The fingerprints of some rows."""
    model = ing.NaiveBayes(fingerprints=True, **given).fit(X, y)
    return model._chunk_of(next(rows_of(X, y).parts())).hash_rows(hasher(True)).tolist()  # type: ignore[no-any-return]


def test_rows_that_differ_anywhere_have_other_fingerprints() -> None:
    numbers = [0.0, 1.0, -1.0, 2.0, 4.0, np.nan, 5e-324, 1e150, np.nextafter(1.0, 2), 0.1 + 0.2, 0.3]
    X = np.array([[a, b] for a in numbers for b in numbers])
    found = words_of(np.vstack([X, X]), ["a"] * len(X) + ["b"] * len(X))
    assert len({*map(tuple, found)}) == 2 * len(X)
    assert len({one for one, _ in found}) == len({two for _, two in found}) == 2 * len(X)  # each half by itself
    assert words_of([[0.0, 1.0]], ["a"]) == words_of([[-0.0, 1.0]], ["a"])


def test_the_order_of_columns_and_a_column_that_is_all_missing_do_not_matter() -> None:
    model = ing.NaiveBayes(fingerprints=True).fit(ROWS, "paid")
    turned = ROWS[["paid", *reversed(MIXED)]]
    assert model.forget(turned, "paid").tally_ == Tally()


def test_the_same_row_cannot_be_forgotten_more_often_than_it_was_learned() -> None:
    X, y = [["Rain", 75], ["Sun", 81], ["Sun", 81]], ["yes", "no", "no"]
    model = ing.NaiveBayes(fingerprints=True).fit(X, y)
    with pytest.raises(
        ForgetError, match=r"row 1 \(x0 'Sun', x1 81; class 'no'\) was learned 2 times and would be .* 3"
    ):
        model.forget([X[1]] * 3, ["no"] * 3)
    model.forget([X[1]], ["no"], sample_weight=[0.5]).forget([X[1]], ["no"], sample_weight=[1.5])
    with pytest.raises(ForgetError, match=r"row 2 .* never learned"):
        model.forget([X[0], X[1]], ["yes", "no"])


def test_sums_alone_would_have_let_a_row_pass_that_was_never_learned() -> None:
    X, y = [["Rain", "hot"], ["Sun", "cool"]] * 2, ["yes"] * 4
    never = [["Rain", "cool"]], ["yes"]
    ing.NaiveBayes().fit(X, y).forget(*never)
    with pytest.raises(ForgetError, match=r"row 1 \(x0 'Rain', x1 'cool'; class 'yes'\) was never learned"):
        ing.NaiveBayes(fingerprints=True).fit(X, y).forget(*never)


def test_a_file_names_the_row_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    ROWS.to_csv(path, index=False)
    model = ing.NaiveBayes(fingerprints=True).fit(ROWS.drop(index=200), "paid")
    with pytest.raises(ForgetError, match=r"row 201 \(size "):
        model.forget(ing.scan(path, block_size=2000), "paid")


def test_models_merge_where_their_salts_are_the_same() -> None:
    def learn(rows: pd.DataFrame, salt: bool | str) -> ing.NaiveBayes:
        return ing.NaiveBayes(fingerprints=salt).fit(rows, "paid")

    for salt in (True, "our own"):
        assert (learn(ROWS[:100], salt) + learn(ROWS[100:], salt)).tally_ == learn(ROWS, salt).tally_
    with pytest.raises(MergeError, match="different salts"):
        learn(ROWS[:100], True).merge(learn(ROWS[100:], "our own"))
    for one, two in ((True, False), (False, True)):
        with pytest.raises(MergeError, match="one model keeps fingerprints"):
            learn(ROWS[:100], one).merge(learn(ROWS[100:], two))


def test_a_saved_model_knows_its_rows() -> None:
    model = ing.NaiveBayes(fingerprints="our own").fit(ROWS, "paid")
    again = store.from_bytes(store.to_bytes(model))
    assert again.tally_ == model.tally_
    assert again.forget(ROWS[:9], "paid").tally_ == model.forget(ROWS[:9], "paid").tally_
    with pytest.raises(ForgetError, match="row 1 "):
        again.forget(ROWS[:1], "paid")


def test_a_bag_that_no_rows_can_have_made_is_refused() -> None:
    model = ing.NaiveBayes(fingerprints=True).fit(ROWS, "paid")
    good: Any = model.tally_[NAME]
    for bad in (
        Fingerprints(good.salt, good.rows[::-1].copy(), good.seconds, good.sums),
        Fingerprints(good.salt, np.zeros_like(good.rows), np.zeros_like(good.rows), good.sums),
        Fingerprints(good.salt[:3], good.rows, good.seconds, good.sums),
        Fingerprints(good.salt, good.rows[:-1], good.seconds[:-1], good.sums),
    ):
        with pytest.raises(ModelFileError, match="fingerprints"):
            store.from_bytes(store.to_bytes(Tally({**model.tally_, NAME: bad})))


def test_dropping_what_is_rare_drops_the_rows_that_are() -> None:
    X, y = [["Rain"]] * 6 + [["Sun"]] * 5 + [["Fog"]], ["no", "yes"] * 6
    model = ing.NaiveBayes(fingerprints=True).fit(X, y).drop_rare(3)
    assert model.tally_[NAME].sums.floats().tolist() == [3.0, 3.0, 3.0]
    model.forget([["Rain"]], ["no"])
    with pytest.raises(ForgetError, match=r"'Fog'.* never learned"):
        model.forget([["Fog"]], ["yes"])


def test_tuned_and_calibrated_models_keep_fingerprints_too() -> None:
    model = ing.NaiveBayes(tune=True, calibration="temperature", fingerprints=True).fit(
        ROWS.drop(columns="note"), "paid"
    )
    assert model.tally_[NAME].sums.floats().sum() == len(ROWS)
    found = ing.cross_validate(ing.NaiveBayes(fingerprints=True), ROWS, "paid", folds=3)
    assert (
        found.probabilities.tolist()
        == ing.cross_validate(ing.NaiveBayes(), ROWS, "paid", folds=3).probabilities.tolist()
    )


@pytest.mark.parametrize("bad", [1, "", None, ["a"]])
def test_what_is_no_salt_is_refused(bad: Any) -> None:
    with pytest.raises(TypeError, match="fingerprints is True, False or a text"):
        ing.NaiveBayes(fingerprints=bad).fit([[1.0], [2.0]], ["a", "b"])


def test_arrow_dictionaries_hash_by_their_values() -> None:
    plain = pa.table({"town": ["Rome", "Oslo", None], "y": ["a", "b", "b"]})
    coded = plain.set_column(0, "town", plain.column("town").dictionary_encode())
    fit = ing.NaiveBayes(fingerprints=True).fit
    assert fit(plain, "y").tally_ == ing.NaiveBayes(fingerprints=True).fit(coded, "y").tally_
