"""A generative model and its discriminative twin, side by side over growing numbers of rows.

Both answer with the same lines; the one learns how the rows of each class are distributed, the other where the classes
part. Ng and Jordan (2002): the generative twin comes sooner to its best, the discriminative one to a better best. So
one wins with few rows, the other with many, and where the curves cross depends on the data.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.estimators import inputs
from ingenuo.estimators.base import TallyClassifier, public
from ingenuo.estimators.bayes_optimal import log_probabilities
from ingenuo.estimators.contract import clone
from ingenuo.estimators.discriminant import GaussianDiscriminant
from ingenuo.estimators.naive_bayes import NaiveBayes
from ingenuo.estimators.rows import take_rows
from ingenuo.estimators.sequence_model import seeded, whole
from ingenuo.estimators.softmax import SoftmaxRegression
from ingenuo.evaluation.growing import held_out, order, sizes_of
from ingenuo.evaluation.learning_curves import Twins
from ingenuo.labels import Labels
from ingenuo.schema import FAMILIES
from ingenuo.sources import open_source
from ingenuo.sources.table import is_texts
from ingenuo.text.words import Words

Floats = NDArray[np.float64]

GENERATIVE = {"naive-bayes": NaiveBayes, "discriminant": GaussianDiscriminant}
# Curves should not depend on where a search stopped. With 7 rows of the breast cancer data, 1e-6 leaves 0.004 of the
# log loss open, and 1e-8 leaves 5e-5.
_TOLERANCE = 1e-8
# No probability counts as smaller, as in scikit-learn's log_loss: one row that was thought impossible says no more.
_LEAST = float(np.log(np.finfo(np.float64).eps))


def twins(
    X: Any,
    y: Any,
    generative: Any = None,
    discriminative: Any = None,
    sizes: Any = None,
    repeats: int = 10,
    test_size: float = 0.3,
    random_state: Any = 0,
) -> Twins:
    """Fit a generative model and its discriminative twin on growing numbers of rows, and measure both on held-out rows.

    Parameters
    ----------
    X : array, sparse matrix, list of texts, or pandas, polars or Arrow table
        The rows: anything that both models take.
    y : array-like, or the name of a column of X
        The class of each row.
    generative : classifier, "naive-bayes" or "discriminant", optional
        By default `NaiveBayes()`; "discriminant" is `GaussianDiscriminant()`.
    discriminative : classifier, optional
        By default `SoftmaxRegression`, with the columns and the words of the generative model, and a tolerance of 1e-8.
    sizes : list of int, optional
        How many rows to learn from. By default eight sizes, geometric: from three rows of the rarest class (and as many
        more of the others as there are) to all but the held-out rows.
    repeats : int
        How often rows are drawn anew.
    test_size : float or int
        The share, or the number, of rows that are held out.
    random_state : int, optional
        Seed for NumPy's generator; the same seed draws the same rows.

    Notes
    -----
    In each repeat the samples are nested and stratified, and the twins see the same rows. A model that is a tally
    learns each row once, for all sizes: the rows that are new are added, and that is the same as fitting anew. Other
    models are fitted anew. What kind each column is, is inferred once from all rows, not from the few of a sample.

    A size of the default that a model refuses (a column may have no value in a few rows) is left out, and said.

    Examples
    --------
    >>> from ingenuo.data import diabetes
    >>> found = twins(diabetes(), "progression", sizes=[10, 300], repeats=3)
    >>> found.means().shape, found.names
    ((2, 2), ('NaiveBayes', 'SoftmaxRegression'))
    """
    models = _pair(generative, discriminative)
    whole("repeats", repeats, 1)
    rng = seeded("random_state", random_state)
    X, y = inputs.target_column(X, y)
    X = _table(X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    codes, classes = inputs.labels(models[0], y, n_rows)
    if n_rows == 0:
        raise InputError("Found array with 0 sample(s) while a minimum of 1 is required: give some rows")
    n_test = held_out(test_size, n_rows)
    wanted = sizes_of(sizes, np.bincount(codes, minlength=len(classes)), classes, n_test)
    names = _names(models)
    models = tuple(_declared(model, X) for model in models)
    run = _Run(X, codes, classes, names, wanted, strict=sizes is not None)
    accuracy, log_loss = (np.full((repeats, len(wanted), 2), np.nan) for _ in range(2))
    for repeat in range(repeats):
        rows = order(codes, rng)
        training, test = rows[: n_rows - n_test], rows[n_rows - n_test :]
        for k, model in enumerate(models):
            accuracy[repeat, :, k], log_loss[repeat, :, k] = run.curve(k, model, training, test)
    kept = [place for place, size in enumerate(wanted) if size not in run.refused]
    return Twins(
        names, np.array(wanted)[kept], accuracy[:, kept], log_loss[:, kept], n_test, (*run.left_out(), *run.warned())
    )


class _Run:
    """What all the fits have in common: the rows, the sizes, and what the models remarked."""

    def __init__(
        self, X: Any, codes: NDArray[np.int32], classes: Labels, names: tuple[str, str], sizes: list[int], strict: bool
    ) -> None:
        self.X, self.codes, self.classes, self.names, self.sizes, self.strict = X, codes, classes, names, sizes, strict
        self.y = public(classes)[codes]
        self.refused: dict[int, str] = {}  # a size to what a model said of it
        self.remarks: dict[tuple[str, str], tuple[str, list[int]]] = {}  # the first of its kind, and at what sizes

    def curve(self, k: int, model: Any, training: Any, test: Any) -> tuple[list[float], list[float]]:
        """Accuracy and log loss of one model at each size."""
        asked, truth = take_rows(self.X, test), self.y[test]
        learner = _Learner(model, self.X, self.y, public(self.classes))
        found = []
        for size in self.sizes:
            if size in self.refused:
                found.append((np.nan, np.nan))
                continue
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                try:
                    fitted = learner.upto(training[:size])
                    right = float(np.mean(np.asarray(fitted.predict(asked)) == truth))
                    logs = log_probabilities(fitted, asked, self.classes, self.codes[test], self.names[k])
                except ValueError as error:
                    self._refuse(size, k, error, model, training, asked)
                    found.append((np.nan, np.nan))
                    continue
            for warning in said:
                self._note(size, k, str(warning.message))
            found.append((right, float(-np.maximum(logs, _LEAST).mean())))
        return [right for right, _ in found], [loss for _, loss in found]

    def _refuse(self, size: int, k: int, error: ValueError, model: Any, training: Any, asked: Any) -> None:
        """Leave a size out; not one that was asked for, nor the largest, for then something else is wrong."""
        if not self.strict and size != self.sizes[-1]:
            self.refused[size] = f"{self.names[k]}: {error}"
            return
        try:  # do all the rows help?
            clone(model).fit(take_rows(self.X, training), self.y[training]).predict_proba(asked)
        except (ValueError, TypeError):
            raise error from None
        raise InputError(f"with {size} rows {self.names[k]} cannot be fitted: {error}; take larger sizes") from error

    def _note(self, size: int, k: int, message: str) -> None:
        kind = re.split(r"[:\d]", message, maxsplit=1)[0]  # what differs from time to time are names and figures
        sizes = self.remarks.setdefault((self.names[k], kind), (message, []))[1]
        if size not in sizes:
            sizes.append(size)

    def left_out(self) -> list[str]:
        """A sentence for the sizes that a model refused."""
        if not self.refused:
            return []
        sizes = ", ".join(f"{size:,}" for size in sorted(self.refused))
        return [f"Left out, for they are too few: {sizes} rows ({next(iter(self.refused.values()))})."]

    def warned(self) -> list[str]:
        """A sentence for each kind of warning."""
        return [
            f"{name} warned at {', '.join(f'{size:,}' for size in sorted(sizes))} rows: {message}."
            for (name, _), (message, sizes) in self.remarks.items()
        ]


class _Learner:
    """A model that is asked after each of several nested samples: a tally adds the new rows, others are fitted anew."""

    def __init__(self, model: Any, X: Any, y: NDArray[Any], classes: NDArray[Any]) -> None:
        self.model, self.X, self.y, self.classes = clone(model), X, y, classes
        self.adds = isinstance(model, TallyClassifier) and not _measures_by_first_rows(model)
        self.learned = 0

    def upto(self, rows: Any) -> Any:
        """The model as it is after these rows, which begin with those it has learned."""
        if not self.adds:
            return clone(self.model).fit(take_rows(self.X, rows), self.y[rows])
        new = rows[self.learned :]
        if len(new):
            first = {} if self.learned else {"classes": self.classes}
            self.model.partial_fit(take_rows(self.X, new), self.y[new], **first)
            self.learned = len(rows)
        return self.model


def _measures_by_first_rows(model: Any) -> bool:
    """Whether documents are measured by the words of the first that came, so that adding is not fitting anew."""
    text = getattr(model, "text", None)
    given = text.values() if isinstance(text, Mapping) else [text]
    return any(isinstance(words, Words) and words.norm is not None for words in given)


def _pair(generative: Any, discriminative: Any) -> tuple[Any, Any]:
    """The two models, neither of them fitted."""
    if generative is None:
        generative = NaiveBayes()
    elif isinstance(generative, str):
        if generative not in GENERATIVE:
            raise InputError(f"generative={generative!r} is not known{did_you_mean(generative, GENERATIVE)}")
        generative = GENERATIVE[generative]()
    if discriminative is None:
        columns, text = (generative.columns, generative.text) if isinstance(generative, NaiveBayes) else (None, None)
        discriminative = SoftmaxRegression(columns, text, tolerance=_TOLERANCE)
    for role, model, such in (
        ("generative", generative, "NaiveBayes()"),
        ("discriminative", discriminative, "SoftmaxRegression()"),
    ):
        if isinstance(model, type) or not all(hasattr(model, name) for name in ("fit", "predict", "get_params")):
            raise KindError(f"the {role} model must be a classifier such as {such}, got {model!r}")
        if not hasattr(model, "predict_proba"):
            raise KindError(
                f"the {role} model, {type(model).__name__}, gives no probabilities, and has no log loss; wrap it in "
                "scikit-learn's CalibratedClassifierCV, or take another"
            )
    return generative, discriminative


def _names(models: tuple[Any, ...]) -> tuple[str, str]:
    """What the models are called: their classes, or all there is to say where these are the same."""
    # A pipeline is called after its last step.
    last = [model.steps[-1][1] if isinstance(getattr(model, "steps", None), list) else model for model in models]
    first, second = (type(model).__name__ for model in last)
    if first == second:
        first, second = (" ".join(repr(model).split()) for model in last)
    return (first, second) if first != second else (first, f"{second} (discriminative)")


def _table(X: Any) -> Any:
    """The rows as something that some of them can be taken from."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    if is_texts(X):
        return X
    if inputs.is_frame(X):
        import narwhals as nw

        return nw.to_native(open_source(X).frame)  # type: ignore[attr-defined]
    if isinstance(X, list | tuple):
        X = inputs.array_of(X)
    elif hasattr(X, "__array__") and not hasattr(X, "__getitem__"):
        X = np.asarray(X)
    open_source(X)  # which refuses what is no table
    return X


def _declared(model: Any, X: Any) -> Any:
    """The model with the kind of every column declared, as it is inferred from all rows: a few might look different."""
    if not isinstance(model, NaiveBayes | SoftmaxRegression) or is_texts(X):
        return model
    source = open_source(X)
    if source.uniform() is not None:
        return model
    settings = {name: value for name, value in model.get_params(deep=False).items() if name in _COLUMNS}
    schema = NaiveBayes(**settings)._schema_of(source)
    kinds = {
        name: FAMILIES[list(FAMILIES)[code]] for name, code in zip(schema.names.tolist(), schema.families.tolist())
    }
    return clone(model).set_params(columns={**kinds, **(model.columns or {})})


_COLUMNS = ("columns", "numbers", "counts", "text")
