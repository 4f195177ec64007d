"""Sums that add and subtract, exactly: tables with labelled axes, priors, and their bytes."""
