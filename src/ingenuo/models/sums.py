"""Learning and forgetting by sums, and how many rows a calibration is behind them.

Sums follow every row at once. What was found by asking a model about rows that it had not learned (a calibrator, a
temperature, the weights of a vote) does not: it goes on as it is, and the model counts the rows since.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from ingenuo.errors import ForgetError, InputError, StaleCalibrationWarning
from ingenuo.tally.tally import Tally

CLASS = "class"  # the table of the rows of each class


class LearnsSums:
    """Mix-in: a model that sums can be added to, and whose calibration, if it has one, counts the rows it is behind."""

    _behind: int

    def sums_of(self, X: Any, y: Any = None, sample_weight: Any = None) -> Tally:
        """The sums of rows: what `partial_fit` adds, and `forget` takes away. The model stays as it is."""
        raise NotImplementedError

    def add_sums(self, sums: Tally) -> Self:
        """Add what `sums_of` has counted, as `partial_fit` of those rows does."""
        raise NotImplementedError

    def subtract_sums(self, sums: Tally) -> Self:
        """Take away what `sums_of` has counted, as `forget` of those rows does."""
        raise NotImplementedError

    def name_unlearned(self, error: ForgetError, X: Any, y: Any = None, sample_weight: Any = None) -> ForgetError:
        """What is wrong with rows of which the sums cannot be taken away: the error, or one that says more."""
        return error

    def calibrate_again(self, X: Any, y: Any = None, sample_weight: Any = None, *, learned: bool = True) -> Self:
        """Find by rows, learned or not, what was found by rows left out, so that it is no longer behind."""
        how = self._how_to_calibrate or f"a {type(self).__name__} has nothing that is calibrated"
        raise InputError(f"the model cannot be calibrated again by some rows: {how}")

    @property
    def calibration_behind_(self) -> int:
        """How many rows (or how much weight) were learned, forgotten or merged since the model was calibrated."""
        return int(self.__dict__.get("_behind", 0))

    @property
    def _how_to_calibrate(self) -> str:
        """How what was found by rows left out is found again; nothing where nothing was found so."""
        return ""

    def _fall_behind(self, changed: Tally) -> None:
        """Count rows that came or went."""
        if self._how_to_calibrate:
            rows = changed.over(CLASS, changed.labels(CLASS, 0)).floats().sum()
            self._behind = self.calibration_behind_ + math.ceil(rows)

    def _catch_up(self) -> None:
        """Count from here on."""
        self.__dict__.pop("_behind", None)

    def calibration_remark(self) -> StaleCalibrationWarning | None:
        """How far the calibration is behind, and what to do; None where it is not."""
        behind = self.calibration_behind_
        if not behind:
            return None
        return (
            StaleCalibrationWarning(
                f"the calibration is kept, and is {behind:,} row{'s' if behind > 1 else ''} behind what the model has "
                f"learned; {self._how_to_calibrate}"
            )
            .typed_as("recalibrate(X, y)", "update or forget with --calibrate-with FILE")
            .typed_as(
                "find the weights of the vote again by rows that are new to it: reweigh(X, y)",
                "train it again to find the weights of the vote again",
            )
        )

    @contextmanager
    def _warn_behind(self) -> Iterator[None]:
        """Warn, once, of a model that was calibrated and learns, forgets or merges."""
        before = self.calibration_behind_
        yield
        remark = self.calibration_remark()
        if remark is not None and not before:
            warnings.warn(remark, stacklevel=4)
