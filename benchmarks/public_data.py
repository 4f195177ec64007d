"""Where the public data sets lie that some tests and benchmarks need; none of them is part of the project."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]


def public_data(name: str) -> Path | None:
    """The path of a file such as text/polarity.csv.gz, or None where it is absent.

    It is looked for in the folder that the environment's INGENUO_DATA names; without it, in `data` in the project or in
    a folder beside it.
    """
    home = os.environ.get("INGENUO_DATA")
    folders = [Path(home)] if home else [ROOT / "data", *sorted(ROOT.parent.glob("*/data"))]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)
