"""Whatever is wrong with a request is told with its field, as a 4xx; the service goes on."""

from __future__ import annotations

import json

import pytest

ROW = {"age": 30, "city": "Rome", "member": True, "since": "2014-03-01"}


def post(web, body, kind="application/json", query=""):
    headers = {} if kind is None else {"content-type": kind}
    response = web.post(f"/v1/predict{query}", content=body, headers=headers)
    assert response.headers["content-type"] == "application/json"
    return response.status_code, response.json()["error"]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"row": }', b"\xff\xfe", b'{"row": "\\ud800"}', b"[" * 100_000, b'{"a":' * 5000,
     b"{'row': 1}", b'{"row": "a"} trailing', b"nan", b'{"row": 1e', b"\x00"],
)  # fmt: skip
def test_no_json(web, body):
    status, error = post(web, body)
    assert status in (400, 413, 422)
    assert error["field"] == "body"
    assert error["message"]


@pytest.mark.parametrize("body", ["null", "3", "true", '"row"', "[]", '[{"row": "a"}]'])
def test_no_object(web, body):
    assert post(web, body.encode())[0] == 422


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"model": "mail"}, "rows"),
        ({"model": "mail", "rows": []}, "rows"),
        ({"model": "mail", "rows": "text"}, "rows"),
        ({"model": "mail", "rows": ["a", 3]}, "rows[1]"),
        ({"model": "mail", "row": None}, "row"),
        ({"model": "mail", "row": ["a"]}, "row"),
        ({"model": "mail", "row": "a", "rows": ["a"]}, "row"),
        ({"model": "mail", "row": "a", "top": 0}, "top"),
        ({"model": "mail", "row": "a", "top": "3"}, "top"),
        ({"model": "mail", "row": "a", "top": 10**30}, "top"),
        ({"model": "mail", "row": "a", "probabilities": 1}, "probabilities"),
        ({"model": "mail", "row": "a", "level": 0}, "level"),
        ({"model": "mail", "row": "a", "cost": [[0, 1]]}, "cost"),
        ({"model": "mail", "row": "a", "cost": [[0, 1], [1]]}, "cost[1]"),
        ({"model": "mail", "row": "a", "cost": [[0, "x"], [1, 0]]}, "cost[0][1]"),
        ({"model": "mail", "row": "a", "reject": 1}, "reject"),
        ({"model": "mail", "row": "a", "explain": "yes"}, "explain"),
        ({"model": "mail", "row": "a", "terms": 0}, "terms"),
        ({"model": "mail", "row": "a", "unheard": 1}, "unheard"),
        ({"model": 3, "row": "a"}, "model"),
        ({"row": "a"}, "model"),
        ({"model": "people", "row": "a"}, "row"),
        ({"model": "people", "row": {}}, "row.age"),
        ({"model": "people", "row": {**ROW, "more": 1}}, "row.more"),
        ({"model": "people", "row": {**ROW, "age": "old"}}, "row.age"),
        ({"model": "people", "row": {**ROW, "age": True}}, "row.age"),
        ({"model": "people", "row": {**ROW, "age": [1]}}, "row.age"),
        ({"model": "people", "row": {**ROW, "age": 10**400}}, "row.age"),
        ({"model": "people", "row": {**ROW, "city": 3}}, "row.city"),
        ({"model": "people", "row": {**ROW, "member": "yes"}}, "row.member"),
        ({"model": "people", "row": {**ROW, "since": "yesterday"}}, "row.since"),
        ({"model": "people", "row": {**ROW, "since": {}}}, "row.since"),
        ({"model": "people", "rows": [ROW, {**ROW, "age": "x"}]}, "rows[1].age"),
        ({"model": "frame", "row": dict.fromkeys(["a", "b", "c", "d"], 1)}, "row.a"),
        ({"model": "iris", "row": [1, 2, 3]}, "row"),
        ({"model": "iris", "row": [1, 2, 3, "4"]}, "row[3]"),
        ({"model": "iris", "row": [1, 2, 3, 10**400]}, "row[3]"),
        ({"model": "iris", "row": {"indices": [4], "values": [1]}}, "row.indices[0]"),
        ({"model": "iris", "row": {"indices": [-1], "values": [1]}}, "row.indices[0]"),
        ({"model": "iris", "row": {"indices": [0, 0], "values": [1, 1]}}, "row.indices"),
        ({"model": "iris", "row": {"indices": [0], "values": []}}, "row.values"),
        ({"model": "iris", "row": {"index": [0]}}, "row"),
        ({"model": "digits", "row": [[0] * 8] * 7}, "row"),
        ({"model": "tagger", "row": "the cat"}, "row"),
        ({"model": "tagger", "row": ["the", 3]}, "row[1]"),
        ({"model": "tagger", "row": ["the", ["cat"]]}, "row[1]"),
        ({"model": "tagger", "row": [{"word": 3}]}, "row[0].word"),
        ({"model": "tagger", "row": ["the"], "cost": [[0]]}, "cost"),
        ({"model": "tagger", "row": [["the", "DT"]]}, "row[0]"),
        ({"model": "tagger", "row": [{"size": "3"}]}, "row[0]"),
        ({"model": "chunker", "row": ["the", "cat"]}, "row[0]"),
        ({"model": "chunker", "row": [["EU", "rejects", "German", "call"]]}, "row[0]"),
        ({"model": "chunker", "row": [["the", "D"], ["cat"]]}, "row[1]"),
        ({"model": "chunker", "row": [{"word": "the"}]}, "row[0]"),
        ({"model": "chunker", "row": [["the", "D"]], "probabilities": True}, "probabilities"),
        ({"model": "crf", "row": ["the"]}, "row[0]"),
        ({"model": "crf", "row": [{"word": None}]}, "row[0].word"),
        ({"model": "crf", "row": [[["x"]]]}, "row[0][0]"),
        ({"model": "svm", "row": "a", "probabilities": True}, "probabilities"),
        ({"model": "svm", "row": "a", "top": 1}, "top"),
        ({"model": "svm", "row": "a", "cost": [[0, 1], [1, 0]]}, "cost"),
        ({"model": "sugar", "row": {}, "probabilities": True}, "probabilities"),
    ],
)
def test_the_field_is_named(refused, request_, field):
    status, error = refused(**request_)
    assert status == 422
    assert error["field"] == field
    assert error["code"] == "invalid"


