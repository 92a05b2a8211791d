"""
MIRA against the perceptron
===========================

The smallest change that mends a mistake, pass by pass.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from separatrix import MIRA, Perceptron

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
classes = np.unique(y)

# A generator instead of a number, so that every pass visits the rows in a new order.
learners = {
    "perceptron": Perceptron(averaging="none", random_state=np.random.RandomState(0)),
    "averaged perceptron": Perceptron(averaging="average", random_state=np.random.RandomState(0)),
    "averaged MIRA": MIRA(C=0.1, averaging="average", random_state=np.random.RandomState(0)),
}
for name, model in learners.items():
    scores = []
    for _ in range(5):
        model.partial_fit(X_train, y_train, classes=classes)
        scores.append(model.score(X_test, y_test))
    print(f"{name:20} test accuracy per pass:", *(f"{score:.3f}" for score in scores))
