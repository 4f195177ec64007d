"""An explanation as a whole page: one file without scripts or references, in light and dark."""

from __future__ import annotations

import html
import os
import sys
from typing import Any

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{margin:1.5rem auto;max-width:70rem;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;"
    "background:#ffffff;color:#1a1a1a}"
    "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}"
    "table{font-variant-numeric:tabular-nums}"
    ":focus-visible{outline:2px solid currentColor;outline-offset:2px}"
    "@media (prefers-color-scheme:dark){body{background:#14181d;color:#e8e8e8}}"
    "@media print{body{margin:0;max-width:none}}"
)


def page(title: str, body: str) -> str:
    """A whole page of HTML around what is to be shown.

    >>> shown = page("Why <yes>?", "<p>9/14</p>")
    >>> shown.startswith("<!doctype html>"), "<title>Why &lt;yes&gt;?</title>" in shown
    (True, True)
    """
    name = html.escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{name}</h1>\n"
        f"{body}\n</main>\n</body>\n</html>\n"
    )


class Shown:
    """What every explanation can do besides: to be printed, and to be a page."""

    def to_text(self, *, colour: bool = False) -> str:
        """The tables as text; what has a text in it shows its words in colours for a terminal, if asked to."""
        return str(self)

    def show(self, file: Any = None) -> None:
        """Print it; with colours where the output is a terminal that wants them (NO_COLOR says it does not)."""
        out = sys.stdout if file is None else file
        colour = bool(getattr(out, "isatty", lambda: False)()) and not os.environ.get("NO_COLOR")
        print(self.to_text(colour=colour), file=out)

    def to_html(self, title: str | None = None) -> str:
        """A whole page, to be written to a file: no scripts, and nothing that is fetched from elsewhere."""
        return page(self._called() if title is None else title, self._repr_html_())

    def _called(self) -> str:
        """The title of its page."""
        return f"Why {getattr(self, 'prediction', '')}?"

    def _repr_html_(self) -> str:
        raise NotImplementedError
