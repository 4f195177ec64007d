"""A model for others: written in another form, or asked on a page at home."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ingenuo.cli.work.change import merge
from ingenuo.cli.work.train import Done, drop_rare
from ingenuo.errors import InputError
from ingenuo.page import page
from ingenuo.page.rows import page_rows
from ingenuo.rows.streams import draw_rows
from ingenuo.sheet import sheet

Rows = Callable[[Any], dict[str, Any]]  # of a model

LARGEST = 20_000_000  # bytes of a file that is written


def drawn_rows(stream: Any, max_rows: int, seed: int) -> Rows:
    """What a page of a model embeds of the rows of files; with their classes, where the files have them.

    The files are read once: what a page of the model as it is later embeds are the same rows.
    """
    table, _, given = draw_rows(stream, max_rows, seed)

    def rows(model: Any) -> dict[str, Any]:
        return page_rows(model, table, stream.target, max_rows=max_rows, seed=seed, given=given)

    return rows


def keep_words(model: Any, n: int) -> Any:
    """The model with the most frequent words of each column of texts alone, as if the others were unknown to it."""
    schema: Any = getattr(model, "schema_", None)
    texts = {} if schema is None else {name: replace(each, max_words=n) for name, each in schema.texts.items()}
    if not texts or not hasattr(model, "_set_tally"):
        raise InputError(f"--top-words is for naive Bayes on texts, and this is a {type(model).__name__} that has none")
    if getattr(model, "tune", False) or getattr(model, "calibration", None) is not None:
        raise InputError(
            "the model was tuned or calibrated with all its words, and would be neither without some; leave words out "
            "of one that is neither"
        )
    model._set_tally(
        replace(schema, texts={name: replace(each, max_words=n) for name, each in texts.items()}), model.tally_
    )
    return model


def without_rare(model: Any, about: Mapping[str, Any], minimum: int) -> Done:
    """The model without what fewer rows have than a minimum."""
    return drop_rare(Done(model, [], dict(about)), minimum)


def merge_with(name: str, about: Mapping[str, Any]) -> Callable[[Any, Any], tuple[Any, list[str]]]:
    """What adds another model to the one of a page, as `ingenuo merge` would."""

    def add(model: Any, other: Any) -> tuple[Any, list[str]]:
        done = merge([(name, model, about), ("the second model", other, {})])
        return done.model, done.notes

    return add


def written(form: str, model: Any, about: Mapping[str, Any], rows: Any, given: Mapping[str, Any]) -> str | bytes:
    """The model in a form that is one file."""
    return _WRITERS[form](model, about, rows, given)


def _html(model: Any, about: Mapping[str, Any], rows: Any, given: Mapping[str, Any]) -> str:
    shown = {
        key: about[key] for key in ("rows", "file") if key in about
    }  # no command and no path, which may be private
    return page(
        model,
        rows,
        title=given["title"] or about.get("title"),
        about=shown,
        language=given["language"] or "en",
        sums=given["sums"],
    )


def _js(model: Any, about: Mapping[str, Any], rows: Any, given: Mapping[str, Any]) -> str:
    from ingenuo.page.javascript import javascript

    return javascript(sheet(model))


def _sql(model: Any, about: Mapping[str, Any], rows: Any, given: Mapping[str, Any]) -> str:
    from ingenuo.sheet.sql import sql

    style, table = given["shape"] or "select", (given["table"] or "rows").split(".")
    return sql(
        sheet(model), dialect=given["dialect"] or "duckdb", style=style, table=table, key=list(given["key"]) or None
    )


def _onnx(model: Any, about: Mapping[str, Any], rows: Any, given: Mapping[str, Any]) -> bytes:
    from ingenuo.sheet.onnx import onnx

    return onnx(sheet(model))


_WRITERS: Mapping[str, Callable[..., str | bytes]] = {"html": _html, "js": _js, "sql": _sql, "onnx": _onnx}


def check_size(data: str | bytes, form: str, model: Any, n_rows: int) -> None:
    """Raise where a file would be too large for a browser, or for whoever is sent it."""
    size = len(data.encode() if isinstance(data, str) else data)
    if size <= LARGEST:
        return
    texts = getattr(getattr(model, "schema_", None), "texts", None)
    remedies = ["embed fewer rows (--max-rows)"] if n_rows else []
    remedies += ["keep the most frequent words alone (--top-words 20000)"] if texts else []
    remedies += ["leave out what few rows have (--minimum 5)"]
    raise InputError(
        f"the {form} would have {size / 1e6:,.1f} MB, and {LARGEST / 1e6:g} MB is the most; {', or '.join(remedies)}"
    )
