"""What can be asked of a served model, as OpenAPI 3.1 has it: written by hand, with the columns of the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingenuo import __version__
from ingenuo.serve.bodies import ARROW, CSV, JSON, MOST, NDJSON
from ingenuo.serve.models import VALUES, Version
from ingenuo.serve.protocol import DATATYPES, OUTPUTS
from ingenuo.show.format import plain

Schema = dict[str, Any]

_TYPES = {"number": ["number", "string", "null"], "count": ["number", "string", "null"]}
_STRING: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_FLAG: Schema = {"type": "boolean"}
_LIMITS = (None, "calibrator", "tried", "words", "values")
_MODEL_VERSION: dict[str, Schema] = {"model": _STRING, "version": _STRING}


def openapi(name: str, version: Version, *, learns: bool, secured: bool) -> dict[str, Any]:
    """The document of a model."""
    verbs = {
        "predict": _posted("Answer rows", _ref("Rows"), _ref("Predictions"), tables=True),
        "explain": _posted("Show the arithmetic behind answers", _ref("Explain"), _ref("Explanations")),
        "change": _posted("Say what would change answers", _ref("Change"), _ref("Changes")),
    }
    for verb, said in (
        ("learn", "Learn rows"),
        ("forget", "Forget rows that were learned"),
        ("recalibrate", "Calibrate by rows"),
    ):
        if learns:
            verbs[verb] = _posted(said, _ref("Recalibrate" if verb == "recalibrate" else "Learn"), _ref("Learned"))
            verbs[verb]["post"]["parameters"] = [_KEY]
    shown = {
        "model": ("Describe the model", _ref("Model")),
        "sheet": ("The document from which the model can be asked anywhere", {"type": "object"}),
        "openapi.json": ("This document", {"type": "object"}),
    }
    paths = {f"/v1/models/{name}/{verb}": each for verb, each in verbs.items()}
    paths |= {f"/v1/models/{name}/{what}": _shown(said, schema) for what, (said, schema) in shown.items()}
    infer = _posted("Answer tensors (Open Inference Protocol)", _ref("InferRequest"), _ref("InferResponse"))
    paths |= {
        "/v1/models": _shown(
            "The models by name", _object({"models": _list(_object({"name": _STRING, "version": _STRING}))})
        ),
        "/v2": _shown("The server", _object({"name": _STRING, "version": _STRING, "extensions": _list(_STRING)})),
        "/v2/health/live": _shown("Whether the server runs", _object({"live": _FLAG})),
        "/v2/health/ready": _shown("Whether the server can be asked", _object({"live": _FLAG}), 503),
        f"/v2/models/{name}": _shown("The tensors of the model", _ref("Metadata")),
        f"/v2/models/{name}/ready": _shown(
            "Whether the model can be asked", _object({"name": _STRING, "ready": _FLAG})
        ),
        f"/v2/models/{name}/infer": infer,
        "/metrics": _shown("Counters, as Prometheus reads them", _STRING, kind="text/plain"),
    }
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": f"ingenuo: {name}", "version": version.version, "summary": f"A {type(version.model).__name__}.",
            "description": f"Served by ingenuo {__version__}. Every failure is {{\"error\": \"one sentence\"}}.",
        },
        "paths": paths,
        "components": {"schemas": _schemas(version)},
    }  # fmt: skip
    if secured:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _schemas(version: Version) -> dict[str, Schema]:
    columns, classes = version.columns, version.classes
    label: Schema = {"enum": classes}
    probability: Schema = {"type": "number", "minimum": 0, "maximum": 1}
    posterior = {"type": "array", "items": probability, "minItems": len(classes), "maxItems": len(classes)}
    row: Schema = {
        "type": "object",
        "properties": {column: _column(version, column) for column in columns.names},
        "additionalProperties": False,
    }
    if columns.target is not None and columns.target not in row["properties"]:
        row["properties"][columns.target] = {"description": "The class; it is not read where rows are answered."}
    rows: Schema = {"type": "array", "items": _ref("Row"), "minItems": 1, "maxItems": MOST}
    if columns.texts:
        rows["items"] = {"anyOf": [_ref("Row"), _STRING]}
    given = {"rows": rows, "classes": _list({"type": ["string", "number", "boolean"]})}
    learned = {
        "model": _STRING,
        "seq": _COUNT,
        "rows": {"type": ["number", "null"]},
        "version": _STRING,
        "behind": _COUNT,
    }
    move = _object({"column": _STRING, "from": {}, "to": {}, "others": _list({})}, edge=_NUMBER, words=_list(_STRING))
    moves = _list(move)
    described = {
        "name": _STRING, "kind": _STRING, "version": _STRING, "target": {"type": ["string", "null"]},
        "classes": _list({}), "columns": _list(_object({"name": _STRING, "kind": _STRING}, values=_list({}))),
        "rows": {"type": ["number", "null"]}, "calibration": {}, "learns": _FLAG,
    }  # fmt: skip
    return {
        "Error": {**_object({"error": _STRING}), "additionalProperties": False},
        "Row": row,
        "Rows": {**_object({"rows": rows}), "additionalProperties": False},
        "Predictions": _object(
            _MODEL_VERSION
            | {"classes": {"const": classes}, "predicted": _list(label), "probability": _list(probability)}
            | {"posterior": _list(posterior)}
        ),
        "Explain": _object({"rows": rows}, form={"enum": ["product", "log"]}),
        "Explanations": _object(_MODEL_VERSION | {"explanations": _list({"type": "object"})}),
        "Change": _object({"rows": rows}, target=label, locked=_list({"enum": columns.names}), most=_COUNT),
        "Changes": _object(_MODEL_VERSION | {"changes": _list(_ref("Changed"))}),
        "Changed": _object(
            {
                "answer": label, "target": label, "posterior": posterior, "fewest": {"type": ["integer", "null"]},
                "least": {"type": ["integer", "null"]}, "limit": {"enum": list(_LIMITS)},
                "suggestions": _list(_object({"moves": moves, "row": _ref("Row"), "posterior": posterior})),
            }
        ),
        "Learn": _object({"rows": rows}, classes=given["classes"], weights=_list({"type": "number", "minimum": 0})),
        "Recalibrate": _object({"rows": rows}, classes=given["classes"], learned=_FLAG),
        "Learned": _object(learned),
        "Model": _object(described, seq=_COUNT, behind=_COUNT),
        "Tensor": _object(
            {"name": _STRING, "shape": _list(_COUNT), "datatype": {"enum": list(DATATYPES)}, "data": _list({})},
            parameters={"type": "object"},
        ),
        "Metadata": _object(
            {"name": _STRING, "versions": _list(_STRING), "platform": _STRING}
            | {key: _list(_object({"name": _STRING, "datatype": _STRING, "shape": _list({"type": "integer"})}))
               for key in ("inputs", "outputs")}
        ),
        "InferRequest": _object(
            {}, id=_STRING, parameters={"type": "object"}, inputs=_list(_ref("Tensor")),
            outputs=_list(_object({"name": {"enum": list(OUTPUTS)}})),
        ),
        "InferResponse": _object(
            {"model_name": _STRING, "model_version": _STRING, "outputs": _list(_ref("Tensor"))}, id=_STRING
        ),
    }  # fmt: skip


def _column(version: Version, name: str) -> Schema:
    """What a value of a column may be."""
    kind = version.columns.kinds[name]
    found: Schema = {"type": _TYPES.get(kind, ["string", "number", "boolean", "null"]), "description": f"A {kind}."}
    known = version.columns.known.get(name)
    if known is not None and len(known):
        found["examples"] = plain(known[:VALUES])[:5]
    return found


_KEY: Schema = {
    "name": "Idempotency-Key", "in": "header", "required": False, "schema": {"type": "string", "maxLength": 200},
    "description": "A name of the change: sent again, it gets the first answer again, and nothing is changed.",
}  # fmt: skip


def _posted(summary: str, body: Schema, answer: Schema, *, tables: bool = False) -> dict[str, Any]:
    kinds: dict[str, Schema] = {JSON: {"schema": body}}
    answers: dict[str, Schema] = {JSON: {"schema": answer}}
    if tables:
        lines: dict[str, Schema] = {NDJSON: {"schema": _STRING}, CSV: {"schema": _STRING}, ARROW: {}}
        kinds |= lines
        answers |= lines
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": kinds},
            "responses": {"200": {"description": "The answer.", "content": answers}, "default": _FAILURE},
        }
    }


def _shown(summary: str, answer: Schema, *codes: int, kind: str = JSON) -> dict[str, Any]:
    found = {"description": "The answer.", "content": {kind: {"schema": answer}}}
    responses = {str(code): found for code in (200, *codes)}
    return {"get": {"summary": summary, "responses": responses | {"default": _FAILURE}}}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_FAILURE: Schema = {"description": "What was wrong.", "content": {JSON: {"schema": _ref("Error")}}}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(required: Mapping[str, Schema], **optional: Schema) -> Schema:
    return {"type": "object", "properties": {**required, **optional}, "required": list(required)}
