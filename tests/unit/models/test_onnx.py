"""What `compare` makes, in onnxruntime: the same labels and numbers, or a named refusal."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from separatrix import Experiment
from separatrix.data import read
from separatrix.errors import NotSavableError
from separatrix.experiment.source import as_dataset
from separatrix.features import TableEncoder, TextVectorizer
from separatrix.learners.linear import LogisticRegression
from separatrix.models import to_onnx
from separatrix.models.export.features import add_steps
from separatrix.models.export.graph import Graph
from separatrix.registry import LEARNERS, names

onnxruntime = pytest.importorskip("onnxruntime")
WORDS = [
    "free",
    "money",
    "now",
    "cheap",
    "pills",
    "meeting",
    "lunch",
    "home",
    "Größe",
    "Straße",
    "ok",
]


def answers(model, feeds):
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    found = session.run(None, feeds)
    return dict(zip([one.name for one in session.get_outputs()], found, strict=True))


def check(model, X, feeds):
    """Labels and numbers of both are the same."""
    found = answers(model, feeds)
    if "prediction" in found:
        np.testing.assert_allclose(found["prediction"], model.predict(X), rtol=1e-5, atol=1e-5)
        return
    told = model.predict(X)
    if "probabilities" in found:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)
    else:
        scores = np.asarray(model.decision_function(X))
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        np.testing.assert_allclose(found["scores"], scores, rtol=1e-5, atol=1e-5)
    assert np.asarray(found["label"]).tolist() == told.tolist()


def rows(n=240, *, classes=2, quantity=False):
    """Lines of a table with numbers, gaps, flags, categories and short texts."""
    random = np.random.default_rng(classes + quantity)
    for _ in range(n):
        size, age = random.normal(), random.gamma(2.0)
        city, texts = random.choice(["Rome", "Oslo", "Lima", ""]), random.choice(WORDS, 5)
        score = np.sin(3 * size) + (city == "Rome") + ("free" in texts) + 0.3 * random.normal()
        y = f"{score:.3f}" if quantity else "abc"[int(np.clip(score + classes / 2, 0, classes - 1))]
        gap = "" if random.random() < 0.1 else f"{size:.3f}"
        yield f"{gap},{age:.3f},{city},{random.choice(['yes', 'no'])},{' '.join(texts)},{y}"


def table(*, text=True, **how):
    head = "size,age,city,member,note,class"
    data = as_dataset(read("\n".join([head, *rows(**how)]).encode()), "class")
    if not text:
        data = data.take(np.arange(len(data)))
        return data, ("note",)
    return data, ()


def feeds_of(X):
    """Columns as the graph takes them: numbers, 1 and 0, strings, empty where missing."""
    made = {}
    for name, values in X.items():
        if values.dtype == object and not all(isinstance(v, bool | None) for v in values):
            made[name] = np.array(["" if v is None else v for v in values], dtype=object)
        else:
            made[name] = np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    return made


#: Without operators, or (the last) slow to tune; radial functions stand before others below.
REFUSED = {
    *("prior_sampling", "voted_perceptron", "radial_regression"),
    *(entry.name for entry in LEARNERS if entry.many),
}
LEARNED = [
    (task, learner)
    for task in ("binary", "multiclass", "regression")
    for learner in names(task)
    if learner not in REFUSED
]


@pytest.mark.parametrize(("task", "learner"), LEARNED)
def test_every_learner_on_a_mixed_table(task, learner):
    data, drop = table(
        classes=3 if task == "multiclass" else 2, quantity=task == "regression", text=False
    )
    found = Experiment(data, learners=[learner], drop=drop, features="plain", champion=learner)
    result = found.run()
    X = result.inputs.take(data)
    check(result.model, X, feeds_of(X))


@pytest.mark.parametrize("calibration", ["temperature", "sigmoid", "isotonic"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", ["logistic_regression", "perceptron"])
def test_calibrations_and_costs(calibration, classes, learner):
    data, drop = table(classes=classes, text=False)
    cost = 1 - np.eye(classes)
    cost[0] *= 3
    for given in (None, cost):
        result = Experiment(
            data, learners=[learner], drop=drop, features="plain", champion=learner,
            calibration=calibration, cost=given,
        ).run()  # fmt: skip
        X = result.inputs.take(data)
        check(result.model, X, feeds_of(X))


@pytest.mark.parametrize("numbers", ["standard", "robust", "splines", "bins", "both"])
def test_every_way_of_columns(numbers):
    data, _ = table()
    X = {name: data.X[name] for name in data.X}
    encoder = TableEncoder(
        data.schema, numbers=numbers, pairs=[("size", "city"), ("member", "age")],
        min_frequency=0.2, sparse_output=False,
    )  # fmt: skip
    model = make_pipeline(encoder, LogisticRegression()).fit(X, data.y)
    far = {name: values.copy() for name, values in X.items()}
    far["age"][:4] = [1e300, -1e300, 1e9, 0.0]
    far["city"][:2] = ["Paris", None]
    graph = Graph(np.float64)
    result = add_steps(graph, [encoder], None)
    graph.output(result, "features", graph.real, len(encoder.get_feature_names_out()))
    session = onnxruntime.InferenceSession(graph.model().SerializeToString())
    (found,) = session.run(None, feeds_of(far))
    np.testing.assert_allclose(found, encoder.transform(far), rtol=1e-9, atol=1e-6)
    check(model, far, feeds_of(far))


def test_searched_features_of_a_table():
    random = np.random.default_rng(0)
    X = {f"x{j}": random.normal(size=400).round(3) for j in range(3)}
    y = np.where(X["x0"] ** 2 + X["x1"] * X["x2"] > 0.5, "in", "out")
    result = Experiment((X, y), learners=["logistic_regression"]).run()
    assert "plain" not in {one.name for one in result.features if one.chosen}
    found = answers(result.model, {"X": np.column_stack(list(X.values()))})
    np.testing.assert_allclose(found["probabilities"], result.model.predict_proba(X), atol=1e-5)


TEXTS = [
    "Free MONEY now, cheap pills!", "", "a I", "Meeting  at noon\nin Größe 12", "ÅNGSTRÖM naïve",
    "under_score 3rd x-ray", "tab\tand\u00a0no-break\u2003space", "日本語 テキスト 東京", "ok",
    "２３ ab" * 3,
]  # fmt: skip


@pytest.mark.parametrize(
    ("analyzer", "lengths"),
    [
        ("word", (1, 1)),
        ("word", (1, 2)),
        ("word", (2, 3)),
        ("char_wb", (2, 5)),
        ("char_wb", (3, 3)),
    ],
)
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"sublinear_tf": True, "dtype": "float32"},
        {"lowercase": False, "norm": "l1", "use_idf": False},
        {"binary": True, "norm": None, "nb_log_ratio": True},
    ],
)
def test_texts_are_counted_alike(analyzer, lengths, how):
    random = np.random.default_rng(0)
    texts = [*TEXTS, *(" ".join(random.choice(WORDS, 6)) for _ in range(60))]
    y = np.arange(len(texts)) % 2
    model = make_pipeline(TextVectorizer(analyzer, lengths, **how), LogisticRegression())
    check(model.fit(texts, y), texts, {"X": np.array(texts, dtype=object)})


@pytest.mark.parametrize("learner", ["logistic_regression", "naive_bayes", "linear_svm"])
def test_texts_with_words_and_characters(learner):
    random = np.random.default_rng(0)
    y = np.arange(200) % 3
    texts = np.array(
        [" ".join(random.choice(WORDS[3 * k : 3 * k + 6], 4)) for k in y], dtype=object
    )
    result = Experiment(
        (texts, y), learners=[learner], champion=learner, ngrams=(1, 2), characters=(2, 4)
    ).run()
    check(result.model, texts, {"X": texts})


def test_what_has_no_operators_is_refused():
    when = np.array(["2020-01-01", "2021-01-01"] * 20, dtype="datetime64[us]")
    y = np.arange(40) % 2
    model = make_pipeline(TableEncoder(), LogisticRegression()).fit({"when": when}, y)
    with pytest.raises(NotSavableError, match=r"column 'when' of dates .* no operator for cal"):
        to_onnx(model)
    texts = ["free money", "lunch today"] * 20
    for how, told in (
        ({"stop_words": "english"}, "stop_words"),
        ({"strip_accents": "unicode"}, "strip_accents"),
        ({"token_pattern": r"\w+"}, "token_pattern"),
        ({"analyzer": "char"}, "white space"),
        ({"n_features": 64}, "n_features"),
        ({"analyzer": "char_wb"}, "must begin with 2 or 3"),
    ):
        model = make_pipeline(TextVectorizer(**how), LogisticRegression()).fit(texts, y)
        with pytest.raises(NotSavableError, match=told):
            to_onnx(model)
