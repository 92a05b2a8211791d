"""
Compare learners on the digits
==============================

Compare learners honestly, save the champion, write the report.
"""

import tempfile
from pathlib import Path

from sklearn.datasets import load_digits

import separatrix
from separatrix import Experiment

digits = load_digits()
result = Experiment(
    (digits.images, digits.target),
    learners=["perceptron", "linear_svm", "logistic_regression"],
    name="digits",
).run()
print(result)

with tempfile.TemporaryDirectory() as folder:
    model = Path(folder, "digits.sx")
    result.save(model)
    page = result.to_html(Path(folder, "digits.html"))
    predicted = separatrix.load(model).predict(digits.data[:5])
    print(f"\nA report of {len(page) // 1024} kB; the loaded model predicts {predicted}.")
