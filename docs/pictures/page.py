"""Draw the pictures of the page, in the README and in docs/page.md, with Debian's Chromium.

    INGENUO_DATA=FOLDER python docs/pictures/page.py

The folder has text/rt-polarity.all.gz (sentences of film reviews) and networks/asia.bif.gz.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from benchmarks.corpora import sentences  # noqa: E402
from benchmarks.public_data import public_data  # noqa: E402
from PIL import Image  # noqa: E402
from tests.browsers import chromium  # noqa: E402

import ingenuo as ing  # noqa: E402
from ingenuo.datasets import diabetes  # noqa: E402
from ingenuo.page import page  # noqa: E402

REVIEW = "A warm and clever film with a lovely cast. The plot is a bit thin, yet I was moved, and laughed a lot."
PATIENT = {"age": "60s", "sex": "sex 2", "bmi": 31, "bp": 101, "s5": 4.9}


class Picture(NamedTuple):
    """A page, and what of it is drawn."""

    model: Any
    question: Mapping[str, Any]
    title: str
    rows: Any = None
    view: str | None = None
    scheme: Any = "light"


def pictures() -> dict[str, Picture]:
    """Each by its name."""
    table = diabetes()
    patients = ing.NaiveBayes(calibration="platt").fit(table.slice(0, 300), "progression")
    films = sentences("rt-polarity.all.gz", "latin-1")
    known = {"0": "bad", "1": "good"}
    reviews = ing.NaiveBayes(text=ing.Words(ngrams=(1, 2))).fit(films.texts, [known[each] for each in films.labels])
    asia = ing.Network.read(str(public_data("networks/asia.bif.gz")))
    asia.target = "lung"
    asked = str(reviews.schema_.names[0])
    return {
        "page": Picture(patients, PATIENT, "Diabetes: fast or slow?", table.slice(300)),
        "page_text": Picture(reviews, {asked: REVIEW}, "Is the review good?"),
        "page_network": Picture(asia, {"smoke": "yes", "xray": "yes"}, "Asia", scheme="dark"),
        "page_believe": Picture(patients, PATIENT, "Diabetes: fast or slow?", table.slice(300), view="believe"),
        "page_nomogram": Picture(patients, PATIENT, "Diabetes: fast or slow?", table.slice(300), view="nomogram"),
    }


def main() -> None:
    """Draw all, two pixels to each of the page."""
    size: Any = {"width": 1180, "height": 760}
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        for name, each in pictures().items():
            tab = browser.new_page(
                viewport=size, device_scale_factor=2, color_scheme=each.scheme, reduced_motion="reduce"
            )
            file = Path(folder, f"{name}.html")
            file.write_text(page(each.model, each.rows, title=each.title, question=each.question), encoding="utf-8")
            tab.goto(file.as_uri())
            tab.wait_for_selector("html[data-ready]", state="attached")
            tab.wait_for_timeout(1500)  # until the check rows are answered, and what is off the screen is drawn
            if each.view:
                tab.evaluate("id => document.getElementById(id).scrollIntoView()", each.view)
                tab.wait_for_timeout(1500)
            drawn = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
            few = drawn.quantize(256, dither=Image.Dither.NONE)  # colours: a third of the bytes
            few.save(HERE / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
