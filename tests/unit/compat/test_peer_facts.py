"""Facts about sklearn-crfsuite and python-crfsuite that programs rely on, asked of both."""

import os
import pickle
from fractions import Fraction

import pytest
from sklearn.base import clone

from tests.unit.compat.peers import PEERS, SEQUENCES, TAGS, crf_class

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")


@pytest.fixture(params=PEERS)
def CRF(request):
    return crf_class(request.param)


@pytest.fixture
def crf(CRF):
    return CRF(c1=0.01, c2=0.01, max_iterations=50).fit(SEQUENCES, TAGS)


def test_every_form_of_item_is_taken(crf):
    assert list(map(list, crf.predict(SEQUENCES))) == TAGS
    expected = {
        "word:Kim", "title", "size", "word:lives", "shape:lower", "shape:tail:s", "shape:tail:es",
        "word:in", "word:Oslo", "word:sleeps", "marks:end", "a", "b",
    }  # fmt: skip
    assert set(crf.attributes_) <= expected
    assert {"word:Kim", "word:lives", "word:Oslo"} <= set(crf.attributes_)


def test_a_str_is_an_item_of_letters(crf):
    assert crf.predict_single(["ab"]) == crf.predict_single([["a", "b"]])
    assert crf.predict_marginals_single(["ba"]) == crf.predict_marginals_single([["b", "a"]])


def test_nothing_is_known_before_fit(CRF):
    crf = CRF()
    for name in (
        "tagger_", "classes_", "size_", "num_attributes_", "attributes_", "state_features_",
        "transition_features_", "training_log_",
    ):  # fmt: skip
        assert getattr(crf, name) is None, name
    assert crf.modelfile.name is None
    with pytest.raises(AttributeError):
        crf.predict(SEQUENCES)


def test_what_is_known_after_fit(crf):
    assert crf.classes_ == ["PER", "O", "LOC"]
    assert crf.num_attributes_ == len(crf.attributes_) > 5
    assert crf.size_ > 1000
    assert crf.state_features_["word:Kim", "PER"] > 0
    assert set(crf.transition_features_) <= {(a, b) for a in crf.classes_ for b in crf.classes_}
    assert clone(crf).classes_ is None


def test_the_tagger_remembers_its_sequence(crf):
    crf.tagger_.set(SEQUENCES[0])
    shares = [crf.tagger_.marginal(label, 3) for label in crf.tagger_.labels()]
    assert sum(shares) == pytest.approx(1)
    assert crf.tagger_.tag() == TAGS[0]
    assert crf.tagger_.probability(TAGS[0]) > 0.5
    crf.tagger_.tag(SEQUENCES[1])
    with pytest.raises(ValueError):
        crf.tagger_.probability(TAGS[0])
    with pytest.raises(ValueError):
        crf.tagger_.marginal("O", 3)
    with pytest.raises(RuntimeError):
        crf.tagger_.marginal("MISC", 0)
    assert crf.tagger_.tag([]) == []


def test_info(crf):
    info = crf.tagger_.info()
    assert info.header["magic"] == "lCRF"
    assert info.header["type"] == "FOMC"
    assert info.header["version"] == "100"
    assert info.header["num_labels"] == "3"
    assert int(info.header["num_attrs"]) == crf.num_attributes_
    assert int(info.header["size"]) == crf.size_
    assert info.header["off_features"] == "0x30"
    assert set(info.header) == {
        "magic", "size", "type", "version", "num_features", "num_labels", "num_attrs",
        "off_features", "off_labels", "off_attrs", "off_labelrefs", "off_attrrefs",
    }  # fmt: skip
    assert info.labels == {"PER": "0", "O": "1", "LOC": "2"}
    assert sorted(map(int, info.attributes.values())) == list(range(crf.num_attributes_))
    assert info.state_features == crf.state_features_
    assert info.transitions == crf.transition_features_


def test_the_file_of_a_model(CRF, crf, tmp_path):
    name = crf.modelfile.name
    assert os.path.getsize(name) == crf.size_
    assert CRF(model_filename=name).predict_single(SEQUENCES[0]) == TAGS[0]
    again = pickle.loads(pickle.dumps(crf))
    del crf
    assert again.predict_single(SEQUENCES[0]) == TAGS[0]
    assert again.modelfile.name != name
    path = str(tmp_path / "model.crfsuite")
    assert CRF(model_filename=path).fit(SEQUENCES, TAGS).modelfile.name == path
    assert os.path.exists(path)


def test_a_temporary_file_goes_unless_it_is_kept(CRF):
    for keep in (False, True):
        crf = CRF(keep_tempfiles=keep, c2=0.1).fit(SEQUENCES, TAGS)
        name = crf.modelfile.name
        del crf
        assert os.path.exists(name) is keep
    os.unlink(name)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_log(CRF, algorithm, capsys):
    crf = CRF(algorithm, max_iterations=3).fit(SEQUENCES, TAGS)
    log = crf.training_log_
    keys = {"num", "scores", "loss", "time"}
    if algorithm != "l2sgd":
        keys.add("feature_norm")
    if algorithm == "lbfgs":
        keys |= {"error_norm", "active_features", "linesearch_trials", "linesearch_step"}
    assert [row["num"] for row in log.iterations] == list(range(1, len(log.iterations) + 1))
    assert all(set(row) == keys for row in log.iterations)
    assert log.last_iteration is log.iterations[-1]
    assert log.last_iteration["scores"] == {}
    assert log.featgen_num_features > 10
    assert min(log.featgen_seconds, log.training_seconds) >= 0
    if algorithm != "l2sgd":
        assert log.last_iteration["feature_norm"] > 0
    crf = CRF(algorithm, max_iterations=3, verbose=True)
    last = crf.fit(SEQUENCES, TAGS, SEQUENCES, TAGS).training_log_.last_iteration
    assert set(last) == keys | {
        "avg_precision", "avg_recall", "avg_f1", "item_accuracy", "item_accuracy_float",
        "instance_accuracy", "instance_accuracy_float",
    }  # fmt: skip
    assert isinstance(last["item_accuracy"], Fraction)
    assert last["item_accuracy_float"] == float(last["item_accuracy"]) == crf.score(SEQUENCES, TAGS)
    one = last["scores"]["O"]
    assert one._fields == ("match", "model", "ref", "precision", "recall", "f1")
    assert one.ref == 4
    assert one.precision == pytest.approx(one.match / one.model, abs=1e-4)
    assert last["avg_f1"] == pytest.approx(
        sum(score.f1 for score in last["scores"].values()) / 3, abs=1e-4
    )
    assert "Acc(item/seq)=" in capsys.readouterr().out
