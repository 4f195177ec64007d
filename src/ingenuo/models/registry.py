"""Models by name: those of files and engines by the name of their class, those of commands by a shorter one.

Commands write settings as text: "network:structure=aode".
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import ingenuo
from ingenuo.errors import InputError, KindError, did_you_mean

# What commands call a model, with its class.
COMMANDS: dict[str, str] = {
    "bayes": "BayesClassifier",
    "naive-bayes": "NaiveBayes",
    "network": "NetworkClassifier",
    "discriminant": "GaussianDiscriminant",
    "softmax": "SoftmaxRegression",
    "trees": "BoostedTrees",
    "language": "LanguageModelClassifier",
    "language-model": "LanguageModel",  # of texts that have no class
    "least-squares": "LeastSquaresClassifier",
    "regressor": "NaiveBayesRegressor",
    "bayes-optimal": "BayesOptimalClassifier",  # the vote of several
}
VOTERS = "naive-bayes+network+softmax"  # unless estimators=… names others
_FLAGS = {"yes": True, "true": True, "no": False, "false": False}


def model_class(name: str, wanted: type[Any] | None = None) -> type[Any]:
    """The class of this name, if it packs itself (and is the one that is wanted); raises for anything else."""
    found = getattr(ingenuo, name) if name in ingenuo.HOMES else None
    if found is None or not hasattr(found, "from_state") or wanted not in (None, found):
        known = [each for each in ingenuo.HOMES if hasattr(getattr(ingenuo, each), "from_state")]
        raise KindError(f"{name} cannot be saved; what can: Tally, Network, {', '.join(known)}")
    return found  # type: ignore[no-any-return]


def name_of(model: Any) -> str:
    """The name of a model's class; raises for what cannot be packed."""
    return model_class(type(model).__name__, type(model)).__name__


def pack_members(fitted: Sequence[Any], place: str, tensors: dict[str, Any]) -> list[Any]:
    """The manifests of fitted models that another is made of, each as in its own file; the tensors are added."""
    found = []
    for number, each in enumerate(fitted):
        name_of(each)
        manifest, own = each.state()
        found.append(manifest)
        tensors |= {f"{place}/{number}/{key}": tensor for key, tensor in own.items()}
    return found


def unpack_members(manifests: Any, place: str, tensors: Mapping[str, Any]) -> list[Any]:
    """The models that `pack_members` packed; raises for what is none."""
    found = []
    for number, manifest in enumerate(manifests):
        start = f"{place}/{number}/"
        own = {key.removeprefix(start): tensor for key, tensor in tensors.items() if key.startswith(start)}
        found.append(model_class(str(manifest["model"])).from_state(manifest, own))
    return found


def class_of(command: str) -> type[Any]:
    """The class that commands have this name for."""
    if command not in COMMANDS:
        raise InputError(f"there is no model called {command!r}{did_you_mean(command, COMMANDS)}")
    found: type[Any] = getattr(ingenuo, COMMANDS[command])
    return found


def default_model(settings: Mapping[str, Any], *, only_sums: bool = False) -> str:
    """The model that is learned where none is named: the vote, or naive Bayes for settings that only that one has.

    >>> default_model({}), default_model({"ngrams": "2"}), default_model({"tune": True})
    ('bayes', 'bayes', 'naive-bayes')
    """
    from ingenuo.text.words import Words

    known = {*inspect.signature(class_of("bayes")).parameters, *inspect.signature(Words).parameters}
    return "naive-bayes" if only_sums or not known.issuperset(settings) else "bayes"


