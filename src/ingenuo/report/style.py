"""How the report looks: one style sheet, in light and in dark, on a screen, on a phone and on paper."""

from __future__ import annotations

from ingenuo.explanation import STYLE

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
