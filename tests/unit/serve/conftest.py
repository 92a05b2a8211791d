"""The models once, and a service of all of them in this process."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from separatrix.serve import Settings, create_app
from tests.unit.serve.served import make_models


@pytest.fixture(scope="session")
def paths(tmp_path_factory):
    """Model files by name."""
    return make_models(tmp_path_factory.mktemp("served"))


@pytest.fixture
def open_app(paths):
    """A function from names of models and settings to a client of their service."""
    clients = []

    def open_client(*names, **settings):
        app = create_app([paths[name] for name in names], Settings(**settings))
        client = TestClient(app, base_url="http://localhost")
        clients.append(client)
        return client.__enter__()

    yield open_client
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture(scope="session")
def web(paths):
    """A client of a service of all models."""
    app = create_app(paths.values())
    with TestClient(app, base_url="http://localhost") as client:
        yield client


@pytest.fixture(scope="session")
def ask(web):
    """Predict through the service: the whole answer of a request that must succeed."""

    def predict(model, **request):
        response = web.post("/v1/predict", json={"model": model, **request})
        assert response.status_code == 200, response.text
        return response.json()

    return predict


@pytest.fixture(scope="session")
def refused(web):
    """Predict through the service what it must refuse: status and error."""

    def predict(**request):
        response = web.post("/v1/predict", json=request)
        assert 400 <= response.status_code < 500, response.text
        return response.status_code, response.json()["error"]

    return predict
