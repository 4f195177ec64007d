"""The canonical order: an answer has the same bits alone or among others, on any threads, on every processor variant.

The log joint is the prior, then one term for each column, left to right, then the posterior by portable exponentials.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ingenuo as ing
from ingenuo import kernels as native
from ingenuo.kernels import portable
from ingenuo.kernels.threads import limited

from . import answers

MODELS = list(answers.models())
NAMES = [name for name, *_ in MODELS]


@pytest.mark.parametrize("case", MODELS, ids=NAMES)
def test_an_answer_does_not_depend_on_the_rows_beside_it(case):
    _, model, X, y, new = case
    model.fit(X, y)
    whole, n = model.predict_proba(new), answers.size(new)
    for step in (1, 7, 64):
        pieces = [model.predict_proba(answers.part(new, lo, min(lo + step, n))) for lo in range(0, n, step)]
        assert np.concatenate(pieces).tobytes() == whole.tobytes()


@pytest.mark.parametrize("case", MODELS, ids=NAMES)
def test_an_answer_does_not_depend_on_the_threads(case):
    _, model, X, y, new = case
    found = []
    for threads in (1, 3):
        with limited(threads):
            found.append(model.fit(X, y).predict_proba(new).tobytes())
    assert found[0] == found[1]


@pytest.mark.skipif(len(tuple(native.call.variants)) < 2, reason="this processor has one variant only")
def test_every_processor_variant_gives_the_same_bits():
    found = [
        _elsewhere(INGENUO_VARIANT=variant, INGENUO_THREADS=threads)
        for variant, threads in (("base", "1"), ("avx2", "3"))
    ]
    assert found[0] == found[1]


def _elsewhere(**settings):
    """The digests in another process."""
    script = Path(answers.__file__)
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", **settings}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_joint_is_the_prior_and_then_a_term_for_each_column():
    table, y = answers.mixed(np.random.default_rng(3), 200)
    table = table.drop_columns(["review"])
    model = ing.NaiveBayes(numbers={"age": "histogram"}).fit(table, y)
    joint = model.predict_joint_log_proba(table)
    posterior = model.predict_proba(table)
    for i in range(60):
        shown = model.explain(table.slice(i, 1))
        total = np.array([term.log for term in shown.prior.terms])
        for factor in shown.factors:
            if factor.terms:
                total = total + np.array([term.log for term in factor.terms])
        assert total.tobytes() == joint[i].tobytes()
        powers = portable.exp(total - total.max())
        below = 0.0
        for power in powers.tolist():
            below = below + power
        assert (powers / below).tobytes() == posterior[i].tobytes() == shown.posterior.tobytes()
