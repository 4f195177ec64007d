"""Two models over the folds of a cross-validation: the corrected resampled t-test."""

from __future__ import annotations

from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError, RefusedError
from ingenuo.evaluation.verdict import Effect, Verdict, level, number, numbers_of


def corrected_t(differences: Any, test_share: float, *, confidence: float = 0.95) -> Verdict:
    """Test whether two models differ over folds, with the variance that overlapping training rows deserve.

    The folds share most of their training rows, so their differences are not independent, and the plain t-test finds
    far too much. Nadeau and Bengio (2003) enlarge the variance:
    t = mean / √((1/k + n_test/n_train) s²), with k - 1 degrees of freedom, over all k differences.

    Parameters
    ----------
    differences : array (folds,) or (folds, repeats)
        First minus second, for each fold: of accuracy, say, or of log loss.
    test_share : float
        n_test / n_train: 1/9 for 10 folds.
    confidence : float
        How sure the interval is; the difference is called significant at 1 - confidence.

    Examples
    --------
    >>> found = corrected_t([0.02, 0.01, 0.03, 0.00, 0.04], test_share=1 / 4)
    >>> round(found.statistic, 4), round(found.p_value, 4)
    (1.8856, 0.1324)
    >>> found.said
    'Over 5 differences the first is higher by 0.02 on average'
    """
    from scipy.special import stdtr, stdtrit

    alpha = level(confidence)
    found = numbers_of("differences", differences, (1, 2)).ravel()
    if isinstance(test_share, bool) or not isinstance(test_share, int | float | np.integer | np.floating):
        raise KindError(f"test_share must be a number, got {type(test_share).__name__} {test_share!r}")
    if not (np.isfinite(test_share) and test_share > 0):
        raise InputError(f"test_share={test_share!r} must be n_test / n_train, as 1/9 for 10 folds")
    k = len(found)
    if k < 2:
        raise InputError(f"differences has {k} folds, and the spread over folds needs 2 at least; take more folds")
    mean = float(found.mean())
    # Compared with the differences themselves: their mean may be rounded.
    alike = bool(found.max() == found.min())
    if alike and found[0] != 0:
        raise RefusedError(
            f"all {k} differences are {number(float(found[0]))}, so there is no spread to divide by; take more "
            "folds or repeats, or judge the rows with mcnemar or permutation"
        )
    name = "mean difference"
    if alike:
        t, p = 0.0, 1.0
        size = Effect(name, 0.0, reason="all differences are 0, and show no spread")
    else:
        # In units of the largest, so that no square is beyond the doubles.
        unit = float(np.abs(found).max())
        error = float(np.sqrt((1 / k + test_share) * np.var(found / unit, ddof=1))) * unit
        t = mean / error
        p = float(2 * stdtr(k - 1, -abs(t)))
        reach = float(stdtrit(k - 1, 1 - alpha / 2)) * error
        size = Effect(name, mean, mean - reach, mean + reach)
    lead = (
        "neither is higher" if mean == 0 else f"the first is {'higher' if mean > 0 else 'lower'} by {number(abs(mean))}"
    )
    return Verdict(
        test="corrected resampled t-test (Nadeau and Bengio)",
        h0="the mean difference between the models is 0",
        statistic=t,
        statistic_name=f"t with {k - 1} degrees of freedom",
        p_value=p,
        size=size,
        n=k,
        said=f"Over {k} differences {lead} on average",
        alpha=alpha,
        details={"test_share": float(test_share), "degrees_of_freedom": k - 1},
    )
