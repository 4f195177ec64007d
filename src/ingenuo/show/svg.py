"""Pieces of SVG: tags, and texts whose width is known before they are painted, the same everywhere."""

from __future__ import annotations

import errno
import io
import os
import unicodedata
from collections.abc import Sequence
from html import escape

from ingenuo.errors import InputError, KindError

FONTS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"

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
ENDINGS = (".svg", ".html", ".png", ".pdf")  # of files that a picture is written to


class Picture(str):
    """SVG as text, which a notebook shows as the picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def html(self) -> str:
        """The picture on a page, in a box that scrolls."""
        return f"<div style='overflow:auto;max-width:100%'>{self}</div>"

    def write(self, path: str | os.PathLike[str], title: str = "") -> None:
        """Write it to a file, whole or not at all, as the ending says: .svg, .html, .png or .pdf."""
        from ingenuo.tally.container import replace_file

        check_ending(path)
        name = os.fspath(path)
        if not os.path.isdir(os.path.dirname(os.path.realpath(name))):
            raise FileNotFoundError(errno.ENOENT, "there is no folder for the picture", name)
        kind = os.path.splitext(name)[1].lower()
        if kind == ".svg":
            data = self.encode()
        elif kind == ".html":
            from ingenuo.show.page import page

            data = page(title or "Picture", self.html()).encode()
        else:
            from ingenuo.show.plots import paint

            file = io.BytesIO()
            paint(self).savefig(
                file, format=kind[1:], dpi=150, metadata={"CreationDate": None} if kind == ".pdf" else None
            )
            data = file.getvalue()
        replace_file(os.path.realpath(name), [data])


def check_ending(path: str | os.PathLike[str]) -> None:
    """Refuse what is no path, and a name whose ending is of no picture, before anything is drawn."""
    if not isinstance(path, str | os.PathLike):
        raise KindError(f"path must be the path of a file, got {type(path).__name__} {path!r}")
    if os.path.splitext(os.fspath(path))[1].lower() not in ENDINGS:
        raise InputError(f"{os.fspath(path)}: a picture is written to a file that ends with {', '.join(ENDINGS)}")


def number(value: float) -> str:
    """A coordinate, with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def tag(name: str, content: str = "", **attributes: object) -> str:
    """An element; `content` is markup. An attribute that is None is left out, and _ in its name is a hyphen."""
    written = "".join(
        f' {key.replace("_", "-")}="{number(value) if isinstance(value, float | int) else escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def words(
    x: float, y: float, text: str, size: float, fill: str | None = None, *, anchor: str = "start", **more: object
) -> str:
    """A line of text on the base line y; x is its start, middle or end."""
    where = None if anchor == "start" else anchor
    return tag("text", escape(text), x=x, y=y, font_size=size, fill=fill, text_anchor=where, **more)


def group(kind: str, shapes: Sequence[str], tooltip: str = "", at: tuple[float, float] | None = None) -> str:
    """Shapes that belong together, perhaps moved, with the text that is shown when a pointer rests on them."""
    title = [f"<title>{escape(tooltip)}</title>"] if tooltip else []
    moved = None if at is None else f"translate({number(at[0])} {number(at[1])})"
    return tag("g", "\n".join([*title, *shapes]), **{"class": kind}, transform=moved)


def whole(width: float, height: float, label: str, parts: Sequence[str]) -> Picture:
    """The whole picture; the label is for those who do not see it."""
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    about = f'role="img" aria-label="{escape(label)}" font-family="{FONTS}"'
    return Picture("\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {about}>', *parts, "</svg>"]))


def clean(text: object) -> str:
    """A name as one line of text: white space becomes a blank, and what no page may hold a question mark."""
    return "".join(
        " " if letter.isspace() else "?" if unicodedata.category(letter) in ("Cc", "Cs", "Cn") else letter
        for letter in str(text)
    )


def text_width(text: str, size: float, bold: bool = False) -> float:
    """About how wide a text is at a size, rather too much than too little."""
    total = 0.0
    for letter in unicodedata.normalize("NFD", text):
        # Marks stand above or below, but a caron after d, l or t stands beside.
        total += _WIDTHS.get(letter, 1.07) if not unicodedata.combining(letter) else 0.1 * (letter == "\u030c")
    return total * size * (_BOLD if bold else 1.0)


def shorten(text: str, limit: float, size: float, bold: bool = False) -> str:
    """A text cut so that it is no wider than a limit."""
    if text_width(text, size, bold) <= limit:
        return text
    kept = len(text)
    while kept > 0 and text_width(text[:kept].rstrip() + "…", size, bold) > limit:
        kept -= 1
    return text[:kept].rstrip() + "…"


def percentage(p: float) -> str:
    """A probability for the eye; only what is exactly 0 or 1 is shown as such."""
    if p <= 0.0 or p >= 1.0:
        return "0%" if p <= 0.0 else "100%"
    return "<0.1%" if p < 0.0005 else ">99.9%" if p >= 0.9995 else f"{100 * p:.1f}%"
