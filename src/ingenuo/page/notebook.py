"""The page of a model within a notebook's cell."""

from __future__ import annotations

from typing import Any

from ingenuo.page import page
from ingenuo.page.rows import ROWS
from ingenuo.show.page import Frame


def framed(
    model: Any,
    rows: Any = None,
    *,
    question: Any = None,
    title: str | None = None,
    height: int = 720,
    language: str = "en",
    max_rows: int = ROWS,
    seed: int = 0,
) -> Frame:
    """The page of a model as a notebook shows it: within a frame that holds all of it, so that it works offline.

    Parameters
    ----------
    model : classifier or Network
        Fitted, and of a kind that has a sheet.
    rows : table, array or texts, optional
        Rows to judge the model by; whoever has the notebook can read them. None by default.
    question : mapping or text, optional
        The row that is asked first.
    title : str, optional
        The heading.
    height : int
        Of the frame, in pixels.
    language : {"en", "it", "es"}
        What the page speaks.
    max_rows, seed : int
        Of more rows so many are drawn at random.

    Examples
    --------
    >>> import ingenuo as ing
    >>> from ingenuo.datasets import play_tennis
    >>> shown = framed(ing.NaiveBayes().fit(play_tennis(), "Play"), question={"Outlook": "Rain"})
    >>> shown.html[:15], shown.height
    ('<!doctype html>', 720)
    """
    made = page(model, rows, question=question, title=title, language=language, max_rows=max_rows, seed=seed)
    return Frame(made, height)
