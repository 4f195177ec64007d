"""What every classifier shares: it learns a tally, and compares the log joints of its classes for each row.

Nothing is estimated while learning. Parameters derive from the tally when they are first needed, and again whenever
the tally or a prior has changed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, RefusedError
from ingenuo.families import FAMILY, Attribute, AttributeParameters
from ingenuo.families.covariance import FULL, SHARED, refuse_incomplete
from ingenuo.families.family import IMPOSSIBLE
from ingenuo.families.gaussian import COUNT
from ingenuo.families.word_features import measured_texts, reference_sums, references_of, refuse_empty
from ingenuo.families.words import with_columns
from ingenuo.kernels import densities, moments
from ingenuo.language import say
from ingenuo.models.class_prior import class_prior_of, draw_classes, read_shares, share_classes
from ingenuo.models.folds import Member
from ingenuo.models.model import CLASS, NO_LABELS, ClassifierBase, Learner, Plan, check_is_fitted
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Chunk, Texts
from ingenuo.rows.rows import EVERYTHING, MemoryRows, Part, Rows, rows_of
from ingenuo.rows.schema import FAMILIES, Schema, category_table, column_name
from ingenuo.rows.source import Source, blocks, match
from ingenuo.show.arithmetic import Explanation, Factor, Passage, Term, explain_rows
from ingenuo.show.page import OnAPage
from ingenuo.show.table import STYLE, PrintedTable
from ingenuo.tally.exact import Exact
from ingenuo.tally.fingerprints import hasher, unlearned
from ingenuo.tally.histogram import bins_name
from ingenuo.tally.labels import Labels, find, labels_of, public, same, unite
from ingenuo.tally.prior import MaximumLikelihood, Prior
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]
_MOST = 12  # classes and columns that a summary lists


@dataclass(eq=False)
class Parameters:
    """What the tally and the priors give: the log prior of each class, and the parameters of each attribute.

    Models that are no product of attributes have other `families`.
    """

    classes: Labels
    log_prior: Floats
    families: dict[str, Any]
    prior: tuple[Term, ...]
    attributes: Sequence[AttributeParameters] = ()

    @classmethod
    def of_one(
        cls, classes: Labels, log_prior: Floats, prior: tuple[Term, ...], columns: Labels, family: str, own: Any
    ) -> Self:
        """Of all the columns in one family, which were estimated already."""
        attribute = Attribute(columns, family, family, MaximumLikelihood())
        return cls(classes, log_prior, {}, prior, [AttributeParameters(attribute, own, 0, len(columns))])

    @property
    def own(self) -> Any:
        """The parameters of the one family that all columns have."""
        (found,) = self.attributes
        return found.own

    @property
    def n_parameters(self) -> int:
        """How many numbers were estimated of the attributes."""
        return sum(each.own.n_parameters for each in self.attributes)

    def of(self, column: object) -> AttributeParameters:
        """The parameters of the attribute that has a column."""
        return next(each for each in self.attributes if column in each.attribute.columns.tolist())


class Answering:
    """Mix-in: the answers of a classifier to rows wherever they lie; a class brings them for rows in memory."""

    def predict(self, X: Any) -> Any:
        """The most probable class of each row.

        Of a Dask or Spark frame the answer is such a frame, not yet computed: its columns, `predicted`, `probability`,
        and `P(…)` of each class.
        """
        return answer(self, X, "predict")

    def predict_proba(self, X: Any) -> Any:
        """The posterior of each class, for each row; rows sum to 1.

        Of a Dask or Spark frame the answer is such a frame, not yet computed: its columns, and `P(…)` of each class.
        """
        return answer(self, X, "predict_proba")

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of the posterior of each class."""
        return answer(self, X, "predict_log_proba")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted correctly; y and weights as for `fit`."""
        check_is_fitted(self)
        found = rows_of(X, y, sample_weight, EVERYTHING, model=self).reduce(tally_correct, self)
        correct, rows = found.over("accuracy", np.arange(2)).fractions()  # type: ignore[misc, union-attr]
        if not rows:
            raise InputError("the rows to score by have no weight; give some that count")
        return float(correct / rows)


class Explains:
    """Mix-in: the arithmetic behind answers; a class brings that of one row, `_explain_row`."""

    _explain_row: Callable[[Any], Any]

    def explain(self, row: Any, *, form: str = "product", language: str = "en") -> Any:
        """The arithmetic of a row's prediction, or of those of many rows.

        Parameters
        ----------
        row : mapping, sequence, text, or table
            What a mapping leaves out is missing. Of a table (or a list) of several rows there are as many explanations,
            in a list that shows itself; each is worked out when it is asked for.
        form : {"product", "log"}
            Whether the factors are multiplied, or their logarithms added.
        language : {"en", "it", "es"}
            Of what is printed; the names of columns, values and classes stay as they are.
        """
        check_is_fitted(self)
        schema: Schema | None = getattr(self, "schema_", None)
        texts = schema is not None and len(schema) == 1 == len(schema.texts)
        return explain_rows(self._explain_row, row, form, language, texts=texts)


def answer(model: Any, X: Any, method: str) -> Any:
    """What a method of a model answers to rows wherever they lie."""
    check_is_fitted(model)
    return rows_of(X, labelled=False, model=model).answer(model, method)


def tally_correct(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """The weight of the rows whose class is predicted correctly, and of all."""
    codes, classes = checks.labels(model, part.y, checks.count_rows(part.X))
    checks.check_label_types(classes, labels_of(model.classes_))
    weights = checks.weights(part.weights, len(codes))
    correct = np.asarray(model._predict(part.X) == public(classes)[codes], np.int64)
    if weights is None:
        sums = Exact.counts(np.array([correct.sum(), len(codes)]))
    else:
        cells = np.concatenate([correct - 1, np.ones_like(correct)])  # 0: correct; 1: all; -1: neither
        sums = moments.weights_by_cell(np.tile(weights, 2), cells, 2)
    return Tally({"accuracy": Table.of({"rows": np.arange(2)}, sums)})


class TableModel:
    """Mix-in: what a notebook shows, and scikit-learn knows, of a model of tables."""

    def _repr_mimebundle_(self, **given: Any) -> dict[str, str]:
        """What a notebook asks for first: scikit-learn's has no room for what was learned."""
        from sklearn import get_config

        shown = {"text/html": self._repr_html_inner()} if get_config()["display"] == "diagram" else {}
        return {"text/plain": repr(self), **shown}

    def _repr_html_inner(self) -> str:
        model: Any = self
        shell: str = super()._repr_html_inner()  # type: ignore[misc]
        if not model.__sklearn_is_fitted__() or CLASS not in model.tally_:
            return shell
        classes = unite(self.__dict__.get("_declared_classes", NO_LABELS), model.tally_.labels(CLASS, 0))
        return summary_html(model.tally_, model.schema_, classes) + shell

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