def test_the_columns_of_a_token_are_named(refused):
    _, error = refused(model="chunker", row=["the", "cat"])
    assert "2 strings (columns 'word', 'pos')" in error["message"]


def test_an_unknown_model(refused):
    status, error = refused(model="none", row="a")
    assert (status, error["code"], error["field"]) == (404, "unknown_model", "model")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none(web, number):
    cases = {
        f'{{"model": "iris", "row": [1, 2, 3, {number}]}}': "row[3]",
        json.dumps({"model": "people", "row": ROW}).replace("30", number): "row.age",
        f'{{"model": "mail", "row": "a", "cost": [[0, {number}], [1, 0]]}}': "cost[0][1]",
        f'{{"model": "mail", "row": "a", "level": {number}}}': "level",
        f'{{"model": "mail", "row": {number}}}': "row",
        f'{{"model": "crf", "row": [{{"size": {number}}}]}}': "row[0].size",
    }
    for body, field in cases.items():
        status, error = post(web, body.encode())
        assert (status, error["field"]) == (422, field), body


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
     "application/json; charset=latin-1", "application/xml"],
)  # fmt: skip
def test_other_kinds_of_bodies(web, kind):
    status, error = post(web, b'{"row": "a"}', kind)
    assert (status, error["field"]) == (415, "Content-Type")


def test_packed_bodies_are_not_read(web):
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    response = web.post("/v1/predict", content=b"\x1f\x8b", headers=headers)
    assert response.status_code == 415


def test_kinds_that_are_read(web):
    for kind in ("application/json; charset=UTF-8", "Application/JSON"):
        body = b'{"model": "mail", "row": "a"}'
        assert web.post("/v1/predict", content=body, headers={"content-type": kind}).is_success


def test_a_message_never_holds_what_was_sent(web):
    secret = "hunter2hunter2"
    body = json.dumps({"model": "people", "row": {**ROW, "age": secret}}).encode()
    assert secret not in web.post("/v1/predict", content=body,
                                  headers={"content-type": "application/json"}).text  # fmt: skip


def test_a_bad_row_spoils_no_other_request(paths):
    """Rows that a model refuses in a batch are tried alone, and only they fail."""
    from separatrix import models
    from separatrix.errors import DataError
    from separatrix.serve.batching import Prepared, run_together
    from separatrix.tasks import Options

    model = models.open(paths["mail"])

    def finish(found, places, asked):
        return found[0][places]

    several = [Prepared(model, rows, "text", Options(), finish, 1)
               for rows in (["free money"], [3], ["see you at lunch"])]  # fmt: skip
    good, bad, other = run_together(several)
    assert (good, other) == (["spam"], ["ham"])
    assert isinstance(bad, Exception)
    assert not isinstance(bad, DataError)
