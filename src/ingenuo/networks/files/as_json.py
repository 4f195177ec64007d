"""Networks as JSON, in the shape of `ingenuo.networks.files.plain`."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np

from ingenuo.errors import NetworkError, NetworkFileError
from ingenuo.networks.definition import Definition
from ingenuo.networks.files.checks import text_of
from ingenuo.networks.files.plain import definition_of, document_of


def from_json(text: str, name: str) -> Definition:
    """The network that a text in JSON describes; `name` is what errors call the text.

    >>> from_json('{"nodes": {"a": {"states": [1, 2], "table": [0.4, 0.6]}}}', "n").states
    [[1, 2]]
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
            raise NetworkFileError(f"{name}: the name {twice!r} stands twice in one {{…}}; name each thing once")
        return found

    def refuse(word: str) -> None:
        raise NetworkFileError(f"{name}: found {word}, which JSON does not know, expected a number")

    try:
        document = json.loads(text, object_pairs_hook=once, parse_constant=refuse)
    except json.JSONDecodeError as error:
        where = f"{name}, line {error.lineno}, column {error.colno}"
        raise NetworkFileError(f"{where}: this is no sound JSON ({error.msg}); mend it there") from None
    except NetworkFileError:
        raise
    except ValueError:  # Python turns no more than 4300 digits into a whole number
        raise NetworkFileError(f"{name}: a number has thousands of digits; write it shorter") from None
    except RecursionError:
        raise NetworkFileError(f"{name}: lists stand in lists too many times to be a network") from None
    return definition_of(document, name, len(text))


def to_json(definition: Definition) -> str:
    """A network as JSON, every number in full.

    >>> from ingenuo.networks.definition import Definition
    >>> print(to_json(Definition(["a"], [[False, True]], [()], [np.array([0.4, 0.6])])))
    {
      "network": "network",
      "nodes": {
        "a": {
          "states": [false, true],
          "table": [0.4, 0.6]
        }
      }
    }
    <BLANKLINE>
    """
    return _json(document_of(definition, [[_json_state(s) for s in states] for states in definition.states]), "") + "\n"


def _json_state(state: Any) -> Any:
    """A state as JSON has it: numbers and truth values stay what they are, all else is text."""
    state = state.item() if isinstance(state, np.generic) else state
    if isinstance(state, float) and not math.isfinite(state):
        raise NetworkError(f"the state {state!r} cannot be written, for JSON has no such number; make it text")
    return state if isinstance(state, bool | int | float) else text_of(state)


def _json(value: Any, pad: str) -> str:
    if isinstance(value, dict):
        inner = pad + "  "
        lines = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {_json(below, inner)}" for key, below in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{pad}}}"
    return json.dumps(value, ensure_ascii=False)
