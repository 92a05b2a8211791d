"""Drift and shadows in /metrics, and spans of OpenTelemetry."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager

import numpy as np
import pytest

from separatrix import LogisticRegression, TextVectorizer, save
from separatrix.errors import ParameterError
from separatrix.serve import Settings, create_app
from tests.unit.serve.served import PATIENCE, fitted_models


def metrics(web, wanted):
    """Values of /metrics by name and labels, as soon as a line begins with `wanted`."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        text = web.get("/metrics").text
        if re.search(f"^{re.escape(wanted)}", text, re.MULTILINE):
            lines = [line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#"]
            return {name: float(value) for name, value in lines}
        time.sleep(0.02)
    raise AssertionError(text)


def test_drift_of_a_table(open_app):
    web = open_app("people")
    row = {"age": 40, "city": "Rome", "member": True, "since": "2020-03-01"}
    rows = [row, {**row, "city": "Atlantis"}, {**row, "age": None}, {**row, "city": None}]
    assert web.post("/v1/predict", json={"rows": rows}).status_code == 200
    found = metrics(web, "separatrix_sampled_probability_count")
    assert found['separatrix_sampled_rows_total{model="people"}'] == 4
    assert found['separatrix_unknown_values_total{model="people",column="city"}'] == 1
    assert found['separatrix_missing_values_total{model="people",column="age"}'] == 1
    assert found['separatrix_missing_values_total{model="people",column="city"}'] == 1
    assert found['separatrix_sampled_probability_count{model="people"}'] == 4
    labels = [value for name, value in found.items() if name.startswith("separatrix_sampled_label")]
    assert sum(labels) == 4


def test_predicted_numbers(open_app, ask):
    web = open_app("sugar")
    rows = [dict.fromkeys(["age", "sex", "bmi", "bp", *(f"s{i}" for i in range(1, 7))], 0.01 * k)
            for k in range(5)]  # fmt: skip
    web.post("/v1/predict", json={"rows": rows})
    found = metrics(web, "separatrix_sampled_values_sum")
    values = [answer["value"] for answer in ask("sugar", rows=rows)["predictions"]]
    name = 'separatrix_sampled_values_%s{model="sugar"}'
    np.testing.assert_allclose(found[name % "sum"], sum(values), rtol=1e-6)
    np.testing.assert_allclose(found[name % "squares"], np.square(values).sum(), rtol=1e-6)


def test_no_sample(open_app):
    web = open_app("mail", sample=0)
    for _ in range(5):
        web.post("/v1/predict", json={"row": "free"})
    time.sleep(0.2)
    assert "separatrix_sampled" not in web.get("/metrics").text


@pytest.fixture
def other(paths, tmp_path):
    """A model of mails that calls everything spam, and one of tables."""
    model = fitted_models()["mail"][0]
    from sklearn.pipeline import make_pipeline

    texts = ["free", "lunch", "money", "noon"] * 3
    wrong = make_pipeline(TextVectorizer(), LogisticRegression())
    save(wrong.fit(texts, ["ham", "spam", "ham", "spam"] * 3), tmp_path / "new.sx")
    assert model.predict(["free"]) != wrong.predict(["free"])
    return tmp_path / "new.sx"


def test_a_shadow_changes_no_answer_and_is_compared(open_app, ask, other):
    web = open_app("mail", shadow=(str(other),))
    rows = ["free money", "lunch at noon", "money money"]
    answer = web.post("/v1/predict", json={"rows": rows}).json()
    assert answer == ask("mail", rows=rows)
    found = metrics(web, "separatrix_shadow_rows_total")
    assert found['separatrix_shadow_rows_total{model="mail",result="differs"}'] == 3
    assert [model["name"] for model in web.get("/v1/models").json()["models"]] == ["mail"]
    assert web.post("/v1/predict", json={"model": "mail (shadow)", "row": "a"}).status_code == 404


def test_a_shadow_that_agrees_and_one_that_takes_other_rows(open_app, paths):
    web = open_app("mail", shadow=(str(paths["mail"]),))
    web.post("/v1/predict", json={"row": "free money"})
    found = metrics(web, "separatrix_shadow_rows_total")
    assert found['separatrix_shadow_rows_total{model="mail",result="agrees"}'] == 1
    web = open_app("mail", shadow=(str(paths["people"]),))
    web.post("/v1/predict", json={"row": "free money"})
    found = metrics(web, "separatrix_shadow_rows_total")
    assert found['separatrix_shadow_rows_total{model="mail",result="failed"}'] == 1


def test_a_shadow_of_no_model(paths, other):
    with pytest.raises(ParameterError, match="shadows none"):
        create_app([paths["mail"], paths["people"]], Settings(shadow=(str(other),)))


def test_spans(open_app, monkeypatch):
    """A tracer that a program set up is told of requests, in the trace of the client."""
    trace = pytest.importorskip("opentelemetry.trace")
    spans = []

    class Tracer(trace.Tracer):
        def start_span(self, name, context=None, **options):
            raise NotImplementedError

        @contextmanager
        def start_as_current_span(self, name, context=None, attributes=None, **options):
            parent = trace.get_current_span(context).get_span_context()
            told = dict(attributes, name=name, parent=f"{parent.trace_id:032x}")

            class Span(trace.NonRecordingSpan):
                def set_attributes(self, attributes):
                    told.update(attributes)

                def set_status(self, status, description=None):
                    told["error"] = True

            spans.append(told)
            yield Span(parent)

    monkeypatch.setattr(trace, "get_tracer", lambda name: Tracer())
    web = open_app("mail")
    client = "0af7651916cd43dd8448eb211c80319c"
    headers = {"traceparent": f"00-{client}-b7ad6b7169203331-01", "x-request-id": "abc"}
    web.post("/v1/predict", json={"row": "free"}, headers=headers)
    web.get("/v1/models/secret-name")
    first, second = spans
    assert first == {
        "name": "POST /v1/predict", "parent": client, "http.request.method": "POST",
        "http.route": "/v1/predict", "http.response.status_code": 200, "request_id": "abc",
    }  # fmt: skip
    assert (second["http.route"], second["http.response.status_code"]) == ("/v1/models/*", 404)
