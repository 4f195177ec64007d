"""The loops, compiled by numba: nothing here knows of models, only of arrays."""
