"""Numbers, names and progress as a person reads them; plain data as JSON holds it; text for Markdown and LaTeX."""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EXACT = 22  # the largest power of ten that a double holds exactly


def plain(value: Any) -> Any:
    """Dictionaries, lists, texts, numbers, booleans and None; all else as text, and so is what is infinite."""
    if isinstance(value, Mapping):
        keys = {name: plain(name) for name in value}
        return {str(tuple(k)) if isinstance(k, list) else k: plain(value[name]) for name, k in keys.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        return str(value)  # of a message its English text alone
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    return str(value)


def span(low: float | None, high: float | None) -> str:
    """An interval as it is printed: a dash where there is none."""
    return "–" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def cell(value: float | None, low: float | None, high: float | None) -> str:
    """A value with its interval: 0.500 [0.250, 0.750]."""
    text = "–" if value is None or math.isnan(value) else f"{value:.3f}"
    return text if low is None or high is None else f"{text} {span(low, high)}"


def count(value: float) -> str:
    """Rows, or a sum of their weights."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"


def signed(value: float) -> str:
    """A number with its sign, to two decimals: +0.25, −1.50."""
    return f"{value:+.2f}".replace("-", "−")


def rounded(values: Any, digits: int) -> NDArray[np.float64]:
    """Numbers with so many digits after the point; of those below 0.1, so many that are not leading zeros.

    >>> rounded([0.9999997327322282, 0.8731234567, 0.00012345678, 1234.5], 6).tolist()
    [1.0, 0.873123, 0.000123457, 1234.5]
    """
    found = np.array(values, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        places = digits - 1 - np.minimum(np.floor(np.log10(np.abs(found))), -1.0)
        exact = (places <= _EXACT) & (np.abs(found) * 10.0**places < 1 << 53)  # others are left as they are
    for each in np.unique(places[exact]).tolist():
        own = exact & (places == each)
        found[own] = np.round(found[own], int(each))
    return found


def percent(share: float) -> str:
    """A share in a sentence; what is not quite all, or not quite nothing, is not called so."""
    if 0 < share < 0.0005:
        return "less than 0.1%"
    return "more than 99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def sentence(remark: object) -> str:
    """An error or a remark as a sentence of its own: "a vote has no nomogram" → "A vote has no nomogram."."""
    text = str(remark)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def shortened(value: Any, most: int = 60) -> str:
    """A value in one line, without what is beyond a length."""
    text = " ".join(str(value).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first names, and how many more there are: a, b and 3 more."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def quoted(text: str) -> str:
    """A string as it is written in Python, in double quotes where that can be."""
    return f'"{text}"' if text.isprintable() and not set(text) & {'"', "\\"} else repr(text)


def markdown(value: Any) -> str:
    """A value as text that Markdown shows as it is, in one line."""
    text = re.sub(r"([\\`*_\[\]|~#])", r"\\\1", " ".join(str(value).split()))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"^(\d*)([-+=.)])(?=\s|$)", r"\1\\\2", text)  # at the beginning of a line it would be a list


def code(value: Any, language: str | None = None) -> str:
    """A value as Markdown's code: within a line, or as a block of a language; fenced by more backticks than it has.

    Where it has a "<" it is written in tags, for a code span has no escapes: read as HTML it must not become a tag.
    """
    text = " ".join(str(value).split()) if language is None else str(value)
    if "<" in text:
        if language is None:
            return f"<code>{markdown(text)}</code>"
        return f'<pre><code class="language-{language}">{escape(text, quote=False)}\n</code></pre>'
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    if language is not None:
        fence = "`" * max(3, longest + 1)
        return f"{fence}{language}\n{text}\n{fence}"
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text or ' '}`"


# What LaTeX reads as a command, and signs that its usual fonts lack, as text that it shows as they are.
_LATEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    "→": r"$\rightarrow$", "−": "$-$", "×": r"$\times$", "÷": r"$\div$", "·": r"$\cdot$", "√": r"$\surd$",
    "π": r"$\pi$", "σ": r"$\sigma$", "μ": r"$\mu$", "Σ": r"$\Sigma$", "≤": r"$\leq$", "≥": r"$\geq$",
    "∞": r"$\infty$", "²": "$^2$", "⁺": "$^+$", "⁻": "$^-$", "½": "$1/2$", "█": r"\rule{.5em}{1.5ex}",
}  # fmt: skip


def latex(value: Any) -> str:
    """A value as text that LaTeX shows as it is, in one line."""
    return " ".join("".join(_LATEX.get(letter, letter) for letter in str(value)).split())


watchers: list[Callable[[str, int, int], None]] = []  # the last shows in its own way how far a task is: the command
_WAIT = 5.0  # seconds after which a fit says how far it is, in a terminal


class Line:
    """How far a long task is, on stderr: a line for each step, or (None) one line in a terminal, once it takes long."""

    def __init__(self, verbose: bool | None) -> None:
        self.verbose, self.began, self.shown = verbose, time.monotonic(), False

    def say(self, line: str, done: int = 0, total: int = 0) -> None:
        """Print a line, if it is due; so many steps of a total are done, where that is known."""
        if self.verbose is None and watchers:
            watchers[-1](line, done, total)
        elif self.verbose:
            print(line, file=sys.stderr, flush=True)
        elif self.verbose is None and sys.stderr.isatty() and time.monotonic() - self.began >= _WAIT:
            self.shown = True
            print(f"\r{line:<79}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line that was kept up to date."""
        if self.shown:
            print(file=sys.stderr)


class Progress(Line):
    """Called after each iteration; closed at the end."""

    def __call__(self, iteration: int, loss: float, excess: float) -> None:
        """How far the loss is from its least."""
        self.say(f"iteration {iteration}: loss {loss:.8g}, at most {excess:.3g} above the least")


class Counter(Line):
    """Counts the steps of a task whose number is known."""

    def __init__(self, what: str, total: int, verbose: bool | None) -> None:
        super().__init__(verbose)
        self.what, self.total, self.done = what, total, 0

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def step(self, by: int = 1) -> None:
        """So many more are done."""
        self.done += by
        self.say(f"{self.what} {self.done:,} of {self.total:,}", self.done, self.total)
