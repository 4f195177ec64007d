"""The command `ingenuo`: a group whose sub-commands are imported when they are called.

Commands hold no logic: they read their options, call the library and print. Data goes to stdout, all else to stderr.
What the library refuses is one sentence and exit code 1, what the command line gets wrong is exit code 2, and an
interrupted command ends with 130; a traceback is shown only with `--debug`.
"""

from __future__ import annotations

from ingenuo.cli.options import COMMANDS as COMMANDS
from ingenuo.cli.options import main as main
