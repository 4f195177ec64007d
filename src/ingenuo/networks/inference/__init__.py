"""Exact inference: what evidence on some nodes of a network says of the others."""

from ingenuo.networks.inference.junction_tree import JunctionTree
from ingenuo.networks.inference.propagation import Propagation
from ingenuo.networks.inference.queries import joint, log_probability, most_probable, posteriors, sample

__all__ = ["JunctionTree", "Propagation", "joint", "log_probability", "most_probable", "posteriors", "sample"]
