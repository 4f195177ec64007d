"""The minimum of a penalised cross-entropy: by Newton's steps on small tables, else in small subspaces."""
