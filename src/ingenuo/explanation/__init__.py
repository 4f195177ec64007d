"""Why an answer, and what a model has learned."""
