"""How much a request may be, and how many at a time."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from separatrix.serve import Settings, create_app
from separatrix.serve.bodies import LINES, Memory
from separatrix.serve.problems import Problem
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


def test_values(open_app):
    web = open_app("iris", max_values=50_000)
    many = {"rows": [[1.0, 2.0, 3.0, 4.0]] * 8000}
    assert web.post("/v1/predict", json=many).status_code == 413
    row = [5.1, 3.5, 1.4, 0.2]
    few = web.post("/v1/predict", json={"rows": [row] * 6000}).json()  # 7 numbers each
    assert (
        few["predictions"]
        == web.post("/v1/predict", json={"row": row}).json()["predictions"] * 6000
    )
    response = web.post("/v1/predict", json={"rows": [row] * 8000})
    assert (response.status_code, response.json()["error"]["field"]) == (413, "rows")
    lines = b"[5.1, 3.5, 1.4, 0.2]\n" * 8000
    response = web.post("/v1/predict", content=lines, headers={"content-type": LINES})
    assert len(response.text.splitlines()) == 8000


def test_rows_of_a_long_body(open_app):
    web = open_app("mail")
    rows = [f"free money {i} {'x' * 90}" for i in range(2000)]
    rows[::7] = ["see you at lunch, [{\\"] * len(rows[::7])
    found = web.post("/v1/predict", json={"rows": rows, "top": 1}).json()["predictions"]
    parts = [web.post("/v1/predict", json={"rows": rows[at : at + 500], "top": 1}).json()
             for at in range(0, 2000, 500)]  # fmt: skip
    assert found == [answer for part in parts for answer in part["predictions"]]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b'{"rows": ["a", %b, "b"]}' % (b'"x"' * 30_000), 400, "body"),
        (b'{"rows": ["a", {"a": %b}, "b"]}' % (b"1" * 70_000 + b"x"), 400, "rows[1]"),
        (b'{"rows": ["a", 3, "%b"]}' % (b"b" * 70_000), 422, "rows[1]"),
        (b'{"rows": ["%b"], "rows": ["a"]}' % (b"b" * 70_000), 422, "rows"),
        (b'{"rows": [[%b]]}' % (b"1," * 70_000 + b"1"), 413, "rows[0]"),
        (b'{"row": [%b]}' % (b"1," * 70_000 + b"1"), 413, "body"),
        (b'{"rows": [%b]}' % (b'"a",' * 20_000 + b'"a"'), 413, "rows"),
        (b'{"rows": ["a"], "cost": [%b]}' % (b'["x"],' * 12_000 + b"[1]"), 422, "cost[0][0]"),
    ],
)
def test_what_is_wrong_in_a_long_body(web, body, status, field):
    body = body[:-1] + b', "model": "mail"}'
    response = web.post("/v1/predict", content=body, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["error"]["field"]) == (status, field)


def test_bytes_of_all_requests():
    memory = Memory(100_000)
    memory.take(90_000, 90_000)
    memory.take(20_000, 8000)  # a short body finds room
    with pytest.raises(Problem, match="come again"):
        memory.take(1, 9000)
    memory.give_back(110_001)
    memory.take(90_000, 90_000)


async def post(app, body):
    """Status of the answer to a body of JSON; no client in between keeps it."""
    statuses = []

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        statuses.append(message.get("status"))

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/v1/predict", "headers": headers,
             "query_string": b"", "root_path": "", "client": ("127.0.0.1", 1)}  # fmt: skip
    await app(scope, receive, send)
    return statuses[0]


def test_refused_requests_leave_nothing_behind(paths):
    """No error keeps the body, or what was parsed of it, until garbage is collected."""
    rows = [*("free money " * 800 + str(i) for i in range(100)), 3]
    body = json.dumps({"rows": rows}).encode()
    app = create_app([paths["mail"]])

    async def ask():
        sizes = []
        for _ in range(8):
            assert await post(app, body) == 422
            sizes.append(tracemalloc.get_traced_memory()[0])
        return sizes

    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        sizes = asyncio.run(ask())
    finally:
        tracemalloc.stop()
        gc.enable()
    assert sizes[-1] - sizes[1] < len(body) / 2


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


def test_the_client_with_most_requests_is_refused(paths, slow):
    app = create_app([paths["mail"]], Settings(max_concurrent=4))
    with TestClient(app, base_url="http://localhost", client=("10.0.0.1", 1)) as greedy:
        other = TestClient(app, base_url="http://localhost", client=("10.0.0.2", 1))
        other.portal = greedy.portal
        slow.clear()
        with ThreadPoolExecutor(6) as pool:
            asked = []
            for n in range(1, 5):
                asked.append(pool.submit(greedy.post, "/v1/predict", json={"row": "a"}))
                wait_for(greedy, n)
            fair = pool.submit(other.post, "/v1/predict", json={"row": "a"})
            end = time.monotonic() + PATIENCE
            while not any(one.done() for one in asked) and time.monotonic() < end:
                time.sleep(0.01)
            slow.set()
            assert fair.result().status_code == 200
            assert sorted(one.result().status_code for one in asked) == [200, 200, 200, 429]


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
