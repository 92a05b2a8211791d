"""Explanations of a sentence tell its chunks: in print, on terminals, as plain values."""

import pytest
from sklearn.pipeline import make_pipeline

from separatrix import CRF, StructuredPerceptron, Templates, save
from separatrix.models import open as open_model

SENTENCES = [["Ms", "Ito", "Lee", "left", "Oslo"], ["Mr", "Bo", "met", "Ms", "Lee"]] * 5
TAGS = [["O", "B-PER", "I-PER", "O", "B-LOC"], ["O", "B-PER", "O", "O", "B-PER"]] * 5


def _explained(learner, tmp_path, words, tags=TAGS):
    model = make_pipeline(Templates("word[-1..1]"), learner).fit(SENTENCES, tags)
    save(model, tmp_path / "model.sx")
    return open_model(tmp_path / "model.sx").explain(words, 2)


def test_chunks_with_types_and_probabilities(tmp_path):
    found = _explained(CRF(C=10.0), tmp_path, SENTENCES[0])
    assert [(s.start, s.end, s.type, s.text) for s in found.spans] == [
        (1, 3, "PER", "Ito Lee"), (4, 5, "LOC", "Oslo"),
    ]  # fmt: skip
    sure = [step.probability for step in found.steps]
    assert [s.probability for s in found.spans] == [min(sure[1:3]), sure[4]]
    assert f"PER  Ito Lee  {min(sure[1:3]):.4f}" in str(found)
    plain = found.to_dict()["spans"]
    assert plain[1] == {
        "start": 4, "end": 5, "type": "LOC", "text": "Oslo", "probability": sure[4],
    }  # fmt: skip
    (line,) = found.colored()
    assert "".join(text for text, _ in line).split()[:4] == ["Ms", "Ito", "Lee", "PER"]
    styles = [style for text, style in line if style]
    assert len(set(styles)) == 2


def test_without_probabilities_or_chunks(tmp_path):
    found = _explained(StructuredPerceptron(random_state=0), tmp_path, SENTENCES[1])
    assert [s.text for s in found.spans] == ["Bo", "Lee"]
    assert "PER  Bo\n" in str(found)
    words = [[tag[0] * 2 for tag in row] for row in TAGS]
    none = _explained(CRF(), tmp_path, SENTENCES[1], words)
    assert none.spans == ()
    assert none.colored() == []
    assert none.to_dict()["spans"] == []


@pytest.mark.parametrize("learner", [CRF(C=10.0), StructuredPerceptron(random_state=0)])
def test_a_sentence_of_many_tokens(learner, tmp_path):
    found = _explained(learner, tmp_path, SENTENCES[0] * 400)
    assert len(found.steps) == 2000
    assert len(found.spans) == 800
