"""A text with its words coloured by what they say: green for the answer, red for the next best class."""

from __future__ import annotations

import html

from ingenuo.families.family import Passage

# Log odds from which a colour is full: e^2 is about 7 to 1.
_FULL = 2.0
_WEAK = 0.05  # and below which there is none


def _strength(weight: float | None) -> float:
    """From -1 to 1; 0 where a word says next to nothing."""
    if weight is None or abs(weight) < _WEAK:
        return 0.0
    return max(-1.0, min(1.0, weight / _FULL))


def in_html(passage: Passage) -> str:
    """Spans whose background says how much; the log odds appear when a word is pointed at."""
    parts = []
    for text, weight in passage.pieces:
        strength = _strength(weight)
        if not strength:
            parts.append(html.escape(text))
            continue
        colour = "46,160,67" if strength > 0 else "218,54,51"
        parts.append(
            f"<span style='background:rgba({colour},{0.15 + 0.6 * abs(strength):.2f});border-radius:.2em' "
            f"title='{weight:+.3f}'>{html.escape(text)}</span>"
        )
    return f"<span style='white-space:pre-wrap'>{''.join(parts)}</span>"


def _harmless(text: str) -> str:
    """A text without what a terminal would obey: its control characters are shown as �."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


def in_terminal(passage: Passage) -> str:
    """The same with the escape codes of a terminal of 256 colours; strong words are bold as well."""
    parts = []
    for text, weight in passage.pieces:
        strength = _strength(weight)
        if not strength:
            parts.append(_harmless(text))
            continue
        shades = (71, 34, 28) if strength > 0 else (174, 167, 160)
        shade = shades[min(2, int(3 * abs(strength)))]
        bold = "1;" if abs(strength) >= 0.5 else ""
        parts.append(f"\x1b[{bold}38;5;{shade}m{_harmless(text)}\x1b[0m")
    return "".join(parts)


def in_signs(passage: Passage) -> str:
    """The same without colours: signs after the words that say something, two where they say much."""
    parts = []
    for text, weight in passage.pieces:
        strength = _strength(weight)
        sign = "⁺" if strength > 0 else "⁻"
        parts.append(_harmless(text) + sign * (2 if abs(strength) >= 0.5 else 1 if abs(strength) >= 0.1 else 0))
    return "".join(parts)
