"""
Where one-vs-all fails
======================

Four classes that one-vs-all cannot tell apart: the picture of the notes, with three learners.

Three classes stand at the corners of a triangle and the fourth (red in the notes) in its middle.
Every two classes are separable by a line, so that all pairs succeed, and so does the multiclass
loss, whose scores only have to be the highest of the four. But no line separates the middle from
the rest: the best score of its own is -1 everywhere, and one-vs-all gives most of it to its
neighbors. (With a large C the others fall below -1 in the middle, which then wins after all: by
what they do, not by what it learned.)
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import AllPairs, LinearSVM, OneVsAll
from separatrix.plots import DecisionRegionDisplay

random = np.random.default_rng(0)
centers = {"left": (-2.0, -1.2), "right": (2.0, -1.2), "top": (0.0, 2.3), "middle": (0.0, 0.0)}
X = np.vstack([random.normal(center, 0.4, size=(60, 2)) for center in centers.values()])
y = np.repeat(list(centers), 60)

base = LinearSVM(C=0.1, random_state=0)
models = {
    "one-vs-all": OneVsAll(base),
    "all pairs": AllPairs(base),
    "multiclass hinge loss": base,
}
figure, panels = plt.subplots(1, 3, figsize=(10, 4), sharey=True, layout="constrained")
for ax, (title, model) in zip(panels, models.items(), strict=True):
    model.fit(X, y)
    DecisionRegionDisplay.from_estimator(model, X, y, eps=0.5, ax=ax)
    middle = np.mean(model.predict(X[y == "middle"]) == "middle")
    ax.set_title(f"{title}\n{model.score(X, y):.0%} right, {middle:.0%} of the middle")
    print(f"{title}: {model.score(X, y):.1%} of all rows right, {middle:.1%} of the middle")
plt.show()
