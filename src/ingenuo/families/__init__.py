"""How columns of one kind are distributed within a class: the same few methods for every family.

The names form a closed list: a model file can name a family, never a thing to import.
"""

from __future__ import annotations

from ingenuo.families.categorical import Categorical
from ingenuo.families.counts import Bernoulli, Multinomial
from ingenuo.families.covariance import FULL, SHARED, ScatterFamily
from ingenuo.families.density import Density
from ingenuo.families.family import Family
from ingenuo.families.gaussian import Gaussian
from ingenuo.families.words import TextFamily
from ingenuo.rows.schema import EQUAL_MASS

FAMILY: dict[str, Family] = {
    "gaussian": Gaussian(),
    "gaussian-unbiased": Gaussian(unbiased=True),
    "categorical": Categorical(),
    "multinomial": Multinomial(),
    "complement": Multinomial(others=True),
    "bernoulli": Bernoulli(),
    "words": TextFamily("multinomial"),
    "words-complement": TextFamily("complement"),
    "words-bernoulli": TextFamily("bernoulli"),
    "histogram": Density("histogram"),
    "kernel": Density("kernel"),
    "mixture": Density("mixture"),
    "auto": Density("auto"),
    SHARED: ScatterFamily(),
    FULL: ScatterFamily(pooled=False),
    **{f"equal-mass-{bins}": Density("equal-mass", bins) for bins in EQUAL_MASS},
}
