"""
Parts of speech of English web text
===================================

Parts of speech of UD English-EWT: the templates of the preset beside the published score.

Protocol: train on the training file (12,544 sentences of web text), test on the test file, gold
words, accuracy of UPOS over all tokens. C and templates were chosen on the development file.
Published: 94.4 to 94.5 % with UDPipe 1's linear tagger, 94.92 % with CRFsuite on similar templates.

Data: ``ud_english_ewt/en_ewt-ud-{train,test}.conllu.gz`` in the folder SEPARATRIX_DATA. Without it,
or with SEPARATRIX_SHORT=1, a few sentences show the same steps.
"""

import os
import time
from pathlib import Path

from sklearn.pipeline import make_pipeline

from separatrix import CRF, StructuredPerceptron, Templates, read
from separatrix.data import TokenColumn, TokenSequences

TEXT = """\
The/DET cat/NOUN sleeps/VERB ./PUNCT
I/PRON see/VERB the/DET old/ADJ house/NOUN ./PUNCT
Old/ADJ friends/NOUN visited/VERB Paris/PROPN in/ADP spring/NOUN ./PUNCT
She/PRON quickly/ADV read/VERB it/PRON and/CCONJ left/VERB ./PUNCT
"""
PUBLISHED = "94.4-94.5 (UDPipe 1), 94.92 (CRFsuite)"


def sentences(rows):
    words = TokenColumn.of(rows)
    return TokenSequences({"form": words}, words.offsets)


def small():
    pairs = [[token.rsplit("/", 1) for token in line.split()] for line in TEXT.splitlines()]
    words, tags = ([[pair[i] for pair in row] for row in pairs] for i in (0, 1))
    return sentences(words), TokenColumn.of(tags)


folder = Path(os.environ.get("SEPARATRIX_DATA", Path(__file__).parents[2] / "shared" / "data"))
folder /= "ud_english_ewt"
short = bool(os.environ.get("SEPARATRIX_SHORT")) or not folder.is_dir()
if folder.is_dir():
    files = (read(folder / f"en_ewt-ud-{name}.conllu.gz") for name in ("train", "test"))
    (X, y), (X_test, y_test) = ((data.X, data.y) for data in files)
else:
    (X, y), (X_test, y_test) = small(), small()
if short:
    X, y = (part.take(range(min(len(part), 300))) for part in (X, y))
    X_test, y_test = (part.take(range(min(len(part), 100))) for part in (X_test, y_test))
print(f"train {len(X)} sentences, test {len(X_test)}" + (" (short form)" if short else ""))

learners = {
    "averaged perceptron": StructuredPerceptron(max_iter=10, random_state=0),
    "CRF, C = 1": CRF(C=1.0, tol=1e-4, random_state=0),
}
for name, learner in learners.items():
    start = time.perf_counter()
    model = make_pipeline(Templates("pos"), learner).fit(X, y)
    seconds = time.perf_counter() - start
    share = 100 * model.score(X_test, y_test)
    print(f"{name:20} UPOS {share:.2f} % in {seconds:.1f} s; published {PUBLISHED}")

words = ["I", "saw", "her", "duck", "under", "the", "old", "bridge", "."]
tags = model.predict(
    TokenSequences({"form": TokenColumn.of([words])}, TokenColumn.of([words]).offsets)
)
print(" ".join(f"{word}/{tag}" for word, tag in zip(words, tags[0], strict=True)))
