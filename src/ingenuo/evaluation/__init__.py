"""Can it be believed? What is measured of models, on rows that they did not learn from."""
