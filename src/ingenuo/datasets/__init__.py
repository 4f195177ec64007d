"""Small tables the package carries, and one real mixed table made from a set that scikit-learn bundles."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np


def play_tennis() -> Any:
    """The fourteen days of the textbooks, all categories; the class is `Play`.

    >>> play_tennis().num_rows
    14
    """
    return _read("play_tennis.csv")


def weather() -> Any:
    """The same days with temperature and humidity as numbers; the class is `play`.

    >>> weather()["temperature"].to_pylist()[:3]
    [85, 80, 83]
    """
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
        holes = rng.random(len(values)) < missing
        if name == "sex":
            columns["sex"] = pa.array([f"sex {int(v)}" for v in values], mask=holes)
        elif name == "age":
            columns["age"] = pa.array([f"{int(v) // 10 * 10}s" for v in values], mask=holes)
        else:
            columns[name] = pa.array(values, mask=holes)
    median = np.median(found.target)
    columns["progression"] = pa.array(["slow" if t <= median else "fast" for t in found.target])
    return pa.table(columns)


def _read(name: str) -> Any:
    from pyarrow import csv

    with files(__name__).joinpath(name).open("rb") as file:
        # "Overcast" and "no" are values, and no value is missing: nothing is to be read as null.
        return csv.read_csv(file, convert_options=csv.ConvertOptions(strings_can_be_null=False))
