"""The gallery: each page runs, prints what it says, is short, and its picture is the one that it makes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.test_docs import run_snippets

DOCS = Path(__file__).parents[1] / "docs"
GALLERY, PICTURES = DOCS / "gallery", DOCS / "pictures" / "gallery"
PAGES = sorted(page for page in GALLERY.glob("*.md") if page.name != "index.md")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def picture_of(page: Path) -> Path:
    """The one picture that a page shows."""
    (name,) = re.findall(r"!\[[^]]+\]\(\.\./pictures/gallery/([^)]+)\)", page.read_text(encoding="utf-8"))
    return PICTURES / name


def colours(path: Path) -> np.ndarray:
    """A picture as coarse blocks of colour, which letters of another font do not change by much."""
    from PIL import Image

    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB").resize((24, 16), Image.Resampling.BOX), dtype=float)


def words(path: Path) -> list[str]:
    """The words and numbers in a drawing."""
    return re.findall(r">([^<>\n]+)<", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_it_says_and_draws_its_picture(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_snippets(page) >= 1
    kept = picture_of(page)
    made = tmp_path / kept.name
    if kept.suffix == ".svg":
        assert words(made) == words(kept)
    else:
        assert np.abs(colours(made) - colours(kept)).mean() < 3  # of 255; another page's picture is off by 20 and more


def test_there_are_ten_pages_and_the_index_shows_each() -> None:
    shown = (GALLERY / "index.md").read_text(encoding="utf-8")
    assert len(PAGES) == 10
    for page in PAGES:
        assert shown.count(f"]({page.name})") == 2, f"{page.name} has a picture and a line in the index"
        assert f'src="../pictures/gallery/{picture_of(page).name}"' in shown
    assert {path.name for path in PICTURES.iterdir()} == {picture_of(page).name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short_and_says_what_it_asks_what_may_go_wrong_and_where_more_is(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80
    assert "*The question:*" in text
    assert "*What would go wrong:*" in text
    linked = [GALLERY / name for name in LINK.findall(text)]
    assert any(path.parent.resolve() == DOCS.resolve() and path.suffix == ".md" for path in linked)
    assert not [path for path in linked if not path.exists()]
