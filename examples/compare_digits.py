"""The honest comparison in one call: tune on held-out rows, open the test set once."""

from sklearn.datasets import load_digits

from separatrix.experiment import compare

X, y = load_digits(return_X_y=True)
result = compare(X, y, learners=["perceptron", "linear_svm", "logistic_regression"])
print(result)
