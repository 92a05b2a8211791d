"""How much a request may be, and how many at a time."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from separatrix.tasks.classes import Classes
from tests.unit.serve.served import PATIENCE


def test_bytes(open_app):
    web = open_app("mail", max_body=1000)
    assert web.post("/v1/predict", json={"row": "a" * 900}).status_code == 200
    for size in (1001, 3000, 20_000):
        response = web.post("/v1/predict", json={"row": "a" * size})
        assert (response.status_code, response.json()["error"]["field"]) == (413, "body")

    def pieces():
        for _ in range(30):
            yield b"a" * 100

    headers = {"content-type": "application/json"}
    response = web.post("/v1/predict", content=pieces(), headers=headers)
    assert response.status_code == 413


def test_rows(open_app):
    web = open_app("mail", max_rows=3)
    assert web.post("/v1/predict", json={"rows": ["a"] * 3}).status_code == 200
    response = web.post("/v1/predict", json={"rows": ["a"] * 4})
    assert (response.status_code, response.json()["error"]["field"]) == (413, "rows")


def test_explained_rows(open_app):
    web = open_app("mail", max_explained=2)
    assert web.post("/v1/predict", json={"rows": ["a"] * 2, "explain": True}).status_code == 200
    response = web.post("/v1/predict", json={"rows": ["a"] * 3, "explain": True})
    assert (response.status_code, response.json()["error"]["field"]) == (413, "explain")


def test_tokens(open_app):
    web = open_app("tagger", max_tokens=5)
    assert web.post("/v1/predict", json={"rows": [["a"] * 3, ["b"] * 2]}).status_code == 200
    response = web.post("/v1/predict", json={"rows": [["a"] * 3, ["b"] * 3]})
    assert (response.status_code, response.json()["error"]["field"]) == (413, "rows[1]")


@pytest.fixture
def slow(monkeypatch):
    """Predictions wait until they are let go."""
    go, predict = threading.Event(), Classes.predict

    def waiting(self, model, X, options):
        go.wait(PATIENCE)
        return predict(self, model, X, options)

    monkeypatch.setattr(Classes, "predict", waiting)
    go.set()
    yield go
    go.set()


def wait_for(web, n):
    """Wait until n requests are under way."""
    end = time.monotonic() + PATIENCE
    while f"separatrix_requests_in_progress {n}\n" not in web.get("/metrics").text:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_time(open_app, slow):
    web = open_app("mail", time_limit=1)
    slow.clear()
    response = web.post("/v1/predict", json={"row": "a"})
    assert (response.status_code, response.json()["error"]["code"]) == (503, "timeout")
    assert int(response.headers["retry-after"]) >= 1
    slow.set()
    assert web.post("/v1/predict", json={"row": "a"}).status_code == 200


def test_requests_at_a_time(open_app, slow):
    web = open_app("mail", max_concurrent=2)
    slow.clear()
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(web.post, "/v1/predict", json={"row": "a"}) for _ in range(6)]
        end = time.monotonic() + PATIENCE
        while sum(one.done() for one in asked) < 4 and time.monotonic() < end:
            time.sleep(0.01)
        slow.set()
        responses = [one.result() for one in asked]
    statuses = sorted(response.status_code for response in responses)
    assert statuses == [200, 200, 429, 429, 429, 429]
    refused = next(response for response in responses if response.status_code == 429)
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.json()["error"]["code"] == "too_many_requests"
    assert web.post("/v1/predict", json={"row": "a"}).status_code == 200


def test_requests_that_wait_become_one_batch(open_app, slow):
    web = open_app("mail")
    slow.clear()
    texts = [f"free money {i}" for i in range(8)]
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(web.post, "/v1/predict", json={"row": "a"})
        wait_for(web, 1)  # under way alone
        others = [
            pool.submit(web.post, "/v1/predict", json={"row": text, "probabilities": True})
            for text in texts
        ]
        wait_for(web, 9)
        time.sleep(0.1)  # and in the queue
        slow.set()
        assert first.result().status_code == 200
        found = [other.result().json()["predictions"][0] for other in others]
    alone = [
        web.post("/v1/predict", json={"row": text, "probabilities": True}).json()["predictions"][0]
        for text in texts
    ]
    assert found == alone
    metrics = web.get("/metrics").text
    assert 'separatrix_batch_requests_bucket{le="1"} 9' in metrics
    assert 'separatrix_batch_requests_bucket{le="8"} 10' in metrics
