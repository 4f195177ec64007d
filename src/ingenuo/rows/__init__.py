"""Rows as they come: arrays, frames, texts, files, and frames of Dask and Spark."""
