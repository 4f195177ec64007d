"""A small table of people with numbers, categories, text, a key and missing values, as a file and as rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd


def people(n: int = 240, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    age = np.round(rng.normal(45 + 12 * ill, 9), 1)
    town = rng.choice(["Bari", "Pisa", "Roma"], n, p=[0.5, 0.3, 0.2])
    good, bad = ["well", "fine", "strong", "rested"], ["tired", "weak", "sore", "dizzy"]
    said = [
        f"the patient feels {rng.choice(bad if i and rng.random() < 0.8 else good)} on day {rng.integers(1000)} again"
        for i in ill
    ]
    frame = pd.DataFrame(
        {
            "key": [f"p{i:05d}" for i in range(n)],
            "age": age,
            "town": town,
            "smoker": np.where(rng.random(n) < 0.3 + 0.2 * ill, "true", "false"),
            "said": said,
            "outcome": np.where(ill, "ill", "well"),
        }
    )
    frame.loc[rng.random(n) < 0.05, "age"] = np.nan
    frame.loc[rng.random(n) < 0.05, "town"] = None
    return frame


def write(folder: Path, name: str = "people.csv", **options: int) -> Path:
    path = folder / name
    people(**options).to_csv(path, index=False)
    return path
