"""Bayesian networks: a directed graph without cycles, a table for each node, and what follows from them."""
