"""
Chunks of CoNLL-2000
====================

A CRF and an averaged perceptron beside the published scores.

Protocol of the shared task: train on the training file (8,936 sentences of the Wall Street
Journal), test on the test file (2,012), count chunks as conlleval does. Templates are those of
CRF++'s example: words and parts of speech in a window of five, pairs of words, pairs and triples of
parts of speech. Published: F1 93.7 with CRFsuite, CRF++ and Bottou's SGD on such features.

Data: ``conll2000/{train,test}.txt.gz`` in the folder SEPARATRIX_DATA. Without it, or with
SEPARATRIX_SHORT=1, a few sentences show the same steps.
"""

import os
import time
from pathlib import Path

from sklearn.pipeline import make_pipeline

from separatrix import CRF, StructuredPerceptron, Templates, read
from separatrix.metrics import chunk_f1, chunk_report
from separatrix.structures import Chain

SENTENCES = b"""\
Confidence NN B-NP
in IN B-PP
the DT B-NP
pound NN I-NP
is VBZ B-VP
widely RB I-VP
expected VBN I-VP
to TO I-VP
fall VB I-VP
. . O

The DT B-NP
dollar NN I-NP
rose VBD B-VP
in IN B-PP
early JJ B-NP
trading NN I-NP
. . O

Analysts NNS B-NP
expected VBD B-VP
the DT B-NP
pound NN I-NP
to TO B-VP
rise VB I-VP
. . O
"""
PUBLISHED = 93.7

folder = Path(os.environ.get("SEPARATRIX_DATA", Path(__file__).parents[2] / "shared" / "data"))
folder /= "conll2000"
short = bool(os.environ.get("SEPARATRIX_SHORT")) or not folder.is_dir()
columns = ["word", "pos", "chunk"]
if folder.is_dir():
    train, test = (read(folder / f"{name}.txt.gz", names=columns) for name in ("train", "test"))
else:
    train = test = read(SENTENCES, "conll", names=columns)
(X, y), (X_test, y_test) = ((data.X, data.y) for data in (train, test))
if short:
    X, y = (part.take(range(min(len(part), 300))) for part in (X, y))
    X_test, y_test = (part.take(range(min(len(part), 100))) for part in (X_test, y_test))
print(f"train {len(X)} sentences, test {len(X_test)}" + (" (short form)" if short else ""))

learners = {
    "CRF, C = 0.5": CRF(Chain(transitions="observed"), C=0.5, random_state=0),
    "averaged perceptron": StructuredPerceptron(max_iter=10, random_state=0),
}
for name, learner in learners.items():
    start = time.perf_counter()
    model = make_pipeline(Templates("chunking"), learner).fit(X, y)
    seconds = time.perf_counter() - start
    f1 = 100 * chunk_f1(y_test, model.predict(X_test))
    print(f"{name:20} F1 {f1:.2f} in {seconds:.1f} s; published {PUBLISHED}")

print()
print(chunk_report(y_test, model.predict(X_test)))
