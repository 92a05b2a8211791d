"""
A word out of thousands
=======================

Predict a word out of thousands from the words around it.

Every word of the text that occurs at least four times is a class. `ManyClass` proposes candidates
by an inverted index and ranks them; `JointFeatures` knows words by their characters, so that it can
also name one that it never had to predict.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import sklearn

from separatrix import JointFeatures, ManyClass

# scikit-learn's own sources are a text that every installation has.
folder = Path(sklearn.__file__).parent / "linear_model"
text = " ".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))
words = re.findall(r"[a-z]+", text.lower())
counts = Counter(words)
vocabulary = sorted(word for word, n in counts.items() if n >= 4)
numbers = {word: k for k, word in enumerate(vocabulary)}
codes = np.array([numbers.get(word, -1) for word in words])

near = [o for o in range(-4, 5) if o]
centers = np.flatnonzero(codes[4:-4] >= 0) + 4
window = codes[centers[:, None] + near]
rows, columns = np.nonzero(window >= 0)
X = sp.csr_array(
    (np.ones(len(rows)), (rows, window[rows, columns])), shape=(len(centers), len(vocabulary))
)
X.data = np.minimum(X.data, 1)
y = np.array(vocabulary)[codes[centers]]
full = np.diff(X.indptr) > 0
X, y = X[full], y[full]
test = np.random.default_rng(0).random(len(y)) < 0.1

model = ManyClass().fit(X[~test], y[~test])
print(f"{len(model.classes_)} classes, {(~test).sum()} rows")
print(f"right at once: {model.score(X[test], y[test]):.1%}")
labels, probabilities = model.predict_top(X[test][:3], 3)
for truth, names, shares in zip(y[test][:3], labels, probabilities, strict=True):
    guesses = ", ".join(f"{name} {share:.0%}" for name, share in zip(names, shares, strict=True))
    print(f"  {truth}: {guesses}")

# Labels by their characters: some words are kept out of training altogether.
unseen = np.random.default_rng(1).permutation(model.classes_)[:50]
known = ~np.isin(y, unseen)
some = np.flatnonzero(known)[:20_000]
by_name = JointFeatures(y_features=("words", "characters"), max_iter=2).fit(
    X[some], y[some], labels=sorted(set(unseen) - set(y[some]))
)
found, _ = by_name.predict_top(X[~known][:500], 100)
share = np.mean((found == y[~known][:500, None]).any(axis=1))
print(f"words never predicted before, among the first 100 of {len(by_name.classes_)}: {share:.0%}")
