"""The OpenAPI document, and requests made from it: none may break the service."""

from __future__ import annotations

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    positive_data_acceptance,
    response_schema_conformance,
    status_code_conformance,
)

from separatrix.serve import create_app

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    positive_data_acceptance,
]
OPERATIONS = [
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{name}"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("POST", "/v1/predict"),
]


@pytest.fixture(scope="module")
def schema(paths):
    names = ("mail", "people", "digits", "tagger")
    app = create_app([paths[name] for name in names])
    return schemathesis.openapi.from_asgi("/openapi.json", app, headers={"host": "localhost"})


def explore(schema, method, path, n, mode=GenerationMode.POSITIVE):
    operation = schema[path][method]
    strategy = operation.as_strategy(generation_mode=mode)

    @settings(
        max_examples=n,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def run(case):
        case.call_and_validate(checks=CHECKS, headers={"host": "localhost"})

    run()


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_requests_from_the_document(schema, method, path):
    explore(schema, method, path, 50 if path == "/v1/predict" else 5)


def test_requests_against_the_document(schema):
    explore(schema, "POST", "/v1/predict", 50, GenerationMode.NEGATIVE)


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_two_thousand_requests(schema, mode):
    explore(schema, "POST", "/v1/predict", 1000, mode)


def test_the_document_and_its_examples(web, paths):
    document = web.get("/openapi.json").json()
    assert {(m.upper(), p) for p, several in document["paths"].items() for m in several} == set(
        OPERATIONS
    )
    post = document["paths"]["/v1/predict"]["post"]
    examples = post["requestBody"]["content"]["application/json"]["examples"]
    assert {name.removesuffix("-explained") for name in examples} == set(paths)
    for example in examples.values():
        response = web.post("/v1/predict", json=example["value"])
        assert response.status_code == 200, response.text
    used = json.dumps(document)
    for name in document["components"]["schemas"]:
        assert f"#/components/schemas/{name}" in used
    for part in used.split('"$ref": "#/components/schemas/')[1:]:
        assert part.split('"')[0] in document["components"]["schemas"]
    assert "HTTPValidationError" not in used
