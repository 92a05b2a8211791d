"""
The conditional probabilities of a digit
========================================

Naive Bayes for digits, as in the notes: a pixel is on or off, and the model is the probability of
"on" for every pixel and digit. Relative frequencies say 0 for pixels that were never on: one such
pixel rules a digit out forever. Laplace's k mends it, and is chosen on held-out rows.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from separatrix import Interpolation, LaplaceSmoothing, MaximumLikelihood, NaiveBayes
from separatrix.errors import ZeroProbabilityWarning

images, y = load_digits(return_X_y=True)
X = images > 8
train, held, test = slice(0, 300), slice(300, 700), slice(700, None)

warnings.simplefilter("ignore", ZeroProbabilityWarning)  # which is what is shown here
raw = NaiveBayes("bernoulli", smoothing=MaximumLikelihood()).fit(X[train], y[train])
smooth = NaiveBayes("bernoulli", smoothing=LaplaceSmoothing(1)).fit(X[train], y[train])
smooth.tune(X[held], y[held])
print(f"{raw.zero_probabilities_} of 1280 relative frequencies are exactly zero")
print(f"k chosen on held-out rows: {smooth.smoothing.k:g}")
for name, model in (("relative frequency", raw), ("LaplaceSmoothing", smooth)):
    print(f"{name:19} {model.score(X[test], y[test]):.3f} of the test digits right")

figure, axes = plt.subplots(2, 10, figsize=(12, 3), layout="constrained")
for row, model in zip(axes, (raw, smooth), strict=True):
    probability = np.exp(model.feature_log_prob_)  # P(on | digit)
    for digit, ax in enumerate(row):
        ax.imshow(probability[digit].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("frequency")
axes[1, 0].set_ylabel("smoothed")
figure.suptitle("P(pixel is on | digit)")

# Tuning: the knobs k and alpha against accuracy on rows that were counted and on rows held out.
knobs = {
    "Laplace, k": (LaplaceSmoothing, np.logspace(-4, 2, 13)),
    "interpolation, alpha": (Interpolation, np.linspace(0.05, 0.95, 13)),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, (name, (rule, values)) in zip(axes, knobs.items(), strict=True):
    models = [
        NaiveBayes("bernoulli", smoothing=rule(value)).fit(X[train], y[train]) for value in values
    ]
    for rows, words in ((train, "train"), (held, "held-out")):
        ax.plot(values, [model.score(X[rows], y[rows]) for model in models], ".-", label=words)
    ax.set(xlabel=name, xscale="log" if rule is LaplaceSmoothing else "linear")
axes[0].set_ylabel("accuracy")
axes[0].legend(frameon=False)
plt.show()
