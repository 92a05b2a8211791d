"""JSON lines and Arrow: the same answers as JSON, for any number of rows."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from sklearn.datasets import load_iris

from tests.unit.serve.served import people, texts

LINES = {"content-type": "application/x-ndjson"}
ARROW = {"content-type": "application/vnd.apache.arrow.stream"}


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_lines_are_the_answers_of_json(web, ask):
    X, _ = texts()
    response = web.post(
        "/v1/predict?model=mail&probabilities=true&top=1", content=lines(X), headers=LINES
    )
    assert response.headers["content-type"] == "application/x-ndjson"
    found = [json.loads(line) for line in response.text.splitlines()]
    assert found == ask("mail", rows=X, probabilities=True, top=1)["predictions"]


@pytest.mark.parametrize("size", [1, 3, 7, 100, 10_000])
def test_pieces_of_any_size(open_app, size):
    web = open_app("mail", stream_rows=4)
    X = [f"text {i} free" for i in range(23)]
    body = b"\n" + lines(X)[:-1] + b"\n\n"

    def pieces():
        for at in range(0, len(body), size):
            yield body[at : at + size]

    response = web.post("/v1/predict", content=pieces(), headers=LINES)
    assert response.status_code == 200
    assert len(response.text.splitlines()) == len(X)
    whole = web.post("/v1/predict", json={"rows": X}).json()["predictions"]
    assert [json.loads(line) for line in response.text.splitlines()] == whole


def test_the_last_line_needs_no_end(web):
    for body in (b'"free money"', b'"free money"\n', b'\n\n  \n"free money"\r\n'):
        response = web.post("/v1/predict?model=mail", content=body, headers=LINES)
        assert response.text == '{"label":"spam"}\n'


@pytest.mark.parametrize(
    ("body", "field"),
    [(b"", "body"), (b"\n\n", "body"), (b'"a"\n{\n', "line 2"), (b'"a"\n\n3\n', "line 3")],
)
def test_a_wrong_line_at_the_beginning_is_a_status(web, body, field):
    response = web.post("/v1/predict?model=mail", content=body, headers=LINES)
    assert response.status_code in (400, 422)
    assert response.json()["error"]["field"] == field


def test_a_wrong_line_later_is_the_last_line(open_app):
    web = open_app("people", stream_rows=2)
    row = {"age": 30, "city": "Rome", "member": True, "since": "2014-03-01"}
    rows = [row, row, row, {**row, "age": "x"}, row]
    found = web.post("/v1/predict", content=lines(rows), headers=LINES).text.splitlines()
    assert len(found) == 3
    error = json.loads(found[-1])["error"]
    assert error["field"] == "line 4: age"


def test_limits_of_lines(open_app):
    web = open_app("mail", max_stream=1000, max_body=200)
    assert web.post("/v1/predict", content=lines(["a" * 90] * 9), headers=LINES).is_success
    response = web.post("/v1/predict", content=lines(["a" * 90] * 20), headers=LINES)
    assert response.status_code == 413
    response = web.post("/v1/predict", content=lines(["a" * 500]), headers=LINES)
    assert (response.status_code, response.json()["error"]["field"]) == (413, "line 1")


@pytest.mark.parametrize(
    ("query", "field"),
    [("probabilities=maybe", "probabilities"), ("top=0", "top"), ("unheard=1", "unheard"),
     ("level=2", "level"), ("model=none", "model"), ("%ff", "query"), ("", "model")],
)  # fmt: skip
def test_wrong_options(web, query, field):
    for headers in (LINES, ARROW):
        response = web.post(f"/v1/predict?{query}", content=b'"a"\n', headers=headers)
        assert response.status_code in (404, 422)
        assert response.json()["error"]["field"] == field


def arrow(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def answer(response):
    assert response.status_code == 200, response.text
    with pa.ipc.open_stream(response.content) as stream:
        return stream.read_all()


def test_arrow_of_texts(web, ask):
    X, _ = texts()
    response = web.post("/v1/predict?model=mail&probabilities=true",
                        content=arrow(pa.table({"message": X})), headers=ARROW)  # fmt: skip
    found = answer(response)
    assert found.column_names == ["label", "P(ham)", "P(spam)"]
    said = ask("mail", rows=X, probabilities=True)["predictions"]
    assert found["label"].to_pylist() == [one["label"] for one in said]
    assert found["P(spam)"].to_pylist() == [one["probabilities"][1] for one in said]


def test_arrow_of_tables_and_numbers(web, ask):
    table, _ = people(20)
    content = arrow(pa.table(table))
    found = answer(web.post("/v1/predict?model=people", content=content, headers=ARROW))
    rows = [
        {"age": None if a != a else a, "city": c, "member": bool(m), "since": s}
        for a, c, m, s in zip(*table.values(), strict=True)
    ]
    assert found["label"].to_pylist() == [
        one["label"] for one in ask("people", rows=rows)["predictions"]
    ]
    X = load_iris().data[::20]
    content = arrow(pa.table({str(j): X[:, j] for j in range(4)}))
    found = answer(web.post("/v1/predict?model=iris", content=content, headers=ARROW))
    said = ask("iris", rows=X.tolist())["predictions"]
    assert found["label"].to_pylist() == [one["label"] for one in said]


@pytest.mark.parametrize(
    "content",
    [b"", b"no arrow", arrow(pa.table({"a": ["x"]}))[:-40], arrow(pa.table({"a": ["x"]}))[:90]],
)
def test_no_arrow(web, content):
    response = web.post("/v1/predict?model=mail", content=content, headers=ARROW)
    assert response.status_code in (400, 422)
    assert response.json()["error"]["field"] == "body"


def test_arrow_that_does_not_fit(web):
    tables = {
        "mail": pa.table({"a": [1, 2]}),
        "people": pa.table({"age": [1.0]}),
        "iris": pa.table({"a": [1.0], "b": ["x"], "c": [1.0], "d": [1.0]}),
    }
    for name, table in tables.items():
        response = web.post(f"/v1/predict?model={name}", content=arrow(table), headers=ARROW)
        assert response.status_code == 422
        assert response.json()["error"]["field"].startswith("rows[0]")
    empty = arrow(pa.table({"a": pa.array([], pa.string())}))
    assert web.post("/v1/predict?model=mail", content=empty, headers=ARROW).status_code == 422
