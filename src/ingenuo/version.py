"""The version, for whoever must name it: files, commands, and the work that is sent to others."""

from __future__ import annotations

VERSION = "0.1.0"
