"""
Output codes for the ten digits
===============================

Words, distances, errors corrected, and what they are worth.

The two naive ways of the notes are among them: one regression on the class numbers, and the class
number in binary, the shortest code there is. A longer code costs more columns and forgives more.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from separatrix import CodeMatrix, LogisticRegression, OutputCode
from separatrix.learners.reductions import CODES, ClassNumbers

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)

print("The code of the notes: its rows differ in one place only, so that it corrects nothing.")
bits = ["000100", "100000", "011010", "110000", "110010", "001101", "001000", "010100"]
print(CodeMatrix([[1 if bit == "1" else -1 for bit in word] for word in bits]), "\n")

naive = ClassNumbers().fit(X_train, y_train).score(X_test, y_test)
print(f"{'regression on the class numbers':34s}{naive:37.3f}\n")
print(f"{'code':16s}{'columns':>8}{'distance':>10}{'corrects':>10}{'Hamming':>12}{'by loss':>12}")
for name in (*CODES, "confusion"):
    if name == "exhaustive":
        continue  # 511 columns for ten classes
    model = OutputCode(LogisticRegression(), code=name, random_state=0).fit(X_train, y_train)
    by_loss = model.score(X_test, y_test)
    hamming = model.set_params(decode="hamming").score(X_test, y_test)
    code = model.code_
    print(
        f"{name:16s}{code.n_columns:8d}{code.minimum_distance:10g}{code.errors_corrected:10d}"
        f"{hamming:12.3f}{by_loss:12.3f}"
    )

print("\nProbabilities come from the columns by coupling:")
print(model.predict_proba(X_test[:2]).round(3), y_test[:2])
