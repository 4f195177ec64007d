"""The version, for whoever must name it: files, commands, and the work that is sent to others."""

VERSION = "0.1.0"
