"""Model files of CRFsuite: what python-crfsuite wrote is read, what is written it reads."""

import os

import numpy as np
import pytest
from sklearn.base import clone

from separatrix import CRF, StructuredPerceptron, load, save
from separatrix.errors import ModelFileError, ParameterError
from separatrix.learners.structured.crfsuite_file import CHUNK, HEADER, read_crfsuite_model
from separatrix.learners.structured.crfsuite_write import crfsuite_bytes
from separatrix.structures import Chain
from tests.unit.learners.structured.tagging import sentences

pycrfsuite = pytest.importorskip("pycrfsuite")

X, Y = sentences(80)
NEW, _ = sentences(30, seed=1)
# Names that are long, not ASCII, and not seen in training.
X[0][0]["Wörter"] = ["straße", "x" * 40, "字"]
NEW[0][0]["Wörter"] = ["字", "never seen"]


@pytest.fixture(scope="module", params=["lbfgs", "ap"])
def path(request, tmp_path_factory):
    params = {"c1": 0.1, "c2": 0.1} if request.param == "lbfgs" else {"max_iterations": 3}
    trainer = pycrfsuite.Trainer(algorithm=request.param, params=params, verbose=False)
    for tokens, tags in zip(X, Y, strict=True):
        trainer.append(tokens, tags)
    path = tmp_path_factory.mktemp("models") / f"{request.param}.crfsuite"
    trainer.train(os.fspath(path))
    return path


def tagger_of(path):
    tagger = pycrfsuite.Tagger()
    tagger.open(os.fspath(path))
    return tagger


def assert_agree(model, tagger):
    """Labels, marginals and probabilities of new sentences are the same."""
    found = model.predict(NEW)
    assert found == [tagger.tag(tokens) for tokens in NEW]
    marginals = model.predict_proba(NEW)
    log_p = model.log_likelihood(NEW, found)
    for number, tokens in enumerate(NEW):
        tagger.set(tokens)
        wanted = [[tagger.marginal(c, t) for c in model.classes_] for t in range(len(tokens))]
        np.testing.assert_allclose(marginals[number], wanted, rtol=1e-9, atol=1e-12)
        assert np.exp(log_p[number]) == pytest.approx(tagger.probability(found[number]), rel=1e-9)


def test_a_file_of_crfsuite_predicts_as_its_tagger(path):
    model, tagger = CRF.from_crfsuite(path), tagger_of(path)
    assert model.classes_.tolist() == tagger.labels()
    info = tagger.info()
    assert set(model.attributes_) == set(info.attributes)
    chain = model.features_
    weights = dict(
        zip(
            zip(
                np.array(model.attributes_)[chain.state.attributes].tolist(),
                model.classes_[chain.state.outputs].tolist(),
                strict=True,
            ),
            model.coef_[chain.sections["state"]].tolist(),
            strict=True,
        )
    )
    assert weights == pytest.approx(info.state_features, abs=1e-6)
    assert_agree(model, tagger)


def test_what_is_written_is_read_by_both(path, tmp_path):
    model = CRF.from_crfsuite(path)
    model.to_crfsuite(tmp_path / "again")
    assert_agree(model, tagger_of(tmp_path / "again"))
    np.testing.assert_array_equal(CRF.from_crfsuite(tmp_path / "again").coef_, model.coef_)
    # A file of the same size but for CRFsuite's reserve in its lists of names.
    assert abs(os.path.getsize(tmp_path / "again") - os.path.getsize(path)) < 16


def test_a_file_becomes_a_model_file_of_ours(path, tmp_path):
    model = CRF.from_crfsuite(path)
    save(model, tmp_path / "model.sx")
    assert load(tmp_path / "model.sx").predict(NEW) == model.predict(NEW)
    assert clone(model).fit(X, Y).classes_.tolist() == sorted(model.classes_.tolist())


