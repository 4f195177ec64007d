"""The working behind an answer: the arithmetic of one prediction, the summary of a model."""
