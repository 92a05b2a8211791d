"""
Is A really better than B?
==========================

One test set, then a repeated cross-validation.

Accuracies come with credible intervals, and a comparison with the probability that A is better,
that both are practically equivalent, and that B is better.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score, train_test_split

from separatrix import LogisticRegression, Perceptron
from separatrix.bayes import accuracy_interval, compare_predictions, correlated_t_test, sign_test

X, y = load_digits(return_X_y=True)
X = X / 16
A, B = LogisticRegression(C=1.0), Perceptron("average", random_state=0)

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
predicted = [model.fit(X_train, y_train).predict(X_test) for model in (A, B)]
names = ("A: logistic regression", "B: averaged perceptron")
for name, labels in zip(names, predicted, strict=True):
    print(f"{name}: {accuracy_interval(y_test, labels)}")
print(compare_predictions(y_test, *predicted, rope=0.01), "\n")

folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
scores = [np.reshape(cross_val_score(m, X, y, cv=folds), (2, 5)) for m in (A, B)]
print(correlated_t_test(*scores, rope=0.01))
print(sign_test(*scores, rope=0.01))
