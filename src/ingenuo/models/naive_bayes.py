"""Naive Bayes for tables of any mix: numbers, categories, counts and text in one model.

argmax_k  log π_k + Σ_i log p(x_i | k)

Settings can be tuned, and probabilities calibrated, by what the model says of its own rows, each left out: the tally
gives that without a second fit and without a held-out set. What was tuned and calibrated stays when more is learned;
`calibration_behind_` counts the rows since.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import (
    ForgetError,
    InputError,
    KindError,
    MergeError,
    RefusedError,
    check_choice,
    did_you_mean,
)
from ingenuo.families import TUNED, Attribute, AttributeParameters, attributes_of, density, in_order, in_runs, states
from ingenuo.families.covariance import FULL, SHARED
from ingenuo.families.family import LearnedRows
from ingenuo.families.gaussian import Chosen
from ingenuo.kernels import densities, portable
from ingenuo.language import say
from ingenuo.models import calibration
from ingenuo.models.calibrated import AUTOMATIC, CalibratesItself
from ingenuo.models.class_prior import class_prior_of, share_classes, sheet_class_prior
from ingenuo.models.classifier import Classifier, Parameters, keep_weighted, name_row, tally_chunk
from ingenuo.models.left_out import refuse_alone
from ingenuo.models.model import CLASS, NO_LABELS, State, Tensors, check_is_fitted
from ingenuo.models.tuning import Tuning, tune, unpack
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Chunk
from ingenuo.rows.rows import Part, Rows, rows_of
from ingenuo.rows.schema import AS_IT_COMES, FAMILIES, TEXT_FAMILIES, Schema, category_table, column_name, family_of
from ingenuo.rows.source import Source, place_of, places_of
from ingenuo.show import plots
from ingenuo.show.arithmetic import Explanation, Factor, Term, exponential, logs
from ingenuo.tally.fingerprints import UnlearnedRows, hasher
from ingenuo.tally.histogram import bins_name
from ingenuo.tally.labels import Labels, find, is_missing, labels_of, objects, recognise, shown
from ingenuo.tally.prior import Laplace, MaximumLikelihood, Prior, prior_of
from ingenuo.tally.tally import Tally
from ingenuo.text.words import Words

Floats = NDArray[np.float64]


class NaiveBayes(CalibratesItself, Classifier):
    """Naive Bayes for numbers, categories, counts and text together.

    Parameters
    ----------
    columns : mapping, optional
        Column (name, or position) to kind: "number", "category", "count", "text", "ignore", the name of a family,
        or a list of the categories it can take. Columns that are not named are inferred from the data.
    prior : Prior, str or float
        Imaginary data for the columns: `MaximumLikelihood()`, `Laplace()`, `Lidstone(alpha)`,
        `MEstimate(m, weights)`, `Dirichlet(alphas)`; by name ("laplace", "m-estimate:3"), or the alpha of `Lidstone`.
    class_prior : Prior, mapping or str
        Imaginary rows of each class; or, as a mapping, the probability of each class; "uniform" makes them equal.
    numbers : str or mapping
        How numbers are distributed within a class: by default "gaussian-or-states", a Gaussian, but states where whole
        numbers hold many of the rows; "gaussian" with the variance over n, or "gaussian-unbiased", over n - 1;
        "log-normal", "gamma", "exponential", "poisson", "negative-binomial", and each of these with "-or-zero", beside
        a share of zeros; "histogram"; "kernel"; "mixture" of Gaussians; 5, 10 or 20 bins of equal mass
        ("equal-mass-5", …); "auto", for each column the likeliest. A mapping chooses by column.
        "gaussian-shared" and "gaussian-full" take the columns together, as `GaussianDiscriminant` does.
    counts : {"multinomial", "complement", "bernoulli"} or mapping
        How counts, and the words of texts, are distributed within a class; a mapping chooses by column.
    text : Words or mapping, optional
        Which words of text columns count, and how; a mapping chooses by column. By default `Words()`.
    calibration : {"auto", "temperature", "platt", "isotonic", "none"}, optional
        Repair the probabilities by what the model says of its own rows, each left out; "auto" takes what is worth it.
    tune : bool
        Choose the density and the smoothing of each column, and how much it counts, by the log loss of the rows, each
        left out. Numbers that `numbers` does not name are then of any density.
    fingerprints : bool or str
        Keep a salted hash of 128 bits of every row, by which `forget` knows the rows that were learned: for any other
        it raises `ForgetError` and names it. A text is a salt of your own; models merge where the salts are the same.
    class_weight : mapping or "balanced", optional
        How often each row of a class counts; "balanced" makes all classes count the same. It is applied to the tally,
        so it may be changed at any time.

    Attributes
    ----------
    tally_, schema_, classes_
        All that was learned; what each column is, and why; the classes, sorted.
    densities_, resolution_ : dict
        Of each column of numbers, the density it was given, with the scores of those that were tried; of each whose
        density is estimated from a histogram, the width of its bins.
    attributes_ : tuple of Attribute
        Of each column (or of columns that are taken together) the family, the prior and the weight, 1 unless tuned.
    class_log_prior_, class_count_, n_parameters_, log_likelihood_
        The log prior and the rows of each class; how many numbers were estimated; Σ log P(class, row) of the rows.
    theta_, var_, feature_log_prob_, vocabulary_
        Where the columns have them: means and variances of Gaussians, log P(feature | class) of counts, categories and
        words, and the words of one text.
    tuning_, calibrator_, calibration_
        What `tune` chose, and what it gained; what `calibration` learned, and, of "auto", what was tried.
    calibration_behind_ : int
        How many rows were learned, forgotten or merged since the model was calibrated; `recalibrate` begins again.

    Examples
    --------
    >>> X = [["Sunny", 85], ["Sunny", 80], ["Overcast", 83], ["Rain", 70], ["Rain", 68], ["Rain", 65]]
    >>> y = ["no", "no", "yes", "yes", "yes", "no"]
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict([["Rain", 75]]).tolist()
    ['yes']
    >>> model.forget(X[:1], y[:1]).tally_ == NaiveBayes().fit(X[1:], y[1:]).tally_
    True

    A list of strings is a column of text:

    >>> reviews = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull"]
    >>> NaiveBayes().fit(reviews, ["good", "good", "bad", "bad"]).predict(["such a fine cast"]).tolist()
    ['good']
    """

    tuning_: Tuning
    _fixed = ("columns", "numbers", "counts", "text", "tune", "fingerprints")
    _free = ("prior", "class_prior", "class_weight")

    def __init__(
        self,
        columns: Mapping[Any, Any] | None = None,
        prior: Prior | str | float = Laplace(),  # noqa: B008 (immutable)
        class_prior: Prior | Mapping[Any, float] | str = MaximumLikelihood(),  # noqa: B008 (immutable)
        numbers: str | Mapping[Any, str] = AS_IT_COMES,
        counts: str | Mapping[Any, str] = "multinomial",
        text: Words | Mapping[Any, Words] | None = None,
        calibration: str | None = None,
        tune: bool = False,
        fingerprints: bool | str = False,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> None:
        self.columns = columns
        self.prior = prior
        self.class_prior = class_prior
        self.numbers = numbers
        self.counts = counts
        self.text = text
        self.calibration = calibration
        self.tune = tune
        self.fingerprints = fingerprints
        self.class_weight = class_weight

    def _settings_of(self, name: str, held: Any) -> Any:
        return Words() if name == "text" and held is None else super()._settings_of(name, held)

    @property
    def _is_additive(self) -> bool:
        return not self.tune and self.calibration is None

    def _check_settings(self) -> None:
        checks.check_flag("tune", self.tune)
        if not isinstance(self.fingerprints, bool | np.bool_ | str) or self.fingerprints == "":
            raise KindError(f"fingerprints is True, False or a text to salt with, got {self.fingerprints!r}")
        if self.calibration is not None:
            check_choice("calibration", self.calibration, [AUTOMATIC, *calibration.KINDS])
        prior_of(self.prior)
        class_prior_of(self.class_prior)
        if self.class_weight is not None and not isinstance(self.class_weight, Mapping):
            check_choice("class_weight", self.class_weight, ["balanced"])
        for name, weight in self.class_weight.items() if isinstance(self.class_weight, Mapping) else ():
            checks.check_number(f"class_weight of {name!r}", weight, above=True)
        if self.columns is not None and not isinstance(self.columns, Mapping):
            raise KindError(f"columns must be a mapping from column to kind, got {type(self.columns).__name__}")
        for name, kind in (("numbers", "number"), ("counts", "count")):
            known, given = [each for each, of in FAMILIES.items() if of == kind], getattr(self, name)
            for choice in given.values() if isinstance(given, Mapping) else [given]:
                if choice not in known:
                    check_choice(name, choice, known)
        for words in self.text.values() if isinstance(self.text, Mapping) else [self.text]:
            if not isinstance(words, Words) and (words is not None or isinstance(self.text, Mapping)):
                raise KindError(
                    "text must be Words(...), or a mapping from column to Words(...), "
                    f"got {type(words).__name__} {words!r}"
                )

    def _check_against_data(self) -> None:
        super()._check_against_data()
        self._class_factors(self.tally_, labels_of(self.classes_))
        given, columns = prior_of(self.prior).given, [*zip(self.schema_.names.tolist(), self.schema_.families.tolist())]
        kinds = {name: list(FAMILIES.values())[family] for name, family in columns}
        if not isinstance(given, Mapping) or prior_of(self.prior).columns() or "text" in kinds.values():
            return
        tables = [category_table(name) for name, kind in kinds.items() if kind == "category"]
        known = {value for table in tables for value in self.tally_.labels(table, 1).tolist()}
        known |= {value for labels in self.schema_.categories.values() for value in labels.tolist()}
        if known and given and known.isdisjoint(given):
            first = next(iter(given))
            raise InputError(f"the prior has a value {first!r} that no column has{did_you_mean(first, known)}")

    def _schema_of(self, source: Source) -> Schema:
        names, declared = source.names.tolist(), places_of(self.columns or {}, source)
        numbers = self.numbers if isinstance(self.numbers, str) else AS_IT_COMES
        counts = self.counts if isinstance(self.counts, str) else "multinomial"
        if self.tune and numbers == AS_IT_COMES:
            numbers = TUNED  # of which any density can be made
        why: dict[Any, str] = {}
        uniform = source.uniform()
        if uniform is not None:
            families = [family_of(uniform[0], None, numbers, counts)] * len(names)
            why = dict.fromkeys(names, uniform[1]) if len(names) <= 1000 else {}
        else:
            families = ["ignore"] * len(names)
            for place, name in enumerate(names):
                if place not in declared:
                    kind, why[name] = source.guess(place)
                    families[place] = family_of(kind, name, numbers, counts)
        categories = {}
        for place, given in declared.items():
            name, why[names[place]] = names[place], "declared"
            if isinstance(given, list | tuple | set | frozenset | np.ndarray):
                categories[name] = labels_of(value for value in given if not is_missing(value))
                given = "category"
            families[place] = family_of(given, name, numbers, counts)
        for choice in (self.numbers, self.counts):
            for place, family in places_of(choice, source).items() if isinstance(choice, Mapping) else ():
                name, kind = names[place], FAMILIES[families[place]]
                if kind == "text" and family in TEXT_FAMILIES:
                    families[place] = TEXT_FAMILIES[family]
                    continue
                if place in declared and kind != FAMILIES[family]:
                    raise InputError(
                        f"column {column_name(name)!r} was declared as {kind!r} and cannot be {family!r} as well; "
                        "drop one of the two"
                    )
                families[place], why[name] = family, "declared"
        for name in set(prior_of(self.prior).columns()) - set(names):
            raise InputError(f"the prior has a column {name!r} that the table has not{did_you_mean(name, names)}")
        if all(family == "ignore" for family in families):
            raise InputError("every column is ignored, so there is nothing to learn from; keep one at least")
        texts = self._texts(source, families, declared, TEXT_FAMILIES[counts])
        codes = {family: code for code, family in enumerate(FAMILIES)}
        return Schema(
            source.names, np.fromiter((codes[each] for each in families), np.int8, len(names)), why, categories, texts
        )

    def _declared_columns(self) -> Collection[Any]:
        return {**(self.columns or {}), **(self.text if isinstance(self.text, Mapping) else {})}

    def _texts(
        self, source: Source, families: list[str], declared: Mapping[int, Any], default: str
    ) -> dict[Any, Words]:
        """How the words of each text column are counted; the family of each, where its Words say it, is set."""
        chosen = places_of(self.text, source) if isinstance(self.text, Mapping) else {}
        for place in chosen:
            kind = FAMILIES[families[place]]
            if kind != "text" and place in declared:
                raise InputError(
                    f"column {column_name(source.names[place])!r} was declared as {kind!r} and has Words as well; "
                    "declare it as 'text', or drop its Words"
                )
            if kind != "text":
                families[place] = default
        texts = {}
        for place, name in enumerate(source.names.tolist()):
            if FAMILIES[families[place]] != "text":
                continue
            words = texts[name] = chosen.get(place, self.text if isinstance(self.text, Words) else Words())
            if words.model is not None and declared.get(place) not in TEXT_FAMILIES.values():
                families[place] = TEXT_FAMILIES[words.model]
            if words.weighting == "tfidf" and families[place] == "words-bernoulli":
                raise InputError(
                    f"column {column_name(name)!r}: whether a word is there has no weight, so weighting='tfidf' does "
                    "not go with 'bernoulli'; take weighting='count', or another model"
                )
        if isinstance(self.text, Words) and not texts:
            first = column_name(source.names[0])
            error = InputError(
                "text=Words(...) was given, but no column reads as text; declare which is: "
                f"columns={{{first!r}: 'text'}}"
            )
            raise error.declaring(first, "text").typed_as("text=Words(...) was", "an option of texts was")
        return texts

    # Learning.

    def _learn_first(self, rows: Rows, *, whole: bool = False) -> None:
        """Learn from the first rows; tune and calibrate by them if so set."""
        self.__dict__.pop("tuning_", None)
        if self._is_additive:
            super()._learn_first(rows, whole=whole)
            if whole and any(name.startswith(states.WHOLE) for name in self.tally_):
                self._parameters()  # so that the schema says what its columns were given
            return
        here = rows.in_memory("learn without what needs them all (calibration=None, tune=False)")
        self._forget_all()
        schema, chunk = self._encode_all(here)
        tally = self._tally_chunk(chunk)
        self._check_whole(schema, chunk.classes, tally)
        self._set_tally(schema, tally)
        self._check_against_data()
        self._tune_and_calibrate(chunk)  # by the words that were just counted
        if here.target is not None:
            self._target = here.target

    def _tally_of(self, part: Part) -> Tally:
        return self._tally_chunk(self._chunk_of(part))

    def _tally_chunk(self, chunk: Chunk) -> Tally:
        tally = tally_chunk(chunk)
        return tally + chunk.count_rows(hasher(self.fingerprints)) if self.fingerprints else tally

    def name_unlearned(self, error: ForgetError, X: Any, y: Any = None, sample_weight: Any = None) -> ForgetError:
        """What is wrong with rows of which the sums cannot be taken away: which row it is, where that is known."""
        if not isinstance(error, UnlearnedRows):
            return error
        try:
            rows = rows_of(X, y, sample_weight, self._known_columns(), model=self)
            rows.reduce(name_row, self._make_empty(self.schema_), rows=error.rows, n_rows=error.n_rows)
        except ForgetError as named:
            return named
        except InputError:  # rows that can be read only once
            pass
        return error

    def _check_other(self, other: Self) -> None:
        if bool(self.fingerprints) != bool(other.fingerprints):
            raise MergeError(
                "one model keeps fingerprints of its rows and the other does not, so their sum would know some of its "
                "rows only; learn both with the same fingerprints"
            )

    def _class_factors(self, tally: Tally, classes: Labels) -> Floats:
        """How often the rows of each class count, by `class_weight`."""
        if self.class_weight is None:
            return np.ones(len(classes))
        if isinstance(self.class_weight, str):
            rows = tally.over(CLASS, classes).floats()
            return np.where(rows > 0, rows.sum() / np.maximum((rows > 0).sum() * rows, 1e-300), 1.0)
        names, found = list(self.class_weight), np.ones(len(classes))
        places = recognise(classes, objects(names))
        if len(places) and places.min() < 0:
            name = names[int(np.argmin(places))]
            raise InputError(f"class_weight has a class {name!r} that was not learned{did_you_mean(name, classes)}")
        found[places] = list(self.class_weight.values())
        return found

    def _weigh(self, chunk: Chunk) -> tuple[Tally, Chunk]:
        """The tally, and some of its rows, with the weights of their classes."""
        if self.class_weight is None:
            return self.tally_, chunk
        classes = labels_of(self.classes_)
        factors = self._class_factors(self.tally_, classes)
        own = np.append(factors, 1.0)[find(classes, chunk.classes)][chunk.coded]
        weights = own if chunk.weights is None else own * chunk.weights
        return self.tally_.weigh(classes, factors), replace(chunk, weights=weights)

    def _tune_and_calibrate(self, chunk: Chunk) -> None:
        """Find the settings by the rows that the tally is of."""
        refuse_alone(self.tally_, chunk)
        chunk = keep_weighted(chunk, labels_of(self.classes_))
        if self.tune:
            given = not isinstance(class_prior_of(self.class_prior), Prior)  # what is given is not shifted
            attributes = attributes_of(self.schema_, prior_of(self.prior), to_tune=True)
            learned = LearnedRows(self.schema_, *self._weigh(chunk))
            self.tuning_ = tune(learned, attributes, self.class_prior, shifted=not given)
            self._estimates.parameters = self._estimates.given = None
        if self.calibration is not None:
            self._calibrate(chunk)

    def _declare_classes(self, classes: Labels) -> None:
        if self._is_additive:
            super()._declare_classes(classes)
        elif (find(labels_of(self.classes_), classes) < 0).any():
            raise InputError(
                "classes that have no row yet cannot be calibrated or tuned for; begin with rows of every class, or "
                "leave classes out"
            )

    def _forget_all(self) -> None:
        super()._forget_all()
        self._uncalibrate()

    # Answering.

    def _attributes(self, schema: Schema) -> list[Attribute]:
        """What was tuned, and as they are the columns that came later; without tuning all of them."""
        tuned = self.tuning_.attributes if "tuning_" in self.__dict__ else ()
        known = {name for each in tuned for name in each.columns.tolist()}
        later = [
            each
            for each in attributes_of(schema, prior_of(self.prior), to_tune=self.tune)
            if each.columns.tolist()[0] not in known
        ]
        return in_order([*tuned, *later], schema) if tuned else later

    @property
    def attributes_(self) -> tuple[Attribute, ...]:
        """The attributes whose product the model is, in the table's order."""
        check_is_fitted(self)
        return tuple(self._attributes(self.schema_))

    def _shifts(self, classes: Labels) -> Floats:
        """What is added to the log prior of each class."""
        if "tuning_" not in self.__dict__:
            return np.zeros(len(classes))
        places = find(self.tuning_.classes, classes)
        return np.where(places >= 0, np.append(self.tuning_.shifts, 0.0)[places], 0.0)

    def _estimate(self) -> Parameters:
        classes = labels_of(self.classes_)
        tally = self.tally_
        if self.class_weight is not None:
            tally = tally.weigh(classes, self._class_factors(tally, classes))
        shares, prior = share_classes(self.class_prior, tally.over(CLASS, classes).floats(), classes)
        attributes = [each.estimate(tally, self.schema_, classes) for each in in_runs(self._attributes(self.schema_))]
        for remark in (remark for each in attributes for remark in each.own.remarks):
            warnings.warn(remark, stacklevel=6)
        self._say_why(attributes)
        return Parameters(classes, logs(shares) + self._shifts(classes), {}, prior, attributes)

    def _say_why(self, attributes: Iterable[AttributeParameters]) -> None:
        """Note in the schema which columns of numbers are no Gaussian, and why."""
        given = {name: why for each in attributes for name, why in each.own.reasons.items()}
        why = {name: said.partition("; ")[0] for name, said in self.schema_.why.items()}
        both = {**why, **{name: "; ".join(filter(None, (why.get(name), said))) for name, said in given.items()}}
        if both != self.schema_.why:
            self.schema_ = replace(self.schema_, why=both)

    def _posterior(
        self, found: dict[str, Block], n_rows: int, *, log: bool = False, scores: Floats | None = None
    ) -> Floats:
        if self.calibration is None:
            return super()._posterior(found, n_rows, log=log, scores=scores)
        calibrator = self._calibrator()
        uncalibrated = super()._posterior(found, n_rows, log=True, scores=scores)
        calibrated = calibrator.apply(uncalibrated, self._lengths(found))
        return calibrated if log else portable.exp(calibrated)

    def _predict(self, X: Any) -> NDArray[Any]:
        if self.calibration is None:
            return super()._predict(X)
        found, n_rows = self._rows(X)
        return np.asarray(self.classes_[self._posterior(found, n_rows, log=True).argmax(axis=1)])

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it."""
        return {**super().sheet_scorer(), "calibrate": self.calibration and self._calibrator().sheet()}

    def sheet_sums(self) -> dict[str, Any]:
        """The sums that the answers are estimated from, as a page needs them to take rows away."""
        for name, kept in (("fingerprints", self.fingerprints), ("class_weight", self.class_weight is not None)):
            if kept:
                raise KindError(
                    f"the model has {name}, and a page cannot take rows away from such a one; forget with ingenuo open "
                    "instead"
                )
        classes = labels_of(self.classes_)
        declared = find(self.__dict__.get("_declared_classes", NO_LABELS), classes) >= 0
        columns = (each.sheet_sums(self.tally_, self.schema_, classes) for each in self._attributes(self.schema_))
        return {
            "classes": shown(classes), "declared": declared, "rows": self.tally_.over(CLASS, classes).decimals(),
            "prior": sheet_class_prior(self.class_prior, classes), "shifts": self._shifts(classes),
            "columns": [each for attribute in columns for each in attribute],
        }  # fmt: skip

    def _explain_row(self, row: Any) -> Explanation:
        shown = super()._explain_row(row)
        shifts = self._shifts(shown.classes)
        if shifts.any():
            terms = tuple(Term(f"e^{shift:.4g}", exponential(float(shift)), float(shift)) for shift in shifts)
            shown = replace(shown, factors=(Factor(say("shift"), say("tuned"), terms), *shown.factors))
        if self.calibration is not None:
            logs = shown.joint[np.newaxis].copy()
            densities.posterior(logs, log=True)
            shown = replace(shown, uncalibrated=portable.exp(logs[0]), calibration=self._describe_calibration())
        return shown

    @property
    def densities_(self) -> dict[Any, Chosen]:
        """The density of each column of numbers."""
        check_is_fitted(self)
        return {name: self._density(name).chosen(name) for name in self._numbers()}

    def _density(self, column: Any) -> Any:
        return self._parameters().of(column).own

    @property
    def resolution_(self) -> dict[Any, float]:
        """The bin width of each column that has a histogram: counts add and subtract exactly at it."""
        found = {name: self.tally_.bins(bins_name(name)) for name in self._numbers()}
        return {name: bins.width for name, bins in found.items() if bins is not None}

    def _numbers(self) -> list[Any]:
        """The columns of numbers that have a density of their own."""
        own = [
            at for at, (name, kind) in enumerate(FAMILIES.items()) if kind == "number" and name not in (SHARED, FULL)
        ]
        return list(self.schema_.names[np.isin(self.schema_.families, own)].tolist())

    def plot(self, column: Any = None, ax: Any = None) -> Any:
        """Draw a column: the density of numbers over their histogram, or P(value | class) of categories as bars.

        Parameters
        ----------
        column : str or int, optional
            Its name, or its position; needed where there are several columns of numbers, or none. Columns without names
            are also called 'x0', 'x1', …, as in messages.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
            `ax.figure.savefig(path)` writes the picture.
        """
        check_is_fitted(self)
        name, classes = self._column_to_draw(column), labels_of(self.classes_)
        equal = np.full(len(classes), 1 / len(classes))
        part = next(each for each in self._density(name).evidence(1.0, equal, "") if each.column == name)
        if part.kind == "number":
            return density.draw_densities(self._density(name), part, classes, self.tally_.bins(bins_name(name)), ax)
        most = np.argsort(-part.counts.sum(axis=0), kind="stable")[: plots.VALUES]
        most = np.sort(most) if part.values.dtype.kind in "if" else most
        shown = [str(value) for value in part.values[most].tolist()]
        return plots.bars(shown, part.shares.T[most], classes, "P(value | class)", column_name(name), ax)

    def _column_to_draw(self, column: Any) -> Any:
        """The name of the column of numbers or categories that is meant."""
        numbers, names = self._numbers(), self.schema_.names
        drawn = [*numbers, *self.schema_.columns("categorical").tolist()]
        known = [column_name(name) for name in drawn]
        if column is None:
            if len(numbers) == 1 or len(drawn) == 1:
                return drawn[0]
            shown = ", ".join(map(repr, known[:12])) + (", …" if len(known) > 12 else "")
            what = f"there are {len(known)} columns; say which to draw: {shown}"
            raise InputError(what if known else "there is no column of numbers or of categories to draw")
        place = place_of(column, names)
        if place is None:
            raise InputError(f"column {column!r} is not there{did_you_mean(column, known)}")
        found = names.tolist()[place]
        if found not in drawn:
            family = list(FAMILIES)[int(self.schema_.families[place])]
            together = ", together with others" if family in (SHARED, FULL) else ""
            raise InputError(f"column {column_name(found)!r} is {family}{together}, and has nothing of its own to draw")
        return found

    @property
    def class_count_(self) -> Any:
        """The rows (or their weight) of each class."""
        return self.tally_.over(CLASS, labels_of(self.classes_)).floats()

    @property
    def class_log_prior_(self) -> Any:
        """The log prior of each class."""
        return self._parameters().log_prior

    @property
    def n_parameters_(self) -> int:
        """How many numbers were estimated, as for every classifier; and what `tune` has found: the weight of each
        column, and a shift of each class but one. What `calibration` found is not counted.
        """
        tuned = len(self.tuning_.attributes) + len(self.classes_) - 1 if "tuning_" in self.__dict__ else 0
        return super().n_parameters_ + tuned

    def _evidence(self, kind: str, only: bool = True) -> list[Any]:
        """What each column of a kind adds; the attribute is not there where there is none, or, if so, others."""
        check_is_fitted(self)
        parameters = self._parameters()
        priors = portable.exp(parameters.log_prior)
        every = [item for each in parameters.attributes for item in each.own.evidence(1.0, priors, "")]
        found = [item for item in every if item.kind == kind]
        if not found or (only and len(found) < len(every)):
            raise RefusedError(f"the columns of this model are not all of kind {kind!r}; `inspect` shows what it knows")
        return found

    def _gaussians(self) -> list[Any]:
        found = self._evidence("number", only=False)
        for name in (each.column for each in found):
            if name not in self._numbers() or self._density(name).chosen(name).density != "gaussian":
                raise RefusedError(f"column {column_name(name)!r} has no Gaussian of its own, so no theta_ and var_")
        return found

    @property
    def theta_(self) -> Floats:
        """The mean of each class (rows) and column of numbers, in the table's order; those must have Gaussians."""
        return np.column_stack([each.means for each in self._gaussians()])

    @property
    def var_(self) -> Floats:
        """The variance of each class (rows) and column of numbers, as `theta_`."""
        return np.column_stack([each.deviations**2 for each in self._gaussians()])

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Of one column of text, each word that is used, with its column of `feature_log_prob_`; sorted."""
        return {word: place for place, (word, _) in enumerate(self._words()[1])}

    def _words(self) -> tuple[Any, list[tuple[str, int]]]:
        """The one column of text, and its words with their nodes, sorted."""
        table, *others = self._evidence("text")
        if others:
            raise RefusedError(f"there are {len(others) + 1} columns of text, and a vocabulary is of one")
        nodes = np.flatnonzero(table.used).tolist()
        return table, sorted(zip(table.bag.vocabulary.texts(nodes), nodes))

    @property
    def feature_log_prob_(self) -> Any:
        """log P(feature | class), classes × features: of counts, or of the words of one text (`vocabulary_`); of
        categories a list, with such an array of each column. Complement weights are what their features add.
        """
        check_is_fitted(self)
        kinds = {FAMILIES[each] for each in self.schema_.families_used()}
        if kinds == {"category"}:
            return [each.logs.T for each in self._evidence("category")]
        if kinds == {"count"}:
            (bags,) = self._evidence("count")
            return np.ascontiguousarray(bags.each.T)
        table, words = self._words()
        nodes, own = [node for _, node in words], table.parameters
        if table.model == "bernoulli":
            return np.stack([own.log_shares(k)[nodes] for k in range(len(self.classes_))])
        return np.stack([table.each(k)[nodes] / own.weights[nodes] for k in range(len(self.classes_))])

    # Files.

    def _extra(self) -> State:
        values: dict[str, Any] = {}
        arrays: Tensors = {}
        if "tuning_" in self.__dict__:
            values["tuning"] = self.tuning_.pack()
            arrays["shifts"] = self.tuning_.shifts
        self._pack_calibration(values, arrays)
        return values, arrays

    def _restore(self, schema: Schema, tally: Tally, values: Mapping[str, Any], arrays: Tensors) -> None:
        super()._restore(schema, tally, values, arrays)
        if "tuning" in values:
            self.tuning_ = unpack(schema, values["tuning"], arrays["shifts"])
        self._unpack_calibration(values, arrays)
