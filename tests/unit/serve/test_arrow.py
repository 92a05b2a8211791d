"""Small requests of Arrow that stand for much: refused before they are unpacked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

ARROW = {"content-type": "application/vnd.apache.arrow.stream"}


def stream(table, **options):
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def list_of_nulls():
    offsets = pa.array([0, 120_000_000], pa.int64())
    return pa.LargeListArray.from_arrays(offsets, pa.nulls(120_000_000))


def runs():
    return pa.RunEndEncodedArray.from_arrays(pa.array([10_000], pa.int32()), pa.array(["a" * 9000]))


def many_null_columns():
    return {f"c{i}": pa.nulls(9000) for i in range(1000)}


ATTACKS = {
    "a list of nulls": lambda: (stream(pa.table({"a": list_of_nulls()})), 422),
    "packed zeros": lambda: (
        stream(pa.table({"a": pa.FixedSizeListArray.from_arrays(np.zeros(40_000_000), 40_000_000)}),
               compression="zstd"), 413),
    "packed text": lambda: (stream(pa.table({"a": ["x" * 100_000_000]}), compression="zstd"), 413),
    "one text in a dictionary": lambda: (
        stream(pa.table({"a": pa.array(["x" * 300_000] * 8000).dictionary_encode()})), 413),
    "runs": lambda: (stream(pa.table({"a": runs()})), 422),
    "columns of nulls": lambda: (stream(pa.table(many_null_columns())), 413),
    "many rows": lambda: (stream(pa.table({"a": np.zeros(1_000_000)}), compression="zstd"), 413),
    "a time out of range": lambda: (
        stream(pa.table({"a": pa.array([2**62], pa.timestamp("s"))})), 422),
    "lists in lists": lambda: (stream(pa.table({"a": [[[[["a"]]]]]})), 422),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_what_unpacks_to_much_is_refused_at_once(web, name):
    content, status = ATTACKS[name]()
    assert len(content) < 400_000
    response = web.post("/v1/predict?model=mail", content=content, headers=ARROW)
    assert response.status_code == status, response.text
    assert response.json()["error"]["field"].startswith("rows")


def test_texts_of_a_dictionary_are_rows_like_others(web, ask):
    words = ["free money", "see you at lunch", "free money", None]
    table = pa.table({"message": pa.array(words[:3]).dictionary_encode()})
    response = web.post("/v1/predict?model=mail", content=stream(table), headers=ARROW)
    with pa.ipc.open_stream(response.content) as found:
        labels = found.read_all()["label"].to_pylist()
    expected = [row["label"] for row in ask("mail", rows=words[:3])["predictions"]]
    assert labels == expected


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_packed_tables_are_read(web, compression):
    table = pa.table({"message": [f"free money {i}" for i in range(500)]})
    content = stream(table, compression=compression)
    response = web.post("/v1/predict?model=mail", content=content, headers=ARROW)
    assert response.status_code == 200


def test_long_texts_are_not_explained(open_app):
    web = open_app("mail", max_text=50)
    assert web.post("/v1/predict", json={"row": "a " * 20, "explain": True}).status_code == 200
    response = web.post("/v1/predict", json={"row": "a " * 40, "explain": True})
    assert (response.status_code, response.json()["error"]["field"]) == (413, "explain")
