"""A whole HTML page without scripts or references, in light and dark: its style and its charts."""

from __future__ import annotations

import html
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.show import plots
from ingenuo.show.plots import colour

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


# How tables look in a notebook, in its own colours.
STYLE = (
    ".ingenuo{display:inline-table;border-collapse:collapse;margin:0 2em 1em 0;vertical-align:top}"
    ".ingenuo th{text-align:left;border-bottom:1px solid currentColor}"
    ".ingenuo th,.ingenuo td{padding:.1em .8em .1em 0;text-align:left;white-space:nowrap}.ingenuo .n{text-align:right}"
    ".ingenuo em{white-space:normal}"
    ".ingenuo .rule td{border-top:1px solid currentColor}"
)


# How the report looks: one style sheet, in light and in dark, on a screen, on a phone and on paper.


# Every pair of ink and paper below has a contrast of 4.5 at least, and every colour of a chart one of 3.
_LIGHT = (
    "--paper:#ffffff;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--shade:#f6f8fa;--link:#0a58ca;--mark:#9a4a00;"
    "--blue:#0072b2;--orange:#b87900;--green:#008a64;--pink:#b5608f;--sky:#2f8fc6;--red:#d55e00"
)
_DARK = (
    "--paper:#14181d;--ink:#e6e8ea;--soft:#a9b1ba;--line:#3a424b;--shade:#1d232a;--link:#7cb7ff;--mark:#f0b06a;"
    "--blue:#4da3db;--orange:#e69f00;--green:#18b589;--pink:#d98fb8;--sky:#8fcff2;--red:#f07f2e"
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

_SHEET = """
:root{color-scheme:light dark;LIGHT}
@media (prefers-color-scheme:dark){:root{DARK}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.5;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Noto Sans",sans-serif}
header,main,footer{max-width:66rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:1.5rem}footer{padding-bottom:3rem;color:var(--soft)}
h1{font-size:1.8rem;line-height:1.2;margin:.5rem 0 .25rem}
h2{font-size:1.35rem;margin:2.5rem 0 .5rem;padding-top:.6rem;border-top:1px solid var(--line)}
h3{font-size:1.08rem;margin:1.5rem 0 .4rem}
h1,h2,h3,p,li,dd,summary,figcaption{overflow-wrap:anywhere}
p,main li{margin:.5rem 0;max-width:46rem}main li{margin:.25rem 0}main ul{padding-left:1.3rem}
p.how{color:var(--soft)}
p.warning{border-left:.25rem solid var(--mark);padding:.1rem 0 .1rem .75rem}
a{color:var(--link)}
a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:.2rem solid var(--link);outline-offset:.15rem}
.skip{position:absolute;left:-100vw;background:var(--paper);padding:.5rem 1rem;z-index:1}
.skip:focus{left:.5rem;top:.5rem}
nav ul{list-style:none;padding:0;margin:.5rem 0;columns:16rem;column-gap:2rem}
nav li{padding:.15rem 0;break-inside:avoid}
dl.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.6rem;margin:1rem 0}
dl.figures div{background:var(--shade);border:1px solid var(--line);border-radius:.4rem;padding:.5rem .75rem}
dl.figures dt{color:var(--soft);font-size:.85rem}
dl.figures dd{margin:0;font-size:1.35rem;font-variant-numeric:tabular-nums}
dl.figures dd small{display:block;font-size:.8rem;color:var(--soft)}
.scroll{overflow:auto;max-width:100%;margin:.75rem 0;background:
linear-gradient(to right,var(--paper) 40%,transparent) left/2rem 100% no-repeat local,
linear-gradient(to left,var(--paper) 40%,transparent) right/2rem 100% no-repeat local,
linear-gradient(to right,var(--soft),transparent) left/.5rem 100% no-repeat scroll,
linear-gradient(to left,var(--soft),transparent) right/.5rem 100% no-repeat scroll}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);padding-bottom:.25rem}
.sheet th,.sheet td{text-align:left;vertical-align:top;
padding:.25rem .9rem .25rem 0;border-bottom:1px solid var(--line)}
.sheet th{font-weight:600}.sheet tbody th{font-weight:400}
.sheet .n{text-align:right;white-space:nowrap}.sheet .long,.sheet td:last-child:not(.n){min-width:min(14rem,60vw)}
.bars{font-family:monospace;white-space:nowrap;letter-spacing:-.05em;color:var(--soft)}
figure{margin:1rem 0}
.picture{max-height:none}figure .scroll{margin:0 0 .25rem}
figcaption{color:var(--soft);font-size:.9rem;max-width:46rem}
svg.chart{display:block;width:100%;height:auto;color:var(--ink)}
svg.chart *{stroke-linejoin:round;stroke-linecap:butt}
svg.chart text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,Arial,"Noto Sans",sans-serif}
.several{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));gap:0 1.5rem}
.island{background:#fff;color:#111;border-radius:.4rem}
details{border:1px solid var(--line);border-radius:.4rem;margin:.6rem 0;padding:0 .9rem}
summary{cursor:pointer;padding:.55rem 0;font-weight:600}
pre{background:var(--shade);border:1px solid var(--line);border-radius:.4rem;padding:.75rem;margin:.75rem 0;
overflow:auto;font-size:.85rem}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
.ingenuo{font-size:.85rem}.ingenuo td,.ingenuo th{white-space:nowrap}
@media (max-width:40rem){header,main,footer{padding-left:.9rem;padding-right:.9rem}h1{font-size:1.45rem}}
@media print{:root{LIGHT}body{font-size:10pt}.skip,nav{display:none}.scroll{overflow:visible;max-height:none}
.sheet,.ingenuo{font-size:7.5pt}.ingenuo td,.ingenuo th{white-space:normal;overflow-wrap:anywhere}
h2{break-after:avoid}figure,tr{break-inside:avoid}details{border:0;padding:0}
details::details-content{content-visibility:visible;display:block}}
"""


def sheet() -> str:
    """The style sheet.

    >>> "prefers-color-scheme:dark" in sheet()
    True
    """
    return STYLE + _SHEET.replace("LIGHT", _LIGHT).replace("DARK", _DARK).replace("\n", "")


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
