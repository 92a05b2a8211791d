"""
Headlines by hand
=================

The multiclass perceptron of the notes, headline by headline.

SPORTS begins with a bias of 1, all other weights are 0. "win the vote" is taken for SPORTS, so its
words are added to POLITICS and taken away from SPORTS, bias and all; "win the election" then comes
out right, and "win the game" does not.
"""

import numpy as np

from separatrix import Perceptron

words = ["win", "game", "vote", "election", "the"]
headlines = [
    ("win the vote", "POLITICS"),
    ("win the election", "POLITICS"),
    ("win the game", "SPORTS"),
]
classes = ["POLITICS", "SPORTS", "TECH"]


def features(text):
    """The bias, and which words are there."""
    return np.array([1.0, *(word in text.split() for word in words)])


def show(weights):
    for name, row in zip(classes, weights, strict=True):
        cells = zip(["BIAS", *words], row, strict=True)
        print(f"    {name:8}" + "".join(f"  {word} {weight:2.0f}" for word, weight in cells))


weights = np.zeros((3, 1 + len(words)))
weights[1, 0] = 1
for text, right in headlines:
    scores = weights @ features(text)
    predicted = int(scores.argmax())
    told = ", ".join(f"{name} {score:g}" for name, score in zip(classes, scores, strict=True))
    print(f"{text!r} scores {told}: predicted {classes[predicted]}, right is {right}")
    if classes[predicted] != right:
        weights[predicted] -= features(text)
        weights[classes.index(right)] += features(text)
        show(weights)

# The learner does the same. No headline is of TECH: a row of weight zero names it.
X = np.array([*(features(text)[1:] for text, _ in headlines), np.zeros(len(words))])
y = [*(right for _, right in headlines), "TECH"]
model = Perceptron("none", shuffle=False, max_iter=1)
model.fit(X, y, sample_weight=[1, 1, 1, 0], intercept_init=[0, 1, 0])
assert np.array_equal(np.column_stack([model.intercept_, model.coef_]), weights)
print(f"the learner: the same weights after {model.mistakes_.sum()} mistakes")
