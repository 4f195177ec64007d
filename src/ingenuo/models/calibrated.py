"""A model that calibrates itself by its own rows, each left out; and what becomes of that when its rows change.

The calibrator is kept as it was learned, with the classes that it is for. What it says of the classes that there are
now follows from that: the slope and the scale of lengths are of all classes; shifts and curves are kept by class; a new
class has neutral ones; of a class that is gone nothing is used, until it comes back.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, StaleCalibrationError
from ingenuo.families import attributes_of
from ingenuo.families.family import LearnedRows
from ingenuo.language import say
from ingenuo.models import calibration
from ingenuo.models.calibration import Calibrator, Choice
from ingenuo.models.classifier import keep_weighted, tally_chunk
from ingenuo.models.left_out import leave_one_out
from ingenuo.models.model import CLASS, Tensors, check_is_fitted
from ingenuo.rows.part import Block, Chunk
from ingenuo.rows.rows import Part, rows_of
from ingenuo.tally.labels import Labels, find, labels_of
from ingenuo.tally.prior import prior_of
from ingenuo.tally.tally import Tally

Floats = NDArray[np.float64]
AUTOMATIC = "auto"


class CalibratesItself:
    """Mix-in of naive Bayes: calibrators by its own rows."""

    calibration: str | None
    calibration_: Choice
    _calibrated: tuple[Calibrator, Labels]  # as it was learned, and for which classes
    _calibrated_as: str | None
    _weigh: Callable[[Chunk], tuple[Tally, Chunk]]

    @property
    def calibrator_(self) -> Calibrator:
        """What `calibration` learned, for the classes that there are now."""
        if "_calibrated" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} was not calibrated, and has no calibrator_")
        model: Any = self
        calibrator, classes = self._calibrated
        places = find(classes, labels_of(model.classes_))
        if len(classes) == len(places) and (places == np.arange(len(places))).all():
            return calibrator
        return calibrator.over(places, _finite(model._parameters().log_prior))

    @property
    def _how_to_calibrate(self) -> str:
        again = "calibrate it again by rows that it has learned: recalibrate(X, y)"
        return again if "_calibrated" in self.__dict__ else ""

    def calibrate_again(self, X: Any, y: Any = None, sample_weight: Any = None, *, learned: bool = True) -> Self:
        """Find by rows, learned or not, what was found by rows left out: `recalibrate`."""
        return self.recalibrate(X, y, sample_weight, learned=learned)

    def recalibrate(self, X: Any, y: Any = None, sample_weight: Any = None, *, learned: bool = True) -> Self:
        """Calibrate again, after `partial_fit`, `merge` or `forget`.

        Parameters
        ----------
        X, y, sample_weight
            Rows to calibrate by: some that the model has learned, or all of them. Each is answered for by the tally
            without it. Rows that were never learned raise wherever the sums show it.
        learned : bool
            False for rows that the model has not learned: those are answered for by the whole tally.
        """
        model: Any = self
        check_is_fitted(model)
        if self.calibration is None:
            raise InputError(
                "the model has calibration=None, so there is nothing to calibrate; set_params(calibration='auto') first"
            )
        model._check_settings()
        model._check_fixed()
        rows = rows_of(X if isinstance(y, str) else model._without_target(X), y, sample_weight).in_memory()
        chunk = model._chunk_of(Part(rows.X, rows.y, rows.weights))
        if learned:
            try:
                _ = model.tally_ - tally_chunk(chunk)
            except ForgetError as error:
                raise InputError(
                    f"the model has not learned these rows ({error}); give rows that it has, or learned=False for rows "
                    "that it has not"
                ).typed_as("learned=False", '"learned": false') from None
            chunk = keep_weighted(chunk, labels_of(model.classes_))
        with model._undo_on_error():
            self._calibrate(chunk, learned)
        return self

    def _calibrate(self, chunk: Chunk, learned: bool = True) -> None:
        """Calibrate by some rows: those that were learned are answered for, and measured, by the tally without them."""
        model: Any = self
        classes = labels_of(model.classes_)
        codes = find(classes, chunk.classes)[chunk.coded]
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            label = chunk.classes.tolist()[chunk.coded[row]]
            raise InputError(f"row {row} is of class {label!r}, which the model has not learned; leave such rows out")
        plain = copy.copy(model)
        plain.calibration = None
        tally, chunk = self._weigh(chunk)
        if learned:
            plain.class_weight = None  # which the tally has
            log_posterior = leave_one_out(plain, model.schema_, chunk, tally, exact=False)
            rows = LearnedRows(model.schema_, tally, keep_weighted(chunk, tally.labels(CLASS, 0)))
            own = attributes_of(model.schema_, prior_of(model.prior))
            lengths = calibration.sum_lengths(each.left_out_lengths(rows) for each in own)
        else:
            log_posterior = plain._posterior(dict(chunk.blocks), chunk.n_rows, log=True)
            lengths = self._lengths(chunk.blocks)
        given = (log_posterior, codes, chunk.weights, lengths, _finite(model._parameters().log_prior))
        self._uncalibrate()
        if self.calibration == AUTOMATIC:
            calibrator, self.calibration_ = calibration.choose(*given)
        else:
            calibrator = calibration.fit(str(self.calibration), *given)
        self._calibrated, self._calibrated_as = (calibrator, classes), self.calibration
        groups = calibrator.groups
        if together := [name for name, group in zip(classes.tolist(), groups) if groups.count(group) > 1]:
            warnings.warn(
                f"too few rows of a class to calibrate it by itself: {', '.join(map(repr, together))} are calibrated "
                "together, as one class",
                stacklevel=5,
            )
        if "calibration_" in self.__dict__ and len(self.calibration_.log_loss) < 2:
            warnings.warn(f"nothing was calibrated: {self.calibration_}", stacklevel=5)

    def _uncalibrate(self) -> None:
        """Drop what was calibrated."""
        for name in ("_calibrated", "_calibrated_as", "calibration_", "_behind"):
            self.__dict__.pop(name, None)

    def _calibrator(self) -> Calibrator:
        """The calibrator that answers are made with."""
        again = "recalibrate(X, y) with rows that it has learned"
        if "_calibrated" not in self.__dict__:
            raise StaleCalibrationError(
                f"the model has calibration={self.calibration!r} and was never calibrated so; call {again}, or "
                "set_params(calibration=None)"
            ).typed_as(
                f"call {again}, or set_params(calibration=None)",
                "update or forget with --calibrate-with FILE, rows it has learned, or train it without --calibrate",
            )
        if self._calibrated_as != self.calibration:
            raise StaleCalibrationError(
                f"the model was calibrated with calibration={self._calibrated_as!r}, and that was changed to "
                f"{self.calibration!r}; call {again}, or set it back"
            )
        return self.calibrator_

    def _describe_calibration(self) -> str:
        """What is done to answers, and how far behind it is."""
        found, behind = self._calibrator().describe(), getattr(self, "calibration_behind_", 0)
        since = say("{how}; {n} rows were learned, forgotten or merged since", how=found, n=f"{behind:,}")
        return since if behind else found

    def _lengths(self, found: Mapping[str, Block]) -> Floats | None:
        """How many known words, and other counts, each row has; None where there are no such columns."""
        model: Any = self
        return calibration.sum_lengths(each.lengths(found) for each in model._parameters().attributes)

    # Files.

    def _pack_calibration(self, values: dict[str, Any], arrays: Tensors) -> None:
        """Put what was calibrated among the values and arrays of a file."""
        if "_calibrated" not in self.__dict__ or self._calibrated_as != self.calibration:
            return
        model: Any = self
        calibrator, classes = self._calibrated
        values["calibrator"] = calibrator.kind
        if not np.array_equal(classes, labels_of(model.classes_)):
            values["calibrated classes"] = classes.tolist()
        if "calibration_" in self.__dict__:
            values["choice"] = asdict(self.calibration_)
        arrays.update({f"calibrator/{name}": each for name, each in calibrator.arrays().items()})

    def _unpack_calibration(self, values: Mapping[str, Any], arrays: Tensors) -> None:
        """Take what a file has; raise for what no calibration is."""
        if "calibrator" not in values:
            return
        model: Any = self
        classes = labels_of(model.classes_)
        if "calibrated classes" in values:
            given = list(values["calibrated classes"])
            classes = labels_of(given)
            if classes.tolist() != given:
                raise InputError("the classes of the calibrator are not sorted, or some are there twice")
        own = {name.removeprefix("calibrator/"): each for name, each in arrays.items() if name.startswith("calibrator")}
        calibrator = calibration.from_arrays(values["calibrator"], own, len(classes))
        self._calibrated, self._calibrated_as = (calibrator, classes), self.calibration
        if "choice" in values:
            self.calibration_ = Choice(**{name: values["choice"][name] for name in Choice.__dataclass_fields__})
        if self.calibration not in (AUTOMATIC, calibrator.kind):
            raise InputError(f"the calibrator is {calibrator.kind!r}, and calibration={self.calibration!r}")


def _finite(log_prior: Floats) -> Floats:
    """Log priors as calibrators take them."""
    return np.asarray(np.nan_to_num(log_prior, neginf=0.0))
