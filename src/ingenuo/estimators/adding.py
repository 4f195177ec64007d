"""What models that merge have besides: `+`, and dropping what is rare."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from ingenuo.errors import InputError, KindError, RefusedError
from ingenuo.estimators.contract import check_is_fitted, clone
from ingenuo.labels import find


class Adding:
    """Mix-in: a + b is a copy of a that b is merged into; neither changes."""

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Adding):
            return NotImplemented
        check_is_fitted(self)
        result: Any = clone(self)
        result.__dict__.update({k: v for k, v in self.__dict__.items() if k not in result.__dict__})
        return result.merge(other)

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
        for column in model.schema_.references:
            raise RefusedError(
                f"the texts of column {column!r} are of unit length, measured by the words of the first rows: their "
                "rare words would stay; take norm=None"
            )
        rest = model.tally_.without_rare(minimum)
        if "class" not in rest:
            raise InputError(f"no class has {minimum} rows, so nothing would be left; take a lower minimum count")
        before, left = model.tally_.labels("class", 0), rest.labels("class", 0)
        gone = before[find(left, before) < 0]
        other = copy.copy(model)
        if "_declared_classes" in self.__dict__ and hasattr(self, "classes_"):  # those of a regressor are its bins
            other._declared_classes = model._declared_classes[find(gone, model._declared_classes) < 0]
        if len(gone) and hasattr(self, "_check_classes"):
            model._check_classes(left)
        other._set(model.schema_, rest)
        asked = getattr(other, "_bayes", other)  # a regressor answers by the classifier over its bins
        (asked._reading if hasattr(asked, "_reading") else asked._parameters)()  # which raises where it cannot answer
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)
        return self


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
