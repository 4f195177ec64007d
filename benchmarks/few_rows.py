"""How much "auto" loses to the Gaussian on few rows, and what it gains: log loss of two classes, by rows a class.

Columns are normal, log-normal, of two peaks, even, or rounded to whole numbers; the two classes differ by a unit.
`python -m benchmarks.few_rows` prints the mean log loss of new rows over seeded draws.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.threads import limited
from ingenuo.models.naive_bayes import NaiveBayes

Floats = NDArray[np.float64]

ROWS = (4, 10, 15, 30, 100)
BAR = 1.02
_TEST = 500  # new rows of each class


def _two_peaks(rng: np.random.Generator, n: int) -> Floats:
    return rng.normal(0, 0.5, n) + 3 * rng.integers(0, 2, n)


COLUMNS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(0, 1, n),
    "log-normal": lambda rng, n: rng.lognormal(0, 1, n),
    "two peaks": _two_peaks,
    "even": lambda rng, n: rng.uniform(0, 3, n),
    "whole": lambda rng, n: rng.poisson(3, n).astype(np.float64),
}


def losses(kind: str, rows: int, draws: int, numbers: Sequence[str]) -> list[float]:
    """The mean log loss of new rows with each density, over so many draws of training rows."""
    found = np.zeros(len(numbers))
    for seed in range(draws):
        rng = np.random.default_rng([seed, rows, *kind.encode()])
        y, truth = np.repeat([0, 1], rows), np.repeat([0, 1], _TEST)
        X, new = (COLUMNS[kind](rng, len(codes)) + codes for codes in (y, truth))
        for place, each in enumerate(numbers):
            with warnings.catch_warnings(), limited(1):
                warnings.simplefilter("ignore")
                p = NaiveBayes(numbers=each).fit(X[:, np.newaxis], y).predict_proba(new[:, np.newaxis])
            found[place] -= np.log(np.maximum(p[np.arange(len(truth)), truth], 1e-15)).mean()
    return (found / draws).tolist()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table, and say where "auto" is behind."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.few_rows", description='"auto" on few rows.')
    parser.add_argument("--draws", type=int, default=200, help="draws of training rows (default: 200)")
    draws = parser.parse_args(arguments).draws
    behind = []
    print("| column | rows a class | gaussian | auto | mixture |\n|---|---:|---:|---:|---:|")
    for kind in COLUMNS:
        for rows in ROWS:
            bell, auto, mixture = losses(kind, rows, draws, ("gaussian", "auto", "mixture"))
            print(f"| {kind} | {rows} | {bell:.3f} | {auto:.3f} | {mixture:.3f} |", flush=True)
            behind += [f"{kind}, {rows} rows: {auto / bell:.3f}"] if auto > BAR * bell else []
    print(f"\nBehind the Gaussian by more than {BAR - 1:.0%}: {'; '.join(behind) or 'nowhere'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
