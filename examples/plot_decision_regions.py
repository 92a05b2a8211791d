"""
One classifier, three costs
===========================

Decisions under 0-1 cost, a cost matrix, and the right to refuse.

The classifier and its probabilities stay the same; only the costs change. A miss that costs ten
false alarms widens the region of "malignant", and a cheap rejection leaves the doubtful rows to a
doctor.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import BayesDecision, CostMatrix, LogisticRegression
from separatrix.plots import DecisionRegionDisplay

data = load_breast_cancer(as_frame=True)
X = data.data[["mean radius", "mean texture"]]
y = np.array(["malignant", "benign"])[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
classifier = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)

# Rows are the true classes, columns the predictions: benign, malignant.
costs = {
    "every mistake costs 1": CostMatrix([[0, 1], [1, 0]]),
    "a miss costs 10": CostMatrix([[0, 1], [10, 0]]),
    "a miss 10, a doctor's look 0.3": CostMatrix([[0, 1], [10, 0]], reject=0.3),
}
figure, panels = plt.subplots(1, 3, figsize=(10, 4), sharey=True, layout="constrained")
for ax, (title, cost) in zip(panels, costs.items(), strict=True):
    model = BayesDecision(FrozenEstimator(classifier), cost).fit(X_train, y_train)
    DecisionRegionDisplay.from_estimator(model, X_test, y_test, eps=1.0, ax=ax)
    predicted = model.predict(X_test)
    misses = int(np.sum((y_test == "malignant") & (predicted == "benign")))
    ax.set_title(f"{title}\nmean cost {model.mean_cost(X_test, y_test):.2f}, {misses} misses")
    print(f"{title}: {misses} misses, {model.rejected(X_test).sum()} of {len(y_test)} rejected")
plt.show()
