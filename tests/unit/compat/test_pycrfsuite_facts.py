"""Facts about python-crfsuite that programs rely on, asked of it and of the drop-in."""

import pytest

from separatrix.compat import pycrfsuite as compat
from tests.unit.compat.peers import PEERS, SEQUENCES, TAGS

ITEMS = [{"rain": 1, "cloud": 0.5}, {"rain": 1}, {"sun": 1, "cloud": 0.5}, {}, {"μέρα": "ζέστη"}]
LABELS = ["in", "in", "out", "in", "out"]


@pytest.fixture(params=PEERS)
def module(request):
    if request.param == "separatrix":
        return compat
    return pytest.importorskip("pycrfsuite")


@pytest.fixture
def path(module, tmp_path):
    trainer = module.Trainer("lbfgs", verbose=False)
    trainer.append(ITEMS, LABELS)
    trainer.train(str(tmp_path / "model.crfsuite"))
    return str(tmp_path / "model.crfsuite")


def test_a_model_is_written_without_a_choice_of_algorithm_and_without_data(module, tmp_path):
    for number, fill in enumerate((True, False)):
        trainer = module.Trainer(verbose=False)
        if fill:
            trainer.append(ITEMS, LABELS)
        target = tmp_path / f"{number}.crfsuite"
        trainer.train(str(target))
        assert target.exists()


def test_messages_reach_a_subclass_that_keeps_them(module, tmp_path):
    class Keeping(module.Trainer):
        def __init__(self):
            self.kept = []

        def message(self, message):
            self.kept.append(message)

    trainer = Keeping()
    trainer.select("lbfgs")
    trainer.append(ITEMS, LABELS)
    assert trainer.kept == []
    trainer.train(str(tmp_path / "model.crfsuite"))
    assert {"type: CRF1d\n", "L-BFGS optimization\n", "***** Iteration #1 *****\n"} <= set(
        trainer.kept
    )


def test_errors_of_a_subclass_reach_the_caller(module, tmp_path):
    class Failing(module.Trainer):
        def message(self, message):
            raise KeyError(message)

    trainer = Failing("lbfgs")
    trainer.append(ITEMS, LABELS)
    with pytest.raises(KeyError, match="Feature generation"):
        trainer.train(str(tmp_path / "model.crfsuite"))


def test_groups_are_held_out(module, tmp_path):
    trainer = module.Trainer("ap", {"max_iterations": 2}, verbose=False)
    for group in (0, 0, 1):
        trainer.append(ITEMS, LABELS, group=group)
    trainer.train(str(tmp_path / "model.crfsuite"), holdout=1)
    last = trainer.logparser.last_iteration
    assert last["num"] == 2
    assert last["scores"]["in"].ref == 3


