"""Engines reduce the chunks of a source to one tally. They hold no mathematics: they map and add."""
