"""The structured SVM on conll2000: its gap, and the F1 that the design notes ask for."""

import pytest
from benchmarks.sequences import conll2000

from separatrix import StructuredSVM
from separatrix.data import AttributeSequences
from separatrix.metrics import chunk_f1


@pytest.mark.slow
@pytest.mark.data("conll2000")
def test_conll2000_structured_svm():
    train, test, _ = conll2000()
    X = AttributeSequences.of(train.matrix, train.lengths)
    model = StructuredSVM(C=0.1, random_state=0).fit(X, train.tags())
    assert model.solution_.gap <= 1e-3 * model.solution_.objective
    found = model.predict(AttributeSequences.of(test.matrix, test.lengths))
    assert 100 * chunk_f1(test.tags(), found) >= 93.5
