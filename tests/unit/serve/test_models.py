"""Cards, health, counters, and the exchange of models."""

from __future__ import annotations

import os
import shutil

import pytest
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, TextVectorizer, save
from separatrix.errors import ModelFileError, ParameterError
from separatrix.serve import Settings
from separatrix.serve.app import Service
from separatrix.serve.store import ModelStore
from tests.unit.serve.served import texts


def test_the_list_of_models(web, paths):
    found = web.get("/v1/models").json()
    assert [one["name"] for one in found["models"]] == list(paths)
    kinds = {one["name"]: (one["task"], one["input"]) for one in found["models"]}
    assert kinds["mail"] == ("classes", "text")
    assert kinds["people"] == ("classes", "table")
    assert kinds["sugar"] == ("quantities", "table")
    assert kinds["digits"] == ("classes", "images")
    assert kinds["tagger"] == kinds["crf"] == ("tagging", "sequences")
    by_name = {one["name"]: one for one in found["models"]}
    assert by_name["mail"]["explains"]
    assert by_name["tagger"]["explains"]
    assert by_name["mail"]["probabilities"]
    assert not by_name["svm"]["probabilities"]


def test_every_example_of_a_card_can_be_predicted(web, paths):
    for name in paths:
        card = web.get(f"/v1/models/{name}").json()
        request = {"model": name, "row": card["example"]}
        assert web.post("/v1/predict", json=request).status_code == 200
    assert web.get("/v1/models/none").status_code == 404


def test_a_card(web):
    card = web.get("/v1/models/mail").json()
    assert card["classes"] == ["ham", "spam"]
    assert card["score"] == {"metric": "accuracy", "held_out": None, "test": 0.97}
    assert card["training"]["n_rows"] == 6
    columns = web.get("/v1/models/people").json()["features"]["columns"]
    assert [(c["name"], c["kind"]) for c in columns] == [
        ("age", "number"), ("city", "category"), ("member", "flag"), ("since", "date")
    ]  # fmt: skip
    assert columns[1]["values"] == ["Lima", "Oslo", "Rome"]
    assert 40 < columns[0]["mean"] < 60


def test_health_and_counters(open_app):
    web = open_app("mail")
    assert web.get("/healthz").json() == {"status": "ok"}
    assert web.get("/readyz").json() == {"status": "ready"}
    web.post("/v1/predict", json={"rows": ["a", "b"]})
    web.post("/v1/predict", json={"rows": [3]})
    for path in ("/nothing/at/all", "/v1/models/a/b", "/v1/models/c", "/static/%22%0A"):
        web.get(path)
    response = web.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = response.text.splitlines()
    predict = 'separatrix_requests_total{method="POST",route="/v1/predict",status='
    assert f'{predict}"200"}} 1' in lines
    assert f'{predict}"422"}} 1' in lines
    assert 'separatrix_requests_total{method="GET",route="other",status="404"} 1' in lines
    assert 'separatrix_requests_total{method="GET",route="/v1/models/*",status="404"} 2' in lines
    assert 'separatrix_requests_total{method="GET",route="/static/*",status="404"} 1' in lines
    assert 'separatrix_rows_total{model="mail"} 2' in lines
    assert 'separatrix_request_seconds_count{route="/v1/predict"} 2' in lines
    assert "separatrix_requests_in_progress 0" in lines
    for line in lines:
        assert line.startswith("# ") or len(line.rsplit(" ", 1)) == 2


def test_readiness_ends_before_the_service(paths):
    from starlette.testclient import TestClient

    service = Service(ModelStore([paths["mail"]], Settings()))
    with TestClient(service.app, base_url="http://localhost") as web:
        service.app.stopping = True
        response = web.get("/readyz")
        assert (response.status_code, response.headers["connection"]) == (503, "close")
        assert web.get("/healthz").status_code == 200
        assert web.post("/v1/predict", json={"row": "a"}).headers["connection"] == "close"


def test_names_are_unique(paths, tmp_path):
    shutil.copy(paths["mail"], tmp_path / "mail.sx")
    with pytest.raises(ParameterError, match="both be named 'mail'"):
        ModelStore([paths["mail"], tmp_path / "mail.sx"], Settings())
    with pytest.raises(ParameterError, match="no model"):
        ModelStore([], Settings())


def test_what_cannot_be_served(tmp_path):
    save(TextVectorizer().fit(["some text"]), tmp_path / "vectors.sx")
    with pytest.raises(ModelFileError, match="predicts nothing"):
        ModelStore([tmp_path / "vectors.sx"], Settings())
    (tmp_path / "no.sx").write_bytes(b"no model")
    with pytest.raises(ModelFileError, match=r"no\.sx"):
        ModelStore([tmp_path / "no.sx"], Settings())


@pytest.fixture
def turned(tmp_path):
    """A model that says the opposite of "mail"."""
    X, y = texts()
    wrong = ["ham" if label == "spam" else "spam" for label in y]
    path = tmp_path / "turned.sx"
    save(make_pipeline(TextVectorizer(), LogisticRegression()).fit(X, wrong), path)
    return path


def test_reload(paths, turned, tmp_path):
    file = tmp_path / "mail.sx"
    shutil.copy(paths["mail"], file)
    store = ModelStore([file], Settings())
    old = store.get(None)
    assert store.reload(only_changed=True) == []
    os.replace(turned, file)
    assert store.reload(only_changed=True) == ["mail"]
    new = store.get("mail")
    assert new.version != old.version
    ask = [["free money"]]
    assert old.estimator.predict(*ask) == ["spam"]
    assert new.estimator.predict(*ask) == ["ham"]


@pytest.mark.parametrize("how", ["overwritten", "cut", "gone", "other"])
def test_a_broken_file_keeps_the_old_model(paths, tmp_path, how):
    file = tmp_path / "mail.sx"
    shutil.copy(paths["mail"], file)
    store = ModelStore([file], Settings())
    old = store.get(None)
    if how == "overwritten":  # in place: what was mapped from the file would change
        with open(file, "r+b") as stream:
            stream.seek(200)
            stream.write(b"\xff" * (file.stat().st_size - 300))
    elif how == "cut":
        with open(file, "r+b") as stream:
            stream.truncate(100)
    elif how == "gone":
        file.unlink()
    else:
        save(TextVectorizer().fit(["some text"]), file)
    assert store.reload() == []
    assert store.n_failed == 1
    assert "mail.sx" in store.complaints["mail"]
    assert store.get(None) is old
    assert old.estimator.predict(["free money", "lunch today"]).tolist() == ["spam", "ham"]
    shutil.copy(paths["mail"], file)
    assert store.reload() == ["mail"]
    assert store.complaints == {}
