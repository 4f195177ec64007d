"""A class as it is written on a command line or in a file: "3" may be the number 3."""

from __future__ import annotations

from typing import Any

from ingenuo.errors import InputError, did_you_mean


def written_class(model: Any, text: str) -> Any:
    """The class of a model that is written so.

    >>> from ingenuo import NaiveBayes
    >>> written_class(NaiveBayes().fit([[1], [2]], [0, 1]), "1")
    1
    """
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise InputError(f"a {type(model).__name__} has no classes, and so none called {text!r}")
    known = classes.tolist()
    for same in (lambda label: label == text, lambda label: str(label) == text):
        for label in known:
            if same(label):
                return label
    raise InputError(f"there is no class {text!r}{did_you_mean(text, known)}")
