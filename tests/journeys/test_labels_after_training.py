"""Labels that come after training: from Python, at the command line and by the service."""

import json

import pytest
from sklearn.pipeline import make_pipeline
from starlette.testclient import TestClient

from separatrix import JointFeatures, MajorityClass, TextVectorizer, load, models, save
from separatrix.cli.app import main
from separatrix.errors import SeparatrixError
from separatrix.serve import create_app
from separatrix.tasks import FieldError

SEEN = ["red dog", "red cat", "blue dog", "green cat"] * 15
TEXTS = [f"it is {label.split()[0]} and it is a {label.split()[1]}" for label in SEEN]
NEW = "it is blue and it is a cat"


@pytest.fixture
def path(tmp_path):
    """A model that knows labels by their words, and never saw "blue cat"."""
    learner = JointFeatures(y_features="words", max_iter=20, random_state=0)
    save(make_pipeline(TextVectorizer(), learner).fit(TEXTS, SEEN), tmp_path / "pets.sx")
    return tmp_path / "pets.sx"


def test_from_python(path):
    model = models.open(path)
    assert model.predict([NEW])[0]["label"] in {"blue dog", "red cat", "green cat"}
    assert model.predict([NEW], labels=["blue cat"]) == [{"label": "blue cat"}]
    # By a text that tells more than the name; the model itself stays as it was.
    found = model.predict([NEW, TEXTS[0]], labels={"b7": "a blue cat"}, probabilities=True)
    assert [one["label"] for one in found] == ["b7", SEEN[0]]
    assert len(found[0]["probabilities"]) == 5
    assert "b7" not in model.labels
    with pytest.raises(FieldError, match="labels: label 'nothing' has no features"):
        model.predict([NEW], labels=["nothing"])
    with pytest.raises(FieldError, match="named twice"):
        model.predict([NEW], labels=["red dog"])
    with pytest.raises(FieldError, match="another type"):
        model.predict([NEW], labels=[3])
    learner = load(path)[-1]
    assert learner.with_labels(["blue cat"]).predict_top(load(path)[0].transform([NEW]), 1).labels[
        0
    ] == ["blue cat"]


@pytest.mark.parametrize("line", ["blue cat", "b7,a blue cat", "b7\ta blue cat"])
def test_at_the_command_line(path, tmp_path, capfd, line):
    (tmp_path / "mails.csv").write_text(f"text\n{NEW}\n{TEXTS[0]}\n")
    (tmp_path / "labels.csv").write_text(line + "\n")
    words = ["predict", str(path), str(tmp_path / "mails.csv")]
    assert main([*words, "--labels", str(tmp_path / "labels.csv")]) == 0
    label = line.replace("\t", ",").split(",")[0]
    assert capfd.readouterr().out.splitlines() == ["prediction", label, SEEN[0]]
    (tmp_path / "labels.csv").write_text("red dog\n")
    assert main([*words, "--labels", str(tmp_path / "labels.csv")]) != 0
    assert "named twice" in capfd.readouterr().err
    save(MajorityClass().fit([[0.0]], ["a"]), tmp_path / "major.sx")
    (tmp_path / "rows.csv").write_text("x\n1\n")
    words = ["predict", str(tmp_path / "major.sx"), str(tmp_path / "rows.csv")]
    assert main([*words, "--labels", str(tmp_path / "labels.csv")]) != 0
    assert "knows no labels but those" in capfd.readouterr().err


def test_by_the_service(path):
    with TestClient(create_app([path]), base_url="http://localhost") as web:

        def ask(**request):
            return web.post("/v1/predict", content=json.dumps({"rows": [NEW], **request}).encode(),
                            headers={"content-type": "application/json"})  # fmt: skip

        for labels in (["blue cat"], {"blue cat": "a cat, blue"}):
            answer = ask(labels=labels, top=2, probabilities=True).json()
            assert answer["predictions"][0]["label"] == "blue cat"
            assert answer["predictions"][0]["top"][0]["label"] == "blue cat"
            assert len(answer["classes"]) == 5
        assert ask().json()["predictions"][0]["label"] != "blue cat"
        refused = ask(labels=["nothing"])
        assert refused.status_code == 422 or refused.status_code == 400
        assert refused.json()["error"]["field"] == "labels"
        schema = web.get("/openapi.json").json()
    assert '"labels"' in json.dumps(schema)


def test_labels_of_another_learner_are_refused(tmp_path):
    save(MajorityClass().fit([[0.0], [1.0]], ["a", "b"]), tmp_path / "m.sx")
    with pytest.raises(SeparatrixError, match="knows no labels but those"):
        models.open(tmp_path / "m.sx").predict([[0.0]], labels=["c"])
