"""A whole HTML page without scripts or references, in light and dark, and the charts on it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.show import plots
from ingenuo.show.plots import colour
from ingenuo.show.table import STYLE, Section


def page(title: str, body: str, contents: Sequence[Section] = ()) -> str:
    """A whole page of HTML around what is to be shown.

    Parameters
    ----------
    title : str
        Its title and heading.
    body : str
        HTML.
    contents : sequence of Section
        What the table of contents leads to, if there is one.

    Examples
    --------
    >>> shown = page("Why <yes>?", "<p>9/14</p>")
    >>> shown.startswith("<!doctype html>"), "<title>Why &lt;yes&gt;?</title>" in shown
    (True, True)
    """
    import ingenuo

    return render("page.html", title=title, body=body, contents=contents, tables=STYLE, version=ingenuo.__version__)


def render(template: str, **values: Any) -> str:
    """A template of the package, filled in; values are escaped unless the template says that they are markup."""
    return str(_templates().get_template(template).render(**values))


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("ingenuo.show"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )


# The colours with which pictures are drawn, and the variables that stand for them on the page.
COLOURS = {
    "#0072b2": "var(--blue)",
    "#e69f00": "var(--orange)",
    "#009e73": "var(--green)",
    "#cc79a7": "var(--pink)",
    "#56b4e9": "var(--sky)",
    "#d55e00": "var(--red)",
}

# matplotlib's pictures as SVG inside a page: text that is text, ink of the page's colour, names that do not clash.


Floats = NDArray[np.float64]

# Drawn with these, and then replaced by what the page writes and is written on with.
_INK, _PAPER = "#010203", "#fdfcfb"
_POINT = 4 / 3  # pixels
_NARROW, _WIDE = 300, 620  # pixels that a picture is not drawn smaller than: plain, and crowded


@contextmanager
def drawing() -> Iterator[None]:
    """Within, matplotlib draws as `svg` wants it; no setting of the caller's is changed."""
    from cycler import cycler
    from matplotlib import style

    inks = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK)
    settings: dict[str, Any] = {
        **inks,
        "axes.prop_cycle": cycler(color=[*COLOURS, "#7f7f7f", "#8c564b", "#bcbd22", "#9467bd"]),
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "legend.facecolor": _PAPER,
        "legend.edgecolor": "none",
        "svg.fonttype": "none",
        "svg.hashsalt": "ingenuo",
        "font.family": ["DejaVu Sans"],  # whose letters are as wide as any that a browser may take instead
    }
    with style.context(["default", settings]):
        yield


def svg(axes: Any, name: str, key: str, *, crowded: bool = False, own_colours: bool = False) -> str:
    """A picture as a part of a page.

    Parameters
    ----------
    axes : matplotlib axes
        Whose figure is drawn.
    name : str
        What the picture shows, for those who do not see it.
    key : str
        What the names inside begin with; another for every picture of a page.
    crowded : bool
        Whether it can be read only when it is large; then it scrolls on a phone.
    own_colours : bool
        Whether its colours stand on a ground of its own, and stay as they are in the dark.
    """
    written = io.StringIO()
    axes.figure.savefig(written, format="svg", metadata={"Date": None}, transparent=True)
    text = written.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<defs>\s*</defs>", "", text, flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", _brief, text)
    for drawn, shown in () if own_colours else COLOURS.items():
        text = text.replace(drawn, shown)
    text = re.sub(r">\s+<", "><", text)
    return _opened(_named(text, key), name, crowded).strip()


def _brief(tag: re.Match[str]) -> str:
    """A tag with its numbers to a hundredth, the page's colours, and no font of its own."""
    text = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), tag[0])
    text = re.sub(r"font-family:[^;\"]*;? ?", "", re.sub(r"\s+", " ", text))
    return text.replace(_INK, "currentColor").replace(_PAPER, "var(--paper)")


def _named(text: str, key: str) -> str:
    """With the names that are referred to made the page's only ones, and the others left out."""
    used = {*re.findall(r"url\(#([^)]+)\)", text), *re.findall(r'href="#([^"]+)"', text)}
    text = re.sub(r' id="([^"]+)"', lambda found: f' id="{key}-{found[1]}"' if found[1] in used else "", text)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{key}-", text)


def _opened(text: str, name: str, crowded: bool) -> str:
    """With an opening tag that fits the page."""
    end = text.index(">")
    found = re.search(r'viewBox="([^"]+)"', text[:end])
    assert found is not None, "matplotlib's pictures have a view box"
    width = float(found[1].split()[2]) * _POINT
    least = min(width, _WIDE if crowded else _NARROW)
    return (
        f'<svg class="chart" role="img" aria-label="{escape(name)}" viewBox="{found[1]}" '
        f'style="max-width:{width:.0f}px;min-width:{least:.0f}px" xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink">{text[end + 1 :]}'
    )


def balance(names: list[str], learned: Floats | None, judged: Floats) -> Any:
    """Draw the share of each class among the rows learned from and the rows judged."""
    ax = plots.new_axes(None, (5.6, 0.9 + 0.42 * len(names)))
    places = np.arange(len(names))[::-1].astype(float)
    if learned is None:
        ax.barh(places, judged, 0.6, color=colour(1))
    else:
        ax.barh(places + 0.19, learned, 0.36, color=colour(0), label="learned from")
        ax.barh(places - 0.19, judged, 0.36, color=colour(1), label="judged on")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9, frameon=False)
    ax.set_yticks(places, names)
    ax.set_xlabel("share of the rows")
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.xaxis.set_major_locator(_few())
    ax.grid(axis="x", alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _few() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(5)
