"""Small tables the package carries, and one real mixed table made from a set that scikit-learn bundles."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np


def play_tennis() -> Any:
    """The fourteen days of the textbooks, all categories; the class is `Play`."""
    return _read("play_tennis.csv")


def weather() -> Any:
    """The same days with temperature and humidity as numbers; the class is `play`."""
    return _read("weather.csv")


def diabetes(missing: float = 0.05, seed: int = 0) -> Any:
    """442 patients: numbers and categories with missing values; the class `progression` is slow or fast.

    The table is scikit-learn's diabetes set: sex is a category, the age is given by decade (a category too), the
    disease's progression after a year is cut at its median, and some values are taken out at random.

    >>> diabetes().column_names[:3]
    ['age', 'sex', 'bmi']
    """
    import pyarrow as pa
    from sklearn.datasets import load_diabetes

    found = load_diabetes(scaled=False)
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for name, values in zip(found.feature_names, found.data.T):
        texts = {"sex": lambda v: f"sex {int(v)}", "age": lambda v: f"{int(v) // 10 * 10}s"}.get(name)
        gone = rng.random(len(values)) < missing
        columns[name] = pa.array(values if texts is None else [texts(v) for v in values], mask=gone)
    columns["progression"] = np.where(found.target <= np.median(found.target), "slow", "fast")
    return pa.table(columns)


def _read(name: str) -> Any:
    from pyarrow import csv

    with files(__name__).joinpath(name).open("rb") as file:
        # "Overcast" and "no" are values, and no value is missing: nothing is to be read as null.
        return csv.read_csv(file, convert_options=csv.ConvertOptions(strings_can_be_null=False))
