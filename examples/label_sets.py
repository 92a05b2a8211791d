"""
Scenes and genes with several labels
====================================

Scenes and genes with several labels each: what edges between labels add to independent labels.

Protocol: settings (C) are chosen on a held-out three tenths of the training rows, for every model
and every measure on its own, and so is which of the two models with edges is set against the one
without; the chosen models are fitted on all training rows, and the test rows are opened once.
Features are standardized by the training rows. "independent" is a logistic
regression for every label; "tree" and "all pairs" are conditional random fields with edges between
labels. Every model predicts what is best for the measure: the most probable set for whole sets,
every label that is more probable than not for the Hamming loss, the set of the highest expected F1.

Data: ``multilabel/{scene,yeast_ml}`` of Mulan in the folder SEPARATRIX_DATA. Without it rows are
drawn; with SEPARATRIX_SHORT=1 some of the training rows take the place of all others.
"""

import os
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, hamming_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from separatrix import MultiLabel, read

folder = Path(os.environ.get("SEPARATRIX_DATA", Path(__file__).parents[2] / "shared" / "data"))
short = bool(os.environ.get("SEPARATRIX_SHORT")) or not (folder / "multilabel").is_dir()
MODELS = {"independent": [], "tree": "tree", "all pairs": "full"}
#: Measure -> decision, value, and whether more is better.
MEASURES = {
    "whole sets": ("subset", accuracy_score, 1),
    "Hamming loss": ("hamming", hamming_loss, -1),
    "F1 of a row": ("f1", lambda a, b: f1_score(a, b, average="samples", zero_division=1), 1),
}
#: Values of 0.001, 0.3 and 1 are never chosen, and take as long as all others together.
GRID = (0.01, 0.1) if short else (0.003, 0.01, 0.03, 0.1)


def load(name):
    """Train and test rows as dense arrays: features, and a binary matrix of the labels."""
    if not (folder / "multilabel").is_dir():
        random = np.random.default_rng(0)
        X = random.normal(size=(300, 8))
        kinds = (X[:, :3] + random.normal(0, 0.5, (300, 3))).argmax(axis=1)
        Y = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 0, 1], [0, 0, 0, 1, 0]])[kinds]
        return X[:200], Y[:200], X[200:], Y[200:]
    parts = [
        read(folder / "multilabel" / name / f"{part}.svm.gz", multilabel=True)
        for part in ("train", "test")
    ]
    labels = np.union1d(parts[0].y.classes, parts[1].y.classes)
    if short:
        order = np.random.default_rng(0).permutation(len(parts[0]))
        parts = [parts[0].take(order[:100]), parts[0].take(order[100:150])]
    arrays = []
    for part in parts:
        arrays += [part.X.toarray(), part.y.matrix(labels).toarray().astype(int)]
    return arrays


def fitted(edges, C, X, Y):
    return MultiLabel(edges=edges, C=C, tol=1e-4, max_iter=300).fit(X, Y)


for name in ("scene", "yeast_ml"):
    X, Y, X_test, Y_test = load(name)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    rows, held_out = train_test_split(np.arange(len(X)), test_size=0.3, random_state=0)
    words = f"{len(X)} train and {len(X_test)} test rows, {Y.shape[1]} labels"
    print(f"{name}: {words}" + (" (short form)" if short else ""))
    table, chosen = {}, {}
    for label, edges in MODELS.items():
        start = time.perf_counter()
        tried = {C: fitted(edges, C, X[rows], Y[rows]) for C in GRID}
        final = {}
        for measure, (decision, value, sign) in MEASURES.items():
            scores = {
                C: sign * value(Y[held_out], one.set_params(decision=decision).predict(X[held_out]))
                for C, one in tried.items()
            }
            C = max(scores, key=scores.get)
            chosen[label, measure] = scores[C]
            if C not in final:
                final[C] = fitted(edges, C, X, Y)
            predicted = final[C].set_params(decision=decision).predict(X_test)
            table[label, measure] = value(Y_test, predicted), C
        print(f"  {label:12} {time.perf_counter() - start:6.1f} s for {len(GRID)} settings")
    print(f"  {'':12}" + "".join(f"{measure:>24}" for measure in MEASURES))
    for label in MODELS:
        cells = [table[label, measure] for measure in MEASURES]
        print(f"  {label:12}" + "".join(f"{100 * v:12.2f} % (C={C:g})".rjust(24) for v, C in cells))
    edges = max(("tree", "all pairs"), key=lambda label: chosen[label, "whole sets"])
    gain = table[edges, "whole sets"][0] - table["independent", "whole sets"][0]
    print(f"  whole sets, {edges} (chosen on held-out rows): {100 * gain:+.2f} points")
