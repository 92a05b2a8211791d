"""
From one label to a grid of labels
==================================

Logistic regression, the linear chain, a tree and a grid: the same model on other graphs.

Every circle is a label, every square what was observed of it, every line a part of the score. One
label is logistic regression; labels in a row, each joined to the next, are the linear-chain CRF. On
chains and trees inference is exact and costs two passes of messages; on the grid, which has
cycles, messages go round, and what they say is an approximation.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import CRF, Forest, Grid

places = {
    "logistic regression": [(1.5, 0)],
    "linear chain": [(0, 0), (1, 0), (2, 0), (3, 0)],
    "tree": [(1.5, 2), (0.5, 1), (2.5, 1), (0, 0), (1, 0), (2, 0), (3, 0)],
    "grid": [(x, 2 - y) for y in range(3) for x in range(4)],
}
edges = {
    "logistic regression": [],
    "linear chain": [(0, 1), (1, 2), (2, 3)],
    "tree": [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)],
    "grid": [(4 * y + x, 4 * y + x + 1) for y in range(3) for x in range(3)]
    + [(4 * y + x, 4 * y + x + 4) for y in range(2) for x in range(4)],
}
random = np.random.default_rng(0)
figure, panels = plt.subplots(2, 2, figsize=(9, 5.6), layout="constrained")
for ax, name in zip(panels.flat, places, strict=True):
    xy = np.array(places[name], dtype=float)
    for a, b in edges[name]:
        ax.plot(*xy[[a, b]].T, color="black", zorder=1)
    for x, y in xy:
        ax.plot([x, x + 0.3], [y, y - 0.38], color="gray", linewidth=1, zorder=0)
        ax.scatter(x + 0.3, y - 0.38, marker="s", s=60, color="#56B4E9", zorder=2)
    ax.scatter(*xy.T, s=330, facecolor="white", edgecolor="black", zorder=2)
    for k, (x, y) in enumerate(xy, start=1):
        ax.text(x, y, f"$y_{{{k}}}$", ha="center", va="center", fontsize="small", zorder=3)
    ax.set(title=name, xlim=(-0.5, 3.8), ylim=(-0.9, xy[:, 1].max() + 0.5), aspect="equal")
    ax.set_axis_off()
    # The same learner on each: neighbors agree in ten graphs of noisy evidence.
    labels = np.repeat([0, 1], 5)
    evidence = labels[:, None] * 2.0 - 1 + random.normal(0, 2, (10, len(xy)))
    if name == "grid":
        X, structure = evidence.reshape(10, 3, 4), Grid(inference="tree_reweighted")
        Y = np.broadcast_to(labels[:, None, None], (10, 3, 4))
    else:
        X, structure = [(row[:, None], edges[name]) for row in evidence], Forest()
        Y = [[int(label)] * len(xy) for label in labels]
    crf = CRF(structure, C=1.0).fit(X, Y)
    print(f"{name:20} {len(xy):2} labels, {len(edges[name]):2} edges, inference: ", end="")
    print(f"{crf.features_.method}; {crf.score(X, Y):.0%} of the labels right")
plt.show()