def build(name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """A model by its name; settings are its parameters, as text or as they are, and those of `Words` for its `text`.

    >>> build("naive-bayes", {"prior": "lidstone:0.5", "tune": "yes"})
    NaiveBayes(prior=Lidstone(alpha=0.5, variance_floor=1e-09, variance_rows=1.0),
               tune=True)
    """
    from ingenuo.text.words import Words

    class_, of_words = class_of(name), inspect.signature(Words).parameters
    parameters = inspect.signature(class_).parameters
    given: dict[str, Any] = {}
    words: dict[str, Any] = {}
    for key, value in (settings or {}).items():
        if key in parameters:
            given[key] = _parse_value(key, value, parameters[key].default)
        elif key in of_words and "text" in parameters:
            words[key] = _parse_value(key, value, of_words[key].default)
        else:
            known = [*(each for each in parameters if each != "text"), *(of_words if "text" in parameters else ())]
            signatures = {each: inspect.signature(class_of(each)).parameters for each in COMMANDS}
            others = [each for each, own in signatures.items() if key in own or (key in of_words and "text" in own)]
            raise InputError(
                f"the model {name!r} has no setting {key!r}{did_you_mean(key, known)}; models that have it: "
                f"{', '.join(others) or 'none'}"
            )
    if class_.__name__ == "BayesOptimalClassifier":
        given["estimators"] = parse_voters(given.get("estimators", VOTERS))
    if words:
        default = parameters["text"].default
        given["text"] = Words(**{**(default.parameters() if isinstance(default, Words) else {}), **words})
    return class_(**given)


def parse(spec: str) -> tuple[str, dict[str, str]]:
    """The name and the settings of "name:setting=value,setting=value"."""
    name, _, rest = spec.partition(":")
    class_of(name)
    settings = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise InputError(f"{part!r} in {spec!r} is no SETTING=VALUE")
        settings[key.strip().replace("-", "_")] = value.strip()
    return name, settings


def parse_voters(text: str) -> list[tuple[str, Any]]:
    """The classifiers of "naive-bayes+network:structure=kdb;k=1", by what they are called there.

    >>> parse_voters("naive-bayes+naive-bayes:tune=yes")
    [('naive-bayes', NaiveBayes()), ('naive-bayes:tune=yes', NaiveBayes(tune=True))]
    """
    found = {}
    for spec in text.split("+"):
        if spec in found:
            raise InputError(f"{spec!r} is named twice in {text!r}; name each classifier once")
        name, settings = parse(spec.replace(";", ","))
        if not hasattr(class_of(name), "predict_proba"):
            raise InputError(f"{name!r} gives no probabilities, and cannot vote; leave it out of {text!r}")
        found[spec] = build(name, settings)
    return list(found.items())


def _parse_value(key: str, text: Any, default: Any) -> Any:
    """A setting that was given as text, as what the model's own default is."""
    from ingenuo.networks.files import is_network_file
    from ingenuo.networks.network import Network

    if not isinstance(text, str):
        return text
    if hasattr(default, "pseudo_counts") or (key == "smoothing" and ":" in text):
        return _parse_prior(key, text)
    if key in ("ngrams", "characters"):  # "2" is words and pairs of words, "2-3" only longer ones
        low, _, high = text.partition("-")
        try:
            return (int(low), int(high)) if high else (1, int(low))
        except ValueError:
            raise InputError(f"{key} is a number such as 2 or a range such as 1-3, got {text!r}") from None
    if key == "structure" and is_network_file(text):  # whose arcs are taken
        return Network.read(text)
    if key == "token":
        return text
    if key == "stop_words":
        from ingenuo.text.words import parse_stop_words

        return parse_stop_words(text)
    lower = text.lower()
    if lower in _FLAGS:
        return _FLAGS[lower]
    if key == "fingerprints":  # a salt
        return text
    if isinstance(default, bool):
        raise InputError(f"{key} is yes or no, got {text!r}")
    if lower == "none":
        return None
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def _parse_prior(key: str, text: str) -> Any:
    """A prior as it is typed, or in a YAML file."""
    from ingenuo.models.class_prior import class_prior_of
    from ingenuo.tally.prior import number_of, prior_of

    given: Any = text
    if text.endswith((".yaml", ".yml", ".json")):
        from ingenuo.networks.files import read_yaml

        given = read_yaml(text)
        if key == "class_prior" and isinstance(given, dict) and "name" not in given:
            given = {name: number_of(str(share), f"{text}: {name}") for name, share in given.items()}
        elif key == "class_prior":
            given = prior_of(given)
    return class_prior_of(given) if key == "class_prior" else prior_of(given)
