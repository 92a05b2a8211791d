"""
One path over C
===============

Accuracy on train and held-out rows, and the weights.

C is the only knob: small C means a strong penalty. The best C is chosen on held-out rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from separatrix import LogisticRegression, regularization_path
from separatrix.plots import PathDisplay

X, y = load_breast_cancer(return_X_y=True)
X_train, X_held_out, y_train, y_held_out = train_test_split(X, y, random_state=0, stratify=y)
scaler = StandardScaler().fit(X_train)
X_train, X_held_out = scaler.transform(X_train), scaler.transform(X_held_out)

path = regularization_path(LogisticRegression(), X_train, y_train, np.logspace(-4, 3, 15))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
display = PathDisplay.from_path(path, X_held_out, y_held_out, ax=left, color="#0072B2")
PathDisplay.from_path(
    path, X_train, y_train, ax=left, name="train", mark_best=False, color="#D55E00"
)
left.set_title("Accuracy")
PathDisplay.from_path(path, ax=right)
right.set(title="Weights", yscale="symlog")
print(f"Best C on held-out rows: {display.best_C:.3g}")
plt.show()
