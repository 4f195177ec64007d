"""What models that merge have besides: `+`, the sums of others who send no model, and dropping what is rare."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from ingenuo.errors import ForgetError, InputError, KindError, MergeError, RefusedError
from ingenuo.estimators.contract import check_is_fitted, clone
from ingenuo.labels import find
from ingenuo.tally import Tally


class Adding:
    """Mix-in: a + b is a copy of a that b is merged into; neither changes."""

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Adding):
            return NotImplemented
        check_is_fitted(self)
        result: Any = clone(self)
        result.__dict__.update({k: v for k, v in self.__dict__.items() if k not in result.__dict__})
        return result.merge(other)

    def merge_tally(self, tally: Tally) -> Self:
        """Add the sums that another model of the same columns has learned, without the model.

        Parameters
        ----------
        tally : Tally
            The `tally_` of the other. It does not say how its columns were read, nor how texts were cut into words:
            that it was done as here is for the one who gives it to know.

        Notes
        -----
        A tally with a table or a column that the model has not raises `MergeError`, and so does one of a model whose
        counts mean nothing without what is kept beside them; the model stays as it was.

        Examples
        --------
        >>> from ingenuo import NaiveBayes
        >>> rome = NaiveBayes().fit([["red"], ["blue"]], ["yes", "no"])
        >>> oslo = NaiveBayes().fit([["red"], ["green"]], ["yes", "maybe"])
        >>> rome.merge_tally(oslo.tally_).classes_.tolist()
        ['maybe', 'no', 'yes']
        """
        check_is_fitted(self)
        if not isinstance(tally, Tally):
            raise KindError(f"what is added must be a Tally, got {type(tally).__name__}; models are merged by merge()")
        model: Any = self
        model._check_form()
        _refuse_unknown_tables(model, tally)
        try:
            other = _with(model, model.tally_ + tally)
        except ForgetError as error:
            raise MergeError(f"the tally can be that of no rows: {error}") from None
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)
        return self

    def drop_rare(self, minimum: int) -> Self:
        """Drop what is known of fewer rows than a minimum count, so that the model may be shown to others.

        Parameters
        ----------
        minimum : int
            As for `Tally.without_rare`, whose notes say what this does not promise. Names of columns stay, and so do
            values and classes that were declared, and the cut points of a network.

        Notes
        -----
        The model answers, learns, merges and is saved as before. Of the rows whose values were dropped not all is
        there any more, so forgetting them raises `ForgetError`. Where no class or no word would be left, where
        `tune` or `calibration` has learned from each row besides, and where the ends of a regressor's bins are
        targets of rows, this raises; the model stays as it was.

        Examples
        --------
        >>> from ingenuo import NaiveBayes
        >>> towns = [["Rome"]] * 6 + [["Oslo"]] * 5 + [["Ur"]]
        >>> model = NaiveBayes().fit(towns, ["ill", "well"] * 6).drop_rare(2)
        >>> print(model.tally_)
        category:0: ill Oslo 3, ill Rome 3, well Oslo 2, well Rome 3
        class: ill 6, well 6
        """
        check_is_fitted(self)
        model: Any = self
        model._check_form()
        refuse_besides(self)
        _refuse_measured(self, "their rare words would stay")
        rest = model.tally_.without_rare(minimum)
        if "class" not in rest:
            raise InputError(f"no class has {minimum} rows, so nothing would be left; take a lower minimum count")
        before = model.tally_.labels("class", 0)
        gone = before[find(rest.labels("class", 0), before) < 0]
        other = copy.copy(model)
        if "_declared_classes" in self.__dict__ and hasattr(self, "classes_"):  # those of a regressor are its bins
            declared = model._declared_classes
            other._declared_classes = declared[find(gone, declared) < 0]
        if len(gone) and hasattr(self, "_check_classes"):
            model._check_classes(rest.labels("class", 0))
        other = _with(other, rest)
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)
        return self


def _with(model: Any, tally: Tally) -> Any:
    """A copy of the model with another tally, which can answer."""
    other = copy.copy(model)
    other._set(model.schema_, tally)
    asked = getattr(other, "_bayes", other)  # a regressor answers by the classifier over its bins
    if hasattr(asked, "_check_tally"):
        asked._check_tally(asked.schema_, tally)
    (asked._reading if hasattr(asked, "_reading") else asked._parameters)()
    return other


def refuse_besides(model: Any) -> None:
    """Raise where a model, fitted or not, keeps something of single rows beside its sums."""
    name = type(model).__name__
    if not isinstance(model, Adding):
        raise KindError(
            f"a {name} is not made of sums by class alone, so a minimum count cannot be kept; of what `ingenuo train` "
            "learns, naive-bayes, network, discriminant, language, language-model and least-squares are"
        )
    if getattr(model, "tune", False) or getattr(model, "calibration", None) is not None:
        raise RefusedError(
            f"what tune and calibration have learned of single rows is not among the sums of a {name}, and would stay; "
            "learn without them, and calibrate afterwards by rows of their own: recalibrate(X, y, learned=False)"
        )
    if isinstance(getattr(model, "bins", None), int | np.integer):
        raise RefusedError(
            f"the bins of this {name} end at targets of single rows, and would stay; give edges of your own: bins=[…]"
        )


def _refuse_measured(model: Any, why: str) -> None:
    for column in model.schema_.references:
        raise RefusedError(
            f"the texts of column {column!r} are of unit length, measured by the words of the first rows: {why}; take "
            "norm=None"
        )


def _refuse_unknown_tables(model: Any, tally: Tally) -> None:
    """Raise where a tally has what the model has not, or what its counts mean may differ."""
    known = model.tally_.canonical()
    for name, table in tally.canonical().items():
        if name not in known:
            raise MergeError(
                f"the tally has a table {name!r}, and the model has none; only a tally of the same columns can be "
                "added, for it does not say what they are: merge the model that it comes from"
            )
        own = known[name]
        if table.names == own.names and table.names[-1] == "column":
            strange = table.axes[-1][find(own.axes[-1], table.axes[-1]) < 0]
            if len(strange):
                raise MergeError(
                    f"the tally has a column {strange.tolist()[0]!r} in {name!r}, and the model has not; merge the "
                    "model that it comes from"
                )
    if getattr(model, "cuts_", None):
        raise MergeError(
            "the numbers of this network are cut, and a tally does not say where its own were; merge the model that it "
            "comes from"
        )
    _refuse_measured(model, "a tally does not say by which it was measured")
