"""Accuracy on real sequences, protocol stated: not below what the peers reach on such features."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from separatrix import CRF, StructuredPerceptron, Templates, read
from separatrix.data import AttributeSequences
from separatrix.metrics import chunk_f1
from separatrix.structures import Chain

pytestmark = pytest.mark.slow


@pytest.mark.data("conll2000")
@pytest.mark.parametrize(
    ("learner", "least"),
    [
        (CRF(Chain(transitions="observed"), C=0.5, random_state=0), 93.6),
        (StructuredPerceptron(max_iter=10, random_state=0), 93.4),
    ],
    ids=["crf", "perceptron"],
)
def test_chunks_of_conll2000(data_dir, learner, least):
    """Trained on the training file, F1 of chunks on the test file, with the preset."""
    columns = ["word", "pos", "chunk"]
    train, test = (
        read(data_dir / "conll2000" / f"{name}.txt.gz", names=columns) for name in ("train", "test")
    )
    model = make_pipeline(Templates("chunking"), learner).fit(train.X, train.y)
    assert 100 * chunk_f1(test.y, model.predict(test.X)) >= least


@pytest.mark.data("ud_english_ewt")
@pytest.mark.parametrize(
    "learner",
    [
        CRF(C=1.0, tol=1e-4, random_state=0),
        StructuredPerceptron(max_iter=10, random_state=0),
    ],
    ids=["crf", "perceptron"],
)
def test_parts_of_speech_of_ud_english(data_dir, learner):
    """Gold words, UPOS of the test file, with the preset; C was chosen on the development file."""
    folder = data_dir / "ud_english_ewt"
    train, test = (read(folder / f"en_ewt-ud-{name}.conllu.gz") for name in ("train", "test"))
    model = make_pipeline(Templates("pos"), learner).fit(train.X, train.y)
    assert 100 * model.score(test.X, test.y) >= 94.8


@pytest.fixture(scope="module")
def letters(data_dir):
    """Words of the first fold, and of the other nine: a bias and 128 pixels per letter."""
    path = data_dir / "ocr_letters" / "ocr_letters.npz"
    if not path.is_file():
        pytest.skip(f"data: {path} is absent")
    data = np.load(path)
    rows = np.column_stack([np.ones(len(data["X"])), data["X"]]).astype(np.float32)
    X = AttributeSequences.of(rows, data["lengths"])
    y = [part.tolist() for part in np.split(data["y"], np.cumsum(data["lengths"])[:-1])]
    parts = []
    for mask in (data["folds"] == 0, data["folds"] != 0):
        numbers = np.flatnonzero(mask)
        parts.append((X[numbers], [y[i] for i in numbers]))
    return parts


CHAIN = {"structure": Chain(state_features="all"), "C": 1.0, "solver": "lbfgs", "tol": 1e-3}


def test_letters_from_the_first_fold(letters):
    first, others = letters
    assert CRF(**CHAIN).fit(*first).score(*others) >= 0.79


def test_letters_from_nine_folds(letters):
    first, others = letters
    assert CRF(**CHAIN).fit(*others).score(*first) >= 0.875
    perceptron = StructuredPerceptron(Chain(state_features="all"), max_iter=30, random_state=0)
    assert perceptron.fit(*others).score(*first) >= 0.88
