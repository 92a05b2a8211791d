"""CRFsuite on the same features: our objective is not above its, predictions agree."""

import os

import numpy as np
import pytest
from benchmarks import chains as benchmark
from benchmarks.sequences import conll2000

from separatrix import CRF, StructuredPerceptron
from separatrix.data import AttributeSequences
from separatrix.metrics import chunk_f1, token_accuracy
from separatrix.structures import Chain
from tests.unit.learners.structured.tagging import sentences

pycrfsuite = pytest.importorskip("pycrfsuite")


def trained(X, y, path, **params):
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=params, verbose=False)
    for tokens, tags in zip(X, y, strict=True):
        trainer.append(tokens, tags)
    trainer.train(os.fspath(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(os.fspath(path))
    return trainer, tagger


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("c2", [0.1, 2.0])
def test_weights_and_labels_are_those_of_crfsuite(every, c2, tmp_path):
    X, y = sentences(120)
    params = {"c1": 0.0, "c2": c2, "epsilon": 1e-9, "delta": 1e-9, "max_iterations": 2000}
    params |= {"feature.possible_states": every, "feature.possible_transitions": every}
    _, tagger = trained(X, y, tmp_path / "model", **params)
    kind = "all" if every else "observed"
    model = CRF(
        Chain(boundaries=False, state_features=kind, transitions=kind), C=1 / (2 * c2), tol=1e-10
    ).fit(X, y)
    info = tagger.info()
    ours = model.transition_weights_
    for (before, label), weight in info.transitions.items():
        a, b = np.searchsorted(model.classes_, [before, label])
        assert ours[a, b] == pytest.approx(weight, abs=2e-3)
    new, _ = sentences(50, seed=1)
    found = [tagger.tag(tokens) for tokens in new]
    assert token_accuracy(found, model.predict(new)) > 0.995
    tagger.set(new[0])
    for t, row in enumerate(model.predict_proba(new[:1])[0]):
        for label, p in zip(model.classes_.tolist(), row, strict=True):
            assert tagger.marginal(label, t) == pytest.approx(p, abs=2e-3)


@pytest.fixture(scope="module")
def conll():
    train, test, _ = conll2000()
    return (
        AttributeSequences.of(train.matrix, train.lengths),
        train.tags(),
        AttributeSequences.of(test.matrix, test.lengths),
        test.tags(),
    )


@pytest.mark.slow
@pytest.mark.data("conll2000")
def test_conll2000_crf(conll):
    X, y, X_test, _ = conll
    model = CRF(Chain(boundaries=False, transitions="observed"), C=0.5, tol=1e-6, random_state=0)
    model.fit(X, y)
    assert len(model.coef_) == 452_760
    outcome = benchmark.read_ours((_numbers(), X, y, X_test), model)
    value = benchmark.ChainObjective(C=0.5)(*outcome.models[0], _numbers().X_train, np.zeros(0))
    # CRFsuite ends at 13084.255 = 2 P.
    assert 2 * value <= 13084.255 * (1 + 1e-5)
    assert 100 * outcome.score >= 93.6


@pytest.mark.slow
@pytest.mark.data("conll2000")
def test_conll2000_perceptron(conll):
    X, y, X_test, y_test = conll
    model = StructuredPerceptron(random_state=0, max_iter=10).fit(X, y)
    assert 100 * chunk_f1(y_test, model.predict(X_test)) >= 93.4


def _numbers():
    from benchmarks.data import load

    return load("conll2000-sentences")
