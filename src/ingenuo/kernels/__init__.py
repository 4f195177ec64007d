"""The loops, in a compiled library (`cpp/`): nothing here knows of models, only of arrays."""

from __future__ import annotations
