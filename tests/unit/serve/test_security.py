"""Who may ask, what every response carries, and what is never told."""

from __future__ import annotations

import base64
import logging

import pytest

from separatrix.errors import ParameterError
from separatrix.serve import Settings

TOKEN = "a-token-of-some-length"
ROW = {"row": "free money"}


def test_other_addresses_need_a_token_or_a_word():
    for host in ("0.0.0.0", "::", "192.168.1.7", "example.org"):
        with pytest.raises(ParameterError, match=r"--token.*--no-auth"):
            Settings(host=host)
        assert Settings(host=host, token=TOKEN).host == host
        assert Settings(host=host, no_auth=True).host == host
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        assert Settings(host=host).token is None


@pytest.mark.parametrize("token", ["", "short", "ä" * 20])
def test_tokens_that_are_none(token):
    with pytest.raises(ParameterError, match="token"):
        Settings(token=token)


@pytest.mark.parametrize("name", ["max_body", "max_rows", "max_concurrent", "time_limit", "watch"])
def test_limits_are_positive(name):
    with pytest.raises(ParameterError):
        Settings(**{name: 0})


def _basic(password):
    return "Basic " + base64.b64encode(f"any:{password}".encode()).decode()


def test_the_token_opens_everything(open_app):
    web = open_app("mail", token=TOKEN)
    for given in (f"Bearer {TOKEN}", f"bearer {TOKEN}", _basic(TOKEN)):
        headers = {"authorization": given}
        assert web.post("/v1/predict", json=ROW, headers=headers).status_code == 200
        for path in ("/", "/v1/models", "/metrics", "/openapi.json"):
            assert web.get(path, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN, "Basic",
     "Basic ???", _basic("wrong"), _basic(""), f"Digest {TOKEN}", "Bearer \xe9"],
)  # fmt: skip
def test_without_the_token_nothing_is_told(open_app, given):
    web = open_app("mail", token=TOKEN)
    headers = {} if given is None else {"authorization": given.encode("latin-1")}
    for method, path in (("POST", "/v1/predict"), ("GET", "/"), ("GET", "/v1/models"),
                         ("GET", "/metrics"), ("GET", "/static/page.js"), ("GET", "/nothing"),
                         ("GET", "/openapi.json"), ("DELETE", "/v1/predict")):  # fmt: skip
        response = web.request(method, path, headers=headers)
        assert response.status_code == 401
        assert response.json()["error"]["code"] == "unauthorized"
        assert "Basic" in response.headers["www-authenticate"]
        assert TOKEN not in response.text
    for path in ("/healthz", "/readyz"):
        assert web.get(path, headers=headers).status_code == 200


def test_other_names_are_refused_without_a_token(open_app):
    """A site that lets its own name point to this machine must not reach the models."""
    web = open_app("mail")
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""):
        response = web.post("/v1/predict", json=ROW, headers={"host": host})
        assert (response.status_code, response.json()["error"]["field"]) == (400, "Host")
    for host in ("localhost", "localhost:8000", "127.0.0.1:9", "[::1]:8000"):
        assert web.post("/v1/predict", json=ROW, headers={"host": host}).status_code == 200
    public = open_app("mail", no_auth=True)
    assert public.post("/v1/predict", json=ROW, headers={"host": "a.example"}).status_code == 200


def test_headers_of_every_response(web):
    gotten = [web.get(path) for path in ("/", "/nothing", "/healthz", "/static/main.js")]
    for response in (*gotten, web.post("/v1/predict"), web.put("/v1/models")):
        headers = response.headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert "*" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
        assert not [name for name in headers if name.startswith("access-control")]


def test_no_traceback_goes_out(open_app, monkeypatch, caplog):
    web = open_app("mail")

    def broken(*_):
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("separatrix.tasks.classes.Classes.predict", broken)
    with caplog.at_level(logging.ERROR, "separatrix.serve"):
        logging.getLogger("separatrix.serve").propagate = True
        response = web.post("/v1/predict", json=ROW)
    assert response.status_code == 500
    assert response.json()["error"]["code"] == "internal"
    assert "secret" not in response.text
    assert "Traceback" not in response.text
    assert "a secret of the inside" in caplog.text
    monkeypatch.undo()
    assert web.post("/v1/predict", json=ROW).status_code == 200


def test_the_access_log_holds_no_payload(web, caplog):
    with caplog.at_level(logging.INFO, "separatrix.serve.access"):
        logging.getLogger("separatrix.serve").propagate = True
        web.post("/v1/predict", json={"model": "mail", "row": "a very private text"})
        web.post("/v1/predict?model=private", content=b"private",
                 headers={"content-type": "application/json"})  # fmt: skip
        web.get("/private%0Aline")
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 3
    assert "POST /v1/predict 200" in lines[0]
    assert not [line for line in lines if "private" in line or "\n" in line]


def test_websockets_are_closed(open_app):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), open_app("mail").websocket_connect("/"):
        pass
