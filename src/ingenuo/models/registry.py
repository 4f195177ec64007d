"""Models by the names that commands have for them, with their settings as text: "network:structure=aode"."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ingenuo.errors import InputError, did_you_mean
from ingenuo.tally.prior import Laplace, Lidstone, MaximumLikelihood, MEstimate, Prior
from ingenuo.text.words import Words

# Each name with its class.
MODELS: dict[str, str] = {
    "naive-bayes": "naive_bayes.NaiveBayes",
    "network": "network_classifier.NetworkClassifier",
    "discriminant": "discriminant.GaussianDiscriminant",
    "softmax": "softmax.SoftmaxRegression",
    "language": "language.LanguageModelClassifier",
    "language-model": "language.LanguageModel",  # of texts that have no class
    "least-squares": "least_squares.LeastSquaresClassifier",
    "regressor": "regressor.NaiveBayesRegressor",
}
PRIORS = ("laplace", "maximum-likelihood", "lidstone:ALPHA", "m-estimate:M")
_WORDS = tuple(inspect.signature(Words).parameters)


def class_of(name: str) -> type[Any]:
    """The class that a name stands for."""
    if name not in MODELS:
        raise InputError(f"there is no model called {name!r}{did_you_mean(name, MODELS)}")
    module, _, found = MODELS[name].rpartition(".")
    class_: type[Any] = getattr(importlib.import_module(f"ingenuo.models.{module}"), found)
    return class_


def build(name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """A model by its name; what `settings` has as text becomes what the model takes.

    Settings are the parameters of the model; those of `Words` are gathered into its `text`. A setting that the model
    has no use for is an error, and none is passed over.

    >>> build("naive-bayes", {"prior": "lidstone:0.5", "tune": "yes"})
    NaiveBayes(prior=Lidstone(alpha=0.5, variance_floor=1e-09), tune=True)
    >>> build("softmax", {"ngrams": "1-2", "binary": "yes", "l2": "0.1"}).text.ngrams
    (1, 2)
    """
    class_ = class_of(name)
    parameters = inspect.signature(class_).parameters
    given: dict[str, Any] = {}
    words: dict[str, Any] = {}
    for key, value in (settings or {}).items():
        if key in parameters:
            given[key] = _value(key, value, parameters[key].default)
        elif key in _WORDS and "text" in parameters:
            words[key] = _value(key, value, inspect.signature(Words).parameters[key].default)
        else:
            known = [*(each for each in parameters if each != "text"), *(_WORDS if "text" in parameters else ())]
            raise InputError(
                f"the model {name!r} has no setting {key!r}{did_you_mean(key, known)}; models that have it: "
                f"{_who_has(key) or 'none'}"
            )
    if words:
        default = parameters["text"].default
        given["text"] = Words(**{**(default.parameters() if isinstance(default, Words) else {}), **words})
    return class_(**given)


def parse(spec: str) -> tuple[str, dict[str, str]]:
    """The name and the settings of "name:setting=value,setting=value".

    >>> parse("network:structure=kdb,k=3")
    ('network', {'structure': 'kdb', 'k': '3'})
    """
    name, _, rest = spec.partition(":")
    if name not in MODELS:
        raise InputError(f"there is no model called {name!r}{did_you_mean(name, MODELS)}")
    settings = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise InputError(f"{part!r} in {spec!r} is no SETTING=VALUE")
        settings[key.strip().replace("-", "_")] = value.strip()
    return name, settings


def _who_has(key: str) -> str:
    found = [
        name
        for name in MODELS
        if key in (own := inspect.signature(class_of(name)).parameters) or (key in _WORDS and "text" in own)
    ]
    return ", ".join(found)


def _value(key: str, text: Any, default: Any) -> Any:
    """A setting that was given as text, as what the model's own default is."""
    if not isinstance(text, str):
        return text
    if isinstance(default, Prior):
        return prior(text)
    if key == "ngrams":
        return _range(text)
    if key == "smoothing" and ":" in text:
        return prior(text)
    lower = text.lower()
    if isinstance(default, bool) or (lower in ("yes", "no", "true", "false") and key != "stop_words"):
        if lower not in ("yes", "no", "true", "false"):
            raise InputError(f"{key} is yes or no, got {text!r}")
        return lower in ("yes", "true")
    if lower == "none":
        return None
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _range(text: str) -> tuple[int, int]:
    """From how many words to how many: "2" is words and pairs of words, "2-3" only longer ones."""
    low, _, high = text.partition("-")
    try:
        return (int(low), int(high)) if high else (1, int(low))
    except ValueError:
        raise InputError(f"ngrams is a number such as 2 or a range such as 1-3, got {text!r}") from None


def prior(text: str) -> Prior:
    """A prior by its name: "laplace", "maximum-likelihood", "lidstone:0.5", "m-estimate:3".

    >>> prior("lidstone:1/2")
    Lidstone(alpha=0.5, variance_floor=1e-09)
    """
    name, _, number = text.partition(":")
    try:
        amount = float(Fraction(number)) if number else None
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{number!r} in {text!r} is no number; priors are {', '.join(PRIORS)}") from None
    if name == "laplace" and amount is None:
        return Laplace()
    if name == "maximum-likelihood" and amount is None:
        return MaximumLikelihood()
    if name == "lidstone" and amount is not None:
        return Lidstone(amount)
    if name == "m-estimate" and amount is not None:
        return MEstimate(amount)
    raise InputError(f"{text!r} is no prior; take one of {', '.join(PRIORS)}")
