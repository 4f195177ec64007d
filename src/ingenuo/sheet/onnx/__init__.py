"""ONNX from a sheet: a graph of operations in doubles that answers rows as the model does, where no Python is.

It adds what Python adds, in the same order: log joints that are sums and products alone have the same bits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.sheet import Sheet
from ingenuo.sheet.onnx import scorers
from ingenuo.sheet.onnx.graph import DOUBLE, Graph, type_of
from ingenuo.sheet.onnx.terms import Writer
from ingenuo.text.tokens import SEPARATOR, features, tokens
from ingenuo.text.words import Words

OUTPUTS = ("predict", "predict_proba", "joint")


def onnx(sheet: Sheet, *, together: bool = False) -> bytes:
    """A model of ONNX (opset 17, ai.onnx.ml 3) that answers rows.

    Each column is an input of the same name: numbers and counts are doubles (n, 1), and NaN is missing; categories are
    strings (n, 1), and "" is missing; texts are strings (n, words), cut by the caller, with "" behind the last word.
    The outputs are `predict` (n), `predict_proba` (n, classes) and, where there is one, the log `joint` (n, classes).

    Parameters
    ----------
    sheet : Sheet
        Of the model.
    together : bool
        Whether all columns, which must be numbers, are one input "X" (n, columns).

    Examples
    --------
    >>> import ingenuo as ing
    >>> from ingenuo.sheet import sheet
    >>> data = onnx(sheet(ing.NaiveBayes().fit([[0.5, 1.0], [1.5, 3.0]], ["no", "yes"])))
    >>> import onnx as format
    >>> [each.name for each in format.load_from_string(data).graph.input]
    ['x0', 'x1']
    """
    if not isinstance(sheet, Sheet):
        raise KindError(f"ONNX is written from a sheet, got {type(sheet).__name__}; give sheet(model)")
    odd = next((each for each in sheet.columns if each["kind"] not in ("number", "count")), None)
    if together and odd is not None:
        raise InputError(f"column {odd['name']!r} holds no numbers, so the columns are inputs of their own")
    names = [str(each["name"]) for each in sheet.columns]
    if not names:
        raise InputError("the model reads no column, so there is nothing to give a model of ONNX")
    if "" in names:
        raise InputError("a column has an empty name, and ONNX has no such inputs; name it")
    graph = Graph({*names, "X"})
    w = Writer(graph, sheet.columns, len(sheet.classes), together)
    w.declare()
    found = scorers.answer(sheet.scorer, w)
    classes = _classes(sheet.classes)
    best = graph.op("ArgMax", found.compared, axis=1, keepdims=0)
    label = graph.op("Gather", graph.constant(classes), best, axis=0)
    predict, proba, joint = (graph.free(name) for name in OUTPUTS)
    outputs: dict[str, Any] = {predict: (label, type_of(classes), ["N"])}
    shape = ["N", len(sheet.classes)]
    outputs[proba] = (found.posterior, DOUBLE, shape)
    if found.joint is not None:
        outputs[joint] = (found.joint, DOUBLE, shape)
    about = {
        "classes": json.dumps(sheet.classes, ensure_ascii=False, default=str),
        "model": sheet.digest, "kind": sheet.kind,
        **({"target": sheet.target} if sheet.target is not None else {}),
        **({"words": json.dumps(w.readings, ensure_ascii=False)} if w.readings else {}),
    }  # fmt: skip
    return graph.finish(outputs, about)


def _classes(labels: Sequence[Any]) -> NDArray[Any]:
    """The classes as an array of one type; strings where they are of several."""
    types = {type(label) for label in labels}
    return np.array(labels) if types in ({bool}, {int}, {float}) else np.array([str(label) for label in labels], object)


def cut(texts: Sequence[str | None], words: Words, *, once: bool = False) -> NDArray[Any]:
    """Texts as such a model takes them: their words and n-grams, (n, most words), with "" behind them.

    A text without any word has one that is none, for of a row of "" alone the text is missing.

    Parameters
    ----------
    texts : list of str or None
        A missing text has no words.
    words : Words
        How the model's column is cut: `model.schema_.texts[column]`.
    once : bool
        Whether each word stands there once; for models that count documents and not words.
    """
    read = [[] if text is None else features(tokens(text, words), words) for text in texts]
    found = [[" ".join(each.words) for each in own] for own in read]
    found = [own or ([] if text is None else [SEPARATOR]) for own, text in zip(found, texts)]
    if once:
        found = [list(dict.fromkeys(each)) for each in found]
    result = np.full((len(found), max([1, *map(len, found)])), "", object)
    for row, each in zip(result, found):
        row[: len(each)] = each
    return result
