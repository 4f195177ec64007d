"""What every calibrator does, and the closed list of them: a model file names one of these or is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.calibrate.isotonic import Isotonic
from ingenuo.calibrate.lengths import checked_lengths, checked_prior
from ingenuo.calibrate.platt import Platt
from ingenuo.calibrate.scores import Floats, checked, checked_training, normalised
from ingenuo.calibrate.temperature import Temperature
from ingenuo.calibrate.venn_abers import VennAbers
from ingenuo.errors import InputError, did_you_mean


class Calibrator(Protocol):
    """A function from log posteriors to calibrated ones, learned once and never changed."""

    kind: ClassVar[str]

    @property
    def n_classes(self) -> int:
        """How many classes it is for."""

    def apply(self, log_scores: Any, lengths: Any = None) -> Floats:
        """Calibrated log posteriors, rows × classes; each row's probabilities add to 1."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is learned, for a file."""

    def describe(self) -> str:
        """What is done, in a sentence."""


@dataclass(frozen=True)
class Uncalibrated:
    """Log posteriors as they are.

    >>> import numpy as np
    >>> Uncalibrated(2).apply(np.log([[0.9, 0.1]])).round(4).tolist()
    [[-0.1054, -2.3026]]
    """

    kind: ClassVar[str] = "none"
    n_classes: int

    @classmethod
    def fit(
        cls, log_scores: Any, codes: Any, weights: Any = None, lengths: Any = None, prior: Any = None
    ) -> Uncalibrated:
        """There is nothing to learn but the number of classes."""
        z, _, _ = checked_training(log_scores, codes, weights)
        checked_lengths(lengths, len(z))
        checked_prior(prior, z.shape[1])
        return cls(z.shape[1])

    def apply(self, log_scores: Any, lengths: Any = None) -> Floats:
        """The log posteriors, normalised; lengths change nothing."""
        z = checked(log_scores, self.n_classes)
        checked_lengths(lengths, len(z))
        return normalised(z)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Nothing is learned."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_classes: int) -> Uncalibrated:
        """The same again."""
        return cls(n_classes)

    def describe(self) -> str:
        """What is done, in a sentence."""
        return "log posteriors are left as they are"


# From the simplest on: that is the order in which a tie is broken.
CALIBRATORS: dict[str, Any] = {kind.kind: kind for kind in (Uncalibrated, Temperature, Platt, Isotonic, VennAbers)}
_PLATT = ("slope", "shifts", "lengths")
_ARRAYS: dict[str, tuple[str, ...]] = {
    "none": (),
    "temperature": ("temperature", "lengths"),
    "platt": _PLATT,
    "isotonic": (*_PLATT, "sizes", "knots", "values"),
    "venn-abers": (*_PLATT, "sizes", "low", "high", "p0", "p1"),
}


def kind_of(name: Any) -> Any:
    """The calibrator of this name."""
    if not isinstance(name, str) or name not in CALIBRATORS:
        raise InputError(f"calibration={name!r} is not known{did_you_mean(name, CALIBRATORS)}")
    return CALIBRATORS[name]


def from_arrays(kind: str, arrays: Mapping[str, NDArray[Any]], n_classes: int) -> Calibrator:
    """The calibrator that gave these arrays; arrays that no calibrator could have given are refused.

    >>> import numpy as np
    >>> from_arrays("temperature", {"temperature": np.array([3.2]), "lengths": np.array([])}, 2).describe()
    'log posteriors are divided by 3.2'
    """
    chosen = kind_of(kind)
    if isinstance(n_classes, bool) or not isinstance(n_classes, int | np.integer) or n_classes < 1:
        raise InputError(f"a calibrator is for one class or more, got {n_classes!r}")
    if set(arrays) != set(_ARRAYS[kind]):
        wanted = ", ".join(_ARRAYS[kind]) or "none"
        raise InputError(
            f"a calibrator of kind {kind!r} has the arrays {wanted}, got {', '.join(sorted(arrays)) or 'none'}"
        )
    found: Calibrator = chosen.from_arrays(arrays, int(n_classes))
    return found
