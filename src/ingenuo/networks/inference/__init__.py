"""Exact inference: what evidence on some nodes of a network says of the others."""

from ingenuo.networks.inference.junction_tree import JunctionTree
from ingenuo.networks.inference.queries import (
    Propagation,
    arc_strengths,
    expected_counts,
    joint,
    log_joint,
    log_probability,
    most_probable,
    posteriors,
    sample,
)

__all__ = [
    "JunctionTree",
    "Propagation",
    "arc_strengths",
    "expected_counts",
    "joint",
    "log_joint",
    "log_probability",
    "most_probable",
    "posteriors",
    "sample",
]