class JointAnswers(TableModel, Explains, Answering, Member, OnAPage, ClassifierBase):
    """Mix-in: a classifier that compares the log joints (or logits) of its classes for each row."""

    schema_: Schema
    classes_: NDArray[Any]
    _target: str  # the column that was learned as the label, if there was one

    def _source(self, X: Any, *, reset: bool) -> Source:
        """The rows of X, checked; with reset, their columns are noted."""
        return checks.table(self, X, reset=reset)

    def _blocks(self, source: Source, schema: Schema) -> dict[str, Block]:
        """The block of each family."""
        return blocks(source, schema, match(schema, source))

    def _rows(self, X: Any) -> tuple[dict[str, Block], int]:
        check_is_fitted(self)
        source = self._source(self._without_target(X), reset=False)
        return self._blocks(source, self.schema_), source.n_rows

    def _without_target(self, X: Any) -> Any:
        return checks.without_target(X, self.__dict__.get("_target"), self.schema_)

    def _joint(self, found: dict[str, Block], n_rows: int, floor: float | None = None) -> Floats:
        """What the classes are compared by, rows × classes; the floor, if there is one, stands in for log 0."""
        raise NotImplementedError

    def _scores(self, found: dict[str, Block], n_rows: int) -> Floats:
        """What classes are compared by: log joints, but for a term that all classes of a row have in common."""
        return self._joint(found, n_rows)

    def _floored_joint(self, found: dict[str, Block], n_rows: int, odd: NDArray[np.intp]) -> Floats:
        """Finite log joints for the rows that no class allows, or that are beyond the doubles."""
        joint = self._joint(found, n_rows, IMPOSSIBLE)[odd]
        return np.nan_to_num(joint, nan=-densities.FARTHEST).clip(-densities.FARTHEST, densities.FARTHEST)

    def _posterior(
        self, found: dict[str, Block], n_rows: int, *, log: bool = False, scores: Floats | None = None
    ) -> Floats:
        """The posterior of each row; scores that are there already are written over."""
        posterior = self._scores(found, n_rows) if scores is None else scores
        odd = densities.posterior(posterior, log=log)
        if len(odd):
            rows = self._floored_joint(found, n_rows, odd)
            densities.posterior(rows, log=log)
            posterior[odd] = rows
        return posterior

    def _predict_log_proba(self, X: Any) -> Floats:
        return self._posterior(*self._rows(X), log=True)

    def _predict_proba(self, X: Any) -> Floats:
        return self._posterior(*self._rows(X))

    def _predict(self, X: Any) -> NDArray[Any]:
        found, n_rows = self._rows(X)
        best, odd = densities.best(self._scores(found, n_rows))
        if len(odd):
            best[odd] = self._floored_joint(found, n_rows, odd).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def answer_row(self, row: Any) -> tuple[Floats | None, Floats]:
        """The log joint of one row, where there is one, and the posterior: what `predict_proba` says."""
        found = self._open_row(row)
        return self._joint(found, 1)[0], self._posterior(found, 1)[0]

    def sheet_schema(self) -> tuple[Schema, list[Any], Floats]:
        """What a sheet says of the columns, the classes, and the shares of these."""
        classes = labels_of(self.classes_)
        tally: Tally = getattr(self, "tally_", Tally())
        rows = tally.over(CLASS, classes).floats() if CLASS in tally else np.ones(len(classes))
        return self.schema_, list(classes.tolist()), rows / max(float(rows.sum()), 1e-300)

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it."""
        raise InputError(f"a {type(self).__name__} has no sheet, from which pages and exports are made")

    def _explain_row(self, row: Any) -> Explanation:
        found = self._open_row(row)
        return self._explain(found, self._factors(found))

    def _open_row(self, row: Any) -> dict[str, Block]:
        return self._blocks(checks.row(self._without_target(row), self.schema_), self.schema_)

    def _factors(self, found: dict[str, Block]) -> list[Factor]:
        """The prior, and what each column of a row multiplies it by."""
        raise NotImplementedError

    def _passages(self, found: dict[str, Block], best: int, second: int) -> list[Passage]:
        """The texts of a row, each word with how much it distinguishes the two classes."""
        return []

    def _explain(self, found: dict[str, Block], factors: list[Factor]) -> Explanation:
        """The factors, their product and the posterior; columns in the table's order."""
        order = {column_name(name): place for place, name in enumerate(self.schema_.names.tolist())}
        prior, *others = factors
        others.sort(key=lambda factor: order.get(factor.part_of or factor.column, len(order)))
        joint = self._joint(found, 1)[0]
        compared = joint[np.newaxis].copy() if type(self)._scores is JointAnswers._scores else None
        posterior = self._posterior(found, 1, scores=compared)[0]
        best, *rest = np.argsort(-posterior, kind="stable").tolist()
        passages = self._passages(found, best, rest[0] if rest else best)
        return Explanation(labels_of(self.classes_), prior, tuple(others), joint, posterior, tuple(passages))


