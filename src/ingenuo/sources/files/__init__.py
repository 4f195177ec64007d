"""Tables from files: delimited text, Parquet, Arrow, JSON lines, ARFF, lines with labels, folders of texts.

Files are looked at once (`scan`): format, encoding, columns and what each is. Their rows then come in batches, as often
as they are needed, in bounded memory; or all at once (`read`).
"""

from __future__ import annotations

from ingenuo.sources.files.scanning import Scan, read, scan

__all__ = ["Scan", "read", "scan"]
