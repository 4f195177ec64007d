"""The peers of public tables, by their defaults: each is made for a table's columns, fits a frame and gives posteriors.

What a model does not take itself is done for it as its users do: categories one column for each value, numbers
standardised for the regression, missing values imputed. The boosted trees take categories and missing values as they
are. All of them work on one thread, but for CatBoost, which has two.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

from benchmarks.arff import Table
from benchmarks.by_hand import JoinedByHand
from benchmarks.report import Absent

Floats = NDArray[np.float64]

SEED = 0
BINS = 255  # of HistGradientBoostingClassifier, and so the values of a category that it takes at most


class Joined:
    """GaussianNB of the numbers and CategoricalNB of the categories, joined by hand."""

    def __init__(self, table: Table) -> None:
        self.model = JoinedByHand(len(table.numbers), len(table.categories))
        self.names = {name: f"n{j}" for j, name in enumerate(table.numbers)}
        self.names |= {name: f"c{j}" for j, name in enumerate(table.categories)}

    def fit(self, X: Any, y: Any) -> Self:
        """Fit both models; what is missing is NaN to scikit-learn."""
        self.model.fit(self._named(X), y)
        return self

    def predict(self, X: Any) -> Any:
        """The labels."""
        return self.model.predict(self._named(X))

    def predict_proba(self, X: Any) -> Floats:
        """The posteriors."""
        return self.model.predict_proba(self._named(X))

    def _named(self, X: Any) -> Any:
        return X.rename(columns=self.names).fillna(np.nan)


class Piped:
    """A model of scikit-learn's after its encoders; what is missing is NaN to them."""

    def __init__(self, table: Table, model: Any, *of_numbers: Any) -> None:
        one_hot = OneHotEncoder(handle_unknown="ignore")
        columns = ColumnTransformer(
            [
                ("numbers", make_pipeline(SimpleImputer(), *of_numbers), table.numbers),
                ("categories", make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot), table.categories),
            ]
        )
        self.model = make_pipeline(columns, model)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the encoders and the model."""
        with warnings.catch_warnings():
            for said in ("Bins whose width are too small", "Feature .* is constant"):  # of numbers with few values
                warnings.filterwarnings("ignore", said)
            self.model.fit(X.fillna(np.nan), y)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The posteriors."""
        return np.asarray(self.model.predict_proba(X.fillna(np.nan)))


class Boosted:
    """Trees that take categories and missing values as they are; columns are renamed, for some refuse a name."""

    def __init__(self, table: Table, model: Any, *, strings: bool = False, most: int | None = None) -> None:
        self.model, self.strings, self.most = model, strings, most
        self.categories = [place for place, kind in enumerate(table.kinds.values()) if kind == "category"]

    def fit(self, X: Any, y: Any) -> Self:
        """The values of the rows of training are the categories; others are missing."""
        self.kinds = {
            place: pd.CategoricalDtype(sorted(X.iloc[:, place].dropna().unique())) for place in self.categories
        }
        given = {"cat_features": self.categories} if self.strings else {}
        self.model.fit(self._prepared(X), y, **given)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The posteriors."""
        return np.asarray(self.model.predict_proba(self._prepared(X)))

    def _prepared(self, X: Any) -> Any:
        return pd.DataFrame({f"x{place}": self._column(X.iloc[:, place], place) for place in range(X.shape[1])})

    def _column(self, column: Any, place: int) -> Any:
        if place not in self.kinds:
            return column
        if self.strings:
            return column.fillna("missing").astype(str)
        found = column.astype(self.kinds[place])
        return found.cat.codes if self.most is not None and len(found.cat.categories) > self.most else found


def joined(table: Table) -> Joined:
    """GaussianNB and CategoricalNB."""
    return Joined(table)


def binned(table: Table) -> Piped:
    """Ten bins of equal mass for each number, and BernoulliNB."""
    bins = KBinsDiscretizer(10, strategy="quantile", quantile_method="averaged_inverted_cdf")
    return Piped(table, BernoulliNB(), bins)


def logistic(table: Table) -> Piped:
    """Logistic regression, numbers standardised."""
    return Piped(table, LogisticRegression(max_iter=2000), StandardScaler())


def forest(table: Table) -> Piped:
    """A random forest of 100 trees."""
    return Piped(table, RandomForestClassifier(random_state=SEED))


def gradient_boosting(table: Table) -> Piped:
    """scikit-learn's first one: exact cuts, 100 trees of depth 3."""
    return Piped(table, GradientBoostingClassifier(random_state=SEED))


def histograms(table: Table) -> Boosted:
    """scikit-learn's second one. A category of more than 255 values is a number to it, for it takes no more."""
    return Boosted(table, HistGradientBoostingClassifier(random_state=SEED), most=BINS)


def light_gbm(table: Table) -> Boosted:
    """LightGBM."""
    from lightgbm import LGBMClassifier

    return Boosted(table, LGBMClassifier(random_state=SEED, n_jobs=1, verbose=-1))


def cat_boost(table: Table) -> Boosted:
    """CatBoost: 1,000 trees."""
    from catboost import CatBoostClassifier  # type: ignore[import-untyped]

    quiet = {"verbose": False, "allow_writing_files": False}
    made = CatBoostClassifier(random_seed=SEED, thread_count=2, **quiet)
    return Boosted(table, made, strings=True)


def tf_idf(_: Any) -> Any:
    """Logistic regression of texts, words weighted by TF-IDF."""
    return make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=2000))


@dataclass(frozen=True)
class Model:
    """How a model is made for the columns of a table, and the package whose version its figures belong to."""

    make: Callable[[Any], Any]
    package: str | None = "scikit-learn"  # None of ours, which change from day to day

    @property
    def version(self) -> str | None:
        """The package and its version."""
        try:
            return None if self.package is None else f"{self.package} {version(self.package)}"
        except PackageNotFoundError:
            raise Absent(f"{self.package} is not installed; pip install {self.package}") from None


JOINED, BINNED, LOGISTIC = "GaussianNB + CategoricalNB", "ten bins, BernoulliNB", "logistic regression"
FOREST, BOOSTING, HISTOGRAMS = "random forest", "GradientBoosting", "HistGradientBoosting"
LIGHT_GBM, CAT_BOOST = "LightGBM", "CatBoost"

PEERS: Mapping[str, Model] = {
    JOINED: Model(joined),
    BINNED: Model(binned),
    LOGISTIC: Model(logistic),
    FOREST: Model(forest),
    BOOSTING: Model(gradient_boosting),
    HISTOGRAMS: Model(histograms),
    LIGHT_GBM: Model(light_gbm, "lightgbm"),
    CAT_BOOST: Model(cat_boost, "catboost"),
}
TF_IDF = "TF-IDF + logistic regression"
TEXT_PEERS: Mapping[str, Model] = {TF_IDF: Model(tf_idf)}
