"""The structure of a network from data: searches by score, trees by mutual information, and how two structures differ.

Everything here works on integers: nodes are columns of a :class:`Sample`, states are codes.
"""

from ingenuo.networks.structure.comparison import Pattern, hamming, pattern
from ingenuo.networks.structure.hill_climbing import hill_climb
from ingenuo.networks.structure.k2 import k2
from ingenuo.networks.structure.sample import Pairs, Sample
from ingenuo.networks.structure.scores import SCORES, Scorer
from ingenuo.networks.structure.search import Search, Step
from ingenuo.networks.structure.trees import chow_liu, kdb, naive, tan

__all__ = [
    "SCORES",
    "Pairs",
    "Pattern",
    "Sample",
    "Scorer",
    "Search",
    "Step",
    "chow_liu",
    "hamming",
    "hill_climb",
    "k2",
    "kdb",
    "naive",
    "pattern",
    "tan",
]
