"""The peer in an interpreter of its own: where it is looked for, what it answers."""

import os
import sys

import numpy as np
import pytest
from benchmarks import many_peers, pecos_client
from benchmarks.words import word_prediction

TEXTS = ["One two three four five six seven.", "A cat sat on the mat and ate."] * 40


def test_without_its_interpreter_the_peer_says_how_to_make_it(monkeypatch, tmp_path):
    monkeypatch.delenv("PECOS_PYTHON", raising=False)
    monkeypatch.setattr(pecos_client, "_USUAL", tmp_path / "python")
    with pytest.raises(pecos_client.MissingPeerError, match="make pecos"):
        pecos_client.pecos_python()
    (tmp_path / "python").touch()
    assert pecos_client.pecos_python() == str(tmp_path / "python")
    monkeypatch.setenv("PECOS_PYTHON", str(tmp_path / "nothing"))
    with pytest.raises(pecos_client.MissingPeerError, match="not an interpreter"):
        pecos_client.pecos_python()


def test_an_interpreter_without_pecos_answers_with_its_error(monkeypatch):
    try:
        import pecos  # noqa: F401
    except ImportError:
        monkeypatch.setenv("PECOS_PYTHON", sys.executable)
    else:
        pytest.skip("this interpreter has PECOS")
    client = pecos_client.PecosClient()
    with pytest.raises(RuntimeError, match="No module named 'pecos'"):
        client.train()
    client.close()
    with pytest.raises(RuntimeError, match="died"):
        client.train()


@pytest.mark.skipif("PECOS_PYTHON" not in os.environ, reason="PECOS_PYTHON is not set")
def test_pecos_learns_and_predicts():
    data = word_prediction(TEXTS).data
    learner = many_peers.LEARNERS[1]
    trained = many_peers.prepare_trained(data, learner=learner)
    labels = many_peers.predict_all(trained, learner=learner)
    assert labels.shape == data.y_test.shape
    assert np.mean(labels == data.y_test) > 0.9
    assert many_peers.write(trained, learner=learner) > 0
    assert many_peers.read_labels(trained, labels).peak_mb >= 0
