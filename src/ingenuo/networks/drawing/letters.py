"""How wide text runs, and what is left of it where there is no room: widths by a table, the same everywhere."""

from __future__ import annotations

import unicodedata

# Thousandths of the letter size, of DejaVu Sans: the widest of the usual fonts without serifs.
_BY_WIDTH = {
    280: "'ijl",
    318: "IJ ,.·",
    337: "/:;\\|",
    392: "f-()[]t",
    411: "!r",
    500: '"*_`–',
    550: "szc?",
    592: "LFkvxy",
    615: "PTYoae",
    636: "EhnuSbdgpq$0123456789{}",
    698: "KAVXZBRC",
    752: "UNH",
    787: "DG&OQ",
    838: "w#+<=>^~→≤≥−",
    870: "M",
    1000: "%mW@…",
}
_WIDTHS = {letter: width / 1000 for width, letters in _BY_WIDTH.items() for letter in letters}
_BOLD = 1.17  # how much wider bold letters run


def clean(text: object) -> str:
    """A name or state as one line of text: white space becomes a blank, and what no page may hold a question mark."""
    return "".join(
        " " if letter.isspace() else "?" if unicodedata.category(letter) in ("Cc", "Cs", "Cn") else letter
        for letter in str(text)
    )


def text_width(text: str, size: float, bold: bool = False) -> float:
    """About how wide a text is at a size, rather too much than too little.

    Examples
    --------
    >>> from ingenuo.networks.drawing.geometry import text_width
    >>> text_width("ill", 10) < text_width("www", 10)
    True
    """
    total = 0.0
    for letter in unicodedata.normalize("NFD", text):
        # Marks stand above or below, but a caron after d, l or t stands beside.
        total += _WIDTHS.get(letter, 1.07) if not unicodedata.combining(letter) else 0.1 * (letter == "\u030c")
    return total * size * (_BOLD if bold else 1.0)


def shorten(text: str, limit: float, size: float, bold: bool = False) -> str:
    """A text cut so that it is no wider than a limit.

    Examples
    --------
    >>> from ingenuo.networks.drawing.geometry import shorten
    >>> shorten("catecholamine", 60, 12)
    'catecho…'
    """
    if text_width(text, size, bold) <= limit:
        return text
    kept = len(text)
    while kept > 0 and text_width(text[:kept].rstrip() + "…", size, bold) > limit:
        kept -= 1
    return text[:kept].rstrip() + "…"


def percentage(p: float) -> str:
    """A probability for the eye; only what is exactly 0 or 1 is said to be so.

    Examples
    --------
    >>> from ingenuo.networks.drawing.geometry import percentage
    >>> percentage(0.31), percentage(1.0), percentage(0.99999), percentage(1e-9)
    ('31.0%', '100%', '>99.9%', '<0.1%')
    """
    if p <= 0.0:
        return "0%"
    if p < 0.0005:
        return "<0.1%"
    if p >= 1.0:
        return "100%"
    return ">99.9%" if p >= 0.9995 else f"{100 * p:.1f}%"
