"""Every kind of model through every door: Python, command line, service, page, report, ONNX."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline, make_union
from starlette.testclient import TestClient

from separatrix import (
    CRF,
    Experiment,
    FrequentLabels,
    LabelPerWord,
    LogisticRegression,
    MajorityClass,
    MeanValue,
    MultiLabel,
    Segmenter,
    SpamFeatures,
    StructuredSVM,
    Templates,
    TextVectorizer,
    models,
    save,
)
from separatrix.cli.app import main
from separatrix.data import read
from separatrix.errors import NotSavableError
from separatrix.models import to_onnx
from separatrix.serve import create_app

RANDOM = np.random.default_rng(0)


def table(n=80, quantity=False):
    """A CSV file of people."""
    lines = ["age,city,target"]
    for _ in range(n):
        age, city = RANDOM.integers(20, 80), RANDOM.choice(["Rome", "Oslo"])
        size = age + 20 * (city == "Rome") + 3 * RANDOM.normal()
        value = f"{size:.3f}" if quantity else "old" if size > 60 else "young"
        lines.append(f"{age},{city},{value}")
    return "\n".join(lines) + "\n"


def sets(n=60):
    """An svmlight file of label sets."""
    lines = []
    for a, b in RANDOM.normal(size=(n, 2)):
        labels = ",".join(str(k) for k, on in enumerate((a > 0, b > 0, a + b > 0)) if on)
        lines.append(f"{labels} 1:{a:.4f} 2:{b:.4f}")
    return "\n".join(lines) + "\n"


def sentences(n=40, attributes=False):
    """A CoNLL or CRFsuite file of sentences."""
    kinds = {"D": ("the", "a", "no"), "N": ("cat", "dog", "sun", "sea"), "V": ("sat", "ran", "is")}
    lines = []
    for _ in range(n):
        for label in "DNV" if RANDOM.random() > 0.4 else "DNVDN":
            word = RANDOM.choice(kinds[label])
            lines.append(f"{label}\tw={word}" if attributes else f"{word} {label}")
        lines.append("")
    return "\n".join(lines) + "\n"


def images():
    """A label image, and noisy images of it."""
    truth = np.zeros((10, 10), dtype=int)
    truth[3:8, 3:8] = 1
    return truth, [truth + RANDOM.normal(0, 0.4, truth.shape) for _ in range(4)]


TEXTS = ["free money now", "win a free prize", "see you at noon", "lunch at noon with you"] * 3
LABELS = ["spam", "spam", "ham", "ham"] * 3
MAILS = "text,class\n" + "".join(f"{t},{c}\n" for t, c in zip(TEXTS, LABELS, strict=True))
WORDS = [["the", "cat"], ["a", "dog", "sat"]], [["D", "N"], ["D", "N", "V"]]
ROWS, SETS = [[0.0], [0.2], [0.9], [1.0], [1.1]], [["a"], ["a"], ["a", "b"], ["b"], ["b"]]
SVM = "a 1:0.5\na,b 1:1\nb 1:1.2\n"
TRUTH, PICTURES = images()


def pictures(folder):
    """Write images, bright where their labels are 1, and label images."""
    from skimage.io import imsave

    for part in ("images", "labels"):
        (folder / part).mkdir(parents=True)
    for number in range(8):
        truth = np.zeros((6, 5), dtype=np.uint8)
        truth[number % 3 : number % 3 + 3, 1:4] = 1
        for part, values in (("images", 20 + 200 * truth), ("labels", truth)):
            path = folder / part / f"{number}.png"
            imsave(path, values.astype(np.uint8), check_contrast=False)


#: Files that `compare` learns from: suffix, content, learner; a champion of every kind of target.
COMPARED = {
    "classes": (".csv", table(), "logistic_regression"),
    "quantities": (".csv", table(quantity=True), "bayesian_regression"),
    "tagging": (".conll", sentences(), "crf"),
    "tagging_per_word": (".conll", sentences(), "label_per_word"),
    "tagging_attributes": (".crfsuite", sentences(attributes=True), "structured_svm"),
    "label_sets": (".svm", sets(), "label_crf"),
    "label_sets_online": (".svm", sets(), "label_perceptron"),
    "label_images": (".images", pictures, "grid_perceptron"),
}

#: Models that are made in Python, and a file for each: model, suffix, content.
MADE = {
    "majority": (MajorityClass().fit(ROWS, list("aabbb")), ".svm", "0 1:0.5\n1 1:1\n"),
    "mean": (MeanValue().fit(ROWS, [1.0, 2.0, 3.0, 4.0, 5.0]), ".svm", "0.5 1:0.5\n1 1:1\n"),
    "words": (
        make_pipeline(TextVectorizer(), LogisticRegression()).fit(TEXTS, LABELS), ".csv", MAILS,
    ),
    "spam": (
        make_pipeline(make_union(SpamFeatures(), TextVectorizer()), LogisticRegression()).fit(
            TEXTS, LABELS
        ),
        ".csv",
        MAILS,
    ),
    "spam_alone": (
        make_pipeline(SpamFeatures(), LogisticRegression()).fit(TEXTS, LABELS), ".csv", MAILS,
    ),
    "sets": (MultiLabel(C=10.0).fit(ROWS, SETS), ".svm", "1 1:0.5\n1,2 1:1\n2 1:1.2\n"),
    "sets_svm": (MultiLabel("svm").fit(ROWS, SETS), ".svm", "1 1:0.5\n1,2 1:1\n2 1:1.2\n"),
    "frequent": (FrequentLabels().fit(ROWS, SETS), ".svm", "1 1:0.5\n1,2 1:1\n2 1:1.2\n"),
    "templates": (
        make_pipeline(Templates("word[-1..0]"), CRF()).fit(*WORDS), ".conll", "the D\ncat N\n\n",
    ),
    "per_word": (LabelPerWord().fit(*WORDS), ".conll", "the D\ncat N\n\n"),
    "attributes": (
        StructuredSVM().fit([[{"w": word} for word in row] for row in WORDS[0]], WORDS[1]),
        ".crfsuite",
        "D\tw\\:the\nN\tw\\:cat\n\n",
    ),
    "segmenter": (
        Segmenter(features=["color"], learner="perceptron").fit(PICTURES, [TRUTH] * 4), "", "",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Model files and data files of all cases, and the reports of those that were compared."""
    folder = tmp_path_factory.mktemp("doors")
    for name, (suffix, content, learner) in COMPARED.items():
        path = folder / f"{name}{suffix}"
        content(path) if callable(content) else path.write_text(content, encoding="utf-8")
        result = Experiment(read(path), learners=[learner], champion=learner).run()
        result.save(folder / f"{name}.sx")
        result.to_html(folder / f"{name}.html")
    for name, (model, suffix, content) in MADE.items():
        (folder / f"{name}{suffix or '.none'}").write_text(content, encoding="utf-8")
        save(model, folder / f"{name}.sx")
    return folder


