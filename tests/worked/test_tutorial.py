"""What the tutorial works out by hand is right to its last digit; its snippets are run with the other docs."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path

import pytest

CHAPTERS = sorted((Path(__file__).parents[2] / "docs").glob("tutorial_*.md"))
WORDS = re.compile(r"(?!exp\b|log\b)\b[A-Za-z]{2,}\b")
ARITHMETIC = re.compile(r"(?:exp|log|[\d.e+\-*/() ])+")
SIGNS = str.maketrans({"×": "*", "·": "*", "−": "-", "^": "**"})


def _value(written: str) -> float | None:
    """The value of what is written, such as `9/14 × Sunny 2/9`; None where it is no arithmetic."""
    plain = WORDS.sub("", written).translate(SIGNS).strip()
    if not re.search(r"\d", plain) or not ARITHMETIC.fullmatch(plain):
        return None
    try:
        return float(eval(plain, {"__builtins__": {}, "exp": math.exp, "log": math.log}))
    except (SyntaxError, TypeError):
        return None


def _allowed(written: str, value: float) -> float:
    """One in the last decimal place of a number, or half a percent if that is less; of other arithmetic, rounding."""
    found = re.fullmatch(r"\d*\.(\d+)(?:e(-?\d+))?", written.strip())
    last = 10.0 ** (int(found[2] or 0) - len(found[1])) if found else 1e-5 * abs(value)
    return min(last, 0.005 * abs(value)) + 1e-15 * abs(value)


def equations(page: Path) -> list[tuple[str, float, float, float]]:
    """Each `a = b` in the indented blocks of a page: as written, both values, and how far they may be apart."""
    found = []
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for line in prose.splitlines():
        if line.startswith("    "):
            for cell in re.split(r" {2,}", re.sub(r" *= *", " = ", line.strip())):
                parts = cell.split(" = ")
                for left, right in pairwise(parts):
                    value, wanted = _value(left), _value(right)
                    if value is not None and wanted is not None:
                        found.append((f"{left} = {right}", value, wanted, _allowed(right, wanted)))
    return found


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)
def test_what_is_reckoned_by_hand_is_right_to_the_last_digit(page: Path) -> None:
    for written, value, wanted, allowed in equations(page):
        assert abs(value - wanted) <= allowed, written


def test_every_chapter_reckons_by_hand() -> None:
    assert len(CHAPTERS) == 9
    assert [page.stem for page in CHAPTERS if len(equations(page)) < 2] == []