def test_a_model_of_ours_serves_crfsuite(tmp_path):
    model = CRF(Chain(boundaries=False), C=2.0).fit(X, Y)
    model.to_crfsuite(tmp_path / "model")
    tagger = tagger_of(tmp_path / "model")
    assert tagger.labels() == model.classes_.tolist()
    assert_agree(model, tagger)


def test_models_that_a_file_cannot_hold_are_named(tmp_path):
    for options, message in [
        ({}, "starts and ends"),
        ({"structure": Chain(order=2, boundaries=False)}, "second order"),
    ]:
        with pytest.raises(ParameterError, match=message):
            CRF(**options).fit(X, Y).to_crfsuite(tmp_path / "model")
    numbers = CRF(Chain(boundaries=False)).fit([[["a"], ["b"]]], [[0, 1]])
    with pytest.raises(ParameterError, match="label 0"):
        numbers.to_crfsuite(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    assert not hasattr(StructuredPerceptron, "to_crfsuite")


def changed(path, **fields):
    data = bytearray(path.read_bytes())
    header = np.frombuffer(data[: HEADER.itemsize], dtype=HEADER).copy()
    for name, value in fields.items():
        header[name] = value
    data[: HEADER.itemsize] = header.tobytes()
    return bytes(data)


def test_damaged_files_are_named(path, tmp_path):
    good = path.read_bytes()
    header = np.frombuffer(good[: HEADER.itemsize], dtype=HEADER)[0]
    first = int(header["features"]) + CHUNK.itemsize
    bad_type = bytearray(good)
    bad_type[first : first + 4] = (7).to_bytes(4, "little")
    bad_label = bytearray(good)
    bad_label[first + 8 : first + 12] = (99).to_bytes(4, "little")
    not_finite = bytearray(good)
    not_finite[first + 12 : first + 20] = np.float64(np.nan).tobytes()
    twice = bytearray(good)
    twice[first + 20 : first + 40] = good[first : first + 20]
    cases = {
        b"": "begins with b''",
        b"PK\3\4" + good[4:]: "not a CRFsuite model",
        good[:-5]: "cut short",
        good + b"!": "cut short or damaged",
        changed(path, version=3): "version 3",
        changed(path, type=b"SOMC"): "type b'SOMC'",
        changed(path, features=10**9): "cut short",
        changed(path, features=4): "no table of features at byte 4",
        changed(path, labels=int(header["features"])): "no database of labels",
        changed(path, n_labels=0): "no labels",
        changed(path, n_attributes=2**31): "attributes",
        bytes(bad_type): "feature 0 has the unknown type 7",
        bytes(bad_label): "feature 0 names an attribute or a label",
        bytes(not_finite): "weight of feature 0 is not finite",
        bytes(twice): "features 0 and 1 are the same",
    }
    for number, (data, message) in enumerate(cases.items()):
        file = tmp_path / f"{number}.crfsuite"
        file.write_bytes(data)
        with pytest.raises(ModelFileError, match=message) as caught:
            CRF.from_crfsuite(file)
        assert file.name in str(caught.value)
    with pytest.raises(FileNotFoundError):
        CRF.from_crfsuite(tmp_path / "none")


def test_no_damage_escapes(path, tmp_path):
    """Whatever bytes change: a model, or an error of ours."""
    good, random = path.read_bytes(), np.random.default_rng(0)
    file = tmp_path / "damaged"
    for _ in range(300):
        data = np.frombuffer(good, dtype=np.uint8).copy()
        limit = int(random.choice([HEADER.itemsize, len(data)]))
        for at in random.integers(0, limit, size=3):
            data[at] = random.integers(256)
        file.write_bytes(data.tobytes())
        try:
            model = CRF.from_crfsuite(file)
        except ModelFileError:
            continue
        model.predict(NEW[:2])


def test_zero_weights_and_empty_attributes_are_left_out(path):
    model = read_crfsuite_model(path)
    model.states["weight"][model.states["source"] == 1] = 0.0
    data = crfsuite_bytes(model)
    header = np.frombuffer(data[: HEADER.itemsize], dtype=HEADER)[0]
    assert header["n_attributes"] == len(model.attributes) - 1
