"""Repairing probabilities: curves from log posteriors to calibrated ones, learned from rows the model had not seen."""