def source(home, name):
    """The data file of a case; None where commands read no such files."""
    suffix = COMPARED[name][0] if name in COMPARED else MADE[name][1]
    return str(home / f"{name}{suffix}") if suffix else None


CASES = [*COMPARED, *MADE]


@pytest.mark.parametrize("name", CASES)
def test_python(home, name):
    model = models.open(home / f"{name}.sx")
    assert model.info.task == model.task.kind
    example = model.reader.example()
    (answer,) = model.predict([example])
    assert set(answer) & {"label", "value", "labels", "image"}
    if "probabilities" in model.offers:
        assert "probabilities" in model.predict([example], probabilities=True)[0]
    if "top" in model.offers:
        assert len(model.predict([example], top=1)[0]["top"]) == 1
    if "explain" in model.offers:
        assert model.predict([example], explain=3)[0]["explanation"]


@pytest.mark.parametrize("name", CASES)
def test_command_line(home, name, capsys):
    model = str(home / f"{name}.sx")
    assert main(["inspect", model]) == 0
    file = source(home, name)
    if file is None:
        return
    for options in ([], ["--json"], ["--format", "csv"]):
        if name in ("attributes", "tagging_attributes") and not options:
            continue  # attributes have no columns to write
        capsys.readouterr()
        assert main(["predict", model, file, *options]) == 0, capsys.readouterr().err
        assert capsys.readouterr().out.strip()
    if "probabilities" in models.open(model).offers:
        assert main(["predict", model, file, "--proba", "--format", "csv"]) == 0
        assert "P(" in capsys.readouterr().out
    if name in COMPARED or name in ("words", "templates", "per_word", "attributes"):
        assert main(["evaluate", model, file, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)
    if "explain" in models.open(model).offers:
        assert main(["explain", model, file, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)


def test_service_and_pages(home):
    paths = [home / f"{name}.sx" for name in CASES]
    with TestClient(create_app(paths), base_url="http://localhost") as web:
        assert [one["name"] for one in web.get("/v1/models").json()["models"]] == CASES
        for name in CASES:
            card = web.get(f"/v1/models/{name}").json()
            request = {"model": name, "row": card["example"]}
            for option in ("probabilities", "explain"):
                if card[{"explain": "explains"}.get(option, option)]:
                    request[option] = True
            response = web.post("/v1/predict", json=request)
            assert response.status_code == 200, (name, response.text)
            (answer,) = response.json()["predictions"]
            assert ("explanation" in answer) == card["explains"]
            page = web.get(f"/?model={name}")
            assert page.status_code == 200
            content = page.text.split('id="model">')[1].split("</script>")[0]
            wanted = json.loads(content)["wanted"]
            shown = web.post(
                "/v1/predict", json={"model": name, "rows": [card["example"]], **wanted}
            )
            assert shown.status_code == 200, (name, shown.text)


@pytest.mark.parametrize("name", COMPARED)
def test_reports(home, name):
    page = (home / f"{name}.html").read_text(encoding="utf-8")
    assert "<h2" in page
    assert COMPARED[name][2] in page


def test_onnx(home):
    pytest.importorskip("onnx")
    exported = set()
    for name in CASES:
        with suppress(NotSavableError):
            to_onnx(models.open(home / f"{name}.sx").estimator)
            exported.add(name)
    assert exported >= {"classes", "quantities"}
    plain = LogisticRegression().fit(ROWS, list("aabbb"))
    save(plain, home / "plain.sx")
    assert to_onnx(models.open(home / "plain.sx").estimator).graph.output[0].name == "label"
