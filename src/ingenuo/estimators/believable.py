"""What naive Bayes learns about itself: settings tuned, and probabilities repaired, by its own rows left out.

Both come from answers for rows that the model had not learned, which a tally gives without a second fit and without a
held-out set. What is tuned are settings: they stay when more is learned. A calibration is of one tally only: when that
changes, the model says so and does not answer until it is calibrated again.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.calibrate.calibrator import CALIBRATORS, Calibrator, from_arrays
from ingenuo.calibrate.choice import Choice, choose
from ingenuo.calibrate.folds import stratified
from ingenuo.chunk import Block, Chunk, Counts, Texts
from ingenuo.errors import ForgetError, InputError, KindError, StaleCalibrationError, did_you_mean
from ingenuo.estimators.attribute_scores import Scorer
from ingenuo.estimators.base import CLASS, Parameters, TallyClassifier, tally_chunk, weighed
from ingenuo.estimators.contract import check_is_fitted
from ingenuo.estimators.leave_one_out import leave_one_out, log_priors, refuse_alone
from ingenuo.estimators.out_of_fold import ChunkRows, out_of_fold
from ingenuo.estimators.rows import Part, Rows, rows_of
from ingenuo.estimators.tuning import Tuning, plain, tune, unpacked
from ingenuo.explanation.arithmetic import Explanation
from ingenuo.families import FAMILY
from ingenuo.families.attributes import Attribute
from ingenuo.families.family import Factor, Term, exponential
from ingenuo.families.left_out.scores import is_quick
from ingenuo.families.word_parameters import known_words
from ingenuo.kernels import densities, portable
from ingenuo.kernels.threads import single_blas
from ingenuo.labels import find, labels_of
from ingenuo.prior import Prior
from ingenuo.schema import FAMILIES, Schema
from ingenuo.tally import Tally

Floats = NDArray[np.float64]

AUTOMATIC = "auto"
_FOLDS = 10


class Believable(TallyClassifier):
    """A classifier with a tally that can be tuned and calibrated by its own rows."""

    prior: Prior
    class_prior: Any
    calibration: str | None
    tune: bool
    tuning_: Tuning
    calibrator_: Calibrator
    calibration_: Choice
    _calibrated_as: str | None

    @property
    def _is_additive(self) -> bool:
        return not self.tune and self.calibration is None

    def _check_settings(self) -> None:
        if not isinstance(self.tune, bool | np.bool_):
            raise KindError(f"tune must be True or False, got {type(self.tune).__name__} {self.tune!r}")
        known = [AUTOMATIC, *CALIBRATORS]
        if self.calibration is not None and self.calibration not in known:
            if not isinstance(self.calibration, str):
                raise KindError(
                    f"calibration must be None or one of {', '.join(known)}, got {type(self.calibration).__name__} "
                    f"{self.calibration!r}"
                )
            raise InputError(f"calibration={self.calibration!r} is not known{did_you_mean(self.calibration, known)}")

    # Learning.

    def _learn(self, rows: Rows) -> None:
        """Learn all there is to know; tune and calibrate if so set."""
        if self._is_additive:
            super()._learn(rows)
            self._unsettled()
            return
        for name in ("tally_", "schema_", "_declared_classes"):
            self.__dict__.pop(name, None)
        here = rows.in_memory("learn without what needs them all (calibration=None, tune=False)")
        schema, chunk = self._whole(here)
        tally = tally_chunk(chunk)
        self._check_whole(schema, chunk.classes, tally)
        self._settle(schema, tally, chunk)
        self._note_target(here)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; new classes and categories are welcome, and need not be announced.

        The first rows are those a model is tuned and calibrated by. What was tuned stays; a calibration has to be done
        again, by `recalibrate`, before the model answers.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array-like, optional
            Classes that will come, for `classes_` to hold from the start.
        """
        if self._fitted or self._is_additive:
            return super().partial_fit(X, y, classes, sample_weight)
        other = copy.copy(self).fit(X, y, sample_weight)
        if classes is not None:
            announced = type(self)(**self.get_params(deep=False))
            announced.set_params(tune=False, calibration=None)
            declared = announced.partial_fit(X, y, classes, sample_weight)._declared_classes
            if len(declared) > len(other.classes_):
                raise InputError(
                    "classes that have no row yet cannot be calibrated or tuned for; begin with rows of every class, "
                    "or leave classes out"
                )
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)
        return self

    def _settle(self, schema: Schema, tally: Tally, chunk: Chunk) -> None:
        self._unsettled()
        self._set(schema, tally)
        refuse_alone(tally, chunk)
        chunk = weighed(chunk, labels_of(self.classes_))
        if self.tune:
            given = isinstance(self.class_prior, Mapping)  # probabilities that are given are not shifted
            self.tuning_ = tune(schema, tally, chunk, self.prior, self.class_prior, shifted=not given)
            self._estimates.parameters = None
        if self.calibration is not None:
            self._calibrate(self._left_out(chunk), chunk, self._known_words(chunk))

    def _unsettled(self) -> None:
        for name in ("tuning_", "calibrator_", "calibration_"):
            self.__dict__.pop(name, None)

    def _set(self, schema: Schema, tally: Tally) -> None:
        super()._set(schema, tally)
        for name in ("calibrator_", "calibration_"):  # which are of another tally
            self.__dict__.pop(name, None)

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
        check_is_fitted(self)
        if self.calibration is None:
            raise InputError(
                "the model has calibration=None, so there is nothing to calibrate; set_params(calibration='auto') first"
            )
        other = copy.copy(self)
        other._check_settings()
        other._check_form()
        rows = rows_of(X if isinstance(y, str) else self._without_target(X), y, sample_weight).in_memory()
        chunk = other._chunk_of(Part(rows.X, rows.y, rows.weights))
        if learned:
            try:
                _ = other.tally_ - tally_chunk(chunk)
            except ForgetError as error:
                raise InputError(
                    f"the model has not learned these rows ({error}); give rows that it has, or learned=False for rows "
                    "that it has not"
                ) from None
            chunk = weighed(chunk, labels_of(other.classes_))
            logs = other._left_out(chunk)
        else:
            logs = other._uncalibrated()._posterior(dict(chunk.blocks), chunk.n_rows, log=True)
        other._calibrate(logs, chunk, other._known_words(chunk) if learned else other._lengths(dict(chunk.blocks)))
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)
        return self

    def _calibrate(self, log_posterior: Floats, chunk: Chunk, lengths: Floats | None) -> None:
        codes = find(labels_of(self.classes_), chunk.classes)[chunk.coded]
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            label = chunk.classes.tolist()[chunk.coded[row]]
            raise InputError(f"row {row} is of class {label!r}, which the model has not learned; leave such rows out")
        prior = np.nan_to_num(self._parameters().log_prior, neginf=0.0)
        names = tuple(CALIBRATORS) if self.calibration == AUTOMATIC else (str(self.calibration),)
        if self.calibration == AUTOMATIC:
            calibrator, self.calibration_ = choose(log_posterior, codes, chunk.weights, lengths, prior, names)
        else:
            with single_blas():
                calibrator = CALIBRATORS[names[0]].fit(log_posterior, codes, chunk.weights, lengths, prior)
            self.__dict__.pop("calibration_", None)
        self.calibrator_, self._calibrated_as = calibrator, self.calibration

    def _uncalibrated(self) -> Any:
        """The same model, whose answers are as the tally gives them."""
        other = copy.copy(self)
        other.calibration = None
        return other

    def _left_out(self, chunk: Chunk) -> Floats:
        """The log posterior of rows that were learned, each (or each fold) by the tally without it."""
        bare = self._uncalibrated()
        classes = labels_of(self.classes_)
        if "tuning_" in self.__dict__:
            seen = self.tally_.labels(CLASS, 0)
            joint = log_priors(self.class_prior, self.tally_, seen, weighed(chunk, seen)) + self._shifts(seen)
            scorer = Scorer(self.schema_, self.tally_, weighed(chunk, seen), seen)
            for attribute in self._attributes():
                if attribute.weight:
                    joint += scorer.weighted(attribute)
            odd = densities.posterior(joint, log=True)
            joint[odd] = -portable.log(len(seen))
            return _spread(joint, find(seen, classes))
        families = self.schema_.families_used()
        if all(is_quick(name, self.prior, self.schema_, self.schema_.columns(name)) for name in families):
            return leave_one_out(bare, self.schema_, weighed(chunk, classes), self.tally_)
        fold = stratified(chunk.coded, _FOLDS, 0)
        tests = [np.flatnonzero(fold == f) for f in range(min(_FOLDS, chunk.n_rows))]
        rows = ChunkRows(bare, self.schema_, weighed(chunk, classes))
        logs = np.empty((chunk.n_rows, len(classes)))
        base = self.tally_ if rows.divisible else None
        for answer in out_of_fold(rows, [(None, test) for test in tests], base):
            logs[answer.rows] = answer.log_posterior
        return logs

    # Answering.

    def _attributes(self) -> list[Attribute]:
        """What was tuned, and as they are the columns that came later."""
        tuned = list(self.tuning_.attributes)
        known = {name for each in tuned for name in each.names.tolist()}
        tuned += [each for each in plain(self.schema_, self.prior) if each.names[0] not in known]
        places = {name: place for place, name in enumerate(self.schema_.names.tolist())}
        return sorted(tuned, key=lambda each: places[each.names[0]])

    def _shifts(self, classes: Any) -> Floats:
        places = find(self.tuning_.classes, classes)
        return np.where(places >= 0, np.append(self.tuning_.shifts, 0.0)[places], 0.0)

    def _tuned(self, untuned: Parameters) -> Parameters:
        """The parameters of each attribute, by its place, and the priors shifted."""
        if "tuning_" not in self.__dict__:
            return untuned
        classes = untuned.classes
        attributes = self._attributes()
        found: dict[str, Any] = {"attributes": attributes}
        for place, attribute in enumerate(attributes):
            found[str(place)] = attribute.estimate(self.tally_, self.schema_, classes)
        shifts = self._shifts(classes)
        return Parameters(classes, untuned.log_prior + shifts, found, untuned.prior)

    def _joint(self, found: dict[str, Block], n_rows: int, floor: float | None = None) -> Floats:
        if "tuning_" not in self.__dict__:
            return super()._joint(found, n_rows, floor)
        parameters = self._parameters()
        log_prior = parameters.log_prior if floor is None else np.maximum(parameters.log_prior, floor)
        joint = densities.repeated(log_prior, n_rows)
        for place, attribute in enumerate(parameters.families["attributes"]):
            attribute.add(parameters.families[str(place)], attribute.block(found[attribute.home]), joint, floor)
        return joint

    def _posterior(
        self, found: dict[str, Block], n_rows: int, *, log: bool = False, scores: Floats | None = None
    ) -> Floats:
        if self.calibration is None:
            return super()._posterior(found, n_rows, log=log, scores=scores)
        calibrator = self._calibrator()
        uncalibrated = super()._posterior(found, n_rows, log=True, scores=scores)
        calibrated = calibrator.apply(uncalibrated, self._lengths(found))
        return calibrated if log else portable.exp(calibrated)

    def _calibrator(self) -> Calibrator:
        if "calibrator_" in self.__dict__ and self._calibrated_as != self.calibration:
            raise StaleCalibrationError(
                f"the model was calibrated with calibration={self._calibrated_as!r}, and that was changed to "
                f"{self.calibration!r}; call recalibrate(X, y) with rows that it has learned, or set it back"
            )
        if "calibrator_" not in self.__dict__:
            raise StaleCalibrationError(
                "the model has learned, merged or forgotten since it was calibrated, so its probabilities are those of "
                "another tally; call recalibrate(X, y) with rows that it has learned, or set_params(calibration=None)"
            )
        return self.calibrator_

    def _predict(self, X: Any) -> NDArray[Any]:
        if self.calibration is None:
            return super()._predict(X)
        found, n_rows = self._rows(X)
        return np.asarray(self.classes_[self._posterior(found, n_rows, log=True).argmax(axis=1)])

    def _text_parameters(self) -> list[tuple[str, int, Any]]:
        """Where the parameters of each text column are: its family, its place there, and they."""
        parameters = self._parameters().families
        if "tuning_" not in self.__dict__:
            return [
                (name, j, own)
                for name in self.schema_.families_used()
                if name.startswith("words")
                for j, own in enumerate(parameters[name])
            ]
        found = []
        for place, attribute in enumerate(parameters["attributes"]):
            if attribute.home.startswith("words"):  # of any weight: the calibrator was fitted by the length of all
                columns = self.schema_.columns(attribute.home).tolist()
                found.append((attribute.home, columns.index(attribute.names[0]), parameters[str(place)][0]))
        return found

    def _lengths(self, found: dict[str, Block]) -> Floats | None:
        """How many known words, and other counts, each row has; None where there are no such columns."""
        lengths: Floats | None = None
        for name, j, own in self._text_parameters():
            block = found[name]
            assert isinstance(block, Texts)
            words = known_words(own, block.columns[j], block.n_rows)
            lengths = words if lengths is None else lengths + words
        for block in found.values():
            if isinstance(block, Counts):
                counts = np.asarray(block.matrix.sum(axis=1), np.float64).ravel()
                lengths = counts if lengths is None else lengths + counts
        return lengths

    def _known_words(self, chunk: Chunk) -> Floats | None:
        """The lengths of rows that were learned: words that no other row has are not known without it."""
        if not any(isinstance(block, Texts | Counts) for block in chunk.blocks.values()):
            return None
        seen = self.tally_.labels(CLASS, 0)
        scorer = Scorer(self.schema_, self.tally_, weighed(chunk, seen), seen)
        bags = [each for each in plain(self.schema_, self.prior) if FAMILIES[each.home] in ("text", "count")]
        return np.asarray(sum(scorer.lengths(each) for each in bags))

    def explain(self, row: Any) -> Explanation:
        """The arithmetic of one row's prediction.

        Parameters
        ----------
        row : mapping, sequence, or table of one row
            What a mapping leaves out is missing.
        """
        shown = super().explain(row)
        if "tuning_" in self.__dict__:
            shifts = self._shifts(shown.classes)
            if shifts.any():
                terms = tuple(Term(f"e^{shift:.4g}", exponential(float(shift)), float(shift)) for shift in shifts)
                shown = replace(shown, factors=(Factor("shift", "tuned", terms), *shown.factors))
        if self.calibration is not None:
            logs = shown.joint[np.newaxis].copy()
            densities.posterior(logs, log=True)
            shown = replace(shown, uncalibrated=portable.exp(logs[0]), calibration=self._calibrator().describe())
        return shown

    def _factors(self, found: dict[str, Block]) -> list[Factor]:
        if "tuning_" not in self.__dict__:
            return super()._factors(found)
        parameters = self._parameters().families
        factors: list[Factor] = []
        for place, attribute in enumerate(parameters["attributes"]):
            factors += attribute.factors(parameters[str(place)], attribute.block(found[attribute.home]))
        return factors

    def _parameters_with(self, column: object) -> Any:
        """The parameters of the attribute that has a column."""
        parameters = self._parameters().families
        place = next(i for i, each in enumerate(parameters["attributes"]) if column in each.names.tolist())
        return parameters[str(place)]

    def _words_of(self, family: str) -> Any:
        if "tuning_" not in self.__dict__:
            return super()._words_of(family)
        return tuple(self._parameters_with(column)[0] for column in self.schema_.columns(family).tolist())

    def _values(self, drawn: NDArray[np.intp], rng: np.random.Generator) -> dict[Any, NDArray[Any]]:
        if "tuning_" not in self.__dict__:
            return super()._values(drawn, rng)
        parameters, values = self._parameters().families, {}
        for place, attribute in enumerate(parameters["attributes"]):
            values.update(FAMILY[attribute.family].sample(parameters[str(place)], drawn, rng))
        return values

    # Files.

    def _besides(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What is not in the tally: plain values and arrays."""
        values: dict[str, Any] = {}
        arrays: dict[str, NDArray[Any]] = {}
        if "tuning_" in self.__dict__:
            values["tuning"] = self.tuning_.packed()
            arrays["shifts"] = self.tuning_.shifts
        if "calibrator_" in self.__dict__ and self._calibrated_as == self.calibration:
            values["calibrator"] = self.calibrator_.kind
            if "calibration_" in self.__dict__:
                values["choice"] = asdict(self.calibration_)
            arrays.update({f"calibrator/{name}": each for name, each in self.calibrator_.arrays().items()})
        return values, arrays

    def _restore(self, schema: Schema, tally: Tally, values: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Set what `_besides` gave."""
        self._set(schema, tally)
        if "tuning" in values:
            self.tuning_ = unpacked(schema, values["tuning"], arrays["shifts"])
        if "calibrator" in values:
            own = {name.removeprefix("calibrator/"): each for name, each in arrays.items() if name != "shifts"}
            self.calibrator_ = from_arrays(values["calibrator"], own, len(self.classes_))
            self._calibrated_as = self.calibration
            if "choice" in values:
                self.calibration_ = Choice(**values["choice"])
            if self.calibration not in (AUTOMATIC, self.calibrator_.kind):
                raise InputError(f"the calibrator is {self.calibrator_.kind!r}, and calibration={self.calibration!r}")
        if CLASS in tally:
            self._check_against_data()


def _spread(log_posterior: Floats, places: NDArray[Any]) -> Floats:
    """Columns at these places; -inf where there is none."""
    found = np.full((len(log_posterior), len(places)), -np.inf)
    found[:, places >= 0] = log_posterior[:, places[places >= 0]]
    return found
