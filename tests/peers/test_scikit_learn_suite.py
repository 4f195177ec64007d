"""scikit-learn's own tests of its naive Bayes, run on our classes.

The test module that is in scikit-learn's wheel is read, the import of the five classes is pointed at us, and its
functions become tests of this module. What deviates is listed with the reason, and is expected to fail: should
it pass one day, the list must be shortened.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ingenuo

DEVIATIONS = {
    "test_gnb_check_update_with_no_data": "calls a private method that updates means and variances in place; "
    "a tally has nothing like it, and an empty table is refused",
    "test_discretenb_provide_prior": "its last lines expect a fit that raised to have replaced the classes all the "
    "same; with us a fit that raises leaves the model as it was",
}

NOT_RUN = {
    "test_gnb_array_api_compliance": "asks for arrays of torch, cupy and the like; the loops read NumPy's memory",
}

_THEIRS = "from sklearn.naive_bayes import ("
_OURS = "from ingenuo import ("


def _source() -> tuple[str, str]:
    spec = importlib.util.find_spec("sklearn.tests.test_naive_bayes")
    if spec is None or spec.origin is None:
        pytest.skip("this scikit-learn was installed without its tests", allow_module_level=True)
    text = Path(spec.origin).read_text(encoding="utf-8")
    assert _THEIRS in text, "scikit-learn imports its classes in another way now: adapt the swap"
    return text.replace(_THEIRS, _OURS), spec.origin


def _swapped() -> dict[str, Any]:
    text, origin = _source()
    names: dict[str, Any] = {"__name__": "sklearn.tests.test_naive_bayes_on_ingenuo", "__file__": origin}
    exec(compile(text, origin, "exec"), names)
    for name in ("GaussianNB", "MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"):
        assert names[name] is getattr(ingenuo, name)
    return names


for _name, _test in _swapped().items():
    if _name.startswith("test_") and _name not in NOT_RUN:
        if _name in DEVIATIONS:
            _test = pytest.mark.xfail(reason=DEVIATIONS[_name], strict=True)(_test)
        globals()[_name] = _test


def test_every_deviation_is_still_one_of_their_tests() -> None:
    theirs = _swapped()
    assert all(name in theirs for name in [*DEVIATIONS, *NOT_RUN])


@pytest.fixture
def global_random_seed() -> int:
    return 42


@pytest.fixture(params=[np.float64])
def global_dtype(request: pytest.FixtureRequest) -> Any:
    return request.param
