"""Is the difference real? Tests between classifiers, each with H0, p, an effect with its interval, and one sentence.

================================  ==============================================================
two classifiers, the same rows    `mcnemar`, `paired_bootstrap`, `permutation`
two models, over folds            `corrected_t`
two models, over many sets        `wilcoxon`
several models, over many sets    `friedman`, `nemenyi`
several tests at once             `holm`
================================  ==============================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.evaluation.over_sets import Nemenyi, friedman, nemenyi, wilcoxon
from ingenuo.evaluation.paired import corrected_t, mcnemar, paired_bootstrap, permutation
from ingenuo.evaluation.verdict import Effect, Verdict, numbers_of

__all__ = [
    "Effect",
    "Nemenyi",
    "Verdict",
    "corrected_t",
    "friedman",
    "holm",
    "mcnemar",
    "nemenyi",
    "paired_bootstrap",
    "permutation",
    "wilcoxon",
]


def holm(p_values: Any) -> NDArray[np.float64]:
    """Holm's correction: p-values that may be compared with the level although several tests were made.

    The smallest of m is multiplied by m, the next by m - 1 and so on; none becomes smaller than the one before.

    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    p = numbers_of("p_values", p_values)
    bad = (p < 0) | (p > 1)
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"p_values holds {float(p[at])!r} at {at}; a p-value lies between 0 and 1")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return adjusted
