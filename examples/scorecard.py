"""
A scorecard: points per bin
===========================

Numbers cut where a small tree on the target cuts them, and a logistic regression on the bins: a sum
of step functions that can be read, and added up by hand. Monotone bins where the sense of a column
is known.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, SupervisedBins

data = load_breast_cancer(as_frame=True)
columns = ["mean radius", "mean texture", "mean concavity"]
X, y = data.data[columns], data.target_names[data.target] == "malignant"
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# Larger, rougher and more hollow tumors are not less dangerous: their bins rise.
rising = SupervisedBins(max_bins=5, min_rows=20, monotonic_cst=dict.fromkeys(columns, 1))
model = make_pipeline(rising, LogisticRegression(C=1.0)).fit(X_train, y_train)
print(f"held-out accuracy {model.score(X_test, y_test):.3f}")

# %%
# Every doubling of the odds is 20 points.
points = 20 * model[-1].coef_[0] / 0.693
for name, value in zip(model[0].get_feature_names_out(), points, strict=True):
    print(f"{name:35} {value:+6.0f}")
