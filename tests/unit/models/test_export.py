"""Exports of flat models: scikit-learn and onnxruntime give the same labels and probabilities."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from separatrix import (
    MIRA,
    AllPairs,
    Calibrated,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    MajorityClass,
    NaiveBayes,
    OneVsAll,
    Perceptron,
    PriorSampling,
    RadialBasis,
    TableEncoder,
    load,
    save,
    save_onnx,
    to_sklearn,
)
from separatrix.errors import NotFittedError, NotSavableError
from separatrix.models import to_onnx
from tests.unit.models.models import TWO, X, Y

MODELS = {
    "logistic": (LogisticRegression(), Y),
    "logistic_two": (LogisticRegression(fit_intercept=False), TWO),
    "svm": (LinearSVM(), Y),
    "svm_two": (LinearSVM(), Y == "cat"),
    "classifier_logistic": (LinearClassifier("logistic"), TWO.astype(np.float64)),
    "classifier_squared": (LinearClassifier("squared"), np.array(["a", "b"], dtype=object)[TWO]),
    "perceptron": (Perceptron(random_state=0), Y),
    "mira": (MIRA(random_state=0), TWO - 1),
}


@pytest.fixture(params=MODELS)
def model(request):
    estimator, y = MODELS[request.param]
    return estimator.fit(X, y)


@pytest.mark.parametrize("loaded", [False, True])
def test_scikit_learn_predicts_the_same(model, loaded, tmp_path):
    save(model, tmp_path / "model.sx")
    other = to_sklearn(load(tmp_path / "model.sx") if loaded else model)
    assert type(other).__module__.startswith("sklearn.")
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_allclose(other.decision_function(X), model.decision_function(X), atol=1e-12)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_onnxruntime_predicts_the_same(model, dtype, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    rows = X.astype(dtype)
    labels = model.predict(X)
    model = type(model)(**model.get_params()).fit(rows, labels)
    save_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    label, numbers = session.run(None, {"X": rows})
    assert numbers.dtype == dtype
    assert np.asarray(label).tolist() == model.predict(rows).tolist()
    names = [output.name for output in session.get_outputs()]
    accuracy = 1e-12 if dtype == np.float64 else 1e-5
    if hasattr(model, "predict_proba"):
        assert names == ["label", "probabilities"]
        np.testing.assert_allclose(numbers, model.predict_proba(rows), atol=accuracy)
    else:
        assert names == ["label", "scores"]
        scores = model.decision_function(rows)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        np.testing.assert_allclose(numbers, scores, rtol=accuracy, atol=accuracy)


GAPS = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
TABLE = {f"column{j}": column for j, column in enumerate(GAPS.T)}


@pytest.mark.parametrize("y", [Y, TWO], ids=["many", "two"])
@pytest.mark.parametrize("learner", [LogisticRegression(), LinearSVM()])
@pytest.mark.parametrize(
    "scaler", [MaxAbsScaler(), StandardScaler(), MinMaxScaler(clip=True), None]
)
@pytest.mark.parametrize("calibrated", [None, "inside", "outside"])
def test_pipelines_of_affine_steps_are_folded(y, learner, scaler, calibrated, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    last = Calibrated(learner, random_state=0) if calibrated == "inside" else learner
    model = make_pipeline(scaler, last)
    if calibrated == "outside":
        model = Calibrated(model, random_state=0)
    model.fit(X, y)
    save_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    # Rows far out too, where the calibration has its floor.
    rows = np.vstack([X, 1000 * X[:5]])
    label, numbers = session.run(None, {"X": rows})
    assert np.asarray(label).tolist() == model.predict(rows).tolist()
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(numbers, model.predict_proba(rows), atol=1e-9)


@pytest.mark.parametrize("y", [Y, TWO], ids=["many", "two"])
def test_tables_of_numbers_with_gaps_are_folded(y, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = make_pipeline(TableEncoder(sparse_output=False), LogisticRegression()).fit(TABLE, y)
    save_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    _, numbers = session.run(None, {"X": GAPS})
    np.testing.assert_allclose(numbers, model.predict_proba(TABLE), atol=1e-12)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (OneVsAll(LogisticRegression(), shared=False), "fitted one by one"),
        (AllPairs(LogisticRegression()), "AllPairs with probabilities"),
        (make_pipeline(RadialBasis("fourier", n_components=4), LinearSVM()), "RadialBasis"),
        (PriorSampling(), "PriorSampling cannot be exported"),
    ],
)
def test_what_has_no_operators_is_refused(model, message):
    with pytest.raises(NotSavableError, match=message):
        to_onnx(model.fit(X, Y))


@pytest.mark.filterwarnings("ignore::separatrix.errors.ZeroProbabilityWarning")
def test_zero_probabilities_are_refused():
    model = NaiveBayes("bernoulli", smoothing=0.0).fit([[0], [0], [1], [1]], [0, 0, 1, 1])
    with pytest.raises(NotSavableError, match="some of its probabilities are zero"):
        to_onnx(model)


@pytest.mark.parametrize("export", [to_sklearn, to_onnx])
def test_what_is_not_flat_is_refused(export):
    with pytest.raises(NotSavableError, match="averaging='average'"):
        export(Perceptron(averaging="vote").fit(X, Y))
    with pytest.raises(NotFittedError):
        export(LogisticRegression())
    with pytest.raises(NotSavableError, match="only flat linear classifiers"):
        to_sklearn(MajorityClass().fit(X, Y))


def test_labels_without_a_type_in_onnx_are_refused():
    pytest.importorskip("onnx")
    model = LogisticRegression().fit(X, TWO)
    model.classes_ = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    with pytest.raises(NotSavableError, match="have no type in ONNX"):
        to_onnx(model)


def test_without_onnx_the_extra_is_named(monkeypatch):
    true_import = builtins.__import__

    def no_onnx(name, *rest):
        if name.partition(".")[0] == "onnx":
            raise ImportError(name)
        return true_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", no_onnx)
    with pytest.raises(ImportError, match=r"separatrix\[onnx\]"):
        to_onnx(LogisticRegression().fit(X, TWO))
