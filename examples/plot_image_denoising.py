"""
Denoising an image
==================

Binary image denoising: every pixel is flipped with probability 0.2, neighbors tend to agree.

The pixels are the nodes of a grid with two labels; equal neighbors score more. Belief propagation
gives the marginals and a labelling, and the bounds say how far from optimal it can be. Then the
same weights are not given but learned, from a few other pictures with and without noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import CRF, Grid
from separatrix.data import Graphs
from separatrix.structures.graph import bounds, loopy
from separatrix.structures.graph.scores import GraphScores

height, width, flipped = 96, 128, 0.2
y, x = np.mgrid[:height, :width]
clean = ((x - 42) ** 2 + (y - 48) ** 2 < 30**2) | ((abs(x - 98) < 16) & (abs(y - 48) < 34))
clean &= ~((x - 42) ** 2 + (y - 48) ** 2 < 12**2)
random = np.random.default_rng(0)
noisy = clean ^ (random.random(clean.shape) < flipped)

evidence = np.log((1 - flipped) / flipped)
unary = np.zeros((height * width, 2))
unary[:, 1] = np.where(noisy.ravel(), evidence, -evidence)
scores = GraphScores.of(Graphs.grids([(height, width)]), unary, 1.2 * np.eye(2))

sums = loopy.marginals(scores)
best = loopy.best_labels(scores, damping=0.3)
certified = bounds.best_bound(scores, max_iter=300, warn=False)
upper = bounds.tree_reweighted(scores, max_iter=50, warn=False)
lower = bounds.mean_field(scores, warn=False)
marginal = sums.nodes[:, 1].reshape(clean.shape)
labels = best.labels.reshape(clean.shape)

print(f"pixels wrong: {np.mean(noisy != clean):.1%} of the noisy image")
print(f"              {np.mean((marginal > 0.5) != clean):.1%} by marginals")
print(f"              {np.mean(labels != clean):.1%} by the best labelling found")
print(f"its score {best.scores[0]:.2f}; no labelling scores more than {certified.bound[0]:.2f}")
low, bethe, high = (found.log_partition[0] for found in (lower, sums, upper))
print(f"log Z: {low:.1f} <= {bethe:.1f} (Bethe) <= {high:.1f}")

train = []
for _ in range(4):
    center, axes = random.uniform((30, 40), (66, 88)), random.uniform(12, 30, size=2)
    train.append(((y - center[0]) / axes[0]) ** 2 + ((x - center[1]) / axes[1]) ** 2 < 1)
flips = [(shape ^ (random.random(shape.shape) < flipped)).astype(float) for shape in train]
crf = CRF(Grid(), C=0.1, tol=1e-3).fit(flips, train)
learned = crf.predict_minimum_risk([noisy.astype(float)])[0]
along, down = crf.pair_weights_[:, 0, 0]
print(f"learned: equal neighbors score {along:.2f} along rows, {down:.2f} down columns")
print(f"              {np.mean(learned != clean):.1%} wrong by the learned marginals")

figure, panels = plt.subplots(2, 3, figsize=(9, 5), layout="constrained")
images = {"clean": clean, "noisy": noisy, "p(white)": marginal, "best labelling": labels}
images["learned"] = learned
for ax, (title, image) in zip(panels.flat, images.items(), strict=False):
    ax.imshow(image, cmap="gray", vmin=0, vmax=1)
    ax.set(title=title, xticks=[], yticks=[])
panels[-1, -1].set_axis_off()
plt.show()
