"""
The graph of labels that occur together
=======================================

Which labels go together: the graph of a conditional random field over six kinds of scenes.

Blue edges attract, orange ones repel: weights of "both labels", beyond what the features tell of
either. Data: ``multilabel/scene`` in the folder SEPARATRIX_DATA; without it rows are drawn, and
with SEPARATRIX_SHORT=1 only some rows are read.
"""

import gzip
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from separatrix import MultiLabel, read
from separatrix.plots import LabelGraphDisplay

data_folder = Path(os.environ.get("SEPARATRIX_DATA", Path(__file__).parents[2] / "shared" / "data"))
folder = data_folder / "multilabel" / "scene"
if folder.is_dir():
    data = read(folder / "train.svm.gz", multilabel=True)
    if os.environ.get("SEPARATRIX_SHORT"):  # the file is sorted by label
        data = data.take(np.random.default_rng(0).permutation(len(data))[:200])
    X, Y = data.X.toarray(), data.y.matrix().toarray().astype(int)
    names = gzip.decompress((folder / "labels.txt.gz").read_bytes()).decode().split()
else:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    Y = (X[:, [0, 0, 1, 2]] + random.normal(0, 1, (200, 4)) > 0).astype(int)
    Y[:, 3] &= 1 - Y[:, 0]
    names = ["beach", "sea", "town", "field"]
X = StandardScaler().fit_transform(X)

together = (Y.T @ Y) / len(Y)
frequency = np.diag(together)
lift = together / np.outer(frequency, frequency).clip(1e-12)
print("rows with both labels, against what independence would give:")
for i, j in zip(*np.triu_indices(len(names), 1), strict=True):
    print(f"  {names[i]:12} {names[j]:12} {together[i, j]:6.1%}  x {lift[i, j]:.2f}")

figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, edges in zip(panels, ("tree", "full"), strict=True):
    model = MultiLabel(edges=edges, C=0.1, tol=1e-3, max_iter=300).fit(X, Y)
    LabelGraphDisplay.from_estimator(model, names=names, frequencies=frequency, ax=ax)
    ax.set_title(f"edges={edges!r}")
plt.show()
