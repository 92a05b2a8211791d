"""
Logistic regression of ten digits
=================================

Probabilities for ten digits, and the certificate of the solver.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from separatrix import LogisticRegression
from separatrix.metrics import entropy

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)

model = LogisticRegression(C=1.0).fit(X_train, y_train)
solution = model.solution_
print(f"{solution.solver}: {solution.n_passes:.0f} passes, {solution.stopped.value}")
print(f"objective {solution.objective:.4f}, {solution.certificate} {solution.gap:.1e}")
print(f"test accuracy {model.score(X_test, y_test):.3f}")

probabilities = model.predict_proba(X_test)
least_sure = entropy(probabilities).argmax()
first, second = probabilities[least_sure].argsort()[::-1][:2]
print(
    f"least sure of row {least_sure}: {model.classes_[first]} "
    f"({probabilities[least_sure, first]:.2f}) or {model.classes_[second]} "
    f"({probabilities[least_sure, second]:.2f}), true {y_test[least_sure]}"
)
