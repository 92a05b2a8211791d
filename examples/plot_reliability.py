"""
Reliability of naive Bayes
==========================

Too sure of itself, until it is calibrated on held-out rows.

Pixels of a digit are far from independent, so naive Bayes counts the same evidence many times: when
it says 99 % it is right much less often. One number, the temperature, mends most of it and changes
no label.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from separatrix import Calibrated, NaiveBayes
from separatrix.metrics import accuracy, brier_score, log_loss
from separatrix.plots import ReliabilityDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
X_train, X_held_out, y_train, y_held_out = train_test_split(
    X_train, y_train, test_size=0.5, random_state=0, stratify=y_train
)

plain = NaiveBayes("bernoulli", binarize=8.0).fit(X_train, y_train)
models = {"naive Bayes": plain}
for method in ("temperature", "sigmoid", "isotonic"):
    models[method] = Calibrated(plain, method).calibrate(X_held_out, y_held_out)

figure, ax = plt.subplots(figsize=(6, 6), layout="constrained")
for name, model in models.items():
    ReliabilityDisplay.from_estimator(model, X_test, y_test, n_bins=8, name=name, ax=ax)
    proba = model.predict_proba(X_test)
    print(
        f"{name:12s} accuracy {accuracy(y_test, model.predict(X_test)):.3f}"
        f"  log loss {log_loss(y_test, proba):.3f}  Brier score {brier_score(y_test, proba):.3f}"
    )
ax.set_title("Digits from on/off pixels")
plt.show()