def test_parameters(module):
    trainer = module.Trainer(params={"c2": 100})
    assert trainer.get("c2") == pytest.approx(100)
    trainer.select("lbfgs")
    assert {"c1", "c2", "num_memories", "feature.minfreq"} <= set(trainer.params())
    assert "L1" in trainer.help("c1")
    trainer.select("l2sgd")
    assert "c1" not in trainer.params()
    assert "calibration.eta" in trainer.params()
    assert "L2" in trainer.help("c2")
    assert len(trainer.help("period")) > 10
    assert trainer.get("c2") != pytest.approx(0.1)
    trainer.set("c2", 0.1)
    assert trainer.get("c2") == pytest.approx(0.1)
    assert trainer.get_params()["c2"] == pytest.approx(0.1)
    for wrong in (
        lambda: trainer.help("foo"), lambda: trainer.help("c1"), lambda: trainer.get("foo"),
        lambda: trainer.set("c1", 1), lambda: trainer.append([{}], []),
        # The last: python-crfsuite does not survive a question after it.
        lambda: trainer.select("forest"),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            wrong()


def test_a_tagger_opens_and_closes(module, path, tmp_path):
    tagger = module.Tagger()
    with pytest.raises(ValueError):
        tagger.labels()
    with tagger.open(path):
        assert set(tagger.labels()) == set(LABELS)
    with pytest.raises(ValueError):
        tagger.labels()
    for closed in (tagger.info, lambda: tagger.dump(str(tmp_path / "dump.txt"))):
        with pytest.raises(RuntimeError):
            closed()
    with open(path, "rb") as file:
        content = file.read()
    tagger.open_inmemory(content)
    assert tagger.tag(ITEMS) == LABELS
    tagger.close()
    with pytest.raises(OSError):
        tagger.open(str(tmp_path / "none"))
    for content in (b"foo", b"lCRFfoo", b"no model at all " * 9):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(ValueError):
            tagger.open(str(tmp_path / "other"))


def test_forms_of_items(module, path, tmp_path):
    with module.Tagger().open(path) as tagger:
        assert tagger.tag(ITEMS) == LABELS
        # True is one; names without values are ones too.
        flags = [{name: True if v == 1 else v for name, v in item.items()} for item in ITEMS]
        assert tagger.tag(flags) == LABELS
        assert tagger.tag(module.ItemSequence(ITEMS)) == LABELS
        likely, other = tagger.probability(LABELS), tagger.probability(["in"] * 5)
        assert 0 < other < likely < 1
    trainer = module.Trainer(params={"c2": 1e-6}, verbose=False)
    for items, labels in zip(SEQUENCES, TAGS, strict=True):
        trainer.append(items, labels)
    trainer.train(str(tmp_path / "forms.crfsuite"))
    with module.Tagger().open(str(tmp_path / "forms.crfsuite")) as tagger:
        assert [tagger.tag(items) for items in SEQUENCES] == TAGS


def test_sequences_of_items(module):
    assert module.ItemSequence([]).items() == []
    assert len(module.ItemSequence(ITEMS)) == 5
    found = module.ItemSequence(
        [
            {"a": True, "b": {"c": -1, "d": False, "e": ["x", "y"], "f": {"x": 0.5}, "g": "h"}},
            ["a", "b"],
            {"μέρα": "ζέστη", "s": {"x"}},
        ]
    )
    assert found.items() == [
        {"a": 1.0, "b:c": -1.0, "b:d": 0.0, "b:e:x": 1.0, "b:e:y": 1.0, "b:f:x": 0.5, "b:g:h": 1.0},
        {"a": 1.0, "b": 1.0},
        {"μέρα:ζέστη": 1.0, "s:x": 1.0},
    ]
    assert module.ItemSequence(found.items()).items() == found.items()


def test_what_is_inside_a_model(module, path, tmp_path):
    with module.Tagger().open(path) as tagger:
        info = tagger.info()
        assert info.transitions["in", "in"] > 0
        assert info.state_features["rain", "in"] > 0
        assert ("μέρα:ζέστη", "out") in info.state_features
        assert info.header["num_labels"] == "2"
        assert set(info.labels) == {"in", "out"}
        assert set(info.attributes) == {"rain", "cloud", "sun", "μέρα:ζέστη"}
        tagger.dump(str(tmp_path / "dump.txt"))
    text = (tmp_path / "dump.txt").read_text(encoding="utf-8")
    assert "LABELS = {\n      0: in\n      1: out\n}\n" in text
    assert "  (0) μέρα:ζέστη --> out: " in text


def test_zero_and_negative_values(module, tmp_path):
    trainer = module.Trainer(verbose=False)
    trainer.append(
        [{"a": "b"}, {"c": False}, {"a": "b", "c": True}, {"c": 0.2}], ["x", "y", "x", "x"]
    )
    trainer.append([{"n": {"p": -0.5, "q": 0.5}}, {"n": {"p": 0.5, "q": -0.5}}], ["x", "y"])
    trainer.train(str(tmp_path / "model.crfsuite"))
    with module.Tagger().open(str(tmp_path / "model.crfsuite")) as tagger:
        info = tagger.info()
    assert set(info.attributes) == {"a:b", "c", "n:p", "n:q"}
    assert info.state_features["a:b", "x"] > 0
    assert info.state_features["n:q", "x"] > 0
    assert info.state_features.get(("n:p", "x"), 0) <= 0
