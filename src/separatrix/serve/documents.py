"""The OpenAPI document, with the rows of the models that are served as examples."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from pydantic.json_schema import models_json_schema
from starlette.responses import Response

from separatrix.models import Model
from separatrix.serve.bodies import ARROW, JSON, LINES
from separatrix.serve.problems import STATUS_CODES
from separatrix.serve.schemas import ErrorBody, PredictRequest, PredictResponse
from separatrix.serve.store import ModelStore

__all__ = ["describe_api", "error_responses"]

_REFERENCE = "#/components/schemas/{model}"
_WORDS = {
    400: "The body cannot be read.",
    401: "The token is missing or wrong.",
    404: "There is no such model.",
    413: "The body has too many bytes or rows.",
    415: "The body is of a kind that is not read.",
    422: "A field is wrong; it is named.",
    429: "Too many requests at a time; come again.",
    503: "Not done in time, or about to stop.",
}


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Responses of a route other than its answer."""
    return {
        status: {"model": ErrorBody, "description": _WORDS[status]}
        for status in statuses
        if status in STATUS_CODES.values()
    }


def describe_api(app: FastAPI, store: ModelStore) -> None:
    """Let `app` tell its OpenAPI document at /openapi.json; it changes with the models."""

    def openapi() -> dict[str, Any]:
        document = get_openapi(
            title=app.title,
            version="1",
            description=app.description,
            routes=app.routes,
        )
        _, definitions = models_json_schema(
            [
                (PredictResponse, "serialization"),
                (ErrorBody, "serialization"),
            ],
            ref_template=_REFERENCE,
        )
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas |= definitions["$defs"]
        schemas.pop("HTTPValidationError", None)
        schemas.pop("ValidationError", None)
        for path in document["paths"].values():
            for operation in path.values():
                found = operation["responses"].get("422", {}).get("content", {})
                if "HTTPValidationError" in str(found):
                    del operation["responses"]["422"]
        document["paths"]["/v1/predict"] = {"post": _predict(store)}
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}, {}]
        return document

    app.openapi = openapi  # type: ignore[method-assign]

    @app.get("/openapi.json", include_in_schema=False)
    async def document() -> Response:
        return JSONResponse(openapi())


def _predict(store: ModelStore) -> dict[str, Any]:
    """The operation POST /v1/predict, which is no route of FastAPI."""
    models = store.models.values()
    request = {"anyOf": [one for model in models for one in _requests(model, len(models))]}
    response = {"$ref": _REFERENCE.format(model="PredictResponse")}
    problem = {"schema": {"$ref": _REFERENCE.format(model="ErrorBody")}}
    binary = {"schema": {"type": "string", "format": "binary"}}
    answers = {JSON: {"schema": response}, LINES: {"schema": {"type": "string"}}, ARROW: binary}
    statuses = (400, 401, 404, 413, 415, 422, 429, 503)
    return {
        "tags": ["predictions"],
        "summary": "Predict",
        "description": (
            "Predicts one row or many. JSON holds rows and options. JSON lines (a row a line) and "
            "Arrow IPC streams hold rows; their options stand in the address. Requests that "
            "arrive together are predicted together."
        ),
        "operationId": "predict",
        "parameters": [
            _option("model", {"type": "string"}, "Name of the model."),
            _option("probabilities", {"type": "boolean"}, "The probability of every class."),
            _option("top", {"type": "integer", "minimum": 1, "maximum": 100}, "Best classes."),
            _option(
                "level",
                {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                "Mass of intervals.",
            ),
        ],
        "requestBody": {
            "required": True,
            "content": {
                JSON: {"schema": request, "examples": _examples(store)},
                LINES: {"schema": {"type": "string"}},
                ARROW: binary,
            },
        },
        "responses": {
            "200": {"description": "Answers in the order of the rows.", "content": answers},
            **{
                str(status): {"description": _WORDS[status], "content": {JSON: problem}}
                for status in statuses
            },
        },
    }


def _requests(model: Model, n_models: int) -> list[dict[str, Any]]:
    """Schemas of requests to a model: one row, or many, in every form that its rows have."""
    every = PredictRequest.model_json_schema()["properties"]
    names = {"model", *model.offers}
    if hasattr(model.learner, "with_labels"):
        names.add("labels")
    if "explain" in names:
        names.add("terms")
    if "reject" not in names:
        names.discard("cost")  # a matrix of costs without a schema of its own
    properties = {name: schema for name, schema in every.items() if name in names}
    properties["model"] = {"type": "string", "enum": [model.name]}
    if "cost" in properties:
        n = len(model.labels or ())
        cost = {"type": "array", "items": {"type": "number"}, "minItems": n, "maxItems": n}
        properties["cost"] = {"type": "array", "items": cost, "minItems": n, "maxItems": n}
        properties["reject"] = {"type": "number"}
    forms = model.reader.schema()
    found = []
    for form in forms.get("anyOf", [forms]):
        many = {"type": "array", "items": form, "minItems": 1}
        if "explain" in names:
            many["maxItems"] = 20
        for name, schema in (("row", form), ("rows", many)):
            needed = [name, "model"] if n_models > 1 else [name]
            found.append(
                {
                    "type": "object",
                    "title": f"{model.name}: {name}",
                    "properties": {name: schema, **properties},
                    "required": needed,
                    "dependentRequired": {"reject": ["cost"]} if "cost" in properties else {},
                    "additionalProperties": False,
                }
            )
    return found


def _option(name: str, schema: dict[str, Any], told: str) -> dict[str, Any]:
    words = f"{told} Of JSON lines and Arrow; JSON has a field."
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": words}


def _examples(store: ModelStore) -> dict[str, Any]:
    found = {}
    for model in store.models.values():
        request: dict[str, Any] = {"model": model.name, "rows": [model.reader.example()]}
        if "probabilities" in model.offers:
            request["probabilities"] = True
        found[model.name] = {"summary": f"{model.name}: a row", "value": request}
        if "explain" in model.offers:
            explained = {"model": model.name, "row": model.reader.example(), "explain": True}
            found[f"{model.name}-explained"] = {
                "summary": f"{model.name}: explained",
                "value": explained,
            }
    return found
