"""
Where one-vs-all fails
======================

Four classes that one-vs-all cannot tell apart: the pictures of the notes, with three learners.

Three classes at the corners of a triangle are the good case: each is separable from the rest by a
line (dashed), and only its own score is positive there. A fourth class (red in the notes) stands
in the middle.
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
corners = y != "middle"
cases = [
    ("one-vs-all, three classes", OneVsAll(base), corners),
    ("one-vs-all, four classes", OneVsAll(base), np.full(len(y), True)),
    ("all pairs", AllPairs(base), np.full(len(y), True)),
    ("multiclass hinge loss", base, np.full(len(y), True)),
]
figure, panels = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
for ax, (title, model, rows) in zip(panels.flat, cases, strict=True):
    model.fit(X[rows], y[rows])
    DecisionRegionDisplay.from_estimator(model, X[rows], y[rows], eps=0.5, ax=ax)
    words = f"{model.score(X[rows], y[rows]):.0%} right"
    if rows.all():
        words += f", {np.mean(model.predict(X[~corners]) == 'middle'):.0%} of the middle"
    ax.set(title=f"{title}\n{words}", xlabel="", ylabel="")
    print(f"{title}: {words}")
    if isinstance(model, OneVsAll):
        limits = ax.axis()
        for name, scorer in zip(model.classes_, model.estimators_, strict=True):
            (w0, w1), b = scorer.coef_[0], scorer.intercept_[0]
            if name != "middle":  # whose score is below zero everywhere
                ax.axline((-b * w0 / (w0**2 + w1**2), -b * w1 / (w0**2 + w1**2)),
                          slope=-w0 / w1, color="black", linestyle="--", linewidth=1)  # fmt: skip
        ax.axis(limits)
plt.show()
