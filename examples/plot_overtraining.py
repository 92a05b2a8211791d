"""
Overtraining of the perceptron
==============================

Accuracy on train, held-out and test rows after every pass, on noisy data: a tenth of the train
labels is wrong. The last weights follow every wrong label and thrash; train accuracy keeps rising
while accuracy on new rows rises and then falls. The averaged weights suffer less. The number of
passes is chosen on the held-out rows; the test line is here only to repeat the picture of the
notes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from separatrix import Perceptron

X, y = make_classification(
    1500, 200, n_informative=15, n_redundant=0, class_sep=1.5, flip_y=0.0, random_state=3
)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=300, random_state=0)
X_held, X_test, y_held, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0)
generator = np.random.default_rng(0)
wrong = generator.random(len(y_train)) < 0.1
y_train = np.where(wrong, 1 - y_train, y_train)

n_passes, n_parts = 30, 6  # scores are taken six times in a pass
figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), sharey=True, layout="constrained")
titles = {"none": "last weights", "average": "averaged weights"}
for ax, (averaging, title) in zip(axes, titles.items(), strict=True):
    model = Perceptron(averaging, shuffle=False)
    curves = []
    for _ in range(n_passes):
        for rows in np.array_split(generator.permutation(len(y_train)), n_parts):
            model.partial_fit(X_train[rows], y_train[rows], classes=[0, 1])
            parts = ((X_train, y_train), (X_held, y_held), (X_test, y_test))
            curves.append([model.score(*part) for part in parts])
    curves = np.array(curves)
    best = int(curves[:, 1].argmax())
    passes = np.arange(1, len(curves) + 1) / n_parts
    for values, name, style in zip(
        curves.T, ("train", "held-out", "test"), ["-", "-.", ":"], strict=True
    ):
        ax.plot(passes, values, style, label=name)
    ax.axvline(passes[best], color="gray", linewidth=1)
    ax.set(title=f"{title}: best after {passes[best]:.1f} passes", xlabel="passes", xscale="log")
    print(
        f"{title}: held-out accuracy {curves[best, 1]:.3f} after {passes[best]:.1f} passes, "
        f"{curves[-1, 1]:.3f} after {n_passes}; train {curves[-1, 0]:.3f}"
    )
axes[0].set_ylabel("accuracy")
axes[0].legend(frameon=False)
plt.show()
