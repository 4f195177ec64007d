"""Estimators: fit sets the tally, partial_fit adds to it, forget subtracts, merge adds another's."""
