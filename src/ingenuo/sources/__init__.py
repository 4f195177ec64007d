"""Where rows come from: arrays, sparse matrices, data frames. Each source hands out blocks for a chunk."""

from __future__ import annotations

from ingenuo.sources.table import Source, open_source

__all__ = ["Source", "open_source"]
