"""
A cost matrix for the SVM
=========================

Mistakes that matter more get a wider margin.

Calling wine 2 "wine 1" is made ten times as expensive as any other mistake. With the cost as target
margin the machine gives up some accuracy and avoids the expensive mistake.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from separatrix import LinearSVM
from separatrix.metrics import accuracy, confusion_matrix, expected_cost, per_class_report

X, y = load_wine(return_X_y=True)
X = X[:, [1, 2, 5]]  # malic acid, ash and phenols: too little to get everything right
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

cost = 1.0 - np.eye(3)
cost[2, 1] = 10.0

figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (title, matrix) in zip(
    panels, {"0-1 cost": None, "cost matrix": cost}.items(), strict=True
):
    model = LinearSVM(C=1.0, cost=matrix, random_state=0).fit(X_train, y_train)
    predicted = model.predict(X_test)
    print(f"{title}: {len(model.support_)} support vectors")
    print(per_class_report(y_test, predicted), "\n")
    counts = confusion_matrix(y_test, predicted)
    ax.imshow(counts, cmap="Blues")
    for (row, column), count in np.ndenumerate(counts):
        color = "white" if count > counts.max() / 2 else "black"
        ax.text(column, row, count, ha="center", va="center", color=color)
    ax.set(
        title=f"{title}: accuracy {accuracy(y_test, predicted):.2f}, "
        f"mean cost {expected_cost(y_test, predicted, cost):.2f}",
        xlabel="predicted",
        ylabel="true",
        xticks=range(3),
        yticks=range(3),
    )
plt.show()