class Classifier(Learner, JointAnswers):
    """A classifier that is a function of a tally."""

    _parameters: Callable[[], Parameters]

    @property
    def attributes_(self) -> tuple[Attribute, ...]:
        """The attributes whose product the model is, in the table's order."""
        check_is_fitted(self)
        return tuple(each.attribute for each in self._parameters().attributes)

    @property
    def n_parameters_(self) -> int:
        """How many numbers were estimated from the tally, without those that follow from others as shares sum to 1.

        The share of each class (none where they are given), and by column for each class: of J categories or bins
        J - 1 shares, of V words or counts V - 1, of V that are there or not V, of a Gaussian the mean and the variance,
        of a mixture of m Gaussians 3m - 1, of a kernel the bandwidth; of d columns together d means and d(d + 1)/2 of
        the covariance.
        """
        check_is_fitted(self)
        return self._parameters().n_parameters + (len(self.classes_) - 1 if self._estimates_shares else 0)

    @property
    def _estimates_shares(self) -> bool:
        """Whether the shares of the classes are estimated, and not given."""
        return isinstance(class_prior_of(getattr(self, "class_prior", MaximumLikelihood())), Prior)

    @property
    def log_likelihood_(self) -> float:
        """Σ log P(class, row) of the rows that were learned, as their sums give it: of categories, Gaussians, counts
        and words exactly. Where the sums do not tell it, this is no attribute.
        """
        check_is_fitted(self)
        parameters, rows = self._parameters(), self.tally_.over(CLASS, labels_of(self.classes_)).floats()
        if not parameters.attributes or not all(each.attribute.plain for each in parameters.attributes):
            raise RefusedError(
                f"the log likelihood of the rows is no sum over the columns of this {type(self).__name__}; add it up: "
                "predict_joint_log_proba(X) has it by row"
            )
        found = float((rows * np.where(rows > 0, parameters.log_prior, 0.0)).sum())
        return found + sum(
            each.own.sum_log_likelihood(self.tally_, parameters.classes) for each in parameters.attributes
        )

    def _schema_of(self, source: Source) -> Schema:
        """The schema for a source that is learned from first."""
        raise NotImplementedError

    # Learning.

    def _plan(self, rows: Rows, *, whole: bool = False) -> Plan:
        """What the columns are, and what else must be known of all rows before they are counted."""
        schema = self._schema_of(rows.columns(self, whole=whole))
        warn_of_ignored(schema)
        measured = measured_texts(schema.texts) if schema.texts else []
        if not measured:
            return Plan(schema)
        plain = replace(schema, texts={name: replace(words, norm=None) for name, words in schema.texts.items()})
        documents = rows.reduce(document_frequencies, self._make_empty(plain), measured=measured)
        return Plan(replace(schema, references=references_of(documents, schema.texts)))

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; new classes and categories are welcome, and need not be announced.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array-like, optional
            Classes that will come, for `classes_` to hold from the start.
        """
        with self._undo_on_error(), self._warn_behind():
            self._learn_more(X, y, sample_weight)
            if classes is not None:
                self._declare_classes(checks.sort_classes(classes))
        return self

    def _set_tally(self, schema: Schema, tally: Tally) -> None:
        classes = unite(self.__dict__.get("_declared_classes", NO_LABELS), tally.labels(CLASS, 0))
        given = getattr(self, "class_prior", None)
        if isinstance(given, str | Mapping) and isinstance(given := class_prior_of(given), Mapping):
            read_shares(given, classes)  # which raises where it lacks one: no rows to come would mend that
        super()._set_tally(schema, tally)
        self.classes_ = public(classes)

    def _check_against_data(self) -> None:
        super()._check_against_data()
        classes = labels_of(self.classes_)
        given = class_prior_of(getattr(self, "class_prior", MaximumLikelihood()))
        if isinstance(given, Prior):
            given.pseudo_counts(classes)  # which raises where it does not fit
        else:
            share_classes(given, np.ones(len(classes)), classes)

    def _tally_of(self, part: Part) -> Tally:
        return tally_chunk(self._chunk_of(part))

    def _chunk_of(self, part: Part) -> Chunk:
        """Some rows, encoded by the schema."""
        source, codes, classes, weights = self._open_part(part)
        return Chunk(source.n_rows, self._blocks(source, self.schema_), codes, classes, weights)

    def _open_part(self, part: Part) -> tuple[Source, NDArray[np.int32], Labels, Floats | None]:
        """The source of some rows, their labels as codes, the classes and the weights, all checked."""
        source = part.X if hasattr(part.X, "anonymous") else self._source(part.X, reset=False)
        codes, classes = checks.labels(self, part.y, source.n_rows)
        return source, codes, classes, checks.weights(part.weights, source.n_rows)

    def _encode_all(self, rows: MemoryRows) -> tuple[Schema, Chunk]:
        """The schema of rows that are all here, and the rows."""
        schema = self._plan(rows, whole=True).schema
        return schema, self._make_empty(schema)._chunk_of(Part(rows.X, rows.y, rows.weights))

    def _check_whole(self, schema: Schema, classes: Labels, tally: Tally) -> None:
        self._check_classes(classes)
        checks.warn_of_numbers(classes, tally.over(CLASS, classes).floats())
        _warn_of_empty_columns(schema, tally)

    # Answering.

    def _joint(self, found: dict[str, Block], n_rows: int, floor: float | None = None) -> Floats:
        """Log joint probabilities; the floor, if there is one, stands in for log 0.

        The prior comes first, then a term for each column in the table's order. Every answer is made of this sum, so
        that its bits are the same whatever the rows beside it, the threads and the processor.
        """
        parameters = self._parameters()
        log_prior = parameters.log_prior if floor is None else np.maximum(parameters.log_prior, floor)
        joint = densities.repeat_row(log_prior, n_rows)
        for attribute in parameters.attributes:
            attribute.add_log_likelihood(found, joint, floor)
        return joint

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it: the log prior, and the terms of each attribute."""
        parameters = self._parameters()
        terms = [term for each in parameters.attributes for term in each.sheet_terms()]
        return {"op": "sum", "start": parameters.log_prior, "terms": terms, "calibrate": None}

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """log P(class) + log p(row | class), for each row and class."""
        found: Floats = answer(self, X, "predict_joint_log_proba")
        return found

    def _predict_joint_log_proba(self, X: Any) -> Floats:
        return self._joint(*self._rows(X))

    def _factors(self, found: dict[str, Block]) -> list[Factor]:
        parameters = self._parameters()
        factors = [factor for each in parameters.attributes for factor in each.factors(found)]
        if self.schema_.texts:
            factors = with_columns(factors, len(self.schema_.texts))
        return [Factor(say("prior"), "", parameters.prior), *factors]

    def _passages(self, found: dict[str, Block], best: int, second: int) -> list[Passage]:
        attributes = self._parameters().attributes if self.schema_.texts else ()
        return [passage for each in attributes for passage in each.passages(found, best, second)]

    def sample(self, n: int = 1, class_: Any = None, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Draw rows from the model.

        Parameters
        ----------
        n : int
            How many rows.
        class_ : optional
            The class to draw from; by default classes are drawn too, by their prior.
        random_state : optional
            Seed for NumPy's generator.

        Returns
        -------
        X, y
            The rows (an Arrow table if the columns have names, else an array; texts are a list) and their classes.
        """
        check_is_fitted(self)
        checks.check_whole("n", n)
        rng = checks.seeded_generator("random_state", random_state)
        parameters = self._parameters()
        drawn = draw_classes(parameters.log_prior, labels_of(self.classes_), n, class_, rng)
        return self._sample_rows(drawn, rng), np.asarray(self.classes_[drawn])

    def _sample_rows(self, drawn: NDArray[np.intp], rng: np.random.Generator) -> Any:
        """Rows of these classes."""
        values = self._sample_values(drawn, rng)
        kept = [name for name in self.schema_.names.tolist() if name in values]
        return table_of(values, kept, self.schema_.named)

    def _sample_values(self, drawn: NDArray[np.intp], rng: np.random.Generator) -> dict[Any, NDArray[Any]]:
        """The values of each column for rows of these classes."""
        values, order = {}, list(FAMILIES)
        for each in sorted(self._parameters().attributes, key=lambda each: order.index(each.attribute.home)):
            values.update(each.own.sample(drawn, rng))
        return values


def table_of(values: dict[Any, NDArray[Any]], names: list[Any], named: bool) -> Any:
    """An Arrow table where the columns have names, else an array."""
    if not named:
        numbers = all(values[name].dtype.kind in "fiu" for name in names)
        return np.column_stack([values[name] if numbers else values[name].astype(object) for name in names])
    import pyarrow as pa

    def column(name: Any) -> Any:
        try:
            return pa.array(values[name].tolist())
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # values of several types, which Arrow has no array for
            return pa.array([str(value) for value in values[name].tolist()])

    return pa.table({str(name): column(name) for name in names})


def summary_html(tally: Tally, schema: Schema, classes: Labels) -> str:
    """A fitted model in a notebook: the classes with their share of the rows, the columns with their kinds."""
    rows = tally.over(CLASS, classes).floats()
    shares = rows / max(float(rows.sum()), 1e-300)
    by_class = [*zip(map(str, classes), rows, shares)][:_MOST]
    tables = [PrintedTable(["class", "rows", "share"], by_class, ["", ",.10g", ".4f"]).html()]
    columns = f", {len(schema)} column{'s' if len(schema) > 1 else ''}" if len(schema) else ""  # none of sequences
    if columns:
        tables.append(PrintedTable(["column", "kind", "family", "why"], schema.rows(_MOST)).html())
    for what, items in (("classes", classes), ("columns", schema.names)):
        if len(items) > _MOST:
            tables.append(f"<p>… and {len(items) - _MOST:,} more {what}</p>")
    return (
        f"<div style='overflow-x:auto'><style>{STYLE}</style>"
        f"<p>Learned from {rows.sum():,.10g} rows: {len(classes)} classes{columns}.</p>{''.join(tables)}</div>"
    )


def warn_of_ignored(schema: Schema) -> None:
    """Warn of columns that are ignored though it was not declared: why, and what to do about it."""
    ignored = [name for name in schema.columns("ignore").tolist() if schema.why.get(name, "declared") != "declared"]
    if not ignored:
        return
    first = column_name(ignored[0])
    shown = "; ".join(f"{column_name(name)!r} ({schema.why[name]})" for name in ignored[:5])
    more = f"; and {len(ignored) - 5} more" if len(ignored) > 5 else ""
    warnings.warn(
        f"ignored: {shown}{more}. To use a column, declare what it is: columns={{{first!r}: 'category'}}", stacklevel=6
    )


def document_frequencies(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """In how many documents each word is, for models that measure all rows by that."""
    return reference_sums(model._chunk_of(part), options["measured"])


def with_document_frequencies(schema: Schema, chunk: Chunk) -> tuple[Schema, Chunk]:
    """With the document frequencies of the rows fixed, where documents are of unit length by them."""
    texts = schema.texts
    references = references_of(reference_sums(chunk, measured_texts(texts)), texts) if texts else {}
    if not references:
        return schema, chunk
    found: dict[str, Block] = {
        name: replace(block, references=[references.get(text.name) for text in block.columns])
        if isinstance(block, Texts)
        else block
        for name, block in chunk.blocks.items()
    }
    return replace(schema, references=references), replace(chunk, blocks=found)


def tally_chunk(chunk: Chunk) -> Tally:
    """The sums over a chunk: of its classes, and of each family's block."""
    total = chunk.count_classes()
    for name, block in chunk.blocks.items():
        total = total + FAMILY[name].tally(chunk, block)
    return total


def name_row(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """Raise with the first of some rows whose fingerprint is one of those that cannot be taken away."""
    source, codes, classes, _ = model._open_part(part)
    wanted = {(one, two): times for one, two, *times in options["rows"]}
    for row, words in enumerate(map(tuple, model._chunk_of(part).hash_rows(hasher(model.fingerprints)).tolist())):
        if words in wanted:
            cells = [f"{column_name(name)} {source.cell(at, row)!r}" for at, name in enumerate(source.names[:_MOST])]
            shown = ", ".join([*cells, *(["…"] if len(source.names) > _MOST else [])])
            called = f"row {part.before + row + 1:,} ({shown}; class {classes.tolist()[codes[row]]!r})"
            raise ForgetError(unlearned(called, wanted[words], options["n_rows"]))
    return Tally()


def keep_weighted(chunk: Chunk, classes: Labels) -> Chunk:
    """The rows that have a weight, with the codes of these classes, all of which they have among them."""
    if chunk.weights is not None and not chunk.weights.all():
        chunk = chunk.take(np.flatnonzero(chunk.weights))
    if same(chunk.classes, classes):
        return chunk
    return replace(chunk, labels=find(classes, chunk.classes).astype(np.int32)[chunk.coded], classes=classes)


def _warn_of_empty_columns(schema: Schema, tally: Tally) -> None:
    """Say of columns that have no value in any row that they say nothing; raise where nothing can be learned."""
    counted = tally.canonical().labels(COUNT, 1)
    empty: list[Any] = []
    for family in schema.families_used():
        columns = schema.columns(family)
        if family in (SHARED, FULL):
            refuse_incomplete(tally, schema, family)
        elif FAMILIES[family] == "number":
            without = columns[find(counted, columns) < 0].tolist()
            empty += [name for name in without if bins_name(name) not in tally]
        elif FAMILIES[family] == "category":
            empty += [name for name in columns.tolist() if category_table(name) not in tally]
        elif FAMILIES[family] == "text":
            for name in columns.tolist():
                refuse_empty(tally, schema, name, family)
    if empty:
        shown = ", ".join(repr(column_name(name)) for name in empty[:5]) + (", …" if len(empty) > 5 else "")
        warnings.warn(f"no value in any row, so nothing is learned from it: column {shown}", stacklevel=6)
